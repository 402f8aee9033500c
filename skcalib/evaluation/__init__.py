"""Files of evaluation harnesses, as columns of questions, scores and probabilities."""

from ._accuracy import AccuracyInterval, accuracy_interval, grouped_frequency_interval
from ._align import AlignedEvaluations, align_evaluations, evaluation_of
from ._evaluation import Evaluation
from ._read import FORMATS, read_evaluation
from ._unanswered import POLICIES, rule_of

# What the command line builds on, beside the public names.
_FOR_SIBLINGS = (FORMATS, POLICIES, grouped_frequency_interval, rule_of)

__all__ = [
    "AccuracyInterval",
    "AlignedEvaluations",
    "Evaluation",
    "accuracy_interval",
    "align_evaluations",
    "evaluation_of",
    "read_evaluation",
]
