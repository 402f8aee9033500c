"""Calibration metrics: labels and probabilities in, numbers out."""

from .._label_statistics import (
    accuracy_statistics,
    span_statistics,
    tag_statistics,
)
from ._bin_size_curve import BinSizeCurve, bin_size_curve
from ._brier import brier_statistics
from ._curve import ReliabilityCurve, adaptive_reliability_curve
from ._decomposition import ScoreDecomposition, score_decomposition
from ._error import calibration_error
from ._interval import CalibrationErrorInterval, calibration_error_interval
from ._sample_size_curve import SampleSizeCurve, sample_size_curve
from ._sketch import ReliabilitySketch

__all__ = [
    "BinSizeCurve",
    "CalibrationErrorInterval",
    "ReliabilityCurve",
    "ReliabilitySketch",
    "ScoreDecomposition",
    "SampleSizeCurve",
    "accuracy_statistics",
    "adaptive_reliability_curve",
    "bin_size_curve",
    "brier_statistics",
    "calibration_error",
    "calibration_error_interval",
    "score_decomposition",
    "sample_size_curve",
    "span_statistics",
    "tag_statistics",
]
