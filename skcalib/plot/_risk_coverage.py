"""Display of the risk-coverage curve of a confidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

from .._errors import ParameterError, public
from .._validation import check_choice, check_fraction
from ..metrics._confidence_ranking import (
    ConfidenceRanking,
    confidence_ranking,
    ranking_of_pairs,
    simultaneous_band,
)
from ..rates._precision import PrecisionThreshold, threshold_for_precision
from . import _models, _style
from ._base import ModelsDisplay, drawing, legend_text, of_models, stacked
from ._models import Query

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Smaller coverages do not determine the limit of the vertical axis.
_LEAST_SHOWN = 0.05


class RiskCoverageDisplay(ModelsDisplay):
    """Risk-coverage plot of one or several confidences.

    The display shows the share of wrong answers among the most confident answers (the
    (risk) against their share of all answers (the coverage), with a confidence band. A
    confidence that ranks well has a low risk at small coverages. The legend shows the
    AUROC with its confidence interval.

    Create the display with :meth:`from_predictions`, :meth:`from_estimator` or
    :meth:`from_cv_results`; the parameters are stored as attributes.

    Parameters
    ----------
    curve : ConfidenceRanking or list of ConfidenceRanking
        Ranking of each confidence, from :func:`~skcalib.metrics.confidence_ranking`.
    threshold : PrecisionThreshold or list of PrecisionThreshold, default=None
        Threshold of each confidence, from
        :func:`~skcalib.rates.threshold_for_precision`. It is marked at the share
        of selected answers.
    name : str or list of str, default=None
        Name of each confidence, for the legend.

    Attributes
    ----------
    line_ : matplotlib Artist or list of them
        Curve of each confidence.
    band_ : matplotlib Artist or list of them
        Confidence band of each curve. None if not drawn.
    mark_ : matplotlib Artist or list of them
        Mark of each threshold, at the highest risk that is promised. None if there is
        no threshold.
    ax_ : matplotlib Axes
        Axes with the curves.
    figure_ : matplotlib Figure
        Figure that contains the axes.

    See Also
    --------
    skcalib.metrics.confidence_ranking : Compute the numbers of one curve.
    ReliabilityDisplay : Plot whether probabilities are right.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.plot import RiskCoverageDisplay
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.beta(4, 1, 500)
    >>> right = rng.random(500) < confidence
    >>> display = RiskCoverageDisplay.from_predictions(right, confidence)
    >>> round(display.curve.auroc, 2)
    0.74
    """

    line_: Any
    band_: Any
    mark_: Any

    threshold = of_models("threshold", "Threshold of each confidence.")

    _kinds = (ConfidenceRanking,)

    @public
    def __init__(
        self,
        *,
        curve: ConfidenceRanking | Sequence[ConfidenceRanking],
        threshold: PrecisionThreshold
        | Sequence[PrecisionThreshold | None]
        | None = None,
        name: str | Sequence[str | None] | None = None,
    ):
        self._set_models(curve, threshold=threshold, name=name)

    @classmethod
    @public
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike | Mapping[str, ArrayLike],
        *,
        higher_is_confident: bool = True,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        precision: float | None = None,
        confidence_level: float = 0.95,
        name: str | None = None,
        ax: Axes | None = None,
        **plot_params: Any,
    ) -> RiskCoverageDisplay:
        """Draw the risk-coverage curves of given confidences.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Whether each answer is right.
        y_score : array-like of shape (n,), or mapping of them
            Confidence of each answer. If it is a mapping from names to confidences, one
            curve is drawn for each, with the same labels.
        higher_is_confident, groups, sample_weight : optional
            As in :func:`~skcalib.metrics.confidence_ranking`.
        precision : float, default=None
            Accuracy that the selected answers must have. If given, the threshold of
            :func:`~skcalib.rates.threshold_for_precision` is marked. The
            confidences must then be probabilities, without weights.
        confidence_level : float, default=0.95
            Confidence level of the band, of the interval and of the threshold.
        name : str, default=None
            Name for the legend. Not used if `y_score` is a mapping.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

        Returns
        -------
        display : RiskCoverageDisplay
        """
        if not higher_is_confident:
            _check_unweighted(precision, "higher_is_confident=False")
        several = isinstance(y_score, Mapping)
        models = _models.named(y_score, name, "y_score", several=several)
        params: dict[str, Any] = {
            "higher_is_confident": higher_is_confident,
            "groups": groups,
            "sample_weight": sample_weight,
            "confidence_level": confidence_level,
        }
        curves = [confidence_ranking(y_true, each, **params) for _, each in models]
        marks = [
            _threshold(y_true, each, precision, groups, sample_weight, confidence_level)
            for _, each in models
        ]
        names = [own for own, _ in models]
        return cls(curve=curves, threshold=marks, name=names).plot(ax, **plot_params)

    @classmethod
    @public
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | Sequence[Any],
        *,
        query: Query | None = None,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        precision: float | None = None,
        confidence_level: float = 0.95,
        name: str | Sequence[str] | None = None,
        ax: Axes | None = None,
        **plot_params: Any,
    ) -> RiskCoverageDisplay:
        """Draw the risk-coverage curves of one or several fitted estimators.

        Parameters
        ----------
        estimator : fitted estimator, or mapping or list of them
            A classifier or tagger. The confidence is the highest class probability, and
            an answer is right if this class is the true class.
        X : array-like
            Samples.
        y : array-like of shape (n_samples,)
            True labels.
        query : query object, default=None
            Query that gives the answers, such as ``SpanQuery()`` for the predicted
            entities. If None, the most probable class of each sample or the most
            probable tag of each token is the answer.
        groups, sample_weight : array-like of shape (n_samples,), default=None
            Group and frequency of each sample.
        precision : float, default=None
            As in :meth:`from_predictions`.
        confidence_level : float, default=0.95
            Confidence level of the band and of the interval.
        name : str or list of str, default=None
            Name or names for the legend. If None, the name of the class is used.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

        Returns
        -------
        display : RiskCoverageDisplay
        """
        query = query or _most_probable
        found = _models.ask_estimators(estimator, X, y, query, name)
        parts = _models.parts_of_answers(found, y, sample_weight, groups)
        return cls._of_parts(parts, precision, confidence_level).plot(ax, **plot_params)

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
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        precision: float | None = None,
        confidence_level: float = 0.95,
        name: str | None = None,
        ax: Axes | None = None,
        **plot_params: Any,
    ) -> RiskCoverageDisplay:
        """Draw the risk-coverage curve of out-of-fold predictions of all folds.

        Parameters
        ----------
        cv_results : dict, or mapping of dicts by name
            Result of :func:`~sklearn.model_selection.cross_validate` with
            ``return_estimator=True`` and ``return_indices=True``.
        X : array-like
            The samples that were passed to cross_validate.
        y : array-like of shape (n_samples,)
            The labels that were passed to cross_validate.
        by_fold : bool, default=False
            Whether to draw one curve per fold instead of one curve of all folds.
        query, groups, sample_weight, precision, confidence_level : optional
            As in :meth:`from_estimator`.
        name : str, default=None
            Name for the legend. If None, the name of the estimators' class is used.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

        Returns
        -------
        display : RiskCoverageDisplay
        """
        query = query or _most_probable
        found = _models.ask_folds(cv_results, X, y, query, name, None, None, by_fold)
        parts = _models.parts_of_answers(found, y, sample_weight, groups)
        return cls._of_parts(parts, precision, confidence_level).plot(ax, **plot_params)

    @classmethod
    def _of_parts(
        cls, parts: Sequence[_models.Part], precision: float | None, level: float
    ) -> RiskCoverageDisplay:
        """Compute the curve and the threshold of each model from its pairs."""
        check_fraction(level, name="confidence_level")
        curves, marks = [], []
        for _, pairs, _ in parts:
            curves.append(ranking_of_pairs(pairs, level))
            given = pairs.indicator(), pairs.q, precision, pairs.groups, pairs.weight
            marks.append(_threshold(*given, level))
        return cls(curve=curves, threshold=marks, name=[part.name for part in parts])

    @drawing
    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | Sequence[str] | None = None,
        band: Literal["pointwise", "simultaneous"] | None = "pointwise",
        curve_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> RiskCoverageDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        name : str or list of str, default=None
            Names for the legend. If None, the stored names are used.
        band : {'pointwise', 'simultaneous'} or None, default='pointwise'
            Confidence bands. A pointwise band contains the risk at one coverage with
            the confidence level. A simultaneous band is wider and contains the whole
            curve with this probability. If None, no bands are drawn.
        curve_kwargs : dict or list of dict, default=None
            Keyword arguments for matplotlib's ``plot``: one dict for all curves, or a
            list with one dict per curve.

        Returns
        -------
        display : RiskCoverageDisplay
            The display itself.
        """
        if band is not None:
            check_choice(band, ("pointwise", "simultaneous"), name="band")
        models = self._models if name is None else self._with("name", name)
        styles = _style.line_styles(curve_kwargs, len(models))
        ax = _style.take_axes(ax, _style.COLUMN, 2.6, are_short=True)
        self.ax_: Any = ax
        self.figure_: Any = ax.figure
        ax.set(xlim=(0, 1), xlabel="Coverage", ylabel="Risk (share of wrong answers)")
        drawn: list[dict[str, Any]] = []
        top = 0.0
        for model, style in zip(models, styles, strict=True):
            curve, threshold = model.curve, model.threshold
            label = legend_text(model.name, _auroc_text(curve))
            # Markers are a tenth of the diagonal apart.
            default = _style.next_style(ax) | {"label": label, "markevery": 0.1}
            (line,) = ax.plot(curve.coverage, curve.risk, **{**default, **style})
            artists = {"line": line, "band": None, "mark": None}
            color = line.get_color()
            ends = curve.risk_low, curve.risk_high
            if band == "simultaneous":
                ends = simultaneous_band(curve)
            if band:
                shade = {"color": color, **_style.BAND}
                artists["band"] = ax.fill_between(curve.coverage, *ends, **shade)
            # The band of a few answers reaches 1; larger coverages set the limit.
            top = max(top, ends[1][curve.coverage >= _LEAST_SHOWN].max())
            if threshold is not None:
                at, promised = threshold.share_selected, 1 - threshold.precision
                label = legend_text(
                    f"at least {100 * threshold.precision:g}% right if the confidence "
                    f"is at least {threshold.threshold:.3g}"
                )
                style = {"color": color, "linestyle": "--", "label": label}
                artists["mark"] = ax.vlines(at, 0, promised, **style)
                top = max(top, promised)
            drawn.append(artists)
        ax.set_ylim(0, min(1.0, 1.1 * top))
        _style.name_curves(ax)
        self._set_artists(drawn)
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of each curve by name."""
        return {key: model.curve.to_dict() for key, model in self._by_key()}

    def _columns(self) -> dict[str, list]:
        names = ("coverage", "risk", "risk_low", "risk_high")
        tables = [
            (key, {each: getattr(model.curve, each) for each in names})
            for key, model in self._by_key()
        ]
        return stacked("name", tables)

    def _lines(self) -> list[str]:
        return [
            ("" if model.name is None else f"{model.name}: ") + _auroc_text(model.curve)
            for model in self._models
        ]


def _check_unweighted(precision: float | None, given: str) -> None:
    if precision is not None:
        raise ParameterError(
            "precision",
            "must be None if the confidences are not probabilities, or if answers have "
            f"weights. Got {precision!r} and {given}.",
        )


def _threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    precision: float | None,
    groups: Any,
    weight: Any,
    level: float,
) -> PrecisionThreshold | None:
    if precision is None:
        return None
    if weight is not None:
        _check_unweighted(precision, "sample_weight")
    return threshold_for_precision(
        y_true, y_score, precision=precision, groups=groups, confidence_level=level
    )


def _auroc_text(curve: ConfidenceRanking) -> str:
    auroc = curve.auroc
    return f"AUROC {auroc:.3f} [{auroc.low:.3f}, {auroc.high:.3f}]"


def _most_probable(estimator: Any, X: Any, y: Any) -> Any:
    """Ask for the most probable class of each sample, or tag of each token."""
    from ..queries import ClassQuery, TagQuery
    from ..scorers._query_scorers import kind_of

    if kind_of(estimator) == "tagger":
        return TagQuery("top")(estimator, X, y)
    return ClassQuery(multi_class="top_label")(estimator, X, y)
