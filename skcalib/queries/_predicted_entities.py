"""Entities that a tagger predicts in new text, each with its probability.

Entities in sentences, each with a probability: tables, tags, CoNLL columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._clusterings import check_entries
from .._entities import (
    EntityEvents,
    as_posterior_scheme,
    check_possible,
    find_entities,
    read_tags,
    tags_of_entity,
)
from .._errors import ParameterError, ParameterTypeError, public
from .._results import Result
from .._validation import (
    as_label_list,
    as_label_lists,
    check_positive,
    check_real,
    label_array,
)
from ..posteriors import LinearChainPosterior
from ._sentences import check_posterior
from ._spans import SpanRows, Spans, read_spans, span_probabilities


@dataclass(frozen=True, repr=False, eq=False)
class PredictedEntities(Result):
    """Entities in sentences, each with a probability.

    Attributes
    ----------
    sentence : ndarray of shape (n_entities,), int
        Index of the sentence.
    start, stop : ndarray of shape (n_entities,), int
        First token, and the token after the last one.
    label : ndarray of shape (n_entities,)
        Entity label.
    proba : ndarray of shape (n_entities,)
        Probability that these tokens are exactly one entity with this label.
    text : ndarray of shape (n_entities,) or None
        Tokens of the entity, joined by spaces. None if the tokens are unknown.
    tokens : list of list of str or None
        Tokens of the sentences.
    lengths : ndarray of shape (n_sentences,), int
        Number of tokens of each sentence.

    See Also
    --------
    predicted_entities : Compute entities and probabilities from a posterior.
    skcalib.interop.to_spacy : Write the entities into spaCy documents.

    Examples
    --------
    >>> from skcalib.experimental import PredictedEntities
    >>> tokens = [["Ada", "Lovelace", "wrote", "to", "Bo"]]
    >>> found = [[(0, 2, "PER", 0.9), (4, 5, "PER", 0.4)]]
    >>> entities = PredictedEntities.from_spans(found, tokens=tokens)
    >>> entities
    PredictedEntities(n_entities=2, n_sentences=1)
    >>> entities.above(0.5).records()
    [{'sentence': 0, 'start': 0, 'stop': 2, 'label': 'PER', 'proba': 0.9,
      'text': 'Ada Lovelace'}]
    >>> print(entities.to_conll())
    Ada      B-PER  0.9000
    Lovelace I-PER  0.9000
    wrote    O      _
    to       O      _
    Bo       B-PER  0.4000
    """

    sentence: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    label: np.ndarray
    proba: np.ndarray
    text: np.ndarray | None
    tokens: list[list[str]] | None
    lengths: np.ndarray

    @classmethod
    @public
    def from_spans(
        cls,
        spans: Sequence[SpanRows],
        *,
        tokens: Sequence[Sequence[str]] | None = None,
        lengths: ArrayLike | None = None,
    ) -> PredictedEntities:
        """Create the table from spans, such as the spans of spaCy's span categorizer.

        Parameters
        ----------
        spans : sequence with an entry for each sentence
            Each entry is a list of (start, stop, label, probability).
        tokens : sequence of sequences of str, default=None
            Tokens of each sentence.
        lengths : array-like of int of shape (n_sentences,), default=None
            Number of tokens of each sentence. Required without `tokens`.

        Returns
        -------
        entities : PredictedEntities
        """
        check_entries(spans, None, "sentence", "spans")
        words = None if tokens is None else as_label_lists(tokens, name="tokens")
        if words is None and lengths is None:
            raise ParameterError(None, "needs 'tokens' or 'lengths'.")
        found = list(map(len, words)) if words is not None else lengths
        sizes = np.asarray(found, dtype=np.intp)
        if sizes.shape != (len(spans),):
            name = "lengths" if words is None else "tokens"
            raise ParameterError(
                name,
                f"must have an entry for each of the {len(spans)} sentences of "
                f"'spans'. Got {sizes.size}.",
            )
        rows = [
            (i, *row)
            for i, entry in enumerate(spans)
            for row in read_spans(i, entry, int(sizes[i]), name="spans")
        ]
        sentence, *columns = zip(*rows, strict=True) if rows else [()] * 5
        start, stop, label, proba = columns
        return entity_table(sentence, start, stop, label, proba, words, sizes)

    def __len__(self) -> int:
        return self.start.size

    def __repr__(self) -> str:
        return (
            f"PredictedEntities(n_entities={len(self)}, "
            f"n_sentences={self.lengths.size})"
        )

    def _columns(self) -> dict[str, Any]:
        names = ["sentence", "start", "stop", "label", "proba"]
        if self.text is not None:
            names.append("text")
        return {name: getattr(self, name) for name in names}

    def records(self) -> list[dict[str, Any]]:
        """Return a list with one dict per entity.

        Returns
        -------
        records : list of dict
            One dict per entity, with the columns of :meth:`frame` as keys.
        """
        columns = self.to_dict()
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def spans(self) -> list[list[tuple[int, int, str, float]]]:
        """Return the entities of each sentence as a list of tuples.

        Returns
        -------
        spans : list of list of (start, stop, label, probability)
            Entities in the format of :meth:`SpanQuery.from_proba`.
        """
        found: list[list[tuple]] = [[] for _ in range(self.lengths.size)]
        columns = (self.sentence, self.start, self.stop, self.label, self.proba)
        for i, *row in zip(*(column.tolist() for column in columns), strict=True):
            found[i].append(tuple(row))
        return found

    @public
    def above(self, threshold: float) -> PredictedEntities:
        """Return the entities whose probability is at least a threshold.

        Parameters
        ----------
        threshold : float
            Minimum probability, in [0, 1].

        Returns
        -------
        entities : PredictedEntities
        """
        least = check_real(threshold, low=0, high=1, name="threshold")
        kept = self.proba >= least
        columns = {name: column[kept] for name, column in self._columns().items()}
        return replace(self, **columns)

    @public
    def tags(self, scheme: str = "BIO") -> list[list[str]]:
        """Return the tags of each sentence.

        Parameters
        ----------
        scheme : {'BIO', 'BILOU', 'BIOES'}, default='BIO'
            Scheme of the tags.

        Returns
        -------
        tags : list of list of str
            Tags of each sentence, with 'O' for tokens outside entities.

        Raises
        ------
        ValueError
            If two entities share a token. This is possible if the entities were
            selected by a threshold of 0.5 or less. The message names the sentence and
            the token.
        """
        scheme = as_posterior_scheme(scheme)
        tags = [["O"] * n for n in self.lengths.tolist()]
        for i, spans in enumerate(self.spans()):
            ends = 0
            for start, stop, label, _ in sorted(spans):
                if start < ends:
                    raise ParameterError(
                        None,
                        "needs entities that do not share tokens. Got two entities "
                        f"with token {start} in sentence {i}: select entities with "
                        "`above(0.5)`, or with a threshold above 0.5.",
                    )
                tags[i][start:stop] = tags_of_entity(stop - start, label, scheme)
                ends = stop
        return tags

    @public
    def to_conll(self, scheme: str = "BIO", *, delimiter: str | None = None) -> str:
        """Return the sentences as CoNLL columns: token, tag and probability.

        Parameters
        ----------
        scheme : {'BIO', 'BILOU', 'BIOES'}, default='BIO'
            Scheme of the tags.
        delimiter : str, default=None
            Text between the columns. If None, columns are aligned with spaces.

        Returns
        -------
        text : str
            One line per token and an empty line between sentences. Each token of an
            entity has the probability of the entity. Other tokens have '_'.
            :func:`skcalib.datasets.read_conll_columns` reads the text.
        """
        if delimiter is not None and not isinstance(delimiter, str):
            raise ParameterTypeError(
                "delimiter", f"must be a str or None. Got {delimiter!r:.50} instead."
            )
        if self.tokens is None:
            raise ParameterError(
                None, "needs the tokens. Pass `tokens` when the entities are created."
            )
        numbers = [["_"] * n for n in self.lengths.tolist()]
        for i, spans in enumerate(self.spans()):
            for start, stop, _, proba in spans:
                numbers[i][start:stop] = [f"{proba:.4f}"] * (stop - start)
        tags = self.tags(scheme)
        pad = delimiter is None
        columns = [list(map(str, chain.from_iterable(c))) for c in (self.tokens, tags)]
        widths = [max(map(len, c), default=0) if pad else 0 for c in columns]
        between = " " if delimiter is None else delimiter
        return "\n\n".join(
            "\n".join(
                between.join(
                    [str(word).ljust(widths[0]), tag.ljust(widths[1]), number]
                ).rstrip()
                for word, tag, number in zip(*rows, strict=True)
            )
            for rows in zip(self.tokens, tags, numbers, strict=True)
        )


def entity_table(
    sentence: Any,
    start: Any,
    stop: Any,
    label: Any,
    proba: Any,
    tokens: list[list[Any]] | None,
    lengths: np.ndarray,
) -> PredictedEntities:
    """Return the table of entities given by columns."""
    places = [np.array(column, dtype=np.intp) for column in (sentence, start, stop)]
    text = None
    if tokens is not None:
        rows = zip(*(column.tolist() for column in places), strict=True)
        text = label_array(" ".join(map(str, tokens[i][a:b])) for i, a, b in rows)
    return PredictedEntities(
        sentence=places[0],
        start=places[1],
        stop=places[2],
        label=label_array(label),
        proba=np.clip(np.array(proba, dtype=np.float64), 0, 1),
        text=text,
        tokens=tokens,
        lengths=lengths,
    )


@public
def predicted_entities(
    posterior: LinearChainPosterior,
    classes: ArrayLike,
    *,
    tokens: Sequence[Sequence[str]] | None = None,
    scheme: str = "BIO",
    label: str | None = None,
    threshold: float | None = None,
) -> PredictedEntities:
    """Return the entities in new text, each with its exact probability.

    Parameters
    ----------
    posterior : LinearChainPosterior
        Posterior over the taggings of the sentences.
    classes : array-like of shape (n_tags,)
        Labels of the tag indices, such as 'B-PER'.
    tokens : sequence of sequences of str, default=None
        Tokens of each sentence, for the text of the entities and for CoNLL columns.
    scheme : {'BIO', 'BILOU', 'BIOES'}, default='BIO'
        Tagging scheme, as in :class:`SpanQuery`.
    label : str, default=None
        Entity label to return. If None, entities of all labels are returned.
    threshold : float, default=None
        Minimum probability of a span, in (0, 1]. All spans with at least this
        probability are returned, whatever their length. Spans can only overlap if the
        threshold is 0.5 or less. If None, the entities of the most probable tagging are
        returned.

    Returns
    -------
    entities : PredictedEntities
        The entities in the order of sentences and tokens.

    See Also
    --------
    SpanQuery : Measure the calibration of these probabilities.
    skcalib.rates.threshold_for_precision : Choose the threshold.

    Notes
    -----
    The probability of an entity is the sum of the probabilities of all taggings in
    which these tokens are exactly one entity with this label (see :class:`SpanQuery`).
    It is not a product or a mean of the probabilities of tokens. An entity is never
    more probable than the tag of any of its tokens. Therefore, most spans can be
    excluded before their probability is computed.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.posteriors import LinearChainPosterior
    >>> from skcalib.experimental import predicted_entities
    >>> proba = [[[0.9, 0.0, 0.1], [0.1, 0.6, 0.3], [0.1, 0.0, 0.9]]]
    >>> with np.errstate(divide="ignore"):
    ...     posterior = LinearChainPosterior(np.log(proba))
    >>> classes, tokens = ["B-PER", "I-PER", "O"], [["Ada", "Bell", "sang"]]
    >>> predicted_entities(posterior, classes, tokens=tokens).records()
    [{'sentence': 0, 'start': 0, 'stop': 2, 'label': 'PER', 'proba': 0.54,
      'text': 'Ada Bell'}]
    >>> predicted_entities(posterior, classes, threshold=0.3).to_dict()["stop"]
    [1, 2]
    """
    scheme = as_posterior_scheme(scheme)
    if label is not None and not isinstance(label, str):
        raise ParameterTypeError("label", f"must be a str or None. Got {label!r}.")
    if threshold is not None:
        check_positive(threshold, name="threshold")
        check_real(threshold, low=0, high=1, name="threshold")
    words = None if tokens is None else as_label_lists(tokens, name="tokens")
    _check_sentences(posterior, words)
    order = as_label_list(classes, name="classes")
    if len(set(order)) != len(order) or len(order) != posterior.n_tags:
        raise ParameterError(
            "classes",
            f"must have a different label for each of the {posterior.n_tags} tags of "
            f"the posterior. Got {order!r:.200}.",
        )
    meaning = read_tags(order, scheme, "classes")
    check_possible(meaning, scheme, "classes")
    tags = [meaning[tag] for tag in order]
    labels = sorted({name for prefix, name in tags if prefix != "O"})
    if label is not None and label not in labels:
        raise ParameterError(
            "label", f"must be an entity label of the model, {labels}. Got {label!r}."
        )
    events = EntityEvents(tags, scheme)
    asked = _asked(posterior, tags, scheme, labels, threshold)
    if label is not None:
        asked = asked.take(asked.label == labels.index(label))
    proba = span_probabilities(asked, labels, events, posterior)
    if threshold is not None:
        kept = proba >= threshold
        asked, proba = asked.take(kept), proba[kept]
    return entity_table(
        asked.sentence,
        asked.start,
        asked.stop,
        [labels[k] for k in asked.label.tolist()],
        proba,
        words,
        posterior.lengths,
    )


def _check_sentences(posterior: Any, words: list[list[Any]] | None) -> None:
    lengths = getattr(posterior, "lengths", np.zeros(0, dtype=np.intp))
    check_posterior(posterior, lengths)
    if words is None:
        return
    found = list(map(len, words))
    if len(found) != len(posterior):
        raise ParameterError(
            "tokens",
            f"must have an entry for each of the {len(posterior)} sentences of the "
            f"posterior. Got {len(found)}.",
        )
    wrong = np.flatnonzero(lengths != found)
    if wrong.size:
        i = int(wrong[0])
        raise ParameterError(
            "tokens",
            f"must be the tokens of the sentences of the posterior. Got {found[i]} "
            f"tokens for sentence {i}, and {lengths[i]} in the posterior.",
        )


def _asked(
    posterior: LinearChainPosterior,
    tags: list[tuple[str, str]],
    scheme: str,
    labels: list[str],
    threshold: float | None,
) -> Spans:
    """Return the entities of the best tagging, or all that may reach the threshold.

    With a threshold, the spans are candidates: the caller computes their probabilities
    and keeps those that reach it. For example, with threshold .5, a span B-X I-X is a
    candidate if both tags have a marginal of at least .5, but its probability may be
    lower.
    """
    if threshold is None:
        found = [
            (i, *entity)
            for i, path in enumerate(posterior.viterbi())
            for entity in find_entities([tags[k] for k in path.tolist()], scheme)
        ]
        return Spans.of(found, labels)
    place = {tag: k for k, tag in enumerate(tags)}
    found = []
    # An entity is at most as probable as each of its tags, up to rounding errors.
    least = threshold * (1 - 1e-9)
    for i, marginals in enumerate(posterior.token_marginals()):
        likely = marginals >= least
        for label in labels:
            spans = _candidates(likely, place, label, scheme == "BIO")
            found += [(i, start, stop, label) for start, stop in spans]
    found.sort(key=lambda row: row[:3])
    return Spans.of(found, labels)


def _candidates(
    likely: np.ndarray, place: dict[tuple[str, str], int], label: str, is_bio: bool
) -> list[tuple[int, int]]:
    """Return the spans of one sentence in which all tags are likely."""
    none = np.zeros(len(likely), dtype=bool)

    def tokens(prefix: str) -> np.ndarray:
        k = place.get((prefix, label))
        return none if k is None else likely[:, k]

    begin, inside = tokens("B"), tokens("I")
    last = inside if is_bio else tokens("L")
    single = begin if is_bio else tokens("U")
    found = [(int(t), int(t) + 1) for t in np.flatnonzero(single)]
    for t in np.flatnonzero(begin).tolist():
        for stop in range(t + 2, len(likely) + 1):
            if last[stop - 1]:
                found.append((t, stop))
            if not inside[stop - 1]:
                break
    return found
