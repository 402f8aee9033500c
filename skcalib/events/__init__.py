"""Events: rules for agents and actors, and counts given uncertain coreference."""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ._counter import EventCounter
    from ._event_counts import EventCounts
    from ._lexicon import AffiliationLexicon, CountryLexicon
    from ._rule import EventRule
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = [
    "AffiliationLexicon",
    "CountryLexicon",
    "EventCounter",
    "EventCounts",
    "EventRule",
]
