"""Classes of results that functions return.

Their attributes and methods are as stable as the functions, but nobody needs to import
or to construct them. This module is their place in the documentation.
"""

from .counts._choose_documents import DocumentChoice
from .counts._corrected_count import LabelsOnly
from .evaluation._align import AlignedEvaluations
from .events._event_counts import CorrectedEventCounts
from .events._event_probability import (
    CountComparison,
    PeriodComparison,
    UncertainDocument,
    UncertainLink,
)
from .metrics._confidence_ranking import ConfidenceRanking, RankingComparison
from .metrics._decomposition import ScoreDecomposition
from .metrics._size_curves import BinSizeCurve, SampleSizeCurve
from .queries._answers import ExpectedCounts
from .queries._predicted import PredictedLinks
from .rates._accuracy import AccuracyInterval
from .rates._judged import JudgedAccuracy, JudgedDifference, RateInterval
from .rates._precision import PrecisionThreshold
from .rates._repeats import PassAtK, SampleVariance
from .rates._sampled import SampledConfidence
from .recalibration._decisions import CalibrationDecisions
from .scorers._calibration_comparison import CalibrationComparison
from .significance._experiments import TestSizeCurve
from .significance._two_systems import (
    McNemarResult,
    PairedBootstrapResult,
    PermutationTestResult,
)

__all__ = [
    "AccuracyInterval",
    "AlignedEvaluations",
    "BinSizeCurve",
    "CalibrationComparison",
    "CalibrationDecisions",
    "ConfidenceRanking",
    "CorrectedEventCounts",
    "CountComparison",
    "DocumentChoice",
    "ExpectedCounts",
    "JudgedAccuracy",
    "JudgedDifference",
    "LabelsOnly",
    "McNemarResult",
    "PairedBootstrapResult",
    "PassAtK",
    "PeriodComparison",
    "PermutationTestResult",
    "PrecisionThreshold",
    "PredictedLinks",
    "RankingComparison",
    "RateInterval",
    "SampleSizeCurve",
    "SampleVariance",
    "SampledConfidence",
    "ScoreDecomposition",
    "TestSizeCurve",
    "UncertainDocument",
    "UncertainLink",
]
