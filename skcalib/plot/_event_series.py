"""Numbers that the display of event counts draws, from either kind of counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._errors import ParameterError, ParameterTypeError
from .._validation import check_fraction
from ..events import CorrectedEventCounts, EventCounts

ENDS = ("uncorrected_low", "uncorrected_high")


def level_of(
    counts: EventCounts | CorrectedEventCounts, confidence_level: float | None
) -> float:
    """Return the level of the intervals, which is fixed for corrected counts."""
    own = None if isinstance(counts, EventCounts) else counts.confidence_level
    if confidence_level is None:
        return 0.95 if own is None else own
    level = check_fraction(confidence_level, name="confidence_level")
    if own not in (None, level):
        raise ParameterError(
            "confidence_level",
            f"must be {own:g}, the level of the corrected counts. Got {level:g}. Pass "
            "`confidence_level` to EventCounts.corrected.",
        )
    return level


def series_of(
    counts: EventCounts | CorrectedEventCounts, level: float, method: str
) -> dict[str, np.ndarray]:
    """Return the numbers of all cells, by the names of the display."""
    if isinstance(counts, EventCounts):
        low, high = counts.interval(level, method)
        best = {"map_count": counts.map_count}
        return {"mean": counts.mean, "low": low, "high": high, **best}
    posterior = counts.counts
    shape = len(counts.periods), len(counts.countries)
    columns = {
        "mean": counts.estimate,
        "low": counts.low,
        "high": counts.high,
        "uncorrected": counts.uncorrected,
    }
    for name, ends in zip(ENDS, posterior.interval(level, method), strict=True):
        # actors that occur only in labels are last, and their posterior count is 0
        cells = np.zeros(shape)
        cells[:, : len(posterior.countries)] = ends.reshape(shape[0], -1)
        columns[name] = cells.ravel()
    return columns


def chosen_actors(
    counts: EventCounts | CorrectedEventCounts,
    mean: np.ndarray,
    countries: Sequence[str] | None,
) -> list[str]:
    """Return the actors to draw, in order."""
    if countries is None:
        total = {c: mean[counts.country == c].sum() for c in counts.countries}
        return sorted(total, key=lambda c: -total[c])
    if isinstance(countries, str) or not hasattr(countries, "__iter__"):
        raise ParameterTypeError(
            "countries",
            f"must be a sequence of codes. Got {type(countries).__name__} "
            f"{countries!r:.50}.",
        )
    unknown = [c for c in countries if c not in counts.countries]
    if unknown:
        raise ParameterError(
            "countries",
            f"must be actors that were counted, among {counts.countries!r:.200}. "
            f"Got {unknown[0]!r}.",
        )
    return list(dict.fromkeys(countries))
