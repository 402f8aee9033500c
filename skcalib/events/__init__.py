"""Events in documents: who did it, how often, and how sure that is."""

from ._counter import EventCounter
from ._event_counts import (
    CountComparison,
    EventCounts,
    UncertainDocument,
    UncertainLink,
)

__all__ = [
    "CountComparison",
    "EventCounter",
    "EventCounts",
    "UncertainDocument",
    "UncertainLink",
]
