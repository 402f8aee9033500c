"""Words and numbers as displays write them."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from ..metrics import CalibrationErrorInterval

# Characters in a line of a legend that fit into the axes.
_LONGEST_LINE = 60


def error_text(error: CalibrationErrorInterval) -> str:
    """Return the error and its interval as text."""
    digits = ".1e" if 0 < error.high < 0.001 else ".3f"
    ends = f"[{error.low:{digits}}, {error.high:{digits}}]"
    return f"error {error.estimate:{digits}} {ends}"


def percent_text(level: float) -> str:
    """Return a level such as 0.95 as a percentage."""
    return f"{100 * level:.10g}%"


def short_text(text: Any, longest: int) -> str:
    """Return a name with its end cut off where it is longer than `longest`."""
    text = str(text)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def plain_text(text: Any) -> str:
    """Return a text that matplotlib shows as it is, not as mathematics."""
    return str(text).encode("utf-8", "replace").decode().replace("$", r"\$")


def legend_text(*parts: Any) -> str | None:
    """Return the parts that are there (a name, what is drawn of it) as a legend entry.

    A long one has several lines; and where the name begins with an underscore, which
    hides an entry from matplotlib, a space comes first.
    """
    there = [str(part) for part in parts if part is not None]
    if not there:
        return None
    text = ": ".join(there)
    if len(text) > _LONGEST_LINE:
        lines = [line for part in there for line in wrap(part, _LONGEST_LINE)]
        text = "\n".join(lines)
    text = plain_text(text)
    return f" {text}" if text.startswith("_") else text
