"""``skcalib compare``: tests whether systems differ on the same questions."""

from __future__ import annotations

import math
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from scipy.special import ndtri

from .. import __version__
from .._errors import printable
from ..plot import SystemScoresDisplay, _style
from . import _blocks as out
from ._compare_numbers import (
    Compared,
    ComparedSystem,
    Condition,
    Gain,
    MarginTest,
    Parts,
    Power,
    measure,
)
from ._compare_texts import measure_texts, metric_of
from ._labels import JudgedPair
from ._options import reject
from ._runs import read_inputs
from ._shared import (
    DONE,
    FAILED,
    CommandError,
    check_different,
    check_files,
    check_level,
    exclude,
    say,
)

# Largest number of pairs that the terminal and the page show; beyond it, they show the
# pairs with the baseline only.
_MOST_PRINTED = 15
_MOST_ON_PAGE = 120

# Largest number of systems that a sentence names.
_MOST_NAMED = 5

# Power of the test for the gain that the questions can detect.
_POWER = 0.8

_CSV_COLUMNS = (
    *("a", "b", "score_a", "score_b", "gain", "low", "high", "pvalue"),
    *("pvalue_adjusted", "method", "wins", "losses"),
)


def run_compare(options: Namespace) -> int:
    """Print the comparison, draw it and write its page; return the exit status."""
    _check_options(options)
    metric = metric_of(options)
    if metric is None:
        why = (
            "needs --metric: bleu, chrf or ter for files of plain lines, f1 for files "
            "with one token per line and tags in the last column."
        )
        reject(options, ["reference"], why)
        inputs = read_inputs(options)
        found = measure(inputs, options)
    else:
        found = measure_texts(metric, options)
    words, failed = Comparison(found), []
    if options.fail_if:
        failed = words.failing(options.fail_if)
        found.fail_if = Condition(options.fail_if, failed)
    if options.json:
        print(out.as_json(found))
    elif options.csv:
        print(words.csv(), end="")
        for note in found.notes:
            say("compare", note)
    else:
        print(out.as_text(words.printed(), width=79, break_on_hyphens=False))
    # The output is complete even if a page cannot be written.
    sys.stdout.flush()
    if options.markdown is not None:
        text = out.as_markdown(f"Comparison: {words.title()}", words.brief())
        options.markdown.write_text(text, "utf-8")
    if options.html is not None:
        svg = out.svg_of(figure_of(found), bbox_inches="tight")
        page = out.as_page(f"Comparison: {words.title()}", words.page(svg))
        options.html.write_text(page, "utf-8")
    for each in _reasons(words, failed, options.fail_if):
        say("compare", f"{options.fail_if}: {each}")
    return FAILED if failed else DONE


def _reasons(words: Comparison, failed: list[str], condition: str | None) -> list[str]:
    """Return why the condition is met or cannot be met."""
    if failed:
        return [", ".join(failed)]
    # With too few questions a loss is never found, which is no evidence of none.
    if condition == "worse" and words.found.judged is None:
        return [f"not met. {sentence}" for sentence in words.too_few()]
    return []


def _check_options(options: Namespace) -> None:
    check_level(options.confidence_level)
    # BLEU, chrF and TER are percentages.
    largest = 1 if options.metric in (None, "f1") else 100
    for name in ("margin", "power"):
        value = getattr(options, name)
        # The option --power without a number is True, which is equal to 1.
        is_number = value is not None and value is not True
        if is_number and not 0 < value < largest:
            percent = f" Divide percentage points by 100: {value / 100:g}."
            raise CommandError(
                f"--{name} must be above 0 and below {largest}, for example "
                f"{0.02 * largest:g}. Got {value:g}.{percent if value > 1 else ''}"
            )
    if options.fail_if == "inferior" and options.margin is None:
        raise CommandError(
            "--fail-if inferior needs --margin D, the largest loss that is "
            "considered irrelevant."
        )
    if options.fail_if == "worse-calibrated":
        why = "does not apply to --fail-if worse-calibrated."
        reject(options, ("labels", "metric"), why)
    exclude(options, ("json", "csv"), ("pass_at", "pass_all"))
    # The CSV has no column for these results, but a page shows them.
    if options.csv and options.html is None:
        exclude(options, ("csv", "by"), ("csv", "power"))
    check_different(options.file, "compare")
    # With --metric, --groups and --by may be files.
    labels = [Path(name) for name in (options.groups, options.by) if name is not None]
    check_files(
        [*options.file, *(options.labels or ()), *(options.reference or ()), *labels],
        [("--html", options.html), ("--markdown", options.markdown)],
    )


def figure_of(found: Compared) -> Any:
    """Return a figure of the scores of all systems."""
    systems = found.systems
    display = SystemScoresDisplay(
        names=[printable(each.name) for each in systems],
        score=[each.score for each in systems],
        low=[each.low for each in systems],
        high=[each.high for each in systems],
        not_separated=[list(map(printable, g)) for g in found.not_separated],
        metric=found.metric,
        confidence_level=found.confidence_level,
        lower_is_better=bool(found.lower_is_better),
    )
    return display.plot(_style.empty_figure()).figure_


class Comparison:
    """A comparison in words and tables."""

    def __init__(self, found: Compared):
        self.found = found
        self.pairs, self.unit = found.pairs, found.unit
        self.n_systems = len(found.systems)
        self.level = out.percent(found.confidence_level)
        self.alpha = 1 - found.confidence_level
        self.is_lower_better = bool(found.lower_is_better)
        # A positive difference of TER is no gain.
        self.change = "difference" if self.is_lower_better else "gain"
        # Percentages have two decimals.
        digits = out.decimals(found.systems[0])
        self.digits = ".2f" if found.is_percent else digits
        self.signed = f"+{self.digits}"

    def printed(self) -> Iterator[out.Block]:
        """Yield the comparison for the terminal."""
        yield from (out.Line(printable(self.headline())), out.Line())
        yield from self.scores()
        if self.pairs:
            yield out.Line()
        yield from self.of_pairs(_MOST_PRINTED)
        for sentence in self.warnings():
            yield from (out.Line(), out.Paragraph(sentence))
        yield self.steps()
        yield from (*self.results(), *self.sections())
        if self.found.notes:
            yield from (out.Line(), *self.notes())

    def page(self, svg: str) -> Iterator[out.Block]:
        """Yield the page: verdict, figure beside its table, advice and numbers."""
        yield out.Paragraph(self.headline(), "soft")
        if len(self.pairs) == 1:
            verdict, *others = self.of_pairs(1)
            yield from (verdict, self.cards(self.pairs[0]), *others)
        yield from map(out.Paragraph, self.warnings())
        scores = "; ".join(" ".join(row) for row in self.systems().rows)
        figure = out.Figure(svg, f"Score of each system with its interval: {scores}.")
        results: list[out.Block] = [out.Beside([figure, out.Page(self.scores())])]
        if len(self.pairs) > 1:
            results += [out.Heading("Pairs"), *self.of_pairs(_MOST_ON_PAGE)]
        files = [file for each in self.found.systems for file in each.files]
        made = f"skcalib {__version__}; files: {', '.join(dict.fromkeys(files))}."
        advice: list[out.Block] = [self.steps()]
        more = list(self.sections())
        if more:
            advice.append(out.Folded(more, "more numbers"))
        how = [out.Paragraph(made, "soft"), *self.notes()]
        advice.append(out.Folded(how, "how this was made"))
        columns = out.Page([*results, *self.results()]), out.Page(advice)
        yield out.Beside(columns, "wide")

    def scores(self) -> list[out.Block]:
        """Return the table of the systems, and what the letters of several mean."""
        if self.n_systems < 3:
            return [self.systems()]
        return [self.systems(), out.Line(), out.Paragraph(self.legend(), "soft")]

    def of_pairs(self, most: int) -> list[out.Block]:
        """Return sentences about a single pair, or a table of at most `most` pairs."""
        if len(self.pairs) == 1:
            verdict, *others = self.pair_in_words(self.pairs[0])
            return [out.Paragraph(verdict, "verdict"), *map(out.Paragraph, others)]
        return self.table_of_pairs(most) if self.pairs else []

    def notes(self) -> list[out.Block]:
        """Return the notes about the files."""
        notes = self.found.notes
        return [out.Paragraph(note, "soft", mark="note  ") for note in notes]

    def brief(self) -> Iterator[out.Block]:
        """Yield the verdict and the main tables."""
        yield out.Paragraph(self.headline())
        yield from (*self.scores(), *self.of_pairs(_MOST_ON_PAGE))
        yield from map(out.Paragraph, self.warnings())
        yield from self.results()
        if self.found.confidence is not None:
            yield from self.confidence()
        yield from map(out.Paragraph, self.found.notes)
        if self.found.fail_if is not None:
            condition, systems = self.found.fail_if
            is_met = f"met by {', '.join(systems)}" if systems else "not met"
            yield out.Paragraph(f"Condition ({condition}): {is_met}.", "verdict")

    def results(self) -> Iterator[out.Block]:
        """Yield the gains by people and the gains for each value of --by."""
        if self.found.judged is not None:
            yield from self.judged(self.found.judged)
        if self.found.by is not None:
            yield from self.by(self.found.by)

    def sections(self) -> Iterator[out.Block]:
        """Yield the further results, each with a heading."""
        if self.found.repeats is not None:
            yield out.Heading("several samples per question")
            for each in self.found.repeats:
                yield out.Paragraph(f"{each.name}: {each.advice}")
        if self.found.calibration is not None:
            yield from self.calibration()
        if self.found.power is not None:
            yield out.Heading("power")
            yield from map(out.Paragraph, map(self.power_in_words, self.found.power))

    def title(self) -> str:
        """Return the names of two systems, or the number of systems."""
        names = [each.name for each in self.found.systems]
        return " and ".join(names) if len(names) < 3 else f"{len(names)} systems"

    def headline(self) -> str:
        """Return what was compared, and on how many questions."""
        found = self.found
        of = f"{self.n_systems} systems on the same" if self.pairs else "one system on"
        text = f"{found.metric} of {of} {found.n} {self.unit}"
        if found.n_groups is not None:
            text += f" in {found.n_groups} groups ({found.groups})"
        if found.reference:
            text += f"; reference: {found.reference}"
        left = sum(found.only_in.values())
        return text + f"; {left} answers to other {self.unit} left out" * bool(left)

    def systems(self) -> out.Table:
        """Return the table of the systems; of more than two, the best is the first."""
        systems, has_letters = self.found.systems, self.n_systems > 2
        baseline = self.found.baseline if self.pairs else None
        if has_letters:
            systems = self._best_first()
        rows = [
            [
                each.name + " (baseline)" * (each.name == baseline),
                f"{each.score:{self.digits}}",
                out.ends(each, self.digits),
                *[each.letters] * has_letters,
            ]
            for each in systems
        ]
        return out.Table(
            ["system", self.found.metric, self.level, *["group"] * has_letters], rows
        )

    def legend(self) -> str:
        """Return the explanation of the letters."""
        return (
            "Systems that share a letter do not differ significantly at "
            f"{self.alpha:.3g}{self._after_adjustment()}."
        )

    def _after_adjustment(self) -> str:
        n = len(self.pairs)
        return f" with Holm's correction for {n} pairs" if n > 1 else ""

    def pair_in_words(self, pair: Gain) -> list[str]:
        """Return the result for a single pair, as sentences."""
        better, worse = pair.wins, pair.losses
        words = "scores higher", "lower"
        if self.is_lower_better:
            better, worse = worse, better
            words = "is better (lower)", "worse (higher)"
        # The test of a metric of sums compares whole groups.
        units, n = self.unit, self.found.n
        if self.found.lower_is_better is not None:
            units, n = self._independent()
        # "questions" without its last letter is the singular.
        unit = units[:-1] if better == 1 else units
        sentences = [
            f"{self.verdict(pair)}: {self.change} {pair.gain:{self.signed}} "
            f"({self.level} {out.ends(pair, self.signed)}), "
            f"{out.p_text(pair.pvalue, 'p = ')}.",
            f"Test: {pair.method}. {pair.b} {words[0]} on {better} {unit}, "
            f"{words[1]} on {worse}, the same on {n - better - worse}.",
        ]
        limit = pair.limit
        return sentences + ([] if limit is None else [margin_in_words(pair, limit)])

    def verdict(self, pair: Gain) -> str:
        """Return whether the second system of a pair is better or worse."""
        a, b = pair.a, pair.b
        if pair.pvalue_adjusted > self.alpha:
            return f"{b} and {a} do not differ significantly"
        is_better = (pair.gain > 0) != self.is_lower_better
        return f"{b} is {'better' if is_better else 'worse'} than {a}"

    def cards(self, pair: Gain) -> out.Cards:
        """Return the scores of both systems, the gain and its p-value."""
        gain = f"{pair.gain:{self.signed}}", out.ends(pair, self.signed)
        test = ("p-value", out.p_text(pair.pvalue), pair.method)
        return out.Cards([*self.systems().rows, (self.change, *gain), test])

    def table_of_pairs(self, most: int) -> list[out.Block]:
        """Return the table of pairs, or of pairs with the baseline if there are many.

        A paragraph has the number of significant differences, the tests, and what is
        left out.
        """
        pairs, baseline = self.pairs, self.found.baseline
        n = sum(pair.pvalue_adjusted <= self.alpha for pair in pairs)
        methods = list(dict.fromkeys(pair.method for pair in pairs))
        tests = "; ".join(methods[:3]) + ("; ..." if len(methods) > 3 else "")
        text = (
            f"{n} of {len(pairs)} pairs differ significantly"
            f"{self._after_adjustment()}. Test: {tests}."
        )
        if len(pairs) > most:
            text += (
                " The table has the pairs with the baseline; --csv and --json give all "
                f"{len(pairs)}."
            )
            pairs = [pair for pair in pairs if pair.a == baseline]
        header = ["later - earlier", self.change, self.level, "p", "adjusted"]
        # The score of the later system is higher in a win, which is worse for TER.
        header += ["higher", "lower"] if self.is_lower_better else ["wins", "losses"]
        limit = pairs[0].limit
        if limit is not None:
            header += ["not inferior", "equivalent"]
            text += f" The margin is {limit.margin:g}."
        rows = [
            [
                f"{pair.b} - {pair.a}",
                *self._gain_cells(pair),
                str(pair.wins),
                str(pair.losses),
                *(
                    "yes" if is_shown else "not shown"
                    for is_shown in (() if pair.limit is None else pair.limit[-2:])
                ),
            ]
            for pair in pairs
        ]
        return [out.Table(header, rows), out.Paragraph(text, "soft")]

    def _gain_cells(self, row: Gain) -> list[str]:
        """Return the gain, its interval and its p-values as cells."""
        return [
            f"{row.gain:{self.signed}}",
            out.ends(row, self.signed),
            out.p_text(row.pvalue),
            out.p_text(row.pvalue_adjusted),
        ]

    def too_few(self) -> list[str]:
        """Return a sentence if no p-value can be small enough for a decision."""
        smallest = self.found.smallest_pvalue
        if smallest <= self.alpha or not self.pairs:
            return []
        unit, _ = self._independent()
        if not any(pair.wins + pair.losses for pair in self.pairs):
            return [f"The systems have the same scores on all {self.unit}."]
        return [
            f"Too few {unit} differ to reject at {self.alpha:.3g}: the smallest "
            f"p-value that this test can give is {out.p_text(smallest)}. This is not "
            f"evidence that there is no gain; more {unit} are needed."
        ]

    def warnings(self) -> list[str]:
        """Return warnings about the limits of the comparison."""
        found, n_pairs = self.found, len(self.pairs)
        least = found.smallest_pvalue
        if found.n_groups is not None and least <= self.alpha < least * n_pairs:
            return [
                f"With so few groups no p-value is below {out.p_text(least)}. Some of "
                f"the {n_pairs} pairs cannot be significant after Holm's correction."
            ]
        return self.too_few()

    def failing(self, condition: str) -> list[str]:
        """Return the later systems that meet a condition of --fail-if."""
        pairs, alpha = self.pairs, self.alpha
        if condition == "worse-calibrated":
            errors = {e.b: e.calibration_error for e in self.found.calibration or ()}
            return [
                name
                for name, error in errors.items()
                if error.difference > 0 and (error.pvalue_adjusted or 0) <= alpha
            ]
        sign, judged = -1 if self.is_lower_better else 1, self.found.judged
        met: dict[str, Callable[[Any], bool]] = {
            "worse": lambda p: p.pvalue_adjusted <= alpha and sign * p.gain < 0,
            "not-better": lambda p: (
                not (p.pvalue_adjusted <= alpha and sign * p.gain > 0)
            ),
            "inferior": lambda p: not p.limit.is_noninferior,
        }
        if judged is not None:  # the interval of the corrected gain decides
            margin = 0.0 if pairs[0].limit is None else pairs[0].limit.margin
            met = {
                "worse": lambda p: p.gain.high < 0,
                "not-better": lambda p: p.gain.low <= 0,
                "inferior": lambda p: p.gain.low <= -margin,
            }
        of_baseline = [p for p in judged or pairs if p.a == self.found.baseline]
        return [p.b for p in of_baseline if met[condition](p)]

    def judged(self, judged: list[JudgedPair]) -> list[out.Block]:
        """Return the gains that a judge and the labels of people give."""
        header = ["later - earlier", "by the judge", "by people", self.level]
        rows = [
            [
                f"{each.b} - {each.a}",
                f"{each.gain.uncorrected:{self.signed}}",
                f"{each.gain.estimate:{self.signed}}",
                out.ends(each.gain, self.signed),
                str(each.gain.n_labelled),
                f"{each.gain.equivalent_labels:.0f}",
            ]
            for each in judged
        ]
        notes = [note for each in judged for note in each.notes]
        return [
            out.Heading("gain by people"),
            out.Table([*header, "labels", "worth"], rows),
            out.Paragraph(
                "The gain by people is estimated from the judge and the labels. All "
                "other numbers treat the judge's scores as the truth."
            ),
            *map(out.Paragraph, dict.fromkeys(notes)),
        ]

    def by(self, parts: Parts) -> list[out.Block]:
        """Return the gains over the baseline for each value of --by."""
        column, rows = parts
        has_systems = self.n_systems > 2
        header = [
            column,
            *["system"] * has_systems,
            "n",
            "baseline",
            "later",
            self.change,
        ]
        table = [
            [
                row.value,
                *["" if row.tested is None else row.tested.b] * has_systems,
                str(row.n),
                *(
                    ("", "", "", "", "too few", "")
                    if row.tested is None
                    else (
                        f"{row.score_a:{self.digits}}",
                        f"{row.score_b:{self.digits}}",
                        *self._gain_cells(row.tested),
                    )
                ),
            ]
            for row in rows
        ]
        tested = [row.tested for row in rows if row.tested is not None]
        n = sum(row.pvalue_adjusted <= self.alpha for row in tested)
        return [
            out.Heading(f"by {column}"),
            out.Table([*header, self.level, "p", "adjusted"], table),
            out.Paragraph(
                f"{n} of {len(tested)} gains over {self.found.baseline} are "
                "significant with Holm's correction for these rows."
            ),
        ]

    def calibration(self) -> list[out.Block]:
        """Return differences in the calibration error and in proper scores."""
        baseline = self.found.baseline
        rows = []
        for each in self.found.calibration or ():
            for name, found, digits in (
                ("calibration error", each.calibration_error, self.digits),
                ("Brier score", each.brier, ".4f"),
                ("log score", each.log_score, ".4f"),
            ):
                has_interval = not math.isnan(found.low)
                rows.append(
                    [
                        f"{each.b}: {name}" if self.n_systems > 2 else name,
                        *(f"{score:{digits}}" for score in (found.a, found.b)),
                        f"{found.difference:+{digits}}",
                        out.ends(found, f"+{digits}") if has_interval else "none",
                        out.p_text(found.pvalue),
                    ]
                )
        header = ["measure", "baseline", "later", "difference", self.level, "p"]
        return [
            out.Heading("calibration"),
            *self.confidence(),
            out.Line(),
            out.Table(header, rows),
            out.Paragraph(
                f"The baseline is {baseline}. Lower is better for all measures. p is "
                "not adjusted. The calibration error is the debiased root mean square. "
                "The log score replaces probabilities of 0 and 1 by 1e-6 and 1 - 1e-6.",
                "soft",
            ),
        ]

    def confidence(self) -> list[out.Block]:
        """Return the calibration error and the AUROC of each system, with advice."""
        rows, words, digits = [], [], self.digits
        for each in self.found.confidence or ():
            error = each.checked.calibration_error
            cells = [f"{error.estimate:{digits}}", out.error_ends(error, digits)]
            cells += out.cells_of(each.checked.auroc, digits)
            rows.append([each.name, *cells])
            case = each.checked.case(self.alpha, digits)
            words += [f"{each.name}: {case}"] if case else []
        header = ["system", "calibration error", self.level, "AUROC", self.level]
        return [out.Table(header, rows), *map(out.Paragraph, words)]

    def power_in_words(self, each: Power) -> str:
        """Return the detectable gain of a pair, and the questions that a gain needs."""
        text = f"{each.b} - {each.a}: these {self.found.n} {self.unit} "
        if math.isinf(each.detectable_gain):
            text += "cannot detect any gain."
        else:
            gain = f"{each.detectable_gain:{self.digits}}"
            text += f"detect a true gain of {gain} with {_POWER:.0%} power."
        if each.questions_needed is not None and math.isfinite(each.questions_needed):
            text += (
                f" A gain of {each.gain:g} would need about "
                f"{each.questions_needed:,} {self.unit}."
            )
        return text

    def steps(self) -> out.Steps:
        """Return what to do now, one sentence or two each."""
        if not self.pairs:
            return out.Steps([self._how_to_quote_one()])
        significant = [p for p in self.pairs if p.pvalue_adjusted <= self.alpha]
        if significant:
            pair, said = self._best_pair(significant)
            steps = [*said, self._how_to_quote(pair)]
        else:
            pair = max(self.pairs, key=lambda each: abs(each.gain))
            steps = [self._not_separated(pair)]
        least = self._detectable_gain(pair)
        if least is None:
            return out.Steps(steps)
        what, count = self._independent()
        more = (
            f"These {count:,} {what} detect a true gain of about "
            f"{least:{self.digits}} between {pair.a} and {pair.b} with "
            f"{_POWER:.0%} power. To halve this gain and the width of the interval, "
            f"collect four times as many: {4 * count:,} {what}."
        )
        return out.Steps([*steps, more])

    def _best_pair(self, significant: list[Gain]) -> tuple[Gain, list[str]]:
        """Return the pair to quote, and which systems may be as good as the best one.

        The pair is the best system and the best one that is significantly worse.
        """
        best = self._best_first()[0].name
        of_best = [p for p in self.pairs if best in (p.a, p.b)]
        worse = [p for p in of_best if p in significant]
        others = [p.b if p.a == best else p.a for p in of_best if p not in worse]
        # The best system may differ from no other one, although some pairs differ.
        candidates = sorted(worse or significant, key=lambda each: abs(each.gain))
        pair = candidates[0 if worse else -1]
        if not others:
            return pair, []
        shown = ", ".join(others[:_MOST_NAMED])
        more = len(others) - _MOST_NAMED
        shown += f" and {more} more" * (more > 0)
        return pair, [f"{best} has the best score. Not significantly worse: {shown}."]

    def _best_first(self) -> list[ComparedSystem]:
        """Return the systems, the best first; a lower TER is better."""
        sign = 1 if self.is_lower_better else -1
        return sorted(self.found.systems, key=lambda each: sign * each.score)

    def _independent(self) -> tuple[str, int]:
        """Return the name and the number of what is independent."""
        if self.found.n_groups is None:
            return self.unit, self.found.n
        return "groups", self.found.n_groups

    def _not_separated(self, pair: Gain) -> str:
        margin = " To show that systems differ by less than a margin, pass --margin."
        return (
            "Do not report a gain: none is significant. This does not show that the "
            f"systems are equal: for {pair.b} - {pair.a}, gains from "
            f"{out.ends(pair, self.signed)} are compatible with the data."
            f"{'' if pair.limit is not None else margin}"
        )

    def _how_to_quote(self, pair: Gain) -> str:
        found, p = self.found, out.p_text(pair.pvalue_adjusted, "p = ")
        if len(self.pairs) > 1:
            p += f", adjusted for {len(self.pairs)} pairs"
        groups = ""
        if found.n_groups is not None:
            groups = f" in {found.n_groups} groups"
        return (
            f"Quote: {pair.b} - {pair.a}, {found.metric} "
            f"{pair.gain:{self.signed}} ({self.level} interval "
            f"{out.ends(pair, self.signed)}, two-sided {p}; {pair.method}), "
            f"{found.n:,} {self.unit}{groups}."
        )

    def _how_to_quote_one(self) -> str:
        (system,), (unit, count) = self.found.systems, self._independent()
        return (
            f"Quote: {self.found.metric} {system.score:{self.digits}} "
            f"({self.level} interval {out.ends(system, self.digits)}, "
            f"{self.found.n:,} {self.unit}). To halve the width of the interval, "
            f"collect about {3 * count:,} more {unit}: {4 * count:,} in all. To test "
            "whether another system differs, compare both on the same sentences."
        )

    def _detectable_gain(self, pair: Gain) -> float | None:
        """Return the gain that --power computed, or one from the interval's width."""
        for each in self.found.power or ():
            if (each.a, each.b) == (pair.a, pair.b):
                return (
                    None if math.isinf(each.detectable_gain) else each.detectable_gain
                )
        width = pair.high - pair.low
        # Even if all units differed, no p-value would be below alpha.
        if width <= 0 or 2.0 ** (1 - self._independent()[1]) > self.alpha:
            return None
        # Half of the width is z(1 - alpha/2) standard errors of the gain. The test has
        # the power for a gain of z(1 - alpha/2) + z(power) standard errors.
        return float(1 + ndtri(_POWER) / ndtri(1 - self.alpha / 2)) * width / 2

    def csv(self) -> str:
        """Return the pairs as CSV, with one row per pair."""
        score = {each.name: each.score for each in self.found.systems}
        rows = [
            {**out.plain(pair), "score_a": score[pair.a], "score_b": score[pair.b]}
            for pair in self.pairs
        ]
        return out.as_csv(list(dict.fromkeys((*_CSV_COLUMNS, *rows[0]))), rows)


def margin_in_words(pair: Gain, limit: MarginTest) -> str:
    """Return the decision about a margin."""
    margin = f"{limit.margin:g}"
    b, a = pair.b, pair.a
    first = f"It is not shown that {b} is less than {margin} worse than {a}"
    if limit.is_noninferior:
        first = f"{b} is not worse than {a} by {margin} or more"
    second = f"it is not shown that they differ by less than {margin}"
    if limit.is_equivalent:
        second = f"the two differ by less than {margin}"
    return (
        f"Margin: {first} ({out.p_text(limit.noninferiority_pvalue, 'p = ')}); "
        f"{second} ({out.p_text(limit.equivalence_pvalue, 'p = ')})."
    )
