"""Scores of systems with intervals, and bars of those that are not separated."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from skcalib.plot import SystemScoresDisplay
from skcalib.significance import compare_scores


@pytest.fixture
def comparison():
    scores = {
        f"s{k}": np.r_[np.ones(10 * k), np.zeros(100 - 10 * k)] for k in (5, 9, 1)
    }
    return compare_scores({**scores, "s5 again": scores["s5"]})


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


def test_numbers_and_repr(comparison):
    display = SystemScoresDisplay.from_comparison(comparison, ax=Figure().subplots())
    assert display.to_dict()["score"] == comparison.score.tolist()
    assert repr(display) == "SystemScoresDisplay(4 systems; score with 95% intervals)"


def test_other_arguments_are_errors(comparison):
    with pytest.raises(TypeError, match="must be a ScoreComparison. Got int"):
        SystemScoresDisplay.from_comparison(3)
    with pytest.raises(ValueError, match="one entry per name, 2"):
        SystemScoresDisplay(["a", "b"], [1], [0], [1]).plot()
