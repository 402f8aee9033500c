"""
Hidden Markov model against conditional random field
====================================================

Both see the same words and the same neighbours, a tag and the one before. The hidden
Markov model counts, the conditional random field is trained to be right about tags
(section 4.2 of Nguyen and O'Connor, 2015). Sentences are generated, with words whose
form tells something of their tag, so that this page needs no network.
"""

# sphinx_gallery_thumbnail_number = 2

# %%
# Three models: counts with one pseudocount, a CRF on words, a CRF on words and what
# they look like.

from sklearn.pipeline import make_pipeline

from skcalib import CRFTagger, HMMTagger, TokenFeatures
from skcalib.datasets import make_tagged_sentences

X, y = make_tagged_sentences(900, random_state=0)
train, test = slice(0, 600), slice(600, 900)
taggers = {
    "HMM": HMMTagger(),
    "CRF, words": CRFTagger(c2=0.03),
    "CRF, words and forms": make_pipeline(
        TokenFeatures("advanced"), CRFTagger(c2=0.3, max_iterations=100)
    ),
}
for name, tagger in taggers.items():
    tagger.fit(X[train], y[train])
    print(f"{name}: {tagger.score(X[test], y[test]):.3f} of the tokens right")

# %%
# Is this token a noun? Each model answers for every token, and the legend gives the
# error of its probabilities with an interval that knows which tokens share a sentence.

from skcalib import ReliabilityDisplay
from skcalib.queries import TagQuery

ax = None
for name, tagger in taggers.items():
    display = ReliabilityDisplay.from_estimator(
        tagger, X[test], y[test], query=TagQuery("NN"), name=name, ax=ax
    )
    ax = display.ax_

# %%
# And is its best tag right? Above the diagonal a model is timid: the counts with their
# pseudocount of 1 are.

ax = None
for name, tagger in taggers.items():
    display = ReliabilityDisplay.from_estimator(
        tagger, X[test], y[test], query=TagQuery("top"), name=name, ax=ax
    )
    ax = display.ax_
