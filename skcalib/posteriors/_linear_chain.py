"""Posterior of a linear chain: what a CRF or an HMM believes of a sequence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._random import as_generator
from .._validation import check_float_type, check_integer, check_positive
from . import _lattice, _pairs
from ._chain import Chain, sums
from ._checks import (
    as_border,
    as_emission,
    as_scores,
    check_finite,
    check_pairs,
    check_paths,
)
from ._k_best import k_best
from ._packing import Packing
from ._sampling import sample
from ._span_checks import check_spans
from ._spans import span_marginals
from ._viterbi import viterbi


class LinearChainPosterior:
    """Distribution over taggings of sequences, from scores of tags and of their pairs.

    A tagging y of a sequence of n tokens has the probability exp(s(y)) / Z, where

        s(y) = log_start[y_1] + sum_t log_emission[t, y_t]
               + sum_t log_transition[y_t, y_t+1] + log_end[y_n].

    The scores come from anywhere: a hidden Markov model's log probabilities, a
    conditional random field's weights, a neural network's outputs.

    Parameters
    ----------
    log_emission : list of array-like of shape (n_i, n_tags)
        Scores of the tags of each token, unnormalised; -inf forbids. Or one array of
        shape (n_tokens, n_tags) with `lengths`. A sequence may be empty.
    log_transition : array-like of shape (n_tags, n_tags)
        Scores of [previous tag, next tag]; -inf forbids.
    log_start, log_end : array-like of shape (n_tags,), default=None
        Scores of the first and the last tag; zeros where None.
    lengths : array-like of int of shape (n_sequences,), default=None
        Lengths of the sequences, where `log_emission` is one array.
    dtype : {float64, float32}, default=float64
        Of token, pair and filtered marginals. float32 takes half the memory, with many
        tags half the time, and errs by about 1e-6; a sequence that it does not hold is
        computed in float64. Everything else is computed in float64 in any case.

    Raises
    ------
    ValueError
        If shapes do not fit, or a score is NaN or +inf; the message names the
        sequence and the token. Methods raise it for a sequence that no tagging is
        allowed for.

    Notes
    -----
    All sequences of a length or more are advanced together, one matrix product a token
    (time O(n_tokens n_tags^2), memory O(n_tokens n_tags)). Probabilities are scaled at
    each token; a sequence in which a tag that can be reached still falls below 1e-250
    is computed again with logarithms, so scores of any size whose sums are finite are
    exact. An array given with `lengths` is kept, not copied.

    References
    ----------
    .. [1] L. Rabiner (1989). "A tutorial on hidden Markov models and selected
       applications in speech recognition". Proceedings of the IEEE 77.
    .. [2] J. Lafferty, A. McCallum and F. Pereira (2001). "Conditional random fields".
       ICML.

    Examples
    --------
    Two tokens, two tags, and a liking for staying with a tag:

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
    """

    def __init__(
        self,
        log_emission: Any,
        log_transition: Any,
        log_start: Any = None,
        log_end: Any = None,
        *,
        lengths: Any = None,
        dtype: Any = np.float64,
    ):
        transition = as_scores(log_transition, "log_transition")
        if transition.ndim != 2 or transition.shape[0] != transition.shape[1]:
            raise ValueError(
                "The 'log_transition' parameter of LinearChainPosterior must have "
                f"shape (n_tags, n_tags). Got {transition.shape}."
            )
        n_tags = transition.shape[0]
        if n_tags == 0:
            raise ValueError("LinearChainPosterior needs one tag at least. Got none.")
        self.dtype = check_float_type(
            dtype, name="dtype", caller="LinearChainPosterior"
        )
        self.log_transition = transition
        self.log_start = as_border(log_start, n_tags, "log_start")
        self.log_end = as_border(log_end, n_tags, "log_end")
        self.log_emission, self.lengths = as_emission(
            log_emission, lengths, n_tags, self.dtype
        )
        check_finite(
            self.log_emission,
            self.lengths,
            log_transition=self.log_transition,
            log_start=self.log_start,
            log_end=self.log_end,
        )

    def _with(self, **scores: Any) -> LinearChainPosterior:
        """Return a posterior that differs in some scores, which are clean."""
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
        if not isinstance(sequences, slice):
            raise TypeError(
                "LinearChainPosterior is indexed by a slice of sequences. "
                f"Got {sequences!r}."
            )
        chosen = np.arange(len(self))[sequences]
        start = np.cumsum(self.lengths) - self.lengths
        lengths = self.lengths[chosen]
        step = np.arange(lengths.sum()) - np.repeat(
            np.cumsum(lengths) - lengths, lengths
        )
        rows = np.repeat(start[chosen], lengths) + step
        return self._with(log_emission=self.log_emission[rows], lengths=lengths)

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
        """Return rows as a list with one entry a sequence, of tokens if not said."""
        ends = np.cumsum(self.lengths if lengths is None else lengths).tolist()
        starts = [0, *ends[:-1]]
        return [rows[a:b] for a, b in zip(starts, ends, strict=False)]

    def log_partition(self) -> np.ndarray:
        """Return log Z of each sequence, 0 for an empty one.

        Returns
        -------
        log_partition : ndarray of shape (n_sequences,)
        """
        return _lattice.log_partition(self._chain())

    def token_marginals(self) -> list[np.ndarray]:
        """Return the posterior probability of each tag at each token.

        Returns
        -------
        marginals : list of ndarray of shape (n_i, n_tags)
            Rows sum to one.
        """
        return self._split(_lattice.token_marginals(self._chain(self.dtype)))

    def viterbi(self) -> list[np.ndarray]:
        """Return the most probable tagging of each sequence.

        Returns
        -------
        paths : list of ndarray of shape (n_i,), int
            Tag indices; among equal scores the lowest index, from the last token back.
        """
        chain = self._chain()
        return self._split(chain.packing.unpack(viterbi(chain)))

    def posterior_decode(self) -> list[np.ndarray]:
        """Return the most probable tag of each token by itself.

        It errs least on tokens, on average under the model; the whole may be a tagging
        that the model forbids.

        Returns
        -------
        paths : list of ndarray of shape (n_i,), int
            Tag indices, ties to the lowest.
        """
        return self._split(_lattice.token_marginals(self._chain()).argmax(axis=1))

    def log_proba(self, paths: Sequence[Any]) -> np.ndarray:
        """Return the log probability of one tagging of each sequence.

        Parameters
        ----------
        paths : sequence of array-like of shape (n_i,), int
            Tag indices.

        Returns
        -------
        log_proba : ndarray of shape (n_sequences,)
            -inf for a forbidden tagging, 0 for an empty sequence.
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

    def pair_marginals(self, pairs: Any = None) -> list[np.ndarray]:
        """Return the posterior probability of pairs of tags at tokens in a row.

        Parameters
        ----------
        pairs : array-like of int of shape (n_pairs, 2), default=None
            Tag indices, (previous, next). None: all of them.

        Returns
        -------
        marginals : list of ndarray
            Of shape (n_i - 1, n_tags, n_tags), row t for tokens t and t + 1; or for
            chosen pairs (n_i - 1, n_pairs). No rows for an empty sequence.

        Notes
        -----
        All pairs take n_tags times the memory of token marginals: see
        :meth:`iter_pair_marginals` and :meth:`expected_transitions`. Chosen pairs never
        build that table.

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
            held = list(_lattice.lattices(chain))
            tokens = _pairs.followed(self.lengths)
            return self._split(_pairs.all_pairs(held, tokens, self.dtype), fewer)
        caller = "LinearChainPosterior.pair_marginals"
        chosen = check_pairs(pairs, self.n_tags, caller)
        found = _pairs.chosen_pairs(chain, chosen[:, 0], chosen[:, 1])
        return self._split(found, fewer)

    def iter_pair_marginals(
        self, chunk: int = 100
    ) -> Iterator[tuple[slice, list[np.ndarray]]]:
        """Return the probabilities of all pairs of tags, some sequences at a time.

        Parameters
        ----------
        chunk : int, default=100
            Number of sequences at a time. Memory is that of token marginals, and of the
            pairs of so many sequences.

        Returns
        -------
        parts : iterator of (sequences, marginals)
            `sequences` is the slice of the sequences of a part; `marginals` a list with
            an array of shape (n_i - 1, n_tags, n_tags) for each of them, as
            :meth:`pair_marginals` has it.

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
        caller = "LinearChainPosterior.iter_pair_marginals"
        size = check_integer(chunk, minimum=1, name="chunk", caller=caller)
        return self._iter_pair_marginals(size)

    def _iter_pair_marginals(
        self, size: int
    ) -> Iterator[tuple[slice, list[np.ndarray]]]:
        held = list(_lattice.lattices(self._chain(self.dtype)))
        tokens = _pairs.followed(self.lengths)
        fewer = np.maximum(self.lengths - 1, 0)
        ends = [0, *np.cumsum(fewer).tolist()]
        for i in range(0, len(self), size):
            part = slice(i, min(i + size, len(self)))
            some = tokens[ends[part.start] : ends[part.stop]]
            table = _pairs.all_pairs(held, some, self.dtype)
            yield part, self._split(table, fewer[part])

    def expected_transitions(self) -> np.ndarray:
        """Return the expected number of each pair of tags in all sequences.

        It is the sum of all pair marginals, by one matrix product.

        Returns
        -------
        counts : ndarray of shape (n_tags, n_tags)
            [previous tag, next tag].
        """
        return _pairs.summed_pairs(self._chain())

    def span_marginals(self, spans: Sequence[Any]) -> list[np.ndarray]:
        """Return the posterior probability of tags of several tokens in a row.

        Parameters
        ----------
        spans : sequence with an entry for each sequence
            An entry is a sequence of spans ``(start, tags)``: the first token, and for
            each token from there on a tag index, or a set of them (any of which will
            do), or all as one array of bool of shape (n_tokens, n_tags).

        Returns
        -------
        marginals : list of ndarray of shape (n_spans_i,)
            The probability that every token of the span has one of its tags, whatever
            the others have.

        Notes
        -----
        Spans of all sequences are advanced together, a matrix product a token of the
        longest. A span's tags may end after the span: that tokens s to e are exactly
        one entity in BIO tags is {B}, {I}, ..., {I} and then, if there is a next token,
        everything but {I}.

        Examples
        --------
        Tags O, B and I. Are tokens 0 and 1 an entity, and nothing more?

        >>> import numpy as np
        >>> from skcalib.posteriors import LinearChainPosterior
        >>> forbidden = -np.inf
        >>> moves = [[0, 0, forbidden], [0, 0, 1], [0, 0, 1]]
        >>> posterior = LinearChainPosterior([np.zeros((3, 3))], moves)
        >>> O, B, I = 0, 1, 2
        >>> entity, longer = (0, [B, I, {O, B}]), (0, [B, I, I])
        >>> posterior.span_marginals([[entity, longer, (0, [B, I])]])[0].round(3)
        array([0.119, 0.161, 0.28 ])
        """
        found, count = check_spans(spans, self.lengths, self.n_tags)
        return self._split(span_marginals(self._chain(), found), count)

    def sample(self, n_samples: int, random_state: Any = None) -> list[np.ndarray]:
        """Draw taggings.

        Parameters
        ----------
        n_samples : int
            Number of taggings of each sequence; they are independent.
        random_state : int, RandomState, Generator or None, default=None
            The same seed gives the same taggings of these sequences, and fewer samples
            are the first of more. Each tagging takes one uniform number for each token
            of all sequences, in their order.

        Returns
        -------
        samples : list of ndarray of shape (n_samples, n_i), int
            Tag indices.

        Notes
        -----
        Filtered forward, sampled backward: time O(n_tokens n_tags n_samples). Memory is
        that of the result and of token marginals, and of a few samples' work.

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
        caller = "LinearChainPosterior.sample"
        size = check_integer(n_samples, minimum=1, name="n_samples", caller=caller)
        rng = as_generator(random_state, caller=caller)
        return [rows.T for rows in self._split(sample(self._chain(), size, rng))]

    def entropy(self) -> np.ndarray:
        """Return the entropy of each sequence's taggings, in nats.

        Returns
        -------
        entropy : ndarray of shape (n_sequences,)
            0 where one tagging has all the probability, n_i * log(n_tags) where all
            have the same. By the chain rule: of the first tag, and of each next tag
            given the one before.
        """
        return _pairs.entropy(self._chain())

    def filtered(self) -> list[np.ndarray]:
        """Return the probability of each tag given the tokens up to it, no look-ahead.

        Returns
        -------
        filtered : list of ndarray of shape (n_i, n_tags)
            Rows sum to one; row t is what the last row of `token_marginals` would be if
            the sequence were cut after t and had no end scores. `log_end` is not used.
        """
        return self._split(_lattice.filtered(self._chain(self.dtype)))

    def k_best(self, k: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the k most probable taggings of each sequence.

        Parameters
        ----------
        k : int
            Number of taggings.

        Returns
        -------
        best : list of (paths, log_proba)
            `paths` of shape (m_i, n_i), int, the best first; `log_proba` of shape
            (m_i,). m_i is k, or the number of taggings that are allowed if that is
            less; an empty sequence has one. Equal ones are ordered by the last token's
            tag, then by that before it, and the first is that of :meth:`viterbi`.

        Notes
        -----
        Time O(n_tokens n_tags^2 k); memory O(n_tags k) a token, of some sequences at a
        time.

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
        caller = "LinearChainPosterior.k_best"
        size = check_integer(k, minimum=1, name="k", caller=caller)
        log_z = self.log_partition()
        empty = np.zeros((1, 0), dtype=np.intp), np.zeros(1)
        best = [(empty[0].copy(), empty[1].copy()) for _ in range(len(self))]
        for i, paths, scores in k_best(self._chain(), size):
            best[i] = paths, np.minimum(scores - log_z[i], 0)
        return best

    def tempered(self, temperature: float) -> LinearChainPosterior:
        """Return the posterior whose scores are divided by a temperature.

        Parameters
        ----------
        temperature : float
            More than 1 makes probabilities more even, less than 1 more extreme; the
            best tagging stays. What is forbidden stays so.

        Returns
        -------
        posterior : LinearChainPosterior
            Each tagging's probability to the power of 1 / temperature, renormalised.
        """
        caller = "LinearChainPosterior.tempered"
        divisor = check_positive(temperature, name="temperature", caller=caller)
        scores = {}
        for name in ("log_emission", "log_transition", "log_start", "log_end"):
            before = getattr(self, name)
            with np.errstate(over="ignore"):
                after = np.divide(before, divisor, dtype=np.float64)
                after = after.astype(before.dtype, copy=False)
            if (np.isinf(after) & np.isfinite(before)).any():
                raise ValueError(
                    f"The 'temperature' parameter of {caller} is too small: "
                    f"{temperature!r} makes scores of {name} infinite."
                )
            scores[name] = after
        return self._with(**scores)
