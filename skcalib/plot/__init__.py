"""Displays: numbers first, then the drawing. Nothing else imports matplotlib."""

from ._bin_size import BinSizeDisplay
from ._reliability import ReliabilityDisplay

__all__ = ["BinSizeDisplay", "ReliabilityDisplay"]
