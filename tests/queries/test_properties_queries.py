"""Laws of queries and scorers: sentences have no order, labels no names."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin

from skcalib.posteriors import AntecedentPosterior, LinearChainPosterior
from skcalib.queries import (
    Answers,
    ClassQuery,
    CorefPairQuery,
    SpanQuery,
    TagPairQuery,
    TagQuery,
)
from skcalib.scorers import (
    calibration_error_scorer,
    log_likelihood_scorer,
    make_calibration_scorer,
    make_query_scorer,
)

SEEDS = st.integers(0, 10_000)
CLASSES = ["B-P", "I-P", "O"]

few = settings(max_examples=15)


def draw_tagged(seed, lengths=(3, 0, 5, 1, 4)):
    """Return tags and a posterior over them."""
    rng = np.random.default_rng(seed)
    y = [_begun([CLASSES[k] for k in rng.integers(3, size=n)]) for n in lengths]
    emissions = [rng.normal(size=(n, 3)) for n in lengths]
    return y, emissions, rng.normal(size=(3, 3))


def _begun(tags):
    """Return tags of a sentence without I-P if it does not have B-P."""
    return tags if "B-P" in tags else ["O" if tag == "I-P" else tag for tag in tags]


def ask_tags(query):
    def ask(y, emissions, transition):
        posterior = LinearChainPosterior(emissions, transition)
        return query.from_posterior(y, posterior, CLASSES)

    return ask


def draw_clustered(seed, lengths=(3, 0, 5, 1, 4)):
    rng = np.random.default_rng(seed)
    y = [rng.integers(3, size=n).tolist() for n in lengths]
    return y, [np.tril(rng.normal(size=(n, n))) for n in lengths], None


def ask_pairs(query):
    return lambda y, scores, _: query.from_posterior(y, AntecedentPosterior(scores))


def draw_classes(seed, n=6):
    rng = np.random.default_rng(seed)
    y = [CLASSES[k] for k in rng.integers(3, size=n)]
    return y, list(rng.dirichlet(np.ones(3), n)), None


def ask_classes(query):
    return lambda y, proba, _: query.from_proba(y, np.array(proba), CLASSES)


QUERIES = {
    "classes": (draw_classes, ask_classes(ClassQuery())),
    "one class": (draw_classes, ask_classes(ClassQuery(pos_label="O"))),
    "top class": (draw_classes, ask_classes(ClassQuery(multi_class="top_label"))),
    "tags": (draw_tagged, ask_tags(TagQuery())),
    "one tag": (draw_tagged, ask_tags(TagQuery("O"))),
    "top tag": (draw_tagged, ask_tags(TagQuery("top"))),
    "tag pairs": (draw_tagged, ask_tags(TagPairQuery())),
    "spans": (draw_tagged, ask_tags(SpanQuery())),
    "all spans": (draw_tagged, ask_tags(SpanQuery(spans="all", max_length=3))),
    "coreference": (draw_clustered, ask_pairs(CorefPairQuery())),
    "likely coreference": (draw_clustered, ask_pairs(CorefPairQuery(min_proba=0.2))),
}

each_query = pytest.mark.parametrize("name", QUERIES)


def rows_of(answers, group=None):
    """Return the answers of one group, or of all, as plain rows without a group."""
    rows = (
        range(len(answers))
        if group is None
        else np.flatnonzero(answers.groups == group)
    )
    return [
        (
            np.asarray(answers.item[i]).tolist(),
            str(answers.label[i]),
            int(answers.y_true[i]),
            pytest.approx(float(answers.y_proba[i]), abs=1e-12),
        )
        for i in rows
    ]


@each_query
@few
@given(seed=SEEDS)
def test_answers_follow_their_sentences(name, seed):
    draw, ask = QUERIES[name]
    y, scores, rest = draw(seed)
    order = np.random.default_rng(seed).permutation(len(y)).tolist()
    expected = ask(y, scores, rest)
    found = ask([y[i] for i in order], [scores[i] for i in order], rest)
    assert isinstance(found, Answers)
    assert len(found) == len(expected)
    for place, i in enumerate(order):
        assert rows_of(found, place) == rows_of(expected, i)


@each_query
@few
@given(seed=SEEDS, cut=st.integers(1, 4))
def test_answers_to_two_lists_are_those_to_both(name, seed, cut):
    draw, ask = QUERIES[name]
    y, scores, rest = draw(seed)
    whole = ask(y, scores, rest)
    first, second = ask(y[:cut], scores[:cut], rest), ask(y[cut:], scores[cut:], rest)
    assert rows_of(whole) == rows_of(first) + rows_of(second)
    assert whole.groups.tolist() == [*first.groups, *(second.groups + cut)]


# Where probabilities choose the questions, rounding may choose others.
@pytest.mark.parametrize("name", [name for name in QUERIES if "likely" not in name])
@few
@given(seed=SEEDS)
def test_float32_is_close(name, seed):
    draw, ask = QUERIES[name]
    y, scores, rest = draw(seed)
    single = [np.asarray(each, dtype=np.float32) for each in scores]
    if rest is not None:
        rest = rest.astype(np.float32)
    exact = [each.astype(np.float64) for each in single]
    found, expected = ask(y, single, rest), ask(y, exact, rest)
    assert found.y_true.tolist() == expected.y_true.tolist()
    np.testing.assert_allclose(found.y_proba, expected.y_proba, atol=1e-6)


@pytest.mark.parametrize("name", ["classes", "tags", "tag pairs"])
@few
@given(seed=SEEDS)
def test_one_of_all_answers_is_yes(name, seed):
    draw, ask = QUERIES[name]
    answers = ask(*draw(seed))
    case = answers.groups
    if name != "classes":
        case = np.unique(case * 1000 + answers.item, return_inverse=True)[1]
    assert (np.bincount(case, answers.y_true) == 1).all()
    np.testing.assert_allclose(np.bincount(case, answers.y_proba), 1, atol=1e-9)


class Marginals(BaseEstimator):
    """A fitted tagger whose X are its marginals."""

    classes_ = np.array(CLASSES)

    def predict_proba(self, X):
        return list(X)


SCORERS = {
    "calibration": make_calibration_scorer(TagQuery(), bin_size=3),
    "debiased": make_calibration_scorer(
        TagQuery(), bin_size=1000, debias=True, squared=True
    ),
    "mean": make_query_scorer(
        lambda y, q, sample_weight=None: np.average(q - y, weights=sample_weight),
        query=TagQuery("O"),
        greater_is_better=False,
    ),
}


@pytest.mark.parametrize("name", SCORERS)
@few
@given(seed=SEEDS)
def test_scores_know_no_order_and_weights_repeat(name, seed):
    score = SCORERS[name]
    y, emissions, transition = draw_tagged(seed)
    X = LinearChainPosterior(emissions, transition).token_marginals()
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 3, len(y))
    weight[2:4] += 1
    times = rng.permutation(np.repeat(np.arange(len(y)), weight))
    model = Marginals()
    found = score(model, X, y, sample_weight=weight)
    expected = score(model, [X[i] for i in times], [y[i] for i in times])
    assert found == pytest.approx(expected, abs=1e-12)


class Probabilities(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose X are its probabilities."""

    classes_ = np.array(CLASSES)

    def predict_proba(self, X):
        return np.asarray(X)


@pytest.mark.parametrize("score", [calibration_error_scorer, log_likelihood_scorer])
@few
@given(seed=SEEDS)
def test_scores_of_classifiers_know_no_order_and_weights_repeat(score, seed):
    y, X, _ = draw_classes(seed, 9)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 3, len(y))
    weight[2:4] += 1
    times = rng.permutation(np.repeat(np.arange(len(y)), weight))
    found = score(Probabilities(), np.array(X), y, sample_weight=weight)
    expected = score(Probabilities(), np.array(X)[times], [y[i] for i in times])
    assert found == pytest.approx(expected, abs=1e-12)
