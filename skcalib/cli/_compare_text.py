"""A comparison in words and tables."""

from __future__ import annotations

import io
from textwrap import wrap
from typing import Any

from .._errors import printable
from .._results import p_text
from ._advice import compare_steps
from ._csv import write_rows
from ._report_text import columns_of

# Largest number of pairs printed; beyond it, only pairs with the baseline.
_MOST_PAIRS = 15

_CSV_COLUMNS = (
    *("a", "b", "score_a", "score_b", "gain", "low", "high", "pvalue"),
    *("pvalue_adjusted", "method", "wins", "losses"),
)


def as_text(found: dict[str, Any]) -> str:
    """Return the comparison as text."""
    lines = [headline(found), ""]
    header, rows = systems_table(found)
    lines += columns_of([header, *rows])
    lines += ["", *_wrapped(legend(found))] if len(found["systems"]) > 2 else []
    lines.append("")
    if len(found["pairs"]) == 1:
        for sentence in pair_in_words(found, found["pairs"][0]):
            lines += _wrapped(sentence)
    else:
        header, rows = pairs_table(found, _MOST_PAIRS)
        lines += columns_of([header, *rows])
        lines += _wrapped(pairs_in_words(found, _MOST_PAIRS))
    for sentence in warnings_of(found):
        lines += ["", *_wrapped(sentence)]
    for title, header, rows, words in sections(found):
        lines += ["", printable(title)]
        lines += columns_of([header, *rows]) if rows else []
        for sentence in words:
            lines += _wrapped(sentence)
    if found["notes"]:
        lines.append("")
        for note in found["notes"]:
            lines += _wrapped(note, "note  ")
    return "\n".join(lines)


def _wrapped(text: str, indent: str = "") -> list[str]:
    return wrap(
        printable(text),
        79,
        initial_indent=indent,
        subsequent_indent=" " * len(indent),
        break_on_hyphens=False,
    )


def headline(found: dict[str, Any]) -> str:
    """Return the title: what was compared, and on how many questions."""
    unit = found.get("unit", "questions")
    what = f"{found['metric']} of {len(found['systems'])} systems"
    groups = ""
    if found["n_groups"] is not None:
        groups = f" in {found['n_groups']} groups ({found['groups']})"
    left = sum(found["only_in"].values())
    out = f"; {left} answers to other {unit} left out" if left else ""
    return printable(f"{what} on the same {found['n']} {unit}{groups}{out}")


def systems_table(found: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the table of the systems, the best first."""
    level = f"{100 * found['confidence_level']:g}%"
    several = len(found["systems"]) > 2
    header = ["system", found["metric"], level, *(["group"] if several else [])]
    systems = found["systems"]
    if several:
        sign = 1 if found.get("lower_is_better") else -1
        systems = sorted(systems, key=lambda each: sign * each["score"])
    rows = []
    for each in systems:
        name = each["name"]
        if name == found["baseline"]:
            name += " (baseline)"
        row = [name, number(each["score"], found), interval(each, found)]
        rows.append(row + ([each["letters"]] if several else []))
    return header, rows


def legend(found: dict[str, Any]) -> str:
    """Return the explanation of the letters."""
    alpha = 1 - found["confidence_level"]
    return (
        "Systems that share a letter are not separated: their gain is not significant "
        f"at {alpha:.3g}{_after_adjustment(found)}."
    )


def _after_adjustment(found: dict[str, Any]) -> str:
    n = len(found["pairs"])
    if found["adjust"] is None or n == 1:
        return ""
    name = {"holm": "Holm's", "bh": "Benjamini and Hochberg's"}[found["adjust"]]
    return f" with {name} correction for {n} pairs"


def number(value: float, found: dict[str, Any]) -> str:
    """Return a score; percentages have two decimals."""
    return f"{value:.2f}" if found.get("is_percent") else f"{value:.4f}"


def signed(value: float, found: dict[str, Any]) -> str:
    """Return a gain with its sign."""
    return f"{value:+.2f}" if found.get("is_percent") else f"{value:+.4f}"


def interval(each: dict[str, Any], found: dict[str, Any]) -> str:
    """Return an interval of a score."""
    return f"{number(each['low'], found)} to {number(each['high'], found)}"


def gain_interval(each: dict[str, Any], found: dict[str, Any]) -> str:
    """Return an interval of a gain."""
    return f"{signed(each['low'], found)} to {signed(each['high'], found)}"


def pvalue(p: float, before: str = "") -> str:
    """Return a p-value with its significant digits, after the text `before`."""
    return p_text(p, ".2g" if p < 0.1 else ".2f", before=before)


def verdict(found: dict[str, Any], pair: dict[str, Any]) -> str:
    """Return whether the second system of a pair is better or worse."""
    a, b = pair["a"], pair["b"]
    if pair["pvalue_adjusted"] > 1 - found["confidence_level"]:
        return f"{b} and {a} are not separated"
    is_better = (pair["gain"] > 0) != bool(found.get("lower_is_better"))
    return f"{b} is {'better' if is_better else 'worse'} than {a}"


def pair_in_words(found: dict[str, Any], pair: dict[str, Any]) -> list[str]:
    """Return the result for a single pair, as sentences."""
    level = f"{100 * found['confidence_level']:g}%"
    unit = found.get("unit", "questions")
    better, worse = pair["wins"], pair["losses"]
    words = "scores higher", "lower"
    if found.get("lower_is_better"):
        better, worse = worse, better
        words = "is better (lower)", "worse (higher)"
    sentences = [
        f"{verdict(found, pair)}: gain {signed(pair['gain'], found)} ({level} "
        f"{gain_interval(pair, found)}), {pvalue(pair['pvalue'], 'p = ')}.",
        f"Test: {pair['method']}. {pair['b']} {words[0]} on {counted(better, unit)}, "
        f"{words[1]} on {worse}, the same on {found['n'] - better - worse}.",
    ]
    if "margin" in pair:
        sentences.append(margin_in_words(pair))
    return sentences


def counted(n: int, unit: str) -> str:
    """Return a number of questions or sentences."""
    return f"{n} {unit[:-1] if n == 1 else unit}"


def margin_in_words(pair: dict[str, Any]) -> str:
    """Return the decision about a margin."""
    margin = f"{pair['margin']:g}"
    b, a = pair["b"], pair["a"]
    if pair["is_noninferior"]:
        first = f"{b} is not worse than {a} by {margin} or more"
    else:
        first = f"It is not shown that {b} is less than {margin} worse than {a}"
    second = (
        f"the two differ by less than {margin}"
        if pair["is_equivalent"]
        else f"it is not shown that they differ by less than {margin}"
    )
    return (
        f"Margin: {first} ({pvalue(pair['noninferiority_pvalue'], 'p = ')}); {second} "
        f"({pvalue(pair['equivalence_pvalue'], 'p = ')})."
    )


def pairs_table(found: dict[str, Any], most: int) -> tuple[list[str], list[list[str]]]:
    """Return the table of pairs, or of pairs with the baseline if there are many."""
    level = f"{100 * found['confidence_level']:g}%"
    header = ["later - earlier", "gain", level, "p", "adjusted"]
    # The score of the later system is higher in a win, which is worse for TER.
    header += (
        ["higher", "lower"] if found.get("lower_is_better") else ["wins", "losses"]
    )
    pairs = found["pairs"]
    if len(pairs) > most:
        pairs = [pair for pair in pairs if pair["a"] == found["baseline"]]
    if "margin" in pairs[0]:
        header += ["not inferior", "equivalent"]
    rows = []
    for pair in pairs:
        row = [
            f"{pair['b']} - {pair['a']}",
            signed(pair["gain"], found),
            gain_interval(pair, found),
            pvalue(pair["pvalue"]),
            pvalue(pair["pvalue_adjusted"]),
            str(pair["wins"]),
            str(pair["losses"]),
        ]
        if "margin" in pair:
            row += [
                "yes" if pair["is_noninferior"] else "not shown",
                "yes" if pair["is_equivalent"] else "not shown",
            ]
        rows.append(row)
    return header, rows


def pairs_in_words(found: dict[str, Any], most: int) -> str:
    """Return the number of separated pairs, the tests, and what a table lacks."""
    pairs = found["pairs"]
    alpha = 1 - found["confidence_level"]
    n = sum(pair["pvalue_adjusted"] <= alpha for pair in pairs)
    methods = list(dict.fromkeys(pair["method"] for pair in pairs))
    shown = "; ".join(methods[:3]) + ("; ..." if len(methods) > 3 else "")
    text = (
        f"{n} of {len(pairs)} pairs are separated{_after_adjustment(found)}. Test: "
        f"{shown}."
    )
    if len(pairs) > most:
        text += (
            " The table has the pairs with the baseline; --csv and --json give all "
            f"{len(pairs)}."
        )
    if "margin" in pairs[0]:
        text += f" The margin is {pairs[0]['margin']:g}."
    return text


def too_few(found: dict[str, Any]) -> list[str]:
    """Return a sentence if no p-value can be small enough for a decision."""
    alpha = 1 - found["confidence_level"]
    if found["smallest_pvalue"] <= alpha:
        return []
    unit = "groups" if found["n_groups"] is not None else found.get("unit", "questions")
    return [
        f"Too few {unit} differ to reject at {alpha:.3g}: the smallest p-value that "
        f"this test can give is {pvalue(found['smallest_pvalue'])}. This is not "
        f"evidence that there is no gain; more {unit} are needed."
    ]


def warnings_of(found: dict[str, Any]) -> list[str]:
    """Return warnings about the limits of the comparison."""
    alpha = 1 - found["confidence_level"]
    warnings = too_few(found)
    if (
        not warnings
        and found["n_groups"] is not None
        and found["smallest_pvalue"] * len(found["pairs"]) > alpha
        and found["adjust"] == "holm"
    ):
        warnings.append(
            "With so few groups no p-value is below "
            f"{pvalue(found['smallest_pvalue'])}. Some of the {len(found['pairs'])} "
            "pairs cannot be separated after Holm's correction."
        )
    return warnings


Section = tuple[str, list[str], list[list[str]], list[str]]


def sections(found: dict[str, Any]) -> list[Section]:
    """Return the further tables, each with a title and sentences."""
    level = f"{100 * found['confidence_level']:g}%"
    made: list[Section] = []
    if "judged" in found:
        made.append(_judged_section(found, level))
    if "by" in found:
        made.append(_by_section(found, level))
    if "repeats" in found:
        words = [f"{each['name']}: {each['advice']}" for each in found["repeats"]]
        made.append(("several samples per question", [], [], words))
    if "calibration" in found:
        made.append(_calibration_section(found, level))
    if "power" in found:
        made.append(("power", [], [], _power_in_words(found)))
    made.append(("what to do now", [], [], compare_steps(found)))
    return made


def _judged_section(found: dict[str, Any], level: str) -> Section:
    header = ["later - earlier", "by the judge", "by people", level, "labels", "worth"]
    rows = [
        [
            f"{each['b']} - {each['a']}",
            f"{each['uncorrected']:+.4f}",
            f"{each['estimate']:+.4f}",
            f"{each['low']:+.4f} to {each['high']:+.4f}",
            str(each["n_labelled"]),
            f"{each['equivalent_labels']:.0f}",
        ]
        for each in found["judged"]
    ]
    words = [
        "The gain by people is estimated from the judge and the labels. All other "
        "numbers treat the judge's scores as the truth."
    ]
    words += dict.fromkeys(note for each in found["judged"] for note in each["notes"])
    return "gain by people", header, rows, words


def _by_section(found: dict[str, Any], level: str) -> Section:
    column, rows = found["by"]["column"], found["by"]["rows"]
    several = len(found["systems"]) > 2
    header = [column, *(["system"] if several else [])]
    header += ["n", "baseline", "later", "gain", level, "p", "adjusted"]
    table = []
    for row in rows:
        if "gain" not in row:
            first = [row["value"], *([""] if several else []), str(row["n"])]
            table.append([*first, "", "", "", "", "too few", ""])
            continue
        table.append(
            [
                row["value"],
                *([row["b"]] if several else []),
                str(row["n"]),
                number(row["score_a"], found),
                number(row["score_b"], found),
                signed(row["gain"], found),
                gain_interval(row, found),
                pvalue(row["pvalue"]),
                pvalue(row["pvalue_adjusted"]),
            ]
        )
    tested = [row for row in rows if "gain" in row]
    alpha = 1 - found["confidence_level"]
    n = sum(row["pvalue_adjusted"] <= alpha for row in tested)
    words = [
        f"{n} of {len(tested)} gains over {found['baseline']} are significant with "
        "Holm's correction for these rows."
    ]
    return f"by {column}", header, table, words


_MEASURES = {
    "calibration_error": "calibration error",
    "brier": "Brier score",
    "log_score": "log score",
}


def _calibration_section(found: dict[str, Any], level: str) -> Section:
    header = [
        "later - baseline",
        "measure",
        "baseline",
        "later",
        "difference",
        level,
        "p",
    ]
    rows = []
    for each in found["calibration"]:
        for key, name in _MEASURES.items():
            part = each[key]
            rows.append(
                [
                    each["b"],
                    name,
                    f"{part['a']:.4f}",
                    f"{part['b']:.4f}",
                    f"{part['difference']:+.4f}",
                    f"{part['low']:+.4f} to {part['high']:+.4f}",
                    pvalue(part["pvalue"]),
                ]
            )
    words = [
        "Lower is better for all of them. p-values are not adjusted. The calibration "
        "error is the plug-in error, which is biased upwards. The log score replaces "
        "probabilities of 0 and 1 by 1e-6 and 1 - 1e-6."
    ]
    return "calibration", header, rows, words


def _power_in_words(found: dict[str, Any]) -> list[str]:
    unit = found.get("unit", "questions")
    lines = []
    for each in found["power"]:
        pair = f"{each['b']} - {each['a']}"
        if each["detectable_gain"] is None:
            text = f"{pair}: these {found['n']} {unit} cannot detect any gain."
        else:
            text = (
                f"{pair}: these {found['n']} {unit} detect a true gain of "
                f"{number(each['detectable_gain'], found)} with 80% power."
            )
        if "gain" in each and each["questions_needed"] is not None:
            text += (
                f" A gain of {each['gain']:g} would need about "
                f"{each['questions_needed']:,} {unit}."
            )
        lines.append(text)
    return lines


def as_csv(found: dict[str, Any]) -> str:
    """Return the pairs as CSV, with one row per pair."""
    score = {each["name"]: each["score"] for each in found["systems"]}
    names = list(_CSV_COLUMNS)
    names += [name for name in found["pairs"][0] if name not in names]
    rows = [
        {**pair, "score_a": score[pair["a"]], "score_b": score[pair["b"]]}
        for pair in found["pairs"]
    ]
    text = io.StringIO()
    write_rows(text, [names, *([row[name] for name in names] for row in rows)])
    return text.getvalue()
