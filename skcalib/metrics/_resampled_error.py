"""Calibration errors of resamples: the sort is done once, the weights change."""

from __future__ import annotations

import numpy as np

from ._binning import Binning
from ._norms import norm_of
from ._pairs import Pairs


class ResampledError:
    """The calibration error of one model, as a function of how often items are there.

    `item` is the number of the item of each pair. Bins are those of
    :func:`calibration_error`, of pairs with the item's count as their weight.
    """

    def __init__(self, pairs: Pairs, item: np.ndarray, binning: Binning):
        order = np.argsort(pairs.q, kind="stable")
        q = pairs.q[order].astype(np.float64, copy=False)
        self._residual = q - pairs.indicator()[order]
        self._item = item[order]
        # of equal probabilities a cut takes a share of each, so only their ends count
        self._end = np.flatnonzero(np.r_[q[1:] != q[:-1], True])
        self._binning = binning

    def __call__(self, counts: np.ndarray) -> np.ndarray:
        """Return the error at each row of counts of shape (n_resamples, n_items)."""
        errors = np.empty(len(counts))
        for k, count in enumerate(counts):
            weight = count[self._item].astype(np.float64)
            rank = weight.cumsum()[self._end]
            residual = (weight * self._residual).cumsum()[self._end]
            bounds, _ = self._binning.rank_bounds(rank[-1])
            at_bounds = np.interp(bounds, np.r_[0, rank], np.r_[0, residual])
            size = np.diff(bounds)
            errors[k] = norm_of(np.diff(at_bounds) / size, size, "l2", False)
        return errors
