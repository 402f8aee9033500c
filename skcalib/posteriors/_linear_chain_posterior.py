"""Posterior distribution over taggings of a linear chain, such as a CRF or an HMM.

Marginals of tags, pairs of tags and spans, and quantities computed from them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy.special import entr

from .._errors import public
from .._parallel import RandomStateLike, as_generator
from .._validation import check_float_type, check_integer, check_positive
from ._chain import (
    BLOCK,
    Chain,
    Packing,
    backward,
    forward,
    k_best,
    log_backward,
    log_forward,
    log_product,
    log_sum,
    lost,
    partition,
    sample,
    sums,
    viterbi,
)
from ._checks import (
    Spans,
    as_border,
    as_chain_scores,
    check_chain_scores,
    check_paths,
    check_slice,
    check_spans,
    check_tag_pairs,
    tempered,
)

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


# The first token, and a tag or a set of tags for each token.
Span: TypeAlias = tuple[int, int | Sequence[int | AbstractSet[int]] | np.ndarray]


class LinearChainPosterior:
    """Distribution over taggings of sequences, defined by scores.

    A tagging y of a sequence of n tokens has the probability exp(s(y)) / Z, where

        s(y) = log_start[y_1] + sum_t log_emission[t, y_t]
               + sum_t log_transition[y_t, y_t+1] + log_end[y_n].

    The scores can be the log probabilities of a hidden Markov model, the weights of a
    conditional random field, or the outputs of a neural network.

    Parameters
    ----------
    log_emission : list of array-like of shape (n_i, n_tags)
        Unnormalised scores of the tags of each token, one array per sequence. A score
        of -inf forbids a tag. A sequence may be empty. If `lengths` is given,
        `log_emission` is one array of shape (n_tokens, n_tags) with the tokens of all
        sequences.
    log_transition : array-like of shape (n_tags, n_tags), default=None
        Scores of [previous tag, next tag]. A score of -inf forbids a pair of tags. If
        None, all scores are zero, so that the tags of a sequence are independent of
        each other, as in a classifier with one softmax per token.
    log_start, log_end : array-like of shape (n_tags,), default=None
        Scores of the first and of the last tag. If None, they are zero.
    lengths : array-like of int of shape (n_sequences,), default=None
        Lengths of the sequences, if `log_emission` is one array.
    dtype : {float64, float32}, default=float64
        Type of token, pair and filtered marginals. float32 takes half the memory and,
        with many tags, half the time; its error is about 1e-6. All other results are
        computed in float64, and so are sequences for which float32 underflows.

    Raises
    ------
    ValueError
        If shapes do not match; if a score is NaN, +inf, or a finite number whose
        absolute value exceeds 1e300; or if the number of tags is unknown because
        `log_transition` is None and there is no token. The message names the sequence
        and the token. Methods raise a ValueError for a sequence without any allowed
        tagging.

    Notes
    -----
    The recursions advance all sequences together, with one matrix product per token
    (time O(n_tokens n_tags^2), memory O(n_tokens n_tags)). Probabilities are scaled at
    each token. If a tag that can be reached has a scaled probability below 1e-250, its
    sequence is computed again with logarithms, so results are exact for scores of any
    size. An array that is passed with `lengths` is not copied.

    References
    ----------
    .. [1] L. Rabiner (1989). "A tutorial on hidden Markov models and selected
       applications in speech recognition". Proceedings of the IEEE 77.
    .. [2] J. Lafferty, A. McCallum and F. Pereira (2001). "Conditional random fields".
       ICML.

    Examples
    --------
    Two tokens and two tags, with transitions that favour staying with a tag:

    >>> import numpy as np
    >>> from skcalib.posteriors import LinearChainPosterior
    >>> scores = [np.log([[0.9, 0.1], [0.5, 0.5]])]
    >>> stay = np.log([[0.8, 0.2], [0.2, 0.8]])
    >>> posterior = LinearChainPosterior(scores, stay)
    >>> posterior.token_marginals()[0].round(2)
    array([[0.9 , 0.1 ],
           [0.74, 0.26]])
    >>> posterior.viterbi()
    [array([0, 0])]
    >>> np.exp(posterior.log_proba([[0, 0]])).round(2)
    array([0.72])

    Without transitions, the marginals of a token are the softmax of its scores:

    >>> LinearChainPosterior(scores).token_marginals()[0].round(2)
    array([[0.9, 0.1],
           [0.5, 0.5]])
    """

    @public
    def __init__(
        self,
        log_emission: Sequence[ArrayLike] | ArrayLike,
        log_transition: ArrayLike | None = None,
        log_start: ArrayLike | None = None,
        log_end: ArrayLike | None = None,
        *,
        lengths: ArrayLike | None = None,
        dtype: DTypeLike = np.float64,
    ):
        self.dtype = check_float_type(dtype, name="dtype")
        self.log_emission, self.log_transition, self.lengths = as_chain_scores(
            log_emission, log_transition, lengths, self.dtype
        )
        self.log_start = as_border(log_start, self.n_tags, "log_start")
        self.log_end = as_border(log_end, self.n_tags, "log_end")
        check_chain_scores(
            self.log_emission,
            self.lengths,
            log_transition=self.log_transition,
            log_start=self.log_start,
            log_end=self.log_end,
        )

    def _with(self, **scores: Any) -> LinearChainPosterior:
        """Return a posterior with some scores replaced, without validation."""
        new = type(self).__new__(type(self))
        vars(new).update(vars(self), **scores)
        return new

    @property
    def n_tags(self) -> int:
        """Number of tags."""
        return self.log_transition.shape[0]

    def __len__(self) -> int:
        return self.lengths.size

    def __getitem__(self, sequences: slice) -> LinearChainPosterior:
        """Return the posterior of a slice of the sequences."""
        check_slice(self, sequences, "sequences")
        parts = self._split(self.log_emission)[sequences]
        return self._with(
            log_emission=np.concatenate([self.log_emission[:0], *parts]),
            lengths=self.lengths[sequences],
        )

    def __repr__(self) -> str:
        return (
            f"LinearChainPosterior(n_sequences={len(self)}, "
            f"n_tokens={self.log_emission.shape[0]}, n_tags={self.n_tags})"
        )

    def _chain(self, dtype: Any = np.float64) -> Chain:
        return Chain(
            packing=Packing(self.lengths),
            scores=self.log_emission,
            transition=self.log_transition,
            start=self.log_start,
            end=self.log_end,
            names=np.arange(len(self)),
            dtype=np.dtype(dtype),
        )

    def _split(self, rows: np.ndarray, lengths: Any = None) -> list[np.ndarray]:
        """Split rows, by default of tokens, into a list with an entry per sequence."""
        ends = np.cumsum(self.lengths if lengths is None else lengths).tolist()
        starts = [0, *ends[:-1]]
        return [rows[a:b] for a, b in zip(starts, ends, strict=False)]

    def log_partition(self) -> np.ndarray:
        """Return log Z of each sequence.

        Returns
        -------
        log_partition : ndarray of shape (n_sequences,)
            Logarithm of the sum of exp(s(y)) over all taggings y, 0 for an empty
            sequence.
        """
        return log_partition(self._chain())

    def token_marginals(self) -> list[np.ndarray]:
        """Return the posterior probability of each tag at each token.

        Returns
        -------
        marginals : list of ndarray of shape (n_i, n_tags)
            Probabilities of the tags of each token. Rows sum to one.
        """
        return self._split(token_marginals(self._chain(self.dtype)))

    def viterbi(self) -> list[np.ndarray]:
        """Return the most probable tagging of each sequence.

        Returns
        -------
        paths : list of ndarray of shape (n_i,), int
            Tag indices. In case of ties, the lowest index is used, starting with the
            last token.
        """
        chain = self._chain()
        return self._split(chain.packing.unpack(viterbi(chain)))

    def posterior_decode(self) -> list[np.ndarray]:
        """Return the most probable tag of each token.

        These tags minimise the expected number of wrong tokens under the model. The
        resulting tagging may be forbidden by the model.

        Returns
        -------
        paths : list of ndarray of shape (n_i,), int
            Tag indices. In case of ties, the lowest index is used.
        """
        return self._split(token_marginals(self._chain()).argmax(axis=1))

    @public
    def log_proba(self, paths: Sequence[ArrayLike]) -> np.ndarray:
        """Return the log probability of one tagging of each sequence.

        Parameters
        ----------
        paths : sequence of array-like of shape (n_i,), int
            Tag indices.

        Returns
        -------
        log_proba : ndarray of shape (n_sequences,)
            Log probabilities: -inf for a forbidden tagging, and 0 for an empty
            sequence.
        """
        tags = check_paths(paths, self.lengths, self.n_tags)
        sequence = np.repeat(np.arange(len(self)), self.lengths)
        token = self.log_emission[np.arange(tags.size), tags]
        inner = np.flatnonzero(np.diff(sequence) == 0)
        pair = self.log_transition[tags[inner], tags[inner + 1]]
        score = sums(token, sequence, len(self))
        score += sums(pair, sequence[inner], len(self))
        some = self.lengths > 0
        last = np.cumsum(self.lengths)[some] - 1
        score[some] += self.log_start[tags[last - self.lengths[some] + 1]]
        score[some] += self.log_end[tags[last]]
        return score - self.log_partition()

    @public
    def pair_marginals(self, pairs: ArrayLike | None = None) -> list[np.ndarray]:
        """Return the posterior probability of pairs of tags at consecutive tokens.

        Parameters
        ----------
        pairs : array-like of int of shape (n_pairs, 2), default=None
            Tag indices, (previous, next). If None, all pairs are computed.

        Returns
        -------
        marginals : list of ndarray
            Arrays of shape (n_i - 1, n_tags, n_tags), with row t for tokens t and
            t + 1, or of shape (n_i - 1, n_pairs) for chosen pairs. An empty sequence
            has no rows.

        Notes
        -----
        The table of all pairs takes n_tags times the memory of the token marginals. The
        table is not computed if `pairs` is given, and :meth:`expected_transitions` does
        not need it. :meth:`iter_pair_marginals` computes the table for a few sequences
        at a time.

        Examples
        --------
        >>> from skcalib.posteriors import LinearChainPosterior
        >>> posterior = LinearChainPosterior([[[0, 0], [0, 0]]], [[1, 0], [0, 1]])
        >>> posterior.pair_marginals()[0].round(2)
        array([[[0.37, 0.13],
                [0.13, 0.37]]])
        >>> posterior.pair_marginals([(0, 1)])[0].round(2)
        array([[0.13]])
        """
        fewer = np.maximum(self.lengths - 1, 0)
        chain = self._chain(self.dtype)
        if pairs is None:
            held = list(all_factors(chain))
            tokens = followed(self.lengths)
            return self._split(all_pairs(held, tokens, self.dtype), fewer)
        chosen = check_tag_pairs(pairs, self.n_tags)
        found = chosen_pairs(chain, chosen[:, 0], chosen[:, 1])
        return self._split(found, fewer)

    @public
    def iter_pair_marginals(
        self, chunk: int = 100
    ) -> Iterator[tuple[slice, list[np.ndarray]]]:
        """Iterate over the probabilities of all pairs of tags, in chunks of sequences.

        Parameters
        ----------
        chunk : int, default=100
            Number of sequences per chunk. Token marginals of all sequences and pair
            marginals of one chunk are in memory at a time.

        Returns
        -------
        parts : iterator of (sequences, marginals)
            `sequences` is the slice of the sequences of a chunk. `marginals` is a list
            of arrays of shape (n_i - 1, n_tags, n_tags) as :meth:`pair_marginals`
            returns them.

        Examples
        --------
        >>> from skcalib.posteriors import LinearChainPosterior
        >>> scores = [[[0, 0]] * n for n in (2, 1, 3)]
        >>> posterior = LinearChainPosterior(scores, [[1, 0], [0, 1]])
        >>> for sequences, marginals in posterior.iter_pair_marginals(2):
        ...     print(sequences, [m.shape for m in marginals])
        slice(0, 2, None) [(1, 2, 2), (0, 2, 2)]
        slice(2, 3, None) [(2, 2, 2)]
        """
        size = check_integer(chunk, minimum=1, name="chunk")
        return self._iter_pair_marginals(size)

    def _iter_pair_marginals(
        self, size: int
    ) -> Iterator[tuple[slice, list[np.ndarray]]]:
        held = list(all_factors(self._chain(self.dtype)))
        tokens = followed(self.lengths)
        fewer = np.maximum(self.lengths - 1, 0)
        ends = [0, *np.cumsum(fewer).tolist()]
        for i in range(0, len(self), size):
            part = slice(i, min(i + size, len(self)))
            some = tokens[ends[part.start] : ends[part.stop]]
            table = all_pairs(held, some, self.dtype)
            yield part, self._split(table, fewer[part])

    def expected_transitions(self) -> np.ndarray:
        """Return the expected number of each pair of tags in all sequences.

        The result is the sum of all pair marginals, computed by one matrix product.

        Returns
        -------
        counts : ndarray of shape (n_tags, n_tags)
            Expected numbers of [previous tag, next tag].
        """
        return summed_pairs(self._chain())

    @public
    def span_marginals(self, spans: Sequence[Sequence[Span]]) -> list[np.ndarray]:
        """Return the posterior probability of tags of several consecutive tokens.

        Parameters
        ----------
        spans : sequence with one entry per sequence
            Spans of each sequence, as a list of ``(start, tags)``. `start` is the first
            token. `tags` has one entry per token of the span: a tag index, or a set of
            alternative tag indices. `tags` may also be an array of bool of shape
            (n_tokens, n_tags).

        Returns
        -------
        marginals : list of ndarray of shape (n_spans_i,)
            Probability that every token of the span has one of its tags, summed over
            the tags of all other tokens.

        Notes
        -----
        Spans of all sequences are advanced together, with one matrix product per token
        of the longest span. To compute the probability that tokens s to e are exactly
        one entity in BIO tags, include the next token: {B}, {I}, ..., {I} and then, if
        there is a next token, all tags except I.

        Examples
        --------
        Compute the probability that tokens 0 and 1 are exactly one entity, for the tags
        O, B and I:

        >>> import numpy as np
        >>> from skcalib.posteriors import LinearChainPosterior
        >>> forbidden = -np.inf
        >>> transitions = [[0, 0, forbidden], [0, 0, 1], [0, 0, 1]]
        >>> posterior = LinearChainPosterior([np.zeros((3, 3))], transitions)
        >>> O, B, I = 0, 1, 2
        >>> entity, longer = (0, [B, I, {O, B}]), (0, [B, I, I])
        >>> posterior.span_marginals([[entity, longer, (0, [B, I])]])[0].round(3)
        array([0.119, 0.161, 0.28 ])
        """
        found, count = check_spans(spans, self.lengths, self.n_tags)
        return self._split(span_marginals(self._chain(), found), count)

    @public
    def sample(
        self, n_samples: int, random_state: RandomStateLike = None
    ) -> list[np.ndarray]:
        """Draw independent taggings of each sequence.

        Parameters
        ----------
        n_samples : int
            Number of taggings of each sequence.
        random_state : int, RandomState, Generator or None, default=None
            Random state used to draw the taggings. Each tagging uses one uniform number
            per token, in the order of the sequences. With the same seed, the first
            samples therefore do not depend on `n_samples`.

        Returns
        -------
        samples : list of ndarray of shape (n_samples, n_i), int
            Tag indices.

        Notes
        -----
        Tags are sampled backwards from the filtered probabilities. The time is
        O(n_tokens n_tags n_samples). The result and an array of the size of the token
        marginals are in memory.

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.posteriors import LinearChainPosterior
        >>> scores = np.log([[0.2, 0.8]] * 3)
        >>> posterior = LinearChainPosterior([scores], np.zeros((2, 2)))
        >>> posterior.sample(2, random_state=0)[0]
        array([[1, 1, 0],
               [0, 1, 1]])
        >>> posterior.sample(10_000, random_state=0)[0].mean(axis=0).round(1)
        array([0.8, 0.8, 0.8])
        """
        size = check_integer(n_samples, minimum=1, name="n_samples")
        rng = as_generator(random_state)
        return [rows.T for rows in self._split(sample(self._chain(), size, rng))]

    def entropy(self) -> np.ndarray:
        """Return the entropy of the taggings of each sequence, in nats.

        Returns
        -------
        entropy : ndarray of shape (n_sequences,)
            Entropies. The entropy is 0 if one tagging has probability 1, and
            n_i * log(n_tags) if all taggings are equally probable.

        Notes
        -----
        By the chain rule, the entropy of a tagging is the entropy of the first tag plus
        the conditional entropy of each later tag given the tag before it.
        """
        return entropy(self._chain())

    def filtered(self) -> list[np.ndarray]:
        """Return the probability of each tag given the tokens up to this one.

        Returns
        -------
        filtered : list of ndarray of shape (n_i, n_tags)
            Row t contains the probabilities of the tags of token t given tokens 0 to t.
            The later tokens and the end scores are not used. Rows sum to one.
        """
        return self._split(filtered(self._chain(self.dtype)))

    @public
    def k_best(self, k: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the k most probable taggings of each sequence.

        Parameters
        ----------
        k : int
            Number of taggings.

        Returns
        -------
        best : list of (paths, log_proba)
            `paths` has shape (m_i, n_i), type int, and the best tagging first;
            `log_proba` has shape (m_i,). m_i is the minimum of k and the number of
            allowed taggings. An empty sequence has one tagging. Taggings of equal
            probability are ordered by the tag of the last token, then by the tag before
            it, and so on. The first tagging is the result of :meth:`viterbi`.

        Notes
        -----
        The time is O(n_tokens n_tags^2 k). The memory is O(n_tags k) per token of the
        sequences that are processed together.

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.posteriors import LinearChainPosterior
        >>> scores = np.log([[0.2, 0.8]] * 2)
        >>> posterior = LinearChainPosterior([scores], np.zeros((2, 2)))
        >>> ((paths, log_proba),) = posterior.k_best(3)
        >>> paths
        array([[1, 1],
               [1, 0],
               [0, 1]])
        >>> np.exp(log_proba).round(2)
        array([0.64, 0.16, 0.16])
        """
        size = check_integer(k, minimum=1, name="k")
        log_z = self.log_partition()
        empty = np.zeros((1, 0), dtype=np.intp), np.zeros(1)
        best = [(empty[0].copy(), empty[1].copy()) for _ in range(len(self))]
        for i, paths, scores in k_best(self._chain(), size):
            best[i] = paths, np.minimum(scores - log_z[i], 0)
        return best

    @public
    def tempered(self, temperature: float) -> LinearChainPosterior:
        """Return the posterior whose scores are divided by a temperature.

        Parameters
        ----------
        temperature : float
            Temperature. A value above 1 makes the probabilities more even, and a value
            below 1 makes them more extreme. The best tagging and the forbidden taggings
            do not change.

        Returns
        -------
        posterior : LinearChainPosterior
            Posterior in which each tagging has its probability to the power of
            1 / temperature, renormalised.
        """
        check_positive(temperature, name="temperature")
        names = ("log_emission", "log_transition", "log_start", "log_end")
        return self._with(
            **{
                name: tempered(getattr(self, name), temperature, f" of {name}")
                for name in names
            }
        )
