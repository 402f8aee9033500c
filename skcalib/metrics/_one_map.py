"""A test of whether one logistic recalibration fits all parts of the data.

References
----------
.. [1] C. R. Rao (1948). "Large sample tests of statistical hypotheses concerning
   several parameters". Proceedings of the Cambridge Philosophical Society 44.
.. [2] D. R. Cox (1958). "Two further applications of a model for binary regression".
   Biometrika 45(3/4).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import chdtrc, expit, fdtrc, logit

# Probabilities are clipped to this distance from 0 and 1, as in the advice of a report.
CLIPPED = 0.005

# Parts of which fewer labels are expected to vary are not tested.
_LEAST = 5.0


def one_map_p_value(
    y: np.ndarray, q: np.ndarray, part: np.ndarray, groups: np.ndarray | None = None
) -> float | None:
    """Return the p-value of one logistic recalibration for all parts.

    Rao's score test [1]_: the log odds of the labels are a + b logit q with the same a
    and b in each part [2]_. The alternative has an intercept and a slope for each part.
    With groups, the variance of the scores is estimated between groups.

    Parameters
    ----------
    y, q : ndarray of shape (n,)
        Labels, 0 or 1, and probabilities.
    part : ndarray of shape (n,), int
        Part of each row.
    groups : ndarray of shape (n,), int, default=None
        Group of each row. Rows of different groups are independent.

    Returns
    -------
    p_value : float or None
        None if fewer than two parts have labels that vary.
    """
    log_odds = logit(np.clip(q, CLIPPED, 1 - CLIPPED))
    varying = np.bincount(part, q * (1 - q))
    n_positive, n_rows = np.bincount(part, y), np.bincount(part)
    has_both = (n_positive > 0) & (n_positive < n_rows)
    kept = np.flatnonzero((varying >= _LEAST) & has_both)
    if kept.size < 2:
        return None
    used = np.isin(part, kept)
    y, log_odds = y[used], log_odds[used]
    part = np.searchsorted(kept, part[used])
    terms = np.stack([np.ones(y.size), log_odds - log_odds.mean()], axis=1)
    p = expit(terms @ _fitted(terms, y))
    # Columns: intercept and slope of each part.
    by_part = np.zeros((y.size, kept.size, 2))
    by_part[np.arange(y.size), part] = terms
    design = by_part.reshape(y.size, -1)
    # What the common intercept and slope explain of them is taken out.
    variance = (p * (1 - p))[:, np.newaxis]
    common = terms * variance
    inverse = np.linalg.pinv(terms.T @ common, hermitian=True)
    design = design - terms @ (inverse @ (common.T @ design))
    if groups is None:
        score, spread, n_groups = design.T @ (y - p), design.T @ (design * variance), 0
    else:
        codes = np.unique(groups[used], return_inverse=True)[1]
        n_groups = int(codes.max()) + 1
        by_group = np.zeros((n_groups, design.shape[1]))
        np.add.at(by_group, codes, design * (y - p)[:, np.newaxis])
        score = by_group.sum(axis=0)
        spread = by_group.T @ by_group - np.outer(score, score) / n_groups
    freedom = int(np.linalg.matrix_rank(spread, tol=1e-8 * np.trace(spread)))
    statistic = score @ np.linalg.pinv(spread, rcond=1e-8, hermitian=True) @ score
    if groups is None:
        return float(chdtrc(freedom, statistic)) if freedom else None
    if not 0 < freedom < n_groups:
        return None
    # Hotelling's T squared of the scores of the groups
    rest = n_groups - freedom
    return float(fdtrc(freedom, rest, statistic * rest / (freedom * n_groups)))


def _fitted(terms: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the coefficients of the largest likelihood."""

    def loss(coefficients: np.ndarray) -> tuple[float, np.ndarray]:
        odds = terms @ coefficients
        slope = terms.T @ (expit(odds) - y)
        return np.logaddexp(0, (1 - 2 * y) * odds).sum() / y.size, slope / y.size

    start = np.zeros(terms.shape[1])
    return minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-10}).x
