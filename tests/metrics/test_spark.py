"""Metrics of Spark DataFrames are those of one machine."""

import shutil
import sys

import numpy as np
import pytest

from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import ReliabilitySketch, calibration_error

pytest.importorskip("pyspark", reason="PySpark is not installed")
pytest.importorskip("pyarrow", reason="PyArrow is not installed")
pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Java is not installed"),
    # What Spark warns of is not ours; what it returns is.
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.pyspark.python", sys.executable)
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frame(spark):
    import pandas as pd

    y, q = make_calibrated_pairs(20_000, k=0.1, random_state=0)
    w = np.random.default_rng(0).integers(0, 4, y.size)
    table = pd.DataFrame({"label": y, "proba": q, "n": w})
    return table, spark.createDataFrame(table).repartition(5)


@pytest.mark.parametrize("weight", [None, "n"])
def test_the_sketch_is_that_of_all_pairs(frame, weight):
    table, data = frame
    found = ReliabilitySketch.from_spark(data, "label", "proba", weight)
    w = None if weight is None else table[weight]
    wanted = ReliabilitySketch().update(table["label"], table["proba"], w)
    assert repr(found) == repr(wanted)
    for kind in ({}, {"norm": "l1", "n_bins": 7}, {"debias": True}):
        assert found.error(**kind) == pytest.approx(wanted.error(**kind), abs=1e-12)
    exact = calibration_error(table["label"], table["proba"], sample_weight=w)
    assert abs(found.error() - exact) <= found.error_bound()
    interval = found.interval()
    assert interval.low == pytest.approx(wanted.interval().low, abs=1e-12)


@pytest.mark.parametrize("labels", [None, ["a", "b", "c"]])
def test_several_classes_in_arrays_or_columns(spark, labels):
    import pandas as pd

    rng = np.random.default_rng(1)
    proba = rng.dirichlet(np.ones(3), 600).round(2)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 600)]
    table = pd.DataFrame(proba, columns=["p", "q", "r"])
    table["label"], table["array"] = y, list(proba)
    data = spark.createDataFrame(table).repartition(3)
    wanted = calibration_error(y, proba, bin_size=50)
    for columns in ("array", ["p", "q", "r"]):
        sketch = ReliabilitySketch.from_spark(data, "label", columns, labels=labels)
        assert sketch.error(bin_size=50) == pytest.approx(wanted, abs=1e-12)


def test_empty_partitions_add_nothing(frame):
    table, data = frame
    few = table["proba"] < 0.001
    found = ReliabilitySketch.from_spark(
        data.filter("proba < 0.001").repartition(9), "label", "proba"
    )
    assert found.n_samples == few.sum() > 0
    empty = ReliabilitySketch.from_spark(data.filter("proba > 2"), "label", "proba")
    assert empty.n_samples == 0


def test_a_missing_column_is_named(frame):
    with pytest.raises(ValueError, match="Got 'truth', and the columns 'label'"):
        ReliabilitySketch.from_spark(frame[1], "truth", "proba")


def test_a_wrong_row_is_reported_by_spark(frame):
    data = frame[1].selectExpr("label", "proba + 1 AS proba")
    with pytest.raises(Exception, match="'y_proba' parameter must contain"):
        ReliabilitySketch.from_spark(data, "label", "proba")
