"""Posterior distribution of antecedent choices, for example of a mention ranker.

Algorithms on the antecedents of one document, from arrays to arrays.

Mentions are numbered from 0 to n - 1. `scores` and `proba` have shape (n, n). Row j
contains the earlier mentions as antecedents of mention j, followed by NEW on the
diagonal. Above the diagonal, scores are -inf and probabilities are 0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.blas import dtrsv
from scipy.linalg.lapack import dtrtri
from scipy.sparse import csr_array

from .._clusterings import as_clusterings, each_entry
from .._errors import ParameterError, public
from .._parallel import RandomStateLike, as_generator
from .._validation import check_finite, check_integer, check_positive
from ._chain import log_sum
from ._checks import (
    ScoreMatrices,
    as_antecedent_scores,
    as_members,
    check_slice,
    entries_of,
    lengths_of,
    tempered,
    warn_of_proba,
)

BLOCK = 48


def softmax(scores: np.ndarray) -> np.ndarray:
    """Return the probabilities of each row."""
    with np.errstate(over="ignore"):
        proba = scores - scores.max(axis=1, keepdims=True, initial=-np.inf)
    np.exp(proba, out=proba)
    proba /= proba.sum(axis=1, keepdims=True)
    return proba


def pair_marginals(scores: np.ndarray) -> np.ndarray:
    """Return the probability that two mentions are in the same entity, for each pair.

    A mention joins the entity of its antecedent, which is determined earlier. Row j is
    therefore the mean of the rows of its antecedents. Blocks of rows are computed by
    matrix products.
    """
    n = len(scores)
    pairs = np.empty((n, n))
    for a in range(0, n, BLOCK):
        b = min(a + BLOCK, n)
        # theory, (A1), for a block of rows
        proba = softmax(scores[a:b, :b])
        # row j: probability that a mention of the block is on the chain of links from j
        chain = _chains(proba[:, a:])
        if a:
            entry = chain @ proba[:, :a]  # first mention before the block
            before = entry @ pairs[:a, :a]
            # the chance that both chains leave the block and meet before it
            outside = before @ entry.T
            np.minimum(before, 1, out=pairs[a:b, :a])
            pairs[:a, a:b] = pairs[a:b, :a].T
        else:
            outside = np.zeros((b, b))
        pairs[a:b, a:b] = _inside(chain, outside)
    return pairs


def _chains(proba: np.ndarray) -> np.ndarray:
    """Return the inverse of I - L, where L contains the links within a block."""
    links = np.negative(proba)
    np.fill_diagonal(links, 1)
    # LAPACK is column-major, so it reads the transpose.
    inverse, _ = dtrtri(links.T, lower=0, unitdiag=1, overwrite_c=1)
    return inverse.T


def _inside(chain: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """Return the pair probabilities of a block.

    Two independently drawn chains of links meet with the probability that their
    mentions are in the same entity. The last common mention is in the block or before
    it (`outside`). `apart` is the probability that two chains from a mention never meet
    again. It is determined by the pair probability of a mention with itself, which is
    1.
    """
    square = (chain * chain).T
    # theory, (A4), right
    apart = dtrsv(square, 1 - outside.diagonal(), lower=0, trans=1, diag=1)
    np.maximum(apart, 0, out=apart)  # rounding errors can give -1e-16
    # theory, (A4), left
    pairs = outside + (chain * apart) @ chain.T
    # symmetric to the last digit
    pairs += pairs.T.copy()
    pairs *= 0.5
    np.fill_diagonal(pairs, 1)
    return np.minimum(pairs, 1, out=pairs)


def draw_labels(proba: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Return sampled labels, the first mention of each mention's entity.

    uniform : (n_samples, n), in [0, 1). Returns (n, n_samples), int32.
    """
    n, n_samples = len(proba), len(uniform)
    labels = np.empty((n, n_samples), dtype=np.int32)
    each = np.arange(n_samples)
    sums = proba.cumsum(axis=1)
    for j in range(n):
        total = sums[j, j]
        # Ties are resolved so that choices of probability 0 are never drawn.
        target = np.minimum(uniform[:, j] * total, np.nextafter(total, 0))
        antecedent = np.searchsorted(sums[j, : j + 1], target, side="right")
        labels[j] = j
        # NEW is j itself, so its label is j.
        labels[j] = labels[antecedent, each]
    return labels


def follow(antecedents: np.ndarray) -> np.ndarray:
    """Return the first mention of each mention's entity."""
    labels: list[int] = []
    for j, k in enumerate(antecedents.tolist()):
        labels.append(j if k == j else labels[k])
    return np.array(labels, dtype=np.intp)


def n_entities_pmf(new: np.ndarray) -> np.ndarray:
    """Return the probability of 0, 1, ... successes of independent trials."""
    pmf = np.ones(1)
    for p in new:
        # theory, (E1) has the moments of this distribution
        pmf = np.convolve(pmf, [1 - p, p])
    return pmf


def entity_proba(proba: np.ndarray, members: np.ndarray) -> float:
    """Return the probability that sorted mentions are exactly one entity."""
    first = members[0]
    rows = proba[first + 1 :, members]
    # the diagonal is NEW, no link to a member
    rows[members[1:] - first - 1, np.arange(1, len(members))] = 0
    # theory, (A2): p_j(M), which a member needs and any other mention avoids
    link = rows.sum(axis=1)
    away = np.maximum(1 - link, 0)
    away[members[1:] - first - 1] = link[members[1:] - first - 1]
    return float(proba[first, first] * away.prod())


def clustering_scores(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return scores with -inf for every choice that does not give the clustering."""
    n = len(labels)
    # theory, (A3): earlier mentions of the same entity, or NEW for the first
    allowed = np.equal.outer(labels, labels)
    allowed &= np.tri(n, k=-1, dtype=bool)
    first = ~allowed.any(axis=1)
    allowed[first, first] = True
    return np.where(allowed, scores, -np.inf)


# A local search minimises the expected number of wrong pairs of a clustering. The exact
# minimum is NP-hard to find (correlation clustering). The gain of a pair in one cluster
# is its probability minus one half.


def least_pair_errors(pairs: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return labels: the first mention of each mention's cluster.

    No move of one mention and no merge of two clusters reduces the expected number of
    errors. The search is run twice, from `start` and from one cluster per mention. The
    better result is returned, so it is never worse than `start`.
    """
    gain = pairs - 0.5
    np.fill_diagonal(gain, 0)
    alone = np.arange(len(pairs))
    ends = [_search(gain, labels) for labels in (start, alone)]
    values = [gain[np.equal.outer(labels, labels)].sum() for labels in ends]
    return ends[1] if values[1] > values[0] + _margin(gain) else ends[0]


def _margin(gain: np.ndarray) -> float:
    """Return the smallest relevant gain, above rounding errors, so the search ends."""
    return 1e-12 * (1 + len(gain))


def _search(gain: np.ndarray, labels: np.ndarray) -> np.ndarray:
    labels = labels.copy()
    # `|` and not `or`: both run in every round
    while _merge(gain, labels) | _move(gain, labels):
        pass
    first = np.full(len(labels), len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    return first[labels]


def _by_cluster(gain: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return the sums of rows by cluster; `place` numbers the clusters from 0."""
    # sparse, because a product of dense matrices would be cubic
    n, shape = place.size, (int(place.max(initial=-1)) + 1, place.size)
    return csr_array((np.ones(n), (place, np.arange(n))), shape) @ gain


def _merge(gain: np.ndarray, labels: np.ndarray) -> bool:
    """Merge the two clusters with the largest gain, until no merge has a gain."""
    names, place = np.unique(labels, return_inverse=True)
    if names.size < 2:
        return False
    between = _by_cluster(_by_cluster(gain, place).T, place)
    np.fill_diagonal(between, -np.inf)
    partner = between.argmax(axis=1)
    best = between.max(axis=1)
    changed = False
    while best.max() > _margin(gain):
        a = int(best.argmax())
        b = int(partner[a])
        between[a] += between[b]
        between[:, a] = between[a]
        between[b] = between[:, b] = between[a, a] = -np.inf
        place[place == b] = a
        # Most rows keep their partner; only rows that lost it are searched again.
        stale = (partner == a) | (partner == b) | (between[:, a] > best)
        stale[[a, b]] = True
        partner[stale] = between[stale].argmax(axis=1)
        best[stale] = between[stale].max(axis=1)
        changed = True
    labels[:] = names[place]
    return changed


def _move(gain: np.ndarray, labels: np.ndarray) -> bool:
    """Move each mention once to the cluster with the largest gain."""
    n = len(labels)
    names, place = np.unique(labels, return_inverse=True)
    # column c: gain of a mention in cluster c; an empty cluster is a new cluster
    fit = np.zeros((n, n))
    fit[:, names] = _by_cluster(gain, place).T
    changed = False
    for j in range(n):
        to = int(fit[j].argmax())
        if fit[j, to] > fit[j, labels[j]] + _margin(gain):
            fit[:, labels[j]] -= gain[:, j]
            fit[:, to] += gain[:, j]
            labels[j] = to
            changed = True
    return changed


DRAWN = 2**22  # uniform numbers drawn at a time


class AntecedentPosterior(ScoreMatrices):
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
        parts = entries_of(log_scores, "log_scores", "a square array for", "document")
        self.log_scores: list[np.ndarray] = [
            as_antecedent_scores(part, i) for i, part in enumerate(parts)
        ]
        self.lengths: np.ndarray = lengths_of(self.log_scores)
        warn_of_proba(self.log_scores, "log_scores")

    def __getitem__(self, documents: slice) -> AntecedentPosterior:
        """Return the posterior of a slice of the documents."""
        check_slice(self, documents, "documents")
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
        return [softmax(scores) for scores in self.log_scores]

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
        return [pair_marginals(scores) for scores in self.log_scores]

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
        step = max(1, DRAWN // max(1, int(self.lengths.sum())))
        for i in range(0, size, step):
            part = slice(i, min(i + step, size))
            uniform = rng.random((part.stop - i, int(self.lengths.sum())))
            own = np.split(uniform, ends[:-1], axis=1)
            for labels, rows, numbers in zip(drawn, proba, own, strict=False):
                labels[:, part] = draw_labels(rows, numbers)
        return [labels.T for labels in drawn]

    def n_entities_pmf(self) -> list[np.ndarray]:
        """Return the distribution of the number of entities.

        Returns
        -------
        pmf : list of ndarray of shape (n_i + 1,)
            Probabilities of 0, 1, ..., n_i entities.
        """
        return [n_entities_pmf(proba.diagonal()) for proba in self.antecedent_proba()]

    def singleton_proba(self) -> list[np.ndarray]:
        """Return the probability that each mention is the only mention of its entity.

        Returns
        -------
        proba : list of ndarray of shape (n_i,)
            Probabilities of the mentions of each document.
        """
        return [
            proba.diagonal() * (1 - np.tril(proba, -1)).prod(axis=0)
            for proba in self.antecedent_proba()
        ]

    @public
    def entity_proba(
        self, members: Sequence[Collection[int]] | Sequence[Sequence[Collection[int]]]
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
        lengths = self.lengths.tolist()
        asked = [
            as_members(entry, n, i)
            for i, entry, n in each_entry(members, lengths, "document", "members")
        ]
        found = [
            np.array([entity_proba(proba, each) for each in sets])
            for proba, (_, sets) in zip(self.antecedent_proba(), asked, strict=True)
        ]
        kinds = {is_one for is_one, _ in asked}
        if len(kinds) > 1:
            raise ParameterError(
                "members",
                "must contain one collection of mentions per document, or one list of "
                "collections per document. Got entries of both kinds.",
            )
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
        both = zip(self.log_scores, self._gold_scores(labels), strict=True)
        for i, (scores, gold) in enumerate(both):
            rows = log_sum(gold, axis=1) - log_sum(scores, axis=1)
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
        gold_scores = self._gold_scores(labels)
        found = [(gold == -np.inf).all(axis=1).sum() for gold in gold_scores]
        return np.array(found, dtype=np.intp)

    def _gold_scores(self, labels: Sequence[ArrayLike]) -> Iterator[np.ndarray]:
        """Yield the scores of each document, -inf where they contradict the labels."""
        clusterings = as_clusterings(labels, self.lengths.tolist(), "labels")
        for scores, clusters in zip(self.log_scores, clusterings, strict=True):
            yield clustering_scores(scores, clusters)

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
            follow(scores.argmax(axis=1) if scores.size else np.zeros(0))
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
        both = zip(self.pair_marginals(), self.map_clusters(), strict=True)
        return [least_pair_errors(pairs, start) for pairs, start in both]

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
        check_positive(temperature, name="temperature")
        offset = check_finite(new_offset, name="new_offset")
        found = [tempered(scores, temperature) for scores in self.log_scores]
        for scores in found:
            scores[np.diag_indices_from(scores)] += offset
        return self._with(found)
