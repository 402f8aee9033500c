"""From which gain on a test usually finds significance."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from .._validation import check_real, check_same_length

# Below so many pairs a high quantile of their gains is the largest of a few.
_FEW = 10


class BorderlineThreshold(NamedTuple):
    """A gain, and from how many pairs of systems it is."""

    threshold: float | None
    n_pairs: int


def borderline_threshold(
    gains: Any,
    pvalues: Any,
    *,
    low: float = 0.04,
    high: float = 0.06,
    quantile: float = 0.95,
) -> BorderlineThreshold:
    """Compute the gain above which a test would probably find significance.

    Parameters
    ----------
    gains : array-like of shape (n_pairs,)
        Difference of the metric for each pair of systems; its sign plays no part.
    pvalues : array-like of shape (n_pairs,)
        The p-value of each pair.
    low : float, default=0.04
        Lowest p-value of a borderline pair, itself included.
    high : float, default=0.06
        Highest p-value of a borderline pair, itself included.
    quantile : float, default=0.95
        Which quantile of the borderline gains, in [0, 1]; interpolated linearly.

    Returns
    -------
    threshold : float
        The quantile. The two numbers are a named tuple.
    n_pairs : int
        Number of borderline pairs.

    Raises
    ------
    ValueError
        If no pair is borderline, if a p-value is outside [0, 1], a gain is not finite,
        or the arrays differ in length.

    Warns
    -----
    UserWarning
        If fewer than 10 pairs are borderline: the threshold is then hardly more than
        the largest of their gains.

    See Also
    --------
    compare_systems : Gains and p-values of all pairs.
    test_size_curve : The threshold at several sizes of the test set.
    skcalib.plot.SignificanceDisplay : Draw it.

    Notes
    -----
    Section 3.1.1 of [1]_: of the pairs whose p-value is about 0.05, 95% have a gain of
    less than the threshold. It holds for systems, a metric and a test set like these,
    and is no test: pairs of similar systems have a lower one, and a larger test set has
    a lower one.

    References
    ----------
    .. [1] T. Berg-Kirkpatrick, D. Burkett and D. Klein (2012). "An empirical
       investigation of statistical significance in NLP". EMNLP.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.significance import borderline_threshold
    >>> gains, pvalues = np.linspace(0, 2, 201), np.linspace(0.2, 0, 201)
    >>> threshold, n_pairs = borderline_threshold(gains, pvalues)
    >>> round(threshold, 2), n_pairs
    (1.59, 21)
    """
    caller = "borderline_threshold"
    gain, pvalue = check_gains(gains, pvalues, caller)
    low = check_real(low, low=0, high=1, name="low", caller=caller)
    high = check_real(high, low=low, high=1, name="high", caller=caller)
    quantile = check_real(quantile, low=0, high=1, name="quantile", caller=caller)
    found = threshold_of(gain, pvalue, low, high, quantile)
    if found.threshold is None:
        raise ValueError(
            f"{caller} needs pairs with a p-value in [{low:g}, {high:g}]. Got none "
            f"among {gain.size}."
        )
    if found.n_pairs < _FEW:
        warnings.warn(
            f"The threshold of {caller} is from {found.n_pairs} borderline pairs, "
            "hardly more than the largest of their gains. Compare more systems.",
            stacklevel=2,
        )
    return found


def check_gains(gains: Any, pvalues: Any, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """Return gains and p-values of pairs as checked arrays."""
    gain = _finite(gains, "gains", caller)
    pvalue = _finite(pvalues, "pvalues", caller)
    check_same_length(caller, gains=gain, pvalues=pvalue)
    bad = (pvalue < 0) | (pvalue > 1)
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"The 'pvalues' parameter of {caller} must hold numbers in [0, 1]. Got "
            f"{float(pvalue[row])!r} in row {row}."
        )
    return gain, pvalue


def threshold_of(
    gain: np.ndarray,
    pvalue: np.ndarray,
    low: float = 0.04,
    high: float = 0.06,
    quantile: float = 0.95,
) -> BorderlineThreshold:
    """Return the threshold (None without a borderline pair) and the number of pairs."""
    borderline = np.abs(gain[(pvalue >= low) & (pvalue <= high)])
    if not borderline.size:
        return BorderlineThreshold(None, 0)
    threshold = float(np.quantile(borderline, quantile))
    return BorderlineThreshold(threshold, int(borderline.size))


def _finite(values: Any, name: str, caller: str) -> np.ndarray:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        array = np.empty((0, 0))
    if array.ndim != 1:
        raise ValueError(
            f"The {name!r} parameter of {caller} must be a sequence of numbers, one "
            f"for each pair of systems. Got {values!r:.50}."
        )
    if not np.isfinite(array).all():
        row = int((~np.isfinite(array)).argmax())
        raise ValueError(
            f"The {name!r} parameter of {caller} must hold finite numbers. Got "
            f"{float(array[row])!r} in row {row}."
        )
    return array
