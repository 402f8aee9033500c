"""Sufficient statistics of the Brier score."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._pairs import Pairs, check_pairs


def brier_statistics(
    y_true: Any, y_proba: Any, *, labels: Any = None, pos_label: Any = None
) -> np.ndarray:
    """Compute the Brier score of every row.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probability of the positive class, or of every class, as in
        :func:`calibration_error`; two columns are the binary problem.
    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the columns.
    pos_label : label, default=None
        The positive class.

    Returns
    -------
    statistics : ndarray of shape (n,)
        Squared difference of label and probability, for ``statistic="mean"``; of more
        than two classes its sum over them. The lower the better, so a gain of A over B
        is a negative difference.

    Raises
    ------
    ValueError
        If a parameter or a row is not as described.

    See Also
    --------
    skcalib.scorers.compare_calibration : Two models by Brier score and calibration.
    sklearn.metrics.brier_score_loss : The mean.

    Notes
    -----
    Rows of one sentence or document depend on each other: pass its number as `groups`
    to the test.

    Examples
    --------
    >>> from skcalib.metrics import brier_statistics
    >>> brier_statistics([1, 0, 1], [0.5, 0.5, 1.0])
    array([0.25, 0.25, 0.  ])
    """
    (pairs,) = check_pairs(
        y_true, y_proba, caller="brier_statistics", labels=labels, pos_label=pos_label
    )
    return brier_of_rows(pairs)


def brier_of_rows(pairs: Pairs) -> np.ndarray:
    """Return the squared error of each row, summed over the pairs that it gave."""
    square = (pairs.q.astype(np.float64) - pairs.indicator()) ** 2
    return square.reshape(-1, pairs.n_classes).sum(axis=1)
