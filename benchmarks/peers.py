"""This package beside its peers, every part on the same work in one run.

    SKCALIB_DATA=... python benchmarks/peers.py [part ...]

Parts: calibration, taggers, coreference, posteriors, evaluation, significance. Without
a part, all are measured; the CSV keeps the rows of parts that are not measured.

For each piece of work, the columns are, at some sizes n: the shortest time of
interleaved rounds in one process and one thread; the ratio to this package's time
(above 1: the peer is slower); the growth, the power of n that leads from the first time
to the last; the largest difference of the results, where both can be compared. A peer
that is missing, fails, or would take too long has a row that says so.

Writes peers.csv, and the figure and the tables of the guide.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import contextlib
import math
import time
import warnings

from _common import RESULTS, best_times, print_table, read_csv, versions, write_csv
from _peers import (
    CALIBRATION,
    COREFERENCE,
    EVALUATION,
    POSTERIORS,
    SIGNIFICANCE,
    TAGGERS,
)

LIMIT = 20.0  # seconds of one call
BUDGET = 6.0  # seconds of rounds of one piece of work at one size
MOST_ROUNDS = 9
PARTS = {
    "calibration": CALIBRATION,
    "taggers": TAGGERS,
    "coreference": COREFERENCE,
    "posteriors": POSTERIORS,
    "evaluation": EVALUATION,
    "significance": SIGNIFICANCE,
}


class LeftOutError(Exception):
    """A call would take longer than the limit."""


class Contest:
    """The ways to do one piece of work, timed at one size after another."""

    def __init__(self, part, work):
        self.part, self.work = part, work
        self.ways = {"skcalib": work.ours} | work.peers
        self.times = {name: {} for name in self.ways}

    def run(self, n):
        """Return a row for each way at size n."""
        functions, first, results, status = {}, {}, {}, {}
        for name, way in self.ways.items():
            try:
                function = way.make(self.work.draw(n))
                self._check_limit(name, n)
                start = time.perf_counter()
                results[name] = function()
                first[name] = time.perf_counter() - start
                functions[name] = function
            except ImportError as error:
                status[name] = f"not installed: {error.name or error}"
            except LeftOutError as error:
                status[name] = str(error)
            except Exception as error:  # reported, whatever it is
                status[name] = f"{type(error).__name__}: {error}".split("\n")[0][:100]
        n_rounds = int(BUDGET / max(sum(first.values()), 1e-9))
        n_rounds = min(max(n_rounds, 1), MOST_ROUNDS)
        for name, seconds in best_times(functions, n_rounds).items():
            self.times[name][n] = min(seconds, first[name])
        return [self._row(name, n, results, status) for name in self.ways]

    def _check_limit(self, name, n):
        done = self.times[name]
        if done:
            size = max(done)
            expected = done[size] * n / size
            if expected > LIMIT:
                raise LeftOutError(f"left out: it would take about {expected:.0f} s")

    def _row(self, name, n, results, status):
        way, seconds = self.ways[name], self.times[name].get(n)
        ours = self.times["skcalib"].get(n)
        ratio = seconds / ours if seconds and ours else None
        difference = None
        both = results.get("skcalib"), results.get(name)
        if name != "skcalib" and all(result is not None for result in both):
            difference = self.work.distance(*both)
        return {
            "part": self.part,
            "work": self.work.name,
            "unit": self.work.unit,
            "n": n,
            "by": name,
            "package": way.package,
            "version": versions(way.package).split()[-1],
            "milliseconds": "" if seconds is None else f"{1e3 * seconds:.4g}",
            "ratio": "" if ratio is None else f"{ratio:.3g}",
            "growth": self._growth(name),
            "difference": "" if difference is None else f"{difference:.1g}",
            "differs": way.differs,
            "status": status.get(name, "done"),
        }

    def _growth(self, name):
        times = self.times[name]
        if len(times) < 2:
            return ""
        low, high = min(times), max(times)
        return f"{math.log(times[high] / times[low]) / math.log(high / low):.2f}"


def measure(parts):
    rows = []
    works = [(part, work) for part in parts for work in PARTS[part]]
    for part, work in works:
        contest = Contest(part, work)
        found = []
        for n in work.sizes:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found += contest.run(n)
        shown = ("n", "by", "milliseconds", "ratio", "growth", "difference", "status")
        print(f"\n{part}: {work.name}, n {work.unit}")
        print_table([{key: row[key] for key in shown} for row in found])
        rows += found
    return rows


# The page


def last_rows(rows):
    """Return for each work and peer ours and theirs at the largest size of both.

    Of a peer that was timed nowhere the last row says why.
    """
    found = {}
    for row in rows:
        key = row["work"], row["by"]
        if row["ratio"] or key not in found or not found[key]["ratio"]:
            found[key] = row
    ours = {(r["work"], r["n"]): r for r in rows if r["by"] == "skcalib"}
    peers = [row for row in found.values() if row["by"] != "skcalib"]
    return [(ours[row["work"], row["n"]], row) for row in peers]


def three_digits(cell):
    """Write a number without an exponent; the CSV may have one."""
    if not cell:
        return ""
    value = float(cell)
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def list_table(header, rows, widths):
    lines = [".. list-table:: :measured:`peers.csv`", "    :header-rows: 1"]
    lines += ["    :widths: " + " ".join(map(str, widths)), ""]
    for cells in [header, *rows]:
        for k, cell in enumerate(cells):
            lines.append(f"    {'*' if k == 0 else ' '} - {cell}".rstrip())
    return [*lines, ""]


def page(note, rows):
    """Return the tables of the guide's page, as reStructuredText."""
    lines = [".. Written by benchmarks/run.py peers from peers.csv.", ""]
    for part in dict.fromkeys(row["part"] for row in rows):
        of_part = [row for row in rows if row["part"] == part]
        versions_of = {
            row["package"]: row["version"] for row in of_part if row["package"]
        }
        body = []
        for ours, theirs in last_rows(of_part):
            grow = [row["growth"] for row in (ours, theirs)]
            body.append(
                [
                    ours["work"],
                    f"{int(theirs['n']):,} {theirs['unit']}",
                    three_digits(ours["milliseconds"]),
                    theirs["by"],
                    three_digits(theirs["milliseconds"]),
                    f"**{three_digits(theirs['ratio'])}**" if theirs["ratio"] else "",
                    ", ".join(grow) if all(grow) else "",
                    theirs["difference"],
                    theirs["differs"] if theirs["ratio"] else theirs["status"],
                ]
            )
        lines += [part.capitalize(), "-" * len(part), ""]
        header = ["work", "n", "ms", "peer", "its ms", "ratio", "growth"]
        header += ["difference", "what differs"]
        lines += list_table(header, body, (16, 10, 7, 13, 8, 7, 9, 9, 21))
        lines += [
            ", ".join(f"{k} {v}" for k, v in sorted(versions_of.items())) + ".",
            "",
        ]
    failures = [row for row in rows if row["status"] != "done"]
    lines += ["Not measured", "------------", ""]
    body = [
        [row["work"], f"{int(row['n']):,}", row["by"], f"``{row['status']}``"]
        for row in failures
    ]
    if body:
        lines += list_table(["work", "n", "by", "why"], body, (30, 12, 18, 40))
    else:
        lines += ["Nothing: all were there and none failed.", ""]
    return "\n".join([*lines, f"Times: {note}.", ""])


def draw(rows, note):
    """Draw the ratios, a row for each peer below the name of the work."""
    from matplotlib.figure import Figure

    pairs = [(ours, theirs) for ours, theirs in last_rows(rows) if theirs["ratio"]]
    works = list(dict.fromkeys(theirs["work"] for _, theirs in pairs))
    n_lines = len(pairs) + len(works)
    figure = Figure(figsize=(8, 0.8 + 0.21 * n_lines), layout="constrained")
    axes = figure.subplots()
    colors = dict(zip(PARTS, (f"C{k}" for k in range(len(PARTS))), strict=True))
    y, ticks, labels = 0, [], []
    for work in works:
        of_work = [theirs for _, theirs in pairs if theirs["work"] == work]
        part = of_work[0]["part"]
        ticks.append(y)
        labels.append(work)
        axes.axhspan(y - 0.5, y + 0.5, color="0.93", lw=0)
        for theirs in of_work:
            y += 1
            each = [r for r in rows if (r["work"], r["by"]) == (work, theirs["by"])]
            ratios = [float(r["ratio"]) for r in each if r["ratio"]]
            size = [4 + 2 * k for k in range(len(ratios))]
            axes.plot(ratios, [y] * len(ratios), color=colors[part], lw=1)
            axes.scatter(ratios, [y] * len(ratios), [s**2 for s in size], colors[part])
            ticks.append(y)
            labels.append(f"{theirs['by']}  ")
        y += 1
    axes.axvline(1, color="k", lw=0.8)
    axes.set(xscale="log", ylim=(y - 0.4, -0.6), xlabel="time of the peer / time here")
    axes.set_yticks(ticks, labels, fontsize="small")
    for label in axes.get_yticklabels():
        if label.get_text() in works:
            label.set_fontweight("bold")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", alpha=0.4)
    axes.set_title("The larger the dot, the larger n", fontsize="small")
    figure.savefig(RESULTS / "peers.png", dpi=110, metadata={"Description": note})
    print("written: peers.png")


def write_page(note, rows):
    (RESULTS / "peers.rst").write_text(page(note, rows), encoding="utf-8")
    print("written: peers.rst")
    with contextlib.suppress(ImportError):
        draw(rows, note)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    options = parser.parse_args()
    if not set(options.parts) <= set(PARTS):
        parser.error(f"parts are {', '.join(PARTS)}")
    _, before = read_csv("peers.csv")
    parts = options.parts or PARTS
    rows = measure(parts)
    note = f"best of interleaved rounds, one thread; {versions('numpy', 'scipy')}"
    kept = [row for row in before if row["part"] not in parts]
    rows += kept
    rows.sort(key=lambda row: list(PARTS).index(row["part"]))
    write_csv("peers.csv", rows, note, keeps_rows=bool(kept))
    write_page(*read_csv("peers.csv"))


if __name__ == "__main__":
    main()
