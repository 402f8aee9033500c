"""Style of all figures: sizes, fonts, colours, markers, and the names of curves.

Everything is set on the artists. Settings of matplotlib are only read, and axes that
the user passes keep their fonts, spines and cycle of colours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np

from .._errors import ParameterError, ParameterTypeError
from ._base import check_type

# Widths in inches of a column and of the text of a paper.
COLUMN, PAGE = 3.3, 6.9

# Font sizes in points of the labels of axes, and of all other text.
_LABEL, _SMALL = 8, 7

# Colour of text and axes. The commands replace it by the colour of text on a page.
INK = "#262626"
GREY = "0.5"

# Colours that colour-blind readers can distinguish (Okabe and Ito 2008). They take the
# place of matplotlib's default colours in the cycle of the axes.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_DEFAULTS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")

# Markers of series, which are distinguishable without colours.
MARKERS = "os^Dv<>P"

# Largest number of curves in one plot of a new figure, and of names at the curves.
MOST_TOGETHER = 3

# Marks of the line of each model, and of names at the curves.
CURVE, _NAME = "curve", "name at the curve"

# Attribute with the width and height of a figure with one axes and no legend below.
_SIZE = "_skcalib_size"

# Margins in inches (left, right, bottom, top) of an empty figure whose axes have short
# labels: the layout engine would take most of the time of drawing it.
_MARGINS = 0.45, 0.05, 0.35, 0.05

# Attribute of an empty figure that takes the place of a new one.
_EMPTY = "_skcalib_empty"

# Distance in points between a name and whatever is drawn, and between points of curves
# for which the distance is computed.
_APART, _STEP = 4, 3

# Characters of the names of several columns of a legend.
_IN_A_LINE = 45

# Characters in a line of a name at a curve.
_BESIDE = 36

BAND: dict[str, Any] = {"alpha": 0.2, "linewidth": 0}


def empty_figure() -> Any:
    """Return a figure for `plot` of a display that needs no screen and no pyplot."""
    from matplotlib.figure import Figure

    figure = Figure()
    setattr(figure, _EMPTY, True)
    return figure


def is_new(ax: Any) -> bool:
    """Return whether the axes of a display are yet to be made."""
    return ax is None or hasattr(ax, _EMPTY)


def is_figure(ax: Any) -> bool:
    """Return whether panels can be drawn: on a figure, or on one yet to be made."""
    from matplotlib.figure import Figure, SubFigure

    return ax is None or isinstance(ax, (Figure, SubFigure))


def new_figure(
    width: float, height: float, empty: Any = None, layout: str | None = "constrained"
) -> Any:
    """Return a figure for a paper, with the size of a usual figure on the screen."""
    from matplotlib import rcParams

    if empty is None:
        import matplotlib.pyplot as plt

        empty = plt.figure(dpi=2 * rcParams["figure.dpi"])
    empty.set_layout_engine(layout)
    empty.set_size_inches(width, height)
    return empty


def take_axes(ax: Any, width: float, height: float, *, are_short: bool = False) -> Any:
    """Return `ax`, or the axes of a new figure of the given size if it is None.

    The labels of the ticks may be short, as those of probabilities are.
    """
    from matplotlib.axes import Axes

    if not is_new(ax):
        check_type(ax, Axes, "matplotlib Axes or None", name="ax")
        return ax
    layout = None if are_short and ax is not None else "constrained"
    figure = new_figure(width, height, ax, layout)
    # `name_curves` may add a legend below the axes, from this size.
    setattr(figure, _SIZE, tuple(figure.get_size_inches()))
    _set_margins(figure)
    ax = style_axes(figure.subplots())
    # The space that square axes leave is at the bottom.
    ax.set_anchor("N")
    return ax


def _set_margins(figure: Any, below: float = 0) -> None:
    """Set the margins of a figure without a layout engine, with space below."""
    if figure.get_layout_engine() is None:
        width, height = figure.get_size_inches()
        left, right, bottom, top = _MARGINS
        figure.subplots_adjust(
            left / width, (bottom + below) / height, 1 - right / width, 1 - top / height
        )


def panel_axes(
    figure: Any, names: Sequence[Any], n_columns: int, **shared: bool
) -> dict[Any, Any]:
    """Return axes for each name, in rows of `n_columns` panels."""
    # The number of rows is rounded up.
    n_rows = -(-len(names) // n_columns)
    grid = figure.subplots(n_rows, n_columns, squeeze=False, **shared).ravel()
    for spare in grid[len(names) :]:
        spare.remove()
    return {
        name: style_axes(ax, small=True) for name, ax in zip(names, grid, strict=False)
    }


def style_axes(ax: Any, *, small: bool = False) -> Any:
    """Set the fonts, lines and colours of axes that were created by a display."""
    ax.tick_params(which="both", labelsize=_SMALL, colors=INK, length=2.5, width=0.6)
    ax.spines[:].set(color=INK, linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    for text in (ax.xaxis.label, ax.yaxis.label, ax.title):
        text.set(fontsize=_SMALL if small else _LABEL, color=INK)
    ax._skcalib_style = True
    return ax


def text_size(ax: Any) -> Any:
    """Return the font size of names and titles."""
    return _SMALL if hasattr(ax, "_skcalib_style") else "small"


def next_style(ax: Any) -> dict[str, Any]:
    """Return the colour and the marker of the next curve on the axes."""
    from matplotlib.colors import to_hex

    # A line takes the next colour of the cycle, which may be the user's own.
    (line,) = ax.plot([], [])
    color = to_hex(line.get_color())
    line.remove()
    if color in _DEFAULTS:
        color = COLORS[_DEFAULTS.index(color)]
    n = sum(line.get_gid() == CURVE for line in ax.lines)
    return {
        "color": color,
        "marker": MARKERS[n % len(MARKERS)],
        "markersize": 3.5,
        "linewidth": 1,
        "gid": CURVE,
    }


# A point of this weight is faint; opacity of a faint point, and diameter of the
# smallest point relative to the largest one.
_FEW, _FAINT, _SMALLEST = 2, 0.3, 0.45


def draw_points(
    ax: Any,
    x: np.ndarray,
    y: np.ndarray,
    ends: Sequence[np.ndarray] | None,
    style: Mapping[str, Any],
    weight: np.ndarray | None = None,
) -> tuple[Any, Any]:
    """Draw points and their intervals, if any; return the line and the bars.

    With weights, the area of a point follows its weight. A point of one or two rows is
    faint, and the line does not pass through it.
    """
    yerr = None
    if ends is not None:
        # An interval may exclude its point: for an estimate of 0 it is open there.
        yerr = np.maximum([y - ends[0], ends[1] - y], 0)
    default = {"elinewidth": 0.7, **style, "label": None}
    # The label goes to the line, as in other displays, not to the container.
    line, _, bars = ax.errorbar(x, y, yerr=yerr, **default).lines
    line.set_label(style["label"])
    bar = bars[0] if bars else None
    if weight is not None and weight.min() < 0.9 * weight.max():
        _weigh_points(ax, line, bar, weight)
    return line, bar


def _weigh_points(ax: Any, line: Any, bar: Any, weight: np.ndarray) -> None:
    """Draw the points of a line again, by their weights."""
    from matplotlib.colors import to_rgba_array
    from matplotlib.markers import MarkerStyle

    x, y = line.get_data()
    faint = weight <= _FEW
    faint &= not faint.all()
    opacity = np.where(faint, _FAINT, 1.0)
    size = line.get_markersize() * np.maximum(np.sqrt(weight / weight.max()), _SMALLEST)
    ax.scatter(
        x,
        y,
        s=size**2,
        marker=line.get_marker(),
        facecolor=to_rgba_array(line.get_markerfacecolor(), opacity),
        # Markers such as "x" have one colour.
        edgecolor=to_rgba_array(line.get_markeredgecolor(), opacity)
        if MarkerStyle(line.get_marker()).is_filled()
        else None,
        linewidth=line.get_markeredgewidth(),
        zorder=line.get_zorder(),
    )
    # The legend shows the marker, but the line does not draw it.
    line.set(markevery=[])
    if faint.any():
        line.set_clip_path(_between(x, ~faint), ax.transData)
    if bar is not None:
        bar.set_color(to_rgba_array(bar.get_color()[0], opacity))


def _between(x: np.ndarray, joined: np.ndarray) -> Any:
    """Return the region above the lines between neighbouring points that are joined.

    A line keeps the data of all points, as in other displays, and is clipped.
    """
    from matplotlib.path import Path

    turns = np.flatnonzero(np.diff(np.r_[False, joined, False])).reshape(-1, 2)
    ends = zip(x[turns[:, 0]], x[turns[:, 1] - 1], strict=True)
    boxes = [
        Path([(low, -1), (high, -1), (high, 2), (low, 2), (low, -1)], closed=True)
        for low, high in ends
    ]
    return Path.make_compound_path(*boxes)


def name_curves(
    ax: Any, entries: tuple[list, list] | None = None, *, at_curves: bool = True
) -> None:
    """Name two or three curves where they are drawn, and the others in a legend.

    `entries` are handles and labels; the default is the legend entries of `ax`. Below
    the axes of a new figure, the legend hides nothing, and the figure grows by its
    height. In other axes, it is where matplotlib finds it best.
    """
    from matplotlib.lines import Line2D

    for text in [text for text in ax.texts if text.get_gid() == _NAME]:
        text.remove()
    if ax.get_legend() is not None:
        ax.get_legend().remove()
    handles, labels = ax.get_legend_handles_labels() if entries is None else entries
    shown = dict(zip(labels, handles, strict=True))
    curves = {
        label: line
        for label, line in shown.items()
        if isinstance(line, Line2D) and line.get_gid() == CURVE
    }
    # A subfigure has the canvas of its figure.
    figure = ax.figure.canvas.figure
    size = getattr(figure, _SIZE, None)
    if size is not None:
        figure.set_size_inches(size)
        _set_margins(figure)
    # One curve of a new figure has a legend, which hides nothing.
    fewest = 1 if size is None else 2
    if at_curves and fewest <= len(curves) <= MOST_TOGETHER:
        # The place of the axes is known after the layout.
        engine = figure.get_layout_engine()
        if engine is not None:
            engine.execute(figure)
        ax.apply_aspect()
        if _name_at_curves(ax, curves):
            shown = {label: h for label, h in shown.items() if label not in curves}
    if shown:
        _draw_legend(ax, figure, shown)


def _draw_legend(ax: Any, figure: Any, shown: Mapping[str, Any]) -> None:
    """Draw a legend below the axes of a new figure, or within other axes."""
    from matplotlib.transforms import ScaledTranslation

    handles, labels = list(shown.values()), list(shown)
    style: dict[str, Any] = {"fontsize": text_size(ax)}
    size = getattr(figure, _SIZE, None)
    if size is None:
        legend = ax.legend(handles, labels, loc="best", **style)
        locator = ax.get_axes_locator()  # makes room for a histogram
        ax.apply_aspect(locator and locator(ax, None))
        room = 0.95 * ax.bbox.width / legend.get_window_extent().width
        if room < 1:  # it would leave small axes, which cuts it
            style["fontsize"] = room * legend.get_texts()[0].get_fontsize()
            legend = ax.legend(handles, labels, loc="best", **style)
        # a long name must not push the axes away
        legend.set_in_layout(False)
        return
    lowest = (ax.child_axes or [ax])[0]
    below = lowest.bbox.y0 - lowest.xaxis.get_tightbbox().y0
    shift = ScaledTranslation(0, -below / figure.dpi - 0.06, figure.dpi_scale_trans)
    longest = max(len(line) for label in labels for line in label.split("\n"))
    style |= {"ncols": max(1, _IN_A_LINE // (longest + 5)), "labelcolor": INK}
    style |= {"loc": "upper left", "bbox_to_anchor": (0, 0), "borderaxespad": 0}
    style |= {"frameon": False, "borderpad": 0, "handlelength": 1.8}
    transform = lowest.transAxes + shift
    legend = ax.legend(handles, labels, bbox_transform=transform, **style)
    height = legend.get_window_extent().height / figure.dpi
    figure.set_size_inches(size[0], size[1] + height + 0.1)
    _set_margins(figure, height + 0.1)


def _name_at_curves(ax: Any, curves: Mapping[str, Any]) -> bool:
    """Write the names beside their curves and return whether there is space for all.

    A name covers nothing that is drawn, and its own curve is the nearest.
    """
    point = ax.figure.dpi / 72
    drawn = [_points_of(artist, point) for artist in (*ax.lines, *ax.collections)]
    own = {label: _points_of(line, point) for label, line in curves.items()}
    taken, texts = np.concatenate(drawn), []
    for label, line in curves.items():
        # The last part of a label, its numbers, is on a line of its own.
        parts = "\n".join(label.rsplit(": ", 1)).split("\n")
        name = "\n".join(row for part in parts for row in wrap(part, _BESIDE))
        text = ax.text(0, 0, name, color=line.get_color(), gid=_NAME)
        text.set(fontsize=text_size(ax), ha="center", va="center", linespacing=1.1)
        texts.append(text)
        box, inside = text.get_window_extent(), ax.bbox
        half = 1.05 * np.array([box.width, box.height]) / 2
        low, high = inside.min + half + point, inside.max - half - point
        if (low > high).any():
            break
        axis = [np.linspace(a, b, 28) for a, b in zip(low, high, strict=True)]
        centre = np.stack(np.meshgrid(*axis), axis=-1).reshape(-1, 2)
        near = _distance(centre, half, own[label])
        is_free = _distance(centre, half, taken) > _APART * point
        for other in own.keys() - {label}:
            is_free &= 1.5 * near < _distance(centre, half, own[other])
        if not is_free.any():
            break
        best = centre[is_free][np.argmin(near[is_free])]
        text.set(
            transform=ax.transAxes, position=ax.transAxes.inverted().transform(best)
        )
        grid = np.meshgrid(*(np.linspace(-1, 1, 12),) * 2)
        taken = np.concatenate([taken, best + half * np.stack(grid, -1).reshape(-1, 2)])
    else:
        return True
    for text in texts:
        text.remove()
    return False


def _distance(centre: np.ndarray, half: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the distance from boxes of equal size to the nearest of some points."""
    beside = np.maximum(np.abs(centre[:, None] - points) - half, 0)
    return np.hypot(*np.moveaxis(beside, -1, 0)).min(axis=1, initial=np.inf)


def _points_of(artist: Any, point: float) -> np.ndarray:
    """Return points along the lines of an artist, in pixels."""
    is_line = hasattr(artist, "get_path")
    found = [np.zeros((0, 2))]
    for path in [artist.get_path()] if is_line else artist.get_paths():
        corners = artist.get_transform().transform(path.vertices)
        corners = corners[np.isfinite(corners).all(axis=1)]
        length = np.r_[0, np.hypot(*np.diff(corners, axis=0).T).cumsum()]
        if len(corners):
            at = np.arange(0, length[-1] + _STEP * point, _STEP * point)
            found.append(np.transpose([np.interp(at, length, x) for x in corners.T]))
    return np.concatenate(found)


def line_style(kwargs: Any, *, name: str) -> dict[str, Any]:
    """Return a style with the long names of matplotlib, which rejects aliases."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise ParameterTypeError(name, f"must be a dict. Got {kwargs!r:.50}.")
    return normalize_kwargs(dict(kwargs or {}), Line2D)


def line_styles(kwargs: Any, n: int) -> list[dict[str, Any]]:
    """Return the style of each of `n` curves, from one dict for all or a list."""
    name = "curve_kwargs"
    if kwargs is None or isinstance(kwargs, Mapping):
        return [line_style(kwargs, name=name)] * n
    is_list = isinstance(kwargs, Sequence) and not isinstance(kwargs, str)
    if not is_list or len(kwargs) != n:
        error = ParameterError if is_list else ParameterTypeError
        raise error(
            name,
            f"must be a dict, or a list with a dict for each of the {n} curves. Got "
            f"{kwargs!r:.50}.",
        )
    return [line_style(each, name=name) for each in kwargs]
