"""Base class of the results of paired tests."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._results import Result, p_text
from ._tail_probabilities import as_pvalues

ALTERNATIVES = ("two-sided", "greater", "less")


class ConfidenceInterval(NamedTuple):
    """Ends of an interval."""

    low: float
    high: float


@dataclass(frozen=True, repr=False)
class PairedTestResult(Result):
    """Base class of the results of paired tests of two systems.

    Attributes
    ----------
    statistic : float
        Difference between the systems.
    pvalue : float
        The p-value. If it underflows, it is the smallest normal float.
    """

    # Attributes that the repr shows after the statistic and the p-value.
    _shown: ClassVar[tuple[str, ...]] = ()

    statistic: float
    pvalue: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "pvalue", float(as_pvalues(np.array(self.pvalue))))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and settings as a dict."""
        return asdict(self)

    def __repr__(self) -> str:
        texts = [f"{self.statistic:.6g}{self._interval_text()}"]
        for name in ("pvalue", *self._shown):
            value = getattr(self, name)
            if value is not None and (name != "monte_carlo_error" or value > 0):
                texts.append(_named(name, value))
        return f"{type(self).__name__}({', '.join(texts)})"

    def _interval_text(self) -> str:
        return ""


def _named(name: str, value: Any) -> str:
    """Return an attribute as text."""
    if name.endswith("pvalue"):
        return p_text(value, before=f"{name}=")
    return f"{name}={value:.3g}" if isinstance(value, float) else f"{name}={value!r}"
