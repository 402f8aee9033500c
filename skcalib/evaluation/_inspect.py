"""Logs of inspect_ai: one JSON file, or an archive with one member per sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._errors import parameter
from ._evaluation import Evaluation
from ._files import Archive, Options, Source
from ._values import (
    CONFIDENCE,
    NoAnswersError,
    as_confidence,
    as_dict,
    as_list,
    choose,
    file_error,
    scalar_fields,
)

NAME = "inspect_ai"

_HEADERS = ("header.json", "_journal/start.json")


def claims(source: Source) -> bool:
    """Return whether the file is a log of inspect_ai."""
    if source.kind == "zip":
        with Archive(source.path) as archive:
            # Only the list of members is read.
            return not set(_HEADERS).isdisjoint(archive.namelist())
    content = source.object
    is_log = not {"version", "status"}.isdisjoint(content)
    return is_log and isinstance(content.get("eval"), dict)


def read(source: Source, options: Options) -> Evaluation:
    """Return the evaluation of a log."""
    options.reject(NAME, "filter", "split", "model")
    if source.kind == "zip":
        with Archive(source.path) as archive:
            # A run that is in progress, or that crashed, does not have a header.
            members = archive.namelist()
            head = _HEADERS[0] if _HEADERS[0] in members else _HEADERS[1]
            every = [name for name in members if name.startswith("samples/")]
            # Of members of one name, the last one is read, as inspect_ai does.
            names = dict.fromkeys(every)
            samples = source.progress(map(archive.json, names))
            n_more = len(every) - len(names)
            return _read(source, options, archive.json(head), samples, n_more)
    samples = source.content.get("samples")
    return _read(source, options, source.content, iter(as_list(samples)))


def _read(
    source: Source,
    options: Options,
    head: Any,
    samples: Iterator[dict],
    n_more: int = 0,
) -> Evaluation:
    """Return the evaluation of samples; `n_more` others have a name of a later one."""
    head = as_dict(head)
    about = as_dict(head.get("eval"))
    scorer: str | None = None
    rows, seen = [], set()
    for k, sample in enumerate(samples):
        if not isinstance(sample, dict) or "id" not in sample:
            raise file_error(
                "must contain samples with an id. Got "
                f"{source.place(k)}, which has none."
            )
        place = f"sample {sample['id']!r} of {source.path.name}"
        scores = _scores(sample)
        # Samples with an error have no scores, so that the first ones may lack them.
        if scorer is None and scores:
            scorer = choose(options.score, scores, option="score", what="score")
        rows.append(_as_row(sample, scores, scorer, place, options.percent))
        # A sample that is in the log twice would be a second answer of the question.
        key = rows[-1]["question"], rows[-1]["repeat"]
        if key in seen:
            raise file_error(
                "must contain each sample once per epoch. Got a second "
                f"{place} in epoch {sample.get('epoch', 1)!r}."
            )
        seen.add(key)
    if not rows:
        raise NoAnswersError(
            f"must be a log with samples. Got {source.path.name}, which has none. Run "
            "the evaluation without --no-log-samples."
        )
    if scorer is None:
        raise NoAnswersError(
            f"must be a log with scores. Got {source.path.name}, which was never "
            "scored."
        )
    numbers = [
        (p, row["place"]) for row in rows for p in row.get("numbers", {}).values()
    ]
    most, place = max(numbers, default=(0.0, ""))
    if 1 < most <= 100 and not options.percent:
        raise file_error(
            f"must contain a probability in [0, 1] in each row. Got {most:g} in "
            f"{place}. Use {parameter('percent')} if confidences run from 0 to 100."
        )
    notes = [*_notes(head, scorer, rows, n_more)]
    if options.percent and most <= 0.01:
        notes.append("No confidence is above 1, and 1 is read as 1%.")
    headlines, model = _headlines(head, scorer), about.get("model")
    task = about.get("task")
    return Evaluation._of_rows(
        source, NAME, notes, rows, model=model, task=task, headlines=headlines
    )


def _headlines(head: dict, scorer: str) -> Iterator[tuple[str, Any]]:
    """Yield the accuracies that the log states, each with its reducer of epochs."""
    for each in map(as_dict, as_list(as_dict(head.get("results")).get("scores"))):
        # A mapping of scores is named by the scorer and its key.
        if scorer in (each.get("name"), f"{each.get('scorer')}/{each.get('name')}"):
            metrics, how = as_dict(each.get("metrics")), each.get("reducer")
            for name in ("accuracy", "mean"):
                value = as_dict(metrics.get(name)).get("value")
                yield f" with the reducer {how!r}" if how else "", value


def _notes(head: dict, scorer: str, rows: Sequence[dict], n_more: int) -> Iterator[str]:
    yield f"The score is {scorer!r}."
    if n_more:
        yield (
            f"{n_more} samples are in the archive twice: the last one is read, as by "
            f"{NAME}."
        )
    status = head.get("status")
    if status not in (None, "success", "started"):
        yield f"The status of the run is {status!r}."
    if head.get("invalidated"):
        yield "The log is marked as invalidated."
    words = [row["stated"] for row in rows if row.get("stated") and not row["numbers"]]
    if words:
        yield (
            f"{len(words)} of {len(rows)} samples state no number, and so have no "
            f"probability. Got {words[0]!r:.80}, for example. Write numbers from 0 to "
            "1, or percentages (90%)."
        )
    known = {name for row in rows for name in row.get("numbers", ())}
    read, *others = [name for name in CONFIDENCE if name in known] or [""]
    if others:
        yield (
            f"The probability is {read!r}, not {', '.join(map(repr, others))}, where a "
            "score has both. A confidence may measure the shape of a distribution."
        )


def _scores(sample: dict) -> dict[str, tuple[Any, dict]]:
    """Return each score of a sample by name, with the scorer's entry.

    If a value is a mapping, each of its entries is a separate score.
    """
    scorers = sample.get("scores")
    if not isinstance(scorers, Mapping):  # one unnamed scorer in older logs
        scorers = {"score": sample["score"]} if sample.get("score") else {}
    found: dict[str, tuple[Any, dict]] = {}
    for name, entry in scorers.items():
        if not isinstance(entry, Mapping):
            continue
        value = entry.get("value")
        parts = value if isinstance(value, Mapping) else {"": value}
        # A scorer may return the confidence beside its verdict.
        parts = {k: v for k, v in parts.items() if k not in CONFIDENCE}
        for key, part in parts.items():
            found[f"{name}/{key}" if len(parts) > 1 else name] = part, dict(entry)
    return found


def _as_row(
    sample: dict, scores: dict, scorer: str | None, place: str, in_percent: bool
) -> dict[str, Any]:
    """Return the entries of a sample in the columns of an evaluation."""
    epoch = sample.get("epoch", 1)
    row = {
        "question": str(sample["id"]),
        "sample": epoch,
        "repeat": epoch - 1 if isinstance(epoch, int) and 0 < epoch < 2**31 else 0,
        "groups": scalar_fields(sample.get("metadata")),
        "right_answer": sample.get("target"),
        # The same question with shuffled choices is another prompt.
        "prompt": [_texts_of(sample.get("input")), sample.get("choices")],
        "place": place,
        "status": "error" if sample.get("error") else "unscored",
        "score": None,
    }
    if scorer in scores:
        value, entry = scores[scorer]
        stated = _stated(entry)
        top = 100 if in_percent else 1
        proba = {name: as_confidence(each, None, top) for name, each in stated.items()}
        numbers = {name: p for name, p in proba.items() if p == p}
        row |= {
            "score": value,
            "status": _status(value, sample),
            "proba": next(iter(numbers.values()), None),
            "stated": stated,
            "numbers": numbers,
            "response": entry.get("answer"),
        }
    return row


def _texts_of(value: Any) -> Any:
    """Return the texts of messages, without their random ids."""
    if isinstance(value, list):
        # The ids differ between two runs on the same questions.
        return [as_dict(each).get("content") for each in value]
    return value


def _status(value: Any, sample: dict) -> str:
    """Return the status of a scored sample; "N" stands for no answer."""
    if value != "N":
        return "answered"
    choices = as_list(as_dict(sample.get("output")).get("choices")) or [{}]
    stopped = as_dict(choices[0]).get("stop_reason")
    return "refused" if stopped == "content_filter" else "unparseable"


def _stated(entry: dict) -> dict[str, Any]:
    """Return the confidences in the metadata or value of a score, the best first."""
    parts = [as_dict(entry.get(name)) for name in ("value", "metadata")]
    found = {n: v for part in parts for n, v in part.items() if v is not None}
    return {n: found[n] for n in CONFIDENCE if str(found.get(n, "")).strip()}
