"""Scores of a batch of sequences, as the recursions read them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np

from ._packing import Packing

# Entries of (sequences, tags, tags) tables that are held at once.
BLOCK = 4_000_000
# Numbers of a part of a large array that stays in the cache from one step to the next.
_CACHED = 2**15


@dataclass(frozen=True)
class Chain:
    """Scores of sequences and their packed order.

    scores : (n_tokens, n_tags), the sequences one after another; transition, start, end
    as in LinearChainPosterior; names : (n_sequences,) the user's numbers of the
    sequences; dtype : of the recursions that are scaled.
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
        """Divide sequences so that `cost` numbers for each token stay in a block."""
        size = np.cumsum(self.packing.lengths[sequences] * cost) // BLOCK
        cuts = np.flatnonzero(np.diff(size)) + 1
        for part in np.split(sequences, cuts):
            if part.size:
                yield part

    def refuse(self, sequence: int) -> NoReturn:
        """Raise for a sequence without any path."""
        raise ValueError(
            "LinearChainPosterior allows no tagging of sequence "
            f"{self.names[sequence]}: every path meets a score of -inf."
        )


def blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Divide rows into parts that the cache holds."""
    size = max(1, _CACHED // n_columns)
    for i in range(0, n_rows, size):
        yield slice(i, min(i + size, n_rows))


def top(scores: np.ndarray, axis: int | None = None) -> np.ndarray:
    """Return the maximum, 0 where all is forbidden."""
    greatest = scores.max(axis=axis)
    return np.where(np.isfinite(greatest), greatest, 0.0)


def sums(values: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Return the sum of the values of each group."""
    # of no values at all bincount gives integers
    return np.bincount(group, values, n_groups).astype(np.float64, copy=False)
