"""Sequences packed for batches: by time step, longest first, without padding.

At step t the sequences that are longer than t are the first ones of every step before,
so a recursion over all of them is a matrix product on contiguous rows.
"""

from __future__ import annotations

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
        self._bounds = self.offset.tolist()  # plain ints, for slices in a loop
        step = np.repeat(np.arange(self.n_steps), width)
        place = np.arange(self.offset[-1]) - np.repeat(self.offset[:-1], width)
        self.row = start[self.rank][place] + step
        self.sequence = self.rank[place]

    def step(self, t: int) -> slice:
        """Return the packed rows of step t."""
        return slice(self._bounds[t], self._bounds[t + 1])

    def alive(self, t: int) -> slice:
        """Return those packed rows of step t whose sequences go on."""
        width = 0
        if t + 1 < self.n_steps:
            width = self._bounds[t + 2] - self._bounds[t + 1]
        return slice(self._bounds[t], self._bounds[t] + width)

    def ending(self, t: int) -> slice:
        """Return those packed rows of step t whose sequences end."""
        return slice(self.alive(t).stop, self._bounds[t + 1])

    def last_rows(self) -> np.ndarray:
        """Return the packed row of the last token of each non-empty ranked sequence."""
        lengths = self.lengths[self.rank]
        lengths = lengths[lengths > 0]
        return self.offset[lengths - 1] + np.arange(lengths.size)

    def unpack(self, packed: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return packed rows in the order of the sequences one after another."""
        rows = np.empty_like(packed) if out is None else out
        rows[self.row] = packed
        return rows
