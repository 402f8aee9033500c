"""``skcalib report``: accuracy and calibration of answers in files."""

from __future__ import annotations

import platform
import sys
import warnings
from argparse import Namespace
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from .._errors import printable
from .._pairs import check_pairs
from .._results import is_open
from ..metrics import CalibrationErrorInterval
from ..metrics._interval import LEAST_GROUPS, LEAST_UNITS
from ..plot import ReliabilityDisplay, _style
from . import _blocks as out
from ._options import reject
from ._report_numbers import (
    N_REGIONS,
    TOO_FEW_GROUPS,
    Measured,
    Stated,
    brier_parts,
    measure,
    with_probabilities,
)
from ._runs import (
    ACCURACY,
    Answers,
    System,
    curves_of,
    read_systems,
    safe_stem,
    word_of,
)
from ._shared import (
    DONE,
    FAILED,
    CommandError,
    as_option,
    check_different,
    check_figure,
    check_files,
    check_level,
    exclude,
    say,
)

# With more values of --by, the panels of the figure would be too small.
_MOST_CURVES = 10

# Number of answers needed for isotonic regression, as advised by scikit-learn.
ENOUGH_FOR_ISOTONIC = 1000

_TOO_FEW = "Too few answers to test calibration"
_DIRECTION = {"too high": "overconfident", "too low": "underconfident"}

# Options and packages among the settings of the page.
_SETTINGS = (
    *("score", "filter", "split", "unanswered", "groups", "labels", "by"),
    *("y_true", "y_proba", "confidence", "pos_label", "confidence_level"),
)
_PACKAGES = ("numpy", "scipy", "scikit-learn", "matplotlib")


def run_report(options: Namespace) -> int:
    """Print the report, draw it and write its page; return the exit status."""
    _check_options(options)
    path = _figure_path(options)
    systems = read_systems(options)
    _check_used(systems, options)
    # The report on a file of a harness has a place for its notes.
    for system in systems:
        for note in system.evaluation.notes if system.is_table else ():
            say("report", f"{system.file}: {note}")
    reports = [Report(system, options) for system in systems]
    is_single = len(reports) == 1
    if options.json:
        objects = [each.numbers(path) for each in reports]
        print(out.as_json(objects[0] if is_single else objects))
    else:
        print(out.as_text(reports[0].printed() if is_single else _printed(reports)))
    # The numbers are printed before the figure, which may fail.
    sys.stdout.flush()
    figure = None if path is None else _figure_of(curves_of(systems), systems, options)
    if figure is not None:
        figure.savefig(path, dpi=200, bbox_inches="tight")
        if not options.json:
            print(f"\nfigure: {printable(str(path))}")
    title = systems[0].name if is_single else f"{len(systems)} systems"
    title = f"Accuracy and calibration: {title}"
    if options.markdown is not None:
        text = out.as_markdown(title, _markdown_blocks(reports))
        options.markdown.write_text(text, "utf-8")
    if options.html is not None:
        page = out.as_page(title, _page_blocks(reports, options))
        options.html.write_text(page, "utf-8")
        if not options.json:
            print(f"page: {printable(str(options.html))}")
    return _status(reports)


def _check_options(options: Namespace) -> None:
    check_level(options.confidence_level)
    exclude(
        options,
        ("output", "no_figure"),
        ("skip_missing", "unanswered"),
        ("y_true", "score"),
        ("fail_if", "max_error"),
        *(("confidence", n) for n in ("y_proba", "labels", "skip_missing")),
        ("confidence", "unanswered"),
    )
    if options.max_error is not None and not 0 <= options.max_error < 1:
        raise CommandError(
            "--max-error must be at least 0 and below 1, for example 0.05. Got "
            f"{options.max_error:g}."
        )
    check_different(options.file, "report")
    check_figure(options.output, "--output")
    figure = "--output" if options.output else "the figure (--output)"
    check_files(
        [*options.file, options.labels],
        [
            (figure, _figure_path(options)),
            ("--html", options.html),
            ("--markdown", options.markdown),
        ],
    )


def _check_used(systems: list[System], options: Namespace) -> None:
    """Raise an error if options for tables or probabilities have nothing to act on."""
    if not any(system.is_table for system in systems):
        why = "applies to plain tables. For files of a harness, use --unanswered drop."
        reject(options, ["skip_missing"], why)
    if not any(np.isfinite(system.answers.q).any() for system in systems):
        why = (
            f"needs probabilities. {options.file[0]} has none; name their column with "
            "--y-proba."
        )
        reject(options, ["percent"], why)


def _figure_path(options: Namespace) -> Path | None:
    """Return the path of the figure, or None for no figure."""
    # --no-figure excludes --output, and with --json only --output draws.
    if options.output or options.no_figure or options.json:
        return options.output
    if len(options.file) > 1:
        return Path("reliability.png")
    return Path(f"{safe_stem(options.file[0])}.reliability.png")


def _figure_of(
    parts: dict[str, Answers], systems: list[System], options: Namespace
) -> Any:
    """Return the figure with one curve per part that has probabilities.

    If there are many parts, the largest are drawn. Return None if no part has
    probabilities.
    """
    curves = {name: with_probabilities(part) for name, part in parts.items()}
    known = {name: part for name, part in curves.items() if part is not None}
    if not known:
        return None
    largest = sorted(known, key=lambda name: -known[name].y.size)[:_MOST_CURVES]
    # The largest parts are drawn in their own order.
    models = []
    for name in (name for name in known if name in largest):
        part = known[name]
        groups = part.dependent if part.has_two_groups else None
        (pairs,) = check_pairs(part.y.astype(int), part.q, groups=groups, are_all=False)
        models.append((printable(name), pairs, None))
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        # The report mentions few groups. The figure needs no screen and no pyplot.
        bins = "auto", None, "quantile"
        display = ReliabilityDisplay._draw(
            models, bins, options.confidence_level, None, _style.empty_figure(), {}
        )
    for axes in display.figure_.axes:
        if axes.get_ylabel() == "Fraction of positives":
            axes.set_ylabel(word_of(*systems).capitalize())
    if len(known) > _MOST_CURVES:
        what = "systems" if options.by is None else f"values of {options.by!r}"
        n = f"{_MOST_CURVES} largest of the {len(known)}"
        say("report", f"the figure shows the {n} {what}.")
    return display.figure_


class Part:
    """The numbers of a system, or of one of its parts, in words and tables.

    All numbers between 0 and 1 are written with `digits`.
    """

    def __init__(self, found: Measured, level: float, word: str, digits: str):
        self.found, self.word, self.digits = found, word, digits
        self.alpha, self.level = 1 - level, out.percent(level)
        self.is_graded = word == ACCURACY
        self.unit = "questions" if self.is_graded else "predictions"
        self.n, self.n_groups, self.accuracy = found.n, found.n_groups, found.accuracy
        self.stated = found.stated
        # None if there are too few answers.
        self.pvalue = None if self.stated is None else self.stated.checked.pvalue
        self.adjusted = self.pvalue
        if self.pvalue is not None and found.pvalue_adjusted is not None:
            self.adjusted = found.pvalue_adjusted
        self.is_rejected = self.adjusted is not None and self.adjusted < self.alpha

    @property
    def error(self) -> CalibrationErrorInterval | None:
        """The calibration error, if there are probabilities."""
        return None if self.stated is None else self.stated.checked.calibration_error

    @property
    def auroc(self) -> out.Estimate | None:
        """How well probabilities rank the answers, if it is known."""
        return None if self.stated is None else self.stated.checked.auroc

    @property
    def direction(self) -> str:
        """Whether probabilities are too high or too low on average, or fit."""
        assert self.stated is not None
        return self.stated.overall.verdict

    @property
    def mean(self) -> str:
        """The mean probability."""
        assert self.stated is not None
        return self.number(self.stated.overall.mean_probability)

    def number(self, value: float) -> str:
        return f"{value:{self.digits}}"

    def estimate(self, row: out.Estimated) -> list[str]:
        """Return an estimate and its interval as cells."""
        return [self.number(row.estimate), out.error_ends(row, self.digits)]

    def count(self) -> str:
        """Return the number of answers and of groups."""
        # A question may have several samples, and a sample no probability.
        n_samples = self.found.n_samples
        count = f"{self.n:,} {self.unit}"
        if self.n < n_samples:
            count = f"{n_samples:,} samples of {count}"
        if self.stated is not None and self.stated.overall.n < n_samples:
            count += f", {self.stated.overall.n:,} with a probability"
        if self.n_groups is not None:
            count += f", {self.n_groups:,} groups"
        return count

    def verdict(self) -> str:
        """Return a summary of the calibration of the probabilities.

        If some answers have no probability, it is about the others.
        """
        shown, of, others = self.accuracy, "", ""
        without = self.found.without_probability
        if without is not None and self.stated is not None:
            shown, n = self.stated.frequency, self.stated.overall.n
            of = f" of the {n:,} answers with a probability"
            number, interval = self.estimate(without)
            n = self.found.n_samples - n
            others = f" The {self.word} of the others ({n:,}) is {number} ({interval})."
        rate, interval = self.estimate(shown)
        rate = f"{self.word}{of} is {rate} ({self.level} interval {interval})"
        if self.error is None:
            return (
                f"The {rate}. The answers have no probabilities, so calibration cannot "
                "be measured."
            )
        compatible = (
            f"An error of up to {self.number(self.error.high)} is compatible with "
            "the data."
        )
        found = f"the mean probability is {self.mean}, and the {rate}.{others}"
        if self.pvalue is None:
            return (
                f"{_TOO_FEW}: at least {LEAST_UNITS} independent answers or groups are "
                f"needed; {found} {compatible}"
            )
        if self.direction != "fits":
            return f"The model is {_DIRECTION[self.direction]}: {found}"
        if self.is_rejected:
            return (
                "The probabilities are right on average but not individually, since "
                f"some are too high or too low: {found}"
            )
        return f"No miscalibration is shown: {found} {compatible}"

    def case(self) -> list[out.Block]:
        """Return whether the confidence is calibrated, whether it ranks, and advice."""
        if self.is_reversed:
            return [out.Paragraph(f"{self.how_reversed()}.")]
        if self.stated is None:
            return []
        text = self.stated.checked.case(self.alpha, self.digits)
        return [out.Paragraph(text)] if text else []

    @property
    def is_reversed(self) -> bool:
        """Whether labels are positive less often where probabilities are higher."""
        return not self.is_graded and self.auroc is not None and self.auroc.high < 0.5

    def how_reversed(self) -> str:
        """Return how well labels are ranked, if they are ranked in reverse."""
        assert self.auroc is not None
        auroc, interval = self.estimate(self.auroc)
        return (
            f"Positive labels have lower probabilities than the others (AUROC {auroc}, "
            f"{self.level} {interval})"
        )

    def table(self, *, is_long: bool) -> out.Table:
        """Return the main numbers, and with `is_long` numbers for comparison."""
        rate, interval = self.estimate(self.accuracy)
        rows = [[self.word, rate, f"{self.level} {interval}"]]
        if self.stated is not None:
            rows += self._of_probabilities(self.stated, is_long=is_long)
        return out.Table(["measure", "value", "remark"], rows, is_left=True)

    def _of_probabilities(self, found: Stated, *, is_long: bool) -> list[list[str]]:
        error, number = found.checked.calibration_error, self.number
        estimate, interval = self.estimate(error)
        # The number is for independent answers.
        is_single = self.n_groups is None and self.n == self.found.n_samples
        expected = number(found.ece_expected) + " or more" * (not is_single)
        rows = [
            ["mean probability", self.mean, ""],
            [
                "calibration error",
                estimate,
                f"{self.level} {interval}; debiased",
            ],
        ]
        if is_long:
            plug_in = number(error.plug_in)
            rows.append(["plug-in error", plug_in, "with label noise"])
        remark = f"{N_REGIONS} bins of equal width; {expected} if calibrated"
        rows.append(["ECE", number(found.ece), remark])
        if is_long:
            remark = "largest distance in these bins"
            rows.append(["MCE", number(found.mce), remark])
        rows.append(["perfect calibration", *self._test(found)])
        if self.auroc is not None:
            auroc, interval = self.estimate(self.auroc)
            remark = f"{self.level} {interval}; 0.5 if it ranks nothing"
            rows.append(["AUROC", auroc, remark])
        score = f"{found.brier.adaptive.score:.4f}"
        rows.append(["Brier score", score, "mean squared error; lower is better"])
        return rows

    def _test(self, stated: Stated) -> tuple[str, str]:
        """Return the p-value of perfect calibration, and the decision by which test."""
        if self.pvalue is None:
            return "not tested", "too few answers"
        n_wrong = stated.n_certain_wrong
        if n_wrong:  # perfect calibration is then impossible
            what = f"{n_wrong} of {stated.n_certain} certain answers are wrong"
            return out.p_text(self.pvalue, "p = "), f"rejected: {what}"
        values = {end for row in self.found.regions for end in (row.from_, row.to)}
        is_one = len(values) == 1 and self.n_groups is None
        test = "score test" if is_one else "Cauchy combination test"
        is_rejected = self.pvalue < self.alpha
        decision = "rejected" if is_rejected else "not rejected"
        return out.p_text(self.pvalue, "p = "), f"{decision} by the {test}"

    def remarks(self) -> Iterator[out.Block]:
        """Yield what limits the numbers."""
        n = None if self.error is None else self.error.n_effective_groups
        if n is not None and n < LEAST_GROUPS:
            yield out.Paragraph(
                f"only {n:.1f} effective groups: the interval contains the true error "
                f"less often than {self.level}"
            )
        if any(row.verdict == TOO_FEW_GROUPS for row in self.found.regions):
            yield out.Paragraph(
                f"{TOO_FEW_GROUPS}: a verdict needs {LEAST_UNITS} groups"
            )

    def regions(self) -> list[out.Block]:
        """Return the table of probabilities and outcomes by region."""
        rows = []
        for row in self.found.regions:
            limits = f"{row.from_:.1f} to {row.to:.1f}"
            if row.from_ == row.to:  # the single probability of its answers
                limits = f"{row.from_:.10g}"
            frequency = out.Estimate(
                row.frequency, row.frequency_low, row.frequency_high
            )
            mean, came = self.number(row.mean_probability), self.number(row.frequency)
            interval = out.ends(frequency, self.digits)
            rows.append([limits, str(row.n), mean, came, interval, row.verdict])
        header = ["probability", "n", "mean", self.word, self.level, "verdict"]
        return [out.Line(), out.Table(header, rows)] if rows else []

    def header(self) -> list[str]:
        """Return the header of `cells`."""
        header = ["n", self.word, self.level, "mean prob.", "error", self.level]
        return [*header, "AUROC", self.level, "p"]

    def cells(self) -> list[str]:
        """Return the numbers as cells of a table of parts or systems."""
        cells = [str(self.n), *self.estimate(self.accuracy)]
        if self.error is None:
            return [*cells, *[""] * 6]
        p = "too few" if self.adjusted is None else out.p_text(self.adjusted)
        cells += [self.mean, *self.estimate(self.error)]
        return [*cells, *out.cells_of(self.auroc, self.digits), p]

    def cards(self) -> out.Cards:
        """Return cards with the accuracy, the probabilities and their error."""
        named: dict[str, out.Estimated] = {self.word.capitalize(): self.accuracy}
        if self.error is not None:
            named["Calibration error"] = self.error
        if self.auroc is not None:
            named["AUROC"] = self.auroc
        cards = []
        for name, row in named.items():
            estimate, interval = self.estimate(row)
            cards.append((name, estimate, f"{self.level} interval {interval}"))
        if self.error is not None:
            cards.insert(1, ("Mean probability", self.mean, "stated by the model"))
        return out.Cards(cards)

    def recalibration(
        self, n: int, few: str = "isotonic regression needs about a thousand answers"
    ) -> str:
        """Return how to recalibrate, if each fit has `n` answers.

        few : what to say if there are few answers.
        """
        how = (
            "fit a logistic regression to the log-odds of the probabilities, clipped "
            f"to [.005, .995]; {few}"
        )
        if n >= ENOUGH_FOR_ISOTONIC:
            how = (
                "fit sklearn.isotonic.IsotonicRegression(out_of_bounds='clip') to "
                "probabilities and outcomes"
            )
        classifier = (
            " For a classifier, use sklearn.calibration.CalibratedClassifierCV."
        )
        return (
            f"{how}. Measure the error on answers that were not used in the fit."
            f"{'' if self.is_graded else classifier}"
        )

    def how_many_more(self) -> str:
        """Return how many answers halve the width of the intervals."""
        # Half the width needs four times the independent answers.
        what, count = self.unit, self.n
        if self.n_groups is not None and self.n_groups < self.n:
            what, count = "groups", self.n_groups
        is_repeated = self.n != self.found.n_samples
        more = " More samples per question help little." * is_repeated
        return (
            f"To halve the width of the intervals, collect about {3 * count:,} more "
            f"{what}: {4 * count:,} in all.{more}"
        )

    def how_to_quote(self) -> str:
        """Return a sentence with the numbers for a paper."""
        judged = None if self.found.judged is None else self.found.judged.accuracy
        rate, interval = self.estimate(self.accuracy if judged is None else judged)
        quote = f"Quote: {self.word} {rate} ({self.level} interval {interval}"
        if judged is not None:
            return (
                f"{quote}, {judged.n_items:,} answers graded by the judge, "
                f"{judged.n_labelled:,} of them by people)."
            )
        quote = f"{quote}, {self.n:,} {self.unit})"
        if self.error is None:
            return f"{quote}."
        error, interval = self.estimate(self.error)
        of = ""
        if self.found.without_probability is not None and self.stated is not None:
            of = f" of the {self.stated.overall.n:,} with a probability"
        return (
            f"{quote}; calibration error{of} {error} ({self.level} interval "
            f"{interval}, debiased root mean square). The ECE depends on its bins and "
            "is biased upwards: do not report it alone."
        )


class Report:
    """The report on a system and on each of its parts by name."""

    def __init__(self, system: System, options: Namespace):
        self.system, self.options = system, options
        whole, by, self.one_map = measure(system, options)
        digits = out.decimals(whole.accuracy)

        def part(found: Measured) -> Part:
            return Part(found, options.confidence_level, word_of(system), digits)

        self.whole = part(whole)
        self.parts = {value: part(found) for value, found in by.items()}
        most: float | None = options.max_error
        # the condition of --fail-if or --max-error
        self.condition: str | None = options.fail_if
        if most is not None:
            self.condition = f"calibration error above {most:g}"
        self.is_met = self.condition is not None and self.decisive.low > (most or 0)
        # Headings below the name of one of several systems are one level lower.
        self.level = 2 if len(options.file) == 1 else 3

    def numbers(self, figure: Path | None) -> dict[str, Any]:
        """Return the object that ``--json`` prints."""
        system, evaluation = self.system, self.system.evaluation
        found = {
            "file": system.file,
            **self._named(),
            "n_skipped": system.n_skipped,
            "unanswered": system.unanswered,
            "unanswered_rule": system.rule,
            "notes": evaluation.notes,
            **out.plain(self.whole.found),
        }
        if system.if_wrong is not None:
            found["accuracy_if_wrong"] = system.if_wrong
        if len(system.files) > 1:
            found["files"] = system.files
        if self.parts:
            values = {value: part.found for value, part in self.parts.items()}
            found["by"] = {
                "column": system.by_name,
                "one_map_pvalue": self.one_map,
                "values": values,
            }
        found["figure"] = None if figure is None else str(figure)
        if self.condition is not None:
            found["fail_if"] = {"condition": self.condition, "is_met": self.is_met}
        return found

    @property
    def decisive(self) -> out.Interval:
        """The calibration error that decides about the condition."""
        judged = self.whole.found.judged
        error: out.Interval | None
        error = self.whole.error if judged is None else judged.calibration_error
        if error is None:
            raise CommandError(
                f"{self.system.file}: --fail-if and --max-error need answers with "
                "probabilities and scores of 0 and 1."
            )
        return error

    def possible_error(self) -> float | None:
        """Return an error above --max-error that the data do not exclude, if any."""
        most = self.options.max_error
        return (
            None if most is None or self.decisive.high <= most else self.decisive.high
        )

    def printed(self) -> Iterator[out.Block]:
        """Yield the report for the terminal."""
        system, whole = self.system, self.whole
        if system.is_table and system.n_skipped:
            n = system.n_skipped
            yield out.Line(f"{n} row{'s' * (n > 1)} with an empty cell left out")
        yield out.Line(f"{printable(system.file)}: {whole.count()}")
        yield out.Paragraph(whole.verdict())
        yield from whole.case()
        if system.is_table and whole.error is None:
            yield out.Line(
                "Calibration needs scores of 0 and 1 only."
                if np.isfinite(system.answers.q).any()
                else "If a column contains probabilities, name it with --y-proba."
            )
        yield self.steps()
        if not system.is_table or self.options.unanswered is not None:
            yield from self._about()
        yield from self._judged()
        if whole.error is not None:
            yield from (out.Line(), whole.table(is_long=False), *whole.remarks())
        # The table of the parts says more than the regions of a mixture of them.
        yield from (out.Line(), *self.by()) if self.parts else whole.regions()

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
        yield out.Line()
        for name, value in named.items():
            if value:
                yield out.Line(f"{name:<11} {printable(value)}")
        if system.unanswered:
            counts = f"{self._unanswered()}; {system.n_skipped} left out"
            yield out.Line(f"{'unanswered':<11} {counts}")
            yield out.Paragraph(f"{system.rule} (--unanswered chooses.)", mark=margin)
        if system.if_wrong is not None:
            rate, interval = self.whole.estimate(system.if_wrong)
            yield out.Line(f"{margin}counted as wrong: accuracy {rate} ({interval})")
        for note in system.evaluation.notes if not system.is_table else ():
            yield out.Paragraph(note, mark=f"{'note':<12}")

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
        rows.insert(3, ["by the judge", self.whole.number(found.uncorrected), ""])
        yield out.Heading(f"accuracy by people ({found.method})", level=self.level)
        yield out.Table(["rate", "estimate", self.whole.level], rows)
        yield out.Paragraph(
            f"{found.n_labelled} of {found.n_items} answers have a label. With "
            f"the judge, they are equivalent to {found.equivalent_labels:.0f} "
            "labels drawn at random without the judge. The result by labels alone is "
            "valid only if the labelled answers were drawn without regard to the judge."
        )
        error = judged.calibration_error
        if error is not None:
            number, interval = estimate(error)
            yield out.Paragraph(
                f"Calibration error of the {error.n} answers with a label, by the "
                f"labels: {number} ({interval}). All other numbers about "
                "probabilities treat the judge's scores as the truth."
            )
        yield from map(out.Paragraph, judged.notes)

    def by(self) -> list[out.Block]:
        """Return the table of the parts."""
        rows = [[value, *part.cells()] for value, part in self.parts.items()]
        table = _of_rows([str(self.system.by_name), *self.whole.header()], rows)
        tested = [each for each in self.parts.values() if each.adjusted is not None]
        if not tested:
            return [table]
        n_rejected = sum(part.is_rejected for part in tested)
        verdict = (
            f"Perfect calibration is rejected for {n_rejected} of {len(tested)}; only "
            "p is adjusted (Holm)."
        )
        return [table, out.Paragraph(verdict, "soft")]

    def steps(self) -> out.Steps:
        """Return what to do now, with one or two sentences per item."""
        whole, how = self.whole, self._how_to_recalibrate()
        steps = [*filter(None, [how]), whole.how_many_more(), whole.how_to_quote()]
        return out.Steps(steps, level=self.level)

    def _how_to_recalibrate(self) -> str | None:
        """Return how to recalibrate, which depends on the parts; None if nothing is."""
        whole, by = self.whole, self.system.by_name
        if whole.is_reversed:
            return (
                f"Check the column of probabilities. {whole.how_reversed()}, as the "
                "probabilities of another class do. Name the label that they are about "
                "with --pos-label, or another column with --y-proba."
            )
        p_value = self.one_map
        if p_value is not None and p_value < whole.alpha:
            least = min(part.n for part in self.parts.values())
            few = f"with few answers, one slope for all and an intercept per {by}"
            return (
                f"Recalibrate by {by}, not with one map for all: one logistic map does "
                f"not fit all ({out.p_text(p_value, 'p = ')}, score test). For each "
                f"{by}, {whole.recalibration(least, few)}"
            )
        is_wrong = whole.pvalue is not None and whole.direction != "fits"
        is_rejected = any(part.is_rejected for part in self.parts.values())
        if whole.is_rejected or is_wrong or is_rejected:
            one = ""
            if p_value is not None:
                p = out.p_text(p_value, "p = ")
                one = f"one map for all (no difference by {by} is shown, {p}): "
            return f"Recalibrate: {one}{whole.recalibration(whole.n)}"
        return None

    def brief(self) -> Iterator[out.Block]:
        """Yield the verdict and the main numbers."""
        yield out.Paragraph(self.whole.verdict(), "verdict")
        yield from self.whole.case()
        yield out.Page([out.Paragraph(self.whole.count(), "soft")])
        yield self.whole.cards()
        if self.system.unanswered:
            rule = f"Without an answer: {self._unanswered()}. {self.system.rule}"
            yield out.Paragraph(rule)
        yield from self._judged()

    def page(self, svg: str | None, of_parts: str | None) -> Iterator[out.Block]:
        """Yield the page: verdict, figures beside their tables, advice and numbers."""
        yield from self.brief()
        regions, level = self.whole.regions(), self.level
        results: list[out.Block] = []
        if regions:
            results.append(out.Heading("probabilities and outcomes", level=level))
            results.append(out.Beside([*self._figure(svg), *regions[1:]]))
        if self.parts:
            results.append(out.Heading(f"by {self.system.by_name}", level=level))
            figure = [out.Figure(of_parts, self.said())] if of_parts is not None else []
            results.append(out.Beside([*figure, out.Page(self.by())]))
        advice: list[out.Block] = [self.steps()]
        if self.whole.stated is not None:
            parts = map(out.Paragraph, brier_parts(*self.whole.stated.brier))
            table = self.whole.table(is_long=True)
            numbers = [table, *parts, *self.whole.remarks()]
            advice.append(out.Folded(numbers, "all numbers"))
        yield out.Beside([out.Page(results), out.Page(advice)], "wide")

    def _figure(self, svg: str | None) -> list[out.Block]:
        if svg is None or self.whole.error is None:
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
        return [out.Page([out.Figure(svg, self.said()), out.Paragraph(text, "soft")])]

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
            *(["note", note] for note in self.system.evaluation.notes),
        ]


def _of_rows(header: list[str], rows: list[list[str]]) -> out.Table:
    """Return a table of parts or systems, with accuracies only if no other is known."""
    if any(any(row[4:]) for row in rows):
        # A terminal has no place for the intervals of the AUROC and of the accuracy.
        return out.Table(header, rows, spare=(8, 3, 7))
    return out.Table(header[:4], [row[:4] for row in rows])


def _of_systems(reports: list[Report]) -> out.Table:
    """Return the table with one row per system."""
    header = ["system", *reports[0].whole.header()]
    return _of_rows(
        header, [[each.system.name, *each.whole.cells()] for each in reports]
    )


def _printed(reports: list[Report]) -> Iterator[out.Block]:
    """Yield the table of several systems, then the table of each one's parts."""
    yield _of_systems(reports)
    yield out.Line("skcalib compare tests whether these systems differ.")
    for each in reports:
        if each.parts:
            yield from (out.Heading(each.system.name), *each.by())


def _markdown_blocks(reports: list[Report]) -> Iterator[out.Block]:
    """Yield verdicts and tables of one or several systems."""
    if len(reports) > 1:
        yield _of_systems(reports)
    for each in reports:
        if len(reports) > 1:
            yield out.Heading(each.system.name)
        yield from each.brief()
        if each.condition is not None:
            is_met = "met" if each.is_met else "not met"
            yield out.Paragraph(f"Condition ({each.condition}): {is_met}.", "verdict")
        yield from map(out.Paragraph, each.system.evaluation.notes)
        if each.parts:
            yield from (out.Heading(f"by {each.system.by_name}"), *each.by()[:1])


def _status(reports: list[Report]) -> int:
    """Return the exit status, and print why it is 1 or why a test is impossible."""
    for each in reports:
        about = f"{each.condition}: {each.system.file}"
        if each.is_met:
            say("report", about)
        # An error is then never found, which is no evidence of none.
        elif each.condition is not None and each.whole.pvalue is None:
            say("report", f"{about}: not met. {_TOO_FEW}.")
        elif each.possible_error() is not None:
            text = f"not met, but an error of up to {each.possible_error():.3f} is"
            say("report", f"{about}: {text} compatible with the data.")
    return FAILED if any(each.is_met for each in reports) else DONE


def _page_blocks(reports: list[Report], options: Namespace) -> Iterator[out.Block]:
    """Yield the page of one or several systems."""
    if len(reports) > 1:
        answers = {each.system.title: each.system.answers for each in reports}
        systems = [each.system for each in reports]
        figure = _svg_of(answers, systems, options)
        table = _of_systems(reports)
        said = " ".join(each.said() for each in reports)
        yield out.Beside(
            [*([] if figure is None else [out.Figure(figure, said)]), table]
        )
    for each in reports:
        system = each.system
        if len(reports) > 1:
            yield out.Heading(system.name, is_name=True)
        parts = system.answers.parts()
        svg = _svg_of({system.title: system.answers}, [system], options)
        is_drawn = 1 < len(parts) <= _MOST_CURVES
        of_parts = _svg_of(parts, [system], options) if is_drawn else None
        yield from each.page(svg, of_parts)
    rows = [row for each in reports for row in each.settings()]
    given = {name: getattr(options, name) for name in _SETTINGS}
    rows += [[as_option(n), str(v)] for n, v in given.items() if v is not None]
    rows += [["skcalib", __version__], ["Python", platform.python_version()]]
    rows += [[package, version(package)] for package in _PACKAGES]
    yield out.Folded([out.Table(["what", "value"], rows, is_left=True)], "settings")


def _svg_of(
    answers: dict[str, Answers], systems: list[System], options: Namespace
) -> str | None:
    figure = _figure_of(answers, systems, options)
    return None if figure is None else out.svg_of(figure, dpi=150, bbox_inches="tight")
