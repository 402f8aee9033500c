"""Functions shared by the commands: exit statuses, errors, text and figures."""

from __future__ import annotations

import errno
import os
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

# Exit statuses.
DONE = 0
WRONG_USE = 2
INTERRUPTED = 130

_FIGURES = (".png", ".svg", ".pdf")
# Above this level, the quantiles of the intervals are infinite.
_HIGHEST_LEVEL = 1 - 1e-9

# Width and height in inches of a reliability plot with its histogram.
_PANEL = (5.2, 6.2)
# Inches around a legend beside the axes.
_GAP = 0.25

# Suffixes of the files of harnesses, which are read together with others beside them.
_OF_HARNESSES = (".json", ".jsonl", ".eval", ".parquet")


class CommandError(Exception):
    """An error in a file or an option that the user can correct."""


def check_level(level: float) -> None:
    """Raise an error unless a confidence level has finite quantiles."""
    if not 0 < level <= _HIGHEST_LEVEL:
        raise CommandError(
            "--confidence-level must be above 0 and at most 1 - 1e-9, for example "
            f"0.95. Got {level!r}."
        )


def as_option(name: str) -> str:
    """Return the option of an attribute of the parsed arguments."""
    return "--" + name.replace("_", "-")


def exclude(options: Namespace, *pairs: tuple[str, str]) -> None:
    """Raise an error if both options of a pair are given."""
    for one, other in pairs:
        if getattr(options, one) and getattr(options, other):
            raise CommandError(
                f"{as_option(one)} and {as_option(other)} exclude each other."
            )


def one_group(where: str, name: str) -> str:
    """Return the error for a part of the rows whose groups cannot be compared."""
    return (
        f"{where}: --groups needs rows of at least two groups. Got {str(name)!r} in "
        "every row."
    )


def check_figure(path: Path | None, option: str) -> None:
    """Raise an error unless a figure has a known format."""
    if path is not None and path.suffix.lower() not in _FIGURES:
        raise CommandError(
            f"{option} must end in {', '.join(_FIGURES)}. Got {str(path)!r}."
        )


def check_files(
    read: Iterable[Path | None], written: Iterable[tuple[str, Path | None]]
) -> None:
    """Raise an error unless all outputs can be written without loss.

    An output must not be a file that the command reads, or another output. `written`
    contains the option of each output and its path.
    """
    taken = [(path, "a file that is read") for path in read if path is not None]
    for option, path in written:
        if path is None:
            continue
        if path.is_dir():
            raise CommandError(f"{option} must be a file. {str(path)!r} is a folder.")
        if not path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        if path.exists() and not path.is_file():  # such as /dev/null
            continue
        for other, what in taken:
            if _is_same(path, other):
                raise CommandError(
                    f"{option} must not be {what}. Got {str(path)!r}. Choose another "
                    "name."
                )
            if _is_beside(path, other):
                raise CommandError(
                    f"{option} must not replace a file of a harness beside "
                    f"{str(other)!r}. Got {str(path)!r}. Choose another name."
                )
        taken.append((path, f"the file of {option}"))


def _is_same(path: Path, other: Path) -> bool:
    """Return whether two paths are one file, also through links."""
    if path.exists() and other.exists():
        return path.samefile(other)
    one, two = (os.path.normcase(os.path.realpath(each)) for each in (path, other))
    return one == two


def _is_beside(path: Path, other: Path) -> bool:
    """Return whether an output is a file of a harness that may be read with another."""
    folder = other if other.is_dir() else other.parent
    return (
        path.suffix.lower() in _OF_HARNESSES
        and path.is_file()
        and folder.is_dir()
        and path.parent.samefile(folder)
    )


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
