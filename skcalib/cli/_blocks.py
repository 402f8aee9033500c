"""What a command says: blocks of the terminal, HTML and Markdown; JSON and CSV.

Each block says how it looks in the terminal (`lines`), on the page (`html`) and in
Markdown. A writer joins the blocks of a list. CSV is safe to open in a spreadsheet
program.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import TextWrapper
from typing import Any, TextIO

from .._errors import printable

# A spreadsheet program runs a cell that begins with one of these as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?[.,]?\d[\d.,]*([eE][+-]?\d+)?\s?%?")

# Marks of Markdown inside a line and at the beginning of a paragraph, and what GitHub
# links.
_MARKS = re.compile(r"[\\`*_\[\]|~$]")
_BEGINNING = re.compile(r"^(\d*)([-+=#.)])")
_LINKS = re.compile(r"[@#](?=\w)|https?:(?=//)|www(?=\.)|GH(?=-\d)|:(?=[\w+-]+:)", re.I)

# The page loads nothing, so that it can be sent as one file.
_STYLE = """
:root { color-scheme: light dark; --ink: #1c2024; --soft: #5b6570; --line: #d5dae0;
  --paper: #ffffff; --card: #f5f7f9; --accent: #1f5fa8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ec; --soft: #a3adb8; --line: #3a424b; --paper: #14171a;
    --card: #1e2328; --accent: #7fb2ee; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 60rem; color: var(--ink);
  background: var(--paper); font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem;
  overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
p { margin: .5rem 0; max-width: 44rem; overflow-wrap: anywhere; }
.verdict { font-size: 1.15rem; border-left: .25rem solid var(--accent);
  padding: .25rem 0 .25rem .75rem; margin: 1rem 0; }
.soft { color: var(--soft); font-size: .875rem; }
.numbers { display: grid; gap: .75rem; margin: 1rem 0;
  grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); }
.numbers div { background: var(--card); border-radius: .5rem; padding: .75rem; }
.numbers b { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums;
  font-size: .9375rem; min-width: 20rem; }
caption { text-align: left; color: var(--soft); padding-bottom: .25rem; }
th, td { padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line);
  text-align: right; vertical-align: top; }
th:first-child, td:first-child, th.text, td.text { text-align: left; }
td { white-space: nowrap; }
td:first-child, td.text { overflow-wrap: anywhere; white-space: normal;
  min-width: 6.5rem; }
td:first-child { min-width: 7rem; }
figure { margin: 1rem 0; background: #ffffff; border-radius: .5rem; padding: .5rem;
  max-width: 34rem; }
figure svg { display: block; width: 100%; height: auto; }
@media (max-width: 30rem) { table { font-size: .75rem; }
  th, td { padding-right: .375rem; }
  td:first-child { min-width: 4.5rem; }
  td.text { min-width: 3.5rem; } }
@media print { :root { --ink: #000; --soft: #444; --line: #bbb; --paper: #fff;
    --card: #f2f2f2; --accent: #1f5fa8; }
  figure { break-before: avoid; }
  body { max-width: none; padding: 0; }
  h2 { break-after: avoid; } tr, figure, .numbers div { break-inside: avoid; }
  .scroll { overflow: visible; } }
"""


class Block:
    """A part of what a command says. Where it is not overridden, it is left out."""

    def lines(self, wrapper: TextWrapper) -> list[str]:
        """Return the lines for the terminal."""
        return []

    def html(self) -> str:
        """Return the element of the page."""
        return ""

    def markdown(self) -> str:
        """Return the paragraph or table of a Markdown file."""
        return ""


@dataclass(frozen=True)
class Line(Block):
    """A line of the terminal, which is not wrapped."""

    text: str = ""

    def lines(self, wrapper: TextWrapper) -> list[str]:
        return [self.text]


@dataclass(frozen=True)
class Heading(Block):
    """A heading, which begins with a capital on the page unless it is a name."""

    text: str
    is_name: bool = False

    def lines(self, wrapper: TextWrapper) -> list[str]:
        return ["", printable(self.text)]

    def html(self) -> str:
        first = self.text[:1] if self.is_name else self.text[:1].upper()
        return f"<h2>{_safe(first + self.text[1:])}</h2>"

    def markdown(self) -> str:
        return f"### {_marked(self.text)}"


@dataclass(frozen=True)
class Paragraph(Block):
    """Sentences, on the page of the class 'verdict' or 'soft', or of none.

    In the terminal, they begin with the text `mark`, and further lines are indented.
    """

    text: str
    kind: str = ""
    mark: str = ""

    def lines(self, wrapper: TextWrapper) -> list[str]:
        # textwrap takes indents from the wrapper, and not with the text.
        wrapper.initial_indent = self.mark
        wrapper.subsequent_indent = " " * len(self.mark)
        return wrapper.wrap(printable(self.text))

    def html(self) -> str:
        attribute = f' class="{self.kind}"' if self.kind else ""
        return f"<p{attribute}>{_safe(self.text)}</p>"

    def markdown(self) -> str:
        text = _BEGINNING.sub(r"\1\\\2", _marked(self.text.strip()))
        return f"**{text}**" if self.kind == "verdict" else text


def listed(sentences: Iterable[str]) -> list[Block]:
    """Return a paragraph for each text, after a hyphen in the terminal."""
    return [Paragraph(each, mark="- ") for each in sentences]


@dataclass(frozen=True)
class Cards(Block):
    """Cards of the page with one number each: name, number and remark."""

    cards: Sequence[tuple[str, str, str]]

    def html(self) -> str:
        cards = "".join(
            f"<div>{_safe(name)}<b>{_safe(number)}</b>"
            f'<span class="soft">{_safe(remark)}</span></div>'
            for name, number, remark in self.cards
        )
        return f'<div class="numbers">{cards}</div>'

    def markdown(self) -> str:
        return Table(["measure", "value", "remark"], self.cards).markdown()


@dataclass(frozen=True)
class Table(Block):
    """A table of texts. On the page, the first column and words are left-aligned."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    mark: str = ""

    def lines(self, wrapper: TextWrapper) -> list[str]:
        found = text_columns([self.header, *self.rows] if self.header else self.rows)
        return [self.mark + line for line in found]

    def html(self) -> str:
        # Numbers are compared by their right end, words are read from the left.
        kinds = [
            ' class="text"' if k > 0 and _is_text([row[k] for row in self.rows]) else ""
            for k in range(len(self.header))
        ]

        def line(cells: Sequence[str], tag: str) -> str:
            inside = "".join(
                f"<{tag}{kind}>{_safe(cell)}</{tag}>"
                for cell, kind in zip(cells, kinds, strict=True)
            )
            return f"<tr>{inside}</tr>"

        body = "".join(line(row, "td") for row in self.rows)
        return (
            f'<div class="scroll"><table><thead>{line(self.header, "th")}</thead>'
            f"<tbody>{body}</tbody></table></div>"
        )

    def markdown(self) -> str:
        lines = [self.header, ["---", *["---:"] * (len(self.header) - 1)], *self.rows]
        return "\n".join(f"| {' | '.join(map(_marked, line))} |" for line in lines)


@dataclass(frozen=True)
class Figure(Block):
    """A figure of the page: an SVG of skcalib, and words for screen readers."""

    svg: str
    description: str

    def html(self) -> str:
        # matplotlib writes an XML declaration and a doctype before the element.
        inside = self.svg[self.svg.index("<svg") :]
        label = _safe(self.description)
        return f'<figure role="img" aria-label="{label}">{inside}</figure>'


@dataclass(frozen=True)
class Terminal(Block):
    """Blocks that the page leaves out."""

    blocks: Iterable[Block]

    def lines(self, wrapper: TextWrapper) -> list[str]:
        return [line for block in self.blocks for line in block.lines(wrapper)]


@dataclass(frozen=True)
class Page(Block):
    """Blocks that the terminal leaves out."""

    blocks: Iterable[Block]

    def html(self) -> str:
        return "\n".join(filter(None, (block.html() for block in self.blocks)))


def as_text(blocks: Iterable[Block], **wrapping: Any) -> str:
    """Return the text for the terminal; `wrapping` are settings of textwrap."""
    # All blocks are made before the first one is written.
    whole = Terminal(list(blocks))
    return "\n".join(whole.lines(TextWrapper(**{"width": 78} | wrapping)))


def as_page(title: str, blocks: Iterable[Block]) -> str:
    """Return a self-contained HTML page.

    Marks of HTML and control characters in texts are escaped.
    """
    title = _safe(title)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{title}</h1>\n{Page(blocks).html()}\n</body>\n</html>\n"
    )


def as_markdown(title: str, blocks: Iterable[Block]) -> str:
    """Return Markdown of GitHub, in which marks, names and links are escaped."""
    parts = [f"## {_marked(title)}", *(block.markdown() for block in blocks)]
    return "\n\n".join(filter(None, parts)) + "\n"


def as_json(found: Any) -> str:
    """Return the numbers of a command as JSON, which has no NaN."""
    return json.dumps(found, indent=2, allow_nan=False)


def estimate_of(found: Any) -> dict[str, float]:
    """Return the object of an estimate with its interval."""
    return {name: getattr(found, name) for name in ("estimate", "low", "high")}


def as_csv(names: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    """Return the named columns of some rows as CSV."""
    text = io.StringIO()
    write_rows(text, [names, *([row.get(name) for name in names] for row in rows)])
    return text.getvalue()


def write_rows(
    file: TextIO, rows: Iterable[Sequence[Any]], delimiter: str = ","
) -> None:
    """Write rows of texts and numbers; None is an empty cell."""
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    for row in rows:
        # Python writes numbers with all digits.
        writer.writerow([as_cell(c) if isinstance(c, str) else c for c in row])


def as_cell(text: str) -> str:
    """Return a text as a cell: a formula after an apostrophe, no control characters.

    Line feeds and tabs within a text are kept.
    """
    cell = printable(text.replace("\r\n", "\n"), keep="\n\t")
    is_formula = text.startswith(_FORMULA) and not _NUMBER.fullmatch(text)
    return f"'{cell}" if is_formula else cell


def text_columns(rows: Iterable[Iterable[str]], *, is_left: bool = False) -> list[str]:
    """Return rows of cells as lines.

    The first column is left-aligned, and with `is_left` all of them.
    """
    safe = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*safe, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if is_left or k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in safe
    ]


def percent(level: float) -> str:
    """Return a confidence level in percent."""
    return f"{100 * level:g}%"


def ends(row: dict[str, Any], digits: str) -> str:
    """Return both ends of an interval."""
    return f"{row['low']:{digits}} to {row['high']:{digits}}"


def bracketed(row: dict[str, Any], digits: str = ".4f") -> str:
    """Return both ends of an interval in brackets."""
    return f"[{row['low']:{digits}}, {row['high']:{digits}}]"


def svg_of(figure: Any, **settings: Any) -> str:
    """Return a figure of matplotlib as the text of an SVG file."""
    text = io.StringIO()
    figure.savefig(text, format="svg", **settings)
    return text.getvalue()


def _is_text(cells: list[str]) -> bool:
    """Return whether most cells with a text do not begin with a number."""
    is_word = [not cell.lstrip("+-<> ")[:1].isdigit() for cell in cells if cell]
    return 2 * sum(is_word) > len(is_word)


def _safe(text: str) -> str:
    return escape(printable(text))


def _marked(text: str) -> str:
    """Return a text for Markdown, without marks, mentions, references and links."""
    text = _MARKS.sub(r"\\\g<0>", escape(printable(text), quote=False))
    # A space of no width keeps GitHub from linking a name, a number or an address.
    return _LINKS.sub(r"\g<0>&#8203;", text)
