"""Paired tests of two systems on the same items, from sufficient statistics."""

from ._bootstrap_test import PairedBootstrapResult, paired_bootstrap_test

__all__ = [
    "PairedBootstrapResult",
    "paired_bootstrap_test",
]
