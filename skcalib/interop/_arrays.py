"""Tensors as arrays, and transitions that keep taggings valid in a scheme."""

from __future__ import annotations

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
