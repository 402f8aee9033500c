"""Polar queries: yes-or-no questions that a model answers with probabilities.

A query turns the predictions of a model into pairs (y, q). The label y is 1 if the true
answer is yes and 0 otherwise, and q is the probability that the model gives to yes.
Calibration is measured on such pairs in the same way for every kind of model. For new
text without labels, :func:`predicted_entities` and :func:`predicted_links` return the
predicted entities or links with their probabilities.
"""

from ._answers import Answers

# Other subpackages use these.
from ._answers import answer_pairs as answer_pairs
from ._answers import answers_by_label as answers_by_label
from ._arcs import ArcQuery
from ._classes import ClassQuery
from ._coref_pairs import CorefPairQuery
from ._entity_table import PredictedEntities
from ._expected_counts import ExpectedCounts
from ._predicted_entities import predicted_entities
from ._predicted_links import PredictedLinks, predicted_links
from ._spans import SpanQuery
from ._steps import last_step as last_step
from ._steps import transform_before as transform_before
from ._subtrees import SubtreeQuery
from ._tag_pairs import TagPairQuery
from ._tags import TagQuery

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
