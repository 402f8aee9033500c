"""Probabilities of spans: which tokens are exactly one entity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._entities import EntityEvents
from ..posteriors import LinearChainPosterior

# Number of spans whose probabilities are computed at once.
_AT_ONCE = 200_000


@dataclass(frozen=True)
class Spans:
    """Spans of several sentences; `label` contains indices into a list of labels."""

    sentence: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    label: np.ndarray

    @classmethod
    def of(cls, found: list[tuple[int, int, int, str]], labels: list[str]) -> Spans:
        place = {label: k for k, label in enumerate(labels)}
        rows = [(i, start, stop, place[label]) for i, start, stop, label in found]
        return cls(*np.array(rows, dtype=np.intp).reshape(-1, 4).T)

    def take(self, rows: np.ndarray) -> Spans:
        columns = (self.sentence, self.start, self.stop, self.label)
        return Spans(*(column[rows] for column in columns))


def span_probabilities(
    asked: Spans,
    labels: list[str],
    events: EntityEvents,
    posterior: LinearChainPosterior,
) -> np.ndarray:
    """Return the probability of each span, in the order of sentences."""
    q = np.zeros(asked.start.size)
    n = len(posterior)
    ends = np.searchsorted(asked.sentence, np.arange(n + 1))
    if q.size > _AT_ONCE:
        # If this raises an error, it names the sentence in the whole posterior.
        posterior.log_partition()
    first = 0
    while first < n:
        size = np.searchsorted(ends, ends[first] + _AT_ONCE, side="right") - 1 - first
        part = slice(first, min(first + max(1, int(size)), n))
        _ask_part(q, asked, labels, events, posterior, part, ends)
        first = part.stop
    return q


def _ask_part(
    q: np.ndarray,
    asked: Spans,
    labels: list[str],
    events: EntityEvents,
    posterior: LinearChainPosterior,
    part: slice,
    ends: np.ndarray,
) -> None:
    """Write the probabilities of the spans of some sentences."""
    spans: list[list] = []
    rows: list[int] = []
    for i in range(part.start, part.stop):
        spans.append([])
        n = posterior.lengths[i]
        for row in range(ends[i], ends[i + 1]):
            start, stop = int(asked.start[row]), int(asked.stop[row])
            label = labels[asked.label[row]]
            tags = events.tags(label, stop - start, followed=stop < n)
            if tags is not None:
                spans[-1].append((start, tags))
                rows.append(row)
    if rows:
        whole = part == slice(0, len(posterior))
        some = posterior if whole else posterior[part]
        q[rows] = np.concatenate(some.span_marginals(spans))
