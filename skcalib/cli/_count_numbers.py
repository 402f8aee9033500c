"""The numbers of ``skcalib count``."""

from __future__ import annotations

import re
import warnings
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .._periods import (
    full_over_observed,
    partial_in_words,
    slope_weights,
    times_of_trend,
)
from ..counts import CorrectedCount, corrected_count
from ..counts._corrected_count import LabelsOnly
from ._blocks import Estimate, estimate_of
from ._corpus import Codes, Corpus, Design, Model
from ._shared import SHOWN, CommandError, command_error, in_options

# These warnings name rows of a table by codes. Notes say the same with their names.
_ABOUT_ROWS = "rows of the table have"


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


@dataclass
class Change:
    """A change over time, in the corpus or for a value of --by."""

    by: str | None
    estimate: float
    low: float
    high: float
    uncorrected: float

    @property
    def part(self) -> str:
        """Return the name of the part of the corpus."""
        return "all" if self.by is None else self.by


@dataclass
class Trend(Change):
    """The change per period.

    `scaled` is the change if the counts of partial periods are scaled to full ones, or
    None if no period is partial.
    """

    labels_only: LabelsOnly
    scaled: Estimate | None

    @property
    def verdict(self) -> str:
        """Return which direction the interval shows, if any."""
        # A corpus that begins within a year would seem to rise.
        found = self.scaled or self
        if found.low > 0:
            return "rises"
        return "falls" if found.high < 0 else "not shown"


@dataclass
class Difference(Change):
    """The first period minus the second. The p-value of the corpus is not adjusted."""

    pvalue: float
    pvalue_adjusted: float
    verdict: str


class Comparison(NamedTuple):
    """The difference of two periods; counts per month if `months` is given."""

    first: str
    second: str
    months: list[float] | None
    differences: list[Difference]


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
            result = _count(corpus, options, **rows)
            uncorrected = result.uncorrected
            table = None if result.table is None else _rows(result.table, corpus)
            trend = list(_trends(corpus, options)) if options.trend else None
            comparison = _comparison(corpus, options) if options.compare else None
    # The trend of each group repeats the warnings of the count.
    known = {**SHOWN, **_shown(corpus)}
    # Messages speak of rows and parameters of functions; users have lines and options.
    said = dict.fromkeys(
        _in_lines(in_options(each.message.args[0], known), corpus)  # type: ignore[union-attr]
        for each in caught
    )
    notes = [
        *_about_empty(table or []),
        *_about_undefined(comparison),
        *_about_partial(partial, estimand),
    ]
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
        warnings=[text for text in said if _ABOUT_ROWS not in text],
        notes=corpus.notes + notes,
    )


def _about_partial(partial: str, estimand: str) -> Iterator[str]:
    """Yield a note if the documents begin or end within a period."""
    # The mean of the documents does not depend on the length of a period.
    if partial and estimand == "count":
        yield (
            f"The documents begin or end within a period ({partial}), so that its "
            "count is not that of a full period. The verdict of --trend is that of "
            "counts scaled to full periods, and --compare compares counts per month. "
            "Means do not depend on the length (--mean)."
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


def _trends(corpus: Corpus, options: Namespace) -> Iterator[Trend]:
    """Yield the trend of the corpus and the trend of each value of --by."""
    assert corpus.period is not None
    assert corpus.months is not None
    period = corpus.period.code
    # A slope needs two points in time.
    if (period == period[0]).all():
        raise CommandError(
            f"{corpus.path}: --trend needs documents in two periods or more. All are "
            f"in {corpus.period.names[0]!r}; choose a shorter --freq."
        )
    # A period of which the corpus has 3 of 12 months counts four times.
    full = full_over_observed(corpus.months)[period]
    number = period.astype(np.float64)
    # Periods without documents do not have a mean.
    empty = "unobserved" if options.mean else options.empty_periods or "zero"
    times = times_of_trend(number, None, empty)
    parts: list[tuple[str | None, np.ndarray]] = [(None, np.ones(number.size))]
    if corpus.by is not None:
        codes = enumerate(corpus.by.names)
        parts += [(name, (corpus.by.code == k).astype(float)) for k, name in codes]
    for name, inside in parts:
        if options.mean:
            weight = _weights_of_means(period, inside)
        else:
            # A slope is linear in the counts: it is a weighted sum over documents,
            # whose interval `corrected_count` computes.
            weight = slope_weights(number, times) * inside
        # The mean of a part in one period has no slope.
        if weight.any():
            found = _count(corpus, options, weight=weight)
            scaled = None
            if not options.mean and (full > 1).any():
                # A mean does not depend on the length of a period, so that this is for
                # counts only.
                scaled = estimate_of(_count(corpus, options, weight=weight * full))
            numbers = *estimate_of(found), found.uncorrected, found.labels_only
            yield Trend(name, *numbers, scaled)


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
        periods=corpus.period.code,
        compare=tuple(at),
        lengths=months,
        by=_codes(corpus.by),
        estimand="mean" if options.mean else "count",
    )
    level = options.confidence_level
    assert found.pvalue is not None
    rows = [_difference(level, None, found, found.pvalue)]
    # Without --by the result has no table.
    table = found.table or {"by": np.zeros(0, dtype=int)}
    for k, code in enumerate(table["by"].tolist()):
        assert corpus.by is not None
        # A row of the table has the attributes of the result of the whole corpus.
        row = Namespace(**{x: float(each[k]) for x, each in table.items()})
        name = corpus.by.names[code]
        rows.append(_difference(level, name, row, row.pvalue_adjusted))
    return Comparison(first, second, months, rows)


def _difference(
    level: float, by: str | None, found: Any, adjusted: float
) -> Difference:
    """Return a difference and its verdict by the adjusted p-value."""
    verdict = "not shown"
    if adjusted <= 1 - level:
        # The adjusted p-value decides, while the interval is not adjusted.
        verdict = "more" if found.estimate > 0 else "fewer"
    numbers = *estimate_of(found), found.uncorrected, found.pvalue
    return Difference(by, *numbers, adjusted, verdict)


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
    return slope_weights(number, times) * inside / np.maximum(n_documents, 1)[number]


def _count(corpus: Corpus, options: Namespace, **more: Any) -> CorrectedCount:
    """Return the corrected count of the corpus, with errors in its words."""
    strata = corpus.strata
    try:
        return corrected_count(
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


def _shown(corpus: Corpus) -> dict[str, str]:
    """Return what messages show for the column of the model."""
    name = corpus.model.column
    return {"expected": f"column {name!r}", "_expected": repr(name)}


def _in_lines(message: str, corpus: Corpus) -> str:
    """Return a message with lines of the file in place of rows."""
    return re.sub(r"\b[Rr]ow (\d+)", lambda found: corpus.place(int(found[1])), message)
