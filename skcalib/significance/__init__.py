"""Is the gain real? Paired tests of two or many systems on the same items."""

from ._resample_training import resample_training
from ._threshold import borderline_threshold

__all__ = ["borderline_threshold", "resample_training"]
