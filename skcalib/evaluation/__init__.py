"""Files of evaluation harnesses, as columns of questions, scores and probabilities."""

from ._accuracy import AccuracyInterval, accuracy_interval, grouped_frequency_interval
from ._align import AlignedEvaluations, align_evaluations, evaluation_of
from ._evaluation import Evaluation
from ._fingerprints import read_fingerprints
from ._precision import PrecisionThreshold, threshold_for_precision
from ._read import FORMATS, read_evaluation
from ._repeats import (
    PassAtK,
    SampleVariance,
    best_of_k,
    pass_at_k,
    question_best_of_k,
    question_pass_at_k,
    sample_variance,
)
from ._several import read_evaluations
from ._unanswered import POLICIES, rule_of

# What the command line builds on, beside the public names.
_FOR_SIBLINGS = (
    FORMATS,
    POLICIES,
    grouped_frequency_interval,
    question_best_of_k,
    question_pass_at_k,
    read_fingerprints,
    rule_of,
)

__all__ = [
    "AccuracyInterval",
    "AlignedEvaluations",
    "Evaluation",
    "PassAtK",
    "PrecisionThreshold",
    "SampleVariance",
    "accuracy_interval",
    "align_evaluations",
    "best_of_k",
    "evaluation_of",
    "pass_at_k",
    "read_evaluation",
    "read_evaluations",
    "sample_variance",
    "threshold_for_precision",
]
