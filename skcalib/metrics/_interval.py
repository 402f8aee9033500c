"""Confidence interval of the calibration error, and a test of perfect calibration."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, public
from .._pairs import Pairs, check_one_set, check_pairs
from .._random import RandomStateLike, as_generator
from .._results import Result
from .._validation import check_choice, check_fraction, check_integer, is_dask
from ._binning import (
    Binning,
    check_binning,
    interval_bin_size,
    interval_bin_size_of_cells,
    interval_sums,
)
from ._bins import BinSums, norm_of
from ._cells import CellTable, SketchedCells, check_independent, sums_of_cells
from ._distributed import Chunked, check_mergeable, tables_of_dask
from ._drawn_intervals import (
    basic_interval,
    pivots_of_bins,
    pivots_of_groups,
    simulation_interval,
)
from ._group_law import law_of_groups
from ._grouped_bins import GroupedBins, are_single_rows, grouped_bins
from ._levels import has_one_value, interval_of_one_value
from ._null_test import null_p_value, null_p_value_of_groups
from ._row_law import law_of_bins
from ._score_interval import SquareLaw

METHODS = ("score", "bootstrap", "simulation")

# Fewer effective groups hardly tell how groups differ.
LEAST_GROUPS = 10


@dataclass(frozen=True)
class CalibrationErrorInterval(Result):
    """A calibration error with its confidence interval.

    Made by :func:`calibration_error_interval`.

    Attributes
    ----------
    estimate : float
        Root of the debiased square at the bins of the interval (0 where the square is
        negative); for 'simulation' the centre of the simulated errors.
    low, high : float
        Ends of the interval, in [0, 1]. A `low` of 2.2e-16 (machine epsilon) is an
        interval open at 0: perfect calibration is rejected, and no positive error is.
    p_value : float
        Of the hypothesis that every probability is right.
    plug_in : float
        :func:`calibration_error` at the same bins, for comparison with published
        numbers; biased upwards.
    method : str
    confidence_level : float
    bin_size : int
    n_bins : int
    n_pairs : int
        Number of pairs of positive weight.
    n_groups : int or None
        Number of groups of dependent rows; None if rows are taken as independent.
    n_effective_groups : float or None
        Number of groups of one size that would tell as much: (sum n)^2 / sum n^2 for
        groups of n rows.
    n_samples : int or None
        Number of draws; None where nothing is drawn.

    See Also
    --------
    calibration_error_interval : Compute it.

    Examples
    --------
    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.metrics import calibration_error_interval
    >>> y_true, y_proba = make_calibrated_pairs(4000, k=0.1, random_state=0)
    >>> result = calibration_error_interval(y_true, y_proba)
    >>> result.low < result.estimate < result.high
    True
    >>> sorted(result.to_dict())[:3]
    ['bin_size', 'confidence_level', 'estimate']
    """

    estimate: float
    low: float
    high: float
    p_value: float
    plug_in: float
    method: str
    confidence_level: float
    bin_size: int
    n_bins: int
    n_pairs: int
    n_groups: int | None
    n_effective_groups: float | None
    n_samples: int | None

    def _in_words(self) -> list[str]:
        inside = "contains" if self.low == 0 else "does not contain"
        verdict = "is compatible with the data"
        if self.p_value < 1 - self.confidence_level:
            verdict = f"is rejected at level {1 - self.confidence_level:.2g}"
        return [
            f"The {self.confidence_level:.4g} confidence interval {inside} 0. "
            f"Perfect calibration {verdict} (p-value {self.p_value:.3g})."
        ]

    def __repr__(self) -> str:
        groups = "" if self.n_groups is None else f", n_groups={self.n_groups}"
        drawn = "" if self.n_samples is None else f", n_samples={self.n_samples}"
        return (
            f"CalibrationErrorInterval({self.estimate:.4f} "
            f"[{self.low:.4f}, {self.high:.4f}], p_value={self.p_value:.3g}, "
            f"plug_in={self.plug_in:.4f}, method={self.method!r}, "
            f"confidence_level={self.confidence_level:g}, bin_size={self.bin_size}, "
            f"n_bins={self.n_bins}, n_pairs={self.n_pairs}{groups}{drawn})"
        )


@public
def calibration_error_interval(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    bin_size: int | Literal["auto"] = "auto",
    confidence_level: float = 0.95,
    method: str = "score",
    n_samples: int = 10_000,
    multi_class: str | None = None,
    labels: ArrayLike | None = None,
    pos_label: Hashable = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomStateLike = None,
) -> CalibrationErrorInterval:
    """Compute the calibration error with a confidence interval and a p-value.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probability of the positive class, or of every class, as in
        :func:`calibration_error`.
    bin_size : int or 'auto', default='auto'
        Number of pairs (total weight) in a bin, at least 2. An error is averaged inside
        a bin before it is squared, so an interval over wide bins is one of a smaller
        quantity than the root mean square error of single probabilities; over narrow
        ones it is wider than need be. 'auto' is the widest size, at most 0.8 sqrt(n)
        and at least 5, where the variance of the probabilities inside bins is a tenth
        of the noise of the squared error; more where with `groups` a bin would hold a
        single group, or where there would be more than 2 ** 22 bins. For
        'simulation', 'auto' is that of :func:`calibration_error`.
    confidence_level : float, default=0.95
        Strictly between 0 and 1.
    method : {'score', 'bootstrap', 'simulation'}, default='score'
        'score' inverts a test on the debiased square; nothing is drawn. See Notes.
        'bootstrap' is the basic (pivotal) bootstrap of the debiased square: labels are
        drawn anew in every bin with the frequency seen, or whole groups with
        replacement. 'simulation' is Algorithm 2 of [1]_ as published. The last two
        cover too little or too much where the error is small; they are there for
        comparison.
    n_samples : int, default=10_000
        Number of draws of 'bootstrap' and 'simulation', at least 2.
    multi_class : {'pooled', 'top_label'}, default=None
        As in :func:`calibration_error`. Pooled pairs of one row are dependent: without
        `groups` each row is a group.
    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the columns.
    pos_label : label, default=None
        The positive class; by default 1, or with two columns the second.
    sample_weight : array-like of shape (n,), default=None
        Frequencies: a row of weight 3 is three independent rows. For sampling weights
        pass ``groups=np.arange(n)``, so that a row counts once.
    groups : array-like of shape (n,), default=None
        Sentence or document of each row: rows of one group may depend on each other.
        Not with 'simulation'.
    random_state : int, RandomState, Generator or None, default=None
        Source of the draws of 'bootstrap' and 'simulation'.

    Returns
    -------
    interval : CalibrationErrorInterval

    Raises
    ------
    ValueError
        If a parameter or a row is not as described, or there are fewer than two pairs.

    Warns
    -----
    UserWarning
        If there are fewer than ten effective groups.

    See Also
    --------
    calibration_error : The error alone, at any bins and in other norms.

    Notes
    -----
    The interval is about the calibration error of the population that the rows, or with
    `groups` the groups, were drawn from: which of them were drawn is part of the
    uncertainty, beside the labels.

    Let D be the mean of r = q - y in a bin of n pairs, w = n / N the share of the bin,
    s^2 the sample variance of r, and T = sum w (D^2 - s^2 / n) the debiased square
    [2]_. The interval holds every x that has T in neither tail if the squared error is
    x. T has mean x, and its variance has three parts: labels where there is no error,
    2 sum w^2 V^2 with V the variance of D; labels times the error, 4 x sum w^2 V d^2 /
    sum w d^2 with d the error of a bin; and the variance of the mean of d^2 over the
    rows drawn. The error under test is a multiple of the one seen, and variances are
    those of the frequencies that it implies, estimated without bias from falling
    factorials of the counts of positives; where T is not far from 0 they are drawn
    towards those of errors in proportion to the noise. Tails are those of the chi
    square law with the first three moments. If each probability has five rows or more
    on average (stated confidences, hard answers), counts by value take the place of
    bins; if all are equal, the interval is Blaker's exact one of the frequency [5]_.

    How 1 - confidence_level is divided among the tails depends on x, as Feldman and
    Cousins [3]_ divide it for a normal mean that cannot be negative: nothing is in the
    lower tail at x = 0, and tails are equal from x = z standard deviations on. The
    upper end is never below what the frequency of all labels together allows, since no
    root mean square is below the mean, nor below 1 - (1 - confidence_level)^(1/N), the
    frequency of labels that might still never have come; and never above the root mean
    square of max(q, 1 - q), the largest error there can be.

    The p-value is the Cauchy combination [4]_ of those of four statistics under perfect
    calibration: the mean residual, Spiegelhalter's statistic [6]_, Neyman's smooth test
    with eight Legendre polynomials [7]_, and T. The first three see shifts, slopes and
    smooth curves in samples where T alone does not. Zero is in the interval just if
    p_value >= 1 - confidence_level.

    Rows of equal probability that a cut divides enter by their mean over orders, and
    count in the variance once, however many bins they fill. With `groups`, T multiplies
    rows of different groups only, variances are those of sums over groups and, for the
    choice of the groups, of T with one group left out at a time (the jackknife), with
    Satterthwaite's degrees of freedom and quantiles of Student's distribution; the
    p-value combines the mean residual, Spiegelhalter's statistic and T. With fewer than
    ten effective groups a warning is given. Groups of one row each are no groups.

    Dask arrays are read through a :class:`ReliabilitySketch` of their blocks, with
    'score', without `groups` and of one pair a row.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
       analysis for natural language processing models". EMNLP. Algorithm 2.
    .. [2] Z. Sun, D. Song and A. Hero (2024). "Confidence intervals for the L2 expected
       calibration error". arXiv 2408.08998.
    .. [3] G. J. Feldman and R. D. Cousins (1998). "Unified approach to the classical
       statistical analysis of small signals". Physical Review D 57(7).
    .. [4] Y. Liu and J. Xie (2020). "Cauchy combination test". Journal of the American
       Statistical Association 115(529).
    .. [5] H. Blaker (2000). "Confidence curves and improved exact confidence intervals
       for discrete distributions". Canadian Journal of Statistics 28(4).
    .. [6] D. J. Spiegelhalter (1986). "Probabilistic prediction in patient management
       and clinical trials". Statistics in Medicine 5(5).
    .. [7] J. Neyman (1937). "Smooth test for goodness of fit". Scandinavian Actuarial
       Journal.

    Examples
    --------
    A calibrated model, and one whose true error is 0.082:

    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.metrics import calibration_error_interval
    >>> y_true, y_proba = make_calibrated_pairs(4000, random_state=0)
    >>> result = calibration_error_interval(y_true, y_proba)
    >>> result.low, result.p_value > 0.05
    (0.0, True)
    >>> y_true, y_proba = make_calibrated_pairs(4000, k=0.1, random_state=0)
    >>> result = calibration_error_interval(y_true, y_proba)
    >>> round(result.low, 3), round(result.high, 3)
    (0.073, 0.097)
    """
    check_choice(method, METHODS, name="method")
    level = check_level(confidence_level)
    n_samples = check_integer(n_samples, minimum=2, name="n_samples")
    binning = check_binning(bin_size, None, "quantile")
    _check_two(binning)
    check_one_set(multi_class, "interval")
    if is_dask(y_true, y_proba, sample_weight, groups):
        if method != "score":
            raise ParameterError(
                "method", f"must be 'score' with Dask arrays. Got {method!r}."
            )
        data = Chunked(y_true, y_proba, sample_weight, multi_class, labels, pos_label)
        check_mergeable(binning, groups)
        (table,) = tables_of_dask(data)
        return interval_of_table(table, binning, level, table.sorted_cells())
    (pairs,) = check_pairs(
        y_true,
        y_proba,
        multi_class=multi_class,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
        groups=groups,
    )
    generator = as_generator(random_state)
    draws = Draws(method, n_samples, generator)
    if method == "simulation" and groups is not None:
        raise ParameterError(
            "method",
            "must be 'score' or 'bootstrap' where there are 'groups': 'simulation' "
            "takes rows as independent, as published.",
        )
    result = interval_of_pairs(pairs, binning, level, draws)
    _warn_of_few_groups(result.n_effective_groups)
    return result


@dataclass(frozen=True)
class Draws:
    """What is drawn for an interval: nothing for 'score'."""

    method: str = "score"
    n_samples: int | None = None
    generator: np.random.Generator | None = None


def interval_of_pairs(
    pairs: Pairs, binning: Binning, level: float, draws: Draws | None = None
) -> CalibrationErrorInterval:
    """Return the interval of checked pairs, by default of method 'score'."""
    _check_total(pairs.total)
    draws = Draws() if draws is None else draws
    n_groups, bins = None, None
    alone = draws.method == "score" and are_single_rows(pairs)
    # Algorithm 2 takes all pairs as independent, as published.
    if draws.method == "simulation" or alone or not pairs.is_dependent:
        sums, size = _sums(pairs, binning, published=draws.method == "simulation")
        law = law_of_bins(sums)
        if alone:
            n_groups = pairs.q.size
    else:
        bins = _grouped_bins(pairs, binning)
        sums, law, n_groups = bins.sums, law_of_groups(bins), bins.n_groups
        size = bins.bin_size
    assert size is not None
    return _assemble(
        sums, size, law, level, draws, bins, n_pairs=pairs.q.size, n_groups=n_groups
    )


def interval_of_table(
    table: CellTable, binning: Binning, level: float, cells: SketchedCells
) -> CalibrationErrorInterval:
    """Return the score interval of the pairs of a table."""
    check_independent(table)
    _check_two(binning)
    if binning.is_automatic and table.n_samples:
        automatic = interval_bin_size_of_cells(cells)
        binning = Binning(automatic, None, "quantile", whole_classes=True)
    sums, _, size = sums_of_cells(table, cells, binning)
    _check_total(cells.total)
    assert size is not None
    law = law_of_bins(sums)
    return _assemble(
        sums, size, law, level, Draws(), None, n_pairs=table.n_samples, n_groups=None
    )


def check_level(confidence_level: float) -> float:
    """Return a confidence level strictly between 0 and 1."""
    return check_fraction(confidence_level, name="confidence_level")


def _check_two(binning: Binning) -> None:
    """Raise where bins of a given size would hold a single pair."""
    if not binning.is_automatic:
        check_integer(binning.bin_size, minimum=2, name="bin_size")


def _check_total(total: float) -> None:
    if total < 2:
        raise ParameterError(
            None,
            "needs at least two pairs. Got 'y_true' and 'y_proba' with a "
            f"total weight of {total:g}.",
        )


def _assemble(
    sums: BinSums,
    size: int,
    law: SquareLaw,
    level: float,
    draws: Draws,
    bins: GroupedBins | None,
    *,
    n_pairs: int,
    n_groups: int | None,
) -> CalibrationErrorInterval:
    """Return the interval of a square whose law is known."""
    square_p_value = law.p_value(bool((sums.squared_residual > 0).any()))
    exact = bins is None and draws.method == "score" and has_one_value(sums)
    if exact:
        estimate = float(np.sqrt(max(law.square, 0)))
        low, high, p_value = interval_of_one_value(sums, level)
        low = min(low, max(estimate, 2.0**-52))
    else:
        if bins is None:
            p_value = null_p_value(sums, square_p_value)
        else:
            p_value = null_p_value_of_groups(bins, square_p_value)
        estimate, low, high = _ends(draws, law, level, p_value, sums, bins)
    return CalibrationErrorInterval(
        estimate=estimate,
        low=low,
        high=high,
        p_value=p_value,
        plug_in=norm_of(sums.residual / sums.weight, sums.weight, "l2", False),
        method=draws.method,
        confidence_level=level,
        bin_size=size,
        n_bins=sums.weight.size,
        n_pairs=n_pairs,
        n_groups=n_groups,
        n_effective_groups=n_groups if bins is None else bins.n_effective_groups,
        n_samples=None if draws.method == "score" else draws.n_samples,
    )


def _warn_of_few_groups(n_effective: float | None) -> None:
    """Warn where groups are too few, or too unequal, for the level of the interval."""
    if n_effective is not None and n_effective < LEAST_GROUPS:
        warnings.warn(
            f"The interval rests on {n_effective:.1f} effective groups, "
            f"(sum n)^2 / sum n^2 for groups of n rows. With fewer than {LEAST_GROUPS} "
            "it contains the true error less often than its level says. Use more "
            "groups, or groups of more equal sizes.",
            UserWarning,
            stacklevel=4,
        )


def _sums(
    pairs: Pairs, binning: Binning, *, published: bool
) -> tuple[BinSums, int | None]:
    """Return the sums of independent pairs and the bin size.

    The bins of the published simulation are those of the curve.
    """
    if binning.is_automatic and not published:
        return interval_sums(pairs)
    return binning.sums(pairs)


def _grouped_bins(pairs: Pairs, binning: Binning) -> GroupedBins:
    """Return the bins of dependent rows; automatic ones hold several groups each."""
    if not binning.is_automatic:
        return grouped_bins(pairs, binning)
    binning = Binning(interval_bin_size(pairs), None, "quantile", whole_classes=True)
    return grouped_bins(pairs, binning, may_grow=True)


def _ends(
    draws: Draws,
    law: SquareLaw,
    level: float,
    p_value: float,
    sums: BinSums,
    bins: GroupedBins | None,
) -> tuple[float, float, float]:
    """Return estimate, low and high."""
    estimate = float(np.sqrt(max(law.square, 0)))
    if draws.method == "score":
        return estimate, *law.interval(level, p_value)
    assert draws.n_samples is not None
    assert draws.generator is not None
    if draws.method == "simulation":
        return simulation_interval(sums, level, draws.n_samples, draws.generator)
    if bins is None:
        pivots = pivots_of_bins(sums, draws.n_samples, draws.generator)
    else:
        pivots = pivots_of_groups(bins, draws.n_samples, draws.generator)
    return estimate, *basic_interval(law.square, pivots, level)
