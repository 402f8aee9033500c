"""Events: who did something, for whom, and how often, when the text leaves doubt."""

from ._lexicon import AffiliationLexicon, CountryLexicon
from ._rule import EventEvidence, EventRule

__all__ = [
    "AffiliationLexicon",
    "CountryLexicon",
    "EventEvidence",
    "EventRule",
]
