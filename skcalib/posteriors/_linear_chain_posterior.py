"""Posterior distribution over taggings of a linear chain, such as a CRF or an HMM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from copy import copy
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .._errors import public
from .._parallel import RandomStateLike, as_generator
from .._validation import check_float_type, check_integer, check_positive
from . import _chain as algorithms
from ._chain import Chain, Packing, followed, sums
from ._checks import (
    as_border,
    as_chain_scores,
    check_chain_scores,
    check_paths,
    check_slice,
    check_spans,
    check_tag_pairs,
    tempered,
    warn_of_proba,
)

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
    .. [1] L. R. Rabiner (1989). "A tutorial on hidden Markov models and selected
       applications in speech recognition". Proceedings of the IEEE 77.
    .. [2] J. Lafferty, A. McCallum and F. Pereira (2001). "Conditional random fields:
       probabilistic models for segmenting and labeling sequence data". ICML.

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

    log_emission: np.ndarray
    log_transition: np.ndarray
    lengths: np.ndarray

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
        self.dtype: np.dtype = check_float_type(dtype, name="dtype")
        self.log_emission, self.log_transition, self.lengths = as_chain_scores(
            log_emission, log_transition, lengths, self.dtype
        )
        self.log_start: np.ndarray = as_border(log_start, self.n_tags, "log_start")
        self.log_end: np.ndarray = as_border(log_end, self.n_tags, "log_end")
        check_chain_scores(
            self.log_emission,
            self.lengths,
            log_transition=self.log_transition,
            log_start=self.log_start,
            log_end=self.log_end,
        )
        warn_of_proba([self.log_emission], "log_emission")

    def _with(self, **scores: Any) -> LinearChainPosterior:
        """Return a posterior with some scores replaced, without validation."""
        new = copy(self)
        vars(new).update(scores)
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
        ends, lengths = np.cumsum(self.lengths)[sequences], self.lengths[sequences]
        # Each sequence moves from its old end to the end of the rows chosen so far.
        moved = np.repeat(ends - np.cumsum(lengths), lengths)
        rows = moved + np.arange(moved.size)
        return self._with(log_emission=self.log_emission[rows], lengths=lengths)

    def __repr__(self) -> str:
        return (
            f"LinearChainPosterior(n_sequences={len(self)}, "
            f"n_tokens={self.log_emission.shape[0]}, n_tags={self.n_tags})"
        )

    def _chain(self, dtype: Any = np.float64) -> Chain:
        scores = self.log_emission, self.log_transition, self.log_start, self.log_end
        names = np.arange(len(self))
        return Chain(Packing(self.lengths), *scores, names, np.dtype(dtype))

    def _split(self, rows: np.ndarray, lengths: Any = None) -> list[np.ndarray]:
        """Split rows, by default of tokens, into a list with an entry per sequence."""
        ends = np.cumsum(self.lengths if lengths is None else lengths).tolist()
        return [rows[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=False)]

    def log_partition(self) -> np.ndarray:
        """Return log Z of each sequence.

        Returns
        -------
        log_partition : ndarray of shape (n_sequences,)
            Logarithm of the sum of exp(s(y)) over all taggings y, 0 for an empty
            sequence.
        """
        return algorithms.log_partition(self._chain())

    def token_marginals(self) -> list[np.ndarray]:
        """Return the posterior probability of each tag at each token.

        Returns
        -------
        marginals : list of ndarray of shape (n_i, n_tags)
            Probabilities of the tags of each token. Rows sum to one.
        """
        return self._split(algorithms.token_marginals(self._chain(self.dtype)))

    def viterbi(self) -> list[np.ndarray]:
        """Return the most probable tagging of each sequence.

        Returns
        -------
        paths : list of ndarray of shape (n_i,), int
            Tag indices. In case of ties, the lowest index is used, starting with the
            last token.
        """
        chain = self._chain()
        return self._split(chain.packing.unpack(algorithms.viterbi(chain)))

    def posterior_decode(self) -> list[np.ndarray]:
        """Return the most probable tag of each token.

        These tags minimise the expected number of wrong tokens under the model. The
        resulting tagging may be forbidden by the model.

        Returns
        -------
        paths : list of ndarray of shape (n_i,), int
            Tag indices. In case of ties, the lowest index is used.
        """
        return self._split(algorithms.token_marginals(self._chain()).argmax(axis=1))

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
        if pairs is None:
            whole = self._iter_pair_marginals(max(1, len(self)))
            return [table for _, part in whole for table in part]
        chosen = check_tag_pairs(pairs, self.n_tags)
        found = algorithms.chosen_pairs(self._chain(self.dtype), *chosen.T)
        return self._split(found, np.maximum(self.lengths - 1, 0))

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
        return self._iter_pair_marginals(check_integer(chunk, minimum=1, name="chunk"))

    def _iter_pair_marginals(
        self, size: int
    ) -> Iterator[tuple[slice, list[np.ndarray]]]:
        held = list(algorithms.all_factors(self._chain(self.dtype)))
        tokens = followed(self.lengths)
        fewer = np.maximum(self.lengths - 1, 0)
        ends = [0, *np.cumsum(fewer).tolist()]
        for i in range(0, len(self), size):
            part = slice(i, min(i + size, len(self)))
            some = tokens[ends[part.start] : ends[part.stop]]
            table = algorithms.all_pairs(held, some, self.dtype)
            yield part, self._split(table, fewer[part])

    def expected_transitions(self) -> np.ndarray:
        """Return the expected number of each pair of tags in all sequences.

        The result is the sum of all pair marginals, computed by one matrix product.

        Returns
        -------
        counts : ndarray of shape (n_tags, n_tags)
            Expected numbers of [previous tag, next tag].
        """
        return algorithms.summed_pairs(self._chain())

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
        return self._split(algorithms.span_marginals(self._chain(), found), count)

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
        return [
            rows.T for rows in self._split(algorithms.sample(self._chain(), size, rng))
        ]

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
        return algorithms.entropy(self._chain())

    def filtered(self) -> list[np.ndarray]:
        """Return the probability of each tag given the tokens up to this one.

        Returns
        -------
        filtered : list of ndarray of shape (n_i, n_tags)
            Row t contains the probabilities of the tags of token t given tokens 0 to t.
            The later tokens and the end scores are not used. Rows sum to one.
        """
        return self._split(algorithms.filtered(self._chain(self.dtype)))

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
        # an empty sequence has one tagging, of probability 1
        best = [
            (np.zeros((1, 0), dtype=np.intp), np.zeros(1)) for _ in range(len(self))
        ]
        for i, paths, scores in algorithms.k_best(self._chain(), size):
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
