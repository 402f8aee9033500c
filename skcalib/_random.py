"""One way from `random_state` to a numpy Generator."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._validation import is_integer

__all__ = ["as_generator"]


def as_generator(random_state: Any, *, caller: str) -> np.random.Generator:
    """Return a Generator for None, an int, a RandomState or a Generator.

    A RandomState gives four words of its own stream as the seed, so it moves on as a
    user expects of it, and two calls with the same one differ.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    if random_state is None or (is_integer(random_state) and random_state >= 0):
        return np.random.default_rng(random_state)
    raise ValueError(
        f"The 'random_state' parameter of {caller} must be None, a non-negative "
        "integer, a numpy.random.RandomState or a numpy.random.Generator. "
        f"Got {random_state!r} instead."
    )
