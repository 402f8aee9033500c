"""Tweets whose names of persons, places and organisations are tagged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .._validation import check_choice
from ._emoticon_tweets import EMOTICON, REMOTE_FILES
from ._home import data_home as _data_home
from ._readers import blocks_of

SUBSETS = {
    "train": ("a", "b", "g"),
    "dev": ("h",),
    "test": ("f",),
    "all": ("a", "b", "f", "g", "h"),
}
# A line feed has been a token once; nothing is left of it but its label.
NO_TEXT = "_"

DESCR = """\
Broad Twitter Corpus: names in tweets, 2009 to 2014
---------------------------------------------------

Tweets of several places, times and kinds of writers, tagged by experts and by crowds:
B-PER, I-PER, B-LOC, I-LOC, B-ORG, I-ORG, O. Five of its six sections; the parts here:

train   sections a, b and g     5,138 tweets
dev     section h               2,000 tweets
test    section f               2,001 tweets

Sections differ in their writers and in their share of names, so the parts do too.
A token that is nothing but white space is '_' here.

Source: https://github.com/GateNLP/broad_twitter_corpus
Licence: Creative Commons Attribution 4.0 (CC BY 4.0).
Citation: L. Derczynski, K. Bontcheva and I. Roberts (2016), "Broad Twitter Corpus: a
diverse named entity recognition resource". COLING.
"""


def fetch_broad_twitter_entities(
    *,
    subset: str = "train",
    data_home: Any = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load tweets with tagged names of persons, places and organisations.

    Parameters
    ----------
    subset : {'train', 'dev', 'test', 'all'}, default='train'
        Which part: sections a, b and g of the Broad Twitter Corpus, section h, section
        f, or all five.
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
        tweet; `target` (list of list of str), their tags in BIO; `section` (array of
        str), the section of each tweet; `DESCR`, where the data come from, their
        licence, what to cite; `filenames`, the files read.

    See Also
    --------
    fetch_emoticon_tweets : The same tweets, labelled by their smileys.
    skcalib.queries.SpanQuery : Asks how probable it is that tokens are one name.

    Notes
    -----
    CC BY 4.0. Files are at ``<data_home>/emoticon_tweets/``, where they serve
    `fetch_emoticon_tweets` too; one with another checksum raises an OSError and is left
    as it is.

    Examples
    --------
    >>> from skcalib.datasets import fetch_broad_twitter_entities
    >>> names = fetch_broad_twitter_entities(subset="test")  # doctest: +SKIP
    >>> len(names.data)  # doctest: +SKIP
    2001
    """
    caller = "fetch_broad_twitter_entities"
    check_choice(subset, tuple(SUBSETS), name="subset", caller=caller)
    X: list[list[str]] = []
    y: list[list[str]] = []
    section: list[str] = []
    paths = []
    for letter in SUBSETS[subset]:
        path = REMOTE_FILES[EMOTICON, f"btc_{letter}.conll"].locate(
            data_home=_data_home(data_home),
            download_if_missing=download_if_missing,
            n_retries=n_retries,
            delay=delay,
            caller=caller,
        )
        tokens, tags = _read(path, caller=caller)
        X += tokens
        y += tags
        section += [letter] * len(tokens)
        paths.append(str(path))
    if return_X_y:
        return X, y
    return Bunch(
        data=X, target=y, section=np.array(section), DESCR=DESCR, filenames=paths
    )


def _read(path: Path, *, caller: str) -> tuple[list[list[str]], list[list[str]]]:
    X, y = [], []
    for block in blocks_of(path, caller=caller):
        rows = [line.text.split("\t") for line in block.lines]
        for line, row in zip(block.lines, rows, strict=True):
            if len(row) != 2 or not row[1]:
                expected = "a token and a label with a tab between them"
                block.refuse(line.number, expected, repr(line.text))
        if all(not row[0].strip() for row in rows):
            continue
        X.append([row[0].strip() or NO_TEXT for row in rows])
        y.append([row[1] for row in rows])
    return X, y
