"""Periods of documents: calendar periods, or periods that users define."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .._errors import ParameterError, ParameterTypeError
from .._periods import FREQS, MOST_PERIODS, label_of, number_of
from .._validation import is_missing, is_sequence
from ..text._documents import Document

Freq = (
    str
    | Callable[[datetime.date | None], Hashable]
    | Mapping[Hashable, Sequence[datetime.date]]
    | Sequence[datetime.date]
    | None
)

ALL = "all"

_EXPECTED = (
    f"must be one of {FREQS}, None, a callable from a date to a label, a mapping of "
    "labels to (first day, last day), or a sequence of first days in order"
)


def check_freq(freq: Any) -> None:
    """Raise an error unless `freq` defines periods."""
    if freq is None or callable(freq):
        return
    if isinstance(freq, str):
        if freq not in FREQS:
            raise ParameterError("freq", f"{_EXPECTED}. Got {freq!r}.")
    elif isinstance(freq, Mapping):
        _spans_of_mapping(freq)
    elif is_sequence(freq):
        _spans_of_days(list(freq))
    else:
        raise ParameterTypeError("freq", f"{_EXPECTED}. Got {freq!r:.80}.")


def assign_periods(
    documents: Sequence[Document], positions: Sequence[int], freq: Any
) -> tuple[list[Any], np.ndarray]:
    """Return the labels of all periods in order, and the period of each document.

    positions : indices of the documents in the argument of the user, for messages.
    """
    if freq is None:
        return [ALL], np.zeros(len(documents), dtype=np.intp)
    if callable(freq) and not isinstance(freq, Mapping):
        return _by_callable(documents, positions, freq)
    days = [_day(each, i) for each, i in zip(documents, positions, strict=True)]
    if isinstance(freq, str):
        names = [name_of(each, i) for each, i in zip(documents, positions, strict=True)]
        return _by_calendar(days, freq, names)
    is_mapping = isinstance(freq, Mapping)
    spans = _spans_of_mapping(freq) if is_mapping else _spans_of_days(list(freq))
    place = [
        _find(spans, day, each, i)
        for day, each, i in zip(days, documents, positions, strict=True)
    ]
    return [label for label, *_ in spans], np.array(place, dtype=np.intp)


def name_of(document: Document, position: int) -> str:
    """Return the name of a document in messages."""
    return f"document {position} ({document.id!r})"


def _as_day(value: Any) -> datetime.date | None:
    # pandas' missing time is a time too, and not equal to itself
    if not isinstance(value, datetime.date) or value != value:
        return None
    return value.date() if isinstance(value, datetime.datetime) else value


def _day(document: Document, position: int) -> datetime.date:
    day = _as_day(document.date)
    if day is None:
        raise ParameterError(
            "documents",
            "must have a date (datetime.date), unless freq=None. Got "
            f"{document.date!r} for {name_of(document, position)}. Documents without "
            "a date are left out by where=lambda document: document.date is not None.",
        )
    return day


def _by_calendar(
    days: list[datetime.date], freq: str, names: list[str]
) -> tuple[list[Any], np.ndarray]:
    number = np.array([number_of(day, freq) for day in days], dtype=np.intp)
    if not days:
        return [], number
    span = range(int(number.min()), int(number.max()) + 1)
    if len(span) > MOST_PERIODS:
        first, last = int(number.argmin()), int(number.argmax())
        raise ParameterError(
            "documents",
            f"must lie within {MOST_PERIODS:,} periods if freq={freq!r}. Got "
            f"{len(span):,} periods from {days[first]}, the date of {names[first]}, to "
            f"{days[last]}, the date of {names[last]}. Correct the dates, exclude "
            "documents with 'where', or pass a callable as 'freq', whose labels need "
            "not be contiguous.",
        )
    return [label_of(k, freq) for k in span], number - span.start


def period_names(periods: Sequence[Any]) -> list[str]:
    """Return a different text for each period."""
    names = [str(period) for period in periods]
    if len(set(names)) < len(names):  # such as 1 and "1"
        names = [repr(period) for period in periods]
    return names


def _by_callable(
    documents: Sequence[Document], positions: Sequence[int], freq: Callable[[Any], Any]
) -> tuple[list[Any], np.ndarray]:
    labels: list[Any] = []
    first: dict[Any, datetime.date] = {}
    for document, position in zip(documents, positions, strict=True):
        label = freq(document.date)
        if not isinstance(label, Hashable) or is_missing(label):
            raise ParameterError(
                "freq",
                "must return a hashable label for each date. Got "
                f"{label!r} for {document.date!r}, the date of "
                f"{name_of(document, position)}; 'where' leaves documents out.",
                "EventCounter",
            )
        labels.append(label)
        # labels of documents without a date are last
        day = _as_day(document.date) or datetime.date.max
        first[label] = min(first.get(label, day), day)
    order = sorted(first, key=lambda each: (first[each], str(each)))
    number = {label: k for k, label in enumerate(order)}
    return order, np.array([number[label] for label in labels], dtype=np.intp)


Span = tuple[Any, datetime.date, datetime.date]


def _spans_of_mapping(freq: Mapping[Any, Any]) -> list[Span]:
    """Return (label, first day, last day) in order."""
    spans = []
    for label, days in freq.items():
        is_pair = isinstance(days, Sequence) and len(days) == 2
        first, last = map(_as_day, days) if is_pair else (None, None)
        if first is None or last is None or last < first:
            raise ParameterError(
                "freq", f"{_EXPECTED}. Got {days!r:.80} for the label {label!r}."
            )
        spans.append((label, first, last))
    spans.sort(key=lambda span: span[1])
    for one, other in pairwise(spans):
        if other[1] <= one[2]:
            raise ParameterError(
                "freq",
                "must define periods, which must not overlap. Got "
                f"{one[0]!r} and {other[0]!r}.",
            )
    if not spans:
        raise ParameterError("freq", f"{_EXPECTED}. Got an empty mapping.")
    return spans


def _spans_of_days(days: list[Any]) -> list[Span]:
    """Return (label, first day, last day) of the periods between days."""
    first = [_as_day(day) for day in days]
    in_order = None not in first and all(
        a < b  # type: ignore[operator]
        for a, b in pairwise(first)
    )
    if len(days) < 2 or not in_order:
        raise ParameterError(
            "freq",
            f"{_EXPECTED}, with the day after the last period at the end. Got "
            f"{days!r:.80}.",
        )
    spans: list[Span] = []
    for start, stop in pairwise(first):
        assert start is not None
        assert stop is not None
        last = stop - datetime.timedelta(days=1)
        spans.append((f"{start} to {last}", start, last))
    return spans


def _find(
    spans: list[Span], day: datetime.date, document: Document, position: int
) -> int:
    for k, (_, first, last) in enumerate(spans):
        if first <= day <= last:
            return k
    raise ParameterError(
        "documents",
        f"must lie in the periods of 'freq'. Got the date {day} of "
        f"{name_of(document, position)}; 'where' leaves documents out.",
    )
