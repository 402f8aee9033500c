"""
Hidden Markov model against conditional random field
====================================================

Both models use the words and pairs of adjacent tags. The hidden Markov model is
estimated from counts, and the conditional random field is trained to predict the tags
(section 4.2 of Nguyen and O'Connor, 2015). The sentences are generated, and the form of
a word is informative about its tag. No download is needed.
"""

# sphinx_gallery_thumbnail_number = 2

# %%
# Three models are compared: an HMM with a pseudocount of 1, a CRF with words as
# features, and a CRF with words and word forms as features.

from sklearn.pipeline import make_pipeline

from skcalib import CRFTagger, HMMTagger, TokenFeatures
from skcalib.datasets import make_tagged_sentences

X, y = make_tagged_sentences(900, random_state=0)
train, test = slice(0, 600), slice(600, 900)
taggers = {
    "HMM": HMMTagger(pseudocount=1.0),
    "CRF, words": CRFTagger(c2=0.03),
    "CRF, words and forms": make_pipeline(
        TokenFeatures("advanced"), CRFTagger(c2=0.3, max_iterations=100)
    ),
}
for name, tagger in taggers.items():
    tagger.fit(X[train], y[train])
    print(f"{name}: {tagger.score(X[test], y[test]):.3f} of the tokens right")

# %%
# The first query asks for every token whether it is a singular noun (NN). The legend
# shows the calibration error of each model with a confidence interval that accounts for
# the dependence of the tokens of a sentence.

from skcalib import ReliabilityDisplay
from skcalib.queries import TagQuery

ax = None
for name, tagger in taggers.items():
    display = ReliabilityDisplay.from_estimator(
        tagger, X[test], y[test], query=TagQuery("NN"), name=name, ax=ax
    )
    ax = display.ax_

# %%
# The second query asks whether the most probable tag of a token is right. If a curve is
# above the diagonal, the model is underconfident. An example is the HMM with a
# pseudocount of 1.

ax = None
for name, tagger in taggers.items():
    display = ReliabilityDisplay.from_estimator(
        tagger, X[test], y[test], query=TagQuery("top"), name=name, ax=ax
    )
    ax = display.ax_
