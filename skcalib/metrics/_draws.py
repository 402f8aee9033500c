"""Calibration error of the probability behind a share of samples.

A model answers a question k times, and s of the k draws agree with the judged answer.
One draw is left out. The number v of the other draws that agree decides the bin, and
the draw itself (1 if it agrees) takes the place of the probability in the residual. If
the model is calibrated, a draw and the label have the same mean given the other draws,
so the residual has the mean 0 in every bin, for any k.

The draws are exchangeable, so the mean over the draws that may be left out needs only
s: the draw agrees with the chance s / k. Each question becomes two rows,

    v = s - 1, residual 1 - y, weight s / k,
    v = s, residual -y, weight 1 - s / k,

which form one group, since only residuals of different questions are multiplied.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._errors import ParameterError
from .._pairs import Pairs, check_pairs
from .._validation import as_floats, as_weights, check_integer, raise_where
from ._bins import Binning, Bins, Ordered, rooted
from ._grouped_bins import GroupedBins, GroupedRows, grouped_bins, order_of_codes
from ._score_interval import SquareDistribution, distribution_of_groups

# Largest distance of y_proba times n_draws from an integer.
_TOLERANCE = 1e-6


class DrawRows(GroupedRows):
    """Rows of left-out draws; `left_out` is 1 if the draw agrees with the answer.

    Attributes
    ----------
    mean_share : float
        Mean of the left-out draws.
    """

    def __init__(self, pairs: Pairs, left_out: np.ndarray):
        super().__init__(pairs)
        assert self.weight is not None
        assert pairs.positive is not None
        self._left_out = left_out
        self.mean_share = float(self.weight @ left_out / self.weight.sum())

    @property
    def residual(self) -> np.ndarray:
        """Return w (s - y): the draw takes the place of the probability."""
        return self.weight * (self._left_out - self._positive)

    @property
    def variance(self) -> np.ndarray:
        """Return w 2 q (1 - q): both the draw and the label vary."""
        return 2 * super().variance


@dataclass(frozen=True)
class WholeCounts(Binning):
    """Binning whose cuts are moved to the nearest end of a count of agreeing draws.

    The products of a divided count would depend on the draws in another way.
    """

    def bins(self, ordered: Ordered) -> Bins:
        """Return the bins of pairs."""
        found = super().bins(ordered)
        ends = np.r_[0.0, ordered.rows.end]
        after = np.searchsorted(ends, found.bounds).clip(1, ends.size - 1)
        before_is_near = found.bounds - ends[after - 1] < ends[after] - found.bounds
        bounds = ends[np.unique(after - before_is_near)]
        return Bins(ordered, bounds, found.bin_size, found.stated)


# The automatic bins of draws.
FOR_DRAWS = WholeCounts("auto", None, "groups")


def check_norm_of_draws(norm: str, debias: bool | None) -> None:
    """Raise an error if the estimate would not be the debiased l2 error."""
    if norm != "l2":
        raise ParameterError("norm", f"must be 'l2' with 'n_draws'. Got {norm!r}.")
    if debias is not None and not debias:
        raise ParameterError(
            "debias", "must be True with 'n_draws', or not given. Got False."
        )


def read_shares(
    y_true: Any, y_proba: Any, n_draws: Any, *, sample_weight: Any, **params: Any
) -> tuple[Pairs, DrawRows]:
    """Return the checked pairs of shares of draws, and their rows of left-out draws.

    `params` are parameters of `check_pairs`.
    """
    (pairs,) = check_pairs(
        y_true, y_proba, sample_weight=sample_weight, hard_labels=True, **params
    )
    k, index = check_n_draws(n_draws, y_proba, sample_weight)
    return pairs, rows_of_shares(pairs, k, index)


def check_draws_of_model(n_draws: Any, multi_class: Any) -> int | None:
    """Return the number of draws behind the probabilities of an estimator."""
    if n_draws is not None and multi_class == "top_label":
        raise ParameterError(
            "n_draws",
            "is not available with multi_class='top_label': the class is chosen from "
            "the same draws. Use "
            "sampled_confidence(answers).calibration_error_interval(right).",
        )
    if n_draws is None:
        return None
    return check_integer(n_draws, minimum=2, name="n_draws")


def check_n_draws(
    n_draws: Any, y_proba: Any, sample_weight: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of draws and the index of each row with a weight."""
    shape = np.shape(y_proba)
    k = as_floats(n_draws, name="n_draws")
    if len(shape) != 1 or k.shape not in ((), shape):
        raise ParameterError(
            "n_draws",
            "must be one integer, or one for each row, and needs y_proba of shape "
            f"(n,). Got shape {k.shape} with y_proba of shape {shape}.",
        )
    k = np.broadcast_to(k, shape)
    bad = ~((k >= 2) & (k == np.rint(k)) & (k < 2**31))
    raise_where(bad, k, "be an integer of at least 2", name="n_draws")
    rows = np.arange(k.size)
    if sample_weight is not None:  # as in `check_pairs`
        rows = rows[as_weights(sample_weight, k.size) != 0]
    return k[rows], rows


def rows_of_shares(pairs: Pairs, k: Any, rows: np.ndarray | None = None) -> DrawRows:
    """Return the two rows of each pair whose probability is a share of k draws.

    `rows` are the indices of the pairs in the input.
    """
    if pairs.n_classes > 1:
        raise ParameterError("n_draws", "is not available for several classes.")
    n = pairs.q.size
    k, eps = np.broadcast_to(np.float64(k), n), np.finfo(pairs.q.dtype).eps
    product = pairs.q.astype(np.float64) * k
    agreeing = np.rint(product)
    # a share in single precision is known to k times its rounding error
    bad = np.abs(product - agreeing) > np.maximum(_TOLERANCE, k * eps)
    if bad.any():
        i = int(bad.argmax())
        where = "" if rows is None else f" in row {rows[i]}"
        raise ParameterError(
            "y_proba",
            "must be the share of 'n_draws' draws, so that their product is an "
            f"integer. Got {pairs.q[i]:.10g} times {k[i]:g}{where}.",
        )
    share = agreeing / k
    # If rows are selected by their share, a draw is left out only where the row is
    # selected whatever the draw is.
    is_sure = (agreeing - 1) / k >= pairs.least
    question = np.arange(n)
    return left_out_rows(
        np.r_[question, question],
        left_out=np.repeat([1.0, 0.0], n),
        positive=np.tile(pairs.indicator(), 2),
        count=np.r_[agreeing - 1, agreeing],
        k=np.r_[k, k],
        weight=np.r_[share * is_sure, 1 - share],
        pairs=pairs,
    )


def error_of_draws(rows: DrawRows, binning: Binning, squared: bool = False) -> float:
    """Return the error of the probability behind shares of draws."""
    return rooted(bins_of_draws(rows, binning).debiased_square, squared)


def left_out_rows(
    question: np.ndarray,
    *,
    left_out: np.ndarray,
    positive: np.ndarray,
    count: np.ndarray,
    k: np.ndarray,
    weight: np.ndarray,
    pairs: Pairs,
) -> DrawRows:
    """Return rows of which each leaves out a draw of a question.

    `count` of the k - 1 other draws agree with the answer, whose label is `positive`.
    `pairs` has the weight and the group of each question.
    """
    group, repeats = pairs.row_groups, pairs.group_repeats
    if pairs.row_weight is not None:
        weight = weight * pairs.row_weight[question]
    if group is None:
        group, repeats = np.arange(pairs.q.size), pairs.row_weight
    kept = np.flatnonzero(weight > 0)
    kept = kept[order_of_codes(group[question[kept]])]
    # Strictly between 0 and 1: no label contradicts a share of few draws.
    q = (count[kept] + 0.5) / k[kept]
    positive = positive[kept]
    return DrawRows(
        Pairs(
            q=q,
            positive=positive,
            positive_q=q[positive],
            row_weight=weight[kept],
            row_groups=group[question[kept]],
            group_repeats=repeats,
        ),
        left_out[kept],
    )


def bins_of_draws(rows: DrawRows, binning: Binning) -> GroupedBins:
    """Return the bins; automatic bins are the bins of the interval."""
    if binning.bin_size == "auto":
        binning = FOR_DRAWS
    else:
        binning = WholeCounts(binning.bin_size, binning.n_bins, binning.strategy)
    bins = grouped_bins(rows, binning)
    # A draw decides both the weight of a row in a bin and its residual, so the ratio of
    # products to their number has a bias of the order of (number of bins) / n. The
    # jackknife removes it. It leaves a mean over pairs of fixed weights as it is.
    used = bins.group_weight > 0
    n, repeats = bins.n_independent, 1 / bins.same[used]
    if n > 2:
        without = float(repeats @ bins.squares_left_out()) / n
        bins.debiased_square += (n - 1) * (bins.debiased_square - without)
    return bins


def distribution_of_draws(rows: DrawRows, bins: GroupedBins) -> SquareDistribution:
    """Return the distribution of the cross-fitted square."""
    found = distribution_of_groups(bins)
    # Errors are bounded by 1 only, since the probability itself is not known.
    bound = replace(found.bound, expected=rows.mean_share)
    return replace(found, reach=1.0, bound=bound, smooth=None)
