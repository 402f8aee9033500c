"""Displays. Only this subpackage imports matplotlib."""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ._bin_size import BinSizeDisplay
    from ._document import DocumentDisplay
    from ._event_counts import EventCountDisplay
    from ._reliability import ReliabilityDisplay
    from ._risk_coverage import RiskCoverageDisplay
    from ._systems import SignificanceDisplay, SystemScoresDisplay
    from ._tag_error import TagErrorDisplay
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = [
    "BinSizeDisplay",
    "DocumentDisplay",
    "EventCountDisplay",
    "ReliabilityDisplay",
    "RiskCoverageDisplay",
    "SignificanceDisplay",
    "SystemScoresDisplay",
    "TagErrorDisplay",
]
