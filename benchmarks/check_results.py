"""List the results that are older than the code, and rerun a quick part of each.

    python benchmarks/check_results.py
    python benchmarks/check_results.py --quick [NAME ...]

The third comment line of a CSV in benchmarks/results is a digest of the code that its
script depends on (benchmarks/_digest.py). Without options, the script lists the files
whose digest differs from that of the code, and the modules that have changed since the
file was committed. It prints nothing if there are none. It needs the standard library
only, and takes a few seconds. Files in the table OLDER are left out; --older lists
those of them whose digest differs.

With --quick, it reruns a part of each listed file into a temporary folder, or a part of
the named files (of a CSV or of all those of a script). Where all numbers are equal
within one unit of their last printed digit, the digest is renewed. Otherwise the script
prints the first differences, and the file must be made again. The exit status is 1 if
a file is listed that is not renewed.

What the quick part is, is written in the table QUICK of each script: a list of runs

    {"args": [...], "set": {...}, "keep": {...}, "skip": [...], "needs": [...],
     "files": {"name.csv": {"keys": [...], ...}}}

`args` are the options ("{data}" is the data home). `set` gives module-level constants
another value, `keep` leaves some items of module-level dicts, lists or tuples, or of
those that a function returns (by key, by name or by position), and the functions in
`skip` return an empty list (figures). `needs` are packages ("torch") and files of the
data home ("data/gum"); without them the run is left out, and nothing is renewed.
`reads` are committed files that the script reads. `seconds` is the time after which the
run is stopped. Of each file, `keys` are the columns that identify a row: every row that
is written must be in the committed file. In the other columns, numbers must be equal
within one unit of the last printed digit, and integers exactly, but for

- `timed`: times, ratios of times and memory, of the same order (a factor of 10): they
  depend on the processor and on other processes;
- `sampled`: shares of fewer replicates than in the file, equal within two standard
  errors; the value is the number of replicates or the column that contains it;
- `within`: numbers of smaller samples, equal within a tolerance;
- `free`: not compared.

`only` limits the comparison to rows with one of the values in a column. Each cell of
a simulation has its own seed, or is the first of its sequence, so that the part has the
numbers of the whole.
"""

import argparse
import ast
import csv
import importlib
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import _common
import _digest
from _common import header_of, split_lines

ROOT = Path(__file__).parent.parent
RESULTS = _common.RESULTS
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
FACTOR = 10.0
SECONDS = 600  # after which a quick run is stopped
SKIPPED = 77  # exit status of a run for which something is missing
SHOWN = 5

# Files that are older than the code and could not be made again, and why.
_PROCESSOR = (
    "A model stops at other digits on other processors, also with the old code."
)
_SPACY = "spaCy's training is not the same on every machine."
_PARSES = "The parses were not kept, and a parser trained again gives others."
_TIME = "The quick part was interrupted. Drawn p-values of sign flips are exact now."
_PRIOR = "Temperatures were fitted without their prior, and differ in the third digit."
_BINS = "Made before probabilities of five rows had bins of their own, and narrow bins."
_SKEWNESS = "Made before sign flips were corrected for skewness and ties."
_MEASURED = "Times and memory were measured before the present intervals and tests."
OLDER = {
    "compare_models_speed.csv": _MEASURED,
    "coref.csv": _PRIOR,
    "coref_offsets.csv": _PRIOR,
    "coref_samples.csv": _PROCESSOR,
    "corrected_counts_glide.csv": "Needs glide-py, and Python 3.12.",
    "coverage.csv": _BINS,
    "decoding.csv": _PRIOR,
    "events_state_union.csv": _PARSES,
    "events_state_union_total.csv": _PARSES,
    "events_state_union_years.csv": _PARSES,
    "interval_ablation.csv": _BINS,
    "interval_ablation_cells.csv": "Has rows of the part _BY_CHANCE, which is gone.",
    "interval_constants.csv": _BINS,
    "interval_constants_cells.csv": _BINS,
    "interval_growth.csv": _BINS,
    "interval_least.csv": _BINS,
    "interval_weights.csv": _BINS,
    "memory.csv": _MEASURED,
    "neural_agreement.csv": "Needs PyTorch, AllenNLP, stanza and flair.",
    "neural_models.csv": _SPACY,
    "neural_pieces.csv": "The taggers of PyTorch were not trained again.",
    "neural_thresholds.csv": _SPACY,
    "paired_test_size.csv": _SKEWNESS,
    "parse_corpora.csv": _SPACY,
    "peers.csv": _MEASURED,
    "predictive_checks.csv": _PRIOR,
    "scale.csv": _MEASURED,
    "scale_stream.csv": _MEASURED,
    "significance_genres.csv": _TIME,
    "significance_names.csv": _TIME,
    "significance_names_systems.csv": _TIME,
    "significance_parsing.csv": _SPACY,
    "significance_parsing_sizes.csv": _SPACY,
    "significance_parsing_systems.csv": _SPACY,
    "significance_prediction.csv": _TIME,
    "significance_sizes.csv": _TIME,
    "significance_systems.csv": _TIME,
    "significance_wmt17_sizes.csv": _SKEWNESS,
    "speed_calibration.csv": _MEASURED,
    "tagging.csv": _PROCESSOR,
    "tagging_rivals.csv": _PRIOR,
    "tagging_sweep.csv": _PROCESSOR,
    "trees.csv": _PRIOR,
    "trees_events.csv": _PRIOR,
}


def quick_runs():
    """Return the quick runs of each script, without importing the script."""
    runs = {}
    for path in sorted(_digest.BENCHMARKS.glob("*.py")):
        for node in ast.parse(path.read_bytes()).body:
            if isinstance(node, ast.Assign) and _digest.assigned(node) == ["QUICK"]:
                runs[path.stem] = ast.literal_eval(node.value)
    return runs


# Digests


def stale(code):
    """Return why each file that is not fresh is listed."""
    reasons, totals, commits = {}, {}, None
    for path in sorted(RESULTS.glob("*.csv")):
        script, digest = header_of(path)
        if script is None or code.path(script) is None:
            reasons[path.name] = "no script of benchmarks/ is named"
            continue
        if script not in totals:
            totals[script] = code.digests(script)
        if digest is None:
            reasons[path.name] = f"no digest of {script}.py"
        elif digest != _digest.total(totals[script]):
            commits = last_commits() if commits is None else commits
            changed = changes(code, totals[script], commits.get(path.name))
            reasons[path.name] = f"changed: {changed}"
    return reasons


def git(*arguments):
    command = ["git", "-C", str(ROOT), *arguments]
    try:
        found = subprocess.run(command, capture_output=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return found.stdout if found.returncode == 0 else b""


def last_commits():
    """Return the last commit of each result."""
    commits, commit = {}, None
    folder = RESULTS.relative_to(ROOT).as_posix()
    log = git("log", "--format=commit %H", "--name-only", "--", folder)
    for line in log.decode().splitlines():
        if line.startswith("commit "):
            commit = line.removeprefix("commit ")
        elif line:
            commits.setdefault(Path(line).name, commit)
    return commits


def changes(code, modules, commit):
    """Return the modules whose file has changed since a commit, as far as git knows."""
    changed = set() if commit is None else changed_since(commit)
    found = [
        name
        for name in sorted(modules)
        if code.path(name).relative_to(ROOT).as_posix() in changed
    ]
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return ", ".join(found[:SHOWN]) + more if found else "the code"


@cache
def changed_since(commit):
    return set(git("diff", "--name-only", commit).decode().splitlines())


# Quick runs


def run_part(script, run, folder):
    """Run a script with the constants of a quick run, writing to a folder."""
    for need in run.get("needs", []):
        if not is_there(need):
            print(f"{need} is missing", file=sys.stderr)
            return SKIPPED
    _common.RESULTS = Path(folder)
    home = os.environ.get("SKCALIB_DATA", "")
    options = [each.replace("{data}", home) for each in run.get("args", [])]
    sys.argv = [f"{script}.py", *options]
    try:
        module = importlib.import_module(script)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "skcalib":
            raise
        print(f"the package {error.name} is missing", file=sys.stderr)
        return SKIPPED
    change(module, run)
    module.main()
    return 0


def change(module, run):
    """Change the constants and functions of a module for a quick run."""
    for name, value in run.get("set", {}).items():
        setattr(*owner_of(module, name), value)
    for name, kept in run.get("keep", {}).items():
        owner, last = owner_of(module, name)
        setattr(owner, last, some_of(getattr(owner, last), kept))
    for name in run.get("skip", []):
        setattr(*owner_of(module, name), lambda *_args, **_options: [])


def owner_of(module, name):
    """Return the module that has a name, which must be there, and the last part."""
    *path, last = name.split(".")
    for part in path:
        module = getattr(module, part)
    getattr(module, last)
    return module, last


def some_of(items, kept):
    if callable(items):
        return lambda *args, **options: some_of(items(*args, **options), kept)
    if isinstance(items, dict):
        return {key: items[key] for key in kept}
    items = list(items)
    if all(isinstance(each, int) for each in kept):
        return [items[i] for i in kept]
    return [each for each in items if each.name in kept]


def is_there(need):
    folder, _, name = need.partition("/")
    if folder != "data":
        return importlib.util.find_spec(need) is not None
    home = os.environ.get("SKCALIB_DATA")
    return home is not None and (Path(home) / name).exists()


def rerun(script, number, run, names):
    """Run a quick part; return what differs in each file, or why it was left out."""
    with tempfile.TemporaryDirectory() as folder:
        for name in run.get("reads", []):
            (Path(folder) / name).write_bytes((RESULTS / name).read_bytes())
        command = [sys.executable, __file__, "--run", script, str(number), folder]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
        environment |= {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=False,
                timeout=run.get("seconds", SECONDS),
                env=environment,
            )
        except subprocess.TimeoutExpired:
            return dict.fromkeys(names, ["not run: it took too long"])
        lines = done.stderr.strip().splitlines() or ["no message"]
        if done.returncode == SKIPPED:
            return dict.fromkeys(names, [f"not run: {lines[-1]}"])
        if done.returncode:
            return dict.fromkeys(names, ["the run failed:", *lines[-SHOWN:]])
        return {
            name: differences(Path(folder) / name, RESULTS / name, run["files"][name])
            for name in names
        }


def differences(new, old, spec):
    """Return how the rows of a quick run differ from those that are committed."""
    if not new.exists():
        return ["the quick run did not write it"]
    rows, known = list(csv.DictReader(split_lines(new)[1])), {}
    for row in csv.DictReader(split_lines(old)[1]):
        known.setdefault(tuple(row[key] for key in spec["keys"]), []).append(row)
    for column, values in spec.get("only", {}).items():
        rows = [row for row in rows if row[column] in values]
    if not rows:
        return ["the quick run has no row to compare"]
    found = []
    for row in rows:
        key = tuple(row[name] for name in spec["keys"])
        if len(known.get(key, [])) != 1:
            found.append(f"{len(known.get(key, []))} rows have {key}")
            continue
        if list(row) != list(known[key][0]):
            return [f"the columns differ: {list(row)}"]
        for name in row:
            if not same(row, known[key][0], name, spec):
                found.append(f"{key}: {name} {known[key][0][name]} is now {row[name]}")
    return found


def same(row, known, column, spec):
    """Return whether a column of two rows is equal as far as it must be."""
    new, old = row[column], known[column]
    if column in spec["keys"] or new == old or column in spec.get("free", ()):
        return True
    numbers = NUMBER.findall(new), NUMBER.findall(old)
    if NUMBER.sub("#", new) != NUMBER.sub("#", old):
        return False
    pairs = list(zip(*numbers, strict=True))
    if column in spec.get("timed", ()):
        return all(is_of_order(a, b) for a, b in pairs)
    if column in spec.get("sampled", {}):
        n = spec["sampled"][column]
        n = int(row[n]) if isinstance(n, str) else n
        return all(is_within_errors(float(a), float(b), n) for a, b in pairs)
    if column in spec.get("within", {}):
        most = spec["within"][column]
        return all(abs(float(a) - float(b)) <= most for a, b in pairs)
    return all(is_equal(a, b) for a, b in pairs)


def is_of_order(a, b):
    x, y = float(a), float(b)
    if x * y > 0 and 1 / FACTOR <= x / y <= FACTOR:
        return True
    return abs(x - y) <= max(unit_of(a), unit_of(b))


def is_within_errors(a, b, n):
    """Return whether two shares agree within two standard errors of n replicates."""
    unit = 100 if max(a, b) > 1 else 1
    share = (b / unit * n + 2) / (n + 4)
    return abs(a - b) <= 2 * unit * (share * (1 - share) / n) ** 0.5


def is_equal(a, b):
    """Return whether numbers are equal within the last digit; integers exactly."""
    x, y = float(a), float(b)
    if not re.search(r"[.e]", a + b):
        return x == y
    slack = max(unit_of(a), unit_of(b), 1e-9 * abs(y))
    return abs(x - y) <= 1.001 * slack


def unit_of(number):
    mantissa, _, exponent = number.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def renew(path, digest):
    """Write the digest of a CSV whose quick part was equal; nothing else changes."""
    comments, lines = split_lines(path)
    comments = [line for line in comments if not line.startswith(_common.DIGEST)]
    comments.append(f"{_common.DIGEST}{digest}\n")
    path.write_bytes("".join(comments + lines).encode())


def check_quick(names):
    """Rerun a part of files, and return those whose digest is not renewed."""
    left = set(names)
    for script, runs in quick_runs().items():
        files = {name: [] for run in runs for name in run["files"] if name in left}
        before = _digest.total(_digest.code().digests(script)) if files else None
        for number, run in enumerate(runs):
            asked = [name for name in run["files"] if name in files]
            if asked:
                for name, lines in rerun(script, number, run, asked).items():
                    files[name] += lines
        if files and _digest.total(_digest.code().digests(script)) != before:
            files = dict.fromkeys(files, ["the code was changed while it ran"])
        for name, lines in files.items():
            report(name, lines, before)
            left -= {name} if not lines else set()
    return left


def report(name, lines, digest):
    """Print what differs in a file; renew its digest if nothing does."""
    if not lines:
        renew(RESULTS / name, digest)
    more = [f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    for line in [*lines[:SHOWN], *more] or ["equal"]:
        print(f"{name}: {line}", flush=True)


def named(asked):
    """Return the CSVs of names, which are names of CSVs or of scripts."""
    found = set()
    for name in asked:
        paths = sorted(RESULTS.glob("*.csv"))
        own = [p.name for p in paths if f"{header_of(p)[0]}.py" == name]
        if not own and not (RESULTS / name).is_file():
            sys.exit(f"{name} is no CSV in benchmarks/results and no script of one")
        found.update(own or [name])
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", nargs="*", metavar="NAME", help="rerun a part")
    parser.add_argument("--older", action="store_true", help="list files in OLDER")
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        script, number, folder = options.run
        return run_part(script, quick_runs()[script][int(number)], folder)
    code = _digest.code()
    reasons = stale(code) if options.quick in (None, []) else {}
    if options.older:
        print("\n".join(sorted(OLDER.keys() & reasons.keys())))
        return 0
    if options.quick is None:
        listed = [name for name in reasons if name not in OLDER]
        for name in listed:
            print(f"{name}: {reasons[name]}")
        return int(bool(listed))
    names = named(options.quick) if options.quick else set(reasons)
    return int(bool(check_quick(names)))


if __name__ == "__main__":
    sys.exit(main())
