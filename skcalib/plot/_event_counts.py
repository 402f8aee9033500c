"""Plots of event counts over time, with the uncertainty of coreference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import ParameterError, ParameterTypeError, public
from .._periods import partial_in_words
from .._validation import check_bool, check_choice, check_fraction, check_integer
from ..events import EventCounts
from ..events._event_counts import CorrectedEventCounts
from . import _style
from ._base import (
    Display,
    check_type,
    drawing,
    legend_text,
    percent_text,
    plain_text,
    short_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
_ENDS = ("uncorrected_low", "uncorrected_high")

# Width and height of a panel in inches.
_PANEL = (_style.PAGE / 2, 1.6)

# Panels by default: a row of the page has two.
_MOST_PANELS = 8

# Smaller values are due to rounding, and drawn as 0.
_ROUNDING = 1e-9

# An actor has no events if its counts add up to 0.0 with one decimal.
_NO_EVENTS = 0.05

# Largest number of periods with a label at the axis. More labels would overlap.
_MOST_LABELS = 8

# Actors that the note names.
_MOST_NAMED = 24

# Letters in a line of the note below a figure of two panels.
_NOTE_WIDTH = 100

# Longer names of actors would overlap with the next title.
_LONGEST_NAME = 48

# Largest number of periods for which points are marked.
_FEW_PERIODS = 24


@dataclass(repr=False, eq=False, kw_only=True)
class EventCountDisplay(Display):
    """Counts of events over time, with a band for the uncertainty of coreference.

    For each actor, a line shows the posterior mean of the count and a band shows its
    interval, as in Figure 6 and the appendix of [1]_. A dashed line shows the count
    that results if every mention is linked to its most probable antecedent, which is
    the count of a system that ignores uncertainty.

    If the counts were corrected with the help of labelled documents, the line shows the
    corrected count and the band shows its interval. A dashed line and a lighter band
    then show the posterior mean and its interval.

    Create a display with :meth:`from_counts`. All parameters are stored as attributes.

    Parameters
    ----------
    period : sequence of label
        Periods in order.
    mean : dict of ndarray of shape (n_periods,)
        Posterior means, or corrected counts, of each actor.
    low, high : dict of ndarray of shape (n_periods,)
        Ends of the intervals.
    map_count : dict of ndarray of shape (n_periods,), default=None
        Counts for the most probable antecedents.
    uncorrected, uncorrected_low, uncorrected_high : dict of ndarray of shape \
(n_periods,), default=None
        Posterior means and ends of their intervals. They are given if `mean` has
        corrected counts.
    confidence_level : float, default=0.95
        Confidence level of the intervals, shown in the legend.
    unit : {'documents', 'entities'}, default='documents'
        Unit of the counts, shown in the label of the axis.
    smaller, without_events : sequence of str, default=()
        Actors that are not drawn because they have fewer events, or none (less than
        0.05 in all). A note of the figure names them.
    months : sequence of float, default=None
        Months of each period in which documents could be. The figure marks partial
        periods by a star, and a note has their months.

    Attributes
    ----------
    line_ : dict of matplotlib Artist
        Line of the mean of each actor.
    band_ : dict of matplotlib Artist
        Band of each actor.
    map_line_ : dict of matplotlib Artist
        Line of the count of each actor for the most probable antecedents. The dict is
        empty if these counts are not drawn.
    uncorrected_line_ : dict of matplotlib Artist
        Line of the uncorrected mean of each actor. The dict is empty if counts are not
        corrected.
    uncorrected_band_ : dict of matplotlib Artist
        Band of the uncorrected mean of each actor. The dict is empty if counts are not
        corrected.
    axes_ : dict of matplotlib Axes
        Axes of each actor. Either each actor has its own panel, or all actors share the
        same axes.
    figure_ : matplotlib Figure
        Figure that contains the axes.

    See Also
    --------
    skcalib.events.EventCounts : Posterior counts.
    skcalib._result_classes.CorrectedEventCounts : Corrected counts.

    Notes
    -----
    :meth:`frame` returns one row per actor and period. Its columns are `country`,
    `period`, `mean`, `low`, `high` and, if they are known, `map_count`, `uncorrected`,
    `uncorrected_low` and `uncorrected_high`.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
       analysis for natural language processing models". EMNLP. Figure 6; appendix 4 of
       the extended version, arXiv 1508.05154.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.plot import EventCountDisplay
    >>> display = EventCountDisplay(
    ...     period=["1990Q1", "1990Q2", "1990Q3"],
    ...     mean={"KEN": np.array([2.0, 3.5, 1.2])},
    ...     low={"KEN": np.array([1.0, 2.0, 0.0])},
    ...     high={"KEN": np.array([3.0, 6.0, 3.0])},
    ... ).plot()
    >>> display.line_["KEN"].get_ydata().tolist()
    [2.0, 3.5, 1.2]
    """

    period: Sequence[Any]
    mean: Mapping[str, np.ndarray]
    low: Mapping[str, np.ndarray]
    high: Mapping[str, np.ndarray]
    map_count: Mapping[str, np.ndarray] | None = None
    uncorrected: Mapping[str, np.ndarray] | None = None
    uncorrected_low: Mapping[str, np.ndarray] | None = None
    uncorrected_high: Mapping[str, np.ndarray] | None = None
    confidence_level: float = 0.95
    unit: str = "documents"
    smaller: Sequence[str] = ()
    without_events: Sequence[str] = ()
    months: Sequence[float] | None = None

    @classmethod
    @public
    def from_counts(
        cls,
        counts: EventCounts | CorrectedEventCounts,
        *,
        countries: Sequence[str] | None = None,
        top: int | str | None = "auto",
        confidence_level: float | None = None,
        method: str = "quantile",
        ax: Axes | None = None,
        **plot_params: Any,
    ) -> EventCountDisplay:
        """Draw counts of events.

        Parameters
        ----------
        counts : EventCounts or CorrectedEventCounts
            Counts of events of all actors.
        countries : sequence of str, default=None
            Actors to draw, in order. If None, the actors with events are drawn, the
            most frequent first.
        top : int, 'auto' or None, default='auto'
            Maximum number of actors. 'auto' is 8, or no limit if `countries` are given.
            If None, there is no limit. A note of the figure names the others.
        confidence_level : float, default=None
            Confidence level of the intervals. If None, it is 0.95 for posterior counts.
            For corrected counts, it is the level at which they were computed, and no
            other level is possible.
        method : {'quantile', 'normal'}, default='quantile'
            Method of the posterior intervals, as in
            :meth:`~skcalib.events.EventCounts.interval`. Intervals of 'normal', the
            method of the paper, may begin below 0.
        ax : matplotlib Axes, default=None
            Axes on which all actors are drawn. If None, a new figure is created.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

        Returns
        -------
        display : EventCountDisplay

        Examples
        --------
        >>> from skcalib.datasets import make_event_documents
        >>> from skcalib.events import EventCounter, EventRule
        >>> from skcalib.plot import EventCountDisplay
        >>> documents, _, scores = make_event_documents(
        ...     60, return_scores=True, random_state=0
        ... )
        >>> counts = EventCounter(EventRule(), random_state=0).count(documents, scores)
        >>> EventCountDisplay.from_counts(counts, top=2)
        EventCountDisplay(4 periods; mean in all NOR: 12.4, BOL: 10.6)
        """
        kinds = EventCounts, CorrectedEventCounts
        check_type(counts, kinds, "EventCounts or CorrectedEventCounts", name="counts")
        level = _level_of(counts, confidence_level)
        most = None
        if isinstance(top, str):
            check_choice(top, ("auto",), name="top")
            most = None if countries is not None else _MOST_PANELS
        elif top is not None:
            most = check_integer(top, minimum=1, name="top")
        values = {
            key: np.where(np.abs(array) < _ROUNDING, 0, array)
            for key, array in _series_of(counts, level, method).items()
        }
        names, without = _chosen_actors(counts, values, countries)
        smaller, names = ([], names) if most is None else (names[most:], names[:most])
        columns = {
            key: {name: array[counts.country == name] for name in names}
            for key, array in values.items()
        }
        posterior = counts if isinstance(counts, EventCounts) else counts.counts
        return cls(
            period=counts.periods,
            confidence_level=level,
            unit=posterior.unit,
            smaller=smaller,
            without_events=without,
            months=posterior.months.tolist(),
            **columns,
        ).plot(ax, **plot_params)

    @drawing
    def plot(
        self,
        ax: Axes | None = None,
        *,
        together: bool = False,
        map_line: bool = True,
        n_columns: int = 2,
        same_scale: bool = True,
        line_kwargs: Mapping[str, Any] | None = None,
    ) -> EventCountDisplay:
        """Draw the counts.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes on which all actors are drawn. If None, a new figure is created.
        together : bool, default=False
            Whether to draw all actors on the same axes, to compare them. If False, each
            actor has its own panel.
        map_line : bool, default=True
            Whether to draw the counts for the most probable antecedents, if they are
            known.
        n_columns : int, default=2
            Number of panels side by side.
        same_scale : bool, default=True
            Whether all panels have one scale, so that the counts of actors can be
            compared. If False, each panel has its own.
        line_kwargs : dict, default=None
            Keyword arguments of matplotlib's ``plot`` for the lines of the means.

        Returns
        -------
        display : EventCountDisplay
            The display itself.
        """
        width = check_integer(n_columns, minimum=1, name="n_columns")
        style = _style.line_style(line_kwargs, name="line_kwargs")
        # One axes cannot be divided into panels.
        together = together or ax is not None
        is_shared = check_bool(same_scale, name="same_scale")
        axes = self._take_axes(ax, together, width, is_shared)
        self.line_: dict[str, Any] = {}
        self.band_: dict[str, Any] = {}
        self.map_line_: dict[str, Any] = {}
        self.uncorrected_line_: dict[str, Any] = {}
        self.uncorrected_band_: dict[str, Any] = {}
        for name, own in self.axes_.items():
            default = _style.next_style(own) | {"markersize": 3}
            if len(self.period) > _FEW_PERIODS:
                default |= {"marker": "none"}
            color = default["color"] if together else _style.COLORS[1]
            if together:
                default |= {"label": legend_text(name)}
                band = {"color": color, "alpha": 0.2}
            else:
                is_posterior = self.uncorrected is None
                mean = "posterior mean" if is_posterior else "corrected by labels"
                default |= {"label": mean}
                band = {"color": "0.8", "label": self._band_name()}
                title = plain_text(short_text(name, _LONGEST_NAME))
                own.set_title(title, fontsize=_style.text_size(own))
            self.band_[name] = self._fill(own, self.low[name], self.high[name], band)
            (self.line_[name],) = own.plot(
                np.arange(len(self.period)), self.mean[name], **{**default, **style}
            )
            if self.uncorrected is not None:
                self._draw_uncorrected(name, own, color, together)
            if map_line and self.map_count is not None:
                # Names with an underscore are not in the legend, which names all dashed
                # lines once.
                label = f"_{name}" if together else "1-best"
                counts = self.map_count[name]
                self.map_line_[name] = self._dashed(own, counts, color, label)
        for each in axes:
            self._label_axes(each)
        self._draw_legend(axes[0], together)
        is_single, width = len(axes) == 1, _NOTE_WIDTH // (1 + (len(axes) == 1))
        lines = [line for each in self._notes() for line in wrap(each, width)]
        write = axes[0].set_xlabel if is_single else self.figure_.supxlabel
        if lines:
            note = plain_text("\n".join(lines))
            write(note, fontsize=_style.text_size(axes[0]), color=_style.INK)
        return self

    def _notes(self) -> list[str]:
        """Return which actors are not drawn and which periods are partial."""
        notes = []
        fewer = "not drawn, fewer events", self.smaller
        for what, names in (fewer, ("without events", self.without_events)):
            shown = [*names[:_MOST_NAMED], *["..."] * (len(names) > _MOST_NAMED)]
            if names:
                notes.append(f"{what}: {len(names)} ({', '.join(shown)})")
        if self.months is not None:
            partial = partial_in_words(self.period, np.asarray(self.months))
            notes += [f"* {partial}"] if partial else []
        return notes

    def _take_axes(
        self, ax: Any, together: bool, n_columns: int, is_shared: bool
    ) -> list[Any]:
        """Set the axes of all actors, and return the distinct ones."""
        n = len(self.mean)
        if together or n < 2:
            ax = _style.take_axes(ax, _style.COLUMN, 2.3)
            self.figure_: Any = ax.figure
            self.axes_: dict[str, Any] = dict.fromkeys(self.mean, ax)
            return [ax]
        columns = min(n_columns, n)
        size = _PANEL[0] * columns, _PANEL[1] * -(-n // columns) + 0.3
        self.figure_ = _style.new_figure(*size)
        self.axes_ = _style.panel_axes(
            self.figure_, list(self.mean), columns, sharey=is_shared
        )
        return list(self.axes_.values())

    def _draw_uncorrected(self, name: str, ax: Any, color: str, together: bool) -> None:
        """Draw the posterior mean of one actor and its band."""
        line_name, band_name, alpha = f"_{name}", f"_{name}", 0.1
        if not together:
            line_name, alpha = "posterior mean, uncorrected", 0.25
            band_name = f"{self._level_name()}, posterior"
        values = self._values()
        mean = values["uncorrected"][name]
        self.uncorrected_line_[name] = self._dashed(ax, mean, color, line_name)
        if values.keys() >= set(_ENDS):
            low, high = (values[end][name] for end in _ENDS)
            band = {"color": color, "alpha": alpha, "label": band_name}
            self.uncorrected_band_[name] = self._fill(ax, low, high, band)

    def _fill(self, ax: Any, low: np.ndarray, high: np.ndarray, style: dict) -> Any:
        # Periods without an interval interrupt the band.
        known = np.isfinite(np.asarray(low, dtype=float))
        beside = np.r_[False, known[:-1]] | np.r_[known[1:], False]
        # one period alone has no area: its edge is drawn
        wide = 3 if (known & ~beside).any() else 0
        place = np.arange(len(self.period))
        return ax.fill_between(place, low, high, linewidth=wide, zorder=1, **style)

    def _dashed(self, ax: Any, values: np.ndarray, color: str, label: str) -> Any:
        # one period alone has no line
        marker = "x" if len(self.period) == 1 else "none"
        style = {"color": color, "linestyle": "--", "linewidth": 1, "marker": marker}
        (line,) = ax.plot(np.arange(len(self.period)), values, label=label, **style)
        return line

    def _level_name(self) -> str:
        return f"{percent_text(self.confidence_level)} interval"

    def _band_name(self) -> str:
        name = self._level_name()
        return name if self.uncorrected is None else f"{name}, corrected"

    def _label_axes(self, ax: Any) -> None:
        from matplotlib.ticker import MaxNLocator

        # No period may be drawn, and the step must be positive.
        step = -(-len(self.period) // _MOST_LABELS) or 1
        ticks = np.arange(0, len(self.period), step)
        months = np.ones(len(self.period)) if self.months is None else self.months
        is_partial = np.less(months, np.max(months, initial=0))
        labels = [
            plain_text(self.period[t]) + "*" * int(is_partial[t])
            for t in ticks.tolist()
        ]
        size = _style.text_size(ax)
        ax.set_xticks(ticks, labels, rotation=30, ha="right", fontsize=size)
        # Panels with one scale have it at the left.
        if ax.yaxis.get_tick_params()["labelleft"]:
            ax.set_ylabel(self.unit.capitalize())
        ax.axhline(0, color="0.7", linewidth=0.8, zorder=0, label="_zero")
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        # Zero is within the limits only if they are computed again.
        ax.autoscale(axis="y")

    def _draw_legend(self, ax: Any, together: bool) -> None:
        """Draw the legend beside the axes of all actors, or above the panels."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        handles, names = ax.get_legend_handles_labels()
        if not names:
            return
        if not together:
            place = {"loc": "outside upper center", "ncols": len(names)}
            size = _style.text_size(ax)
            self.figure_.legend(handles, names, fontsize=size, frameon=False, **place)
            return
        handles.append(Patch(color="0.5", alpha=0.3))
        names.append(self._band_name())
        if self.map_line_ or self.uncorrected_line_:
            handles.append(Line2D([], [], color="0.3", linestyle="--", linewidth=1))
            names.append("1-best" if self.map_line_ else "uncorrected")
        _style.name_curves(ax, (handles, names))

    def _values(self) -> dict[str, Mapping[str, np.ndarray]]:
        """Return the numbers of each kind, by actor."""
        names = ("mean", "low", "high", "map_count", "uncorrected")
        values = {name: getattr(self, name) for name in names + _ENDS}
        return {name: each for name, each in values.items() if each is not None}

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers behind the plot."""
        found = {
            key: {name: np.asarray(each).tolist() for name, each in values.items()}
            for key, values in self._values().items()
        }
        settings = {"confidence_level": self.confidence_level, "unit": self.unit}
        return {"period": list(self.period), **found, **settings}

    def _columns(self) -> dict[str, list]:
        names, n = list(self.mean), len(self.period)
        columns = {
            key: [x for name in names for x in np.asarray(values[name]).tolist()]
            for key, values in self._values().items()
        }
        country = [name for name in names for _ in range(n)]
        return {"country": country, "period": [*self.period] * len(names), **columns}

    def _lines(self) -> list[str]:
        totals = ", ".join(f"{k}: {np.sum(mean):.1f}" for k, mean in self.mean.items())
        return [f"{len(self.period)} periods", f"mean in all {totals or 'none'}"]

    def _in_words(self) -> list[str]:
        level = percent_text(self.confidence_level)
        meaning = (
            "The means are the expected counts given the texts. The "
            f"{level} intervals account for the uncertainty of coreference only."
        )
        if self.uncorrected is not None:
            meaning = (
                f"The means are corrected by labelled documents. The {level} intervals "
                "are valid for any model if these documents were drawn at random."
            )
        return [meaning, *(f"{note[0].upper()}{note[1:]}." for note in self._notes())]


def _level_of(
    counts: EventCounts | CorrectedEventCounts, confidence_level: float | None
) -> float:
    """Return the level of the intervals, which is fixed for corrected counts."""
    own = None if isinstance(counts, EventCounts) else counts.confidence_level
    if confidence_level is None:
        return 0.95 if own is None else own
    level = check_fraction(confidence_level, name="confidence_level")
    if own not in (None, level):
        raise ParameterError(
            "confidence_level",
            f"must be {own:g}, the level of the corrected counts. Got {level:g}. Pass "
            "`confidence_level` to EventCounts.corrected.",
        )
    return level


def _series_of(
    counts: EventCounts | CorrectedEventCounts, level: float, method: str
) -> dict[str, np.ndarray]:
    """Return the numbers of all cells, by the names of the display."""
    if isinstance(counts, EventCounts):
        low, high = counts.interval(level, method)
        own = {"mean": counts.mean, "low": low, "high": high}
        return {**own, "map_count": counts.map_count}
    posterior = counts.counts
    shape = len(counts.periods), len(counts.countries)
    columns = {"mean": counts.estimate, "low": counts.low, "high": counts.high}
    columns["uncorrected"] = counts.uncorrected
    for name, ends in zip(_ENDS, posterior.interval(level, method), strict=True):
        # actors that occur only in labels are last, and their posterior count is 0
        cells = np.zeros(shape)
        cells[:, : len(posterior.countries)] = ends.reshape(shape[0], -1)
        columns[name] = cells.ravel()
    return columns


def _chosen_actors(
    counts: EventCounts | CorrectedEventCounts,
    values: Mapping[str, np.ndarray],
    countries: Sequence[str] | None,
) -> tuple[list[str], list[str]]:
    """Return the actors to draw, in order, and those without events."""
    if countries is None:
        total, found = {}, {}
        for c in counts.countries:
            own = counts.country == c
            total[c] = values["mean"][own].sum()
            others = ("mean", "map_count", "uncorrected")
            found[c] = max(values[x][own].sum() for x in others if x in values)
        # The sort is stable: ties keep the order of the counts.
        order = sorted(total, key=lambda c: -total[c])
        drawn = [c for c in order if found[c] >= _NO_EVENTS]
        # Without any event, the figure shows zeros, not an empty page.
        return drawn or order, sorted(set(order) - set(drawn)) if drawn else []
    if isinstance(countries, str) or not hasattr(countries, "__iter__"):
        raise ParameterTypeError(
            "countries",
            f"must be a sequence of codes. Got {type(countries).__name__} "
            f"{countries!r:.50}.",
        )
    unknown = [c for c in countries if c not in counts.countries]
    if unknown:
        raise ParameterError(
            "countries",
            f"must be actors that were counted, among {counts.countries!r:.200}. "
            f"Got {unknown[0]!r}.",
        )
    return list(dict.fromkeys(countries)), []
