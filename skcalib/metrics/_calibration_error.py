"""Calibration error: the distance between probabilities and label frequencies."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from .._errors import public
from .._pairs import Pairs, check_pairs, draws_of, warn_of_shares
from ._bins import (
    FOR_INTERVAL,
    Binning,
    bins_of,
    check_binning,
    check_debiasable,
    check_norm,
    rooted,
)
from ._draws import check_norm_of_draws, error_of_draws, read_shares
from ._grouped_bins import are_single_rows, grouped_bins
from ._score_interval import distribution_of_bins, distribution_of_groups


@public
def calibration_error(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    bin_size: int | Literal["auto"] = "auto",
    n_bins: int | None = None,
    strategy: str = "quantile",
    norm: str = "l2",
    squared: bool = False,
    debias: bool | None = None,
    multi_class: str | None = None,
    labels: ArrayLike | None = None,
    pos_label: Hashable = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    hard_labels: bool = False,
    n_draws: int | ArrayLike | None = None,
) -> float | np.ndarray:
    """Compute the calibration error by adaptive binning.

    A pair consists of a label y, which is 0 or 1, and a predicted probability q of
    label 1. The pairs are sorted by q and divided into bins with equal numbers of pairs
    (Algorithm 1 of [1]_). The error is the root mean square distance between the mean
    probability and the frequency of positive labels in a bin. If n_b of the N pairs are
    in bin b, the error is::

        sqrt(sum_b n_b / N (mean_b q - mean_b y)^2)

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probability of the positive class, or of every class, with columns in the order
        of `labels`. Two columns are treated as a binary problem with the positive class
        `pos_label`, unless `multi_class` is given. A value that is outside [0, 1] by at
        most 1e-9, or by 16 times the machine epsilon of its type, is clipped.
    bin_size : int or 'auto', default='auto'
        Number of pairs (total weight) in a bin, beta in [1]_. With 'auto', each
        distinct probability is a bin if there are at most twenty of them with an
        average of at least five pairs, such as confidences that a language model
        states. Otherwise the bins have equal numbers of at least round(n ** 0.6) pairs,
        where n is the total weight of the rows (a row counts once, even if its classes
        are pooled). Bins that span more than 0.1 of probability are divided into parts
        of at least ten pairs, so that the rows of a rare class have bins of their own.
        The bins of 1 - q are the same. An integer is beta of Algorithm 1 of [1]_ as
        published: a short last bin is merged with the bin before it. Bins of a given
        size or number are counted from the smallest probability, so that the error of
        (1 - y, 1 - q) is then another one.
        With `debias`, the automatic bins are widened until each contains rows of at
        least two groups.
    n_bins : int, default=None
        Number of bins. If given, it is used instead of `bin_size`.
    strategy : {'quantile', 'uniform'}, default='quantile'
        'quantile' creates bins with equal numbers of pairs (equal total weight).
        'uniform' divides [0, 1] into `n_bins` bins of equal width.
    norm : {'l1', 'l2', 'max'}, default='l2'
        'l1' is the mean distance, known as ECE. 'l2' is the root mean square distance,
        and 'max' is the largest distance.
    squared : bool, default=False
        Whether to return the square of the error. Requires norm 'l2'.
    debias : bool, default=None
        Whether to remove the bias of the squared error that is due to label noise. The
        squared mean of r = q - y in each bin is then replaced by the unbiased estimate
        sum_{i != j} r_i r_j / (n_b (n_b - 1)). Without `debias`, label noise adds about
        p (1 - p) / n_b to the squared mean, where p is the label frequency. The
        estimate can be negative; the error is then 0, unless `squared` is True.
        In automatic bins, the error is the attribute `estimate` of
        :func:`calibration_error_interval`, which joins this estimate in narrow bins
        with the smooth part of the error and is never below the difference of the mean
        probability and the frequency (see Notes); `squared` returns the unbiased square
        in the automatic bins, which may be averaged. Requires norm 'l2'. If None, it is
        False, or True with `n_draws`.
    multi_class : {'pooled', 'top_label', 'class_wise', 'per_class'}, default=None
        How a probability matrix is reduced to binary problems. 'pooled' (the default
        for more than two columns) concatenates the one-vs-rest problems of all classes
        and bins them together, as in [1]_. 'top_label' uses the largest probability of
        each row; the label is 1 if the class of this column is the true class. If
        several columns have the largest probability, the first one is used.
        'class_wise' returns the mean of the errors of the one-vs-rest problems, and
        'per_class' returns an array of these errors.
    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the columns. If None, the sorted labels of `y_true` are
        used; their number must equal the number of columns. Columns of a DataFrame are
        matched to the labels by name. Its rows are matched by position, not by index.
    pos_label : label, default=None
        Positive class. If None, it is 1, or the label of the second column if `y_proba`
        has two columns.
    sample_weight : array-like of shape (n,), default=None
        Frequencies: a row of weight 3 is equivalent to three rows, and a row of weight
        0 is ignored. If the weights are sampling weights instead of frequencies, also
        pass ``groups=np.arange(n)``, so that each row counts as one observation.
    groups : array-like of shape (n,), default=None
        Group (sentence, document) of each row, used with `debias`. Rows of the same
        group may depend on each other, so only residuals of rows from different groups
        are multiplied. If None, rows are treated as independent, and the pooled pairs
        of one row form a group.
    hard_labels : bool, default=False
        Whether `y_proba` contains predicted labels (0 and 1) on purpose. If False, a
        warning is issued if there are at least 20 rows and all values are 0 or 1.
    n_draws : int or array-like of shape (n,), default=None
        Number of samples of each row, at least 2, if `y_proba` is the share of samples
        of a model that agree with the judged answer. The result is then the error of
        the probability behind the share, not of the share itself (see Notes). Shares
        may not be used if the judged answer was chosen from the same samples, for
        example as the most frequent one: use
        :func:`~skcalib.rates.sampled_confidence`. If None, it is the number of samples
        of the answers that `y_proba` comes from
        (:attr:`Answers.n_draws <skcalib.queries.Answers>`), unless an error without
        debiasing or another norm is requested.

    Returns
    -------
    error : float, or ndarray of shape (n_classes,) for 'per_class'
        Error between 0 and 1; 0 is best. It may be negative with `squared` and
        `debias`.

    Raises
    ------
    ValueError
        If a parameter or a row is invalid. The message names the parameter or the row.
        With `debias`, an error is also raised if a bin contains a single pair or rows
        of a single group.

    Warns
    -----
    UserWarning
        In these cases:

        - All values of `y_proba` are 0 or 1 (see `hard_labels`).
        - Positive labels are rarer where probabilities are higher, as with the
          probabilities of another class.
        - The sum of a row of class probabilities differs from 1 by more than 0.02. This
          is normal if several labels may be true at once, because every column is
          evaluated separately.
        - The largest of three or more columns is the label in at most a quarter of the
          rows, but in more than half of them, and in twice as many, if the columns are
          in another order. There must be 20 rows for each class.
        - All probabilities, some of them 0 or 1, are multiples of 1/k, like shares of
          samples, and `n_draws` is not known. Multiples of 1/4, 1/5, 1/10 and so on are
          taken as rounded decimals, and 1/256 as the steps of bfloat16.

    See Also
    --------
    calibration_error_interval : The error with a confidence interval and a p-value.
    adaptive_reliability_curve : The bins from which the error is computed.
    skcalib.scorers.make_calibration_scorer : The error as a scorer.

    Notes
    -----
    The value depends on the bin size. In wide bins, errors of opposite sign cancel,
    which makes the value too small. In narrow bins, label noise makes the value too
    large unless `debias` is True: the error of a perfectly calibrated model is about
    sqrt(mean(p (1 - p)) / bin_size). Report the bin size together with the error.

    The estimate with `debias` in automatic bins is the root of::

        s + max(T - s - (0.65 sd)^2 / (T - s), 0)     (s if T < s)

    T is the unbiased square in narrow bins, and sd its standard deviation for a
    calibrated model. s is the smooth part of the squared error: the errors that Platt
    scaling corrects. It is the squared mean of r or, if that is larger, the debiased
    squared length of the projection of r on 1, v and v logit q, with v = q (1 - q).
    Shifts and temperatures are then estimated with the noise of three numbers. T adds
    what is not smooth, shrunk by the nonnegative garrote [4]_. The user guide (theory)
    has the equations, and compares the errors of this estimate and of T.

    The value does not depend on the order of the rows. If a bin boundary falls between
    rows of equal probability, each of the two bins gets a proportional share of the
    positive labels of these rows. This share is the mean over all orders of these rows.

    Hard labels are not probabilities. If every value of `y_proba` is 0 or 1, the result
    measures how often predicted labels are wrong, not how good the probabilities are,
    and a warning is issued. This happens if :func:`sklearn.metrics.make_scorer` is
    called without ``response_method="predict_proba"``. Use
    :func:`skcalib.scorers.make_calibration_scorer` to score an estimator.

    With `n_draws`, one sample of each row is left out. The number v of the other
    samples that agree with the judged answer decides the bin. The residual is x - y,
    where x is 1 if the sample that was left out agrees. The mean over the samples that
    may be left out is computed exactly, and products of residuals of different rows are
    averaged as with `debias`. The automatic bins are the values of v. Neighbouring
    values with few rows are joined. For a calibrated model, the expected square is 0
    for any number of samples. Otherwise, it is sum P(v) (E[p - y | v])^2, where p is
    the probability behind the share. This is a lower bound on the squared error of p,
    which it approaches as the number of samples grows. Without `n_draws`, the result
    is the error of using the share as a probability. Even for a calibrated model, it is
    not 0, because the mean of p given an extreme share is less extreme.

    Dask arrays are not accepted: use :meth:`ReliabilitySketch.from_dask`.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
       analysis for natural language processing models". EMNLP. Algorithm 1.
    .. [2] J. Bröcker (2012). "Estimating reliability and resolution of probability
       forecasts through decomposition of the empirical score". Climate Dynamics 39.
    .. [3] Y. Sun, P. Chaudhari, I. J. Barnett and E. Dobriban (2024). "A confidence
       interval for the l2 expected calibration error". arXiv 2408.08998.
    .. [4] L. Breiman (1995). "Better subset regression using the nonnegative garrote".
       Technometrics 37(4).

    Examples
    --------
    >>> from skcalib.metrics import calibration_error
    >>> y_true = [0, 0, 1, 0, 1, 1]
    >>> y_proba = [0.1, 0.2, 0.3, 0.6, 0.8, 0.9]
    >>> round(calibration_error(y_true, y_proba, bin_size=3), 4)
    0.1179

    ECE and MCE, as in most publications:

    >>> form = {"strategy": "uniform", "n_bins": 10}
    >>> round(calibration_error(y_true, y_proba, norm="l1", **form), 4)
    0.3167
    >>> round(calibration_error(y_true, y_proba, norm="max", **form), 4)
    0.7

    Three classes, each one against the rest:

    >>> proba = [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6], [0.4, 0.3, 0.3]]
    >>> tags = ["A", "N", "V", "N"]
    >>> round(calibration_error(tags, proba, bin_size=6), 4)
    0.1
    """
    binning = check_binning(bin_size, n_bins, strategy)
    check_norm(norm, squared, False if debias is None else debias)
    if n_draws is None and norm == "l2" and (debias is None or debias):
        n_draws = draws_of(y_proba)
    if n_draws is not None:
        check_norm_of_draws(norm, debias)
        _, rows = read_shares(
            y_true,
            y_proba,
            n_draws,
            multi_class=multi_class,
            labels=labels,
            pos_label=pos_label,
            sample_weight=sample_weight,
            groups=groups,
        )
        return error_of_draws(rows, binning, squared)
    several = check_pairs(
        y_true,
        y_proba,
        multi_class=multi_class,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
        groups=groups,
        hard_labels=hard_labels,
    )
    if draws_of(y_proba) is None:
        warn_of_shares(several[0])
    errors = [
        error_of_pairs(pairs, binning, norm, squared, bool(debias)) for pairs in several
    ]
    return np.array(errors) if multi_class == "per_class" else float(np.mean(errors))


def error_of_pairs(
    pairs: Pairs,
    binning: Binning,
    norm: str = "l2",
    squared: bool = False,
    debias: bool = False,
) -> float:
    """Return the error of one set of checked pairs."""
    if debias and binning.bin_size == "auto" and not squared:
        return estimate_of_pairs(pairs)
    if debias and pairs.is_dependent and not are_single_rows(pairs):
        grouped = grouped_bins(pairs, binning)
        check_debiasable(grouped.bins.weight)
        return rooted(grouped.debiased_square, squared)
    return bins_of(pairs, binning).error(norm, squared, debias)


def estimate_of_pairs(pairs: Pairs) -> float:
    """Return the estimate of the score interval of checked pairs."""
    if pairs.is_dependent and not are_single_rows(pairs):
        return distribution_of_groups(grouped_bins(pairs, FOR_INTERVAL)).estimate
    bins = bins_of(pairs, FOR_INTERVAL)
    check_debiasable(bins.weight)
    return distribution_of_bins(bins).estimate
