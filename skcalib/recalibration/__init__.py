"""Whether to recalibrate, and recalibration of whole posteriors.

A recalibrated posterior keeps all its probabilities consistent.
"""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ._decisions import calibration_decisions
    from ._likelihood import fit_temperature
    from ._temperature import TemperatureScaling
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = ["TemperatureScaling", "calibration_decisions", "fit_temperature"]
