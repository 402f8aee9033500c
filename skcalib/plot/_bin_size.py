"""Plots of the calibration error against the bin size or the sample size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._results import LinesRepr, as_frame
from .._validation import check_choice, check_real
from ..metrics import BinSizeCurve, SampleSizeCurve, sample_size_curve
from ..metrics._bin_size_curve import curve_of_sizes, doubling_sizes
from ..metrics._norms import check_norm
from ..metrics._pairs import Pairs, as_weights
from ..metrics._sizes import check_sizes
from ..queries import answer_pairs
from ..scorers import ask
from ._figures import draw_legend, take_axes
from ._models import (
    as_list,
    curves_of,
    keys_of_models,
    models_by_name,
    of_each_curve,
    one_or_all,
    pairs_of_models,
)
from ._styles import MARKERS, line_style, line_styles
from ._text import legend_text

# Legend entries that still leave the curves visible; more go beside the axes.
_MOST_INSIDE = 4

_MEANINGS = {
    "l1": "mean distance",
    "l2": "root mean square",
    "max": "largest distance",
}


class BinSizeDisplay(LinesRepr):
    """Calibration error against the bin size, or against the sample size.

    Draws the plain error of one or several models (full lines), the debiased one
    (dashed, hollow markers) where it is known, and the true error where that is known.
    What falls with the bin size in the first and not in the second is noise of the
    label frequencies.

    Make it with :meth:`from_estimator`, :meth:`from_predictions` or
    :meth:`from_subsamples`; the parameters are stored as attributes.

    Parameters
    ----------
    curve : BinSizeCurve or SampleSizeCurve, or list of either
        Curve of each model, all of one kind and norm.
    true_error : float or list of float, default=None
        True error, of all models or of each; None in the list where it is not known.
    name : str or list of str, default=None
        Name of each model, for the legend.

    Attributes
    ----------
    line_ : matplotlib Artist or list of them
        Plain error of each model; of subsamples, its mean.
    debiased_line_ : matplotlib Artist or list of them
        Debiased error of each model; None where not drawn.
    band_ : matplotlib Artist or list of them
        One standard deviation over the subsamples around `line_`; None where not drawn.
    debiased_band_ : matplotlib Artist or list of them
        The same around `debiased_line_`.
    true_line_ : matplotlib Artist or list of them
        Line at the true error of each model; None where not drawn.
    ax_ : matplotlib Axes
        Axes with the curves.
    figure_ : matplotlib Figure
        Figure that holds them.

    See Also
    --------
    skcalib.metrics.bin_size_curve : The numbers of one curve.
    skcalib.metrics.sample_size_curve : The numbers against the sample size.

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

    def __init__(
        self,
        *,
        curve: BinSizeCurve | SampleSizeCurve | Sequence[Any],
        true_error: Any = None,
        name: Any = None,
    ):
        self.curve = curve
        self.true_error = true_error
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_proba: Any,
        *,
        bin_sizes: Any = None,
        norm: str = "l2",
        multi_class: str | None = None,
        labels: Any = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        true_error: Any = None,
        name: str | None = None,
        ax: Any = None,
        **plot_params: Any,
    ) -> BinSizeDisplay:
        """Draw the calibration error of probabilities against the bin size.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels.
        y_proba : array-like of shape (n,) or (n, n_classes), or mapping of such
            Probabilities, as in :func:`~skcalib.metrics.calibration_error`. A mapping
            from names to probabilities draws a curve for each on the same labels.
        bin_sizes : array-like of int, default=None
            Numbers of pairs in a bin. None: the powers of two from 2 to the total
            weight; with `groups` from the first at which each bin holds several.
        norm : {'l1', 'l2', 'max'}, default='l2'
            As in :func:`~skcalib.metrics.calibration_error`.
        multi_class : {'pooled', 'top_label'}, default=None
            How a matrix becomes pairs.
        labels : array-like of shape (n_classes,), default=None
            Labels in the order of the columns.
        pos_label : label, default=None
            The positive class.
        sample_weight : array-like of shape (n,), default=None
            Frequencies.
        groups : array-like of shape (n,), default=None
            Group of dependent rows, for the debiased error.
        true_error : float or mapping of float, default=None
            True error, of all models or by name.
        name : str, default=None
            Name for the legend, where `y_proba` is no mapping.
        ax : matplotlib Axes, default=None
            Axes to draw on; those of another display add to its curves.
        **plot_params
            Passed to :meth:`plot`.

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
        ['right: plug-in', 'squared: plug-in']
        """
        caller = "BinSizeDisplay.from_predictions"
        check_norm(norm, False, False, caller=caller)
        several = models_by_name(y_proba, name, caller=caller)
        pairs = pairs_of_models(
            y_true,
            several,
            multi_class=multi_class,
            labels=labels,
            pos_label=pos_label,
            sample_weight=sample_weight,
            groups=groups,
            caller=caller,
        )
        curves = [_curve(each, bin_sizes, norm, caller) for each in pairs]
        truth = _true_errors(true_error, list(several), caller)
        return cls._drawn(curves, truth, list(several), ax, plot_params)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        query: Any = None,
        bin_sizes: Any = None,
        norm: str = "l2",
        sample_weight: Any = None,
        true_error: float | None = None,
        name: str | None = None,
        ax: Any = None,
        **plot_params: Any,
    ) -> BinSizeDisplay:
        """Draw the calibration error of a fitted estimator against the bin size.

        Parameters
        ----------
        estimator : fitted estimator
            A classifier, or whatever `query` can ask.
        X : array-like
            Samples.
        y : array-like of shape (n_samples,)
            True labels.
        query : query object, default=None
            What the estimator is asked; None takes the query that fits it. Answers of
            one sample are dependent.
        bin_sizes : array-like of int, default=None
            As in :meth:`from_predictions`.
        norm : {'l1', 'l2', 'max'}, default='l2'
            As in :func:`~skcalib.metrics.calibration_error`.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency of each sample.
        true_error : float, default=None
            True error.
        name : str, default=None
            Name for the legend; by default that of the estimator's class.
        ax : matplotlib Axes, default=None
            Axes to draw on; those of another display add to its curves.
        **plot_params
            Passed to :meth:`plot`.

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
        caller = "BinSizeDisplay.from_estimator"
        check_norm(norm, False, False, caller=caller)
        answers = ask(estimator, X, y, query, caller=caller)
        weight = as_weights(sample_weight, len(y), caller=caller)
        name = type(estimator).__name__ if name is None else name
        curve = _curve(answer_pairs(answers, weight), bin_sizes, norm, caller)
        return cls._drawn([curve], [true_error], [name], ax, plot_params)

    @classmethod
    def from_subsamples(
        cls,
        y_true: Any,
        y_proba: Any,
        *,
        sample_sizes: Any,
        true_error: Any = None,
        name: str | None = None,
        ax: Any = None,
        plot_params: Mapping[str, Any] | None = None,
        **params: Any,
    ) -> BinSizeDisplay:
        """Draw the calibration error of random subsamples against their size.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels.
        y_proba : array-like of shape (n,) or (n, n_classes), or mapping of such
            Probabilities. A mapping from names to probabilities draws a curve for each
            on the same labels.
        sample_sizes : array-like of int
            Numbers of rows to draw.
        true_error : float or mapping of float, default=None
            True error, of all models or by name.
        name : str, default=None
            Name for the legend, where `y_proba` is no mapping.
        ax : matplotlib Axes, default=None
            Axes to draw on; those of another display add to its curves.
        plot_params : dict, default=None
            Passed to :meth:`plot`.
        **params
            Those of :func:`~skcalib.metrics.sample_size_curve`: `bin_size`,
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
        caller = "BinSizeDisplay.from_subsamples"
        several = models_by_name(y_proba, name, caller=caller)
        truth = _true_errors(true_error, list(several), caller)
        if plot_params is not None and not isinstance(plot_params, Mapping):
            raise TypeError(
                f"The 'plot_params' parameter of {caller} must be a dict. Got "
                f"{plot_params!r:.50}."
            )
        curves = [
            sample_size_curve(y_true, proba, sample_sizes=sample_sizes, **params)
            for proba in several.values()
        ]
        return cls._drawn(curves, truth, list(several), ax, plot_params or {})

    @classmethod
    def _drawn(
        cls, curves: list, truth: Any, names: list, ax: Any, plot_params: Mapping
    ) -> BinSizeDisplay:
        display = cls(
            curve=one_or_all(curves),
            true_error=one_or_all(truth) if isinstance(truth, list) else truth,
            name=one_or_all(names),
        )
        return display.plot(ax, **plot_params)

    def plot(
        self,
        ax: Any = None,
        *,
        name: Any = None,
        debiased: bool = True,
        squared: bool = False,
        band: bool = True,
        xscale: str = "log",
        curve_kwargs: dict | Sequence[dict] | None = None,
        true_error_kwargs: dict | None = None,
    ) -> BinSizeDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure. The axes of another display add to
            its curves.
        name : str or list of str, default=None
            Names for the legend; by default those stored.
        debiased : bool, default=True
            Draw the debiased error too, where it is known.
        squared : bool, default=False
            Draw squares, of norm 'l2' only; the debiased one may then be negative.
        band : bool, default=True
            Draw one standard deviation over subsamples as a band.
        xscale : {'log', 'linear'}, default='log'
            Scale of the sizes.
        curve_kwargs : dict or list of dict, default=None
            Keywords for matplotlib's ``plot``, for all curves or one dict each.
        true_error_kwargs : dict, default=None
            Keywords for matplotlib's ``axhline`` of the true errors.

        Returns
        -------
        display : BinSizeDisplay
            The display itself.
        """
        caller = "BinSizeDisplay.plot"
        check_choice(xscale, ("log", "linear"), name="xscale", caller=caller)
        curves, truths, names = self._several(name, caller)
        if squared and curves[0].norm != "l2":
            raise ValueError(
                f"squared=True of {caller} goes with norm='l2' only. Got curves of "
                f"norm {curves[0].norm!r}."
            )
        styles = line_styles(
            curve_kwargs, len(curves), name="curve_kwargs", caller=caller
        )
        style = line_style(true_error_kwargs, name="true_error_kwargs", caller=caller)
        self.ax_ = take_axes(ax, (6.4, 4.6), caller=caller)
        self.figure_ = self.ax_.figure
        self._label_axes(curves[0], squared, xscale)
        drawn = []
        for k, curve in enumerate(curves):
            parts = _Parts(curve, names[k], squared, debiased, band)
            drawn.append(self._draw(parts, styles[k]))
        self.line_, self.band_, self.debiased_line_, self.debiased_band_ = (
            one_or_all(list(artists)) for artists in zip(*drawn, strict=True)
        )
        self._draw_truth(truths, names, squared, style)
        draw_legend(self.ax_, _MOST_INSIDE)
        return self

    def _several(self, name: Any, caller: str) -> tuple[list, list, list]:
        """Return curves, true errors and names as lists of one length."""
        kinds = (BinSizeCurve, SampleSizeCurve)
        curves = curves_of(self.curve, kinds, caller=caller)
        if len({(type(c), c.norm) for c in curves}) > 1:
            raise ValueError(
                f"The 'curve' parameter of {caller} must hold curves of one kind and "
                "one norm. Got different ones."
            )
        n = len(curves)
        truths = as_list(self.true_error)
        if len(truths) > 1:
            truths = of_each_curve(truths, n, name="true_error", caller=caller)
        for truth in truths:
            if truth is not None:
                check_real(truth, low=0, high=1, name="true_error", caller=caller)
        names = self.name if name is None else name
        return curves, truths, of_each_curve(names, n, name="name", caller=caller)

    def _label_axes(self, curve: Any, squared: bool, xscale: str) -> None:
        """Say what the axes show."""
        what = "mean square" if squared else _MEANINGS[curve.norm]
        of_bins = isinstance(curve, BinSizeCurve)
        self.ax_.set(
            xscale=xscale,
            xlabel="Bin size (pairs)" if of_bins else "Sample size (rows)",
            ylabel=f"Calibration error ({what})",
        )

    def _draw(self, parts: _Parts, style: dict) -> tuple[Any, Any, Any, Any]:
        """Draw one curve: its plain line and band, its debiased line and band."""
        before = sum(
            line.get_gid() == "plug_in" for line in self.ax_.lines
        )  # of other displays too
        default = {
            "marker": MARKERS[before % len(MARKERS)],
            "markersize": 4,
            "linewidth": 1.2,
            "label": parts.label("plug-in"),
            "gid": "plug_in",
        }
        style = {**default, **style}
        (line,) = self.ax_.plot(parts.x, parts.plug_in.mean(axis=1), **style)
        color = line.get_color()
        band = self._draw_band(parts, parts.plug_in, color)
        if parts.debiased is None:
            return line, band, None, None
        style |= {
            "label": parts.label("debiased"),
            "gid": "debiased",
            "color": color,
            "linestyle": "--",
            "markerfacecolor": "none",
        }
        (other,) = self.ax_.plot(parts.x, parts.debiased.mean(axis=1), **style)
        return line, band, other, self._draw_band(parts, parts.debiased, color)

    def _draw_band(self, parts: _Parts, values: np.ndarray, color: Any) -> Any:
        if not parts.band:
            return None
        mean, spread = values.mean(axis=1), values.std(axis=1, ddof=1)
        low = mean - spread
        if not parts.squared:  # no error is negative
            low = np.maximum(low, 0)
        return self.ax_.fill_between(
            parts.x, low, mean + spread, color=color, alpha=0.2, linewidth=0
        )

    def _draw_truth(
        self, truths: list, names: list, squared: bool, style: dict
    ) -> None:
        """Draw the true errors, one line for all models or one for each."""
        lines = as_list(self.line_)
        single = len(truths) == 1
        drawn: list[Any] = []
        for k, truth in enumerate(truths):
            if truth is None:
                drawn.append(None)
                continue
            default = {
                "color": "0.3" if single else lines[k].get_color(),
                "linestyle": ":",
                "linewidth": 1.5,
                "zorder": 1,
                "label": legend_text(None if single else names[k], "true error"),
            }
            height = truth**2 if squared else truth
            drawn.append(self.ax_.axhline(height, **{**default, **style}))
        self.true_line_ = one_or_all(drawn)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers behind the plot, by name (or position) of the model."""
        curves, truths, names = self._several(None, "BinSizeDisplay.to_dict")
        truths = truths * len(curves) if len(truths) == 1 else truths
        columns = zip(keys_of_models(names), curves, truths, strict=True)
        return {
            key: {
                "curve": curve.to_dict(),
                "true_error": None if truth is None else float(truth),
            }
            for key, curve, truth in columns
        }

    def frame(self) -> Any:
        """Return a pandas DataFrame with a row for each model and size.

        Returns
        -------
        frame : DataFrame
            Columns are those of :meth:`~skcalib.metrics.BinSizeCurve.frame` or
            :meth:`~skcalib.metrics.SampleSizeCurve.frame`, after `name`. A model
            without a debiased error has missing values there.
        """
        curves, _, names = self._several(None, "BinSizeDisplay.frame")
        columns: dict[str, list] = {}
        for name, curve in zip(keys_of_models(names), curves, strict=True):
            n = curve.plug_in.shape[0]
            table = {"name": [name] * n, **curve._columns()}
            done = len(columns.get("name", []))
            for key in [*columns, *table]:
                column = columns.setdefault(key, [None] * done)
                if len(column) == done:
                    column.extend(table.get(key, [None] * n))
        return as_frame(columns, caller="BinSizeDisplay.frame")

    def _lines(self) -> list[str]:
        curves, _, names = self._several(None, "BinSizeDisplay")
        return [
            f"{'plug-in' if name is None else name}; {curve._sizes()}"
            for curve, name in zip(curves, names, strict=True)
        ]


class _Parts:
    """What is drawn of one curve; values are of shape (n_sizes, n_repeats)."""

    def __init__(
        self, curve: Any, name: str | None, squared: bool, debiased: bool, band: bool
    ):
        of_bins = isinstance(curve, BinSizeCurve)
        x = curve.bin_size if of_bins else curve.sample_size
        order = np.argsort(x, kind="stable")
        self.x, self.name, self.squared = x[order], name, squared
        self.band = band and not of_bins
        plug_in = curve.plug_in.reshape(x.size, -1)[order]
        self.plug_in = plug_in**2 if squared else plug_in
        values = curve.debiased_square if squared else curve.debiased
        self.debiased = None
        if debiased and values is not None:
            self.debiased = values.reshape(x.size, -1)[order]

    def label(self, kind: str) -> str | None:
        """Return a legend entry."""
        return legend_text(self.name, kind)


def _true_errors(true_error: Any, names: list, caller: str) -> Any:
    """Return the true error of all models, or a list with that of each."""
    if not isinstance(true_error, Mapping):
        return true_error
    unknown = [name for name in true_error if name not in names]
    if unknown:
        raise ValueError(
            f"The 'true_error' parameter of {caller} must have names of y_proba as its "
            f"keys. Got {unknown[0]!r}."
        )
    return [true_error.get(name) for name in names]


def _curve(pairs: Pairs, bin_sizes: Any, norm: str, caller: str) -> BinSizeCurve:
    if bin_sizes is None:
        sizes = doubling_sizes(pairs)
    else:
        sizes = check_sizes(
            bin_sizes,
            minimum=1,
            largest=pairs.total,
            name="bin_sizes",
            of="total weight of the pairs",
            caller=caller,
        )
    return curve_of_sizes(pairs, sizes, norm, False, caller=caller)
