"""Find names of several words in sentences: case, hyphens, endings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

ACRONYM = re.compile(r"(?:\w\.)+\w?\.?")
BREAK = re.compile(r"[-\u2010-\u2015/']")
POSSESSIVE = re.compile(r"(?<=.)'s?$", re.IGNORECASE)
# Between the words of a name these are passed over.
JOINTS = frozenset(("-", "--", "'", "'s", *map(chr, range(0x2010, 0x2016))))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# In lower case these are no names, whatever a lexicon lists: "us" is no country.
FUNCTION_WORDS = _words(
    "a am an are as at be by do for go had has he her him his i if in is it its me my "
    "no not of off on or our out she so that the them they this to up us was we were "
    "who will with you"
)
# In lower case these are more often something else: telegraph poles.
COMMON_WORDS = _words("jersey jerseys kiwi kiwis pole poles reunion swede swedes")
NOMINAL = frozenset(("NOUN", "PROPN", "ADJ"))
UNKNOWN = frozenset(("X", "_", ""))

PLURAL = ("s", "es")
# At least so much must remain: what is left of "nato" without two letters says nothing.
MIN_STEM = {"plural": 3, "light": 4}


class Piece(NamedTuple):
    """What stands between hyphens: the key to compare, and how it is written."""

    key: str
    capital: bool
    capitals: bool


class Found(NamedTuple):
    """A name in a sentence: words from `start` to `end` - 1, and whose it is."""

    start: int
    end: int
    codes: tuple[str, ...]


class Name(NamedTuple):
    """Whose a name is, and whether it is always written with a capital."""

    codes: tuple[str, ...]
    capital: bool


@lru_cache(maxsize=2**16)
def pieces_of(word: str) -> tuple[Piece, ...]:
    """Cut a word at hyphens, without accents, possessive and final dots."""
    plain = unicodedata.normalize("NFKD", word.replace("\u2019", "'"))
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    if plain.lower() in JOINTS:
        return ()
    parts = [part for part in BREAK.split(POSSESSIVE.sub("", plain)) if part]
    return tuple(map(_piece, parts)) or (Piece(plain.lower(), False, False),)


def _piece(part: str) -> Piece:
    key = part.lower()
    if len(key) > 2 and ACRONYM.fullmatch(key):
        key = ".".join(key.replace(".", "")) + "."
    else:
        key = key.rstrip(".") or key
    return Piece(key, part[0].isupper(), part.isupper())


class NameFinder:
    """Names and whose they are, ready to be found in sentences.

    `stemming` is None, 'plural' or 'light'. Names of `exclude` are of nobody: where one
    of them stands no shorter name is found.
    """

    def __init__(
        self,
        names: Iterable[tuple[str, str]],
        exclude: Iterable[str],
        *,
        match_case: bool,
        stemming: str | None,
    ):
        self.stemming = stemming
        self.names: dict[tuple[str, ...], Name] = {}
        for code, text in names:
            self._add(text, (code,), match_case)
        for text in exclude:
            self._add(text, (), match_case)
        self.lengths: dict[str, list[int]] = {}
        for key in sorted(self.names, key=len, reverse=True):
            lengths = self.lengths.setdefault(key[0], [])
            if len(key) not in lengths:
                lengths.append(len(key))

    def _add(self, text: str, codes: tuple[str, ...], match_case: bool) -> None:
        pieces = [piece for word in text.split() for piece in pieces_of(word)]
        key = tuple(piece.key for piece in pieces)
        capital = match_case and pieces[0].capital
        known = self.names.get(key)
        if known is not None:
            codes = known.codes + tuple(c for c in codes if c not in known.codes)
            capital = capital and known.capital
        self.names[key] = Name(codes, capital)

    def find(
        self, words: Sequence[str], upos: Sequence[str], *, lowercase: bool
    ) -> list[Found]:
        """Return the names in a sentence, from left to right, the longest at a word."""
        pieces: list[Piece] = []
        owner: list[int] = []
        for i, word in enumerate(words):
            for piece in pieces_of(word):
                pieces.append(piece)
                owner.append(i)
        keys = [piece.key for piece in pieces]
        shouted = len(words) > 1 and not any(c.islower() for w in words for c in w)
        found: list[tuple[int, int, tuple[str, ...]]] = []
        at = 0
        while at < len(keys):
            for length, name in self._names_at(keys, at):
                if _is_written_so(
                    pieces[at], name, length, upos[owner[at]], lowercase, shouted
                ):
                    found.append((at, at + length, name.codes))
                    at += length
                    break
            else:
                at += 1
        return _whole_words(found, owner)

    def _names_at(self, keys: list[str], at: int) -> Iterator[tuple[int, Name]]:
        """Yield the names that begin at a piece, the longest first, and their lengths.

        A form of a name is one only where it is no name itself.
        """
        for length in self._lengths(keys[at]):
            key = tuple(keys[at : at + length])
            if len(key) < length:
                continue
            for last in (key[-1], *stems(key[-1], self.stemming)):
                name = self.names.get((*key[:-1], last))
                if name is not None:
                    yield length, name
                    break

    def _lengths(self, first: str) -> list[int]:
        """Return how long names can be that begin so, the longest first."""
        lengths = self.lengths.get(first, [])
        if 1 not in lengths and any(
            (stem,) in self.names for stem in stems(first, self.stemming)
        ):
            return [*lengths, 1]
        return lengths


@lru_cache(maxsize=2**16)
def stems(key: str, stemming: str | None) -> tuple[str, ...]:
    """Return what may be looked up instead of a word that is in no name."""
    if stemming is None or "." in key:
        return ()
    if stemming == "plural":
        ends = [len(end) for end in PLURAL if key.endswith(end)]
    else:
        ends = [1, 2]
    return tuple(key[:-n] for n in ends if len(key) - n >= MIN_STEM[stemming])


def _is_written_so(
    piece: Piece, name: Name, length: int, upos: str, lowercase: bool, shouted: bool
) -> bool:
    """Say whether a word that has the letters of a name may be that name."""
    if length > 1:
        return piece.capital or lowercase or not name.capital
    if piece.key in FUNCTION_WORDS:
        return piece.capitals and (upos in NOMINAL or (upos in UNKNOWN and not shouted))
    if upos not in NOMINAL and upos not in UNKNOWN:
        return False
    if piece.capital:
        return True
    return not name.capital or (lowercase and piece.key not in COMMON_WORDS)


def _whole_words(
    found: list[tuple[int, int, tuple[str, ...]]], owner: list[int]
) -> list[Found]:
    """Keep names of whole words: no American in anti-American."""
    covered = {piece for start, end, _ in found for piece in range(start, end)}
    half = {owner[piece] for piece in range(len(owner)) if piece not in covered}
    names = []
    for start, end, codes in found:
        words = range(owner[start], owner[end - 1] + 1)
        if codes and half.isdisjoint(words):
            names.append(Found(words.start, words.stop, codes))
    return names
