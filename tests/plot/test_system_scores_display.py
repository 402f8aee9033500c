"""Scores of systems with intervals, and bars of those that are not separated."""

import json

import numpy as np
import pytest
from matplotlib.figure import Figure

from skcalib.plot import SystemScoresDisplay
from skcalib.significance import compare_systems


@pytest.fixture
def comparison():
    scores = {
        f"s{k}": np.r_[np.ones(10 * k), np.zeros(100 - 10 * k)] for k in (5, 9, 1)
    }
    return compare_systems({**scores, "s5 again": scores["s5"]})


def test_systems_are_drawn_from_the_best_down(comparison):
    ax = Figure().subplots()
    display = SystemScoresDisplay.from_comparison(comparison, metric="accuracy", ax=ax)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["s9", "s5", "s5 again", "s1"]
    assert ax.get_ylim() == (3.5, -0.5)
    line = display.intervals_.lines[0]
    assert line.get_xdata().tolist() == [0.9, 0.5, 0.5, 0.1]
    assert ax.get_xlabel() == "accuracy with 95% interval"
    assert [bar.get_ydata().tolist() for bar in display.bars_] == [[1, 2]]
    assert display.ax_ is ax


def test_names_and_the_metric_are_no_formulas():
    names = [r"$\frac{1$", "US$5_x and $10", "\ud800"]
    display = SystemScoresDisplay(
        names=names, score=[3, 2, 1], low=[2, 1, 0], high=[4, 3, 2], metric="$x_1$"
    ).plot(Figure().subplots())
    display.figure_.canvas.draw()
    shown = [r"\$\frac{1\$", r"US\$5_x and \$10", "?"]
    assert [each.get_text() for each in display.ax_.get_yticklabels()] == shown
    assert display.ax_.get_xlabel() == r"\$x_1\$ with 95% interval"


def test_numbers_and_repr(comparison):
    display = SystemScoresDisplay.from_comparison(comparison, ax=Figure().subplots())
    assert display.to_dict()["score"] == comparison.score.tolist()
    assert repr(display) == "SystemScoresDisplay(4 systems; score with 95% intervals)"


def test_other_arguments_are_errors(comparison):
    with pytest.raises(TypeError, match="must be a SystemComparison. Got int"):
        SystemScoresDisplay.from_comparison(3)
    with pytest.raises(ValueError, match="one entry per name, 2"):
        SystemScoresDisplay(["a", "b"], [1], [0], [1]).plot()


def test_its_dict_has_the_settings(comparison):
    display = SystemScoresDisplay.from_comparison(
        comparison, metric="accuracy", ax=Figure().subplots()
    )
    found = display.to_dict()
    assert json.loads(json.dumps(found)) == found
    assert found["metric"] == "accuracy"
    assert found["confidence_level"] == 0.95
    groups = {frozenset(group) for group in found["not_separated"]}
    assert groups == {
        frozenset(["s9"]),
        frozenset(["s5", "s5 again"]),
        frozenset(["s1"]),
    }
    assert list(display.frame()) == ["system", "score", "low", "high"]


def test_axes_and_styles_are_checked_as_in_other_displays(comparison):
    with pytest.raises(TypeError, match="The 'ax' parameter of SystemScoresDisplay"):
        SystemScoresDisplay.from_comparison(comparison, ax="no axes")
    with pytest.raises(
        TypeError, match="'errorbar_kwargs' parameter .* must be a dict"
    ):
        SystemScoresDisplay.from_comparison(comparison, errorbar_kwargs="red")
    with pytest.raises(TypeError, match="errorbar_kwargs={'color': 'red'}"):
        SystemScoresDisplay.from_comparison(comparison, color="red")
    display = SystemScoresDisplay.from_comparison(
        comparison,
        ax=Figure().subplots(),
        errorbar_kwargs={"c": "red", "ms": 9, "marker": "s"},
    )
    line = display.intervals_.lines[0]
    assert (line.get_color(), line.get_markersize(), line.get_marker()) == (
        "red",
        9,
        "s",
    )


def test_the_lowest_score_is_at_the_top_if_lower_is_better():
    scores = [60.0, 50.0, 55.0]
    display = SystemScoresDisplay(
        ["a", "b", "c"], scores, scores, scores, lower_is_better=True
    ).plot()
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == list("bca")
    assert display.intervals_.lines[0].get_xdata().tolist() == [50, 55, 60]
