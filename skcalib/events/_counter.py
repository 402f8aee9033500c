"""Count events in documents with uncertain coreference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.parallel import delayed

from .._errors import ParameterError, ParameterTypeError, public, warn
from .._parallel import RandomStateLike, as_generator, parallel
from .._periods import Freq, assign_periods, check_freq, months_of
from .._validation import (
    check_choice,
    check_integer,
    check_verbose,
    describe_container,
    is_sequence,
)
from ..posteriors import AntecedentPosterior
from ..queries._query import last_step, transform_before
from ..text._documents import Document, Sentence, check_documents, words_of
from ._event_counts import EventCounts, listed
from ._event_probability import Corpus, Distribution, DocumentEvents, event_distribution
from ._rule import EventRule, Rule

# A parse of a document, with an entry for each sentence.
Parse = Document | Sequence[Sentence | ArrayLike]

UNITS = ("documents", "entities")
METHODS = ("auto", "sample", "exact")

# Number of documents in one task of a process.
CHUNK = 32
# Maximum sum of squared numbers of mentions in a call of a model, to limit memory.
BATCH = 2**18


class EventCounter(BaseEstimator):
    """Count events per period and actor, given uncertain coreference.

    An example is the number of documents in which an entity of country c is the agent
    of an attack. An entity is counted for c if at least one of its mentions is an
    agent, at least one of its mentions belongs to c, and none of its mentions belongs
    to another country. The count therefore depends on the clustering of mentions. If
    the clustering is uncertain, the count is a random variable.

    Parameters
    ----------
    rule : EventRule or object with an evidence method
        Rule that finds the agents and the actors among the mentions of a document.
    n_samples : int, default=100
        Number of sampled clusterings of each document.
    freq : {'day', 'week', 'month', 'quarter', 'year'}, callable, mapping, sequence or \
None, default='quarter'
        Periods into which documents are grouped by date. A callable takes a date (None
        if a document has no date) and returns a label. A mapping maps labels to (first
        day, last day). A sequence has the first day of each period, followed by the day
        after the last period. If None, there is one period and dates are not needed.
    unit : {'documents', 'entities'}, default='documents'
        Unit of the counts. 'entities' counts the entities that are agents of an event,
        and 'documents' counts the documents with at least one such entity.
    method : {'auto', 'sample', 'exact'}, default='auto'
        Method used to compute probabilities. 'sample' uses the fraction of sampled
        clusterings, as in the paper. 'exact' uses a recursion over chains of
        antecedents. Its cost grows quickly with the number of relevant mentions. 'auto'
        uses 'exact' for documents in which this is cheap, for example if a single
        mention determines the outcome, and 'sample' for the other documents.
    where : callable, default=None
        Function that takes a document and returns whether it is counted, for example by
        its metadata. If None, all documents are counted.
    countries : sequence of str, default=None
        Codes (from `rule`) of the actors to count. If None, all actors that can be the
        agent of an event in at least one document are counted. An entity whose mentions
        belong to two actors is never counted, even if only one of them is listed.
    random_state : int, RandomState, Generator or None, default=None
        Random state used to sample clusterings. Each document has its own stream of
        random numbers, which is determined by the index of the document. The samples
        therefore do not depend on `n_jobs` or `where`.
    n_jobs : int, default=None
        Number of processes. The documents are divided among the processes. If None,
        one process is used unless a joblib context sets another number.
    verbose : int, default=0
        If positive, the progress over the documents is printed.

    See Also
    --------
    EventCounts : Counts that :meth:`count` returns.
    skcalib.plot.EventCountDisplay : Plot of the counts.

    Notes
    -----
    This is the method of [NO15]_, section 6 and appendix. Documents without an event
    verb are skipped. In the other documents, mentions after the last mention that is an
    agent or belongs to an actor are ignored, because they cannot change the result. For
    each document, the distinct counts and their probabilities are stored instead of the
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
        rule: Rule,
        *,
        n_samples: int = 100,
        freq: Freq = "quarter",
        unit: str = "documents",
        method: str = "auto",
        where: Callable[[Document], bool] | None = None,
        countries: Sequence[str] | None = None,
        random_state: RandomStateLike = None,
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

    @public
    def count(
        self,
        documents: Iterable[Document],
        posteriors: AntecedentPosterior
        | Sequence[ArrayLike]
        | Sequence[AntecedentPosterior]
        | np.ndarray
        | BaseEstimator
        | None = None,
        trees: Sequence[Sequence[Parse]] | None = None,
    ) -> EventCounts:
        """Count the events of documents.

        Parameters
        ----------
        documents : sequence of Document
            Documents with mentions and with the parses that the rule uses.
        posteriors : AntecedentPosterior, list of ndarray, or fitted estimator, \
default=None
            Posterior over the clusterings of each document. A list must have one entry
            per document, either scores (in the format of AntecedentPosterior) or a
            posterior. If a fitted ranker or pipeline with a `posterior` method is
            passed, `posterior` is called only for documents in which an event is
            possible. If None, each mention is an entity of its own: there is no
            coreference, and a pronoun never belongs to an actor.
        trees : list of sequences of parses, default=None
            Sampled parses of each document, at least one per document. The number of
            parses can differ between documents. A parse is a Document with the same
            words, or a sequence with one entry per sentence. An entry is a Sentence
            with the same words, or an array with the head of each word: 0 for the root,
            or the number of a word, counted from 1 (the format of
            :class:`~skcalib.experimental.TreePosterior`). If only heads are given,
            words keep their dependency labels. If None, the parse of the document is
            taken as certain.

        Returns
        -------
        counts : EventCounts
            Posterior counts of each period and actor.

        Raises
        ------
        ValueError
            If a document has no date although `freq` needs one, if the dates are so far
            apart that there are more than 12,000 periods, if the posterior and a
            document differ in their number of mentions, or if a parse has other
            sentences or words than its document. The message names the document.

        Warns
        -----
        UserWarning
            If documents have sentences, but no document has a mention. If an event verb
            is the form of a verb but not a lemma ("attacked"), or if no verb of the
            documents is an event verb.

        Notes
        -----
        If `trees` are given, the rule finds the agents and actors in each parse of a
        document. The parses have equal probabilities and are independent of the
        clustering, so that several steps of a pipeline are sampled, as proposed in
        [1]_. The sampled clusterings of a document are the same for all its parses. If
        its parses have different agents or actors, 'exact' and 'auto' compute the joint
        distribution of the counts in all parses.

        The mentions and the posterior are those of `documents`. A mention keeps its
        head, unless the parse attaches this word to another word of the mention. The
        rule then chooses the head.

        References
        ----------
        .. [1] J. R. Finkel, C. D. Manning and A. Y. Ng (2006). "Solving the problem of
           cascading errors: approximate Bayesian inference for linguistic annotation
           pipelines". EMNLP.
        """
        entropy = self._check_params().integers(2**63, size=2).tolist()
        found = check_documents(documents, "documents")
        source = _as_source(posteriors, found)
        parses = _check_trees(trees, found)
        kept = [
            i
            for i, document in enumerate(found)
            if self.where is None or self.where(document)
        ]
        chosen = [found[i] for i in kept]
        dates = [each.date for each in chosen]
        periods, place = assign_periods(
            dates, self.freq, lambda i: name_of(chosen[i], kept[i])
        )
        # Without this quick test, scores of all documents would be needed.
        may_match = getattr(self.rule, "may_match", None)
        asked = [
            i
            for i in kept
            if found[i].mentions
            and (
                may_match is None
                or may_match(found[i])
                or any(may_match(each) for each in _parsed(found[i], parses[i]))
            )
        ]
        # Before the work starts: the counts would all be 0.
        _warn_of_no_mentions(chosen)
        # A verb of a sampled parse need not be a verb of the document.
        if isinstance(self.rule, EventRule) and trees is None:
            _warn_of_unseen_verbs(self.rule, chosen)
        chunks = self._run(found, asked, source, parses, entropy)
        events = list(chain.from_iterable(chunks))
        own = np.searchsorted(kept, [each.document for each in events])
        index, ids = np.array(kept, dtype=np.intp), [each.id for each in chosen]
        months = months_of(dates, len(periods), self.freq)
        return EventCounts(
            events,
            place[own],
            periods,
            self._countries(events),
            Corpus(index, ids, place, months),
            unit=self.unit,
            n_samples=int(self.n_samples),
            known=getattr(self.rule, "codes", ()) if self.countries is None else (),
            has_trees=trees is not None,
        )

    @public
    def _check_params(self) -> np.random.Generator:
        """Check the parameters, and return a source of seeds."""
        is_class = isinstance(self.rule, type)
        if is_class or not callable(getattr(self.rule, "evidence", None)):
            raise ParameterTypeError(
                "rule",
                "must have an evidence method, such as EventRule.evidence. Got "
                f"{_name_of_type(self.rule)}.",
            )
        if self.where is not None and not callable(self.where):
            problem = f"must be callable. Got {self.where!r:.80}."
            raise ParameterTypeError("where", problem)
        self._check_countries()
        check_freq(self.freq)
        check_choice(self.unit, UNITS, name="unit")
        check_choice(self.method, METHODS, name="method")
        check_verbose(self.verbose)
        check_integer(self.n_samples, minimum=1, name="n_samples")
        return as_generator(self.random_state)

    def _check_countries(self) -> None:
        if self.countries is None:
            return
        is_one = isinstance(self.countries, (str, Iterator))
        if is_one or not isinstance(self.countries, Iterable):
            raise ParameterTypeError(
                "countries",
                f"must be a sequence of codes. Got {self.countries!r:.50} instead.",
            )
        known = getattr(self.rule, "codes", None)
        for code in self.countries:
            if not isinstance(code, str) or (known is not None and code not in known):
                raise ParameterError(
                    "countries",
                    f"must contain codes of 'rule'. Got {code!r}."
                    + ("" if known is None else f" Its codes are {listed(known)}."),
                )

    def _run(
        self,
        documents: list[Document],
        asked: list[int],
        source: Any,
        parses: list[Any],
        entropy: list[int],
    ) -> Iterator[list[DocumentEvents]]:
        """Yield the events of the documents in `asked`, chunk by chunk."""
        options = {
            "entities": self.unit == "entities",
            "method": self.method,
            "n_samples": self.n_samples,
        }
        # A task has the scores of its documents, or the estimator that computes them.
        given = source.log_scores if isinstance(source, AntecedentPosterior) else None
        estimator = source if given is None else None
        items = [
            (i, documents[i], None if given is None else given[i], parses[i])
            for i in asked
        ]
        chunks = (items[k : k + CHUNK] for k in range(0, len(items), CHUNK))
        run = delayed(_count_chunk)
        tasks = (run(self.rule, each, estimator, entropy, options) for each in chunks)
        found = parallel(self.n_jobs, return_as="generator")(tasks)
        for k, part in enumerate(found):
            if self.verbose > 0:
                done = min((k + 1) * CHUNK, len(asked))
                print(f"[EventCounter] {done} of {len(asked)} documents", flush=True)
            yield part

    def _countries(self, events: list[DocumentEvents]) -> list[str]:
        if self.countries is None:
            return sorted({code for each in events for code in each.countries})
        # the order of a set differs between processes
        is_set = isinstance(self.countries, Set)
        asked = sorted(self.countries) if is_set else self.countries
        return list(dict.fromkeys(map(str, asked)))


def name_of(document: Document, position: int) -> str:
    """Return the name of a document in messages."""
    return f"document {position} ({document.id!r})"


class _NoCoreference:
    """A model in which each mention is an entity of its own."""

    def posterior(self, documents: Sequence[Document]) -> AntecedentPosterior:
        alone = (np.eye(len(each.mentions)) for each in documents)
        return AntecedentPosterior([np.where(each > 0, 0.0, -np.inf) for each in alone])


def _as_source(posteriors: Any, documents: list[Document]) -> Any:
    """Return a posterior that fits the documents, or an estimator that returns one."""
    if posteriors is None:
        return _NoCoreference()
    # The class of a ranker has a posterior method too, but no scores.
    is_class = isinstance(posteriors, type)
    if hasattr(last_step(posteriors), "posterior") and not is_class:
        return posteriors
    if not isinstance(posteriors, AntecedentPosterior):
        if not is_sequence(posteriors):
            raise ParameterTypeError(
                "posteriors",
                "must be an AntecedentPosterior, a list of score matrices, or a fitted "
                f"estimator with a posterior method. Got {_name_of_type(posteriors)}.",
            )
        # an entry can also be a posterior, of one or more documents
        given = [
            each.log_scores if isinstance(each, AntecedentPosterior) else [each]
            for each in posteriors
        ]
        posteriors = AntecedentPosterior(list(chain.from_iterable(given)))
    if len(posteriors) != len(documents):
        raise ParameterError(
            "posteriors",
            f"must have an entry for each of the {len(documents)} documents. Got "
            f"{len(posteriors)}.",
        )
    for i, document in enumerate(documents):
        _check_n_mentions(document, i, int(posteriors.lengths[i]))
    return posteriors


def _name_of_type(value: Any) -> str:
    """Return the name of a value's type, or of a class itself."""
    if isinstance(value, type):
        return f"the class {value.__name__}, not an instance"
    return type(value).__name__


def _check_n_mentions(document: Document, position: int, n: int) -> None:
    if n != len(document.mentions):
        raise ParameterError(
            "posteriors",
            "must have one entry for each mention. Got "
            f"{n} for the {len(document.mentions)} mentions of "
            f"{name_of(document, position)}.",
            "EventCounter.count",
        )


def _check_trees(trees: Any, documents: list[Document]) -> list[Any]:
    """Return the parses of each document as lists of sentences, or None for each."""
    if trees is None:
        return [None] * len(documents)
    if not is_sequence(trees) or len(trees) != len(documents):
        raise ParameterError(
            "trees",
            "must be a list with the sampled parses of each of the "
            f"{len(documents)} documents. Got {describe_container(trees)}.",
        )
    found: list[list[Any]] = []
    for i, (document, parses) in enumerate(zip(documents, trees, strict=True)):
        if not is_sequence(parses) or len(parses) == 0:
            raise ParameterError(
                "trees",
                "must have a sequence of at least one parse for each document. Got "
                f"{describe_container(parses)} for {name_of(document, i)}.",
            )
        found.append([])
        for k, parse in enumerate(parses):
            name = f"parse {k} of {name_of(document, i)}"
            found[i].append(_check_parse(parse, document.sentences, name))
    return found


def _check_parse(parse: Any, sentences: Sequence[Sentence], name: str) -> list[Any]:
    """Return a Sentence or an array of heads for each sentence."""
    entries = parse.sentences if isinstance(parse, Document) else parse
    if not is_sequence(entries) or len(entries) != len(sentences):
        raise ParameterError(
            "trees",
            f"must have parses with one entry for each of the {len(sentences)} "
            f"sentences. Got {describe_container(entries)} as {name}.",
        )
    found = []
    for s, (sentence, entry) in enumerate(zip(sentences, entries, strict=True)):
        if isinstance(entry, Sentence):
            is_right = entry.form == sentence.form
        else:
            heads, n = np.asarray(entry), len(sentence)
            is_right = heads.shape == (n,) and (n == 0 or heads.dtype.kind in "iu")
            own = np.arange(1, n + 1)
            if is_right and np.all((heads >= 0) & (heads <= n) & (heads != own)):
                entry = heads.astype(np.intp)
            else:
                is_right = False
        if not is_right:
            raise ParameterError(
                "trees",
                "must have a Sentence with the same words for each sentence, or an "
                "array with the head of each word: 0 for the root, or the number of "
                f"another word, from 1. Got {entry!r:.80} for sentence {s} "
                f"({sentence!r}) in {name}.",
            )
        found.append(entry)
    return found


# Below: functions that run in the processes.


def _parsed(document: Document, parses: Any) -> Iterator[Document]:
    """Yield the document with each of its sampled parses."""
    before = words_of(document).head
    for parse in parses or ():
        sentences = [
            entry
            if isinstance(entry, Sentence)
            else replace(sentence, head=(entry - 1).tolist())
            for sentence, entry in zip(document.sentences, parse, strict=True)
        ]
        after = words_of(replace(document, sentences=sentences)).head
        mentions = [
            # the word is no longer the head of the mention
            replace(m, head=None)
            if m.head is not None
            and m.start <= after[m.head] < m.end
            and after[m.head] != before[m.head]
            else m
            for m in document.mentions
        ]
        yield replace(document, sentences=sentences, mentions=mentions)


class _Case(NamedTuple):
    """Document in which an event is possible. `code` is an index into `names`.

    `agent` and `code` have a row for each different evidence of the parses, first of
    the document's own parse. `n_equal` is the number of sampled parses with each
    evidence. It is None if there are no sampled parses.
    """

    position: int
    document: Document
    agent: np.ndarray
    code: np.ndarray
    n_equal: np.ndarray | None
    names: tuple[str, ...]
    scores: Any


def _count_chunk(
    rule: Rule,
    tasks: list[tuple[int, Document, np.ndarray | None, Any]],
    estimator: Any,
    entropy: list[int],
    options: dict[str, Any],
) -> list[DocumentEvents]:
    """Return the events of the documents in which an event is possible."""
    found = [_case(rule, *task) for task in tasks]
    cases = [case for case in found if case is not None]
    if estimator is not None:
        cases = _with_scores(cases, estimator)
    events = []
    for case in cases:
        # the samples of a document do not depend on other documents or processes
        seed = np.random.SeedSequence(entropy, spawn_key=(case.position,))
        rng, evidence = np.random.default_rng(seed), (case.agent, case.code)
        distribution = event_distribution(
            case.scores, *evidence, len(case.names), case.n_equal, rng=rng, **options
        )
        events.append(_events(case, distribution))
    return events


def _case(
    rule: Rule,
    position: int,
    document: Document,
    scores: np.ndarray | None,
    parses: Any,
) -> _Case | None:
    """Return the evidence of a document, or None without agents or without actors."""
    agent, code, codes = _evidence(rule, position, document)
    n_equal = {(agent.tobytes(), code.tobytes()): 0}
    rows: list[Any] = [(agent, code)]
    for k, parsed in enumerate(_parsed(document, parses)):
        try:
            *row, own_codes = _evidence(rule, position, parsed)
        except ParameterError as error:
            error.add_note(f"The parse is parse {k} of the document in `trees`.")
            raise
        if own_codes != codes:
            raise ParameterError(
                "rule",
                "must return the same codes for all parses of a document. Got others "
                f"for parse {k} of {name_of(document, position)}.",
                "EventCounter",
            )
        key = row[0].tobytes(), row[1].tobytes()
        if key not in n_equal:
            n_equal[key] = 0
            rows.append(row)
        n_equal[key] += 1
    agent, code = map(np.array, zip(*rows, strict=True))
    if not (agent.any(axis=1) & (code >= 0).any(axis=1)).any():
        return None
    # Actors of this document only, so that distributions have few columns.
    present, number = np.unique(code[code >= 0], return_inverse=True)
    code[code >= 0] = number
    names = tuple(codes[k] for k in present.tolist())
    times = None if parses is None else np.array(list(n_equal.values()))
    return _Case(position, document, agent, code, times, names, scores)


def _evidence(
    rule: Rule, position: int, document: Document
) -> tuple[np.ndarray, np.ndarray, Sequence[str]]:
    """Return the agents and the actors of a document, and the codes of the actors."""
    evidence = rule.evidence(document)
    agent = np.asarray(evidence.agent, dtype=bool)
    code = np.asarray(evidence.code, dtype=np.intp)
    n, n_codes = len(document.mentions), len(evidence.codes)
    if agent.shape != (n,) or code.shape != (n,):
        raise ParameterError(
            "rule",
            f"must return evidence for each mention. Got shapes {agent.shape} "
            f"and {code.shape} for the {n} mentions of "
            f"{name_of(document, position)}.",
            "EventCounter",
        )
    if n and not -2 <= code.min() <= code.max() < n_codes:
        raise ParameterError(
            "rule",
            f"must return codes from -2 to {n_codes - 1}. Got "
            f"{code.tolist()!r:.80} for {name_of(document, position)}.",
            "EventCounter",
        )
    return agent, code, evidence.codes


def _with_scores(cases: list[_Case], estimator: Any) -> list[_Case]:
    """Return the cases with scores, computed in few calls of the estimator."""
    found: list[_Case] = []
    for batch in _batches(cases):
        features = transform_before(estimator, [case.document for case in batch])
        scores = last_step(estimator).posterior(features).log_scores
        if len(scores) != len(batch):
            raise ParameterError(
                "posteriors",
                "must return a posterior with an entry for each document. Got "
                f"{len(scores)} for {len(batch)} documents.",
                "EventCounter.count",
            )
        for case, matrix in zip(batch, scores, strict=True):
            _check_n_mentions(case.document, case.position, len(matrix))
            found.append(case._replace(scores=matrix))
    return found


def _batches(cases: list[_Case]) -> Iterator[list[_Case]]:
    batch: list[_Case] = []
    size = 0
    for case in cases:
        # Scores of antecedents are square matrices.
        squared = len(case.document.mentions) ** 2
        if batch and size + squared > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(case)
        size += squared
    if batch:
        yield batch


def _events(case: _Case, distribution: Distribution | None) -> DocumentEvents:
    if distribution is None:
        raise ValueError(
            "EventCounter with method='exact' finds too many outcomes in "
            f"{name_of(case.document, case.position)}. Use method='auto' to sample "
            "clusterings of this document."
        )
    mentions, form = case.document.mentions, words_of(case.document).form
    # Only the words of linked mentions travel back from the process.
    linked = {m for links in distribution.link for *pair, _ in links for m in pair}
    texts = {
        m: " ".join(form[mentions[m].start : mentions[m].end]) for m in sorted(linked)
    }
    return DocumentEvents(
        case.position, case.document.id, case.names, distribution, texts
    )


def _warn_of_no_mentions(documents: list[Document]) -> None:
    has_text = any(each.sentences for each in documents)
    if has_text and not any(each.mentions for each in documents):
        warn(
            f"None of the {len(documents)} documents has a mention, so that no event "
            "is counted. skcalib.documents.mentions_from_parse finds the mentions of a "
            "document with a parse."
        )


def _warn_of_unseen_verbs(rule: EventRule, documents: Iterable[Document]) -> None:
    """Warn if an event verb is a form but not a lemma, or if no event verb occurs."""
    if rule.verbs is None:
        return
    lemmas_of: dict[str, set[str]] = {}
    for document in documents:
        for sentence in document.sentences:
            words = zip(sentence.form, sentence.lemma, sentence.upos, strict=True)
            for form, lemma, upos in words:
                if upos == "VERB":
                    lemmas_of.setdefault(form.lower(), set()).add(lemma.lower())
    known = set().union(*lemmas_of.values())
    unseen = rule.verbs - known
    forms = {verb: lemmas_of[verb] for verb in sorted(unseen) if verb in lemmas_of}
    if forms:
        meant = sorted(set().union(*forms.values()))
        warn(
            "The `verbs` of EventRule must be lemmas, but these are other forms of "
            f"verbs, which match no word: {listed(list(forms))}. Pass {listed(meant)}."
        )
    elif unseen == rule.verbs and known:
        warn(
            f"No verb of the documents has a lemma in `verbs` of EventRule: "
            f"{listed(sorted(rule.verbs))}. All counts are 0."
        )
