"""Events: rules for agents and actors, and counts given uncertain coreference."""

from ._counter import EventCounter
from ._event_counts import CorrectedEventCounts, EventCounts
from ._event_probability import CountComparison, UncertainDocument, UncertainLink
from ._lexicon import AffiliationLexicon, CountryLexicon
from ._rule import EventEvidence, EventRule

__all__ = [
    "AffiliationLexicon",
    "CorrectedEventCounts",
    "CountComparison",
    "CountryLexicon",
    "EventCounter",
    "EventCounts",
    "EventEvidence",
    "EventRule",
    "UncertainDocument",
    "UncertainLink",
]
