"""Calendar periods of a column of dates."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ._count_columns import coded
from ._shared import CommandError

FREQS = ("day", "week", "month", "quarter", "year")

# More periods indicate a wrong date. EventCounter has the same limit.
_MOST_PERIODS = 12_000

_ISO = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ].*)?)?)?")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})")
_QUARTER = re.compile(r"(\d{4})-?Q([1-4])", re.IGNORECASE)
_SLASHED = re.compile(r"(\d{1,2})[/.](\d{1,2})[/.](\d{4})")

# Resolution of a date, and the resolution that each period requires.
_GRAIN = {"year": 1, "quarter": 2, "month": 3, "week": 4, "day": 4}


@dataclass
class Periods:
    """Period of each document as a number that grows by 1, and the names of periods.

    Periods without documents are counted in `number` and have a name in `labels`.
    """

    number: np.ndarray
    labels: list[str]
    freq: str

    @property
    def n_empty(self) -> int:
        """The number of periods without a document."""
        return len(self.labels) - np.unique(self.number).size


def find_periods(
    dates: np.ndarray,
    lines: np.ndarray,
    *,
    column: str,
    freq: str,
    date_format: str | None,
    where: str,
) -> Periods:
    """Return the calendar period of each date."""
    codes, texts = coded(dates)

    def place(k: int) -> str:
        return f"{where}: line {lines[int((codes == k).argmax())]}, column {column!r}"

    days = [
        _parse(text, freq, date_format, lambda k=k: place(k))  # type: ignore[misc]
        for k, text in enumerate(texts)
    ]
    numbers = np.array([_number(day, freq) for day in days], dtype=np.int64)
    first, last = int(numbers.min()), int(numbers.max())
    if last - first >= _MOST_PERIODS:
        raise CommandError(
            f"{where}: dates from {days[int(numbers.argmin())]} (line "
            f"{lines[int((codes == numbers.argmin()).argmax())]}) to "
            f"{days[int(numbers.argmax())]} (line "
            f"{lines[int((codes == numbers.argmax()).argmax())]}) are "
            f"{last - first + 1:,} periods of a {freq}. Correct the dates, or choose "
            "a longer --freq."
        )
    labels = [_label(number, freq) for number in range(first, last + 1)]
    return Periods((numbers - first)[codes], labels, freq)


def _parse(
    text: str, freq: str, date_format: str | None, place: Callable[[], str]
) -> datetime.date:
    """Return the day of a date; the first day of a month or year."""
    if date_format is not None:
        try:
            return datetime.datetime.strptime(text, date_format).date()
        except ValueError:
            raise CommandError(
                f"{place()}: must have dates as {date_format!r}. Got {text!r:.60}."
            ) from None
    found = _parts(text)
    if found is None:
        raise CommandError(f"{place()}: {_no_date(text)}")
    parts, grain = found
    if grain < _GRAIN[freq]:
        raise CommandError(
            f"{place()}: {text!r} does not say which {freq} it is. Choose a longer "
            "--freq."
        )
    try:
        return datetime.date(*(*parts, 1, 1)[:3])
    except ValueError as error:
        raise CommandError(f"{place()}: {text!r} is not a date: {error}.") from None


def _parts(text: str) -> tuple[tuple[int, ...], int] | None:
    """Return year, month and day if given, and the resolution; None if not a date."""
    text = text.strip('"')  # dates of parquet files
    found = _QUARTER.fullmatch(text)
    if found:
        return (int(found[1]), 3 * int(found[2]) - 2), _GRAIN["quarter"]
    found = _COMPACT.fullmatch(text) or _ISO.fullmatch(text)
    if not found:
        return None
    parts = tuple(int(part) for part in found.groups() if part)
    return parts, (_GRAIN["year"], _GRAIN["month"], _GRAIN["day"])[len(parts) - 1]


def _no_date(text: str) -> str:
    found = _SLASHED.fullmatch(text)
    if found:
        mark = "/" if "/" in text else "."
        day_first = mark.join(("%d", "%m", "%Y"))
        month_first = mark.join(("%m", "%d", "%Y"))
        return (
            f"{text!r} may begin with the day or with the month. Pass --date-format "
            f"{day_first} or --date-format {month_first}."
        )
    return (
        "must have dates such as 2024-05-31, 2024-05, 2024Q2 or 2024. Got "
        f"{text!r:.60}. Pass --date-format for other formats, such as %d.%m.%Y."
    )


def _number(day: datetime.date, freq: str) -> int:
    """Return the number of the period of a day; successive periods differ by 1."""
    if freq == "day":
        return day.toordinal()
    if freq == "week":  # Monday, 1 January of the year 1, is day 1
        return (day.toordinal() - 1) // 7
    in_year = {"month": 12, "quarter": 4, "year": 1}[freq]
    return day.year * in_year + (day.month - 1) * in_year // 12


def _label(number: int, freq: str) -> str:
    """Return the name of a period, as EventCounter has it."""
    if freq == "day":
        return datetime.date.fromordinal(number).isoformat()
    if freq == "week":
        year, week, _ = datetime.date.fromordinal(number * 7 + 1).isocalendar()
        return f"{year}-W{week:02d}"
    if freq == "year":
        return f"{number}"
    year, part = divmod(number, 12 if freq == "month" else 4)
    return f"{year}-{part + 1:02d}" if freq == "month" else f"{year}Q{part + 1}"
