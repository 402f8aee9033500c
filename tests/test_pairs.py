"""Pairs from labels and probabilities: columns by name, order of rows, any labels."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from skcalib._pairs import holm
from skcalib.metrics import calibration_error, confidence_ranking
from skcalib.plot import ReliabilityDisplay
from skcalib.rates import accuracy_interval
from skcalib.scorers import adaptive_reliability_curve_scorer as curve_scorer
from skcalib.scorers import calibration_error_scorer, compare_calibration
from skcalib.significance import compare_systems, paired_bootstrap_test

RNG = np.random.default_rng(0)
PROBA = RNG.dirichlet(np.ones(3), 60)
CLASSES = RNG.integers(0, 3, 60)
ERROR = calibration_error(CLASSES, PROBA, bin_size=20)


def arrow_table(columns):
    return pytest.importorskip("pyarrow").table(columns)


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame, arrow_table])
@pytest.mark.parametrize("kind", [int, str])
def test_named_columns_are_matched_to_labels(table, kind):
    names = [str(k) for k in range(3)]
    y = CLASSES.astype(kind)
    frame = table({names[k]: PROBA[:, k] for k in (2, 0, 1)})
    assert calibration_error(y, frame, bin_size=20) == ERROR


def test_columns_named_by_numbers_are_matched_to_labels():
    frame = pd.DataFrame({k: PROBA[:, k] for k in (2, 0, 1)})
    assert calibration_error(CLASSES, frame, bin_size=20) == ERROR


def test_numbered_columns_are_in_the_order_of_the_labels():
    y = np.array(["c", "a", "b"])[CLASSES]
    expected = calibration_error(y, PROBA, bin_size=20, labels=["c", "a", "b"])
    assert expected == ERROR
    for table in (pd.DataFrame, pl.DataFrame):
        found = calibration_error(y, table(PROBA), bin_size=20, labels=["c", "a", "b"])
        assert found == ERROR


@pytest.mark.parametrize("names", [["ham", "spam", "eggs"], ["0", "1", "x"]])
def test_columns_with_other_names_are_an_error(names):
    frame = pd.DataFrame(PROBA, columns=names)
    message = rf"'y_proba' .* columns \['{names[0]}'.* labels \[0, 1, 2\]: rename"
    with pytest.raises(ValueError, match=message):
        calibration_error(CLASSES, frame)


@pytest.mark.parametrize(
    "shape", [lambda q: q[:, None], lambda q: pd.DataFrame({"proba": q})]
)
def test_one_column_is_the_probability_of_the_positive_class(shape):
    y, q = CLASSES == 1, PROBA[:, 1]
    expected = calibration_error(y, q, bin_size=20)
    assert calibration_error(y, shape(q), bin_size=20) == expected


def test_an_unknown_label_is_named_with_its_row():
    y = np.where(np.arange(60) == 7, 3, CLASSES)
    with pytest.raises(ValueError, match="in 'labels'. Got 3 in row 7"):
        calibration_error(y, PROBA, labels=[0, 1, 2])
    weight = (np.arange(60) > 4).astype(float)
    with pytest.raises(ValueError, match="Got 3 in row 7"):
        calibration_error(y, PROBA, labels=[0, 1, 2], sample_weight=weight)


@pytest.mark.parametrize("name", ["y_true", "y_proba", "sample_weight", "groups"])
def test_masked_entries_are_named_with_their_row(name):
    arguments = {
        "y_true": CLASSES == 1,
        "y_proba": PROBA[:, 1],
        "sample_weight": np.ones(60),
        "groups": np.arange(60),
    }
    mask = np.arange(60) == 7
    arguments[name] = np.ma.array(arguments[name], mask=mask)
    message = f"'{name}' parameter of calibration_error .* masked entry in row 7"
    with pytest.raises(ValueError, match=message):
        calibration_error(**arguments)


def test_a_missing_string_is_named_with_its_row():
    kind = np.dtypes.StringDType(na_object=np.nan)
    y = np.array(["a", np.nan, "b"], dtype=kind)
    with pytest.raises(ValueError, match="label in every row. Got nan in row 1"):
        calibration_error(y, [0.1, 0.2, 0.3], pos_label="a")


Y = pd.Series(np.arange(40) % 2)
Q = 0.3 + 0.4 * Y
X = pd.DataFrame({"x": 1.0 * Y})
MODEL = LogisticRegression().fit(X, Y)


def weight(shuffled):
    return {"sample_weight": shuffled(Q)}


@pytest.mark.parametrize(
    ("names", "call"),
    [
        ("y_true and y_proba", lambda s: calibration_error(Y, s(Q))),
        ("y_true and sample_weight", lambda s: calibration_error(Y, Q, **weight(s))),
        ("y_proba and groups", lambda s: calibration_error([*Y], Q, groups=s(Y))),
        ("y_true and groups", lambda s: confidence_ranking(Y, [*Q], groups=s(Y))),
        ("y_true and proba_b", lambda s: compare_calibration(Y, Q, s(Q))),
        ("X and y", lambda s: ReliabilityDisplay.from_estimator(MODEL, X, s(Y))),
        (
            r"y_true and y_proba\['B'\]",
            lambda s: ReliabilityDisplay.from_predictions(Y, {"A": Q, "B": s(Q)}),
        ),
        ("X and y_true", lambda s: calibration_error_scorer(MODEL, X, s(Y))),
        ("X and sample_weight", lambda s: curve_scorer(MODEL, X, [*Y], **weight(s))),
        ("y and groups", lambda s: accuracy_interval(Y, groups=s(Y))),
        ("stats_a and stats_b", lambda s: paired_bootstrap_test(Y, s(1 - Y))),
        (
            r"systems\['A'\] and systems\['B'\]",
            lambda s: compare_systems({"A": Y, "B": s(1 - Y)}),
        ),
    ],
)
def test_rows_of_pandas_objects_in_another_order_give_one_warning(names, call):
    order = np.random.default_rng(0).permutation(40)
    call(lambda column: column)
    call(lambda column: column.iloc[order].reset_index(drop=True))
    call(lambda column: column.iloc[order].set_axis(np.arange(40) + 7))  # no relation
    message = f"^{names} have the same index in different orders"
    with pytest.warns(UserWarning, match=message) as caught:
        call(lambda column: column.iloc[order])
    # Old versions of matplotlib have warnings of their own.
    (found,) = (each for each in caught if "different orders" in str(each.message))
    assert found.filename == __file__


def test_missing_p_values_do_not_count_in_holms_method():
    # of three p-values: 3 * .01, then the larger of 2 * .03 and .04
    found = holm(np.array([np.nan, 0.01, 0.04, np.nan, 0.03]))
    np.testing.assert_allclose(found, [np.nan, 0.03, 0.06, np.nan, 0.06])
