"""Entities in tag sequences, and the tags that form an entity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ._errors import ParameterError

__all__ = ["SCHEMES", "EntityEvents", "Tag", "find_entities", "mend_tags", "read_tags"]

# The prefixes of tags inside entities.
SCHEMES = {"BIO": ("B", "I"), "BILOU": ("B", "I", "L", "U")}

# (prefix, entity label) of a tag.
Tag = tuple[str, str]

_OUTSIDE = ("O", "")


def read_tags(
    tags: list, scheme: str, name: str, lengths: Sequence[int] = ()
) -> dict[Any, Tag]:
    """Return the prefix and the entity label of each different tag.

    `lengths` are the lengths of the sentences; errors use them to locate a wrong tag.
    """
    found: dict[Any, Tag] = {}
    for tag in dict.fromkeys(tags):
        prefix, _, label = tag.partition("-") if isinstance(tag, str) else ("", "", "")
        if tag != "O" and prefix not in SCHEMES[scheme]:
            expected = ", ".join(f"'{p}-PER'" for p in SCHEMES[scheme])
            raise ParameterError(
                name,
                f"must hold tags of the scheme {scheme!r}, such as 'O', "
                f"{expected}. Got {tag!r}{_place(tags.index(tag), lengths)}.",
            )
        found[tag] = _OUTSIDE if tag == "O" else (prefix, label)
    return found


def _place(t: int, lengths: Sequence[int]) -> str:
    """Return the token and sentence of position t, counted over all sentences."""
    for i, length in enumerate(lengths):
        if t < length:
            return f" for token {t} of sentence {i}"
        t -= length
    return ""


def find_entities(tags: Iterable[Tag], scheme: str) -> list[tuple[int, int, str]]:
    """Return (start, stop, label) of the entities of one sentence.

    In BIO, an entity ends where no inside tag follows. In BILOU, it has to be closed.
    """
    found = []
    start, open_label = 0, ""
    is_open = False
    for t, (prefix, label) in enumerate([*tags, _OUTSIDE]):
        goes_on = is_open and prefix in ("I", "L") and label == open_label
        if is_open and not goes_on and scheme == "BIO":
            found.append((start, t, open_label))
        elif goes_on and prefix == "L":
            found.append((start, t + 1, label))
        elif prefix == "U":
            found.append((t, t + 1, label))
        is_open = prefix == "B" or (goes_on and prefix == "I")
        if prefix == "B":
            start, open_label = t, label
    return found


def mend_tags(tags: Iterable[Tag]) -> list[Tag]:
    """Return BIO tags in which an inside tag that continues no entity begins one."""
    mended: list[Tag] = []
    for prefix, label in tags:
        goes_on = bool(mended) and mended[-1] != _OUTSIDE and mended[-1][1] == label
        mended.append(
            ("B", label) if prefix == "I" and not goes_on else (prefix, label)
        )
    return mended


class EntityEvents:
    """Tags of a model that form an entity.

    `tags` are the prefix and label of each tag index.
    """

    def __init__(self, tags: list[Tag], scheme: str):
        self.scheme = scheme
        self._place = {tag: k for k, tag in enumerate(tags)}
        self._n_tags = len(tags)
        self._known: dict[tuple[str, int, bool], list | None] = {}

    def tags(self, label: str, length: int, followed: bool) -> list | None:
        """Return the tags from the first token on; None if the model lacks these tags.

        `followed` states whether the sentence continues after the span.
        """
        key = (label, length, followed)
        if key not in self._known:
            make = self._bio if self.scheme == "BIO" else self._bilou
            self._known[key] = make(*key)
        return self._known[key]

    def _bio(self, label: str, length: int, followed: bool) -> list | None:
        begin = self._place.get(("B", label))
        inside = self._place.get(("I", label))
        if begin is None or (inside is None and length > 1):
            return None
        tags: list[Any] = [begin, *[inside] * (length - 1)]
        if followed and inside is not None:
            tags.append(frozenset(range(self._n_tags)) - {inside})
        return tags

    def _bilou(self, label: str, length: int, followed: bool) -> list | None:
        prefixes = ["U"] if length == 1 else ["B", *["I"] * (length - 2), "L"]
        tags = [self._place.get((prefix, label)) for prefix in prefixes]
        return None if None in tags else tags
