"""Reliability plots of groups of pairs, side by side."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, ParameterTypeError, public
from .._validation import check_fraction, check_integer
from ..metrics import ReliabilityCurve
from ..metrics._binning import Binning, check_binning
from ..metrics._interval import warn_of_few
from ..queries import Answers
from ._base import (
    Display,
    check_type,
    drawing,
    panel_axes,
    percent_text,
    plain_text,
    short_text,
    stacked,
)
from ._models import (
    Query,
    answers_of_estimators,
    answers_of_folds,
    answers_of_pairs,
    check_by,
    check_cv_results,
    error_of_part,
    pairs_by_name,
    pairs_of_predictions,
    weight_and_groups,
)
from ._reliability import ReliabilityDisplay, check_bars, error_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

# Width and height of a panel in inches, title included, and height of its histogram.
_PANEL = (2.7, 3.0)
_HISTOGRAM = 0.6

# Largest number of panels that are in one row by default.
_ONE_ROW = 3

# Characters of a title that fit into an inch, and lines that fit above the panels.
_IN_AN_INCH = 12
_TITLE_LINES = 2

# Longer names of groups would overlap with the next title.
_LONGEST_NAME = 28


class ReliabilityPanelsDisplay(Display):
    """Reliability plots of groups of pairs, with one panel per group.

    A model that is calibrated on all data need not be calibrated for each tag, class,
    genre or source. Panels share their axes. They are sorted by the number of pairs;
    ties are sorted by the number of positive labels. The title of a panel shows its
    group, the number of its pairs and its calibration error with the confidence
    interval.

    Create the display with :meth:`from_estimator`, :meth:`from_predictions` or
    :meth:`from_cv_results`; the parameters are stored as attributes.

    Parameters
    ----------
    displays : dict of ReliabilityDisplay
        Display of each group, the most frequent group first.
    name : str, default=None
        Name of the model, for the title of the figure.

    Attributes
    ----------
    axes_ : dict of matplotlib Axes
        Axes of each group that is drawn.
    figure_ : matplotlib Figure
        Figure that contains the axes.

    See Also
    --------
    ReliabilityDisplay : One plot of all pairs, or of several models.

    Notes
    -----
    :meth:`frame` has one row per group and bin, including groups that are not drawn.
    Its columns are the columns of the frame of :class:`ReliabilityDisplay`, with
    `group` instead of `name`.

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
    @public
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        by: ArrayLike,
        bin_size: int | str = "auto",
        n_bins: int | None = None,
        strategy: str = "quantile",
        multi_class: str | None = None,
        labels: ArrayLike | None = None,
        pos_label: Hashable = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence_level: float = 0.95,
        name: str | None = None,
        fig: Figure | SubFigure | None = None,
        **plot_params: Any,
    ) -> ReliabilityPanelsDisplay:
        """Draw reliability curves of predicted probabilities, one panel per group.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels.
        y_proba : array-like of shape (n,) or (n, n_classes)
            Probabilities, as in :func:`~skcalib.metrics.calibration_error`.
        by : array-like of shape (n,) or 'label'
            Name of the group of each row. If 'label', there is one panel per class (per
            predicted class with ``multi_class='top_label'``).
        bin_size, n_bins, strategy : optional
            Bins of the curve in each panel, as in
            :func:`~skcalib.metrics.adaptive_reliability_curve`.
        multi_class : {'pooled', 'top_label'}, default=None
            How a matrix is reduced to pairs, as in
            :func:`~skcalib.metrics.calibration_error`.
        labels : array-like of shape (n_classes,), default=None
            Labels in the order of the columns.
        pos_label : label, default=None
            Positive class, as in :func:`~skcalib.metrics.calibration_error`.
        sample_weight : array-like of shape (n,), default=None
            Frequency of each row.
        groups : array-like of shape (n,), default=None
            Group (sentence, document) of each row, used for the intervals of the
            errors. Rows of the same group may depend on each other. These groups are
            not the groups of `by`.
        confidence_level : float, default=0.95
            Confidence level of the intervals of the errors, of the bars and of the
            bands.
        name : str, default=None
            Name for the title of the figure.
        fig : matplotlib Figure or SubFigure, default=None
            Empty figure to draw on. If None, a new figure is created.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

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
        if isinstance(y_proba, Mapping):
            raise ParameterTypeError(
                "y_proba",
                "must be one model's probabilities. Got a mapping. Draw one figure "
                "per model, or all models in one plot with "
                "ReliabilityDisplay.from_predictions.",
            )
        ((_, pairs),) = pairs_of_predictions(
            y_true, y_proba, name, multi_class, labels, pos_label, sample_weight, groups
        )
        answers = answers_of_pairs(
            pairs, y_true, y_proba, multi_class, labels, pos_label, sample_weight
        )
        binning = check_binning(bin_size, n_bins, strategy)
        display = cls._of_answers(
            name, answers, by, y_true, sample_weight, groups, binning, confidence_level
        )
        return display.plot(fig, confidence_level=confidence_level, **plot_params)

    @classmethod
    @public
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | Sequence[Any],
        *,
        by: ArrayLike = "label",
        query: Query | None = None,
        bin_size: int | str = "auto",
        n_bins: int | None = None,
        strategy: str = "quantile",
        multi_class: str | None = None,
        pos_label: Hashable = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence_level: float = 0.95,
        name: str | None = None,
        fig: Figure | SubFigure | None = None,
        **plot_params: Any,
    ) -> ReliabilityPanelsDisplay:
        """Draw reliability curves of a fitted estimator, with one panel per group.

        Parameters
        ----------
        estimator : fitted estimator
            A classifier, a tagger, a coreference model, or any estimator that `query`
            accepts.
        X : array-like
            Samples.
        y : array-like of shape (n_samples,)
            True labels.
        by : array-like of shape (n_samples,) or 'label', default='label'
            Name of the group of each sample (of each sentence, for a tagger). If
            'label', there is one panel per class or tag of the query.
        query : query object, default=None
            Query put to the estimator. If None, the default query is used, as in
            :func:`~skcalib.scorers.make_query_scorer`.
        bin_size, n_bins, strategy : optional
            Bins of the curve in each panel, as in :meth:`from_predictions`.
        multi_class : {'pooled', 'top_label'}, default=None
            How the probabilities of a classifier with several classes are reduced to
            pairs, as in :class:`~skcalib.queries.ClassQuery`. Not allowed together with
            `query`.
        pos_label : label, default=None
            Positive class of a classifier, as in :class:`~skcalib.queries.ClassQuery`.
            Not allowed together with `query`.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency of each sample.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, used for the intervals of the errors. Samples of the
            same group may depend on each other. These groups are not the groups of
            `by`. If None, samples are treated as independent, and pairs of the same
            sample as dependent.
        confidence_level : float, default=0.95
            Confidence level of the intervals of the errors, of the bars and of the
            bands.
        name : str, default=None
            Name for the title of the figure. If None, the name of the estimator's class
            is used.
        fig : matplotlib Figure or SubFigure, default=None
            Empty figure to draw on. If None, a new figure is created.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

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
        _check_single(estimator, "estimator")
        ((name, answers),) = answers_of_estimators(
            estimator, X, y, query, name, multi_class, pos_label
        )
        binning = check_binning(bin_size, n_bins, strategy)
        display = cls._of_answers(
            name, answers, by, y, sample_weight, groups, binning, confidence_level
        )
        return display.plot(fig, confidence_level=confidence_level, **plot_params)

    @classmethod
    @public
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        y: ArrayLike | Sequence[Any],
        *,
        by: ArrayLike = "label",
        query: Query | None = None,
        bin_size: int | str = "auto",
        n_bins: int | None = None,
        strategy: str = "quantile",
        multi_class: str | None = None,
        pos_label: Hashable = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence_level: float = 0.95,
        name: str | None = None,
        fig: Figure | SubFigure | None = None,
        **plot_params: Any,
    ) -> ReliabilityPanelsDisplay:
        """Draw reliability curves of out-of-fold predictions, one panel per group.

        Parameters
        ----------
        cv_results : dict
            Result of :func:`sklearn.model_selection.cross_validate` with
            ``return_estimator=True, return_indices=True``.
        X : array-like
            The samples that were passed to cross_validate.
        y : array-like of shape (n_samples,)
            The labels that were passed to cross_validate.
        by : array-like of shape (n_samples,) or 'label', default='label'
            As in :meth:`from_estimator`.
        query : query object, default=None
            Query put to the estimators. If None, the default query is used, as in
            :func:`~skcalib.scorers.make_query_scorer`.
        bin_size, n_bins, strategy, multi_class, pos_label : optional
            As in :meth:`from_estimator`.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency of each sample.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, as in :meth:`from_estimator`.
        confidence_level : float, default=0.95
            Confidence level of the intervals of the errors, of the bars and of the
            bands.
        name : str, default=None
            Name for the title of the figure. If None, the name of the estimators' class
            is used.
        fig : matplotlib Figure or SubFigure, default=None
            Empty figure to draw on. If None, a new figure is created.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

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
        check_cv_results(cv_results, X, y)
        ((name, answers),) = answers_of_folds(
            cv_results, X, y, query, name, multi_class, pos_label
        )
        binning = check_binning(bin_size, n_bins, strategy)
        display = cls._of_answers(
            name, answers, by, y, sample_weight, groups, binning, confidence_level
        )
        return display.plot(fig, confidence_level=confidence_level, **plot_params)

    @classmethod
    def _of_answers(
        cls,
        name: str | None,
        answers: Answers,
        by: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        binning: Binning,
        confidence_level: float,
    ) -> ReliabilityPanelsDisplay:
        """Compute the numbers of each group."""
        names = check_by(by, y)
        weight, codes = weight_and_groups(y, sample_weight, groups)
        level = check_fraction(confidence_level, name="confidence_level")
        displays = {
            group: ReliabilityDisplay._of_pairs(
                [(str(group), pairs)], [error_of_part(pairs, level)], binning
            )
            for group, pairs in pairs_by_name(answers, weight, codes, names)
        }
        warn_of_few((group, each.error) for group, each in displays.items())
        return cls(displays=displays, name=name)

    @drawing
    def plot(
        self,
        fig: Figure | SubFigure | None = None,
        *,
        max_panels: int = 12,
        n_columns: int | None = None,
        name: str | None = None,
        interval: str | None = "wilson",
        confidence_level: float = 0.95,
        counts: bool = False,
        consistency_band: bool = True,
        ref_line: bool = True,
        curve_kwargs: Mapping[str, Any] | None = None,
        diagonal_kwargs: Mapping[str, Any] | None = None,
    ) -> ReliabilityPanelsDisplay:
        """Draw the panels.

        Parameters
        ----------
        fig : matplotlib Figure or SubFigure, default=None
            Empty figure to draw on. If None, a new figure is created.
        max_panels : int, default=12
            Largest number of panels. The most frequent groups are drawn, and the title
            of the figure shows the number of groups that are left out.
        n_columns : int, default=None
            Number of panels in a row. If None, up to three panels are drawn in one row,
            and more panels are arranged in a grid that is approximately square.
        name : str, default=None
            Name for the title of the figure. If None, the stored name is used.
        interval : {'wilson', 'clopper_pearson', 'normal'} or None, default='wilson'
            Bars of the label frequencies. If None, no bars are drawn.
        confidence_level : float, default=0.95
            Confidence level of the bars and of the bands.
        counts : bool, default=False
            Whether to draw a histogram of the probabilities below each curve.
        consistency_band : bool, default=True
            Whether to shade the range of the label frequencies that are expected of a
            calibrated model.
        ref_line : bool, default=True
            Whether to draw the diagonal of perfect calibration.
        curve_kwargs : dict, default=None
            Keyword arguments for matplotlib's ``errorbar``.
        diagonal_kwargs : dict, default=None
            Keyword arguments for matplotlib's ``plot`` of the diagonal.

        Returns
        -------
        display : ReliabilityPanelsDisplay
            The display itself.
        """
        limit = check_integer(max_panels, minimum=1, name="max_panels")
        level = check_fraction(confidence_level, name="confidence_level")
        check_bars(interval)
        _check_displays(self.displays)
        shown = list(self.displays)[:limit]
        if n_columns is None:
            one_row = len(shown) <= _ONE_ROW
            width = len(shown) if one_row else int(np.ceil(np.sqrt(len(shown))))
        else:
            n_columns = check_integer(n_columns, minimum=1, name="n_columns")
            width = min(n_columns, len(shown))
        self.figure_ = _take_figure(fig, -(-len(shown) // width), width, counts)
        self.axes_ = panel_axes(self.figure_, shown, width, sharex=True, sharey=True)
        for k, (group, ax) in enumerate(self.axes_.items()):
            display = self.displays[group].plot(
                ax,
                interval=interval,
                confidence_level=level,
                counts=counts,
                consistency_band=consistency_band,
                ref_line=ref_line,
                curve_kwargs=curve_kwargs,
                diagonal_kwargs=diagonal_kwargs,
            )
            lowest = k + width >= len(shown)
            _tidy(display, group, left=k % width == 0, lowest=lowest)
        _share_limits([self.displays[group].count_ax_ for group in shown])
        band = level if consistency_band else None
        lines = self._title(len(shown), self.name if name is None else name, band)
        self._draw_title(lines, own_figure=fig is None)
        return self

    def _draw_title(self, lines: list[str], *, own_figure: bool) -> None:
        """Draw the lines above the panels, wrapped if they are long."""
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
        sizes = [
            display.error.bin_size
            for display in list(self.displays.values())[:n_shown]
            if display._has_own_bins
        ]
        if sizes:
            lines.append(f"errors in bins of {_range(sizes)} pairs")
        if band is not None:
            lines.append(f"shaded: {percent_text(band)} band of perfect calibration")
        return lines

    def to_dict(self) -> dict[Any, Any]:
        """Return the numbers behind the panels of all groups, by group."""
        return {
            group: next(iter(display.to_dict().values()))
            for group, display in self.displays.items()
        }

    def _columns(self) -> dict[str, list]:
        tables = []
        for group, display in self.displays.items():
            table = display._columns()
            del table["name"]
            tables.append((group, table))
        return stacked("group", tables)

    def _lines(self) -> list[str]:
        return [_heading(g, d, ", ") for g, d in self.displays.items()]

    def _in_words(self) -> list[str]:
        errors = [one.error for one in self.displays.values() if one.error is not None]
        if not errors:
            return []
        n_wrong = sum(error.low > 0 for error in errors)
        level = percent_text(errors[0].confidence_level)
        return [
            f"{n_wrong} of {len(errors)} groups have a calibration error whose {level} "
            "confidence interval does not contain 0. The intervals are not adjusted "
            "for the number of groups."
        ]


def _take_figure(fig: Any, n_rows: int, n_columns: int, counts: bool) -> Any:
    """Return `fig`, or a new figure with space for the panels if it is None."""
    from matplotlib.figure import Figure, SubFigure

    if fig is None:
        import matplotlib.pyplot as plt

        height = _PANEL[1] + (_HISTOGRAM if counts else 0)
        # with space for the title of the figure and of a single panel
        size = (max(_PANEL[0] * n_columns, 4.5) + 0.4, height * n_rows + 0.8)
        return plt.figure(figsize=size, layout="constrained")
    expected = "a matplotlib Figure or SubFigure, or None"
    check_type(fig, (Figure, SubFigure), expected, name="fig")
    if fig.get_axes():
        raise ParameterError(
            "fig",
            "must be empty. Got one with axes, which the panels would cover. Call "
            "its clear() first.",
        )
    return fig


def _share_limits(histograms: list[Any]) -> None:
    """Give all histograms the same limits."""
    found = [ax for ax in histograms if ax is not None]
    limits = [limit for ax in found for limit in ax.get_ylim()]
    for ax in found:
        ax.set_ylim(min(limits), max(limits))


def _check_single(value: Any, name: str) -> None:
    if isinstance(value, (Mapping, list, tuple)):
        raise ParameterTypeError(
            name,
            f"must be one model. Got {type(value).__name__}. Draw one figure per "
            "model, or all models in one plot with ReliabilityDisplay.",
        )


def _check_displays(displays: Any) -> None:
    if not isinstance(displays, Mapping) or not displays:
        raise ParameterTypeError(
            "displays",
            "must be a mapping of groups to ReliabilityDisplay with at least one "
            f"group. Got {displays!r:.50}.",
        )
    for group, display in displays.items():
        curve = getattr(display, "curve", None)
        if not isinstance(curve, ReliabilityCurve):
            raise ParameterTypeError(
                "displays",
                "must contain a ReliabilityDisplay of one curve for each group. Got "
                f"{display!r:.50} for {group!r}.",
            )


def _tidy(display: ReliabilityDisplay, group: Any, *, left: bool, lowest: bool) -> None:
    """Set the title of a panel, and remove the labels of inner axes."""
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


def _heading(group: Any, display: ReliabilityDisplay, between: str) -> str:
    """Return the group, the number of its pairs and its error."""
    error = display.error
    said = "too few for an error" if error is None else error_text(error)
    n = _number(_total(display))
    return f"{short_text(group, _LONGEST_NAME)}, n = {n}{between}{said}"


def _total(display: ReliabilityDisplay) -> float:
    """Return the number of pairs, or their total weight if there are weights."""
    return float(display.curve.weight.sum())


def _number(total: float) -> str:
    return f"{total:,.0f}" if total == round(total) else f"{total:,.1f}"


def _range(sizes: list[int]) -> str:
    low, high = min(sizes), max(sizes)
    return str(low) if low == high else f"{low} to {high}"
