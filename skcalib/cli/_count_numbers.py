"""The numbers of ``skcalib count``."""

from __future__ import annotations

import re
import warnings
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .._pairs import holm
from .._periods import (
    full_over_observed,
    months_of,
    partial_in_words,
    slope_weights,
    times_of_trend,
)
from ..counts import CorrectedCount, corrected_count
from ..counts._corrected_count import LabelsOnly
from ..evaluation._values import listed
from ._corpus import Codes, Corpus, Design, Model
from ._shared import SHOWN, CommandError, command_error, in_options

# These warnings name rows of a table by codes. Notes say the same with their names.
_ABOUT_ROWS = "rows of the table have"

# Share of the corpus's months of a period that a value of --by has without a note.
_MUCH = 0.9

# Numbers of a trend or a difference.
_NUMBERS = ("estimate", "low", "high", "uncorrected")


@dataclass(kw_only=True)
class Row:
    """The count of a period, of a value of --by, or of both.

    The ends of its interval are NaN if it has no labelled document.
    """

    period: str | None = None
    by: str | None = None
    estimate: float
    low: float
    high: float
    standard_error: float
    uncorrected: float
    n_documents: int
    n_labelled: int


@dataclass(kw_only=True)
class Change:
    """The first period minus the second, in the corpus or for a value of --by.

    The p-value of the corpus is not adjusted.
    """

    by: str | None
    estimate: float
    low: float
    high: float
    uncorrected: float
    pvalue: float
    pvalue_adjusted: float
    verdict: str

    @property
    def part(self) -> str:
        """Return the name of the part of the corpus."""
        return "all" if self.by is None else self.by


@dataclass(kw_only=True)
class Trend(Change):
    """The change per period of the corpus, or of a value of --by.

    `is_scaled` says whether counts of partial periods are scaled to full ones.
    """

    labels_only: LabelsOnly
    is_scaled: bool


class Comparison(NamedTuple):
    """The difference of two periods; counts per month if `months` is given."""

    first: str
    second: str
    months: list[float] | None
    differences: list[Change]


class Decisions(NamedTuple):
    """What the intervals show: the verdict on each part that has a trend."""

    trend: dict[str, str] | None


@dataclass(kw_only=True)
class Counted:
    """All numbers of a count, in the order of the JSON.

    Without labels, there is no result, and the sum of the model has no interval.
    """

    file: str
    labels: str | None
    model: Model
    design: Design
    estimand: str
    confidence_level: float
    date: str | None
    freq: str | None
    period_labels: list[str] | None
    n_periods_without_documents: int
    by: str | None
    result: CorrectedCount | None = field(
        metadata={"otherwise": ("estimate", "low", "high")}
    )
    uncorrected: float
    n_documents: int
    n_labelled: int
    table: list[Row] | None
    trend: list[Trend] | None
    partial_periods: str
    comparison: Comparison | None
    decisions: Decisions
    warnings: list[str]
    notes: list[str]


def measure(corpus: Corpus, options: Namespace) -> Counted:
    """Return the counts, the table, the trend and all warnings."""
    n, n_labelled = corpus.label.size, int((~np.isnan(corpus.label)).sum())
    n_drawn = corpus.design.n_drawn
    if n_drawn is not None and not n_labelled:
        raise CommandError(
            f"{corpus.label_source or options.design}: none of the {n_drawn} "
            "drawn documents has a label. Let annotators fill in the labels, and name "
            "their file with --labels."
        )
    estimand = "mean" if options.mean else "count"
    period, by = corpus.period, corpus.by
    result = table = trend = comparison = None
    partial = ""
    if period is not None and corpus.months is not None:
        partial = partial_in_words(period.names, corpus.months)
    uncorrected = float(corpus.expected.sum()) / (n if options.mean else 1)
    with warnings.catch_warnings(record=True) as caught:
        # Python would hide a warning that an earlier call has given.
        warnings.simplefilter("always")
        # Without labels the sum is known, and its error is not.
        if n_labelled:
            rows = {"periods": _codes(period), "by": _codes(by), "estimand": estimand}
            result = _count(corpus, options, estimand, **rows)
            uncorrected = result.uncorrected
            table = None if result.table is None else _rows(result.table, corpus)
            trend = _trends(corpus, options) if options.trend else None
            comparison = _comparison(corpus, options) if options.compare else None
    # Those about periods without documents.
    corpus.warned += [(estimand, each.message.args[0]) for each in caught]  # type: ignore[union-attr]
    return Counted(
        file=str(corpus.path),
        labels=corpus.label_source,
        model=corpus.model,
        design=corpus.design,
        estimand=estimand,
        confidence_level=options.confidence_level,
        date=options.date,
        freq=options.freq,
        period_labels=None if period is None else period.names,
        # Such periods have a name and no row.
        n_periods_without_documents=(
            0 if period is None else len(period.names) - np.unique(period.code).size
        ),
        by=options.by,
        result=result,
        uncorrected=uncorrected,
        n_documents=n,
        n_labelled=n_labelled,
        table=table,
        trend=trend,
        partial_periods=partial,
        comparison=comparison,
        # A part may have the name "all", which means the whole corpus, the first one.
        decisions=Decisions(
            None if trend is None else {x.part: x.verdict for x in reversed(trend)}
        ),
        warnings=[text for text in _said(corpus) if _ABOUT_ROWS not in text],
        notes=[
            *corpus.notes,
            *_about_empty(table or []),
            *_about_undefined(comparison),
            *_about_partial(partial, options),
            *_about_few(corpus, options, partial),
            *_about_groups(corpus, options),
        ],
    )


def _said(corpus: Corpus) -> Iterator[str]:
    """Yield each warning once, with the estimates that it is about.

    The trend of each group repeats the warnings of the count, some with other numbers.
    """
    known = {**SHOWN, **_shown(corpus)}
    said: dict[str, dict[str, str]] = {}
    for what, each in corpus.warned:
        text = _in_lines(in_options(each, known), corpus)
        said.setdefault(re.sub(r"\d[\d.,]*", "", text), {}).setdefault(what, text)
    for found in said.values():
        first, *others = found
        text = found[first]
        is_same = set(found.values()) == {text}
        if is_same and first in ("count", "mean"):
            yield text
        else:
            numbers = "" if is_same else f"; the numbers are those of the {first}"
            yield f"{text} This is about the {', '.join([first, *others])}{numbers}."


def _about_partial(partial: str, options: Namespace) -> Iterator[str]:
    """Yield a note if the documents begin or end within a period."""
    # The mean of the documents does not depend on the length of a period.
    if partial and not options.mean:
        estimated = (
            "These lengths are estimated from the first and the last document. If they "
            "are known, pass --lengths. "
        )
        yield (
            f"The documents begin or end within a period ({partial}), so that its "
            "count is not that of a full period. --trend scales counts to full "
            "periods, and --compare compares counts per month. "
            f"{'' if options.lengths else estimated}Means do not depend on lengths "
            "(--mean)."
        )


def _about_few(corpus: Corpus, options: Namespace, partial: str) -> Iterator[str]:
    """Yield a note if the first or last period has few documents for its length."""
    if options.mean or options.lengths or not (options.trend or options.compare):
        return
    assert corpus.period is not None
    names, n = corpus.period.names, np.bincount(corpus.period.code)
    for end, beside in ((0, 1), (-1, -2)):
        is_known = f"{names[end]}: " in partial
        if len(n) > 1 and 2 * n[end] < n[beside] and not is_known:
            yield (
                f"{names[end]} has {n[end]:,} documents, fewer than half of the "
                f"{n[beside]:,} of {names[beside]}. If a part of it was collected, "
                "pass the months of all periods as --lengths."
            )


def _about_groups(corpus: Corpus, options: Namespace) -> Iterator[str]:
    """Yield a note if values of --by begin later or end earlier than the corpus."""
    in_trend = options.trend and options.empty_periods != "unobserved"
    if corpus.by is None or options.mean or not (in_trend or options.compare):
        return
    assert corpus.period is not None
    assert corpus.months is not None
    shorter = []
    for k, name in enumerate(corpus.by.names):
        own = corpus.by.code == k
        found = np.zeros(len(corpus.months))
        first, months = _months(corpus, own, options)
        found[first : first + len(months)] = months
        if (found < _MUCH * corpus.months).any():
            days = corpus.day[own]  # type: ignore[index]
            shorter.append(f"{name} ({min(days)} to {max(days)})")
    if shorter:
        yield (
            f"The documents of some values of {options.by!r} begin later or end "
            f"earlier than the corpus: {listed(shorter, 5)}. Outside of "
            "their time, their counts are 0 in --compare, and in --trend unless "
            "--empty-periods unobserved is passed."
        )


def _about_empty(rows: list[Row]) -> Iterator[str]:
    """Yield a note if rows have no interval."""
    n_empty = sum(not row.n_labelled for row in rows)
    if n_empty:
        yield (
            f"{n_empty} of {len(rows)} rows have no labelled document. Their estimate "
            "uses the mean error of the whole corpus, and they have no interval."
        )


def _about_undefined(comparison: Comparison | None) -> Iterator[str]:
    """Yield notes on differences that are undefined or have no interval."""
    if comparison is None:
        return
    rows = [x for x in comparison.differences if x.by is not None]
    undefined = [x.part for x in rows if np.isnan(x.estimate)]
    unknown = [x.part for x in rows if np.isnan(x.low) and x.part not in undefined]
    for parts, so in (
        (undefined, "documents, so that its mean and the difference are undefined"),
        (unknown, "label, so that the difference has no interval and no p-value"),
    ):
        if parts:
            yield (
                f"One of the periods {comparison.first} and {comparison.second} has no "
                f"{so}: {', '.join(parts)}."
            )


def _codes(found: Codes | None) -> np.ndarray | None:
    return None if found is None else found.code


def _rows(table: dict[str, np.ndarray], corpus: Corpus) -> list[Row]:
    """Return the rows of a table with names for codes."""
    columns = {name: column.tolist() for name, column in table.items()}
    for name, codes in (("by", corpus.by), ("period", corpus.period)):
        if codes is not None:
            columns[name] = [codes.names[code] for code in columns[name]]
    rows = zip(*columns.values(), strict=True)
    return [Row(**dict(zip(columns, cells, strict=True))) for cells in rows]


def _trends(corpus: Corpus, options: Namespace) -> list[Trend]:
    """Return the trend of the corpus and the trend of each value of --by."""
    assert corpus.period is not None
    period = corpus.period.code
    # A slope needs two points in time.
    if (period == period[0]).all():
        raise CommandError(
            f"{corpus.path}: --trend needs documents in two periods or more. All are "
            f"in {corpus.period.names[0]!r}; choose a shorter --freq."
        )
    everything = np.ones(period.size, dtype=bool)
    parts: list[tuple[str | None, np.ndarray]] = [(None, everything)]
    if corpus.by is not None:
        codes = enumerate(corpus.by.names)
        parts += [(name, corpus.by.code == k) for k, name in codes]
    found = []
    for name, inside in parts:
        if options.mean:
            weight, is_scaled = _weights_of_means(period, inside), False
        else:
            # The time of a part is that of the corpus if its empty periods count as 0.
            own = inside if options.empty_periods == "unobserved" else everything
            weight, is_scaled = _weights_of_counts(corpus, own, options)
        weight = weight * inside
        # A part in one period has no slope.
        if weight.any():
            what = "trend" if name is None else f"trend of {name}"
            result = _count(corpus, options, what, weight=weight)
            found.append((name, result, is_scaled))
    # Of documents in later periods alone, the trend is 0 if and only if their count is.
    pvalues = [float(x.low <= 0) if x.pvalue is None else x.pvalue for _, x, _ in found]
    adjusted = [pvalues[0], *holm(np.array(pvalues[1:])).tolist()]
    return [
        Trend(
            **_change(name, x, (p, q), options, ("rises", "falls")),
            labels_only=x.labels_only,
            is_scaled=is_scaled,
        )
        for (name, x, is_scaled), p, q in zip(found, pvalues, adjusted, strict=True)
    ]


def _change(
    by: str | None,
    found: Any,
    pvalues: tuple[Any, Any],
    options: Namespace,
    verdicts: tuple[str, str],
) -> dict[str, Any]:
    """Return the numbers of a trend or difference, and its verdict.

    pvalues : p-value, and the adjusted one, which decides.
    verdicts : verdicts on a positive and on a negative change.
    """
    numbers = {name: getattr(found, name) for name in _NUMBERS}
    verdict = "not shown"
    if pvalues[1] <= 1 - options.confidence_level:
        verdict = verdicts[0] if found.estimate > 0 else verdicts[1]
    p = dict(zip(("pvalue", "pvalue_adjusted"), pvalues, strict=True))
    return {"by": by, **numbers, **p, "verdict": verdict}


def _months(
    corpus: Corpus, own: np.ndarray, options: Namespace
) -> tuple[int, np.ndarray]:
    """Return the first period of some documents, and the months of their periods."""
    assert corpus.period is not None
    assert corpus.day is not None
    period = corpus.period.code[own]
    first, last = int(period.min()), int(period.max())
    if options.lengths is not None or own.all():
        assert corpus.months is not None
        return first, corpus.months[first : last + 1]
    return first, months_of(corpus.day[own], last - first + 1, options.freq)


def _weights_of_counts(
    corpus: Corpus, own: np.ndarray, options: Namespace
) -> tuple[np.ndarray, bool]:
    """Return the weights with which documents add up to the slope of their counts.

    Also return whether counts of partial periods are scaled to full ones. The periods
    are those of `own` documents; there is no slope if it is a single one.
    """
    assert corpus.period is not None
    period = corpus.period.code
    number = period.astype(np.float64)
    if np.ptp(period[own]) == 0:
        return np.zeros(number.size), False
    times = times_of_trend(number[own], None, options.empty_periods or "zero")
    first, months = _months(corpus, own, options)
    full = full_over_observed(months)
    at = np.clip(period - first, 0, len(months) - 1)
    return slope_weights(number, times) * full[at], bool((full > 1).any())


def _comparison(corpus: Corpus, options: Namespace) -> Comparison:
    """Return the difference of two periods, for the corpus and each value of --by."""
    assert corpus.period is not None
    assert corpus.months is not None
    names = [corpus.period.names[k] for k in np.unique(corpus.period.code)]
    first, second = options.compare
    if first == second or not {first, second} <= set(names):
        raise CommandError(
            f"{corpus.path}: --compare must have two different periods with documents, "
            f"of {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}. Got "
            f"{first!r} and {second!r}."
        )
    at = [corpus.period.names.index(each) for each in (first, second)]
    # Counts of periods of different lengths are compared per month.
    months = corpus.months[at].tolist()
    if options.mean or months[0] == months[1]:
        months = None
    found = _count(
        corpus,
        options,
        "difference",
        periods=corpus.period.code,
        compare=tuple(at),
        lengths=months,
        by=_codes(corpus.by),
        estimand="mean" if options.mean else "count",
    )
    words = "more", "fewer"
    rows = [Change(**_change(None, found, (found.pvalue,) * 2, options, words))]
    table = found.table or {"by": np.zeros(0, dtype=int)}
    for k, code in enumerate(table["by"].tolist()):
        assert corpus.by is not None
        # A row of the table has the attributes of the result of the whole corpus.
        row = Namespace(**{x: float(each[k]) for x, each in table.items()})
        p = row.pvalue, row.pvalue_adjusted
        rows.append(Change(**_change(corpus.by.names[code], row, p, options, words)))
    return Comparison(first, second, months, rows)


def _weights_of_means(number: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Return the weights with which documents add up to the slope of the means.

    The weights are 0 if the part of the corpus is in one period.
    """
    n_documents = np.bincount(number, inside)
    times = np.flatnonzero(n_documents).astype(np.float64)
    if times.size < 2:
        return np.zeros(number.size)
    # Each document of a period has 1 / n of its mean. The maximum avoids 0 / 0 in
    # periods without documents of the part.
    return slope_weights(number, times) / np.maximum(n_documents, 1)[number]


def _count(
    corpus: Corpus, options: Namespace, what: str, **more: Any
) -> CorrectedCount:
    """Return the corrected count of the corpus, with errors in its words.

    `what` is the name of the estimate, for its warnings.
    """
    strata = corpus.strata
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = corrected_count(
                corpus.label,
                corpus.expected,
                inclusion_probability=corpus.inclusion,
                # by their names, which messages show
                strata=None if strata is None else np.array(strata.names)[strata.code],
                groups=_codes(corpus.groups),
                size=corpus.size,
                confidence_level=options.confidence_level,
                **more,
            )
    except ValueError as error:
        found = command_error(error, str(corpus.path), shown=_shown(corpus))
        # The function knows rows of arrays, and the user lines of a file.
        raise CommandError(_in_lines(str(found), corpus)) from None
    corpus.warned += [(what, each.message.args[0]) for each in caught]  # type: ignore[union-attr]
    return result


def _shown(corpus: Corpus) -> dict[str, str]:
    """Return what messages show for the column of the model."""
    name = corpus.model.column
    return {"expected": f"column {name!r}", "_expected": repr(name)}


def _in_lines(message: str, corpus: Corpus) -> str:
    """Return a message with lines of the file in place of rows."""
    return re.sub(r"\b[Rr]ow (\d+)", lambda found: corpus.place(int(found[1])), message)
