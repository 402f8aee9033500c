"""Questions of several systems are matched by name, and what differs is an error."""

import json
from dataclasses import replace

import numpy as np
import pytest

from skcalib.cli import main
from skcalib.evaluation import (
    align_evaluations,
    evaluation_of,
    read_evaluation,
    read_evaluations,
)
from skcalib.significance import paired_bootstrap_test


def two(first=("a", "b", "c", "d"), second=("d", "b", "a", "c")):
    return {
        "A": evaluation_of([1, 0, 1, 0][: len(first)], question=list(first)),
        "B": evaluation_of([1, 1, 0, 0][: len(second)], question=list(second)),
    }


def test_rows_are_matched_by_name_and_not_by_position():
    aligned = align_evaluations(two())
    assert aligned.question.tolist() == ["a", "b", "c", "d"]
    assert aligned.score.tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]
    assert aligned.only_in == {"A": 0, "B": 0}
    assert aligned.notes == ()


def test_missing_questions_are_an_error_that_counts_and_names_them():
    systems = two(("a", "b", "c", "d"), ("d", "e", "a"))
    with pytest.raises(ValueError, match="'missing'") as caught:
        align_evaluations(systems)
    assert "2 common questions" in str(caught.value)
    assert "A lacks 1 of 5 questions ('e')" in str(caught.value)
    assert "B lacks 2 of 5 questions ('b', 'c')" in str(caught.value)
    aligned = align_evaluations(systems, missing="drop")
    assert aligned.question.tolist() == ["a", "d"]
    assert aligned.only_in == {"A": 2, "B": 1}
    assert len(aligned.notes) == 2


def test_no_common_question_is_an_error_whatever_is_dropped():
    with pytest.raises(ValueError, match=r"in common.*A: 'a'.*B: 'x'"):
        align_evaluations(two(("a", "b"), ("x", "y")), missing="drop")


def test_duplicated_names_are_an_error_unless_a_rule_is_given():
    systems = {
        "A": evaluation_of([1, 0, 1, 0], question=["a", "b", "c", "c"]),
        "B": evaluation_of([1, 1, 0], question=["a", "b", "c"]),
    }
    with pytest.raises(ValueError, match=r"1 of 3 questions of A .*'c'"):
        align_evaluations(systems)
    mean = align_evaluations(systems, duplicates="mean")
    assert mean.score[:, 0].tolist() == [1, 0, 0.5]
    dropped = align_evaluations(systems, duplicates="drop", missing="drop")
    assert dropped.question.tolist() == ["a", "b"]
    # What is left out of both for its name is not missing in them.
    twice = dict.fromkeys("AB", systems["A"])
    dropped = align_evaluations(twice, duplicates="drop")
    assert (dropped.question.tolist(), len(dropped.notes)) == (["a", "b"], 2)


def test_one_of_equal_rows_is_kept():
    """The rows of b are equal, also without a probability; those of c differ."""
    a = evaluation_of([1, 0, 0, 1, 1, 1, 0], question=list("abbcdec"))
    systems = {"A": a, "B": evaluation_of([1] * 5, question=list("abcde"))}
    found = align_evaluations(systems, duplicates="drop", missing="drop")
    assert found.question.tolist() == ["a", "b", "d", "e"]
    assert found.score[:, 0].tolist() == [1, 0, 1, 1]
    assert found.n_samples[:, 0].tolist() == [1, 1, 1, 1]
    said = "2 of 5 questions of A have more than one row and are left out, except one"
    assert found.notes[0] == f"{said} row of those with equal rows (1)."


def test_several_attributes_of_a_question_are_an_error_of_one_system():
    def system(question, subject):
        groups = {"subject": list(subject)}
        score = [1] * len(question)
        return evaluation_of(score, question=list(question), groups=groups)

    systems = {"A": system("xxyz", "abcd"), "B": system("xyz", "acd")}
    message = "1 of 3 .* values of 'subject', .* 'x': 'a' and 'b' in A.* begin again"
    with pytest.raises(ValueError, match=message):
        align_evaluations(systems, duplicates="mean")
    rules = {"duplicates": "mean", "mismatch": "drop"}
    assert align_evaluations(systems, **rules).question.tolist() == ["y", "z"]
    found = align_evaluations(systems, duplicates="mean", mismatch="keep")
    assert found.groups["subject"].tolist() == list("acd")
    systems = {"A": system("xyz", "acd"), "B": system("xyz", "bcd")}
    with pytest.raises(ValueError, match="'a' in A and 'b' in B"):
        align_evaluations(systems, duplicates="mean")


def test_several_samples_of_most_questions_are_no_duplicates():
    systems = {
        "A": evaluation_of([1, 0, 1, 1], question=["a", "a", "b", "b"]),
        "B": evaluation_of([1, 0], question=["b", "a"]),
    }
    aligned = align_evaluations(systems)
    assert aligned.is_repeated
    assert aligned.score.tolist() == [[0.5, 0], [1, 1]]
    assert aligned.n_samples.tolist() == [[2, 1], [2, 1]]
    assert aligned.samples[0].tolist() == [1, 0, 1, 1]
    assert [each.tolist() for each in aligned.sample_counts(0)] == [[1, 2], [2, 2]]


def test_different_right_answers_are_an_error_unless_a_rule_is_given():
    systems = {
        name: replace(
            each,
            right_answer=np.where(
                (each.question == "b") & (name == "B"), "y", "x"
            ).astype(object),
        )
        for name, each in two().items()
    }
    message = r"1 of 4 .*right answers.*'b'.*'x' in A and 'y' in B.*in different orders"
    with pytest.raises(ValueError, match=message):
        align_evaluations(systems)
    dropped = align_evaluations(systems, mismatch="drop")
    assert dropped.question.tolist() == ["a", "c", "d"]
    assert len(align_evaluations(systems, mismatch="keep")) == 4


def log_of(subject):
    """Return a log of inspect_ai with a question about each of twelve numbers."""
    samples = [
        {
            "id": k,
            "input": f"{subject} {k}?",
            "target": f"{subject}",
            "scores": {"s": {"value": "CI"[(k + len(subject)) % 3 == 0]}},
        }
        for k in range(12)
    ]
    return json.dumps({"version": 2, "eval": {"model": subject}, "samples": samples})


def table_of(subject):
    rows = (f"n{k},{int((k + len(subject)) % 3 > 0)},{subject}\n" for k in range(12))
    return "id,correct,gold\n" + "".join(rows)


@pytest.mark.parametrize(("write", "name"), [(log_of, "json"), (table_of, "csv")])
def test_functions_reject_the_questions_that_the_command_rejects(write, name, tmp_path):
    paths = [tmp_path / f"{subject}.{name}" for subject in ("roots", "primes")]
    for path in paths:
        path.write_text(write(path.stem))
    assert main(["compare", *map(str, paths)]) == 2
    a, b = map(read_evaluation, paths)
    # The columns stay with the rows, whichever are kept.
    sides = [(a, b), (a.take(slice(3, 9)), b.take(slice(3, 9))), (a.scored(), b)]
    for first, second in sides:
        message = "questions with different right answers, .*'roots' in .*'primes' in"
        with pytest.raises(ValueError, match=message):
            align_evaluations({"A": first, "B": second}, missing="drop")
        with pytest.raises(ValueError, match="samples with different right answers"):
            first.aligned(second)
    with pytest.raises(ValueError, match="12 of 12 questions with different"):
        paired_bootstrap_test(a, b)
    aligned = align_evaluations({"A": a, "B": b}, mismatch="keep")
    assert len(aligned) == 12
    assert "compared nevertheless" in aligned.notes[0]


def test_a_right_answer_that_only_one_system_knows_is_no_difference():
    a = replace(two()["A"], right_answer=np.array(["x", None, "y", None], dtype=object))
    b = replace(two()["B"], right_answer=np.array([None, "z", "x", None], dtype=object))
    assert len(align_evaluations({"A": a, "B": b})) == 4
    assert len(a.aligned(b)[0]) == 4


def test_a_question_that_no_system_has_a_score_for_is_named():
    score = [np.nan, 1, 0]
    systems = {name: evaluation_of(score, question=list("abc")) for name in "AB"}
    message = (
        r"A lacks 1 of 3 questions \('a'; 1 of them without a score there\), B lac"
    )
    with pytest.raises(ValueError, match=message):
        align_evaluations(systems)
    aligned = align_evaluations(systems, missing="drop")
    assert (aligned.question.tolist(), len(aligned.notes)) == (["b", "c"], 2)


def test_a_row_of_a_wide_table_without_scores_is_named(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("id,a,b\nu,1,0\nv,,\nw,0,1\nx,1,\n")
    systems = read_evaluations(path)
    assert [len(each) for each in systems.values()] == [4, 3]
    with pytest.raises(ValueError, match="a lacks 1 of 4 .*'v'.* b lacks 2 of 4"):
        align_evaluations(systems)


def test_row_numbers_with_unrelated_scores_are_another_order():
    rng = np.random.default_rng(0)
    ease = rng.random(2000)
    names = np.arange(2000)
    first, second = (rng.random(2000) < ease for _ in range(2))
    systems = {
        "A": evaluation_of(first, question=names),
        "B": evaluation_of(second, question=names),
    }
    assert len(align_evaluations(systems)) == 2000
    systems["B"] = evaluation_of(rng.permutation(second), question=names)
    with pytest.raises(ValueError, match="row numbers .*correlation of -?0.0.* 2000"):
        align_evaluations(systems)
    assert len(align_evaluations(systems, mismatch="keep")) == 2000


def test_rows_without_names_are_not_matched_by_position():
    systems = {"A": evaluation_of([1, 0]), "B": evaluation_of([1, 0])}
    with pytest.raises(ValueError, match="have no names.*not matched by position"):
        align_evaluations(systems)


@pytest.mark.parametrize(
    ("systems", "error"),
    [
        ([1, 2], "must be a mapping of names to evaluations. Got list"),
        ({"A": 3, "B": 4}, "must contain evaluations. Got int for 'A'"),
        ({"A": evaluation_of([1], question=["a"])}, "at least two systems. Got 1"),
    ],
)
def test_other_arguments_are_errors(systems, error):
    with pytest.raises(ValueError, match=f"'evaluations' parameter .*{error}") as e:
        align_evaluations(systems)
    assert isinstance(e.value, TypeError) == ("at least" not in error)


def test_samples_of_lm_evaluation_harness_are_matched_by_their_hashes(tmp_path):
    def row(number, correct):
        return {
            "doc_id": number,
            "doc_hash": f"hash{number}",
            "resps": [["x"]],
            "filtered_resps": ["x"],
            "metrics": ["exact_match"],
            "exact_match": correct,
        }

    for name, rows in (
        ("a", [(0, 1), (1, 0), (2, 1)]),
        ("b", [(2, 0), (0, 1), (1, 1)]),
    ):
        text = "\n".join(json.dumps(row(*each)) for each in rows)
        (tmp_path / f"{name}.jsonl").write_text(text + "\n")
    aligned = align_evaluations(
        {name: read_evaluation(tmp_path / f"{name}.jsonl") for name in "ab"}
    )
    assert aligned.score.T.tolist() == [[1, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"score": []}, "at least one score"),
        ({"score": [0, 2]}, "Got 2.0 in row 1"),
        ({"score": [0, 1], "question": ["a"]}, "one entry per score"),
        ({"score": [0, 1], "proba": [0.1]}, "one entry per score"),
        ({"score": [0, 1], "proba": [0.1, 1.5]}, "Got 1.5 in row 1"),
    ],
)
def test_evaluations_of_arrays_are_checked(arguments, error):
    with pytest.raises(ValueError, match=error):
        evaluation_of(**arguments)


def test_missing_scores_are_null_in_json():
    evaluation = evaluation_of([1, np.nan], question=["a", "b"], proba=[np.nan, 0.5])
    found = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))
    assert (found["score"], found["proba"]) == ([1, None], [None, 0.5])
    assert found["status"] == ["answered", "unscored"]


@pytest.mark.parametrize(
    ("question", "are_samples"),
    [(list("aabbcd"), False), (list("aabbccd"), True)],
    ids=["half of the names", "most names"],
)
def test_rows_are_samples_if_most_names_occur_more_than_once(question, are_samples):
    systems = {
        name: evaluation_of([1] + [0] * (len(question) - 1), question=question)
        for name in "AB"
    }
    if are_samples:
        aligned = align_evaluations(systems)
        assert aligned.n_samples[:, 0].tolist() == [2, 2, 2, 1]
    else:
        with pytest.raises(ValueError, match="2 of 4 questions of A"):
            align_evaluations(systems)


def test_repeated_questions_have_no_probability():
    first = evaluation_of(
        [1, 0, 1, 1], question=list("aabb"), proba=[0.9, 0.8, 0.7, 0.6]
    )
    second = evaluation_of([1, 0], question=list("ab"), proba=[0.3, 0.2])
    aligned = align_evaluations({"A": first, "B": second})
    assert np.isnan(aligned.proba[:, 0]).all()
    assert aligned.proba[:, 1].tolist() == [0.3, 0.2]


def test_groups_are_those_of_the_first_system_that_has_them():
    groups = ({}, {"src": ["x", "y"]}, {"src": ["x", "v"]})
    systems = {
        name: evaluation_of([1, 0], question=["a", "b"], groups=each)
        for name, each in zip("ABC", groups, strict=True)
    }
    with pytest.raises(ValueError, match="1 of 2 .* values of 'src', .* 'b': 'y' in B"):
        align_evaluations(systems)
    aligned = align_evaluations(systems, mismatch="keep")
    assert aligned.groups["src"].tolist() == ["x", "y"]
    assert align_evaluations(systems, mismatch="drop").question.tolist() == ["a"]
