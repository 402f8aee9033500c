"""``skcalib count``: a count in a corpus, corrected by labelled documents."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from .._errors import printable
from ..counts._corrected_count import NOT_A_SAMPLE
from ..plot import _style
from . import _blocks as out
from ._corpus import Corpus, design_path, proposed, read_corpus
from ._count_numbers import measure
from ._options import reject
from ._runs import safe_stem
from ._shared import (
    CommandError,
    check_files,
    check_level,
    exclude,
    say,
)

# Options that act on the labels, or on the correction by them.
_OF_LABELS = (
    *("pos_label", "inclusion", "strata", "groups", "size"),
    *("date", "by", "trend"),
)

# If a warning contains one of these phrases, the interval may be invalid.
_DOUBTS = (NOT_A_SAMPLE, "interval is not valid", "add up to")

# Number of labels of 0 or 1 from which a model usually improves on labels alone.
_FEW_LABELS = 50

# Panels of a figure; of more groups, those with the largest counts are drawn.
_MOST_LINES = 6
# Names of periods at the axis.
_MOST_TICKS = 12

_CORRECTED = "corrected"
_ALONE = "labels alone"
_UNCORRECTED = "model alone"
_NO_INTERVAL = "no valid interval"


def run_count(options: Namespace) -> None:
    """Print the count, write its table, draw it and write its page."""
    _check_options(options)
    corpus = read_corpus(options)
    _check_used(corpus, options)
    count = Count(measure(corpus, options), options)
    print(out.as_json(count.found) if options.json else out.as_text(count.printed()))
    sys.stdout.flush()
    if options.csv is not None:
        options.csv.write_text(count.csv(), "utf-8")
    if options.html is not None:
        svg = None
        if "period" in count.columns:
            _say_what_is_drawn(count)
            svg = out.svg_of(figure_of(count))
        blocks = count.page(svg)
        page = out.as_page(f"Corrected count: {count.found['file']}", blocks)
        options.html.write_text(page, "utf-8")
    written = {"table": options.csv, "page": options.html}
    lines = [
        f"{name}: {printable(str(path))}" for name, path in written.items() if path
    ]
    if lines and not options.json:
        print("", *lines, sep="\n")


def _say_what_is_drawn(count: Count) -> None:
    n = len(count.largest())
    if n > _MOST_LINES:
        largest = f"{_MOST_LINES} largest of the {n} values of {count.found['by']!r}"
        say("count", f"the figure shows the {largest}.")


def check_dates(options: Namespace) -> None:
    """Raise if options of dates are given without dates; set the default of --freq."""
    if options.date is None:
        why = "needs --date COL, the column of dates."
        reject(options, ("freq", "date_format", "trend"), why)
    # A default of argparse would hide that --freq was not given.
    elif options.freq is None:
        options.freq = "year"


def _check_used(corpus: Corpus, options: Namespace) -> None:
    """Raise an error if options have nothing to act on."""
    if corpus.n_drawn is None and np.isnan(corpus.label).all():
        why = (
            "needs labels, and no document has one. Without labels, only the sum of "
            "the model is known. Name their column with --label, or their file with "
            "--labels."
        )
        reject(options, _OF_LABELS, why, f"{corpus.path}: ")


def _check_options(options: Namespace) -> None:
    check_level(options.confidence_level)
    check_dates(options)
    exclude(options, ("proba", "expected"), ("design", "inclusion"))
    if options.mean or not options.trend:
        why = "applies to --trend of counts. Periods without documents have no mean."
        reject(options, ["empty_periods"], why)
    if options.design is not None:
        why = (
            "does not apply with --design, which says how 'skcalib sample' drew the "
            "documents."
        )
        reject(options, ("groups", "strata"), why)
    if options.missing == "drop" and options.labels is None and options.design is None:
        raise CommandError(
            "--missing drop needs --labels or --design, which say what was drawn."
        )
    read = [options.file, options.labels, options.design]
    check_files(read, [("--csv", options.csv), ("--html", options.html)])


class Count:
    """A count in words and tables, from the numbers that ``--json`` prints."""

    def __init__(self, found: dict[str, Any], options: Namespace):
        self.found, self.options = found, options
        self.rows: list[dict[str, Any]] = found["table"] or []
        self.n_labelled: int = found["n_labelled"]
        self.n_documents: int = found["n_documents"]
        self.level = out.percent(found["confidence_level"])
        self.is_mean = found["estimand"] == "mean"
        self.is_proba = found["model"]["kind"] == "probability"
        self.columns = self.rows[0].keys() if self.rows else ()
        # Number of rows of the table that have no interval.
        self.n_empty = sum(not row["n_labelled"] for row in self.rows)
        self.uncorrected = self.number(found["uncorrected"])

    def number(self, value: float | None) -> str:
        """Return a number of a count or mean, with decimals for small ones."""
        if value is None:
            return ""
        if self.is_mean:
            return f"{value:.3f}"
        found = self.found
        scale = found["uncorrected"] if found["high"] is None else found["high"]
        digits = 0 if abs(scale) >= 100 else 1
        # Adding 0 removes the sign of a number that is rounded to -0.
        return f"{round(value, digits) + 0:,.{digits}f}"

    def _cells(self, row: dict[str, Any]) -> list[str]:
        return [self.number(row["estimate"]), self.interval(row)]

    def interval(self, row: dict[str, Any]) -> str:
        """Return the ends of an interval; an empty text if there is no interval."""
        if row["low"] is None:
            return ""
        return f"{self.number(row['low'])} to {self.number(row['high'])}"

    def printed(self) -> Iterator[out.Block]:
        """Yield the count for the terminal."""
        yield out.Line(f"{printable(self.found['file'])}: {self.headline()}")
        yield from map(out.Paragraph, [self.sources(), *self.in_words()])
        if self.warnings():
            yield out.Heading("warnings")
            yield from (out.Paragraph(each, mark="- ") for each in self.warnings())
        yield from (out.Steps(self.steps()), out.Line(), self.totals())
        yield from (*self.table(), *self.trends())

    def page(self, svg: str | None) -> Iterator[out.Block]:
        """Yield the page: verdict, figure beside its table, trend and advice."""
        verdict, *others = self.in_words()
        yield out.Paragraph(self.headline(), "soft")
        yield from (out.Paragraph(verdict, "verdict"), self.cards())
        yield from map(out.Paragraph, others)
        yield from (out.Paragraph(f"Warning: {each}") for each in self.warnings())
        totals = "; ".join(" ".join(row) for row in self.totals().rows)
        said = f"{self.estimand().capitalize()} with {self.level} interval: {totals}."
        table = out.Page(self.table() or [self.totals()])
        figure = [] if svg is None else [out.Figure(svg, said)]
        how = out.Folded([self.settings()], "how this was made")
        advice = out.Page([out.Steps(self.steps()), how])
        results = out.Page([out.Beside([*figure, table]), *self.trends()])
        yield out.Beside([results, advice], "wide")

    def headline(self) -> str:
        """Return how many documents there are, and how many have labels."""
        text = f"{self.n_documents:,} documents, {self.n_labelled:,} with a label"
        if self.found.get("n_groups") is not None:
            text += f" in {self.found['n_groups']:,} groups"
        return text

    def sources(self) -> str:
        """Return which columns and files were read, since columns may be guessed."""
        model, design = self.found["model"], self.found["design"]
        text = f"model: {model['kind']} in column {model['column']!r}"
        if not self.n_labelled:
            return text
        text += f"; labels: {self.found['labels']}; inclusion probabilities: "
        text += design["inclusion_probability"]
        n_strata = len(design["strata"])
        return f"{text}, {n_strata} strata" if n_strata else text

    def estimand(self) -> str:
        """Return what is estimated."""
        if not self.is_mean:
            return "count"
        return "share of documents" if self.is_proba else "mean per document"

    def in_words(self) -> list[str]:
        """Return what the count is, and what the model and the labels say."""
        found, what = self.found, self.estimand()
        if not self.n_labelled:
            return [
                f"The {what} by the model's {found['model']['column']!r} alone is "
                f"{self.uncorrected}. It has {_NO_INTERVAL}: without labels, the error "
                "of the model is not known."
            ]
        estimate = self.number(found["estimate"])
        if self.n_labelled == self.n_documents:
            return [
                f"All documents have labels: the {what} is {estimate}, without "
                "sampling error."
            ]
        inside = found["low"] <= found["uncorrected"] <= found["high"]
        return [
            f"The corrected {what} is {estimate}, with a {self.level} interval of "
            f"{self.interval(found)}. It is valid for these documents even if the "
            "model is wrong, provided that the labelled documents were drawn at "
            "random.",
            f"The model alone says {self.uncorrected}, "
            f"{'inside' if inside else 'outside'} of this interval.",
            f"With the model, {self.n_labelled:,} labels are worth about "
            f"{found['equivalent_labels']:,.0f}.",
        ]

    def totals(self) -> out.Table:
        """Return the corrected count, and those by labels and by the model alone."""
        rows = [[name, *self._cells(row)] for name, row in self.estimates().items()]
        last = [f"{_UNCORRECTED}, uncorrected", self.uncorrected, _NO_INTERVAL]
        return out.Table(["", self.found["estimand"], self.level], [*rows, last])

    def estimates(self) -> dict[str, dict[str, Any]]:
        """Return the estimates that have an interval."""
        if not self.n_labelled:
            return {}
        return {_CORRECTED: self.found, _ALONE: self.found["labels_only"]}

    def cards(self) -> out.Cards:
        """Return cards with the counts, and with what the labels are worth."""
        named = self.estimates().items()
        rows = [(name.capitalize(), *self._cells(row)) for name, row in named]
        cards = [(name, n, f"{self.level} interval {ends}") for name, n, ends in rows]
        cards.append((_UNCORRECTED.capitalize(), self.uncorrected, _NO_INTERVAL))
        if self.n_labelled:
            worth = f"worth {self.found['equivalent_labels']:,.0f} with the model"
            cards.append(("Labels", f"{self.n_labelled:,}", worth))
        return out.Cards(cards)

    def rows_in_words(self) -> str:
        """Return how many rows the table has, and how many without a label."""
        found, n = self.found, len(self.rows)
        what = "row" if found["freq"] is None or found["by"] is not None else "period"
        text = f"{n} {what}{'s' * (n != 1)}, {self.n_empty} without a label"
        n_without = found["n_periods_without_documents"]
        if n_without:
            have = "period has" if n_without == 1 else "periods have"
            text += f"; {n_without} {have} no document"
        return text

    def table(self) -> list[out.Block]:
        """Return the table of periods and groups, if there is one."""
        if not self.rows:
            return []
        names = {"period": self.found["freq"], "by": self.found["by"]}
        keys = [key for key in names if key in self.columns]
        header = [*(str(names[key]) for key in keys), "documents", "labels"]
        header += [self.found["estimand"], self.level, _UNCORRECTED]
        rows = [
            [
                *(str(row[key]) for key in keys),
                f"{row['n_documents']:,}",
                f"{row['n_labelled']:,}",
                self.number(row["estimate"]),
                self.interval(row) or "none",
                self.number(row["uncorrected"]),
            ]
            for row in self.rows
        ]
        return [out.Heading(self.rows_in_words()), out.Table(header, rows)]

    def trends(self) -> list[out.Block]:
        """Return the definition and the table of the trends."""
        rows = [
            [
                "all" if each.by is None else each.by,
                f"{each.estimate:+.3g}",
                out.ends(each, "+.3g"),
                f"{each.uncorrected:+.3g}",
                "rises" if each.low > 0 else "falls" if each.high < 0 else "not shown",
            ]
            for each in self.found["trend"] or ()
        ]
        if not rows:
            return []
        header = [self.found["by"] or "corpus", "trend", self.level, _UNCORRECTED]
        return [
            out.Heading(
                f"trend: change of the {self.found['estimand']} per "
                f"{self.found['freq']}, least squares"
            ),
            out.Table([*header, "verdict"], rows),
        ]

    def warnings(self) -> list[str]:
        """Return warnings, notes, and rows without an interval, as sentences."""
        sentences = [*self.found["warnings"], *self.found["notes"]]
        if self.n_empty:
            sentences.append(
                f"{self.n_empty} of {len(self.rows)} rows have no labelled document. "
                "Their estimate uses the mean error of the whole corpus, and they have "
                "no interval."
            )
        return sentences

    def settings(self) -> out.Table:
        """Return the columns and files that were read."""
        found = self.found
        rows = [
            ["documents", found["file"]],
            ["labels", found["labels"] or "none"],
            [f"{found['model']['kind']} by the model", found["model"]["column"]],
            ["inclusion probabilities", found["design"]["inclusion_probability"]],
            ["strata", str(len(found["design"]["strata"]) or "none")],
            ["skcalib", __version__],
        ]
        return out.Table(["what", "value"], rows, is_left=True)

    def steps(self) -> list[str]:
        """Return what to do now, a sentence or two each."""
        if not self.n_labelled:
            return self._how_to_label()
        steps = []
        if self.n_empty and self.found["freq"] is not None:
            n = str(max(100, self.n_labelled))
            steps.append(
                "For an interval in each period, draw within periods: "
                f"{self._proposed('sample', '--n', n)}"
            )
        if self.n_labelled < self.n_documents:
            return [*steps, *self._how_many_more(), self._how_to_quote()]
        return [
            *steps,
            "All documents have a label. If nobody labelled some of them, leave their "
            "cells empty: a 0 is a label.",
        ]

    def _how_to_label(self) -> list[str]:
        """Return how to count with a sample that lies here, or how to draw one."""
        sample = Path(f"{safe_stem(Path(self.found['file']))}.sample.csv")
        design = design_path(sample)
        # A sample that was drawn and labelled is easily forgotten.
        if sample.exists() and design.exists():
            files = ["--labels", str(sample), "--design", str(design)]
            return [
                f"{sample} and {design} are in this folder and are not used. Count "
                f"with the labels: {self._proposed('count', *files)}"
            ]
        n = str(min(100, self.n_documents))
        return [
            "Draw documents to label at random: "
            f"{self._proposed('sample', '--n', n, has_dates=False)}",
            "If documents have labels already, name their column with --label, or "
            "their file with --labels.",
        ]

    def _proposed(self, command: str, *words: str, has_dates: bool = True) -> str:
        """Return a command with the columns of this count."""
        model, options = (self.found["model"]["column"], self.is_proba), self.options
        return proposed(
            *(command, list(words), model, options),
            id_name=options.id,
            has_dates=has_dates,
        )

    def _how_many_more(self) -> list[str]:
        n, n_all = self.n_labelled, self.n_documents
        # The variance of n of N documents is proportional to 1 / n - 1 / N.
        needed = round(1 / (1 / n_all + (1 / n - 1 / n_all) / 4))
        steps = [
            f"To halve the width of the interval, label about {needed - n:,} more "
            f"documents: {needed:,} of {n_all:,} in all. Choose the number before you "
            "see the interval; do not stop when it is narrow enough."
        ]
        worth = self.found["equivalent_labels"]
        if worth < n:
            why = "The model's numbers are hardly correlated with the labels."
            if n < _FEW_LABELS:
                why = f"This is usual with fewer than {_FEW_LABELS} labels."
            steps.append(
                f"The model makes the interval wider: with the model, {n:,} labels are "
                f"worth {worth:,.0f}. {why}"
            )
        return steps

    def _how_to_quote(self) -> str:
        found = self.found
        if any(doubt in each for each in found["warnings"] for doubt in _DOUBTS):
            return (
                "Do not quote the interval before the warnings are resolved: it is "
                "valid only if the documents were drawn at random, as the options "
                "state."
            )
        what = "documents" if self.is_proba else "in all"
        if self.is_mean:
            what = "of the documents" if self.is_proba else "per document"
        is_equal = found["design"]["inclusion_probability"] == "equal"
        drawn = "at random" + " with known probabilities" * (not is_equal)
        return (
            f"Quote: {self.number(found['estimate'])} {what} ({self.level} interval "
            f"{self.interval(found)}); the model's sum, corrected by "
            f"{self.n_labelled:,} of {self.n_documents:,} documents that were drawn "
            f"{drawn} and labelled by hand."
        )

    def csv(self) -> str:
        """Return a row for each period and group, or one row for the corpus."""
        names: list[str] = [key for key in ("period", "by") if key in self.columns]
        names += ["estimate", "low", "high", "standard_error", "uncorrected"]
        return out.as_csv(
            [*names, "n_documents", "n_labelled"], self.rows or [self.found]
        )

    def largest(self) -> list[str]:
        """Return the groups of the table, the largest first."""
        total: dict[str, float] = {}
        for row in self.rows:
            if "by" in row:
                total[row["by"]] = total.get(row["by"], 0.0) + row["estimate"]
        return sorted(total, key=lambda name: -total[name])


def figure_of(count: Count) -> Any:
    """Return a figure of the periods, with a panel for each of several groups."""
    label = f"{count.estimand().capitalize()}, {count.level} interval"
    groups = count.largest()[:_MOST_LINES]
    if len(groups) < 2:
        axes = _style.take_axes(_style.empty_figure(), _style.COLUMN, 2.4)
        _draw_periods(axes, count, count.rows)
        _begin_at_zero(axes)
        _legend(axes)
        axes.set_ylabel(label)
        return axes.figure
    # The number of rows of panels is rounded up.
    size = _style.PAGE, 1.8 * -(-len(groups) // 2) + 0.3
    figure = _style.new_figure(*size, _style.empty_figure())
    panels = _style.panel_axes(figure, groups, 2, sharey=True)
    for group, axes in panels.items():
        _draw_periods(axes, count, [row for row in count.rows if row["by"] == group])
        axes.set_title(printable(group), fontsize=_style.text_size(axes))
    _begin_at_zero(axes)
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", **_of_legend(axes))
    figure.supylabel(label, fontsize=_style.text_size(axes), color=_style.INK)
    return figure


def _draw_periods(axes: Any, count: Count, rows: list[dict[str, Any]]) -> None:
    """Draw estimates with intervals and the model's counts over periods."""
    names = count.found["period_labels"]
    place = {name: k for k, name in enumerate(names)}
    x = np.array([place[row["period"]] for row in rows], dtype=float)
    # None of a row without an interval becomes NaN.
    y, low, high, model = (
        np.array([row[name] for row in rows], dtype=float)
        for name in ("estimate", "low", "high", "uncorrected")
    )
    known = np.isfinite(low)
    style = _style.next_style(axes) | {"linestyle": "none"}
    ends = np.maximum([y - low, high - y], 0)[:, known]
    axes.errorbar(x[known], y[known], ends, label=_CORRECTED, **style)
    if not known.all():
        axes.plot(x[~known], y[~known], **style | {"markerfacecolor": "none"})
    label = f"{_UNCORRECTED} (no interval)"
    axes.plot(x, model, "--", lw=1, color="0.4", label=label)
    # Round up, so that there are at most _MOST_TICKS names.
    step = -(-len(names) // _MOST_TICKS)
    axes.set_xticks(range(0, len(names), step), names[::step])
    if len(names) > _MOST_TICKS // 2:
        axes.tick_params(axis="x", rotation=45)


def _begin_at_zero(axes: Any) -> None:
    # Only a negative end of an interval lies below 0.
    axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))


def _legend(axes: Any) -> None:
    """Place the legend above the axes, where it covers nothing."""
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), **_of_legend(axes))


def _of_legend(axes: Any) -> dict[str, Any]:
    size = _style.text_size(axes)
    return {"fontsize": size, "labelcolor": _style.INK, "frameon": False, "ncols": 2}
