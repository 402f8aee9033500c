"""TagQuery: every door asks the same, whatever the model of the tags."""

import re

import numpy as np
import pytest
import sklearn_crfsuite
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skcalib import SampledCorefPairs
from skcalib.metrics import calibration_error
from skcalib.posteriors import LinearChainPosterior
from skcalib.queries import TagQuery
from skcalib.sequence import CRFTagger, HMMTagger, TokenFeatures

X = [["the", "dog", "barks"], [], ["dogs", "bark"], ["it"]]
Y = [["D", "N", "V"], [], ["N", "V"], ["N"]]

# The answers by hand: four tokens in three sentences, two tags.
TAGS = [["D", "N"], [], ["N"], ["D"]]
PROBA = [[[0.9, 0.1], [0.3, 0.7]], [], [[0.6, 0.4]], [[0.5, 0.5]]]
CLASSES = ["D", "N"]


def same_answers(found, expected):
    for name in ("y_true", "groups", "item"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    assert found.label.tolist() == expected.label.tolist()
    np.testing.assert_allclose(found.y_proba, expected.y_proba, atol=1e-6)
    assert found.n_unseen == expected.n_unseen


# By hand


def test_by_default_every_tag_is_asked_for_at_every_token():
    answers = TagQuery().from_proba(TAGS, PROBA, CLASSES)
    assert answers.y_true.tolist() == [1, 0, 0, 1, 0, 1, 1, 0]
    assert answers.y_proba.tolist() == [0.9, 0.1, 0.3, 0.7, 0.6, 0.4, 0.5, 0.5]
    assert answers.label.tolist() == ["D", "N"] * 4
    assert answers.groups.tolist() == [0, 0, 0, 0, 2, 2, 3, 3]
    assert answers.item.tolist() == [0, 0, 1, 1, 0, 0, 0, 0]
    assert answers.n_unseen == 0


def test_one_tag_is_asked_for_once_a_token():
    answers = TagQuery("N").from_proba(TAGS, PROBA, CLASSES)
    assert answers.y_true.tolist() == [0, 1, 1, 0]
    assert answers.y_proba.tolist() == [0.1, 0.7, 0.4, 0.5]
    assert answers.label.tolist() == ["N"] * 4
    assert answers.groups.tolist() == [0, 0, 2, 3]
    assert answers.item.tolist() == [0, 1, 0, 0]


def test_top_asks_for_the_best_tag_and_ties_go_to_the_first():
    answers = TagQuery("top").from_proba(TAGS, PROBA, CLASSES)
    assert answers.label.tolist() == ["D", "N", "D", "D"]
    assert answers.y_true.tolist() == [1, 1, 0, 1]
    assert answers.y_proba.tolist() == [0.9, 0.7, 0.6, 0.5]


def test_without_classes_the_columns_are_the_sorted_tags():
    expected = TagQuery().from_proba(TAGS, PROBA, CLASSES)
    same_answers(TagQuery().from_proba(TAGS, PROBA), expected)


def test_columns_follow_the_classes_in_any_order():
    turned = [np.reshape(p, (-1, 2))[:, ::-1] for p in PROBA]
    found = TagQuery("N").from_proba(TAGS, turned, ["N", "D"])
    same_answers(found, TagQuery("N").from_proba(TAGS, PROBA, CLASSES))


# Tags that the model did not see

UNSEEN = [["D", "X"], [], ["N"], ["Y"]]


def test_each_unseen_tag_adds_a_pair_of_probability_zero_at_every_token():
    answers = TagQuery().from_proba(UNSEEN, PROBA, CLASSES)
    assert len(answers) == 4 * 4
    assert answers.n_unseen == 4 * 2
    added = answers.take(np.isin(answers.label, ["X", "Y"]))
    assert (added.y_proba == 0).all()
    assert added.y_true.tolist() == [0, 0, 1, 0, 0, 0, 0, 1]
    assert added.groups.tolist() == [0, 0, 0, 0, 2, 2, 3, 3]
    kept = answers.take(np.isin(answers.label, CLASSES))
    assert kept.y_proba.tolist() == [0.9, 0.1, 0.3, 0.7, 0.6, 0.4, 0.5, 0.5]


def test_an_unseen_tag_can_be_asked_for():
    answers = TagQuery("X").from_proba(UNSEEN, PROBA, CLASSES)
    assert answers.y_true.tolist() == [0, 1, 0, 0]
    assert answers.y_proba.tolist() == [0, 0, 0, 0]
    assert answers.n_unseen == 4


def test_asking_for_a_known_tag_adds_nothing():
    answers = TagQuery("N").from_proba(UNSEEN, PROBA, CLASSES)
    assert (len(answers), answers.n_unseen) == (4, 0)


def test_the_best_tag_is_wrong_where_the_truth_is_unseen():
    answers = TagQuery("top").from_proba(UNSEEN, PROBA, CLASSES)
    assert answers.y_true.tolist() == [1, 0, 0, 0]
    assert answers.n_unseen == 0


@pytest.mark.parametrize("tagger", [HMMTagger(), CRFTagger()])
def test_a_tagger_is_asked_for_tags_it_never_saw(tagger):
    answers = TagQuery()(tagger.fit(X, Y), [["the", "end"]], [["D", "E"]])
    assert answers.n_unseen == 2
    assert len(answers) == 2 * 4
    assert answers.y_true.tolist() == [1, 0, 0, 0, 0, 0, 0, 1]


# Every door

QUERIES = pytest.mark.parametrize("query", [TagQuery(), TagQuery("N"), TagQuery("top")])
TAGGERS = pytest.mark.parametrize(
    "tagger", [HMMTagger(0.1), CRFTagger(c2=0.1)], ids=["hmm", "crf"]
)


@TAGGERS
@QUERIES
def test_all_doors_ask_the_same(tagger, query):
    tagger.fit(X, Y)
    proba, classes = tagger.predict_proba(X), tagger.classes_
    expected = query.from_proba(Y, proba, classes)
    same_answers(query(tagger, X, Y), expected)
    same_answers(query.from_posterior(Y, tagger.posterior(X), classes), expected)
    as_lists = [entry.tolist() for entry in proba]
    same_answers(query.from_proba(Y, as_lists, classes.tolist()), expected)


@QUERIES
def test_sklearn_crfsuites_own_tagger_can_be_asked(query):
    items = TokenFeatures("basic").transform(X)
    theirs = sklearn_crfsuite.CRF(c2=0.1, all_possible_transitions=True)
    # the labels come in another order than ours
    order = [2, 3, 0]
    theirs.fit([items[i] for i in order], [Y[i] for i in order])
    ours = CRFTagger(c2=0.1).fit([items[i] for i in order], [Y[i] for i in order])
    assert theirs.classes_ != ours.classes_.tolist()
    found, expected = query(theirs, items, Y), query(ours, items, Y)
    if query.tag is None:
        found = found.take(np.lexsort((found.label, found.item, found.groups)))
    same_answers(found, expected)


@QUERIES
@pytest.mark.parametrize("search", [False, True])
def test_a_pipeline_and_a_search_are_seen_through(query, search):
    model = make_pipeline(TokenFeatures("basic"), CRFTagger(c2=0.1))
    if search:
        model = GridSearchCV(model, {"crftagger__c2": [0.1]}, cv=2)
    model.fit(X, Y)
    expected = query(CRFTagger(c2=0.1).fit(X, Y), X, Y)
    same_answers(query(model, X, Y), expected)


def test_a_neural_tagger_gives_lists_of_float32_arrays():
    """Softmax in float32: rows sum to one to 1e-7, and values stay as they are."""
    rng = np.random.default_rng(0)
    logits = [rng.normal(size=(len(tags), 3)).astype(np.float32) for tags in Y]
    proba = [np.exp(z) / np.exp(z).sum(axis=1, keepdims=True) for z in logits]
    assert proba[0].dtype == np.float32
    answers = TagQuery().from_proba(Y, proba, ["D", "N", "V"])
    assert answers.y_proba.tolist() == np.concatenate(proba).ravel().tolist()
    assert 0 < calibration_error(answers.y_true, answers.y_proba, bin_size=6) < 1


LABELS = {
    "int": [0, 1],
    "negative int": [-1, 7],
    "bool": [False, True],
    "bytes": [b"D", b"N"],
    "tuple": [("D", 0), ("N", 0)],
    "lone top": ["other", "top"],
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=list(LABELS))
def test_tags_may_be_of_any_kind(labels):
    kind = dict(zip(CLASSES, labels, strict=True))
    tags = [[kind[tag] for tag in sentence] for sentence in TAGS]
    found = TagQuery().from_proba(tags, PROBA, labels)
    expected = TagQuery().from_proba(TAGS, PROBA, CLASSES)
    assert found.y_true.tolist() == expected.y_true.tolist()
    assert found.label.tolist() == labels * 4


@pytest.mark.parametrize("tag", [0, False])
def test_a_tag_that_is_falsy_is_still_asked_for(tag):
    tags = [[int(tag == "N") for tag in sentence] for sentence in TAGS]
    answers = TagQuery(tag).from_proba(tags, PROBA, [0, 1])
    assert len(answers) == 4
    assert answers.y_proba.tolist() == [0.9, 0.3, 0.6, 0.5]


# What is refused


@pytest.mark.parametrize(
    ("tags", "proba", "message"),
    [
        (TAGS[:2], PROBA, "Got 4 and 2"),
        ([["D"], *TAGS[1:]], PROBA, "Sentence 0 has 1 labels and shape (2, 2)"),
        ([*TAGS[:2], ["N", "N"], ["D"]], PROBA, "Sentence 2 has 2 labels"),
        ([*TAGS[:1], ["N"], *TAGS[2:]], PROBA, "Sentence 1 has 1 labels"),
        (TAGS, [[0.9, 0.7], [], [0.6], [0.5]], "0 has 2 labels and shape (2,)"),
        ([[], []], [[], []], "must have at least one token"),
        ([], [], "must have at least one token"),
        ([["D"], ["N"]], [[[1, 0]], [[1, 0, 0]]], "tags for each token. Got [2, 3]"),
    ],
)
def test_probabilities_that_do_not_fit_the_tags_are_refused(tags, proba, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        TagQuery().from_proba(tags, proba, CLASSES)


@pytest.mark.parametrize("value", [np.nan, 1.5, -0.1])
def test_a_number_that_is_no_probability_is_named_by_sentence_and_token(value):
    proba = [*PROBA[:2], [[0.6, value]], PROBA[3]]
    with pytest.raises(ValueError, match=f"Got {value}.*sentence 2, token 0"):
        TagQuery().from_proba(TAGS, proba, CLASSES)


@pytest.mark.parametrize("value", [None, float("nan")])
def test_an_unlabelled_token_is_named_by_sentence_and_token(value):
    with pytest.raises(ValueError, match="(?i)sentence 2.*token 0|token 0.*sentence 2"):
        TagQuery().from_proba([*TAGS[:2], [value], ["D"]], PROBA, CLASSES)


def test_a_str_is_no_sequence_of_tags():
    """Its letters would be taken for tags."""
    with pytest.raises((TypeError, ValueError), match="str 'DN'"):
        TagQuery().from_proba(["DN"], PROBA[:1], CLASSES)


def test_a_matrix_without_columns_is_refused():
    with pytest.raises(ValueError, match="(?i)sentence 0|number of tags"):
        TagQuery().from_proba([["D"], ["N"]], [np.zeros((1, 0)), [[1.0]]], ["D"])


@pytest.mark.parametrize(
    ("tag", "classes", "message"),
    [
        ("Q", CLASSES, "'tag' parameter of TagQuery must be a class .* Got 'Q'"),
        (None, ["D"], "2 columns, and 'classes' has length 1"),
        (None, ["D", "D"], "repeats a label"),
        (None, [0, 1], "labels of one type"),
    ],
)
def test_tags_that_the_model_does_not_have_are_refused(tag, classes, message):
    with pytest.raises(ValueError, match=message):
        TagQuery(tag).from_proba(TAGS, PROBA, classes)


def test_an_estimator_without_marginals_is_refused():
    with pytest.raises(ValueError, match="predict_proba or predict_marginals. Got Tok"):
        TagQuery()(TokenFeatures("basic"), X, Y)


def test_a_model_of_coreference_is_refused():
    with pytest.raises(ValueError, match="CorefPairQuery is the query for models"):
        TagQuery()(SampledCorefPairs(), X, Y)


@TAGGERS
def test_there_must_be_labels_for_each_sentence(tagger):
    with pytest.raises(ValueError, match="'y' .* TagQuery .* 4 sentences. Got 3"):
        TagQuery()(tagger.fit(X, Y), X, Y[:3])


@TAGGERS
def test_labels_must_fit_the_sentences_asked(tagger):
    with pytest.raises(ValueError, match="Sentence 2 has 1 labels"):
        TagQuery()(tagger.fit(X, Y), X, [*Y[:2], ["N"], ["N"]])


def test_messages_do_not_print_arrays():
    ragged = [np.zeros(3)] * 40 + [np.zeros(2)]
    with pytest.raises(ValueError, match="Got list of length 41 that contains ndarray"):
        TagQuery().from_proba([["N"] * 41], [ragged])


@pytest.mark.parametrize(
    ("y_true", "proba"), [(None, PROBA), (TAGS, None), ("DN", PROBA)]
)
def test_what_is_no_list_of_sentences_is_named(y_true, proba):
    with pytest.raises(TypeError, match="an entry for each sentence. Got"):
        TagQuery().from_proba(y_true, proba, CLASSES)


@pytest.mark.parametrize(
    ("proba", "where"),
    [
        ([[[0.9, 0.1], [0.3]], [[0.6, 0.4]]], 0),
        ([[[0.9, 0.1], [0.3, 0.7]], [["a", "b"]]], 1),
        ([[[0.9, 0.1], [0.3, 0.7]], [[0.6, 0.4j]]], 1),
    ],
)
def test_what_is_no_matrix_of_numbers_is_named_by_sentence(proba, where):
    message = f"'proba' .* must contain numbers, in rows of equal .* sentence {where}"
    with pytest.raises(ValueError, match=message):
        TagQuery().from_proba([["D", "N"], ["N"]], proba)


@pytest.mark.parametrize("classes", [{"D", "N"}, {"D": 0, "N": 1}, "DN", 2])
def test_classes_have_an_order(classes):
    proba = [[[0.9, 0.1], [0.3, 0.7]]]
    with pytest.raises(TypeError, match="'classes' .* ordered sequence of labels. Got"):
        TagQuery().from_proba([["D", "N"]], proba, classes)


def test_a_posterior_is_one_of_the_sentences():
    posterior = LinearChainPosterior([np.zeros((2, 2))], np.zeros((2, 2)))
    ask = TagQuery().from_posterior
    assert ask([["D", "N"]], posterior, ["D", "N"]).y_proba.tolist() == [0.5] * 4
    caller = "TagQuery.from_posterior"
    with pytest.raises(
        ValueError, match=f"{caller} .* Sentence 0 has 1 labels and 2 t"
    ):
        ask([["D"]], posterior, ["D", "N"])
    with pytest.raises(
        TypeError, match=f"'posterior' parameter of {caller} .* NoneType"
    ):
        ask([["D", "N"]], None, ["D", "N"])
    with pytest.raises(TypeError, match=f"{caller} must be a LinearChainP.* Got list"):
        ask([["D", "N"]], [np.zeros((2, 2))], ["D", "N"])


@TAGGERS
def test_exchanged_words_and_tags_give_a_warning(tagger):
    with pytest.warns(UserWarning, match="Are X and y exchanged"):
        TagQuery()(tagger.fit(X, Y), Y, X)


def test_labels_of_padding_are_an_error():
    y, proba = [[1, 0, -100], [0, -100, -100]], np.full((2, 3, 2), 0.5)
    with pytest.raises(ValueError, match="-100, with which libraries mark padding"):
        TagQuery("top").from_proba(y, proba, classes=[0, 1])
