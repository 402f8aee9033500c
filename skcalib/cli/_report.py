"""``skcalib report``: accuracy and calibration of answers in files."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import printable
from .._results import is_open
from ..evaluation._values import listed
from . import _blocks as out
from ._figures import MOST_PANELS, draw_alone, draw_curves, draw_parts, save_figure
from ._options import reject
from ._report_numbers import Measured, check_threshold, decide, measure, save_threshold
from ._report_texts import TOO_FEW, Part, brier_parts, selects
from ._runs import System, read_systems, safe_stem, word_of
from ._shared import (
    DONE,
    FAILED,
    CommandError,
    check_different,
    check_figure,
    check_files,
    check_level,
    exclude,
    say,
    settings_of,
)

# Condition of --fail-if: no probability is shown from which answers may stand alone.
NOT_ALONE = "not-alone"


def run_report(options: Namespace) -> int:
    """Print the report, draw it and write its page; return the exit status."""
    _check_options(options)
    path = _figure_path(options)
    # All files are read before anything is printed, so that errors come first.
    systems = read_systems(options)
    _check_used(systems, options)
    # The report on a file of a harness has a place for its notes.
    for system in systems:
        for note in system.evaluation.notes if system.is_table else ():
            say("report", f"{system.file}: {note}")
    is_single = len(systems) == 1
    # Headings below the name of one of several systems are one level lower.
    reports = [Report(system, options, 2 if is_single else 3) for system in systems]
    if options.json:
        objects = [each.numbers(path) for each in reports]
        print(out.as_json(objects[0] if is_single else objects))
    else:
        print(out.as_text(reports[0].printed() if is_single else _printed(reports)))
    # The numbers are printed before the figure, which may fail.
    sys.stdout.flush()
    # The page of several systems has the same figure.
    is_drawn = path is not None or (options.html is not None and not is_single)
    figure = _figure_of(reports) if is_drawn else None
    if path is not None and figure is not None:
        save_figure(figure, path)
        if not options.json:
            print(f"\nfigure: {printable(str(path))}")
    _write(reports, options, figure)
    return _status(reports)


def _write(reports: list[Report], options: Namespace, figure: Any) -> None:
    """Write the page, the Markdown and the threshold that options ask for."""
    names = [each.system.name for each in reports]
    title = names[0] if len(names) == 1 else f"{len(names)} systems"
    title = f"Accuracy and calibration: {title}"
    page = _page_blocks(reports, options, figure)
    out.write_pages(options, title, _markdown_blocks(reports), page)
    if options.save is not None:
        save_threshold(options.save, reports[0].system, reports[0].whole.found.alone)
    for what, path in (("page", options.html), ("threshold", options.save)):
        if path is not None and not options.json:
            print(f"{what}: {printable(str(path))}")


def _check_options(options: Namespace) -> None:
    check_level(options.confidence_level)
    exclude(
        options,
        ("output", "no_figure"),
        ("skip_missing", "unanswered"),
        *(("y_true", "score"), ("scale", "gold")),
        *(("fail_if", "max_error"), ("save", "check")),
        *(("confidence", n) for n in ("y_proba", "labels", "skip_missing")),
        ("confidence", "unanswered"),
    )
    most, alone = options.max_error, options.alone
    if most is not None and not 0 <= most < 1:
        limits = "at least 0 and below 1, for example 0.05"
        raise CommandError(f"--max-error must be {limits}. Got {most:g}.")
    if not 0 < alone < 1:
        limits = "an accuracy above 0 and below 1, for example 0.95"
        raise CommandError(f"--alone must be {limits}. Got {alone:g}.")
    check_different(options.file, "report")
    check_figure(options.output, "--output")
    figure = "--output" if options.output else "the figure (--output)"
    check_files(
        [*options.file, options.labels, options.check],
        [
            ("--save", options.save),
            (figure, _figure_path(options)),
            ("--html", options.html),
            ("--markdown", options.markdown),
        ],
    )


def _check_used(systems: list[System], options: Namespace) -> None:
    """Raise an error if options for tables or one system have nothing to act on."""
    if options.save is not None and len(systems) > 1:
        raise CommandError(f"--save needs one system. Got {len(systems)}.")
    if not any(system.is_table for system in systems):
        why = "applies to plain tables. For files of a harness, use --unanswered drop."
        reject(options, ["skip_missing"], why)


def _figure_path(options: Namespace) -> Path | None:
    """Return the path of the figure, or None for no figure."""
    # --no-figure excludes --output, and with --json only --output draws.
    if options.output or options.no_figure or options.json:
        return options.output
    if len(options.file) > 1:
        return Path("reliability.png")
    return Path(f"{safe_stem(options.file[0])}.reliability.png")


def _figure_of(reports: list[Report]) -> Any:
    """Return the figure of all systems, or of the parts of a single one, or None."""
    if len(reports) == 1:
        return reports[0].of_parts if reports[0].parts else reports[0].curve
    systems = [report.system for report in reports]
    word, level = word_of(*systems), reports[0].whole.confidence_level
    if len(reports) > MOST_PANELS:
        measured = {each.system.name: each.whole.found for each in reports}
        return draw_parts(measured, word, reports[0].whole.level)
    return draw_curves({s.name: s.answers for s in systems}, level, word)


class Report:
    """The report on a system and on each of its parts by name."""

    def __init__(self, system: System, options: Namespace, level: int):
        self.system, self.options, self.level = system, options, level
        whole, by, self.one_map = measure(system, options)
        # All numbers of a report have the same decimals, so that rows can be compared.
        digits = out.decimals(whole.accuracy)

        def part(found: Measured) -> Part:
            return Part(found, options.confidence_level, word_of(system), digits)

        self.whole = part(whole)
        self.parts = {value: part(found) for value, found in by.items()}
        self.decisions = decide(whole, by, self.one_map, self.whole.alpha)
        most: float | None = options.max_error
        # the condition of --fail-if or --max-error
        self.condition: str | None = options.fail_if
        if most is not None:
            self.condition = f"calibration error above {most:g}"
        self.is_met = self.condition is not None and self._meets(most)
        self.checked = options.check and check_threshold(system, options)

    def numbers(self, figure: Path | None) -> dict[str, Any]:
        """Return the object that ``--json`` prints."""
        system = self.system
        found = {
            "file": system.file,
            **self._named(),
            "n_skipped": system.n_skipped,
            "unanswered": system.unanswered,
            "unanswered_rule": system.rule,
            "notes": self.notes(),
            "decisions": self.decisions,
            **out.plain(self.whole.found),
        }
        if system.if_wrong is not None:
            found["accuracy_if_wrong"] = system.if_wrong
        if len(system.files) > 1:
            found["files"] = system.files
        if self.parts:
            # Values of the column may be any text, and must not replace keys of the
            # report.
            values = {value: part.found for value, part in self.parts.items()}
            found["by"] = {
                "column": system.by_name,
                "one_map_pvalue": self.one_map,
                "values": values,
            }
        found["figure"] = None if figure is None else str(figure)
        if self.condition is not None:
            found["fail_if"] = {"condition": self.condition, "is_met": self.is_met}
        if self.checked is not None:
            found["check"] = self.checked
        return found

    def _meets(self, most: float | None) -> bool:
        """Return whether the condition is met; `most` is the error of --max-error."""
        if self.whole.error is None:
            raise CommandError(
                # A condition that cannot be checked must not pass.
                f"{self.system.file}: --fail-if and --max-error need answers with "
                "probabilities and scores of 0 and 1."
            )
        if self.condition == NOT_ALONE:
            alone = self.whole.found.alone
            if self.whole.is_graded or alone is None:
                return self.decisions.threshold is None or bool(self.not_for())
            return not (selects(alone.threshold) or selects(alone.negative))
        if most is not None:
            # Only an error that is shown meets the condition, not one that is possible.
            return self.whole.error.low > most
        return self.decisions.calibration not in ("calibrated", "too few")

    def not_for(self) -> str:
        """Return the parts without a threshold for --alone, as text."""
        parts = self.decisions.parts or {}
        return listed((n for n, each in parts.items() if each.threshold is None), 5)

    def reason(self) -> str:
        """Return the numbers that decide whether the condition is met."""
        whole = self.whole
        if self.condition == NOT_ALONE:
            return self._selected()
        if whole.error is None or whole.pvalue is None:
            return TOO_FEW
        error, interval = whole.estimate(whole.error)
        of = " of all answers together" * bool(self.parts)
        p = out.p_text(whole.pvalue, "p = ")
        return f"calibration error{of} {error} ({whole.level} {interval}), {p}"

    def _selected(self) -> str:
        """Return the threshold of --alone, or that there is none, in words."""
        whole, found = self.whole, self.whole.found.alone
        first = None if found is None else found.threshold
        alone = f"{self.options.alone:g} of the {whole.right}"
        if whole.is_graded or found is None:
            not_for = self.not_for()
            if first is None or not_for:
                of = "" if first is None else f" for {not_for}"
                return f"no probability is shown from which {alone}{of}"
            each = f"; each {self.system.by_name} has such a probability"
            of = each * bool(self.parts)
            return f"from the probability {whole.threshold(first)}, {alone}{of}"
        if first is not None and selects(first):
            return f"from the probability {whole.threshold(first)}, {alone}"
        if found.negative is not None and selects(found.negative):
            at = whole.threshold(found.negative, is_upper=True)
            return f"up to the probability {at}, {found.accuracy:g} are negative"
        return f"no probability is shown that selects so that {alone} (or negative)"

    def notes(self, *, of_files: bool = True) -> list[str]:
        """Return what was left out, what files say, and what limits the labels."""
        judged = self.whole.found.judged
        notes = [*self._left_out(), *self.system.evaluation.notes] * of_files
        return notes + ([] if judged is None else judged.notes)

    def _left_out(self) -> list[str]:
        """Return how many rows of a table were left out."""
        n = self.system.n_skipped
        if not self.system.is_table or not n:
            return []
        return [f"{n} row{'s' * (n > 1)} with an empty cell left out"]

    def printed(self) -> Iterator[out.Block]:
        """Yield the report for the terminal."""
        system, whole = self.system, self.whole
        if system.is_table:
            yield from map(out.Line, self._left_out())
        yield out.Line(f"{printable(system.file)}: {whole.count()}")
        yield out.Paragraph(whole.verdict())
        yield from map(out.Paragraph, self._check())
        yield from self.case()
        has_none = not np.isfinite(system.answers.q).any()
        if system.is_table and has_none and self.options.y_proba is None:
            hint = "If a column contains probabilities, name it with --y-proba."
            yield out.Line(hint)
        yield self.steps()
        yield from self._about()
        yield from self._judged()
        if whole.error is not None:
            yield from (out.Line(), whole.table(is_long=False), *whole.remarks())
        # The table of the parts says more than the regions of a mixture of them.
        yield from (out.Line(), *self.by()) if self.parts else whole.regions()

    @property
    def is_rejected(self) -> bool:
        """Whether new answers reject the threshold of --check."""
        return self.checked is not None and self.checked.verdict == "rejected"

    def _check(self) -> Iterator[str]:
        """Yield the verdict on the threshold of --check."""
        if self.checked is not None:
            yield self.whole.check(self.checked)

    def case(self) -> Iterator[out.Block]:
        """Yield what to do with the confidence, and for which parts not."""
        is_by_part = self.decisions.recalibrate == "by part"
        yield from self.whole.case(self.system.by_name if is_by_part else None)
        not_for = self.not_for()
        if not_for and self.decisions.threshold is not None:
            yield out.Paragraph(
                f"Not for {not_for}: by {self.system.by_name}, no probability is shown "
                f"from which {self.options.alone:g} of the {self.whole.right} there."
            )

    def _named(self) -> dict[str, str | None]:
        """Return what the files say about themselves."""
        names = ("format", "model", "task")
        return {name: getattr(self.system.evaluation, name) for name in names}

    def _about(self) -> Iterator[out.Block]:
        """Yield what was read, and the scoring of unanswered samples."""
        system, margin = self.system, " " * 12
        named = self._named()
        if len(system.files) > 1:
            named["tasks"] = str(len(system.files))
        lines: list[out.Block] = [
            out.Line(f"{name:<11} {printable(value)}")
            for name, value in named.items()
            if value and not (name == "format" and system.is_table)
        ]
        if system.unanswered:
            counts = f"{self._unanswered()}; {system.n_skipped} left out"
            lines.append(out.Line(f"{'unanswered':<11} {counts}"))
            rule = f"{system.rule} (--unanswered chooses.)"
            lines.append(out.Paragraph(rule, mark=margin))
        if system.if_wrong is not None:
            lines.append(out.Line(f"{margin}{self._counted_as_wrong()}"))
        # Notes about tables are on standard error, and rows left out at the top.
        notes = self.notes(of_files=not system.is_table)
        lines += [out.Paragraph(note, mark=f"{'note':<12}") for note in notes]
        if lines:
            yield from (out.Line(), *lines)

    def _counted_as_wrong(self) -> str:
        """Return the accuracy with unanswered samples as wrong answers."""
        assert self.system.if_wrong is not None
        rate, interval = self.whole.estimate(self.system.if_wrong)
        return f"counted as wrong: accuracy {rate} ({interval})"

    def _unanswered(self) -> str:
        """Return the number of samples without an answer, by status."""
        counts = self.system.unanswered.items()
        return ", ".join(f"{n} {status}" for status, n in counts)

    def _judged(self) -> Iterator[out.Block]:
        """Yield what the judge and the labels of people say."""
        judged, estimate = self.whole.found.judged, self.whole.estimate
        if judged is None:
            return
        found = judged.accuracy
        rates: dict[str, out.Estimated | None] = {
            "by judge and labels": found,
            # Both populations have one estimate, and different intervals.
            "these answers only": out.Estimate(found.estimate, *judged.items),
            "by labels alone": found.labels_only,
            "judge's sensitivity": found.sensitivity,
            "judge's specificity": found.specificity,
        }
        rows = [[name, *estimate(rate)] for name, rate in rates.items() if rate]
        # After the estimates of the accuracy, and before the rates of the judge's
        # errors.
        rows.insert(3, ["by the judge", self.whole.number(found.uncorrected), ""])
        yield out.Heading(
            f"{self.whole.word} by people ({found.method})", level=self.level
        )
        yield out.Table(["rate", "estimate", self.whole.level], rows)
        yield out.Paragraph(
            f"{found.n_labelled:,} of {found.n_items:,} answers have a label. With "
            f"the judge, they are equivalent to {found.equivalent_labels:,.0f} "
            "labels drawn at random without the judge. The result by labels alone is "
            "valid only if the labelled answers were drawn without regard to the judge."
        )

    def by(self) -> list[out.Block]:
        """Return the table of the parts."""
        rows = [[value, *part.cells()] for value, part in self.parts.items()]
        table = _of_rows([str(self.system.by_name), *self.whole.header()], rows)
        sentences = []
        if self.whole.found.judged is not None:
            sentences.append(
                "These numbers are of the answers with a label, by the labels alone. "
                "skcalib compare --by has the judge's scores alone."
            )
        # Parts with too few answers are in the table, and are not counted as tested.
        tested = [each for each in self.parts.values() if each.adjusted is not None]
        if tested:
            n_rejected = sum(part.is_rejected for part in tested)
            sentences.append(
                f"Perfect calibration is rejected for {n_rejected} of {len(tested)}; p "
                "is adjusted for all of them (Holm), and intervals and thresholds are "
                "not."
            )
        if self.one_map is not None:
            # Curves may differ although no part is rejected, and vice versa.
            p = out.p_text(self.one_map, "p = ")
            shown = "is" if self.one_map < self.whole.alpha else "is not"
            sentences.append(
                f"A difference of the curves by {self.system.by_name} {shown} shown "
                f"({p}, score test of one logistic map)."
            )
        return [table, *(out.Paragraph(each, "soft") for each in sentences)]

    def steps(self) -> out.Steps:
        """Return what to do now, with one or two sentences per item."""
        whole, how = self.whole, self._how_to_recalibrate()
        steps = filter(None, [how, whole.how_many_more(), whole.how_to_quote()])
        return out.Steps(list(steps), level=self.level)

    def _how_to_recalibrate(self) -> str | None:
        """Return how to recalibrate, which depends on the parts; None if nothing is."""
        whole, by = self.whole, self.system.by_name
        if whole.is_reversed:
            return (
                # A map fitted to reversed probabilities would hide the mistake.
                f"Check the column of probabilities. {whole.how_reversed()}, as the "
                "probabilities of another class do. Name the label that they are about "
                "with --pos-label, or another column with --y-proba."
            )
        p_value, decision = self.one_map, self.decisions.recalibrate
        if decision == "by part" and p_value is not None:
            few = f"with few answers, one slope for all and an intercept per {by}"
            return (
                f"Recalibrate by {by}, not with one map for all: one logistic map does "
                f"not fit all ({out.p_text(p_value, 'p = ')}, score test). For each "
                f"{by}, {whole.recalibration(self.decisions.map, few)}"
            )
        if decision == "one map":
            one = ""
            if whole.stated is not None and whole.stated.frequency.estimate in (0, 1):
                every = "right" if whole.stated.frequency.estimate else "wrong"
                return (
                    # The logistic map has no finite maximum of its likelihood then.
                    "Collect more answers before you recalibrate: no map can be "
                    f"fitted to answers that are all {every}."
                )
            if p_value is not None:
                p = out.p_text(p_value, "p = ")
                one = f"one map for all (no difference by {by} is shown, {p}): "
            return f"Recalibrate: {one}{whole.recalibration(self.decisions.map)}"
        rejected = [name for name, part in self.parts.items() if part.is_rejected]
        is_shown = whole.is_rejected or (p_value is not None and p_value < whole.alpha)
        if rejected and not is_shown:
            return (
                f"Collect more answers of {', '.join(rejected)}. Perfect calibration "
                "is rejected there, but not for all answers together, and no "
                f"difference by {by} is shown."
            )
        return None

    def brief(self) -> Iterator[out.Block]:
        """Yield the verdict and the main numbers."""
        yield out.Paragraph(self.whole.verdict(), "verdict")
        yield from self.case()
        # The summary of a Markdown file leaves the count out.
        yield out.Page([out.Paragraph(self.whole.count(), "soft")])
        yield self.whole.cards()
        if self.system.unanswered:
            rule = f"Without an answer: {self._unanswered()}. {self.system.rule}"
            yield out.Paragraph(rule)
        if self.system.if_wrong is not None:
            yield out.Paragraph(self._counted_as_wrong().capitalize() + ".")
        yield from self._judged()
        yield from (out.Paragraph(f"Note: {note}", "soft") for note in self.notes())
        if self.condition is not None:
            said = f"{'Failed' if self.is_met else 'Passed'} ({self.condition})"
            yield out.Paragraph(f"{said}: {self.reason()}.", "verdict")
        yield from (out.Paragraph(each, "verdict") for each in self._check())

    def page(self) -> Iterator[out.Block]:
        """Yield the page: verdict, figures beside their tables, advice and numbers."""
        yield from self.brief()
        whole, level, system = self.whole, self.level, self.system
        regions, results = whole.regions(), list[out.Block]()
        if regions:
            results.append(out.Heading("probabilities and outcomes", level=level))
            blocks = [*self._figure(), out.Page(regions[1:])]
            results.append(out.Beside(blocks))
        if self.parts:
            results.append(out.Heading(f"by {system.by_name}", level=level))
            results.append(out.Beside([*self._of_parts(), out.Page(self.by())]))
        results += self._of_threshold()
        advice: list[out.Block] = [self.steps()]
        if whole.stated is not None:
            parts = map(out.Paragraph, brier_parts(*whole.stated.brier))
            numbers = [whole.table(is_long=True), *parts, *whole.remarks()]
            advice.append(out.Folded(numbers, "all numbers"))
        yield out.Beside([out.Page(results), out.Page(advice)], "wide")

    @cached_property
    def curve(self) -> Any:
        """The figure of all answers; a single curve has the name of its file."""
        # Drawn once: the page and the file of --output have the same figure.
        named = {self.system.title: self.system.answers}
        return draw_curves(named, self.whole.confidence_level, self.whole.word)

    @cached_property
    def of_parts(self) -> Any:
        """A figure with a curve of each part, or a row of each if there are many."""
        whole = self.whole
        if len(self.parts) > MOST_PANELS:
            measured = {name: part.found for name, part in self.parts.items()}
            return draw_parts(measured, whole.word, whole.level)
        parts = self.system.answers.parts()
        return draw_curves(parts, whole.confidence_level, whole.word)

    def _of_parts(self) -> list[out.Block]:
        figure = self.of_parts if len(self.parts) > 1 else None
        return out.figures(figure, self.said())

    def _of_threshold(self) -> list[out.Block]:
        """Return the figure of the error of the most confident answers."""
        whole, alone = self.whole, self.whole.found.alone
        if alone is None or not whole.is_graded:
            return []
        answers, level = self.system.answers, whole.confidence_level
        figure = out.figures(draw_alone(answers, alone, level), whole.alone()[0])
        if not figure:
            return []
        which = "all answers"
        if whole.found.without_probability is not None:
            which = "the answers with a probability"
        text = (
            "Share of wrong answers (vertical) among the most confident answers, by "
            f"their share of {which} (horizontal), with intervals."
        )
        if alone.threshold is not None:
            text += (
                " The dashed line is at the threshold "
                f"{whole.threshold(alone.threshold)}; it ends at the error that "
                f"is allowed, {1 - alone.accuracy:.3g}."
            )
        title = out.Heading("may it answer alone?", level=self.level)
        return [title, out.Page([*figure, out.Paragraph(text, "soft")])]

    def _figure(self) -> list[out.Block]:
        figure = out.figures(self.curve, self.said())
        if not figure or self.whole.error is None:
            return []
        text = (
            f"{self.whole.word.capitalize()} (vertical) for each stated probability "
            "(horizontal). On the diagonal, both are equal."
        )
        if is_open(self.whole.error.low):
            text += (
                " In the legend, an interval that begins with (0 excludes 0, but every "
                "larger error up to its end is compatible with the data."
            )
        return [out.Page([*figure, out.Paragraph(text, "soft")])]

    def said(self) -> str:
        """Return the numbers of a figure for screen readers."""
        named = self.parts or {self.system.name: self.whole}
        said = []
        for name, part in named.items():
            if part.error is not None:
                error, interval = part.estimate(part.error)
                said.append(
                    f"{name}: mean probability {part.mean}, {part.word} "
                    f"{part.number(part.accuracy.estimate)}, calibration error "
                    f"{error} ({interval})"
                )
        return f"Reliability curve. {'; '.join(said)}."

    def settings(self) -> list[list[str]]:
        """Return the rows of the settings that the files determine."""
        return [
            *(["file", file] for file in self.system.files),
            *([name, value] for name, value in self._named().items() if value),
        ]


def _of_rows(header: list[str], rows: list[list[str]]) -> out.Table:
    """Return a table of parts or systems, with accuracies only if no other is known."""
    if any(any(row[4:]) for row in rows):
        # A terminal has no place for the intervals of the AUROC and of the error.
        return out.Table(header, rows, spare=(8, 7, 4, 6, 3))
    return out.Table(header[:4], [row[:4] for row in rows])


def _of_systems(reports: list[Report]) -> out.Table:
    """Return the table with one row per system."""
    header = ["system", *reports[0].whole.header()]
    rows = [[each.system.name, *each.whole.cells()] for each in reports]
    return _of_rows(header, rows)


def _printed(reports: list[Report]) -> Iterator[out.Block]:
    """Yield the table of several systems, then the table of each one's parts."""
    yield _of_systems(reports)
    yield out.Line("skcalib compare tests whether these systems differ.")
    for each in reports:
        notes = [out.Paragraph(note, mark="note  ") for note in each.notes()]
        notes += map(out.Paragraph, each._check())
        if each.parts or notes:
            yield from (out.Heading(each.system.name), *notes)
        if each.parts:
            yield from each.by()


def _markdown_blocks(reports: list[Report]) -> Iterator[out.Block]:
    """Yield verdicts and tables of one or several systems."""
    if len(reports) > 1:
        yield _of_systems(reports)
    for each in reports:
        if len(reports) > 1:
            yield out.Heading(each.system.name)
        yield from each.brief()
        if each.parts:
            yield from (out.Heading(f"by {each.system.by_name}"), *each.by())


def _status(reports: list[Report]) -> int:
    """Return the exit status, and print why it is 1 or why a test is impossible."""
    for each in reports:
        if each.is_rejected:
            say("report", f"--check: rejected for {each.system.file}")
        model = each.system.evaluation.model if each.system.is_table else None
        about = ", ".join(
            filter(None, [f"{each.condition}: {each.system.file}", model])
        )
        most, error = each.options.max_error, each.whole.error
        if each.is_met:
            say("report", f"{about}: {each.reason()}")
        # An error is then never found, which is no evidence of none.
        elif each.condition in (None, NOT_ALONE):
            continue
        elif each.whole.pvalue is None:
            say("report", f"{about}: not met. {TOO_FEW}.")
        elif most is not None and error is not None and error.high > most:
            text = f"not met, but an error of up to {error.high:.3f} is"
            say("report", f"{about}: {text} compatible with the data.")
    failed = any(each.is_met or each.is_rejected for each in reports)
    return FAILED if failed else DONE


def _page_blocks(
    reports: list[Report], options: Namespace, figure: Any
) -> Iterator[out.Block]:
    """Yield the page of one system, or of several with their figure."""
    if len(reports) > 1:
        said = " ".join(each.said() for each in reports)
        yield out.Beside([*out.figures(figure, said), _of_systems(reports)])
    for each in reports:
        if len(reports) > 1:
            yield out.Heading(each.system.name, is_name=True)
        yield from each.page()
    rows = [row for each in reports for row in each.settings()]
    rows += settings_of(options)
    yield out.Folded([out.Table(["what", "value"], rows, is_left=True)], "settings")
