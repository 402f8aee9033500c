"""List, describe and run the benchmarks.

    python benchmarks/run.py                   # the names, with a line on each
    python benchmarks/run.py --describe NAME
    python benchmarks/run.py NAME [options]
    python benchmarks/run.py --release         # before a release

--release makes the tables again that users rely on: two scripts at a time, and those
that measure times alone at the end. It takes two to three hours on two cores, and needs
SKCALIB_DATA and the packages that are compared.
"""

import argparse
import ast
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDER = Path(__file__).parent
SCRIPTS = {
    path.stem: path for path in sorted(FOLDER.glob("[a-z]*.py")) if path.stem != "run"
}
# The runs of each script before a release, by their options; longer scripts come first.
RELEASE = {
    "confidence_ranking": [""],
    "paired_test_size": ["--replicates 500"],
    "interval_coverage": [
        "methods",
        "tuning testing certain certain-testing --replicates 1000",
        "tuning-groups testing-groups repeated-groups testing-repeated-groups",
    ],
    "compare_models": [""],
}
TIMED = {"peers": [""], "speed": [""]}


def docstring_of(name):
    """Return the docstring of a script, without importing it."""
    return ast.get_docstring(ast.parse(SCRIPTS[name].read_bytes()))


def command_of(name, options):
    return [sys.executable, str(SCRIPTS[name]), *options]


def run_all(name, runs):
    """Run a script with each of the options; return whether all runs succeeded."""
    codes = []
    for options in runs:
        start = time.perf_counter()
        command = command_of(name, shlex.split(options))
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        minutes = (time.perf_counter() - start) / 60
        state = "failed:\n" + done.stderr[-2000:] if done.returncode else "done"
        print(f"{name} {options} ({minutes:.1f} minutes) {state}", flush=True)
        codes.append(done.returncode)
    return not any(codes)


def release():
    """Run what users rely on; return the exit status."""
    with ThreadPoolExecutor(2) as pool:
        succeeded = list(pool.map(run_all, RELEASE, RELEASE.values()))
    succeeded += map(run_all, TIMED, TIMED.values())
    return 0 if all(succeeded) else 1


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--describe", action="store_true")
    parser.add_argument("--release", action="store_true")
    parser.add_argument("name", nargs="?", choices=SCRIPTS)
    parser.add_argument("options", nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    if asked.release:
        return release()
    if asked.name is None:
        for name in SCRIPTS:
            print(f"{name:24} {docstring_of(name).splitlines()[0]}")
        return 0
    if asked.describe:
        print(docstring_of(asked.name))
        return 0
    return subprocess.call(command_of(asked.name, asked.options))


if __name__ == "__main__":
    sys.exit(main())
