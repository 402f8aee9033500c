"""Events of one document as a distribution, and distributions of sums of counts.

Mentions have the numbers 0 to n - 1. `agent` (n,) is whether a mention is an agent of
an event. `code` (n,) is the number of a mention's actor, from 0, or NONE, or SPOILED if
the mention has several actors. An entity counts as an event of actor c if it has an
agent, a mention of c, and no mention of another actor. The file begins with the results
that methods of EventCounts return.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .._results import Result, object_array, p_text, plain
from ..posteriors._antecedent_posterior import (
    draw_labels,
    follow,
    pair_marginals,
    softmax,
)


class CountComparison(float, Result):
    """Posterior probability that one count exceeds another.

    :meth:`EventCounts.compare` returns it. The object is a float whose value is
    `greater`.

    Attributes
    ----------
    greater : float
        Probability that the count of `first` is greater.
    equal : float
        Probability that the counts are equal.
    less : float
        Probability that the count of `first` is smaller.
    mean_difference : float
        Mean difference, the count of `first` minus the count of `second`.
    first, second : str
        Codes of the actors.
    period : label
        Period of the counts. If None, the counts are totals over all periods.

    See Also
    --------
    EventCounts.compare : Compare two counts.

    Examples
    --------
    >>> from skcalib.datasets import make_event_documents
    >>> from skcalib.events import EventCounter, EventRule
    >>> documents, _, scores = make_event_documents(
    ...     60, return_scores=True, random_state=0
    ... )
    >>> counts = EventCounter(EventRule(), random_state=0).count(documents, scores)
    >>> comparison = counts.compare("NOR", "KEN")
    >>> comparison > 0.9
    True
    >>> round(comparison.equal, 3), round(comparison.less, 3)
    (0.038, 0.026)
    """

    greater: float
    equal: float
    less: float
    mean_difference: float
    first: str
    second: str
    period: Hashable

    def __new__(
        cls,
        greater: float,
        equal: float,
        less: float,
        mean_difference: float,
        first: str,
        second: str,
        period: Hashable,
    ) -> CountComparison:
        self = super().__new__(cls, greater)
        self.greater, self.equal, self.less = greater, equal, less
        self.mean_difference = mean_difference
        self.first, self.second, self.period = first, second, period
        return self

    def __getnewargs__(self) -> tuple:
        # Copies and pickles call __new__ with these arguments.
        return tuple(self.to_dict().values())

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as a dict."""
        return dict(vars(self))

    def _in_words(self) -> tuple[str, ...]:
        when = "" if self.period is None else f" in period {self.period}"
        return (
            f"The count of {self.first}{when} exceeds that of {self.second} with "
            f"probability {float(self):.3f}.",
        )

    def __repr__(self) -> str:
        when = "" if self.period is None else f", period={self.period!r}"
        return (
            f"CountComparison({self.first} > {self.second}: {float(self):.3f}, "
            f"equal: {self.equal:.3f}, less: {self.less:.3f}, mean difference "
            f"{self.mean_difference:.2f}{when})"
        )


@dataclass(frozen=True, repr=False)
class PeriodComparison(Result):
    """Difference of the counts of two periods, for all actors and for each.

    :meth:`EventCounts.compare_periods` and
    :meth:`CorrectedEventCounts.compare_periods` return it. The first entry of the
    arrays is the sum of all actors. The differences are those of the counts in this
    corpus: one certain event in a period and none in the other are a difference, but
    say little about other documents of these periods.

    Attributes
    ----------
    country : ndarray of shape (n_actors + 1,), object
        None for the sum of all actors, and the code of each actor.
    estimate : ndarray of shape (n_actors + 1,)
        Count of `first` minus count of `second`, per month unless `months` is None.
    low, high : ndarray of shape (n_actors + 1,)
        Ends of the intervals of the differences.
    pvalue : ndarray of shape (n_actors + 1,)
        Two-sided p-values of equal counts.
    pvalue_adjusted : ndarray of shape (n_actors + 1,)
        P-values of the actors, adjusted for their number by Holm's method. The p-value
        of the sum is not adjusted.
    first, second : label
        The two periods.
    months : tuple of two floats, or None
        Months of both periods, if they differ. If None, the counts of whole periods are
        compared.
    confidence_level : float
        Confidence level of each interval. The intervals are not adjusted.

    See Also
    --------
    EventCounts.compare_periods : Compare posterior counts.
    CorrectedEventCounts.compare_periods : Compare corrected counts.

    Examples
    --------
    >>> from skcalib.datasets import make_event_documents
    >>> from skcalib.events import EventCounter, EventRule
    >>> documents, _, scores = make_event_documents(
    ...     80, n_days=181, return_scores=True, random_state=0
    ... )
    >>> counts = EventCounter(EventRule(), random_state=0).count(documents, scores)
    >>> found = counts.compare_periods("1990Q1", "1990Q2")
    >>> found
    PeriodComparison(1990Q1 - 1990Q2: 2.16 [-6, 10], pvalue=0.67, n_actors=4)
    """

    country: np.ndarray
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    pvalue: np.ndarray
    pvalue_adjusted: np.ndarray
    first: Hashable
    second: Hashable
    months: tuple[float, float] | None
    confidence_level: float

    def _columns(self) -> dict[str, np.ndarray]:
        columns = {k: v for k, v in vars(self).items() if isinstance(v, np.ndarray)}
        # Tables show None as a missing name.
        return {**columns, "country": object_array(["all actors", *self.country[1:]])}

    def to_dict(self) -> dict[str, Any]:
        """Return the differences as lists, with both periods and the settings."""
        return {name: plain(value) for name, value in vars(self).items()}

    def _lengths(self) -> str:
        if self.months is None:
            return ""
        one, other = (f"{n:.3g}" for n in self.months)
        return f" per month ({one} and {other} months)"

    def _uncertainty(self, interval: str, mark: str) -> str:
        """Return the interval of all actors and the p-value; `mark` is before it."""
        low, high, p = (float(x[0]) for x in (self.low, self.high, self.pvalue))
        if low == high:
            return "without uncertainty"
        if np.isnan(low):
            return "without interval"
        return f"{interval.format(low, high)}{p_text(p, '.2g', before=mark)}"

    def _in_words(self) -> tuple[str, ...]:
        level = f"{100 * self.confidence_level:g}%"
        shown = self.country[1:][self.pvalue_adjusted[1:] <= 1 - self.confidence_level]
        actors = ", ".join(map(str, shown))
        found = f"a difference for {actors}" if actors else "no difference for any"
        interval = f"with a {level} interval of {{:.3g}} to {{:.3g}}, "
        said = self._uncertainty(interval, "p = ")
        return (
            f"The count of {self.first} minus that of {self.second}{self._lengths()} "
            f"is {self.estimate[0]:.3g} for all actors, {said}.",
            f"After Holm's correction for {self.country.size - 1} actors, the p-values "
            f"show {found}.",
        )

    def __repr__(self) -> str:
        said = self._uncertainty("[{:.3g}, {:.3g}], ", "pvalue=")
        return (
            f"PeriodComparison({self.first} - {self.second}{self._lengths()}: "
            f"{self.estimate[0]:.3g} {said}, n_actors={self.country.size - 1})"
        )


@dataclass(frozen=True)
class UncertainLink:
    """Link between an agent and another mention, with its probability.

    Attributes
    ----------
    agent, other : int
        Indices of both mentions in the document.
    agent_text, other_text : str
        Words of both mentions.
    proba : float
        Exact probability that both mentions are coreferent.

    See Also
    --------
    UncertainDocument : Document with its uncertain links.

    Examples
    --------
    >>> from skcalib.datasets import make_event_documents
    >>> from skcalib.events import EventCounter, EventRule
    >>> documents, _, scores = make_event_documents(
    ...     20, return_scores=True, random_state=0
    ... )
    >>> counts = EventCounter(EventRule(), random_state=0).count(documents, scores)
    >>> link = counts.uncertain_documents(0.05)[0].links[0]
    >>> link.agent_text, link.other_text, round(link.proba, 2)
    ('The soldiers', 'Bolivian soldiers', 0.42)
    """

    agent: int
    other: int
    agent_text: str
    other_text: str
    proba: float


@dataclass(frozen=True)
class UncertainDocument:
    """Document with an uncertain event, and the links on which the event depends.

    :meth:`EventCounts.uncertain_documents` returns it.

    Attributes
    ----------
    document : int
        Index of the document in the `documents` passed to :meth:`EventCounter.count`.
    id : str or None
        Name of the document.
    period : label
        Period of the document.
    country : str
        Code of the actor.
    proba : float
        Probability that the actor is the agent of an event in the document.
    low, high : float
        Bounds on this probability, computed without sampling.
    links : tuple of UncertainLink
        Up to three relevant links, the most uncertain link first. A relevant link
        connects an agent with a mention of this actor or with a mention of another
        actor. Links with other actors are relevant because an entity with a mention of
        another actor is not counted. The tuple can be empty if several parses were
        given and the event depends on the parse only.

    See Also
    --------
    EventCounts : Counts of events.

    Examples
    --------
    >>> from skcalib.datasets import make_event_documents
    >>> from skcalib.events import EventCounter, EventRule
    >>> documents, _, scores = make_event_documents(
    ...     20, return_scores=True, random_state=0
    ... )
    >>> counts = EventCounter(EventRule(), random_state=0).count(documents, scores)
    >>> for each in counts.uncertain_documents(0.05):
    ...     link = each.links[0]
    ...     print(each.country, round(each.proba, 2), link.agent_text, link.other_text)
    BOL 0.51 The soldiers Bolivian soldiers
    KEN 0.51 The officials Kenyan officials
    KEN 0.49 They Kenyan soldiers
    """

    document: int
    id: str | None
    period: Hashable
    country: str
    proba: float
    low: float
    high: float
    links: tuple[UncertainLink, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as a dict, with a dict for each link."""
        return asdict(self)


NONE, SPOILED = -1, -2

BLOCK = 2**20  # labels in memory at a time
ROUNDING = 1e-11

# Maximum steps of the exact recursion for method 'auto' (as fast as sampling) and for
# method 'exact' (some seconds).
FEW_STEPS, MANY_STEPS = 1_000, 2_000_000

# Number of links that are stored for each actor.
N_LINKS = 3

# (rows, proba) of a distribution over vectors of counts.
Outcomes = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True)
class Distribution:
    """Distribution of the events of one document.

    outcome : (m, n_codes), different counts of events of each actor.
    proba : (m,), their probabilities.
    low, high : (n_codes,), bounds of the probability of an event of each actor.
    best : (n_codes,), counts with the best antecedents.
    exact : whether `proba` is exact rather than estimated from samples.
    link : tuples (agent, other mention, probability of one entity) for each actor.
    parts : (2, n_codes), variances due to the parse, and due to its interaction with
        coreference.
    n_trees : number of sampled parses.
    """

    outcome: np.ndarray
    proba: np.ndarray
    low: np.ndarray
    high: np.ndarray
    best: np.ndarray
    exact: bool
    link: tuple[tuple[tuple[int, int, float], ...], ...]
    parts: np.ndarray
    n_trees: int


def event_distribution(
    scores: np.ndarray,
    agent: np.ndarray,
    code: np.ndarray,
    n_codes: int,
    n_equal: np.ndarray | None = None,
    *,
    entities: bool,
    method: str,
    n_samples: int,
    rng: np.random.Generator,
) -> Distribution | None:
    """Return the distribution of the events of a document, or None if it is too hard.

    scores : (n, n), log scores of antecedents, -inf above the diagonal. If `entities`
    is True, the number of entities is counted. Otherwise, the count is 1 if there is at
    least one entity. A document can be too hard only with ``method='exact'``.

    If `n_equal` is given, `agent` and `code` have a row for each different evidence of
    the parses, first of the document's own parse, and `n_equal` is the number of
    sampled parses with this evidence. The distribution is a mixture over these parses.
    """
    agent, code = np.atleast_2d(agent), np.atleast_2d(code)
    # mentions after the last relevant one cannot join earlier entities
    n = int(np.flatnonzero((agent | (code != NONE)).any(axis=0))[-1]) + 1
    scores, agent, code = scores[:n, :n], agent[:, :n], code[:, :n]
    proba = softmax(scores)
    pairs = pair_marginals(scores)
    labels = follow(scores.argmax(axis=1))
    best = count_events(labels[np.newaxis], agent[0], code[0], n_codes)[0]
    times = np.ones(1, dtype=np.intp) if n_equal is None else n_equal
    used = times > 0  # no sampled parse may be like the document's own parse
    agent, code, weight = agent[used], code[used], times[used] / times.sum()
    ends = [bounds(pairs, *each, n_codes) for each in zip(agent, code, strict=True)]
    low, high = (weight @ each for each in map(np.array, zip(*ends, strict=True)))
    links = uncertain_links(pairs, agent, code, n_codes, weight)
    is_single = weight.size == 1
    case = proba, agent, code, n_codes, entities
    outcomes = None
    if method != "sample" and is_single:
        outcomes = decided_outcomes(low, high, int(agent.sum()), entities)
    if outcomes is None and method == "exact":
        outcomes = exact_outcomes(*case, MANY_STEPS)
        if outcomes is None:
            return None
    # A chain through all mentions takes at least one step for each possible link.
    elif outcomes is None and method == "auto" and np.count_nonzero(proba) <= FEW_STEPS:
        outcomes = exact_outcomes(*case, FEW_STEPS)
    exact = outcomes is not None
    if outcomes is None:
        outcomes = sampled_outcomes(*case, n_samples, rng)
    parts = np.zeros((2, n_codes))
    if not is_single:
        parts = variance_parts(*outcomes, weight)
        outcomes = mixture(*outcomes, weight)
    best = best if entities else np.minimum(best, 1)
    n_trees = int(times.sum())
    return Distribution(*outcomes, low, high, best, exact, links, parts, n_trees)


def mixture(rows: np.ndarray, proba: np.ndarray, weight: np.ndarray) -> Outcomes:
    """Return the distribution of counts over parses.

    rows : (m, n_parses * n_codes), counts given each parse, for the same clusterings.
    weight : (n_parses,), probabilities of the parses.
    """
    found = rows.reshape(len(rows) * weight.size, -1)
    found, place = np.unique(found, axis=0, return_inverse=True)
    return found, np.bincount(place.ravel(), np.outer(proba, weight).ravel())


def variance_parts(
    rows: np.ndarray, proba: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Return the variances due to the parse, and due to its interaction.

    The arguments are those of `mixture`. Returns (2, n_codes). The rest of the variance
    is due to coreference.
    """
    counts = rows.reshape(len(rows), weight.size, -1)
    of_parse = np.tensordot(proba, counts, 1)
    of_clustering = np.tensordot(weight, counts, (0, 1))
    effect = of_parse - weight @ of_parse
    rest = (counts - of_clustering[:, np.newaxis]) - effect
    return np.array([weight @ effect**2, weight @ np.tensordot(proba, rest**2, 1)])


def bounds(
    pairs: np.ndarray, agent: np.ndarray, code: np.ndarray, n_codes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds on the probability of an event of each actor.

    pairs : (n, n), probability that both mentions are in one entity. The upper bound is
    the sum over agents of a bound on the probability that the entity of the agent has a
    mention of the actor and no mention of another actor. The lower bound is the largest
    bound on the probability that an agent and a mention of the actor are in one entity
    without any mention of another actor.
    """
    marked = np.flatnonzero(code != NONE)
    meets = pairs[np.ix_(agent, marked)]
    among = pairs[np.ix_(marked, marked)]
    low, high = np.zeros(n_codes), np.zeros(n_codes)
    for c in range(n_codes):
        # Mentions without an actor do not matter; mentions of several spoil an entity.
        own = code[marked] == c
        others = meets[:, ~own]
        clean = 1 - others.max(axis=1, initial=0)
        # theory, (E2)
        high[c] = min(1, np.minimum(meets[:, own].sum(axis=1), clean).sum())
        # A mention of the actor in one entity with the agent is an event, unless a
        # mention of another actor is in the entity too: at most the sum of the chances.
        for m in np.flatnonzero(own):
            both = meets[:, m, np.newaxis]
            spoiled = np.minimum(np.minimum(others, among[m, ~own]), both)
            least = both[:, 0] - spoiled.sum(axis=1)
            low[c] = max(low[c], least.max(initial=0))
    return np.minimum(low, high), high


def decided_outcomes(
    low: np.ndarray, high: np.ndarray, n_agents: int, entities: bool
) -> Outcomes | None:
    """Return the distribution if it is determined by the bounds, otherwise None.

    With one agent there is at most one event, so the bounds are probabilities of
    outcomes. With several agents the outcome is known if at most one actor is
    uncertain.
    """
    if (high - low > ROUNDING).any():
        return None
    # The bounds agree: each actor has an event for sure, never, or with this chance.
    sure = low >= 1 - ROUNDING
    open_ = np.flatnonzero(~sure & (high > ROUNDING))
    if n_agents > 1 and (entities or open_.size > 1):
        return None
    rows = np.tile(sure.astype(np.intp), (open_.size + 1, 1))
    rows[np.arange(open_.size), open_] = 1
    # One agent is in one entity, so the events of different actors exclude each other.
    proba = (low + high)[open_] / 2
    return rows, np.append(proba, max(1 - proba.sum(), 0))


def exact_outcomes(
    proba: np.ndarray,
    agent: np.ndarray,
    code: np.ndarray,
    n_codes: int,
    entities: bool,
    max_steps: int,
) -> Outcomes | None:
    """Return the distribution by chains of antecedents, from the last mention down.

    A state consists of the mentions at which chains have arrived, the agent and the
    actor that each chain has met, and the events so far. Chains that meet are merged.
    None is returned if more than `max_steps` steps are needed.

    If `agent` and `code` have a row for each parse, a chain has met an agent and an
    actor in each parse, and the counts given the parses follow each other.
    """
    support = [np.flatnonzero(row) for row in proba]
    agents, codes = np.atleast_2d(agent), np.atleast_2d(code)
    n_parses = len(agents)
    agents_before = np.r_[0, np.cumsum(agents.any(axis=0))]
    actors_before = np.r_[0, np.cumsum((codes >= 0).any(axis=0))]
    # what each mention is, in each parse
    met_by = zip(agents.T.tolist(), codes.T.tolist(), strict=True)
    owns: list[Met] = [tuple(zip(*each, strict=True)) for each in met_by]
    empty: Met = ((False, NONE),) * n_parses
    # (chains, counts): probability
    states: dict[Any, float] = {((), ((0,) * n_codes,) * n_parses): 1.0}
    steps = 0
    for j in reversed(range(len(proba))):
        after: dict[Any, float] = defaultdict(float)
        own = owns[j]
        for (chains, counts), mass in states.items():
            met = own
            if chains and chains[0][0] == j:
                met, chains = _merge(own, chains[0][1]), chains[1:]
            # A chain without evidence cannot become an event: its antecedent is summed
            # out at once.
            if met == empty:
                after[chains, counts] += mass
                continue
            steps += support[j].size
            if steps > max_steps:
                return None
            for k in support[j].tolist():
                # The mention itself as its antecedent begins an entity: the chain ends.
                if k == j:
                    key = chains, _close(met, counts, entities)
                else:
                    key = _attach(chains, k, met), counts
                after[key] += mass * proba[j, k]
        has_agents, has_actors = agents_before[j] > 0, actors_before[j] > 0
        # States that differ only in chains without consequences become one.
        states = defaultdict(float)
        for (chains, counts), mass in after.items():
            states[_live(chains, has_agents, has_actors), counts] += mass
    rows = np.array([counts for _, counts in states], dtype=np.intp)
    masses = np.array(list(states.values()))
    return rows.reshape(len(rows), -1), masses / masses.sum()


# per parse: whether there is an agent, and the actor; the counts
Met = tuple[tuple[bool, int], ...]
Counts = tuple[tuple[int, ...], ...]
Chains = tuple[tuple[int, Met], ...]


def _merge(one: Met, other: Met) -> Met:
    merged = []
    for (agent, c), (other_agent, d) in zip(one, other, strict=True):
        # Two different actors, or a spoiled chain and an actor, spoil the entity.
        if c == NONE:
            c = d
        elif d not in (NONE, c):
            c = SPOILED
        merged.append((agent or other_agent, c))
    return tuple(merged)


def _attach(chains: Chains, k: int, met: Met) -> Chains:
    """Return the chains, last mentions first, with an additional chain at mention k."""
    for i, (at, before) in enumerate(chains):
        if at == k:
            return (*chains[:i], (k, _merge(before, met)), *chains[i + 1 :])
        if at < k:
            return (*chains[:i], (k, met), *chains[i:])
    return (*chains, (k, met))


def _close(met: Met, counts: Counts, entities: bool) -> Counts:
    closed = []
    for (has_agent, c), own in zip(met, counts, strict=True):
        if has_agent and c >= 0:
            # A document counts once, however many of its entities are events.
            own = (*own[:c], own[c] + 1 if entities else 1, *own[c + 1 :])
        closed.append(own)
    return tuple(closed)


def _live(chains: Chains, has_agents: bool, has_actors: bool) -> Chains:
    """Return the chains, or no chains if none of them can become an event."""
    for of_parse in zip(*(met for _, met in chains), strict=True):
        with_agent = has_agents or any(has_agent for has_agent, _ in of_parse)
        if with_agent and (has_actors or any(c >= 0 for _, c in of_parse)):
            return chains
    return ()


def sampled_outcomes(
    proba: np.ndarray,
    agent: np.ndarray,
    code: np.ndarray,
    n_codes: int,
    entities: bool,
    n_samples: int,
    rng: np.random.Generator,
) -> Outcomes:
    """Return the distribution over sampled clusterings.

    If `agent` and `code` have a row for each parse, each clustering is combined with
    each parse, and the counts given the parses follow each other.
    """
    n = len(proba)
    agent, code = np.atleast_2d(agent), np.atleast_2d(code)
    relevant = (agent | (code != NONE)).any(axis=0)
    relevant[-1] = True  # there may be no evidence, if another parse has all of it
    agent, code = agent[:, relevant], code[:, relevant]
    # Samples are drawn in blocks, and only distinct counts are kept.
    step = max(1, BLOCK // n)
    rows = np.zeros((0, n_codes * len(agent)), dtype=np.intp)
    times = np.zeros(0, dtype=np.intp)
    for i in range(0, n_samples, step):
        labels = draw_labels(proba, rng.random((min(step, n_samples - i), n)))
        labels = labels[relevant].T
        parses = zip(agent, code, strict=True)
        counts = np.hstack([count_events(labels, *each, n_codes) for each in parses])
        if not entities:
            counts = np.minimum(counts, 1)
        weight = np.r_[times, np.ones(len(counts), dtype=np.intp)]
        rows, place = np.unique(np.r_[rows, counts], axis=0, return_inverse=True)
        # numpy 2.0 gives the places as a column
        times = np.bincount(place.ravel(), weight).astype(np.intp)
    return rows, times / n_samples


def count_events(
    labels: np.ndarray, agent: np.ndarray, code: np.ndarray, n_codes: int
) -> np.ndarray:
    """Return the number of entities that are events of each actor, in each sample.

    labels : (n_samples, n), equal for mentions of one entity. Returns (n_samples,
    n_codes).
    """
    n_samples, n = labels.shape
    entity = labels + (int(labels.max()) + 1) * np.arange(n_samples)[:, np.newaxis]
    # Sorting puts the mentions of an entity of one sample side by side.
    order = np.argsort(entity, axis=None, kind="stable")
    sample, mention = np.divmod(order, n)
    starts = np.flatnonzero(np.diff(entity.ravel()[order], prepend=-1))
    has_agent = np.logical_or.reduceat(agent[mention], starts)
    most = np.maximum.reduceat(code[mention], starts)
    # mentions of no actor get a number above all actors, so they are not the smallest
    least = np.minimum.reduceat(np.where(code == NONE, n_codes, code)[mention], starts)
    # One actor: the smallest and the largest number are equal. SPOILED is the smallest.
    event = has_agent & (most >= 0) & (least == most)
    cell = sample[starts[event]] * n_codes + most[event]
    return np.bincount(cell, minlength=n_samples * n_codes).reshape(n_samples, n_codes)


def uncertain_links(
    pairs: np.ndarray,
    agent: np.ndarray,
    code: np.ndarray,
    n_codes: int,
    weight: np.ndarray | None = None,
) -> tuple[tuple[tuple[int, int, float], ...], ...]:
    """Return the most uncertain relevant links of agents, for each actor.

    A link to a mention of another actor is weighted by the probability that the agent
    belongs to the actor. If `agent` and `code` have a row for each parse, a link is
    also weighted by the probability, `weight`, of the parses in which it is relevant.
    """
    agent, code = np.atleast_2d(agent), np.atleast_2d(code)
    shares = np.ones(1) if weight is None else weight
    agents = np.flatnonzero(agent.any(axis=0))
    marked = np.flatnonzero((code != NONE).any(axis=0))
    meets = pairs[np.ix_(agents, marked)]
    doubt = meets * (1 - meets)
    found = []
    for c in range(n_codes):
        total = np.zeros_like(doubt)
        for share, is_agent, actor in zip(shares, agent, code, strict=True):
            own = actor[marked] == c
            nearest = meets[:, own].max(axis=1, initial=0, keepdims=True)
            relevant = is_agent[agents, np.newaxis] & (actor[marked] != NONE)
            total += share * relevant * np.where(own, 1, nearest) * doubt
        # p (1 - p) is largest at 1/2.
        most = np.argsort(-total, axis=None, kind="stable")[:N_LINKS]
        links = [
            (int(agents[i]), int(marked[m]), float(meets[i, m]))
            for i, m in zip(*np.divmod(most, marked.size), strict=True)
            if total[i, m] > ROUNDING
        ]
        found.append(tuple(links))
    return tuple(found)


SUM_ROUNDING = 1e-12  # tolerance for sums of probabilities


@dataclass(frozen=True, slots=True)
class DocumentEvents:
    """Events of one document, small enough to be sent between processes.

    `countries` are the codes of the columns of `distribution`. `texts` are the words of
    the mentions in its links.
    """

    document: int
    id: str | None
    countries: tuple[str, ...]
    distribution: Distribution
    texts: dict[int, str]

    def counts(self, country: str) -> np.ndarray:
        """Return the count of an actor in each outcome."""
        if country not in self.countries:
            return np.zeros(len(self.distribution.proba), dtype=np.intp)
        return self.distribution.outcome[:, self.countries.index(country)]

    def moments(self, column: int) -> tuple[float, ...]:
        """Return numbers of one actor that add up over documents.

        They are the mean and the variance of the count, the count with the best
        antecedents, the bounds of its mean, the variance that sampled clusterings add
        to the mean (times their number), the variance that sampled parses add, and the
        parts of the variance.
        """
        found, count = self.distribution, self.distribution.outcome[:, column]
        mean = found.proba @ count
        variance = found.proba @ (count - mean) ** 2
        parser, interaction = found.parts[:, column]
        coreference = max(variance - parser - interaction, 0.0)
        # each sampled clustering is combined with all parses
        sampled = 0.0 if found.exact else coreference + interaction / found.n_trees
        ends = found.low[column], found.high[column]
        errors = sampled, parser / found.n_trees
        parts = parser, coreference, interaction
        return (mean, variance, found.best[column], *ends, *errors, *parts)

    def proba(self, column: int) -> float:
        """Return the probability of an event of one actor."""
        found = self.distribution
        return min(float(found.proba @ (found.outcome[:, column] > 0)), 1.0)

    def uncertain(self, column: int, period: Hashable) -> UncertainDocument:
        """Return the uncertain event of one actor."""
        links = tuple(
            UncertainLink(agent, other, self.texts[agent], self.texts[other], linked)
            for agent, other, linked in self.distribution.link[column]
        )
        found = self.distribution
        ends = float(found.low[column]), float(found.high[column])
        what = self.document, self.id, period, self.countries[column]
        return UncertainDocument(*what, self.proba(column), *ends, links)


@dataclass(frozen=True, slots=True)
class Corpus:
    """All documents that were counted. Each attribute has one entry per document.

    index : index in the argument of the user, in ascending order.
    ids : ids of the documents.
    place : period of the documents, as an index.
    months : months of each period, in which documents could be.
    """

    index: np.ndarray
    ids: Sequence[Any]
    place: np.ndarray
    months: np.ndarray


# Distributions of sums of independent counts

# Smaller probabilities do not change a difference.
_NEVER = 1e-17


def pmf_of(values: np.ndarray, proba: np.ndarray) -> tuple[int, np.ndarray]:
    """Return the smallest value, and the probabilities up to the largest value."""
    start = int(values.min())
    return start, np.bincount(values - start, weights=proba)


def sum_of(parts: Sequence[tuple[int, np.ndarray]]) -> tuple[int, np.ndarray]:
    """Return the distribution of a sum of independent counts, in the form of `pmf_of`.

    Neighbouring distributions are convolved in pairs until one is left. For n counts,
    this takes O(n^2) operations in few calls. All terms are positive, so there is no
    cancellation.
    """
    # A count that is certain only shifts the sum.
    start = sum(least for least, _ in parts)
    level = [pmf for _, pmf in parts if pmf.size > 1]
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []
        both = zip(level[::2], level[1::2], strict=False)
        level = [np.convolve(one, other) for one, other in both] + odd
    pmf = level[0] if level else np.ones(1)
    return start, pmf / pmf.sum()


def difference_of(
    one: tuple[int, np.ndarray],
    other: tuple[int, np.ndarray],
    months: tuple[float, float],
    level: float,
) -> tuple[float, float, float, float]:
    """Return mean, ends of the interval and p-value of a difference of two counts.

    The counts are independent, in the form of `pmf_of`, and divided by their months.
    The p-value is twice the smaller probability of a difference of at most or at least
    0: it is below 1 - level if the interval does not contain 0.
    """
    values, proba = [], []
    for (start, pmf), n in zip((one, other), months, strict=True):
        # Other values would only take time: their outer product is sorted.
        (likely,) = np.nonzero(pmf > _NEVER)
        values.append((start + likely) / n)
        proba.append(pmf[likely])
    mean = float(values[0] @ proba[0] - values[1] @ proba[1])
    value = np.subtract.outer(*values).ravel()
    value[np.abs(value) < SUM_ROUNDING] = 0
    order = np.argsort(value)
    value, mass = value[order], np.outer(*proba).ravel()[order]
    below, tail = np.cumsum(mass), (1 - level) / 2
    at = np.searchsorted(below, [tail - SUM_ROUNDING, 1 - tail - SUM_ROUNDING])
    low, high = value[np.minimum(at, value.size - 1)].tolist()
    sides = mass[value <= 0].sum(), mass[value >= 0].sum()
    return mean, low, high, min(1.0, 2 * float(min(sides)))


def quantile(start: int, pmf: np.ndarray, level: float) -> int:
    """Return the smallest value whose cumulative probability reaches the level."""
    reached = np.cumsum(pmf) >= level - SUM_ROUNDING
    return start + (int(reached.argmax()) if reached.any() else pmf.size - 1)
