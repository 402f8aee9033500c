"""Every reader on damaged files: a right answer or an error that names the place."""

import copy
import json
import os
import shutil
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from harness_files import FILES, PAIRS, fingerprints, write_archive

from skcalib import read_evaluation
from skcalib.evaluation._files import Archive

DATA = Path(os.environ.get("SKCALIB_DATA", "nowhere"), "evaluation")

# Files of every format; the second file of a pair has the layout of the first.
SMALL = [
    (name, options)
    for format, files in FILES.items()
    for name, options in files.items()
    if name != PAIRS[format][1]
]

REAL = {
    "lm_eval": "lm_eval/replayed/llama-13b-prompt0/samples_mmlu_anatomy*.jsonl",
    "lm_eval text": "lm_eval/found/samples*.jsonl",
    "inspect": "inspect/found/data_arc_qwen.json",
    "inspect refusals": "inspect/replayed/*philosophy*.json",
    "inspect archive": "inspect/found/log_streaming.eval",
    "helm": "helm/narrative_qa-model=openai_gpt2/per_instance_stats.json",
    "lighteval": "lighteval/details/llama-13b-prompt1/*medicine*.parquet",
    "hle": "hle/judged_generated.json",
    "simple_evals": "simple_evals/mmlu_allresults.json",
    "promptfoo": "promptfoo/business_two_models.json",
    "deepeval": "deepeval/biology_llama.json",
    "openai": "openai_evals/computer_science_gemini.jsonl",
}

STRANGE = [None, True, -1, 2, 1e308, float("nan"), 10**400, "", "x" * 100_000]
STRANGE += [[], {}, [[[]]], "Infinity"]

needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="SKCALIB_DATA does not name a folder with evaluations"
)


def real_file(name):
    (path,) = DATA.glob(REAL[name])
    return path


def load(path):
    """Return the JSON value of a file, the lines of a file, or all files of a folder.

    An archive gives its members by name, and a parquet file its rows.
    """
    if path.is_dir():
        return {file.name: load(file) for file in sorted(path.iterdir())}
    if path.suffix == ".parquet":
        return pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
    if path.suffix == ".eval":
        with Archive(path) as archive:
            return {name: archive.json(name) for name in archive.namelist()}
    text = path.read_text("utf-8")
    if path.suffix == ".jsonl" and text.startswith("{"):
        return [json.loads(line) for line in text.splitlines()]
    return json.loads(text)


def dump(value, path):
    """Write what `load` returns for a path of this name."""
    if path.suffix == ".eval":
        write_archive(path, {name: json.dumps(each) for name, each in value.items()})
    elif path.suffix == ".parquet":
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(
            pa.Table.from_pylist(value), path
        )
    elif path.suffix == ".jsonl" and isinstance(value, list):
        path.write_text("".join(json.dumps(row) + "\n" for row in value))
    elif path.suffix in (".json", ".jsonl"):
        path.write_text(json.dumps(value))
    else:
        path.mkdir(exist_ok=True)
        for name, each in value.items():
            dump(each, path / name)


def shorten(value):
    """Keep the first entries of the long list or mapping of a file."""
    if isinstance(value, list):
        return value[:6]
    if all(isinstance(v, dict) for v in value.values()) and len(value) > 20:
        return dict(list(value.items())[:6])
    return {
        k: shorten(v) if isinstance(v, (list, dict)) and len(v) > 3 else v
        for k, v in value.items()
    }


def places(value, path=()):
    """Yield the path of every entry of a JSON value, to a depth of six."""
    if len(path) < 6:
        keys = ()
        if isinstance(value, dict):
            keys = value
        elif isinstance(value, list):
            keys = range(min(len(value), 3))
        for key in keys:
            yield (*path, key)
            yield from places(value[key], (*path, key))


def change(value, path, new):
    changed = copy.deepcopy(value)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = new
    return changed


def check(path, **options):
    """Read a file: an evaluation whose numbers are probabilities, or a ValueError."""
    evaluation, message = None, ""
    try:
        evaluation = read_evaluation(path, **options)
    except ValueError as error:
        message = str(error)
    if evaluation is None:
        assert message.startswith("The '")
        assert len(message) < 2000
        return
    for values in (evaluation.score, evaluation.proba):
        known = values[~np.isnan(values)]
        assert ((known >= 0) & (known <= 1)).all()
    for known in fingerprints(evaluation):
        assert set(map(type, known.values())) <= {str}


def check_changes(value, path, n_changes, **options):
    """Replace entries of a file by values of other kinds, one at a time."""
    dump(value, path)
    check(path, **options)
    found = list(places(value))
    generator = np.random.default_rng(0)
    for k in generator.permutation(len(found))[:n_changes]:
        new = STRANGE[generator.integers(len(STRANGE))]
        try:
            dump(change(value, found[k], new), path)
        except Exception:
            assert path.suffix == ".parquet"  # a column has values of one type
            continue
        check(path, **options)


def check_cuts(source, folder, n_cuts, **options):
    """Cut a file, or the largest file of a folder, at several places."""
    path = folder / source.name
    if source.is_dir():
        shutil.copytree(source, path)
        cut = path / "per_instance_stats.json"
    else:
        cut = path
    data = (source / cut.name if source.is_dir() else source).read_bytes()
    for end in np.linspace(0, len(data) - 1, n_cuts).astype(int):
        cut.write_bytes(data[:end])
        check(path, **options)


@pytest.mark.parametrize("n_changes", [20, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "options"), SMALL)
def test_readers_survive_entries_of_wrong_kinds(
    name, options, n_changes, files, tmp_path
):
    path = files / name
    if not path.exists():
        pytest.skip(f"{path.name} needs pyarrow or zstandard")
    check_changes(load(path), tmp_path / path.name, n_changes, **options)


@pytest.mark.parametrize(("name", "options"), SMALL)
def test_readers_survive_files_that_are_cut(name, options, files, tmp_path):
    if not (files / name).exists():
        pytest.skip(f"{name} needs pyarrow or zstandard")
    check_cuts(files / name, tmp_path, 15, **options)


@needs_data
@pytest.mark.parametrize("n_changes", [40, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", REAL)
def test_readers_survive_changes_of_genuine_files(name, n_changes, tmp_path):
    path = real_file(name)
    check_changes(shorten(load(path)), tmp_path / path.name, n_changes)


@needs_data
@pytest.mark.parametrize("name", REAL)
def test_readers_survive_cuts_of_genuine_files(name, tmp_path):
    path = real_file(name)
    short = tmp_path / "short" / path.name
    short.parent.mkdir()
    dump(shorten(load(path)), short)
    check_cuts(short, tmp_path, 40)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 50_000 + "1" + "}" * 50_000,
        '{"doc_id": ' + "9" * 10_000 + "}",
        "",
        "\0\0\0\0",
        "[]",
        "{}",
        "[1, 2]",
        '{"testCases": []}',
        '{"testCases": [1]}',
        '{"htmls": [], "convos": [], "metrics": {}}',
    ],
)
def test_hostile_texts_are_errors(text, tmp_path):
    path = tmp_path / "file.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"The .(path|columns). parameter of read_ev"):
        read_evaluation(path)


def test_an_archive_that_unpacks_to_gigabytes_is_an_error(tmp_path):
    path = tmp_path / "bomb.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("header.json", '{"version": 2, "eval": {}}')
        with archive.open("samples/1_epoch_1.json", "w", force_zip64=True) as member:
            for _ in range(66):
                member.write(b" " * 2**20)
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"samples/1_epoch_1\.json .* unpacks to more"):
        read_evaluation(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * 2**26  # the bytes are not held twice


@pytest.mark.parametrize("end", [100, 200])
def test_an_archive_that_is_cut_is_an_error(end, tmp_path):
    whole = tmp_path / "whole.eval"
    write_archive(whole, {"header.json": '{"version": 2, "eval": {}}', "samples/1": ""})
    path = tmp_path / "cut.eval"
    path.write_bytes(whole.read_bytes()[:end])
    with pytest.raises(ValueError, match="complete zip archive"):
        read_evaluation(path)


def test_files_that_cannot_be_read_are_errors(tmp_path):
    with pytest.raises(ValueError, match=r"nowhere\.json: No such file"):
        read_evaluation(tmp_path / "nowhere.json")
    with pytest.raises(ValueError, match="without per_instance_stats"):
        read_evaluation(tmp_path)
    with pytest.raises(ValueError, match=r"must be a path"):
        read_evaluation(3)
    latin = tmp_path / "latin.csv"
    latin.write_bytes("id,größe".encode("latin-1"))
    with pytest.raises(ValueError, match="UTF-8"):
        read_evaluation(latin)
