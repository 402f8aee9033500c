"""Features and the log-linear model of antecedents."""

import warnings

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.sparse import coo_array, csr_array, csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skcalib import AntecedentRanker, SampledCorefPairs
from skcalib.coref import AntecedentFeatures, coref_scores
from skcalib.coref._features import describe as describe_words
from skcalib.coref._ranker import Choices
from skcalib.datasets import make_coref_documents
from skcalib.documents import Document, Mention, Sentence
from skcalib.posteriors import AntecedentPosterior
from skcalib.text._documents import words_of


@pytest.fixture(scope="module")
def data():
    documents, y, scores = make_coref_documents(
        150, mean_mentions=12, return_scores=True, random_state=0
    )
    return documents, y, scores


@pytest.fixture(scope="module")
def features(data):
    return AntecedentFeatures(2**14).transform(data[0])


@pytest.fixture(scope="module")
def ranker(data, features):
    return AntecedentRanker(0.1, tol=1e-5).fit(features[:100], data[1][:100])


def describe(document):
    return describe_words(document, words_of(document))


def document(*phrases, **kwargs):
    """Return a document of one sentence for each phrase, which is its mention."""
    sentences, mentions, n = [], [], 0
    for phrase in phrases:
        words = phrase.split()
        sentences.append(Sentence([*words, "."], **kwargs))
        mentions.append(Mention(n, n + len(words)))
        n += len(words) + 1
    return Document("toy", None, sentences, mentions, range(len(mentions)))


class TestFeatures:
    def test_a_row_for_each_antecedent_and_new(self, data, features):
        for text, rows in zip(data[0], features, strict=True):
            n = len(text.mentions)
            assert rows.shape == (n * (n + 1) // 2, 2**14)
            assert (rows.data == 1).all()

    def test_features_do_not_use_entities_or_attributes(self, data):
        text = data[0][0]
        mentions = [Mention(m.start, m.end, m.head, {"x": 1}) for m in text.mentions]
        other = Document("o", None, text.sentences, mentions, range(len(mentions)))
        a, b = AntecedentFeatures().transform([text, other])
        assert (a != b).nnz == 0

    def test_features_do_not_depend_on_other_documents(self, data, features):
        alone = AntecedentFeatures(2**14).transform(data[0][3:4])[0]
        assert (alone != features[3]).nnz == 0

    def test_later_mentions_do_not_matter(self, data, features):
        text = data[0][0]
        n = 4
        cut = Document("c", None, text.sentences, text.mentions[:n], range(n))
        found = AntecedentFeatures(2**14).transform([cut])[0]
        assert (found != features[0][: n * (n + 1) // 2]).nnz == 0

    @pytest.mark.parametrize(
        ("phrase", "head"),
        [
            ("the king of Spain", "king"),
            ("the man who left", "man"),
            ("a very old house", "house"),
            ("Paris , the town", "Paris"),
            ("of mine", "mine"),
        ],
    )
    def test_heads_are_guessed_where_there_is_no_parse(self, phrase, head):
        alone = describe(document(head))
        assert describe(document(phrase))["head"] == alone["head"]

    def test_quotations_are_numbered(self):
        words = ['"', "I", '"', "said", "he", ".", "“", "You", "”"]
        mentions = [Mention(t, t + 1) for t in (1, 4, 7)]
        text = Document("q", None, [Sentence(words)], mentions, range(3))
        assert describe(text)["quote"].tolist() == [1, 0, 2]

    def test_speakers_are_read_from_either_place(self):
        sentences = [
            Sentence(["I"], comments=["# speaker = Ada"]),
            Sentence(["I"], misc=["Speaker=Ada"]),
            Sentence(["I"]),
        ]
        mentions = [Mention(t, t + 1) for t in range(3)]
        found = describe(Document("s", None, sentences, mentions, range(3)))["speaker"]
        assert found[0] == found[1] != found[2]

    def test_forms_of_a_pronoun_are_of_one_kind(self):
        found = describe(document("she", "her", "hers", "he", "Ada", "the dog"))
        assert len(set(found["kind"][:3].tolist())) == 1
        assert len(set(found["kind"].tolist())) == 4
        assert found["text"][0] == found["text"][1] != found["text"][3]

    @pytest.mark.parametrize(
        ("X", "error", "message"),
        [
            (Document("x"), TypeError, "a sequence of documents. Got Document"),
            ([3], TypeError, "Got int as document 0"),
            (
                [Document("x", mentions=[Mention(0, 1)], entities=[0])],
                ValueError,
                "document 0 ends at word 1, but the document has 0 words",
            ),
            (
                [
                    Document(
                        "x",
                        sentences=[Sentence(["a", "b"])],
                        mentions=[Mention(1, 2), Mention(0, 1)],
                        entities=[0, 1],
                    )
                ],
                ValueError,
                "Mention 1 of document 0 must come earlier",
            ),
        ],
    )
    def test_refused(self, X, error, message):
        with pytest.raises(error, match=message):
            AntecedentFeatures().transform(X)

    @pytest.mark.parametrize(
        ("size", "error"), [(100, ValueError), (1, ValueError), (64.0, TypeError)]
    )
    def test_a_power_of_two(self, size, error):
        with pytest.raises(error, match="'n_features' parameter of AntecedentFeatures"):
            AntecedentFeatures(size).transform([])


class TestLoss:
    def test_it_is_minus_the_log_probability_of_the_truth(self, data):
        """The sum of row losses is what the posterior gives a whole clustering."""
        for labels, scores in zip(data[1][:20], data[2][:20], strict=True):
            rows = scores[np.tril_indices(len(scores))]
            (expected,) = AntecedentPosterior([scores]).log_proba([labels])
            assert Choices(labels).loss(rows)[0] == pytest.approx(-expected)

    @pytest.mark.parametrize("margin", [None, (0.3, 2.0, 1.0)])
    def test_its_slope(self, margin):
        rng = np.random.default_rng(0)
        rows = Choices(np.array([0, 1, 0, 0, 1]), margin)
        scores = rng.normal(size=15) * 3
        slope = approx_fprime(scores, lambda x: rows.loss(x)[0], 1e-7)
        np.testing.assert_allclose(rows.loss(scores)[1], slope, atol=1e-5)

    def test_the_margin_by_hand(self):
        # mention 0 new; 1 new, its link costs 0.3; 2 links to 0, to 1 costs 1, NEW 2
        value, _ = Choices(np.array([0, 1, 0]), (0.3, 2.0, 1.0)).loss(np.zeros(6))
        expected = np.log(1 + np.exp(0.3)) + np.log(1 + np.exp(1) + np.exp(2))
        assert value == pytest.approx(expected)

    def test_scores_of_any_size(self):
        value, slope = Choices(np.array([0, 0])).loss(np.array([0, -2000.0, 0]))
        assert value == 2000
        assert slope.tolist() == [0, -1, 1]


class TestRanker:
    def test_it_comes_near_the_true_posterior(self, data, features, ranker):
        """Held-out documents: the true scores cannot be beaten on average."""
        y, truth = data[1][100:], AntecedentPosterior(data[2][100:])
        n = truth.lengths.sum()
        best = truth.log_proba(y).sum() / n
        uniform = AntecedentPosterior([np.zeros((k, k)) for k in truth.lengths])
        found = ranker.score(features[100:], y)
        assert best - 0.25 < found < best + 0.05
        assert found > uniform.log_proba(y).sum() / n + 0.25

    def test_what_is_predicted(self, data, features, ranker):
        X, y = features[100:], data[1][100:]
        scores = ranker.transform(X)
        posterior = AntecedentPosterior(scores)
        assert scores[0].shape == (len(y[0]),) * 2
        assert np.isneginf(scores[0][np.triu_indices(len(y[0]), 1)]).all()
        labels = ranker.predict(X)
        assert [e.tolist() for e in labels] == [
            e.tolist() for e in posterior.map_clusters()
        ]
        exact = SampledCorefPairs(method="exact").transform(scores)
        for a, b in zip(ranker.predict_proba(X), exact, strict=True):
            assert (a == b).all()
        alone = coref_scores(y, [np.arange(len(e)) for e in y])
        assert coref_scores(y, labels)["lea"].f1 > alone["lea"].f1 + 0.05

    def test_order_of_documents_and_names_of_entities(self, data, features):
        X, y = list(features[:20]), data[1][:20]
        first = AntecedentRanker(0.1, tol=1e-7, max_iter=500).fit(X, y)
        again = AntecedentRanker(0.1, tol=1e-7, max_iter=500).fit(
            X[::-1], [labels * 7 - 3 for labels in y[::-1]]
        )
        assert again.loss_ == pytest.approx(first.loss_, rel=1e-6)

    def test_the_weights_are_a_minimum(self, data, features):
        X, y = features[:5], data[1][:5]
        ranker = AntecedentRanker(0.5, tol=1e-9, max_iter=1000).fit(X, y)
        gradient = ranker.coef_ / 0.5
        for rows, labels in zip(X, y, strict=True):
            gradient += rows.T @ Choices(labels).loss(rows @ ranker.coef_)[1]
        assert np.abs(gradient).max() < 1e-2

    def test_a_pipeline_can_be_tuned(self, data):
        documents, y, _ = data
        pipe = make_pipeline(
            AntecedentFeatures(2**12),
            AntecedentRanker(),
            SampledCorefPairs(method="exact"),
        )
        search = GridSearchCV(pipe, {"antecedentranker__C": [1e-6, 0.1]}, cv=2)
        search.fit(documents[:30], y[:30])
        assert search.best_params_ == {"antecedentranker__C": 0.1}
        proba = search.predict_proba(documents[30:32])
        assert [p.size for p in proba] == [len(e) * (len(e) - 1) // 2 for e in y[30:32]]

    def test_too_few_iterations(self, data, features):
        with pytest.warns(ConvergenceWarning, match="did not converge in 2 iterations"):
            AntecedentRanker(max_iter=2).fit(features[:5], data[1][:5])

    def test_progress(self, data, features, capsys):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            AntecedentRanker(max_iter=2, verbose=1).fit(features[:5], data[1][:5])
        assert capsys.readouterr().out.count("[AntecedentRanker] loss") == 2

    def test_any_sparse_features(self):
        # two features: the earlier mention has the same sign; NEW
        X = [
            csr_array([[0, 1.0], [1, 0], [0, 1]]),
            csr_array([[0, 1.0], [0, 0], [0, 1]]),
        ]
        ranker = AntecedentRanker(10.0).fit(X, [[0, 0], [0, 1]])
        assert [e.tolist() for e in ranker.predict(X)] == [[0, 0], [0, 1]]

    def test_features_of_any_kind_give_the_same(self):
        rows = np.array([[0, 1], [1, 0], [0, 1]])
        ranker = AntecedentRanker().fit([csr_array(rows.astype(float))], [["a", "a"]])
        for kind in (bool, np.int8, np.float32):
            for matrix in (csr_array, csr_matrix, coo_array):
                X = [matrix(rows.astype(kind))]
                again = AntecedentRanker().fit(X, [[5, 5]])
                np.testing.assert_allclose(again.coef_, ranker.coef_, rtol=1e-6)

    def test_labels_of_different_kinds_are_different_entities(self):
        scores = AntecedentRanker().fit([csr_array([[0], [1], [0]])], [[1, "1"]])
        assert scores.coef_[0] < 0

    def test_features_with_nan_raise_an_error(self, features, ranker):
        with pytest.raises(
            ValueError, match="transform must contain finite .* Got nan"
        ):
            ranker.predict_proba([features[0] * np.nan])

    @pytest.mark.parametrize(
        ("y", "error", "message"),
        [
            ([[0]], ValueError, "each of the 2 documents. Got 1"),
            ([[0], [0]], ValueError, "mentions of document 0. Got 1"),
            (None, TypeError, "Got NoneType"),
        ],
    )
    def test_labels_to_score_are_checked(self, features, ranker, y, error, message):
        with pytest.raises(error, match=f"'y' .* AntecedentRanker.score .*{message}"):
            ranker.score(features[:2], y)

    @pytest.mark.parametrize(
        ("params", "error"),
        [
            ({"C": "1"}, TypeError),
            ({"loss": "hinge"}, ValueError),
            ({"tol": -1}, ValueError),
        ],
    )
    def test_parameters_are_checked(self, params, error):
        (name,) = params
        with pytest.raises(error, match=f"'{name}' parameter of AntecedentRanker"):
            AntecedentRanker(**params).fit([csr_array((1, 2))], [[0]])

    @pytest.mark.parametrize(
        ("X", "y", "error", "message"),
        [
            ([], [], ValueError, "'X' .* at least one document"),
            (csr_array((1, 2)), [[0]], TypeError, "'X' .* sparse array for each"),
            ([np.zeros((1, 2))], [[0]], TypeError, "'X' .* Got ndarray for document 0"),
            ([csr_array((2, 2))], [[0]], ValueError, "Got 2 rows for document 0"),
            ([csr_array((1, 2))], [[0], [0]], ValueError, "'y' .* 1 documents. Got 2"),
            ([csr_array((1, 2))], [[0, 0]], ValueError, "'y' .* 1 mentions .* Got 2"),
            ([csr_array((1, 2))], ["a"], TypeError, "'y' .* Got str .* for document 0"),
            ([csr_array((3, 2))], [[0, np.nan]], ValueError, "Got nan for mention 1"),
            ([csr_array([[np.inf]])], [[0]], ValueError, "Got inf for document 0"),
            ([csr_array([[1j]])], [[0]], ValueError, "numbers. Got complex128"),
            ([coo_array([1.0] * 3)], [[0, 1]], ValueError, r"Got shape \(3,\) for"),
            (
                [csr_array([[0, 1e200], [1e200, 0], [0, 1e200]])],
                [[0, 0]],
                ValueError,
                "'X' .* so large that scores overflow",
            ),
        ],
    )
    def test_refused(self, X, y, error, message):
        with pytest.raises(error, match=message):
            AntecedentRanker().fit(X, y)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))]
)
@pytest.mark.parametrize("loss", ["log", "softmax_margin"])
def test_the_defaults_converge_on_sixty_documents(seed, loss):
    documents, y = make_coref_documents(60, random_state=seed)
    X = AntecedentFeatures().transform(documents)
    ranker = AntecedentRanker(loss=loss).fit(X, y)  # a warning is an error here
    assert 20 < ranker.n_iter_ < ranker.max_iter
    assert ranker.loss_ < 0.5 * AntecedentRanker(1e-12, loss=loss).fit(X, y).loss_


def test_features_can_be_changed_and_sorted(data):
    documents, y, _ = data
    found = AntecedentFeatures(2**10).transform(documents[:20])
    before = [each.toarray() for each in found]
    for each, expected in zip(found, before, strict=True):
        assert each.data.flags.writeable
        assert each.indices.flags.writeable
        each.sort_indices()
        np.testing.assert_array_equal(each.toarray(), expected)
        each.data *= 2
    for each, expected in zip(found, before, strict=True):  # nothing is shared
        np.testing.assert_array_equal(each.toarray(), 2 * expected)
