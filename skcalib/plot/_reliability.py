"""Reliability plots: label frequency against probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._results import LinesRepr, as_frame
from .._validation import check_fraction
from ..metrics import ReliabilityCurve
from ..metrics._binning import Binning, check_binning
from ..metrics._pairs import Pairs, as_weights
from ..queries import Answers, answer_pairs
from ..scorers import ask
from ._drawing import (
    draw_band,
    draw_count,
    draw_curve,
    draw_diagonal,
    draw_reliability_legend,
    prepare_axes,
)
from ._figures import RELIABILITY_SIZE, take_axes
from ._models import (
    curves_of,
    keys_of_models,
    models_by_name,
    of_each_curve,
    one_or_all,
    pairs_of_models,
)
from ._numbers import Numbers, held_out_answers, numbers_of_pairs
from ._styles import line_style, line_styles
from ._text import error_text, legend_text


class ReliabilityDisplay(LinesRepr):
    """Reliability plot of one or several models.

    Draws label frequency against mean probability in adaptive bins, with intervals, the
    diagonal of perfect calibration, how often each probability was given, and in the
    legend the calibration error with its interval. Above the diagonal a model is
    underconfident, below it overconfident.

    Make it with :meth:`from_estimator`, :meth:`from_predictions` or
    :meth:`from_cv_results`; the parameters are stored as attributes.

    Parameters
    ----------
    curve : ReliabilityCurve or list of ReliabilityCurve
        Curve of each model.
    error : CalibrationErrorInterval or list of them, default=None
        Calibration error of each model, for the legend.
    count : ndarray of shape (n_cells,) or list of them, default=None
        Total weight of the pairs in equal-width cells of [0, 1].
    name : str or list of str, default=None
        Name of each model, for the legend.

    Attributes
    ----------
    line_ : matplotlib Artist or list of them
        Curve of each model.
    bar_ : matplotlib Artist or list of them
        Interval bars of each model; None where not drawn.
    count_ : matplotlib Artist or list of them
        Histogram of each model; None where not drawn.
    band_ : matplotlib Artist or list of them
        Band of perfect calibration of each model; None where not drawn.
    diagonal_ : matplotlib Artist
        Line of perfect calibration.
    ax_ : matplotlib Axes
        Axes with the curves.
    count_ax_ : matplotlib Axes or None
        Axes with the histograms.
    figure_ : matplotlib Figure
        Figure that holds them.

    See Also
    --------
    ReliabilityPanelsDisplay : A panel for each group of pairs.
    skcalib.metrics.adaptive_reliability_curve : The numbers of one curve.
    sklearn.calibration.CalibrationDisplay : Without intervals, counts and weights.

    Examples
    --------
    >>> from skcalib import ReliabilityDisplay
    >>> from skcalib.datasets import make_calibrated_pairs
    >>> y_true, y_proba = make_calibrated_pairs(3000, k=0.1, random_state=0)
    >>> display = ReliabilityDisplay.from_predictions(y_true, y_proba, name="shy")
    >>> display.figure_.savefig("reliability.png")  # doctest: +SKIP
    >>> sorted(display.to_dict()["shy"])
    ['count', 'curve', 'error']
    """

    def __init__(
        self,
        *,
        curve: ReliabilityCurve | Sequence[ReliabilityCurve],
        error: Any = None,
        count: Any = None,
        name: Any = None,
    ):
        self.curve = curve
        self.error = error
        self.count = count
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_proba: Any,
        *,
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
        ax: Any = None,
        **plot_params: Any,
    ) -> ReliabilityDisplay:
        """Draw the reliability of probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels.
        y_proba : array-like of shape (n,) or (n, n_classes), or mapping of such
            Probabilities, as in :func:`~skcalib.metrics.calibration_error`. A mapping
            from names to probabilities draws a curve for each on the same labels.
        bin_size, n_bins, strategy : optional
            Bins of the curve, as in
            :func:`~skcalib.metrics.adaptive_reliability_curve`. The error in the
            legend has the bins of
            :func:`~skcalib.metrics.calibration_error_interval`.
        multi_class : {'pooled', 'top_label'}, default=None
            How a matrix becomes pairs.
        labels : array-like of shape (n_classes,), default=None
            Labels in the order of the columns.
        pos_label : label, default=None
            The positive class.
        sample_weight : array-like of shape (n,), default=None
            Frequencies.
        groups : array-like of shape (n,), default=None
            Group of dependent rows, for the interval of the error.
        confidence_level : float, default=0.95
            Of the interval of the error, of the bars and of the band.
        name : str, default=None
            Name for the legend, where `y_proba` is no mapping.
        ax : matplotlib Axes, default=None
            Axes to draw on; those of another display add to its curves.
        **plot_params
            Passed to :meth:`plot`.

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
        caller = "ReliabilityDisplay.from_predictions"
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
        binning = check_binning(bin_size, n_bins, strategy, caller=caller)
        return cls._from_pairs(
            pairs,
            list(several),
            binning,
            caller=caller,
            confidence_level=confidence_level,
            ax=ax,
            **plot_params,
        )

    @classmethod
    def _from_pairs(
        cls,
        pairs: list[Pairs],
        names: list[Any],
        binning: Binning,
        *,
        caller: str,
        confidence_level: float = 0.95,
        ax: Any = None,
        **plot_params: Any,
    ) -> ReliabilityDisplay:
        """Compute the numbers of each model and draw them."""
        level = check_fraction(confidence_level, name="confidence_level", caller=caller)
        numbers = [
            numbers_of_pairs(each, binning, level, caller=caller) for each in pairs
        ]
        display = cls._from_numbers(numbers, names)
        return display.plot(ax, confidence_level=level, **plot_params)

    @classmethod
    def _from_numbers(
        cls, numbers: list[Numbers], names: list[Any]
    ) -> ReliabilityDisplay:
        return cls(
            curve=one_or_all([each.curve for each in numbers]),
            error=one_or_all([each.error for each in numbers]),
            count=one_or_all([each.count for each in numbers]),
            name=one_or_all(names),
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        query: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **params: Any,
    ) -> ReliabilityDisplay:
        """Draw the reliability of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            A classifier, or whatever `query` can ask.
        X : array-like
            Samples.
        y : array-like of shape (n_samples,)
            True labels.
        query : query object, default=None
            What the estimator is asked; None takes the query that fits it.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency of each sample.
        name : str, default=None
            Name for the legend; by default that of the estimator's class.
        ax : matplotlib Axes, default=None
            Axes to draw on; those of another display add to its curves.
        **params
            `bin_size`, `n_bins`, `strategy`, `confidence_level`, and the parameters of
            :meth:`plot`.

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
        caller = "ReliabilityDisplay.from_estimator"
        answers = ask(estimator, X, y, query, caller=caller)
        weight = as_weights(sample_weight, len(y), caller=caller)
        return cls._from_answers(
            answers,
            weight,
            type(estimator).__name__ if name is None else name,
            caller=caller,
            ax=ax,
            **params,
        )

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        y: Any,
        *,
        query: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **params: Any,
    ) -> ReliabilityDisplay:
        """Draw the reliability of held-out answers, of all folds together.

        Each model is asked about its own test fold only, and the answers of all folds
        make one curve: folds are too small for one each. A sample that is in several
        test folds counts as a group of dependent pairs.

        Parameters
        ----------
        cv_results : dict
            Of :func:`sklearn.model_selection.cross_validate` with
            ``return_estimator=True, return_indices=True``.
        X : array-like
            The samples given to cross_validate.
        y : array-like of shape (n_samples,)
            Their labels.
        query : query object, default=None
            What the estimators are asked; None takes the query that fits them.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency of each sample.
        name : str, default=None
            Name for the legend; by default that of the estimators' class.
        ax : matplotlib Axes, default=None
            Axes to draw on; those of another display add to its curves.
        **params
            As in :meth:`from_estimator`.

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
        >>> display.curve.n_samples
        569
        """
        caller = "ReliabilityDisplay.from_cv_results"
        answers, default = held_out_answers(cv_results, X, y, query, caller=caller)
        return cls._from_answers(
            answers,
            as_weights(sample_weight, len(y), caller=caller),
            default if name is None else name,
            caller=caller,
            ax=ax,
            **params,
        )

    @classmethod
    def _from_answers(
        cls,
        answers: Answers,
        weight: np.ndarray | None,
        name: str,
        *,
        caller: str,
        bin_size: int | str = "auto",
        n_bins: int | None = None,
        strategy: str = "quantile",
        **params: Any,
    ) -> ReliabilityDisplay:
        binning = check_binning(bin_size, n_bins, strategy, caller=caller)
        pairs = answer_pairs(answers, weight)
        return cls._from_pairs([pairs], [name], binning, caller=caller, **params)

    def plot(
        self,
        ax: Any = None,
        *,
        name: Any = None,
        interval: str | None = "wilson",
        confidence_level: float = 0.95,
        counts: bool = True,
        consistency_band: bool = False,
        curve_kwargs: dict | Sequence[dict] | None = None,
        diagonal_kwargs: dict | None = None,
    ) -> ReliabilityDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure. The axes of another display add to
            its curves.
        name : str or list of str, default=None
            Names for the legend; by default those stored.
        interval : {'wilson', 'clopper_pearson', 'normal'} or None, default='wilson'
            Bars of the label frequencies; see
            :meth:`~skcalib.metrics.ReliabilityCurve.interval`. None draws none.
        confidence_level : float, default=0.95
            Level of the bars and of the band.
        counts : bool, default=True
            Draw a histogram of the probabilities below the curves, on a log scale.
        consistency_band : bool, default=False
            Shade where the label frequencies fall if every probability is right; see
            :meth:`~skcalib.metrics.ReliabilityCurve.consistency_band`.
        curve_kwargs : dict or list of dict, default=None
            Keywords for matplotlib's ``errorbar``, for all curves or one dict each.
        diagonal_kwargs : dict, default=None
            Keywords for matplotlib's ``plot`` of the diagonal.

        Returns
        -------
        display : ReliabilityDisplay
            The display itself.
        """
        caller = "ReliabilityDisplay.plot"
        check_fraction(confidence_level, name="confidence_level", caller=caller)
        check_bars(interval, caller=caller)
        curves, errors, histograms, names = self._several(name, caller)
        styles = line_styles(
            curve_kwargs, len(curves), name="curve_kwargs", caller=caller
        )
        diagonal = line_style(diagonal_kwargs, name="diagonal_kwargs", caller=caller)
        counts = counts and histograms[0] is not None
        width, height = RELIABILITY_SIZE
        size = (width, height if counts else width)
        self.ax_ = take_axes(ax, size, caller=caller)
        self.figure_ = self.ax_.figure
        self.count_ax_ = prepare_axes(self.ax_, counts)
        self.diagonal_ = draw_diagonal(self.ax_, diagonal)
        lines, bars, hist, bands = [], [], [], []
        for k, curve in enumerate(curves):
            error = None if errors[k] is None else error_text(errors[k])
            label = legend_text(names[k], error)
            line, bar = draw_curve(
                self.ax_, curve, label, interval, confidence_level, styles[k]
            )
            color = line.get_color()
            lines.append(line)
            bars.append(bar)
            hist.append(draw_count(self.count_ax_, histograms[k], color))
            bands.append(
                draw_band(self.ax_, curve, confidence_level, len(curves))
                if consistency_band
                else None
            )
        self.line_, self.bar_ = one_or_all(lines), one_or_all(bars)
        self.count_, self.band_ = one_or_all(hist), one_or_all(bands)
        draw_reliability_legend(self.ax_)
        return self

    def _several(self, name: Any, caller: str) -> tuple[list, list, list, list]:
        """Return curves, errors, histograms and names as lists of one length."""
        curves = curves_of(self.curve, (ReliabilityCurve,), caller=caller)
        n = len(curves)
        errors = of_each_curve(self.error, n, name="error", caller=caller)
        counts = of_each_curve(self.count, n, name="count", caller=caller)
        names = self.name if name is None else name
        return (
            curves,
            errors,
            counts,
            of_each_curve(names, n, name="name", caller=caller),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers behind the plot, by name (or position) of the model."""
        curves, errors, counts, names = self._several(
            None, "ReliabilityDisplay.to_dict"
        )
        columns = zip(keys_of_models(names), curves, errors, counts, strict=True)
        return {
            key: {
                "curve": curve.to_dict(),
                "error": None if error is None else error.to_dict(),
                "count": None if count is None else count.tolist(),
            }
            for key, curve, error, count in columns
        }

    def frame(self) -> Any:
        """Return a pandas DataFrame with a row for each model and bin.

        Returns
        -------
        frame : DataFrame
            Columns are those of :meth:`~skcalib.metrics.ReliabilityCurve.frame`, after
            `name`, with the 95% Wilson interval as `low` and `high`, and the 95% band
            of perfect calibration as `band_low` and `band_high`.
        """
        return as_frame(self._columns(), caller="ReliabilityDisplay.frame")

    def _columns(self) -> dict[str, list]:
        curves, _, _, names = self._several(None, "ReliabilityDisplay.frame")
        columns: dict[str, list] = {}
        for name, curve in zip(keys_of_models(names), curves, strict=True):
            low, high = curve.interval()
            band_low, band_high = curve.consistency_band()
            table = {
                "name": [name] * curve.n_bins,
                **{key: list(column) for key, column in curve._columns().items()},
                "low": list(low),
                "high": list(high),
                "band_low": list(band_low),
                "band_high": list(band_high),
            }
            for key, column in table.items():
                columns.setdefault(key, []).extend(column)
        return columns

    def _lines(self) -> list[str]:
        curves, errors, _, names = self._several(None, "ReliabilityDisplay")
        lines = []
        for curve, error, name in zip(curves, errors, names, strict=True):
            parts = [] if name is None else [str(name)]
            parts += [] if error is None else [error_text(error)]
            lines.append(": ".join(parts) or repr(curve))
        return lines


def check_bars(interval: Any, *, caller: str) -> None:
    """Raise unless `interval` is a kind of bars or None."""
    kinds = ("wilson", "clopper_pearson", "normal")
    if interval is not None and interval not in kinds:
        raise ValueError(
            f"The 'interval' parameter of {caller} must be one of "
            f"{', '.join(map(repr, kinds))}, or None for no bars. Got {interval!r}."
        )
