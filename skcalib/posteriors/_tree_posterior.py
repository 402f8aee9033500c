"""Posterior distribution of an arc-factored parser over dependency trees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from .._clusterings import each_entry
from .._errors import ParameterError, public
from .._parallel import RandomStateLike, as_generator
from .._validation import check_bool, check_integer, check_positive, is_integer
from . import _tree_algorithms as sums
from ._checks import (
    MOST_SCORE,
    ScoreMatrices,
    as_integers,
    as_scores,
    check_slice,
    entries_of,
    is_score,
    lengths_of,
    raise_in_matrix,
    spans_by_entry,
    tempered,
    two_of,
    warn_of_proba,
)
from ._tree_algorithms import best_tree, sample


def _as_arcs(part: Any, i: int) -> np.ndarray:
    """Return the scores of a sentence, a copy with -inf in a word's own column."""
    name = "log_scores"
    scores = as_scores(part, name, entry=f"sentence {i}").copy(order="C")
    if scores.size == 0 and scores.ndim < 3:
        return np.empty((0, 1))
    n = len(scores) if scores.ndim else 0
    if scores.shape != (n, n + 1):
        raise ParameterError(
            name,
            "must have shape (n_words, n_words + 1) for each sentence: a row per word, "
            "a column for the root, then one column per word. Got shape "
            f"{scores.shape} for sentence {i}."
            + " Put a single sentence into a list."
            * (scores.ndim == 1),
        )
    scores.ravel()[1 :: n + 2] = -np.inf  # each word's own column
    return scores


def check_trees(
    trees: Any, lengths: np.ndarray, name: str = "trees"
) -> list[np.ndarray]:
    """Return the heads of the words of each sentence, which form trees."""
    found = []
    for i, entry, n in each_entry(trees, lengths.tolist(), "sentence", name):
        heads = as_integers(entry, name)
        if heads.shape != (n,) or (n and heads.dtype.kind not in "iu"):
            raise ParameterError(
                name,
                f"must contain the head of each of the {n} words of sentence {i}, as "
                f"integers. Got {heads.dtype} of shape {heads.shape}.",
            )
        heads = heads.astype(np.intp)
        _check_tree(heads, i, name)
        found.append(heads)
    return found


def _check_tree(heads: np.ndarray, i: int, name: str) -> None:
    n = heads.size
    bad = (heads < 0) | (heads > n) | (heads == np.arange(1, n + 1))
    if bad.any():
        row = int(bad.argmax())
        hint = " Add 1 to heads that count from 0." if (heads == -1).any() else ""
        raise ParameterError(
            name,
            f"must contain heads from 0 (the root) to {n}. Words are counted from 1, "
            f"and a word cannot be its own head. Got {heads[row]} for word {row + 1} "
            f"of sentence {i}.{hint}",
        )
    ends = sums.ends(heads[np.newaxis])
    if ends.any():
        word = int(ends[ends > 0].min())
        problem = f"must not have cycles. Got a cycle with word {word} in sentence {i}."
        raise ParameterError(name, problem)


def _as_span(span: Any, n: int, where: str) -> tuple[int, int]:
    start, stop = two_of(span)
    if not (is_integer(start) and is_integer(stop) and 0 <= start < stop <= n):
        raise ParameterError(
            "spans",
            f"must contain (start, stop) with 0 <= start < stop <= {n}, the number of "
            f"words. Got {span!r:.50} as {where}.",
        )
    return int(start), int(stop)


class TreePosterior(ScoreMatrices):
    """Distribution over dependency trees of sentences, defined by scores of arcs.

    Each word of a sentence has one head, which is another word or the root, and
    following the heads from any word leads to the root. A tree y has the probability
    exp(s(y)) / Z, where s(y) is the sum of the scores of its arcs. Trees do not need to
    be projective. The scores can come from a graph-based parser, for example a biaffine
    parser.

    Parameters
    ----------
    log_scores : list of array-like of shape (n_i, n_i + 1)
        Unnormalised scores of arcs, one array per sentence. Row d contains the scores
        of the heads of word d + 1. Column 0 is the root, and column h is word h. A
        score of -inf forbids an arc. The entries [d, d + 1], in which a word would be
        its own head, are ignored. A sentence may be empty.
    single_root : bool, default=True
        Whether exactly one word has the root as its head, as in Universal Dependencies.
        If False, any number of words can have the root as their head.

    Attributes
    ----------
    log_scores : list of ndarray of shape (n_i, n_i + 1)
        The scores as float64, -inf where a word would be its own head.
    lengths : ndarray of shape (n_sentences,), int
        Number of words of each sentence.

    Raises
    ------
    ValueError
        If an array has a wrong shape, or if a score is NaN, +inf, or a finite number
        whose absolute value exceeds 1e300. The message names the sentence. Methods
        raise a ValueError for a sentence without any allowed tree.

    See Also
    --------
    LinearChainPosterior : Posterior over taggings of sequences.
    skcalib.experimental.ArcQuery : Ask whether a word is the head of another word.
    skcalib.experimental.SubtreeQuery : Ask whether words are a subtree.

    Notes
    -----
    Heads are numbered as in CoNLL-U: 0 is the root, and words are counted from 1. In
    spans, words are counted from 0, as in slices.

    log Z and the marginals are computed by the matrix-tree theorem [1]_ [2]_ [3]_, from
    one determinant and one inverse per sentence (time O(n_i^3), memory O(n_i^2)).
    Sentences of the same length are processed together. If the estimated error of the
    inverse exceeds 1e-11, the words are eliminated one by one in logarithms without
    subtraction [4]_. This is slower, but exact for scores of any size.

    References
    ----------
    .. [1] T. Koo, A. Globerson, X. Carreras and M. Collins (2007). "Structured
       prediction models via the matrix-tree theorem". EMNLP-CoNLL. Section 3.
    .. [2] D. A. Smith and N. A. Smith (2007). "Probabilistic models of nonprojective
       dependency trees". EMNLP-CoNLL.
    .. [3] R. McDonald and G. Satta (2007). "On the complexity of non-projective
       data-driven dependency parsing". IWPT.
    .. [4] W. Grassmann, M. Taksar and D. Heyman (1985). "Regenerative analysis and
       steady state distributions for Markov chains". Operations Research 33.

    Examples
    --------
    "Ada sleeps": the second word is probably the root.

    >>> import numpy as np
    >>> from skcalib.experimental import TreePosterior
    >>> scores = np.log([[1, 0.5, 3], [2, 1, 0.5]])
    >>> posterior = TreePosterior([scores])
    >>> posterior.arc_marginals()[0].round(2)
    array([[0.14, 0.  , 0.86],
           [0.86, 0.14, 0.  ]])
    >>> posterior.best_tree()
    [array([2, 0])]
    >>> np.exp(posterior.log_proba([[2, 0]])).round(2)
    array([0.86])
    """

    @public
    def __init__(
        self, log_scores: Sequence[ArrayLike] | np.ndarray, *, single_root: bool = True
    ):
        self.single_root: bool = check_bool(single_root, name="single_root")
        parts = entries_of(log_scores, "log_scores", "an array for", "sentence")
        found = [_as_arcs(part, i) for i, part in enumerate(parts)]
        # All scores are checked at once, which is faster for short sentences.
        flat = [np.zeros(0), *(each.ravel() for each in found)]
        if not is_score(np.concatenate(flat)).all():
            for i, scores in enumerate(found):
                expected = f"must be -inf or finite, within ±{MOST_SCORE:g}"
                raise_in_matrix(~is_score(scores), scores, expected, f"sentence {i}")
        self.log_scores: list[np.ndarray] = found
        warn_of_proba(found, "log_scores")
        self.lengths: np.ndarray = lengths_of(found)

    def __getitem__(self, sentences: slice) -> TreePosterior:
        """Return the posterior of a slice of the sentences."""
        check_slice(self, sentences, "sentences")
        return self._with(self.log_scores[sentences])

    def __repr__(self) -> str:
        return (
            f"TreePosterior(n_sentences={len(self)}, n_words={self.lengths.sum()}, "
            f"single_root={self.single_root})"
        )

    def log_partition(self) -> np.ndarray:
        """Return log Z of each sentence.

        Returns
        -------
        log_partition : ndarray of shape (n_sentences,)
            Logarithm of the sum of exp(s(y)) over all trees y, 0 for an empty sentence.
        """
        log_z = _log_partition(self.log_scores, self.single_root)
        self._check_possible(log_z > -np.inf)
        return log_z

    def _check_possible(self, has_tree: Iterable[bool]) -> None:
        for i in (i for i, is_possible in enumerate(has_tree) if not is_possible):
            with_root = " with a single root" if self.single_root else ""
            raise ValueError(
                f"Sentence {i} does not allow any tree{with_root}: its arcs with a "
                "score above -inf do not connect each word to the root."
            )

    def arc_marginals(self) -> list[np.ndarray]:
        """Return the posterior probability of each arc.

        Returns
        -------
        marginals : list of ndarray of shape (n_i, n_i + 1)
            Row d contains the probabilities of the heads of word d + 1: first the root,
            then each word. Rows sum to one. With a single root, column 0 also sums to
            one.
        """
        found = [np.empty((0, 1))] * len(self)
        has_tree = np.ones(len(self), dtype=bool)
        for rows in sums.stacks(self.lengths):
            scores = np.stack([self.log_scores[i] for i in rows.tolist()])
            stack = sums.arc_marginals(scores, self.single_root)
            has_tree[rows] = ~np.isnan(stack).any(axis=(1, 2))
            for i, proba in zip(rows.tolist(), stack, strict=True):
                found[i] = proba
        self._check_possible(has_tree)
        return found

    @public
    def subtree_marginals(
        self, spans: Sequence[Sequence[tuple[int, int]]]
    ) -> list[np.ndarray]:
        """Return the probability that spans of words are whole subtrees.

        A span is a subtree if one of its words has a head outside the span, the heads
        of all its other words are inside, and no word outside has a head inside. Such a
        span is a constituent: a word with all its descendants.

        Parameters
        ----------
        spans : sequence with one entry per sentence
            Spans of each sentence as a list of (start, stop): the first word and the
            word after the last one, counted from 0.

        Returns
        -------
        marginals : list of ndarray of shape (n_spans_i,)
            Exact probabilities.

        Notes
        -----
        The words outside the span form a tree. The words inside form a tree with a
        single root, whose head can be any word outside. The probability is

            Z(outside) * Z(inside) / Z.

        In Z(inside), the root score of a word is log sum_h exp(score of head h), where
        h runs over the words outside. If several roots are allowed, or if there is no
        word outside, h also runs over the root. Two determinants are computed per span.

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.experimental import TreePosterior
        >>> posterior = TreePosterior([np.zeros((3, 4))])  # nine trees
        >>> posterior.subtree_marginals([[(0, 1), (0, 2), (0, 3)]])[0].round(3)
        array([0.444, 0.222, 1.   ])
        """
        asked = [
            [
                _as_span(each, n, f"span {j} of sentence {i}")
                for j, each in enumerate(entry)
            ]
            for i, entry, n in spans_by_entry(spans, self.lengths, "sentence")
        ]
        log_z = self.log_partition()
        parts = [
            sums.log_subtree_sums(scores, *span, self.single_root)
            for scores, some in zip(self.log_scores, asked, strict=True)
            for span in some
        ]
        count = np.array(list(map(len, asked)), dtype=np.intp)
        log_p = _log_partition([inside for inside, _ in parts], True)
        log_p += _log_partition([outside for _, outside in parts], self.single_root)
        proba = np.minimum(np.exp(log_p - np.repeat(log_z, count)), 1)
        return np.split(proba, np.cumsum(count)[:-1]) if len(self) else []

    @public
    def log_proba(self, trees: Sequence[ArrayLike]) -> np.ndarray:
        """Return the log probability of one tree of each sentence.

        Parameters
        ----------
        trees : sequence of array-like of shape (n_i,), int
            Head of each word: 0 for the root, or the number of a word, counted from 1.

        Returns
        -------
        log_proba : ndarray of shape (n_sentences,)
            Log probabilities: -inf for a tree with a forbidden arc, or with several
            roots if only one root is allowed, and 0 for an empty sentence.
        """
        heads = check_trees(trees, self.lengths)
        score = np.zeros(len(self))
        for i, (tree, scores) in enumerate(zip(heads, self.log_scores, strict=True)):
            score[i] = scores[np.arange(tree.size), tree].sum()
            if self.single_root and (tree == 0).sum() > 1:
                score[i] = -np.inf
        return np.minimum(score - self.log_partition(), 0)

    @public
    def sample(
        self, n_samples: int, random_state: RandomStateLike = None
    ) -> list[np.ndarray]:
        """Draw independent trees of each sentence.

        Parameters
        ----------
        n_samples : int
            Number of trees of each sentence.
        random_state : int, RandomState, Generator or None, default=None
            Random state used to draw the trees.

        Returns
        -------
        samples : list of ndarray of shape (n_samples, n_i), int
            Head of each word: 0 for the root, or the number of a word, counted from 1.

        Notes
        -----
        Samples are exact. The head of each word is drawn independently. The heads of
        words on a cycle are drawn again until there is no cycle. This is Wilson's
        algorithm [1]_ with all cycles popped at once. With a single root, the child of
        the root is drawn first, from its marginals [2]_. Scores that favour cycles can
        require a very large number of rounds. A sample that still has a cycle after 100
        rounds is drawn by eliminating the words of the sentence one by one, and by
        putting them back in the opposite order with a head for each. The distribution
        is the same.

        References
        ----------
        .. [1] D. B. Wilson (1996). "Generating random spanning trees more quickly than
           the cover time". STOC.
        .. [2] R. Zmigrod, T. Vieira and R. Cotterell (2021). "Efficient sampling of
           dependency structure". EMNLP.

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.experimental import TreePosterior
        >>> posterior = TreePosterior([np.log([[1, 1, 3], [2, 1, 1]])])
        >>> (drawn,) = posterior.sample(1000, random_state=0)
        >>> trees, count = np.unique(drawn, axis=0, return_counts=True)
        >>> trees
        array([[0, 1],
               [2, 0]])
        >>> (count / 1000).round(1)
        array([0.1, 0.9])
        """
        size = check_integer(n_samples, minimum=1, name="n_samples")
        rng = as_generator(random_state)
        return [
            sample(scores, proba, self.single_root, size, rng)
            for scores, proba in zip(self.log_scores, self.arc_marginals(), strict=True)
        ]

    def best_tree(self) -> list[np.ndarray]:
        """Return the most probable tree of each sentence.

        Returns
        -------
        trees : list of ndarray of shape (n_i,), int
            Head of each word: 0 for the root, or the number of a word, counted from 1.
            In case of ties, the head with the lowest index is used.

        Notes
        -----
        The algorithm of Chu and Liu (1965) and Edmonds (1967) is used. If a single root
        is required and the best tree has several roots, each word is tried as the only
        child of the root. Words are tried in decreasing order of an upper bound of the
        score, and the search stops if the bound excludes all remaining words.
        """
        return self._best(self.log_scores)

    def mbr_trees(self) -> list[np.ndarray]:
        """Return the tree with the highest expected number of right heads.

        Returns
        -------
        trees : list of ndarray of shape (n_i,), int
            Heads of the tree whose arcs have the highest sum of marginal probabilities,
            in the format of :meth:`best_tree`.
        """
        proba = zip(self.log_scores, self.arc_marginals(), strict=True)
        return self._best(np.where(s == -np.inf, -np.inf, q) for s, q in proba)

    def _best(self, gains: Iterable[np.ndarray]) -> list[np.ndarray]:
        """Return the tree of each sentence with the highest sum of gains."""
        trees = [best_tree(each, self.single_root) for each in gains]
        self._check_possible([heads is not None for heads in trees])
        return cast(list[np.ndarray], trees)

    def entropy(self) -> np.ndarray:
        """Return the entropy of the trees of each sentence, in nats.

        Returns
        -------
        entropy : ndarray of shape (n_sentences,)
            Entropies. The entropy is 0 if one tree has probability 1, and the logarithm
            of the number of trees if all trees are equally probable.

        Notes
        -----
        The entropy is log Z minus the expected score, which is a sum over arcs.
        """
        found = self.log_partition()
        both = zip(self.log_scores, self.arc_marginals(), strict=True)
        for i, (scores, proba) in enumerate(both):
            found[i] -= (proba * np.where(proba > 0, scores, 0)).sum()
        return np.maximum(found, 0)

    @public
    def tempered(self, temperature: float) -> TreePosterior:
        """Return the posterior whose scores are divided by a temperature.

        Parameters
        ----------
        temperature : float
            Temperature. A value above 1 makes the probabilities more even, and a value
            below 1 makes them more extreme. The best tree and the forbidden trees do
            not change.

        Returns
        -------
        posterior : TreePosterior
            Posterior in which each tree has its probability to the power of
            1 / temperature, renormalised.
        """
        check_positive(temperature, name="temperature")
        return self._with([tempered(scores, temperature) for scores in self.log_scores])


def _log_partition(scores: list[np.ndarray], single_root: bool) -> np.ndarray:
    """Return log Z of sentences, -inf where there is no tree."""
    found = np.zeros(len(scores))
    for rows in sums.stacks(lengths_of(scores)):
        stack = np.stack([scores[i] for i in rows.tolist()])
        found[rows] = sums.log_partition(stack, single_root)
    return found
