"""A weighted sum over the corpus, its variance and its interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from ._regression import Fit, fit
from ._sample import Sample
from ._score_arms import arms, unseen_errors

# The variance of a count's error grows with the count to a power between 1 (Poisson)
# and 2 (errors proportional to the count).
_SIZE_POWER = 1.5


@dataclass(frozen=True)
class Total:
    """Estimated sum with its interval.

    Attributes
    ----------
    estimate, low, high, standard_error : float
        Estimate, ends of the interval, root of the estimated variance.
    slope : float
        Coefficient of the expected counts.
    n_errors : float
        Sum of squared residuals in units.
    n_effective : float
        Effective number of documents that contribute to the variance.
    largest_share : float
        Share of the largest contribution in the variance.
    largest_unlabelled : float
        Largest share of a document without a label in the variance over the corpus.
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    slope: float
    n_errors: float
    n_effective: float
    largest_share: float
    largest_unlabelled: float


def weighted_total(
    sample: Sample,
    weight: np.ndarray,
    *,
    method: str,
    confidence_level: float,
    fitted: Fit | None = None,
) -> Total:
    """Estimate the sum of weight * y over the corpus."""
    found = fit(sample) if fitted is None else fitted
    rows, pi = sample.rows, sample.probability
    expanded = weight[rows] / pi[rows]
    # fitted sum over the corpus plus the expanded residuals of the sample
    estimate = weight @ found.fitted + expanded @ found.residuals
    # Labels also change the total through intercept and slope, if the weighted sample
    # differs from the corpus in size or expected count.
    gap = np.array(
        [
            weight @ sample.size - expanded @ sample.size[rows],
            weight @ sample.expected - expanded @ sample.expected[rows],
        ]
    )
    # derivative of the estimate with respect to each label, times its residual
    influence = found.residuals * (expanded + found.derivatives @ gap)
    # Residuals of labels that move the line towards themselves are too small: the root
    # of 1 - leverage corrects the variance (HC2), 1 - leverage is the jackknife (HC3).
    plain, df = contributions(sample, influence / np.sqrt(1 - found.leverage), 0.5)
    jackknife, _ = contributions(sample, influence / (1 - found.leverage), 1.0)
    ratio, corpus_share = unseen_sizes(sample, found.fitted, weight)
    quantile = float(stdtrit(max(df - sample.is_tuned, 1), 0.5 + confidence_level / 2))
    if method == "t":
        # A slope estimated from the labels makes residuals smaller than errors.
        used = jackknife if sample.is_tuned else plain
        below = above = quantile * float(np.sqrt(used @ used))
    else:
        step = np.sqrt(1 - pi) / pi
        unseen, is_plain = unseen_errors(sample, found.fitted, weight, step)
        # Only for counts of 0 and 1, the variance x - x^2 / m of a binomial falls.
        m = float((weight[rows] != 0).sum())
        if not is_plain or sample.groups is not None:
            m = np.inf
        scaled = jackknife * np.sqrt(ratio)
        # second and third cumulant of the estimate
        moments = float(scaled @ scaled), float((scaled**3).sum())
        below, above = arms(*moments, unseen, m, quantile)
    ends = np.array([estimate, estimate - below, estimate + above])
    # Labels of drawn documents are known, so the total has certain bounds.
    ends = np.clip(ends, *sample.possible(weight))
    estimate, low, high = map(float, ends)
    squares = jackknife**2
    return Total(
        estimate=estimate,
        low=low,
        high=high,
        standard_error=float(np.sqrt(plain @ plain)),
        slope=found.slope,
        n_errors=float(found.residuals @ found.residuals) / sample.unit**2,
        n_effective=effective_number(jackknife),
        largest_share=float(squares.max() / squares.sum()) if squares.any() else 0.0,
        largest_unlabelled=corpus_share,
    )


def unseen_sizes(
    sample: Sample, fitted: np.ndarray, weight: np.ndarray
) -> tuple[float, float]:
    """Return the ratio of the error variances in the corpus and in the sample.

    The variance of a count's error is assumed to be proportional to the fitted count to
    the power 1.5. The ratio is the mean of this variance over the corpus divided by its
    mean over the sample. A sample with few large documents underestimates the variance
    by this ratio. The ratio is at least 1, and it is 1 for counts with an upper bound.

    The second returned value is the largest share of a document without a label in the
    variance of this design.
    """
    if not np.isinf(sample.high).any():
        return 1.0, 0.0
    rows, c, pi = sample.rows, weight**2, sample.probability
    size = c * np.maximum(fitted, 0) ** _SIZE_POWER
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
    df = int(free.sum()) - np.unique(strata[free]).size
    return parts, df
