"""Forward and backward recursions: on scaled probabilities, and on logarithms.

Probabilities are scaled at each token. If float64 (or float32) may have underflowed for
a sequence, the recursions are repeated on logarithms, which is slower but valid for
scores of any size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ._packed_chain import BLOCK, Chain, sums

# Numbers of a part of a large array that stays in the cache from one step to the next.
_CACHED = 2**15

# A tag that can be reached but has less of the probability of a prefix than this is
# near the end of what a float holds; its sequence is computed in another way.
_TINY = {np.dtype(np.float64): 1e-250, np.dtype(np.float32): 1e-30}
# Scores of at most this size, up or down, need no shift before the exponential.
_PLAIN = {np.dtype(np.float64): 50.0, np.dtype(np.float32): 10.0}


@dataclass(frozen=True)
class Forward:
    """Scaled forward probabilities, and what was divided out; rows are packed.

    alpha : (n_tokens, n_tags), each row sums to one; scale : (n_tokens,) its sum before
    that; local : (n_tokens, n_tags), the likelihood of the tokens over scale; final :
    (n_sequences,), by rank, the sum over end scores; shift : (n_tokens,) score divided
    out of each token; transition : (n_tags, n_tags), the greatest is one.
    """

    alpha: np.ndarray
    scale: np.ndarray
    local: np.ndarray
    final: np.ndarray
    shift: np.ndarray
    transition: np.ndarray

    @cached_property
    def least(self) -> float:
        """The least of alpha, NaN if one is."""
        return np.min(self.alpha, initial=1)

    @property
    def tiny(self) -> float:
        """Less than this is not trusted."""
        return _TINY[self.alpha.dtype]


def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Divide rows into parts that the cache holds."""
    size = max(1, _CACHED // n_columns)
    for i in range(0, n_rows, size):
        yield slice(i, min(i + size, n_rows))


def top(scores: np.ndarray, axis: int | None = None) -> np.ndarray:
    """Return the maximum, 0 where all is forbidden."""
    greatest = scores.max(axis=axis)
    return np.where(np.isfinite(greatest), greatest, 0.0)


def _by_step(rows: np.ndarray, width: int) -> np.ndarray:
    """Return rows of steps of one width as (n_steps, width, n_columns), not copied."""
    return rows.reshape(-1, width, rows.shape[1])


def _weights(scores: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return np.exp(scores - top(scores)).astype(dtype)


def _likelihood(chain: Chain) -> tuple[np.ndarray, np.ndarray]:
    """Return the likelihood of tokens in packed rows, and what it was shifted by."""
    dtype = chain.dtype
    wide = np.promote_types(chain.scores.dtype, dtype)
    rows, plain = chain.packing.row, _PLAIN[dtype]
    likelihood = np.empty((rows.size, chain.n_tags), dtype)
    shift = np.zeros(rows.size)
    for part in _blocks(rows.size, chain.n_tags):
        scores = chain.scores.take(rows[part], axis=0).astype(wide, copy=False)
        if not (scores.max() <= plain and scores.min() >= -plain):
            shift[part] = top(scores, axis=1)
            scores -= shift[part, np.newaxis]
        with np.errstate(over="ignore"):  # beyond float32 a score is -inf
            np.exp(scores, out=likelihood[part], dtype=dtype, casting="same_kind")
    return likelihood, shift


def forward(chain: Chain) -> Forward:
    """Run the forward recursion; :func:`lost` returns where it is inaccurate."""
    packing, dtype = chain.packing, chain.dtype
    local, shift = _likelihood(chain)
    transition = _weights(chain.transition, dtype)
    first, ones = _weights(chain.start, dtype), np.ones((chain.n_tags, 1), dtype)
    alpha, scale = np.empty_like(local), np.empty((shift.size, 1), dtype)
    before = None
    # Nothing may be left of a sequence, in truth or in floats: then 0 / 0 and NaN from
    # there on, in its own rows only.
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        for rows, width in packing.runs:
            if before is not None:
                before = before[:width]
            for now, tokens, total in zip(
                _by_step(alpha[rows], width),
                _by_step(local[rows], width),
                _by_step(scale[rows], width),
                strict=True,
            ):
                if before is None:
                    now[:] = first
                else:
                    before.dot(transition, now)
                np.multiply(now, tokens, now)
                now.dot(ones, total)
                np.divide(now, total, now)
                before = now
            local[rows] /= scale[rows]  # while the cache has them
    final = alpha[packing.last_rows()] @ _weights(chain.end, dtype)
    return Forward(alpha, scale[:, 0], local, final, shift, transition)


def lost(chain: Chain, run: Forward) -> np.ndarray:
    """Return the sequences for which floats may have underflowed.

    A tag may have weight 0 because it cannot be reached. By induction over tokens, the
    tags of positive weight are the reachable tags, up to the first tag that can be
    reached from one of them but whose weight is too small.
    """
    packing, least = chain.packing, np.min(run.scale, initial=1)
    if run.least * least >= run.tiny and np.min(run.final, initial=1) >= run.tiny:
        return np.zeros(0, dtype=np.intp)  # as almost always
    found = np.zeros(packing.lengths.size, dtype=bool)
    found[packing.sequence[~(run.scale >= run.tiny)]] = True
    ranked = packing.rank[: run.final.size]
    found[ranked[~(run.final >= run.tiny)]] = True
    with np.errstate(divide="ignore", over="ignore"):
        floor = run.tiny / run.scale
    enough = run.alpha >= floor[:, np.newaxis]  # False for NaN too
    rows = np.flatnonzero(~enough.all(axis=1))
    if rows.size:
        previous = packing.previous[rows]
        come = (run.alpha[previous] > 0).astype(np.float32)
        allowed = come @ (chain.transition > -np.inf).astype(np.float32) > 0
        allowed[previous < 0] = chain.start > -np.inf
        allowed &= chain.scores[packing.row[rows]] > -np.inf
        allowed &= ~enough[rows]
        found[packing.sequence[rows[allowed.any(axis=1)]]] = True
    return np.flatnonzero(found)


def partition(chain: Chain, run: Forward) -> np.ndarray:
    """Return log Z of each sequence; the value of a lost sequence is arbitrary."""
    packing = chain.packing
    with np.errstate(divide="ignore"):
        each = np.log(run.scale, dtype=np.float64) + run.shift
        last = np.log(run.final, dtype=np.float64)
    total = sums(each, packing.sequence, packing.lengths.size)
    total += np.maximum(packing.lengths - 1, 0) * top(chain.transition)
    ranked = packing.rank[: run.final.size]
    total[ranked] += last + top(chain.start) + top(chain.end)
    return total


def backward(
    chain: Chain, run: Forward, out: np.ndarray | None = None
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the backward weights beta of some packed rows at a time, the last first.

    For tokens in packed rows, alpha * beta is the marginal up to a factor a token, and
    beta of a token is transition @ (local * beta) of the next one. Those of all tokens
    are left in `out`; without it, what was yielded before is written over. Only
    sequences that are lost overflow.
    """
    packing, local = chain.packing, run.local
    end, back = _weights(chain.end, chain.dtype), run.transition.T.copy()
    widest = max((width for _, width in packing.runs), default=0)
    buffer = np.empty_like(local[:widest])
    space = np.empty_like(local[: packing.longest_run]) if out is None else out
    ahead = buffer[:0]
    if not run.least > 0:
        # the weight of a tag that cannot be reached might grow without bound
        local[run.alpha == 0] = 0
    for rows, width in reversed(packing.runs):
        message = buffer[:width]
        beta = space[rows] if out is not None else space[: rows.stop - rows.start]
        by_step = _by_step(beta, width)
        by_step[-1, ahead.shape[0] :] = end
        for now, tokens in zip(
            by_step[::-1], _by_step(local[rows], width)[::-1], strict=True
        ):
            going_on = ahead.shape[0]
            ahead.dot(back, now if going_on == width else now[:going_on])
            ahead = np.multiply(now, tokens, message)
        yield rows, beta


# In logarithms


def log_sum(scores: np.ndarray, axis: int) -> np.ndarray:
    """Return the log of a sum; where every term is -inf so is it, without a warning.

    As scipy's logsumexp, at a fifth of its time on small arrays.
    """
    greatest = np.expand_dims(top(scores, axis=axis), axis)
    total = np.exp(scores - greatest).sum(axis=axis)
    with np.errstate(divide="ignore"):
        return np.log(total) + greatest.squeeze(axis)


def log_product(rows: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return the matrix product of weights that are given by their logarithms."""
    product = np.empty((rows.shape[0], table.shape[1]))
    size = max(1, BLOCK // max(1, table.size))
    for i in range(0, rows.shape[0], size):
        part = rows[i : i + size, :, np.newaxis] + table
        product[i : i + size] = log_sum(part, axis=1)
    return product


def log_forward(chain: Chain) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log alpha and local scores in packed rows, and log Z.

    The greatest of each row of alpha is 0, and what makes it so is taken from the
    scores of the token: sums over 10,000 tokens would cost seven digits. A sequence
    without a path raises.
    """
    packing, local = chain.packing, chain.emission()
    alpha, scale = np.empty_like(local), np.empty(local.shape[0])
    for t in range(packing.n_steps):
        rows = packing.step(t)
        if t == 0:
            now = chain.start + local[rows]
        else:
            before = alpha[packing.alive(t - 1)]
            now = log_product(before, chain.transition) + local[rows]
        scale[rows] = top(now, axis=1)
        alpha[rows] = now - scale[rows, np.newaxis]
    local -= scale[:, np.newaxis]
    total = sums(scale, packing.sequence, packing.lengths.size)
    last = packing.last_rows()
    total[packing.rank[: last.size]] += log_sum(alpha[last] + chain.end, axis=1)
    if (total == -np.inf).any():
        chain.raise_impossible(int((total == -np.inf).argmax()))
    return alpha, local, total


def log_backward(chain: Chain, local: np.ndarray) -> np.ndarray:
    """Return log beta in packed rows, up to the same term for all of a sequence."""
    packing = chain.packing
    beta = np.empty_like(local)
    back = chain.transition.T
    for t in reversed(range(packing.n_steps)):
        beta[packing.ending(t)] = chain.end
        if t + 1 < packing.n_steps:
            ahead = packing.step(t + 1)
            beta[packing.alive(t)] = log_product(beta[ahead] + local[ahead], back)
    return beta
