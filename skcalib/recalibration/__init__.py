"""Recalibration of whole posteriors, which keeps all probabilities consistent."""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ._likelihood import fit_temperature
    from ._temperature import TemperatureScaling
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = ["TemperatureScaling", "fit_temperature"]
