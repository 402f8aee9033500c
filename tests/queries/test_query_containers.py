"""Queries take labels and probabilities from every container, each meant as it is."""

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from skcalib.queries import Answers, ClassQuery, CorefPairQuery, TagPairQuery, TagQuery
from skcalib.scorers import make_calibration_scorer

TAGS = [[0, 1, 1], [], [1]]
PROBA = [[[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]], np.zeros((0, 2)), [[0.0, 1.0]]]
PAIRS = [np.eye(4)[:2].reshape(2, 2, 2), np.zeros((0, 2, 2)), np.zeros((0, 2, 2))]

CONTAINERS = {
    "array API": (array_api_strict.asarray, array_api_strict.asarray),
    "pandas": (
        lambda v: pd.Series(v, dtype="Int64"),
        lambda v: pd.DataFrame(np.asarray(v)).convert_dtypes(),
    ),
    "polars": (
        lambda v: pl.Series(v, dtype=pl.Int64),
        lambda v: pl.DataFrame(np.asarray(v)),
    ),
    "float32": (np.array, lambda v: np.array(v, np.float32)),
}


def same(found, expected):
    return found.to_dict() == expected.to_dict()


def test_tags_may_be_tensors(tensor):
    y = [tensor([0, 1, 1]), tensor([]), tensor([1])]
    expected = TagQuery("top").from_proba(TAGS, PROBA, [0, 1])
    assert expected.y_true.tolist() == [1, 0, 1, 1]
    assert same(TagQuery("top").from_proba(y, PROBA, [0, 1]), expected)
    proba = [tensor(np.array(each), requires_grad=True) for each in PROBA]
    assert same(TagQuery("top").from_proba(y, proba, tensor([0, 1])), expected)
    scalars = [[tensor(tag) for tag in tags] for tags in TAGS]
    assert same(TagQuery("top").from_proba(scalars, PROBA, [0, 1]), expected)


@pytest.mark.parametrize("name", CONTAINERS)
def test_tags_and_probabilities_from_every_container(name):
    make_tags, make_proba = CONTAINERS[name]
    expected = TagQuery().from_proba(TAGS, PROBA, [0, 1])
    y = [make_tags(tags) for tags in TAGS]
    proba = [make_proba(each) for each in PROBA]
    assert same(TagQuery().from_proba(y, proba, make_tags([0, 1])), expected)
    expected = TagPairQuery().from_proba(TAGS, PAIRS, classes=[0, 1])
    assert same(TagPairQuery().from_proba(y, PAIRS, make_tags([0, 1])), expected)


@pytest.mark.parametrize("name", CONTAINERS)
def test_classes_from_every_container(name):
    make_labels, make_proba = CONTAINERS[name]
    y, proba = [0, 1, 2], [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0, 0.5, 0.5]]
    expected = ClassQuery().from_proba(y, proba)
    found = ClassQuery().from_proba(make_labels(y), make_proba(proba))
    assert same(found, expected)
    assert same(ClassQuery().from_proba(y, proba, make_labels(y)), expected)


def test_clusterings_take_tensors(tensor):
    expected = CorefPairQuery().from_proba([[0, 0, 1]], [[0.5, 0.25, 0.75]])
    proba = [tensor([0.5, 0.25, 0.75], "torch.bfloat16", requires_grad=True)]
    found = CorefPairQuery().from_proba([[0, 0, 1]], proba)
    assert found.y_proba.tolist() == expected.y_proba.tolist()
    assert found.y_true.tolist() == expected.y_true.tolist()


def test_columns_of_tables_are_matched_to_classes():
    frame = pd.DataFrame({"spam": [0.75, 0.5], "ham": [0.25, 0.5]})
    answers = ClassQuery("spam").from_proba(["ham", "spam"], frame)
    assert answers.y_proba.tolist() == [0.75, 0.5]
    answers = TagQuery("spam").from_proba([["ham", "spam"]], [frame], ["ham", "spam"])
    assert answers.y_proba.tolist() == [0.75, 0.5]
    with pytest.raises(ValueError, match=r"columns \['spam', 'ham'\].*labels \[0, 1\]"):
        ClassQuery().from_proba([0, 1], frame)
    other = frame.rename(columns={"spam": "eggs"})
    with pytest.raises(ValueError, match=r"same columns.*'eggs'.* for sentence 1"):
        TagQuery().from_proba([["ham", "spam"]] * 2, [frame, other])


def test_one_column_is_the_probability_of_the_positive_label():
    answers = ClassQuery().from_proba([0, 1], [[0.25], [0.5]])
    assert answers.y_proba.tolist() == [0.25, 0.5]
    answers = ClassQuery().from_proba(
        ["a", "b"], pd.DataFrame({"p": [0, 1]}), ["a", "b"]
    )
    assert answers.y_proba.tolist() == [0, 1]
    assert answers.label.tolist() == ["b", "b"]


@pytest.mark.parametrize(
    ("proba", "message"),
    [
        ([sparse.eye_array(3).tocsr()], "must be dense.*toarray.*in sentence 0"),
        ([np.ma.array(np.eye(3), mask=np.eye(3))], "entry in row 0.* sentence 0"),
    ],
)
def test_probabilities_that_cannot_be_read_are_named(proba, message):
    with pytest.raises((ValueError, TypeError), match=f"'proba' parameter.*{message}"):
        TagQuery().from_proba([["a", "b", "c"]], proba, ["a", "b", "c"])


def test_sparse_probabilities_of_classes_are_named():
    with pytest.raises(TypeError, match=r"'proba' parameter .* dense. Got csr_array"):
        ClassQuery().from_proba([0, 1], sparse.eye_array(2).tocsr())


def test_a_row_that_does_not_sum_to_1_is_a_warning_that_names_it():
    with pytest.warns(UserWarning, match=r"in 1 of 2 rows .*: row 1 sums to 1.8\."):
        ClassQuery().from_proba([0, 1], [[0.5, 0.5], [0.9, 0.9]])
    with pytest.warns(UserWarning, match=r": sentence 1, token 0 sums to 0.9\."):
        TagQuery().from_proba([[0], [1]], [[[0.5, 0.5]], [[0.45, 0.45]]])


def test_a_softmax_in_low_precision_is_no_warning():
    proba = np.full((2, 50), 0.02).astype(np.float16).astype(np.float32)
    ClassQuery().from_proba(range(2), proba, classes=range(50))


def test_answers_from_elsewhere():
    pairs = [("D", "N"), ("N", "V")]
    answers = Answers([1, 0], [0.5, 0.25], [0, 0], [1, 2], pairs)
    assert answers.label.tolist() == pairs
    assert len(answers.take([])) == 0
    assert answers.take([False, True]).y_true.tolist() == [0]
    assert answers.take([-1]).y_true.tolist() == [0]
    for rows in ([2], [0, -3]):
        message = rf"indices below 2, the number of pairs. Got {rows[-1]}\."
        with pytest.raises(ValueError, match=message):
            answers.take(rows)


@pytest.mark.parametrize(
    ("y", "q", "message"),
    [
        ([1, 0], [0.5, -1.5], r"'y_proba' .* -1.5 in row 1.* logits"),
        ([1, 0], [0.5, np.nan], "'y_proba' .* nan in row 1"),
        ([1, 0], [83, 12], r"'y_proba' .* 83.0 in row 0\. Percentages"),
        ([1, 3], [0.5, 0.5], "'y_true' .* 1 for yes or 0 for no. Got 3.0 in row 1"),
        ([1, 0], [[0.5, 0.5]] * 2, r"of shape \(n_pairs,\).*\(2, 2\)"),
    ],
)
def test_answers_from_elsewhere_are_checked(y, q, message):
    with pytest.raises(ValueError, match=message):
        Answers(y, q, [0, 1], [0, 0], ["N", "N"])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("groups", ["a", "b"], "numbers. Got the text 'a' in row 0"),
        ("groups", [0, -1], r"whole numbers from 0. Got -1.0 in row 1"),
        ("groups", [[0], [1]], r"shape \(2,\). Got shape \(2, 1\)"),
        ("item", [0, 0.5], "whole numbers from 0. Got 0.5 in row 1"),
        ("item", [[0, 1], [0, np.nan]], "whole numbers from 0. Got nan in row 1"),
        ("item", np.zeros((2, 3)), r"shape \(2,\) or \(2, 2\). Got shape \(2, 3\)"),
        ("label", np.array([0, np.nan]), "a label in every row. Got nan in row 1"),
        ("n_unseen", -1, "integer of at least 0. Got -1"),
    ],
)
def test_the_origins_of_answers_are_checked(name, value, message):
    origin = {"groups": [0, 1], "item": [0, 0], "label": ["N", "N"], name: value}
    with pytest.raises(ValueError, match=f"'{name}' parameter of Answers.*{message}"):
        Answers([1, 0], [0.5, 0.5], **origin)


def test_answers_about_samples_that_were_not_given_are_an_error():
    answers = Answers([1, 0], [0.5, 0.5], [0, 2], [0, 0], ["N", "N"])
    scorer = make_calibration_scorer(lambda estimator, X, y: answers)
    with pytest.raises(ValueError, match="'query' .* the 2 samples.* the sample 2 "):
        scorer(None, [[0]] * 2, [0, 1], sample_weight=[1, 1])
