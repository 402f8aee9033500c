"""Names of countries in text: which are found only by stemming, and which are false.

    SKCALIB_DATA=... python benchmarks/lexicon_matches.py

The published list of names (country_igos.txt) and the list of the package are looked up
in all sentences of UD English EWT and GUM, which have gold tags and are written with
capitals, and in the reports of MUC-3 in lower case, with the tags of a parser:

- `paper`: the rule of the appendix. Case and tags are ignored. A word that is not
  listed is looked up without its last and without its last two characters;
- `four characters`: `CountryLexicon.from_file` with case and tags ignored. At least
  four characters must remain;
- `from_file`: its defaults. Names need a capital letter, except in lower-case texts,
  and a tag of a noun or an adjective;
- `package`: `CountryLexicon()`, with plurals as the only forms.

The forms that are found only by stemming were judged by reading them in context: all of
`four characters`. Of `paper`, a form is judged false if less than four characters
remain of it. Words that are listed are false if their gold tag shows another meaning
("a nail polish"). Names of people (Jordan) and of states (Georgia) are not judged.
"""

import os
from collections import Counter
from pathlib import Path

import _study  # noqa: F401
from _common import print_table, versions, write_csv

from skcalib.datasets import fetch_corpus
from skcalib.events import CountryLexicon

PUBLISHED = Path("country_lexicon", "country_igos.txt")
NOMINAL = ("NOUN", "PROPN", "ADJ")
LEAST = 4  # characters that remain in CountryLexicon
# Forms that are no names of a country in any of their places: people, towns, companies.
FALSE = frozenset(
    ("al - hindi", "boliviar", "bolivar", "brasiles", "brasilia", "chadli", "congos")
    + ("congote", "cubas", "frances", "indiana", "indias", "iraqiya", "malice")
    + ("mannino", "mexicana", "mexicano", "poles", "polished", "scotia", "scott")
    + ("turks", "yemenia")
)
# "the Turks" are people in EWT and GUM, and islands in MUC-3.
RIGHT = frozenset((("EWT and GUM", "turks"),))
# Listed words that have another meaning as a common noun or in a name.
COMMON = frozenset(("china", "guinea", "jersey", "nam", "pole", "polish", "turkey"))
FORMS = 12  # of each corpus and rule


def corpora():
    """Return the sentences of each corpus."""
    gold = []
    for part in ("train", "dev", "test"):
        gold += fetch_corpus("ud_english_ewt", subset=part).documents
        gold += fetch_corpus("gum", subset=part).data
    reports = fetch_corpus("muc3", subset="all", parsed=True).data
    found = {"EWT and GUM": gold, "MUC-3": reports}
    return {k: [s for d in own for s in d.sentences] for k, own in found.items()}


def by_the_paper(lexicon):
    """Return a function that finds single words as the appendix describes."""
    names = {name.lower(): code for code in lexicon for name in lexicon[code]}

    def find(sentence):
        for i, word in enumerate(map(str.lower, sentence.form)):
            for n in range(3):
                # "as" and "a" have nothing left
                stem = word[: len(word) - n]
                if stem in names:
                    yield i, i + 1, n > 0, len(stem)
                    break

    return find


def by_class(lexicon, plain, *, lowercase, tags):
    """Return a function that finds names by a lexicon and by one without stemming."""

    def find(sentence):
        words, upos = sentence.form, sentence.upos if tags else None
        listed = {f[:2] for f in plain.find(words, upos, lowercase=lowercase)}
        for start, end, _ in lexicon.find(words, upos, lowercase=lowercase):
            yield start, end, (start, end) not in listed, LEAST

    return find


def rules(path, *, lowercase):
    """Return the rules by which names are found."""
    published = CountryLexicon.from_file(path)
    plain = CountryLexicon.from_file(path, stemming=None)
    own = CountryLexicon(), CountryLexicon(stemming=None)
    any_case = [
        CountryLexicon.from_file(path, stemming=each, match_case=False, exclude=())
        for each in ("light", None)
    ]
    return {
        "paper": by_the_paper(published),
        "four characters": by_class(*any_case, lowercase=True, tags=False),
        "from_file": by_class(published, plain, lowercase=lowercase, tags=True),
        "package": by_class(*own, lowercase=lowercase, tags=True),
    }


def is_false(corpus, form, n_characters):
    if n_characters < LEAST:
        return True
    return form in FALSE and (corpus, form) not in RIGHT


def count(corpus, sentences, find):
    """Return how many names are found, and the forms that are found by stemming."""
    counts, forms = Counter(), Counter()
    for sentence in sentences:
        for start, end, by_stemming, n_characters in find(sentence):
            form = " ".join(sentence.form[start:end]).lower()
            tag = sentence.upos[start]
            counts["all"] += 1
            if by_stemming:
                false = is_false(corpus, form, n_characters)
                forms[form, "false" if false else "right"] += 1
                counts["stemmed"] += 1
                counts["stemmed, false"] += false
            elif end == start + 1:
                counts["no noun"] += tag not in NOMINAL
                counts["other"] += form in COMMON and tag not in ("PROPN", "ADJ")
    return counts, forms


def main():
    path = Path(os.environ["SKCALIB_DATA"], PUBLISHED)
    totals, rows = [], []
    for corpus, sentences in corpora().items():
        found = rules(path, lowercase=corpus == "MUC-3")
        for rule, find in found.items():
            counts, forms = count(corpus, sentences, find)
            totals.append(
                {
                    "corpus": corpus,
                    "rule": rule,
                    "words": sum(map(len, sentences)),
                    "found": counts["all"],
                    "by stemming only": counts["stemmed"],
                    "of these false": counts["stemmed, false"],
                    "listed, tag of no noun or adjective": counts["no noun"],
                    "listed, another meaning": counts["other"],
                }
            )
            rows += [
                {"corpus": corpus, "rule": rule, "form": form, "n": n, "judged": judged}
                for (form, judged), n in kept(forms)
            ]
    print_table(totals)
    note = versions("skcalib")
    write_csv("lexicon_matches.csv", totals, note)
    write_csv("lexicon_forms.csv", rows, note)


def kept(forms):
    """Return the most frequent forms, and all false ones of four characters or more."""
    order = sorted(forms.items(), key=lambda item: (-item[1], item[0]))
    return [each for k, each in enumerate(order) if k < FORMS or each[0][0] in FALSE]


if __name__ == "__main__":
    main()
