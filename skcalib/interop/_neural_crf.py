"""Posteriors of CRF layers of pytorch-crf."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._clusterings import check_entries
from .._errors import ParameterError, ParameterTypeError, public
from ..posteriors import LinearChainPosterior
from ._arrays import as_indices, as_numpy, without_nan


@public
def from_pytorch_crf(
    crf: Any, emissions: Any, mask: Any = None, *, order: ArrayLike | None = None
) -> LinearChainPosterior:
    """Return the posterior of a CRF layer of pytorch-crf (``torchcrf.CRF``).

    Parameters
    ----------
    crf : torchcrf.CRF
        CRF layer, or any object with its attributes `transitions` (scores from the
        previous to the next tag, of shape (n_tags, n_tags)), `start_transitions`,
        `end_transitions` and `batch_first`.
    emissions : tensor of shape (n_tokens, n_sentences, n_tags)
        Scores passed to the layer. Their shape is (n_sentences, n_tokens, n_tags) if
        the layer has ``batch_first=True``.
    mask : tensor, default=None
        Mask passed to the layer, true for tokens and false for padding.
    order : array-like of int of shape (n_sentences,), default=None
        Position of each sentence before the batch was sorted. If None, the order of the
        batch is kept.

    Returns
    -------
    posterior : LinearChainPosterior
        Posterior over taggings. Its `log_proba` equals the log likelihood of the layer.

    See Also
    --------
    skcalib.posteriors.LinearChainPosterior : Posterior of the scores of any CRF.
    skcalib.experimental.predicted_entities : Entities with their probabilities.

    Examples
    --------
    With torch, call ``from_pytorch_crf(model.crf, model.emissions(batch), mask)``.
    Arrays can be passed instead of tensors:

    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from skcalib.experimental import from_pytorch_crf
    >>> crf = SimpleNamespace(
    ...     transitions=np.array([[1.0, 0.0], [0.0, 1.0]]),
    ...     start_transitions=np.zeros(2),
    ...     end_transitions=np.zeros(2),
    ...     batch_first=True,
    ... )
    >>> emissions = np.array([[[0, 2], [0, 0]], [[1, 0], [9, 9]]])  # the 9s are padding
    >>> posterior = from_pytorch_crf(crf, emissions, mask=[[1, 1], [1, 0]])
    >>> [proba.round(2).tolist() for proba in posterior.token_marginals()]
    [[[0.12, 0.88], [0.32, 0.68]], [[0.73, 0.27]]]
    """
    names = ("transitions", "start_transitions", "end_transitions")
    for name in names:
        if not hasattr(crf, name):
            raise ParameterTypeError(
                "crf",
                f"must have the attribute {name!r}. Got {type(crf).__name__}, which "
                "does not: pass its scores to LinearChainPosterior.",
            )
    batch_first = bool(getattr(crf, "batch_first", False))
    rows = without_nan(_unpad(emissions, mask, batch_first), "emissions")
    if order is not None:
        places = as_indices(order, "order")
        if not np.array_equal(np.sort(places, axis=None), np.arange(len(rows))):
            raise ParameterError(
                "order",
                f"must have the position of each of the {len(rows)} sentences before "
                f"sorting, counted from 0. Got {places.tolist()!r:.60}.",
            )
        # The inverse of a permutation is the order that sorts it.
        rows = [rows[i] for i in np.argsort(places).tolist()]
    scores = [as_numpy(getattr(crf, name), "crf") for name in names]
    return LinearChainPosterior(rows, *scores)


def _unpad(emissions: Any, mask: Any, batch_first: bool) -> list[np.ndarray]:
    """Return the scores of the tokens of each sentence.

    `emissions` is a batch padded at the end, or a list with one array per sentence.
    """
    if isinstance(emissions, (list, tuple)):
        rows = [as_numpy(each, "emissions") for each in emissions]
        is_right = all(each.ndim == 2 for each in rows)
    else:
        batch = as_numpy(emissions, "emissions")
        is_right = batch.ndim == 3
        rows = list(batch if batch_first else batch.swapaxes(0, 1)) if is_right else []
    if not is_right:
        raise ParameterError(
            "emissions",
            "must have shape (n_sentences, n_tokens, n_tags), or be a list of arrays "
            f"of shape (n_tokens, n_tags). Got {_shape(emissions)}.",
        )
    if mask is None:
        return rows
    lengths = _lengths_of_mask(mask, batch_first)
    check_entries(lengths, len(rows), "sentence", "mask")
    for i, n in enumerate(lengths.tolist()):
        if n > len(rows[i]):
            raise ParameterError(
                "mask",
                f"must have at most the number of tokens of 'emissions'. Got {n} for "
                f"sentence {i}, which has {len(rows[i])}.",
            )
        rows[i] = rows[i][:n]
    return rows


def _shape(values: Any) -> str:
    if hasattr(values, "shape"):
        return f"shape {tuple(values.shape)}"
    return f"{type(values).__name__} {values!r:.60}"


def _lengths_of_mask(mask: Any, batch_first: bool) -> np.ndarray:
    """Return the number of true entries of each sentence, which come first."""
    array = as_numpy(mask, "mask")
    if array.ndim != 2:
        raise ParameterError(
            "mask",
            "must have shape (n_sentences, n_tokens), like the scores without the "
            f"tags. Got {_shape(mask)}.",
        )
    wrong = (array != 0) & (array != 1)
    if wrong.any():
        i, t = np.argwhere(wrong)[0].tolist()
        raise ParameterError(
            "mask",
            "must contain only True and False, or 1 and 0. Got "
            f"{float(array[i, t])!r} in row {i}, column {t}.",
        )
    rows = (array if batch_first else array.T) != 0
    lengths = rows.sum(axis=1)
    # With padding at the end, the true entries are the first `lengths` of each row.
    wrong = (rows != (np.arange(rows.shape[1]) < lengths[:, None])).any(axis=1)
    if wrong.any():
        raise ParameterError(
            "mask",
            "must be true for the tokens of each sentence and then false for the "
            f"padding. In sentence {int(wrong.argmax())} a token comes after padding. "
            "If special or inner pieces are masked, select the rows of the words "
            "first, and pass a list of arrays.",
        )
    return lengths
