"""Figures, axes, legends and points with intervals, of all displays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

# Width and height in inches that a figure of one axes has without a legend beside it.
_SIZE = "_skcalib_size"

# Inches around a legend beside the axes.
_GAP = 0.25

# Width and height of a reliability plot with its histogram.
RELIABILITY_SIZE = (5.2, 6.2)


def blank_axes(n: int = 1) -> list[Any]:
    """Return the axes of a new figure with room for `n` reliability plots in a row.

    The figure needs neither a screen nor pyplot's state.
    """
    from matplotlib.figure import Figure

    width, height = RELIABILITY_SIZE
    figure = Figure(figsize=(width * n, height), layout="constrained")
    axes = list(figure.subplots(1, n, squeeze=False)[0])
    if n == 1:
        _let_grow(figure, axes[0], RELIABILITY_SIZE)
    return axes


def take_axes(ax: Any, size: tuple[float, float], *, caller: str) -> Any:
    """Return `ax`, or for None the axes of a new figure of a size in inches."""
    from matplotlib.axes import Axes

    if ax is None:
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=size, layout="constrained")
        _let_grow(figure, ax, size)
    elif not isinstance(ax, Axes):
        raise TypeError(
            f"The 'ax' parameter of {caller} must be matplotlib Axes or None. Got "
            f"{type(ax).__name__}."
        )
    return ax


def _let_grow(figure: Any, ax: Any, size: tuple[float, float]) -> None:
    """Allow a figure of one axes to grow by a legend beside them."""
    setattr(figure, _SIZE, size)
    # A square in the middle of a wider place would push the legend out of the figure.
    ax.set_anchor("W")


def draw_points(
    ax: Any,
    x: np.ndarray,
    y: np.ndarray,
    ends: tuple[np.ndarray, np.ndarray] | None,
    style: Mapping[str, Any],
) -> tuple[Any, Any]:
    """Draw points and their intervals, if any; return the line and the bars."""
    yerr = None
    if ends is not None:
        # An interval need not hold its point: that of an estimate of 0 is open there.
        yerr = np.maximum([y - ends[0], ends[1] - y], 0)
    # The label goes to the line, as in other displays, not to the container.
    rest = {key: value for key, value in style.items() if key != "label"}
    line, _, bars = ax.errorbar(x, y, yerr=yerr, **rest).lines
    line.set_label(style["label"])
    return line, bars[0] if bars else None


def draw_legend(
    ax: Any,
    most_inside: int,
    entries: tuple[list, list] | None = None,
    *,
    loc: str = "best",
) -> None:
    """Draw a legend, beside the axes where it would hide what is drawn.

    `entries` are handles and labels, by default those of `ax`; `most_inside` is how
    many of them leave what is drawn visible. A figure of our own grows by the legend.
    """
    handles, labels = ax.get_legend_handles_labels() if entries is None else entries
    if not labels:
        return
    is_wide = len(labels) > 2 and any("\n" in label for label in labels)
    if len(labels) <= most_inside and not is_wide:
        legend = ax.legend(handles, labels, loc=loc, fontsize="small")
        legend.set_in_layout(False)  # a long name must not push the axes away
        return
    beside = {"loc": "center left", "bbox_to_anchor": (1.02, 0.5)}
    legend = ax.legend(handles, labels, fontsize="small", **beside)
    size = getattr(ax.figure, _SIZE, None)
    if size is not None:
        box = legend.get_window_extent()
        width, height = box.width / ax.figure.dpi, box.height / ax.figure.dpi
        ax.figure.set_size_inches(size[0] + width + _GAP, max(size[1], height + _GAP))
