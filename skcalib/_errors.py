"""Errors of arguments, and the name of the public function that received them.

Private code raises :class:`ParameterError` with the name of the parameter and a
description of the problem. The public function, marked by :func:`public`, adds its own
name, so that names of callers do not have to be passed from function to function. It
also compares the indexes of pandas objects that have one entry per row.

Warnings that point at the line outside this package.
"""

from __future__ import annotations

import difflib
import functools
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from types import FrameType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# Longer lists contain rows, and not arguments of several models.
_FEW = 50

# Parameters with one entry per row (item, sample, document), matched by position.
_BY_ROW = (
    "X y y_true y_true_b y_pred y_proba y_score y_prob proba proba_a proba_b log_proba "
    "sample_weight groups by parts questions question item score correct n_samples "
    "systems stats_a stats_b correct_a correct_b judge human judge_a judge_b human_a "
    "human_b expected inclusion_probability strata size sd periods weight"
)

# Control characters, which a terminal or a figure does not show.
_ACTING = frozenset(["Cc", "Zl", "Zp"])
# Characters that change the direction of the text beside them: marks, embeddings,
# overrides and isolates.
_TURNING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

# Longest message. An argument or a library may put a whole array or file into it.
_LONGEST = 2000
# Characters kept at the end of a longer message, which says what to do.
_END = 400


def printable(text: str, keep: str = "") -> str:
    r"""Return a text on one line, with control characters as ``\x1b``.

    Characters in `keep` are not replaced.
    """
    if text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode("ascii")
        if char not in keep and _is_control(char)
        else char
        for char in text
    )


def _is_control(char: str) -> bool:
    return unicodedata.category(char) in _ACTING or char in _TURNING


def shortened(text: str) -> str:
    """Return a message without its middle, if it is very long."""
    if len(text) <= _LONGEST:
        return text
    start = _LONGEST - _END
    left_out = len(text) - _LONGEST
    return f"{text[:start]} ... ({left_out:,} characters left out) ... {text[-_END:]}"


# A marked name: the name, and the text that stands for it in Python. The marks are
# control characters, which occur in no value that a message shows by its repr.
_MARKED = re.compile("\x1f(\\w+)\x1f(.*?)\x1f")


def parameter(name: str, text: str | None = None) -> str:
    """Return the name of a parameter for a message, marked for the command line.

    The message has `text` (default: the name) in its place, and an option on the
    command line.
    """
    return f"\x1f{name}\x1f{name if text is None else text}\x1f"


class Marked(str):
    """A message with the texts of its marked names, and `template` with the marks."""

    template: str

    def __new__(cls, template: str) -> Marked:
        message = super().__new__(cls, _MARKED.sub(r"\2", template))
        message.template = template
        return message

    def shown(self, show: Callable[[str, str], str]) -> str:
        """Return the message with `show(name, text)` in place of each marked name."""
        return _MARKED.sub(lambda found: show(*found.groups()), self.template)


class ParameterError(ValueError):
    """An argument that is not as described.

    Parameters
    ----------
    name : str or None
        Name of the parameter. If None, several parameters are wrong together.
    problem : str
        Rest of a sentence that begins with "The 'name' parameter of function", or with
        the function if `name` is None. It states what was expected and what was
        received: "must be positive. Got -1 instead.", "takes 'bin_size' or 'n_bins',
        not both." Names of parameters may be marked by :func:`parameter`.
    function : str, default=None
        Public function that received the argument; :func:`public` fills it in.
    """

    def __init__(self, name: str | None, problem: str, function: str | None = None):
        super().__init__(name, problem, function)
        self.name = name
        self.problem: str = Marked(problem)
        self.function = function

    def __str__(self) -> str:
        problem = shortened(printable(self.problem))
        if self.name is None:
            return f"{self.function or 'The function'} {problem}"
        of = f" of {self.function}" if self.function else ""
        return f"The {self.name!r} parameter{of} {problem}"


class ParameterTypeError(ParameterError, TypeError):
    """An argument of the wrong type."""


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Complete the errors of arguments with the name of a public function or method.

    Warn if pandas objects with one entry per row have these rows in different orders.
    Accept `y_prob` as another name of the parameter `y_proba`.
    """
    by_row, names = _BY_ROW.split(), _names(function)
    places = {name: k for k, name in enumerate(names) if name in by_row}
    has_other_name = "y_proba" in names and "y_prob" not in names

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        # scikit-learn's name of the probabilities of the positive class
        if has_other_name and "y_prob" in kwargs:
            if "y_proba" in kwargs or len(args) > names.index("y_proba"):
                problem = "takes 'y_proba' or 'y_prob', its other name, not both."
                raise ParameterTypeError(None, problem, _name_of(function, args))
            kwargs["y_proba"] = kwargs.pop("y_prob")
        # A public function that calls another one has checked the arguments.
        if len(places) > 1 and not _is_here(_module_of(sys._getframe(1))):
            given = {name: args[k] for name, k in places.items() if k < len(args)}
            _warn_of_index({**given, **{k: kwargs[k] for k in places if k in kwargs}})
        try:
            return function(*args, **kwargs)
        except ParameterError as error:
            if error.function is None:
                error.function = _name_of(function, args)
            raise
        except TypeError as error:
            remedy = _remedy(function, error, args, kwargs)
            if remedy is None:
                raise
            raise TypeError(f"{error}. {remedy}") from None

    return wrapper


def _names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters, in order."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _warn_of_index(given: dict[str, Any]) -> None:
    """Warn if pandas objects among named arguments have their rows in other orders."""
    pandas = sys.modules.get("pandas")  # imported if an object exists
    if pandas is None:
        return
    rows = [
        (name, values.index)
        for name, values in chain.from_iterable(map(_parts, given, given.values()))
        if isinstance(getattr(values, "index", None), pandas.Index)
    ]
    for name, index in rows[1:]:
        first, expected = rows[0]
        if (
            not index.equals(expected)
            and len(index) == len(expected)
            and index.symmetric_difference(expected, sort=False).empty
        ):
            warn(
                f"{first} and {name} have the same index in different orders, and rows "
                f"are matched by position. Pass {name}.loc[{first}.index] if the index "
                "names the rows."
            )


def _parts(name: str, values: Any) -> Iterator[tuple[str, Any]]:
    """Yield an argument, or the entries of a mapping or list of a few arguments."""
    if isinstance(values, Mapping):
        yield from ((f"{name}[{key!r}]", each) for key, each in values.items())
    elif isinstance(values, (list, tuple)) and len(values) <= _FEW:
        yield from ((f"{name}[{k}]", each) for k, each in enumerate(values))
    else:
        yield name, values


def _remedy(
    function: Callable[..., Any],
    error: TypeError,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> str | None:
    """Return what to do about an unknown keyword or an argument without a keyword."""
    traceback = error.__traceback__
    if traceback is None or traceback.tb_next is not None or "Did you" in str(error):
        return None  # the function was called, or Python says what was meant
    names, n_positional = _names(function), function.__code__.co_argcount
    unknown = [name for name in kwargs if name not in names]
    similar = difflib.get_close_matches(unknown[0], names, 1) if unknown else []
    if similar:
        return f"Did you mean {similar[0]!r}?"
    if len(args) > n_positional < len(names):
        keywords = ", ".join(f"{name}=" for name in names[n_positional:])
        return f"Pass the others by keyword: {keywords}."
    return None


def _name_of(function: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """Return the name by which users call a function, "Class.method" for a method."""
    *owner, name = function.__qualname__.split(".")
    if not owner or owner[-1] == "<locals>":
        return name
    if args:  # a subclass calls the method by its own name
        own = args[0] if isinstance(args[0], type) else type(args[0])
        owner = [own.__name__]
    # Private methods check the parameters of the constructor.
    return owner[-1] if name.startswith("_") else f"{owner[-1]}.{name}"


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside this package that called the public function."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and _is_here(_module_of(frame)):
        level, frame = level + 1, frame.f_back
    warnings.warn(category(Marked(message)), stacklevel=level)


def _module_of(frame: FrameType) -> str:
    # Code that `exec` runs may have no name.
    return frame.f_globals.get("__name__", "")


def _is_here(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]
