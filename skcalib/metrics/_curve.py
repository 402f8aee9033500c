"""The reliability curve: from it every plain calibration number derives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._results import TableRepr, as_frame
from .._validation import check_choice, check_fraction, is_dask
from ._binning import Binning, check_binning
from ._bins import BinSums
from ._consistency import consistency_interval, tied_unit
from ._frequency_interval import frequency_interval
from ._norms import check_norm, debiased_error, norm_of
from ._pairs import Pairs, check_one_set, check_pairs


@dataclass(frozen=True, repr=False, eq=False)
class ReliabilityCurve(TableRepr):
    """Label frequency against mean probability in adaptive bins.

    Made by :func:`adaptive_reliability_curve`; all arrays have shape (n_bins,), in
    ascending order of the probability.

    Attributes
    ----------
    prob_true : ndarray
        Share of positives in each bin.
    prob_pred : ndarray
        Mean probability in each bin.
    weight : ndarray
        Total weight of each bin, the number of its pairs where there are no weights.
    standard_error : ndarray
        sqrt(p (1 - p) / weight) of `prob_true`. It is 0 where a bin holds one label
        only: for bars use :meth:`interval`.
    proba_min, proba_max : ndarray
        Smallest and largest probability in each bin.
    bin_size : int or None
        Target weight of a bin; None for equal-width bins or a number of bins.
    n_samples : int
        Number of pairs of positive weight; pooled classes count one pair each.

    See Also
    --------
    adaptive_reliability_curve : Compute the curve.
    skcalib.plot.ReliabilityDisplay : Draw it.

    Examples
    --------
    >>> from skcalib.metrics import adaptive_reliability_curve
    >>> y_true = [0, 0, 1, 0, 1, 1]
    >>> y_proba = [0.1, 0.2, 0.3, 0.6, 0.8, 0.9]
    >>> curve = adaptive_reliability_curve(y_true, y_proba, bin_size=3)
    >>> curve
    ReliabilityCurve(n_bins=2, bin_size=3, n_samples=6)
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
    n_samples: int
    _pair_residual: np.ndarray = field(default_factory=lambda: np.zeros(0))
    _label_variance: np.ndarray | None = None
    _unit: np.ndarray | None = None

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return self.weight.size

    def interval(
        self, confidence_level: float = 0.95, method: str = "wilson"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return a confidence interval of the label frequency in each bin.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Strictly between 0 and 1.
        method : {'wilson', 'clopper_pearson', 'normal'}, default='wilson'
            'wilson' inverts the score test and has about the level asked for;
            'clopper_pearson' has at least that level; 'normal' is the published
            p +- z sqrt(p (1 - p) / n) [1]_, clipped to [0, 1], of width 0 in a bin
            of one label.

        Returns
        -------
        low, high : ndarray of shape (n_bins,)

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
        caller = "ReliabilityCurve.interval"
        level = check_fraction(confidence_level, name="confidence_level", caller=caller)
        choices = ("wilson", "clopper_pearson", "normal")
        check_choice(method, choices, name="method", caller=caller)
        return frequency_interval(self.prob_true, self.weight, level, method)

    def consistency_band(
        self, confidence_level: float = 0.95
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return where the label frequencies fall if every probability is right.

        The interval of each bin is one of the frequency, around the mean probability:
        what :meth:`interval` is for the observed frequency, these *consistency bars*
        [1]_ are for the model's claim. They hold bin by bin: of a calibrated model's
        twenty bins one is outside at 95%, at most and on average.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Strictly between 0 and 1; half of the rest is left on each side.

        Returns
        -------
        low, high : ndarray of shape (n_bins,)
            Within [0, 1], with the mean probability between them.

        Notes
        -----
        The positives of a bin are a sum of independent coins of chances q, whose law is
        Poisson-binomial. A shifted binomial law stands for it, with its mean, its
        variance (sum of q (1 - q), less where a cut divides rows of equal q) and, from
        the range of q in the bin, nearly its third moment. Where all q of a bin are
        equal the ends are the quantiles of the binomial law, widened by less than one
        pair so that neither tail has more than its half. Where they are not, a tail has
        0.1 points too much at most in the bins that a cut by rank makes of 500 skewed
        probabilities, and up to 3 points where a bin of few pairs spans nearly all from
        0 to 1. Weights are frequencies, and pairs are taken as independent.

        References
        ----------
        .. [1] J. Broecker and L. A. Smith (2007). "Increasing the reliability of
           reliability diagrams". Weather and Forecasting 22(3).

        Examples
        --------
        Of ten cases of 5%, none to two come true:

        >>> from skcalib.metrics import adaptive_reliability_curve
        >>> curve = adaptive_reliability_curve([0] * 10, [0.05] * 10, bin_size=10)
        >>> low, high = curve.consistency_band()
        >>> low.round(3), high.round(3)
        (array([0.]), array([0.264]))
        """
        caller = "ReliabilityCurve.consistency_band"
        level = check_fraction(confidence_level, name="confidence_level", caller=caller)
        variance, unit = self._label_variance, self._unit
        if variance is None:  # a curve made by hand: its bins hold one probability each
            variance = self.weight * self.prob_pred * (1 - self.prob_pred)
        return consistency_interval(
            self.prob_pred,
            self.weight,
            variance,
            np.ones_like(self.prob_pred) if unit is None else unit,
            (self.proba_min, self.proba_max),
            level,
        )

    def error(
        self, norm: str = "l2", squared: bool = False, debias: bool = False
    ) -> float:
        """Return the calibration error over these bins.

        Parameters
        ----------
        norm : {'l1', 'l2', 'max'}, default='l2'
            Weighted mean of the distances between mean probability and label
            frequency, root of the weighted mean of their squares, or largest distance.
        squared : bool, default=False
            With 'l2', leave out the root.
        debias : bool, default=False
            With 'l2', estimate the square without the upward bias that the noise of the
            label frequencies gives; see :func:`calibration_error`.

        Returns
        -------
        error : float

        Examples
        --------
        >>> from skcalib.metrics import adaptive_reliability_curve
        >>> y_true, y_proba = [0, 1, 1, 1], [0.1, 0.3, 0.7, 0.9]
        >>> curve = adaptive_reliability_curve(y_true, y_proba, bin_size=2)
        >>> round(curve.error("l1"), 6), round(curve.error("max"), 6)
        (0.25, 0.3)
        """
        caller = "ReliabilityCurve.error"
        check_norm(norm, squared, debias, caller=caller)
        if debias:
            return debiased_error(
                self.weight, self._pair_residual, squared, caller=caller
            )
        return norm_of(self.prob_pred - self.prob_true, self.weight, norm, squared)

    def to_dict(self) -> dict[str, Any]:
        """Return the arrays and settings as a dict of lists and numbers."""
        arrays = {name: column.tolist() for name, column in self._columns().items()}
        return {**arrays, "bin_size": self.bin_size, "n_samples": self.n_samples}

    def frame(self) -> Any:
        """Return a pandas DataFrame with a row for each bin."""
        return as_frame(self._columns(), caller="ReliabilityCurve.frame")

    def _columns(self) -> dict[str, np.ndarray]:
        names = (
            "prob_pred",
            "prob_true",
            "weight",
            "standard_error",
            "proba_min",
            "proba_max",
        )
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        return (
            f"ReliabilityCurve(n_bins={self.n_bins}, bin_size={self.bin_size}, "
            f"n_samples={self.n_samples})"
        )


def curve_of_pairs(pairs: Pairs, binning: Binning) -> ReliabilityCurve:
    """Return the curve of checked pairs."""
    sums, bin_size = binning.sums(pairs)
    return curve_of_sums(sums, bin_size, pairs.q.size)


def curve_of_sums(
    sums: BinSums, bin_size: int | None, n_samples: int
) -> ReliabilityCurve:
    """Return the curve of the sums in bins."""
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
        bin_size=bin_size,
        n_samples=n_samples,
        _pair_residual=sums.pair_residual,
        _label_variance=np.maximum(sums.q - sums.qq, 0),
        _unit=tied_unit(sums),
    )


def adaptive_reliability_curve(
    y_true: Any,
    y_proba: Any,
    *,
    bin_size: int | str = "auto",
    n_bins: int | None = None,
    strategy: str = "quantile",
    multi_class: str | None = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> ReliabilityCurve:
    """Compute a reliability curve with the same number of pairs in every bin.

    Pairs are sorted by probability and cut every `bin_size`; a last bin that would be
    smaller joins the one before [1]_. Rows of equal probability that a cut divides
    give each side a proportional share of their positives, which is the mean over all
    orders of these rows: the curve does not depend on the order of the rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probability of the positive class, or of every class, with columns in the order
        of `labels`. Two columns are the binary problem of `pos_label` unless
        `multi_class` is given. A value outside [0, 1] by rounding is clipped.
    bin_size : int or 'auto', default='auto'
        Number of pairs (total weight) in a bin. 'auto' is round(n ** 0.6), at least 2,
        where n is the total weight of all pairs.
    n_bins : int, default=None
        Instead of `bin_size`, a number of bins; with more bins than pairs, each pair
        is a bin of its own.
    strategy : {'quantile', 'uniform'}, default='quantile'
        'uniform' divides [0, 1] into `n_bins` bins of equal width; empty ones are left
        out.
    multi_class : {'pooled', 'top_label'}, default=None
        How a matrix becomes pairs: every class against the rest, concatenated
        ('pooled', the default for more than two columns), or the largest probability
        of a row and whether its class is right ('top_label').
    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the columns; by default the sorted labels of `y_true`.
    pos_label : label, default=None
        The positive class; by default 1, or with two columns the second.
    sample_weight : array-like of shape (n,), default=None
        Frequencies: a row of weight 3 is three rows.

    Returns
    -------
    curve : ReliabilityCurve

    Raises
    ------
    ValueError
        If a parameter or a row is not as described; the message names it.

    See Also
    --------
    calibration_error : The distance of this curve from the diagonal, as one number.
    calibration_error_interval : That number with an interval.
    sklearn.calibration.calibration_curve : Equal-width or quantile bins, whose number
        shrinks where probabilities repeat.

    Notes
    -----
    Takes two sorts, of the probabilities and of those of the positives, and memory for
    one copy of each; weights need a permutation. Dask arrays, with quantile bins, are
    read through a :class:`ReliabilitySketch` of their blocks.

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
    caller = "adaptive_reliability_curve"
    binning = check_binning(bin_size, n_bins, strategy, caller=caller)
    check_one_set(multi_class, "curve", caller=caller)
    if is_dask(y_true, y_proba, sample_weight):
        from ._dask import Chunked, curve_of_dask

        data = Chunked(
            y_true, y_proba, sample_weight, multi_class, labels, pos_label, caller
        )
        return curve_of_dask(data, binning)
    (pairs,) = check_pairs(
        y_true,
        y_proba,
        caller=caller,
        multi_class=multi_class,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
    )
    return curve_of_pairs(pairs, binning)
