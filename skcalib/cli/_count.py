"""``skcalib count``: a count in a corpus, corrected by labelled documents."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import printable
from .._results import p_text
from ..counts import CorrectedCount
from ..counts._corrected_count import NOT_A_SAMPLE
from ..plot import _style
from ..plot._base import plain_text
from . import _blocks as out
from ._corpus import Corpus, design_path, proposed, read_corpus
from ._count_numbers import Change, Counted, Row, measure
from ._options import reject
from ._runs import safe_stem
from ._shared import (
    CommandError,
    check_files,
    check_level,
    exclude,
    say,
    settings_of,
    write_text,
)

# Options that act on the labels, or on the correction by them.
_OF_LABELS = (
    *("pos_label", "inclusion", "strata", "groups", "size"),
    *("date", "by", "trend", "compare"),
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
    found = measure(corpus, options)
    count = Count(found, options)
    # A line must not end within an option of a proposed command.
    text = out.as_text(count.printed(), break_on_hyphens=False)
    print(out.as_json(found) if options.json else text)
    sys.stdout.flush()
    if options.csv is not None:
        write_text(options.csv, count.csv())
    if options.html is not None:
        for each in count.not_drawn():
            say("count", each)
        page = out.as_page(f"Corrected count: {found.file}", count.page())
        write_text(options.html, page)
    written = {"table": options.csv, "page": options.html}
    lines = [
        f"{what}: {printable(str(path))}" for what, path in written.items() if path
    ]
    if lines and not options.json:
        print("", *lines, sep="\n")


def sample_path(options: Namespace) -> Path:
    """Return where 'skcalib sample' writes the sample of a corpus by default."""
    return Path(f"{safe_stem(options.file)}.sample.csv")


def check_dates(options: Namespace) -> None:
    """Raise if options of dates are given without dates; set the default of --freq."""
    if options.date is None:
        why = "needs --date COL, the column of dates."
        names = ("freq", "date_format", "trend", "compare", "lengths")
        reject(options, names, why)
    # A default of argparse would hide that --freq was not given.
    elif options.freq is None:
        options.freq = "year"


def _check_used(corpus: Corpus, options: Namespace) -> None:
    """Raise an error if options have nothing to act on."""
    if corpus.design.n_drawn is None and np.isnan(corpus.label).all():
        why = (
            "needs labels, and no document has one. Without labels, only the sum of "
            "the model is known. Name their column with --label, or their file with "
            "--labels."
        )
        reject(options, _OF_LABELS, why, f"{corpus.path}: ")


def _check_options(options: Namespace) -> None:
    check_level(options.confidence_level)
    check_dates(options)
    # The two options of a pair name the same numbers.
    exclude(options, ("proba", "expected"), ("design", "inclusion"))
    if options.mean or not options.trend:
        # A year without documents may be a count of 0 or a year that was not collected.
        why = "applies to --trend of counts. Periods without documents have no mean."
        reject(options, ["empty_periods"], why)
    if options.mean:
        why = "applies to counts. A mean does not depend on the length of its period."
        reject(options, ["lengths"], why)
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
    """A count in words and tables."""

    def __init__(self, found: Counted, options: Namespace):
        self.found, self.options = found, options
        self.result, self.rows = found.result, found.table or []
        self.warnings = [*found.warnings, *found.notes]
        self.level = out.percent(found.confidence_level)
        self.is_mean = found.estimand == "mean"
        # Names of periods whose counts are not those of full periods.
        self.partial: set[str] = set()
        if found.partial_periods and not self.is_mean:
            each = found.partial_periods.split("; ")
            self.partial = {text.partition(": ")[0] for text in each}
        # Number of rows of the table that have no interval.
        self.n_empty = sum(not row.n_labelled for row in self.rows)
        self.uncorrected = self.number(found.uncorrected)

    def number(self, value: float) -> str:
        """Return a number of a count or mean, with decimals for small ones."""
        if self.is_mean:
            return f"{value:.3f}"
        # All numbers have the decimals of the largest one, so that they can be
        # compared.
        scale = self.found.uncorrected if self.result is None else self.result.high
        digits = 0 if abs(scale) >= 100 else 1
        # Adding 0 removes the sign of a number that is rounded to -0.
        return f"{round(value, digits) + 0:,.{digits}f}"

    def interval(self, row: out.Interval) -> str:
        """Return the ends of an interval."""
        return f"{self.number(row.low)} to {self.number(row.high)}"

    def printed(self) -> Iterator[out.Block]:
        """Yield the count for the terminal."""
        yield out.Line(f"{printable(self.found.file)}: {self.headline()}")
        yield from map(out.Paragraph, [self.sources(), *self.in_words()])
        if self.warnings:
            yield out.Heading("warnings")
            yield from (out.Paragraph(each, mark="- ") for each in self.warnings)
        yield from (out.Steps(self.steps()), out.Line(), self.totals())
        yield from (*self.table(), *self.trends(), *self.differences())

    def page(self) -> Iterator[out.Block]:
        """Yield the page: verdict, figure beside its table, trend and advice."""
        verdict, *others = self.in_words()
        yield out.Paragraph(self.headline(), "soft")
        yield from (out.Paragraph(verdict, "verdict"), self.cards())
        yield from map(out.Paragraph, others)
        yield from (out.Paragraph(f"Warning: {each}") for each in self.warnings)
        # For readers who do not see the figure.
        totals = "; ".join(" ".join(row) for row in self.totals().rows)
        said = f"{self.estimand().capitalize()} with {self.level} interval: {totals}."
        table: list[out.Block] = [out.Page(self.table() or [self.totals()])]
        if self.rows and self.found.freq is not None:
            notes = [out.Paragraph(f"Note: {x}", "soft") for x in self.not_drawn()]
            figure = out.Figure(out.svg_of(figure_of(self)), said)
            table = [figure, out.Page([*notes, *table])]
        how = out.Folded([self.settings()], "how this was made")
        advice = out.Page([out.Steps(self.steps()), how])
        results = out.Page([out.Beside(table), *self.trends(), *self.differences()])
        yield out.Beside([results, advice], "wide")

    def headline(self) -> str:
        """Return how many documents there are, and how many have labels."""
        found = self.found
        text = f"{found.n_documents:,} documents, {found.n_labelled:,} with a label"
        if self.result is not None and self.result.n_groups is not None:
            text += f" in {self.result.n_groups:,} groups"
        return text

    def sources(self) -> str:
        """Return which columns and files were read, since columns may be guessed."""
        found = self.found
        # A wrong column would give a plausible number.
        text = f"model: {found.model.kind} in column {found.model.column!r}"
        if self.result is None:
            return text
        text += f"; labels: {found.labels}; inclusion probabilities: "
        n_strata = len(found.design.strata)
        strata = f", {n_strata} strata" if n_strata else ""
        return f"{text}{found.design.inclusion_probability}{strata}"

    def estimand(self) -> str:
        """Return what is estimated."""
        if not self.is_mean:
            return "count"
        is_share = self.found.model.is_proba
        return "share of documents" if is_share else "mean per document"

    def in_words(self) -> list[str]:
        """Return what the count is, and what the model and the labels say."""
        found, result, what = self.found, self.result, self.estimand()
        if result is None:
            return [
                f"The {what} by the model's {found.model.column!r} alone is "
                f"{self.uncorrected}. It has {_NO_INTERVAL}: without labels, the error "
                "of the model is not known."
            ]
        estimate = self.number(result.estimate)
        if found.n_labelled == found.n_documents:
            return [
                f"All documents have labels: the {what} is {estimate}, without "
                "sampling error."
            ]
        # If it is outside, the model is shown to be biased in this corpus.
        inside = result.low <= found.uncorrected <= result.high
        return [
            f"The corrected {what} is {estimate}, with a {self.level} interval of "
            f"{self.interval(result)}. It is valid for these documents even if the "
            "model is wrong, provided that the labelled documents were drawn at "
            "random.",
            f"The model alone says {self.uncorrected}, "
            f"{'inside' if inside else 'outside'} of this interval.",
            f"With the model, {found.n_labelled:,} labels are worth about "
            f"{result.equivalent_labels:,.0f}.",
        ]

    def estimates(self) -> list[list[str]]:
        """Return the estimates that have an interval: name, number and ends."""
        if self.result is None:
            return []
        named: list[tuple[str, out.Estimated]]
        named = [(_CORRECTED, self.result), (_ALONE, self.result.labels_only)]
        return [[name, self.number(e.estimate), self.interval(e)] for name, e in named]

    def totals(self) -> out.Table:
        """Return the corrected count, and those by labels and by the model alone."""
        last = [f"{_UNCORRECTED}, uncorrected", self.uncorrected, _NO_INTERVAL]
        header = ["", self.found.estimand, self.level]
        return out.Table(header, [*self.estimates(), last])

    def cards(self) -> out.Cards:
        """Return cards with the counts, and with what the labels are worth."""
        cards = [
            (name.capitalize(), number, f"{self.level} interval {ends}")
            for name, number, ends in self.estimates()
        ]
        cards.append((_UNCORRECTED.capitalize(), self.uncorrected, _NO_INTERVAL))
        if self.result is not None:
            worth = f"worth {self.result.equivalent_labels:,.0f} with the model"
            cards.append(("Labels", f"{self.result.n_labelled:,}", worth))
        return out.Cards(cards)

    def rows_in_words(self) -> str:
        """Return how many rows the table has, and how many without a label."""
        found, n = self.found, len(self.rows)
        # With --by, a period has several rows.
        what = "row" if found.freq is None or found.by is not None else "period"
        text = f"{n} {what}{'s' * (n != 1)}, {self.n_empty} without a label"
        n_without = found.n_periods_without_documents
        if n_without:
            have = "period has" if n_without == 1 else "periods have"
            text += f"; {n_without} {have} no document"
        return text

    def table(self) -> list[out.Block]:
        """Return the table of periods and groups, if there is one."""
        if not self.rows:
            return []
        found = self.found
        header = [name for name in (found.freq, found.by) if name is not None]
        header += ["documents", "labels", found.estimand, self.level, _UNCORRECTED]
        rows = [
            [
                *(name for name in (row.period, row.by) if name is not None),
                *(f"{n:,}" for n in (row.n_documents, row.n_labelled)),
                self.number(row.estimate),
                self.interval(row) if row.n_labelled else "none",
                self.number(row.uncorrected),
            ]
            for row in self.rows
        ]
        return [out.Heading(self.rows_in_words()), out.Table(header, rows)]

    def trends(self) -> list[out.Block]:
        """Return the definition and the table of the trends."""
        found = self.found
        if found.trend is None:
            return []
        what = f"trend: change of the {found.estimand} per {found.freq}, least squares"
        how = (
            "The trend and the total are estimated with the labels of all periods. "
            "They need not be the slope and the sum of the rows above."
        )
        if any(x.is_scaled for x in found.trend):
            how += " Counts of partial periods are scaled to full ones."
        return self._changes(what, "trend", found.trend, "+.3g", how)

    def differences(self) -> list[out.Block]:
        """Return the definition and the table of the differences of two periods."""
        found = self.found
        if found.comparison is None:
            return []
        first, second, months, differences = found.comparison
        what = f"difference: {found.estimand} of {first} minus that of {second}"
        if months is not None:
            one, other = (f"{n:.3g}" for n in months)
            what += f", per month ({one} and {other} months)"
        how = "The difference is estimated with the labels of all periods."
        return self._changes(what, "difference", differences, ".3g", how)

    def _changes(
        self, what: str, name: str, changes: Iterable[Change], digits: str, how: str
    ) -> list[out.Block]:
        """Return the heading, the table and the explanation of changes."""
        by = self.found.by

        def p(value: float) -> str:
            return "none" if np.isnan(value) else p_text(value)

        def adjusted(x: Change) -> list[str]:
            if by is None:
                return []
            return ["" if x.by is None else p(x.pvalue_adjusted)]

        rows = [
            [
                x.part,
                *out.cells_of(x, digits),
                out.number(x.uncorrected, digits),
                p(x.pvalue),
                *adjusted(x),
                x.verdict,
            ]
            for x in changes
        ]
        header = [by or "corpus", name, self.level, _UNCORRECTED, "p"]
        header += ["verdict"] if by is None else ["p (Holm)", "verdict"]
        if by is not None:
            how += (
                f" The verdicts on the values of {by!r} use p-values after Holm's "
                "correction for their number; the intervals are not adjusted."
            )
        return [out.Heading(what), out.Table(header, rows), out.Paragraph(how, "soft")]

    def settings(self) -> out.Table:
        """Return the columns and files that were read, options and versions."""
        found = self.found
        rows = [
            ["documents", found.file],
            ["labels", found.labels or "none"],
            [f"{found.model.kind} by the model", found.model.column],
            ["inclusion probabilities", found.design.inclusion_probability],
            ["strata", str(len(found.design.strata) or "none")],
            *settings_of(self.options),
        ]
        return out.Table(["what", "value"], rows, is_left=True)

    def steps(self) -> list[str]:
        """Return what to do now, a sentence or two each."""
        if self.result is None:
            return self._how_to_label()
        steps = []
        if self.n_empty:
            named = {"periods": self.found.freq, repr(self.found.by): self.found.by}
            within = " and ".join(x for x, given in named.items() if given is not None)
            command = self._draw_within_rows()
            steps = [f"For an interval in each row, draw within {within}: {command}"]
        if self.result.n_labelled < self.result.n_documents:
            return steps + self._how_many_more(self.result)
        return [
            *steps,
            "All documents have a label. If nobody labelled some of them, leave their "
            "cells empty: a 0 is a label.",
        ]

    def _draw_within_rows(self) -> str:
        """Return the command, with as many documents as it needs."""
        # Each row needs two documents, if it has so many.
        n_least = sum(min(row.n_documents, 2) for row in self.rows)
        n = min(self.found.n_documents, max(100, n_least, self.found.n_labelled))
        # The command is copied as it is, so that it has to work.
        stem = safe_stem(self.options.file)
        # 'skcalib sample' does not replace a sample.
        is_taken = sample_path(self.options).exists()
        output = ["--output", f"{stem}.periods.csv"] if is_taken else []
        strata = [] if self.found.by is None else ["--strata", self.found.by]
        return self._proposed("sample", "--n", str(n), *strata, *output)

    def _how_to_label(self) -> list[str]:
        """Return how to count with a sample that lies here, or how to draw one."""
        sample = sample_path(self.options)
        design = design_path(sample)
        # A sample that was drawn and labelled is easily forgotten.
        if sample.exists() and design.exists():
            files = ["--labels", str(sample), "--design", str(design)]
            return [
                f"{sample} and {design} are in this folder and are not used. Count "
                f"with the labels: {self._proposed('count', *files)}"
            ]
        n = str(min(100, self.found.n_documents))
        return [
            f"Draw documents to label at random: {self._proposed('sample', '--n', n)}",
            "If documents have labels already, name their column with --label, or "
            "their file with --labels.",
        ]

    def _proposed(self, command: str, *words: str) -> str:
        return proposed(self.options, command, words, self.options.id, self.found.model)

    def _how_many_more(self, result: CorrectedCount) -> list[str]:
        """Return how many labels a shorter interval needs, and how to quote this."""
        n, n_all = result.n_labelled, result.n_documents
        # The variance of n of N documents is proportional to 1 / n - 1 / N.
        needed = round(1 / (1 / n_all + (1 / n - 1 / n_all) / 4))
        steps = [
            f"To halve the width of the interval, label about {needed - n:,} more "
            f"documents: {needed:,} of {n_all:,} in all. {out.ONE_LOOK}"
        ]
        worth = result.equivalent_labels
        if worth < n:
            why = "The model's numbers are hardly correlated with the labels."
            if n < _FEW_LABELS:
                why = f"This is usual with fewer than {_FEW_LABELS} labels."
            steps.append(
                f"The model makes the interval wider: with the model, {n:,} labels are "
                f"worth {worth:,.0f}. {why}"
            )
        return [*steps, self._how_to_quote(result)]

    def _how_to_quote(self, result: CorrectedCount) -> str:
        found, is_proba = self.found, self.found.model.is_proba
        # A sentence to quote would be copied without its warnings.
        if any(doubt in each for each in found.warnings for doubt in _DOUBTS):
            return (
                "Do not quote the interval before the warnings are resolved: it is "
                "valid only if the documents were drawn at random, as the options "
                "state."
            )
        what = "documents" if is_proba else "in all"
        if self.is_mean:
            what = "of the documents" if is_proba else "per document"
        # A reader of a paper needs to know how documents were drawn.
        is_equal = found.design.inclusion_probability == "equal"
        drawn = "at random" + " with known probabilities" * (not is_equal)
        return (
            f"Quote: {self.number(result.estimate)} {what} ({self.level} interval "
            f"{self.interval(result)}); the model's {'mean' if self.is_mean else 'sum'}"
            f", corrected by {found.n_labelled:,} of {found.n_documents:,} documents "
            f"that were drawn {drawn} and labelled by hand."
        )

    def csv(self) -> str:
        """Return a row for each period and group, or one row for the corpus."""
        parts = {"period": self.found.freq, "by": self.found.by}
        names = [f.name for f in fields(Row) if parts.get(f.name, "") is not None]
        rows = [out.plain(row) for row in self.rows] or [out.plain(self.found)]
        found, estimand = self.found, self.found.estimand
        changes: list[tuple[str, Change]] = [("trend", x) for x in found.trend or []]
        if (comparison := found.comparison) is not None:
            what = f"{comparison.first} minus {comparison.second}"
            changes += [(what, x) for x in comparison.differences]
        if changes:
            names = ["estimand", *names, "pvalue", "pvalue_adjusted", "verdict"]
            rows = [{"estimand": estimand} | row for row in rows]
            rows += [{"estimand": what} | out.plain(x) for what, x in changes]
        return out.as_csv(names, rows)

    def largest(self) -> list[str]:
        """Return the groups of the table, the largest first."""
        total: dict[str, float] = {}
        for row in self.rows:
            if row.by is not None:
                # A group has a row for each period.
                total[row.by] = total.get(row.by, 0.0) + row.estimate
        return sorted(total, key=lambda name: -total[name])

    def not_drawn(self) -> Iterator[str]:
        """Yield which groups the figure shows, if it does not show all."""
        n = len(self.largest())
        if self.found.freq is not None and n > _MOST_LINES:
            largest = f"{_MOST_LINES} largest of the {n} values of {self.found.by!r}"
            yield f"the figure shows the {largest}."


def figure_of(count: Count) -> Any:
    """Return a figure of the periods, with a panel for each of several groups."""
    label = f"{count.estimand().capitalize()}, {count.level} interval"
    groups = count.largest()[:_MOST_LINES]
    is_single = len(groups) < 2
    if is_single:
        axes = _style.take_axes(_style.empty_figure(), _style.COLUMN, 2.4)
        _draw_periods(axes, count, count.rows)
    else:
        # The number of rows of panels is rounded up.
        size = _style.PAGE, 1.8 * -(-len(groups) // 2) + 0.3
        figure = _style.new_figure(*size, _style.empty_figure())
        for group, axes in _style.panel_axes(figure, groups, 2, sharey=True).items():
            _draw_periods(axes, count, [row for row in count.rows if row.by == group])
            axes.set_title(plain_text(group), fontsize=_style.text_size(axes))
    # Only a negative end of an interval lies below 0.
    axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    size = _style.text_size(axes)
    style = {"fontsize": size, "labelcolor": _style.INK, "frameon": False, "ncols": 2}
    note = f"* {count.found.partial_periods}" if count.partial else ""
    if is_single:
        # above the axes, where it covers nothing
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), **style)
        axes.set_ylabel(label)
        axes.set_xlabel(note)
    else:
        # Not every panel has rows without a label.
        panels = (each.get_legend_handles_labels() for each in figure.axes)
        entries = {n: h for each in panels for h, n in zip(*each, strict=True)}
        legend = list(entries.values()), list(entries)
        figure.legend(*legend, loc="outside upper center", **style)
        figure.supylabel(label, fontsize=size, color=_style.INK)
        figure.supxlabel(note, fontsize=size, color=_style.INK)
    return axes.figure


def _draw_periods(axes: Any, count: Count, rows: list[Row]) -> None:
    """Draw estimates with intervals and the model's counts over periods."""
    names = count.found.period_labels or []
    place = {name: k for k, name in enumerate(names)}
    x = np.array([place[row.period] for row in rows if row.period], dtype=float)
    y, low, high, model = np.transpose(
        [(row.estimate, row.low, row.high, row.uncorrected) for row in rows]
    )
    # Periods without labels have an estimate and no interval: their markers are hollow.
    known = np.isfinite(low)
    style = _style.next_style(axes) | {"linestyle": "none"}
    ends = np.maximum([y - low, high - y], 0)[:, known]
    axes.errorbar(x[known], y[known], ends, label=_CORRECTED, **style)
    if not known.all():
        hollow = {"markerfacecolor": "none", "label": "without a label (no interval)"}
        axes.plot(x[~known], y[~known], **style | hollow)
    label = f"{_UNCORRECTED} (no interval)"
    axes.plot(x, model, "--", lw=1, color="0.4", label=label)
    # Round up, so that there are at most _MOST_TICKS names.
    step = -(-len(names) // _MOST_TICKS)
    starred = [
        f"{plain_text(name)}{'*' * (name in count.partial)}" for name in names[::step]
    ]
    axes.set_xticks(range(0, len(names), step), starred)
    if len(names) > _MOST_TICKS // 2:
        axes.tick_params(axis="x", rotation=45)
