"""Calendar periods, periods that users define, and trends over periods."""

from __future__ import annotations

import datetime
import re
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np

from ._errors import ParameterError, ParameterTypeError, parameter, warn
from ._validation import is_integer, is_missing, is_sequence

FREQS = ("day", "week", "month", "quarter", "year")

# Maximum number of calendar periods. More periods are due to a wrong date.
MOST_PERIODS = 12_000

# What a period without documents is in a trend: a count of 0, or not a part of it.
EMPTY_PERIODS = ("zero", "unobserved")

_IN_YEAR = {"month": 12, "quarter": 4, "year": 1}

# A time of day and a zone may follow a day.
_TIME = (
    r"\d{1,2}(?::?\d{2}(?::?\d{2}(?:[.,]\d+)?)?)?\s*(?:Z|UTC|[+-]\d{2}(?::?\d{2})?)?"
)
_ISO = re.compile(rf"(\d{{4}})(?:-(\d{{1,2}})(?:-(\d{{1,2}})(?:[T ]\s*{_TIME})?)?)?")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})")
_QUARTER = re.compile(r"(\d{4})-?Q([1-4])", re.IGNORECASE)
_WEEK = re.compile(r"(\d{4})-?W(\d{2})", re.IGNORECASE)


_DAYS_IN_MONTH = 365.25 / 12

# Share of a period that may be missing, such as a holiday at the beginning of a year.
_COMPLETE = 0.01

_UNOBSERVED = parameter("_unobserved", "empty_periods='unobserved'")

# Calendar periods


def number_of(day: datetime.date, freq: str) -> int:
    """Return the number of the period of a day; successive periods differ by 1."""
    if freq == "day":
        return day.toordinal()
    if freq == "week":  # Monday, 1 January of the year 1, is day 1
        return (day.toordinal() - 1) // 7
    in_year = _IN_YEAR[freq]
    return day.year * in_year + (day.month - 1) * in_year // 12


def label_of(number: int, freq: str) -> str:
    """Return the name of a period."""
    if freq == "day":
        return datetime.date.fromordinal(number).isoformat()
    if freq == "week":
        year, week, _ = datetime.date.fromordinal(number * 7 + 1).isocalendar()
        return f"{year}-W{week:02d}"
    year, part = divmod(number, _IN_YEAR[freq])
    return {
        "year": f"{year}",
        "quarter": f"{year}Q{part + 1}",
        "month": f"{year}-{part + 1:02d}",
    }[freq]


def parse_date(text: str) -> tuple[tuple[int, int, int], str] | None:
    """Return year, month and day of a text, and its resolution; None if not a date.

    The month and the day are 1 if the resolution ('year', 'quarter', 'month' or 'day')
    leaves them open. They may be out of range.
    """
    found = _QUARTER.fullmatch(text)
    if found:
        return (int(found[1]), 3 * int(found[2]) - 2, 1), "quarter"
    found = _COMPACT.fullmatch(text) or _ISO.fullmatch(text)
    if not found:
        return None
    parts = [int(part) for part in found.groups() if part]
    resolution = ("year", "month", "day")[len(parts) - 1]
    year, month, day = (*parts, 1, 1)[:3]
    return (year, month, day), resolution


# Periods of documents

Freq = (
    str
    | Callable[[datetime.date | None], Hashable]
    | Mapping[Hashable, Sequence[datetime.date]]
    | Sequence[datetime.date]
    | None
)

_EXPECTED = (
    f"must be one of {FREQS}, None, a callable from a date to a label, a mapping of "
    "labels to (first day, last day), or a sequence of first days in order"
)


def check_freq(freq: Any) -> None:
    """Raise an error unless `freq` defines periods."""
    if isinstance(freq, str):
        if freq not in FREQS:
            raise ParameterError("freq", f"{_EXPECTED}. Got {freq!r}.")
    elif freq is not None and not callable(freq):
        _spans(freq)


def assign_periods(
    dates: Sequence[Any], freq: Any, name: Callable[[int], str]
) -> tuple[list[Any], np.ndarray]:
    """Return the labels of all periods in order, and the period of each document.

    dates : dates of the documents.
    freq : definition of the periods, as `check_freq` accepts it.
    name : function from the index of a document to its name in messages.
    """
    if freq is None:
        return ["all"], np.zeros(len(dates), dtype=np.intp)
    if callable(freq) and not isinstance(freq, Mapping):
        return _by_callable(dates, freq, name)
    days = []
    for i, date in enumerate(dates):
        day = _as_day(date)
        if day is None:
            raise ParameterError(
                "documents",
                f"must have a date (datetime.date), unless freq=None. Got {date!r} for "
                f"{name(i)}. Documents without a date are left out by "
                "where=lambda document: document.date is not None.",
            )
        days.append(day)
    if isinstance(freq, str):
        return _by_calendar(days, freq, name)
    spans = _spans(freq)
    starts = [first for _, first, _ in spans]
    place = [bisect_right(starts, day) - 1 for day in days]
    for i, (day, k) in enumerate(zip(days, place, strict=True)):
        if k < 0 or day > spans[k][2]:
            raise ParameterError(
                "documents",
                f"must lie in the periods of 'freq'. Got the date {day} of {name(i)}; "
                "'where' leaves documents out.",
            )
    return [label for label, *_ in spans], np.array(place, dtype=np.intp)


def _as_day(value: Any) -> datetime.date | None:
    # pandas' missing time is a time too, and not equal to itself
    if not isinstance(value, datetime.date) or value != value:
        return None
    return value.date() if isinstance(value, datetime.datetime) else value


class TooManyPeriods(Exception):
    """Days are in more than `MOST_PERIODS` periods; `first` and `last` are indices."""

    def __init__(self, first: int, last: int, n: int):
        super().__init__(first, last, n)
        self.first, self.last, self.n = first, last, n


def place_in_calendar(
    days: Sequence[datetime.date], freq: str
) -> tuple[list[str], np.ndarray]:
    """Return the names of the periods from the first to the last day, and their days.

    The array has the index of the period of each day. Periods without a day have a
    name too.
    """
    number = np.array([number_of(day, freq) for day in days], dtype=np.intp)
    if not number.size:
        return [], number
    span = range(int(number.min()), int(number.max()) + 1)
    if len(span) > MOST_PERIODS:
        raise TooManyPeriods(int(number.argmin()), int(number.argmax()), len(span))
    return [label_of(k, freq) for k in span], number - span.start


def _by_calendar(
    days: list[datetime.date], freq: str, name: Callable[[int], str]
) -> tuple[list[Any], np.ndarray]:
    try:
        return place_in_calendar(days, freq)
    except TooManyPeriods as error:
        first, last = error.first, error.last
        raise ParameterError(
            "documents",
            f"must lie within {MOST_PERIODS:,} periods if freq={freq!r}. Got "
            f"{error.n:,} periods from {days[first]}, the date of {name(first)}, to "
            f"{days[last]}, the date of {name(last)}. Correct the dates, exclude "
            "documents with 'where', or pass a callable as 'freq', whose labels need "
            "not be contiguous.",
        ) from None


def _by_callable(
    dates: Sequence[Any], freq: Callable[[Any], Any], name: Callable[[int], str]
) -> tuple[list[Any], np.ndarray]:
    labels: list[Any] = []
    first: dict[Any, datetime.date] = {}
    for i, date in enumerate(dates):
        label = freq(date)
        if not isinstance(label, Hashable) or is_missing(label):
            raise ParameterError(
                "freq",
                f"must return a hashable label for each date. Got {label!r} for "
                f"{date!r}, the date of {name(i)}; 'where' leaves documents out.",
                "EventCounter",
            )
        labels.append(label)
        # labels of documents without a date are last
        day = _as_day(date) or datetime.date.max
        first[label] = min(first.get(label, day), day)
    order = sorted(first, key=lambda each: (first[each], str(each)))
    number = {label: k for k, label in enumerate(order)}
    return order, np.array([number[label] for label in labels], dtype=np.intp)


Span = tuple[Any, datetime.date, datetime.date]


def _spans(freq: Any) -> list[Span]:
    """Return (label, first day, last day) of each period in order."""
    if isinstance(freq, Mapping):
        return _spans_of_mapping(freq)
    if not is_sequence(freq):
        raise ParameterTypeError("freq", f"{_EXPECTED}. Got {freq!r:.80}.")
    days = list(freq)
    first = [day for day in map(_as_day, days) if day is not None]
    in_order = len(first) == len(days) and all(a < b for a, b in pairwise(first))
    if len(days) < 2 or not in_order:
        raise ParameterError(
            "freq",
            f"{_EXPECTED}, with the day after the last period at the end. Got "
            f"{days!r:.80}.",
        )
    day = datetime.timedelta(days=1)
    spans = [(start, stop - day) for start, stop in pairwise(first)]
    return [(f"{start} to {last}", start, last) for start, last in spans]


def _spans_of_mapping(freq: Mapping[Any, Any]) -> list[Span]:
    spans = []
    for label, days in freq.items():
        is_pair = isinstance(days, Sequence) and len(days) == 2
        first, last = map(_as_day, days) if is_pair else (None, None)
        if first is None or last is None or last < first:
            problem = f"{_EXPECTED}. Got {days!r:.80} for the label {label!r}."
            raise ParameterError("freq", problem)
        spans.append((label, first, last))
    spans.sort(key=lambda span: span[1])
    for one, other in pairwise(spans):
        if other[1] <= one[2]:
            problem = "must define periods, which must not overlap."
            raise ParameterError("freq", f"{problem} Got {one[0]!r} and {other[0]!r}.")
    if not spans:
        raise ParameterError("freq", f"{_EXPECTED}. Got an empty mapping.")
    return spans


def months_of(dates: Iterable[Any], n_periods: int, freq: Any) -> np.ndarray:
    """Return the number of months of each period in which documents could be.

    The documents of a corpus may begin and end within a period. The days before the
    first and after the last document do not count if other periods have documents in
    them: documents from May on are 8 months of 1988, but documents of each first of May
    stand for years. Full periods of one kind have the same length. Single days are
    complete, and so are periods of a callable, whose lengths are unknown: each is 1.

    The days of observation are not known, but estimated from the documents. On average,
    random days lie as far from the ends of their range as from each other. The range is
    therefore extended by the mean number of days without documents between two days
    with documents [1]_. A length is too short if documents are rarer near the end than
    elsewhere, and too long if they are more frequent. Intervals do not include this
    error. A period is complete if at most 1% of it is missing, or at most twice this
    mean number of days, which 5% of random days exceed.

    dates : dates of the documents. Dates may stand for months, quarters or years, which
        then take the place of days.
    freq : definition of the periods, as `check_freq` accepts it.

    .. [1] L. A. Goodman (1952). "Serial number analysis". Journal of the American
       Statistical Association 47.
    """
    if isinstance(freq, Mapping) or is_sequence(freq):
        spans = [(last - first).days + 1 for _, first, last in _spans(freq)]
        return np.array(spans) / _DAYS_IN_MONTH
    days = sorted({day for day in map(_as_day, dates) if day is not None})
    if freq not in ("week", *_IN_YEAR) or not days:
        return np.ones(n_periods)
    full = 12 / _IN_YEAR[freq] if freq in _IN_YEAR else 7 / _DAYS_IN_MONTH
    found = np.full(n_periods, full)
    unit = _longest_period(days)
    unit = unit if unit in _IN_YEAR else "day"
    if _IN_YEAR.get(unit, 365) <= _IN_YEAR.get(freq, 52):
        return found
    number, period = (
        np.array([number_of(day, each) for day in days]) for each in (unit, freq)
    )
    start, stop = (
        np.array([_first_unit(k, freq, unit) for k in (period + step).tolist()])
        for step in (0, 1)
    )
    between = max(np.ptp(number) / max(np.unique(number).size - 1, 1) - 1, 0)
    for end, rest in ((0, number - start), (-1, stop - 1 - number)):
        missing = rest[end] - between
        size = stop[end] - start[end]
        if rest.min() < missing > max(_COMPLETE * size, 2 * between):
            found[end] -= full * missing / size
    return found


def _first_unit(number: int, freq: str, unit: str) -> int:
    """Return the number of the first day, month or quarter of a period."""
    if unit != "day":
        return number * (_IN_YEAR[unit] // _IN_YEAR[freq])
    if freq == "week":
        return number * 7 + 1
    year, part = divmod(number, _IN_YEAR[freq])
    if year > datetime.MAXYEAR:
        return datetime.date.max.toordinal() + 1
    return datetime.date(year, part * 12 // _IN_YEAR[freq] + 1, 1).toordinal()


def full_over_observed(months: np.ndarray) -> np.ndarray:
    """Return the factor that scales the count of each period to a full one."""
    return months.max(initial=0) / months


def partial_in_words(labels: Sequence[Any], months: np.ndarray) -> str:
    """Return which periods are partial, such as '1988: 8 of 12 months', or ''."""
    full = months.max(initial=0)
    size, unit = (1.0, "months") if full > 2 else (_DAYS_IN_MONTH, "days")
    return "; ".join(
        f"{label}: {n * size:.3g} of {full * size:.3g} {unit}"
        for label, n in zip(labels, months.tolist(), strict=True)
        if n < full
    )


def period_names(periods: Sequence[Any]) -> list[str]:
    """Return a different text for each period."""
    names = [str(period) for period in periods]
    if len(set(names)) < len(names):  # such as 1 and "1"
        names = [repr(period) for period in periods]
    return names


# Trends


def times_of(labels: Sequence[Any] | np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the times of periods, and whether periods may be missing between them.

    labels : distinct labels of periods, in order.

    Integers are their own times. Dates and texts such as "1990", "1990Q1", "1990-05",
    "1990-W07" and "1990-05-31" are numbered by the calendar. Between such labels,
    periods may be missing. Other numbers are times without a unit, and other labels are
    one unit of time apart.
    """
    values = [
        label.item() if isinstance(label, (np.integer, np.floating)) else label
        for label in labels
    ]
    if all(map(is_integer, values)):
        return np.array(values, dtype=np.float64), True
    if all(isinstance(v, float) for v in values):
        times = np.array(values)
        return times, bool((times % 1 == 0).all())
    numbers = _calendar_numbers([str(v) for v in labels])
    if numbers is None:
        return np.arange(float(len(values))), False
    return np.array(numbers, dtype=np.float64), True


def _calendar_numbers(texts: list[str]) -> list[int] | None:
    """Return the calendar numbers of labels of one resolution, or None."""
    weeks = [_WEEK.fullmatch(text) for text in texts]
    try:
        if all(weeks):
            parts = [week.groups() for week in weeks if week]
            days = [datetime.date.fromisocalendar(int(y), int(w), 1) for y, w in parts]
            return [number_of(day, "week") for day in days]
        found = [each for each in map(parse_date, texts) if each is not None]
        days = [datetime.date(*parts) for parts, _ in found]
    except ValueError:  # such as 1990-13
        return None
    freqs = {freq for _, freq in found}
    if len(found) < len(texts) or len(freqs) != 1:
        return None
    (freq,) = freqs
    if freq == "day":
        freq = _longest_period(days)
    return [number_of(day, freq) for day in days]


def _longest_period(days: list[datetime.date]) -> str:
    """Return the longest period of which all days are the first, or all the last.

    Dates often stand for months, quarters or years. Days of one weekday stand for
    weeks.
    """
    for freq, step in product(("year", "quarter", "month"), (-1, 1)):
        if all(_ends(day, freq, step) for day in days):
            return freq
    return "week" if len({day.weekday() for day in days}) == 1 else "day"


def _ends(day: datetime.date, freq: str, step: int) -> bool:
    """Return whether the next day (or the day before) is in another period."""
    try:
        other = day + datetime.timedelta(days=step)
    except OverflowError:  # the first or the last date of all
        return True
    return number_of(other, freq) != number_of(day, freq)


def times_of_trend(
    times: np.ndarray, known: np.ndarray | None, empty: str
) -> np.ndarray:
    """Return the times of all periods that enter a trend.

    times : times of the periods with documents.
    known : times of all periods. If None, these are all whole numbers between the first
        and the last time. But if all steps between the times are equal, such as four
        years between elections, no period is missing.
    empty : what a period without documents is, one of `EMPTY_PERIODS`.
    """
    times = np.unique(times)
    if times.size < 2:
        problem = f"must have at least two periods for a trend. Got {times.size}."
        raise ParameterError("periods", problem)
    is_regular = known is None and np.ptp(np.diff(times)) == 0
    if is_regular or empty == "unobserved":
        return times
    n = int(times[-1] - times[0]) + 1 if known is None else known.size
    if n > MOST_PERIODS and known is None:
        raise ParameterError(
            "periods",
            f"must lie within {MOST_PERIODS:,} periods for a trend, because periods "
            f"without documents count as 0. Got {n:,} periods. Correct the periods, "
            f"or pass {_UNOBSERVED}.",
        )
    n_empty = n - times.size
    if n_empty > 0:
        s, counts = ("", "counts") if n_empty == 1 else ("s", "count")
        warn(
            f"{n_empty:,} period{s} without documents {counts} as 0 in the trend. If "
            f"documents of such periods were not collected, pass {_UNOBSERVED}."
        )
    return times[0] + np.arange(n) if known is None else known


def trend_weights(labels: Any, place: np.ndarray, empty: str) -> np.ndarray:
    """Return the weights with which documents add up to the trend of their counts.

    labels : distinct labels of periods, in order.
    place : period of each document, as an index into `labels`.
    empty : what a period without documents is, one of `EMPTY_PERIODS`.
    """
    times, may_be_missing = times_of(labels)
    # Labels that are not on a calendar define all periods.
    known = None if may_be_missing else times
    return slope_weights(times[place], times_of_trend(times[place], known, empty))


def slope_weights(time: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the weights with which counts at `time` add up to their slope.

    The slope is the least-squares slope of the counts of all periods on their `times`.
    """
    middle = times.mean()
    return (time - middle) / ((times - middle) ** 2).sum()
