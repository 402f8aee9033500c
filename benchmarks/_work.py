"""What a piece of work of benchmarks/peers.py is."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Way:
    """One way to do a piece of work.

    `make` takes the data and returns what is timed, a function without arguments; what
    it needs is imported in it, so that a missing package is an ImportError.
    """

    package: str
    make: Callable[[Any], Callable[[], Any]]
    differs: str = ""


def numeric(ours, theirs):
    """Return the largest difference of numbers."""
    return float(np.abs(np.asarray(ours) - np.asarray(theirs)).max())


@dataclass(frozen=True)
class Work:
    """A piece of work: what is drawn for each size n, and ways to do it.

    A peer whose result is None has nothing that could be compared.
    """

    part: str
    name: str
    unit: str
    sizes: tuple[int, ...]
    draw: Callable[[int], Any]
    ours: Way
    peers: dict[str, Way]
    distance: Callable[[Any, Any], float] = field(default=numeric)


def silent(function):
    """Return a function that does the same and returns None."""

    def run():
        function()

    return run
