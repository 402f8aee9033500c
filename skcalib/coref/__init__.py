"""Coreference: rankers, probabilities of pairs of mentions, and cluster metrics."""

from ._entity_counts import EntityCountCoverage, entity_count_coverage
from ._features import AntecedentFeatures
from ._pairs import SampledCorefPairs
from ._ranker import AntecedentRanker
from ._scores import coref_f1, coref_scores, coref_statistics

__all__ = [
    "AntecedentFeatures",
    "AntecedentRanker",
    "EntityCountCoverage",
    "SampledCorefPairs",
    "coref_f1",
    "coref_scores",
    "coref_statistics",
    "entity_count_coverage",
]
