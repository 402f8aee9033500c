"""One contract for all taggers: scikit-learn's where it can be run, and our own."""

import copy
import itertools
import pickle

import dask.array
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from cases import case
from estimators import check_without_data
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator as all_checks
from sklearn.utils.validation import check_is_fitted, validate_data

from skcalib.datasets import make_tagged_sentences
from skcalib.sequence import CRFTagger, HMMTagger, TokenFeatures

X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], [], ["dogs", "bark"], ["it"]]
Y = [["D", "N", "V"], ["D", "N", "V"], [], ["N", "V"], ["N"]]
NEW = [["the", "mouse"], [], ["cat"], ["a", "dog", "of", "war"]]

TAGGERS = [HMMTagger(0.1), CRFTagger(c2=0.1)]
PIPELINE = make_pipeline(TokenFeatures("basic"), CRFTagger(c2=0.1))


def name_of(estimator):
    steps = getattr(estimator, "steps", [("", estimator)])
    return "-".join(type(step).__name__ for _, step in steps)


each_tagger = pytest.mark.parametrize("tagger", TAGGERS, ids=name_of)
each_model = pytest.mark.parametrize("model", [*TAGGERS, PIPELINE], ids=name_of)


@pytest.fixture(scope="module")
def corpus():
    return make_tagged_sentences(60, mean_length=6, n_words=80, random_state=0)


def fitted(tagger):
    return clone(tagger).fit(X, Y)


def same_arrays(found, expected, atol=0.0):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=atol)


def as_lists(tags):
    assert all(type(each) is list for each in tags)
    return list(tags)


# scikit-learn's own checks


@pytest.mark.parametrize(
    "estimator", [HMMTagger(), CRFTagger(), TokenFeatures()], ids=name_of
)
def test_scikit_learns_own_checks_pass(estimator):
    check_without_data(estimator)


class OneTokenSentences:
    """Takes a row of a matrix as a sentence of one token.

    scikit-learn runs one check on an estimator whose input is no matrix. With this
    class in front of it, a tagger gets the checks of all other estimators.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.sparse = True, False
        return tags

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        return super().fit(self.sentences(X), [[label] for label in y.tolist()])

    def predict(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return np.concatenate(super().predict(self.sentences(X)))

    def predict_proba(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return np.concatenate(super().predict_proba(self.sentences(X)))

    def score(self, X, y):
        return float((self.predict(X) == y).mean())


class OneWord(OneTokenSentences, HMMTagger):
    def sentences(self, X):
        return [[str((row > 0).tolist())] for row in X]


class OneDict(OneTokenSentences, CRFTagger):
    def sentences(self, X):
        return [[{str(k): x for k, x in enumerate(row)}] for row in X.tolist()]


# scikit-learn 1.7 passes a generator to parametrize, which pytest deprecates.
@pytest.mark.parametrize(
    ("estimator", "check"),
    [each for tagger in (OneWord(), OneDict()) for each in all_checks(tagger)],
)
def test_all_checks_of_scikit_learn_pass_on_sentences_of_one_token(estimator, check):
    check(estimator)


@each_tagger
def test_scikit_learn_does_not_take_a_tagger_for_a_classifier(tagger):
    """It would read ragged labels as multilabel ones and stratify them."""
    assert not sklearn.base.is_classifier(tagger)
    assert get_tags(tagger).input_tags.two_d_array is False
    assert get_tags(tagger).target_tags.required


# Fit and predict


@each_tagger
def test_asking_before_fit_is_an_error(tagger):
    message = f"This {name_of(tagger)} .* not fitted"
    for ask in (
        *("predict", "predict_proba", "predict_marginals", "posterior"),
        "predict_pair_marginals",
    ):
        with case(ask), pytest.raises(NotFittedError, match=message):
            getattr(clone(tagger), ask)(X)
    with pytest.raises(NotFittedError, match=message):
        clone(tagger).score(X, Y)


@each_tagger
def test_both_names_of_the_marginals_give_the_same(tagger):
    tagger = fitted(tagger)
    same_arrays(tagger.predict_marginals(NEW), tagger.predict_proba(NEW))
    same_arrays(tagger.posterior(NEW).token_marginals(), tagger.predict_proba(NEW))


def best_path(posterior, n_tags):
    """Return the path of greatest probability among all, the first of equals."""
    (length,) = posterior.lengths
    paths = list(itertools.product(range(n_tags), repeat=int(length)))
    log_proba = [posterior.log_proba([path])[0] for path in paths]
    return paths[int(np.argmax(log_proba))]


@each_tagger
def test_predict_gives_the_most_probable_of_all_taggings(tagger):
    tagger = fitted(tagger)
    for sentence in (["the", "mouse"], ["a", "dog", "of", "war"]):
        with case(sentence):
            expected = best_path(tagger.posterior([sentence]), 3)
            (found,) = tagger.predict([sentence])
            assert found == tagger.classes_[list(expected)].tolist()


@each_tagger
def test_posterior_decoding_gives_the_most_probable_tag_of_each_token(tagger):
    tagger = fitted(tagger).set_params(decoding="posterior")
    expected = [
        tagger.classes_[p.argmax(axis=1)].tolist() for p in tagger.predict_proba(NEW)
    ]
    assert as_lists(tagger.predict(NEW)) == expected


@each_tagger
def test_decoding_is_checked_at_predict_too(tagger):
    with pytest.raises(ValueError, match="'decoding' parameter .* Got 'best'"):
        fitted(tagger).set_params(decoding="best").predict(NEW)


@each_tagger
def test_ties_go_to_the_first_class_whatever_was_seen_first(tagger):
    tagger = clone(tagger).fit([["x"], ["x"]], [["B"], ["A"]])
    assert as_lists(tagger.predict([["x"], ["unseen"]])) == [["A"], ["A"]]


# The number of entries


@each_tagger
def test_outputs_are_one_dimensional_with_an_entry_a_sentence(tagger):
    cases = [
        [["the", "dog"]],
        [["the", "dog"], ["a", "cat"]],
        [["the"], ["dog"]],
        [["the"], ["a", "cat"]],
        [[]],
        [[], []],
        [[], ["dog"], []],
        [],
    ]
    tagger = fitted(tagger)
    for sentences in cases:
        with case(sentences):
            for found in (tagger.predict(sentences), tagger.predict_proba(sentences)):
                assert isinstance(found, np.ndarray)
                assert found.dtype == object
                assert found.shape == (len(sentences),)
                assert [len(entry) for entry in found] == [len(s) for s in sentences]


@each_tagger
def test_an_empty_sentence_changes_nothing_in_training(tagger):
    without = [(s, t) for s, t in zip(X, Y, strict=True) if s]
    other = clone(tagger).fit(*map(list, zip(*without, strict=True)))
    same_arrays(other.predict_proba(NEW), fitted(tagger).predict_proba(NEW), 1e-12)


@each_tagger
def test_one_token_is_enough_to_train(tagger):
    tagger = clone(tagger).fit([["a"]], [["A"]])
    np.testing.assert_array_equal(tagger.predict_proba([["a", "z"]])[0], [[1], [1]])


# Containers


CONTAINERS = {
    "tuples": lambda ragged: tuple(tuple(inner) for inner in ragged),
    "arrays": lambda ragged: [np.array(inner, dtype=str) for inner in ragged],
    "object array": lambda ragged: pd.Series(ragged).to_numpy(),
    "pandas": lambda ragged: pd.Series(ragged, index=range(9, 9 + len(ragged))),
    "pandas within": lambda ragged: [
        pd.Series(r, range(7, 7 + len(r)), dtype=object) for r in ragged
    ],
    "polars": lambda ragged: pl.Series(ragged),
}


@each_tagger
def test_sentences_may_be_in_any_container(tagger):
    expected = fitted(tagger)
    proba, score = expected.predict_proba(NEW), expected.score(X, Y)
    for name, container in CONTAINERS.items():
        with case(name):
            found = clone(tagger).fit(container(X), container(Y))
            same_arrays(found.predict_proba(container(NEW)), proba, 1e-12)
            assert found.score(container(X), container(Y)) == score


@each_tagger
def test_words_may_be_the_arrays_of_other_libraries(tagger, arrow):
    expected = fitted(tagger).predict_proba(NEW)
    for sentences in (
        arrow(X),
        [arrow(sentence) for sentence in X],
        [dask.array.from_array(np.array(s, dtype="U9"), chunks=-1) for s in X],
    ):
        found = clone(tagger).fit(sentences, Y).predict_proba(NEW)
        same_arrays(found, expected)


@each_tagger
def test_sparse_labels_are_named(tagger):
    message = "'y' parameter of .*fit must (be dense|contain a sequence)"
    with pytest.raises((TypeError, ValueError), match=message):
        clone(tagger).fit([["a", "b"]], [sparse.coo_array([1, 2])])


@each_tagger
def test_equal_lengths_may_be_a_two_dimensional_array(tagger):
    words, tags = np.array([["a", "b"], ["c", "d"]]), np.array([["A", "B"], ["A", "B"]])
    tagger = clone(tagger).fit(words, tags)
    assert as_lists(tagger.predict(words)) == tags.tolist()


@each_tagger
def test_nothing_given_is_modified(tagger):
    words, tags = copy.deepcopy(X), copy.deepcopy(Y)
    fitted = clone(tagger).fit(words, tags)
    fitted.predict(words)
    fitted.predict_proba(words)
    fitted.score(words, tags)
    assert words == X
    assert tags == Y


@each_tagger
def test_predicting_does_not_change_the_model(tagger):
    tagger = fitted(tagger)
    before = pickle.dumps(tagger)
    tagger.predict(NEW)
    tagger.predict_proba(NEW)
    assert pickle.dumps(tagger) == before


@each_tagger
def test_training_twice_gives_the_same_tagger(tagger):
    same_arrays(fitted(tagger).predict_proba(NEW), fitted(tagger).predict_proba(NEW))


@each_model
def test_a_pickled_tagger_predicts_as_before(model):
    tagger = fitted(model)
    again = pickle.loads(pickle.dumps(tagger))
    same_arrays(again.predict_proba(NEW), tagger.predict_proba(NEW))
    assert as_lists(again.predict(NEW)) == as_lists(tagger.predict(NEW))


# Labels of any kind


LABELS = {
    "int": [3, -1, 20],
    "numpy int": list(np.array([3, -1, 20])),
    "bool": [True, False, True],
    "float": [0.5, 2.0, -1.0],
    "bytes": [b"N", b"D", b"V"],
    "tuple": [("N", 1), ("D", 2), ("V", 3)],
    "empty str": ["N", "", "V"],
    "colon and blank": ["N:x", "D D", "日本"],
    "str of numbers": ["10", "9", "2"],
    "str with a NUL within": ["a\0b", "a\0c", "a"],
    "str that ends in NUL": ["N", "N\0", "N\0\0"],
}


@each_tagger
def test_labels_come_back_as_they_were(tagger):
    for labels in LABELS.values():
        with case(labels):
            words = [["one", "two", "three"]] * 3
            tagger = clone(tagger).fit(words, [labels] * 3)
            (found,) = tagger.predict(words[:1])
            assert found == labels
            assert [type(a) for a in found] == [
                type(getattr(b, "item", lambda b=b: b)()) for b in labels
            ]
            assert tagger.classes_.tolist() == sorted(set(labels))
            assert tagger.score(words, [labels] * 3) == 1


@each_tagger
def test_labels_that_are_none_or_cannot_be_sorted_are_refused(tagger):
    cases = [
        (["D", 1, "V"], "labels of one type, to be sorted. Got int, str"),
        (["D", None, "V"], "Token 1 of sentence 1 has None"),
        (["D", pd.NA, "V"], "Token 1 of sentence 1 has <NA>"),
        (["D", ["N"], "V"], r"Token 1 of sentence 1 has \['N'\]"),
    ]
    for labels, message in cases:
        with (
            case(labels),
            pytest.raises(ValueError, match=f"{name_of(tagger)}.fit .*{message}"),
        ):
            clone(tagger).fit([X[0], X[0]], [Y[0], labels])


# Score


@each_tagger
def test_the_score_is_the_share_of_right_tokens(tagger):
    tagger = fitted(tagger)
    truth = [["D", "N", "V"], ["D", "D", "D"], [], ["V", "V"], ["N"]]
    found = as_lists(tagger.predict(X))
    right = sum(
        a == b
        for p, t in zip(found, truth, strict=True)
        for a, b in zip(p, t, strict=True)
    )
    assert right < 9
    assert tagger.score(X, truth) == pytest.approx(right / 9)


@each_tagger
def test_a_weight_of_a_sentence_is_its_repetition(tagger):
    tagger = fitted(tagger)
    truth = [["D", "N", "V"], ["D", "D", "D"], [], ["V", "V"], ["N"]]
    weight = [2, 0, 5, 3, 1]
    rows = np.repeat(np.arange(5), weight)
    expected = tagger.score([X[i] for i in rows], [truth[i] for i in rows])
    assert tagger.score(X, truth, sample_weight=weight) == pytest.approx(expected)


@each_tagger
def test_a_label_unseen_in_training_counts_as_an_error(tagger):
    assert fitted(tagger).score([["the", "dog"]], [["D", "UNSEEN"]]) == 0.5


@each_tagger
def test_weights_are_checked(tagger):
    cases = [
        ([1, 1], r"weight for each of the 5 samples. Got shape \(2,\)"),
        ([0] * 5, "zero in every row"),
        ([-1, 1, 1, 1, 1], "not negative. Got -1.0 in row 0"),
        ([1, np.nan, 1, 1, 1], "finite .* Got nan in row 1"),
        ("heavy", "must contain numbers.* Got str"),
    ]
    for weight, message in cases:
        with case(weight), pytest.raises(ValueError, match=message):
            fitted(tagger).score(X, Y, sample_weight=weight)


@each_tagger
def test_there_is_no_score_of_no_token(tagger):
    with pytest.raises(ValueError, match="needs at least one token of positive weight"):
        fitted(tagger).score([[], []], [[], []])


# What is refused


@each_tagger
def test_there_must_be_a_token_to_learn_from(tagger):
    message = "needs at least one sentence with a token. Got"
    for sentences in ([], [[]], [[], []]):
        with case(sentences), pytest.raises(ValueError, match=message):
            clone(tagger).fit(sentences, sentences)


@each_tagger
def test_labels_that_do_not_match_the_tokens_are_named(tagger):
    cases = [
        (Y[:3], "Got 5 sentences in X and 3 in y"),
        ([*Y[:3], ["N"], *Y[4:]], "Sentence 3 has 2 tokens and 1 labels"),
    ]
    for labels, message in cases:
        for ask in ("fit", "score"):
            with case(f"{ask}, {labels}"), pytest.raises(ValueError, match=message):
                getattr(fitted(tagger), ask)(X, labels)


@each_tagger
def test_what_is_not_sentences_is_refused_with_an_example(tagger):
    cases = [
        ("the dog", "'X' parameter of .* must be a sequence of sentences.* Got str"),
        (["the dog"], "Got str 'the dog' as sentence 0: put its tokens into a list"),
        ([["a"], b"b"], "Got bytes b'b' as sentence 1"),
        ([["a"], None], "Got NoneType None as sentence 1"),
        ([["a"], {"word": "b"}], "Got dict .* as sentence 1"),
        ({"a": 1}, "Got dict"),
        (None, "Got NoneType"),
        (iter([["a"]]), "Got list_iterator"),
        (np.array(["a", "b"]), "as sentence 0"),
        (np.zeros((2, 3)), "sentence 0, token 0"),
        (pd.DataFrame({"w": ["a", "b"]}), r"a table of shape \(2, 1\): group"),
        (pl.DataFrame({"w": ["a", "b"]}), r"a table of shape \(2, 1\): group"),
        (sparse.csr_array(np.eye(2)), r"a table of shape \(2, 2\)"),
        (np.array(3), "Got ndarray"),
        ([["a"], np.array("b")], "Got ndarray array.* as sentence 1"),
        ([["a"], {"b", "c"}], "Got set .* as sentence 1"),
        ([["a"], pd.DataFrame({"w": ["b"]})], "(?s)Got DataFrame .* as sentence 1"),
    ]
    tagger = fitted(tagger)
    for sentences, message in cases:
        is_list = isinstance(sentences, list)
        labels = [["A"]] * len(sentences) if is_list else [["A", "A", "A"]] * 2
        for ask, *more in (["fit", labels], ["predict"], ["predict_proba"]):
            with case(f"{ask}, {sentences!r}"), pytest.raises(TypeError, match=message):
                getattr(tagger, ask)(sentences, *more)


@each_tagger
def test_what_is_not_label_sequences_is_refused(tagger):
    cases = [
        ("DNV", "'y' parameter of .*.fit must have an entry for each sentence"),
        (["DNV"] * 5, "Got str 'DNV' for sentence 0"),
        ([0, 1, 2, 3, 4], "Got int 0 for sentence 0"),
        ([*Y[:4], {"N": 1}], "Got dict .* for sentence 4"),
    ]
    for labels, message in cases:
        with case(repr(labels)), pytest.raises(TypeError, match=message):
            clone(tagger).fit(X, labels)


# Model selection

FOLDS = KFold(3, shuffle=True, random_state=0)


def by_hand(model, X, y, cv=FOLDS):
    """Return the share of right tokens in each fold, counted here."""
    scores = []
    for train, test in cv.split(X):
        tagger = clone(model).fit([X[i] for i in train], [y[i] for i in train])
        found = tagger.predict([X[i] for i in test])
        hits = [
            a == b
            for p, i in zip(found, test, strict=True)
            for a, b in zip(p, y[i], strict=True)
        ]
        scores.append(np.mean(hits))
    return scores


@each_model
def test_cross_validation_scores_each_fold_by_its_tokens(model, corpus):
    found = cross_val_score(model, *corpus, cv=FOLDS)
    np.testing.assert_allclose(found, by_hand(model, *corpus))


@each_model
def test_an_integer_of_folds_does_not_stratify(model, corpus):
    found = cross_val_score(model, *corpus, cv=3)
    np.testing.assert_allclose(found, by_hand(model, *corpus, cv=KFold(3)))


@each_model
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_grid_search_tries_all_and_predicts_with_the_best(model, corpus, n_jobs):
    last = getattr(model, "steps", [("", model)])[-1]
    parameter = "c2" if isinstance(last[1], CRFTagger) else "pseudocount"
    key = f"{last[0]}__{parameter}".removeprefix("__")
    search = GridSearchCV(model, {key: [0.1, 1000.0]}, cv=FOLDS, n_jobs=n_jobs)
    search.fit(*corpus)
    assert search.best_params_ == {key: 0.1}
    tagger = clone(model).set_params(**{key: 0.1}).fit(*corpus)
    same_arrays(search.predict_proba(NEW), tagger.predict_proba(NEW))
    assert as_lists(search.predict(NEW)) == as_lists(tagger.predict(NEW))
    assert search.classes_.tolist() == tagger.classes_.tolist()
    assert search.score(*corpus) == tagger.score(*corpus)


@each_model
def test_out_of_fold_predictions_have_an_entry_a_sentence(model):
    """Folds of equal lengths, and each of another, are where other shapes break."""
    for lengths in [(2, 2, 3, 3), (2, 2, 2, 2), (1, 1, 4, 4), (2, 3, 3, 2)]:
        with case(lengths):
            words = [["a", "b", "c", "d"][:n] for n in lengths]
            tags = [["A", "B", "A", "B"][:n] for n in lengths]
            found = cross_val_predict(model, words, tags, cv=KFold(2))
            assert found.shape == (4,)
            assert [len(entry) for entry in found] == list(lengths)


@each_model
def test_a_fold_may_lack_a_label(model):
    words, tags = [["a", "b"]] * 3 + [["z", "z"]], [["A", "B"]] * 3 + [["Z", "Z"]]
    found = cross_val_score(model, words, tags, cv=KFold(4))
    assert found.tolist() == [1, 1, 1, 0]


@each_model
def test_sliced_containers_give_the_same_scores(model, corpus):
    words, tags = corpus
    expected = cross_val_score(model, words, tags, cv=FOLDS)
    for kind in (pd.Series, pl.Series):
        found = cross_val_score(model, kind(words), kind(tags), cv=FOLDS)
        np.testing.assert_array_equal(found, expected)


@each_tagger
def test_the_weight_of_sentences_is_routed_to_score(tagger, corpus):
    words, tags = corpus
    weight = np.random.default_rng(0).integers(0, 4, len(words))
    with sklearn.config_context(enable_metadata_routing=True):
        model = clone(tagger).set_score_request(sample_weight=True)
        params = {"sample_weight": weight}
        found = cross_validate(model, words, tags, cv=FOLDS, params=params)
    expected = []
    for train, test in FOLDS.split(words):
        model = clone(tagger).fit([words[i] for i in train], [tags[i] for i in train])
        rows = np.repeat(test, weight[test])
        expected.append(model.score([words[i] for i in rows], [tags[i] for i in rows]))
    np.testing.assert_allclose(found["test_score"], expected)


# Single precision


@each_tagger
def test_single_precision_errs_little(tagger, corpus):
    words, tags = corpus
    double = clone(tagger).fit(words, tags)
    single = clone(tagger).set_params(dtype=np.float32).fit(words, tags)
    found, expected = single.predict_proba(words), double.predict_proba(words)
    assert {proba.dtype for proba in found} == {np.dtype(np.float32)}
    assert {proba.dtype for proba in expected} == {np.dtype(np.float64)}
    same_arrays(found, expected, 3e-6)
    same_arrays(
        single.predict_pair_marginals(words), double.predict_pair_marginals(words), 3e-6
    )
    for method in ("log_partition", "entropy", "viterbi"):
        same_arrays(
            getattr(single.posterior(words), method)(),
            getattr(double.posterior(words), method)(),
        )


@each_tagger
def test_single_precision_may_be_asked_of_a_fitted_tagger(tagger):
    model = fitted(tagger).set_params(dtype="float32")
    assert model.predict_proba(NEW)[0].dtype == np.float32
    copied = pickle.loads(pickle.dumps(model))
    same_arrays(copied.predict_proba(NEW), model.predict_proba(NEW))


@each_tagger
def test_other_types_are_refused(tagger):
    message = f"'dtype' parameter of {name_of(tagger)}.* must be float64 or float32"
    for dtype in (np.float16, "int", None, "double precision"):
        with case(f"fit, {dtype}"), pytest.raises(ValueError, match=message):
            clone(tagger).set_params(dtype=dtype).fit(X, Y)
        with case(f"predict_proba, {dtype}"), pytest.raises(ValueError, match=message):
            fitted(tagger).set_params(dtype=dtype).predict_proba(X)
