"""The best paths of sequences."""

from __future__ import annotations

import numpy as np

from ._chain import BLOCK, Chain

# Entries of a table that stay in the processor's cache.
_CACHED = 2**16
# Rows that are worth a step of their own for each previous tag.
_MANY = 64


def viterbi(chain: Chain) -> np.ndarray:
    """Return the tags of the best path of each sequence, in packed rows."""
    packing = chain.packing
    best = chain.emission()
    for t in range(packing.n_steps):
        if t == 0:
            best[packing.step(t)] += chain.start
        else:
            before = best[packing.alive(t - 1)]
            best[packing.step(t)] += _best_before(before, chain.transition)
    return _trace(chain, best)


def _best_before(before: np.ndarray, transition: np.ndarray) -> np.ndarray:
    """Return the score of the best way into each tag."""
    if before.shape[0] < _MANY and before.shape[0] * transition.size <= BLOCK:
        return (before[:, :, np.newaxis] + transition).max(axis=1)
    score = np.empty_like(before)
    size = max(_MANY, _CACHED // transition.shape[0])
    for i in range(0, before.shape[0], size):
        # tags in rows, so that inner loops run over sequences
        part = before[i : i + size].T.copy()
        found, way = np.full_like(part, -np.inf), np.empty_like(part)
        for row, into in zip(part, transition, strict=True):
            np.add(row, into[:, np.newaxis], out=way)
            np.maximum(found, way, out=found)
        score[i : i + size] = found.T
    return score


def _trace(chain: Chain, best: np.ndarray) -> np.ndarray:
    """Follow the best paths back, adding the same scores again."""
    packing = chain.packing
    path = np.empty(packing.row.size, dtype=np.intp)
    into = np.ascontiguousarray(chain.transition.T)
    for t in reversed(range(packing.n_steps)):
        rows = packing.ending(t)
        total = best[rows] + chain.end
        path[rows] = total.argmax(axis=1)
        impossible = total.max(axis=1) == -np.inf
        if impossible.any():
            chain.refuse(packing.sequence[rows][int(impossible.argmax())])
        if t + 1 < packing.n_steps:
            going_on = packing.alive(t)
            ways = best[going_on] + into[path[packing.step(t + 1)]]
            path[going_on] = ways.argmax(axis=1)
    return path
