"""EventCounter with sampled parses: mixtures, and the parts of the variance."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from skcalib.datasets import make_event_documents
from skcalib.documents import Document, Mention, Sentence
from skcalib.events import EventCounter, EventRule
from skcalib.experimental import EventEvidence, TreePosterior
from skcalib.posteriors import AntecedentPosterior

PARTS = ["parser", "coreference", "interaction"]
CODES = ("AAA", "BBB")


# "Kenyan rebels fled. They said troops attacked."
# First parse: the troops attacked. Second parse: they attacked, and the troops said so.
FLED = Sentence(
    ["Kenyan", "rebels", "fled"],
    lemma=["Kenyan", "rebel", "flee"],
    upos=["ADJ", "NOUN", "VERB"],
    head=[1, 2, -1],
    deprel=["amod", "nsubj", "root"],
)
ATTACKED = Sentence(
    ["They", "said", "troops", "attacked"],
    lemma=["they", "say", "troop", "attack"],
    upos=["PRON", "VERB", "NOUN", "VERB"],
    head=[1, -1, 3, 1],
    deprel=["nsubj", "root", "nsubj", "ccomp"],
)
TROOPS = [np.array([2, 3, 0]), np.array([2, 0, 4, 2])]
THEY = [np.array([2, 3, 0]), np.array([4, 0, 2, 2])]


def rebels(name="news"):
    """Return a document whose mentions are the rebels, they and the troops."""
    mentions = [Mention(0, 2, 1), Mention(3, 4, 3), Mention(5, 6, 5)]
    return Document(name, "1990-01-03", [FLED, ATTACKED], mentions, [0, 1, 2])


def links(they, troops=0.0):
    """Return scores: probabilities that they and the troops are the rebels."""
    with np.errstate(divide="ignore"):
        return np.log([[1, 0, 0], [they, 1 - they, 0], [troops, 0, 1 - troops]])


def count(documents, scores, trees=None, *, rule=None, **options):
    options = {"freq": None, "method": "exact", "random_state": 0, **options}
    return EventCounter(rule or EventRule(), **options).count(documents, scores, trees)


def parts_of(counts):
    columns = counts.variance_components()
    return {name: columns[name] for name in PARTS}


@pytest.mark.parametrize(
    ("trees", "they", "troops", "mean", "expected"),
    [
        # The count is 1 in one of four cases: they attack, and they are the rebels.
        ([TROOPS, THEY], 0.5, 0.0, 1 / 4, [1 / 16, 1 / 16, 1 / 16]),
        # by parse: 0, 0, 0, 1/2; by clustering: 0, 1/4
        ([TROOPS, TROOPS, TROOPS, THEY], 0.5, 0.0, 1 / 8, [3 / 64, 1 / 64, 3 / 64]),
        # Either mention is the rebels with probability 1/2: the parse does not matter
        # on average. By clustering: 0, 1/2, 1/2, 1.
        ([TROOPS, THEY], 0.5, 0.5, 1 / 2, [0, 1 / 8, 1 / 8]),
        # certain coreference
        ([TROOPS, THEY], 1.0, 0.0, 1 / 2, [1 / 4, 0, 0]),
        # certain parse, which is not the parse of the document
        ([THEY, THEY], 0.5, 0.0, 1 / 2, [0, 1 / 4, 0]),
        ([TROOPS], 0.5, 0.0, 0, [0, 0, 0]),
    ],
)
@pytest.mark.parametrize("method", ["auto", "exact"])
def test_two_parses_by_hand(trees, they, troops, mean, expected, method):
    counts = count([rebels()], [links(they, troops)], [trees], method=method)
    found = dict(zip(counts.country, counts.mean, strict=True))
    assert found == pytest.approx({"KEN": mean})
    assert np.ravel(list(parts_of(counts).values())) == pytest.approx(expected)
    assert counts.sd[0] ** 2 == pytest.approx(sum(expected))
    assert counts.distribution("KEN") == pytest.approx(
        [1 - mean, mean][: 1 + (mean > 0)]
    )


def test_parses_can_be_documents_sentences_or_heads():
    they = replace(ATTACKED, head=[3, -1, 1, 1])
    as_document = replace(rebels(), sentences=[FLED, they])
    for parse in (
        as_document,
        (FLED, they),
        [FLED, THEY[1]],
        THEY,
        (FLED, np.array([4, 0, 2, 2], "u1")),
    ):
        counts = count([rebels()], [links(0.25)], [[parse]])
        assert counts.mean == pytest.approx([0.25])


def test_labels_of_sentences_are_used_and_kept_with_heads():
    # With the label "obj", "they" are not the agent.
    they = replace(
        ATTACKED, head=[3, -1, 1, 1], deprel=["obj", "root", "nsubj", "ccomp"]
    )
    assert count([rebels()], [links(0.25)], [[(FLED, they)]]).mean.sum() == 0


def test_a_verb_can_occur_in_a_sampled_parse_only():
    noun = replace(ATTACKED, upos=["PRON", "VERB", "NOUN", "NOUN"])
    verb = replace(ATTACKED, head=[3, -1, 1, 1])
    document = replace(rebels(), sentences=[FLED, noun])
    rule = EventRule()
    assert not rule.may_match(document)
    counts = count([document], [links(0.5)], [[document, (FLED, verb)]], rule=rule)
    assert counts.mean == pytest.approx([0.25])
    assert counts.map_count.tolist() == [0]


@pytest.mark.parametrize("size", [20, 2_000])
def test_heads_from_a_posterior_of_trees(size):
    with np.errstate(divide="ignore"):
        heads = [  # word 1 of the second sentence depends on word 4 with probability .3
            np.log([[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]]),
            np.log(
                [[0, 0, 0.7, 0, 0.3], [1, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0]]
            ),
        ]
    samples = TreePosterior(heads).sample(size, random_state=0)
    counts = count([rebels()], [links(1.0)], [list(zip(*samples, strict=True))])
    share = np.mean(samples[1][:, 0] == 4)
    assert counts.mean == pytest.approx([share])
    assert counts.monte_carlo_error == pytest.approx(
        np.sqrt(share * (1 - share) / size)
    )


def test_mentions_keep_a_head_that_stays_outside():
    # The rule only knows "rebels" if the head of "Kenyan rebels" is unknown.
    def code(document, mention):
        return "KEN" if mention.head is None else None

    rule = EventRule("any", lexicon=code, codes=["KEN"])
    scores = [links(0.0)]
    labels = ["nsubj", "nsubj", "root"]
    # "rebels" depends on "Kenyan": the head of the mention is unknown.
    turned = [replace(FLED, head=[2, 0, -1], deprel=labels), ATTACKED]
    # Both words depend on the verb: the head of the mention stays.
    flat = [replace(FLED, head=[2, 2, -1], deprel=labels), ATTACKED]
    found = [
        count([rebels()], scores, [[t]], rule=rule).mean.sum() for t in (turned, flat)
    ]
    assert found == [1, 0]


# Any evidence, against every clustering and parse


class LabelRule:
    """Read the agents and actors of one-word mentions from dependency labels."""

    def evidence(self, document):
        labels = [label.split(":") for s in document.sentences for label in s.deprel]
        names = [*CODES, "none", "two"]
        code = np.array([[0, 1, -1, -2][names.index(name)] for _, name in labels])
        agent = np.array([kind == "agent" for kind, _ in labels])
        return EventEvidence(agent, code, CODES)


def labelled(rng, n):
    kinds = rng.choice(["agent", "other"], n, p=[0.4, 0.6])
    names = rng.choice([*CODES, "none", "two"], n, p=[0.35, 0.25, 0.35, 0.05])
    labels = [":".join(each) for each in zip(kinds, names, strict=True)]
    return Sentence([f"word{j}" for j in range(n)], deprel=labels)


def draw(rng, random_proba, n, n_trees):
    parses = [[labelled(rng, n)] for _ in range(n_trees)]
    # Parses that are alike count together.
    parses.append(parses[0])
    mentions = [Mention(j, j + 1, j) for j in range(n)]
    document = Document("news", None, [labelled(rng, n)], mentions, range(n))
    return document, random_proba(rng, n), parses


def table_of(document, proba, parses, *, entities):
    """Return counts (clusterings, parses, actors) and chances of the clusterings."""
    counts, chances = [], []
    found = [
        LabelRule().evidence(replace(document, sentences=parse)) for parse in parses
    ]
    n = len(proba)
    for choice in itertools.product(*(range(j + 1) for j in range(n))):
        entity = []
        for j, k in enumerate(choice):
            entity.append(j if k == j else entity[k])
        of_parses = np.zeros((len(parses), len(CODES)))
        for t, each in enumerate(found):
            for e in set(entity):
                members = [j for j in range(n) if entity[j] == e]
                actors = set(each.code[members].tolist()) - {-1}
                if each.agent[members].any() and len(actors) == 1 and min(actors) >= 0:
                    of_parses[t, actors.pop()] += 1
        counts.append(of_parses if entities else np.minimum(of_parses, 1))
        chances.append(np.prod([proba[j, k] for j, k in enumerate(choice)]))
    return np.array(counts), np.array(chances)


def parts_by_definition(counts, chances):
    """Return the parts of the variance, each as a variance of expectations."""
    share = np.full(counts.shape[1], 1 / counts.shape[1])

    def variance(values, weights):
        mean = np.tensordot(weights, values, 1)
        return np.tensordot(weights, (values - mean) ** 2, 1)

    flat = counts.reshape(-1, counts.shape[2])
    total = variance(flat, np.outer(chances, share).ravel())
    parser = variance(np.tensordot(chances, counts, 1), share)
    coreference = variance(counts.mean(axis=1), chances)
    return np.array([parser, coreference, total - parser - coreference])


def columns_of(counts, values):
    """Return values of all actors in order, 0 for actors without a count."""
    found = dict(zip(counts.country, values, strict=True))
    return [found.get(code, 0.0) for code in CODES]


@pytest.mark.parametrize("unit", ["entities", "documents"])
@pytest.mark.parametrize("seed", range(12))
def test_parts_are_those_of_all_parses_and_clusterings(
    seed, unit, random_proba, as_log
):
    rng = np.random.default_rng(seed)
    document, proba, parses = draw(rng, random_proba, n=5, n_trees=3)
    table, chances = table_of(document, proba, parses, entities=unit == "entities")
    expected = parts_by_definition(table, chances)
    for method, tolerance in (("exact", 1e-12), ("auto", 1e-12), ("sample", 0.02)):
        counts = count(
            [document],
            [as_log(proba)],
            [parses],
            rule=LabelRule(),
            unit=unit,
            method=method,
            n_samples=20_000,
        )
        mean = np.tensordot(chances, table.mean(axis=1), 1)
        assert columns_of(counts, counts.mean) == pytest.approx(mean, abs=tolerance)
        found = [columns_of(counts, each) for each in parts_of(counts).values()]
        assert np.array(found) == pytest.approx(expected, abs=tolerance)
        assert counts.sd**2 == pytest.approx(sum(parts_of(counts).values()), abs=1e-12)
        low, high = counts.bounds()
        if unit == "documents":
            assert np.all(low <= counts.mean + tolerance)
            assert np.all(counts.mean <= high + tolerance)


@pytest.fixture(scope="module")
def generated():
    """Give documents, scores, and three parses of each document.

    In the second parse, all words depend on the verb. In the third, no word does.
    """
    documents, _, scores = make_event_documents(
        60, n_days=170, return_scores=True, random_state=0
    )
    # The exact distribution takes long for documents with many mentions.
    few = [i for i, document in enumerate(documents) if len(document.mentions) < 9]
    documents, scores = [documents[i] for i in few], [scores[i] for i in few]
    trees = []
    for document in documents:
        roots = [s.head.index(-1) for s in document.sentences]
        flat = [
            np.where(np.arange(len(s)) == root, 0, root + 1)
            for s, root in zip(document.sentences, roots, strict=True)
        ]
        chain = [np.arange(len(s)) for s in document.sentences]
        trees.append([document, flat, chain])
    return documents, scores, trees


def with_heads(document, parse):
    if parse is document:
        return document
    sentences = [
        replace(s, head=(heads - 1).tolist())
        for s, heads in zip(document.sentences, parse, strict=True)
    ]
    after = Document("", None, sentences)._words.head
    before = document._words.head
    mentions = [
        replace(m, head=None)
        if m.start <= after[m.head] < m.end and after[m.head] != before[m.head]
        else m
        for m in document.mentions
    ]
    return replace(document, sentences=sentences, mentions=mentions)


def test_counts_are_averages_over_parses(generated):
    documents, scores, trees = generated
    options = {"freq": "quarter", "countries": ["BOL", "FRA", "KEN", "NOR"]}
    counts = count(documents, scores, trees, **options)
    single = []
    for k in range(3):
        parsed = [with_heads(d, t[k]) for d, t in zip(documents, trees, strict=True)]
        single.append(count(parsed, scores, **options))
    assert single[1].mean.sum() != pytest.approx(single[0].mean.sum(), abs=0.1)
    assert counts.mean == pytest.approx(np.mean([each.mean for each in single], axis=0))
    inside = [each.sd**2 for each in single]
    parts = parts_of(counts)
    assert parts["coreference"] + parts["interaction"] == pytest.approx(
        np.mean(inside, axis=0)
    )
    assert counts.map_count.tolist() == single[0].map_count.tolist()
    difference = counts.compare("BOL", "NOR", "1990Q1").mean_difference
    assert difference == pytest.approx(counts.mean[0] - counts.mean[3])
    for each in counts.uncertain_documents(0.5):
        k = documents[each.document]
        proba = [
            count([with_heads(k, t)], [scores[each.document]], countries=[each.country])
            for t in trees[each.document]
        ]
        assert each.proba == pytest.approx(np.mean([c.mean[0] for c in proba]))


def test_corrected_counts_use_the_means_over_parses(generated):
    documents, scores, trees = generated
    counts = count(documents, scores, trees)
    labels = {d.id: {"KEN": 1} if i % 3 == 0 else {} for i, d in enumerate(documents)}
    corrected = counts.corrected(labels)
    assert corrected.uncorrected == pytest.approx(counts.mean)
    assert counts.choose_documents(10, strata=None, random_state=0).ids


@pytest.mark.parametrize("method", ["sample", "auto", "exact"])
def test_parses_like_those_of_the_document_change_nothing(generated, method):
    documents, scores, _ = generated
    own = [
        [document, [np.array(s.head) + 1 for s in document.sentences]] * 3
        for document in documents
    ]
    options = {"method": method, "freq": "month"}
    alone = count(documents, scores, **options)
    counts = count(documents, scores, own, **options)
    assert counts.to_dict() == alone.to_dict()
    assert counts.probabilities() == alone.probabilities()
    assert counts.uncertain_documents(0.5) == alone.uncertain_documents(0.5)
    parts = parts_of(counts)
    assert not parts["parser"].any()
    assert not parts["interaction"].any()
    assert parts["coreference"] == pytest.approx(alone.sd**2)


@pytest.mark.parametrize("method", ["sample", "exact"])
def test_certain_coreference_leaves_the_parser(generated, method):
    documents, scores, trees = generated
    with np.errstate(divide="ignore"):
        certain = [np.log(np.eye(len(each))[each.argmax(axis=1)]) for each in scores]
    parts = parts_of(count(documents, certain, trees, method=method))
    assert parts["parser"].sum() > 1
    assert parts["coreference"] == pytest.approx(0)
    assert parts["interaction"] == pytest.approx(0)


def test_counts_do_not_depend_on_the_number_of_processes(generated):
    documents, scores, trees = generated
    found = [
        count(documents, AntecedentPosterior(scores), trees, method="sample", n_jobs=n)
        for n in (1, 2)
    ]
    assert found[0].to_dict() == found[1].to_dict()
    for one, other in zip(*(parts_of(each).values() for each in found), strict=True):
        assert np.array_equal(one, other)


def test_monte_carlo_error_is_the_spread_over_samples():
    rng = np.random.default_rng(0)
    proba = np.eye(4)
    proba[1, :2] = proba[3, [0, 3]] = 0.5
    names = ["other:AAA", "agent:none", "other:BBB", "agent:none"]
    others = ["other:AAA", "other:none", "other:BBB", "agent:none"]
    words = ["w", "x", "y", "z"]
    kinds = [[Sentence(words, deprel=labels)] for labels in (names, others)]
    mentions = [Mention(j, j + 1, j) for j in range(4)]
    document = Document("a", None, kinds[0], mentions, range(4))
    with np.errstate(divide="ignore"):
        scores = [np.log(proba)]
    means, errors = [], []
    for _ in range(400):
        trees = [[kinds[int(k)] for k in rng.random(10) < 0.4]]
        seed = int(rng.integers(2**31))
        counts = count(
            [document],
            scores,
            trees,
            rule=LabelRule(),
            method="sample",
            n_samples=20,
            random_state=seed,
        )
        means.append(counts.mean[0])
        errors.append(counts.monte_carlo_error[0])
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(means), rel=0.15)


# Errors


BAD = [
    (7, "must be a list with the sampled parses of each of the 1 documents. Got 7"),
    ([], "each of the 1 documents. Got list of length 0"),
    ([[]], r"least one parse for each document. Got list of length 0 .* 0 \('news'\)"),
    ([None], "at least one parse for each document. Got None"),
    ([[TROOPS, TROOPS[:1]]], r"each of the 2 sentences. .* as parse 1 of document 0"),
    ([[TROOPS, [TROOPS[0], np.zeros(3, int)]]], "for sentence 1 .* in parse 1 of"),
    ([[[TROOPS[0], np.array([2.0, 0, 4, 2])]]], "must have a Sentence with the same"),
    ([[[TROOPS[0], np.array([1, -1, 3, 1])]]], "0 for the root, or the number"),
    ([[[TROOPS[0], np.array([2, 0, 5, 2])]]], "of another word, from 1"),
    ([[[TROOPS[0], np.array([1, 0, 4, 2])]]], "of another word, from 1"),
    ([[[FLED, FLED]]], r"for sentence 1 .*in parse 0 of document 0 \('news'\)"),
]


@pytest.mark.parametrize(("trees", "message"), BAD)
def test_trees_that_do_not_fit_raise_errors(trees, message):
    with pytest.raises(ValueError, match=message) as caught:
        count([rebels()], [links(0.5)], trees)
    assert "'trees' parameter of EventCounter.count" in str(caught.value)


def test_an_error_of_the_rule_names_the_parse():
    circle = [TROOPS[0], np.array([2, 1, 4, 0])]
    with pytest.raises(ValueError, match="depend on each other in a circle") as caught:
        count([rebels()], [links(0.5)], [[TROOPS, circle]])
    assert caught.value.__notes__ == [
        "The parse is parse 1 of the document in `trees`."
    ]


def test_codes_that_differ_between_parses_raise_an_error():
    class Changing:
        def evidence(self, document):
            code = "AAA" if document.sentences[1].head[0] == 1 else "BBB"
            return EventEvidence(np.ones(3, bool), np.zeros(3, int), (code,))

    message = r"same codes for all parses of a document. .* parse 1 of document 0"
    with pytest.raises(ValueError, match=message):
        count([rebels()], [links(0.5)], [[TROOPS, THEY]], rule=Changing())


def test_variance_components_need_trees():
    counts = count([rebels()], [links(0.5)])
    with pytest.raises(ValueError, match="Pass `trees` to EventCounter.count"):
        counts.variance_components()


@pytest.mark.parametrize("method", ["sample", "auto", "exact"])
@pytest.mark.parametrize("n_trees", [1, 3])
def test_an_event_of_the_documents_own_parse_only(method, n_trees):
    words = ["w", "x"]
    own = Sentence(words, deprel=["other:AAA", "agent:none"])
    # In the second case, parses with an actor or an agent alone have no event either.
    labels = [["other:none"] * 2, ["other:AAA", "other:none"], ["agent:none"] * 2]
    trees = [[[Sentence(words, deprel=each)] for each in labels[:n_trees]]]
    mentions = [Mention(0, 1, 0), Mention(1, 2, 1)]
    document = Document("a", None, [own], mentions, [0, 0])
    with np.errstate(divide="ignore"):
        scores = [np.log([[1, 0], [0.8, 0.2]])]
    counts = count([document], scores, trees, rule=LabelRule(), method=method)
    assert counts.mean.tolist() == counts.sd.tolist() == [0]
    assert counts.map_count.tolist() == [1]
    assert counts.bounds()[1].tolist() == [0]
    assert counts.uncertain_documents(0.5)[0].links == ()
