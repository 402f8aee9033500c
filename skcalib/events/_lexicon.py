"""Lexicons of actors: names, the actors they belong to, and names in sentences.

Lexicon of countries.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Self

from .._errors import ParameterError, ParameterTypeError, public
from .._validation import check_bool, check_choice
from ..text._documents import Document

NOBODY = "-"
STEMMING = ("light", "plural")


class Found(NamedTuple):
    """Name in a sentence: words `start` to `end` - 1, and the codes of its actors."""

    start: int
    end: int
    codes: tuple[str, ...]


class AffiliationLexicon(Mapping[str, tuple[str, ...]]):
    """Map names of actors to codes.

    The lexicon is a mapping from codes to names. It generalises w(c) of [NO15]_,
    section 6, from countries to any actors.

    Parameters
    ----------
    entries : dict
        Mapping from codes to names. The names of a code are one string or several
        strings. A name may have several words, separated by blanks or underscores.
    exclude : iterable of str, default=()
        Names that belong to no actor although they contain the name of an actor, such
        as New Mexico.
    match_case : bool, default=False
        Whether a name that is listed with a capital letter must begin with a capital
        letter in the text, except in texts that are entirely in lower case. If False,
        case is ignored.
    stemming : {'light', 'plural', None}, default='light'
        Endings that are removed to look up a word that is not listed. 'light' removes
        the last character and then the last two characters, as in the paper, if at
        least four characters remain. 'plural' removes only ``s`` and ``es``. If None,
        only listed words are found.

    Attributes
    ----------
    codes : tuple of str
        Codes, in the order of `entries`.

    See Also
    --------
    CountryLexicon : Names of countries.
    EventRule : Agents of events and their actors.

    Notes
    -----
    If names overlap, only the longest name is found: Niger is not found in Niger Delta
    if both are listed. Accents and a possessive ``'s`` are ignored. A hyphen separates
    words, and all parts of a word with hyphens must be names: two names are found in
    "US-British", and no name is found in "anti-American".

    If parts of speech are known, a name of one word is found only if the word is a noun
    or an adjective. Names that are function words in lower case, such as US, must be
    written in capitals, regardless of `match_case`. A few names that usually have
    another meaning in lower case, such as Pole, must begin with a capital.

    A name may be listed under several codes. It then belongs to all of them, and an
    :class:`EventRule` assigns it to no actor.

    References
    ----------
    .. [NO15] See :doc:`/references`.

    Examples
    --------
    >>> from skcalib.events import AffiliationLexicon
    >>> actors = AffiliationLexicon(
    ...     {"REB": ["rebel", "Arcadian Front"], "ARM": "armed forces"}
    ... )
    >>> actors
    AffiliationLexicon(2 codes, 3 names)
    >>> actors["REB"]
    ('rebel', 'Arcadian Front')
    >>> actors.find("the rebels of the Arcadian Front".split())
    [Found(start=1, end=2, codes=('REB',)), Found(start=4, end=6, codes=('REB',))]
    """

    @public
    def __init__(
        self,
        entries: Mapping[str, str | Iterable[str]],
        *,
        exclude: Iterable[str] = (),
        match_case: bool = False,
        stemming: str | None = "light",
    ):
        if stemming is not None:
            check_choice(stemming, STEMMING, name="stemming")
        self.match_case: bool = check_bool(match_case, name="match_case")
        self.stemming = stemming
        self._entries = _check_entries(entries)
        self.codes: tuple[str, ...] = tuple(self._entries)
        self._names: dict[tuple[str, ...], Name] = {}
        for code in self.codes:
            for name in self._entries[code]:
                self._add(name, (code,))
        # No shorter name is found inside the names of `exclude`, which have no code.
        for name in _check_names(exclude, "exclude"):
            self._add(name, ())
        # Lengths of the names that begin with a piece, the longest first, and 1: a form
        # of a single word, such as a plural, is not the beginning of a key.
        lengths: dict[str, set[int]] = {}
        for key in self._names:
            lengths.setdefault(key[0], {1}).add(len(key))
        self._lengths = {
            first: sorted(found, reverse=True) for first, found in lengths.items()
        }

    def _add(self, text: str, codes: tuple[str, ...]) -> None:
        pieces = [piece for word in text.split() for piece in pieces_of(word)]
        key = tuple(piece.key for piece in pieces)
        capital = self.match_case and pieces[0].capital
        known = self._names.get(key)
        if known is not None:
            # A name of several actors keeps all codes; one way without a capital is
            # enough to find it in lower case.
            codes = known.codes + tuple(c for c in codes if c not in known.codes)
            capital = capital and known.capital
        self._names[key] = Name(codes, capital)

    @classmethod
    def from_file(
        cls, path: str | os.PathLike[str], *, skip: Iterable[str] = (), **settings: Any
    ) -> Self:
        r"""Read a lexicon from a file of codes and names.

        Parameters
        ----------
        path : str or Path
            File in UTF-8. Each line has a code, a tab and a name with underscores
            instead of blanks. Blank lines and lines that begin with ``#`` or ``===``
            are skipped. Names with the code ``-`` are excluded.
        skip : iterable of str, default=()
            Prefixes of codes that are left out.
        **settings : dict
            Other parameters of the class.

        Returns
        -------
        lexicon : AffiliationLexicon
            The lexicon.

        Raises
        ------
        ValueError
            If a line is malformed. The message has the file and the line number.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from skcalib.events import AffiliationLexicon
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "actors.tsv")
        ...     _ = path.write_text("REB\tREBELS\nREB\tARCADIAN_FRONT\n")
        ...     AffiliationLexicon.from_file(path)["REB"]
        ('REBELS', 'ARCADIAN FRONT')
        """
        try:
            text = Path(path).read_text("utf-8-sig")
        except UnicodeDecodeError as error:
            number = error.object.count(b"\n", 0, error.start) + 1
            raise ValueError(
                f"{path}, line {number}: expected UTF-8, got {error.reason}."
            ) from error
        starts = tuple(filter(None, (skip,) if isinstance(skip, str) else skip))
        found = entries_of(text, str(path)).items()
        entries = {code: names for code, names in found if not code.startswith(starts)}
        # Names under this code belong to no actor: they are excluded.
        nobody = entries.pop(NOBODY, [])
        if nobody:
            given = settings.get("exclude", ())
            settings["exclude"] = [*cls._check_excluded(given), *nobody]
        if not entries:
            raise ValueError(f"{path}: expected a code and a name, got no entry.")
        return cls(entries, **settings)

    @classmethod
    @public
    def _check_excluded(cls, names: Iterable[str]) -> tuple[str, ...]:
        return _check_names(names, "exclude")

    def __getitem__(self, code: str) -> tuple[str, ...]:
        return self._entries[code]

    def __iter__(self) -> Iterator[str]:
        return iter(self.codes)

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        n_names = sum(map(len, self._entries.values()))
        return f"{type(self).__name__}({len(self)} codes, {n_names} names)"

    def lookup(self, name: str) -> tuple[str, ...]:
        """Return the codes of a name.

        Parameters
        ----------
        name : str
            Name with blanks or underscores between its words. It must have the capital
            letters that it would have in a text.

        Returns
        -------
        codes : tuple of str
            Codes of the name. The tuple is empty if the name as a whole is unknown.

        Examples
        --------
        >>> from skcalib.events import CountryLexicon
        >>> countries = CountryLexicon()
        >>> countries.lookup("South Koreans"), countries.lookup("us")
        (('KOR',), ())
        """
        if not isinstance(name, str):
            raise ParameterTypeError(
                "name", f"must be a string. Got {name!r:.50}.", "lookup"
            )
        words = _spaced(name).split()
        # only a name that covers all words
        whole = [f.codes for f in self.find(words) if f[:2] == (0, len(words))]
        return whole[0] if len(whole) == 1 else ()

    def find(
        self,
        words: Sequence[str],
        upos: Sequence[str] | None = None,
        *,
        lowercase: bool = False,
    ) -> list[Found]:
        """Find the names in a sentence.

        Parameters
        ----------
        words : sequence of str
            Words of the sentence.
        upos : sequence of str, default=None
            Universal part-of-speech tags. If None, or if the tag of a word is ``"_"``,
            the part of speech is unknown.
        lowercase : bool, default=False
            Whether the text was lower-cased, so that case is not informative.

        Returns
        -------
        found : list of tuple
            Named tuple (start, end, codes) for each name: the index of its first word,
            the index of its last word plus one, and its codes.
        """
        forms = _as_words(words)
        tags = ("_",) * len(forms) if upos is None else tuple(upos)
        if len(tags) != len(forms):
            raise ParameterError(
                "upos",
                f"must have a tag for each of the {len(forms)} words. Got {len(tags)}.",
                "find",
            )
        parts = list(map(pieces_of, forms))
        pieces = list(chain.from_iterable(parts))
        owner = [i for i, part in enumerate(parts) for _ in part]
        keys = [piece.key for piece in pieces]
        # In a headline in capitals, US may be the pronoun.
        shouted = len(forms) > 1 and not any(c.islower() for w in forms for c in w)
        found: list[tuple[int, int, tuple[str, ...]]] = []
        at = 0
        while at < len(keys):
            for length, name in self._names_at(keys, at):
                if _is_written_so(
                    pieces[at], name, length, tags[owner[at]], lowercase, shouted
                ):
                    found.append((at, at + length, name.codes))
                    at += length
                    break
            else:
                at += 1
        return _whole_words(found, owner)

    def _names_at(self, keys: list[str], at: int) -> Iterator[tuple[int, Name]]:
        """Yield the names that begin at a piece, the longest first, and their lengths.

        A word that is a name itself is not looked up as a form of another name.
        """
        for length in self._lengths.get(keys[at], (1,)):
            key = tuple(keys[at : at + length])
            if len(key) < length:
                continue
            for last in (key[-1], *stems(key[-1], self.stemming)):
                name = self._names.get((*key[:-1], last))
                if name is not None:
                    yield length, name
                    break

    def _codes_of_words(
        self, document: Document, *, lowercase: bool | None
    ) -> dict[int, list[frozenset[str]]]:
        """Return the codes of each name that a word of a document is part of.

        If `lowercase` is None, it is set to True if the document has no capital letter.
        """
        sentences = document.sentences
        if lowercase is None:
            forms = (form for sentence in sentences for form in sentence.form)
            lowercase = all(form == form.lower() for form in forms)
        names: dict[int, list[frozenset[str]]] = {}
        offset = 0
        for sentence in sentences:
            found = self.find(sentence.form, sentence.upos, lowercase=lowercase)
            for start, end, codes in found:
                for word in range(offset + start, offset + end):
                    names.setdefault(word, []).append(frozenset(codes))
            offset += len(sentence.form)
        return names


def _check_entries(entries: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(entries, Mapping) or not entries:
        raise ParameterError(
            "entries",
            "must be a dict with the names of at least one code. Got "
            f"{entries!r:.50} instead.",
        )
    for code in entries:
        if not isinstance(code, str) or not code.strip():
            problem = f"must have nonblank strings as codes. Got {code!r}."
            raise ParameterError("entries", problem)
    return {
        code: _check_names(names, "entries", code) for code, names in entries.items()
    }


def _as_words(words: Any) -> tuple[str, ...]:
    if isinstance(words, str):
        got = f"the string {words!r:.50}: split it"
    elif not isinstance(words, Iterable):
        got = type(words).__name__
    else:
        forms = tuple(words)
        wrong = [i for i, form in enumerate(forms) if not isinstance(form, str)]
        if not wrong:
            return forms
        got = f"{forms[wrong[0]]!r:.50} as word {wrong[0]}"
    raise ParameterTypeError(
        "words", f"must be a sequence of words. Got {got}.", "find"
    )


def _check_names(names: Any, name: str, code: str | None = None) -> tuple[str, ...]:
    """Return names without repetitions, for `code` in 'entries'."""
    place = "" if code is None else f" for the code {code!r}"
    if isinstance(names, bytes) or not isinstance(names, Iterable):
        raise ParameterTypeError(
            name,
            f"must be a string or several strings. Got {names!r:.50}{place} instead.",
        )
    names = (names,) if isinstance(names, str) else tuple(names)
    kept: dict[str, None] = {}
    for each in names:
        text = _spaced(each) if isinstance(each, str) else ""
        if not _has_letter(text):
            raise ParameterError(
                name, f"must have names with at least one letter. Got {each!r}{place}."
            )
        kept[text] = None
    if not kept and code is not None:
        raise ParameterError(name, f"must have at least one name. Got none{place}.")
    return tuple(kept)


def _spaced(name: str) -> str:
    return " ".join(name.replace("_", " ").split())


def _has_letter(text: str) -> bool:
    return any(c.isalnum() for piece in pieces_of(text) for c in piece.key)


def entries_of(text: str, source: str) -> dict[str, list[str]]:
    entries: dict[str, list[str]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.rstrip("\r")
        if not line.strip() or line.startswith(("#", "===")):
            continue
        code, tab, name = line.partition("\t")
        is_name = "\t" not in name and _has_letter(_spaced(name))
        if not code.strip() or not tab or not is_name:
            raise ValueError(
                f"{source}, line {number}: expected a code, a tab and a name with a "
                f"letter, got {line!r}."
            )
        entries.setdefault(code.strip(), []).append(name)
    return entries


# Finding names in sentences

ACRONYM = re.compile(r"(?:\w\.)+\w?\.?")
BREAK = re.compile(r"[-\u2010-\u2015/']")
POSSESSIVE = re.compile(r"(?<=.)'s?$", re.IGNORECASE)
# Pieces between the words of a name that are ignored.
JOINTS = frozenset(("-", "--", "'", "'s", *map(chr, range(0x2010, 0x2016))))


# In lower case these words are never names, even if a lexicon lists them: "us".
_FUNCTION_WORDS = """
a am an are as at be by do for go had has he her him his i if in is it its me my no not
of off on or our out she so that the them they this to up us was we were who will with
you
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
# In lower case these words usually have another meaning: telegraph poles.
_COMMON_WORDS = "jersey jerseys kiwi kiwis pole poles reunion swede swedes"
COMMON_WORDS = frozenset(_COMMON_WORDS.split())
NOMINAL = frozenset(("NOUN", "PROPN", "ADJ"))
UNKNOWN = frozenset(("X", "_", ""))

PLURAL = ("s", "es")
# Minimum length of a stem: "nato" without two letters is no longer informative.
MIN_STEM = {"plural": 3, "light": 4}


class Piece(NamedTuple):
    """Part of a word between hyphens: the key to compare, and its capitals."""

    key: str
    capital: bool
    capitals: bool


class Name(NamedTuple):
    """Codes of a name, and whether it is always written with a capital."""

    codes: tuple[str, ...]
    capital: bool


@lru_cache(maxsize=2**16)
def pieces_of(word: str) -> tuple[Piece, ...]:
    """Cut a word at hyphens, without accents, possessive and final dots."""
    plain = unicodedata.normalize("NFKD", word.replace("\u2019", "'"))
    # The decomposition has separated accents from their letters.
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    if plain.lower() in JOINTS:
        return ()
    parts = [part for part in BREAK.split(POSSESSIVE.sub("", plain)) if part]
    return tuple(map(_piece, parts)) or (Piece(plain.lower(), False, False),)


def _piece(part: str) -> Piece:
    key = part.lower()
    if len(key) > 2 and ACRONYM.fullmatch(key):
        # U.S., U.S and u.s. have one key, different from the word us.
        key = ".".join(key.replace(".", "")) + "."
    else:
        key = key.rstrip(".") or key
    return Piece(key, part[0].isupper(), part.isupper())


@lru_cache(maxsize=2**16)
def stems(key: str, stemming: str | None) -> tuple[str, ...]:
    """Return forms to look up instead of a word that is not in a name."""
    # Acronyms have no forms.
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
    """Return whether a word with the letters of a name can be that name."""
    if length > 1:
        return piece.capital or lowercase or not name.capital
    # US in capitals is the country if its tag does not say otherwise.
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
    """Keep names of whole words, so that American is not found in anti-American."""
    covered = {piece for start, end, _ in found for piece in range(start, end)}
    # words of which only some pieces are in names
    half = {owner[piece] for piece in range(len(owner)) if piece not in covered}
    names = []
    for start, end, codes in found:
        words = range(owner[start], owner[end - 1] + 1)
        if codes and half.isdisjoint(words):
            names.append(Found(words.start, words.stop, codes))
    return names


class CountryLexicon(AffiliationLexicon):
    """Map names of countries to codes.

    The default lexicon has the common, older and official English names, the demonyms
    and the adjectives of all countries and territories of ISO 3166-1, of Kosovo, and of
    countries that no longer exist, such as the Soviet Union and Yugoslavia. It also has
    the names of NATO.

    Parameters
    ----------
    entries : dict, default=None
        Mapping from codes to names. If None, the list of this package is used. Its
        codes have three letters, except the code of NATO, which is ``IGONAT`` as in the
        published list.
    exclude : iterable of str, default=None
        Names that belong to no country. If None, the list of this package is used.
    match_case : bool, default=True
        Whether a name must begin with a capital letter, except in texts that are
        entirely in lower case.
    stemming : {'light', 'plural', None}, default='plural'
        Endings that are removed to look up a word that is not listed, as in
        :class:`AffiliationLexicon`.

    Attributes
    ----------
    codes : tuple of str
        Codes, in order.

    See Also
    --------
    AffiliationLexicon : Names of any actors.
    EventRule : Agents of events and their actors.

    Notes
    -----
    Adjectives and demonyms are listed, so the light stemming of the paper, which
    confuses Indiana with Indian, is not needed. Congo, Congolese, Korea, Korean and
    Dominican are ambiguous and listed under both countries. Georgia is always the
    country and Guinean always refers to Guinea. Jordan and Chad may be names of people.
    Cities are not listed.

    The list was written for this package.

    Examples
    --------
    >>> from skcalib.events import CountryLexicon
    >>> countries = CountryLexicon()
    >>> countries["FRA"][:3]
    ('France', 'French', 'Frenchman')
    >>> words = "They told us that the U.S. and Nigerians from Niger State met".split()
    >>> [(" ".join(words[i:j]), *codes) for i, j, codes in countries.find(words)]
    [('U.S.', 'USA'), ('Nigerians', 'NGA'), ('Niger State', 'NGA')]
    """

    def __init__(
        self,
        entries: Mapping[str, str | Iterable[str]] | None = None,
        *,
        exclude: Iterable[str] | None = None,
        match_case: bool = True,
        stemming: str | None = "plural",
    ):
        own = _own_entries()
        if entries is None:
            entries = {code: own[code] for code in own if code != NOBODY}
        exclude = own[NOBODY] if exclude is None else exclude
        super().__init__(
            entries, exclude=exclude, match_case=match_case, stemming=stemming
        )

    @classmethod
    def from_file(
        cls, path: str | os.PathLike[str], *, skip: Iterable[str] = (), **settings: Any
    ) -> Self:
        """Read names of countries from a file in the published format.

        Parameters
        ----------
        path : str or Path
            File such as ``country_igos.txt`` of [NO15]_. Each line has a code, a tab
            and a name with underscores instead of blanks.
        skip : iterable of str, default=()
            Prefixes of codes that are left out, such as ``IGO`` for organisations.
        **settings : dict
            Other parameters of the class. In this method, `stemming` is 'light' by
            default, because the published list does not contain all forms of the names.
            The names that have the code ``-`` in the file are added to `exclude`.

        Returns
        -------
        lexicon : CountryLexicon
            The lexicon.

        Notes
        -----
        The published list has 235 codes. Most of them have three letters, as in ISO
        3166-1. A territory has the code of its country and three more letters, such as
        ``GBRFLK``. ``IGO`` begins the codes of three organisations: ``IGOEEC`` (the
        European Union), ``IGONAT`` (NATO) and ``IGOUNO`` (the United Nations). ``X-``
        begins the codes of four territories that have no other code.

        The paper ignores case: pass ``match_case=False``. Its stemming has no minimum
        length, so that it finds US in "used". Here, at least four characters must
        remain.

        References
        ----------
        .. [NO15] See :doc:`/references`.
        """
        settings = {"stemming": "light", "exclude": None} | settings
        if settings["exclude"] is None:
            settings["exclude"] = _own_entries()[NOBODY]
        return super().from_file(path, skip=skip, **settings)


@cache
def _own_entries() -> dict[str, list[str]]:
    source = files(__package__) / "data" / "countries.tsv"
    return entries_of(source.read_text("utf-8"), "countries.tsv")
