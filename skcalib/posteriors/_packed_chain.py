"""Scores of many sequences, ordered so that one recursion advances all of them.

Tokens are packed by time step, the longest sequence first, without padding. The
sequences that are longer than t are the first sequences of every step before t, so a
recursion over all sequences is a matrix product on contiguous rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NoReturn

import numpy as np

# Number of entries of (sequences, tags, tags) tables that are in memory at a time.
BLOCK = 4_000_000


@dataclass(frozen=True)
class Chain:
    """Scores of sequences and their packed order: the logs of theory, (L1).

    scores : (n_tokens, n_tags), concatenated sequences; transition, start, end : as in
    LinearChainPosterior; names : (n_sequences,), indices of the sequences for messages;
    dtype : type of the numbers in scaled recursions.
    """

    packing: Packing
    scores: np.ndarray
    transition: np.ndarray
    start: np.ndarray
    end: np.ndarray
    names: np.ndarray
    dtype: np.dtype

    @property
    def n_tags(self) -> int:
        """Number of tags."""
        return self.transition.shape[0]

    def emission(self, dtype: np.dtype | type = np.float64) -> np.ndarray:
        """Return a copy of the scores of tokens in packed rows."""
        return self.scores.take(self.packing.row, axis=0).astype(dtype, copy=False)

    def tokens(self, sequences: np.ndarray) -> np.ndarray:
        """Return a mask of the tokens of some sequences."""
        chosen = np.zeros(self.packing.lengths.size, dtype=bool)
        chosen[sequences] = True
        return np.repeat(chosen, self.packing.lengths)

    def subset(self, sequences: np.ndarray) -> Chain:
        """Return the chain of some sequences, in ascending order, in float64."""
        return replace(
            self,
            packing=Packing(self.packing.lengths[sequences]),
            scores=self.scores[self.tokens(sequences)],
            names=self.names[sequences],
            dtype=np.dtype(np.float64),
        )

    def parts(self, sequences: np.ndarray, cost: float) -> Iterator[np.ndarray]:
        """Divide sequences into blocks, where each token needs `cost` numbers."""
        size = np.cumsum(self.packing.lengths[sequences] * cost) // BLOCK
        cuts = np.flatnonzero(np.diff(size)) + 1
        for part in np.split(sequences, cuts):
            if part.size:
                yield part

    def raise_impossible(self, sequence: int) -> NoReturn:
        """Raise an error for a sequence without an allowed path."""
        raise ValueError(
            "LinearChainPosterior allows no tagging of sequence "
            f"{self.names[sequence]}: every path has a score of -inf."
        )


def sums(values: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Return the sum of the values of each group."""
    # bincount returns integers if there are no values
    return np.bincount(group, values, n_groups).astype(np.float64, copy=False)


class Packing:
    """Order of tokens by time step.

    For example, sequences of 2, 4 and 3 tokens have the rank 1, 2, 0. With the tokens
    a0 a1, b0 b1 b2 b3 and c0 c1 c2, the packed rows are::

        b0 c0 a0 | b1 c1 a1 | b2 c2 | b3

    and `offset` is 0, 3, 6, 8, 9. The sequences that continue are the first rows.

    Attributes
    ----------
    n_steps : int
        Length of the longest sequence.
    offset : ndarray of shape (n_steps + 1,)
        Rows of step t are offset[t] to offset[t + 1].
    row : ndarray of shape (n_tokens,)
        Token in each packed row, counted through all sequences.
    rank : ndarray of shape (n_sequences,)
        Sequences, longest first.
    sequence : ndarray of shape (n_tokens,)
        Sequence of each packed row.
    bounds : list of int
        `offset` as a list of int, for slices in a loop.
    """

    def __init__(self, lengths: np.ndarray):
        self.lengths = lengths
        self.rank = np.argsort(-lengths, kind="stable")
        self.n_steps = int(lengths.max(initial=0))
        start = np.cumsum(lengths) - lengths
        # number of sequences longer than t
        width = lengths.size - np.searchsorted(
            np.sort(lengths), np.arange(self.n_steps), side="right"
        )
        self.offset = np.concatenate([[0], np.cumsum(width)])
        self.bounds = self.offset.tolist()
        step = np.repeat(np.arange(self.n_steps), width)
        # position inside the step, which is the rank of the sequence
        place = np.arange(self.offset[-1]) - np.repeat(self.offset[:-1], width)
        self.row = start[self.rank][place] + step
        self.sequence = self.rank[place]

    def step(self, t: int) -> slice:
        """Return the packed rows of step t."""
        return slice(self.bounds[t], self.bounds[t + 1])

    def alive(self, t: int) -> slice:
        """Return the packed rows of step t whose sequences continue."""
        width = 0
        if t + 1 < self.n_steps:
            # as many as the next step has
            width = self.bounds[t + 2] - self.bounds[t + 1]
        return slice(self.bounds[t], self.bounds[t] + width)

    def ending(self, t: int) -> slice:
        """Return the packed rows of step t whose sequences end."""
        return slice(self.alive(t).stop, self.bounds[t + 1])

    def last_rows(self) -> np.ndarray:
        """Return the packed row of the last token of each non-empty ranked sequence."""
        lengths = self.lengths[self.rank]
        lengths = lengths[lengths > 0]
        # The sequence of rank r is in row r of each of its steps.
        return self.offset[lengths - 1] + np.arange(lengths.size)

    @cached_property
    def runs(self) -> list[tuple[slice, int]]:
        """Rows of consecutive steps of the same width, and this width.

        A loop over the steps of a run can use a reshaped array, which takes half the
        time of slices if few sequences are left.
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
        """Packed row of the previous token of each packed row, -1 if there is none."""
        width = np.diff(self.offset)
        previous = np.full(self.row.size, -1)
        if width.size:
            later = np.arange(width[0], self.row.size)
            # one step back is the width of the step before
            previous[width[0] :] = later - np.repeat(width[:-1], width[1:])
        return previous

    def unpack(self, packed: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return packed rows in the order of the concatenated sequences."""
        # takes half the time of an indexed assignment; other modes of take would copy
        return packed.take(self.place, axis=0, out=out, mode="clip")
