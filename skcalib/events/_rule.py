"""Which mentions are agents of an event, and to whom they belong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation import check_bool, is_integer
from ..documents import Document, Mention
from ._agents import AgentRules
from ._lexicon import AffiliationLexicon, CountryLexicon
from ._parse import Parse

NO_CODE = -1
SPOILED = -2
MODIFIERS = ("nmod", "amod", "compound")

Affiliation = Callable[[Document, Mention], str | None]


@dataclass(frozen=True, eq=False)
class EventEvidence:
    """Hold what a rule finds in the mentions of a document.

    Attributes
    ----------
    agent : ndarray of bool of shape (n_mentions,)
        Whether the mention is an agent of an event.
    code : ndarray of int of shape (n_mentions,)
        To whom the mention belongs, as an index into `codes`; -1: to nobody that is
        known, -2: to more than one, which spoils it for all.
    codes : tuple of str
        Codes that there are.

    See Also
    --------
    EventRule : What gives it.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.events import EventEvidence
    >>> found = EventEvidence(np.array([True, False]), np.array([-1, 0]), ("FRA",))
    >>> found.codes[found.code[1]]
    'FRA'
    """

    agent: np.ndarray
    code: np.ndarray
    codes: tuple[str, ...]


class EventRule:
    """Say which mentions are agents of an event, and to which actors they belong.

    The function f(c, e; x) of [NO15]_, section 6, on Universal Dependencies: an entity
    of actor c did it if one of its mentions is the agent of an event verb, one of its
    mentions belongs to c, and none to anybody else.

    Parameters
    ----------
    verbs : str, collection of str or None, default=('attack',)
        Lemmas of the event verbs. None or 'any': any verb.
    lexicon : AffiliationLexicon, dict or callable, default=None
        Who belongs to whom: a lexicon, or its entries, or a function that takes a
        document and one of its mentions and returns a code, or None. None:
        :class:`CountryLexicon`.
    codes : sequence of str, default=None
        The codes that the function of `lexicon` may return. Needed for a function, and
        for nothing else.
    lowercase : bool, default=None
        Whether the text is lower-cased, so that a name needs no capital. None: where a
        document has no capital at all.
    relative_pronouns : bool, default=True
        Whether the agent in "troops who attacked" is the troops rather than the
        pronoun.
    passive : bool, default=True
        Whether by-phrases are agents: "attacked by troops".
    conjuncts : bool, default=False
        Whether "troops and tanks attacked" has both for agents, and "troops came and
        attacked" has one. As published: the first of several agents, and verbs with a
        subject of their own.

    Attributes
    ----------
    codes : tuple of str
        Codes of the actors, in the order of the lexicon.

    See Also
    --------
    CountryLexicon : Names of countries.
    AffiliationLexicon : Names of any actors.
    skcalib.documents.mentions_from_parse : Mentions of text that has none.

    Notes
    -----
    A mention belongs to c if its head is a word of a name of c, or an `nmod`, `amod` or
    `compound` dependent of the head is, or what is coordinated or compounded with that
    one ("Russian and Chinese ships", "US-British forces"). If names of two actors are
    found, it is spoiled for both.

    A mention is an agent if its head is the `nsubj` of an active event verb; or, under
    a passive one, an `obl:agent`, or an `obl` with the preposition "by". A verb has the
    tag VERB. It is passive if it has an `aux:pass` or a passive subject; or, without
    any subject, if it has ``Voice=Pass`` or is a participle that modifies a noun. A
    relative pronoun stands for the noun that its clause (`acl:relcl`) modifies.

    The head of a mention that has none is its first word that depends on a word
    outside, no punctuation if possible. Of the labels of spaCy's English models those
    that matter here are understood (`nsubjpass`, `auxpass`, `relcl`, `poss`, and `pobj`
    under `agent` or `prep`).

    References
    ----------
    .. [NO15] See :doc:`/references`.

    Examples
    --------
    >>> from skcalib.documents import Document, Mention, Sentence
    >>> from skcalib.events import EventRule
    >>> sentence = Sentence(
    ...     ["Russian", "troops", "attacked", "the", "town"],
    ...     lemma=["Russian", "troops", "attack", "the", "town"],
    ...     upos=["ADJ", "NOUN", "VERB", "DET", "NOUN"],
    ...     head=[1, 2, -1, 4, 2],
    ...     deprel=["amod", "nsubj", "root", "det", "obj"],
    ... )
    >>> mentions = [Mention(0, 2, 1), Mention(3, 5, 4)]
    >>> document = Document("a", None, [sentence], mentions, [0, 1])
    >>> rule = EventRule()
    >>> found = rule.evidence(document)
    >>> found.agent
    array([ True, False])
    >>> [rule.codes[code] if code >= 0 else None for code in found.code]
    ['RUS', None]
    >>> rule("RUS", [0], document)
    True
    """

    def __init__(
        self,
        verbs: str | Collection[str] | None = ("attack",),
        *,
        lexicon: Mapping[str, Any] | Affiliation | None = None,
        codes: Sequence[str] | None = None,
        lowercase: bool | None = None,
        relative_pronouns: bool = True,
        passive: bool = True,
        conjuncts: bool = False,
    ):
        self.verbs = _check_verbs(verbs)
        self.lexicon = _check_lexicon(lexicon)
        self.codes = _check_codes(self.lexicon, codes)
        self.lowercase = None if lowercase is None else _as_bool("lowercase", lowercase)
        self.relative_pronouns = _as_bool("relative_pronouns", relative_pronouns)
        self.passive = _as_bool("passive", passive)
        self.conjuncts = _as_bool("conjuncts", conjuncts)
        self._index = {code: i for i, code in enumerate(self.codes)}

    def __repr__(self) -> str:
        verbs = "None" if self.verbs is None else repr(tuple(sorted(self.verbs)))
        return (
            f"EventRule({verbs}, lexicon={self.lexicon!r}, "
            f"lowercase={self.lowercase}, relative_pronouns={self.relative_pronouns}, "
            f"passive={self.passive}, conjuncts={self.conjuncts})"
        )

    def may_match(self, document: Document) -> bool:
        """Say whether a document is worth a closer look.

        Parameters
        ----------
        document : Document
            A document with parses.

        Returns
        -------
        may_match : bool
            False where there is no mention or no event verb, so that no entity is the
            agent of an event, whatever the coreference.
        """
        _check_document(document)
        if not document.mentions:
            return False
        self._check_tags(document)
        for sentence in document.sentences:
            if "VERB" in sentence.upos:
                for lemma, upos in zip(sentence.lemma, sentence.upos, strict=True):
                    if self._is_event(lemma, upos):
                        return True
        return False

    def evidence(self, document: Document) -> EventEvidence:
        """Find the agents, and to whom the mentions belong.

        Parameters
        ----------
        document : Document
            A document with parses and mentions.

        Returns
        -------
        evidence : EventEvidence
            What was found, with an entry for each mention.

        Raises
        ------
        ValueError
            A sentence with mentions has no parse, or words of a sentence depend on each
            other in a circle; the message has the document and the sentence.
        """
        _check_document(document)
        if not document.mentions:
            return EventEvidence(
                np.zeros(0, dtype=bool), np.zeros(0, dtype=np.intp), self.codes
            )
        parse = Parse(document, "EventRule")
        self._check_tags(document)
        rules = AgentRules(self.passive, self.relative_pronouns, self.conjuncts)
        words = zip(parse.lemma, parse.upos, strict=True)
        verbs = [i for i, word in enumerate(words) if self._is_event(*word)]
        agents = rules.agents(parse, verbs)
        agent = [head in agents for head in parse.mention_heads]
        if isinstance(self.lexicon, AffiliationLexicon):
            code = self._codes_by_lexicon(self.lexicon, parse)
        else:
            code = self._codes_by_function(self.lexicon, document)
        return EventEvidence(
            np.array(agent, dtype=bool), np.array(code, dtype=np.intp), self.codes
        )

    def __call__(self, code: str, entity: Iterable[int], document: Document) -> bool:
        """Say whether an entity of an actor is the agent of an event.

        Parameters
        ----------
        code : str
            The actor.
        entity : iterable of int
            Indices of the entity's mentions.
        document : Document
            A document with parses and mentions.

        Returns
        -------
        is_agent : bool
            Whether a mention is an agent, and the code is the only one of all mentions.

        Raises
        ------
        ValueError
            The code is none of the rule's, or an index is of no mention.
        """
        if not isinstance(code, str) or code not in self._index:
            raise ValueError(
                f"The 'code' parameter of EventRule must be one of its codes. Got "
                f"{code!r} instead."
            )
        found = self.evidence(document)
        members = _check_entity(entity, len(document.mentions))
        codes = set(found.code[members].tolist()) - {NO_CODE}
        return codes == {self._index[code]} and bool(found.agent[members].any())

    def _is_event(self, lemma: str, upos: str) -> bool:
        return upos == "VERB" and (self.verbs is None or lemma.lower() in self.verbs)

    def _check_tags(self, document: Document) -> None:
        """Raise if nothing says which words are verbs, or which verbs they are."""
        tags = {tag for sentence in document.sentences for tag in sentence.upos}
        if tags <= {"_"} and document.n_words:
            raise ValueError(
                f"EventRule needs part-of-speech tags (upos). Document {document.id!r} "
                "has none. Read a file that has them, or tag the text, with spaCy and "
                "Document.from_spacy say."
            )
        if self.verbs is None or "VERB" not in tags:
            return
        lemmas = {
            lemma
            for sentence in document.sentences
            for lemma, upos in zip(sentence.lemma, sentence.upos, strict=True)
            if upos == "VERB"
        }
        if lemmas <= {"_"}:
            raise ValueError(
                f"EventRule needs lemmas to find the verbs it is for. Document "
                f"{document.id!r} has none. Read a file that has them, or pass "
                "verbs='any'."
            )

    def _codes_by_lexicon(self, lexicon: AffiliationLexicon, parse: Parse) -> list[int]:
        names = _names_of_words(lexicon, parse, self.lowercase)
        return [self._code_of(names, parse, head) for head in parse.mention_heads]

    def _code_of(
        self, names: dict[int, list[frozenset[str]]], parse: Parse, head: int
    ) -> int:
        """Return the only code that all names agree with."""
        found = [
            codes
            for word in (head, *_modifiers(parse, head, names))
            for codes in names.get(word, ())
        ]
        if not found:
            return NO_CODE
        common = frozenset.intersection(*found)
        return self._index[next(iter(common))] if len(common) == 1 else SPOILED

    def _codes_by_function(
        self, affiliation: Affiliation, document: Document
    ) -> list[int]:
        found = []
        for i, mention in enumerate(document.mentions):
            code = affiliation(document, mention)
            is_known = isinstance(code, str) and code in self._index
            if code is not None and not is_known:
                raise ValueError(
                    "The function of the 'lexicon' parameter of EventRule must return "
                    f"one of 'codes', or None. Got {code!r} for mention {i} of "
                    f"document {document.id!r}."
                )
            found.append(NO_CODE if code is None else self._index[code])
        return found


def _names_of_words(
    lexicon: AffiliationLexicon, parse: Parse, lowercase: bool | None
) -> dict[int, list[frozenset[str]]]:
    """Return the codes of each name that a word is part of."""
    if lowercase is None:
        lowercase = all(form == form.lower() for form in parse.form)
    names: dict[int, list[frozenset[str]]] = {}
    for s, sentence in enumerate(parse.document.sentences):
        found = lexicon.find(sentence.form, sentence.upos, lowercase=lowercase)
        for start, end, codes in found:
            for word in range(parse.offsets[s] + start, parse.offsets[s] + end):
                names.setdefault(word, []).append(frozenset(codes))
    return names


def _modifiers(parse: Parse, head: int, names: Collection[int]) -> list[int]:
    """Return the words that say whose a head is, those coordinated with them too."""
    found = []
    for word in parse.children[head]:
        if parse.deprel[word].partition(":")[0] not in MODIFIERS:
            continue
        # of "US - British" and "US - backed" the first is a pair of names
        joined = ("conj", "compound") if word in names else ("conj",)
        found.append(word)
        found += [c for c in parse.children[word] if parse.deprel[c] in joined]
    return found


def _check_document(document: Any) -> None:
    if not isinstance(document, Document):
        raise TypeError(
            "The 'document' parameter of EventRule must be a Document. Got "
            f"{type(document).__name__} instead."
        )


def _as_bool(name: str, value: Any) -> bool:
    return check_bool(value, name=name, caller="EventRule")


def _check_entity(entity: Any, n_mentions: int) -> list[int]:
    """Return the indices of an entity's mentions."""
    name = "The 'entity' parameter of EventRule must"
    if isinstance(entity, str) or not isinstance(entity, Iterable):
        raise TypeError(f"{name} hold indices of mentions. Got {entity!r:.50} instead.")
    members = list(entity)
    for member in members:
        if not is_integer(member) or not 0 <= member < n_mentions:
            raise ValueError(
                f"{name} hold indices of mentions, from 0 to {n_mentions - 1}. Got "
                f"{member!r}."
            )
    return members


def _check_verbs(verbs: Any) -> frozenset[str] | None:
    if verbs is None or (isinstance(verbs, str) and verbs.strip().lower() == "any"):
        return None
    several = isinstance(verbs, Collection) and not isinstance(verbs, (str, bytes))
    lemmas = tuple(verbs) if several else (verbs,)
    if not lemmas or not all(isinstance(v, str) and v.strip() for v in lemmas):
        raise ValueError(
            "The 'verbs' parameter of EventRule must be lemmas of verbs, at least one, "
            f"or None for any verb. Got {verbs!r} instead."
        )
    return frozenset(lemma.strip().lower() for lemma in lemmas)


def _check_lexicon(lexicon: Any) -> AffiliationLexicon | Affiliation:
    if lexicon is None:
        return CountryLexicon()
    if isinstance(lexicon, AffiliationLexicon):
        return lexicon
    if isinstance(lexicon, Mapping):
        return AffiliationLexicon(lexicon)
    if callable(lexicon) and not isinstance(lexicon, type):
        return lexicon
    raise TypeError(
        "The 'lexicon' parameter of EventRule must be an AffiliationLexicon, a dict "
        f"with the names of each code, or a function. Got {lexicon!r:.50} instead."
    )


def _check_codes(
    lexicon: AffiliationLexicon | Affiliation, codes: Any
) -> tuple[str, ...]:
    if isinstance(lexicon, AffiliationLexicon):
        if codes is not None:
            raise ValueError(
                "The 'codes' parameter of EventRule is for a function as 'lexicon': a "
                f"lexicon has its own. Got {codes!r:.50}."
            )
        return lexicon.codes
    several = isinstance(codes, Iterable) and not isinstance(codes, str)
    found = tuple(codes) if several else ()
    are_codes = all(isinstance(code, str) for code in found)
    if not found or not are_codes or len(set(found)) < len(found):
        raise ValueError(
            "The 'codes' parameter of EventRule must have the codes that the function "
            f"of 'lexicon' may return, strings, each once. Got {codes!r:.50} instead."
        )
    return tuple(map(str, found))
