"""Counts of several documents, against every combination of their outcomes."""

import copy
import itertools
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm

from skcalib.datasets import make_event_documents
from skcalib.events import EventCounter, EventCounts, EventRule
from skcalib.events._event_probability import difference_of, sum_of

CODES = ("AAA", "BBB", "CCC")


@pytest.fixture(scope="module")
def documents(make_document):
    """Seven documents in three quarters, the second of which is empty."""
    rng = np.random.default_rng(0)
    found = []
    for i in range(7):
        n = int(rng.integers(4, 7))
        agent = rng.random(n) < 0.5
        agent[2] = True
        code = rng.choice([None, "AAA", "BBB", "two"], size=n, p=[0.3, 0.3, 0.3, 0.1])
        code[0] = "AAA"
        code[1] = "BBB"
        date = (1990, 2, i + 1) if i < 5 else (1990, 7, i)
        found.append(make_document(agent, code, date=date, name=f"news-{i}"))
    return found


@pytest.fixture(scope="module")
def proba(documents, random_proba):
    rng = np.random.default_rng(1)
    return [random_proba(rng, len(each.mentions), 0.2) for each in documents]


@pytest.fixture(scope="module")
def tables(documents, proba, every_count, marked_rule):
    """Distribution of the numbers of entities of each document."""
    found = []
    for document, matrix in zip(documents, proba, strict=True):
        evidence = marked_rule.evidence(document)
        found.append(every_count(matrix, evidence.agent, evidence.code, 3))
    return found


@pytest.fixture(scope="module")
def scores(proba, as_log):
    return [as_log(matrix) for matrix in proba]


@pytest.fixture(scope="module", params=["documents", "entities"])
def unit(request):
    return request.param


@pytest.fixture(scope="module")
def counts(documents, scores, marked_rule, unit):
    counter = EventCounter(marked_rule, method="exact", unit=unit)
    return counter.count(documents, scores)


def totals(tables, documents, unit, period):
    """Return the distribution of the counts of all actors, by enumeration."""
    own = [
        table
        for table, document in zip(tables, documents, strict=True)
        if period is None or (document.date.month < 4) == (period == "1990Q1")
    ]
    found = {}
    for outcomes in itertools.product(*(table.items() for table in own)):
        rows = np.array([key for key, _ in outcomes]).reshape(-1, 3)
        rows = rows if unit == "entities" else np.minimum(rows, 1)
        key = tuple(rows.sum(axis=0).tolist())
        found[key] = found.get(key, 0) + np.prod([p for _, p in outcomes])
    return found


def of_one(table, c):
    pmf = np.zeros(50)
    for key, p in table.items():
        pmf[key[c]] += p
    return pmf


@pytest.mark.parametrize("period", ["1990Q1", "1990Q3"])
def test_moments_and_distributions(counts, tables, documents, unit, period):
    table = totals(tables, documents, unit, period)
    for c, code in enumerate(CODES[:2]):
        pmf = of_one(table, c)
        mean = np.arange(50) @ pmf
        sd = np.sqrt(np.arange(50) ** 2 @ pmf - mean**2)
        (cell,) = np.flatnonzero((counts.period == period) & (counts.country == code))
        assert counts.mean[cell] == pytest.approx(mean, abs=1e-9)
        assert counts.sd[cell] == pytest.approx(sd, abs=1e-7)
        found = counts.distribution(code, period)
        np.testing.assert_allclose(found, pmf[: found.size], atol=1e-12)
        assert found.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("period", ["1990Q1", "1990Q3"])
def test_quantile_intervals(counts, tables, documents, unit, period, level):
    table = totals(tables, documents, unit, period)
    low, high = counts.interval(level)
    for c, code in enumerate(CODES[:2]):
        pmf = of_one(table, c)
        (cell,) = np.flatnonzero((counts.period == period) & (counts.country == code))
        # as the definition says
        ends = [
            min(k for k in range(50) if pmf[: k + 1].sum() >= p - 1e-9)
            for p in ((1 - level) / 2, (1 + level) / 2)
        ]
        assert [low[cell], high[cell]] == ends
        assert pmf[ends[0] : ends[1] + 1].sum() >= level - 1e-9
        assert low[cell] >= 0


def test_normal_intervals_are_as_published(counts):
    low, high = counts.interval(method="normal")
    np.testing.assert_allclose(low, counts.mean - 1.959964 * counts.sd, atol=1e-6)
    np.testing.assert_allclose(high, counts.mean + 1.959964 * counts.sd, atol=1e-6)
    low, _ = counts.interval(0.8, "normal")
    np.testing.assert_allclose(low, counts.mean - norm.ppf(0.9) * counts.sd)


@pytest.mark.parametrize("period", [None, "1990Q1", "1990Q2", "1990Q3"])
def test_comparisons_are_joint(counts, tables, documents, unit, period):
    table = totals(tables, documents, unit, period) if period != "1990Q2" else {}
    table = table or {(0, 0, 0): 1.0}
    found = counts.compare("AAA", "BBB", period)
    greater = sum(p for key, p in table.items() if key[0] > key[1])
    equal = sum(p for key, p in table.items() if key[0] == key[1])
    assert found == pytest.approx(greater, abs=1e-9)
    assert found.greater == float(found)
    assert found.equal == pytest.approx(equal, abs=1e-9)
    assert found.greater + found.equal + found.less == pytest.approx(1)
    difference = sum(p * (key[0] - key[1]) for key, p in table.items())
    assert found.mean_difference == pytest.approx(difference, abs=1e-9)
    other = counts.compare("BBB", "AAA", period)
    assert other.less == pytest.approx(found.greater)


def test_an_actor_of_the_rule_that_did_nothing_has_a_count_of_0(
    documents, scores, marked_rule
):
    class Rule:
        codes = (*CODES, "DDD")
        evidence = staticmethod(marked_rule.evidence)

    counts = EventCounter(Rule(), method="exact").count(documents, scores)
    found = counts.compare("AAA", "DDD")
    assert found.less == 0
    assert found.equal == pytest.approx(counts.distribution("AAA")[0])
    assert counts.distribution("DDD", "1990Q1").tolist() == [1]
    assert counts.uncertain_documents(country="DDD") == []
    some = EventCounter(Rule(), countries=["AAA"]).count(documents, scores)
    with pytest.raises(ValueError, match="counted, one of .'AAA'.. Got 'BBB'"):
        some.compare("AAA", "BBB")


def test_comparisons_are_floats_that_can_be_copied(counts):
    found = counts.compare("AAA", "BBB", "1990Q1")
    assert isinstance(found, float)
    for other in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert other == found
        assert other.to_dict() == found.to_dict()
    assert repr(found).startswith("CountComparison(AAA > BBB: 0.")
    assert "period='1990Q1'" in repr(found)
    assert "period" not in repr(counts.compare("AAA", "BBB"))


def test_every_cell_is_there(counts):
    periods = ["1990Q1", "1990Q2", "1990Q3"]
    assert counts.periods == periods
    assert counts.countries == ["AAA", "BBB"]
    assert counts.period.tolist() == np.repeat(periods, 2).tolist()
    assert counts.country.tolist() == ["AAA", "BBB"] * 3
    assert counts.n_documents.tolist() == [5, 5, 0, 0, 2, 2]
    empty = counts.period == "1990Q2"
    for method in ("normal", "quantile"):
        low, high = counts.interval(method=method)
        assert (low[empty] == 0).all()
        assert (high[empty] == 0).all()
    assert (counts.mean[empty] == 0).all()
    assert len(counts) == 6


def test_the_best_antecedents_give_the_map_count(counts, documents, proba, unit):
    expected = dict.fromkeys(zip(counts.period, counts.country, strict=True), 0)
    for document, matrix in zip(documents, proba, strict=True):
        entity = []
        for j, row in enumerate(matrix):
            k = int(row.argmax())
            entity.append(j if k == j else entity[k])
        said = [mention.attributes for mention in document.mentions]
        found = {}
        for e in set(entity):
            own = [each for each, k in zip(said, entity, strict=True) if k == e]
            actors = {each["code"] for each in own} - {None}
            if any(each["agent"] for each in own) and len(actors) == 1:
                (code,) = actors
                found[code] = found.get(code, 0) + 1
        for code in found.keys() & {"AAA", "BBB"}:
            period = f"1990Q{(document.date.month + 2) // 3}"
            expected[period, code] += 1 if unit == "documents" else found[code]
    assert counts.map_count.tolist() == list(expected.values())
    assert counts.map_count.sum() > 0


class TestUncertainDocuments:
    def test_they_are_near_a_half(self, documents, scores, marked_rule, tables):
        counts = EventCounter(marked_rule, method="exact").count(documents, scores)
        found = counts.uncertain_documents(0.3)
        expected = []
        for i, table in enumerate(tables):
            for c, code in enumerate(CODES[:2]):
                a = sum(p for key, p in table.items() if key[c])
                if abs(a - 0.5) <= 0.3:
                    expected.append((i, code, a))
        expected.sort(key=lambda each: abs(each[2] - 0.5))
        assert [(each.document, each.country) for each in found] == [
            each[:2] for each in expected
        ]
        assert len(found) > 3
        for each, (i, _, a) in zip(found, expected, strict=True):
            assert each.proba == pytest.approx(a)
            assert each.low - 1e-9 <= a <= each.high + 1e-9
            assert each.id == f"news-{i}"
            assert each.period == ("1990Q1" if i < 5 else "1990Q3")
            assert each.links

    def test_links_name_agents_and_actors(self, documents, scores, marked_rule):
        counts = EventCounter(marked_rule).count(documents, scores)
        for each in counts.uncertain_documents(0.5):
            said = documents[each.document].mentions
            for link in each.links:
                assert said[link.agent].attributes["agent"]
                assert said[link.other].attributes["code"] is not None
                assert link.agent_text == f"word{link.agent}"
                assert link.other_text == f"word{link.other}"
                assert 0 < link.proba < 1
            assert json.loads(json.dumps(each.to_dict()))["id"] == each.id

    def test_they_can_be_chosen(self, counts):
        everything = counts.uncertain_documents(0.5)
        some = counts.uncertain_documents(0.5, country="BBB", period="1990Q3")
        assert some == [
            each
            for each in everything
            if each.country == "BBB" and each.period == "1990Q3"
        ]
        assert 0 < len(some) < len(everything)
        assert counts.uncertain_documents(0.0) == []


def test_probabilities_of_documents(documents, scores, marked_rule, tables):
    counts = EventCounter(marked_rule, method="exact").count(documents, scores)
    columns = counts.probabilities()
    frame = pd.DataFrame(columns)
    assert frame["exact"].all()
    assert set(frame["document"]) == set(range(7))
    for row in frame.itertuples():
        c = CODES.index(row.country)
        a = sum(p for key, p in tables[row.document].items() if key[c])
        assert row.proba == pytest.approx(a, abs=1e-9)
        assert row.low - 1e-9 <= a <= row.high + 1e-9
    sums = frame.groupby(["period", "country"])["proba"].sum()
    for period, country, mean in zip(
        counts.period, counts.country, counts.mean, strict=True
    ):
        assert sums.get((period, country), 0) == pytest.approx(mean)


def test_what_it_gives(counts, unit):
    frame = counts.frame(0.9, "quantile")
    assert isinstance(frame, pd.DataFrame)
    assert frame["mean"].tolist() == counts.mean.tolist()
    assert frame["low"].tolist() == counts.interval(0.9, "quantile")[0].tolist()
    found = json.loads(json.dumps(counts.to_dict()))
    assert found["period"] == counts.period.tolist()
    assert found["unit"] == unit


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.interval(1), "'confidence_level' parameter of EventCounts"),
        (lambda c: c.interval(method="wald"), "'method' parameter of EventCounts"),
        (lambda c: c.compare("AAA", "XXX"), "'second' parameter of .* Got 'XXX'"),
        (lambda c: c.compare("AAA", "BBB", "1991Q1"), "'period' parameter .* '1991Q1'"),
        (lambda c: c.distribution("XXX"), "'country' parameter of EventCounts.distrib"),
        (lambda c: c.compare(["AAA"], "BBB"), r"'first' parameter of .* Got \['AAA'"),
        (lambda c: c.distribution("AAA", np.arange(2)), "'period' parameter of Event"),
        (lambda c: c.uncertain_documents(0.6), "'margin' parameter"),
        (lambda c: c.uncertain_documents(country="XXX"), "'country' parameter"),
    ],
)
def test_what_does_not_fit_is_refused(counts, call, message):
    with pytest.raises(ValueError, match=message):
        call(counts)


# Many documents, and quantiles at steps


def events_of(probabilities, rule, make_document):
    """Return counts of documents with one possible event of AAA each."""
    documents = [make_document([False, True], ["AAA", None]) for _ in probabilities]
    with np.errstate(divide="ignore"):
        scores = [
            np.log([[1.0, 0.0], [probability, 1 - probability]])
            for probability in probabilities
        ]
    return EventCounter(rule, method="exact").count(documents, scores)


@pytest.mark.filterwarnings("ignore:A confidence_level of")
def test_sums_of_equal_trials_are_binomial(marked_rule, make_document):
    counts = events_of([0.3] * 501, marked_rule, make_document)
    pmf = counts.distribution("AAA", counts.periods[0])
    expected = binom.pmf(np.arange(502), 501, 0.3)
    np.testing.assert_allclose(pmf, expected[: pmf.size], atol=1e-14)
    for level in (0.95, 0.5, 0.01):
        tails = (1 - level) / 2, (1 + level) / 2
        assert [end[0] for end in counts.interval(level)] == [
            binom.ppf(tail, 501, 0.3) for tail in tails
        ]


def test_quantiles_at_the_steps(marked_rule, make_document):
    counts = events_of([0.5, 0.5], marked_rule, make_document)
    # The distribution has the steps 1/4, 3/4 and 1.
    for level, expected in ((0.5, [0, 1]), (0.499, [1, 1]), (0.501, [0, 2])):
        assert [end[0] for end in counts.interval(level)] == expected


def test_no_document_is_no_cell(marked_rule):
    counts = EventCounter(marked_rule).count([], [])
    assert isinstance(counts, EventCounts)
    assert len(counts) == 0
    assert counts.frame().empty
    assert counts.uncertain_documents() == []


def test_a_difference_of_periods_is_that_of_all_outcomes():
    half = (0, np.array([0.5, 0.5]))
    mean, low, high, pvalue = difference_of(sum_of([half, half]), half, (1, 1), 0.8)
    # 2, 1, 0 or -1 with probabilities 1/8, 3/8, 3/8, 1/8
    assert (mean, low, high, pvalue) == (0.5, -1, 2, 1)
    sure = difference_of((5, np.ones(1)), half, (1, 1), 0.8)
    assert sure == (4.5, 4, 5, 0)
    per_month = difference_of((12, np.ones(1)), (5, np.ones(1)), (12.0, 5.0), 0.9)
    assert per_month == (0, 0, 0, 1)


def test_a_difference_without_uncertainty_has_no_pvalue_in_words():
    rule = EventRule(["attack"], lexicon={"KEN": ["kenya"]})
    documents, _, scores = make_event_documents(
        20, n_days=120, return_scores=True, random_state=0
    )
    sure = [np.where(np.eye(len(each)) > 0, 0, -np.inf) for each in scores]
    counts = EventCounter(rule, random_state=0).count(documents, sure)
    found = counts.compare_periods("1990Q1", "1990Q2", months=(1, 1))
    assert found.low[0] == found.high[0] == found.estimate[0]
    text = repr(found)
    assert text.startswith(
        f"PeriodComparison(1990Q1 - 1990Q2: {found.estimate[0]:.3g} "
    )
    assert "without uncertainty, n_actors=" in text


def test_differences_of_periods_add_up_over_actors():
    documents, _, scores = make_event_documents(
        60, n_days=120, return_scores=True, random_state=0
    )
    counts = EventCounter(EventRule(), random_state=0).count(documents, scores)
    # 120 days from 1 January on are 90 of 90 and 30 of 91 days
    assert counts.months == pytest.approx([3, 3 * 30 / 91], abs=0.1)
    with pytest.raises(ValueError, match="another period than 'first'"):
        counts.compare_periods("1990Q1", "1990Q1")
    with pytest.raises(ValueError, match="'first' .*must be one of the periods"):
        counts.compare_periods("1989", "1990Q1")
    whole = counts.compare_periods("1990Q1", "1990Q2", months=(1, 1))
    assert whole.months is None
    assert whole.estimate[0] == pytest.approx(whole.estimate[1:].sum())
    first, second = counts.mean.reshape(2, -1)
    assert whole.estimate[1:] == pytest.approx(first - second)
    assert list(whole.frame()["country"]) == ["all actors", *counts.countries]
    assert whole.to_dict()["country"] == [None, *counts.countries]
    rate = counts.compare_periods("1990Q1", "1990Q2")
    assert rate.months == tuple(counts.months)
    assert rate.estimate[1:] == pytest.approx(first / 3 - second / counts.months[1])
    least = whole.pvalue[1:].min()
    assert whole.pvalue_adjusted[1:].min() == pytest.approx(
        min(1, least * len(counts.countries))
    )
