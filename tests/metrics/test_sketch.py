"""A sketch reads what the pairs themselves give, within its bound."""

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from skcalib._pairs import check_pairs
from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import (
    ReliabilitySketch,
    adaptive_reliability_curve,
    calibration_error,
    calibration_error_interval,
)
from skcalib.metrics._bins import Binning, bins_of

LEVELS = [0.0, -0.0, 5e-324, 1e-30, 0.1, 0.25, 0.5, 0.9, np.nextafter(1, 0), 1.0]

# Values that share a cell of the coarsest grid with others, and so are not told apart.
CROWDED = st.builds(
    lambda centre, step: min(max(centre + step * 2.0**-18, 0.0), 1.0),
    st.sampled_from([0.0, 0.1, 0.30001, 0.5, 0.77, 1.0]),
    st.integers(-30, 30),
)
PROBABILITIES = st.one_of(st.sampled_from(LEVELS), st.floats(0, 1), CROWDED)
WEIGHTS = st.one_of(st.just(1.0), st.integers(0, 4).map(float), st.floats(0.01, 5))
KINDS = st.sampled_from(
    [
        {"norm": "l1"},
        {"norm": "l2"},
        {"norm": "l2", "squared": True},
        {"norm": "max"},
        {"debias": True},
        {"debias": True, "squared": True},
    ]
)


@st.composite
def rows(draw, probabilities=PROBABILITIES, min_size=2, max_size=40):
    """Draw labels, probabilities, weights and a bin size."""
    row = st.tuples(st.integers(0, 1), probabilities, WEIGHTS)
    drawn = draw(st.lists(row, min_size=min_size, max_size=max_size))
    y, q, w = (np.array(column) for column in zip(*drawn, strict=True))
    return y, q, w, draw(st.integers(2, 12))


def sketch_of(y, q, w=None, n_bits=18):
    return ReliabilitySketch(n_bits=n_bits).update(y, q, w)


def read(sketch):
    """Return what the public methods say of a sketch."""
    numbers = [sketch.error(bin_size=2), sketch.error_bound(), sketch.total_weight]
    return np.r_[numbers, sketch.curve(3).prob_true, sketch.curve(3).prob_pred]


class TestBound:
    @settings(max_examples=40, deadline=None)
    @given(rows(), KINDS, st.sampled_from([12, 18]), st.booleans(), st.booleans())
    def test_it_holds_the_exact_error(self, data, kind, n_bits, weighted, whole):
        y, q, w, size = data
        w = np.ceil(w) if whole else w
        w = w if weighted else None
        assume(w is None or w.sum() > 2)
        sketch = sketch_of(y, q, w, n_bits)
        exact = calibration_error(y, q, sample_weight=w, bin_size=size, **kind)
        found = sketch.error(bin_size=size, **kind)
        bound = sketch.error_bound(bin_size=size, **kind)
        assert abs(found - exact) <= bound

    @settings(max_examples=25, deadline=None)
    @given(rows(CROWDED), st.integers(1, 9), KINDS)
    def test_it_holds_with_a_number_of_bins(self, data, n_bins, kind):
        y, q, _, _ = data
        assume("debias" not in kind or y.size >= 2 * n_bins)
        sketch = sketch_of(y, q, n_bits=12)
        exact = calibration_error(y, q, n_bins=n_bins, **kind)
        bound = sketch.error_bound(n_bins=n_bins, **kind)
        assert abs(sketch.error(n_bins=n_bins, **kind) - exact) <= bound

    def test_it_is_reached_by_the_worst_order_of_a_cell(self):
        # One cell of four, its positives all on one side: the sketch sees a half.
        q = 0.3 + np.arange(4) * 1e-12
        sketch = sketch_of([0, 0, 1, 1], q)
        exact = calibration_error([0, 0, 1, 1], q, bin_size=2, norm="max")
        assert exact == pytest.approx(0.7)
        assert sketch.error(bin_size=2, norm="max") == pytest.approx(0.2)
        bound = sketch.error_bound(bin_size=2, norm="max")
        assert bound == pytest.approx(0.5, abs=1e-5)

    def test_more_bits_lessen_it(self):
        y, q = make_calibrated_pairs(50_000, k=0.05, random_state=0)
        bounds = [sketch_of(y, q, n_bits=n).error_bound() for n in (12, 15, 18, 21)]
        assert bounds == sorted(bounds, reverse=True)
        assert bounds[-1] < bounds[0] / 100

    def test_cells_without_labels_of_both_kinds_cost_almost_nothing(self):
        q = np.random.default_rng(0).random(5000) * 1e-3
        sketch = sketch_of(np.zeros(5000), q, n_bits=12)
        assert sketch.heaviest_cell > 1
        assert sketch.error_bound(bin_size=10) < 1e-3 / 16  # a cell is as wide


class TestExact:
    @settings(max_examples=30, deadline=None)
    @given(rows(st.sampled_from(LEVELS[:1] + LEVELS[4:8] + [1.0])), KINDS)
    def test_few_distinct_probabilities_lose_nothing(self, data, kind):
        y, q, w, size = data
        w = np.floor(w)
        assume(w.sum() > 2)
        sketch = sketch_of(y, q, w)
        assert sketch.heaviest_cell == 0
        exact = calibration_error(y, q, sample_weight=w, bin_size=size, **kind)
        tolerance = 1e-7 if kind == {"debias": True} else 1e-12
        assert sketch.error(bin_size=size, **kind) == pytest.approx(
            exact, abs=tolerance
        )
        assert sketch.error_bound(bin_size=size, **kind) <= 2e-7

    @pytest.mark.parametrize("weighted", [False, True])
    def test_the_curve_is_that_of_the_pairs(self, weighted):
        rng = np.random.default_rng(1)
        q = rng.integers(0, 101, 3000) / 100
        y = rng.random(3000) < q
        w = rng.integers(0, 4, 3000) if weighted else None
        found = sketch_of(y, q, w).curve(bin_size=170)
        wanted = adaptive_reliability_curve(y, q, bin_size=170, sample_weight=w)
        assert repr(found) == repr(wanted)
        for name, column in wanted.to_dict().items():
            np.testing.assert_allclose(
                found.to_dict()[name], column, atol=1e-13, err_msg=name
            )
        for ours, theirs in zip(
            found.consistency_band(), wanted.consistency_band(), strict=True
        ):
            np.testing.assert_allclose(ours, theirs, atol=1e-12)
        assert found.error(debias=True) == pytest.approx(
            wanted.error(debias=True), abs=1e-12
        )

    @pytest.mark.parametrize("n", [3000, 2**18 + 11])
    @pytest.mark.parametrize("bin_size", ["auto", 90])
    def test_the_interval_is_that_of_the_pairs(self, n, bin_size):
        rng = np.random.default_rng(2)
        q = rng.beta(0.5, 0.5, n).round(2)
        y = rng.random(n) < q**1.2
        found = sketch_of(y, q).interval(bin_size=bin_size, confidence_level=0.9)
        wanted = calibration_error_interval(
            y, q, bin_size=bin_size, confidence_level=0.9
        )
        assert found.to_dict().keys() == wanted.to_dict().keys()
        for name, value in wanted.to_dict().items():
            if isinstance(value, float):
                value = pytest.approx(value, rel=1e-9, abs=1e-12)
            assert found.to_dict()[name] == value, name

    def test_the_interval_of_continuous_probabilities_is_close(self):
        y, q = make_calibrated_pairs(200_000, k=0.05, random_state=3)
        found = sketch_of(y, q).interval()
        wanted = calibration_error_interval(y, q)
        assert found.bin_size == pytest.approx(wanted.bin_size, rel=0.3)
        width = wanted.high - wanted.low
        assert abs(found.low - wanted.low) < 0.02 * width
        assert abs(found.high - wanted.high) < 0.02 * width

    @pytest.mark.parametrize("bin_size", [5, 15, 60])
    def test_the_bins_of_the_interval_are_those_of_the_pairs(self, bin_size):
        # Cells near 0 and 1 have more pairs than these bins, and are divided by them.
        rng = np.random.default_rng(6)
        q = rng.beta(0.1, 0.1, 30_000)
        binning = Binning(bin_size, None, "interval")
        (pairs,) = check_pairs(rng.random(q.size) < q, q)
        cells = sketch_of(pairs.positive, q, n_bits=12)._table.cells
        assert cells.classes()[1].max() > 60
        np.testing.assert_array_equal(
            binning.bins(cells).bounds, bins_of(pairs, binning).bounds
        )

    def test_a_sketch_is_the_metric_of_the_means_of_its_cells(self):
        y, q = make_calibrated_pairs(20_000, k=0.05, random_state=4)
        sketch = sketch_of(y, q, n_bits=12)
        cells = sketch.to_dict()
        mean = np.repeat(cells["prob_pred"], 2)
        weight = np.array(cells["weight"])
        positive = np.array(cells["positive_weight"])
        weights = np.column_stack([weight - positive, positive]).ravel()
        labels = np.tile([0, 1], len(weight))
        square = {"debias": True, "squared": True}
        for kind in ({}, square, {"norm": "max"}, {"squared": True}):
            wanted = calibration_error(labels, mean, sample_weight=weights, **kind)
            assert sketch.error(**kind) == pytest.approx(wanted, abs=1e-12)
        # Classes of equal probabilities have bins of their own, and cells do not.
        wanted = calibration_error(y, q, debias=True)
        assert sketch.error(debias=True) == pytest.approx(wanted, abs=1e-3)


class TestMerge:
    @settings(max_examples=25, deadline=None)
    @given(rows(), st.randoms(use_true_random=False), st.integers(1, 5))
    def test_neither_order_nor_chunks_matter(self, data, random, n_chunks):
        y, q, w, _ = data
        assume(w.any())
        whole = sketch_of(y, q, w, n_bits=12)
        order = np.array(random.sample(range(y.size), y.size))
        parts = [
            sketch_of(y[rows], q[rows], w[rows], n_bits=12)
            for rows in np.array_split(order, n_chunks)
        ]
        random.shuffle(parts)
        merged = ReliabilitySketch(n_bits=12)
        for part in parts:
            merged.merge(pickle.loads(pickle.dumps(part)))
        assert merged.n_pairs == whole.n_pairs == np.count_nonzero(w)
        np.testing.assert_allclose(read(merged), read(whole), atol=1e-12)

    def test_many_chunks_in_any_tree_agree_to_rounding(self):
        y, q = make_calibrated_pairs(100_000, k=0.05, random_state=5)
        w = np.random.default_rng(5).random(y.size)
        parts = [
            sketch_of(y[i::100], q[i::100], w[i::100], n_bits=14) for i in range(100)
        ]
        line = copy.deepcopy(parts[0])
        for part in parts[1:]:
            line += part
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=False)
            parts = [one + other for one, other in pairs] + parts[len(parts) & ~1 :]
        (tree,) = parts
        for kind in ({}, {"norm": "l1"}, {"debias": True}):
            assert tree.error(**kind) == pytest.approx(line.error(**kind), abs=1e-12)

    def test_merge_changes_one_and_addition_none(self):
        one, other = sketch_of([0, 1], [0.2, 0.7]), sketch_of([1], [0.4])
        total = one + other
        assert (total.n_pairs, one.n_pairs, other.n_pairs) == (3, 2, 1)
        assert one.merge(other) is one
        assert (one.n_pairs, other.n_pairs) == (3, 1)
        assert one.error(bin_size=1) == total.error(bin_size=1)

    def test_what_was_read_is_read_anew_after_an_update(self):
        sketch = sketch_of([0, 1], [0.2, 0.7])
        assert sketch.error(n_bins=1) == pytest.approx(0.05)
        sketch.update([1, 1], [0.7, 0.8])
        assert sketch.error(n_bins=1) == pytest.approx(0.15)
        sketch += sketch_of([0], [1.0])
        assert sketch.error(n_bins=1) == pytest.approx(0.08)

    @pytest.mark.parametrize("other", [None, 3, [0.5]])
    def test_only_sketches_merge(self, other):
        with pytest.raises(TypeError, match="'other' parameter of ReliabilitySketch"):
            sketch_of([1], [0.5]).merge(other)
        with pytest.raises(TypeError):
            sketch_of([1], [0.5]) + other

    def test_grids_must_agree(self):
        with pytest.raises(ValueError, match="n_bits=18 and n_bits=12"):
            sketch_of([1], [0.5]).merge(sketch_of([1], [0.5], n_bits=12))

    def test_memory_and_pickles_do_not_grow_with_pairs(self):
        y, q = make_calibrated_pairs(100_000, random_state=6)
        sketch = sketch_of(y, q, n_bits=12)
        size = len(pickle.dumps(sketch))
        assert size < 40 * 6116
        for seed in range(3):
            sketch.update(*make_calibrated_pairs(100_000, random_state=seed))
        assert len(pickle.dumps(sketch)) <= 1.05 * size


class TestInput:
    def test_pooled_matrices_in_chunks(self):
        rng = np.random.default_rng(7)
        proba = rng.dirichlet(np.ones(4), 600)
        y = np.array(list("abcd"))[rng.integers(0, 4, 600)]
        w = rng.integers(0, 3, 600)
        sketch = ReliabilitySketch()
        for part in np.array_split(np.argsort(y), 7):  # chunks of one or two labels
            sketch.update(y[part], proba[part], w[part], labels=list("abcd"))
        wanted = calibration_error(y, proba, sample_weight=w, bin_size=50)
        assert abs(sketch.error(bin_size=50) - wanted) <= sketch.error_bound(
            bin_size=50
        )
        assert sketch.n_pairs == 4 * np.count_nonzero(w)
        with pytest.raises(ValueError, match="pooled classes"):
            sketch.interval()
        for method in (sketch.error, sketch.error_bound, sketch.curve().error):
            with pytest.raises(ValueError, match="pairs of the same row"):
                method(debias=True)

    def test_top_label_and_two_columns(self):
        proba = np.array([[0.2, 0.8], [0.9, 0.1], [0.4, 0.6], [0.7, 0.3]])
        y = ["no", "no", "yes", "yes"]
        for kwargs in ({"multi_class": "top_label"}, {"pos_label": "no"}, {}):
            sketch = ReliabilitySketch().update(y, proba, **kwargs)
            wanted = calibration_error(y, proba, bin_size=2, **kwargs)
            assert sketch.error(bin_size=2) == pytest.approx(wanted)

    def test_empty_and_weightless_chunks_add_nothing(self):
        sketch = sketch_of([0, 1, 1], [0.2, 0.7, 0.7])
        sketch.update([], []).update([1, 0], [0.3, 0.4], [0, 0])
        assert sketch.n_pairs == 3
        assert sketch.error(n_bins=1) == pytest.approx(2 / 3 - 1.6 / 3)

    def test_float32_keeps_its_ties(self):
        q = np.array([0.1, 0.1, 0.2, 0.7], dtype=np.float32)
        sketch = sketch_of([0, 1, 0, 1], q)
        assert sketch.heaviest_cell == 0
        assert sketch.error(bin_size=2) == calibration_error([0, 1, 0, 1], q, n_bins=2)

    def test_inputs_are_not_modified(self):
        y, q, w = np.array([0, 1]), np.array([-0.0, 0.7]), np.array([1.0, 2.0])
        before = [array.tobytes() for array in (y, q, w)]
        sketch_of(y, q, w)
        assert [array.tobytes() for array in (y, q, w)] == before

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (([0, 1], [0.5, 1.5]), "'y_proba' parameter of ReliabilitySketch.update"),
            (([0, 1], [0.5, np.nan]), "in row 1"),
            (([0, 2], [0.5, 0.5]), "'y_true'"),
            (([0, 1], [0.5]), "same length"),
            (([], [0.5]), "'y_true'"),
            (([0, 1], [0.5, 0.5], [1, -1]), "'sample_weight'"),
            (([0, 1], [0.5, 0.5], [0, np.nan]), "'sample_weight'"),
            (([0, 1], [0.5, 0.5], [0]), "'sample_weight'"),
            (([0, 1], [0.5, 0.5], [[0], [0]]), "'sample_weight'"),
            (([0, 1], [0.5, 0.5], [None, None]), "'sample_weight'"),
            (([0, 1], [0.5, 0.5], ["0", "0"]), "'sample_weight'"),
            (([], [], [1]), "is empty"),
            ((np.array(0), np.array(0.5)), r"'y_proba' .* Got shape \(\)"),
        ],
    )
    def test_a_wrong_chunk_is_refused_and_adds_nothing(self, args, message):
        sketch = sketch_of([0, 1], [0.2, 0.7])
        before = pickle.dumps(sketch)
        with pytest.raises(ValueError, match=message):
            sketch.update(*args)
        assert pickle.dumps(sketch) == before

    def test_class_wise_needs_a_sketch_for_each_class(self):
        with pytest.raises(ValueError, match="multi_class"):
            ReliabilitySketch().update([0], [[0.5, 0.5]], multi_class="class_wise")

    def test_labels_of_no_weight_are_not_among_the_negative_ones(self):
        sketch = ReliabilitySketch().update([1, 0, -1], [0.5, 0.1, 0.9], [1, 1, 0])
        assert sketch.update([0], [0.2]).total_weight == 3

    def test_chunks_with_other_negative_labels_are_refused(self):
        sketch = sketch_of([0, 1], [0.2, 0.7])
        with pytest.raises(ValueError, match="-1 and 1 in another"):
            sketch.update([-1, 1], [0.2, 0.7])
        with pytest.raises(ValueError, match="-1 and 1 in another"):
            sketch.merge(sketch_of([-1, 1], [0.2, 0.7]))
        assert sketch.update([1, 1], [0.2, 0.7]).n_pairs == 4

    @pytest.mark.parametrize("dtype", [bool, np.uint8, float, object])
    def test_negative_labels_are_known_in_any_type(self, dtype):
        sketch = sketch_of(np.array([0, 1], dtype), [0.2, 0.7])
        with pytest.raises(ValueError, match="-1 and 1 in another"):
            sketch.update(np.array([-1, 1], object), [0.2, 0.7])

    def test_a_chunk_need_not_hold_the_positive_label(self):
        y, q = np.array(["a", "b", "c", "b"]), np.array([0.2, 0.4, 0.7, 0.9])
        sketch = ReliabilitySketch()
        for rows in (slice(0, 2), slice(2, 4)):
            sketch.update(y[rows], q[rows], pos_label="c")
        exact = calibration_error(y, q, pos_label="c", bin_size=2)
        assert sketch.error(bin_size=2) == pytest.approx(exact, abs=1e-12)

    def test_columns_may_be_of_any_two_labels(self):
        sketch = ReliabilitySketch()
        for label, row in ((-1, [0.7, 0.3]), (0, [0.4, 0.6])):
            sketch.update([label], [row], labels=[-1, 0])
        assert sketch.error(n_bins=1) == pytest.approx(0.05)

    @pytest.mark.parametrize("name", ["error", "error_bound", "curve", "interval"])
    def test_an_empty_sketch_says_so(self, name):
        with pytest.raises(ValueError, match=f"ReliabilitySketch.{name} needs pairs"):
            getattr(ReliabilitySketch(), name)()

    def test_an_empty_sketch_has_nothing(self):
        sketch = ReliabilitySketch()
        assert sketch.total_weight == sketch.heaviest_cell == sketch.n_pairs == 0
        assert sketch.to_dict()["weight"] == []

    @pytest.mark.parametrize(
        ("n_bits", "error"), [(11, ValueError), (25, ValueError), (18.0, TypeError)]
    )
    def test_fineness_is_checked(self, n_bits, error):
        with pytest.raises(error, match="'n_bits' parameter of ReliabilitySketch"):
            ReliabilitySketch(n_bits=n_bits)

    def test_parameters_of_reading_are_checked(self):
        sketch = sketch_of([0, 1], [0.2, 0.7])
        with pytest.raises(ValueError, match="not both"):
            sketch.curve(5, n_bins=2)
        with pytest.raises(ValueError, match="'squared' parameter"):
            sketch.error(norm="l1", squared=True)
        with pytest.raises(ValueError, match="at least two pairs"):
            sketch.error(bin_size=1, debias=True)
        with pytest.raises(ValueError, match="confidence_level"):
            sketch.interval(confidence_level=1.0)
        with pytest.raises(ValueError, match="bin_size"):
            sketch.interval(bin_size=1)

    def test_the_state_is_plain_numbers(self):
        state = sketch_of([0, 1, 1], [0.5, 0.5, 0.25]).to_dict()
        assert json.loads(json.dumps(state)) == {
            "n_bits": 18,
            "n_pairs": 3,
            "n_samples": 3,
            "total_weight": 3.0,
            "prob_pred": [0.25, 0.5],
            "weight": [1.0, 2.0],
            "positive_weight": [1.0, 1.0],
            "proba_min": [0.25, 0.5],
            "proba_max": [0.25, 0.5],
        }
        assert repr(sketch_of([1], [0.5])) == "ReliabilitySketch(n_pairs=1, n_bits=18)"
