"""Calendar periods of a column of dates."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._periods import MOST_PERIODS, label_of, number_of, parse_date
from ._count_columns import coded
from ._shared import CommandError

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
    numbers = np.array([number_of(day, freq) for day in days], dtype=np.int64)
    first, last = int(numbers.min()), int(numbers.max())
    if last - first >= MOST_PERIODS:
        raise CommandError(
            f"{where}: dates from {days[int(numbers.argmin())]} (line "
            f"{lines[int((codes == numbers.argmin()).argmax())]}) to "
            f"{days[int(numbers.argmax())]} (line "
            f"{lines[int((codes == numbers.argmax()).argmax())]}) are "
            f"{last - first + 1:,} periods of a {freq}. Correct the dates, or choose "
            "a longer --freq."
        )
    labels = [label_of(number, freq) for number in range(first, last + 1)]
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
    found = parse_date(text.strip('"'))  # quoted in parquet files
    if found is None:
        raise CommandError(f"{place()}: {_no_date(text)}")
    parts, resolution = found
    if _GRAIN[resolution] < _GRAIN[freq]:
        raise CommandError(
            f"{place()}: {text!r} does not say which {freq} it is. Choose a longer "
            "--freq."
        )
    try:
        return datetime.date(*parts)
    except ValueError as error:
        raise CommandError(f"{place()}: {text!r} is not a date: {error}.") from None


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
