"""Recalibration of whole posteriors, which keeps all probabilities consistent."""

from ._likelihood import fit_temperature
from ._temperature import TemperatureScaling

__all__ = ["TemperatureScaling", "fit_temperature"]
