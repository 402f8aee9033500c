"""Ragged arrays, and results as a dict, a DataFrame or an HTML table."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields
from html import escape
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

# Rows that a notebook shows at the start and at the end of a long table.
_N_SHOWN = 5

# A lower end between 0 and this value means that the interval is open at 0.
_OPEN = 1e-15

# Smaller p-values are not shown: they may have underflowed.
_LEAST_P_VALUE = 1e-300


def is_open(low: float) -> bool:
    """Return whether an interval with this lower end excludes nothing but 0."""
    return 0 < low < _OPEN


def ends_text(low: float, high: float, digits: str) -> str:
    """Return both ends of an interval as text, "(0" if it is open at 0."""
    start = "(0" if is_open(low) else f"[{low:{digits}}"
    return f"{start}, {high:{digits}}]"


def p_text(p: float, digits: str = ".3g", *, before: str = "") -> str:
    """Return a p-value as text, "< 1e-300" if it is smaller than that.

    `before` is the text before the number, such as "p = ". Its equals sign is left out
    before "<".
    """
    if p < _LEAST_P_VALUE:
        return f"{before.rstrip(' =')} < {_LEAST_P_VALUE:g}".lstrip()
    return f"{before}{p:{digits}}"


def object_array(entries: Sequence[Any]) -> np.ndarray:
    """Return a 1-D object array, even if all entries have the same length."""
    array = np.empty(len(entries), dtype=object)
    for i, entry in enumerate(entries):
        array[i] = entry
    return array


def as_frame(columns: dict[str, Any], *, method: str) -> Any:
    """Return the columns as a DataFrame of pandas, or else of polars.

    `method` names the public method.
    """
    with suppress(ImportError):
        return import_module("pandas").DataFrame(columns)
    try:
        # A column may contain numbers and None, or names of several types.
        return import_module("polars").DataFrame(columns, strict=False)
    except ImportError as error:
        raise ImportError(
            f"{method} returns a DataFrame of pandas or polars, and neither is "
            "installed. Install one with `pip install pandas`, or use to_dict()."
        ) from error


class Result:
    """Base of results: numbers as a dict, as a DataFrame, and as a table in notebooks.

    A subclass is a dataclass, whose fields are its numbers; those that begin with an
    underscore are left out. A table names its columns in `_COLUMNS`, separated by
    blanks (attributes that are None are left out), or overrides `_columns`.
    """

    _COLUMNS: ClassVar[str] = ""

    def _named_columns(self) -> dict[str, Any]:
        columns = {name: getattr(self, name) for name in self._COLUMNS.split()}
        return {name: each for name, each in columns.items() if each is not None}

    def _columns(self) -> dict[str, Any] | None:
        """Return the columns of the table; None if the result is not a table."""
        return self._named_columns() or None

    def _summary(self, start: str, names: str) -> str:
        """Return a text like a call: the class, `start`, and attributes by name.

        `names` are separated by blanks. A name may have a format, as in "low:.4f".
        Attributes that are None are left out.
        """
        texts = [start] if start else []
        for name, colon, digits in (each.partition(":") for each in names.split()):
            value = getattr(self, name)
            if value is not None:
                text = f"{value:{digits}}" if colon else repr(value)
                texts.append(f"{name}={text}")
        return f"{type(self).__name__}({', '.join(texts)})"

    def _in_words(self) -> Sequence[str]:
        """Return sentences that explain the numbers, for notebooks."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as a dict, arrays as lists."""
        columns = self._columns()
        if columns is None or self._COLUMNS:
            names = [f.name for f in fields(self) if not f.name.startswith("_")]  # type: ignore[arg-type]
            others = [name for name in names if name not in self._COLUMNS.split()]
            columns = self._named_columns() | {n: getattr(self, n) for n in others}
        return {name: plain(value) for name, value in columns.items()}

    def frame(self) -> Any:
        """Return a DataFrame; it has one row if the result is not a table.

        It is a pandas DataFrame, or a polars DataFrame if pandas is not installed.
        """
        columns = self._columns()
        if columns is None:
            columns = {name: [value] for name, value in self.to_dict().items()}
        return as_frame(columns, method=f"{type(self).__name__}.frame")

    def _repr_html_(self) -> str:
        columns = self._columns()
        if columns is not None:
            table = _table(repr(self), list(columns), *_rows(columns))
        else:
            found = self.to_dict().items()
            rows = [[name, _cell(v, name)] for name, v in found if v is not None]
            table = _table(type(self).__name__, [], rows, len(rows))
        words = "".join(f"<p>{escape(line)}</p>" for line in self._in_words())
        return f"<div>{table}{words}</div>"


def contains_zero(low: float, high: float) -> str:
    """Return the end of a sentence about an interval: whether it contains 0."""
    return "contains 0" if low <= 0 <= high else "does not contain 0"


def zero_in_words(low: float, high: float, level: float, pvalue: float) -> str:
    """Say whether the confidence interval of a difference contains 0."""
    difference = "no difference" if low <= 0 <= high else "a difference"
    return (
        f"The {100 * level:g}% confidence interval of the difference "
        f"{contains_zero(low, high)}, so that {difference} is shown "
        f"({p_text(pvalue, before='p-value ')})."
    )


def plain(value: Any) -> Any:
    """Return a value for JSON: arrays as lists, NumPy scalars as Python numbers."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if hasattr(value, "_asdict"):  # a named tuple
        return value._asdict()
    if isinstance(value, (list, tuple)):
        return type(value)(plain(each) for each in value)
    return value


def _rows(columns: dict[str, Any]) -> tuple[list[list[str]], int]:
    """Return the rows to show, with dots for omitted rows, and the number of rows."""
    n, table = len(next(iter(columns.values()), ())), columns.items()
    shown: list[int | None] = list(range(n))
    if n > 2 * _N_SHOWN + 1:
        shown[_N_SHOWN:-_N_SHOWN] = [None]
    rows = [
        ["…" if row is None else _cell(column[row], name) for name, column in table]
        for row in shown
    ]
    return rows, n


def _cell(value: Any, name: str = "") -> str:
    """Return a value as short text; an empty text for a missing value."""
    if value is None:
        return ""
    if isinstance(value, (float, np.floating)):
        if name.endswith("low") and is_open(float(value)):
            return "0"
        return _number(float(value))
    if isinstance(value, (tuple, list, np.ndarray)):
        return ", ".join(map(_cell, value))
    return str(value)


def _number(value: float) -> str:
    if np.isnan(value):
        return ""
    if 0 < value < _LEAST_P_VALUE:  # no other number is so small
        return p_text(value)
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"


def _table(caption: str, header: list[str], rows: list[list[str]], n: int) -> str:
    def line(cells: list[str], tag: str) -> str:
        inside = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
        return f"<tr>{inside}</tr>"

    head = f"<thead>{line(header, 'th')}</thead>" if header else ""
    body = "".join(line(row, "td") for row in rows)
    more = f"<p>{n} rows</p>" if n > len(rows) else ""
    return (
        f"<p><code>{escape(caption)}</code></p>"
        f'<table class="dataframe">{head}<tbody>{body}</tbody></table>{more}'
    )
