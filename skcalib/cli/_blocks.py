"""What a command says: blocks of the terminal, HTML and Markdown; JSON and CSV.

Each block says how it looks in the terminal (`lines`), on the page (`html`) and in
Markdown. A writer joins the blocks of a list. CSV is safe to open in a spreadsheet
program.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from argparse import Namespace
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from html import escape
from importlib.resources import files
from itertools import takewhile
from textwrap import TextWrapper, wrap
from typing import Any, NamedTuple, Protocol, TextIO

from .._errors import printable
from .._results import Result
from ..plot._style import INK
from ..rates._judged import JudgedAccuracy, JudgedDifference
from ._shared import write_text

# A spreadsheet program runs a cell that begins with one of these as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?[.,]?\d[\d.,]*([eE][+-]?\d+)?\s?%?")

# Marks of Markdown inside a line and at the beginning of a paragraph, and what GitHub
# links.
_MARKS = re.compile(r"[\\`*_\[\]|~$]")
_BEGINNING = re.compile(r"^(\d*)([-+=#.)])")
_LINKS = re.compile(r"[@#](?=\w)|https?:(?=//)|www(?=\.)|GH(?=-\d)|:(?=[\w+-]+:)", re.I)

# Columns of a terminal.
WIDTH = 80

# Smaller p-values are not printed.
_LEAST_P_VALUE = 0.0001

# Columns of a name that stands on a line of its own, above the numbers of its row.
_INDENT = 2

# Columns of an interval that is drawn as text.
_LEAST_BAR, _WIDEST_BAR = 15, 30

# Narrower intervals than this need a fourth decimal.
_NARROW = 0.01


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
    level: int = 2

    def lines(self, wrapper: TextWrapper) -> list[str]:
        return ["", printable(self.text)]

    def html(self) -> str:
        text = self.text if self.is_name else _capital(self.text)
        return f"<h{self.level}>{_safe(text)}</h{self.level}>"

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


@dataclass(frozen=True)
class Steps(Block):
    """What to do now, as a list of sentences under its heading."""

    sentences: Sequence[str]
    level: int = 2

    def _heading(self) -> Heading:
        return Heading("what to do now", level=self.level)

    def lines(self, wrapper: TextWrapper) -> list[str]:
        items = [Paragraph(each, mark="- ").lines(wrapper) for each in self.sentences]
        return sum(items, self._heading().lines(wrapper))

    def html(self) -> str:
        items = "".join(f"<li>{_safe(each)}</li>" for each in self.sentences)
        return f"{self._heading().html()}\n<ul>{items}</ul>"

    def markdown(self) -> str:
        return "\n".join(f"- {_marked(each)}" for each in self.sentences)


@dataclass(frozen=True)
class Cards(Block):
    """Cards of the page with one number each: name, number and remark."""

    cards: Sequence[Sequence[str]]

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
    """A table of texts. On the page, the first column and words are left-aligned.

    In the terminal, the columns `spare` are left out one after the other until the
    lines fit, and then names are wrapped or stand above their numbers. The `intervals`
    of the rows are drawn where the lines leave room.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    spare: Sequence[int] = ()
    is_left: bool = False
    intervals: Sequence[Estimate] = ()

    def lines(self, wrapper: TextWrapper) -> list[str]:
        rows = [self.header, *self.rows] if self.header else self.rows
        for n in range(len(self.spare) + 1):
            left_out = self.spare[:n]
            kept = [[c for k, c in enumerate(r) if k not in left_out] for r in rows]
            found = text_columns(kept, is_left=self.is_left)
            widest = max(map(len, found))
            if widest <= WIDTH:
                bars = text_bars(self.intervals, WIDTH - widest - 2)
                pairs = zip(found, bars or [""] * len(found), strict=True)
                return [f"{line:{widest}}  {bar}".rstrip() for line, bar in pairs]
        columns = list(zip(*kept[bool(self.header) :], strict=True))
        n_names = 1 + sum(1 for _ in takewhile(_is_text, columns[1:]))
        return text_columns(kept, is_left=self.is_left, width=WIDTH, n_names=n_names)

    def html(self) -> str:
        # Numbers are compared by their right end, words are read from the left.
        columns = zip(*self.rows, strict=True)
        kinds = [
            ' class="text"' * (k > 0 and (self.is_left or _is_text(cells)))
            for k, cells in enumerate(columns)
        ]

        def line(cells: Sequence[str], tag: str, scope: str) -> str:
            tags = [(f'th scope="{scope}"', "th"), *[(tag, tag[:2])] * (len(cells) - 1)]
            inside = "".join(
                f"<{start}{kind}>{_safe(cell)}</{end}>"
                for cell, kind, (start, end) in zip(cells, kinds, tags, strict=True)
            )
            return f"<tr>{inside}</tr>"

        head = line(self.header, 'th scope="col"', "col")
        body = "".join(line(row, "td", "row") for row in self.rows)
        # A table that is wider than its place is scrolled with the keyboard.
        return (
            '<div class="scroll" role="group" aria-label="table" tabindex="0">'
            f"<table><thead>{head}</thead><tbody>{body}</tbody></table></div>"
        )

    def markdown(self) -> str:
        lines = [self.header, ["---", *["---:"] * (len(self.header) - 1)], *self.rows]
        return "\n".join(f"| {' | '.join(map(_marked, line))} |" for line in lines)


@dataclass(frozen=True)
class Figure(Block):
    """A figure of the page: an SVG of skcalib, and words for screen readers."""

    svg: str
    description: str

    @property
    def rem(self) -> float:
        """Width at which texts of the figure and of the page are equally large."""
        found = re.search(r'<svg[^>]* width="([\d.]+)pt"', self.svg)
        assert found is not None
        return float(found[1]) / 8

    def html(self) -> str:
        # matplotlib writes an XML declaration and a doctype before the element. On a
        # phone, the figure shrinks to half of its width at most, and can be scrolled.
        inside = self.svg[self.svg.index("<svg") + 4 :]
        width = f"width: {self.rem:.0f}rem; max-width: max(100%, {self.rem / 2:.0f}rem)"
        inside = re.sub(' width="[\\d.]+pt"', "", inside, count=1)
        label = _safe(self.description)
        figure = f'<svg style="{width}"{inside}'
        return f'<figure role="img" aria-label="{label}">{figure}</figure>'


@dataclass(frozen=True)
class Page(Block):
    """Blocks that the terminal leaves out."""

    blocks: Iterable[Block]

    def html(self) -> str:
        return "\n".join(filter(None, (block.html() for block in self.blocks)))


@dataclass(frozen=True)
class Beside(Page):
    """Blocks of the page that stand beside each other, if the screen is wide enough.

    The class 'beside' is for a figure and its table, and 'wide' for results and advice,
    which need a wider screen. A figure with several columns stands above its table.
    """

    kind: str = "beside"

    def html(self) -> str:
        blocks = list(self.blocks)
        # Blocks of the terminal have no HTML.
        found = list(filter(None, (block.html() for block in blocks)))
        above = any(isinstance(block, Figure) and block.rem > 45 for block in blocks)
        if above or len(found) < 2:
            return "".join(found)
        columns = "".join(f"<div>{each}</div>" for each in found)
        return f'<div class="{self.kind}">{columns}</div>'


@dataclass(frozen=True)
class Folded(Page):
    """Blocks of the page that a click on their title shows."""

    title: str

    def html(self) -> str:
        title = f"<summary>{_safe(_capital(self.title))}</summary>"
        return f"<details>{title}\n{super().html()}\n</details>"


def as_text(blocks: Iterable[Block], **wrapping: Any) -> str:
    """Return the text for the terminal; `wrapping` are settings of textwrap."""
    wrapper = TextWrapper(**{"width": 78} | wrapping)
    return "\n".join(line for block in blocks for line in block.lines(wrapper))


def as_page(title: str, blocks: Iterable[Block]) -> str:
    """Return a self-contained HTML page.

    Marks of HTML and control characters in texts are escaped.
    """
    title = _safe(title)
    # Inside the page, which can be sent as one file.
    style = (files(__package__) / "page.css").read_text("utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{title}</h1>\n{Page(blocks).html()}\n</main>\n</body>\n</html>\n"
    )


def as_markdown(title: str, blocks: Iterable[Block]) -> str:
    """Return Markdown of GitHub, in which marks, names and links are escaped."""
    parts = [f"## {_marked(title)}", *(block.markdown() for block in blocks)]
    return "\n\n".join(filter(None, parts)) + "\n"


def write_pages(
    options: Namespace, title: str, brief: Iterable[Block], page: Iterable[Block]
) -> None:
    """Write the files of --markdown and --html."""
    if options.markdown is not None:
        write_text(options.markdown, as_markdown(title, brief))
    if options.html is not None:
        write_text(options.html, as_page(title, page))


def as_json(found: Any) -> str:
    """Return the numbers of a command as JSON.

    Arrays of results are left out, and so are the fields of a dataclass that have their
    default. An underscore at the end of a field allows names such as `from_`.
    """
    # NaN is not valid JSON, and other programs reject it.
    return json.dumps(plain(found), indent=2, allow_nan=False)


# Metadata of a field of a dataclass whose own fields are written in its place. If the
# field is None, the names in "otherwise" are written with null.
INSIDE: dict[str, Sequence[str]] = {"otherwise": ()}


def plain(value: Any) -> Any:
    """Return a result as objects of JSON."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None  # JSON has no NaN
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Result):
        found = value.to_dict().items()
        # Arrays have a number for each answer, which a summary leaves out.
        value = {name: each for name, each in found if not isinstance(each, list)}
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return _named(value) if is_dataclass(value) else value


def _named(value: Any) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for one in fields(value):
        each = getattr(value, one.name)
        if one.metadata and each is None:
            named |= dict.fromkeys(one.metadata["otherwise"])
        elif one.metadata:
            named |= plain(each)
        elif one.default is MISSING or each is not one.default:
            named[one.name.rstrip("_")] = plain(each)
    return named


class Estimate(NamedTuple):
    """An estimate and the ends of its interval."""

    estimate: float
    low: float
    high: float


def estimate_of(found: Any) -> Estimate:
    """Return the estimate of a result with its interval."""
    return Estimate(found.estimate, found.low, found.high)


class Interval(Protocol):
    """A result with the ends of its interval."""

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...


class Estimated(Interval, Protocol):
    """A result with an estimate and the ends of its interval."""

    @property
    def estimate(self) -> float: ...


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
    # A number such as -0.5 begins like a formula, and stays a number.
    is_formula = text.startswith(_FORMULA) and not _NUMBER.fullmatch(text)
    return f"'{cell}" if is_formula else cell


def text_columns(
    rows: Iterable[Sequence[str]],
    *,
    is_left: bool = False,
    width: int | None = None,
    n_names: int = 1,
) -> list[str]:
    """Return rows of cells as lines.

    The first column is left-aligned, and with `is_left` all of them. If lines would be
    longer than `width`, the first `n_names` columns are joined and wrapped.
    """
    # Control characters of a file could change the terminal.
    safe = [[printable(cell) for cell in row] for row in rows]
    if width is not None:
        safe = [[": ".join(row[:n_names]), *row[n_names:]] for row in safe]
    widths = [max(map(len, column)) for column in zip(*safe, strict=True)]
    if width is not None:
        rest = sum(widths[1:]) + 2 * len(widths[1:])
        # Numbers are never wrapped: the name gets the columns that they leave.
        widths[0] = min(widths[0], max(width - rest, _INDENT))
    lines = []
    for first, *others in safe:
        *more, last = _wrapped(first, widths[0])
        lines += more
        cells = [last, *others]
        lines.append(
            "  ".join(
                cell.ljust(width) if is_left or k == 0 else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
            ).rstrip()
        )
    return lines


def _wrapped(name: str, width: int) -> list[str]:
    """Return a name in two pieces that end at blanks, hyphens or underscores.

    If its pieces are longer or more than two, it has lines of its own, and the last
    piece is empty.
    """
    if len(name) <= width:
        return [name]
    for most, end in ((width, []), (WIDTH, [""])):
        # textwrap breaks lines at blanks and hyphens, and not at underscores.
        pieces = wrap(name.replace("_", "_ "), most, break_long_words=False)
        pieces = [piece.replace("_ ", "_") for piece in pieces] + end
        is_short = len(pieces) == 2 and max(map(len, pieces)) <= width
        if end or (is_short and not pieces[0].endswith(":")):
            break
    return pieces


def text_bars(intervals: Sequence[Estimate], room: int) -> list[str]:
    """Return intervals as text on one scale, after a line that marks 0 on the scale.

    No lines are returned for fewer than two intervals, or if there is too little room.
    """
    ends = [each[1:] for each in intervals]
    low, high = min(ends, default=(0, 0))[0], max((e[1] for e in ends), default=0)
    if len(ends) < 2 or room < _LEAST_BAR or not low < high:
        return []
    last = min(room, _WIDEST_BAR) - 1

    def column(value: float) -> int:
        return round(last * (value - low) / (high - low))

    lines = [" " * column(0) + "0" if low <= 0 <= high else ""]
    for value, *limits in intervals:
        first, end = map(column, limits)
        bar = [" "] * first + ["-"] * (end - first + 1)
        bar[first] = bar[end] = "|"
        # After the ends, so that an estimate at an end is seen.
        bar[column(value)] = "o"
        lines.append("".join(bar))
    return lines


def decimals(row: Interval) -> str:
    """Return the format of the numbers of a report, whose main interval is `row`."""
    return ".3f" if row.high - row.low >= _NARROW else ".4f"


# With fewer units, the width of an interval is not proportional to 1 / sqrt(n).
ENOUGH_FOR_MORE = 10

# Whoever looks after every batch, and stops at p < .05, rejects true hypotheses often.
ONE_LOOK = (
    "Choose the number before you see new results: p-values and intervals are for one "
    "planned look at the data."
)


def more_units(
    row: Estimated, count: int, what: str, of: str = "", why: str = ""
) -> str:
    """Return how many more units halve the width of an interval; "" for few units."""
    # At its ends, the width of the interval is proportional to 1 / n.
    factor = 2 if row.estimate in (row.low, row.high) else 4
    return (
        f"To halve the width of the interval{of}, collect about "
        f"{(factor - 1) * count:,} more {what}: {factor * count:,} in all.{why} "
        f"{ONE_LOOK}"
    ) * (count >= ENOUGH_FOR_MORE)


def more_labels(found: JudgedAccuracy | JudgedDifference, what: str) -> str:
    """Return how many labels halve the width of the interval of a judge's scores."""
    if found.n_labelled == found.n_items:
        return (
            f"All {found.n_items:,} {what} have a label. A narrower interval needs "
            f"more {what}. {ONE_LOOK}"
        )
    needed = found.labels_for_width((found.high - found.low) / 2)
    how = f"To halve the width of the interval, let people label about {needed:,.0f} "
    how += f"{what} in all"
    if math.isinf(needed):
        how = (
            "Labels alone cannot halve the width of the interval: it also needs more "
            f"{what}. To shorten it, let people label more {what}"
        )
    return (
        f"More scores of the judge do not correct its errors. {how}: "
        f"{found.n_labelled:,} of {found.n_items:,} have a label. {ONE_LOOK}"
    )


def p_text(p: float, before: str = "") -> str:
    """Return a p-value after the text `before`, such as "p = "."""
    if p < _LEAST_P_VALUE:
        return f"{before.rstrip(' =')} < {_LEAST_P_VALUE}".lstrip()
    if p >= 0.1:
        return f"{before}{p:.2f}"
    # A rounded number is on the same side of .05 as the p-value.
    texts = (f"{p:.{digits}g}" for digits in range(2, 18))
    is_above = p > 0.05, p >= 0.05
    same = (t for t in texts if (float(t) > 0.05, float(t) >= 0.05) == is_above)
    return before + next(same)


def percent(level: float) -> str:
    """Return a confidence level in percent."""
    return f"{100 * level:g}%"


def number(value: float, digits: str) -> str:
    """Return a number as text, and "none" for NaN."""
    return "none" if math.isnan(value) else f"{value:{digits}}"


def ends(row: Interval, digits: str) -> str:
    """Return both ends of an interval, and "none" if they are NaN."""
    low, high = number(row.low, digits), number(row.high, digits)
    return low if math.isnan(row.low) else f"{low} to {high}"


def error_ends(row: Interval, digits: str = ".3f") -> str:
    """Return both ends of an interval of a calibration error or a proportion.

    The lower end is "above 0" if the interval excludes 0 and the digits do not show it.
    """
    if row.low > 0 == float(f"{row.low:{digits}}"):
        return f"above 0 to {row.high:{digits}}"
    return ends(row, digits)


def cells_of(row: Estimated | None, digits: str) -> list[str]:
    """Return an estimate and its interval as cells, which are empty for None."""
    if row is None:
        return ["", ""]
    return [number(row.estimate, digits), ends(row, digits)]


def figures(figure: Any, description: str) -> list[Block]:
    """Return a figure of matplotlib as a block, and no block for None."""
    if figure is None:
        return []
    return [Figure(svg_of(figure, dpi=150, bbox_inches="tight"), description)]


def svg_of(figure: Any, **settings: Any) -> str:
    """Return a figure of matplotlib as the text of an SVG file."""
    text = io.StringIO()
    # The page is light or dark, as the reader has chosen.
    figure.savefig(text, format="svg", transparent=True, **settings)
    # Text, axes and hollow markers have the colours of the page, which may be dark.
    svg = text.getvalue().replace(INK, "var(--ink)")
    return svg.replace("#ffffff", "var(--paper)")


def _is_text(cells: Iterable[str]) -> bool:
    """Return whether most cells with a text do not begin with a number."""
    is_word = [not cell.lstrip("+-<> ")[:1].isdigit() for cell in cells if cell]
    return 2 * sum(is_word) > len(is_word)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _safe(text: str) -> str:
    return escape(printable(text))


def _marked(text: str) -> str:
    """Return a text for Markdown, without marks, mentions, references and links."""
    text = _MARKS.sub(r"\\\g<0>", escape(printable(text), quote=False))
    # A space of no width keeps GitHub from linking a name, a number or an address.
    return _LINKS.sub(r"\g<0>&#8203;", text)
