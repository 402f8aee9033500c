"""Parts of a reliability plot: axes, diagonal, curve, band, histogram and words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._errors import ParameterError, ParameterTypeError
from .._results import ends_text
from .._validation import check_integer
from ..metrics import CalibrationErrorInterval, ReliabilityCurve
from ._figures import draw_legend, draw_points, percent_text

# Width and height of a panel in inches, title included.
_PANEL = (2.7, 3.0)
_HISTOGRAM = 0.6

# Largest number of panels that are in one row by default.
_ONE_ROW = 3

_BAND, _BAND_OPACITY = "consistency_band", 0.22

# Largest number of legend entries within the axes; more go beside the axes.
_MOST_INSIDE = 6


def prepare_axes(ax: Any, counts: bool) -> Any:
    """Set limits and labels, and return the axes of the histogram or None."""
    # The axes of another display are reused unless they were cleared.
    below = getattr(ax, "_skcalib_count_ax", None)
    below = below if below in ax.child_axes else None
    if getattr(ax, "_skcalib_diagonal", None) not in ax.lines:
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        ax.set(ylabel="Label frequency", xlabel="" if below else "Probability")
    return _add_count_axes(ax) if counts and below is None else below


def _add_count_axes(ax: Any) -> Any:
    """Add axes for the histogram below the curves."""
    from matplotlib.ticker import NullFormatter
    from mpl_toolkits.axes_grid1 import make_axes_locatable

    # The divider makes space inside the area of `ax`. A child of `ax` is part of every
    # layout, moves with `ax`, and is removed when `ax` is cleared.
    divider = make_axes_locatable(ax)
    divider.set_anchor(ax.get_anchor())
    divider.new_vertical("20%", pad="4%", pack_start=True)
    below = ax.inset_axes([0, -0.24, 1, 0.2], sharex=ax)
    below.set(yscale="log", ylabel="Pairs", xlabel="Probability")
    # Within a decade, matplotlib labels the minor ticks, and the labels overlap.
    below.yaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("")
    ax.tick_params(labelbottom=False)
    ax._skcalib_count_ax = below
    return below


def draw_diagonal(ax: Any, style: Mapping[str, Any]) -> Any:
    """Draw the diagonal once on an axes, and return it."""
    if getattr(ax, "_skcalib_diagonal", None) not in ax.lines:
        default = {"color": "0.5", "linestyle": "--", "linewidth": 1, "zorder": 1}
        default["label"] = "_diagonal"
        (line,) = ax.plot((0, 1), (0, 1), **{**default, **style})
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
    default = {
        "marker": "o",
        "markersize": 4,
        "linewidth": 1,
        "elinewidth": 1,
        "label": label,
    }
    ends = None if interval is None else curve.interval(level, interval)
    x, y = curve.prob_pred, curve.prob_true
    return draw_points(ax, x, y, ends, {**default, **style})


def draw_band(ax: Any, curve: ReliabilityCurve, level: float, n_bands: int) -> Any:
    """Shade the range of the frequencies that are expected under perfect calibration.

    The band is one of `n_bands` bands, which together are as dark as one band.
    """
    label = f"{percent_text(level)} band of perfect calibration"
    if label in ax.get_legend_handles_labels()[1]:
        label = f"_{label}"
    low, high = curve.consistency_band(level)
    # Bands are grey for all curves: with equal bin sizes they nearly coincide.
    grey = ("0.5", 1 - (1 - _BAND_OPACITY) ** (1 / n_bands))
    # The edge is visible if the band is narrow or has one bin and therefore no area.
    return ax.fill_between(
        curve.prob_pred,
        low,
        high,
        facecolor=grey,
        edgecolor=grey,
        linewidth=3 if curve.n_bins == 1 else 1,
        zorder=0.9,
        label=label,
        gid=_BAND,
    )


def draw_count(ax: Any, count: np.ndarray | None, color: Any) -> Any:
    """Draw the histogram of one curve, if there is one and it has axes."""
    if count is None or ax is None:
        return None
    edges = np.linspace(0, 1, count.size + 1)
    stairs = ax.stairs(count, edges, color=color, baseline=None)
    _show_decades(ax)
    return stairs


def _show_decades(ax: Any) -> None:
    """Show whole decades of a log scale; within a decade, no tick has a label."""
    values = np.concatenate([np.asarray(each.get_data().values) for each in ax.patches])
    values = values[values > 0]
    if values.size:
        low = np.floor(np.log10(values.min()))
        high = max(np.ceil(np.log10(values.max())), low + 1)
        # At the edge, the bar of a lowest count of 1 or 10 would have no height.
        ax.set_ylim(0.5 * 10**low, 1.25 * 10**high)


def draw_reliability_legend(ax: Any) -> None:
    """Draw the legend, curves first."""
    from matplotlib.patches import Patch

    curves, bands = [], []
    for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
        if handle.get_gid() == _BAND:
            # a single one of several bands is too pale for the legend
            bands.append((Patch(color=("0.5", _BAND_OPACITY)), label))
        else:
            curves.append((handle, label))
    handles, labels = zip(*curves, *bands, strict=True) if curves or bands else ((), ())
    draw_legend(ax, _MOST_INSIDE, (list(handles), list(labels)))


def check_bars(interval: Any) -> None:
    """Raise an error unless `interval` is a kind of bars or None."""
    kinds = ("wilson", "clopper_pearson", "normal")
    if interval is not None and interval not in kinds:
        raise ParameterError(
            "interval",
            f"must be one of {', '.join(map(repr, kinds))}, or None for no "
            f"bars. Got {interval!r}.",
        )


def error_text(error: CalibrationErrorInterval, *, with_bins: bool = False) -> str:
    """Return the error and its interval as text.

    `with_bins` adds what distinguishes it from the error in the bins of the curve.
    """
    digits = ".1e" if 0 < error.high < 0.001 else ".3f"
    numbers = f"{error.estimate:{digits}} {ends_text(error.low, error.high, digits)}"
    if with_bins:
        return f"debiased error {numbers} in bins of {error.bin_size}"
    return f"error {numbers}"


def error_in_words(name: Any, error: CalibrationErrorInterval) -> str:
    """Return a sentence or two about the error of a model, or of a group of pairs."""
    _, _, numbers = error_text(error).partition(" ")
    estimate, _, ends = numbers.partition(" ")
    of = "" if name is None else f" of {name}"
    verdict = "does not contain 0: the probabilities are miscalibrated"
    if np.isnan(error.p_value):
        verdict = "contains 0: there is no test of perfect calibration with so few rows"
    elif error.low == 0:
        verdict = "contains 0: the data do not rule out perfect calibration"
    return (
        f"The calibration error{of} (root mean square, debiased, in bins of "
        f"{error.bin_size} pairs) is {estimate}, and its "
        f"{percent_text(error.confidence_level)} confidence interval {ends} {verdict}."
    )


def number_of_columns(n: int, n_columns: Any) -> int:
    """Return the number of columns for `n` panels."""
    if n_columns is None:
        return n if n <= _ONE_ROW else int(np.ceil(np.sqrt(n)))
    return min(check_integer(n_columns, minimum=1, name="n_columns"), n)


def take_figure(fig: Any, n_rows: int, n_columns: int, counts: bool) -> Any:
    """Return `fig`, or a new figure with space for the panels if it is None."""
    from matplotlib.figure import Figure, SubFigure

    if fig is None:
        import matplotlib.pyplot as plt

        height = _PANEL[1] + (_HISTOGRAM if counts else 0)
        # with space for the title of the figure and of a single panel
        size = (max(_PANEL[0] * n_columns, 4.5) + 0.4, height * n_rows + 0.8)
        return plt.figure(figsize=size, layout="constrained")
    if not isinstance(fig, (Figure, SubFigure)):
        raise ParameterTypeError(
            "fig",
            "must be a matplotlib Figure or SubFigure, or None. Got "
            f"{type(fig).__name__}.",
        )
    if fig.get_axes():
        raise ParameterError(
            "fig",
            "must be empty. Got one with axes, which the panels would cover. Call "
            "its clear() first.",
        )
    return fig


def panel_axes(figure: Any, groups: list[Any], n_columns: int) -> dict[Any, Any]:
    """Return axes for each group, which share their limits."""
    n_rows = -(-len(groups) // n_columns)
    grid = figure.add_gridspec(n_rows, n_columns)
    axes: dict[Any, Any] = {}
    for k, group in enumerate(groups):
        first = next(iter(axes.values()), None)
        place = grid[k // n_columns, k % n_columns]
        axes[group] = figure.add_subplot(place, sharex=first, sharey=first)
    return axes


def share_limits(histograms: list[Any]) -> None:
    """Give all histograms the same limits."""
    found = [ax for ax in histograms if ax is not None]
    if found:
        low, high = np.transpose([ax.get_ylim() for ax in found])
        for ax in found:
            ax.set_ylim(low.min(), high.max())
