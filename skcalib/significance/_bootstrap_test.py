"""Paired bootstrap test with recentring."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .._random import as_generator
from .._results import TableRepr, as_frame
from .._validation import check_choice, check_fraction, check_integer
from ._items import PairedItems, check_items
from ._linear import linear_half_width
from ._monte_carlo import resample_gains
from ._tilted import drawn_p_value
from ._undrawn import Undrawn, does_not_vary, swap_floor, undrawn_p_value

ALTERNATIVES = ("two-sided", "greater", "less")
METHODS = ("auto", "exact", "saddlepoint", "monte_carlo", "tilted")


class ConfidenceInterval(NamedTuple):
    """Ends of an interval."""

    low: float
    high: float


@dataclass(frozen=True, repr=False)
class PairedBootstrapResult(TableRepr):
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
        How the p-value was found: 'exact', 'saddlepoint', 'monte_carlo', 'tilted', or
        'permutation' where no resample says anything.
    confidence_level : float
    n_items : int
        Number of rows that were passed.
    n_groups : int or None
        Number of groups; None if items are resampled.
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
    >>> result = paired_bootstrap_test([1, 1, 1, 0, 1, 1], [0, 1, 0, 0, 1, 1])
    >>> result.to_dict()["method"]
    'exact'
    """

    statistic: float
    pvalue: float
    confidence_interval: ConfidenceInterval
    standard_error: float
    score_a: float
    score_b: float
    metric: str
    alternative: str
    method: str
    confidence_level: float
    n_items: int
    n_groups: int | None
    n_resamples: int | None
    monte_carlo_error: float
    n_undefined: int

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and settings as a dict."""
        return asdict(self)

    def frame(self) -> Any:
        """Return a pandas DataFrame of one row."""
        columns = {name: [value] for name, value in self.to_dict().items()}
        low, high = self.confidence_interval
        del columns["confidence_interval"]
        columns |= {"low": [low], "high": [high]}
        return as_frame(columns, caller="PairedBootstrapResult.frame")

    def __repr__(self) -> str:
        low, high = self.confidence_interval
        groups = "" if self.n_groups is None else f", n_groups={self.n_groups}"
        drawn = "" if self.n_resamples is None else f", n_resamples={self.n_resamples}"
        if self.n_resamples is not None:
            drawn += f", monte_carlo_error={self.monte_carlo_error:.2g}"
        return (
            f"PairedBootstrapResult({self.statistic:.6g} [{low:.6g}, {high:.6g}], "
            f"pvalue={self.pvalue:.3g}, standard_error={self.standard_error:.3g}, "
            f"metric={self.metric!r}, alternative={self.alternative!r}, "
            f"method={self.method!r}, confidence_level={self.confidence_level:g}, "
            f"n_items={self.n_items}{groups}{drawn})"
        )


def paired_bootstrap_test(
    stats_a: Any,
    stats_b: Any,
    *,
    statistic: str | Callable = "mean",
    alternative: str = "two-sided",
    method: str = "auto",
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    groups: Any = None,
    random_state: Any = None,
) -> PairedBootstrapResult:
    """Test whether system A is better than system B on the same items.

    The paired bootstrap with recentring [1]_: items are drawn with replacement, the
    same for both systems, and the p-value is how often the gain d* of a resample is as
    far from the observed gain d as d is from 0.

    Parameters
    ----------
    stats_a, stats_b : array-like of shape (n,) or (n, m)
        Sufficient statistics of the two systems, a row for each item (sentence), in
        the same order. For 'mean' a value an item, (n,) or (n, 1); for 'ratio'
        numerator and denominator, (n, 2); for 'f1' the numbers correct, guessed and
        gold, (n, 3).
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
    method : {'auto', 'exact', 'saddlepoint', 'monte_carlo', 'tilted'}, default='auto'
        'exact' sums the law of all n^n resamples; for whole numbers, and 'mean' or
        'ratio' with the same denominators for both systems. 'saddlepoint' is the
        Lugannani-Rice formula for these metrics, also of other numbers. 'monte_carlo'
        draws resamples. 'tilted' draws them where the event is common, and weights
        them, for small p-values of any smooth metric. 'auto' takes the first of exact
        (on a lattice of moderate size) and saddlepoint (from 30 items on) that is
        possible, else Monte Carlo, and tilted where fewer than 50 resamples are
        extreme.
    n_resamples : int, default=10_000
        Number of draws of 'monte_carlo', and of 'tilted' for each tail.
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
        If the gain has zero variance, as where A has the same lead in every item. No
        resample is then different, and the p-value is that of swapping the systems at
        random, 2^-n, or twice that for two sides.

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
    the gain. Then 'auto' takes the p-value 2^-n of the swap test instead; so it does
    where none of b drawn resamples is extreme and 2^-n is above 1 / (b + 1).

    The interval is d -+ c, where c is the distance abs(d* - d) that is reached with
    probability 1 - confidence_level: the basic bootstrap with symmetric tails. It
    leaves out 0 just if the two-sided p-value is below 1 - confidence_level. The
    percentile interval has not this property, and where a metric is biased it adds the
    bias a second time. On fewer than about 50 items either is a little narrow.

    An exact p-value is an inverted characteristic function of exponentially tilted
    sums, with a relative error near 1e-13 however small it is. A saddlepoint one is
    within about 1e-3, from a hundred items on.

    References
    ----------
    .. [1] T. Berg-Kirkpatrick, D. Burkett and D. Klein (2012). "An empirical
       investigation of statistical significance in NLP". EMNLP-CoNLL.

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
    """
    caller = "paired_bootstrap_test"
    check_choice(alternative, ALTERNATIVES, name="alternative", caller=caller)
    check_choice(method, METHODS, name="method", caller=caller)
    n_resamples = check_integer(
        n_resamples, minimum=1, name="n_resamples", caller=caller
    )
    level = check_fraction(confidence_level, name="confidence_level", caller=caller)
    rng = as_generator(random_state, caller=caller)
    items = check_items(stats_a, stats_b, statistic, groups, caller=caller)
    test = _Test(items, alternative, level, n_resamples, rng)
    return test.run(method, caller=caller)


class _Test:
    """One test of checked items."""

    def __init__(
        self,
        items: PairedItems,
        alternative: str,
        level: float,
        n_resamples: int,
        rng: np.random.Generator,
    ):
        self.items, self.alternative, self.level = items, alternative, level
        self.n_resamples, self.rng = n_resamples, rng

    def run(self, method: str, *, caller: str) -> PairedBootstrapResult:
        if does_not_vary(self.items):
            return self._constant(caller=caller)
        known = undrawn_p_value(self.items, self.alternative, method, caller=caller)
        return self._drawn(method) if known is None else self._undrawn(known)

    def _undrawn(self, known: Undrawn) -> PairedBootstrapResult:
        linear = self.items.linear
        assert linear is not None
        half = linear_half_width(
            linear, self.level, largest_window=known.largest_window
        )
        return self._result(known.method, known.pvalue, half, linear.standard_error)

    def _drawn(self, method: str) -> PairedBootstrapResult:
        gains = resample_gains(self.items, self.alternative, self.n_resamples, self.rng)
        seen = gains.extremes(self.alternative)
        found = drawn_p_value(
            self.items, self.alternative, method, seen, self.n_resamples, self.rng
        )
        spread = float(gains.values.std(ddof=1)) if gains.n > 1 else 0.0
        half = gains.half_width(self.level)
        return replace(
            self._result(found.method, found.pvalue, half, spread),
            n_resamples=gains.n,
            monte_carlo_error=found.error,
            n_undefined=gains.n_undefined,
        )

    def _constant(self, *, caller: str) -> PairedBootstrapResult:
        """Return the result where every resample has the same gain."""
        if self.items.gain == 0:
            return self._result("exact", 1.0, 0.0, 0.0)
        warnings.warn(
            f"{caller}: zero variance of the gain, which is the same in every item, so "
            "resampling says nothing. The p-value is that of swapping the systems at "
            "random.",
            UserWarning,
            stacklevel=4,
        )
        p = swap_floor(self.items, self.alternative)
        return self._result("permutation", p, 0.0, 0.0)

    def _result(
        self, method: str, p: float, half: float, standard_error: float
    ) -> PairedBootstrapResult:
        items, gain = self.items, self.items.gain
        return PairedBootstrapResult(
            statistic=gain,
            pvalue=p,
            confidence_interval=ConfidenceInterval(gain - half, gain + half),
            standard_error=standard_error,
            score_a=items.scores[0],
            score_b=items.scores[1],
            metric=items.metric.name,
            alternative=self.alternative,
            method=method,
            confidence_level=self.level,
            n_items=items.n_items,
            n_groups=items.n_groups,
            n_resamples=None,
            monte_carlo_error=0.0,
            n_undefined=0,
        )
