"""Plots of the calibration error against the bin size or the sample size."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, public
from .._results import plain
from .._validation import check_choice, check_real
from ..metrics import sample_size_curve
from ..metrics._bins import check_norm
from ..metrics._size_curves import (
    BinSizeCurve,
    SampleSizeCurve,
    check_sizes,
    curve_of_sizes,
    doubling_sizes,
)
from . import _models, _style
from ._base import ModelsDisplay, as_list, check_type, drawing, legend_text, stacked
from ._models import Query

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MEANINGS = {"l1": "mean distance", "l2": "root mean square", "max": "largest distance"}


class BinSizeDisplay(ModelsDisplay):
    """Calibration error against the bin size, or against the sample size.

    The display shows the plug-in error of one or several models (solid lines), the
    debiased error (dashed lines, hollow markers) where it is defined, and the true
    error if it is given. If only the plug-in error decreases with the bin size, the
    decrease is due to the noise of the label frequencies.

    Create the display with :meth:`from_estimator`, :meth:`from_predictions` or
    :meth:`from_subsamples`; the parameters are stored as attributes.

    Parameters
    ----------
    curve : BinSizeCurve or SampleSizeCurve, or list of either
        Curve of each model. All curves must have the same type and norm.
    true_error : float or list of float, default=None
        True error of all models, or list with the true error of each model (None if it
        is unknown).
    name : str or list of str, default=None
        Name of each model, for the legend.

    Attributes
    ----------
    line_ : matplotlib Artist or list of them
        Plug-in error of each model, or its mean over subsamples.
    debiased_line_ : matplotlib Artist or list of them
        Debiased error of each model. None if not drawn.
    band_ : matplotlib Artist or list of them
        Band of one standard deviation over the subsamples around `line_`. None if not
        drawn.
    debiased_band_ : matplotlib Artist or list of them
        Band of one standard deviation around `debiased_line_`. None if not drawn.
    true_line_ : matplotlib Artist or list of them
        Line at the true error of each model. None if not drawn.
    ax_ : matplotlib Axes
        Axes with the curves.
    figure_ : matplotlib Figure
        Figure that contains the axes.

    See Also
    --------
    skcalib.metrics.bin_size_curve : Compute the error at several bin sizes.
    skcalib.metrics.sample_size_curve : Compute the error of subsamples.

    Notes
    -----
    :meth:`frame` has one row per model and size. Its columns are `name` and the columns
    of the method `frame` of :class:`~skcalib._result_classes.BinSizeCurve` or
    :class:`~skcalib._result_classes.SampleSizeCurve`. If the debiased error of a model
    is not defined, its values are missing.

    Examples
    --------
    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.plot import BinSizeDisplay
    >>> y_true, y_proba = make_calibrated_pairs(3000, random_state=0)
    >>> display = BinSizeDisplay.from_predictions(y_true, y_proba, true_error=0)
    >>> display.figure_.savefig("bin_size.png")  # doctest: +SKIP
    >>> display.curve.bin_size.tolist()
    [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]
    """

    line_: Any
    band_: Any
    debiased_line_: Any
    debiased_band_: Any
    true_line_: Any

    _kinds = (BinSizeCurve, SampleSizeCurve)

    @public
    def __init__(
        self,
        *,
        curve: BinSizeCurve
        | SampleSizeCurve
        | Sequence[BinSizeCurve | SampleSizeCurve],
        true_error: float | Sequence[float | None] | None = None,
        name: str | Sequence[str | None] | None = None,
    ):
        self._set_models(curve, name=name)
        kinds = {(type(each.curve), each.curve.norm) for each in self._models}
        if len(kinds) > 1:
            raise ParameterError(
                "curve",
                "must contain curves of one kind and one norm. Got several kinds "
                "or norms.",
            )
        truths = as_list(true_error)
        for truth in truths:
            if truth is not None:
                check_real(truth, low=0, high=1, name="true_error")
        self.true_error = self._shown(truths)
        # One value is the true error of all models.
        each = truths * len(self._models) if len(truths) == 1 else truths
        self._models = self._with("true_error", each)

    @classmethod
    @public
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike | Mapping[str, ArrayLike] | Sequence[ArrayLike],
        *,
        bin_sizes: ArrayLike | None = None,
        norm: str = "l2",
        multi_class: str | None = None,
        labels: ArrayLike | None = None,
        pos_label: Hashable = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        true_error: float | Mapping[str, float] | Sequence[float | None] | None = None,
        name: str | Sequence[str] | None = None,
        ax: Axes | None = None,
        **plot_params: Any,
    ) -> BinSizeDisplay:
        """Draw the calibration error of probabilities against the bin size.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels.
        y_proba : array-like of shape (n,) or (n, n_classes), or mapping or list of them
            Probabilities, as in :func:`~skcalib.metrics.calibration_error`. If it is a
            mapping from names to probabilities, or a list of arrays with n entries, one
            curve is drawn for each, with the same labels.
        bin_sizes : array-like of int, default=None
            Numbers of pairs per bin. If None, powers of two up to the total weight are
            used. They begin at 2. With `groups`, they begin at the smallest power of
            two for which each bin contains pairs of several groups.
        norm : {'l1', 'l2', 'max'}, default='l2'
            Norm of the error, as in :func:`~skcalib.metrics.calibration_error`.
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
            Group (sentence, document) of each row, used for the debiased error. Rows of
            the same group may depend on each other.
        true_error : float or mapping or list of float, default=None
            True error of all models, or one per model by name or in order.
        name : str or list of str, default=None
            Name for the legend, or list of names for a list of probabilities. Not used
            if `y_proba` is a mapping.
        ax : matplotlib Axes, default=None
            Axes to draw on. If another display has already been drawn on the axes, the
            curves are added to it. If None, a new figure is created.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

        Returns
        -------
        display : BinSizeDisplay

        Examples
        --------
        >>> from skcalib.datasets import make_calibrated_pairs
        >>> from skcalib.plot import BinSizeDisplay
        >>> y_true, y_proba = make_calibrated_pairs(3000, random_state=0)
        >>> both = {"right": y_proba, "squared": y_proba**2}
        >>> display = BinSizeDisplay.from_predictions(y_true, both)
        >>> [line.get_label() for line in display.line_]
        ['right', 'squared']
        """
        check_norm(norm, False, False)
        parts = _models.parts_of_predictions(
            y_true, y_proba, name, multi_class, labels, pos_label, sample_weight, groups
        )
        return cls._of_parts(parts, bin_sizes, norm, true_error).plot(ax, **plot_params)

    @classmethod
    @public
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | Sequence[Any],
        *,
        query: Query | None = None,
        bin_sizes: ArrayLike | None = None,
        norm: str = "l2",
        multi_class: str | None = None,
        pos_label: Hashable = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        true_error: float | Mapping[str, float] | Sequence[float | None] | None = None,
        name: str | Sequence[str] | None = None,
        ax: Axes | None = None,
        **plot_params: Any,
    ) -> BinSizeDisplay:
        """Draw the calibration error of fitted estimators against the bin size.

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
        bin_sizes : array-like of int, default=None
            As in :meth:`from_predictions`.
        norm : {'l1', 'l2', 'max'}, default='l2'
            Norm of the error, as in :func:`~skcalib.metrics.calibration_error`.
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
            Group of each sample, used for the debiased error. Samples of the same group
            may depend on each other. If None, samples are treated as independent, and
            pairs of the same sample as dependent.
        true_error : float or mapping or list of float, default=None
            True error of all models, or one per model by name or in order.
        name : str or list of str, default=None
            Name for the legend, or list of names for a list of estimators. If None, the
            name of the estimator's class is used. Not used if `estimator` is a mapping.
        ax : matplotlib Axes, default=None
            Axes to draw on. If another display has already been drawn on the axes, the
            curves are added to it. If None, a new figure is created.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

        Returns
        -------
        display : BinSizeDisplay

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from skcalib.plot import BinSizeDisplay
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = GaussianNB().fit(X[:300], y[:300])
        >>> display = BinSizeDisplay.from_estimator(model, X[300:], y[300:])
        >>> display.name
        'GaussianNB'
        """
        check_norm(norm, False, False)
        found = _models.ask_estimators(
            estimator, X, y, query, name, multi_class, pos_label
        )
        parts = _models.parts_of_answers(found, y, sample_weight, groups)
        return cls._of_parts(parts, bin_sizes, norm, true_error).plot(ax, **plot_params)

    @classmethod
    @public
    def from_subsamples(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike | Mapping[str, ArrayLike] | Sequence[ArrayLike],
        *,
        sample_sizes: ArrayLike,
        true_error: float | Mapping[str, float] | Sequence[float | None] | None = None,
        name: str | Sequence[str] | None = None,
        ax: Axes | None = None,
        plot_params: Mapping[str, Any] | None = None,
        **params: Any,
    ) -> BinSizeDisplay:
        """Draw the calibration error of random subsamples against their size.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels.
        y_proba : array-like of shape (n,) or (n, n_classes), or mapping or list of them
            Probabilities of one or several models, as in :meth:`from_predictions`.
        sample_sizes : array-like of int
            Numbers of rows to draw.
        true_error : float or mapping or list of float, default=None
            True error of all models, or one per model by name or in order.
        name : str or list of str, default=None
            Name for the legend, as in :meth:`from_predictions`.
        ax : matplotlib Axes, default=None
            Axes to draw on. If another display has already been drawn on the axes, the
            curves are added to it. If None, a new figure is created.
        plot_params : dict, default=None
            Keyword arguments passed to :meth:`plot`.
        **params
            Parameters of :func:`~skcalib.metrics.sample_size_curve`: `bin_size`,
            `n_repeats`, `norm`, `random_state` and others.

        Returns
        -------
        display : BinSizeDisplay

        Examples
        --------
        >>> from skcalib.datasets import make_calibrated_pairs
        >>> from skcalib.plot import BinSizeDisplay
        >>> y_true, y_proba = make_calibrated_pairs(3000, random_state=0)
        >>> display = BinSizeDisplay.from_subsamples(
        ...     y_true, y_proba, sample_sizes=[100, 1000], random_state=0
        ... )
        >>> display
        BinSizeDisplay(plug-in; 2 sample sizes from 100 to 1000)
        """
        models = _models.named_probabilities(y_true, y_proba, name)
        names = [own for own, _ in models]
        truth = _true_errors(true_error, names)
        check_type(plot_params, (Mapping, type(None)), "a dict", name="plot_params")
        curves = [
            sample_size_curve(y_true, q, sample_sizes=sample_sizes, **params)
            for _, q in models
        ]
        display = cls(curve=curves, true_error=truth, name=names)
        return display.plot(ax, **(plot_params or {}))

    @classmethod
    def _of_parts(
        cls, parts: list[_models.Part], bin_sizes: Any, norm: str, true_error: Any
    ) -> BinSizeDisplay:
        """Compute the curve of each model from its pairs."""
        curves = []
        for _, pairs, _ in parts:
            if bin_sizes is None:
                sizes = doubling_sizes(pairs)
            else:
                of = "total weight of the pairs"
                sizes = check_sizes(
                    bin_sizes, minimum=1, largest=pairs.total, name="bin_sizes", of=of
                )
            curves.append(curve_of_sizes(pairs, sizes, norm, False))
        names = [part.name for part in parts]
        return cls(curve=curves, true_error=_true_errors(true_error, names), name=names)

    @drawing
    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | Sequence[str] | None = None,
        debiased: bool = True,
        squared: bool = False,
        band: bool = True,
        xscale: str = "log",
        curve_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        true_error_kwargs: Mapping[str, Any] | None = None,
    ) -> BinSizeDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If another display has already been drawn on the axes, the
            curves are added to it. If None, a new figure is created.
        name : str or list of str, default=None
            Names for the legend. If None, the stored names are used.
        debiased : bool, default=True
            Whether to draw the debiased error too, where it is defined.
        squared : bool, default=False
            Whether to draw squared errors. Requires norm 'l2'. The debiased squared
            error may be negative.
        band : bool, default=True
            Whether to draw one standard deviation over subsamples as a band.
        xscale : {'log', 'linear'}, default='log'
            Scale of the sizes.
        curve_kwargs : dict or list of dict, default=None
            Keyword arguments for matplotlib's ``plot``: one dict for all curves, or a
            list with one dict per curve.
        true_error_kwargs : dict, default=None
            Keyword arguments for matplotlib's ``axhline`` of the true errors.

        Returns
        -------
        display : BinSizeDisplay
            The display itself.
        """
        check_choice(xscale, ("log", "linear"), name="xscale")
        models, first = self._models, self._models[0].curve
        if name is not None:
            models = self._with("name", name)
        if squared and first.norm != "l2":
            raise ParameterError(
                "squared", f"requires norm='l2'. Got curves of norm {first.norm!r}."
            )
        styles = _style.line_styles(curve_kwargs, len(models))
        style = _style.line_style(true_error_kwargs, name="true_error_kwargs")
        self.ax_: Any = _style.take_axes(ax, _style.COLUMN, 2.5)
        self.figure_: Any = self.ax_.figure
        # All curves are of one kind.
        of_bins = isinstance(first, BinSizeCurve)
        size = "Bin size (pairs)" if of_bins else "Sample size (rows)"
        what = "mean square" if squared else _MEANINGS[first.norm]
        self.ax_.set(xscale=xscale, xlabel=size, ylabel=f"Calibration error ({what})")
        band = band and not of_bins
        # Without a floor, the band of a squared error may extend below 0.
        floor = -np.inf if squared else 0.0
        drawn = [
            self._draw(
                _values(model.curve, squared, debiased), model.name, own, band, floor
            )
            for model, own in zip(models, styles, strict=True)
        ]
        self._set_artists(drawn)
        names = [model.name for model in models]
        colors = [each["line"].get_color() for each in drawn]
        self._draw_truth(names, colors, squared, style)
        self._name_curves()
        return self

    def _draw(
        self, values: tuple, name: Any, kwargs: dict, band: bool, floor: float
    ) -> dict[str, Any]:
        """Draw one curve: its plug-in line and band, its debiased line and band."""
        size, plug_in, debiased = values
        label = legend_text("plug-in" if name is None else name)
        style = {**_style.next_style(self.ax_), "label": label, **kwargs}
        (line,) = self.ax_.plot(size, plug_in.mean(axis=1), **style)
        color = line.get_color()
        drawn = dict.fromkeys(("line", "band", "debiased_line", "debiased_band"))
        drawn["line"] = line
        if band:
            drawn["band"] = self._draw_band(size, plug_in, floor, color)
        if debiased is not None:
            style |= {"color": color, "linestyle": "--", "markerfacecolor": "none"}
            name = "debiased" if name is None else "_debiased"
            style |= {"label": name, "gid": None}
            mean = debiased.mean(axis=1)
            (drawn["debiased_line"],) = self.ax_.plot(size, mean, **style)
            if band:
                shade = self._draw_band(size, debiased, floor, color)
                drawn["debiased_band"] = shade
        return drawn

    def _draw_band(
        self, size: np.ndarray, values: np.ndarray, floor: float, color: Any
    ) -> Any:
        """Draw a band of one standard deviation over the subsamples."""
        mean, spread = values.mean(axis=1), values.std(axis=1, ddof=1)
        ends = np.maximum(mean - spread, floor), mean + spread
        return self.ax_.fill_between(size, *ends, color=color, **_style.BAND)

    def _draw_truth(
        self, names: list, colors: list, squared: bool, kwargs: dict
    ) -> None:
        """Draw the true errors as one line for all models or one line per model."""
        truths, drawn = as_list(self.true_error), []
        if len(truths) == 1:
            names, colors = [None], ["0.3"]
        for truth, name, color in zip(truths, names, colors, strict=True):
            style = {"color": color, "linestyle": ":", "linewidth": 1.5, "zorder": 1}
            style |= {"label": "true error" if name is None else "_true", **kwargs}
            # Curves that are drawn squared need a squared line.
            height = truth**2 if squared and truth is not None else truth
            drawn.append(None if truth is None else self.ax_.axhline(height, **style))
        self.true_line_ = self._shown(drawn)

    def _name_curves(self) -> None:
        """Name the models, and the kinds of lines once for all of them."""
        from matplotlib.lines import Line2D

        handles, labels = self.ax_.get_legend_handles_labels()
        kinds: dict[str, tuple[Any, dict[str, Any]]] = {
            "plug-in": (self.line_, {"marker": "o"}),
            "debiased": (
                self.debiased_line_,
                {"marker": "o", "markerfacecolor": "none", "linestyle": "--"},
            ),
            "true error": (self.true_line_, {"linestyle": ":"}),
        }
        for kind, (lines, style) in kinds.items():
            if kind not in labels and any(line is not None for line in as_list(lines)):
                style |= {"color": "0.4", "markersize": 3.5, "linewidth": 1}
                handles.append(Line2D([], [], **style))
                labels.append(kind)
        _style.name_curves(self.ax_, (handles, labels))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers behind the plot, by name (or position) of the model."""
        return {
            key: {"curve": model.curve.to_dict(), "true_error": plain(model.true_error)}
            for key, model in self._by_key()
        }

    def _columns(self) -> dict[str, list]:
        return stacked("name", [(key, m.curve._columns()) for key, m in self._by_key()])

    def _lines(self) -> list[str]:
        names = ["plug-in" if m.name is None else m.name for m in self._models]
        lines = zip(names, self._models, strict=True)
        return [f"{name}; {model.curve._sizes()}" for name, model in lines]

    def _in_words(self) -> list[str]:
        return [
            "The plug-in error is biased upwards by the noise of the label "
            "frequencies. The bias is largest in small bins, and the debiased error "
            "corrects it."
        ]


def _values(curve: Any, squared: bool, debiased: bool) -> tuple[Any, Any, Any]:
    """Return sizes, and plug-in and debiased errors of shape (n_sizes, n_repeats)."""
    # A curve over bin sizes has one value per size, others one per subsample.
    size = curve.bin_size if isinstance(curve, BinSizeCurve) else curve.sample_size
    order = np.argsort(size, kind="stable")
    both = curve.plug_in, curve.debiased
    if squared:
        both = curve.plug_in**2, curve.debiased_square
    plug_in, other = (
        None if each is None else each.reshape(size.size, -1)[order] for each in both
    )
    return size[order], plug_in, other if debiased else None


def _true_errors(true_error: Any, names: list) -> Any:
    """Return the true error of all models, or a list with one per model."""
    if not isinstance(true_error, Mapping):
        return true_error
    unknown = [name for name in true_error if name not in names]
    if unknown:
        raise ParameterError(
            "true_error", f"must have names of y_proba as its keys. Got {unknown[0]!r}."
        )
    return [true_error.get(name) for name in names]
