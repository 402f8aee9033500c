"""The pieces of work of benchmarks/peers.py, in skcalib and in its peers."""

from functools import cache, partial
from itertools import chain

import numpy as np
from _work import Way, Work, silent

N_SAMPLES = 10_000


# Calibration


def skewed(n):
    from speed_calibration import skewed_pairs

    return skewed_pairs(n)


def n_bins_of(q):
    """Return the number of bins of skcalib's automatic bin size."""
    return q.size // round(q.size**0.6)


def our_error(data):
    from skcalib.metrics import calibration_error

    return lambda: calibration_error(*data)


def sklearn_curve(data, strategy="quantile", n_bins=None):
    from sklearn.calibration import calibration_curve

    y, q = data
    n_bins = n_bins or n_bins_of(q)
    return silent(lambda: calibration_curve(y, q, n_bins=n_bins, strategy=strategy))


def uc_error(data):
    from calibration import lower_bound_scaling_ce

    y, q = data
    return lambda: lower_bound_scaling_ce(q, y, debias=False, num_bins=n_bins_of(q))


def netcal_by_count(data):
    from netcal.metrics import ECE

    y, q = data
    return silent(lambda: ECE(n_bins_of(q), equal_intervals=False).measure(q, y))


def relplot_smooth(data):
    import relplot

    y, q = data
    return silent(lambda: relplot.smECE(q, y))


N_WIDE = 15


def our_wide(data):
    from skcalib.metrics import calibration_error

    wide = {"n_bins": N_WIDE, "strategy": "uniform", "norm": "l1"}
    return lambda: calibration_error(*data, **wide)


def netcal_wide(data):
    from netcal.metrics import ECE

    y, q = data
    return lambda: ECE(N_WIDE).measure(q, y)


def torchmetrics_wide(data):
    import torch
    from torchmetrics.functional.classification import binary_calibration_error

    torch.set_num_threads(1)
    y, q = map(torch.from_numpy, data)
    return lambda: float(binary_calibration_error(q, y, n_bins=N_WIDE, norm="l1"))


def our_interval(data):
    from skcalib.metrics import calibration_error_interval

    def run():
        calibration_error_interval(*data)

    return run


def published_interval(data):
    from skcalib.metrics import calibration_error_interval

    def run():
        calibration_error_interval(
            *data, method="simulation", n_samples=N_SAMPLES, random_state=0
        )

    return run


def uc_interval(data):
    from calibration import get_calibration_error_uncertainties

    y, q = data
    return silent(lambda: get_calibration_error_uncertainties(q, y))


def tags(n):
    from speed_calibration import one_vs_rest, tag_matrix

    y, proba = tag_matrix(n)
    return y, proba, one_vs_rest(y, proba)


def our_pooled(data):
    from skcalib.metrics import calibration_error

    y, proba, _ = data
    labels = np.arange(proba.shape[1])
    return lambda: calibration_error(y, proba, labels=labels)


def sklearn_pooled(data):
    return sklearn_curve(data[2])


def uc_pooled(data):
    from calibration import lower_bound_scaling_ce

    y, proba, _ = data
    return silent(
        lambda: lower_bound_scaling_ce(
            proba, y, debias=False, num_bins=n_bins_of(proba) // proba.shape[1] or 1
        )
    )


CURVE = "a curve without counts, from which no error follows"

CALIBRATION = [
    Work(
        "calibration",
        "error, bins of equal counts",
        "pairs",
        (10_000, 100_000, 1_000_000),
        skewed,
        Way("skcalib", our_error),
        {
            "scikit-learn": Way("scikit-learn", sklearn_curve, CURVE),
            "relplot": Way("relplot", relplot_smooth, "kernel instead of bins"),
            "netcal": Way(
                "netcal", netcal_by_count, "mean instead of root mean square"
            ),
            "uncertainty-calibration": Way(
                "uncertainty-calibration", uc_error, "ties are not shared among bins"
            ),
        },
    ),
    Work(
        "calibration",
        f"error, {N_WIDE} equal-width bins",
        "pairs",
        (10_000, 100_000, 1_000_000),
        skewed,
        Way("skcalib", our_wide),
        {
            "scikit-learn": Way(
                "scikit-learn",
                partial(sklearn_curve, strategy="uniform", n_bins=N_WIDE),
                CURVE,
            ),
            "netcal": Way("netcal", netcal_wide),
            "torchmetrics": Way("torchmetrics", torchmetrics_wide),
        },
    ),
    Work(
        "calibration",
        "error of 47 tags, pooled",
        "tokens",
        (1000, 6000, 33_306),
        tags,
        Way("skcalib", our_pooled),
        {
            "scikit-learn": Way(
                "scikit-learn", sklearn_pooled, CURVE + "; pairs made before"
            ),
            "uncertainty-calibration": Way(
                "uncertainty-calibration", uc_pooled, "each tag in bins of its own"
            ),
        },
    ),
    Work(
        "calibration",
        "95% interval for the error",
        "pairs",
        (1000, 10_000, 100_000),
        skewed,
        Way("skcalib", our_interval),
        {
            "Algorithm 2": Way(
                "skcalib", published_interval, f"published, {N_SAMPLES:,} draws"
            ),
            "uncertainty-calibration": Way(
                "uncertainty-calibration",
                uc_interval,
                "percentiles of 100 resamples, 15 bins",
            ),
        },
    ),
]


# Taggers


@cache
def english():
    from speed_tagging import load

    return load()


@cache
def crf_and_items():
    """Return a CRF with few iterations, and the test set as dicts."""
    from skcalib.sequence import CRFTagger, TokenFeatures

    (X, y), (test, _) = english()
    dicts = TokenFeatures("advanced")
    tagger = CRFTagger(c2=0.1, max_iterations=10)
    tagger.fit(dicts.transform(X[:3000]), y[:3000])
    return tagger, list(dicts.transform(test))


def crf_data(n):
    tagger, items = crf_and_items()
    return tagger, items[:n]


def our_crf(data):
    tagger, items = data
    return lambda: list(tagger.predict_proba(items))


def crfsuite(data):
    tagger, items = data
    return lambda: tagger.crf_.predict_marginals(items)


def crf_distance(ours, theirs):
    from speed_tagging import largest_difference

    return largest_difference(ours, theirs, crf_and_items()[0].classes_)


def our_crf_path(data):
    tagger, items = data
    return lambda: list(tagger.predict(items))


def crfsuite_path(data):
    tagger, items = data
    return lambda: tagger.crf_.predict(items)


def other_tags(ours, theirs):
    """Return the share of tokens with another tag."""
    ours, theirs = (np.array(list(chain.from_iterable(x))) for x in (ours, theirs))
    return float((ours != theirs).mean())


@cache
def hmm():
    from speed_tagging import PSEUDOCOUNT

    from skcalib.sequence import HMMTagger

    return HMMTagger(PSEUDOCOUNT).fit(*english()[0])


def sentences(n):
    return english()[1][0][:n]


def our_hmm(data):
    return lambda: np.concatenate(list(hmm().predict_proba(data)))


def our_hmm_path(data):
    return lambda: list(hmm().predict(data))


def hmmlearn(data, answer):
    from speed_tagging import hmmlearn_functions

    return hmmlearn_functions(hmm(), data)[f"hmmlearn, {answer}"]


def hmmlearn_path(data):
    decode = hmmlearn(data, "best path")

    def run():
        return [hmm().classes_[decode()[1]]]

    return run


@cache
def nltk_functions(n):
    from speed_tagging import nltk_functions

    return nltk_functions(english()[0], sentences(n), n)


def nltk(data, answer):
    return nltk_functions(len(data))[f"nltk, {answer}"]


def training_data(n):
    X, y = english()[0]
    return X[:n], y[:n]


def our_training(data):
    from speed_tagging import PSEUDOCOUNT

    from skcalib.sequence import HMMTagger

    def run():
        HMMTagger(PSEUDOCOUNT).fit(*data)

    return run


def nltk_training(data):
    from speed_tagging import nltk_training

    return silent(nltk_training(data))


TEST_SIZES = (100, 500, 2077)

TAGGERS = [
    Work(
        "taggers",
        "CRF: probabilities of tags",
        "sentences",
        TEST_SIZES,
        crf_data,
        Way("skcalib", our_crf),
        {"sklearn-crfsuite": Way("sklearn-crfsuite", crfsuite)},
        crf_distance,
    ),
    Work(
        "taggers",
        "CRF: best tags",
        "sentences",
        TEST_SIZES,
        crf_data,
        Way("skcalib", our_crf_path),
        {"sklearn-crfsuite": Way("sklearn-crfsuite", crfsuite_path)},
        other_tags,
    ),
    Work(
        "taggers",
        "HMM: probabilities of tags",
        "sentences",
        TEST_SIZES,
        sentences,
        Way("skcalib", our_hmm),
        {
            "hmmlearn": Way(
                "hmmlearn", partial(hmmlearn, answer="marginals"), "numbered words"
            ),
            "nltk": Way(
                "nltk",
                partial(nltk, answer="marginals"),
                "its forward and backward passes, which have no public name",
            ),
        },
    ),
    Work(
        "taggers",
        "HMM: best tags",
        "sentences",
        TEST_SIZES,
        sentences,
        Way("skcalib", our_hmm_path),
        {
            "hmmlearn": Way("hmmlearn", hmmlearn_path, "numbered words"),
            "nltk": Way("nltk", partial(nltk, answer="best path")),
        },
        other_tags,
    ),
    Work(
        "taggers",
        "HMM: training",
        "sentences",
        (500, 2500, 12_500),
        training_data,
        Way("skcalib", our_training),
        {"nltk": Way("nltk", nltk_training, "probabilities are made when asked for")},
    ),
]


# Coreference


def coref_scores(n):
    from coref_speed import draw_scores

    return draw_scores([n])


def our_pairs(scores, **how):
    from skcalib.coref import SampledCorefPairs

    pairs = SampledCorefPairs(**how)
    return lambda: pairs.transform(scores)[0]


def component_pairs(scores):
    from coref_speed import graphs

    upper = np.triu_indices(len(scores[0]), 1)
    return lambda: graphs(scores)[0][upper]


COREFERENCE = [
    Work(
        "coreference",
        "probabilities of all pairs",
        "mentions",
        (100, 300, 1000),
        coref_scores,
        Way("skcalib", partial(our_pairs, method="exact")),
        {
            "1000 samples": Way(
                "skcalib",
                partial(our_pairs, n_samples=1000, random_state=0),
                "what the draws are off by",
            ),
            "1000 graphs": Way(
                "scipy",
                component_pairs,
                "connected components of each draw, as published",
            ),
        },
    )
]


# Significance


def accuracies(n):
    from speed_significance import accuracies

    return accuracies(n, np.random.default_rng(n))[:2]


def our_bootstrap(data, **how):
    from skcalib.significance import paired_bootstrap_test

    return lambda: paired_bootstrap_test(*data, random_state=0, **how).pvalue


def scipy_bootstrap(data):
    from scipy.stats import bootstrap

    gain = (data[0] - data[1]).astype(float)

    def run():
        bootstrap((gain,), np.mean, n_resamples=N_SAMPLES, batch=100, method="basic")

    return run


def mlxtend_bootstrap(data):
    from mlxtend.evaluate import bootstrap

    gain = (data[0] - data[1]).astype(float)
    return silent(lambda: bootstrap(gain, np.mean, num_rounds=N_SAMPLES, seed=0))


def our_swaps(data):
    from skcalib.significance import permutation_test

    return lambda: permutation_test(*data).pvalue


def mean_gain(a, b, axis=-1):
    return (a - b).mean(axis=axis)


def scipy_swaps(data):
    from scipy.stats import permutation_test

    settings = {"permutation_type": "samples", "n_resamples": N_SAMPLES}
    settings |= {"vectorized": True, "batch": 100, "rng": 0}
    a, b = (x.astype(float) for x in data)
    return lambda: permutation_test((a, b), mean_gain, **settings).pvalue


def mlxtend_swaps(data):
    from mlxtend.evaluate import permutation_test

    settings = {"method": "approximate", "num_rounds": N_SAMPLES, "seed": 0}
    return lambda: permutation_test(*data, paired=True, **settings)


def our_mcnemar(data):
    from skcalib.significance import mcnemar_test

    return lambda: mcnemar_test(*data).pvalue


def mlxtend_mcnemar(data):
    from mlxtend.evaluate import mcnemar, mcnemar_table

    right = np.ones_like(data[0])
    return lambda: mcnemar(mcnemar_table(right, *data), exact=True)[1]


def entities(n):
    from speed_significance import entities

    return entities(n, np.random.default_rng(0))


def scipy_f1(data):
    from scipy.stats import bootstrap
    from speed_significance import f1_gain

    (a, x, gold), (b, y, _) = (stats.astype(float).T for stats in data)
    settings = {"n_resamples": N_SAMPLES, "paired": True, "batch": 100}

    def run():
        bootstrap((a, x, b, y, gold), f1_gain, method="basic", **settings)

    return run


N_BLEU = 1000


def bleu_counts(n):
    """Return for two systems what BLEU sums over sentences.

    Columns: lengths of the system and of the reference, 1- to 4-grams that match, and
    1- to 4-grams.
    """
    rng = np.random.default_rng(0)
    reference = rng.integers(8, 40, n)
    systems = []
    for chance in (0.62, 0.61):
        length = np.maximum(reference + rng.integers(-2, 3, n), 4)
        total = length[:, np.newaxis] - np.arange(4)
        correct = rng.binomial(total, chance ** np.arange(1, 5))
        systems.append(np.column_stack([length, reference, correct, total]))
    return systems


def bleu(sums):
    sums = np.asarray(sums, dtype=float)
    precision = sums[..., 2:6] / sums[..., 6:]
    brevity = np.minimum(1 - sums[..., 1] / sums[..., 0], 0)
    return 100 * np.exp(brevity + np.log(precision).mean(axis=-1))


def sacrebleu(data):
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    class Counted(BLEU):
        """Takes the counts instead of sentences."""

        def _extract_corpus_statistics(self, hypotheses, references):
            return hypotheses

    named = [(name, stats.tolist()) for name, stats in zip("ab", data, strict=True)]
    metric = Counted()
    metric.num_refs = 1
    test = PairedTest(named, {"BLEU": metric}, None, "bs", N_BLEU)
    return lambda: test()[1]["BLEU"][1].p_value


SMALL, MIDDLE, LARGE = 100, 2000, 20_000

SIGNIFICANCE = [
    Work(
        "significance",
        "bootstrap p-value of accuracy",
        "items",
        (SMALL, MIDDLE, LARGE),
        accuracies,
        Way("skcalib", our_bootstrap, "exact"),
        {
            "scipy": Way(
                "scipy", scipy_bootstrap, f"interval, {N_SAMPLES:,} resamples"
            ),
            "mlxtend": Way(
                "mlxtend", mlxtend_bootstrap, f"interval, {N_SAMPLES:,} resamples"
            ),
        },
    ),
    Work(
        "significance",
        f"bootstrap of F1, {N_SAMPLES:,} resamples",
        "sentences",
        (SMALL, MIDDLE, LARGE),
        entities,
        Way(
            "skcalib",
            partial(
                our_bootstrap,
                statistic="f1",
                method="monte_carlo",
                n_resamples=N_SAMPLES,
            ),
        ),
        {"scipy": Way("scipy", scipy_f1, "interval, no p-value")},
    ),
    Work(
        "significance",
        f"bootstrap of BLEU, {N_BLEU:,} resamples",
        "sentences",
        (SMALL, MIDDLE),
        bleu_counts,
        Way(
            "skcalib",
            partial(
                our_bootstrap,
                statistic=bleu,
                method="monte_carlo",
                n_resamples=N_BLEU,
            ),
        ),
        {
            "sacrebleu": Way(
                "sacrebleu", sacrebleu, "recentred at the mean absolute gain"
            )
        },
    ),
    Work(
        "significance",
        "swap test of accuracy",
        "items",
        (SMALL, MIDDLE, LARGE),
        accuracies,
        Way("skcalib", our_swaps, "exact"),
        {
            "scipy": Way("scipy", scipy_swaps, f"{N_SAMPLES:,} draws"),
            "mlxtend": Way("mlxtend", mlxtend_swaps, f"{N_SAMPLES:,} draws"),
        },
    ),
    Work(
        "significance",
        "McNemar's exact test",
        "items",
        (SMALL, MIDDLE, LARGE),
        accuracies,
        Way("skcalib", our_mcnemar),
        {"mlxtend": Way("mlxtend", mlxtend_mcnemar)},
    ),
]
