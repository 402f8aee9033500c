"""Small files of every evaluation harness, with made-up content, for tests.

Two systems, `tern` and `heron`, answer twelve questions on an invented country. Most
formats have further files: other versions of the layout, repeats, several scores.

The text files are in ``tests/evaluation/files``. `write_files` copies them to a folder,
and writes the binary files beside them: archives of inspect_ai from its JSON logs, and
details of lighteval from JSON lines.
"""

import json
import shutil
import zipfile
import zlib
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "evaluation" / "files"

_TIME = "2026-01-05T10-00-00.000000"
_OLD = "2024-08-01T10-00-00.000000"

# The files of each format, with the parameters of `read_evaluation` that they need. The
# names of the formats are those of the readers; a reader without a file fails a test.
FILES = {
    "lm-evaluation-harness": {
        f"lm_eval/tern/samples_velia_{_TIME}.jsonl": {},
        f"lm_eval/heron/samples_velia_{_TIME}.jsonl": {},
        f"lm_eval/tern/samples_sums_{_TIME}.jsonl": {"filter": "strict-match"},
        f"lm_eval/heron/samples_sums_{_TIME}.jsonl": {"filter": "strict-match"},
        f"lm_eval/tern/samples_reading_{_TIME}.jsonl": {"score": "em"},
        f"lm_eval/heron/samples_reading_{_TIME}.jsonl": {"score": "em"},
        "lm_eval/old/pretrained__tern_velia.jsonl": {},
        f"lm_eval/old/samples_sums_{_OLD}.jsonl": {"filter": "0"},
    },
    "inspect_ai": {
        "inspect/velia_tern.json": {},
        "inspect/velia_heron.json": {},
        "inspect/epochs_tern.json": {},
        "inspect/epochs_heron.json": {},
        "inspect/graded_tern.json": {"score": "letter"},
        "inspect/old_tern.json": {},
        "inspect/velia_tern.eval": {},
        "inspect/running_heron.eval": {},
        "inspect/zstandard_heron.eval": {},
    },
    "HELM": {
        "helm/tern": {"split": "test"},
        "helm/heron": {"split": "test"},
        "helm/heron/per_instance_stats.json": {"split": "valid"},
        "helm/local": {},
    },
    "lighteval": {
        f"lighteval/details/tern/{_TIME}/details_velia_0_{_TIME}.parquet": {},
        f"lighteval/details/heron/{_TIME}/details_velia_0_{_TIME}.parquet": {},
        f"lighteval/details/tern/{_TIME}/details_open_0_{_TIME}.parquet": {
            "score": "avg@n:n=4"
        },
        f"lighteval/details/tern/{_OLD}/details_velia_0_{_OLD}.parquet": {},
    },
    "HLE": {"hle/judged_tern.json": {}, "hle/judged_heron.json": {}},
    "simple-evals": {
        "simple_evals/velia_tern_allresults.json": {},
        "simple_evals/velia_heron_allresults.json": {},
        "simple_evals/simpleqa_tern_allresults.json": {},
    },
    "promptfoo": {
        "promptfoo/tern.json": {},
        "promptfoo/heron.json": {},
        "promptfoo/both.json": {"model": "example:tern"},
        "promptfoo/both.jsonl": {"model": "example:heron"},
        "promptfoo/version2_tern.json": {},
        "promptfoo/prompts_tern.jsonl": {"model": "example:tern | {{question}}"},
    },
    "deepeval": {
        "deepeval/velia_tern.json": {"score": "Letter match"},
        "deepeval/velia_heron.json": {"score": "Letter match"},
        "deepeval/unnamed_tern.json": {},
        "deepeval/unnamed_heron.json": {},
    },
    "OpenAI evals": {
        "openai_evals/velia_tern.jsonl": {},
        "openai_evals/velia_heron.jsonl": {},
        "openai_evals/graded_tern.jsonl": {},
    },
    # Made from the schemas of instances of version 0.2.2 and aggregates of 0.2.1.
    "Every Eval Ever": {
        "every_eval_ever/tern_samples.jsonl": {},
        "every_eval_ever/heron_samples.jsonl": {},
        "every_eval_ever/metrics_tern_samples.jsonl": {"filter": "velia:exact_match"},
        "every_eval_ever/tern.json": {},
    },
    # Made from the schemas of System One (typesafe-jev 0.2.0) and of OpenAI's Decisions
    # API (13 October 2026), with labels as in jev-eval 1.1.0.
    "decision models": {
        "decisions/systemone_tern.jsonl": {},
        "decisions/openai_heron.jsonl": {},
    },
}

# Two systems on the same questions: the first two files of each format.
PAIRS = {name: tuple(files)[:2] for name, files in FILES.items()}

# The details of lighteval, with the JSON lines from which they are written.
_DETAILS = {
    f"details/tern/{_TIME}/details_velia_0_{_TIME}.parquet": "velia_tern.jsonl",
    f"details/heron/{_TIME}/details_velia_0_{_TIME}.parquet": "velia_heron.jsonl",
    f"details/tern/{_TIME}/details_open_0_{_TIME}.parquet": "open_tern.jsonl",
    f"details/tern/{_OLD}/details_velia_0_{_OLD}.parquet": "old_tern.jsonl",
}

ZSTANDARD = 93


def write_files(folder):
    """Write all files to a folder.

    Details of lighteval need pyarrow, and an archive with Zstandard needs zstandard or
    Python 3.14. Without them, these files are left out.
    """
    shutil.copytree(SOURCE, folder, dirs_exist_ok=True)
    logs = Path(folder) / "inspect"
    write_log(logs / "velia_tern.eval", logs / "velia_tern.json")
    write_log(logs / "running_heron.eval", logs / "velia_heron.json", is_complete=False)
    try:
        path = logs / "zstandard_heron.eval"
        write_log(path, logs / "velia_heron.json", zstandard=True)
    except ImportError:
        path.unlink(missing_ok=True)
    for name, rows in _DETAILS.items():
        write_details(Path(folder, "lighteval", name), SOURCE / "lighteval" / rows)
    return Path(folder)


def write_log(path, log, *, is_complete=True, zstandard=False):
    """Write a JSON log of inspect_ai as an archive.

    The archive of a run that is still in progress does not have a header.
    """
    head = json.loads(Path(log).read_text("utf-8"))
    samples = head.pop("samples")
    start = {key: head[key] for key in ("version", "eval", "plan")}
    members = {"_journal/start.json": start}
    for sample in samples:
        members[f"samples/{sample['id']}_epoch_{sample['epoch']}.json"] = sample
    if is_complete:
        members |= {"summaries.json": [], "header.json": head}
    texts = {name: json.dumps(value) for name, value in members.items()}
    write = write_zstandard if zstandard else write_archive
    write(path, texts)


def write_archive(path, members):
    """Write texts as the members of a zip archive, always with the same bytes."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(
                zipfile.ZipInfo(name), text, compress_type=zipfile.ZIP_DEFLATED
            )


def write_zstandard(path, members):
    """Write an archive with members that are compressed by Zstandard.

    Before Python 3.14, zipfile cannot write such members. The frames are then stored,
    and the method of compression is changed in both headers of each member.
    """
    if hasattr(zipfile, "ZIP_ZSTANDARD"):
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in members.items():
                archive.writestr(
                    zipfile.ZipInfo(name), text, compress_type=zipfile.ZIP_ZSTANDARD
                )
        return
    import zstandard

    frames = {name: zstandard.compress(text.encode()) for name, text in members.items()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, frame in frames.items():
            archive.writestr(zipfile.ZipInfo(name), frame)
        offsets = [info.header_offset for info in archive.infolist()]
        end = archive.start_dir
    data = bytearray(Path(path).read_bytes())
    for offset, (name, text) in zip(offsets, members.items(), strict=True):
        content = text.encode()
        # The header at the end has the same fields two bytes later.
        for start in (offset, end + 2):
            data[start + 8 : start + 10] = ZSTANDARD.to_bytes(2, "little")
            data[start + 14 : start + 18] = zlib.crc32(content).to_bytes(4, "little")
            data[start + 22 : start + 26] = len(content).to_bytes(4, "little")
        end += 46 + len(name)
    Path(path).write_bytes(data)


def write_details(path, source):
    """Write JSON lines as a parquet file, if pyarrow is installed."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in source.read_text("utf-8").splitlines()]
    pq.write_table(pa.Table.from_pylist(rows), path)


def known_of(evaluation, name):
    """Return the right answer or the prompt of each question that has one."""
    column = getattr(evaluation, name)
    if column is None:
        return {}
    pairs = zip(evaluation.question.tolist(), column.tolist(), strict=True)
    return {question: text for question, text in pairs if text is not None}


def fingerprints(evaluation):
    """Return the right answers and the prompts of an evaluation by question."""
    return known_of(evaluation, "right_answer"), known_of(evaluation, "prompt")
