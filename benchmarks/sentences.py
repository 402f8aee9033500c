"""How often are the sentences of `report` and `compare` wrong?

    python benchmarks/sentences.py [--replicates 400] [--jobs 2]

Worlds with known truth are drawn, written to files and given to the commands. Their
decisions (`--json`) are compared with the truth. A row of sentences.csv is a claim in a
world where it is false (it should be made in at most 5% of the files) or true (it is
found as often as its test allows).

sentences_advice.csv has what follows if the advice of the report is done with new
answers: the root mean square distance to the true probabilities before and after one
map, or a map for each part, which are logistic regressions on the log odds.
"""

import contextlib
import csv
import io
import json
import tempfile

import _study
import numpy as np
from _common import print_table, versions, write_csv
from joblib import Parallel, delayed
from scipy import special  # workers do not find its functions alone
from sklearn.linear_model import LogisticRegression

from skcalib.cli import main

PARTS = 5
CLAIMS = ("miscalibrated", "overconfident", "underconfident", "recalibrate by part",
          "a row is too high or too low", "threshold below the accuracy")  # fmt: skip


def log_odds(q):
    return special.logit(np.clip(q, 0.005, 0.995))


def tempered(q, centre, slope):
    middle = special.logit(centre)
    return special.expit(middle + slope * (log_odds(q) - middle))


def world(name, rng, n):
    """Return probabilities, true probabilities, parts and groups of a world."""
    part, group = rng.integers(0, PARTS, n), None
    if name.startswith("rounded"):
        step, true = float(name.split()[-1]), rng.beta(5, 1.2, n)
        return np.round(true / step) * step, true, part, group
    q = np.clip(rng.beta(4, 1, n), 0.01, 0.99)
    if name == "U-shaped":
        q = np.clip(rng.beta(0.5, 0.5, n), 0.001, 0.999)
    if name in ("stated levels", "parts: one shift"):
        q = rng.choice(np.linspace(0.55, 0.95, 9), n)
    true = {
        "shifted": lambda: np.clip(q - 0.08, 0, 1),
        "too low": lambda: np.clip(q + 0.06, 0, 1),
        "tempered around 0.8": lambda: tempered(q, 0.8, 0.5),
        "parts: one shift": lambda: q - 0.08,
        "parts: one map": lambda: tempered(q, 0.6, 0.6),
        "parts: shifts": lambda: special.expit(log_odds(q) + 0.5 * (part - 2)),
        "parts: slopes": lambda: tempered(q, 0.8, 0.2 + 0.4 * part),
    }.get(name, lambda: q)()
    if name == "groups":
        # Three of ten answers of a group are right together, each with its q.
        group = np.arange(n) // 10
        together = rng.random(group[-1] + 1)[group] < q
        true = np.where(rng.random(n) < 0.3, together, q).astype(float)
    return q, true, part, group


REPORTED = {
    "calibrated": (), "U-shaped": (), "stated levels": (),
    "rounded 0.1": (), "rounded 0.05": (), "rounded 0.01": (),
    "missing at random": (), "missing not at random": (), "groups": (),
    "shifted": ("overconfident",), "too low": ("underconfident",),
    "tempered around 0.8": ("miscalibrated",),
    "parts: one shift": ("overconfident",), "parts: one map": ("overconfident",),
    "parts: shifts": ("by part",), "parts: slopes": ("by part",),
}  # fmt: skip


def run(*arguments):
    """Return the JSON that a command prints."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(io.StringIO()):
        main([*map(str, arguments), "--json"])
    return json.loads(text.getvalue())


def write(path, **columns):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        cells = (column.tolist() for column in columns.values())
        writer.writerows(zip(*cells, strict=True))
    return path


def report(name, n, seed):
    """Return what the report says about a file of a world."""
    rng = np.random.default_rng([seed, n, sum(map(ord, name))])
    q, true, part, group = world(name, rng, n)
    y = (rng.random(n) < true).astype(int)
    columns = {"question": np.arange(n).astype(str), "correct": y, "confidence": q}
    options = ["--skip-missing"]
    if name.startswith("parts"):
        columns, options = columns | {"part": part}, [*options, "--by", "part"]
    if group is not None:
        columns, options = columns | {"group": group}, [*options, "--groups", "group"]
    if name.startswith("missing"):
        missing = rng.random(n) < 0.3
        if "not" in name:  # answers without a confidence are mostly wrong
            columns["correct"] = np.where(missing, rng.random(n) < 0.2, y).astype(int)
        columns["confidence"] = np.where(missing, "", q.round(6).astype(str))
    with tempfile.TemporaryDirectory() as folder:
        found = run("report", write(f"{folder}/a.csv", **columns), *options)
    return found, (q, true, part, y)


def claims_of(name, n, seed):
    """Return the claims that are made about a file of a world, by name."""
    found, _ = report(name, n, seed)
    decisions = found["decisions"]
    kind, threshold = decisions["calibration"], decisions["threshold"]
    rows = {row["verdict"] for row in found["regions"]}
    made = {
        "miscalibrated": kind not in ("calibrated", "too few"),
        "overconfident": kind == "overconfident",
        "underconfident": kind == "underconfident",
        "recalibrate by part": decisions["recalibrate"] == "by part",
        "a row is too high or too low": bool({"too high", "too low"} & rows),
        "threshold below the accuracy": False,
    }
    if threshold is not None:
        q, true, *_ = world(name, np.random.default_rng(0), 200_000)
        reached = true[q >= threshold - 1e-9].mean()
        made["threshold below the accuracy"] = bool(reached < 0.9)
    return made


def is_true(claim, name):
    """Return whether a claim is true in a world, or None if it says nothing there."""
    true = REPORTED[name]
    if claim == "recalibrate by part":
        return "by part" in true if name.startswith("parts") else None
    if claim == "threshold below the accuracy":
        return False
    if name in ("parts: shifts", "parts: slopes"):
        return None  # all answers together may be calibrated
    if claim in ("miscalibrated", "a row is too high or too low"):
        return bool(true)
    return None if name.startswith("tempered") else claim in true


def rows_of_reports(n_replicates, n_jobs):
    for name in REPORTED:
        for n in (200, 1000):
            calls = (delayed(claims_of)(name, n, k) for k in range(n_replicates))
            made = Parallel(n_jobs)(calls)
            for claim in CLAIMS:
                truth = is_true(claim, name)
                if truth is not None:
                    share = np.mean([each[claim] for each in made])
                    yield row("report", name, n, claim, truth, share, n_replicates)


def row(command, name, n, claim, truth, share, n_replicates):
    error = np.sqrt(max(share * (1 - share), 0.05 * 0.95) / n_replicates)
    return {
        "command": command, "world": name, "n": n, "claim": claim,
        "is": "true" if truth else "false", "made": f"{share:.3f}",
        "standard error": f"{error:.3f}", "files": n_replicates,
    }  # fmt: skip


COMPARED = {
    "equal": ("better", False), "better by 0.1": ("better", True),
    "biased judge, equal": ("better by the labels", False),
    "biased judge, better by 0.2": ("better by the labels", True),
    "parts: one gain": ("gains differ by part", False),
    "parts: other gains": ("gains differ by part", True),
}  # fmt: skip


def compare(name, n, seed):
    """Return whether the claim about a world is made."""
    rng = np.random.default_rng([seed, n, sum(map(ord, name))])
    ease, part = rng.beta(2, 1.2, n), rng.integers(0, 4, n)
    gain = {
        "better by 0.1": 0.1, "biased judge, better by 0.2": 0.2,
        "parts: one gain": 0.15,
        "parts: other gains": np.array([-0.15, 0.0, 0.15, 0.3])[part],
    }.get(name, 0.0)  # fmt: skip
    a = (rng.random(n) < ease).astype(int)
    b = (rng.random(n) < np.clip(ease + gain, 0, 1)).astype(int)
    question, options = np.char.add("q", np.arange(n).astype(str)), []
    with tempfile.TemporaryDirectory() as folder:
        judged = b
        if name.startswith("biased"):
            judged = np.maximum(b, rng.random(n) < 0.6).astype(int)
            chosen = rng.choice(n, n // 3, replace=False)
            for system, own in (("a", a), ("b", b)):
                path = f"{folder}/people_{system}.csv"
                write(path, question=question[chosen], score=own[chosen])
                options += ["--labels", path]
        if name.startswith("parts"):
            options += ["--by", "part"]
        files = [
            write(f"{folder}/{system}.csv", question=question, part=part, correct=own)
            for system, own in (("a", a), ("b", judged))
        ]
        found = run("compare", *files, *options)
    if name.startswith("parts"):
        return found["by"]["homogeneity"][0]["pvalue"] <= 0.05
    return found["decisions"]["better"] is not None


def rows_of_comparisons(n_replicates, n_jobs):
    for name, (claim, truth) in COMPARED.items():
        for n in (120, 600):
            calls = (delayed(compare)(name, n, k) for k in range(n_replicates))
            made = Parallel(n_jobs)(calls)
            yield row("compare", name, n, claim, truth, np.mean(made), n_replicates)


def mapped(q, part, fitted):
    """Return the probabilities of new answers after the fitted maps."""
    found = np.empty(q.size)
    for code, model in fitted.items():
        inside = np.ones(q.size, bool) if code is None else part == code
        found[inside] = model.predict_proba(log_odds(q[inside])[:, None])[:, 1]
    return found


def follow(name, n, seed):
    """Return distances to the truth: raw, as advised, one map, a map for each part."""
    found, (q, true, part, y) = report(name, n, seed)
    new = world(name, np.random.default_rng([1, seed]), 5000)
    fits = {"no": {}}
    for kind, codes in (("one map", [None]), ("by part", range(PARTS))):
        fits[kind] = {}
        for code in codes:
            inside = np.ones(n, bool) if code is None else part == code
            if 0 < y[inside].mean() < 1:
                model = LogisticRegression(C=1e6)
                fits[kind][code] = model.fit(log_odds(q[inside])[:, None], y[inside])
    after = {}
    for kind, fit in fits.items():
        q = mapped(new[0], new[2], fit) if fit else new[0]
        after[kind] = np.sqrt(np.mean((q - new[1]) ** 2))
    advice = found["decisions"]["recalibrate"]
    return [after["no"], after[advice], after["one map"], after["by part"], advice]


def rows_of_advice(n_replicates, n_jobs):
    for name in REPORTED:
        if name.startswith(("missing", "groups", "rounded 0.1", "rounded 0.01")):
            continue
        for n in (600, 3000):
            calls = (delayed(follow)(name, n, k) for k in range(n_replicates // 4))
            found = Parallel(n_jobs)(calls)
            *distances, advice = zip(*found, strict=True)
            mean = [np.sqrt(np.mean(np.square(each))) for each in distances]
            shares = [np.mean(np.array(advice) == kind) for kind in ("no", "one map")]
            names = ("raw", "as advised", "one map", "a map for each part")
            yield {
                "world": name, "n": n,
                **dict(zip(names, (f"{each:.4f}" for each in mean), strict=True)),
                "advice: no": f"{shares[0]:.2f}", "one map ": f"{shares[1]:.2f}",
                "by part": f"{1 - sum(shares):.2f}", "files": len(found),
            }  # fmt: skip


def half_gain(seed):
    """Return whether the number of questions for half of a gain finds this half."""
    rng = np.random.default_rng(seed)

    def files(folder, n, gain):
        ease = rng.beta(2, 1.2, n)
        low, high = np.clip([ease - gain / 2, ease + gain / 2], 0, 1)
        names = np.char.add("q", np.arange(n).astype(str))
        for system, chance in (("a", low), ("b", high)):
            own = (rng.random(n) < chance).astype(int)
            yield write(f"{folder}/{system}.csv", question=names, correct=own)

    with tempfile.TemporaryDirectory() as folder:
        more = run("compare", *files(folder, 200, 0.1))["decisions"]["more"]
        n, gain = more["needed_for_half"], more["detectable_gain"] / 2
        found = run("compare", *files(folder, n, gain))
    return found["decisions"]["better"] is not None


def main_():
    parser = _study.parser_of(__doc__)
    parser.add_argument("--replicates", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    n, note = asked.replicates, versions("numpy", "scipy", "scikit-learn")
    rows = [*rows_of_reports(n, asked.jobs), *rows_of_comparisons(n, asked.jobs)]
    share = np.mean(Parallel(asked.jobs)(delayed(half_gain)(k) for k in range(n)))
    claim = "half of the detectable gain is found"
    rows.append(row("compare", "advised number", "", claim, True, share, n))
    write_csv("sentences.csv", rows, note)
    rows = list(rows_of_advice(n, asked.jobs))
    write_csv("sentences_advice.csv", rows, note)
    print_table(rows)


if __name__ == "__main__":
    main_()
