"""What the user chooses where a file holds several scores, filters or systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .._errors import ParameterError


@dataclass(frozen=True)
class Options:
    """The choices of :func:`read_evaluation`; None where there is none.

    Those after `model` are for plain tables: columns of the score, the probability and
    the question, further columns to keep, the label that counts as right, whether
    probabilities run from 0 to 100, what becomes of empty cells, and whether progress
    is printed.
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
        """Raise if one of the named choices is made, which a format does not have."""
        for name in names:
            if getattr(self, name) is not None:
                raise ParameterError(
                    name,
                    f"does not apply to files of {format}. Got "
                    f"{getattr(self, name)!r}.",
                )
