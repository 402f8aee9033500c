"""One self-contained page with text, tables and a figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from .._errors import printable

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


class Page:
    """A page that is built from top to bottom.

    Marks of HTML and control characters in texts are escaped.
    """

    def __init__(self, title: str):
        self._title = title
        self._parts: list[str] = []

    def heading(self, text: str) -> None:
        """Add a heading."""
        self._parts.append(f"<h2>{_safe(text)}</h2>")

    def paragraph(self, text: str, kind: str = "") -> None:
        """Add a paragraph, optionally of the class 'verdict' or 'soft'."""
        attribute = f' class="{_safe(kind)}"' if kind else ""
        self._parts.append(f"<p{attribute}>{_safe(text)}</p>")

    def numbers(self, named: Iterable[tuple[str, str, str]]) -> None:
        """Add cards with one number each: name, number and remark."""
        cards = "".join(
            f"<div>{_safe(name)}<b>{_safe(number)}</b>"
            f'<span class="soft">{_safe(remark)}</span></div>'
            for name, number, remark in named
        )
        self._parts.append(f'<div class="numbers">{cards}</div>')

    def table(
        self, header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = ""
    ) -> None:
        """Add a table. The first column and columns of words are left-aligned."""
        body = [list(row) for row in rows]
        is_text = [
            k > 0 and _is_text([row[k] for row in body if row[k]])
            for k in range(len(header))
        ]

        def line(cells: Sequence[str], tag: str) -> str:
            inside = "".join(
                _cell(tag, text, cell)
                for cell, text in zip(cells, is_text, strict=True)
            )
            return f"<tr>{inside}</tr>"

        head = f"<caption>{_safe(caption)}</caption>" if caption else ""
        head += f"<thead>{line(header, 'th')}</thead>"
        inner = "".join(line(row, "td") for row in body)
        self._parts.append(
            f'<div class="scroll"><table>{head}<tbody>{inner}</tbody></table></div>'
        )

    def figure(self, svg: str, description: str) -> None:
        """Add a figure: an SVG of skcalib, and a description for screen readers."""
        inside = svg[svg.index("<svg") :]
        self._parts.append(
            f'<figure role="img" aria-label="{_safe(description)}">{inside}</figure>'
        )

    def __str__(self) -> str:
        title = _safe(self._title)
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
            f"<h1>{title}</h1>\n" + "\n".join(self._parts) + "\n</body>\n</html>\n"
        )


def _is_text(cells: list[str]) -> bool:
    """Return whether most cells of a column do not begin with a number."""
    n = sum(not cell.lstrip("+-<> ")[:1].isdigit() for cell in cells)
    return 2 * n > len(cells)


def _cell(tag: str, is_text: bool, content: str) -> str:
    attribute = ' class="text"' if is_text else ""
    return f"<{tag}{attribute}>{_safe(content)}</{tag}>"


def _safe(text: str) -> str:
    return escape(printable(text))
