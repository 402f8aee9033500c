"""Annotated corpora, downloaded once from where their makers publish them."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

from sklearn.utils import Bunch

from .._validation import check_choice
from ._conllu import read_conllu
from ._home import DataHome, RemoteFile
from ._sequences import (
    TAG_COLUMNS,
    read_conll_columns,
    read_penn_trees,
    to_sequences,
)

ARK = "ark_twitter_pos"
EWT = "ud_english_ewt"
WSJ = "wsj_sample"

# A commit never changes, a branch does.
ARK_URL = (
    "https://raw.githubusercontent.com/brendano/ark-tweet-nlp/"
    "72755ccd1b29ba8e1dbbb49efe57ba9723c0013b/data/twpos-data-v0.3/"
)
EWT_URL = (
    "https://raw.githubusercontent.com/UniversalDependencies/UD_English-EWT/"
    "4c89b5833a70aa5ed3a00bad2f23f57992cc7df8/"
)
WSJ_URL = (
    "https://raw.githubusercontent.com/nltk/nltk_data/"
    "5db857e6f7df11eabb5e5665836db9ec8df07e28/packages/corpora/"
)

REMOTE_FILES = {
    (ARK, "train"): RemoteFile(
        ARK,
        "oct27.train",
        ARK_URL + "oct27.splits/oct27.train",
        "e55a63da62838a28b308bd1be0b5c903ac242ef208dc59838f4b39aa33b11948",
    ),
    (ARK, "dev"): RemoteFile(
        ARK,
        "oct27.dev",
        ARK_URL + "oct27.splits/oct27.dev",
        "046e9c57ed2549b4dec08a9a7bccf8ec7f742faaa7b55d840408f2dfd1356851",
    ),
    (ARK, "test"): RemoteFile(
        ARK,
        "oct27.test",
        ARK_URL + "oct27.splits/oct27.test",
        "77f868fcd300d0acdd7bb8db28c961fcbe50d9cd0d48046e8fbec4b9f86bf814",
    ),
    (ARK, "daily547"): RemoteFile(
        ARK,
        "daily547.conll",
        ARK_URL + "daily547.conll",
        "581862c4a7a05b62cb5c4d44119f11fc1fe55489862c9470120628cca8e4b080",
    ),
    (EWT, "train"): RemoteFile(
        EWT,
        "en_ewt-ud-train.conllu",
        EWT_URL + "en_ewt-ud-train.conllu",
        "3fb78e2b55482c8ee00caa653af436c88c9e5bc9a73ce26e4ae3ddc79d2b7e7b",
    ),
    (EWT, "dev"): RemoteFile(
        EWT,
        "en_ewt-ud-dev.conllu",
        EWT_URL + "en_ewt-ud-dev.conllu",
        "531a54ff90d6ab12201c5a50c3e78e6ddac4de69abc4bce5d275d3cd29efe2b6",
    ),
    (EWT, "test"): RemoteFile(
        EWT,
        "en_ewt-ud-test.conllu",
        EWT_URL + "en_ewt-ud-test.conllu",
        "e266e515a0a7547657ed3d90d9ba46487d6bd251f27ad4269d4e8a427c8555cd",
    ),
    (WSJ, "all"): RemoteFile(
        WSJ,
        "treebank.zip",
        WSJ_URL + "treebank.zip",
        "9da92d76c3666cfb6cddeaed0f7e86b344cce0f0928a286d439e555f19c37399",
    ),
}

WSJ_FILES = {
    "train": range(1, 160),
    "dev": range(160, 180),
    "test": range(180, 200),
    "all": range(1, 200),
}

ARK_DESCR = """\
CMU Twitter part-of-speech data, version 0.3
============================================

English tweets with the part of speech of every token, 25 tags of one character each.
'train', 'dev' and 'test' were written on 27 October 2010, 'daily547' has one tweet a
day from January 2011 to June 2012.

========= ======= ======= =====
subset     tweets  tokens  tags
========= ======= ======= =====
train        1000   14619    25
dev           327    4823    23
test          500    7152    23
daily547      547    7707    25
========= ======= ======= =====

The text is that of real people, some of it offensive.

Source: https://github.com/brendano/ark-tweet-nlp, data/twpos-data-v0.3.

Licence: Creative Commons Attribution 3.0 (CC BY 3.0), as the README of the data says.

Please cite: K. Gimpel, N. Schneider, B. O'Connor, D. Das, D. Mills, J. Eisenstein,
M. Heilman, D. Yogatama, J. Flanigan, N. A. Smith (2011). "Part-of-speech tagging for
Twitter: annotation, features, and experiments". ACL. For version 0.3 and 'daily547'
also: O. Owoputi, B. O'Connor, C. Dyer, K. Gimpel, N. Schneider (2012). "Part-of-speech
tagging for Twitter: word clusters and other advances". CMU-ML-12-107.
"""

EWT_DESCR = """\
Universal Dependencies English Web Treebank, release 2.16
=========================================================

Weblogs, newsgroups, emails, reviews and questions with answers, in English, with
tags (column 'xpos': those of the Penn Treebank, 'upos': universal ones) and dependency
trees by hand.

====== ========== ========== ======= ====== ======
subset  documents  sentences   words   upos   xpos
====== ========== ========== ======= ====== ======
train         540      12544  204577     17     49
dev           318       2001   25147     17     49
test          316       2077   25094     17     48
====== ========== ========== ======= ====== ======

375 documents have a date, which stands in their names: weblogs, newsgroups and answers.
The mix of genres differs between the subsets. There are no entities and no
coreference.

Source: https://github.com/UniversalDependencies/UD_English-EWT, tag r2.16.

Licence: Creative Commons Attribution-ShareAlike 4.0 (CC BY-SA 4.0) for the annotation.
The texts are of various owners, see the README of the source.

Please cite: N. Silveira, T. Dozat, M.-C. de Marneffe, S. Bowman, M. Connor, J. Bauer,
C. D. Manning (2014). "A gold standard dependency corpus for English". LREC. The texts
were collected by A. Bies, J. Mott, C. Warner, S. Kulick (2012), "English Web Treebank",
LDC2012T13.
"""

WSJ_DESCR = """\
Penn Treebank, the sample that comes with NLTK
==============================================

Articles of the Wall Street Journal with part-of-speech tags, 45 in all, of 1989.

This corpus is NOT openly licensed. It is a fragment of the Penn Treebank, (C) 1995
University of Pennsylvania and Linguistic Data Consortium (LDC), which NLTK distributes
for illustrating its tools and for non-commercial use only. Whoever wants more than
that needs a licence of the LDC.

It has 199 files, wsj_0001 to wsj_0199, with 3914 sentences and 94084 tokens; traces
are left out. There is no official split; the subsets here are made of whole files:
'train' has wsj_0001 to wsj_0159, 'dev' wsj_0160 to wsj_0179, 'test' wsj_0180 to
wsj_0199, 'all' every file.

Source: https://github.com/nltk/nltk_data, packages/corpora/treebank.zip.

Please cite: M. P. Marcus, B. Santorini, M. A. Marcinkiewicz (1993). "Building a large
annotated corpus of English: the Penn Treebank". Computational Linguistics 19(2).
"""


def fetch_ark_twitter_pos(
    *,
    subset: str = "train",
    data_home: Any = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load tweets with the part of speech of every token.

    Parameters
    ----------
    subset : {'train', 'dev', 'test', 'daily547'}, default='train'
        Which part: 1000, 327 and 500 tweets of one day, or 547 tweets of as many days.
    data_home : str or Path, default=None
        Folder of the data sets. None: the environment variable ``SKCALIB_DATA``, else
        ``~/skcalib_data``.
    download_if_missing : bool, default=True
        If False, raise an OSError where a file is missing.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    n_retries : int, default=3
        How often to try again when a download fails.
    delay : float, default=1.0
        Seconds between the tries.

    Returns
    -------
    data : Bunch
        A dictionary with attributes: `data` (list of list of str), the tokens of each
        tweet; `target` (list of list of str), their tags; `DESCR`, where the data come
        from, their licence, what to cite; `filenames`, the files read.

    Raises
    ------
    OSError
        A file is missing and may not or cannot be downloaded, or has another checksum.
    ValueError
        A parameter is not as described, or a line of a file is malformed.

    See Also
    --------
    fetch_ud_english_ewt : Web text of several genres.
    fetch_wsj_sample : Newspaper text.
    make_tagged_sentences : Sentences that need no download.

    Notes
    -----
    CC BY 3.0. A file at ``<data_home>/ark_twitter_pos/`` is used if it has the right
    checksum; another file of that name raises an OSError and is left as it is.

    Examples
    --------
    >>> from skcalib.datasets import fetch_ark_twitter_pos
    >>> tweets = fetch_ark_twitter_pos(subset="test")  # doctest: +SKIP
    >>> len(tweets.data)  # doctest: +SKIP
    500
    """
    caller = "fetch_ark_twitter_pos"
    choices = ("train", "dev", "test", "daily547")
    check_choice(subset, choices, name="subset", caller=caller)
    home = DataHome(data_home, download_if_missing, n_retries, delay, caller)
    path = home.fetch(REMOTE_FILES[ARK, subset])
    X, y = read_conll_columns(path)
    if return_X_y:
        return X, y
    return Bunch(data=X, target=y, DESCR=ARK_DESCR, filenames=[str(path)])


def fetch_ud_english_ewt(
    *,
    subset: str = "train",
    column: str = "xpos",
    data_home: Any = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load English web text with tags, parses and, in part, dates.

    Parameters
    ----------
    subset : {'train', 'dev', 'test'}, default='train'
        Which part: 12544, 2001 or 2077 sentences.
    column : {'xpos', 'upos', 'lemma', 'feats', 'deprel'}, default='xpos'
        The column that holds the tags.
    data_home : str or Path, default=None
        Folder of the data sets. None: the environment variable ``SKCALIB_DATA``, else
        ``~/skcalib_data``.
    download_if_missing : bool, default=True
        If False, raise an OSError where a file is missing.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    n_retries : int, default=3
        How often to try again when a download fails.
    delay : float, default=1.0
        Seconds between the tries.

    Returns
    -------
    data : Bunch
        A dictionary with attributes: `data` (list of list of str), the words of each
        sentence; `target` (list of list of str), their tags; `documents` (list of
        Document), the sentences with their parses; `groups` (list of int), the index
        of the document of each sentence; `DESCR`, where the data come from, their
        licence, what to cite; `filenames`, the files read.

    Raises
    ------
    OSError
        A file is missing and may not or cannot be downloaded, or has another checksum.
    ValueError
        A parameter is not as described, or a line of a file is malformed.

    See Also
    --------
    fetch_ark_twitter_pos : Tweets.
    fetch_wsj_sample : Newspaper text.
    read_conllu : The documents of any file in CoNLL-U.

    Notes
    -----
    CC BY-SA 4.0. A file at ``<data_home>/ud_english_ewt/`` is used if it has the right
    checksum; another file of that name raises an OSError and is left as it is.

    Examples
    --------
    >>> from skcalib.datasets import fetch_ud_english_ewt
    >>> web = fetch_ud_english_ewt(subset="dev")  # doctest: +SKIP
    >>> len(web.documents), len(web.data)  # doctest: +SKIP
    (318, 2001)
    """
    caller = "fetch_ud_english_ewt"
    check_choice(subset, ("train", "dev", "test"), name="subset", caller=caller)
    check_choice(column, TAG_COLUMNS, name="column", caller=caller)
    home = DataHome(data_home, download_if_missing, n_retries, delay, caller)
    path = home.fetch(REMOTE_FILES[EWT, subset])
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
        DESCR=EWT_DESCR,
        filenames=[str(path)],
    )


def fetch_wsj_sample(
    *,
    subset: str = "train",
    data_home: Any = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load newspaper text with part-of-speech tags (not openly licensed).

    Parameters
    ----------
    subset : {'train', 'dev', 'test', 'all'}, default='train'
        Which part, made of whole articles: wsj_0001 to wsj_0159, wsj_0160 to wsj_0179,
        wsj_0180 to wsj_0199, or every one.
    data_home : str or Path, default=None
        Folder of the data sets. None: the environment variable ``SKCALIB_DATA``, else
        ``~/skcalib_data``.
    download_if_missing : bool, default=True
        If False, raise an OSError where a file is missing.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    n_retries : int, default=3
        How often to try again when a download fails.
    delay : float, default=1.0
        Seconds between the tries.

    Returns
    -------
    data : Bunch
        A dictionary with attributes: `data` (list of list of str), the words of each
        sentence; `target` (list of list of str), their tags; `groups` (list of int),
        the number of the article of each sentence; `DESCR`, where the data come from,
        their licence, what to cite; `filenames`, the files read.

    Raises
    ------
    OSError
        A file is missing and may not or cannot be downloaded, or has another checksum.
    ValueError
        A parameter is not as described, or a line of a file is malformed.

    See Also
    --------
    fetch_ark_twitter_pos : Tweets.
    fetch_ud_english_ewt : Web text of several genres.

    Notes
    -----
    A sample of the Penn Treebank, (C) LDC: for non-commercial use only. A file at
    ``<data_home>/wsj_sample/`` is used if it has the right checksum; another file of
    that name raises an OSError and is left as it is. The archive is not unpacked.

    Examples
    --------
    >>> from skcalib.datasets import fetch_wsj_sample
    >>> news = fetch_wsj_sample(subset="all")  # doctest: +SKIP
    >>> len(news.data)  # doctest: +SKIP
    3914
    """
    caller = "fetch_wsj_sample"
    check_choice(subset, tuple(WSJ_FILES), name="subset", caller=caller)
    home = DataHome(data_home, download_if_missing, n_retries, delay, caller)
    path = home.fetch(REMOTE_FILES[WSJ, "all"])
    X, y, groups = _read_wsj(path, WSJ_FILES[subset])
    if return_X_y:
        return X, y
    return Bunch(
        data=X, target=y, groups=groups, DESCR=WSJ_DESCR, filenames=[str(path)]
    )


def _read_wsj(
    path: Path, numbers: range
) -> tuple[list[list[str]], list[list[str]], list[int]]:
    X: list[list[str]] = []
    y: list[list[str]] = []
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
