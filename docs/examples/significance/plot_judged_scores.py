"""
How many labels does a judge need?
==================================

A judge graded 2,000 answers and accepted a third of the wrong answers. The pass rate is
therefore too high, regardless of the number of graded answers. This example corrects
the pass rate with a small number of human labels.
"""

# %%
# Answers, verdicts and labels are generated, so that the true accuracy is known.

import matplotlib.pyplot as plt
import numpy as np

from skcalib.rates import judged_accuracy

rng = np.random.default_rng(4)
right = rng.random(2000) < 0.6
judge = np.where(right, rng.random(2000) < 0.97, rng.random(2000) < 0.35)
order = rng.permutation(2000)

# %%
# Labels are added in random order. Each result contains the corrected accuracy and the
# accuracy estimated from the labels alone. It also states how many labels would be
# needed without the judge for an equally precise estimate.

numbers = [20, 50, 100, 200, 400]
results = []
for n in numbers:
    human = np.full(2000, np.nan)
    human[order[:n]] = right[order[:n]]
    results.append(judged_accuracy(judge, human))
    found = results[-1]
    print(
        f"{n:>3} labels: {found.estimate:.3f} ({found.low:.3f} to {found.high:.3f}), "
        f"worth {found.equivalent_labels:.0f} labels without the judge"
    )

# %%
# The corrected interval is shorter than the interval from the labels alone, and both
# intervals contain the true accuracy. The pass rate of the judge alone (dashed line) is
# too high.

_, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
place = np.arange(len(numbers))
kinds = ((-0.1, "labels alone", "C1"), (0.1, "judge and labels", "C0"))
for shift, name, color in kinds:
    rates = [r.labels_only if name == "labels alone" else r for r in results]
    ax.vlines(
        place + shift, [r.low for r in rates], [r.high for r in rates], color, lw=2
    )
    ax.plot(place + shift, [r.estimate for r in rates], "o", color=color, label=name)
ax.axhline(results[0].uncorrected, color="C3", ls="--", label="judge alone")
ax.axhline(0.6, color="0.5", lw=1, label="true accuracy")
ax.set_xticks(place, [str(n) for n in numbers])
ax.set(xlabel="Answers with a label", ylabel="Accuracy")
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))

# %%
# The sensitivity and the specificity of the judge are estimated from the same labels.

for name in ("sensitivity", "specificity"):
    rate = getattr(results[2], name)
    print(f"{name}: {rate.estimate:.2f} ({rate.low:.2f} to {rate.high:.2f})")
