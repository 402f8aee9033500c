"""Every reader on damaged files: a right answer or an error that names the place."""

import copy
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from skcalib import read_evaluation

DATA = Path(os.environ.get("SKCALIB_DATA", "nowhere"), "evaluation")

FILES = {
    "lm_eval": "lm_eval/replayed/llama-13b-prompt0/samples_mmlu_anatomy*.jsonl",
    "lm_eval text": "lm_eval/found/samples*.jsonl",
    "inspect": "inspect/found/data_arc_qwen.json",
    "inspect refusals": "inspect/replayed/*philosophy*.json",
    "helm": "helm/narrative_qa-model=openai_gpt2/per_instance_stats.json",
    "hle": "hle/judged_generated.json",
    "simple_evals": "simple_evals/mmlu_allresults.json",
    "promptfoo": "promptfoo/business_two_models.json",
    "deepeval": "deepeval/biology_llama.json",
    "openai": "openai_evals/computer_science_gemini.jsonl",
}

STRANGE = [
    None,
    True,
    -1,
    2,
    1e308,
    float("nan"),
    10**400,
    "",
    "x" * 100_000,
    [],
    {},
    [[[]]],
    "Infinity",
]

needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="SKCALIB_DATA does not name a folder with evaluations"
)


def load(name):
    (path,) = DATA.glob(FILES[name])
    text = path.read_text()
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()], True
    return json.loads(text), False


def dump(value, is_lines):
    if is_lines and isinstance(value, list):
        return "\n".join(json.dumps(entry) for entry in value)
    return json.dumps(value)


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


def check(path):
    """Read a file: an evaluation whose numbers are probabilities, or a ValueError."""
    evaluation, message = None, ""
    try:
        evaluation = read_evaluation(path)
    except ValueError as error:
        message = str(error)
    if evaluation is None:
        assert message.startswith("The '")
        assert len(message) < 2000
        return
    for values in (evaluation.score, evaluation.proba):
        known = values[~np.isnan(values)]
        assert ((known >= 0) & (known <= 1)).all()


@needs_data
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("n_changes", [40, pytest.param(150, marks=pytest.mark.slow)])
def test_readers_survive_entries_of_wrong_kinds(name, n_changes, tmp_path):
    value, is_lines = load(name)
    value = shorten(value)
    path = tmp_path / "file.json"
    path.write_text(dump(value, is_lines))
    check(path)
    found = list(places(value))
    generator = np.random.default_rng(0)
    for k in generator.permutation(len(found))[:n_changes]:
        new = STRANGE[generator.integers(len(STRANGE))]
        path.write_text(dump(change(value, found[k], new), is_lines))
        check(path)


@needs_data
@pytest.mark.parametrize("name", FILES)
def test_readers_survive_files_that_are_cut(name, tmp_path):
    value, is_lines = load(name)
    text = dump(shorten(value), is_lines)
    path = tmp_path / "file.json"
    for end in np.linspace(0, len(text) - 1, 40).astype(int):
        path.write_text(text[:end])
        check(path)


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


def write_archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.mark.slow
def test_an_archive_that_unpacks_to_gigabytes_is_an_error(tmp_path):
    path = tmp_path / "bomb.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", '{"version": 2, "eval": {}}')
        with archive.open("samples/1_epoch_1.json", "w", force_zip64=True) as member:
            for _ in range(600):
                member.write(b" " * 2**20)
    with pytest.raises(ValueError, match=r"samples/1_epoch_1\.json .* unpacks to more"):
        read_evaluation(path)


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
