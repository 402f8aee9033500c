"""Tree posterior: every answer against all trees of up to six words."""

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from skcalib.posteriors import (
    TreePosterior,
    _sampled_trees,
    _tree_elimination,
    _tree_sums,
)


def random_scores(seed, n, scale=1.0, forbidden=0.0):
    """Draw scores; a chain from the first word below the root stays allowed."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, n + 1)) * scale
    allowed = rng.random((n, n + 1)) >= forbidden
    allowed[np.arange(n), np.arange(n)] = True
    scores[~allowed] = -np.inf
    return scores


def is_tree(heads):
    for word in range(1, len(heads) + 1):
        seen = set()
        while word and word not in seen:
            seen.add(word)
            word = heads[word - 1]
        if word:
            return False
    return True


def every_tree(scores, single_root):
    """Return {heads: probability} of all trees with a positive probability."""
    n = len(scores)
    terms = {}
    for heads in itertools.product(range(n + 1), repeat=n):
        if (single_root and n and heads.count(0) != 1) or not is_tree(heads):
            continue
        value = math.fsum(scores[d, h] for d, h in enumerate(heads))
        if value > -np.inf:
            terms[heads] = value
    top = max(terms.values())
    total = math.fsum(math.exp(value - top) for value in terms.values())
    log_z = top + math.log(total)
    return {heads: math.exp(v - log_z) for heads, v in terms.items()}, log_z


CASES = [
    pytest.param(
        (seed, n, scale, forbidden, single),
        # three of six cases of six words
        marks=pytest.mark.slow if n == 6 and single == bool(seed % 2) else (),
    )
    for n in (0, 1, 2, 3, 5, 6)
    for single in (True, False)
    for seed, (scale, forbidden) in enumerate([(1, 0), (3, 0.3), (15, 0.2)])
]


@pytest.fixture(
    scope="module",
    params=CASES,
    ids=lambda case: "seed{}-n{}-scale{}-forbidden{}-single{}".format(*case),
)
def case(request):
    *drawn, single = request.param
    scores = random_scores(*drawn)
    trees, log_z = every_tree(scores, single)
    return TreePosterior([scores], single_root=single), trees, log_z


def arcs_of(trees, n):
    """Return the marginals of arcs by adding up trees."""
    expected = np.zeros((n, n + 1))
    for heads, proba in trees.items():
        expected[np.arange(n), list(heads)] += proba
    return expected


def is_subtree(heads, start, stop):
    inside = set(range(start + 1, stop + 1))
    leaving = sum(heads[w - 1] not in inside for w in inside)
    entering = sum(h in inside for w, h in enumerate(heads, 1) if w not in inside)
    return leaving == 1 and entering == 0


class TestAgainstEveryTree:
    def test_log_partition(self, case):
        posterior, _, log_z = case
        assert posterior.log_partition() == pytest.approx([log_z], abs=1e-10)

    def test_arc_marginals(self, case):
        posterior, trees, _ = case
        expected = arcs_of(trees, int(posterior.lengths[0]))
        (found,) = posterior.arc_marginals()
        np.testing.assert_allclose(found, expected, atol=1e-10)

    def test_elimination_without_subtraction(self, case):
        posterior, trees, log_z = case
        n, single = int(posterior.lengths[0]), posterior.single_root
        if n == 0:
            return
        stack = posterior.log_scores[0][np.newaxis]
        found = _tree_elimination.log_partition(stack, single)
        assert found == pytest.approx([log_z], abs=1e-10)
        (proba,) = _tree_elimination.arc_marginals(stack, single)
        np.testing.assert_allclose(proba, arcs_of(trees, n), atol=1e-10)

    def test_log_proba(self, case):
        posterior, trees, _ = case
        for heads, proba in itertools.islice(trees.items(), 50):
            (found,) = posterior.log_proba([np.array(heads, dtype=int)])
            assert np.exp(found) == pytest.approx(proba, abs=1e-10)

    def test_entropy(self, case):
        posterior, trees, _ = case
        expected = -math.fsum(p * math.log(p) for p in trees.values() if p > 0)
        assert posterior.entropy() == pytest.approx([expected], abs=1e-9)

    def test_best_tree(self, case):
        posterior, trees, _ = case
        (found,) = posterior.best_tree()
        assert tuple(found.tolist()) == max(trees, key=lambda heads: trees[heads])

    def test_mbr_tree_has_the_highest_sum_of_marginals(self, case):
        posterior, trees, _ = case
        n = int(posterior.lengths[0])
        arcs = arcs_of(trees, n)
        gains = {heads: arcs[np.arange(n), list(heads)].sum() for heads in trees}
        (found,) = posterior.mbr_trees()
        gain = gains[tuple(found.tolist())]
        assert gain == pytest.approx(max(gains.values()), abs=1e-10)

    def test_subtrees(self, case):
        posterior, trees, _ = case
        n = int(posterior.lengths[0])
        spans = [(a, b) for a in range(n) for b in range(a + 1, n + 1)]
        expected = [
            math.fsum(p for heads, p in trees.items() if is_subtree(heads, a, b))
            for a, b in spans
        ]
        (found,) = posterior.subtree_marginals([spans])
        np.testing.assert_allclose(found, expected, atol=1e-10)

    def test_samples_have_their_share(self, case):
        posterior, trees, _ = case
        n_samples = 4000
        (drawn,) = posterior.sample(n_samples, random_state=1)
        _check_shares(drawn, trees)

    def test_samples_drawn_by_elimination_have_their_share(self, case, monkeypatch):
        posterior, trees, _ = case
        monkeypatch.setattr(_sampled_trees, "MOST_ROUNDS", 0)
        (drawn,) = posterior.sample(4000, random_state=1)
        if posterior.lengths[0]:
            _check_shares(drawn, trees)


def _check_shares(drawn, trees):
    """Compare the counts of the frequent trees, and of all others together."""
    n_samples = len(drawn)
    count = dict.fromkeys(trees, 0)
    for heads in map(tuple, drawn.tolist()):
        assert heads in trees
        count[heads] += 1
    often = [heads for heads in trees if n_samples * trees[heads] >= 5]
    observed = [count[heads] for heads in often]
    expected = [n_samples * trees[heads] for heads in often]
    rest = n_samples - sum(expected)
    if rest >= 5:
        observed, expected = [*observed, n_samples - sum(observed)], [*expected, rest]
    expected = np.array(expected) * sum(observed) / sum(expected)
    if len(observed) > 1:
        assert chisquare(observed, expected).pvalue > 1e-4


def exact_weights(powers, single_root):
    """Return the sum over trees of products of 2**power: a determinant of integers."""
    n = len(powers)
    weights = [[2 ** (int(p) + 1500) for p in row] for row in powers]
    matrix = [[-weights[d][h + 1] for h in range(n)] for d in range(n)]
    for d in range(n):
        row = [weights[d][h + 1] for h in range(n) if h != d]
        matrix[d][d] = sum(row) + (0 if single_root else weights[d][0])
        if single_root:
            matrix[d][0] = weights[d][0]
    last = 1  # Bareiss: all divisions are exact
    for k in range(n - 1):
        assert matrix[k][k] != 0
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                product = matrix[i][j] * matrix[k][k] - matrix[i][k] * matrix[k][j]
                matrix[i][j] = product // last
        last = matrix[k][k]
    return matrix[-1][-1]


def log2_of(number):
    shift = max(0, number.bit_length() - 200)
    return math.log2(number >> shift) + shift


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize(  # scores up to 1000
    "most", [3, pytest.param(40, marks=pytest.mark.slow), 1440]
)
def test_strong_scores_agree_with_determinants_of_integers(single_root, most):
    n = 9
    powers = np.random.default_rng(most).integers(-most, most, size=(n, n + 1))
    posterior = TreePosterior([powers * math.log(2)], single_root=single_root)
    whole = exact_weights(powers, single_root)
    expected = (log2_of(whole) - 1500 * n) * math.log(2)
    assert posterior.log_partition()[0] == pytest.approx(expected, rel=1e-13)
    (proba,) = posterior.arc_marginals()
    places = [(d, h) for d in range(0, n, 5) for h in range(0, n + 1, 3) if h != d + 1]
    for d, h in places:
        doubled = powers.copy()
        doubled[d, h] += 1  # adds the trees with this arc once more
        extra = exact_weights(doubled, single_root) - whole
        assert proba[d, h] == pytest.approx(float(Fraction(extra, whole)), abs=1e-10)


@pytest.mark.parametrize("single_root", [True, False])
def test_inverse_and_elimination_agree_where_the_inverse_is_taken(single_root):
    scores = np.random.default_rng(3).normal(size=(20, 30, 31)) * 2
    scores[:, np.arange(30), np.arange(1, 31)] = -np.inf
    found = _tree_sums._solve(scores, single_root)
    assert found.is_accurate.any()
    exact = _tree_elimination.arc_marginals(scores, single_root)
    some = found.is_accurate
    proba = _tree_sums._marginals(found, single_root)
    np.testing.assert_allclose(proba[some], exact[some], atol=1e-10)


def test_certain_cycle_with_a_hardly_possible_exit_is_exact():
    # 1 and 2 prefer each other by 1000; a tree takes the exit of one of them.
    scores = np.array([[0.0, 0, 1000], [0.0, 1000, 0]])
    posterior = TreePosterior([scores])
    np.testing.assert_allclose(
        posterior.arc_marginals()[0], [[0.5, 0, 0.5], [0.5, 0.5, 0]], atol=1e-12
    )
    (drawn,) = posterior.sample(2000, random_state=0)
    assert abs((drawn[:, 0] == 0).mean() - 0.5) < 0.05


def cyclic_scores(n):
    """Draw scores of words that prefer each other as heads, in pairs."""
    scores = np.random.default_rng(n).normal(size=(n, n + 1))
    scores[np.arange(n), (np.arange(n) ^ 1) + 1] += 20
    return scores


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", [4, 6])
def test_samples_of_scores_that_favour_cycles_have_their_share(n, single_root):
    scores = cyclic_scores(n)
    trees, _ = every_tree(scores, single_root)
    (drawn,) = TreePosterior([scores], single_root=single_root).sample(4000, 0)
    _check_shares(drawn, trees)


@pytest.mark.parametrize("single_root", [True, False])
def test_a_long_sentence_with_many_cycles_is_sampled_quickly(single_root):
    posterior = TreePosterior([cyclic_scores(60)], single_root=single_root)
    start = time.perf_counter()
    (drawn,) = posterior.sample(200, random_state=0)
    assert time.perf_counter() - start < 20  # 0.4 s alone on a core
    expected = posterior.arc_marginals()[0]
    found = np.zeros_like(expected)
    np.add.at(found, (np.arange(60), drawn), 1 / 200)
    # Five standard errors of a share of 200.
    assert np.abs(found - expected).max() < 5 * 0.5 / np.sqrt(200)


@given(
    st.integers(1, 12),
    st.sampled_from([1.0, 10.0, 1000.0]),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_marginals_sum_to_one_and_ignore_factors_of_rows(n, scale, seed, single_root):
    rng = np.random.default_rng(seed)
    scores = rng.uniform(-scale, scale, size=(n, n + 1))
    shifted = scores + rng.uniform(-10, 10, size=(n, 1))
    both = TreePosterior([scores, shifted], single_root=single_root)
    proba, other = both.arc_marginals()
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-10)
    if single_root:
        assert proba[:, 0].sum() == pytest.approx(1, abs=1e-10)
    np.testing.assert_allclose(proba, other, atol=1e-8)


def test_sentences_of_many_lengths_do_not_depend_on_each_other():
    sizes = [3, 0, 5, 3, 1]
    scores = [random_scores(i, n) for i, n in enumerate(sizes)]
    whole = TreePosterior(scores)
    assert len(whole) == 5
    for i, each in enumerate(scores):
        alone = TreePosterior([each])
        assert whole.log_partition()[i] == pytest.approx(alone.log_partition()[0])
        np.testing.assert_allclose(whole.arc_marginals()[i], alone.arc_marginals()[0])
        assert whole[i : i + 1].best_tree()[0].tolist() == (
            whole.best_tree()[i].tolist()
        )


def test_temperature_takes_trees_to_a_power():
    scores = random_scores(0, 4, 2.0)
    trees, _ = every_tree(scores, True)
    power = np.array(list(trees.values())) ** (1 / 1.7)
    tempered = TreePosterior([scores]).tempered(1.7)
    found = [np.exp(tempered.log_proba([list(heads)])[0]) for heads in trees]
    np.testing.assert_allclose(found, power / power.sum(), atol=1e-12)


def test_ties_go_to_the_lowest_head():
    assert TreePosterior([np.zeros((3, 4))]).best_tree()[0].tolist() == [0, 1, 1]
    several = TreePosterior([np.zeros((3, 4))], single_root=False)
    assert several.best_tree()[0].tolist() == [0, 0, 0]


def test_several_roots_are_impossible_with_a_single_root():
    posterior = TreePosterior([np.zeros((2, 3))])
    assert posterior.log_proba([[0, 0]]) == [-np.inf]


def test_same_seed_gives_the_same_trees():
    posterior = TreePosterior([np.zeros((4, 5)), np.zeros((2, 3))])
    for a, b in zip(posterior.sample(20, 5), posterior.sample(20, 5), strict=True):
        assert (a == b).all()


class TestErrors:
    @pytest.mark.parametrize("method", ["log_partition", "arc_marginals", "best_tree"])
    @pytest.mark.parametrize("single_root", [True, False])
    def test_sentence_without_a_tree_is_named(self, method, single_root):
        closed = [[-np.inf, 0, 1], [-np.inf, 1, 0]]
        posterior = TreePosterior([[[0, 0]], closed], single_root=single_root)
        with pytest.raises(ValueError, match="Sentence 1 does not allow any tree"):
            getattr(posterior, method)()

    def test_two_words_that_need_the_root_have_no_single_root(self):
        scores = [[0, 0, -np.inf], [0, -np.inf, 0]]
        assert TreePosterior([scores], single_root=False).log_partition() == [0]
        for method in ("log_partition", "arc_marginals", "best_tree", "mbr_trees"):
            with pytest.raises(ValueError, match="with a single root"):
                getattr(TreePosterior([scores]), method)()

    @pytest.mark.parametrize(
        ("scores", "message"),
        [
            ([np.zeros((2, 2))], "shape \\(2, 2\\) for sentence 0"),
            (np.zeros((3, 4)), "shape \\(4,\\) for sentence 0. Put a single sentence"),
            ([np.zeros((1, 2)), [[0, 0, np.nan], [0, 0, 0]]], "nan in sentence 1"),
            ([[[np.inf, 0]]], "inf in sentence 0, row 0, column 0"),
            ([[[1e301, 0]]], "within"),
        ],
    )
    def test_wrong_scores(self, scores, message):
        with pytest.raises(ValueError, match=message):
            TreePosterior(scores)

    @pytest.mark.parametrize(
        ("trees", "message"),
        [
            ([[0, 3]], "Got 3 for word 2 of sentence 0"),
            ([[1, 0]], "Got 1 for word 1 of sentence 0"),
            ([[-1, 0]], "Add 1 to heads that count from 0"),
            ([[2, 1]], "cycle"),
            ([[0]], "each of the 2 words"),
            ([[0.0, 1.0]], "integers"),
        ],
    )
    def test_wrong_trees(self, trees, message):
        with pytest.raises(ValueError, match=message):
            TreePosterior([np.zeros((2, 3))]).log_proba(trees)

    @pytest.mark.parametrize("span", [(1, 1), (0, 3), (0.0, 1), 3])
    def test_wrong_spans(self, span):
        with pytest.raises(ValueError, match="start < stop <= 2"):
            TreePosterior([np.zeros((2, 3))]).subtree_marginals([[span]])

    def test_one_sentence_is_not_an_index(self):
        with pytest.raises(TypeError, match="slice of sentences"):
            TreePosterior([np.zeros((2, 3))])[0]

    def test_temperature_that_makes_scores_infinite(self):
        with pytest.raises(ValueError, match="too small"):
            TreePosterior([np.full((2, 3), 1e10)]).tempered(1e-300)
