"""Calendar periods, and the periods over which a trend is computed."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._errors import ParameterError, parameter, warn
from ._validation import is_integer

__all__ = [
    "EMPTY_PERIODS",
    "FREQS",
    "MOST_PERIODS",
    "label_of",
    "number_of",
    "parse_date",
    "slope_weights",
    "times_of",
    "times_of_trend",
]

FREQS = ("day", "week", "month", "quarter", "year")

# Maximum number of calendar periods. More periods are due to a wrong date.
MOST_PERIODS = 12_000

# What a period without documents is in a trend: a count of 0, or not a part of it.
EMPTY_PERIODS = ("zero", "unobserved")

_IN_YEAR = {"month": 12, "quarter": 4, "year": 1}

_ISO = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ].*)?)?)?")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})")
_QUARTER = re.compile(r"(\d{4})-?Q([1-4])", re.IGNORECASE)
_WEEK = re.compile(r"(\d{4})-?W(\d{2})", re.IGNORECASE)


# Calendar periods

_UNOBSERVED = "empty_periods='unobserved'"


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
            days = [
                datetime.date.fromisocalendar(int(week[1]), int(week[2]), 1)
                for week in weeks
                if week
            ]
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
    for freq in ("year", "quarter", "month"):
        for step in (-1, 1):
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
            f"or pass {parameter('_unobserved', _UNOBSERVED)}.",
        )
    n_empty = n - times.size
    if n_empty > 0:
        what = "period without documents counts"
        if n_empty > 1:
            what = "periods without documents count"
        warn(
            f"{n_empty:,} {what} as 0 in the trend. If documents of such periods were "
            f"not collected, pass {parameter('_unobserved', _UNOBSERVED)}."
        )
    return times[0] + np.arange(n) if known is None else known


def slope_weights(time: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the weights with which counts at `time` add up to their slope.

    The slope is the least-squares slope of the counts of all periods on their `times`.
    """
    middle = times.mean()
    return (time - middle) / ((times - middle) ** 2).sum()
