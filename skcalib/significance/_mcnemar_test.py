"""McNemar's test of two classifiers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy.stats import binom

from .._results import TableRepr, as_frame
from .._validation import check_bool, check_choice, check_integer, check_same_length
from ._bootstrap_test import ALTERNATIVES


@dataclass(frozen=True)
class McNemarResult(TableRepr):
    """McNemar's test, from the items on which two classifiers differ.

    Made by :func:`mcnemar_test`.

    Attributes
    ----------
    statistic : int
        n_only_a - n_only_b.
    pvalue : float
    n_only_a, n_only_b : int
        Number of items that A alone, and that B alone, has right.
    alternative : str
    mid_p : bool

    See Also
    --------
    mcnemar_test : Compute it.

    Examples
    --------
    >>> from skcalib.significance import mcnemar_test
    >>> mcnemar_test(9, 3)
    McNemarResult(statistic=6, pvalue=0.1459..., n_only_a=9, n_only_b=3, ...)
    """

    statistic: int
    pvalue: float
    n_only_a: int
    n_only_b: int
    alternative: str
    mid_p: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and settings as a dict."""
        return asdict(self)

    def frame(self) -> Any:
        """Return a pandas DataFrame of one row."""
        columns = {name: [value] for name, value in self.to_dict().items()}
        return as_frame(columns, caller="McNemarResult.frame")


def mcnemar_test(
    correct_a: Any,
    correct_b: Any,
    *,
    alternative: str = "two-sided",
    mid_p: bool = False,
) -> McNemarResult:
    """Test whether two classifiers are equally often right, by McNemar's exact test.

    Of the items that one of them has right and the other wrong, A has a half if they
    are equally good: a binomial law [1]_. Items must be independent; for tokens of
    sentences use :func:`paired_bootstrap_test` with the sentences as items.

    Parameters
    ----------
    correct_a, correct_b : array-like of shape (n,), or int
        1 where the classifier is right, else 0, for the same items; or the numbers of
        items that A alone and that B alone has right.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        'greater' asks whether A is better.
    mid_p : bool, default=False
        Count the observed table by half. The exact test errs less often than stated;
        with this it is near the stated rate, and rarely above.

    Returns
    -------
    result : McNemarResult

    Raises
    ------
    ValueError
        If an entry is not 0 or 1, or a count is negative.

    See Also
    --------
    permutation_test : The same test for any metric.
    paired_bootstrap_test : Of the population that the items come from.

    References
    ----------
    .. [1] M. W. Fagerland, S. Lydersen and P. Laake (2013). "The McNemar test for
       binary matched-pairs data: mid-p and asymptotic are better than exact
       conditional". BMC Medical Research Methodology 13, 91.

    Examples
    --------
    >>> from skcalib.significance import mcnemar_test
    >>> mcnemar_test([1, 1, 1, 0], [0, 0, 1, 0]).pvalue
    0.5
    >>> round(mcnemar_test(9, 3, mid_p=True).pvalue, 4)
    0.0923
    """
    caller = "mcnemar_test"
    check_choice(alternative, ALTERNATIVES, name="alternative", caller=caller)
    mid_p = check_bool(mid_p, name="mid_p", caller=caller)
    only_a, only_b = _discordant(correct_a, correct_b, caller=caller)
    return McNemarResult(
        statistic=only_a - only_b,
        pvalue=_p_value(only_a, only_b, alternative, mid_p),
        n_only_a=only_a,
        n_only_b=only_b,
        alternative=alternative,
        mid_p=mid_p,
    )


def _p_value(only_a: int, only_b: int, alternative: str, mid_p: bool) -> float:
    n = only_a + only_b
    if n == 0:
        return 1.0
    if alternative == "two-sided":
        least, sides = min(only_a, only_b), 2
    else:
        least, sides = only_b if alternative == "greater" else only_a, 1
    tail = sides * float(binom.cdf(least, n, 0.5))
    # the middle table is in both tails
    seen = float(binom.pmf(least, n, 0.5)) * (1 if 2 * least == n else sides)
    return min(tail, 1.0) - (seen / 2 if mid_p else 0)


def _discordant(correct_a: Any, correct_b: Any, *, caller: str) -> tuple[int, int]:
    """Return how many items A alone, and B alone, has right."""
    counts = (("correct_a", correct_a), ("correct_b", correct_b))
    if all(isinstance(x, Integral) for _, x in counts):
        only_a, only_b = (
            check_integer(x, minimum=0, name=name, caller=caller) for name, x in counts
        )
        return only_a, only_b
    a, b = (_indicator(x, name=name, caller=caller) for name, x in counts)
    check_same_length(caller, correct_a=a, correct_b=b)
    return int((a & ~b).sum()), int((~a & b).sum())


def _indicator(values: Any, *, name: str, caller: str) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or array.dtype.kind not in "buifO":
        raise ValueError(
            f"The {name!r} parameter of {caller} must have shape (n,) and hold 0 or 1, "
            f"or both must be integers. Got {array.dtype} of shape {array.shape}."
        )
    wrong = ~((array == 0) | (array == 1))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"The {name!r} parameter of {caller} must hold 0 or 1. Got {array[row]} "
            f"in row {row}, one of {int(wrong.sum())} such rows."
        )
    return array.astype(bool)
