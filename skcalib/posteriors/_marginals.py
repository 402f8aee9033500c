"""Marginals of tags, pairs of tags and spans, and quantities computed from them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import entr

from ._forward_backward import (
    backward,
    forward,
    log_backward,
    log_forward,
    log_product,
    log_sum,
    lost,
    partition,
)
from ._packed_chain import BLOCK, Chain, sums
from ._structure_checks import Spans

# Number of spans whose rows are in memory at a time.
_N_SPANS = 50_000


def _rows(table: np.ndarray, rows: np.ndarray) -> np.ndarray:
    # takes half the time of table[rows]
    return table.take(rows, axis=0)


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
        factors = _rows(self.local, rows)
        return self.times(factors, _rows(self.after, rows), out=factors)

    def marginal(self, tokens: np.ndarray) -> np.ndarray:
        """Return the probability of each tag."""
        rows = self.row[tokens]
        # a copy, so that the product can be written into it
        factors = _rows(self.alpha, rows)
        self.times(factors, _rows(self.after, rows), out=factors)
        return self.proba(factors)

    def before(self, tokens: np.ndarray) -> np.ndarray:
        """Return alpha."""
        return _rows(self.alpha, self.row[tokens])

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
    run = forward(chain)
    missing = lost(chain, run)
    beta = np.empty_like(run.alpha)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        # runs the generator to its end; beta is filled in place
        deque(backward(chain, run, out=beta), maxlen=0)
        # alpha * beta sums to 1, so that products of factors are probabilities
        beta /= np.einsum("ij,ij->i", run.alpha, beta)[:, np.newaxis]
    held = ~chain.tokens(missing)
    yield Factors(run.alpha, run.local, beta, run.transition, chain.packing.place, held)
    if missing.size:
        for factors in _precise_factors(chain, chain.subset(missing)):
            yield _renumbered(factors, np.flatnonzero(~held), held.size)


def _precise_factors(chain: Chain, small: Chain) -> Iterator[Factors]:
    if chain.dtype != small.dtype:  # float64 may be sufficient if float32 is not
        yield from all_factors(small)
        return
    alpha, local, _ = log_forward(small)
    after = log_backward(small, local)
    # as for numbers: the marginals of each token sum to 1
    after -= log_sum(alpha + after, axis=1)[:, np.newaxis]
    held = np.ones(after.shape[0], dtype=bool)
    place = small.packing.place
    yield LogFactors(alpha, local, after, small.transition, place, held)


def _renumbered(factors: Factors, tokens: np.ndarray, n_tokens: int) -> Factors:
    """Return factors of the given tokens of a larger batch."""
    row, held = np.zeros(n_tokens, dtype=np.intp), np.zeros(n_tokens, dtype=bool)
    row[tokens], held[tokens] = factors.row, factors.held
    return replace(factors, row=row, held=held)


def token_marginals(chain: Chain) -> np.ndarray:
    """Return the token marginals of all sequences, concatenated."""
    run = forward(chain)
    missing = lost(chain, run)
    ones = np.ones((chain.n_tags, 1), chain.dtype)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        for rows, beta in backward(chain, run):
            marginal = run.alpha[rows]  # alpha and local may be overwritten
            marginal *= beta
            marginal /= marginal @ ones
    result = chain.packing.unpack(run.alpha, out=run.local)
    if missing.size:
        tokens = np.flatnonzero(chain.tokens(missing))
        for factors in _precise_factors(chain, chain.subset(missing)):
            some = np.flatnonzero(factors.held)
            result[tokens[some]] = factors.marginal(some)
    return result


def log_partition(chain: Chain) -> np.ndarray:
    """Return log Z of each sequence."""
    run = forward(chain)
    total, missing = partition(chain, run), lost(chain, run)
    if missing.size:
        total[missing] = log_forward(chain.subset(missing))[2]
    return total


def filtered(chain: Chain) -> np.ndarray:
    """Return probabilities of tags given the tokens so far; end scores are not used."""
    # A sequence may be impossible only because of its end.
    chain = replace(chain, end=np.zeros(chain.n_tags))
    run = forward(chain)
    missing = lost(chain, run)
    result = chain.packing.unpack(run.alpha, out=run.local)
    if missing.size:
        small = chain.subset(missing)
        alpha = np.exp(log_forward(small)[0])
        alpha /= alpha.sum(axis=1, keepdims=True)
        result[chain.tokens(missing)] = small.packing.unpack(alpha)
    return result


# Two tokens in a row


def followed(lengths: np.ndarray) -> np.ndarray:
    """Return the tokens that are not the last token of their sequence."""
    last = np.zeros(lengths.sum(), dtype=bool)
    last[np.cumsum(lengths)[lengths > 0] - 1] = True
    return np.flatnonzero(~last)


def _blocks(tokens: np.ndarray, cost: int) -> Iterator[slice]:
    size = max(1, BLOCK // cost)
    for i in range(0, tokens.size, size):
        yield slice(i, min(i + size, tokens.size))


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
    for part in _blocks(mine, 50 * max(1, out[:1].size)):
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
            for part in _blocks(mine, chain.n_tags**2):
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
            for part in _blocks(mine, chain.n_tags**2):
                each[mine[part] + 1] = _next_entropy_in_logs(factors, mine[part])
        else:
            each[mine + 1] = _next_entropy(factors, mine)
    total = sums(each, sequence, lengths.size)
    return np.maximum(total, 0)  # rounding errors can give -1e-16 instead of 0


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
    before = factors.marginal(tokens)
    return np.einsum("ti,tij->t", before, entr(np.exp(table)))


# Spans of tokens


def span_marginals(chain: Chain, spans: Spans) -> np.ndarray:
    """Return the probability that all tokens of each span have an allowed tag."""
    proba = np.empty(spans.start.size)
    first = np.cumsum(spans.length) - spans.length
    for factors in all_factors(chain):
        mine = np.flatnonzero(factors.held[spans.start])
        # longest first, so that the spans that continue are the first at every step
        mine = mine[np.argsort(-spans.length[mine], kind="stable")]
        for i in range(0, mine.size, _N_SPANS):
            some = mine[i : i + _N_SPANS]
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
