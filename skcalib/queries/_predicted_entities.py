"""Entities that a tagger predicts in new text, each with its probability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._entities import (
    EntityEvents,
    as_posterior_scheme,
    check_possible,
    find_entities,
    read_tags,
)
from .._errors import ParameterError, ParameterTypeError, public
from .._validation import (
    as_label_list,
    as_label_lists,
    check_positive,
    check_real,
)
from ..posteriors import LinearChainPosterior
from ._entity_table import PredictedEntities, entity_table
from ._sentences import check_posterior
from ._span_probabilities import Spans, span_probabilities


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
    skcalib.evaluation.threshold_for_precision : Choose the threshold.

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
    >>> from skcalib.queries import predicted_entities
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
