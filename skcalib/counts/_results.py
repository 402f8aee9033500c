"""The result of a corrected count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._results import Result, as_frame, plain


class LabelsOnly(NamedTuple):
    """Estimate from the labels alone, in a :class:`CorrectedCount`.

    Attributes
    ----------
    estimate : float
        Estimate without the model.
    low, high : float
        Ends of its interval, computed with the same method and confidence level.

    See Also
    --------
    CorrectedCount : Estimate with the model's expected counts.

    Examples
    --------
    >>> from skcalib.counts import LabelsOnly
    >>> LabelsOnly(40.0, 28.0, 55.0).low
    28.0
    """

    estimate: float
    low: float
    high: float


# Shown by the documentation in place of "Alias for field number 0".
LabelsOnly.estimate.__doc__ = "Estimate without the model."
LabelsOnly.low.__doc__ = "Lower end of the interval."
LabelsOnly.high.__doc__ = "Upper end of the interval."


@dataclass(frozen=True, repr=False)
class CorrectedCount(Result):
    """Corrected count, returned by :func:`corrected_count`.

    Attributes
    ----------
    estimate : float
        Corrected count, mean, trend or weighted sum over the corpus.
    low, high : float
        Ends of the interval.
    standard_error : float
        Standard error of the estimate, due to the random choice of the labelled
        documents.
    uncorrected : float
        The same quantity, computed from the model's expected counts without labels.
    labels_only : LabelsOnly
        `estimate`, `low` and `high` from the labels alone.
    equivalent_labels : float
        Number of labelled documents that would give an interval of this width without
        the model. If this number is below `n_labelled`, the model makes the interval
        wider.
    slope : float
        Coefficient of the model's expected counts. If it is 0, they are not used.
    n_documents, n_labelled : int
        Number of documents in the corpus and number of labelled documents.
    n_groups : int or None
        Number of groups with labels. None if `groups` is not given.
    n_errors : float
        Sum of squared residuals divided by the square of `unit`. It is roughly the
        number of labelled documents in which the model makes an error.
    n_effective : float
        Effective number of labelled documents (or groups) that contribute to the
        estimated variance.
    estimand : str
        'count', 'mean' or 'trend'.
    method : str
        Method of the interval of the whole corpus, 'score' or 't'.
    confidence_level : float
        Confidence level of the intervals.
    table : dict of ndarray, or None
        Columns with one row per period, per category, or per combination of both:
        `period` and `by` (if they were given), `estimate`, `low`, `high`,
        `standard_error`, `uncorrected`, `n_documents` and `n_labelled`. In a row
        without labels, `low`, `high` and `standard_error` are NaN.

    See Also
    --------
    corrected_count : Compute the count.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.counts import corrected_count
    >>> proba = np.tile([0.1, 0.2, 0.7, 0.9], 50)
    >>> y_true = np.full(200, np.nan)
    >>> y_true[::5] = np.tile([0, 0, 1, 1, 0, 1, 1, 0], 5)
    >>> result = corrected_count(y_true, proba)
    >>> round(result.estimate, 1), round(result.uncorrected, 1)
    (100.0, 95.0)
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    uncorrected: float
    labels_only: LabelsOnly
    equivalent_labels: float
    slope: float
    n_documents: int
    n_labelled: int
    n_groups: int | None
    n_errors: float
    n_effective: float
    estimand: str
    method: str
    confidence_level: float
    table: dict[str, np.ndarray] | None

    def _columns(self) -> dict[str, Any] | None:
        return self.table

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as a dict, with dicts for `labels_only` and `table`."""
        numbers = {name: plain(getattr(self, name)) for name in self._numbers()}
        table = self.table
        return {
            **numbers,
            "labels_only": self.labels_only._asdict(),
            "table": None if table is None else {k: plain(v) for k, v in table.items()},
        }

    def frame(self) -> Any:
        """Return a pandas DataFrame with the rows of `table`, or with one row."""
        if self.table is not None:
            return super().frame()
        columns = {name: [getattr(self, name)] for name in self._numbers()}
        for name, value in self.labels_only._asdict().items():
            columns[f"labels_only_{name}"] = [value]
        return as_frame(columns, method="CorrectedCount.frame")

    def _numbers(self) -> list[str]:
        names = list(type(self).__dataclass_fields__)
        return [name for name in names if name not in ("labels_only", "table")]

    def _in_words(self) -> Sequence[str]:
        level = f"{100 * self.confidence_level:g}%"
        alone = self.labels_only
        return (
            f"The corrected {self.estimand} is {self.estimate:.4g}, with a {level} "
            f"interval of {self.low:.4g} to {self.high:.4g}.",
            f"The model alone gives {self.uncorrected:.4g}. The {self.n_labelled} "
            f"labels alone give {alone.estimate:.4g} ({alone.low:.4g} to "
            f"{alone.high:.4g}).",
            f"With the model, {self.n_labelled} labels are worth about "
            f"{self.equivalent_labels:.0f}.",
        )

    def __repr__(self) -> str:
        rows = ""
        if self.table is not None:
            rows = f", table of {len(self.table['estimate'])} rows"
        return (
            f"CorrectedCount({self.estimand} {self.estimate:.4g} [{self.low:.4g}, "
            f"{self.high:.4g}], uncorrected={self.uncorrected:.4g}, "
            f"labels_only={self.labels_only.estimate:.4g} "
            f"[{self.labels_only.low:.4g}, {self.labels_only.high:.4g}], "
            f"n_labelled={self.n_labelled} of {self.n_documents}, "
            f"method={self.method!r}, confidence_level={self.confidence_level:g}{rows})"
        )
