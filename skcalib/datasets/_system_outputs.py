"""What several systems gave for one test set, to see whether their gains are real."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from .._validation import check_choice
from ._home import DataHome, RemoteFile
from ._lines import Block, Line, blocks_of
from ._sequences import read_conll_columns

OUTPUTS = "system_outputs"

# A commit never changes, a branch does.
WNUT_URL = (
    "https://raw.githubusercontent.com/leondz/emerging_entities_17/"
    "e52a2d2a71ac1a051ca2d532eef28653c5c02603/"
)
MQM_URL = (
    "https://raw.githubusercontent.com/google/wmt-mqm-human-evaluation/"
    "7fadea281aff8db61cc72fc3d469a4dca78b82a6/newstest2020/ende/"
)

GOLD = "gold"
MQM = "wmt20"


def _wnut(name: str, path: str, sha256: str) -> RemoteFile:
    return RemoteFile(OUTPUTS, f"wnut17_{name}", WNUT_URL + path, sha256)


# The gold tags, then the submissions by the names of their teams.
REMOTE_FILES = {
    GOLD: _wnut(
        "gold_emerging.test.annotated",
        "emerging.test.annotated",
        "2aa79b764e56ec9264a1b30fdd9b70195bd00ff400b62edd8f399d5f13c178f0",
    ),
    "arcada": _wnut(
        "arcada.txt",
        "submissions/arcada",
        "d9289938419aa472c35ebb531ccced91c9031b6f01ff712bc0329531df8b0b33",
    ),
    "drexel_cci": _wnut(
        "drexel_cci.txt",
        "submissions/drexel_cci",
        "8aa39196d3dd3ba907243d4084ee52406fac195f292999579ac25faedf5394cc",
    ),
    "flytxt": _wnut(
        "flytxt.txt",
        "submissions/flytxt",
        "97ccbcaa389f71eee65861c20bb4f125ef488693fabec495b6982701c2a08978",
    ),
    "mic-cis": _wnut(
        "mic-cis.txt",
        "submissions/mic-cis.txt",
        "fe368ea408f3227298805a8e1be85fb94f9dd1279cf81554b564d64b064e249e",
    ),
    "sjtu_adapt": _wnut(
        "sjtu_adapt.txt",
        "submissions/sjtu_adapt.txt",
        "6b7fb7d91e80a181ec9f7af2913a1ea458a695e31e2fd09dbfeb2cc76688e104",
    ),
    "spinningbytes": _wnut(
        "spinningbytes.txt",
        "submissions/spinningbytes.txt",
        "d369a10530893ee5ca6681793e7797100121876dbd9e65c65cad3b4710b102d0",
    ),
    "uh_ritual": _wnut(
        "uh_ritual.txt",
        "submissions/uh_ritual",
        "733d6fa0fd7b3929854100042e0338accceb35254677d27e1b1b17dd80b9893d",
    ),
    MQM: RemoteFile(
        OUTPUTS,
        "mqm_newstest2020_ende.avg_seg_scores.tsv",
        MQM_URL + "mqm_newstest2020_ende.avg_seg_scores.tsv",
        "729f515bd0d5cf77845e9516a13472ddc9773001b2275e04a0ad4ab7639559ff",
    ),
}
SYSTEMS = [name for name in REMOTE_FILES if name not in (GOLD, MQM)]

# One team put a space between token and tag, the others a tab.
DELIMITERS = {"arcada": " "}

MQM_HEADER = ["system", "mqm_avg_score", "seg_id"]

WNUT_DESCR = """\
Submissions to the shared task of WNUT 2017, and the gold tags
==============================================================

Novel and emerging entities in English messages (Reddit, Twitter, YouTube, Stack
Exchange): the entity tags of seven teams for one test set, in BIO, six labels. 1287
sentences, 23394 tokens, 1079 entities. Systems and gold are aligned by position.

============= ======== =====
system        entities    F1
============= ======== =====
arcada             787 39.98
drexel_cci         381 26.30
flytxt             720 38.35
mic-cis            891 37.06
sjtu_adapt         727 40.42
spinningbytes      824 40.78
uh_ritual          617 41.86
============= ======== =====

F1 is of exact spans and labels, over all sentences, where an I- tag that goes on with
no entity begins one, as in the scorer conlleval. Tokens are those of the gold file; one
team (mic-cis) had other forms of 1283 of them.

The texts are those of real people, some of them offensive.

Source: https://github.com/leondz/emerging_entities_17, submissions and
emerging.test.annotated.

Licence: Creative Commons Attribution 4.0 (CC BY 4.0).

Please cite: L. Derczynski, E. Nichols, M. van Erp, N. Limsopatham (2017). "Results of
the WNUT2017 shared task on novel and emerging entity recognition". W-NUT.
"""

MQM_DESCR = """\
Expert scores of English-German translations, WMT 2020
======================================================

Scores by professional translators (MQM) of ten translations of 1418 segments of
newstest2020; three of the ten are by humans (names that begin with "Human"). A score
is minus a penalty, a mean over raters: 0 is the best. The metric is the mean over
segments.

Segments come from documents, which are not named in the file: neighbours are not
quite independent.

Source: https://github.com/google/wmt-mqm-human-evaluation, newstest2020/ende. Scores
only, no text.

Licence: Apache 2.0.

Please cite: M. Freitag, G. Foster, D. Grangier, V. Ratnakar, Q. Tan, W. Macherey
(2021). "Experts, errors, and context: a large-scale study of human evaluation for
machine translation". TACL 9.
"""


def fetch_system_outputs(
    *,
    subset: str = "wnut17",
    data_home: Any = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load what several systems gave for one test set.

    Parameters
    ----------
    subset : {'wnut17', 'wmt20'}, default='wnut17'
        Entity tags of seven systems for 1287 sentences, with the gold tags, whose
        metric (F1) is no mean over sentences; or expert scores of ten translations of
        1418 segments, whose metric is a mean.
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
        A dictionary with attributes: `data` (dict), the output of each system by name:
        of 'wnut17' the tags of each sentence (list of list of str), of 'wmt20' the
        score of each segment (ndarray of shape (1418,)); `target` (list of list of
        str), the gold tags, or None; `tokens` (list of list of str), the tokens of each
        sentence, or None; `segments` (ndarray of int), the numbers of the segments, or
        None; `DESCR`, where the data come from, their licence, what to cite;
        `filenames`, the files read.

    Raises
    ------
    OSError
        A file is missing and may not or cannot be downloaded, or has another checksum.
    ValueError
        A parameter is not as described, or a line of a file is malformed.

    See Also
    --------
    skcalib.significance.compare_systems : Which differences are real.
    skcalib.metrics.span_statistics : From tags to what the F1 sums.

    Notes
    -----
    'wnut17' is CC BY 4.0, 'wmt20' Apache 2.0. Files at ``<data_home>/system_outputs/``
    are used if they have the right checksum; another file of that name raises an
    OSError and is left as it is.

    Examples
    --------
    >>> from skcalib.datasets import fetch_system_outputs
    >>> from skcalib.metrics import span_statistics
    >>> teams = fetch_system_outputs(subset="wnut17")  # doctest: +SKIP
    >>> stats = {
    ...     name: span_statistics(teams.target, tags)
    ...     for name, tags in teams.data.items()
    ... }  # doctest: +SKIP
    >>> stats["uh_ritual"].sum(axis=0).tolist()  # doctest: +SKIP
    [355, 617, 1079]
    """
    caller = "fetch_system_outputs"
    check_choice(subset, ("wnut17", "wmt20"), name="subset", caller=caller)
    names = [MQM] if subset == "wmt20" else [GOLD, *SYSTEMS]
    home = DataHome(data_home, download_if_missing, n_retries, delay, caller)
    paths = {name: home.fetch(REMOTE_FILES[name]) for name in names}
    found = _read_scores(paths[MQM]) if subset == "wmt20" else _read_tags(paths)
    if return_X_y:
        return found.data, found.target
    return Bunch(**found._asdict(), filenames=list(map(str, paths.values())))


class Outputs(NamedTuple):
    """The fields of the Bunch, but for the names of files."""

    data: dict[str, Any]
    target: Any
    tokens: Any
    segments: Any
    DESCR: str


def _read_tags(paths: Mapping[str, Path]) -> Outputs:
    """Read the gold tags and those of the systems, which must have its sentences."""
    tokens, target = read_conll_columns(paths[GOLD])
    lengths = list(map(len, tokens))
    data = {}
    for name in SYSTEMS:
        _, tags = read_conll_columns(paths[name], delimiter=DELIMITERS.get(name, "\t"))
        assert tags is not None  # there is a column of labels
        if list(map(len, tags)) != lengths:
            raise ValueError(
                f"{paths[name]}: expected the sentences of {paths[GOLD].name}, got "
                "other numbers of tokens."
            )
        data[name] = tags
    return Outputs(data, target, tokens, None, WNUT_DESCR)


def _score_row(block: Block, line: Line) -> tuple[str, int, float]:
    """Return the system, the segment and the score of a line."""
    try:
        system, score, segment = line.text.split()
        row = system, int(segment), float(score)
    except ValueError:
        row = "", 0, math.nan
    if not math.isfinite(row[2]):
        block.refuse(line.number, "a name and two numbers", repr(line.text))
    return row


def _read_scores(path: Path) -> Outputs:
    """Read a table of system, score and segment, in any order."""
    scores: dict[str, dict[int, float]] = {}
    blocks = list(blocks_of(path, caller="fetch_system_outputs"))
    if len(blocks) != 1 or len(blocks[0].lines) < 2:
        raise ValueError(f"{path}: expected a header and rows, no blank line between.")
    (block,) = blocks
    header, *lines = block.lines
    if header.text.split() != MQM_HEADER:
        block.refuse(header.number, f"the header {MQM_HEADER}", repr(header.text))
    for line in lines:
        system, segment, score = _score_row(block, line)
        if segment in scores.setdefault(system, {}):
            block.refuse(line.number, "each segment of a system once", repr(line.text))
        scores[system][segment] = score
    segments = sorted(next(iter(scores.values())))
    for system, found in scores.items():
        if sorted(found) != segments:
            raise ValueError(
                f"{path}: expected the same segments of every system, got others of "
                f"{system}."
            )
    data = {
        system: np.array([found[segment] for segment in segments])
        for system, found in scores.items()
    }
    return Outputs(data, None, None, np.array(segments), MQM_DESCR)
