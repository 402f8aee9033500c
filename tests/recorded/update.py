"""Write the records of the behaviour that users see: surface, runs and calls.

    python -m tests.recorded.update [surface] [runs] [calls] [--pin]

Run it at the top of a checkout. Records that agree with what the code does now stay
as they are, so that a diff has only what changed. In another environment than the one
of ``environment.txt``, the last digits need not agree. ``--pin`` makes the running
environment the one of the records, and writes all of them.
"""

import argparse
import functools
import os
from collections.abc import Callable
from pathlib import Path

os.environ["MPLBACKEND"] = "Agg"

from . import _calls, _environment, _records, _runs, _surface


def update_surface() -> None:
    _surface.PATH.write_text(_surface.surface(), "utf-8", newline="\n")


def update_calls(*, is_pinned: bool, keep: bool) -> int:
    agree = _calls.agree if keep else never
    return sum(
        update_file(path, _calls.outcome, agree, is_pinned)
        for path in _records.paths(_calls.FOLDER)
    )


def update_runs(*, is_pinned: bool, keep: bool) -> int:
    agree = _runs.agree if keep else never
    with _runs.input_folder() as inputs:
        outcome = functools.partial(_runs.outcome, inputs=inputs)
        return sum(
            update_file(path, outcome, agree, is_pinned)
            for path in _records.paths(_runs.FOLDER)
        )


def never(case: str, old: str, new: str, is_pinned: bool) -> bool:
    return False


def update_file(
    path: Path,
    outcome: Callable[[str], str],
    agree: Callable[[str, str, str, bool], bool],
    is_pinned: bool,
) -> int:
    """Write the records of a file that do not agree, and return how many."""
    records, comments = _records.read(path)
    n_changed = 0
    for case, old in records.items():
        new = outcome(case)
        if not agree(case, old, new, is_pinned):
            records[case] = new
            n_changed += 1
    _records.write(path, records, comments)
    return n_changed


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.recorded.update")
    kinds = ("surface", "runs", "calls")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(kinds))
    parser.add_argument("--pin", action="store_true")
    options = parser.parse_args()
    if not set(options.kinds) <= set(kinds):
        parser.error(f"KIND must be one of {', '.join(kinds)}")
    chosen = options.kinds or kinds
    if options.pin:
        chosen = kinds
        _environment.PATH.write_text(_environment.current(), "utf-8", newline="\n")
    is_pinned = _environment.is_pinned()
    if not is_pinned:
        print("Not the environment of environment.txt: last digits are not compared.")
    how = {"is_pinned": is_pinned, "keep": not options.pin}
    if "surface" in chosen:
        update_surface()
    for kind, update in (("runs", update_runs), ("calls", update_calls)):
        if kind in chosen:
            print(f"{kind}: {update(**how)} records written")
    print("Review the diff: git diff tests/recorded")


if __name__ == "__main__":
    main()
