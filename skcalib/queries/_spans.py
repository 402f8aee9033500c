"""Questions for entities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._entities import SCHEMES, EntityEvents, find_entities, read_tags
from .._validation import check_choice, check_integer, is_collection, is_integer
from ..metrics._pairs import as_labels, label_array, out_of_range
from ._answers import Answers, last_step, transform_before
from ._classes import columns_of
from ._sentences import check_posterior, flat_tags

# Spans that are put to a posterior at once.
_AT_ONCE = 200_000


@dataclass(frozen=True)
class SpanQuery:
    """Ask a tagger whether some tokens in a row are exactly one entity.

    Parameters
    ----------
    label : str, default=None
        Entity label that is asked for. None: all of them.
    scheme : {'BIO', 'BILOU'}, default='BIO'
        What the tags mean. 'BIO' (IOB2): B-PER begins an entity, I-PER goes on with it.
        'BILOU': U-PER is an entity of one token; longer ones are B-PER, I-PER, L-PER.
    spans : {'predicted', 'all'}, default='predicted'
        Ask for the entities in the tagger's prediction, or for all spans of up to
        `max_length` tokens and each label. Gold entities have no part in the choice:
        asking where the answer is known to be yes would make every model look shy.
    max_length : int, default=None
        Longest span that is asked for, in tokens. 'all' needs it.

    See Also
    --------
    TagQuery : The same for the tags of tokens.
    skcalib.posteriors.LinearChainPosterior.span_marginals : What is computed.
    skcalib.scorers.make_query_scorer : A scorer from a query and a metric.

    Notes
    -----
    The probability is exact: that of all taggings of the sentence with the entity,
    neither shorter nor longer. Tokens s to t are an entity of label L if

    - in BIO, s has B-L, the tokens after it up to t have I-L, and token t + 1, if there
      is one, has anything but I-L;
    - in BILOU, s = t has U-L, or s has B-L, t has L-L and the tokens between have I-L.

    The same holds for the labels in y, for predictions, and for every tagging that the
    posterior gives a probability to. So tags that fit no entity (I-L after O, after an
    entity of another label or at the start; in BILOU a B-L that no L-L closes) are part
    of no entity, and are not mended. In y of IOB1, where B- stands between two entities
    only, nearly nothing would be one.

    In the answers `label` is the entity label, and `item` has two columns, the first
    token of the span and the one behind its last, so that the span is
    ``tokens[start:stop]``. A tag without a label, such as B, has the label ''. A label
    whose tags the model has never seen is in no prediction; among all spans it is asked
    for with probability 0, counted in `n_unseen`. There may be no answer at all, where
    nothing is predicted.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.posteriors import LinearChainPosterior
    >>> from skcalib.queries import SpanQuery
    >>> scores = [[[0, 2, 0], [1, 0, 2], [2, 0, 1]]]  # O, B-PER, I-PER
    >>> moves = [[0, 0, -np.inf], [0, 0, 1], [0, 0, 1]]
    >>> posterior = LinearChainPosterior(scores, moves)
    >>> gold, classes = [["B-PER", "I-PER", "O"]], ["O", "B-PER", "I-PER"]
    >>> answers = SpanQuery().from_posterior(gold, posterior, classes)
    >>> answers.item.tolist(), answers.label.tolist()
    ([[0, 2]], ['PER'])
    >>> answers.y_true, answers.y_proba.round(2)
    (array([1]), array([0.41]))
    >>> query = SpanQuery(spans="all", max_length=3)
    >>> answers = query.from_posterior(gold, posterior, classes)
    >>> answers.item.tolist()
    [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    >>> answers.y_proba.round(2)
    array([0.09, 0.41, 0.36, 0.03, 0.02, 0.07])

    From a model without a posterior, a list of (start, stop, label, probability) for
    each sentence is enough:

    >>> SpanQuery().from_proba(gold, [[(0, 2, "PER", 0.7)]]).y_true
    array([1])
    """

    label: str | None = None
    scheme: str = "BIO"
    spans: str = "predicted"
    max_length: int | None = None

    def __post_init__(self) -> None:
        caller = "SpanQuery"
        if self.label is not None and not isinstance(self.label, str):
            raise TypeError(
                "The 'label' parameter of SpanQuery must be a str such as 'PER', or "
                f"None. Got {self.label!r} instead."
            )
        check_choice(self.scheme, tuple(SCHEMES), name="scheme", caller=caller)
        check_choice(self.spans, ("predicted", "all"), name="spans", caller=caller)
        if self.max_length is not None:
            check_integer(self.max_length, minimum=1, name="max_length", caller=caller)
        elif self.spans == "all":
            raise ValueError(
                "spans='all' of SpanQuery needs 'max_length', the longest span in "
                "tokens. Got None."
            )

    def __call__(self, estimator: Any, X: Any, y: Any) -> Answers:
        """Ask a fitted tagger.

        Parameters
        ----------
        estimator : fitted tagger with a posterior method
            Or a pipeline or search object that ends in one.
        X : sequence of sentences
            Sentences of tokens.
        y : sequence of label sequences
            True tags.

        Returns
        -------
        answers : Answers
        """
        tagger = last_step(estimator)
        if not hasattr(tagger, "posterior"):
            raise ValueError(
                "The 'estimator' parameter of SpanQuery must have a posterior method. "
                f"Got {type(tagger).__name__}; if it gives probabilities of entities "
                "in its own way, pass them to from_proba."
            )
        X = transform_before(estimator, X)
        predicted = tagger.predict(X) if self.spans == "predicted" else None
        posterior = tagger.posterior(X)
        return self._ask(y, posterior, tagger.classes_, predicted, "SpanQuery")

    def from_posterior(self, y_true: Any, posterior: Any, classes: Any) -> Answers:
        """Ask a posterior over taggings.

        Parameters
        ----------
        y_true : sequence of label sequences
            True tags.
        posterior : LinearChainPosterior
            Over the taggings of the same sentences. Its most probable tagging is the
            prediction.
        classes : array-like of shape (n_tags,)
            Labels of the tag indices.

        Returns
        -------
        answers : Answers
        """
        caller = "SpanQuery.from_posterior"
        return self._ask(y_true, posterior, classes, None, caller)

    def from_proba(self, y_true: Any, proba: Any, classes: Any = None) -> Answers:
        """Ask probabilities of spans from anywhere, of a neural tagger say.

        Parameters
        ----------
        y_true : sequence of label sequences
            True tags.
        proba : sequence with an entry for each sentence
            An entry is a list of (start, stop, label, probability): the first token,
            the one behind the last, the entity label, and the probability that these
            tokens are exactly one entity of this label. They are the spans that are
            asked for, except those of another label than `label` or longer than
            `max_length`.
        classes : None
            Ignored; other queries have it.

        Returns
        -------
        answers : Answers
        """
        caller = "SpanQuery.from_proba"
        tags, lengths = flat_tags(y_true, proba, "proba", caller)
        rows = [
            (i, *row)
            for i, entry in enumerate(proba)
            for row in _read_spans(i, entry, lengths[i], caller)
        ]
        columns = list(zip(*rows, strict=True)) if rows else [(), (), (), (), ()]
        i, start, stop, names, q = columns
        gold = self._gold(tags, lengths, caller)
        labels = sorted({*names, *gold.labels})
        code = np.array([labels.index(name) for name in names], dtype=np.intp)
        places = [np.array(column, dtype=np.intp) for column in (i, start, stop)]
        asked = _Spans(places[0], places[1], places[2], code)
        kept = self._wanted(asked, labels)
        q = np.array(q, dtype=np.float64)[kept]
        answers = _answers(asked.take(kept), labels, q, gold)
        return replace(answers, y_proba=np.clip(answers.y_proba, 0, 1))

    def _ask(
        self, y_true: Any, posterior: Any, classes: Any, predicted: Any, caller: str
    ) -> Answers:
        tags, lengths = flat_tags(y_true, posterior, "posterior", caller)
        check_posterior(posterior, lengths, caller)
        y = as_labels(label_array(tags), name="y_true", caller=caller)
        order, _ = columns_of(y, posterior.n_tags, classes, caller)
        order = order.tolist()
        meaning = read_tags(order, self.scheme, "classes", caller)
        gold = self._gold(tags, lengths, caller)
        known = {label for prefix, label in meaning.values() if prefix != "O"}
        labels = [*sorted(known), *sorted(set(gold.labels) - known)]
        if self.label is not None and self.label not in labels:
            raise ValueError(
                "The 'label' parameter of SpanQuery must be an entity label of the "
                f"model or in y, {labels}. Got {self.label!r}."
            )
        if self.spans == "all":
            asked = self._all_spans(lengths, labels)
        else:
            if predicted is None:
                predicted = [[order[k] for k in path] for path in posterior.viterbi()]
            found = [
                (i, *entity)
                for i, path in enumerate(predicted)
                for entity in find_entities([meaning[tag] for tag in path], self.scheme)
            ]
            asked = _Spans.of(found, labels)
        asked = asked.take(self._wanted(asked, labels))
        events = EntityEvents([meaning[tag] for tag in order], self.scheme)
        q = _probabilities(asked, labels, events, posterior)
        answers = _answers(asked, labels, q, gold)
        n_unseen = int((asked.label >= len(known)).sum())
        return replace(answers, n_unseen=n_unseen)

    def _gold(self, tags: list, lengths: np.ndarray, caller: str) -> _Gold:
        meaning = read_tags(tags, self.scheme, "y_true", caller, lengths.tolist())
        ends = np.cumsum(lengths).tolist()
        read = [meaning[tag] for tag in tags]
        found = [
            (i, *entity)
            for i, (a, b) in enumerate(zip([0, *ends[:-1]], ends, strict=True))
            for entity in find_entities(read[a:b], self.scheme)
        ]
        names = {label for prefix, label in meaning.values() if prefix != "O"}
        return _Gold(found, sorted(names), lengths)

    def _wanted(self, asked: _Spans, labels: list[str]) -> np.ndarray:
        """Return which spans are of the label and length that is asked for."""
        wanted = np.ones(asked.start.size, dtype=bool)
        if self.label is not None:
            name = self.label
            wanted &= asked.label == (labels.index(name) if name in labels else -1)
        if self.max_length is not None:
            wanted &= asked.stop - asked.start <= self.max_length
        return wanted

    def _all_spans(self, lengths: np.ndarray, labels: list[str]) -> _Spans:
        """Return all spans, in the order of their start, stop and label."""
        assert self.max_length is not None
        sentence = np.repeat(np.arange(lengths.size), lengths)
        token = np.arange(sentence.size) - (np.cumsum(lengths) - lengths)[sentence]
        n = np.minimum(self.max_length, lengths[sentence] - token)
        start, sentence = np.repeat(token, n), np.repeat(sentence, n)
        step = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
        names = np.arange(len(labels))
        if self.label is not None:
            names = names[[labels.index(self.label)]]
        return _Spans(
            sentence=np.repeat(sentence, names.size),
            start=np.repeat(start, names.size),
            stop=np.repeat(start + step + 1, names.size),
            label=np.tile(names, start.size),
        )


@dataclass(frozen=True)
class _Spans:
    """Spans of several sentences; `label` are places in a list of labels."""

    sentence: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    label: np.ndarray

    @classmethod
    def of(cls, found: list[tuple[int, int, int, str]], labels: list[str]) -> _Spans:
        place = {label: k for k, label in enumerate(labels)}
        rows = [(i, start, stop, place[label]) for i, start, stop, label in found]
        return cls(*np.array(rows, dtype=np.intp).reshape(-1, 4).T)

    def take(self, rows: np.ndarray) -> _Spans:
        columns = (self.sentence, self.start, self.stop, self.label)
        return _Spans(*(column[rows] for column in columns))


@dataclass(frozen=True)
class _Gold:
    """The true entities, and all labels in the tags."""

    found: list[tuple[int, int, int, str]]
    labels: list[str]
    lengths: np.ndarray

    def has(self, asked: _Spans, labels: list[str]) -> np.ndarray:
        """Return which spans are true entities."""
        true = _Spans.of(self.found, labels)
        longest = int(self.lengths.max()) + 1

        def key(spans: _Spans) -> np.ndarray:
            first = (np.cumsum(self.lengths) - self.lengths)[spans.sentence]
            place = (first + spans.start) * longest + spans.stop - spans.start
            return place * len(labels) + spans.label

        return np.isin(key(asked), key(true))


def _answers(asked: _Spans, labels: list[str], q: np.ndarray, gold: _Gold) -> Answers:
    names = label_array(labels[k] for k in asked.label.tolist())
    return Answers(
        y_true=gold.has(asked, labels).astype(np.int64),
        y_proba=q,
        groups=asked.sentence,
        item=np.column_stack([asked.start, asked.stop]),
        label=names,
    )


def _probabilities(
    asked: _Spans, labels: list[str], events: EntityEvents, posterior: Any
) -> np.ndarray:
    """Return the probability of each span; they are in the order of sentences."""
    q = np.zeros(asked.start.size)
    n = len(posterior)
    ends = np.searchsorted(asked.sentence, np.arange(n + 1))
    if q.size > _AT_ONCE:
        # for its message: a part would count an impossible sentence from its start
        posterior.log_partition()
    first = 0
    while first < n:
        size = np.searchsorted(ends, ends[first] + _AT_ONCE, side="right") - 1 - first
        part = slice(first, min(first + max(1, int(size)), n))
        _ask_part(q, asked, labels, events, posterior, part, ends)
        first = part.stop
    return q


def _ask_part(
    q: np.ndarray,
    asked: _Spans,
    labels: list[str],
    events: EntityEvents,
    posterior: Any,
    part: slice,
    ends: np.ndarray,
) -> None:
    """Write the probabilities of the spans of some sentences."""
    spans: list[list] = []
    rows: list[int] = []
    for i in range(part.start, part.stop):
        spans.append([])
        n = posterior.lengths[i]
        for row in range(ends[i], ends[i + 1]):
            start, stop = int(asked.start[row]), int(asked.stop[row])
            label = labels[asked.label[row]]
            tags = events.tags(label, stop - start, followed=stop < n)
            if tags is not None:
                spans[-1].append((start, tags))
                rows.append(row)
    if rows:
        whole = part == slice(0, len(posterior))
        some = posterior if whole else posterior[part]
        q[rows] = np.concatenate(some.span_marginals(spans))


def _read_spans(i: int, entry: Any, n: int, caller: str) -> list[tuple]:
    """Return the checked spans of one sentence."""
    name = f"The 'proba' parameter of {caller}"
    if not is_collection(entry):
        raise TypeError(
            f"{name} must have a list of spans for each sentence. Got {entry!r:.50} "
            f"for sentence {i}."
        )
    found: dict[tuple, float] = {}
    for j, row in enumerate(entry):
        where = f"span {j} of sentence {i}"
        start, stop, label, proba = _parts(row, name, where)
        if not 0 <= start < stop <= n:
            raise ValueError(
                f"{name} must have 0 <= start < stop <= {n}, the number of tokens. Got "
                f"start {start} and stop {stop} in {where}."
            )
        if (start, stop, label) in found:
            raise ValueError(f"{name} has {(start, stop, label)} twice: {where}.")
        if out_of_range(np.array([proba]))[0]:
            raise ValueError(
                f"{name} must hold probabilities in [0, 1]. Got {proba!r} in {where}."
            )
        found[start, stop, label] = proba
    return [(*span, proba) for span, proba in found.items()]


def _parts(row: Any, name: str, where: str) -> tuple[int, int, str, float]:
    try:
        start, stop, label, proba = row
        if isinstance(proba, str):
            raise TypeError
        proba = float(proba)
    except (TypeError, ValueError):
        start = stop = label = proba = None
    if not (is_integer(start) and is_integer(stop) and isinstance(label, str)):
        raise ValueError(
            f"{name} must hold (start, stop, label, probability) for each span. Got "
            f"{row!r:.80} as {where}."
        )
    return int(start), int(stop), label, proba
