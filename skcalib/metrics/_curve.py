"""The reliability curve, from which all plug-in calibration measures are computed."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

from .._errors import ParameterError, public, warn
from .._pairs import Pairs, check_one_set, check_pairs, draws_of
from .._results import Result
from .._validation import check_choice, check_fraction
from ._bins import (
    Binning,
    Bins,
    bins_of,
    check_binning,
    check_debiasable,
    check_norm,
    debiased_error,
    norm_of,
    rooted,
)
from ._cells import CellTable, rows_are_unknown
from ._frequency_intervals import consistency_interval, frequency_interval, tied_unit
from ._grouped_bins import GroupedBins, GroupedRows, are_single_rows


@dataclass(frozen=True, repr=False, eq=False)
class ReliabilityCurve(Result):
    """Reliability curve: label frequency and mean probability of each bin.

    Returned by :func:`adaptive_reliability_curve`. All arrays have shape (n_bins,), in
    ascending order of the probability.

    Attributes
    ----------
    prob_true : ndarray
        Frequency of positive labels in each bin.
    prob_pred : ndarray
        Mean probability in each bin.
    weight : ndarray
        Total weight of each bin. Without sample weights this is the number of pairs.
    standard_error : ndarray
        Standard error sqrt(p (1 - p) / weight) of `prob_true`. It is 0 if all labels
        of a bin are equal, and does not use groups; use :meth:`interval` for error
        bars.
    proba_min, proba_max : ndarray
        Smallest and largest probability in each bin.
    bin_size : int or None
        Target number of pairs (total weight) in a bin. None if `n_bins` was given, or
        if each distinct probability is a bin.
    n_pairs : int
        Number of pairs of positive weight. If classes are pooled, each class of a row
        is one pair.

    See Also
    --------
    adaptive_reliability_curve : Compute the curve.
    skcalib.plot.ReliabilityDisplay : Draw the curve.

    Notes
    -----
    The curve contains sums over bins and no pairs, so its size does not depend on the
    number of pairs.

    Examples
    --------
    >>> from skcalib.metrics import adaptive_reliability_curve
    >>> y_true = [0, 0, 1, 0, 1, 1]
    >>> y_proba = [0.1, 0.2, 0.3, 0.6, 0.8, 0.9]
    >>> curve = adaptive_reliability_curve(y_true, y_proba, bin_size=3)
    >>> curve
    ReliabilityCurve(n_bins=2, bin_size=3, n_pairs=6)
    >>> curve.prob_true
    array([0.33333333, 0.66666667])
    >>> curve.prob_pred
    array([0.2       , 0.76666667])
    >>> low, high = curve.interval()
    >>> low.round(2), high.round(2)
    (array([0.06, 0.21]), array([0.79, 0.94]))
    """

    prob_true: np.ndarray
    prob_pred: np.ndarray
    weight: np.ndarray
    standard_error: np.ndarray
    proba_min: np.ndarray
    proba_max: np.ndarray
    bin_size: int | None
    n_pairs: int
    _pair_residual: np.ndarray = field(default_factory=lambda: np.zeros(0))
    _label_variance: np.ndarray | None = None
    _unit: np.ndarray | None = None
    # Debiased squared error of dependent pairs, or why the bins do not allow it.
    _debiased: float | ParameterError | None = None
    # Independent pairs with the same variance of the label frequency.
    _trials: np.ndarray | None = None
    _stated: bool = False
    # If groups of rows depend on each other: trials of each bin that count as one, and
    # the degrees of freedom of this estimate.
    _repetition: tuple[np.ndarray, np.ndarray] | None = None
    _are_shares: bool = False

    _COLUMNS = "prob_pred prob_true weight standard_error proba_min proba_max"

    @property
    def n_samples(self) -> int:
        """The attribute `n_pairs` under its old name."""
        warn("ReliabilityCurve.n_samples is n_pairs since 0.10.", FutureWarning)
        return self.n_pairs

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return self.weight.size

    @public
    def interval(
        self, confidence_level: float = 0.95, method: str = "wilson"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return a confidence interval of the label frequency in each bin.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Confidence level, strictly between 0 and 1.
        method : {'wilson', 'clopper_pearson', 'normal'}, default='wilson'
            'wilson' inverts the score test, and its coverage is approximately the
            confidence level. 'clopper_pearson' is exact: its coverage is at least the
            confidence level. 'normal' is p +- z sqrt(p (1 - p) / n) as in [1]_, clipped
            to [0, 1]. Its width is 0 if all labels of a bin are equal.

        Returns
        -------
        low, high : ndarray of shape (n_bins,)
            Ends of the intervals.

        Notes
        -----
        If a bin boundary falls between rows of equal probability, each of the two bins
        has a share of the positive labels of all these rows. Its frequency therefore
        varies less than the frequency of as many independent rows, and the interval is
        computed for the number of independent rows with the same variance. If all rows
        of a bin have one probability, this is the number of rows with this probability
        in all bins.

        If groups of rows depend on each other, the variance of the frequency is
        estimated from the sums of the groups in the bin, and the interval is computed
        for the number of independent rows with this variance. For few groups, this
        number is multiplied by the squared ratio of the quantiles of the normal and of
        the t distribution.

        References
        ----------
        .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
           analysis for natural language processing models". EMNLP. Section 3.1.

        Examples
        --------
        >>> from skcalib.metrics import adaptive_reliability_curve
        >>> curve = adaptive_reliability_curve([0] * 10, [0.05] * 10, bin_size=10)
        >>> low, high = curve.interval(method="clopper_pearson")
        >>> low.round(3), high.round(3)
        (array([0.]), array([0.308]))
        """
        level = check_fraction(confidence_level, name="confidence_level")
        check_choice(method, ("wilson", "clopper_pearson", "normal"), name="method")
        return self._interval(level, method)

    def _interval(self, level: float, method: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the intervals of :meth:`interval` for checked parameters."""
        trials = self.weight if self._trials is None else self._trials
        trials = trials * self._independent(level)
        return frequency_interval(self.prob_true, trials, level, method)

    def _independent(self, level: float) -> np.ndarray:
        """Return the share of the rows that carry the information of independent rows.

        It also makes up for the uncertainty of the variance between few groups.
        """
        if self._repetition is None:
            return np.ones(self.n_bins)
        rows, freedom = self._repetition
        chance = (1 + level) / 2
        # An interval with this number of trials and normal quantiles is as wide as one
        # with the quantiles of Student's t.
        return (ndtri(chance) / stdtrit(freedom, chance)) ** 2 / rows

    @public
    def consistency_band(
        self, confidence_level: float = 0.95
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return intervals for the label frequencies of a calibrated model.

        These *consistency bars* [1]_ lie around the mean probability of each bin, while
        the intervals of :meth:`interval` lie around the observed frequency. The level
        applies to each bin separately: at 95%, the label frequencies of a calibrated
        model are outside their intervals in at most one of twenty bins on average.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Confidence level, strictly between 0 and 1. Each tail has a probability of
            (1 - `confidence_level`) / 2.

        Returns
        -------
        low, high : ndarray of shape (n_bins,)
            Ends of the intervals, in [0, 1], with the mean probability between them.

        Notes
        -----
        The number of positives in a bin is a sum of independent Bernoulli variables
        with probabilities q, so it has a Poisson-binomial distribution. This
        distribution is approximated by a shifted binomial distribution with the same
        mean, the same variance and nearly the same third moment. The variance is the
        sum of q (1 - q). It is smaller if rows of equal q are divided between two bins,
        because each bin then gets a share of the positive labels of all these rows. The
        third moment is estimated from the range of q in the bin.

        If all q of a bin are equal, the ends are quantiles of the binomial
        distribution. Each end is moved outwards by less than one pair so that neither
        tail exceeds its nominal probability. Otherwise, a tail exceeds its nominal
        probability by at most 0.1 percentage points in bins of 500 pairs with a skewed
        distribution of q, and by up to 3 percentage points in a bin of few pairs that
        spans nearly all of [0, 1]. Weights are treated as frequencies. Pairs of
        different groups are treated as independent, as in :meth:`interval`.

        References
        ----------
        .. [1] J. Bröcker and L. A. Smith (2007). "Increasing the reliability of
           reliability diagrams". Weather and Forecasting 22(3).

        Examples
        --------
        If ten pairs have probability 5%, between zero and two positive pairs are
        expected:

        >>> from skcalib.metrics import adaptive_reliability_curve
        >>> curve = adaptive_reliability_curve([0] * 10, [0.05] * 10, bin_size=10)
        >>> low, high = curve.consistency_band()
        >>> low.round(3), high.round(3)
        (array([0.]), array([0.264]))
        """
        level = check_fraction(confidence_level, name="confidence_level")
        variance, unit = self._label_variance, self._unit
        independent = self._independent(level)
        if variance is None:  # a curve made by hand: one probability per bin
            variance = self.weight * self.prob_pred * (1 - self.prob_pred)
        return consistency_interval(
            self.prob_pred,
            self.weight * independent,
            variance * independent,
            np.ones_like(self.prob_pred) if unit is None else unit,
            (self.proba_min, self.proba_max),
            level,
        )

    @public
    def error(
        self, norm: str = "l2", squared: bool = False, debias: bool = False
    ) -> float:
        """Return the calibration error over these bins.

        Parameters
        ----------
        norm : {'l1', 'l2', 'max'}, default='l2'
            'l1' is the weighted mean of the distances between mean probability and
            label frequency. 'l2' is the root of the weighted mean of their squares, and
            'max' is the largest distance.
        squared : bool, default=False
            Whether to return the square of the error. Requires norm 'l2'.
        debias : bool, default=False
            Whether to estimate the squared error in these bins without the upward bias
            due to label noise. In automatic bins, :func:`calibration_error` joins it
            with other estimates unless `squared` is True. Requires norm 'l2'.

        Returns
        -------
        error : float
            The error over these bins.

        Examples
        --------
        >>> from skcalib.metrics import adaptive_reliability_curve
        >>> y_true, y_proba = [0, 1, 1, 1], [0.1, 0.3, 0.7, 0.9]
        >>> curve = adaptive_reliability_curve(y_true, y_proba, bin_size=2)
        >>> round(curve.error("l1"), 6), round(curve.error("max"), 6)
        (0.25, 0.3)
        """
        check_norm(norm, squared, debias)
        if not debias:
            return norm_of(self.prob_pred - self.prob_true, self.weight, norm, squared)
        found = self._debiased
        if isinstance(found, ParameterError):
            # A new error, because one that is raised twice keeps the traceback of the
            # first time.
            raise ParameterError(found.name, found.problem)
        if found is None:
            return debiased_error(
                self.weight, self._pair_residual, squared, self._stated
            )
        return rooted(found, squared)

    def to_dict(self) -> dict[str, Any]:
        """Return the arrays and settings as a dict of lists and numbers."""
        # "n_samples" is the old name of n_pairs.
        return {**super().to_dict(), "n_samples": self.n_pairs}

    def _in_words(self) -> list[str]:
        low, high = self.interval()
        meaning = "For a calibrated model, about one bin in twenty is outside."
        if self._are_shares:
            meaning = (
                "The probabilities are shares of samples, so that more bins may be "
                "outside even if the model is calibrated."
            )
        if self._repetition is not None:
            meaning += " Pairs of one group are taken as dependent."
        outside = int(((self.prob_pred < low) | (self.prob_pred > high)).sum())
        return [
            f"In {outside} of {self.n_bins} bins the mean probability is outside the "
            f"95% confidence interval of the label frequency. {meaning}"
        ]

    def __repr__(self) -> str:
        return (
            f"ReliabilityCurve(n_bins={self.n_bins}, bin_size={self.bin_size}, "
            f"n_pairs={self.n_pairs})"
        )


def curve_of_pairs(pairs: Pairs, binning: Binning) -> ReliabilityCurve:
    """Return the curve of checked pairs."""
    if not pairs.is_dependent or are_single_rows(pairs):
        return _curve_of_bins(bins_of(pairs, binning), pairs.q.size, None)
    # The debiased error is computed now, since the curve does not keep the pairs.
    grouped = GroupedBins(GroupedRows(pairs), binning)
    repetition = grouped.repetition_of_bins() if pairs.row_groups is not None else None
    debiased: float | ParameterError = grouped.debiased_square
    try:
        grouped.check_several_groups()
        check_debiasable(grouped.bins.weight)
    except ParameterError as error:
        debiased = ParameterError(error.name, error.problem)  # without a traceback
    return _curve_of_bins(grouped.bins, pairs.q.size, debiased, repetition)


def curve_of_table(table: CellTable, binning: Binning) -> ReliabilityCurve:
    """Return the curve of the pairs of a table."""
    debiased = rows_are_unknown() if table.is_dependent else None
    return _curve_of_bins(table.bins(binning), table.n_samples, debiased)


def _curve_of_bins(
    sums: Bins,
    n_pairs: int,
    debiased: float | ParameterError | None,
    repetition: tuple[np.ndarray, np.ndarray] | None = None,
) -> ReliabilityCurve:
    """Return the curve of the sums in bins; `debiased` is for dependent pairs."""
    # Rounding may leave a share of positives 1e-16 outside [0, 1].
    p = np.clip(sums.y / sums.weight, 0, 1)
    q = np.clip(sums.q / sums.weight, sums.low, sums.high)
    return ReliabilityCurve(
        prob_true=p,
        prob_pred=q,
        weight=sums.weight,
        standard_error=np.sqrt(p * (1 - p) / sums.weight),
        proba_min=sums.low,
        proba_max=sums.high,
        bin_size=sums.bin_size,
        n_pairs=n_pairs,
        _pair_residual=sums.pair_residual,
        _label_variance=sums.label_variance,
        _unit=tied_unit(sums),
        _debiased=debiased,
        _trials=sums.trials,
        _stated=sums.stated,
        _repetition=repetition,
    )


@public
def adaptive_reliability_curve(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    bin_size: int | Literal["auto"] = "auto",
    n_bins: int | None = None,
    strategy: str = "quantile",
    multi_class: str | None = None,
    labels: ArrayLike | None = None,
    pos_label: Hashable = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> ReliabilityCurve:
    """Compute a reliability curve with the same number of pairs in every bin.

    Pairs are sorted by probability and divided into bins of `bin_size` [1]_. No
    automatic bin hides a range of probabilities (see `bin_size`). If a bin boundary
    falls between rows of equal probability, each of the two bins gets a proportional
    share of the positive labels of these rows. This share is the mean over all orders
    of these rows. The curve therefore does not depend on the order of the rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probability of the positive class, or of every class, with columns in the order
        of `labels`. Two columns are treated as a binary problem with the positive class
        `pos_label`, unless `multi_class` is given. A value that is outside [0, 1]
        because of rounding is clipped.
    bin_size : int or 'auto', default='auto'
        Number of pairs (total weight) in a bin. With 'auto', each
        distinct probability is a bin if there are at most twenty of them with an
        average of at least five pairs, such as confidences that a language model
        states. Otherwise the bins have equal numbers of at least round(n ** 0.6) pairs,
        where n is the total weight of the rows (a row counts once, even if its classes
        are pooled). Bins that span more than 0.1 of probability are divided into parts
        of at least ten pairs, so that the rows of a rare class have bins of their own.
        The bins of 1 - q are the same. An integer is beta of Algorithm 1 of [1]_ as
        published: a short last bin is merged with the bin before it. Bins of a given
        size or number are counted from the smallest probability, so that the curve of
        (1 - y, 1 - q) is then not the mirror image.
    n_bins : int, default=None
        Number of bins. If given, it is used instead of `bin_size`. If there are more
        bins than pairs, each pair has its own bin.
    strategy : {'quantile', 'uniform'}, default='quantile'
        'quantile' creates bins with equal numbers of pairs (equal total weight).
        'uniform' divides [0, 1] into `n_bins` bins of equal width and omits empty bins.
    multi_class : {'pooled', 'top_label'}, default=None
        How a matrix is reduced to pairs. 'pooled' (the default for more than two
        columns) concatenates the one-vs-rest problems of all classes. 'top_label' uses
        the largest probability of each row; the label is 1 if the class of this column
        is the true class.
    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the columns. If None, the sorted labels of `y_true` are
        used.
    pos_label : label, default=None
        Positive class. If None, it is 1, or the label of the second column if `y_proba`
        has two columns.
    sample_weight : array-like of shape (n,), default=None
        Frequencies: a row of weight 3 is equivalent to three rows.
    groups : array-like of shape (n,), default=None
        Group (sentence, document) of each row. Rows of the same group may depend on
        each other, which makes the intervals of the bins wider.

    Returns
    -------
    curve : ReliabilityCurve

    Raises
    ------
    ValueError
        If a parameter or a row is invalid. The message names the parameter or the row.

    Warns
    -----
    UserWarning
        If probabilities look like labels, like those of another class, or do not sum to
        1, as in :func:`calibration_error`.

    See Also
    --------
    calibration_error : The distance of the curve from the diagonal.
    calibration_error_interval : The calibration error with a confidence interval.
    sklearn.calibration.calibration_curve : Bins of equal width, or quantile bins. It
        returns fewer quantile bins if probabilities are tied.

    Notes
    -----
    Memory is needed for sorted copies of the probabilities of all pairs and of the
    positive pairs and, with weights, for a permutation. If classes are pooled, most of
    the time is spent on ``error(debias=True)``, which needs the rows and is therefore
    computed with the curve. The curve does not keep the pairs.

    Dask arrays are not accepted: use :meth:`ReliabilitySketch.from_dask`.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
       analysis for natural language processing models". EMNLP. Algorithm 1.

    Examples
    --------
    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.metrics import adaptive_reliability_curve
    >>> y_true, y_proba = make_calibrated_pairs(5000, random_state=0)
    >>> curve = adaptive_reliability_curve(y_true, y_proba, bin_size=1000)
    >>> curve.prob_pred.round(2)
    array([0.03, 0.2 , 0.5 , 0.8 , 0.97])
    >>> curve.prob_true.round(2)
    array([0.03, 0.18, 0.51, 0.8 , 0.98])
    """
    binning = check_binning(bin_size, n_bins, strategy)
    check_one_set(multi_class, "curve")
    (pairs,) = check_pairs(
        y_true,
        y_proba,
        multi_class=multi_class,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
        groups=groups,
    )
    curve = curve_of_pairs(pairs, binning)
    return replace(curve, _are_shares=draws_of(y_proba) is not None)
