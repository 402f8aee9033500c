"""Reliability plots: fraction of positives against mean predicted probability.

One or several models are drawn in one plot. Many models, or the groups of pairs of one
model, have a panel each.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, ParameterTypeError, public
from .._pairs import Pairs
from .._results import Result, contains_zero, ends_text
from .._validation import (
    as_probabilities,
    check_choice,
    check_fraction,
    check_integer,
    check_same_length,
)
from ..metrics import CalibrationErrorInterval, ReliabilityCurve
from ..metrics._bins import check_binning
from ..metrics._curve import curve_of_pairs
from ..metrics._interval import warn_of_few
from . import _models, _style
from ._base import (
    Model,
    ModelsDisplay,
    as_list,
    check_type,
    drawing,
    legend_text,
    of_models,
    percent_text,
    plain_text,
    short_text,
    stacked,
)
from ._models import Query

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


# Height in inches of a histogram below the curves.
_HISTOGRAM = 0.55

_BAND, _BAND_OPACITY = "consistency_band", 0.22

# Width and height of a panel in inches, title included, and height of its histogram.
_PANEL = (2.2, 2.45)
_PANEL_HISTOGRAM = 0.45

# Largest number of panels that are in one row by default.
_ONE_ROW = 3

# Longest text about the positive class, in characters, on the line of an axis label.
_SHORT_CLASS = 20

_DIAGONAL = "Perfectly calibrated"

# Style of the curves of the other panels, which is pale on light and dark pages.
_OTHER: dict[str, Any] = {"color": _style.GREY, "alpha": 0.45, "linewidth": 0.6}
_OTHER |= {"zorder": 0.95, "label": "_other"}

# Characters of a title that fit into an inch.
_IN_AN_INCH = 17

# Longer names would overlap with the next title.
_LONGEST_NAME = 28


def _prepare_axes(ax: Any, counts: bool, pos_label: Any) -> Any:
    """Set limits and labels, and return the axes of the histogram or None."""
    # The axes of another display are reused unless they were cleared.
    below = getattr(ax, "_skcalib_count_ax", None)
    below = below if below in ax.child_axes else None
    if getattr(ax, "_skcalib_diagonal", None) not in ax.lines:
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        of = _class_text(ax, pos_label)
        ax.set(ylabel=f"Fraction of positives{of}")
        ax.set(xlabel="" if below else f"Mean predicted probability{of}")
    return _add_count_axes(ax) if counts and below is None else below


def _class_text(ax: Any, pos_label: Any) -> str:
    """Return the end of the labels of the axes, which names the positive class."""
    if pos_label is None:
        return ""
    of = f"(Positive class: {plain_text(pos_label)})"
    # One line would be longer than a panel, or than the axes if the name is long.
    spec = ax.get_subplotspec()
    is_panel = spec is not None and spec.get_geometry()[:2] != (1, 1)
    return f"\n{of}" if is_panel or len(of) > _SHORT_CLASS else f" {of}"


def _add_count_axes(ax: Any) -> Any:
    """Add axes for the histogram below the curves."""
    from matplotlib.ticker import NullFormatter
    from mpl_toolkits.axes_grid1 import make_axes_locatable

    # The divider makes space inside the area of `ax`. A child of `ax` is part of every
    # layout, moves with `ax`, and is removed when `ax` is cleared.
    divider = make_axes_locatable(ax)
    divider.set_anchor(ax.get_anchor())
    divider.new_vertical("20%", pad="4%", pack_start=True)
    below = ax.inset_axes([0, -0.24, 1, 0.2], sharex=ax)
    if hasattr(ax, "_skcalib_style"):
        _style.style_axes(below)
        for own, above in ((below.xaxis, ax.xaxis), (below.yaxis, ax.yaxis)):
            own.label.set(fontsize=above.label.get_fontsize())
    below.set(yscale="log", ylabel="Count", xlabel=ax.get_xlabel())
    # Within a decade, matplotlib labels the minor ticks, and the labels overlap.
    below.yaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("")
    ax.tick_params(labelbottom=False)
    ax._skcalib_count_ax = below
    return below


def _draw_diagonal(ax: Any, style: Mapping[str, Any]) -> Any:
    """Draw the diagonal once on an axes, and return it."""
    if getattr(ax, "_skcalib_diagonal", None) not in ax.lines:
        default = {"color": _style.GREY, "linestyle": "--", "linewidth": 0.8}
        default |= {"zorder": 1, "label": _DIAGONAL}
        (line,) = ax.plot((0, 1), (0, 1), **{**default, **style})
        ax._skcalib_diagonal = line
    return ax._skcalib_diagonal


def _draw_band(ax: Any, curve: ReliabilityCurve, level: float, n_bands: int) -> Any:
    """Shade the range of the frequencies that are expected under perfect calibration.

    The band is one of `n_bands` bands, which together are as dark as one band.
    """
    label = f"{percent_text(level)} band of perfect calibration"
    if label in ax.get_legend_handles_labels()[1]:
        label = f"_{label}"
    # Bands are grey for all curves: with equal bin sizes they nearly coincide.
    grey = ("0.5", 1 - (1 - _BAND_OPACITY) ** (1 / n_bands))
    style = {"facecolor": grey, "edgecolor": grey, "zorder": 0.9}
    # The edge is visible if the band is narrow or has one bin and therefore no area.
    style |= {"linewidth": 3 if curve.n_bins == 1 else 1, "label": label, "gid": _BAND}
    return ax.fill_between(curve.prob_pred, *curve.consistency_band(level), **style)


def _draw_counts(ax: Any, cells: np.ndarray, color: Any) -> Any:
    """Draw the histogram of a model beside the histograms that are there."""
    drawn = ax.stairs(cells, np.linspace(0, 1, cells.size + 1), fill=True, color=color)
    drawn.set(linewidth=0.3)
    drawn._skcalib_cells = cells
    shown = [patch for patch in ax.patches if hasattr(patch, "_skcalib_cells")]
    values = np.concatenate([patch._skcalib_cells for patch in shown])
    values = values[values > 0]
    if len(shown) > 1:
        for k, patch in enumerate(shown):
            patch.set_data(*_bars_beside(patch._skcalib_cells, k, len(shown)))
            values = np.r_[values, np.nan_to_num(patch.get_data().values)]
    if values.size:
        # Counts begin below 1, so that the height of a bar of one row is visible.
        low = np.floor(np.log10(min(values[values > 0].min(), 1)))
        high = max(np.ceil(np.log10(values.max())), low + 1)
        ax.set_ylim(0.5 * 10**low, 1.25 * 10**high)
    return drawn


def _bars_beside(cells: np.ndarray, k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return values and edges of bar `k` of `n` in each cell."""
    # A cell has a tenth of its width on both sides of its bars.
    left = (np.arange(cells.size) + 0.1 + 0.8 * k / n) / cells.size
    edges = np.column_stack([left, left + 0.8 / n / cells.size]).ravel()
    between = np.full(cells.size, np.nan)
    return np.column_stack([cells, between]).ravel()[:-1], edges


def _name_curves(ax: Any, names_diagonal: bool) -> None:
    """Name the curves, with the band of perfect calibration as the last entry."""
    from matplotlib.patches import Patch

    shown = [
        (handle, label)
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
        if label != _DIAGONAL or names_diagonal
    ]
    shown.sort(key=lambda entry: entry[0].get_gid() == _BAND)
    # A single one of several bands is too pale for the legend.
    handles = [
        Patch(color=("0.5", _BAND_OPACITY)) if handle.get_gid() == _BAND else handle
        for handle, _ in shown
    ]
    _style.name_curves(ax, (handles, [label for _, label in shown]))


class _Look(NamedTuple):
    """What is drawn of each model, and at which confidence level."""

    interval: str | None
    level: float
    counts: bool
    band: bool
    ref_line: bool
    diagonal: dict[str, Any]


def _numbers(error: CalibrationErrorInterval) -> tuple[str, str]:
    """Return the error and its interval as texts."""
    # Three decimals would show a small error as 0.
    digits = ".1e" if 0 < error.high < 0.001 else ".3f"
    return f"{error.estimate:{digits}}", ends_text(error.low, error.high, digits)


def _error_in_words(name: Any, error: CalibrationErrorInterval) -> str:
    """Return a sentence or two about the error of a model, or of a group of pairs."""
    estimate, ends = _numbers(error)
    of = "" if name is None else f" of {name}"
    meaning = "the probabilities are miscalibrated"
    if np.isnan(error.pvalue):
        meaning = "there is no test of perfect calibration with so few rows"
    elif error.low == 0:
        meaning = "the data do not rule out perfect calibration"
    return (
        f"The calibration error{of} (root mean square, debiased) is {estimate}, and "
        f"its {percent_text(error.confidence_level)} confidence interval {ends} "
        f"{contains_zero(error.low, error.high)}: {meaning}.{error._rare_in_words}"
    )


# Equal-width cells of the histogram under the curves. Each multiple of .05 is inside a
# cell of its own, and no number with two decimals is between two cells.
_N_CELLS = 21

# Bins of equal width of a curve, as in scikit-learn.
_N_UNIFORM = 5


def _histogram(q: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Return the total weight of the probabilities in each cell."""
    # Without weights, NumPy counts in integers.
    return np.histogram(q, _N_CELLS, (0, 1), weights=weight)[0].astype(np.float64)


@dataclass(frozen=True, repr=False, eq=False)
class _Points(Result):
    """Points of a curve whose weights are not known, as in scikit-learn's display."""

    prob_true: np.ndarray
    prob_pred: np.ndarray

    def _columns(self) -> dict[str, np.ndarray]:
        return {"prob_pred": self.prob_pred, "prob_true": self.prob_true}

    def __repr__(self) -> str:
        return f"{self.prob_true.size} points"


def _checked(values: Any, name: str) -> np.ndarray:
    """Return the probabilities or frequencies of one model."""
    if values is None:
        other = "prob_pred" if name == "prob_true" else "prob_true"
        raise ParameterTypeError(name, f"must be given together with {other!r}.")
    array = as_probabilities(values, name=name)
    if array.ndim != 1:
        raise ParameterError(name, f"must have one dimension. Got shape {array.shape}.")
    return array


class ReliabilityDisplay(ModelsDisplay):
    """Reliability plot of one or several models, or of groups of pairs of one model.

    The display shows the fraction of positives against the mean predicted probability
    in adaptive bins, with intervals, the diagonal of perfect calibration and a
    histogram of the probabilities. The name of a curve is followed by the calibration
    error with its confidence interval. Probabilities are too low where the curve is
    above the diagonal, and too high where it is below.

    A new figure has the width of a column of a paper (3.3 inches). Two or three curves
    are named where they are drawn if there is space, and in a legend below the axes
    otherwise. More than three models have a panel each, in a figure of 4.7 inches or
    more, in which the curves of the other models are grey.

    A model that is calibrated on all data need not be calibrated for each tag, class,
    genre or source. With `by`, each group of pairs has a panel and takes the place of a
    model: all attributes are lists with an entry per group. Groups are sorted by the
    number of pairs; ties are sorted by the number of positive labels. The title of a
    panel shows its group, the number of its pairs and its calibration error with the
    confidence interval.

    Create the display with :meth:`from_estimator`, :meth:`from_predictions` or
    :meth:`from_cv_results`; the parameters are stored as attributes. The constructor
    takes either `curve`, or `prob_true`, `prob_pred` and `y_prob` as scikit-learn's
    :class:`~sklearn.calibration.CalibrationDisplay` does.

    Parameters
    ----------
    prob_true : array-like of shape (n_bins,), default=None
        Frequency of positive labels in each bin, as returned by
        :func:`~sklearn.calibration.calibration_curve`. The number of rows in a bin is
        then not known, so that only the points and the histogram of `y_prob` are drawn.
    prob_pred : array-like of shape (n_bins,), default=None
        Mean probability in each bin.
    y_prob : array-like of shape (n_pairs,) or list of them, default=None
        Probabilities of the pairs of each model.
    curve : ReliabilityCurve or list of ReliabilityCurve, default=None
        Curve of each model.
    error : CalibrationErrorInterval or list of them, default=None
        Calibration error of each model, for the legend.
    count : ndarray of shape (n_cells,) or list of them, default=None
        Histogram of the probabilities: total weight of the pairs in each bin of equal
        width.
    name : str or list of str, default=None
        Name of each model, for the legend, or of each group.
    estimator_name : str, default=None
        The parameter `name` under scikit-learn's name.
    pos_label : label, default=None
        Positive class, for the label of the axis.

    Attributes
    ----------
    prob_true, prob_pred : ndarray of shape (n_bins,) or list of them
        Points of the curve of each model.
    y_prob : ndarray of shape (n_pairs,) or list of them
        Probabilities of the pairs of each model, without rows of weight 0. The array is
        not a copy if the probabilities were given as an array of floats.
    estimator_name : str or list of str
        Name of each model.
    line_ : matplotlib Artist or list of them
        Curve of each model.
    bar_ : matplotlib Artist or list of them
        Interval bars of each model. None if not drawn.
    count_ : matplotlib Artist or list of them
        Histogram of each model. None if not drawn.
    band_ : matplotlib Artist or list of them
        Band of perfect calibration of each model. None if not drawn.
    diagonal_ : matplotlib Artist or None, or list of them
        Line of perfect calibration, or list of the lines of all panels. None if not
        drawn.
    ax_ : matplotlib Axes or list of them
        Axes with the curves, or list of the axes of all panels.
    count_ax_ : matplotlib Axes or None, or list of them
        Axes with the histograms, or list of the axes of all panels.
    figure_ : matplotlib Figure
        Figure that contains the axes.

    See Also
    --------
    TagErrorDisplay : Calibration error of each tag for several models.
    skcalib.metrics.adaptive_reliability_curve : Compute one curve.
    sklearn.calibration.CalibrationDisplay : Plot without intervals, counts and weights.

    Notes
    -----
    The debiased error in the legend is the estimate of
    :func:`~skcalib.metrics.calibration_error_interval`, whatever bins are chosen for
    the curve. It is usually smaller than the distance of the points from the diagonal,
    which contains the noise of the labels. This distance, which
    :func:`~skcalib.metrics.calibration_error` returns for the same bins, is
    ``display.curve.error()``.

    The area of a point follows the number of its pairs. A point of one or two pairs is
    faint, and the line does not pass through it.

    :meth:`frame` has one row per model and bin. Its columns are `name` (`group` if the
    display was created with `by`), the columns of
    :meth:`ReliabilityCurve.frame() <skcalib.metrics.ReliabilityCurve.frame>`, the 95%
    Wilson interval as `low` and `high`, and the 95% band of perfect calibration as
    `band_low` and `band_high`. Groups that are not drawn are included.

    Examples
    --------
    >>> from skcalib import ReliabilityDisplay
    >>> from skcalib.datasets import make_calibrated_pairs
    >>> y_true, y_proba = make_calibrated_pairs(3000, k=0.1, random_state=0)
    >>> display = ReliabilityDisplay.from_predictions(y_true, y_proba, name="model")
    >>> display.figure_.savefig("reliability.png")  # doctest: +SKIP
    >>> sorted(display.to_dict()["model"])
    ['count', 'curve', 'error']
    """

    line_: Any
    bar_: Any
    count_: Any
    band_: Any
    ax_: Any
    count_ax_: Any
    diagonal_: Any

    _kinds = (ReliabilityCurve, _Points)

    # Name of the model whose pairs are divided into groups.
    _model_name: Any = None

    @public
    def __init__(
        self,
        prob_true: ArrayLike | None = None,
        prob_pred: ArrayLike | None = None,
        y_prob: ArrayLike | Sequence[ArrayLike] | None = None,
        *,
        curve: ReliabilityCurve | Sequence[ReliabilityCurve] | None = None,
        error: CalibrationErrorInterval
        | Sequence[CalibrationErrorInterval | None]
        | None = None,
        count: np.ndarray | Sequence[np.ndarray] | None = None,
        name: str | Sequence[str | None] | None = None,
        estimator_name: str | None = None,
        pos_label: Hashable = None,
    ):
        if name is not None and estimator_name is not None:
            raise ParameterError(None, "takes 'name' or 'estimator_name', not both.")
        shown: Any = curve
        if prob_true is not None or prob_pred is not None:
            if curve is not None:
                problem = "takes 'curve' or 'prob_true' and 'prob_pred', not both."
                raise ParameterError(None, problem)
            points = {
                "prob_true": _checked(prob_true, "prob_true"),
                "prob_pred": _checked(prob_pred, "prob_pred"),
            }
            check_same_length(**points)
            shown = _Points(**points)
            if y_prob is not None and np.size(y_prob):  # type: ignore[arg-type]
                y_prob = _checked(y_prob, "y_prob")
                count = _histogram(y_prob) if count is None else count
        name = estimator_name if name is None else name
        self._set_models(shown, name=name, error=error, count=count, y_prob=y_prob)
        self.pos_label = pos_label

    error = of_models("error", "Calibration error of each model.")
    count = of_models("count", "Histogram of the probabilities of each model.")
    y_prob = of_models("y_prob", "Probabilities of the pairs of each model.")

    prob_true = of_models("curve.prob_true", "Frequencies of the bins of each model.")
    prob_pred = of_models(
        "curve.prob_pred", "Mean probabilities of the bins of each model."
    )

    @property
    def estimator_name(self) -> Any:
        """The attribute `name` with scikit-learn's name and default."""
        return "Classifier" if self.name is None else self.name

    @classmethod
    @public
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike | Mapping[str, ArrayLike] | Sequence[ArrayLike],
        *,
        by: ArrayLike | None = None,
        bin_size: int | str = "auto",
        n_bins: int | None = None,
        strategy: str = "quantile",
        multi_class: str | None = None,
        labels: ArrayLike | None = None,
        pos_label: Hashable = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence_level: float = 0.95,
        name: str | Sequence[str] | None = None,
        ax: Axes | Figure | SubFigure | None = None,
        n_draws: int | ArrayLike | None = None,
        **plot_params: Any,
    ) -> ReliabilityDisplay:
        """Draw reliability curves of predicted probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels.
        y_proba : array-like of shape (n,) or (n, n_classes), or mapping or list of them
            Probabilities, as in :func:`~skcalib.metrics.calibration_error`. If it is a
            mapping from names to probabilities, or a list of arrays with n entries, one
            curve is drawn for each, with the same labels. scikit-learn's name of this
            parameter, `y_prob`, is accepted as a keyword.
        by : array-like of shape (n,) or 'label', default=None
            Name of the group of each row, for one panel per group. If 'label', there is
            one panel per class (per predicted class with ``multi_class='top_label'``).
        bin_size, n_bins, strategy : optional
            Bins of the curve, as in
            :func:`~skcalib.metrics.adaptive_reliability_curve`. With
            ``strategy='uniform'``, `n_bins` is 5 by default, as in scikit-learn.
            `n_bins` without `strategy` gives bins of equal numbers of pairs. The
            default of scikit-learn's display is equal width: for its points, also pass
            ``strategy='uniform'``.
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
            Group (sentence, document) of each row, used for the interval of the error,
            the bars and the band. Rows of the same group may depend on each other.
            These groups are not the groups of `by`.
        confidence_level : float, default=0.95
            Confidence level of the interval of the error, of the bars and of the band.
        name : str or list of str, default=None
            Name for the legend, or list of names for a list of probabilities. Not used
            if `y_proba` is a mapping. With `by`, name of the model for the title of the
            figure.
        ax : matplotlib Axes, Figure or SubFigure, default=None
            Axes to draw on, or an empty figure for panels, as in :meth:`plot`.
        n_draws : int or array-like of shape (n,), default=None
            Number of samples (one number with `by`), if the probabilities are shares of
            samples. The error in the legend is then the error of the probability behind
            the share, as in :func:`~skcalib.metrics.calibration_error_interval`. The
            curve is the curve of the share.
        **plot_params
            Keyword arguments passed to :meth:`plot`, such as ``color='red'``.

        Returns
        -------
        display : ReliabilityDisplay

        Examples
        --------
        >>> from skcalib import ReliabilityDisplay
        >>> from skcalib.datasets import make_calibrated_pairs
        >>> y_true, y_proba = make_calibrated_pairs(3000, random_state=0)
        >>> both = {"right": y_proba, "squared": y_proba**2}
        >>> display = ReliabilityDisplay.from_predictions(y_true, both)
        >>> [line.get_label()[:7] for line in display.line_]
        ['right: ', 'squared']

        One panel per group:

        >>> import numpy as np
        >>> genre = np.where(np.arange(3000) % 3 == 0, "letters", "news")
        >>> panels = ReliabilityDisplay.from_predictions(y_true, y_proba, by=genre)
        >>> for group, error in zip(panels.name, panels.error):
        ...     print(f"{group}: {error.n_pairs} pairs")
        news: 2000 pairs
        letters: 1000 pairs
        """
        classes = multi_class, labels, pos_label
        of_rows = sample_weight, groups, by, n_draws
        parts = _models.parts_of_predictions(y_true, y_proba, name, *classes, *of_rows)
        bins = bin_size, n_bins, strategy
        return cls._draw(
            parts, bins, confidence_level, pos_label, ax, plot_params, by, name
        )

    @classmethod
    @public
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | Sequence[Any],
        *,
        by: ArrayLike | None = None,
        query: Query | None = None,
        bin_size: int | str = "auto",
        n_bins: int | None = None,
        strategy: str = "quantile",
        multi_class: str | None = None,
        pos_label: Hashable = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence_level: float = 0.95,
        name: str | Sequence[str] | None = None,
        ax: Axes | Figure | SubFigure | None = None,
        **plot_params: Any,
    ) -> ReliabilityDisplay:
        """Draw reliability curves of one or several fitted estimators.

        Parameters
        ----------
        estimator : fitted estimator, or mapping or list of them
            A classifier, a tagger, a coreference model, or any estimator that `query`
            accepts. If it is a mapping from names to estimators, or a list of
            estimators, one curve is drawn for each.
        X : array-like
            Samples.
        y : array-like of shape (n_samples,)
            True labels.
        by : array-like of shape (n_samples,) or 'label', default=None
            Name of the group of each sample (of each sentence, for a tagger), for one
            panel per group. If 'label', there is one panel per class or tag of the
            query.
        query : query object, default=None
            Query put to the estimator. If None, the default query is used, as in
            :func:`~skcalib.scorers.make_query_scorer`.
        bin_size, n_bins, strategy : optional
            Bins of the curve, as in :meth:`from_predictions`.
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
            Group of each sample, used for the interval of the error, the bars and the
            band. Samples of the same group may depend on each other. These groups are
            not the groups of `by`. If None, samples are treated as independent, and
            pairs of the same sample as dependent.
        confidence_level : float, default=0.95
            Confidence level of the interval of the error, of the bars and of the band.
        name : str or list of str, default=None
            Name for the legend, or list of names for a list of estimators. If None, the
            name of the estimator's class is used. Not used if `estimator` is a mapping.
            With `by`, name of the model for the title of the figure.
        ax : matplotlib Axes, Figure or SubFigure, default=None
            Axes to draw on, or an empty figure for panels, as in :meth:`plot`.
        **plot_params
            Keyword arguments passed to :meth:`plot`, such as ``color='red'``.

        Returns
        -------
        display : ReliabilityDisplay

        Notes
        -----
        If the answers of `query` have a number of samples `n_draws`, the probabilities
        are shares of samples, and the errors are those of the probability behind the
        share, as in :meth:`from_predictions`.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from skcalib import ReliabilityDisplay
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = GaussianNB().fit(X[:300], y[:300])
        >>> display = ReliabilityDisplay.from_estimator(model, X[300:], y[300:])
        >>> display.name
        'GaussianNB'
        """
        found = _models.ask_estimators(
            estimator, X, y, query, name, multi_class, pos_label
        )
        parts = _models.parts_of_answers(found, y, sample_weight, groups, by)
        bins = bin_size, n_bins, strategy
        if pos_label is None and query is None and multi_class is None:
            pos_label = _models.positive_class(found)
        return cls._draw(
            parts, bins, confidence_level, pos_label, ax, plot_params, by, found[0][0]
        )

    @classmethod
    @public
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        y: ArrayLike | Sequence[Any],
        *,
        by: ArrayLike | None = None,
        by_fold: bool = False,
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
        ax: Axes | Figure | SubFigure | None = None,
        **plot_params: Any,
    ) -> ReliabilityDisplay:
        """Draw the reliability curve of out-of-fold predictions of all folds.

        Each fitted estimator is evaluated on its own test fold only. By default, the
        predictions of all folds are combined in one curve, because single folds are
        usually too small. A sample that is in several test folds counts as a group of
        dependent pairs.

        Parameters
        ----------
        cv_results : dict, or mapping of dict
            Result of :func:`sklearn.model_selection.cross_validate` with
            ``return_estimator=True, return_indices=True``. If it is a mapping from
            names to such results of several models on the same data, one curve is drawn
            for each.
        X : array-like
            The samples that were passed to cross_validate.
        y : array-like of shape (n_samples,)
            The labels that were passed to cross_validate.
        by : array-like of shape (n_samples,) or 'label', default=None
            As in :meth:`from_estimator`.
        by_fold : bool, default=False
            Whether to draw one curve per fold instead of one curve of all folds.
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
            Confidence level of the interval of the error, of the bars and of the band.
        name : str, default=None
            Name for the legend, or for the title of the figure with `by`. If None, the
            name of the estimators' class is used. Not used if `cv_results` is a mapping
            of several results.
        ax : matplotlib Axes, Figure or SubFigure, default=None
            Axes to draw on, or an empty figure for panels, as in :meth:`plot`.
        **plot_params
            Keyword arguments passed to :meth:`plot`, such as ``color='red'``.

        Returns
        -------
        display : ReliabilityDisplay

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.model_selection import cross_validate
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from skcalib import ReliabilityDisplay
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> cv_results = cross_validate(
        ...     GaussianNB(), X, y, return_estimator=True, return_indices=True
        ... )
        >>> display = ReliabilityDisplay.from_cv_results(cv_results, X, y)
        >>> display.curve.n_pairs
        569
        >>> folds = ReliabilityDisplay.from_cv_results(cv_results, X, y, by_fold=True)
        >>> [curve.n_pairs for curve in folds.curve]
        [114, 114, 114, 114, 113]
        """
        found = _models.ask_folds(
            cv_results, X, y, query, name, multi_class, pos_label, by_fold
        )
        parts = _models.parts_of_answers(found, y, sample_weight, groups, by)
        bins = bin_size, n_bins, strategy
        if pos_label is None and query is None and multi_class is None:
            pos_label = _models.positive_class(found)
        return cls._draw(
            parts, bins, confidence_level, pos_label, ax, plot_params, by, found[0][0]
        )

    @classmethod
    def _draw(
        cls,
        parts: Sequence[tuple[Any, Pairs, Any]],
        bins: tuple[Any, Any, Any],
        confidence_level: float,
        pos_label: Hashable,
        ax: Any,
        plot_params: Mapping[str, Any],
        by: Any = None,
        model_name: Any = None,
    ) -> ReliabilityDisplay:
        """Compute the numbers of models, or of the groups of one model, and draw."""
        bin_size, n_bins, strategy = bins
        if n_bins is None and str(strategy) == "uniform" and isinstance(bin_size, str):
            n_bins = _N_UNIFORM
        binning = check_binning(bin_size, n_bins, strategy)
        level = check_fraction(confidence_level, name="confidence_level")
        display = cls.__new__(cls)
        display.pos_label = pos_label
        display._is_divided, display._model_name = by is not None, model_name
        # The curve may have any bins. The error and its interval do not depend on them.
        error_of = _models.error_of_pairs if by is None else _models.error_if_enough
        display._models = [
            Model(
                name=name,
                curve=replace(
                    curve_of_pairs(pairs, binning), _are_shares=draws is not None
                ),
                error=error_of(pairs, level, draws),
                count=_histogram(pairs.q, pairs.weight),
                y_prob=pairs.q,
            )
            for name, pairs, draws in parts
        ]
        # One warning is about all models, and names the one with the fewest rows.
        warn_of_few((model.name, model.error) for model in display._models)
        return display.plot(ax, confidence_level=level, **plot_params)

    @drawing
    def plot(
        self,
        ax: Axes | Figure | SubFigure | None = None,
        *,
        name: str | Sequence[str] | None = None,
        interval: str | None = "wilson",
        confidence_level: float = 0.95,
        counts: bool | None = None,
        consistency_band: bool | None = None,
        ref_line: bool = True,
        max_panels: int = 12,
        n_columns: int | None = None,
        curve_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        diagonal_kwargs: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> ReliabilityDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, Figure or SubFigure, default=None
            Axes to draw on. If another display has already been drawn on the axes, the
            curves are added to it. Panels (of groups, or of more than three models) are
            drawn on an empty figure. If None, a new figure is created.
        name : str or list of str, default=None
            Names of the curves, or name of the model for the title of the figure if the
            display was created with `by`. If None, the stored names are used.
        interval : {'wilson', 'clopper_pearson', 'normal'} or None, default='wilson'
            Bars of the fractions of positives; see
            :meth:`~skcalib.metrics.ReliabilityCurve.interval`. If None, or if the
            display was created from `prob_true` and `prob_pred`, no bars are drawn.
        confidence_level : float, default=0.95
            Confidence level of the bars and of the band.
        counts : bool, default=None
            Whether to draw a histogram of the probabilities below the curves, on a log
            scale. The bars of several models stand side by side. If None, histograms
            are drawn unless the display was created with `by`.
        consistency_band : bool, default=None
            Whether to shade the range of the fractions of positives that are expected
            of a calibrated model; see
            :meth:`~skcalib.metrics.ReliabilityCurve.consistency_band`. If None, bands
            are drawn if the display was created with `by`.
        ref_line : bool, default=True
            Whether to draw the diagonal of perfect calibration.
        max_panels : int, default=12
            Largest number of panels of groups. The most frequent groups are drawn, and
            the title of the figure shows the number of groups that are left out.
        n_columns : int, default=None
            Number of panels in a row. If None, up to three panels are drawn in one row,
            and more panels are arranged in a grid that is approximately square.
        curve_kwargs : dict or list of dict, default=None
            Keyword arguments for matplotlib's ``errorbar``: one dict for all curves, or
            a list with one dict per curve.
        diagonal_kwargs : dict, default=None
            Keyword arguments for matplotlib's ``plot`` of the diagonal.
        **kwargs
            Properties of the lines of all curves, such as `color`, `marker`,
            `linestyle` or `alpha`, as in scikit-learn. They are short for
            `curve_kwargs`.

        Returns
        -------
        display : ReliabilityDisplay
            The display itself.
        """
        if interval is not None:
            choices = ("wilson", "clopper_pearson", "normal")
            check_choice(interval, choices, name="interval")
        level = check_fraction(confidence_level, name="confidence_level")
        limit = check_integer(max_panels, minimum=1, name="max_panels")
        if n_columns is not None:
            n_columns = check_integer(n_columns, minimum=1, name="n_columns")
        models, divided = self._models, self._is_divided
        if name is not None and not divided:
            models = self._with("name", name)
        if consistency_band and any(isinstance(m.curve, _Points) for m in models):
            raise ParameterError(
                "consistency_band",
                "needs the number of rows in each bin, which is not known if the "
                "display was created from 'prob_true' and 'prob_pred'. Use "
                "from_predictions.",
            )
        styles = _style.line_styles(curve_kwargs, len(models))
        own = _style.line_style(kwargs, name="kwargs")
        for twice in [key for key in own if any(key in each for each in styles)]:
            problem = f"takes {twice!r} alone or in 'curve_kwargs', not both."
            raise ParameterError(None, problem)
        styles = [each | own for each in styles]
        look = _Look(
            interval,
            level,
            # Either all models have a histogram or none.
            (not divided if counts is None else counts) and models[0].count is not None,
            divided if consistency_band is None else consistency_band,
            ref_line,
            _style.line_style(diagonal_kwargs, name="diagonal_kwargs"),
        )
        if divided:
            title = self._title(limit, name, look)
            self._draw_panels(ax, models[:limit], n_columns, styles, look, title)
        elif len(models) > _style.MOST_TOGETHER and _style.is_figure(ax):
            self._draw_panels(ax, models, n_columns, styles, look, [])
        else:
            size = _style.COLUMN, _style.COLUMN + (_HISTOGRAM if look.counts else 0)
            ax = _style.take_axes(ax, *size, are_short=True)
            self.figure_: Any = ax.figure
            drawn = self._draw_on(ax, models, styles, look)
            # Points alone are drawn as in scikit-learn, which names the diagonal.
            _name_curves(ax, all(isinstance(m.curve, _Points) for m in models))
            self._set_artists(drawn)
            # All models share them.
            for key in ("ax", "count_ax", "diagonal"):
                setattr(self, f"{key}_", drawn[0][key])
        return self

    def _draw_on(
        self, ax: Any, models: list[Model], styles: list, look: _Look
    ) -> list[dict[str, Any]]:
        """Draw models on the same axes, and return the artists of each by name."""
        count_ax = _prepare_axes(ax, look.counts, self.pos_label)
        diagonal = _draw_diagonal(ax, look.diagonal) if look.ref_line else None
        shared = {"ax": ax, "count_ax": count_ax, "diagonal": diagonal}
        drawn = []
        for model, own in zip(models, styles, strict=True):
            label = legend_text(*self._label(model))
            style = {**_style.next_style(ax), "label": label, **own}
            curve = model.curve
            ends = weight = None
            if not isinstance(curve, _Points):
                weight = curve.weight
                if look.interval is not None:
                    ends = curve._interval(look.level, look.interval)
            points = curve.prob_pred, curve.prob_true
            line, bar = _style.draw_points(ax, *points, ends, style, weight)
            count = band = None
            if look.counts:
                count = _draw_counts(count_ax, model.count, line.get_color())
            if look.band:
                band = _draw_band(ax, curve, look.level, len(models))
            own = {"line": line, "bar": bar, "count": count, "band": band}
            drawn.append(shared | own)
        return drawn

    def _draw_panels(
        self,
        fig: Any,
        models: list[Model],
        n_columns: int | None,
        styles: list,
        look: _Look,
        title: list[str],
    ) -> None:
        """Draw every model in a panel, with the other curves in grey for comparison."""
        n = len(models)
        if n_columns is None:
            # More panels than fit into one row are arranged in a square.
            n_columns = n if n <= _ONE_ROW else int(np.ceil(np.sqrt(n)))
        n_columns = min(n_columns, n)
        self.figure_ = _take_figure(fig, -(-n // n_columns), n_columns, look.counts)
        axes = _style.panel_axes(
            self.figure_, range(n), n_columns, sharex=True, sharey=True
        )
        drawn: list[dict[str, Any]] = []
        for k, (name, model) in enumerate(self._by_key()):
            if k == n:
                break
            drawn += self._draw_on(axes[k], [model], [styles[k]], look)
            for other in models:
                if other is not model:
                    x, y = other.curve.prob_pred, other.curve.prob_true
                    axes[k].plot(x, y, **_OTHER)
            # The panel below may be missing in the last row.
            left, lowest = k % n_columns == 0, k + n_columns >= n
            heading = plain_text(_heading(name, model, "\n"))
            _tidy(axes[k], drawn[k]["count_ax"], heading, left=left, lowest=lowest)
        # All histograms have the same limits.
        below = [each["count_ax"] for each in drawn if each["count_ax"] is not None]
        limits = [limit for ax in below for limit in ax.get_ylim()]
        for ax in below:
            ax.set_ylim(min(limits), max(limits))
        self._set_artists(drawn)
        width = int(_IN_AN_INCH * self.figure_.bbox.width / self.figure_.dpi)
        lines = [part for line in title for part in wrap(line, width)]
        if lines:
            shown = plain_text("\n".join(lines))
            self.figure_.suptitle(shown, fontsize=7, color=_style.INK)
        if _style.is_new(fig):
            self.figure_.set_figheight(self.figure_.get_figheight() + 0.13 * len(lines))
            # The layout of square axes needs two passes.
            self.figure_.draw_without_rendering()

    def _title(self, limit: int, name: Any, look: _Look) -> list[str]:
        """Return the lines above the panels of groups."""
        name = self._model_name if name is None else name
        lines = [] if name is None else [str(name)]
        total = [_total(model) for model in self._models]
        if limit < len(total):
            lines.append(
                f"the {limit} most frequent of {len(total)} groups; not shown: "
                f"{len(total) - limit} with {_number(sum(total[limit:]))} of "
                f"{_number(sum(total))} pairs"
            )
        has_error = any(model.error is not None for model in self._models[:limit])
        last = ["errors: debiased"] * has_error
        if look.band:
            level = percent_text(look.level)
            last.append(f"shaded: {level} band of perfect calibration")
        return [*lines, "; ".join(last)] if last else lines

    def _label(self, model: Model) -> list[str]:
        """Return the name and the error of a model, if they are known."""
        label = [] if model.name is None else [str(model.name)]
        if model.error is not None:
            # The points contain label noise, and the debiased error does not.
            label.append(f"debiased error {' '.join(_numbers(model.error))}")
        return label

    def to_dict(self) -> dict[Any, Any]:
        """Return the numbers behind the plot, by name (or position) of the model."""
        return {
            key: {
                "curve": model.curve.to_dict(),
                "error": None if model.error is None else model.error.to_dict(),
                "count": None if model.count is None else model.count.tolist(),
            }
            for key, model in self._by_key()
        }

    def _columns(self) -> dict[str, list]:
        tables: list[tuple[Any, Any]] = []
        for key, model in self._by_key():
            curve, table = model.curve, model.curve._columns()
            if not isinstance(curve, _Points):
                # The table has 95% intervals, whatever level was drawn.
                table["low"], table["high"] = curve.interval()
                table["band_low"], table["band_high"] = curve.consistency_band()
            tables.append((key, table))
        return stacked("group" if self._is_divided else "name", tables)

    def _lines(self) -> list[str]:
        if self._is_divided:
            return [_heading(model.name, model, ", ") for model in self._models]
        return [": ".join(self._label(m)) or repr(m.curve) for m in self._models]

    def _in_words(self) -> list[str]:
        if self._is_divided:
            errors = [model.error for model in self._models]
            return [
                f"{sentence} The intervals are not adjusted for the number of groups."
                for sentence in _models.errors_in_words(errors, "groups")
            ]
        said = [
            _error_in_words(model.name, model.error)
            for model in self._models
            if model.error is not None
        ]
        if any(getattr(model.curve, "_are_shares", False) for model in self._models):
            said.append(
                "The curve shows shares of samples, and the error is that of the "
                "probabilities behind them."
            )
        return said


def _take_figure(fig: Any, n_rows: int, n_columns: int, counts: bool) -> Any:
    """Return `fig`, or a new figure with space for the panels if it is None."""
    from matplotlib.figure import Figure, SubFigure

    if _style.is_new(fig):
        # no wider than the text of a paper, with space for the labels of the axes
        width = min(_PANEL[0], (_style.PAGE - 0.3) / n_columns)
        height = width + _PANEL[1] - _PANEL[0] + (_PANEL_HISTOGRAM if counts else 0)
        width = max(width * n_columns + 0.3, _style.COLUMN)
        return _style.new_figure(width, height * n_rows + 0.2, fig)
    expected = "a matplotlib Figure or SubFigure, or None"
    check_type(fig, (Figure, SubFigure), expected, name="ax")
    if fig.get_axes():
        raise ParameterError(
            "ax",
            "must be empty. Got a figure with axes, which the panels would cover. Call "
            "its clear() first.",
        )
    return fig


def _tidy(ax: Any, count_ax: Any, heading: str, *, left: bool, lowest: bool) -> None:
    """Set the title of a panel, and remove the labels of inner axes."""
    ax.set_title(heading, fontsize=6.5, color=_style.INK, pad=3)
    for each in (ax,) if count_ax is None else (ax, count_ax):
        each.tick_params(labelleft=left)
        if not left:
            each.set_ylabel("")
    lower = ax if count_ax is None else count_ax
    lower.tick_params(labelbottom=lowest)
    if not lowest:
        lower.set_xlabel("")


def _heading(name: Any, model: Model, between: str) -> str:
    """Return the name of a model or group, the number of its pairs and its error."""
    name = short_text(name, _LONGEST_NAME)
    if not any(map(str.isalnum, name)):  # such as the tag of commas
        name = f'"{name}"'
    if isinstance(model.curve, _Points):
        return name
    said = "too few for an error"
    if model.error is not None:
        said = f"error {' '.join(_numbers(model.error))}"
    return f"{name}, n = {_number(_total(model))}{between}{said}"


def _total(model: Model) -> float:
    """Return the number of pairs, or their total weight if there are weights."""
    return float(model.curve.weight.sum())


def _number(total: float) -> str:
    return f"{total:,.0f}" if total == round(total) else f"{total:,.1f}"


# The old name of displays with a panel per group.


def _constructor(name: str) -> Any:
    """Return a constructor with the old names of parameters."""

    def method(
        cls: Any, /, *args: Any, by: Any = "label", fig: Any = None, **params: Any
    ) -> Any:
        new = getattr(super(ReliabilityPanelsDisplay, cls), name)
        return new(*args, by=by, ax=fig, **params)

    return classmethod(method)


class ReliabilityPanelsDisplay(ReliabilityDisplay):
    """Old name of :class:`ReliabilityDisplay` with the parameter `by`.

    Figures are passed as `fig`, and the numbers of groups are in `displays`.
    """

    from_predictions = _constructor("from_predictions")
    from_estimator = _constructor("from_estimator")
    from_cv_results = _constructor("from_cv_results")

    @property
    def displays(self) -> dict[Any, ReliabilityDisplay]:
        """A display of the numbers of each group."""
        return {
            group: ReliabilityDisplay(
                curve=model.curve,
                error=model.error,
                count=model.count,
                y_prob=model.y_prob,
                name=str(group),
            )
            for group, model in self._by_key()
        }

    @property
    def axes_(self) -> dict[Any, Any]:
        """Axes of each group that is drawn."""
        groups = [group for group, _ in self._by_key()]
        return dict(zip(groups, as_list(self.ax_), strict=False))
