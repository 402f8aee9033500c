"""The numbers of a corrected count, as the object that ``--json`` prints."""

from __future__ import annotations

import re
import warnings
from argparse import Namespace
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._periods import slope_weights, times_of_trend
from ..counts import CorrectedCount, corrected_count
from ..counts._corrected_count import LabelsOnly
from ._blocks import estimate_of
from ._corpus import Corpus
from ._shared import SHOWN, CommandError, command_error, in_options

# This warning names rows of a table by codes. The text replaces it by names.
_ABOUT_EMPTY_ROWS = "rows of the table have no labelled document"


class Trend(NamedTuple):
    """The change per period of the corpus, or of a value of --by."""

    by: str | None
    estimate: float
    low: float
    high: float
    uncorrected: float
    labels_only: LabelsOnly


def measure(corpus: Corpus, options: Namespace) -> dict[str, Any]:
    """Return the counts, the table, the trend and all warnings."""
    labelled = ~np.isnan(corpus.label)
    found: dict[str, Any] = {
        "file": str(corpus.path),
        "labels": corpus.label_source,
        "model": {
            "column": corpus.model,
            "kind": "probability" if corpus.is_proba else "expected count",
        },
        "design": {
            "inclusion_probability": corpus.inclusion_source or "equal",
            "strata": [] if corpus.strata is None else corpus.strata_names,
            "n_drawn": corpus.n_drawn,
            "n_drawn_without_label": corpus.n_unlabelled,
        },
        "estimand": "mean" if options.mean else "count",
        "confidence_level": options.confidence_level,
        "date": options.date,
        "freq": options.freq,
        "period_labels": corpus.period_names or None,
        "n_periods_without_documents": (
            0
            if corpus.period is None
            else len(corpus.period_names) - np.unique(corpus.period).size
        ),
        "by": options.by,
    }
    if corpus.n_drawn is not None and not labelled.any():
        raise CommandError(
            f"{corpus.label_source or options.design}: none of the {corpus.n_drawn} "
            "drawn documents has a label. Let annotators fill in the labels, and name "
            "their file with --labels."
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found |= (_counted if labelled.any() else _uncorrected)(corpus, options)
    # The trend of each group repeats the warnings of the count.
    known = {**SHOWN, **_shown(corpus)}
    said = dict.fromkeys(
        _in_lines(in_options(each.message.args[0], known), corpus)  # type: ignore[union-attr]
        for each in caught
    )
    found["warnings"] = [text for text in said if _ABOUT_EMPTY_ROWS not in text]
    found["notes"] = corpus.notes
    return found


def _counted(corpus: Corpus, options: Namespace) -> dict[str, Any]:
    count = _caller(corpus, options)
    result = count(
        periods=corpus.period,
        by=corpus.by,
        estimand="mean" if options.mean else "count",
    )
    found = result.to_dict()
    del found["estimand"]
    table = found.pop("table")
    found["table"] = None if table is None else _rows(table, corpus)
    found["trend"] = _trends(corpus, options, count) if options.trend else None
    return found


def _uncorrected(corpus: Corpus, options: Namespace) -> dict[str, Any]:
    """Return sums of the model's expectations, which have no interval."""
    n = corpus.line.size
    total = float(corpus.expected.sum())
    found: dict[str, Any] = {"estimate": None, "low": None, "high": None}
    found["uncorrected"] = total / n if options.mean else total
    found |= {"n_documents": n, "n_labelled": 0, "table": None, "trend": None}
    return found


def _rows(table: dict[str, list[Any]], corpus: Corpus) -> list[dict[str, Any]]:
    """Return the rows of a table with names for codes, and None for NaN."""
    names = {"by": corpus.by_names, "period": corpus.period_names}
    rows = []
    for cells in zip(*table.values(), strict=True):
        row = dict(zip(table, cells, strict=True))
        for key, value in row.items():
            if key in names:
                row[key] = names[key][value]
            elif value != value:  # NaN, which JSON does not have
                row[key] = None
        rows.append(row)
    return rows


def _trends(
    corpus: Corpus, options: Namespace, count: Callable[..., CorrectedCount]
) -> list[Trend]:
    """Return the trend of the corpus and the trend of each value of --by."""
    assert corpus.period is not None
    number = corpus.period.astype(np.float64)
    # A slope needs two points in time.
    if (number == number[0]).all():
        raise CommandError(
            f"{corpus.path}: --trend needs documents in two periods or more. All are "
            f"in {corpus.period_names[0]!r}; choose a shorter --freq."
        )
    # Periods without documents do not have a mean.
    empty = "unobserved" if options.mean else options.empty_periods or "zero"
    times = times_of_trend(number, None, empty)
    parts: list[tuple[str | None, np.ndarray]] = [(None, np.ones(number.size))]
    if corpus.by is not None:
        codes = enumerate(corpus.by_names)
        parts += [(name, (corpus.by == code).astype(float)) for code, name in codes]
    trends = []
    for name, inside in parts:
        if options.mean:
            weight = _weights_of_means(corpus.period, inside)
        else:
            weight = slope_weights(number, times) * inside
        # The mean of a part in one period has no slope.
        if weight.any():
            result = count(weight=weight)
            more = result.uncorrected, result.labels_only
            trends.append(Trend(name, *estimate_of(result), *more))
    return trends


def _weights_of_means(number: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Return the weights with which documents add up to the slope of the means.

    The weights are 0 if the part of the corpus is in one period.
    """
    n_documents = np.bincount(number, inside)
    times = np.flatnonzero(n_documents).astype(np.float64)
    if times.size < 2:
        return np.zeros(number.size)
    return slope_weights(number, times) * inside / np.maximum(n_documents, 1)[number]


def _caller(corpus: Corpus, options: Namespace) -> Callable[..., CorrectedCount]:
    """Return corrected_count for the corpus, with errors in its words."""
    strata = corpus.strata
    if strata is not None:  # by their names, which messages show
        strata = np.array(corpus.strata_names)[strata]

    def count(**more: Any) -> CorrectedCount:
        try:
            return corrected_count(
                corpus.label,
                corpus.expected,
                inclusion_probability=corpus.inclusion,
                strata=strata,
                groups=corpus.groups,
                size=corpus.size,
                confidence_level=options.confidence_level,
                **more,
            )
        except ValueError as error:
            found = command_error(error, str(corpus.path), shown=_shown(corpus))
            raise CommandError(_in_lines(str(found), corpus)) from None

    return count


def _shown(corpus: Corpus) -> dict[str, str]:
    """Return what messages show for the column of the model."""
    return {"expected": f"column {corpus.model!r}", "_expected": repr(corpus.model)}


def _in_lines(message: str, corpus: Corpus) -> str:
    """Return a message with lines of the file in place of rows."""
    return re.sub(r"\b[Rr]ow (\d+)", lambda found: corpus.place(int(found[1])), message)
