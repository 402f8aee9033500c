"""Files of evaluation harnesses, as columns of questions, scores and probabilities."""

from ..rates._accuracy import AccuracyInterval, accuracy_interval
from ..rates._judged import (
    JudgedAccuracy,
    JudgedDifference,
    RateInterval,
    judged_accuracy,
    judged_difference,
)
from ..rates._precision import PrecisionThreshold, threshold_for_precision
from ..rates._repeats import (
    PassAtK,
    SampleVariance,
    best_of_k,
    pass_at_k,
    sample_variance,
)
from ._align import AlignedEvaluations, align_evaluations, evaluation_of
from ._evaluation import Evaluation
from ._read import read_evaluation, read_evaluations

__all__ = [
    "AccuracyInterval",
    "AlignedEvaluations",
    "Evaluation",
    "JudgedAccuracy",
    "JudgedDifference",
    "PassAtK",
    "RateInterval",
    "PrecisionThreshold",
    "SampleVariance",
    "accuracy_interval",
    "align_evaluations",
    "best_of_k",
    "evaluation_of",
    "judged_accuracy",
    "judged_difference",
    "pass_at_k",
    "read_evaluation",
    "read_evaluations",
    "sample_variance",
    "threshold_for_precision",
]
