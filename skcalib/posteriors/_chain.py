"""Taggings drawn from the posterior: filtered forward, sampled backward.

Scores of many sequences, ordered so that one recursion advances all of them.

Tokens are packed by time step, the longest sequence first, without padding. The
sequences that are longer than t are the first sequences of every step before t, so a
recursion over all sequences is a matrix product on contiguous rows.

Forward and backward recursions: on scaled probabilities, and on logarithms.

Probabilities are scaled at each token. If float64 (or float32) may have underflowed for
a sequence, the recursions are repeated on logarithms, which is slower but valid for
scores of any size.

The best path and the k best paths of each sequence.
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


# Maximum number of entries of a table that stays in the processor's cache.
_CACHED_PATHS = 2**16
# Number of rows from which a loop over previous tags is faster.
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
    """Return the score of the best path that ends in each tag."""
    if before.shape[0] < _MANY and before.shape[0] * transition.size <= BLOCK:
        return (before[:, :, np.newaxis] + transition).max(axis=1)
    score = np.empty_like(before)
    size = max(_MANY, _CACHED_PATHS // transition.shape[0])
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
    """Trace the best paths backwards by adding the same scores again."""
    packing = chain.packing
    path = np.empty(packing.row.size, dtype=np.intp)
    # rows of previous tags for each next tag
    into = np.ascontiguousarray(chain.transition.T)
    for t in reversed(range(packing.n_steps)):
        rows = packing.ending(t)
        total = best[rows] + chain.end
        path[rows] = total.argmax(axis=1)
        impossible = total.max(axis=1) == -np.inf
        if impossible.any():
            chain.raise_impossible(packing.sequence[rows][int(impossible.argmax())])
        if t + 1 < packing.n_steps:
            going_on = packing.alive(t)
            ways = best[going_on] + into[path[packing.step(t + 1)]]
            # The same sums as in the recursion give the same maximum, also in ties.
            path[going_on] = ways.argmax(axis=1)
    return path


def k_best(chain: Chain, k: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield the index of each non-empty sequence, its paths (m, n) and scores (m,)."""
    # Short sequences have fewer paths. The exponent is bounded for long sequences.
    k = min(k, chain.n_tags ** min(chain.packing.n_steps, 64))
    some = np.flatnonzero(chain.packing.lengths)
    for part in chain.parts(some, chain.n_tags * max(chain.n_tags, k)):
        small = chain.subset(part)
        tags, scores = _best_ranks(small, k)
        ends = np.cumsum(small.packing.lengths)
        for i, (end, length) in enumerate(
            zip(ends, small.packing.lengths, strict=True)
        ):
            m = np.count_nonzero(scores[i] > -np.inf)
            if m == 0:
                small.raise_impossible(i)
            yield int(part[i]), tags[end - length : end, :m].T.copy(), scores[i, :m]


def _best_ranks(chain: Chain, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return tags (n_tokens, k) and scores (n_sequences, k), -inf without a path.

    For every tag of a token, the k best paths that end in this tag are stored: their
    scores, their previous tags, and their ranks at the previous tags.
    """
    packing, emission, n_tags = chain.packing, chain.emission(), chain.n_tags
    shape = (packing.row.size, n_tags, k)
    from_tag = np.zeros(shape, dtype=np.min_scalar_type(n_tags))
    from_rank = np.zeros(shape, dtype=np.min_scalar_type(k))
    last_tag, last_rank, scores = (
        np.zeros((packing.lengths.size, k), dtype=dtype)
        for dtype in (np.intp, np.intp, np.float64)
    )
    into = np.ascontiguousarray(chain.transition.T)
    for t in range(packing.n_steps):
        rows = packing.step(t)
        if t == 0:
            best = (emission[rows] + chain.start)[:, :, np.newaxis]
        else:
            width = rows.stop - rows.start
            tag, rank, best = _best_ways(best[:width], into, k)
            from_tag[rows, :, : tag.shape[2]] = tag
            from_rank[rows, :, : tag.shape[2]] = rank
            best += emission[rows][:, :, np.newaxis]
        ending = packing.ending(t)
        place = packing.sequence[ending]
        found = _best_ways(best[ending.start - rows.start :], chain.end[np.newaxis], k)
        m = found[0].shape[2]
        scores[place] = -np.inf
        for whole, part in zip((last_tag, last_rank, scores), found, strict=True):
            whole[place, :m] = part[:, 0]
    return _trace_ranks(chain, from_tag, from_rank, last_tag, last_rank), scores


def _best_ways(
    before: np.ndarray, into: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return previous tag, its rank and the score of the k best paths to each tag.

    before : (n, n_previous, n_ranks), best first; into : (n_tags, n_previous). In case
    of ties, the lowest previous tag comes first. Each step only compares the best
    remaining path of each previous tag, so it computes one maximum.
    """
    n_ranks = before.shape[2]
    # Impossible paths are among them, with a score of -inf.
    k = min(k, n_ranks * before.shape[1])
    head = before[:, np.newaxis, :, 0] + into
    position = np.zeros(head.shape, dtype=np.intp)
    shape = (*head.shape[:2], k)
    tag, rank = np.empty(shape, dtype=np.intp), np.empty(shape, dtype=np.intp)
    score = np.empty(shape)
    row, column = np.ogrid[: shape[0], : shape[1]]
    for j in range(k):
        choice = head.argmax(axis=2)
        tag[:, :, j], rank[:, :, j] = choice, position[row, column, choice]
        score[:, :, j] = head[row, column, choice]
        # The chosen previous tag offers its next best path; n_ranks means none left.
        after = np.minimum(rank[:, :, j] + 1, n_ranks)
        following = before[row, choice, np.minimum(after, n_ranks - 1)]
        following = following + into[column, choice]
        head[row, column, choice] = np.where(after < n_ranks, following, -np.inf)
        position[row, column, choice] = after
    return tag, np.minimum(rank, n_ranks - 1), score


def _trace_ranks(
    chain: Chain,
    from_tag: np.ndarray,
    from_rank: np.ndarray,
    last_tag: np.ndarray,
    last_rank: np.ndarray,
) -> np.ndarray:
    packing = chain.packing
    tags = np.empty((packing.row.size, last_tag.shape[1]), dtype=np.intp)
    rank = np.empty_like(tags)
    for t in reversed(range(packing.n_steps)):
        ending, rows = packing.ending(t), packing.alive(t)
        tags[ending] = last_tag[packing.sequence[ending]]
        rank[ending] = last_rank[packing.sequence[ending]]
        if t + 1 < packing.n_steps:
            ahead = packing.step(t + 1)
            chosen = (
                np.arange(ahead.start, ahead.stop)[:, np.newaxis],
                tags[ahead],
                rank[ahead],
            )
            tags[rows], rank[rows] = from_tag[chosen], from_rank[chosen]
    return packing.unpack(tags)


def sample(chain: Chain, n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Return the tags (n_tokens, n_samples) of all sequences, concatenated.

    Each sample uses one uniform number per token, in the order of the tokens. The
    result therefore does not depend on the division into blocks.
    """
    packing, run = chain.packing, forward(chain)
    missing = lost(chain, run)
    small, again = chain.subset(missing), chain.tokens(missing)
    in_logs = log_forward(small)[0] if missing.size else None
    back, end = run.transition.T.copy(), np.exp(chain.end - top(chain.end))
    widest = int(np.diff(packing.offset).max(initial=1))
    # weights, their sums and comparisons are held at once
    size = max(1, BLOCK // (4 * widest * chain.n_tags))
    tags = np.empty((packing.row.size, n_samples), dtype=np.intp)
    for i in range(0, n_samples, size):
        part = slice(i, min(i + size, n_samples))
        uniform = rng.random((part.stop - i, packing.row.size)).T
        drawn = _draw(packing, uniform[packing.row], run.alpha, back, end)
        tags[:, part] = packing.unpack(drawn)
        if in_logs is not None:
            own = uniform[again][small.packing.row]
            drawn = _draw_in_logs(small, own, in_logs)
            tags[again, part] = small.packing.unpack(drawn)
    return tags


def _pick(weights: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Return the first tag whose cumulative share exceeds the uniform number."""
    sums = weights.cumsum(axis=-1)
    # strictly greater, so that a tag of weight 0 is never drawn
    return (sums > (uniform * sums[..., -1])[..., np.newaxis]).argmax(axis=-1)


def _draw(
    packing: Packing,
    uniform: np.ndarray,
    alpha: np.ndarray,
    back: np.ndarray,
    end: np.ndarray,
) -> np.ndarray:
    """Return tags in packed rows, from the last token back.

    back : (n_tags, n_tags), [next, previous]. The tags of a lost sequence are
    arbitrary.
    """
    tags = np.empty(uniform.shape, dtype=np.intp)
    for t in reversed(range(packing.n_steps)):
        last, rows = packing.ending(t), packing.alive(t)
        tags[last] = _pick((alpha[last] * end)[:, np.newaxis, :], uniform[last])
        if t + 1 < packing.n_steps:
            # P(tag | next tag, tokens so far) is alpha times the transition; later
            # tokens give no further information.
            weights = back[tags[packing.step(t + 1)]]
            weights *= alpha[rows, np.newaxis, :]
            tags[rows] = _pick(weights, uniform[rows])
    return tags


def _draw_in_logs(chain: Chain, uniform: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    packing, back = chain.packing, chain.transition.T
    tags = np.empty(uniform.shape, dtype=np.intp)
    for t in reversed(range(packing.n_steps)):
        last, rows = packing.ending(t), packing.alive(t)
        weights = (alpha[last] + chain.end)[:, np.newaxis, :]
        tags[last] = _pick(_shares(weights), uniform[last])
        if t + 1 < packing.n_steps:
            weights = back[tags[packing.step(t + 1)]] + alpha[rows, np.newaxis, :]
            tags[rows] = _pick(_shares(weights), uniform[rows])
    return tags


def _shares(weights: np.ndarray) -> np.ndarray:
    return np.exp(weights - weights.max(axis=-1, keepdims=True))
