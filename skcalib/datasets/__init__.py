"""Generated data whose truth is known."""

from ._generators import make_calibrated_pairs

__all__ = ["make_calibrated_pairs"]
