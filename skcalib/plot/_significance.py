"""Plot of confidence against gain, for many pairs of systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from .._results import LinesRepr, as_frame
from .._validation import check_real, check_same_length, is_sequence
from ..significance import SystemComparison, compare_systems
from ..significance._threshold import (
    BorderlineThreshold,
    check_gains,
    threshold_of,
)
from ._figures import draw_legend, take_axes
from ._styles import MARKERS, line_style
from ._text import legend_text, plain_text

# Legend entries that still leave the points visible; more go beside the axes.
_MOST_INSIDE = 6

SAME, DIFFERENT = "same model", "different models"


class SignificanceDisplay(LinesRepr):
    """Confidence against gain, for all pairs of systems.

    Draws 1 - p over the size of the gain for each pair, in one series for each kind of
    pair (systems of the same model and of different models, say), with the threshold of
    each series: the gain that 95% of its borderline pairs stay below. Figures 2 to 11
    of [1]_.

    Make it with :meth:`from_comparison`, :meth:`from_statistics` or
    :meth:`from_pvalues`; the parameters are stored as attributes.

    Parameters
    ----------
    gain : ndarray of shape (n_pairs,)
        Size of the gain of each pair, not negative.
    pvalue : ndarray of shape (n_pairs,)
        The p-value of each pair, not adjusted.
    kind : list of str, default=None
        Series that each pair belongs to; None is one series.
    alternative : str, default='two-sided'
        Of the test, for the label of the axis.
    low : float, default=0.04
        Lowest p-value of a borderline pair.
    high : float, default=0.06
        Highest p-value of a borderline pair.
    quantile : float, default=0.95
        Quantile of the borderline gains.

    Attributes
    ----------
    threshold : dict
        For each series its threshold, None where no pair is borderline, and the number
        of borderline pairs.
    point_ : dict
        The points of each series.
    threshold_line_ : dict
        The line of each series; None where there is no threshold.
    level_line_ : matplotlib Artist
        Line at a confidence of 0.95.
    ax_ : matplotlib Axes
        Axes with the points.
    figure_ : matplotlib Figure
        Figure that holds them.

    See Also
    --------
    skcalib.significance.compare_systems : Gains and p-values of all pairs.
    skcalib.significance.borderline_threshold : One threshold.

    Notes
    -----
    p is that of two-sided tests unless they were made otherwise. The paper orders each
    pair so that the gain is positive and takes a one-sided p: half of these, about, and
    a test at level .05 of that kind errs in 10% of the cases. So its curves begin at a
    confidence of one half, and these at 0.

    References
    ----------
    .. [1] T. Berg-Kirkpatrick, D. Burkett and D. Klein (2012). "An empirical
       investigation of statistical significance in NLP". EMNLP.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.plot import SignificanceDisplay
    >>> rng = np.random.default_rng(0)
    >>> right = {f"{m}{k}": rng.random(400) < 0.8 for m in "ab" for k in range(6)}
    >>> display = SignificanceDisplay.from_statistics(
    ...     right, statistic="mean", model={name: name[0] for name in right}
    ... )
    >>> display
    SignificanceDisplay(same model: 30 pairs, ...; different models: 36 pairs, ...)
    """

    def __init__(
        self,
        *,
        gain: Any,
        pvalue: Any,
        kind: Sequence[str] | None = None,
        alternative: str = "two-sided",
        low: float = 0.04,
        high: float = 0.06,
        quantile: float = 0.95,
    ):
        self.gain = gain
        self.pvalue = pvalue
        self.kind = kind
        self.alternative = alternative
        self.low = low
        self.high = high
        self.quantile = quantile

    @classmethod
    def from_comparison(
        cls,
        comparison: SystemComparison,
        *,
        model: Mapping[str, Any] | None = None,
        low: float = 0.04,
        high: float = 0.06,
        quantile: float = 0.95,
        ax: Any = None,
        **plot_params: Any,
    ) -> SignificanceDisplay:
        """Draw all pairs of a comparison.

        Parameters
        ----------
        comparison : SystemComparison
            Result of :func:`~skcalib.significance.compare_systems`.
        model : mapping of str, default=None
            Model (research group, ...) of each system by name. Pairs of one model and
            pairs of two become a series each. None: one series.
        low, high, quantile : float, optional
            Which pairs are borderline, and the quantile of their gains that is the
            threshold; as in the class.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        **plot_params
            Passed to :meth:`plot`.

        Returns
        -------
        display : SignificanceDisplay

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.plot import SignificanceDisplay
        >>> from skcalib.significance import compare_systems
        >>> rng = np.random.default_rng(0)
        >>> right = {name: rng.random(400) < 0.8 for name in "abcd"}
        >>> result = compare_systems(right, statistic="mean")
        >>> SignificanceDisplay.from_comparison(result).gain.shape
        (6,)
        """
        caller = "SignificanceDisplay.from_comparison"
        if not isinstance(comparison, SystemComparison):
            raise TypeError(
                f"The 'comparison' parameter of {caller} must be a SystemComparison. "
                f"Got {type(comparison).__name__}."
            )
        return cls.from_pvalues(
            comparison.gain,
            comparison.pvalue,
            kind=_kinds(comparison.pairs, model, caller),
            alternative=comparison.alternative,
            low=low,
            high=high,
            quantile=quantile,
            ax=ax,
            **plot_params,
        )

    @classmethod
    def from_statistics(
        cls,
        systems: Mapping[str, Any],
        *,
        statistic: Any,
        model: Mapping[str, Any] | None = None,
        groups: Any = None,
        random_state: Any = None,
        ax: Any = None,
        **plot_params: Any,
    ) -> SignificanceDisplay:
        """Compare all pairs of systems and draw them.

        Parameters
        ----------
        systems : mapping of str to array-like
            Sufficient statistics of each system by name.
        statistic : {'mean', 'ratio', 'f1'} or callable
            What is compared, as in :func:`~skcalib.significance.compare_systems`.
        model : mapping of str, default=None
            Model of each system, as in :meth:`from_comparison`.
        groups : array-like of shape (n,), default=None
            Document of each row.
        random_state : int, RandomState, Generator or None, default=None
            Source of the draws, where there are any.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        **plot_params
            Passed to :meth:`plot`.

        Returns
        -------
        display : SignificanceDisplay

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.plot import SignificanceDisplay
        >>> rng = np.random.default_rng(0)
        >>> right = {name: rng.random(400) < 0.8 for name in "abcd"}
        >>> SignificanceDisplay.from_statistics(right, statistic="mean").alternative
        'two-sided'
        """
        comparison = compare_systems(
            systems, statistic=statistic, groups=groups, random_state=random_state
        )
        return cls.from_comparison(comparison, model=model, ax=ax, **plot_params)

    @classmethod
    def from_pvalues(
        cls,
        gains: Any,
        pvalues: Any,
        *,
        kind: Sequence[str] | None = None,
        alternative: str = "two-sided",
        low: float = 0.04,
        high: float = 0.06,
        quantile: float = 0.95,
        ax: Any = None,
        **plot_params: Any,
    ) -> SignificanceDisplay:
        """Draw gains and p-values from anywhere.

        Parameters
        ----------
        gains : array-like of shape (n_pairs,)
            Difference of the metric for each pair; its sign plays no part.
        pvalues : array-like of shape (n_pairs,)
            The p-value of each pair, not adjusted.
        kind : sequence of str, default=None
            Name of the series that each pair belongs to. None: one series.
        alternative : str, default='two-sided'
            Of the test, for the label of the axis.
        low, high, quantile : float, optional
            Which pairs are borderline, and the quantile of their gains that is the
            threshold; as in the class.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        **plot_params
            Passed to :meth:`plot`.

        Returns
        -------
        display : SignificanceDisplay

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.plot import SignificanceDisplay
        >>> gains = np.linspace(0.01, 1, 100)
        >>> display = SignificanceDisplay.from_pvalues(gains, 0.5 * np.exp(-5 * gains))
        >>> display.threshold["pairs"]
        BorderlineThreshold(threshold=0.4965, n_pairs=8)
        """
        caller = "SignificanceDisplay.from_pvalues"
        gain, pvalue = check_gains(gains, pvalues, caller)
        if kind is not None:
            if not is_sequence(kind):
                raise TypeError(
                    f"The 'kind' parameter of {caller} must be a sequence with the "
                    f"name of the series of each pair. Got {kind!r:.50}."
                )
            check_same_length(caller, gains=gain, kind=kind)
            kind = [str(each) for each in kind]
        low = check_real(low, low=0, high=1, name="low", caller=caller)
        high = check_real(high, low=low, high=1, name="high", caller=caller)
        quantile = check_real(quantile, low=0, high=1, name="quantile", caller=caller)
        display = cls(
            gain=np.abs(gain),
            pvalue=pvalue,
            kind=kind,
            alternative=alternative,
            low=low,
            high=high,
            quantile=quantile,
        )
        return display.plot(ax, **plot_params)

    def plot(
        self,
        ax: Any = None,
        *,
        metric_name: str = "metric",
        max_gain: float | None = None,
        threshold: bool = True,
        point_kwargs: dict | None = None,
        threshold_kwargs: dict | None = None,
    ) -> SignificanceDisplay:
        """Draw the pairs.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        metric_name : str, default='metric'
            Name of the metric, for the label of the axis.
        max_gain : float, default=None
            Right end of the axis. None: three times the largest threshold, if there is
            one and pairs lie beyond; there nearly all have a confidence of 1.
        threshold : bool, default=True
            Draw the threshold of each series.
        point_kwargs : dict, default=None
            Keywords for matplotlib's ``plot``, of the points.
        threshold_kwargs : dict, default=None
            Keywords for matplotlib's ``axvline``, of the thresholds.

        Returns
        -------
        display : SignificanceDisplay
            The display itself.
        """
        caller = "SignificanceDisplay.plot"
        _check_max_gain(max_gain, caller)
        points = line_style(point_kwargs, name="point_kwargs", caller=caller)
        lines = line_style(threshold_kwargs, name="threshold_kwargs", caller=caller)
        series, found = self._series(), self.threshold
        ax = take_axes(ax, (6.4, 4.6), caller=caller)
        self.ax_, self.figure_ = ax, ax.figure
        side = plain_text(self.alternative)
        ax.set(xlabel=f"Gain ({plain_text(metric_name)})", ylabel=f"1 - p ({side})")
        self.level_line_ = ax.axhline(
            0.95, color="0.6", linewidth=0.8, zorder=1, label="_level"
        )
        self.point_: dict[str, Any] = {}
        self.threshold_line_: dict[str, Any] = {}
        for k, (name, (gain, pvalue)) in enumerate(series.items()):
            default = {
                "marker": MARKERS[k % len(MARKERS)],
                "linestyle": "none",
                "markersize": 4,
                "markerfacecolor": "none",
                "alpha": 0.7,
                "label": legend_text(name, f"{gain.size} pairs"),
            }
            (drawn,) = ax.plot(gain, 1 - pvalue, **{**default, **points})
            self.point_[name] = drawn
            self.threshold_line_[name] = None
            if threshold and found[name].threshold is not None:
                style = {"color": drawn.get_color(), **lines}
                self.threshold_line_[name] = self._draw_threshold(found[name], style)
        self._set_limits(max_gain)
        draw_legend(ax, _MOST_INSIDE, loc="lower right")
        return self

    def _draw_threshold(self, found: BorderlineThreshold, style: dict) -> Any:
        label = f"threshold {found.threshold:.3g} (borderline pairs: {found.n_pairs})"
        default = {"linestyle": "--", "linewidth": 1.2, "label": label}
        return self.ax_.axvline(found.threshold, **{**default, **style})

    def _set_limits(self, max_gain: float | None) -> None:
        thresholds = [t.threshold for t in self.threshold.values() if t.threshold]
        if max_gain is None and thresholds:
            max_gain = min(3 * max(thresholds), 1.05 * float(np.max(self.gain)))
        if max_gain is not None:
            self.ax_.set_xlim(-0.02 * max_gain, max_gain)
        self.ax_.set_ylim(-0.02, 1.02)

    @property
    def threshold(self) -> dict[str, BorderlineThreshold]:
        """Threshold and number of borderline pairs of each series."""
        return {
            name: threshold_of(gain, pvalue, self.low, self.high, self.quantile)
            for name, (gain, pvalue) in self._series().items()
        }

    def _series(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return gains and p-values of each series, in the order that names appear."""
        gain, pvalue = np.asarray(self.gain), np.asarray(self.pvalue)
        check_same_length(type(self).__name__, gain=gain, pvalue=pvalue, kind=self.kind)
        if self.kind is None:
            return {"pairs": (gain, pvalue)}
        kind = np.array(self.kind, dtype=object)
        names = sorted(dict.fromkeys(self.kind), key=lambda name: name != SAME)
        return {name: (gain[kind == name], pvalue[kind == name]) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers behind the plot, by series."""
        found = self.threshold
        return {
            name: {
                "gain": gain.tolist(),
                "pvalue": pvalue.tolist(),
                **found[name]._asdict(),
            }
            for name, (gain, pvalue) in self._series().items()
        }

    def frame(self) -> Any:
        """Return a pandas DataFrame with a row for each pair.

        Returns
        -------
        frame : DataFrame
            Columns `kind`, `gain` and `pvalue`.
        """
        kind = ["pairs"] * len(self.gain) if self.kind is None else list(self.kind)
        columns = {"kind": kind, "gain": self.gain, "pvalue": self.pvalue}
        return as_frame(columns, caller="SignificanceDisplay.frame")

    def _lines(self) -> list[str]:
        found = self.threshold
        lines = []
        for name, (gain, _) in self._series().items():
            value, n = found[name]
            at = "no threshold" if value is None else f"threshold {value:.3g}"
            lines.append(f"{name}: {gain.size} pairs, {at} from {n}")
        return lines


def _check_max_gain(max_gain: Any, caller: str) -> None:
    is_number = isinstance(max_gain, Real) and not isinstance(max_gain, bool)
    if max_gain is not None and not (is_number and 0 < max_gain < np.inf):
        raise ValueError(
            f"The 'max_gain' parameter of {caller} must be a positive number or None. "
            f"Got {max_gain!r}."
        )


def _kinds(
    pairs: Sequence[tuple[str, str]], model: Mapping[str, Any] | None, caller: str
) -> list[str] | None:
    """Return whether the systems of each pair are of one model."""
    if model is None:
        return None
    if not isinstance(model, Mapping):
        raise TypeError(
            f"The 'model' parameter of {caller} must be a mapping from the names of "
            f"systems to their models. Got {type(model).__name__}."
        )
    unknown = [name for pair in pairs for name in pair if name not in model]
    if unknown:
        raise ValueError(
            f"The 'model' parameter of {caller} must have the model of each system. "
            f"Got none for {unknown[0]!r}."
        )
    return [SAME if model[a] == model[b] else DIFFERENT for a, b in pairs]
