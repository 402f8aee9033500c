"""The same calibration error on one array, in chunks, by Dask and by Spark.

    python benchmarks/scale.py [--pairs 20000000] [--quick]
    python benchmarks/scale.py --stream 1000000000

The first command generates pairs in 100 chunks, each with its own seed. It computes
their error from one array (exact), from a sketch of the chunks, from a sketch of a Dask
array on 4 worker processes of which one is killed, and from a sketch of a Spark
DataFrame on 2 cores. Engines that are not installed are omitted. Times include the
generation of the pairs, whose own time is a separate row. The second command adds
chunks of ten million pairs to a sketch on one core, and compares the time with np.sort
of the same chunks.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from _common import print_table, versions, write_csv

from skcalib.metrics import ReliabilitySketch, calibration_error

N_CHUNKS = 100
STREAMED = 10**7
LABELS = ("y_true", "y_proba")


def make_chunk(number, n):
    """Draw skewed pairs, overconfident where the label is likely."""
    rng = np.random.default_rng([0, number])
    u = rng.random(n)
    q = u**6
    return (rng.random(n) < q * (1 - 0.1 * q)).astype(np.int8), q


def measure(name, function):
    start = time.perf_counter()
    result = function()
    seconds = time.perf_counter() - start
    print(f"{name}: {seconds:.1f} s", flush=True)
    return result, seconds


def in_one_array(n):
    chunks = [make_chunk(i, n) for i in range(N_CHUNKS)]
    y, q = map(np.concatenate, zip(*chunks, strict=True))
    return calibration_error(y, q)


def in_chunks(n):
    sketch = ReliabilitySketch()
    for i in range(N_CHUNKS):
        sketch.update(*make_chunk(i, n))
    return sketch


def only_make(n):
    for i in range(N_CHUNKS):
        make_chunk(i, n)


def only_sort(n):
    """Sort what is made; the time of making is taken off."""
    seconds = 0.0
    for i in range(N_CHUNKS):
        _, q = make_chunk(i, n)
        start = time.perf_counter()
        np.sort(q)
        seconds += time.perf_counter() - start
    return seconds


def marked_chunk(number, n, folder):
    """Make a chunk on a worker, and leave word that this process is at it."""
    (Path(folder) / f"{os.getpid()}-{number}").touch()
    return np.stack(make_chunk(number, n), axis=1)


def on_dask(n):
    """Return the sketch, and how many chunks were made on how many workers."""
    import dask
    import dask.array as da
    import distributed

    folder = Path(tempfile.mkdtemp())

    def kill_one():
        while len(started := sorted(folder.iterdir())) < N_CHUNKS // 5:
            time.sleep(0.01)
        os.kill(int(started[0].name.split("-")[0]), signal.SIGKILL)

    make = dask.delayed(marked_chunk)
    blocks = [
        da.from_delayed(make(i, n, str(folder)), (n, 2), dtype=float)
        for i in range(N_CHUNKS)
    ]
    data = da.concatenate(blocks)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 10}),
        distributed.LocalCluster(
            n_workers=4, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        killer = threading.Thread(target=kill_one)
        killer.start()
        start = time.perf_counter()
        sketch = ReliabilitySketch.from_dask(data[:, 0], data[:, 1])
        seconds = time.perf_counter() - start
        killer.join()
    names = [path.name.split("-") for path in folder.iterdir()]
    shutil.rmtree(folder)
    pids, numbers = (set(column) for column in zip(*names, strict=True))
    print(f"Dask: {len(numbers)} chunks were made {len(names)} times by {len(pids)}")
    return sketch, seconds


def on_spark(n):
    import pyarrow  # noqa: F401, by which Spark hands over pandas' frames
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")

    def make(frames):
        import pandas as pd

        for frame in frames:
            for number in frame["id"]:
                yield pd.DataFrame(
                    dict(zip(LABELS, make_chunk(number, n), strict=True))
                )

    numbers = spark.range(N_CHUNKS, numPartitions=8)
    frame = numbers.mapInPandas(make, "y_true byte, y_proba double")
    start = time.perf_counter()
    sketch = ReliabilitySketch.from_spark(frame, *LABELS)
    seconds = time.perf_counter() - start
    spark.stop()
    return sketch, seconds


def row_of(name, n_pairs, error, exact, bound, seconds):
    return {
        "how": name,
        "pairs": n_pairs,
        "error": error,
        "distance": None if error is None else abs(error - exact),
        "bound": bound,
        "seconds": round(seconds, 2),
        "million_pairs_a_second": round(n_pairs / seconds / 1e6, 2),
    }


def compare(n_pairs):
    n = n_pairs // N_CHUNKS
    n_pairs = n * N_CHUNKS
    _, making = measure("making", lambda: only_make(n))
    sorting = only_sort(n)
    exact, seconds = measure("one array", lambda: in_one_array(n))
    rows = [
        row_of("making the pairs", n_pairs, None, exact, None, making),
        row_of("np.sort of each chunk", n_pairs, None, exact, None, sorting),
        row_of("one array", n_pairs, exact, exact, 0.0, seconds),
    ]
    sketch, seconds = measure("chunks", lambda: in_chunks(n))
    sketches = {f"{N_CHUNKS} chunks": (sketch, seconds)}
    engines = {
        "Dask, 4 workers, one killed": on_dask,
        "Spark, 2 cores": on_spark,
    }
    for name, engine in engines.items():
        try:
            sketches[name], _ = measure(name, lambda engine=engine: engine(n))
        except ImportError as error:
            print(f"{name} is left out: {error}")
    for name, (sketch, seconds) in sketches.items():
        bound, error = sketch.error_bound(), sketch.error()
        if abs(error - exact) > bound:
            raise AssertionError(f"{name}: {error} is not within {bound} of {exact}")
        rows.append(row_of(name, n_pairs, error, exact, bound, seconds))
    return rows


def stream(n_pairs):
    sketch, update, sort = ReliabilitySketch(), 0.0, 0.0
    peaks = []
    for number in range(max(1, n_pairs // STREAMED)):
        y, q = make_chunk(number, STREAMED)
        start = time.perf_counter()
        sketch.update(y, q)
        middle = time.perf_counter()
        np.sort(q)
        update += middle - start
        sort += time.perf_counter() - middle
        del y, q
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return [
        {
            "pairs": sketch.n_samples,
            "update_seconds": round(update, 1),
            "sort_seconds": round(sort, 1),
            "ratio": round(update / sort, 3),
            "million_pairs_a_second": round(sketch.n_samples / update / 1e6, 2),
            "peak_mib_of_first_chunk": round(peaks[0]),
            "peak_mib": round(peaks[-1]),
            "error": sketch.error(),
            "bound": sketch.error_bound(),
        }
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=20_000_000)
    parser.add_argument("--stream", type=int, help="stream so many pairs instead")
    parser.add_argument("--quick", action="store_true", help="a million pairs, no CSV")
    args = parser.parse_args()
    if args.stream:
        name, rows = "scale_stream.csv", stream(args.stream)
    else:
        name, rows = "scale.csv", compare(10**6 if args.quick else args.pairs)
    print_table(rows)
    if not args.quick:
        write_csv(name, rows, versions("numpy", "dask", "distributed", "pyspark"))


if __name__ == "__main__":
    main()
