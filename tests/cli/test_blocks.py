"""Blocks as text for the terminal and as an HTML page."""

from skcalib.cli import _blocks as b


def body(*blocks):
    page = b.as_page("title", blocks)
    return page.partition("</h1>\n")[2].partition("\n</body>")[0]


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
    assert "<tr><td>second</td><td>20</td></tr>" in body(blocks[3])


def test_some_blocks_are_for_the_terminal_or_the_page_only():
    cards = b.Cards([("accuracy", "0.8", "of 10")])
    here, there = b.Terminal([b.Heading("here")]), b.Page([b.Heading("there"), cards])
    assert b.as_text([here, there]) == "\nhere"
    assert body(here, there).startswith("<h2>There</h2>\n<div class")


def test_marks_of_html_and_control_characters_are_escaped():
    block = b.Paragraph("<b>\x1b[1m")
    assert b.as_text([block]) == r"<b>\x1b[1m"
    assert body(block) == r"<p>&lt;b&gt;\x1b[1m</p>"


def test_names_of_systems_keep_their_letters():
    assert body(b.Heading("gpt", is_name=True)) == "<h2>gpt</h2>"


def test_columns_of_words_are_left_aligned_on_the_page():
    table = b.Table(["a", "b", "c"], [["1", "word", "2"], ["3", "", "+4"]])
    assert '<th class="text">b</th><th>c</th>' in body(table)
