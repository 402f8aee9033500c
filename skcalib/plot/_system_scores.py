"""Plot of the scores of many systems with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, ParameterTypeError, public
from ..significance import ScoreComparison
from ._base import Display, drawing, line_style, percent_text, take_axes, visible_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SystemScoresDisplay(Display):
    """Scores of systems with their intervals, with the best system at the top.

    Bars beside the scores join systems that are not separated, which means that their
    scores do not differ significantly. It is recommended to create the display with
    :meth:`from_comparison`.

    Parameters
    ----------
    names : list of str
        Names of the systems.
    score, low, high : array-like of shape (n_systems,)
        Score of each system and the ends of its interval.
    not_separated : list of list of str, default=()
        Groups of systems in which no two systems are separated.
    metric : str, default='score'
        Name of the scores.
    confidence_level : float, default=0.95
        Confidence level of the intervals.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the scores.
    figure_ : matplotlib Figure
        Figure that contains the axes.
    intervals_ : matplotlib ErrorbarContainer
        Scores with their intervals.
    bars_ : list of matplotlib Line2D
        Bars of the groups with at least two systems.

    See Also
    --------
    skcalib.significance.compare_scores : Compute scores, intervals and groups.

    Examples
    --------
    >>> from skcalib.plot import SystemScoresDisplay
    >>> from skcalib.significance import compare_scores
    >>> right = {"a": [1] * 30, "b": [1] * 29 + [0], "c": [0] * 30}
    >>> SystemScoresDisplay.from_comparison(compare_scores(right)).names
    ['a', 'b', 'c']
    """

    def __init__(
        self,
        names: Sequence[str],
        score: ArrayLike,
        low: ArrayLike,
        high: ArrayLike,
        not_separated: Sequence[Sequence[str]] = (),
        *,
        metric: str = "score",
        confidence_level: float = 0.95,
    ):
        self.names = list(names)
        self.score, self.low, self.high = (
            np.asarray(x, dtype=np.float64) for x in (score, low, high)
        )
        self.not_separated = [list(group) for group in not_separated]
        self.metric, self.confidence_level = metric, confidence_level

    @classmethod
    @public
    def from_comparison(
        cls,
        comparison: ScoreComparison,
        *,
        metric: str = "score",
        ax: Axes | None = None,
        **plot_params: Any,
    ) -> SystemScoresDisplay:
        """Draw the systems of a comparison.

        Parameters
        ----------
        comparison : ScoreComparison
            Result of :func:`~skcalib.significance.compare_scores`.
        metric : str, default='score'
            Name of the scores.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

        Returns
        -------
        display : SystemScoresDisplay
        """
        if not isinstance(comparison, ScoreComparison):
            raise ParameterTypeError(
                "comparison",
                f"must be a ScoreComparison. Got {type(comparison).__name__}.",
            )
        display = cls(
            comparison.names,
            comparison.score,
            comparison.low,
            comparison.high,
            comparison.not_separated(1 - comparison.confidence_level),
            metric=metric,
            confidence_level=comparison.confidence_level,
        )
        return display.plot(ax, **plot_params)

    @drawing
    def plot(
        self,
        ax: Axes | None = None,
        *,
        errorbar_kwargs: Mapping[str, Any] | None = None,
    ) -> SystemScoresDisplay:
        """Draw the scores.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        errorbar_kwargs : dict, default=None
            Keyword arguments for matplotlib's ``errorbar``.

        Returns
        -------
        display : SystemScoresDisplay
        """
        n = len(self.names)
        if not (self.score.shape == self.low.shape == self.high.shape == (n,)):
            raise ParameterError(
                "score", f"must have one entry per name, {n}. Got {self.score.shape}."
            )
        default: dict[str, Any] = {"markersize": 4, "capsize": 2, "color": "C0"}
        style = default | line_style(errorbar_kwargs, name="errorbar_kwargs")
        if "fmt" not in style:
            style = {"marker": "o", "linestyle": "none"} | style
        ax = take_axes(ax, (6.4, max(1.8, 0.32 * n + 1.1)))
        order = np.argsort(-self.score, kind="stable")
        place = {self.names[k]: row for row, k in enumerate(order)}
        below, above = self.score - self.low, self.high - self.score
        self.intervals_ = ax.errorbar(
            self.score[order],
            np.arange(n),
            xerr=np.maximum([below[order], above[order]], 0),
            **style,
        )
        self.bars_ = self._draw_bars(ax, place)
        ax.set_yticks(
            np.arange(n), [visible_text(self.names[k]) for k in order], parse_math=False
        )
        ax.set_ylim(n - 0.5, -0.5)
        level = percent_text(self.confidence_level)
        ax.set_xlabel(f"{visible_text(self.metric)} with {level} interval")
        if self.bars_:
            ax.set_title("bars join systems that are not separated", fontsize="small")
        ax.grid(axis="x", alpha=0.3)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_bars(self, ax: Any, place: dict[str, int]) -> list:
        """Draw one bar per group, beside the axes so that no score is hidden."""
        groups = [sorted(place[name] for name in g) for g in self.not_separated]
        several = [rows for rows in groups if len(rows) > 1]
        lanes: list[int] = []
        bars = []
        for rows in sorted(several):
            lane = next((k for k, end in enumerate(lanes) if end < rows[0]), len(lanes))
            lanes[lane : lane + 1] = [rows[-1]]
            bars += ax.plot(
                [1.02 + 0.02 * lane] * len(rows),
                rows,
                "-",
                marker=".",
                color="0.45",
                clip_on=False,
                transform=ax.get_yaxis_transform(),
            )
        return bars

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and settings behind the plot."""
        return super().to_dict() | {
            "not_separated": self.not_separated,
            "metric": self.metric,
            "confidence_level": self.confidence_level,
        }

    def _columns(self) -> dict[str, Any]:
        return {
            "system": self.names,
            "score": self.score,
            "low": self.low,
            "high": self.high,
        }

    def _lines(self) -> Sequence[str]:
        return (
            f"{len(self.names)} systems",
            f"{self.metric} with {percent_text(self.confidence_level)} intervals",
        )
