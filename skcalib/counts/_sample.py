"""A corpus, its labelled documents and the design of the sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Sample:
    """Validated arguments of an estimate.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        Indices of the labelled documents.
    y : ndarray of shape (n,)
        Their labels.
    expected : ndarray of shape (N,)
        Expected count of each document under the model.
    size : ndarray of shape (N,)
        Size of each document, positive.
    probability : ndarray of shape (N,)
        Inclusion probability of each document, in (0, 1].
    strata : ndarray of shape (N,)
        Stratum of each document, as a code from 0.
    groups : ndarray of shape (N,) or None
        Group of each document, as a code from 0, if groups were drawn.
    low, high : ndarray of shape (N,)
        Bounds of each document's count.
    unit : float
        Smallest possible error of a count, other than 0.
    slope : 'shrunk', 'best' or float
        Coefficient of `expected`, or the method that estimates it.
    """

    rows: np.ndarray
    y: np.ndarray
    expected: np.ndarray
    size: np.ndarray
    probability: np.ndarray
    strata: np.ndarray
    groups: np.ndarray | None
    low: np.ndarray
    high: np.ndarray
    unit: float
    slope: str | float

    @property
    def n_documents(self) -> int:
        """Return the number of documents of the corpus."""
        return len(self.expected)

    @property
    def is_tuned(self) -> bool:
        """Return whether the slope is estimated from the labels."""
        return isinstance(self.slope, str)

    def possible(self, weight: np.ndarray) -> tuple[float, float]:
        """Return the bounds of the weighted sum, given labels and document bounds."""
        rest = np.ones(self.n_documents, dtype=bool)
        rest[self.rows] = False
        rest &= weight != 0
        ends = weight[rest] * self.low[rest], weight[rest] * self.high[rest]
        known = float(weight[self.rows] @ self.y)
        return known + np.minimum(*ends).sum(), known + np.maximum(*ends).sum()
