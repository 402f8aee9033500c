"""``skcalib compare``: tests whether systems differ on the same questions."""

from __future__ import annotations

import math
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._errors import printable
from ..evaluation._values import listed
from ..rates._judged import JudgedDifference
from . import _blocks as out
from ._compare_numbers import (
    POWER,
    Compared,
    ComparedSystem,
    Condition,
    Decided,
    Decisions,
    Gain,
    MarginTest,
    Parts,
    Power,
    best_first,
    csv_of,
    decided_pairs,
    measure,
)
from ._compare_texts import MOST_ON_PAGE, Metrics, measure_texts, metrics_of, signatures
from ._figures import draw_gains, draw_scores
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
    settings_of,
)

# Largest number of pairs that the terminal shows; of more, it shows the pairs with the
# baseline only.
_MOST_PRINTED = 15

# What the condition `inferior` says about a system.
_INFERIOR = " (not shown to be worse by less than the margin)"

# Rows of a figure of gains.
_MOST_ROWS = 30


def run_compare(options: Namespace) -> int:
    """Print the comparison, draw it and write its page; return the exit status."""
    _check_options(options)
    metrics = metrics_of(options)
    if not metrics:
        why = (
            "needs --metric: bleu, chrf, chrf++ or ter for files of plain lines, f1 "
            "for files with one token per line and tags in the last column."
        )
        reject(options, ["reference", "scheme", "tokenize"], why)
        several = [measure(read_inputs(options), options)]
    else:
        several = [measure_texts(metric, options) for metric in metrics]
    # --fail-if excludes several metrics, so that its condition is about the first one.
    found, failed = several[0], []
    words = Comparison(found)
    said = Metrics([Comparison(each) for each in several]) if several[1:] else words
    if options.fail_if:
        failed = words.failing(options.fail_if)
        found.fail_if = Condition(options.fail_if, failed)
    if options.json:
        print(out.as_json({"metrics": several} if several[1:] else found))
    elif options.csv:
        print(csv_of(several), end="")
        # The standard output has rows only, which programs read.
        for note in (*(found.warnings or ()), *found.notes):
            say("compare", note)
    else:
        print(out.as_text(said.printed(), width=79, break_on_hyphens=False))
    # The output is complete even if a page cannot be written.
    sys.stdout.flush()
    title, page = f"Comparison: {said.title()}", said.page(settings_of(options))
    out.write_pages(options, title, said.brief(), page)
    for each in _reasons(words, failed, options.fail_if):
        say("compare", f"{options.fail_if}: {each}")
    return FAILED if failed else DONE


def _reasons(words: Comparison, failed: list[str], condition: str | None) -> list[str]:
    """Return why the condition is met or cannot be met."""
    if failed:
        return [", ".join(failed) + (_INFERIOR if condition == "inferior" else "")]
    # With too few questions a loss is never found, which is no evidence of none.
    if condition == "worse" and words.found.judged is None:
        return [f"not met. {sentence}" for sentence in words.too_few()]
    return []


def _check_options(options: Namespace) -> None:
    check_level(options.confidence_level)
    # BLEU, chrF and TER are percentages.
    largest = 1.0 if options.metric in (None, ["f1"]) else 100.0
    if options.scale is not None:
        others = ("gold", "pass_at", "pass_all")
        exclude(options, *(("scale", name) for name in others))
        # The margin is a difference of two grades.
        largest = options.scale[1] - options.scale[0]
    for name in ("margin", "power"):
        value = getattr(options, name)
        # The option --power without a number is True, which is equal to 1.
        is_number = value is not None and value is not True
        if is_number and not 0 < value < largest:
            percent = f" Divide percentage points by 100: {value / 100:g}."
            # A score in [0, 1] cannot fall by more than 1: percentage points were
            # meant.
            percent *= value > 1 == largest
            raise CommandError(
                f"--{name} must be above 0 and below {largest:g}, for example "
                f"{0.02 * largest:g}. Got {value:g}.{percent}"
            )
    if options.fail_if == "inferior" and options.margin is None:
        raise CommandError(
            "--fail-if inferior needs --margin D, the largest loss that is "
            "considered irrelevant."
        )
    if options.fail_if == "worse-calibrated":
        why = "does not apply to --fail-if worse-calibrated."
        reject(options, ("labels", "metric"), why)
    # Each of the two takes the standard output, or the score, for itself.
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


class Comparison:
    """A comparison in words and tables."""

    def __init__(self, found: Compared):
        self.found = found
        self.pairs, self.unit = found.pairs, found.unit
        self.decided = decided_pairs(found)
        self.n_systems = len(found.systems)
        self.by_judge, self.by_people = "", ""
        if found.judged is not None:
            self.by_judge, self.by_people = " by the judge", " by the labels of people"
        # What --fail-if is about.
        self.of_baseline = [x for x in self.decided if x.a == found.baseline]
        self.errors = {x.b: x.calibration_error for x in found.calibration or ()}
        # What is independent, and its number.
        self.independent = self.unit, found.n
        if found.n_groups is not None:
            self.independent = "groups", found.n_groups
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
        if len(self.pairs) > 1:
            yield from (out.Paragraph(self.verdict_of_all()), out.Line())
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

    def page(self, settings: list[list[str]]) -> Iterator[out.Block]:
        """Yield the page: verdict, figures beside their tables, advice and numbers."""
        yield from self.beginning()
        if len(self.pairs) == 1:
            yield self.cards(self.decided[0])
            # The head of the page has the verdict on a single pair already.
            yield from self.of_pairs(1)[1:]
        yield from map(out.Paragraph, self.warnings())
        scores = "; ".join(" ".join(row) for row in self.systems().rows)
        said = f"Score of each system with its interval: {scores}."
        figure = out.figures(draw_scores(self.found), said)
        results: list[out.Block] = [
            *self.figure_of_gains(),
            out.Beside([*figure, out.Page(self.scores())]),
        ]
        if len(self.pairs) > 1:
            results += [out.Heading("Pairs"), *self.of_pairs(MOST_ON_PAGE)]
        advice: list[out.Block] = [self.steps()]
        more = list(self.sections())
        if more:
            advice.append(out.Folded(more, "more numbers"))
        how = [self.files(settings), *self.notes()]
        advice.append(out.Folded(how, "how this was made"))
        results += [*self.results(), *self._figure_of_parts()]
        columns = out.Page(results), out.Page(advice)
        yield out.Beside(columns, "wide")

    def files(self, settings: list[list[str]]) -> out.Table:
        """Return the files, options and versions."""
        files = [file for each in self.found.systems for file in each.files]
        rows = [*(["file", file] for file in dict.fromkeys(files)), *settings]
        return out.Table(["what", "value"], rows, is_left=True)

    def column(self, name: str) -> list[str]:
        """Return the score of a system and its difference from the baseline."""
        (system,) = (each for each in self.found.systems if each.name == name)
        cells = self._score_cells(system)
        for pair in self.pairs:
            # The column of a system has room for one difference, the one from the
            # baseline.
            if (pair.a, pair.b) == (self.found.baseline, name):
                # Without other pairs, the adjusted p-value is the p-value itself.
                cells += self._gain_cells(pair)[: 4 if len(self.pairs) > 1 else 3]
        return cells

    def beginning(self) -> Iterator[out.Block]:
        """Yield what was compared, the verdict and the condition of --fail-if."""
        yield out.Paragraph(self.headline(), "soft")
        if self.pairs:
            yield out.Paragraph(self.verdict_of_all(), "verdict")
        if self.found.fail_if is not None:
            yield out.Paragraph(self._outcome(*self.found.fail_if), "verdict")

    def _outcome(self, condition: str, systems: list[str]) -> str:
        """Return which systems meet the condition, with the numbers that decide."""
        what = self.change
        rows: dict[str, tuple[float, out.Interval]]
        rows = {pair.b: (pair.gain, pair) for pair in self.of_baseline}
        if condition == "worse-calibrated":
            rows = {name: (e.difference, e) for name, e in self.errors.items()}
            what = "calibration error"
        shown = [
            f"{name} ({what} {rows[name][0]:{self.signed}}, {self.level} "
            f"{out.ends(rows[name][1], self.signed)})"
            for name in systems or rows
        ]
        why = _INFERIOR * (condition == "inferior" and bool(systems))
        said = "Failed" if systems else "Passed"
        return f"{said} ({condition}): {listed(shown, 5)}{why}."

    def figure_of_gains(self) -> list[out.Block]:
        """Return the figure of the gains over the baseline, if they are not many."""
        rows = {f"{pair.b} - {pair.a}": (pair.gain, pair) for pair in self.of_baseline}
        if not rows:
            return []
        by = "" if self.found.judged is None else " by people"
        return self._figure(rows, by, "with its interval; the line is at 0.")

    def _figure(self, rows: Any, by: str, said: str) -> list[out.Block]:
        if len(rows) > _MOST_ROWS:
            return []
        what = self.change.capitalize() + by
        figure = draw_gains(rows, f"{what}, {self.level} interval")
        return out.figures(figure, f"{what} {said}")

    def scores(self) -> list[out.Block]:
        """Return the table of the systems, and what the letters of several mean."""
        blocks: list[out.Block] = [self.systems()]
        if self.has_letters:
            blocks += [out.Line(), out.Paragraph(self.legend(), "soft")]
        return [*blocks, *signatures([self.found])]

    @property
    def has_letters(self) -> bool:
        """Whether letters show which systems differ; scores of a judge have none."""
        return self.n_systems > 2 and self.found.judged is None

    def of_pairs(self, most: int) -> list[out.Block]:
        """Return sentences about a single pair, or a table of at most `most` pairs."""
        if len(self.pairs) == 1:
            verdict, *others = self.pair_in_words(self.pairs[0])
            return [out.Paragraph(verdict, "verdict"), *map(out.Paragraph, others)]
        if self.found.judged is not None:  # the table of the gains by people follows
            return []
        return self.table_of_pairs(most) if self.pairs else []

    def notes(self) -> list[out.Block]:
        """Return the notes about the files."""
        return [out.Paragraph(note, "soft", mark="note  ") for note in self.found.notes]

    def brief(self) -> Iterator[out.Block]:
        """Yield the verdict and the main tables."""
        yield from self.beginning()
        yield from self.scores()
        pairs = self.of_pairs(MOST_ON_PAGE)
        yield from pairs[1:] if len(self.pairs) == 1 else pairs
        yield from map(out.Paragraph, self.warnings())
        yield from self.results()
        yield from self.sections()
        yield from map(out.Paragraph, (f"Note: {note}" for note in self.found.notes))

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
        text = f"{found.metric}{self.by_judge} of {of} {found.n:,} {self.unit}"
        if found.n_groups is not None:
            # With few groups, the test has little power, whatever the number of
            # questions.
            text += f" in {found.n_groups:,} groups ({found.groups})"
        if found.reference:
            text += f"; reference: {found.reference}"
        left = sum(found.only_in.values())
        return text + f"; {left:,} answers to other {self.unit} left out" * bool(left)

    def systems(self) -> out.Table:
        """Return the table of the systems; of more than two, the best is the first."""
        systems, has_letters = self.found.systems, self.has_letters
        baseline = self.found.baseline if self.pairs else None
        if self.n_systems > 2:
            systems = best_first(self.found)
        rows = []
        for each in systems:
            name = each.name + " (baseline)" * (each.name == baseline)
            letters = [each.letters] * has_letters
            rows.append([name, *self._score_cells(each), *letters])
        metric = self.found.metric + self.by_judge
        header = ["system", metric, self.level, *["group"] * has_letters]
        ends = [out.Estimate(each.score, each.low, each.high) for each in systems]
        return out.Table(header, rows, intervals=ends)

    def _score_cells(self, system: ComparedSystem) -> list[str]:
        return [f"{system.score:{self.digits}}", out.ends(system, self.digits)]

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
            # A reader would take the higher TER for the better one.
            words = "is better (lower)", "worse (higher)"
        # The test of a metric of sums compares whole groups.
        units, n = self.unit, self.found.n
        if self.found.lower_is_better is not None:
            units, n = self.independent
        # "questions" without its last letter is the singular.
        unit = units[:-1] if better == 1 else units
        test = (
            f"Test: {pair.method}. {pair.b} {words[0]} on {better:,} {unit}, "
            f"{words[1]} on {worse:,}, the same on {n - better - worse:,}."
        )
        verdict, limit = self.sentence(self.decided[0]), pair.limit
        if self.found.judged is not None:
            p = out.p_text(pair.pvalue, "p = ")
            return [
                verdict,
                f"The judge alone says {pair.gain:{self.signed}} ({p}). Its errors are "
                "not in this p-value.",
            ]
        if limit is None:
            return [verdict, test]
        return [verdict, test, self.margin(pair, limit)]

    def margin(self, pair: Gain, limit: MarginTest) -> str:
        """Return the decision about a margin."""
        margin, a, b = f"{limit.margin:g}", pair.a, pair.b
        first = f"It is not shown that {b} is less than {margin} worse than {a}"
        if limit.is_noninferior:
            first = f"{b} is not worse than {a} by {margin} or more"
        second = f"it is not shown that they differ by less than {margin}"
        if limit.is_equivalent:
            second = f"the two differ by less than {margin}"
        return (
            f"Margin: {first} ({out.p_text(limit.noninferiority_pvalue, 'p = ')}); "
            f"{second} ({out.p_text(limit.equivalence_pvalue, 'p = ')}). These tests "
            f"are one-sided: p must be at most {self.alpha / 2:.3g}."
        )

    def sentence(self, pair: Decided) -> str:
        """Return whether the second system of a pair is better, with its numbers."""
        by, p = "By the labels of people, ", ""
        if pair.pvalue is not None:
            p = f", {out.p_text(pair.pvalue, 'p = ')}{self._after_adjustment()}"
            by = ""
        return (
            f"{by}{self.verdict(pair)}: {self.change} {pair.gain:{self.signed}} "
            f"({self.level} {out.ends(pair, self.signed)}){p}."
        )

    def verdict(self, pair: Decided) -> str:
        """Return whether the second system of a pair is better or worse."""
        a, b = pair.a, pair.b
        if pair.better is None:
            return f"{b} and {a} do not differ significantly"
        return f"{b} is {'better' if pair.better == b else 'worse'} than {a}"

    @property
    def decisions(self) -> Decisions:
        """The decisions, which a comparison of several systems has."""
        assert self.found.decisions is not None
        return self.found.decisions

    def verdict_of_all(self) -> str:
        """Return which system is better, for the head of all outputs."""
        found = self.decisions
        if len(self.pairs) == 1:
            return self.sentence(self.decided[0])
        by = self.by_people
        if found.better is not None:
            return f"{found.better} is better than every other system{by}."
        if all(pair.better is None for pair in self.decided):
            return f"No two of the {self.n_systems} systems differ significantly{by}."
        # Which systems may be as good as the best one.
        shown = listed(found.not_worse, 5)
        return f"{found.best} has the best score{by}. Not significantly worse: {shown}."

    def cards(self, pair: Decided) -> out.Cards:
        """Return the scores of both systems, the gain and what it rests on."""
        gain = f"{pair.gain:{self.signed}}", out.ends(pair, self.signed)
        if self.found.judged is None:
            method = self.pairs[0].method
            test = ("p-value", out.p_text(self.pairs[0].pvalue), method)
            return out.Cards([*self.systems().rows, (self.change, *gain), test])
        # The cards begin with the result that decides.
        rows = [(f"{n}, by the judge", *rest) for n, *rest in self.systems().rows]
        judged = self.found.judged[0].gain
        of = "both" if judged.labels == "paired" else "one system each"
        labels = ("labels", f"{judged.n_labelled:,}", f"questions with labels of {of}")
        return out.Cards([(f"{self.change} by people", *gain), *rows, labels])

    def table_of_pairs(self, most: int) -> list[out.Block]:
        """Return the table of pairs, or of pairs with the baseline if there are many.

        A paragraph has the number of significant differences, the tests, and what is
        left out.
        """
        pairs, baseline = self.pairs, self.found.baseline
        n = sum(pair.pvalue_adjusted <= self.alpha for pair in pairs)
        # The method of a pair depends on its scores, so that there may be several.
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
            # The number of pairs grows with the square of the systems. Most readers ask
            # for the baseline.
            pairs = [pair for pair in pairs if pair.a == baseline]
        header = ["later - earlier", self.change, self.level, "p", "adjusted"]
        # The score of the later system is higher in a win, which is worse for TER.
        header += ["higher", "lower"] if self.is_lower_better else ["wins", "losses"]
        limit = pairs[0].limit
        if limit is not None:
            header += ["not inferior", "equivalent"]
            text += f" The margin is {limit.margin:g}."
        rows = []
        for pair in pairs:
            shown = () if pair.limit is None else pair.limit[-2:]
            words = ["yes" if each else "not shown" for each in shown]
            counts = f"{pair.wins:,}", f"{pair.losses:,}"
            cells = [*self._gain_cells(pair), *counts, *words]
            rows.append([f"{pair.b} - {pair.a}", *cells])
        # A terminal has no place for wins and losses beside the decisions of a margin.
        spare = () if limit is None else (5, 6)
        return [out.Table(header, rows, spare), out.Paragraph(text, "soft")]

    def _gain_cells(self, row: Gain) -> list[str]:
        """Return the gain, its interval and its p-values as cells."""
        pvalues = map(out.p_text, (row.pvalue, row.pvalue_adjusted))
        return [f"{row.gain:{self.signed}}", out.ends(row, self.signed), *pvalues]

    def too_few(self) -> list[str]:
        """Return a sentence if no p-value can be small enough for a decision."""
        smallest = self.found.smallest_pvalue
        if smallest <= self.alpha or not self.pairs:
            return []
        unit, _ = self.independent
        if not any(pair.wins + pair.losses for pair in self.pairs):
            # More questions would not help if both files are of the same system.
            return [f"The systems have the same scores on all {self.unit}."]
        return [
            f"Too few {unit} differ to reject at {self.alpha:.3g}: the smallest "
            f"p-value that this test can give is {out.p_text(smallest)}. This is not "
            f"evidence that there is no {self.change}; more {unit} are needed."
        ]

    def warnings(self) -> list[str]:
        """Return warnings about the limits of the comparison."""
        found, n_pairs = self.found, len(self.pairs)
        least, known = found.smallest_pvalue, list(found.warnings or ())
        # Holm's method multiplies the smallest p-value by the number of pairs.
        if found.n_groups is not None and least <= self.alpha < least * n_pairs:
            return known + [
                f"With so few groups no p-value is below {out.p_text(least)}. Some of "
                f"the {n_pairs} pairs cannot be significant after Holm's correction."
            ]
        return known + self.too_few()

    def failing(self, condition: str) -> list[str]:
        """Return the later systems that meet a condition of --fail-if."""
        if condition == "worse-calibrated":
            return [
                name
                for name, error in self.errors.items()
                if error.difference > 0 and (error.pvalue_adjusted or 0) <= self.alpha
            ]
        return [pair.b for pair in self.of_baseline if self._is_met(condition, pair)]

    def _gain_of(self, pair: Decided) -> Gain:
        return next(g for g in self.pairs if (g.a, g.b) == (pair.a, pair.b))

    def _is_met(self, condition: str, pair: Decided) -> bool:
        if condition == "inferior":
            limit = self._gain_of(pair).limit
            assert limit is not None
            if self.found.judged is None:
                return not limit.is_noninferior
            # The test of the margin uses the judge's scores, so that the corrected
            # interval decides.
            return pair.low <= -limit.margin
        better = pair.a if condition == "worse" else pair.b
        # "worse" is met if the baseline is better, and "not-better" unless the later
        # system is.
        return (pair.better == better) == (condition == "worse")

    def judged(self, judged: list[JudgedPair]) -> list[out.Block]:
        """Return the gains that a judge and the labels of people give."""
        header = ["later - earlier", "by the judge", "by people", self.level]
        rows = [
            [
                f"{each.b} - {each.a}",
                f"{each.gain.uncorrected:{self.signed}}",
                *out.cells_of(each.gain, self.signed),
                f"{each.gain.n_labelled:,}",
                f"{each.gain.equivalent_labels:,.0f}",
            ]
            for each in judged
        ]
        notes = [note for each in judged for note in each.notes]
        text = (
            "The gain by people is estimated from the judge and the labels. All other "
            "numbers treat the judge's scores as the truth."
        )
        if len(judged) > 1:
            text += (
                f" Decisions have Bonferroni's correction for {len(judged)} pairs, and "
                "the intervals of the table do not."
            )
        limit = self.pairs[0].limit
        if limit is not None:
            least = -limit.margin
            shown = [
                f"{each.b} than {each.a}" for each in judged if each.gain.low > least
            ]
            text += (
                f" Shown to be worse by less than {limit.margin:g}, or better: "
                f"{'; '.join(shown) or 'none'}."
            )
        return [
            out.Heading("gain by people"),
            out.Table([*header, "labels", "worth"], rows),
            *map(out.Paragraph, (text, *dict.fromkeys(notes))),
        ]

    def by(self, parts: Parts) -> list[out.Block]:
        """Return the gains over the baseline for each value of --by."""
        column, rows, homogeneity = parts
        has_systems = self.n_systems > 2
        header = [column, *["system"] * has_systems, "n", "baseline", "later"]
        table = []
        for row in rows:
            # A part without a test stays in the table, with its size as the reason.
            name, cells = "", ["", "", "", "", "too few", ""]
            if row.tested is not None:
                scores = (f"{x:{self.digits}}" for x in (row.score_a, row.score_b))
                name, cells = row.tested.b, [*scores, *self._gain_cells(row.tested)]
            table.append([row.value, *[name] * has_systems, f"{row.n:,}", *cells])
        tested = [row.tested for row in rows if row.tested is not None]
        n = sum(row.pvalue_adjusted <= self.alpha for row in tested)
        sentences = [
            f"{n} of {len(tested)} {self.change}s over {self.found.baseline} "
            f"{'is' if n == 1 else 'are'} significant with Holm's correction for these "
            "rows."
        ]
        for each in homogeneity:
            shown = "is" if each.pvalue <= self.alpha else "is not"
            p = out.p_text(each.pvalue, "p = ")
            sentences.append(
                f"A difference of the {self.change}s of {each.b} by {column} {shown} "
                f"shown ({p}, Cochran's Q)."
            )
        if self.found.judged is not None:
            # Few parts have enough labels for a correction.
            sentences = [
                "These are scores of the judge, without labels of people. The labels "
                f"alone by {column}: skcalib report --labels."
            ]
        return [
            out.Heading(f"by {column}{', judge only' * bool(self.by_judge)}"),
            out.Table([*header, self.change, self.level, "p", "adjusted"], table),
            *map(out.Paragraph, sentences),
        ]

    def _figure_of_parts(self) -> list[out.Block]:
        """Return the figure of the gains of a single later system in the parts."""
        rows = [] if self.found.by is None else self.found.by.rows
        gains = {r.value: (r.tested.gain, r.tested) for r in rows if r.tested}
        if self.n_systems > 2 or len(gains) < 2:
            return []
        return self._figure(gains, self.by_judge, "of each part with its interval.")

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
                label = f"{each.b}: {name}" if self.n_systems > 2 else name
                cells = [f"{score:{digits}}" for score in (found.a, found.b)]
                cells += f"{found.difference:+{digits}}", out.ends(found, f"+{digits}")
                rows.append([label, *cells, out.p_text(found.pvalue)])
        header = ["measure", "baseline", "later", "difference", self.level, "p"]
        judge = "" if self.found.judged is None else " (by the judge's scores)"
        return [
            out.Heading(f"calibration{judge}"),
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
        n, unit, needed = self.found.n, self.unit, each.questions_needed
        judged = self._judged_gain(each)
        if judged is not None:  # which decides, and not the scores of the judge
            n, unit, needed = judged.n_labelled, f"labelled {unit}", each.labels_needed
        text = f"{each.b} - {each.a}: these {n:,} {unit} "
        if math.isfinite(each.detectable_gain):
            gain = f"{each.detectable_gain:{self.digits}}"
            text += f"detect a true {self.change} of {gain} with {POWER:.0%} power."
        else:
            text += f"cannot detect any {self.change}."
        if needed is not None and math.isfinite(needed):
            text += (
                f" A {self.change} of {each.gain:g} would need about {needed:,.0f} "
                f"{unit}."
            )
        elif judged is not None and needed is not None:
            text += f" A {self.change} of {each.gain:g} also needs more {self.unit}."
        return text

    def steps(self) -> out.Steps:
        """Return what to do now, one sentence or two each."""
        if not self.pairs:
            return out.Steps([self._how_to_quote_one()])
        found = self.decisions
        pair, more = found.quoted, found.more
        steps = [self._not_separated(pair)]
        if pair.better is not None:
            steps = [self._how_to_quote(pair)]
        judged = self._judged_gain(pair)
        if judged is not None:
            steps.append(out.more_labels(judged, self.unit))
        elif more is not None:
            what, count = self.independent
            several = len(self.pairs) > 1
            # The power with Holm's correction depends on the true gains of the other
            # pairs.
            single = ", without the correction for several pairs" * several
            steps.append(
                f"These {count:,} {what} detect a true {self.change} of about "
                f"{more.detectable_gain:{self.digits}} between {pair.a} and {pair.b} "
                f"with {POWER:.0%} power{single}. Half of it needs about "
                f"{more.needed_for_half:,} {self.unit}. {out.ONE_LOOK}"
            )
        steps += self._of_parts_that_differ()
        return out.Steps(steps)

    def _of_parts_that_differ(self) -> list[str]:
        """Return advice about gains that differ by part."""
        if self.found.by is None or self.found.judged is not None:
            return []
        column, _, tests = self.found.by
        names = [each.b for each in tests if each.pvalue <= self.alpha]
        if not names:
            return []
        return [
            f"The {self.change} of {', '.join(names)} differs by {column}: also quote "
            f"the {self.change} of each {column}."
        ]

    def _not_separated(self, pair: Decided) -> str:
        # A difference that is not significant is often reported as equality.
        margin = " To show that systems differ by less than a margin, pass --margin."
        return (
            f"Do not report a {self.change}: none is significant. This does not show "
            f"that the systems are equal: for {pair.b} - {pair.a}, {self.change}s from "
            f"{out.ends(pair, self.signed)} are compatible with the data."
            f"{'' if self.pairs[0].limit is not None else margin}"
        )

    def _judged_gain(self, pair: Decided | Power) -> JudgedDifference | None:
        """Return the gain of a pair by people, if there are labels."""
        judged = self.found.judged or ()
        return next((e.gain for e in judged if (e.a, e.b) == (pair.a, pair.b)), None)

    def _how_to_quote(self, pair: Decided) -> str:
        found = self.found
        groups = "" if found.n_groups is None else f" in {found.n_groups:,} groups"
        metric = found.metric + ", of which lower is better," * self.is_lower_better
        start = (
            f"Quote: {pair.b} - {pair.a}, {metric} {pair.gain:{self.signed}} "
            f"({self.level} interval {out.ends(pair, self.signed)}"
        )
        of_pairs = f"; not adjusted for {len(self.pairs)} pairs"
        of_pairs *= len(self.pairs) > 1
        judged = self._judged_gain(pair)
        if judged is not None:
            return (
                f"{start}), {found.n:,} {self.unit}{groups} graded by a judge, "
                f"{judged.n_labelled:,} of them by people ({judged.method}{of_pairs})."
            )
        gain = self._gain_of(pair)
        p = out.p_text(gain.pvalue_adjusted, "p = ")
        if len(self.pairs) > 1:
            # The interval is of this pair alone, while the decision is for all pairs.
            p = f"not adjusted, and {p}, adjusted for {len(self.pairs)} pairs"
        else:
            p = f"two-sided {p}"
        return f"{start}, {p}; {gain.method}), {found.n:,} {self.unit}{groups}."

    def _how_to_quote_one(self) -> str:
        (system,), (unit, count) = self.found.systems, self.independent
        row = out.Estimate(system.score, system.low, system.high)
        more = f"{out.more_units(row, count, unit)} ".lstrip()
        return (
            f"Quote: {self.found.metric} {system.score:{self.digits}} "
            f"({self.level} interval {out.ends(system, self.digits)}, "
            f"{self.found.n:,} {self.unit}). {more}To test whether another system "
            "differs, compare both on the same sentences."
        )
