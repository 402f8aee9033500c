"""Paired tests of the difference between two or more systems on the same items."""

from .. import _moved
from ._bootstrap_test import paired_bootstrap_test
from ._estimators import resample_training, significance_table
from ._metric_comparison import compare_metrics
from ._score_comparison import ScoreComparison, compare_scores
from ._swap_tests import mcnemar_test, permutation_test
from ._system_comparison import SystemComparison, compare_systems
from ._test_size import borderline_threshold, test_size_curve
from ._translation import (
    bleu,
    bleu_statistics,
    chrf,
    chrf_statistics,
    ter,
    ter_statistics,
)

__all__ = [
    "ScoreComparison",
    "SystemComparison",
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

__getattr__ = _moved.names_of(__name__)
