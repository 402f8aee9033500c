"""``skcalib compare``: tests whether systems differ on the same questions."""

from __future__ import annotations

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
from ._compare_numbers import measure
from ._compare_texts import measure_texts, metric_of
from ._options import reject
from ._report import auroc_cells, case_of, error_ends
from ._runs import read_inputs
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

_MEASURES = {
    "calibration_error": "calibration error",
    "brier": "Brier score",
    "log_score": "log score",
}


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
        found["fail_if"] = {"condition": options.fail_if, "systems": failed}
    if options.json:
        print(out.as_json(found))
    elif options.csv:
        print(words.csv(), end="")
    else:
        print(out.as_text(words.printed(), width=79, break_on_hyphens=False))
    # The output is complete even if a figure cannot be drawn.
    sys.stdout.flush()
    if options.output is not None:
        figure_of(found).savefig(options.output, dpi=200, bbox_inches="tight")
    if options.markdown is not None:
        text = out.as_markdown(f"Comparison: {words.title()}", words.brief())
        options.markdown.write_text(text, "utf-8")
    if options.html is not None:
        svg = out.svg_of(figure_of(found), bbox_inches="tight")
        page = out.as_page(f"Comparison: {words.title()}", words.page(svg))
        options.html.write_text(page, "utf-8")
    for each in _reasons(words, failed, options.fail_if):
        print(printable(f"skcalib compare: {options.fail_if}: {each}"), file=sys.stderr)
    return FAILED if failed else DONE


def _reasons(words: Comparison, failed: list[str], condition: str | None) -> list[str]:
    """Return why the condition is met or cannot be met."""
    if failed:
        return [", ".join(failed)]
    # With too few questions a loss is never found, which is no evidence of none.
    if condition == "worse" and "judged" not in words.found:
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
    if options.adjust == "none":
        options.adjust = None
    exclude(options, ("json", "csv"), ("pass_at", "pass_all"))
    exclude(options, ("pass_at", "best_of"), ("pass_all", "best_of"))
    # The CSV has no column for these results, but a page shows them.
    if options.csv and options.html is None:
        exclude(options, ("csv", "by"), ("csv", "power"))
    check_different(options.file, "compare")
    check_figure(options.output, "--output")
    # With --metric, --groups and --by may be files.
    labels = [Path(name) for name in (options.groups, options.by) if name is not None]
    check_files(
        [*options.file, *(options.labels or ()), *(options.reference or ()), *labels],
        [(as_option(n), getattr(options, n)) for n in ("output", "html", "markdown")],
    )


def figure_of(found: dict[str, Any]) -> Any:
    """Return a figure of the scores of all systems."""
    systems = found["systems"]
    display = SystemScoresDisplay(
        names=[printable(each["name"]) for each in systems],
        **{key: [each[key] for each in systems] for key in ("score", "low", "high")},
        not_separated=[list(map(printable, g)) for g in found["not_separated"]],
        metric=found["metric"],
        confidence_level=found["confidence_level"],
        lower_is_better=bool(found.get("lower_is_better")),
    )
    return display.plot(_style.empty_figure()).figure_


class Comparison:
    """A comparison in words and tables, from the numbers that ``--json`` prints."""

    def __init__(self, found: dict[str, Any]):
        self.found = found
        self.pairs: list[dict[str, Any]] = found["pairs"]
        self.n_systems = len(found["systems"])
        self.unit: str = found.get("unit", "questions")
        self.level = out.percent(found["confidence_level"])
        self.alpha = 1 - found["confidence_level"]
        self.is_lower_better = bool(found.get("lower_is_better"))
        # Percentages have two decimals.
        digits = out.decimals(found["systems"][0])
        self.digits = ".2f" if found.get("is_percent") else digits
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
        if self.found["notes"]:
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
        files = [file for each in self.found["systems"] for file in each["files"]]
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
        notes = self.found["notes"]
        return [out.Paragraph(note, "soft", mark="note  ") for note in notes]

    def brief(self) -> Iterator[out.Block]:
        """Yield the verdict and the main tables."""
        yield out.Paragraph(self.headline())
        yield from (*self.scores(), *self.of_pairs(_MOST_ON_PAGE))
        yield from map(out.Paragraph, self.warnings())
        if "confidence" in self.found:
            yield from self.confidence()
        if "fail_if" in self.found:
            condition, systems = self.found["fail_if"].values()
            is_met = f"met by {', '.join(systems)}" if systems else "not met"
            yield out.Paragraph(f"Condition ({condition}): {is_met}.", "verdict")

    def results(self) -> Iterator[out.Block]:
        """Yield the gains by people and the gains for each value of --by."""
        if "judged" in self.found:
            yield from self.judged()
        if "by" in self.found:
            yield from self.by()

    def sections(self) -> Iterator[out.Block]:
        """Yield the further results, each with a heading."""
        if "repeats" in self.found:
            yield out.Heading("several samples per question")
            for each in self.found["repeats"]:
                yield out.Paragraph(f"{each['name']}: {each['advice']}")
        if "calibration" in self.found:
            yield from self.calibration()
        if "power" in self.found:
            yield out.Heading("power")
            yield from map(out.Paragraph, map(self.power_in_words, self.found["power"]))

    def title(self) -> str:
        """Return the names of two systems, or the number of systems."""
        names = [each["name"] for each in self.found["systems"]]
        return " and ".join(names) if len(names) < 3 else f"{len(names)} systems"

    def headline(self) -> str:
        """Return what was compared, and on how many questions."""
        found = self.found
        of = f"{self.n_systems} systems on the same" if self.pairs else "one system on"
        text = f"{found['metric']} of {of} {found['n']} {self.unit}"
        if found["n_groups"] is not None:
            text += f" in {found['n_groups']} groups ({found['groups']})"
        if found.get("reference") is not None:
            text += f"; reference: {found['reference']}"
        left = sum(found["only_in"].values())
        return text + f"; {left} answers to other {self.unit} left out" * bool(left)

    def systems(self) -> out.Table:
        """Return the table of the systems; of more than two, the best is the first."""
        systems, has_letters = self.found["systems"], self.n_systems > 2
        baseline = self.found["baseline"] if self.pairs else None
        if has_letters:
            systems = self._best_first()
        rows = [
            [
                each["name"] + " (baseline)" * (each["name"] == baseline),
                f"{each['score']:{self.digits}}",
                out.ends(each, self.digits),
                *[each["letters"]] * has_letters,
            ]
            for each in systems
        ]
        return out.Table(
            ["system", self.found["metric"], self.level, *["group"] * has_letters], rows
        )

    def legend(self) -> str:
        """Return the explanation of the letters."""
        return (
            "Systems that share a letter do not differ significantly at "
            f"{self.alpha:.3g}{self._after_adjustment()}."
        )

    def _after_adjustment(self) -> str:
        n = len(self.pairs)
        if self.found["adjust"] is None or n == 1:
            return ""
        name = {"holm": "Holm's", "bh": "Benjamini and Hochberg's"}
        return f" with {name[self.found['adjust']]} correction for {n} pairs"

    def pair_in_words(self, pair: dict[str, Any]) -> list[str]:
        """Return the result for a single pair, as sentences."""
        better, worse = pair["wins"], pair["losses"]
        words = "scores higher", "lower"
        if self.is_lower_better:
            better, worse = worse, better
            words = "is better (lower)", "worse (higher)"
        # The test of a metric of sums compares whole groups.
        units, n = self.unit, self.found["n"]
        if "lower_is_better" in self.found:
            units, n = self._independent()
        # "questions" without its last letter is the singular.
        unit = units[:-1] if better == 1 else units
        sentences = [
            f"{self.verdict(pair)}: gain {pair['gain']:{self.signed}} ({self.level} "
            f"{out.ends(pair, self.signed)}), {out.p_text(pair['pvalue'], 'p = ')}.",
            f"Test: {pair['method']}. {pair['b']} {words[0]} on {better} {unit}, "
            f"{words[1]} on {worse}, the same on {n - better - worse}.",
        ]
        return sentences + ([margin_in_words(pair)] if "margin" in pair else [])

    def verdict(self, pair: dict[str, Any]) -> str:
        """Return whether the second system of a pair is better or worse."""
        a, b = pair["a"], pair["b"]
        if pair["pvalue_adjusted"] > self.alpha:
            return f"{b} and {a} do not differ significantly"
        is_better = (pair["gain"] > 0) != self.is_lower_better
        return f"{b} is {'better' if is_better else 'worse'} than {a}"

    def cards(self, pair: dict[str, Any]) -> out.Cards:
        """Return the scores of both systems, the gain and its p-value."""
        gain = ("gain", f"{pair['gain']:{self.signed}}", out.ends(pair, self.signed))
        test = ("p-value", out.p_text(pair["pvalue"]), pair["method"])
        return out.Cards([*self.systems().rows, gain, test])

    def table_of_pairs(self, most: int) -> list[out.Block]:
        """Return the table of pairs, or of pairs with the baseline if there are many.

        A paragraph has the number of significant differences, the tests, and what is
        left out.
        """
        pairs, baseline = self.pairs, self.found["baseline"]
        n = sum(pair["pvalue_adjusted"] <= self.alpha for pair in pairs)
        methods = list(dict.fromkeys(pair["method"] for pair in pairs))
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
            pairs = [pair for pair in pairs if pair["a"] == baseline]
        header = ["later - earlier", "gain", self.level, "p", "adjusted"]
        # The score of the later system is higher in a win, which is worse for TER.
        header += ["higher", "lower"] if self.is_lower_better else ["wins", "losses"]
        if "margin" in pairs[0]:
            header += ["not inferior", "equivalent"]
            text += f" The margin is {pairs[0]['margin']:g}."
        rows = [
            [
                f"{pair['b']} - {pair['a']}",
                *self._gain_cells(pair),
                str(pair["wins"]),
                str(pair["losses"]),
                *(
                    "yes" if pair[key] else "not shown"
                    for key in ("is_noninferior", "is_equivalent")
                    if key in pair
                ),
            ]
            for pair in pairs
        ]
        return [out.Table(header, rows), out.Paragraph(text, "soft")]

    def _gain_cells(self, row: dict[str, Any]) -> list[str]:
        """Return the gain, its interval and its p-values as cells."""
        return [
            f"{row['gain']:{self.signed}}",
            out.ends(row, self.signed),
            out.p_text(row["pvalue"]),
            out.p_text(row["pvalue_adjusted"]),
        ]

    def too_few(self) -> list[str]:
        """Return a sentence if no p-value can be small enough for a decision."""
        smallest = self.found["smallest_pvalue"]
        if smallest <= self.alpha or not self.pairs:
            return []
        unit, _ = self._independent()
        if not any(pair["wins"] + pair["losses"] for pair in self.pairs):
            return [f"The systems have the same scores on all {self.unit}."]
        return [
            f"Too few {unit} differ to reject at {self.alpha:.3g}: the smallest "
            f"p-value that this test can give is {out.p_text(smallest)}. This is not "
            f"evidence that there is no gain; more {unit} are needed."
        ]

    def warnings(self) -> list[str]:
        """Return warnings about the limits of the comparison."""
        found, n_pairs = self.found, len(self.pairs)
        least, is_holm = found["smallest_pvalue"], found["adjust"] == "holm"
        if (
            found["n_groups"] is not None
            and is_holm
            and least <= self.alpha < least * n_pairs
        ):
            return [
                f"With so few groups no p-value is below {out.p_text(least)}. Some of "
                f"the {n_pairs} pairs cannot be significant after Holm's correction."
            ]
        return self.too_few()

    def failing(self, condition: str) -> list[str]:
        """Return the later systems that meet a condition of --fail-if."""
        pairs, alpha = self.pairs, self.alpha
        if condition == "worse-calibrated":
            errors = {e["b"]: e["calibration_error"] for e in self.found["calibration"]}
            return [
                name
                for name, error in errors.items()
                if error["difference"] > 0 and error["pvalue_adjusted"] <= alpha
            ]
        sign = -1 if self.is_lower_better else 1
        met: dict[str, Callable[[dict[str, Any]], bool]] = {
            "worse": lambda p: p["pvalue_adjusted"] <= alpha and sign * p["gain"] < 0,
            "not-better": lambda p: (
                not (p["pvalue_adjusted"] <= alpha and sign * p["gain"] > 0)
            ),
            "inferior": lambda p: not p.get("is_noninferior", True),
        }
        if "judged" in self.found:  # the interval of the corrected gain decides
            margin = pairs[0].get("margin", 0.0)
            pairs = self.found["judged"]
            met = {
                "worse": lambda p: p["high"] < 0,
                "not-better": lambda p: p["low"] <= 0,
                "inferior": lambda p: p["low"] <= -margin,
            }
        baseline = self.found["baseline"]
        return [p["b"] for p in pairs if p["a"] == baseline and met[condition](p)]

    def judged(self) -> list[out.Block]:
        """Return the gains that a judge and the labels of people give."""
        header = ["later - earlier", "by the judge", "by people", self.level]
        rows = [
            [
                f"{each['b']} - {each['a']}",
                f"{each['uncorrected']:{self.signed}}",
                f"{each['estimate']:{self.signed}}",
                out.ends(each, self.signed),
                str(each["n_labelled"]),
                f"{each['equivalent_labels']:.0f}",
            ]
            for each in self.found["judged"]
        ]
        notes = [note for each in self.found["judged"] for note in each["notes"]]
        return [
            out.Heading("gain by people"),
            out.Table([*header, "labels", "worth"], rows),
            out.Paragraph(
                "The gain by people is estimated from the judge and the labels. All "
                "other numbers treat the judge's scores as the truth."
            ),
            *map(out.Paragraph, dict.fromkeys(notes)),
        ]

    def by(self) -> list[out.Block]:
        """Return the gains over the baseline for each value of --by."""
        column, rows = self.found["by"]["column"], self.found["by"]["rows"]
        has_systems = self.n_systems > 2
        header = [column, *["system"] * has_systems, "n", "baseline", "later", "gain"]
        table = [
            [
                row["value"],
                *[row.get("b", "")] * has_systems,
                str(row["n"]),
                *(
                    (
                        f"{row['score_a']:{self.digits}}",
                        f"{row['score_b']:{self.digits}}",
                        *self._gain_cells(row),
                    )
                    if "gain" in row
                    else ("", "", "", "", "too few", "")
                ),
            ]
            for row in rows
        ]
        tested = [row for row in rows if "gain" in row]
        n = sum(row["pvalue_adjusted"] <= self.alpha for row in tested)
        return [
            out.Heading(f"by {column}"),
            out.Table([*header, self.level, "p", "adjusted"], table),
            out.Paragraph(
                f"{n} of {len(tested)} gains over {self.found['baseline']} are "
                "significant with Holm's correction for these rows."
            ),
        ]

    def calibration(self) -> list[out.Block]:
        """Return differences in the calibration error and in proper scores."""
        baseline = self.found["baseline"]
        rows = [
            [
                f"{each['b']}: {name}" if self.n_systems > 2 else name,
                *(f"{each[key][side]:{digits}}" for side in "ab"),
                f"{each[key]['difference']:+{digits}}",
                "none"
                if each[key]["low"] is None
                else out.ends(each[key], f"+{digits}"),
                out.p_text(each[key]["pvalue"]),
            ]
            for each in self.found["calibration"]
            for key, name in _MEASURES.items()
            for digits in [self.digits if key == "calibration_error" else ".4f"]
        ]
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
        for each in self.found["confidence"]:
            error, ranking = each["calibration_error"], each["ranking"]
            cells = [f"{error['estimate']:{digits}}", error_ends(error, digits)]
            rows.append([each["name"], *cells, *auroc_cells(ranking, digits)])
            case = case_of(error, ranking, self.alpha, digits)
            words += [f"{each['name']}: {case}"] if case else []
        header = ["system", "calibration error", self.level, "AUROC", self.level]
        return [out.Table(header, rows), *map(out.Paragraph, words)]

    def power_in_words(self, each: dict[str, Any]) -> str:
        """Return the detectable gain of a pair, and the questions that a gain needs."""
        text = f"{each['b']} - {each['a']}: these {self.found['n']} {self.unit} "
        if each["detectable_gain"] is None:
            text += "cannot detect any gain."
        else:
            gain = f"{each['detectable_gain']:{self.digits}}"
            text += f"detect a true gain of {gain} with {_POWER:.0%} power."
        if each.get("questions_needed") is not None:
            text += (
                f" A gain of {each['gain']:g} would need about "
                f"{each['questions_needed']:,} {self.unit}."
            )
        return text

    def steps(self) -> out.Steps:
        """Return what to do now, one sentence or two each."""
        if not self.pairs:
            return out.Steps([self._how_to_quote_one()])
        significant = [p for p in self.pairs if p["pvalue_adjusted"] <= self.alpha]
        if significant:
            pair, said = self._best_pair(significant)
            steps = [*said, self._how_to_quote(pair)]
        else:
            pair = max(self.pairs, key=lambda each: abs(each["gain"]))
            steps = [self._not_separated(pair)]
        least = self._detectable_gain(pair)
        if least is None:
            return out.Steps(steps)
        what, count = self._independent()
        more = (
            f"These {count:,} {what} detect a true gain of about "
            f"{least:{self.digits}} between {pair['a']} and {pair['b']} with "
            f"{_POWER:.0%} power. To halve this gain and the width of the interval, "
            f"collect four times as many: {4 * count:,} {what}."
        )
        return out.Steps([*steps, more])

    def _best_pair(
        self, significant: list[dict[str, Any]]
    ) -> tuple[dict[str, Any], list[str]]:
        """Return the pair to quote, and which systems may be as good as the best one.

        The pair is the best system and the best one that is significantly worse.
        """
        best = self._best_first()[0]["name"]
        of_best = [p for p in self.pairs if best in (p["a"], p["b"])]
        worse = [p for p in of_best if p in significant]
        others = [
            p["b"] if p["a"] == best else p["a"] for p in of_best if p not in worse
        ]
        # The best system may differ from no other one, although some pairs differ.
        candidates = sorted(worse or significant, key=lambda each: abs(each["gain"]))
        pair = candidates[0 if worse else -1]
        if not others:
            return pair, []
        shown = ", ".join(others[:_MOST_NAMED])
        more = len(others) - _MOST_NAMED
        shown += f" and {more} more" * (more > 0)
        return pair, [f"{best} has the best score. Not significantly worse: {shown}."]

    def _best_first(self) -> list[dict[str, Any]]:
        """Return the systems, the best first; a lower TER is better."""
        sign = 1 if self.is_lower_better else -1
        return sorted(self.found["systems"], key=lambda each: sign * each["score"])

    def _independent(self) -> tuple[str, int]:
        """Return the name and the number of what is independent."""
        if self.found["n_groups"] is None:
            return self.unit, self.found["n"]
        return "groups", self.found["n_groups"]

    def _not_separated(self, pair: dict[str, Any]) -> str:
        margin = " To show that systems differ by less than a margin, pass --margin."
        return (
            "Do not report a gain: none is significant. This does not show that the "
            f"systems are equal: for {pair['b']} - {pair['a']}, gains from "
            f"{out.ends(pair, self.signed)} are compatible with the data."
            f"{'' if 'margin' in pair else margin}"
        )

    def _how_to_quote(self, pair: dict[str, Any]) -> str:
        found, p = self.found, out.p_text(pair["pvalue_adjusted"], "p = ")
        if found["adjust"] is not None and len(self.pairs) > 1:
            p += f", adjusted for {len(self.pairs)} pairs"
        groups = ""
        if found["n_groups"] is not None:
            groups = f" in {found['n_groups']} groups"
        return (
            f"Quote: {pair['b']} - {pair['a']}, {found['metric']} "
            f"{pair['gain']:{self.signed}} ({self.level} interval "
            f"{out.ends(pair, self.signed)}, two-sided {p}; {pair['method']}), "
            f"{found['n']:,} {self.unit}{groups}."
        )

    def _how_to_quote_one(self) -> str:
        (system,), (unit, count) = self.found["systems"], self._independent()
        return (
            f"Quote: {self.found['metric']} {system['score']:{self.digits}} "
            f"({self.level} interval {out.ends(system, self.digits)}, "
            f"{self.found['n']:,} {self.unit}). To halve the width of the interval, "
            f"collect about {3 * count:,} more {unit}: {4 * count:,} in all. To test "
            "whether another system differs, compare both on the same sentences."
        )

    def _detectable_gain(self, pair: dict[str, Any]) -> float | None:
        """Return the gain that --power computed, or one from the interval's width."""
        for each in self.found.get("power", ()):
            if (each["a"], each["b"]) == (pair["a"], pair["b"]):
                gain: float | None = each["detectable_gain"]
                return gain
        width = pair["high"] - pair["low"]
        # Even if all units differed, no p-value would be below alpha.
        if width <= 0 or 2.0 ** (1 - self._independent()[1]) > self.alpha:
            return None
        # Half of the width is z(1 - alpha/2) standard errors of the gain. The test has
        # the power for a gain of z(1 - alpha/2) + z(power) standard errors.
        return float(1 + ndtri(_POWER) / ndtri(1 - self.alpha / 2)) * width / 2

    def csv(self) -> str:
        """Return the pairs as CSV, with one row per pair."""
        score = {each["name"]: each["score"] for each in self.found["systems"]}
        names = dict.fromkeys((*_CSV_COLUMNS, *self.pairs[0]))
        return out.as_csv(
            list(names),
            (
                {**pair, "score_a": score[pair["a"]], "score_b": score[pair["b"]]}
                for pair in self.pairs
            ),
        )


def margin_in_words(pair: dict[str, Any]) -> str:
    """Return the decision about a margin."""
    margin = f"{pair['margin']:g}"
    b, a = pair["b"], pair["a"]
    first = f"It is not shown that {b} is less than {margin} worse than {a}"
    if pair["is_noninferior"]:
        first = f"{b} is not worse than {a} by {margin} or more"
    second = f"it is not shown that they differ by less than {margin}"
    if pair["is_equivalent"]:
        second = f"the two differ by less than {margin}"
    return (
        f"Margin: {first} ({out.p_text(pair['noninferiority_pvalue'], 'p = ')}); "
        f"{second} ({out.p_text(pair['equivalence_pvalue'], 'p = ')})."
    )
