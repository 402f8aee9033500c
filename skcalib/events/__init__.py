"""Events: rules for agents and actors, and counts given uncertain coreference."""

from ._corrected_counts import CorrectedEventCounts
from ._count_results import CountComparison, UncertainDocument, UncertainLink
from ._counter import EventCounter
from ._countries import CountryLexicon
from ._event_counts import EventCounts
from ._lexicon import AffiliationLexicon
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
