"""Probabilities of stretches of tokens: a set of tags for each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._chain import Chain
from ._lattice import Lattice, lattices

# Spans whose rows are held at once.
_AT_ONCE = 50_000


@dataclass(frozen=True)
class Spans:
    """Spans of a batch of sequences.

    start : (n_spans,) first token, counted through all sequences; length : (n_spans,);
    allowed : (n_rows, n_tags) bool, the rows of all spans one after another.
    """

    start: np.ndarray
    length: np.ndarray
    allowed: np.ndarray


def span_marginals(chain: Chain, spans: Spans) -> np.ndarray:
    """Return the probability that all tokens of each span have an allowed tag."""
    proba = np.empty(spans.start.size)
    first = np.cumsum(spans.length) - spans.length
    for lattice in lattices(chain):
        mine = np.flatnonzero(lattice.held[spans.start])
        # longest first, so that those that go on are the first ones at every step
        mine = mine[np.argsort(-spans.length[mine], kind="stable")]
        for i in range(0, mine.size, _AT_ONCE):
            some = mine[i : i + _AT_ONCE]
            proba[some] = _run(lattice, spans, some, first[some])
    return np.clip(proba, 0, 1)


def _run(
    lattice: Lattice, spans: Spans, some: np.ndarray, first: np.ndarray
) -> np.ndarray:
    """Advance spans together, the longest first, and close each after its last token.

    What is closed has been reached with the weight of the allowed stretches alone.
    """
    length, proba = spans.length[some], np.empty(some.size)
    rows = lattice.alpha[lattice.row[spans.start[some]]]
    for step in range(int(length.max())):
        alive = np.searchsorted(-length, -step)  # how many are longer than `step`
        token = lattice.row[spans.start[some[:alive]] + step]
        if step:
            rows = lattice.advance(rows[:alive])
            rows = lattice.times(rows, lattice.local[token])
        allowed = spans.allowed[first[:alive] + step]
        rows = np.where(allowed, rows, lattice.nothing)
        done = np.searchsorted(-length, -step - 1)
        whole = lattice.times(rows[done:], lattice.after[token[done:]])
        proba[done:alive] = lattice.proba(whole).sum(axis=1)
    return proba
