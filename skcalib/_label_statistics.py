"""Sufficient statistics of metrics of labels: what is summed before a metric is taken.

They are handed out by :mod:`skcalib.metrics`. They stand here so that rooms of the
same rank can use them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import chain
from operator import eq
from typing import Any

import numpy as np

from ._entities import SCHEMES, Tag, find_entities, mend_tags, read_tags
from ._validation import check_choice, is_missing, is_sequence

__all__ = ["accuracy_statistics", "span_statistics", "tag_statistics"]


def accuracy_statistics(y_true: Any, y_pred: Any) -> np.ndarray:
    """Count right labels, of every sentence or of every row.

    Parameters
    ----------
    y_true : sequence of sequences of labels, or array-like of shape (n,)
        True labels of each sentence, or one of each row.
    y_pred : sequence of sequences of labels, or array-like of shape (n,)
        Predicted ones.

    Returns
    -------
    statistics : ndarray of shape (n, 2) or (n,), int
        Of sentences the numbers of right labels and of all labels, for
        ``statistic="ratio"``; of rows whether the label is right, 0 or 1, for
        ``statistic="mean"``.

    Raises
    ------
    ValueError
        If the two sides differ in length, there is nothing, or a label is missing; the
        message has the sentence.
    TypeError
        If one side is no sequence, or some entries are sentences and others labels.

    See Also
    --------
    tag_statistics : For the F1 of one tag.
    span_statistics : For the F1 of entities.
    sklearn.metrics.accuracy_score : The accuracy of rows.

    Notes
    -----
    The accuracy is the sum of the first column over that of the second, each token
    counting alike; it is not the mean over sentences of their own accuracies.

    Examples
    --------
    >>> from skcalib.metrics import accuracy_statistics
    >>> y_true = [["D", "N"], ["N", "V", "."]]
    >>> accuracy_statistics(y_true, [["D", "V"], ["N", "V", "."]])
    array([[1, 2],
           [3, 3]])
    >>> accuracy_statistics(["a", "b", "a"], ["a", "b", "b"])
    array([1, 1, 0])
    """
    pairs, nested = _paired(y_true, y_pred, "accuracy_statistics")
    right = np.array([sum(map(eq, t, p)) for t, p in pairs], dtype=np.int64)
    if not nested:
        return right
    return np.column_stack([right, [len(true) for true, _ in pairs]])


def tag_statistics(y_true: Any, y_pred: Any, *, which: Any = None) -> Any:
    """Count how often a tag is right, guessed and there, of every sentence or row.

    Parameters
    ----------
    y_true : sequence of sequences of labels, or array-like of shape (n,)
        True labels of each sentence, or one of each row.
    y_pred : sequence of sequences of labels, or array-like of shape (n,)
        Predicted ones.
    which : label, default=None
        The tag that is counted. None: each tag that occurs on either side.

    Returns
    -------
    statistics : ndarray of shape (n, 3), int, or dict of them
        The numbers of right, guessed and gold labels that are the tag, for
        ``statistic="f1"``. Without `which` a dict with an array for each tag, in
        order.

    Raises
    ------
    ValueError
        If `which` occurs on neither side, or for the reasons of
        :func:`accuracy_statistics`.
    TypeError
        As in :func:`accuracy_statistics`.

    See Also
    --------
    accuracy_statistics : For the accuracy over all tags.
    span_statistics : For the F1 of entities.
    sklearn.metrics.f1_score : The F1 of rows.

    Examples
    --------
    >>> from skcalib.metrics import tag_statistics
    >>> y_true = [["D", "N"], ["N", "V", "."]]
    >>> y_pred = [["D", "V"], ["N", "V", "."]]
    >>> tag_statistics(y_true, y_pred, which="N")
    array([[0, 0, 1],
           [1, 1, 1]])
    >>> list(tag_statistics(y_true, y_pred))
    ['.', 'D', 'N', 'V']
    """
    caller = "tag_statistics"
    pairs, _ = _paired(y_true, y_pred, caller)
    counts = _counts_by_tag(pairs, which)
    if which is None:
        return {tag: counts[tag] for tag in _ordered(counts, caller)}
    if not counts:
        raise ValueError(
            f"The 'which' parameter of {caller} must be a label of y_true or y_pred. "
            f"Got {which!r}."
        )
    return counts[which]


def span_statistics(
    y_true: Any,
    y_pred: Any,
    *,
    scheme: str = "BIO",
    label: str | None = None,
    mend: bool = True,
) -> np.ndarray:
    """Count right, guessed and gold entities of every sentence.

    Parameters
    ----------
    y_true : sequence of sequences of str
        True tags of each sentence.
    y_pred : sequence of sequences of str
        Predicted tags.
    scheme : {'BIO', 'BILOU'}, default='BIO'
        What the tags mean, as in :class:`~skcalib.queries.SpanQuery`.
    label : str, default=None
        Entity label that is counted. None: all of them.
    mend : bool, default=True
        In BIO, count an I- tag that goes on with no entity of its label as the
        beginning of one, as the scorer conlleval does. False: it is part of no entity,
        as in :class:`~skcalib.queries.SpanQuery`. Tags of BILOU are never mended.

    Returns
    -------
    statistics : ndarray of shape (n_sentences, 3), int
        The numbers of right, guessed and gold entities, for ``statistic="f1"``. An
        entity is right if its first token, its last token and its label are.

    Raises
    ------
    ValueError
        If a tag is not of the scheme, or for the reasons of
        :func:`accuracy_statistics`.
    TypeError
        As in :func:`accuracy_statistics`, and for labels without sentences.

    See Also
    --------
    tag_statistics : For the F1 of one tag.
    skcalib.queries.SpanQuery : Probabilities of entities.

    Examples
    --------
    >>> from skcalib.metrics import span_statistics
    >>> y_true = [["B-PER", "I-PER", "O"], ["B-LOC", "O"]]
    >>> y_pred = [["B-PER", "O", "O"], ["B-LOC", "B-PER"]]
    >>> counts = span_statistics(y_true, y_pred)
    >>> counts
    array([[0, 1, 1],
           [1, 2, 1]])
    >>> right, guessed, gold = counts.sum(axis=0)
    >>> float(2 * right / (guessed + gold))
    0.4
    """
    caller = "span_statistics"
    check_choice(scheme, tuple(SCHEMES), name="scheme", caller=caller)
    pairs, nested = _paired(y_true, y_pred, caller)
    if not nested:
        raise TypeError(
            f"{caller} needs a sequence of tags for each sentence in 'y_true' and "
            "'y_pred'. Got tags without sentences."
        )
    meaning: dict[Any, Tag] = {}
    for side, name in enumerate(("y_true", "y_pred")):
        sentences = [pair[side] for pair in pairs]
        tags = list(chain.from_iterable(sentences))
        lengths = list(map(len, sentences))
        meaning |= read_tags(tags, scheme, name, caller, lengths)
    counts = np.zeros((len(pairs), 3), dtype=np.int64)
    for row, sides in zip(counts, pairs, strict=True):
        true, pred = (
            _entities([meaning[tag] for tag in tags], scheme, label, mend)
            for tags in sides
        )
        row[:] = len(true & pred), len(pred), len(true)
    return counts


def _entities(
    tags: list[Tag], scheme: str, label: str | None, mend: bool
) -> set[tuple[int, int, str]]:
    tags = mend_tags(tags) if mend and scheme == "BIO" else tags
    found = find_entities(tags, scheme)
    return {entity for entity in found if label is None or entity[2] == label}


def _counts_by_tag(pairs: list[tuple[list, list]], which: Any) -> dict[Any, np.ndarray]:
    """Return right, guessed and gold ones in each sentence, of one tag or of each."""
    number: dict[Any, int] = {}
    codes = [
        np.array(
            [number.setdefault(label, len(number)) for p in pairs for label in p[side]],
            dtype=np.intp,
        )
        for side in (0, 1)
    ]
    sentence = np.repeat(np.arange(len(pairs)), [len(true) for true, _ in pairs])
    counts = {}
    for tag, code in number.items():
        if which is None or tag == which:
            gold, guessed = codes[0] == code, codes[1] == code
            columns = [
                np.bincount(sentence[rows], minlength=len(pairs))
                for rows in (gold & guessed, guessed, gold)
            ]
            counts[tag] = np.column_stack(columns)
    return counts


def _ordered(labels: Iterable, caller: str) -> list:
    try:
        return sorted(labels)
    except TypeError:
        raise ValueError(
            f"{caller} needs labels of one kind in 'y_true' and 'y_pred', which can be "
            "sorted. Got a mix, for example of strings and numbers."
        ) from None


# The gate: both sides as lists of sentences; a row is a sentence of one label.


def _paired(
    y_true: Any, y_pred: Any, caller: str
) -> tuple[list[tuple[list, list]], bool]:
    """Return the labels of both sides by sentence, and whether there are sentences."""
    sides, kinds = {}, {}
    for name, side in (("y_true", y_true), ("y_pred", y_pred)):
        sides[name], kinds[name] = _sentences(side, name, caller)
    if len(y_true) != len(y_pred):
        raise ValueError(
            f"{caller} needs as many entries in 'y_true' as in 'y_pred'. Got "
            f"{len(y_true)} and {len(y_pred)}."
        )
    if kinds["y_true"] != kinds["y_pred"]:
        shown = {True: "sentences", False: "labels"}
        raise TypeError(
            f"{caller} compares sentences with sentences and labels with labels. Got "
            f"{shown[kinds['y_true']]} in 'y_true' and {shown[kinds['y_pred']]} in "
            "'y_pred'."
        )
    pairs = list(zip(sides["y_true"], sides["y_pred"], strict=True))
    for i, (true, pred) in enumerate(pairs):
        if len(true) != len(pred):
            raise ValueError(
                f"{caller} needs as many labels on both sides. Got {len(true)} in "
                f"'y_true' and {len(pred)} in 'y_pred' for sentence {i}."
            )
    return pairs, kinds["y_true"]


def _sentences(side: Any, name: str, caller: str) -> tuple[list[list], bool]:
    """Return one side as a list of lists, and whether it came as sentences."""
    expected = (
        f"The {name!r} parameter of {caller} must be a sequence with the labels of "
        "each sentence, or with a label for each row."
    )
    if not is_sequence(side):
        raise TypeError(f"{expected} Got {type(side).__name__}.")
    entries = side.tolist() if isinstance(side, np.ndarray) else list(side)
    if not entries:
        raise ValueError(f"{expected} Got none.")
    nested = [isinstance(e, (list, tuple, np.ndarray)) for e in entries]
    if any(nested) and not all(nested):
        row = nested.index(not nested[0])
        kinds = (type(entries[0]).__name__, type(entries[row]).__name__)
        raise TypeError(
            f"{expected} Got both: {kinds[0]} in row 0 and {kinds[1]} in row {row}."
        )
    if not nested[0]:
        entries = [[label] for label in entries]
    else:
        entries = [
            e.tolist() if isinstance(e, np.ndarray) else list(e) for e in entries
        ]
    _check_labels(entries, nested[0], name, caller)
    return entries, nested[0]


def _check_labels(entries: list[list], nested: bool, name: str, caller: str) -> None:
    """Refuse None and NaN, which stand for no label, and what cannot be counted."""
    try:
        if not any(map(is_missing, set(chain.from_iterable(entries)))):
            return
    except TypeError:  # not hashable, as lists are
        pass
    for i, labels in enumerate(entries):
        for t, label in enumerate(labels):
            if not isinstance(label, Hashable) or is_missing(label):
                place = f"token {t} of sentence {i}" if nested else f"row {i}"
                raise ValueError(
                    f"The {name!r} parameter of {caller} must have a label everywhere. "
                    f"Got {label!r} in {place}."
                )
