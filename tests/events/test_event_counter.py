"""EventCounter: what it looks at, in which order, and what it refuses."""

import dataclasses
import datetime
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skcalib.coref import AntecedentFeatures, AntecedentRanker
from skcalib.datasets import make_event_documents
from skcalib.documents import Document
from skcalib.events import EventCounter, EventRule, _counter
from skcalib.posteriors import AntecedentPosterior


@pytest.fixture(scope="module")
def data(make_document, random_proba, as_log):
    """Give 90 documents over three years, a third of them without any agent."""
    rng = np.random.default_rng(0)
    documents, scores = [], []
    for i in range(90):
        n = int(rng.integers(2, 9))
        agent = (rng.random(n) < 0.4) & (i % 3 > 0)
        code = rng.choice([None, "AAA", "BBB", "CCC", "two"], size=n)
        if i % 10 == 5:  # of no country
            agent[0], code[:] = True, None
        date = (2003 + i % 3, 1 + i % 12, 1 + i % 28)
        documents.append(make_document(agent, code, date=date, name=f"news-{i}"))
        scores.append(as_log(random_proba(rng, n, 0.1)))
    return documents, scores


@pytest.fixture(scope="module")
def generated():
    """Give documents, entities and scores that other processes can read."""
    documents, _, scores = make_event_documents(
        90, n_days=360, return_scores=True, random_state=0
    )
    return documents, [document.entities for document in documents], scores


def same(one, other):
    found, expected = one.to_dict(), other.to_dict()
    assert found == expected
    assert one.probabilities() == other.probabilities()
    assert one.uncertain_documents(0.5) == other.uncertain_documents(0.5)


class Believer(BaseEstimator):
    """Give posteriors of documents by their names, and note who was asked about."""

    def __init__(self, scores=None, asked=None):
        self.scores = scores
        self.asked = asked

    def posterior(self, X):
        self.asked.extend(document.id for document in X)
        return AntecedentPosterior([self.scores[document.id] for document in X])


# What is asked


def test_without_coreference_each_mention_is_an_entity(make_document, marked_rule):
    # AAA is an agent in the first document, BBB in none: its agent is another mention.
    documents = [
        make_document([True, False, True], ["AAA", "BBB", None]),
        make_document([False, True], ["BBB", None]),
    ]
    counts = EventCounter(marked_rule, freq=None).count(documents)
    found = zip(counts.country.tolist(), counts.mean.tolist(), strict=True)
    assert dict(found) == {"AAA": 1, "BBB": 0}


def test_posteriors_scores_and_estimators_give_the_same(data, marked_rule):
    documents, scores = data
    counter = EventCounter(marked_rule, random_state=0)
    expected = counter.count(documents, AntecedentPosterior(scores))
    same(counter.count(documents, scores), expected)
    array = np.empty(len(scores), dtype=object)
    array[:] = scores
    same(counter.count(documents, array), expected)
    same(counter.count(pd.Series(documents), pd.Series(scores)), expected)
    each = [AntecedentPosterior([matrix]) for matrix in scores]
    same(counter.count(documents, each), expected)
    names = [document.id for document in documents]
    believer = Believer(dict(zip(names, scores, strict=True)), [])
    same(counter.count(documents, believer), expected)


def test_documents_without_an_event_word_are_never_looked_at(data, marked_rule):
    documents, scores = data

    class Gate:
        seen = []

        def may_match(self, document):
            return marked_rule.may_match(document) and document.id != "news-4"

        def evidence(self, document):
            self.seen.append(document.id)
            return marked_rule.evidence(document)

    names = [document.id for document in documents]
    believer = Believer(dict(zip(names, scores, strict=True)), [])
    counts = EventCounter(Gate()).count(documents, believer)
    passed = [
        document.id
        for document in documents
        if marked_rule.may_match(document) and document.id != "news-4"
    ]
    assert 40 < len(passed) < 60
    assert Gate.seen == passed
    # a document with agents and no actor needs no posterior either
    possible = set(counts.probabilities()["id"])
    assert possible == set(believer.asked) < set(passed)
    # they still count as documents
    assert counts.n_documents.sum() == 90 * len(counts.countries)


def test_a_model_is_called_for_several_documents_at_once(
    data, marked_rule, monkeypatch
):
    documents, scores = data
    names = [document.id for document in documents]

    class Counting(Believer):
        n_calls = 0

        def posterior(self, X):
            Counting.n_calls += 1
            return super().posterior(X)

    counter = EventCounter(marked_rule, random_state=0)
    believer = Counting(dict(zip(names, scores, strict=True)), [])
    expected = counter.count(documents, believer)
    assert Counting.n_calls == 2
    # a call has few documents if these are long
    monkeypatch.setattr(_counter, "BATCH", 60)
    believer.asked.clear()
    same(counter.count(documents, believer), expected)
    assert 5 < Counting.n_calls - 2 < len(believer.asked)
    monkeypatch.setattr(_counter, "BATCH", 1)
    Counting.n_calls = 0
    believer.asked.clear()
    same(counter.count(documents, believer), expected)
    assert Counting.n_calls == len(believer.asked)


def test_a_model_returns_an_entry_for_each_document(data, marked_rule):
    class Single(BaseEstimator):
        def posterior(self, X):
            return AntecedentPosterior([np.zeros((1, 1))])

    message = "'posteriors' .* an entry for each document. Got 1 for"
    with pytest.raises(ValueError, match=message):
        EventCounter(marked_rule).count(data[0], Single())


def test_a_rule_without_may_match_gives_the_same_counts(data, marked_rule):
    rule = SimpleNamespace(evidence=marked_rule.evidence)
    expected = EventCounter(marked_rule, random_state=0).count(*data)
    same(EventCounter(rule, random_state=0).count(*data), expected)


def test_a_pipeline_or_grid_search_gives_the_counts_of_its_posterior(
    marked_rule, make_document
):
    rng = np.random.default_rng(0)
    documents = [
        make_document(
            rng.random(6) < 0.5, rng.choice([None, "AAA", "BBB"], size=6), name=f"{i}"
        )
        for i in range(12)
    ]
    y = [rng.integers(3, size=6) for _ in documents]
    pipe = make_pipeline(AntecedentFeatures(2**10), AntecedentRanker(C=1.0))
    search = GridSearchCV(pipe, {"antecedentranker__C": [0.1, 1.0]}, cv=2)
    search.fit(documents, y)
    best = search.best_estimator_
    posterior = best[-1].posterior(best[:-1].transform(documents))
    counter = EventCounter(marked_rule, random_state=3)
    expected = counter.count(documents, posterior)
    assert expected.sd.max() > 0
    for estimator in (search, best):
        same(counter.count(documents, estimator), expected)
    with pytest.raises(NotFittedError):
        counter.count(documents, clone(pipe))


def test_where_leaves_documents_out(data, marked_rule):
    documents, scores = data
    counter = EventCounter(
        marked_rule,
        where=lambda document: document.date.year == 2004,
        freq="year",
        method="sample",
        random_state=0,
    )
    counts = counter.count(documents, scores)
    assert counts.periods == ["2004"]
    assert set(counts.n_documents) == {30}
    everything = counter.set_params(where=None).count(documents, scores)
    # and the others keep their samples
    chosen = everything.period == "2004"
    assert counts.mean.tolist() == everything.mean[chosen].tolist()


def test_countries_that_are_not_listed_still_exclude_entities(data, marked_rule):
    documents, scores = data
    everything = EventCounter(marked_rule, random_state=0).count(documents, scores)
    some = EventCounter(marked_rule, random_state=0, countries=["XXX", "BBB"])
    counts = some.count(documents, scores)
    assert counts.countries == ["XXX", "BBB"]
    own = everything.country == "BBB"
    assert counts.mean[1::2].tolist() == everything.mean[own].tolist()
    assert counts.map_count[1::2].tolist() == everything.map_count[own].tolist()
    assert counts.mean[::2].tolist() == [0.0] * len(counts.periods)
    assert {each.country for each in counts.uncertain_documents(0.5)} == {"BBB"}
    assert set(counts.probabilities()["country"]) == {"BBB"}


def test_a_country_that_the_rule_does_not_know_is_refused(generated):
    documents, _, scores = generated
    for code in ("UK", "ken"):
        counter = EventCounter(EventRule(), countries=["KEN", code])
        with pytest.raises(ValueError, match=f"Got {code!r}. Its codes are 'ABW'"):
            counter.count(documents, scores)


@pytest.mark.parametrize("kind", [tuple, np.array, pd.Series, set])
def test_countries_in_any_collection(generated, kind):
    documents, _, scores = generated
    counter = EventCounter(EventRule(), countries=kind(["FRA", "KEN", "NOR"]))
    counts = counter.count(documents[:9], scores[:9])
    assert repr(counts.countries) == "['FRA', 'KEN', 'NOR']"


# Random numbers


@pytest.mark.parametrize("method", ["sample", "auto"])
def test_processes_do_not_matter(generated, method, monkeypatch):
    documents, _, scores = generated
    settings = {"random_state": 5, "method": method, "unit": "entities"}
    expected = EventCounter(EventRule(), **settings).count(documents, scores)
    assert expected.monte_carlo_error.max() > 0
    found = EventCounter(EventRule(), n_jobs=2, **settings).count(documents, scores)
    same(found, expected)
    monkeypatch.setattr(_counter, "CHUNK", 7)
    same(EventCounter(EventRule(), **settings).count(documents, scores), expected)


@pytest.mark.slow
def test_a_pipeline_is_asked_in_two_processes_too(generated):
    documents, entities, _ = generated
    pipe = make_pipeline(AntecedentFeatures(2**10), AntecedentRanker(C=1.0))
    pipe.fit(documents, entities)
    expected = EventCounter(EventRule(), random_state=3).count(documents, pipe)
    assert expected.sd.max() > 0
    parallel = EventCounter(EventRule(), random_state=3, n_jobs=2)
    same(parallel.count(documents, pipe), expected)


def test_a_document_keeps_its_stream_when_more_follow(data, marked_rule):
    documents, scores = data
    counter = EventCounter(marked_rule, random_state=5, method="sample")
    few = counter.count(documents[:20], scores[:20]).probabilities()
    more = counter.count(documents, scores).probabilities()
    assert few["proba"] == more["proba"][: len(few["proba"])]
    other = counter.set_params(random_state=6).count(documents[:20], scores[:20])
    assert other.probabilities()["proba"] != few["proba"]


def test_a_generator_advances_and_a_seed_is_reused(data, marked_rule):
    documents, scores = data[0][:20], data[1][:20]
    rng = np.random.default_rng(0)
    counter = EventCounter(marked_rule, method="sample", random_state=rng)
    one, two = (counter.count(documents, scores).mean.tolist() for _ in range(2))
    assert one != two
    counter = EventCounter(marked_rule, method="sample", random_state=0)
    assert counter.count(documents, scores).mean.tolist() == one
    assert counter.count(documents, scores).mean.tolist() == one


def test_the_methods_agree(data, marked_rule):
    exact = EventCounter(marked_rule, method="exact", freq=None).count(*data)
    assert exact.monte_carlo_error.tolist() == [0, 0, 0]
    assert exact.sd.min() > 1
    for method in ("sample", "auto"):
        counter = EventCounter(
            marked_rule, method=method, freq=None, n_samples=400, random_state=0
        )
        counts = counter.count(*data)
        error = counts.monte_carlo_error
        assert (np.abs(counts.mean - exact.mean) < 4 * error).all()
        np.testing.assert_allclose(counts.sd, exact.sd, rtol=0.1)
        assert counts.map_count.tolist() == exact.map_count.tolist()
        if method == "sample":
            np.testing.assert_allclose(error, counts.sd / 20)
        else:
            assert (error < counts.sd / 20).all()


@pytest.mark.slow
def test_the_monte_carlo_error_is_the_spread_of_means(data, marked_rule):
    documents, scores = data[0][:25], data[1][:25]
    runs = [
        EventCounter(
            marked_rule, method="sample", n_samples=10, freq=None, random_state=seed
        ).count(documents, scores)
        for seed in range(50)
    ]
    spread = np.std([run.mean for run in runs], axis=0)
    stated = np.mean([run.monte_carlo_error for run in runs], axis=0)
    # the spread of 50 has a relative error of 0.1; ten samples a document give
    # variances that are a tenth too small
    np.testing.assert_allclose(stated / np.sqrt(0.9), spread, rtol=0.3)


# Documents of all kinds


def test_documents_without_mentions_or_sentences_count_nothing(make_document):
    class Strict:
        def evidence(self, document):
            raise AssertionError

    day = datetime.date(1990, 5, 1)
    documents = [make_document([], []), Document("empty", day)]
    counts = EventCounter(Strict()).count(documents, [np.zeros((0, 0))] * 2)
    assert counts.periods == ["1990Q1", "1990Q2"]
    assert len(counts) == 0
    assert "n_countries=0, n_periods=2 1990Q1 to 1990Q2, n_documents=2" in repr(counts)
    counts = EventCounter(Strict(), countries=["AAA"]).count(documents, [[], []])
    assert counts.mean.tolist() == [0, 0]
    assert counts.n_documents.tolist() == [1, 1]


def test_documents_with_sentences_but_no_mention_give_a_warning(generated):
    documents, scores = generated[0][:3], generated[-1][:3]
    bare = [dataclasses.replace(each, mentions=(), entities=()) for each in documents]
    with pytest.warns(UserWarning, match="None of the 3 documents has a mention"):
        counts = EventCounter(EventRule()).count(bare, [np.zeros((0, 0))] * 3)
    assert len(counts) == 0
    mixed = [documents[0], *bare[1:]]
    EventCounter(EventRule()).count(mixed, [scores[0], [], []])


@pytest.mark.parametrize(
    ("verbs", "message"),
    [
        (("attacked", "help"), "match no word: 'attacked'. Pass 'attack'"),
        (("bomb", "raid"), "No verb .* has a lemma in `verbs` .*: 'bomb', 'raid'"),
    ],
)
def test_event_verbs_without_a_word_give_a_warning(generated, verbs, message):
    with pytest.warns(UserWarning, match=message):
        EventCounter(EventRule(verbs)).count(generated[0][:20], generated[-1][:20])


def test_documents_without_a_date_are_left_out_as_the_error_says(generated):
    documents, scores = generated[0][:3], generated[-1][:3]
    undated = [documents[0], dataclasses.replace(documents[1], date=None), documents[2]]
    with pytest.raises(ValueError, match="where=lambda document: document.date is not"):
        EventCounter(EventRule()).count(undated, scores)
    counter = EventCounter(
        EventRule(), where=lambda document: document.date is not None
    )
    assert counter.count(undated, scores).n_documents.sum() >= 2


def test_inputs_stay_as_they_are(data, marked_rule):
    documents, scores = data
    copies = [matrix.copy() for matrix in scores]

    class Frozen:
        def evidence(self, document):
            evidence = marked_rule.evidence(document)
            evidence.agent.flags.writeable = False
            evidence.code.flags.writeable = False
            return evidence

    posterior = AntecedentPosterior(scores)
    before = [matrix.copy() for matrix in posterior.log_scores]
    counter = EventCounter(Frozen(), random_state=0)
    counter.count(documents, scores)
    counter.count(documents, posterior)
    for one, other in zip(scores + posterior.log_scores, copies + before, strict=True):
        np.testing.assert_array_equal(one, other)


def test_progress_is_shown_when_asked(data, marked_rule, capsys):
    EventCounter(marked_rule, n_samples=2, verbose=1).count(*data)
    lines = capsys.readouterr().out.splitlines()
    n = re.fullmatch(r"\[EventCounter\] 32 of (\d+) documents", lines[0]).group(1)
    assert lines[-1] == f"[EventCounter] {n} of {n} documents"
    EventCounter(marked_rule, n_samples=2).count(*data)
    assert capsys.readouterr().out == ""


# What is refused


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"rule": "attack"}, TypeError),
        ({"n_samples": 0}, ValueError),
        ({"n_samples": 1.5}, TypeError),
        ({"unit": "words"}, ValueError),
        ({"method": "mcmc"}, ValueError),
        ({"where": "news"}, TypeError),
        ({"countries": "USA"}, TypeError),
        ({"countries": 3}, TypeError),
        ({"countries": iter(["USA"])}, TypeError),
        ({"countries": [3]}, ValueError),
        ({"countries": [["USA"]]}, ValueError),
        ({"rule": EventRule}, TypeError),
        ({"random_state": -1}, ValueError),
        ({"verbose": -1}, ValueError),
        ({"freq": "decade"}, ValueError),
        ({"freq": 3}, TypeError),
    ],
)
def test_parameters_are_checked(data, marked_rule, params, error):
    (name,) = params
    counter = EventCounter(**{"rule": marked_rule, **params})
    with pytest.raises(error, match=f"'{name}' parameter of EventCounter must"):
        counter.count(*data)


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ("news", "must be a sequence of documents. Got str"),
        (Document("x"), "must be a sequence of documents. Got Document"),
        (3, "must be a sequence of documents. Got int"),
        ([Document("x"), "news"], "the class Document. Got str as document 1"),
    ],
)
def test_documents_are_checked(marked_rule, documents, message):
    with pytest.raises(TypeError, match=message):
        EventCounter(marked_rule).count(documents, [])


def test_posteriors_have_to_fit(data, marked_rule):
    documents, scores = data
    counter = EventCounter(marked_rule)
    with pytest.raises(ValueError, match="each of the 90 documents. Got 89"):
        counter.count(documents, scores[:-1])
    wrong = [*scores[:2], np.zeros((1, 1)), *scores[3:]]
    n = len(scores[2])
    message = f"Got 1 for the {n} mentions of document 2 ('news-2')"
    with pytest.raises(ValueError, match=re.escape(message)):
        counter.count(documents, wrong)
    believer = Believer({document.id: np.zeros((1, 1)) for document in documents}, [])
    with pytest.raises(ValueError, match="Got 1 for the .* mentions of document "):
        counter.count(documents, believer)
    with pytest.raises(TypeError, match="a posterior method. Got AntecedentFeatures"):
        counter.count(documents, AntecedentFeatures())
    for other in ("scores", {}, AntecedentRanker):
        with pytest.raises(TypeError, match="'posteriors' .* must be an Antecedent"):
            counter.count(documents, other)
    with pytest.raises(ValueError, match="'log_scores' .* document 1"):
        counter.count(documents[:2], [scores[0], np.full((2, 2), np.nan)])


def test_a_document_without_a_date_is_named(data, marked_rule, make_document):
    documents = [data[0][0], make_document([], [], date=None, name="when")]
    scores = [data[1][0], np.zeros((0, 0))]
    for freq in ("quarter", "month", "year", {"all": (datetime.date.min,) * 2}):
        with pytest.raises(ValueError, match=r"Got None for document 1 \('when'\)"):
            EventCounter(marked_rule, freq=freq, where=lambda d: d.id == "when").count(
                documents, scores
            )
    assert EventCounter(marked_rule, freq=None).count(documents, scores).periods == [
        "all"
    ]


def test_evidence_has_to_fit(data, marked_rule):
    class Short:
        def evidence(self, document):
            evidence = marked_rule.evidence(document)
            evidence.agent = evidence.agent[1:]
            return evidence

    with pytest.raises(ValueError, match="'rule' .* mentions of document 0"):
        EventCounter(Short()).count(*data)

    class More:
        def evidence(self, document):
            evidence = marked_rule.evidence(document)
            evidence.code = evidence.code + 1
            return evidence

    with pytest.raises(ValueError, match=r"'rule' .* from -2 to 2. Got \[.*3"):
        EventCounter(More()).count(*data)


def test_too_many_outcomes_are_refused_by_name(marked_rule, make_document, monkeypatch):
    from skcalib.events import _event_probability

    monkeypatch.setattr(_event_probability, "MANY_STEPS", 100)
    document = make_document([True] * 15, ["AAA", "BBB", None] * 5)
    scores = [np.zeros((15, 15))]
    with pytest.raises(ValueError, match=r"outcomes in document 0 \('news'\).*'auto'"):
        EventCounter(marked_rule, method="exact").count([document], scores)
