"""Paired tests of the difference between two or more systems on the same items."""

from ._experiments import (
    TestSizeCurve,
    borderline_threshold,
    resample_training,
    test_size_curve,
)
from ._score_comparison import ScoreComparison, compare_metrics, compare_scores
from ._system_comparison import SystemComparison, compare_systems, significance_table
from ._translation import (
    bleu,
    bleu_statistics,
    chrf,
    chrf_statistics,
    ter,
    ter_statistics,
)
from ._two_systems import (
    McNemarResult,
    PairedBootstrapResult,
    PermutationTestResult,
    mcnemar_test,
    paired_bootstrap_test,
    permutation_test,
)

__all__ = [
    "McNemarResult",
    "PairedBootstrapResult",
    "PermutationTestResult",
    "ScoreComparison",
    "SystemComparison",
    "TestSizeCurve",
    "bleu",
    "bleu_statistics",
    "borderline_threshold",
    "chrf",
    "chrf_statistics",
    "compare_metrics",
    "compare_scores",
    "compare_systems",
    "mcnemar_test",
    "paired_bootstrap_test",
    "permutation_test",
    "resample_training",
    "significance_table",
    "ter",
    "ter_statistics",
    "test_size_curve",
]
