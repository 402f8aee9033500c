"""The columns of sentences from a spaCy Doc, without importing spaCy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .._errors import ParameterError, ParameterTypeError

__all__ = ["sentence_columns"]


def sentence_columns(doc: Any) -> Iterator[dict[str, Any]]:
    """Yield the columns of each sentence, as the parameters of Sentence."""
    if isinstance(doc, str) or not hasattr(doc, "sents"):
        raise ParameterTypeError(
            "doc",
            f"must be a spaCy Doc. Got {type(doc).__name__} instead.",
        )
    for tokens in _sentences(doc):
        yield _columns(list(tokens))


def _sentences(doc: Any) -> Sequence[Any]:
    try:
        return list(doc.sents)
    except ValueError:  # there are no boundaries
        return [doc] if len(doc) else []


def _columns(tokens: list[Any]) -> dict[str, Any]:
    return {
        "form": [token.text for token in tokens],
        "lemma": [token.lemma_ or "_" for token in tokens],
        "upos": [token.pos_ or "_" for token in tokens],
        "xpos": [token.tag_ or "_" for token in tokens],
        "feats": [str(token.morph) or "_" for token in tokens],
        "head": _heads(tokens),
        "deprel": [token.dep_ or "_" for token in tokens],
    }


def _heads(tokens: list[Any]) -> list[int]:
    """Return heads as indices in the sentence. In spaCy a root is its own head."""
    place = {token.i: n for n, token in enumerate(tokens)}
    heads = []
    for n, token in enumerate(tokens):
        head = place.get(token.head.i)
        if head is None:
            raise ParameterError(
                None,
                "needs each head in the same sentence as its dependent. Token "
                f"{token.i} ({token.text!r}) has its head, token {token.head.i}, in "
                "another sentence. Let the parser set the sentence boundaries.",
            )
        heads.append(-1 if head == n else head)
    return heads
