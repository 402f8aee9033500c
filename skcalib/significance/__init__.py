"""Paired tests of the difference between two or more systems on the same items."""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ._experiments import borderline_threshold, resample_training, test_size_curve
    from ._system_comparison import SystemComparison, compare_systems
    from ._translation import (
        bleu,
        bleu_statistics,
        chrf,
        chrf_statistics,
        ter,
        ter_statistics,
    )
    from ._two_systems import mcnemar_test, paired_bootstrap_test, permutation_test
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = [
    "SystemComparison",
    "bleu",
    "bleu_statistics",
    "borderline_threshold",
    "chrf",
    "chrf_statistics",
    "compare_systems",
    "mcnemar_test",
    "paired_bootstrap_test",
    "permutation_test",
    "resample_training",
    "ter",
    "ter_statistics",
    "test_size_curve",
]
