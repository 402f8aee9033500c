"""Base classes of the displays, and checks of keyword arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, ParamSpec, TypeVar

from .._errors import ParameterError, ParameterTypeError, public
from .._results import Result
from ._figures import visible_text

P = ParamSpec("P")
R = TypeVar("R")


class Display(Result):
    """Base class of displays, whose numbers are computed before anything is drawn.

    A subclass defines `plot`, `to_dict`, `_columns` (the table of :meth:`frame`) and
    `_lines` (the short texts of its repr).
    """

    def _lines(self) -> Sequence[str]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return visible_text(f"{type(self).__name__}({'; '.join(self._lines())})")

    def _repr_html_(self) -> str:
        def tagged(texts: Sequence[str], tag: str) -> str:
            inside = (escape(visible_text(text)) for text in texts)
            return "".join(f"<{tag}>{text}</{tag}>" for text in inside)

        name = tagged([type(self).__name__], "strong")
        lines = f"<ul>{tagged(self._lines(), 'li')}</ul>"
        return f"<div>{name}{lines}{tagged(self._in_words(), 'p')}</div>"


class PerModel:
    """Attribute with one entry per model.

    The value is the entry itself if there is one model, and a list if there are
    several. A list is stored in both cases; None means that there are no entries.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, display: Any, owner: type) -> Any:
        if display is None:
            return self
        if self.name not in display.__dict__:
            message = f"{owner.__name__!r} object has no attribute {self.name!r}"
            raise AttributeError(message)
        entries = display.__dict__[self.name]
        return entries[0] if entries is not None and len(entries) == 1 else entries

    def __set__(self, display: Any, value: Any) -> None:
        display.__dict__[self.name] = None if value is None else as_list(value)


class ModelsDisplay(Display):
    """Base class of displays with a curve and a name for each model."""

    curve = PerModel()
    name = PerModel()

    # Classes of the curves.
    _kinds: tuple[type, ...]

    def _curves(self) -> list:
        """Return the curves as a list."""
        curves = vars(self)["curve"]
        for curve in curves or [curves]:
            if not isinstance(curve, self._kinds):
                expected = " or ".join(kind.__name__ for kind in self._kinds)
                got = "an empty list" if curve == [] else type(curve).__name__
                raise ParameterTypeError(
                    "curve", f"must be a {expected}, or a list of them. Got {got}."
                )
        return curves

    def _of_each(self, attribute: str, value: Any = None) -> list:
        """Return one entry per curve, from `value` if it is given or from an attribute.

        The entries are None if the attribute is None.
        """
        n = len(vars(self)["curve"])
        entries = vars(self)[attribute] if value is None else as_list(value)
        if entries is None:
            return [None] * n
        if len(entries) != n:
            raise ParameterError(
                attribute,
                f"must have an entry for each of the {n} curves. Got {len(entries)}.",
            )
        return entries

    def _keys(self) -> list:
        """Return names that identify the models."""
        return distinct_names(self._of_each("name"))


def distinct_names(names: Sequence[Any]) -> list:
    """Return distinct names; missing and repeated names are replaced by numbers."""
    keys: list = []
    for k, name in enumerate(names):
        key = str(k) if name is None or name in keys else name
        while key in keys:  # a model may be called '1'
            key = f"{key}_"
        keys.append(key)
    return keys


def as_list(value: Any) -> list:
    """Return a list or tuple as a list, and anything else as a list of one entry."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def stacked(
    key: str, tables: Sequence[tuple[Any, Mapping[str, Sequence[Any]]]]
) -> dict[str, list]:
    """Return the rows of several named tables as one, with the names as column `key`.

    A column that a table does not have is None in its rows.
    """
    names = dict.fromkeys(column for _, table in tables for column in table)
    columns: dict[str, list] = {key: [], **{name: [] for name in names}}
    for owner, table in tables:
        n = len(next(iter(table.values())))
        columns[key].extend([owner] * n)
        for name in names:
            columns[name].extend(table.get(name, [None] * n))
    return columns


def drawing(plot: Callable[P, R]) -> Callable[P, R]:
    """Make a method `plot` public, with errors that explain where to pass a keyword."""
    known = [*inspect.signature(plot).parameters][1:]

    @functools.wraps(plot)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        if not kwargs.keys() <= set(known):
            raise ParameterTypeError(None, _remedy(kwargs, known))
        return plot(*args, **kwargs)

    return public(wrapper)


def _remedy(kwargs: Mapping[str, Any], known: Sequence[str]) -> str:
    """Return the first keyword that is not known, and what to pass instead."""
    from matplotlib.lines import Line2D

    keyword = next(key for key in kwargs if key not in known)
    problem = f"got an unexpected keyword argument {keyword!r}."
    styles = [name for name in known if name.endswith("_kwargs")]
    if styles and hasattr(Line2D, f"set_{keyword}"):
        value = f"{kwargs[keyword]!r:.30}"
        choices = [f"{name}={{{keyword!r}: {value}}}" for name in styles]
        return f"{problem} Styles are passed as {' or '.join(choices)}."
    return f"{problem} Its parameters are {', '.join(known)}."
