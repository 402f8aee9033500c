"""GUM: texts of many genres with parses and coreference."""

from __future__ import annotations

from typing import Any

from .._validation import check_choice
from ._conllu import read_conllu
from ._home import GIT_BLOB, DataHome, RemoteFile
from ._litbank import coref_bunch

GUM = "gum"

# A commit never changes, a branch does.
GUM_URL = (
    "https://raw.githubusercontent.com/UniversalDependencies/UD_English-GUM/"
    "8e1cfe2bcf8a268a6d4a7a49c083222f5e13d9c5/"
)


REMOTE_FILES = {
    "train": RemoteFile(
        GUM,
        "en_gum-ud-train.conllu",
        GUM_URL + "en_gum-ud-train.conllu",
        "e159dc6ad8c6cc4d0639fa5062ddf00cb4f14349",
        GIT_BLOB,
    ),
    "dev": RemoteFile(
        GUM,
        "en_gum-ud-dev.conllu",
        GUM_URL + "en_gum-ud-dev.conllu",
        "581997015a2d878ad49619032d265a9753e1b6b03d75ca18b04a00bb9ee8991d",
    ),
    "test": RemoteFile(
        GUM,
        "en_gum-ud-test.conllu",
        GUM_URL + "en_gum-ud-test.conllu",
        "fe95c0e744f81cdf2a307ce522604ecc05cd359c7c6d1abaa3a46c85d024f34c",
    ),
}
# The train file put together from the documents of the same commit, in the order of
# their names, without those whose text is withheld. It differs from the released one in
# `Discourse=` and in the order of comments.
REBUILT = RemoteFile(
    GUM,
    "en_gum-ud-train.rebuilt.conllu",
    REMOTE_FILES["train"].url,
    "399286f14284719f34c231782ae63abde4f59662fd73cc28bc35205b39a41502",
)

DESCR = """\
GUM, the Georgetown University Multilayer corpus, UD release 2.16
=================================================================

English texts of 15 genres (academic, bio, conversation, court, essay, fiction,
interview, letter, news, podcast, speech, textbook, vlog, voyage, whow), with tags,
dependencies, and mentions of entities with who is who, all by hand; entities that are
mentioned once are annotated. Texts from Reddit are left out: their words are withheld.

====== ========== ========= ======= ========= =========
subset  documents sentences   words  mentions  entities
====== ========== ========= ======= ========= =========
train         177     10224  177410     49649     25758
dev            30      1575   28119      7897      3940
test           30      1464   28397      7927      4319
====== ========== ========= ======= ========= =========

The lists of documents that come with the corpus differ from the released files in
some documents; the subsets here are the released files. Each document has a day in
its `date`, which for conversations is a placeholder.

Source: https://github.com/UniversalDependencies/UD_English-GUM, tag r2.16.

Licence: mixed, as a whole Creative Commons Attribution-NonCommercial-ShareAlike 4.0
(CC BY-NC-SA 4.0). The annotation is CC BY 4.0; of the texts, fiction, whow, essays,
letters and podcasts are for non-commercial use only.

Please cite: A. Zeldes (2017). "The GUM corpus: creating multilayer resources in the
classroom". Language Resources and Evaluation 51(3).
"""


def fetch_gum(
    *,
    subset: str = "train",
    data_home: Any = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load English texts of many genres with parses, dates and coreference.

    Parameters
    ----------
    subset : {'train', 'dev', 'test'}, default='train'
        Which part: 177, 30 or 30 documents.
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
        A dictionary with attributes: `data` (list of Document), with sentences, parses
        and mentions; `target` (list of ndarray of int), the entity of each mention, as
        the index of its first one; `DESCR`, where the data come from, their licence,
        what to cite; `filenames`, the files read.

    Raises
    ------
    OSError
        A file is missing and may not or cannot be downloaded, or has another checksum.
    ValueError
        A parameter is not as described, or a line of a file is malformed.

    See Also
    --------
    fetch_litbank : Fiction with coreference.
    read_conllu : The documents of any file in CoNLL-U.

    Notes
    -----
    CC BY-NC-SA 4.0 as a whole: not for commercial use. A file at ``<data_home>/gum/``
    is used if it has the right checksum; another file of that name raises an OSError
    and is left as it is. The train file may also be ``en_gum-ud-train.rebuilt.conllu``,
    put together from the documents of the release.

    Examples
    --------
    >>> from skcalib.datasets import fetch_gum
    >>> gum = fetch_gum(subset="test")  # doctest: +SKIP
    >>> len(gum.data), sum(len(text.mentions) for text in gum.data)  # doctest: +SKIP
    (30, 7927)
    """
    caller = "fetch_gum"
    check_choice(subset, tuple(REMOTE_FILES), name="subset", caller=caller)
    home = DataHome(data_home, download_if_missing, n_retries, delay, caller)
    file = REMOTE_FILES[subset]
    if subset == "train" and not home.has(file) and home.has(REBUILT):
        file = REBUILT
    path = home.fetch(file)
    return coref_bunch(read_conllu(path), [path], DESCR, return_X_y)
