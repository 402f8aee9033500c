"""Plots of comparisons of systems: their scores, and gains with p-values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, ParameterTypeError, public
from .._validation import check_positive, check_same_length, is_sequence
from ..significance import SystemComparison, compare_systems
from ..significance._experiments import (
    BorderlineThreshold,
    check_borderline,
    check_gains,
    threshold_of,
)
from . import _style
from ._base import Display, check_type, drawing, legend_text, percent_text, plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SAME, DIFFERENT = "same model", "different models"


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
    lower_is_better : bool, default=False
        Whether the system with the lowest score is the best, as for TER.

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
    skcalib.significance.compare_systems : Compute scores, intervals and groups.

    Examples
    --------
    >>> from skcalib.plot import SystemScoresDisplay
    >>> from skcalib.significance import compare_systems
    >>> right = {"a": [1] * 30, "b": [1] * 29 + [0], "c": [0] * 30}
    >>> SystemScoresDisplay.from_comparison(compare_systems(right)).names
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
        lower_is_better: bool = False,
    ):
        self.names: list[str] = list(names)
        self.score: np.ndarray = np.asarray(score, dtype=np.float64)
        self.low: np.ndarray = np.asarray(low, dtype=np.float64)
        self.high: np.ndarray = np.asarray(high, dtype=np.float64)
        self.not_separated: list[list[str]] = [list(group) for group in not_separated]
        self.metric: str = metric
        self.confidence_level: float = confidence_level
        self.lower_is_better: bool = lower_is_better

    @classmethod
    @public
    def from_comparison(
        cls,
        comparison: SystemComparison,
        *,
        metric: str = "score",
        ax: Axes | None = None,
        **plot_params: Any,
    ) -> SystemScoresDisplay:
        """Draw the systems of a comparison.

        Parameters
        ----------
        comparison : SystemComparison
            Result of :func:`~skcalib.significance.compare_systems`.
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
        check_type(
            comparison, SystemComparison, "a SystemComparison", name="comparison"
        )
        return cls(
            comparison.names,
            comparison.score,
            comparison.low,
            comparison.high,
            comparison.not_separated(1 - comparison.confidence_level),
            metric=metric,
            confidence_level=comparison.confidence_level,
            lower_is_better=comparison._lower_is_better,
        ).plot(ax, **plot_params)

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
        style = _style.line_style(errorbar_kwargs, name="errorbar_kwargs")
        style = {"markersize": 3.5, "color": _style.COLORS[0]} | style
        # A format contains marker and line, and would contradict the defaults.
        if "fmt" not in style:
            style = {"marker": "o", "linestyle": "none"} | style
        ax = _style.take_axes(ax, _style.COLUMN, 0.2 * n + 0.8)
        best_first = self.score if self.lower_is_better else -self.score
        order = np.argsort(best_first, kind="stable")
        place = {self.names[k]: row for row, k in enumerate(order)}
        # An interval need not contain its score, as for an open end at 0.
        widths = np.maximum([self.score - self.low, self.high - self.score], 0)
        self.intervals_: Any = ax.errorbar(
            self.score[order], np.arange(n), xerr=widths[:, order], **style
        )
        self.bars_: list[Any] = self._draw_bars(ax, place)
        ax.set_yticks(np.arange(n), [plain_text(self.names[k]) for k in order])
        # Rows are numbered from the top.
        ax.set_ylim(n - 0.5, -0.5)
        level = percent_text(self.confidence_level)
        ax.set_xlabel(f"{plain_text(self.metric)} with {level} interval")
        if self.bars_:
            size = _style.text_size(ax)
            title = "bars join systems\nwithout a significant difference"
            ax.set_title(title, fontsize=size)
        ax.grid(axis="x", alpha=0.3, linewidth=0.6)
        self.ax_: Any = ax
        self.figure_: Any = ax.figure
        return self

    def _draw_bars(self, ax: Any, place: dict[str, int]) -> list[Any]:
        """Draw one bar per group, beside the axes so that no score is hidden."""
        groups = [sorted(place[name] for name in g) for g in self.not_separated]
        # A system that is separated from all others needs no bar.
        several = [rows for rows in groups if len(rows) > 1]
        lanes: list[int] = []
        bars = []
        for rows in sorted(several):
            # A bar takes the first lane in which the bar above it has ended.
            lane = next((k for k, end in enumerate(lanes) if end < rows[0]), len(lanes))
            lanes[lane : lane + 1] = [rows[-1]]
            x, transform = [1.02 + 0.02 * lane] * len(rows), ax.get_yaxis_transform()
            style = {"marker": ".", "color": "0.45", "clip_on": False}
            bars += ax.plot(x, rows, "-", transform=transform, **style)
        return bars

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and settings behind the plot."""
        settings = ("not_separated", "metric", "confidence_level", "lower_is_better")
        return super().to_dict() | {name: getattr(self, name) for name in settings}

    def _columns(self) -> dict[str, Any]:
        ends = {"low": self.low, "high": self.high}
        return {"system": self.names, "score": self.score, **ends}

    def _lines(self) -> Sequence[str]:
        return (
            f"{len(self.names)} systems",
            f"{self.metric} with {percent_text(self.confidence_level)} intervals",
        )


@dataclass(repr=False, eq=False, kw_only=True)
class SignificanceDisplay(Display):
    """Plot of confidence against gain, for all pairs of systems.

    Each point is a pair of systems. The x-axis is the gain (the absolute difference of
    the metric), and the y-axis is the confidence 1 - p, as in Figures 2 to 11 of [1]_.
    There is one series for each kind of pair, for example pairs of systems of the same
    model and of different models. Pairs with a p-value from `low` to `high` are called
    borderline. The threshold of a series is a quantile of the gains of its borderline
    pairs, by default the 95% quantile.

    Create the display with :meth:`from_comparison`, :meth:`from_statistics` or
    :meth:`from_pvalues`; the parameters are stored as attributes.

    Parameters
    ----------
    gain : ndarray of shape (n_pairs,)
        Absolute gain of each pair.
    pvalue : ndarray of shape (n_pairs,)
        The p-value of each pair, not adjusted for multiple comparisons.
    kind : list of str, default=None
        Series that each pair belongs to. If None, all pairs are one series.
    alternative : str, default='two-sided'
        Alternative hypothesis of the test, for the label of the axis.
    low : float, default=0.04
        Lowest p-value of a borderline pair.
    high : float, default=0.06
        Highest p-value of a borderline pair.
    quantile : float, default=0.95
        Quantile of the gains of the borderline pairs that is used as the threshold.

    Attributes
    ----------
    threshold : dict
        For each series, its threshold (None if no pair is borderline) and the number of
        borderline pairs.
    point_ : dict
        Points of each series.
    threshold_line_ : dict
        Line at the threshold of each series. None if there is no threshold.
    level_line_ : matplotlib Artist
        Line at a confidence of 0.95.
    ax_ : matplotlib Axes
        Axes with the points.
    figure_ : matplotlib Figure
        Figure that contains the axes.

    See Also
    --------
    skcalib.significance.compare_systems : Gains and p-values of all pairs.
    skcalib.significance.borderline_threshold : Compute one threshold.

    Notes
    -----
    The default p-values are two-sided. The paper orders each pair so that the gain is
    positive and uses a one-sided p-value, which is about half of the two-sided p-value.
    Such a test at level .05 has an error rate of 10%. The curves of the paper therefore
    begin at a confidence of one half, and the curves of this display begin at 0.

    :meth:`frame` has one row per pair, with the columns `kind`, `gain` and `pvalue`.

    References
    ----------
    .. [1] T. Berg-Kirkpatrick, D. Burkett and D. Klein (2012). "An empirical
       investigation of statistical significance in NLP". EMNLP-CoNLL.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.plot import SignificanceDisplay
    >>> rng = np.random.default_rng(0)
    >>> right = {f"{m}{k}": rng.random(400) < 0.8 for m in "ab" for k in range(6)}
    >>> display = SignificanceDisplay.from_statistics(
    ...     right, statistic="mean", model={name: name[0] for name in right}
    ... )
    >>> display
    SignificanceDisplay(same model: 30 pairs, ...; different models: 36 pairs, ...)
    """

    gain: ArrayLike
    pvalue: ArrayLike
    kind: Sequence[str] | None = None
    alternative: str = "two-sided"
    low: float = 0.04
    high: float = 0.06
    quantile: float = 0.95

    @classmethod
    @public
    def from_comparison(
        cls,
        comparison: SystemComparison,
        *,
        model: Mapping[str, Any] | None = None,
        low: float = 0.04,
        high: float = 0.06,
        quantile: float = 0.95,
        ax: Axes | None = None,
        **plot_params: Any,
    ) -> SignificanceDisplay:
        """Draw all pairs of a comparison.

        Parameters
        ----------
        comparison : SystemComparison
            Result of :func:`~skcalib.significance.compare_systems`.
        model : mapping of str, default=None
            Model (or research group) of each system by name. Pairs of systems of the
            same model form one series, and pairs of different models form another. If
            None, all pairs are one series.
        low, high, quantile : float, optional
            Range of the p-values of borderline pairs, and the quantile of their gains
            that is the threshold, as in :class:`SignificanceDisplay`.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

        Returns
        -------
        display : SignificanceDisplay

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.plot import SignificanceDisplay
        >>> from skcalib.significance import compare_systems
        >>> rng = np.random.default_rng(0)
        >>> right = {name: rng.random(400) < 0.8 for name in "abcd"}
        >>> result = compare_systems(right, statistic="mean")
        >>> SignificanceDisplay.from_comparison(result).gain.shape
        (6,)
        """
        check_type(
            comparison, SystemComparison, "a SystemComparison", name="comparison"
        )
        return cls.from_pvalues(
            comparison.gain,
            comparison.pvalue,
            kind=_kinds(comparison.pairs, model),
            alternative=comparison.alternative,
            low=low,
            high=high,
            quantile=quantile,
            ax=ax,
            **plot_params,
        )

    @classmethod
    @public
    def from_statistics(
        cls,
        systems: Mapping[str, ArrayLike],
        *,
        statistic: str | Callable[[np.ndarray], Any],
        model: Mapping[str, Any] | None = None,
        groups: ArrayLike | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        ax: Axes | None = None,
        **plot_params: Any,
    ) -> SignificanceDisplay:
        """Compare all pairs of systems and draw them.

        Parameters
        ----------
        systems : mapping of str to array-like
            Sufficient statistics of each system by name.
        statistic : {'mean', 'ratio', 'f1'} or callable
            Statistic to compare, as in :func:`~skcalib.significance.compare_systems`.
        model : mapping of str, default=None
            Model of each system, as in :meth:`from_comparison`.
        groups : array-like of shape (n,), default=None
            Group of each row, for example its document.
        random_state : int, RandomState, Generator or None, default=None
            Random state used by tests that draw resamples.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

        Returns
        -------
        display : SignificanceDisplay

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.plot import SignificanceDisplay
        >>> rng = np.random.default_rng(0)
        >>> right = {name: rng.random(400) < 0.8 for name in "abcd"}
        >>> SignificanceDisplay.from_statistics(right, statistic="mean").alternative
        'two-sided'
        """
        comparison = compare_systems(
            systems, statistic=statistic, groups=groups, random_state=random_state
        )
        return cls.from_comparison(comparison, model=model, ax=ax, **plot_params)

    @classmethod
    @public
    def from_pvalues(
        cls,
        gains: ArrayLike,
        pvalues: ArrayLike,
        *,
        kind: Sequence[str] | None = None,
        alternative: str = "two-sided",
        low: float = 0.04,
        high: float = 0.06,
        quantile: float = 0.95,
        ax: Axes | None = None,
        **plot_params: Any,
    ) -> SignificanceDisplay:
        """Draw gains and p-values that were computed by any method.

        Parameters
        ----------
        gains : array-like of shape (n_pairs,)
            Difference of the metric for each pair. Its sign is ignored.
        pvalues : array-like of shape (n_pairs,)
            The p-value of each pair, not adjusted for multiple comparisons.
        kind : sequence of str, default=None
            Name of the series that each pair belongs to. If None, all pairs are one
            series.
        alternative : str, default='two-sided'
            Alternative hypothesis of the test, for the label of the axis.
        low, high, quantile : float, optional
            Range of the p-values of borderline pairs, and the quantile of their gains
            that is the threshold, as in :class:`SignificanceDisplay`.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

        Returns
        -------
        display : SignificanceDisplay

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.plot import SignificanceDisplay
        >>> gains = np.linspace(0.01, 1, 100)
        >>> display = SignificanceDisplay.from_pvalues(gains, 0.5 * np.exp(-5 * gains))
        >>> display.threshold["pairs"]
        BorderlineThreshold(threshold=0.4965, n_pairs=8)
        """
        gain, pvalue = check_gains(gains, pvalues)
        if kind is not None:
            if not is_sequence(kind):
                raise ParameterTypeError(
                    "kind",
                    "must be a sequence with the name of the series of each pair. "
                    f"Got {kind!r:.50}.",
                )
            check_same_length(gains=gain, kind=kind)
            kind = [str(each) for each in kind]
        low, high, quantile = check_borderline(low, high, quantile)
        display = cls(
            # Which system of a pair is better does not matter for the plot.
            gain=np.abs(gain),
            pvalue=pvalue,
            kind=kind,
            alternative=alternative,
            low=low,
            high=high,
            quantile=quantile,
        )
        return display.plot(ax, **plot_params)

    @drawing
    def plot(
        self,
        ax: Axes | None = None,
        *,
        metric_name: str = "metric",
        max_gain: float | None = None,
        threshold: bool = True,
        point_kwargs: Mapping[str, Any] | None = None,
        threshold_kwargs: Mapping[str, Any] | None = None,
    ) -> SignificanceDisplay:
        """Draw the pairs.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        metric_name : str, default='metric'
            Name of the metric, for the label of the axis.
        max_gain : float, default=None
            Right end of the x-axis. If None, it is three times the largest threshold,
            because almost all pairs with a larger gain have a confidence of 1. If the
            largest gain is smaller, or if there is no threshold, the axis ends at the
            largest gain.
        threshold : bool, default=True
            Whether to draw the threshold of each series.
        point_kwargs : dict, default=None
            Keyword arguments for matplotlib's ``plot`` of the points.
        threshold_kwargs : dict, default=None
            Keyword arguments for matplotlib's ``axvline`` of the thresholds.

        Returns
        -------
        display : SignificanceDisplay
            The display itself.
        """
        if max_gain is not None:
            check_positive(max_gain, name="max_gain")
        points = _style.line_style(point_kwargs, name="point_kwargs")
        lines = _style.line_style(threshold_kwargs, name="threshold_kwargs")
        ax = _style.take_axes(ax, _style.COLUMN, 2.5)
        self.ax_: Any = ax
        self.figure_: Any = ax.figure
        side = plain_text(self.alternative)
        ax.set(xlabel=f"Gain ({plain_text(metric_name)})", ylabel=f"1 - p ({side})")
        self.level_line_: Any = ax.axhline(
            0.95, color="0.6", linewidth=0.8, zorder=1, label="_level"
        )
        self.point_: dict[str, Any] = {}
        self.threshold_line_: dict[str, Any] = {}
        # Each access computes the thresholds of all series.
        found = self.threshold
        for name, (gain, pvalue) in self._series().items():
            style = _style.next_style(ax) | {"linestyle": "none", "alpha": 0.7}
            style |= {"markerfacecolor": "none", "markeredgewidth": 0.7}
            style["label"] = legend_text(name, f"{gain.size} pairs")
            (drawn,) = ax.plot(gain, 1 - pvalue, **{**style, **points})
            self.point_[name], self.threshold_line_[name] = drawn, None
            gain_at, n = found[name]
            if threshold and gain_at is not None:
                label = f"threshold {gain_at:.3g} (borderline pairs: {n})"
                style = {"linestyle": "--", "linewidth": 1.2, "label": label}
                style |= {"color": drawn.get_color(), **lines}
                self.threshold_line_[name] = ax.axvline(gain_at, **style)
        # Beyond three thresholds almost all pairs have a confidence of 1.
        thresholds = [each.threshold for each in found.values() if each.threshold]
        if max_gain is None and thresholds:
            max_gain = min(3 * max(thresholds), 1.05 * float(np.max(self.gain)))
        if max_gain is not None:
            ax.set_xlim(-0.02 * max_gain, max_gain)
        ax.set_ylim(-0.02, 1.02)
        # More numbers would overlap in a column of a paper.
        ax.locator_params(axis="x", nbins=5)
        _style.name_curves(ax, at_curves=False)
        return self

    @property
    def threshold(self) -> dict[str, BorderlineThreshold]:
        """Threshold and number of borderline pairs of each series."""
        return {
            name: threshold_of(gain, pvalue, self.low, self.high, self.quantile)
            for name, (gain, pvalue) in self._series().items()
        }

    def _series(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return the gains and p-values of each series."""
        gain, pvalue = np.asarray(self.gain), np.asarray(self.pvalue)
        check_same_length(gain=gain, pvalue=pvalue, kind=self.kind)
        if self.kind is None:
            return {"pairs": (gain, pvalue)}
        kind = np.array(self.kind, dtype=object)
        # Pairs of the same model come first, other kinds in their order.
        names = sorted(dict.fromkeys(self.kind), key=lambda name: name != SAME)
        return {name: (gain[kind == name], pvalue[kind == name]) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers behind the plot, by series."""
        found = self.threshold
        return {
            name: {"gain": gain.tolist(), "pvalue": pvalue.tolist()}
            | found[name]._asdict()
            for name, (gain, pvalue) in self._series().items()
        }

    def _columns(self) -> dict[str, Any]:
        kind = ["pairs"] * np.size(self.gain) if self.kind is None else list(self.kind)
        return {"kind": kind, "gain": self.gain, "pvalue": self.pvalue}

    def _lines(self) -> list[str]:
        found = self.threshold
        lines = []
        for name, (gain, _) in self._series().items():
            value, n = found[name]
            at = "no threshold" if value is None else f"threshold {value:.3g}"
            lines.append(f"{name}: {gain.size} pairs, {at} from {n}")
        return lines

    def _in_words(self) -> list[str]:
        sentences = []
        for name, (value, n) in self.threshold.items():
            if value is None:
                sentences.append(
                    f"{name}: no pair is borderline, so no gain is known "
                    "above which differences are usually significant."
                )
                continue
            few = " There are few such pairs, so it is uncertain." if n < 10 else ""
            sentences.append(
                f"{name}: the {self.quantile:.0%} quantile of the gains with p-values "
                f"from {self.low:g} to {self.high:g} (borderline pairs: {n}) is "
                f"{value:.3g}. Larger gains are usually significant.{few}"
            )
        return sentences


def _kinds(
    pairs: Sequence[tuple[str, str]], model: Mapping[str, Any] | None
) -> list[str] | None:
    """Return whether the systems of each pair are of the same model."""
    if model is None:
        return None
    expected = "a mapping from the names of systems to their models"
    check_type(model, Mapping, expected, name="model")
    unknown = [name for pair in pairs for name in pair if name not in model]
    if unknown:
        raise ParameterError(
            "model", f"must have the model of each system. Got none for {unknown[0]!r}."
        )
    return [SAME if model[a] == model[b] else DIFFERENT for a, b in pairs]
