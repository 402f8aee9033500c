"""Errors of arguments, and the name of the public function that received them.

Private code raises :class:`ParameterError` with the name of the parameter and a
description of the problem. The public function, marked by :func:`public`, adds its own
name, so that names of callers do not have to be passed from function to function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

__all__ = ["ParameterError", "ParameterTypeError", "public"]

P = ParamSpec("P")
R = TypeVar("R")


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
        not both."
    function : str, default=None
        Public function that received the argument; :func:`public` fills it in.
    """

    def __init__(self, name: str | None, problem: str, function: str | None = None):
        super().__init__(name, problem, function)
        self.name = name
        self.problem = problem
        self.function = function

    def __str__(self) -> str:
        if self.name is None:
            return f"{self.function or 'The function'} {self.problem}"
        of = f" of {self.function}" if self.function else ""
        return f"The {self.name!r} parameter{of} {self.problem}"


class ParameterTypeError(ParameterError, TypeError):
    """An argument of the wrong type."""


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Complete the errors of arguments with the name of a public function or method."""

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except ParameterError as error:
            if error.function is None:
                error.function = _name_of(function, args)
            raise

    return wrapper


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
