"""The events of one document, and what makes them uncertain."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ._counts import pmf_of
from ._event_probability import Distribution


@dataclass(frozen=True)
class UncertainLink:
    """Say how sure it is that an agent and another mention are one entity.

    Attributes
    ----------
    agent, other : int
        Their places among the mentions of the document.
    agent_text, other_text : str
        Their words.
    proba : float
        Probability to be one entity, exact.

    See Also
    --------
    UncertainDocument : Where such links are listed.

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
    """Say which mentions make it uncertain whether a document has an event.

    Made by :meth:`EventCounts.uncertain_documents`.

    Attributes
    ----------
    document : int
        Place of the document among those that were counted.
    id : str or None
        Its name.
    period : label
        Its period.
    country : str
        The actor.
    proba : float
        Probability that the actor is the agent of an event in it.
    low, high : float
        Bounds of that probability, which need no samples.
    links : tuple of UncertainLink
        Links between agents and mentions of this actor (or of another, which would
        spoil the entity), those that matter most first; at most three.

    See Also
    --------
    EventCounts : The counts.

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
    period: Any
    country: str
    proba: float
    low: float
    high: float
    links: tuple[UncertainLink, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as a dict; links as dicts too."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class DocumentEvents:
    """The events of one document: private, small, and cheap to send between processes.

    `countries` are the codes of the columns of `law`; `texts` the words of the mentions
    in its links.
    """

    document: int
    id: str | None
    countries: tuple[str, ...]
    law: Distribution
    texts: dict[int, str]

    def counts(self, country: str) -> np.ndarray:
        """Return the count of an actor in each outcome, 0 if it is not among ours."""
        if country not in self.countries:
            return np.zeros(len(self.law.proba), dtype=np.intp)
        return self.law.outcome[:, self.countries.index(country)]

    def marginal(self, column: int) -> tuple[int, np.ndarray]:
        """Return the distribution of the count of one actor."""
        return pmf_of(self.law.outcome[:, column], self.law.proba)

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of the count of each actor."""
        mean = self.law.proba @ self.law.outcome
        variance = self.law.proba @ (self.law.outcome - mean) ** 2
        return mean, variance

    def proba(self) -> np.ndarray:
        """Return the probability of an event of each actor."""
        return np.minimum(self.law.proba @ (self.law.outcome > 0), 1)

    def uncertain(self, column: int, proba: float, period: Any) -> UncertainDocument:
        """Return what is uncertain of an actor, of this probability of an event."""
        links = tuple(
            UncertainLink(agent, other, self.texts[agent], self.texts[other], linked)
            for agent, other, linked in self.law.link[column]
        )
        return UncertainDocument(
            self.document,
            self.id,
            period,
            self.countries[column],
            proba,
            float(self.law.low[column]),
            float(self.law.high[column]),
            links,
        )
