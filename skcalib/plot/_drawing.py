"""What a reliability plot is drawn of: axes, diagonal, curve, band, histogram, text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..metrics import CalibrationErrorInterval, ReliabilityCurve

# Legend entries that still leave the curves visible; more go beside the axes.
_MOST_INSIDE = 6


def new_axes(counts: bool) -> Any:
    """Return the axes of a new figure, higher where there is a histogram."""
    import matplotlib.pyplot as plt

    size = (5.2, 6.2 if counts else 5.2)
    return plt.subplots(figsize=size, layout="constrained")[1]


def prepare_axes(ax: Any, counts: bool) -> Any:
    """Set limits and labels, and return the axes of the histogram or None."""
    # What another display left is there unless the axes were cleared since.
    below = getattr(ax, "_skcalib_count_ax", None)
    below = below if below in ax.child_axes else None
    if getattr(ax, "_skcalib_diagonal", None) not in ax.lines:
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        ax.set(ylabel="Label frequency", xlabel="Probability")
    return _add_count_axes(ax) if counts and below is None else below


def _add_count_axes(ax: Any) -> Any:
    """Add axes for the histogram below the curves."""
    from matplotlib.ticker import NullFormatter
    from mpl_toolkits.axes_grid1 import make_axes_locatable

    # The divider makes room inside the place of `ax`. A child of `ax` counts in
    # every layout, follows `ax`, and goes when it is cleared.
    divider = make_axes_locatable(ax)
    divider.new_vertical("20%", pad="4%", pack_start=True)
    below = ax.inset_axes([0, -0.24, 1, 0.2], sharex=ax)
    below.set(yscale="log", ylabel="Pairs", xlabel="Probability")
    # Within a decade matplotlib labels the minor ticks, on top of each other.
    below.yaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("")
    ax.tick_params(labelbottom=False)
    ax._skcalib_count_ax = below
    return below


def draw_diagonal(ax: Any, kwargs: Mapping[str, Any] | None) -> Any:
    """Draw the diagonal once on an axes, and return it."""
    if getattr(ax, "_skcalib_diagonal", None) not in ax.lines:
        style = {"color": "0.5", "linestyle": "--", "linewidth": 1, "zorder": 1}
        style |= {"label": "_diagonal", **long_names(kwargs)}
        (line,) = ax.plot((0, 1), (0, 1), **style)
        ax._skcalib_diagonal = line
    return ax._skcalib_diagonal


def draw_curve(
    ax: Any,
    curve: ReliabilityCurve,
    label: str | None,
    interval: str | None,
    level: float,
    style: Mapping[str, Any],
) -> tuple[Any, Any]:
    """Draw one curve and its bars."""
    yerr = None
    if interval is not None:
        low, high = curve.interval(level, interval)
        # A Wilson interval need not hold the frequency in its middle.
        yerr = np.maximum([curve.prob_true - low, high - curve.prob_true], 0)
    default = {
        "marker": "o",
        "markersize": 4,
        "linewidth": 1,
        "elinewidth": 1,
    }
    style = {**default, "label": label, **long_names(style)}
    # The label goes to the line, as in other displays, not to the container.
    label = style.pop("label")
    artist = ax.errorbar(curve.prob_pred, curve.prob_true, yerr=yerr, **style)
    line, _, bars = artist.lines
    line.set_label(label)
    return line, bars[0] if bars else None


def draw_band(ax: Any, curve: ReliabilityCurve, level: float) -> Any:
    """Shade where the frequencies fall if every probability is right."""
    label = f"{100 * level:.10g}% band of perfect calibration"
    if label in ax.get_legend_handles_labels()[1]:
        label = f"_{label}"
    low, high = curve.consistency_band(level)
    # Grey for every curve: with bins of one size the bands nearly coincide.
    # The edge shows where the band is narrow, or has one bin and so no area.
    return ax.fill_between(
        curve.prob_pred,
        low,
        high,
        facecolor=("0.5", 0.22),
        edgecolor=("0.5", 0.22),
        linewidth=3 if curve.n_bins == 1 else 1,
        zorder=0.9,
        label=label,
    )


def draw_count(ax: Any, count: np.ndarray | None, color: Any) -> Any:
    """Draw the histogram of one curve, if there is one and a place for it."""
    if count is None or ax is None:
        return None
    edges = np.linspace(0, 1, count.size + 1)
    return ax.stairs(count, edges, color=color, baseline=None)


def draw_legend(ax: Any) -> None:
    """Draw the legend, beside the axes where it is long."""
    # Curves first: where a band is drawn depends on what is drawn above it.
    handles, labels = ax.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda k: handles[k].get_zorder() < 1)
    entries = [handles[k] for k in order], [labels[k] for k in order]
    if len(labels) > _MOST_INSIDE:
        place = {"loc": "center left", "bbox_to_anchor": (1.02, 0.5)}
        ax.legend(*entries, fontsize="small", **place)
    elif labels:
        ax.legend(*entries, loc="best", fontsize="small")


def error_text(error: CalibrationErrorInterval) -> str:
    """Return the error and its interval as text."""
    digits = ".1e" if 0 < error.high < 0.001 else ".3f"
    ends = f"[{error.low:{digits}}, {error.high:{digits}}]"
    return f"error {error.estimate:{digits}} {ends}"


def label_text(name: str | None, error: CalibrationErrorInterval | None) -> str | None:
    """Return a legend entry: the name, the error and its interval."""
    if error is None:
        return name
    return error_text(error) if name is None else f"{name}: {error_text(error)}"


def plain_text(text: str) -> str:
    """Return a text that matplotlib shows as it is, not as mathematics."""
    return text.encode("utf-8", "replace").decode().replace("$", r"\$")


def legend_text(label: str | None) -> str | None:
    """Return a label as matplotlib shows it: no mathematics, no hidden entry."""
    if label is None:
        return None
    text = plain_text(label)
    return f" {text}" if text.startswith("_") else text


def long_names(style: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a style with matplotlib's long names: it refuses both lw and linewidth."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    return normalize_kwargs(dict(style or {}), Line2D)
