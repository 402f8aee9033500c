"""Where the parts and the constants of the score interval are, and what replaces them.

This is the only file of the benchmarks that names private attributes of the interval.
A part is switched off by replacements (path, make): the path leads from
`skcalib.metrics` to the attribute, and `make(original)` returns what takes its place.
An attribute that does not exist is an error, and so is a function that is replaced and
never called (`check_used`).
"""

import functools
import importlib
from contextlib import contextmanager
from inspect import getattr_static

import numpy as np
from interval_coverage import generators

from skcalib.metrics import calibration_error_interval

USED = set()
UNIFORM, COMBINED = "_score_interval._UNIFORM", "_score_interval._ROW_COMBINED"
WEIGHTS = "_score_interval.ROW_WEIGHTS"
COMBINE, SLOPE_OF = "_score_interval.combine", "_score_interval.slope_of"
ENDS = "_score_interval.SquareDistribution.interval"
TRUST = "_score_interval.trust_in"


def to(value):
    """Replace a constant."""
    return lambda _: value


def giving(value):
    """Replace a function by one that returns a value."""
    return lambda _: lambda *_arguments, **_options: value


def _without_step(original):
    return lambda self, x: (*original(self, x)[:2], 0.0)


def _without_skewness(original):
    def at(self, x):
        deviation, _, step = original(self, x)
        return deviation, 0.0, step

    return at


def floor_of_slope(floor):
    """Replace the floor of `slope_of`, as a share of the guess."""

    def make(original):
        def slope(seen, square, deviation, linear):
            guess = original(seen, -1.0, deviation, linear)
            if guess <= 0 or square <= 0:
                return guess
            trust = value_at(TRUST)(square, deviation)
            return max(trust * seen / square + (1 - trust) * guess, floor * guess)

        return slope

    return make


PARTS = {
    # the identity: the combination is not corrected
    "_COMBINED": [
        (path, lambda _: np.array(value_at(UNIFORM)))
        for path in (COMBINED, "_score_interval._COMBINED")
    ],
    "MeanBound": [
        ("_score_interval.MeanBound.furthest", giving(0.0)),
        ("_score_interval.MeanBound.nearest", giving(0.0)),
    ],
    # the guess alone, and the observed errors alone
    "Levels": [("_score_interval.SquareDistribution.trust", giving(0.0))],
    "guess": [("_score_interval.SquareDistribution.trust", giving(1.0))],
    "smooth test": [(WEIGHTS, lambda w: (*w[:2], 0.0, 0.0, *w[4:]))],
    "step": [("_score_interval.SquareDistribution._at", _without_step)],
    "skewness": [("_score_interval.SquareDistribution._at", _without_skewness)],
    "bin size search: widest bins": [("_bins._LOSS", to(1e300))],
    "bin size search: narrowest bins": [("_bins._LOSS", to(-1.0))],
    "unseen": [
        ("_score_interval.math.expm1", giving(0.0)),
        ("_score_interval.Levels.unseen", giving(0.0)),
    ],
    "Student's t": [
        (
            "_score_interval.SquareDistribution._quantile",
            lambda _: lambda _s, tail: tail,
        )
    ],
}

# Several parts at once.
TOGETHER = {"MeanBound and _COMBINED": ("MeanBound", "_COMBINED")}

# Constants of the distribution of T, with their paths (the floor is in `slope_of`).
CONSTANTS = {
    "_GUESSED": ["_score_interval._GUESSED"],
    "floor of slope_of": [SLOPE_OF],
    "_TRUSTED": ["_score_interval._TRUSTED"],
    "_LOSS": ["_bins._LOSS"],
    "_SEEN": ["_grouped_bins._SEEN"],
}
FLOOR = 0.1  # written in `slope_of`


def with_constant(name, value):
    """Return the replacements that give a constant another value."""
    make = floor_of_slope(value) if name == "floor of slope_of" else to(value)
    return [(path, make) for path in CONSTANTS[name]]


def value_of(name):
    """Return the value of a constant in the package."""
    return FLOOR if name == "floor of slope_of" else value_at(CONSTANTS[name][0])


def part_off(name):
    """Return the replacements that switch off a part, or several."""
    return [each for part in TOGETHER.get(name, [name]) for each in PARTS[part]]


@functools.cache
def module_of(name):
    return importlib.import_module(f"skcalib.metrics.{name}")


@functools.cache
def locate(path):
    """Return the owner of an attribute and its name; an error if there is none."""
    first, *middle, last = path.split(".")
    owner = functools.reduce(getattr, middle, module_of(first))
    getattr_static(owner, last)
    return owner, last


def value_at(path):
    return getattr(*locate(path))


@contextmanager
def replaced(replacements):
    """Replace attributes for the time of a block."""
    kept = []
    try:
        for path, make in replacements:
            owner, last = locate(path)
            original = getattr_static(owner, last)
            kept.append((owner, last, original))
            setattr(owner, last, _recorded(path, original, make))
        yield
    finally:
        for owner, last, original in reversed(kept):
            setattr(owner, last, original)


def _recorded(path, original, make):
    """Return what replaces an attribute; calls of functions are recorded in USED."""
    if isinstance(original, property):
        return property(_recorded(path, original.fget, make))
    new = make(original)
    if not callable(original):
        return new

    def call(*arguments, **options):
        USED.add(path)
        return new(*arguments, **options)

    return call


def check_used(names):
    """Raise an error if a function of a part that was switched off was not called."""
    for name in names:
        for path, _ in part_off(name):
            owner, last = locate(path)
            original = getattr_static(owner, last)
            is_function = callable(original) or isinstance(original, property)
            if is_function and path not in USED:
                raise RuntimeError(f"{path} of the part {name!r} was never called")


def arguments_of(path, y, q):
    """Return the arguments of the first call of a function in the interval of a sample.

    Later calls are for narrower bins. The ends of the interval are not searched for.
    """
    kept = []

    def make(original):
        def call(*arguments):
            kept.append(arguments)
            return original(*arguments)

        return call

    with replaced([(path, make), (ENDS, giving((0.0, 0.0)))]):
        calibration_error_interval(y, q)
    return kept[0]


# ---------------------------------------------------------------- paired samples


def compare(cell, n, variants):
    """Return a row for each variant, from the same samples of a cell.

    `variants` are replacements by name; the first one is the reference.
    """
    found = {name: [] for name in variants}
    for rng in generators(cell.name, n):
        y, q, groups = cell.draw(rng)
        for name, replacements in variants.items():
            with replaced(replacements):
                r = calibration_error_interval(y, q, groups=groups)
            found[name].append(
                (r.low <= cell.truth <= r.high, r.high - r.low, r.pvalue)
            )
    rows, reference = [], None
    for name, values in found.items():
        inside, width, p = np.array(values, dtype=float).T
        if reference is None:
            reference = inside, width.mean()
        rows.append(
            {
                "cell": cell.name,
                "true_error": f"{cell.truth:.4f}",
                "replicates": n,
                "variant": name,
                "coverage": f"{100 * inside.mean():.1f}",
                "lost": f"{100 * (reference[0] > inside).mean():.1f}",
                "gained": f"{100 * (reference[0] < inside).mean():.1f}",
                "width / reference": f"{width.mean() / reference[1]:.3f}",
                "p<.05": f"{100 * (p < 0.05).mean():.1f}",
            }
        )
    return rows


def summaries(rows, level=95):
    """Return a row for each variant, over the cells of `rows` (rows of `compare`)."""
    names = list(dict.fromkeys(row["variant"] for row in rows))
    reference = {
        r["cell"]: float(r["coverage"]) for r in rows if r["variant"] == names[0]
    }
    found = []
    for name in names:
        mine = [row for row in rows if row["variant"] == name]
        covered = np.array([float(row["coverage"]) for row in mine])
        before = np.array([reference[row["cell"]] for row in mine])
        width = np.array([float(row["width / reference"]) for row in mine])
        rejected = np.array([float(row["p<.05"]) for row in mine])
        wrong = np.array([float(row["true_error"]) > 0 for row in mine])
        low, worst = int(covered.argmin()), int((covered - before).argmin())
        change = ""
        if covered[worst] < before[worst]:
            change = f"{before[worst]:.1f} -> {covered[worst]:.1f}"
        found.append(
            {
                "variant": name,
                "cells": len(mine),
                "replicates": mine[0]["replicates"],
                "lowest coverage": f"{covered[low]:.1f}",
                "of cell": mine[low]["cell"],
                "worst change": change,
                "in cell": mine[worst]["cell"] if change else "",
                "mean distance": f"{np.abs(covered - level).mean():.2f}",
                "mean width ratio": f"{width.mean():.3f}",
                "largest width ratio": f"{width.max():.3f}",
                "power": f"{rejected[wrong].mean():.1f}" if wrong.any() else "",
                "highest size": f"{rejected[~wrong].max():.1f}"
                if (~wrong).any()
                else "",
            }
        )
    return found
