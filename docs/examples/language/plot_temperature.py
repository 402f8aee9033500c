"""
Temperature scaling of a tagger
===============================

A tagger that is not tuned is often underconfident or overconfident. Temperature scaling
divides all scores of its posterior by one number. The most probable tagging does not
change, and all marginals are still marginals of one distribution. The sentences of this
example are generated.
"""

# %%
# Three models are used without tuning: an HMM with a pseudocount of 1, a CRF with a
# strong penalty, and a CRF without a penalty. The temperature of each model maximises
# the likelihood of the true taggings of held-out folds.

from skcalib import CRFTagger, HMMTagger, TemperatureScaling
from skcalib.datasets import make_tagged_sentences

X, y = make_tagged_sentences(900, random_state=0)
train, test = slice(0, 600), slice(600, 900)
models = {
    "HMM, pseudocount 1": HMMTagger(pseudocount=1.0),
    "CRF, c2 = 1": CRFTagger(c2=1.0, max_iterations=50),
    "CRF, c2 = 0": CRFTagger(c2=0.0, max_iterations=50),
}
scaled = {
    name: TemperatureScaling(tagger, cv=3).fit(X[train], y[train])
    for name, tagger in models.items()
}
for name, model in scaled.items():
    before, after = model.log_likelihood_
    print(
        f"{name}: temperature {model.temperature_:.2f}, "
        f"log likelihood of a sentence {before:.1f} -> {after:.1f}"
    )

# %%
# The reliability of the most probable tag is measured on test sentences. A model is
# overconfident below the diagonal and underconfident above it. Below the name of a
# curve is its calibration error with its interval.

import matplotlib.pyplot as plt

from skcalib import ReliabilityDisplay
from skcalib.queries import TagQuery

figure, axes = plt.subplots(1, 3, figsize=(14, 6), layout="constrained")
for ax, (name, model) in zip(axes, scaled.items(), strict=True):
    tempered = f"temperature {model.temperature_:.2f}"
    for label, tagger in {"as it is": model.estimator_, tempered: model}.items():
        ReliabilityDisplay.from_estimator(
            tagger, X[test], y[test], query=TagQuery("top"), name=label, ax=ax
        )
    ax.set_title(name)

# %%
# The errors of the first two models are in one direction, and the temperature removes
# most of them. The third model is slightly overconfident for known words and strongly
# overconfident for unknown words. The worst predictions have the largest influence on
# the likelihood of whole taggings. The temperature that fits the worst predictions
# makes the model underconfident for all other tokens. The likelihood increases, but the
# calibration error does not decrease. This model needs features that are informative
# about unknown words.
#
# The predicted tags of the taggers do not change.

for name, model in scaled.items():
    before = model.estimator_.score(X[test], y[test])
    after = model.score(X[test], y[test])
    print(f"{name}: {before:.3f} of the tokens right before, {after:.3f} after")
