"""Displays: numbers first, then the drawing. Nothing else imports matplotlib."""

from ._panels import ReliabilityPanelsDisplay
from ._reliability import ReliabilityDisplay

__all__ = ["ReliabilityDisplay", "ReliabilityPanelsDisplay"]
