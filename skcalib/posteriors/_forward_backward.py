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

# Size of the part of a large array that stays in the cache between two steps.
_CACHED = 2**15

# If a reachable tag has a smaller share of the probability of a prefix than this,
# floats are close to underflow, and the sequence is computed in another way.
_TINY = {np.dtype(np.float64): 1e-250, np.dtype(np.float32): 1e-30}
# Scores with at most this absolute value need no shift before the exponential.
_PLAIN = {np.dtype(np.float64): 50.0, np.dtype(np.float32): 10.0}


@dataclass(frozen=True)
class Forward:
    """Scaled forward probabilities and their scales, in packed rows.

    alpha : (n_tokens, n_tags), rows sum to one; scale : (n_tokens,), sum of each row
    before scaling; local : (n_tokens, n_tags), likelihood of each token divided by its
    scale; final : (n_sequences,), by rank, sum over the end scores; shift :
    (n_tokens,), score subtracted from each token; transition : (n_tags, n_tags), with a
    maximum of one.
    """

    alpha: np.ndarray
    scale: np.ndarray
    local: np.ndarray
    final: np.ndarray
    shift: np.ndarray
    transition: np.ndarray

    @cached_property
    def least(self) -> float:
        """Smallest entry of alpha, or NaN if an entry is NaN."""
        return np.min(self.alpha, initial=1)

    @property
    def tiny(self) -> float:
        """Smallest number that is regarded as accurate."""
        return _TINY[self.alpha.dtype]


def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Divide rows into parts that fit into the cache."""
    size = max(1, _CACHED // n_columns)
    for i in range(0, n_rows, size):
        yield slice(i, min(i + size, n_rows))


def top(scores: np.ndarray, axis: int | None = None) -> np.ndarray:
    """Return the maximum, or 0 if all scores are forbidden."""
    greatest = scores.max(axis=axis)
    return np.where(np.isfinite(greatest), greatest, 0.0)


def _by_step(rows: np.ndarray, width: int) -> np.ndarray:
    """Return rows of steps of one width as a view (n_steps, width, n_columns)."""
    return rows.reshape(-1, width, rows.shape[1])


def _weights(scores: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return np.exp(scores - top(scores)).astype(dtype)


def _likelihood(chain: Chain) -> tuple[np.ndarray, np.ndarray]:
    """Return the likelihood of tokens in packed rows, and the shift of each token."""
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
        with np.errstate(over="ignore"):  # scores below float32 are -inf
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
    # All probabilities of a sequence may be 0, exactly or by underflow. Then 0 / 0
    # gives NaN in the following rows of this sequence only.
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        for rows, width in packing.runs:
            # Sequences are sorted by length, so the first rows are those that continue.
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
                    # theory, (L4)
                    before.dot(transition, now)
                np.multiply(now, tokens, now)
                # a product with ones takes less time than a sum over a short axis
                now.dot(ones, total)
                np.divide(now, total, now)
                before = now
            local[rows] /= scale[rows]  # while the rows are in the cache
    final = alpha[packing.last_rows()] @ _weights(chain.end, dtype)
    return Forward(alpha, scale[:, 0], local, final, shift, transition)


def lost(chain: Chain, run: Forward) -> np.ndarray:
    """Return the sequences for which floats may have underflowed.

    A weight of 0 is correct if the tag cannot be reached. A sequence is returned if a
    tag can be reached from a previous tag of positive weight, but its own weight is too
    small. By induction over tokens, the tags of positive weight in all other sequences
    are exactly the reachable tags.
    """
    packing, least = chain.packing, np.min(run.scale, initial=1)
    # A smallest entry is at least this product before scaling.
    if run.least * least >= run.tiny and np.min(run.final, initial=1) >= run.tiny:
        return np.zeros(0, dtype=np.intp)  # the usual case
    found = np.zeros(packing.lengths.size, dtype=bool)
    found[packing.sequence[~(run.scale >= run.tiny)]] = True
    ranked = packing.rank[: run.final.size]
    found[ranked[~(run.final >= run.tiny)]] = True
    with np.errstate(divide="ignore", over="ignore"):
        # tiny before scaling, as alpha has been divided by the scale
        floor = run.tiny / run.scale
    enough = run.alpha >= floor[:, np.newaxis]  # False for NaN too
    rows = np.flatnonzero(~enough.all(axis=1))
    if rows.size:
        previous = packing.previous[rows]
        # which tags have a way from a tag of positive weight; float32 sums count
        # exactly up to 2^24 tags
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
        # theory, (L4), right; each maximum that was divided out is added again
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
    """Yield the backward weights beta of blocks of packed rows, last block first.

    alpha * beta is the marginal of a token, up to one factor per token, and beta of a
    token is transition @ (local * beta) of the next token: theory, (L3). If `out` is
    given, it contains the weights of all tokens at the end. Otherwise, each block
    overwrites the block before it. Only sequences that are lost can overflow.
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
        # Sequences that end here start with the end scores.
        by_step[-1, ahead.shape[0] :] = end
        for now, tokens in zip(
            by_step[::-1], _by_step(local[rows], width)[::-1], strict=True
        ):
            going_on = ahead.shape[0]
            ahead.dot(back, now if going_on == width else now[:going_on])
            # theory, (L4): local contains the factor 1 / c, so beta keeps its size
            ahead = np.multiply(now, tokens, message)
        yield rows, beta


# In logarithms


def log_sum(scores: np.ndarray, axis: int) -> np.ndarray:
    """Return the log of a sum of exponentials, -inf if every term is -inf.

    The function takes a fifth of the time of scipy's logsumexp on small arrays, and it
    does not issue a warning.
    """
    greatest = np.expand_dims(top(scores, axis=axis), axis)
    total = np.exp(scores - greatest).sum(axis=axis)
    with np.errstate(divide="ignore"):
        return np.log(total) + greatest.squeeze(axis)


def log_product(rows: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return the logarithm of the matrix product of exp(rows) and exp(table)."""
    product = np.empty((rows.shape[0], table.shape[1]))
    size = max(1, BLOCK // max(1, table.size))
    for i in range(0, rows.shape[0], size):
        # A table per row: the exponentials of different rows cannot share a shift.
        part = rows[i : i + size, :, np.newaxis] + table
        product[i : i + size] = log_sum(part, axis=1)
    return product


def log_forward(chain: Chain) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log alpha and local scores in packed rows, and log Z.

    The maximum of each row of log alpha is 0. The same shift is subtracted from the
    scores of the token, since sums over 10,000 tokens would lose seven digits. An error
    is raised for a sequence without an allowed path.
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
    # the same factor as in (L4), so that log_backward stays near 0
    local -= scale[:, np.newaxis]
    total = sums(scale, packing.sequence, packing.lengths.size)
    last = packing.last_rows()
    total[packing.rank[: last.size]] += log_sum(alpha[last] + chain.end, axis=1)
    if (total == -np.inf).any():
        chain.raise_impossible(int((total == -np.inf).argmax()))
    return alpha, local, total


def log_backward(chain: Chain, local: np.ndarray) -> np.ndarray:
    """Return log beta in packed rows, up to one constant per token."""
    packing = chain.packing
    beta = np.empty_like(local)
    back = chain.transition.T
    for t in reversed(range(packing.n_steps)):
        beta[packing.ending(t)] = chain.end
        if t + 1 < packing.n_steps:
            ahead = packing.step(t + 1)
            beta[packing.alive(t)] = log_product(beta[ahead] + local[ahead], back)
    return beta
