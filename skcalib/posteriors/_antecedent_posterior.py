"""Posterior distribution of antecedent choices, for example of a mention ranker."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from .._clusterings import as_clusterings, check_entries
from .._errors import ParameterError, public
from .._random import RandomStateLike, as_generator
from .._validation import check_finite, check_integer, check_positive
from . import _antecedent_algorithms as algorithms
from ._score_checks import as_antecedent_scores
from ._structure_checks import as_members

BLOCK = 2**22  # uniform numbers drawn at a time


class AntecedentPosterior:
    """Distribution over clusterings of mentions, defined by scores of antecedents.

    Mention j of a document links to one earlier mention, its antecedent, or is NEW.
    Mentions connected by links form an entity. The choices of all mentions are
    independent and have the probabilities

        p_j(k) = exp(log_scores[j, k]) / sum over k' <= j of exp(log_scores[j, k']),

    where k = j stands for NEW. The scores can come from
    :class:`~skcalib.coref.AntecedentRanker` or from a neural network.

    Parameters
    ----------
    log_scores : list of array-like of shape (n_i, n_i)
        Unnormalised scores, one array per document. Row j, column k < j is the score of
        "the antecedent of j is k"; the diagonal is the score of NEW. A score of -inf
        forbids a choice. Entries above the diagonal must be 0, -inf or NaN and are
        ignored. A document may have no mentions.

    Attributes
    ----------
    log_scores : list of ndarray of shape (n_i, n_i)
        The scores as float64, -inf above the diagonal.
    lengths : ndarray of shape (n_documents,), int
        Number of mentions of each document.

    Raises
    ------
    ValueError
        If a matrix is not square, if a score is NaN or +inf, if there is a score above
        the diagonal, or if all choices of a mention are forbidden. The message names
        the document and the mention.

    See Also
    --------
    LinearChainPosterior : Posterior over taggings of sequences.
    skcalib.coref.SampledCorefPairs : Probabilities of pairs in a pipeline.

    Notes
    -----
    The model and its sampler are described in [NO15]_, section 5, where pair
    probabilities are estimated from samples. This class computes them exactly. Let C[j,
    i] be the probability that mentions j and i < j are in the same entity, and C[i, i]
    = 1. The choice of mention j is independent of the clustering of the earlier
    mentions, and a later mention never merges two entities. Therefore C[j, i] = sum
    over k < j of p_j(k) C[k, i].

    Examples
    --------
    The document has three mentions. The second mention links to the first one with
    probability 0.8, and the third mention links to each of them with probability 0.3:

    >>> import numpy as np
    >>> from skcalib.posteriors import AntecedentPosterior
    >>> with np.errstate(divide="ignore"):
    ...     scores = np.log([[1, 0, 0], [0.8, 0.2, 0], [0.3, 0.3, 0.4]])
    >>> posterior = AntecedentPosterior([scores])
    >>> posterior.pair_marginals()[0].round(2)
    array([[1.  , 0.8 , 0.54],
           [0.8 , 1.  , 0.54],
           [0.54, 0.54, 1.  ]])
    >>> posterior.n_entities_pmf()[0].round(2)
    array([0.  , 0.48, 0.44, 0.08])
    >>> posterior.map_clusters()
    [array([0, 0, 2])]
    >>> np.exp(posterior.log_proba([["a", "a", "a"]])).round(2)
    array([0.48])
    """

    @public
    def __init__(self, log_scores: Sequence[ArrayLike] | np.ndarray):
        self.log_scores = as_antecedent_scores(log_scores)
        self.lengths = np.array(list(map(len, self.log_scores)), dtype=np.intp)

    def _with(self, log_scores: list[np.ndarray]) -> AntecedentPosterior:
        """Return a posterior with other scores, without validation."""
        new = type(self).__new__(type(self))
        new.log_scores = log_scores
        new.lengths = np.array(list(map(len, log_scores)), dtype=np.intp)
        return new

    def __len__(self) -> int:
        return len(self.log_scores)

    def __getitem__(self, documents: slice) -> AntecedentPosterior:
        """Return the posterior of a slice of the documents."""
        if not isinstance(documents, slice):
            raise TypeError(
                "AntecedentPosterior is indexed by a slice of documents. "
                f"Got {documents!r}."
            )
        return self._with(self.log_scores[documents])

    def __repr__(self) -> str:
        return (
            f"AntecedentPosterior(n_documents={len(self)}, "
            f"n_mentions={self.lengths.sum()})"
        )

    def antecedent_proba(self) -> list[np.ndarray]:
        """Return the probability of each antecedent of each mention.

        Returns
        -------
        proba : list of ndarray of shape (n_i, n_i)
            Row j contains the probabilities of the choices of mention j, with NEW on
            the diagonal and zeros above the diagonal. Rows sum to one.
        """
        return [algorithms.softmax(scores) for scores in self.log_scores]

    def pair_marginals(self) -> list[np.ndarray]:
        """Return the exact probability that two mentions are in the same entity.

        Returns
        -------
        marginals : list of ndarray of shape (n_i, n_i)
            Symmetric matrix of the pairs of mentions, with ones on the diagonal.

        Notes
        -----
        The time is O(n_i^3), spent in matrix products. The memory is O(n_i^2). On one
        core, 300 mentions take two milliseconds and 3000 mentions half a second.
        """
        return [algorithms.pair_marginals(scores) for scores in self.log_scores]

    @public
    def sample(
        self, n_samples: int, random_state: RandomStateLike = None
    ) -> list[np.ndarray]:
        """Draw independent clusterings of each document.

        Parameters
        ----------
        n_samples : int
            Number of clusterings of each document.
        random_state : int, RandomState, Generator or None, default=None
            Random state used to draw the clusterings. Each clustering uses one uniform
            number per mention, in the order of the documents. With the same seed, the
            first samples therefore do not depend on `n_samples`.

        Returns
        -------
        samples : list of ndarray of shape (n_samples, n_i), int32
            Label of each mention: the index of the first mention of its entity.

        Examples
        --------
        >>> from skcalib.posteriors import AntecedentPosterior
        >>> posterior = AntecedentPosterior([[[0, 0, 0], [0, 0, 0], [2, 0, 1]]])
        >>> posterior.sample(3, random_state=0)[0]
        array([[0, 0, 0],
               [0, 1, 2],
               [0, 1, 0]], dtype=int32)
        """
        size = check_integer(n_samples, minimum=1, name="n_samples")
        rng = as_generator(random_state)
        proba = self.antecedent_proba()
        drawn = [np.empty((n, size), dtype=np.int32) for n in self.lengths]
        ends = np.cumsum(self.lengths)
        step = max(1, BLOCK // max(1, int(self.lengths.sum())))
        for i in range(0, size, step):
            part = slice(i, min(i + step, size))
            uniform = rng.random((part.stop - i, int(self.lengths.sum())))
            own = np.split(uniform, ends[:-1], axis=1)
            for labels, rows, numbers in zip(drawn, proba, own, strict=False):
                labels[:, part] = algorithms.draw_labels(rows, numbers)
        return [labels.T for labels in drawn]

    def n_entities_pmf(self) -> list[np.ndarray]:
        """Return the distribution of the number of entities.

        Returns
        -------
        pmf : list of ndarray of shape (n_i + 1,)
            Probabilities of 0, 1, ..., n_i entities.
        """
        return [
            algorithms.n_entities_pmf(proba.diagonal())
            for proba in self.antecedent_proba()
        ]

    def singleton_proba(self) -> list[np.ndarray]:
        """Return the probability that each mention is the only mention of its entity.

        Returns
        -------
        proba : list of ndarray of shape (n_i,)
            Probabilities of the mentions of each document.
        """
        singles = []
        for proba in self.antecedent_proba():
            away = 1 - np.tril(proba, -1)
            singles.append(proba.diagonal() * away.prod(axis=0))
        return singles

    @overload
    def entity_proba(self, members: Sequence[Collection[int]]) -> np.ndarray: ...

    @overload
    def entity_proba(
        self, members: Sequence[Sequence[Collection[int]]]
    ) -> list[np.ndarray]: ...

    @public
    def entity_proba(
        self,
        members: Sequence[Collection[int]] | Sequence[Sequence[Collection[int]]],
    ) -> np.ndarray | list[np.ndarray]:
        """Return the probability that given mentions are exactly one entity.

        Parameters
        ----------
        members : sequence with one entry per document
            Each entry is a collection of mentions (their indices), or a list of such
            collections.

        Returns
        -------
        proba : ndarray of shape (n_documents,), or list of ndarray of shape (n_sets_i,)
            One number per document if each entry is one collection of mentions, or one
            array per document if entries are lists of collections.

        Examples
        --------
        >>> from skcalib.posteriors import AntecedentPosterior
        >>> posterior = AntecedentPosterior([[[0, 0, 0], [0, 0, 0], [0, 0, 0]]])
        >>> posterior.entity_proba([{0, 1}]).round(3)
        array([0.167])
        >>> posterior.entity_proba([[{0, 1}, {0, 1, 2}, {2}]])[0].round(3)
        array([0.167, 0.333, 0.333])
        """
        check_entries(members, len(self), "document", "members")
        asked = [
            as_members(entry, n, i)
            for i, (entry, n) in enumerate(
                zip(members, self.lengths.tolist(), strict=True)
            )
        ]
        found = [
            np.array([algorithms.entity_proba(proba, each) for each in sets])
            for proba, (_, sets) in zip(self.antecedent_proba(), asked, strict=True)
        ]
        kinds = {is_one for is_one, _ in asked}
        if len(kinds) > 1:
            problem = (
                "must contain one collection of mentions per document, or one list of "
                "collections per document. Got entries of both kinds."
            )
            raise ParameterError("members", problem)
        return np.concatenate(found) if kinds == {True} else found

    @public
    def log_proba(self, labels: Sequence[ArrayLike]) -> np.ndarray:
        """Return the log probability of one clustering of each document.

        Parameters
        ----------
        labels : sequence of array-like of shape (n_i,)
            Labels of the mentions, of any type. Mentions with equal labels are in one
            entity.

        Returns
        -------
        log_proba : ndarray of shape (n_documents,)
            Log probabilities of the clusterings. The probability of a clustering is the
            sum over all choices of antecedents that give the clustering. Its logarithm
            is -inf if there is no such choice. For a document without mentions, it is
            0.
        """
        log_proba = np.zeros(len(self))
        gold_scores = self._gold_scores(labels)
        for i, (scores, gold) in enumerate(
            zip(self.log_scores, gold_scores, strict=True)
        ):
            rows = algorithms.log_normaliser(gold)
            rows -= algorithms.log_normaliser(scores)
            # Rounding errors can make the logarithm of a probability of 1 positive.
            log_proba[i] = np.minimum(rows, 0).sum()
        return log_proba

    @public
    def n_unreachable(self, labels: Sequence[ArrayLike]) -> np.ndarray:
        """Return the number of mentions that make a clustering impossible.

        Parameters
        ----------
        labels : sequence of array-like of shape (n_i,)
            Labels of the mentions, of any type. Mentions with equal labels are in one
            entity.

        Returns
        -------
        n_unreachable : ndarray of shape (n_documents,), int
            Number of mentions whose correct choices are all forbidden. Either all
            antecedents in the entity of the mention are forbidden (for example, because
            the model only considers the nearest mentions), or the mention is the first
            of its entity and NEW is forbidden. If the number is positive, `log_proba`
            is -inf.

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.posteriors import AntecedentPosterior
        >>> near = [[0, 0, 0], [0, 0, 0], [-np.inf, 0, 0]]  # one mention back
        >>> posterior = AntecedentPosterior([near, near])
        >>> posterior.n_unreachable([[0, 1, 0], [0, 1, 1]])
        array([1, 0])
        """
        return np.array(
            [
                int((gold == -np.inf).all(axis=1).sum())
                for gold in self._gold_scores(labels)
            ],
            dtype=np.intp,
        )

    def _gold_scores(self, labels: Sequence[ArrayLike]) -> Iterator[np.ndarray]:
        """Yield the scores of each document, -inf where they contradict the labels."""
        clusterings = as_clusterings(labels, self.lengths.tolist(), "labels")
        for scores, clusters in zip(self.log_scores, clusterings, strict=True):
            yield algorithms.clustering_scores(scores, clusters)

    def map_clusters(self) -> list[np.ndarray]:
        """Return the clustering defined by the best antecedent of each mention.

        This is not always the most probable clustering, since the probability of a
        clustering is a sum over many choices of antecedents.

        Returns
        -------
        labels : list of ndarray of shape (n_i,), int
            Label of each mention: the index of the first mention of its entity. In case
            of ties, the antecedent with the lowest index is used, and every antecedent
            is preferred to NEW.
        """
        return [
            algorithms.follow(scores.argmax(axis=1) if scores.size else np.zeros(0))
            for scores in self.log_scores
        ]

    def mbr_clusters(self) -> list[np.ndarray]:
        """Return a clustering with a small expected number of wrong pairs.

        A local search minimises the expected number of pairs that are wrongly joined or
        wrongly separated (the exact minimum is NP-hard to find). This number is never
        larger than for the result of :meth:`map_clusters`. Moving one mention or
        merging two clusters does not reduce it.

        Returns
        -------
        labels : list of ndarray of shape (n_i,), int
            Label of each mention: the index of the first mention of its entity.
        """
        return [
            algorithms.least_pair_errors(pairs, start)
            for pairs, start in zip(
                self.pair_marginals(), self.map_clusters(), strict=True
            )
        ]

    @public
    def tempered(
        self, temperature: float, new_offset: float = 0.0
    ) -> AntecedentPosterior:
        """Return the posterior whose scores are divided by a temperature.

        Parameters
        ----------
        temperature : float
            Temperature. A value above 1 makes the probabilities of the choices more
            even, and a value below 1 makes them more extreme. Forbidden choices remain
            forbidden.
        new_offset : float, default=0.0
            Number added to each score of NEW after the division. A positive offset
            gives more entities, and a negative offset gives fewer.

        Returns
        -------
        posterior : AntecedentPosterior
            Posterior with the new scores. With an offset of 0, the best antecedents do
            not change.
        """
        divisor = check_positive(temperature, name="temperature")
        offset = check_finite(new_offset, name="new_offset")
        tempered = []
        for before in self.log_scores:
            with np.errstate(over="ignore"):
                after = before / divisor
                after[np.diag_indices_from(after)] += offset
            if (np.isinf(after) & np.isfinite(before)).any():
                problem = f"is too small: {temperature!r} makes scores infinite."
                raise ParameterError("temperature", problem)
            tempered.append(after)
        return self._with(tempered)
