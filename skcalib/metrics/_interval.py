"""Confidence interval of the calibration error, and a test of perfect calibration."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import chi2

from .._random import as_generator
from .._results import as_frame
from .._validation import check_choice, check_fraction, check_integer
from ._bins import BinSums
from ._curve import Binning, check_binning, debiased_square, norm_of
from ._grouped import GroupedBins
from ._pairs import Pairs, check_pairs

METHODS = ("score", "simulation")

# Bins of the score interval under bin_size="auto". Inside a bin the error is averaged
# before it is squared, so wide bins make the interval one of a smaller quantity.
_SCORE_BIN_SIZE = 20

# Simulated numbers held at once (8 bytes each).
_BLOCK = 2_000_000


@dataclass(frozen=True)
class CalibrationErrorInterval:
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
    n_samples : int or None
        Number of draws of 'simulation'; None where nothing is drawn.

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
    n_samples: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and settings as a dict."""
        return asdict(self)

    def frame(self) -> Any:
        """Return a pandas DataFrame of one row."""
        columns = {name: [value] for name, value in self.to_dict().items()}
        return as_frame(columns, caller="CalibrationErrorInterval.frame")

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


@dataclass(frozen=True)
class Moments:
    """What the score interval knows of the debiased square T.

    square : T; deviation : standard deviation of T at an error of 0; slope : growth of
    its variance with the squared error, over 4; null_deviation, null_dof : of the chi
    square law of T under perfect calibration.
    """

    square: float
    deviation: float
    slope: float
    null_deviation: float
    null_dof: float

    def p_value(self, any_residual: bool) -> float:
        """Return the p-value of perfect calibration by a three-moment chi square law.

        T is a weighted sum of centred squares, so it is skewed to the right; the chi
        square law with as many degrees of freedom as match its skewness is exact for
        bins of equal weight and normal bin means.
        """
        if self.null_deviation <= 0:  # every probability is 0 or 1
            return 0.0 if any_residual else 1.0
        shift = self.square / self.null_deviation * np.sqrt(2 * self.null_dof)
        return float(chi2.sf(self.null_dof + shift, self.null_dof))

    def interval(self, level: float, p_value: float) -> tuple[float, float]:
        """Return the ends of the interval of the error, by score inversion.

        They solve (T - x)^2 = z^2 (deviation^2 + 4 slope x) for the squared error x.
        Zero is in the interval if and only if p_value >= 1 - level.
        """
        z = float(ndtri((1 + level) / 2))
        lead = 2 * z**2 * self.slope

        def half_width(square: float) -> float:
            inner = (z * self.deviation) ** 2 + 2 * lead * square + lead**2
            return float(np.sqrt(max(inner, 0)))

        # A square far below zero says that the noise was small by chance, not that the
        # error is known to be 0: the upper end stays above 0.
        floored = max(self.square, -0.75 * z * self.deviation)
        high = np.sqrt(max(floored + lead + half_width(floored), 0))
        low = np.sqrt(max(self.square + lead - half_width(self.square), 0))
        if p_value >= 1 - level:
            low = 0.0
        elif low == 0:
            low = np.finfo(np.float64).eps
        return float(min(low, 1)), float(min(max(high, low), 1))


def _class_variance(total: np.ndarray, rate: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the variance of a label, shrunk by one row towards q (1 - q)."""
    sample = total * rate * (1 - rate) / np.maximum(total - 1, 1)
    return (total * sample + q * (1 - q)) / (total + 1)


def _spectrum(
    sums: BinSums, variance: np.ndarray, tie_variance: np.ndarray
) -> np.ndarray:
    """Return the weights of the independent chi squares that T is a sum of.

    `variance` is the sum of label variances in each bin, `tie_variance` that of a row
    of each share. A bin of n rows has the weight variance / (N n). Of a divided tie
    class a bin knows the share m / t only; the products inside the class are one
    term, whatever the number of bins it is cut into.
    """
    top = float(variance.max())
    if top == 0:
        return np.zeros(1)
    s, n, total = sums.shares, sums.weight, sums.weight.sum()
    chance = s.taken / s.total
    # over the largest, since squares of what is near 1e-160 are lost
    variance, tie = variance / top, s.total * tie_variance / top
    spread = variance - np.bincount(s.bin, chance * (1 - chance) * tie, n.size)
    own = np.bincount(s.bin, (chance**2 * tie) ** 2, n.size)
    bins = np.sqrt(np.maximum(spread**2 - own, 0)) / (total * n)
    together = chance * np.maximum(s.taken - 1, 0) / np.maximum(s.total - 1, 1)
    ties = np.bincount(s.tie, together * tie / (total * n[s.bin]))
    return top * np.r_[bins, ties]


def _law(spectrum: np.ndarray) -> tuple[float, float]:
    """Return deviation and degrees of freedom of a weighted sum of chi squares."""
    top = float(spectrum.max())
    if top == 0:
        return 0.0, 1.0
    weight = spectrum / top
    second, third = float(weight @ weight), float((weight**3).sum())
    return top * float(np.sqrt(2 * second)), second**3 / third**2


def independent_moments(sums: BinSums) -> Moments:
    """Return the moments of T for independent rows."""
    n, share = sums.weight, sums.weight / sums.weight.sum()
    # The sample variance of r, and the sum of label variances: n^2 V of the notes.
    sample = (sums.squared_residual - sums.pair_residual / (n - 1)) / n
    null = sums.q - sums.qq
    observed = (n**2 * np.maximum(sample, 0) + null) / (n + 1)
    s = sums.shares
    rate = s.positive / s.total
    found = _spectrum(sums, observed, _class_variance(s.total, rate, s.value))
    expected = _spectrum(sums, null, s.value * (1 - s.value))
    null_deviation, null_dof = _law(expected)
    return Moments(
        square=debiased_square(n, sums.pair_residual),
        deviation=_law(found)[0],
        slope=_slope(share, share * observed / n**2, sums.residual / n),
        null_deviation=null_deviation,
        null_dof=null_dof,
    )


def _slope(share: np.ndarray, noise: np.ndarray, mean: np.ndarray) -> float:
    """Return the mean of the noise over bins, by their share of the squared error.

    Where there is no error at all every bin has its share of the pairs.
    """
    largest = float(np.abs(mean).max())
    weight = share if largest == 0 else share * (mean / largest) ** 2
    return float(weight @ noise / weight.sum())


def grouped_moments(bins: GroupedBins) -> Moments:
    """Return the moments of T for rows that depend on each other within groups.

    Noise is at least that of bins whose groups are independent of each other's bins:
    sums over groups do not see the variance of labels that never came in any of them.
    """
    share = bins.weight / bins.weight.sum()
    centred = bins.centred()
    noise = bins.mean_variance(centred)
    mean = np.asarray(bins.residual.sum(axis=0)) / np.asarray(bins.count.sum(axis=0))
    variance, _ = bins.product_moments(centred)
    null_variance, null_third = bins.product_moments(bins.residual)
    null_deviation, null_dof = _law(share * bins.label_variance / bins.n_effective)
    if np.sqrt(null_variance) > null_deviation:
        null_deviation = float(np.sqrt(null_variance))
        skewness = null_third / null_deviation**3
        null_dof = 8 / max(skewness, 1e-3) ** 2
    return Moments(
        square=bins.debiased_square(),
        deviation=max(float(np.sqrt(variance)), _law(share * noise)[0]),
        slope=max(bins.slope(centred), _slope(share, share * noise, mean)),
        null_deviation=null_deviation,
        null_dof=null_dof,
    )


def simulate_errors(
    sums: BinSums, n_samples: int, generator: np.random.Generator
) -> np.ndarray:
    """Return simulated calibration errors, step 2 of Algorithm 2."""
    q, p, n = sums.q / sums.weight, sums.y / sums.weight, sums.weight
    p = np.clip(p, 0, 1)
    deviation = np.sqrt(p * (1 - p) / n)
    errors = np.empty(n_samples)
    step = max(1, _BLOCK // n.size)
    for start in range(0, n_samples, step):
        size = (min(step, n_samples - start), n.size)
        drawn = np.clip(generator.normal(p, deviation, size), 0, 1)
        errors[start : start + step] = np.sqrt((drawn - q) ** 2 @ n / n.sum())
    return errors


def _simulation_interval(
    sums: BinSums, level: float, n_samples: int, generator: np.random.Generator
) -> tuple[float, float, float]:
    errors = simulate_errors(sums, n_samples, generator)
    centre, half = errors.mean(), float(ndtri((1 + level) / 2)) * errors.std(ddof=1)
    low, high = np.clip([centre - half, centre + half], 0, 1)
    return float(centre), float(low), float(high)


def calibration_error_interval(
    y_true: Any,
    y_proba: Any,
    *,
    bin_size: int | str = "auto",
    confidence_level: float = 0.95,
    method: str = "score",
    n_samples: int = 10_000,
    multi_class: str | None = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    random_state: Any = None,
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
        Number of pairs (total weight) in a bin, at least 2. 'auto' is 20 for 'score',
        less below 1,000 pairs, and more where with `groups` a
        bin would hold a single group: an error is averaged away inside a bin, so an
        interval over wide bins is one of a smaller quantity than the root mean square
        error of single probabilities. For 'simulation', 'auto' is that of
        :func:`calibration_error`.
    confidence_level : float, default=0.95
        Strictly between 0 and 1.
    method : {'score', 'simulation'}, default='score'
        'score' inverts a test on the debiased square, in closed form; see Notes.
        'simulation' is Algorithm 2 of [1]_ as published, which covers too little where
        the error is small; it is there for comparison with published intervals.
    n_samples : int, default=10_000
        Number of draws of 'simulation', at least 2.
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
        With 'score' only.
    random_state : int, RandomState, Generator or None, default=None
        Source of the draws of 'simulation'.

    Returns
    -------
    interval : CalibrationErrorInterval

    Raises
    ------
    ValueError
        If a parameter or a row is not as described, or there are fewer than two pairs.

    See Also
    --------
    calibration_error : The error alone, at any bins and in other norms.

    Notes
    -----
    Let D be the mean of r = q - y in a bin of n pairs, w = n / N the share of the bin,
    s^2 the sample variance of r, and T = sum w (D^2 - s^2 / n) the debiased square. At
    a true squared error x, T has mean x and variance near tau + 4 kappa x with
    tau = 2 sum w^2 V^2, kappa = sum w^2 V D^2 / sum w D^2 and V the variance of D, for
    which (n s^2 + mean q (1 - q)) / (n (n + 1)) is used. The ends of the interval solve
    (T - x)^2 = z^2 (tau + 4 kappa x), as Wilson's interval does for a proportion.

    The p-value compares T with its law under perfect calibration, a chi square law that
    matches three moments. Zero is in the interval exactly if p_value >= 1 -
    confidence_level. Where T is far below 0, the upper end is that of
    T = -0.75 z sqrt(tau), so that it stays above 0.

    Rows of equal probability that a cut divides enter by their mean over orders, and
    count in the variance once, however many bins they fill. With `groups`, T multiplies
    rows of different groups only, and its variances are those of sums over groups (a
    sandwich estimate), at least those of groups that are independent from bin to bin
    with one more group of variance q (1 - q) in each.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
       analysis for natural language processing models". EMNLP. Algorithm 2.
    .. [2] Z. Sun, D. Song and A. Hero (2024). "Confidence intervals for the L2 expected
       calibration error". arXiv 2408.08998.

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
    caller = "calibration_error_interval"
    check_choice(method, METHODS, name="method", caller=caller)
    level = check_fraction(confidence_level, name="confidence_level", caller=caller)
    n_samples = check_integer(n_samples, minimum=2, name="n_samples", caller=caller)
    binning = check_binning(bin_size, None, "quantile", caller=caller)
    if isinstance(binning.bin_size, int):
        check_integer(bin_size, minimum=2, name="bin_size", caller=caller)
    if multi_class in ("class_wise", "per_class"):
        raise ValueError(
            f"{caller} returns one interval: the 'multi_class' parameter must be "
            f"'pooled' or 'top_label'. Got {multi_class!r}; for an interval of each "
            "class pass y_true == label and the column of that label."
        )
    (pairs,) = check_pairs(
        y_true,
        y_proba,
        caller=caller,
        multi_class=multi_class,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
        groups=groups,
    )
    generator = as_generator(random_state, caller=caller)
    if method == "simulation":
        if groups is not None:
            raise ValueError(
                f"method='simulation' of {caller} takes rows as independent, as "
                "published. For dependent rows use method='score' with 'groups'."
            )
        _check_two_pairs(pairs, caller)
        return _by_simulation(pairs, binning, level, n_samples, generator)
    return interval_of_pairs(pairs, binning, level, caller=caller)


def _check_two_pairs(pairs: Pairs, caller: str) -> None:
    if pairs.total < 2:
        raise ValueError(
            f"{caller} needs two pairs at least. Got 'y_true' and 'y_proba' with a "
            f"total weight of {pairs.total:g}."
        )


def interval_of_pairs(
    pairs: Pairs, binning: Binning, level: float, *, caller: str
) -> CalibrationErrorInterval:
    """Return the score interval of checked pairs."""
    _check_two_pairs(pairs, caller)
    pairs = _rows_as_groups(pairs)
    automatic = binning.bin_size == "auto"
    if automatic:
        binning = Binning(_auto_score_size(pairs.total), None, "quantile")
    if pairs.groups is None:
        sums, _ = binning.sums(pairs)
        return _by_score(sums, independent_moments(sums), binning, level, pairs, None)
    bins = GroupedBins(pairs, binning)
    while automatic and not bins.several_groups.all() and bins.sums.weight.size > 1:
        assert isinstance(binning.bin_size, int)
        binning = Binning(2 * binning.bin_size, None, "quantile")
        bins = GroupedBins(pairs, binning)
    bins.check_several_groups(caller=caller)
    moments = grouped_moments(bins)
    return _by_score(bins.sums, moments, binning, level, pairs, bins.n_groups)


def _auto_score_size(total: float) -> int:
    """Return the bin size of the score interval, 20 from 1,000 pairs on.

    With fewer pairs, fifty bins keep errors of both signs apart; but in bins of less
    than 8 the law of the test is not yet that of its moments, so they are made only
    where there would be fewer than ten.
    """
    size = min(max(total // 50, 8), _SCORE_BIN_SIZE, max(total // 10, 2))
    return int(size)


def _by_simulation(
    pairs: Pairs,
    binning: Binning,
    level: float,
    n_samples: int,
    generator: np.random.Generator,
) -> CalibrationErrorInterval:
    sums, size = binning.sums(pairs)
    assert size is not None
    moments = independent_moments(sums)
    estimate, low, high = _simulation_interval(sums, level, n_samples, generator)
    return CalibrationErrorInterval(
        estimate=estimate,
        low=low,
        high=high,
        p_value=moments.p_value(bool((sums.squared_residual > 0).any())),
        plug_in=norm_of(sums.residual / sums.weight, sums.weight, "l2", False),
        method="simulation",
        confidence_level=level,
        bin_size=size,
        n_bins=sums.weight.size,
        n_pairs=pairs.q.size,
        n_groups=None,
        n_samples=n_samples,
    )


def _by_score(
    sums: BinSums,
    moments: Moments,
    binning: Binning,
    level: float,
    pairs: Pairs,
    n_groups: int | None,
) -> CalibrationErrorInterval:
    p_value = moments.p_value(bool((sums.squared_residual > 0).any()))
    low, high = moments.interval(level, p_value)
    assert isinstance(binning.bin_size, int)
    return CalibrationErrorInterval(
        estimate=float(np.sqrt(max(moments.square, 0))),
        low=low,
        high=high,
        p_value=p_value,
        plug_in=norm_of(sums.residual / sums.weight, sums.weight, "l2", False),
        method="score",
        confidence_level=level,
        bin_size=binning.bin_size,
        n_bins=sums.weight.size,
        n_pairs=pairs.q.size,
        n_groups=n_groups,
        n_samples=None,
    )


def _rows_as_groups(pairs: Pairs) -> Pairs:
    """Make each row a group where a row gave several pairs and no groups are known."""
    if pairs.n_classes == 1 or pairs.groups is not None:
        return pairs
    rows = np.repeat(np.arange(pairs.q.size // pairs.n_classes), pairs.n_classes)
    # A row of weight 3 is three independent rows.
    weight = pairs.weight
    repeats = None if weight is None else weight[:: pairs.n_classes]
    return replace(pairs, groups=rows, repeats=repeats)
