"""Plain tables: the quick and the general way to read text give the same columns."""

import csv
import datetime
import io
import json
import os
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skcalib import read_evaluation
from skcalib.evaluation import _tables, read_evaluations
from skcalib.evaluation._values import decimals

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
    st.sampled_from([1, 20, 1000]),
)
def test_names_are_those_of_the_csv_module(tmp_path_factory, rows, end, last, block):
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=end)
    writer.writerow(["correct", "id", "group"])
    writer.writerows([k % 2, a, b] for k, (a, b) in enumerate(rows))
    content = text.getvalue() if last else text.getvalue().removesuffix(end)
    path = write(tmp_path_factory.mktemp("t"), content)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_tables, "_BLOCK", block)
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
    # A word is a name in a column of names: NA is the code of Namibia.
    assert list(found.groups["g"]) == ["a", "a", "a", word.strip()]
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


def test_exponents_and_decimal_commas_are_read_together(tmp_path):
    path = write(tmp_path, "correct;p\n1;2,5e-05\n0;1E-3\n0;0,5\n")
    assert read_evaluation(path).proba.tolist() == [2.5e-05, 0.001, 0.5]


@pytest.mark.parametrize(
    ("first", "advice"),
    [("0.5", "Write all probabilities in one unit"), ("5", "Use percent if")],
)
def test_the_advice_about_a_large_cell_is_that_of_most_cells(tmp_path, first, advice):
    path = write(tmp_path, f"correct,confidence\n1,{first}\n0,0.7\n1,45\n")
    with pytest.raises(ValueError, match=advice):
        read_evaluation(path)


def test_a_scale_to_ten_read_as_percentages_gives_a_note(tmp_path):
    path = write(tmp_path, "correct,p\n1,9\n0,10\n1,3\n")
    (note,) = read_evaluation(path, percent=True).notes
    assert note.startswith("No cell of 'p' is above 10, and 10 is read as 10%")
    path = write(tmp_path, "correct,p\n1,9\n0,11\n1,3\n")
    assert read_evaluation(path, percent=True).notes == ()


# Text


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("before", ["{e}", "{e}  {e}{e}", "\ufeff{e}"])
@pytest.mark.parametrize("name", ["correct", '"correct"'])
def test_blank_first_lines_are_not_the_header(tmp_path, before, name, end):
    before = before.format(e=end)
    text = before + end.join([f"id,{name}", "a,1", "b,0", "c,maybe", ""])
    line = 4 + before.count("\n")
    with pytest.raises(ValueError, match=f"'maybe' in line {line}"):
        read_evaluation(write(tmp_path, text))
    found = read_evaluation(write(tmp_path, text.replace("maybe", "0")))
    assert found.question.tolist() == ["a", "b", "c"]
    assert found.score.tolist() == [1, 0, 0]


ROWS = "\n".join(f"q{k},{k % 2},0.5" for k in range(3))
REPEATED = {
    "a.csv": ("id,correct,conf\n{rows}\nid,correct,conf\n{rows}", 5),
    "bom.csv": ("\ufeffid,correct,conf\n{rows}\n\ufeffid,correct,conf\n{rows}", 5),
    "quoted.csv": ('"id","correct","conf"\n{rows}\n"id","correct","conf"\n', 5),
    "blanks.csv": ("\nid, correct, conf \r\n{rows}\r\nid, correct, conf \r\n", 6),
    "a.tsv": ("id\tcorrect\nq0\t1\nq1\t0\nid\tcorrect\n", 4),
    "first.csv": ("id,correct\nid,correct\nq0,1\nq1,0\n", 2),
    "a.jsonl": (
        '{"id": "q0", "correct": 1}\n{"id": "q1", "correct": 0}\n'
        '{"id": "id", "correct": "correct"}\n',
        3,
    ),
}


@pytest.mark.parametrize("name", REPEATED)
def test_a_repeated_header_is_no_row(tmp_path, name):
    text, line = REPEATED[name]
    path = write(tmp_path, text.replace("{rows}", ROWS), name)
    with pytest.raises(ValueError, match=f"columns again in line {line}, as if files"):
        read_evaluation(path)


def test_a_repeated_header_in_parquet_is_no_row(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    columns = {"id": ["a", "b", "id"], "correct": ["1", "0", "correct"]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="names of the columns again in line 3"):
        read_evaluation(tmp_path / "a.parquet")


def test_a_question_may_be_named_like_its_column(tmp_path):
    path = write(tmp_path, "id,correct,conf\nid,1,0.5\nx,0,0.4\n")
    assert read_evaluation(path).question.tolist() == ["id", "x"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_is_an_error(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for read in (read_evaluation, read_evaluations):
        with pytest.raises(ValueError, match="regular file.* Got pipe, which is a pi"):
            read(tmp_path / "pipe")


@pytest.mark.parametrize("mark", ["", '"'])
def test_a_cell_may_be_a_long_document(tmp_path, mark):
    limit = csv.field_size_limit()
    long = "x" * (limit + 1)
    rows = f"1,a,{mark}{long}{mark}\n0,b,short\n"
    path = write(tmp_path, f"correct,id,{mark}text{mark}\n{rows}")
    found = read_evaluation(path, groups=["text"])
    assert list(map(len, found.groups["text"])) == [limit + 1, 5]
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize("n_before", [0, 1, 9_999, 10_000])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_quote_that_is_not_closed_does_not_swallow_rows(tmp_path, n_before, end):
    before = '"1",b\n' * n_before
    text = f'correct,id\n{before}1,"cut\n0,c{end}'
    with pytest.raises(ValueError, match=f"begins in line {n_before + 2} has a quote"):
        read_evaluation(write(tmp_path, text))
    found = read_evaluation(write(tmp_path, f'correct,id\n{before}1,"cut"\n0,c{end}'))
    assert found.question[-2:].tolist() == ["cut", "c"]
    assert len(found) == n_before + 2


def test_a_quote_in_the_header_is_closed(tmp_path):
    with pytest.raises(ValueError, match="begins in line 1 has a quote"):
        read_evaluation(write(tmp_path, 'correct,"id\n1,a\n0,b\n'))


@pytest.mark.parametrize("column", ["correct", "p"])
def test_underscores_are_not_parts_of_numbers(tmp_path, column):
    text = {"correct": "correct,p\n0.1_5,0.5\n", "p": "correct,p\n1,0.1_5\n"}[column]
    with pytest.raises(ValueError, match=rf"{column!r}. Got '0.1_5' in line 2"):
        read_evaluation(write(tmp_path, text))


def test_a_path_with_a_null_character_is_named():
    with pytest.raises(ValueError, match="'path' parameter of read_evaluation must be"):
        read_evaluation("a\0b.csv")


NUMBERS = st.text(alphabet="0123456789.-e_ é", max_size=10)


@given(st.lists(st.one_of(NUMBERS, st.decimals(0, 1, places=6).map(str)), min_size=1))
def test_numbers_are_read_from_bytes_as_float_reads_them(texts):
    cells = [text.encode() for text in texts]
    size = np.array([len(cell) for cell in cells])
    stop = np.cumsum(size + 1) - 1
    found, is_other = decimals(b",".join([*cells, b""]), stop - size, stop)
    for text, number, other in zip(texts, found, is_other, strict=True):
        is_short = text.isascii() and 0 < len(text) <= 8
        digits = text.replace(".", "", 1)
        assert other == (not (is_short and digits.isdigit()))
        assert other or number == float(text)


# JSON


@pytest.mark.parametrize(
    ("odd", "expected"),
    [
        ('{"id": "a\\"},{:", "correct": 1}', ['a"},{:']),
        ('{"correct": 1, "id": "x"}', ["x"]),
        ('{"id": "x", "correct": 1, "more": {"id": 2}, "list": [{}]}', ["x"]),
        ('\n{"id": "x", "correct": 1}\r\n  ', ["x"]),
        ('{"id": 1.50, "correct": 1.0}', ["1.5"]),
        ('{"id": "x", "correct": 1, "id": "y"}', "line 31 .*'id' occurs more than"),
        ('{"id": "x", "correct": 1},{"id": "y", "correct": 0}', "line 31 .*Extra data"),
        ('{"id": ["x"\n{}], "correct": 1},{"id": "y"}', "line 31 "),
        ('{"id": "x\n{", "correct": 1},{"id": "y"}', "line 31 .*Invalid control"),
        ('{"id": "id", "correct": "correct"}', "names of the columns again in line 31"),
        ("null", "one object per line. Got NoneType in number 31"),
    ],
)
@pytest.mark.parametrize("block", [1, 90, 2**18])
def test_lines_decoded_at_once_are_those_decoded_one_by_one(
    tmp_path, monkeypatch, odd, expected, block
):
    monkeypatch.setattr(_tables, "_BLOCK", block)
    before = "".join(f'{{"id": "q{k}", "correct": {k % 2}}}\n' for k in range(30))
    path = write(tmp_path, f'{before}{odd}\n{{"id": "z", "correct": 0}}\n', "a.jsonl")
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=expected):
            read_evaluation(path)
        return
    found = read_evaluation(path)
    assert found.question.tolist() == [f"q{k}" for k in range(30)] + expected + ["z"]
    np.testing.assert_array_equal(found.score, [*(k % 2 for k in range(30)), 1, 0])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "a.jsonl",
            '{"id":1,"correct":1}\n\n{"id":2,"correct":1,"correct":0}\n',
            "line 3 of a.jsonl: the key 'correct' occurs more than once",
        ),
        (
            "a.json",
            '[{"id":1,"correct":1},{"id":2,"a":{"correct":1,"correct":0}}]',
            "a.json: the key 'correct' occurs more than once",
        ),
    ],
)
def test_an_entry_that_is_given_twice_is_an_error(tmp_path, name, text, message):
    with pytest.raises(ValueError, match=message):
        read_evaluation(write(tmp_path, text, name))


@pytest.mark.parametrize("last", ['{"id":2,"corr', '{"id":2', '{"id":2,"correct":'])
def test_a_line_that_was_cut_off_is_said_to_be(tmp_path, last):
    path = write(tmp_path, f'{{"id":1,"correct":1}}\n{last}', "a.jsonl")
    with pytest.raises(ValueError, match="line 2 of a.jsonl") as error:
        read_evaluation(path)
    assert "The text may have been cut off while it was written" in str(error.value)
    assert "at at" not in str(error.value)


def test_a_wrong_line_is_not_said_to_be_cut_off(tmp_path):
    path = write(tmp_path, '{"id":1,"correct":1}\n{id:2}\n', "a.jsonl")
    with pytest.raises(ValueError, match="Expecting") as error:
        read_evaluation(path)
    assert "cut off" not in str(error.value)


def test_decimal_numbers_and_dates_of_parquet_are_read(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "correct": [Decimal(1), Decimal(0)],
        "p": [Decimal("0.75"), Decimal("0.50")],
        "day": [datetime.date(2024, 5, 31), datetime.date(2024, 6, 1)],
    }
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    found = read_evaluation(tmp_path / "a.parquet", groups=["day"])
    assert found.score.tolist() == [1, 0]
    assert found.proba.tolist() == [0.75, 0.5]
    assert found.groups["day"].tolist() == ["2024-05-31", "2024-06-01"]


# Roles of columns


def test_a_system_that_no_column_names_is_an_error(tmp_path):
    path = write(tmp_path, "id,correct\na,1\nb,0\n")
    with pytest.raises(ValueError, match="'model' .*does not apply.* Got 'nobody'"):
        read_evaluation(path, model="nobody")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": {"question": "correct"}}, "score and question. Got 'correct'"),
        ({"columns": {"proba": "p", "model": "p"}}, "proba and model. Got 'p'"),
        ({"groups": ["correct"]}, "score and groups. Got 'correct'"),
        ({"columns": {"probability": "p"}}, "Got the role 'probability'"),
        ({"groups": ["ID"]}, "'groups' .*Got 'ID', which is .*Did you mean 'id'?"),
        ({"columns": {"score": "corect"}}, "Did you mean 'correct'?"),
        ({"columns": {"score": "z"}}, "Got 'z', which is none of id, correct, p.$"),
    ],
)
def test_a_column_has_one_role_and_a_known_name(tmp_path, options, message):
    path = write(tmp_path, "id,correct,p\na,1,0.5\nb,0,0.5\n")
    with pytest.raises(ValueError, match=message):
        read_evaluation(path, **options)


def test_a_word_for_missing_may_be_the_positive_label(tmp_path):
    path = write(tmp_path, "country,p\nNA,0.5\nZA,0.5\n,0.5\nnull,0.5\n")
    found = read_evaluation(path, columns={"score": "country"}, pos_label="NA")
    np.testing.assert_array_equal(found.score, [1, 0, np.nan, np.nan])


# Answers and right answers

ANSWERS = {"gold": "gold", "prediction": "choice"}
TEAMS = "choice,gold,probability\nbilling,billing,0.9\nsales,,0.8\ntech,sales,0.6\n"


def test_answers_are_right_if_they_equal_the_right_answer(tmp_path):
    rows = TEAMS + ",sales,0.5\n"
    found = read_evaluation(write(tmp_path, rows), columns=ANSWERS)
    np.testing.assert_array_equal(found.score, [1, np.nan, 0, np.nan])
    assert found.proba.tolist() == [0.9, 0.8, 0.6, 0.5]
    assert found.counts() == {"answered": 2, "unscored": 2}
    rows = [{"choice": 2, "gold": 2, "id": "a"}, {"choice": 0, "gold": 2, "id": "b"}]
    path = write(tmp_path, json.dumps(rows), "a.json")
    found = read_evaluations(path, columns=ANSWERS)
    assert found["a"].score.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": {"gold": "gold"}}, "needs gold and prediction together"),
        ({"columns": ANSWERS | {"score": "gold"}}, "no column of scores beside"),
        ({"columns": ANSWERS | {"gold": "choice"}}, "and prediction. Got 'choice'"),
        ({"columns": ANSWERS | {"proba": "choice"}}, "prediction and proba. Got 'ch"),
        ({"columns": ANSWERS | {"gold": "golds"}}, "Did you mean 'gold'"),
        ({"columns": ANSWERS, "score": "gold"}, "no column of scores beside"),
        ({"columns": ANSWERS, "pos_label": "tech"}, "'pos_label' .*Got 'tech'"),
        ({"columns": ANSWERS | {"gold": "probability"}}, "Got 'billing' and '0.9'"),
        ({"columns": ANSWERS, "missing": "error"}, "empty cell of 'gold' in line 3"),
    ],
)
def test_columns_of_answers_must_fit_each_other(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        read_evaluation(write(tmp_path, TEAMS), **options)


# Probability and confidence


def test_a_probability_is_read_instead_of_a_confidence(tmp_path):
    # A calibrated answer among three options; its confidence is (3 max(p) - 1) / 2.
    path = write(tmp_path, "correct,confidence,probability\n1,0.4,0.6\n0,0.1,0.4\n")
    found = read_evaluation(path)
    assert found.proba.tolist() == [0.6, 0.4]
    (note,) = found.notes
    assert note.startswith("The probability is 'probability', not 'confidence'. ")
    assert "'confidence' may measure the shape of a distribution" in note
    chosen = read_evaluation(path, columns={"proba": "confidence"})
    assert (chosen.proba.tolist(), chosen.notes) == ([0.4, 0.1], ())


OPTIONS = {
    "list": [[0.6, 0.3, 0.1], [0.2, 0.4, 0.4]],
    "object": [{"A": 0.6, "B": 0.4}, {"A": 0.6, "B": 0.4}],
    "text": ["[0.6, 0.3, 0.1]", "[0.2, 0.4, 0.4]"],
    "number": [0.6, 0.4],
}


def test_a_note_says_what_the_confidence_of_a_decision_model_is(tmp_path):
    path = tmp_path / "decisions.csv"
    for name, n_notes in (("choice", 1), ("answer", 0)):
        path.write_text(f"{name},gold,confidence\na,a,0.4\nb,a,0.2\n")
        found = read_evaluation(path, columns={"gold": "gold", "prediction": name})
        notes = [note for note in found.notes if "(k p - 1) / (k - 1)" in note]
        assert len(notes) == n_notes


@pytest.mark.parametrize("kind", OPTIONS)
def test_the_largest_of_probabilities_is_read_instead_of_a_confidence(tmp_path, kind):
    pairs = enumerate(OPTIONS[kind])
    rows = [{"correct": k, "confidence": 0.4, "probabilities": p} for k, p in pairs]
    found = read_evaluation(write(tmp_path, json.dumps(rows), "a.json"))
    assert found.proba.tolist() == ([0.6, 0.6] if kind == "object" else [0.6, 0.4])
    (note,) = found.notes
    start = "The probability is the largest of 'probabilities' in each row, not "
    assert note.startswith(start + "'confidence'. ")


def test_probabilities_that_are_not_numbers_are_named(tmp_path):
    rows = [{"correct": 1, "confidence": 0.4, "probabilities": ["high", "low"]}]
    with pytest.raises(
        ValueError, match=r"in 'probabilities'. Got .* in line 1, which"
    ):
        read_evaluation(write(tmp_path, json.dumps(rows), "a.json"))


def test_probabilities_of_options_are_not_those_of_a_positive_label(tmp_path):
    row = {"label": "spam", "confidence": 0.4, "probabilities": {"spam": 0.2, "ham": 1}}
    path = write(tmp_path, json.dumps([row]), "a.json")
    found = read_evaluation(path, pos_label="spam")
    assert found.proba.tolist() == [0.4]
    column = {"proba": "probabilities.spam"}
    assert read_evaluation(path, pos_label="spam", columns=column).proba == [0.2]
    with pytest.raises(ValueError, match="is not a number"):
        read_evaluation(path, pos_label="spam", columns={"proba": "probabilities"})


def test_a_confidence_alone_is_read_without_a_note(tmp_path):
    found = read_evaluation(write(tmp_path, "correct,confidence\n1,0.4\n0,0.1\n"))
    assert (found.proba.tolist(), found.notes) == ([0.4, 0.1], ())


def test_a_file_with_one_record_is_read_by_its_name(tmp_path):
    record = '{"correct": 1, "confidence": 0.9}'
    found = read_evaluation(write(tmp_path, record, "one.jsonl"))
    assert (found.score.tolist(), found.proba.tolist()) == ([1], [0.9])
    samples = json.dumps([json.loads(record)])
    found = read_evaluation(write(tmp_path, samples, "list.jsonl"))
    assert found.score.tolist() == [1]


def test_a_file_of_one_column_is_said_to_have_one(tmp_path):
    path = write(tmp_path, "seg_id correct\n1 1\n2 0\n")
    with pytest.raises(ValueError, match="are its cells separated by blanks"):
        read_evaluation(path, columns={"question": "seg_id", "score": "correct"})


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["C", "I", "P", "N"], [1, 0, 0.5, 0]),
        (["I", "I", "", "i"], [0, 0, np.nan, 0]),
        (["pass", "fail", "Passed", "FAILED"], [1, 0, 1, 0]),
        (["y", "n", "n", "y"], [1, 0, 0, 1]),
    ],
)
def test_words_and_letters_of_harnesses_are_verdicts(tmp_path, cells, expected):
    rows = "".join(f"q{k},{cell}\n" for k, cell in enumerate(cells))
    path = write(tmp_path, f"id,correct\n{rows}")
    np.testing.assert_array_equal(read_evaluation(path).score, expected)


@pytest.mark.parametrize("cells", ["CCCC", "PNNP", "CIA1", "1IC0", "CICA"])
def test_letters_that_may_be_options_or_classes_are_refused(tmp_path, cells):
    rows = "".join(f"q{k},{cell}\n" for k, cell in enumerate(cells))
    with pytest.raises(ValueError, match=r"must contain 0/1.*Got '.' in line \d"):
        read_evaluation(write(tmp_path, f"id,correct\n{rows}"))


def test_scores_beyond_1_are_to_be_rescaled(tmp_path):
    path = write(tmp_path, "id,correct\na,-2.5\nb,1\n")
    with pytest.raises(ValueError, match=r"'-2.5' in line 2. Rescale other scores"):
        read_evaluation(path)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("1", "-1", "1"), [1, 0, 1]),
        (("1", "-1", ""), [1, 0, np.nan]),
        (("1", "0", "-1"), None),
        (("yes", "no", "-1"), None),
        (("0.5", "1", "-1.0"), None),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_minus_one_is_wrong_only_beside_1(tmp_path, cells, expected, ending):
    path = tmp_path / f"a.{ending}"
    lines = [f"q{k},{cell}" for k, cell in enumerate(cells)]
    text = "\n".join(["id,correct", *lines])
    if ending == "jsonl":
        rows = [{"id": f"q{k}", "correct": cell} for k, cell in enumerate(cells)]
        text = "\n".join(map(json.dumps, rows))
    path.write_text(text)
    if expected is not None:
        found = read_evaluation(path, missing="keep").score
        np.testing.assert_array_equal(found, expected)
        return
    line = 4 if ending == "csv" else 3
    with pytest.raises(ValueError, match=f"not all three: .* Got -1 in line {line} of"):
        read_evaluation(path)


def test_probabilities_of_options_must_be_about_the_scored_answer(tmp_path):
    rows = [("A", 1), ("B", 0), ("A", 1)]
    entry = '{{"id": {k}, "gold": "{g}", "correct": {c}, "probabilities": {p}}}\n'
    proba = '{"A": 0.6, "B": 0.4}'
    lines = [entry.format(k=k, g=g, c=c, p=proba) for k, (g, c) in enumerate(rows)]
    columns = {"score": "correct", "proba": "probabilities"}
    path = write(tmp_path, "".join(lines), "a.jsonl")
    assert read_evaluation(path, columns=columns).proba.tolist() == [0.6] * 3
    # The most probable option is wrong, and the answer was right.
    lines.append(entry.format(k=3, g="B", c=1, p=proba))
    # Right answers that are no options say nothing.
    lines.append(entry.format(k=4, g="C", c=1, p=proba))
    found = read_evaluation(write(tmp_path, "".join(lines), "a.jsonl"), columns=columns)
    assert np.isnan(found.proba).all()
    assert "In 1 of 5 rows, the score is not that of the most prob" in found.notes[-1]
    assert "row 4" in found.notes[-1]


def test_a_column_of_scores_0_and_1_needs_no_name(tmp_path):
    path = write(tmp_path, "question,score,confidence\nq1,1,0.9\nq2,0,0.4\nq3,,0.7\n")
    found = read_evaluation(path)
    np.testing.assert_array_equal(found.score, [1, 0, np.nan])
    assert found.question.tolist() == ["q1", "q2", "q3"]
    assert found.proba.tolist() == [0.9, 0.4, 0.7]
    long = "question,model,score\nq1,a,1\nq1,b,0\nq2,a,1\nq2,b,1\n"
    systems = read_evaluations(write(tmp_path, long))
    assert {n: e.score.tolist() for n, e in systems.items()} == {
        "a": [1, 1],
        "b": [0, 1],
    }


def test_a_column_of_scores_beside_labels_has_probabilities(tmp_path):
    path = write(tmp_path, "question,score,label\nq1,1,0\nq2,0,1\n")
    found = read_evaluation(path)
    assert found.score.tolist() == [0, 1]
    assert found.proba.tolist() == [1, 0]


def test_other_scores_than_0_and_1_must_be_named_or_have_a_scale(tmp_path):
    path = write(tmp_path, "question,score\nq1,0.5\nq2,1\n")
    with pytest.raises(
        ValueError, match="Name 'score' if it contains scores in .0, 1., or"
    ):
        read_evaluation(path)
    assert read_evaluation(path, score="score").score.tolist() == [0.5, 1]
    named = read_evaluation(path, columns={"score": "score"})
    assert named.score.tolist() == [0.5, 1]
    assert read_evaluation(path, scale=(0, 2)).score.tolist() == [0.25, 0.5]
    path = write(tmp_path, "question,score\nq1,3\nq2,5\n")
    with pytest.raises(ValueError, match=r"name the scale of grades with scale"):
        read_evaluation(path)


def test_the_probability_of_one_class_beside_predictions_gives_a_note(tmp_path):
    rows = ["legit,legit,0.01"] * 9 + ["fraud,fraud,0.7", "legit,legit,0.6"]
    path = write(tmp_path, "\n".join(["gold,prediction,p", *rows]))
    columns = {"gold": "gold", "prediction": "prediction", "proba": "p"}
    (note,) = read_evaluation(path, columns=columns).notes
    assert note.startswith("'p' is below 0.5 for 9 of 10 answers 'legit'. If it is the")
    assert "such as 'fraud'" in note
    # the probability of the prediction
    path = write(tmp_path, "\n".join(["gold,prediction,p", *rows]).replace("0.01", "1"))
    assert read_evaluation(path, columns=columns).notes == ()


@pytest.mark.parametrize(("label", "proba"), [("Class", "p"), ("label", "y_score")])
def test_usual_names_of_labels_and_scores_are_found(tmp_path, label, proba):
    path = write(tmp_path, f"{label},{proba}\n1,0.7\n0,0.2\n")
    found = read_evaluation(path)
    assert (found.score.tolist(), found.proba.tolist()) == ([1, 0], [0.7, 0.2])
