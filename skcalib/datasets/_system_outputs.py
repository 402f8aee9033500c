"""Outputs of several systems for one test set."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import public
from ._files import DataHome, PathLike, as_bunch
from ._lines import Block, Line, blocks_of
from ._sequences import read_conll_columns

# One team used a space between token and tag, the others a tab.
DELIMITERS = {"arcada": " "}

MQM_HEADER = ["system", "mqm_avg_score", "seg_id"]


@public
def fetch_system_outputs(
    *,
    subset: str = "wnut17",
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load the outputs of several systems for one test set.

    Parameters
    ----------
    subset : {'wnut17', 'wmt20'}, default='wnut17'
        'wnut17' contains the entity tags of seven systems for 1287 sentences and the
        gold tags. Its metric (F1) is not a mean over sentences. 'wmt20' contains expert
        scores of ten translations of 1418 segments. Its metric is a mean.
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
        Dictionary-like object with the following attributes. `data` (dict) is the
        output of each system by name: the tags of each sentence (list of list of str)
        for 'wnut17', or the score of each segment (ndarray of shape (1418,)) for
        'wmt20'. `target` (list of list of str) are the gold tags, or None. `tokens`
        (list of list of str) are the tokens of each sentence, or None. `segments`
        (ndarray of int) are the numbers of the segments, or None. `DESCR` describes the
        origin of the data, their licence and how to cite them. `filenames` contains the
        paths of the files that were read.

    Raises
    ------
    OSError
        If a file is missing and downloads are not allowed or fail, or if a file does
        not have the expected checksum.
    ValueError
        If a parameter is not as described, or if a line of a file is malformed.

    See Also
    --------
    skcalib.significance.compare_systems : Test the differences between the systems.
    skcalib.metrics.span_statistics : Sufficient statistics of entity F1 from tags.

    Notes
    -----
    The licence of 'wnut17' is CC BY 4.0. The licence of 'wmt20' is Apache 2.0. Files at
    ``<data_home>/system_outputs/`` are used if they have the right checksum. A file of
    that name with another checksum raises an OSError and is not changed.

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
    home = DataHome(data_home, download_if_missing, n_retries, delay)
    paths = home.fetch_subset("system_outputs", subset)
    found = _read_scores(paths[0]) if subset == "wmt20" else _read_tags(*paths)
    name = f"system_outputs_{subset}"
    return as_bunch(name, paths, return_X_y, **found)


def _read_tags(gold: Path, *submissions: Path) -> dict[str, Any]:
    """Read the gold tags and the tags of the systems, for the same sentences."""
    tokens, target = read_conll_columns(gold)
    lengths = list(map(len, tokens))
    data = {}
    for path in submissions:
        name = path.stem.removeprefix("wnut17_")
        _, data[name] = read_conll_columns(path, delimiter=DELIMITERS.get(name, "\t"))
        if list(map(len, data[name])) != lengths:
            raise ValueError(
                f"{path}: expected the sentences of {gold.name}, got different "
                "numbers of tokens."
            )
    return {"data": data, "target": target, "tokens": tokens, "segments": None}


def _score_row(block: Block, line: Line) -> tuple[str, int, float]:
    """Return the system, the segment and the score of a line."""
    try:
        system, score, segment = line.text.split()
        row = system, int(segment), float(score)
    except ValueError:
        row = "", 0, math.nan  # as wrong as a score that is NaN
    if not math.isfinite(row[2]):
        block.malformed(line.number, "a name and two numbers", repr(line.text))
    return row


def _read_scores(path: Path) -> dict[str, Any]:
    """Read a table with the columns system, score and segment, in any order of rows."""
    scores: dict[str, dict[int, float]] = {}
    # A blank line would begin another block.
    blocks = list(blocks_of(path))
    if len(blocks) != 1 or len(blocks[0].lines) < 2:
        raise ValueError(f"{path}: expected a header and rows, no blank line between.")
    (block,) = blocks
    header, *lines = block.lines
    if header.text.split() != MQM_HEADER:
        block.malformed(header.number, f"the header {MQM_HEADER}", repr(header.text))
    for line in lines:
        system, segment, score = _score_row(block, line)
        if segment in scores.setdefault(system, {}):
            block.malformed(
                line.number, "each segment of a system once", repr(line.text)
            )
        scores[system][segment] = score
    # Scores are compared by segment, so all systems need the same ones.
    segments = sorted(next(iter(scores.values())))
    for system, found in scores.items():
        if sorted(found) != segments:
            raise ValueError(
                f"{path}: expected the same segments for every system, got different "
                f"ones for {system}."
            )
    data = {
        system: np.array([found[segment] for segment in segments])
        for system, found in scores.items()
    }
    numbers = np.array(segments)
    return {"data": data, "target": None, "tokens": None, "segments": numbers}
