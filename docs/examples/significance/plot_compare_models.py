"""
Is one model better than another?
=================================

Five models answer the same questions. Which gains are more than luck? Questions about
the same passage are not independent, and the test has to know it.
"""

# %%
# The answers are generated: each passage has a difficulty of its own, and so has each
# question. Models differ in ability; two of them have the same.

import numpy as np

from skcalib.plot import SystemScoresDisplay
from skcalib.significance import compare_scores

rng = np.random.default_rng(0)
passage = np.repeat(np.arange(60), 8)
difficulty = rng.normal(0, 1, 60)[passage] + rng.normal(0, 1, passage.size)
ability = {"tiny": 0.0, "small": 0.5, "base": 0.9, "tuned": 0.9, "large": 1.4}
right = {
    name: rng.normal(level - difficulty, 1.0) > 0 for name, level in ability.items()
}

# %%
# All pairs, with p-values adjusted by Holm's method. A gain is the score of the later
# system minus that of the earlier one.

comparison = compare_scores(right, groups=passage)
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
# Bars at the right join systems that are not separated.

SystemScoresDisplay.from_comparison(comparison, metric="accuracy")

# %%
# What would another 480 questions like these be able to find? And is ``tuned`` at most
# three points worse than ``base``?

pair = comparison.pairs.index(("base", "tuned"))
print(f"detectable gain: {comparison.detectable_gain()[pair]:.3f}")
print(f"questions for a gain of .02: {comparison.questions_needed(0.02)[pair]:.0f}")
print(f"worse by .03 or more: p = {comparison.noninferiority_pvalue(0.03)[pair]:.3f}")
