"""Metrics of predicted clusterings of mentions against true ones.

Each document becomes a contingency table of its true and its predicted clusters. A
metric counts numerators and denominators in the table, which are summed over documents.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from math import fsum
from typing import Any, NamedTuple, TypedDict, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from .._clusterings import as_list
from .._errors import ParameterError, ParameterTypeError, public
from .._validation import check_bool, check_choice, is_missing, is_sequence

SIDES = ("y_true", "y_pred")


class Table(NamedTuple):
    """Contingency table of two clusterings of a document.

    true, pred : sizes of the clusters on each side. Mentions that only one side has are
        included.
    row, column, shared : true cluster, predicted cluster and number of common mentions,
        with one entry for each pair of clusters that have common mentions.
    """

    true: np.ndarray
    pred: np.ndarray
    row: np.ndarray
    column: np.ndarray
    shared: np.ndarray


def as_tables(y_true: Any, y_pred: Any, drop_singletons: bool) -> list[Table]:
    """Return the table of each document."""
    check_bool(drop_singletons, name="drop_singletons")
    for name, side in zip(SIDES, (y_true, y_pred), strict=True):
        if not is_sequence(side):
            raise ParameterTypeError(
                name,
                "must be a sequence with one clustering per document. Got "
                f"{type(side).__name__}.",
            )
    if len(y_true) != len(y_pred):
        raise ParameterError(
            None,
            "needs as many clusterings in y_true as in y_pred. Got "
            f"{len(y_true)} and {len(y_pred)}.",
        )
    return [
        _table(*_clusters_of_document(true, pred, i), drop_singletons)
        for i, (true, pred) in enumerate(zip(y_true, y_pred, strict=True))
    ]


Clusters = list[list[Hashable]]


def _clusters_of_document(true: Any, pred: Any, i: int) -> tuple[Clusters, Clusters]:
    """Return the mentions of each cluster, on both sides."""
    (true, of_true), (pred, of_pred) = (
        _entries(side, name, i) for side, name in zip((true, pred), SIDES, strict=True)
    )
    # An empty clustering fits both.
    if {of_true, of_pred} == {"labels", "clusters"}:
        raise ParameterTypeError(
            None,
            "needs labels on both sides or clusters on both sides. Got "
            f"{of_true} in y_true and {of_pred} in y_pred for document {i}.",
        )
    if "labels" not in (of_true, of_pred):
        return _checked(true, SIDES[0], i), _checked(pred, SIDES[1], i)
    if len(true) != len(pred):
        raise ParameterError(
            None,
            "needs labels of the same mentions on both sides. Got "
            f"{len(true)} in y_true and {len(pred)} in y_pred for document {i}. "
            "Pass lists of clusters if the mentions differ.",
        )
    return _by_label(true), _by_label(pred)


def _entries(side: Any, name: str, i: int) -> tuple[list[Any], str]:
    """Return a clustering as a list, and whether it has labels or clusters."""
    if not is_sequence(side):
        raise ParameterTypeError(
            name,
            "must contain clusterings: either one label per mention, or a list of "
            f"clusters. Got {type(side).__name__} as document {i} of the {name!r} "
            "argument.",
        )
    entries = as_list(side)
    if not entries:
        return [], "nothing"
    nested = [
        isinstance(e, Collection) and not isinstance(e, (str, bytes)) for e in entries
    ]
    if all(nested):
        return entries, "clusters"
    if any(nested):
        raise ParameterTypeError(
            name,
            "must contain either labels or clusters. Got both labels and clusters in "
            f"document {i}.",
        )
    for j, label in enumerate(entries):
        if is_missing(label):
            raise ParameterError(
                name,
                f"must have one label per mention. Got {label!r} as the label of "
                f"mention {j} in document {i}.",
            )
    return entries, "labels"


def _by_label(labels: list[Any]) -> Clusters:
    clusters: dict[Any, list[Hashable]] = {}
    for mention, label in enumerate(labels):
        clusters.setdefault(label, []).append(mention)
    return list(clusters.values())


def _checked(clusters: list[Any], name: str, i: int) -> Clusters:
    seen: set[Hashable] = set()
    found: Clusters = []
    for j, cluster in enumerate(clusters):
        place = f"cluster {j} of document {i}"
        mentions = [_as_tuple(mention) for mention in as_list(cluster)]
        if not mentions:
            raise ParameterError(
                name,
                f"must have at least one mention in each cluster. Got none in {place}.",
            )
        for mention in mentions:
            if not isinstance(mention, Hashable):
                raise ParameterTypeError(
                    name,
                    "must have mentions that are hashable, for example pairs of "
                    f"positions. Got {mention!r:.50} in {place}.",
                )
            if mention in seen:
                raise ParameterError(
                    name,
                    f"must have each mention in exactly one cluster. Got {mention!r} "
                    f"again in {place}.",
                )
            seen.add(mention)
        found.append(mentions)
    return found


def _as_tuple(mention: Any) -> Any:
    """Return a mention with lists converted to tuples, which are hashable."""
    if isinstance(mention, (list, np.ndarray)):
        return tuple(_as_tuple(part) for part in as_list(mention))
    return mention


def _table(true: Clusters, pred: Clusters, drop_singletons: bool) -> Table:
    if drop_singletons:
        true = [cluster for cluster in true if len(cluster) > 1]
        pred = [cluster for cluster in pred if len(cluster) > 1]
    # Mentions of one side only count in the sizes of clusters, not in the cells.
    place = {mention: j for j, cluster in enumerate(pred) for mention in cluster}
    shared = [
        (i, place[mention])
        for i, cluster in enumerate(true)
        for mention in cluster
        if mention in place
    ]
    pairs = np.array(shared, dtype=np.intp).reshape(-1, 2)
    cells, count = np.unique(pairs, axis=0, return_counts=True)
    n_true, n_pred = (
        np.array(list(map(len, side)), dtype=float) for side in (true, pred)
    )
    return Table(n_true, n_pred, cells[:, 0], cells[:, 1], count.astype(float))


# Each function returns numerator and denominator of precision, then of recall.

Counts = tuple[float, float, float, float]

# The table of a document without clusters. It makes sums over no document 0.
_NONE, _NOWHERE = np.zeros(0), np.zeros(0, dtype=np.intp)
EMPTY = Table(_NONE, _NONE, _NOWHERE, _NOWHERE, _NONE)


def _pairs(n: Any) -> Any:
    return n * (n - 1) / 2


def _pairwise(table: Table) -> Counts:
    right = _pairs(table.shared).sum()
    return right, _pairs(table.pred).sum(), right, _pairs(table.true).sum()


def _muc(table: Table) -> Counts:
    # A cluster with s mentions in p parts has s - p of its s - 1 links. A part is a
    # cell, or a mention that the other side lacks. So the sum of s - p over clusters is
    # the number of shared mentions minus the number of cells.
    right = table.shared.sum() - table.shared.size
    return right, (table.pred - 1).sum(), right, (table.true - 1).sum()


def _b3(table: Table) -> Counts:
    square = table.shared**2
    right_pred = fsum(square / table.pred[table.column])
    right_true = fsum(square / table.true[table.row])
    return right_pred, table.pred.sum(), right_true, table.true.sum()


def _ceafe(table: Table) -> Counts:
    likeness = 2 * table.shared / (table.true[table.row] + table.pred[table.column])
    best = _best_alignment(table, likeness)
    return best, table.pred.size, best, table.true.size


def _ceafm(table: Table) -> Counts:
    best = _best_alignment(table, table.shared)
    return best, table.pred.sum(), best, table.true.sum()


def _best_alignment(table: Table, likeness: np.ndarray) -> float:
    """Return the largest total similarity of aligned clusters."""
    # a cluster that is equal on both sides shares no mention with others
    rest = table.shared < np.maximum(table.true[table.row], table.pred[table.column])
    rows, row = np.unique(table.row[rest], return_inverse=True)
    columns, column = np.unique(table.column[rest], return_inverse=True)
    matrix = np.zeros((rows.size, columns.size))
    matrix[row, column] = likeness[rest]
    chosen = matrix[linear_sum_assignment(matrix, maximize=True)]
    return fsum(likeness[~rest]) + fsum(chosen)


def _blanc(table: Table) -> tuple[float, ...]:
    """Return the counts of links within clusters, then of links between clusters."""
    within = _pairwise(table)
    _, n_pred, right, n_true = within
    # pairs of common mentions, minus the pairs within a cluster of either side
    true = _pairs(np.bincount(table.row, table.shared)).sum()
    pred = _pairs(np.bincount(table.column, table.shared)).sum()
    apart = _pairs(table.shared.sum()) - true - pred + right
    between_pred = _pairs(table.pred.sum()) - n_pred
    between_true = _pairs(table.true.sum()) - n_true
    return (*within, apart, between_pred, apart, between_true)


def _lea(table: Table) -> Counts:
    true, pred = table.true[table.row], table.pred[table.column]
    alone = (true == 1) & (pred == 1)
    counts = []
    for size, sizes in ((pred, table.pred), (true, table.true)):
        share = _pairs(table.shared) / np.maximum(_pairs(size), 1)
        # A singleton has no pairs. It is right if it is a singleton on both sides.
        links = np.where(size > 1, share, alone)
        counts += [fsum(size * links), sizes.sum()]
    return counts[0], counts[1], counts[2], counts[3]


COUNTS: dict[str, Callable[[Table], tuple[float, ...]]] = {
    "pairwise": _pairwise,
    "muc": _muc,
    "b3": _b3,
    "ceafe": _ceafe,
    "ceafm": _ceafm,
    "blanc": _blanc,
    "lea": _lea,
}


class PrecisionRecallF1(NamedTuple):
    """Precision, recall, and their harmonic mean."""

    precision: Any
    recall: Any
    f1: Any


class CorefScores(TypedDict):
    """Metrics of :func:`coref_scores`."""

    pairwise: PrecisionRecallF1
    muc: PrecisionRecallF1
    b3: PrecisionRecallF1
    ceafe: PrecisionRecallF1
    ceafm: PrecisionRecallF1
    blanc: PrecisionRecallF1
    lea: PrecisionRecallF1
    conll_f1: float


# Labels or a list of clusters for each document.
Clusterings = Sequence[ArrayLike | Sequence[Collection]] | np.ndarray


@public
def coref_scores(
    y_true: Clusterings, y_pred: Clusterings, *, drop_singletons: bool = False
) -> CorefScores:
    """Score predicted clusterings of mentions against true ones.

    Parameters
    ----------
    y_true : sequence of clusterings
        True clustering of each document. A clustering is a sequence of labels, one per
        mention, or a list of clusters. A cluster is a collection of hashable mentions,
        for example pairs of positions. Mentions that are lists, as in JSON, are
        converted to tuples.
    y_pred : sequence of clusterings
        Predicted clustering of each document. If labels are given, both sides must have
        the same mentions in the same order. If lists of clusters are given, the two
        sides may have different mentions.
    drop_singletons : bool, default=False
        Whether to drop clusters of one mention on both sides, for corpora in which
        singletons are not annotated.

    Returns
    -------
    scores : dict
        Metrics 'pairwise', 'muc', 'b3', 'ceafe', 'ceafm', 'blanc' and 'lea', each a
        named tuple ``(precision, recall, f1)``, and 'conll_f1', the mean F1 of MUC, B3
        and CEAFe.

    Raises
    ------
    ValueError
        If labels have different lengths, a cluster is empty, or a mention is in two
        clusters. The message names the document.
    TypeError
        If a clustering consists neither of labels nor of clusters, or if one side has
        labels and the other has clusters.

    See Also
    --------
    coref_statistics : Numerators and denominators of a metric for each document, for
        significance tests.
    SampledCorefPairs : Probabilities of pairs of mentions.

    Notes
    -----
    Numerators and denominators are summed over documents, as in the CoNLL reference
    scorer, and 0/0 is 0. A mention that occurs in only one of the two clusterings is an
    error, as in version 8 of that scorer.

    - 'pairwise' counts pairs of mentions in the same cluster.
    - 'muc' counts the minimum number of links that connect each cluster [1]_.
    - 'b3' is the mean over mentions of the correct fraction of their cluster [2]_.
    - 'ceafe' aligns clusters one to one so that the total similarity is as large as
      possible. The similarity of clusters K and R is ``2 |K & R| / (|K| + |R|)`` [3]_.
      'ceafm' uses the number of common mentions, ``|K & R|``, as the similarity.
    - 'blanc' is the mean of the scores of two kinds of links [5]_, [6]_. The kinds are
      pairs of mentions in the same cluster and pairs of mentions in different clusters.
      Its F1 is the mean of two F1 scores, not the harmonic mean of its precision and
      recall. If the true clusters have links of one kind only, the scores of this kind
      are returned, as in the reference scorer. In [6]_, this is done only if the
      predicted clusters do not have links of the other kind either.
    - 'lea' is the mean over clusters, weighted by size, of the fraction of their pairs
      that is correct. A singleton is correct if it is a singleton on both sides [4]_.

    'muc' and 'pairwise' ignore singletons. If all clusters are singletons, these two
    metrics are 0, while the others can be 1.

    References
    ----------
    .. [1] M. Vilain, J. Burger, J. Aberdeen, D. Connolly and L. Hirschman (1995). "A
       model-theoretic coreference scoring scheme". MUC-6.
    .. [2] A. Bagga and B. Baldwin (1998). "Algorithms for scoring coreference chains".
       LREC workshop on linguistics coreference.
    .. [3] X. Luo (2005). "On coreference resolution performance metrics". HLT-EMNLP.
    .. [4] N. S. Moosavi and M. Strube (2016). "Which coreference evaluation metric do
       you trust? A proposal for a link-based entity aware metric". ACL.
    .. [5] M. Recasens and E. Hovy (2011). "BLANC: implementing the Rand index for
       coreference evaluation". Natural Language Engineering 17(4).
    .. [6] X. Luo, S. Pradhan, M. Recasens and E. Hovy (2014). "An extension of BLANC to
       system mentions". ACL.

    Examples
    --------
    >>> from skcalib.coref import coref_scores
    >>> scores = coref_scores([[0, 0, 0, 1, 1]], [[0, 0, 1, 1, 2]])
    >>> scores["muc"]
    PrecisionRecallF1(precision=0.5, recall=0.3333333333333333, f1=0.4)
    >>> round(scores["conll_f1"], 3)
    0.542

    A mention that occurs in only one of the two clusterings:

    >>> scores = coref_scores([[{"Ada", "she"}]], [[{"Ada", "she", "it"}]])
    >>> [round(x, 2) for x in scores["b3"]]
    [0.44, 1.0, 0.62]
    """
    tables = as_tables(y_true, y_pred, drop_singletons)
    # fsum: no result depends on the order of documents or mentions
    sums = {
        name: list(map(fsum, zip(*map(count, [EMPTY, *tables]), strict=True)))
        for name, count in COUNTS.items()
    }
    scores = {name: _from_sums(each) for name, each in sums.items()}
    conll_f1 = (scores["muc"].f1 + scores["b3"].f1 + scores["ceafe"].f1) / 3
    return cast(CorefScores, {**scores, "conll_f1": conll_f1})


@public
def coref_statistics(
    y_true: Clusterings,
    y_pred: Clusterings,
    *,
    metric: str = "conll",
    drop_singletons: bool = False,
) -> np.ndarray:
    """Compute numerators and denominators of a coreference metric for each document.

    Parameters
    ----------
    y_true : sequence of clusterings
        True clustering of each document, as in :func:`coref_scores`.
    y_pred : sequence of clusterings
        Predicted clustering of each document.
    metric : {'conll', 'pairwise', 'muc', 'b3', 'ceafe', 'ceafm', 'blanc', 'lea'}, \
            default='conll'
        Name of the metric. 'conll' concatenates the columns of 'muc', 'b3' and 'ceafe';
        'blanc' concatenates the columns of links within clusters and of links between
        clusters.
    drop_singletons : bool, default=False
        Whether to drop clusters of one mention on both sides.

    Returns
    -------
    statistics : ndarray of shape (n_documents, 4), (n_documents, 8) for 'blanc' or \
            (n_documents, 12) for 'conll'
        Numerator and denominator of precision, followed by numerator and denominator of
        recall. To compare two systems, pass their arrays and
        ``statistic=coref_f1`` to :func:`~skcalib.significance.paired_bootstrap_test`.

    Raises
    ------
    ValueError, TypeError
        If the clusterings are invalid, as in :func:`coref_scores`.

    See Also
    --------
    coref_f1 : F1 computed from the sums of these columns.
    coref_scores : All metrics over all documents.

    Notes
    -----
    :func:`coref_f1` of the sums equals the F1 of :func:`coref_scores`, with one
    exception: BLANC is always the mean of both kinds of links, even if the true
    clusters have links of one kind only.

    Examples
    --------
    >>> from skcalib.coref import coref_f1, coref_statistics
    >>> y_true, y_pred = [[0, 0, 0, 1, 1], [0, 0]], [[0, 0, 1, 1, 2], [0, 0]]
    >>> counts = coref_statistics(y_true, y_pred, metric="muc")
    >>> counts
    array([[1., 2., 1., 3.],
           [1., 1., 1., 1.]])
    >>> round(float(coref_f1(counts.sum(axis=0))), 3)
    0.571
    """
    check_choice(metric, (*COUNTS, "conll"), name="metric")
    tables = as_tables(y_true, y_pred, drop_singletons)
    if not tables:
        raise ParameterError(None, "needs at least one document. Got none.")
    names = ("muc", "b3", "ceafe") if metric == "conll" else (metric,)
    return np.array(
        [[x for name in names for x in COUNTS[name](table)] for table in tables],
        dtype=np.float64,
    )


@public
def coref_f1(sums: ArrayLike) -> np.ndarray | np.floating:
    """Compute the F1 of summed coreference statistics.

    Parameters
    ----------
    sums : array-like of shape (..., 4 n_metrics)
        Sums of rows of :func:`coref_statistics`.

    Returns
    -------
    f1 : ndarray of shape (...)
        F1, where 0/0 is 0. If there are columns of several metrics, the mean of their
        F1 is returned.

    Raises
    ------
    ValueError
        If there are not 4 columns for each metric, or if entries are not numbers.

    See Also
    --------
    coref_statistics : Statistics of each document.

    Examples
    --------
    >>> from skcalib.coref import coref_f1
    >>> coref_f1([[1, 2, 1, 3], [0, 0, 0, 0]])
    array([0.4, 0. ])
    """
    try:
        # Any number of leading axes: significance tests pass many resamples at once.
        columns = np.asarray(sums, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            "sums", f"must contain numbers. Got {sums!r:.50}."
        ) from None
    if columns.ndim == 0 or columns.shape[-1] % 4 or columns.shape[-1] == 0:
        raise ParameterError(
            "sums", f"must have 4 columns for each metric. Got shape {columns.shape}."
        )
    counts = columns.reshape(*columns.shape[:-1], columns.shape[-1] // 4, 4)
    return _precision_recall_f1(counts)[2].mean(axis=-1)


def _precision_recall_f1(counts: np.ndarray) -> PrecisionRecallF1:
    """Return arrays of scores; the last axis of `counts` has the four sums."""
    right_pred, n_pred, right_true, n_true = np.moveaxis(counts, -1, 0)
    precision = _quotient(right_pred, n_pred)
    recall = _quotient(right_true, n_true)
    f1 = _quotient(2 * precision * recall, precision + recall)
    return PrecisionRecallF1(precision, recall, f1)


def _quotient(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Return the quotient, 0 where the denominator is 0."""
    out = np.zeros_like(denominator)
    return np.divide(numerator, denominator, out=out, where=denominator != 0)


def _from_sums(sums: list[float]) -> PrecisionRecallF1:
    """Return the mean scores of the kinds of links that the true clusters have.

    Only BLANC has two kinds. Without any true link, all scores are 0.
    """
    counts = np.reshape(sums, (-1, 4))
    kinds = counts[counts[:, 3] > 0]
    if len(kinds) == 0:
        return PrecisionRecallF1(0.0, 0.0, 0.0)
    return PrecisionRecallF1(*(float(x.mean()) for x in _precision_recall_f1(kinds)))
