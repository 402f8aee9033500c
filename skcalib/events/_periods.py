"""Periods of documents: calendar ones, or the user's own."""

from __future__ import annotations

import datetime
from collections.abc import (
    Callable,
    Hashable,
    Mapping,
    Sequence,
)
from itertools import pairwise
from typing import Any

import numpy as np

from .._validation import is_missing, is_sequence
from ..documents import Document

CALENDAR = {"month": 12, "quarter": 4, "year": 1}
ALL = "all"

CALLER = "EventCounter"
_EXPECTED = (
    f"The 'freq' parameter of {CALLER} must be 'month', 'quarter', 'year', None, a "
    "callable from a date to a label, a mapping of labels to (first day, last day), or "
    "a sequence of first days in order"
)


def check_freq(freq: Any) -> None:
    """Refuse what makes no periods."""
    if freq is None or callable(freq):
        return
    if isinstance(freq, str):
        if freq not in CALENDAR:
            raise ValueError(f"{_EXPECTED}. Got {freq!r}.")
    elif isinstance(freq, Mapping):
        _spans_of_mapping(freq)
    elif is_sequence(freq):
        _spans_of_days(list(freq))
    else:
        raise TypeError(f"{_EXPECTED}. Got {freq!r:.80}.")


def assign_periods(
    documents: Sequence[Document], positions: Sequence[int], freq: Any
) -> tuple[list[Any], np.ndarray]:
    """Return the labels of all periods in order, and the period of each document.

    positions : places of the documents among those of the user, for messages.
    """
    if freq is None:
        return [ALL], np.zeros(len(documents), dtype=np.intp)
    if callable(freq) and not isinstance(freq, Mapping):
        return _by_callable(documents, positions, freq)
    days = [_day(each, i) for each, i in zip(documents, positions, strict=True)]
    if isinstance(freq, str):
        return _by_calendar(days, CALENDAR[freq])
    is_mapping = isinstance(freq, Mapping)
    spans = _spans_of_mapping(freq) if is_mapping else _spans_of_days(list(freq))
    place = [
        _find(spans, day, each, i)
        for day, each, i in zip(days, documents, positions, strict=True)
    ]
    return [label for label, *_ in spans], np.array(place, dtype=np.intp)


def name_of(document: Document, position: int) -> str:
    """Return how a message calls a document."""
    return f"document {position} ({document.id!r})"


def _as_day(value: Any) -> datetime.date | None:
    # pandas' missing time is a time too, and not equal to itself
    if not isinstance(value, datetime.date) or value != value:
        return None
    return value.date() if isinstance(value, datetime.datetime) else value


def _day(document: Document, position: int) -> datetime.date:
    day = _as_day(document.date)
    if day is None:
        raise ValueError(
            f"The documents of {CALLER}.count must have a date (datetime.date), unless "
            f"freq=None. Got {document.date!r} for {name_of(document, position)}."
        )
    return day


def _by_calendar(
    days: list[datetime.date], in_year: int
) -> tuple[list[Any], np.ndarray]:
    months = 12 // in_year
    number = np.array(
        [day.year * in_year + (day.month - 1) // months for day in days], dtype=np.intp
    )
    if not days:
        return [], number
    span = range(int(number.min()), int(number.max()) + 1)
    return [_label(k, in_year) for k in span], number - span.start


def _label(number: int, in_year: int) -> str:
    year, part = divmod(number, in_year)
    return {1: f"{year}", 4: f"{year}Q{part + 1}", 12: f"{year}-{part + 1:02d}"}[
        in_year
    ]


def _by_callable(
    documents: Sequence[Document],
    positions: Sequence[int],
    freq: Callable[[Any], Any],
) -> tuple[list[Any], np.ndarray]:
    labels: list[Any] = []
    first: dict[Any, datetime.date] = {}
    for document, position in zip(documents, positions, strict=True):
        label = freq(document.date)
        if not isinstance(label, Hashable) or is_missing(label):
            raise ValueError(
                f"The 'freq' parameter of {CALLER} must give each date a label, which "
                f"can be hashed. Got {label!r} for {document.date!r}, the date of "
                f"{name_of(document, position)}; 'where' leaves documents out."
            )
        labels.append(label)
        # those without a date come last
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
            raise ValueError(f"{_EXPECTED}. Got {days!r:.80} for the label {label!r}.")
        spans.append((label, first, last))
    spans.sort(key=lambda span: span[1])
    for one, other in pairwise(spans):
        if other[1] <= one[2]:
            raise ValueError(
                f"The periods of the 'freq' parameter of {CALLER} must not overlap. "
                f"Got {one[0]!r} and {other[0]!r}."
            )
    if not spans:
        raise ValueError(f"{_EXPECTED}. Got an empty mapping.")
    return spans


def _spans_of_days(days: list[Any]) -> list[Span]:
    """Return (label, first day, last day) of the periods between days."""
    first = [_as_day(day) for day in days]
    in_order = None not in first and all(
        a < b  # type: ignore[operator]
        for a, b in pairwise(first)
    )
    if len(days) < 2 or not in_order:
        raise ValueError(
            f"{_EXPECTED}, the last one behind the last period. Got {days!r:.80}."
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
    raise ValueError(
        f"The documents of {CALLER}.count must lie in the periods of 'freq'. Got the "
        f"date {day} of {name_of(document, position)}; 'where' leaves documents out."
    )
