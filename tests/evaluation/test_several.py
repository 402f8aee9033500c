"""Files of several systems, and what tells questions of one name apart."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from harness_files import fingerprints

from skcalib.evaluation import read_evaluations


def fingerprints_of(path):
    """Return the right answers and prompts of the first system of a file."""
    return fingerprints(next(iter(read_evaluations(path).values())))


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
    with pytest.raises(
        ValueError, match=r"systems of the file. Got 'C', which is none of A, B"
    ):
        read_evaluations(path, systems=["C"])


def test_a_table_of_one_system_is_read_as_ever(tmp_path):
    path = write(tmp_path, "id,correct,confidence\na,1,0.5\nb,0,0.25\n")
    (name, only), *rest = read_evaluations(path).items()
    assert (name, rest) == ("table", [])
    assert only.proba.tolist() == [0.5, 0.25]


def test_right_answers_and_prompts_of_tables(tmp_path):
    table = write(tmp_path, "id,correct,gold,prompt\na,1,x,why?\nb,0,y,\n")
    assert fingerprints_of(table) == ({"a": "x", "b": "y"}, {"a": "why?"})
    assert fingerprints_of(write(tmp_path, "correct\n1\n", "no.csv")) == ({}, {})


def test_right_answers_of_simple_evals(tmp_path):
    page = "<p>Correct Answer: A</p> said so <p>Correct Answer: H</p><p>Score: 1</p>"
    talk = [{"role": "user", "content": "which?"}]
    content = {"htmls": [page], "convos": [talk], "metrics": {}, "score": 1}
    path = write(tmp_path, json.dumps(content), "x_allresults.json")
    assert fingerprints_of(path) == ({"which?": "H"}, {})


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
        fingerprints_of(write(tmp_path, log(name), f"{name}.json")) for name in "ab"
    )
    assert first == second
    assert first[0] == {"1": "x"}


def test_numbers_of_rows_name_no_question(tmp_path):
    path = write(tmp_path, "one,two\n1,0\n0,1\n")
    assert read_evaluations(path)["one"].question.dtype == np.int64


WIDE = "id,subject,small,large,always,heat\n" + "".join(
    f"q{k},s{k % 2},{k % 2},{int(k > 0)},1,0.7\n" for k in range(4)
)


def test_a_constant_other_than_zero_or_one_is_not_a_system(tmp_path):
    path = write(tmp_path, WIDE)
    found = read_evaluations(path)
    assert {name: e.score.tolist() for name, e in found.items()} == {
        "small": [0, 1, 0, 1],
        "large": [0, 1, 1, 1],
        "always": [1, 1, 1, 1],
    }
    note = (
        "The systems are the columns 'small', 'large', 'always'. Not taken as systems: "
        "'subject', 'heat' (0.7 in each row). Choose others with systems."
    )
    assert {e.notes for e in found.values()} == {(note,)}
    chosen = read_evaluations(path, systems=["small", "heat"])
    assert chosen["heat"].score.tolist() == [0.7] * 4
    assert chosen["heat"].notes == ()
    grouped = read_evaluations(path, groups=["subject"])["small"]
    assert "'heat' (0.7 in each row)" in grouped.notes[0]
    assert "subject" not in grouped.notes[0]


def test_a_column_that_changes_late_is_a_system(tmp_path):
    rows = "".join(f"q{k},1,{0.7 if k < 12_000 else 0.8}\n" for k in range(12_001))
    found = read_evaluations(write(tmp_path, "id,one,two\n" + rows))
    assert list(found) == ["one", "two"]


def test_a_note_names_ten_columns_at_most(tmp_path):
    names = [f"s{k}" for k in range(12)]
    path = write(tmp_path, f"id,{','.join(names)}\na{',1' * 12}\nb{',0' * 12}\n")
    note = read_evaluations(path)["s0"].notes[0]
    assert "'s9' and 2 more. Choose others" in note
    assert "'s10'" not in note


def test_the_note_on_answers_names_other_columns(tmp_path):
    path = write(tmp_path, "id,kind,key,one,two\na,t,A,A,B\nb,t,B,B,A\n")
    (note,) = read_evaluations(path, gold="key")["one"].notes
    assert note.startswith("The systems are the columns 'one', 'two'. Not taken as ")
    assert note.endswith("systems: 'kind'. Choose others with systems.")


def test_answers_that_are_words_for_missing_are_answers(tmp_path):
    path = write(tmp_path, "id,key,one,two\na,NA,NA,None\nb,ZA,,ZA\n")
    found = read_evaluations(path, gold="key", systems=["one", "two"])
    assert found["one"].score.tolist() == [1]
    assert found["two"].score.tolist() == [0, 1]


def test_scores_inside_an_object_may_be_of_one_system(tmp_path):
    rows = [
        {"sample_id": f"s{k}", "evaluation": {"score": k % 2, "is_correct": k % 2 > 0}}
        for k in range(4)
    ]
    path = write(tmp_path, "\n".join(map(json.dumps, rows)), "a.jsonl")
    names = "'evaluation.score', 'evaluation.is_correct' of a.jsonl may be"
    with pytest.raises(ValueError, match=f"{names} the scores of 2 systems or 2 sc"):
        read_evaluations(path)
    one = read_evaluations(path, score="evaluation.is_correct")
    assert {name: e.score.tolist() for name, e in one.items()} == {"a": [0, 1, 0, 1]}
    names = ["evaluation.score", "evaluation.is_correct"]
    assert list(read_evaluations(path, systems=names)) == names


def test_systems_inside_an_object_have_dotted_names(tmp_path):
    rows = [{"id": k, "scores": {"small": k % 2, "large": 1}} for k in range(4)]
    path = write(tmp_path, json.dumps(rows), "a.json")
    assert list(read_evaluations(path)) == ["scores.small", "scores.large"]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (WIDE, {"filter": "none"}, "'filter' .*does not apply to .* plain tables"),
        (WIDE, {"columns": {"question": "Id"}}, "'columns'.*Did you mean 'id'?"),
        (WIDE, {"groups": ["z"]}, "'groups' .*Got 'z', which is none of id"),
        (WIDE, {"gold": "z"}, "'gold' .*Got 'z', which is none of id"),
        (WIDE, {"systems": ["smal"]}, "'systems' .*Did you mean 'small'?"),
        (WIDE, {"columns": {"question": "id"}, "gold": "id"}, "question and gold"),
        ("id,correct\na,1\n", {"gold": "id"}, "'gold' .*no other column of table.csv"),
        (
            "id,model,correct\na,A,1\n",
            {"gold": "correct"},
            "'gold' .*applies to plain tables with one column of answers per system",
        ),
        ("id,model,correct\na,A,1\nb,,1\n", {}, "column 'model'. Got an empty cell"),
    ],
)
def test_errors_of_tables_of_several_systems(tmp_path, text, options, message):
    with pytest.raises(ValueError, match=message):
        read_evaluations(write(tmp_path, text), **options)


def test_unknown_parameters_are_an_error(tmp_path):
    path = write(tmp_path, WIDE)
    with pytest.raises(TypeError, match="read_evaluations.. got .* 'sytems'"):
        read_evaluations(path, sytems=["small"])


def test_a_table_of_many_systems_is_read_once(tmp_path, monkeypatch):
    """The number of times that the file is opened does not depend on the systems."""
    opened = Counter()
    real = Path.open

    def count(self, *args, **kwargs):
        opened[self.name] += 1
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", count)
    for n in (2, 40):
        names = [f"s{k}" for k in range(n)]
        long = "".join(f"{name},q{k},1\n" for name in names for k in range(3))
        found = read_evaluations(
            write(tmp_path, "model,id,correct\n" + long, f"long{n}.csv")
        )
        assert list(found) == names
        wide = "".join(f"q{k}" + ",1" * n + "\n" for k in range(3))
        found = read_evaluations(
            write(tmp_path, f"id,{','.join(names)}\n{wide}", f"wide{n}.csv")
        )
        assert list(found) == names
    assert opened["long2.csv"] == opened["long40.csv"] < 8
    assert opened["wide2.csv"] == opened["wide40.csv"] < 8


def test_systems_of_a_file_with_one_system_cannot_be_chosen(files):
    path = files / "hle/judged_tern.json"
    with pytest.raises(ValueError, match=r"'systems'.*plain tables.*'x'.* for judged"):
        read_evaluations(path, systems=["x"])


def test_a_score_beside_columns_of_systems_must_be_a_column(tmp_path):
    path = write(tmp_path, "id,one,two\na,1,0\nb,0,1\n", "wide.csv")
    with pytest.raises(ValueError, match=r"'score'.*column.*Got 'acc'.*id, one, two"):
        read_evaluations(path, systems=["one", "two"], score="acc")
