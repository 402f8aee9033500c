"""Query for entities.

Validation of rows that describe spans and their probabilities.

Probabilities of spans: which tokens are exactly one entity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._entities import (
    POSTERIOR_SCHEMES,
    EntityEvents,
    as_posterior_scheme,
    as_scheme,
    check_possible,
    find_entities,
    read_tags,
)
from .._errors import ParameterError, ParameterTypeError, public
from .._pairs import class_order
from .._validation import (
    check_choice,
    check_integer,
    is_collection,
    is_integer,
    label_array,
    out_of_range,
)
from ..posteriors import LinearChainPosterior
from ._answers import Answers
from ._sentences import check_posterior, flat_tags, last_step, transform_before

# (start, stop, label, probability) of each span of a sentence.
SpanRows: TypeAlias = Sequence[tuple[int, int, str, float]]


def read_spans(i: int, entry: Any, n: int, name: str = "proba") -> list[tuple]:
    """Return the checked spans of one sentence."""
    if not is_collection(entry):
        raise ParameterTypeError(
            name,
            f"must have a list of spans for each sentence. Got {entry!r:.50} for "
            f"sentence {i}.",
        )
    if getattr(entry, "ndim", 1) == 2 and not hasattr(entry, "columns"):
        raise ParameterError(
            name,
            "must have a list of (start, stop, label, probability) for each sentence. "
            f"Got an array of shape {tuple(entry.shape)} for sentence {i}. For "
            "probabilities of tags use TagQuery, or make a LinearChainPosterior of "
            "their logarithms for from_posterior.",
        )
    found: dict[tuple, float] = {}
    for j, row in enumerate(entry):
        where = f"span {j} of sentence {i}"
        start, stop, label, proba = _parts(row, where, name)
        problem = ""
        if not 0 <= start < stop <= n:
            problem = (
                f"must have 0 <= start < stop <= {n}, the number of tokens. Got "
                f"start {start} and stop {stop} in {where}."
            )
        elif (start, stop, label) in found:
            problem = f"has {(start, stop, label)} twice: {where}."
        elif out_of_range(np.array([proba]))[0]:
            problem = f"must have probabilities in [0, 1]. Got {proba!r} in {where}."
        if problem:
            raise ParameterError(name, problem)
        found[start, stop, label] = proba
    return [(*span, proba) for span, proba in found.items()]


def _parts(row: Any, where: str, name: str) -> tuple[int, int, str, float]:
    try:
        start, stop, label, proba = row
        if isinstance(proba, str):
            raise TypeError
        proba = float(proba)
    except (TypeError, ValueError):
        start = stop = label = proba = None
    if not (is_integer(start) and is_integer(stop) and isinstance(label, str)):
        raise ParameterError(
            name,
            "must have (start, stop, label, probability) for each span. Got "
            f"{row!r:.80} as {where}.",
        )
    return int(start), int(stop), label, proba


# Number of spans whose probabilities are computed at once.
_AT_ONCE = 200_000


@dataclass(frozen=True)
class Spans:
    """Spans of several sentences; `label` contains indices into a list of labels."""

    sentence: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    label: np.ndarray

    @classmethod
    def of(cls, found: list[tuple[int, int, int, str]], labels: list[str]) -> Spans:
        place = {label: k for k, label in enumerate(labels)}
        rows = [(i, start, stop, place[label]) for i, start, stop, label in found]
        return cls(*np.array(rows, dtype=np.intp).reshape(-1, 4).T)

    def take(self, rows: np.ndarray) -> Spans:
        columns = (self.sentence, self.start, self.stop, self.label)
        return Spans(*(column[rows] for column in columns))


def span_probabilities(
    asked: Spans,
    labels: list[str],
    events: EntityEvents,
    posterior: LinearChainPosterior,
) -> np.ndarray:
    """Return the probability of each span, in the order of sentences."""
    q = np.zeros(asked.start.size)
    n = len(posterior)
    ends = np.searchsorted(asked.sentence, np.arange(n + 1))
    if q.size > _AT_ONCE:
        # If this raises an error, it names the sentence in the whole posterior.
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
    asked: Spans,
    labels: list[str],
    events: EntityEvents,
    posterior: LinearChainPosterior,
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


@dataclass(frozen=True)
class SpanQuery:
    """Ask a tagger whether consecutive tokens are exactly one entity.

    Parameters
    ----------
    label : str, default=None
        Entity label to ask for. If None, all entity labels are asked for.
    scheme : str, default='BIO'
        Tagging scheme, in upper or lower case. In 'BIO' (or 'IOB2'), B-PER begins
        an entity and I-PER continues it. In 'BILOU' (or 'BILUO'), U-PER is an entity of
        one token, and longer entities are tagged B-PER, I-PER, L-PER. 'IOBES' (or
        'BIOES') is the same with S- for U- and E- for L-. For `from_proba`, y may also
        have the tags of 'IOB1', 'IOE1' or 'IOE2', which are described in
        :func:`~skcalib.metrics.span_statistics`.
    spans : {'predicted', 'all'}, default='predicted'
        Spans to ask for. 'predicted' asks for the entities in the prediction of the
        tagger. 'all' asks for all spans of up to `max_length` tokens with each label.
        The true entities do not affect the choice, since asking only for true entities
        would make every model look underconfident.
    max_length : int, default=None
        Length of the longest span to ask for, in tokens. Required for 'all'.

    See Also
    --------
    TagQuery : Ask a tagger for the tags of single tokens.
    skcalib.posteriors.LinearChainPosterior.span_marginals : Probabilities of spans.
    skcalib.scorers.make_query_scorer : Make a scorer from a query and a metric.

    Notes
    -----
    The probability is exact. It is the sum of the probabilities of all taggings of the
    sentence that contain exactly this entity. Tokens s to t are an entity with label L
    if

    - in BIO, s has B-L, the tokens after it up to t have I-L, and token t + 1, if there
      is one, does not have I-L;
    - in BILOU, s = t has U-L, or s has B-L, t has L-L and the tokens between have I-L.

    The same rules apply to the labels in y, to predictions, and to every tagging in the
    posterior. Tags that violate these rules are not part of any entity and are not
    corrected. For example, I-L is not part of an entity after O, after an entity with
    another label, or at the start of a sentence. In BILOU, the same is true of a B-L
    without a closing L-L. If no tagging with the tags in y, or with the classes of the
    posterior, can have entities with a tag, an error is raised. I-L without B-L
    is an example. Posteriors over IOB1, IOE1 and IOE2 tags are not supported.
    Rewrite such tags with :func:`~skcalib.sequence.convert_tags` before training.

    In the answers, `label` is the entity label, and `item` has two columns: the first
    token of the span and the token after its last one, so that the span is
    ``tokens[start:stop]``. A tag without a label, such as B, has the label ''. An
    entity label whose tags do not occur in the training data is never predicted. With
    'all', the query also asks for spans with such a label. Their probability is 0, and
    `n_unseen` is their number. If no entity is predicted, there are no answers.

    The tag probabilities of single tokens (one softmax per token) do not determine the
    probabilities of entities. Under the assumption that the tags of a sentence are
    independent, the posterior is
    ``LinearChainPosterior(log_proba, np.zeros((n_tags, n_tags)))``.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.posteriors import LinearChainPosterior
    >>> from skcalib.queries import SpanQuery
    >>> scores = [[[0, 2, 0], [1, 0, 2], [2, 0, 1]]]  # O, B-PER, I-PER
    >>> transitions = [[0, 0, -np.inf], [0, 0, 1], [0, 0, 1]]
    >>> posterior = LinearChainPosterior(scores, transitions)
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

    For a model without a posterior, pass a list of (start, stop, label, probability)
    for each sentence:

    >>> SpanQuery().from_proba(gold, [[(0, 2, "PER", 0.7)]]).y_true
    array([1])
    """

    label: str | None = None
    scheme: str = "BIO"
    spans: str = "predicted"
    max_length: int | None = None

    @public
    def __post_init__(self) -> None:
        if self.label is not None and not isinstance(self.label, str):
            raise ParameterTypeError(
                "label",
                f"must be a str such as 'PER', or None. Got {self.label!r} instead.",
            )
        as_scheme(self.scheme)
        check_choice(self.spans, ("predicted", "all"), name="spans")
        if self.max_length is not None:
            check_integer(self.max_length, minimum=1, name="max_length")
        elif self.spans == "all":
            raise ParameterError(
                None,
                "needs 'max_length', the length of the longest span in tokens, for "
                "spans='all'. Got None.",
            )

    @public
    def __call__(self, estimator: Any, X: Any, y: Sequence[Sequence[Any]]) -> Answers:
        """Return the answers of a fitted tagger.

        Parameters
        ----------
        estimator : fitted tagger with a posterior method
            A pipeline or search object that ends in such a tagger is also accepted.
        X : sequence of sentences
            Sentences of tokens.
        y : sequence of label sequences
            True tags.

        Returns
        -------
        answers : Answers
            One answer for each span.
        """
        tagger = last_step(estimator)
        if not hasattr(tagger, "posterior"):
            raise ParameterError(
                "estimator",
                f"must have a posterior method. Got {type(tagger).__name__}. If it "
                "gives probabilities of entities in another way, pass them to "
                "from_proba.",
            )
        X = transform_before(estimator, X)
        predicted = tagger.predict(X) if self.spans == "predicted" else None
        posterior = tagger.posterior(X)
        return self._ask(y, posterior, tagger.classes_, predicted)

    @public
    def from_posterior(
        self,
        y_true: Sequence[Sequence[Any]],
        posterior: LinearChainPosterior,
        classes: ArrayLike,
    ) -> Answers:
        """Return answers with the exact probabilities of a posterior over taggings.

        Parameters
        ----------
        y_true : sequence of label sequences
            True tags.
        posterior : LinearChainPosterior
            Posterior over the taggings of the same sentences. Its most probable tagging
            is the prediction.
        classes : array-like of shape (n_tags,)
            Labels of the tag indices.

        Returns
        -------
        answers : Answers
            One answer for each span.
        """
        return self._ask(y_true, posterior, classes, None)

    @public
    def from_proba(
        self,
        y_true: Sequence[Sequence[Any]],
        proba: Sequence[SpanRows],
        classes: None = None,
    ) -> Answers:
        """Return answers with given probabilities of spans.

        Parameters
        ----------
        y_true : sequence of label sequences
            True tags.
        proba : sequence with an entry for each sentence
            Each entry is a list of (start, stop, label, probability): the first token,
            the token after the last one, the entity label, and the probability that
            these tokens are exactly one entity with this label. The query asks for
            these spans, except for spans with a label other than `label` and spans
            longer than `max_length`.
        classes : None
            Ignored; present for consistency with other queries.

        Returns
        -------
        answers : Answers
            One answer for each span.
        """
        tags, lengths = flat_tags(y_true, proba, "proba")
        rows = [
            (i, *row)
            for i, entry in enumerate(proba)
            for row in read_spans(i, entry, lengths[i])
        ]
        columns = list(zip(*rows, strict=True)) if rows else [(), (), (), (), ()]
        i, start, stop, names, q = columns
        gold = self._gold(tags, lengths)
        labels = sorted({*names, *gold.labels})
        code = np.array([labels.index(name) for name in names], dtype=np.intp)
        places = [np.array(column, dtype=np.intp) for column in (i, start, stop)]
        asked = Spans(places[0], places[1], places[2], code)
        kept = self._wanted(asked, labels)
        q = np.array(q, dtype=np.float64)[kept]
        return _answers(asked.take(kept), labels, np.clip(q, 0, 1), gold)

    def _ask(
        self, y_true: Any, posterior: Any, classes: Any, predicted: Any
    ) -> Answers:
        tags, lengths = flat_tags(y_true, posterior, "posterior")
        check_posterior(posterior, lengths)
        n_tags = posterior.n_tags
        order = class_order(tags, classes, n_tags, name="classes", of="posterior")
        order = order.tolist()
        scheme = as_posterior_scheme(self.scheme)
        meaning = read_tags(order, scheme, "classes")
        check_possible(meaning, scheme, "classes")
        gold = self._gold(tags, lengths)
        known = {label for prefix, label in meaning.values() if prefix != "O"}
        labels = [*sorted(known), *sorted(set(gold.labels) - known)]
        if self.label is not None and self.label not in labels:
            raise ParameterError(
                "label",
                f"must be an entity label of the model or in y, {labels}. Got "
                f"{self.label!r}.",
                "SpanQuery",
            )
        if self.spans == "all":
            asked = self._all_spans(lengths, labels)
        else:
            if predicted is None:
                predicted = [[order[k] for k in path] for path in posterior.viterbi()]
            found = [
                (i, *entity)
                for i, path in enumerate(predicted)
                for entity in find_entities([meaning[tag] for tag in path], scheme)
            ]
            asked = Spans.of(found, labels)
        asked = asked.take(self._wanted(asked, labels))
        events = EntityEvents([meaning[tag] for tag in order], scheme)
        q = span_probabilities(asked, labels, events, posterior)
        n_unseen = int((asked.label >= len(known)).sum())
        return _answers(asked, labels, q, gold, n_unseen)

    def _gold(self, flat: np.ndarray, lengths: np.ndarray) -> _Gold:
        tags, scheme = flat.tolist(), as_scheme(self.scheme)
        meaning = read_tags(tags, scheme, "y_true", lengths.tolist())
        if scheme in POSTERIOR_SCHEMES:
            check_possible(meaning, scheme, "y_true")
        ends = np.cumsum(lengths).tolist()
        read = [meaning[tag] for tag in tags]
        found = [
            (i, *entity)
            for i, (a, b) in enumerate(zip([0, *ends[:-1]], ends, strict=True))
            for entity in find_entities(read[a:b], scheme)
        ]
        names = {label for prefix, label in meaning.values() if prefix != "O"}
        return _Gold(found, sorted(names), lengths)

    def _wanted(self, asked: Spans, labels: list[str]) -> np.ndarray:
        """Return which spans have a requested label and length."""
        wanted = np.ones(asked.start.size, dtype=bool)
        if self.label is not None:
            name = self.label
            wanted &= asked.label == (labels.index(name) if name in labels else -1)
        if self.max_length is not None:
            wanted &= asked.stop - asked.start <= self.max_length
        return wanted

    def _all_spans(self, lengths: np.ndarray, labels: list[str]) -> Spans:
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
        return Spans(
            sentence=np.repeat(sentence, names.size),
            start=np.repeat(start, names.size),
            stop=np.repeat(start + step + 1, names.size),
            label=np.tile(names, start.size),
        )


@dataclass(frozen=True)
class _Gold:
    """The true entities, all labels in the tags, and the lengths of the sentences."""

    found: list[tuple[int, int, int, str]]
    labels: list[str]
    lengths: np.ndarray

    def has(self, asked: Spans, labels: list[str]) -> np.ndarray:
        """Return which spans are true entities."""
        true = Spans.of(self.found, labels)
        longest = int(self.lengths.max()) + 1

        def key(spans: Spans) -> np.ndarray:
            first = (np.cumsum(self.lengths) - self.lengths)[spans.sentence]
            place = (first + spans.start) * longest + spans.stop - spans.start
            return place * len(labels) + spans.label

        return np.isin(key(asked), key(true))


def _answers(
    asked: Spans, labels: list[str], q: np.ndarray, gold: _Gold, n_unseen: int = 0
) -> Answers:
    names = label_array(labels[k] for k in asked.label.tolist())
    return Answers(
        y_true=gold.has(asked, labels).astype(np.int64),
        y_proba=q,
        groups=asked.sentence,
        item=np.column_stack([asked.start, asked.stop]),
        label=names,
        n_unseen=n_unseen,
    )
