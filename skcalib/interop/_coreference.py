"""Scores of antecedents of neural coreference models, and clusters of mentions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._errors import ParameterError, ParameterTypeError, public
from .._validation import check_choice, check_integer
from ..posteriors import AntecedentPosterior
from ._arrays import as_numpy

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
        Tensors of shape (n_mentions, n_candidates + n_dummies): the scores of the
        candidate antecedents of each mention, and of having none.
    antecedents : sequence with a tensor for each document, default=None
        Tensors of int of shape (n_mentions, n_candidates): the mention of each
        candidate, where a model keeps the best candidates only. Candidates that are not
        before their mention are padding. If None, column k is mention k, and what is
        not before a mention is not read.
    dummy : {'last', 'first'}, default='last'
        Whether the scores of having no antecedent are in the last columns (s2e-coref,
        fastcoref) or in the first ones (e2e-coref, AllenNLP, stanza).
    n_dummies : int, default=1
        Number of these columns. Their probabilities are added up. 0 if the score of
        having no antecedent is always 0 and the model has no column for it. Models of
        stanza that predict singletons have two columns.

    Returns
    -------
    posterior : AntecedentPosterior
        Scores of -9000 and below, by which models mask choices, are impossible.

    See Also
    --------
    from_fastcoref : The same from the results of fastcoref.
    labels_from_clusters : Labels of mentions by clusters.
    skcalib.queries.predicted_links : Links with their probabilities.

    Notes
    -----
    The posterior is right for models trained with a softmax over antecedents. Models
    trained with a binary loss for each pair of mentions (maverick) give a probability
    by a sigmoid for each pair: pass these to
    :meth:`skcalib.queries.CorefPairQuery.from_proba`.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.interop import from_antecedent_scores
    >>> scores = [np.array([[-1e4, -1e4, 0.0], [2.0, -1e4, 0.0]])]
    >>> from_antecedent_scores(scores).pair_marginals()[0].round(2)
    array([[1.  , 0.88],
           [0.88, 1.  ]])

    The same with a dummy in the first column and one candidate for each mention:

    >>> scores, antecedents = [np.array([[0, -np.inf], [0, 2.0]])], [[[0], [0]]]
    >>> posterior = from_antecedent_scores(scores, antecedents, dummy="first")
    >>> posterior.pair_marginals()[0].round(2)
    array([[1.  , 0.88],
           [0.88, 1.  ]])
    """
    check_choice(dummy, ("last", "first"), name="dummy")
    count = check_integer(n_dummies, minimum=0, name="n_dummies")
    if antecedents is not None and len(antecedents) != len(scores):
        raise ParameterError(
            None,
            "needs 'antecedents' for each document of 'scores'. Got "
            f"{len(antecedents)} and {len(scores)}.",
        )
    matrices = []
    for i, each in enumerate(scores):
        rows = as_numpy(each, "scores").astype(np.float64)
        if rows.ndim != 2:
            raise ParameterError(
                "scores",
                "must have shape (n_mentions, n_candidates + n_dummies) for each "
                f"document. Got shape {rows.shape} for document {i}.",
            )
        size = rows.shape[1] - count
        columns = slice(0, size) if dummy == "last" else slice(count, None)
        dummies = np.delete(rows, columns, axis=1)
        new = np.logaddexp.reduce(dummies, axis=1) if count else np.zeros(len(rows))
        places = None
        if antecedents is not None:
            places = as_numpy(antecedents[i], "antecedents").astype(np.intp)
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
                "must have a column for each mention, and those of having no "
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
        before = (places >= 0) & (places < np.arange(n)[:, None])
        j, column = np.nonzero(before)
        matrix[j, places[j, column]] = rows[j, column]
    matrix[matrix <= _MASKED] = -np.inf
    matrix[np.triu_indices(n)] = -np.inf
    matrix[np.diag_indices(n)] = new
    return matrix


@public
def from_fastcoref(
    results: Sequence[Any],
) -> tuple[AntecedentPosterior, list[list[tuple[int, int]]]]:
    """Return the posterior of fastcoref's models, and their mentions.

    Parameters
    ----------
    results : sequence of CorefResult
        What ``FCoref().predict(texts)`` and ``LingMessCoref().predict(texts)`` return.

    Returns
    -------
    posterior : AntecedentPosterior
        Posterior over the clusterings of the mentions that the model kept. Mentions
        without antecedent and without anaphor in the best clustering are among them:
        many of these are no mentions of anything.
    mentions : list of list of (start, end)
        First character of each mention of a text, and the character after its last one.
        Mentions of different pieces of the same words have the same characters.

    See Also
    --------
    from_antecedent_scores : The same from arrays of any model.
    labels_from_clusters : Labels of these mentions by true clusters.
    skcalib.queries.predicted_links : Links with their probabilities.

    Notes
    -----
    ``result.get_logit(a, b)`` is the score of a link before the softmax over all
    antecedents of the later mention; it is not a probability, and does not see the
    links of other mentions. `predicted_links` with ``kind="pair"`` is the probability
    that both are the same entity.

    Examples
    --------
    With fastcoref, ``from_fastcoref(model.predict(texts))``. What is used of a result:

    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from skcalib.interop import from_fastcoref
    >>> result = SimpleNamespace(
    ...     coref_logit=np.array([[-1e4, -1e4, 0.0], [2.0, -1e4, 0.0]]),
    ...     char_map={(1, 1): (0, (0, 3)), (3, 3): (1, (9, 12)), (7, 7): (None, None)},
    ... )
    >>> posterior, mentions = from_fastcoref([result])
    >>> mentions, posterior.antecedent_proba()[0][1].round(2)
    ([[(0, 3), (9, 12)]], array([0.88, 0.12]))
    """
    scores, mentions = [], []
    for i, result in enumerate(results):
        if not (hasattr(result, "coref_logit") and hasattr(result, "char_map")):
            raise ParameterTypeError(
                "results",
                "must hold results of fastcoref. Got "
                f"{type(result).__name__} for text {i}. For arrays use "
                "from_antecedent_scores.",
            )
        # Padding and special pieces have no characters.
        found = sorted(
            (int(k), (int(place[0]), int(place[1])))
            for k, place in result.char_map.values()
            if place is not None
        )
        kept = [k for k, _ in found]
        logits = as_numpy(result.coref_logit, "results")
        scores.append(logits[np.ix_(kept, [*kept, logits.shape[1] - 1])])
        mentions.append([place for _, place in found])
    return from_antecedent_scores(scores), mentions


class ClusterLabels(NamedTuple):
    """Labels of mentions, the mentions, and the number of those left out."""

    labels: list[list[int]]
    mentions: list[list[Any]]
    n_missing: int


@public
def labels_from_clusters(
    clusters: Sequence[Sequence[Sequence[Any]]],
    mentions: Sequence[Sequence[Any]] | None = None,
) -> ClusterLabels:
    """Return labels of mentions by clusters, as models and JSON lines have them.

    Parameters
    ----------
    clusters : sequence with a list of clusters for each document
        A cluster is a list of mentions, such as [start, end]: the "clusters" of a line
        of a .jsonlines file, and of fastcoref, maverick, s2e-coref and AllenNLP.
    mentions : sequence of sequences, default=None
        Mentions of each document to label, for example those of
        :func:`from_fastcoref`. A mention in no cluster is an entity of its own, and
        equal mentions are one entity. If None, the mentions in the clusters are
        labelled, in sorted order.

    Returns
    -------
    labels : list of list of int
        Label of each mention of each document, which queries and posteriors take as the
        truth. Equal labels are one entity.
    mentions : list of list
        The mentions of each document.
    n_missing : int
        Number of mentions in clusters that are not among `mentions`. Links to them are
        neither asked for nor counted. The three values are a named tuple.

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
    if mentions is not None and len(mentions) != len(clusters):
        raise ParameterError(
            None,
            "needs 'mentions' for each document of 'clusters'. Got "
            f"{len(mentions)} and {len(clusters)}.",
        )
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
        own = [entity.get(m, (m,)) for m in here]
        labels.append([number.setdefault(key, len(number)) for key in own])
        kept.append(here)
    return ClusterLabels(labels, kept, n_missing)


def _key(mention: Any) -> Hashable:
    """Return a mention as a key; JSON has lists, models have tensors and arrays."""
    if hasattr(mention, "tolist"):
        mention = mention.tolist()
    return tuple(map(_key, mention)) if isinstance(mention, (list, tuple)) else mention
