"""Polar queries: yes-or-no questions that a model answers with probabilities.

A query turns the predictions of a model into pairs (y, q). The label y is 1 if the true
answer is yes and 0 otherwise, and q is the probability that the model gives to yes.
Calibration is measured on such pairs in the same way for every kind of model. For new
text without labels, :func:`predicted_entities` and :func:`predicted_links` return the
predicted entities or links with their probabilities.
"""

from ._answers import Answers, ExpectedCounts
from ._coref_pairs import CorefPairQuery
from ._labels import ClassQuery, TagPairQuery, TagQuery
from ._predicted import (
    PredictedEntities,
    PredictedLinks,
    predicted_entities,
    predicted_links,
)
from ._spans import SpanQuery
from ._trees import ArcQuery, SubtreeQuery

__all__ = [
    "Answers",
    "ArcQuery",
    "ClassQuery",
    "CorefPairQuery",
    "ExpectedCounts",
    "PredictedEntities",
    "PredictedLinks",
    "SpanQuery",
    "SubtreeQuery",
    "TagPairQuery",
    "TagQuery",
    "predicted_entities",
    "predicted_links",
]
