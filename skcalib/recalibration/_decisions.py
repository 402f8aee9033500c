"""What follows from probabilities and outcomes: one rule for each decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, expit, fdtrc, logit

from .._errors import public
from .._pairs import check_pairs
from .._results import Result
from .._validation import as_groups, check_fraction
from ..metrics._bins import FOR_INTERVAL
from ..metrics._confidence_ranking import ranking_of_pairs
from ..metrics._interval import interval_of_pairs
from ..rates._accuracy import accuracy_interval, grouped_frequency_interval
from ..rates._precision import PrecisionThreshold, check_answers, choose_threshold

Calibration = Literal[
    "calibrated", "overconfident", "underconfident", "not of one kind", "too few"
]
Recalibrate = Literal["no", "one map", "by part"]
RecalibrationMap = Literal["isotonic", "logistic", "clip"]

# Labels of the rarer kind that isotonic regression needs. In simulations with 1,000 to
# 20,000 rows and frequencies of .5 to .005, it increased the error in up to all samples
# with 4 to 100 of them, and no error above .03 with 290 or more.
ENOUGH_FOR_ISOTONIC = 300

# Parts of which fewer labels are expected to vary are not tested.
_LEAST = 5.0


def calibration_of(
    pvalue: float | None, mean: float, low: float, high: float, alpha: float
) -> Calibration:
    """Return what the test and the mean say; `low` and `high` are of the frequency."""
    if pvalue is None or np.isnan(pvalue):
        return "too few"
    if pvalue >= alpha:
        return "calibrated"
    if low <= mean <= high:
        return "not of one kind"
    return "overconfident" if mean > high else "underconfident"


def recalibrate_of(
    calibration: Calibration,
    one_map_pvalue: float | None,
    alpha: float,
    *,
    is_reversed: bool = False,
) -> Recalibrate:
    """Return how to recalibrate: by part only if one map is shown not to fit.

    Probabilities that rank wrong above right answers are not worth a recalibration.
    """
    if is_reversed:
        return "no"
    if one_map_pvalue is not None and one_map_pvalue < alpha:
        return "by part"
    return "no" if calibration in ("calibrated", "too few") else "one map"


def map_of(
    calibration: Calibration,
    recalibrate: Recalibrate,
    n_rarer: float,
    *,
    has_certain_wrong: bool,
) -> RecalibrationMap | None:
    """Return which map to fit, if the rarer label occurs `n_rarer` times.

    If the mean is right, and probabilities of 0 or 1 are wrong, they are changed first:
    isotonic regression would return such probabilities again.
    """
    if recalibrate == "no":
        return None
    is_mean_right = (calibration, recalibrate) == ("not of one kind", "one map")
    if has_certain_wrong and is_mean_right:
        return "clip"
    return "isotonic" if n_rarer >= ENOUGH_FOR_ISOTONIC else "logistic"


def clipped_at(frequency: float) -> float:
    """Return the distance from 0 and 1 to which probabilities are clipped.

    Much smaller probabilities than the frequency of a rare label are not unusual.
    """
    return min(frequency, 1 - frequency) / 100


def frequency_ends(
    y: np.ndarray, q: np.ndarray, groups: np.ndarray | None, level: float
) -> tuple[float, float]:
    """Return the interval of the frequency that is compared with the mean of q."""
    if groups is None:
        found = accuracy_interval(y, confidence_level=level)
        return found.low, found.high
    return grouped_frequency_interval(y, q, groups, level)


def one_map_p_value(
    y: np.ndarray, q: np.ndarray, part: np.ndarray, groups: np.ndarray | None = None
) -> float | None:
    """Return the p-value of one logistic recalibration for all parts.

    Rao's score test: the log odds of the labels are a + b logit q with the same a and b
    in each part. The alternative has an intercept and a slope for each part. With
    groups, the variance of the scores is estimated between groups.

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
    clipped = clipped_at(float(y.mean()))
    if clipped == 0:
        return None
    log_odds = logit(np.clip(q, clipped, 1 - clipped))
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
    # Its import takes a tenth of the time of a command.
    from scipy.optimize import minimize

    return minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-10}).x


@dataclass(frozen=True)
class CalibrationDecisions(Result):
    """What follows from probabilities, from :func:`calibration_decisions`.

    Attributes
    ----------
    calibration : str
        'calibrated' if the test does not reject perfect calibration, which does not
        prove it. 'overconfident' or 'underconfident' if the test rejects it and the
        mean probability is above or below the interval of the frequency. 'not of one
        kind' if the test rejects it and the mean is inside. 'too few' without a test.
    recalibrate : str
        'no', 'one map', or 'by part' if one logistic map is shown not to fit all parts.
        It is also 'no' if the interval of the AUROC is below 0.5, since right answers
        then have lower probabilities than wrong ones.
    threshold : PrecisionThreshold or None
        Threshold from which the precision is reached. None if no threshold is shown to
        reach it.
    mean_probability : float
        Mean of the probabilities.
    frequency, frequency_low, frequency_high : float
        Frequency of right answers and the ends of its interval.
    pvalue : float
        P-value of perfect calibration, NaN without a test.
    one_map_pvalue : float or None
        P-value of one logistic map for all parts. None if fewer than two parts can be
        tested.
    n : int
        Number of answers.
    n_groups : int or None
        Number of groups.
    confidence_level : float
        Confidence level of the decisions.
    map : str or None
        'isotonic' if the rarer label occurs at least 300 times, in each part for 'by
        part', and otherwise 'logistic', a logistic regression on the log odds. 'clip'
        if the mean is right and probabilities of 0 or 1 are wrong: clip them, and
        decide again. None if `recalibrate` is 'no'.

    See Also
    --------
    calibration_decisions : Make the decisions.

    Examples
    --------
    >>> from skcalib.recalibration import calibration_decisions
    >>> found = calibration_decisions([1, 1, 1, 1, 0] * 20, [0.8] * 100)
    >>> found.calibration, found.recalibrate, found.threshold
    ('calibrated', 'no', None)
    """

    calibration: Calibration
    recalibrate: Recalibrate
    threshold: PrecisionThreshold | None
    mean_probability: float
    frequency: float
    frequency_low: float
    frequency_high: float
    pvalue: float
    one_map_pvalue: float | None
    n: int
    n_groups: int | None
    confidence_level: float
    map: RecalibrationMap | None = None

    def __repr__(self) -> str:
        start = "threshold=None"
        if self.threshold is not None:
            start = f"threshold={self.threshold.threshold:.4g}"
        return self._summary(
            f"calibration={self.calibration!r}, recalibrate={self.recalibrate!r}, "
            f"map={self.map!r}, {start}",
            "mean_probability:.4f frequency:.4f pvalue:.3g one_map_pvalue:.3g n "
            "n_groups confidence_level:g",
        )


@public
def calibration_decisions(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    parts: Sequence | ArrayLike | None = None,
    groups: ArrayLike | None = None,
    precision: float = 0.9,
    confidence_level: float = 0.95,
) -> CalibrationDecisions:
    """Decide whether probabilities are calibrated, and what to do with them.

    These are the decisions that ``skcalib report`` prints.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Whether each answer is right: 1 or 0, or booleans.
    y_proba : array-like of shape (n,)
        Probability that each answer is right.
    parts : array-like of shape (n,), default=None
        Part of each answer, such as its subject, for which a recalibration of its own
        may be needed.
    groups : array-like of shape (n,), default=None
        Group of each answer, such as its document. Answers of one group may depend on
        each other.
    precision : float, default=0.9
        Required share of right answers above the threshold.
    confidence_level : float, default=0.95
        Confidence level of each decision.

    Returns
    -------
    decisions : CalibrationDecisions
        The decisions and the numbers on which they are based.

    Raises
    ------
    ValueError
        If an argument is invalid.

    See Also
    --------
    skcalib.metrics.calibration_error_interval : The error and its test.
    skcalib.rates.threshold_for_precision : The threshold alone.

    Notes
    -----
    *Calibration* is decided by the test of :func:`calibration_error_interval` [1]_ at
    the level 1 - confidence_level, and its direction by the interval of
    :func:`~skcalib.rates.accuracy_interval`.

    *One map or a map for each part* is decided by Rao's score test [2]_ of the
    hypothesis that the log odds of all parts are a + b logit q, with the same a and b
    [3]_. The significance of each part is not compared: that one part is significant
    and another is not does not show a difference between them. With `groups`, the
    variance of the scores is estimated between groups.

    *Isotonic or logistic* is decided by the number of the rarer label, since it limits
    what the data show about the form of a curve. In simulations with 1,000 to 20,000
    rows, frequencies from .5 to .005 and nine distortions of the log odds (slopes of .6
    to 3, shifts of 1.5, steps and bends), isotonic regression increased the error in up
    to all samples with 4 to 100 such labels, and no error above .03 with 290 or more.

    *The threshold* is chosen by :func:`~skcalib.rates.threshold_for_precision`.

    Each decision alone is wrong with a probability of at most about 1 -
    confidence_level. Their error rates in simulations are in
    :doc:`/experiments/sentences`.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
       analysis for natural language processing models". EMNLP.
    .. [2] C. R. Rao (1948). "Large sample tests of statistical hypotheses concerning
       several parameters with applications to problems of estimation". Proceedings of
       the Cambridge Philosophical Society 44.
    .. [3] D. R. Cox (1958). "Two further applications of a model for binary
       regression". Biometrika 45(3/4).

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.recalibration import calibration_decisions
    >>> rng = np.random.default_rng(0)
    >>> y_proba = rng.uniform(0.5, 1, 2000)
    >>> subject = np.arange(2000) % 4
    >>> y_true = rng.random(2000) < y_proba - 0.08
    >>> found = calibration_decisions(
    ...     y_true, y_proba, parts=subject, precision=0.8
    ... )
    >>> found.calibration, found.recalibrate
    ('overconfident', 'one map')
    >>> f"{found.threshold.threshold:.2f}"
    '0.81'
    """
    wanted = check_fraction(precision, name="precision")
    level = check_fraction(confidence_level, name="confidence_level")
    y, q, codes = check_answers(y_true, y_proba, groups)
    part = as_groups(parts, q.size, name="parts")
    (pairs,) = check_pairs(y, q, groups=codes, are_all=False)
    error = interval_of_pairs(pairs, FOR_INTERVAL, level)
    low, high = frequency_ends(y, q, codes, level)
    mean, frequency, alpha = float(q.mean()), float(y.mean()), 1 - level
    one_map = None if part is None else one_map_p_value(y, q, part, codes)
    calibration = calibration_of(error.pvalue, mean, low, high, alpha)
    is_reversed = 0 < frequency < 1 and ranking_of_pairs(pairs, level).auroc.high < 0.5
    recalibrate = recalibrate_of(calibration, one_map, alpha, is_reversed=is_reversed)
    fitted = np.zeros(q.size, int) if part is None or recalibrate != "by part" else part
    is_wrong = np.isin(q, (0, 1)) & (y != q)
    return CalibrationDecisions(
        calibration=calibration,
        recalibrate=recalibrate,
        map=map_of(
            calibration,
            recalibrate,
            float(np.minimum(np.bincount(fitted, y), np.bincount(fitted, 1 - y)).min()),
            has_certain_wrong=bool(error.rounded_to is None and is_wrong.any()),
        ),
        threshold=choose_threshold(y, q, codes, wanted, level),
        mean_probability=mean,
        frequency=frequency,
        frequency_low=low,
        frequency_high=high,
        pvalue=error.pvalue,
        one_map_pvalue=one_map,
        n=q.size,
        n_groups=error.n_groups,
        confidence_level=level,
    )
