"""Scores, probabilities and names, from the forms in which harnesses write them."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np

from .._errors import ParameterError


def file_error(problem: str) -> ParameterError:
    """Return the error for the content of a file."""
    return ParameterError("path", problem)


class NoAnswersError(ParameterError):
    """The error for a file without answers, without a score, or not written whole."""

    def __init__(self, problem: str):
        super().__init__("path", problem)


# Names under which files keep the probability that an answer is right. A probability
# comes first: beside it, a confidence may measure the shape of a distribution.
CONFIDENCE = ("probability", "proba", "prob", "confidence", "certainty")

# Column of the probabilities of the options.
OF_OPTIONS = "probabilities"

# Verdicts.
YES = frozenset(["true", "t", "yes", "y", "correct", "right", "pass", "passed"])
NO = frozenset(["false", "f", "no", "n", "incorrect", "wrong", "fail", "failed"])

# The letters of inspect_ai: P is partially correct, N no answer.
LETTERS = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0}
_WORDS = dict.fromkeys(YES, 1.0) | dict.fromkeys(NO, 0.0) | LETTERS

# Labels that a message shows.
_SHOWN = 5


def as_scores(
    values: Sequence[Any],
    place: Callable[[int], str],
    what: str,
    pos_label: str | None = None,
    scale: tuple[float, float] | None = None,
) -> np.ndarray:
    """Return scores in [0, 1]; NaN for None.

    Letters and words are verdicts of the harnesses. With `pos_label`, values that are
    this label count as 1 and others as 0. With `scale`, values are grades from its
    lowest to its highest number. `place(k)` is the place of the k-th value, for
    messages.
    """
    if pos_label is not None:
        return _are_label([None if x is None else as_key(x) for x in values], pos_label)
    if scale is not None:
        return np.array(
            [_as_share(value, scale, place(k)) for k, value in enumerate(values)]
        )
    scores = np.array(
        [_as_score(value, k, place, what) for k, value in enumerate(values)]
    )
    is_outside = ~(np.isnan(scores) | ((scores >= 0) & (scores <= 1)))
    if is_outside.any():
        k = int(is_outside.argmax())
        got = float(scores[k]) if np.isfinite(scores[k]) else values[k]
        raise file_error(
            f"must contain a {what} in [0, 1] in each row. Got {got!r:.60} in "
            f"{place(k)}."
        )
    return scores


def _as_score(value: Any, k: int, place: Callable[[int], str], what: str) -> float:
    if value is None:
        return np.nan
    word = value.strip().lower() if isinstance(value, str) else ""
    if word in _WORDS:
        return _WORDS[word]
    try:
        if isinstance(value, (bool, int, float, str)):
            return as_number(word) if isinstance(value, str) else float(value)
    except OverflowError:  # of the largest integers
        return np.inf
    except ValueError:
        pass
    problem = f"must have a number or a verdict as the {what}"
    raise file_error(f"{problem}. Got {value!r:.60} in {place(k)}.")


def _are_label(values: Sequence[str | None], label: str) -> np.ndarray:
    if label not in values:
        raise no_label(label, "the score", filter(None, values))
    return np.array([np.nan if x is None else float(x == label) for x in values])


def no_label(label: str, what: str, known: Iterable[str]) -> ParameterError:
    """Return the error for a label that none of the known values is."""
    others = ", ".join(sorted(set(known))[:_SHOWN])
    return ParameterError(
        "pos_label",
        f"must be a label of {what}, which contains {others}. Got {label!r}.",
    )


def _as_share(value: Any, scale: tuple[float, float], place: str) -> float:
    """Return a grade as a share of its scale; NaN for None."""
    if value is None or value != value:
        return np.nan
    with suppress(ValueError):
        share = share_of_scale(as_number(str(value)), scale)
        if 0 <= share <= 1:
            return share
    low, high = scale
    raise file_error(
        f"must have grades from {low:g} to {high:g}. Got {value!r:.60} in {place}."
    )


def share_of_scale(grades: Any, scale: tuple[float, float]) -> Any:
    """Return grades as shares of the way from the lowest to the highest one."""
    return (grades - scale[0]) / (scale[1] - scale[0])


# Texts of missing cells in columns of numbers and of right and wrong answers. In a
# column of names they are names: NA is the code of Namibia.
_MISSING = frozenset(["", "nan", "na", "n/a", "#n/a", "null", "none", "<na>"])


def text_of(cell: Any) -> str:
    """Return a cell as text without surrounding blanks; "" for an empty cell."""
    if isinstance(cell, str):
        return cell.strip()
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, (bool, int, float, list, dict)):
        return json.dumps(cell, default=str)
    return str(cell)  # a date or a decimal number of a parquet file


def value_of(cell: Any) -> str:
    """Return a cell of numbers or verdicts as text; "" for a missing value.

    NA, null, None and the like are missing values.
    """
    text = text_of(cell)
    return "" if text.lower() in _MISSING else text


def as_number(text: str) -> float:
    """Return the number that a text contains; raise ValueError for other texts."""
    # float reads "0.1_5" as 0.15, as in the source code of Python.
    if "_" in text:
        raise ValueError(f"not a number: {text!r:.60}")
    return float(text)


def as_numbers(texts: Sequence[str]) -> np.ndarray:
    """Return the numbers of texts, as :func:`as_number` does for one of them."""
    if "_" in "".join(texts):
        raise ValueError("not all are numbers")
    return np.fromiter(map(float, texts), float, len(texts))


# Words of eight bytes have one character of a number in each. A one in each, and masks
# of numbers of two, four and eight digits.
_WIDTH = 8
_ONES = np.uint64(0x0101010101010101)
_MASKS = 0x00FF00FF00FF00FF, 0x0000FFFF0000FFFF, 0x00000000FFFFFFFF
_TENS = 10.0 ** np.arange(_WIDTH)


def decimals(
    text: bytes, start: np.ndarray, stop: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return parts of a text as numbers, and which are others.

    Others are empty, have more than eight characters, or are not digits with at most
    one point. The digits are an exact integer, and its quotient by an exact power of
    ten is rounded once, as float does.
    """
    width = stop - start
    is_other = (width > _WIDTH) | (width == 0)
    # A word begins at each byte of the text; its lowest byte is its first character.
    words = np.ndarray(len(text), "<u8", text + bytes(_WIDTH), strides=(1,))
    n_empty = np.clip(_WIDTH - width, 0, _WIDTH - 1).astype(np.uint64)
    word = (words[start] ^ (_ONES * ord("0"))) << (8 * n_empty)
    # The lowest of the bytes that are 0 is found exactly: the first point.
    mark = ord(".") ^ ord("0")
    rest = word ^ (_ONES * mark)
    point = ((rest - _ONES) & ~rest & (_ONES << 7)) >> 7
    point &= ~point + 1  # its lowest bit
    before = point - 1  # all bits below it, or all bits without a point
    has_point = point > 0
    digits = (word & before) << (8 * has_point.astype(np.uint64))
    digits |= (word & ~before) - point * mark
    # A byte of at least 10 reaches its highest bit.
    is_other |= (((digits + _ONES * (128 - 10)) | digits) & (_ONES << 7)) > 0
    is_other |= width == has_point  # a point alone
    # Neighbouring digits become one number, then neighbouring numbers of two do.
    for k, masked in enumerate(_MASKS):
        digits = (digits * 10**2**k + (digits >> 8 * 2**k)) & masked
    n_after = np.maximum(_WIDTH - 1 - np.bitwise_count(before).astype(int) // 8, 0)
    return digits / _TENS[n_after], is_other


def as_confidence(value: Any, place: str | None, top: int = 1) -> float:
    """Return a stated confidence, up to `top`, as a probability; NaN if it is missing.

    A text may be a number or, with a percent sign, a percentage. Other texts are an
    error, or missing if no place is given.
    """
    text = "" if value is None else str(value).strip()
    try:
        number = as_number(text.removesuffix("%") or "nan")
    except ValueError:
        if place is None:
            return np.nan
        raise file_error(
            "must state each confidence as a percentage (90%) or a number from 0 to "
            f"{top}. Got {value!r:.60} in {place}."
        ) from None
    return number / (100 if text.endswith("%") else top)


def flat(row: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return the entries of an object; nested entries have dotted names."""
    if not before and dict not in set(map(type, row.values())):
        return dict(row)
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            found |= flat(value, f"{before}{name}.")
        # The probabilities of options are one cell, of which the largest is read.
        if not isinstance(value, dict) or name.lower() == OF_OPTIONS:
            found[f"{before}{name}"] = value
    return found


def as_dict(value: Any) -> dict[str, Any]:
    """Return a mapping unchanged, and an empty dict for anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return a list unchanged, and an empty list for anything else."""
    return value if isinstance(value, list) else []


def text_or_none(value: Any) -> str | None:
    """Return a text unchanged, and None for anything else."""
    return value if isinstance(value, str) else None


def as_key(value: Any) -> str:
    """Return a text unchanged, and any other JSON value as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, default=str)


def scalar_fields(values: Any) -> dict[str, str]:
    """Return the entries of a mapping that name a group: short texts and integers."""
    return {
        str(name): str(value)
        for name, value in as_dict(values).items()
        if isinstance(value, (str, int)) and len(str(value)) <= 100
    }


def columns_of(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return the columns of rows, with None for an entry that a row does not have."""
    first = list(rows[0]) if len(set(map(len, rows))) == 1 else []
    with suppress(KeyError):
        if first:  # as many entries, of these names
            return {name: list(map(itemgetter(name), rows)) for name in first}
    names = dict.fromkeys(chain.from_iterable(rows))
    return {name: [row.get(name) for row in rows] for name in names}


# The note of a reader whose probabilities are a softmax; it may say of what.
SOFTMAX = "Probabilities are the softmax of the options' log-likelihoods{}."
MINUS = ", minus those without the question"


def softmaxes(*ways: np.ndarray) -> list[np.ndarray]:
    """Return the softmax of each array of log-values, if it is defined.

    A value of -inf is a probability of 0. The softmax is not defined if a value is NaN
    or infinite, or if all are -inf.
    """
    defined = (values for values in ways if np.isfinite(values.max()))
    weights = (np.exp(values - values.max()) for values in defined)
    return [each / each.sum() for each in weights]


def choose(
    wanted: str | None, names: Iterable[str], *, option: str, what: str
) -> str | None:
    """Return the name that the user chose, or the only name.

    `option` is the parameter that selects the name, `what` is the noun for a message.
    None is returned if there are no names and none is wanted.
    """
    found = list(dict.fromkeys(names))
    shown = repr(found) if sum(map(len, found)) < 1000 else reprlib.repr(found)
    if wanted is not None:
        if wanted not in found:
            raise ParameterError(
                option,
                f"must be one of the {what}s {shown} of the file. Got {wanted!r}.",
            )
        return wanted
    if len(found) > 1:
        raise ParameterError(
            option,
            f"must name one of the {what}s of the file, which has several: {shown}. "
            "Got None.",
        )
    return found[0] if found else None


def listed(names: Iterable[str], most: int = 10) -> str:
    """Return the first names of a list, and the number of the others."""
    every = list(names)
    more = len(every) - most
    return ", ".join(every[:most]) + f" and {more} more" * (more > 0)


def none_of(name: str, names: Sequence[str]) -> str:
    """Return the end of an error about a name that is none of the known ones."""
    lower = {known.lower(): known for known in names}
    near = get_close_matches(name.strip().lower(), lower, n=1, cutoff=0.8)
    hint = f" Did you mean {lower[near[0]]!r}?" if near else ""
    return f"Got {name!r}, which is none of {', '.join(names)}.{hint}"


def numbered_repeats(questions: np.ndarray) -> np.ndarray:
    """Return the number of earlier rows of the same question, for each row."""
    repeats = np.zeros(questions.size, dtype=np.int64)
    # Hashes need less memory than a table of millions of names.
    hashes = np.fromiter(map(hash, questions), np.int64, questions.size)
    hashes.sort()
    if (hashes[1:] == hashes[:-1]).any():
        seen: dict[Any, int] = {}
        for k, name in enumerate(questions.tolist()):
            repeats[k] = n = seen.get(name, 0)
            seen[name] = n + 1
    return repeats
