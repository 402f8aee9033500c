"""What the benchmarks share: tables with a header, versions, timing."""

import csv
import datetime
import importlib.metadata
import os
import platform
import re
import shlex
import sys
import time
from pathlib import Path

import skcalib

RESULTS = Path(__file__).parent / "results"
RUN = "python benchmarks/run.py"
# "X to Y" where rows of an earlier run are kept.
HEADER = re.compile(
    r"# skcalib (?P<version>\S+(?: to \S+)?), (?P<date>\S+(?: to \S+)?), "
    rf"{re.escape(RUN)} (?P<command>.+?), (?P<machine>[^,;]+); (?P<note>.+)"
)


def versions(*packages):
    """Return 'name version' of Python and the packages, 'missing' where not found."""
    found = [f"python {platform.python_version()}"]
    for package in packages:
        # the header of a table has it
        if package == "skcalib":
            continue
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{package} missing")
    return ", ".join(found)


def write_csv(name, rows, note, keeps_rows=False):
    """Write rows (dicts with the same keys) below one header line.

    The header contains the version of skcalib, the date, the command, the machine and
    the note. If some rows are kept from the earlier file, the version and the date
    begin with those of the earlier file.
    """
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / name
    version, date = skcalib.__version__, datetime.date.today().isoformat()
    if keeps_rows and path.exists():
        before = header_of(path)
        version = _from_to(before["version"], version)
        date = _from_to(before["date"], date)
    # a folder of this machine says nothing to others
    options = [Path(a).name if Path(a).is_absolute() else a for a in sys.argv[1:]]
    command = f"{RUN} {shlex.join([Path(sys.argv[0]).stem, *options])}"
    machine = f"{platform.machine().replace('_', '-')} {os.cpu_count()} cores"
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(f"# skcalib {version}, {date}, {command}, {machine}; {note}\n")
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"written: {path.name}")


def _from_to(before, now):
    first = before.partition(" to ")[0]
    return now if first == now else f"{first} to {now}"


def header_of(path):
    """Return the header of a CSV: its version, date, command, machine and note."""
    with path.open(encoding="utf-8") as file:
        line = file.readline().rstrip("\n")
    found = HEADER.fullmatch(line)
    if found is None:
        raise ValueError(f"{path.name} begins with {line!r}, which is not a header")
    return found.groupdict()


def read_csv(name):
    """Return the note and the rows of a CSV written here, none if it is missing."""
    path = RESULTS / name
    if not path.exists():
        return "", []
    with path.open(newline="", encoding="utf-8") as file:
        file.readline()
        return header_of(path)["note"], list(csv.DictReader(file))


def low_text(low):
    """Return the lower end of an interval as text, "(0" if it is open at 0."""
    return "(0" if 0 < low < 1e-15 else f"{low:.4f}"


def p_text(p_value):
    """Return a p-value as text; what underflows is not printed as 0."""
    return f"{p_value:.2g}" if p_value >= 1e-300 else "< 1e-300"


def print_table(rows):
    """Print rows (dicts with the same keys) in columns."""
    table = [list(rows[0])] + [[str(cell) for cell in row.values()] for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = zip(row, widths, strict=True)
        print("  ".join(cell.rjust(width) for cell, width in cells), flush=True)


def best_times(functions, n_rounds, clock=time.perf_counter):
    """Return the shortest time of each function over interleaved rounds."""
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(n_rounds):
        for name, function in functions.items():
            start = clock()
            function()
            best[name] = min(best[name], clock() - start)
    return best
