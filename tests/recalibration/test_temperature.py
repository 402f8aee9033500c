"""One temperature: where it is, what it leaves alone, what it refuses."""

import copy
import itertools
import os
import pickle
import re
import warnings

import numpy as np
import pytest
import sklearn
from cases import case
from estimators import check_without_data
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax, logsumexp
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from skcalib.datasets import fetch_corpus, make_tagged_sentences
from skcalib.metrics import calibration_error
from skcalib.posteriors import LinearChainPosterior
from skcalib.queries import TagQuery
from skcalib.recalibration import TemperatureScaling
from skcalib.scorers import calibration_error_scorer, log_likelihood_scorer
from skcalib.sequence import CRFTagger, HMMTagger, TokenFeatures

pytestmark = pytest.mark.usefixtures("without_prior")

X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], [], ["dogs", "bark"], ["it"]]
Y = [["D", "N", "V"], ["D", "N", "V"], [], ["N", "V"], ["N"]]
OTHER_X = [["the", "cat", "barks"], ["it", "barks"], [], ["dogs"]]
OTHER_Y = [["D", "N", "V"], ["N", "N"], [], ["V"]]
NEW = [["the", "mouse"], [], ["cat"], ["a", "dog", "of", "war"]]

TAGGERS = [
    HMMTagger(0.5),
    CRFTagger(c2=0.1),
    make_pipeline(TokenFeatures("basic"), CRFTagger(c2=0.1)),
]


def name_of(estimator):
    steps = getattr(estimator, "steps", [("", estimator)])
    return "-".join(type(step).__name__ for _, step in steps)


each_tagger = pytest.mark.parametrize("tagger", TAGGERS, ids=name_of)


def prefit(tagger, **settings):
    model = TemperatureScaling(clone(tagger).fit(X, Y), cv="prefit", **settings)
    return model.fit(OTHER_X, OTHER_Y)


@pytest.fixture(scope="module")
def corpus():
    return make_tagged_sentences(120, mean_length=6, n_words=80, random_state=0)


# An estimator that is no tagger: X are log scores, y the index of what is true.


class Choices:
    """A posterior with nothing but what is needed, in plain arrays."""

    def __init__(self, scores):
        self.scores = scores

    def __len__(self):
        return len(self.scores)

    def log_proba(self, structures):
        chosen = [log_softmax(s)[k] for s, k in zip(self.scores, structures)]  # noqa: B905
        return np.array(chosen)

    def tempered(self, temperature):
        return Choices([s / temperature for s in self.scores])


class Chooser(BaseEstimator):
    def fit(self, X, y):
        self.n_seen_ = len(y)
        return self

    def posterior(self, X):
        return Choices([np.asarray(s, dtype=float) for s in X])

    def transform(self, X):
        return X


def choose(odds, right):
    """Return two choices with some log odds of the first, which is right or not."""
    return [[float(s), 0.0] for s in odds], [0 if r else 1 for r in right]


# Where it is


def test_three_of_four_right_at_log_odds_two_has_a_closed_form():
    """Log odds of 3 : 1 are log 3, so 2 / T = log 3."""
    model = TemperatureScaling(Chooser(), cv=2).fit(*choose([2] * 4, [1, 1, 0, 1]))
    assert model.temperature_ == pytest.approx(2 / np.log(3), rel=1e-5)
    before = (3 * np.log(1 / (1 + np.exp(-2))) + np.log(1 / (1 + np.exp(2)))) / 4
    after = (3 * np.log(3 / 4) + np.log(1 / 4)) / 4
    assert model.log_likelihood_ == pytest.approx((before, after))


@given(
    n_right=st.integers(6, 9), odds=st.floats(0.1, 5), negative=st.booleans()
)  # more right than wrong, or the best T is none
def test_the_closed_form_holds_for_any_odds(n_right, odds, negative):
    sign = -1 if negative else 1
    data = choose([sign * odds] * 10, ([1] * n_right + [0] * (10 - n_right))[::sign])
    expected = odds / np.log(n_right / (10 - n_right))
    if negative:
        data = data[0], [1 - k for k in data[1]]
    model = TemperatureScaling(Chooser(), cv=2).fit(*data)
    assert model.temperature_ == pytest.approx(expected, rel=1e-4)


def tagging_scores(posterior, i, n):
    """Return the score of each tagging of sentence i, from the scores themselves."""
    start = int(posterior.lengths[:i].sum())
    local = posterior.log_emission[start : start + n]
    paths = list(itertools.product(range(posterior.n_tags), repeat=n))
    scores = [
        sum(local[t, k] for t, k in enumerate(path))
        + sum(posterior.log_transition[a, b] for a, b in itertools.pairwise(path))
        + (posterior.log_start[path[0]] + posterior.log_end[path[-1]] if path else 0)
        for path in paths
    ]
    return paths, np.array(scores)


def enumerated_log_likelihood(model, X, y, temperatures):
    """Sum over sentences at each temperature, by enumerating all taggings."""
    posterior, classes = model.posterior(X), model.classes_.tolist()
    total = np.zeros(len(temperatures))
    for i, tags in enumerate(y):
        paths, scores = tagging_scores(posterior, i, len(tags))
        true = paths.index(tuple(classes.index(tag) for tag in tags))
        for j, t in enumerate(temperatures):
            total[j] += scores[true] / t - logsumexp(scores / t)
    return total


@pytest.mark.parametrize("tagger", TAGGERS[:2], ids=name_of)
def test_the_temperature_is_the_best_of_a_grid(tagger):
    model = prefit(tagger)
    grid = np.exp(np.linspace(-1.5, 1.5, 601))
    values = enumerated_log_likelihood(model.estimator_, OTHER_X, OTHER_Y, grid)
    best = grid[values.argmax()]
    assert grid[0] < best < grid[-1]
    assert model.temperature_ == pytest.approx(best, rel=0.005)
    at_one = enumerated_log_likelihood(model.estimator_, OTHER_X, OTHER_Y, [1])[0]
    assert model.log_likelihood_[0] == pytest.approx(at_one / 4)
    assert model.log_likelihood_[1] == pytest.approx(values.max() / 4, abs=1e-5)


def test_folds_are_pooled_and_the_estimator_refitted(corpus):
    X, y = corpus
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    model = TemperatureScaling(HMMTagger(0.3), cv=folds).fit(X, y)

    held_out = []
    for train, test in folds:
        part = HMMTagger(0.3).fit([X[i] for i in train], [y[i] for i in train])
        place = {tag: k for k, tag in enumerate(part.classes_.tolist())}
        paths = [[place[tag] for tag in y[i]] for i in test]
        held_out.append((part.posterior([X[i] for i in test]), paths))

    def log_likelihood(temperature):
        total = 0
        for posterior, paths in held_out:
            total += posterior.tempered(temperature).log_proba(paths).sum()
        return total / len(X)

    grid = np.exp(np.linspace(-1, 1, 201))
    values = [log_likelihood(t) for t in grid]
    assert model.temperature_ == pytest.approx(grid[np.argmax(values)], rel=0.01)
    expected = (log_likelihood(1.0), log_likelihood(model.temperature_))
    assert model.log_likelihood_ == pytest.approx(expected)
    whole = HMMTagger(0.3).fit(X, y)
    np.testing.assert_array_equal(
        model.estimator_.emission_log_proba_, whole.emission_log_proba_
    )


class ScoredTagger(BaseEstimator):
    """A tagger whose X are its scores."""

    classes_ = np.array(["a", "b", "c"])
    moves = np.array([[1.0, 0.0, -1.0], [0.0, 0.5, 0.0], [-0.5, 0.0, 2.0]])

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def posterior(self, X):
        return LinearChainPosterior(list(X), self.moves)

    def predict_marginals(self, X):
        return self.posterior(X).token_marginals()


@pytest.mark.parametrize(
    "temperature", [0.4, *(pytest.param(t, marks=pytest.mark.slow) for t in (1.0, 2.5))]
)
def test_a_known_temperature_is_found_again(temperature):
    """Within three standard errors, by the variance of the true taggings' scores."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 3)) for n in rng.integers(1, 8, 800)]
    truth = ScoredTagger().posterior(X).tempered(temperature)
    y = [ScoredTagger.classes_[path[0]].tolist() for path in truth.sample(1, rng)]
    found = TemperatureScaling(ScoredTagger(), cv=4).fit(X, y).temperature_

    paths = truth.sample(200, rng)
    variance = 0.0
    for scores, drawn in zip(X, paths, strict=True):
        value = scores[np.arange(len(scores)), drawn].sum(axis=1)
        value += ScoredTagger.moves[drawn[:, :-1], drawn[:, 1:]].sum(axis=1)
        variance += value.var(ddof=1)
    assert abs(1 / found - 1 / temperature) < 3 / np.sqrt(variance)


def test_held_out_data_of_another_kind_are_better_calibrated(corpus):
    X, y = make_tagged_sentences(600, mean_length=8, random_state=1)
    model = TemperatureScaling(HMMTagger(1.0), cv=3).fit(X[:300], y[:300])

    def error(tagger):
        answers = TagQuery()(tagger, X[300:], y[300:])
        return calibration_error(answers.y_true, answers.y_proba, bin_size=500)

    assert error(model) < error(model.estimator_) / 2


# At the ends


@pytest.mark.parametrize(
    ("right", "end", "reason"),
    [
        ([1, 1, 1, 1], 0.01, "the most probable"),
        ([1, 0, 1, 0], 100.0, "do not identify"),
    ],
)
def test_an_optimum_at_an_end_warns(right, end, reason):
    with pytest.warns(ConvergenceWarning, match=f"an end of 'bounds'.*{reason}"):
        model = TemperatureScaling(Chooser(), cv=2).fit(*choose([2] * 4, right))
    assert model.temperature_ == end


def test_where_no_temperature_matters_it_is_one():
    model = TemperatureScaling(Chooser(), cv=2).fit(*choose([0] * 4, [1, 0, 1, 1]))
    assert model.temperature_ == 1
    one_tag = TemperatureScaling(HMMTagger(), cv=2).fit(X[:2], [["N"] * 3] * 2)
    assert one_tag.temperature_ == 1


# What it leaves alone


@each_tagger
def test_the_best_tagging_stays(tagger):
    model = prefit(tagger)
    assert model.temperature_ != pytest.approx(1, abs=0.01)
    found, expected = model.predict(NEW), model.estimator_.predict(NEW)
    assert list(found) == list(expected)
    assert model.score(OTHER_X, OTHER_Y) == model.estimator_.score(OTHER_X, OTHER_Y)
    paths = model.posterior(NEW).viterbi()
    assert [model.classes_[path].tolist() for path in paths] == list(expected)


@each_tagger
def test_marginals_are_those_of_one_distribution(tagger):
    model = prefit(tagger)
    tokens = model.predict_proba(NEW)
    pairs = model.predict_pair_marginals(NEW)
    assert tokens.dtype == object
    assert [p.shape for p in tokens] == [(2, 3), (0, 3), (1, 3), (4, 3)]
    for token, pair in zip(tokens, pairs, strict=True):
        np.testing.assert_allclose(token.sum(axis=1), 1)
        np.testing.assert_allclose(pair.sum(axis=2), token[: len(pair)])
        np.testing.assert_allclose(pair.sum(axis=1), token[1:][: len(pair)])


@pytest.mark.parametrize("tagger", TAGGERS[:2], ids=name_of)
def test_marginals_are_sums_over_tempered_taggings(tagger):
    model = prefit(tagger)
    paths, scores = tagging_scores(model.estimator_.posterior(NEW), 3, 4)
    p = np.exp(scores / model.temperature_)
    expected = np.zeros((4, 3))
    for path, weight in zip(paths, p / p.sum(), strict=True):
        expected[np.arange(4), path] += weight
    np.testing.assert_allclose(model.predict_proba(NEW)[3], expected, atol=1e-12)
    same = model.predict_marginals(NEW)[3]
    np.testing.assert_array_equal(same, model.predict_proba(NEW)[3])


def test_chosen_pairs_are_in_the_order_asked():
    model = prefit(HMMTagger(0.5))
    found = model.predict_pair_marginals(NEW, [("N", "V"), ("D", "N")])[3]
    whole = model.predict_pair_marginals(NEW)[3]
    np.testing.assert_allclose(found, whole[:, [1, 0], [2, 1]])


def test_posterior_decoding_is_of_the_new_posterior():
    """Taggings of weight .12 and .24 begin with a, one of .396 with b.

    Roots of them are .35, .49 and .63, so that a temperature of 2 changes the first
    tag that is best by itself.
    """
    scores = np.log([[0.6, 0.4]])
    moves = np.log([[0.2, 0.4], [0.99, 1e-9]])

    class Two(ScoredTagger):
        decoding = "posterior"
        classes_ = np.array(["a", "b"])

        def posterior(self, X):
            return LinearChainPosterior(list(X), moves)

        def predict(self, X):
            raise AssertionError("not asked for posterior decoding")

    X = [np.vstack([scores, [0.0, 0.0]])]
    y = [["a", "b"], ["b", "a"], ["b", "a"], ["a", "a"]]
    model = TemperatureScaling(Two(), cv=2).fit(X * 4, y)
    assert model.temperature_ > 1.2
    assert Two().posterior(X).posterior_decode()[0].tolist() == [1, 0]
    assert model.predict(X)[0] == ["a", "a"]
    assert model.score(X, [["a", "b"]]) == 0.5


def test_the_data_are_not_changed(corpus):
    given_x, given_y = copy.deepcopy(corpus)
    TemperatureScaling(HMMTagger(), cv=2).fit(given_x, given_y)
    assert (given_x, given_y) == corpus


# What is left out


def test_tags_that_a_fold_has_not_seen_are_counted():
    y = [["D", "N", "V"], ["D", "N", "X"], [], ["N", "V"], ["N"]]
    folds = [([0, 2, 3], [1, 4]), ([1, 4], [0, 2, 3])]  # no X, then no V
    model = TemperatureScaling(HMMTagger(0.5), cv=folds).fit(X, y)
    assert model.n_unreachable_ == 1 + 2
    assert model.classes_.tolist() == ["D", "N", "V", "X"]


def test_what_counts_without_smoothing_forbid_is_counted():
    """Of six: a new word, a new transition, and an end without a start."""
    tagger = HMMTagger(0).fit(X, Y)
    texts = ("the dog", "the mouse", "dog the", "barks", "", "it")
    sentences = [text.split() for text in texts]
    tags = [["D", "N"], ["D", "N"], ["N", "D"], ["V"], [], ["N"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = TemperatureScaling(tagger, cv="prefit").fit(sentences, tags)
    assert model.n_unreachable_ == 3
    assert np.isfinite(model.log_likelihood_).all()
    only = TemperatureScaling(tagger, cv="prefit").fit(
        [sentences[i] for i in (0, 4, 5)], [tags[i] for i in (0, 4, 5)]
    )
    assert model.temperature_ == only.temperature_
    assert model.log_likelihood_ == only.log_likelihood_


def test_nan_from_a_posterior_is_an_error():
    scores, right = choose([2] * 4, [1, 1, 0, 1])
    scores[2][0] = np.nan
    with pytest.raises(ValueError, match="Choices must be finite or -inf.*structure 2"):
        TemperatureScaling(Chooser(), cv="prefit").fit(scores, right)


# Weights, groups, folds


def test_rows_without_weight_do_not_count():
    tagger = HMMTagger(0.5).fit(X, Y)
    weight = [1, 1, 1, 0]
    some = TemperatureScaling(tagger, cv="prefit").fit(
        OTHER_X, [*OTHER_Y[:3], ["Z"]], sample_weight=weight
    )
    fewer = TemperatureScaling(tagger, cv="prefit").fit(OTHER_X[:3], OTHER_Y[:3])
    assert some.temperature_ == pytest.approx(fewer.temperature_)
    assert some.n_unreachable_ == 0


def test_weights_go_to_an_estimator_that_takes_them():
    seen = []

    class Weighted(Chooser):
        def fit(self, X, y, sample_weight=None):
            seen.append(list(sample_weight))
            return self

    scores, right = choose([2] * 4, [1, 1, 0, 1])
    TemperatureScaling(Weighted(), cv=2).fit(scores, right, sample_weight=[1, 2, 3, 4])
    assert seen == [[3, 4], [1, 2], [1, 2, 3, 4]]


def test_weights_are_routed(corpus):
    with sklearn.config_context(enable_metadata_routing=True):
        model = TemperatureScaling(HMMTagger(), cv=2).set_fit_request(
            sample_weight=True
        )
        model = model.set_score_request(sample_weight=True)
        scores = cross_val_score(
            model, *corpus, cv=2, params={"sample_weight": np.ones(len(corpus[0]))}
        )
    plain = cross_val_score(TemperatureScaling(HMMTagger(), cv=2), *corpus, cv=2)
    np.testing.assert_allclose(scores, plain)


def test_groups_go_to_the_splitter(corpus):
    X, y = corpus
    groups = np.arange(len(X)) % 3
    model = TemperatureScaling(HMMTagger(), cv=GroupKFold(3)).fit(X, y, groups=groups)
    folds = [(groups != g, groups == g) for g in range(3)]
    masks = TemperatureScaling(HMMTagger(), cv=folds).fit(X, y)
    assert model.temperature_ == pytest.approx(masks.temperature_)


def test_the_number_of_jobs_does_not_matter(corpus):
    folded = TemperatureScaling(HMMTagger(), cv=2).fit(*corpus)
    parallel = TemperatureScaling(HMMTagger(), cv=2, n_jobs=2).fit(*corpus)
    assert folded.temperature_ == parallel.temperature_


# Already fitted


def test_a_frozen_estimator_is_as_one_fitted_before():
    tagger = HMMTagger(0.5).fit(X, Y)
    frozen = TemperatureScaling(FrozenEstimator(tagger), cv=2).fit(OTHER_X, OTHER_Y)
    known = TemperatureScaling(tagger, cv="prefit").fit(OTHER_X, OTHER_Y)
    assert known.estimator_ is tagger
    assert frozen.temperature_ == pytest.approx(known.temperature_)
    again = clone(frozen).fit(OTHER_X, OTHER_Y)
    assert again.temperature_ == frozen.temperature_


# In scikit-learn


def test_scikit_learns_own_checks_pass():
    check_without_data(TemperatureScaling(HMMTagger()))


def test_a_search_sets_parameters_of_the_estimator(corpus):
    grid = {"estimator__pseudocount": [0.01, 10.0]}
    search = GridSearchCV(
        TemperatureScaling(HMMTagger(), cv=2),
        grid,
        scoring={"ll": log_likelihood_scorer, "error": calibration_error_scorer},
        refit="ll",
        cv=2,
    ).fit(*corpus)
    assert search.best_params_ == {"estimator__pseudocount": 0.01}
    assert np.isfinite(search.cv_results_["mean_test_error"]).all()


@pytest.mark.parametrize("inside", [True, False])
def test_it_may_hold_a_pipeline_or_end_one(corpus, inside):
    X, y = corpus
    crf = CRFTagger(c2=0.1, max_iterations=20)
    model = (
        TemperatureScaling(make_pipeline(TokenFeatures("advanced"), crf), cv=2)
        if inside
        else make_pipeline(TokenFeatures("advanced"), TemperatureScaling(crf, cv=2))
    ).fit(X[:80], y[:80])
    items = TokenFeatures("advanced").transform(X)
    plain = TemperatureScaling(crf, cv=2).fit(items[:80], y[:80])
    expected = plain.predict_proba(items[80:])
    for a, b in zip(model.predict_proba(X[80:]), expected, strict=True):
        np.testing.assert_allclose(a, b)
    ll = log_likelihood_scorer(model, X[80:], y[80:])
    assert ll == pytest.approx(log_likelihood_scorer(plain, items[80:], y[80:]))


@each_tagger
def test_queries_see_through_it(tagger):
    model = prefit(tagger)
    answers = TagQuery()(model, OTHER_X, OTHER_Y)
    expected = np.concatenate([p.ravel() for p in model.predict_proba(OTHER_X)])
    np.testing.assert_array_equal(answers.y_proba, expected)
    assert (
        answers.y_proba.tolist()
        != TagQuery()(model.estimator_, OTHER_X, OTHER_Y).y_proba.tolist()
    )


def test_it_has_the_methods_that_its_estimator_has():
    tagger, other = TemperatureScaling(HMMTagger()), TemperatureScaling(Chooser())
    names = ("predict", "predict_proba", "predict_marginals", "score")
    assert all(hasattr(tagger, name) for name in names)
    assert not any(hasattr(other, name) for name in names)
    assert hasattr(other, "transform")
    assert not hasattr(tagger, "transform")


def test_scores_are_divided_by_the_temperature():
    scores, right = choose([2] * 4, [1, 1, 0, 1])
    scores[0][1] = -np.inf
    model = TemperatureScaling(Chooser(), cv=2).fit(scores, right)
    found = model.transform([np.array(s) for s in scores])
    assert found.shape == (4,)
    assert found[0].tolist() == [2 / model.temperature_, -np.inf]
    assert found[1].tolist() == [2 / model.temperature_, 0]


def test_it_takes_the_input_that_its_estimator_takes():
    tags = get_tags(TemperatureScaling(CRFTagger()))
    assert tags.input_tags == get_tags(CRFTagger()).input_tags
    assert tags.target_tags.required


def test_a_pickle_predicts_the_same():
    model = prefit(HMMTagger(0.5))
    again = pickle.loads(pickle.dumps(model))
    for a, b in zip(again.predict_proba(NEW), model.predict_proba(NEW), strict=True):
        np.testing.assert_array_equal(a, b)


# What it refuses


def test_before_fit_it_says_so():
    model = TemperatureScaling(HMMTagger())
    methods = ["predict", "predict_proba", "predict_marginals", "posterior"]
    for method in [*methods, "predict_pair_marginals"]:
        with case(method), pytest.raises(NotFittedError):
            getattr(model, method)(X)
    with pytest.raises(NotFittedError):
        model.score(X, Y)


def test_wrong_settings_are_named():
    cases = [
        ({"bounds": (2.0, 3.0)}, ValueError, "low <= 1 <= high. Got (2.0"),
        ({"bounds": (1.0, 1.0)}, ValueError, "with low < high"),
        ({"bounds": (3.0, 0.3)}, ValueError, "Got (3.0, 0.3)"),
        ({"bounds": (0.0, 3.0)}, ValueError, "'bounds' parameter of Temperature"),
        ({"bounds": ("a", 3.0)}, TypeError, "must be a number in [1e-06, 1e+06]"),
        ({"cv": []}, ValueError, "'cv' parameter of TemperatureScaling gives no fold"),
        ({"cv": "last"}, ValueError, "Got last"),
        ({"cv": 9}, ValueError, "n_splits=9"),
    ]
    for settings, error, message in cases:
        with case(settings), pytest.raises(error, match=re.escape(message)):
            TemperatureScaling(HMMTagger(), **settings).fit(X, Y)


def test_wrong_data_are_named():
    cases = [
        ((X, Y[:3]), "TemperatureScaling.fit .*5 sentences in X and 3 in y"),
        ((X, [["D"], *Y[1:]]), "Sentence 0 has 3 tokens and 1 labels"),
        ((X, None), "TemperatureScaling.fit requires y to be passed"),
        (([], []), "sentence with a token"),
    ]
    for data, message in cases:
        with case(message), pytest.raises(ValueError, match=message):
            TemperatureScaling(HMMTagger()).fit(*data)


def test_wrong_data_of_another_estimator_are_named():
    with pytest.raises(ValueError, match="X has 2, y has 1"):
        TemperatureScaling(Chooser()).fit([[1, 0], [2, 0]], [0])
    with pytest.raises(ValueError, match="y to be passed"):
        TemperatureScaling(Chooser()).fit([[1, 0], [2, 0]], None)
    for cv in (5, "prefit"):
        with pytest.raises(
            ValueError, match="fit needs X and y with at least one entry"
        ):
            TemperatureScaling(Chooser(), cv=cv).fit([], [])


def test_wrong_weights_are_named():
    with pytest.raises(ValueError, match="'sample_weight' parameter of Temperature"):
        TemperatureScaling(HMMTagger(), cv=2).fit(X, Y, sample_weight=[1, 2])


def test_an_estimator_without_posterior_is_refused():
    with pytest.raises(TypeError, match="must have a posterior.*Got LogisticRegress"):
        TemperatureScaling(LogisticRegression()).fit([[1], [2]], [0, 1])
    posterior = LinearChainPosterior([np.zeros((2, 2))])
    with pytest.raises(TypeError, match="LinearChainPosterior with fit_temperature"):
        TemperatureScaling(posterior).fit(X, Y)


def test_an_unknown_tag_of_a_pair_is_named():
    with pytest.raises(ValueError, match="TemperatureScaling.predict_pair_marginals"):
        prefit(HMMTagger(0.5)).predict_pair_marginals(NEW, [("D", "Z")])


# Real tweets


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("SKCALIB_DATA"),
    reason="SKCALIB_DATA does not name a folder that has the tweets",
)
@pytest.mark.parametrize(
    "tagger",
    [HMMTagger(3.0), make_pipeline(TokenFeatures("advanced"), CRFTagger(c2=1.0))],
    ids=name_of,
)
def test_untuned_models_of_tweets_get_half_the_error(tagger):
    train, dev, test = (
        fetch_corpus(
            "ark_twitter_pos", subset=name, download_if_missing=False, return_X_y=True
        )
        for name in ("train", "dev", "test")
    )
    model = TemperatureScaling(clone(tagger).fit(*train), cv="prefit").fit(*dev)

    def error(estimator):
        answers = TagQuery()(estimator, *test)
        return calibration_error(answers.y_true, answers.y_proba, bin_size=1000)

    assert model.temperature_ < 0.9
    assert error(model) < error(model.estimator_) / 2
    assert model.score(*test) == model.estimator_.score(*test)


def test_folds_may_stand_second_and_say_how_far_they_are(capsys):
    X, y = make_tagged_sentences(20, random_state=0)
    model = TemperatureScaling(HMMTagger(), 2, verbose=10).fit(X, y)
    assert model.cv == 2
    assert "2 out of   2" in "".join(capsys.readouterr())
