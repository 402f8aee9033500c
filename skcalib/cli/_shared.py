"""Functions shared by the commands: exit statuses, errors, text and figures."""

from __future__ import annotations

import errno
import os
import unicodedata
from argparse import Namespace
from pathlib import Path
from typing import Any, TextIO

# Exit statuses.
DONE = 0
WRONG_USE = 2

_FIGURES = (".png", ".svg", ".pdf")
# Above this level, the quantiles of the intervals are infinite.
_HIGHEST_LEVEL = 1 - 1e-9

# Width and height in inches of a reliability plot with its histogram.
_PANEL = (5.2, 6.2)
# Inches around a legend beside the axes.
_GAP = 0.25

# Control characters, which a terminal or a figure does not show.
_ACTING = frozenset(["Cc", "Zl", "Zp"])
_TURNING = frozenset(
    ["LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"],
)


class CommandError(Exception):
    """An error in a file or an option that the user can correct."""


def check_level(level: float) -> None:
    """Raise an error unless a confidence level has finite quantiles."""
    if not 0 < level <= _HIGHEST_LEVEL:
        raise CommandError(
            "--confidence-level must be above 0 and at most 1 - 1e-9, for example "
            f"0.95. Got {level!r}."
        )


def check_outputs(options: Namespace) -> None:
    """Raise an error unless the figure and the page can be written."""
    check_figure(options.output, "--output")
    check_folders(options.output, options.html)


def check_figure(path: Path | None, option: str) -> None:
    """Raise an error unless a figure has a known format."""
    if path is not None and path.suffix.lower() not in _FIGURES:
        raise CommandError(
            f"{option} must end in {', '.join(_FIGURES)}. Got {str(path)!r}."
        )


def check_folders(*paths: Path | None) -> None:
    """Raise an error unless the folders of output files exist."""
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


def printable(text: str) -> str:
    r"""Return a text on one line, with control characters as ``\x1b``."""
    return "".join(
        char.encode("unicode_escape").decode("ascii") if _is_control(char) else char
        for char in text
    )


def _is_control(char: str) -> bool:
    if char.isprintable():
        return False
    category = unicodedata.category(char)
    return category in _ACTING or unicodedata.bidirectional(char) in _TURNING


def print_table(rows: list[tuple[str, ...]]) -> None:
    """Print rows of cells in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, strict=True)
        print("  ".join(cell.ljust(width) for cell, width in cells).rstrip())


def new_axes(n: int = 1) -> list[Any]:
    """Return the axes of `n` reliability plots side by side in a new figure.

    The figure needs neither a screen nor pyplot's state.
    """
    from matplotlib.figure import Figure

    width, height = _PANEL
    figure = Figure(figsize=(width * n, height), layout="constrained")
    axes = list(figure.subplots(1, n, squeeze=False)[0])
    if n == 1:
        # Square axes in the middle of a wider figure would push the legend out.
        axes[0].set_anchor("W")
    return axes


def save_figure(
    axes: list[Any], path: Path | TextIO, dpi: int, format: str | None = None
) -> None:
    """Write the figure of some axes; a single one is widened for its legend."""
    figure = axes[0].figure
    legend = axes[0].get_legend()
    if len(axes) == 1 and legend is not None:
        box = legend.get_window_extent()
        if box.x1 > axes[0].get_window_extent().x1:  # it is beside the axes
            width, height = box.width / figure.dpi, box.height / figure.dpi
            figure.set_size_inches(
                _PANEL[0] + width + _GAP, max(_PANEL[1], height + _GAP)
            )
    figure.savefig(path, dpi=dpi, format=format, bbox_inches="tight")
