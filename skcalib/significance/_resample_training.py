"""Many systems from one, by resampling what it is trained on."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import delayed

from .._compat import take_rows
from .._parallel import parallel
from .._random import as_generator
from .._validation import check_integer


def resample_training(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_models: int,
    sizes: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[Any]:
    """Train clones of an estimator on resamples of its training set.

    Parameters
    ----------
    estimator : estimator
        A classifier, tagger or anything with `fit`. It is cloned, never fitted itself.
    X : array-like or sequence
        Training samples; sentences, for a tagger.
    y : array-like or sequence
        Their labels.
    n_models : int
        Number of clones.
    sizes : int, float, or sequence of either of length n_models, default=None
        Number of samples drawn for each model, or as a float in (0, 1] its share of the
        training set. None: as many as there are.
    random_state : int, RandomState, Generator or None, default=None
        Source of the draws. What the estimator itself draws follows its own
        `random_state`.
    n_jobs : int, default=None
        Number of models trained at a time, by joblib. The result does not depend on it.
    verbose : int, default=0
        Passed to joblib.

    Returns
    -------
    models : list of estimators
        Fitted clones.

    Raises
    ------
    ValueError
        If X and y differ in length or are empty, or `sizes` has another length than
        `n_models`.

    See Also
    --------
    compare_systems : All pairs of them on a test set.

    Notes
    -----
    Section 3.2.1 of [1]_: samples are drawn with replacement, and the variation between
    the models stands for that between the steps of a system's development. Models of
    one kind are closely correlated, those of different kinds less so. A resample may
    lack a rare class.

    References
    ----------
    .. [1] T. Berg-Kirkpatrick, D. Burkett and D. Klein (2012). "An empirical
       investigation of statistical significance in NLP". EMNLP.

    Examples
    --------
    >>> from skcalib import HMMTagger
    >>> from skcalib.datasets import make_tagged_sentences
    >>> from skcalib.significance import resample_training
    >>> X, y = make_tagged_sentences(100, random_state=0)
    >>> models = resample_training(
    ...     HMMTagger(), X, y, n_models=3, sizes=[1.0, 0.5, 0.5], random_state=0
    ... )
    >>> len(models)
    3
    """
    caller = "resample_training"
    n = _n_samples(X, "X", caller)
    if _n_samples(y, "y", caller) != n:
        raise ValueError(
            f"X and y of {caller} must have the same length. Got {n} and "
            f"{_n_samples(y, 'y', caller)}."
        )
    if n == 0:
        raise ValueError(f"{caller} needs a sample at least. Got none in X.")
    n_models = check_integer(n_models, minimum=1, name="n_models", caller=caller)
    counts = _sizes(sizes, n, n_models, caller)
    # a stream for each model, so that neither their order nor n_jobs plays a part
    streams = as_generator(random_state, caller=caller).spawn(n_models)
    draws = [
        stream.integers(n, size=size)
        for stream, size in zip(streams, counts, strict=True)
    ]
    return parallel(n_jobs, verbose)(
        delayed(_fit)(clone(estimator), X, y, rows) for rows in draws
    )


def _fit(estimator: Any, X: Any, y: Any, rows: np.ndarray) -> Any:
    return estimator.fit(take_rows(X, rows), take_rows(y, rows))


def _n_samples(values: Any, name: str, caller: str) -> int:
    shape = getattr(values, "shape", None)
    if shape:
        return int(shape[0])
    sized = shape is None and hasattr(values, "__len__")
    if isinstance(values, (str, bytes)) or not sized:
        raise TypeError(
            f"{name} of {caller} must be a sequence with an entry for each sample. Got "
            f"{type(values).__name__}."
        )
    return len(values)


def _sizes(sizes: Any, n: int, n_models: int, caller: str) -> list[int]:
    if sizes is None:
        return [n] * n_models
    if isinstance(sizes, Real):
        return [_size(sizes, n, caller)] * n_models
    several = isinstance(sizes, Sequence) or np.ndim(sizes) == 1
    if isinstance(sizes, (str, bytes)) or not several:
        raise TypeError(
            f"The 'sizes' parameter of {caller} must be a number or a sequence of "
            f"numbers. Got {sizes!r}."
        )
    if len(sizes) != n_models:
        raise ValueError(
            f"The 'sizes' parameter of {caller} must have an entry for each of the "
            f"{n_models} models. Got {len(sizes)}."
        )
    return [_size(size, n, caller) for size in sizes]


def _size(size: Any, n: int, caller: str) -> int:
    """Return a number of samples, at least 1, from a number or a share."""
    if isinstance(size, Integral) or not isinstance(size, Real):
        return check_integer(size, minimum=1, name="sizes", caller=caller)
    if not 0 < float(size) <= 1:
        raise ValueError(
            f"The 'sizes' parameter of {caller} must hold integers of at least 1 or "
            f"shares in (0, 1]. Got {size!r}."
        )
    return max(1, round(float(size) * n))
