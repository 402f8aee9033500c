"""ReliabilityDisplay: the numbers that it holds and the artists that it draws."""

import io
import itertools
import json
import re
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from cases import case
from drawn import check_names
from drawn import names_of as legend
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy.stats import binomtest
from sklearn.calibration import CalibrationDisplay, calibration_curve
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RepeatedKFold,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcalib import ReliabilityDisplay
from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import (
    adaptive_reliability_curve,
    calibration_error,
    calibration_error_interval,
)
from skcalib.queries import ClassQuery
from skcalib.scorers import adaptive_reliability_curve_scorer

FEW = (
    "ignore:.*(no test of perfect calibration|effective groups|inside the bins)"
    ":UserWarning"
)

N = 400


@pytest.fixture(scope="module")
def y_true():
    return np.random.default_rng(0).integers(0, 2, N)


@pytest.fixture(scope="module")
def y_proba(y_true):
    return np.random.default_rng(1).beta(1 + y_true, 2 - y_true)


@pytest.fixture(scope="module")
def two_models(y_proba):
    return {"straight": y_proba, "bent": y_proba**2}


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


def chunks(y, q, size):
    """Sort by probability and cut every `size` pairs, which divides their number."""
    order = np.argsort(q)
    return y[order].reshape(-1, size), q[order].reshape(-1, size)


def ends(bar):
    """Give the lower and upper ends of interval bars."""
    segments = np.array(bar.get_segments())
    return segments[:, 0, 1], segments[:, 1, 1]


def same_curve(curve, expected):
    np.testing.assert_allclose(curve.prob_true, expected.prob_true)
    np.testing.assert_allclose(curve.prob_pred, expected.prob_pred)
    np.testing.assert_allclose(curve.weight, expected.weight)


# What is drawn


def test_the_line_joins_mean_probability_and_frequency_of_each_bin(y_true, y_proba):
    display = ReliabilityDisplay.from_predictions(y_true, y_proba, bin_size=50)
    y, q = chunks(y_true, y_proba, 50)
    np.testing.assert_allclose(display.line_.get_xdata(), q.mean(axis=1))
    np.testing.assert_allclose(display.line_.get_ydata(), y.mean(axis=1))


@pytest.mark.parametrize(
    ("interval", "method"), [("wilson", "wilson"), ("clopper_pearson", "exact")]
)
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_bars_are_binomial_intervals(y_true, y_proba, interval, method, level):
    display = ReliabilityDisplay.from_predictions(
        y_true, y_proba, bin_size=50, interval=interval, confidence_level=level
    )
    y, _ = chunks(y_true, y_proba, 50)
    expected = [
        binomtest(int(k), 50).proportion_ci(level, method) for k in y.sum(axis=1)
    ]
    low, high = ends(display.bar_)
    np.testing.assert_allclose(low, [e.low for e in expected], atol=1e-12)
    np.testing.assert_allclose(high, [e.high for e in expected], atol=1e-12)


def test_the_histogram_counts_probabilities_in_cells(y_true, y_proba):
    display = ReliabilityDisplay.from_predictions(y_true, y_proba)
    expected, edges = np.histogram(y_proba, 21, range=(0, 1))
    np.testing.assert_array_equal(display.count, expected)
    drawn = display.count_.get_data()
    np.testing.assert_array_equal(drawn.values, expected)
    np.testing.assert_allclose(drawn.edges, edges)
    assert display.count_ax_.get_yscale() == "log"


@pytest.mark.filterwarnings(FEW)
def test_the_histogram_counts_the_ends_of_the_range():
    display = ReliabilityDisplay.from_predictions([0, 0, 1], [0.0, 0.0, 1.0])
    assert display.count.tolist() == [2] + [0] * 19 + [1]


@pytest.mark.filterwarnings(FEW)
def test_each_multiple_of_a_twentieth_has_a_bar_around_it():
    """Cell k of 21 is from k / 21 to (k + 1) / 21, and contains k / 20."""
    q = np.arange(21) / 20
    display = ReliabilityDisplay.from_predictions([0, 1] * 10 + [1], q)
    assert display.count.tolist() == [1] * 21


def test_the_histogram_of_several_classes_counts_all_their_probabilities():
    X, y = load_iris(return_X_y=True)
    proba = GaussianNB().fit(X, y).predict_proba(X)
    display = ReliabilityDisplay.from_predictions(y, proba)
    assert display.count.sum() == 3 * len(y)
    assert display.curve.n_pairs == 3 * len(y)


def test_the_diagonal_goes_from_corner_to_corner(y_true, y_proba):
    display = ReliabilityDisplay.from_predictions(
        y_true, y_proba, diagonal_kwargs={"color": "red"}
    )
    assert display.diagonal_.get_xydata().tolist() == [[0, 0], [1, 1]]
    assert display.diagonal_.get_color() == "red"


def test_the_axes_say_what_they_show(y_true, y_proba):
    display = ReliabilityDisplay.from_predictions(y_true, y_proba)
    assert display.ax_.get_ylabel() == "Fraction of positives"
    assert display.count_ax_.get_xlabel() == "Mean predicted probability"
    assert display.count_ax_.get_ylabel() == "Count"
    bare = ReliabilityDisplay.from_predictions(y_true, y_proba, counts=False)
    assert bare.ax_.get_xlabel() == "Mean predicted probability"


def test_the_legend_holds_name_error_and_interval(y_true, y_proba):
    display = ReliabilityDisplay.from_predictions(y_true, y_proba, name="model")
    found = calibration_error_interval(y_true, y_proba)
    numbers = f"{found.estimate:.3f} [{found.low:.3f}, {found.high:.3f}]"
    assert legend(display.ax_) == [f"model: debiased error {numbers}"]
    assert repr(display) == f"ReliabilityDisplay(model: debiased error {numbers})"


def test_an_error_of_no_three_digits_is_written_with_an_exponent():
    y_proba = np.full(100_000, 1e-5)
    display = ReliabilityDisplay.from_predictions(np.zeros(100_000), y_proba)
    (text,) = legend(display.ax_)
    assert text.startswith("debiased error 1.0e-05 [")


def test_without_interval_and_counts_only_the_curve_is_drawn(y_true, y_proba):
    display = ReliabilityDisplay.from_predictions(
        y_true, y_proba, interval=None, counts=False
    )
    assert display.bar_ is None
    assert display.count_ is None
    assert display.count_ax_ is None
    assert display.figure_.axes == [display.ax_]


def test_styles_go_to_the_curve(y_true, y_proba):
    display = ReliabilityDisplay.from_predictions(
        y_true, y_proba, curve_kwargs={"color": "green", "marker": "s", "label": "own"}
    )
    assert display.line_.get_color() == "green"
    assert display.line_.get_marker() == "s"
    assert legend(display.ax_) == ["own"]


# The band of perfect calibration


def band_ends(band):
    """Give the corners of a shaded band as a set of points."""
    return {tuple(point) for point in np.round(band.get_paths()[0].vertices, 12)}


def test_the_band_is_drawn_where_asked_for(y_true, y_proba):
    plain = ReliabilityDisplay.from_predictions(y_true, y_proba)
    assert plain.band_ is None
    display = ReliabilityDisplay.from_predictions(
        y_true, y_proba, consistency_band=True, confidence_level=0.9, name="model"
    )
    low, high = display.curve.consistency_band(0.9)
    for end in (low, high):
        corners = np.round(np.column_stack([display.curve.prob_pred, end]), 12)
        assert {tuple(point) for point in corners} <= band_ends(display.band_)
    model, band = legend(display.ax_)
    assert model.startswith("model: debiased error")
    assert band == "90% band of perfect calibration"
    assert display.band_.get_zorder() < display.diagonal_.get_zorder()
    assert display.bar_ is not None


def test_several_bands_have_one_entry_in_the_legend(y_true, two_models):
    display = ReliabilityDisplay.from_predictions(
        y_true, two_models, consistency_band=True
    )
    assert len(display.band_) == 2
    more = ReliabilityDisplay.from_predictions(
        y_true, two_models["bent"], ax=display.ax_, consistency_band=True
    )
    shown = legend(more.ax_)
    assert len(shown) == 4
    assert shown[-1] == "95% band of perfect calibration"


def test_shades_of_the_users_own_keep_their_colour_in_the_legend(y_true, y_proba):
    _, ax = plt.subplots()
    ax.fill_between([0, 1], 0.4, 0.6, color="red", label="own")
    display = ReliabilityDisplay.from_predictions(
        y_true, y_proba, ax=ax, consistency_band=True
    )
    assert legend(ax)[-1] == "95% band of perfect calibration"
    colors = [to_hex(h.get_facecolor()) for h in ax.get_legend().get_patches()]
    assert colors == ["#ff0000", "#808080"]
    assert display.band_ is not None


def test_the_band_of_a_single_bin_is_seen(y_true, y_proba):
    display = ReliabilityDisplay.from_predictions(
        y_true, y_proba, n_bins=1, consistency_band=True
    )
    assert display.band_.get_linewidth()[0] > 1


# Several models, and axes that are used again


def test_a_mapping_draws_a_curve_for_each_model(y_true, two_models):
    display = ReliabilityDisplay.from_predictions(y_true, two_models, bin_size=50)
    assert display.name == ["straight", "bent"]
    for k, q in enumerate(two_models.values()):
        y, q = chunks(y_true, q, 50)
        np.testing.assert_allclose(display.line_[k].get_xdata(), q.mean(axis=1))
        np.testing.assert_allclose(display.line_[k].get_ydata(), y.mean(axis=1))
    names = [re.split("[:\n]", text)[0] for text in legend(display.ax_)]
    assert names == ["straight", "bent"]
    assert len(display.bar_) == len(display.count_) == 2
    colors = [to_hex(line.get_color()) for line in display.line_]
    assert len(set(colors)) == 2
    assert [to_hex(bar.get_color()[0]) for bar in display.bar_] == colors
    assert [to_hex(count.get_facecolor()) for count in display.count_] == colors


def test_each_curve_may_have_a_style_of_its_own(y_true, two_models):
    styles = [{"color": "red"}, {"color": "blue", "linestyle": ":"}]
    display = ReliabilityDisplay.from_predictions(
        y_true, two_models, curve_kwargs=styles
    )
    assert [line.get_color() for line in display.line_] == ["red", "blue"]
    assert [line.get_linestyle() for line in display.line_] == ["-", ":"]
    assert styles == [{"color": "red"}, {"color": "blue", "linestyle": ":"}]


def test_the_axes_of_another_display_get_one_more_curve(y_true, two_models):
    first = ReliabilityDisplay.from_predictions(
        y_true, two_models["straight"], name="first"
    )
    second = ReliabilityDisplay.from_predictions(
        y_true, two_models["bent"], name="second", ax=first.ax_
    )
    assert second.ax_ is first.ax_
    assert second.count_ax_ is first.count_ax_
    assert second.diagonal_ is first.diagonal_
    lines = [first.diagonal_, first.line_, second.line_]
    assert list(first.ax_.lines) == lines
    assert list(first.count_ax_.patches) == [first.count_, second.count_]
    assert [text.split(":")[0] for text in legend(first.ax_)] == ["first", "second"]
    assert len(first.figure_.axes) == 2 or first.count_ax_ in first.ax_.child_axes


def test_axes_that_were_cleared_are_as_good_as_new(y_true, y_proba):
    first = ReliabilityDisplay.from_predictions(y_true, y_proba, counts=False)
    first.ax_.clear()
    display = ReliabilityDisplay.from_predictions(
        y_true, y_proba, counts=False, ax=first.ax_
    )
    assert list(display.ax_.lines) == [display.diagonal_, display.line_]
    assert display.ax_.get_xlabel() == "Mean predicted probability"


def test_a_histogram_may_be_added_later(y_true, y_proba):
    first = ReliabilityDisplay.from_predictions(y_true, y_proba, counts=False)
    second = ReliabilityDisplay.from_predictions(y_true, y_proba, ax=first.ax_)
    assert first.count_ax_ is None
    assert list(second.count_ax_.patches) == [second.count_]


@pytest.mark.parametrize("layout", ["tight", "constrained"])
@pytest.mark.parametrize(
    ("rows", "columns", "size"),
    [
        (1, 1, (6, 4)),
        pytest.param(1, 2, (10, 6), marks=pytest.mark.slow),
        pytest.param(2, 2, (8, 8), marks=pytest.mark.slow),
    ],
)
def test_every_layout_has_room_for_the_histogram(
    y_true, y_proba, layout, rows, columns, size
):
    figure = Figure(layout=layout, figsize=size)
    axes = figure.subplots(rows, columns, squeeze=False).flat
    shown = [ReliabilityDisplay.from_predictions(y_true, y_proba, ax=ax) for ax in axes]
    figure.savefig(io.BytesIO())
    curves = [display.ax_.get_window_extent() for display in shown]
    for display, curve in zip(shown, curves, strict=True):
        histogram = display.count_ax_.get_window_extent()
        assert (histogram.x0, histogram.x1) == pytest.approx((curve.x0, curve.x1))
        label = display.count_ax_.xaxis.label.get_window_extent().padded(-2)
        assert figure.bbox.fully_containsx(label.x0)
        assert figure.bbox.fully_containsy(label.y0)
        assert not any(label.overlaps(other) for other in curves)


LONG_NAMES = [f"bert-base-uncased-finetuned-on-conll-{k}" for k in range(3)]
MANY_NAMES = [f"model {k}" for k in range(8)]


@pytest.mark.parametrize(
    ("names", "together"),
    [
        (LONG_NAMES, True),
        (MANY_NAMES, False),
        (["word " * 40], True),
        (["a", "b"], True),
        pytest.param(LONG_NAMES, False, marks=pytest.mark.slow),
        pytest.param(["word " * 40], False, marks=pytest.mark.slow),
    ],
)
def test_long_legends_hide_no_curve_and_leave_the_axes_their_place(
    y_true, y_proba, names, together
):
    models = {name: y_proba ** (1 + k / 4) for k, name in enumerate(names)}
    display = ReliabilityDisplay.from_predictions(y_true, y_proba)
    display.figure_.canvas.draw()
    usual = display.ax_.get_window_extent()
    if together:
        display = ReliabilityDisplay.from_predictions(y_true, models)
    else:
        for name, q in models.items():
            display = ReliabilityDisplay.from_predictions(
                y_true, q, name=name, ax=display.ax_
            )
    display.figure_.canvas.draw()
    axes = display.ax_.get_window_extent()
    assert (axes.width, axes.height) == pytest.approx((usual.width, usual.height), 0.05)
    check_names(display)
    # The first display has a curve of its own.
    assert len(legend(display.ax_)) == len(names) + (not together)


def test_names_at_curves_have_their_colours(y_true, two_models):
    curves = [adaptive_reliability_curve(y_true, q) for q in two_models.values()]
    display = ReliabilityDisplay(curve=curves, name=list(two_models)).plot()
    assert display.ax_.get_legend() is None
    for text, line in zip(display.ax_.texts, display.line_, strict=True):
        assert text.get_text().replace("\n", ": ") == line.get_label()
        assert text.get_color() == line.get_color()


def test_more_than_three_models_have_a_panel_each(y_true, y_proba):
    models = {f"model {k}": y_proba ** (1 + k / 4) for k in range(5)}
    display = ReliabilityDisplay.from_predictions(y_true, models)
    assert len(display.ax_) == len(display.count_ax_) == len(display.diagonal_) == 5
    assert len({ax.get_ylim() for ax in display.count_ax_}) == 1
    for k, (name, ax) in enumerate(zip(models, display.ax_, strict=True)):
        curve = display.curve[k]
        assert display.line_[k].get_xdata().tolist() == curve.prob_pred.tolist()
        assert ax.get_title().startswith(f"{name}, n = {N}\nerror ")
        # the diagonal, the curve and the grey curves of the others
        assert len(ax.lines) == 6
        assert list(display.count_ax_[k].patches) == [display.count_[k]]
    # On axes of the user, all models are in one plot.
    ax = Figure().subplots()
    together = ReliabilityDisplay.from_predictions(y_true, models, ax=ax)
    assert together.ax_ is ax
    assert len(legend(ax)) == 5


def test_no_histogram_hides_another(y_true, two_models):
    display = ReliabilityDisplay.from_predictions(y_true, two_models)
    spans = []
    for k, count in enumerate(display.count_):
        values, edges, _ = count.get_data()
        assert values[::2].tolist() == display.count[k].tolist()
        assert np.isnan(values[1::2]).all()
        spans.append(edges.reshape(-1, 2))
    first, second = spans
    assert (first[:, 1] <= second[:, 0] + 1e-12).all()
    assert (second[:-1, 1] <= first[1:, 0]).all()


def test_the_settings_of_matplotlib_stay_the_same(y_true, two_models):
    before = dict(plt.rcParams)
    ReliabilityDisplay.from_predictions(y_true, two_models).figure_.canvas.draw()
    assert dict(plt.rcParams) == before


def test_the_colours_of_the_user_are_kept(y_true, two_models):
    _, ax = plt.subplots()
    ax.set_prop_cycle(color=["#111111", "#222222"])
    display = ReliabilityDisplay.from_predictions(y_true, two_models, ax=ax)
    assert [line.get_color() for line in display.line_] == ["#111111", "#222222"]


def test_an_entry_too_long_for_a_line_has_several(y_true, y_proba):
    display = ReliabilityDisplay.from_predictions(y_true, y_proba, name=LONG_NAMES[0])
    name, error = legend(display.ax_)[0].split("\n")
    assert name == LONG_NAMES[0]
    assert error.startswith("debiased error 0.")
    assert repr(display) == f"ReliabilityDisplay({name}: {error})"


@pytest.mark.parametrize("weight", [1, 0.01, 1000])
def test_the_log_scale_has_labels_whatever_the_counts(weight):
    # forty pairs in each of the fifty cells, of a weight each
    y_proba = np.repeat((np.arange(50) + 0.5) / 50, 40)
    display = ReliabilityDisplay.from_predictions(
        np.tile([0, 1], 1000), y_proba, sample_weight=np.full(2000, weight)
    )
    low, high = display.count_ax_.get_ylim()
    inside = [t for t in display.count_ax_.yaxis.get_majorticklocs() if low < t < high]
    assert len(inside) >= 2
    assert low < 40 * weight < high


def test_many_bands_are_no_darker_than_one(y_true, y_proba):
    def opacity(band):
        return band.get_facecolor()[0, 3]

    one = ReliabilityDisplay.from_predictions(y_true, y_proba, consistency_band=True)
    models = dict.fromkeys(MANY_NAMES, y_proba)
    ax = Figure().subplots()
    many = ReliabilityDisplay.from_predictions(
        y_true, models, consistency_band=True, ax=ax
    )
    light = np.prod([1 - opacity(band) for band in many.band_])
    assert light == pytest.approx(1 - opacity(one.band_))


def test_the_labels_of_the_log_scale_do_not_overlap():
    y_proba = np.random.default_rng(0).beta(0.5, 0.5, 5000)
    display = ReliabilityDisplay.from_predictions(y_proba > 0.5, y_proba)
    display.figure_.canvas.draw()
    axis, inside = display.count_ax_.yaxis, display.count_ax_.bbox
    labels = axis.get_majorticklabels() + axis.get_minorticklabels()
    boxes = [label.get_window_extent() for label in labels if label.get_text()]
    shown = [box for box in boxes if inside.y0 <= (box.y0 + box.y1) / 2 <= inside.y1]
    shown.sort(key=lambda box: box.y0)
    assert shown
    for lower, upper in itertools.pairwise(shown):
        assert lower.y1 <= upper.y0 + 1


# The display as an object


def test_a_curve_alone_can_be_drawn(y_true, y_proba):
    curve = adaptive_reliability_curve(y_true, y_proba)
    display = ReliabilityDisplay(curve=curve).plot()
    assert display.count_ is display.count_ax_ is None
    assert display.line_.get_xdata().tolist() == curve.prob_pred.tolist()
    named = ReliabilityDisplay(curve=curve, name="model").plot()
    assert legend(named.ax_) == ["model"]


# Scikit-learn's display


def test_points_are_drawn_as_scikit_learn_draws_them(y_true, y_proba):
    points = calibration_curve(y_true, y_proba, n_bins=8)
    params = {"estimator_name": "model", "pos_label": 1}
    theirs = CalibrationDisplay(*points, y_proba, **params).plot()
    ours = ReliabilityDisplay(*points, y_proba, **params).plot()
    for attribute in ("prob_true", "prob_pred", "y_prob"):
        assert getattr(ours, attribute) is getattr(theirs, attribute)
    for attribute in ("estimator_name", "pos_label"):
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    np.testing.assert_array_equal(ours.line_.get_xydata(), theirs.line_.get_xydata())
    assert legend(ours.ax_) == ["Perfectly calibrated", "model"]
    assert ours.ax_.get_ylabel() == theirs.ax_.get_ylabel()
    assert ours.count_ax_.get_xlabel() == theirs.ax_.get_xlabel()
    assert ours.bar_ is None
    # The cells are all that is drawn of the probabilities.
    np.testing.assert_array_equal(ours.count, np.histogram(y_proba, 21, (0, 1))[0])
    found = json.loads(json.dumps(ours.to_dict()))["model"]
    names = ("prob_true", "prob_pred")
    assert found["curve"] == {
        name: getattr(ours, name).tolist() for name in reversed(names)
    }
    assert found["error"] is None
    assert ours.frame().columns.tolist() == ["name", "prob_pred", "prob_true"]
    assert repr(ReliabilityDisplay(*points)) == "ReliabilityDisplay(8 points)"
    assert ReliabilityDisplay(*points).plot().count_ax_ is None


def test_the_attributes_of_scikit_learns_display_are_there(cancer):
    X, y = cancer
    model = GaussianNB().fit(X[::2], y[::2])
    bins = {"n_bins": 10, "strategy": "uniform"}
    theirs = CalibrationDisplay.from_estimator(model, X, y, **bins)
    ours = ReliabilityDisplay.from_estimator(model, X, y, **bins)
    for attribute in ("prob_true", "prob_pred", "y_prob"):
        found, expected = (getattr(each, attribute) for each in (ours, theirs))
        np.testing.assert_allclose(found, expected, atol=1e-12)
    assert ours.estimator_name == theirs.estimator_name == "GaussianNB"
    unnamed = ReliabilityDisplay.from_predictions([0, 1, 1] * 9, [0.2, 0.6, 0.7] * 9)
    assert unnamed.estimator_name == "Classifier"
    assert unnamed.name is None
    proba = model.predict_proba(X)[:, 0]
    zero = ReliabilityDisplay.from_predictions(y, proba, pos_label=0)
    assert zero.y_prob is proba
    assert zero.pos_label == 0


def test_several_models_have_lists_of_attributes(y_true, two_models):
    display = ReliabilityDisplay.from_predictions(y_true, two_models)
    assert display.estimator_name == ["straight", "bent"]
    for k, q in enumerate(two_models.values()):
        assert display.y_prob[k] is q
        curve = adaptive_reliability_curve(y_true, q)
        assert display.prob_true[k].tolist() == curve.prob_true.tolist()
        assert display.prob_pred[k].tolist() == curve.prob_pred.tolist()
    assert ReliabilityDisplay(curve=display.curve).y_prob == [None, None]


def test_rows_without_weight_are_not_among_the_probabilities(y_true, y_proba):
    weight = np.arange(N) % 2
    display = ReliabilityDisplay.from_predictions(y_true, y_proba, sample_weight=weight)
    assert display.y_prob.tolist() == y_proba[1::2].tolist()


def test_points_that_make_no_sense_are_refused(y_true, y_proba):
    curve = adaptive_reliability_curve(y_true, y_proba, bin_size=50)
    p, q = curve.prob_true, curve.prob_pred
    cases = [
        (((p,), {}), "'prob_pred' parameter of ReliabilityDisplay must be given"),
        (((None, q), {}), "'prob_true' parameter of ReliabilityDisplay must be given"),
        (((p, q[1:]), {}), "of the same length. Got: prob_true has 8, prob_pred has 7"),
        (((p, 100 * q), {}), "'prob_pred' .* Percentages must be divided"),
        (((p, q, [y_proba, y_proba]), {}), r"'y_prob' .* Got shape \(2, 400\)"),
        (
            ((p, q), {"curve": curve}),
            "'curve' or 'prob_true' and 'prob_pred', not both",
        ),
        (((), {"name": "a", "estimator_name": "b"}), "'name' or 'estimator_name', not"),
    ]
    for (args, kwargs), message in cases:
        with case(message), pytest.raises(ValueError, match=message):
            ReliabilityDisplay(*args, **kwargs)
    with pytest.raises(ValueError, match="'consistency_band' .* Use from_predictions"):
        ReliabilityDisplay(p, q, y_proba).plot(consistency_band=True)


def test_the_positive_class_is_on_lines_that_fit(cancer):
    X, y = cancer
    names = np.array(["malignant", "benign"])[y]
    model = GaussianNB().fit(X[::2], names[::2])
    display = ReliabilityDisplay.from_estimator(model, X, names, counts=False)
    assert display.ax_.get_ylabel().endswith("positives\n(Positive class: malignant)")
    # The labels of panels side by side would meet.
    panel = ReliabilityDisplay.from_predictions(y, y / 2, pos_label=1, by=names)
    assert panel.ax_[0].get_ylabel() == "Fraction of positives\n(Positive class: 1)"
    several = {"a": model, "b": model}
    pooled = ReliabilityDisplay.from_estimator(
        several, X, names, multi_class="pooled", counts=False
    )
    assert pooled.ax_.get_ylabel() == "Fraction of positives"


def test_an_argument_that_is_given_twice_is_refused(y_true, y_proba):
    draw = ReliabilityDisplay.from_predictions
    for args, kwargs in (((y_proba,), {}), ((), {"y_proba": y_proba})):
        with pytest.raises(TypeError, match=r"predictions takes 'y_proba' or 'y_prob'"):
            draw(y_true, *args, y_prob=y_proba, **kwargs)
    with pytest.raises(ValueError, match="'color' alone or in 'curve_kwargs', not"):
        draw(y_true, y_proba, c="red", curve_kwargs={"color": "blue"})


def test_the_numbers_are_one_call_away(y_true, two_models):
    display = ReliabilityDisplay.from_predictions(y_true, two_models, bin_size=50)
    found = json.loads(json.dumps(display.to_dict()))
    assert list(found) == ["straight", "bent"]
    for name, q in two_models.items():
        curve = adaptive_reliability_curve(y_true, q, bin_size=50)
        error = calibration_error_interval(y_true, q)
        assert found[name]["curve"] == curve.to_dict()
        assert found[name]["error"] == error.to_dict()
        assert found[name]["count"] == np.histogram(q, 21, (0, 1))[0].tolist()


def test_the_table_has_a_row_for_each_model_and_bin(y_true, two_models):
    display = ReliabilityDisplay.from_predictions(y_true, two_models, bin_size=50)
    table = display.frame()
    assert table["name"].tolist() == ["straight"] * 8 + ["bent"] * 8
    for k, name in enumerate(two_models):
        rows = table[table["name"] == name]
        assert rows["prob_pred"].tolist() == display.line_[k].get_xdata().tolist()
        low, high = ends(display.bar_[k])
        np.testing.assert_allclose(rows["low"], low)
        np.testing.assert_allclose(rows["high"], high)
        curve = adaptive_reliability_curve(y_true, two_models[name], bin_size=50)
        band_low, band_high = curve.consistency_band()
        np.testing.assert_allclose(rows["band_low"], band_low)
        np.testing.assert_allclose(rows["band_high"], band_high)


def test_models_without_a_name_of_their_own_are_numbered(y_true, y_proba):
    cases = [
        (None, ["0", "1"]),
        (["a", "a"], ["a", "1"]),
        (["1", None], ["1", "1_"]),
        ([3, None], [3, "1"]),
    ]
    for names, expected in cases:
        with case(names):
            curve = adaptive_reliability_curve(y_true, y_proba)
            display = ReliabilityDisplay(curve=[curve, curve], name=names).plot()
            assert list(display.to_dict()) == expected
            assert display.frame()["name"].unique().tolist() == expected


# Predictions with weights and groups


@pytest.mark.filterwarnings(FEW)
def test_weights_are_frequencies(y_true, y_proba):
    weight = np.random.default_rng(2).integers(0, 4, N)
    found = ReliabilityDisplay.from_predictions(y_true, y_proba, sample_weight=weight)
    rows = np.repeat(np.arange(N), weight)
    expected = ReliabilityDisplay.from_predictions(y_true[rows], y_proba[rows])
    same_curve(found.curve, expected.curve)
    np.testing.assert_allclose(found.count, expected.count)
    assert found.error.estimate == pytest.approx(expected.error.estimate)
    assert found.error.high == pytest.approx(expected.error.high)


# From an estimator


MODELS = {
    "classifier": GaussianNB(),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "search": GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=3),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_an_estimator_is_asked_for_its_probabilities(cancer, model):
    X, y = cancer
    model.fit(X[:300], y[:300])
    display = ReliabilityDisplay.from_estimator(model, X[300:], y[300:])
    proba = model.predict_proba(X[300:])[:, 1]
    same_curve(display.curve, adaptive_reliability_curve(y[300:], proba))
    assert display.error == calibration_error_interval(y[300:], proba)
    assert display.name == type(model).__name__


def test_parameters_of_bins_and_plot_pass_through_from_an_estimator(cancer):
    X, y = cancer
    model = GaussianNB().fit(X, y)
    ax = Figure().subplots()
    display = ReliabilityDisplay.from_estimator(
        model, X, y, name="NB", ax=ax, n_bins=5, interval=None, confidence_level=0.5
    )
    assert display.ax_ is ax
    assert display.curve.n_bins == 5
    assert display.bar_ is None
    assert display.error.confidence_level == 0.5
    assert legend(ax)[0].replace("\n", ": ").startswith("NB: ")


def test_a_query_says_what_an_estimator_is_asked():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X[:, :2], y)
    query = ClassQuery(multi_class="top_label")
    display = ReliabilityDisplay.from_estimator(model, X[:, :2], y, query=query)
    proba = model.predict_proba(X[:, :2])
    expected = adaptive_reliability_curve(y, proba, multi_class="top_label")
    same_curve(display.curve, expected)


def test_a_weight_of_a_sample_is_one_of_all_its_pairs():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X[:, :2], y)
    weight = np.random.default_rng(0).integers(0, 3, len(y)).tolist()
    rows = np.repeat(np.arange(len(y)), weight)
    found = ReliabilityDisplay.from_estimator(model, X[:, :2], y, sample_weight=weight)
    expected = ReliabilityDisplay.from_estimator(model, X[rows, :2], y[rows])
    same_curve(found.curve, expected.curve)
    np.testing.assert_allclose(found.count, expected.count)
    for end in ("estimate", "low", "high", "p_value"):
        assert getattr(found.error, end) == pytest.approx(getattr(expected.error, end))


# From cross-validation


def cross_validated(model, X, y, cv):
    return cross_validate(
        model, X, y, cv=cv, return_estimator=True, return_indices=True
    )


def test_the_answers_of_all_folds_make_one_curve(cancer):
    X, y = cancer
    results = cross_validated(
        GaussianNB(), X, y, KFold(4, shuffle=True, random_state=0)
    )
    display = ReliabilityDisplay.from_cv_results(results, X, y)
    proba, held_out = np.empty(len(y)), results["indices"]["test"]
    for model, test in zip(results["estimator"], held_out, strict=True):
        proba[test] = model.predict_proba(X[test])[:, 1]
    same_curve(display.curve, adaptive_reliability_curve(y, proba))
    assert display.error.estimate == pytest.approx(
        calibration_error_interval(y, proba).estimate
    )
    assert display.error.n_groups is None
    assert display.name == "GaussianNB"


@pytest.mark.filterwarnings("ignore:Only .* rows carry:UserWarning")
def test_the_curves_of_the_folds_are_those_that_the_scorer_measured(cancer):
    results = cross_validate(
        GaussianNB(),
        *cancer,
        cv=KFold(3, shuffle=True, random_state=0),
        scoring=adaptive_reliability_curve_scorer,
        return_estimator=True,
        return_indices=True,
    )
    every = ReliabilityDisplay.from_cv_results(results, *cancer, n_bins=5)
    assert every.curve.n_pairs == 569
    folds = ReliabilityDisplay.from_cv_results(
        results, *cancer, n_bins=5, by_fold=True, name="bayes"
    )
    assert folds.name == ["bayes, fold 1", "bayes, fold 2", "bayes, fold 3"]
    for k, curve in enumerate(folds.curve):
        assert curve.n_pairs == len(results["indices"]["test"][k])
        gaps = [results[f"test_gap_{b}"][k] for b in range(1, 6)]
        np.testing.assert_allclose(curve.prob_pred - curve.prob_true, gaps)
        drawn = folds.line_[k].get_xydata()
        np.testing.assert_allclose(drawn[:, 0] - drawn[:, 1], gaps)
        assert curve.error() == pytest.approx(results["test_plug_in"][k])
        assert curve.error(debias=True) == pytest.approx(results["test_error"][k])
    with pytest.raises(TypeError, match="'by_fold' .* True or False. Got 1"):
        ReliabilityDisplay.from_cv_results(results, *cancer, by_fold=1)


def test_a_sample_in_several_test_folds_is_one_group(cancer):
    X, y = cancer
    cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    results = cross_validated(GaussianNB(), X, y, cv)
    display = ReliabilityDisplay.from_cv_results(results, X, y)
    held_out = results["indices"]["test"]
    proba = [
        model.predict_proba(X[test])[:, 1]
        for model, test in zip(results["estimator"], held_out, strict=True)
    ]
    rows = np.concatenate(held_out)
    expected = calibration_error_interval(y[rows], np.concatenate(proba), groups=rows)
    # A row is a sample, so the bins of the plug-in error are smaller.
    assert replace(display.error, plug_in=expected.plug_in) == expected
    assert display.error.n_groups == len(y)
    assert display.error.n_pairs == 2 * len(y)


def test_cross_validated_data_may_be_pandas_objects_with_weights_and_a_query():
    X, y = load_iris(return_X_y=True)
    X = pd.DataFrame(X[:, :2], index=range(500, 650))
    y = pd.Series(y, index=X.index).map({0: "setosa", 1: "versi", 2: "virgi"})
    results = cross_validated(
        GaussianNB(), X, y, KFold(3, shuffle=True, random_state=0)
    )
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    display = ReliabilityDisplay.from_cv_results(
        results, X, y, query=ClassQuery("versi"), sample_weight=weight, bin_size=60
    )
    q = np.empty(len(y))
    for model, test in zip(
        results["estimator"], results["indices"]["test"], strict=True
    ):
        q[test] = model.predict_proba(X.iloc[test])[:, 1]
    rows = np.repeat(np.arange(len(y)), weight)
    truth = (y == "versi").to_numpy()
    expected = adaptive_reliability_curve(truth[rows], q[rows], bin_size=60)
    same_curve(display.curve, expected)


def test_results_without_models_or_folds_are_refused_with_the_remedy(cancer):
    results = cross_validated(GaussianNB(), *cancer, 2)
    for missing in ("estimator", "indices"):
        rest = {name: value for name, value in results.items() if name != missing}
        message = f"Got no {missing!r}: call cross_validate with return_estimator=True"
        with case(missing), pytest.raises(ValueError, match=message):
            ReliabilityDisplay.from_cv_results(rest, *cancer)


def test_held_out_samples_are_those_of_the_folds(cancer):
    X, y = cancer
    results = cross_validated(GaussianNB(), X, y, 2)
    for name, arrays in (("X", (X[:10], y)), ("y", (X, y[:10]))):
        message = f"'{name}' parameter .* whose folds contain 569 samples. Got 10"
        with pytest.raises(ValueError, match=message):
            ReliabilityDisplay.from_cv_results(results, *arrays)
    with pytest.raises(TypeError, match="'cv_results' .* dict of cross_.* Got list"):
        ReliabilityDisplay.from_cv_results([results], X, y)


# What is refused


def test_parameters_that_make_no_sense_are_refused(y_true, y_proba):
    wrong_values = [
        ({"y_proba": {}}, "'y_proba' parameter .* empty mapping"),
        ({"interval": "exact"}, "'interval' parameter .* 'clopper_pearson'"),
        ({"confidence_level": 95}, "'confidence_level' parameter"),
        ({"curve_kwargs": [{}, {}]}, "'curve_kwargs' .* each of the 1 curves. Got .{}"),
        ({"multi_class": "pooled"}, "'multi_class' parameter"),
        ({"multi_class": "class_wise"}, "'pooled', 'top_label'. Got 'class_wise'"),
        ({"sample_weight": [1, 2]}, "'sample_weight' parameter"),
        ({"groups": [1, 2]}, "'groups' parameter"),
        ({"bin_size": 20, "n_bins": 3}, "'bin_size' or 'n_bins', not both"),
        ({"y_proba": [50] * N}, "Percentages must be divided by 100"),
        ({"y_proba": {"a": [0.5] * N, "b": [0.5]}}, "has 1. The model is 'b'"),
    ]
    wrong_types = [
        ({"curve_kwargs": "red"}, "'curve_kwargs' .* a dict, or a list .* Got 'red'"),
        ({"curve_kwargs": 3}, "'curve_kwargs' .* a dict, or a list .* Got 3"),
        ({"curve_kwargs": ["red"]}, "'curve_kwargs' .* must be a dict. Got 'red'"),
        ({"diagonal_kwargs": "red"}, "'diagonal_kwargs' .* must be a dict. Got 'red'"),
        ({"ax": Figure()}, "'ax' .* must be matplotlib Axes or None. Got Figure"),
        ({"ax": np.array([1])}, "'ax' .* must be matplotlib Axes or None. Got ndarray"),
    ]
    for error, cases in ((ValueError, wrong_values), (TypeError, wrong_types)):
        for params, message in cases:
            arguments = {"y_true": y_true, "y_proba": y_proba, **params}
            with case(message), pytest.raises(error, match=message):
                ReliabilityDisplay.from_predictions(**arguments)
    assert plt.get_fignums() == []


def test_a_display_of_parts_that_do_not_match_is_refused(y_true, y_proba):
    cases = [
        ({"name": ["a", "b", "c"]}, "'name' parameter .* each of the 2 curves. Got 3"),
        ({"error": [None]}, "'error' parameter .* each of the 2 curves. Got 1"),
        ({"count": np.ones(50)}, "'count' parameter .* each of the 2 curves. Got 1"),
    ]
    for params, message in cases:
        with case(params):
            curve = adaptive_reliability_curve(y_true, y_proba)
            with pytest.raises(ValueError, match=message):
                ReliabilityDisplay(curve=[curve, curve], **params).plot()


def test_a_display_needs_curves():
    for curve, got in [(None, "NoneType"), ([], "an empty list"), ([1], "int")]:
        with (
            case(got),
            pytest.raises(
                TypeError, match=f"'curve' .* a ReliabilityCurve, .* Got {got}"
            ),
        ):
            ReliabilityDisplay(curve=curve).plot()


def test_few_groups_and_few_rows_are_said_as_by_the_function():
    y, q = make_calibrated_pairs(100, random_state=0)
    with pytest.warns(UserWarning, match="The interval is based on 5.0 effective"):
        ReliabilityDisplay.from_predictions(y, q, groups=np.arange(100) % 5)
    models = {"A": q[:3], "B": q[:3]}
    message = r"no test of perfect calibration of 'A' \(and 1 more\): .* are 3 rows"
    with pytest.warns(UserWarning, match=message):
        display = ReliabilityDisplay.from_predictions(y[:3], models)
    assert "contains 0: there is no test" in display._in_words()[0]


@pytest.mark.parametrize("count", [1, 10, 100])
def test_the_bar_of_the_lowest_count_has_a_height(count):
    q = np.repeat((np.arange(50) + 0.5) / 50, count)
    display = ReliabilityDisplay.from_predictions(np.arange(q.size) % 2, q)
    transform = display.count_ax_.transAxes.inverted().transform
    bar = display.count_ax_.transData.transform((0.5, count))
    assert transform(bar)[1] > 0.15


def test_the_error_does_not_depend_on_the_bins_that_are_drawn(y_true, y_proba):
    ten = ReliabilityDisplay.from_predictions(y_true, y_proba, n_bins=10)
    # the plug-in error of the bins that are drawn
    assert ten.curve.error() == calibration_error(y_true, y_proba, n_bins=10)
    other = ReliabilityDisplay.from_predictions(y_true, y_proba)
    assert legend(ten.ax_) == legend(other.ax_)
    assert other.error.estimate == calibration_error(y_true, y_proba, debias=True)


def test_the_area_of_a_point_follows_its_weight():
    # bins of equal width with 100, 25, 2 and 0 rows, and one row
    q = np.repeat([0.1, 0.3, 0.5, 0.9], [100, 25, 2, 1])
    y = np.arange(128) % 2
    display = ReliabilityDisplay.from_predictions(y, q, n_bins=5, strategy="uniform")
    (points,) = (c for c in display.ax_.collections if isinstance(c, PathCollection))
    size = np.sqrt(points.get_sizes())
    assert size / size[0] == pytest.approx([1, 0.5, 0.45, 0.45])
    faint = points.get_facecolor()[:, 3] < 0.5
    assert faint.tolist() == [False, False, True, True]
    # The line has the data of all points, and is drawn between the first two.
    assert display.line_.get_xdata().tolist() == display.curve.prob_pred.tolist()
    path = display.line_.get_clip_path().get_fully_transformed_path()
    (box,) = path.to_polygons()
    ends = display.ax_.transData.inverted().transform(box)[:, 0]
    assert [ends.min(), ends.max()] == pytest.approx([0.1, 0.3])
    assert display.bar_.get_color()[:, 3].min() < 0.5


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("curve", ["calibrated", "steep", "jump"])
@pytest.mark.parametrize("law", [(0.3, 3), (6, 1), (1, 1), (0.4, 0.4)])
def test_points_are_near_the_truth_in_every_tenth_with_ten_rows(law, curve, seed):
    rng = np.random.default_rng(seed)
    q = rng.beta(*law, 1000)
    true = {
        "calibrated": lambda x: x,
        "steep": lambda x: x**3 / (x**3 + (1 - x) ** 3),
        "jump": lambda x: np.where(x < 0.5, x / 2, x),
    }[curve]
    y = (rng.random(1000) < true(q)).astype(int)
    found = ReliabilityDisplay.from_predictions(y, q).curve
    low, high = found.interval(0.9999, "clopper_pearson")
    # The truth is a mean over a bin: it is between its values at the ends.
    near = (true(found.proba_max) >= low - 1e-12) & (true(found.proba_min) <= high)
    assert near.all()
    tenth = np.minimum((q * 10).astype(int), 9)
    for k in np.flatnonzero(np.bincount(tenth, minlength=10) >= 10):
        drawn = (found.proba_max >= k / 10) & (found.proba_min < (k + 1) / 10)
        width = (found.proba_max - found.proba_min)[drawn]
        assert width.min() <= 0.2


def test_a_legend_in_small_axes_is_not_cut(y_true, y_proba):
    figure, ax = plt.subplots(figsize=(3, 3))
    ReliabilityDisplay.from_predictions(y_true, y_proba, name="model", ax=ax)
    figure.canvas.draw()
    legend, inside = ax.get_legend().get_window_extent(), ax.bbox
    assert inside.x0 <= legend.x0
    assert legend.x1 <= inside.x1
