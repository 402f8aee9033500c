"""Generated data whose truth is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._random import as_generator
from .._validation import check_integer, check_real


def make_calibrated_pairs(
    n_samples: int = 10_000,
    *,
    a: float = 0.5,
    b: float = 0.5,
    k: float = 0.0,
    transform: Callable[[np.ndarray], Any] | None = None,
    return_frequency: bool = False,
    random_state: Any = None,
) -> tuple[np.ndarray, ...]:
    """Generate labels and probabilities whose calibration is known.

    Probabilities q are drawn from Beta(a, b), a label is 1 with probability t(q)
    (section 4.3 of [1]_). With k = 0, t(q) = q and the pairs are perfectly calibrated;
    else t(q) = max(0, q - k) up to 0.5 and min(1, q + k) above, so that probabilities
    are not extreme enough.

    Parameters
    ----------
    n_samples : int, default=10_000
        Number of pairs.
    a, b : float, default=0.5
        Parameters of the Beta law of q; (0.5, 0.5) is U-shaped, (0.1, 2) has most mass
        near 0, as the probabilities of one tag have.
    k : float, default=0.0
        Distortion, in [0, 0.5].
    transform : callable, default=None
        Instead of `k`, the function t: gets q of shape (n_samples,), returns the label
        frequencies, of the same shape and in [0, 1].
    return_frequency : bool, default=False
        Return t(q) too.
    random_state : int, RandomState, Generator or None, default=None
        Source of the draws.

    Returns
    -------
    y_true : ndarray of shape (n_samples,), int
    y_proba : ndarray of shape (n_samples,), float
    frequency : ndarray of shape (n_samples,), float
        Only if `return_frequency`. The true error of the sample is
        ``np.sqrt(np.mean((y_proba - frequency) ** 2))``.

    References
    ----------
    .. [1] K. Nguyen. "Calibration for natural language processing systems". Honours
       thesis, University of Massachusetts Amherst. There t(q) is printed with
       min(0, .) above 0.5; min(1, .) is meant.

    Examples
    --------
    >>> from skcalib.datasets import make_calibrated_pairs
    >>> y_true, y_proba = make_calibrated_pairs(1000, random_state=0)
    >>> y_true.shape, y_proba.shape
    ((1000,), (1000,))
    >>> _, q, t = make_calibrated_pairs(
    ...     1000, k=0.1, return_frequency=True, random_state=0
    ... )
    >>> float(abs(q - t).max().round(3))
    0.1
    """
    caller = "make_calibrated_pairs"
    n_samples = check_integer(n_samples, minimum=1, name="n_samples", caller=caller)
    for name, value in (("a", a), ("b", b)):
        check_real(value, low=1e-6, high=1e6, name=name, caller=caller)
    check_real(k, low=0, high=0.5, name="k", caller=caller)
    if transform is not None and not callable(transform):
        raise TypeError(
            f"The 'transform' parameter of {caller} must be a callable or None. Got "
            f"{transform!r} instead."
        )
    if transform is not None and k:
        raise ValueError(f"{caller} takes 'k' or 'transform', not both. Got k={k!r}.")
    generator = as_generator(random_state, caller=caller)
    q = generator.beta(a, b, n_samples)
    if transform is None:
        frequency = _distort(q, k)
    else:
        # a copy, for the function may write into its argument
        frequency = _check_frequencies(transform(q.copy()), n_samples, caller)
    y = (generator.random(n_samples) < frequency).astype(np.int64)
    return (y, q, frequency) if return_frequency else (y, q)


def _check_frequencies(values: Any, n: int, caller: str) -> np.ndarray:
    wanted = (
        f"The 'transform' parameter of {caller} must return {n} frequencies in [0, 1]."
    )
    found = np.asarray(values)
    if found.shape != (n,) or found.dtype.kind not in "biuf":
        raise ValueError(
            f"{wanted} Got an array of shape {found.shape} and type {found.dtype}."
        )
    if not ((found >= 0) & (found <= 1)).all():
        raise ValueError(f"{wanted} Got values from {found.min()} to {found.max()}.")
    return found.astype(np.float64)


def _distort(q: np.ndarray, k: float) -> np.ndarray:
    return np.where(q <= 0.5, np.maximum(0, q - k), np.minimum(1, q + k))
