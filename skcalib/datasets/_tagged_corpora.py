"""Sentences with a tag for each token: tweets, web text, newspaper text.

The file also has messages that are labelled by the emoticons of their writers.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._errors import public
from .._parallel import RandomStateLike, as_generator
from .._validation import check_choice
from ._document_readers import read_conllu
from ._files import DataHome, PathLike, as_bunch
from ._lines import TextFile, blocks_of, lines_of, malformed, opened
from ._sequences import TAG_COLUMNS, read_conll_columns, read_penn_trees, to_sequences

Sentences = list[list[str]]

# Numbers of the articles of each subset of the newspaper sample.
ARTICLES = {
    "train": range(1, 160),
    "dev": range(160, 180),
    "test": range(180, 200),
    "all": range(1, 200),
}

# Token of a line with a label only.
NO_TEXT = "_"


@public
def fetch_ark_twitter_pos(
    *,
    subset: str = "train",
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load tweets with the part of speech of every token.

    Parameters
    ----------
    subset : {'train', 'dev', 'test', 'daily547'}, default='train'
        Part of the corpus: 1000, 327 and 500 tweets of one day, or 547 tweets of 547
        days.
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

    Returns
    -------
    data : Bunch
        Dictionary-like object with the following attributes. `data` (list of list of
        str) are the tokens of each tweet, and `target` (list of list of str) are their
        tags. `DESCR` describes the origin of the data, their licence and how to cite
        them. `filenames` contains the paths of the files that were read.

    Raises
    ------
    OSError
        If a file is missing and downloads are not allowed or fail, or if a file does
        not have the expected checksum.
    ValueError
        If a parameter is not as described, or if a line of a file is malformed.

    See Also
    --------
    fetch_ud_english_ewt : Web text of several genres.
    fetch_wsj_sample : Newspaper text.
    make_tagged_sentences : Sentences that need no download.

    Notes
    -----
    The licence is CC BY 3.0. A file at ``<data_home>/ark_twitter_pos/`` is used if it
    has the right checksum. A file of that name with another checksum raises an OSError
    and is not changed.

    Examples
    --------
    >>> from skcalib.datasets import fetch_ark_twitter_pos
    >>> tweets = fetch_ark_twitter_pos(subset="test")  # doctest: +SKIP
    >>> len(tweets.data)  # doctest: +SKIP
    500
    """
    home = DataHome(data_home, download_if_missing, n_retries, delay)
    (path,) = home.fetch_subset("ark_twitter_pos", subset)
    X, y = read_conll_columns(path)
    return as_bunch("ark_twitter_pos", [path], return_X_y, X, y)


@public
def fetch_ud_english_ewt(
    *,
    subset: str = "train",
    column: str = "xpos",
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load English web text with tags, parses and, for some documents, dates.

    Parameters
    ----------
    subset : {'train', 'dev', 'test'}, default='train'
        Part of the corpus: 12544, 2001 or 2077 sentences.
    column : {'xpos', 'upos', 'lemma', 'feats', 'deprel'}, default='xpos'
        Column that contains the tags.
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

    Returns
    -------
    data : Bunch
        Dictionary-like object with the following attributes. `data` (list of list of
        str) are the words of each sentence, and `target` (list of list of str) are
        their tags. `documents` (list of Document) contain the sentences with their
        parses. `groups` (list of int) is the index of the document of each sentence.
        `DESCR` describes the origin of the data, their licence and how to cite them.
        `filenames` contains the paths of the files that were read.

    Raises
    ------
    OSError
        If a file is missing and downloads are not allowed or fail, or if a file does
        not have the expected checksum.
    ValueError
        If a parameter is not as described, or if a line of a file is malformed.

    See Also
    --------
    fetch_ark_twitter_pos : Tweets.
    fetch_wsj_sample : Newspaper text.
    read_conllu : The documents of any file in CoNLL-U.

    Notes
    -----
    The licence is CC BY-SA 4.0. A file at ``<data_home>/ud_english_ewt/`` is used if it
    has the right checksum. A file of that name with another checksum raises an OSError
    and is not changed.

    Examples
    --------
    >>> from skcalib.datasets import fetch_ud_english_ewt
    >>> web = fetch_ud_english_ewt(subset="dev")  # doctest: +SKIP
    >>> len(web.documents), len(web.data)  # doctest: +SKIP
    (318, 2001)
    """
    check_choice(column, TAG_COLUMNS, name="column")
    home = DataHome(data_home, download_if_missing, n_retries, delay)
    (path,) = home.fetch_subset("ud_english_ewt", subset)
    documents = read_conllu(path)
    X, y = to_sequences(documents, column)
    groups = [i for i, document in enumerate(documents) for _ in document.sentences]
    further = {"documents": documents, "groups": groups}
    return as_bunch("ud_english_ewt", [path], return_X_y, X, y, **further)


@public
def fetch_wsj_sample(
    *,
    subset: str = "train",
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load newspaper text with part-of-speech tags (not openly licensed).

    Parameters
    ----------
    subset : {'train', 'dev', 'test', 'all'}, default='train'
        Part of the corpus, made of whole articles: wsj_0001 to wsj_0159, wsj_0160 to
        wsj_0179, wsj_0180 to wsj_0199, or all articles.
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

    Returns
    -------
    data : Bunch
        Dictionary-like object with the following attributes. `data` (list of list of
        str) are the words of each sentence, and `target` (list of list of str) are
        their tags. `groups` (list of int) is the number of the article of each
        sentence. `DESCR` describes the origin of the data, their licence and how to
        cite them. `filenames` contains the paths of the files that were read.

    Raises
    ------
    OSError
        If a file is missing and downloads are not allowed or fail, or if a file does
        not have the expected checksum.
    ValueError
        If a parameter is not as described, or if a line of a file is malformed.

    See Also
    --------
    fetch_ark_twitter_pos : Tweets.
    fetch_ud_english_ewt : Web text of several genres.

    Notes
    -----
    The data are a sample of the Penn Treebank, (C) LDC, for non-commercial use only. A
    file at ``<data_home>/wsj_sample/`` is used if it has the right checksum. A file of
    that name with another checksum raises an OSError and is not changed. The archive is
    not unpacked.

    Examples
    --------
    >>> from skcalib.datasets import fetch_wsj_sample
    >>> news = fetch_wsj_sample(subset="all")  # doctest: +SKIP
    >>> len(news.data)  # doctest: +SKIP
    3914
    """
    home = DataHome(data_home, download_if_missing, n_retries, delay)
    (path,) = home.fetch_subset("wsj_sample", subset)
    X, y, groups = _read_wsj(path, ARTICLES[subset])
    return as_bunch("wsj_sample", [path], return_X_y, X, y, groups=groups)


def _read_wsj(path: Path, numbers: range) -> tuple[Sentences, Sentences, list[int]]:
    X: Sentences = []
    y: Sentences = []
    groups: list[int] = []
    with zipfile.ZipFile(path) as archive:
        for number in numbers:
            # The archive also has the same articles in other formats.
            name = f"treebank/combined/wsj_{number:04}.mrg"
            with archive.open(name) as file:
                words, tags = read_penn_trees(io.TextIOWrapper(file, "ascii"))
            X += words
            y += tags
            groups += [number] * len(words)
    return X, y, groups


@public
def fetch_broad_twitter_entities(
    *,
    subset: str = "train",
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load tweets with tagged names of persons, places and organisations.

    Parameters
    ----------
    subset : {'train', 'dev', 'test', 'all'}, default='train'
        Part of the corpus: sections a, b and g of the Broad Twitter Corpus, section h,
        section f, or all five.
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

    Returns
    -------
    data : Bunch
        Dictionary-like object with the following attributes. `data` (list of list of
        str) are the tokens of each tweet, and `target` (list of list of str) are their
        tags in BIO. `section` (array of str) is the section of each tweet. `DESCR`
        describes the origin of the data, their licence and how to cite them.
        `filenames` contains the paths of the files that were read.

    Raises
    ------
    OSError
        If a file is missing and downloads are not allowed or fail, or if a file does
        not have the expected checksum.
    ValueError
        If a parameter is not as described, or if a line of a file is malformed.

    See Also
    --------
    fetch_emoticon_tweets : The same tweets with smileys as labels.
    skcalib.queries.SpanQuery : Query for the probability that tokens are one name.

    Notes
    -----
    The licence is CC BY 4.0. The files are in ``<data_home>/emoticon_tweets/`` and are
    also used by `fetch_emoticon_tweets`. A file with another checksum raises an OSError
    and is not changed.

    Examples
    --------
    >>> from skcalib.experimental import fetch_broad_twitter_entities
    >>> names = fetch_broad_twitter_entities(subset="test")  # doctest: +SKIP
    >>> len(names.data)  # doctest: +SKIP
    2001
    """
    home = DataHome(data_home, download_if_missing, n_retries, delay)
    paths = home.fetch_subset("broad_twitter_entities", subset)
    X, y, section = [], [], []
    for path in paths:
        for tokens, tags in tokens_and_labels(path):
            # A token of line breaks only is empty here.
            X.append([token or NO_TEXT for token in tokens])
            y.append(tags)
            section.append(path.stem.removeprefix("btc_"))
    name = "broad_twitter_entities"
    return as_bunch(name, paths, return_X_y, X, y, section=np.array(section))


def tokens_and_labels(path: TextFile) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the tokens and labels of each tweet of a section that has text.

    Tokens that consisted only of line breaks are left out.
    """
    for block in blocks_of(path):
        tokens, labels = [], []
        for line in block.lines:
            token, tab, label = line.text.partition("\t")
            if not tab or not label or "\t" in label:
                expected = "a token and a label with a tab between them"
                block.malformed(line.number, expected, repr(line.text))
            tokens.append(token.strip())
            labels.append(label)
        if any(tokens):
            yield tokens, labels


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


@public
def fetch_emoticon_tweets(
    *,
    subset: str = "tweets",
    remove_emoticons: bool = True,
    drop_duplicates: bool = True,
    balanced: bool = True,
    random_state: RandomStateLike = 0,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load messages, labelled by whether the message contained a ":)".

    Parameters
    ----------
    subset : {'tweets', 'wnut17', 'btc', 'ark', 'youtube', 'all'}, default='tweets'
        Source of the messages: tweets of three corpora or of one of them, comments on
        YouTube, or all of these.
    remove_emoticons : bool, default=True
        Whether every ":)", also with repeated parentheses (":)))"), is replaced by a
        space. If False, the texts are left as written and contain their labels.
    drop_duplicates : bool, default=True
        Whether only the first of several duplicates is kept. Duplicates have the same
        label and differ only in retweet marks ("RT @user:") at the start, URLs,
        smileys, case and white space. If duplicates are kept, copies of a message can
        be in both the training and the test set.
    balanced : bool, default=True
        Whether the messages with the more frequent label are subsampled in each file,
        so that both labels are equally frequent and the source does not predict the
        label. If False, all messages are kept.
    random_state : int, RandomState, Generator or None, default=0
        Random state used to draw the messages.
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

    Returns
    -------
    data : Bunch
        Dictionary-like object with the following attributes. `data` (list of str) are
        the messages, in the order of the files. `target` (ndarray of int) is 1 if the
        message contained a ":)", otherwise 0. `target_names` (list of str) are the
        meanings of 0 and 1. `sources` (list of str) is the name of the file of each
        message. `DESCR` describes the origin of the data, their licence and how to cite
        them. `filenames` contains the paths of the files that were read.

    Raises
    ------
    OSError
        If a file is missing and downloads are not allowed or fail, or if a file does
        not have the expected checksum.
    ValueError
        If a parameter is not as described, or if a line of a file is malformed.

    See Also
    --------
    fetch_ark_twitter_pos : Tweets with the part of speech of every token.
    make_calibrated_pairs : Labels and probabilities with known calibration.

    Notes
    -----
    The licence is CC BY 4.0 (CC BY 3.0 for 'ark'). Files at
    ``<data_home>/emoticon_tweets/`` and, for 'ark', ``<data_home>/ark_twitter_pos/``
    are used if they have the right checksum. A file of that name with another checksum
    raises an OSError and is not changed.

    The labels are defined as in section 4.1 of [1]_: "happy" against all other messages
    (not against ":("), in equal numbers, with the smileys removed. The tweets of the
    paper, 100,000 for each of training, development and test, are not available here.
    These files have about a thousand messages of each label.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
       analysis for natural language processing models". EMNLP. Section 4.1.

    Examples
    --------
    >>> from skcalib.datasets import fetch_emoticon_tweets
    >>> tweets = fetch_emoticon_tweets(subset="wnut17")  # doctest: +SKIP
    >>> len(tweets.data), int(tweets.target.sum())  # doctest: +SKIP
    (332, 166)
    """
    rng = as_generator(random_state)
    home = DataHome(data_home, download_if_missing, n_retries, delay)
    paths = home.fetch_subset("emoticon_tweets", subset)
    messages = [message for path in paths for message in _read(path)]
    if drop_duplicates:
        first: dict[tuple[bool, str], Message] = {}
        for message in messages:
            first.setdefault(message.key(), message)
        messages = list(first.values())
    if balanced:
        messages = _balance(messages, rng)
    X = [m.bare if remove_emoticons else m.written for m in messages]
    y = np.array([m.happy for m in messages], dtype=np.int64)
    sources = [message.source for message in messages]
    further = {"target_names": ["other", "happy"], "sources": sources}
    return as_bunch("emoticon_tweets", paths, return_X_y, X, y, **further)


def _read(path: Path) -> list[Message]:
    # Only the files of WNUT-17 have raw lines. The tokens of the Broad Twitter Corpus
    # split smileys.
    is_raw = path.name.startswith("wnut17_")
    smiley = SPACED_SMILEY if path.name.startswith("btc_") else SMILEY
    joined = (" ".join(filter(None, tokens)) for tokens, _ in tokens_and_labels(path))
    messages = []
    for text in _read_lines(path) if is_raw else joined:
        bare, n_smileys = smiley.subn(" ", text)
        # A text without smileys keeps its white space.
        bare = bare.strip() if n_smileys else text
        messages.append(Message(bare, text, n_smileys > 0, path.name))
    return messages


def _read_lines(path: TextFile) -> Iterator[str]:
    """Yield the lines of a file with one message per line."""
    with opened(path) as (file, source):
        for line in lines_of(file, source):
            if not line.text.strip():
                malformed(source, line.number, "a message", "a blank line")
            yield line.text


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
