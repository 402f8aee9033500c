"""Named distributions on which the intervals of the calibration error are measured.

A cell has a `draw(rng)` that returns labels, probabilities and groups (or None), and
the root mean square error of the population. The cells of `tuning_rows`,
`tuning_groups`, `certain_rows` and the distributions SHAPES and FREQUENCIES were looked
at while the method was chosen; those of `testing_rows`, `testing_groups` and
`certain_testing` were not.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import special

CLIP = 1e-12


@dataclass(frozen=True)
class Cell:
    """One distribution of rows, or of groups of rows, at one size."""

    name: str
    draw: Callable[[np.random.Generator], tuple[Any, Any, Any]]
    truth: float
    grouped: bool = False


def generators(name, n):
    """Return n generators for a name, the same in every run."""
    seeds = np.random.SeedSequence(zlib.crc32(name.encode())).spawn(n)
    return map(np.random.default_rng, seeds)


# ---------------------------------------------------------------- probabilities


def beta(a, b):
    return lambda rng, n: rng.beta(a, b, n)


def uniform(low, high):
    return lambda rng, n: rng.uniform(low, high, n)


def levels(values, chances=None):
    values = np.asarray(values, float)
    chances = np.ones(values.size) if chances is None else np.asarray(chances, float)
    chances = chances / chances.sum()
    return lambda rng, n: values[
        np.searchsorted(np.cumsum(chances)[:-1], rng.random(n), side="right")
    ]


def mixture(parts, chances):
    cut = np.cumsum(chances)[:-1]

    def draw(rng, n):
        which = np.searchsorted(cut, rng.random(n), side="right")
        return np.choose(which, [part(rng, n) for part in parts])

    return draw


def logit_normal(mean, deviation):
    return lambda rng, n: special.expit(rng.normal(mean, deviation, n))


def rounded(law, digits):
    return lambda rng, n: np.round(law(rng, n), digits)


# ---------------------------------------------------------------- true frequencies


def constant(p):
    return lambda q: np.full(np.shape(q), float(p))


def moved(by):
    return lambda q: np.clip(q + by, 0, 1)


def scaled(slope, start=0.0):
    return lambda q: np.clip(start + slope * q, 0, 1)


def power(exponent):
    return lambda q: q**exponent


def temperature(t, start=0.0):
    def law(q):
        with np.errstate(divide="ignore"):
            return special.expit(start + t * special.logit(np.clip(q, CLIP, 1 - CLIP)))

    return law


def thesis(k):
    def law(q):
        return np.where(q <= 0.5, np.maximum(0, q - k), np.minimum(1, q + k))

    return law


def wave(size, periods):
    return lambda q: np.clip(q + size * np.sin(2 * np.pi * periods * q), 0, 1)


def step(by, above, below=0.0):
    return lambda q: np.clip(np.where(q > above, q + by, q + below), 0, 1)


def same(q):
    return q


def wrong(e):
    """Hard answers, each wrong with probability e."""
    return lambda q: np.where(q > 0.5, 1 - e, e)


# Distributions on which the interval is compared with other methods.
SHAPES = {"U": (0.5, 0.5), "skewed": (0.1, 2.0), "tag": (0.02, 0.92)}
SIZES = (1_000, 10_000, 100_000)


def sharpened(q):
    # Beta draws may be 0 or 1 to the last bit, where the logit is infinite.
    with np.errstate(divide="ignore"):
        return special.expit(1.5 * special.logit(q))


FREQUENCIES = {
    "calibrated": same,
    "k=.02": thesis(0.02),
    "k=.1": thesis(0.1),
    "temperature 1.5": sharpened,
}


# ---------------------------------------------------------------- rows and groups


@cache
def _population(probabilities):
    return probabilities(np.random.default_rng(12345), 2_000_000)


def truth_of(probabilities, frequency):
    if frequency is same:
        return 0.0
    q = _population(probabilities)
    return float(np.sqrt(np.mean((q - frequency(q)) ** 2)))


def rows(name, probabilities, frequency, n):
    """Return a cell of n independent rows."""

    def draw(rng):
        q = probabilities(rng, n)
        return (rng.random(n) < frequency(q)).astype(int), q, None

    return Cell(f"{name}, {n}", draw, truth_of(probabilities, frequency))


def several(name, probabilities, frequency, *sizes):
    return [rows(name, probabilities, frequency, n) for n in sizes]


def equal_sizes(n_groups, size):
    return lambda rng: np.full(n_groups, size)


def zipf_sizes(n_groups, exponent=1.6, most=200):
    values = np.arange(1, most + 1)
    chance = np.cumsum(values**-exponent)
    chance /= chance[-1]
    return lambda rng: 1 + np.searchsorted(chance, rng.random(n_groups))


def poisson_sizes(n_groups, mean):
    return lambda rng: 1 + rng.poisson(mean, n_groups)


def lognormal_sizes(n_groups, mean, deviation):
    return lambda rng: np.ceil(rng.lognormal(mean, deviation, n_groups)).astype(int)


def groups_of(name, sizes, quantile, frequency, rho_q=0.5, rho_y=0.5):
    """Return a cell of groups with Gaussian copulas in probabilities and in labels.

    `quantile` maps uniform numbers to probabilities.
    """

    def draw(rng):
        size = sizes(rng)
        group = np.repeat(np.arange(size.size), size)
        n = group.size

        def correlated(rho):
            shared, own = rng.normal(size=size.size)[group], rng.normal(size=n)
            return special.ndtr(np.sqrt(rho) * shared + np.sqrt(1 - rho) * own)

        q = quantile(correlated(rho_q))
        y = (correlated(rho_y) < frequency(q)).astype(int)
        return y, q, group

    u = (np.arange(2_000_000) + 0.5) / 2_000_000
    q = quantile(u)
    truth = (
        0.0 if frequency is same else float(np.sqrt(np.mean((q - frequency(q)) ** 2)))
    )
    return Cell(name, draw, truth, grouped=True)


def varying_groups(name, sizes, quantile, spread, shift=0.0, rho_q=0.3):
    """Return a cell whose groups have an error of their own (mean 0 for shift=0).

    The error of the population is that of the mean over groups at a probability.
    """

    def chance(q, effect):
        z = special.logit(np.clip(q, CLIP, 1 - CLIP))
        return special.expit(z + shift + spread * effect)

    def draw(rng):
        size = sizes(rng)
        group = np.repeat(np.arange(size.size), size)
        shared, own = rng.normal(size=size.size)[group], rng.normal(size=group.size)
        q = quantile(special.ndtr(np.sqrt(rho_q) * shared + np.sqrt(1 - rho_q) * own))
        effect = rng.normal(size=size.size)[group]
        return (rng.random(group.size) < chance(q, effect)).astype(int), q, group

    u = (np.arange(20_000) + 0.5) / 20_000
    q = quantile(u)
    nodes, weight = np.polynomial.hermite_e.hermegauss(60)
    mean = (chance(q[:, None], nodes) * (weight / weight.sum())).sum(axis=1)
    return Cell(name, draw, float(np.sqrt(np.mean((q - mean) ** 2))), grouped=True)


def beta_quantile(a, b, points=200_001):
    """Return an interpolated quantile function, which is faster than the exact one."""
    grid = np.r_[0, np.logspace(-12, -3, 400), np.linspace(0.001, 0.999, points)[1:]]
    grid = np.unique(np.r_[grid, 1 - np.logspace(-3, -12, 400), 1])
    value = special.betaincinv(a, b, grid)
    return lambda u: np.interp(u, grid, value)


def level_quantile(values, chances=None):
    values = np.asarray(values, float)
    chances = np.ones(values.size) if chances is None else np.asarray(chances, float)
    cut = np.cumsum(chances / chances.sum())[:-1]
    return lambda u: values[np.searchsorted(cut, u, side="right")]


def repeated_groups():
    """Return cells of groups whose rows have the same probability and label."""
    uniform, skewed = beta_quantile(2, 1), beta_quantile(0.3, 2)
    wide, sure = beta_quantile(0.6, 0.6), beta_quantile(8, 1)
    shapes = {
        "right": (uniform, same),
        "confident, right": (sure, same),
        "half": (skewed, scaled(0.5)),
        "over": (wide, scaled(0.7, 0.15)),
        "top": (lambda u: 0.5 + u / 2, scaled(0.6, 0.2)),
    }
    return [
        groups_of(f"{n} of {size}, {name}", equal_sizes(n, size), *shape, 1.0, 1.0)
        for n, size in ((20, 10), (50, 10), (50, 2), (100, 10), (200, 10))
        for name, shape in shapes.items()
    ]


def testing_repeated_groups():
    """Return cells of groups of similar rows that no setting was chosen on.

    Sizes, probabilities and errors are of other kinds, and some probabilities of a
    group are close to each other, but not equal.
    """
    beta25, u, high = beta_quantile(2, 5), lambda x: x, beta_quantile(30, 2)
    stated = level_quantile([0.5, 0.7, 0.8, 0.9, 0.95], [1, 2, 4, 4, 2])
    geometric = lambda rng: rng.geometric(0.2, 80)  # noqa: E731
    poisson, many = poisson_sizes(30, 6), equal_sizes(150, 6)
    return [
        groups_of("30 Poisson(6), U, right", poisson, u, same, 1, 1),
        groups_of("30 Poisson(6), U, temp .5", poisson, u, temperature(0.5), 1, 1),
        groups_of("80 geometric, Beta(2,5), right", geometric, beta25, same, 1, 1),
        groups_of("80 geometric, Beta(2,5), x.6", geometric, beta25, scaled(0.6), 1, 1),
        groups_of("150 of 6, near, U, right", many, u, same, 0.99, 1),
        groups_of("150 of 6, near, U, -.1", many, u, moved(-0.1), 0.99, 1),
        groups_of("150 of 6, near, U, wave", many, u, wave(0.15, 2), 0.99, 1),
        groups_of("60 of 4, Beta(30,2), right", equal_sizes(60, 4), high, same, 1, 1),
        groups_of("60 of 4, stated, right", equal_sizes(60, 4), stated, same, 1, 1),
        groups_of(
            "60 of 4, stated, -.2", equal_sizes(60, 4), stated, moved(-0.2), 1, 1
        ),
    ]


STATED = np.array([0, 5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 100])
STATED_WEIGHTS = np.array([1, 1, 2, 2, 3, 2, 2, 3, 5, 8, 10, 12, 15, 12, 12, 8, 3])


def tuning_rows():
    few_carry = mixture([uniform(0, 0.05), uniform(0.9, 1)], [0.97, 0.03])
    two = levels([0.8, 0.95])
    two_true = lambda q: np.where(q < 0.9, 0.96, 0.9975)  # noqa: E731
    hard = levels([0, 1])
    near, stated = uniform(0.8, 0.98), levels(STATED / 100, STATED_WEIGHTS)
    cells = [
        *several("U[.8,.98], true .99", near, constant(0.99), 100, 300, 1000),
        *several(".8/.95, true .96/.9975", two, two_true, 50, 200, 1000),
    ]
    cells += [
        rows(f"hard answers, {e}", hard, wrong(e), n)
        for e in (0.1, 0.005)
        for n in (50, 300, 2000)
    ]
    cells += [
        rows("3% at .9-1, .15 too high", few_carry, step(-0.15, 0.5), n)
        for n in (300, 1000)
    ]
    cells += [
        rows("step -.2 above .5", uniform(0, 1), step(-0.2, 0.5), 300),
        rows("step +.2 above .5", uniform(0, 0.8), step(0.2, 0.5), 300),
        *several("Beta(8,1), q^1.5", beta(8, 1), power(1.5), 2000, 300),
        *several("Beta(2,1), -.08", beta(2, 1), moved(-0.08), 100, 500),
        *several("stated levels, right", stated, same, 100, 1000),
        rows("stated levels, k=.1", stated, thesis(0.1), 300),
        *several("Beta(2,1), right", beta(2, 1), same, 100, 500),
        rows("hard answers, right", hard, same, 100),
    ]
    return cells


def certain_rows():
    """Return cells whose labels hardly vary, on which the method was chosen."""
    high, low = uniform(0.9, 1), uniform(0, 0.1)
    cells = [
        rows(name, law, constant(p), n)
        for name, law, p in (
            ("U[.9,1], true .999", high, 0.999),
            ("U[0,.1], true .001", low, 0.001),
        )
        for n in (40, 60, 100, 200)
    ]
    three = lambda q: np.where(q < 0.7, 0.45, np.where(q < 0.95, 0.98, 0.997))  # noqa: E731
    cells += [
        rows(
            f".5/.9/1, {name}, true .45/.98/.997",
            levels([0.5, 0.9, 1], chances),
            three,
            300,
        )
        for name, chances in (("10% .5", [1, 3, 6]), ("20% .5", [2, 3, 5]))
    ]
    rare = [0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75]
    often = [0.8, 0.85, 0.9, 0.95, 1.0]
    stated = levels(rare + often, [0.1 / 8] * 8 + [0.9 / 5] * 5)
    cells += [
        rows("8 rare levels, true .97", stated, constant(0.97), n) for n in (100, 200)
    ]
    return cells


def certain_testing():
    """Return cells whose labels hardly vary, that no setting was chosen on."""
    four = levels([0.6, 0.8, 0.95, 1.0], [1, 2, 4, 5])
    four_true = lambda q: np.interp(q, [0.6, 0.8, 0.95, 1.0], [0.5, 0.93, 0.99, 0.999])  # noqa: E731
    percents = rounded(beta(12, 1), 2)
    return [
        *several("U[.8,.99], true .998", uniform(0.8, 0.99), constant(0.998), 50, 150),
        rows("Beta(40,2), true .9995", beta(40, 2), constant(0.9995), 80),
        *several("Beta(1,30), true q/20", beta(1, 30), scaled(0.05), 120, 600),
        *several(".6/.8/.95/1, true .5/.93/.99/.999", four, four_true, 120, 400),
        *several("whole percents, true .985", percents, constant(0.985), 150, 800),
    ]


def tuning_groups():
    half, over = scaled(0.5), scaled(0.7, 0.15)
    skewed, wide = beta_quantile(0.3, 2), beta_quantile(0.6, 0.6)
    designs = {
        "100 Zipf": zipf_sizes(100),
        "600 Zipf": zipf_sizes(600),
        "40 of 12": equal_sizes(40, 12),
        "300 of 12": equal_sizes(300, 12),
        "15, 1+Poisson(5)": poisson_sizes(15, 5),
    }
    cells = []
    for name, sizes in designs.items():
        for rho in (0.0, 0.5):
            cells += [
                groups_of(f"{name}, rho {rho}, half", sizes, skewed, half, 0.5, rho),
                groups_of(f"{name}, rho {rho}, over", sizes, wide, over, 0.5, rho),
                groups_of(f"{name}, rho {rho}, right", sizes, wide, same, 0.5, rho),
            ]
    lognormal = lognormal_sizes(100, 1.5, 1)
    cells += [
        groups_of("100 lognormal, half", lognormal, skewed, half, 0.5, 0.5),
        groups_of("100 lognormal, over", lognormal, wide, over, 0.5, 0.5),
        groups_of("100 lognormal, right", lognormal, wide, same, 0.5, 0.5),
        varying_groups("60 of 8, errors differ", equal_sizes(60, 8), wide, 1.0, 0.5),
        varying_groups("100 Zipf, errors differ", zipf_sizes(100), wide, 1.0, 0.5),
    ]
    return cells


def testing_rows():
    """Return cells of independent rows that no setting was chosen on."""
    eleven = levels(np.arange(11) / 10, [1, 1, 1, 2, 2, 4, 4, 6, 10, 14, 8])
    five = levels([0.6, 0.7, 0.8, 0.9, 0.99], [1, 2, 4, 8, 5])
    mostly_sure = levels([0.5, 0.9, 1.0], [0.1, 0.3, 0.6])
    rare = logit_normal(-4.5, 1)
    sums = beta(3, 3)
    bumps = mixture([beta(2, 60), beta(60, 8)], [0.7, 0.3])
    tail = mixture([uniform(0.0, 0.02), uniform(0.5, 1.0)], [0.95, 0.05])
    high = beta(30, 2)
    a_tenth = lambda q: 1 - (1 - q) / 10  # noqa: E731
    from_6 = lambda q: np.where(q > 0.55, 0.97, q)  # noqa: E731
    return [
        *several("11 levels, true .97 from .6", eleven, from_6, 80, 400),
        rows("11 levels, temperature .6", eleven, temperature(0.6), 250),
        rows("11 levels, right", eleven, same, 150),
        *several("5 levels, all .998", five, constant(0.998), 150, 600),
        rows("5 levels, .1 too high", five, moved(-0.1), 120),
        rows("5 levels, right", five, same, 300),
        *several("3 levels, 1.0 wrong in 2%", mostly_sure, scaled(0.98), 500, 4000),
        *several("hard answers, .03", levels([0, 1], [3, 1]), wrong(0.03), 100, 1000),
        rows(
            "hard answers, only 1s wrong .1",
            levels([0, 1], [4, 1]),
            lambda q: 0.9 * q,
            300,
        ),
        *several("rare, logit-normal, right", rare, same, 400, 3000),
        rows("rare, logit-normal, /5", rare, scaled(0.2), 1000),
        rows("rare, logit-normal, x3", rare, scaled(3), 500),
        *several("U(.02,.2), true .003", uniform(0.02, 0.2), constant(0.003), 150, 800),
        *several("Beta(30,2), true 1-(1-q)/10", high, a_tenth, 200, 1500),
        rows("Beta(30,2), .05 too high", high, moved(-0.05), 250),
        *several("Beta(3,3), wave", sums, wave(0.1, 2), 400, 3000),
        *several("Beta(3,3), right", sums, same, 100, 2000),
        *several("two bumps, square", bumps, power(2), 300, 2000),
        rows("two bumps, right", bumps, same, 250),
        *several("5% above .5 are .3 too high", tail, step(-0.3, 0.4), 200, 1000),
        rows("uniform, temperature 2", uniform(0, 1), temperature(2), 150),
        rows("uniform, temperature .5", uniform(0, 1), temperature(0.5), 150),
        rows("uniform, +.05", uniform(0, 1), moved(0.05), 600),
        rows("rounded Beta(2,5), slope .7", rounded(beta(2, 5), 1), scaled(0.7), 300),
        rows("Beta(.2,.2), slope .9", beta(0.2, 0.2), scaled(0.9, 0.05), 500),
    ]


def testing_groups():
    """Return cells of groups that no setting was chosen on."""
    beta25, u = beta_quantile(2, 5), lambda x: x
    bimodal = beta_quantile(0.2, 0.3)
    stated = level_quantile([0.5, 0.7, 0.8, 0.9, 0.95], [1, 2, 4, 4, 2])
    geometric = lambda rng: rng.geometric(0.15, 120)  # noqa: E731
    pareto = lambda rng: np.minimum(np.ceil(rng.pareto(1.5, 200)), 150).astype(int) + 1  # noqa: E731
    twenty = poisson_sizes(20, 10)
    return [
        groups_of("120 geometric, U, right", geometric, u, same, 0.4, 0.4),
        groups_of("120 geometric, U, -.1", geometric, u, moved(-0.1), 0.4, 0.4),
        groups_of(
            "120 geometric, U, temp .6", geometric, u, temperature(0.6), 0.4, 0.2
        ),
        groups_of(
            "120 geometric, Beta(2,5), square", geometric, beta25, power(2), 0.6, 0.3
        ),
        groups_of("200 Pareto, Beta(2,5), right", pareto, beta25, same, 0.3, 0.3),
        groups_of("200 Pareto, Beta(2,5), x.6", pareto, beta25, scaled(0.6), 0.3, 0.3),
        groups_of(
            "200 Pareto, Beta(.2,.3), slope .8",
            pareto,
            bimodal,
            scaled(0.8, 0.1),
            0.3,
            0.3,
        ),
        groups_of("20 Poisson(10), U, right", twenty, u, same, 0.5, 0.5),
        groups_of("20 Poisson(10), U, temp .5", twenty, u, temperature(0.5), 0.5, 0.5),
        groups_of(
            "20 Poisson(10), Beta(.2,.3), x.7", twenty, bimodal, scaled(0.7), 0.5, 0.5
        ),
        groups_of(
            "20 Poisson(10), stated, .97", twenty, stated, constant(0.97), 0.2, 0.5
        ),
        groups_of(
            "80 of 5, stated, .97", equal_sizes(80, 5), stated, constant(0.97), 0.2, 0.5
        ),
        groups_of("80 of 5, stated, right", equal_sizes(80, 5), stated, same, 0.2, 0.5),
        groups_of(
            "80 of 5, stated, -.2", equal_sizes(80, 5), stated, moved(-0.2), 0.2, 0.8
        ),
        groups_of("250 of 2, U, wave", equal_sizes(250, 2), u, wave(0.15, 2), 0.8, 0.8),
        groups_of("250 of 2, U, right", equal_sizes(250, 2), u, same, 0.8, 0.8),
        groups_of(
            "35 of 30, Beta(2,5), x1.4",
            equal_sizes(35, 30),
            beta25,
            scaled(1.4),
            0.1,
            0.1,
        ),
        groups_of(
            "35 of 30, Beta(2,5), right", equal_sizes(35, 30), beta25, same, 0.1, 0.1
        ),
        groups_of(
            "500 lognormal(1,1.2), U, -.05",
            lognormal_sizes(500, 1, 1.2),
            u,
            moved(-0.05),
            0.2,
            0.2,
        ),
        groups_of(
            "60 lognormal(1,1.2), U, right",
            lognormal_sizes(60, 1, 1.2),
            u,
            same,
            0.5,
            0.2,
        ),
        varying_groups(
            "50 of 10, errors differ, right mean", equal_sizes(50, 10), u, 0.8, 0.0
        ),
        varying_groups(
            "150 geometric, errors differ",
            lambda rng: rng.geometric(0.2, 150),
            u,
            1.2,
            0.7,
        ),
        varying_groups(
            "25 Poisson(8), errors differ", poisson_sizes(25, 8), beta25, 0.7, -0.6
        ),
    ]


# Errors on which the power of the test is measured: the name, how probabilities are
# drawn, and the true frequency.
ERRORS = (
    ("shift -.08, Beta(2,1)", beta(2, 1), moved(-0.08)),
    ("shift +.08, Beta(2,1)", beta(2, 1), moved(0.08)),
    ("shift -.1, uniform", uniform(0, 1), moved(-0.1)),
    ("slope .7, uniform", uniform(0, 1), scaled(0.7, 0.15)),
    ("slope .8, Beta(1,4)", beta(1, 4), scaled(0.8)),
    ("slope 1.3, Beta(1,4)", beta(1, 4), scaled(1.3)),
    ("temperature .6, uniform", uniform(0, 1), temperature(0.6)),
    ("temperature 1.8, uniform", uniform(0, 1), temperature(1.8)),
    ("temperature .6, Beta(.5,.5)", beta(0.5, 0.5), temperature(0.6)),
    ("wave of .15, 2 periods, uniform", uniform(0, 1), wave(0.15, 2)),
    ("wave of .15, 4 periods, uniform", uniform(0, 1), wave(0.15, 4)),
    ("step of -.2 above .5, .2 below", uniform(0.2, 0.8), step(-0.2, 0.5, 0.2)),
)


def odds(change, start=0.0):
    """Return the frequencies whose log odds are a function of the log odds of q."""

    def law(q):
        z = special.logit(np.clip(q, CLIP, 1 - CLIP))
        return special.expit(start + change(z))

    return law


def two_classes(score, log_ratio, slope):
    """Return a distribution of q and the frequency for a normal model of other classes.

    The classes have the locations 1 and -1. The model takes its log odds as linear in
    the score; `log_ratio` gives the true ones.
    """

    def draw(rng, n):
        x = score(rng, n) + np.where(rng.random(n) < 0.5, 1, -1)
        # not exactly 1, which a single label contradicts
        return np.clip(special.expit(slope * x), CLIP, 1 - CLIP)

    return draw, odds(lambda z: log_ratio(z / slope))


def unequal_levels(seed, n_levels, deviation):
    """Return levels that each have an error of their own, as the leaves of a tree."""
    rng = np.random.default_rng(seed)
    values = np.sort(rng.random(n_levels))
    true = special.expit(
        special.logit(values) + deviation * rng.standard_normal(n_levels)
    )
    law = levels(values, rng.dirichlet(np.full(n_levels, 2.0)))
    return law, lambda q: true[np.clip(values.searchsorted(q), 0, n_levels - 1)]


_LAPLACE = (
    lambda rng, n: rng.laplace(0, 1, n),
    lambda x: np.abs(x + 1) - np.abs(x - 1),
)
_STUDENT = (
    lambda rng, n: rng.standard_t(3, n),
    lambda x: 2 * np.log1p((x + 1) ** 2 / 3) - 2 * np.log1p((x - 1) ** 2 / 3),
)
_NORMAL, _RARE = logit_normal(0, 1.3), logit_normal(-6, 1.5)
# without probabilities of exactly 0 and 1, which a single label can contradict
_SURE = lambda rng, n: np.clip(rng.beta(0.1, 0.1, n), CLIP, 1 - CLIP)  # noqa: E731
_MOST_HIGH = levels([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99], [1, 1, 2, 3, 4, 3, 2])

# Errors with shapes of misspecified models, on which the weights of the test were
# chosen together with ERRORS: name, probabilities, true frequency, rows. The models of
# interval_test.py, on which the test is measured, are of other kinds.
CURVES = (
    ("Laplace classes", *two_classes(*_LAPLACE, 1.0), 300),
    ("Laplace classes, overconfident", *two_classes(*_LAPLACE, 2.0), 100),
    ("Student classes", *two_classes(*_STUDENT, 0.9), 300),
    ("log odds quadratic", _NORMAL, odds(lambda z: z + 0.15 * (z**2 - 1.69)), 600),
    ("log odds wave 1.5", _NORMAL, odds(lambda z: z + 0.5 * np.cos(1.5 * z)), 300),
    ("log odds wave 2.5", _NORMAL, odds(lambda z: z + 0.5 * np.cos(2.5 * z + 1)), 600),
    ("log odds wave 4", _NORMAL, odds(lambda z: z + 0.5 * np.cos(4 * z + 2)), 600),
    ("log odds x .6", logit_normal(0, 2), temperature(0.6), 60),
    ("log odds x 1.5", logit_normal(0, 2), temperature(1.5), 150),
    ("12 levels", *unequal_levels(4, 12, 0.6), 200),
    ("20 levels", *unequal_levels(2, 20, 0.5), 300),
    ("rare, log odds + .5", _RARE, temperature(1, 0.5), 2000),
    ("rare, log odds x .7", _RARE, temperature(0.7, -1.0), 3000),
    ("rare, log odds x 1.3", _RARE, temperature(1.3, 1.5), 3000),
    ("Beta(20,1) x .97", beta(20, 1), scaled(0.97), 100),
    ("Beta(.1,.1), slope .96", _SURE, scaled(0.96, 0.02), 100),
    ("levels, all .8", _MOST_HIGH, constant(0.8), 30),
    ("levels, all .92", _MOST_HIGH, constant(0.92), 60),
)
