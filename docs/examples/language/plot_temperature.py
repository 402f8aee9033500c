"""
One temperature for a whole tagger
==================================

An untuned tagger is too timid or too sure, and one number may mend it: all scores of
its posterior are divided by a temperature. The best tagging stays, and all marginals
are still those of one distribution. Sentences are generated.
"""

# %%
# Three models that nobody tuned: counts with a pseudocount of 1, a conditional random
# field with its default penalty, and one without any. Each gets the temperature at
# which the true taggings of the folds that it was not trained on are most likely.

from skcalib import CRFTagger, HMMTagger, TemperatureScaling
from skcalib.datasets import make_tagged_sentences

X, y = make_tagged_sentences(900, random_state=0)
train, test = slice(0, 600), slice(600, 900)
models = {
    "HMM, pseudocount 1": HMMTagger(),
    "CRF, c2 = 1": CRFTagger(max_iterations=50),
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
# Is the best tag right, on other sentences? Below the diagonal a model is
# too sure, above too timid; the legends give the error with its interval.

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
# The first two erred in one direction, and one number takes most of the error away. The
# third is a little too sure of words that it knows and much too sure of others. What it
# gets worst weighs most in the likelihood of whole taggings, and the temperature that
# suits those tokens makes all others timid: a better likelihood, but no smaller error.
# There it takes features that tell something of new words.
#
# What the taggers do is the same as before.

for name, model in scaled.items():
    before = model.estimator_.score(X[test], y[test])
    after = model.score(X[test], y[test])
    print(f"{name}: {before:.3f} of the tokens right before, {after:.3f} after")
