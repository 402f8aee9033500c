"""The pieces of work of benchmarks/peers.py, in skcalib and in its peers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain
from typing import Any

import numpy as np

N_SAMPLES = 10_000


@dataclass(frozen=True)
class Way:
    """One way to do a piece of work.

    `make` takes the data and returns what is timed, a function without arguments; what
    it needs is imported in it, so that a missing package is an ImportError.
    """

    package: str
    make: Callable[[Any], Callable[[], Any]]
    differs: str = ""


def numeric(ours, theirs):
    """Return the largest difference of numbers."""
    return float(np.abs(np.asarray(ours) - np.asarray(theirs)).max())


@dataclass(frozen=True)
class Work:
    """A piece of work: what is drawn for each size n, and ways to do it.

    A peer whose result is None has nothing that could be compared.
    """

    name: str
    unit: str
    sizes: tuple[int, ...]
    draw: Callable[[int], Any]
    ours: Way
    peers: dict[str, Way]
    distance: Callable[[Any, Any], float] = field(default=numeric)


def silent(function):
    """Return a function that does the same and returns None."""

    def run():
        function()

    return run


# Calibration


def skewed(n):
    from speed import skewed_pairs

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


CURVE = "a curve without counts, from which no error follows"

CALIBRATION = [
    Work(
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

PSEUDOCOUNT = 0.1


def hmmlearn_functions(tagger, sentences):
    """Return the same model in hmmlearn, for words that are numbered already."""
    from hmmlearn.hmm import CategoricalHMM

    model = CategoricalHMM(
        n_components=tagger.classes_.size, implementation="scaling", init_params=""
    )
    model.startprob_ = np.exp(tagger.start_log_proba_)
    model.transmat_ = np.exp(tagger.transition_log_proba_)
    model.emissionprob_ = np.exp(tagger.emission_log_proba_)
    model.n_features = model.emissionprob_.shape[1]
    known = tagger.vocabulary_
    words = chain.from_iterable(sentences)
    numbers = np.array([[known.get(word, len(known))] for word in words])
    lengths = list(map(len, sentences))
    ours = np.concatenate(list(tagger.predict_proba(sentences)))
    difference = abs(ours - model.predict_proba(numbers, lengths)).max()
    print(f"hmmlearn: largest difference of a marginal {difference:.1e}")
    return {
        "hmmlearn, marginals": lambda: model.predict_proba(numbers, lengths),
        "hmmlearn, best path": lambda: model.decode(numbers, lengths),
    }


def nltk_fit(train):
    """Return training in nltk."""
    from nltk.probability import LidstoneProbDist
    from nltk.tag.hmm import HiddenMarkovModelTrainer

    tagged = [list(zip(*pair, strict=True)) for pair in zip(*train, strict=True)]

    def fit():
        return HiddenMarkovModelTrainer().train_supervised(
            tagged, estimator=lambda freq, bins: LidstoneProbDist(freq, 0.1, bins)
        )

    return fit


def nltk_ways(train, sentences):
    """Return training in nltk, and its passes and best paths of sentences."""
    fit = nltk_fit(train)
    model = fit()
    unlabelled = [[(word, None) for word in words] for words in sentences]

    def passes():
        for words in unlabelled:
            # its only way to marginals, without a public name
            model._forward_probability(words)
            model._backward_probability(words)

    def paths():
        return [model.best_path([word for word, _ in words]) for words in unlabelled]

    return {"nltk, training": fit, "nltk, marginals": passes, "nltk, best path": paths}


@cache
def english():
    from speed import load

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
    from speed import largest_difference

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
    from skcalib.sequence import HMMTagger

    return HMMTagger(PSEUDOCOUNT).fit(*english()[0])


def sentences(n):
    return english()[1][0][:n]


def our_hmm(data):
    return lambda: np.concatenate(list(hmm().predict_proba(data)))


def our_hmm_path(data):
    return lambda: list(hmm().predict(data))


def hmmlearn(data, answer):
    return hmmlearn_functions(hmm(), data)[f"hmmlearn, {answer}"]


def hmmlearn_path(data):
    decode = hmmlearn(data, "best path")

    def run():
        return [hmm().classes_[decode()[1]]]

    return run


@cache
def nltk_functions(n):
    return nltk_ways(english()[0], sentences(n))


def nltk(data, answer):
    return nltk_functions(len(data))[f"nltk, {answer}"]


def training_data(n):
    X, y = english()[0]
    return X[:n], y[:n]


def our_training(data):
    from skcalib.sequence import HMMTagger

    def run():
        HMMTagger(PSEUDOCOUNT).fit(*data)

    return run


def nltk_training(data):
    return silent(nltk_fit(data))


TEST_SIZES = (100, 500, 2077)

TAGGERS = [
    Work(
        "CRF: probabilities of tags",
        "sentences",
        TEST_SIZES,
        crf_data,
        Way("skcalib", our_crf),
        {"sklearn-crfsuite": Way("sklearn-crfsuite", crfsuite)},
        crf_distance,
    ),
    Work(
        "CRF: best tags",
        "sentences",
        TEST_SIZES,
        crf_data,
        Way("skcalib", our_crf_path),
        {"sklearn-crfsuite": Way("sklearn-crfsuite", crfsuite_path)},
        other_tags,
    ),
    Work(
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
    from speed import draw_scores

    return draw_scores([n])


def our_pairs(scores, **how):
    from skcalib.coref import SampledCorefPairs

    pairs = SampledCorefPairs(**how)
    return lambda: pairs.transform(scores)[0]


def component_pairs(scores):
    from speed import graphs

    upper = np.triu_indices(len(scores[0]), 1)
    return lambda: graphs(scores)[0][upper]


COREFERENCE = [
    Work(
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


def our_bootstrap(data, **how):
    from skcalib.significance import paired_bootstrap_test

    return lambda: paired_bootstrap_test(*data, random_state=0, **how).pvalue


def entities(n):
    from speed import entities

    return entities(n, np.random.default_rng(0))


def f1_gain(correct_a, guessed_a, correct_b, guessed_b, gold, axis=-1):
    a, x, b, y, g = (
        s.sum(axis=axis) for s in (correct_a, guessed_a, correct_b, guessed_b, gold)
    )
    return 2 * a / (x + g) - 2 * b / (y + g)


def scipy_f1(data):
    from scipy.stats import bootstrap

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
        f"bootstrap of BLEU, {N_BLEU:,} resamples",
        "sentences",
        (SMALL, MIDDLE),
        bleu_counts,
        Way(
            "skcalib",
            partial(
                our_bootstrap, statistic=bleu, method="monte_carlo", n_resamples=N_BLEU
            ),
        ),
        {
            "sacrebleu": Way(
                "sacrebleu", sacrebleu, "recentred at the mean absolute gain"
            )
        },
    ),
]


# Posteriors of neural models

N_TAGS = 9


def lengths_of(n, rng):
    return rng.integers(5, 41, n)


# Sequences


def sequence_scores(n):
    """Return scores of tags, of n sentences, and scores of transitions."""
    rng = np.random.default_rng(n)
    scores = [3 * rng.normal(size=(k, N_TAGS)) for k in lengths_of(n, rng)]
    return scores, rng.normal(size=(N_TAGS, N_TAGS))


def padded(scores):
    """Return the scores as one tensor, and which entries are words."""
    import torch

    tensors = [torch.from_numpy(rows) for rows in scores]
    emissions = torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True)
    lengths = torch.tensor([len(rows) for rows in scores])
    mask = torch.arange(emissions.shape[1]) < lengths[:, None]
    return emissions, lengths, mask


def our_chain_marginals(data):
    from skcalib.posteriors import LinearChainPosterior

    return lambda: LinearChainPosterior(*data).token_marginals()


def torch_struct_chain(data):
    import torch
    import torch_struct

    torch.set_num_threads(1)
    emissions, lengths, mask = padded(data[0])
    transitions = torch.from_numpy(data[1].T.copy())

    def run():
        # Entry [t, j, i]: tag i at t, tag j at t + 1.
        scores = transitions + emissions[:, 1:, :, None]
        scores[:, 0] += emissions[:, 0, None, :]
        pairs = torch_struct.LinearChainCRF(scores, lengths).marginals.detach()
        first = pairs[:, 0].sum(dim=1, keepdim=True)
        return torch.cat([first, pairs.sum(dim=3)], dim=1).numpy()[mask.numpy()]

    return run


def chain_distance(ours, theirs):
    return float(np.abs(np.concatenate(ours) - theirs).max())


def our_chain_path(data):
    from skcalib.posteriors import LinearChainPosterior

    return lambda: LinearChainPosterior(*data).viterbi()


def pytorch_crf_path(data):
    import torch
    from torchcrf import CRF

    torch.set_num_threads(1)
    emissions, _, mask = padded(data[0])
    crf = CRF(N_TAGS, batch_first=True).double()
    with torch.no_grad():
        crf.transitions.copy_(torch.from_numpy(data[1]))
        crf.start_transitions.zero_()
        crf.end_transitions.zero_()

    def run():
        with torch.no_grad():
            return crf.decode(emissions, mask)

    return run


def share_of_other_tags(ours, theirs):
    return float((np.concatenate(ours) != np.concatenate(theirs)).mean())


# Trees


def arc_scores(n):
    """Return scores of arcs of n sentences, as `TreePosterior` takes them."""
    rng = np.random.default_rng(n)
    return [2 * rng.normal(size=(k, k + 1)) for k in lengths_of(n, rng)]


def our_heads(scores):
    from skcalib.experimental import TreePosterior

    return lambda: TreePosterior(scores).arc_marginals()


def torch_struct_heads(scores):
    import torch
    import torch_struct

    torch.set_num_threads(1)
    lengths = np.array([len(rows) for rows in scores])
    batches = []
    for k in np.unique(lengths):
        rows = np.flatnonzero(lengths == k)
        batch = np.stack([scores[row] for row in rows])
        # Theirs: heads in rows, and the root on the diagonal.
        theirs = batch[:, :, 1:].transpose(0, 2, 1).copy()
        theirs[:, np.arange(k), np.arange(k)] = batch[:, :, 0]
        batches.append((rows, torch.from_numpy(theirs)))

    def run():
        found = [None] * len(scores)
        for rows, batch in batches:
            marginals = torch_struct.NonProjectiveDependencyCRF(batch).marginals
            for row, heads in zip(rows, marginals.numpy(), strict=True):
                found[row] = heads
        return found

    return run


def tree_distance(ours, theirs):
    """Return the largest difference of probabilities of heads, the root among them."""
    worst = 0.0
    for mine, heads in zip(ours, theirs, strict=True):
        root = np.diag(heads).copy()
        others = heads.T.copy()
        np.fill_diagonal(others, 0)
        both = np.column_stack([root, others])
        worst = max(worst, float(np.abs(mine - both).max()))
    return worst


POSTERIOR_SIZES = (30, 300, 3000)

POSTERIORS = [
    Work(
        "scores of a neural CRF: probabilities of tags",
        "sentences",
        POSTERIOR_SIZES,
        sequence_scores,
        Way("skcalib", our_chain_marginals),
        {"torch-struct": Way("torch-struct", torch_struct_chain, "by gradients")},
        chain_distance,
    ),
    Work(
        "scores of a neural CRF: best tags",
        "sentences",
        POSTERIOR_SIZES,
        sequence_scores,
        Way("skcalib", our_chain_path),
        {"pytorch-crf": Way("pytorch-crf", pytorch_crf_path)},
        share_of_other_tags,
    ),
    Work(
        "scores of a parser: probabilities of heads",
        "sentences",
        POSTERIOR_SIZES,
        arc_scores,
        Way("skcalib", our_heads),
        {
            "torch-struct": Way(
                "torch-struct",
                torch_struct_heads,
                "adds 1e-5 to the weight exp(score) of each arc between words",
            )
        },
        tree_distance,
    ),
]


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


# Clusterings

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
    from skcalib.significance import compare_systems

    a, b, groups = data
    return lambda: compare_systems({"a": a, "b": b}, groups=groups).pvalue[0]


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
    from skcalib.significance import compare_systems

    return lambda: compare_systems({"a": data[0], "b": data[1]}).pvalue[0]


def statsmodels_mcnemar(data):
    from statsmodels.stats.contingency_tables import mcnemar

    a, b = (scores == 1 for scores in data[:2])

    def run():
        table = [[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]]
        return mcnemar(table, exact=True).pvalue

    return run


MANY_SIZES = (1000, 20_000, 200_000)
SECOND_MOMENTS = "a normal interval, which needs many labels"

EVALUATION = [
    Work(
        "F1 of entities",
        "sentences",
        (100, 2000, 20_000),
        entity_tags,
        Way("skcalib", our_entity_f1),
        {"seqeval": Way("seqeval", seqeval_f1)},
    ),
    Work(
        "CoNLL F1 of coreference",
        "documents",
        (10, 100, 1000),
        clusterings,
        Way("skcalib", our_conll),
        {"scorch": Way("scorch", scorch_conll)},
        conll_distance,
    ),
    Work(
        f"prevalence from {N_LABELS} labels and a model",
        "documents",
        MANY_SIZES,
        some_labels,
        Way("skcalib", our_prevalence),
        {"ppi-python": Way("ppi-python", ppi_mean, SECOND_MOMENTS)},
    ),
    Work(
        f"accuracy from {N_LABELS} labels and a judge",
        "answers",
        MANY_SIZES,
        some_labels,
        Way("skcalib", our_judged),
        {"ppi-python": Way("ppi-python", ppi_mean, SECOND_MOMENTS)},
    ),
    Work(
        "two systems on independent questions",
        "questions",
        MANY_SIZES,
        scores_in_groups,
        Way("skcalib", our_mcnemar_interval, "with intervals"),
        {
            "statsmodels": Way(
                "statsmodels", statsmodels_mcnemar, "no interval; without mid-p"
            )
        },
    ),
    Work(
        "two systems on questions in groups",
        "questions",
        MANY_SIZES,
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
