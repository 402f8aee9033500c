"""The figure of a corrected count: over periods, or a row for each group."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._errors import printable
from ._count_words import estimand_in_words

# Lines of a figure; of more groups, those with the largest counts are drawn.
MOST_LINES = 6
_MOST_ROWS = 40
# Names of periods at the axis.
_MOST_TICKS = 12

_CORRECTED = "corrected"
_UNCORRECTED = "model alone"


def draw(found: dict[str, Any]) -> Any:
    """Return the figure of a count."""
    from matplotlib.figure import Figure

    rows = found["table"]
    if rows and "period" in rows[0]:
        figure = Figure(figsize=(7.2, 4.2), layout="constrained")
        _over_time(figure.subplots(), found)
    else:
        shown = _dots(found)
        height = max(2.2, 0.32 * len(shown) + 1.4)
        figure = Figure(figsize=(6.4, height), layout="constrained")
        _as_dots(figure.subplots(), shown, found)
    return figure


def groups_of(found: dict[str, Any]) -> list[str]:
    """Return the groups that the figure shows, the largest first."""
    total: dict[str, float] = {}
    for row in found["table"]:
        if "by" in row:
            total[row["by"]] = total.get(row["by"], 0.0) + row["estimate"]
    return sorted(total, key=lambda name: -total[name])


def _over_time(axes: Any, found: dict[str, Any]) -> None:
    """Draw estimates with intervals and the model's counts over periods."""
    rows = found["table"]
    names = found["period_labels"]
    place = {name: k for k, name in enumerate(names)}
    groups: list[str | None] = list(groups_of(found)[:MOST_LINES]) or [None]
    for k, group in enumerate(groups):
        part = [row for row in rows if group is None or row["by"] == group]
        x = np.array([place[row["period"]] for row in part], dtype=float)
        x += 0.12 * (k - (len(groups) - 1) / 2)
        y = _column(part, "estimate")
        known = np.isfinite(_column(part, "low"))
        ends = np.array(
            [y - _column(part, "low"), _column(part, "high") - y], dtype=float
        )
        label = _CORRECTED if group is None else printable(group)
        line = axes.errorbar(
            x[known], y[known], np.maximum(ends[:, known], 0), fmt="o", label=label
        )
        color = line[0].get_color()
        if not known.all():
            axes.plot(x[~known], y[~known], "o", mfc="none", color=color)
        is_first = k == 0
        axes.plot(
            x,
            _column(part, "uncorrected"),
            "--",
            lw=1,
            color="0.4" if group is None else color,
            label=f"{_UNCORRECTED} (no interval)" if is_first else None,
        )
    step = -(-len(names) // _MOST_TICKS)
    axes.set_xticks(range(0, len(names), step), names[::step])
    if len(names) > _MOST_TICKS // 2:
        axes.tick_params(axis="x", rotation=45)
    axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    axes.set_ylabel(_what(found))
    _legend(axes)


def _legend(axes: Any) -> None:
    """Place the legend above the axes, where it covers nothing."""
    n = len(axes.get_legend_handles_labels()[1])
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=min(n, 4))


def _column(rows: list[dict[str, Any]], name: str) -> np.ndarray:
    values = [np.nan if row[name] is None else row[name] for row in rows]
    return np.array(values, dtype=float)


def _what(found: dict[str, Any]) -> str:
    percent = f"{100 * found['confidence_level']:g}%"
    name = estimand_in_words(found).capitalize()
    return f"{name}, {percent} interval"


def _dots(found: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the names and numbers of the rows, from the top."""
    if found["table"]:
        largest = set(groups_of(found)[:_MOST_ROWS])
        return [(row["by"], row) for row in found["table"] if row["by"] in largest]
    alone = {"estimate": found["uncorrected"], "low": None, "high": None}
    shown = [(f"{_UNCORRECTED} (no interval)", alone)]
    if found["n_labelled"]:
        shown = [(_CORRECTED, found), ("labels alone", found["labels_only"]), *shown]
    return shown


def _as_dots(
    axes: Any, shown: list[tuple[str, dict[str, Any]]], found: dict[str, Any]
) -> None:
    """Draw a row for each group, or for the three ways to count."""
    for k, (_, row) in enumerate(shown):
        if row["low"] is None:
            axes.plot(row["estimate"], k, "o", mfc="none", color="0.4")
            continue
        ends = [row["estimate"] - row["low"]], [row["high"] - row["estimate"]]
        axes.errorbar(row["estimate"], k, xerr=ends, fmt="o", color="C0")
    if found["table"]:
        values = [row["uncorrected"] for _, row in shown]
        label = f"{_UNCORRECTED} (no interval)"
        axes.plot(values, range(len(shown)), "x", color="0.4", label=label)
        _legend(axes)
    axes.set_yticks(range(len(shown)), [printable(name) for name, _ in shown])
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlim(left=min(0, axes.get_xlim()[0]))
    axes.set_xlabel(_what(found))
