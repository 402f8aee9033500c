"""Sequences packed for batches: by time step, longest first, without padding.

At step t the sequences that are longer than t are the first ones of every step before,
so a recursion over all of them is a matrix product on contiguous rows.
"""

from __future__ import annotations

import itertools
from functools import cached_property

import numpy as np


class Packing:
    """Order of tokens by time step.

    Attributes
    ----------
    n_steps : int
        Length of the longest sequence.
    offset : ndarray of shape (n_steps + 1,)
        Rows of step t are offset[t] to offset[t + 1].
    row : ndarray of shape (n_tokens,)
        Token (row of the sequences one after another) in each packed row.
    rank : ndarray of shape (n_sequences,)
        Sequences, longest first.
    sequence : ndarray of shape (n_tokens,)
        Sequence of each packed row.
    bounds : list of int
        `offset` in plain numbers, for slices in a loop.
    """

    def __init__(self, lengths: np.ndarray):
        self.lengths = lengths
        self.rank = np.argsort(-lengths, kind="stable")
        self.n_steps = int(lengths.max(initial=0))
        start = np.cumsum(lengths) - lengths
        # how many sequences are longer than t
        width = lengths.size - np.searchsorted(
            np.sort(lengths), np.arange(self.n_steps), side="right"
        )
        self.offset = np.concatenate([[0], np.cumsum(width)])
        self.bounds = self.offset.tolist()
        step = np.repeat(np.arange(self.n_steps), width)
        place = np.arange(self.offset[-1]) - np.repeat(self.offset[:-1], width)
        self.row = start[self.rank][place] + step
        self.sequence = self.rank[place]

    def step(self, t: int) -> slice:
        """Return the packed rows of step t."""
        return slice(self.bounds[t], self.bounds[t + 1])

    def alive(self, t: int) -> slice:
        """Return those packed rows of step t whose sequences go on."""
        width = 0
        if t + 1 < self.n_steps:
            width = self.bounds[t + 2] - self.bounds[t + 1]
        return slice(self.bounds[t], self.bounds[t] + width)

    def ending(self, t: int) -> slice:
        """Return those packed rows of step t whose sequences end."""
        return slice(self.alive(t).stop, self.bounds[t + 1])

    def last_rows(self) -> np.ndarray:
        """Return the packed row of the last token of each non-empty ranked sequence."""
        lengths = self.lengths[self.rank]
        lengths = lengths[lengths > 0]
        return self.offset[lengths - 1] + np.arange(lengths.size)

    @cached_property
    def runs(self) -> list[tuple[slice, int]]:
        """Rows of steps of one width, and the width.

        A loop over the steps of a run reads them off a reshaped array, which costs
        half of what slices do where few sequences are left.
        """
        width = np.diff(self.offset)
        cuts = np.flatnonzero(np.diff(width)) + 1
        edges = [0, *cuts.tolist(), self.n_steps] if self.n_steps else [0]
        return [
            (slice(self.bounds[a], self.bounds[b]), int(width[a]))
            for a, b in itertools.pairwise(edges)
        ]

    @property
    def longest_run(self) -> int:
        """Number of rows of the longest run."""
        return max((rows.stop - rows.start for rows, _ in self.runs), default=0)

    @cached_property
    def place(self) -> np.ndarray:
        """Packed row of each token."""
        place = np.empty_like(self.row)
        place[self.row] = np.arange(self.row.size)
        return place

    @cached_property
    def previous(self) -> np.ndarray:
        """Packed row of the token before that of each packed row, -1 for none."""
        width = np.diff(self.offset)
        previous = np.full(self.row.size, -1)
        if width.size:
            later = np.arange(width[0], self.row.size)
            previous[width[0] :] = later - np.repeat(width[:-1], width[1:])
        return previous

    def unpack(self, packed: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return packed rows in the order of the sequences one after another."""
        # half the time of writing to places; with another mode take would copy
        return packed.take(self.place, axis=0, out=out, mode="clip")
