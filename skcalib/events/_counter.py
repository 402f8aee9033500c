"""Count events in documents, given what a model believes of their coreference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.parallel import delayed

from .._parallel import parallel
from .._random import as_generator
from .._validation import check_choice, check_integer, check_verbose, is_sequence
from ..documents import Document
from ..posteriors import AntecedentPosterior
from ..queries import last_step, transform_before
from ._document_events import DocumentEvents
from ._event_counts import EventCounts
from ._event_probability import event_distribution
from ._periods import assign_periods, check_freq, name_of

UNITS = ("documents", "entities")
METHODS = ("auto", "sample", "exact")

# Documents of one call to a process.
CHUNK = 32

CALLER = "EventCounter.count"


class EventCounter(BaseEstimator):
    """Count events per period and actor, with what coreference does not know.

    In how many documents is an entity of country c the agent of an attack? An entity is
    if it has a mention that is an agent, a mention of c, and no mention of another
    country; so the answer depends on the clustering of mentions, and is a random
    variable where the clustering is uncertain.

    Parameters
    ----------
    rule : EventRule or object with an evidence method
        Says of the mentions of a document which are agents and which are whose.
    n_samples : int, default=100
        Number of sampled clusterings of each document.
    freq : {'quarter', 'month', 'year'}, callable, mapping, sequence or None, \
default='quarter'
        Periods of the documents' dates. A callable takes a date (None where there is
        none) and returns a label; a mapping has labels and (first day, last day); a
        sequence has the first day of each period, and at its end the day behind the
        last one. None: one period, for which dates are not needed.
    unit : {'documents', 'entities'}, default='documents'
        What is counted: documents with such an entity, or such entities.
    method : {'auto', 'sample', 'exact'}, default='auto'
        'sample': the share of sampled clusterings, as published. 'exact': by recursion
        over chains of antecedents, whose cost grows fast with the number of mentions
        that matter. 'auto': exact for documents where that is cheap, as where one
        mention decides, and sampled elsewhere.
    where : callable, default=None
        Takes a document and says whether it is counted, by its metadata for example.
    countries : sequence of str, default=None
        Actors to count, by codes of `rule`. None: all that may be the agent of an event
        in some document. Others spoil entities in any case.
    random_state : int, RandomState, Generator or None, default=None
        Source of the samples. Each document has a stream of its own, by its place among
        the documents, so what is drawn does not depend on `n_jobs` or `where`.
    n_jobs : int, default=None
        Number of processes over documents; None: 1, or what joblib's context says.
    verbose : int, default=0
        Print how far the documents are if positive.

    See Also
    --------
    EventCounts : What it makes.
    skcalib.plot.EventCountDisplay : Draw the counts.

    Notes
    -----
    The method of [NO15]_, section 6 and appendix. Only documents whose words may hold
    an event are looked at, and of these only clusterings of the mentions up to the last
    one that matters. A document leaves a small table of outcomes behind, never its
    samples.

    Examples
    --------
    >>> from skcalib.datasets import make_event_documents
    >>> from skcalib.events import EventCounter, EventRule
    >>> documents, events, scores = make_event_documents(
    ...     50, return_scores=True, random_state=0
    ... )
    >>> counter = EventCounter(EventRule(), freq="year", random_state=0)
    >>> counts = counter.count(documents, scores)
    >>> counts.country
    array(['BOL', 'FRA', 'KEN', 'NOR'], dtype=object)
    >>> counts.mean.round(1)
    array([ 9.1,  8.8,  6.5, 11. ])
    >>> [sum(country in each for each in events) for country in counts.countries]
    [9, 7, 6, 10]
    """

    def __init__(
        self,
        rule: Any,
        *,
        n_samples: int = 100,
        freq: Any = "quarter",
        unit: str = "documents",
        method: str = "auto",
        where: Any = None,
        countries: Sequence[str] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.rule = rule
        self.n_samples = n_samples
        self.freq = freq
        self.unit = unit
        self.method = method
        self.where = where
        self.countries = countries
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def count(self, documents: Any, posteriors: Any) -> EventCounts:
        """Count the events of documents.

        Parameters
        ----------
        documents : sequence of Document
            Documents with mentions and what the rule reads, which are parses.
        posteriors : AntecedentPosterior, list of ndarray, or fitted estimator
            What is believed of the documents' coreference: a posterior with an entry
            for each document; a list of their scores, as AntecedentPosterior takes
            them, or of posteriors of one document; or a ranker or a pipeline with a
            `posterior` method, which is asked only about documents that may hold an
            event.

        Returns
        -------
        counts : EventCounts

        Raises
        ------
        ValueError
            If a document has no date and `freq` needs one, or the posterior has another
            number of mentions than a document; the message names the document.
        """
        draw = self._check()
        found = _check_documents(documents)
        source = _as_source(posteriors, found)
        kept = [
            i
            for i, document in enumerate(found)
            if self.where is None or self.where(document)
        ]
        chosen = [found[i] for i in kept]
        periods, place = assign_periods(chosen, kept, self.freq)
        may_match = getattr(self.rule, "may_match", None)
        asked = [
            i
            for i in kept
            if found[i].mentions and (may_match is None or may_match(found[i]))
        ]
        events = [
            each
            for part in self._run(found, asked, source, draw)
            for each in part
            if each is not None
        ]
        period_of = dict(zip(kept, place.tolist(), strict=True))
        own = np.array([period_of[each.document] for each in events], dtype=np.intp)
        return EventCounts(
            events,
            own,
            periods,
            self._countries(events),
            np.bincount(place, minlength=len(periods)),
            unit=self.unit,
            n_samples=draw["n_samples"],
            known=getattr(self.rule, "codes", ()) if self.countries is None else (),
        )

    def _check(self) -> dict[str, Any]:
        """Check the parameters, and return those of the draws."""
        caller = "EventCounter"
        is_class = isinstance(self.rule, type)
        if is_class or not callable(getattr(self.rule, "evidence", None)):
            raise TypeError(
                f"The 'rule' parameter of {caller} must have an evidence method, as "
                f"EventRule has. Got {_name_of_type(self.rule)}."
            )
        if self.where is not None and not callable(self.where):
            raise TypeError(
                f"The 'where' parameter of {caller} must be callable. Got "
                f"{self.where!r:.80}."
            )
        self._check_countries()
        check_freq(self.freq)
        check_choice(self.unit, UNITS, name="unit", caller=caller)
        check_choice(self.method, METHODS, name="method", caller=caller)
        check_verbose(self.verbose, caller=caller)
        n_samples = check_integer(
            self.n_samples, minimum=1, name="n_samples", caller=caller
        )
        rng = as_generator(self.random_state, caller=caller)
        return {
            "entities": self.unit == "entities",
            "method": self.method,
            "n_samples": n_samples,
            "entropy": rng.integers(2**63, size=2).tolist(),
        }

    def _check_countries(self) -> None:
        name = "The 'countries' parameter of EventCounter must"
        if self.countries is None:
            return
        is_one = isinstance(self.countries, (str, Iterator))
        if is_one or not isinstance(self.countries, Iterable):
            raise TypeError(
                f"{name} be a sequence of codes. Got {self.countries!r:.50} instead."
            )
        known = getattr(self.rule, "codes", None)
        for code in self.countries:
            if not isinstance(code, str) or (known is not None and code not in known):
                raise ValueError(f"{name} hold codes of 'rule'. Got {code!r}.")

    def _run(
        self, documents: list[Document], asked: list[int], source: Any, draw: dict
    ) -> Iterator[list[DocumentEvents | None]]:
        """Yield the events of the documents asked about, chunk by chunk."""
        is_posterior = isinstance(source, AntecedentPosterior)
        tasks = (
            delayed(_count_chunk)(
                self.rule,
                [
                    (i, documents[i], source[i : i + 1] if is_posterior else None)
                    for i in asked[start : start + CHUNK]
                ],
                None if is_posterior else source,
                draw,
            )
            for start in range(0, len(asked), CHUNK)
        )
        found = parallel(self.n_jobs, return_as="generator")(tasks)
        for k, part in enumerate(found):
            if self.verbose > 0:
                done = min((k + 1) * CHUNK, len(asked))
                print(f"[EventCounter] {done} of {len(asked)} documents", flush=True)
            yield part

    def _countries(self, events: list[DocumentEvents]) -> list[str]:
        if self.countries is None:
            return sorted({code for each in events for code in each.countries})
        # the order of a set differs from process to process
        is_set = isinstance(self.countries, Set)
        asked = sorted(self.countries) if is_set else self.countries
        return list(dict.fromkeys(map(str, asked)))


def _check_documents(documents: Any) -> list[Document]:
    name = f"The 'documents' parameter of {CALLER}"
    if isinstance(documents, (Document, str)) or not isinstance(documents, Iterable):
        raise TypeError(
            f"{name} must be a sequence of documents. Got {type(documents).__name__}."
        )
    found = list(documents)
    for i, document in enumerate(found):
        if not isinstance(document, Document):
            raise TypeError(
                f"{name} must hold objects of the class Document. Got "
                f"{type(document).__name__} as document {i}."
            )
    return found


def _as_source(posteriors: Any, documents: list[Document]) -> Any:
    """Return a posterior that fits the documents, or an estimator that can make one."""
    is_class = isinstance(posteriors, type)
    if hasattr(last_step(posteriors), "posterior") and not is_class:
        return posteriors
    name = f"The 'posteriors' parameter of {CALLER}"
    if not isinstance(posteriors, AntecedentPosterior):
        if not is_sequence(posteriors):
            raise TypeError(
                f"{name} must be an AntecedentPosterior, a list of score matrices, or "
                "a fitted estimator with a posterior method. Got "
                f"{_name_of_type(posteriors)}."
            )
        posteriors = AntecedentPosterior(_score_matrices(posteriors))
    if len(posteriors) != len(documents):
        raise ValueError(
            f"{name} must have an entry for each of the {len(documents)} documents. "
            f"Got {len(posteriors)}."
        )
    for i, document in enumerate(documents):
        _check_n_mentions(document, i, int(posteriors.lengths[i]))
    return posteriors


def _score_matrices(entries: Any) -> list[Any]:
    """Return the scores of each document, also where an entry is a posterior."""
    found: list[Any] = []
    for each in entries:
        is_posterior = isinstance(each, AntecedentPosterior)
        found.extend(each.log_scores if is_posterior else [each])
    return found


def _name_of_type(value: Any) -> str:
    """Return the name of a value's type, and that of a class itself."""
    if isinstance(value, type):
        return f"the class {value.__name__}, not an instance"
    return type(value).__name__


def _check_n_mentions(document: Document, position: int, n: int) -> None:
    if n != len(document.mentions):
        raise ValueError(
            f"The 'posteriors' parameter of {CALLER} must have the mentions of the "
            f"documents. Got {n} for the {len(document.mentions)} mentions of "
            f"{name_of(document, position)}."
        )


# Below: what runs in the processes.


def _count_chunk(
    rule: Any,
    tasks: list[tuple[int, Document, AntecedentPosterior | None]],
    estimator: Any,
    draw: dict[str, Any],
) -> list[DocumentEvents | None]:
    return [
        _count_document(rule, position, document, posterior, estimator, draw)
        for position, document, posterior in tasks
    ]


def _count_document(
    rule: Any,
    position: int,
    document: Document,
    posterior: AntecedentPosterior | None,
    estimator: Any,
    draw: dict[str, Any],
) -> DocumentEvents | None:
    """Return the events of a document, None where there can be none."""
    agent, code, names = _evidence(rule, document, position)
    present, number = np.unique(code[code >= 0], return_inverse=True)
    if not agent.any() or present.size == 0:
        return None
    code = code.copy()
    code[code >= 0] = number
    if posterior is None:
        posterior = _ask(estimator, document, position)
    seed = np.random.SeedSequence(draw["entropy"], spawn_key=(position,))
    law = event_distribution(
        posterior.log_scores[0],
        agent,
        code,
        present.size,
        entities=draw["entities"],
        method=draw["method"],
        n_samples=draw["n_samples"],
        rng=np.random.default_rng(seed),
    )
    if law is None:
        raise ValueError(
            "EventCounter with method='exact' finds too many outcomes in "
            f"{name_of(document, position)}. The method 'auto' samples there."
        )
    linked = {
        m for links in law.link for agent, other, _ in links for m in (agent, other)
    }
    return DocumentEvents(
        position,
        document.id,
        tuple(names[k] for k in present.tolist()),
        law,
        _texts(document, linked),
    )


def _evidence(
    rule: Any, document: Document, position: int
) -> tuple[np.ndarray, np.ndarray, Sequence[str]]:
    evidence = rule.evidence(document)
    agent = np.asarray(evidence.agent, dtype=bool)
    code = np.asarray(evidence.code, dtype=np.intp)
    n = len(document.mentions)
    if agent.shape != (n,) or code.shape != (n,):
        raise ValueError(
            "The 'rule' parameter of EventCounter must give evidence of each mention. "
            f"Got shapes {agent.shape} and {code.shape} for the {n} mentions of "
            f"{name_of(document, position)}."
        )
    n_codes = len(evidence.codes)
    if n and not -2 <= code.min() <= code.max() < n_codes:
        raise ValueError(
            "The 'rule' parameter of EventCounter must give codes from -2 to "
            f"{n_codes - 1}. Got {code.tolist()!r:.80} for "
            f"{name_of(document, position)}."
        )
    return agent, code, evidence.codes


def _ask(estimator: Any, document: Document, position: int) -> AntecedentPosterior:
    features = transform_before(estimator, [document])
    posterior = last_step(estimator).posterior(features)
    _check_n_mentions(document, position, int(posterior.lengths.sum()))
    return posterior


def _texts(document: Document, mentions: set[int]) -> dict[int, str]:
    """Return the words of some mentions."""
    words = [word for sentence in document.sentences for word in sentence.form]
    found = {}
    for m in sorted(mentions):
        mention = document.mentions[m]
        found[m] = " ".join(words[mention.start : mention.end])
    return found
