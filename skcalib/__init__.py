"""Calibration of the probabilities of classifiers, taggers and language models.

The package measures calibration, improves it, and uses calibrated probabilities. It
follows the conventions of scikit-learn.
"""

from . import plot
from .coref import AntecedentRanker, SampledCorefPairs
from .evaluation import read_evaluation
from .metrics import (
    adaptive_reliability_curve,
    calibration_error,
    calibration_error_interval,
)
from .plot import ReliabilityDisplay
from .recalibration import TemperatureScaling
from .scorers import calibration_error_scorer, make_calibration_scorer
from .sequence import CRFTagger, HMMTagger, TokenFeatures
from .significance import paired_bootstrap_test

__version__ = "0.9.0"

__all__ = [
    "AntecedentRanker",
    "CRFTagger",
    "HMMTagger",
    "ReliabilityDisplay",
    "SampledCorefPairs",
    "TemperatureScaling",
    "TokenFeatures",
    "__version__",
    "adaptive_reliability_curve",
    "calibration_error",
    "calibration_error_interval",
    "calibration_error_scorer",
    "make_calibration_scorer",
    "paired_bootstrap_test",
    "read_evaluation",
]


def __getattr__(name: str) -> object:
    if name == "CalibrationDisplay":
        return getattr(plot, name)  # which is an error with a hint
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
