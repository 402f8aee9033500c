"""Small inputs of the recorded calls. Each is made once, when a case names it.

Numbers come from `random.Random`, whose sequence every version of Python repeats.
"""

import functools
import io
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from skcalib.coref import AntecedentFeatures, AntecedentRanker, SampledCorefPairs
from skcalib.datasets import (
    make_coref_documents,
    make_event_documents,
    make_tagged_sentences,
)
from skcalib.documents import Document, Mention, Sentence
from skcalib.evaluation import align_evaluations, evaluation_of
from skcalib.events import EventCounter, EventRule
from skcalib.experimental import (
    TreePosterior,
    predicted_entities,
    predicted_links,
)
from skcalib.metrics import bin_size_curve, calibration_error_interval
from skcalib.posteriors import AntecedentPosterior, LinearChainPosterior
from skcalib.queries import ClassQuery, TagQuery
from skcalib.recalibration import TemperatureScaling
from skcalib.sequence import CRFTagger, HMMTagger
from skcalib.significance import compare_systems

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))
from harness_files import write_files

nan = float("nan")


def given(make: Callable[[], object]) -> Callable[[], object]:
    """Mark a function as an input: its name in a case stands for what it returns."""
    cached = functools.cache(make)
    cached.is_input = True
    return cached


def uniform(seed: int, *shape: int) -> np.ndarray:
    generator = random.Random(seed)
    return np.array([generator.random() for _ in range(np.prod(shape))]).reshape(shape)


# Pairs of labels and probabilities.


@given
def q():
    return uniform(1, 240).round(3)


@given
def y():
    """Return labels of an overconfident model."""
    return (uniform(2, 240) < 0.15 + 0.7 * q()).astype(int)


@given
def y_fair():
    return (uniform(3, 240) < q()).astype(int)


@given
def coarse():
    """Return probabilities with many ties."""
    return (q() * 8).round() / 8


@given
def groups():
    return np.arange(240) // 6


@given
def weights():
    return 1 + np.arange(240) % 3


@given
def q_other():
    """Return probabilities of a second model."""
    return np.clip(q() + 0.2 * (uniform(4, 240) - 0.5), 0, 1).round(3)


@given
def P():
    """Return probabilities of three classes."""
    scores = uniform(5, 150, 3) ** 2
    return scores / scores.sum(axis=1, keepdims=True)


@given
def classes():
    """Return labels a, b and c that follow the probabilities of `P` roughly."""
    chosen = (uniform(6, 150, 1) > np.cumsum(P() ** 1.3, axis=1)[:, :2]).sum(axis=1)
    return np.array(["a", "b", "c"])[chosen]


@given
def bayes():
    return GaussianNB().fit(P(), classes())


@given
def flat():
    return DummyClassifier().fit(P(), classes())


@given
def linear():
    return LinearRegression().fit(P(), P()[:, 0])


@given
def folds():
    """Return the estimators and the indices of three folds."""
    return cross_validate(
        GaussianNB(), P(), classes(), cv=3, return_estimator=True, return_indices=True
    )


def brier(y_true, y_proba):
    return float(np.mean((y_true - y_proba) ** 2))


@given
def interval():
    return calibration_error_interval(y(), q())


@given
def size_curve():
    return bin_size_curve(y(), q(), bin_sizes=[5, 20, 80])


# Sentences, tags and taggers.


@given
def sentences():
    return make_tagged_sentences(60, mean_length=6, n_words=80, random_state=0)


@given
def X():
    return sentences()[0][:45]


@given
def tags():
    return sentences()[1][:45]


@given
def X_test():
    return sentences()[0][45:50]


@given
def tags_test():
    return sentences()[1][45:50]


@given
def hmm():
    return HMMTagger(0.5).fit(X(), tags())


@given
def old_hmm():
    return HMMTagger(5).fit(X(), tags())


@given
def crf():
    return CRFTagger(c2=0.5, max_iterations=40).fit(X(), tags())


@given
def tag_posterior():
    return hmm().posterior(X_test())


@given
def tempered_hmm():
    return TemperatureScaling(HMMTagger(), cv=3).fit(X(), tags())


@given
def chain():
    """Return the posterior of three sequences over three tags; one is empty."""
    scores = [4 * uniform(seed, n, 3) - 2 for seed, n in ((10, 4), (11, 0), (12, 6))]
    return LinearChainPosterior(
        scores, 2 * uniform(13, 3, 3), uniform(14, 3), uniform(15, 3)
    )


@given
def paths():
    return [[0, 1, 2, 0], [], [1, 1, 0, 2, 2, 1]]


@given
def entity_chain():
    """Return the posterior of two sentences over the tags in `entity_tags`."""
    scores = [4 * uniform(seed, n, 3) for seed, n in ((16, 5), (17, 3))]
    return LinearChainPosterior(scores, [[0, 0, -np.inf], [0, 0, 1], [0, 0, 1]])


@given
def entity_tags():
    return ["O", "B-PER", "I-PER"]


@given
def entity_words():
    return [["Ada", "Bell", "met", "Bo", "there"], ["Cy", "Dow", "sang"]]


@given
def entity_gold():
    return [["B-PER", "I-PER", "O", "B-PER", "O"], ["O", "B-PER", "O"]]


@given
def entity_guess():
    return [["B-PER", "O", "O", "B-PER", "O"], ["B-PER", "I-PER", "O"]]


@given
def entities():
    return predicted_entities(entity_chain(), entity_tags(), tokens=entity_words())


@given
def class_answers():
    return ClassQuery().from_proba(classes(), P(), classes=["a", "b", "c"])


@given
def tag_answers():
    return TagQuery()(hmm(), X_test(), tags_test())


@given
def trees():
    scores = [3 * uniform(seed, n, n + 1) for seed, n in ((20, 3), (21, 5))]
    return TreePosterior(scores)


@given
def heads():
    return [[2, 0, 0], [2, 0, 2, 5, 3]]


# Coreference.


@given
def coref():
    return make_coref_documents(12, mean_mentions=6, return_scores=True, random_state=0)


@given
def documents():
    return coref()[0]


@given
def clusterings():
    return coref()[1]


@given
def scores():
    return coref()[2]


@given
def links():
    return AntecedentPosterior(scores())


@given
def three_mentions():
    """Return the posterior of one document whose numbers are in the guide."""
    with np.errstate(divide="ignore"):
        return AntecedentPosterior(
            [np.log([[1, 0, 0], [0.8, 0.2, 0], [0.3, 0.3, 0.4]])]
        )


@given
def coref_features():
    return AntecedentFeatures(2**8).transform(documents())


@given
def ranker():
    return AntecedentRanker(C=0.1, max_iter=30).fit(coref_features(), clusterings())


@given
def coref_pipeline():
    model = make_pipeline(
        AntecedentFeatures(2**8), AntecedentRanker(C=0.1, max_iter=30)
    )
    return model.fit(documents(), clusterings())


@given
def exact_pairs():
    return SampledCorefPairs(method="exact").fit(scores())


@given
def tempered_links():
    scaled = [2 * (each - np.eye(len(each))) for each in scores()]
    return TemperatureScaling(SampledCorefPairs(method="exact"), cv="prefit").fit(
        scaled, clusterings()
    )


@given
def predicted():
    return predicted_links(links()[:2])


# Events.


@given
def reports():
    return make_event_documents(
        40, mean_mentions=6, n_days=300, return_scores=True, random_state=0
    )


@given
def event_documents():
    return reports()[0]


@given
def event_scores():
    return reports()[2]


@given
def counts():
    counter = EventCounter(EventRule(), freq="quarter", random_state=0)
    return counter.count(event_documents(), event_scores())


@given
def corrected():
    choice = counts().choose_documents(25, strata=None, random_state=0)
    found = {d.id: e for d, e in zip(event_documents(), reports()[1], strict=True)}
    return counts().corrected(
        {name: found[name] for name in choice.ids},
        inclusion_probability=choice.inclusion_probability,
    )


@given
def battle():
    """Return a document in which Russian troops attack a town, twice."""
    words = ["Russian", "troops", "attacked", "the", "town"]
    sentence = Sentence(
        words,
        lemma=["Russian", "troops", "attack", "the", "town"],
        upos=["ADJ", "NOUN", "VERB", "DET", "NOUN"],
        head=[1, 2, -1, 4, 2],
        deprel=["amod", "nsubj", "root", "det", "obj"],
    )
    mentions = [Mention(0, 2, 1), Mention(3, 5, 4), Mention(5, 7, 6)]
    return Document("a", None, [sentence, sentence], mentions, [0, 1, 0])


@given
def conllu():
    rows = ["1 It it PRON PRP _ 2 nsubj _ _", "2 rains rain VERB VBZ _ 0 root _ _"]
    start = ["# newdoc id = note-1", "# meta::dateCreated = 2004-11-17"]
    return "\n".join(start + [row.replace(" ", "\t") for row in rows])


@given
def conll2012():
    rows = ["toy 0 0 Ada NNP * - - - - * (1)", "toy 0 1 rests VBZ * - - - - * -"]
    return "\n".join(["#begin document (toy); part 000", *rows, "", "#end document"])


def text(content):
    """Return a text as an open file."""
    return io.StringIO(content)


def written(name, content):
    """Write a text to a new file and return its path."""
    path = Path(tempfile.mkdtemp(), name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")
    return path


@given
def litbank():
    rows = ["MENTION T1 0 0 0 0 Ada PER PROP", "COREF T1 Ada-0"]
    path = written("toy.txt", "Ada rests .")
    path.with_suffix(".ann").write_text("\n".join(rows).replace(" ", "\t"), "utf-8")
    return path.parent


# Systems on the same items.


def right(seed: int, share: float, n: int = 90) -> np.ndarray:
    """Return which of n questions a system answers; easy ones are easy for all."""
    return (0.6 * uniform(30, n) + 0.4 * uniform(seed, n) < share).astype(int)


@given
def system_a():
    return right(31, 0.45)


@given
def system_b():
    return right(32, 0.55)


@given
def systems():
    return {"a": system_a(), "b": system_b(), "c": right(33, 0.7)}


@given
def passages():
    return np.arange(90) // 5


@given
def ratings():
    """Return scores in [0, 1] of three systems."""
    return {
        name: (0.5 * uniform(34, 60) + 0.5 * uniform(35 + k, 60) ** (1 + k / 3)).round(
            2
        )
        for k, name in enumerate("abc")
    }


@given
def ratios():
    """Return correct tokens and tokens of each sentence, for three systems."""
    length = 5 + (20 * uniform(40, 70)).astype(int)
    return {
        name: np.c_[
            (length * (0.6 + 0.4 * uniform(41 + k, 70) ** (1 - k / 3))).astype(int),
            length,
        ]
        for k, name in enumerate("abc")
    }


@given
def spans():
    """Return correct, guessed and true entities of each sentence, for two systems."""
    gold = (4 * uniform(45, 80)).astype(int)
    found = {
        name: (gold * uniform(46 + k, 80) * 1.3).astype(int)
        for k, name in enumerate("ab")
    }
    return {name: np.c_[np.minimum(n, gold), n + 1, gold] for name, n in found.items()}


@given
def comparison():
    return compare_systems(systems())


@given
def pairs_of_systems():
    return compare_systems(ratios(), statistic="ratio", random_state=0)


@given
def said():
    return ["the cat sat on the mat .", "a dog barks", "it rains in the north"]


@given
def references():
    return ["the cat sat on a mat .", "the dog barks loudly", "it rains in the north"]


@given
def judge():
    return right(50, 0.6, 300)


@given
def human():
    """Return people's verdicts on 60 of the answers that `judge` judged."""
    truth = np.where(uniform(51, 300) < 0.12, 1 - judge(), judge())
    return np.where(uniform(52, 300) < 0.2, truth, nan)


@given
def evaluations():
    """Return two systems on nearly the same questions."""
    names = [f"q{k}" for k in range(90)]
    a = evaluation_of(system_a(), question=names, groups={"passage": passages()})
    b = evaluation_of(system_b()[:-2], question=names[:-2], model="b")
    return {"a": a, "b": b}


@given
def aligned():
    return align_evaluations(evaluations(), missing="drop")


@given
def repeats():
    """Return scores of four samples of each of 30 questions, and the questions."""
    ease = np.repeat(uniform(55, 30), 4)
    return (uniform(56, 120) < ease).astype(float), np.repeat(np.arange(30), 4)


@given
def harness():
    """Return the folder with files of all evaluation harnesses."""
    return write_files(tempfile.mkdtemp())


# A corpus with a model's probabilities, and labels of some documents.


@given
def proba():
    return uniform(60, 400).round(3) ** 2


@given
def labels():
    truth = (uniform(61, 400) < 0.8 * proba() + 0.05).astype(float)
    return np.where(uniform(62, 400) < 0.25, truth, nan)


@given
def group_labels():
    """Return labels of all documents in a fifth of the groups of ten documents."""
    truth = (uniform(61, 400) < 0.8 * proba() + 0.05).astype(float)
    return np.where(np.repeat(uniform(63, 40) < 0.3, 10), truth, nan)


@given
def years():
    return 1990 + np.arange(400) // 80


@given
def regions():
    return np.array(["north", "south"])[np.arange(400) % 2]


# Outputs of other libraries.


@given
def spacy_doc():
    """Return a sentence as spaCy parses it."""
    words = [("It", "PRON", "nsubj", 1), ("rains", "VERB", "ROOT", 1)]
    tokens = [
        SimpleNamespace(
            i=i, text=form, lemma_=form.lower(), pos_=pos, tag_="", morph="", dep_=dep
        )
        for i, (form, pos, dep, _) in enumerate(words)
    ]
    for token, (_, _, _, head) in zip(tokens, words, strict=True):
        token.head = tokens[head]

    class Doc(list):
        sents = (tokens,)

    return Doc(tokens)


@given
def spacy_ner():
    parses = [(0.5, [(0, 2, "PER")]), (0.25, [(0, 1, "PER")]), (0.25, [])]
    return SimpleNamespace(
        beam_parse=lambda docs, beam_width, beam_density: [parses] * len(docs),
        moves=SimpleNamespace(get_beam_parses=lambda beam: beam),
    )
