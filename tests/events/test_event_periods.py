"""Periods of dates: calendar ones and the user's own."""

import dataclasses
import datetime
import re

import numpy as np
import pandas as pd
import pytest

from skcalib._periods import months_of, place_in_calendar
from skcalib.documents import Document
from skcalib.events import EventCounter, EventRule


def day(*args):
    return datetime.date(*args)


@pytest.fixture
def assign(marked_rule, make_document):
    """Return the periods of all dates, and the place of the period of each date."""

    def assign(dates, freq):
        counter = EventCounter(marked_rule, freq=freq)

        def count(documents):
            return counter.count(documents, [np.zeros((1, 1))] * len(documents))

        documents = [
            dataclasses.replace(make_document([True], ["AAA"], name=f"{i}"), date=date)
            for i, date in enumerate(dates)
        ]
        labels = count(documents).periods
        alone = [count([document]) for document in documents]
        return labels, [labels.index(one.period[one.mean.argmax()]) for one in alone]

    return assign


@pytest.mark.parametrize(
    ("freq", "labels", "place"),
    [
        ("quarter", ["1989Q4", "1990Q1", "1990Q2", "1990Q3"], [1, 0, 3, 0]),
        ("year", ["1989", "1990"], [1, 0, 1, 0]),
        (
            "month",
            [f"1989-{m}" for m in (10, 11, 12)] + [f"1990-0{m}" for m in range(1, 8)],
            [5, 0, 9, 2],
        ),
        (None, ["all"], [0, 0, 0, 0]),
    ],
)
def test_calendars(assign, freq, labels, place):
    dates = [day(1990, 3, 31), day(1989, 10, 1), day(1990, 7, 1), day(1989, 12, 31)]
    assert assign(dates, freq) == (labels, place)


def test_weeks_begin_on_monday_and_days_are_periods(assign):
    dates = [day(2021, 1, 10), day(2021, 1, 3), day(2021, 1, 4)]
    assert assign(dates, "week") == (["2020-W53", "2021-W01"], [1, 0, 1])
    labels, place = assign(dates, "day")
    assert (labels[0], labels[-1], place) == ("2021-01-03", "2021-01-10", [7, 0, 1])


def test_every_month_is_in_its_quarter(assign):
    dates = [day(2001, m, 1) for m in range(1, 13)]
    labels, place = assign(dates, "quarter")
    assert labels == ["2001Q1", "2001Q2", "2001Q3", "2001Q4"]
    assert place == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_a_time_of_day_is_a_date(assign):
    dates = [datetime.datetime(1990, 3, 31, 23, 59), day(1990, 4, 1)]
    assert assign(dates, "quarter")[1] == [0, 1]
    spans = {"all": (datetime.datetime(1990, 3, 1, 12), day(1990, 4, 1))}
    assert assign(dates, spans)[1] == [0, 0]


def test_named_spans_have_their_first_and_last_day(assign):
    spans = {
        "after": (day(1990, 1, 1), day(1990, 12, 31)),
        "before": (day(1989, 1, 1), day(1989, 10, 31)),
        "offensive": (day(1989, 11, 11), day(1989, 12, 12)),
    }
    dates = [day(1989, 11, 11), day(1989, 12, 12), day(1989, 10, 31), day(1990, 1, 1)]
    assert assign(dates, spans) == (["before", "offensive", "after"], [1, 1, 0, 2])
    with pytest.raises(ValueError, match=r"1989-11-10 of document 0 \('0'\)"):
        assign([day(1989, 11, 10)], spans)


def test_first_days_divide_the_time(assign):
    days = [day(1989, 1, 1), day(1989, 11, 11), day(1990, 1, 1)]
    labels, place = assign([day(1989, 12, 31), day(1989, 11, 10)], days)
    assert labels == ["1989-01-01 to 1989-11-10", "1989-11-11 to 1989-12-31"]
    assert place == [1, 0]
    for outside in (day(1990, 1, 1), day(1988, 12, 31)):
        with pytest.raises(ValueError, match="must lie in the periods of 'freq'"):
            assign([outside], days)


def test_labels_of_a_callable_are_in_order_of_dates(assign):
    def era(date):
        return "no date" if date is None else "old" if date.year < 1990 else "new"

    dates = [day(1991, 1, 1), None, day(1980, 1, 1), day(1990, 1, 1)]
    assert assign(dates, era) == (["old", "new", "no date"], [1, 2, 0, 1])
    for odd in (None, float("nan"), pd.NaT, [1]):
        with pytest.raises(ValueError, match="for None, .*document 1 .'1'.; 'where' l"):
            assign(dates, lambda date, odd=odd: odd if date is None else 1)


def test_labels_may_be_tuples(assign):
    dates = [day(1991, 1, 1), day(1980, 5, 1)]
    labels, place = assign(dates, lambda date: (date.year, date.month))
    assert labels == [(1980, 5), (1991, 1)]
    assert place == [1, 0]


def test_times_of_pandas(assign):
    dates = [pd.Timestamp("1990-03-31 23:59"), day(1990, 4, 1)]
    days = pd.date_range("1990-01-01", periods=3, freq="QS")
    assert assign(dates, days)[1] == assign(dates, "quarter")[1] == [0, 1]
    with pytest.raises(ValueError, match="a date .*Got None for document 1"):
        assign([day(1990, 4, 1), pd.NaT], "quarter")


@pytest.mark.parametrize(
    ("freq", "error"),
    [
        ("Q", ValueError),
        ({}, ValueError),
        ({"war": day(1990, 1, 1)}, ValueError),
        ({"war": (day(1990, 2, 1), day(1990, 1, 1))}, ValueError),
        ({"war": ("1990", "1991")}, ValueError),
        ([day(1990, 1, 1)], ValueError),
        ([day(1990, 1, 1), day(1990, 1, 1)], ValueError),
        ([day(1990, 1, 1), "1991"], ValueError),
        ([1, 2], ValueError),
        (7, TypeError),
        (b"year", TypeError),
        (iter([day(1990, 1, 1), day(1991, 1, 1)]), TypeError),
        ({day(1990, 1, 1), day(1991, 1, 1)}, TypeError),
    ],
)
def test_other_periods_are_refused(freq, error):
    with pytest.raises(error, match="'freq' parameter of EventCounter must be"):
        EventCounter(EventRule(), freq=freq).count([], [])


def test_periods_may_not_overlap():
    spans = {
        "a": (day(1990, 1, 1), day(1990, 2, 1)),
        "b": (day(1990, 2, 1), day(1990, 3, 1)),
    }
    with pytest.raises(ValueError, match="must not overlap. Got 'a' and 'b'"):
        EventCounter(EventRule(), freq=spans).count([], [])


def test_own_periods_without_documents_are_counted(marked_rule, make_document):
    days = [day(1990, 1, 1), day(1990, 1, 10), day(1990, 2, 1)]
    document = make_document([True], ["AAA"])
    counts = EventCounter(marked_rule, freq=days).count([document], [np.zeros((1, 1))])
    assert counts.mean.tolist() == [1, 0]
    assert counts.n_documents.tolist() == [1, 0]
    assert counts.period[1] == "1990-01-10 to 1990-01-31"


@pytest.mark.parametrize(("freq", "n"), [("month", "119,988"), ("quarter", "39,996")])
def test_a_wrong_date_is_named_instead_of_a_hundred_thousand_periods(freq, n):
    documents = [
        Document("a", day(1990, 1, 1)),
        Document("b", day(9999, 12, 31)),
        Document("c", day(1, 1, 1)),
    ]
    message = (
        f"{n} periods from 0001-01-01, the date of document 2 ('c'), to 9999-12-31, "
        "the date of document 1 ('b')"
    )
    counter = EventCounter(EventRule(), freq=freq)
    with pytest.raises(ValueError, match=re.escape(message)):
        counter.count(documents, [[]] * 3)
    yearly = EventCounter(EventRule(), freq="year").count(documents, [[]] * 3)
    assert len(yearly.periods) == 9999


def test_labels_of_a_callable_are_not_contiguous():
    documents = [Document("a", day(1, 1, 1)), Document("b", day(9999, 12, 31))]
    counter = EventCounter(EventRule(), freq=lambda date: f"{date:%m}")
    assert counter.count(documents, [[]] * 2).periods == ["01", "12"]


@pytest.mark.parametrize(
    ("freq", "dates", "months"),
    [
        # May 1988 to May 1990
        (
            "year",
            [(1988 + (k + 4) // 12, (k + 4) % 12 + 1, 1) for k in range(25)],
            [8, 12, 5],
        ),
        # 3 days of a quarter and 29 days without documents, as between two documents
        (
            "quarter",
            [(1988, 2, 3), (1988, 3, 3), (1988, 4, 3)],
            [3, 3 * 32 / 91],
        ),
        ("year", [(1988, 5, 1), (1989, 5, 1), (1990, 5, 1)], [12, 12, 12]),
        # dates that stand for quarters
        ("year", [(1988, 4, 1), (1988, 7, 1), (1988, 10, 1), (1989, 1, 1)], [9, 3]),
        ("quarter", [(1988, 1, 1), (1989, 1, 1)], [3] * 5),
        # no more days are missing than lie between both documents
        ("month", [(1988, 1, 20), (1988, 2, 3)], [1, 1]),
        # each September
        ("year", [(1988 + k // 9, 9, 3 + k % 9) for k in range(1, 18)], [12, 12]),
        # the last days of the calendar
        ("year", [(9998, 1, 2), (9998, 12, 31), (9999, 12, 30)], [12, 12]),
        (
            [
                datetime.date(1988, 1, 1),
                datetime.date(1989, 1, 1),
                datetime.date(1989, 1, 31),
            ],
            [(1988, 6, 1)],
            [366 / 30.4375, 30 / 30.4375],
        ),
    ],
)
def test_months_in_which_documents_could_be(freq, dates, months):
    days = [datetime.date(*each) for each in dates]
    assert months_of(days, len(months), freq) == pytest.approx(months)


@pytest.mark.parametrize(
    ("freq", "first", "last"),
    [
        # from 2 May 1988, a Monday, to 3 February 1990, a Saturday
        ("year", 12 * 244 / 366, 12 * 34 / 365),
        ("quarter", 3 * 60 / 91, 3 * 34 / 90),
        ("month", 30 / 31, 3 / 28),
        ("week", 7 / 30.4375, 6 / 30.4375),
        ("day", 1, 1),
    ],
)
def test_partial_periods_of_documents_of_every_day_are_counted_in_days(
    freq, first, last
):
    start = datetime.date(1988, 5, 2)
    days = [start + datetime.timedelta(k) for k in range(244 + 365 + 34)]
    assert str(days[-1]) == "1990-02-03"
    labels, _ = place_in_calendar(days, freq)
    months = months_of(days, len(labels), freq)
    assert months[[0, -1]] == pytest.approx([first, last])
    assert (months[1:-1] == months[1]).all()


def test_the_days_of_observation_are_right_on_average():
    # from 10 May 1987 to 20 August 1990, with a document every 12 days
    start = datetime.date(1987, 5, 10)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(300):
        offsets = rng.integers(0, 1199, 100).tolist()
        days = [start + datetime.timedelta(k) for k in offsets]
        found.append(months_of(days, 4, "year"))
    truth = 12 * np.array([236, 365, 366, 232]) / [365, 365, 366, 365]
    error = np.std(found, axis=0) / np.sqrt(300)
    assert np.abs(np.mean(found, axis=0) - truth)[[0, 3]] == pytest.approx(
        0, abs=3 * error.max()
    )
    assert error.max() < 0.03
