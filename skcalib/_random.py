"""Conversion of the `random_state` parameter to a Generator."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ._errors import ParameterError
from ._validation import is_integer

__all__ = ["RandomStateLike", "as_generator"]

#: Types of a `random_state` parameter.
RandomStateLike: TypeAlias = int | np.random.RandomState | np.random.Generator | None


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a Generator for None, an int, a RandomState or a Generator.

    A RandomState is converted by drawing a seed of four words from it. The RandomState
    advances, so two calls with the same RandomState give different results.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    if random_state is None or (is_integer(random_state) and random_state >= 0):
        return np.random.default_rng(random_state)
    raise ParameterError(
        "random_state",
        "must be None, a non-negative integer, a "
        "numpy.random.RandomState or a numpy.random.Generator. Got "
        f"{random_state!r} instead.",
    )
