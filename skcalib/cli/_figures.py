"""The figures of ``report`` and ``compare``, which need no screen and no pyplot."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import printable
from .._pairs import check_pairs
from ..plot import ReliabilityDisplay, RiskCoverageDisplay, SystemScoresDisplay, _style
from ..plot._base import plain_text
from ._blocks import Interval
from ._report_numbers import Alone, Measured, with_probabilities
from ._runs import Answers
from ._shared import new_file

if TYPE_CHECKING:  # `report` does not need the tests of differences
    from ._compare_numbers import Compared

# With more values of --by, the panels of the figure would be too small.
MOST_PANELS = 6


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure in the format that its name ends in."""
    with new_file(path) as new:
        figure.savefig(new, dpi=200, bbox_inches="tight")


def draw_curves(parts: Mapping[str, Answers], level: float, word: str) -> Any:
    """Return the reliability curve of each part that has probabilities, or None."""
    models = []
    for name, part in parts.items():
        used = with_probabilities(part)
        if used is None:
            continue
        # The curve has the intervals of the report: for groups, if answers depend on
        # each other.
        y, groups = used.y.astype(int), used.clusters
        (pairs,) = check_pairs(y, used.q, groups=groups, are_all=False)
        models.append((printable(name), pairs, None))
    if not models:
        return None
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        # The report mentions few groups.
        # The bins of the calibration error in the table.
        bins = "auto", None, "quantile"
        display = ReliabilityDisplay._draw(
            models, bins, level, None, _style.empty_figure(), {}
        )
    for axes in display.figure_.axes:
        # The display speaks of a classifier. Outcomes of answers are not positive but
        # right.
        if axes.get_ylabel() == "Fraction of positives":
            axes.set_ylabel(word.capitalize())
    return display.figure_


def draw_alone(part: Answers, alone: Alone, level: float) -> Any:
    """Return the error rate of the most confident answers and the threshold, or None.

    None is returned if all answers are right or all are wrong.
    """
    used = with_probabilities(part)
    # With equal outcomes there is no error rate to rank or choose by.
    if used is None or not 0 < used.y.mean() < 1:
        return None
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        # The report says how the confidence ranks.
        display = RiskCoverageDisplay.from_predictions(
            used.y.astype(bool),
            used.q,
            groups=used.clusters,
            precision=None if alone.threshold is None else alone.accuracy,
            confidence_level=level,
            ax=_style.empty_figure(),
        )
    return display.figure_


def draw_parts(parts: Mapping[str, Measured], word: str, level: str) -> Any:
    """Return the accuracy and the mean probability of each part, one row per part."""
    known = {n: p.stated.overall for n, p in parts.items() if p.stated is not None}
    rates = {name: overall.interval for name, overall in known.items()}
    axes = _draw_rows(rates, f"{word.capitalize()} with {level} interval", word)
    # Drawn beside the interval, so that a reader sees which means are outside.
    means = [each.mean_probability for each in known.values()]
    style = {"color": _style.COLORS[1], "markerfacecolor": "none", "markersize": 4}
    axes.plot(means, range(len(means)), "D", label="mean probability", **style)
    style = {"fontsize": _style.text_size(axes), "labelcolor": _style.INK}
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1), frameon=False, ncols=2, **style
    )
    return axes.figure


def draw_gains(gains: Mapping[str, tuple[float, Interval]], label: str) -> Any:
    """Return gains with their intervals, one row each, and a line at 0."""
    rows = {name: (value, ends.low, ends.high) for name, (value, ends) in gains.items()}
    axes = _draw_rows(rows, label)
    # An interval on one side of the line is a significant gain, if it is not adjusted.
    axes.axvline(0, color=_style.GREY, lw=1, ls="--")
    return axes.figure


def draw_scores(found: Compared) -> Any:
    """Return a figure of the scores of all systems.

    With labels of people, the tests of the judge's scores are not shown.
    """
    systems, groups = found.systems, list[list[str]]()
    by = " by the judge"
    if found.judged is None:
        by, groups = "", [list(map(printable, g)) for g in found.not_separated]
    display = SystemScoresDisplay(
        # Names come from files and may have control characters, which SVG does not
        # allow.
        names=[printable(each.name) for each in systems],
        score=[each.score for each in systems],
        low=[each.low for each in systems],
        high=[each.high for each in systems],
        not_separated=groups,
        metric=found.metric + by,
        confidence_level=found.confidence_level,
        lower_is_better=bool(found.lower_is_better),
    )
    return display.plot(_style.empty_figure()).figure_


def _draw_rows(
    rows: Mapping[str, Sequence[float]], label: str, name: str | None = None
) -> Any:
    """Return axes with an estimate and its interval per row, the first at the top."""
    n = len(rows)
    axes = _style.take_axes(_style.empty_figure(), _style.COLUMN, 0.2 * n + 0.8)
    value, low, high = np.array(list(rows.values()), dtype=float).reshape(n, 3).T
    # matplotlib rejects negative widths, which an end may give by rounding.
    widths = np.maximum([value - low, high - value], 0)
    style = {"fmt": "o", "markersize": 3.5, "color": _style.COLORS[0]}
    axes.errorbar(value, range(n), xerr=widths, label=name, **style)
    axes.set_yticks(range(n), list(map(plain_text, rows)))
    # The first row stands at the top, as in the table beside the figure.
    axes.set_ylim(n - 0.5, -0.5)
    axes.set_xlabel(label)
    # More numbers would overlap in a column of a paper.
    axes.locator_params(axis="x", nbins=5)
    axes.grid(axis="x", alpha=0.3, linewidth=0.6)
    return axes
