"""Events: rules for agents and actors, and counts given uncertain coreference."""

from .. import _moved
from ._counter import EventCounter
from ._event_counts import EventCounts
from ._lexicon import AffiliationLexicon, CountryLexicon
from ._rule import EventRule

__all__ = [
    "AffiliationLexicon",
    "CountryLexicon",
    "EventCounter",
    "EventCounts",
    "EventRule",
]

__getattr__ = _moved.names_of(__name__)
