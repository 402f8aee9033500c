"""Base classes of the displays, their texts and keyword arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from operator import attrgetter
from textwrap import wrap
from typing import Any, ParamSpec, TypeVar

from .._errors import ParameterError, ParameterTypeError, printable, public
from .._results import Result

# Characters in a line of a legend that fit into a column of a paper.
_LONGEST_LINE = 44


def check_type(value: Any, kinds: Any, expected: str, *, name: str) -> None:
    """Raise an error unless `value` is of the `kinds`, which `expected` describes."""
    if not isinstance(value, kinds):
        problem = f"must be {expected}. Got {type(value).__name__}."
        raise ParameterTypeError(name, problem)


def percent_text(level: float) -> str:
    """Return a level such as 0.95 as a percentage."""
    return f"{100 * level:.10g}%"


def short_text(text: Any, longest: int) -> str:
    """Return a name with its end cut off if it is longer than `longest`."""
    text = str(text)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def visible_text(text: Any) -> str:
    """Return a text with control characters escaped, other than the end of a line."""
    return printable(str(text), keep="\n")


def plain_text(text: Any) -> str:
    """Return a text that matplotlib shows literally and not as mathematics."""
    return _literal(visible_text(text))


def _literal(text: str) -> str:
    # A lone surrogate cannot be drawn.
    return text.encode("utf-8", "replace").decode().replace("$", r"\$")


def legend_text(*parts: Any) -> str | None:
    """Return the given parts (a name, a description) as a legend entry.

    A long entry has several lines. A name that begins with an underscore gets a leading
    space, because matplotlib would otherwise omit the entry.
    """
    # Parts are wrapped one by one, so that a new line begins with the description.
    there = [printable(str(part), "\n") for part in parts if part is not None]
    if not there:
        return None
    text = ": ".join(there)
    if len(text) > _LONGEST_LINE:
        lines = [wrap(part, _LONGEST_LINE) for part in there]
        text = "\n".join(line for part in lines for line in part)
    text = _literal(text)
    return f" {text}" if text.startswith("_") else text


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


@dataclass
class Model:
    """What a display shows of one model: its name, its curve and other numbers."""

    name: Any = None
    curve: Any = None
    error: Any = None
    count: Any = None
    y_prob: Any = None
    threshold: Any = None
    true_error: Any = None


def of_models(attribute: str, doc: str) -> Any:
    """Return a property: the attribute of the only model, or the list of several."""

    def shown(display: Any) -> Any:
        return display._shown(list(map(attrgetter(attribute), display._models)))

    return property(shown, doc=doc)


class ModelsDisplay(Display):
    """Base class of displays with a curve and a name for each of some models."""

    curve = of_models("curve", "Curve of each model.")
    name = of_models("name", "Name of each model.")

    # Classes of the curves.
    _kinds: tuple[type, ...]

    _models: list[Model]

    # Whether the models are groups of the pairs of one model, which are always a list.
    _is_divided = False

    def _shown(self, entries: list) -> Any:
        """Return the entry of one model, or the list of the entries of several."""
        return entries if self._is_divided or len(entries) > 1 else entries[0]

    def _set_models(self, curve: Any, **others: Any) -> None:
        """Set the models from parameters: an entry, or a list of those of several."""
        curves = as_list(curve)
        for each in curves or [curves]:
            if not isinstance(each, self._kinds):
                public = [k.__name__ for k in self._kinds if k.__name__[0] != "_"]
                expected = " or ".join(public)
                got = "an empty list" if each == [] else type(each).__name__
                raise ParameterTypeError(
                    "curve", f"must be a {expected}, or a list of them. Got {got}."
                )
        self._models = [Model(curve=each) for each in curves]
        for attribute, value in others.items():
            if value is not None:
                self._models = self._with(attribute, value)

    def _with(self, attribute: str, value: Any) -> list[Model]:
        """Return the models with another value of an attribute."""
        entries, n = as_list(value), len(self._models)
        if len(entries) != n:
            raise ParameterError(
                attribute,
                f"must have an entry for each of the {n} curves. Got {len(entries)}.",
            )
        return [
            replace(model, **{attribute: each})
            for model, each in zip(self._models, entries, strict=True)
        ]

    def _set_artists(self, drawn: Sequence[Mapping[str, Any]]) -> None:
        """Store the artists of each model by name, as attributes that end in `_`."""
        for name in drawn[0]:
            setattr(self, f"{name}_", self._shown([each[name] for each in drawn]))

    def _by_key(self) -> zip[tuple[Any, Model]]:
        """Yield a distinct name of each model, and the model."""
        names = distinct_names([model.name for model in self._models])
        return zip(names, self._models, strict=True)


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
    # The first parameter is `self`.
    _, *parameters = inspect.signature(plot).parameters.values()
    known = [each.name for each in parameters if each.kind is not each.VAR_KEYWORD]
    takes_lines = len(known) < len(parameters)

    @functools.wraps(plot)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        for keyword in [key for key in kwargs if key not in known]:
            if not (takes_lines and _is_of_line(keyword)):
                raise ParameterTypeError(None, _remedy(keyword, kwargs, known))
        return plot(*args, **kwargs)

    return public(wrapper)


def _is_of_line(keyword: str) -> bool:
    """Return whether a keyword is a property of matplotlib's lines, such as color."""
    from matplotlib.lines import Line2D

    return hasattr(Line2D, f"set_{keyword}")


def _remedy(keyword: str, kwargs: Mapping[str, Any], known: Sequence[str]) -> str:
    """Return what to pass instead of a keyword that is not known."""
    problem = f"got an unexpected keyword argument {keyword!r}."
    # A keyword that a line has is a style, and one of the dicts of styles takes it.
    styles = [name for name in known if name.endswith("_kwargs")]
    if styles and _is_of_line(keyword):
        value = f"{kwargs[keyword]!r:.30}"
        choices = [f"{name}={{{keyword!r}: {value}}}" for name in styles]
        return f"{problem} Styles are passed as {' or '.join(choices)}."
    return f"{problem} Its parameters are {', '.join(known)}."
