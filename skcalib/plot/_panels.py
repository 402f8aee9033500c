"""Reliability plots of groups of pairs, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap
from typing import Any

import numpy as np

from .._results import LinesRepr, as_frame
from .._validation import check_fraction, check_integer
from ..metrics import ReliabilityCurve
from ..metrics._binning import check_binning
from ..metrics._pairs import as_groups, as_labels, as_weights, distinct_labels
from ..queries import Answers, ClassQuery
from ..scorers import ask
from ._by import check_by, enough_for_interval, parts_by_name
from ._models import pairs_of_models
from ._numbers import held_out_answers, numbers_of_pairs
from ._reliability import ReliabilityDisplay, check_bars
from ._text import error_text, percent_text, plain_text, short_text

# Width and height of a panel in inches, title included.
_PANEL = (2.7, 3.0)
_HISTOGRAM = 0.6

# Characters of a title that fit into an inch, and lines for which there is room.
_IN_AN_INCH = 12
_TITLE_LINES = 2

# So many panels stand side by side.
_ONE_ROW = 3

# Longer names of groups would run into the next title.
_LONGEST_NAME = 28


class ReliabilityPanelsDisplay(LinesRepr):
    """Reliability plots of groups of pairs, a panel for each.

    A model that is calibrated on the whole need not be so for each tag, class, genre or
    source. Panels share their axes and stand in order of the number of pairs, and where
    that is the same in order of how often the answer is yes. Each is titled with its
    group, the number of its pairs and its calibration error with the interval.

    Make it with :meth:`from_estimator`, :meth:`from_predictions` or
    :meth:`from_cv_results`; the parameters are stored as attributes.

    Parameters
    ----------
    displays : dict of ReliabilityDisplay
        Display of each group, the most frequent first.
    name : str, default=None
        Name of the model, for the title of the figure.

    Attributes
    ----------
    axes_ : dict of matplotlib Axes
        Axes of each group that is drawn.
    figure_ : matplotlib Figure
        Figure that holds them.

    See Also
    --------
    ReliabilityDisplay : One plot of all pairs, or of several models.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_predict
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skcalib.plot import ReliabilityPanelsDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> proba = cross_val_predict(GaussianNB(), X, y, method="predict_proba")
    >>> display = ReliabilityPanelsDisplay.from_predictions(y, proba, by="label")
    >>> list(display.displays)
    [1, 0, 2]
    >>> display.displays[1].error.n_pairs
    178
    """

    def __init__(
        self, *, displays: Mapping[Any, ReliabilityDisplay], name: str | None = None
    ):
        self.displays = displays
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_proba: Any,
        *,
        by: Any,
        bin_size: int | str = "auto",
        n_bins: int | None = None,
        strategy: str = "quantile",
        multi_class: str | None = None,
        labels: Any = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        confidence_level: float = 0.95,
        name: str | None = None,
        fig: Any = None,
        **plot_params: Any,
    ) -> ReliabilityPanelsDisplay:
        """Draw the reliability of probabilities, a panel for each group.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels.
        y_proba : array-like of shape (n,) or (n, n_classes)
            Probabilities, as in :func:`~skcalib.metrics.calibration_error`.
        by : array-like of shape (n,) or 'label'
            Name of the group of each row; or 'label' for a panel for each class that
            was asked for, the predicted class with ``multi_class='top_label'``.
        bin_size, n_bins, strategy : optional
            Bins of the curve in each panel, as in
            :func:`~skcalib.metrics.adaptive_reliability_curve`.
        multi_class : {'pooled', 'top_label'}, default=None
            How a matrix becomes pairs.
        labels : array-like of shape (n_classes,), default=None
            Labels in the order of the columns.
        pos_label : label, default=None
            The positive class.
        sample_weight : array-like of shape (n,), default=None
            Frequencies.
        groups : array-like of shape (n,), default=None
            Group of *dependent* rows, for the intervals of the errors.
        confidence_level : float, default=0.95
            Of the intervals of the errors, of the bars and of the bands.
        name : str, default=None
            Name for the title of the figure.
        fig : matplotlib Figure or SubFigure, default=None
            Empty figure to draw on; None makes a new one.
        **plot_params
            Passed to :meth:`plot`.

        Returns
        -------
        display : ReliabilityPanelsDisplay

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.datasets import make_calibrated_pairs
        >>> from skcalib.plot import ReliabilityPanelsDisplay
        >>> y_true, y_proba = make_calibrated_pairs(3000, random_state=0)
        >>> genre = np.where(np.arange(3000) % 3 == 0, "letters", "news")
        >>> display = ReliabilityPanelsDisplay.from_predictions(
        ...     y_true, y_proba, by=genre
        ... )
        >>> {group: one.error.n_pairs for group, one in display.displays.items()}
        {'news': 2000, 'letters': 1000}
        """
        caller = "ReliabilityPanelsDisplay.from_predictions"
        if isinstance(y_proba, Mapping):
            raise TypeError(
                f"The 'y_proba' parameter of {caller} must be one model's "
                "probabilities. Got a mapping: draw a figure for each model, or all "
                "models in one plot with ReliabilityDisplay.from_predictions."
            )
        # The gate of the metrics, for its messages.
        pairs_of_models(
            y_true,
            {name: y_proba},
            multi_class=multi_class,
            labels=labels,
            pos_label=pos_label,
            sample_weight=sample_weight,
            groups=groups,
            caller=caller,
        )
        y = as_labels(y_true, name="y_true", caller=caller)
        if labels is None and np.ndim(y_proba) == 2:
            labels = distinct_labels(y, name="y_true", caller=caller)
        query = ClassQuery(pos_label, multi_class)
        return cls._from_answers(
            query.from_proba(y, y_proba, labels),
            y.size,
            by,
            name,
            caller=caller,
            sample_weight=sample_weight,
            groups=groups,
            bin_size=bin_size,
            n_bins=n_bins,
            strategy=strategy,
            confidence_level=confidence_level,
            fig=fig,
            **plot_params,
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        by: Any = "label",
        query: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        fig: Any = None,
        **params: Any,
    ) -> ReliabilityPanelsDisplay:
        """Draw the reliability of a fitted estimator, a panel for each group.

        Parameters
        ----------
        estimator : fitted estimator
            A classifier, or whatever `query` can ask.
        X : array-like
            Samples.
        y : array-like of shape (n_samples,)
            True labels.
        by : array-like of shape (n_samples,) or 'label', default='label'
            Name of the group of each sample (sentence, for a tagger); or 'label' for a
            panel for each class or tag that was asked for.
        query : query object, default=None
            What the estimator is asked; None takes the query that fits it.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency of each sample.
        name : str, default=None
            Name for the title of the figure; by default that of the estimator's class.
        fig : matplotlib Figure or SubFigure, default=None
            Empty figure to draw on; None makes a new one.
        **params
            `bin_size`, `n_bins`, `strategy`, `confidence_level`, and the parameters of
            :meth:`plot`.

        Returns
        -------
        display : ReliabilityPanelsDisplay

        Examples
        --------
        >>> from skcalib import HMMTagger
        >>> from skcalib.datasets import make_tagged_sentences
        >>> from skcalib.plot import ReliabilityPanelsDisplay
        >>> X, y = make_tagged_sentences(300, random_state=0)
        >>> tagger = HMMTagger().fit(X[:200], y[:200])
        >>> display = ReliabilityPanelsDisplay.from_estimator(tagger, X[200:], y[200:])
        >>> sorted(display.displays) == sorted(tagger.classes_)
        True
        """
        caller = "ReliabilityPanelsDisplay.from_estimator"
        return cls._from_answers(
            ask(estimator, X, y, query, caller=caller),
            len(y),
            by,
            type(estimator).__name__ if name is None else name,
            caller=caller,
            sample_weight=sample_weight,
            fig=fig,
            **params,
        )

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        y: Any,
        *,
        by: Any = "label",
        query: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        fig: Any = None,
        **params: Any,
    ) -> ReliabilityPanelsDisplay:
        """Draw the reliability of held-out answers, a panel for each group.

        Parameters
        ----------
        cv_results : dict
            Of :func:`sklearn.model_selection.cross_validate` with
            ``return_estimator=True, return_indices=True``.
        X : array-like
            The samples given to cross_validate.
        y : array-like of shape (n_samples,)
            Their labels.
        by : array-like of shape (n_samples,) or 'label', default='label'
            As in :meth:`from_estimator`.
        query : query object, default=None
            What the estimators are asked; None takes the query that fits them.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency of each sample.
        name : str, default=None
            Name for the title of the figure; by default that of the estimators' class.
        fig : matplotlib Figure or SubFigure, default=None
            Empty figure to draw on; None makes a new one.
        **params
            As in :meth:`from_estimator`.

        Returns
        -------
        display : ReliabilityPanelsDisplay

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.model_selection import cross_validate
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from skcalib.plot import ReliabilityPanelsDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> cv_results = cross_validate(
        ...     GaussianNB(), X, y, return_estimator=True, return_indices=True
        ... )
        >>> display = ReliabilityPanelsDisplay.from_cv_results(cv_results, X, y)
        >>> display.displays[0].curve.n_samples
        150
        """
        caller = "ReliabilityPanelsDisplay.from_cv_results"
        answers, default = held_out_answers(cv_results, X, y, query, caller=caller)
        return cls._from_answers(
            answers,
            len(y),
            by,
            default if name is None else name,
            caller=caller,
            sample_weight=sample_weight,
            fig=fig,
            **params,
        )

    @classmethod
    def _from_answers(
        cls,
        answers: Answers,
        n: int,
        by: Any,
        name: str | None,
        *,
        caller: str,
        sample_weight: Any = None,
        groups: Any = None,
        bin_size: int | str = "auto",
        n_bins: int | None = None,
        strategy: str = "quantile",
        confidence_level: float = 0.95,
        fig: Any = None,
        **plot_params: Any,
    ) -> ReliabilityPanelsDisplay:
        """Compute the numbers of each group and draw them."""
        level = check_fraction(confidence_level, name="confidence_level", caller=caller)
        binning = check_binning(bin_size, n_bins, strategy, caller=caller)
        weight = as_weights(sample_weight, n, caller=caller)
        codes = as_groups(groups, n, caller=caller)
        names = check_by(by, n, caller=caller)
        displays = {}
        for group, pairs in parts_by_name(answers, weight, codes, names):
            error = enough_for_interval(pairs)
            numbers = numbers_of_pairs(
                pairs, binning, level, caller=caller, error=error
            )
            displays[group] = ReliabilityDisplay._from_numbers([numbers], [str(group)])
        display = cls(displays=displays, name=name)
        return display.plot(fig, confidence_level=level, **plot_params)

    def plot(
        self,
        fig: Any = None,
        *,
        max_panels: int = 12,
        n_columns: int | None = None,
        name: str | None = None,
        interval: str | None = "wilson",
        confidence_level: float = 0.95,
        counts: bool = False,
        consistency_band: bool = True,
        curve_kwargs: dict | None = None,
        diagonal_kwargs: dict | None = None,
    ) -> ReliabilityPanelsDisplay:
        """Draw the panels.

        Parameters
        ----------
        fig : matplotlib Figure or SubFigure, default=None
            Empty figure to draw on; None makes a new one.
        max_panels : int, default=12
            Draw the most frequent groups only; the figure says what is left out.
        n_columns : int, default=None
            Panels in a row; by default up to three, then about as many as there are
            rows.
        name : str, default=None
            Name for the title of the figure; by default the one stored.
        interval : {'wilson', 'clopper_pearson', 'normal'} or None, default='wilson'
            Bars of the label frequencies.
        confidence_level : float, default=0.95
            Level of the bars and of the bands.
        counts : bool, default=False
            Draw a histogram of the probabilities below each curve.
        consistency_band : bool, default=True
            Shade where the label frequencies fall if every probability is right.
        curve_kwargs : dict, default=None
            Keywords for matplotlib's ``errorbar``.
        diagonal_kwargs : dict, default=None
            Keywords for matplotlib's ``plot`` of the diagonal.

        Returns
        -------
        display : ReliabilityPanelsDisplay
            The display itself.
        """
        caller = "ReliabilityPanelsDisplay.plot"
        limit = check_integer(max_panels, minimum=1, name="max_panels", caller=caller)
        level = check_fraction(confidence_level, name="confidence_level", caller=caller)
        check_bars(interval, caller=caller)
        _check_displays(self.displays, caller)
        shown = list(self.displays)[:limit]
        if n_columns is None:
            n = len(shown)
            n_columns = n if n <= _ONE_ROW else int(np.ceil(np.sqrt(n)))
        check_integer(n_columns, minimum=1, name="n_columns", caller=caller)
        n_columns = min(n_columns, len(shown))
        n_rows = -(-len(shown) // n_columns)
        self.figure_ = _take_figure(fig, n_rows, n_columns, counts, caller)
        grid = self.figure_.add_gridspec(n_rows, n_columns)
        self.axes_: dict[Any, Any] = {}
        for k, group in enumerate(shown):
            first = next(iter(self.axes_.values()), None)
            ax = self.figure_.add_subplot(
                grid[k // n_columns, k % n_columns], sharex=first, sharey=first
            )
            self.axes_[group] = ax
            display = self.displays[group].plot(
                ax,
                interval=interval,
                confidence_level=level,
                counts=counts,
                consistency_band=consistency_band,
                curve_kwargs=curve_kwargs,
                diagonal_kwargs=diagonal_kwargs,
            )
            lowest = k + n_columns >= len(shown)
            _tidy(display, group, left=k % n_columns == 0, lowest=lowest)
        _same_scale([self.displays[group].count_ax_ for group in shown])
        band = level if consistency_band else None
        lines = self._title(len(shown), self.name if name is None else name, band)
        self._draw_title(lines, own_figure=fig is None)
        return self

    def _draw_title(self, lines: list[str], *, own_figure: bool) -> None:
        """Draw the lines above the panels, on several where they are long."""
        width = int(_IN_AN_INCH * self.figure_.bbox.width / self.figure_.dpi)
        lines = [part for line in lines for part in wrap(line, width)]
        if not lines:
            return
        self.figure_.suptitle(plain_text("\n".join(lines)), fontsize="medium")
        if own_figure and len(lines) > _TITLE_LINES:
            more = 0.2 * (len(lines) - _TITLE_LINES)
            self.figure_.set_figheight(self.figure_.get_figheight() + more)

    def _title(self, n_shown: int, name: str | None, band: float | None) -> list[str]:
        """Return the lines above the panels."""
        lines = [] if name is None else [str(name)]
        total = [_total(display) for display in self.displays.values()]
        if n_shown < len(total):
            left = len(total) - n_shown
            lines.append(
                f"the {n_shown} most frequent of {len(total)} groups; not shown: "
                f"{left} with {_number(sum(total[n_shown:]))} of "
                f"{_number(sum(total))} pairs"
            )
        if band is not None:
            lines.append(f"shaded: {percent_text(band)} band of perfect calibration")
        return lines

    def to_dict(self) -> dict[Any, Any]:
        """Return the numbers behind the panels of all groups, by group."""
        return {
            group: next(iter(display.to_dict().values()))
            for group, display in self.displays.items()
        }

    def frame(self) -> Any:
        """Return a pandas DataFrame with a row for each group and bin.

        Returns
        -------
        frame : DataFrame
            Columns are those of :meth:`ReliabilityDisplay.frame`, with `group` in the
            place of `name`. All groups are there, drawn or not.
        """
        columns: dict[str, list] = {}
        for group, display in self.displays.items():
            table = display._columns()
            table = {"group": [group] * len(table.pop("name")), **table}
            for key, column in table.items():
                columns.setdefault(key, []).extend(column)
        return as_frame(columns, caller="ReliabilityPanelsDisplay.frame")

    def _lines(self) -> list[str]:
        return [_heading(g, d, ", ") for g, d in self.displays.items()]


def _check_displays(displays: Any, caller: str) -> None:
    name = f"The 'displays' parameter of {caller} must"
    if not isinstance(displays, Mapping) or not displays:
        raise TypeError(
            f"{name} be a mapping of groups to ReliabilityDisplay, of one at least. "
            f"Got {displays!r:.50}."
        )
    for group, display in displays.items():
        curve = getattr(display, "curve", None)
        if not isinstance(curve, ReliabilityCurve):
            raise TypeError(
                f"{name} hold a ReliabilityDisplay of one curve for each group. Got "
                f"{display!r:.50} for {group!r}."
            )


def _take_figure(
    fig: Any, n_rows: int, n_columns: int, counts: bool, caller: str
) -> Any:
    """Return `fig`, or for None a new figure with room for the panels."""
    from matplotlib.figure import Figure, SubFigure

    if fig is None:
        import matplotlib.pyplot as plt

        height = _PANEL[1] + (_HISTOGRAM if counts else 0)
        # Room for the title of the figure, and for that of a single panel.
        size = (max(_PANEL[0] * n_columns, 4.5) + 0.4, height * n_rows + 0.8)
        return plt.figure(figsize=size, layout="constrained")
    name = f"The 'fig' parameter of {caller} must be"
    if not isinstance(fig, (Figure, SubFigure)):
        raise TypeError(
            f"{name} a matplotlib Figure or SubFigure, or None. Got "
            f"{type(fig).__name__}."
        )
    if fig.get_axes():
        raise ValueError(
            f"{name} empty. Got one with axes, which the panels would cover: call its "
            "clear() first."
        )
    return fig


def _tidy(display: ReliabilityDisplay, group: Any, *, left: bool, lowest: bool) -> None:
    """Title a panel, and leave labels to the outer ones."""
    ax, below = display.ax_, display.count_ax_
    legend = ax.get_legend()
    if legend is not None:
        legend.remove()
    ax.set_title(plain_text(_heading(group, display, "\n")), fontsize="small")
    for each in (ax,) if below is None else (ax, below):
        each.tick_params(labelleft=left, labelsize="small")
        if not left:
            each.set_ylabel("")
    lower = ax if below is None else below
    lower.tick_params(labelbottom=lowest)
    if not lowest:
        lower.set_xlabel("")


def _same_scale(histograms: list[Any]) -> None:
    """Give all histograms the same limits."""
    found = [ax for ax in histograms if ax is not None]
    if found:
        low, high = np.transpose([ax.get_ylim() for ax in found])
        for ax in found:
            ax.set_ylim(low.min(), high.max())


def _heading(group: Any, display: ReliabilityDisplay, between: str) -> str:
    """Return the group, the number of its pairs and its error."""
    n = _number(_total(display))
    error = display.error
    said = "too few for an error" if error is None else error_text(error)
    return f"{short_text(group, _LONGEST_NAME)}, n = {n}{between}{said}"


def _total(display: ReliabilityDisplay) -> float:
    """Return the number of pairs, their weight where there are weights."""
    assert isinstance(display.curve, ReliabilityCurve)
    return float(display.curve.weight.sum())


def _number(total: float) -> str:
    return f"{total:,.0f}" if total == round(total) else f"{total:,.1f}"
