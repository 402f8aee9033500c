"""The report as text, and as the object that ``--json`` prints."""

from __future__ import annotations

from argparse import Namespace
from textwrap import wrap
from typing import Any

import numpy as np

from .._errors import printable
from .._results import p_text
from ..metrics._interval import LEAST_GROUPS
from ._advice import (
    DIRECTION,
    TOO_FEW,
    error_interval,
    is_rejected,
    is_tested,
    next_steps,
    verdict,
)
from ._report_numbers import N_REGIONS
from ._runs import System

# Largest number of parts with their own report; others only have a table row.
MOST_REPORTS = 12


def as_json(
    system: System, whole: dict[str, Any], by: dict[str, Any], figure: str | None
) -> dict[str, Any]:
    """Return the object that describes a system."""
    evaluation = system.evaluation
    found = {
        "file": system.file,
        "format": evaluation.format,
        "model": evaluation.model,
        "task": evaluation.task,
        "n_skipped": system.n_skipped,
        "unanswered": system.unanswered,
        "unanswered_rule": system.rule,
        "notes": list(evaluation.notes),
        **whole,
    }
    if system.if_wrong is not None:
        found["accuracy_if_wrong"] = system.if_wrong
    if len(system.files) > 1:
        found["files"] = system.files
    if by:
        found["by"] = {"column": system.by_name, "values": by}
    found["figure"] = figure
    return found


def as_text(
    system: System, whole: dict[str, Any], by: dict[str, Any], options: Namespace
) -> str:
    """Return the report on a system."""
    level = options.confidence_level
    lines = []
    if system.is_table and system.n_skipped:
        n = system.n_skipped
        lines.append(f"{n} row{'s' * (n > 1)} with an empty cell left out")
    lines += [f"{printable(system.file)}: {_opening(whole, level)}"]
    lines += _about(system, whole, level, options)
    if "judged" in whole:
        lines += _judged(whole["judged"], level)
    lines += _details(whole, level)
    if by:
        lines += ["", *by_table(str(system.by_name), by, level)]
    if len(by) <= MOST_REPORTS and whole["calibration_error"] is not None:
        for value, part in by.items():
            name = printable(f"{system.by_name} = {value}")
            lines += ["", f"{name}: {_opening(part, level)}", *_details(part, level)]
    lines += ["", "what to do now"]
    for step in next_steps(whole, level):
        lines += wrap(step, 78, initial_indent="- ", subsequent_indent="  ")
    return "\n".join(lines)


def _opening(found: dict[str, Any], level: float) -> str:
    """Return the numbers of a part in one line, and the verdict in the next line."""
    accuracy, overall = found["accuracy"], found["overall"]
    ends = f"({100 * level:g}% [{accuracy['low']:.4f}, {accuracy['high']:.4f}])"
    groups = "" if found["n_groups"] is None else f", {found['n_groups']} groups"
    count = f"{found['n_samples']} predictions"
    if found["n"] < found["n_samples"]:
        count += f" of {found['n']} questions"
    if overall is not None and overall["n"] < found["n_samples"]:
        count += f", {overall['n']} with a probability"
    if overall is None:
        return f"{count}{groups}: accuracy {accuracy['estimate']:.4f} {ends}"
    return (
        f"{count}{groups}: mean probability {overall['mean_probability']:.4f}, "
        f"frequency {accuracy['estimate']:.4f} {ends}\n{_direction(found)}"
    )


def _direction(found: dict[str, Any]) -> str:
    if not is_tested(found["calibration_error"]):
        return TOO_FEW.lower()
    return DIRECTION[found["overall"]["verdict"]]


def _about(
    system: System, found: dict[str, Any], level: float, options: Namespace
) -> list[str]:
    """Return the verdict, what was read, and the scoring of unanswered samples."""
    lines = wrap(verdict(found, level), 78)
    evaluation = system.evaluation
    if system.is_table:
        if found["calibration_error"] is None:
            lines.append(
                "If a column contains probabilities, name it with --y-proba."
                if not np.isfinite(system.answers.q).any()
                else "Calibration needs scores of 0 and 1 only."
            )
        if options.unanswered is None:
            return lines
    named = {"format": evaluation.format, "model": evaluation.model}
    named |= {"task": evaluation.task}
    if len(system.files) > 1:
        named["tasks"] = str(len(system.files))
    lines.append("")
    lines += [f"{name:<11} {printable(v)}" for name, v in named.items() if v]
    counts = ", ".join(f"{n} {status}" for status, n in system.unanswered.items())
    if counts:
        lines.append(f"{'unanswered':<11} {counts}; {system.n_skipped} left out")
        rule = f"{system.rule} (--unanswered chooses.)"
        lines += wrap(rule, 78, initial_indent=" " * 12, subsequent_indent=" " * 12)
    if system.if_wrong is not None:
        other = system.if_wrong
        lines.append(
            f"{'':<11} counted as wrong: accuracy {other['estimate']:.4f} "
            f"[{other['low']:.4f}, {other['high']:.4f}]"
        )
    for note in evaluation.notes if not system.is_table else ():
        lines += wrap(
            printable(note),
            78,
            initial_indent="note        ",
            subsequent_indent=" " * 12,
        )
    return lines


def judged_rows(found: dict[str, Any]) -> list[list[str]]:
    """Return the rates that the judge and the labels give, with their intervals."""
    corrected = {"estimate": found["estimate"]}
    rates = {
        "by judge and labels": corrected | {k: found[k] for k in ("low", "high")},
        "these answers only": corrected | found["items"],
        "by labels alone": found["labels_only"],
        "by the judge": {"estimate": found["uncorrected"]},
        "judge's sensitivity": found["sensitivity"],
        "judge's specificity": found["specificity"],
    }
    return [
        [
            name,
            f"{rate['estimate']:.4f}",
            f"[{rate['low']:.4f}, {rate['high']:.4f}]" if "low" in rate else "",
        ]
        for name, rate in rates.items()
        if rate is not None
    ]


def judged_words(found: dict[str, Any]) -> list[str]:
    """Return sentences about the value of the labels and about calibration."""
    words = [
        f"{found['n_labelled']} of {found['n_items']} answers have a label. With the "
        f"judge, they are equivalent to {found['equivalent_labels']:.0f} labels drawn "
        "at random without the judge. The result by labels alone is valid only if the "
        "labelled answers were drawn without regard to the judge."
    ]
    error = found["calibration_error"]
    if error is not None:
        words.append(
            f"Calibration error of the {error['n']} answers with a label, by the "
            f"labels: {error['estimate']:.4f} [{error['low']:.4f}, "
            f"{error['high']:.4f}]. All other numbers about probabilities treat the "
            "judge's scores as the truth."
        )
    return words + found["notes"]


def _judged(found: dict[str, Any], level: float) -> list[str]:
    """Return the lines about a judge and labels."""
    lines = ["", f"accuracy by people, {100 * level:g}% intervals ({found['method']})"]
    lines += [f"  {line}" for line in columns_of(judged_rows(found))]
    for sentence in judged_words(found):
        lines += wrap(sentence, 78, initial_indent="  ", subsequent_indent="  ")
    return lines


def _score_lines(brier: dict[str, Any]) -> list[str]:
    """Return the parts of the Brier score, in bins and by isotonic regression."""
    bins, levels = brier["adaptive"], brier["isotonic"]
    sign = "-" if bins["residual"] < 0 else "+"
    return [
        f"Brier score {bins['score']:.4f}",
        f"  = {bins['calibration']:.4f} calibration + {bins['refinement']:.4f} "
        f"refinement {sign} {abs(bins['residual']):.4f} inside bins of "
        f"{bins['bin_size']}",
        f"  = {levels['calibration']:.4f} calibration - "
        f"{levels['discrimination']:.4f} discrimination + "
        f"{levels['uncertainty']:.4f} uncertainty, isotonic",
        "  (calibration: removable by recalibration; refinement: the rest)",
    ]


def _few_groups(n_effective: float | None, percent: str) -> list[str]:
    """Return a warning if groups are too few or too unequal for the interval."""
    if n_effective is None or n_effective >= LEAST_GROUPS:
        return []
    return [
        f"  only {n_effective:.1f} effective groups: the interval contains the true "
        f"error less often than {percent}"
    ]


def pvalue_of(error: dict[str, Any]) -> str:
    """Return the p-value of perfect calibration."""
    if not is_tested(error):
        return "not tested"
    return p_text(error["p_value"], before="p = ")


def decision(error: dict[str, Any], level: float) -> str:
    """Return the result of the test of perfect calibration."""
    if not is_tested(error):
        return "too few answers"
    return "rejected" if is_rejected(error, level) else "not rejected"


def _details(found: dict[str, Any], level: float) -> list[str]:
    """Return the errors, the parts of the Brier score, and the table of regions."""
    error, plug_in = found["calibration_error"], found["plug_in"]
    if error is None:
        return []
    percent = f"{100 * level:g}%"
    lines = [
        "",
        "calibration error, root mean square",
        f"  debiased    {error['estimate']:.4f}  {percent} "
        f"{error_interval(error, 4)}, bins of {error['bin_size']}; corrected for "
        "noise: report this",
        f"  plug-in     {plug_in['error']:.4f}  bins of {plug_in['bin_size']} "
        "(as in the curve); biased upwards",
        f"  mean |.|    {found['ece']:.4f}  ECE, mean distance in {N_REGIONS} "
        "equal-width bins; biased upwards",
        f"perfect calibration: {pvalue_of(error)}, {decision(error, level)}",
        *_few_groups(error["n_effective_groups"], percent),
        "",
        *_score_lines(found["brier"]),
        "",
        f"{'probability':<13}{'n':>9}{'mean':>8}{'freq.':>8}  {percent:<18}verdict",
    ]
    for row in found["regions"]:
        ends = f"[{row['frequency_low']:.3f}, {row['frequency_high']:.3f}]"
        lines.append(
            f"{limits(row):<13}{row['n']:>9}"
            f"{row['mean_probability']:>8.3f}{row['frequency']:>8.3f}  {ends:<18}"
            f"{row['verdict']}"
        )
    return lines


def limits(row: dict[str, Any]) -> str:
    """Return the range of a row, or the single probability of its answers."""
    if row["from"] == row["to"]:
        return f"{row['from']:.10g}"
    return f"{row['from']:.1f} to {row['to']:.1f}"


def by_header(percent: str) -> list[str]:
    """Return the header of the table of parts or systems."""
    return ["n", "accuracy", percent, "error", percent, "p"]


def by_row(found: dict[str, Any]) -> list[str]:
    """Return the numbers of a part or a system as cells."""
    accuracy, error = found["accuracy"], found["calibration_error"]
    cells = [
        str(found["n"]),
        f"{accuracy['estimate']:.3f}",
        f"{accuracy['low']:.3f} to {accuracy['high']:.3f}",
    ]
    if error is None:
        return [*cells, "", "", ""]
    p = p_text(error["p_value"], ".2g") if is_tested(error) else "too few"
    return [*cells, f"{error['estimate']:.3f}", error_interval(error), p]


def by_cells(
    column: str, by: dict[str, Any], level: float
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the table of parts, with adjusted p-values."""
    header = [column, *by_header(f"{100 * level:g}%"), "adjusted"]
    rows = []
    for value, part in by.items():
        adjusted = part["p_value_adjusted"]
        last = "" if adjusted is None else p_text(adjusted, ".2g")
        rows.append([value, *by_row(part), last])
    if all(not any(row[4:]) for row in rows):
        return header[:4], [row[:4] for row in rows]
    return header, rows


def by_table(column: str, by: dict[str, Any], level: float) -> list[str]:
    """Return the lines of a table of parts."""
    header, rows = by_cells(column, by, level)
    shown = [[f"{column} = {value}", *rest] for value, *rest in rows]
    lines = columns_of([header, *shown])
    found = [part["p_value_adjusted"] for part in by.values()]
    tested = [p for p in found if p is not None]
    if tested:
        n = sum(p < 1 - level for p in tested)
        lines.append(by_verdict(n, len(tested)))
    return lines


def by_verdict(n: int, n_tested: int) -> str:
    """Return the number of parts with significant miscalibration."""
    return (
        f"Perfect calibration is rejected for {n} of {n_tested}, with p-values "
        "adjusted by Holm's rule."
    )


def columns_of(rows: list[list[str]]) -> list[str]:
    """Return rows of cells as lines, with the first column left-aligned."""
    safe = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*safe, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in safe
    ]


def systems_table(
    systems: list[System],
    found: list[tuple[dict[str, Any], dict[str, Any]]],
    level: float,
) -> str:
    """Return a table with one row per system, then the table of each one's parts."""
    header = ["system", *by_header(f"{100 * level:g}%")]
    rows = [
        [system.name, *by_row(whole)]
        for system, (whole, _) in zip(systems, found, strict=True)
    ]
    if all(not any(row[4:]) for row in rows):
        header, rows = header[:4], [row[:4] for row in rows]
    lines = columns_of([header, *rows])
    lines.append("skcalib compare tests whether these systems differ.")
    for system, (_, by) in zip(systems, found, strict=True):
        if by:
            lines += ["", printable(system.name)]
            lines += by_table(str(system.by_name), by, level)
    return "\n".join(lines)
