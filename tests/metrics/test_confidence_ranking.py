"""Rankings by confidence against scikit-learn, enumerations and direct formulas."""

import itertools
import json
import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import t as student
from sklearn.datasets import load_iris
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB

from skcalib.metrics import confidence_ranking
from skcalib.metrics._confidence_ranking import simultaneous_band
from skcalib.queries import ClassQuery
from skcalib.scorers import make_query_scorer


def draw(rng, n, accuracy=0.7, shift=1.0, digits=None):
    """Draw right and wrong answers, and normal confidences."""
    y = rng.random(n) < accuracy
    y[:2] = True, False
    score = rng.normal(size=n) + shift * y
    return y, score if digits is None else score.round(digits)


def numbers(ranking):
    """Return all estimates with their ends."""
    return ranking.frame()[["estimate", "low", "high"]].to_numpy()


def mean_risk(errors):
    """Return the mean error rate of the first i answers over all i."""
    risks = [Fraction(sum(errors[:i]), i) for i in range(1, len(errors) + 1)]
    return sum(risks) / len(risks)


def area_by_enumeration(y, score):
    """Return the mean area over all orders of answers with equal confidence."""
    rows = sorted(zip(score, y, strict=True), reverse=True)
    tied = [
        [1 - y for _, y in rows] for _, rows in itertools.groupby(rows, lambda r: r[0])
    ]
    orders = itertools.product(*map(itertools.permutations, tied))
    areas = [mean_risk(list(itertools.chain(*order))) for order in orders]
    return sum(areas) / len(areas)


class TestEstimates:
    @pytest.mark.parametrize("digits", [None, 1, 0])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_the_auroc_is_that_of_scikit_learn(self, digits, weighted):
        rng = np.random.default_rng(0)
        for n in (2, 10, 300):
            y, score = draw(rng, n, digits=digits)
            weight = rng.random(n) + 0.1 if weighted else None
            found = confidence_ranking(y, score, sample_weight=weight).auroc
            expected = roc_auc_score(y, score, sample_weight=weight)
            assert found == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize("n_levels", [1, 2, 3, 7])
    def test_the_area_is_the_mean_over_all_orders_of_tied_answers(self, n_levels):
        rng = np.random.default_rng(n_levels)
        for _ in range(5):
            y = rng.permutation([1, 1, 1, 1, 0, 0, 0])
            score = rng.integers(0, n_levels, 7)
            ranking = confidence_ranking(y, score)
            expected = area_by_enumeration(y.tolist(), score.tolist())
            assert ranking.aurc == pytest.approx(float(expected), abs=1e-14)
            excess = expected - mean_risk([0, 0, 0, 0, 1, 1, 1])
            assert ranking.excess_aurc == pytest.approx(float(excess), abs=1e-14)

    @pytest.mark.parametrize("n", [40, 60, 5_000, 200_000])
    def test_the_area_does_not_lose_digits_with_many_answers(self, n):
        y, score = draw(np.random.default_rng(n), n)
        wrong = ~y[np.argsort(-score)]
        risks = np.cumsum(wrong) / np.arange(1, n + 1)
        found = confidence_ranking(y, score).aurc
        assert found == pytest.approx(risks.mean(), abs=1e-13)

    def test_three_answers_worked_by_hand(self):
        # risks 0, 1/2 and 1/3; in the best order 0, 0 and 1/3
        ranking = confidence_ranking([1, 0, 1], [0.9, 0.8, 0.7])
        assert ranking.auroc == 0.5
        assert ranking.aurc == pytest.approx(5 / 18)
        assert ranking.excess_aurc == pytest.approx(1 / 6)
        assert ranking.accuracy == pytest.approx(2 / 3)
        best = confidence_ranking([1, 1, 0], [0.9, 0.8, 0.7])
        assert best.aurc == pytest.approx(1 / 9)
        assert best.excess_aurc == pytest.approx(0, abs=1e-15)

    def test_coverages_and_accuracies_worked_by_hand(self):
        # 1 right answer, then a right and a wrong answer tied, then a wrong answer
        ranking = confidence_ranking(
            [1, 0, 1, 0],
            [0.9, 0.5, 0.5, 0.1],
            coverages=[0.25, 0.5, 0.75, 1.0],
            accuracies=[0.6, 0.75, 0.9],
        )
        accuracies = [1, 3 / 4, 2 / 3, 1 / 2]
        assert [*ranking.accuracy_at.values()] == pytest.approx(accuracies)
        # 2 right of x = 0.6 x; 1 + (x - 1) / 2 right of x = 0.75 x and = 0.9 x
        coverages = [2 / 0.6 / 4, 2 / 4, 1.25 / 4]
        assert [*ranking.coverage_at.values()] == pytest.approx(coverages)
        assert ranking.coverage.tolist() == [0.25, 0.5, 0.75, 1]
        assert ranking.risk == pytest.approx(1 - np.array(accuracies))

    def test_an_accuracy_that_is_never_reached_has_no_coverage(self):
        y = np.arange(100) % 2
        ranking = confidence_ranking(y, np.arange(100) % 10 // 2)
        assert ranking.coverage_at[0.9] == 0
        assert ranking.coverage_at[0.9].low == 0
        always = confidence_ranking(y, np.arange(100), accuracies=[0.2]).coverage_at
        assert (always[0.2], always[0.2].high) == (1, 1)

    def test_equal_confidences_rank_by_chance(self):
        ranking = confidence_ranking([1, 1, 1, 0], [0.3] * 4)
        assert ranking.auroc == 0.5
        assert ranking.aurc == pytest.approx(0.25)
        assert [*ranking.accuracy_at.values()] == pytest.approx([0.75] * 3)

    def test_only_the_order_of_the_confidences_is_used(self):
        y, score = draw(np.random.default_rng(1), 200, digits=1)
        expected = numbers(confidence_ranking(y, score))
        for other in (
            np.exp(score),
            1e300 * score,
            np.unique(score).searchsorted(score),
        ):
            assert numbers(confidence_ranking(y, other)) == pytest.approx(expected)
        negated = confidence_ranking(y, -score, higher_is_confident=False)
        assert numbers(negated) == pytest.approx(expected)

    @pytest.mark.parametrize("grouped", [False, True])
    def test_integer_weights_are_repeated_answers(self, grouped):
        rng = np.random.default_rng(2)
        y, score = draw(rng, 120, digits=1)
        weight = rng.integers(0, 4, 120)
        groups = rng.integers(0, 20, 120) if grouped else None
        short = confidence_ranking(y, score, groups=groups, sample_weight=weight)
        many = [None if a is None else np.repeat(a, weight) for a in (y, score, groups)]
        long = confidence_ranking(many[0], many[1], groups=many[2])
        assert short.n == long.n == weight.sum()
        assert numbers(short) == pytest.approx(numbers(long), abs=1e-9)
        assert short.risk_high == pytest.approx(long.risk_high, abs=1e-9)


class TestIntervals:
    def test_with_many_answers_the_auroc_has_the_interval_of_delong(self):
        y, score = draw(np.random.default_rng(3), 20_000)
        auroc = confidence_ranking(y, score).auroc
        right, wrong = score[y], score[~y]
        above = np.searchsorted(np.sort(wrong), right) / wrong.size
        below = 1 - np.searchsorted(np.sort(right), wrong) / right.size
        variance = above.var(ddof=1) / right.size + below.var(ddof=1) / wrong.size
        half = 1.96 * np.sqrt(variance)
        assert [auroc.low, auroc.high] == pytest.approx(
            [auroc - half, auroc + half], abs=0.03 * half
        )

    def test_the_accuracy_has_the_interval_of_clopper_and_pearson(self):
        # 8 of 10, from their table
        accuracy = confidence_ranking([1] * 8 + [0] * 2, np.arange(10)).accuracy
        assert accuracy.low == pytest.approx(0.4439, abs=5e-5)
        assert accuracy.high == pytest.approx(0.9748, abs=5e-5)

    def test_groups_of_one_answer_are_nearly_no_groups(self):
        y, score = draw(np.random.default_rng(4), 400)
        plain = numbers(confidence_ranking(y, score))
        grouped = numbers(confidence_ranking(y, score, groups=np.arange(400)))
        assert grouped == pytest.approx(plain, abs=0.02)

    def test_repeated_answers_of_a_group_do_not_narrow_an_interval(self):
        y, score = draw(np.random.default_rng(5), 200)
        once = numbers(confidence_ranking(y, score))[:3]
        groups = np.repeat(np.arange(200), 10)
        ranking = confidence_ranking(
            np.repeat(y, 10), np.repeat(score, 10), groups=groups
        )
        many = numbers(ranking)[:3]
        widths = [each[:, 2] - each[:, 1] for each in (once, many)]
        assert widths[1] == pytest.approx(widths[0], rel=0.1)

    @pytest.mark.parametrize("grouped", [False, True])
    def test_intervals_contain_the_true_numbers_as_often_as_stated(self, grouped):
        rng = np.random.default_rng(6)
        groups = np.repeat(np.arange(50), 2) if grouped else None
        big = confidence_ranking(*draw(rng, 400_000))
        hits = []
        for _ in range(150):
            y, score = draw(rng, 100)
            if grouped:  # pairs of equal answers
                y, score = np.repeat(y[:50], 2), np.repeat(score[:50], 2)
            each = confidence_ranking(y, score, groups=groups)
            ends = numbers(each)
            hits.append((ends[:, 1] <= truth(big)) & (truth(big) <= ends[:, 2]))
        # three standard errors of 150 samples
        assert np.mean(hits, axis=0).min() >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 150)

    @pytest.mark.parametrize("n", [50, 200])
    def test_overconfident_wrong_answers_that_are_not_in_the_sample_are_expected(
        self, n
    ):
        rng = np.random.default_rng(15)

        def few_overconfident(size):  # two of n answers
            y, score = draw(rng, size, shift=4.0)
            first = rng.random(size) < 2 / n
            score[first] = 20 + rng.random(first.sum())
            y[first] = False
            return y, score

        true = confidence_ranking(*few_overconfident(400_000))
        samples = [confidence_ranking(*few_overconfident(n)) for _ in range(200)]
        for name in ("aurc", "excess_aurc"):
            found = [getattr(each, name) for each in samples]
            hits = [e.low <= getattr(true, name) <= e.high for e in found]
            assert np.mean(hits) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 200)

    def test_the_coverage_at_an_accuracy_varies_with_the_number_of_right_answers(self):
        rng = np.random.default_rng(16)
        hits = []
        for _ in range(200):  # a perfect order, except for 1% of the answers
            y, score = draw(rng, 50, accuracy=0.3, shift=3.3)
            found = confidence_ranking(y, score).coverage_at[0.9]
            hits.append(found.low <= 0.315 <= found.high)
        assert np.mean(hits) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 200)

    def test_a_simultaneous_band_contains_the_pointwise_band(self):
        y, score = draw(np.random.default_rng(7), 150)
        ranking = confidence_ranking(y, score, groups=np.arange(150) // 3)
        low, high = simultaneous_band(ranking)
        assert (low <= ranking.risk_low + 1e-12).all()
        assert (high >= ranking.risk_high - 1e-12).all()
        assert (high - low).sum() > 1.2 * (ranking.risk_high - ranking.risk_low).sum()

    @pytest.mark.parametrize(
        ("y", "score"),
        [
            ([1, 0], [2, 1]),
            ([0, 1], [1, 1]),
            ([1] * 30 + [0], np.arange(31)),
            ([0] * 30 + [1], np.arange(31)),
            ([1] * 15 + [0] * 15, -np.arange(30)),
        ],
    )
    @pytest.mark.parametrize("size", [None, 1, 2])
    def test_few_answers_of_a_kind_have_finite_wide_intervals(self, y, score, size):
        groups = None if size is None else np.arange(len(y)) // size
        if groups is not None and groups[-1] == 0:
            groups = [0, 1]
        ranking = confidence_ranking(y, score, groups=groups)
        found = numbers(ranking)
        assert np.isfinite(found).all()
        assert (found[:, 1] <= found[:, 0]).all()
        assert (found[:, 0] <= found[:, 2]).all()
        assert ranking.auroc.high - ranking.auroc.low > 0.1
        for ends in ((ranking.risk_low, ranking.risk_high), simultaneous_band(ranking)):
            assert (ends[0] <= ranking.risk + 1e-12).all()
            assert (ranking.risk <= ends[1] + 1e-12).all()


def truth(ranking):
    return numbers(ranking)[:, 0]


class TestComparison:
    def direct(self, y, one, two):
        """Return the variance of the difference, and its freedom, over all pairs."""
        kernels = []
        for score in (one, two):
            right, wrong = score[y][:, np.newaxis], score[~y]
            kernels.append((right > wrong) + (right == wrong) / 2)
        kernel = kernels[0] - kernels[1]
        parts = [
            kernel.mean(axis=axis).var(ddof=1) / kernel.shape[1 - axis]
            for axis in (0, 1)
        ]
        sizes = np.array(kernel.shape[::-1])
        variance = sum(parts)
        return variance, variance**2 / (np.square(parts) / (sizes - 1)).sum()

    @pytest.mark.parametrize("digits", [None, 0])
    def test_the_variance_is_that_of_delong_over_all_pairs(self, digits):
        rng = np.random.default_rng(8)
        y, one = draw(rng, 80, digits=digits)
        two = (one + rng.normal(size=80)).round(digits if digits is not None else 9)
        found = confidence_ranking(y, one).compare(confidence_ranking(y, two))
        variance, free = self.direct(y, one, two)
        difference = roc_auc_score(y, one) - roc_auc_score(y, two)
        assert found.difference == pytest.approx(difference, abs=1e-12)
        error = np.sqrt(variance)
        half = student.ppf(0.975, free) * error
        assert found.high - found.difference == pytest.approx(half, rel=1e-9)
        pvalue = 2 * student.sf(abs(difference) / error, free)
        assert found.pvalue == pytest.approx(pvalue, rel=1e-9)

    def test_the_variance_of_equal_groups_is_that_of_their_sums(self):
        rng = np.random.default_rng(18)
        y, one = draw(rng, 40)
        y, one, groups = np.repeat(y, 2), np.repeat(one, 2), np.repeat(np.arange(40), 2)
        two = np.repeat(rng.normal(size=40), 2) + 0.1 * rng.normal(size=80)
        found = confidence_ranking(y, one, groups=groups).compare(
            confidence_ranking(y, two, groups=groups)
        )
        above = [(s[y][:, np.newaxis] > s[~y]).astype(float) for s in (one, two)]
        kernel = above[0] - above[1]
        influence = np.empty(80)
        influence[y] = (kernel.mean(axis=1) - kernel.mean()) / y.sum()
        influence[~y] = (kernel.mean(axis=0) - kernel.mean()) / (~y).sum()
        sums = np.bincount(groups, influence)
        ratio = (sums**2).sum() * 40 / 39 / (influence**2).sum()
        assert ratio > 1
        parts = np.array([influence[k].var(ddof=1) * k.sum() for k in (y, ~y)])
        # Welch's freedom with the numbers of groups of right and of wrong answers
        free = (
            parts.sum() ** 2
            / (parts**2 / (np.array([y.sum(), 80 - y.sum()]) / 2 - 1)).sum()
        )
        half = student.ppf(0.975, min(free, 39)) * np.sqrt(parts.sum() * ratio)
        assert found.high - found.difference == pytest.approx(half, rel=1e-9)

    def test_the_interval_excludes_0_if_and_only_if_the_pvalue_is_small(self):
        rng = np.random.default_rng(9)
        outcomes = set()
        for shift in (0.2, 0.6, 1.0, 1.5):
            y, one = draw(rng, 150)
            two = one + shift * rng.normal(size=150)
            groups = np.arange(150) // 2
            found = confidence_ranking(y, one, groups=groups).compare(
                confidence_ranking(y, two, groups=groups)
            )
            excluded = found.low > 0 or found.high < 0
            assert excluded == (found.pvalue < 0.05)
            assert (found.aurc_low > 0 or found.aurc_high < 0) == (
                found.aurc_pvalue < 0.05
            )
            outcomes.add(excluded)
        assert outcomes == {True, False}

    def test_the_order_of_the_rankings_changes_the_sign(self):
        rng = np.random.default_rng(10)
        y, one = draw(rng, 60)
        a, b = confidence_ranking(y, one), confidence_ranking(y, rng.normal(size=60))
        forth, back = a.compare(b), b.compare(a)
        assert forth.difference == -back.difference
        assert (forth.low, forth.high) == pytest.approx((-back.high, -back.low))
        assert forth.pvalue == pytest.approx(back.pvalue)

    def test_equal_orders_do_not_differ(self):
        y, score = draw(np.random.default_rng(11), 60)
        ranking = confidence_ranking(y, score)
        found = ranking.compare(confidence_ranking(y, np.exp(score)))
        assert (found.difference, found.low, found.high, found.pvalue) == (0, 0, 0, 1)

    def test_one_wrong_answer_gives_no_evidence(self):
        y = np.arange(50) != 7
        up = confidence_ranking(y, np.arange(50))
        found = up.compare(confidence_ranking(y, -np.arange(50)))
        assert (found.pvalue, found.low, found.high) == (1, -1, 1)

    def test_less_than_two_answers_of_a_kind_give_no_evidence(self):
        rng = np.random.default_rng(0)
        y = np.arange(40) % 2 == 0
        given = {"groups": np.arange(40) // 4, "sample_weight": np.full(40, 0.06)}
        one, two = (confidence_ranking(y, rng.random(40), **given) for _ in range(2))
        found = one.compare(two)
        assert (found.low, found.high, found.pvalue) == (-1, 1, 1)

    def test_dependent_answers_give_less_evidence(self):
        rng = np.random.default_rng(12)
        y, one = draw(rng, 60)
        two = one + rng.normal(size=60)
        once = confidence_ranking(y, one).compare(confidence_ranking(y, two)).pvalue
        rows = np.repeat(np.arange(60), 20)
        many = [confidence_ranking(y[rows], s[rows], groups=rows) for s in (one, two)]
        assert many[0].compare(many[1]).pvalue == pytest.approx(once, abs=0.05)

    @pytest.mark.parametrize("change", ["y", "weight", "groups", "length"])
    def test_other_answers_raise_an_error(self, change):
        y, score = draw(np.random.default_rng(13), 40)
        first = confidence_ranking(y, score)
        params = {
            "y": {"y_true": ~y},
            "weight": {"sample_weight": np.ones(40)},
            "groups": {"groups": np.arange(40)},
            "length": {"y_true": y[:30], "y_score": score[:30]},
        }[change]
        other = confidence_ranking(**{"y_true": y, "y_score": score, **params})
        with pytest.raises(ValueError, match="'other'.*must rank the same answers"):
            first.compare(other)
        with pytest.raises(TypeError, match="result of confidence_ranking. Got float"):
            first.compare(0.5)


class TestResult:
    @pytest.fixture
    def ranking(self):
        y, score = draw(np.random.default_rng(14), 90)
        return confidence_ranking(y, score, groups=np.arange(90) // 3)

    def test_it_can_be_pickled_and_written_as_json(self, ranking):
        copied = pickle.loads(pickle.dumps(ranking))
        assert copied.to_dict() == ranking.to_dict()
        assert copied.auroc.low == ranking.auroc.low
        read = json.loads(json.dumps(ranking.to_dict()))
        assert read["auroc"] == {
            "estimate": float(ranking.auroc),
            "low": ranking.auroc.low,
            "high": ranking.auroc.high,
        }
        assert [*read["accuracy_at"]] == ["0.5", "0.8", "0.9"]
        assert read["n_groups"] == 30

    def test_its_repr_shows_intervals_and_groups(self, ranking):
        assert f"auroc {ranking.auroc:.3f} [{ranking.auroc.low:.3f}," in repr(ranking)
        assert "n=90, n_groups=30, confidence_level=0.95" in repr(ranking)

    def test_scikit_learns_auroc_is_a_scorer_of_the_predicted_class(self):
        X, y = load_iris(return_X_y=True)
        model = GaussianNB().fit(X, y)
        proba, right = model.predict_proba(X).max(axis=1), model.predict(X) == y
        query = ClassQuery(multi_class="top_label")
        scorer = make_query_scorer(roc_auc_score, query=query)
        ranking = confidence_ranking(right, proba)
        assert scorer(model, X, y) == pytest.approx(ranking.auroc, abs=1e-12)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y_true": [1, 1, 1, 1]}, "'y_true'.*right and wrong.* 4 answers, all right"),
        ({"y_true": [0, 0, 0, 0]}, "'y_true'.* 4 answers, all wrong"),
        ({"y_true": ["a", "b", "a", "b"]}, "'y_true'"),
        ({"y_score": [0.1, np.nan, 0.3, 0.2]}, "'y_score'.*finite. Got nan in row 1"),
        ({"y_score": [0.1, np.inf, 0.3, 0.2]}, "'y_score'.*finite. Got inf in row 1"),
        ({"y_score": np.ones((4, 2))}, r"'y_score'.*one confidence.*\(4, 2\)"),
        ({"y_score": [0.1]}, "y_true has 4, y_score has 1"),
        ({"groups": [1, 1, 1, 1]}, "'groups'.*two groups. Got one"),
        ({"groups": [1, 2]}, "groups"),
        ({"sample_weight": [1, 1, 0, 0]}, "'y_true'.* 2 answers, all right"),
        ({"sample_weight": [-1, 1, 1, 1]}, "sample_weight"),
        ({"coverages": [0.5, 0]}, "'coverages'.*between 0 and 1. Got 0"),
        ({"coverages": 0.5}, "'coverages'.*list of numbers. Got 0.5"),
        ({"accuracies": [1]}, "'accuracies'.*between 0 and 1. Got 1"),
        ({"confidence_level": 95}, "'confidence_level'.*Got 95"),
        ({"higher_is_confident": "yes"}, "'higher_is_confident'"),
    ],
)
def test_invalid_arguments_are_named(changed, message):
    given = {"y_true": [1, 1, 0, 0], "y_score": [0.9, 0.8, 0.7, 0.6], **changed}
    with pytest.raises((ValueError, TypeError), match=message):
        confidence_ranking(**given)


def test_an_uncertainty_and_labels_as_confidence_give_a_warning():
    rng = np.random.default_rng(0)
    q = rng.random(200)
    right = rng.random(200) < q
    with pytest.warns(UserWarning, match="confidences are higher.*'higher_is_conf"):
        confidence_ranking(right, -q)
    with pytest.warns(UserWarning, match="All confidences of the 200 rows are 0 or 1"):
        confidence_ranking(right, q > 0.5)
    confidence_ranking(right, -q, higher_is_confident=False)
