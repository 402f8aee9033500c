"""Rows in are rows used and rows named, for every reader and every command."""

import csv
import json
import re
import shutil
import zipfile

import pytest
from harness_files import write_archive

from skcalib import read_evaluation
from skcalib.cli import main
from skcalib.evaluation import _table_answers
from skcalib.evaluation._read import READERS

RIGHT = [True, False, True, True, False, True]


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def write_value(path, value):
    path.write_text(json.dumps(value), "utf-8")
    return path


def lm_eval(folder):
    # Six questions by two filters, one answer of which the first filter does not read.
    def row(k, name, right):
        kept = ["[invalid]"] if (k, name) == (1, "strict") else [str(k)]
        return {
            **{"doc_id": k, "target": "1", "resps": [["1"]], "filtered_resps": kept},
            **{"filter": name, "metrics": ["exact_match"], "exact_match": int(right)},
        }

    names = ("strict", "flexible")
    rows = [row(k, name, right) for name in names for k, right in enumerate(RIGHT)]
    return write_lines(folder / "samples_made_1.jsonl", rows), rows


def inspect(folder):
    # After six samples: no answer, a refusal, an error, no score, and a member twice.
    values = [*("CI"[not right] for right in RIGHT), "N", "N", None, None]
    samples = [
        {
            "id": k,
            "epoch": 1,
            "scores": {} if value is None else {"s": {"value": value}},
        }
        for k, value in enumerate(values)
    ]
    samples[7]["output"] = {"choices": [{"stop_reason": "content_filter"}]}
    samples[8]["error"] = {"message": "no"}
    members = {"header.json": {"version": 2, "eval": {"model": "m"}}}
    members |= {f"samples/{s['id']}_epoch_1.json": s for s in samples}
    path = folder / "log.eval"
    write_archive(path, {name: json.dumps(value) for name, value in members.items()})
    with (
        pytest.warns(UserWarning, match="Duplicate name"),
        zipfile.ZipFile(path, "a") as archive,
    ):
        archive.writestr("samples/0_epoch_1.json", json.dumps(samples[0]))
    return path, [*samples, samples[0]]


def helm(folder):
    # Six questions of one split, two of another one, and three perturbed copies.
    def row(k, split, perturbation=None):
        name = {"name": "exact_match", "split": split}
        right = RIGHT[k % len(RIGHT)]
        found = {"instance_id": f"{split}{k}", "train_trial_index": 0}
        found["stats"] = [{"name": name, "mean": float(right)}]
        return found | ({"perturbation": perturbation} if perturbation else {})

    rows = [row(k, "test") for k in range(6)] + [row(k, "valid") for k in range(2)]
    rows += [row(k, "test", {"name": "typos"}) for k in range(3)]
    return write_value(folder / "per_instance_stats.json", rows), rows


def lighteval(folder):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    rows = [
        {
            "doc": {"id": str(k), "task_name": "made", "query": f"{k} ="},
            "model_response": {"text": ["1"]},
            "metric": {"em": None if right is None else float(right)},
        }
        for k, right in enumerate([*RIGHT, None])
    ]
    path = folder / "details_made_0_1.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path, rows


def hle(folder):
    # Two answers without a confidence and one that was not judged.
    judged = {
        f"q{k}": {
            "response": "Confidence: 80%" if k < 4 else "I say so.",
            "judge_response": {
                "correct": "yes" if right else "no",
                "confidence": 80 if k < 4 else 100,
            },
        }
        for k, right in enumerate(RIGHT)
    }
    judged["q6"] = {"response": "Confidence: 80%"}
    return write_value(folder / "judged.json", judged), judged


def simple_evals(folder):
    # An answer that was not extracted, and two without a score.
    pages = [
        f"<p>Extracted Answer: A</p><p>Score: {float(right)}</p>" for right in RIGHT
    ]
    lost = "<p>Extracted Answer: None</p>"
    pages += [f"{lost}<p>Score: 0.0</p>", lost, "<p></p>"]
    talks = [[{"role": "user", "content": f"q{k}"}] for k in range(len(pages))]
    content = {"htmls": pages, "convos": talks, "metrics": {}, "score": 0.5}
    return write_value(folder / "made_allresults.json", content), pages


def promptfoo(folder):
    # An error of the first of two systems.
    rows = [
        {
            "provider": {"id": name},
            **{"promptIdx": 0, "prompt": {"label": "p"}, "vars": {"question": k}},
            **{"success": right is True, "failureReason": 2 if right is None else 0},
        }
        for name, answers in {"a": [*RIGHT, None], "b": RIGHT}.items()
        for k, right in enumerate(answers)
    ]
    return write_lines(folder / "out.jsonl", rows), rows


def deepeval(folder):
    # A metric that failed, and a case without the metric.
    data = [{"name": "m", "score": float(right)} for right in RIGHT]
    data += [{"name": "m", "error": "no", "score": 0.0}]
    cases = [{"name": f"q{k}", "metricsData": [each]} for k, each in enumerate(data)]
    cases.append({"name": "q7", "metricsData": []})
    return write_value(folder / "run.json", {"testCases": cases}), cases


def openai_evals(folder):
    # One sample that failed, one that was only asked, one that was tried again.
    def event(k, kind, **data):
        return {"run_id": "r", "sample_id": f"q{k}", "type": kind, "data": data}

    events = [event(k, "match", correct=right) for k, right in enumerate(RIGHT)]
    events += [event(6, "error"), event(7, "sampling"), event(0, "error")]
    spec = {"spec": {"completion_fns": ["m"], "eval_name": "made"}}
    path = write_lines(folder / "log.jsonl", [spec, *events])
    return path, {each["sample_id"] for each in events}


def every_eval_ever(folder):
    # One sample that failed, a second result, and a second system.
    def row(k, right, model="a", result="r"):
        return {
            **{"schema_version": "0.2.2", "evaluation_id": "e", "model_id": model},
            **{"evaluation_name": "made", "evaluation_result_id": result},
            **{"sample_id": f"q{k}", "sample_hash": "of what was sampled"},
            "error": "no" if k == 5 else None,
            "evaluation": {"is_correct": right, "score": float(right)},
        }

    rows = [row(k, right) for k, right in enumerate(RIGHT)]
    rows += [row(k, True, result="other") for k in range(4)]
    rows += [row(k, True, model="b") for k in range(3)]
    return write_lines(folder / "made_samples.jsonl", rows), rows


def decisions(folder):
    # A refusal, an answer without a gold label, no answer, and another system.
    def row(k, answer, gold=None, model="a"):
        answers = {} if answer is None else {"ok": answer}
        found = {"id": f"q{k}", "model": model, "answers": answers}
        return found if gold is None else found | {"labels": {"ok": gold}}

    answer = {"type": "predicate", "probability": 0.8}
    rows = [row(k, answer, right) for k, right in enumerate(RIGHT)]
    rows += [row(6, {"type": "refusal"}), row(7, answer), row(8, None)]
    rows += [row(k, answer, True, "b") for k in range(2)]
    return write_lines(folder / "answers.jsonl", rows), rows


def table(folder):
    # An empty cell, and a second system.
    cells = [*(f"q{k},a,{int(right)}" for k, right in enumerate(RIGHT)), "q6,a,"]
    cells += [f"q{k},b,1" for k in range(3)]
    path = folder / "answers.csv"
    path.write_text("\n".join(["question,model,correct", *cells]) + "\n")
    return path, cells


# By format: a file, the parameters that it needs, the samples that are read by their
# status, the number of rows that the notes name, and the number of samples without a
# score, by the rule of the harness.
CASES = {
    "lm-evaluation-harness": (
        lm_eval,
        {"filter": "strict"},
        {"answered": 5, "unparseable": 1},
        6,
        0,
    ),
    "inspect_ai": (
        inspect,
        {},
        {"answered": 6, "refused": 1, "unparseable": 1, "error": 1, "unscored": 1},
        1,
        2,
    ),
    "HELM": (helm, {"split": "test"}, {"answered": 6}, 2 + 3, 0),
    "lighteval": (lighteval, {}, {"answered": 6, "unscored": 1}, 0, 1),
    "HLE": (hle, {}, {"answered": 6, "unscored": 1}, 0, 0),
    "simple-evals": (
        simple_evals,
        {},
        {"answered": 6, "unparseable": 1, "unscored": 2},
        0,
        2,
    ),
    "promptfoo": (promptfoo, {"model": "a"}, {"answered": 6, "error": 1}, 6, 0),
    "deepeval": (deepeval, {}, {"answered": 6, "error": 1, "unscored": 1}, 0, 2),
    "OpenAI evals": (
        openai_evals,
        {},
        {"answered": 6, "error": 1, "unscored": 1},
        0,
        2,
    ),
    "Every Eval Ever": (
        every_eval_ever,
        {"model": "a", "filter": "r"},
        {"answered": 5, "error": 1},
        4 + 3,
        0,
    ),
    "decision models": (
        decisions,
        {"model": "a"},
        {"answered": 6, "refused": 1, "unscored": 1},
        1 + 2,
        2,
    ),
    "table": (table, {"model": "a"}, {"answered": 6, "unscored": 1}, 3, 1),
}

of_each_format = pytest.mark.parametrize("name", CASES)


def named(notes):
    """Return the number of rows that are left out by the notes."""
    found = [re.match(r"(\d+) (?:rows|samples) .*(?:left out|twice)", n) for n in notes]
    return sum(int(match[1]) for match in found if match)


def arguments(options):
    return [text for key, value in options.items() for text in (f"--{key}", value)]


def test_every_reader_has_a_case():
    assert set(CASES) == {reader.NAME for reader in (*READERS, _table_answers)}


@of_each_format
def test_readers_use_or_name_every_row(tmp_path, name):
    write, options, counts, n_named, n_unscored = CASES[name]
    path, entries = write(tmp_path)
    evaluation = read_evaluation(path, **options)
    assert evaluation.format == name
    assert evaluation.counts() == counts
    assert named(evaluation.notes) == n_named
    assert len(evaluation) + n_named == len(entries)
    assert len(evaluation.scored()) == len(evaluation) - n_unscored
    assert len(evaluation.scored("wrong")) == len(evaluation)
    assert len(evaluation.scored("drop")) == counts["answered"]


@of_each_format
def test_report_uses_or_names_every_row(tmp_path, capsys, name):
    write, options, counts, n_named, n_unscored = CASES[name]
    path, entries = write(tmp_path)
    more = ["--skip-missing"] if name == "table" else []
    command = ["report", str(path), *arguments(options), *more, "--json", "--no-figure"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n_skipped"] == n_unscored
    assert found["n_samples"] + n_unscored + named(found["notes"]) == len(entries)
    if name != "table":
        unanswered = {k: v for k, v in counts.items() if k != "answered"}
        assert found["unanswered"] == unanswered


@of_each_format
def test_compare_uses_or_names_every_question(tmp_path, capsys, name):
    write, options, counts, n_named, n_unscored = CASES[name]
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    path, entries = write(tmp_path / "first")
    other = tmp_path / "second" / path.name
    shutil.copy(path, other)
    command = ["compare", str(path), str(other), *arguments(options), "--json"]
    assert main([*command, "--missing", "drop"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n_samples"] == [sum(counts.values()) - n_unscored] * 2
    lacking = [re.search(r"lacks (\d+) of (\d+) questions", n) for n in found["notes"]]
    lacking = [(int(match[1]), int(match[2])) for match in lacking if match]
    n = sum(counts.values())
    assert lacking == ([(n_unscored, n)] * 2 if n_unscored else [])
    assert found["n"] + n_unscored + n_named == len(entries)
    if n_unscored:
        assert main(command) == 2
        assert f"lacks {n_unscored} of {n} questions" in capsys.readouterr().err


def test_sample_and_count_use_or_name_every_document(tmp_path, capsys):
    path, drawn = tmp_path / "docs.csv", tmp_path / "drawn.csv"
    rows = [f"d{k},{(k % 9 + 0.5) / 9:.2f},2020-0{1 + k % 3}-01" for k in range(40)]
    path.write_text("\n".join(["id,p,date", *rows]) + "\n")
    model = ["--proba", "p", "--id", "id"]
    assert main(["sample", str(path), *model, "--n", "15", "--output", str(drawn)]) == 0
    assert "15 of 40 documents drawn" in capsys.readouterr().out
    design = tmp_path / "drawn.design.csv"
    texts = [each.read_text("utf-8-sig") for each in (drawn, design)]
    ids = [list(csv.DictReader(text.splitlines())) for text in texts]
    assert [len(each) for each in ids] == [15, 40]
    assert {row["id"] for row in ids[0]} < {row["id"] for row in ids[1]}
    # Two of the drawn documents get no label.
    labels = [f"{row['id']},{k % 2 if k > 1 else ''}" for k, row in enumerate(ids[0])]
    drawn.write_text("\n".join(["id,label", *labels]) + "\n")
    files = ["--labels", str(drawn), "--design", str(design)]
    command = ["count", str(path), *model, *files, "--date", "date", "--freq", "month"]
    assert main(command) == 2
    assert "2 of 15 drawn documents have no label" in capsys.readouterr().err
    assert main([*command, "--missing", "drop", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n_documents"], found["n_labelled"]) == (40, 13)
    assert found["design"]["n_drawn_without_label"] == 2
    for key, total in (("n_documents", 40), ("n_labelled", 13)):
        assert sum(row[key] for row in found["table"]) == total
