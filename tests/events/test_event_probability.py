"""Event probabilities of a document, against every clustering of small ones."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcalib.events import _event_probability
from skcalib.events._event_probability import (
    bounds,
    count_events,
    decided_outcomes,
    event_distribution,
    exact_outcomes,
    sampled_outcomes,
    uncertain_links,
)
from skcalib.posteriors._antecedent_posterior import pair_marginals

N_CODES = 3


def draw_case(rng, random_proba, zeros=0.3, n=None):
    n = int(rng.integers(1, 7)) if n is None else n
    agent = rng.random(n) < 0.5
    code = rng.choice([-2, -1, 0, 1, 2], size=n, p=[0.1, 0.3, 0.3, 0.2, 0.1])
    return random_proba(rng, n, zeros), agent, code


def table(rows, proba):
    found = {}
    for row, p in zip(rows.tolist(), proba.tolist(), strict=True):
        found[tuple(row)] = found.get(tuple(row), 0) + p
    return {key: p for key, p in found.items() if p > 0}


def same_tables(found, expected, tolerance=1e-12):
    for key in found.keys() | expected.keys():
        assert found.get(key, 0) == pytest.approx(expected.get(key, 0), abs=tolerance)


def clipped(expected):
    found = {}
    for key, p in expected.items():
        key = tuple(min(x, 1) for x in key)
        found[key] = found.get(key, 0) + p
    return found


def chances(expected):
    """Return the probability of an event of each actor."""
    return np.array(
        [sum(p for key, p in expected.items() if key[c]) for c in range(N_CODES)]
    )


@pytest.mark.parametrize("seed", range(40))
def test_chains_give_what_all_clusterings_give(seed, random_proba, every_count):
    rng = np.random.default_rng(seed)
    proba, agent, code = draw_case(rng, random_proba, zeros=rng.choice([0, 0.5]))
    expected = every_count(proba, agent, code, N_CODES)
    for entities in (True, False):
        found = exact_outcomes(proba, agent, code, N_CODES, entities, 10**6)
        assert found[1].sum() == pytest.approx(1, abs=1e-12)
        same_tables(table(*found), expected if entities else clipped(expected))


def star(agent_links, code):
    """Return the case of one agent after mentions with these codes.

    The agent joins mention k with probability `agent_links[k]`. Other mentions are
    entities of their own.
    """
    n = len(code)
    proba = np.eye(n + 1)
    proba[n] = [*agent_links, 1 - sum(agent_links)]
    agent = np.arange(n + 1) == n
    return proba, agent, np.array([*code, -1])


@pytest.mark.parametrize(
    ("links", "code", "expected"),
    [
        ([0.3, 0.5], [0, 0], [0.5, 0.8]),  # two mentions of the actor
        ([0.3, 0.5], [0, 1], [0.3, 0.3]),  # another actor, in another entity
        ([0.3, 0.5], [0, -2], [0.3, 0.3]),  # a mention of two actors
        ([0.3, 0.4, 0.2], [0, 1, 2], [0.3, 0.3]),
    ],
)
def test_bounds_by_hand(links, code, expected, as_log, every_count):
    proba, agent, code = star(links, code)
    low, high = bounds(pair_marginals(as_log(proba)), agent, code, N_CODES)
    assert [low[0], high[0]] == pytest.approx(expected)
    exact = chances(every_count(proba, agent, code, N_CODES))[0]
    assert exact in (pytest.approx(low[0]), pytest.approx(high[0]))


def chain(join, code):
    """Return mentions that each join the previous one with a probability.

    The last mention is the agent.
    """
    n = len(code)
    proba = np.diag(np.r_[1, 1 - np.array(join)]) + np.diag(join, -1)
    agent = np.arange(n) == n - 1
    return proba, agent, np.array(code)


def test_other_actors_lower_the_bounds(as_log, every_count):
    # The agent (mention 2) always joins mention 1, of actor 1. Mention 1 joins
    # mention 0, of actor 0, with probability 0.6. The entity of the agent always has a
    # mention of actor 1: it is never an event of actor 0.
    for code, expected in (([0, -1, -1], 0.6), ([0, 1, -1], 0.0)):
        proba, agent, code = chain([0.6, 1.0], code)
        low, high = bounds(pair_marginals(as_log(proba)), agent, code, N_CODES)
        exact = chances(every_count(proba, agent, code, N_CODES))
        assert exact[0] == pytest.approx(expected)
        assert (low[0], high[0]) == pytest.approx((expected, expected))
    # Actor 1 joins the entity of actor 0 and the agent with probability 0.25 x 0.6:
    # the bounds are 0.6 - 0.15 and the smaller of 0.6 and 1 - 0.25.
    proba = np.array([[1, 0, 0, 0], [0.25, 0.75, 0, 0], [0.6, 0, 0.4, 0], [0, 0, 1, 0]])
    agent, code = np.arange(4) == 3, np.array([0, 1, -1, -1])
    pairs = pair_marginals(as_log(proba))
    low, high = bounds(pairs, agent, code, N_CODES)
    assert pairs[3, 1] == pytest.approx(0.15)
    exact = chances(every_count(proba, agent, code, N_CODES))
    assert exact[0] == pytest.approx(0.45)
    assert (low[0], high[0]) == pytest.approx((0.45, 0.6))


@given(st.integers(0, 2**32))
def test_bounds_fall_with_each_other_actor(random_proba, as_log, every_count, seed):
    rng = np.random.default_rng(seed)
    proba, agent, code = draw_case(rng, random_proba)
    agent[rng.integers(agent.size)] = True
    pairs = pair_marginals(as_log(proba))
    code[code != 0] = -1
    low, high = bounds(pairs, agent, code, N_CODES)
    for k in np.flatnonzero(code == -1):
        code[k] = rng.choice([1, 2, -2])
        new_low, new_high = bounds(pairs, agent, code, N_CODES)
        assert new_low[0] <= low[0] + 1e-12
        assert new_high[0] <= high[0] + 1e-12
        exact = chances(every_count(proba, agent, code, N_CODES))[0]
        assert new_low[0] - 1e-12 <= exact <= new_high[0] + 1e-12
        low, high = new_low, new_high


@given(st.integers(0, 2**32), st.sampled_from([0, 0.3, 0.7, 0.95]))
def test_bounds_contain_the_probability(random_proba, as_log, every_count, seed, zeros):
    rng = np.random.default_rng(seed)
    proba, agent, code = draw_case(rng, random_proba, zeros)
    agent[rng.integers(agent.size)] = True
    exact = chances(every_count(proba, agent, code, N_CODES))
    low, high = bounds(pair_marginals(as_log(proba)), agent, code, N_CODES)
    assert (low >= 0).all()
    assert (high <= 1).all()
    assert (low <= high).all()
    assert (low <= exact + 1e-12).all()
    assert (exact <= high + 1e-12).all()


@given(st.integers(0, 2**32), st.sampled_from([0.3, 0.7, 0.95]), st.booleans())
def test_outcomes_determined_by_bounds_are_exact(
    random_proba, as_log, every_count, seed, zeros, entities
):
    rng = np.random.default_rng(seed)
    proba, agent, code = draw_case(rng, random_proba, zeros)
    agent[rng.integers(agent.size)] = True
    low, high = bounds(pair_marginals(as_log(proba)), agent, code, N_CODES)
    found = decided_outcomes(low, high, agent.sum(), entities)
    if found is not None:
        expected = every_count(proba, agent, code, N_CODES)
        same_tables(table(*found), expected if entities else clipped(expected), 1e-9)


def test_one_agent_and_one_actor_are_decided(random_proba, as_log):
    rng = np.random.default_rng(0)
    proba = random_proba(rng, 30, 0)
    agent, code = np.zeros(30, dtype=bool), np.full(30, -1)
    agent[25], code[4] = True, 0
    pairs = pair_marginals(as_log(proba))
    rows, p = decided_outcomes(*bounds(pairs, agent, code, 1), 1, False)
    assert table(rows, p)[1,] == pytest.approx(pairs[25, 4])


def test_agents_of_one_country_alone_are_certain(random_proba, as_log):
    proba = random_proba(np.random.default_rng(0), 30, 0)
    agent = np.arange(30) % 4 == 0
    code = np.where(np.arange(30) == 8, 0, -1)
    law = event_distribution(
        as_log(proba),
        agent,
        code,
        1,
        entities=False,
        method="auto",
        n_samples=10,
        rng=None,
    )
    assert law.exact
    assert table(law.outcome, law.proba) == {(1,): 1}
    assert law.low == law.high == [1]


def test_samples_come_near_the_exact_distribution(random_proba, every_count):
    rng = np.random.default_rng(3)
    proba, agent, code = draw_case(rng, random_proba, 0, n=6)
    n = 40_000
    expected = every_count(proba, agent, code, N_CODES)
    assert len(expected) > 3
    found = sampled_outcomes(proba, agent, code, N_CODES, True, n, rng)
    same_tables(table(*found), expected, 4 * np.sqrt(0.25 / n))


def test_blocks_of_samples_do_not_matter(random_proba, monkeypatch):
    rng = np.random.default_rng(5)
    proba, agent, code = draw_case(rng, random_proba, 0, n=6)
    args = proba, agent, code, N_CODES, True, 1000
    expected = sampled_outcomes(*args, np.random.default_rng(1))
    monkeypatch.setattr(_event_probability, "BLOCK", 60)
    found = sampled_outcomes(*args, np.random.default_rng(1))
    same_tables(table(*found), table(*expected))
    # at most a row for each different outcome is held
    assert len(found[0]) == len(expected[0]) < 30


def test_more_samples_take_no_more_memory(random_proba, monkeypatch):
    monkeypatch.setattr(_event_probability, "BLOCK", 2**14)
    rng = np.random.default_rng(5)
    proba, agent, code = draw_case(rng, random_proba, 0, n=40)
    agent[0], code[1] = True, 0
    peak = []
    for n_samples in (800, 800, 8000):
        tracemalloc.start()
        sampled_outcomes(proba, agent, code, N_CODES, False, n_samples, rng)
        peak.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peak[2] < 1.2 * peak[1]


def test_events_of_given_clusterings():
    agent = np.array([True, False, False, True, False, False])
    code = np.array([-1, 0, 1, 1, 0, -2])
    labels = np.array(
        [
            [0, 0, 2, 3, 4, 5],  # {agent, A}, {B}, {agent B}, {A}, {two}
            [0, 0, 0, 3, 3, 5],  # {agent, A, B}, {agent B, A}
            [0, 1, 2, 3, 4, 3],  # {agent}, ..., {agent B, two}
            [0, 0, 2, 2, 0, 5],  # {agent, A, A}, {B, agent B}
            [0, 1, 0, 3, 3, 5],  # {agent, B}, {agent B, A}
            [0, 1, 0, 3, 4, 5],  # {agent, B}, {agent B}
        ]
    )
    found = count_events(labels, agent, code, 2)
    assert found.tolist() == [[1, 1], [0, 0], [0, 0], [1, 1], [0, 1], [0, 2]]


def test_mentions_after_the_last_relevant_one_have_no_effect(random_proba, as_log):
    rng = np.random.default_rng(8)
    proba = random_proba(rng, 12, 0)
    agent, code = np.zeros(12, dtype=bool), np.full(12, -1)
    agent[[3, 5]], code[[1, 4]] = True, [0, 1]
    settings = {"entities": True, "n_samples": 50}
    for method in ("sample", "auto", "exact"):
        laws = [
            event_distribution(
                as_log(proba[:n, :n]),
                agent[:n],
                code[:n],
                2,
                method=method,
                rng=np.random.default_rng(0),
                **settings,
            )
            for n in (6, 12)
        ]
        assert laws[0].exact == laws[1].exact == (method != "sample")
        same_tables(*(table(law.outcome, law.proba) for law in laws), 0)


def test_what_is_too_hard_is_sampled_or_refused(random_proba, as_log, monkeypatch):
    monkeypatch.setattr(_event_probability, "FEW_STEPS", 50)
    monkeypatch.setattr(_event_probability, "MANY_STEPS", 50)
    proba = random_proba(np.random.default_rng(0), 20, 0)
    agent, code = np.arange(20) % 2 == 0, np.arange(20) % 4 - 1
    args = as_log(proba), agent, code, 3
    settings = {"entities": False, "n_samples": 100}
    rng = np.random.default_rng(0)
    assert event_distribution(*args, method="exact", rng=rng, **settings) is None
    law = event_distribution(*args, method="auto", rng=rng, **settings)
    assert not law.exact
    assert (law.proba * 100 == np.rint(law.proba * 100)).all()


def test_the_recursion_is_fast_for_a_long_certain_chain(as_log):
    n = 3000
    proba = np.eye(n, k=-1)
    proba[0, 0] = 1
    agent, code = np.zeros(n, dtype=bool), np.full(n, -1)
    agent[-1], code[0] = True, 0
    rows, p = exact_outcomes(proba, agent, code, 1, True, 10**5)
    assert table(rows, p) == {(1,): 1}


def test_the_links_that_decide_come_first():
    # an agent, its likely country, one that may spoil it, another agent far away
    pairs = np.array(
        [[1, 0.5, 0.1, 0.0], [0.5, 1, 0.1, 0.0], [0.1, 0.1, 1, 0.0], [0.0, 0.0, 0.0, 1]]
    )
    agent = np.array([True, False, False, True])
    code = np.array([-1, 0, 1, -1])
    first, second = uncertain_links(pairs, agent, code, 2)
    assert first == ((0, 1, 0.5), (0, 2, 0.1))
    # for the second country: 0.09 of its own link, 0.1 * 0.25 of the spoiling one
    assert second == ((0, 2, 0.1), (0, 1, 0.5))
