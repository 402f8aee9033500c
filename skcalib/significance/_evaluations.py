"""Evaluations as statistics of the paired tests: the scores of their questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._errors import ParameterError, ParameterTypeError
from ..evaluation import Evaluation, align_evaluations


def pair_as_statistics(
    stats_a: Any, stats_b: Any, groups: Any, names: tuple[str, str]
) -> tuple[Any, Any, Any]:
    """Return two evaluations as scores of the same questions, other input unchanged."""
    given = [isinstance(each, Evaluation) for each in (stats_a, stats_b)]
    if not any(given):
        return stats_a, stats_b, groups
    if not all(given):
        other = stats_b if given[0] else stats_a
        raise ParameterTypeError(
            names[1] if given[0] else names[0],
            "must be an Evaluation if the other system is one. Got "
            f"{type(other).__name__}.",
        )
    systems = dict(zip(names, (stats_a, stats_b), strict=True))
    found, groups = systems_as_statistics(systems, groups)
    return found[names[0]], found[names[1]], groups


def systems_as_statistics(systems: Any, groups: Any) -> tuple[Any, Any]:
    """Return evaluations by name as scores of the same questions.

    `groups` may then be the name of a column. Other input is returned unchanged.
    """
    if not isinstance(systems, Mapping):
        return systems, groups
    given = [isinstance(each, Evaluation) for each in systems.values()]
    if not any(given):
        return systems, groups
    aligned = align_evaluations({str(name): each for name, each in systems.items()})
    if isinstance(groups, str):
        if groups not in aligned.groups:
            known = ", ".join(map(repr, aligned.groups)) or "none"
            raise ParameterError(
                "groups",
                f"must name a column of the evaluations ({known}). Got {groups!r}.",
            )
        groups = aligned.groups[groups]
    columns = np.ascontiguousarray(aligned.score.T)
    return dict(zip(systems, columns, strict=True)), groups
