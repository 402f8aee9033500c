"""Files of evaluation harnesses, as columns of questions, scores and probabilities."""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ..rates._accuracy import accuracy_interval
    from ..rates._judged import judged_accuracy, judged_difference
    from ..rates._precision import threshold_for_precision
    from ..rates._repeats import pass_at_k, sample_variance
    from ..rates._sampled import sampled_confidence
    from ._align import align_evaluations, evaluation_of
    from ._evaluation import Evaluation
    from ._read import read_evaluation, read_evaluations
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = [
    "Evaluation",
    "accuracy_interval",
    "align_evaluations",
    "evaluation_of",
    "judged_accuracy",
    "judged_difference",
    "pass_at_k",
    "read_evaluation",
    "read_evaluations",
    "sample_variance",
    "sampled_confidence",
    "threshold_for_precision",
]
