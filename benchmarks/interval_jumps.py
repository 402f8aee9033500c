"""Coverage of the interval if the error jumps, against its width if it does not.

    python benchmarks/interval_jumps.py [--replicates 300] [--jobs 2]

The automatic bins assume that the error changes no faster than the probability. Upper
ends of narrower bins are used, too (`_NARROW_SHARE`). Each row is a cell and a rule for
the bins: the coverage, the mean width over that of automatic bins alone, and how often
the interval warns. The rules see the same samples. The share was chosen on the cells
`tuning` and `smooth`; the cells `testing` were not looked at before. They are
recalibrated and boosted models with known posterior probabilities, in a population of
400,000 rows. The true frequency of a probability is its mean in the population if at
least 20 rows have it, and the mean of 20 neighbours otherwise. With --models, only the
cells of models are measured again.
"""

import time
import warnings
from functools import cache

import _interval_cells as cells_of
import _study
import numpy as np
from _common import print_table, versions, write_csv
from _interval_cells import generators
from interval_constants import replaced, to
from joblib import Parallel, delayed
from scipy import special
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier
from sklearn.naive_bayes import GaussianNB

from skcalib.metrics import calibration_error_interval

SHARE = "_score_interval._NARROW_SHARE"
NO_NARROW = ("_bins._NARROWER", to(()))
RULES = {
    "automatic bins alone": ("auto", [NO_NARROW]),
    "share .2": ("auto", [(SHARE, to(0.2))]),
    "share .4, default": ("auto", []),
    "share .6": ("auto", [(SHARE, to(0.6))]),
    "share 1": ("auto", [(SHARE, to(1.0))]),
    "bins of 8": (8, []),
    "bins of 5": (5, []),
}
# The other rules see the first fifth of the samples.
COMPARED = ("automatic bins alone", "share .4, default")
N_POPULATION = 400_000
LEAST_CLASS = 20


def isotonic(model, **options):
    return CalibratedClassifierCV(model, method="isotonic", **options)


def boosting():
    return GradientBoostingClassifier(max_depth=1, n_estimators=30, random_state=0)


MODELS = {
    "isotonic, 300": (lambda: isotonic(GaussianNB()), 300),
    "isotonic, 1000": (lambda: isotonic(GaussianNB()), 1000),
    "AdaBoost, 3000": (lambda: AdaBoostClassifier(random_state=0), 3000),
    "isotonic, one fold": (lambda: isotonic(GaussianNB(), cv=3, ensemble=False), 600),
    "isotonic boosting": (lambda: isotonic(boosting()), 800),
    "AdaBoost, 20 stumps": (
        lambda: AdaBoostClassifier(n_estimators=20, random_state=0),
        500,
    ),
}


@cache
def population(name):
    """Return probabilities, posterior probabilities and the true error of a model."""
    make, n_train = MODELS[name]
    rng = np.random.default_rng(list(MODELS).index(name) + 100)
    n_features = 6
    root = rng.normal(size=(n_features, n_features))
    covariance = 0.5 * root @ root.T / n_features + 0.5 * np.eye(n_features)
    mean = 1.2 * rng.normal(size=n_features) / np.sqrt(n_features)
    factor, slope = np.linalg.cholesky(covariance), np.linalg.solve(covariance, mean)

    def draw(n):
        y = (rng.random(n) < 0.5).astype(int)
        x = (2 * y - 1)[:, None] * mean + rng.normal(size=(n, n_features)) @ factor.T
        return x, y, special.expit(2 * x @ slope)

    x, y, _ = draw(n_train)
    model = make().fit(x, y)
    x, _, p = draw(N_POPULATION)
    q = model.predict_proba(x)[:, 1]
    return q, p, true_error(q, p)


def true_error(q, p):
    """Return the root mean square distance of q from the mean p at q."""
    _, which, n = np.unique(q, return_inverse=True, return_counts=True)
    alone = n[which] < LEAST_CLASS
    order = np.argsort(q[alone], kind="stable")
    near = np.array_split(order, max(1, order.size // LEAST_CLASS))
    common = np.flatnonzero(~alone)
    sets = [np.flatnonzero(alone)[each] for each in near if each.size > 1]
    by_class = common[np.argsort(which[common], kind="stable")]
    sets += np.split(by_class, np.cumsum(n[n >= LEAST_CLASS])[:-1])
    total = 0.0
    for rows in sets:
        if rows.size > 1:
            d = q[rows] - p[rows]
            # without the variance of the mean of d
            total += rows.size * d.mean() ** 2 - d.var(ddof=1)
    return float(np.sqrt(total / q.size))


def model_cell(name, n):
    def draw(rng):
        q, p, _ = population(name)
        rows = rng.integers(0, q.size, n)
        return (rng.random(n) < p[rows]).astype(int), q[rows], None

    return cells_of.Cell(f"{name}, {n} rows", draw, population(name)[2])


def jump(low, high, by):
    return lambda q: np.where((q > low) & (q < high), np.clip(q + by, 0, 1), q)


def by_turns(n_levels, by):
    """Return levels from .25 to .75, and frequencies that are too high or too low."""
    values = 0.25 + 0.5 * np.arange(n_levels) / (n_levels - 1)
    steps = lambda q: np.rint((q - 0.25) / 0.5 * (n_levels - 1)) % 2  # noqa: E731
    return cells_of.levels(values), lambda q: q + np.where(steps(q) == 0, by, -by)


def jagged(seed, deviation):
    """Return a rounded distribution, and errors that are independent of each other."""
    errors = np.random.default_rng(seed).normal(0, deviation, 101)
    q = cells_of.rounded(cells_of.beta(2, 1), 2)
    return q, lambda x: np.clip(x + errors[np.rint(100 * x).astype(int)], 0, 1)


def tuning():
    uniform = cells_of.uniform(0, 1)
    cells = [
        model_cell(name, n)
        for name in ("isotonic, 300", "isotonic, 1000", "AdaBoost, 3000")
        for n in (500, 2000, 5000, 20_000)
    ]
    cells += [
        cells_of.rows(f"jump at {low}", uniform, jump(low, high, by), n)
        for low, high, by in ((0.9, 0.92, -0.4), (0.5, 0.53, -0.3))
        for n in (1000, 5000)
    ]
    cells += [
        cells_of.rows("51 levels by turns", *by_turns(51, 0.2), n) for n in (500, 1000)
    ]
    rounded = jagged(5, 0.1)
    return cells + [
        cells_of.rows("two decimals, jagged", *rounded, n) for n in (1000, 5000)
    ]


def testing():
    skewed = cells_of.beta(1, 3)
    cells = [
        model_cell(name, n)
        for name in ("isotonic, one fold", "isotonic boosting", "AdaBoost, 20 stumps")
        for n in (500, 1000, 2000, 5000, 20_000)
    ]
    cells += [
        cells_of.rows(name, skewed, frequency, n)
        for name, frequency in (
            ("jump at .2 to .23", jump(0.2, 0.23, 0.35)),
            ("three jumps", lambda q: q + 0.1 * ((q > 0.1) ^ (q > 0.3) ^ (q > 0.6))),
        )
        for n in (500, 2000, 20_000)
    ]
    cells += [
        cells_of.rows("31 levels by turns", *by_turns(31, 0.15), n) for n in (400, 2000)
    ]
    rounded = jagged(8, 0.2)
    return cells + [
        cells_of.rows("two decimals, very jagged", *rounded, n)
        for n in (1000, 5000, 20_000)
    ]


def smooth():
    laws = {
        "uniform, right": (cells_of.uniform(0, 1), cells_of.same),
        "uniform, temperature .8": (cells_of.uniform(0, 1), cells_of.temperature(0.8)),
        "Beta(2,1), q^1.3": (cells_of.beta(2, 1), cells_of.power(1.3)),
        "Beta(.3,2), right": (cells_of.beta(0.3, 2), cells_of.same),
        "Beta(3,3), wave": (cells_of.beta(3, 3), cells_of.wave(0.1, 2)),
        "Beta(8,1), .05 too high": (cells_of.beta(8, 1), cells_of.moved(-0.05)),
    }
    return [
        cells_of.rows(name, *law, n)
        for name, law in laws.items()
        for n in (300, 1000, 5000, 20_000)
    ]


SETS = {"tuning": tuning, "testing": testing, "smooth": smooth}


def measure(job):
    """Return one row for each rule, from the same samples of a cell."""
    kind, place, n_replicates = job
    warnings.simplefilter("ignore")
    cell = SETS[kind]()[place]
    found = {rule: [] for rule in RULES}
    for number, rng in enumerate(generators(cell.name, n_replicates)):
        y, q, _ = cell.draw(rng)
        for rule, (size, changes) in RULES.items():
            if number >= n_replicates // 5 and rule not in COMPARED:
                continue
            with replaced(changes):
                r = calibration_error_interval(y, q, bin_size=size)
            hidden = r._hidden is not None
            found[rule].append((r.low, r.high, r.estimate, hidden))
    rows = []
    for rule, values in found.items():
        low, high, estimate, hidden = np.array(values, dtype=float).T
        covered = ((low <= cell.truth) & (cell.truth <= high)).mean()
        width = (high - low).mean()
        if not rows:
            alone = high - low
        rows.append(
            {
                "set": kind,
                "cell": cell.name,
                "rule": rule,
                "replicates": low.size,
                "true error": f"{cell.truth:.4f}",
                "coverage": f"{100 * covered:.1f}",
                "low end too high": f"{100 * (low > cell.truth).mean():.1f}",
                "width": f"{width:.4f}",
                "width ratio": f"{width / alone[: low.size].mean():.2f}",
                "mean estimate": f"{np.sqrt((estimate**2).mean()):.4f}",
                "warns": f"{100 * hidden.mean():.1f}",
            }
        )
    return rows


def frontier(rows):
    """Return the coverage where the error jumps, and the width where it does not."""
    table = []
    for rule in RULES:
        own = [row for row in rows if row["rule"] == rule]
        values = []
        for kind in ("tuning", "testing"):
            covered = [float(row["coverage"]) for row in own if row["set"] == kind]
            values += [f"{min(covered):.1f}", f"{np.mean(covered):.1f}"]
        of_smooth = [row for row in own if row["set"] == "smooth"]
        ratio = [float(row["width ratio"]) for row in of_smooth]
        warned = [float(row["warns"]) for row in of_smooth]
        values += [f"{np.mean(ratio):.3f}", f"{max(ratio):.2f}", f"{max(warned):.1f}"]
        table.append({"rule": rule, **dict(zip(FRONTIER, values, strict=True))})
    return table


FRONTIER = [
    "lowest coverage, tuning",
    "mean coverage, tuning",
    "lowest coverage, testing",
    "mean coverage, testing",
    "width, smooth",
    "largest width, smooth",
    "most warnings, smooth",
]


def main():
    parser = _study.parser_of(__doc__)
    parser.add_argument("--replicates", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    start = time.perf_counter()
    jobs = [
        (kind, number, options.replicates)
        for kind, make in SETS.items()
        for number in range(len(make()))
    ]
    found = Parallel(options.jobs)(delayed(measure)(job) for job in jobs)
    rows = [row for each in found for row in each]
    note = f"in %; standard error of a coverage of 95% in {options.replicates} "
    note += f"replicates: {100 * np.sqrt(0.95 * 0.05 / options.replicates):.1f}; "
    note += f"{time.perf_counter() - start:.0f} s; "
    note += versions("numpy", "scipy", "scikit-learn")
    write_csv("interval_jumps.csv", rows, note)
    table = frontier(rows)
    print_table(table)
    write_csv("interval_jumps_frontier.csv", table, note)


if __name__ == "__main__":
    main()
