"""Lexicons of actors: which words say to whom somebody belongs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from .._validation import check_bool, check_choice
from ._names import Found, NameFinder, pieces_of

NOBODY = "-"
STEMMING = ("light", "plural")


class AffiliationLexicon(Mapping[str, tuple[str, ...]]):
    """Look up to which actors words belong.

    It is a mapping of codes to names: w(c) of [NO15]_, section 6, for any actors.

    Parameters
    ----------
    entries : dict
        Names of each code: a string or several. A name may have several words, with
        blanks or underscores between them.
    exclude : iterable of str, default=()
        Names that belong to nobody and contain one that does: New Mexico.
    match_case : bool, default=False
        A name that is listed with a capital must begin with one in the text, unless the
        text is lower-cased. False: case is ignored.
    stemming : {'light', 'plural', None}, default='light'
        What is tried where a word is not found. 'light': the word without its last
        character, then without the last two, as published; at least four characters
        must remain. 'plural': only endings ``s`` and ``es`` are taken off. None:
        nothing is tried.

    Attributes
    ----------
    codes : tuple of str
        Codes, in the order of `entries`.

    See Also
    --------
    CountryLexicon : Names of countries.
    EventRule : Who did something, and for whom.

    Notes
    -----
    Of names that overlap the longer one is found, so that Niger is not in Niger Delta
    if both are listed. Hyphens and accents are ignored, and a possessive ``'s``. Of a
    word with a hyphen all parts must be names: "US-British" has two, "anti-American"
    has none.

    A name of one word is found only where the word is a noun or an adjective, if the
    part of speech is known. Names that in lower case are function words, such as US,
    must be written in capitals, whatever `match_case` says; and a few that are more
    often something else, such as Pole, with a capital.

    A name may stand under several codes; who has it belongs to all of them, which an
    :class:`EventRule` takes for none.

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

    def __init__(
        self,
        entries: Mapping[str, str | Iterable[str]],
        *,
        exclude: Iterable[str] = (),
        match_case: bool = False,
        stemming: str | None = "light",
    ):
        caller = type(self).__name__
        if stemming is not None:
            check_choice(stemming, STEMMING, name="stemming", caller=caller)
        self.match_case = check_bool(match_case, name="match_case", caller=caller)
        self.stemming = stemming
        self._entries = _check_entries(entries, caller)
        self._exclude = _check_names(exclude, "'exclude'", caller)
        self.codes = tuple(self._entries)
        names = ((code, name) for code in self.codes for name in self._entries[code])
        self._finder = NameFinder(
            names, self._exclude, match_case=self.match_case, stemming=stemming
        )

    @classmethod
    def from_file(
        cls, path: str | os.PathLike, *, skip: Iterable[str] = (), **settings: Any
    ) -> Self:
        r"""Read a lexicon from a file of codes and names.

        Parameters
        ----------
        path : str or Path
            A file in UTF-8 with a code, a tab and a name with underscores for blanks
            in a line. Blank lines are passed over, and those that begin with ``#`` or
            ``===``; names of the code ``-`` are excluded.
        skip : iterable of str, default=()
            Codes that begin like one of these are left out.
        **settings : dict
            Other parameters of the class.

        Returns
        -------
        lexicon : AffiliationLexicon
            The lexicon.

        Raises
        ------
        ValueError
            A line is malformed: the message has the file and the number of the line.

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
        starts = tuple(filter(None, (skip,) if isinstance(skip, str) else skip))
        entries = {
            code: names
            for code, names in _read(Path(path)).items()
            if not code.startswith(starts)
        }
        nobody = entries.pop(NOBODY, [])
        if nobody:
            given = settings.get("exclude", ())
            settings["exclude"] = [
                *_check_names(given, "'exclude'", cls.__name__),
                *nobody,
            ]
        if not entries:
            raise ValueError(f"{path}: expected a code and a name, got none.")
        return cls(entries, **settings)

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
        """Return to whom a name belongs.

        Parameters
        ----------
        name : str
            A name, with blanks or underscores between its words, as it would stand in a
            text with capitals.

        Returns
        -------
        codes : tuple of str
            The codes; none if the name, as a whole, is not known.

        Examples
        --------
        >>> from skcalib.events import CountryLexicon
        >>> countries = CountryLexicon()
        >>> countries.lookup("South Koreans"), countries.lookup("us")
        (('KOR',), ())
        """
        if not isinstance(name, str):
            raise TypeError(
                f"The 'name' parameter of lookup must be a string. Got {name!r:.50}."
            )
        words = _spaced(name).split()
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
            Universal part-of-speech tags. None, or ``"_"`` for a word: not known.
        lowercase : bool, default=False
            Whether the text was lower-cased, so that case says nothing.

        Returns
        -------
        found : list of tuple
            A named tuple (start, end, codes) for each name: its first word, one past
            its last one, and to whom it belongs.
        """
        forms = _as_words(words)
        tags = ("_",) * len(forms) if upos is None else tuple(upos)
        if len(tags) != len(forms):
            raise ValueError(
                f"The 'upos' parameter of find must have a tag for each of the "
                f"{len(forms)} words. Got {len(tags)}."
            )
        return self._finder.find(forms, tags, lowercase=bool(lowercase))


class CountryLexicon(AffiliationLexicon):
    """Look up to which countries words belong.

    Without arguments it has the names in common use, older and official names,
    demonyms and adjectives of all countries and territories of ISO 3166-1, of Kosovo,
    and of countries that ceased to be, such as the Soviet Union; in English.

    Parameters
    ----------
    entries : dict, default=None
        Names of each code. None: those of the package, by codes of three letters.
    exclude : iterable of str, default=None
        Names that belong to nobody. None: those of the package.
    match_case : bool, default=True
        A name must begin with a capital, unless the text is lower-cased.
    stemming : {'light', 'plural', None}, default='plural'
        What is tried where a word is not found, see :class:`AffiliationLexicon`.

    Attributes
    ----------
    codes : tuple of str
        Codes, in order.

    See Also
    --------
    AffiliationLexicon : Names of any actors.
    EventRule : Who did something, and for whom.

    Notes
    -----
    Adjectives and demonyms are listed, so the published light stemming, which takes
    Indiana for Indian, is not needed. What Congo, Congolese, Korea, Korean and
    Dominican mean only the text can say: they stand under both countries. Georgia is
    the country, Guinean is of Guinea, Jordan and Chad may be people. Cities are not
    listed.

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
        super().__init__(
            entries,
            exclude=own[NOBODY] if exclude is None else exclude,
            match_case=match_case,
            stemming=stemming,
        )

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike,
        *,
        skip: Iterable[str] = ("IGO", "X-"),
        **settings: Any,
    ) -> Self:
        """Read names of countries from a file in the published format.

        Parameters
        ----------
        path : str or Path
            A file with a code, a tab and a name with underscores for blanks in a line,
            such as ``country_igos.txt`` of [NO15]_.
        skip : iterable of str, default=('IGO', 'X-')
            Codes that begin like one of these are left out: organisations, and what
            has no code.
        **settings : dict
            Other parameters of the class; `stemming` is 'light' by default, for the
            published list has not all forms. Names that the file excludes come to those
            of `exclude`.

        Returns
        -------
        lexicon : CountryLexicon
            The lexicon.

        References
        ----------
        .. [NO15] See :doc:`/references`.
        """
        settings = {"stemming": "light", "exclude": None} | settings
        if settings["exclude"] is None:
            settings["exclude"] = _own_entries()[NOBODY]
        return super().from_file(path, skip=skip, **settings)


def _check_entries(entries: Any, caller: str) -> dict[str, tuple[str, ...]]:
    if not isinstance(entries, Mapping) or not entries:
        raise ValueError(
            f"The 'entries' parameter of {caller} must be a dict with the names of "
            f"each code, at least one. Got {entries!r:.50} instead."
        )
    for code in entries:
        if not isinstance(code, str) or not code.strip():
            raise ValueError(
                f"The 'entries' parameter of {caller} must have strings that are not "
                f"blank as codes. Got {code!r}."
            )
    return {
        code: _check_names(names, f"'entries' ({code!r})", caller)
        for code, names in entries.items()
    }


def _as_words(words: Any) -> tuple[str, ...]:
    expected = "The 'words' parameter of find must be a sequence of words"
    if isinstance(words, str):
        raise TypeError(f"{expected}. Got the string {words!r:.50}: split it.")
    if not isinstance(words, Iterable):
        raise TypeError(f"{expected}. Got {type(words).__name__}.")
    forms = tuple(words)
    for i, form in enumerate(forms):
        if not isinstance(form, str):
            raise TypeError(f"{expected}. Got {form!r:.50} as word {i}.")
    return forms


def _check_names(names: Any, what: str, caller: str) -> tuple[str, ...]:
    if isinstance(names, bytes) or not isinstance(names, Iterable):
        raise TypeError(
            f"The {what} parameter of {caller} must be a string or several. Got "
            f"{names!r:.50} instead."
        )
    names = (names,) if isinstance(names, str) else tuple(names)
    kept: dict[str, None] = {}
    for name in names:
        text = _spaced(name) if isinstance(name, str) else ""
        if not _has_letter(text):
            raise ValueError(
                f"The {what} parameter of {caller} must have names with a letter. "
                f"Got {name!r}."
            )
        kept[text] = None
    if not kept and "entries" in what:
        raise ValueError(
            f"The {what} parameter of {caller} must have at least one name. Got none."
        )
    return tuple(kept)


def _spaced(name: str) -> str:
    return " ".join(name.replace("_", " ").split())


def _has_letter(text: str) -> bool:
    return any(c.isalnum() for piece in pieces_of(text) for c in piece.key)


@cache
def _own_entries() -> dict[str, list[str]]:
    source = files(__package__) / "data" / "countries.tsv"
    return _entries_of(source.read_text("utf-8"), "countries.tsv")


def _read(path: Path) -> dict[str, list[str]]:
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        number = error.object.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}, line {number}: expected UTF-8, got {error.reason}."
        ) from error
    return _entries_of(text, str(path))


def _entries_of(text: str, source: str) -> dict[str, list[str]]:
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
