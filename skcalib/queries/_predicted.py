"""Entities and coreference links that a model predicts in new text.

Both are tables with one row per prediction and a column of probabilities.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from .._clusterings import check_entries
from .._entities import EntityEvents, as_posterior_scheme, tags_of_entity
from .._errors import ParameterError, ParameterTypeError, public
from .._results import Result, object_array
from .._validation import (
    as_label_list,
    as_label_lists,
    check_choice,
    check_positive,
    check_real,
    is_sequence,
    label_array,
)
from ..posteriors import AntecedentPosterior, LinearChainPosterior
from ._query import check_chain, check_posterior, check_sentences
from ._spans import (
    SpanRows,
    entities_of,
    meaning_of,
    read_spans,
    span_array,
    span_probabilities,
)


class _Predictions(Result):
    """Base of tables with one row per prediction."""

    proba: np.ndarray

    def __len__(self) -> int:
        return self.proba.size

    def _columns(self) -> dict[str, np.ndarray]:
        # The other arrays are the columns; a column without values is None.
        arrays = ((f.name, getattr(self, f.name)) for f in fields(self))  # type: ignore[arg-type]
        return {
            name: array
            for name, array in arrays
            if isinstance(array, np.ndarray) and name != "lengths"
        }

    def records(self) -> list[dict[str, Any]]:
        """Return a list with one dict per prediction.

        Returns
        -------
        records : list of dict
            One dict per prediction, with the columns of :meth:`frame` as keys.
        """
        columns = self.to_dict()
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    @public
    def above(self, threshold: float) -> Self:
        """Return the predictions whose probability is at least a threshold.

        Parameters
        ----------
        threshold : float
            Minimum probability, in [0, 1].

        Returns
        -------
        predictions : PredictedEntities or PredictedLinks
            Table of the same type.
        """
        kept = self.proba >= check_real(threshold, low=0, high=1, name="threshold")
        columns = {name: column[kept] for name, column in self._columns().items()}
        return replace(self, **columns)  # type: ignore[type-var]


@dataclass(frozen=True, repr=False, eq=False)
class PredictedEntities(_Predictions):
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
    skcalib.experimental.to_spacy : Write the entities into spaCy documents.

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
        rows = read_spans(spans, sizes.tolist(), "spans")
        labels = sorted({row[2] for found in rows for row in found})
        proba = np.array([row[3] for found in rows for row in found], np.float64)
        return _entity_table(span_array(rows, labels), labels, proba, words, sizes)

    def __repr__(self) -> str:
        return (
            f"PredictedEntities(n_entities={len(self)}, "
            f"n_sentences={self.lengths.size})"
        )

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
                # Spans are sorted by their start, so an overlap is with the span
                # before.
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
        words = [list(map(str, sentence)) for sentence in self.tokens]
        # Columns are padded only if spaces separate them.
        widths = [0, 0]
        if delimiter is None:
            columns = [list(chain.from_iterable(each)) for each in (words, tags)]
            widths = [max(map(len, column), default=0) for column in columns]
        between = " " if delimiter is None else delimiter
        sentences = []
        for rows in zip(words, tags, numbers, strict=True):
            cells = (
                (word.ljust(widths[0]), tag.ljust(widths[1]), number)
                for word, tag, number in zip(*rows, strict=True)
            )
            sentences.append("\n".join(between.join(row).rstrip() for row in cells))
        return "\n\n".join(sentences)


def _entity_table(
    found: np.ndarray,
    labels: list[str],
    proba: np.ndarray,
    tokens: list[list[Any]] | None,
    lengths: np.ndarray,
) -> PredictedEntities:
    """Return the table of spans, whose rows are as in `span_array`."""
    sentence, start, stop, label = found.T
    text = None
    if tokens is not None:
        rows = found[:, :3].tolist()
        text = label_array(" ".join(map(str, tokens[i][a:b])) for i, a, b in rows)
    names, proba = label_array(labels[k] for k in label.tolist()), np.clip(proba, 0, 1)
    return PredictedEntities(sentence, start, stop, names, proba, text, tokens, lengths)


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
        # With a threshold of 0, every span of every length would be returned.
        check_positive(threshold, name="threshold")
        check_real(threshold, low=0, high=1, name="threshold")
    check_chain(posterior)
    words = None
    if tokens is not None:
        words = as_label_lists(tokens, name="tokens")
        check_sentences(posterior, list(map(len, words)), "tokens", "words")
    order = as_label_list(classes, name="classes")
    if len(set(order)) != len(order) or len(order) != posterior.n_tags:
        raise ParameterError(
            "classes",
            f"must have a different label for each of the {posterior.n_tags} tags of "
            f"the posterior. Got {order!r:.200}.",
        )
    meaning, labels = meaning_of(order, scheme)
    tags = [meaning[tag] for tag in order]
    if label is not None and label not in labels:
        raise ParameterError(
            "label", f"must be an entity label of the model, {labels}. Got {label!r}."
        )
    events = EntityEvents(tags, scheme)
    asked = _asked(posterior, tags, scheme, labels, threshold)
    if label is not None:
        asked = asked[asked[:, 3] == labels.index(label)]
    proba = span_probabilities(asked, labels, events, posterior)
    if threshold is not None:
        kept = proba >= threshold
        asked, proba = asked[kept], proba[kept]
    return _entity_table(asked, labels, proba, words, posterior.lengths)


def _asked(
    posterior: LinearChainPosterior,
    tags: list[tuple[str, str]],
    scheme: str,
    labels: list[str],
    threshold: float | None,
) -> np.ndarray:
    """Return the entities of the best tagging, or all that may reach the threshold.

    With a threshold, the spans are candidates: the caller computes their probabilities
    and keeps those that reach it. For example, with threshold .5, a span B-X I-X is a
    candidate if both tags have a marginal of at least .5, but its probability may be
    lower.
    """
    if threshold is None:
        paths = (path.tolist() for path in posterior.viterbi())
        return span_array(entities_of(paths, dict(enumerate(tags)), scheme), labels)
    place = {tag: k for k, tag in enumerate(tags)}
    found = []
    # An entity is at most as probable as each of its tags, up to rounding errors.
    least = threshold * (1 - 1e-9)
    for marginals in posterior.token_marginals():
        likely = marginals >= least
        spans = [
            (start, stop, label)
            for label in labels
            for start, stop in _candidates(likely, place, label, scheme == "BIO")
        ]
        # Candidates were found label by label.
        found.append(sorted(spans))
    return span_array(found, labels)


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
            # A longer span contains this token, which is then unlikely to be inside.
            if not inside[stop - 1]:
                break
    return found


@dataclass(frozen=True, repr=False, eq=False)
class PredictedLinks(_Predictions):
    """Links between mentions of documents, each with a probability.

    Attributes
    ----------
    document : ndarray of shape (n_links,), int
        Index of the document.
    mention, antecedent : ndarray of shape (n_links,), int
        Indices of the two mentions in the document. The antecedent is the earlier
        mention.
    proba : ndarray of shape (n_links,)
        Probability of the link.
    mention_name, antecedent_name : ndarray of shape (n_links,) or None
        The two mentions as they were passed, for example their texts. None if no
        mentions were passed.
    kind : {'antecedent', 'pair'}
        Meaning of a link, as in :func:`predicted_links`.
    lengths : ndarray of shape (n_documents,), int
        Number of mentions of each document.

    See Also
    --------
    predicted_links : Compute links and probabilities from a posterior.

    Examples
    --------
    >>> from skcalib.posteriors import AntecedentPosterior
    >>> from skcalib.experimental import predicted_links
    >>> posterior = AntecedentPosterior([[[0, 0, 0], [3, 0, 0], [0, 1, 0]]])
    >>> links = predicted_links(posterior)
    >>> links
    PredictedLinks(n_links=2, n_documents=1, kind='antecedent')
    >>> links.above(0.9).clusters()
    [array([0, 0, 2])]
    """

    document: np.ndarray
    mention: np.ndarray
    antecedent: np.ndarray
    proba: np.ndarray
    mention_name: np.ndarray | None
    antecedent_name: np.ndarray | None
    kind: str
    lengths: np.ndarray

    def __repr__(self) -> str:
        return (
            f"PredictedLinks(n_links={len(self)}, n_documents={self.lengths.size}, "
            f"kind={self.kind!r})"
        )

    def clusters(self) -> list[np.ndarray]:
        """Return the clustering of each document that the links define.

        The entities are the connected components of the links. Fewer links, for example
        after :meth:`above` with a higher threshold, give smaller entities.

        Returns
        -------
        labels : list of ndarray of shape (n_i,), int
            Label of each mention: the index of the first mention of its entity.
        """
        labels = []
        for i, n in enumerate(self.lengths.tolist()):
            here = self.document == i
            ends = (self.mention[here], self.antecedent[here])
            # An entity is all mentions that links connect, directly or not.
            graph = coo_array((np.ones(here.sum()), ends), shape=(n, n))
            _, component = connected_components(graph, directed=False)
            _, first, inverse = np.unique(
                component, return_index=True, return_inverse=True
            )
            # The label of an entity is its first mention, as from AntecedentPosterior.
            labels.append(first[inverse])
        return labels


@public
def predicted_links(
    posterior: AntecedentPosterior,
    *,
    mentions: Sequence[Sequence[Any]] | None = None,
    kind: str = "antecedent",
    threshold: float | None = None,
) -> PredictedLinks:
    """Return the coreference links in new text, each with its exact probability.

    Parameters
    ----------
    posterior : AntecedentPosterior
        Posterior over the clusterings of the documents.
    mentions : sequence of sequences, default=None
        Names of the mentions of each document, for example their texts or positions.
        They are returned with the links.
    kind : {'antecedent', 'pair'}, default='antecedent'
        Meaning of a link. An 'antecedent' link means that the model chooses the earlier
        mention as the antecedent of the later mention. Its probability is a softmax
        over the candidates. A 'pair' link means that two mentions refer to the same
        entity, through any chain of antecedents. If an entity has several earlier
        mentions, they share the probability of the antecedent, so that each
        'antecedent' link can have a low probability. A 'pair' link does not have this
        disadvantage.
    threshold : float, default=None
        Minimum probability of the links. If None, the links to the best antecedents are
        returned. For ``kind="pair"``, these links define clusters, and all pairs of
        mentions in the same cluster are returned.

    Returns
    -------
    links : PredictedLinks
        The links in the order of documents, mentions and antecedents.

    See Also
    --------
    CorefPairQuery : Measure the calibration of pair probabilities.
    skcalib.posteriors.AntecedentPosterior.pair_marginals : Probabilities of pairs.
    skcalib.rates.threshold_for_precision : Choose the threshold.

    Examples
    --------
    >>> from skcalib.posteriors import AntecedentPosterior
    >>> from skcalib.experimental import predicted_links
    >>> posterior = AntecedentPosterior([[[0, 0, 0], [2, 0, 0], [1, 1, 0]]])
    >>> names = [["Ada", "she", "her"]]
    >>> for link in predicted_links(posterior, mentions=names).records():
    ...     print(link["mention_name"], link["antecedent_name"], f"{link['proba']:.2f}")
    she Ada 0.88
    her Ada 0.42
    >>> predicted_links(posterior, kind="pair", threshold=0.5).proba.round(2)
    array([0.88, 0.79, 0.79])
    """
    check_choice(kind, ("antecedent", "pair"), name="kind")
    if threshold is not None:
        check_real(threshold, low=0, high=1, name="threshold")
    is_one = hasattr(posterior, "antecedent_proba")
    check_posterior(posterior, "an AntecedentPosterior", is_one)
    lengths = posterior.lengths
    names = None if mentions is None else _checked_names(mentions, lengths.tolist())
    document, mention, antecedent, q = _links(posterior, kind, threshold)
    later = earlier = None
    if names is not None:
        later, earlier = (
            object_array([names[i][j] for i, j in zip(document, side, strict=True)])
            for side in (mention, antecedent)
        )
    return PredictedLinks(
        document, mention, antecedent, q, later, earlier, kind, lengths
    )


def _links(
    posterior: AntecedentPosterior, kind: str, threshold: float | None
) -> Iterable[np.ndarray]:
    """Return documents, mentions, antecedents and probabilities of the links."""
    is_pair = kind == "pair"
    proba = posterior.pair_marginals() if is_pair else posterior.antecedent_proba()
    if threshold is None and is_pair:
        wanted = [np.equal.outer(labels, labels) for labels in posterior.map_clusters()]
    elif threshold is None:
        wanted = [_best(scores) for scores in posterior.log_scores]
    else:
        wanted = [rows >= threshold for rows in proba]
    none = np.zeros(0, dtype=np.intp)
    columns = [(none, none, none, np.zeros(0))]
    for i, (rows, chosen) in enumerate(zip(proba, wanted, strict=True)):
        # NEW, on the diagonal, is not a link.
        mention, antecedent = np.nonzero(np.tril(chosen, -1))
        document = np.full(mention.size, i)
        columns.append((document, mention, antecedent, rows[mention, antecedent]))
    return map(np.concatenate, zip(*columns, strict=True))


def _best(scores: np.ndarray) -> np.ndarray:
    """Return a mask of the best antecedents; ties go to the first, with NEW last."""
    best = np.zeros(scores.shape, dtype=bool)
    if scores.size:
        best[np.arange(len(scores)), scores.argmax(axis=1)] = True
    return best


def _checked_names(mentions: Any, lengths: list[int]) -> list[list[Any]]:
    sizes = None
    if is_sequence(mentions) and all(map(is_sequence, mentions)):
        sizes = list(map(len, mentions))
    if sizes != lengths:
        raise ParameterError(
            "mentions",
            "must have the mentions of each document of the posterior, which has "
            f"{lengths!r:.60} mentions. Got {sizes or mentions!r:.60}.",
        )
    return [list(each) for each in mentions]
