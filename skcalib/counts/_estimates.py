"""Estimates of sums over a corpus, with their variances and intervals.

The labels of a sample are regressed on the model's expectations, with a slope shrunk
towards 1. The fitted counts of the corpus and the residuals of the sample give a
weighted sum of the whole corpus, or the sums of domains such as periods.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import stdtr, stdtrit

from .._pairs import holm
from ..rates._judged import Unseen, arms, unseen_error


@dataclass(frozen=True)
class Sample:
    """Validated arguments of an estimate.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        Indices of the labelled documents.
    y : ndarray of shape (n,)
        Their labels.
    expected : ndarray of shape (N,)
        Expected count of each document under the model.
    size : ndarray of shape (N,)
        Size of each document, positive.
    probability : ndarray of shape (N,)
        Inclusion probability of each document, in (0, 1].
    strata : ndarray of shape (N,)
        Stratum of each document, as a code from 0.
    groups : ndarray of shape (N,) or None
        Group of each document, as a code from 0, if groups were drawn.
    low, high : ndarray of shape (N,)
        Bounds of each document's count.
    unit : float
        Smallest possible error of a count, other than 0.
    slope : 'shrunk', 'best' or float
        Coefficient of `expected`, or the method that estimates it.
    """

    rows: np.ndarray
    y: np.ndarray
    expected: np.ndarray
    size: np.ndarray
    probability: np.ndarray
    strata: np.ndarray
    groups: np.ndarray | None
    low: np.ndarray
    high: np.ndarray
    unit: float
    slope: str | float

    @property
    def n_documents(self) -> int:
        """Return the number of documents of the corpus."""
        return len(self.expected)

    @property
    def is_tuned(self) -> bool:
        """Return whether the slope is estimated from the labels."""
        return isinstance(self.slope, str)

    @property
    def is_unbounded(self) -> bool:
        """Return whether some documents have counts without an upper bound."""
        return bool(np.isinf(self.high).any())

    @property
    def has_sizes(self) -> bool:
        """Return whether documents differ in size."""
        return bool(np.ptp(self.size) > 0)

    def possible(
        self, weight: np.ndarray, place: np.ndarray | None = None, n_sums: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the bounds of weighted sums, given labels and document bounds.

        place : (N,) sum that each document enters, as a code from 0. If None, all
        documents enter one sum.
        """
        with np.errstate(invalid="ignore"):  # 0 times an infinite bound is NaN
            low, high = (
                np.where(weight == 0, 0, weight * x) for x in (self.low, self.high)
            )
        ends = np.minimum(low, high), np.maximum(low, high)
        for end in ends:
            end[self.rows] = weight[self.rows] * self.y
        if place is None:
            return ends[0].sum(), ends[1].sum()
        return np.bincount(place, ends[0], n_sums), np.bincount(place, ends[1], n_sums)


# Precision of the normal prior of the slope, with mean 1 and standard deviation 1/2.
_PRIOR = 4.0

# Upper limit of the leverage of a document.
_MOST_LEVERAGE = 0.9


def fit_slope(
    sample: Sample, f: np.ndarray, y: np.ndarray, weight: np.ndarray, df: int
) -> tuple[float, np.ndarray]:
    """Return the slope of y on f, both centred, and its derivatives with respect to y.

    df : degrees of freedom of the residuals.
    """
    slope = sample.slope
    if not isinstance(slope, str):
        return slope, np.zeros_like(f)
    s_ff, s_fy = float(weight @ f**2), float(weight @ (f * y))
    pull = 0.0
    if slope == "shrunk":
        least_squares = s_fy / s_ff if s_ff > 0 else 1.0
        variance = float(weight @ (y - least_squares * f) ** 2) / max(df, 1)
        # One further error of size `unit` would add `floor` to the variance.
        floor = sample.unit**2 * float(weight.mean()) / len(y)
        # The posterior mean of a normal slope: 1 counts as much as observations with
        # the sum of squares `pull`.
        pull = _PRIOR * (variance + floor)
    if s_ff + pull <= 0:
        return 1.0, np.zeros_like(f)
    # `pull` is treated as fixed in the derivative.
    return (s_fy + pull) / (s_ff + pull), weight * f / (s_ff + pull)


def leverages(derivatives: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Return the leverage of each row of a regression through the centre."""
    return np.minimum(derivatives * f, _MOST_LEVERAGE)


@dataclass(frozen=True)
class Fit:
    """Regression of the labels on sizes and expected counts.

    Attributes
    ----------
    slope : float
        Coefficient of the expected counts.
    fitted : ndarray of shape (N,)
        Fitted count of each document of the corpus.
    residuals : ndarray of shape (n,)
        Labels minus fitted counts.
    leverage : ndarray of shape (n,)
        Leverage of each label on the slope.
    derivatives : ndarray of shape (n, 2)
        Derivatives of the intercept and of the slope with respect to each label.
    """

    slope: float
    fitted: np.ndarray
    residuals: np.ndarray
    leverage: np.ndarray
    derivatives: np.ndarray


def fit(sample: Sample) -> Fit:
    """Regress the labels on size and expected count, with the weights of the design.

    The variance of a residual is assumed to be proportional to the document's size.
    """
    rows, y = sample.rows, sample.y
    x, f = sample.size[rows], sample.expected[rows]
    # weights of the design, over a variance proportional to the size
    weight = 1 / (sample.probability[rows] * x)
    total = weight @ x**2
    mean_f, mean_y = (weight * x) @ f / total, (weight * x) @ y / total
    # With sizes as the regressor of the intercept, centring removes mean_f x.
    centred = f - mean_f * x
    slope, to_slope = fit_slope(sample, centred, y - mean_y * x, weight, len(y) - 2)
    intercept = mean_y - slope * mean_f
    fitted = intercept * sample.size + slope * sample.expected
    # derivative of mean_y - slope mean_f
    to_intercept = weight * x / total - to_slope * mean_f
    derivatives = np.column_stack([to_intercept, to_slope])
    leverage = leverages(to_slope, centred)
    return Fit(float(slope), fitted, y - fitted[rows], leverage, derivatives)


# A label that exceeds the largest fitted count by this factor shows that the model does
# not know the large documents.
_BEYOND = 1.2

# Effective number of labels in the variance from which such labels are no surprise.
_MANY = 12.0


def supports_model(sample: Sample, found: Fit) -> bool:
    """Return whether the labels support a slope other than 0.

    They do not if they decrease with the expected counts, or if a few of them have most
    of the variance and one is much larger than every fitted count of the corpus. Both
    are judged only for counts without an upper bound, where documents that are not in
    the sample may be large.
    """
    if sample.slope != "shrunk" or not sample.is_unbounded:
        return True
    # the least-squares slope times a number between 0 and 1, 0 up to rounding if all
    # labels are equal
    is_rising = float(found.derivatives[:, 1] @ sample.y) >= -1e-9
    largest = float(np.abs(found.fitted).max())
    is_known = float(np.abs(sample.y).max()) <= _BEYOND * largest
    influence = found.residuals / sample.probability[sample.rows]
    parts, _ = contributions(sample, influence, 1.0)
    # Large labels that are many are part of the estimated variance.
    return is_rising and (is_known or effective_number(parts) >= _MANY)


# Limit of the events that the model missed, relative to the events that it found.
_MOST_MISSED = 2.0


def missed_count(sample: Sample, fitted: np.ndarray, slope: float) -> float:
    """Return the count of a document that the model missed, or 0 if it is not needed.

    It is the mean count of documents with events. For counts of 0 and 1, this is one
    error.
    """
    has, large = sample.y > 0, fitted > sample.unit
    if slope == 0 or not sample.is_unbounded:
        return 0.0
    if has.any():
        drawn = 1 / sample.probability[sample.rows][has]
        return float(drawn @ sample.y[has] / drawn.sum())
    # Without a labelled event, the model shows how many events a document has.
    return float(fitted[large].mean()) if large.any() else 0.0


def unseen_errors(
    sample: Sample,
    fitted: np.ndarray,
    slope: float,
    weight: np.ndarray,
    step: np.ndarray | float,
) -> tuple[list[Unseen], bool]:
    """Return the errors above and below the total that the sample may have missed.

    The error of a document is at most one unit and respects the bounds of its count: a
    fitted count of 0.2 is too large by at most 0.2. Its amount is a mean over the
    possible errors of the documents.

    The model misses a document with the fitted count m with the probability
    exp(-m / unit) of a Poisson count of 0. It finds at least a third of the events, so
    that at most twice the fitted total is missing.

    The second returned value is whether the total is an unweighted count of documents
    with counts of 0 or 1.

    step : standard deviation of a document's weight under the design.
    """
    used = weight != 0
    if not used.any():
        return [(0.0, 0.0, 0.0, 0.0)] * 2, False
    c, low, high = weight[used], sample.low[used], sample.high[used]
    # an error of size e adds e times the deviation of the document's weight
    spread = (np.abs(weight) * step)[used]
    inside = np.clip(fitted[used], low, high)
    missed = spread * missed_count(sample, fitted, slope)
    found = np.maximum(fitted[used], 0)
    chance = np.exp(-found / sample.unit) / found.size
    unseen = []
    # A count with a negative weight lowers the total when it rises.
    for rises in (c > 0, c < 0):
        room = np.where(rises, high - inside, inside - low)
        error = unseen_error(np.minimum(room, sample.unit), spread)
        square = chance * (missed**2 * rises)
        most = _MOST_MISSED * float(np.abs(c) @ (found * rises))
        unseen.append((error, float(square.sum()), float(square @ missed), most))
    is_equal = c.min() > 0 and np.ptp(c) <= 1e-12 * c.max()
    return unseen, bool(is_equal and (high - low <= sample.unit * (1 + 1e-9)).all())


# The variance of a count's error grows with the count to a power between 1 (Poisson)
# and 2 (errors proportional to the count).
_FITTED_POWER, _SIZE_POWER = 1.5, 4 / 3


# Beyond it, a p-value is 0.
_LARGEST_QUANTILE = 1e6

# Sums of weighted labels that are 0 differ from it by rounding, in units of a weight.
_ZERO = 1e-9


@dataclass(frozen=True)
class Total:
    """Estimated sum with its interval.

    Attributes
    ----------
    estimate, low, high, standard_error : float
        Estimate, ends of the interval, root of the estimated variance.
    n_errors : float
        Sum of squared residuals in units.
    n_effective : float
        Effective number of documents that contribute to the variance.
    largest_share : float
        Share of the largest contribution in the variance.
    largest_unlabelled : float
        Largest share of a document without a label in the variance over the corpus.
    pvalue : float
        P-value of a sum of 0, or None if it is not tested.
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    n_errors: float
    n_effective: float
    largest_share: float
    largest_unlabelled: float
    pvalue: float | None


def weighted_total(
    sample: Sample,
    found: Fit,
    weight: np.ndarray,
    *,
    method: str,
    level: float,
    is_tested: bool = False,
) -> Total:
    """Estimate the sum of weight * y over the corpus, and test whether it is 0."""
    rows, pi = sample.rows, sample.probability
    expanded = weight[rows] / pi[rows]
    # fitted sum over the corpus plus the expanded residuals of the sample
    estimate = float(weight @ found.fitted) + float(expanded @ found.residuals)
    # Labels also change the total through intercept and slope, if the weighted sample
    # differs from the corpus in size or expected count.
    columns = sample.size, sample.expected
    gap = np.array([weight @ x - expanded @ x[rows] for x in columns])
    # derivative of the estimate with respect to each label, times its residual
    slopes = found.derivatives @ gap
    influence = found.residuals * (expanded + slopes)
    # Residuals of labels that move the line towards themselves are too small: the root
    # of 1 - leverage corrects the variance (HC2), 1 - leverage is the jackknife (HC3).
    plain, df = contributions(sample, influence / np.sqrt(1 - found.leverage), 0.5)
    jackknife, _ = contributions(sample, influence / (1 - found.leverage), 1.0)
    ratio, corpus_share = unseen_sizes(sample, found.fitted, weight)
    df = max(df - sample.is_tuned, 1)
    if method == "t":
        # A slope estimated from the labels makes residuals smaller than errors.
        used = jackknife if sample.is_tuned else plain
        error = float(np.sqrt(used @ used))

        def lengths(quantile: float) -> tuple[float, float]:
            return quantile * error, quantile * error

    else:
        unseen, is_plain = unseen_errors(
            sample, found.fitted, found.slope, weight, np.sqrt(1 - pi) / pi
        )
        # Only for counts of 0 and 1, the variance x - x^2 / m of a binomial falls.
        m = float((weight[rows] != 0).sum())
        if not is_plain or sample.groups is not None:
            m = np.inf
        # The gap is larger anyway if the sample lacks large documents.
        grown = found.residuals * (expanded * np.sqrt(ratio) + slopes)
        scaled, _ = contributions(sample, grown / (1 - found.leverage), 1.0)
        # second and third cumulant of the estimate
        beyond = float(weight @ extrapolation(sample, found.fitted))
        moments = float(scaled @ scaled) + beyond**2, float((scaled**3).sum())

        def lengths(quantile: float) -> tuple[float, float]:
            return arms(*moments, unseen, m, quantile)

    below, above = lengths(float(stdtrit(df, 0.5 + level / 2)))
    ends = np.array([estimate, estimate - below, estimate + above])
    # Labels of drawn documents are known, so the total has certain bounds.
    possible = sample.possible(weight)
    pvalue = None
    least = _ZERO * float(np.abs(weight).max(initial=0))
    if is_tested:
        pvalue = _pvalue(estimate, lengths, df)
        if abs(estimate) <= least:
            pvalue = 1.0
        elif possible[0] > least or possible[1] < -least:
            pvalue = 0.0
    ends = np.clip(ends, *possible)
    ends[np.abs(ends) <= least] = 0
    estimate, low, high = map(float, ends)
    squares = jackknife**2
    return Total(
        estimate=estimate,
        low=low,
        high=high,
        standard_error=float(np.sqrt(plain @ plain)),
        n_errors=float(found.residuals @ found.residuals) / sample.unit**2,
        n_effective=effective_number(jackknife),
        largest_share=float(squares.max() / squares.sum()) if squares.any() else 0.0,
        largest_unlabelled=corpus_share,
        pvalue=pvalue,
    )


def _pvalue(
    estimate: float, lengths: Callable[[float], tuple[float, float]], df: int
) -> float:
    """Return the level beyond which the interval has no 0, from lengths by quantile."""
    side = int(estimate < 0)

    def distance(quantile: float) -> float:
        return lengths(quantile)[side] - abs(estimate)

    if distance(_LARGEST_QUANTILE) <= 0:
        return 0.0
    return 2 * float(stdtr(df, -brentq(distance, 0, _LARGEST_QUANTILE)))


def unseen_sizes(
    sample: Sample, fitted: np.ndarray, weight: np.ndarray
) -> tuple[float, float]:
    """Return the ratio of the error variances in the corpus and in the sample.

    The variance of a count's error is assumed to be proportional to the power 1.5 of
    the document's size, or of its fitted count if sizes are unknown. The ratio is the
    mean of this variance over the corpus divided by its mean over the sample. A sample
    with few large documents underestimates the variance by this ratio. The ratio is at
    least 1, and it is 1 for counts with an upper bound.

    The second returned value is the largest share of a document without a label in the
    variance of this design.
    """
    if not sample.is_unbounded:
        return 1.0, 0.0
    rows, c, pi = sample.rows, weight**2, sample.probability
    if sample.has_sizes:
        size = c * sample.size**_SIZE_POWER
    else:
        size = c * np.maximum(fitted, 0) ** _FITTED_POWER
    spread = size * (1 - pi) / pi
    rest = spread.copy()
    rest[rows] = 0
    share = float(rest.max() / spread.sum()) if rest.any() else 0.0
    drawn = float((size[rows] / pi[rows]).sum())
    # both means are estimated with the weights of the design
    n_drawn = float((c[rows] / pi[rows]).sum())
    if drawn <= 0 or n_drawn <= 0:
        return 1.0, share
    return max(1.0, float(size.sum() / c.sum()) * n_drawn / drawn), share


def extrapolation(sample: Sample, fitted: np.ndarray) -> np.ndarray:
    """Return the standard deviation of each document's fitted count beyond all labels.

    The labels do not show the slope for documents whose fitted counts (per unit of
    size) are larger than those of all labelled documents. It may differ there, with the
    standard deviation of its prior. The deviations of documents add up.
    """
    if not sample.is_unbounded:
        return np.zeros_like(fitted)
    size, rows = sample.size, sample.rows
    reach = (fitted[rows] / size[rows]).max()
    # theory, (E4)
    return np.maximum(fitted - reach * size, 0) / np.sqrt(_PRIOR)


def effective_number(parts: np.ndarray) -> float:
    """Return the effective number of parts, from their squares and fourth powers."""
    fourth = float((parts**4).sum())
    return float(parts @ parts) ** 2 / fourth if fourth > 0 else 0.0


def contributions(
    sample: Sample, influence: np.ndarray, power: float
) -> tuple[np.ndarray, int]:
    """Return contributions whose squares sum to the variance, and degrees of freedom.

    Influences are centred within strata. Documents that were certain to be drawn
    contribute nothing. The factor m / (m - 1) of a stratum has the exponent `power`:
    0.5 gives the textbook variance, 1 the jackknife.
    """
    pi, strata = sample.probability[sample.rows], sample.strata[sample.rows]
    if sample.groups is not None:
        _, first, place = np.unique(
            sample.groups[sample.rows], return_index=True, return_inverse=True
        )
        # Groups were drawn, so their sums are the independent contributions.
        influence = np.bincount(place, influence)
        pi, strata = pi[first], strata[first]
    # finite population: a document drawn with certainty has no sampling error
    keep = 1 - pi
    free = keep > 0
    n_strata = int(sample.strata.max()) + 1
    m = np.bincount(strata[free], minlength=n_strata)[strata]
    mass = np.bincount(strata, keep, n_strata)[strata]
    held = np.bincount(strata, keep * influence, n_strata)[strata]
    parts = np.zeros_like(influence)
    # A stratum with one free document has no estimate of its variance.
    use = free & (m > 1)
    centred = influence[use] - held[use] / mass[use]
    factor = (m[use] / (m[use] - 1)) ** power
    parts[use] = factor * np.sqrt(keep[use]) * centred
    return parts, int(free.sum()) - np.unique(strata[free]).size


# Student's t interval is used if the labels show this number of errors of one unit, in
# an effective number of documents that is at least twice as large.
ENOUGH_ERRORS = 4.0

# Weight of the pooled variance, in labels, relative to the variance of a domain.
_PRIOR_LABELS = 8.0


def domain_totals(
    sample: Sample, found: Fit, place: np.ndarray, *, method: str, level: float
) -> dict[str, np.ndarray]:
    """Estimate the sum of y in each domain, as columns of a table.

    The ends and the standard error of a domain without labels are NaN.

    place : (N,) domain of each document, as a code from 0.
    """
    names = ("estimate", "low", "high", "standard_error")
    n_documents = np.bincount(place)
    n_domains = len(n_documents)
    n_labelled = np.bincount(place[sample.rows], minlength=n_domains)
    # With groups or sizes, errors do not have the same distribution.
    if sample.groups is None and not sample.has_sizes:
        ends = _pooled(sample, place, n_documents, n_labelled, method, level)
    else:
        rule = "t" if method == "t" else "score"
        totals = [
            weighted_total(sample, found, (place == t) * 1.0, method=rule, level=level)
            for t in range(n_domains)
        ]
        ends = np.array([[getattr(each, name) for each in totals] for name in names])
    unknown = n_labelled == 0
    ends[1:, unknown] = np.nan
    # Without labels, the mean error of the whole corpus is used.
    ends[0, unknown] = np.bincount(place, found.fitted, n_domains)[unknown]
    bounds = sample.possible(np.broadcast_to(1.0, len(place)), place, n_domains)
    ends[:3] = np.clip(ends[:3], *bounds)
    return {
        **dict(zip(names, ends, strict=True)),
        "uncorrected": np.bincount(place, sample.expected, n_domains),
        "n_documents": n_documents,
        "n_labelled": n_labelled,
    }


def _pooled(
    sample: Sample,
    place: np.ndarray,
    n_documents: np.ndarray,
    n_labelled: np.ndarray,
    method: str,
    level: float,
) -> np.ndarray:
    """Return rows of estimate, low, high and standard error of each domain.

    Each domain has its own mean error. Slope and variance are pooled over domains.
    """
    n_domains, y, at = len(n_documents), sample.y, place[sample.rows]
    f = sample.expected[sample.rows]
    uncorrected = np.bincount(place, sample.expected, n_domains)
    with np.errstate(invalid="ignore", divide="ignore"):
        # Probabilities given the number of labels in each domain: this number over its
        # expectation is the factor.
        ratio = n_labelled / np.bincount(place, sample.probability, n_domains)
        pi = np.minimum(sample.probability * ratio[place], 1)[sample.rows]
        weight = 1 / pi
        held = np.bincount(at, weight, n_domains)
        mean_f = np.bincount(at, weight * f, n_domains) / held
        mean_y = np.bincount(at, weight * y, n_domains) / held
        # Standard deviation of one document's weight in its domain.
        drawn = np.minimum(n_labelled / n_documents, 1)
        step = np.sqrt(1 - drawn) / drawn
    centred = f - mean_f[at]
    # each domain with labels has its own mean
    df = max(len(y) - int((n_labelled > 0).sum()) - int(sample.is_tuned), 1)
    slope, to_slope = fit_slope(sample, centred, y - mean_y[at], weight, df)
    # n (mean_y + slope (mean of expected - mean_f)): the mean error of the domain with
    # the pooled slope
    estimate = slope * uncorrected + n_documents * (mean_y - slope * mean_f)
    # as in weighted_total: the jackknife
    residuals = y - mean_y[at] - slope * centred
    residuals = residuals / (1 - leverages(to_slope, centred))
    # Variance due to the slope if labels and domain differ in the mean of f.
    distance = uncorrected - n_documents * mean_f
    of_slope = distance**2 * float(to_slope**2 @ residuals**2)
    # Errors of all domains are pooled on the scale of one document's weight.
    # Completely labelled domains do not contribute.
    use = step[at] > 0
    scale = weight[use] * np.sqrt(1 - pi[use]) / step[at][use]
    own_errors = residuals[use] * scale
    # A mean for each domain and the slope have made the errors smaller.
    errors = own_errors * np.sqrt(max(len(y), 1) / df)
    second = _second_moments(errors, own_errors, at[use], n_domains)
    # as in weighted_total, not for method 't'
    deviation = extrapolation(sample, slope * sample.expected) * (method != "t")
    beyond = np.bincount(place, deviation, n_domains) ** 2
    if method == "auto":
        is_enough = float(errors @ errors) / sample.unit**2 >= ENOUGH_ERRORS
        many = effective_number(errors) >= 2 * ENOUGH_ERRORS
        method = "t" if is_enough and many else "score"
    quantile = float(stdtrit(df, 0.5 + level / 2))
    with np.errstate(invalid="ignore"):
        error = np.sqrt(step**2 * second + of_slope)
    below = above = quantile * np.sqrt(error**2 + beyond)
    if method == "score":
        # Third moments of a single domain are too noisy; each gets its share.
        third = n_labelled / max(errors.size, 1) * float((errors**3).sum())
        below, above = np.full((2, n_domains), np.nan)
        for t in np.flatnonzero(n_labelled):
            fitted = mean_y[t] + slope * (sample.expected - mean_f[t])
            own = (place == t) * 1.0
            unseen, _ = unseen_errors(sample, fitted, slope, own, step[t])
            variance = float(second[t]) * step[t] ** 2 + float(beyond[t])
            moments = variance, float(third[t]) * step[t] ** 3
            below[t], above[t] = arms(*moments, unseen, np.inf, quantile)
    return np.array([estimate, estimate - below, estimate + above, error])


def _second_moments(
    errors: np.ndarray, own_errors: np.ndarray, at: np.ndarray, n_domains: int
) -> np.ndarray:
    """Return the sum of squared errors of each domain, at least the pooled sum.

    If the errors of a domain's own labels are larger, the sum is a weighted mean of
    both sums, in which the pooled sum has the weight of `_PRIOR_LABELS` labels. Smaller
    errors are not used, because the labels of a domain may have missed its errors.
    """
    n = np.bincount(at, minlength=n_domains)
    pooled = n * float(errors @ errors) / max(errors.size, 1)
    # errors are distances from the mean of their own domain
    own = np.bincount(at, own_errors**2, n_domains) * n / np.maximum(n - 1, 1)
    share = n / (n + _PRIOR_LABELS)
    return np.maximum(pooled, share * own + (1 - share) * pooled)


def differences(
    sample: Sample,
    fitted: Fit,
    weight: np.ndarray,
    place: np.ndarray,
    is_mean: bool,
    method: str,
    level: float,
) -> dict[str, np.ndarray]:
    """Return the difference in each category, as columns of a table."""
    n_rows = int(place.max()) + 1
    used = weight != 0
    cells = 2 * place + (weight > 0)
    sums = np.bincount(cells, np.abs(weight), 2 * n_rows)
    is_defined = np.logical_or(not is_mean, sums.reshape(-1, 2).min(axis=1) > 0)
    if is_mean:  # divide by the documents of the category in each period
        weight = weight / sums[cells].clip(np.finfo(float).tiny)
    estimate = partial(
        weighted_total, sample, fitted, method=method, level=level, is_tested=True
    )
    totals = [estimate(weight * (place == k)) for k in range(n_rows)]
    names = ("estimate", "low", "high", "standard_error", "pvalue")
    numbers = {x: np.array([getattr(each, x) for each in totals], float) for x in names}
    numbers["estimate"][~is_defined] = np.nan
    is_known = is_defined & has_both(sample, weight, place, n_rows)
    for name in names[1:]:
        numbers[name][~is_known] = np.nan
    uncorrected = sums_of(weight * sample.expected, place)
    rows = sample.rows[used[sample.rows]]
    return {
        **numbers,
        "pvalue_adjusted": holm(numbers["pvalue"]),
        "uncorrected": np.where(is_defined, uncorrected, np.nan),
        "n_documents": np.bincount(place[used], minlength=n_rows),
        "n_labelled": np.bincount(place[rows], minlength=n_rows),
    }


def sums_of(terms: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return the sum of the terms of each row, 0 if it is due to rounding."""
    sums = np.bincount(place, terms)
    sums[np.abs(sums) <= 1e-12 * np.bincount(place, np.abs(terms))] = 0
    return sums


def has_both(
    sample: Sample, weight: np.ndarray, place: np.ndarray, n_rows: int
) -> np.ndarray:
    """Return whether both periods of each row have a label, if they have documents."""
    found = np.ones(n_rows, dtype=bool)
    for own in (weight > 0, weight < 0):
        n_labelled = np.bincount(place[sample.rows[own[sample.rows]]], minlength=n_rows)
        found &= (n_labelled > 0) | (np.bincount(place[own], minlength=n_rows) == 0)
    return found


def equivalent_labels(
    width: float, width_alone: float, n: int, n_documents: int
) -> float:
    """Return the number of labels that would give this width without the model.

    The variance of an estimate from n of N documents is proportional to 1 / n - 1 / N.
    """
    if n in (0, n_documents) or width_alone <= 0:
        return float(n)
    ratio = width / width_alone
    return float(1 / (1 / n_documents + ratio**2 * (1 / n - 1 / n_documents)))


def drawn_units(groups: np.ndarray | None) -> np.ndarray | slice:
    """Return one document of each unit that was drawn: each document, or each group."""
    return slice(None) if groups is None else np.unique(groups, return_index=True)[1]


def deviation(sample: Sample, values: np.ndarray) -> float:
    """Return the difference between sample and corpus in standard errors.

    Values of the documents are replaced by ranks, whose means are close to normal in
    small samples. The variance follows from the design, because ranks are known for the
    whole corpus.
    """
    rows, n = sample.rows, sample.n_documents
    if len(rows) == n:
        return 0.0
    _, code, count = np.unique(values, return_inverse=True, return_counts=True)
    # ranks are counted from the mean rank
    ranks: np.ndarray = (np.cumsum(count) - (count + n) / 2)[code]
    drawn = 1 / sample.probability[rows]
    mean = float(drawn @ ranks[rows] / drawn.sum())
    unit = drawn_units(sample.groups)
    pi, strata = sample.probability[unit], sample.strata[unit]
    if sample.groups is not None:
        ranks = np.bincount(sample.groups, ranks)
    # Hajek's approximation for draws of a fixed number in each stratum
    n_strata = int(strata.max()) + 1
    spread = np.bincount(strata, pi * (1 - pi), n_strata)
    total = np.bincount(strata, (1 - pi) * ranks, n_strata)
    centre = np.divide(total, spread, out=np.zeros(n_strata), where=spread > 0)
    error = np.sqrt(float((pi * (1 - pi)) @ (ranks / pi - centre[strata]) ** 2)) / n
    return mean / error if error > 1e-9 else 0.0
