"""
For NLP researchers
===================

A tagger and a coreference model give probabilities of tags and links. Do they come
true? Is one tagger better than the other? The sentences and documents are generated
here. Probabilities of any model, such as a neural one, can take the place of the models
below.
"""

# %%
# Two taggers
# -----------
# A hidden Markov model and a conditional random field, fitted to the same sentences.

import numpy as np

from skcalib import CRFTagger, HMMTagger, calibration_error_interval
from skcalib.datasets import make_tagged_sentences

X, y = make_tagged_sentences(500, random_state=0)
train, test = slice(0, 300), slice(300, 500)
taggers = {
    "HMM": HMMTagger().fit(X[train], y[train]),
    "CRF": CRFTagger().fit(X[train], y[train]),
}

# %%
# Do the probabilities of the tags come true?
# -------------------------------------------
# The query takes every tag of every token as a pair: is it this tag, and with which
# probability? Tokens of one sentence depend on each other, so sentences are the groups.

from skcalib.queries import TagQuery

for name, tagger in taggers.items():
    pairs = TagQuery()(tagger, X[test], y[test])
    result = calibration_error_interval(
        pairs.y_true, pairs.y_proba, groups=pairs.groups
    )
    print(f"{name}: {result.estimate:.3f} [{result.low:.3f}, {result.high:.3f}]")

# %%
# The curve of the most probable tag of each token, with the band in which a calibrated
# model would stay.

from skcalib import ReliabilityDisplay

display = ReliabilityDisplay.from_estimator(
    taggers["HMM"], X[test], y[test], query=TagQuery("top"), consistency_band=True
)

# %%
# One temperature
# ---------------
# It divides all scores by one number, so that tags, pairs of tags and entities still
# fit each other. It is fitted out of fold.

from skcalib import TemperatureScaling

scaled = TemperatureScaling(HMMTagger()).fit(X[train], y[train])
pairs = TagQuery()(scaled, X[test], y[test])
result = calibration_error_interval(pairs.y_true, pairs.y_proba, groups=pairs.groups)
print(f"temperature {scaled.temperature_:.2f}")
print(f"HMM, scaled: {result.estimate:.3f} [{result.low:.3f}, {result.high:.3f}]")

# %%
# Is one tagger better?
# ---------------------
# The paired test takes one row of counts for each sentence: right tokens and tokens.

from skcalib.metrics import accuracy_statistics
from skcalib.significance import paired_bootstrap_test

counts = {
    name: accuracy_statistics(y[test], tagger.predict(X[test]))
    for name, tagger in taggers.items()
}
result = paired_bootstrap_test(
    counts["CRF"], counts["HMM"], statistic="ratio", random_state=0
)
low, high = result.confidence_interval
print(f"CRF {result.score_a:.3f}, HMM {result.score_b:.3f}")
print(
    f"gain {result.statistic:+.3f} [{low:+.3f}, {high:+.3f}], p = {result.pvalue:.2g}"
)

# %%
# Coreference
# -----------
# Scores of antecedents, one matrix for each document, define exact probabilities of
# links and entities.

from skcalib.datasets import make_coref_documents
from skcalib.posteriors import AntecedentPosterior
from skcalib.queries import CorefPairQuery

documents, entities, scores = make_coref_documents(
    150, return_scores=True, random_state=0
)
posterior = AntecedentPosterior(scores)
proba = posterior[:1].entity_proba([{5, 6}])[0]
print(f"mentions 5 and 6, and no others, are one entity: {proba:.2f}")

# %%
# Do the probabilities of links come true? Most pairs of mentions are not links, and
# every model knows it. Therefore only pairs with a probability of at least 2% are used.

pairs = CorefPairQuery(min_proba=0.02).from_posterior(entities, posterior)
result = calibration_error_interval(pairs.y_true, pairs.y_proba, groups=pairs.groups)
print(f"links: {result.estimate:.3f} [{result.low:.3f}, {result.high:.3f}]")

# %%
# The number of entities of the first document, as a distribution:

pmf = posterior[:1].n_entities_pmf()[0]
print({k: round(float(p), 2) for k, p in enumerate(pmf) if p > 0.005})
print("true number:", np.unique(entities[0]).size)
