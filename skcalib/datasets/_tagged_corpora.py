"""Corpora of sentences with a tag for each token, and outputs of taggers.

The file also has messages that are labelled by the emoticons of their writers. The
functions return the fields of the Bunch of `fetch_corpus`; their keywords are options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._parallel import RandomStateLike, as_generator
from .._validation import check_choice
from ._document_readers import read_conllu
from ._files import Corpus, members_of
from ._lines import TextFile, blocks_of, lines_of, opened
from ._sequences import TAG_COLUMNS, read_conll_columns, read_penn_trees, to_sequences

Fields = dict[str, Any]

# Token of a line with a label only.
NO_TEXT = "_"


def columns(corpus: Corpus) -> Fields:
    """Return the sentences of a file of two columns."""
    (path,) = corpus.fetch_subset()
    X, y = read_conll_columns(path)
    return {"data": X, "target": y}


def sentences(corpus: Corpus, *, column: str = "xpos") -> Fields:
    """Return the sentences of a file in CoNLL-U."""
    check_choice(column, TAG_COLUMNS, name="column")
    (path,) = corpus.fetch_subset()
    documents = read_conllu(path)
    X, y = to_sequences(documents, column)
    groups = [i for i, document in enumerate(documents) for _ in document.sentences]
    return {"data": X, "target": y, "documents": documents, "groups": groups}


def articles(corpus: Corpus) -> Fields:
    """Return the sentences of articles in an archive of trees."""
    (path,) = corpus.fetch_subset()
    first, last = corpus.entry["articles"][corpus.subset]
    X: list[list[str]] = []
    y: list[list[str]] = []
    groups: list[int] = []
    # The archive also has the same articles in other formats.
    texts = members_of(path, r"treebank/combined/wsj_([0-9]{4})\.mrg")
    for number in range(first, last + 1):
        words, tags = read_penn_trees(texts[f"{number:04}"].decode("ascii"))
        X += words
        y += tags
        groups += [number] * len(words)
    return {"data": X, "target": y, "groups": groups}


def sections(corpus: Corpus) -> Fields:
    """Return the tweets of sections with tagged names."""
    X, y, section = [], [], []
    for path in corpus.fetch_subset():
        for tokens, tags in tokens_and_labels(path):
            # A token of line breaks only is empty here.
            X.append([token or NO_TEXT for token in tokens])
            y.append(tags)
            section.append(path.stem.removeprefix("btc_"))
    return {"data": X, "target": y, "section": np.array(section)}


def tokens_and_labels(path: TextFile) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the tokens and labels of each tweet of a section that has text.

    Tokens that consisted only of line breaks are left out.
    """
    for block in blocks_of(path):
        rows = [line.text.partition("\t") for line in block]
        tokens = [token.strip() for token, _, _ in rows]
        if any(tokens):
            yield tokens, [label for _, _, label in rows]


# All mouths of a smiley are removed, because they would reveal the label. If tokens
# were joined by spaces, a smiley may have been two tokens.
SMILEY = re.compile(r":\)+")
SPACED_SMILEY = re.compile(r": ?\)(?: ?\))*")

RETWEET = re.compile(r"(?:RT ?@ ?\w+ ?: ?)+")
ADDRESS = re.compile(r"https?://\S*")


class Message(NamedTuple):
    """A message without its smileys, as written, and whether it has any."""

    bare: str
    written: str
    happy: bool
    source: str

    def key(self) -> tuple[bool, str]:
        """Return a key that is equal for duplicate messages."""
        # Shortened addresses differ between copies of one message.
        text = ADDRESS.sub(" ", RETWEET.sub("", self.bare, count=1))
        return self.happy, " ".join(text.casefold().split())


def smileys(
    corpus: Corpus,
    *,
    remove_emoticons: bool = True,
    drop_duplicates: bool = True,
    balanced: bool = True,
    random_state: RandomStateLike = 0,
) -> Fields:
    """Return messages, labelled by whether the message contained a ":)"."""
    rng = as_generator(random_state)
    messages = [message for path in corpus.fetch_subset() for message in _read(path)]
    if drop_duplicates:
        first: dict[tuple[bool, str], Message] = {}
        for message in messages:
            first.setdefault(message.key(), message)
        messages = list(first.values())
    if balanced:
        messages = _balance(messages, rng)
    return {
        "data": [m.bare if remove_emoticons else m.written for m in messages],
        "target": np.array([m.happy for m in messages], dtype=np.int64),
        "target_names": ["other", "happy"],
        "sources": [message.source for message in messages],
    }


def _read(path: Path) -> list[Message]:
    # Only the files of WNUT-17 have raw lines. The tokens of the Broad Twitter Corpus
    # split smileys.
    if path.name.startswith("wnut17_"):
        with opened(path) as (file, source):
            texts = [line.text for line in lines_of(file, source)]
    else:
        texts = [" ".join(filter(None, words)) for words, _ in tokens_and_labels(path)]
    smiley = SPACED_SMILEY if path.name.startswith("btc_") else SMILEY
    messages = []
    for text in texts:
        bare, n_smileys = smiley.subn(" ", text)
        # A text without smileys keeps its white space.
        bare = bare.strip() if n_smileys else text
        messages.append(Message(bare, text, n_smileys > 0, path.name))
    return messages


def _balance(messages: list[Message], rng: np.random.Generator) -> list[Message]:
    """Subsample the more frequent label in each file."""
    rows: dict[str, tuple[list[int], list[int]]] = {}
    for i, message in enumerate(messages):
        rows.setdefault(message.source, ([], []))[message.happy].append(i)
    kept: list[int] = []
    for by_label in rows.values():
        n = min(map(len, by_label))
        for label in by_label:
            kept += rng.choice(label, n, replace=False).tolist() if n else []
    return [messages[i] for i in sorted(kept)]


def outputs(corpus: Corpus) -> Fields:
    """Return the tags or scores of several systems for the same sentences."""
    gold, *submissions = corpus.fetch_subset()
    if not submissions:
        return _scores(gold)
    tokens, target = read_conll_columns(gold)
    data = {}
    for path in submissions:
        name = path.stem.removeprefix("wnut17_")
        delimiter = corpus.entry["delimiters"].get(name, "\t")
        _, data[name] = read_conll_columns(path, delimiter=delimiter)
    return {"data": data, "target": target, "tokens": tokens, "segments": None}


def _scores(path: Path) -> Fields:
    """Read a table with the columns system, score and segment, in any order of rows."""
    scores: dict[str, dict[int, float]] = {}
    _, *rows = path.read_text("utf-8").splitlines()
    for row in rows:
        system, score, segment = row.split()
        scores.setdefault(system, {})[int(segment)] = float(score)
    segments = sorted(next(iter(scores.values())))
    data = {
        system: np.array([found[segment] for segment in segments])
        for system, found in scores.items()
    }
    fields = {"data": data, "target": None, "tokens": None}
    return {**fields, "segments": np.array(segments)}
