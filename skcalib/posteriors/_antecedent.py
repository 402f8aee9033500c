"""Posterior of antecedent choices: what a mention ranker believes of a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._random import as_generator
from .._validation import check_finite, check_integer, check_positive
from . import _clusterings
from ._antecedent_checks import as_clusterings, as_log_scores, as_members
from ._checks import check_entries
from ._least_pair_errors import least_pair_errors

BLOCK = 2**22  # uniform numbers drawn at a time


class AntecedentPosterior:
    """Distribution over clusterings of mentions, from scores of their antecedents.

    Mention j of a document links to one mention before it, its antecedent, or is NEW;
    mentions that links connect are an entity. The choices are independent and have
    probability

        p_j(k) = exp(log_scores[j, k]) / sum over k' <= j of exp(log_scores[j, k']),

    where k = j stands for NEW. The scores come from anywhere: a ranker trained here, a
    neural network's outputs.

    Parameters
    ----------
    log_scores : list of array-like of shape (n_i, n_i)
        Scores of each document, unnormalised: row j, column k < j for "the antecedent
        of j is k", the diagonal for NEW; -inf forbids. Above the diagonal stands 0,
        -inf or NaN, and is not read. A document may have no mention.

    Attributes
    ----------
    log_scores : list of ndarray of shape (n_i, n_i)
        The scores as float64, -inf above the diagonal.
    lengths : ndarray of shape (n_documents,), int
        Number of mentions of each document.

    Raises
    ------
    ValueError
        If a matrix is not square, a score is NaN or +inf, a score stands above the
        diagonal, or a mention is left neither antecedent nor NEW; the message names the
        document and the mention.

    See Also
    --------
    LinearChainPosterior : The same for taggings.
    skcalib.coref.SampledCorefPairs : Probabilities of pairs in a pipeline.

    Notes
    -----
    The model and its sampler are those of [NO15]_, section 5. Pair probabilities,
    there estimated from samples, are exact here: the choice of j is independent of
    the clustering of the mentions before j, and no later mention joins two clusters, so
    C[j, i] = sum over k < j of p_j(k) C[k, i].

    Examples
    --------
    Three mentions; the second links to the first with probability 0.8, the third to
    either with 0.3:

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

    def __init__(self, log_scores: Any):
        self.log_scores = as_log_scores(log_scores)
        self.lengths = np.array(list(map(len, self.log_scores)), dtype=np.intp)

    def _with(self, log_scores: list[np.ndarray]) -> AntecedentPosterior:
        """Return a posterior of other scores, which are clean."""
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
            Row j for mention j, NEW on the diagonal, 0 above; rows sum to one.
        """
        return [_clusterings.softmax(scores) for scores in self.log_scores]

    def pair_marginals(self) -> list[np.ndarray]:
        """Return the probability of each two mentions to be in one entity, exactly.

        Returns
        -------
        marginals : list of ndarray of shape (n_i, n_i)
            Symmetric, with ones on the diagonal.

        Notes
        -----
        Time O(n_i^3), as matrix products; memory O(n_i^2). On one core 300 mentions
        take two milliseconds, 3000 half a second.
        """
        return [_clusterings.pair_marginals(scores) for scores in self.log_scores]

    def sample(self, n_samples: int, random_state: Any = None) -> list[np.ndarray]:
        """Draw clusterings.

        Parameters
        ----------
        n_samples : int
            Number of clusterings of each document; they are independent.
        random_state : int, RandomState, Generator or None, default=None
            The same seed gives the same clusterings of these documents, and fewer
            samples are the first of more. Each clustering takes one uniform number for
            each mention of all documents, in their order.

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
        caller = "AntecedentPosterior.sample"
        size = check_integer(n_samples, minimum=1, name="n_samples", caller=caller)
        rng = as_generator(random_state, caller=caller)
        proba = self.antecedent_proba()
        drawn = [np.empty((n, size), dtype=np.int32) for n in self.lengths]
        ends = np.cumsum(self.lengths)
        step = max(1, BLOCK // max(1, int(self.lengths.sum())))
        for i in range(0, size, step):
            part = slice(i, min(i + step, size))
            uniform = rng.random((part.stop - i, int(self.lengths.sum())))
            own = np.split(uniform, ends[:-1], axis=1)
            for labels, rows, numbers in zip(drawn, proba, own, strict=False):
                labels[:, part] = _clusterings.draw_labels(rows, numbers)
        return [labels.T for labels in drawn]

    def n_entities_pmf(self) -> list[np.ndarray]:
        """Return the distribution of the number of entities.

        Returns
        -------
        pmf : list of ndarray of shape (n_i + 1,)
            The probability of 0, 1, ..., n_i entities.
        """
        return [
            _clusterings.n_entities_pmf(proba.diagonal())
            for proba in self.antecedent_proba()
        ]

    def singleton_proba(self) -> list[np.ndarray]:
        """Return the probability of each mention to be the only one of its entity.

        Returns
        -------
        proba : list of ndarray of shape (n_i,)
        """
        singles = []
        for proba in self.antecedent_proba():
            away = 1 - np.tril(proba, -1)
            singles.append(proba.diagonal() * away.prod(axis=0))
        return singles

    def entity_proba(self, members: Sequence[Any]) -> Any:
        """Return the probability that mentions are one entity, with nothing else in it.

        Parameters
        ----------
        members : sequence with an entry for each document
            An entry is a collection of mentions (their indices), or for several
            questions to a document a list of such collections.

        Returns
        -------
        proba : ndarray of shape (n_documents,), or list of ndarray of shape (n_sets_i,)
            One number for each document if an entry is one collection of mentions; one
            array for each document if entries are lists of collections.

        Examples
        --------
        >>> from skcalib.posteriors import AntecedentPosterior
        >>> posterior = AntecedentPosterior([[[0, 0, 0], [0, 0, 0], [0, 0, 0]]])
        >>> posterior.entity_proba([{0, 1}]).round(3)
        array([0.167])
        >>> posterior.entity_proba([[{0, 1}, {0, 1, 2}, {2}]])[0].round(3)
        array([0.167, 0.333, 0.333])
        """
        caller = "AntecedentPosterior.entity_proba"
        check_entries(members, len(self), "document", "members", caller)
        asked = [
            as_members(entry, n, i)
            for i, (entry, n) in enumerate(
                zip(members, self.lengths.tolist(), strict=True)
            )
        ]
        found = [
            np.array([_clusterings.entity_proba(proba, each) for each in sets])
            for proba, (_, sets) in zip(self.antecedent_proba(), asked, strict=True)
        ]
        kinds = {is_one for is_one, _ in asked}
        if len(kinds) > 1:
            raise ValueError(
                f"The 'members' parameter of {caller} must hold one collection of "
                "mentions for each document, or a list of collections for each. Got "
                "some of both."
            )
        return np.concatenate(found) if kinds == {True} else found

    def log_proba(self, labels: Sequence[Any]) -> np.ndarray:
        """Return the log probability of one clustering of each document.

        Parameters
        ----------
        labels : sequence of array-like of shape (n_i,)
            Labels of the mentions, of any kind: equal ones are in one entity.

        Returns
        -------
        log_proba : ndarray of shape (n_documents,)
            Summed over all choices of antecedents that give the clustering: -inf if
            there is none, 0 for a document without mentions.
        """
        log_proba = np.zeros(len(self))
        gold_scores = self._gold_scores(labels, "AntecedentPosterior.log_proba")
        for i, (scores, gold) in enumerate(
            zip(self.log_scores, gold_scores, strict=True)
        ):
            rows = _clusterings.log_normaliser(gold)
            rows -= _clusterings.log_normaliser(scores)
            # rounding may leave a certain choice a little above 0
            log_proba[i] = np.minimum(rows, 0).sum()
        return log_proba

    def n_unreachable(self, labels: Sequence[Any]) -> np.ndarray:
        """Return how many mentions keep a clustering from being possible.

        Parameters
        ----------
        labels : sequence of array-like of shape (n_i,)
            Labels of the mentions, of any kind: equal ones are in one entity.

        Returns
        -------
        n_unreachable : ndarray of shape (n_documents,), int
            Number of mentions none of whose right choices is allowed: all antecedents
            in its entity are forbidden, as where a model looks back so far only; or for
            the first of an entity NEW is. Where there is one, `log_proba` is -inf.

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.posteriors import AntecedentPosterior
        >>> near = [[0, 0, 0], [0, 0, 0], [-np.inf, 0, 0]]  # one mention back
        >>> posterior = AntecedentPosterior([near, near])
        >>> posterior.n_unreachable([[0, 1, 0], [0, 1, 1]])
        array([1, 0])
        """
        gold_scores = self._gold_scores(labels, "AntecedentPosterior.n_unreachable")
        return np.array(
            [int((gold == -np.inf).all(axis=1).sum()) for gold in gold_scores],
            dtype=np.intp,
        )

    def _gold_scores(self, labels: Any, caller: str) -> Iterator[np.ndarray]:
        """Yield the scores of each document, -inf where a clustering forbids it."""
        clusterings = as_clusterings(labels, self.lengths.tolist(), "labels", caller)
        for scores, clusters in zip(self.log_scores, clusterings, strict=True):
            yield _clusterings.clustering_scores(scores, clusters)

    def map_clusters(self) -> list[np.ndarray]:
        """Return the clustering that the best antecedents give.

        It need not be the most probable clustering, whose probability is summed over
        many choices of antecedents.

        Returns
        -------
        labels : list of ndarray of shape (n_i,), int
            Label of each mention: the index of the first mention of its entity. Among
            equal scores the lowest index wins, and NEW comes last.
        """
        return [
            _clusterings.follow(scores.argmax(axis=1) if scores.size else np.zeros(0))
            for scores in self.log_scores
        ]

    def mbr_clusters(self) -> list[np.ndarray]:
        """Return a clustering with few wrong pairs to be expected.

        The expected number of pairs that are joined or parted wrongly is made small by
        a local search (to find the least is NP-hard); it is never more than that of
        :meth:`map_clusters`, and moving a mention or merging two clusters does not
        lessen it.

        Returns
        -------
        labels : list of ndarray of shape (n_i,), int
            Label of each mention: the index of the first mention of its entity.
        """
        return [
            least_pair_errors(pairs, start)
            for pairs, start in zip(
                self.pair_marginals(), self.map_clusters(), strict=True
            )
        ]

    def tempered(
        self, temperature: float, new_offset: float = 0.0
    ) -> AntecedentPosterior:
        """Return the posterior whose scores are divided by a temperature.

        Parameters
        ----------
        temperature : float
            More than 1 makes the choices more even, less than 1 more extreme. What is
            forbidden stays so.
        new_offset : float, default=0.0
            Added to each score of NEW after the division: more than 0 gives more
            entities, less than 0 fewer.

        Returns
        -------
        posterior : AntecedentPosterior
            With an offset of 0, the best antecedents stay.
        """
        caller = "AntecedentPosterior.tempered"
        divisor = check_positive(temperature, name="temperature", caller=caller)
        offset = check_finite(new_offset, name="new_offset", caller=caller)
        tempered = []
        for before in self.log_scores:
            with np.errstate(over="ignore"):
                after = before / divisor
                after[np.diag_indices_from(after)] += offset
            if (np.isinf(after) & np.isfinite(before)).any():
                raise ValueError(
                    f"The 'temperature' parameter of {caller} is too small: "
                    f"{temperature!r} makes scores infinite."
                )
            tempered.append(after)
        return self._with(tempered)
