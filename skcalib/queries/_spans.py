"""Query for entities, and the exact probabilities of spans under a posterior.

Several spans are an integer array whose rows are the sentence, the first token, the
token after the last one, and the index of the entity label in a list of labels.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from .._entities import (
    POSTERIOR_SCHEMES,
    EntityEvents,
    Tag,
    as_posterior_scheme,
    as_scheme,
    check_possible,
    find_entities,
    lost_tags,
    read_tags,
    why_lost,
)
from .._errors import ParameterError, ParameterTypeError, public, warn
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
from ._query import TaggerQuery, flat_tags, sentence_and_token, tags_and_lengths

# (start, stop, label, probability) of each span of a sentence.
SpanRows: TypeAlias = Sequence[tuple[int, int, str, float]]


def read_spans(
    entries: Any, lengths: Any, name: str = "proba", *, labelled: bool = True
) -> list[list[tuple]]:
    """Return the checked spans of each sentence, with clipped probabilities.

    If not `labelled`, a span is (start, stop, probability).
    """
    return [
        _read_sentence(entry, n, i, name, labelled)
        for i, (entry, n) in enumerate(zip(entries, lengths, strict=True))
    ]


def _read_sentence(
    entry: Any, n: int, i: int, name: str, labelled: bool
) -> list[tuple]:
    if not is_collection(entry):
        raise ParameterTypeError(
            name,
            f"must have a list of spans for each sentence. Got {entry!r:.50} for "
            f"sentence {i}.",
        )
    # A matrix has the probabilities of tags, which do not determine those of spans.
    is_matrix = getattr(entry, "ndim", 1) == 2 and not hasattr(entry, "columns")
    if is_matrix and labelled:
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
        span, proba = _read_span(row, where, name, labelled)
        start, stop, *_ = span
        problem = ""
        if not 0 <= start < stop <= n:
            problem = (
                f"must have 0 <= start < stop <= {n}, the number of tokens. Got "
                f"start {start} and stop {stop} in {where}."
            )
        elif span in found:
            problem = f"has {span} twice: {where}."
        elif out_of_range(np.array([proba]))[0]:
            problem = f"must have probabilities in [0, 1]. Got {proba!r} in {where}."
        if problem:
            raise ParameterError(name, problem)
        # Rounding errors of sums of samples are within the tolerance of `out_of_range`.
        found[span] = min(max(proba, 0.0), 1.0)
    return [(*span, proba) for span, proba in found.items()]


def _read_span(
    row: Any, where: str, name: str, labelled: bool
) -> tuple[tuple[Any, ...], float]:
    try:
        start, stop, *label, proba = row
        # float() would read the text "0.5" as a number.
        if isinstance(proba, str):
            raise TypeError
        proba = float(proba)
    except (TypeError, ValueError):
        start = stop = proba = None
    if not (
        is_integer(start)
        and is_integer(stop)
        and len(label) == labelled
        and all(isinstance(each, str) for each in label)
    ):
        parts = "start, stop, label, probability"
        if not labelled:
            parts = parts.replace("label, ", "")
        raise ParameterError(
            name, f"must have ({parts}) for each span. Got {row!r:.80} as {where}."
        )
    return (int(start), int(stop), *label), proba


def check_asked(spans: Any, max_length: Any, unit: str, least: int = 1) -> None:
    """Raise an error unless the parameters of a query choose which spans to ask for."""
    check_choice(spans, ("predicted", "all"), name="spans")
    if max_length is not None:
        check_integer(max_length, minimum=least, name="max_length")
    elif spans == "all":
        raise ParameterError(
            None,
            f"needs 'max_length', the length of the longest span in {unit}, for "
            "spans='all'. Got None.",
        )


def span_array(found: Iterable[Iterable[tuple]], labels: list[str]) -> np.ndarray:
    """Return the spans (start, stop, label, ...) of each sentence as one array."""
    place = {label: k for k, label in enumerate(labels)}
    rows = [
        (i, start, stop, place[label])
        for i, spans in enumerate(found)
        for start, stop, label, *_ in spans
    ]
    return np.array(rows, dtype=np.intp).reshape(-1, 4)


def meaning_of(classes: list, scheme: str) -> tuple[dict[Any, Tag], list[str]]:
    """Return the prefix and label of each tag of a model, and the entity labels."""
    meaning = read_tags(classes, scheme, "classes")
    check_possible(meaning, scheme, "classes")
    return meaning, _labels_of(meaning)


def _labels_of(meaning: dict[Any, Tag]) -> list[str]:
    return sorted({label for prefix, label in meaning.values() if prefix != "O"})


def entities_of(
    sentences: Iterable[Iterable[Any]], meaning: dict[Any, Tag], scheme: str
) -> list[list[tuple[int, int, str]]]:
    """Return the entities of each tag sequence."""
    return [find_entities([meaning[t] for t in tags], scheme) for tags in sentences]


def span_probabilities(
    asked: np.ndarray,
    labels: list[str],
    events: EntityEvents,
    posterior: LinearChainPosterior,
) -> np.ndarray:
    """Return the probability of each span; `asked` is in the order of sentences."""
    spans: list[list] = [[] for _ in range(len(posterior))]
    known = []
    for row, (i, start, stop, label) in enumerate(asked.tolist()):
        followed = stop < posterior.lengths[i]
        tags = events.tags(labels[label], stop - start, followed=followed)
        # Otherwise the model has no tags for such an entity, and its probability is 0.
        if tags is not None:
            spans[i].append((start, tags))
            known.append(row)
    q = np.zeros(len(asked))
    if known:
        q[known] = np.concatenate(posterior.span_marginals(spans))
    return q


@dataclass(frozen=True)
class SpanQuery(TaggerQuery):
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
    without a closing L-L. If no valid tagging with the tags in y can have one of them,
    such as I-L in a corpus without B-L, a warning gives the number of these tags. With
    the classes of a posterior, the same is an error, because every tagging of the model
    that has such a tag is malformed. Posteriors over IOB1, IOE1 and IOE2 tags are not
    supported. Rewrite such tags with :func:`~skcalib.sequence.convert_tags` before
    training.

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
    _advice = (
        "If it gives probabilities of entities in another way, pass them to from_proba."
    )

    @public
    def __post_init__(self) -> None:
        if self.label is not None and not isinstance(self.label, str):
            raise ParameterTypeError(
                "label",
                f"must be a str such as 'PER', or None. Got {self.label!r} instead.",
            )
        as_scheme(self.scheme)
        check_asked(self.spans, self.max_length, "tokens")

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
        found = read_spans(proba, lengths.tolist())
        gold, names = self._gold(tags, lengths)
        known = {row[2] for spans in found for row in spans}
        _warn_of_labels([name for name in names if name], known)
        labels = sorted({*names, *known})
        asked = span_array(found, labels)
        # The truth must not affect the choice of the spans.
        kept = self._wanted(asked, labels)
        q = np.array([row[3] for spans in found for row in spans], dtype=np.float64)
        return _answers(asked[kept], span_array(gold, labels), labels, q[kept], lengths)

    def _ask(self, y_true: Any, posterior: Any, classes: Any, predict: Any) -> Answers:
        tags, lengths = tags_and_lengths(y_true, posterior)
        order = class_order(
            tags, classes, posterior.n_tags, name="classes", of="posterior"
        ).tolist()
        scheme = as_posterior_scheme(self.scheme)
        meaning, known = meaning_of(order, scheme)
        gold, names = self._gold(tags, lengths)
        labels = [*known, *sorted(set(names) - set(known))]
        _warn_of_labels(names, known)
        if self.label is not None and self.label not in labels:
            raise ParameterError(
                "label",
                f"must be an entity label of the model or in y, {labels}. Got "
                f"{self.label!r}.",
                "SpanQuery",
            )
        if self.spans == "all":
            # Labels in y that the model does not know are asked for, with probability
            # 0.
            asked = self._all_spans(lengths, labels)
        else:
            if predict is None:
                predicted = ([order[k] for k in path] for path in posterior.viterbi())
            else:
                predicted = predict()
            asked = span_array(entities_of(predicted, meaning, scheme), labels)
        asked = asked[self._wanted(asked, labels)]
        events = EntityEvents([meaning[tag] for tag in order], scheme)
        q = span_probabilities(asked, labels, events, posterior)
        # The labels of the model come first.
        n_unseen = int((asked[:, 3] >= len(known)).sum())
        return _answers(asked, span_array(gold, labels), labels, q, lengths, n_unseen)

    def _gold(
        self, flat: np.ndarray, lengths: np.ndarray
    ) -> tuple[list[list[tuple[int, int, str]]], list[str]]:
        """Return the true entities of each sentence, and all labels in the tags."""
        tags, scheme = flat.tolist(), as_scheme(self.scheme)
        meaning = read_tags(tags, scheme, "y_true", lengths.tolist())
        # In the other schemes every tag can be in an entity.
        lost = lost_tags(meaning, scheme) if scheme in POSTERIOR_SCHEMES else []
        if lost:
            warn(
                f"{sum(map(tags.count, lost))} of {len(tags)} tags in y_true are not "
                f"part of any entity in the scheme {scheme!r}. {why_lost(lost)}"
            )
        sentences = (tags[a:b] for a, b in pairwise([0, *np.cumsum(lengths).tolist()]))
        return entities_of(sentences, meaning, scheme), _labels_of(meaning)

    def _wanted(self, asked: np.ndarray, labels: list[str]) -> np.ndarray:
        """Return which spans have a requested label and length."""
        _, start, stop, label = asked.T
        wanted = np.ones(start.size, dtype=bool)
        if self.label is not None:
            name = self.label
            wanted &= label == (labels.index(name) if name in labels else -1)
        if self.max_length is not None:
            wanted &= stop - start <= self.max_length
        return wanted

    def _all_spans(self, lengths: np.ndarray, labels: list[str]) -> np.ndarray:
        """Return all spans, in the order of their start, stop and label."""
        assert self.max_length is not None
        sentence, token = sentence_and_token(lengths)
        n_stops = np.minimum(self.max_length, lengths[sentence] - token)
        first, step = sentence_and_token(n_stops)
        start = token[first]
        spans = np.column_stack([sentence[first], start, start + step + 1])
        names = np.arange(len(labels))
        if self.label is not None:
            names = names[[labels.index(self.label)]]
        return np.column_stack(
            [np.repeat(spans, names.size, axis=0), np.tile(names, len(spans))]
        )


def _warn_of_labels(names: Collection[str], known: Collection[str]) -> None:
    """Warn if the entities in y and those of the model have no label in common."""
    if names and known and not set(names) & set(known):
        warn(
            f"No entity label in y is a label of the model: y has {sorted(names)}, and "
            f"the model {sorted(known)}."
        )


def _answers(
    asked: np.ndarray,
    true: np.ndarray,
    labels: list[str],
    q: np.ndarray,
    lengths: np.ndarray,
    n_unseen: int = 0,
) -> Answers:
    """Return the answers; the truth is yes for spans that are among the `true` ones."""
    # A span is one number of its first token, length and label, for a fast comparison.
    sizes = (lengths.sum() + 1, lengths.max() + 1, len(labels) + 1)
    first = np.cumsum(lengths) - lengths

    def number(spans: np.ndarray) -> np.ndarray:
        sentence, start, stop, label = spans.T
        places = (first[sentence] + start, stop - start, label)
        return np.ravel_multi_index(places, sizes)

    y = np.isin(number(asked), number(true)).astype(np.int64)
    label = label_array(labels[k] for k in asked[:, 3].tolist())
    return Answers(y, q, asked[:, 0], asked[:, 1:3], label, n_unseen)
