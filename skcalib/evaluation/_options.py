"""Choices of the user among several scores, filters or systems of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .._errors import ParameterError
from .._validation import check_bool, check_choice, check_verbose

ROLES = ("score", "proba", "question", "model")


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

    def __post_init__(self) -> None:
        checked = {
            "columns": dict(self.columns or {}),
            "groups": tuple(self.groups),
            "percent": check_bool(self.percent, name="percent"),
            "missing": check_choice(self.missing, ("keep", "error"), name="missing"),
            "verbose": check_verbose(self.verbose),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        for role in self.columns:
            if role not in ROLES:
                raise ParameterError(
                    "columns",
                    f"must be a mapping of roles ({', '.join(ROLES)}) to columns. Got "
                    f"the role {role!r}.",
                )

    def reject(self, format: str, *names: str) -> None:
        """Raise an error if a given parameter does not apply to the format."""
        for name in names:
            if getattr(self, name) is not None:
                raise ParameterError(
                    name,
                    f"does not apply to files of {format}. Got "
                    f"{getattr(self, name)!r}.",
                )
