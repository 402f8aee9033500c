"""Time and memory of imports, of the help and of commands on large files.

    python benchmarks/speed_commands.py [--quick]

Each row is a process of its own, in one thread. Imports and help are compared with
`import sklearn.linear_model`, the best of interleaved rounds. The files of answers have
columns question, correct and confidence and are made in a temporary folder. It takes
about two minutes.
"""

import argparse
import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from _common import print_table, versions, write_csv

ROUNDS = 7
PYTHON = [sys.executable, "-c"]
COMMAND = [sys.executable, "-m", "skcalib"]
BASE = "import sklearn.linear_model"
STARTS = {
    name: [*PYTHON, name]
    for name in [
        BASE,
        "import skcalib",
        "from skcalib import calibration_error, ReliabilityDisplay",
        "from skcalib import HMMTagger, CRFTagger",
    ]
}
STARTS |= {
    f"skcalib {options}": [*COMMAND, *options.split()]
    for options in ["--version", "--help", "compare --help"]
}
# The command, its files ("a", "b") and the number of rows of each file.
RUNS = [
    ("report a.csv", 1_000),
    ("report a.csv", 1_000_000),
    ("report a.csv", 5_000_000),
    ("report a.csv --no-figure", 5_000_000),
    ("report a.jsonl", 1_000_000),
    ("compare a.csv b.csv --question question", 1_000),
    ("compare a.csv b.csv --question question", 100_000),
    ("compare a.csv b.csv --question question", 1_000_000),
]


def timed(command, folder):
    """Run a command; return seconds, processor seconds and its peak memory in GiB."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command}: {errors.decode()}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20


def starts(folder):
    best = {}
    for _ in range(ROUNDS):
        for name, command in STARTS.items():
            best[name] = min(best.get(name, (np.inf,)), timed(command, folder))
    base = best[BASE][0]
    return [row(name, "", *found, found[0] / base) for name, found in best.items()]


def row(name, n, seconds, processor, peak, ratio=""):
    return {
        "work": name,
        "n": n,
        "seconds": f"{seconds:.2f}",
        "processor_seconds": f"{processor:.2f}",
        "peak_gib": f"{peak:.2f}",
        "per_import": ratio and f"{ratio:.2f}",
    }


def write_answers(path, n, seed):
    """Write answers to the same questions, of a system that is too confident."""
    ease = np.random.default_rng(0).normal(1, 2, n)
    rng = np.random.default_rng([1, seed])
    confidence = np.round(1 / (1 + np.exp(-ease - rng.normal(0, 0.5, n))), 4)
    correct = (rng.random(n) < confidence**1.2).astype(int)
    columns = range(n), correct.tolist(), confidence.tolist()
    with path.open("w", encoding="utf-8") as file:
        if path.suffix == ".csv":
            file.write("question,correct,confidence\n")
            file.writelines(f"{i},{y},{q}\n" for i, y, q in zip(*columns, strict=True))
        else:
            file.writelines(
                f'{{"question": "{i}", "correct": {y}, "confidence": {q}}}\n'
                for i, y, q in zip(*columns, strict=True)
            )


def runs(folder):
    for options, n in RUNS:
        for seed, name in enumerate(options.split()[1:3]):
            if "." in name:
                write_answers(folder / name, n, seed)
        measured = timed([*COMMAND, *options.split()], folder)
        found = row(f"skcalib {options}", n, *measured)
        print(*found.values(), flush=True)
        yield found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small files, no CSV")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if args.quick:
            RUNS[:] = [run for run in RUNS if run[1] == 1_000]
        rows = [*starts(name), *runs(Path(name))]
    print_table(rows)
    if not args.quick:
        packages = versions("numpy", "scipy", "scikit-learn", "pandas", "matplotlib")
        write_csv("speed_commands.csv", rows, f"one thread; {packages}")


if __name__ == "__main__":
    main()
