"""Messages whose label is an emoticon that their writers put there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from .._random import as_generator
from .._validation import check_choice
from . import _fetchers
from ._home import DataHome, RemoteFile
from ._lines import blocks_of, lines_of, opened, refuse

EMOTICON = "emoticon_tweets"

# A commit never changes, a branch does.
WNUT_URL = (
    "https://raw.githubusercontent.com/leondz/emerging_entities_17/"
    "e52a2d2a71ac1a051ca2d532eef28653c5c02603/source/raw_data/"
)
BTC_URL = (
    "https://raw.githubusercontent.com/GateNLP/broad_twitter_corpus/"
    "0c45ef7b1924a6b8115bceab388781590b1b553a/"
)

# Names here begin with the corpus; there they are what stands after it.
SHA256 = {
    "wnut17_gurez.10000": (
        "be68dbd8f7eec01a09243cfdfe4fd4a4af24ce6af09004618b3248d5535e3138"
    ),
    "wnut17_ile.10000": (
        "5a58c5636f0431ca6903e8eabaa661390f4a56e1dd3812c3b779f6112b0ed402"
    ),
    "wnut17_palm.10000": (
        "4103522db58c609497d4fd26ef40e1165adad378baf090e600baf362d8dd2fc1"
    ),
    "wnut17_rigo.10000": (
        "4cb9287bfc4811b90b214bb643df021b59734ca4b0f41caa08d2afaafe6d83f6"
    ),
    "wnut17_yt-filter": (
        "3d17c42ff7449e3ba14ceac557285c0c4b38a9cf8ab0ebc8e3a97607450bec73"
    ),
    "btc_a.conll": "ac824cc13c88283fe3cca05343e46c79ec4cd5b174429f27bf8fe0ebdc1bbf33",
    "btc_b.conll": "504a094a0398e03fd7b394510e313b8fc844407102252182d90aea23f53cc322",
    "btc_f.conll": "3bd2387dfc98ebc9d8b77d8b9c59826262e9beadce71ce8edde272821b9c87c8",
    "btc_g.conll": "d53a27645cabc4e63313d573498b48b0cc5ed780d280edfbdc4fedefe23479da",
    "btc_h.conll": "7f31215a79f3131526236203907c8d003b8e0f8ee6eef2a216ebb685340ebe39",
}


def _remote(name: str) -> RemoteFile:
    corpus, _, original = name.partition("_")
    url = {"wnut17": WNUT_URL, "btc": BTC_URL}[corpus]
    return RemoteFile(EMOTICON, name, url + original, SHA256[name])


REMOTE_FILES = {(EMOTICON, name): _remote(name) for name in SHA256}

# The tagged tweets are those of another data set, which has its own folder.
WNUT = tuple((EMOTICON, name) for name in SHA256 if name.endswith(".10000"))
BTC = tuple((EMOTICON, name) for name in SHA256 if name.endswith(".conll"))
YOUTUBE = ((EMOTICON, "wnut17_yt-filter"),)
ARK = tuple((_fetchers.ARK, part) for part in ("train", "dev", "test", "daily547"))
SUBSETS = {
    "tweets": WNUT + BTC + ARK,
    "wnut17": WNUT,
    "btc": BTC,
    "ark": ARK,
    "youtube": YOUTUBE,
    "all": WNUT + BTC + ARK + YOUTUBE,
}

# All mouths of a smiley go with it, for they would tell the label. Where tokens were
# joined by spaces, a smiley may have been two tokens.
SMILEY = re.compile(r":\)+")
SPACED_SMILEY = re.compile(r": ?\)(?: ?\))*")

RETWEET = re.compile(r"(?:RT ?@ ?\w+ ?: ?)+")
ADDRESS = re.compile(r"https?://\S*")

DESCR = """\
Messages with and without the emoticon ":)"
===========================================

Tweets and comments on YouTube with the "emoticon trick": a message with ":)" is happy
(1), any other is not (0). The label is derived from the text, nobody annotated it. A
message without ":)" may well be happy, and many are.

======= ====================================== ======== =========
subset  source                                 messages with ":)"
======= ====================================== ======== =========
wnut17  tweets of 2016 and 2017, four files       40000       169
btc     Broad Twitter Corpus, 2009 to 2014         9139       147
ark     CMU Twitter part-of-speech data, 2010      2374        72
youtube comments on YouTube                       58357       698
tweets  the first three                           51513       388
all     the four                                 109870      1086
======= ====================================== ======== =========

Counted before duplicates are dropped. 'wnut17' and 'youtube' are messages as written
(in part with HTML entities, in part cut at their end), 'btc' and 'ark' are tokens,
joined by a space. The Broad Twitter Corpus has split some emoticons: there ": )" counts
as well. Its sections a, b, f, g and h are here. Its rows with an empty token are left
out, and one message of nothing else.

The texts are those of real people, unfiltered: some are offensive, some are not in
English. Do not print single ones.

Sources: https://github.com/leondz/emerging_entities_17, source/raw_data ('wnut17',
'youtube'); https://github.com/GateNLP/broad_twitter_corpus ('btc');
https://github.com/brendano/ark-tweet-nlp, data/twpos-data-v0.3 ('ark').

Licence: Creative Commons Attribution 4.0 (CC BY 4.0) for 'wnut17', 'youtube' and
'btc'; Creative Commons Attribution 3.0 (CC BY 3.0) for 'ark'.

Please cite: L. Derczynski, E. Nichols, M. van Erp, N. Limsopatham (2017). "Results of
the WNUT2017 shared task on novel and emerging entity recognition". W-NUT ('wnut17',
'youtube'). L. Derczynski, K. Bontcheva, I. Roberts (2016). "Broad Twitter Corpus: a
diverse named entity recognition resource". COLING ('btc'). K. Gimpel and others (2011),
O. Owoputi and others (2012), see fetch_ark_twitter_pos ('ark'). For the labels:
J. Read (2005). "Using emoticons to reduce dependency in machine learning techniques for
sentiment classification". ACL Student Research Workshop.
"""


class Message(NamedTuple):
    """A message without its smileys, as written, and whether it has any."""

    bare: str
    written: str
    happy: bool
    source: str

    def key(self) -> tuple[bool, str]:
        """Return what messages that are copies of each other have in common."""
        text = ADDRESS.sub(" ", RETWEET.sub("", self.bare, count=1))
        return self.happy, " ".join(text.casefold().split())


def fetch_emoticon_tweets(
    *,
    subset: str = "tweets",
    remove_emoticons: bool = True,
    drop_duplicates: bool = True,
    balanced: bool = True,
    random_state: Any = 0,
    data_home: Any = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load messages and whether their writers put a ":)" there.

    Parameters
    ----------
    subset : {'tweets', 'wnut17', 'btc', 'ark', 'youtube', 'all'}, default='tweets'
        Which messages: tweets of three corpora or of one of them, comments on YouTube,
        or all of these.
    remove_emoticons : bool, default=True
        Put a space for every ":)", with all its mouths (":)))"). False: leave the
        texts as written, label and all.
    drop_duplicates : bool, default=True
        Keep the first of messages with the same label that differ in nothing but
        retweet marks ("RT @user:") at the start, addresses of pages, smileys, case and
        white space. Else copies of a message land on both sides of a split.
    balanced : bool, default=True
        Draw as many messages of each label as the rarer one has, file by file, so that
        the source does not tell the label. False: keep all.
    random_state : int, RandomState, Generator or None, default=0
        Of the draw.
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
        A dictionary with attributes: `data` (list of str), the messages, in the order
        of the files; `target` (ndarray of int), 1 where there was a ":)", else 0;
        `target_names` (list of str), what 0 and 1 stand for; `sources` (list of str),
        the name of the file of each message; `DESCR`, where the data come from, their
        licence, what to cite; `filenames`, the files read.

    Raises
    ------
    OSError
        A file is missing and may not or cannot be downloaded, or has another checksum.
    ValueError
        A parameter is not as described, or a line of a file is malformed.

    See Also
    --------
    fetch_ark_twitter_pos : Tweets with the part of speech of every token.
    make_calibrated_pairs : Labels and probabilities whose truth is known.

    Notes
    -----
    CC BY 4.0, 'ark' CC BY 3.0. Files at ``<data_home>/emoticon_tweets/`` and, for
    'ark', ``<data_home>/ark_twitter_pos/`` are used if they have the right checksum;
    another file of that name raises an OSError and is left as it is.

    The labels are made as in section 4.1 of [1]_: "happy" against the rest, not against
    ":(", in equal numbers, smileys deleted. Its tweets, 100,000 for each of training,
    development and test, were never released; here are about a thousand of each label.

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
    caller = "fetch_emoticon_tweets"
    check_choice(subset, tuple(SUBSETS), name="subset", caller=caller)
    rng = as_generator(random_state, caller=caller)
    files = {**REMOTE_FILES, **_fetchers.REMOTE_FILES}
    home = DataHome(data_home, download_if_missing, n_retries, delay, caller)
    paths = [home.fetch(files[key]) for key in SUBSETS[subset]]
    messages = [message for path in paths for message in _read(path)]
    if drop_duplicates:
        messages = _distinct(messages)
    if balanced:
        messages = _balance(messages, rng)
    X = [m.bare if remove_emoticons else m.written for m in messages]
    y = np.array([m.happy for m in messages], dtype=np.int64)
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        target_names=["other", "happy"],
        sources=[message.source for message in messages],
        DESCR=DESCR,
        filenames=[str(path) for path in paths],
    )


def _read(path: Path) -> list[Message]:
    smiley = SPACED_SMILEY if path.name.startswith("btc_") else SMILEY
    is_raw = path.name.startswith("wnut17_")
    texts = _read_lines(path) if is_raw else _read_tokens(path)
    messages = []
    for text in texts:
        bare, n_smileys = smiley.subn(" ", text)
        # Nothing but smileys changes.
        bare = bare.strip() if n_smileys else text
        messages.append(Message(bare, text, n_smileys > 0, path.name))
    return messages


def _read_lines(path: Any) -> Iterator[str]:
    """Give the lines of a file of one message a line."""
    with opened(path, caller="fetch_emoticon_tweets") as (file, source):
        for line in lines_of(file, source):
            if not line.text.strip():
                refuse(source, line.number, "a message", "a blank line")
            yield line.text


def _read_tokens(path: Any) -> Iterator[str]:
    """Give the messages of a file of one token a line, joined by spaces."""
    for tokens, _ in tokens_and_labels(path, caller="fetch_emoticon_tweets"):
        yield " ".join(token for token in tokens if token)


def tokens_and_labels(
    path: Any, *, caller: str
) -> Iterator[tuple[list[str], list[str]]]:
    """Give the tokens and labels of each message that has text.

    Line feeds and the like have been tokens once: nothing is left of them.
    """
    for block in blocks_of(path, caller=caller):
        tokens, labels = [], []
        for line in block.lines:
            token, tab, label = line.text.partition("\t")
            if not tab or not label or "\t" in label:
                expected = "a token and a label with a tab between them"
                block.refuse(line.number, expected, repr(line.text))
            tokens.append(token.strip())
            labels.append(label)
        if any(tokens):
            yield tokens, labels


def _distinct(messages: list[Message]) -> list[Message]:
    first: dict[tuple[bool, str], Message] = {}
    for message in messages:
        first.setdefault(message.key(), message)
    return list(first.values())


def _balance(messages: list[Message], rng: np.random.Generator) -> list[Message]:
    """Draw as many messages of each label as the rarer one has in their file."""
    rows: dict[str, tuple[list[int], list[int]]] = {}
    for i, message in enumerate(messages):
        rows.setdefault(message.source, ([], []))[message.happy].append(i)
    kept: list[int] = []
    for by_label in rows.values():
        n = min(map(len, by_label))
        for label in by_label:
            kept += rng.choice(label, n, replace=False).tolist() if n else []
    return [messages[i] for i in sorted(kept)]
