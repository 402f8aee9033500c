"""Forward and backward recursions in logarithms: slower, for scores of any size."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from ._chain import BLOCK, Chain


def log_sum(scores: np.ndarray, axis: int) -> np.ndarray:
    """Return the log of a sum; where every term is -inf so is it, without a warning."""
    with np.errstate(divide="ignore"):
        return logsumexp(scores, axis=axis)


def log_product(rows: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return the matrix product of weights that are given by their logarithms."""
    product = np.empty((rows.shape[0], table.shape[1]))
    size = max(1, BLOCK // max(1, table.size))
    for i in range(0, rows.shape[0], size):
        part = rows[i : i + size, :, np.newaxis] + table
        product[i : i + size] = log_sum(part, axis=1)
    return product


def log_forward(chain: Chain) -> tuple[np.ndarray, np.ndarray]:
    """Return log alpha in packed rows and log Z; raise where there is no path."""
    packing, emission = chain.packing, chain.emission()
    alpha = np.empty_like(emission)
    for t in range(packing.n_steps):
        rows = packing.step(t)
        if t == 0:
            alpha[rows] = chain.start
        else:
            before = alpha[packing.alive(t - 1)]
            alpha[rows] = log_product(before, chain.transition)
        alpha[rows] += emission[rows]
    total = np.zeros(packing.lengths.size)
    last = packing.last_rows()
    total[packing.rank[: last.size]] = log_sum(alpha[last] + chain.end, axis=1)
    if (total == -np.inf).any():
        chain.refuse(int((total == -np.inf).argmax()))
    return alpha, total


def log_backward(chain: Chain, emission: np.ndarray) -> np.ndarray:
    """Return log beta in packed rows; `emission` has packed rows."""
    packing = chain.packing
    beta = np.empty_like(emission)
    back = chain.transition.T
    for t in reversed(range(packing.n_steps)):
        beta[packing.ending(t)] = chain.end
        if t + 1 < packing.n_steps:
            ahead = packing.step(t + 1)
            message = beta[ahead] + emission[ahead]
            beta[packing.alive(t)] = log_product(message, back)
    return beta
