"""Test whether two models differ in calibration on the same items."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, public, warn
from .._pairs import Pairs, check_pairs
from .._parallel import RandomStateLike, as_generator
from .._results import Result, p_text, zero_in_words
from .._validation import as_probabilities, check_choice, check_fraction, check_integer
from ..metrics._bins import Binning, check_binning
from ..metrics._calibration_error import ResampledError, error_of_pairs
from ..metrics._decomposition import brier_of_rows
from ..significance import paired_bootstrap_test
from ..significance._resamples import resample_counts
from ..significance._two_systems import ConfidenceInterval

ALTERNATIVES = ("two-sided", "greater", "less")

# Number of swaps used to estimate how similar the errors of the models are.
_N_PILOT = 50

# If the models have similar errors, swapping preserves the squared errors. Only
# resamples are used if at most the first share of the squared errors is preserved, and
# only swaps are used if at least the second share is preserved.
_UNLIKE, _ALIKE = 0.5, 0.8

# If the smallest p-value that swaps can attain is above this value, the test has no
# power. Resamples are not used then: they are so alike that they reject equal errors.
_USUAL_LEVEL = 0.05

# Number of swaps or counts in memory at a time (1 byte each).
_BLOCK = 1 << 25


@dataclass(frozen=True)
class CalibrationComparison(Result):
    """Calibration errors and Brier scores of two models on the same items.

    Returned by :func:`compare_calibration`.

    Attributes
    ----------
    error_a, error_b : float
        Calibration errors of models A and B, computed with the same bin size.
    difference : float
        `error_a` - `error_b`.
    pvalue : float
        P-value of the hypothesis that the errors are equal.
    low, high : float
        Ends of the confidence interval of the difference.
    brier_a, brier_b : float
        Brier scores of models A and B.
    brier_difference : float
        `brier_a` - `brier_b`.
    brier_pvalue : float
        P-value of the hypothesis that the Brier scores are equal.
    brier_low, brier_high : float
        Ends of the confidence interval of `brier_difference`.
    alternative : str
        Alternative hypothesis.
    confidence_level : float
        Confidence level of the intervals.
    bin_size : int
        Number of pairs (total weight) in a bin.
    n_items : int
        Number of items: the number of groups, or of rows if `groups` is None.
    n_resamples : int
        Number of resamples.

    See Also
    --------
    compare_calibration : Compute the comparison.

    Examples
    --------
    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.scorers import compare_calibration
    >>> y_true, y_proba = make_calibrated_pairs(2000, random_state=0)
    >>> result = compare_calibration(y_true, y_proba, y_proba, random_state=0)
    >>> result.difference, result.pvalue
    (0.0, 1.0)
    """

    error_a: float
    error_b: float
    difference: float
    pvalue: float
    low: float
    high: float
    brier_a: float
    brier_b: float
    brier_difference: float
    brier_pvalue: float
    brier_low: float
    brier_high: float
    alternative: str
    confidence_level: float
    bin_size: int
    n_items: int
    n_resamples: int

    @property
    def confidence_interval(self) -> ConfidenceInterval:
        """Confidence interval of the difference of calibration errors, (low, high)."""
        return ConfidenceInterval(self.low, self.high)

    def _in_words(self) -> tuple[str, ...]:
        words = zero_in_words(self.low, self.high, self.confidence_level, self.pvalue)
        return (f"Calibration error: {words[0].lower()}{words[1:]}",)

    def __repr__(self) -> str:
        return (
            f"CalibrationComparison(error {self.error_a:.4f} - {self.error_b:.4f} = "
            f"{self.difference:+.4f} [{self.low:+.4f}, {self.high:+.4f}], "
            f"{p_text(self.pvalue, before='pvalue=')}; "
            f"Brier {self.brier_difference:+.4f}, "
            f"{p_text(self.brier_pvalue, before='pvalue=')}; "
            f"alternative={self.alternative!r}, "
            f"confidence_level={self.confidence_level:g}, bin_size={self.bin_size}, "
            f"n_items={self.n_items}, n_resamples={self.n_resamples})"
        )


@public
def compare_calibration(
    y_true: ArrayLike,
    proba_a: ArrayLike,
    proba_b: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    bin_size: int | str = "auto",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    multi_class: str | None = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    y_true_b: ArrayLike | None = None,
    random_state: RandomStateLike = None,
) -> CalibrationComparison:
    """Test whether two models differ in calibration error, on the same items.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    proba_a : array-like of shape (n,) or (n, n_classes)
        Probabilities of model A, as in :func:`~skcalib.metrics.calibration_error`.
    proba_b : array-like of shape (n,) or (n, n_classes)
        Probabilities of model B for the same rows.
    groups : array-like of shape (n,), default=None
        Sentence or document of each row. Whole groups are resampled. If None, rows are
        treated as independent, which is wrong for the tokens of a sentence.
    bin_size : int or 'auto', default='auto'
        Number of pairs in a bin, as in :func:`~skcalib.metrics.calibration_error`. The
        same size is used for both models and every resample.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        Alternative hypothesis. 'greater' means that the error of A is larger than the
        error of B, and 'less' means that it is smaller. Choose the alternative before
        looking at the data.
    confidence_level : float, default=0.95
        Confidence level of the intervals of the differences.
    n_resamples : int, default=2000
        Number of resamples.
    multi_class : {'pooled', 'top_label'}, default=None
        How a matrix is reduced to pairs, as in
        :func:`~skcalib.metrics.calibration_error`.
    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the columns. If None, the sorted labels of `y_true` are
        used.
    pos_label : label, default=None
        Positive class. If None, it is 1, or the label of the second column if there are
        two columns.
    y_true_b : array-like of shape (n,), default=None
        Labels for model B, if the two models have different labels. For example, the
        label for a language model may be whether its own answer is right. If None,
        `y_true` is used for both models.
    random_state : int, RandomState, Generator or None, default=None
        Random state used to draw the resamples.

    Returns
    -------
    result : CalibrationComparison

    Raises
    ------
    ValueError
        If a parameter or a row is invalid, if the probabilities of the two models have
        different shapes, or if there are fewer than two items.

    Warns
    -----
    UserWarning
        If there are so few items that the smallest p-value that swaps can attain (see
        Notes) is above .05.

    See Also
    --------
    skcalib.metrics.calibration_error_interval : The error of one model.
    skcalib.significance.paired_bootstrap_test : Paired test for other metrics.

    Notes
    -----
    Two null distributions of the difference are simulated.

    - *Swaps*: in each item (row or group), the probabilities of the two models are
      exchanged with probability 1/2. The test is then exact if the models are
      exchangeable. It is not valid if the errors of the models have opposite signs,
      because these errors cancel when the models are mixed.
    - *Resamples*: items are drawn with replacement. Let d be the difference of the
      errors in the data, and d* the difference in a resample. The null distribution is
      the distribution of d* - d. The test is then approximately valid for models with
      different errors. If the errors of the models are similar, the resampled
      differences vary too much, and the test is conservative.

    The two distributions are combined with weights that depend on the data. Let r be
    the mean squared calibration error of the swapped models, divided by the mean
    squared calibration error of the original models. The weight of the swaps is 1 for
    r >= .8, 0 for r <= .5, and linear in between. The quantiles of the two
    distributions are averaged with these weights. With fewer than six items, only swaps
    are used, so that the two-sided p-value cannot be below .05. Perfect calibration is
    not tested with so few rows (see
    :func:`~skcalib.metrics.calibration_error_interval`), but swaps are exact for any
    number of items.

    The p-value is (s + 1) / (b + 1), where b is `n_resamples` and s is the number of
    averaged quantiles that are at least as far from 0 as d. The two-sided interval is d
    plus and minus a quantile of the combined distribution. It excludes 0 if and only if
    the two-sided p-value is below 1 - confidence_level. The errors are plug-in errors,
    which are biased upwards by label noise. For models of approximately equal sharpness
    this bias cancels in the difference.

    The Brier score is a mean, so its test
    (:func:`~skcalib.significance.paired_bootstrap_test`) does not need this
    construction and has more power. However, the Brier score also measures sharpness.

    Examples
    --------
    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.scorers import compare_calibration
    >>> y_true, right = make_calibrated_pairs(2000, random_state=0)
    >>> result = compare_calibration(y_true, right, right**2, random_state=0)
    >>> result.difference < 0, result.pvalue < 0.01, result.brier_pvalue < 0.01
    (True, True, True)
    """
    check_choice(alternative, ALTERNATIVES, name="alternative")
    level = check_fraction(confidence_level, name="confidence_level")
    n_resamples = check_integer(n_resamples, minimum=1, name="n_resamples")
    binning = check_binning(bin_size, None, "quantile")
    if multi_class in ("class_wise", "per_class"):
        raise ParameterError(
            None,
            "compares one error per model: the 'multi_class' parameter "
            f"must be 'pooled' or 'top_label'. Got {multi_class!r}.",
        )
    as_pairs = partial(
        check_pairs,
        multi_class=multi_class,
        labels=labels,
        pos_label=pos_label,
        groups=groups,
    )
    q_a, q_b = _same_shape(proba_a, proba_b)
    (pairs_a,) = as_pairs(y_true, q_a)
    (pairs_b,) = as_pairs(y_true if y_true_b is None else y_true_b, q_b)
    generator = as_generator(random_state)
    item, brier_groups = _items_of_pairs(pairs_a, pairs_b)
    n_items = int(item.max()) + 1
    unit = "rows" if groups is None else "groups"
    if n_items < 2:
        raise ParameterError(None, f"needs at least two {unit}. Got {n_items}.")
    smallest = _smallest_p_value(n_items, alternative)
    if smallest > _USUAL_LEVEL:
        warn(
            f"compare_calibration: with {n_items} {unit}, swapping the models cannot "
            f"give a p-value below {smallest:.3g}. Compare the models on more {unit}."
        )
    binning = binning.for_rows(pairs_a.row_total)
    assert isinstance(binning.bin_size, int)
    drawn = _Differences(pairs_a, pairs_b, item, binning, n_resamples, generator)
    a, b = drawn.errors
    brier_a, brier_b = brier_of_rows(pairs_a), brier_of_rows(pairs_b)
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        # the user was already warned of few items
        score = paired_bootstrap_test(
            brier_a,
            brier_b,
            statistic="mean",
            alternative=alternative,
            groups=brier_groups,
            confidence_level=level,
            random_state=generator,
        )
    low, high = _interval(a - b, drawn.null("two-sided"), level)
    return CalibrationComparison(
        error_a=a,
        error_b=b,
        difference=a - b,
        pvalue=_p_value(a - b, drawn.null(alternative), alternative),
        low=low,
        high=high,
        brier_a=float(brier_a.mean()),
        brier_b=float(brier_b.mean()),
        brier_difference=float(score.statistic),
        brier_pvalue=float(score.pvalue),
        brier_low=float(score.confidence_interval[0]),
        brier_high=float(score.confidence_interval[1]),
        alternative=alternative,
        confidence_level=level,
        bin_size=binning.bin_size,
        n_items=n_items,
        n_resamples=n_resamples,
    )


def _same_shape(proba_a: Any, proba_b: Any) -> list[np.ndarray]:
    """Return the probabilities of both models, which must have one shape."""
    found = [
        as_probabilities(proba, name=name)
        for name, proba in (("proba_a", proba_a), ("proba_b", proba_b))
    ]
    if found[0].shape != found[1].shape:
        raise ParameterError(
            None,
            "needs probabilities of the same shape from both models. Got "
            f"{found[0].shape} in 'proba_a' and {found[1].shape} in 'proba_b'.",
        )
    return found


def _items_of_pairs(a: Pairs, b: Pairs) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the item of each pair, and the group of each row if there are groups.

    Rows are numbered by their content, so the draws depend neither on the order of the
    rows nor on the order of the models.
    """
    if a.groups is not None:
        return a.groups, a.groups[:: a.n_classes]
    if math.fsum(brier_of_rows(a)) < math.fsum(brier_of_rows(b)):
        a, b = b, a
    values = (b.indicator(), a.indicator(), a.q, b.q)
    columns = [x.reshape(-1, a.n_classes).T for x in values]
    order = np.lexsort(np.concatenate(columns))
    rank = np.empty(order.size, dtype=np.intp)
    rank[order] = np.arange(order.size)
    return np.repeat(rank, a.n_classes), None


class _Differences:
    """Simulated differences of the errors of two models under the null hypothesis.

    Attributes
    ----------
    errors : tuple of float
        Errors of the models.
    weight : float
        Weight of the swaps, from 0 to 1. The resamples have the remaining weight.
    """

    def __init__(
        self,
        a: Pairs,
        b: Pairs,
        item: np.ndarray,
        binning: Binning,
        n_resamples: int,
        rng: np.random.Generator,
    ):
        n_items = int(item.max()) + 1
        self._n_items, self._rng = n_items, rng
        self.errors = error_of_pairs(a, binning), error_of_pairs(b, binning)
        difference = self.errors[0] - self.errors[1]
        positive = np.concatenate([a.indicator(), b.indicator()])
        q = np.concatenate([a.q, b.q])
        both = Pairs(q, positive, q[positive])
        swapped = ResampledError(both, np.r_[item, item + n_items], binning)
        pilot = self._swaps(swapped, min(_N_PILOT, n_resamples))
        self.weight = 1.0
        if difference != 0 and _smallest_p_value(n_items, "two-sided") <= _USUAL_LEVEL:
            share = float((pilot**2).sum(axis=1).mean())
            share /= self.errors[0] ** 2 + self.errors[1] ** 2
            share = (share - _UNLIKE) / (_ALIKE - _UNLIKE)
            self.weight = min(max(share, 0.0), 1.0)
        self._values: list[tuple[float, np.ndarray]] = []
        if self.weight > 0:
            more = self._swaps(swapped, n_resamples - len(pilot))
            first, second = np.concatenate([pilot, more]).T
            self._values.append((self.weight, first - second))
        del swapped  # which is large
        if self.weight < 1:
            error_a, error_b = (ResampledError(each, item, binning) for each in (a, b))
            chunks = resample_counts(
                n_items, n_resamples, rng, dtype=np.uint8, block=_BLOCK
            )
            drawn = np.concatenate([error_a(n) - error_b(n) for n in chunks])
            self._values.append((1 - self.weight, drawn - difference))

    def null(self, alternative: str) -> np.ndarray:
        """Return the sorted null distribution of the difference or of its size."""
        found = np.zeros(1)
        for weight, values in self._values:
            # Values within the rounding error are 0.
            values = np.where(np.abs(values) < 1e-12, 0.0, values)
            if alternative == "two-sided":
                values = np.abs(values)
            found = found + weight * np.sort(values)
        return found

    def _swaps(self, error: ResampledError, n: int) -> np.ndarray:
        """Return the errors of both models after random swaps, of shape (n, 2)."""
        errors = np.empty((n, 2))
        step = max(1, _BLOCK // self._n_items)
        for start in range(0, n, step):
            shape = min(step, n - start), self._n_items
            # the first bit of each byte
            stays = np.frombuffer(self._rng.bytes(math.prod(shape)), np.uint8) >> 7
            errors[start : start + shape[0]] = error.of_swaps(stays.reshape(shape))
        return errors


def _p_value(difference: float, null: np.ndarray, alternative: str) -> float:
    """Return (s + 1) / (b + 1), where s includes ties."""
    if alternative == "two-sided":
        difference = abs(difference)
    elif alternative == "less":
        null, difference = -null, -difference
    # Differences within the rounding error are ties.
    extreme = null >= difference - 1e-9 * abs(difference)
    return float((np.count_nonzero(extreme) + 1) / (null.size + 1))


def _interval(
    difference: float, distances: np.ndarray, level: float
) -> tuple[float, float]:
    """Return the differences that are not rejected; `distances` are sorted.

    The half width is the largest distance x whose p-value (s + 1) / (b + 1) is at least
    1 - level.
    """
    chance = (1 - level) * (1 - 1e-12)
    reached = math.ceil(chance * (distances.size + 1)) - 1
    half = float(distances[-max(reached, 1)])
    if _p_value(difference, distances, "two-sided") < chance:
        half = min(half, math.nextafter(abs(difference), 0.0))
    else:
        half = max(half, abs(difference))
    return difference - half, difference + half


def _smallest_p_value(n_items: int, alternative: str) -> float:
    """Return the smallest p-value that swaps of the models can attain."""
    return 2.0 ** (1 - n_items if alternative == "two-sided" else -n_items)
