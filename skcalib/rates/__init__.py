"""Accuracies, repeated samples, judged answers and thresholds, with intervals.

The functions take arrays of scores and need no file of a harness.
:mod:`skcalib.evaluation` exports the same names.
"""

from ._accuracy import AccuracyInterval, accuracy_interval
from ._judged import (
    JudgedAccuracy,
    JudgedDifference,
    RateInterval,
    judged_accuracy,
    judged_difference,
)
from ._precision import PrecisionThreshold, threshold_for_precision
from ._repeats import PassAtK, SampleVariance, best_of_k, pass_at_k, sample_variance

__all__ = [
    "AccuracyInterval",
    "JudgedAccuracy",
    "JudgedDifference",
    "PassAtK",
    "PrecisionThreshold",
    "RateInterval",
    "SampleVariance",
    "accuracy_interval",
    "best_of_k",
    "judged_accuracy",
    "judged_difference",
    "pass_at_k",
    "sample_variance",
    "threshold_for_precision",
]
