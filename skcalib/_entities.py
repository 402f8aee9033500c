"""Entities in tag sequences, and the tags that form an entity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ._errors import ParameterError, parameter

# Prefixes of the tags of entities, and their names in this module.
SCHEMES = {
    "BIO": {"B": "B", "I": "I"},
    "BILOU": {"B": "B", "I": "I", "L": "L", "U": "U"},
    "IOBES": {"B": "B", "I": "I", "E": "L", "S": "U"},
    "IOB1": {"B": "B", "I": "I"},
    "IOE1": {"I": "I", "E": "E"},
    "IOE2": {"I": "I", "E": "E"},
}
# Schemes in which the tags at the ends of an entity differ from the others.
POSTERIOR_SCHEMES = ("BIO", "BILOU", "IOBES")
_OTHER_NAMES = {"IOB2": "BIO", "BILUO": "BILOU", "BIOES": "IOBES"}
_SEVERAL_MEANINGS = {"IOB": ("IOB1", "IOB2"), "IOE": ("IOE1", "IOE2")}

# First, middle and last tag of an entity, and the tag of a single-token entity.
WRITTEN = {
    "BIO": ("B", "I", "I", "B"),
    "BILOU": ("B", "I", "L", "U"),
    "IOBES": ("B", "I", "E", "S"),
    "IOE2": ("I", "I", "E", "E"),
}

# (prefix, entity label) of a tag.
Tag = tuple[str, str]

_OUTSIDE = ("O", "")


def as_scheme(name: Any) -> str:
    """Return the key of SCHEMES for a name in upper or lower case."""
    key = name.upper() if isinstance(name, str) else ""
    key = _OTHER_NAMES.get(key, key)
    if key in SCHEMES:
        return key
    expected = ", ".join(map(repr, [*SCHEMES, *_OTHER_NAMES]))
    problem = f"must be one of {expected}. Got {name!r} instead."
    if key in _SEVERAL_MEANINGS:
        first, second = _SEVERAL_MEANINGS[key]
        problem = (
            f"must say which scheme is meant. {name!r} can mean {first!r} or "
            f"{second!r}."
        )
    raise ParameterError("scheme", problem)


def as_posterior_scheme(name: Any) -> str:
    """Return the key of a scheme in which spans have a known probability."""
    key = as_scheme(name)
    if key in POSTERIOR_SCHEMES:
        return key
    raise ParameterError(
        "scheme",
        "must be 'BIO', 'BILOU' or 'IOBES' for the posterior of a tagger. Got "
        f"{name!r}. Convert the labels by skcalib.sequence.convert_tags and train the "
        "tagger on them.",
    )


def read_tags(
    tags: list, scheme: str, name: str, lengths: Sequence[int] = ()
) -> dict[Any, Tag]:
    """Return the prefix and the entity label of each distinct tag.

    `lengths` are the lengths of the sentences; errors use them to locate a wrong tag.
    """
    found: dict[Any, Tag] = {}
    for tag in dict.fromkeys(tags):
        prefix, _, label = tag.partition("-") if isinstance(tag, str) else ("", "", "")
        if tag != "O" and prefix not in SCHEMES[scheme]:
            expected = ", ".join(f"'{p}-PER'" for p in SCHEMES[scheme])
            option = parameter("scheme", "`scheme`")
            hint = f"Pass the {option} of the tags, or convert them with convert_tags."
            if not isinstance(tag, str):
                hint = "Map tag indices to their labels first."
            raise ParameterError(
                name,
                f"must contain tags of the scheme {scheme!r}, such as 'O', "
                f"{expected}. Got {tag!r}{_place(tags.index(tag), lengths)}. {hint}",
            )
        found[tag] = _OUTSIDE if tag == "O" else (SCHEMES[scheme][prefix], label)
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

    Tags that do not fit an entity of the scheme are not part of any entity.
    """
    tags = [*tags, _OUTSIDE]
    if scheme == "IOB1":
        return _find_begun_where_needed(tags)
    if scheme in ("IOE1", "IOE2"):
        return _find_ended(tags, always=scheme == "IOE2")
    return _find_begun(tags, closed=scheme != "BIO")


def _find_begun(tags: list[Tag], closed: bool) -> list[tuple[int, int, str]]:
    """Return entities that begin with B or U and, if `closed`, end with L or U."""
    found = []
    start, open_label = 0, ""
    is_open = False
    for t, (prefix, label) in enumerate(tags):
        goes_on = is_open and prefix in ("I", "L") and label == open_label
        if is_open and not goes_on and not closed:
            found.append((start, t, open_label))
        elif goes_on and prefix == "L":
            found.append((start, t + 1, label))
        elif prefix == "U":
            found.append((t, t + 1, label))
        is_open = prefix == "B" or (goes_on and prefix == "I")
        if prefix == "B":
            start, open_label = t, label
    return found


def _find_begun_where_needed(tags: list[Tag]) -> list[tuple[int, int, str]]:
    """Return entities that begin with B only after an entity with the same label."""
    found = []
    start: int | None = None
    before = _OUTSIDE
    for t, (prefix, label) in enumerate(tags):
        follows = before != _OUTSIDE and before[1] == label
        if start is None or prefix != "I" or not follows:
            if start is not None:
                found.append((start, t, before[1]))
            begins = prefix == "I" or (prefix == "B" and follows)
            start = t if begins else None
        before = (prefix, label)
    return found


def _find_ended(tags: list[Tag], always: bool) -> list[tuple[int, int, str]]:
    """Return entities whose last tag is E.

    If not `always`, the last tag is E only before an entity with the same label.
    """
    found = []
    start = 0
    for t, (tag, after) in enumerate(pairwise(tags)):
        follows = after != _OUTSIDE and after[1] == tag[1]
        if tag[0] == "I" and follows:
            continue
        is_entity = (tag[0] == "E") == (always or follows)
        if tag != _OUTSIDE and is_entity:
            found.append((start, t + 1, tag[1]))
        start = t + 1
    return found


def mend_tags(tags: Iterable[Tag]) -> list[Tag]:
    """Return BIO tags in which an inside tag begins an entity if it continues none."""
    mended: list[Tag] = []
    for prefix, label in tags:
        goes_on = bool(mended) and mended[-1] != _OUTSIDE and mended[-1][1] == label
        mended.append(
            ("B", label) if prefix == "I" and not goes_on else (prefix, label)
        )
    return mended


def allowed_tags(
    tags: list[Tag], scheme: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which tag pairs, first tags and last tags the scheme allows."""
    prefixes = np.array([prefix for prefix, _ in tags])
    labels = np.array([label for _, label in tags], dtype=object)
    is_open = np.isin(prefixes, ("B", "I"))
    goes_on = np.isin(prefixes, ("I", "L"))
    continued = is_open[:, None] & np.equal.outer(labels, labels).astype(bool)
    if scheme == "BIO":
        return ~goes_on | continued, ~goes_on, np.ones(len(tags), dtype=bool)
    return np.where(goes_on, continued, ~is_open[:, None]), ~goes_on, ~is_open


def lost_tags(meaning: dict[Any, Tag], scheme: str) -> list[Any]:
    """Return the tags that cannot be in any tagging, such as I-PER without B-PER.

    `meaning` maps all tags of a model or of a corpus to their prefixes and labels.
    """
    pairs, begun, ended = allowed_tags(list(meaning.values()), scheme)
    for _ in meaning:
        begun, ended = begun | begun @ pairs, ended | pairs @ ended
    return [tag for tag, ok in zip(meaning, begun & ended, strict=True) if not ok]


def why_lost(lost: list[Any]) -> str:
    """Return why some tags are not in any tagging, and what to do."""
    return (
        f"No valid tagging has {', '.join(map(repr, lost[:5]))}, because the tags that "
        "begin or end their entities are missing. Pass the `scheme` of the tags, or "
        "convert them with skcalib.sequence.convert_tags. If all tags of most entities "
        "are I-, the scheme is 'IOB1'."
    )


def check_possible(meaning: dict[Any, Tag], scheme: str, name: str) -> None:
    """Raise an error if a tag of a model cannot be in any tagging."""
    lost = lost_tags(meaning, scheme)
    if lost:
        raise ParameterError(
            name,
            f"must have tags that form entities in the scheme {scheme!r}. Got "
            f"{list(meaning)!r:.100}. {why_lost(lost)}",
        )


def _prefixes(length: int, scheme: str) -> list[str]:
    first, middle, last, only = WRITTEN[scheme]
    return [only] if length == 1 else [first, *[middle] * (length - 2), last]


def tags_of_entity(length: int, label: str, scheme: str) -> list[str]:
    """Return the tags of an entity."""
    prefixes = _prefixes(length, scheme)
    return [f"{prefix}-{label}" if label else prefix for prefix in prefixes]


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
            self._known[key] = self._make(*key)
        return self._known[key]

    def _make(self, label: str, length: int, followed: bool) -> list | None:
        scheme = "BIO" if self.scheme == "BIO" else "BILOU"  # the prefixes of a Tag
        tags: list[Any] = [
            self._place.get((prefix, label)) for prefix in _prefixes(length, scheme)
        ]
        if None in tags:
            return None
        inside = self._place.get(("I", label))
        if scheme == "BIO" and followed and inside is not None:
            tags.append(frozenset(range(self._n_tags)) - {inside})
        return tags
