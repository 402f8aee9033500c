"""Calibration metrics, computed from labels and probabilities."""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ._calibration_error import calibration_error
    from ._confidence_ranking import confidence_ranking
    from ._curve import ReliabilityCurve, adaptive_reliability_curve
    from ._decomposition import brier_statistics, score_decomposition
    from ._interval import CalibrationErrorInterval, calibration_error_interval
    from ._label_statistics import (
        accuracy_statistics,
        alignment_statistics,
        attachment_statistics,
        span_statistics,
        tag_statistics,
    )
    from ._size_curves import bin_size_curve, sample_size_curve
    from ._sketch import ReliabilitySketch
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = [
    "CalibrationErrorInterval",
    "ReliabilityCurve",
    "ReliabilitySketch",
    "accuracy_statistics",
    "adaptive_reliability_curve",
    "alignment_statistics",
    "attachment_statistics",
    "bin_size_curve",
    "brier_statistics",
    "calibration_error",
    "calibration_error_interval",
    "confidence_ranking",
    "score_decomposition",
    "sample_size_curve",
    "span_statistics",
    "tag_statistics",
]
