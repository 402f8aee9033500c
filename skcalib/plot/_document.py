"""Display of one document: mentions, antecedents and uncertainty.

The axes extend from 0 to 1 and have one row per mention, from top to bottom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._clusterings import as_clustering
from .._errors import ParameterError, ParameterTypeError, public
from .._validation import check_fraction, check_integer
from ..documents import Document
from ..posteriors import AntecedentPosterior
from ..queries._query import last_step, transform_before
from . import _style
from ._base import Display, check_type, drawing, plain_text, short_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Positions of the columns.
_ARC_LEFT, _ARC_RIGHT, _NUMBER, _MENTION = 0.0, 0.14, 0.165, 0.36
_BAR_LEFT, _BAR_RIGHT, _CHOICE = 0.66, 0.79, 0.80

_TEXT: dict[str, Any] = {"va": "center_baseline", "fontsize": 8}
_SINGLE = "0.35"  # entities of a single mention, and other entities together
_HEADING = "0.45"
_ALARM = "#b2182b"

# Largest number of choices in a row, and their smallest probability.
_MOST_CHOICES, _LEAST_CHOICE = 3, 0.1

# Smallest probability of an entity that has its own part of a bar.
_LEAST_PART = 0.02

# Longer names would run out of the figure.
_LONGEST_NAME = 100


@dataclass(repr=False, eq=False, kw_only=True)
class DocumentDisplay(Display):
    """Mentions of one document, their antecedents, and their uncertainty.

    Each mention has a row, in the order of the text. From left to right, a row contains
    the following parts:

    - arcs to the possible antecedents, with stronger lines for higher probabilities;

    - the index of the mention and its words, with the words around it in the sentence;
      the mention has the colour of its predicted entity (grey for an entity with a
      single mention);

    - a bar that shows the probability of NEW (the mention starts a new entity; white)
      and of each predicted entity;

    - the most probable antecedents (or NEW) with their probabilities.

    Rows with an uncertain entity are marked. If the true entities are given, rows with
    an error are marked as well.

    Create the display with :meth:`from_estimator` or :meth:`from_posterior`; the
    parameters are stored as attributes.

    Parameters
    ----------
    mention : sequence of str
        Words of each mention.
    before : sequence of str
        Words before each mention in its sentence.
    after : sequence of str
        Words after each mention in its sentence.
    sentence : array-like of shape (n_mentions,), int
        Index of the sentence of each mention.
    proba : array-like of shape (n_mentions, n_mentions)
        Row i contains the probabilities of the antecedents of mention i, and the
        probability of NEW on the diagonal.
    entity : array-like of shape (n_mentions,)
        Label of the predicted entity of each mention.
    true_entity : array-like of shape (n_mentions,), default=None
        Label of the true entity of each mention.
    name : str, default=None
        Name of the document, for the title.

    Attributes
    ----------
    arc_ : matplotlib Artist
        Collection of the arcs.
    bar_ : matplotlib container
        Bars of the probabilities.
    mention_ : list of matplotlib Artist
        Text of each mention that is shown.
    choice_ : list of matplotlib Artist
        Text of the most probable antecedents of each mention that is shown.
    shown_ : ndarray of shape (n_shown,), int
        Indices of the mentions that are shown.
    ax_ : matplotlib Axes
        Axes with the drawing.
    figure_ : matplotlib Figure
        Figure that contains the axes.

    See Also
    --------
    skcalib.posteriors.AntecedentPosterior : Posterior over clusterings defined by the
        scores.
    ReliabilityDisplay : Calibration of the probabilities of all pairs.

    Notes
    -----
    The probability that a mention belongs to an entity is the sum of the probabilities
    of the antecedents in this entity. The entities of all other mentions are taken from
    the prediction. The uncertainty of a mention is one minus the probability of its
    most probable entity (or NEW).

    :meth:`frame` has one row per mention. Its columns are the keys of
    :meth:`to_dict`:

    - 'mention', 'sentence' and 'entity';
    - 'antecedent', the index of the most probable antecedent (None for NEW), and
      'antecedent_proba', its probability;
    - 'new_proba', the probability of NEW;
    - 'uncertainty', the probability of all entities other than the most probable one;
    - if the true entities are given, 'right' (whether the most probable antecedent or
      NEW is correct), 'true_proba' (the total probability of all correct choices) and
      'true_entity'.

    Examples
    --------
    >>> from skcalib import SampledCorefPairs
    >>> from skcalib.datasets import make_coref_documents
    >>> from skcalib.plot import DocumentDisplay
    >>> from skcalib.posteriors import AntecedentPosterior
    >>> documents, y, scores = make_coref_documents(
    ...     3, return_scores=True, random_state=0
    ... )
    >>> display = DocumentDisplay.from_posterior(
    ...     documents[0], AntecedentPosterior(scores[:1]), y_true=y[0]
    ... )
    >>> display.mention[:3]
    ['the king', 'the company', 'Bo']
    >>> display.to_dict()["new_proba"][0]
    1.0
    """

    mention: Sequence[str]
    before: Sequence[str]
    after: Sequence[str]
    sentence: ArrayLike
    proba: ArrayLike
    entity: ArrayLike
    true_entity: ArrayLike | None = None
    name: str | None = None

    @classmethod
    @public
    def from_estimator(
        cls,
        estimator: Any,
        document: Document,
        *,
        y_true: ArrayLike | None = None,
        ax: Axes | None = None,
        **plot_params: Any,
    ) -> DocumentDisplay:
        """Draw the predictions of a fitted model for a document.

        Parameters
        ----------
        estimator : fitted estimator
            Estimator whose samples are documents: a pipeline that begins with
            AntecedentFeatures, or a search or TemperatureScaling that contains such a
            pipeline. The entities that it predicts are shown.
        document : Document
            Document with mentions.
        y_true : array-like of shape (n_mentions,), default=None
            True entities, such as ``document.entities`` if they are known.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

        Returns
        -------
        display : DocumentDisplay

        Examples
        --------
        >>> from sklearn.pipeline import make_pipeline
        >>> from skcalib import AntecedentRanker
        >>> from skcalib.coref import AntecedentFeatures
        >>> from skcalib.datasets import make_coref_documents
        >>> from skcalib.plot import DocumentDisplay
        >>> X, y = make_coref_documents(30, random_state=0)
        >>> pipe = make_pipeline(AntecedentFeatures(2**14), AntecedentRanker())
        >>> pipe = pipe.fit(X[1:], y[1:])
        >>> display = DocumentDisplay.from_estimator(pipe, X[0], y_true=y[0])
        >>> display.name
        'generated-0'
        """
        _check_document(document)
        final = last_step(estimator)
        if not hasattr(final, "posterior"):
            raise ParameterTypeError(
                "estimator",
                "must have a posterior, as AntecedentRanker does. Got "
                f"{type(final).__name__}.",
            )
        posterior = final.posterior(transform_before(estimator, [document]))
        entity = estimator.predict([document])[0]
        return cls._from(document, posterior, entity, y_true).plot(ax, **plot_params)

    @classmethod
    @public
    def from_posterior(
        cls,
        document: Document,
        posterior: AntecedentPosterior,
        *,
        entity: ArrayLike | None = None,
        y_true: ArrayLike | None = None,
        ax: Axes | None = None,
        **plot_params: Any,
    ) -> DocumentDisplay:
        """Draw the posterior of a document from any model.

        Parameters
        ----------
        document : Document
            Document with mentions.
        posterior : AntecedentPosterior
            Posterior of this document alone, such as ``posterior[i : i + 1]``.
        entity : array-like of shape (n_mentions,), default=None
            Predicted entities. If None, the entities of the best antecedents are used.
        y_true : array-like of shape (n_mentions,), default=None
            True entities.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **plot_params
            Keyword arguments passed to :meth:`plot`.

        Returns
        -------
        display : DocumentDisplay

        Examples
        --------
        >>> from skcalib.documents import Document, Mention, Sentence
        >>> from skcalib.plot import DocumentDisplay
        >>> from skcalib.posteriors import AntecedentPosterior
        >>> words = Sentence(["Ada", "saw", "Bo", "and", "she", "left"])
        >>> mentions = [Mention(0, 1), Mention(2, 3), Mention(4, 5)]
        >>> document = Document("toy", None, [words], mentions, range(3))
        >>> scores = [[0, 0, 0], [-3, 1, 0], [2, 1, 0]]
        >>> posterior = AntecedentPosterior([scores])
        >>> display = DocumentDisplay.from_posterior(document, posterior)
        >>> display.to_dict()["antecedent"]
        [None, None, 0]
        """
        _check_document(document)
        return cls._from(document, posterior, entity, y_true).plot(ax, **plot_params)

    @classmethod
    def _from(
        cls, document: Document, posterior: Any, entity: Any, y_true: Any
    ) -> DocumentDisplay:
        n = len(document.mentions)
        if not isinstance(posterior, AntecedentPosterior) or len(posterior) != 1:
            kind = type(posterior).__name__
            if hasattr(posterior, "__len__"):
                kind += f" of length {len(posterior)}"
            raise ParameterError(
                None, f"needs an AntecedentPosterior of one document. Got {kind}."
            )
        if posterior.lengths[0] != n:
            raise ParameterError(
                None,
                f"needs a posterior of the {n} mentions of the document. Got a "
                f"posterior of {posterior.lengths[0]} mentions.",
            )
        entity = posterior.map_clusters()[0] if entity is None else entity
        true = None if y_true is None else as_clustering(y_true, n, 0, "y_true")
        return cls(
            **_texts(document),
            proba=posterior.antecedent_proba()[0],
            entity=as_clustering(entity, n, 0, "entity"),
            true_entity=true,
            name=document.id,
        )

    @drawing
    def plot(
        self,
        ax: Axes | None = None,
        *,
        mentions: tuple[int, int] | None = None,
        sentences: tuple[int, int] | None = None,
        max_mentions: int = 40,
        min_proba: float = 0.1,
        uncertain: float = 0.2,
        context: int = 30,
    ) -> DocumentDisplay:
        """Draw the mentions.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on, which should be wide. If None, a new figure of sufficient
            height is created.
        mentions : tuple of (int, int), default=None
            Range (start, stop) of the indices of the mentions to show. If None, all
            mentions are shown.
        sentences : tuple of (int, int), default=None
            Range (start, stop) of the sentences whose mentions are shown. If None,
            mentions of all sentences are shown.
        max_mentions : int, default=40
            Largest number of mentions to show. The title shows the indices of the first
            and the last mention that are drawn.
        min_proba : float, default=0.1
            Smallest probability of a link that is drawn as an arc.
        uncertain : float, default=0.2
            Mentions are marked if the probability that they do not belong to the most
            probable entity (or NEW) is above this value.
        context : int, default=30
            Number of characters of the sentence to show before a mention. The mention
            and the words after it together have up to 1.5 times as many characters.

        Returns
        -------
        display : DocumentDisplay
            The display itself.
        """
        limit = check_integer(max_mentions, minimum=1, name="max_mentions")
        check_fraction(min_proba, name="min_proba")
        check_fraction(uncertain, name="uncertain")
        check_integer(context, minimum=5, name="context")
        self.shown_: np.ndarray = self._chosen(mentions, sentences)[:limit]
        n = self.shown_.size
        ax = _style.take_axes(ax, 12, 0.9 + 0.24 * n)
        self.ax_: Any = ax
        self.figure_: Any = ax.figure
        ax.set(xlim=(0, 1), ylim=(n - 0.4, -1.6), xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        ax.set_title(self._title(), loc="left", fontsize="medium")
        for row in np.flatnonzero(np.asarray(self.sentence)[self.shown_] % 2 == 1):
            ax.axhspan(row - 0.5, row + 0.5, color="0.955", zorder=0, linewidth=0)
        # Entities of one mention have no entry.
        color = _colors(np.asarray(self.entity), self.shown_)
        self.arc_: Any = self._draw_arcs(color, min_proba)
        self.mention_: list[Any] = self._draw_words(color, context)
        self.bar_: Any = self._draw_bars(color)
        self.choice_: list[Any] = self._draw_choices(uncertain)
        return self

    def _chosen(self, mentions: Any, sentences: Any) -> np.ndarray:
        sentence = np.asarray(self.sentence)
        start, stop = _check_range(mentions, len(self.mention), "mentions")
        # Sentences after the last mention are not known here.
        n_sentences = int(sentence.max(initial=-1)) + 1
        first, last = _check_range(sentences, n_sentences, "sentences")
        inside = (sentence[start:stop] >= first) & (sentence[start:stop] < last)
        chosen = start + np.flatnonzero(inside)
        if chosen.size == 0:
            raise ParameterError(None, "needs at least one mention to show. Got none.")
        return chosen

    def _title(self) -> str:
        name = "" if self.name is None else f"{short_text(self.name, _LONGEST_NAME)}: "
        n = len(self.mention)
        shown = f"mentions {self.shown_[0]} to {self.shown_[-1]} of {n}"
        if self.shown_.size == n:
            shown = "1 mention" if n == 1 else f"{n} mentions"
        return plain_text(f"{name}{shown}")

    def _text(self, x: float, row: int, text: str, **style: Any) -> Any:
        return self.ax_.text(x, row, text, **{**_TEXT, **style})

    def _heading(self, x: float, text: str, align: str) -> None:
        self._text(x, -1, text, ha=align, va="center", color=_HEADING, clip_on=True)

    def _draw_arcs(self, color: dict[Any, Any], min_proba: float) -> Any:
        """Draw arcs to antecedents; arcs to hidden mentions end above the first row."""
        from matplotlib.collections import PathCollection
        from matplotlib.colors import to_rgba
        from matplotlib.path import Path

        self._heading(_ARC_LEFT, "antecedents", "left")
        proba, entity = np.asarray(self.proba), np.asarray(self.entity)
        place = {j: row for row, j in enumerate(self.shown_.tolist())}
        arcs = [
            (row, place.get(k, -1), float(proba[j, k]), color.get(entity[k], _SINGLE))
            for j, row in place.items()
            for k in np.flatnonzero(proba[j, :j] >= min_proba).tolist()
        ]
        arcs.sort(key=lambda arc: arc[2])  # the most probable on top
        longest = max((row - to for row, to, _, _ in arcs), default=1)
        paths = []
        for row, to, _, _ in arcs:
            # A cubic curve reaches three quarters of the way to its control points.
            reach = (_ARC_RIGHT - _ARC_LEFT) * ((row - to) / longest) ** 0.5
            x = _ARC_RIGHT - reach / 0.75
            points = [(_ARC_RIGHT, row), (x, row), (x, to), (_ARC_RIGHT, to)]
            paths.append(Path(points, [Path.MOVETO] + 3 * [Path.CURVE4]))
        collection = PathCollection(
            paths,
            facecolors="none",
            edgecolors=[to_rgba(c, 0.15 + 0.85 * p) for _, _, p, c in arcs],
            linewidths=[0.4 + 2.4 * p for _, _, p, _ in arcs],
            zorder=2,
        )
        self.ax_.add_collection(collection, autolim=False)
        if any(to < 0 for _, to, _, _ in arcs):
            self._heading(_NUMBER, "…", "right")
        return collection

    def _draw_words(self, color: dict[Any, Any], context: int) -> list[Any]:
        """Draw the number and the words of each mention."""
        self._heading(_MENTION, "mention, in its sentence", "left")
        found, entity = [], np.asarray(self.entity)
        for row, j in enumerate(self.shown_.tolist()):
            own = color.get(entity[j], _SINGLE)
            self._text(_NUMBER, row, str(j), ha="right", color=own)
            words = self.before[j], self.mention[j], self.after[j]
            before, mention, after = _cut(*words, context)
            if before:
                self._text(_MENTION - 0.004, row, before, ha="right", color="0.5")
            bold = {"color": own, "fontweight": "bold"}
            found.append(self._text(_MENTION, row, mention, **bold))
            if after:
                # The end of the mention is known only after it is drawn.
                style = {"color": "0.5", "annotation_clip": False, **_TEXT}
                following = self.ax_.annotate(
                    f" {after}", (1, row), xycoords=(found[-1], "data"), **style
                )
                following.set_in_layout(False)
        return found

    def _draw_bars(self, color: dict[Any, Any]) -> Any:
        """Draw how the probability of a mention is divided among NEW and entities."""
        self._heading(_BAR_LEFT, "NEW", "left")
        self._heading(_BAR_RIGHT, "entities", "right")
        entities, masses = self._masses()
        parts = []
        for row, j in enumerate(self.shown_.tolist()):
            left, rest = float(np.asarray(self.proba)[j, j]), 0.0
            parts.append((row, 0.0, left, "white"))
            for k in np.argsort(-masses[j], kind="stable").tolist():
                mass = float(masses[j, k])
                if mass < _LEAST_PART or entities[k] not in color:
                    rest += mass
                    continue
                parts.append((row, left, mass, color[entities[k]]))
                left += mass
            # Small entities and single mentions share the grey end of the bar.
            parts.append((row, left, rest, "0.75"))
        rows, lefts, widths, colors = zip(*parts, strict=True)
        unit = _BAR_RIGHT - _BAR_LEFT
        width, place = unit * np.array(widths), _BAR_LEFT + unit * np.array(lefts)
        style = {"height": 0.66, "edgecolor": "0.4", "linewidth": 0.4, "zorder": 2}
        return self.ax_.barh(rows, width, left=place, color=colors, **style)

    def _masses(self) -> tuple[list[Any], np.ndarray]:
        """Return the entities, and the probability that each mention joins each."""
        names, code = np.unique(np.asarray(self.entity), return_inverse=True)
        # The diagonal is NEW, and belongs to no entity.
        links = np.tril(np.asarray(self.proba), -1)
        return names.tolist(), links @ np.equal.outer(code, np.arange(names.size))

    def _draw_choices(self, uncertain: float) -> list[Any]:
        """Write the most probable choices, and the true choices of wrong mentions."""
        self._heading(_CHOICE, "most probable; bold: uncertain", "left")
        numbers = self._numbers()
        found = []
        for row, j in enumerate(self.shown_.tolist()):
            proba = np.asarray(self.proba)[j, : j + 1]
            order = np.argsort(-proba, kind="stable")[:_MOST_CHOICES].tolist()
            # At least the best choice is written.
            some = [k for k in order if proba[k] >= _LEAST_CHOICE] or order[:1]
            choices = [f"{'NEW' if k == j else k} {_short(proba[k])}" for k in some]
            style = {"color": "0.45"}
            if numbers["uncertainty"][j] > uncertain:
                style = {"color": "black", "fontweight": "bold"}
            found.append(self._text(_CHOICE, row, "  ".join(choices), **style))
            if self.true_entity is not None and not numbers["right"][j]:
                true = np.asarray(self.true_entity)
                earlier = np.flatnonzero(true[:j] == true[j])
                said = f"true: {earlier[-1] if earlier.size else 'NEW'} "
                said += _short(numbers["true_proba"][j])
                self._text(1, row, said, ha="right", color=_ALARM)
        return found

    def _numbers(self) -> dict[str, Any]:
        """Return the numbers of each mention, as arrays."""
        proba = np.asarray(self.proba)
        n = len(proba)
        best = proba.argmax(axis=1) if n else np.zeros(0, dtype=np.intp)
        most_probable = self._masses()[1].max(axis=1, initial=0)
        found: dict[str, Any] = {
            "antecedent": best,
            "antecedent_proba": proba[np.arange(n), best],
            "new_proba": proba.diagonal().copy(),
            "uncertainty": 1 - np.maximum(most_probable, proba.diagonal()),
        }
        if self.true_entity is not None:
            true = np.asarray(self.true_entity)
            right = np.tril(np.equal.outer(true, true), -1)
            # NEW is right for the first mention of a true entity.
            first = ~right.any(axis=1)
            right[first, first] = True
            found["right"] = right[np.arange(n), best]
            found["true_proba"] = np.where(right, proba, 0).sum(axis=1)
        return found

    def _columns(self) -> dict[str, Any]:
        numbers = self._numbers()
        best = enumerate(numbers.pop("antecedent").tolist())
        columns = {
            "mention": list(self.mention),
            "sentence": np.asarray(self.sentence),
            "entity": np.asarray(self.entity),
            "antecedent": [None if j == k else k for j, k in best],
            **numbers,
        }
        if self.true_entity is not None:
            columns["true_entity"] = np.asarray(self.true_entity)
        return columns

    def frame(self) -> Any:
        """Return a DataFrame with one row per mention."""
        frame = super().frame()
        if hasattr(frame, "astype"):  # for polars, numbers and None are integers
            frame["antecedent"] = frame["antecedent"].astype("Int64")
        return frame

    def _lines(self) -> list[str]:
        n = len(self.mention)
        n_entities = np.unique(self.entity).size
        name = "" if self.name is None else f"{self.name!r}, "
        return [f"{name}{n} mentions, {n_entities} entities"]

    def _in_words(self) -> list[str]:
        total = float(self._numbers()["uncertainty"].sum())
        return [
            f"About {total:.1f} of the {len(self.mention)} mentions are expected not "
            "to belong to their most probable entity, if the probabilities are right "
            "and the other mentions are as predicted."
        ]


def _colors(entity: np.ndarray, shown: np.ndarray) -> dict[Any, Any]:
    """Return a colour for each entity of several mentions, those shown first."""
    from matplotlib import colormaps

    # strong colours first; grey is reserved for single mentions
    order = [*range(0, 20, 2), *range(1, 20, 2)]
    palette = [colormaps["tab20"](k) for k in order if k not in (14, 15)]
    names, count = np.unique(entity, return_counts=True)
    several = set(names[count > 1].tolist())
    seen = [e for e in [*entity[shown].tolist(), *entity.tolist()] if e in several]
    return {
        name: palette[k % len(palette)] for k, name in enumerate(dict.fromkeys(seen))
    }


def _cut(before: str, mention: str, after: str, context: int) -> tuple[str, str, str]:
    """Return the words of a row, with each part cut to its space."""
    if len(before) > context:
        before = f"…{before[1 - context :]}"
    space = context + context // 2
    # the end of a long mention is less informative than its beginning
    mention = short_text(mention, max(space - 10, context))
    after = short_text(after, max(space - len(mention), 1))
    return plain_text(before), plain_text(mention), plain_text(after)


def _short(proba: float) -> str:
    """Return a probability with two digits."""
    return f"{proba:.2f}".removeprefix("0")


def _check_document(document: Any) -> None:
    check_type(document, Document, "a Document", name="document")
    if not document.mentions:
        raise ParameterError("document", "must have at least one mention. Got none.")


def _texts(document: Document) -> dict[str, Any]:
    """Return the words before, in and after each mention, and its sentence."""
    words = [word for sentence in document.sentences for word in sentence.form]
    ends = np.cumsum([len(sentence) for sentence in document.sentences])
    found: dict[str, Any] = {"before": [], "mention": [], "after": [], "sentence": []}
    for j, each in enumerate(document.mentions):
        if each.end > len(words):
            raise ParameterError(
                "document",
                f"must have mentions within the document. Mention {j} ends at "
                f"{each.end}, and the document has {len(words)} words.",
            )
        # The sentence of a mention is the first one that ends after its start.
        s = int(np.searchsorted(ends, each.start, side="right"))
        start = int(ends[s]) - len(document.sentences[s])
        found["before"].append(" ".join(words[start : each.start]))
        found["mention"].append(" ".join(words[each.start : each.end]))
        # A mention may end in the next sentence, and has no words after it then.
        found["after"].append(" ".join(words[each.end : max(int(ends[s]), each.end)]))
        found["sentence"].append(s)
    return {**found, "sentence": np.array(found["sentence"], dtype=np.intp)}


def _check_range(value: Any, n: int, name: str) -> tuple[int, int]:
    if value is None:
        return 0, n
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ParameterTypeError(name, f"must be (start, stop). Got {value!r}.")
    start, stop = (check_integer(each, minimum=0, name=name) for each in value)
    if not start < stop or start >= n:
        problem = f"must be (start, stop), from 0 to {n}. Got {value!r}."
        raise ParameterError(name, problem)
    return start, stop
