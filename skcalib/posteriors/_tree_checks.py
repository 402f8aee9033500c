"""Validation of scores of arcs, dependency trees and spans of words."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._clusterings import check_entries
from .._errors import ParameterError, ParameterTypeError
from .._validation import is_integer, is_sequence
from ._score_checks import MOST_SCORE, entries_of, scores_of
from ._structure_checks import as_integers


def as_arc_scores(values: Any) -> list[np.ndarray]:
    """Return the scores of each sentence, a copy with -inf in a word's own column."""
    name = "log_scores"
    parts = entries_of(values, name, "an array for each sentence")
    return [_as_arcs(part, i) for i, part in enumerate(parts)]


def _as_arcs(part: Any, i: int) -> np.ndarray:
    name = "log_scores"
    found = scores_of(part, name, f"sentence {i}", np.float64)
    scores = np.array(found, dtype=np.float64, order="C", copy=True)
    if scores.size == 0 and scores.ndim < 3:
        return np.empty((0, 1))
    n = len(scores) if scores.ndim else 0
    if scores.shape != (n, n + 1):
        problem = (
            "must have shape (n_words, n_words + 1) for each sentence: a row per word, "
            "a column for the root, then one column per word. Got shape "
            f"{scores.shape} for sentence {i}."
            + " Put a single sentence into a list."
            * (scores.ndim == 1)
        )
        raise ParameterError(name, problem)
    scores[np.arange(n), np.arange(1, n + 1)] = -np.inf
    bad = ~((np.abs(scores) <= MOST_SCORE) | (scores == -np.inf))
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        problem = (
            f"must be -inf or finite, within ±{MOST_SCORE:g}. Got "
            f"{scores[row, column]} in sentence {i}, row {row}, column {column}."
        )
        raise ParameterError(name, problem)
    return scores


def check_trees(
    trees: Any, lengths: np.ndarray, name: str = "trees"
) -> list[np.ndarray]:
    """Return the heads of the words of each sentence, which form trees."""
    check_entries(trees, lengths.size, "sentence", name)
    found = []
    for i, (entry, n) in enumerate(zip(trees, lengths.tolist(), strict=True)):
        heads = as_integers(entry, name)
        if heads.shape != (n,) or (n and heads.dtype.kind not in "iu"):
            problem = (
                f"must contain the head of each of the {n} words of sentence {i}, as "
                f"integers. Got {heads.dtype} of shape {heads.shape}."
            )
            raise ParameterError(name, problem)
        heads = heads.astype(np.intp)
        _check_tree(heads, i, name)
        found.append(heads)
    return found


def _check_tree(heads: np.ndarray, i: int, name: str) -> None:
    n = heads.size
    bad = (heads < 0) | (heads > n) | (heads == np.arange(1, n + 1))
    if bad.any():
        row = int(bad.argmax())
        hint = " Add 1 to heads that count from 0." if (heads == -1).any() else ""
        problem = (
            f"must contain heads from 0 (the root) to {n}. Words are counted from 1, "
            f"and a word cannot be its own head. Got {heads[row]} for word {row + 1} "
            f"of sentence {i}.{hint}"
        )
        raise ParameterError(name, problem)
    after = np.concatenate([[0], heads])
    for _ in range(int(n).bit_length()):
        after = after[after]
    if after.any():
        word = int(after[after > 0].min())
        problem = f"must not have cycles. Got a cycle with word {word} in sentence {i}."
        raise ParameterError(name, problem)


def check_word_spans(spans: Any, lengths: np.ndarray) -> list[list[tuple[int, int]]]:
    """Return the spans (start, stop) of each sentence."""
    name = "spans"
    check_entries(spans, lengths.size, "sentence", name, what="the spans of")
    found = []
    for i, (entry, n) in enumerate(zip(spans, lengths.tolist(), strict=True)):
        if not is_sequence(entry):
            problem = (
                "must be a list with the spans of each sentence. Got "
                f"{entry!r:.50} for sentence {i}."
            )
            raise ParameterTypeError(name, problem)
        found.append(
            [_as_span(span, n, f"span {j}", i) for j, span in enumerate(entry)]
        )
    return found


def _as_span(span: Any, n: int, which: str, i: int) -> tuple[int, int]:
    try:
        start, stop = span
    except (TypeError, ValueError):
        start, stop = None, None
    if not (is_integer(start) and is_integer(stop) and 0 <= start < stop <= n):
        problem = (
            f"must contain (start, stop) with 0 <= start < stop <= {n}, the number of "
            f"words. Got {span!r:.50} as {which} of sentence {i}."
        )
        raise ParameterError("spans", problem)
    return int(start), int(stop)
