"""One or several models in one plot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._validation import check_choice
from ..metrics._pairs import Pairs, check_pairs


def models_by_name(y_proba: Any, name: Any, *, caller: str) -> Mapping:
    """Return the probabilities of one or several models by name."""
    if name is not None and not isinstance(name, str):
        raise TypeError(
            f"The 'name' parameter of {caller} must be a str; for several models "
            f"pass a mapping of names to y_proba. Got {name!r}."
        )
    several = y_proba if isinstance(y_proba, Mapping) else {name: y_proba}
    if not several:
        raise ValueError(f"The 'y_proba' parameter of {caller} is an empty mapping.")
    return several


def check_one_curve(multi_class: Any, *, caller: str) -> None:
    """Raise unless `multi_class` makes one curve of all classes."""
    if multi_class is not None:
        kinds = ("pooled", "top_label")
        check_choice(multi_class, kinds, name="multi_class", caller=caller)


def pairs_of_models(
    y_true: Any, several: Mapping, *, multi_class: Any, caller: str, **params: Any
) -> list[Pairs]:
    """Return the checked pairs of each model; `params` are those of check_pairs."""
    check_one_curve(multi_class, caller=caller)
    return [
        check_pairs(y_true, proba, caller=caller, multi_class=multi_class, **params)[0]
        for proba in several.values()
    ]


def as_list(value: Any) -> list:
    """Return a list or tuple as a list, anything else as a list of it alone."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def one_or_all(values: list) -> Any:
    """Return the only value of a list, or all of them."""
    return values[0] if len(values) == 1 else values


def curves_of(value: Any, kinds: tuple[type, ...], *, caller: str) -> list:
    """Return the curves of a display as a list, which are of certain classes."""
    curves = as_list(value)
    wrong = [type(each).__name__ for each in curves if not isinstance(each, kinds)]
    if wrong or not curves:
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(
            f"The 'curve' parameter of {caller} must be a {expected}, or a list of "
            f"them. Got {wrong[0] if wrong else 'an empty list'}."
        )
    return curves


def of_each_curve(value: Any, n: int, *, name: str, caller: str) -> list:
    """Return the values of `n` curves; None for each where there is none at all."""
    values = [None] * n if value is None else as_list(value)
    if len(values) != n:
        raise ValueError(
            f"The {name!r} parameter of {caller} must have an entry for each of "
            f"the {n} curves. Got {len(values)}."
        )
    return values


def keys_of_models(names: list) -> list:
    """Return names that tell models apart: numbers where there is none, or twice."""
    keys: list = []
    for k, name in enumerate(names):
        key = str(k) if name is None or name in keys else name
        while key in keys:  # a model may be called '1'
            key = f"{key}_"
        keys.append(key)
    return keys
