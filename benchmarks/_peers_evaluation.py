"""The pieces of work of benchmarks/peers.py on scores, counts and their intervals."""

import numpy as np
from _work import Way, Work

# Entities

TYPES = np.array(["PER", "LOC", "ORG", "MISC"])
N_TOKENS = 25


def entity_tags(n):
    """Return BIO tags of n sentences, and a second version with some errors."""
    rng = np.random.default_rng(n)
    gold = [bio(rng) for _ in range(n)]
    wrong = [bio(rng) if rng.random() < 0.2 else tags for tags in gold]
    return gold, wrong


def bio(rng):
    tags = []
    while len(tags) < N_TOKENS:
        tags += ["O"] * int(rng.integers(1, 8))
        kind = rng.choice(TYPES)
        tags += [f"B-{kind}"] + [f"I-{kind}"] * int(rng.integers(0, 3))
    return tags[:N_TOKENS]


def our_entity_f1(data):
    from skcalib.metrics import span_statistics

    def run():
        n_correct, n_predicted, n_true = span_statistics(*data).sum(axis=0)
        return 2 * n_correct / (n_predicted + n_true)

    return run


def seqeval_f1(data):
    from seqeval.metrics import f1_score

    return lambda: f1_score(*data)


# Coreference

N_MENTIONS = 60


def clusterings(n):
    """Return clusterings of n documents, as true labels and as predicted ones."""
    rng = np.random.default_rng(n)
    true = rng.integers(0, 20, (n, N_MENTIONS))
    changed = rng.random(true.shape) < 0.3
    return true, np.where(changed, rng.integers(0, 20, true.shape), true)


def our_conll(data):
    from skcalib.coref import coref_statistics

    return lambda: coref_statistics(*data)


def as_sets(clustering):
    return [set(np.flatnonzero(clustering == k)) for k in np.unique(clustering)]


def scorch_conll(data):
    from scorch.scores import conll2012

    pairs = [tuple(map(as_sets, pair)) for pair in zip(*data, strict=True)]
    return lambda: [conll2012(*pair) for pair in pairs]


def conll_distance(ours, theirs):
    """Return the largest difference of a document's CoNLL F1."""
    from skcalib.coref import coref_f1

    return max(
        abs(float(coref_f1(row)) - other)
        for row, other in zip(ours, theirs, strict=True)
    )


# Labels beside the model's answers

N_LABELS = 200


def some_labels(n):
    rng = np.random.default_rng(n)
    f = rng.beta(1, 3, n)
    y = (rng.random(n) < f**1.3).astype(float)
    labelled = np.zeros(n, dtype=bool)
    labelled[rng.choice(n, N_LABELS, replace=False)] = True
    return f, y, labelled


def our_prevalence(data):
    from skcalib.counts import corrected_count

    f, y, labelled = data
    y = np.where(labelled, y, np.nan)

    def run():
        result = corrected_count(y, f, estimand="mean")
        return result.low, result.high

    return run


def our_judged(data):
    from skcalib.rates import judged_accuracy

    f, y, labelled = data
    y = np.where(labelled, y, np.nan)

    def run():
        result = judged_accuracy(f, y)
        return result.low, result.high

    return run


def ppi_mean(data):
    from ppi_py import ppi_mean_ci

    f, y, labelled = data
    given = y[labelled], f[labelled], f[~labelled]

    def run():
        low, high = ppi_mean_ci(*given, alpha=0.05)
        return float(low[0]), float(high[0])

    return run


# Two systems

GROUP = 5


def scores_in_groups(n):
    """Return scores of two systems on n questions, five about each passage."""
    rng = np.random.default_rng(n)
    groups = np.repeat(np.arange(n // GROUP), GROUP)
    level = rng.normal(0.6, 0.15, n // GROUP)[groups]
    return *(
        (rng.random(n) < level + gain).astype(float) for gain in (0, 0.003)
    ), groups


def our_grouped_test(data):
    from skcalib.significance import compare_scores

    a, b, groups = data
    return lambda: compare_scores({"a": a, "b": b}, groups=groups).pvalue[0]


def statsmodels_grouped_test(data):
    from statsmodels.api import OLS

    a, b, groups = data
    ones = np.ones(len(a))

    def run():
        fit = OLS(b - a, ones).fit(
            cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
        )
        return fit.pvalues[0]

    return run


def our_mcnemar_interval(data):
    from skcalib.significance import compare_scores

    return lambda: compare_scores({"a": data[0], "b": data[1]}).pvalue[0]


def statsmodels_mcnemar(data):
    from statsmodels.stats.contingency_tables import mcnemar

    a, b = (scores == 1 for scores in data[:2])

    def run():
        table = [[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]]
        return mcnemar(table, exact=True).pvalue

    return run


SIZES = (1000, 20_000, 200_000)
SECOND_MOMENTS = "a normal interval, which needs many labels"

EVALUATION = [
    Work(
        "evaluation",
        "F1 of entities",
        "sentences",
        (100, 2000, 20_000),
        entity_tags,
        Way("skcalib", our_entity_f1),
        {"seqeval": Way("seqeval", seqeval_f1)},
    ),
    Work(
        "evaluation",
        "CoNLL F1 of coreference",
        "documents",
        (10, 100, 1000),
        clusterings,
        Way("skcalib", our_conll),
        {"scorch": Way("scorch", scorch_conll)},
        conll_distance,
    ),
    Work(
        "evaluation",
        f"prevalence from {N_LABELS} labels and a model",
        "documents",
        SIZES,
        some_labels,
        Way("skcalib", our_prevalence),
        {"ppi-python": Way("ppi-python", ppi_mean, SECOND_MOMENTS)},
    ),
    Work(
        "evaluation",
        f"accuracy from {N_LABELS} labels and a judge",
        "answers",
        SIZES,
        some_labels,
        Way("skcalib", our_judged),
        {"ppi-python": Way("ppi-python", ppi_mean, SECOND_MOMENTS)},
    ),
    Work(
        "evaluation",
        "two systems on independent questions",
        "questions",
        SIZES,
        scores_in_groups,
        Way("skcalib", our_mcnemar_interval, "with intervals"),
        {
            "statsmodels": Way(
                "statsmodels", statsmodels_mcnemar, "no interval; without mid-p"
            )
        },
    ),
    Work(
        "evaluation",
        "two systems on questions in groups",
        "questions",
        SIZES,
        scores_in_groups,
        Way("skcalib", our_grouped_test, "with intervals"),
        {
            "statsmodels": Way(
                "statsmodels",
                statsmodels_grouped_test,
                "t test with standard errors of clusters",
            )
        },
    ),
]
