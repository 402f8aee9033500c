"""Sentences with a tag for each token: tweets, web text, newspaper text."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Unpack, overload

import numpy as np
from sklearn.utils import Bunch

from .._errors import public
from .._validation import check_choice
from ._conllu import read_conllu
from ._files import DataHome, FetchOptions, PathLike, description
from ._lines import TextFile, blocks_of
from ._sequences import (
    TAG_COLUMNS,
    read_conll_columns,
    read_penn_trees,
    to_sequences,
)

Sentences = list[list[str]]

# Numbers of the articles of each subset of the newspaper sample.
ARTICLES = {
    "train": range(1, 160),
    "dev": range(160, 180),
    "test": range(180, 200),
    "all": range(1, 200),
}

# A line with a label but no token.
NO_TEXT = "_"


@overload
def fetch_ark_twitter_pos(
    *, return_X_y: Literal[True], **options: Unpack[FetchOptions]
) -> tuple[Sentences, Sentences]: ...
@overload
def fetch_ark_twitter_pos(
    *, return_X_y: bool = ..., **options: Unpack[FetchOptions]
) -> Bunch: ...
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
    if return_X_y:
        return X, y
    text = description("ark_twitter_pos")
    return Bunch(data=X, target=y, DESCR=text, filenames=[str(path)])


@overload
def fetch_ud_english_ewt(
    *,
    return_X_y: Literal[True],
    column: str = ...,
    **options: Unpack[FetchOptions],
) -> tuple[Sentences, Sentences]: ...
@overload
def fetch_ud_english_ewt(
    *,
    return_X_y: bool = ...,
    column: str = ...,
    **options: Unpack[FetchOptions],
) -> Bunch: ...
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
    if return_X_y:
        return X, y
    groups = [i for i, document in enumerate(documents) for _ in document.sentences]
    return Bunch(
        data=X,
        target=y,
        documents=documents,
        groups=groups,
        DESCR=description("ud_english_ewt"),
        filenames=[str(path)],
    )


@overload
def fetch_wsj_sample(
    *, return_X_y: Literal[True], **options: Unpack[FetchOptions]
) -> tuple[Sentences, Sentences]: ...
@overload
def fetch_wsj_sample(
    *, return_X_y: bool = ..., **options: Unpack[FetchOptions]
) -> Bunch: ...
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
    if return_X_y:
        return X, y
    text = description("wsj_sample")
    return Bunch(data=X, target=y, groups=groups, DESCR=text, filenames=[str(path)])


def _read_wsj(path: Path, numbers: range) -> tuple[Sentences, Sentences, list[int]]:
    X: Sentences = []
    y: Sentences = []
    groups: list[int] = []
    with zipfile.ZipFile(path) as archive:
        for number in numbers:
            name = f"treebank/combined/wsj_{number:04}.mrg"
            with archive.open(name) as file:
                words, tags = read_penn_trees(io.TextIOWrapper(file, "ascii"))
            X += words
            y += tags
            groups += [number] * len(words)
    return X, y, groups


@overload
def fetch_broad_twitter_entities(
    *, return_X_y: Literal[True], **options: Unpack[FetchOptions]
) -> tuple[Sentences, Sentences]: ...
@overload
def fetch_broad_twitter_entities(
    *, return_X_y: bool = ..., **options: Unpack[FetchOptions]
) -> Bunch: ...
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
    >>> from skcalib.datasets import fetch_broad_twitter_entities
    >>> names = fetch_broad_twitter_entities(subset="test")  # doctest: +SKIP
    >>> len(names.data)  # doctest: +SKIP
    2001
    """
    home = DataHome(data_home, download_if_missing, n_retries, delay)
    paths = home.fetch_subset("broad_twitter_entities", subset)
    X, y, section = [], [], []
    for path in paths:
        for tokens, tags in tokens_and_labels(path):
            X.append([token or NO_TEXT for token in tokens])
            y.append(tags)
            section.append(path.stem.removeprefix("btc_"))
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        section=np.array(section),
        DESCR=description("broad_twitter_entities"),
        filenames=[str(path) for path in paths],
    )


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
