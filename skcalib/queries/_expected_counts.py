"""Expected and true counts: sums of answers by sample or document."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._errors import ParameterError
from .._validation import as_labels, check_integer


class ExpectedCounts(NamedTuple):
    """Expected and true counts, returned by :meth:`Answers.expected_counts`.

    Attributes
    ----------
    expected : ndarray of shape (n,)
        Sum of the probabilities of each sample or document.
    true : ndarray of shape (n,)
        Number of pairs whose true answer is yes.
    document : ndarray of shape (n,)
        Label of each document, in the order of first appearance, or index of each
        sample.

    See Also
    --------
    Answers.expected_counts : Method that returns this result.

    Examples
    --------
    >>> from skcalib.queries import ClassQuery
    >>> proba = [[0.7, 0.3], [0.2, 0.8]]
    >>> answers = ClassQuery("N").from_proba(["N", "V"], proba, classes=["N", "V"])
    >>> answers.expected_counts(2).true
    array([1., 0.])
    """

    expected: np.ndarray
    true: np.ndarray
    document: np.ndarray


# Shown by the documentation in place of "Alias for field number 0".
ExpectedCounts.expected.__doc__ = "Sum of the probabilities of a sample or document."
ExpectedCounts.true.__doc__ = "Number of pairs whose true answer is yes."
ExpectedCounts.document.__doc__ = "Label of a document, or index of a sample."


def sums_by_sample(
    groups: np.ndarray,
    y_true: np.ndarray,
    y_proba: np.ndarray,
    n_groups: int | None,
    documents: Any,
) -> ExpectedCounts:
    """Return sums of y_true and y_proba by sample, or by the document of the sample."""
    if groups.dtype.kind not in "iu":
        problem = f"must be integers, the indices of samples. Got {groups.dtype}."
        raise ParameterError("groups", problem, "Answers")
    if (n_groups is None) == (documents is None):
        raise ParameterError(
            None,
            "takes either 'n_groups', the number of samples, or 'documents', the "
            "document of each sample, because some samples may not have an answer. Got "
            f"n_groups={n_groups!r} and documents={documents!r:.50}.",
        )
    place, label = _places(n_groups, documents)
    least = int(groups.max(initial=-1)) + 1
    if len(place) < least:
        name = "n_groups" if documents is None else "documents"
        problem = f"must cover the {least} samples that have answers. Got "
        raise ParameterError(name, f"{problem}{len(place)}.")
    own, n = place[groups], len(label)
    return ExpectedCounts(
        np.bincount(own, y_proba, n), np.bincount(own, y_true, n), label
    )


def _places(n_groups: Any, documents: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the row of each sample, and the label of each row."""
    if documents is None:
        place = np.arange(check_integer(n_groups, minimum=0, name="n_groups"))
        return place, place
    labels = as_labels(documents, name="documents")
    found, first, code = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[code], found[order]
