"""
Is one model better than another?
=================================

Five models answer the same questions, and all pairs of models are tested for a
difference in accuracy. Questions about the same passage are not independent, so the
passages are passed as groups.
"""

# %%
# The answers are generated. Each passage and each question has its own difficulty. The
# models differ in ability, except for two models with the same ability.

import numpy as np

from skcalib.plot import SystemScoresDisplay
from skcalib.significance import compare_systems

rng = np.random.default_rng(0)
passage = np.repeat(np.arange(60), 8)
difficulty = rng.normal(0, 1, 60)[passage] + rng.normal(0, 1, passage.size)
ability = {"tiny": 0.0, "small": 0.5, "base": 0.9, "tuned": 0.9, "large": 1.4}
right = {
    name: rng.normal(level - difficulty, 1.0) > 0 for name, level in ability.items()
}

# %%
# All pairs are tested, and the p-values are adjusted by Holm's method. A gain is the
# score of the later system minus the score of the earlier system.

comparison = compare_systems(right, groups=passage)
for (a, b), gain, low, high, p in zip(
    comparison.pairs,
    comparison.gain,
    comparison.gain_low,
    comparison.gain_high,
    comparison.pvalue_adjusted,
    strict=True,
):
    print(f"{b:>5} - {a:<5} {gain:+.3f} ({low:+.3f} to {high:+.3f}), p = {p:.2g}")

# %%
# The bars on the right connect systems that are not significantly different.

SystemScoresDisplay.from_comparison(comparison, metric="accuracy")

# %%
# The detectable gain is the true gain that is detected with a power of 80% by 480
# questions like these. The non-inferiority test shows whether ``tuned`` is at most
# three percentage points worse than ``base``.

pair = comparison.pairs.index(("base", "tuned"))
print(f"detectable gain: {comparison.detectable_gain()[pair]:.3f}")
print(f"questions for a gain of .02: {comparison.questions_needed(0.02)[pair]:.0f}")
print(f"worse by .03 or more: p = {comparison.noninferiority_pvalue(0.03)[pair]:.3f}")
