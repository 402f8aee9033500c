"""Calibration error: one number for how far probabilities are from frequencies."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation import is_dask
from ._binning import Binning, check_binning
from ._bins import BinSums
from ._grouped import GroupedBins
from ._norms import check_debiasable, check_norm, debiased_error, norm_of, rooted
from ._pairs import Pairs, check_pairs


def calibration_error(
    y_true: Any,
    y_proba: Any,
    *,
    bin_size: int | str = "auto",
    n_bins: int | None = None,
    strategy: str = "quantile",
    norm: str = "l2",
    squared: bool = False,
    debias: bool = False,
    multi_class: str | None = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
) -> Any:
    """Compute the calibration error by adaptive binning.

    With probabilities q and labels y in bins b of n_b pairs, of N in all, the error is
    sqrt(sum_b n_b / N (mean q - mean y)^2), the root mean square distance between what
    the probabilities say and how often it is so (Algorithm 1 of [1]_).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probability of the positive class, or of every class, with columns in the order
        of `labels`. Two columns are the binary problem of `pos_label` unless
        `multi_class` is given. Rows need not sum to one. A value outside [0, 1] by no
        more than 1e-9, or 16 units of rounding of its type, is clipped.
    bin_size : int or 'auto', default='auto'
        Number of pairs (total weight) in a bin, the paper's beta. 'auto' is
        round(n ** 0.6), at least 2, where n is the total weight of the pairs binned
        (rows times classes where classes are pooled).
    n_bins : int, default=None
        Instead of `bin_size`, a number of bins.
    strategy : {'quantile', 'uniform'}, default='quantile'
        'uniform' divides [0, 1] into `n_bins` bins of equal width.
    norm : {'l1', 'l2', 'max'}, default='l2'
        'l1' is the mean distance, known as ECE; 'l2' the root mean square; 'max' the
        largest distance.
    squared : bool, default=False
        With 'l2', return the square.
    debias : bool, default=False
        With 'l2', replace the square in each bin by the unbiased estimate
        sum_{i != j} r_i r_j / (n_b (n_b - 1)), r = q - y. Label noise adds about
        p (1 - p) / n_b to the plain square, and nothing to this one, which can be
        negative; its root is that of max(., 0).
    multi_class : {'pooled', 'top_label', 'class_wise', 'per_class'}, default=None
        What a matrix is asked: 'pooled' (default for more than two columns) bins the
        pairs of every class against the rest together, as the paper does; 'top_label'
        the largest probability of each row and whether its class is right (ties to
        the first column); 'class_wise' is the mean of the errors of the classes;
        'per_class' returns them.
    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the columns; by default the sorted labels of `y_true`,
        whose number must then match.
    pos_label : label, default=None
        The positive class; by default 1, or with two columns the second.
    sample_weight : array-like of shape (n,), default=None
        Frequencies: a row of weight 3 is three rows, a row of weight 0 is none.
    groups : array-like of shape (n,), default=None
        With `debias`, rows of one group (sentence, document) are dependent, and only
        pairs of rows from different groups are multiplied.

    Returns
    -------
    error : float, or ndarray of shape (n_classes,) for 'per_class'
        Between 0 and 1, best 0; may be negative with `squared` and `debias`.

    Raises
    ------
    ValueError
        If a parameter or a row is not as described; the message names it. With
        `debias`, if a bin holds a single pair, or rows of a single group.

    See Also
    --------
    calibration_error_interval : The error with a confidence interval and a p-value.
    adaptive_reliability_curve : The bins behind the number.
    skcalib.scorers.make_calibration_scorer : The error as a scorer.

    Notes
    -----
    The value depends on the bin size. Wide bins average errors of both signs away,
    narrow ones add noise, and without `debias` a perfectly calibrated model scores
    about sqrt(mean p (1 - p) / bin_size). Give the bin size beside the number.

    No value depends on the order of rows: rows of equal probability that a cut divides
    share their positives in proportion, which is the mean over their orders.

    Dask arrays are taken too, without `groups` and with quantile bins: the error is
    then that of a :class:`ReliabilitySketch` of their blocks, whose distance to this
    one is bounded; see :meth:`ReliabilitySketch.from_dask`.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
       analysis for natural language processing models". EMNLP. Algorithm 1.
    .. [2] J. Broecker (2012). "Estimating reliability and resolution of probability
       forecasts through decomposition of the empirical score". Climate Dynamics 39.
    .. [3] Z. Sun, D. Song and A. Hero (2024). "Confidence intervals for the L2 expected
       calibration error". arXiv 2408.08998.

    Examples
    --------
    >>> from skcalib.metrics import calibration_error
    >>> y_true = [0, 0, 1, 0, 1, 1]
    >>> y_proba = [0.1, 0.2, 0.3, 0.6, 0.8, 0.9]
    >>> round(calibration_error(y_true, y_proba, bin_size=3), 4)
    0.1179

    Three classes, every class against the rest:

    >>> proba = [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6], [0.4, 0.3, 0.3]]
    >>> tags = ["A", "N", "V", "N"]
    >>> round(calibration_error(tags, proba, bin_size=6), 4)
    0.1
    """
    caller = "calibration_error"
    binning = check_binning(bin_size, n_bins, strategy, caller=caller)
    check_norm(norm, squared, debias, caller=caller)
    if is_dask(y_true, y_proba, sample_weight):
        from ._dask import Chunked, error_of_dask

        data = Chunked(
            y_true, y_proba, sample_weight, multi_class, labels, pos_label, caller
        )
        return error_of_dask(data, binning, groups, norm, squared, debias)
    several = check_pairs(
        y_true,
        y_proba,
        caller=caller,
        multi_class=multi_class,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
        groups=groups,
    )
    errors = [
        error_of_pairs(pairs, binning, norm, squared, debias, caller=caller)
        for pairs in several
    ]
    if multi_class == "per_class":
        return np.array(errors)
    return float(np.mean(errors))


def error_of_pairs(
    pairs: Pairs,
    binning: Binning,
    norm: str = "l2",
    squared: bool = False,
    debias: bool = False,
    *,
    caller: str,
) -> float:
    """Return the error of one set of pairs."""
    if debias and pairs.groups is not None:
        bins = GroupedBins(pairs, binning)
        check_debiasable(bins.sums.weight, caller=caller)
        bins.check_several_groups(caller=caller)
        return rooted(bins.debiased_square(), squared)
    sums, _ = binning.sums(pairs, squares=debias)
    return error_of_sums(sums, norm, squared, debias, caller=caller)


def error_of_sums(
    sums: BinSums, norm: str, squared: bool, debias: bool, *, caller: str
) -> float:
    """Return the error over bins of independent pairs."""
    if debias:
        return debiased_error(sums.weight, sums.pair_residual, squared, caller=caller)
    return norm_of(sums.residual / sums.weight, sums.weight, norm, squared)
