"""What the benchmarks share: tables, versions, timing."""

import csv
import importlib.metadata
import platform
import time
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def versions(*packages):
    """Return 'name version' of Python and the packages, 'missing' where not found."""
    found = [f"python {platform.python_version()}"]
    for package in packages:
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{package} missing")
    return ", ".join(found)


def write_csv(name, rows, note):
    """Write rows (dicts with the same keys) below a comment line."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / name
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(f"# {note}\n")
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"written: {path.name}")


def read_csv(name):
    """Return comment line and rows of a CSV written here, none where it is missing."""
    path = RESULTS / name
    if not path.exists():
        return "", []
    with path.open(newline="", encoding="utf-8") as file:
        note = file.readline().removeprefix("# ").strip()
        return note, list(csv.DictReader(file))


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
