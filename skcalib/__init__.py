"""Calibration of the probabilities of classifiers, taggers and language models.

The package measures calibration, improves it, and uses calibrated probabilities. It
follows the conventions of scikit-learn.
"""

import typing

from . import _names

if typing.TYPE_CHECKING:
    from . import coref as coref
    from . import counts as counts
    from . import datasets as datasets
    from . import documents as documents
    from . import evaluation as evaluation
    from . import events as events
    from . import experimental as experimental
    from . import interop as interop
    from . import metrics as metrics
    from . import plot as plot
    from . import posteriors as posteriors
    from . import queries as queries
    from . import rates as rates
    from . import recalibration as recalibration
    from . import scorers as scorers
    from . import sequence as sequence
    from . import significance as significance
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
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__version__ = "0.11.0"

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
