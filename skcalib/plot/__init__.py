"""Displays: numbers first, then the drawing. Nothing else imports matplotlib."""

from ._reliability import ReliabilityDisplay

__all__ = ["ReliabilityDisplay"]
