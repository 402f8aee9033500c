"""What a comparison of all pairs of systems gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import false_discovery_control

from .._results import TableRepr, as_frame
from .._validation import check_choice, check_fraction

ADJUSTMENTS = ("holm", "bh")

# What a pair has two values of, mirrored where the two change places.
COLUMNS = ("gain", "pvalue", "pvalue_adjusted")


def holm(pvalues: np.ndarray) -> np.ndarray:
    """Return p-values adjusted for the chance of any false finding among all."""
    order = np.argsort(pvalues, kind="stable")
    stepped = pvalues[order] * np.arange(pvalues.size, 0, -1)
    adjusted = np.empty_like(pvalues)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return adjusted


def adjusted_pvalues(pvalues: np.ndarray, adjust: str | None) -> np.ndarray:
    """Return p-values by Holm's or by Benjamini and Hochberg's rule, or as they are."""
    if adjust is None:
        return pvalues.copy()
    return holm(pvalues) if adjust == "holm" else false_discovery_control(pvalues)


@dataclass(frozen=True, repr=False, eq=False)
class SystemComparison(TableRepr):
    """Gains and p-values of all pairs of systems.

    Made by :func:`compare_systems` and :func:`significance_table`. Arrays have an entry
    for each pair, in the order of `pairs`.

    Attributes
    ----------
    names : list of str
        Names of the systems.
    metric : ndarray of shape (n_systems,)
        Metric of each system.
    pairs : list of tuple of str
        Names (A, B) of each pair; A stands before B in `names`.
    gain : ndarray of shape (n_pairs,)
        Metric of A less that of B.
    pvalue : ndarray of shape (n_pairs,)
    pvalue_adjusted : ndarray of shape (n_pairs,)
        By `adjust`, over all pairs.
    method : list of str
        How the p-value of each pair was found.
    monte_carlo_error : ndarray of shape (n_pairs,)
        Standard error of the p-value by drawing; 0 where nothing was drawn.
    statistic : str
        Name of the statistic.
    alternative : str
    adjust : str or None
    n_items : int
        Number of rows.
    n_groups : int or None
        Number of groups; None if rows are resampled.
    n_resamples : int or None
        Number of resamples; None where nothing was drawn.

    See Also
    --------
    compare_systems : Compute it from statistics.
    significance_table : Compute it from estimators.
    skcalib.plot.SignificanceDisplay : Draw it.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.significance import compare_systems
    >>> rng = np.random.default_rng(0)
    >>> right = {"a": rng.random(500) < 0.8, "b": rng.random(500) < 0.7}
    >>> result = compare_systems(right, statistic="mean")
    >>> result.pairs
    [('a', 'b')]
    >>> bool(result.pvalue[0] < 0.05)
    True
    """

    names: list[str]
    metric: np.ndarray
    pairs: list[tuple[str, str]]
    gain: np.ndarray
    pvalue: np.ndarray
    pvalue_adjusted: np.ndarray
    method: list[str]
    monte_carlo_error: np.ndarray
    statistic: str
    alternative: str
    adjust: str | None
    n_items: int
    n_groups: int | None
    n_resamples: int | None

    def matrix(self, column: str = "pvalue_adjusted") -> np.ndarray:
        """Return one column as a matrix, systems against systems.

        Parameters
        ----------
        column : {'pvalue_adjusted', 'pvalue', 'gain'}, default='pvalue_adjusted'
            What is shown: of row i and column j, of system i against system j.

        Returns
        -------
        matrix : ndarray of shape (n_systems, n_systems)
            In the order of `names`. On the diagonal gains are 0 and p-values 1. Below
            it gains change their sign; p-values of one-sided tests are of the
            hypothesis above the diagonal only, and 1 below it.

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.significance import compare_systems
        >>> right = {"a": np.r_[[1] * 9, 0], "b": np.r_[[1] * 7, [0] * 3]}
        >>> compare_systems(right, statistic="mean").matrix("gain").round(1)
        array([[ 0. ,  0.2],
               [-0.2,  0. ]])
        """
        check_choice(column, COLUMNS, name="column", caller="SystemComparison.matrix")
        values = getattr(self, column)
        n = len(self.names)
        found = np.zeros((n, n)) if column == "gain" else np.ones((n, n))
        upper = np.triu_indices(n, 1)
        found[upper] = values
        if column == "gain":
            found.T[upper] = -values
        elif self.alternative == "two-sided":
            found.T[upper] = values
        return found

    def significant(self, alpha: float = 0.05) -> list[tuple[str, str]]:
        """Return the pairs whose adjusted p-value is at most alpha.

        Parameters
        ----------
        alpha : float, default=0.05
            Strictly between 0 and 1.

        Returns
        -------
        pairs : list of tuple of str
            Names (A, B).

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.significance import compare_systems
        >>> right = {"a": np.r_[[1] * 99, 0], "b": np.r_[[1] * 70, [0] * 30]}
        >>> compare_systems(right, statistic="mean").significant()
        [('a', 'b')]
        """
        caller = "SystemComparison.significant"
        alpha = check_fraction(alpha, name="alpha", caller=caller)
        return [
            pair
            for pair, p in zip(self.pairs, self.pvalue_adjusted, strict=True)
            if p <= alpha
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and settings as a dict of lists and numbers."""
        columns = {
            name: value.tolist() if isinstance(value, np.ndarray) else list(value)
            for name, value in self._columns().items()
        }
        settings = (
            "statistic",
            "alternative",
            "adjust",
            "n_items",
            "n_groups",
            "n_resamples",
        )
        return {
            "metric": dict(zip(self.names, self.metric.tolist(), strict=True)),
            **columns,
            **{name: getattr(self, name) for name in settings},
        }

    def frame(self) -> Any:
        """Return a pandas DataFrame with a row for each pair.

        Returns
        -------
        frame : DataFrame
            Columns `system_a`, `system_b`, `metric_a`, `metric_b`, `gain`, `pvalue`,
            `pvalue_adjusted`, `method` and `monte_carlo_error`.
        """
        return as_frame(self._columns(), caller="SystemComparison.frame")

    def _columns(self) -> dict[str, Sequence[Any] | np.ndarray]:
        first, second = np.triu_indices(len(self.names), 1)
        return {
            "system_a": [a for a, _ in self.pairs],
            "system_b": [b for _, b in self.pairs],
            "metric_a": self.metric[first],
            "metric_b": self.metric[second],
            "gain": self.gain,
            "pvalue": self.pvalue,
            "pvalue_adjusted": self.pvalue_adjusted,
            "method": self.method,
            "monte_carlo_error": self.monte_carlo_error,
        }

    def __repr__(self) -> str:
        groups = "" if self.n_groups is None else f", n_groups={self.n_groups}"
        drawn = "" if self.n_resamples is None else f", n_resamples={self.n_resamples}"
        n = int(np.count_nonzero(self.pvalue_adjusted <= 0.05))
        return (
            f"SystemComparison({len(self.names)} systems, {len(self.pairs)} pairs, "
            f"{n} with pvalue_adjusted <= 0.05; statistic={self.statistic!r}, "
            f"alternative={self.alternative!r}, adjust={self.adjust!r}, "
            f"n_items={self.n_items}{groups}{drawn})"
        )
