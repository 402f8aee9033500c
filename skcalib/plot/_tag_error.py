"""Calibration error of each tag, or of whatever else was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from .._results import LinesRepr, as_frame
from .._validation import check_fraction, check_integer, is_sequence
from ..metrics._pairs import as_weights
from ..queries import Answers
from ..scorers import ask
from ._figures import draw_legend, draw_points, take_axes
from ._known_words import as_known
from ._label_errors import Errors, errors_of_labels, means_of_first
from ._styles import MARKERS, line_style
from ._text import legend_text, plain_text, short_text

# Legend entries that still leave the points visible; more go beside the axes.
_MOST_INSIDE = 4

# Longest name of a label below the axes.
_LONGEST_NAME = 20


class TagErrorDisplay(LinesRepr):
    """Calibration error of each tag, of several models.

    Draws the error of every tag (pair of tags, entity label, class) with its interval,
    the most frequent first, and at the right the means over the most frequent: Figure 4
    of [1]_, with intervals. Known and unknown words can be drawn apart.

    Make it with :meth:`from_estimators` or :meth:`from_answers`; the parameters are
    stored as attributes.

    Parameters
    ----------
    label : list
        What was asked for, the most frequent first.
    count : ndarray of shape (n_labels,)
        Frequency of each label: the weight of the answers that are yes, of models that
        were asked different things their mean.
    error : dict
        ``error[name][words]`` is the list of the errors of all labels, each a
        CalibrationErrorInterval, or None where there are too few pairs. `words` is
        'all', or 'known' and 'unknown'.
    averages : sequence of int, default=()
        Means over so many of the most frequent labels are shown, beside the mean over
        all.

    Attributes
    ----------
    point_ : dict
        The points of each (name, words).
    bar_ : dict
        The intervals of each (name, words).
    average_ : dict
        The means of each (name, words).
    divider_ : matplotlib Artist
        Line between tags and means.
    ax_ : matplotlib Axes
        Axes with the points.
    figure_ : matplotlib Figure
        Figure that holds them.

    See Also
    --------
    ReliabilityPanelsDisplay : The curve of each tag, of one model.
    skcalib.queries.TagPairQuery : Ask for pairs of tags.

    Notes
    -----
    Errors are debiased, with bins and intervals of
    :func:`~skcalib.metrics.calibration_error_interval` that take the pairs of one
    sentence as dependent. An estimate is never below 0, and the mean of many is
    therefore a little too large; it has no interval. A mean leaves out labels that have
    too few pairs for an error.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
       analysis for natural language processing models". EMNLP. Figure 4.

    Examples
    --------
    >>> from skcalib import CRFTagger, HMMTagger
    >>> from skcalib.datasets import make_tagged_sentences
    >>> from skcalib.plot import TagErrorDisplay
    >>> X, y = make_tagged_sentences(300, random_state=0)
    >>> taggers = {"HMM": HMMTagger(), "CRF": CRFTagger(c2=0.1)}
    >>> taggers = {name: t.fit(X[:200], y[:200]) for name, t in taggers.items()}
    >>> display = TagErrorDisplay.from_estimators(taggers, X[200:], y[200:], top=4)
    >>> sorted(display.error), len(display.label)
    (['CRF', 'HMM'], 4)
    """

    def __init__(
        self,
        *,
        label: Sequence[Any],
        count: Any,
        error: Mapping[str, Mapping[str, Errors]],
        averages: Sequence[int] = (),
    ):
        self.label = label
        self.count = count
        self.error = error
        self.averages = averages

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        X: Any,
        y: Any,
        *,
        query: Any = None,
        top: int | None = None,
        known: Any = None,
        averages: Sequence[int] = (5,),
        sample_weight: Any = None,
        confidence_level: float = 0.95,
        ax: Any = None,
        **plot_params: Any,
    ) -> TagErrorDisplay:
        """Draw the errors of fitted taggers.

        Parameters
        ----------
        estimators : mapping of str to fitted estimator
            Taggers by name, or whatever `query` can ask.
        X : array-like
            Samples; sentences of tokens, for a tagger.
        y : array-like
            True labels.
        query : query object, default=None
            What the estimators are asked; None takes the query that fits them, for a
            tagger every tag at every token.
        top : int, default=None
            Compute the errors of so many of the most frequent labels only. None: of all
            labels.
        known : set or mapping of words, or sequence of bool sequences, default=None
            Known words, such as the ``vocabulary_`` of HMMTagger, or for each sentence
            whether each of its tokens is known. It divides the pairs by their token
            (of a pair of tags the second one; a span is known if all its tokens are),
            and each part has its own errors.
        averages : sequence of int, default=(5,)
            Show the means over so many of the most frequent labels, beside the mean
            over all.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency of each sample.
        confidence_level : float, default=0.95
            Of the intervals.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        **plot_params
            Passed to :meth:`plot`.

        Returns
        -------
        display : TagErrorDisplay

        Examples
        --------
        >>> from skcalib import HMMTagger
        >>> from skcalib.datasets import make_tagged_sentences
        >>> from skcalib.plot import TagErrorDisplay
        >>> from skcalib.queries import TagPairQuery
        >>> X, y = make_tagged_sentences(300, random_state=0)
        >>> tagger = HMMTagger(0.1).fit(X[:200], y[:200])
        >>> display = TagErrorDisplay.from_estimators(
        ...     {"HMM": tagger}, X[200:], y[200:], query=TagPairQuery(top=3)
        ... )
        >>> display.label
        [('DT', 'NN'), ('IN', 'DT'), ('NN', 'IN')]
        """
        caller = "TagErrorDisplay.from_estimators"
        _check_mapping(estimators, "estimators", "fitted estimators", caller)
        known = as_known(known, X, caller)
        answers = {
            name: ask(each, X, y, query, caller=caller)
            for name, each in estimators.items()
        }
        return cls._from_answers(
            answers,
            known,
            as_weights(sample_weight, len(y), caller=caller),
            caller=caller,
            top=top,
            averages=averages,
            confidence_level=confidence_level,
            ax=ax,
            **plot_params,
        )

    @classmethod
    def from_answers(
        cls,
        answers: Mapping[str, Answers],
        *,
        top: int | None = None,
        known: Any = None,
        averages: Sequence[int] = (5,),
        sample_weight: Any = None,
        confidence_level: float = 0.95,
        ax: Any = None,
        **plot_params: Any,
    ) -> TagErrorDisplay:
        """Draw the errors of answers, of models from anywhere.

        Parameters
        ----------
        answers : mapping of str to Answers
            Answers of each model by name.
        top : int, default=None
            As in :meth:`from_estimators`.
        known : sequence of bool sequences, default=None
            For each sentence whether each of its tokens is known; as in
            :meth:`from_estimators`.
        averages, sample_weight, confidence_level : optional
            As in :meth:`from_estimators`.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        **plot_params
            Passed to :meth:`plot`.

        Returns
        -------
        display : TagErrorDisplay

        Examples
        --------
        >>> from skcalib.plot import TagErrorDisplay
        >>> from skcalib.queries import TagQuery
        >>> proba = [[[0.9, 0.1], [0.3, 0.7]], [[0.6, 0.4]], [[0.2, 0.8]]]
        >>> answers = TagQuery().from_proba([["D", "N"], ["N"], ["N"]], proba)
        >>> TagErrorDisplay.from_answers({"mine": answers}).label
        ['N', 'D']
        """
        caller = "TagErrorDisplay.from_answers"
        _check_mapping(answers, "answers", "Answers", caller)
        for name, each in answers.items():
            if not isinstance(each, Answers):
                raise TypeError(
                    f"The 'answers' parameter of {caller} must be a mapping of names "
                    f"to Answers. Got {type(each).__name__} as {name!r}."
                )
        if isinstance(known, (Mapping, Set)):
            raise TypeError(
                f"The 'known' parameter of {caller} must have a sequence of bool for "
                f"each sentence. Got {type(known).__name__}: words go to "
                "from_estimators."
            )
        weight = None
        if sample_weight is not None:
            n = max(int(a.groups.max(initial=-1)) + 1 for a in answers.values())
            n = max(n, np.size(sample_weight))
            weight = as_weights(sample_weight, n, caller=caller)
        return cls._from_answers(
            answers,
            as_known(known, None, caller),
            weight,
            caller=caller,
            top=top,
            averages=averages,
            confidence_level=confidence_level,
            ax=ax,
            **plot_params,
        )

    @classmethod
    def _from_answers(
        cls,
        answers: Mapping[str, Answers],
        known: list[np.ndarray] | None,
        weight: np.ndarray | None,
        *,
        caller: str,
        top: int | None,
        averages: Sequence[int],
        confidence_level: float,
        ax: Any,
        **plot_params: Any,
    ) -> TagErrorDisplay:
        """Compute the numbers and draw them."""
        level = check_fraction(confidence_level, name="confidence_level", caller=caller)
        if top is not None:
            check_integer(top, minimum=1, name="top", caller=caller)
        _check_averages(averages, caller)
        label, count, error = errors_of_labels(
            answers, known, weight, top, level, caller=caller
        )
        display = cls(label=label, count=count, error=error, averages=averages)
        return display.plot(ax, **plot_params)

    def plot(
        self,
        ax: Any = None,
        *,
        max_labels: int = 25,
        point_kwargs: dict | None = None,
    ) -> TagErrorDisplay:
        """Draw the errors.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        max_labels : int, default=25
            Draw the errors of the most frequent labels only; the axis says of how
            many. The means are over all of them in any case.
        point_kwargs : dict, default=None
            Keywords for matplotlib's ``errorbar``.

        Returns
        -------
        display : TagErrorDisplay
            The display itself.
        """
        caller = "TagErrorDisplay.plot"
        limit = check_integer(max_labels, minimum=1, name="max_labels", caller=caller)
        style = line_style(point_kwargs, name="point_kwargs", caller=caller)
        n_shown = min(limit, len(self.label))
        sizes = self._sizes()
        # the means stand apart, behind a gap of one label
        place = np.r_[np.arange(n_shown), n_shown + 0.5 + np.arange(len(sizes))]
        width = max(5.2, 1.6 + 0.32 * place.size)
        ax = take_axes(ax, (width, 4.4), caller=caller)
        self.ax_, self.figure_ = ax, ax.figure
        self._label_axes(n_shown, sizes, place)
        for k in range(1, n_shown, 2):
            ax.axvspan(k - 0.5, k + 0.5, color="0.96", zorder=0, linewidth=0)
        self.divider_ = ax.axvline(
            n_shown - 0.25, color="0.7", linewidth=1, linestyle=":", label="_divider"
        )
        self.point_: dict[tuple[str, str], Any] = {}
        self.bar_: dict[tuple[str, str], Any] = {}
        self.average_: dict[tuple[str, str], Any] = {}
        series = list(self._series())
        color: dict[str, Any] = {}
        for k, (name, words, errors) in enumerate(series):
            offset = 0.6 * ((k + 0.5) / len(series) - 0.5)
            own = {**self._style(name, words, color), **style}
            drawn = self._draw(errors, place + offset, n_shown, sizes, own)
            color[name] = drawn[0].get_color()
            key = (name, words)
            self.point_[key], self.bar_[key], self.average_[key] = drawn
        # a little below 0, where points without an error stand
        ax.set_ylim(bottom=-0.02 * ax.get_ylim()[1])
        draw_legend(ax, _MOST_INSIDE)
        return self

    def _series(self) -> Iterator[tuple[str, str, Errors]]:
        for name, parts in self.error.items():
            for words, errors in parts.items():
                yield name, words, errors

    def _sizes(self) -> list[int]:
        """Return over how many labels means are taken; the last one is all."""
        n = len(self.label)
        return [*sorted({int(size) for size in self.averages if size < n}), n]

    def _label_axes(self, n_shown: int, sizes: list[int], place: np.ndarray) -> None:
        names = [_short(label) for label in self.label[:n_shown]]
        n = len(self.label)
        means = [f"mean of {'all ' if size == n else ''}{size}" for size in sizes]
        self.ax_.set_xticks(place, [*names, *means], rotation=90, fontsize="small")
        shown = "" if n_shown == n else f" ({n_shown} of {n})"
        self.ax_.set(
            xlabel=f"Most frequent first{shown}",
            ylabel="Calibration error (root mean square)",
            xlim=(-0.7, place[-1] + 0.7),
        )

    def _style(self, name: str, words: str, color: dict[str, Any]) -> dict[str, Any]:
        model = list(self.error).index(name)
        style: dict[str, Any] = {
            "linestyle": "none",
            "marker": MARKERS[model % len(MARKERS)],
            "markersize": 4,
            "elinewidth": 1,
            "label": legend_text(_said(name, words)),
        }
        if name in color:
            style["color"] = color[name]
        if words == "unknown":
            style["markerfacecolor"] = "white"
        return style

    def _draw(
        self,
        errors: Errors,
        place: np.ndarray,
        n_shown: int,
        sizes: list[int],
        style: dict[str, Any],
    ) -> tuple[Any, Any, Any]:
        """Draw the points, intervals and means of one model."""
        points = [
            (at, error.estimate, error.low, error.high)
            for at, error in zip(place[:n_shown], errors[:n_shown], strict=True)
            if error is not None
        ]
        x, y, low, high = np.array(points).reshape(-1, 4).T
        line, bars = draw_points(self.ax_, x, y, (low, high), style)
        averages = zip(place[n_shown:], means_of_first(errors, sizes), strict=True)
        means = [(at, mean) for at, mean in averages if mean is not None]
        (average,) = self.ax_.plot(
            [at for at, _ in means],
            [mean for _, mean in means],
            linestyle="none",
            marker=line.get_marker(),
            markersize=1.5 * line.get_markersize(),
            markerfacecolor=line.get_markerfacecolor(),
            color=line.get_color(),
            label="_average",
        )
        return line, bars, average

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers behind the plot, drawn or not."""
        sizes = self._sizes()
        return {
            "label": list(self.label),
            "count": np.asarray(self.count).tolist(),
            "error": {
                name: {
                    words: [None if e is None else e.to_dict() for e in errors]
                    for words, errors in parts.items()
                }
                for name, parts in self.error.items()
            },
            "average": {
                name: {
                    words: dict(zip(sizes, means_of_first(errors, sizes), strict=True))
                    for words, errors in parts.items()
                }
                for name, parts in self.error.items()
            },
        }

    def frame(self) -> Any:
        """Return a pandas DataFrame with a row for each model and label.

        Returns
        -------
        frame : DataFrame
            Columns `name`, `words`, `label`, `count`, and of the error `n_pairs`,
            `estimate`, `low`, `high`, `p_value` and `plug_in`, which are missing where
            there are too few pairs.
        """
        columns: dict[str, list] = {}
        counts = np.asarray(self.count).tolist()
        numbers = ("n_pairs", "estimate", "low", "high", "p_value", "plug_in")
        for name, words, errors in self._series():
            for label, count, error in zip(self.label, counts, errors, strict=True):
                row = {"name": name, "words": words, "label": label, "count": count}
                row |= {key: getattr(error, key, None) for key in numbers}
                for key, value in row.items():
                    columns.setdefault(key, []).append(value)
        return as_frame(columns, caller="TagErrorDisplay.frame")

    def _lines(self) -> list[str]:
        lines = [f"{len(self.label)} labels"]
        for name, words, errors in self._series():
            (mean,) = means_of_first(errors, [len(errors)])
            said = "none" if mean is None else f"{mean:.4f}"
            lines.append(f"{_said(name, words)}: mean {said}")
        return lines


def _check_mapping(value: Any, name: str, what: str, caller: str) -> None:
    if not isinstance(value, Mapping):
        raise TypeError(
            f"The {name!r} parameter of {caller} must be a mapping of names to {what}. "
            f"Got {type(value).__name__}."
        )
    if not value:
        raise ValueError(f"The {name!r} parameter of {caller} is an empty mapping.")


def _check_averages(averages: Any, caller: str) -> None:
    if not is_sequence(averages):
        raise TypeError(
            f"The 'averages' parameter of {caller} must be a sequence of integers. Got "
            f"{averages!r}."
        )
    for n in averages:
        check_integer(n, minimum=1, name="averages", caller=caller)


def _said(name: str, words: str) -> str:
    """Return the name of a series."""
    return str(name) if words == "all" else f"{name}, {words} words"


def _short(label: Any) -> str:
    """Return a label as it is written below the axes."""
    text = " ".join(map(str, label)) if isinstance(label, tuple) else label
    return plain_text(short_text(text, _LONGEST_NAME))
