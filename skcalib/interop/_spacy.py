"""Scores of spaCy's components, and entities written into spaCy's documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._clusterings import check_entries
from .._errors import ParameterError, ParameterTypeError, public
from .._validation import check_integer, check_real
from ..queries._predicted import PredictedEntities


@public
def from_spacy_beam(
    ner: Any, docs: Sequence[Any], *, beam_width: int = 16, beam_density: float = 0.0001
) -> list[list[tuple[int, int, str, float]]]:
    """Return the entities in the beam of spaCy's entity recogniser, with probabilities.

    Parameters
    ----------
    ner : EntityRecognizer
        Pipeline component ``nlp.get_pipe("ner")``.
    docs : sequence of Doc
        Documents that the components before `ner` have processed.
    beam_width : int, default=16
        Number of parses in the beam.
    beam_density : float, default=0.0001
        Minimum ratio of a score to the best score. Parses with a smaller ratio are
        removed from the beam.

    Returns
    -------
    spans : list of list of (start, stop, label, probability)
        Entities of each document that are in at least one parse of the beam, in the
        format of :meth:`skcalib.queries.SpanQuery.from_proba` and
        :meth:`skcalib.experimental.PredictedEntities.from_spans`.

    See Also
    --------
    to_spacy : Write probabilities into documents.

    Notes
    -----
    The probability of an entity is the sum of the probabilities of the parses in the
    beam that contain the entity. The probabilities of the parses in the beam are
    normalised to sum to one, so that the probability of an entity depends on the width
    of the beam. Unless ``beam_update_prob`` is positive, spaCy trains `ner` on single
    transitions of the parser, so that training does not optimise these probabilities.
    Measure their calibration, and choose a threshold on labelled text.

    Examples
    --------
    With spaCy, call ``from_spacy_beam(nlp.get_pipe("ner"), docs)``. This example builds
    an object with the parts of the component that the function uses:

    >>> from types import SimpleNamespace
    >>> from skcalib.experimental import from_spacy_beam
    >>> parses = [(0.5, [(0, 2, "PER")]), (0.25, [(0, 1, "PER")]), (0.25, [])]
    >>> ner = SimpleNamespace(
    ...     beam_parse=lambda docs, beam_width, beam_density: [parses] * len(docs),
    ...     moves=SimpleNamespace(get_beam_parses=lambda beam: beam),
    ... )
    >>> from_spacy_beam(ner, ["a doc"])
    [[(0, 2, 'PER', 0.5), (0, 1, 'PER', 0.25)]]
    """
    width = check_integer(beam_width, minimum=1, name="beam_width")
    density = check_real(beam_density, low=0, high=1, name="beam_density")
    if not (hasattr(ner, "beam_parse") and hasattr(ner, "moves")):
        expected = "must be spaCy's EntityRecognizer, nlp.get_pipe('ner')"
        raise ParameterTypeError("ner", f"{expected}. Got {type(ner).__name__}.")
    check_entries(docs, None, "document", "docs")
    beams = ner.beam_parse(list(docs), beam_width=width, beam_density=density)
    return [_beam_entities(ner.moves.get_beam_parses(beam)) for beam in beams]


def _beam_entities(parses: Any) -> list[tuple[int, int, str, float]]:
    total = 0.0
    found: dict[tuple[int, int, str], float] = {}
    for proba, entities in parses:
        total += float(proba)
        # An entity counts once for each parse that contains it.
        for start, stop, label in set(map(tuple, entities)):
            key = int(start), int(stop), str(label)
            found[key] = found.get(key, 0.0) + float(proba)
    return [(*key, min(1.0, proba / total)) for key, proba in found.items()]


@public
def to_spacy(
    entities: PredictedEntities,
    docs: Sequence[Any],
    *,
    attribute: str = "proba",
    spans_key: str | None = None,
) -> list[Any]:
    """Write entities and their probabilities into spaCy documents.

    Parameters
    ----------
    entities : PredictedEntities
        Predicted entities. Sentence i has the entities of document i.
    docs : sequence of Doc
        Documents with the same tokens. They are modified.
    attribute : str, default='proba'
        Name of the span extension that stores the probability. By default, the
        probability is ``span._.proba``.
    spans_key : str, default=None
        Key of ``doc.spans`` to which the entities are written. The probabilities are
        then also written to ``doc.spans[...].attrs["scores"]``. If None, the entities
        become ``doc.ents``, and they must not overlap.

    Returns
    -------
    docs : list of Doc
        Modified documents.

    Raises
    ------
    ImportError
        If spaCy is not installed.

    See Also
    --------
    skcalib.experimental.predicted_entities : Entities with their probabilities.
    from_spacy_beam : Entities of spaCy's entity recogniser.

    Examples
    --------
    >>> from skcalib.experimental import to_spacy
    >>> docs = to_spacy(entities.above(0.9), docs)  # doctest: +SKIP
    >>> [(ent.text, ent._.proba) for ent in docs[0].ents]  # doctest: +SKIP
    [('Ada Lovelace', 0.94)]
    """
    try:
        from spacy.tokens import Span
    except ImportError as error:
        raise ImportError(
            "to_spacy needs spaCy, which is not installed. Install it with "
            "`pip install skcalib[spacy]`, or use entities.records()."
        ) from error
    found = list(map(len, docs))
    if found != entities.lengths.tolist():
        raise ParameterError(
            "docs",
            "must have a document with the same tokens for each sentence of "
            f"'entities', with {entities.lengths.tolist()!r:.60} tokens. Got documents "
            f"with {found!r:.60} tokens.",
        )
    if spans_key is None:
        entities.tags()  # raises an error if two entities share a token
    if not Span.has_extension(attribute):
        Span.set_extension(attribute, default=None)
    for doc, rows in zip(docs, entities.spans(), strict=True):
        spans = [Span(doc, start, stop, label=label) for start, stop, label, _ in rows]
        for span, row in zip(spans, rows, strict=True):
            span._.set(attribute, row[3])
        if spans_key is None:
            doc.ents = spans
        else:
            doc.spans[spans_key] = spans
            doc.spans[spans_key].attrs["scores"] = np.array([row[3] for row in rows])
    return list(docs)
