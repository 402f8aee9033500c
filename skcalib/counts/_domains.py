"""Totals of domains, such as periods, with a pooled slope and variance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from ._regression import Fit, fit_slope, leverages
from ._sample import Sample
from ._score_arms import arms, unseen_errors
from ._totals import effective_number, weighted_total

# Student's t interval is used if the labels show this number of errors of one unit, in
# an effective number of documents that is at least twice as large.
_ENOUGH_ERRORS = 4.0

# Weight of the pooled variance, in labels, relative to the variance of a domain.
_PRIOR_LABELS = 8.0


@dataclass(frozen=True)
class DomainTotals:
    """Totals of domains, each attribute with one entry per domain.

    The ends and the standard error of a domain without labels are NaN.
    """

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    standard_error: np.ndarray
    uncorrected: np.ndarray
    n_documents: np.ndarray
    n_labelled: np.ndarray


def domain_totals(
    sample: Sample,
    place: np.ndarray,
    n_domains: int,
    *,
    method: str,
    confidence_level: float,
    fitted: Fit,
) -> DomainTotals:
    """Estimate the sum of y in each domain.

    place : (N,) domain of each document, as a code from 0.
    """
    rows = sample.rows
    n_documents = np.bincount(place, minlength=n_domains)
    n_labelled = np.bincount(place[rows], minlength=n_domains)
    uncorrected = np.bincount(place, sample.expected, n_domains)
    # With groups or sizes, errors do not have the same distribution.
    if sample.groups is None and np.ptp(sample.size) == 0:
        pooled = _Pooled(sample, place, n_documents, n_labelled, uncorrected)
        ends = pooled.ends(method, confidence_level)
    else:
        ends = _separate(sample, place, n_domains, method, confidence_level, fitted)
    unknown = n_labelled == 0
    ends[1:, unknown] = np.nan
    # Without labels, the mean error of the whole corpus is used.
    synthetic = np.bincount(place, fitted.fitted, n_domains)
    ends[0, unknown] = synthetic[unknown]
    ends[:3] = np.clip(ends[:3], *_possible(sample, place, n_domains))
    estimate, low, high, error = ends
    return DomainTotals(
        estimate, low, high, error, uncorrected, n_documents, n_labelled
    )


def _possible(
    sample: Sample, place: np.ndarray, n_domains: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds of each domain's sum, given labels and document bounds."""
    rest = np.ones(sample.n_documents, dtype=bool)
    rest[sample.rows] = False
    known = np.bincount(place[sample.rows], sample.y, n_domains)
    low, high = (
        known + np.bincount(place[rest], bound[rest], n_domains)
        for bound in (sample.low, sample.high)
    )
    return low, high


def _separate(
    sample: Sample,
    place: np.ndarray,
    n_domains: int,
    method: str,
    confidence_level: float,
    fitted: Fit,
) -> np.ndarray:
    """Return estimate, low, high and standard error, computed as weighted totals."""
    found = [
        weighted_total(
            sample,
            (place == t) * 1.0,
            method="t" if method == "t" else "score",
            confidence_level=confidence_level,
            fitted=fitted,
        )
        for t in range(n_domains)
    ]
    return np.array(
        [[each.estimate, each.low, each.high, each.standard_error] for each in found]
    ).T


class _Pooled:
    """Totals with the mean error of each domain and a pooled slope and variance."""

    def __init__(
        self,
        sample: Sample,
        place: np.ndarray,
        n_documents: np.ndarray,
        n_labelled: np.ndarray,
        uncorrected: np.ndarray,
    ):
        self.sample, self.place = sample, place
        self.n_documents, self.n_labelled = n_documents, n_labelled
        n_domains = len(n_documents)
        f, y, at = sample.expected[sample.rows], sample.y, place[sample.rows]
        with np.errstate(invalid="ignore", divide="ignore"):
            # Probabilities given the number of labels in each domain.
            # number of labels over its expectation
            ratio = n_labelled / np.bincount(place, sample.probability, n_domains)
            pi = np.minimum(sample.probability * ratio[place], 1)[sample.rows]
            weight = 1 / pi
            held = np.bincount(at, weight, n_domains)
            mean_f = np.bincount(at, weight * f, n_domains) / held
            mean_y = np.bincount(at, weight * y, n_domains) / held
            # Standard deviation of one document's weight in its domain.
            share = np.minimum(n_labelled / n_documents, 1)
            self.step = np.sqrt(1 - share) / share
        centred = f - mean_f[at]
        # each domain with labels has its own mean
        n_free = len(y) - int((n_labelled > 0).sum())
        self.df = max(n_free - int(sample.is_tuned), 1)
        self.slope, to_slope = fit_slope(
            centred,
            y - mean_y[at],
            weight,
            df=self.df,
            floor=sample.unit**2 * float(weight.mean()) / len(y),
            slope=sample.slope,
        )
        residuals = y - mean_y[at] - self.slope * centred
        # as in weighted_total: the jackknife
        residuals = residuals / (1 - leverages(to_slope, centred))
        self.mean_f, self.mean_y = mean_f, mean_y
        self.estimate = self.slope * uncorrected
        # n (mean_y + slope (mean of expected - mean_f)): the mean error of the domain
        # with the pooled slope
        self.estimate = self.estimate + n_documents * (mean_y - self.slope * mean_f)
        # Variance due to the slope if labels and domain differ in the mean of f.
        distance = uncorrected - n_documents * mean_f
        self.of_slope = distance**2 * float(to_slope**2 @ residuals**2)
        # Errors of all domains are pooled on the scale of one document's weight.
        # Completely labelled domains do not contribute.
        use = self.step[at] > 0
        scale = weight[use] * np.sqrt(1 - pi[use]) / self.step[at][use]
        errors = residuals[use] * scale
        # A mean for each domain and the slope have made the errors smaller.
        self.errors = errors * np.sqrt(max(len(y), 1) / self.df)
        self.second = self._second(errors, at[use])

    def _second(self, errors: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Return the sum of squared errors of each domain, at least the pooled sum.

        If the errors of a domain's own labels are larger, the sum is a weighted mean of
        both sums, in which the pooled sum has the weight of `_PRIOR_LABELS` labels.
        Smaller errors are not used, because the labels of a domain may have missed its
        errors.
        """
        n = np.bincount(at, minlength=len(self.n_documents))
        pooled = n * float(self.errors @ self.errors) / max(errors.size, 1)
        # errors are distances from the mean of their own domain
        own = np.bincount(at, errors**2, len(n)) * n / np.maximum(n - 1, 1)
        share = n / (n + _PRIOR_LABELS)
        return np.maximum(pooled, share * own + (1 - share) * pooled)

    def ends(self, method: str, confidence_level: float) -> np.ndarray:
        """Return rows of estimate, low, high and standard error."""
        errors, unit = self.errors, self.sample.unit
        if method == "auto":
            is_enough = float(errors @ errors) / unit**2 >= _ENOUGH_ERRORS
            many = effective_number(errors) >= 2 * _ENOUGH_ERRORS
            method = "t" if is_enough and many else "score"
        quantile = float(stdtrit(self.df, 0.5 + confidence_level / 2))
        share = self.n_labelled / max(errors.size, 1)
        with np.errstate(invalid="ignore"):
            variance = self.step**2 * self.second + self.of_slope
        error = np.sqrt(variance)
        below = above = quantile * error
        if method == "score":
            third = float((errors**3).sum())
            # Third moments of a single domain are too noisy; each gets its share.
            below, above = self._arms(self.second, share * third, quantile)
        return np.array(
            [self.estimate, self.estimate - below, self.estimate + above, error]
        )

    def _arms(
        self, second: np.ndarray, third: np.ndarray, quantile: float
    ) -> tuple[np.ndarray, np.ndarray]:
        n_domains = len(self.n_documents)
        below, above = np.full((2, n_domains), np.nan)
        for t in np.flatnonzero(self.n_labelled):
            step = self.step[t]
            fitted = self.mean_y[t] + self.slope * (
                self.sample.expected - self.mean_f[t]
            )
            weight = (self.place == t) * 1.0
            unseen, _ = unseen_errors(self.sample, fitted, weight, step)
            moments = float(second[t]) * step**2, float(third[t]) * step**3
            below[t], above[t] = arms(*moments, unseen, np.inf, quantile)
        return below, above
