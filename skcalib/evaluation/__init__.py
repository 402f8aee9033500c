"""Files of evaluation harnesses, as columns of questions, scores and probabilities."""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ._align import align_evaluations, evaluation_of
    from ._evaluation import Evaluation
    from ._read import read_evaluation, read_evaluations
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = [
    "Evaluation",
    "align_evaluations",
    "evaluation_of",
    "read_evaluation",
    "read_evaluations",
]
