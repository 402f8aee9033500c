"""GUM: texts of many genres with parses and coreference."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._validation import check_choice
from ._home import RemoteFile, git_blob_id
from ._home import data_home as _data_home
from ._litbank import bunch_of
from ._readers import read_conllu

GUM = "gum"

# A commit never changes, a branch does.
GUM_URL = (
    "https://raw.githubusercontent.com/UniversalDependencies/UD_English-GUM/"
    "8e1cfe2bcf8a268a6d4a7a49c083222f5e13d9c5/"
)


@dataclass(frozen=True)
class TrainFile:
    """The train file: of the release, or put together from its documents.

    The release is known by its git blob id. The documents of the same commit in the
    order of their names, without those whose text is withheld, differ from it in
    `Discourse=` and in the order of comments.
    """

    released: RemoteFile
    git_blob: str
    rebuilt: RemoteFile

    def locate(self, *, data_home: Path, **asked: Any) -> Path:
        """Return the path of the file, downloaded if need be and allowed."""
        for file in (self.released, self.rebuilt):
            path = data_home / file.folder / file.name
            if path.exists() and file is self.rebuilt:
                return self.rebuilt.locate(data_home=data_home, **asked)
            if path.exists():
                self._check(path)
                return path
        path = self.released.locate(data_home=data_home, **asked)
        try:
            self._check(path)
        except OSError:
            path.unlink()  # it was downloaded just now
            raise
        return path

    def _check(self, path: Path) -> None:
        found = git_blob_id(path)
        if found != self.git_blob:
            raise OSError(
                f"{path} is not the file expected there: its git blob id is {found}, "
                f"not {self.git_blob}. Move it away, so that {self.released.url} can "
                "be downloaded, or pass another 'data_home'."
            )


REMOTE_FILES: dict[str, RemoteFile | TrainFile] = {
    "train": TrainFile(
        RemoteFile(
            GUM,
            "en_gum-ud-train.conllu",
            GUM_URL + "en_gum-ud-train.conllu",
            sha256=None,
        ),
        "e159dc6ad8c6cc4d0639fa5062ddf00cb4f14349",
        RemoteFile(
            GUM,
            "en_gum-ud-train.rebuilt.conllu",
            GUM_URL + "not-to-release/sources/",
            "399286f14284719f34c231782ae63abde4f59662fd73cc28bc35205b39a41502",
        ),
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
        If False, raise an OSError where the file is missing.
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
    path = REMOTE_FILES[subset].locate(
        data_home=_data_home(data_home),
        download_if_missing=download_if_missing,
        n_retries=n_retries,
        delay=delay,
        caller=caller,
    )
    return bunch_of(read_conllu(path), [path], DESCR, return_X_y)
