"""Is the gain real? Paired tests of two or many systems on the same items."""

from ._bootstrap_test import PairedBootstrapResult, paired_bootstrap_test
from ._compare import compare_systems
from ._comparison import SystemComparison
from ._mcnemar_test import McNemarResult, mcnemar_test
from ._permutation_test import PermutationTestResult, permutation_test
from ._resample_training import resample_training
from ._size_curve import TestSizeCurve, test_size_curve
from ._table import significance_table
from ._threshold import borderline_threshold

__all__ = [
    "McNemarResult",
    "PairedBootstrapResult",
    "PermutationTestResult",
    "SystemComparison",
    "TestSizeCurve",
    "borderline_threshold",
    "compare_systems",
    "mcnemar_test",
    "paired_bootstrap_test",
    "permutation_test",
    "resample_training",
    "significance_table",
    "test_size_curve",
]
