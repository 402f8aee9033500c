"""SignificanceDisplay: the pairs that it holds, their series and thresholds."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn import check_names, names_of

from skcalib.plot import SignificanceDisplay
from skcalib.significance import borderline_threshold, compare_systems

from_comparison = SignificanceDisplay.from_comparison
from_pvalues = SignificanceDisplay.from_pvalues


@pytest.fixture(scope="module")
def systems():
    rng = np.random.default_rng(0)
    found = {}
    for model in "ab":
        easy = rng.random(600)
        for k in range(7):
            own = np.where(rng.random(600) < 0.3, rng.random(600), easy)
            found[f"{model}{k}"] = own < 0.78 + 0.01 * k
    return found


@pytest.fixture(scope="module")
def comparison(systems):
    return compare_systems(systems, statistic="mean")


@pytest.fixture
def display(comparison):
    return from_comparison(comparison, model={n: n[0] for n in comparison.names})


def test_series_by_model(display, comparison):
    same = np.array([a[0] == b[0] for a, b in comparison.pairs])
    assert list(display.point_) == ["same model", "different models"]
    for name, rows in (("same model", same), ("different models", ~same)):
        x, y = display.point_[name].get_data()
        assert np.array_equal(x, np.abs(comparison.gain[rows]))
        assert np.array_equal(y, 1 - comparison.pvalue[rows])


def test_thresholds_are_those_of_the_series(display, comparison):
    same = np.array([a[0] == b[0] for a, b in comparison.pairs])
    with pytest.warns(UserWarning, match="borderline pairs"):
        expected = borderline_threshold(
            comparison.gain[~same], comparison.pvalue[~same]
        )
    assert display.threshold["different models"] == expected
    line = display.threshold_line_["different models"]
    assert line.get_xdata()[0] == expected.threshold
    assert f"(borderline pairs: {expected.n_pairs})" in line.get_label()


def test_statistics_are_compared_first(systems, comparison):
    display = SignificanceDisplay.from_statistics(systems, statistic="mean")
    assert np.array_equal(display.pvalue, comparison.pvalue)
    assert list(display.point_) == ["pairs"]


def test_gains_and_p_values_from_anywhere():
    gains, pvalues = [-0.5, 0.2, 0.1], [0.01, 0.05, 0.6]
    display = from_pvalues(gains, pvalues, kind=["x", "y", "y"])
    assert display.gain.tolist() == [0.5, 0.2, 0.1]
    assert display.threshold["x"] == (None, 0)
    assert display.threshold_line_["x"] is None
    assert display.threshold["y"] == (0.2, 1)
    text = repr(display)
    assert text == (
        "SignificanceDisplay(x: 1 pairs, no threshold from 0; "
        "y: 2 pairs, threshold 0.2 from 1)"
    )


def test_other_borderline_pairs():
    display = from_pvalues([1, 2, 3], [0.1, 0.2, 0.3], low=0.1, high=0.2, quantile=0.5)
    assert display.threshold["pairs"] == (1.5, 2)


def test_one_sided_tests_say_so(systems):
    found = compare_systems(systems, statistic="mean", alternative="greater")
    assert from_comparison(found).ax_.get_ylabel() == "1 - p (greater)"


def test_axes_names_and_styles(display):
    _, ax = plt.subplots()
    again = display.plot(
        ax,
        metric_name="accuracy",
        max_gain=0.2,
        threshold=False,
        point_kwargs={"ms": 2, "c": "k"},
    )
    assert again is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert ax.get_xlabel() == "Gain (accuracy)"
    assert ax.get_xlim()[1] == pytest.approx(0.2)
    assert display.threshold_line_ == {"same model": None, "different models": None}
    assert display.point_["same model"].get_markersize() == 2


def test_no_series_goes_past_the_legend(display):
    labels = display.ax_.get_legend_handles_labels()[1]
    assert labels[0] == "same model: 42 pairs"
    assert sum("threshold" in label for label in labels) == 2


def test_numbers(display, comparison):
    frame = display.frame()
    assert list(frame.columns) == ["kind", "gain", "pvalue"]
    assert len(frame) == len(comparison.pairs)
    found = json.loads(json.dumps(display.to_dict()))
    assert len(found["same model"]["gain"]) == 42
    assert found["same model"]["n_pairs"] == display.threshold["same model"].n_pairs


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        ({"a0": "a"}, ValueError, "'model'.*none for 'a1'"),
        (["a"], TypeError, "'model'.*mapping.*Got list"),
    ],
)
def test_models_that_do_not_fit(comparison, model, error, message):
    with pytest.raises(error, match=message):
        from_comparison(comparison, model=model)


def test_what_is_refused():
    with pytest.raises(TypeError, match="SystemComparison. Got dict"):
        from_comparison({})
    with pytest.raises(ValueError, match="from_pvalues.*kind has 1"):
        from_pvalues([1, 2], [0.5, 0.5], kind=["x"])
    with pytest.raises(ValueError, match=r"'pvalues'.*\[0, 1\]"):
        from_pvalues([1, 2], [0.5, 2])
    for kind in ("ab", 3):
        with pytest.raises(TypeError, match=f"'kind'.*sequence.* Got {kind!r}"):
            from_pvalues([1, 2], [0.5, 0.5], kind=kind)
    for max_gain in (0, -1, "1", np.inf):
        with pytest.raises(ValueError, match="'max_gain'.* a positive number"):
            from_pvalues([1, 2], [0.5, 0.5], max_gain=max_gain)
    with pytest.raises(TypeError, match="'point_kwargs'.* must be a dict. Got 'red'"):
        from_pvalues([1, 2], [0.5, 0.5], point_kwargs="red")
    assert not plt.get_fignums()


def test_a_display_may_be_made_of_lists():
    display = SignificanceDisplay(gain=[0.1, 0.2], pvalue=[0.05, 0.5]).plot()
    assert display.to_dict()["pairs"]["gain"] == [0.1, 0.2]
    assert display.threshold["pairs"] == (0.1, 1)
    other = SignificanceDisplay(gain=[0.1, 0.2], pvalue=[0.05, 0.5], kind=["a"])
    with pytest.raises(ValueError, match="kind has 1"):
        other.plot()


def test_many_series_have_their_legend_below_the_axes():
    gains = np.linspace(0.01, 1, 40)
    kind = [f"series {k % 8}" for k in range(40)]
    display = from_pvalues(gains, 0.5 * np.exp(-5 * gains), kind=kind)
    check_names(display)
    assert len(names_of(display.ax_)) == 8 + len(
        [line for line in display.threshold_line_.values() if line]
    )
