"""Polar queries: yes-or-no questions put to a model, answered with probabilities.

A query turns whatever a model predicts into pairs (y, q): whether the answer is yes,
and the probability that the model gives to yes. On such pairs calibration is measured
in the same way for every kind of model.
"""

# The last three are for other rooms of the package.
from ._answers import Answers
from ._answers import answer_pairs as answer_pairs
from ._answers import last_step as last_step
from ._answers import transform_before as transform_before
from ._classes import ClassQuery
from ._coref_pairs import CorefPairQuery
from ._spans import SpanQuery
from ._tag_pairs import TagPairQuery
from ._tags import TagQuery

__all__ = [
    "Answers",
    "ClassQuery",
    "CorefPairQuery",
    "SpanQuery",
    "TagPairQuery",
    "TagQuery",
]
