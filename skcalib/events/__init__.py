"""Events: who did something, for whom, and how often, when the text leaves doubt."""

from ._comparison import CountComparison
from ._counter import EventCounter
from ._document_events import UncertainDocument, UncertainLink
from ._event_counts import EventCounts
from ._lexicon import AffiliationLexicon, CountryLexicon
from ._rule import EventEvidence, EventRule

__all__ = [
    "AffiliationLexicon",
    "CountComparison",
    "CountryLexicon",
    "EventCounter",
    "EventCounts",
    "EventEvidence",
    "EventRule",
    "UncertainDocument",
    "UncertainLink",
]
