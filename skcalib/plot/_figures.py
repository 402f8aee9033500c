"""Figures that need neither a screen nor pyplot's state, for the command line."""

from __future__ import annotations

from typing import Any


def blank_axes(n: int = 1) -> list[Any]:
    """Return the axes of a new figure with room for `n` reliability plots in a row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2 * n, 6.2), layout="constrained")
    return list(figure.subplots(1, n, squeeze=False)[0])
