"""The best paths of sequences."""

from __future__ import annotations

import numpy as np

from ._chain import BLOCK, Chain


def viterbi(chain: Chain) -> np.ndarray:
    """Return the tags of the best path of each sequence, in packed rows."""
    packing, n_tags = chain.packing, chain.transition.shape[0]
    best = chain.emission()
    pointer = np.zeros(best.shape, dtype=np.min_scalar_type(n_tags))
    into = np.ascontiguousarray(chain.transition.T)
    for t in range(packing.n_steps):
        rows = packing.step(t)
        if t == 0:
            best[rows] += chain.start
        else:
            found = _best_previous(best[packing.alive(t - 1)], into)
            pointer[rows] = found[0]
            best[rows] += found[1]
    return _trace(chain, best, pointer)


def _best_previous(
    before: np.ndarray, into: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the best previous tag of each tag and its score, the first of equals."""
    n_tags = into.shape[0]
    pointer = np.empty(before.shape, dtype=np.intp)
    score = np.empty_like(before)
    size = max(1, BLOCK // n_tags**2)
    for i in range(0, before.shape[0], size):
        part = slice(i, i + size)
        sums = before[part, np.newaxis, :] + into
        pointer[part] = sums.argmax(axis=2)
        score[part] = np.take_along_axis(sums, pointer[part][:, :, np.newaxis], axis=2)[
            :, :, 0
        ]
    return pointer, score


def _trace(chain: Chain, best: np.ndarray, pointer: np.ndarray) -> np.ndarray:
    packing = chain.packing
    path = np.empty(packing.row.size, dtype=np.intp)
    for t in reversed(range(packing.n_steps)):
        rows = packing.ending(t)
        total = best[rows] + chain.end
        path[rows] = total.argmax(axis=1)
        impossible = total.max(axis=1) == -np.inf
        if impossible.any():
            chain.refuse(packing.sequence[rows][int(impossible.argmax())])
        if t + 1 < packing.n_steps:
            ahead = packing.step(t + 1)
            chosen = pointer[ahead, :][np.arange(ahead.stop - ahead.start), path[ahead]]
            path[packing.alive(t)] = chosen
    return path
