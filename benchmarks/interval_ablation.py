"""What each part of the score interval contributes: one part off at a time.

    python benchmarks/interval_ablation.py [rows near-certain errors groups]
        [--replicates 150] [--summary]

The same samples are measured with the whole method ("today") and with a part of it
switched off (_interval_parts.py). The sets of cells are:

- rows: the cells of independent rows in _interval_cells.py, tuning and testing;
- near-certain: the cells of `certain_rows` in _interval_cells.py. Most of their samples
  have hardly any label of one kind;
- errors: the errors on which the power of the test is measured, at 100 and 500 rows,
  for the parts that the test depends on;
- groups: the cells of groups in _interval_cells.py, tuning and testing.

interval_ablation_cells.csv has each cell: the coverage, the shares of samples whose
interval contains the error only with the part ("lost") or only without it ("gained"),
the mean width divided by today's, and the rejection rate at .05.
interval_ablation.csv summarises each set: the lowest coverage, the largest loss of
coverage in a cell, the mean distance of the coverage from 95, the mean and the largest
width ratio, the power (the mean rejection rate over cells with an error) and the
highest rejection rate of a cell without error.

The set near-certain has four times as many replicates, errors twice as many and groups
half as many. A coverage has a standard error of 1.8 points at 150 replicates; a change
is more precise, since the samples are the same. It takes about 15 minutes on one core.
--summary only makes interval_ablation.csv again, from the committed cells.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
import warnings

import _interval_cells as cells_of
import _interval_parts as parts_of
from _common import print_table, read_csv, versions, write_csv

TODAY = "today"
CELLS, SUMMARY = "interval_ablation_cells.csv", "interval_ablation.csv"
# The parts that the interval with groups has.
WITH_GROUPS = (
    "_COMBINED",
    "MeanBound",
    "step",
    "skewness",
    "bin size search: widest bins",
    "bin size search: narrowest bins",
    "Student's t",
)
# The parts that the interval without groups does not have.
WITH_GROUPS_ONLY = ("Student's t",)
# The parts that the test of independent rows depends on.
OF_THE_TEST = (
    "_COMBINED",
    "smooth test",
    "bin size search: widest bins",
    "bin size search: narrowest bins",
)
# Replicates of each set relative to --replicates.
SHARES = {"rows": 1.0, "near-certain": 4.0, "errors": 2.0, "groups": 0.5}


def errors():
    return [
        cells_of.rows(name, probabilities, frequency, n)
        for name, probabilities, frequency in cells_of.ERRORS
        for n in (100, 500)
    ]


SETS = {
    "rows": lambda: cells_of.tuning_rows() + cells_of.testing_rows(),
    "near-certain": lambda: cells_of.certain_rows(),
    "errors": lambda: errors(),
    "groups": lambda: cells_of.tuning_groups() + cells_of.testing_groups(),
}


def parts_for(name):
    """Return the parts that are switched off in the cells of a set."""
    if name in ("groups", "errors"):
        return WITH_GROUPS if name == "groups" else OF_THE_TEST
    all_parts = [*parts_of.PARTS, *parts_of.TOGETHER]
    return [part for part in all_parts if part not in WITH_GROUPS_ONLY]


def measure(name, replicates):
    """Return the rows of the cells of a set."""
    n = max(int(replicates * SHARES[name]), 1)
    variants = {TODAY: []}
    variants |= {part: parts_of.part_off(part) for part in parts_for(name)}
    rows, start = [], time.perf_counter()
    for cell in SETS[name]():
        found = parts_of.compare(cell, n, variants)
        rows += [{"set": name} | row for row in found]
        print(f"{name}: {cell.name}, {time.perf_counter() - start:.0f} s", flush=True)
    return rows


def summarise(rows, asked):
    """Return a row for each set and part."""
    found = []
    for name in asked:
        mine = [row for row in rows if row["set"] == name]
        found += [{"set": name} | row for row in parts_of.summaries(mine)]
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", choices=[*SETS, []], default=[])
    parser.add_argument("--replicates", type=int, default=150)
    parser.add_argument("--summary", action="store_true")
    options = parser.parse_args()
    # the warning of few groups
    warnings.simplefilter("ignore", UserWarning)
    asked, start = options.sets or list(SETS), time.perf_counter()
    if options.summary:
        note, rows = read_csv(CELLS)
    else:
        rows = [row for name in asked for row in measure(name, options.replicates)]
        note = f"shares in %; {time.perf_counter() - start:.0f} s; "
        note += versions("numpy", "scipy")
    table = summarise(rows, asked)
    print_table(table)
    if options.sets:
        return  # a part of the table
    if not options.summary:
        parts_of.check_used([*parts_of.PARTS])
        write_csv(CELLS, rows, note)
    write_csv(SUMMARY, table, note)


if __name__ == "__main__":
    main()
