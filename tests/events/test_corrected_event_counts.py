"""Counts of events that are corrected by labelled documents."""

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from skcalib.counts import choose_documents, corrected_count
from skcalib.datasets import make_event_documents
from skcalib.events import EventCounter, EventRule

N = 120
PERIODS = ["1990Q1", "1990Q2", "1990Q3", "1990Q4"]


@pytest.fixture(scope="module")
def corpus(make_document):
    """Documents of three of four quarters; half of them have no possible event."""
    rng = np.random.default_rng(0)
    found = []
    for i in range(N):
        agent, code = [False] * 3, [None] * 3
        if i // 3 % 2:
            agent = [False, False, True]
            code = [rng.choice(["AAA", "BBB"]), rng.choice(["AAA", None]), None]
        date = (1990, (2, 5, 11)[i % 3], 1 + i % 28)
        found.append(make_document(agent, code, date=date, name=f"news-{i}"))
    return found


@pytest.fixture(scope="module")
def scores(corpus, random_proba, as_log):
    rng = np.random.default_rng(1)
    return [as_log(random_proba(rng, 3, 0.1)) for _ in corpus]


@pytest.fixture(scope="module", params=["documents", "entities"])
def counts(request, corpus, scores, marked_rule_with_codes):
    counter = EventCounter(marked_rule_with_codes, unit=request.param, method="exact")
    return counter.count(corpus, scores)


@pytest.fixture(scope="module")
def marked_rule_with_codes(marked_rule):
    class Rule(type(marked_rule)):
        codes = ("AAA", "BBB", "CCC")

    return Rule()


@pytest.fixture(scope="module")
def truth():
    """True events, also in documents in which the model sees none."""
    rng = np.random.default_rng(2)
    found = []
    for _ in range(N):
        drawn = rng.random(2) < (0.4, 0.2)
        found.append(
            {c: 1 for c, has in zip(("AAA", "BBB"), drawn, strict=True) if has}
        )
    return found


def labels_of(truth, rows):
    return {f"news-{i}": truth[i] for i in rows}


def by_hand(counts, truth, rows, country):
    """Return labels and expectations of one actor, in the order of the documents."""
    y, f = np.full(N, np.nan), np.zeros(N)
    for i in rows:
        y[i] = truth[i].get(country, 0)
    table = counts.probabilities()
    for i, code, proba in zip(
        table["document"], table["country"], table["proba"], strict=True
    ):
        f[i] += proba * (code == country)
    return y, f


# In each document of these tests at most one entity of an actor can be an agent, so the
# probability of an event is the expected number of entities.


def test_all_documents_are_part_of_the_corpus(counts):
    assert counts.document_ids == [f"news-{i}" for i in range(N)]
    assert counts.document_place.tolist() == [(0, 1, 3)[i % 3] for i in range(N)]
    assert len(set(counts.probabilities()["document"])) < N / 2 + 1


def test_documents_that_are_left_out_are_not_in_the_corpus(corpus, scores, marked_rule):
    counter = EventCounter(marked_rule, where=lambda each: each.date.month == 5)
    counts = counter.count(corpus, scores)
    assert counts.document_ids == [f"news-{i}" for i in range(1, N, 3)]
    choice = counts.choose_documents(9, random_state=0)
    assert set(choice.ids) < set(counts.document_ids)
    corrected = counts.corrected({name: {"AAA": 1} for name in counts.document_ids})
    assert corrected.estimate[corrected.country == "AAA"] == N / 3
    with pytest.raises(ValueError, match="1 of 1 that were not: 'news-0'"):
        counts.corrected({"news-0": {}})


@pytest.mark.parametrize("strata", [None, "period"])
def test_cells_are_corrected_counts_of_the_documents(counts, truth, strata):
    rows = np.arange(0, N, 5)
    corrected = counts.corrected(labels_of(truth, rows), strata=strata)
    place = np.array([0, 1, 3])[np.arange(N) % 3]
    design = {"periods": place, "strata": place if strata else None}
    for country in ("AAA", "BBB"):
        y, f = by_hand(counts, truth, rows, country)
        most = 1 if counts.unit == "documents" else np.inf
        for factor, prefix in ((1, ""), (0, "labels_only_")):
            table = corrected_count(
                y,
                factor * f,
                slope="shrunk" if factor else 0,
                bounds=(0, most),
                **design,
            ).table
            own = (corrected.country == country) & (corrected.period != "1990Q3")
            for name in ("estimate", "low", "high"):
                found = getattr(corrected, prefix + name)[own]
                assert found == pytest.approx(table[name], abs=1e-9)
        own = corrected.country == country
        assert corrected.uncorrected[own] == pytest.approx(
            counts.mean[counts.country == country]
        )
    assert corrected.n_labelled.tolist() == [8] * 4 + [0] * 2 + [8] * 2
    assert corrected.n_documents.tolist() == [40] * 4 + [0] * 2 + [40] * 2


def test_a_labelled_corpus_has_its_true_counts(counts, truth):
    corrected = counts.corrected(labels_of(truth, range(N)))
    true = [
        sum(truth[i].get(c, 0) for i in range(N) if (0, 1, 3)[i % 3] == t)
        for t in range(4)
        for c in ("AAA", "BBB")
    ]
    for name in ("estimate", "low", "high"):
        assert getattr(corrected, name) == pytest.approx(true, abs=1e-9)
    assert corrected.total("AAA").estimate == pytest.approx(sum(true[::2]))
    difference = corrected.compare("AAA", "BBB", "1990Q2")
    assert difference.estimate == difference.low == true[2] - true[3]


def test_totals_differences_and_trends(counts, truth):
    rows = np.arange(0, N, 4)
    corrected = counts.corrected(labels_of(truth, rows))
    (y, f), (other_y, other_f) = (
        by_hand(counts, truth, rows, c) for c in ("AAA", "BBB")
    )
    most = 1 if counts.unit == "documents" else np.inf
    pairs = [
        (corrected.total("AAA"), corrected_count(y, f, bounds=(0, most))),
        (
            corrected.compare("AAA", "BBB"),
            corrected_count(y - other_y, f - other_f, bounds=(-most, most)),
        ),
    ]
    for empty in ("zero", "unobserved"):
        options = {"estimand": "trend", "empty_periods": empty}
        periods = np.array(["1990Q1", "1990Q2", "1990Q4"])[np.arange(N) % 3]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "1 period without documents")
            pair = (
                corrected.trend("AAA", empty_periods=empty),
                corrected_count(y, f, bounds=(0, most), periods=periods, **options),
            )
        pairs.append(pair)
    for found, expected in pairs:
        assert found.table is None
        for name in ("estimate", "low", "high", "labels_only", "equivalent_labels"):
            assert getattr(found, name) == pytest.approx(getattr(expected, name))


def test_the_trend_is_the_slope_of_the_table(counts, truth):
    corrected = counts.corrected(labels_of(truth, range(N)))
    of_a = corrected.country == "AAA"
    events = corrected.estimate[of_a]
    assert events[2] == 0  # a quarter without documents
    with pytest.warns(UserWarning, match="^1 period without documents counts as 0"):
        trend = corrected.trend("AAA")
    assert trend.estimate == pytest.approx(np.polyfit(range(4), events, 1)[0])
    assert trend.estimand == "trend"
    left = corrected.trend("AAA", empty_periods="unobserved")
    slope = np.polyfit([0, 1, 3], events[[0, 1, 3]], 1)[0]
    assert left.estimate == pytest.approx(slope)
    with pytest.raises(ValueError, match="'empty_periods'.*trend must be one of"):
        corrected.trend("AAA", empty_periods="none")


def test_the_trend_scales_a_partial_period():
    documents, events, scores = make_event_documents(
        60, n_days=120, return_scores=True, random_state=0
    )
    counts = EventCounter(EventRule(), random_state=0).count(documents, scores)
    corrected = counts.corrected(
        {document.id: found for document, found in zip(documents, events, strict=True)}
    )
    actor = counts.countries[0]
    first, second = corrected.estimate[corrected.country == actor]
    full = 3 / counts.months[1]
    assert full > 2.8
    assert corrected.trend(actor).estimate == pytest.approx(full * second - first)
    counted = corrected.trend(actor, partial_periods="counted")
    assert counted.estimate == pytest.approx(second - first)


def test_the_total_of_a_period_is_its_cell(counts, truth):
    corrected = counts.corrected(labels_of(truth, range(0, N, 4)))
    found = corrected.total("BBB", "1990Q4")
    cell = (corrected.period == "1990Q4") & (corrected.country == "BBB")
    assert (found.estimate, found.low, found.high) == (
        corrected.estimate[cell],
        corrected.low[cell],
        corrected.high[cell],
    )
    assert found.labels_only.high == corrected.labels_only_high[cell]
    assert (found.n_documents, found.n_labelled) == (40, 10)
    assert found.equivalent_labels > 0


def test_an_event_in_a_document_counts_once_for_documents(counts, truth):
    several = [dict.fromkeys(each, 3) for each in truth]
    labels = labels_of(several, range(0, N, 4))
    factor = 1 if counts.unit == "documents" else 3
    once = counts.corrected(labels_of(truth, range(0, N, 4)))
    assert counts.corrected(labels).labels_only_estimate == pytest.approx(
        factor * once.labels_only_estimate
    )


def test_an_actor_that_only_labels_have(counts, truth):
    more = [each | ({"CCC": 1} if i % 8 == 0 else {}) for i, each in enumerate(truth)]
    with pytest.warns(UserWarning, match=r"^CCC: .*is 0 for every document"):
        corrected = counts.corrected(labels_of(more, range(0, N, 4)))
    assert corrected.countries == ["AAA", "BBB", "CCC"]
    own = corrected.country == "CCC"
    assert (corrected.uncorrected[own] == 0).all()
    assert corrected.estimate[own].sum() == pytest.approx(N / 2)


def test_a_period_without_labels_has_no_interval(counts, truth):
    rows = [i for i in range(N) if i % 3 != 1][::3]
    with pytest.warns(UserWarning, match="rows of the table") as caught:
        corrected = counts.corrected(labels_of(truth, rows))
    found = [str(each.message) for each in caught]
    assert len(found) == 1
    assert "1 of 3 rows of the table have no labelled document: 1990Q2" in found[0]
    assert {each.filename for each in caught} == {__file__}
    empty = corrected.period == "1990Q2"
    assert np.isnan(corrected.low[empty]).all()
    assert not np.isnan(corrected.estimate).any()
    # a period without documents is known
    assert (corrected.high[corrected.period == "1990Q3"] == 0).all()
    with pytest.warns(UserWarning, match="'1990Q2' has no labelled document"):
        result = corrected.compare("AAA", "BBB", "1990Q2")
    assert np.isnan(result.low)


def test_strata_of_another_name_are_an_error(counts, truth):
    with pytest.raises(ValueError, match="must be 'period', None or .* Got 'quarter'"):
        counts.corrected(labels_of(truth, range(30)), strata="quarter")
    with pytest.raises(ValueError, match="must be 'period', None or .* Got 'quarter'"):
        counts.choose_documents(30, strata="quarter")


def test_strata_without_labels_are_named_by_their_period(counts, truth):
    rows = [i for i in range(N) if i % 3 != 1][::3]
    with pytest.raises(ValueError, match="'strata'.*Got none in '1990Q2'"):
        counts.corrected(labels_of(truth, rows), strata="period")


def test_the_choice_is_that_of_uncertain_documents_within_periods(counts):
    choice = counts.choose_documents(30, mix=0.4, random_state=3)
    table = counts.probabilities()
    variance = np.zeros(N)
    for i, p in zip(table["document"], table["proba"], strict=True):
        variance[i] += p * (1 - p)
    expected = choose_documents(
        np.sqrt(variance), 30, strata=np.arange(N) % 3, mix=0.4, random_state=3
    )
    pi = choice.inclusion_probability
    assert pi == pytest.approx(expected.inclusion_probability)
    assert choice.ids == [f"news-{i}" for i in expected.index]
    assert pi.min() > 0  # documents without a possible event too
    anywhere = counts.choose_documents(30, strata=None, mix=1, random_state=3)
    assert anywhere.inclusion_probability == pytest.approx(30 / N)


@pytest.mark.slow
def test_intervals_contain_events_that_the_model_cannot_see(counts, truth):
    rng = np.random.default_rng(0)
    total, inside, of_periods = sum("AAA" in each for each in truth), [], []
    true = [
        sum("AAA" in truth[i] for i in range(N) if (0, 1, 3)[i % 3] == t)
        for t in range(4)
    ]
    for _ in range(100):
        choice = counts.choose_documents(40, random_state=rng)
        labels = {name: truth[int(name[5:])] for name in choice.ids}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            corrected = counts.corrected(
                labels,
                inclusion_probability=choice.inclusion_probability,
                strata="period",
            )
        found = corrected.total("AAA")
        inside.append(found.low <= total <= found.high)
        own = corrected.country == "AAA"
        of_periods.append((corrected.low[own] <= true) & (true <= corrected.high[own]))
    # Given 95%, fewer than 88 of 100 have a probability of 0.2%.
    assert sum(inside) >= 88
    assert np.mean(of_periods) >= 0.92
    low, high = counts.interval()
    own = counts.country == "AAA"
    assert not ((low[own] <= true) & (true <= high[own])).all()


def test_labels_chosen_by_the_events_of_the_model(counts, truth):
    table = counts.probabilities()
    with pytest.warns(UserWarning, match="look like a sample") as caught:
        counts.corrected(labels_of(truth, set(table["document"])))
    # Both actors share the labelled documents, so that one warning is enough.
    (message,) = (str(each.message) for each in caught)
    assert message.startswith("AAA, BBB: The labelled documents do not look like")
    assert message.endswith("counts of all actors are corrected with these documents.")
    is_likely = (np.array(table["country"]) == "AAA") & (np.array(table["proba"]) > 0.1)
    own = np.array(table["document"])[is_likely]
    with pytest.raises(ValueError, match=r"'labelled'.*EventCounts.corrected.*above"):
        counts.corrected(labels_of(truth, own))


@pytest.mark.parametrize(
    ("labelled", "problem"),
    [
        ([("news-1", {})], "'labelled'.*mapping of document ids.*Got list"),
        ({"news-1": {}, "other": {}}, "1 of 2 that were not: 'other'"),
        ({f"x-{i}": {} for i in range(25)}, "'x-19' and 5 more"),
        ({"news-1": {"KEN": 1}}, "Got 'KEN' for 'news-1'.*'AAA', 'BBB', 'CCC'"),
        ({"news-1": {"AAA": -1}}, "Got -1 for 'AAA' in 'news-1'"),
        ({"news-1": {"AAA": np.nan}}, "Got nan for 'AAA' in 'news-1'"),
        ({"news-1": {"AAA": "yes"}}, "Got 'yes' for 'AAA'"),
        ({"news-1": {"AAA"}}, "Got {'AAA'} for 'news-1'"),
        ({}, "'labelled'.*at least 5 labels. Got 0 labels in 120"),
    ],
)
def test_wrong_labels(counts, labelled, problem):
    with pytest.raises(ValueError, match=problem):
        counts.corrected(labelled)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"inclusion_probability": [0.5]}, "'inclusion_probability'.*120 documents"),
        ({"inclusion_probability": 0}, "Got 0 in row 0"),
        ({"strata": ["a"]}, "'strata'.*120 documents"),
        ({"confidence_level": 95}, "'confidence_level'"),
    ],
)
def test_wrong_arguments(counts, truth, arguments, problem):
    with pytest.raises(ValueError, match=problem):
        counts.corrected(labels_of(truth, range(0, N, 4)), **arguments)


@pytest.mark.parametrize(
    ("names", "got"),
    [
        (["a", "b", "a"], "'a' for documents 0 and 2"),
        (["a", None, "b"], "None for document 1 of 3"),
    ],
)
def test_documents_need_ids(make_document, marked_rule, scores, names, got):
    documents = [make_document([True] * 3, ["AAA"] * 3, name=name) for name in names]
    counts = EventCounter(marked_rule).count(documents, scores[:3])
    for call in (
        lambda: counts.corrected({"a": {}}),
        lambda: counts.choose_documents(2),
    ):
        with pytest.raises(ValueError, match=f"{got}. Set `id` of each Document"):
            call()


def test_wrong_actors_and_periods(counts, truth):
    corrected = counts.corrected(labels_of(truth, range(0, N, 4)))
    with pytest.raises(ValueError, match=r"'second'.*compare.*Got 'KEN'"):
        corrected.compare("AAA", "KEN")
    with pytest.raises(ValueError, match=r"'country'.*trend.*Got \['AAA'\]"):
        corrected.trend(["AAA"])
    with pytest.raises(ValueError, match=r"'period'.*total.*Got '1991'"):
        corrected.total("AAA", "1991")


def test_the_trend_of_one_period_is_an_error(corpus, scores, marked_rule, truth):
    counts = EventCounter(marked_rule, freq=None).count(corpus, scores)
    corrected = counts.corrected(labels_of(truth, range(0, N, 4)))
    with pytest.raises(ValueError, match="at least two periods for a trend. Got 1"):
        corrected.trend("AAA")


def test_periods_may_have_labels_of_any_type(corpus, scores, marked_rule, truth):
    names = {2: ("year", 1), 5: 1, 11: "1"}
    counts = EventCounter(marked_rule, freq=lambda day: names[day.month])
    corrected = counts.count(corpus, scores).corrected(
        labels_of(truth, range(0, N, 4)), strata="period"
    )
    assert corrected.periods == [("year", 1), 1, "1"]
    plain = EventCounter(marked_rule).count(corpus, scores)
    expected = plain.corrected(labels_of(truth, range(0, N, 4)), strata="period")
    kept = expected.period != "1990Q3"
    assert corrected.estimate == pytest.approx(expected.estimate[kept])


def test_tables_of_corrected_counts(counts, truth):
    corrected = counts.corrected(labels_of(truth, range(0, N, 4)), confidence_level=0.9)
    frame = corrected.frame()
    assert frame["period"].tolist() == [p for p in PERIODS for _ in range(2)]
    assert len(corrected) == len(frame) == 8
    found = json.loads(json.dumps(corrected.to_dict()))
    assert found["confidence_level"] == 0.9
    assert found["unit"] == counts.unit
    columns = {k: v for k, v in found.items() if k in frame}
    pd.testing.assert_frame_equal(pd.DataFrame(columns), frame, check_dtype=False)
    again = pickle.loads(pickle.dumps(corrected))
    assert again.total("AAA") == corrected.total("AAA")
