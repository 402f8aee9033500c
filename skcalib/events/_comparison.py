"""The probability that one count of events exceeds another."""

from __future__ import annotations

from typing import Any

from .._results import as_frame


class CountComparison(float):
    """Hold the posterior probability that one count exceeds another: a float.

    Made by :meth:`EventCounts.compare`.

    Attributes
    ----------
    greater : float
        Probability that the count of `first` is the greater one; also the value of the
        object itself.
    equal : float
        Probability that the counts are equal.
    less : float
        Probability that the count of `first` is the smaller one.
    mean_difference : float
        Mean of the count of `first` minus that of `second`.
    first, second : str
        The actors.
    period : label
        The period; None: all periods together.

    See Also
    --------
    EventCounts.compare : Compare two counts.

    Examples
    --------
    >>> from skcalib.datasets import make_event_documents
    >>> from skcalib.events import EventCounter, EventRule
    >>> documents, _, scores = make_event_documents(
    ...     60, return_scores=True, random_state=0
    ... )
    >>> counts = EventCounter(EventRule(), random_state=0).count(documents, scores)
    >>> comparison = counts.compare("NOR", "KEN")
    >>> comparison > 0.9
    True
    >>> round(comparison.equal, 3), round(comparison.less, 3)
    (0.038, 0.026)
    """

    greater: float
    equal: float
    less: float
    mean_difference: float
    first: str
    second: str
    period: Any

    def __new__(
        cls,
        greater: float,
        equal: float,
        less: float,
        mean_difference: float,
        first: str,
        second: str,
        period: Any,
    ) -> CountComparison:
        self = super().__new__(cls, greater)
        self.greater, self.equal, self.less = greater, equal, less
        self.mean_difference = mean_difference
        self.first, self.second, self.period = first, second, period
        return self

    def __getnewargs__(self) -> tuple:
        return tuple(self.to_dict().values())

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as a dict."""
        return {
            "greater": float(self),
            "equal": self.equal,
            "less": self.less,
            "mean_difference": self.mean_difference,
            "first": self.first,
            "second": self.second,
            "period": self.period,
        }

    def frame(self) -> Any:
        """Return a pandas DataFrame of one row."""
        columns = {name: [value] for name, value in self.to_dict().items()}
        return as_frame(columns, caller="CountComparison.frame")

    def __repr__(self) -> str:
        when = "" if self.period is None else f", period={self.period!r}"
        return (
            f"CountComparison({self.first} > {self.second}: {float(self):.3f}, "
            f"equal: {self.equal:.3f}, less: {self.less:.3f}, mean difference "
            f"{self.mean_difference:.2f}{when})"
        )
