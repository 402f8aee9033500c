"""The mean over items of labels that few items have, stratified by a verdict.

The mean is a sum of independent stratum means, whose distribution is computed by
numerical convolution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betainc, betaincinv

from ..metrics._dependence import dependence, group_sums, sandwich
from ..metrics._frequency_intervals import brentq

# Cells of the grid of a convolution, and nodes of integrals over a quantile.
_N_CELLS = 2048
_N_NODES = 64
_N_RATIO_NODES = 256

# Probability outside the grid, on each side of each mean.
_OUTSIDE = 1e-10


@dataclass(frozen=True)
class StratumMean:
    """Distribution of offset + weight * mean, for random shares of some values.

    Attributes
    ----------
    values : tuple of float
        Two or three values in ascending order.
    alpha : tuple of float
        Parameters of the Dirichlet distribution of their shares.
    weight, offset : float
        Positive factor of the mean, and constant that is added to the product.
    """

    values: tuple[float, ...]
    alpha: tuple[float, ...]
    weight: float = 1.0
    offset: float = 0.0

    @property
    def variance(self) -> float:
        """The variance of the distribution."""
        total, values = sum(self.alpha), np.array(self.values)
        share = np.array(self.alpha) / total
        spread = float(share @ values**2 - (share @ values) ** 2)
        return self.weight**2 * spread / (total + 1)

    def range(self) -> tuple[float, float]:
        """Return limits that are exceeded with negligible probability."""
        # With two values, the middle is the lowest value.
        low, middle, high = self.values[0], self.values[-2], self.values[-1]
        total, last = sum(self.alpha), self.alpha[-1]
        first = self.alpha[0] if len(self.alpha) == 3 else total - last
        most = betaincinv(last, total - last, 1 - _OUTSIDE)
        least = betaincinv(last, total - last, _OUTSIDE)
        # The mean moves up from the middle with one share and down with the other.
        ends = [middle + (high - middle) * least, middle + (high - middle) * most]
        if middle > low:
            ends[0] -= (middle - low) * betaincinv(first, total - first, 1 - _OUTSIDE)
            ends[1] -= (middle - low) * betaincinv(first, total - first, _OUTSIDE)
        left, right = np.clip(ends, low, high) * self.weight + self.offset
        return float(left), float(right)

    def cdf(self, x: np.ndarray) -> np.ndarray:
        """Return the probability of a value of at most x."""
        mean = (x - self.offset) / self.weight
        low, high = self.values[0], self.values[-1]
        first, last = self.alpha[0], self.alpha[-1]
        if len(self.values) == 2:
            return betainc(last, first, np.clip((mean - low) / (high - low), 0, 1))
        # Given the share of the middle value, the share of the highest one in the rest
        # has a Beta distribution.
        node, chance = np.polynomial.legendre.leggauss(_N_NODES)
        middle = betaincinv(self.alpha[1], first + last, (node + 1) / 2)[:, np.newaxis]
        rest = (mean - middle * self.values[1]) / np.maximum(1 - middle, 1e-300)
        share = np.clip((rest - low) / (high - low), 0, 1)
        return chance / 2 @ betainc(last, first, share)


def sum_interval(
    means: Sequence[StratumMean], constant: float, level: float
) -> tuple[float, float]:
    """Return the central interval of a constant plus a sum of independent means."""
    if not means:
        return constant, constant
    from scipy.signal import fftconvolve  # only strata need it

    ranges = [mean.range() for mean in means]
    step = sum(high - low for low, high in ranges) / _N_CELLS
    # Probabilities of the cells of one grid; those of a sum are their convolution.
    chances, start = np.ones(1), constant
    for mean, (low, high) in zip(means, ranges, strict=True):
        n_cells = int(np.ceil((high - low) / step))
        edges = low + step * np.arange(n_cells + 1)
        chances = fftconvolve(chances, np.diff(mean.cdf(edges)))
        start += low + step / 2  # the middle of the first cell
    # The fast transform leaves probabilities of -1e-18.
    cumulative = np.cumsum(np.clip(chances, 0, None))
    above = start + step * (np.arange(chances.size) + 0.5)
    tail = (1 - level) / 2
    low, high = np.interp(
        np.array([tail, 1 - tail]) * cumulative[-1],
        np.append(0, cumulative),
        np.append(above[0] - step, above),
    )
    return float(low), float(high)


def share_interval(
    part: StratumMean, rest: StratumMean, level: float
) -> tuple[float, float]:
    """Return the central interval of part / (part + rest) for independent means."""
    # P(part / (part + rest) <= share) is the mean over quantiles of the rest of
    # P(part <= rest share / (1 - share)).
    node = (np.arange(_N_RATIO_NODES) + 0.5) / _N_RATIO_NODES
    first, last = rest.alpha
    others = rest.offset + rest.weight * betaincinv(last, first, node)

    def chance(share: float, tail: float) -> float:
        return float(part.cdf(others * (share / (1 - share))).mean() - tail)

    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        low, high = 1e-12, 1 - 1e-12
        if chance(low, tail) >= 0:
            ends.append(0.0)
        elif chance(high, tail) <= 0:
            ends.append(1.0)
        else:
            ends.append(float(brentq(chance, low, high, args=(tail,), xtol=1e-10)))
    return ends[0], ends[1]


POPULATIONS = ("items", "superpopulation")

# A priori weight of all values of a stratum together, in labels. For two values this
# is Jeffreys's prior.
_PRIOR = 1.0

# Smallest concentration of a mean over unlabelled items, about that for one item.
_LEAST_CONCENTRATION = 1e-3


@dataclass(frozen=True)
class Labels:
    """Items, their verdicts, and the labels of some of them.

    Attributes
    ----------
    stratum : ndarray of shape (N,), int
        Code of the verdict of each item.
    y : ndarray of shape (N,)
        Label of each item. NaN if the item does not have a label.
    values : tuple of float
        The two or three values that labels may have, in ascending order.
    weight : ndarray of shape (N,)
        Weight of each item in the mean; they add up to 1.
    expansion : ndarray of shape (N,)
        Number of items that a labelled item stands for, up to a factor.
    groups : ndarray of shape (N,), int, or None
        Code of the group of each item.
    """

    stratum: np.ndarray
    y: np.ndarray
    values: tuple[float, ...]
    weight: np.ndarray
    expansion: np.ndarray
    groups: np.ndarray | None

    @property
    def rows(self) -> np.ndarray:
        """Indices of the items with a label."""
        return np.flatnonzero(~np.isnan(self.y))


@dataclass(frozen=True)
class Strata:
    """Summary of the labels in each stratum.

    Attributes
    ----------
    weight : ndarray of shape (n_strata,)
        Share of the items, by their weights.
    size, n_labelled : ndarray of shape (n_strata,)
        Number of items, and of items with a label.
    labelled_share : ndarray of shape (n_strata,)
        Share of the labelled items in the weight of each stratum.
    shares : ndarray of shape (n_strata, n_values)
        Share of each value among the labels. If a stratum has no label, the shares are
        equal.
    values : ndarray of shape (n_values,)
        The values.
    n_independent : float
        Number of dependent labels that are equivalent to one independent label.
    """

    weight: np.ndarray
    size: np.ndarray
    n_labelled: np.ndarray
    labelled_share: np.ndarray
    shares: np.ndarray
    values: np.ndarray
    n_independent: float = 1.0

    @property
    def mean(self) -> np.ndarray:
        """Mean label of each stratum."""
        return self.shares @ self.values

    @property
    def estimate(self) -> float:
        """Mean label of all items."""
        return float(self.weight @ self.mean)

    def posterior(self, k: int, population: str) -> tuple[StratumMean | None, float]:
        """Return the distribution of a stratum's weighted mean, and its known part.

        If `population` is 'items', the labels of labelled items are known. The shares
        among the unlabelled items then have a Dirichlet distribution whose
        concentration gives the right variance.
        """
        counts = self.shares[k] * self.n_labelled[k] / self.n_independent
        alpha = counts + _PRIOR / counts.size
        weight, known = float(self.weight[k]), 0.0
        if population == "items":
            rest = (self.size[k] - self.n_labelled[k]) / self.n_independent
            known = weight * float(self.labelled_share[k] * self.mean[k])
            weight *= 1 - float(self.labelled_share[k])
            if rest <= 0 or weight <= 0:
                return None, known
            # The variance of a mean of `rest` further labels is (total + rest) / rest
            # times the variance of their expectation, spread / (total + 1).
            total = alpha.sum()
            concentration = (total + 1) * rest / (total + rest) - 1
            alpha *= max(concentration, _LEAST_CONCENTRATION) / total
        return StratumMean(tuple(self.values), tuple(alpha), weight), known

    def share_of(self, k: int, label: int) -> StratumMean:
        """Return the distribution of the weighted share of a value in a stratum."""
        share = self.shares[k, label]
        n = self.n_labelled[k] / self.n_independent
        alpha = n * (1 - share) + _PRIOR / 2, n * share + _PRIOR / 2
        return StratumMean((0.0, 1.0), alpha, float(self.weight[k]))


def strata_of(labels: Labels, level: float) -> Strata:
    """Return a summary of the labels in each stratum."""
    rows, n = labels.rows, int(labels.stratum.max()) + 1
    code, y = labels.stratum[rows], labels.y[rows]
    values = np.array(labels.values)
    # A label counts for the weight of the items that it represents.
    used = labels.weight[rows] * labels.expansion[rows]
    place = np.searchsorted(values, y)
    table = np.bincount(code * values.size + place, used, n * values.size)
    table = table.reshape(n, values.size)
    total = table.sum(axis=1, keepdims=True)
    has = total > 0
    shares = np.where(has, table / np.where(has, total, 1), 1 / values.size)
    weight = np.bincount(labels.stratum, labels.weight, n)
    weight = weight / weight.sum()
    strata = Strata(
        weight=weight,
        size=np.bincount(labels.stratum, minlength=n),
        n_labelled=np.bincount(code, minlength=n),
        labelled_share=np.bincount(code, labels.weight[rows], n) / weight,
        shares=shares,
        values=values,
    )
    return replace(strata, n_independent=_dependence(labels, strata, used, level))


def _dependence(
    labels: Labels, strata: Strata, used: np.ndarray, level: float
) -> float:
    """Return the number of dependent labels equivalent to one independent label.

    The variance of the estimate is computed from its linearised residuals by analysis
    of variance. As for the interval of an accuracy, it is averaged with the variance of
    fully dependent groups, which has the weight of half a label.
    """
    rows, groups = labels.rows, labels.groups
    code, n = labels.stratum[rows], labels.rows.size
    total = np.bincount(code, used, strata.weight.size)
    factor = used * strata.weight[code] / total[code]
    plain = strata.weight[code] / strata.n_labelled[code]
    # Equal weights within each stratum, which are the usual case, change nothing.
    if groups is None and np.allclose(factor, plain, rtol=1e-9, atol=0):
        return 1.0
    residual = n * factor * (labels.y[rows] - strata.mean[code])
    groups = np.arange(n) if groups is None else groups[rows]
    spread = strata.shares @ strata.values**2 - strata.mean**2
    seen = strata.n_labelled > 0
    # variance of the estimate if the labels were independent
    unit = float((strata.weight**2 * spread)[seen] @ (1 / strata.n_labelled[seen]))
    odd = float(strata.n_labelled @ (1 - strata.shares.max(axis=1)))
    return dependence(residual, groups, unit, odd, level)


def stratified_interval(
    labels: Labels, strata: Strata, population: str, level: float
) -> tuple[float, float, float, float]:
    """Return the interval of the mean label, the standard deviation, and a variance.

    The variance is the part B of the variance A / n + B for n labels. For 'items', B is
    negative, since the variance is 0 if all items are labelled.
    """
    means, constant, of_items = [], 0.0, 0.0
    for k in np.flatnonzero(strata.weight > 0):
        mean, known = strata.posterior(int(k), population)
        constant += known
        if mean is not None:
            means.append(mean)
            if population == "items":
                labelled = float(strata.labelled_share[k])
                of_items -= mean.variance * labelled / (1 - labelled)
    if population == "superpopulation":
        shift = _shift(labels, strata)
        if shift is not None:
            means.append(shift)
            of_items = shift.variance
    low, high = sum_interval(means, constant, level)
    estimate = strata.estimate
    low, high = min(low, estimate), max(high, estimate)
    low, high = max(low, float(strata.values[0])), min(high, float(strata.values[-1]))
    squared = float(sum(mean.variance for mean in means))
    return low, high, float(np.sqrt(squared)), of_items


def without_verdicts(labels: Labels, strata: Strata) -> tuple[Labels, Strata]:
    """Return the labels in a single stratum, and its summary."""
    alone = replace(
        strata,
        weight=np.ones(1),
        size=strata.size.sum(keepdims=True),
        n_labelled=strata.n_labelled.sum(keepdims=True),
        labelled_share=(strata.weight @ strata.labelled_share)[np.newaxis],
        shares=(strata.weight @ strata.shares)[np.newaxis],
    )
    return replace(labels, stratum=np.zeros_like(labels.stratum)), alone


def _shift(labels: Labels, strata: Strata) -> StratumMean | None:
    """Return the error of the mean that is due to the sampling of the items."""
    seen = strata.n_labelled / strata.n_independent
    middle = float(strata.values.mean())
    # Each item has the posterior mean of its verdict. The error is that of the mean of
    # these values in a sample of items.
    mean = (strata.mean * seen + middle * _PRIOR) / (seen + _PRIOR)
    mean = mean[labels.stratum]
    centre = float(labels.weight @ mean)
    n, residual = mean.size, mean - centre
    if labels.groups is None:
        variance = float(labels.weight**2 @ residual**2)
    else:
        variance = sandwich(*group_sums(n * labels.weight * residual, labels.groups))[0]
    low, high = float(strata.values[0]), float(strata.values[-1])
    share = (centre - low) / (high - low)
    variance /= (high - low) ** 2
    if variance <= 1e-18:
        return None
    # Beta distribution with the mean `share` and this variance, shifted to the mean 0
    concentration = max(share * (1 - share) / variance - 1, _LEAST_CONCENTRATION)
    alpha = ((1 - share) * concentration, share * concentration)
    return StratumMean((low, high), alpha, 1.0, -centre)
