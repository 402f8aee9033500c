"""Scores taken apart: the parts, their sum, ties, weights, rules, isotonic levels."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss

from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import (
    adaptive_reliability_curve,
    calibration_error,
    score_decomposition,
)

PARTS = ["score", "calibration", "refinement", "residual"]
MORE = ["discrimination", "uncertainty"]

# Bins .1 .3 | .6 .8 with labels 0 1 | 0 1.
Y, Q = [0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8]


def brier_1(q):
    return (q - 1) ** 2


def brier_0(q):
    return q**2


def log_1(q):
    return -np.log(q)


def log_0(q):
    return -np.log1p(-q)


def spherical_1(q):
    return -q / np.hypot(q, 1 - q)


def spherical_0(q):
    return -(1 - q) / np.hypot(q, 1 - q)


BRIER, LOG = (brier_1, brier_0), (log_1, log_0)
SPHERICAL = (spherical_1, spherical_0)
SCORES = ["brier", "log", SPHERICAL]
WAYS = [
    *({"score": score} for score in SCORES),
    {"bin_size": 3},
    {"bin_size": 2, "score": "log"},
    {"n_bins": 4},
    {"n_bins": 3, "strategy": "uniform", "score": SPHERICAL},
    *({"score": score, "method": "isotonic"} for score in SCORES),
]


def as_id(kwargs):
    return "-".join(
        v if isinstance(v, str) else "spherical" if v is SPHERICAL else str(v)
        for v in kwargs.values()
    )


def numbers(parts):
    return [getattr(parts, name) for name in PARTS + MORE]


def is_whole(parts, tolerance=1e-14):
    """Whether the parts add up to the score, and to the uncertainty."""
    whole = parts.calibration + parts.refinement + parts.residual
    knowledge = parts.refinement + parts.discrimination
    return abs(whole - parts.score) <= tolerance and (
        abs(knowledge - parts.uncertainty) <= tolerance
    )


def row_orders(y, q):
    """Yield all orders of (q, y) that ascend in q; equal rows are one."""
    rows = sorted(zip(map(Fraction, q), map(int, y), strict=True))
    ties = [list(tied) for _, tied in itertools.groupby(rows, key=lambda row: row[0])]
    several = [sorted(set(itertools.permutations(tied))) for tied in ties]
    for chosen in itertools.product(*several):
        yield list(itertools.chain(*chosen))


def mean_sums(y, q, cuts):
    """Return n and the mean sums of q, y, q^2, y q of each bin over all row orders."""
    orders = list(row_orders(y, q))
    for start, stop in itertools.pairwise(cuts):
        sums = [
            (
                sum(q for q, _ in order[start:stop]),
                sum(y for _, y in order[start:stop]),
                sum(q * q for q, _ in order[start:stop]),
                sum(q * y for q, y in order[start:stop]),
            )
            for order in orders
        ]
        means = [sum(s) / Fraction(len(orders)) for s in zip(*sums, strict=True)]
        yield stop - start, *means


def exact_brier(y, q, cuts):
    """Return Brier score, calibration, refinement, within variance and covariance."""
    n = len(y)
    pairs = list(zip(map(Fraction, q), map(int, y), strict=True))
    score = sum((q - y) ** 2 for q, y in pairs) / n
    calibration = refinement = variance = covariance = Fraction(0)
    for size, sq, sy, sqq, syq in mean_sums(y, q, cuts):
        mean_q, p = sq / size, sy / Fraction(size)
        calibration += Fraction(size, n) * (mean_q - p) ** 2
        refinement += Fraction(size, n) * p * (1 - p)
        variance += Fraction(size, n) * (sqq / size - mean_q**2)
        covariance += Fraction(size, n) * (syq / size - mean_q * p)
    return score, calibration, refinement, variance, covariance


def expected(g, q, p):
    """Return S(q; p) of scalars, where 0 times anything is 0."""
    first = p * float(g[0](np.float64(q))) if p > 0 else 0.0
    return first + ((1 - p) * float(g[1](np.float64(q))) if p < 1 else 0.0)


def best_levels(y, q):
    """Return the isotonic regression by the max-min formula, in fractions."""
    values = sorted(set(q))
    sums = [[y[i] for i in range(len(q)) if q[i] == value] for value in values]

    def mean(a, b):
        pooled = list(itertools.chain(*sums[a : b + 1]))
        return Fraction(sum(pooled), len(pooled))

    k = len(values)
    level = {
        value: max(min(mean(a, b) for b in range(i, k)) for a in range(i + 1))
        for i, value in enumerate(values)
    }
    return [level[value] for value in q]


class TestAdaptive:
    def test_two_bins_by_hand(self):
        # (.01 + .49 + .36 + .04)/4; mean q .2 and .7 against 1/2: (.09 + .04)/2;
        # 1/2 * 1/2; the rest: variance .01 in each bin, covariance .05 in each
        parts = score_decomposition(Y, Q, bin_size=2)
        assert numbers(parts) == pytest.approx([0.225, 0.065, 0.25, -0.09, 0, 0.25])

    def test_the_log_score_of_two_bins_by_hand(self):
        score = -(math.log(0.9) + math.log(0.3) + math.log(0.4) + math.log(0.8)) / 4
        honest = math.log(2)
        binned = -(math.log(0.2 * 0.8) + math.log(0.7 * 0.3)) / 4
        parts = score_decomposition(Y, Q, score="log", bin_size=2)
        hand = [score, binned - honest, honest, score - binned, 0, honest]
        assert numbers(parts) == pytest.approx(hand, abs=1e-15)

    def test_equation_1_holds_alone_where_q_is_constant_in_every_bin(self):
        q = [0.2] * 5 + [0.6] * 5
        y = [0, 0, 0, 0, 1, 0, 0, 1, 1, 1]
        parts = score_decomposition(y, q, bin_size=5)
        # frequencies .2 and .6: calibrated, and (.16 + .24)/2 is left
        assert numbers(parts) == pytest.approx([0.2, 0, 0.2, 0, 0.04, 0.24], abs=1e-16)
        assert parts.residual == 0

    def test_it_is_the_rational_one_over_the_orders_of_ties(self, draw_rows, cut_rows):
        for seed in range(200):
            y, q, _, size = draw_rows(seed)
            score, calibration, refinement, variance, covariance = exact_brier(
                y, q, cut_rows(y.size, size)
            )
            within = variance - 2 * covariance
            assert score == calibration + refinement + within
            parts = score_decomposition(y, q, bin_size=size)
            hand = [float(x) for x in (score, calibration, refinement, within)]
            assert numbers(parts)[:4] == pytest.approx(hand, abs=1e-14), (y, q, size)

    @pytest.mark.parametrize("g", [LOG, SPHERICAL], ids=["log", "spherical"])
    def test_any_score_is_that_of_the_mean_sums_over_orders(
        self, g, draw_rows, cut_rows
    ):
        for seed in range(60):
            y, q, _, size = draw_rows(seed)
            q = np.clip(q, 0.05, 0.95)
            bins = [
                (n / y.size, float(sq / n), float(sy / n))
                for n, sq, sy, _, _ in mean_sums(y, q, cut_rows(y.size, size))
            ]
            refinement = sum(w * expected(g, p, p) for w, _, p in bins)
            binned = sum(w * expected(g, mean, p) for w, mean, p in bins)
            score = np.mean([expected(g, a, b) for a, b in zip(q, y, strict=True)])
            hand = [score, binned - refinement, refinement, score - binned]
            parts = score_decomposition(y, q, score=g, bin_size=size)
            assert numbers(parts)[:4] == pytest.approx(hand, abs=1e-13), (y, q, size)

    @pytest.mark.parametrize(
        "bins",
        [{}, {"bin_size": 50}, {"n_bins": 7}, {"n_bins": 10, "strategy": "uniform"}],
        ids=as_id,
    )
    def test_its_bins_are_those_of_the_error_and_the_curve(self, bins):
        y, q = make_calibrated_pairs(1000, k=0.1, random_state=0)
        parts = score_decomposition(y, q, **bins)
        error = calibration_error(y, q, squared=True, **bins)
        assert parts.calibration == pytest.approx(error, abs=1e-15)
        curve = adaptive_reliability_curve(y, q, **bins)
        p = curve.prob_true
        assert parts.refinement == pytest.approx(
            np.average(p * (1 - p), weights=curve.weight)
        )
        assert (parts.n_bins, parts.bin_size) == (curve.n_bins, curve.bin_size)

    def test_probabilities_that_order_labels_inside_a_bin_leave_less(self):
        y, q = make_calibrated_pairs(2000, random_state=0)
        assert score_decomposition(y, q, n_bins=1).residual < -0.05
        # The other way round: the variation of q inside the bin is harmful only.
        with pytest.warns(UserWarning, match="labels are rarer where"):
            assert score_decomposition(1 - y, q, n_bins=1).residual > 0.05


class TestIsotonic:
    def test_levels_by_hand(self):
        # labels 0 1 0 1 in the order of q: levels 0, 1/2, 1/2, 1
        parts = score_decomposition(Y, Q, method="isotonic")
        hand = [0.225, 0.1, 0.125, 0, 0.125, 0.25]
        assert numbers(parts) == pytest.approx(hand, abs=1e-16)
        assert parts.n_bins == 3

    def test_what_is_zero_is_shown_without_a_sign(self):
        parts = score_decomposition([1, 1], [1, 1], score="log", method="isotonic")
        assert "-0.0000" not in repr(parts)

    def test_levels_of_0_and_1_lose_nothing_by_the_log_score(self):
        parts = score_decomposition(Y, Q, score="log", method="isotonic")
        assert parts.refinement == pytest.approx(math.log(2) / 2)
        assert parts.uncertainty == pytest.approx(math.log(2))

    @pytest.mark.parametrize("score", ["brier", "log"])
    def test_it_is_the_score_of_the_max_min_formula(self, score, draw_rows):
        g = BRIER if score == "brier" else LOG
        for seed in range(200):
            y, q, _, _ = draw_rows(seed, n_max=9)
            level = best_levels(y.tolist(), q.tolist())
            best = np.mean(
                [expected(g, a, b) for a, b in zip(map(float, level), y, strict=True)]
            )
            base = y.mean()
            parts = score_decomposition(y, q, score=score, method="isotonic")
            hand = [best, expected(g, base, base)]
            found = [parts.refinement, parts.uncertainty]
            assert found == pytest.approx(hand, abs=1e-14), (y, q)
            assert parts.n_bins == len(set(level))
            assert is_whole(parts)

    def test_it_agrees_with_sklearns_regression(self):
        y, q = make_calibrated_pairs(3000, k=0.1, random_state=0)
        q = q.round(2)
        weight = np.random.default_rng(0).integers(1, 4, 3000)
        level = IsotonicRegression().fit(q, y, weight).predict(q)
        parts = score_decomposition(y, q, sample_weight=weight, method="isotonic")
        best = brier_score_loss(y, level, sample_weight=weight)
        assert parts.refinement == pytest.approx(best, abs=1e-14)

    @pytest.mark.parametrize("score", SCORES, ids=["brier", "log", "spherical"])
    def test_an_increasing_transform_leaves_the_discrimination(self, score):
        y, q = make_calibrated_pairs(500, random_state=0)
        kwargs = {"score": score, "method": "isotonic"}
        before = score_decomposition(y, q, **kwargs)
        after = score_decomposition(y, (q**3 + q) / 4, **kwargs)
        assert after.discrimination == before.discrimination
        assert after.refinement == before.refinement
        assert after.calibration > before.calibration

    @pytest.mark.parametrize("score", SCORES, ids=["brier", "log", "spherical"])
    def test_recalibrated_probabilities_cost_no_calibration(self, score):
        y, q = make_calibrated_pairs(800, k=0.2, random_state=0)
        level = IsotonicRegression(out_of_bounds="clip").fit_transform(q, y)
        kwargs = {"score": score, "method": "isotonic"}
        before = score_decomposition(y, q, **kwargs)
        after = score_decomposition(y, level, **kwargs)
        assert after.calibration == pytest.approx(0, abs=1e-14)
        assert after.refinement == pytest.approx(before.refinement, abs=1e-14)

    @pytest.mark.parametrize(
        "given", [{"bin_size": 10}, {"n_bins": 5}, {"strategy": "uniform"}], ids=as_id
    )
    def test_it_takes_no_bins(self, given):
        ((name, value),) = given.items()
        message = rf"of score_decomposition .*'isotonic'.* Got {name}={value!r}"
        with pytest.raises(ValueError, match=message):
            score_decomposition(Y, Q, method="isotonic", **given)


class TestTheWholeScore:
    @pytest.mark.parametrize("method", ["adaptive", "isotonic"])
    def test_it_is_that_of_sklearn(self, method):
        y, q = make_calibrated_pairs(3000, a=0.1, b=0.4, random_state=1)
        weight = np.random.default_rng(0).integers(0, 4, 3000)
        for w in (None, weight):
            kwargs = {"method": method, "sample_weight": w}
            brier = score_decomposition(y, q, **kwargs)
            assert brier.score == pytest.approx(brier_score_loss(y, q, sample_weight=w))
            log = score_decomposition(y, q, score="log", **kwargs)
            assert log.score == pytest.approx(log_loss(y, q, sample_weight=w))

    @pytest.mark.parametrize("method", ["adaptive", "isotonic"])
    def test_certain_and_wrong_costs_what_it_costs_in_sklearn(self, method):
        y, q = [1, 0, 1, 0, 1], [0.0, 0.0, 1.0, 1.0, 1e-300]
        parts = score_decomposition(y, q, score="log", method=method)
        assert parts.score == pytest.approx(log_loss(y, q))
        assert parts.score == pytest.approx(-3 * math.log(np.finfo(float).eps) / 5)
        assert is_whole(parts)

    @settings(max_examples=40, deadline=None)
    @given(
        rows=st.lists(
            st.tuples(
                st.integers(0, 1),
                st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0]),
                st.integers(1, 3) | st.floats(0.01, 50),
            ),
            min_size=1,
            max_size=40,
        ),
        way=st.sampled_from(WAYS),
    )
    def test_parts_add_up_and_have_their_signs(self, rows, way):
        y, q, weight = map(list, zip(*rows, strict=True))
        parts = score_decomposition(y, q, sample_weight=weight, **way)
        assert is_whole(parts, 1e-13)
        assert parts.calibration >= 0
        assert parts.discrimination >= 0
        if way.get("method") == "isotonic":
            assert parts.residual == 0

    @pytest.mark.parametrize("way", WAYS, ids=as_id)
    @pytest.mark.parametrize("label", [0, 1])
    def test_labels_of_one_class_are_no_riddle(self, label, way):
        parts = score_decomposition([label] * 6, [0.1, 0.1, 0.4, 0.5, 0.9, 1.0], **way)
        best = -1.0 if way.get("score") is SPHERICAL else 0.0
        assert parts.refinement == parts.uncertainty == best
        assert parts.discrimination == 0
        assert is_whole(parts)

    @pytest.mark.parametrize("method", ["adaptive", "isotonic"])
    def test_one_row_is_all_calibration(self, method):
        parts = score_decomposition([1], [0.3], method=method)
        assert numbers(parts) == pytest.approx([0.49, 0.49, 0, 0, 0, 0], abs=1e-16)
        assert parts.n_bins == parts.n_pairs == 1

    def test_inputs_stay_as_they_are(self):
        y, q = make_calibrated_pairs(50, random_state=0)

        def spoiling(q):
            q -= 1
            return q**2

        for kwargs in ({}, {"method": "isotonic"}, {"score": (spoiling, brier_0)}):
            copies = y.copy(), q.copy()
            score_decomposition(y, q, **kwargs)
            np.testing.assert_array_equal(copies[0], y)
            np.testing.assert_array_equal(copies[1], q)


class TestClasses:
    PROBA = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.2, 0.3, 0.5]])

    @pytest.mark.parametrize("way", WAYS, ids=as_id)
    def test_pooled_pairs_are_those_of_every_class_against_the_rest(self, way):
        y = np.array([0, 1, 1])
        one_hot = np.eye(3, dtype=int)[y]
        found = score_decomposition(y, self.PROBA, labels=[0, 1, 2], **way)
        # 3 ** .6 = 1.9: the automatic bin size of three rows
        automatic = not {"method", "bin_size", "n_bins"} & way.keys()
        size = {"bin_size": 2} if automatic else {}
        flat = score_decomposition(one_hot.ravel(), self.PROBA.ravel(), **size, **way)
        assert numbers(found) == numbers(flat)
        assert found.n_pairs == 9

    def test_top_label_asks_whether_the_best_class_is_right(self):
        found = score_decomposition(
            [0, 1, 1], self.PROBA, labels=[0, 1, 2], multi_class="top_label"
        )
        assert numbers(found) == numbers(
            score_decomposition([1, 1, 0], [0.7, 0.6, 0.5])
        )

    @pytest.mark.parametrize("pos_label", ["ham", "spam"])
    def test_two_columns_are_the_binary_problem(self, pos_label):
        y, q = make_calibrated_pairs(60, random_state=0)
        names = np.where(y, "spam", "ham")
        proba = np.column_stack([1 - q, q])
        found = score_decomposition(names, proba, pos_label=pos_label)
        column = q if pos_label == "spam" else 1 - q
        expected = score_decomposition(names == pos_label, column)
        assert numbers(found) == numbers(expected)

    @pytest.mark.parametrize("multi_class", ["class_wise", "per_class"])
    def test_several_classes_have_no_one_decomposition(self, multi_class):
        with pytest.raises(ValueError, match="'pooled' or 'top_label'. Got"):
            score_decomposition(
                [0, 1, 2], np.full((3, 3), 1 / 3), multi_class=multi_class
            )


class TestRules:
    @pytest.mark.parametrize("method", ["adaptive", "isotonic"])
    @pytest.mark.parametrize(("name", "g"), [("brier", BRIER), ("log", LOG)])
    def test_the_functions_of_a_named_score_give_the_same(self, name, g, method):
        y, q = make_calibrated_pairs(400, k=0.1, random_state=0)
        q = np.clip(q, 0.001, 0.999)
        named = score_decomposition(y, q, score=name, method=method)
        given = score_decomposition(y, q, score=g, method=method)
        assert numbers(given) == pytest.approx(numbers(named), abs=1e-14)

    @pytest.mark.parametrize("method", ["adaptive", "isotonic"])
    def test_a_loss_that_is_infinite_where_nothing_is_has_no_say(self, method):
        y, q = [0, 0, 1, 0, 1, 1], [0.0, 0.0, 0.2, 0.4, 1.0, 1.0]
        named = score_decomposition(y, q, score="log", method=method)
        given = score_decomposition(y, q, score=LOG, method=method)
        assert numbers(given) == pytest.approx(numbers(named), abs=1e-14)

    @pytest.mark.parametrize("method", ["adaptive", "isotonic"])
    def test_rounding_of_weights_makes_no_infinite_loss(self, method):
        # Where all labels are positive, sums of weights may leave 1 - p at 1e-16.
        for seed in range(40):
            rng = np.random.default_rng(seed)
            q = np.r_[rng.random(20), np.ones(20)]
            y = np.r_[rng.integers(0, 2, 20), np.ones(20, dtype=int)]
            kwargs = {"sample_weight": rng.random(40), "method": method}
            given = score_decomposition(y, q, score=LOG, **kwargs)
            named = score_decomposition(y, q, score="log", **kwargs)
            assert numbers(given) == pytest.approx(numbers(named), abs=1e-12)

    @pytest.mark.parametrize(
        ("y", "q", "weight", "message"),
        [
            ([0, 1, 1], [0.2, 0.5, 0.0], None, "g1 .* y = 1. Got inf .* 0.0 .* row 2"),
            ([0, 0, 1], [0.2, 1.0, 1.0], None, "g2 .* y = 0. Got inf .* 1.0 .* row 1"),
            ([1, 0, 1], [0.0, 0.2, 0.0], [0, 1, 1], "y = 1. Got inf .* 0.0 .* row 2"),
            (["a", "c"], [[0.3, 0.3, 0.4], [1, 0, 0]], None, "inf .* row 1"),
        ],
    )
    def test_an_infinite_loss_is_named_with_its_row(self, y, q, weight, message):
        kwargs = {"labels": ["a", "b", "c"]} if np.ndim(q) == 2 else {}
        with pytest.raises(ValueError, match=message):
            score_decomposition(y, q, score=LOG, sample_weight=weight, **kwargs)

    def test_thresholds_of_a_proper_score_may_lie_anywhere(self):
        # The cost of acting on q > 0.37, flat but proper: a false alarm costs .37 and
        # a miss .63.
        g = (lambda q: 0.63 * (q <= 0.37), lambda q: 0.37 * (q > 0.37))
        y, q = [0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8]
        parts = score_decomposition(y, q, score=g, method="isotonic")
        assert parts.score == pytest.approx((0.63 + 0.37) / 4)
        # levels 0, 1/2, 1/2, 1: acting on 1/2 has one false alarm
        assert parts.calibration == pytest.approx(0.63 / 4)

    @pytest.mark.parametrize(
        ("g", "message"),
        [
            # |q - y| is least at 0 or 1
            ((lambda q: 1 - q, lambda q: q), r"q = p = 0\.\d+, and .* at q = [01]\."),
            # a reward, which the log likelihood is
            ((np.log1p, lambda q: np.log1p(1 - q)), "Change the sign of a reward"),
            # the functions of the Brier score in the wrong order
            ((brier_0, brier_1), "must be a proper score"),
            # honest only up to a shift
            ((lambda q: (q - 0.9) ** 2, brier_0), "must be a proper score"),
        ],
    )
    def test_an_improper_score_is_refused(self, g, message):
        with pytest.raises(ValueError, match=message):
            score_decomposition(Y, Q, score=g)

    @pytest.mark.parametrize(
        ("g", "message"),
        [
            (
                (lambda q: 0.25, brier_0),
                r"g1 .* same shape as its argument. Got shape \(\) for .*\(1,\)",
            ),
            (
                (brier_1, lambda q: q[:-1]),
                r"g2 .* same shape .* Got shape \(99,\)",
            ),
            (
                (brier_1, lambda q: None),
                "g2 .* same shape .* Got shape \\(\\)",
            ),
            ((brier_1, lambda q: ["a"] * q.size), "g2 .* array of numbers. Got list"),
            ((lambda q: np.log(q - 0.5), brier_0), "g1 .* must be finite .* Got nan"),
            ((log_0, log_1), "g1 .* must be finite .* Got inf at the probability 1.0"),
            ((lambda q: np.log(q), brier_0), "g1 .* Got -inf at the probability 0.0"),
        ],
    )
    def test_functions_that_give_no_losses_are_refused(self, g, message):
        with pytest.raises(ValueError, match=message):
            score_decomposition(Y, Q, score=g)

    @pytest.mark.parametrize(
        "score", ["spherical", None, 3, (brier_1,), (brier_1, 2), brier_1, np.square]
    )
    def test_other_scores_are_unknown(self, score):
        message = "'score' parameter of score_decomposition must be 'brier', 'log' or"
        with pytest.raises(ValueError, match=message):
            score_decomposition(Y, Q, score=score)


class TestGate:
    """Inputs pass the gate of every metric; a few samples show that they do."""

    @pytest.mark.parametrize(
        ("y", "q", "kwargs", "message"),
        [
            (Y, [0.1, 0.3, 0.6, 1.8], {}, r"y_proba.*\[0, 1\]. Got 1.8 in row 3"),
            (Y, [0.1, np.nan, 0.6, 0.8], {}, "y_proba.* Got nan in row 1"),
            (Y, Q[:3], {}, "y_true has 4, y_proba has 3"),
            (Y, Q, {"sample_weight": [1, 1, -1, 1]}, "Got -1.0 in row 2"),
            (Y, Q, {"bin_size": 0}, "'bin_size' .* at least 1. Got 0"),
            (Y, Q, {"bin_size": 2, "n_bins": 2}, "'bin_size' or 'n_bins', not both"),
            (Y, Q, {"method": "pav"}, "'method' .* 'adaptive', 'isotonic'. Got 'pav'"),
        ],
    )
    def test_what_is_wrong_is_said(self, y, q, kwargs, message):
        with pytest.raises(ValueError, match=message) as error:
            score_decomposition(y, q, **kwargs)
        assert "score_decomposition" in str(error.value)
