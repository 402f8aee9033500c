"""Corpora by name, read from files of the registry.

The functions of `READERS` return the fields of the Bunch; their keywords are options.
Those here read sentences with a tag for each token, messages that are labelled by the
emoticons of their writers, and outputs of systems.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from .._errors import ParameterTypeError, public
from .._parallel import RandomStateLike, as_generator
from .._validation import check_choice
from . import _document_corpora
from ._document_readers import read_conllu
from ._files import Corpus, PathLike, members_of, registry
from ._lines import TextFile, blocks_of, lines_of, opened
from ._sequences import TAG_COLUMNS, read_conll_columns, read_penn_trees, to_sequences

Fields = dict[str, Any]

# Token of a line with a label only.
NO_TEXT = "_"


@public
def fetch_corpus(
    name: str,
    *,
    subset: str = "train",
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
    **options: Any,
) -> Any:
    """Load a free corpus, which is downloaded once and verified by checksum.

    Parameters
    ----------
    name : str
        Name of the corpus, see the Notes.
    subset : str, default='train'
        Part of the corpus, see the Notes. If a corpus has no part 'train', the default
        is the first part in the list.
    data_home : str or Path, default=None
        Folder of the data sets. If None, the environment variable ``SKCALIB_DATA`` is
        used, or ``~/skcalib_data`` if it is not set.
    download_if_missing : bool, default=True
        If False, an OSError is raised if a file is missing.
    return_X_y : bool, default=False
        If True, return ``(data, target)`` instead of a Bunch.
    n_retries : int, default=3
        Number of retries if a download fails.
    delay : float, default=1.0
        Seconds between retries.
    **options
        Options of single corpora:

        - `column`, for 'ud_english_ewt' ({'xpos', 'upos', 'lemma', 'feats', 'deprel'},
          default='xpos'): column that contains the tags.
        - `fold`, for 'litbank' (int, default=0): fold, from 0 to 9. Each document is in
          the test part of one of the ten folds.
        - `predicative`, for 'litbank' ({'singleton', 'link', 'drop'},
          default='singleton'): treatment of mentions that are linked to other mentions
          only by a copula or an apposition, see :func:`read_litbank`.
        - `parsed`, for 'muc3' and 'state_union' (bool, str or Path, default=None):
          CoNLL-U file with parses of the texts, or folder of such files. If True, the
          file ``<data_home>/<name>/<name>_parsed.conllu.gz`` is used, which the script
          ``benchmarks/parse_corpora.py`` of the source repository writes. If None, this
          file is used if it exists. If False, documents have no parses.
        - `mentions`, for 'muc3' and 'state_union' (bool, default=False): whether
          documents with parses have the mentions found by
          :func:`~skcalib.documents.mentions_from_parse` instead of the mentions in the
          file.
        - `remove_emoticons`, for 'emoticon_tweets' (bool, default=True): whether every
          ":)", also with repeated parentheses (":)))"), is replaced by a space. If
          False, the texts are left as written and contain their labels.
        - `drop_duplicates`, for 'emoticon_tweets' (bool, default=True): whether only
          the first of several duplicates is kept. Duplicates have the same label and
          differ only in retweet marks ("RT @user:") at the start, URLs, smileys, case
          and white space. If duplicates are kept, copies of a message can be in both
          the training and the test set.
        - `balanced`, for 'emoticon_tweets' (bool, default=True): whether the messages
          with the more frequent label are subsampled in each file, so that both labels
          are equally frequent and the source does not predict the label. If False, all
          messages are kept.
        - `random_state`, for 'emoticon_tweets' (int, RandomState, Generator or None,
          default=0): random state used to draw the messages.

    Returns
    -------
    data : Bunch
        Dictionary-like object. `data` and `target` are described in the Notes. `DESCR`
        describes the origin of the data, their licence and how to cite them.
        `filenames` contains the paths of the files that were read.

    Raises
    ------
    OSError
        If a file is missing and downloads are not allowed or fail, or if a file does
        not have the expected checksum.
    TypeError
        If the corpus does not have an option.
    ValueError
        If a parameter is not as described, if `mentions` is True and there are no
        parses, or if the parses do not belong to the texts.

    See Also
    --------
    read_conllu : The documents of any file in CoNLL-U.
    read_conll_columns : Words and tags of a file of columns.
    make_tagged_sentences : Sentences that need no download.

    Notes
    -----
    A file at ``<data_home>/<name>/`` is used if it has the right checksum. A file of
    that name with another checksum raises an OSError and is not changed.

    Sentences with tags: `data` (list of list of str) are the tokens of each sentence,
    and `target` (list of list of str) are their tags.

    - 'ark_twitter_pos' ('train', 'dev', 'test', 'daily547'): tweets with parts of
      speech, CC BY 3.0.
    - 'ud_english_ewt' ('train', 'dev', 'test'): English Web Treebank, CC BY-SA 4.0.
      `documents` (list of Document) contain the sentences with their parses. `groups`
      (list of int) is the index of the document of each sentence.
    - 'wsj_sample' ('train', 'dev', 'test', 'all'): articles of the Wall Street Journal,
      a sample of the Penn Treebank, (C) LDC, for non-commercial use only. `groups`
      (list of int) is the number of the article of each sentence.
    - 'broad_twitter_entities' ('train', 'dev', 'test', 'all'): tweets with names of
      persons, places and organisations in BIO, CC BY 4.0. `section` (array of str) is
      the section of each tweet. The files are those of 'emoticon_tweets'.

    Documents with coreference: `data` (list of Document) are the documents with their
    mentions, and `target` (list of ndarray of int) is the entity of each mention, as
    the index of the first mention of the entity.

    - 'gum' ('train', 'dev', 'test'): texts of many genres with parses and dates, CC
      BY-NC-SA 4.0, for non-commercial use. The train file may also be
      ``en_gum-ud-train.rebuilt.conllu``, which ``benchmarks/build_gum_train.py`` puts
      together from the documents of the release.
    - 'litbank' ('train', 'dev', 'test', 'all'): fiction, CC BY 4.0. There are two files
      per document, 2 MB in total. The folder may contain a zip archive
      ``litbank_coref.zip`` of these 200 files instead.

    Dated texts: `data` is a list of Document with dates, ``metadata["paragraphs"]``
    (tuple of str), and sentences if they have parses. `target` is None. `parsed` (bool)
    indicates whether the documents have parses. Parses and texts are matched by
    document id (``# newdoc id = DEV-MUC3-0001``). The parses must contain all texts of
    the subset.

    - 'muc3' ('all', 'dev', 'tst1', 'tst2', 'tst3', 'tst4'): reports on violence in
      Latin America, 1988 to 1990, with ``metadata["place"]``, in the public domain. The
      date is None if it is missing or impossible.
    - 'state_union' ('all'): addresses of presidents of the United States, 1945 to 2006,
      with ``metadata["president"]``, in the public domain. The first paragraph is the
      title.

    Other data:

    - 'emoticon_tweets' ('tweets', 'wnut17', 'btc', 'ark', 'youtube', 'all'): tweets of
      three corpora or of one of them, comments on YouTube, or all of these, CC BY 4.0
      (CC BY 3.0 for 'ark'). `data` (list of str) are the messages and `target` (ndarray
      of int) is 1 if the message contained a ":)", otherwise 0. `target_names` are the
      meanings of 0 and 1, and `sources` (list of str) is the name of the file of each
      message. The labels are defined as in section 4.1 of [1]_: "happy" against all
      other messages, in equal numbers, with the smileys removed. The 300,000 tweets of
      the paper are not available here; these files have about a thousand messages of
      each label.
    - 'system_outputs' ('wnut17', 'wmt20'): outputs of several systems for one test set.
      `data` (dict) is the output of each system by name: the entity tags of each
      sentence (list of list of str) for 'wnut17', CC BY 4.0, or the expert score of
      each segment (ndarray of shape (1418,)) for 'wmt20', Apache 2.0. `target` (list of
      list of str) are the gold tags, or None. `tokens` (list of list of str) are the
      tokens of each sentence, or None. `segments` (ndarray of int) are the numbers of
      the segments, or None.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
       analysis for natural language processing models". EMNLP. Section 4.1.

    Examples
    --------
    >>> from skcalib.datasets import fetch_corpus
    >>> tweets = fetch_corpus("ark_twitter_pos", subset="test")  # doctest: +SKIP
    >>> len(tweets.data)  # doctest: +SKIP
    500
    >>> X, y = fetch_corpus(
    ...     "ud_english_ewt", column="upos", return_X_y=True)  # doctest: +SKIP
    >>> len(X)  # doctest: +SKIP
    12544
    """
    corpus = Corpus(name, subset, data_home, download_if_missing, n_retries, delay)
    for option in options:
        _check_option(option, name)
    fields = READERS[corpus.entry["reader"]](corpus, **options)
    if return_X_y:
        return fields["data"], fields["target"]
    filenames = [str(path) for path in corpus.paths]
    return Bunch(**fields, DESCR=corpus.description(), filenames=filenames)


def _check_option(option: str, name: str) -> None:
    """Raise an error if a corpus does not have an option; name those that have it."""
    if option in _options_of(name):
        return
    takers = [repr(each) for each in registry() if option in _options_of(each)]
    own = ", ".join(map(repr, _options_of(name))) or "none"
    problem = f"is unknown. Options of {name!r}: {own}."
    if takers:
        problem = f"is an option of {' and '.join(takers)}, not of {name!r}."
    raise ParameterTypeError(option, problem)


def _options_of(name: str) -> list[str]:
    _, *options = inspect.signature(READERS[registry()[name]["reader"]]).parameters
    return options


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


# The names of the functions are those in the registry.
READERS: dict[str, Callable[..., Fields]] = {
    each.__name__: each
    for each in (
        *(articles, columns, outputs, sections, sentences, smileys),
        _document_corpora.documents,
        _document_corpora.litbank,
        _document_corpora.texts,
    )
}
