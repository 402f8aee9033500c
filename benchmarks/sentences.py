"""How often are the sentences of `report` and `compare` wrong?

    python benchmarks/sentences.py [report compare advice] [--replicates 400] [--jobs 2]

Worlds with known truth are drawn, written to files and given to the commands. Their
decisions (`--json`) are compared with the truth. A row of sentences.csv is a claim in a
world where it is false (it should be made in at most 5% of the files) or true (it is
found as often as its test allows).

report: probabilities are drawn from a beta distribution or stated on a grid. In worlds
with five parts, all parts have one curve or different ones.

compare: two systems answer the same questions; a judge accepts some wrong answers of
the second one; gains are the same in four parts, or not.

advice: what the report advises is done with new answers. One map, or a map for each
part, is a logistic regression on the log odds; sentences_advice.csv has the root mean
square distance to the true probabilities before and after. The threshold is used for
200,000 new answers. The number of questions for half of the detectable gain is drawn.
"""

import contextlib
import csv
import io
import json
import os
import tempfile
from pathlib import Path

import _study
import numpy as np
from _common import print_table, versions, write_csv
from joblib import Parallel, delayed
from scipy import special  # workers do not find its functions alone
from sklearn.linear_model import LogisticRegression

from skcalib.cli import main
from skcalib.recalibration._decisions import CLIPPED

PARTS = 5
MISCALIBRATED = {"overconfident", "underconfident", "not of one kind"}
CLAIMS = ("miscalibrated", "overconfident", "underconfident", "recalibrate by part")
CLAIMS += ("a row is too high or too low", "threshold below the accuracy")


def log_odds(q):
    return special.logit(np.clip(q, CLIPPED, 1 - CLIPPED))


def tempered(q, centre, slope):
    return special.expit(
        special.logit(centre) + slope * (log_odds(q) - special.logit(centre))
    )


def stated(rng, n, step=0.05):
    """Return probabilities that are rounded to a step, and the true ones."""
    true = rng.beta(5, 1.2, n)
    return np.round(true / step) * step, true


def skewed(rng, n):
    return np.clip(rng.beta(4, 1, n), 0.01, 0.99)


def world(name, rng, n):
    """Return probabilities, true probabilities, parts and groups of a world."""
    part, group = rng.integers(0, PARTS, n), None
    if name.startswith("rounded"):
        q, true = stated(rng, n, float(name.split()[-1]))
        return q, true, part, group
    q = skewed(rng, n)
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
        "parts: slopes": lambda: tempered(
            q, 0.8, np.array([0.2, 0.6, 1, 1.4, 1.8])[part]
        ),
    }.get(name, lambda: q)()
    if name == "groups":
        # Answers of a group share a deviation from the calibrated probability.
        group = np.arange(n) // 10
        share = rng.beta(2, 2, group[-1] + 1)[group]
        true = np.where(rng.random(n) < 0.3, share < q, q).astype(float)
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


@contextlib.contextmanager
def in_folder():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def write(path, **columns):
    with path.open("w", newline="") as file:
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
        columns["part"] = part
        options += ["--by", "part"]
    if group is not None:
        columns["group"] = group
        options += ["--groups", "group"]
    if name.startswith("missing"):
        missing = rng.random(n) < 0.3
        if "not" in name:  # answers without a confidence are mostly wrong
            y = np.where(missing, rng.random(n) < 0.2, y).astype(int)
            columns["correct"] = y
        columns["confidence"] = np.where(missing, "", q.round(6).astype(str))
    with in_folder() as folder:
        found = run("report", write(folder / "a.csv", **columns), *options)
    return found, (q, true, part, y)


def claims_of(name, n, seed):
    """Return the claims that are made about a file of a world, by name."""
    found, _ = report(name, n, seed)
    decisions = found["decisions"]
    kind, threshold = decisions["calibration"], decisions["threshold"]
    made = dict.fromkeys(CLAIMS, False)
    made["miscalibrated"] = kind in MISCALIBRATED
    made["overconfident"] = kind == "overconfident"
    made["underconfident"] = kind == "underconfident"
    made["recalibrate by part"] = decisions["recalibrate"] == "by part"
    rows = [row["verdict"] for row in found["regions"]]
    made["a row is too high or too low"] = bool({"too high", "too low"} & set(rows))
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
    return claim in true


def rows_of_reports(n_replicates, n_jobs):
    for name in REPORTED:
        for n in (200, 1000):
            made = Parallel(n_jobs)(
                delayed(claims_of)(name, n, k) for k in range(n_replicates)
            )
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
    gain = {"better by 0.1": 0.1, "biased judge, better by 0.2": 0.2}.get(name, 0.0)
    if name == "parts: one gain":
        gain = 0.15
    if name == "parts: other gains":
        gain = np.array([-0.15, 0.0, 0.15, 0.3])[part]
    a = (rng.random(n) < ease).astype(int)
    b = (rng.random(n) < np.clip(ease + gain, 0, 1)).astype(int)
    question, options = np.arange(n).astype(str), []
    with in_folder() as folder:
        judged = b
        if name.startswith("biased"):
            judged = np.maximum(b, rng.random(n) < 0.6).astype(int)
            chosen = rng.choice(n, n // 3, replace=False)
            for system, own in (("a", a), ("b", b)):
                path = folder / f"people_{system}.csv"
                write(path, question=question[chosen], score=own[chosen])
                options += ["--labels", path]
        columns = {"question": question, "part": part}
        if name.startswith("parts"):
            options += ["--by", "part"]
        files = [
            write(folder / f"{system}.csv", **columns, correct=own)
            for system, own in (("a", a), ("b", judged))
        ]
        found = run("compare", *files, *options)
    if name.startswith("parts"):
        return found["by"]["homogeneity"][0]["pvalue"] <= 0.05
    return found["decisions"]["better"] is not None


def rows_of_comparisons(n_replicates, n_jobs):
    for name, (claim, truth) in COMPARED.items():
        for n in (120, 600):
            made = Parallel(n_jobs)(
                delayed(compare)(name, n, k) for k in range(n_replicates)
            )
            yield row("compare", name, n, claim, truth, np.mean(made), n_replicates)


def distance(q, true):
    return float(np.sqrt(np.mean((q - true) ** 2)))


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
    after = {
        kind: distance(mapped(new[0], new[2], fit) if fit else new[0], new[1])
        for kind, fit in fits.items()
    }
    advice = found["decisions"]["recalibrate"]
    return [after["no"], after[advice], after["one map"], after["by part"], advice]


def rows_of_advice(n_replicates, n_jobs):
    for name in REPORTED:
        if name.startswith(("missing", "groups", "rounded 0.1", "rounded 0.01")):
            continue
        for n in (600, 3000):
            found = Parallel(n_jobs)(
                delayed(follow)(name, n, k) for k in range(n_replicates // 4)
            )
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
        names = np.arange(n).astype(str)
        for system, chance in (("a", low), ("b", high)):
            own = (rng.random(n) < chance).astype(int)
            yield write(folder / f"{system}.csv", question=names, correct=own)

    with in_folder() as folder:
        more = run("compare", *files(folder, 200, 0.1))["decisions"]["more"]
        n, gain = more["needed_for_half"], more["detectable_gain"] / 2
        found = run("compare", *files(folder, n, gain))
    return found["decisions"]["better"] is not None


def main_():
    parser = _study.parser_of(__doc__)
    parser.add_argument("parts", nargs="*", default=["report", "compare", "advice"])
    parser.add_argument("--replicates", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    note = versions("numpy", "scipy", "scikit-learn")
    given = asked.replicates, asked.jobs
    made = {"report": rows_of_reports, "compare": rows_of_comparisons}
    rows = [
        each for part, of in made.items() if part in asked.parts for each in of(*given)
    ]
    if {"report", "compare"} <= set(asked.parts):
        n = given[0]
        found = Parallel(asked.jobs)(delayed(half_gain)(k) for k in range(n))
        claim = "half of the detectable gain is found"
        rows.append(
            row("compare", "advised number", "", claim, True, np.mean(found), n)
        )
        write_csv("sentences.csv", rows, note)
    if rows:
        print_table(rows)
    if "advice" in asked.parts:
        rows = list(rows_of_advice(*given))
        print_table(rows)
        write_csv("sentences_advice.csv", rows, note)


if __name__ == "__main__":
    main_()
