"""Sufficient statistics of labels: columns whose sums determine a metric."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from operator import eq
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from .._entities import Tag, as_scheme, find_entities, mend_tags, read_tags
from .._errors import ParameterError, ParameterTypeError, public
from .._validation import (
    as_label_list,
    as_label_lists,
    check_same_length,
    is_collection,
    is_integer,
    is_sequence,
    is_tensor_type,
)


@public
def accuracy_statistics(y_true: ArrayLike, y_pred: ArrayLike) -> np.ndarray:
    """Count the correct labels of each sentence or of each row.

    Parameters
    ----------
    y_true : sequence of sequences of labels, or array-like of shape (n,)
        True labels of each sentence, or one true label per row.
    y_pred : sequence of sequences of labels, or array-like of shape (n,)
        Predicted labels, in the same form.

    Returns
    -------
    statistics : ndarray of shape (n, 2) or (n,), int
        For sentences, the number of correct labels and the number of labels. Pass this
        array to the tests in :mod:`skcalib.significance` with ``statistic="ratio"``.
        For rows, 1 if the label is correct and 0 otherwise. Use ``statistic="mean"`` in
        this case.

    Raises
    ------
    ValueError
        If `y_true` and `y_pred` differ in length, if they are empty, or if a label is
        missing. The message names the sentence.
    TypeError
        If `y_true` or `y_pred` is not a sequence, or if some of its entries are
        sentences and others are labels.

    See Also
    --------
    tag_statistics : Statistics for the F1 score of one tag.
    span_statistics : Statistics for the F1 score of entities.
    sklearn.metrics.accuracy_score : The accuracy of rows.

    Notes
    -----
    The accuracy is the sum of the first column divided by the sum of the second. Every
    token has the same weight, so the accuracy is not the mean of the accuracies of the
    sentences.

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
    pairs, nested = _paired(y_true, y_pred)
    correct = np.array([sum(map(eq, t, p)) for t, p in pairs], dtype=np.int64)
    if not nested:
        return correct
    return np.column_stack([correct, [len(true) for true, _ in pairs]])


@overload
def tag_statistics(
    y_true: ArrayLike, y_pred: ArrayLike, *, which: None = None
) -> dict[Any, np.ndarray]: ...
@overload
def tag_statistics(
    y_true: ArrayLike, y_pred: ArrayLike, *, which: object
) -> np.ndarray: ...


@public
def tag_statistics(
    y_true: ArrayLike, y_pred: ArrayLike, *, which: object = None
) -> np.ndarray | dict[Any, np.ndarray]:
    """Count correct, predicted and true occurrences of a tag in each sentence or row.

    Parameters
    ----------
    y_true : sequence of sequences of labels, or array-like of shape (n,)
        True labels of each sentence, or one true label per row.
    y_pred : sequence of sequences of labels, or array-like of shape (n,)
        Predicted labels, in the same form.
    which : label, default=None
        The tag to count. If None, every tag that occurs in `y_true` or `y_pred` is
        counted.

    Returns
    -------
    statistics : ndarray of shape (n, 3), int, or dict of such arrays
        The numbers of correct, predicted and true occurrences. Pass this array to the
        tests in :mod:`skcalib.significance` with ``statistic="f1"``. If `which` is
        None, a dict with one array per tag, sorted by tag.

    Raises
    ------
    ValueError
        If `which` occurs neither in `y_true` nor in `y_pred`, or for the reasons given
        in :func:`accuracy_statistics`.
    TypeError
        For the reasons given in :func:`accuracy_statistics`.

    See Also
    --------
    accuracy_statistics : Statistics for the accuracy over all tags.
    span_statistics : Statistics for the F1 score of entities.
    sklearn.metrics.f1_score : The F1 score of rows.

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
    pairs, _ = _paired(y_true, y_pred)
    number: dict[Any, int] = {}
    true_codes, pred_codes = (
        np.array(
            [number.setdefault(label, len(number)) for p in pairs for label in p[side]],
            dtype=np.intp,
        )
        for side in (0, 1)
    )
    sentence = np.repeat(np.arange(len(pairs)), [len(true) for true, _ in pairs])
    counts = {}
    for tag, code in number.items():
        if which is None or tag == which:
            gold, guessed = true_codes == code, pred_codes == code
            columns = [
                np.bincount(sentence[rows], minlength=len(pairs))
                for rows in (gold & guessed, guessed, gold)
            ]
            counts[tag] = np.column_stack(columns)
    if which is None:
        try:
            return {tag: counts[tag] for tag in sorted(counts)}
        except TypeError:
            raise ParameterError(
                None,
                "needs labels of one sortable type in 'y_true' and 'y_pred'. Got "
                "several types, for example strings and numbers.",
            ) from None
    if not counts:
        raise ParameterError(
            "which", f"must be a label of y_true or y_pred. Got {which!r}."
        )
    return counts[which]


@public
def span_statistics(
    y_true: Sequence[Sequence[str]],
    y_pred: Sequence[Sequence[str]],
    *,
    scheme: str = "BIO",
    label: str | None = None,
    mend: bool = True,
) -> np.ndarray:
    """Count the correct, predicted and true entities of each sentence.

    Parameters
    ----------
    y_true : sequence of sequences of str
        True tags of each sentence.
    y_pred : sequence of sequences of str
        Predicted tags of each sentence.
    scheme : str, default='BIO'
        Tagging scheme, in upper or lower case. 'BIO' (or 'IOB2'), 'BILOU' (or 'BILUO')
        and 'IOBES' (or 'BIOES') are described in :class:`~skcalib.queries.SpanQuery`.
        In 'IOB1', the tags of an entity are I-, but the first tag is B- if the entity
        directly follows another entity with the same label. In 'IOE2', the last tag of
        an entity is E- and the others are I-. In 'IOE1', all tags are I-, but the last
        tag is E- if another entity with the same label directly follows.
    label : str, default=None
        Entity label to count. If None, entities of all labels are counted.
    mend : bool, default=True
        If True, a BIO tag I- that does not continue an entity of its label starts a new
        entity, as in the scorer conlleval. If False, such a tag is not part of an
        entity, as in :class:`~skcalib.queries.SpanQuery`. The tags of other schemes are
        never changed.

    Returns
    -------
    statistics : ndarray of shape (n_sentences, 3), int
        The numbers of correct, predicted and true entities. Pass this array to the
        tests in :mod:`skcalib.significance` with ``statistic="f1"``. An entity is
        correct if its first token, its last token and its label are correct.

    Raises
    ------
    ValueError
        If a tag does not belong to the scheme, or for the reasons given in
        :func:`accuracy_statistics`.
    TypeError
        For the reasons given in :func:`accuracy_statistics`, or if `y_true` or `y_pred`
        is a flat sequence of tags and not a sequence of sentences.

    See Also
    --------
    tag_statistics : Statistics for the F1 score of one tag.
    skcalib.queries.SpanQuery : Probabilities of entities.
    skcalib.sequence.convert_tags : Convert tags to another scheme.

    Notes
    -----
    With ``mend=False``, the entities are the same as in the strict mode of seqeval
    [1]_, with two exceptions. Because of missing entries in its tables, seqeval finds
    neither the entity E-x in the IOE1 tags O E-x I-x nor the entity B-x in the IOB1
    tags I-x B-x B-y. With ``mend=True`` and 'BIO', the entities are the same as in the
    default mode of seqeval, which also reads IOB1 tags correctly.

    References
    ----------
    .. [1] H. Nakayama (2018). "seqeval: a Python framework for sequence labeling
       evaluation". https://github.com/chakki-works/seqeval

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
    scheme = as_scheme(scheme)
    pairs, nested = _paired(y_true, y_pred)
    if not nested:
        raise ParameterTypeError(
            None,
            "needs a sequence of tags for each sentence in 'y_true' and "
            "'y_pred'. Got tags without sentences.",
        )
    meaning: dict[Any, Tag] = {}
    for side, name in enumerate(("y_true", "y_pred")):
        sentences = [pair[side] for pair in pairs]
        tags = list(chain.from_iterable(sentences))
        lengths = list(map(len, sentences))
        meaning |= read_tags(tags, scheme, name, lengths)
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


def _paired(y_true: Any, y_pred: Any) -> tuple[list[tuple[list, list]], bool]:
    """Return the labels of both sides by sentence, and whether there are sentences.

    A single row is treated as a sentence of one label.
    """
    true_side, nested = _sentences(y_true, "y_true")
    pred_side, pred_nested = _sentences(y_pred, "y_pred")
    if len(true_side) != len(pred_side):
        raise ParameterError(
            None,
            "needs 'y_true' and 'y_pred' of the same length. Got lengths "
            f"{len(true_side)} and {len(pred_side)}.",
        )
    if nested != pred_nested:
        kinds = ["sentences" if each else "labels" for each in (nested, pred_nested)]
        raise ParameterTypeError(
            None,
            "needs sentences in both arguments, or labels in both. Got "
            f"{kinds[0]} in 'y_true' and {kinds[1]} in 'y_pred'.",
        )
    pairs = list(zip(true_side, pred_side, strict=True))
    for i, (true, pred) in enumerate(pairs):
        if len(true) != len(pred):
            raise ParameterError(
                None,
                f"needs the same number of labels in both. Got {len(true)} in "
                f"'y_true' and {len(pred)} in 'y_pred' for sentence {i}.",
            )
    return pairs, nested


def _sentences(side: Any, name: str) -> tuple[list[list], bool]:
    """Return one side as a list of lists, and whether it has sentences."""
    expected = (
        "must be a sequence with the labels of each sentence, or with one label per "
        "row."
    )
    if not _is_sequence(side):
        raise ParameterTypeError(name, f"{expected} Got {type(side).__name__}.")
    nested = getattr(side, "ndim", 1) > 1
    if not (nested or is_tensor_type(type(side))):
        each = list(side)
        found = list(map(_is_sequence, each))
        nested = any(found)
        if nested and not all(found):
            row = found.index(not found[0])
            raise ParameterTypeError(
                name,
                f"{expected} Got both: {type(each[0]).__name__} in row 0 and "
                f"{type(each[row]).__name__} in row {row}.",
            )
    if nested:
        entries = as_label_lists(side, name=name)
    else:
        entries = [[label] for label in as_label_list(side, name=name)]
    if not entries:
        raise ParameterError(name, f"{expected} Got none.")
    return entries, nested


def _is_sequence(values: Any) -> bool:
    """Return whether the values are ordered entries with a length."""
    return is_sequence(values) or getattr(values, "ndim", 0) > 0


@public
def alignment_statistics(
    sure: Sequence[Collection[tuple[int, int]]],
    possible: Sequence[Collection[tuple[int, int]]],
    predicted: Sequence[Collection[tuple[int, int]]],
) -> np.ndarray:
    """Count the links of each sentence pair that determine the alignment error rate.

    Parameters
    ----------
    sure : sequence of sets of tuple (int, int)
        Sure links of each sentence pair, as pairs of word positions, for example
        ``{(0, 0), (1, 2)}``. Lists of pairs and arrays of shape (n_links, 2) are also
        accepted.
    possible : sequence of sets of tuple (int, int)
        Possible links, in the same form. Sure links are possible by definition, so they
        may be listed here or left out.
    predicted : sequence of sets of tuple (int, int)
        Predicted links, in the same form.

    Returns
    -------
    statistics : ndarray of shape (n_sentences, 2), int
        With the sure links S, the possible links P (including S) and the predicted
        links A of a sentence pair, the columns are ``|A & S| + |A & P|`` and
        ``|A| + |S|``. Pass this array to the tests in :mod:`skcalib.significance` with
        ``statistic="ratio"``. The metric is then one minus the alignment error rate.

    Raises
    ------
    ValueError
        If the arguments differ in length, if they are empty, or if a link is not a pair
        of positions of at least 0 or occurs twice. The message names the sentence.
    TypeError
        If an argument is not a sequence, or if its entry for a sentence is not a
        collection of links.

    See Also
    --------
    span_statistics : Statistics for the F1 score of entities.
    skcalib.significance.compare_systems : Test all pairs of several aligners.

    Notes
    -----
    The alignment error rate of [1]_ is

        AER = 1 - sum(|A & S| + |A & P|) / sum(|A| + |S|),

    where the sums are over the sentence pairs. The difference in AER of two aligners is
    minus the ``statistic`` of :func:`~skcalib.significance.paired_bootstrap_test`. If
    all possible links are sure, one minus AER is the F1 score of the links.

    References
    ----------
    .. [1] F. J. Och and H. Ney (2003). "A systematic comparison of various statistical
       alignment models". Computational Linguistics 29. Section 5.

    Examples
    --------
    The aligner finds two of three sure links, one possible link and one wrong link:

    >>> from skcalib.metrics import alignment_statistics
    >>> sure = [{(0, 0), (1, 2)}, {(0, 0)}]
    >>> possible = [{(1, 1)}, set()]
    >>> predicted = [{(0, 0), (1, 1), (1, 2)}, {(0, 1)}]
    >>> counts = alignment_statistics(sure, possible, predicted)
    >>> counts
    array([[5, 5],
           [0, 2]])
    >>> found, total = counts.sum(axis=0)
    >>> round(float(1 - found / total), 3)
    0.286
    """
    sides = {"sure": sure, "possible": possible, "predicted": predicted}
    links = {name: _links(side, name) for name, side in sides.items()}
    check_same_length(**links)
    counts = [
        (len(a & s) + len(a & (p | s)), len(a) + len(s))
        for s, p, a in zip(*links.values(), strict=True)
    ]
    return np.array(counts, dtype=np.int64)


def _links(side: Any, name: str) -> list[set[tuple[int, int]]]:
    """Return the links of each sentence as sets."""
    expected = "must be a sequence with a collection of links (i, j) for each sentence."
    if not _is_sequence(side):
        raise ParameterTypeError(name, f"{expected} Got {type(side).__name__}.")
    if len(side) == 0:
        raise ParameterError(name, f"{expected} Got none.")
    sentences = []
    for i, entry in enumerate(side):
        if not is_collection(entry) or isinstance(entry, Mapping):
            raise ParameterTypeError(
                name, f"{expected} Got {type(entry).__name__} for sentence {i}."
            )
        links: set[tuple[int, int]] = set()
        for link in entry:
            pair = tuple(link) if is_collection(link) else ()
            if len(pair) != 2 or not all(is_integer(at) and at >= 0 for at in pair):
                raise ParameterError(
                    name,
                    "must contain pairs of integers of at least 0. Got "
                    f"{link!r:.50} in sentence {i}.",
                )
            if pair in links:
                raise ParameterError(
                    name, f"must not contain a link twice. Got {pair} in sentence {i}."
                )
            links.add((int(pair[0]), int(pair[1])))
        sentences.append(links)
    return sentences
