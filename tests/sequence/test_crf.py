"""The conditional random field gives CRFsuite's probabilities, without its limits."""

import ctypes
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sklearn_crfsuite
from cases import case
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from skcalib.sequence import CRFTagger, TokenFeatures, cross_val_marginals

X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["dogs", "bark"], ["the", "the"]]
Y = [["D", "N", "V"], ["D", "N", "V"], ["N", "V"], ["D", "D"]]


def random_tagged(seed, token, n=12, tags="ABC"):
    """Draw sentences whose tokens are made by `token` from a generator."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 7, n)
    sentences = [[token(rng) for _ in range(length)] for length in lengths]
    labels = [list(rng.choice(list(tags), length)) for length in lengths]
    return sentences, labels


def letter(rng):
    return "abcdef"[rng.integers(6)]


def words_and_numbers(rng):
    return {"w": letter(rng), "x": float(rng.normal()), "cap": bool(rng.integers(2))}


def lists_and_sets(rng):
    return {
        "list": [letter(rng) for _ in range(rng.integers(4))],
        "set": {letter(rng), letter(rng)},
        "int": int(rng.integers(3)),
    }


def nested(rng):
    return {"out": {letter(rng): letter(rng), "n": float(rng.normal()), "in": {"x": 2}}}


def bare_names(rng):
    """An attribute that occurs twice counts twice."""
    return [letter(rng) for _ in range(rng.integers(1, 4))]


def colliding(rng):
    """Attributes 'a:b' from a key and from a key with a value."""
    return {"a:b": float(rng.normal()), "a": letter(rng), "a:b:c": 1.0, "a:b ": ["c"]}


def odd_strings(rng):
    return {"wörd": "日本" + letter(rng), "": letter(rng), ":": "x:y", "tab\t": "\n "}


KINDS = [words_and_numbers, lists_and_sets, nested, bare_names, colliding, odd_strings]


def as_arrays(marginals, classes):
    """Return CRFsuite's dicts with columns in the order of the classes."""
    return [
        np.reshape(
            [[token[label] for label in classes] for token in sentence],
            (len(sentence), len(classes)),
        )
        for sentence in marginals
    ]


def same_marginals(found, expected, atol=1e-6):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=atol)


@pytest.fixture(scope="module")
def tagger():
    return CRFTagger(c2=0.1).fit(X, Y)


# The same probabilities as CRFsuite


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("seed", [0, 1])
def test_marginals_are_crfsuites(kind, seed):
    items, labels = random_tagged(seed, kind)
    new, _ = random_tagged(seed + 100, kind)
    settings = {"c2": 0.01, "all_possible_transitions": True, "max_iterations": 50}
    theirs = sklearn_crfsuite.CRF(**settings).fit(items, labels)
    ours = CRFTagger(**settings).fit(items, labels)
    expected = as_arrays(theirs.predict_marginals(new), ours.classes_)
    same_marginals(ours.predict_proba(new), expected)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_str_is_the_attribute_word(seed):
    words, labels = random_tagged(seed, letter)
    items = [[{"word": word} for word in sentence] for sentence in words]
    theirs = sklearn_crfsuite.CRF(c2=0.01, all_possible_transitions=True)
    theirs.fit(items, labels)
    ours = CRFTagger(c2=0.01).fit(words, labels)
    expected = as_arrays(theirs.predict_marginals(items), ours.classes_)
    same_marginals(ours.predict_proba(words), expected)
    same_marginals(ours.predict_proba(items), expected)


@pytest.mark.parametrize(
    "settings",
    [
        {"c1": 0.5, "c2": 0.01},
        {"c2": 1.0, "all_possible_states": True},
        {"c2": 0.1, "all_possible_transitions": False},
        {"c2": 0.1, "min_freq": 5},
        {"max_iterations": 3},
        {"epsilon": 0.5, "period": 2, "delta": 0.5},
        {"num_memories": 1, "max_iterations": 4},
        {"linesearch": "Backtracking", "max_linesearch": 2, "max_iterations": 4},
        {"algorithm": "l2sgd", "c2": 0.1, "max_iterations": 20},
        {"algorithm": "ap", "max_iterations": 10},
        {"algorithm": "pa", "max_iterations": 10},
        {"algorithm": "arow", "max_iterations": 10},
    ],
    ids=str,
)
def test_every_setting_means_what_it_means_to_crfsuite(settings):
    items, labels = random_tagged(3, words_and_numbers)
    defaults = {"all_possible_transitions": True}
    if settings.get("algorithm", "lbfgs") == "lbfgs":
        settings = {"c2": 1.0, **settings}
        defaults["c2"] = 1.0
    theirs = sklearn_crfsuite.CRF(**{**defaults, **settings}).fit(items, labels)
    ours = CRFTagger(**settings).fit(items, labels)
    expected = as_arrays(theirs.predict_marginals(items), ours.classes_)
    # what crf_ rebuilds is exact; a second training by chance of order is not
    rebuilt = as_arrays(ours.crf_.predict_marginals(items), ours.classes_)
    same_marginals(ours.predict_proba(items), rebuilt)
    if settings.get("algorithm") not in ("l2sgd", "ap", "pa", "arow"):
        same_marginals(rebuilt, expected)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_best_path_scores_as_crfsuites_does(kind):
    """Where two paths are equal the two programs may take either."""
    items, labels = random_tagged(5, kind)
    ours = CRFTagger(c2=0.01).fit(items, labels)
    posterior = ours.posterior(items)
    place = {label: k for k, label in enumerate(ours.classes_.tolist())}
    theirs = [[place[label] for label in tags] for tags in ours.crf_.predict(items)]
    np.testing.assert_allclose(
        posterior.log_proba(posterior.viterbi()), posterior.log_proba(theirs), atol=1e-9
    )


def test_the_probability_of_a_tagging_is_crfsuites(tagger):
    items = [{"word": word} for word in X[0]]
    crfsuite = tagger.crf_.tagger_
    crfsuite.set(items)
    found = np.exp(tagger.posterior(X[:1]).log_proba([[0, 1, 2]]))
    assert found == pytest.approx([crfsuite.probability(["D", "N", "V"])])


def test_weights_are_crfsuites(tagger):
    """To the precision of float64: its text dump has six digits."""
    crf = tagger.crf_
    for (attribute, label), weight in crf.state_features_.items():
        row = tagger.attributes_.index(attribute)
        column = tagger.classes_.tolist().index(label)
        assert tagger.state_weights_[row, column] == pytest.approx(weight, abs=1e-6)
    for (before, after), weight in crf.transition_features_.items():
        pair = [tagger.classes_.tolist().index(label) for label in (before, after)]
        assert tagger.transition_weights_[*pair] == pytest.approx(weight, abs=1e-6)


# Beyond CRFsuite's limits


@pytest.mark.parametrize("weight", [1e4, 1e5])
def test_weights_that_overflow_in_crfsuite_are_exact(weight):
    items, labels = [[{"f": 1.0}, {"g": 1.0}]], [["A", "B"]]
    tagger = CRFTagger(c2=0.1).fit(items, labels)
    new = [[{"f": weight}]]
    assert np.isnan(as_arrays(tagger.crf_.predict_marginals(new), ["A", "B"])).any()
    np.testing.assert_array_equal(tagger.predict_proba(new)[0], [[1, 0]])


def test_weights_just_below_overflow_agree_with_crfsuite():
    items, labels = random_tagged(0, words_and_numbers)
    tagger = CRFTagger(c2=0.1).fit(items, labels)
    new = [[{"x": 300.0}, {"x": -300.0}, {"w": "a"}]]
    expected = as_arrays(tagger.crf_.predict_marginals(new), tagger.classes_)
    same_marginals(tagger.predict_proba(new), expected)


def test_a_sentence_of_ten_thousand_tokens_has_a_log_probability(tagger):
    long = [["the", "dog"] * 5000]
    np.testing.assert_allclose(tagger.predict_proba(long)[0].sum(axis=1), 1)
    log_proba = tagger.posterior(long).log_proba([[0, 1] * 5000])
    assert -np.inf < log_proba[0] < -745  # CRFsuite's probability underflows to 0


# The model and its files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder where temporary files go, and no others."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_no_file_survives_a_fit_that_fails(folder, monkeypatch):
    def fail(self, *args):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(sklearn_crfsuite.CRF, "fit", fail)
    with pytest.raises(RuntimeError, match="out of luck"):
        CRFTagger().fit(X, Y)
    assert list(folder.iterdir()) == []


@pytest.fixture(params=["in memory", "in a folder"])
def where_models_are(request, monkeypatch):
    """Train as on Linux, and as on systems without files in memory."""
    if request.param == "in a folder":
        monkeypatch.delattr("os.memfd_create", raising=False)
    elif not hasattr(os, "memfd_create"):
        pytest.skip("this system has no files in memory")


def test_a_model_is_the_same_in_memory_and_in_a_folder(folder, where_models_are):
    tagger = CRFTagger(c2=0.1).fit(X, Y)
    assert tagger.score(X, Y) == 1
    assert list(folder.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="no files in memory")
def test_no_file_survives_a_process_that_is_killed(tmp_path):
    """As when a search with several processes is interrupted."""
    code = (
        "import os, signal, sklearn_crfsuite\n"
        "from skcalib.sequence import CRFTagger\n"
        "def kill(self, *args): os.kill(os.getpid(), signal.SIGKILL)\n"
        "sklearn_crfsuite.CRF.fit = kill\n"
        "CRFTagger().fit([['a']], [['A']])\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment)
    assert done.returncode == -signal.SIGKILL
    assert list(tmp_path.glob("skcalib-crf-*")) == []


def test_the_rebuilt_crf_leaves_no_file(tagger, folder):
    crf = tagger.crf_
    assert list(folder.iterdir()) == []
    assert crf.predict([[{"word": "the"}]])[0] == ["D"]
    assert crf.state_features_


def test_the_rebuilt_crf_predicts_as_the_tagger(tagger):
    items = [[{"word": word} for word in sentence] for sentence in X]
    crf = tagger.crf_
    assert isinstance(crf, sklearn_crfsuite.CRF)
    for each in (crf, pickle.loads(pickle.dumps(crf))):
        assert [list(tags) for tags in each.predict(items)] == Y
    assert sorted(crf.classes_) == tagger.classes_.tolist()
    assert crf.c2 == 0.1


def test_fitting_again_forgets():
    tagger = CRFTagger().fit(X, Y).fit([["x", "y"]], [["A", "B"]])
    assert tagger.classes_.tolist() == ["A", "B"]
    assert sorted(tagger.attributes_) == ["word:x", "word:y"]


def test_progress_is_printed_where_asked(capfd):
    CRFTagger(max_iterations=2).fit(X, Y)
    silent = capfd.readouterr().out
    CRFTagger(max_iterations=2, verbose=True).fit(X, Y)
    assert silent == ""
    assert "Iter" in capfd.readouterr().out


# Attributes that the model does not know


def test_unknown_attributes_are_no_evidence():
    items, labels = random_tagged(0, words_and_numbers)
    tagger = CRFTagger(c2=0.1).fit(items, labels)
    more = [[{**token, "new": "x", "also": 3.0} for token in s] for s in items]
    same_marginals(tagger.predict_proba(more), tagger.predict_proba(items), 1e-15)


def test_a_token_without_known_attributes_is_judged_by_its_neighbours(tagger):
    """With no attribute at all the path has the weights of transitions only."""
    proba = tagger.predict_proba([["unseen"], [{}]])
    same_marginals(proba, [np.full((1, 3), 1 / 3)] * 2, 1e-15)


def test_attributes_that_never_weigh_leave_the_transitions():
    tagger = CRFTagger(min_freq=100).fit(X, Y)
    assert tagger.attributes_ == []
    np.testing.assert_allclose(tagger.predict_proba([["the"]])[0], [[1 / 3] * 3])


# Sparse sentences


@pytest.fixture(scope="module")
def hashed():
    return TokenFeatures("advanced", output="sparse").transform(X)


def dicts_of_columns(matrices):
    """Return a sparse sentence as dicts whose names are the column numbers."""

    def of_row(row):
        row.sum_duplicates()
        pairs = zip(row.indices, row.data, strict=True)
        return {str(j): float(value) for j, value in pairs if value}

    return [
        [of_row(matrix[[t]]) for t in range(matrix.shape[0])] for matrix in matrices
    ]


def test_a_sparse_row_is_a_dict_of_its_columns(hashed):
    columns = dicts_of_columns(hashed)
    from_sparse = CRFTagger(c2=0.1).fit(hashed, Y)
    from_dicts = CRFTagger(c2=0.1).fit(columns, Y)
    same_marginals(
        from_sparse.predict_proba(hashed), from_dicts.predict_proba(columns), 1e-12
    )
    expected = as_arrays(from_dicts.crf_.predict_marginals(columns), ["D", "N", "V"])
    same_marginals(from_sparse.predict_proba(hashed), expected)


def test_hashing_without_collisions_changes_nothing(hashed):
    dicts = TokenFeatures("advanced").transform(X)
    expected = CRFTagger(c2=0.1).fit(dicts, Y).predict_proba(dicts)
    found = CRFTagger(c2=0.1).fit(hashed, Y).predict_proba(hashed)
    same_marginals(found, expected, 1e-5)


@pytest.mark.parametrize("kind", ["csr_array", "csc_array", "coo_array", "csr_matrix"])
def test_any_sparse_format_will_do(hashed, kind):
    tagger = CRFTagger(c2=0.1).fit(hashed, Y)
    other = [getattr(sparse, kind)(matrix) for matrix in hashed]
    again = CRFTagger(c2=0.1).fit(other, Y)
    same_marginals(again.predict_proba(other), tagger.predict_proba(hashed), 1e-12)


def test_columns_that_repeat_in_a_row_add_up_in_fit_as_in_predict():
    parts = (np.array([1.0, 1.0, 1.0]), np.array([0, 0, 1]), np.array([0, 2, 3]))
    repeated = sparse.csr_array(parts, shape=(2, 2))
    summed = sparse.csr_array([[2.0, 0.0], [0.0, 1.0]])
    expected = CRFTagger().fit([summed], [["A", "B"]]).state_weights_
    found = CRFTagger().fit([repeated], [["A", "B"]]).state_weights_
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_sparse_input_is_not_modified(hashed):
    parts = (np.array([1.0, 1.0, 1.0]), np.array([0, 0, 1]), np.array([0, 2, 3]))
    repeated = sparse.csr_array(parts, shape=(2, 2))
    tagger = CRFTagger().fit([repeated], [["A", "B"]])
    tagger.predict_proba([repeated])
    assert repeated.data.tolist() == [1, 1, 1]
    assert repeated.indices.tolist() == [0, 0, 1]


def test_an_empty_sparse_sentence_is_an_empty_entry(hashed):
    tagger = CRFTagger().fit(hashed, Y)
    empty = sparse.csr_array((0, hashed[0].shape[1]))
    proba = tagger.predict_proba([empty, hashed[0]])
    assert [p.shape for p in proba] == [(0, 3), (3, 3)]


def test_columns_that_no_training_sentence_uses_are_unknown_attributes():
    used = [sparse.csr_array(np.eye(2, 9))]
    tagger = CRFTagger().fit(used, [["A", "B"]])
    more = used[0].tolil()
    more[0, 8] = 5
    same_marginals(tagger.predict_proba([more]), tagger.predict_proba(used), 0)


def test_sparse_sentences_go_through_searches_and_copies(hashed):
    y = Y * 3
    for sentences in (list(hashed) * 3, np.concatenate([hashed] * 3)):
        search = GridSearchCV(CRFTagger(), {"c2": [0.01, 10.0]}, cv=3, refit=True)
        search.fit(sentences, y)
        expected = search.predict_proba(sentences)
        again = pickle.loads(pickle.dumps(search)).predict_proba(sentences)
        same_marginals(again, expected, 0)
        assert cross_val_score(CRFTagger(c2=0.01), sentences, y, cv=3).shape == (3,)
        proba, classes = cross_val_marginals(CRFTagger(c2=0.1), sentences, y, cv=3)
        assert classes.tolist() == ["D", "N", "V"]
        assert [p.shape for p in proba] == [(len(tags), 3) for tags in y]


def test_room_behind_the_entries_of_a_matrix_is_not_read():
    matrix = sparse.csr_array(np.eye(2))
    matrix.data = np.append(matrix.data, 99.0)
    matrix.indices = np.append(matrix.indices, 0)
    tagger = CRFTagger().fit([EYE], [["A", "B"]])
    same_marginals(tagger.predict_proba([matrix, EYE]), tagger.predict_proba([EYE] * 2))


EYE = sparse.csr_array(np.eye(2))
FLAT = sparse.coo_array(np.ones(2))
BAD = sparse.csr_array([[0.0, 1.0], [np.nan, 0.0]])


@pytest.mark.parametrize(
    ("sentences", "error", "message"),
    [
        ([EYE, BAD], ValueError, "finite weights. Got nan in sentence 1, token 1"),
        ([EYE, ["a", "b"]], TypeError, "sparse matrices only.* list as sentence 1"),
        ([EYE, sparse.eye_array(3)], ValueError, r"same number of columns.*\[2, 3\]"),
        ([EYE, FLAT], ValueError, r"one row per token. Got shape \(2,\) as sent"),
        ([sparse.csr_array((2, 1))], ValueError, "the 2 columns that the .* Got 1"),
        ([sparse.csr_array((2, 4))], ValueError, "the 2 columns that the .* Got 4"),
    ],
)
def test_sparse_sentences_that_do_not_fit_are_refused(sentences, error, message):
    tagger = CRFTagger().fit([EYE], [["A", "B"]])
    with pytest.raises(error, match=message):
        tagger.predict(sentences)


@pytest.mark.parametrize(
    ("sentences", "error", "message"),
    [
        ([EYE, BAD], ValueError, "finite weights. Got nan in sentence 1, token 1"),
        ([EYE, ["a", "b"]], TypeError, "sparse matrices only.* list as sentence 1"),
        ([EYE, sparse.eye_array(2, 3)], ValueError, "same number of columns"),
    ],
)
def test_sparse_sentences_that_do_not_fit_each_other_are_refused_by_fit(
    sentences, error, message
):
    with pytest.raises(error, match=message):
        CRFTagger().fit(sentences, [["A", "B"]] * 2)


def test_a_tagger_of_words_refuses_sparse_sentences(tagger, hashed):
    with pytest.raises(
        (TypeError, ValueError), match="'X' parameter of CRFTagger.*sparse"
    ):
        tagger.predict(hashed)


def test_a_tagger_of_sparse_sentences_refuses_words(hashed):
    with pytest.raises(
        (TypeError, ValueError), match="'X' parameter of CRFTagger.*sparse"
    ):
        CRFTagger().fit(hashed, Y).predict(X)


# What is refused


@pytest.mark.parametrize("algorithm", ["l2sgd", "ap", "pa", "arow"])
def test_every_algorithm_is_reproducible(algorithm):
    items, labels = random_tagged(0, words_and_numbers, n=40)
    tagger = CRFTagger(algorithm=algorithm, max_iterations=5)
    expected = clone(tagger).fit(items, labels).model_bytes_
    if sys.platform == "linux":
        ctypes.CDLL(None).srand(12345)
    assert clone(tagger).fit(items, labels).model_bytes_ == expected
    with ThreadPoolExecutor(2) as threads:
        fits = threads.map(lambda _: clone(tagger).fit(items, labels), range(4))
        assert {model.model_bytes_ for model in fits} == {expected}


@pytest.mark.parametrize(
    ("algorithm", "name"),
    [
        ("l2sgd", "epsilon"),
        ("l2sgd", "c1"),
        ("pa", "c1"),
        ("ap", "c2"),
        ("arow", "c2"),
        ("pa", "c2"),
    ],
)
def test_a_penalty_that_the_algorithm_lacks_is_named(algorithm, name):
    with pytest.raises(
        ValueError, match=f"'{name}' .* used with algorithm='{algorithm}'"
    ):
        CRFTagger(algorithm=algorithm, **{name: 0.5}).fit(X, Y)


def test_parameters_are_checked_at_fit():
    cases = [
        ("algorithm", "sgd", ValueError, "one of 'lbfgs', 'l2sgd', 'ap'.* Got 'sgd'"),
        ("algorithm", None, ValueError, "Got None"),
        ("c1", -0.1, ValueError, "Got -0.1"),
        ("c1", np.nan, ValueError, "Got nan"),
        ("c1", "1", TypeError, "Got '1'"),
        ("c2", -1, ValueError, "Got -1"),
        ("c2", np.inf, ValueError, "Got inf"),
        ("c2", None, TypeError, "Got None"),
        ("c2", True, TypeError, "Got True"),
        ("decoding", "map", ValueError, "one of 'viterbi', 'posterior'. Got 'map'"),
        ("max_iterations", "many", TypeError, "Got 'many'"),
        ("max_iterations", -1, ValueError, "Got -1"),
        ("min_freq", "a", TypeError, "Got 'a'"),
        ("min_freq", -1, ValueError, "Got -1"),
        ("epsilon", "a", TypeError, "Got 'a'"),
        ("delta", "a", TypeError, "Got 'a'"),
        ("period", 1.5, TypeError, "Got 1.5"),
        ("all_possible_transitions", "no", TypeError, "True or False. Got 'no'"),
        ("all_possible_states", "yes", TypeError, "True or False. Got 'yes'"),
        ("num_memories", 0, ValueError, "Got 0"),
        ("linesearch", "best", ValueError, "one of 'MoreThuente', .* Got 'best'"),
        ("c", 1.0, ValueError, "cannot be used with algorithm='lbfgs'"),
        ("pa_type", 1, ValueError, "cannot be used with algorithm='lbfgs'"),
        ("calibration_eta", 0.1, ValueError, "cannot be used with algorithm='lbfgs'"),
    ]
    for parameter, value, error, message in cases:
        with case(f"{parameter}={value!r}"):
            tagger = CRFTagger(**{parameter: value})
            with pytest.raises(
                error, match=f"'{parameter}' parameter of CRFTagger.*{message}"
            ):
                tagger.fit(X, Y)


@pytest.mark.parametrize("number", [2**31, 10**12, 10**30])
def test_more_iterations_than_c_counts_are_no_fewer(number):
    items, labels = random_tagged(0, words_and_numbers)
    found = CRFTagger(max_iterations=number).fit(items, labels)
    expected = CRFTagger().fit(items, labels)
    same_marginals(found.predict_proba(items), expected.predict_proba(items), 1e-12)


@pytest.mark.parametrize("X_empty", [[[{}, {}]], [[{"f": []}, {}]]])
def test_tokens_without_any_attribute_train_nothing(X_empty):
    with pytest.raises(ValueError, match="no attribute at any token"):
        CRFTagger().fit(X_empty, [["A", "B"]])
