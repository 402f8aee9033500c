"""Recalibration of whole posteriors, so that every probability stays coherent."""

from ._temperature import TemperatureScaling

__all__ = ["TemperatureScaling"]
