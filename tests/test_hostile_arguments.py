"""Wrong arguments of taggers, posteriors, queries and readers give named errors."""

import itertools
import math
import re
import traceback
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupKFold

from skcalib import (
    coref,
    datasets,
    documents,
    experimental,
    interop,
    posteriors,
    queries,
    sequence,
)
from skcalib._errors import ParameterError
from skcalib.recalibration import TemperatureScaling, fit_temperature

X = [["the", "dog"], ["a", "cat", "sat"]]
Y = [["B-D", "O"], ["B-D", "I-D", "O"]]
CLASSES = ["B-D", "I-D", "O"]
EMISSION = [np.zeros((2, 3)), np.zeros((3, 3))]
MENTIONS = [[0, 0], [0, 1, 0]]
SCORES = [np.zeros((2, 2)), np.zeros((3, 3))]
TREES = [[0, 1], [2, 0, 2]]
ARCS = [np.zeros((2, 3)), np.zeros((3, 4))]
SPANS = [[(0, 1, "D", 0.5)], []]

tagger = sequence.HMMTagger().fit(X, Y)
chain = posteriors.LinearChainPosterior(EMISSION)
pairs = posteriors.AntecedentPosterior(SCORES)
trees = experimental.TreePosterior(ARCS)
texts = datasets.make_coref_documents(2, random_state=0, mean_mentions=3)
features, entities = texts if isinstance(texts, tuple) else (texts.data, texts.target)
features = list(coref.AntecedentFeatures(64).fit_transform(features))
ranker = coref.AntecedentRanker().fit(features, entities)
sampler = coref.SampledCorefPairs(n_samples=5, random_state=0).fit(SCORES)
answers = queries.TagQuery().from_posterior(Y, chain, CLASSES)
found = experimental.PredictedEntities.from_spans(SPANS, tokens=X)
links = experimental.predicted_links(pairs)
BATCH = np.zeros((2, 3, 3))
crf_params = sequence.CRFTagger(c1=0.1, max_iterations=2).get_params()
del crf_params["model_filename"]  # any text is a name, and a file would be written

# Each public function with valid arguments.
CALLS = {
    "AntecedentPosterior": (posteriors.AntecedentPosterior, {"log_scores": SCORES}),
    "pairs.sample": (pairs.sample, {"n_samples": 2, "random_state": 0}),
    "entity_proba": (pairs.entity_proba, {"members": [[0], [0, 1]]}),
    "pairs.log_proba": (pairs.log_proba, {"labels": MENTIONS}),
    "n_unreachable": (pairs.n_unreachable, {"labels": MENTIONS}),
    "pairs.tempered": (pairs.tempered, {"temperature": 2.0, "new_offset": 0.0}),
    "LinearChainPosterior": (
        posteriors.LinearChainPosterior,
        {
            "log_emission": EMISSION,
            "log_transition": np.zeros((3, 3)),
            "log_start": np.zeros(3),
            "log_end": np.zeros(3),
            "lengths": None,
            "dtype": np.float64,
        },
    ),
    "stacked chain": (
        posteriors.LinearChainPosterior,
        {"log_emission": np.zeros((5, 3)), "lengths": [2, 3]},
    ),
    "chain.log_proba": (chain.log_proba, {"paths": [[0, 1], [2, 2, 0]]}),
    "pair_marginals": (chain.pair_marginals, {"pairs": [(0, 1)]}),
    "iter_pair_marginals": (
        lambda chunk: list(chain.iter_pair_marginals(chunk)),
        {"chunk": 1},
    ),
    "span_marginals": (chain.span_marginals, {"spans": [[(0, [1])], []]}),
    "chain.sample": (chain.sample, {"n_samples": 2, "random_state": 0}),
    "k_best": (chain.k_best, {"k": 2}),
    "chain.tempered": (chain.tempered, {"temperature": 2.0}),
    "TreePosterior": (
        experimental.TreePosterior,
        {"log_scores": ARCS, "single_root": True},
    ),
    "subtree_marginals": (trees.subtree_marginals, {"spans": [[(0, 1)], []]}),
    "trees.log_proba": (trees.log_proba, {"trees": TREES}),
    "trees.sample": (trees.sample, {"n_samples": 2, "random_state": 0}),
    "trees.tempered": (trees.tempered, {"temperature": 2.0}),
    "HMMTagger": (
        lambda X, y, **kwargs: sequence.HMMTagger(**kwargs).fit(X, y).predict(X),
        {"X": X, "y": Y, **sequence.HMMTagger(1.0).get_params()},
    ),
    "CRFTagger": (
        lambda X, y, **kwargs: sequence.CRFTagger(**kwargs).fit(X, y).predict(X),
        {"X": X, "y": Y, **crf_params},
    ),
    "tagger.predict": (tagger.predict, {"X": X}),
    "tagger.predict_proba": (tagger.predict_proba, {"X": X}),
    "tagger.predict_marginals": (tagger.predict_marginals, {"X": X}),
    "tagger.posterior": (tagger.posterior, {"X": X}),
    "tagger.score": (tagger.score, {"X": X, "y": Y}),
    "TokenFeatures": (
        lambda X, **kwargs: sequence.TokenFeatures(**kwargs).fit(X).transform(X),
        {"X": X, **sequence.TokenFeatures().get_params()},
    ),
    "convert_tags": (sequence.convert_tags, {"y": Y, "scheme": "BIO", "to": "IOBES"}),
    "cross_val_marginals": (
        sequence.cross_val_marginals,
        {
            "estimator": sequence.HMMTagger(),
            "X": X * 2,
            "y": Y * 2,
            "cv": GroupKFold(2),
            "groups": [0, 0, 1, 1],
            "n_jobs": None,
            "verbose": 0,
        },
    ),
    "AntecedentRanker": (
        lambda X, y, sample_weight, **kwargs: (
            coref.AntecedentRanker(**kwargs).fit(X, y, sample_weight).transform(X)
        ),
        {
            "X": features,
            "y": entities,
            "sample_weight": [1.0, 1.0],
            **coref.AntecedentRanker(max_iter=1000).get_params(),
        },
    ),
    "ranker.score": (
        ranker.score,
        {"X": features, "y": entities, "sample_weight": [1.0, 1.0]},
    ),
    "AntecedentFeatures": (
        lambda X, n_features: coref.AntecedentFeatures(n_features).fit(X).transform(X),
        {"X": [documents.Document("a")], "n_features": 64},
    ),
    "SampledCorefPairs": (
        lambda X, **kwargs: coref.SampledCorefPairs(**kwargs).fit(X).transform(X),
        {"X": SCORES, **coref.SampledCorefPairs(5, random_state=0).get_params()},
    ),
    "sampler.predict": (sampler.predict, {"X": SCORES}),
    "sampler.score": (
        sampler.score,
        {"X": SCORES, "y": MENTIONS, "sample_weight": [1.0, 1.0]},
    ),
    "coref_f1": (coref.coref_f1, {"sums": [[1, 2, 1, 3]]}),
    "coref_scores": (
        coref.coref_scores,
        {"y_true": MENTIONS, "y_pred": MENTIONS, "drop_singletons": False},
    ),
    "coref_statistics": (
        coref.coref_statistics,
        {"y_true": MENTIONS, "y_pred": MENTIONS, "metric": "b3"},
    ),
    "answers.take": (answers.take, {"rows": [0]}),
    "expected_counts": (
        answers.expected_counts,
        {"n_groups": None, "documents": ["a", "b"], "label": "O"},
    ),
    "ArcQuery": (
        lambda arcs, y_true, posterior: experimental.ArcQuery(arcs).from_posterior(
            y_true, posterior
        ),
        {"arcs": "all", "y_true": TREES, "posterior": trees},
    ),
    "ArcQuery.from_proba": (
        experimental.ArcQuery().from_proba,
        {"y_true": TREES, "proba": trees.arc_marginals()},
    ),
    "ClassQuery": (
        lambda y_true, proba, classes, **kwargs: queries.ClassQuery(
            **kwargs
        ).from_proba(y_true, proba, classes),
        {
            "y_true": ["a", "b"],
            "proba": [[0.5, 0.5], [0.2, 0.8]],
            "classes": ["a", "b"],
            "pos_label": "a",
            "multi_class": None,
        },
    ),
    "CorefPairQuery": (
        lambda min_proba, y_true, posterior: queries.CorefPairQuery(
            min_proba
        ).from_posterior(y_true, posterior),
        {"min_proba": 0.1, "y_true": MENTIONS, "posterior": pairs},
    ),
    "CorefPairQuery.from_proba": (
        queries.CorefPairQuery().from_proba,
        {"y_true": MENTIONS, "proba": [[0.5], [0.1, 0.2, 0.3]]},
    ),
    "from_spans": (
        experimental.PredictedEntities.from_spans,
        {"spans": SPANS, "tokens": X, "lengths": [2, 3]},
    ),
    "above": (found.above, {"threshold": 0.5}),
    "tags": (found.tags, {"scheme": "BIO"}),
    "to_conll": (found.to_conll, {"scheme": "BIO", "delimiter": None}),
    "links.above": (links.above, {"threshold": 0.5}),
    "SpanQuery": (
        lambda y_true, posterior, classes, **kwargs: queries.SpanQuery(
            **kwargs
        ).from_posterior(y_true, posterior, classes),
        {
            "y_true": Y,
            "posterior": chain,
            "classes": CLASSES,
            "label": "D",
            "scheme": "BIO",
            "spans": "all",
            "max_length": 2,
        },
    ),
    "SpanQuery.from_proba": (
        queries.SpanQuery().from_proba,
        {"y_true": Y, "proba": SPANS},
    ),
    "SubtreeQuery": (
        lambda y_true, posterior, **kwargs: experimental.SubtreeQuery(
            **kwargs
        ).from_posterior(y_true, posterior),
        {
            "y_true": TREES,
            "posterior": trees,
            "spans": "all",
            "min_length": 1,
            "max_length": 2,
        },
    ),
    "SubtreeQuery.from_proba": (
        experimental.SubtreeQuery().from_proba,
        {"y_true": TREES, "proba": [[(0, 1, 0.5)], []]},
    ),
    "TagPairQuery": (
        lambda y_true, posterior, classes, **kwargs: queries.TagPairQuery(
            **kwargs
        ).from_posterior(y_true, posterior, classes),
        {"y_true": Y, "posterior": chain, "classes": CLASSES, "pairs": [("O", "O")]},
    ),
    "TagPairQuery top": (
        lambda top: queries.TagPairQuery(top=top).from_posterior(Y, chain, CLASSES),
        {"top": 2},
    ),
    "TagPairQuery.from_proba": (
        queries.TagPairQuery().from_proba,
        {
            "y_true": Y,
            "proba": [np.zeros((1, 1)), np.zeros((2, 1))],
            "pairs": [("O", "O")],
            "classes": None,
        },
    ),
    "TagQuery": (
        lambda tag, y_true, posterior, classes: queries.TagQuery(tag).from_posterior(
            y_true, posterior, classes
        ),
        {"tag": "O", "y_true": Y, "posterior": chain, "classes": CLASSES},
    ),
    "TagQuery.from_proba": (
        queries.TagQuery().from_proba,
        {"y_true": Y, "proba": chain.token_marginals(), "classes": CLASSES},
    ),
    "TagQuery call": (queries.TagQuery(), {"estimator": tagger, "X": X, "y": Y}),
    "SpanQuery call": (queries.SpanQuery(), {"estimator": tagger, "X": X, "y": Y}),
    "predicted_entities": (
        experimental.predicted_entities,
        {
            "posterior": chain,
            "classes": CLASSES,
            "tokens": X,
            "scheme": "BIO",
            "label": "D",
            "threshold": 0.1,
        },
    ),
    "predicted_links": (
        experimental.predicted_links,
        {
            "posterior": pairs,
            "mentions": [["a", "b"], ["c", "d", "e"]],
            "kind": "pair",
            "threshold": 0.1,
        },
    ),
    "from_antecedent_scores": (
        interop.from_antecedent_scores,
        {
            "scores": [np.zeros((3, 2))],
            "antecedents": [[[0], [0], [1]]],
            "dummy": "last",
            "n_dummies": 1,
        },
    ),
    "from_pipeline": (
        experimental.from_pipeline,
        {
            "results": [[{"entity_group": "D", "score": 0.5, "start": 0, "end": 2}]],
            "offsets": [[(0, 2)]],
            "alignment": "strict",
        },
    ),
    "from_spacy_beam": (
        experimental.from_spacy_beam,
        {
            "ner": SimpleNamespace(
                beam_parse=lambda docs, **kwargs: docs,
                moves=SimpleNamespace(get_beam_parses=lambda beam: []),
            ),
            "docs": ["a"],
            "beam_width": 2,
            "beam_density": 0.1,
        },
    ),
    "from_transformers": (
        interop.from_transformers,
        {
            "logits": BATCH,
            "word_ids": [[None, 0, 1], [0, 1, None]],
            "id2label": {0: "O", 1: "B-D", 2: "I-D"},
            "pieces": "mean",
            "scheme": "BIO",
            "n_words": [2, 2],
        },
    ),
    "labels_from_clusters": (
        interop.labels_from_clusters,
        {"clusters": [[[[0, 1], [2, 2]]]], "mentions": [[(0, 1), (2, 2)]]},
    ),
    "scheme_transitions": (
        interop.scheme_transitions,
        {"classes": CLASSES, "scheme": "BIO"},
    ),
    "fit_temperature": (
        fit_temperature,
        {"posterior": chain, "y_true": Y, "classes": CLASSES, "bounds": (0.1, 10.0)},
    ),
    "TemperatureScaling": (
        lambda X, y, sample_weight, groups, **kwargs: TemperatureScaling(**kwargs).fit(
            X, y, sample_weight, groups
        ),
        {
            "X": X * 2,
            "y": Y * 2,
            "sample_weight": None,
            "groups": [0, 0, 1, 1],
            **TemperatureScaling(
                sequence.HMMTagger(), cv=GroupKFold(2), bounds=(0.1, 10.0)
            ).get_params(deep=False),
        },
    ),
    "make_calibrated_pairs": (
        datasets.make_calibrated_pairs,
        {"n_samples": 5, "a": 0.5, "b": 0.5, "k": 0.0, "return_frequency": False},
    ),
    "make_coref_documents": (
        datasets.make_coref_documents,
        {"n_documents": 2, "mean_mentions": 3.0, "return_scores": False},
    ),
    "make_event_documents": (
        datasets.make_event_documents,
        {"n_documents": 2, "mean_mentions": 3.0, "n_days": 9},
    ),
    "make_tagged_sentences": (
        datasets.make_tagged_sentences,
        {"n_sentences": 2, "mean_length": 3.0, "n_words": 50, "order": 1},
    ),
    "to_sequences": (
        datasets.to_sequences,
        {"documents": [documents.Document("a")], "column": "xpos"},
    ),
    "mentions_from_parse": (
        documents.mentions_from_parse,
        {"document": documents.Document("a"), "relative_pronouns": False},
    ),
}
HOSTILE = {
    "None": None,
    "empty text": "",
    "text": "abc",
    "empty list": [],
    "list of an empty list": [[]],
    "ragged list": [[0.5], [0.1, 0.2]],
    "list of None": [None, None],
    "nan": math.nan,
    "inf": math.inf,
    "minus one": -1,
    "half": 0.5,
    "object": object(),
    "large integer": 10**9,
    "true": True,
    "dict": {"a": 1},
    "set": {1, 2},
    "integers": np.array([0, 1]),
    "nans": np.full((2, 2), math.nan),
    "objects": np.array([object(), None], dtype=object),
    "texts": ["a", "b"],
    "complex": 1j,
}


# Large numbers of these are right, and slow.
SIZES = {"n_samples", "n_documents", "n_sentences", "n_words", "n_days"}
SIZES |= {"max_iter", "mean_mentions", "n_jobs", "order"}


def is_named(error, argument):
    """Return whether an error names an argument, or is scikit-learn's own."""
    if isinstance(error, (ParameterError, NotFittedError)):
        return True
    place = traceback.extract_tb(error.__traceback__)[-1].filename
    named = argument in ("cv", "groups", "estimator") and "sklearn" in place
    return isinstance(error, (TypeError, ValueError)) and (
        named or f"'{argument}'" in str(error)
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
@pytest.mark.parametrize("name", CALLS)
def test_errors_of_hostile_arguments_name_the_argument(name, capsys):
    function, kwargs = CALLS[name]
    function(**kwargs)
    wrong = []
    for argument, (kind, value) in itertools.product(kwargs, HOSTILE.items()):
        if (kind == "large integer" and argument in SIZES) or (
            kind == "minus one" and argument == "n_jobs"  # all cores
        ):
            continue
        try:
            function(**{**kwargs, argument: value})
        except Exception as error:
            if not is_named(error, argument) or len(str(error)) > 700:
                wrong.append((argument, kind, repr(error)[:200]))
    assert wrong == []


def test_every_query_and_posterior_is_tried():
    tried = re.findall(r"\w+", " ".join(CALLS))
    names = {*queries.__all__, *posteriors.__all__} - {"Answers"}
    assert names - set(tried) == set()
