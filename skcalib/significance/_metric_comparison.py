"""Gains of all pairs of systems in metrics of sums: F1, BLEU, chrF, TER and others."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from .._errors import public
from .._parallel import RandomStateLike
from .._validation import as_groups, check_fraction, check_positive
from ._paired_items import Metric, check_systems
from ._score_comparison import ScoreComparison
from ._score_tests import Moments, limits_of_gains
from ._system_comparison import compare_systems
from ._translation import ter

_METHODS = {
    "exact": "paired bootstrap, exact",
    "saddlepoint": "paired bootstrap, saddlepoint",
    "monte_carlo": "paired bootstrap, {n:,} resamples drawn",
    "tilted": "paired bootstrap, {n:,} resamples drawn near the observed gain",
    "permutation": "permutation test",
    "sign_flips": "sign flips",
}


@public
def compare_metrics(
    systems: Mapping[str, ArrayLike],
    *,
    statistic: str | Callable,
    groups: ArrayLike | None = None,
    adjust: str | None = "holm",
    confidence_level: float = 0.95,
    largest: float = 1.0,
    random_state: RandomStateLike = 0,
) -> ScoreComparison:
    """Compare systems by a metric of summed statistics, such as F1 or BLEU.

    Parameters
    ----------
    systems : mapping of str to array-like of shape (n_items, m)
        Sufficient statistics of each system by name, with one row per sentence in the
        same order. The baseline comes first.
    statistic : {'ratio', 'f1'} or callable
        Metric of the summed columns, as in :func:`paired_bootstrap_test`; for example
        :func:`bleu`.
    groups : array-like of shape (n_items,), default=None
        Group of each item, such as its document.
    adjust : {'holm', 'bh'} or None, default='holm'
        Correction of the p-values for the number of pairs.
    confidence_level : float, default=0.95
        Confidence level of the intervals.
    largest : float, default=1.0
        Largest value of the metric: 100 for BLEU, chrF and TER.
    random_state : int, RandomState, Generator or None, default=0
        Random state used to draw resamples.

    Returns
    -------
    comparison : ScoreComparison
        Gains, p-values and intervals. `wins` and `losses` are the numbers of items
        whose statistics raise and lower the gain.

    Raises
    ------
    ValueError
        If a parameter or a row is not as described.

    See Also
    --------
    compare_scores : Comparison of mean scores, with exact tests.
    compare_systems : Comparison that computes p-values only.

    Notes
    -----
    The p-values are computed by :func:`compare_systems`. The interval of a metric or
    gain is an interval of the mean of its jackknife pseudovalues. A pseudovalue is n
    times the metric minus n - 1 times the metric without one item (or group).

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.significance import compare_metrics
    >>> rng = np.random.default_rng(0)
    >>> gold = rng.integers(0, 3, 200)
    >>> a, b = (rng.binomial(gold, p) for p in (0.6, 0.8))
    >>> counts = {"A": np.c_[a, gold, gold], "B": np.c_[b, gold, gold]}
    >>> result = compare_metrics(counts, statistic="f1")
    >>> result.score.round(2).tolist(), bool(result.pvalue[0] < 0.001)
    ([0.58, 0.77], True)
    """
    level = check_fraction(confidence_level, name="confidence_level")
    bound = check_positive(largest, name="largest")
    found = compare_systems(
        systems,
        statistic=statistic,
        groups=groups,
        adjust=adjust,
        random_state=random_state,
    )
    checked = check_systems(systems, statistic, groups)
    units = np.stack(
        [
            _pseudovalues(checked.columns[:, k], checked.metric)
            for k in range(len(found.names))
        ]
    )
    n_units = units.shape[1]
    quantile = float(stdtrit(n_units - 1, (1 + level) / 2))
    half = quantile * units.std(axis=1, ddof=1) / np.sqrt(n_units)
    first, second = np.triu_indices(len(found.names), 1)
    difference = units[second] - units[first]
    slack = 1e-9 * np.abs(difference).max(axis=1, initial=0)[:, np.newaxis]
    # The metric of the sums differs slightly from the mean of the pseudovalues.
    gain = found.gain
    difference += (gain - difference.mean(axis=1))[:, np.newaxis]
    total = difference.sum(axis=1)
    changed = np.stack(
        [
            (checked.columns[:, i] != checked.columns[:, j]).any(axis=1)
            for i, j in zip(first, second, strict=True)
        ]
    )
    moments = Moments(
        n=n_units,
        sizes=float(n_units),
        total=total,
        squares=(difference**2).sum(axis=1),
        across=total,
        wins=((difference > slack) & changed).sum(axis=1),
        losses=((difference < -slack) & changed).sum(axis=1),
        is_binary=False,
        bound=bound,
    )
    low, high = limits_of_gains(moments, gain, found.pvalue, level)
    return ScoreComparison(
        names=list(found.names),
        score=found.metric,
        low=np.maximum(found.metric - half, 0),
        high=np.minimum(found.metric + half, np.maximum(bound, found.metric)),
        pairs=found.pairs,
        gain=gain,
        gain_low=low,
        gain_high=high,
        pvalue=found.pvalue,
        pvalue_adjusted=found.pvalue_adjusted,
        method=[
            _METHODS.get(name, name).format(n=found.n_resamples)
            for name in found.method
        ],
        wins=moments.wins,
        losses=moments.losses,
        n_questions=found.n_items,
        n_groups=None
        if groups is None
        else int(np.unique(_codes(groups, found.n_items)).size),
        adjust=adjust,
        confidence_level=level,
        smallest_pvalue=found._smallest_pvalue,
        _moments=moments,
        _lower_is_better=statistic is ter,
    )


def _codes(groups: ArrayLike, n: int) -> np.ndarray:
    codes = as_groups(groups, n)
    assert codes is not None
    return codes


def _pseudovalues(columns: np.ndarray, metric: Metric) -> np.ndarray:
    """Return n metric - (n - 1) metric without the row, for each row."""
    sums = columns.sum(axis=0)
    n = len(columns)
    without, _ = metric.of_sums(sums - columns)
    return n * metric.value(sums) - (n - 1) * without
