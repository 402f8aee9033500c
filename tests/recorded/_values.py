"""Values as text: numbers with twelve digits, long arrays as a few numbers and sums."""

import dataclasses
import math
import numbers
import re
from collections.abc import Mapping

import numpy as np
from scipy.sparse import issparse

DIGITS = 12
# Of an array with more numbers, the first ones and two sums are shown.
N_SHOWN = 24
_WIDTH = 96


def show(value: object, digits: int = DIGITS) -> str:
    """Return a value as lines of text."""
    return "\n".join(lines(value, digits))


def lines(value: object, digits: int) -> list[str]:
    if is_number(value) and not hasattr(value, "to_dict"):
        return [number(value, digits)]
    if value is None or isinstance(value, (str, type)):
        return [value.__name__ if isinstance(value, type) else repr(value)]
    if issparse(value):
        return ["sparse", *lines(value.toarray(), digits)]
    if type(value).__name__ in ("DataFrame", "Series"):
        columns = value.to_dict("list") if value.ndim == 2 else list(value)
        return [type(value).__name__, *indented(columns, digits)]
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        return array(value, digits)
    if isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
        return sequence(value, digits)
    if isinstance(value, Mapping) and not hasattr(value, "to_dict"):
        return mapping(value, digits)
    return instance(value, digits)


def is_number(value: object) -> bool:
    return isinstance(value, (numbers.Number, np.bool_)) and not isinstance(
        value, np.ndarray
    )


def number(value: object, digits: int) -> str:
    if isinstance(value, (bool, np.bool_, numbers.Integral)):
        return str(value)
    text = f"{value:.{digits}g}"
    is_whole = math.isfinite(value) and text.lstrip("-").isdigit()
    return f"{text}.0" if is_whole else text


def array(value: np.ndarray, digits: int, kind: str = "array") -> list[str]:
    """Show shape and numbers; of many, the first, the sum and a weighted sum."""
    if value.dtype in (np.float32, np.int8):
        kind = str(value.dtype)
    shape = "x".join(map(str, value.shape)) if value.ndim != 1 else ""
    flat = value.ravel()
    parts = [number(each, digits) for each in flat[:N_SHOWN].tolist()]
    if flat.size > N_SHOWN:
        known = np.where(np.isfinite(flat), flat, 0).astype(float)
        weights = np.linspace(1, 2, flat.size)
        sums = [number(float(s), digits) for s in (known.sum(), known @ weights)]
        parts += [f"... of {flat.size}, sum {sums[0]}, weighted {sums[1]}"]
    return wrapped([f"{kind} {shape}[", *parts], "]")


def sequence(value: object, digits: int) -> list[str]:
    """Show short entries on one line, and others below each other."""
    entries = sorted(value) if isinstance(value, (set, frozenset)) else list(value)
    name = type(value).__name__ if hasattr(value, "_fields") else ""
    if hasattr(value, "_fields"):
        return [name, *indented(dict(zip(value._fields, entries, strict=True)), digits)]
    if len(entries) > N_SHOWN and all(is_number(each) for each in entries):
        return array(np.asarray(entries), digits, "list")
    shown = [lines(each, digits) for each in entries[:N_SHOWN]]
    if len(entries) > N_SHOWN:
        shown.append([f"... of {len(entries)}"])
    if all(len(each) == 1 for each in shown):
        opening, closing = "()" if isinstance(value, tuple) else "[]"
        return wrapped([opening, *(each[0] for each in shown)], closing)
    head = f"{type(value).__name__} of {len(entries)}"
    return [head, *(f"  {line}" for each in shown for line in bulleted(each))]


def bulleted(entry: list[str]) -> list[str]:
    return [f"- {entry[0]}", *(f"  {line}" for line in entry[1:])]


def mapping(value: Mapping, digits: int) -> list[str]:
    found: list[str] = []
    for key, entry in value.items():
        inner = lines(entry, digits)
        is_below = isinstance(entry, Mapping) and bool(entry)
        found.append(f"{key}:" if is_below else f"{key}: {inner.pop(0)}")
        found += [f"  {line}" for line in inner]
    return found or ["{}"]


def indented(value: object, digits: int) -> list[str]:
    return [f"  {line}" for line in lines(value, digits)]


def instance(value: object, digits: int) -> list[str]:
    """Show the repr and the numbers of an object."""
    kind = type(value).__name__
    if hasattr(value, "to_dict"):
        head = rounded(repr(value), digits).splitlines()
        return [*head, *indented(value.to_dict(), digits)]
    if dataclasses.is_dataclass(value):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        kept = {k: v for k, v in fields.items() if k[0] != "_" and not is_empty(v)}
        return [kind, *indented(kept, digits)]
    return rounded(repr(value), digits).splitlines()


def rounded(text: str, digits: int = DIGITS) -> str:
    """Round numbers in a text that have more digits."""
    many = rf"(?<![\w.])-?\d+\.\d{{{digits},}}(?:e[-+]?\d+)?"
    return re.sub(many, lambda found: number(float(found[0]), digits), text)


def is_empty(value: object) -> bool:
    return value is None or (isinstance(value, (tuple, Mapping)) and not value)


def wrapped(parts: list[str], end: str) -> list[str]:
    """Join parts by blanks, with a new line where one would be too long."""
    opening, *rest = parts
    found, blank = [opening], ""
    for part in rest:
        if len(found[-1]) + len(part) >= _WIDTH:
            found.append(f"  {part}")
        else:
            found[-1] += f"{blank}{part}"
        blank = " "
    found[-1] += end
    return found
