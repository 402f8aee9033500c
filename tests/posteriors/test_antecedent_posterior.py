"""Antecedent posterior: every answer against all choices of antecedents."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from skcalib.posteriors import AntecedentPosterior, _antecedent_posterior
from skcalib.posteriors._antecedent_posterior import draw_labels


def log(proba):
    with np.errstate(divide="ignore"):
        return np.log(proba)


def random_scores(seed, n, scale=1.0, forbidden=0.0):
    """Draw scores; NEW stays allowed, so that an option is left."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, n)) * scale
    scores[rng.random((n, n)) < forbidden] = -np.inf
    scores[np.arange(n), np.arange(n)] = rng.normal(size=n) * scale
    scores[np.triu_indices(n, 1)] = 0
    return scores


def every_clustering(scores):
    """Return {labels: probability}: links as a graph, its connected components.

    Labels are the first mentions, probabilities summed by `math.fsum`.
    """
    n = len(scores)
    weights = [[math.exp(x) for x in row[: j + 1]] for j, row in enumerate(scores)]
    terms = {}
    for choice in itertools.product(*(range(j + 1) for j in range(n))):
        proba = math.prod(
            weights[j][k] / math.fsum(weights[j]) for j, k in enumerate(choice)
        )
        graph = coo_array((np.ones(n), (np.arange(n), choice)), shape=(n, n))
        part = connected_components(graph, directed=False)[1] if n else []
        first = tuple(int(np.flatnonzero(part == c)[0]) for c in part)
        terms.setdefault(first, []).append(proba)
    return {labels: math.fsum(proba) for labels, proba in terms.items()}


def mean(clusterings, value):
    """Return the expectation of a function of the labels."""
    terms = [np.multiply(value(np.array(e, int)), p) for e, p in clusterings.items()]
    return np.sum(terms, axis=0)


CASES = [
    (seed, n, scale, forbidden)
    for n in (0, 1, 2, 4, 6)
    for seed, (scale, forbidden) in enumerate([(1, 0), (3, 0.4), (20, 0.2)])
]


@pytest.fixture(
    scope="module",
    params=CASES,
    ids=lambda case: "seed{}-n{}-scale{}-forbidden{}".format(*case),
)
def case(request):
    scores = random_scores(*request.param)
    return AntecedentPosterior([scores]), every_clustering(scores)


class TestAgainstEveryClustering:
    def test_pair_marginals(self, case):
        posterior, clusterings = case
        expected = mean(clusterings, lambda e: np.equal.outer(e, e))
        found = posterior.pair_marginals()[0]
        np.testing.assert_allclose(found, expected, atol=1e-12)
        assert (found == found.T).all()

    def test_number_of_entities(self, case):
        posterior, clusterings = case
        n = posterior.lengths[0]
        expected = mean(clusterings, lambda e: np.eye(n + 1)[len(set(e.tolist()))])
        found = posterior.n_entities_pmf()[0]
        np.testing.assert_allclose(found, expected, atol=1e-12)

    def test_singletons(self, case):
        posterior, clusterings = case
        expected = mean(clusterings, lambda e: np.equal.outer(e, e).sum(0) == 1)
        found = posterior.singleton_proba()[0]
        np.testing.assert_allclose(found, expected, atol=1e-12)

    def test_entities(self, case):
        posterior, clusterings = case
        n = posterior.lengths[0]
        sets = [
            set(members)
            for size in range(1, n + 1)
            for members in itertools.combinations(range(n), size)
        ]

        def is_entity(e):
            groups = [set(np.flatnonzero(e == k).tolist()) for k in set(e.tolist())]
            return np.array([members in groups for members in sets])

        (found,) = posterior.entity_proba([sets])
        np.testing.assert_allclose(found, mean(clusterings, is_entity), atol=1e-12)
        if n:
            assert posterior.entity_proba([sets[-1]]) == found[-1:]

    def test_clusterings(self, case):
        posterior, clusterings = case
        for labels, proba in clusterings.items():
            (found,) = posterior.log_proba([labels])
            assert found == pytest.approx(log(proba), abs=1e-12, rel=1e-12)

    def test_samples_have_their_share(self, case):
        posterior, clusterings = case
        n_samples = 4000
        drawn = posterior.sample(n_samples, random_state=0)[0]
        counts = dict.fromkeys(clusterings, 0)
        for labels in drawn.tolist():
            counts[tuple(labels)] += 1
        for labels, proba in clusterings.items():
            sd = math.sqrt(n_samples * proba * (1 - proba))
            assert abs(counts[labels] - n_samples * proba) <= 5 * sd + 1
            assert proba > 0 or counts[labels] == 0

    def test_fewest_pair_errors(self, case):
        posterior, clusterings = case
        pairs = posterior.pair_marginals()[0]

        def risk(e):
            return np.abs(np.equal.outer(e, e) - pairs).sum()

        (found,) = posterior.mbr_clusters()
        assert tuple(found) in clusterings
        assert risk(found) <= risk(posterior.map_clusters()[0]) + 1e-12
        # on documents as small as these the local search finds the best
        least = min(risk(np.array(e, dtype=int)) for e in clusterings)
        assert risk(found) == pytest.approx(least, abs=1e-12)


class TestAntecedentProba:
    def test_rows_are_a_softmax(self):
        scores = [[np.log(3), 0, 0], [np.log(3), 0, 0], [0, np.log(2), 0]]
        found = AntecedentPosterior([scores]).antecedent_proba()[0]
        expected = [[1, 0, 0], [3 / 4, 1 / 4, 0], [1 / 4, 2 / 4, 1 / 4]]
        np.testing.assert_allclose(found, expected, rtol=1e-15)

    @pytest.mark.parametrize(
        ("row", "expected"),
        [
            ([1000, -1000], [1, 0]),
            ([-1000, -1000], [0.5, 0.5]),
            ([1e308, 1e308], [0.5, 0.5]),
            ([1e308, -1e308], [1, 0]),
            ([-np.inf, -1e308], [0, 1]),
        ],
    )
    def test_scores_of_any_size(self, row, expected):
        posterior = AntecedentPosterior([[[0, 0], row]])
        assert posterior.antecedent_proba()[0][1].tolist() == expected
        assert posterior.pair_marginals()[0][0, 1] == expected[0]

    def test_a_mention_without_allowed_links_is_new(self):
        scores = [[3, 0, 0], [-np.inf, -800, 0], [1, -np.inf, 1]]
        found = AntecedentPosterior([scores]).antecedent_proba()[0]
        assert found.tolist() == [[1, 0, 0], [0, 1, 0], [0.5, 0, 0.5]]

    def test_rows_need_not_be_normalised_and_new_is_the_diagonal(self):
        """A neural model's links against a NEW that has the score 0."""
        links = [[], [2.0], [-1.0, 3.0]]
        scores = np.zeros((3, 3))
        for j, row in enumerate(links):
            scores[j, :j] = row
        found = AntecedentPosterior([scores]).antecedent_proba()[0]
        total = math.exp(-1) + math.exp(3) + 1
        assert found[2].tolist() == pytest.approx(
            [math.exp(-1) / total, math.exp(3) / total, 1 / total], rel=1e-15
        )
        np.testing.assert_allclose(found.sum(axis=1), 1)

    @pytest.mark.parametrize("above", [0, -np.inf, np.nan])
    def test_above_the_diagonal_nothing_is_read(self, above):
        scores = random_scores(0, 5)
        expected = AntecedentPosterior([scores])
        scores[np.triu_indices(5, 1)] = above
        found = AntecedentPosterior([scores])
        np.testing.assert_array_equal(
            found.antecedent_proba()[0], expected.antecedent_proba()[0]
        )
        assert found.map_clusters()[0].tolist() == expected.map_clusters()[0].tolist()
        assert found.log_proba([[0] * 5]) == expected.log_proba([[0] * 5])

    def test_inputs_stay(self):
        scores = random_scores(0, 4)
        before = scores.copy()
        posterior = AntecedentPosterior([scores])
        posterior.pair_marginals()
        posterior.tempered(2, 1)
        assert (scores == before).all()
        scores[3, 3] = 50  # what is changed later is not the posterior's
        assert posterior.antecedent_proba()[0][3, 3] < 0.9


class TestPairMarginals:
    @pytest.mark.parametrize(
        ("n", "scale"),
        [*((n, 3) for n in (47, 48, 49, 96, 97, 150, 333)), (200, 0.1), (200, 300)],
    )
    @pytest.mark.parametrize("forbidden", [0, 0.5])
    def test_blocks_are_the_rows_of_the_definition(self, n, scale, forbidden):
        """Even choices, nearly certain ones, and exact zeros and ones."""
        posterior = AntecedentPosterior([random_scores(1, n, scale, forbidden)])
        proba = posterior.antecedent_proba()[0]
        expected = np.eye(n)
        for j in range(1, n):
            expected[j, :j] = expected[:j, j] = proba[j, :j] @ expected[:j, :j]
        found = posterior.pair_marginals()[0]
        np.testing.assert_allclose(found, expected, atol=1e-12)
        assert (found == found.T).all()
        assert (found.diagonal() == 1).all()

    def test_a_chain_of_certain_links(self):
        n = 2000
        scores = np.full((n, n), -np.inf)
        scores[np.arange(1, n), np.arange(n - 1)] = 0
        scores[0, 0] = 0
        posterior = AntecedentPosterior([scores])
        assert (posterior.pair_marginals()[0] == 1).all()
        assert (posterior.sample(2, random_state=0)[0] == 0).all()
        assert (posterior.map_clusters()[0] == 0).all()
        assert posterior.log_proba([[0] * n]) == 0

    def test_a_forbidden_link_may_hold_by_way_of_others(self):
        scores = [[0, 0, 0], [5, 0, 0], [-np.inf, 5, 0]]
        pairs = AntecedentPosterior([scores]).pair_marginals()[0]
        link = math.exp(5) / (math.exp(5) + 1)
        assert pairs[2, 0] == pytest.approx(link**2, rel=1e-14)


class TestSample:
    def test_shapes_and_labels(self):
        posterior = AntecedentPosterior([random_scores(i, n) for i, n in [(0, 3)] * 2])
        first, second = posterior.sample(5, random_state=1)
        assert first.shape == second.shape == (5, 3)
        assert first.dtype == np.int32  # many documents' samples are kept
        for labels in (*first, *second):
            assert all(labels[label] == label <= j for j, label in enumerate(labels))

    def test_the_seed_decides_and_fewer_are_the_first(self, monkeypatch):
        posterior = AntecedentPosterior([random_scores(i, i) for i in (4, 0, 7)])
        more = posterior.sample(50, random_state=3)
        fewer = posterior.sample(20, random_state=np.random.default_rng(3))
        monkeypatch.setattr(_antecedent_posterior, "DRAWN", 30)
        blocks = posterior.sample(50, random_state=3)
        for a, b, c in zip(more, fewer, blocks, strict=True):
            assert (a[:20] == b).all()
            assert (a == c).all()

    @pytest.mark.parametrize("uniform", [0.0, np.nextafter(1, 0)])
    def test_what_has_no_probability_is_not_drawn(self, uniform):
        rows = np.array(
            [[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 1 / 3, 2 / 3, 0]]
        )
        labels = draw_labels(rows, np.full((1, 4), uniform))
        assert labels[:, 0].tolist() == [0, 1, 1, 1]

    def test_no_mention(self):
        posterior = AntecedentPosterior([np.zeros((0, 0))])
        assert posterior.sample(7, random_state=0)[0].shape == (7, 0)
        assert AntecedentPosterior([]).sample(7, random_state=0) == []


class TestLogProba:
    def test_labels_of_any_kind(self):
        posterior = AntecedentPosterior([random_scores(0, 4)])
        kinds = [[7, 2, 7, 2], "abab", ["Ada", 1, "Ada", 1], np.array([1, 0, 1, 0])]
        found = {float(posterior.log_proba([list(labels)])[0]) for labels in kinds}
        assert len(found) == 1

    def test_far_below_the_smallest_float(self):
        n = 60
        scores = np.tril(np.full((n, n), -1000.0))
        scores[np.arange(n), np.arange(n)] = 0
        found = AntecedentPosterior([scores]).log_proba([[0] * n])
        expected = sum(math.log(j) - 1000 for j in range(1, n))
        assert found == pytest.approx(expected, rel=1e-12)

    def test_impossible(self):
        scores = [[0, 0], [-np.inf, 0]]
        found = AntecedentPosterior([scores, scores]).log_proba([[0, 0], [0, 1]])
        assert found.tolist() == [-np.inf, 0]

    def test_mentions_out_of_reach_are_counted(self):
        """A window of two mentions: 4 has its only antecedent, 0, out of it."""
        n = 5
        scores = np.zeros((n, n))
        scores[np.tril_indices(n, -3)] = -np.inf
        posterior = AntecedentPosterior([scores, scores, np.zeros((0, 0))])
        gold = [[0, 1, 2, 3, 0], [0, 1, 0, 3, 0], []]
        assert posterior.n_unreachable(gold).tolist() == [1, 0, 0]
        assert np.isneginf(posterior.log_proba(gold)).tolist() == [True, False, False]
        no_new = [[0, 0], [0, -np.inf]]
        assert AntecedentPosterior([no_new]).n_unreachable([[0, 1]]).tolist() == [1]
        with pytest.raises(ValueError, match="n_unreachable .* of the 3 documents"):
            posterior.n_unreachable(gold[:2])

    @given(st.integers(0, 100), st.lists(st.integers(0, 3), min_size=1, max_size=8))
    def test_names_of_entities_do_not_matter(self, seed, labels):
        posterior = AntecedentPosterior([random_scores(seed, len(labels), 5)])
        renamed = [(3 - label) * 10 for label in labels]
        assert posterior.log_proba([labels]) == posterior.log_proba([renamed])


class TestMapClusters:
    @pytest.mark.parametrize(
        ("scores", "expected"),
        [
            (np.zeros((3, 3)), [0, 0, 0]),  # the lowest index, NEW last
            ([[0, 0, 0], [1, 2, 0], [1, 2, 2]], [0, 1, 1]),
            ([[0, 0, 0], [2, 1, 0], [0, 2, 1]], [0, 0, 0]),
            ([[0, 0, 0], [1, 2, 0], [1, 1, 2]], [0, 1, 2]),
            ([[0, 0], [0, 1e-300]], [0, 1]),  # equal as probabilities
        ],
    )
    def test_by_hand(self, scores, expected):
        (found,) = AntecedentPosterior([scores]).map_clusters()
        assert found.tolist() == expected

    def test_it_need_not_be_the_most_probable_clustering(self):
        # Mention 2 is NEW by a hair; to join {0, 1} there are two ways.
        posterior = AntecedentPosterior([[[0, 0, 0], [9, 0, 0], [0, 0, 0.1]]])
        (found,) = posterior.map_clusters()
        assert found.tolist() == [0, 0, 2]
        assert posterior.log_proba([[0, 0, 0]]) > posterior.log_proba([found])
        assert posterior.mbr_clusters()[0].tolist() == [0, 0, 0]


class TestMbrClusters:
    @given(st.integers(0, 10_000), st.integers(2, 12), st.sampled_from([0.5, 2.0, 6.0]))
    def test_no_move_and_no_merge_helps(self, seed, n, scale):
        posterior = AntecedentPosterior([random_scores(seed, n, scale)])
        (pairs,), (labels,) = posterior.pair_marginals(), posterior.mbr_clusters()

        def risk(e):
            return np.abs(np.equal.outer(e, e) - pairs).sum()

        least = risk(labels) - 1e-9
        for j, to in itertools.product(range(n), range(n + 1)):
            moved = labels.copy()
            moved[j] = to if to < n else -1
            assert risk(moved) >= least
        for a, b in itertools.combinations(set(labels.tolist()), 2):
            assert risk(np.where(labels == a, b, labels)) >= least
        assert risk(posterior.map_clusters()[0]) >= least


class TestTempered:
    def test_scores_are_divided_and_new_is_moved(self):
        scores = random_scores(0, 5, 3, 0.3)
        found = AntecedentPosterior([scores]).tempered(2.5, -0.75)
        by_hand = scores / 2.5
        by_hand[np.diag_indices(5)] -= 0.75
        expected = AntecedentPosterior([by_hand])
        np.testing.assert_allclose(
            found.antecedent_proba()[0], expected.antecedent_proba()[0], rtol=1e-14
        )

    @pytest.mark.parametrize("temperature", [0.1, 7])
    def test_the_best_antecedents_stay(self, temperature):
        posterior = AntecedentPosterior([random_scores(i, 9, 3) for i in range(5)])
        tempered = posterior.tempered(temperature)
        for a, b in zip(posterior.map_clusters(), tempered.map_clusters(), strict=True):
            assert a.tolist() == b.tolist()

    @pytest.mark.parametrize(
        ("args", "error", "message"),
        [
            ((-1.0,), ValueError, "'temperature' .* positive"),
            (("1",), TypeError, "'temperature' .* Got '1'"),
            ((1, np.inf), ValueError, "'new_offset' .* finite number. Got inf"),
            ((1, None), TypeError, "'new_offset' .* Got None"),
            ((1e-308,), ValueError, "'temperature' .* too small: 1e-308"),
        ],
    )
    def test_refused(self, args, error, message):
        posterior = AntecedentPosterior([[[1.0, 0], [5, 20]]])
        with pytest.raises(error, match=message):
            posterior.tempered(*args)


class TestDocuments:
    def test_length_and_slice(self):
        posterior = AntecedentPosterior([random_scores(n, n) for n in (2, 0, 3)])
        assert len(posterior) == 3
        assert posterior.lengths.tolist() == [2, 0, 3]
        part = posterior[1:]
        assert len(part) == 2
        np.testing.assert_array_equal(
            part.pair_marginals()[1], posterior.pair_marginals()[2]
        )

    def test_no_mention_and_one(self):
        posterior = AntecedentPosterior([[], [[3.0]], np.zeros((0, 0))])
        assert [pairs.shape for pairs in posterior.pair_marginals()] == [
            (0, 0),
            (1, 1),
            (0, 0),
        ]
        assert [pmf.tolist() for pmf in posterior.n_entities_pmf()] == [
            [1],
            [0, 1],
            [1],
        ]
        assert posterior.log_proba([[], [4], []]).tolist() == [0, 0, 0]
        assert [e.tolist() for e in posterior.map_clusters()] == [[], [0], []]
        assert [e.tolist() for e in posterior.mbr_clusters()] == [[], [0], []]
        assert [p.tolist() for p in posterior.singleton_proba()] == [[], [1], []]

    def test_float32_is_computed_in_float64(self):
        scores = random_scores(0, 6).astype(np.float32)
        found = AntecedentPosterior([scores]).pair_marginals()[0]
        expected = AntecedentPosterior([scores.astype(float)]).pair_marginals()[0]
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("scores", "error", "message"),
    [
        (3, TypeError, "a list with a square array for each document. Got int"),
        ("ab", TypeError, "Got str"),
        (np.array(3), TypeError, r"Got ndarray array\(3\)"),
        ([np.array([[1j]])], ValueError, "numbers, in rows.* in document 0"),
        (np.zeros((2, 2)), ValueError, r"\(2,\).* Put a single document into a list"),
        ([np.zeros((2, 3))], ValueError, r"shape \(2, 3\) for document 0"),
        ([[[0]], [[0, 0], [0]]], ValueError, "rows of equal length. .* in document 1"),
        ([[[10**400]]], ValueError, "'log_scores'.*other content in document 0"),
        ([[["a"]]], ValueError, "the text .a. in row 0 in document 0"),
        ([[[0, 0], [0, np.nan]]], ValueError, "Got nan in document 0, row 1, column 1"),
        ([[[0, 0], [np.inf, 0]]], ValueError, "Got inf in document 0, row 1, column 0"),
        ([[[0, 2], [0, 0]]], ValueError, "later .* Got 2.0 in document 0, row 0"),
        ([[[0, np.inf], [0, 0]]], ValueError, "above the diagonal.* Got inf"),
        ([[[-np.inf]]], ValueError, "or NEW, .* only -inf for mention 0 of document 0"),
    ],
)
def test_scores_refused(scores, error, message):
    with pytest.raises(error, match=message):
        AntecedentPosterior(scores)


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ([[0, 0]], ValueError, "each of the 2 documents. Got 1"),
        ([[0, 0], [0]], ValueError, "2 mentions of document 1. Got 1"),
        ([[0, 0], 5], TypeError, "Got int .* for document 1"),
        ([[0, 0], "ab"], TypeError, "Got str .* for document 1"),
        ([[0, 0], [0, np.nan]], ValueError, "Got nan for mention 1 of document 1"),
        ([[0, 0], [0, []]], ValueError, r"Got \[\] for mention 1 of document 1"),
        ([[0, 0], [0, pd.NA]], ValueError, "Got <NA> for mention 1 of document 1"),
        ([[0, 0], np.array(3)], TypeError, "Got ndarray .* for document 1"),
        (7, TypeError, "an entry for each document. Got int"),
    ],
)
def test_labels_refused(labels, error, message):
    posterior = AntecedentPosterior([np.zeros((2, 2))] * 2)
    message = f"The 'labels' parameter of AntecedentPosterior.log_proba .*{message}"
    with pytest.raises(error, match=message):
        posterior.log_proba(labels)


@pytest.mark.parametrize(
    ("members", "error", "message"),
    [
        ([{0}], ValueError, "each of the 2 documents. Got 1"),
        ([{0}, {2}], ValueError, r"from 0 to 1. Got \{2\} in document 1"),
        ([{0}, [0, 0]], ValueError, r"distinct mentions.* Got \[0, 0\] in document 1"),
        ([[{0}], [{0}, set()]], ValueError, r"one or more.* Got set\(\) in document 1"),
        ([[{0}], [{0.5}]], ValueError, r"Got \{0.5\} in document 1"),
        ([{0}, [True, False]], ValueError, "Got True in document 1"),
        ([{0}, [{0}]], ValueError, "entries of both kinds"),
        ([{0}, 3], TypeError, "Got 3 for document 1"),
        ([{0}, np.array(1)], TypeError, r"Got array\(1\) for document 1"),
        ([[{0}], [np.array(1)]], ValueError, r"Got array\(1\) in document 1"),
        (np.array(3), TypeError, "an entry for each document. Got ndarray"),
    ],
)
def test_members_refused(members, error, message):
    posterior = AntecedentPosterior([np.zeros((2, 2))] * 2)
    with pytest.raises(error, match=message):
        posterior.entity_proba(members)


@pytest.mark.parametrize(("n_samples", "error"), [(0, ValueError), (1.5, TypeError)])
def test_number_of_samples_refused(n_samples, error):
    with pytest.raises(error, match="'n_samples' parameter of AntecedentPosterior"):
        AntecedentPosterior([[[0]]]).sample(n_samples)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("temperature", "offset", "message"),
    [
        (0.1, 0, "makes scores exceed 1e\\+300"),
        (1, 10**400, "'new_offset' .* must be a finite number"),
    ],
)
def test_scores_do_not_become_infinite(temperature, offset, message):
    with pytest.raises(ValueError, match=message):
        AntecedentPosterior([[[1e300]]]).tempered(temperature, offset)
