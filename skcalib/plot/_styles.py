"""Styles of what is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# Series are told apart without their colours too.
MARKERS = "os^Dv<>P"


def line_style(kwargs: Any, *, name: str, caller: str) -> dict[str, Any]:
    """Return a style with matplotlib's long names: it refuses both lw and linewidth."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise TypeError(
            f"The {name!r} parameter of {caller} must be a dict. Got {kwargs!r:.50}."
        )
    return normalize_kwargs(dict(kwargs or {}), Line2D)


def line_styles(kwargs: Any, n: int, *, name: str, caller: str) -> list[dict[str, Any]]:
    """Return the style of each of `n` curves, of one dict for all or a list of them."""
    if kwargs is None or isinstance(kwargs, Mapping):
        return [line_style(kwargs, name=name, caller=caller)] * n
    is_list = isinstance(kwargs, Sequence) and not isinstance(kwargs, str)
    if not is_list or len(kwargs) != n:
        error = ValueError if is_list else TypeError
        raise error(
            f"The {name!r} parameter of {caller} must be a dict, or a list with "
            f"a dict for each of the {n} curves. Got {kwargs!r:.50}."
        )
    return [line_style(each, name=name, caller=caller) for each in kwargs]
