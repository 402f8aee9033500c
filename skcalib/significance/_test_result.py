"""Base class of the results of paired tests."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

from .._results import Result

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
        The p-value.
    """

    # Attributes that the repr shows after the statistic and the p-value.
    _shown: ClassVar[tuple[str, ...]] = ()

    statistic: float
    pvalue: float

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and settings as a dict."""
        return asdict(self)

    def __repr__(self) -> str:
        texts = [f"{self.statistic:.6g}{self._interval_text()}"]
        for name in ("pvalue", *self._shown):
            value = getattr(self, name)
            if value is not None and (name != "monte_carlo_error" or value > 0):
                shown = f"{value:.3g}" if isinstance(value, float) else repr(value)
                texts.append(f"{name}={shown}")
        return f"{type(self).__name__}({', '.join(texts)})"

    def _interval_text(self) -> str:
        return ""
