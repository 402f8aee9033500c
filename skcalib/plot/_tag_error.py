"""Calibration error of each tag, or of each label of a query, for several models.

The errors may be divided into those of known and of unknown words, and every model may
be compared with a reference model, label by label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, ParameterTypeError, public
from .._pairs import Pairs
from .._parallel import RandomStateLike
from .._validation import (
    as_groups,
    as_weights,
    check_fraction,
    check_integer,
    check_same_length,
    is_sequence,
)
from ..metrics import CalibrationErrorInterval
from ..metrics._interval import warn_of_few
from ..queries import Answers
from ..scorers import compare_calibration
from ..scorers._calibration_comparison import CalibrationComparison
from ..significance._system_comparison import adjusted_pvalues, check_adjust
from . import _models, _style
from ._base import (
    Display,
    check_type,
    distinct_names,
    drawing,
    legend_text,
    plain_text,
    short_text,
    stacked,
)
from ._models import Query

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Error of each label, and comparison of each label with the reference. They are None if
# there are too few pairs.
Errors = list[CalibrationErrorInterval | None]
Comparisons = list[CalibrationComparison | None]

# Known words, or for each sentence whether its tokens are known.
Known = Set[str] | Mapping[str, Any] | Sequence[Sequence[bool] | np.ndarray]

# Longest name of a label below the axes.
_LONGEST_NAME = 20

# Longest names at the axis that fit beside each other.
_LONGEST_UPRIGHT = 2

# Numbers of a comparison that are columns of the table.
_COMPARED = ("difference", "low", "high", "pvalue", "pvalue_adjusted")

# Properties that the points of known and of unknown words share.
_SHARED = ("color", "marker", "markersize")

_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini and Hochberg", None: "unadjusted"}


@dataclass(repr=False, eq=False, kw_only=True)
class TagErrorDisplay(Display):
    """Calibration error of each tag for several models.

    The display shows the error of every tag (or pair of tags, entity label or class)
    with its confidence interval, starting with the most frequent tag. The means over
    the most frequent tags are on the right. This is Figure 4 of [1]_, with intervals.
    Known and unknown words can be drawn separately. With a `reference` model, every
    other model is compared with it on the same items, separately for each tag. The
    points of the other models are hollow if the difference is not significant.

    Create a display with :meth:`from_estimators` or :meth:`from_answers`. All
    parameters are stored as attributes.

    Parameters
    ----------
    label : list
        Tags, or other labels of the queries, in order of decreasing frequency.
    count : ndarray of shape (n_labels,)
        Frequency of each label, which is the total weight of its positive answers. If
        the queries of the models differ, the frequency is the mean over the models.
    error : dict
        ``error[name][words]`` is the list of the errors of all labels, each a
        CalibrationErrorInterval, or None if there are too few pairs. `words` is 'all',
        or 'known' and 'unknown'.
    averages : sequence of int, default=()
        For each number k, the mean error of the k most frequent labels is shown, in
        addition to the mean over all labels.
    reference : str, default=None
        Name of the model with which the other models are compared. If None, models are
        not compared.
    comparison : dict, default=None
        ``comparison[name]`` is the list of the comparisons of all labels of one model
        with the reference, each a CalibrationComparison, or None if there are too few
        pairs. Its `difference` is the error of the model minus the error of the
        reference.
    adjust : {'holm', 'bh'} or None, default='holm'
        Correction of the p-values for multiple comparisons (several labels).

    Attributes
    ----------
    point_ : dict
        Points, with (name, words) as keys.
    bar_ : dict
        Intervals, with (name, words) as keys.
    average_ : dict
        Points of the means, with (name, words) as keys.
    hollow_ : dict
        Points without a significant difference, by the name of the compared model.
    divider_ : matplotlib Artist
        Line between the tags and the means.
    ax_ : matplotlib Axes
        Axes with the points.
    figure_ : matplotlib Figure
        Figure that contains the axes.

    See Also
    --------
    ReliabilityDisplay : Reliability curve of each tag for one model, with `by`.
    skcalib.scorers.compare_calibration : Test used for the comparisons.
    skcalib.queries.TagPairQuery : Query for pairs of tags.

    Notes
    -----
    The errors are debiased. Bins and intervals are computed as in
    :func:`~skcalib.metrics.calibration_error_interval`, where the pairs of one sentence
    are treated as dependent. An estimate is never below 0, so the mean of many
    estimates is slightly too large. Means have no interval. Labels that do not occur,
    and labels with too few pairs for an error, are left out of the means.

    Two models are compared by :func:`~skcalib.scorers.compare_calibration`, which tests
    whether their errors differ. The pairs of one sentence are treated as dependent. The
    p-values of one model are adjusted for the number of labels that are compared. A
    difference is significant if its adjusted p-value is below 1 - `confidence_level`.

    :meth:`frame` has one row for each combination of model, words ('all', 'known' or
    'unknown') and label. Its columns are `name`, `words`, `label`, `count`, and the
    columns of the error `n_pairs`, `estimate`, `low`, `high`, `p_value` and `plug_in`,
    which are missing if there are too few pairs. With a reference, it also has the
    columns `difference`, `difference_low`, `difference_high`, `pvalue` and
    `pvalue_adjusted`, which are missing for the reference itself.

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
    >>> taggers = {"HMM": HMMTagger(1.0), "CRF": CRFTagger()}
    >>> taggers = {name: t.fit(X[:200], y[:200]) for name, t in taggers.items()}
    >>> display = TagErrorDisplay.from_estimators(taggers, X[200:], y[200:], top=4)
    >>> sorted(display.error), len(display.label)
    (['CRF', 'HMM'], 4)

    For which tags is the CRF better calibrated?

    >>> display = TagErrorDisplay.from_estimators(
    ...     taggers, X[200:], y[200:], top=4, reference="HMM", random_state=0
    ... )
    >>> display.to_dict()["comparison"]["CRF"][0]["pvalue_adjusted"] < 0.05
    True
    """

    label: Sequence[Any]
    count: ArrayLike
    error: Mapping[str, Mapping[str, Errors]]
    averages: Sequence[int] = ()
    reference: str | None = None
    comparison: Mapping[str, Comparisons] | None = None
    adjust: str | None = "holm"

    @classmethod
    @public
    def from_estimators(
        cls,
        estimators: Mapping[str, Any] | Sequence[Any],
        X: Any,
        y: Sequence[Any] | ArrayLike,
        *,
        query: Query | None = None,
        top: int | None = None,
        known: Known | None = None,
        averages: Sequence[int] = (5,),
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence_level: float = 0.95,
        reference: str | None = None,
        adjust: str | None = "holm",
        n_resamples: int = 2000,
        random_state: RandomStateLike = None,
        ax: Axes | None = None,
        **plot_params: Any,
    ) -> TagErrorDisplay:
        """Draw the errors of fitted taggers.

        Parameters
        ----------
        estimators : mapping of str to fitted estimator, or list of them
            Taggers by name, or other estimators that `query` supports. The estimators
            of a list are named after their classes.
        X : array-like
            Samples. For a tagger, these are sentences of tokens.
        y : array-like
            True labels.
        query : query object, default=None
            Query put to the estimators. If None, the default query of the estimators is
            used. The default query of a tagger asks for every tag at every token.
        top : int, default=None
            Number of most frequent labels whose errors are computed. If None, the
            errors of all labels are computed.
        known : set or mapping of words, or sequence of bool sequences, default=None
            Known words, such as the ``vocabulary_`` of HMMTagger, or one sequence of
            bool values per sentence, which state whether each token is known. The
            answers are divided into two parts: known and unknown tokens. For a pair of
            tags, the second token determines the part. A span is known if all its
            tokens are known. Errors are computed separately for each part. If None, all
            words form one part.
        averages : sequence of int, default=(5,)
            For each number k, the mean error of the k most frequent labels is shown, in
            addition to the mean over all labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency of each sample.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as the document of each sentence. The intervals
            treat samples of the same group as dependent. If None, samples are
            independent.
        confidence_level : float, default=0.95
            Confidence level of the intervals. Differences are tested at the level
            1 - `confidence_level`.
        reference : str, default=None
            Name of a model. Every other model is compared with it on the same items,
            for each label, by :func:`~skcalib.scorers.compare_calibration`. It cannot
            be combined with `known` or `sample_weight`. If None, no models are
            compared.
        adjust : {'holm', 'bh'} or None, default='holm'
            Correction of the p-values of a model for multiple comparisons (several
            labels). 'holm' controls the family-wise error rate, the probability of at
            least one false rejection. 'bh' (Benjamini and Hochberg) controls the false
            discovery rate, the expected proportion of false rejections among all
            rejections.
        n_resamples : int, default=2000
            Number of resamples of the test of the Brier scores in each comparison. The
            p-values of calibration errors do not depend on it.
        random_state : int, RandomState, Generator or None, default=None
            Random state used by the test of the Brier scores.
        ax : matplotlib Axes, default=None
            Axes on which the errors are drawn. If None, a new figure is created.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

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
        expected = "a mapping of names to fitted estimators, or a list of them"
        check_type(estimators, (Mapping, list, tuple), expected, name="estimators")
        # Wrong words are found before the models are asked, which takes long.
        is_known = _as_known(known, X)
        models = _models.ask_estimators(estimators, X, y, query, None)
        # Two estimators of one class have the same name.
        names = distinct_names([name for name, _ in models])
        answers = dict(zip(names, (own for _, own in models), strict=True))
        weight, codes = _models.weight_and_groups(y, sample_weight, groups)
        shown = top, averages, confidence_level
        test = _Test(reference, adjust, n_resamples, random_state)
        display = cls._of_answers(answers, is_known, weight, codes, *shown, test)
        return display.plot(ax, **plot_params)

    @classmethod
    @public
    def from_answers(
        cls,
        answers: Mapping[str, Answers],
        *,
        top: int | None = None,
        known: Sequence[Sequence[bool] | np.ndarray] | None = None,
        averages: Sequence[int] = (5,),
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence_level: float = 0.95,
        reference: str | None = None,
        adjust: str | None = "holm",
        n_resamples: int = 2000,
        random_state: RandomStateLike = None,
        ax: Axes | None = None,
        **plot_params: Any,
    ) -> TagErrorDisplay:
        """Draw the errors of the answers of any models.

        Parameters
        ----------
        answers : mapping of str to Answers
            Answers of each model by name.
        top : int, default=None
            As in :meth:`from_estimators`.
        known : sequence of bool sequences, default=None
            One sequence of bool values per sentence, which state whether each token is
            known, as in :meth:`from_estimators`.
        averages, sample_weight, groups, confidence_level : optional
            As in :meth:`from_estimators`.
        reference, adjust, n_resamples, random_state : optional
            As in :meth:`from_estimators`.
        ax : matplotlib Axes, default=None
            Axes on which the errors are drawn. If None, a new figure is created.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

        Returns
        -------
        display : TagErrorDisplay

        Examples
        --------
        >>> from skcalib.plot import TagErrorDisplay
        >>> from skcalib.queries import TagQuery
        >>> proba = [[[0.9, 0.1], [0.3, 0.7]], [[0.6, 0.4]], [[0.2, 0.8]]] * 5
        >>> answers = TagQuery().from_proba([["D", "N"], ["N"], ["N"]] * 5, proba)
        >>> TagErrorDisplay.from_answers({"mine": answers}).label
        ['N', 'D']
        """
        check_type(answers, Mapping, "a mapping of names to Answers", name="answers")
        if not answers:
            raise ParameterError("answers", "is an empty mapping.")
        for name, each in answers.items():
            check_type(each, Answers, f"Answers for {name!r}", name="answers")
        if isinstance(known, (Mapping, Set)):
            raise ParameterTypeError(
                "known",
                "must have a sequence of bool for each sentence. Got "
                f"{type(known).__name__}. Pass words to from_estimators instead.",
            )
        # The last samples may have no answer.
        sizes = [int(each.groups.max(initial=-1)) + 1 for each in answers.values()]
        sizes += [np.size(x) for x in (sample_weight, groups) if x is not None]
        n, is_known = max(sizes), _as_known(known, None)
        weight, codes = as_weights(sample_weight, n), as_groups(groups, n)
        shown = top, averages, confidence_level
        test = _Test(reference, adjust, n_resamples, random_state)
        display = cls._of_answers(answers, is_known, weight, codes, *shown, test)
        return display.plot(ax, **plot_params)

    @classmethod
    def _of_answers(
        cls,
        answers: Mapping[str, Answers],
        known: list[np.ndarray] | None,
        weight: np.ndarray | None,
        groups: np.ndarray | None,
        top: int | None,
        averages: Sequence[int],
        confidence_level: float,
        test: _Test,
    ) -> TagErrorDisplay:
        """Compute the numbers; `weight` and `groups` have one entry per sample."""
        level = check_fraction(confidence_level, name="confidence_level")
        if top is not None:
            check_integer(top, minimum=1, name="top")
        if not is_sequence(averages):
            raise ParameterTypeError(
                "averages", f"must be a sequence of integers. Got {averages!r}."
            )
        for k in averages:
            check_integer(k, minimum=1, name="averages")
        test.check(answers, known=known, sample_weight=weight)
        pairs = {
            name: {
                words: dict(_models.pairs_by_name(part, weight, groups))
                for words, part in _parts_by_words(each, known)
            }
            for name, each in answers.items()
        }
        count = _frequencies(pairs)
        label = list(count)[:top]
        error = {
            name: {
                words: [
                    _models.error_if_enough(part[k], level) if k in part else None
                    for k in label
                ]
                for words, part in parts.items()
            }
            for name, parts in pairs.items()
        }
        display = cls(
            label=label,
            count=np.array([count[each] for each in label]),
            error=error,
            averages=averages,
            reference=test.reference,
            adjust=test.adjust,
        )
        # One warning is about all labels and models.
        warn_of_few(
            found
            for _, _, errors in display._series()
            for found in zip(label, errors, strict=True)
        )
        if test.reference is not None:
            display.comparison = test.compare(answers, label, groups, level)
        return display

    @drawing
    def plot(
        self,
        ax: Axes | None = None,
        *,
        max_labels: int = 25,
        point_kwargs: Mapping[str, Any] | None = None,
    ) -> TagErrorDisplay:
        """Draw the errors.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes on which the errors are drawn. If None, a new figure is created.
        max_labels : int, default=25
            Maximum number of labels that are drawn, in order of decreasing frequency.
            The label of the axis shows the number of all labels. The means do not
            depend on `max_labels`.
        point_kwargs : dict, default=None
            Keyword arguments of matplotlib's ``errorbar``.

        Returns
        -------
        display : TagErrorDisplay
            The display itself.
        """
        limit = check_integer(max_labels, minimum=1, name="max_labels")
        style = _style.line_style(point_kwargs, name="point_kwargs")
        n, sizes = min(limit, len(self.label)), self._sizes()
        # a gap of one label between the labels and the means
        place = np.r_[np.arange(n), n + 0.5 + np.arange(len(sizes))]
        width = min(max(_style.COLUMN, 0.6 + 0.22 * place.size), _style.PAGE)
        ax = _style.take_axes(ax, width, 2.8)
        self.ax_: Any = ax
        self.figure_: Any = ax.figure
        self._label_axes(n, sizes, place)
        # Stripes tell which points belong to one label.
        for k in range(1, n, 2):
            ax.axvspan(k - 0.5, k + 0.5, color="0.96", zorder=0, linewidth=0)
        self.divider_: Any = ax.axvline(
            n - 0.25, color="0.7", linewidth=1, linestyle=":", label="_divider"
        )
        self.point_: dict[tuple[str, str], Any] = {}
        self.bar_: dict[tuple[str, str], Any] = {}
        self.average_: dict[tuple[str, str], Any] = {}
        self.hollow_: dict[str, Any] = {}
        series, compared = list(self._series()), self._compared()
        for k, (name, words, errors) in enumerate(series):
            # The series of a label stand side by side, within 0.6 of its unit.
            here = place + 0.6 * ((k + 0.5) / len(series) - 0.5)
            own = {**self._style(name, words), **style}
            self._draw(name, words, errors[:n], here[:n], own)
            self._draw_means(name, words, _means_of_first(errors, sizes), here[n:])
            if name in compared:
                self._draw_hollow(name, errors[:n], compared[name])
        # a little below 0, where points without an error stand
        ax.set_ylim(bottom=-0.02 * ax.get_ylim()[1])
        _style.name_curves(ax, at_curves=False)
        return self

    def _series(self) -> Iterator[tuple[str, str, Errors]]:
        for name, parts in self.error.items():
            for words, errors in parts.items():
                yield name, words, errors

    def _compared(self) -> dict[str, list[dict[str, Any] | None]]:
        """Return the numbers of all comparisons by model, with adjusted p-values."""
        found = {}
        for name, comparisons in (self.comparison or {}).items():
            values = [each.pvalue for each in comparisons if each is not None]
            # The p-values of a model are adjusted for its labels that are compared.
            adjusted = iter(adjusted_pvalues(np.array(values, float), self.adjust))
            found[name] = [
                None
                if each is None
                else each.to_dict() | {"pvalue_adjusted": float(next(adjusted))}
                for each in comparisons
            ]
        return found

    def _sizes(self) -> list[int]:
        """Return the numbers of labels over which means are computed."""
        # Labels are sorted by frequency: those that do not occur are the last.
        n = int(np.count_nonzero(self.count)) or len(self.label)
        return [*sorted({int(size) for size in self.averages if size < n}), n]

    def _label_axes(self, n_shown: int, sizes: list[int], place: np.ndarray) -> None:
        size = _style.text_size(self.ax_)
        names = [_short(label) for label in self.label[:n_shown]]
        n = len(self.label)
        means = [f"mean of {'all ' if k == sizes[-1] else ''}{k}" for k in sizes]
        ticks = self.ax_.set_xticks(place, [*names, *means], fontsize=size)
        # Turned by 90 degrees, N looks like Z.
        is_short = all(len(name) <= _LONGEST_UPRIGHT for name in names)
        for k, tick in enumerate(ticks):
            tick.label1.set_rotation(0 if is_short and k < n_shown else 90)
        shown = "" if n_shown == n else f" ({n_shown} of {n})"
        self.ax_.set(
            xlabel=f"Most frequent first{shown}",
            ylabel="Calibration error\n(root mean square)",
            xlim=(-0.7, place[-1] + 0.7),
        )

    def _style(self, name: str, words: str) -> dict[str, Any]:
        """Return the style of a series; both parts of a model have one colour."""
        known = self.point_.get((name, "known"))
        if known is None:
            style = _style.next_style(self.ax_)
        else:
            style = {key: getattr(known, f"get_{key}")() for key in _SHARED}
        style |= {"linestyle": "none", "label": legend_text(_said(name, words))}
        if words == "unknown":
            style["markerfacecolor"] = "white"
        return style

    def _draw(
        self, name: str, words: str, errors: Errors, place: np.ndarray, style: dict
    ) -> None:
        """Draw the points and intervals of one series."""
        there = [error is not None for error in errors]
        numbers = [(e.estimate, e.low, e.high) for e in errors if e is not None]
        y, *ends = np.array(numbers).reshape(-1, 3).T
        drawn = _style.draw_points(self.ax_, place[there], y, ends, style)
        self.point_[name, words], self.bar_[name, words] = drawn

    def _draw_again(self, line: Any, x: Any, y: Any, **style: Any) -> Any:
        """Draw other points in the style of a series."""
        style |= {"linestyle": "none", "marker": line.get_marker()}
        return self.ax_.plot(x, y, color=line.get_color(), **style)[0]

    def _draw_means(
        self, name: str, words: str, means: list[float | None], place: np.ndarray
    ) -> None:
        line, there = self.point_[name, words], [mean is not None for mean in means]
        self.average_[name, words] = self._draw_again(
            line,
            place[there],
            np.array(means, float)[there],
            markersize=1.5 * line.get_markersize(),
            markerfacecolor=line.get_markerfacecolor(),
            label="_average",
        )

    def _draw_hollow(self, name: str, errors: Errors, compared: list) -> None:
        """Draw the points without a significant difference again, with a white face."""
        line = self.point_[name, "all"]
        are_same = [
            _verdict(comparison) == 0
            for error, comparison in zip(errors, compared, strict=False)
            if error is not None
        ]
        label = f"{name}: no significant difference from {self.reference}"
        self.hollow_[name] = self._draw_again(
            line,
            # The line has the labels with an error only, in their order.
            *line.get_xydata()[are_same].T,
            markersize=line.get_markersize(),
            markerfacecolor="white",
            zorder=line.get_zorder() + 1,
            label=legend_text(label) if any(are_same) else "_hollow",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers behind the plot, including labels that are not drawn."""
        sizes = self._sizes()
        error: dict[str, dict] = {name: {} for name in self.error}
        average: dict[str, dict] = {name: {} for name in self.error}
        for name, words, errors in self._series():
            error[name][words] = [None if e is None else e.to_dict() for e in errors]
            means = _means_of_first(errors, sizes)
            average[name][words] = dict(zip(sizes, means, strict=True))
        return {
            "label": list(self.label),
            "count": np.asarray(self.count).tolist(),
            "error": error,
            "average": average,
            "reference": self.reference,
            "adjust": self.adjust,
            "comparison": self._compared(),
        }

    def _columns(self) -> dict[str, list]:
        # `pvalue` is the p-value of the comparison with the reference.
        numbers = ("n_pairs", "estimate", "low", "high", "p_value", "plug_in")
        n, tables = len(self.label), []
        compared = self._compared()
        for name, words, errors in self._series():
            table = {"words": [words] * n, "label": self.label}
            table["count"] = np.asarray(self.count).tolist()
            table |= {key: [getattr(e, key, None) for e in errors] for key in numbers}
            if self.comparison is not None:
                found = compared.get(name, [None] * n)
                for key in _COMPARED:
                    # The columns `low` and `high` are the ends of the error.
                    column = f"difference_{key}" if key in ("low", "high") else key
                    table[column] = [each and each[key] for each in found]
            tables.append((name, table))
        return stacked("name", tables)

    def _lines(self) -> list[str]:
        lines = [f"{len(self.label)} labels"]
        for name, words, errors in self._series():
            (mean,) = _means_of_first(errors, self._sizes()[-1:])
            said = "none" if mean is None else f"{mean:.4f}"
            lines.append(f"{_said(name, words)}: mean {said}")
        return lines

    def _in_words(self) -> list[str]:
        sentences = [
            f"{_said(name, words)}: {sentence}"
            for name, words, errors in self._series()
            for sentence in _models.errors_in_words(errors, "labels")
        ]
        for name, compared in self._compared().items():
            signs = [_verdict(each) for each in compared]
            n = len(compared) - compared.count(None)
            sentences.append(
                f"{name} is significantly better calibrated than {self.reference} for "
                f"{signs.count(-1)} of {n} labels, and significantly worse for "
                f"{signs.count(1)} ({_CORRECTIONS[self.adjust]})."
            )
        return sentences


def _said(name: str, words: str) -> str:
    """Return the name of a series."""
    return str(name) if words == "all" else f"{name}, {words} words"


def _short(label: Any) -> str:
    """Return a label as it is written below the axes."""
    text = " ".join(map(str, label)) if isinstance(label, tuple) else label
    return plain_text(short_text(text, _LONGEST_NAME))


def _verdict(compared: dict[str, Any] | None) -> int:
    """Return the sign of the difference of a label if it is significant, and else 0.

    The sign is -1 if the model is significantly better calibrated than the reference.
    """
    if compared and compared["pvalue_adjusted"] < 1 - compared["confidence_level"]:
        return int(np.sign(compared["difference"]))
    return 0


# Errors of labels


def _frequencies(pairs: dict[str, dict[str, dict[Any, Pairs]]]) -> dict[Any, float]:
    """Return the number of positive answers for each label, in decreasing order.

    It is the mean over the models, whose queries may differ.
    """
    total: dict[Any, float] = {}
    for part in (part for parts in pairs.values() for part in parts.values()):
        for label, each in part.items():
            yes = each.indicator()
            n_yes = yes.sum() if each.weight is None else each.weight[yes].sum()
            total[label] = total.get(label, 0.0) + float(n_yes)
    if not total:
        raise ParameterError(
            None, f"needs at least one answer. Got none of {list(pairs)}."
        )
    # The sort is stable, so that ties keep the order of their labels.
    labels = sorted(_models.numbered(list(total))[0], key=lambda label: -total[label])
    return {label: total[label] / len(pairs) for label in labels}


def _means_of_first(errors: Errors, sizes: list[int]) -> list[float | None]:
    """Return the mean estimates of the first labels."""
    found: list[float | None] = []
    for size in sizes:
        some = [error.estimate for error in errors[:size] if error is not None]
        found.append(float(np.mean(some)) if some else None)
    return found


# Known and unknown words


def _as_known(known: Any, X: Any) -> list[np.ndarray] | None:
    """Return for each sentence whether its tokens are known."""
    if known is None:
        return None
    if isinstance(known, (Mapping, Set)):
        known = [[_is_word(word) and word in known for word in s] for s in X]
    if not is_sequence(known):
        raise ParameterTypeError(
            "known",
            "must be a set of words, or have a sequence of bool for each "
            f"sentence. Got {type(known).__name__}.",
        )
    found = []
    for i, tokens in enumerate(known):
        array = np.asarray(tokens)
        if array.ndim != 1 or (array.size and array.dtype != bool):
            raise ParameterError(
                "known",
                "must have a sequence of bool for each sentence. Got "
                f"{tokens!r:.50} for sentence {i}.",
            )
        found.append(array.astype(bool))
    check_same_length(known=found, X=X)
    return found


def _is_word(word: Any) -> bool:
    if not isinstance(word, str):
        raise ParameterTypeError(
            "known",
            "is a set of words, so tokens must be str. Got "
            f"{type(word).__name__} {word!r:.50}. Pass a sequence of bool for "
            "each sentence.",
        )
    return True


def _parts_by_words(
    answers: Answers, known: list[np.ndarray] | None
) -> list[tuple[str, Answers]]:
    """Return the answers about all words, or about known and unknown words."""
    if known is None:
        return [("all", answers)]
    # An answer is about one token or about a span of tokens.
    two = answers.item.ndim == 2
    start = answers.item[:, 0] if two else answers.item
    stop = answers.item[:, 1] if two else answers.item + 1
    lengths = np.array([each.size for each in known], dtype=np.intp)
    # Sentences beyond the last one of `known` have length 0.
    here = np.r_[lengths, 0][np.minimum(answers.groups, lengths.size)]
    short = np.flatnonzero(stop > here)
    if short.size:
        i = short[0]
        raise ParameterError(
            "known",
            f"must have one bool per token. Got {here[i]} for sentence "
            f"{answers.groups[i]}, which has an answer about token {stop[i] - 1}.",
        )
    # Differences of cumulative counts are the known tokens of each answer.
    before = np.r_[0, np.cumsum(np.concatenate([*known, np.zeros(0, dtype=bool)]))]
    first = (np.cumsum(lengths) - lengths)[answers.groups]
    is_known = before[first + stop] - before[first + start] == stop - start
    return [("known", answers.take(is_known)), ("unknown", answers.take(~is_known))]


# Comparisons with a reference


class _Test(NamedTuple):
    """How the other models are compared with a reference, if there is one."""

    reference: Any
    adjust: Any
    n_resamples: Any
    random_state: RandomStateLike

    def check(self, answers: Mapping[str, Answers], **others: Any) -> None:
        """Raise an error unless the reference is a model and `others` are None."""
        check_adjust(self.adjust)
        check_integer(self.n_resamples, minimum=1, name="n_resamples")
        if self.reference is None:
            return
        if self.reference not in answers or len(answers) < 2:
            raise ParameterError(
                "reference",
                "must be the name of one of two or more models. Got "
                f"{self.reference!r}, and the models {list(answers)}.",
            )
        for name, value in others.items():
            if value is not None:
                raise ParameterError(
                    None, f"takes 'reference' or {name!r}, not both. Leave one out."
                )

    def compare(
        self, answers: Mapping[str, Answers], labels: list, groups: Any, level: float
    ) -> dict[str, Comparisons]:
        """Compare every other model with the reference, for each label."""
        of_label = {}
        for name, each in answers.items():
            # The answers of all models are in the order of their samples and places.
            place = each.item.reshape(len(each), -1).T
            ordered = each.take(np.lexsort((*place[::-1], each.groups)))
            of_label[name] = _models.answers_by_name(ordered, ordered.label)
        # What is left are the models to compare.
        base = of_label.pop(self.reference)
        return {
            name: [
                self._compare_one(name, own.get(label), base.get(label), groups, level)
                for label in labels
            ]
            for name, own in of_label.items()
        }

    def _compare_one(
        self, name: str, a: Answers | None, b: Answers | None, groups: Any, level: float
    ) -> CalibrationComparison | None:
        """Compare the answers of two models, or return None if there are too few."""
        if a is None or b is None:
            return None
        if not (np.array_equal(a.groups, b.groups) and np.array_equal(a.item, b.item)):
            raise ParameterError(
                "reference",
                f"needs answers about the same items. {name!r} and "
                f"{self.reference!r} were asked for {a.label.tolist()[0]!r} at "
                f"different items ({len(a)} and {len(b)}). Pass a query whose items do "
                "not depend on the model, such as SpanQuery(spans='all').",
            )
        group = a.groups if groups is None else groups[a.groups]
        if np.unique(group).size < 2:
            return None
        return compare_calibration(
            a.y_true,
            a.y_proba,
            b.y_proba,
            y_true_b=b.y_true,
            groups=group,
            pos_label=1,
            confidence_level=level,
            n_resamples=self.n_resamples,
            random_state=self.random_state,
        )
