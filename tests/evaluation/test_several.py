"""Files of several systems, and what tells questions of one name apart."""

import json

import numpy as np
import pytest

from skcalib.evaluation import read_evaluations, read_fingerprints


def write(tmp_path, text, name="table.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_column_for_each_system(tmp_path):
    path = write(tmp_path, "id,src,small,large\na,x,0,1\nb,y,1,1\nc,x,0,0.5\n")
    found = read_evaluations(path, groups=["src"])
    assert list(found) == ["small", "large"]
    assert found["large"].score.tolist() == [1, 1, 0.5]
    assert found["small"].question.tolist() == ["a", "b", "c"]
    assert found["small"].groups["src"].tolist() == ["x", "y", "x"]
    assert found["small"].model == "small"


def test_answers_beside_the_right_one(tmp_path):
    path = write(tmp_path, "id,kind,key,one,two\na,t,A,A,B\nb,t,B,B,\nc,t,C,A,C\n")
    found = read_evaluations(path, gold="key")
    assert found["one"].score.tolist() == [1, 1, 0]
    assert found["two"].question.tolist() == ["a", "c"]
    with pytest.raises(ValueError, match="Got 'nosuch'"):
        read_evaluations(path, gold="nosuch")


def test_a_system_in_each_row(tmp_path):
    path = write(tmp_path, "system,id,correct\nA,a,1\nB,a,0\nA,b,0\nB,b,1\n")
    found = read_evaluations(path)
    assert found["B"].score.tolist() == [0, 1]
    assert list(read_evaluations(path, systems=["B"])) == ["B"]
    with pytest.raises(ValueError, match=r"systems of the file .A, B.*'C'"):
        read_evaluations(path, systems=["C"])


def test_a_table_of_one_system_is_read_as_ever(tmp_path):
    path = write(tmp_path, "id,correct,confidence\na,1,0.5\nb,0,0.25\n")
    (name, only), *rest = read_evaluations(path).items()
    assert (name, rest) == ("table", [])
    assert only.proba.tolist() == [0.5, 0.25]


def test_systems_of_promptfoo(tmp_path):
    rows = [
        {
            "promptIdx": 0,
            "testIdx": k,
            "vars": {"q": f"question {k}"},
            "provider": {"id": name},
            "success": (k + len(name)) % 2 == 0,
            "score": 1,
        }
        for k in range(3)
        for name in ("a", "bb")
    ]
    path = write(tmp_path, json.dumps({"results": {"version": 3, "results": rows}}))
    found = read_evaluations(path)
    assert {name: e.score.tolist() for name, e in found.items()} == {
        "a": [0, 1, 0],
        "bb": [1, 0, 1],
    }


def test_right_answers_and_prompts_of_files(tmp_path):
    table = write(tmp_path, "id,correct,gold,prompt\na,1,x,why?\nb,0,y,\n")
    assert read_fingerprints(table) == ({"a": "x", "b": "y"}, {"a": "why?"})
    assert read_fingerprints(write(tmp_path, "correct\n1\n", "no.csv")) == ({}, {})
    row = {
        "doc_id": 0,
        "doc_hash": "h",
        "prompt_hash": "p",
        "target": "7",
        "resps": [["7"]],
        "filtered_resps": ["7"],
        "exact_match": 1.0,
    }
    rows = [row, {**row, "doc_id": 1, "doc_hash": "i", "prompt_hash": "q"}]
    lines = write(tmp_path, "\n".join(map(json.dumps, rows)), "s.jsonl")
    golds, prompts = read_fingerprints(lines)
    assert golds == {"h": "7", "i": "7"}
    assert prompts == {"h": "p", "i": "q"}
    judged = {
        "q": {
            "response": "r",
            "judge_response": {"correct": "yes", "correct_answer": "x"},
        }
    }
    path = write(tmp_path, json.dumps(judged), "judged.json")
    assert read_fingerprints(path) == ({"q": "x"}, {})


def test_right_answers_and_prompts_of_helm(tmp_path):
    write(tmp_path, "[]", "per_instance_stats.json")
    option = {"output": {"text": "Lima"}, "tags": ["correct"]}
    other = {"output": {"text": "Quito"}, "tags": []}
    instance = {"id": "id7", "input": {"text": "capital?"}}
    instance["references"] = [other, option]
    changed = {**instance, "perturbation": {"name": "typos"}, "input": {"text": "cap"}}
    states = [{"instance": changed}, {"instance": instance}]
    write(tmp_path, json.dumps({"request_states": states}), "scenario_state.json")
    row = [{"instance_id": "id7", "stats": []}]
    path = write(tmp_path, json.dumps(row), "per_instance_stats.json")
    expected = {"id7": '["Lima"]'}, {"id7": '["capital?", ["Quito", "Lima"]]'}
    assert read_fingerprints(tmp_path) == expected
    assert read_fingerprints(path) == expected


def test_right_answers_of_simple_evals(tmp_path):
    page = "<p>Correct Answer: A</p> said so <p>Correct Answer: H</p><p>Score: 1</p>"
    talk = [{"role": "user", "content": "which?"}]
    content = {"htmls": [page], "convos": [talk], "metrics": {}, "score": 1}
    path = write(tmp_path, json.dumps(content), "x_allresults.json")
    assert read_fingerprints(path) == ({"which?": "H"}, {})


def test_prompts_of_a_log_do_not_depend_on_random_ids(tmp_path):
    def log(identity):
        sample = {
            "id": 1,
            "epoch": 1,
            "input": [{"id": identity, "role": "user", "content": "why?"}],
            "target": "x",
            "scores": {"s": {"value": "C"}},
        }
        head = {"version": 2, "eval": {"task": "t"}, "status": "success"}
        return json.dumps({**head, "samples": [sample]})

    first, second = (
        read_fingerprints(write(tmp_path, log(name), f"{name}.json")) for name in "ab"
    )
    assert first == second
    assert first[0] == {"1": "x"}


def test_numbers_of_rows_name_no_question(tmp_path):
    path = write(tmp_path, "one,two\n1,0\n0,1\n")
    assert read_evaluations(path)["one"].question.dtype == np.int64
