"""Tree posterior: every answer against all trees of up to six words."""

import functools
import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from cases import case
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import logsumexp, xlogy
from scipy.stats import chisquare

from skcalib.experimental import TreePosterior


def random_scores(seed, n, scale=1.0, forbidden=0.0, cycles=0.0):
    """Draw scores; a chain from the first word below the root stays allowed.

    `cycles` is added to the arcs between the words of each pair.
    """
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, n + 1)) * scale
    allowed = rng.random((n, n + 1)) >= forbidden
    allowed[np.arange(n), np.arange(n)] = True
    scores[~allowed] = -np.inf
    paired = np.arange(n - n % 2)
    scores[paired, (paired ^ 1) + 1] += cycles
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


@functools.cache
def all_trees(n, single_root):
    """Return the heads of every tree of n words, with a row for each tree."""
    rows = [
        heads
        for heads in itertools.product(range(n + 1), repeat=n)
        if (n == 0 or not single_root or heads.count(0) == 1) and is_tree(heads)
    ]
    return np.array(rows, dtype=int).reshape(len(rows), n)


def every_tree(scores, single_root):
    """Return the trees that are possible, their probabilities, and log Z."""
    trees = all_trees(len(scores), single_root)
    values = scores[np.arange(len(scores)), trees].sum(axis=1)
    log_z = logsumexp(values)
    possible = values > -np.inf
    return trees[possible], np.exp(values[possible] - log_z), log_z


# The scale of the scores, the share of forbidden arcs, and the score of cycles. With
# strong cycles, the inverse of a matrix is inaccurate, and few samples have no cycle.
KINDS = [(1, 0, 0), (3, 0.3, 0), (15, 0.2, 0), (1, 0, 25), (3, 0.3, 25)]


@pytest.fixture(scope="module")
def cases():
    """Give posteriors of one sentence, with their trees and probabilities."""
    found = []
    for n in (0, 1, 2, 3, 5, 6):
        for single_root in (True, False):
            for seed, kind in enumerate(KINDS):
                scores = random_scores(seed, n, *kind)
                trees, proba, log_z = every_tree(scores, single_root)
                posterior = TreePosterior([scores], single_root=single_root)
                name = f"n={n}, single_root={single_root}, {kind}"
                values = {"name": name, "n": n, "posterior": posterior}
                values |= {"trees": trees, "proba": proba, "log_z": log_z}
                found.append(SimpleNamespace(**values))
    return found


def arcs_of(one):
    """Return the marginals of arcs by adding up trees."""
    expected = np.zeros((one.n, one.n + 1))
    for word in range(one.n):
        np.add.at(expected[word], one.trees[:, word], one.proba)
    return expected


def has_subtree(trees, start, stop):
    """Return which trees have a subtree of the words from start to stop."""
    inner = (trees > start) & (trees <= stop)  # the head is one of these words
    leaving = (~inner[:, start:stop]).sum(axis=1)
    entering = np.delete(inner, np.arange(start, stop), axis=1).sum(axis=1)
    return (leaving == 1) & (entering == 0)


class TestAgainstEveryTree:
    def test_log_partition(self, cases):
        for one in cases:
            with case(one.name):
                found = one.posterior.log_partition()
                assert found == pytest.approx([one.log_z], abs=1e-10)

    def test_arc_marginals(self, cases):
        for one in cases:
            with case(one.name):
                (found,) = one.posterior.arc_marginals()
                np.testing.assert_allclose(found, arcs_of(one), atol=1e-10)

    def test_log_proba(self, cases):
        for one in cases:
            for heads, proba in zip(one.trees[:50], one.proba, strict=False):
                with case(one.name):
                    (found,) = one.posterior.log_proba([heads])
                    assert np.exp(found) == pytest.approx(proba, abs=1e-10)

    def test_entropy(self, cases):
        for one in cases:
            with case(one.name):
                expected = -xlogy(one.proba, one.proba).sum()
                assert one.posterior.entropy() == pytest.approx([expected], abs=1e-9)

    def test_best_tree(self, cases):
        for one in cases:
            with case(one.name):
                (found,) = one.posterior.best_tree()
                assert found.tolist() == one.trees[one.proba.argmax()].tolist()

    def test_mbr_tree_has_the_highest_sum_of_marginals(self, cases):
        for one in cases:
            with case(one.name):
                arcs, words = arcs_of(one), np.arange(one.n)
                (found,) = one.posterior.mbr_trees()
                assert found.tolist() in one.trees.tolist()
                gains = arcs[words, one.trees].sum(axis=1)
                gain = arcs[words, found].sum()
                assert gain == pytest.approx(gains.max(), abs=1e-10)

    def test_subtrees(self, cases):
        for one in cases:
            with case(one.name):
                spans = list(itertools.combinations(range(one.n + 1), 2))
                expected = [
                    one.proba[has_subtree(one.trees, *span)].sum() for span in spans
                ]
                (found,) = one.posterior.subtree_marginals([spans])
                np.testing.assert_allclose(found, expected, atol=1e-10)

    def test_samples_have_their_share(self, cases):
        for one in cases:
            with case(one.name):
                (drawn,) = one.posterior.sample(4000, random_state=1)
                check_shares(drawn, one.trees, one.proba)


def check_shares(drawn, trees, proba):
    """Compare the counts of the frequent trees, and of all others together."""
    n_samples = len(drawn)
    counts = dict.fromkeys(map(tuple, trees.tolist()), 0)
    for heads in map(tuple, drawn.tolist()):
        assert heads in counts
        counts[heads] += 1
    observed, expected = np.array(list(counts.values())), n_samples * proba
    often = expected >= 5
    observed, expected = observed[often], expected[often]
    rest = n_samples - expected.sum()
    if rest >= 5:
        observed = np.append(observed, n_samples - observed.sum())
        expected = np.append(expected, rest)
    expected *= observed.sum() / expected.sum()
    if len(observed) > 1:
        assert chisquare(observed, expected).pvalue > 1e-4


def exact_weights(powers, single_root):
    """Return the sum over trees of products of 2**power: a determinant of integers.

    No power is negative.
    """
    n = len(powers)
    weights = [[2 ** int(p) for p in row] for row in powers]
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
    ("n", "most"), [(9, 3), (9, 40), (9, 1440), (30, 6)]
)
def test_scores_agree_with_determinants_of_integers(n, most, single_root):
    powers = np.random.default_rng(most).integers(2 * most, size=(n, n + 1))
    scores = (powers - most) * math.log(2)
    posterior = TreePosterior([scores], single_root=single_root)
    whole = exact_weights(powers, single_root)
    expected = (log2_of(whole) - most * n) * math.log(2)
    assert posterior.log_partition()[0] == pytest.approx(expected, rel=1e-13)
    (proba,) = posterior.arc_marginals()
    places = [(d, h) for d in range(0, n, 5) for h in range(0, n + 1, 3) if h != d + 1]
    for d, h in places:
        doubled = powers.copy()
        doubled[d, h] += 1  # adds the trees with this arc once more
        extra = exact_weights(doubled, single_root) - whole
        assert proba[d, h] == pytest.approx(float(Fraction(extra, whole)), abs=1e-10)


def test_certain_cycle_with_a_hardly_possible_exit_is_exact():
    # 1 and 2 prefer each other by 1000; a tree takes the exit of one of them.
    scores = np.array([[0.0, 0, 1000], [0.0, 1000, 0]])
    posterior = TreePosterior([scores])
    np.testing.assert_allclose(
        posterior.arc_marginals()[0], [[0.5, 0, 0.5], [0.5, 0.5, 0]], atol=1e-12
    )
    (drawn,) = posterior.sample(2000, random_state=0)
    assert abs((drawn[:, 0] == 0).mean() - 0.5) < 0.05


@pytest.mark.parametrize("single_root", [True, False])
def test_samples_of_a_long_sentence_with_many_cycles(single_root):
    scores = random_scores(60, 60, cycles=20)
    posterior = TreePosterior([scores], single_root=single_root)
    (drawn,) = posterior.sample(200, random_state=0)
    expected = posterior.arc_marginals()[0]
    found = np.zeros_like(expected)
    np.add.at(found, (np.arange(60), drawn), 1 / 200)
    # Five standard errors of a share of 200.
    assert np.abs(found - expected).max() < 5 * 0.5 / np.sqrt(200)


@example(3, 1000.0, 3, False)  # the inverse overflows
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
    trees, proba, _ = every_tree(scores, True)
    power = proba ** (1 / 1.7)
    tempered = TreePosterior([scores]).tempered(1.7)
    found = [np.exp(tempered.log_proba([heads])[0]) for heads in trees]
    np.testing.assert_allclose(found, power / power.sum(), atol=1e-12)


def test_ties_go_to_the_lowest_head():
    assert TreePosterior([np.zeros((3, 4))]).best_tree()[0].tolist() == [0, 1, 1]
    several = TreePosterior([np.zeros((3, 4))], single_root=False)
    assert several.best_tree()[0].tolist() == [0, 0, 0]


def test_several_roots_are_impossible_with_a_single_root():
    posterior = TreePosterior([np.zeros((2, 3))])
    assert posterior.log_proba([[0, 0]]) == [-np.inf]


class TestErrors:
    def test_sentence_without_a_tree_is_named(self):
        closed = [[-np.inf, 0, 1], [-np.inf, 1, 0]]
        for single_root in (True, False):
            posterior = TreePosterior([[[0, 0]], closed], single_root=single_root)
            for method in ("log_partition", "arc_marginals", "best_tree"):
                with (
                    case(f"{method}, {single_root}"),
                    pytest.raises(ValueError, match="Sentence 1 does not allow any tr"),
                ):
                    getattr(posterior, method)()

    def test_two_words_that_need_the_root_have_no_single_root(self):
        scores = [[0, 0, -np.inf], [0, -np.inf, 0]]
        assert TreePosterior([scores], single_root=False).log_partition() == [0]
        for method in ("log_partition", "arc_marginals", "best_tree", "mbr_trees"):
            with pytest.raises(ValueError, match="with a single root"):
                getattr(TreePosterior([scores]), method)()

    def test_wrong_scores(self):
        cases = [
            ([np.zeros((2, 2))], "shape \\(2, 2\\) for sentence 0"),
            (np.zeros((3, 4)), "shape \\(4,\\) for sentence 0. Put a single sentence"),
            ([np.zeros((1, 2)), [[0, 0, np.nan], [0, 0, 0]]], "nan in sentence 1"),
            ([[[np.inf, 0]]], "inf in sentence 0, row 0, column 0"),
            ([[[1e301, 0]]], "within"),
        ]
        for scores, message in cases:
            with case(message), pytest.raises(ValueError, match=message):
                TreePosterior(scores)

    def test_wrong_trees(self):
        cases = [
            ([[0, 3]], "Got 3 for word 2 of sentence 0"),
            ([[1, 0]], "Got 1 for word 1 of sentence 0"),
            ([[-1, 0]], "Add 1 to heads that count from 0"),
            ([[2, 1]], "cycle"),
            ([[0]], "each of the 2 words"),
            ([[0.0, 1.0]], "integers"),
        ]
        for trees, message in cases:
            with case(trees), pytest.raises(ValueError, match=message):
                TreePosterior([np.zeros((2, 3))]).log_proba(trees)

    def test_wrong_spans(self):
        for span in [(1, 1), (0, 3), (0.0, 1), 3]:
            with case(span), pytest.raises(ValueError, match="start < stop <= 2"):
                TreePosterior([np.zeros((2, 3))]).subtree_marginals([[span]])

    def test_one_sentence_is_not_an_index(self):
        with pytest.raises(TypeError, match="slice of sentences"):
            TreePosterior([np.zeros((2, 3))])[0]

    def test_temperature_that_makes_scores_infinite(self):
        with pytest.raises(ValueError, match="too small"):
            TreePosterior([np.full((2, 3), 1e10)]).tempered(1e-300)
