"""P-values for which nothing needs to be drawn, and which method they are by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._items import PairedItems
from ._linear import linear_p_value

# Points of the lattice that 'exact' may take, and 'auto' takes.
_LARGEST_WINDOW, _LARGEST_QUICK_WINDOW = 1 << 24, 1 << 16

# Below, sums that are on no lattice are too far from a continuous law.
_FEWEST_FOR_SADDLEPOINT = 30


class Undrawn(NamedTuple):
    """A p-value, its method, and how large a lattice was allowed."""

    pvalue: float
    method: str
    largest_window: int


def undrawn_p_value(
    items: PairedItems, alternative: str, method: str, *, caller: str
) -> Undrawn | None:
    """Return the exact or saddlepoint p-value, None where it has to be drawn."""
    if method in ("exact", "saddlepoint"):
        _check_linear(items, method, caller=caller)
    if method in ("monte_carlo", "tilted") or items.linear is None:
        return None
    found = None
    if method != "saddlepoint" and items.linear.is_integer:
        found = _exact(items, alternative, method, caller=caller)
    few = items.linear.n < _FEWEST_FOR_SADDLEPOINT
    if found is None and not (method == "auto" and few):
        p = linear_p_value(items.linear, alternative, largest_window=None)
        assert p is not None
        found = Undrawn(p, "saddlepoint", 0)
    if found is not None and found.pvalue == 0 and method == "auto":
        p = swap_floor(items, alternative)
        found = found._replace(pvalue=p, method="permutation")
    return found


def _exact(
    items: PairedItems, alternative: str, method: str, *, caller: str
) -> Undrawn | None:
    largest = _LARGEST_QUICK_WINDOW if method == "auto" else _LARGEST_WINDOW
    assert items.linear is not None
    p = linear_p_value(items.linear, alternative, largest_window=largest)
    if p is not None:
        return Undrawn(p, "exact", largest)
    if method == "exact":
        raise ValueError(
            f"method='exact' of {caller} would need a lattice of more than "
            f"{largest:,} points for these sums. Use method='saddlepoint'."
        )
    return None


def _check_linear(items: PairedItems, method: str, *, caller: str) -> None:
    """Raise if the gain is no ratio of sums, or for 'exact' none of whole numbers."""
    if items.linear is None:
        raise ValueError(
            f"method={method!r} of {caller} needs statistic='mean', or 'ratio' with "
            f"the same denominators for both systems. Got {items.metric.name!r}; use "
            "method='monte_carlo' or 'tilted'."
        )
    if method == "exact" and not items.linear.is_integer:
        raise ValueError(
            f"method='exact' of {caller} needs integer columns. Got numbers with "
            "fractions; use method='saddlepoint'."
        )


def does_not_vary(items: PairedItems) -> bool:
    """Return whether every resample has the observed gain, whatever is drawn."""
    linear = items.linear
    if linear is None:
        same = bool((items.a == items.b).all())
        return same or all(bool((x == x[0]).all()) for x in (items.a, items.b))
    if linear.is_integer:
        d = linear.difference * linear.length_total
        return bool((d == linear.total * linear.length).all())
    scale = 1e-12 * float(np.abs(items.a[:, 0]).max() + np.abs(items.b[:, 0]).max())
    return bool((np.abs(linear.residual) <= scale).all())


def swap_floor(items: PairedItems, alternative: str) -> float:
    """Return the least p-value of a swap test: the observed assignment of 2^n."""
    if alternative == "two-sided":
        return 2.0 ** (1 - items.n)
    right_side = (items.gain > 0) == (alternative == "greater")
    return 2.0**-items.n if right_side else 1.0
