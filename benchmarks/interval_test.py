"""Power and size of the test of perfect calibration, compared with other tests.

    python benchmarks/interval_test.py [errors models] [--replicates 1000]

errors: the errors on which the weights of the test were chosen (ERRORS in
_interval_cells.py), in interval_power.csv. models: errors that nobody chose, of
scikit-learn classifiers, a text model, and levels that a person states. The weights
were not chosen on them. The statistic of the least probable label was added after the
neural network and naive Bayes of this table had been looked at.

Both tables compare the test of `calibration_error_interval` ("default") with the test
based on T alone, Hosmer and Lemeshow's test with ten bins, Cox's score test of
intercept and slope, Spiegelhalter's test, and the tests of Kolmogorov and Smirnov and
of Kuiper. All tests have the size .05 (`power`). Their critical values come from as
many samples in which the labels are drawn with the predicted probabilities. "p<.05 if
right" is the share of these samples that the test rejects. "ratio" is the power of the
default divided by the highest power of the other tests.

It takes about four minutes on one core.
"""

import time
import warnings

import _interval_cells as cells_of
import _study
import numpy as np
from _common import print_table, versions, write_csv
from _interval_cells import generators
from scipy.special import logit

from skcalib._pairs import check_pairs
from skcalib.metrics._bins import FOR_INTERVAL, bins_of
from skcalib.metrics._score_interval import distribution_of_bins, null_p_value

N_POOL = 100_000


# ---------------------------------------------------------------- tests


def p_values(y, q):
    """Return the p-values of the default interval and of T alone."""
    (pairs,) = check_pairs(y, q)
    bins = bins_of(pairs, FOR_INTERVAL)
    of_square = distribution_of_bins(bins).p_value(True)
    return null_p_value(bins, of_square), of_square


def others_of(y, q):
    """Return the statistics of other tests, large where calibration fails."""
    order = np.argsort(q, kind="stable")
    residual, variance = y - q, q * (1 - q)
    total, lean = max(variance.sum(), 1e-300), 1 - 2 * q
    path = np.r_[0, np.cumsum(residual[order])] / np.sqrt(total)
    z = logit(np.clip(q, 1e-12, 1 - 1e-12))
    z = z - variance @ z / total
    spread = max(variance @ z**2, 1e-300)
    tenths = np.array_split(order, 10)
    return {
        "Hosmer-Lemeshow": sum(
            residual[k].sum() ** 2 / max(q[k].sum() * (1 - q[k].mean()), 1e-9)
            for k in tenths
        ),
        "Cox": residual.sum() ** 2 / total + (residual @ z) ** 2 / spread,
        "Spiegelhalter": abs(residual @ lean)
        / np.sqrt(max(lean**2 @ variance, 1e-300)),
        "Kolmogorov-Smirnov": np.abs(path).max(),
        "Kuiper": path.max() - path.min(),
    }


def power(null, error):
    """Return the power in % of each column at size .05.

    Samples with the critical value are rejected with the probability that gives the
    size, since few values are possible in small samples.
    """
    critical = np.quantile(null, 0.95, axis=0, method="higher")
    above, equal = (null > critical).mean(axis=0), (null == critical).mean(axis=0)
    share = np.clip((0.05 - above) / equal, 0, 1)
    rejected = (error > critical) + share * (error == critical)
    return 100 * rejected.mean(axis=0)


# ---------------------------------------------------------------- models


def classification(model, n_train, seed, **options):
    """Return probabilities and labels of new rows for a classifier."""
    from sklearn.datasets import make_classification

    options = {"flip_y": 0.05, "class_sep": 0.8, "n_redundant": 3} | options
    X, y = make_classification(
        n_train + N_POOL, 10, n_informative=5, random_state=seed, **options
    )
    model.fit(X[:n_train], y[:n_train])
    return model.predict_proba(X[n_train:])[:, 1].astype(float), y[n_train:]


def texts(model, n_train, seed, n_words=600, length=30, burstiness=60):
    """Return probabilities and labels of new texts for a classifier.

    A text prefers words of its class and, in addition, words of its own.
    """
    rng = np.random.default_rng(seed)
    base = rng.dirichlet(np.full(n_words, 0.3))
    topics = rng.dirichlet(3000 * base + 1e-6, 2)
    y = rng.integers(0, 2, n_train + N_POOL // 5)
    chances = rng.standard_gamma(burstiness * topics[y] + 1e-9)
    chances /= chances.sum(axis=1, keepdims=True)
    X = rng.multinomial(5 + rng.poisson(length, y.size), chances)
    model.fit(X[:n_train], y[:n_train])
    return model.predict_proba(X[n_train:])[:, 1], y[n_train:]


def stated(chance, seed):
    """Return stated levels between .001 and .999 of one true frequency."""
    rng = np.random.default_rng(seed)
    law = cells_of.levels(cells_of.STATED, cells_of.STATED_WEIGHTS)
    q = 0.001 + 0.998 * law(rng, N_POOL) / 100
    return q, (rng.random(N_POOL) < chance).astype(int)


def models():
    """Return name, a function that makes probabilities and labels, and sizes."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB, MultinomialNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier

    def calibrated(method):
        return CalibratedClassifierCV(GaussianNB(), method=method, cv=5)

    network = MLPClassifier((30,), alpha=1e-3, max_iter=300, random_state=0)
    forest = RandomForestClassifier(100, min_samples_leaf=3, random_state=0)
    boosting = GradientBoostingClassifier(random_state=0)
    rare, rarer = {"weights": [0.998], "flip_y": 0}, {"weights": [0.999], "flip_y": 0}
    return (
        ("naive Bayes", lambda: classification(GaussianNB(), 500, 1), (150, 400)),
        (
            "naive Bayes, sigmoid",
            lambda: classification(calibrated("sigmoid"), 1000, 11),
            (300, 600),
        ),
        (
            "naive Bayes, isotonic",
            lambda: classification(calibrated("isotonic"), 500, 2),
            (150, 300),
        ),
        ("neural network", lambda: classification(network, 1000, 3), (200, 400)),
        ("boosting", lambda: classification(boosting, 400, 4), (60, 200)),
        ("forest", lambda: classification(forest, 400, 5), (300,)),
        (
            "nearest neighbours",
            lambda: classification(KNeighborsClassifier(15), 1000, 7),
            (100,),
        ),
        (
            "logistic regression",
            lambda: classification(LogisticRegression(), 300, 6),
            (1000, 3000),
        ),
        ("naive Bayes, text", lambda: texts(MultinomialNB(), 400, 12), (20, 40)),
        ("stated levels, all .75", lambda: stated(0.75, 13), (20, 30)),
        (
            "naive Bayes, 1 of 500",
            lambda: classification(GaussianNB(), 20_000, 8, **rare),
            (1500,),
        ),
        (
            "logistic regression, 1 of 1,000",
            lambda: classification(LogisticRegression(), 20_000, 9, **rarer),
            (10_000,),
        ),
        (
            "boosting, 1 of 500",
            lambda: classification(boosting, 20_000, 10, **rare),
            (300,),
        ),
    )


def compared(draw_right, draw_wrong, name, options):
    """Return the columns of the comparison on samples of two distributions."""
    samples = []
    for kind, draw in (("null", draw_right), ("error", draw_wrong)):
        drawn = [draw(rng) for rng in generators(f"{name}, {kind}", options.replicates)]
        values = []
        for y, q in drawn:
            p, of_square = p_values(y, q)
            others = others_of(y, q)
            values.append([-p, -of_square, *others.values()])
        samples.append(np.array(values))
    null, error = samples
    powers = power(null, error)
    row = {"replicates": options.replicates}
    row["p<.05 if right"] = f"{100 * (null[:, 0] > -0.05).mean():.1f}"
    names = ("default", "square alone", *others)
    row |= {name: f"{value:.1f}" for name, value in zip(names, powers, strict=True)}
    return row | {"ratio": f"{powers[0] / powers[1:].max():.2f}"}


def errors_rows(options):
    rows = []
    for name, law, frequency in cells_of.ERRORS:
        for n in (100, 500):
            right = cells_of.rows(name, law, cells_of.same, n)
            wrong = cells_of.rows(name, law, frequency, n)
            draws = [lambda rng, c=c: c.draw(rng)[:2] for c in (right, wrong)]
            rows.append({"error": name, "n": n})
            rows[-1] |= compared(*draws, f"{name}, {n}", options)
            print_table(rows[-1:])
    return rows


def models_rows(options):
    rows = []
    for name, make, sizes in models():
        pool_q, pool_y = make()
        for n in sizes:

            def wrong(rng, n=n, q=pool_q, y=pool_y):
                k = rng.integers(q.size, size=n)
                return y[k], q[k]

            def right(rng, wrong=wrong):
                _, q = wrong(rng)
                return (rng.random(q.size) < q).astype(int), q

            rows.append({"model": name, "n": n})
            rows[-1] |= compared(right, wrong, f"{name}, {n}", options)
            print_table(rows[-1:])
    return rows


def main():
    parser = _study.parser_of(__doc__)
    makers = {"errors": errors_rows, "models": models_rows}
    parser.add_argument("tables", nargs="*", help=f"some of {[*makers]}")
    parser.add_argument("--replicates", type=int, default=1000)
    options = parser.parse_args()
    # a neural network that has not converged is a natural error, too
    warnings.simplefilter("ignore")
    for table in options.tables or makers:
        start = time.perf_counter()
        rows = makers[table](options)
        note = f"shares in %; {time.perf_counter() - start:.0f} s; "
        note += versions("numpy", "scipy", "scikit-learn")
        name = "power" if table == "errors" else table
        write_csv(f"interval_{name}.csv", rows, note)


if __name__ == "__main__":
    main()
