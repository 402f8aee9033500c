"""Choices of the user among several scores, filters or systems of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .._errors import ParameterError


@dataclass(frozen=True)
class Options:
    """Parameters of :func:`read_evaluation`; None if a parameter is not given.

    The parameters after `model` are for plain tables: columns of the score, the
    probability and the question, further columns to keep, the label that counts as
    right, whether probabilities are percentages, the treatment of empty cells, and
    whether progress is printed.
    """

    score: str | None = None
    filter: str | None = None
    split: str | None = None
    model: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    pos_label: str | None = None
    percent: bool = False
    missing: str = "keep"
    verbose: int = 0

    def reject(self, format: str, *names: str) -> None:
        """Raise an error if a given parameter does not apply to the format."""
        for name in names:
            if getattr(self, name) is not None:
                raise ParameterError(
                    name,
                    f"does not apply to files of {format}. Got "
                    f"{getattr(self, name)!r}.",
                )
