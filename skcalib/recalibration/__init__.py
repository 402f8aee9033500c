"""Recalibration of whole posteriors, so that every probability stays coherent."""

from ._fit_temperature import fit_temperature
from ._temperature import TemperatureScaling

__all__ = ["TemperatureScaling", "fit_temperature"]
