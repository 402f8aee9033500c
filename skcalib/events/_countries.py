"""Lexicon of countries."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Self

from ._lexicon import NOBODY, AffiliationLexicon, entries_of


class CountryLexicon(AffiliationLexicon):
    """Map names of countries to codes.

    The default lexicon has the common, older and official English names, the demonyms
    and the adjectives of all countries and territories of ISO 3166-1, of Kosovo, and of
    countries that no longer exist, such as the Soviet Union.

    Parameters
    ----------
    entries : dict, default=None
        Mapping from codes to names. If None, the list of this package is used. Its
        codes have three letters.
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
            File such as ``country_igos.txt`` of [NO15]_. Each line has a code, a tab
            and a name with underscores instead of blanks.
        skip : iterable of str, default=('IGO', 'X-')
            Prefixes of codes that are left out. The default prefixes mark organisations
            and names without a code.
        **settings : dict
            Other parameters of the class. In this method, `stemming` is 'light' by
            default, because the published list does not contain all forms of the names.
            The names that have the code ``-`` in the file are added to `exclude`.

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


@cache
def _own_entries() -> dict[str, list[str]]:
    source = files(__package__) / "data" / "countries.tsv"
    return entries_of(source.read_text("utf-8"), "countries.tsv")
