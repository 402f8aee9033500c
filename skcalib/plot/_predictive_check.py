"""Observed values of a statistic, and the intervals of a posterior."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import public
from ..posteriors._predictive_check import PredictiveCheck
from . import _style
from ._base import Display, check_type, drawing, legend_text, percent_text, plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class PredictiveCheckDisplay(Display):
    """Posterior predictive check: observed values of a statistic and intervals.

    Documents are sorted by the posterior mean of the statistic. It is recommended to
    create the display with :meth:`from_check`.

    Parameters
    ----------
    check : PredictiveCheck
        Result of :func:`~skcalib.experimental.posterior_predictive_check`.
    name : str, default=None
        Name of the statistic, used as the label of the y-axis.

    Attributes
    ----------
    interval_ : matplotlib LineCollection
        Intervals of the documents.
    inside_ : matplotlib Line2D
        Observed values inside their intervals.
    outside_ : matplotlib Line2D
        Observed values outside their intervals.
    mean_ : matplotlib Line2D
        Posterior means of the statistic.
    ax_ : matplotlib Axes
        Axes with the values.
    figure_ : matplotlib Figure
        Figure that contains the axes.

    See Also
    --------
    skcalib.experimental.posterior_predictive_check : Compute the check.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.datasets import make_coref_documents
    >>> from skcalib.experimental import PredictiveCheckDisplay
    >>> from skcalib.experimental import posterior_predictive_check
    >>> from skcalib.posteriors import AntecedentPosterior
    >>> _, y, scores = make_coref_documents(40, return_scores=True, random_state=0)
    >>> samples = AntecedentPosterior(scores).sample(100, random_state=0)
    >>> check = posterior_predictive_check(
    ...     y, samples, lambda labels: np.unique(labels).size
    ... )
    >>> display = PredictiveCheckDisplay.from_check(check, name="Entities")
    >>> display.ax_.get_ylabel()
    'Entities'
    """

    inside_: Any
    outside_: Any

    def __init__(self, check: PredictiveCheck, *, name: str | None = None):
        self.check = check
        self.name = name

    @classmethod
    @public
    def from_check(
        cls,
        check: PredictiveCheck,
        *,
        name: str | None = None,
        ax: Axes | None = None,
        **plot_params: Any,
    ) -> PredictiveCheckDisplay:
        """Draw a check.

        Parameters
        ----------
        check : PredictiveCheck
            Result of :func:`~skcalib.experimental.posterior_predictive_check`.
        name : str, default=None
            Name of the statistic, used as the label of the y-axis.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

        Returns
        -------
        display : PredictiveCheckDisplay
            Display of the check.
        """
        expected = "a PredictiveCheck, the result of posterior_predictive_check"
        check_type(check, PredictiveCheck, expected, name="check")
        return cls(check, name=name).plot(ax, **plot_params)

    @drawing
    def plot(
        self,
        ax: Axes | None = None,
        *,
        point_kwargs: Mapping[str, Any] | None = None,
    ) -> PredictiveCheckDisplay:
        """Draw the check.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        point_kwargs : dict, default=None
            Keyword arguments for matplotlib's ``plot`` of the observed values.

        Returns
        -------
        display : PredictiveCheckDisplay
            The display itself.
        """
        style = _style.line_style(point_kwargs, name="point_kwargs")
        ax = _style.take_axes(ax, _style.COLUMN, 2.4)
        self.ax_: Any = ax
        self.figure_: Any = ax.figure
        check = self.check
        # Sorted means form a line, from which the observed values stand out.
        order = np.argsort(check.mean, kind="stable")
        low, high, observed = check.low[order], check.high[order], check.observed[order]
        place = np.arange(order.size)
        is_outside = (observed < low) | (observed > high)
        level = percent_text(check.confidence_level)
        self.interval_: Any = ax.vlines(
            place, low, high, color="0.75", linewidth=1.2, label=f"{level} interval"
        )
        self.mean_: Any = ax.plot(
            place, check.mean[order], color="0.4", linewidth=1, label="Mean"
        )[0]
        expected = f"expected {1 - check.expected_coverage:.1%}"
        outside = legend_text(f"Outside: {is_outside.mean():.1%} ({expected})")
        points = {"linestyle": "none", "markersize": 2.5}
        self.inside_, self.outside_ = (
            ax.plot(
                place[there],
                observed[there],
                **{**points, "color": color, "marker": marker, "label": label, **style},
            )[0]
            for there, color, marker, label in (
                (~is_outside, _style.COLORS[0], "o", "Observed"),
                (is_outside, _style.COLORS[1], "D", outside),
            )
        )
        label = "Statistic" if self.name is None else plain_text(self.name)
        ax.set(xlabel="Document, in the order of the mean", ylabel=label)
        _style.name_curves(ax)
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers behind the plot."""
        return self.check.to_dict()

    def _columns(self) -> dict[str, Any]:
        return self.check._columns()

    def _lines(self) -> list[str]:
        named = [] if self.name is None else [str(self.name)]
        return [*named, repr(self.check)]

    def _in_words(self) -> tuple[str, ...]:
        return self.check._in_words()
