"""What the benchmarks share: tables, versions, timing."""

import csv
import importlib.metadata
import platform
import shlex
import sys
import time
from pathlib import Path

import _digest

RESULTS = Path(__file__).parent / "results"
MADE_BY, DIGEST = "# benchmarks/", "# digest of the code: "
START = time.time()


def versions(*packages):
    """Return 'name version' of Python and the packages, 'missing' where not found."""
    found = [f"python {platform.python_version()}"]
    for package in packages:
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{package} missing")
    return ", ".join(found)


def write_csv(name, rows, note, keeps_rows=False):
    """Write rows (dicts with the same keys) below three comment lines.

    The lines are the note, the script with its options, and the digest of the code that
    the script depends on. If some rows are kept from the earlier file, the earlier
    digest is kept too, since it is that of the oldest row.
    """
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / name
    script = Path(sys.argv[0])
    digest = header_of(path)[1] if keeps_rows else _digest_of(script.stem)
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(f"# {note}\n")
        # a folder of this machine says nothing to others
        options = [Path(a).name if Path(a).is_absolute() else a for a in sys.argv[1:]]
        file.write(f"{MADE_BY}{shlex.join([script.name, *options])}\n")
        if digest:
            file.write(f"{DIGEST}{digest}\n")
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"written: {path.name}")


def _digest_of(script):
    """Return the digest of the code that ran, None if it was changed meanwhile."""
    code = _digest.code()
    digests = code.digests(script)
    if any(code.path(module).stat().st_mtime > START for module in digests):
        print("the code was changed while it ran: no digest is written")
        return None
    return _digest.total(digests)


def header_of(path):
    """Return the script and the digest of the code that a CSV names, None if absent."""
    script = digest = None
    for line in split_lines(path)[0]:
        if line.startswith(MADE_BY):
            script = line.removeprefix(MADE_BY).partition(".py")[0]
        elif line.startswith(DIGEST):
            digest = line.removeprefix(DIGEST).strip()
    return script, digest


def split_lines(path):
    """Return the comment lines at the top of a CSV, and its other lines."""
    if not path.exists():
        return [], []
    with path.open(newline="", encoding="utf-8") as file:
        lines = file.readlines()
    n = next((i for i, line in enumerate(lines) if line[0] != "#"), len(lines))
    return lines[:n], lines[n:]


def read_csv(name):
    """Return the first comment line and the rows of a CSV written here.

    The line is empty, and there are no rows, if the file is missing.
    """
    comments, lines = split_lines(RESULTS / name)
    note = comments[0].removeprefix("# ").strip() if comments else ""
    return note, list(csv.DictReader(lines))


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
