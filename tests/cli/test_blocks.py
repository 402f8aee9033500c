"""Blocks as text for the terminal and as an HTML page."""

import pytest

from skcalib.cli import _blocks as b


def body(*blocks):
    page = b.as_page("title", blocks)
    return page.partition("</h1>\n")[2].partition("\n</main>")[0]


def test_a_block_is_written_for_the_terminal_and_for_the_page():
    blocks = [
        b.Line("as it is"),
        b.Heading("what to do"),
        b.Paragraph("one two three", "soft", mark="- "),
        b.Table(["name", "n"], [["first", "1"], ["second", "20"]]),
    ]
    assert b.as_text(blocks, width=8) == (
        "as it is\n\nwhat to do\n- one\n  two\n  three\n"
        "name     n\nfirst    1\nsecond  20"
    )
    assert body(*blocks[:3]) == (
        '<h2>What to do</h2>\n<p class="soft">one two three</p>'
    )
    assert '<tr><th scope="row">second</th><td>20</td></tr>' in body(blocks[3])


def test_some_blocks_are_for_the_terminal_or_the_page_only():
    cards = b.Cards([("accuracy", "0.8", "of 10")])
    here, there = b.Line("here"), b.Page([b.Heading("there"), cards])
    assert b.as_text([here, there]) == "here"
    assert body(here, there).startswith("<h2>There</h2>\n<div class")


def test_a_table_that_is_too_wide_loses_columns_and_then_wraps_names():
    rows = [["n" * 30, "1" * 30, "2" * 30], ["short", "3", "4"]]
    lines = b.as_text([b.Table(["name", "left", "right"], rows, spare=[1])]).split("\n")
    assert lines[0].split() == ["name", "right"]
    assert lines[2].split() == ["short", "4"]
    lines = b.as_text([b.Table(["name", "left", "right"], rows)]).split("\n")
    assert max(map(len, lines)) <= 80
    # A name without a place to break stands above its numbers.
    assert [line.split() for line in lines[1:3]] == [["n" * 30], rows[0][1:]]
    rows[0][0] = "high_school_government"
    lines = b.as_text([b.Table(["name", "left", "right"], rows)]).split("\n")
    assert [line.split()[0] for line in lines[1:3]] == ["high_school_", "government"]
    names = ["subject", "system"], ["philosophy", "a_system_with_a_long_name"]
    body = [*names[1], "1" * 30, "2" * 30]
    lines = b.as_text([b.Table([*names[0], "left", "right"], [body])]).split("\n")
    assert lines[-2:] == [
        "philosophy: a_system_with_a_long_name",
        " " * 18 + "  ".join(body[2:]),
    ]


def test_intervals_are_drawn_on_one_scale_where_the_lines_leave_room():
    rows = [["a", "1"], ["b", "2"]]
    ends = [b.Estimate(0.0, -1.0, 1.0), b.Estimate(1.5, 1.0, 1.9)]
    table = b.Table(["name", "n" * 57], rows, intervals=ends)
    lines = b.as_text([table]).split("\n")
    # 80 columns without 63 and two blanks are 15, of which the scale takes 0 to 14.
    assert [line[65:] for line in lines] == [
        "     0",
        "|----o----|",
        " " * 10 + "|-o-|",
    ]
    narrow = b.Table(["name", "n" * 58], rows, intervals=ends)
    assert "o" not in b.as_text([narrow])
    assert b.text_bars([b.Estimate(1, 1, 1)] * 2, 30) == []


def test_p_values_and_decimals_have_one_rule():
    assert b.p_text(0.00009, "p = ") == "p < 0.0001"
    assert b.p_text(0.0001) == "0.0001"
    assert b.p_text(0.0472, "p = ") == "p = 0.047"
    assert b.p_text(0.472) == "0.47"
    assert b.decimals(b.Estimate(0.71, 0.7, 0.72)) == ".3f"
    assert b.decimals(b.Estimate(0.705, 0.7, 0.709)) == ".4f"


def test_marks_of_html_and_control_characters_are_escaped():
    block = b.Paragraph("<b>\x1b[1m")
    assert b.as_text([block]) == r"<b>\x1b[1m"
    assert body(block) == r"<p>&lt;b&gt;\x1b[1m</p>"


def test_names_of_systems_keep_their_letters():
    assert body(b.Heading("gpt", is_name=True)) == "<h2>gpt</h2>"


def test_columns_of_words_are_left_aligned_on_the_page():
    table = b.Table(["a", "b", "c"], [["1", "word", "2"], ["3", "", "+4"]])
    assert '<th scope="col" class="text">b</th><th scope="col">c</th>' in body(table)


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0504, "p = 0.0504"),
        (0.04996, "p = 0.04996"),
        (0.05, "p = 0.05"),
        (0.052, "p = 0.052"),
        (0.0456, "p = 0.046"),
        (0.105, "p = 0.10"),
        (0.00004, "p < 0.0001"),
    ],
)
def test_a_printed_p_value_is_on_its_side_of_five_percent(p, text):
    assert b.p_text(p, "p = ") == text
