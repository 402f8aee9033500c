"""Events of one document, and distributions of sums of independent counts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._count_results import UncertainDocument, UncertainLink
from ._event_probability import Distribution

ROUNDING = 1e-12  # tolerance for sums of probabilities


@dataclass(frozen=True, slots=True)
class DocumentEvents:
    """Events of one document, small enough to be sent between processes.

    `countries` are the codes of the columns of `distribution`. `texts` are the words of
    the mentions in its links.
    """

    document: int
    id: str | None
    countries: tuple[str, ...]
    distribution: Distribution
    texts: dict[int, str]

    def counts(self, country: str) -> np.ndarray:
        """Return the count of an actor in each outcome."""
        if country not in self.countries:
            return np.zeros(len(self.distribution.proba), dtype=np.intp)
        return self.distribution.outcome[:, self.countries.index(country)]

    def marginal(self, column: int) -> tuple[int, np.ndarray]:
        """Return the distribution of the count of one actor."""
        return pmf_of(self.distribution.outcome[:, column], self.distribution.proba)

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of the count of each actor."""
        mean = self.distribution.proba @ self.distribution.outcome
        variance = self.distribution.proba @ (self.distribution.outcome - mean) ** 2
        return mean, variance

    def proba(self) -> np.ndarray:
        """Return the probability of an event of each actor."""
        return np.minimum(self.distribution.proba @ (self.distribution.outcome > 0), 1)

    def uncertain(
        self, column: int, proba: float, period: Hashable
    ) -> UncertainDocument:
        """Return the uncertain event of an actor, given its probability."""
        links = tuple(
            UncertainLink(agent, other, self.texts[agent], self.texts[other], linked)
            for agent, other, linked in self.distribution.link[column]
        )
        return UncertainDocument(
            self.document,
            self.id,
            period,
            self.countries[column],
            proba,
            float(self.distribution.low[column]),
            float(self.distribution.high[column]),
            links,
        )


@dataclass(frozen=True, slots=True)
class Corpus:
    """All documents that were counted. Each attribute has one entry per document.

    index : index in the argument of the user, in ascending order.
    ids : ids of the documents.
    place : period of the documents, as an index.
    """

    index: np.ndarray
    ids: Sequence[Any]
    place: np.ndarray


# Distributions of sums of independent counts


def pmf_of(values: np.ndarray, proba: np.ndarray) -> tuple[int, np.ndarray]:
    """Return the smallest value, and the probabilities up to the largest value."""
    start = int(values.min())
    return start, np.bincount(values - start, weights=proba)


def sum_of(parts: Sequence[tuple[int, np.ndarray]]) -> tuple[int, np.ndarray]:
    """Return the distribution of a sum of independent counts, in the form of `pmf_of`.

    Neighbouring distributions are convolved in pairs until one is left. For n counts,
    this takes O(n^2) operations in few calls. All terms are positive, so there is no
    cancellation.
    """
    start = sum(least for least, _ in parts)
    level = [pmf for _, pmf in parts if pmf.size > 1]
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []
        both = zip(level[::2], level[1::2], strict=False)
        level = [np.convolve(one, other) for one, other in both] + odd
    pmf = level[0] if level else np.ones(1)
    return start, pmf / pmf.sum()


def quantile(start: int, pmf: np.ndarray, level: float) -> int:
    """Return the smallest value whose cumulative probability reaches the level."""
    reached = np.cumsum(pmf) >= level - ROUNDING
    return start + (int(reached.argmax()) if reached.any() else pmf.size - 1)
