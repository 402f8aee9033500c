"""Reliability plots: fraction of positives against mean predicted probability.

`ReliabilityDisplay` draws one or several models in one plot, and
`ReliabilityPanelsDisplay` draws a plot for each group of pairs of one model.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, ParameterTypeError, public
from .._pairs import Pairs
from .._results import Result, contains_zero, ends_text
from .._validation import (
    as_probabilities,
    check_bool,
    check_choice,
    check_fraction,
    check_integer,
    check_same_length,
)
from ..metrics import CalibrationErrorInterval, ReliabilityCurve
from ..metrics._bins import Binning, check_binning
from ..metrics._curve import curve_of_pairs
from ..metrics._draws import check_draws_of_model, check_n_draws, rows_of_shares
from ..metrics._interval import warn_of_few
from ..queries import Answers
from . import _models, _style
from ._base import (
    Display,
    ModelsDisplay,
    as_shown,
    check_type,
    drawing,
    legend_text,
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

_X_LABEL = "Mean predicted probability"

# Style of the curves of the other panels, which is pale on light and dark pages.
_OTHER: dict[str, Any] = {"color": _style.GREY, "alpha": 0.45, "linewidth": 0.6}
_OTHER |= {"zorder": 0.95, "label": "_other"}

# Characters of a title that fit into an inch.
_IN_AN_INCH = 17

# Longer names of groups would overlap with the next title.
_LONGEST_NAME = 28


def _prepare_axes(ax: Any, counts: bool, pos_label: Any) -> Any:
    """Set limits and labels, and return the axes of the histogram or None."""
    # The axes of another display are reused unless they were cleared.
    below = getattr(ax, "_skcalib_count_ax", None)
    below = below if below in ax.child_axes else None
    if getattr(ax, "_skcalib_diagonal", None) not in ax.lines:
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        # One line would be longer than the axis, and reach that of the histogram.
        of = "" if pos_label is None else f"\n(positive class: {plain_text(pos_label)})"
        ax.set(ylabel=f"Fraction of positives{of}", xlabel="" if below else _X_LABEL)
    return _add_count_axes(ax) if counts and below is None else below


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
    below.set(yscale="log", ylabel="Count", xlabel=_X_LABEL)
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
        default |= {"zorder": 1, "label": "_diagonal"}
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
    """Return values and edges of bar `k` of `n` in each cell; two cells are joined."""
    if cells.size % 2 == 0:
        cells = cells.reshape(-1, 2).sum(axis=1)
    # A cell has a tenth of its width on both sides of its bars.
    left = (np.arange(cells.size) + 0.1 + 0.8 * k / n) / cells.size
    edges = np.column_stack([left, left + 0.8 / n / cells.size]).ravel()
    between = np.full(cells.size, np.nan)
    return np.column_stack([cells, between]).ravel()[:-1], edges


def _name_curves(ax: Any) -> None:
    """Name the curves, with the band of perfect calibration as the last entry."""
    from matplotlib.patches import Patch

    shown = list(zip(*ax.get_legend_handles_labels(), strict=True))
    shown.sort(key=lambda entry: entry[0].get_gid() == _BAND)
    # A single one of several bands is too pale for the legend.
    handles = [
        Patch(color=("0.5", _BAND_OPACITY)) if handle.get_gid() == _BAND else handle
        for handle, _ in shown
    ]
    _style.name_curves(ax, (handles, [label for _, label in shown]))


def _check_bars(interval: Any) -> None:
    """Raise an error unless `interval` is a kind of bars or None."""
    if interval is not None:
        choices = ("wilson", "clopper_pearson", "normal")
        check_choice(interval, choices, name="interval")


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
        f"The calibration error{of} (root mean square, debiased, in bins of "
        f"{error.bin_size} pairs) is {estimate}, and its "
        f"{percent_text(error.confidence_level)} confidence interval {ends} "
        f"{contains_zero(error.low, error.high)}: {meaning}."
    )


# Equal-width cells of the histogram under the curves.
_N_CELLS = 50


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
    """Reliability plot of one or several models.

    The display shows the fraction of positives against the mean predicted probability
    in adaptive bins, with intervals, the diagonal of perfect calibration and a
    histogram of the probabilities. The name of a curve is followed by the calibration
    error with its confidence interval. Probabilities are too low where the curve is
    above the diagonal, and too high where it is below.

    A new figure has the width of a column of a paper (3.3 inches). Two or three curves
    are named where they are drawn if there is space, and in a legend below the axes
    otherwise. More than three models have a panel each, in a figure of 4.7 inches or
    more, in which the curves of the other models are grey.

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
        Name of each model, for the legend.
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
    ReliabilityPanelsDisplay : One panel per group of pairs.
    skcalib.metrics.adaptive_reliability_curve : Compute one curve.
    sklearn.calibration.CalibrationDisplay : Plot without intervals, counts and weights.

    Notes
    -----
    The error is computed in the bins of
    :func:`~skcalib.metrics.calibration_error_interval`, because its interval is valid
    for these bins only. If other bins are chosen for the curve, the legend says that
    the error is debiased and shows its bin size. The error in the bins of the curve,
    which :func:`~skcalib.metrics.calibration_error` returns for the same bins, is
    ``display.curve.error()``.

    :meth:`frame` has one row per model and bin. Its columns are `name`, the columns of
    :meth:`ReliabilityCurve.frame() <skcalib.metrics.ReliabilityCurve.frame>`, the 95%
    Wilson interval as `low` and `high`, and the 95% band of perfect calibration as
    `band_low` and `band_high`.

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

    curve: Any
    name: Any
    error: Any
    count: Any
    y_prob: Any
    line_: Any
    bar_: Any
    count_: Any
    band_: Any

    _kinds = (ReliabilityCurve, _Points)

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
            if y_prob is not None:
                y_prob = _checked(y_prob, "y_prob")
                count = _histogram(y_prob) if count is None else count
        self.curve, self.name, self.error, self.count, self.y_prob = as_shown(
            shown, estimator_name if name is None else name, error, count, y_prob
        )
        self.pos_label = pos_label
        # Whether the bins of the curve were chosen and differ from the bins of the
        # error.
        self._has_own_bins = False

    @property
    def prob_true(self) -> Any:
        """Frequencies of the bins of each model."""
        return self._of_curves("prob_true")

    @property
    def prob_pred(self) -> Any:
        """Mean probabilities of the bins of each model."""
        return self._of_curves("prob_pred")

    @property
    def estimator_name(self) -> Any:
        """The attribute `name` under scikit-learn's name."""
        return self.name

    def _of_curves(self, attribute: str) -> Any:
        values = [getattr(curve, attribute) for curve in self._curves()]
        return values if isinstance(self.curve, list) else values[0]

    @classmethod
    @public
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike | Mapping[str, ArrayLike] | Sequence[ArrayLike],
        *,
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
        ax: Axes | None = None,
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
            curve is drawn for each, with the same labels.
        bin_size, n_bins, strategy : optional
            Bins of the curve, as in
            :func:`~skcalib.metrics.adaptive_reliability_curve`. The error in the legend
            uses the bins of :func:`~skcalib.metrics.calibration_error_interval`.
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
            Group (sentence, document) of each row, used for the interval of the error.
            Rows of the same group may depend on each other.
        confidence_level : float, default=0.95
            Confidence level of the interval of the error, of the bars and of the band.
        name : str or list of str, default=None
            Name for the legend, or list of names for a list of probabilities. Not used
            if `y_proba` is a mapping.
        ax : matplotlib Axes, default=None
            Axes to draw on. If another display has already been drawn on the axes, the
            curves are added to it. If None, a new figure is created.
        n_draws : int or array-like of shape (n,), default=None
            Number of samples, if the probabilities are shares of samples. The error in
            the legend is then the error of the probability behind the share, as in
            :func:`~skcalib.metrics.calibration_error_interval`. The curve is the curve
            of the share.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

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
        """
        models = _models.pairs_of_predictions(
            y_true, y_proba, name, multi_class, labels, pos_label, sample_weight, groups
        )
        bins = bin_size, n_bins, strategy
        k: tuple[Any, ...] = ()
        if n_draws is not None:
            check_draws_of_model(2, multi_class)
            k = check_n_draws(n_draws, y_true, sample_weight)
        return cls._draw(models, bins, confidence_level, pos_label, ax, plot_params, *k)

    @classmethod
    @public
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | Sequence[Any],
        *,
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
        ax: Axes | None = None,
        n_draws: int | None = None,
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
            Group of each sample, used for the interval of the error. Samples of the
            same group may depend on each other. If None, samples are treated as
            independent, and pairs of the same sample as dependent.
        confidence_level : float, default=0.95
            Confidence level of the interval of the error, of the bars and of the band.
        name : str or list of str, default=None
            Name for the legend, or list of names for a list of estimators. If None, the
            name of the estimator's class is used. Not used if `estimator` is a mapping.
        ax : matplotlib Axes, default=None
            Axes to draw on. If another display has already been drawn on the axes, the
            curves are added to it. If None, a new figure is created.
        n_draws : int, default=None
            Number of samples, if the probabilities of the estimator are shares of
            samples that it draws for each row, as in :meth:`from_predictions`. The
            share of the trees of a forest or of neighbours is not such a share: the
            same trees and neighbours vote on many rows.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

        Returns
        -------
        display : ReliabilityDisplay

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
        k = check_draws_of_model(n_draws, multi_class)
        found = _models.ask_estimators(
            estimator, X, y, query, name, multi_class, pos_label
        )
        models = _models.pairs_of_models(found, y, sample_weight, groups)
        bins = bin_size, n_bins, strategy
        return cls._draw(models, bins, confidence_level, pos_label, ax, plot_params, k)

    @classmethod
    @public
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        y: ArrayLike | Sequence[Any],
        *,
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
        ax: Axes | None = None,
        n_draws: int | None = None,
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
            Name for the legend. If None, the name of the estimators' class is used. Not
            used if `cv_results` is a mapping of several results.
        ax : matplotlib Axes, default=None
            Axes to draw on. If another display has already been drawn on the axes, the
            curves are added to it. If None, a new figure is created.
        n_draws : int, default=None
            Number of samples, as in :meth:`from_estimator`.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

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
        k = check_draws_of_model(n_draws, multi_class)
        found = _models.ask_folds(
            cv_results,
            X,
            y,
            query,
            name,
            multi_class,
            pos_label,
            check_bool(by_fold, name="by_fold"),
        )
        models = _models.pairs_of_models(found, y, sample_weight, groups)
        bins = bin_size, n_bins, strategy
        return cls._draw(models, bins, confidence_level, pos_label, ax, plot_params, k)

    @classmethod
    def _draw(
        cls,
        models: list[tuple[Any, Pairs]],
        bins: tuple[Any, Any, Any],
        confidence_level: float,
        pos_label: Hashable,
        ax: Any,
        plot_params: Mapping[str, Any],
        k: Any = None,
        index: np.ndarray | None = None,
    ) -> ReliabilityDisplay:
        """Compute the numbers of each model from its pairs, and draw them.

        If the probabilities are shares, `k` is the number of draws, of each row or of
        all rows, and `index` are the rows.
        """
        binning = check_binning(*bins)
        level = check_fraction(confidence_level, name="confidence_level")
        # The curve may have any bins, the interval is valid in automatic bins only.
        errors = [
            _models.error_of_model(
                pairs, level, None if k is None else rows_of_shares(pairs, k, index)
            )
            for _, pairs in models
        ]
        warn_of_few((name, e) for (name, _), e in zip(models, errors, strict=True))
        display = cls._of_pairs(models, errors, binning)
        display.pos_label = pos_label
        return display.plot(ax, confidence_level=level, **plot_params)

    @classmethod
    def _of_pairs(
        cls, models: list[tuple[Any, Pairs]], errors: list, binning: Binning
    ) -> ReliabilityDisplay:
        """Return the display of models whose errors are known."""
        display = cls(
            y_prob=[pairs.q for _, pairs in models],
            curve=[curve_of_pairs(pairs, binning) for _, pairs in models],
            error=errors,
            count=[_histogram(pairs.q, pairs.weight) for _, pairs in models],
            name=[name for name, _ in models],
        )
        display._has_own_bins = binning != _models.AUTOMATIC
        return display

    @drawing
    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | Sequence[str] | None = None,
        interval: str | None = "wilson",
        confidence_level: float = 0.95,
        counts: bool = True,
        consistency_band: bool = False,
        ref_line: bool = True,
        curve_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        diagonal_kwargs: Mapping[str, Any] | None = None,
    ) -> ReliabilityDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If another display has already been drawn on the axes, the
            curves are added to it. If None, a new figure is created, in which more than
            three models have a panel each.
        name : str or list of str, default=None
            Names of the curves. If None, the stored names are used.
        interval : {'wilson', 'clopper_pearson', 'normal'} or None, default='wilson'
            Bars of the fractions of positives; see
            :meth:`~skcalib.metrics.ReliabilityCurve.interval`. If None, or if the
            display was created from `prob_true` and `prob_pred`, no bars are drawn.
        confidence_level : float, default=0.95
            Confidence level of the bars and of the band.
        counts : bool, default=True
            Whether to draw a histogram of the probabilities below the curves, on a log
            scale. The bars of several models stand side by side.
        consistency_band : bool, default=False
            Whether to shade the range of the fractions of positives that are expected
            of a calibrated model; see
            :meth:`~skcalib.metrics.ReliabilityCurve.consistency_band`.
        ref_line : bool, default=True
            Whether to draw the diagonal of perfect calibration.
        curve_kwargs : dict or list of dict, default=None
            Keyword arguments for matplotlib's ``errorbar``: one dict for all curves, or
            a list with one dict per curve.
        diagonal_kwargs : dict, default=None
            Keyword arguments for matplotlib's ``plot`` of the diagonal.

        Returns
        -------
        display : ReliabilityDisplay
            The display itself.
        """
        _check_bars(interval)
        level = check_fraction(confidence_level, name="confidence_level")
        models = self._models(name)
        if consistency_band and any(
            isinstance(each, _Points) for _, each, *_ in models
        ):
            raise ParameterError(
                "consistency_band",
                "needs the number of rows in each bin, which is not known if the "
                "display was created from 'prob_true' and 'prob_pred'. Use "
                "from_predictions.",
            )
        styles = _style.line_styles(curve_kwargs, len(models), name="curve_kwargs")
        diagonal = _style.line_style(diagonal_kwargs, name="diagonal_kwargs")
        # Either all models have a histogram or none.
        counts = counts and models[0][-1] is not None
        params = interval, level, counts, consistency_band, ref_line, diagonal
        if len(models) > _style.MOST_TOGETHER and _style.is_new(ax):
            self._plot_panels(ax, models, styles, params)
            return self
        size = _style.COLUMN, _style.COLUMN + (_HISTOGRAM if counts else 0)
        self._draw_on(_style.take_axes(ax, *size), models, styles, *params)
        _name_curves(self.ax_)
        return self

    def _draw_on(
        self,
        ax: Any,
        models: list[tuple[Any, ReliabilityCurve, Any, Any]],
        styles: list,
        interval: Any,
        level: float,
        counts: bool,
        band: bool,
        ref_line: bool,
        diagonal: dict,
    ) -> None:
        """Draw all models on the same axes."""
        self.ax_: Any = ax
        self.figure_: Any = ax.figure
        self.count_ax_: Any = _prepare_axes(ax, counts, self.pos_label)
        self.diagonal_: Any = _draw_diagonal(ax, diagonal) if ref_line else None
        # No band is drawn if their number is 0.
        n_bands = len(models) if band else 0
        drawn = [
            self._draw_model(*model, style, interval, level, n_bands)
            for model, style in zip(models, styles, strict=True)
        ]
        shown = as_shown(*zip(*drawn, strict=True))
        self.line_, self.bar_, self.count_, self.band_ = shown

    def _plot_panels(
        self, empty: Any, models: list, styles: list, params: tuple
    ) -> None:
        """Draw every model in a panel of its own."""
        parts = {}
        for key, (_, curve, error, count) in self._by_key(models):
            part = ReliabilityDisplay(
                curve=curve, error=error, count=count, pos_label=self.pos_label
            )
            part._has_own_bins = self._has_own_bins
            parts[key] = part
        self.figure_, _ = _draw_panels(None, parts, None, styles, params, empty)
        for name in ("line", "bar", "count", "band", "diagonal", "ax", "count_ax"):
            drawn = [getattr(part, f"{name}_") for part in parts.values()]
            setattr(self, f"{name}_", drawn)

    def _draw_model(
        self,
        name: Any,
        curve: ReliabilityCurve,
        error: CalibrationErrorInterval | None,
        cells: np.ndarray | None,
        style: dict,
        interval: Any,
        level: float,
        n_bands: int,
    ) -> tuple[Any, Any, Any, Any]:
        """Draw the curve of a model with its bars, its histogram and its band."""
        label = legend_text(*self._label(name, error))
        style = {**_style.next_style(self.ax_), "label": label, **style}
        ends = None
        if interval is not None and not isinstance(curve, _Points):
            ends = curve.interval(level, interval)
        points = curve.prob_pred, curve.prob_true
        line, bar = _style.draw_points(self.ax_, *points, ends, style)
        count = band = None
        if cells is not None and self.count_ax_ is not None:
            count = _draw_counts(self.count_ax_, cells, line.get_color())
        if n_bands:
            band = _draw_band(self.ax_, curve, level, n_bands)
        return line, bar, count, band

    def _models(self, name: Any = None) -> list[tuple[Any, ReliabilityCurve, Any, Any]]:
        """Return the name, the curve, the error and the histogram of each model."""
        names, errors = self._of_each("name", name), self._of_each("error")
        columns = names, self._curves(), errors, self._of_each("count")
        return list(zip(*columns, strict=True))

    def _label(self, name: Any, error: CalibrationErrorInterval | None) -> list[str]:
        """Return the name and the error of a model, if they are known."""
        label = [] if name is None else [str(name)]
        if error is not None:
            text = f"error {' '.join(_numbers(error))}"
            if self._has_own_bins:  # this is not the error in the bins of the curve
                text = f"debiased {text} in bins of {error.bin_size}"
            label.append(text)
        return label

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers behind the plot, by name (or position) of the model."""
        return {
            key: {
                "curve": curve.to_dict(),
                "error": None if error is None else error.to_dict(),
                "count": None if cells is None else cells.tolist(),
            }
            for key, (_, curve, error, cells) in self._by_key(self._models())
        }

    def _columns(self) -> dict[str, list]:
        tables: list[tuple[Any, Any]] = []
        for key, curve in self._by_key(self._curves()):
            if isinstance(curve, _Points):
                tables.append((key, curve._columns()))
                continue
            # The table has 95% intervals, whatever level was drawn.
            low, high = curve.interval()
            band_low, band_high = curve.consistency_band()
            ends = {"low": low, "high": high}
            band = {"band_low": band_low, "band_high": band_high}
            tables.append((key, {**curve._columns(), **ends, **band}))
        return stacked("name", tables)

    def _lines(self) -> list[str]:
        return [
            ": ".join(self._label(name, error)) or repr(curve)
            for name, curve, error, _ in self._models()
        ]

    def _in_words(self) -> list[str]:
        return [
            _error_in_words(name, error)
            for name, _, error, _ in self._models()
            if error is not None
        ]


@dataclass(repr=False, eq=False, kw_only=True)
class ReliabilityPanelsDisplay(Display):
    """Reliability plots of groups of pairs, with one panel per group.

    A model that is calibrated on all data need not be calibrated for each tag, class,
    genre or source. Panels share their axes. They are sorted by the number of pairs;
    ties are sorted by the number of positive labels. The title of a panel shows its
    group, the number of its pairs and its calibration error with the confidence
    interval. The curves of the other panels are grey.

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
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import cross_val_predict
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skcalib.plot import ReliabilityPanelsDisplay
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> proba = cross_val_predict(GaussianNB(), X, y, method="predict_proba")
    >>> display = ReliabilityPanelsDisplay.from_predictions(y, proba, by="label")
    >>> list(display.displays)
    [1, 0, 2]
    >>> display.displays[1].error.n_pairs
    537
    """

    displays: Mapping[Any, ReliabilityDisplay]
    name: str | None = None

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
        n_draws: int | None = None,
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
        n_draws : int, default=None
            Number of samples, as in :meth:`ReliabilityDisplay.from_estimator`.
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
        _check_single(y_proba, Mapping, "y_proba")
        k = check_draws_of_model(n_draws, multi_class)
        ((_, pairs),) = _models.pairs_of_predictions(
            y_true, y_proba, name, multi_class, labels, pos_label, sample_weight, groups
        )
        answers = _models.answers_of_pairs(
            pairs, y_true, y_proba, multi_class, labels, pos_label, sample_weight
        )
        bins, given = (bin_size, n_bins, strategy), (sample_weight, groups)
        display = cls._of_answers(
            name, answers, by, y_true, given, bins, confidence_level, k
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
        n_draws: int | None = None,
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
        n_draws : int, default=None
            Number of samples, as in :meth:`ReliabilityDisplay.from_estimator`.
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
        _check_single(estimator, (Mapping, list, tuple), "estimator")
        k = check_draws_of_model(n_draws, multi_class)
        ((name, answers),) = _models.ask_estimators(
            estimator, X, y, query, name, multi_class, pos_label
        )
        bins, given = (bin_size, n_bins, strategy), (sample_weight, groups)
        display = cls._of_answers(
            name, answers, by, y, given, bins, confidence_level, k
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
        n_draws: int | None = None,
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
        n_draws : int, default=None
            Number of samples, as in :meth:`ReliabilityDisplay.from_estimator`.
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
        >>> display.displays[0].curve.n_pairs
        150
        """
        k = check_draws_of_model(n_draws, multi_class)
        _models.check_cv_results(cv_results, X, y)
        ((name, answers),) = _models.ask_folds(
            cv_results, X, y, query, name, multi_class, pos_label
        )
        bins, given = (bin_size, n_bins, strategy), (sample_weight, groups)
        display = cls._of_answers(
            name, answers, by, y, given, bins, confidence_level, k
        )
        return display.plot(fig, confidence_level=confidence_level, **plot_params)

    @classmethod
    def _of_answers(
        cls,
        name: str | None,
        answers: Answers,
        by: Any,
        y: Any,
        given: tuple[Any, Any],
        bins: tuple[Any, Any, Any],
        confidence_level: float,
        k: int | None,
    ) -> ReliabilityPanelsDisplay:
        """Compute the numbers of each group.

        `given` are weights and groups, `k` is the number of draws of a share.
        """
        binning, names = check_binning(*bins), _models.check_by(by, y)
        weight, codes = _models.weight_and_groups(y, *given)
        level = check_fraction(confidence_level, name="confidence_level")
        displays = {
            group: ReliabilityDisplay._of_pairs(
                [(str(group), pairs)], [_models.error_of_part(pairs, level, k)], binning
            )
            for group, pairs in _models.pairs_by_name(answers, weight, codes, names)
        }
        # One warning is about all panels, and names the group with the fewest rows.
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
            Bars of the fractions of positives. If None, no bars are drawn.
        confidence_level : float, default=0.95
            Confidence level of the bars and of the bands.
        counts : bool, default=False
            Whether to draw a histogram of the probabilities below each curve.
        consistency_band : bool, default=True
            Whether to shade the range of the fractions of positives that are expected
            of a calibrated model.
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
        _check_bars(interval)
        _check_displays(self.displays)
        if n_columns is not None:
            n_columns = check_integer(n_columns, minimum=1, name="n_columns")
        # Groups are sorted by their number of pairs.
        shown = dict(list(self.displays.items())[:limit])
        curve_style = _style.line_style(curve_kwargs, name="curve_kwargs")
        diagonal = _style.line_style(diagonal_kwargs, name="diagonal_kwargs")
        params = interval, level, counts, consistency_band, ref_line, diagonal
        styles = [curve_style] * len(shown)
        figure, axes = _draw_panels(fig, shown, n_columns, styles, params)
        self.figure_: Any = figure
        self.axes_: dict[Any, Any] = axes
        band = level if consistency_band else None
        lines = self._title(len(shown), self.name if name is None else name, band)
        width = int(_IN_AN_INCH * self.figure_.bbox.width / self.figure_.dpi)
        lines = [part for line in lines for part in wrap(line, width)]
        if lines:
            title = plain_text("\n".join(lines))
            self.figure_.suptitle(title, fontsize=7, color=_style.INK)
        if fig is None:
            height = self.figure_.get_figheight() + 0.13 * len(lines)
            self.figure_.set_figheight(height)
            # The layout of square axes needs two passes.
            self.figure_.draw_without_rendering()
        return self

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
            if display._has_own_bins and display.error is not None
        ]
        if sizes:
            low, high = min(sizes), max(sizes)
            size = low if low == high else f"{low} to {high}"
            lines.append(f"errors in bins of {size} pairs")
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
            # The group takes the place of the name.
            del table["name"]
            tables.append((group, table))
        return stacked("group", tables)

    def _lines(self) -> list[str]:
        return [_heading(g, d, ", ") for g, d in self.displays.items()]

    def _in_words(self) -> list[str]:
        errors = [display.error for display in self.displays.values()]
        return [
            f"{sentence} The intervals are not adjusted for the number of groups."
            for sentence in _models.errors_in_words(errors, "groups")
        ]


def _draw_panels(
    fig: Any,
    displays: Mapping[Any, ReliabilityDisplay],
    n_columns: int | None,
    styles: list,
    params: tuple,
    empty: Any = None,
) -> tuple[Any, dict[Any, Any]]:
    """Draw a panel for each display of one curve; return the figure and the axes.

    The curves of the other panels are grey, for comparison.
    """
    n, counts = len(displays), params[2]
    if n_columns is None:
        # More panels than fit into one row are arranged in a square.
        n_columns = n if n <= _ONE_ROW else int(np.ceil(np.sqrt(n)))
    n_columns = min(n_columns, n)
    figure = _take_figure(fig, -(-n // n_columns), n_columns, counts, empty)
    axes = _style.panel_axes(
        figure, list(displays), n_columns, sharex=True, sharey=True
    )
    for k, (group, ax) in enumerate(axes.items()):
        display = displays[group]
        display._draw_on(ax, display._models(), [styles[k]], *params)
        for other in displays.values():
            if other is not display:
                x, y = other.curve.prob_pred, other.curve.prob_true
                ax.plot(x, y, **_OTHER)
        # The panel below may be missing in the last row.
        lowest = k + n_columns >= n
        _tidy(display, group, left=k % n_columns == 0, lowest=lowest)
    _share_limits([display.count_ax_ for display in displays.values()])
    return figure, axes


def _take_figure(
    fig: Any, n_rows: int, n_columns: int, counts: bool, empty: Any
) -> Any:
    """Return `fig`, or a new figure with space for the panels if it is None."""
    from matplotlib.figure import Figure, SubFigure

    if fig is None:
        # no wider than the text of a paper, with space for the labels of the axes
        width = min(_PANEL[0], (_style.PAGE - 0.3) / n_columns)
        height = width + _PANEL[1] - _PANEL[0] + (_PANEL_HISTOGRAM if counts else 0)
        width = max(width * n_columns + 0.3, _style.COLUMN)
        return _style.new_figure(width, height * n_rows + 0.2, empty)
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


def _check_single(value: Any, several: Any, name: str) -> None:
    if isinstance(value, several):
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
        if not isinstance(getattr(display, "curve", None), ReliabilityCurve):
            raise ParameterTypeError(
                "displays",
                "must contain a ReliabilityDisplay of one curve for each group. Got "
                f"{display!r:.50} for {group!r}.",
            )


def _tidy(display: ReliabilityDisplay, group: Any, *, left: bool, lowest: bool) -> None:
    """Set the title of a panel, and remove the labels of inner axes."""
    ax, below = display.ax_, display.count_ax_
    title = plain_text(_heading(group, display, "\n"))
    ax.set_title(title, fontsize=6.5, color=_style.INK, pad=3)
    for each in (ax,) if below is None else (ax, below):
        each.tick_params(labelleft=left)
        if not left:
            each.set_ylabel("")
    lower = ax if below is None else below
    lower.tick_params(labelbottom=lowest)
    if not lowest:
        lower.set_xlabel("")


def _heading(group: Any, display: ReliabilityDisplay, between: str) -> str:
    """Return the group, the number of its pairs and its error."""
    name = short_text(group, _LONGEST_NAME)
    if isinstance(display.curve, _Points):
        return name
    error = display.error
    said = "too few for an error"
    if error is not None:
        said = f"error {' '.join(_numbers(error))}"
    return f"{name}, n = {_number(_total(display))}{between}{said}"


def _total(display: ReliabilityDisplay) -> float:
    """Return the number of pairs, or their total weight if there are weights."""
    return float(display.curve.weight.sum())


def _number(total: float) -> str:
    return f"{total:,.0f}" if total == round(total) else f"{total:,.1f}"
