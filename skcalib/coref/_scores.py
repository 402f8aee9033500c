"""Scores of predicted clusterings against true ones."""

from __future__ import annotations

from math import fsum
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from .._validation import check_bool, check_choice
from ._clusters import Table, as_tables


class PrecisionRecallF1(NamedTuple):
    """Precision, recall, and their harmonic mean."""

    precision: float
    recall: float
    f1: float


def coref_scores(
    y_true: Any, y_pred: Any, *, drop_singletons: bool = False
) -> dict[str, Any]:
    """Score predicted clusterings of mentions against true ones.

    Parameters
    ----------
    y_true : sequence of clusterings
        True clustering of each document: labels, one for each mention; or a list of
        clusters, collections of hashable mentions (pairs of positions, say).
    y_pred : sequence of clusterings
        Predicted ones. Labels are of the same mentions in the same order; in lists of
        clusters the two sides may have different mentions.
    drop_singletons : bool, default=False
        Leave out the clusters of one mention, on both sides, as corpora do that do not
        annotate them.

    Returns
    -------
    scores : dict
        'pairwise', 'muc', 'b3', 'ceafe' and 'lea', each a named tuple ``(precision,
        recall, f1)``, and 'conll_f1', the mean F1 of MUC, B3 and CEAFe.

    Raises
    ------
    ValueError
        Labels of different lengths, an empty cluster, or a mention in two clusters; the
        message names the document.
    TypeError
        Something else than labels or clusters, or labels against clusters.

    See Also
    --------
    coref_statistics : What is summed, a row a document, for tests of a difference.
    SampledCorefPairs : Probabilities of pairs, instead of one clustering.

    Notes
    -----
    Numerators and denominators are summed over documents, as the reference scorer does;
    0/0 is 0. A mention that only one side has is wrong, as in the scorer's version 8.

    'pairwise' counts pairs of mentions in one cluster; 'muc' the fewest links that
    join a cluster [1]_; 'b3' takes the share of a mention's cluster that is right
    [2]_; 'ceafe' pairs clusters off, best total of 2 ``|K & R| / (|K| + |R|)`` [3]_;
    'lea' takes the share of a cluster's pairs that is right, weighted by its size; a
    singleton is right if it is one on both sides [4]_. MUC and pairs do not see
    singletons: if there is nothing else they are 0, and the others may still be 1.

    References
    ----------
    .. [1] M. Vilain, J. Burger, J. Aberdeen, D. Connolly and L. Hirschman (1995). "A
       model-theoretic coreference scoring scheme". MUC-6.
    .. [2] A. Bagga and B. Baldwin (1998). "Algorithms for scoring coreference chains".
       LREC workshop on linguistics coreference.
    .. [3] X. Luo (2005). "On coreference resolution performance metrics". HLT-EMNLP.
    .. [4] N. S. Moosavi and M. Strube (2016). "Which coreference evaluation metric do
       you trust?". ACL.

    Examples
    --------
    >>> from skcalib.coref import coref_scores
    >>> scores = coref_scores([[0, 0, 0, 1, 1]], [[0, 0, 1, 1, 2]])
    >>> scores["muc"]
    PrecisionRecallF1(precision=0.5, recall=0.3333333333333333, f1=0.4)
    >>> round(scores["conll_f1"], 3)
    0.542

    Mentions that only one side has:

    >>> scores = coref_scores([[{"Ada", "she"}]], [[{"Ada", "she", "it"}]])
    >>> [round(x, 2) for x in scores["b3"]]
    [0.44, 1.0, 0.62]
    """
    caller = "coref_scores"
    drop = check_bool(drop_singletons, name="drop_singletons", caller=caller)
    tables = as_tables(y_true, y_pred, drop, caller)
    # fsum: no result depends on the order of documents or mentions
    scores: dict[str, Any] = {
        name: _from_counts(*map(fsum, zip(NOTHING, *map(count, tables), strict=True)))
        for name, count in COUNTS.items()
    }
    scores["conll_f1"] = (scores["muc"].f1 + scores["b3"].f1 + scores["ceafe"].f1) / 3
    return scores


METRICS = ("pairwise", "muc", "b3", "ceafe", "lea", "conll")


def coref_statistics(
    y_true: Any, y_pred: Any, *, metric: str = "conll", drop_singletons: bool = False
) -> np.ndarray:
    """Count what a coreference metric sums over documents, for each document.

    Parameters
    ----------
    y_true : sequence of clusterings
        True clustering of each document, as in :func:`coref_scores`.
    y_pred : sequence of clusterings
        Predicted ones.
    metric : {'conll', 'pairwise', 'muc', 'b3', 'ceafe', 'lea'}, default='conll'
        Which metric. 'conll' is the columns of 'muc', 'b3' and 'ceafe' side by side.
    drop_singletons : bool, default=False
        As in :func:`coref_scores`.

    Returns
    -------
    statistics : ndarray of shape (n_documents, 4) or (n_documents, 12)
        Numerator and denominator of precision, then of recall. They go with
        ``statistic=coref_f1``.

    Raises
    ------
    ValueError, TypeError
        As in :func:`coref_scores`.

    See Also
    --------
    coref_f1 : The F1 from the sums of these columns.
    coref_scores : All metrics of all documents.

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
    caller = "coref_statistics"
    check_choice(metric, METRICS, name="metric", caller=caller)
    drop = check_bool(drop_singletons, name="drop_singletons", caller=caller)
    tables = as_tables(y_true, y_pred, drop, caller)
    if not tables:
        raise ValueError(f"{caller} needs a document at least. Got none.")
    names = ("muc", "b3", "ceafe") if metric == "conll" else (metric,)
    return np.array(
        [[x for name in names for x in COUNTS[name](table)] for table in tables],
        dtype=np.float64,
    )


def coref_f1(sums: Any) -> Any:
    """Compute the F1 of summed coreference statistics.

    Parameters
    ----------
    sums : array-like of shape (..., 4 n_metrics)
        Sums of rows of :func:`coref_statistics`.

    Returns
    -------
    f1 : ndarray of shape (...)
        F1, 0 where it is 0/0; of the columns of several metrics the mean.

    Raises
    ------
    ValueError
        If there are not 4 columns for each metric, or one does not hold numbers.

    See Also
    --------
    coref_statistics : The columns.

    Examples
    --------
    >>> from skcalib.coref import coref_f1
    >>> coref_f1([[1, 2, 1, 3], [0, 0, 0, 0]])
    array([0.4, 0. ])
    """
    name = "The 'sums' parameter of coref_f1 must"
    try:
        columns = np.asarray(sums, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} hold numbers. Got {sums!r:.50}.") from None
    if columns.ndim == 0 or columns.shape[-1] % 4 or columns.shape[-1] == 0:
        raise ValueError(
            f"{name} have 4 columns for each metric. Got shape {columns.shape}."
        )
    n_metrics = columns.shape[-1] // 4
    right_pred, n_pred, right_true, n_true = np.moveaxis(
        columns.reshape(*columns.shape[:-1], n_metrics, 4), -1, 0
    )
    precision = _quotient(right_pred, n_pred)
    recall = _quotient(right_true, n_true)
    return _quotient(2 * precision * recall, precision + recall).mean(axis=-1)


def _quotient(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Return the quotient, 0 where the denominator is 0."""
    out = np.zeros_like(denominator)
    return np.divide(numerator, denominator, out=out, where=denominator != 0)


def _from_counts(
    right_pred: float, n_pred: float, right_true: float, n_true: float
) -> PrecisionRecallF1:
    """Return the scores from what is right and what there is, of either side."""
    precision = right_pred / n_pred if n_pred else 0.0
    recall = right_true / n_true if n_true else 0.0
    total = precision + recall
    f1 = 2 * precision * recall / total if total else 0.0
    return PrecisionRecallF1(precision, recall, f1)


# Each gives (right, all) of the predicted side, then of the true side.

Counts = tuple[float, float, float, float]
NOTHING = (0.0, 0.0, 0.0, 0.0)


def _pairs(n: np.ndarray) -> np.ndarray:
    return n * (n - 1) / 2


def _pairwise(table: Table) -> Counts:
    right = _pairs(table.shared).sum()
    return right, _pairs(table.pred).sum(), right, _pairs(table.true).sum()


def _muc(table: Table) -> Counts:
    # A cluster with s mentions in p parts has s - p of its s - 1 links. A part is a
    # cell, so over all clusters s - p is the shared mentions less the cells: a mention
    # that the other side lacks is a part of its own.
    right = table.shared.sum() - table.shared.size
    return right, (table.pred - 1).sum(), right, (table.true - 1).sum()


def _b3(table: Table) -> Counts:
    square = table.shared**2
    return (
        fsum(square / table.pred[table.column]),
        table.pred.sum(),
        fsum(square / table.true[table.row]),
        table.true.sum(),
    )


def _ceafe(table: Table) -> Counts:
    likeness = 2 * table.shared / (table.true[table.row] + table.pred[table.column])
    # the same cluster on both sides shares no mention with others: no choice there
    rest = likeness < 1
    rows, row = np.unique(table.row[rest], return_inverse=True)
    columns, column = np.unique(table.column[rest], return_inverse=True)
    matrix = np.zeros((rows.size, columns.size))
    matrix[row, column] = likeness[rest]
    chosen = matrix[linear_sum_assignment(matrix, maximize=True)]
    best = np.count_nonzero(~rest) + fsum(chosen)
    return best, table.pred.size, best, table.true.size


def _lea(table: Table) -> Counts:
    true, pred = table.true[table.row], table.pred[table.column]
    alone = (true == 1) & (pred == 1)
    counts = []
    for size, sizes in ((pred, table.pred), (true, table.true)):
        links = np.where(
            size > 1, _pairs(table.shared) / np.maximum(_pairs(size), 1), alone
        )
        counts += [fsum(size * links), sizes.sum()]
    return counts[0], counts[1], counts[2], counts[3]


COUNTS = {
    "pairwise": _pairwise,
    "muc": _muc,
    "b3": _b3,
    "ceafe": _ceafe,
    "lea": _lea,
}
