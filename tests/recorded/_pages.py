"""Figures and HTML pages as text: their numbers and their content in order."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

# Numbers of a figure are shown with four digits, and this many points of a line.
_DIGITS = 4
_N_POINTS = 12


def save_description(figure: Any, target: Any, **options: Any) -> None:
    """Write what a figure shows instead of the figure: `Figure.savefig` of the runs."""
    text = "\n".join(describe(figure))
    if hasattr(target, "write"):  # an SVG inside a page
        inside = text.replace("<", "&lt;")
        target.write(f'<svg width="240pt">{inside}</svg>')
    else:
        Path(target).write_text(text, "utf-8")


def describe(figure: Any) -> Iterator[str]:
    width, height = figure.get_size_inches()
    yield f"figure of {width:.1f} x {height:.1f} inches"
    for axes in [each for outer in figure.axes for each in (outer, *outer.child_axes)]:
        named = {
            "title": axes.get_title(),
            "x": axes.get_xlabel(),
            "y": axes.get_ylabel(),
        }
        yield f"axes { ({key: text for key, text in named.items() if text}) }"
        legend = axes.get_legend()
        if legend is not None:
            yield f"legend {[text.get_text() for text in legend.get_texts()]}"
        texts = [text.get_text() for text in axes.texts]
        if texts:
            yield f"texts {texts}"
        for line in axes.lines:
            yield points("line", np.array(line.get_xydata(), float))
        for patch in axes.patches:
            outline = patch.get_patch_transform().transform(patch.get_path().vertices)
            yield points("patch", outline)
        for collection in axes.collections:
            yield from described_collection(collection)


def described_collection(collection: Any) -> Iterator[str]:
    # Older versions of matplotlib do not have the class of bands.
    kind = type(collection).__name__.removeprefix("FillBetween")
    offsets = np.ma.getdata(collection.get_offsets())
    if offsets.any():
        yield points(kind, offsets)
    else:
        found = [path.vertices for path in collection.get_paths()]
        yield points(kind, np.concatenate(found) if found else np.empty((0, 2)))


def points(kind: str, xy: np.ndarray) -> str:
    pairs = [f"{x:.{_DIGITS}g},{y:.{_DIGITS}g}" for x, y in xy[:_N_POINTS]]
    if len(xy) > _N_POINTS:
        x, y = np.nansum(xy, axis=0)
        pairs.append(f"... of {len(xy)}, sum {x:.{_DIGITS}g},{y:.{_DIGITS}g}")
    return " ".join([kind, *pairs])


class PageText(HTMLParser):
    """Collect the text of a page in order: one line a block, cells between bars."""

    _BLOCKS = frozenset(
        ["title", "h1", "h2", "h3", "p", "div", "li", "tr", "caption", "figure", "svg"]
    )
    _MARKS = {"title": "title: ", "h1": "# ", "h2": "## ", "h3": "### ", "li": "- "}

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = [""]
        self._silent = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in self._BLOCKS:
            self.lines.append(self._MARKS.get(tag, ""))
        if tag in ("td", "th", "b"):
            self.lines[-1] += " " if tag == "b" else "| "
        self._silent = tag == "style" or tag == "script"
        label = given.get("alt") or given.get("aria-label")
        if label:
            self.lines += [f"[{given.get('role') or tag}: {label}]", ""]
        if given.get("href"):
            self.lines[-1] += f"<{given['href']}> "

    def handle_endtag(self, tag: str) -> None:
        self._silent = False
        if tag in self._BLOCKS:
            self.lines.append("")
        if tag in ("td", "th", "b", "span"):
            self.lines[-1] += " "

    def handle_data(self, data: str) -> None:
        if not self._silent:
            first, *rest = data.split("\n")
            self.lines[-1] += first
            self.lines += rest


def page_text(html: str) -> str:
    parser = PageText()
    parser.feed(html)
    lines = (re.sub(r"\s+", " ", line).strip() for line in parser.lines)
    return "\n".join(line for line in lines if line)
