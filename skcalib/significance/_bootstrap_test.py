"""Paired bootstrap test with recentring, and sign flips where that errs too often."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .._errors import public
from .._random import RandomStateLike, as_generator
from .._results import as_frame
from .._validation import check_choice, check_fraction, check_integer
from ..evaluation import Evaluation
from ._paired_items import PairedItems, check_items
from ._ratio_gain import Undrawn, linear_half_width, undrawn_p_value
from ._resamples import resample_gains
from ._sign_flips import FlippedGain
from ._test_result import ALTERNATIVES, ConfidenceInterval, PairedTestResult
from ._tilted_resamples import drawn_p_value

METHODS = ("auto", "exact", "saddlepoint", "monte_carlo", "tilted", "sign_flips")

# Above this smallest attainable p-value a test cannot find anything.
_USUAL_LEVEL = 0.05


@dataclass(frozen=True, repr=False)
class PairedBootstrapResult(PairedTestResult):
    """The gain of one system over another, and whether it is real.

    Made by :func:`paired_bootstrap_test`.

    Attributes
    ----------
    statistic : float
        The gain, metric(A) - metric(B).
    pvalue : float
    confidence_interval : named tuple (low, high)
        Of the gain, two-sided whatever the alternative.
    standard_error : float
        Of the gain.
    score_a, score_b : float
        Metric of each system.
    metric : str
        'mean', 'ratio', 'f1' or the name of the callable.
    alternative : str
    method : str
        How the p-value was found: by resamples, 'exact', 'saddlepoint', 'monte_carlo'
        or 'tilted'; or by 'sign_flips'.
    confidence_level : float
    smallest_pvalue : float
        The smallest p-value that is attainable: with sign flips and with 'auto' that
        of a lead of one system in every item (or group) in which they differ; of
        'monte_carlo' 1 / (n_resamples + 1); else 0.
    n_items : int
        Number of rows that were passed.
    n_groups : int or None
        Number of groups; None if items are resampled.
    n_informative : int
        Number of items (or groups) that are not all zeros in both systems.
    n_effective_groups : float
        (sum n)^2 / sum n^2 of the sizes n of groups, in items that are not all zeros;
        without groups `n_informative`.
    n_resamples : int or None
        None where nothing is drawn.
    monte_carlo_error : float
        Standard error of the p-value by drawing; 0 where nothing is drawn.
    n_undefined : int
        Number of resamples in which the metric of a system was 0/0, and taken as 0.

    See Also
    --------
    paired_bootstrap_test : Compute it.

    Examples
    --------
    >>> from skcalib.significance import paired_bootstrap_test
    >>> result = paired_bootstrap_test([3, 5, 4, 6, 7, 5], [2, 4, 1, 4, 3, 0])
    >>> result.method, result.pvalue, result.smallest_pvalue
    ('sign_flips', 0.03125, 0.03125)
    """

    _shown: ClassVar[tuple[str, ...]] = (
        "standard_error",
        "metric",
        "alternative",
        "method",
        "confidence_level",
        "smallest_pvalue",
        "n_items",
        "n_groups",
        "n_informative",
        "n_effective_groups",
        "n_resamples",
        "monte_carlo_error",
    )

    confidence_interval: ConfidenceInterval
    standard_error: float
    score_a: float
    score_b: float
    metric: str
    alternative: str
    method: str
    confidence_level: float
    smallest_pvalue: float
    n_items: int
    n_groups: int | None
    n_informative: int
    n_effective_groups: float
    n_resamples: int | None
    monte_carlo_error: float
    n_undefined: int

    @public
    def frame(self) -> Any:
        """Return a pandas DataFrame of one row."""
        columns = {name: [value] for name, value in self.to_dict().items()}
        low, high = columns.pop("confidence_interval")[0]
        columns |= {"low": [low], "high": [high]}
        return as_frame(columns, method=f"{type(self).__name__}.frame")

    def _interval_text(self) -> str:
        low, high = self.confidence_interval
        return f" [{low:.6g}, {high:.6g}]"


@public
def paired_bootstrap_test(
    stats_a: ArrayLike | Evaluation,
    stats_b: ArrayLike | Evaluation,
    *,
    statistic: str | Callable = "mean",
    alternative: str = "two-sided",
    method: str = "auto",
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    groups: ArrayLike | None = None,
    random_state: RandomStateLike = None,
) -> PairedBootstrapResult:
    """Test whether system A is better than system B on the same items.

    The paired bootstrap with recentring [1]_: items are drawn with replacement, the
    same for both systems, and the p-value is how often the gain d* of a resample is as
    far from the observed gain d as d is from 0. Of few items, or few or unequal groups,
    that is too small; the default then flips the signs of differences instead.

    Parameters
    ----------
    stats_a, stats_b : array-like of shape (n,) or (n, m), or Evaluation
        Sufficient statistics of the two systems, a row for each item (sentence), in
        the same order. For 'mean' a value an item, (n,) or (n, 1); for 'ratio'
        numerator and denominator, (n, 2); for 'f1' the numbers correct, guessed and
        gold, (n, 3). Two evaluations are matched by question and compared by the mean
        scores of their questions; `groups` may then name a column of theirs.
    statistic : {'mean', 'ratio', 'f1'} or callable, default='mean'
        The metric of summed columns: 'ratio' divides one sum by the other, 'f1' is
        2 correct / (guessed + gold), and 0/0 is 0. A callable maps the summed columns
        of a system, an array of shape (m,), to a number; one that also takes (k, m)
        and gives (k,), or takes (m, k), is called on many resamples at once.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        'greater' asks whether A is better: P(d* >= 2 d). 'less': P(d* <= 2 d).
        'two-sided': P(abs(d* - d) >= abs(d)). Ties are counted in. Which system is A
        has to be fixed before the data are seen: to call the better one A and test
        'greater' doubles the error rate.
    method : str, default='auto'
        'exact' sums the law of all n^n resamples; for whole numbers, and 'mean' or
        'ratio' with the same denominators for both systems. 'saddlepoint' is the
        Lugannani-Rice formula for these metrics, also of other numbers. 'monte_carlo'
        draws resamples. 'tilted' draws them where the event is common, and weights
        them, for small p-values of any smooth metric. 'sign_flips' swaps the two
        systems at random in each item or group, all ways of doing so where these are
        few. 'auto' takes sign flips below about 60 items or groups, in effect, and for
        unequal groups (see Notes); else the first of exact (on a lattice of moderate
        size) and saddlepoint that is possible, else Monte Carlo, and tilted where fewer
        than 50 resamples are extreme.
    n_resamples : int, default=10_000
        Number of draws of 'monte_carlo' and 'sign_flips', and of 'tilted' for each
        tail.
    confidence_level : float, default=0.95
        Strictly between 0 and 1.
    groups : array-like of shape (n,), default=None
        Document of each item, say. Items of one group may depend on each other: whole
        groups are drawn instead of items.
    random_state : int, RandomState, Generator or None, default=None
        Source of the draws.

    Returns
    -------
    result : PairedBootstrapResult

    Raises
    ------
    ValueError
        If a parameter or a row is not as described, there are fewer than two items or
        groups, or the method cannot do the metric.

    Warns
    -----
    UserWarning
        With 'auto' and 'sign_flips', if the smallest attainable p-value is above .05:
        fewer than six items or groups differ (five for one side). And if the gain has
        zero variance, as where A has the same lead in every item. No resample is then
        different, and the p-value is that of sign flips, 2^-n, or twice that for two
        sides.

    See Also
    --------
    permutation_test : Swaps the systems at random instead.
    mcnemar_test : Of two classifiers, from the items on which they differ.

    Notes
    -----
    A Monte Carlo p-value is (s + 1) / (b + 1) for s extreme of b resamples, never 0.
    Whole numbers are compared as such; otherwise a gain that falls short of a tie by
    1e-9 of itself (1e-12 of the larger score) counts as a tie. An exact or
    saddlepoint p-value can be 0: on few items it may be that no resample reaches twice
    the gain.

    The interval of resamples is d -+ c, where c is the distance abs(d* - d) that is
    reached with probability 1 - confidence_level: the basic bootstrap with symmetric
    tails. It excludes 0 if and only if the two-sided p-value is below
    1 - confidence_level. The percentile interval does not have this property, and where
    a metric is biased it adds the bias a second time.

    *Sign flips* [2]_ write the gain as a ratio (sum x) / (sum l) over items or groups,
    x being a difference that turns its sign where the systems are swapped: of values or
    numerators; of F1, and of ratios with two denominators, of what each system has
    above the score of both together. The p-value is how often a sum of +-x is as far
    from 0, which is exact for exchangeable systems and right on the whole for others.
    The interval holds the gains t that are not rejected with x - t l instead of x, from
    the same flips. Its ends are infinite where no gain can be rejected. Flips are
    listed up to 65,536; whole numbers are summed on their lattice; otherwise flips are
    drawn, and where fewer than 50 are extreme the p-value is a saddlepoint.

    *Which of them 'auto' takes*: resamples take the variance of the gain for known, and
    with a document among the items that holds half of the rows it is not. It takes them
    if (sum l)^2 / sum l^2 is at least 60 and (sum l^2)^2 / sum l^4 at least 30, or 60
    with groups; and for wins, losses and ties from 30 items on, or 20 of which half are
    ties. No p-value of 'auto' is below that of a lead in every item or group that
    differs. Measured sizes are in :ref:`the guide <significance_few>`.

    *Items that are all zeros in both systems*, without a denominator, an entity or a
    weight, change no sum. 'auto' and 'sign_flips' leave them out. The other methods are
    the published procedure and draw all rows.

    An exact p-value is an inverted characteristic function of exponentially tilted
    sums, with a relative error near 1e-13 however small it is. A saddlepoint one is
    within about 1e-3, from a hundred items on.

    References
    ----------
    .. [1] T. Berg-Kirkpatrick, D. Burkett and D. Klein (2012). "An empirical
       investigation of statistical significance in NLP". EMNLP-CoNLL.
    .. [2] I. A. Canay, J. P. Romano and A. M. Shaikh (2017). "Randomization tests under
       an approximate symmetry assumption". Econometrica 85, 1013-1030.

    Examples
    --------
    Accuracies of two classifiers on 100 items; they differ on 12:

    >>> import numpy as np
    >>> from skcalib.significance import paired_bootstrap_test
    >>> correct_a = np.repeat([1, 1, 0, 0], [60, 9, 3, 28])
    >>> correct_b = np.repeat([1, 0, 1, 0], [60, 9, 3, 28])
    >>> result = paired_bootstrap_test(correct_a, correct_b)
    >>> result.method, round(result.pvalue, 4)
    ('exact', 0.1052)

    Token accuracy of sentences, as correct and number of tokens:

    >>> rng = np.random.default_rng(0)
    >>> length = rng.integers(5, 30, 500)
    >>> a = np.column_stack([rng.binomial(length, 0.93), length])
    >>> b = np.column_stack([rng.binomial(length, 0.91), length])
    >>> result = paired_bootstrap_test(a, b, statistic="ratio")
    >>> result.pvalue < 0.001
    True

    Ten ratings: all 1,024 ways to flip their signs.

    >>> a, b = [4, 5, 3, 4, 5, 5, 4, 3, 5, 4], [3, 5, 3, 3, 4, 4, 2, 3, 4, 5]
    >>> result = paired_bootstrap_test(a, b)
    >>> result.method, result.pvalue, result.smallest_pvalue
    ('sign_flips', 0.109375, 0.015625)
    """
    check_choice(alternative, ALTERNATIVES, name="alternative")
    check_choice(method, METHODS, name="method")
    n_resamples = check_integer(n_resamples, minimum=1, name="n_resamples")
    level = check_fraction(confidence_level, name="confidence_level")
    rng = as_generator(random_state)
    items = check_items(stats_a, stats_b, statistic, groups)
    if method == "auto":
        items = items.informative
    if items.is_constant and items.gain == 0:
        return _result(items, "exact", 1.0, alternative, level, 0.0, 0.0)
    if items.is_constant:
        warnings.warn(
            "paired_bootstrap_test: zero variance of the gain, which is the same "
            "in every item, so resampling is not informative. The p-value is that "
            "of swapping the systems at random.",
            UserWarning,
            stacklevel=3,
        )
        flips = FlippedGain(items)
        return _flipped_result(items, flips, alternative, level, n_resamples, rng)
    if method in ("auto", "sign_flips"):
        flips = FlippedGain(items)
        _warn_of_few(flips.smallest_p_value(alternative), items, alternative)
    if method == "sign_flips" or (method == "auto" and not flips.suits_bootstrap):
        return _flipped_result(items, flips, alternative, level, n_resamples, rng)
    known = undrawn_p_value(items.linear, items.metric.name, alternative, method)
    if known is not None:
        result = _undrawn_result(items, known, alternative, level)
    else:
        result = _drawn_result(items, method, alternative, level, n_resamples, rng)
    if method != "auto":
        return result
    if flips.refuses(result.pvalue, alternative):
        return _flipped_result(items, flips, alternative, level, n_resamples, rng)
    return replace(result, smallest_pvalue=flips.smallest_p_value(alternative))


def _warn_of_few(smallest: float, items: PairedItems, alternative: str) -> None:
    """Warn where the usual level cannot be reached."""
    if smallest <= _USUAL_LEVEL:
        return
    unit = "items" if items.n_groups is None else "groups"
    least = "six" if alternative == "two-sided" else "five"
    warnings.warn(
        f"paired_bootstrap_test: the systems differ in so few {unit} that no p-value "
        f"can be below {smallest:.3g}, whatever the gain. Compare them on more {unit} "
        f"({least} in which they differ are the least for p < .05), or report the "
        "scores without a test.",
        UserWarning,
        stacklevel=4,
    )


def _flipped_result(
    items: PairedItems,
    flips: FlippedGain,
    alternative: str,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> PairedBootstrapResult:
    """Return the result of sign flips, p-value and interval from the same ones."""
    found = flips.test(alternative, level, n_resamples, rng)
    error = flips.gain.standard_error
    return replace(
        _result(items, "sign_flips", found.pvalue, alternative, level, 0.0, error),
        confidence_interval=ConfidenceInterval(found.low, found.high),
        smallest_pvalue=flips.smallest_p_value(alternative),
        n_resamples=found.n_drawn,
        monte_carlo_error=found.error,
    )


def _undrawn_result(
    items: PairedItems, known: Undrawn, alternative: str, level: float
) -> PairedBootstrapResult:
    """Return the result of a p-value for which nothing was drawn."""
    linear = items.linear
    assert linear is not None
    half = linear_half_width(linear, level, largest_window=known.largest_window)
    error = linear.standard_error
    return _result(items, known.method, known.pvalue, alternative, level, half, error)


def _drawn_result(
    items: PairedItems,
    method: str,
    alternative: str,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> PairedBootstrapResult:
    """Return the result of resamples that are drawn."""
    gains = resample_gains(items, alternative, n_resamples, rng)
    seen = gains.extremes(alternative)
    found = drawn_p_value(items, alternative, method, seen, n_resamples, rng)
    spread = float(gains.values.std(ddof=1)) if gains.n > 1 else 0.0
    half = gains.half_width(level)
    least = 1 / (gains.n + 1) if found.method == "monte_carlo" else 0.0
    return replace(
        _result(items, found.method, found.pvalue, alternative, level, half, spread),
        smallest_pvalue=least,
        n_resamples=gains.n,
        monte_carlo_error=found.error,
        n_undefined=gains.n_undefined,
    )


def _result(
    items: PairedItems,
    method: str,
    p: float,
    alternative: str,
    level: float,
    half: float,
    standard_error: float,
) -> PairedBootstrapResult:
    gain = items.gain
    if alternative == "two-sided":
        half = _agreeing(half, gain, p, level)
    return PairedBootstrapResult(
        statistic=gain,
        pvalue=p,
        confidence_interval=ConfidenceInterval(gain - half, gain + half),
        standard_error=standard_error,
        score_a=items.scores[0],
        score_b=items.scores[1],
        metric=items.metric.name,
        alternative=alternative,
        method=method,
        confidence_level=level,
        smallest_pvalue=0.0,
        n_items=items.n_items,
        n_groups=items.n_groups,
        n_informative=items.informative.n,
        n_effective_groups=items.n_effective,
        n_resamples=None,
        monte_carlo_error=0.0,
        n_undefined=0,
    )


def _agreeing(half: float, gain: float, p: float, level: float) -> float:
    """Return a half width with which 0 is left out just if p is below 1 - level.

    The p-value may come from elsewhere than the width: from a lattice, a saddlepoint or
    tilted resamples.
    """
    if p < (1 - level) * (1 - 1e-12):
        return min(half, math.nextafter(abs(gain), 0.0))
    return max(half, abs(gain))
