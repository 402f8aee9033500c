"""
For NLP researchers
===================

This walk-through measures whether the probabilities of two taggers and of a coreference
model are calibrated, and tests whether one tagger is better than the other. The
sentences and documents are generated. The probabilities of other models, such as neural
models, can be evaluated in the same way.
"""

# %%
# Two taggers
# -----------
# Train a hidden Markov model and a conditional random field on the same sentences.

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
# Are the probabilities of the tags calibrated?
# ---------------------------------------------
# The query creates one pair for every token and every tag: whether the token has this
# tag, and the probability of the tag. The tokens of one sentence depend on each other,
# so the sentences are the groups.

from skcalib.queries import TagQuery

for name, tagger in taggers.items():
    pairs = TagQuery()(tagger, X[test], y[test])
    result = calibration_error_interval(
        pairs.y_true, pairs.y_proba, groups=pairs.groups
    )
    print(f"{name}: {result.estimate:.3f} [{result.low:.3f}, {result.high:.3f}]")

# %%
# Plot the reliability of the most probable tag of each token. The band contains 95% of
# the frequencies in each bin if the model is calibrated.

from skcalib import ReliabilityDisplay

display = ReliabilityDisplay.from_estimator(
    taggers["CRF"], X[test], y[test], query=TagQuery("top"), consistency_band=True
)

# %%
# Temperature scaling
# -------------------
# Temperature scaling divides all scores by one number, so that the probabilities of
# tags, pairs of tags and entities stay consistent with each other. The temperature is
# fitted to out-of-fold predictions.

from skcalib import TemperatureScaling

scaled = TemperatureScaling(CRFTagger()).fit(X[train], y[train])
pairs = TagQuery()(scaled, X[test], y[test])
result = calibration_error_interval(pairs.y_true, pairs.y_proba, groups=pairs.groups)
print(f"temperature {scaled.temperature_:.2f}")
print(f"CRF, scaled: {result.estimate:.3f} [{result.low:.3f}, {result.high:.3f}]")

# %%
# Is one tagger better?
# ---------------------
# The paired test takes one row for each sentence, which contains the number of right
# tokens and the number of tokens.

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
# The scores of antecedents, with one matrix for each document, define exact
# probabilities of links and entities.

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
# Are the probabilities of links calibrated? Most pairs of mentions are not links, and
# every model gives most of them a probability close to 0. Therefore, only pairs with a
# probability of at least 2% are used.

pairs = CorefPairQuery(min_proba=0.02).from_posterior(entities, posterior)
result = calibration_error_interval(pairs.y_true, pairs.y_proba, groups=pairs.groups)
print(f"links: {result.estimate:.3f} [{result.low:.3f}, {result.high:.3f}]")

# %%
# Compute the distribution of the number of entities of the first document.

pmf = posterior[:1].n_entities_pmf()[0]
print({k: round(float(p), 2) for k, p in enumerate(pmf) if p > 0.005})
print("true number:", np.unique(entities[0]).size)
