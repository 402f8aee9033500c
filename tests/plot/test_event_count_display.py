"""EventCountDisplay: what it draws of counts, and what it gives."""

import copy
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn import names_of

from skcalib.datasets import make_event_documents
from skcalib.events import EventCounter, EventRule
from skcalib.plot import EventCountDisplay

from_counts = EventCountDisplay.from_counts


def make_counts(freq="quarter", unit="documents"):
    documents, _, scores = make_event_documents(
        60, n_days=600, return_scores=True, random_state=0
    )
    counter = EventCounter(EventRule(), freq=freq, unit=unit, random_state=0)
    return counter.count(documents, scores)


@pytest.fixture(scope="module")
def counts():
    return make_counts()


def band_of(display, name):
    """Return the lower and upper edge of a band, by period."""
    (path,) = display.band_[name].get_paths()
    x, y = path.vertices.T
    places = range(len(display.period))
    return (
        [y[np.isclose(x, t)].min() for t in places],
        [y[np.isclose(x, t)].max() for t in places],
    )


def test_lines_and_bands_are_the_counts(counts):
    display = from_counts(counts, confidence_level=0.8)
    low, high = counts.interval(0.8)
    assert set(display.line_) == set(counts.countries)
    for name in counts.countries:
        own = counts.country == name
        line = display.line_[name]
        assert line.get_xdata().tolist() == list(range(len(counts.periods)))
        assert line.get_ydata().tolist() == counts.mean[own].tolist()
        best = display.map_line_[name]
        assert best.get_ydata().tolist() == counts.map_count[own].tolist()
        edges = band_of(display, name)
        np.testing.assert_allclose(edges, (low[own], high[own]))


def test_each_actor_has_a_panel_the_most_frequent_first(counts):
    display = from_counts(counts)
    total = [counts.mean[counts.country == name].sum() for name in display.mean]
    assert total == sorted(total, reverse=True)
    axes = list(display.axes_.values())
    assert len(set(map(id, axes))) == len(axes) == 4
    assert [ax.get_title() for ax in axes] == list(display.mean)
    # Counts of one order of magnitude share the scale, which is named at the left.
    assert len({ax.get_ylim() for ax in axes}) == 1
    assert [ax.get_ylabel() for ax in axes] == ["Documents", ""] * 2
    assert display.figure_.get_axes() == axes
    texts = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert sorted(texts) == ["1-best", "95% interval", "posterior mean"]


def test_panels_have_scales_of_their_own_if_asked():
    series = {"USA": np.array([90.0, 120.0]), "FIN": np.array([1.0, 3.0])}
    display = EventCountDisplay(
        period=["1990", "1991"], mean=series, low=series, high=series
    ).plot(same_scale=False)
    assert [ax.get_ylabel() for ax in display.axes_.values()] == ["Documents"] * 2
    assert display.axes_["FIN"].get_ylim()[1] < 10
    display.plot()
    assert display.axes_["FIN"].get_ylim() == display.axes_["USA"].get_ylim()


def test_spare_panels_are_removed(counts):
    display = from_counts(counts, top=3, n_columns=2)
    assert len(display.figure_.get_axes()) == 3
    display.figure_.canvas.draw()


def test_actors_can_be_chosen_and_drawn_together(counts):
    display = from_counts(counts, countries=["NOR", "BOL"], together=True)
    assert list(display.mean) == ["NOR", "BOL"]
    (ax,) = display.figure_.get_axes()
    assert display.axes_ == {"NOR": ax, "BOL": ax}
    assert names_of(ax) == ["NOR", "BOL", "95% interval", "1-best"]
    assert (
        display.line_["NOR"].get_color()
        == display.map_line_["NOR"].get_color()
        != display.line_["BOL"].get_color()
    )


def test_axes_and_styles_are_taken(counts):
    _, ax = plt.subplots()
    display = from_counts(counts, top=2, ax=ax, map_line=False, line_kwargs={"lw": 4})
    assert set(display.axes_.values()) == {ax}
    assert display.figure_ is ax.figure
    assert display.map_line_ == {}
    assert all(line.get_linewidth() == 4 for line in display.line_.values())
    assert "1-best" not in names_of(ax)
    assert display.plot(top_ax := plt.subplots()[1]) is display
    assert set(display.axes_.values()) == {top_ax}


def test_long_series_have_few_labels():
    counts = make_counts(freq="month")
    display = from_counts(counts, top=1)
    (ax,) = display.figure_.get_axes()
    labels = [text.get_text() for text in ax.get_xticklabels()]
    assert len(counts.periods) == 20
    assert labels == counts.periods[::3]


def test_a_marker_that_is_asked_for_is_drawn(counts):
    long = make_counts(freq=lambda day: day.isoformat())
    assert len(long.periods) > 24
    assert from_counts(long, top=1).line_["NOR"].get_marker() == "none"
    display = from_counts(long, top=1, line_kwargs={"marker": "s"})
    assert display.line_["NOR"].get_marker() == "s"


def test_titles_do_not_run_into_each_other():
    names = [f"an actor whose name takes more than its panel has {k}" for k in "abcd"]
    values = {name: np.array([1.0, 2.0]) for name in names}
    display = EventCountDisplay(period=["x", "y"], mean=values, low=values, high=values)
    display.plot().figure_.canvas.draw()
    boxes = [ax.title.get_window_extent() for ax in display.axes_.values()]
    for k, box in enumerate(boxes):
        assert box.x1 < display.figure_.bbox.x1
        assert not any(box.overlaps(other) for other in boxes[:k])


def test_one_period_is_visible():
    display = from_counts(make_counts(freq=None, unit="entities"), top=1)
    (name,) = display.line_
    assert display.band_[name].get_linewidth() > 0
    assert display.map_line_[name].get_marker() == "x"
    assert display.axes_[name].get_ylabel() == "Entities"


def test_no_actor_is_an_empty_plot():
    counts = EventCounter(EventRule()).count([], [])
    display = from_counts(counts)
    assert display.line_ == {}
    assert repr(display) == "EventCountDisplay(0 periods; mean in all none)"
    display.figure_.canvas.draw()


def test_numbers_without_a_best_line():
    values = {"A$B$": np.array([1.0, 2.0])}
    display = EventCountDisplay(
        period=["a", "$b$"], mean=values, low=values, high=values
    )
    display.plot(together=True)
    display.figure_.canvas.draw()
    assert display.map_line_ == {}
    assert display.axes_["A$B$"].get_legend().get_texts()[0].get_text() == r"A\$B\$"
    assert "map_count" not in display.to_dict()


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"countries": ["XXX"]}, ValueError, "were counted, among ['BOL', 'FRA'"),
        ({"countries": "KEN"}, TypeError, "a sequence of codes. Got str 'KEN'"),
        ({"countries": 3}, TypeError, "a sequence of codes. Got int 3"),
        ({"line_kwargs": "red"}, TypeError, "'line_kwargs' parameter"),
        ({"top": 0}, ValueError, "'top' parameter of EventCountDisplay.from_counts"),
        ({"confidence_level": 1}, ValueError, "strictly between 0 and 1"),
        ({"method": "wald"}, ValueError, "'method' parameter"),
        ({"n_columns": 0}, ValueError, "'n_columns' parameter"),
    ],
)
def test_what_does_not_fit_is_refused(counts, params, error, message):
    with pytest.raises(error, match=re.escape(message)):
        from_counts(counts, **params)


def test_it_draws_counts_only():
    with pytest.raises(
        TypeError, match="must be EventCounts or CorrectedEventCounts. Got dict"
    ):
        from_counts({})


# Corrected counts


@pytest.fixture(scope="module")
def corrected():
    documents, events, scores = make_event_documents(
        200, n_days=330, return_scores=True, random_state=0
    )
    counts = EventCounter(EventRule(), random_state=0).count(documents, scores)
    truth = {each.id: found for each, found in zip(documents, events, strict=True)}
    choice = counts.choose_documents(80, mix=1, random_state=0)
    return counts.corrected(
        {name: truth[name] for name in choice.ids},
        inclusion_probability=choice.inclusion_probability,
        strata="period",
        confidence_level=0.9,
    )


def test_both_intervals_of_corrected_counts_are_drawn(corrected):
    display = from_counts(corrected)
    low, high = corrected.counts.interval(0.9)
    assert display.map_line_ == {}
    for name in corrected.countries:
        own = corrected.country == name
        line = display.line_[name].get_ydata()
        np.testing.assert_allclose(line, corrected.estimate[own])
        edges = band_of(display, name)
        np.testing.assert_allclose(edges, (corrected.low[own], corrected.high[own]))
        dashed = display.uncorrected_line_[name]
        assert dashed.get_linestyle() == "--"
        np.testing.assert_allclose(dashed.get_ydata(), corrected.counts.mean[own])
        (path,) = display.uncorrected_band_[name].get_paths()
        assert path.vertices[:, 1].min() == low[own].min()
        assert path.vertices[:, 1].max() == high[own].max()
    texts = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert sorted(texts) == [
        "90% interval, corrected",
        "90% interval, posterior",
        "corrected by labels",
        "posterior mean, uncorrected",
    ]
    assert display._in_words()[0].startswith("The means are corrected by labelled")


def test_corrected_counts_drawn_together(corrected):
    display = from_counts(corrected, top=2, together=True)
    texts = names_of(display.figure_.axes[0])
    assert texts[2:] == ["90% interval, corrected", "uncorrected"]
    for name, line in display.line_.items():
        assert line.get_color() == display.uncorrected_line_[name].get_color()


def test_the_level_of_corrected_counts_is_given(corrected):
    assert from_counts(corrected, confidence_level=0.9).confidence_level == 0.9
    with pytest.raises(ValueError, match=r"must be 0.9.*Got 0.95.*corrected"):
        from_counts(corrected, confidence_level=0.95)


def test_a_period_beside_periods_without_labels_is_visible():
    nothing = np.array([np.nan, 1.0, np.nan])
    display = EventCountDisplay(
        period=["p", "q", "r"],
        mean={"KEN": np.ones(3)},
        low={"KEN": nothing - 1},
        high={"KEN": nothing + 1},
    ).plot()
    assert display.band_["KEN"].get_linewidth()[0] > 0


def test_actors_that_only_labels_have_are_drawn():
    documents, _, scores = make_event_documents(
        60, n_days=80, return_scores=True, random_state=0
    )
    counts = EventCounter(EventRule(), random_state=0).count(documents, scores)
    labels = {each.id: {"PER": 1} for each in documents[:30]}
    with pytest.warns(UserWarning, match="^PER: .* is 0 for every document"):
        corrected = counts.corrected(labels)
    display = from_counts(corrected, countries=["PER"])
    assert display.uncorrected_high["PER"].tolist() == [0]
    assert display.mean["PER"].tolist() == [60]


def test_actors_without_events_and_the_smallest_are_named_not_drawn(counts):
    few = copy.copy(counts)
    few.countries = [f"C{k:02}" for k in range(12)]
    few.period = np.repeat(np.array(counts.periods, dtype=object), 12)
    few.country = np.tile(few.countries, len(counts.periods))
    few.mean = np.tile([*range(10, 0, -1), 1e-16, -1e-17], len(counts.periods))
    few.map_count = few.mean.round().astype(int)
    few.interval = lambda *_: (few.mean, few.mean)
    few.months = np.array([3.0] * (len(counts.periods) - 1) + [1])
    display = from_counts(few)
    assert list(display.axes_) == few.countries[:8]
    assert list(display.smaller) == ["C08", "C09"]
    assert list(display.without_events) == ["C10", "C11"]
    assert len({ax.get_ylim() for ax in display.axes_.values()}) == 1
    note = display.figure_.get_supxlabel()
    assert "not drawn, fewer events: 2 (C08, C09)" in note
    assert "without events: 2 (C10, C11)" in note
    assert f"* {few.periods[-1]}: 1 of 3 months" in note
    asked = from_counts(few, countries=["C11"])
    assert asked.line_["C11"].get_ydata().tolist() == [0] * len(few.periods)
    assert len(from_counts(few, top=None).axes_) == 10
