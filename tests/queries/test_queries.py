"""Polar queries to classifiers: what is asked, of whom, and with which answer."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcalib.queries import Answers, ClassQuery

# Three samples of three classes; the columns are in this order.
CLASSES = ["N", "V", "A"]
PROBA = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.4, 0.4, 0.2]]
LABELS = ["N", "A", "V"]
TWO = [[0.7, 0.3], [0.2, 0.8], [0.6, 0.4]]


def pairs(answers):
    """Give the answers as (truth, probability, sample, place, label) tuples."""
    table = answers.to_dict()
    names = ("y_true", "y_proba", "groups", "item", "label")
    return list(zip(*(table[name] for name in names), strict=True))


def test_the_second_of_two_classes_is_asked_for_by_default():
    answers = ClassQuery().from_proba(["no", "yes", "yes"], TWO)
    assert pairs(answers) == [
        (0, 0.3, 0, 0, "yes"),
        (1, 0.8, 1, 0, "yes"),
        (1, 0.4, 2, 0, "yes"),
    ]


def test_pos_label_asks_for_that_class_alone():
    answers = ClassQuery(pos_label="no").from_proba(["no", "yes", "yes"], TWO)
    assert answers.y_true.tolist() == [1, 0, 0]
    assert answers.y_proba.tolist() == [0.7, 0.2, 0.6]
    one_of_three = ClassQuery(pos_label="A").from_proba(LABELS, PROBA, CLASSES)
    assert one_of_three.y_true.tolist() == [0, 1, 0]
    assert one_of_three.y_proba.tolist() == [0.1, 0.3, 0.2]


def test_more_than_two_classes_are_asked_for_one_after_the_other():
    answers = ClassQuery().from_proba(LABELS, PROBA, CLASSES)
    assert pairs(answers) == [
        (1, 0.7, 0, 0, "N"),
        (0, 0.2, 0, 1, "V"),
        (0, 0.1, 0, 2, "A"),
        (0, 0.2, 1, 0, "N"),
        (0, 0.5, 1, 1, "V"),
        (1, 0.3, 1, 2, "A"),
        (0, 0.4, 2, 0, "N"),
        (1, 0.4, 2, 1, "V"),
        (0, 0.2, 2, 2, "A"),
    ]


def test_pooled_asks_for_both_of_two_classes():
    query = ClassQuery(multi_class="pooled")
    answers = query.from_proba(["no", "yes", "yes"], TWO)
    assert answers.y_true.tolist() == [1, 0, 0, 1, 0, 1]
    assert answers.y_proba.tolist() == [0.7, 0.3, 0.2, 0.8, 0.6, 0.4]


def test_top_label_asks_whether_the_first_most_probable_class_is_right():
    answers = ClassQuery(multi_class="top_label").from_proba(LABELS, PROBA, CLASSES)
    assert pairs(answers) == [
        (1, 0.7, 0, 0, "N"),
        (0, 0.5, 1, 0, "V"),
        (0, 0.4, 2, 0, "N"),  # a tie of N and V: N comes first
    ]


@pytest.mark.parametrize(
    ("y_true", "pos_label"),
    [([0, 1, 1], None), ([False, True, True], None), ([-1, 1, 1], None), ("nyy", "y")],
)
def test_one_probability_a_sample_is_that_of_the_positive_label(y_true, pos_label):
    answers = ClassQuery(pos_label).from_proba(list(y_true), [0.1, 0.5, 1])
    assert answers.y_true.tolist() == [0, 1, 1]
    assert answers.y_proba.tolist() == [0.1, 0.5, 1.0]
    assert set(answers.label.tolist()) == {pos_label or 1}


def test_one_probability_a_sample_is_that_of_the_second_of_two_classes():
    answers = ClassQuery().from_proba(["no", "yes"], [0.2, 0.8], classes=["no", "yes"])
    assert answers.y_true.tolist() == [0, 1]
    assert answers.label.tolist() == ["yes", "yes"]
    answers = ClassQuery().from_proba(["no", "yes"], [0.2, 0.8], ["yes", "no"])
    assert answers.y_true.tolist() == [1, 0]


def test_columns_are_in_sorted_order_of_the_labels_where_no_classes_are_given():
    answers = ClassQuery().from_proba(["V", "A", "N"], PROBA)
    assert answers.label[:3].tolist() == ["A", "N", "V"]
    assert answers.y_true.tolist() == [0, 0, 1, 1, 0, 0, 0, 1, 0]


def test_a_label_that_the_model_never_saw_is_asked_for_with_probability_0():
    answers = ClassQuery().from_proba(["N", "X", "A"], PROBA, CLASSES)
    unseen = answers.label == "X"
    assert answers.n_unseen == 3
    assert answers.y_true[unseen].tolist() == [0, 1, 0]
    assert answers.y_proba[unseen].tolist() == [0, 0, 0]
    assert answers.item[unseen].tolist() == [3, 3, 3]
    assert len(answers) == 12


def test_a_third_label_makes_a_model_of_two_classes_one_of_three():
    answers = ClassQuery().from_proba([0, 1, 2], TWO, classes=[0, 1])
    assert answers.label.tolist() == [0, 1, 2] * 3
    assert answers.y_true.reshape(3, 3).tolist() == np.eye(3, dtype=int).tolist()
    assert answers.n_unseen == 3


def test_pos_label_stays_one_question_whatever_labels_are_unseen():
    answers = ClassQuery(pos_label=1).from_proba([0, 1, 2], TWO, classes=[0, 1])
    assert answers.y_true.tolist() == [0, 1, 0]
    assert answers.n_unseen == 0


def test_a_pos_label_that_the_model_never_saw_has_probability_0():
    answers = ClassQuery(pos_label=2).from_proba([0, 1, 2], TWO, classes=[0, 1])
    assert answers.y_true.tolist() == [0, 0, 1]
    assert answers.y_proba.tolist() == [0, 0, 0]
    assert answers.n_unseen == 3


def test_an_unseen_label_is_never_the_top_label():
    query = ClassQuery(multi_class="top_label")
    answers = query.from_proba([0, 1, 2], TWO, classes=[0, 1])
    assert answers.y_true.tolist() == [1, 1, 0]
    assert len(answers) == 3


@pytest.mark.parametrize(("seen", "proba"), [("no", [0, 0]), ("yes", [1, 1])])
def test_a_model_of_one_class_is_asked_for_the_second_label_of_both(seen, proba):
    answers = ClassQuery().from_proba(["no", "yes"], [[1.0], [1.0]], classes=[seen])
    assert answers.label.tolist() == ["yes", "yes"]
    assert answers.y_true.tolist() == [0, 1]
    assert answers.y_proba.tolist() == proba


@pytest.mark.filterwarnings("ignore:The probabilities in .* do not sum to 1")
@given(
    proba=hnp.arrays(
        float, st.tuples(st.integers(1, 8), st.integers(3, 5)), elements=st.floats(0, 1)
    ),
    data=st.data(),
)
def test_pooled_answers_hold_every_number_once_and_one_yes_a_sample(proba, data):
    n, k = proba.shape
    y = data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    answers = ClassQuery().from_proba(y, proba, classes=range(k))
    assert answers.y_proba.tolist() == proba.ravel().tolist()
    assert answers.label[answers.y_true == 1].tolist() == y
    assert np.bincount(answers.groups[answers.y_true == 1]).tolist() == [1] * n


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


MODELS = {
    "classifier": LogisticRegression(max_iter=1000),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "search": GridSearchCV(LogisticRegression(max_iter=1000), {"C": [0.1, 1]}, cv=3),
    "search of a pipeline": GridSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": [0.1, 1]},
        cv=3,
    ),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_model_answers_with_its_probabilities_in_the_order_of_its_classes(
    iris, model
):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model.fit(X[::2], names[::2])
    answers = ClassQuery()(model, X[1::2], names[1::2])
    assert isinstance(answers, Answers)
    np.testing.assert_array_equal(
        answers.y_proba.reshape(-1, 3), model.predict_proba(X[1::2])
    )
    np.testing.assert_array_equal(answers.y_true.reshape(-1, 3).argmax(axis=1), y[1::2])


def test_a_model_that_missed_a_class_in_training_is_asked_for_it_all_the_same(iris):
    X, y = iris
    model = LogisticRegression().fit(X[y < 2], y[y < 2])
    answers = ClassQuery()(model, X, y)
    assert answers.n_unseen == len(y)
    assert answers.y_true.sum() == len(y)


def test_labels_and_samples_may_be_pandas_objects(iris):
    X, y = iris
    X, y = pd.DataFrame(X, columns=list("abcd")), pd.Series(y, index=range(900, 1050))
    model = LogisticRegression(max_iter=1000).fit(X, y)
    answers = ClassQuery()(model, X, y)
    np.testing.assert_array_equal(answers.y_true.reshape(-1, 3).argmax(axis=1), y)


def test_a_model_that_is_not_fitted_says_so(iris):
    with pytest.raises(NotFittedError):
        ClassQuery()(LogisticRegression(), *iris)


def test_input_is_left_alone_and_float32_stays():
    proba, y = np.array(PROBA, dtype=np.float32), np.array(LABELS)
    answers = ClassQuery().from_proba(y, proba, CLASSES)
    assert answers.y_proba.dtype == np.float32
    np.testing.assert_array_equal(proba, np.array(PROBA, dtype=np.float32))
    assert y.tolist() == LABELS


def test_a_query_is_a_value():
    query = ClassQuery(pos_label="yes")
    assert query == ClassQuery(pos_label="yes") != ClassQuery()
    assert pickle.loads(pickle.dumps(query)) == query
    assert repr(query) == "ClassQuery(pos_label='yes', multi_class=None)"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"multi_class": "class_wise"}, "'multi_class' parameter of ClassQuery must"),
        ({"multi_class": True}, "'pooled', 'top_label'. Got True"),
        ({"multi_class": "pooled", "pos_label": 1}, "not both. Got 1 and 'pooled'"),
    ],
)
def test_a_query_that_makes_no_sense_is_refused_when_made(params, message):
    with pytest.raises(ValueError, match=message):
        ClassQuery(**params)


@pytest.mark.parametrize(
    ("query", "args", "message"),
    [
        (ClassQuery(), ([0, 1], PROBA, CLASSES), "y_true has 2, proba has 3"),
        (ClassQuery(), ([0, 1, 2], TWO), "Got 2 columns, and y_true has 3 distinct"),
        (ClassQuery(), (LABELS, PROBA, ["N", "V"]), "3 columns, and 'classes' has len"),
        (ClassQuery(), (LABELS, PROBA, ["N", "V", "V"]), "'classes'.* repeats"),
        (ClassQuery(), ([0, 1, 2], PROBA, CLASSES), "of one type"),
        (ClassQuery(), ([1, 1, 1], [[1.0]] * 3, ["a"]), "of one type"),
        (ClassQuery("X"), (LABELS, PROBA, CLASSES), "must be a class .* Got 'X'"),
        (ClassQuery(), ("nyy", [0.1, 0.2, 0.3]), "one-dimensional"),
        (ClassQuery(), (list("nyy"), [0.1, 0.2, 0.3]), "'n', 'y'. Pass as pos_label"),
        (ClassQuery("z"), (list("nyy"), [0.1, 0.2, 0.3]), "Got 'z', and the labels"),
        (ClassQuery(), ([0, 1, None], PROBA, CLASSES), "Got None in row 2"),
        (ClassQuery(), ([0, 1, 1], [[0.5, np.nan]] * 3), "Got nan in row 0, column 1"),
        (ClassQuery(), ([0, 1, 1], [30, 20, 10]), "Percentages must be divided by 100"),
        (ClassQuery(), ([0, 1, 1], [[[0.5]]] * 3), "Got shape"),
        (ClassQuery(), ([], []), "is empty"),
        (
            ClassQuery(multi_class="top_label"),
            ([0, 1, 1], [0.1, 0.2, 0.3]),
            "must have shape \\(n_samples, n_classes\\)",
        ),
    ],
)
def test_probabilities_that_make_no_sense_are_refused(query, args, message):
    with pytest.raises(ValueError, match=message):
        query.from_proba(*args)
