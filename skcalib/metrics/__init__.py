"""Calibration metrics, computed from labels and probabilities."""

from ._bin_size_curve import (
    BinSizeCurve,
    bin_size_curve,
    check_sizes,
    curve_of_sizes,
    doubling_sizes,
)
from ._binning import Binning, check_binning
from ._bins import check_norm
from ._calibration_error import ResampledError, calibration_error, error_of_pairs
from ._curve import ReliabilityCurve, adaptive_reliability_curve, curve_of_pairs
from ._decomposition import ScoreDecomposition, score_decomposition
from ._frequency_intervals import frequency_interval
from ._interval import (
    LEAST_GROUPS,
    LEAST_UNITS,
    CalibrationErrorInterval,
    calibration_error_interval,
    interval_of_pairs,
    warn_of_few,
)
from ._label_statistics import (
    accuracy_statistics,
    span_statistics,
    tag_statistics,
)
from ._proper_scores import brier_of_rows, brier_statistics
from ._sample_size_curve import SampleSizeCurve, sample_size_curve
from ._sketch import ReliabilitySketch

# Names that the scorers, the displays and the command line use in addition to the
# public names.
_FOR_SIBLINGS = (
    LEAST_GROUPS,
    LEAST_UNITS,
    Binning,
    ResampledError,
    brier_of_rows,
    check_binning,
    check_norm,
    check_sizes,
    curve_of_pairs,
    curve_of_sizes,
    doubling_sizes,
    error_of_pairs,
    frequency_interval,
    interval_of_pairs,
    warn_of_few,
)

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
