"""Trees of dependencies, as a list with the head of each word, -1 for a root."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

__all__ = ["check_parses", "children_of", "find_cycle", "head_of_span"]


def check_parses(
    document: Any, *, caller: str, needed: Collection[int] | None = None
) -> None:
    """Raise if a sentence has words in a circle, or no parse where it is needed.

    `needed` are the indices of sentences that need a parse. None: all.
    """
    for s, sentence in enumerate(document.sentences):
        heads = sentence.head
        if len(heads) > 1 and max(heads) < 0 and (needed is None or s in needed):
            raise ValueError(
                f"{caller} needs parses, and {_place(document, s)} has none: all "
                "heads are -1. Parse the text, with spaCy and Document.from_spacy say, "
                "or read a file that has parses."
            )
        cycle = find_cycle(heads)
        if cycle:
            words = ", ".join(f"{i} ({sentence.form[i]!r})" for i in sorted(cycle))
            raise ValueError(
                f"{caller} needs parses that are trees. In {_place(document, s)} these "
                f"words depend on each other in a circle: {words}."
            )


def _place(document: Any, s: int) -> str:
    name = document.sentences[s].sent_id
    named = "" if name is None else f" ({name})"
    return f"sentence {s}{named} of document {document.id!r}"


def find_cycle(heads: Sequence[int]) -> list[int]:
    """Return words that depend on each other in a circle; none if there is no such."""
    reaches_root = [False] * len(heads)
    for start in range(len(heads)):
        path: list[int] = []
        word = start
        while word >= 0 and not reaches_root[word]:
            if len(path) > len(heads):
                return list(dict.fromkeys(path[path.index(word) :]))
            path.append(word)
            word = heads[word]
        for word in path:
            reaches_root[word] = True
    return []


def children_of(heads: Sequence[int]) -> list[list[int]]:
    """Return the words that depend on each word, in order."""
    children: list[list[int]] = [[] for _ in heads]
    for word, head in enumerate(heads):
        if head >= 0:
            children[head].append(word)
    return children


def head_of_span(
    heads: Sequence[int], upos: Sequence[str], start: int, end: int
) -> int | None:
    """Return the word of a span whose head lies outside, no punctuation if possible."""
    outside = [t for t in range(start, end) if not start <= heads[t] < end]
    words = [t for t in outside if upos[t] != "PUNCT"]
    return next(iter(words or outside), None)
