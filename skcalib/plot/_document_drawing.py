"""Parts of a document's display: arcs, words, bars and choices.

The axes extend from 0 to 1 and have one row per mention, from top to bottom.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._figures import plain_text, short_text

# Positions of the columns.
_ARC_LEFT, _ARC_RIGHT, _NUMBER, _MENTION = 0.0, 0.14, 0.165, 0.36
_BAR_LEFT, _BAR_RIGHT, _CHOICE = 0.66, 0.79, 0.80

_FONT = 8
_SINGLE = "0.35"  # entities of a single mention, and other entities together
_HEADING = "0.45"
_ALARM = "#b2182b"

# Largest number of choices in a row, and their smallest probability.
_MOST_CHOICES, _LEAST_CHOICE = 3, 0.1

# Smallest probability of an entity that has its own part of a bar.
_LEAST_PART = 0.02


class ShownMentions:
    """Mentions that are shown, and the colours of entities.

    `shown` are the numbers of the mentions, one per row. `proba` are the probabilities
    of the antecedents of all mentions and `entity` are their predicted entities.
    """

    def __init__(self, shown: np.ndarray, proba: np.ndarray, entity: np.ndarray):
        self.shown, self.proba, self.entity = shown, proba, entity
        self.place = {int(j): row for row, j in enumerate(shown.tolist())}
        self.color = _colors(entity, shown)

    def color_of(self, mention: int) -> Any:
        return self.color.get(self.entity[mention], _SINGLE)

    def masses(self, j: int) -> list[tuple[Any, float]]:
        """Return the entities that a mention may join, with their probabilities."""
        mass: dict[Any, float] = {}
        for k in range(j):
            key = self.entity[k]
            mass[key] = mass.get(key, 0.0) + float(self.proba[j, k])
        return sorted(mass.items(), key=lambda item: -item[1])


def _colors(entity: np.ndarray, shown: np.ndarray) -> dict[Any, Any]:
    """Return a colour for each entity of several mentions, those shown first."""
    from matplotlib import colormaps

    # strong colours first; grey is reserved for single mentions
    order = [*range(0, 20, 2), *range(1, 20, 2)]
    palette = [colormaps["tab20"](k) for k in order if k not in (14, 15)]
    names, count = np.unique(entity, return_counts=True)
    several = set(names[count > 1].tolist())
    seen = [e for e in [*entity[shown].tolist(), *entity.tolist()] if e in several]
    return {
        name: palette[k % len(palette)] for k, name in enumerate(dict.fromkeys(seen))
    }


def draw_arcs(ax: Any, rows: ShownMentions, min_proba: float) -> Any:
    """Draw arcs to antecedents; arcs to hidden mentions end above the first row."""
    from matplotlib.collections import PathCollection
    from matplotlib.colors import to_rgba
    from matplotlib.path import Path

    _heading(ax, _ARC_LEFT, "antecedents", "left")
    arcs = [
        (row, rows.place.get(k, -1), float(rows.proba[j, k]), rows.color_of(k))
        for row, j in enumerate(rows.shown.tolist())
        for k in np.flatnonzero(rows.proba[j, :j] >= min_proba).tolist()
    ]
    arcs.sort(key=lambda arc: arc[2])  # the most probable on top
    longest = max((row - to for row, to, _, _ in arcs), default=1)
    paths = []
    for row, to, _, _ in arcs:
        # a cubic curve reaches three quarters of the way to its control points
        reach = (_ARC_RIGHT - _ARC_LEFT) * ((row - to) / longest) ** 0.5
        x = _ARC_RIGHT - reach / 0.75
        points = [(_ARC_RIGHT, row), (x, row), (x, to), (_ARC_RIGHT, to)]
        paths.append(Path(points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]))
    collection = PathCollection(
        paths,
        facecolors="none",
        edgecolors=[to_rgba(c, 0.15 + 0.85 * p) for _, _, p, c in arcs],
        linewidths=[0.4 + 2.4 * p for _, _, p, _ in arcs],
        zorder=2,
    )
    ax.add_collection(collection, autolim=False)
    if any(to < 0 for _, to, _, _ in arcs):
        _heading(ax, _NUMBER, "…", "right")
    return collection


def _heading(ax: Any, x: float, text: str, align: str) -> None:
    ax.text(
        x, -1, text, ha=align, va="center", fontsize=_FONT, color=_HEADING, clip_on=True
    )


def draw_text(
    ax: Any,
    rows: ShownMentions,
    before: Sequence[str],
    mention: Sequence[str],
    after: Sequence[str],
    context: int,
) -> list[Any]:
    """Draw the number and the words of each mention."""
    _heading(ax, _MENTION, "mention, in its sentence", "left")
    found = []
    style = {"va": "center_baseline", "fontsize": _FONT}
    for row, j in enumerate(rows.shown.tolist()):
        ax.text(_NUMBER, row, str(j), ha="right", color=rows.color_of(j), **style)
        left, own, right = _cut(before[j], mention[j], after[j], context)
        if left:
            x = _MENTION - 0.004
            ax.text(x, row, left, ha="right", color="0.5", **style)
        bold = {"color": rows.color_of(j), "fontweight": "bold"}
        found.append(ax.text(_MENTION, row, own, **bold, **style))
        if right:
            # the end of the mention is known only after it is drawn
            following = ax.annotate(
                f" {right}",
                (1, row),
                xycoords=(found[-1], "data"),
                color="0.5",
                annotation_clip=False,
                **style,
            )
            following.set_in_layout(False)
    return found


def _cut(before: str, mention: str, after: str, context: int) -> tuple[str, str, str]:
    """Return the words of a row, with each part cut to its space."""
    if len(before) > context:
        before = f"…{before[1 - context :]}"
    space = context + context // 2
    # the end of a long mention is less informative than its beginning
    mention = short_text(mention, max(space - 10, context))
    after = short_text(after, max(space - len(mention), 1))
    return plain_text(before), plain_text(mention), plain_text(after)


def draw_bars(ax: Any, rows: ShownMentions) -> Any:
    """Draw how the probability of each mention is divided among NEW and entities."""
    _heading(ax, _BAR_LEFT, "NEW", "left")
    _heading(ax, _BAR_RIGHT, "entities", "right")
    parts = []
    for row, j in enumerate(rows.shown.tolist()):
        left = float(rows.proba[j, j])
        parts.append((row, 0.0, left, "white"))
        rest = 0.0
        for entity, mass in rows.masses(j):
            if mass < _LEAST_PART or entity not in rows.color:
                rest += mass
                continue
            parts.append((row, left, mass, rows.color[entity]))
            left += mass
        parts.append((row, left, rest, "0.75"))
    place, left_of, width, color = zip(*parts, strict=True)
    unit = _BAR_RIGHT - _BAR_LEFT
    return ax.barh(
        place,
        unit * np.array(width),
        left=_BAR_LEFT + unit * np.array(left_of),
        height=0.66,
        color=color,
        edgecolor="0.4",
        linewidth=0.4,
        zorder=2,
    )


def draw_choices(
    ax: Any,
    rows: ShownMentions,
    is_uncertain: np.ndarray,
    wrong: dict[int, tuple[str, float]],
) -> list[Any]:
    """Write the most probable choices of each mention, and true choices if wrong."""
    _heading(ax, _CHOICE, "most probable; bold: uncertain", "left")
    found = []
    for row, j in enumerate(rows.shown.tolist()):
        proba = rows.proba[j, : j + 1]
        order = np.argsort(-proba, kind="stable")[:_MOST_CHOICES].tolist()
        some = [k for k in order if proba[k] >= _LEAST_CHOICE] or order[:1]
        said = "  ".join(f"{'NEW' if k == j else k} {_short(proba[k])}" for k in some)
        style = {"va": "center_baseline", "fontsize": _FONT}
        weight = "bold" if is_uncertain[j] else "normal"
        color = "black" if is_uncertain[j] else "0.45"
        found.append(
            ax.text(_CHOICE, row, said, fontweight=weight, color=color, **style)
        )
        if j in wrong:
            said, p = wrong[j]
            text = f"true: {said} {_short(p)}"
            ax.text(1, row, text, ha="right", color=_ALARM, **style)
    return found


def _short(proba: float) -> str:
    """Return a probability with two digits."""
    return f"{proba:.2f}".removeprefix("0")
