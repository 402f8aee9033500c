"""Results that methods of EventCounts return: comparisons and uncertain documents."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass
from typing import Any

from .._results import Result


class CountComparison(float, Result):
    """Posterior probability that one count exceeds another.

    :meth:`EventCounts.compare` returns it. The object is a float whose value is
    `greater`.

    Attributes
    ----------
    greater : float
        Probability that the count of `first` is greater.
    equal : float
        Probability that the counts are equal.
    less : float
        Probability that the count of `first` is smaller.
    mean_difference : float
        Mean difference, the count of `first` minus the count of `second`.
    first, second : str
        Codes of the actors.
    period : label
        Period of the counts. If None, the counts are totals over all periods.

    See Also
    --------
    EventCounts.compare : Compare two counts.

    Examples
    --------
    >>> from skcalib.datasets import make_event_documents
    >>> from skcalib.events import EventCounter, EventRule
    >>> documents, _, scores = make_event_documents(
    ...     60, return_scores=True, random_state=0
    ... )
    >>> counts = EventCounter(EventRule(), random_state=0).count(documents, scores)
    >>> comparison = counts.compare("NOR", "KEN")
    >>> comparison > 0.9
    True
    >>> round(comparison.equal, 3), round(comparison.less, 3)
    (0.038, 0.026)
    """

    greater: float
    equal: float
    less: float
    mean_difference: float
    first: str
    second: str
    period: Hashable

    def __new__(
        cls,
        greater: float,
        equal: float,
        less: float,
        mean_difference: float,
        first: str,
        second: str,
        period: Hashable,
    ) -> CountComparison:
        self = super().__new__(cls, greater)
        self.greater, self.equal, self.less = greater, equal, less
        self.mean_difference = mean_difference
        self.first, self.second, self.period = first, second, period
        return self

    def __getnewargs__(self) -> tuple:
        return tuple(self.to_dict().values())

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as a dict."""
        return {
            "greater": float(self),
            "equal": self.equal,
            "less": self.less,
            "mean_difference": self.mean_difference,
            "first": self.first,
            "second": self.second,
            "period": self.period,
        }

    def _in_words(self) -> tuple[str, ...]:
        when = "" if self.period is None else f" in period {self.period}"
        return (
            f"The count of {self.first}{when} exceeds that of {self.second} with "
            f"probability {float(self):.3f}.",
        )

    def __repr__(self) -> str:
        when = "" if self.period is None else f", period={self.period!r}"
        return (
            f"CountComparison({self.first} > {self.second}: {float(self):.3f}, "
            f"equal: {self.equal:.3f}, less: {self.less:.3f}, mean difference "
            f"{self.mean_difference:.2f}{when})"
        )


@dataclass(frozen=True)
class UncertainLink:
    """Link between an agent and another mention, with its probability.

    Attributes
    ----------
    agent, other : int
        Indices of both mentions in the document.
    agent_text, other_text : str
        Words of both mentions.
    proba : float
        Exact probability that both mentions are coreferent.

    See Also
    --------
    UncertainDocument : Document with its uncertain links.

    Examples
    --------
    >>> from skcalib.events import UncertainLink
    >>> UncertainLink(4, 1, "they", "Kenyan rebels", 0.5).proba
    0.5
    """

    agent: int
    other: int
    agent_text: str
    other_text: str
    proba: float


@dataclass(frozen=True)
class UncertainDocument:
    """Document with an uncertain event, and the links on which the event depends.

    :meth:`EventCounts.uncertain_documents` returns it.

    Attributes
    ----------
    document : int
        Index of the document in the `documents` passed to :meth:`EventCounter.count`.
    id : str or None
        Name of the document.
    period : label
        Period of the document.
    country : str
        Code of the actor.
    proba : float
        Probability that the actor is the agent of an event in the document.
    low, high : float
        Bounds on this probability, computed without sampling.
    links : tuple of UncertainLink
        Up to three relevant links, the most uncertain link first. A relevant link
        connects an agent with a mention of this actor or with a mention of another
        actor. Links with other actors are relevant because an entity with a mention of
        another actor is not counted.

    See Also
    --------
    EventCounts : Counts of events.

    Examples
    --------
    >>> from skcalib.datasets import make_event_documents
    >>> from skcalib.events import EventCounter, EventRule
    >>> documents, _, scores = make_event_documents(
    ...     20, return_scores=True, random_state=0
    ... )
    >>> counts = EventCounter(EventRule(), random_state=0).count(documents, scores)
    >>> for each in counts.uncertain_documents(0.05):
    ...     link = each.links[0]
    ...     print(each.country, round(each.proba, 2), link.agent_text, link.other_text)
    BOL 0.51 The soldiers Bolivian soldiers
    KEN 0.51 The officials Kenyan officials
    KEN 0.49 They Kenyan soldiers
    """

    document: int
    id: str | None
    period: Hashable
    country: str
    proba: float
    low: float
    high: float
    links: tuple[UncertainLink, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as a dict, with a dict for each link."""
        return asdict(self)
