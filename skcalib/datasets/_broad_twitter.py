"""Tweets whose names of persons, places and organisations are tagged."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .._validation import check_choice
from ._emoticon_tweets import EMOTICON, REMOTE_FILES, tokens_and_labels
from ._home import DataHome

SUBSETS = {
    "train": ("a", "b", "g"),
    "dev": ("h",),
    "test": ("f",),
    "all": ("a", "b", "f", "g", "h"),
}
# A token of which nothing is left but its label.
NO_TEXT = "_"

DESCR = """\
Broad Twitter Corpus: names in tweets, 2009 to 2014
===================================================

Tweets of several places, times and kinds of writers, tagged by experts and by crowds:
B-PER, I-PER, B-LOC, I-LOC, B-ORG, I-ORG, O. Five of its six sections; the parts here:

====== ========== ======
subset sections   tweets
====== ========== ======
train  a, b and g   5138
dev    h            2000
test   f            2001
====== ========== ======

Sections differ in their writers and in their share of names, so the parts do too.
A token that is nothing but white space is '_' here.

Source: https://github.com/GateNLP/broad_twitter_corpus

Licence: Creative Commons Attribution 4.0 (CC BY 4.0).

Please cite: L. Derczynski, K. Bontcheva, I. Roberts (2016). "Broad Twitter Corpus: a
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

    Raises
    ------
    OSError
        A file is missing and may not or cannot be downloaded, or has another checksum.
    ValueError
        A parameter is not as described, or a line of a file is malformed.

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
    home = DataHome(data_home, download_if_missing, n_retries, delay, caller)
    letters = SUBSETS[subset]
    files = [REMOTE_FILES[EMOTICON, f"btc_{letter}.conll"] for letter in letters]
    paths = [home.fetch(file) for file in files]
    X, y, section = [], [], []
    for letter, path in zip(letters, paths, strict=True):
        for tokens, tags in tokens_and_labels(path, caller=caller):
            X.append([token or NO_TEXT for token in tokens])
            y.append(tags)
            section.append(letter)
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        section=np.array(section),
        DESCR=DESCR,
        filenames=[str(path) for path in paths],
    )
