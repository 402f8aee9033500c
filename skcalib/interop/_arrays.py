"""What the adapters share: tensors as arrays, padding, batch order, labels of tags.

Also contains the transitions that keep taggings consistent with a scheme of entities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._entities import allowed_tags, as_posterior_scheme, check_possible, read_tags
from .._errors import ParameterError, ParameterTypeError, public
from .._validation import as_array, as_label_list


@public
def scheme_transitions(
    classes: ArrayLike, scheme: str = "BIO"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scores that exclude taggings that are invalid in an entity scheme.

    Parameters
    ----------
    classes : array-like of shape (n_tags,)
        Labels of the tag indices, such as 'B-PER'.
    scheme : {'BIO', 'BILOU', 'BIOES'}, default='BIO'
        Scheme of the tags.

    Returns
    -------
    log_transition : ndarray of shape (n_tags, n_tags)
        Scores of [previous tag, next tag]: 0 if the next tag may follow the previous
        tag, and -inf otherwise. For example, in 'BIO', I-PER may only follow B-PER and
        I-PER.
    log_start, log_end : ndarray of shape (n_tags,)
        Scores of the first and of the last tag: 0 if the tag is valid there, and -inf
        otherwise.

    See Also
    --------
    from_transformers : Posterior of a token classification model.
    skcalib.posteriors.LinearChainPosterior : Posterior that uses these scores.

    Notes
    -----
    If these scores are added to the log probabilities of a tagger with one softmax per
    token, the result is the distribution over taggings defined by the tagger,
    conditioned on the event that the tagging is valid in the scheme. The best tagging
    is then the best valid tagging, and the probability of an entity is a sum over valid
    taggings only.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.interop import scheme_transitions
    >>> from skcalib.posteriors import LinearChainPosterior
    >>> log_transition, log_start, log_end = scheme_transitions(["O", "B", "I"])
    >>> log_transition
    array([[  0.,   0., -inf],
           [  0.,   0.,   0.],
           [  0.,   0.,   0.]])
    >>> scores = [np.log([[0.2, 0.3, 0.5], [0.2, 0.2, 0.6]])]
    >>> posterior = LinearChainPosterior(scores, log_transition, log_start, log_end)
    >>> posterior.viterbi()
    [array([1, 2])]
    """
    return transitions_of(as_label_list(classes, name="classes"), scheme, "classes")


def transitions_of(
    order: list, scheme: str, name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the scores for labels that were received as the parameter `name`."""
    scheme = as_posterior_scheme(scheme)
    meaning = read_tags(order, scheme, name)
    check_possible(meaning, scheme, name)
    allowed = allowed_tags([meaning[tag] for tag in order], scheme)
    pairs, first, last = (np.where(each, 0.0, -np.inf) for each in allowed)
    return pairs, first, last


def as_numpy(values: Any, name: str) -> np.ndarray:
    """Return a tensor, on any device and with or without gradient, as an array."""
    for method in ("detach", "cpu"):
        if hasattr(values, method):
            values = getattr(values, method)()
    if "bfloat16" in str(getattr(values, "dtype", "")):  # unknown to NumPy
        values = values.float()
    if hasattr(values, "get") and hasattr(values, "device"):  # CuPy, as in spaCy
        values = values.get()
    try:
        array = as_array(values, name=name)
    except ParameterError:
        raise
    except ValueError:
        raise ParameterError(name, "must have rows of equal length.") from None
    if array.dtype.kind not in "fiub":
        problem = f"must contain numbers. Got an array of type {array.dtype}."
        raise ParameterTypeError(name, problem)
    return array if array.dtype == np.float32 else array.astype(np.float64)


def as_indices(values: Any, name: str) -> np.ndarray:
    """Return a tensor of integers as an array."""
    array = as_numpy(values, name)
    # NaN does not equal itself, but infinity equals its integer part.
    wrong = ~(array == np.trunc(array)) | np.isinf(array)
    if wrong.any():
        place = np.argwhere(wrong)[0].tolist()
        found = float(array[tuple(place)])
        where = f" at position {place}" if place else ""
        raise ParameterError(name, f"must contain integers. Got {found!r}{where}.")
    return array.astype(np.intp)


def unpad(
    scores: Any,
    lengths: Any,
    mask: Any,
    name: str,
    order: Any,
    batch_first: bool = True,
) -> list[np.ndarray]:
    """Return the scores of the tokens of each sentence.

    `scores` is a batch padded at the end, (n_sentences, n_tokens, n_tags), or a list
    with one array per sentence. The number of tokens of a sentence is its entry of
    `lengths`, or the number of true entries of `mask`. If both are None, there is no
    padding.
    """
    if isinstance(scores, (list, tuple)):
        rows = [as_numpy(each, name) for each in scores]
        shapes = {each.ndim for each in rows}
    else:
        batch = as_numpy(scores, name)
        shapes = {batch.ndim}
        if shapes == {3} and not batch_first:
            batch = batch.swapaxes(0, 1)
        rows = list(batch) if batch.ndim else []
        shapes = {ndim - 1 for ndim in shapes}
    if shapes - {2}:
        raise ParameterError(
            name,
            "must have shape (n_sentences, n_tokens, n_tags), or be a list of arrays "
            f"of shape (n_tokens, n_tags). Got {_shape(scores)}.",
        )
    source = "lengths"
    if mask is not None:
        if lengths is not None:
            raise ParameterError(None, "accepts 'mask' or 'lengths', not both.")
        lengths, source = _lengths_of_mask(mask, batch_first), "mask"
    if lengths is not None:
        found = as_indices(lengths, "lengths")
        if found.shape != (len(rows),):
            raise ParameterError(
                source,
                f"must have an entry for each of the {len(rows)} sentences of "
                f"{name!r}. Got {found.size}.",
            )
        for i, n in enumerate(found.tolist()):
            if not 0 <= n <= len(rows[i]):
                raise ParameterError(
                    source,
                    f"must have at most the number of tokens of {name!r}. Got {n} for "
                    f"sentence {i}, which has {len(rows[i])}.",
                )
            rows[i] = rows[i][:n]
    return _in_order(without_nan(rows, name), order)


def without_nan(rows: list[np.ndarray], name: str) -> list[np.ndarray]:
    """Return the scores of each sentence, which must not contain NaN."""
    for i, row in enumerate(rows):
        is_nan = np.isnan(row).any(axis=1)
        if is_nan.any():
            raise ParameterError(
                name,
                f"must not contain NaN. Got NaN for row {int(is_nan.argmax())} of "
                f"sentence {i}.",
            )
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


def _in_order(rows: list[np.ndarray], order: Any) -> list[np.ndarray]:
    """Return rows in their order before sorting: row i goes to order[i]."""
    if order is None:
        return rows
    places = as_indices(order, "order")
    if not np.array_equal(np.sort(places, axis=None), np.arange(len(rows))):
        raise ParameterError(
            "order",
            f"must have the position of each of the {len(rows)} sentences before "
            f"sorting, counted from 0. Got {places.tolist()!r:.60}.",
        )
    # The inverse of a permutation is the order that sorts it.
    return [rows[i] for i in np.argsort(places).tolist()]


def check_attributes(
    value: Any, name: str, attributes: Sequence[str], expected: str, more: str = "."
) -> None:
    """Raise an error if an object of a library does not have its attributes."""
    if not all(hasattr(value, each) for each in attributes):
        problem = f"{expected}. Got {type(value).__name__}{more}"
        raise ParameterTypeError(name, problem)


def as_labels_of_tags(labels: Any, n_tags: int, name: str) -> list[Any]:
    """Return the label of each tag index, from a list or an `id2label` mapping."""
    if hasattr(labels, "items"):
        if not all(str(k).isdecimal() for k in labels):
            raise ParameterError(
                name,
                "must map tag indices to labels, like id2label, not labels to tag "
                f"indices. Got the keys {list(labels)!r:.60}.",
            )
        found = {int(k): label for k, label in labels.items()}
        if set(found) != set(range(len(found))):
            raise ParameterError(
                name,
                "must have the labels of the tags 0, 1, ... Got the keys "
                f"{sorted(found)!r:.60}.",
            )
        order = [found[k] for k in range(len(found))]
    else:
        order = as_label_list(labels, name=name)
    if len(order) != n_tags:
        raise ParameterError(
            name,
            f"must have a label for each of the {n_tags} tags. Got {len(order)}: "
            f"{order!r:.100}.",
        )
    return order


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """Return log probabilities of the last axis, in float64."""
    scores = scores.astype(np.float64)
    top = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    # without the shift, exp of a score above 709 would overflow
    shifted = scores - np.where(np.isfinite(top), top, 0)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
