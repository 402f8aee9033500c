"""What results and displays show in a notebook."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from skcalib._results import Result, p_text
from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import (
    adaptive_reliability_curve,
    bin_size_curve,
    calibration_error_interval,
    sample_size_curve,
    score_decomposition,
)
from skcalib.queries import ClassQuery, SpanQuery
from skcalib.significance import mcnemar_test, paired_bootstrap_test, permutation_test


class Reader(HTMLParser):
    """Collect the text of cells, of list items and of the rest; tags must match."""

    def __init__(self, html):
        super().__init__()
        self.open, self.rows, self.items, self.text = [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "li":
            self.items.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        elif self.open[-1] == "li":
            self.items[-1] += data
        else:
            self.text.append(data)


def read(result):
    return Reader(result._repr_html_())


class Numbers(Result):
    def __init__(self, **columns):
        self.columns = columns

    def _columns(self):
        return self.columns

    def __repr__(self):
        return "Numbers(<2 & 3>)"


class Once(Result):
    def to_dict(self):
        return {"error": 0.123456, "n": 7, "groups": None, "ends": (0.5, 1.0)}


def test_a_table_has_a_header_and_a_row_for_each_entry():
    found = read(Numbers(x=np.array([0.123456, 2.0]), y=["a", "b"]))
    assert found.rows == [["x", "y"], ["0.1235", "a"], ["2", "b"]]
    assert found.text == ["Numbers(<2 & 3>)"]


def test_text_is_escaped():
    html = Numbers(x=["<script>", "a & b"])._repr_html_()
    assert "<script>" not in html
    assert [row[0] for row in Reader(html).rows] == ["x", "<script>", "a & b"]


@pytest.mark.parametrize("n", [0, 1, 11])
def test_a_short_table_is_shown_whole(n):
    found = read(Numbers(x=range(n)))
    assert found.rows == [["x"], *([str(k)] for k in range(n))]
    assert found.text == ["Numbers(<2 & 3>)"]


def test_a_long_table_shows_both_ends_and_its_length():
    found = read(Numbers(x=range(12)))
    shown = ["0", "1", "2", "3", "4", "…", "7", "8", "9", "10", "11"]
    assert found.rows == [["x"], *([each] for each in shown)]
    assert found.text[-1] == "12 rows"


def test_missing_cells_are_empty():
    found = read(Numbers(x=[None, np.nan, 1]))
    assert found.rows == [["x"], [""], [""], ["1"]]


def test_numbers_have_four_digits_but_no_exponent_where_large():
    values = [0.0, 1e-5, 0.123456, 5000.0, 123456.0, -98765.4, np.inf, 1e300]
    shown = ["0", "1e-05", "0.1235", "5000", "123456", "-98765", "inf", "1e+300"]
    assert [row[0] for row in read(Numbers(x=values)).rows[1:]] == shown
    floats = np.array([0.5, 20000], dtype=np.float32)
    assert [row[0] for row in read(Numbers(x=floats)).rows[1:]] == ["0.5", "20000"]


def test_numbers_that_are_there_once_stand_below_each_other():
    found = read(Once())
    assert found.rows == [["error", "0.1235"], ["n", "7"], ["ends", "0.5, 1"]]
    assert found.text == ["Once"]


PAIRS = make_calibrated_pairs(500, random_state=0)


def test_an_interval_that_is_open_at_0_is_shown_as_such():
    result = calibration_error_interval(*make_calibrated_pairs(1000, random_state=8))
    assert 0 < result.low < 1e-15
    found = read(result)
    assert dict(found.rows)["low"] == "0"
    ends = re.search(r"\(0, 0\.\d+\]", repr(result)).group()
    assert f"interval {ends} does not contain 0" in found.text[-1]


@pytest.mark.parametrize(
    "result", [calibration_error_interval(*PAIRS), score_decomposition(*PAIRS)]
)
def test_results_of_single_numbers(result):
    names = [name for name, value in result.to_dict().items() if value is not None]
    found = read(result)
    assert [row[0] for row in found.rows] == names
    for name, cell in found.rows:
        value = getattr(result, name)
        if not isinstance(value, str):
            assert float(cell) == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize(
    ("result", "n"),
    [
        (adaptive_reliability_curve(*PAIRS, bin_size=100), 5),
        (bin_size_curve(*PAIRS, bin_sizes=[10, 100]), 2),
        (sample_size_curve(*PAIRS, sample_sizes=[100, 200], random_state=0), 2),
        (ClassQuery().from_proba([0, 1], [[0.5, 0.5], [0.2, 0.8]], [0, 1]), 2),
    ],
)
def test_results_of_several_rows(result, n):
    found = read(result)
    assert found.text == [repr(result), *result._in_words()]
    assert len(found.rows) == 1 + n
    assert found.rows[0] == list(result._columns())


def test_answers_about_spans_show_both_ends():
    spans = [(0, 2, "PER", 0.9)]
    found = read(SpanQuery().from_proba([["B-PER", "I-PER", "O"]], [spans]))
    row = dict(zip(*found.rows, strict=True))
    assert row["item"] == "0, 2"
    assert row["y_proba"] == "0.9"


@pytest.mark.parametrize(
    ("gains", "words"),
    [
        ([1, 2, 1, 3, 1, 2, 1, 1], "does not contain 0, so that a difference is shown"),
        ([1, 2, -1, 3, -1, -2, 1, -1], "contains 0, so that no difference is shown"),
    ],
)
def test_a_paired_test_says_whether_its_interval_contains_zero(gains, words):
    result = paired_bootstrap_test(gains, np.zeros(8))
    assert words in read(result).text[-1]


@pytest.mark.parametrize(
    ("p", "digits", "text"),
    [
        (0.01234, ".3g", "p = 0.0123"),
        (0.01234, ".2g", "p = 0.012"),
        (1.0, ".3g", "p = 1"),
        (1e-300, ".3g", "p = 1e-300"),
        (9.9e-301, ".3g", "p < 1e-300"),
        (np.finfo(float).tiny, ".2g", "p < 1e-300"),
    ],
)
def test_a_p_value_is_shown_down_to_1e_300(p, digits, text):
    assert p_text(p, digits, before="p = ") == text
    assert p_text(p, digits) == text.removeprefix("p ").removeprefix("= ")


def test_results_of_tests_show_a_p_value_that_underflows():
    results = mcnemar_test(9, 3), permutation_test([1, 1, 0, 1], [0, 0, 1, 0])
    for result in results:
        small = replace(result, pvalue=float(np.finfo(float).tiny))
        assert "pvalue < 1e-300, " in repr(small)
        assert ["pvalue", "< 1e-300"] in Reader(small._repr_html_()).rows
    # 12 flips of a coin: (1 + 12 + 66 + 220) * 2 / 2^12
    assert repr(results[0]) == (
        "McNemarResult(statistic=6, pvalue=0.14599609375, n_only_a=9, n_only_b=3, "
        "alternative='two-sided', mid_p=False)"
    )
