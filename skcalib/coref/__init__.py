"""Coreference: rankers, probabilities of pairs of mentions, and cluster metrics."""

from .. import _moved
from ._features import AntecedentFeatures
from ._pairs import SampledCorefPairs
from ._ranker import AntecedentRanker
from ._scores import coref_f1, coref_scores, coref_statistics

__all__ = [
    "AntecedentFeatures",
    "AntecedentRanker",
    "SampledCorefPairs",
    "coref_f1",
    "coref_scores",
    "coref_statistics",
]

__getattr__ = _moved.names_of(__name__)
