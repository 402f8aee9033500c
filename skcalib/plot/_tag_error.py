"""Calibration error of each tag, or of whatever else was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from .._results import LinesRepr, as_frame
from .._validation import check_fraction, check_integer
from ..metrics import CalibrationErrorInterval
from ..metrics._binning import Binning
from ..metrics._interval import interval_of_pairs
from ..metrics._pairs import Pairs, as_weights
from ..queries import Answers
from ..scorers import default_query
from ._by import enough_for_interval, parts_by_name
from ._drawing import legend_text, long_names, plain_text

# Models are told apart without their colours too.
_MARKERS = "os^Dv<>P"

# Legend entries that still leave the points visible; more go beside the axes.
_MOST_INSIDE = 4

# Longest name of a label below the axes.
_LONGEST_NAME = 20

# Error of each label; None where there are too few pairs.
Errors = list[CalibrationErrorInterval | None]


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
        known = _as_known(known, X, caller)
        answers = {
            name: (default_query(each) if query is None else query)(each, X, y)
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
            Compute the errors of so many of the most frequent labels only.
        known : sequence of bool sequences, default=None
            For each sentence whether each of its tokens is known; as in
            :meth:`from_estimators`.
        averages : sequence of int, default=(5,)
            Show the means over so many of the most frequent labels.
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
            _as_known(known, None, caller),
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
        for n in averages:
            check_integer(n, minimum=1, name="averages", caller=caller)
        pairs = {
            name: {
                words: dict(parts_by_name(part, weight, None, None))
                for words, part in _parts_by_words(each, known, caller)
            }
            for name, each in answers.items()
        }
        count = _frequencies(pairs)
        if not count:
            raise ValueError(
                f"{caller} needs an answer at least. Got none of {list(answers)}."
            )
        # the sort is stable, so that equal ones keep the order of their labels
        label = sorted(count, key=lambda each: -count[each])[:top]
        error = {
            name: {
                words: [_error(part.get(each), level, caller) for each in label]
                for words, part in parts.items()
            }
            for name, parts in pairs.items()
        }
        frequency = np.array([count[each] for each in label])
        display = cls(label=label, count=frequency, error=error, averages=averages)
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
        n_shown = min(limit, len(self.label))
        sizes = self._sizes()
        # the means stand apart, behind a gap of one label
        place = np.r_[np.arange(n_shown), n_shown + 0.5 + np.arange(len(sizes))]
        if ax is None:
            import matplotlib.pyplot as plt

            width = max(5.2, 1.6 + 0.32 * place.size)
            _, ax = plt.subplots(figsize=(width, 4.4), layout="constrained")
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
            style = self._style(name, words, color)
            style |= long_names(point_kwargs)
            drawn = self._draw(errors, place + offset, n_shown, sizes, style)
            color[name] = drawn[0].get_color()
            key = (name, words)
            self.point_[key], self.bar_[key], self.average_[key] = drawn
        # a little below 0, where points without an error stand
        ax.set_ylim(bottom=-0.02 * ax.get_ylim()[1])
        beside = {"loc": "center left", "bbox_to_anchor": (1.02, 0.5)}
        several = len(series) > _MOST_INSIDE
        ax.legend(fontsize="small", **(beside if several else {"loc": "best"}))
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
        said = name if words == "all" else f"{name}, {words} words"
        style: dict[str, Any] = {
            "linestyle": "none",
            "marker": _MARKERS[model % len(_MARKERS)],
            "markersize": 4,
            "elinewidth": 1,
            "label": legend_text(said),
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
        there = [
            (x, error)
            for x, error in zip(place[:n_shown], errors[:n_shown], strict=True)
            if error is not None
        ]
        x = np.array([at for at, _ in there])
        y = np.array([error.estimate for _, error in there])
        low = np.array([error.low for _, error in there])
        high = np.array([error.high for _, error in there])
        # an interval that is open at 0 starts above its estimate, by rounding
        yerr = np.maximum([y - low, high - y], 0)
        label = style.pop("label")
        artist = self.ax_.errorbar(x, y, yerr=yerr, **style)
        line, _, bars = artist.lines
        line.set_label(label)
        means = [
            (at, mean)
            for at, mean in zip(place[n_shown:], _means(errors, sizes), strict=True)
            if mean is not None
        ]
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
        return line, bars[0], average

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
                    words: dict(zip(sizes, _means(errors, sizes), strict=True))
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
            (mean,) = _means(errors, [len(errors)])
            said = name if words == "all" else f"{name}, {words} words"
            lines.append(f"{said}: mean {'none' if mean is None else f'{mean:.4f}'}")
        return lines


def _check_mapping(value: Any, name: str, what: str, caller: str) -> None:
    if not isinstance(value, Mapping):
        raise TypeError(
            f"The {name!r} parameter of {caller} must be a mapping of names to {what}. "
            f"Got {type(value).__name__}."
        )
    if not value:
        raise ValueError(f"The {name!r} parameter of {caller} is an empty mapping.")


def _as_known(known: Any, X: Any, caller: str) -> list[np.ndarray] | None:
    """Return for each sentence whether its tokens are known."""
    if known is None:
        return None
    if isinstance(known, (Mapping, Set)):
        known = [[_is_word(word, caller) and word in known for word in s] for s in X]
    if isinstance(known, (str, bytes)) or not hasattr(known, "__len__"):
        raise TypeError(
            f"The 'known' parameter of {caller} must be a set of words, or have a "
            f"sequence of bool for each sentence. Got {type(known).__name__}."
        )
    found = []
    for i, tokens in enumerate(known):
        array = np.asarray(tokens)
        if array.ndim != 1 or (array.size and array.dtype != bool):
            raise ValueError(
                f"The 'known' parameter of {caller} must have a sequence of bool for "
                f"each sentence. Got {tokens!r:.50} for sentence {i}."
            )
        found.append(array.astype(bool))
    if X is not None and len(found) != len(X):
        raise ValueError(
            f"The 'known' parameter of {caller} must have an entry for each of the "
            f"{len(X)} sentences. Got {len(found)}."
        )
    return found


def _is_word(word: Any, caller: str) -> bool:
    if not isinstance(word, str):
        raise TypeError(
            f"The 'known' parameter of {caller} is a set of words, and tokens must be "
            f"str. Got {type(word).__name__} {word!r:.50}; pass a sequence of bool for "
            "each sentence."
        )
    return True


def _parts_by_words(
    answers: Answers, known: list[np.ndarray] | None, caller: str
) -> list[tuple[str, Answers]]:
    """Return the answers about all words, or about known and unknown ones."""
    if known is None:
        return [("all", answers)]
    two = answers.item.ndim == 2
    start = answers.item[:, 0] if two else answers.item
    stop = answers.item[:, 1] if two else answers.item + 1
    lengths = np.array([each.size for each in known], dtype=np.intp)
    here = np.r_[lengths, 0][np.minimum(answers.groups, lengths.size)]
    short = np.flatnonzero(stop > here)
    if short.size:
        i = short[0]
        raise ValueError(
            f"The 'known' parameter of {caller} must have a bool for each token. "
            f"Sentence {answers.groups[i]} has {here[i]}, and was asked about token "
            f"{stop[i] - 1}."
        )
    before = np.r_[0, np.cumsum(np.concatenate([*known, np.zeros(0, dtype=bool)]))]
    first = (np.cumsum(lengths) - lengths)[answers.groups]
    is_known = before[first + stop] - before[first + start] == stop - start
    return [("known", answers.take(is_known)), ("unknown", answers.take(~is_known))]


def _frequencies(pairs: dict[str, dict[str, dict[Any, Pairs]]]) -> dict[Any, float]:
    """Return how often the answer is yes for each label, in the order of labels."""
    total: dict[Any, list[float]] = {}
    for parts in pairs.values():
        mine: dict[Any, float] = {}
        for part in parts.values():
            for label, each in part.items():
                yes = each.indicator()
                weight = yes.sum() if each.weight is None else each.weight[yes].sum()
                mine[label] = mine.get(label, 0.0) + float(weight)
        for label, weight in mine.items():
            total.setdefault(label, []).append(weight)
    try:
        order = sorted(total)
    except TypeError:  # labels of several kinds
        order = sorted(total, key=repr)
    return {label: sum(total[label]) / len(pairs) for label in order}


def _error(
    pairs: Pairs | None, level: float, caller: str
) -> CalibrationErrorInterval | None:
    if pairs is None or not enough_for_interval(pairs):
        return None
    automatic = Binning("auto", None, "quantile")
    return interval_of_pairs(pairs, automatic, level, caller=caller)


def _means(errors: Errors, sizes: list[int]) -> list[float | None]:
    """Return the mean estimates of the first labels."""
    found: list[float | None] = []
    for size in sizes:
        some = [error.estimate for error in errors[:size] if error is not None]
        found.append(float(np.mean(some)) if some else None)
    return found


def _short(label: Any) -> str:
    """Return a label as it is written below the axes."""
    text = " ".join(map(str, label)) if isinstance(label, tuple) else str(label)
    if len(text) > _LONGEST_NAME:
        text = f"{text[: _LONGEST_NAME - 1]}…"
    return plain_text(text)
