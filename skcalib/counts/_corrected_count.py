"""A count, mean, contrast or trend, corrected with labelled documents.

The parts of the file are the result, the function, the validation of labels,
expectations and design (groups, strata, probabilities), and the warnings about samples
that do not agree with their design or do not determine the errors of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, ParameterTypeError, parameter, public, warn
from .._pairs import are_reversed
from .._periods import EMPTY_PERIODS, full_over_observed, trend_weights
from .._results import Result, as_frame, p_text, plain
from .._validation import (
    as_floats,
    as_groups,
    as_labels,
    check_choice,
    check_fraction,
    check_pair,
    check_real,
    raise_where,
)
from ..rates._judged import RateInterval
from ._estimates import (
    ENOUGH_ERRORS,
    Sample,
    Total,
    deviation,
    differences,
    domain_totals,
    drawn_units,
    equivalent_labels,
    fit,
    has_both,
    sums_of,
    supports_model,
    weighted_total,
)

# With fewer labels, the errors of the model cannot be estimated.
_FEWEST_LABELS = 5

_ROUNDING = 1e-9

# Sums of squares of larger numbers overflow, as do quotients by smaller ones.
LARGEST = 1e50
LEAST = 1 / LARGEST

# A random sample of this size has documents on both sides of the median.
_ENOUGH_FOR_SIDES = 20

# Names in messages, which the command line shows as columns, options and lines.
EXPECTED = parameter("_expected", "`expected`")
THE_EXPECTED = parameter("_expected", "The 'expected' parameter")
PROBABILITY = parameter("_probability", "`inclusion_probability`")
AS_PROBABILITY = parameter("_as_probability", "as `inclusion_probability`")
SEE_CHOICE = parameter("_choice", "(see choose_documents)")
# Marks the warning about the sample, of which callers issue one for several counts.
NOT_A_SAMPLE = "do not look like a sample"
NO_GROUPS = parameter("_no_groups", "do not pass `groups`")


class LabelsOnly(RateInterval):
    """Estimate from the labels alone, in a :class:`CorrectedCount`.

    Attributes
    ----------
    estimate : float
        Estimate without the model.
    low, high : float
        Ends of its interval, computed with the same method and confidence level.

    See Also
    --------
    CorrectedCount : Estimate with the model's expected counts.

    Examples
    --------
    >>> from skcalib._result_classes import LabelsOnly
    >>> LabelsOnly(40.0, 28.0, 55.0).low
    28.0
    """

    __slots__ = ()


@dataclass(frozen=True, repr=False)
class CorrectedCount(Result):
    """Corrected count, returned by :func:`corrected_count`.

    Attributes
    ----------
    estimate : float
        Corrected count, mean, trend or weighted sum over the corpus.
    low, high : float
        Ends of the interval.
    standard_error : float
        Standard error of the estimate, due to the random choice of the labelled
        documents.
    uncorrected : float
        The same quantity, computed from the model's expected counts without labels.
    labels_only : LabelsOnly
        `estimate`, `low` and `high` from the labels alone.
    equivalent_labels : float
        Number of labelled documents that would give an interval of this width without
        the model. If this number is below `n_labelled`, the model makes the interval
        wider.
    slope : float
        Coefficient of the model's expected counts. If it is 0, they are not used.
    n_documents, n_labelled : int
        Number of documents in the corpus and number of labelled documents.
    n_groups : int or None
        Number of groups with labels. None if `groups` is not given.
    n_errors : float
        Sum of squared residuals divided by the square of `unit`. It is roughly the
        number of labelled documents in which the model makes an error.
    n_effective : float
        Effective number of labelled documents (or groups) that contribute to the
        estimated variance.
    estimand : str
        'count', 'mean', 'trend', 'difference of counts' or 'difference of means'.
    method : str
        Method of the interval of the whole corpus, 'score' or 't'.
    confidence_level : float
        Confidence level of the intervals.
    pvalue : float
        P-value of the hypothesis that the trend or the difference is 0, two-sided. It
        is below 1 - `confidence_level` if the interval does not contain 0. None for
        counts and means, and NaN without an interval.
    table : dict of ndarray, or None
        Columns with one row per period, per category, or per combination of both:
        `period` and `by` (if they were given), `estimate`, `low`, `high`,
        `standard_error`, `uncorrected`, `n_documents` and `n_labelled`. In a row
        without labels, `low`, `high` and `standard_error` are NaN. Rows of differences
        also have `pvalue`, and `pvalue_adjusted` for the number of rows (Holm). A
        difference of means is NaN if a period has no document of the row's category.

    See Also
    --------
    corrected_count : Compute the count.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.counts import corrected_count
    >>> proba = np.tile([0.1, 0.2, 0.7, 0.9], 50)
    >>> y_true = np.full(200, np.nan)
    >>> y_true[::5] = np.tile([0, 0, 1, 1, 0, 1, 1, 0], 5)
    >>> result = corrected_count(y_true, proba)
    >>> round(result.estimate, 1), round(result.uncorrected, 1)
    (100.0, 95.0)
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    uncorrected: float
    labels_only: LabelsOnly
    equivalent_labels: float
    slope: float
    n_documents: int
    n_labelled: int
    n_groups: int | None
    n_errors: float
    n_effective: float
    estimand: str
    method: str
    confidence_level: float
    pvalue: float | None
    table: dict[str, np.ndarray] | None

    def _columns(self) -> dict[str, Any] | None:
        return self.table

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as a dict, with dicts for `labels_only` and `table`."""
        table = self.table
        return {
            **self._numbers(),
            "labels_only": self.labels_only._asdict(),
            "table": None if table is None else {k: plain(v) for k, v in table.items()},
        }

    def frame(self) -> Any:
        """Return a DataFrame with the rows of `table`, or with one row."""
        if self.table is not None:
            return super().frame()
        alone = self.labels_only._asdict()
        row = self._numbers() | {f"labels_only_{k}": v for k, v in alone.items()}
        columns = {name: [value] for name, value in row.items()}
        return as_frame(columns, method="CorrectedCount.frame")

    def _numbers(self) -> dict[str, Any]:
        others = ("labels_only", "table")
        return {name: v for name, v in vars(self).items() if name not in others}

    def _in_words(self) -> Sequence[str]:
        level = f"{100 * self.confidence_level:g}%"
        alone = self.labels_only
        tested = []
        if self.pvalue is not None:
            p = p_text(self.pvalue, ".2g", before="p = ")
            tested = [f"The p-value of a {self.estimand} of 0 is {p}, two-sided."]
        return (
            f"The corrected {self.estimand} is {self.estimate:.4g}, with a {level} "
            f"interval of {self.low:.4g} to {self.high:.4g}.",
            f"The model alone gives {self.uncorrected:.4g}. The {self.n_labelled} "
            f"labels alone give {alone.estimate:.4g} ({alone.low:.4g} to "
            f"{alone.high:.4g}).",
            f"With the model, {self.n_labelled} labels are worth about "
            f"{self.equivalent_labels:.0f}.",
            *tested,
        )

    def __repr__(self) -> str:
        n_rows = 0 if self.table is None else len(self.table["estimate"])
        rows = f", table of {n_rows} rows" if n_rows else ""
        return (
            f"CorrectedCount({self.estimand} {self.estimate:.4g} [{self.low:.4g}, "
            f"{self.high:.4g}], uncorrected={self.uncorrected:.4g}, "
            f"labels_only={self.labels_only.estimate:.4g} "
            f"[{self.labels_only.low:.4g}, {self.labels_only.high:.4g}], "
            f"n_labelled={self.n_labelled} of {self.n_documents}, "
            f"method={self.method!r}, confidence_level={self.confidence_level:g}"
            f"{'' if self.pvalue is None else f', pvalue={self.pvalue:.2g}'}{rows})"
        )


@public
def corrected_count(
    y_true: ArrayLike,
    expected: ArrayLike,
    *,
    inclusion_probability: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    size: ArrayLike | None = None,
    periods: ArrayLike | None = None,
    by: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    estimand: str = "count",
    empty_periods: str = "zero",
    compare: tuple[Any, Any] | None = None,
    lengths: Sequence[float] | None = None,
    bounds: tuple[ArrayLike, ArrayLike] | None = None,
    method: str = "auto",
    unit: float = 1.0,
    slope: str | float = "shrunk",
    confidence_level: float = 0.95,
) -> CorrectedCount:
    """Correct a model's count in a corpus with labels of a random sample.

    A model gives each of N documents an expected count, for example the probability
    that the document reports an event. A random sample of the documents has labels. The
    mean error of the model on these documents is used to correct the sum of the
    expected counts. The interval is for the total of the N documents. It is valid for
    any model, because it depends only on the randomness of the sample.

    Parameters
    ----------
    y_true : array-like of shape (N,)
        True count of each labelled document, and NaN for the other documents. To
        estimate a number of documents, use counts of 0 and 1.
    expected : array-like of shape (N,)
        Expected count of each document under the model, for labelled documents as well.
        It must be computed without the labels in `y_true`.
    inclusion_probability : float or array-like of shape (N,), default=None
        Probability with which each document was drawn to be labelled, in (0, 1]. If
        None, all documents (within each stratum) are assumed to have been drawn with
        equal probabilities.
    strata : array-like of shape (N,), default=None
        Stratum of each document, if a fixed number of documents was drawn from each
        stratum.
    groups : array-like of shape (N,), default=None
        Groups of documents that were drawn as a whole, such as all articles of a
        newspaper. Either all documents of a group are labelled, or no document is.
        Groups of one document each give the same result as no groups.
    size : array-like of shape (N,), default=None
        Size of each document, such as its number of tokens. Pass it if counts and
        errors grow with the size. The estimate then uses counts per unit of size. The
        interval allows for a sample with fewer large documents than the corpus.
    periods : array-like of shape (N,), default=None
        Period of each document. If given, the result has a table with one row per
        period.
    by : array-like of shape (N,), default=None
        Category of each document, such as its newspaper or region. If given, the table
        has one row per category, or one row per period and category.
    weight : array-like of shape (N,), default=None
        Weight of each document in the sum that is estimated. For the difference between
        two parts of the corpus, the weights are 1 and -1 in these parts, and 0 for all
        other documents.
    estimand : {'count', 'mean', 'trend'}, default='count'
        Quantity to estimate:

        - 'count' is the sum over documents.
        - 'mean' is this sum divided by the number of documents. If counts are 0 or 1,
          it is a prevalence.
        - 'trend' is the least-squares slope of the counts per period on time.

        Numeric periods are used as time. Dates, and texts such as "1990", "1990Q1",
        "1990-05" and "1990-05-31", are numbered in years, quarters, months or days. If
        all dates are first days (or all are last days) of months, quarters or years,
        they stand for these. Dates of one weekday stand for weeks. Other periods are
        sorted, and one unit of time apart.
    empty_periods : {'zero', 'unobserved'}, default='zero'
        How a trend treats periods without documents between the first and the last
        period. 'zero' means that nothing happened: they count as 0. 'unobserved' leaves
        them out of the regression. A missing period is recognised only if periods are
        integers, dates or texts as above. No period is missing if all steps are equal,
        such as four years between elections.
    compare : tuple of two periods, default=None
        Two of the `periods`. If given, the result is their difference, first minus
        second, with its interval and p-value: of the counts, or of the means per
        document for ``estimand="mean"``. With `by`, the table has a row per category.
    lengths : sequence of float, default=None
        Lengths of the two periods of `compare`, such as 12 and 5 months. If given, the
        difference is that of the counts per unit of length. For ``estimand="trend"``,
        lengths of all periods with documents in order. The trend is then that of counts
        that are scaled to the largest length. If None, all periods have the same
        length.
    bounds : tuple of two floats or arrays of shape (N,), default=None
        Smallest and largest possible count of a document. If None, the bounds are 0 and
        1 if all labels are 0 or 1 and no expected count exceeds 1. Otherwise, they are
        0 and infinity.
    method : {'auto', 'score', 't'}, default='auto'
        Method of the interval. 'score' allows for skewed errors, and for rare errors
        that the sample missed. 't' is Student's t interval. It is valid only if the
        labelled documents have at least about four errors of size `unit`. 'auto' uses
        'score' for the whole corpus. In the table, 'auto' uses 't' for rows with at
        least four such errors and an effective number of at least eight documents, and
        'score' for other rows.
    unit : float, default=1.0
        Smallest possible error of a count, other than 0. If no labelled document has an
        error, the 95% interval still allows for 3.84 errors of this size, each with the
        weight of one label. For counts without an upper bound, the interval also allows
        for documents of which the model missed all events (see Notes).
    slope : {'shrunk', 'best'} or float, default='shrunk'
        Coefficient of the expected counts. 'best' is the least-squares slope of the
        labels on the expected counts. 'shrunk' shrinks this slope towards 1, as a
        normal prior with mean 1 and standard deviation 1/2 does. A slope of 1 gives the
        difference estimator, and 0 uses the labels alone.

        For counts without an upper bound, 'shrunk' uses the slope 0 in two cases: the
        least-squares slope is negative, or one label exceeds the largest fitted count
        of the corpus by more than a fifth and few labels have most of the variance.
    confidence_level : float, default=0.95
        Confidence level of the intervals.

    Returns
    -------
    result : CorrectedCount
        Estimate with its interval, the uncorrected sum, the estimate from the labels
        alone, and a table if `periods` or `by` is given.

    Raises
    ------
    ValueError
        If there are fewer than five labels, if an inclusion probability is 0, if a
        stratum has no label, if only a part of a group is labelled, if all labelled
        documents are on one side of the median expected count, or if a label is outside
        `bounds`.

    Warns
    -----
    UserWarning
        In the following cases:

        - the labelled documents do not look like a random sample with the given
          probabilities and strata,
        - the model appears to be fitted or recalibrated on the labelled documents,
        - a stratum has only one label, or a row of the table has no label,
        - periods without documents count as 0 in a trend,
        - all expected counts are equal,
        - a single document has a large share of the variance (or may have one, if it
          has no label),
        - the inclusion probabilities increase with `expected` alone, or
        - an expected count is outside `bounds`.

    See Also
    --------
    choose_documents : Draw the documents to label.
    skcalib.events.EventCounter : Counts of events given uncertain coreference.

    Notes
    -----
    Let f be the expected counts, y the labels, pi the inclusion probabilities and c the
    weights. The estimate is

        sum over the corpus of c (a + b f) + sum over labels of c (y - a - b f) / pi.

    The first sum is the model's count after a linear recalibration. The second sum
    estimates its error. The fitted counts a + b f come from a regression of y on f with
    weights 1 / pi, and b is shrunk towards 1 [1]_ [2]_. If the model is useless, b is
    near 0. The estimate is then, in large samples, not worse than the estimate from the
    labels alone [3]_.

    The score interval contains the totals T with

        (T - estimate)^2 <= q^2 V(T).

    Here q is a quantile of Student's t distribution. V(T) is the variance of the
    estimate if T is the true total, for sampling without replacement. It depends on the
    second and third moments of the jackknife residuals. The sample may have missed rare
    errors. Therefore, one further error of size `unit` is added with weight 1/2.

    With labels alone, the interval is close to Wilson's interval for counts of 0 and 1,
    and close to the interval of [4]_ for other counts. The formulas are in
    :ref:`count-formulas`.

    Counts without an upper bound have further rules, because few documents may have
    most of the events:

    - The sample may have fewer large documents than the corpus. Errors are assumed to
      grow with `size` or, if it is None, with the fitted count. Let u be size^(4/3), or
      (a + b f)^1.5 without `size`. If the mean of u is larger in the corpus than in the
      sample, the part of V(T) that is due to the errors of documents is multiplied by
      the ratio of the two means. Ratio estimation has a similar factor [5]_.
    - The labels do not show whether larger fitted counts than those of all labelled
      documents are right. The sum of what exceeds the largest of them has a standard
      deviation of one half of this sum, as the prior of b has. With `size`, counts per
      unit of size are compared.
    - The model may miss all events of a document. This has the probability that a
      Poisson count with the fitted mean is 0. Therefore, the skewness of the errors
      allows for one further document, with weight 1/8. It has the mean count of the
      labelled documents with events. The model is assumed to find at least a third of
      the events.
    - The model may not know the large documents. Its errors in the other documents are
      then small, and the interval would be too narrow. The slope 0 prevents this.

    No interval can allow for large documents that neither the labels, nor `expected`,
    nor `size` show.

    In the table, each row is corrected with the mean error of its own labels. The slope
    and the variance are pooled over rows, unless `groups` or `size` is given. A row
    whose own variance exceeds the pooled variance uses a weighted mean of the two, in
    which the pooled variance counts as much as eight labels.

    References
    ----------
    .. [1] C.-E. Särndal, B. Swensson and J. Wretman (1992). "Model assisted survey
       sampling". Springer.
    .. [2] A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan and T. Zrnic (2023).
       "Prediction-powered inference". Science 382.
    .. [3] A. N. Angelopoulos, J. C. Duchi and T. Zrnic (2023). "PPI++: Efficient
       prediction-powered inference". arXiv 2311.01453.
    .. [4] P. G. Andersson (2004). "Alternative confidence intervals for the total of a
       skewed biological population". Ecology 85.
    .. [5] C.-F. Wu (1982). "Estimation of variance of the ratio estimator". Biometrika
       69.

    Examples
    --------
    An overconfident model counts too few documents:

    >>> import numpy as np
    >>> from skcalib.counts import corrected_count
    >>> rng = np.random.default_rng(2)
    >>> true_proba = rng.beta(0.3, 1, 1000)
    >>> truth = rng.random(1000) < true_proba
    >>> proba = true_proba**2 / (true_proba**2 + (1 - true_proba) ** 2)
    >>> y_true = np.full(1000, np.nan)
    >>> sample = rng.choice(1000, 100, replace=False)
    >>> y_true[sample] = truth[sample]
    >>> result = corrected_count(y_true, proba)
    >>> int(truth.sum()), round(result.uncorrected), round(result.estimate)
    (228, 207, 233)
    >>> round(result.low), round(result.high)
    (182, 292)
    >>> round(result.equivalent_labels)
    184
    """
    y, rows = check_labels(y_true)
    f = as_column(expected, len(y), name="expected")
    raise_where(~np.isfinite(f), f, "be finite in every row", name="expected")
    estimand = check_choice(estimand, ("count", "mean", "trend"), name="estimand")
    empty_periods = check_choice(empty_periods, EMPTY_PERIODS, name="empty_periods")
    if empty_periods != "zero" and estimand != "trend":
        problem = f"applies to estimand='trend' only. Got estimand={estimand!r}."
        raise ParameterError("empty_periods", problem)
    method = check_choice(method, ("auto", "score", "t"), name="method")
    confidence_level = check_fraction(confidence_level, name="confidence_level")
    low, high = check_bounds(bounds, y, f, rows)
    labelled = ~np.isnan(y)
    codes = check_groups(groups, labelled)
    # Groups of one document are no groups: documents are then independent.
    is_clustered = codes is not None and bool(np.bincount(codes).max() > 1)
    stratum_codes, merged = check_strata(strata, f, labelled, codes)
    is_given = inclusion_probability is not None
    if is_given:
        pi = check_probability(inclusion_probability, labelled)
    else:
        # the share of documents (or groups) that were drawn in each stratum
        one_each = drawn_units(codes)
        drawn, stratum = labelled[one_each], stratum_codes[one_each]
        pi = (np.bincount(stratum, drawn) / np.bincount(stratum))[stratum_codes]
    sample = Sample(
        rows=rows,
        y=y[rows],
        expected=f,
        size=check_size(size, len(y)),
        probability=pi,
        strata=merged,
        groups=codes if is_clustered else None,
        low=low,
        high=high,
        unit=check_real(unit, low=LEAST, high=LARGEST, name="unit"),
        slope=check_slope(slope),
    )
    columns, place = _table_rows(periods if compare is None else None, by, len(y))
    if compare is None:
        c = _weights(weight, estimand, periods, empty_periods, lengths, len(y))
    else:
        c = _contrast(compare, lengths, estimand, periods, len(y))
        estimand = f"difference of {estimand}s"
    _check_compare(compare, None if estimand == "trend" else lengths, weight)
    if weight is not None and columns:
        problem = "accepts either 'weight' or 'periods' and 'by', but not both."
        raise ParameterError(None, problem)
    # Given probabilities may be small on one side of the median.
    if not is_given:
        check_sides(f, rows)
    # A wrong number of labels explains any other deviation from a random sample.
    if not (is_given and number_is_wrong(sample)):
        warn_of_the_sample(sample, is_given)
    if is_given:
        warn_of_draws_by_the_model(sample)
    warn_of_recalibration(sample)
    warn_of_other_labels(sample)
    if sample.is_tuned and not sample.has_sizes and np.ptp(f) == 0:
        warn(
            f"{THE_EXPECTED} is {f[0]:g} for every document. The model does "
            "not distinguish them, so the result is computed from the labels alone."
        )
        sample = replace(sample, slope=0.0, expected=np.broadcast_to(f[0], len(f)))
    found = _estimate(sample, c, columns, place, estimand, method, confidence_level)
    n_groups = None if codes is None else np.unique(codes[rows]).size
    return replace(found, n_groups=n_groups)


def _estimate(
    sample: Sample,
    weight: np.ndarray,
    columns: dict[str, np.ndarray],
    place: np.ndarray,
    estimand: str,
    method: str,
    level: float,
) -> CorrectedCount:
    # For a single sum, 'auto' is the score interval; it chooses for rows of a table.
    overall = "t" if method == "t" else "score"
    fitted = fit(sample)
    if not supports_model(sample, fitted):
        sample = replace(sample, slope=0.0)
        fitted = fit(sample)
    # A contrast has negative weights. Whether a count is 0 is no question.
    is_tested = bool(weight.min(initial=0) < 0)
    total = weighted_total(
        sample, fitted, weight, method=overall, level=level, is_tested=is_tested
    )
    # With expectations of 0 and no slope, the labels alone remain.
    no_model = np.broadcast_to(0.0, sample.n_documents)
    labels = replace(sample, expected=no_model, slope=0.0)
    alone = weighted_total(labels, fit(labels), weight, method=overall, level=level)
    warn_of_the_errors(total, sample, overall)
    table = None
    pvalue, ends = total.pvalue, (total.low, total.high)
    if estimand.startswith("difference"):
        if not has_both(sample, weight, np.zeros_like(place), 1)[0]:
            warn(
                "One of the two periods has documents but no label, so that the "
                "difference has no interval and no p-value (NaN)."
            )
            pvalue, ends = np.nan, (np.nan, np.nan)
        if columns:
            is_mean = estimand.endswith("means")
            numbers = differences(
                sample, fitted, weight, place, is_mean, overall, level
            )
            is_defined = np.isfinite(numbers["estimate"])
            warn_of_rows(
                columns,
                ~is_defined,
                "have a period without documents",
                "The mean of such a period is undefined (NaN).",
            )
            is_open = is_defined & ~np.isfinite(numbers["low"])
            why = "no labelled document in a period"
            warn_of_rows(columns, is_open, f"have {why}", _NO_LABEL)
            table = columns | numbers
    elif columns:
        numbers = domain_totals(sample, fitted, place, method=method, level=level)
        is_open = numbers["n_labelled"] == 0
        warn_of_rows(columns, is_open, "have no labelled document", _NO_LABEL)
        # The number of documents in a row is known, so it does not widen intervals.
        if estimand == "mean":
            for name in ("estimate", "low", "high", "standard_error", "uncorrected"):
                numbers[name] = numbers[name] / numbers["n_documents"]
        table = columns | numbers
    n, n_documents = len(sample.rows), sample.n_documents
    widths = total.high - total.low, alone.high - alone.low
    return CorrectedCount(
        estimate=total.estimate,
        low=ends[0],
        high=ends[1],
        standard_error=total.standard_error,
        uncorrected=float(sums_of(weight * sample.expected, np.zeros_like(place))[0]),
        labels_only=LabelsOnly(alone.estimate, alone.low, alone.high),
        equivalent_labels=equivalent_labels(*widths, n, n_documents),
        slope=fitted.slope,
        n_documents=n_documents,
        n_labelled=n,
        n_groups=None,
        n_errors=total.n_errors,
        n_effective=total.n_effective,
        estimand=estimand,
        method=overall,
        confidence_level=level,
        pvalue=pvalue,
        table=table,
    )


def _table_rows(
    periods: Any, by: Any, n: int
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return columns with the labels of a table's rows, and the row of each document.

    The rows are periods, categories, or the combinations of both that occur.
    """
    given = [
        (column, *as_codes(values, n, name=name))
        for column, name, values in (("period", "periods", periods), ("by", "by", by))
        if values is not None
    ]
    if not given:
        return {}, np.zeros(n, dtype=np.intp)
    names, labels, codes = zip(*given, strict=True)
    sizes = [len(each) for each in labels]
    cells, place = np.unique(np.ravel_multi_index(codes, sizes), return_inverse=True)
    rows = zip(labels, np.unravel_index(cells, sizes), strict=True)
    return dict(zip(names, [each[row] for each, row in rows], strict=True)), place


def _weights(
    weight: Any, estimand: str, periods: Any, empty: str, lengths: Any, n: int
) -> np.ndarray:
    """Return the weight of each document in the sum that is estimated."""
    if weight is not None:
        if estimand != "count":
            problem = f"cannot be combined with estimand={estimand!r}."
            raise ParameterError("weight", f"{problem} Change the weights instead.")
        c = as_column(weight, n, name="weight")
        raise_where(~np.isfinite(c), c, "be finite", name="weight")
        if not c.any():
            raise ParameterError("weight", "is zero in every row.")
        return c
    if estimand != "trend":
        return np.broadcast_to(1 / n if estimand == "mean" else 1.0, n)
    if periods is None:
        raise ParameterError("periods", "must be given for estimand='trend'.")
    names, code = as_codes(periods, n, name="periods")
    slope = trend_weights(names, code, empty)
    if lengths is None:
        return slope
    given = as_floats(lengths, name="lengths").astype(np.float64)
    if given.shape != names.shape or not ((given >= LEAST) & (given <= LARGEST)).all():
        problem = (
            "must have one positive number for each of the periods "
            f"{names.tolist()!r:.200}. Got {lengths!r:.200}."
        )
        raise ParameterError("lengths", problem)
    return slope * full_over_observed(given)[code]


def _check_compare(compare: Any, lengths: Any, weight: Any) -> None:
    """Raise if `lengths` is given without `compare`, or `weight` with it."""
    if compare is None and lengths is not None:
        problem = "applies to 'compare' and to estimand='trend'. Got neither."
        raise ParameterError("lengths", problem)
    if compare is not None and weight is not None:
        raise ParameterError("weight", "cannot be combined with 'compare'.")


def _contrast(
    compare: Any, lengths: Any, estimand: str, periods: Any, n: int
) -> np.ndarray:
    """Return the weight of each document in the difference of two periods."""
    if estimand == "trend":
        problem = f"applies to counts and means. Got estimand={estimand!r}."
        raise ParameterError("compare", problem)
    pair = check_pair(compare, name="compare", what="periods")
    if periods is None:
        problem = f"must be given with 'periods'. Got {compare!r:.200} alone."
        raise ParameterError("compare", problem)
    names, code = as_codes(periods, n, name="periods")
    known = names.tolist()
    for each in pair:
        if each not in known:
            problem = f"must have two of the periods {known!r:.200}. Got {each!r}."
            raise ParameterError("compare", problem)
    if compare[0] == compare[1]:
        problem = f"must have two different periods. Got {compare[0]!r} twice."
        raise ParameterError("compare", problem)
    if lengths is not None and estimand == "mean":
        problem = "applies to counts. A mean per document does not depend on it."
        raise ParameterError("lengths", problem)
    given = (1.0, 1.0) if lengths is None else lengths
    over = check_pair(given, name="lengths", what="numbers")
    weight = np.zeros(n)
    for sign, each, length in zip((1, -1), compare, over, strict=True):
        own = code == known.index(each)
        size = check_real(length, low=LEAST, high=LARGEST, name="lengths")
        weight[own] = sign / (own.sum() if estimand == "mean" else size)
    return weight


# Validation


def as_column(values: Any, n: int | None, *, name: str) -> np.ndarray:
    """Return one number per document as floats."""
    array = as_floats(values, name=name).astype(np.float64, copy=False)
    if array.ndim != 1:
        problem = f"must have one entry per document. Got shape {array.shape}."
        raise ParameterError(name, problem)
    if n is not None and len(array) != n:
        problem = f"must have one entry for each of {n} documents. Got {len(array)}."
        raise ParameterError(name, problem)
    # The usual case needs no mask: fmin and fmax ignore NaN, which callers check.
    ends = np.fmin.reduce(array, initial=0), np.fmax.reduce(array, initial=0)
    if max(-ends[0], ends[1]) > LARGEST:
        too_large = np.isfinite(array) & (np.abs(array) > LARGEST)
        raise_where(too_large, array, f"be at most {LARGEST:g}", name=name)
    return array


def check_labels(y_true: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels (NaN if missing) and the rows of the labelled documents."""
    y = as_column(y_true, None, name="y_true")
    raise_where(
        np.isinf(y), y, "be finite, or NaN where there is no label", name="y_true"
    )
    rows = np.flatnonzero(~np.isnan(y))
    # A corpus of fewer documents may be labelled completely.
    if len(rows) < min(_FEWEST_LABELS, max(len(y), 1)):
        problem = (
            f"must have at least {_FEWEST_LABELS} labels. Got {len(rows)} labels in "
            f"{len(y)} documents. Use NaN for documents without a label."
        )
        raise ParameterError("y_true", problem)
    return y, rows


def check_size(size: Any, n: int) -> np.ndarray:
    """Return the size of each document, or 1 if `size` is None."""
    if size is None:
        return np.broadcast_to(1.0, n)
    x = as_column(size, n, name="size")
    bad = ~((x >= LEAST) & np.isfinite(x))
    raise_where(bad, x, f"be positive (at least {LEAST:g}) and finite", name="size")
    return x


def check_bounds(
    bounds: Any, y: np.ndarray, f: np.ndarray, rows: np.ndarray
) -> list[np.ndarray]:
    """Return the smallest and the largest possible count of each document."""
    labels = y[rows]
    if bounds is None:
        if (labels < 0).any():
            row = int(rows[(labels < 0).argmax()])
            problem = (
                f"has a negative label. Got {float(y[row])!r} in row {row}. Use NaN "
                "for documents without a label. For a difference of counts, pass "
                "bounds=(-numpy.inf, numpy.inf)."
            )
            raise ParameterError("y_true", problem)
        # Labels of 0 and 1 may be small counts if the model expects larger ones.
        is_binary = np.isin(labels, (0, 1)).all() and f.max() <= 1 + 1e-9
        bounds = (0.0, 1.0 if is_binary else np.inf)
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        problem = f"must be a pair (low, high). Got {bounds!r:.80}."
        raise ParameterTypeError("bounds", problem)
    ends = []
    for end in bounds:
        array = as_floats(end, name="bounds").astype(np.float64)
        if array.shape not in ((), y.shape) or np.isnan(array).any():
            problem = f"must be two numbers or two arrays of {len(y)} numbers, not NaN."
            raise ParameterError("bounds", f"{problem} Got shape {array.shape}.")
        ends.append(np.broadcast_to(array, y.shape))
    low, high = ends
    if (low > high).any():
        row = int((low > high).argmax())
        problem = f"must have low <= high. Got {low[row]}, {high[row]} in row {row}."
        raise ParameterError("bounds", problem)
    bad = np.zeros(len(y), dtype=bool)
    bad[rows] = (labels < low[rows]) | (labels > high[rows])
    raise_where(
        bad, y, "lie within `bounds` where a document is labelled", name="y_true"
    )
    _warn_of_impossible(f, *ends)
    return ends


def _warn_of_impossible(f: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Warn if an expected count is outside the bounds."""
    bad = (f < low - _ROUNDING) | (f > high + _ROUNDING)
    if bad.any():
        row = int(bad.argmax())
        warn(
            f"{THE_EXPECTED} is outside the range of possible counts in "
            f"{int(bad.sum())} of {len(f)} rows: {float(f[row])!r} in row {row}, where "
            f"a count is between {low[row]:g} and {high[row]:g}. The interval is still "
            "valid. Pass probabilities or expected counts, not logarithms or scores, "
            "or pass the `bounds` of the counts."
        )


def check_slope(slope: Any) -> str | float:
    """Return the method that estimates the slope, or the slope itself."""
    if isinstance(slope, str):
        return check_choice(slope, ("shrunk", "best"), name="slope")
    return check_real(slope, low=-LARGEST, high=LARGEST, name="slope")


def as_codes(values: Any, n: int, *, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct labels in order, and the code of each document's label."""
    labels = as_labels(values, name=name)
    if labels.size != n:
        problem = f"must have one entry for each of {n} documents. Got {labels.size}."
        raise ParameterError(name, problem)
    try:
        return np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        problem = f"must contain labels that can be sorted. Got {', '.join(kinds)}."
        raise ParameterTypeError(name, problem) from None


def check_groups(groups: Any, labelled: np.ndarray) -> np.ndarray | None:
    """Return the group of each document, and raise if a group is partly labelled."""
    codes = as_groups(groups, len(labelled))
    if codes is None:
        return None
    held = np.bincount(codes, labelled)
    partial = (held > 0) & (held < np.bincount(codes))
    if partial.any():
        row = int((partial[codes] & ~labelled).argmax())
        problem = (
            "must be labelled as a whole or not at all, because whole groups were "
            f"drawn. Row {row} has no label, but other rows of its group have one. If "
            f"single documents were drawn, {NO_GROUPS}."
        )
        raise ParameterError("groups", problem)
    # With two groups, the slope would leave no degree of freedom for the variance.
    if (held > 0).sum() < 3 and not labelled.all():
        problem = f"must have at least 3 labelled groups. Got {(held > 0).sum()}."
        raise ParameterError("groups", problem)
    return codes


def check_probability(probability: Any, labelled: np.ndarray) -> np.ndarray:
    """Return the inclusion probabilities that were given."""
    n, name = len(labelled), "inclusion_probability"
    array = as_floats(probability, name=name).astype(np.float64)
    is_one = array.ndim == 0
    pi = np.broadcast_to(array, n) if is_one else as_column(array, n, name=name)
    zero = pi == 0
    if zero.any():
        problem = (
            "must be positive, because the errors in documents that cannot be drawn "
            f"are unknown. Got 0 in row {int(zero.argmax())}. Remove such documents "
            "from the corpus, or draw them with a small probability."
        )
        raise ParameterError(name, problem)
    bad = ~((pi >= LEAST) & (pi <= 1 + 1e-9))
    raise_where(bad, pi, f"lie in (0, 1], and be at least {LEAST:g}", name=name)
    pi = np.minimum(pi, 1.0)
    missed = (pi > 1 - 1e-12) & ~labelled
    if missed.any():
        problem = (
            "is 1 for a document without a label. Got 1 in row "
            f"{int(missed.argmax())}. Use a probability below 1 for documents that "
            "could be missed by the draw."
        )
        raise ParameterError(name, problem)
    return pi


def check_strata(
    strata: Any, f: np.ndarray, labelled: np.ndarray, groups: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the stratum of each document, and merged strata for the variance.

    If only one of several documents (or groups) in a stratum is labelled, the variance
    within the stratum cannot be estimated. The stratum is then merged with the stratum
    that has the nearest mean of `f`.
    """
    if strata is None:
        one = np.broadcast_to(np.intp(0), len(f))
        return one, one
    labels, codes = as_codes(strata, len(f), name="strata")
    unit = drawn_units(groups)
    if groups is not None:
        other = codes != codes[unit][groups]
        if other.any():
            row = int(other.argmax())
            stratum = labels.tolist()[codes[row]]
            problem = (
                f"must be one for all documents of a group. Got {stratum!r} in row "
                f"{row}, and another stratum in other rows of its group."
            )
            raise ParameterError("strata", problem)
    n_units = np.bincount(codes[unit], minlength=len(labels))
    held = np.bincount(codes[unit], labelled[unit], len(labels)).astype(int)
    if (held == 0).any():
        stratum = labels.tolist()[int((held == 0).argmax())]
        problem = (
            f"must have a label in each stratum. Got none in {stratum!r}. If documents "
            "were drawn from this and another stratum together, merge both strata. "
            "Otherwise, remove the documents of the stratum from the corpus."
        )
        raise ParameterError("strata", problem)
    # One document that is the whole stratum has no sampling error.
    single = (held == 1) & (n_units > 1)
    if not single.any():
        return codes, codes
    joined = _join(single, held < n_units, np.bincount(codes, f) / np.bincount(codes))
    names = ", ".join(map(repr, labels[single].tolist()[:5]))
    warn(
        f"{single.sum()} strata have one label: {names}. To estimate the variance, "
        f"each is merged with the stratum that has the nearest mean of {EXPECTED}."
    )
    return codes, np.unique(joined, return_inverse=True)[1][codes]


def _join(single: np.ndarray, is_open: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return the stratum that each stratum is merged with."""
    joined = np.arange(len(means))
    for h in np.flatnonzero(single):
        if (joined == joined[h]).sum() > 1:
            continue  # another stratum has been merged with it
        # Completely labelled strata have no sampling error that could be shared.
        others = np.flatnonzero(is_open & (np.arange(len(means)) != h))
        if not others.size:
            problem = (
                "must have at least two labels in a stratum that is not completely "
                "labelled, so that the variance can be estimated. Got one."
            )
            raise ParameterError("strata", problem)
        nearest = others[np.argmin(np.abs(means[others] - means[h]))]
        joined[joined == joined[h]] = joined[nearest]
    return joined


def check_sides(expected: np.ndarray, rows: np.ndarray) -> None:
    """Raise if all labelled documents are on one side of the median expectation."""
    if len(rows) < _ENOUGH_FOR_SIDES or len(rows) == len(expected):
        return
    least, most = expected[rows].min(), expected[rows].max()
    for side, beyond in (("above", expected < least), ("below", expected > most)):
        # half of the corpus is on the other side
        if 2 * np.count_nonzero(beyond) >= len(expected):
            problem = (
                "must be drawn from the whole corpus. All labelled documents are "
                f"{side} the median of {EXPECTED}, so the errors of the model in the "
                "other documents are unknown. Label some of the other documents, or "
                "pass the corpus from which the documents were drawn."
            )
            raise ParameterError("y_true", problem)


# Warnings


# Largest accepted difference between sample and corpus, in standard errors. One random
# sample in a thousand has a larger difference.
_MOST_DEVIATION = 3.3

# If one document has a larger share of the variance, the coverage is too low.
_LARGE_SHARE = 0.08

# Limits of the share of one labelled document, in units of log(n) / n.
_OF_ERRORS = 4.0
_OF_LABELS = 2.5


def warn_of_the_sample(sample: Sample, is_given: bool) -> None:
    """Warn if labelled documents differ from the corpus too much for a random sample.

    is_given : whether the user gave inclusion probabilities.
    """
    f = sample.expected
    by_f, by_doubt = deviation(sample, f), 0.0
    # f (1 - f) is the variance of a label. Fitting a model on the labels lowers it.
    if f.min() >= 0 and f.max() <= 1:
        by_doubt = deviation(sample, f * (1 - f))
    # Only the larger of the two deviations is reported: one may cause the other.
    design = PROBABILITY if is_given else "equal inclusion probabilities"
    if abs(by_f) > max(_MOST_DEVIATION, abs(by_doubt)):
        more = "larger" if by_f > 0 else "smaller"
        warn(
            f"The labelled documents {NOT_A_SAMPLE} drawn with {design}: "
            f"their {EXPECTED} is {more} than that of the corpus, by {abs(by_f):.1f} "
            "standard errors. If they were chosen by the model or by a keyword, the "
            "interval is not valid. Pass the probabilities with which they were "
            f"drawn {AS_PROBABILITY}."
        )
    elif by_doubt < -_MOST_DEVIATION:
        warn(
            "The model is more confident about the labelled documents than about the "
            f"others, by {-by_doubt:.1f} standard errors. If it was fitted on their "
            "labels, the interval is not valid. Compute out-of-fold predictions for "
            "these documents, or label other documents."
        )
    elif by_doubt > _MOST_DEVIATION:
        warn(
            f"The labelled documents {NOT_A_SAMPLE} drawn with {design}: "
            "the model is less confident about them than about the corpus, by "
            f"{by_doubt:.1f} standard errors. If uncertain documents were preferred, "
            "pass the probabilities with which the documents were drawn "
            f"{AS_PROBABILITY}."
        )


def warn_of_other_labels(sample: Sample) -> None:
    """Warn if labels are codes, or labels of another class than the expectations."""
    y, f = sample.y, sample.expected
    # Counts are 0 in some documents, and codes such as 1 and 2 need not be.
    if f.min() >= 0 and f.max() <= 1 <= y.min() < y.max():
        warn(
            f"Labels are from {y.min():g} to {y.max():g}, but {EXPECTED} is at most 1, "
            "like a probability. If labels are codes, pass 1 and 0 instead."
        )
    elif y.max() <= 1 < f.mean() and y.size >= _ENOUGH_FOR_SIDES:
        warn(
            f"The mean of {EXPECTED} is {f.mean():.3g}, but no label is above 1. If "
            "these are percentages, divide them by 100."
        )
    elif are_reversed(y, f[sample.rows]):
        warn(
            f"Labels are lower where {EXPECTED} is higher. If labels of 0 and 1 are "
            "exchanged, count the other label."
        )


def warn_of_draws_by_the_model(sample: Sample) -> None:
    """Warn if the probabilities increase with the expected count and nothing else."""
    pi, f = sample.probability, sample.expected
    rest = pi < 1
    if not sample.is_unbounded or sample.has_sizes or not rest.any():
        return
    if np.ptp(f[rest]) == 0:
        return
    # A line through two documents predicts the probabilities of all others.
    least, most = (np.flatnonzero(rest)[k(f[rest])] for k in (np.argmin, np.argmax))
    rise = (pi[most] - pi[least]) / (f[most] - f[least])
    line = pi[least] + rise * (f - f[least])
    if rise > 0 and np.allclose(line[rest], pi[rest], rtol=1e-6, atol=0):
        warn(
            f"The inclusion probabilities increase with {EXPECTED} alone. If the model "
            "misses large documents, they are seldom drawn, and the interval is too "
            "narrow. Draw documents with probabilities that also increase with a known "
            f"size, such as the number of words {SEE_CHOICE}."
        )


def warn_of_recalibration(sample: Sample) -> None:
    """Warn if each value of `expected` is the mean label of its rows.

    Isotonic regression on the labelled documents gives such expectations.
    """
    f = sample.expected[sample.rows]
    values, place = np.unique(f, return_inverse=True)
    means = np.bincount(place, sample.y) / np.bincount(place)
    is_exact = (np.abs(means - values) <= 1e-9 * (1 + np.abs(values))).all()
    if is_exact and (f != sample.y).any() and (values % 1 != 0).sum() >= 2:
        warn(
            f"Each value of {EXPECTED} is exactly the mean label of its rows. If the "
            "model was recalibrated on these labels, the interval is not valid. Use "
            "cross-validation to recalibrate the model, or pass its expected counts "
            "before the recalibration."
        )


def number_is_wrong(sample: Sample) -> bool:
    """Warn if the number of labels differs from the sum of the probabilities."""
    unit = drawn_units(sample.groups)
    pi = sample.probability[unit]
    drawn = np.bincount(sample.rows, minlength=sample.n_documents)
    expected, n = float(pi.sum()), int(drawn[unit].sum())
    # The number varies most if documents are drawn independently.
    is_wrong = abs(n - expected) > max(1.0, 4 * np.sqrt(float(pi @ (1 - pi))))
    if is_wrong:
        warn(
            "The inclusion probabilities of the documents (or groups) add up to "
            f"{expected:.1f}, but {n} were drawn. Pass the probability with which each "
            "document of the corpus was drawn, including documents without a label."
        )
    return is_wrong


def warn_of_the_errors(total: Total, sample: Sample, method: str) -> None:
    """Warn if the labels do not determine the variance of the errors well."""
    if method == "t" and total.n_errors < ENOUGH_ERRORS and total.standard_error >= 0:
        warn(
            f"The labels show {total.n_errors:.1f} errors of one unit. With fewer than "
            f"{ENOUGH_ERRORS:g} errors, method='t' gives intervals that are too "
            "narrow. Use method='score'."
        )
    # For skewed counts, this share is a sign that few documents have most of the
    # variance in the corpus. Normal errors seldom exceed the limit. Labels without a
    # model have a lower limit: nothing else shows the documents that are not drawn.
    n = len(sample.rows)
    if n == sample.n_documents or not sample.is_unbounded:
        return
    factor = _OF_LABELS if sample.slope == 0 else _OF_ERRORS
    if total.largest_share > max(0.1, factor * np.log(n) / n):
        warn(
            f"One labelled document has {100 * total.largest_share:.0f}% of the "
            "estimated variance. If the corpus has larger documents that were not "
            "drawn, 95% intervals contain the count in fewer than 95% of samples. "
            "Label more documents, or draw documents with probabilities that increase "
            f"with a known size {SEE_CHOICE}."
        )
    elif total.largest_unlabelled > max(_LARGE_SHARE, 4 / sample.n_documents):
        measure = "size" if sample.has_sizes else f"value of {EXPECTED}"
        warn(
            f"One document without a label may have "
            f"{100 * total.largest_unlabelled:.0f}% of the variance, because its "
            f"{measure} is much larger than in other documents. With such "
            "documents, 95% intervals contain the count in 88 to 95% of samples. Draw "
            "documents with probabilities that increase with a known size "
            f"{SEE_CHOICE}."
        )


_NO_LABEL = (
    "Their estimates use the mean error of the whole corpus, and they have no interval "
    "(NaN)."
)


def warn_of_rows(
    columns: dict[str, np.ndarray], is_meant: np.ndarray, have: str, so: str
) -> None:
    """Warn once about all rows of the table that a mask selects."""
    rows = np.flatnonzero(is_meant).tolist()
    if rows:
        names = [" ".join(str(each[t]) for each in columns.values()) for t in rows]
        shown = "; ".join(names[:5]) + ("; ..." if len(names) > 5 else "")
        n = f"{len(names)} of {len(is_meant)}"
        warn(f"{n} rows of the table {have}: {shown}. {so}")
