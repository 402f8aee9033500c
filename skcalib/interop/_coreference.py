"""Scores of antecedents of neural coreference models, and clusters of mentions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._clusterings import check_entries
from .._errors import ParameterError, ParameterTypeError, public
from .._validation import check_choice, check_integer, is_sequence
from ..posteriors import AntecedentPosterior
from ._arrays import as_indices, as_numpy

# Models add -10000 to the scores of choices that are masked.
_MASKED = -9000.0


@public
def from_antecedent_scores(
    scores: Sequence[Any],
    antecedents: Sequence[Any] | None = None,
    *,
    dummy: str = "last",
    n_dummies: int = 1,
) -> AntecedentPosterior:
    """Return the posterior of a model that scores antecedents.

    Parameters
    ----------
    scores : sequence with a tensor for each document
        Tensors of shape (n_mentions, n_candidates + n_dummies). They contain the scores
        of the candidate antecedents of each mention, and the scores of having no
        antecedent.
    antecedents : sequence with a tensor for each document, default=None
        Integer tensors of shape (n_mentions, n_candidates) with the mention index of
        each candidate, for models that keep only the best candidates. Candidates with
        a negative index or that do not precede their mention are padding. If None,
        column k is mention k, and columns of mentions that do not precede the mention
        of the row are ignored.
    dummy : {'last', 'first'}, default='last'
        Whether the scores of having no antecedent are in the last columns (s2e-coref,
        fastcoref) or in the first columns (e2e-coref, AllenNLP, stanza).
    n_dummies : int, default=1
        Number of columns with scores of having no antecedent. The probabilities of
        these columns are added up. Pass 0 if the score of having no antecedent is
        always 0 and the model has no column for it. Models of stanza that predict
        singletons have two columns.

    Returns
    -------
    posterior : AntecedentPosterior
        Posterior over clusterings. Candidates with scores of -9000 and below, which
        models use as masks, are impossible.

    Raises
    ------
    ValueError
        If the shapes do not fit, if an index in `antecedents` is not the index of a
        mention of the document, or if a mention has two scores for the same candidate.
        The message names the document and the mention.

    See Also
    --------
    labels_from_clusters : Convert clusters to labels of mentions.
    skcalib.experimental.predicted_links : Links with their probabilities.

    Notes
    -----
    The posterior is correct for models trained with a softmax over antecedents. Models
    trained with a binary loss for each pair of mentions (maverick) compute the
    probability of each pair with a sigmoid. Pass these probabilities to
    :meth:`skcalib.queries.CorefPairQuery.from_proba`.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.interop import from_antecedent_scores
    >>> scores = [np.array([[-1e4, -1e4, 0.0], [2.0, -1e4, 0.0]])]
    >>> from_antecedent_scores(scores).pair_marginals()[0].round(2)
    array([[1.  , 0.88],
           [0.88, 1.  ]])

    The same posterior, with the dummy in the first column and one candidate for each
    mention:

    >>> scores, antecedents = [np.array([[0, -np.inf], [0, 2.0]])], [[[0], [0]]]
    >>> posterior = from_antecedent_scores(scores, antecedents, dummy="first")
    >>> posterior.pair_marginals()[0].round(2)
    array([[1.  , 0.88],
           [0.88, 1.  ]])
    """
    check_choice(dummy, ("last", "first"), name="dummy")
    count = check_integer(n_dummies, minimum=0, name="n_dummies")
    check_entries(scores, None, "document", "scores")
    if antecedents is not None:
        check_entries(antecedents, len(scores), "document", "antecedents")
    matrices = []
    for i, each in enumerate(scores):
        rows = as_numpy(each, "scores").astype(np.float64)
        if rows.ndim != 2:
            raise ParameterError(
                "scores",
                "must have shape (n_mentions, n_candidates + n_dummies) for each "
                f"document. Got shape {rows.shape} for document {i}."
                + " Put a single document into a list."
                * (rows.ndim == 1),
            )
        size = rows.shape[1] - count
        columns = slice(0, size) if dummy == "last" else slice(count, None)
        dummies = np.delete(rows, columns, axis=1)
        # NEW has the sum of the probabilities of all dummies.
        new = np.logaddexp.reduce(dummies, axis=1) if count else np.zeros(len(rows))
        places = None
        if antecedents is not None:
            places = as_indices(antecedents[i], "antecedents")
        matrices.append(_matrix(rows[:, columns], new, places, i))
    return AntecedentPosterior(matrices)


def _matrix(
    rows: np.ndarray, new: np.ndarray, places: np.ndarray | None, i: int
) -> np.ndarray:
    """Return the scores of a document as AntecedentPosterior takes them."""
    n = len(rows)
    matrix = np.full((n, n), -np.inf)
    if places is None:
        if rows.shape[1] not in (n, max(0, n - 1)):
            raise ParameterError(
                "scores",
                "must have one column per mention, and the columns of having no "
                f"antecedent. Got {rows.shape[1]} columns for the {n} mentions of "
                f"document {i}: see 'n_dummies', or pass 'antecedents'.",
            )
        matrix[:, : rows.shape[1]] = rows
    else:
        if places.shape != rows.shape:
            raise ParameterError(
                "antecedents",
                "must have the shape of the scores of candidates. Got shape "
                f"{places.shape} and {rows.shape} for document {i}.",
            )
        is_earlier = (places >= 0) & (places < np.arange(n)[:, None])
        is_candidate = is_earlier & ~(rows <= _MASKED)
        _check_candidates(places, is_candidate, i)
        j, column = np.nonzero(is_candidate)
        matrix[j, places[j, column]] = rows[j, column]
    matrix[matrix <= _MASKED] = -np.inf
    # Columns of the mention itself and of later mentions may contain any numbers.
    matrix[np.triu_indices(n)] = -np.inf
    matrix[np.diag_indices(n)] = new
    return matrix


def _check_candidates(places: np.ndarray, is_candidate: np.ndarray, i: int) -> None:
    """Raise an error for candidates that do not exist, or that have two scores."""
    n = len(places)
    beyond = places >= n
    if beyond.any():
        j, column = np.argwhere(beyond)[0].tolist()
        raise ParameterError(
            "antecedents",
            f"must contain mention indices below {n}, the number of mentions. Got "
            f"{places[j, column]} for mention {j} of document {i}. If a model returns "
            "indices of spans, map them to the indices of the kept mentions.",
        )
    # n stands for padding and for masked candidates, which may occur repeatedly
    ordered = np.sort(np.where(is_candidate, places, n), axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] < n)
    if twice.any():
        j, column = np.argwhere(twice)[0].tolist()
        raise ParameterError(
            "antecedents",
            "must have each candidate of a mention once. Got mention "
            f"{ordered[j, column]} twice for mention {j} of document {i}.",
        )


class ClusterLabels(NamedTuple):
    """Labels of mentions, the mentions, and the number of mentions left out."""

    labels: list[list[int]]
    mentions: list[list[Any]]
    n_missing: int


@public
def labels_from_clusters(
    clusters: Sequence[Sequence[Sequence[Any]]],
    mentions: Sequence[Sequence[Any]] | None = None,
) -> ClusterLabels:
    """Convert clusters of mentions to labels of mentions.

    The result is a named tuple.

    Parameters
    ----------
    clusters : sequence with a list of clusters for each document
        Clusters of each document. A cluster is a list of mentions such as [start, end].
        This is the format of "clusters" in a line of a .jsonlines file, and of the
        clusters of fastcoref, maverick, s2e-coref and AllenNLP.
    mentions : sequence of sequences, default=None
        Mentions of each document to label, for example the mentions that a model kept.
        A mention that is in no cluster gets a label of
        its own, and equal mentions get the same label. If None, the mentions in the
        clusters are labelled, in sorted order.

    Returns
    -------
    labels : list of list of int
        Label of each mention of each document, in the format of queries and posteriors.
        Mentions with equal labels refer to the same entity.
    mentions : list of list
        Mentions of each document.
    n_missing : int
        Number of mentions in clusters that are not among `mentions`. Links to these
        mentions are not part of queries or counts.

    Raises
    ------
    ValueError
        If a mention is in two clusters.

    See Also
    --------
    skcalib.datasets.read_conllu : Documents of CorefUD, with their mentions.
    skcalib.coref.coref_scores : Scores of clusterings.

    Examples
    --------
    >>> from skcalib.interop import labels_from_clusters
    >>> found = labels_from_clusters([[[[0, 1], [5, 5]], [[2, 3]]]])
    >>> found.mentions, found.labels
    ([[(0, 1), (2, 3), (5, 5)]], [[0, 1, 0]])
    >>> labels_from_clusters([[[[0, 1], [5, 5]]]], [[(0, 1), (4, 4)]])
    ClusterLabels(labels=[[0, 1]], mentions=[[(0, 1), (4, 4)]], n_missing=1)
    """
    if not is_sequence(clusters) or not all(map(is_sequence, clusters)):
        raise ParameterTypeError(
            "clusters",
            "must be a list with a list of clusters for each document. Got "
            f"{clusters!r:.80}.",
        )
    if mentions is not None:
        check_entries(mentions, len(clusters), "document", "mentions")
        for each in mentions:
            check_entries(each, None, "mention", "mentions")
    labels, kept, n_missing = [], [], 0
    for i, document in enumerate(clusters):
        entity: dict[Any, int] = {}
        for k, cluster in enumerate(document):
            for mention in map(_key, cluster):
                if entity.setdefault(mention, k) != k:
                    raise ParameterError(
                        "clusters",
                        "must have each mention in one cluster. Mention "
                        f"{mention!r} of document {i} is in clusters "
                        f"{entity[mention]} and {k}.",
                    )
        here = sorted(entity) if mentions is None else list(map(_key, mentions[i]))
        n_missing += len(entity.keys() - set(here))
        number: dict[Any, int] = {}
        # A mention in no cluster has the key (m,), which is not a number of a cluster.
        own = [entity.get(m, (m,)) for m in here]
        labels.append([number.setdefault(key, len(number)) for key in own])
        kept.append(here)
    return ClusterLabels(labels, kept, n_missing)


def _key(mention: Any) -> Hashable:
    """Return a mention as a key; JSON has lists, models have tensors and arrays."""
    if hasattr(mention, "tolist"):
        mention = mention.tolist()
    return tuple(map(_key, mention)) if isinstance(mention, (list, tuple)) else mention
