"""Calibration metrics: labels and probabilities in, numbers out."""

from ._curve import ReliabilityCurve, adaptive_reliability_curve
from ._decomposition import ScoreDecomposition, score_decomposition
from ._error import calibration_error
from ._interval import CalibrationErrorInterval, calibration_error_interval

__all__ = [
    "CalibrationErrorInterval",
    "ReliabilityCurve",
    "ScoreDecomposition",
    "adaptive_reliability_curve",
    "calibration_error",
    "calibration_error_interval",
    "score_decomposition",
]
