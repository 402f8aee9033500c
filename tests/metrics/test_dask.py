"""Metrics of Dask arrays are those of one machine, whatever becomes of a worker."""

import os
import signal
import tempfile
import threading
import time
import warnings

import numpy as np
import pytest

from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import (
    ReliabilitySketch,
    adaptive_reliability_curve,
    calibration_error,
    calibration_error_interval,
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


class TestResults:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("weighted", [False, True])
    def test_the_error_is_that_of_the_sketch_of_all_pairs(self, pairs, kind, weighted):
        y, q, w = pairs
        w = w if weighted else None
        sketch = ReliabilitySketch().update(y, q, w)
        weight = None if w is None else da.from_array(w, chunks=3000)
        found = calibration_error(*chunked(y, q), sample_weight=weight, **kind)
        assert isinstance(found, float)
        assert found == pytest.approx(sketch.error(**kind), abs=1e-12)
        exact = calibration_error(y, q, sample_weight=w, **kind)
        assert abs(found - exact) <= sketch.error_bound(**kind) + 1e-12

    def test_rounded_probabilities_give_the_number_of_one_machine(self, pairs):
        y, q, _ = pairs
        q = q.round(3)
        found = calibration_error(*chunked(y, q))
        assert found == pytest.approx(calibration_error(y, q), abs=1e-12)
        curve = adaptive_reliability_curve(*chunked(y, q), bin_size=700)
        wanted = adaptive_reliability_curve(y, q, bin_size=700)
        assert repr(curve) == repr(wanted)
        np.testing.assert_allclose(curve.prob_true, wanted.prob_true, atol=1e-12)
        np.testing.assert_allclose(curve.prob_pred, wanted.prob_pred, atol=1e-12)
        interval = calibration_error_interval(*chunked(y, q), confidence_level=0.9)
        wanted = calibration_error_interval(y, q, confidence_level=0.9)
        assert interval.low == pytest.approx(wanted.low, abs=1e-9)
        assert interval.high == pytest.approx(wanted.high, abs=1e-9)
        assert (interval.n_pairs, interval.bin_size) == (20_000, wanted.bin_size)

    @pytest.mark.parametrize("multi_class", [None, "pooled", "top_label", "class_wise"])
    @pytest.mark.parametrize("given", [False, True])
    def test_matrices_of_classes(self, multi_class, given):
        rng = np.random.default_rng(1)
        proba = rng.dirichlet(np.ones(3), 900).round(2)
        labels = ["a", "b", "c"]
        y = np.sort(np.array(labels)[rng.integers(0, 3, 900)])  # blocks lack labels
        found = calibration_error(
            da.from_array(y, chunks=250),
            da.from_array(proba, chunks=(200, 2)),
            multi_class=multi_class,
            labels=labels if given else None,
            bin_size=60,
        )
        wanted = calibration_error(y, proba, multi_class=multi_class, bin_size=60)
        assert found == pytest.approx(wanted, abs=1e-12)

    def test_each_class(self):
        rng = np.random.default_rng(2)
        proba, y = rng.dirichlet(np.ones(3), 900).round(2), rng.integers(0, 3, 900)
        found = calibration_error(*chunked(y, proba), multi_class="per_class")
        wanted = calibration_error(y, proba, multi_class="per_class")
        np.testing.assert_allclose(found, wanted, atol=1e-12)

    def test_a_block_need_not_hold_the_positive_label(self, pairs):
        _, q, _ = (array[:900] for array in pairs)
        y = np.repeat(["a", "b", "c"], 300)
        blocks = chunked(y, q, chunks=450)
        found = calibration_error(*blocks, pos_label="c", bin_size=100)
        wanted = calibration_error(y, q, pos_label="c", bin_size=100)
        assert found == pytest.approx(wanted, abs=1e-4)
        with pytest.raises(ValueError, match="'pos_label' .* calibration_error .*'z'"):
            calibration_error(*blocks, pos_label="z")

    def test_blocks_are_matched(self, pairs):
        y, q, _ = (array[:1000] for array in pairs)
        wanted = calibration_error(y, q, bin_size=100)
        blocks = da.from_array(q, chunks=170)
        for labels in (da.from_array(y, chunks=300), y, y.tolist()):
            assert calibration_error(labels, blocks, bin_size=100) == pytest.approx(
                wanted, abs=1e-12
            )
        found = calibration_error(da.from_array(y, chunks=300), q, bin_size=100)
        assert found == pytest.approx(wanted, abs=1e-12)

    def test_blocks_of_unknown_length(self, pairs):
        y, q, _ = (array[:1000] for array in pairs)
        y_blocks, q_blocks = chunked(y, q, chunks=170)
        keep = q_blocks < 0.5
        found = calibration_error(y_blocks[keep], q_blocks[keep], bin_size=100)
        wanted = calibration_error(y[q < 0.5], q[q < 0.5], bin_size=100)
        assert found == pytest.approx(wanted, abs=1e-12)
        with pytest.raises(ValueError, match="compute_chunk_sizes"):
            calibration_error(y[q < 0.5], q_blocks[keep])

    def test_a_sketch_of_blocks_keeps_its_fineness(self, pairs):
        y, q, w = pairs
        sketch = ReliabilitySketch.from_dask(*chunked(y, q, w), n_bits=12)
        assert repr(sketch) == f"ReliabilitySketch(n_pairs={(w > 0).sum()}, n_bits=12)"
        wanted = ReliabilitySketch(n_bits=12).update(y, q, w)
        assert sketch.error() == pytest.approx(wanted.error(), abs=1e-12)


class TestRefusals:
    @pytest.mark.parametrize(
        ("kwargs", "message"),
        [
            ({"groups": [0, 1, 1]}, "not accept 'groups'"),
            ({"strategy": "uniform", "n_bins": 2}, "strategy='quantile'"),
            ({"multi_class": "pooled"}, "'multi_class' parameter of calibration_error"),
            ({"multi_class": "one"}, "'multi_class' parameter of calibration_error"),
            ({"norm": "l3"}, "'norm' parameter of calibration_error"),
            ({"debias": True, "bin_size": 1}, "'debias' .* of calibration_error"),
        ],
    )
    def test_parameters(self, kwargs, message):
        with pytest.raises(ValueError, match=message):
            calibration_error(*chunked(np.r_[0, 1, 1], np.r_[0.1, 0.2, 0.3]), **kwargs)

    def test_parameters_of_a_sketch(self):
        blocks = chunked(np.r_[0, 1, 1], np.r_[0.1, 0.2, 0.3])
        with pytest.raises(ValueError, match="'n_bits' parameter"):
            ReliabilitySketch.from_dask(*blocks, n_bits=2)
        with pytest.raises(ValueError, match="'multi_class' parameter"):
            ReliabilitySketch.from_dask(*blocks, multi_class="per_class")

    def test_methods_that_draw(self):
        with pytest.raises(ValueError, match="'score' with Dask.* Got 'bootstrap'"):
            calibration_error_interval(
                *chunked(np.r_[0, 1], np.r_[0.1, 0.2]), method="bootstrap"
            )

    def test_lengths(self):
        with pytest.raises(ValueError, match="3 rows of y_true and 2 rows"):
            calibration_error(*chunked(np.r_[0, 1, 1], np.r_[0.1, 0.2]))

    def test_a_wrong_row_is_named_with_its_block(self):
        q = np.r_[0.1, 0.2, 0.3, 1.5]
        with pytest.raises(ValueError, match=r"block 1.* Got 1.5 in row 1"):
            calibration_error(*chunked(np.r_[0, 1, 1, 1], q, chunks=2))

    def test_other_collections(self):
        import dask

        with pytest.raises(TypeError, match="Got Delayed"):
            calibration_error(dask.delayed([0, 1]), [0.1, 0.2])

    def test_one_dimension_too_many(self):
        y = da.zeros((2, 2))
        with pytest.raises(ValueError, match="'y_true' parameter of calibration_error"):
            calibration_error(y, da.zeros(2))


def test_frames_and_series_of_dask(pairs):
    dd = pytest.importorskip("dask.dataframe", reason="no data frames of Dask here")
    import pandas as pd

    y, q, _ = (array[:1000] for array in pairs)
    frame = dd.from_pandas(pd.DataFrame({"y": y, "q": q}), npartitions=3)
    found = calibration_error(frame["y"], frame["q"], bin_size=100)
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
        found = calibration_error(data[:, 0], data[:, 1])
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


@pytest.mark.parametrize("function", [calibration_error, calibration_error_interval])
def test_hard_labels_are_said(function):
    y, q = np.arange(40) % 2, np.arange(40) // 3 % 2
    arrays = chunked(y, q.astype(float), chunks=15)
    with pytest.warns(UserWarning, match="All probabilities of the 40 rows"):
        function(*arrays)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        function(*arrays, hard_labels=True)
        function(*chunked(y, q * 0.5, chunks=15))
