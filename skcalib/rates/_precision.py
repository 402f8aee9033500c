"""Threshold of the probability for which answers have a required precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincc, betaln

from .._errors import ParameterError, public
from .._results import Result
from .._validation import (
    as_groups,
    as_labels,
    as_probabilities,
    check_fraction,
    check_same_length,
    positives,
)
from ..metrics._frequency_intervals import brentq, clopper_pearson
from ._accuracy import grouped_frequency_interval

# Density (1 - p)^(b - 1) of the bets: with this b, few answers find a threshold most
# often (benchmarks/threshold_power.py).
_SHAPE = 0.25

# Bets are used for fewer answers than this multiple of the smallest possible number:
# they find a threshold more often, but select fewer of many answers.
_FEW = 20

# Number of sequences of tests, and number of tests per doubling of the answers.
_N_STARTS = 4
_PER_DOUBLING, _PER_DOUBLING_OF_BETS = 16, 100


@dataclass(frozen=True, repr=False)
class PrecisionThreshold(Result):
    """Threshold for a required precision, from :func:`threshold_for_precision`.

    Attributes
    ----------
    threshold : float
        Answers whose probability is at least this number are selected.
    precision : float
        Required precision.
    estimate : float
        Precision of the selected answers in the labelled data.
    low, high : float
        Ends of the interval of the precision in new data. `low` is at least
        `precision`.
    n_selected : int
        Number of selected answers in the labelled data.
    share_selected : float
        Share of the answers that are selected.
    n : int
        Number of answers in the labelled data.
    n_groups : int or None
        Number of groups.
    confidence_level : float
        Confidence level.

    See Also
    --------
    threshold_for_precision : Compute the threshold.

    Examples
    --------
    >>> from skcalib.rates import threshold_for_precision
    >>> found = threshold_for_precision([1] * 60, [0.8] * 60, precision=0.9)
    >>> found.threshold, found.share_selected
    (0.8, 1.0)
    """

    threshold: float
    precision: float
    estimate: float
    low: float
    high: float
    n_selected: int
    share_selected: float
    n: int
    n_groups: int | None
    confidence_level: float

    def _in_words(self) -> Sequence[str]:
        return (
            f"Of the answers with a probability of at least {self.threshold:.4g}, "
            f"{100 * self.estimate:.1f}% are right in the labelled data.",
        )

    def __repr__(self) -> str:
        return (
            f"PrecisionThreshold({self.threshold:.4f}: precision {self.estimate:.3f} "
            f"[{self.low:.3f}, {self.high:.3f}], n_selected={self.n_selected} of "
            f"{self.n}, confidence_level={self.confidence_level:g})"
        )


_Found = tuple[np.ndarray, int, Callable[[int], tuple[float, float]], int]


@public
def threshold_for_precision(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    precision: float,
    groups: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> PrecisionThreshold:
    """Choose the lowest threshold that reaches a precision with a given confidence.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Whether each answer is right: 1 or 0, or booleans. The answers can be predicted
        entities or coreference links of labelled text that the model was not trained
        on: see :class:`~skcalib.queries.SpanQuery`.
    y_proba : array-like of shape (n,)
        Probability of each answer.
    precision : float
        Required share of right answers among the selected answers, between 0 and 1.
    groups : array-like of shape (n,), default=None
        Group of each answer, such as its sentence or document. Answers of one group may
        depend on each other.
    confidence_level : float, default=0.95
        Probability, over random draws of the labelled data, that the precision in new
        data is at least `precision`.

    Returns
    -------
    threshold : PrecisionThreshold
        Threshold with the precision of the selected answers and its interval.

    Raises
    ------
    ValueError
        If no threshold can be shown to have this precision, because the model does not
        reach it or because there are too few labels. The message gives the highest
        lower bound.

    See Also
    --------
    accuracy_interval : Confidence interval of the precision at a fixed threshold.

    Notes
    -----
    The threshold is valid for data like the labelled data. For another kind of text or
    another model, choose a new threshold. The probabilities do not have to be
    calibrated, but answers with higher probabilities should be right more often.

    With calibrated probabilities, the threshold is usually below `precision`. The
    expected precision of the selected answers is their mean probability, and most of
    them have probabilities above the threshold.

    *Many answers, or groups.* Four descending sequences of thresholds are tested. A
    sequence stops at the first threshold whose lower bound is below `precision`. The
    start of each sequence is chosen without the labels, and each may use a quarter of
    the error probability (fixed sequence testing [1]_). The bound is the exact bound of
    Clopper and Pearson. With `groups`, it is Wilson's bound for the number of
    independent answers with the same variance, which is approximate.

    *Few answers.* Answers are few if their number is below

        20 log(1 - confidence_level) / log(precision).

    The answers are then taken from the highest probability down. An imaginary capital
    is bet on each [2]_, at odds that would be fair if the precision were exactly
    `precision`. If the precision were at most `precision`, the capital would grow by
    the factor 1 / (1 - confidence_level) with a probability of at most 1 -
    confidence_level (Ville's inequality). Such growth therefore shows a higher
    precision. The result is the lowest threshold at which the capital has reached this
    factor. With few answers, bets find a threshold more often than the exact bounds do.
    Their confidence is guaranteed if answers with higher probabilities are right at
    least as often.

    References
    ----------
    .. [1] A. N. Angelopoulos, S. Bates, E. J. Candès, M. I. Jordan and L. Lei (2025).
       "Learn then test: calibrating predictive algorithms to achieve risk control".
       Annals of Applied Statistics 19.
    .. [2] I. Waudby-Smith and A. Ramdas (2024). "Estimating means of bounded random
       variables by betting". Journal of the Royal Statistical Society B 86.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.rates import threshold_for_precision
    >>> rng = np.random.default_rng(0)
    >>> y_proba = rng.beta(4, 1, 2000)
    >>> y_true = rng.random(2000) < y_proba
    >>> threshold_for_precision(y_true, y_proba, precision=0.9)
    PrecisionThreshold(0.8511: precision 0.924 [0.903, 0.942], n_selected=965 of 2000,
    confidence_level=0.95)
    """
    wanted = check_fraction(precision, name="precision")
    level = check_fraction(confidence_level, name="confidence_level")
    y, q, codes = check_answers(y_true, y_proba, groups)
    found = choose_threshold(y, q, codes, wanted, level)
    if found is None:
        raise ParameterError(
            "precision",
            "must be a precision that the answers can be shown to reach. Got "
            f"{wanted:g}. {_why_none(y, q, codes, wanted, level)} Label more answers, "
            "or choose a lower precision.",
        )
    return found


def check_answers(
    y_true: ArrayLike, y_proba: ArrayLike, groups: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return whether answers are right, their probabilities and codes of groups."""
    labels = as_labels(y_true, name="y_true")
    q = as_probabilities(y_proba, name="y_proba", n_columns=1)
    if q.ndim != 1:
        raise ParameterError(
            "y_proba",
            "must have one probability for each answer, the probability that the "
            f"answer is right. Got shape {q.shape}.",
        )
    check_same_length(y_true=labels, y_proba=q)
    return positives(labels, None), q, as_groups(groups, q.size)


def choose_threshold(
    y: np.ndarray, q: np.ndarray, codes: np.ndarray | None, wanted: float, level: float
) -> PrecisionThreshold | None:
    """Return the threshold for checked answers, or None if there is none."""
    y, q, codes = _highest_first(y, q, codes)
    _, passed, interval, _ = _find(y, q, codes, wanted, 1 - level)
    if not passed:
        return None
    low, high = interval(passed)
    return PrecisionThreshold(
        threshold=float(q[passed - 1]),
        precision=wanted,
        estimate=float(y[:passed].mean()),
        low=low,
        high=high,
        n_selected=passed,
        share_selected=passed / y.size,
        n=y.size,
        n_groups=None if codes is None else int(codes.max()) + 1,
        confidence_level=level,
    )


def _why_none(
    y: np.ndarray, q: np.ndarray, codes: np.ndarray | None, wanted: float, level: float
) -> str:
    """Return why no threshold is shown to have the precision."""
    y, q, codes = _highest_first(y, q, codes)
    tried, _, interval, least = _find(y, q, codes, wanted, 1 - level)
    if not tried.size:
        return (
            f"This needs at least {least:,} answers, even if all are right, and there "
            f"are {y.size:,}."
        )
    low, n = max((interval(n)[0], n) for n in tried.tolist())
    shown = np.floor(1000 * low) / 1000  # rounded down, so below `precision`
    return (
        f"The lower bound is too low at each threshold. The highest is {shown:.3f}, at "
        f"the threshold {q[n - 1]:.4g} with {n} of {y.size} answers."
    )


def _highest_first(
    y: np.ndarray, q: np.ndarray, codes: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    order = np.argsort(q)[::-1]
    return y[order], q[order], None if codes is None else codes[order]


def _find(
    y: np.ndarray, q: np.ndarray, codes: np.ndarray | None, wanted: float, error: float
) -> _Found:
    """Return the numbers of answers tried, the one found, its bounds and the least.

    Answers are in descending order of their probabilities q.
    """
    few = codes is None and y.size < _FEW * np.log(error) / np.log(wanted)
    return (_by_bets if few else _by_sequences)(y, q, codes, wanted, error)


def _by_bets(
    y: np.ndarray, q: np.ndarray, _: Any, wanted: float, error: float
) -> _Found:
    """Return the same as :func:`_find`, with bets at all thresholds."""
    right, log_factor = np.cumsum(y), -np.log(error)

    def interval(n: int) -> tuple[float, float]:
        k = int(right[n - 1])
        return _bet_bound(k, n, log_factor), 1 - _bet_bound(n - k, n, log_factor)

    # The capital if all answers are right; it is smaller than that of one bet on p = 1.
    first = log_factor / -np.log(wanted)
    enough = brentq(
        lambda n: float(_log_capital(n, n, wanted)) - log_factor, first, 1e3 * first
    )
    least = int(np.ceil(enough))
    tried = _sizes(q, least, _PER_DOUBLING_OF_BETS)
    reached = _log_capital(right[tried - 1], tried, wanted) >= log_factor
    return tried, int(tried[reached].max(initial=0)), interval, least


def _log_capital(k: ArrayLike, n: ArrayLike, p: float) -> np.ndarray:
    """Return the logarithm of the capital after k of n answers were right.

    The bets are fair for the precision p, and 1 / capital is a p-value.
    """
    k, wrong = np.asarray(k), np.asarray(n) - k + _SHAPE
    with np.errstate(divide="ignore"):  # a capital of 0
        inside = np.log(betaincc(k + 1, wrong, p)) + betaln(k + 1, wrong)
    return inside + np.log(_SHAPE) - k * np.log(p) - wrong * np.log1p(-p)


def _bet_bound(k: int, n: int, log_factor: float) -> float:
    """Return the smallest precision that k of n right answers do not exclude."""
    if k == 0:
        return 0.0
    ends = np.finfo(float).tiny, min(k / n, 1 - 1e-15)
    return float(brentq(lambda p: float(_log_capital(k, n, p)) - log_factor, *ends))


def _by_sequences(
    y: np.ndarray, q: np.ndarray, codes: np.ndarray | None, wanted: float, error: float
) -> _Found:
    """Return the same as :func:`_find`; only starts of sequences are tried."""
    error /= _N_STARTS

    def interval(n: int) -> tuple[float, float]:
        if codes is None:
            return clopper_pearson(float(y[:n].mean()), n, 1 - 2 * error)
        return grouped_frequency_interval(y[:n], q[:n], codes[:n], 1 - 2 * error)

    # With fewer answers, the bound is too low even if all of them are right.
    least = int(np.ceil(np.log(error) / np.log(wanted)))
    sizes = _sizes(q, least, _PER_DOUBLING)
    starts, passed = _starts(sizes, least), 0
    for start in starts.tolist():
        # Each sequence ends at the first test that fails, so that its tests together
        # have the error of one test.
        for n in sizes[sizes >= max(start, passed + 1)].tolist():
            if interval(n)[0] < wanted:
                break
            passed = n
    # Other thresholds may have a higher bound, but were not chosen in advance.
    return starts, passed, interval, least


def _sizes(q: np.ndarray, least: int, per_doubling: int) -> np.ndarray:
    """Return numbers of answers selected by the thresholds to test, ascending."""
    if q.size < least:
        return np.zeros(0, dtype=np.intp)
    n_steps = int(np.ceil(per_doubling * np.log2(q.size / least))) + 1
    grid = np.ceil(np.geomspace(least, q.size, n_steps)).astype(np.intp)
    # A threshold also selects all answers of equal probability.
    return np.unique(q.size - np.searchsorted(q[::-1], q[np.minimum(grid, q.size) - 1]))


def _starts(sizes: np.ndarray, least: int) -> np.ndarray:
    """Return the numbers of answers where a sequence of tests starts."""
    if not sizes.size:
        return sizes
    # With many equal probabilities, the smallest size is much larger than `least`.
    grid = np.geomspace(2 * least, max(2 * least, sizes[-1]), _N_STARTS + 1)
    return sizes[np.unique(np.searchsorted(sizes, np.minimum(grid[:-1], sizes[-1])))]
