"""Reading of a file by the reader of its format: one system, or all systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from os import PathLike
from types import ModuleType
from typing import Any

from .._errors import ParameterError, ParameterTypeError, parameter, public
from . import (
    _decisions,
    _deepeval,
    _every_eval_ever,
    _helm,
    _hle,
    _inspect,
    _lighteval,
    _lm_eval,
    _openai_evals,
    _promptfoo,
    _simple_evals,
    _table_answers,
)
from ._evaluation import Evaluation
from ._files import Options, Source, open_source
from ._values import file_error

READERS: tuple[ModuleType, ...] = (
    _lm_eval,
    _inspect,
    _helm,
    _lighteval,
    _hle,
    _simple_evals,
    _promptfoo,
    _deepeval,
    _openai_evals,
    _every_eval_ever,
    _decisions,
)

# Keys of the files of harnesses that have no answers, by the files to read instead.
_OF_AVERAGES: dict[str, list[set[str]]] = {
    "the samples (lm-evaluation-harness writes them with --log_samples) or the details "
    "beside it": [
        {"results", key} for key in ("configs", "config_general", "versions")
    ],
    "per_instance_stats.json, or the folder of the run": [
        {"name", "count", "sum_squared", "mean"},
    ],
    "the file that ends in _allresults.json": [{"score", "score:std"}],
}

_OPTIONS = frozenset(field.name for field in fields(Options))

_READER_OF = {reader.NAME: reader for reader in (*READERS, _table_answers)}

FORMATS = tuple(_READER_OF)


@public
def read_evaluation(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    score: str | None = None,
    filter: str | None = None,
    split: str | None = None,
    model: str | None = None,
    columns: Mapping[str, str] | None = None,
    groups: Sequence[str] = (),
    pos_label: str | None = None,
    scale: tuple[float, float] | None = None,
    percent: bool = False,
    missing: str = "keep",
    verbose: int = 0,
) -> Evaluation:
    """Read the file in which a harness wrote the answers of a system.

    The format is recognised by the content of the file, not by its name. If a file
    contains several scores, filters, splits or systems, an error lists them and names
    the parameter that selects one.

    Parameters
    ----------
    path : str or path-like
        File or run folder: samples of lm-evaluation-harness, a log of inspect_ai
        (``.eval`` or ``.json``), a run folder of HELM, details of lighteval, judged
        answers of HLE, results of simple-evals, promptfoo, deepeval or OpenAI evals,
        instances of Every Eval Ever, or responses of decision models beside gold
        labels; or a plain table as CSV, TSV, parquet, or JSON objects, one per line or
        in an array.
    format : str, default=None
        Name of the format. If None, the format is recognised.
    score : str, default=None
        Metric or scorer to use. If None, the only metric is used, or ``acc`` for
        lm-evaluation-harness.
    filter : str, default=None
        Filter of lm-evaluation-harness, or result of Every Eval Ever, to use.
    split : str, default=None
        Split of HELM to use.
    model : str, default=None
        System to use, if the file contains several.
    columns : mapping of str to str, default=None
        Columns of a plain table by their role: 'score' (whether the answer is right),
        or 'gold' and 'prediction' (the right answer and the answer of the system);
        'proba', 'question', 'model'. Columns with usual names, such as ``correct``,
        ``confidence`` and ``id``, need not be given. In a table without labels, a
        column ``score`` of the numbers 0 and 1 is read. A column ``probability``, or
        the largest number of ``probabilities``, is read instead of a ``confidence``,
        which may measure the shape of a distribution; `Evaluation.notes` says so. With
        an empty name, no column is read for the role.
    groups : sequence of str, default=()
        Further columns of a plain table to keep, for example the subject.
    pos_label : str, default=None
        Label in the column 'score', or value of the score of a harness, that counts as
        right; other labels count as wrong.
    scale : tuple of two float, default=None
        Lowest and highest grade, such as (1, 5), if the scores are grades. A score of
        the evaluation is the share of the way from the lowest to the highest grade.
    percent : bool, default=False
        Whether the probabilities of a plain table or a log of inspect_ai are
        percentages, from 0 to 100.
    missing : {'keep', 'error'}, default='keep'
        Treatment of empty cells in a plain table. 'keep' reads them as NaN or an empty
        name, 'error' raises an error. NA, N/A, null, None and nan are empty cells in
        columns of scores and probabilities. In columns of names, they are names.
    verbose : int, default=0
        If positive, the progress in a long file is printed to standard error.

    Returns
    -------
    evaluation : Evaluation
        Scores and probabilities of the answers.

    Raises
    ------
    ValueError
        If the file cannot be read, if its format is unknown or ambiguous, if it
        contains several scores, filters, splits or systems and none is selected, or if
        a row is malformed.
    ImportError
        If the file is a parquet file and pyarrow is not installed, or if it is
        compressed with Zstandard and zstandard is not installed (Python before 3.14
        only).

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from skcalib import read_evaluation
    >>> answer = {"response": "Paris. Confidence: 80%"}
    >>> verdict = {"correct": "yes", "confidence": 80}
    >>> judged = {"q1": {**answer, "judge_response": verdict}}
    >>> path = Path(tempfile.mkdtemp()) / "judged.json"
    >>> _ = path.write_text(json.dumps(judged))
    >>> read_evaluation(path).proba
    array([0.8])
    """
    options = Options(
        *(score, filter, split, model, columns or {}, tuple(groups)),
        *(pos_label, scale, percent, missing, verbose),
    )
    with _opened(path, format, options) as (reader, source):
        given = [name for name in options.columns.values() if name]
        if reader is not _table_answers and given:
            raise ParameterError(
                "columns",
                f"does not apply to files of {reader.NAME}. Got {given[0]!r}. Choose "
                f"the score with {parameter('score')}, or read the file as a plain "
                f"table with {parameter('format')}.",
            )
        return reader.read(source, options)


@public
def read_evaluations(
    path: str | PathLike[str],
    *,
    systems: Sequence[str] | None = None,
    gold: str | None = None,
    columns: Mapping[str, str] | None = None,
    groups: Sequence[str] = (),
    **options: Any,
) -> dict[str, Evaluation]:
    r"""Read all systems of a file.

    Parameters
    ----------
    path : str or path-like
        File, as for :func:`read_evaluation`. A plain table may contain the system of
        each row in a column (long form), or one column of scores per system (wide
        form).
    systems : sequence of str, default=None
        Systems to read, or columns of a table in wide form. If None, all systems are
        read. In wide form these are the columns of numbers in [0, 1]. A column with one
        number in every row, such as a temperature of 0.7, is not a system, unless the
        number is 0 or 1. `Evaluation.notes` names the columns that were read and the
        other columns.
    gold : str, default=None
        Column of a table in wide form that contains the right answer. The columns of
        the systems then contain answers instead of scores. An answer is right if it is
        equal to the right answer. An empty cell means that the system was not asked the
        question; NA and None are answers.
    columns : mapping of str to str, default=None
        Columns of a plain table by their role: 'question', 'model', 'score'.
    groups : sequence of str, default=()
        Further columns of a plain table to keep.
    **options : dict
        Further parameters of :func:`read_evaluation`.

    Returns
    -------
    evaluations : dict of str to Evaluation
        Evaluation of each system by name, in the order of the file.

    Raises
    ------
    ValueError
        If the file cannot be read, if a system is not in it, or if columns may be
        several scores of one system, such as `is_correct` inside an object of a JSON
        file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skcalib.evaluation import read_evaluations
    >>> path = Path(tempfile.mkdtemp()) / "answers.csv"
    >>> _ = path.write_text("question,small,large\na,0,1\nb,1,1\nc,0,0\n")
    >>> list(read_evaluations(path))
    ['small', 'large']
    """
    format = options.pop("format", None)
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(
                f"read_evaluations() got an unexpected keyword argument {name!r}"
            )
    given = Options(columns=columns or {}, groups=tuple(groups), **options)
    with _opened(path, format, given) as (reader, source):
        # With a model, one system is wanted, which `read` returns.
        if reader is _table_answers and given.model is None:
            return _table_answers.read_systems(source, given, systems, gold)
        if gold is not None:
            raise _table_answers.no_answers(source.path, gold)
        if reader is _promptfoo and given.model is None:
            rows = _promptfoo.systems_of(source)
            names = _table_answers.chosen_systems(list(dict.fromkeys(rows)), systems)
            # The other formats have one system per file, or are read for one.
            return {n: _promptfoo.read_one(source, given, rows, n) for n in names}
        if systems is not None:
            raise ParameterError(
                "systems",
                "applies to plain tables and files of promptfoo, without a model. Got "
                f"{list(systems)} for {source.path.name}.",
            )
        evaluation = reader.read(source, given)
        return {evaluation.model or source.path.stem: evaluation}


def _reader_of(source: Source, format: str | None) -> ModuleType:
    """Return the reader of a file: of the given format, or the one that claims it."""
    if format in _READER_OF:
        return _READER_OF[format]
    if format is not None:
        raise ParameterError(
            "format", f"must be one of {list(FORMATS)}. Got {format!r}."
        )
    # No harness writes a text that is not JSON.
    # All readers are asked, because a file that two of them claim is an error.
    found = [r for r in READERS if source.kind != "text" and r.claims(source)]
    if not found and _table_answers.claims(source) and not _averages_only(source):
        found = [_table_answers]
    if len(found) != 1:
        raise file_error(_not_one(source, found))
    return found[0]


@contextmanager
def _opened(
    path: Any, format: str | None, options: Options
) -> Iterator[tuple[ModuleType, Source]]:
    """Yield the reader and the file, which errors that no reader expects name."""
    source = open_source(path, options)
    reader = _reader_of(source, format)
    # Readers do not check the type of each entry, but use it.
    try:
        yield reader, source
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError) as error:
        # An error about an argument says enough already.
        if isinstance(error, ParameterTypeError):
            raise
        raise file_error(
            f"must be a complete file of {reader.NAME}. Got {source.path.name}, with "
            f"an entry of another kind than the harness writes: {error!s:.200}."
        ) from error


def _averages_only(source: Source) -> str | None:
    """Return which files to read instead of one without answers; None for others."""
    keys = source.object.keys() | source.keys
    # Such files are often passed by mistake, since they lie beside the answers.
    return next((k for k, v in _OF_AVERAGES.items() if any(x <= keys for x in v)), None)


def _not_one(source: Source, found: list[ModuleType]) -> str:
    """Return the message for a file that no reader or more than one reader claims."""
    name = source.path.name
    if found:
        names = " or of ".join(reader.NAME for reader in found)
        return (
            f"must be a file of one format. Got {name}, which could be one of "
            f"""{names}: name it with {parameter("format", "'format'")}."""
        )
    beside = _averages_only(source)
    if beside:
        return (
            f"must be a file with the individual answers. Got {name}, which contains "
            f"averages only. Pass {beside}."
        )
    if source.kind == "folder":
        return (
            f"must be a file, or a run folder of HELM. Got the folder {name} without "
            "per_instance_stats.json. Pass the files of answers in it, for example "
            "samples_*.jsonl."
        )
    if "adapter_spec" in source.object:  # HELM
        return (
            f"must be a file with the scores of answers. Got {name}, which has none. "
            "Pass per_instance_stats.json, or the folder of the run."
        )
    return (
        f"must be a file of {', '.join(FORMATS)}. Got {name}, which is none of these."
    )
