"""Tests of two systems: paired bootstrap, permutation test and McNemar's test."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, public, warn
from .._parallel import RandomStateLike, as_generator
from .._results import Result, as_frame, p_text, zero_in_words
from .._validation import (
    as_floats,
    check_bool,
    check_choice,
    check_fraction,
    check_integer,
    check_same_length,
)
from ..evaluation import Evaluation
from ._pair_tests import choose_test
from ._paired_items import PairedItems, check_items, check_rows, pair_as_statistics
from ._resamples import (
    check_n_resamples,
    half_width_of_drawn,
    plain_p_value,
    resample_gains,
)
from ._sign_flips import (
    LARGEST_LATTICE,
    MOST_LISTED,
    FlippedGain,
    SignedSum,
    drawn_flips,
    listed_flips,
    mcnemar_pvalues,
)
from ._tail_probabilities import as_pvalues, linear_half_width

ALTERNATIVES = ("two-sided", "greater", "less")

METHODS = ("auto", "exact", "saddlepoint", "monte_carlo", "sign_flips")

_SWAP_METHODS = ("auto", "exact", "monte_carlo")

# A test whose smallest attainable p-value is larger than this cannot be significant.
_USUAL_LEVEL = 0.05

# Largest number of swaps that 'exact' enumerates, and of lattice points it uses.
_MOST_SWAPS, _LARGEST_SWAP_LATTICE = 1 << 20, 1 << 20


class ConfidenceInterval(NamedTuple):
    """Ends of an interval."""

    low: float
    high: float


@dataclass(frozen=True, repr=False)
class PairedTestResult(Result):
    """Base class of the results of paired tests of two systems.

    Attributes
    ----------
    statistic : float
        Difference between the systems.
    pvalue : float
        The p-value. If it underflows, it is the smallest normal float.
    """

    # Fields that the repr leaves out, or shows without their names.
    _unnamed: ClassVar[frozenset[str]] = frozenset(
        ("statistic", "confidence_interval", "score_a", "score_b", "n_undefined")
    )

    statistic: float
    pvalue: float

    def __post_init__(self) -> None:
        # Underflow must not turn a possible event into a probability of 0.
        object.__setattr__(self, "pvalue", float(as_pvalues(np.array(self.pvalue))))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and settings as a dict."""
        return asdict(self)

    def __repr__(self) -> str:
        texts = [f"{self.statistic:.6g}{self._interval_text()}"]
        names = (each.name for each in fields(self) if each.name not in self._unnamed)
        for name in names:
            value = getattr(self, name)
            if value is not None and (name != "monte_carlo_error" or value > 0):
                texts.append(_named(name, value))
        return f"{type(self).__name__}({', '.join(texts)})"

    def _interval_text(self) -> str:
        return ""


def _named(name: str, value: Any) -> str:
    """Return an attribute as text."""
    if name.endswith("pvalue"):
        return p_text(value, before=f"{name}=")
    return f"{name}={value:.3g}" if isinstance(value, float) else f"{name}={value!r}"


@dataclass(frozen=True, repr=False)
class PairedBootstrapResult(PairedTestResult):
    """Result of the paired bootstrap test of two systems.

    Returned by :func:`paired_bootstrap_test`.

    Attributes
    ----------
    statistic : float
        The gain, metric(A) - metric(B).
    pvalue : float
        The p-value.
    confidence_interval : named tuple (low, high)
        Confidence interval of the gain. It is two-sided for every `alternative`.
    standard_error : float
        Standard error of the gain.
    score_a, score_b : float
        Metric of each system.
    metric : str
        'mean', 'ratio', 'f1' or the name of the callable.
    alternative : str
        The alternative hypothesis.
    method : str
        Method that computed the p-value. 'exact', 'saddlepoint' and 'monte_carlo' are
        based on resamples; 'sign_flips' is based on sign flips. 'hall' is Hall's
        transformation of Student's t, which 'auto' uses for rare large losses. 'auto'
        leaves out rows that are all zeros and counts ties of sign flips by half if
        there are enough differences, which the methods of the same name do not.
    confidence_level : float
        Confidence level of the interval.
    smallest_pvalue : float
        Smallest attainable p-value. With sign flips and with 'auto', it is the p-value
        that results if one system leads in every item (or group) in which the systems
        differ, without the correction for skewness. If resamples were drawn, it is at
        least 1 / (n_resamples + 1). Otherwise it is 0.
    n_items : int
        Number of rows that were passed.
    n_groups : int or None
        Number of groups. None if items are resampled.
    n_informative : int
        Number of items (or groups) that are not all zeros in both systems.
    n_effective_groups : float
        (sum n)^2 / sum n^2, where n are the sizes of the groups, counted in items that
        are not all zeros. Without groups, it equals `n_informative`.
    n_resamples : int or None
        Number of draws. None if nothing was drawn.
    monte_carlo_error : float
        Monte Carlo standard error of the p-value. 0 if nothing was drawn.
    n_undefined : int
        Number of resamples in which the metric of a system was 0/0. The metric is
        taken as 0 in these resamples.

    See Also
    --------
    paired_bootstrap_test : Run the test.

    Examples
    --------
    >>> from skcalib.significance import paired_bootstrap_test
    >>> result = paired_bootstrap_test([3, 5, 4, 6, 7, 5], [2, 4, 1, 4, 3, 0])
    >>> result.method, result.pvalue, result.smallest_pvalue
    ('sign_flips', 0.03125, 0.03125)
    """

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
        """Return a DataFrame of one row."""
        columns = {name: [value] for name, value in self.to_dict().items()}
        low, high = columns.pop("confidence_interval")[0]
        columns |= {"low": [low], "high": [high]}
        return as_frame(columns, method="PairedBootstrapResult.frame")

    def _in_words(self) -> tuple[str, ...]:
        level, p = self.confidence_level, self.pvalue
        return (zero_in_words(*self.confidence_interval, level, p),)

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
    """Test whether system A is better than system B; the gain is A - B, as published.

    The test is the paired bootstrap with recentring [1]_. Items are drawn with
    replacement, the same items for both systems. The p-value is the fraction of
    resamples whose gain d* is at least as far from the observed gain d as d is from 0.
    With few items, or with few or unequal groups, this p-value is too small. By
    default, the signs of the differences are then flipped at random instead.

    Parameters
    ----------
    stats_a, stats_b : array-like of shape (n,) or (n, m), or Evaluation
        Sufficient statistics of the two systems, with one row per item (for example,
        per sentence) in the same order. For 'mean', one value per item, of shape (n,)
        or (n, 1). For 'ratio', numerator and denominator, of shape (n, 2). For 'f1',
        the numbers of correct, guessed and gold entities, of shape (n, 3). Two
        evaluations are matched by question and compared by the mean scores of their
        questions; `groups` may then be the name of a column of the evaluations.
    statistic : {'mean', 'ratio', 'f1'} or callable, default='mean'
        Metric of the summed columns. 'ratio' divides the first sum by the second. 'f1'
        is 2 correct / (guessed + gold). 0/0 is defined as 0. A callable maps the summed
        columns of a system, an array of shape (m,), to a number. If the callable also
        maps an array of shape (k, m) or (m, k) to an array of shape (k,), it is called
        on many resamples at once.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        Alternative hypothesis. For 'greater' (A is better), the p-value is P(d* >= 2
        d). For 'less' (B is better), it is P(d* <= 2 d). For 'two-sided', it is
        P(abs(d* - d) >= abs(d)). Ties count as extreme. Decide which system is A before
        looking at the data: calling the better system A and testing 'greater' doubles
        the error rate.
    method : str, default='auto'
        Method used to compute the p-value. 'exact' computes the distribution over all
        n^n resamples. It requires integer statistics and 'mean', or 'ratio' with the
        same denominators for both systems. 'saddlepoint' is the Lugannani-Rice
        approximation for these metrics; it does not require integers. 'monte_carlo'
        draws resamples, for any metric. 'sign_flips' swaps the two systems at random in
        each item or group, or enumerates all swaps if there are few. 'auto' uses sign
        flips, with a correction for ties, if there are effectively fewer than about 60
        items or groups, or if the groups are unequal, and Hall's transformation of
        Student's t, if its p-value is larger than that of sign flips and the leading
        system has rare large losses (see Notes). Otherwise it uses the first applicable
        method:
        'exact' if the sums of the statistics have a moderate number of possible values,
        'saddlepoint' if it supports the metric, and otherwise 'monte_carlo'.
    n_resamples : int, default=10_000
        Number of draws for 'monte_carlo' and 'sign_flips'.
    confidence_level : float, default=0.95
        Confidence level of the interval, strictly between 0 and 1.
    groups : array-like of shape (n,), default=None
        Group of each item, for example its document. Items of one group may depend on
        each other. Whole groups are drawn instead of items.
    random_state : int, RandomState, Generator or None, default=None
        Random state used to draw resamples and sign flips, if any are drawn.

    Returns
    -------
    result : PairedBootstrapResult
        Gain, p-value and confidence interval.

    Raises
    ------
    ValueError
        If a parameter or a row is not as described, if there are fewer than two items
        or groups, or if the method does not support the metric.

    Warns
    -----
    UserWarning
        With 'auto' and 'sign_flips', if the smallest attainable p-value is above .05,
        which is the case if the systems differ in fewer than six items or groups (five
        for a one-sided test; one fewer if ties count by half). The warning is also
        raised if the gain has zero variance, for example because A has the same lead in
        every item. All resamples are then identical, and the p-value of sign flips is
        returned: 2^-n for a one-sided test and 2^(1-n) for a two-sided test.

    See Also
    --------
    permutation_test : Test that swaps the systems at random.
    mcnemar_test : Exact test of two classifiers from their discordant items.

    Notes
    -----
    A Monte Carlo p-value is (s + 1) / (b + 1), where s of b resamples are extreme. It
    is never 0. Integer statistics are compared exactly. For other statistics, a
    resampled gain counts as a tie if it misses the threshold by at most 1e-9 times the
    observed gain, or by at most 1e-12 times the larger score. A p-value that underflows
    is the smallest normal float, as is an exact or saddlepoint p-value if no resample
    reaches twice the gain, which is possible with few items.

    The interval of the resampling methods is d -+ c, where the distance abs(d* - d)
    reaches c with probability 1 - confidence_level. This is the symmetric version of
    the basic bootstrap interval. It excludes 0 if and only if the two-sided p-value is
    below 1 - confidence_level. The percentile interval does not have this property. If
    a metric is biased, the percentile interval also counts the bias twice.

    *Sign flips* [2]_. The gain is written as a ratio (sum x) / (sum l) over items or
    groups. x is a difference that changes its sign when the systems are swapped: the
    difference of the values or numerators. l is the part of the item (or group) in the
    denominator, for example the number of items of a group if the metric is a mean. For
    F1, and for ratios with two denominators, x is c_A - c_B - F (m_A - m_B), where c
    are the numerators, m are the denominators, and F is the score of both systems
    together. The p-value is the probability that a sum of +-x is at least as far from 0
    as the observed sum. With ``method="sign_flips"``, it is exact for exchangeable
    systems. The interval contains the gains t that are not rejected when x is
    replaced by x - t l, using the same flips. An end is infinite if no gain can be
    rejected on that side. Up to 65,536 flips are enumerated. The distribution of a sum
    of integers, or of other multiples of a common number such as half points, is
    computed on a lattice. Otherwise p-value and interval are saddlepoint approximations
    where these are accurate, and other p-values are computed from the characteristic
    function, as in :func:`permutation_test`. In other cases flips are drawn, and if
    fewer than 50 of them are extreme, the p-value is computed by a saddlepoint
    approximation.

    *Corrections of 'auto'*. Sign flips count ties by half (mid-p) if the systems differ
    in at least seven items or groups, as in :func:`compare_systems`. For wins, losses
    and ties, at least a quarter of the items must be ties. For answers with scores of
    two values, such as 0 and 1 or 0 and 100, fewer than seven differences are enough.
    Systems with equal means may have skewed differences, for example if B loses a
    little in most items and gains much in a few. If none of these few items is in the
    sample, sign flips and the bootstrap reject. The p-value is therefore replaced by
    that of Hall's transformation of Student's t [3]_, and the interval is extended, if
    this p-value is larger than that of sign flips and if the skewness of the
    differences (after subtracting the gain), divided by sqrt(n), is above .2 and above
    6 / n. The method is then 'hall'. If the systems differ in at least 60 items or
    groups, the bootstrap tolerates more skewness, which must be above .25 and above 1.2
    standard errors, or above .45. The p-value is not replaced for wins, losses and
    ties, for which equal means imply exchangeability, nor if (sum l)^2 / sum l^2 is
    below n / 2, because the skewness of a few large groups is not estimated well.

    *Choice of 'auto'*. The bootstrap treats the variance of the gain as known. This is
    a poor approximation if, for example, one document contains half of the rows. 'auto'
    uses the bootstrap if (sum l)^2 / sum l^2 is at least 60 and (sum l^2)^2 / sum l^4
    is at least 20 for items and at least 60 for groups. If all items have the same l
    and all nonzero differences have the same absolute value (wins, losses and ties), it
    uses the bootstrap for at least 30 items, or for at least 20 items of which half or
    more are ties. If one system leads in every item or group in which the systems
    differ, the sign-flip test gives its smallest possible p-value. The p-value of
    'auto' is never below this value. Measured rejection rates are in
    :ref:`the experiments <significance_few>`.

    *Items whose statistics are all zero in both systems* do not change any sum, for
    example sentences without entities. 'auto' and 'sign_flips' leave them out. The
    other methods implement the published procedure and resample all rows.

    An exact p-value is computed by inverting the characteristic function of
    exponentially tilted sums. Its relative error is near 1e-13, even for very small
    p-values. A saddlepoint p-value has a relative error of about 1e-3 with a hundred
    items or more.

    References
    ----------
    .. [1] T. Berg-Kirkpatrick, D. Burkett and D. Klein (2012). "An empirical
       investigation of statistical significance in NLP". EMNLP-CoNLL.
    .. [2] I. A. Canay, J. P. Romano and A. M. Shaikh (2017). "Randomization tests under
       an approximate symmetry assumption". Econometrica 85, 1013-1030.
    .. [3] P. Hall (1992). "On the removal of skewness by transformation". Journal of
       the Royal Statistical Society B 54, 221-228.

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

    Token accuracy, from the numbers of correct tokens and of tokens of each sentence:

    >>> rng = np.random.default_rng(0)
    >>> length = rng.integers(5, 30, 500)
    >>> a = np.column_stack([rng.binomial(length, 0.93), length])
    >>> b = np.column_stack([rng.binomial(length, 0.91), length])
    >>> result = paired_bootstrap_test(a, b, statistic="ratio")
    >>> result.pvalue < 0.001
    True

    For ten ratings, all 1,024 sign flips are enumerated:

    >>> a, b = [4, 5, 3, 4, 5, 5, 4, 3, 5, 4], [3, 5, 3, 3, 4, 4, 2, 3, 4, 5]
    >>> result = paired_bootstrap_test(a, b)
    >>> result.method, result.pvalue, result.smallest_pvalue
    ('sign_flips', 0.0625, 0.0078125)
    """
    check_choice(alternative, ALTERNATIVES, name="alternative")
    check_choice(method, METHODS, name="method")
    n_resamples = check_n_resamples(n_resamples)
    level = check_fraction(confidence_level, name="confidence_level")
    rng = as_generator(random_state)
    items = check_items(stats_a, stats_b, statistic, groups)
    test = choose_test(items, alternative, method)
    # 'auto' leaves out items without information, so the items may be fewer now.
    items, flips = test.items, test.flips
    if test.engine == "identical":
        found = _Found("exact", 1.0, ConfidenceInterval(items.gain, items.gain), 0.0)
    elif items.is_constant:
        warn(
            "paired_bootstrap_test: zero variance of the gain. The gain is the same "
            "in every item, so resampling is not informative. The p-value is "
            "computed by swapping the systems at random instead."
        )
    elif flips is not None and flips.smallest_p_value(alternative) > _USUAL_LEVEL:
        _warn_of_few(flips, items, alternative)
    if test.undrawn is not None and items.linear is not None:
        p, way = test.undrawn
        # In units of a win, so that the interval does not depend on the unit of scores.
        wins, size = items.linear.in_wins
        half = size * linear_half_width(wins, level, way)
        ends = _around(items.gain, half, p, alternative, level)
        found = _Found(way, p, ends, items.linear.standard_error)
    elif test.engine == "resamples":
        found = _drawn(items, alternative, level, n_resamples, rng)
    if flips is not None:
        # Resamples of few items can give smaller p-values than all signs of them.
        if test.engine == "sign_flips" or flips.rejects(found.pvalue, alternative):
            way, p, low, high, error, drawn = flips.test(
                alternative, level, n_resamples, rng
            )
            ends, spread = ConfidenceInterval(low, high), flips.gain.standard_error
            found = _Found(way, p, ends, spread, 0.0, drawn, error)
        smallest = max(found.smallest_pvalue, flips.smallest_p_value(alternative))
        found = found._replace(smallest_pvalue=smallest)
    return PairedBootstrapResult(
        statistic=items.gain,
        score_a=items.scores[0],
        score_b=items.scores[1],
        metric=items.metric.name,
        alternative=alternative,
        confidence_level=level,
        n_items=items.n_items,
        n_groups=items.n_groups,
        n_informative=items.informative.n,
        n_effective_groups=items.n_effective,
        **found._asdict(),
    )


class _Found(NamedTuple):
    """What a test adds to the gain and the scores; see PairedBootstrapResult."""

    method: str
    pvalue: float
    confidence_interval: ConfidenceInterval
    standard_error: float
    smallest_pvalue: float = 0.0
    n_resamples: int | None = None
    monte_carlo_error: float = 0.0
    n_undefined: int = 0


def _warn_of_few(flips: FlippedGain, items: PairedItems, alternative: str) -> None:
    """Warn that the usual significance level cannot be reached."""
    unit = "items" if items.n_groups is None else "groups"
    smallest = flips.smallest_p_value(alternative)
    # 2^-5 < .05 < 2^-4 with one side; two sides need one item more, mid-p one less.
    least = ("four", "five", "six")[1 + (alternative == "two-sided") - flips.mid_p]
    warn(
        f"paired_bootstrap_test: the systems differ in so few {unit} that no p-value "
        f"can be below {smallest:.3g}, whatever the gain. Compare them on more {unit} "
        f"(p < .05 requires at least {least} in which they differ), or report the "
        "scores without a test."
    )


def _drawn(
    items: PairedItems,
    alternative: str,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> _Found:
    """Return p-value and interval from resamples that are drawn."""
    gains, seen, n_undefined = resample_gains(items, alternative, n_resamples, rng)
    p, error = plain_p_value(seen, n_resamples)
    # Symmetric around the gain, as the two-sided p-value is: theory, (P1).
    half = half_width_of_drawn(np.abs(gains - items.gain), level)
    ends = _around(items.gain, half, p, alternative, level)
    spread = float(gains.std(ddof=1)) if n_resamples > 1 else 0.0
    drawn = 1 / (n_resamples + 1), n_resamples, error, n_undefined
    return _Found("monte_carlo", p, ends, spread, *drawn)


def _around(
    gain: float, half: float, p: float, alternative: str, level: float
) -> ConfidenceInterval:
    """Return gain -+ half; it excludes 0 if and only if a two-sided p is small.

    The p-value may be computed by another method than the width: on a lattice or by a
    saddlepoint approximation.
    """
    if alternative == "two-sided":
        # 1 - level has a rounding error; nextafter gives the widest interval without 0.
        if p < (1 - level) * (1 - 1e-12):
            half = min(half, math.nextafter(abs(gain), 0.0))
        else:
            half = max(half, abs(gain))
    return ConfidenceInterval(gain - half, gain + half)


@dataclass(frozen=True, repr=False)
class PermutationTestResult(PairedTestResult):
    """Result of the permutation test of two systems.

    Returned by :func:`permutation_test`.

    Attributes
    ----------
    statistic : float
        The gain, metric(A) - metric(B).
    pvalue : float
        The p-value.
    score_a, score_b : float
        Metric of each system.
    metric : str
        'mean', 'ratio', 'f1' or the name of the callable.
    alternative : str
        The alternative hypothesis.
    method : str
        'exact', 'saddlepoint', 'inversion' (of the characteristic function) or
        'monte_carlo'.
    n_items : int
        Number of rows that were passed.
    n_groups : int or None
        Number of groups. None if items are swapped.
    n_resamples : int or None
        Number of draws. None if nothing was drawn.
    monte_carlo_error : float
        Monte Carlo standard error of the p-value. 0 if nothing was drawn.

    See Also
    --------
    permutation_test : Run the test.

    Examples
    --------
    >>> from skcalib.significance import permutation_test
    >>> permutation_test([1, 1, 1, 0], [0, 0, 0, 0]).pvalue
    0.25
    """

    score_a: float
    score_b: float
    metric: str
    alternative: str
    method: str
    n_items: int
    n_groups: int | None
    n_resamples: int | None
    monte_carlo_error: float


@public
def permutation_test(
    stats_a: ArrayLike | Evaluation,
    stats_b: ArrayLike | Evaluation,
    *,
    statistic: str | Callable = "mean",
    alternative: str = "two-sided",
    method: str = "auto",
    n_resamples: int = 10_000,
    groups: ArrayLike | None = None,
    random_state: RandomStateLike = None,
) -> PermutationTestResult:
    """Test whether two systems are exchangeable, by swapping them in each item.

    If system A and system B are exchangeable, the two outputs for each item could
    equally well have been swapped [1]_. The p-value is the probability of a gain at
    least as large if the systems are swapped at random in each item. Exchangeability is
    a stronger hypothesis than equal means. The test concerns these items only, while
    :func:`paired_bootstrap_test` concerns the population from which the items were
    drawn.

    Parameters
    ----------
    stats_a, stats_b : array-like of shape (n,) or (n, m), or Evaluation
        Sufficient statistics of the two systems, with one row per item, as in
        :func:`paired_bootstrap_test`.
    statistic : {'mean', 'ratio', 'f1'} or callable, default='mean'
        Metric of the summed columns, as in :func:`paired_bootstrap_test`.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        Alternative hypothesis. 'greater' means that A is better.
    method : {'auto', 'exact', 'monte_carlo'}, default='auto'
        'exact' uses the distribution over all 2^n swaps. It is computed on a lattice
        for sums of integers, and of other multiples of a common number such as half
        points. Otherwise the swaps are enumerated, if at most 20 items differ. 'auto'
        uses 'exact' if the computation is fast. For 'mean', and for 'ratio' with the
        same denominators for both systems, it otherwise uses a saddlepoint
        approximation or inverts the characteristic function (see Notes). In other cases
        it uses 'monte_carlo'.
    n_resamples : int, default=10_000
        Number of draws for 'monte_carlo'.
    groups : array-like of shape (n,), default=None
        Group of each item, for example its document. Whole groups are swapped.
    random_state : int, RandomState, Generator or None, default=None
        Random state used to draw the swaps. It has no effect for the other methods.

    Returns
    -------
    result : PermutationTestResult
        Gain and p-value.

    Raises
    ------
    ValueError
        If a parameter or a row is not as described, if there are fewer than two items
        or groups, or if there are too many swaps for 'exact'.

    See Also
    --------
    paired_bootstrap_test : Test that draws items with replacement.
    mcnemar_test : Exact test of two classifiers from counts.

    Notes
    -----
    Ties count as extreme, as in :func:`paired_bootstrap_test`. A Monte Carlo p-value is
    (s + 1) / (b + 1). No p-value is below 2^-n.

    A saddlepoint approximation is used for differences d if (sum d^2)^2 / sum d^4 is at
    least 100, and if the sums are not close to a coarse lattice, as those of rounded
    thirds are. Its error is below 1e-4. Otherwise, for example for heavy tails, the
    p-value is computed from the characteristic function of the sum, if this function is
    small at large frequencies. This usually requires about 50 differences. The error is
    then below 1e-8. In 66 cases with 60 to 3,000 differences, 62 of the resulting
    p-values were within two standard errors of those of 10^6 draws.

    References
    ----------
    .. [1] E. W. Noreen (1989). "Computer-intensive methods for testing hypotheses: an
       introduction". Wiley.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.significance import permutation_test
    >>> correct_a = np.repeat([1, 1, 0, 0], [60, 9, 3, 28])
    >>> correct_b = np.repeat([1, 0, 1, 0], [60, 9, 3, 28])
    >>> round(permutation_test(correct_a, correct_b).pvalue, 4)
    0.146
    """
    check_choice(alternative, ALTERNATIVES, name="alternative")
    check_choice(method, _SWAP_METHODS, name="method")
    n_resamples = check_n_resamples(n_resamples)
    rng = as_generator(random_state)
    items = check_items(stats_a, stats_b, statistic, groups)
    drawn, error = None, 0.0
    known = (
        None if method == "monte_carlo" else _known_swaps(items, alternative, method)
    )
    if known is not None:
        p, way = known
    elif method == "exact":
        raise ParameterError(
            "method",
            f"lists at most {_MOST_SWAPS:,} swaps, or at most "
            f"{_LARGEST_SWAP_LATTICE:,} lattice points for sums of integers. These "
            "data need more. Use method='monte_carlo'.",
        )
    else:
        # Swapping equal rows changes nothing, so only the others are drawn.
        swapped = drawn_flips(*_differing(items), n_resamples, rng)
        n_extreme = int(_is_extreme(items, swapped, alternative).sum())
        p, error = plain_p_value(n_extreme, n_resamples)
        way, drawn = "monte_carlo", n_resamples
    return PermutationTestResult(
        statistic=items.gain,
        pvalue=p,
        score_a=items.scores[0],
        score_b=items.scores[1],
        metric=items.metric.name,
        alternative=alternative,
        method=way,
        n_items=items.n_items,
        n_groups=items.n_groups,
        n_resamples=drawn,
        monte_carlo_error=error,
    )


def _known_swaps(
    items: PairedItems, alternative: str, method: str
) -> tuple[float, str] | None:
    """Return the p-value over all swaps and its method, None if swaps must be drawn."""
    limits = (LARGEST_LATTICE, MOST_LISTED)
    if method == "exact":
        limits = (_LARGEST_SWAP_LATTICE, _MOST_SWAPS)
    if items.linear is None:
        flips = listed_flips(*_differing(items), limits[1])
        if flips is None:
            return None
        swapped, chance = flips
        return float(chance[_is_extreme(items, swapped, alternative)].sum()), "exact"
    # A swap changes the sign of a difference, and the common length stays.
    gain = SignedSum(items.linear.difference, items.linear.times)
    exact = gain.exact_tails(*limits)
    found = None if exact is None else ("exact", exact)
    if found is None and method == "auto":
        found = gain.computed_tails()
    return None if found is None else (gain.p_value(alternative, found[1]), found[0])


def _differing(items: PairedItems) -> tuple[np.ndarray, np.ndarray]:
    """Return what a swap adds to the sums of A in each differing row, and counts."""
    distinct, times = items.distinct
    a, b = np.hsplit(distinct, 2)
    changes = (a != b).any(axis=1)
    return (b - a)[changes], times[changes]


def _is_extreme(
    items: PairedItems, swapped: np.ndarray, alternative: str
) -> np.ndarray:
    """Return whether gains are at least as large as observed, ties included.

    `swapped` are sums of the rows of `_differing` over the swapped items.
    """
    distinct, times = items.distinct
    # What a swap adds to the sums of A, it takes from the sums of B.
    gains = items.gains(times @ distinct + np.hstack([swapped, -swapped]))[0]
    if alternative == "greater":
        return gains >= items.gain - items.tolerance
    if alternative == "less":
        return gains <= items.gain + items.tolerance
    return np.abs(gains) >= abs(items.gain) - items.tolerance


@dataclass(frozen=True, repr=False)
class McNemarResult(PairedTestResult):
    """Result of McNemar's test of two classifiers.

    Returned by :func:`mcnemar_test`.

    Attributes
    ----------
    statistic : int
        n_only_a - n_only_b.
    pvalue : float
        The p-value.
    n_only_a, n_only_b : int
        Numbers of items on which only A, and only B, is correct.
    alternative : str
        The alternative hypothesis.
    mid_p : bool
        Whether the p-value is a mid-p value.

    See Also
    --------
    mcnemar_test : Run the test.

    Examples
    --------
    >>> from skcalib.significance import mcnemar_test
    >>> mcnemar_test(9, 3)
    McNemarResult(statistic=6, pvalue=0.1459..., n_only_a=9, n_only_b=3, ...)
    """

    n_only_a: int
    n_only_b: int
    alternative: str
    mid_p: bool

    def __repr__(self) -> str:
        p = p_text(self.pvalue, "", before="pvalue=")
        names = "n_only_a n_only_b alternative mid_p"
        return self._summary(f"statistic={self.statistic}, {p}", names)


@public
def mcnemar_test(
    correct_a: ArrayLike | Evaluation,
    correct_b: ArrayLike | Evaluation,
    *,
    alternative: str = "two-sided",
    mid_p: bool = False,
) -> McNemarResult:
    """Test whether two classifiers are equally accurate with McNemar's exact test.

    The test uses the discordant items, on which exactly one classifier is correct. If
    the classifiers are equally accurate, the number of discordant items on which A is
    correct has a binomial distribution with probability 1/2 [1]_. Items must be
    independent. For tokens of sentences, use :func:`paired_bootstrap_test` with the
    sentences as items.

    Parameters
    ----------
    correct_a, correct_b : array-like of shape (n,), Evaluation, or int
        1 if the classifier is correct on the item, otherwise 0, for the same items in
        both arrays. Alternatively, the numbers of items on which only A, and only B, is
        correct. Evaluations are matched by question.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        Alternative hypothesis. 'greater' means that A is better.
    mid_p : bool, default=False
        If True, the probability of the observed table is multiplied by one half. The
        exact test is conservative. The error rate of the mid-p version is close to the
        nominal level and rarely above it.

    Returns
    -------
    result : McNemarResult
        Numbers of discordant items and p-value.

    Raises
    ------
    ValueError
        If an entry is not 0 or 1, or a count is negative.

    See Also
    --------
    permutation_test : Permutation test for any metric.
    paired_bootstrap_test : Test of the gain in the population of the items.

    References
    ----------
    .. [1] M. W. Fagerland, S. Lydersen and P. Laake (2013). "The McNemar test for
       binary matched-pairs data: mid-p and asymptotic are better than exact
       conditional". BMC Medical Research Methodology 13, 91.

    Examples
    --------
    >>> from skcalib.significance import mcnemar_test
    >>> mcnemar_test([1, 1, 1, 0], [0, 0, 1, 0]).pvalue
    0.5
    >>> round(mcnemar_test(9, 3, mid_p=True).pvalue, 4)
    0.0923
    """
    check_choice(alternative, ALTERNATIVES, name="alternative")
    mid_p = check_bool(mid_p, name="mid_p")
    only_a, only_b = _discordant(correct_a, correct_b)
    p = mcnemar_pvalues(only_a, only_b, alternative=alternative, mid_p=mid_p)
    tested = only_a - only_b, float(p), only_a, only_b
    return McNemarResult(*tested, alternative=alternative, mid_p=mid_p)


def _discordant(correct_a: Any, correct_b: Any) -> tuple[int, ...]:
    """Return the numbers of items on which only A, and only B, is correct."""
    correct_a, correct_b, _ = pair_as_statistics(
        correct_a, correct_b, None, ("correct_a", "correct_b")
    )
    counts = (("correct_a", correct_a), ("correct_b", correct_b))
    if all(isinstance(x, Integral) for _, x in counts):
        # floats represent larger counts with an error
        return tuple(
            check_integer(x, minimum=0, maximum=2**53, name=name) for name, x in counts
        )
    a, b = (_indicator(x, name=name) for name, x in counts)
    check_same_length(correct_a=a, correct_b=b)
    return int((a & ~b).sum()), int((~a & b).sum())


def _indicator(values: Any, *, name: str) -> np.ndarray:
    array = as_floats(values, name=name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ParameterError(
            name,
            "must have shape (n,) and contain 0 or 1, or both must be integers. Got "
            f"shape {array.shape}.",
        )
    check_rows((array == 0) | (array == 1), array, "0 or 1", name)
    return array.astype(bool)
