"""Forward and backward together, and the marginals that need no more."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ._chain import Chain
from ._logs import log_backward, log_forward, log_product, log_sum
from ._scaled import backward, forward, lost, partition


def _rows(table: np.ndarray, rows: np.ndarray) -> np.ndarray:
    # half the time of table[rows]
    return table.take(rows, axis=0)


@dataclass(frozen=True)
class Lattice:
    """Factors of the probability of every stretch of tags.

    The tags a, b, ..., y, z of tokens s to e have together the probability
    alpha[s, a] * pair[a, b] * local[s + 1, b] * ... * pair[y, z] * local[e, z]
    * after[e, z], where a token's row of alpha, local and after is `row` of it, and
    `held` says which tokens the lattice has. This one holds the factors themselves.
    """

    alpha: np.ndarray
    local: np.ndarray
    after: np.ndarray
    pair: np.ndarray
    row: np.ndarray
    held: np.ndarray

    nothing: ClassVar[float] = 0.0  # the factor of what is forbidden
    times: ClassVar[Callable[..., np.ndarray]] = staticmethod(np.multiply)

    def message(self, tokens: np.ndarray) -> np.ndarray:
        """Return local and after together."""
        rows = self.row[tokens]
        factors = _rows(self.local, rows)
        return self.times(factors, _rows(self.after, rows), out=factors)

    def marginal(self, tokens: np.ndarray) -> np.ndarray:
        """Return the probability of each tag."""
        rows = self.row[tokens]
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
class LogLattice(Lattice):
    """The same with the logarithms of the factors."""

    nothing: ClassVar[float] = -np.inf
    times: ClassVar[Callable[..., np.ndarray]] = staticmethod(np.add)

    def advance(self, rows: np.ndarray) -> np.ndarray:
        """Return log(exp(rows) @ exp(pair))."""
        return log_product(rows, self.pair)

    def proba(self, factors: np.ndarray) -> np.ndarray:
        """Return factors as numbers, in their place."""
        return np.exp(factors, out=factors)


def lattices(chain: Chain) -> Iterator[Lattice]:
    """Yield lattices that hold every token once.

    The first has all sequences but those that floats may have lost, which follow.
    """
    run = forward(chain)
    missing = lost(chain, run)
    beta = np.empty_like(run.alpha)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        deque(backward(chain, run, out=beta), maxlen=0)
        beta /= np.einsum("ij,ij->i", run.alpha, beta)[:, np.newaxis]
    held = ~chain.tokens(missing)
    yield Lattice(run.alpha, run.local, beta, run.transition, chain.packing.place, held)
    if missing.size:
        for lattice in _lattices_again(chain, chain.subset(missing)):
            yield _renumbered(lattice, np.flatnonzero(~held), held.size)


def _lattices_again(chain: Chain, small: Chain) -> Iterator[Lattice]:
    if chain.dtype != small.dtype:  # float32: float64 may do
        yield from lattices(small)
        return
    alpha, local, _ = log_forward(small)
    after = log_backward(small, local)
    after -= log_sum(alpha + after, axis=1)[:, np.newaxis]
    held = np.ones(after.shape[0], dtype=bool)
    place = small.packing.place
    yield LogLattice(alpha, local, after, small.transition, place, held)


def _renumbered(lattice: Lattice, tokens: np.ndarray, n_tokens: int) -> Lattice:
    """Return a lattice of the given tokens of a larger batch."""
    row, held = np.zeros(n_tokens, dtype=np.intp), np.zeros(n_tokens, dtype=bool)
    row[tokens], held[tokens] = lattice.row, lattice.held
    return replace(lattice, row=row, held=held)


def token_marginals(chain: Chain) -> np.ndarray:
    """Return the token marginals, the sequences one after another."""
    run = forward(chain)
    missing = lost(chain, run)
    ones = np.ones((chain.n_tags, 1), chain.dtype)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        for rows, beta in backward(chain, run):
            marginal = run.alpha[rows]  # of no use any more, nor is local
            marginal *= beta
            marginal /= marginal @ ones
    result = chain.packing.unpack(run.alpha, out=run.local)
    if missing.size:
        tokens = np.flatnonzero(chain.tokens(missing))
        for lattice in _lattices_again(chain, chain.subset(missing)):
            some = np.flatnonzero(lattice.held)
            result[tokens[some]] = lattice.marginal(some)
    return result


def log_partition(chain: Chain) -> np.ndarray:
    """Return log Z of each sequence."""
    run = forward(chain)
    total, missing = partition(chain, run), lost(chain, run)
    if missing.size:
        total[missing] = log_forward(chain.subset(missing))[2]
    return total


def filtered(chain: Chain) -> np.ndarray:
    """Return the tags' probabilities given the tokens up to each; end is not read."""
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
