"""Probabilities of the tags of two tokens in a row."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import entr

from ._chain import BLOCK, Chain, sums
from ._lattice import Lattice, LogLattice, lattices


def followed(lengths: np.ndarray) -> np.ndarray:
    """Return the tokens that have a next one in their sequence."""
    last = np.zeros(lengths.sum(), dtype=bool)
    last[np.cumsum(lengths)[lengths > 0] - 1] = True
    return np.flatnonzero(~last)


def _blocks(tokens: np.ndarray, cost: int) -> Iterator[slice]:
    size = max(1, BLOCK // cost)
    for i in range(0, tokens.size, size):
        yield slice(i, min(i + size, tokens.size))


def _each_block(
    lattice: Lattice, tokens: np.ndarray, out: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield tokens that the lattice holds and a table to write their rows of `out` to.

    Blocks are small enough for a table to stay in the cache between two products. The
    table is a part of `out` itself where its rows are in order and of one precision.
    """
    mine = np.flatnonzero(lattice.held[tokens])
    straight = mine.size == tokens.size and lattice.alpha.dtype == out.dtype
    for part in _blocks(mine, 50 * max(1, out[:1].size)):
        rows = part if straight else mine[part]
        some = tokens[rows]
        if straight:
            yield some, out[rows]
        else:
            table = np.empty((some.size, *out.shape[1:]), lattice.alpha.dtype)
            yield some, table
            out[rows] = table


def all_pairs(held: list[Lattice], tokens: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return (n, n_tags, n_tags) for tokens and their next ones."""
    out = np.empty((tokens.size, *held[0].pair.shape), dtype)
    for lattice in held:
        for some, table in _each_block(lattice, tokens, out):
            before = lattice.before(some)[:, :, np.newaxis]
            ahead = lattice.message(some + 1)[:, np.newaxis, :]
            lattice.times(before, lattice.pair, out=table)
            lattice.proba(lattice.times(table, ahead, out=table))
    return out


def chosen_pairs(
    chain: Chain, previous: np.ndarray, following: np.ndarray
) -> np.ndarray:
    """Return (n, n_pairs) of the pairs previous[j], following[j]."""
    tokens = followed(chain.packing.lengths)
    out = np.empty((tokens.size, previous.size), chain.dtype)
    for lattice in lattices(chain):
        pair = lattice.pair[previous, following]
        for some, table in _each_block(lattice, tokens, out):
            before, ahead = lattice.before(some), lattice.message(some + 1)
            # with any other mode take would write to a copy first
            before.take(previous, axis=1, out=table, mode="clip")
            lattice.times(table, pair, out=table)
            lattice.times(table, ahead.take(following, axis=1), out=table)
            lattice.proba(table)
    return out


def summed_pairs(chain: Chain) -> np.ndarray:
    """Return the (n_tags, n_tags) sum over all tokens."""
    tokens = followed(chain.packing.lengths)
    total = np.zeros((chain.n_tags, chain.n_tags))
    for lattice in lattices(chain):
        mine = tokens[lattice.held[tokens]]
        if isinstance(lattice, LogLattice):
            for part in _blocks(mine, chain.n_tags**2):
                total += all_pairs([lattice], mine[part], total.dtype).sum(axis=0)
        else:
            before = lattice.before(mine).astype(np.float64, copy=False)
            total += before.T @ lattice.message(mine + 1) * lattice.pair
    return total


def entropy(chain: Chain) -> np.ndarray:
    """Return the entropy of each sequence: of its first tag, and of each one's next."""
    lengths = chain.packing.lengths
    sequence = np.repeat(np.arange(lengths.size), lengths)
    each = np.zeros(sequence.size)
    first = (np.cumsum(lengths) - lengths)[lengths > 0]
    tokens = followed(lengths)
    for lattice in lattices(chain):
        mine = first[lattice.held[first]]
        each[mine] = entr(lattice.marginal(mine)).sum(axis=1)
        mine = tokens[lattice.held[tokens]]
        if isinstance(lattice, LogLattice):
            for part in _blocks(mine, chain.n_tags**2):
                each[mine[part] + 1] = _next_entropy_in_logs(lattice, mine[part])
        else:
            each[mine + 1] = _next_entropy(lattice, mine)
    total = sums(each, sequence, lengths.size)
    return np.maximum(total, 0)  # rounding may leave -1e-16 of nothing


def _next_entropy(lattice: Lattice, tokens: np.ndarray) -> np.ndarray:
    """Return the entropy of the next tag given the tag of each token.

    The tag j after i has the probability pair[i, j] * ahead[j] / sum[i], so the mean of
    its logarithm falls into three, none of which needs a table for each token.
    """
    before, ahead = lattice.before(tokens), lattice.message(tokens + 1)
    sums = ahead @ lattice.pair.T
    marginal = before * sums
    marginal /= marginal.sum(axis=1, keepdims=True)
    found = _mean_log(marginal, sums)
    found -= _mean_log(before @ lattice.pair * ahead, ahead)
    weighted = -entr(lattice.pair)
    return found - np.einsum("ij,ij->i", before @ weighted, ahead)


def _mean_log(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the sums of weights * log(values) over rows; 0 * log(0) is 0."""
    return np.einsum("ij,ij->i", weights, np.log(np.where(weights > 0, values, 1.0)))


def _next_entropy_in_logs(lattice: Lattice, tokens: np.ndarray) -> np.ndarray:
    table = lattice.pair + lattice.message(tokens + 1)[:, np.newaxis, :]
    sums = lattice.after[lattice.row[tokens]][:, :, np.newaxis]
    # a tag without any next one has no entropy either, not -inf - -inf
    table -= np.where(sums > -np.inf, sums, 0.0)
    before = lattice.marginal(tokens)
    return np.einsum("ti,tij->t", before, entr(np.exp(table)))
