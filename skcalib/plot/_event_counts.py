"""Plots of event counts over time, with the uncertainty of coreference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import ParameterError, ParameterTypeError, public
from .._results import plain
from .._validation import check_fraction, check_integer
from ..events import EventCounts
from ._base import Display, drawing
from ._figures import (
    draw_legend,
    legend_text,
    line_style,
    percent_text,
    plain_text,
    short_text,
    take_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Width and height of a panel in inches.
_PANEL = (4.6, 2.3)

# Periods with a label at the axis, so that the labels do not run into each other.
_MOST_LABELS = 8

# Longer names of actors would run into the next title.
_LONGEST_NAME = 48

# Points are marked where there are few of them.
_FEW_PERIODS = 24


class EventCountDisplay(Display):
    """Counts of events over time, with a band for the uncertainty of coreference.

    Draws for each actor the posterior mean of the count (line) and its interval (band),
    as in Figure 6 and the appendix of [1]_. For contrast, a dashed line shows the count
    with the best antecedents, which a system without uncertainty would report.

    Make it with :meth:`from_counts`; the parameters are stored as attributes.

    Parameters
    ----------
    period : sequence of label
        Periods in order.
    mean : dict of ndarray of shape (n_periods,)
        Posterior means of each actor.
    low, high : dict of ndarray of shape (n_periods,)
        Ends of the intervals.
    map_count : dict of ndarray of shape (n_periods,), default=None
        Counts with the best antecedents.
    confidence_level : float, default=0.95
        Confidence level of the intervals, for the legend.
    unit : {'documents', 'entities'}, default='documents'
        Unit of the counts, for the label of the axis.

    Attributes
    ----------
    line_ : dict of matplotlib Artist
        Line of the mean of each actor.
    band_ : dict of matplotlib Artist
        Band of each actor.
    map_line_ : dict of matplotlib Artist
        Line of the count with the best antecedents; empty where not drawn.
    axes_ : dict of matplotlib Axes
        Axes of each actor: a panel each, or the same for all.
    figure_ : matplotlib Figure
        Figure that contains the axes.

    See Also
    --------
    skcalib.events.EventCounts : The numbers.

    Notes
    -----
    :meth:`frame` has a row for each actor and period. Its columns are `country`,
    `period`, `mean`, `low`, `high` and, where it is known, `map_count`.

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

    def __init__(
        self,
        *,
        period: Sequence[Any],
        mean: Mapping[str, np.ndarray],
        low: Mapping[str, np.ndarray],
        high: Mapping[str, np.ndarray],
        map_count: Mapping[str, np.ndarray] | None = None,
        confidence_level: float = 0.95,
        unit: str = "documents",
    ):
        self.period = period
        self.mean = mean
        self.low = low
        self.high = high
        self.map_count = map_count
        self.confidence_level = confidence_level
        self.unit = unit

    @classmethod
    @public
    def from_counts(
        cls,
        counts: EventCounts,
        *,
        countries: Sequence[str] | None = None,
        top: int | None = None,
        confidence_level: float = 0.95,
        method: str = "quantile",
        ax: Axes | None = None,
        **plot_params: Any,
    ) -> EventCountDisplay:
        """Draw counts of events.

        Parameters
        ----------
        counts : EventCounts
            Counts of events of all actors.
        countries : sequence of str, default=None
            Actors to draw, in order. If None, all actors are drawn, the most frequent
            first.
        top : int, default=None
            Largest number of actors. If None, there is no limit.
        confidence_level : float, default=0.95
            Confidence level of the intervals.
        method : {'quantile', 'normal'}, default='quantile'
            Method of the intervals, as in
            :meth:`~skcalib.events.EventCounts.interval`. An interval by 'normal', as in
            the paper, may begin below 0.
        ax : matplotlib Axes, default=None
            Axes to draw all actors on. If None, a new figure is made.
        **plot_params
            Passed to :meth:`plot`.

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
        if not isinstance(counts, EventCounts):
            raise ParameterTypeError(
                "counts", f"must be EventCounts. Got {type(counts).__name__}."
            )
        level = check_fraction(confidence_level, name="confidence_level")
        if top is not None:
            check_integer(top, minimum=1, name="top")
        names = _chosen(counts, countries)[:top]
        low, high = counts.interval(level, method)
        arrays = {
            "mean": counts.mean,
            "low": low,
            "high": high,
            "map_count": counts.map_count,
        }
        columns = {
            key: {name: values[counts.country == name] for name in names}
            for key, values in arrays.items()
        }
        display = cls(
            period=counts.periods, confidence_level=level, unit=counts.unit, **columns
        )
        return display.plot(ax, **plot_params)

    @drawing
    def plot(
        self,
        ax: Axes | None = None,
        *,
        together: bool = False,
        map_line: bool = True,
        n_columns: int = 2,
        line_kwargs: Mapping[str, Any] | None = None,
    ) -> EventCountDisplay:
        """Draw the counts.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw all actors on. If None, a new figure is made.
        together : bool, default=False
            Whether to draw all actors on one axes, to compare them, and not on a panel
            each.
        map_line : bool, default=True
            Whether to draw the counts with the best antecedents, where they are known.
        n_columns : int, default=2
            Number of panels side by side.
        line_kwargs : dict, default=None
            Keywords for matplotlib's ``plot`` of the lines of the means.

        Returns
        -------
        display : EventCountDisplay
            The display itself.
        """
        width = check_integer(n_columns, minimum=1, name="n_columns")
        style = line_style(line_kwargs, name="line_kwargs")
        together = together or ax is not None
        self._take_axes(ax, together, width)
        self.line_: dict[str, Any] = {}
        self.band_: dict[str, Any] = {}
        self.map_line_: dict[str, Any] = {}
        for k, name in enumerate(self.mean):
            own = self.axes_[name]
            if together:
                default: dict[str, Any] = {"color": f"C{k}", "label": legend_text(name)}
                band, best = {"color": f"C{k}", "alpha": 0.2}, f"C{k}"
            else:
                default = {"color": "C0", "label": "posterior mean"}
                band, best = {"color": "0.8", "label": self._band_name()}, "C1"
                title = plain_text(short_text(name, _LONGEST_NAME))
                own.set_title(title, fontsize="medium")
            few = len(self.period) <= _FEW_PERIODS
            default |= {"marker": "o" if few else "none", "markersize": 3}
            self._draw(name, own, {**default, **style}, band)
            if map_line and self.map_count is not None:
                label = "1-best" if not together else f"_{name}"
                (self.map_line_[name],) = own.plot(
                    np.arange(len(self.period)),
                    self.map_count[name],
                    color=best,
                    linestyle="--",
                    linewidth=1,
                    # one period alone has no line
                    marker="x" if len(self.period) == 1 else "none",
                    label=label,
                )
        self._finish(together)
        return self

    def _take_axes(self, ax: Any, together: bool, n_columns: int) -> None:
        """Take or make the axes of all actors."""
        n = len(self.mean)
        if together or n < 2:
            # together, a legend stands beside the axes
            ax = take_axes(ax, (6.0 if together else 7.2, 3.4))
            self.figure_ = ax.figure
            self.axes_: dict[str, Any] = dict.fromkeys(self.mean, ax)
            self._all = [ax]
            return
        import matplotlib.pyplot as plt

        columns = min(n_columns, n)
        rows = -(-n // columns)
        size = (_PANEL[0] * columns, _PANEL[1] * rows + 0.3)
        self.figure_, grid = plt.subplots(
            rows, columns, figsize=size, squeeze=False, layout="constrained"
        )
        self._all = list(grid.ravel()[:n])
        for spare in grid.ravel()[n:]:
            spare.remove()
        self.axes_ = dict(zip(self.mean, self._all, strict=True))

    def _draw(self, name: str, ax: Any, style: dict, band: dict) -> None:
        """Draw mean and band of one actor."""
        place = np.arange(len(self.period))
        # one period alone has no area: its edge is drawn
        wide = 3 if len(self.period) == 1 else 0
        self.band_[name] = ax.fill_between(
            place, self.low[name], self.high[name], linewidth=wide, zorder=1, **band
        )
        (self.line_[name],) = ax.plot(place, self.mean[name], **style)

    def _band_name(self) -> str:
        return f"{percent_text(self.confidence_level)} interval"

    def _finish(self, together: bool) -> None:
        """Label the axes, and draw a legend."""
        from matplotlib.ticker import MaxNLocator

        step = -(-len(self.period) // _MOST_LABELS) or 1
        ticks = np.arange(0, len(self.period), step)
        labels = [plain_text(self.period[t]) for t in ticks.tolist()]
        for ax in self._all:
            ax.set_xticks(ticks, labels, rotation=30, ha="right", fontsize="small")
            ax.set_ylabel(self.unit.capitalize())
            ax.axhline(0, color="0.7", linewidth=0.8, zorder=0, label="_zero")
            ax.yaxis.set_major_locator(MaxNLocator(integer=True))
            ax.autoscale(axis="y")
        handles, names = self._all[0].get_legend_handles_labels()
        if not names:
            return
        if together:
            from matplotlib.lines import Line2D
            from matplotlib.patches import Patch

            handles.append(Patch(color="0.5", alpha=0.3))
            names.append(self._band_name())
            if self.map_line_:
                handles.append(Line2D([], [], color="0.3", linestyle="--", linewidth=1))
                names.append("1-best")
            draw_legend(self._all[0], 0, (handles, names))
        else:
            self.figure_.legend(
                handles,
                names,
                loc="outside upper center",
                ncols=len(names),
                fontsize="small",
            )

    def _values(self) -> dict[str, Mapping[str, np.ndarray]]:
        """Return the numbers of each kind, by actor."""
        values = {"mean": self.mean, "low": self.low, "high": self.high}
        return (
            values if self.map_count is None else values | {"map_count": self.map_count}
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers behind the plot."""
        found = {
            key: {name: plain(np.asarray(each)) for name, each in values.items()}
            for key, values in self._values().items()
        }
        settings = {"confidence_level": self.confidence_level, "unit": self.unit}
        return {"period": list(self.period), **found, **settings}

    def _columns(self) -> dict[str, list]:
        names, n = list(self.mean), len(self.period)
        columns: dict[str, list] = {
            "country": [name for name in names for _ in range(n)],
            "period": list(self.period) * len(names),
        }
        for key, values in self._values().items():
            columns[key] = [
                x for name in names for x in plain(np.asarray(values[name]))
            ]
        return columns

    def _lines(self) -> list[str]:
        totals = ", ".join(
            f"{name}: {np.sum(self.mean[name]):.1f}" for name in self.mean
        )
        return [f"{len(self.period)} periods", f"mean in all {totals or 'none'}"]

    def _in_words(self) -> list[str]:
        return [
            "A mean is the expected count given the texts, and the "
            f"{percent_text(self.confidence_level)} intervals contain the uncertainty "
            "of coreference only."
        ]


def _chosen(counts: EventCounts, countries: Sequence[str] | None) -> list[str]:
    """Return the actors to draw, in order."""
    if countries is None:
        total = {c: counts.mean[counts.country == c].sum() for c in counts.countries}
        return sorted(total, key=lambda c: -total[c])
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
            f"must be actors that were counted, of {counts.countries!r:.200}. "
            f"Got {unknown[0]!r}.",
        )
    return list(dict.fromkeys(countries))
