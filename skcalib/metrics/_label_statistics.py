"""Sufficient statistics of labels: columns whose sums determine a metric."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from operator import and_, eq
from typing import Any

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
    # Each tag has a number, so that its occurrences are counted in arrays and not by
    # one pass over all sentences per tag.
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
            # The order must not depend on which tag occurs first.
            return {tag: counts[tag] for tag in sorted(counts)}
        except TypeError:
            raise ParameterError(
                None,
                "needs labels of one sortable type in 'y_true' and 'y_pred'. Got "
                "several types, for example strings and numbers.",
            ) from None
    if not counts:
        problem = f"must be a label of y_true or y_pred. Got {which!r}."
        raise ParameterError("which", problem)
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
    pairs = _sentence_pairs(y_true, y_pred, ("y_true", "y_pred"))
    meaning: dict[Any, Tag] = {}
    for side, name in enumerate(("y_true", "y_pred")):
        sentences = [pair[side] for pair in pairs]
        tags = list(chain.from_iterable(sentences))
        lengths = list(map(len, sentences))
        # Each different tag is parsed once, and errors name its sentence.
        meaning |= read_tags(tags, scheme, name, lengths)
    counts = np.zeros((len(pairs), 3), dtype=np.int64)
    for row, sides in zip(counts, pairs, strict=True):
        true, pred = (
            _entities([meaning[tag] for tag in tags], scheme, label, mend)
            for tags in sides
        )
        # An entity is right if both ends and the type are equal.
        row[:] = len(true & pred), len(pred), len(true)
    return counts


@public
def attachment_statistics(
    heads_true: Sequence[Sequence[int]],
    heads_pred: Sequence[Sequence[int]],
    *,
    labels_true: Sequence[Sequence[str]] | None = None,
    labels_pred: Sequence[Sequence[str]] | None = None,
    words: Sequence[Sequence[str]] | None = None,
) -> np.ndarray:
    """Count the tokens of each sentence that a parser attaches to the correct head.

    Parameters
    ----------
    heads_true : sequence of sequences of int
        True head of each token. Any numbering of the tokens and of the root is
        possible, but it must be the same in `heads_pred`.
    heads_pred : sequence of sequences of int
        Predicted heads, in the same form.
    labels_true : sequence of sequences of str, default=None
        True label of the relation of each token to its head. If the labels are given, a
        token is correct if both its head and its label are correct. Pass both
        `labels_true` and `labels_pred`, or neither.
    labels_pred : sequence of sequences of str, default=None
        Predicted labels, in the same form.
    words : sequence of sequences of str, default=None
        Words of each sentence. If they are given, punctuation is not counted, that is,
        words that consist only of characters of the Unicode categories P (such as "."
        and "--", but not "$"). If None, all tokens are counted.

    Returns
    -------
    statistics : ndarray of shape (n_sentences, 2), int
        The number of correct tokens and the number of tokens. Pass this array to the
        tests in :mod:`skcalib.significance` with ``statistic="ratio"``.

    Raises
    ------
    ValueError
        If the arguments differ in the number of sentences or in the number of tokens of
        a sentence, if there are no sentences, if a head, a label or a word is missing,
        or if only one of `labels_true` and `labels_pred` is given. The message names
        the sentence.
    TypeError
        If an argument is not a sequence of sequences, if a head is not an integer, or
        if a word is not a string.

    See Also
    --------
    accuracy_statistics : Statistics for the accuracy of labels.
    skcalib.documents.Sentence : Sentences of a treebank with heads and labels.

    Notes
    -----
    The sum of the first column divided by the sum of the second is the unlabelled
    attachment score (UAS) or, with labels, the labelled attachment score (LAS). The
    official scores of treebanks differ in two conventions:

    - The shared task of 2006 [1]_ leaves out punctuation by the rule given for `words`.
      The shared task of 2018 on Universal Dependencies [2]_ counts all tokens, which is
      the default here.
    - The shared task of 2018 compares only the part of a label before the colon, so
      that 'nsubj:pass' and 'nsubj' are equal. Here, labels are compared as they are.
      Pass ``[[label.split(":")[0] for label in each] for each in labels]`` to ignore
      the subtypes.

    References
    ----------
    .. [1] S. Buchholz and E. Marsi (2006). "CoNLL-X shared task on multilingual
       dependency parsing". CoNLL.
    .. [2] D. Zeman et al. (2018). "CoNLL 2018 shared task: multilingual parsing from
       raw text to Universal Dependencies". CoNLL.

    Examples
    --------
    The heads are numbered from 0, and the root has the head -1:

    >>> from skcalib.metrics import attachment_statistics
    >>> heads_true = [[1, 2, -1, 2, 2], [-1, 0]]
    >>> heads_pred = [[1, 2, -1, 2, 3], [-1, 0]]
    >>> counts = attachment_statistics(heads_true, heads_pred)
    >>> counts
    array([[4, 5],
           [2, 2]])
    >>> correct, tokens = counts.sum(axis=0)
    >>> print(f"UAS {correct / tokens:.3f}")
    UAS 0.857
    >>> labels_true = [["det", "nsubj", "root", "obj", "punct"], ["root", "obj"]]
    >>> labels_pred = [["det", "nsubj", "root", "obl", "punct"], ["root", "obj"]]
    >>> words = [["The", "dog", "bites", "us", "."], ["Help", "us"]]
    >>> attachment_statistics(
    ...     heads_true,
    ...     heads_pred,
    ...     labels_true=labels_true,
    ...     labels_pred=labels_pred,
    ...     words=words,
    ... )
    array([[3, 4],
           [2, 2]])
    """
    heads = _sentence_pairs(heads_true, heads_pred, ("heads_true", "heads_pred"))
    for side, name in enumerate(("heads_true", "heads_pred")):
        _check_tokens([pair[side] for pair in heads], name, is_integer, "integers")
    correct = [list(map(eq, true, pred)) for true, pred in heads]
    # Labels of one side alone would be compared with nothing.
    if (labels_true is None) != (labels_pred is None):
        given = "labels_true" if labels_pred is None else "labels_pred"
        raise ParameterError(
            None,
            "needs both 'labels_true' and 'labels_pred', or neither. Got only "
            f"{given!r}.",
        )
    if labels_true is not None:
        _sentence_pairs(heads_true, labels_true, ("heads_true", "labels_true"))
        labels = _sentence_pairs(
            labels_true, labels_pred, ("labels_true", "labels_pred")
        )
        correct = [
            # A labelled attachment is right if the head and the label are.
            list(map(and_, rows, map(eq, true, pred)))
            for rows, (true, pred) in zip(correct, labels, strict=True)
        ]
    if words is not None:
        pairs = _sentence_pairs(heads_true, words, ("heads_true", "words"))
        texts = [text for _, text in pairs]
        _check_tokens(texts, "words", lambda word: isinstance(word, str), "strings")
        correct = [
            [
                row
                for row, word in zip(rows, text, strict=True)
                if not _is_punctuation(word)
            ]
            for rows, text in zip(correct, texts, strict=True)
        ]
    return np.array([[sum(rows), len(rows)] for rows in correct], dtype=np.int64)


def _check_tokens(
    sentences: list[list], name: str, is_valid: Callable[[Any], bool], expected: str
) -> None:
    for i, sentence in enumerate(sentences):
        for t, value in enumerate(sentence):
            if not is_valid(value):
                raise ParameterTypeError(
                    name,
                    f"must contain {expected}. Token {t} of sentence {i} has "
                    f"{value!r:.50}.",
                )


def _is_punctuation(word: str) -> bool:
    # By the categories of Unicode, as in the shared task of 2006.
    return word != "" and all(unicodedata.category(c)[0] == "P" for c in word)


def _entities(
    tags: list[Tag], scheme: str, label: str | None, mend: bool
) -> set[tuple[int, int, str]]:
    # In the other schemes, the tag at the end of an entity shows where a new one
    # begins.
    tags = mend_tags(tags) if mend and scheme == "BIO" else tags
    found = find_entities(tags, scheme)
    return {entity for entity in found if label is None or entity[2] == label}


def _sentence_pairs(
    first: Any, second: Any, names: tuple[str, str]
) -> list[tuple[list, list]]:
    """Return what two arguments contain for each sentence, with equal lengths."""
    pairs, nested = _paired(first, second, names)
    if not nested:
        raise ParameterTypeError(
            None,
            f"needs a sequence of tokens for each sentence in {names[0]!r} and "
            f"{names[1]!r}. Got tokens without sentences.",
        )
    return pairs


def _paired(
    first: Any, second: Any, names: tuple[str, str] = ("y_true", "y_pred")
) -> tuple[list[tuple[list, list]], bool]:
    """Return the labels of both sides by sentence, and whether there are sentences.

    A single row is treated as a sentence of one label.
    """
    one, two = names
    first, nested = _sentences(first, one)
    second, second_nested = _sentences(second, two)
    if len(first) != len(second):
        raise ParameterError(
            None,
            f"needs {one!r} and {two!r} of the same length. Got lengths "
            f"{len(first)} and {len(second)}.",
        )
    if nested != second_nested:
        kinds = ["sentences" if each else "labels" for each in (nested, second_nested)]
        raise ParameterTypeError(
            None,
            "needs sentences in both arguments, or labels in both. Got "
            f"{kinds[0]} in {one!r} and {kinds[1]} in {two!r}.",
        )
    pairs = list(zip(first, second, strict=True))
    for i, (a, b) in enumerate(pairs):
        if len(a) != len(b):
            raise ParameterError(
                None,
                f"needs the same number of tokens in both. Got {len(a)} in "
                f"{one!r} and {len(b)} in {two!r} for sentence {i}.",
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
    # An array has its number of dimensions; a list has to be looked at.
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
        # A row is a sentence of one label, so that all metrics have one form.
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
    The alignment error rate of [1]_ is ::

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
        # Sure links are possible as well, also if the file does not repeat them (Och
        # and Ney, 2003).
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
            problem = f"{expected} Got {type(entry).__name__} for sentence {i}."
            raise ParameterTypeError(name, problem)
        links: set[tuple[int, int]] = set()
        for link in entry:
            pair = tuple(link) if is_collection(link) else ()
            if len(pair) != 2 or not all(is_integer(at) and at >= 0 for at in pair):
                raise ParameterError(
                    name,
                    "must contain pairs of integers of at least 0. Got "
                    f"{link!r:.50} in sentence {i}.",
                )
            # A set would hide the repetition, which is usually an error of the file.
            if pair in links:
                problem = f"must not contain a link twice. Got {pair} in sentence {i}."
                raise ParameterError(name, problem)
            links.add((int(pair[0]), int(pair[1])))
        sentences.append(links)
    return sentences
