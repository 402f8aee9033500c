"""Plain tables: the quick and the general way to read text give the same columns."""

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skcalib import read_evaluation

CELLS = st.text(alphabet='ab,; "\n\té', max_size=4)


def write(folder, text, name="a.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_names_are_those_of_the_csv_module(tmp_path_factory, rows, end, last):
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=end)
    writer.writerow(["correct", "id", "group"])
    writer.writerows([k % 2, a, b] for k, (a, b) in enumerate(rows))
    content = text.getvalue() if last else text.getvalue().removesuffix(end)
    path = write(tmp_path_factory.mktemp("t"), content)
    found = read_evaluation(path, groups=["group"])
    expected = [(a.strip(), b.strip()) for a, b in rows]
    np.testing.assert_array_equal(found.score, np.arange(len(rows)) % 2)
    pairs = zip(found.question, found.groups["group"], strict=True)
    assert list(pairs) == expected


@pytest.mark.parametrize(
    "late",
    [
        pytest.param("1,0.5,a\n", marks=pytest.mark.slow),
        pytest.param('1,0.5,"a"\n', marks=pytest.mark.slow),
        '1,0.5,"a\nb"\n',
        "\n",
    ],
)
def test_rows_after_many_plain_ones_are_read_with_their_lines(tmp_path, late):
    n = 60_000
    plain = "".join(f"{k % 2},0.25,g{k % 7}\n" for k in range(n))
    text = "correct,p,g\n" + plain + late
    found = read_evaluation(write(tmp_path, text + "0,0.75,z\n"), groups=["g"])
    assert found.proba[-1] == 0.75
    assert found.groups["g"][-1] == "z"
    line = 2 + n + late.count("\n")
    with pytest.raises(ValueError, match=rf"'7' in line {line}, which is outside"):
        read_evaluation(write(tmp_path, text + "0,7,z\n0,0.5,z\n"))
    with pytest.raises(ValueError, match=rf"3 cells .* Got 2 in line {line} of a.csv"):
        read_evaluation(write(tmp_path, text + "0,7\n"))
    with pytest.raises(ValueError, match="UTF-8"):
        read_evaluation(write(tmp_path, text.encode() + b"0,0.5,\xff\n"))


@pytest.mark.parametrize("word", ["", " ", "NA", "nan", "None", "NULL", "#N/A"])
def test_empty_cells_are_kept_or_an_error(tmp_path, word):
    text = f"correct,p,g\n1,0.5,a\n{word},0.5,a\n1,{word},a\n1,0.5,{word}\n"
    path = write(tmp_path, text)
    found = read_evaluation(path, groups=["g"])
    assert list(np.isnan(found.score)) == [False, True, False, False]
    assert list(np.isnan(found.proba)) == [False, False, True, False]
    assert list(found.groups["g"]) == ["a", "a", "a", ""]
    assert found.counts() == {"answered": 3, "unscored": 1}
    with pytest.raises(ValueError, match="empty cell of 'correct' in line 3"):
        read_evaluation(path, missing="error")
    with pytest.raises(ValueError, match="'missing'"):
        read_evaluation(path, missing="drop")


@pytest.mark.slow
def test_progress_is_printed_if_asked_for(tmp_path, capsys):
    path = write(tmp_path, "correct\n" + "1\n" * 1_200_000)
    read_evaluation(path)
    assert capsys.readouterr().err == ""
    read_evaluation(path, verbose=1)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert all("rows of a.csv read" in line for line in said)


def test_progress_of_a_harness_file_is_printed_if_asked_for(tmp_path, capsys):
    row = {"doc_id": 0, "resps": [], "filtered_resps": ["a"], "filter": "none"}
    rows = ({**row, "doc_id": k, "exact_match": 1.0} for k in range(25_000))
    path = write(tmp_path, "\n".join(map(json.dumps, rows)), "samples.jsonl")
    read_evaluation(path)
    assert capsys.readouterr().err == ""
    read_evaluation(path, verbose=1)
    assert capsys.readouterr().err == (
        "10,000 rows of samples.jsonl read\n20,000 rows of samples.jsonl read\n"
    )
    answer = {"response": "a", "judge_response": {"correct": "yes", "confidence": 9}}
    path = write(tmp_path, json.dumps({"q": answer}), "judged.json")
    read_evaluation(path, verbose=1)
    assert capsys.readouterr().err == "reading judged.json, 0 MB\n"


def test_repeats_are_numbered_within_their_question(tmp_path):
    path = write(tmp_path, "id,correct\na,1\nb,0\na,0\na,1\nb,1\n")
    assert read_evaluation(path).repeat.tolist() == [0, 0, 1, 2, 1]


def test_numbers_that_are_equal_are_different_labels(tmp_path):
    rows = [{"y": 1, "p": 0.5}, {"y": True, "p": 0.5}, {"y": "1", "p": 0.5}]
    path = write(tmp_path, json.dumps(rows), "a.json")
    found = read_evaluation(path, pos_label="true")
    assert found.score.tolist() == [0, 1, 0]


def test_samples_without_a_score_count_by_the_rule_or_by_choice(tmp_path):
    results = [
        {"promptIdx": 0, "success": k < 3, "vars": {"k": k}, "provider": "m"}
        for k in range(4)
    ]
    results[3]["failureReason"] = 2
    text = json.dumps({"results": {"results": results}})
    found = read_evaluation(write(tmp_path, text, "out.json"))
    assert found.counts() == {"answered": 3, "error": 1}
    assert found.scored().score.tolist() == [1, 1, 1, 0]
    assert "counts as failed" in found.scored().notes[-1]
    assert found.scored("drop").score.tolist() == [1, 1, 1]
    assert found.scored("wrong").score.tolist() == [1, 1, 1, 0]
    assert found.answered().score.tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="'unanswered'"):
        found.scored("right")


@pytest.mark.parametrize("cell", ["90%", "90 %", "90,0%", "90,0 %", "90,0", "90"])
def test_percentages_in_german_and_english_are_read(tmp_path, cell):
    path = write(tmp_path, f"correct;p\n1;{cell}\n0;{cell}\n")
    found = read_evaluation(path, percent=True)
    np.testing.assert_allclose(found.proba, 0.9)


def test_a_scale_to_ten_read_as_percentages_gives_a_note(tmp_path):
    path = write(tmp_path, "correct,p\n1,9\n0,10\n1,3\n")
    (note,) = read_evaluation(path, percent=True).notes
    assert note.startswith("No cell of 'p' is above 10, and 10 is read as 10%")
    path = write(tmp_path, "correct,p\n1,9\n0,11\n1,3\n")
    assert read_evaluation(path, percent=True).notes == ()
