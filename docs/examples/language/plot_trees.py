"""
Arcs and subtrees of dependency trees
=====================================

A parser that scores arcs defines a distribution over trees. This example measures
whether the probabilities of arcs and of whole subtrees are calibrated. The scores are
generated, and the true trees are drawn from the distribution that the scores define.
"""

# %%
# Generate 600 sentences of 10 words. The scores are higher for heads that are near. The
# true tree of each sentence is drawn from the posterior.

import matplotlib.pyplot as plt
import numpy as np

from skcalib import ReliabilityDisplay
from skcalib.experimental import ArcQuery, SubtreeQuery, TreePosterior

rng = np.random.default_rng(1)
n = 10
distance = np.abs(np.arange(1, n + 1)[:, np.newaxis] - np.arange(n + 1))
scores = [2 * rng.normal(size=(n, n + 1)) - 0.4 * distance for _ in range(600)]
true = TreePosterior(scores)
gold = [trees[0] for trees in true.sample(1, random_state=11)]

# %%
# A parser whose scores are twice as large has the same best trees, and is
# overconfident. The figure shows the probability of each arc of one sentence, for both
# parsers.

overconfident = true.tempered(0.5)
models = {"right scores": true, "scores twice as large": overconfident}
figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for ax, (name, posterior) in zip(axes, models.items(), strict=True):
    image = ax.imshow(posterior.arc_marginals()[0], cmap="Blues", vmin=0, vmax=1)
    ax.plot(gold[0], np.arange(n), "r.", label="true head")
    ax.set(title=name, xlabel="head (0 is the root)", ylabel="dependent word")
    ax.set_yticks(np.arange(n), np.arange(1, n + 1))
    ax.legend(loc="upper right")
figure.colorbar(image, ax=axes, label="probability")

# %%
# The next figure shows the reliability of the arcs of the best trees. For all spans of
# two to five words, it also shows the reliability of the probability that the span is a
# subtree.

queries = {
    "arcs of the best tree": ArcQuery(),
    "spans of 2 to 5 words": SubtreeQuery(spans="all", min_length=2, max_length=5),
}
figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, (title, query) in zip(axes, queries.items(), strict=True):
    for name, posterior in models.items():
        answers = query.from_posterior(gold, posterior)
        ReliabilityDisplay.from_predictions(
            answers.y_true, answers.y_proba, groups=answers.groups, name=name, ax=ax
        )
    ax.set_title(title)
plt.show()
