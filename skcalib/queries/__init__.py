"""Polar queries: yes-or-no questions that a model answers with probabilities.

A query turns the predictions of a model into pairs (y, q). The label y is 1 if the true
answer is yes and 0 otherwise, and q is the probability that the model gives to yes.
Calibration is measured on such pairs in the same way for every kind of model. For new
text without labels, :func:`~skcalib.experimental.predicted_entities` and
:func:`~skcalib.experimental.predicted_links` return the predicted entities or links
with their probabilities.
"""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ._answers import Answers
    from ._coref_pairs import CorefPairQuery
    from ._labels import ClassQuery, TagPairQuery, TagQuery
    from ._spans import SpanQuery
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = [
    "Answers",
    "ClassQuery",
    "CorefPairQuery",
    "SpanQuery",
    "TagPairQuery",
    "TagQuery",
]
