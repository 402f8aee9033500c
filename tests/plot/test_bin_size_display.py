"""BinSizeDisplay: the numbers that it holds and the artists that it draws."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from drawn import check_names
from drawn import names_of as legend
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import (
    adaptive_reliability_curve,
    bin_size_curve,
    calibration_error,
    sample_size_curve,
)
from skcalib.plot import BinSizeDisplay
from skcalib.queries import ClassQuery

SIZES = [64, 4, 16]


@pytest.fixture(scope="module")
def pairs():
    return make_calibrated_pairs(300, k=0.1, random_state=0)


@pytest.fixture(scope="module")
def two_models(pairs):
    return {"straight": pairs[1], "bent": pairs[1] ** 2}


def test_lines_join_the_errors_in_the_order_of_sizes(pairs):
    display = BinSizeDisplay.from_predictions(*pairs, bin_sizes=SIZES)
    for line, debias in ((display.line_, False), (display.debiased_line_, True)):
        x, y = line.get_data()
        assert x.tolist() == [4, 16, 64]
        expected = [
            calibration_error(*pairs, bin_size=size, debias=debias) for size in x
        ]
        assert y.tolist() == expected
    assert display.curve.bin_size.tolist() == SIZES
    assert display.band_ is None
    assert display.true_line_ is None
    assert legend(display.ax_) == ["plug-in", "debiased"]


def test_sizes_are_powers_of_two_by_default(pairs):
    display = BinSizeDisplay.from_predictions(*pairs)
    assert display.curve.bin_size.tolist() == [2, 4, 8, 16, 32, 64, 128, 256]
    assert display.ax_.get_xscale() == "log"


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_fewest_pairs_are_drawn(n):
    display = BinSizeDisplay.from_predictions([1, 0, 1, 1][:n], [0.5] * n)
    assert display.curve.bin_size.tolist() == [[1], [2], [2], [2, 4]][n - 1]


def test_groups_start_the_sizes_where_each_bin_holds_several():
    # sorted, the groups are 0 0 1 1 2 2 3 3: bins of 2 hold one, bins of 4 hold two
    y, q = [0, 1] * 4, np.linspace(0.1, 0.8, 8)
    groups = np.repeat(np.arange(4), 2)
    display = BinSizeDisplay.from_predictions(y, q, groups=groups)
    assert display.curve.bin_size.tolist() == [4, 8]
    assert display.debiased_line_ is not None
    alone = BinSizeDisplay.from_predictions(y, q, groups=np.zeros(8))
    assert alone.curve.bin_size.tolist() == [2, 4, 8]
    assert alone.debiased_line_ is None


def test_axes_say_what_they_show(pairs):
    display = BinSizeDisplay.from_predictions(*pairs)
    assert display.ax_.get_xlabel() == "Bin size (pairs)"
    assert display.ax_.get_ylabel() == "Calibration error (root mean square)"
    display.plot(squared=True, xscale="linear")
    assert display.ax_.get_ylabel() == "Calibration error (mean square)"
    assert display.ax_.get_xscale() == "linear"
    display = BinSizeDisplay.from_predictions(*pairs, norm="max")
    assert display.ax_.get_ylabel() == "Calibration error (largest distance)"
    assert display.debiased_line_ is None


def test_squares_may_be_negative(pairs):
    y, q = make_calibrated_pairs(300, random_state=1)
    display = BinSizeDisplay.from_predictions(y, q, true_error=0.2, squared=True)
    curve = display.curve
    assert (curve.debiased_square < 0).any()
    assert display.line_.get_ydata().tolist() == (curve.plug_in**2).tolist()
    assert display.debiased_line_.get_ydata().tolist() == curve.debiased_square.tolist()
    assert display.true_line_.get_ydata()[0] == pytest.approx(0.04)


def test_debiased_may_be_left_out(pairs):
    display = BinSizeDisplay.from_predictions(*pairs, debiased=False)
    assert display.debiased_line_ is None
    assert len(display.ax_.lines) == 1


def test_several_models_differ_in_colour_and_marker(pairs, two_models):
    display = BinSizeDisplay.from_predictions(
        pairs[0], two_models, true_error={"bent": 0.2}
    )
    straight, bent = display.line_
    assert straight.get_color() != bent.get_color()
    assert straight.get_marker() != bent.get_marker()
    for plain, debiased in zip(display.line_, display.debiased_line_, strict=True):
        assert debiased.get_color() == plain.get_color()
        assert debiased.get_linestyle() == "--"
        assert debiased.get_markerfacecolor() == "none"
    assert display.true_line_[0] is None
    assert display.true_line_[1].get_color() == bent.get_color()
    kinds = {"plug-in", "debiased", "true error"}
    assert set(legend(display.ax_)) == {"straight", "bent", *kinds}


def test_a_long_legend_hides_no_curve(pairs, two_models):
    display = BinSizeDisplay.from_predictions(
        pairs[0], {**two_models, "flat": np.full(300, 0.5)}, true_error=0.1
    )
    check_names(display)


def test_one_true_error_stands_for_all(pairs, two_models):
    display = BinSizeDisplay.from_predictions(pairs[0], two_models, true_error=0.08)
    assert display.true_line_.get_ydata()[0] == 0.08
    assert "true error" in legend(display.ax_)
    assert {d["true_error"] for d in display.to_dict().values()} == {0.08}


def test_axes_of_another_display_take_more_curves(pairs, two_models):
    first = BinSizeDisplay.from_predictions(*pairs, name="first")
    second = BinSizeDisplay.from_predictions(
        pairs[0], two_models["bent"], name="second", ax=first.ax_
    )
    assert second.ax_ is first.ax_
    assert second.line_.get_marker() != first.line_.get_marker()
    assert second.line_.get_color() != first.line_.get_color()
    assert set(legend(first.ax_)) == {"first", "second", "plug-in", "debiased"}


def test_styles_reach_the_lines(pairs):
    display = BinSizeDisplay.from_predictions(
        *pairs,
        true_error=0.1,
        curve_kwargs={"c": "red", "lw": 3},
        true_error_kwargs={"ls": "-"},
    )
    assert display.line_.get_color() == "red"
    assert display.debiased_line_.get_linewidth() == 3
    assert display.true_line_.get_linestyle() == "-"


# Sample sizes


def test_bands_are_one_deviation_around_the_mean(pairs):
    display = BinSizeDisplay.from_subsamples(
        *pairs,
        sample_sizes=[200, 50],
        bin_size=10,
        n_repeats=6,
        random_state=0,
        true_error=0.08,
    )
    curve = display.curve
    expected = sample_size_curve(
        *pairs, sample_sizes=[200, 50], bin_size=10, n_repeats=6, random_state=0
    )
    assert curve.plug_in.tolist() == expected.plug_in.tolist()
    x, y = display.line_.get_data()
    assert x.tolist() == [50, 200]
    np.testing.assert_allclose(y, expected.mean[::-1])
    vertices = display.band_.get_paths()[0].vertices
    ends = vertices[vertices[:, 0] == 200, 1]
    mean, spread = expected.mean[0], expected.standard_deviation[0]
    assert ends.max() == pytest.approx(mean + spread)
    assert ends.min() == pytest.approx(mean - spread)
    assert display.debiased_band_.get_paths()[0].vertices[:, 1].min() >= 0
    assert display.ax_.get_xlabel() == "Sample size (rows)"


def test_bands_may_be_left_out(pairs, two_models):
    display = BinSizeDisplay.from_subsamples(
        pairs[0],
        two_models,
        sample_sizes=[50, 100],
        name=None,
        plot_params={"band": False, "xscale": "linear"},
    )
    assert display.band_ == [None, None]
    assert not display.ax_.collections
    assert len(display.line_) == 2


# Estimators


def test_an_estimator_is_asked_by_the_query_that_fits():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X[::2], y[::2])
    display = BinSizeDisplay.from_estimator(model, X[1::2], y[1::2], bin_sizes=[50])
    proba = model.predict_proba(X[1::2])
    expected = bin_size_curve(
        y[1::2], proba, bin_sizes=[50], groups=np.arange(75), debias=True
    )
    assert display.name == "GaussianNB"
    np.testing.assert_allclose(display.curve.plug_in, expected.plug_in)
    np.testing.assert_allclose(display.curve.debiased_square, expected.debiased_square)


def test_query_weights_and_name_are_passed_on():
    X, y = load_breast_cancer(return_X_y=True)
    model = GaussianNB().fit(X[:300], y[:300])
    weight = np.arange(269) % 3
    display = BinSizeDisplay.from_estimator(
        model,
        X[300:],
        y[300:],
        query=ClassQuery(pos_label=0),
        sample_weight=weight,
        bin_sizes=[20],
        norm="l1",
        name="bayes",
    )
    q = model.predict_proba(X[300:])[:, 0]
    expected = calibration_error(
        y[300:] == 0, q, bin_size=20, norm="l1", sample_weight=weight
    )
    assert display.curve.plug_in[0] == pytest.approx(expected)
    assert display.name == "bayes"
    with pytest.raises(ValueError, match="No query is known for LinearRegression"):
        BinSizeDisplay.from_estimator(LinearRegression(), X, y)


# Numbers


def test_numbers_come_as_dict_and_frame(pairs, two_models):
    display = BinSizeDisplay.from_predictions(
        pairs[0], two_models, bin_sizes=SIZES, true_error={"bent": 0.2}
    )
    numbers = display.to_dict()
    assert json.loads(json.dumps(numbers)) == numbers
    assert list(numbers) == ["straight", "bent"]
    assert numbers["bent"]["true_error"] == 0.2
    assert numbers["straight"]["true_error"] is None
    straight, _ = display.curve
    assert numbers["straight"]["curve"] == straight.to_dict()
    frame = display.frame()
    assert frame["name"].tolist() == ["straight"] * 3 + ["bent"] * 3
    assert frame["bin_size"].tolist() == SIZES * 2
    assert frame["plug_in"][:3].tolist() == straight.plug_in.tolist()


def test_a_frame_has_gaps_where_a_debiased_error_is_not_defined(pairs):
    curves = [bin_size_curve(*pairs, bin_sizes=sizes) for sizes in ([1, 2], [2, 4])]
    for order in (curves, curves[::-1]):
        frame = BinSizeDisplay(curve=order).frame()
        gaps = pd.isna(frame["debiased"]).tolist()
        assert gaps == [order[0].debiased is None] * 2 + [order[1].debiased is None] * 2
        assert frame["name"].tolist() == ["0", "0", "1", "1"]


# Errors


@pytest.mark.parametrize(
    ("truth", "error"), [("0.1", TypeError), (np.nan, ValueError), (-1, ValueError)]
)
def test_a_true_error_is_a_number_between_0_and_1(pairs, truth, error):
    with pytest.raises(error, match=r"'true_error' .* a number in \[0, 1\]. Got"):
        BinSizeDisplay.from_predictions(*pairs, true_error=truth)
    assert not plt.get_fignums()


def test_parameters_of_the_plot_of_subsamples_are_a_dict(pairs):
    with pytest.raises(TypeError, match="'plot_params' .* a dict. Got list"):
        BinSizeDisplay.from_subsamples(*pairs, sample_sizes=[50], plot_params=["band"])


def test_a_curve_of_another_kind_is_refused(pairs):
    curve = adaptive_reliability_curve(*pairs)
    with pytest.raises(TypeError, match="a BinSizeCurve or SampleSizeCurve.* Got Rel"):
        BinSizeDisplay(curve=curve).plot()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"bin_sizes": [2, 301]}, "'bin_sizes'.*here 300. Got 301 at index 1"),
        ({"xscale": "sqrt"}, "'xscale' parameter of BinSizeDisplay.plot"),
        (
            {"norm": "l1", "squared": True},
            "'squared' parameter of BinSizeDisplay.plot requires norm",
        ),
        ({"norm": "l4"}, "'norm' parameter of BinSizeDisplay.from_predictions"),
        ({"true_error": {"a": 1}}, "'true_error'.*names of y_proba.*Got 'a'"),
        ({"true_error": [0.1, 0.2]}, "'true_error' .* an entry for each of the 1"),
        ({"curve_kwargs": [{}, {}]}, "'curve_kwargs' parameter of BinSizeDisplay"),
        ({"multi_class": "per_class"}, "must be one of 'pooled', 'top_label'"),
    ],
)
def test_bad_values_are_named(pairs, params, message):
    with pytest.raises(ValueError, match=message):
        BinSizeDisplay.from_predictions(*pairs, **params)


@pytest.mark.parametrize("method", ["from_predictions", "from_subsamples"])
def test_names_of_several_models_come_with_their_probabilities(pairs, method):
    make = getattr(BinSizeDisplay, method)
    params = {"sample_sizes": [10]} if method == "from_subsamples" else {}
    with pytest.raises(TypeError, match=f"'name' parameter of BinSizeDisplay.{method}"):
        make(*pairs, name=["a"], **params)
    with pytest.raises(ValueError, match="is an empty mapping"):
        make(pairs[0], {}, **params)


def test_curves_of_different_kinds_are_not_drawn_together(pairs):
    one = bin_size_curve(*pairs, bin_sizes=[2])
    other = sample_size_curve(*pairs, sample_sizes=[20])
    with pytest.raises(ValueError, match="curves of one kind and one norm"):
        BinSizeDisplay(curve=[one, other]).plot()
    assert not plt.get_fignums()
