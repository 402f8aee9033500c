"""Laws of posteriors: whatever the scores, the names and the order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skcalib.posteriors import AntecedentPosterior, LinearChainPosterior

SEEDS = st.integers(0, 10_000)
SCALES = st.sampled_from([0.3, 3.0, 300.0])
LENGTHS = (3, 0, 5, 1, 4)

few = settings(max_examples=15)


def close(found, expected, atol=1e-9):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=atol)


class TestLinearChain:
    # What each method gives has an entry for each sequence.
    METHODS = (
        "log_partition",
        "token_marginals",
        "pair_marginals",
        "viterbi",
        "posterior_decode",
        "entropy",
        "filtered",
    )

    def answers(self, posterior):
        found = {name: list(getattr(posterior, name)()) for name in self.METHODS}
        spans = [[(i, [0]) for i in range(n)] for n in posterior.lengths]
        found["span_marginals"] = list(posterior.span_marginals(spans))
        found["log_proba"] = list(posterior.log_proba(posterior.viterbi()))
        return found

    def same(self, posterior, expected):
        found = self.answers(posterior)
        for name, values in expected.items():
            close(found[name], values)

    @few
    @given(seed=SEEDS, scale=SCALES, temperature=st.sampled_from([0.5, 1.0, 4.0]))
    def test_marginals_sum_to_one(self, random_chain, seed, scale, temperature):
        scores = random_chain(seed, scale, 0.2, LENGTHS)
        posterior = LinearChainPosterior(*scores).tempered(temperature)
        for name, axes in (
            ("token_marginals", 1),
            ("filtered", 1),
            ("pair_marginals", (1, 2)),
        ):
            for table in getattr(posterior, name)():
                assert table.min(initial=0) >= 0
                np.testing.assert_allclose(table.sum(axis=axes), 1, atol=1e-9)
        n_pairs = sum(max(n - 1, 0) for n in LENGTHS)
        assert posterior.expected_transitions().sum() == pytest.approx(n_pairs)

    @few
    @given(seed=SEEDS, scale=SCALES)
    def test_order_of_sequences(self, random_chain, seed, scale):
        emissions, *rest = random_chain(seed, scale, 0.2, LENGTHS)
        expected = self.answers(LinearChainPosterior(emissions, *rest))
        order = np.random.default_rng(seed).permutation(len(emissions))
        self.same(
            LinearChainPosterior([emissions[i] for i in order], *rest),
            {name: [each[i] for i in order] for name, each in expected.items()},
        )

    @few
    @given(seed=SEEDS, cut=st.integers(0, len(LENGTHS)))
    def test_two_lists_are_one(self, random_chain, seed, cut):
        emissions, *rest = random_chain(seed, 3.0, 0.2, LENGTHS)
        whole = LinearChainPosterior(emissions, *rest)
        parts = [
            LinearChainPosterior(part, *rest)
            for part in (emissions[:cut], emissions[cut:])
        ]
        first, second = map(self.answers, parts)
        self.same(whole, {name: first[name] + second[name] for name in first})
        for i, part in enumerate((slice(None, cut), slice(cut, None))):
            self.same(whole[part], (first, second)[i])
        np.testing.assert_allclose(
            whole.expected_transitions(),
            parts[0].expected_transitions() + parts[1].expected_transitions(),
            atol=1e-12,
        )

    @few
    @given(seed=SEEDS, scale=SCALES)
    def test_names_of_tags(self, random_chain, seed, scale):
        emissions, transition, start, end = random_chain(seed, scale, 0.2, LENGTHS)
        new = np.random.default_rng(seed).permutation(3)  # new[k] is now tag k
        old = LinearChainPosterior(emissions, transition, start, end)
        renamed = LinearChainPosterior(
            [table[:, new] for table in emissions],
            transition[np.ix_(new, new)],
            start[new],
            end[new],
        )
        for name in ("log_partition", "entropy"):
            close(getattr(renamed, name)(), getattr(old, name)())
        for name in ("token_marginals", "filtered"):
            close(getattr(renamed, name)(), [t[:, new] for t in getattr(old, name)()])
        close(
            renamed.pair_marginals(),
            [table[:, new][:, :, new] for table in old.pair_marginals()],
        )
        # equal scores are rare: paths go with their names
        close([new[path] for path in renamed.viterbi()], old.viterbi(), atol=0)
        close(renamed.log_proba(renamed.viterbi()), old.log_proba(old.viterbi()))

    @few
    @given(seed=SEEDS, scale=st.sampled_from([0.3, 3.0]))
    def test_float32(self, random_chain, seed, scale):
        emissions, *rest = random_chain(seed, scale, 0, LENGTHS)
        exact = LinearChainPosterior(emissions, *rest)
        single = LinearChainPosterior(
            [table.astype(np.float32) for table in emissions],
            *(each.astype(np.float32) for each in rest),
        )
        for name in ("log_partition", "token_marginals", "pair_marginals", "entropy"):
            found, expected = getattr(single, name)(), getattr(exact, name)()
            close(found, expected, atol=1e-4 * scale)

    @few
    @given(seed=SEEDS, n_samples=st.integers(1, 5))
    def test_samples_are_possible(self, random_chain, seed, n_samples):
        posterior = LinearChainPosterior(*random_chain(seed, 3.0, 0.4, LENGTHS))
        drawn = posterior.sample(n_samples, random_state=seed)
        assert [each.shape for each in drawn] == [(n_samples, n) for n in LENGTHS]
        best = posterior.log_proba(posterior.viterbi())
        for k in range(n_samples):
            found = posterior.log_proba([each[k] for each in drawn])
            assert np.isfinite(found).all()
            assert (found <= best + 1e-9).all()


@st.composite
def documents(draw, scale=3.0):
    """Draw scores of antecedents, some links forbidden."""
    rng = np.random.default_rng(draw(SEEDS))
    tables = []
    for n in draw(st.lists(st.integers(0, 7), min_size=1, max_size=4)):
        scores = rng.normal(size=(n, n)) * scale
        scores[rng.random((n, n)) < 0.2] = -np.inf
        scores[np.diag_indices(n)] = rng.normal(size=n)
        scores[np.triu_indices(n, 1)] = 0
        tables.append(scores)
    return tables


class TestAntecedents:
    METHODS = (
        "antecedent_proba",
        "pair_marginals",
        "n_entities_pmf",
        "singleton_proba",
        "map_clusters",
        "mbr_clusters",
    )

    def answers(self, scores):
        posterior = AntecedentPosterior(scores)
        found = {name: list(getattr(posterior, name)()) for name in self.METHODS}
        found["log_proba"] = list(posterior.log_proba(posterior.map_clusters()))
        return found

    @few
    @given(scores=documents(), temperature=st.sampled_from([0.5, 1.0, 4.0]))
    def test_probabilities(self, scores, temperature):
        posterior = AntecedentPosterior(scores).tempered(temperature, 0.5)
        for table in posterior.antecedent_proba():
            np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-12)
        for pmf in posterior.n_entities_pmf():
            assert pmf.sum() == pytest.approx(1, abs=1e-12)
            assert pmf.min() >= 0
        for pairs, alone in zip(
            posterior.pair_marginals(), posterior.singleton_proba(), strict=True
        ):
            np.testing.assert_array_equal(pairs, pairs.T)
            assert ((pairs >= 0) & (pairs <= 1)).all()
            assert (np.diag(pairs) == 1).all()
            # who is with i and with j makes these two one entity
            both = pairs[:, :, None] + pairs[None] - 1
            assert (pairs[:, None, :] >= both - 1e-9).all()
            most = (pairs - np.eye(len(pairs))).max(axis=1, initial=0)
            assert (alone <= 1 - most + 1e-9).all()

    @few
    @given(scores=documents(), random=st.randoms(use_true_random=False))
    def test_order_of_documents_and_lists(self, scores, random):
        expected = self.answers(scores)
        order = random.sample(range(len(scores)), len(scores))
        found = self.answers([scores[i] for i in order])
        cut = random.randint(0, len(scores))
        first, second = self.answers(scores[:cut]), self.answers(scores[cut:])
        for name, values in expected.items():
            close(found[name], [values[i] for i in order])
            close(first[name] + second[name], values)

    @few
    @given(scores=documents(), seed=SEEDS)
    def test_a_number_for_every_score_of_a_mention_changes_nothing(self, scores, seed):
        rng = np.random.default_rng(seed)
        moved = [
            np.tril(table)
            + 9 * np.tril(np.tile(rng.normal(size=(len(table), 1)), len(table)))
            for table in scores
        ]
        expected, found = self.answers(scores), self.answers(moved)
        for name in ("antecedent_proba", "pair_marginals", "n_entities_pmf"):
            close(found[name], expected[name])

    @few
    @given(scores=documents())
    def test_float32(self, scores):
        expected = self.answers(scores)
        found = self.answers([table.astype(np.float32) for table in scores])
        for name in ("antecedent_proba", "pair_marginals", "n_entities_pmf"):
            close(found[name], expected[name], atol=1e-5)

    @few
    @given(scores=documents(), n_samples=st.integers(1, 5))
    def test_samples_are_possible(self, scores, n_samples):
        posterior = AntecedentPosterior(scores)
        drawn = posterior.sample(n_samples, random_state=0)
        for k in range(n_samples):
            assert np.isfinite(posterior.log_proba([each[k] for each in drawn])).all()
