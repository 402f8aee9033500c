"""Metrics of Dask arrays are those of one machine, whatever becomes of a worker."""

import os
import signal
import tempfile
import threading
import time

import numpy as np
import pytest

from skcalib import ReliabilityDisplay
from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import (
    ReliabilitySketch,
    adaptive_reliability_curve,
    bin_size_curve,
    brier_statistics,
    calibration_error,
    calibration_error_interval,
    score_decomposition,
)

da = pytest.importorskip("dask.array", reason="Dask is not installed")
# What Dask and its cluster warn of is not ours; what they return is.
pytestmark = pytest.mark.filterwarnings("ignore")

KINDS = [
    {},
    {"norm": "l1", "n_bins": 7},
    {"norm": "max", "bin_size": 300},
    {"debias": True},
    {"squared": True},
]


@pytest.fixture(autouse=True)
def one_thread():
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def pairs():
    y, q = make_calibrated_pairs(20_000, k=0.1, random_state=0)
    return y, q, np.random.default_rng(0).integers(0, 4, y.size)


def chunked(*arrays, chunks=3000):
    return [da.from_array(array, chunks=chunks) for array in arrays]


from_dask = ReliabilitySketch.from_dask


class TestResults:
    @pytest.mark.parametrize("weighted", [False, True])
    def test_the_error_is_that_of_the_sketch_of_all_pairs(self, pairs, weighted):
        y, q, w = pairs
        arrays = (y, q, w) if weighted else (y, q)
        sketch = ReliabilitySketch().update(*arrays)
        found = from_dask(*chunked(*arrays))
        for kind in KINDS:
            expected = sketch.error(**kind)
            assert found.error(**kind) == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize("multi_class", [None, "pooled", "top_label"])
    @pytest.mark.parametrize("given", [False, True])
    def test_matrices_of_classes(self, multi_class, given):
        rng = np.random.default_rng(1)
        proba = rng.dirichlet(np.ones(3), 900).round(2)
        labels = ["a", "b", "c"]
        y = np.sort(np.array(labels)[rng.integers(0, 3, 900)])  # blocks lack labels
        found = from_dask(
            da.from_array(y, chunks=250),
            da.from_array(proba, chunks=(200, 2)),
            multi_class=multi_class,
            labels=labels if given else None,
        )
        wanted = calibration_error(y, proba, multi_class=multi_class, bin_size=60)
        assert found.error(60) == pytest.approx(wanted, abs=1e-12)

    def test_a_block_need_not_hold_the_positive_label(self, pairs):
        _, q, _ = (array[:900] for array in pairs)
        y = np.repeat(["a", "b", "c"], 300)
        blocks = chunked(y, q, chunks=450)
        wanted = calibration_error(y, q, pos_label="c", bin_size=100)
        found = from_dask(*blocks, pos_label="c").error(100)
        assert found == pytest.approx(wanted, abs=1e-4)
        with pytest.raises(ValueError, match="'pos_label' .*from_dask .*'z'"):
            from_dask(*blocks, pos_label="z")

    def test_blocks_are_matched(self, pairs):
        y, q, _ = (array[:1000] for array in pairs)
        wanted = calibration_error(y, q, bin_size=100)
        blocks = da.from_array(q, chunks=170)
        for labels in (da.from_array(y, chunks=300), y, y.tolist()):
            found = from_dask(labels, blocks).error(100)
            assert found == pytest.approx(wanted, abs=1e-12)
        found = from_dask(da.from_array(y, chunks=300), q).error(100)
        assert found == pytest.approx(wanted, abs=1e-12)

    def test_blocks_of_unknown_length(self, pairs):
        y, q, _ = (array[:1000] for array in pairs)
        y_blocks, q_blocks = chunked(y, q, chunks=170)
        keep = q_blocks < 0.5
        found = from_dask(y_blocks[keep], q_blocks[keep]).error(100)
        wanted = calibration_error(y[q < 0.5], q[q < 0.5], bin_size=100)
        assert found == pytest.approx(wanted, abs=1e-12)
        with pytest.raises(ValueError, match="compute_chunk_sizes"):
            from_dask(y[q < 0.5], q_blocks[keep])

    def test_a_sketch_of_blocks_keeps_its_fineness(self, pairs):
        y, q, w = pairs
        sketch = ReliabilitySketch.from_dask(*chunked(y, q, w), n_bits=12)
        assert repr(sketch) == f"ReliabilitySketch(n_pairs={(w > 0).sum()}, n_bits=12)"
        wanted = ReliabilitySketch(n_bits=12).update(y, q, w)
        assert sketch.error() == pytest.approx(wanted.error(), abs=1e-12)


class TestRefusals:
    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"multi_class": "pooled"}, "'multi_class' parameter of .*from_dask"),
            ({"multi_class": "per_class"}, "'multi_class' parameter"),
            ({"n_bits": 2}, "'n_bits' parameter"),
        ],
    )
    def test_parameters(self, params, message):
        with pytest.raises(ValueError, match=message):
            from_dask(*chunked(np.r_[0, 1, 1], np.r_[0.1, 0.2, 0.3]), **params)

    def test_lengths(self):
        with pytest.raises(ValueError, match="3 rows of y_true and 2 rows"):
            from_dask(*chunked(np.r_[0, 1, 1], np.r_[0.1, 0.2]))

    def test_a_wrong_row_is_named_with_its_block(self):
        q = np.r_[0.1, 0.2, 0.3, 1.5]
        with pytest.raises(ValueError, match=r"block 1.* Got 1.5 in row 1"):
            from_dask(*chunked(np.r_[0, 1, 1, 1], q, chunks=2))

    def test_other_collections(self):
        import dask

        with pytest.raises(TypeError, match="Got Delayed"):
            from_dask(dask.delayed([0, 1]), [0.1, 0.2])

    def test_one_dimension_too_many(self):
        with pytest.raises(ValueError, match="'y_true' parameter of .*from_dask"):
            from_dask(da.zeros((2, 2)), da.zeros(2))

    @pytest.mark.parametrize(
        "function",
        [
            calibration_error,
            calibration_error_interval,
            adaptive_reliability_curve,
            score_decomposition,
            brier_statistics,
            lambda y, q: bin_size_curve(y, q, bin_sizes=[2]),
            ReliabilityDisplay.from_predictions,
        ],
    )
    def test_metrics_of_arrays_name_the_sketch(self, function):
        y, q = chunked(np.r_[0, 1, 1], np.r_[0.1, 0.2, 0.3])
        for arrays in ((y, q), ([0, 1, 1], q), (y, [0.1, 0.2, 0.3])):
            with pytest.raises(TypeError, match=r"Dask.* ReliabilitySketch.from_dask"):
                function(*arrays)


def test_frames_and_series_of_dask(pairs):
    dd = pytest.importorskip("dask.dataframe", reason="no data frames of Dask here")
    import pandas as pd

    y, q, _ = (array[:1000] for array in pairs)
    frame = dd.from_pandas(pd.DataFrame({"y": y, "q": q}), npartitions=3)
    found = from_dask(frame["y"], frame["q"]).error(100)
    assert found == pytest.approx(calibration_error(y, q, bin_size=100), abs=1e-12)


def test_what_gives_labels_and_probabilities_is_made_once(tmp_path):
    import dask

    make = dask.delayed(maker(seconds=0))
    blocks = [
        da.from_delayed(make(i, str(tmp_path)), (5000, 2), dtype=float)
        for i in range(3)
    ]
    data = da.concatenate(blocks)
    ReliabilitySketch.from_dask(data[:, 0], data[:, 1], data[:, 1])
    assert len(list(tmp_path.iterdir())) == 3


def maker(seconds):
    """Return a function that draws the pairs of a block and leaves word of it.

    A function of a function goes to other processes as it is; they need not import
    this file.
    """

    def make(block, signals):
        handle, _ = tempfile.mkstemp(prefix=f"{os.getpid()}-{block}-", dir=signals)
        os.close(handle)
        time.sleep(seconds)
        y, q = make_calibrated_pairs(5000, k=0.1, random_state=block)
        return np.stack([y, q], axis=1)

    return make


@pytest.mark.slow
def test_a_killed_worker_changes_nothing(tmp_path):
    """Four worker processes, of which one is killed while it works."""
    distributed = pytest.importorskip("distributed", reason="no cluster without it")
    import dask

    n_blocks = 24
    make = dask.delayed(maker(seconds=0.3))  # slow enough to be interrupted
    blocks = [
        da.from_delayed(make(i, str(tmp_path)), (5000, 2), dtype=float)
        for i in range(n_blocks)
    ]
    data = da.concatenate(blocks)
    killed = []

    def kill_the_first():
        while not (started := sorted(tmp_path.iterdir())):
            time.sleep(0.01)
        killed.append(int(started[0].name.split("-")[0]))
        os.kill(killed[0], signal.SIGKILL)

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 10}),
        distributed.LocalCluster(
            n_workers=4,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=str(tmp_path.parent / "workers"),
        ) as cluster,
        distributed.Client(cluster) as client,
        dask.config.set(scheduler=client),
    ):
        thread = threading.Thread(target=kill_the_first)
        thread.start()
        found = from_dask(data[:, 0], data[:, 1]).error()
        thread.join()
    tries = [name.name.split("-") for name in tmp_path.iterdir()]
    pids, numbers, _ = zip(*tries, strict=True)
    assert killed[0] in map(int, pids)
    assert len(set(pids)) > 1
    assert len(numbers) > len(set(numbers)) == n_blocks  # a block was made twice
    several = [make_calibrated_pairs(5000, k=0.1, random_state=i) for i in range(24)]
    y, q = map(np.concatenate, zip(*several, strict=True))
    sketch = ReliabilitySketch().update(y, q)
    assert found == pytest.approx(sketch.error(), abs=1e-12)
    assert abs(found - calibration_error(y, q)) <= sketch.error_bound()
