"""PredictiveCheckDisplay: what is drawn of a check."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from skcalib.experimental import PredictiveCheckDisplay, posterior_predictive_check


@pytest.fixture(scope="module")
def check():
    rng = np.random.default_rng(0)
    samples = [rng.integers(0, 2, (100, n)) for n in (20, 5, 10)]
    y = [np.ones(20, dtype=int), np.zeros(5, dtype=int), np.arange(10) % 2]
    return posterior_predictive_check(y, samples, np.sum)


def test_documents_stand_in_the_order_of_the_mean(check):
    display = PredictiveCheckDisplay.from_check(check, name="Ones")
    assert display.mean_.get_ydata().tolist() == sorted(check.mean)
    assert display.outside_.get_xdata().tolist() == [2]
    assert display.outside_.get_ydata().tolist() == [20]
    assert display.inside_.get_ydata().tolist() == [0, 5]
    ends = [segment[:, 1].tolist() for segment in display.interval_.get_segments()]
    assert ends == [[check.low[i], check.high[i]] for i in (1, 2, 0)]


def test_axes_and_legend_say_what_they_show(check):
    _, ax = plt.subplots()
    display = PredictiveCheckDisplay.from_check(
        check, name="Ones", ax=ax, point_kwargs={"ms": 9}
    )
    assert display.ax_ is ax
    assert ax.get_ylabel() == "Ones"
    assert display.inside_.get_markersize() == 9
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[:3] == ["95% interval", "Mean", "Observed"]
    expected = f"{1 - check.expected_coverage:.1%}"
    assert texts[3].replace("\n", " ") == f"Outside: 33.3% (expected {expected})"


def test_numbers_are_those_of_the_check(check):
    display = PredictiveCheckDisplay.from_check(check)
    assert display.to_dict() == check.to_dict()
    assert display.frame().equals(check.frame())
    assert repr(display) == f"PredictiveCheckDisplay({check!r})"


def test_anything_but_a_check_is_an_error():
    with pytest.raises(TypeError, match="must be a PredictiveCheck.* Got list"):
        PredictiveCheckDisplay.from_check([1, 2])
