"""Paired tests of two systems on the same items, from sufficient statistics."""

from ._bootstrap_test import PairedBootstrapResult, paired_bootstrap_test
from ._mcnemar_test import McNemarResult, mcnemar_test
from ._permutation_test import PermutationTestResult, permutation_test

__all__ = [
    "McNemarResult",
    "PairedBootstrapResult",
    "PermutationTestResult",
    "mcnemar_test",
    "paired_bootstrap_test",
    "permutation_test",
]
