"""Laws of curves, decompositions and sketches: order, repetition, merging, float32."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skcalib.metrics import (
    ReliabilitySketch,
    adaptive_reliability_curve,
    bin_size_curve,
    calibration_error,
    calibration_error_interval,
    sample_size_curve,
    score_decomposition,
)

SEEDS = st.integers(0, 10_000)
COLUMNS = ("prob_true", "prob_pred", "weight", "proba_min", "proba_max")

few = settings(max_examples=20)


def draw(seed, n=40):
    """Return labels of both kinds, probabilities with ties, and whole weights."""
    rng = np.random.default_rng(seed)
    q = np.where(rng.random(n) < 0.5, rng.integers(0, 9, n) / 8, rng.random(n))
    y = (rng.random(n) < q**2).astype(int)
    y[:2] = [0, 1]
    weight = rng.integers(0, 4, n)
    weight[:2] += 1
    return y, q, weight, rng


def same(found, expected, atol=1e-10):
    """Compare the numbers of two results; settings are not compared."""
    a, b = found.to_dict(), expected.to_dict()
    assert a.keys() == b.keys()
    for name, value in b.items():
        if isinstance(value, (float, list)):
            np.testing.assert_allclose(
                np.array(a[name], float),
                np.array(value, float),
                atol=atol,
                err_msg=name,
            )


# What is measured on the pairs, whatever its settings.
MEASURES = {
    "curve": lambda y, q, w=None: adaptive_reliability_curve(
        y, q, sample_weight=w, bin_size=7
    ),
    "curve of widths": lambda y, q, w=None: adaptive_reliability_curve(
        y, q, sample_weight=w, n_bins=5, strategy="uniform"
    ),
    "interval": lambda y, q, w=None: calibration_error_interval(
        y, q, sample_weight=w, bin_size=8
    ),
    "adaptive Brier score": lambda y, q, w=None: score_decomposition(
        y, q, sample_weight=w, bin_size=7
    ),
    "isotonic Brier score": lambda y, q, w=None: score_decomposition(
        y, q, sample_weight=w, method="isotonic"
    ),
    "log score": lambda y, q, w=None: score_decomposition(
        y, 0.01 + 0.98 * q, sample_weight=w, score="log", bin_size=7
    ),
    "sizes of bins": lambda y, q, w=None: bin_size_curve(
        y, q, sample_weight=w, bin_sizes=[2, 5, 9]
    ),
    "sizes of samples": lambda y, q, w=None: sample_size_curve(
        y, q, sample_weight=w, sample_sizes=[5, 20], n_repeats=3, random_state=0
    ),
}
each_measure = pytest.mark.parametrize("name", MEASURES)


@each_measure
@few
@given(seed=SEEDS)
def test_order_of_rows(name, seed):
    y, q, weight, rng = draw(seed)
    order, measure = rng.permutation(y.size), MEASURES[name]
    same(measure(y[order], q[order], weight[order]), measure(y, q, weight))


@each_measure
@few
@given(seed=SEEDS)
def test_whole_weights_are_repetitions(name, seed):
    y, q, weight, _ = draw(seed)
    measure = MEASURES[name]
    same(measure(y, q, weight), measure(y.repeat(weight), q.repeat(weight)), 1e-7)


@each_measure
@few
@given(seed=SEEDS)
def test_float32(name, seed):
    y, q, weight, _ = draw(seed)
    q, measure = q.astype(np.float32), MEASURES[name]
    same(measure(y, q, weight), measure(y, q.astype(np.float64), weight), 1e-5)


@few
@given(seed=SEEDS)
def test_names_and_order_of_classes(seed):
    rng = np.random.default_rng(seed)
    proba, y = rng.dirichlet(np.ones(3), 20), rng.integers(0, 3, 20)
    new, names = rng.permutation(3), np.array(["one", "two", "three"])
    for how in ("pooled", "class_wise"):
        expected = calibration_error(
            y, proba, multi_class=how, labels=[0, 1, 2], bin_size=5
        )
        found = calibration_error(
            names[y], proba[:, new], multi_class=how, labels=names[new], bin_size=5
        )
        assert found == pytest.approx(expected, abs=1e-12)


@few
@given(seed=SEEDS)
def test_names_of_groups(seed):
    y, q, _, rng = draw(seed)
    groups = np.arange(y.size) // 4
    order, new = rng.permutation(y.size), rng.permutation(10)
    named = np.array([f"doc {k}" for k in new[groups]])
    expected = calibration_error_interval(y, q, groups=groups)
    same(calibration_error_interval(y[order], q[order], groups=named[order]), expected)


@few
@given(
    seed=SEEDS, cuts=st.lists(st.integers(0, 40), max_size=3), weighted=st.booleans()
)
def test_merged_sketches_are_one_of_all_rows(seed, cuts, weighted):
    y, q, weight, rng = draw(seed)
    weight = weight if weighted else np.ones(y.size)

    def sketch(rows):
        return ReliabilitySketch(n_bits=12).update(
            y[rows], q[rows], sample_weight=weight[rows], pos_label=1
        )

    whole = sketch(np.arange(y.size))
    parts = [
        each for each in np.split(rng.permutation(y.size), sorted(cuts)) if each.size
    ]
    merged = ReliabilitySketch(n_bits=12)
    for part in parts:
        merged = merged.merge(sketch(part))
    found, expected = merged.curve(bin_size=7), whole.curve(bin_size=7)
    for name in COLUMNS:
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), atol=1e-9
        )
    assert merged.total_weight == weight.sum()
    exact = calibration_error(y, q, sample_weight=weight, bin_size=7)
    assert (
        abs(merged.error(bin_size=7) - exact) <= merged.error_bound(bin_size=7) + 1e-12
    )


@few
@given(seed=SEEDS, cut=st.integers(5, 35))
def test_the_score_of_two_samples_is_their_mean(seed, cut):
    y, q, weight, _ = draw(seed)
    weight = weight + 1
    parts = [
        (
            weight[rows].sum(),
            score_decomposition(
                y[rows], q[rows], sample_weight=weight[rows], bin_size=5, pos_label=1
            ).score,
        )
        for rows in (slice(None, cut), slice(cut, None))
    ]
    mean = sum(w * score for w, score in parts) / weight.sum()
    whole = score_decomposition(y, q, sample_weight=weight, bin_size=5)
    assert whole.score == pytest.approx(mean)
    sums = whole.calibration + whole.refinement + whole.residual
    assert sums == pytest.approx(whole.score)
