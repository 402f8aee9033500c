"""Distribution of the debiased square for rows that are dependent within groups.

Three things vary from sample to sample: the labels, the part of the error that is
common to a group, and the choice of the groups. Leaving out one group at a time (the
jackknife) measures all three.
"""

from __future__ import annotations

import numpy as np

from ._grouped_bins import GroupedBins
from ._row_distribution import label_noise, largest_error, slope_of
from ._score_interval import MeanBound, SquareDistribution, trust_in

# Share of the estimated degrees of freedom that is used: a sample of few groups seldom
# contains the large groups. In benchmarks/interval_constants.py, larger shares lower
# the coverage for 100 groups of Zipf sizes, and smaller shares make intervals wider.
_SEEN = 0.6


def squares_left_out(bins: GroupedBins) -> np.ndarray:
    """Return the debiased square without each group.

    A group that represents several identical groups is left out once.
    """
    e = bins.entries
    group, column = e.group, e.set
    r, n = e.residual * bins.same[group], e.count * bins.same[group]
    total_r, total_n = bins.residual_sum, bins.count_sum
    pairs_r, pairs_n, weight = bins.pair_residual, bins.pair_count, bins.weight
    before = weight * pairs_r / pairs_n
    # Without group c, sum_{a != b} r_a r_b loses r_c times all others, twice.
    rest_r = pairs_r[column] - 2 * r * (total_r[column] - r)
    rest_n = pairs_n[column] - 2 * n * (total_n[column] - n)
    # If only one group is left in a bin, its term stays as it was.
    alone = rest_n <= 1e-6 * pairs_n[column]
    ratio = np.where(alone, (pairs_r / pairs_n)[column], rest_r) / np.where(
        alone, 1, rest_n
    )
    after = (weight[column] - n) * ratio
    change, size = e.by_group(after - before[column]), e.by_group(n)
    total = float(weight.sum())
    used = size > 0
    return (before.sum() + change[used]) / np.maximum(total - size[used], 1e-300)


def group_spread(bins: GroupedBins, noise_variance: float) -> tuple[float, float]:
    """Return the jackknife variance of T over groups, and its degrees of freedom.

    `noise_variance` is the variance of T without error. The degrees of freedom follow
    Satterthwaite's formula: 2 over the relative variance of the variance estimate.

    For example, with four groups and centred values 1, 1, -1, -1, the sum of fourth
    powers over the squared sum of squares is 4 / 16 = 1 / 4. It is 1 / n_groups, and
    the degrees of freedom are only limited by the number of groups. With the values
    3, -1, -1, -1 it is 84 / 144, and the degrees of freedom are 2 / (.58 - .25) = 6,
    times `_SEEN`, limited to 3.
    """
    squares = squares_left_out(bins)
    repeats = 1 / bins.same[bins.group_weight > 0]
    n_groups = bins.n_independent
    if n_groups < 2:
        return 0.0, 1.0
    centred = squares - float(repeats @ squares) / n_groups
    most = float(np.abs(centred).max())
    if most <= 0:
        return 0.0, max(bins.n_effective_groups - 1, 1.0)
    centred /= most  # fourth powers of values near 1e-100 underflow
    share = float(repeats @ centred**2)
    total = share * most**2
    # theory, (G4): the jackknife counts the noise twice
    linear = max((n_groups - 1) / n_groups * total - 2 * noise_variance, 0.0)
    peaked = float(repeats @ centred**4 / share**2)
    # theory, (G5), limited to the number of groups minus 1
    freedom = _SEEN * 2 / max(peaked - 1 / n_groups, 1e-12)
    return linear, max(min(freedom, bins.n_effective_groups - 1), 1.0)


def proportional_spread(bins: GroupedBins) -> float:
    """Return the relative variance of the mean of q (1 - q) over groups.

    If squared errors were proportional to q (1 - q), the mean square of the error would
    vary in this way with the choice of the groups.
    """
    e, size = bins.entries, bins.group_weight
    noise = e.by_group(e.count * bins.label_variance[e.set])
    total = float(noise.sum())
    if total <= 0:
        return 0.0
    centred = noise / total - size / float(size.sum())
    n_groups = bins.n_independent
    # A stored group of m equal groups has m times their value; its square is m times
    # the sum of their squares, and `same` is 1 / m.
    return float(bins.same @ centred**2) * n_groups / max(n_groups - 1, 1)


def distribution_of_groups(bins: GroupedBins) -> SquareDistribution:
    """Return the distribution of T for rows that depend on each other within groups.

    The noise that is estimated from sums over groups is too small for labels that never
    occur. The noise of bins that are independent of each other is therefore used as a
    lower bound.
    """
    share = bins.weight / bins.weight.sum()
    centred = bins.centred()
    noise = bins.mean_variance(centred)
    variance, _ = bins.product_moments(centred)
    null_variance, null_third = bins.product_moments(bins.entries.residual)
    null_deviation, null_skewness = _chi_squares(share * bins.null_variance())
    # the larger of the variances from the groups and from independent bins
    if null_variance > null_deviation**2:
        null_deviation = float(np.sqrt(null_variance))
        null_skewness = null_third / null_deviation**3
    deviation, skewness = _chi_squares(share * noise)
    # theory, (G3)
    square, seen = bins.debiased_square(), bins.error_noise(centred) - variance / 2
    slope = slope_of(seen, square, np.sqrt(max(variance, 0)), float(share @ noise))
    linear, freedom = group_spread(bins, max(variance, 0))
    between = proportional_spread(bins)
    if square > 1e-100:  # otherwise its square underflows
        seen = max(linear - 4 * slope * square, 0) / square**2
        trust = trust_in(square, deviation)
        # theory, (G6)
        between = trust * seen + (1 - trust) * between
    return SquareDistribution(
        square=square,
        deviation=max(float(np.sqrt(max(variance, 0))), deviation),
        skewness=max(skewness, null_skewness),
        slope=slope,
        null_deviation=null_deviation,
        null_skewness=null_skewness,
        n_units=bins.n_units,
        reach=largest_error(bins.sums),
        bounds=(_mean_bound(bins),),
        between=between,
        freedom=freedom,
        labels=label_noise(bins.sums, 1 / bins.n_effective_groups),
    )


def _mean_bound(bins: GroupedBins) -> MeanBound:
    """Return the bound by the mean residual, which varies with the groups."""
    sums, variance = bins.sums, bins.mean_residual_variance
    total = float(sums.weight.sum())
    p, q = float(sums.y.sum()) / total, float(sums.q.sum()) / total
    n = max(p * (1 - p) / max(variance, 1e-100), bins.n_effective_groups)
    return MeanBound(p, q, variance, n_least=min(n, total), from_below=True)


def _chi_squares(spectrum: np.ndarray) -> tuple[float, float]:
    """Return deviation and skewness of a weighted sum of chi squares."""
    top = float(spectrum.max())
    if top == 0:
        return 0.0, 1.0
    weight = spectrum / top
    second, third = float(weight @ weight), float((weight**3).sum())
    return top * float(np.sqrt(2 * second)), float(np.sqrt(8) * third / second**1.5)
