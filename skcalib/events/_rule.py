"""Rules that find the mentions that are agents of an event, and their actors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._errors import ParameterError, ParameterTypeError, public
from .._validation import check_bool, is_integer
from ..text._documents import Document, Mention, check_document
from ..text._trees import DocumentTree
from ._lexicon import AffiliationLexicon, CountryLexicon

NO_CODE = -1
SPOILED = -2
MODIFIERS = ("nmod", "amod")
PASSIVE = frozenset(("aux:pass", "nsubj:pass", "csubj:pass"))
RELATIVE = frozenset(("who", "whom", "which", "that"))

Affiliation = Callable[[Document, Mention], str | None]


@dataclass(frozen=True, eq=False)
class EventEvidence:
    """Agents and actors of the mentions of a document.

    Attributes
    ----------
    agent : ndarray of bool of shape (n_mentions,)
        Whether the mention is an agent of an event.
    code : ndarray of int of shape (n_mentions,)
        Actor of the mention, as an index into `codes`. The index is -1 if the mention
        belongs to no known actor, and -2 if the mention belongs to several actors. An
        entity with such a mention is not counted for any actor.
    codes : tuple of str
        Codes of all actors.

    See Also
    --------
    EventRule : Rule that finds agents and actors.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.experimental import EventEvidence
    >>> found = EventEvidence(np.array([True, False]), np.array([-1, 0]), ("FRA",))
    >>> found.codes[found.code[1]]
    'FRA'
    """

    agent: np.ndarray
    code: np.ndarray
    codes: tuple[str, ...]


class Rule(Protocol):
    """Anything that finds the agents and the actors of a document's mentions."""

    def evidence(self, document: Document) -> EventEvidence:
        """Return the agents and the actors."""


class EventRule:
    """Find the mentions that are agents of an event, and the actors they belong to.

    With ``compound=False`` and ``relative_pronouns=False``, this is the function
    f(c, e; x) of [NO15]_, section 6, for parses in Universal Dependencies. By default,
    it also finds actors in compounds ("US troops") and agents behind relative pronouns
    (see Notes). An entity counts as an event of actor c if one of its mentions is the
    agent of an event verb, one of its mentions belongs to c, and none of its mentions
    belongs to another actor.

    Parameters
    ----------
    verbs : str, collection of str or None, default=('attack',)
        Lemmas of the event verbs. If None or 'any', all verbs are event verbs.
    lexicon : AffiliationLexicon, dict or callable, default=None
        Names of the actors, as a lexicon or as the entries of a lexicon. It can also be
        a function that takes a document and one of its mentions, and returns the code
        of the mention's actor, or None if there is no actor. If None,
        :class:`CountryLexicon` is used.
    codes : sequence of str, default=None
        All codes that `lexicon` can return, if it is a function. This parameter must be
        given for a function, and must be None for a lexicon.
    lowercase : bool, default=None
        Whether the text is in lower case, so that names need no capital letter. If
        None, documents without any capital letter are treated as lower case.
    relative_pronouns : bool, default=True
        Whether the agent in "troops who attacked" is the noun "troops" rather than the
        pronoun "who". The function of the paper does not do so.
    compound : bool, default=True
        Whether names in compounds are names of the actor: "US" in "US troops" and in
        "US-British forces". The function of the paper has `nmod` and `amod` only.
    passive : bool, default=True
        Whether by-phrases are agents: "attacked by troops".
    conjuncts : bool, default=False
        Whether "troops and tanks attacked" has two agents, and whether "attacked" has
        an agent in "troops came and attacked". If False, as in the paper, only the
        first of several coordinated agents is used, and a verb without its own subject
        does not have an agent.

    Attributes
    ----------
    codes : tuple of str
        Codes of the actors, in the order of the lexicon.

    See Also
    --------
    CountryLexicon : Names of countries.
    AffiliationLexicon : Names of any actors.
    skcalib.documents.mentions_from_parse : Mentions found in parses.

    Notes
    -----
    A mention belongs to actor c if its head is part of a name of c. It also belongs to
    c if part of a name of c is an `nmod`, `amod` or (with `compound`) `compound`
    dependent of the head, or is coordinated or compounded with such a dependent
    ("Russian and Chinese ships", "US-British forces"). If names of two actors are
    found, the mention belongs to neither of them, and its entity is not counted.

    A mention is an agent if its head is the `nsubj` of an active event verb, or if it
    is an `obl:agent` of a passive event verb or an `obl` with the preposition "by". A
    verb is a word with the tag VERB. It is passive if it has an `aux:pass` or a passive
    subject. Without any subject, it is passive if it has ``Voice=Pass`` or is a
    participle that modifies a noun. A relative pronoun is replaced by the noun that its
    clause (`acl:relcl`) modifies.

    In MUC-3, with any verb, the default finds 2,157 mentions that are an agent and
    belong to a country, before coreference. The function of the paper finds 1,597, so
    that the default adds 35%, most of them in compounds.

    If the head of a mention is unknown, the rule uses the first word that depends on a
    word outside the mention. Punctuation is used only if there is no other such word.
    The following labels of spaCy's English models are also accepted: `nsubjpass`,
    `auxpass`, `relcl`, `poss`, and `pobj` as a dependent of `agent` or `prep`.

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

    @public
    def __init__(
        self,
        verbs: str | Collection[str] | None = ("attack",),
        *,
        lexicon: Mapping[str, str | Iterable[str]] | Affiliation | None = None,
        codes: Sequence[str] | None = None,
        lowercase: bool | None = None,
        relative_pronouns: bool = True,
        compound: bool = True,
        passive: bool = True,
        conjuncts: bool = False,
    ):
        self.verbs: frozenset[str] | None = _check_verbs(verbs)
        self.lexicon: AffiliationLexicon | Affiliation = _check_lexicon(lexicon)
        self.codes: tuple[str, ...] = _check_codes(self.lexicon, codes)
        self.lowercase: bool | None = (
            None if lowercase is None else check_bool(lowercase, name="lowercase")
        )
        self.relative_pronouns: bool = check_bool(
            relative_pronouns, name="relative_pronouns"
        )
        self.compound: bool = check_bool(compound, name="compound")
        self.passive: bool = check_bool(passive, name="passive")
        self.conjuncts: bool = check_bool(conjuncts, name="conjuncts")
        self._index = {code: i for i, code in enumerate(self.codes)}

    def __repr__(self) -> str:
        verbs = "None" if self.verbs is None else repr(tuple(sorted(self.verbs)))
        names = "lexicon lowercase relative_pronouns compound passive conjuncts"
        settings = [f"{name}={getattr(self, name)!r}" for name in names.split()]
        return f"EventRule({', '.join([verbs, *settings])})"

    def may_match(self, document: Document) -> bool:
        """Return whether a document can have an event.

        Parameters
        ----------
        document : Document
            Document with parses.

        Returns
        -------
        may_match : bool
            False if the document has no mention or no event verb. Such a document
            cannot have an event for any clustering of its mentions.
        """
        check_document(document, "EventRule")
        if not document.mentions:
            return False
        self._check_tags(document)
        return any(
            True
            for sentence in document.sentences
            for _ in self._event_verbs(sentence.lemma, sentence.upos)
        )

    def evidence(self, document: Document) -> EventEvidence:
        """Find the agents and the actors of the mentions of a document.

        Parameters
        ----------
        document : Document
            Document with parses and mentions.

        Returns
        -------
        evidence : EventEvidence
            Agents and actors, with an entry for each mention.

        Raises
        ------
        ValueError
            If a sentence with mentions does not have a parse, or if the dependencies of
            a sentence contain a cycle. The message names the document and the sentence.
        """
        check_document(document, "EventRule")
        if not document.mentions:
            return EventEvidence(np.zeros(0, bool), np.zeros(0, np.intp), self.codes)
        try:
            tree = DocumentTree(document)
        except ParameterError as error:
            error.function = "EventRule"
            raise
        if isinstance(self.lexicon, AffiliationLexicon):
            names = self.lexicon._codes_of_words(document, lowercase=self.lowercase)
            code = [self._code_of(names, tree, head) for head in tree.mention_heads]
        else:
            code = self._codes_by_function(self.lexicon, document)
        self._check_tags(document)
        words = tree.words
        agents = self._agents(tree, self._event_verbs(words.lemma, words.upos))
        agent = [head in agents for head in tree.mention_heads]
        return EventEvidence(
            np.array(agent, dtype=bool), np.array(code, dtype=np.intp), self.codes
        )

    @public
    def __call__(self, code: str, entity: Iterable[int], document: Document) -> bool:
        """Return whether an entity of an actor is the agent of an event.

        Parameters
        ----------
        code : str
            Code of the actor.
        entity : iterable of int
            Indices of the entity's mentions.
        document : Document
            Document with parses and mentions.

        Returns
        -------
        is_agent : bool
            Whether at least one mention of the entity is an agent, at least one mention
            has this code, and no mention has another code.

        Raises
        ------
        ValueError
            If the code is not one of the rule's codes, or if there is no mention with
            one of the indices.
        """
        if not isinstance(code, str) or code not in self._index:
            problem = f"must be one of its codes. Got {code!r} instead."
            raise ParameterError("code", problem)
        found = self.evidence(document)
        if isinstance(entity, str) or not isinstance(entity, Iterable):
            problem = f"must contain indices of mentions. Got {entity!r:.50} instead."
            raise ParameterTypeError("entity", problem)
        members, n = list(entity), len(document.mentions)
        for member in members:
            if not is_integer(member) or not 0 <= member < n:
                raise ParameterError(
                    "entity",
                    f"must contain indices of mentions, from 0 to {n - 1}. Got "
                    f"{member!r}.",
                )
        # SPOILED is a code of its own here, so that it makes the sets differ.
        codes = set(found.code[members].tolist()) - {NO_CODE}
        return codes == {self._index[code]} and bool(found.agent[members].any())

    def _event_verbs(self, lemma: Sequence[str], upos: Sequence[str]) -> Iterator[int]:
        """Yield the words that are event verbs."""
        for i, tag in enumerate(upos):
            is_verb = tag == "VERB"
            if is_verb and (self.verbs is None or lemma[i].lower() in self.verbs):
                yield i

    def _check_tags(self, document: Document) -> None:
        """Raise if part-of-speech tags, or lemmas of verbs, are missing."""
        # A file without a column of tags has "_" everywhere.
        tags = set().union(*(sentence.upos for sentence in document.sentences))
        if tags == {"_"}:
            raise ParameterError(
                None,
                f"needs part-of-speech tags (upos). Document {document.id!r} has none. "
                "Read a file that has them, or tag the text, for example with spaCy "
                "and Document.from_spacy.",
                "EventRule",
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
            raise ParameterError(
                None,
                f"needs lemmas to find event verbs. Document {document.id!r} has none. "
                "Read a file that has them, or pass verbs='any'.",
                "EventRule",
            )

    def _code_of(
        self, names: dict[int, list[frozenset[str]]], tree: DocumentTree, head: int
    ) -> int:
        """Return the code that all names have in common, if there is exactly one."""
        found = [
            codes
            for word in (head, *_modifiers(tree, head, names, self.compound))
            for codes in names.get(word, ())
        ]
        if not found:
            return NO_CODE
        # "Congolese and Rwandan troops" have no code in common.
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
                raise ParameterError(
                    "lexicon",
                    "must be a function that returns one of 'codes', or None. Got "
                    f"{code!r} for mention {i} of document {document.id!r}.",
                    "EventRule",
                )
            found.append(NO_CODE if code is None else self._index[code])
        return found

    def _agents(self, tree: DocumentTree, verbs: Iterable[int]) -> set[int]:
        """Return the words that are agents of verbs, in the whole document."""
        found = set()
        for verb in verbs:
            for word, of in self._agents_of(tree, verb):
                if self.relative_pronouns:
                    word = _resolved(tree, word, of)
                found.add(word)
                if self.conjuncts:
                    found.update(_with_label(tree, word, "conj"))
        return found

    def _agents_of(self, tree: DocumentTree, verb: int) -> Iterator[tuple[int, int]]:
        """Yield agents, each with the verb that it depends on."""
        # "attacked by rebels": the subject of a passive is the target, not the agent.
        is_passive = _is_passive(tree, verb)
        if not is_passive:
            yield from self._subjects(tree, verb)
        if self.passive:
            words = _with_label(tree, verb, "obl:agent")
            if is_passive:
                words += _by_phrases(tree, verb)
            yield from ((word, verb) for word in words)

    def _subjects(self, tree: DocumentTree, verb: int) -> list[tuple[int, int]]:
        """Return the subjects of a verb, or of the verb it is coordinated with."""
        while True:
            subjects = _with_label(tree, verb, "nsubj")
            # "they came and attacked": attacked shares the subject of came.
            above = tree.heads[verb] if tree.deprel[verb] == "conj" else -1
            if subjects or not self.conjuncts or above < 0:
                return [(word, verb) for word in subjects]
            # "they were driven out and attacked": the subject of a passive is no agent.
            if _is_passive(tree, above):
                return []
            verb = above


# Words of a parse


def _modifiers(
    tree: DocumentTree, head: int, names: Collection[int], compound: bool
) -> list[int]:
    """Return the modifiers of a head, and words that are coordinated with them."""
    found = []
    labels = (*MODIFIERS, "compound") if compound else MODIFIERS
    for word in tree.children[head]:
        if tree.deprel[word].partition(":")[0] not in labels:
            continue
        # "US - British" is a pair of names, "US - backed" is not
        joined = ("conj", "compound") if compound and word in names else ("conj",)
        found.append(word)
        found += [c for c in tree.children[word] if tree.deprel[c] in joined]
    return found


def _with_label(tree: DocumentTree, word: int, label: str) -> list[int]:
    return [child for child in tree.children[word] if tree.deprel[child] == label]


def _is_passive(tree: DocumentTree, verb: int) -> bool:
    labels = {tree.deprel[child] for child in tree.children[verb]}
    # features of automatic parses can be wrong: a subject has priority
    if not PASSIVE.isdisjoint(labels) or "nsubj" in labels:
        return not PASSIVE.isdisjoint(labels)
    # reduced relative clause: the village attacked by rebels
    reduced = tree.deprel[verb] == "acl" and tree.xpos[verb] == "VBN"
    return reduced or "Voice=Pass" in tree.feats[verb]


def _by_phrases(tree: DocumentTree, verb: int) -> Iterator[int]:
    for word in _with_label(tree, verb, "obl"):
        cases = _with_label(tree, word, "case")
        if any(tree.form[case].lower() == "by" for case in cases):
            yield word


def _resolved(tree: DocumentTree, word: int, verb: int) -> int:
    """Return the noun of a relative pronoun, and any other word unchanged."""
    # Without the feature, the form has to do: "that" is also a determiner.
    feats = tree.feats[word]
    is_marked = "PronType=Rel" in feats or "PronType=" not in feats
    if tree.form[word].lower() not in RELATIVE or not is_marked:
        return word
    # The verb may be coordinated or embedded within the relative clause.
    while tree.heads[verb] >= 0:
        if tree.deprel[verb] == "acl:relcl":
            return tree.heads[verb]
        verb = tree.heads[verb]
    return word


# Validation


def _check_verbs(verbs: Any) -> frozenset[str] | None:
    if verbs is None or (isinstance(verbs, str) and verbs.strip().lower() == "any"):
        return None
    several = isinstance(verbs, Collection) and not isinstance(verbs, (str, bytes))
    lemmas = tuple(verbs) if several else (verbs,)
    if not lemmas or not all(isinstance(v, str) and v.strip() for v in lemmas):
        raise ParameterError(
            "verbs",
            "must be lemmas of verbs, at least one, or None for any verb. "
            f"Got {verbs!r} instead.",
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
    raise ParameterTypeError(
        "lexicon",
        "must be an AffiliationLexicon, a dict with the names of each "
        f"code, or a function. Got {lexicon!r:.50} instead.",
    )


def _check_codes(
    lexicon: AffiliationLexicon | Affiliation, codes: Any
) -> tuple[str, ...]:
    if isinstance(lexicon, AffiliationLexicon):
        if codes is not None:
            raise ParameterError(
                "codes",
                "must be None, because 'lexicon' has its own codes. Got "
                f"{codes!r:.50}.",
            )
        return lexicon.codes
    several = isinstance(codes, Iterable) and not isinstance(codes, str)
    found = tuple(codes) if several else ()
    are_codes = all(isinstance(code, str) for code in found)
    if not found or not are_codes or len(set(found)) < len(found):
        raise ParameterError(
            "codes",
            "must contain the codes that the function 'lexicon' may return, as "
            f"different strings. Got {codes!r:.50} instead.",
        )
    return tuple(map(str, found))
