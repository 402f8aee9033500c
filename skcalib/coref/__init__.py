"""Coreference: rankers, probabilities of pairs of mentions, and cluster metrics."""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ._features import AntecedentFeatures
    from ._pairs import SampledCorefPairs
    from ._ranker import AntecedentRanker
    from ._scores import coref_f1, coref_scores, coref_statistics
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = [
    "AntecedentFeatures",
    "AntecedentRanker",
    "SampledCorefPairs",
    "coref_f1",
    "coref_scores",
    "coref_statistics",
]
