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
from .._results import is_open, p_text
from ..metrics._interval import LEAST_GROUPS, LEAST_UNITS
from ..plot import ReliabilityDisplay
from ..plot._base import only_axes
from ._blocks import (
    Block,
    Cards,
    Figure,
    Heading,
    Line,
    Page,
    Paragraph,
    Table,
    as_json,
    as_markdown,
    as_page,
    as_text,
    bracketed,
    ends,
    listed,
    percent,
    svg_of,
)
from ._options import reject
from ._report_numbers import N_REGIONS, TOO_FEW_GROUPS, measure, with_probabilities
from ._runs import Answers, System, read_systems, safe_stem
from ._shared import (
    DONE,
    FAILED,
    CommandError,
    as_option,
    check_figure,
    check_files,
    check_level,
    exclude,
)

# With more values of --by, the colours of the figure would repeat.
_MOST_CURVES = 10

# Width and height in inches of a reliability plot with its histogram.
PANEL = (5.2, 6.2)

# Largest number of parts with their own report; others only have a table row.
_MOST_REPORTS = 12

# Number of answers needed for isotonic regression, as advised by scikit-learn.
ENOUGH_FOR_ISOTONIC = 1000

_TOO_FEW = "Too few answers to test calibration"
_DIRECTION = {
    "too high": "overconfident: probabilities are too high on average",
    "too low": "underconfident: probabilities are too low on average",
    "fits": "neither too high nor too low on average",
}

# What to do with a confidence: whether it is miscalibrated, and whether it ranks. None
# means that the interval of the AUROC is on both sides of 0.5.
_ADVICE = {
    (False, True): "use it as a probability and to select answers",
    (False, False): "select answers by another confidence",
    (False, None): "collect more answers, or select answers by another confidence",
    (True, True): "select answers by it, and recalibrate it",
    (True, False): "use another one, such as the agreement of sampled answers",
    (True, None): "recalibrate it, and collect more answers or use another one",
}

_BRIER_PARTS = {
    "calibration": "removable by recalibration",
    "refinement": "the rest after recalibration",
}

# Options and packages among the settings of the page.
_SETTINGS = (
    *("score", "filter", "split", "unanswered", "groups", "labels", "by", "bin_size"),
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
            print(printable(f"skcalib report: {system.file}: {note}"), file=sys.stderr)
    reports = [Report(system, options) for system in systems]
    is_single = len(reports) == 1
    if options.json:
        objects = [each.numbers(path) for each in reports]
        print(as_json(objects[0] if is_single else objects))
    else:
        print(as_text(reports[0].printed() if is_single else _printed(reports)))
    # The numbers are printed before the figure, which may fail.
    sys.stdout.flush()
    figure = None if path is None else _figure_of(_curves(systems), options)
    if figure is not None:
        figure.savefig(path, dpi=150, bbox_inches="tight")
        if not options.json:
            print(f"\nfigure: {printable(str(path))}")
    title = systems[0].name if is_single else f"{len(systems)} systems"
    title = f"Accuracy and calibration: {title}"
    if options.markdown is not None:
        text = as_markdown(title, _markdown_blocks(reports))
        options.markdown.write_text(text, "utf-8")
    if options.html is not None:
        # Many curves are not readable on a phone; the page has a table of the parts.
        answers = {system.title: system.answers for system in systems}
        figure = _figure_of(answers, options)
        svg = None if figure is None else svg_of(figure, dpi=150, bbox_inches="tight")
        page = as_page(title, _page_blocks(reports, svg, options))
        options.html.write_text(page, "utf-8")
        if not options.json:
            print(f"page: {printable(str(options.html))}")
    return _status(reports)


def _check_options(options: Namespace) -> None:
    check_level(options.confidence_level)
    if options.bin_size is not None and options.bin_size < 1:
        raise CommandError(f"--bin-size must be at least 1. Got {options.bin_size}.")
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
        reject(options, ("bin_size", "percent"), why)


def _figure_path(options: Namespace) -> Path | None:
    """Return the path of the figure, or None for no figure."""
    # --no-figure excludes --output, and with --json only --output draws.
    if options.output or options.no_figure or options.json:
        return options.output
    if len(options.file) > 1:
        return Path("reliability.png")
    return Path(f"{safe_stem(options.file[0])}.reliability.png")


def _curves(systems: list[System]) -> dict[str, Answers]:
    """Return the answers of each curve of the figure."""
    if len(systems) == 1:
        only = systems[0]
        return only.answers.parts() or {only.title: only.answers}
    return {system.name: system.answers for system in systems}


def _figure_of(parts: dict[str, Answers], options: Namespace) -> Any:
    """Return the figure with one curve per part that has probabilities.

    If there are many parts, the largest are drawn. Return None if no part has
    probabilities.
    """
    from matplotlib.figure import Figure as Canvas

    curves = {name: with_probabilities(part) for name, part in parts.items()}
    known = {name: part for name, part in curves.items() if part is not None}
    if not known:
        return None
    largest = sorted(known, key=lambda name: -known[name].y.size)[:_MOST_CURVES]
    # The figure needs neither a screen nor pyplot's state.
    figure = Canvas(figsize=PANEL, layout="constrained")
    axes = only_axes(figure)
    # The largest parts are drawn in their own order.
    for name in (name for name in known if name in largest):
        part = known[name]
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            # the report mentions few groups
            ReliabilityDisplay.from_predictions(
                part.y.astype(int),
                part.q,
                groups=part.dependent if part.has_two_groups else None,
                bin_size=options.bin_size or "auto",
                confidence_level=options.confidence_level,
                name=printable(name),
                ax=axes,
            )
    axes.set_ylabel("Share that came true")
    for panel in axes.child_axes:
        panel.set_ylabel("Answers")
    if len(known) > _MOST_CURVES:
        what = "systems" if options.by is None else f"values of {options.by!r}"
        print(
            f"skcalib report: the figure shows the {_MOST_CURVES} largest of the "
            f"{len(known)} {what}.",
            file=sys.stderr,
        )
    return figure


class Part:
    """The numbers of a system, or of one of its parts, in words and tables."""

    def __init__(self, found: dict[str, Any], confidence_level: float):
        self.found = found
        self.alpha = 1 - confidence_level
        self.level = percent(confidence_level)
        self.n: int = found["n"]
        self.n_samples: int = found["n_samples"]
        self.n_groups: int | None = found["n_groups"]
        self.accuracy: dict[str, float] = found["accuracy"]
        self.overall: dict[str, Any] = found["overall"]
        self.error: dict[str, Any] | None = found["calibration_error"]
        # None if there are too few answers.
        self.pvalue: float | None = self.error["p_value"] if self.error else None
        self.is_rejected = self.pvalue is not None and self.pvalue < self.alpha

    def opening(self) -> str:
        """Return the numbers in one line, and the direction in the next line."""
        accuracy, overall = self.accuracy, self.overall
        interval = f"({self.level} {bracketed(accuracy)})"
        # A question may have several samples, and a sample no probability.
        count = f"{self.n_samples} predictions"
        if self.n < self.n_samples:
            count += f" of {self.n} questions"
        if overall is not None and overall["n"] < self.n_samples:
            count += f", {overall['n']} with a probability"
        if self.n_groups is not None:
            count += f", {self.n_groups} groups"
        if overall is None:
            return f"{count}: accuracy {accuracy['estimate']:.4f} {interval}"
        direction = _TOO_FEW.lower()
        if self.pvalue is not None:
            direction = _DIRECTION[overall["verdict"]]
        return (
            f"{count}: mean probability {overall['mean_probability']:.4f}, frequency "
            f"{accuracy['estimate']:.4f} {interval}\n{direction}"
        )

    def verdict(self) -> str:
        """Return a summary of the calibration of the probabilities."""
        if self.error is None:
            return (
                "The answers have no probabilities, so calibration cannot be measured."
            )
        compatible = (
            f"An error of up to {self.error['high']:.3f} is compatible with the data."
        )
        if self.pvalue is None:
            return (
                f"{_TOO_FEW}: at least {LEAST_UNITS} independent answers or groups are "
                f"needed. {compatible}"
            )
        said = f"{self.overall['mean_probability']:.1%}"
        came = f"{self.overall['frequency']:.1%}"
        if self.overall["verdict"] != "fits":
            more = "more" if self.overall["verdict"] == "too high" else "less"
            return (
                f"The model is {more} confident than it is right: it states {said} on "
                f"average, and {came} came true."
            )
        if self.is_rejected:
            return (
                f"The probabilities are right on average ({said} stated, {came} came "
                "true) but not individually: some are too high or too low."
            )
        return (
            f"No miscalibration is shown: {said} stated on average, {came} came true. "
            f"{compatible}"
        )

    def case(self) -> list[Block]:
        """Return whether the confidence is calibrated, whether it ranks, and advice."""
        text = case_of(self.error, self.found["ranking"], self.alpha)
        return [Paragraph(text)] if text else []

    def test(self) -> tuple[str, str]:
        """Return the p-value of perfect calibration, and the decision."""
        if self.pvalue is None:
            return "not tested", "too few answers"
        decision = "rejected" if self.is_rejected else "not rejected"
        return p_text(self.pvalue, before="p = "), decision

    def details(self) -> list[Block]:
        """Return the errors, the parts of the Brier score and the regions as lines."""
        if self.error is None:
            return []
        error, plug_in = self.error, self.found["plug_in"]
        bins, levels = (self.found["brier"][name] for name in ("adaptive", "isotonic"))
        # The residual inside bins can have either sign.
        sign = "-" if bins["residual"] < 0 else "+"
        few, n = [], error["n_effective_groups"]
        if n is not None and n < LEAST_GROUPS:
            few = [
                f"  only {n:.1f} effective groups: the interval contains the true "
                f"error less often than {self.level}"
            ]
        lines = [
            f"  debiased    {error['estimate']:.4f}  {self.level} "
            f"{error_ends(error, 4)}, bins of {error['bin_size']}; corrected for "
            "noise: report this",
            f"  plug-in     {plug_in['error']:.4f}  {_bins_text(plug_in['bin_size'])} "
            "(as in the curve); biased upwards",
            f"  mean |.|    {self.found['ece']:.4f}  ECE in {N_REGIONS} equal-width "
            f"bins ({self._expected()}); MCE {self.found['mce']:.4f}",
            f"perfect calibration: {', '.join(self.test())}",
            *(f"AUROC {auroc}, {remark}" for _, auroc, remark in self._auroc()),
            *few,
            "",
            f"Brier score {bins['score']:.4f}",
            f"  = {bins['calibration']:.4f} calibration + {bins['refinement']:.4f} "
            f"refinement {sign} {abs(bins['residual']):.4f} inside "
            f"{_bins_text(bins['bin_size'])}",
            f"  = {levels['calibration']:.4f} calibration - "
            f"{levels['discrimination']:.4f} discrimination + "
            f"{levels['uncertainty']:.4f} uncertainty, isotonic",
            "  (calibration: removable by recalibration; refinement: the rest)",
            "",
        ]
        for name, n, mean, frequency, interval, verdict in self.regions("[{}, {}]"):
            lines.append(
                f"{name:<13}{n:>9}{mean:>8}{frequency:>8}  {interval:<18}{verdict}"
            )
        if any(row["verdict"] == TOO_FEW_GROUPS for row in self.found["regions"]):
            lines.append(f"{TOO_FEW_GROUPS}: a verdict needs {LEAST_UNITS} groups")
        return [Heading("calibration error, root mean square"), *map(Line, lines)]

    def _expected(self) -> str:
        # The number is for independent answers.
        is_single = self.n_groups is None and self.n == self.n_samples
        more = "" if is_single else " or more"
        return f"{self.found['ece_expected']:.4f}{more} if calibrated"

    def _auroc(self) -> list[list[str]]:
        """Return the row of the AUROC: name, value and remark. It may be missing."""
        if self.found["ranking"] is None:
            return []
        auroc = self.found["ranking"]["auroc"]
        remark = f"{self.level} {ends(auroc, '.4f')}; 0.5 if it ranks nothing"
        return [["AUROC", f"{auroc['estimate']:.4f}", remark]]

    def regions(self, interval: str) -> list[list[str]]:
        """Return header and rows of probabilities and frequencies by region."""
        rows = [["probability", "n", "mean", "freq.", self.level, "verdict"]]
        for row in self.found["regions"]:
            limits = f"{row['from']:.1f} to {row['to']:.1f}"
            if row["from"] == row["to"]:  # the single probability of its answers
                limits = f"{row['from']:.10g}"
            low, high = f"{row['frequency_low']:.3f}", f"{row['frequency_high']:.3f}"
            rows.append(
                [
                    limits,
                    str(row["n"]),
                    f"{row['mean_probability']:.3f}",
                    f"{row['frequency']:.3f}",
                    interval.format(low, high),
                    row["verdict"],
                ]
            )
        return rows

    def errors(self) -> list[Block]:
        """Return the table of errors for the page."""
        if self.error is None:
            return []
        error, plug_in = self.error, self.found["plug_in"]
        bins, ece = self.found["brier"]["adaptive"], self.found["ece"]
        rows = [
            [
                "calibration error, debiased",
                f"{error['estimate']:.4f}",
                f"{self.level} interval {error_ends(error, 4)}, root mean square in "
                f"bins of {error['bin_size']}",
            ],
            [
                "calibration error, plug-in",
                f"{plug_in['error']:.4f}",
                f"{_bins_text(plug_in['bin_size'])}; biased upwards",
            ],
            [
                "ECE",
                f"{ece:.4f}",
                f"{N_REGIONS} equal-width bins; {self._expected()}",
            ],
            ["MCE", f"{self.found['mce']:.4f}", "largest distance in these bins"],
            ["perfect calibration", *self.test()],
            *self._auroc(),
            ["Brier score", f"{bins['score']:.4f}", "lower is better"],
        ]
        rows += [
            [f"Brier score: {name} part", f"{bins[name]:.4f}", remark]
            for name, remark in _BRIER_PARTS.items()
        ]
        return [Heading("Errors"), Table(["measure", "value", "remark"], rows)]

    def header(self) -> list[str]:
        """Return the header of `cells`."""
        header = ["n", "accuracy", self.level, "error", self.level]
        return [*header, "AUROC", self.level, "p"]

    def cells(self) -> list[str]:
        """Return the numbers as cells of a table of parts or systems."""
        estimate = f"{self.accuracy['estimate']:.3f}"
        cells = [str(self.n), estimate, ends(self.accuracy, ".3f")]
        if self.error is None:
            return [*cells, *[""] * 5]
        p = "too few" if self.pvalue is None else p_text(self.pvalue, ".2g")
        cells += [f"{self.error['estimate']:.3f}", error_ends(self.error)]
        return [*cells, *auroc_cells(self.found["ranking"]), p]

    def cards(self) -> Cards:
        """Return cards with the accuracy, the probabilities and their error."""
        cards = [
            (
                "Right answers",
                f"{self.accuracy['estimate']:.1%}",
                f"{self.level} interval {ends(self.accuracy, '.1%')}",
            )
        ]
        if self.error is not None:
            mean = f"{self.overall['mean_probability']:.1%}"
            cards += [
                ("Mean probability", mean, "stated"),
                (
                    "Calibration error",
                    f"{self.error['estimate']:.3f}",
                    f"{self.level} interval {error_ends(self.error)}",
                ),
            ]
            if self.found["ranking"] is not None:
                auroc, interval = auroc_cells(self.found["ranking"])
                cards.append(("AUROC", auroc, f"{self.level} interval {interval}"))
        count = f"{self.n_samples:,} samples"
        if self.n_groups is not None:
            count += f", {self.n_groups:,} groups"
        return Cards([*cards, ("Questions", f"{self.n:,}", count)])

    def steps(self) -> list[str]:
        """Return what to do now, with one or two sentences per item."""
        steps = [self._how_many_more(), self._how_to_quote()]
        is_tested = self.pvalue is not None
        if self.is_rejected or (is_tested and self.overall["verdict"] != "fits"):
            steps.insert(0, self._how_to_recalibrate())
        return steps

    def _how_to_recalibrate(self) -> str:
        how = (
            "fit a logistic regression to the log-odds of the stated probabilities "
            "(without an intercept, this is temperature scaling), and apply it to new "
            "answers. Before the fit, clip 0 and 1, for example to .005 and .995, "
            "because their log-odds are infinite. Isotonic regression needs about a "
            "thousand answers"
        )
        if self.n >= ENOUGH_FOR_ISOTONIC:
            how = (
                "fit sklearn.isotonic.IsotonicRegression(out_of_bounds='clip') to "
                "stated probabilities and outcomes, and apply it to new answers"
            )
        return (
            f"Recalibrate: {how}. Measure the calibration error on answers that were "
            "not used in the fit. For a classifier, use "
            "sklearn.calibration.CalibratedClassifierCV."
        )

    def _how_many_more(self) -> str:
        # Half the width needs four times the independent answers.
        what, count = "questions", self.n
        if self.n_groups is not None and self.n_groups < self.n:
            what, count = "groups", self.n_groups
        more = " More samples per question help little." * (self.n != self.n_samples)
        return (
            f"To halve the width of the intervals, collect about {3 * count:,} more "
            f"{what}: {4 * count:,} in all.{more} The interval of the accuracy is now "
            f"{self.accuracy['high'] - self.accuracy['low']:.3f} wide."
        )

    def _how_to_quote(self) -> str:
        judged = self.found.get("judged")
        rate = self.accuracy if judged is None else judged
        quote = (
            f"Quote: accuracy {rate['estimate']:.3f} ({self.level} interval "
            f"{ends(rate, '.3f')}"
        )
        if judged is not None:
            return (
                f"{quote}, {judged['n_items']:,} answers graded by the judge, "
                f"{judged['n_labelled']:,} of them by people)."
            )
        quote = f"{quote}, {self.n:,} questions)"
        if self.error is None:
            return f"{quote}."
        return (
            f"{quote}; calibration error {self.error['estimate']:.3f} ({self.level} "
            f"interval {error_ends(self.error)}, debiased root mean square). The ECE "
            "depends on its bins and is biased upwards: do not report it alone."
        )


def _bins_text(size: int | None) -> str:
    return "one bin per probability" if size is None else f"bins of {size}"


def case_of(
    error: dict[str, Any] | None, ranking: dict[str, Any] | None, alpha: float
) -> str | None:
    """Return whether a confidence is calibrated, whether it ranks, and what to do.

    None is returned if one of both is unknown.
    """
    if error is None or error["pvalue"] is None or ranking is None:
        return None
    is_wrong, auroc = error["pvalue"] < alpha, ranking["auroc"]
    ranks: bool | None = auroc["low"] > 0.5
    how = "ranks answers"
    if auroc["high"] < 0.5:
        how = "ranks wrong above right answers"
    elif auroc["estimate"] == 0.5:  # such as a constant
        how = "ranks nothing"
    elif not ranks:
        ranks, how = None, "is not shown to rank answers"
    link = "but" if is_wrong == bool(ranks) else "and"
    state = "miscalibrated" if is_wrong else "not shown to be miscalibrated"
    interval = f"{percent(1 - alpha)} {ends(auroc, '.3f')}"
    return (
        f"The confidence is {state} {link} {how} (AUROC {auroc['estimate']:.3f}, "
        f"{interval}): {_ADVICE[is_wrong, ranks]}."
    )


def auroc_cells(ranking: dict[str, Any] | None) -> list[str]:
    """Return an AUROC and its interval as cells, which are empty if it is unknown."""
    if ranking is None:
        return ["", ""]
    auroc = ranking["auroc"]
    return [f"{auroc['estimate']:.3f}", ends(auroc, ".3f")]


def error_ends(error: dict[str, Any], digits: int = 3) -> str:
    """Return both ends of the interval of a calibration error.

    The lower end is "above 0" if the interval excludes 0 and the digits do not show it.
    """
    if error["low"] > 0 == float(f"{error['low']:.{digits}f}"):
        return f"above 0 to {error['high']:.{digits}f}"
    return ends(error, f".{digits}f")


class Report:
    """The report on a system and on each of its parts by name."""

    def __init__(self, system: System, options: Namespace):
        self.system, self.options = system, options
        whole, by = measure(system, options)
        level = options.confidence_level
        self.whole = Part(whole, level)
        self.parts = {value: Part(part, level) for value, part in by.items()}
        most: float | None = options.max_error
        # the condition of --fail-if or --max-error
        self.condition: str | None = options.fail_if
        if most is not None:
            self.condition = f"calibration error above {most:g}"
        self.is_met = self.condition is not None and self._is_above(most or 0)

    def numbers(self, figure: Path | None) -> dict[str, Any]:
        """Return the object that ``--json`` prints."""
        system, evaluation = self.system, self.system.evaluation
        found = {
            "file": system.file,
            **self._named(),
            "n_skipped": system.n_skipped,
            "unanswered": system.unanswered,
            "unanswered_rule": system.rule,
            "notes": list(evaluation.notes),
            **self.whole.found,
        }
        if system.if_wrong is not None:
            found["accuracy_if_wrong"] = system.if_wrong
        if len(system.files) > 1:
            found["files"] = system.files
        if self.parts:
            values = {value: part.found for value, part in self.parts.items()}
            found["by"] = {"column": system.by_name, "values": values}
        found["figure"] = None if figure is None else str(figure)
        if self.condition is not None:
            found["fail_if"] = {"condition": self.condition, "is_met": self.is_met}
        return found

    def _is_above(self, limit: float) -> bool:
        """Return whether the interval of the calibration error is above a limit."""
        judged = self.whole.found.get("judged")
        error = self.whole.error if judged is None else judged["calibration_error"]
        if error is None:
            raise CommandError(
                f"{self.system.file}: --fail-if and --max-error need answers with "
                "probabilities and scores of 0 and 1."
            )
        return bool(error["low"] > limit)

    def printed(self) -> Iterator[Block]:
        """Yield the report for the terminal."""
        system, whole = self.system, self.whole
        if system.is_table and system.n_skipped:
            n = system.n_skipped
            yield Line(f"{n} row{'s' * (n > 1)} with an empty cell left out")
        yield Line(f"{printable(system.file)}: {whole.opening()}")
        yield Paragraph(whole.verdict())
        yield from whole.case()
        if system.is_table and whole.error is None:
            yield Line(
                "Calibration needs scores of 0 and 1 only."
                if np.isfinite(system.answers.q).any()
                else "If a column contains probabilities, name it with --y-proba."
            )
        if not system.is_table or self.options.unanswered is not None:
            yield from self._about()
        if "judged" in whole.found:
            method = whole.found["judged"]["method"]
            yield Heading(f"accuracy by people, {whole.level} intervals ({method})")
            yield Table([], self._judged_rates(), mark="  ")
            for sentence in self._judged_words():
                yield Paragraph(sentence, mark="  ")
        yield from whole.details()
        if self.parts:
            yield from (Line(), *self.by(f"{system.by_name} = "))
        if len(self.parts) <= _MOST_REPORTS and whole.error is not None:
            for value, part in self.parts.items():
                name = printable(f"{system.by_name} = {value}")
                yield from (Line(), Line(f"{name}: {part.opening()}"), *part.details())
        yield from (Heading("what to do now"), *listed(whole.steps()))

    def _named(self) -> dict[str, str | None]:
        """Return what the files say about themselves."""
        names = ("format", "model", "task")
        return {name: getattr(self.system.evaluation, name) for name in names}

    def _about(self) -> Iterator[Block]:
        """Yield what was read, and the scoring of unanswered samples."""
        system, margin = self.system, " " * 12
        named = self._named()
        if len(system.files) > 1:
            named["tasks"] = str(len(system.files))
        yield Line()
        for name, value in named.items():
            if value:
                yield Line(f"{name:<11} {printable(value)}")
        if system.unanswered:
            counts = f"{self._unanswered()}; {system.n_skipped} left out"
            yield Line(f"{'unanswered':<11} {counts}")
            yield Paragraph(f"{system.rule} (--unanswered chooses.)", mark=margin)
        if system.if_wrong is not None:
            other = system.if_wrong
            yield Line(
                f"{margin}counted as wrong: accuracy {other['estimate']:.4f} "
                f"{bracketed(other)}"
            )
        for note in system.evaluation.notes if not system.is_table else ():
            yield Paragraph(note, mark=f"{'note':<12}")

    def _unanswered(self) -> str:
        """Return the number of samples without an answer, by status."""
        counts = self.system.unanswered.items()
        return ", ".join(f"{n} {status}" for status, n in counts)

    def _judged_rates(self) -> list[list[str]]:
        """Return the rates that the judge and the labels give, with intervals."""
        found = self.whole.found["judged"]
        rates = {
            "by judge and labels": found,
            # Both populations have one estimate, and different intervals.
            "these answers only": {"estimate": found["estimate"]} | found["items"],
            "by labels alone": found["labels_only"],
            "by the judge": {"estimate": found["uncorrected"]},
            "judge's sensitivity": found["sensitivity"],
            "judge's specificity": found["specificity"],
        }
        return [
            [
                name,
                f"{rate['estimate']:.4f}",
                bracketed(rate) if "low" in rate else "",
            ]
            for name, rate in rates.items()
            if rate is not None
        ]

    def _judged_words(self) -> list[str]:
        """Return sentences about the value of the labels and about calibration."""
        found = self.whole.found["judged"]
        words = [
            f"{found['n_labelled']} of {found['n_items']} answers have a label. With "
            f"the judge, they are equivalent to {found['equivalent_labels']:.0f} "
            "labels drawn at random without the judge. The result by labels alone is "
            "valid only if the labelled answers were drawn without regard to the judge."
        ]
        error = found["calibration_error"]
        if error is not None:
            words.append(
                f"Calibration error of the {error['n']} answers with a label, by the "
                f"labels: {error['estimate']:.4f} {bracketed(error)}. All other "
                "numbers about probabilities treat the judge's scores as the truth."
            )
        return [*words, *found["notes"]]

    def by(self, start: str = "") -> list[Block]:
        """Return the table of the parts, whose names begin with `start`."""
        adjusted = [part.found["p_value_adjusted"] for part in self.parts.values()]
        tested = [p for p in adjusted if p is not None]
        rows = [
            [f"{start}{value}", *part.cells(), "" if p is None else p_text(p, ".2g")]
            for (value, part), p in zip(self.parts.items(), adjusted, strict=True)
        ]
        header = [str(self.system.by_name), *self.whole.header(), "adjusted"]
        table = _without_errors(header, rows)
        if not tested:
            return [table]
        # The p-values are adjusted, so each is compared with alpha.
        n_rejected = sum(p < self.whole.alpha for p in tested)
        verdict = (
            f"Perfect calibration is rejected for {n_rejected} of {len(tested)}, with "
            "p-values adjusted by Holm's rule."
        )
        return [table, Line(verdict), Page([Paragraph(verdict)])]

    def summary(self) -> Iterator[Block]:
        """Yield the first part of the page: the main numbers and the advice."""
        yield from self.brief()
        yield from (Heading("what to do now"), *listed(self.whole.steps()))

    def brief(self) -> Iterator[Block]:
        """Yield the verdict and the main numbers."""
        yield Paragraph(self.whole.verdict(), "verdict")
        yield from self.whole.case()
        yield self.whole.cards()
        if self.system.unanswered:
            rule = f"Without an answer: {self._unanswered()}. {self.system.rule}"
            yield Paragraph(rule)
        if "judged" in self.whole.found:
            yield Heading("accuracy by people")
            header = ["rate", "estimate", f"{self.whole.level} interval"]
            yield Table(header, self._judged_rates())
            yield from map(Paragraph, self._judged_words())

    def tables(self) -> Iterator[Block]:
        """Yield the tables of the page."""
        header, *rows = self.whole.regions("{} to {}")
        if rows:
            yield Heading("stated probabilities and frequencies")
            yield Table(header, rows)
        if self.parts:
            yield from (Heading(f"by {self.system.by_name}"), *self.by())
        yield from self.whole.errors()

    def settings(self) -> list[list[str]]:
        """Return the rows of the settings that the files determine."""
        return [
            *(["file", file] for file in self.system.files),
            *([name, value] for name, value in self._named().items() if value),
            *(["note", note] for note in self.system.evaluation.notes),
        ]


def _without_errors(header: list[str], rows: list[list[str]]) -> Table:
    """Return a table with accuracies only, if no row has a calibration error."""
    if any(any(row[4:]) for row in rows):
        return Table(header, rows)
    return Table(header[:4], [row[:4] for row in rows])


def _of_systems(reports: list[Report]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the table with one row per system."""
    header = ["system", *reports[0].whole.header()]
    return header, [[each.system.name, *each.whole.cells()] for each in reports]


def _printed(reports: list[Report]) -> Iterator[Block]:
    """Yield the table of several systems, then the table of each one's parts."""
    yield _without_errors(*_of_systems(reports))
    yield Line("skcalib compare tests whether these systems differ.")
    for each in reports:
        if each.parts:
            start = f"{each.system.by_name} = "
            yield from (Heading(each.system.name), *each.by(start))


def _markdown_blocks(reports: list[Report]) -> Iterator[Block]:
    """Yield verdicts and tables of one or several systems."""
    if len(reports) > 1:
        yield _without_errors(*_of_systems(reports))
    for each in reports:
        if len(reports) > 1:
            yield Heading(each.system.name)
        yield from each.brief()
        if each.condition is not None:
            is_met = "met" if each.is_met else "not met"
            yield Paragraph(f"Condition ({each.condition}): {is_met}.", "verdict")
        if each.parts:
            yield from (Heading(f"by {each.system.by_name}"), *each.by()[:1])


def _status(reports: list[Report]) -> int:
    """Return the exit status, and print why it is 1 or why a test is impossible."""
    for each in reports:
        about = f"skcalib report: {each.condition}: {each.system.file}"
        if each.is_met:
            print(printable(about), file=sys.stderr)
        # An error is then never found, which is no evidence of none.
        elif each.condition is not None and each.whole.pvalue is None:
            print(printable(f"{about}: not met. {_TOO_FEW}."), file=sys.stderr)
    return FAILED if any(each.is_met for each in reports) else DONE


def _page_blocks(
    reports: list[Report], svg: str | None, options: Namespace
) -> Iterator[Block]:
    """Yield the page of one or several systems."""
    figure = [] if svg is None else _figure_blocks(svg, reports)
    if len(reports) == 1:
        yield from (*reports[0].summary(), *figure, *reports[0].tables())
    else:
        yield Table(*_of_systems(reports))
        for each in reports:
            yield Heading(each.system.name, is_name=True)
            yield from (*each.summary(), *each.tables())
        # The figure has a curve for each system and therefore follows all of them.
        yield from figure
    rows = [row for each in reports for row in each.settings()]
    given = {name: getattr(options, name) for name in _SETTINGS}
    rows += [[as_option(n), str(v)] for n, v in given.items() if v is not None]
    yield from (Heading("settings"), Table(["what", "value"], rows))
    versions = [f"skcalib {__version__}", f"Python {platform.python_version()}"]
    versions += [f"{package} {version(package)}" for package in _PACKAGES]
    yield Paragraph(", ".join(versions), "soft")


def _figure_blocks(svg: str, reports: list[Report]) -> Iterator[Block]:
    yield Heading("reliability")
    yield Paragraph(
        "How often answers were right (vertical) for each stated probability "
        "(horizontal). On the diagonal, frequencies equal the stated probabilities."
    )
    errors = [each.whole.error for each in reports]
    if any(error is not None and is_open(error["low"]) for error in errors):
        yield Paragraph(
            "In the legend, an interval that begins with (0 excludes 0, but every "
            "larger error up to its end is compatible with the data."
        )
    yield Figure(svg, "Frequency of right answers against stated probability")
