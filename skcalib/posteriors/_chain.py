"""Algorithms on linear chains: recursions, marginals, best paths and sampled paths.

All sequences advance together. Tokens are packed by time step, the longest sequence
first, without padding. The sequences that are longer than t are the first sequences of
every step before t, so that a step is a matrix product on contiguous rows.

Probabilities are scaled at each token. If float64 (or float32) may have underflowed for
a sequence, its recursions are repeated on logarithms, which is slower but valid for
scores of any size.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NoReturn

import numpy as np
from scipy.special import entr

from ._checks import Spans

# Number of entries of (sequences, tags, tags) tables that are in memory at a time.
BLOCK = 4_000_000
# Size of the part of a large array that stays in the cache between two steps.
_CACHED = 2**15
# Maximum number of entries of a table that stays in the processor's cache.
_CACHED_PATHS = 2**16
# Number of rows from which a loop over previous tags is faster.
_MANY = 128
# Number of spans whose rows are in memory at a time.
_N_SPANS = 50_000
# If a reachable tag has a smaller share of the probability of a prefix than this,
# floats are close to underflow, and the sequence is computed in another way.
_TINY = {np.dtype(np.float64): 1e-250, np.dtype(np.float32): 1e-30}
# Scores with at most this absolute value need no shift before the exponential.
_PLAIN = {np.dtype(np.float64): 50.0, np.dtype(np.float32): 10.0}


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

    def emission(self) -> np.ndarray:
        """Return a copy of the scores of tokens in packed rows, in float64."""
        return self.scores.take(self.packing.row, axis=0).astype(np.float64, copy=False)

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


def _blocks(n_rows: int, size: int) -> Iterator[slice]:
    """Divide rows into blocks of at most `size` rows, and at least one."""
    size = max(1, size)
    for i in range(0, n_rows, size):
        yield slice(i, min(i + size, n_rows))


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
        `offset` as a list of int, for slices in a loop, and the number of tokens again.
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
        # a step without rows after the last step
        self.bounds = [*self.offset.tolist(), int(self.offset[-1])]
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

    @cached_property
    def place(self) -> np.ndarray:
        """Packed row of each token."""
        place = np.empty_like(self.row)
        place[self.row] = np.arange(self.row.size)
        return place

    @cached_property
    def previous(self) -> np.ndarray:
        """Packed row of the previous token of each packed row, -1 if there is none."""
        previous = self.place[self.row - 1]
        previous[: self.bounds[1]] = -1  # step 0
        return previous

    def unpack(self, packed: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return packed rows in the order of the concatenated sequences."""
        # takes half the time of an indexed assignment; other modes of take would copy
        return packed.take(self.place, axis=0, out=out, mode="clip")


# Scaled recursions


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


def top(scores: np.ndarray, axis: int | None = None) -> np.ndarray:
    """Return the maximum, or 0 if all scores are forbidden."""
    greatest = scores.max(axis=axis, initial=-np.inf)
    return np.where(np.isfinite(greatest), greatest, 0.0)


def _by_step(rows: np.ndarray, width: int) -> np.ndarray:
    """Return rows of steps of one width as a view (n_steps, width, n_columns)."""
    return rows.reshape(-1, width, rows.shape[1])


def _weights(scores: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return np.exp(scores - top(scores)).astype(dtype)


def forward(chain: Chain) -> tuple[Forward, np.ndarray]:
    """Run the forward recursion, and return the sequences where it may underflow."""
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
            steps = (_by_step(each[rows], width) for each in (alpha, local, scale))
            for now, tokens, total in zip(*steps, strict=True):
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
    run = Forward(alpha, scale[:, 0], local, final, shift, transition)
    return run, _lost(chain, run)


def _likelihood(chain: Chain) -> tuple[np.ndarray, np.ndarray]:
    """Return the likelihood of tokens in packed rows, and the shift of each token."""
    dtype = chain.dtype
    wide = np.promote_types(chain.scores.dtype, dtype)
    rows, plain = chain.packing.row, _PLAIN[dtype]
    likelihood = np.empty((rows.size, chain.n_tags), dtype)
    shift = np.zeros(rows.size)
    for part in _blocks(rows.size, _CACHED // chain.n_tags):
        scores = chain.scores.take(rows[part], axis=0).astype(wide, copy=False)
        if not (scores.max() <= plain and scores.min() >= -plain):
            shift[part] = top(scores, axis=1)
            scores -= shift[part, np.newaxis]
        with np.errstate(over="ignore"):  # scores below float32 are -inf
            np.exp(scores, out=likelihood[part], dtype=dtype, casting="same_kind")
    return likelihood, shift


def _lost(chain: Chain, run: Forward) -> np.ndarray:
    """Return the lost sequences, for which floats may have underflowed.

    A weight of 0 is correct if the tag cannot be reached. A sequence is returned if a
    tag can be reached from a previous tag of positive weight, but its own weight is too
    small. By induction over tokens, the tags of positive weight in all other sequences
    are exactly the reachable tags.
    """
    packing, tiny = chain.packing, _TINY[chain.dtype]
    least_scale = np.min(run.scale, initial=1)
    # A smallest entry is at least this product before scaling.
    if run.least * least_scale >= tiny and np.min(run.final, initial=1) >= tiny:
        return np.zeros(0, dtype=np.intp)  # the usual case
    found = np.zeros(packing.lengths.size, dtype=bool)
    found[packing.sequence[~(run.scale >= tiny)]] = True
    ranked = packing.rank[: run.final.size]
    found[ranked[~(run.final >= tiny)]] = True
    with np.errstate(divide="ignore", over="ignore"):
        # tiny before scaling, as alpha has been divided by the scale
        floor = tiny / run.scale
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
    longest = max((rows.stop - rows.start for rows, _ in packing.runs), default=0)
    buffer = np.empty_like(local[:widest])
    space = np.empty_like(local[:longest]) if out is None else out
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


# Recursions on logarithms


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
    for part in _blocks(rows.shape[0], BLOCK // max(1, table.size)):
        # A table per row: the exponentials of different rows cannot share a shift.
        product[part] = log_sum(rows[part, :, np.newaxis] + table, axis=1)
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
    # the same factor as in (L4), so that the backward logs stay near 0
    local -= scale[:, np.newaxis]
    total = sums(scale, packing.sequence, packing.lengths.size)
    last = packing.last_rows()
    total[packing.rank[: last.size]] += log_sum(alpha[last] + chain.end, axis=1)
    if (total == -np.inf).any():
        chain.raise_impossible(int((total == -np.inf).argmax()))
    return alpha, local, total


# Sums over paths


def log_partition(chain: Chain) -> np.ndarray:
    """Return log Z of each sequence."""
    packing = chain.packing
    run, missing = forward(chain)
    with np.errstate(divide="ignore"):
        # theory, (L4), right; each maximum that was divided out is added again
        each = np.log(run.scale, dtype=np.float64) + run.shift
        last = np.log(run.final, dtype=np.float64)
    total = sums(each, packing.sequence, packing.lengths.size)
    total += np.maximum(packing.lengths - 1, 0) * top(chain.transition)
    ranked = packing.rank[: run.final.size]
    total[ranked] += last + top(chain.start) + top(chain.end)
    if missing.size:
        total[missing] = log_forward(chain.subset(missing))[2]
    return total


def filtered(chain: Chain) -> np.ndarray:
    """Return probabilities of tags given the tokens so far; end scores are not used."""
    # A sequence may be impossible only because of its end.
    chain = replace(chain, end=np.zeros(chain.n_tags))
    run, missing = forward(chain)
    result = chain.packing.unpack(run.alpha, out=run.local)
    if missing.size:
        small = chain.subset(missing)
        alpha = np.exp(log_forward(small)[0])
        alpha /= alpha.sum(axis=1, keepdims=True)
        result[chain.tokens(missing)] = small.packing.unpack(alpha)
    return result


def token_marginals(chain: Chain) -> np.ndarray:
    """Return the token marginals of all sequences, concatenated."""
    run, missing = forward(chain)
    ones = np.ones((chain.n_tags, 1), chain.dtype)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        for rows, beta in backward(chain, run):
            marginal = run.alpha[rows]  # alpha and local may be overwritten
            marginal *= beta
            marginal /= marginal @ ones
    result = chain.packing.unpack(run.alpha, out=run.local)
    for factors in _precise_factors(chain, missing):
        some = np.flatnonzero(factors.held)
        result[some] = factors.marginal(some)
    return result


@dataclass(frozen=True)
class Factors:
    """Factors of the probability of the tags of consecutive tokens.

    The joint probability of the tags a, b, ..., y, z of tokens s to e is
    alpha[s, a] * pair[a, b] * local[s + 1, b] * ... * pair[y, z] * local[e, z]
    * after[e, z]. `row` maps a token to its row of alpha, local and after. `held` is
    the mask of the tokens that have such a row. This class stores the factors
    themselves, not their logarithms.
    """

    alpha: np.ndarray
    local: np.ndarray
    after: np.ndarray
    pair: np.ndarray
    row: np.ndarray
    held: np.ndarray

    nothing: ClassVar[float] = 0.0  # factor of a forbidden tag
    times: ClassVar[Callable[..., np.ndarray]] = staticmethod(np.multiply)

    def message(self, tokens: np.ndarray) -> np.ndarray:
        """Return the product of local and after."""
        rows = self.row[tokens]
        # take needs half the time of an index, and its copy is free for the product
        factors = self.local.take(rows, axis=0)
        return self.times(factors, self.after.take(rows, axis=0), out=factors)

    def marginal(self, tokens: np.ndarray) -> np.ndarray:
        """Return the probability of each tag."""
        rows = self.row[tokens]
        factors = self.alpha.take(rows, axis=0)
        self.times(factors, self.after.take(rows, axis=0), out=factors)
        return self.proba(factors)

    def before(self, tokens: np.ndarray) -> np.ndarray:
        """Return alpha."""
        return self.alpha.take(self.row[tokens], axis=0)

    def advance(self, rows: np.ndarray) -> np.ndarray:
        """Return rows @ pair."""
        return rows @ self.pair

    def proba(self, factors: np.ndarray) -> np.ndarray:
        """Return factors as numbers."""
        return factors


@dataclass(frozen=True)
class LogFactors(Factors):
    """Factors stored as logarithms."""

    nothing: ClassVar[float] = -np.inf
    times: ClassVar[Callable[..., np.ndarray]] = staticmethod(np.add)

    def advance(self, rows: np.ndarray) -> np.ndarray:
        """Return log(exp(rows) @ exp(pair))."""
        return log_product(rows, self.pair)

    def proba(self, factors: np.ndarray) -> np.ndarray:
        """Return factors as numbers, computed in place."""
        return np.exp(factors, out=factors)


def all_factors(chain: Chain) -> Iterator[Factors]:
    """Yield factors that together contain every token once.

    Sequences that may have underflowed come last, with more precise factors.
    """
    run, missing = forward(chain)
    beta = np.empty_like(run.alpha)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        # runs the generator to its end; beta is filled in place
        deque(backward(chain, run, out=beta), maxlen=0)
        # alpha * beta sums to 1, so that products of factors are probabilities
        beta /= np.einsum("ij,ij->i", run.alpha, beta)[:, np.newaxis]
    held = ~chain.tokens(missing)
    yield Factors(run.alpha, run.local, beta, run.transition, chain.packing.place, held)
    yield from _precise_factors(chain, missing)


def _precise_factors(chain: Chain, missing: np.ndarray) -> Iterator[Factors]:
    """Yield factors of the tokens of some sequences, in float64 or as logarithms."""
    if missing.size == 0:
        return
    small = chain.subset(missing)
    if chain.dtype != small.dtype:  # float64 may be sufficient if float32 is not
        parts = all_factors(small)
    else:
        parts = iter([_log_factors(small)])
    tokens = np.flatnonzero(chain.tokens(missing))
    for factors in parts:
        row = np.zeros(len(chain.scores), dtype=np.intp)
        held = np.zeros(row.size, dtype=bool)
        row[tokens], held[tokens] = factors.row, factors.held
        yield replace(factors, row=row, held=held)


def _log_factors(chain: Chain) -> LogFactors:
    alpha, local, _ = log_forward(chain)
    packing, after, back = chain.packing, np.empty_like(local), chain.transition.T
    # log beta, up to one constant per token
    for t in reversed(range(packing.n_steps)):
        after[packing.ending(t)] = chain.end
        if t + 1 < packing.n_steps:
            ahead = packing.step(t + 1)
            after[packing.alive(t)] = log_product(after[ahead] + local[ahead], back)
    # as for numbers: the marginals of each token sum to 1
    after -= log_sum(alpha + after, axis=1)[:, np.newaxis]
    held = np.ones(after.shape[0], dtype=bool)
    return LogFactors(alpha, local, after, chain.transition, packing.place, held)


# Two tokens in a row


def followed(lengths: np.ndarray) -> np.ndarray:
    """Return the tokens that are not the last token of their sequence."""
    last = np.zeros(lengths.sum(), dtype=bool)
    last[np.cumsum(lengths)[lengths > 0] - 1] = True
    return np.flatnonzero(~last)


def _each_block(
    factors: Factors, tokens: np.ndarray, out: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield blocks of the tokens that have factors, each with a table to fill.

    The table contains the rows of `out` for these tokens. A block is so small that its
    table stays in the cache between two products. If all tokens have factors of the
    type of `out`, the table is a view of `out`.
    """
    mine = np.flatnonzero(factors.held[tokens])
    # Then the table needs no copy.
    straight = mine.size == tokens.size and factors.alpha.dtype == out.dtype
    for part in _blocks(mine.size, BLOCK // (50 * max(1, out[:1].size))):
        rows = part if straight else mine[part]
        some = tokens[rows]
        if straight:
            yield some, out[rows]
        else:
            table = np.empty((some.size, *out.shape[1:]), factors.alpha.dtype)
            yield some, table
            out[rows] = table


def all_pairs(held: list[Factors], tokens: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return (n, n_tags, n_tags) for tokens and their next tokens."""
    out = np.empty((tokens.size, *held[0].pair.shape), dtype)
    for factors in held:
        for some, table in _each_block(factors, tokens, out):
            before = factors.before(some)[:, :, np.newaxis]
            ahead = factors.message(some + 1)[:, np.newaxis, :]
            factors.times(before, factors.pair, out=table)
            factors.proba(factors.times(table, ahead, out=table))
    return out


def chosen_pairs(
    chain: Chain, previous: np.ndarray, following: np.ndarray
) -> np.ndarray:
    """Return (n, n_pairs) of the pairs previous[j], following[j]."""
    tokens = followed(chain.packing.lengths)
    out = np.empty((tokens.size, previous.size), chain.dtype)
    for factors in all_factors(chain):
        pair = factors.pair[previous, following]
        for some, table in _each_block(factors, tokens, out):
            before, ahead = factors.before(some), factors.message(some + 1)
            # With any other mode, take would write to a copy first.
            before.take(previous, axis=1, out=table, mode="clip")
            factors.times(table, pair, out=table)
            factors.times(table, ahead.take(following, axis=1), out=table)
            factors.proba(table)
    return out


def summed_pairs(chain: Chain) -> np.ndarray:
    """Return the (n_tags, n_tags) sum over all tokens.

    The probability of tags i, j at tokens t, t + 1 is before[t, i] * pair[i, j] *
    message[t + 1, j] (see `Factors`). The sum over t of the outer products of `before`
    and `message` is one matrix product, so no table for each token is needed. Factors
    stored as logarithms have no matrix product, so their tables are summed in blocks.
    """
    tokens = followed(chain.packing.lengths)
    total = np.zeros((chain.n_tags, chain.n_tags))
    for factors in all_factors(chain):
        mine = tokens[factors.held[tokens]]
        if isinstance(factors, LogFactors):
            for part in _blocks(mine.size, BLOCK // chain.n_tags**2):
                total += all_pairs([factors], mine[part], total.dtype).sum(axis=0)
        else:
            # A sum over many tokens in float32 would lose digits.
            before = factors.before(mine).astype(np.float64, copy=False)
            total += before.T @ factors.message(mine + 1) * factors.pair
    return total


def entropy(chain: Chain) -> np.ndarray:
    """Return the entropy of each sequence, computed by the chain rule."""
    lengths = chain.packing.lengths
    sequence = np.repeat(np.arange(lengths.size), lengths)
    each = np.zeros(sequence.size)
    first = (np.cumsum(lengths) - lengths)[lengths > 0]
    tokens = followed(lengths)
    for factors in all_factors(chain):
        mine = first[factors.held[first]]
        each[mine] = entr(factors.marginal(mine)).sum(axis=1)
        mine = tokens[factors.held[tokens]]
        if isinstance(factors, LogFactors):
            for part in _blocks(mine.size, BLOCK // chain.n_tags**2):
                each[mine[part] + 1] = _next_entropy_in_logs(factors, mine[part])
        else:
            each[mine + 1] = _next_entropy(factors, mine)
    # rounding errors can give -1e-16 instead of 0
    return np.maximum(sums(each, sequence, lengths.size), 0)


def _next_entropy(factors: Factors, tokens: np.ndarray) -> np.ndarray:
    """Return the entropy of the next tag given the tag of each token.

    Tag j after tag i has probability pair[i, j] * ahead[j] / sum[i]. The mean of its
    logarithm is therefore a sum of three terms, and none needs a table per token.
    """
    before, ahead = factors.before(tokens), factors.message(tokens + 1)
    sums = ahead @ factors.pair.T
    marginal = before * sums
    marginal /= marginal.sum(axis=1, keepdims=True)
    # theory, (L5): the first sum; the others are subtracted
    found = _mean_log(marginal, sums)
    found -= _mean_log(before @ factors.pair * ahead, ahead)
    # A log A, and 0 for A = 0
    weighted = -entr(factors.pair)
    return found - np.einsum("ij,ij->i", before @ weighted, ahead)


def _mean_log(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the sums of weights * log(values) over rows; 0 * log(0) is 0."""
    return np.einsum("ij,ij->i", weights, np.log(np.where(weights > 0, values, 1.0)))


def _next_entropy_in_logs(factors: Factors, tokens: np.ndarray) -> np.ndarray:
    table = factors.pair + factors.message(tokens + 1)[:, np.newaxis, :]
    # beta of a token is the log of the sum of its table over next tags
    sums = factors.after[factors.row[tokens]][:, :, np.newaxis]
    # A tag without an allowed next tag has entropy 0, and not NaN (-inf - -inf).
    table -= np.where(sums > -np.inf, sums, 0.0)
    return np.einsum("ti,tij->t", factors.marginal(tokens), entr(np.exp(table)))


# Spans of tokens


def span_marginals(chain: Chain, spans: Spans) -> np.ndarray:
    """Return the probability that all tokens of each span have an allowed tag."""
    proba = np.empty(spans.start.size)
    first = np.cumsum(spans.length) - spans.length
    for factors in all_factors(chain):
        mine = np.flatnonzero(factors.held[spans.start])
        # longest first, so that the spans that continue are the first at every step
        mine = mine[np.argsort(-spans.length[mine], kind="stable")]
        for part in _blocks(mine.size, _N_SPANS):
            some = mine[part]
            proba[some] = _advance_spans(factors, spans, some, first[some])
    return np.clip(proba, 0, 1)


def _advance_spans(
    factors: Factors, spans: Spans, some: np.ndarray, first: np.ndarray
) -> np.ndarray:
    """Advance spans together, the longest first, and close each after its last token.

    The weight of a closed span is the sum over its allowed tags only.
    """
    length, proba = spans.length[some], np.empty(some.size)
    rows = factors.alpha[factors.row[spans.start[some]]]
    for step in range(int(length.max())):
        alive = np.searchsorted(-length, -step)  # number of spans longer than step
        token = factors.row[spans.start[some[:alive]] + step]
        if step:
            rows = factors.advance(rows[:alive])
            rows = factors.times(rows, factors.local[token])
        allowed = spans.allowed[first[:alive] + step]
        # Forward sums over the allowed tags only; all other paths are dropped.
        rows = np.where(allowed, rows, factors.nothing)
        done = np.searchsorted(-length, -step - 1)
        # Spans end here whose rows no longer continue; beta adds all ways after.
        whole = factors.times(rows[done:], factors.after[token[done:]])
        proba[done:alive] = factors.proba(whole).sum(axis=1)
    return proba


# Best paths


def viterbi(chain: Chain) -> np.ndarray:
    """Return the tags of the best path of each sequence, in packed rows."""
    packing = chain.packing
    best = chain.emission()
    size = max(chain.transition.size, 1)
    n_rows = min(packing.bounds[1], _MANY, BLOCK // (2 * size))
    # one array for all steps: new memory would take half of the time
    paths = np.empty(n_rows * size, dtype=best.dtype)
    for t in range(packing.n_steps):
        if t == 0:
            best[packing.step(t)] += chain.start
        else:
            before = best[packing.alive(t - 1)]
            best[packing.step(t)] += _best_before(before, chain.transition, paths)
    return _trace(chain, best)


def _best_before(
    before: np.ndarray, transition: np.ndarray, paths: np.ndarray
) -> np.ndarray:
    """Return the score of the best path that ends in each tag.

    `paths` is memory for the scores of all paths of a few sequences.
    """
    n, n_tags = before.shape
    if n * transition.size <= paths.size:
        paths = paths[: n * transition.size].reshape(n_tags, n, n_tags)
        np.add(before.T[:, :, np.newaxis], transition[:, np.newaxis], out=paths)
        return np.asarray(paths.max(axis=0))
    score = np.empty_like(before)
    size = max(_MANY, _CACHED_PATHS // transition.shape[0])
    for part in _blocks(before.shape[0], size):
        # tags in rows, so that inner loops run over sequences
        scores = before[part].T.copy()
        found, way = np.full_like(scores, -np.inf), np.empty_like(scores)
        for row, into in zip(scores, transition, strict=True):
            np.add(row, into[:, np.newaxis], out=way)
            np.maximum(found, way, out=found)
        score[part] = found.T
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
        lengths = small.packing.lengths
        for i, (end, length) in enumerate(zip(lengths.cumsum(), lengths, strict=True)):
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
            tag, rank, best = _best_ways(best[: rows.stop - rows.start], into, k)
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
    tags = np.empty((packing.row.size, k), dtype=np.intp)
    rank = np.empty_like(tags)
    for t in reversed(range(packing.n_steps)):
        ending, rows = packing.ending(t), packing.alive(t)
        tags[ending] = last_tag[packing.sequence[ending]]
        rank[ending] = last_rank[packing.sequence[ending]]
        if t + 1 < packing.n_steps:
            ahead = packing.step(t + 1)
            place = np.arange(ahead.start, ahead.stop)[:, np.newaxis]
            chosen = (place, tags[ahead], rank[ahead])
            tags[rows], rank[rows] = from_tag[chosen], from_rank[chosen]
    return packing.unpack(tags), scores


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


# Sampled paths


def sample(chain: Chain, n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Return the tags (n_tokens, n_samples) of all sequences, concatenated.

    Each sample uses one uniform number per token, in the order of the tokens. The
    result therefore does not depend on the division into blocks.
    """
    packing = chain.packing
    run, missing = forward(chain)
    small, again = chain.subset(missing), chain.tokens(missing)
    in_logs = log_forward(small)[0] if missing.size else None
    back, end = run.transition.T.copy(), np.exp(chain.end - top(chain.end))
    widest = int(np.diff(packing.offset).max(initial=1))
    tags = np.empty((packing.row.size, n_samples), dtype=np.intp)
    # weights, their sums and comparisons are held at once
    for part in _blocks(n_samples, BLOCK // (4 * widest * chain.n_tags)):
        uniform = rng.random((part.stop - part.start, packing.row.size)).T
        drawn = _draw(packing, uniform[packing.row], run.alpha, back, end)
        tags[:, part] = packing.unpack(drawn)
        if in_logs is not None:
            own = uniform[again][small.packing.row]
            logs = in_logs, small.transition.T, small.end
            drawn = _draw(small.packing, own, *logs, in_logs=True)
            tags[again, part] = small.packing.unpack(drawn)
    return tags


def _pick(weights: np.ndarray, uniform: np.ndarray, in_logs: bool) -> np.ndarray:
    """Return the first tag whose cumulative share exceeds the uniform number."""
    if in_logs:
        weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
    sums = weights.cumsum(axis=-1)
    # strictly greater, so that a tag of weight 0 is never drawn
    return (sums > (uniform * sums[..., -1])[..., np.newaxis]).argmax(axis=-1)


def _draw(
    packing: Packing,
    uniform: np.ndarray,
    alpha: np.ndarray,
    back: np.ndarray,
    end: np.ndarray,
    *,
    in_logs: bool = False,
) -> np.ndarray:
    """Return tags in packed rows, from the last token back.

    back : (n_tags, n_tags), [next, previous]. The tags of a lost sequence are
    arbitrary. If `in_logs`, the weights alpha, back and end are logarithms.
    """
    times = np.add if in_logs else np.multiply
    tags = np.empty(uniform.shape, dtype=np.intp)
    for t in reversed(range(packing.n_steps)):
        last, rows = packing.ending(t), packing.alive(t)
        weights = times(alpha[last], end)[:, np.newaxis, :]
        tags[last] = _pick(weights, uniform[last], in_logs)
        if t + 1 < packing.n_steps:
            # P(tag | next tag, tokens so far) is alpha times the transition; later
            # tokens give no further information.
            weights = back[tags[packing.step(t + 1)]]
            times(weights, alpha[rows, np.newaxis, :], out=weights)
            tags[rows] = _pick(weights, uniform[rows], in_logs)
    return tags
