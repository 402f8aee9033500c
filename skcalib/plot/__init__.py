"""Displays. Only this subpackage imports matplotlib."""

from .. import _moved
from ._bin_size import BinSizeDisplay
from ._document import DocumentDisplay
from ._event_counts import EventCountDisplay
from ._reliability import ReliabilityDisplay, ReliabilityPanelsDisplay
from ._systems import SignificanceDisplay, SystemScoresDisplay
from ._tag_error import TagErrorDisplay

__all__ = [
    "BinSizeDisplay",
    "DocumentDisplay",
    "EventCountDisplay",
    "ReliabilityDisplay",
    "ReliabilityPanelsDisplay",
    "SignificanceDisplay",
    "SystemScoresDisplay",
    "TagErrorDisplay",
]


def __getattr__(name: str) -> object:
    if name == "CalibrationDisplay":
        # Python replaces the message of an AttributeError in `from ... import name`.
        raise ImportError(
            "skcalib does not have a CalibrationDisplay. Its reliability diagram is "
            "skcalib.ReliabilityDisplay; CalibrationDisplay is in sklearn.calibration."
        )
    return _moved.names_of(__name__)(name)
