"""Token classification models of Hugging Face transformers, and their pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax

from .._clusterings import check_entries
from .._errors import ParameterError, ParameterTypeError, public
from .._validation import as_label_list, check_choice, is_integer, out_of_range
from ..posteriors import LinearChainPosterior
from ..posteriors._checks import warn_of_proba
from ._arrays import as_indices, as_numpy, transitions_of, without_nan


@public
def from_transformers(
    logits: Any,
    word_ids: Sequence[Sequence[int | None]],
    id2label: Mapping[int, str] | ArrayLike,
    *,
    pieces: str = "first",
    scheme: str | None = "BIO",
    n_words: ArrayLike | None = None,
) -> tuple[LinearChainPosterior, list[str]]:
    """Return the posterior of a token classification model over the tags of words.

    Parameters
    ----------
    logits : tensor of shape (n_sentences, n_pieces, n_tags)
        Output of the model, including padding. A list of tensors of shape (n_pieces,
        n_tags) is also accepted. Logarithms of probabilities can be passed as logits,
        but probabilities cannot.
    word_ids : sequence of sequences of int or None
        Word index of each piece, from ``encoding.word_ids(i)`` for each sentence i.
        Special pieces and padding have None and are left out.
    id2label : mapping or sequence of str
        Labels of the tag indices, from ``model.config.id2label``.
    pieces : {'first', 'mean', 'product'}, default='first'
        How the probabilities of the pieces of a word are combined: the probabilities of
        its first piece, the mean over its pieces, or the normalised product over its
        pieces. Use 'first' for a model trained only on first pieces, as most models are
        (the other pieces have the label -100).
    scheme : {'BIO', 'BILOU', 'BIOES'} or None, default='BIO'
        Scheme in which taggings must be valid. If None, all taggings are possible, and
        the tags of a sentence are independent. Use None for tags that are not entities.
    n_words : array-like of int of shape (n_sentences,), default=None
        Number of words of each sentence. If given, an error is raised if the tokenizer
        cut off words at its maximum length. If None, such words are not detected.

    Returns
    -------
    posterior : LinearChainPosterior
        Posterior over the tags of the words of each sentence.
    classes : list of str
        Labels of the tag indices of the posterior.

    Raises
    ------
    ValueError
        If a word does not have a piece, or if a tag cannot occur in any valid tagging,
        for example I-PER if `id2label` does not have B-PER. The message names the word
        or the tag.

    See Also
    --------
    from_pipeline : Entities that the pipeline returns.
    skcalib.experimental.predicted_entities : Entities with their probabilities.

    Notes
    -----
    The model has one softmax per piece. Without a scheme, the tags of different words
    are independent. With a scheme, the posterior is the same distribution, conditioned
    on the event that the tagging is valid in the scheme (for example, I-PER never
    follows O). The probabilities of all entities are then computed from a single
    distribution over taggings.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.interop import from_transformers
    >>> from skcalib.experimental import predicted_entities
    >>> logits = np.zeros((1, 5, 3))  # [CLS] Love ##lace wrote [SEP]
    >>> logits[0, 1] = [0.0, 3.0, 1.0]
    >>> logits[0, 3] = [4.0, 0.0, 0.0]
    >>> id2label = {0: "O", 1: "B-PER", 2: "I-PER"}
    >>> word_ids = [[None, 0, 0, 1, None]]
    >>> posterior, classes = from_transformers(logits, word_ids, id2label)
    >>> tokens = [["Lovelace", "wrote"]]
    >>> predicted_entities(posterior, classes, tokens=tokens).proba.round(3)
    array([0.937])
    """
    check_choice(pieces, ("first", "mean", "product"), name="pieces")
    batch = logits if isinstance(logits, (list, tuple)) else as_numpy(logits, "logits")
    check_entries(batch, None, "sentence", "logits")
    sentences = [as_numpy(each, "logits") for each in batch]
    if any(each.ndim != 2 for each in sentences):
        raise ParameterError(
            "logits",
            "must have shape (n_sentences, n_pieces, n_tags). Got shape "
            f"{getattr(logits, 'shape', None) or sentences[0].shape}.",
        )
    without_nan(sentences, "logits")
    warn_of_proba(sentences, "logits")
    check_entries(word_ids, len(sentences), "sentence", "word_ids")
    counts: list[Any] = [None] * len(sentences)
    if n_words is not None:
        check_entries(n_words, len(sentences), "sentence", "n_words")
        counts = as_indices(n_words, "n_words").tolist()
    width = sentences[0].shape[1] if sentences else len(id2label)  # type: ignore[arg-type]
    classes = _labels_of_tags(id2label, width)
    rows = [
        _words(
            log_softmax(scores.astype(np.float64), axis=1),
            _places(ids, len(scores), count, i),
            pieces,
        )
        for i, (scores, ids, count) in enumerate(
            zip(sentences, word_ids, counts, strict=True)
        )
    ]
    # Conditioning on valid taggings only adds transitions of 0 and -inf.
    transitions: tuple[np.ndarray, ...] = (np.zeros((width, width)),)
    if scheme is not None:
        transitions = transitions_of(classes, scheme, "id2label")
    return LinearChainPosterior(rows, *transitions), classes


def _labels_of_tags(labels: Any, n_tags: int) -> list[Any]:
    """Return the label of each tag index, from a list or an `id2label` mapping."""
    if hasattr(labels, "items"):
        if not all(str(k).isdecimal() for k in labels):
            raise ParameterError(
                "id2label",
                "must map tag indices to labels, like id2label, not labels to tag "
                f"indices. Got the keys {list(labels)!r:.60}.",
            )
        found = {int(k): label for k, label in labels.items()}
        if set(found) != set(range(len(found))):
            raise ParameterError(
                "id2label",
                "must have the labels of the tags 0, 1, ... Got the keys "
                f"{sorted(found)!r:.60}.",
            )
        order = [found[k] for k in range(len(found))]
    else:
        order = as_label_list(labels, name="id2label")
    if len(order) != n_tags:
        raise ParameterError(
            "id2label",
            f"must have a label for each of the {n_tags} tags. Got {len(order)}: "
            f"{order!r:.100}.",
        )
    return order


def _places(ids: Any, n: int, n_words: Any, i: int) -> np.ndarray:
    """Return the word of each piece, -1 for special pieces. Words need a piece."""
    check_entries(ids, None, "piece", "word_ids")
    if len(ids) != n:
        raise ParameterError(
            "word_ids",
            f"must have an entry for each of the {n} pieces of sentence {i}, padding "
            f"included. Got {len(ids)}. Add None for the padding, or cut the logits to "
            "the pieces.",
        )
    # a column of a table has NaN instead of None
    places = as_indices([-1 if k is None or k != k else k for k in ids], "word_ids")
    size = int(places.max(initial=-1)) + 1
    if n_words is not None and size > n_words:
        raise ParameterError(
            "n_words",
            f"must be at least the number of words that have pieces. Got {n_words} "
            f"for sentence {i}, whose pieces belong to {size} words.",
        )
    size = size if n_words is None else int(n_words)
    missing = np.setdiff1d(np.arange(size), places)
    if missing.size:
        raise ParameterError(
            "word_ids",
            f"must have a piece for every word. Word {missing[0]} of sentence {i} does "
            f"not have a piece ({missing.size} of its {size} words do not). The "
            "tokenizer cuts long sentences, and drops words that only contain control "
            "characters: split the sentence, or replace the word.",
        )
    return places


def _words(log_proba: np.ndarray, places: np.ndarray, pieces: str) -> np.ndarray:
    """Return the log probabilities of the words of a sentence."""
    inside = np.flatnonzero(places >= 0)
    # `first` are the first pieces of the words, in the order of the words
    words, first = np.unique(places[inside], return_index=True)
    if pieces == "first":
        return log_proba[inside[first]]
    total = np.zeros((words.size, log_proba.shape[1]))
    if pieces == "product":
        np.add.at(total, places[inside], log_proba[inside])
        return log_softmax(total, axis=1) if words.size else total
    np.add.at(total, places[inside], np.exp(log_proba[inside]))
    with np.errstate(divide="ignore"):
        return np.log(total / np.bincount(places[inside])[:, None])


@public
def from_pipeline(
    results: Sequence[Sequence[Mapping[str, Any]]],
    offsets: Sequence[Sequence[tuple[int, int]]],
    *,
    alignment: str = "strict",
) -> list[list[tuple[int, int, str, float]]]:
    """Return the entities of a token classification pipeline as spans of tokens.

    Parameters
    ----------
    results : sequence with an entry for each text
        Entities that ``pipeline("token-classification", aggregation_strategy=...)``
        returns for each text, as dicts with `entity_group`, `score`, `start` and `end`.
    offsets : sequence with an entry for each text
        Index of the first character of each token of the text, and index of the
        character after its last character.
    alignment : {'strict', 'expand'}, default='strict'
        How an entity that begins or ends inside a token is treated. 'strict' raises an
        error. 'expand' extends the entity to the whole token. If two entities then have
        the same tokens and label, the higher score is kept.

    Returns
    -------
    spans : list of list of (start, stop, label, score)
        Entities of each text, in the format of
        :meth:`skcalib.queries.SpanQuery.from_proba` and
        :meth:`skcalib.experimental.PredictedEntities.from_spans`.

    Raises
    ------
    ValueError
        If a score is not in [0, 1], or if a text does not have tokens where it has an
        entity. The message names the text.

    See Also
    --------
    from_transformers : Exact probabilities of entities from the logits of the model.

    Notes
    -----
    The score of the pipeline is the mean of the probabilities of the best tags of the
    tokens. It is not the probability of the entity, which is usually lower. An entity
    with one wrong boundary is wrong, but the mean does not take this into account.

    Examples
    --------
    >>> from skcalib.experimental import from_pipeline
    >>> results = [[{"entity_group": "PER", "score": 0.98, "start": 0, "end": 12}]]
    >>> offsets = [[(0, 3), (4, 12), (13, 18)]]  # Ada Lovelace wrote
    >>> from_pipeline(results, offsets)
    [[(0, 2, 'PER', 0.98)]]
    """
    check_choice(alignment, ("strict", "expand"), name="alignment")
    check_entries(results, None, "text", "results")
    if any(isinstance(each, Mapping) for each in results):
        raise ParameterTypeError(
            "results",
            "must have a list of entities for each text. Got the entities of one "
            "text: pass [results] and [offsets].",
        )
    check_entries(offsets, len(results), "text", "offsets")
    return [
        _spans_of_text(i, entities, np.asarray(places).reshape(-1, 2), alignment)
        for i, (entities, places) in enumerate(zip(results, offsets, strict=True))
    ]


def _spans_of_text(
    i: int, entities: Sequence[Mapping[str, Any]], places: np.ndarray, alignment: str
) -> list[tuple[int, int, str, float]]:
    found: dict[tuple[int, int, str], float] = {}
    for entity in entities:
        begin, end, score = _read_entity(entity, i)
        # tokens that share a character with the entity
        touched = np.flatnonzero((places[:, 0] < end) & (places[:, 1] > begin))
        exact = touched.size and (
            places[touched[0], 0] == begin and places[touched[-1], 1] == end
        )
        if not touched.size or (alignment == "strict" and not exact):
            hint = " Pass alignment='expand' to take whole tokens." * bool(touched.size)
            raise ParameterError(
                "offsets",
                f"must have tokens from character {begin} to {end}, where text {i} "
                f"has an entity.{hint}",
            )
        key = int(touched[0]), int(touched[-1]) + 1, str(entity["entity_group"])
        found[key] = max(found.get(key, 0.0), score)
    return [(*key, score) for key, score in found.items()]


def _read_entity(entity: Any, i: int) -> tuple[int, int, float]:
    """Return the characters and the score of an entity of text i."""
    is_read = isinstance(entity, Mapping) and "entity_group" in entity
    known: Any = entity if is_read else {}
    begin, end, score = map(known.get, ("start", "end", "score"))
    if not (is_integer(begin) and is_integer(end) and isinstance(score, Real)):
        raise ParameterError(
            "results",
            "must contain entities with 'entity_group', 'score', 'start' and 'end'. "
            f"Got {entity!r:.100} in text {i}: create the pipeline with "
            "aggregation_strategy='simple' and a fast tokenizer.",
        )
    if out_of_range(np.array([score], dtype=np.float64))[0]:
        raise ParameterError(
            "results",
            "must have scores that are probabilities in [0, 1]. Got "
            f"{float(score)!r} for characters {begin} to {end} of text {i}.",
        )
    return int(begin), int(end), min(1.0, max(0.0, float(score)))
