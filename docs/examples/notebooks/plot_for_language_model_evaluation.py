"""
For evaluators of language models
=================================

Two language models (LLMs) answer the same questions. This walk-through computes the
accuracy of each model with a confidence interval, measures whether the stated
confidence is calibrated, and tests whether the new model is better. It also corrects
the verdicts of an LLM judge. The answers are generated. Files of
lm-evaluation-harness, inspect_ai, HELM and other harnesses are read by the same
functions.
"""

# %%
# The files
# ---------
# Each line of a file contains the question, its subject, whether the answer is right,
# and the confidence that the model stated.

import json
import tempfile
from pathlib import Path

import numpy as np

rng = np.random.default_rng(0)
n = 1200
folder = Path(tempfile.mkdtemp())
ease = rng.beta(3, 1.5, n)
subject = rng.choice(["history", "law", "physics"], n)
for name, power in (("old", 1.0), ("new", 0.6)):
    chance = ease**power
    right = rng.random(n) < chance
    stated = np.clip(0.45 + 0.55 * chance + rng.normal(0, 0.05, n), 0.5, 1).round(2)
    with (folder / f"{name}.jsonl").open("w") as file:
        for k in range(n):
            row = {
                "id": k,
                "subject": str(subject[k]),
                "correct": bool(right[k]),
                "confidence": float(stated[k]),
            }
            file.write(json.dumps(row) + "\n")

# %%
# How many answers are right?
# ---------------------------
# Compute the accuracy with its interval. If several questions are about the same text,
# pass ``groups``.

from skcalib import read_evaluation
from skcalib.rates import accuracy_interval

runs = {name: read_evaluation(folder / f"{name}.jsonl") for name in ("old", "new")}
for name, run in runs.items():
    result = accuracy_interval(run.score)
    print(f"{name}: {result.estimate:.3f} [{result.low:.3f}, {result.high:.3f}]")

# %%
# Is the confidence calibrated?
# -----------------------------
# Both models are overconfident. The error beside a name is debiased and has a 95%
# interval.

from skcalib import ReliabilityDisplay, calibration_error_interval

display = ReliabilityDisplay.from_predictions(
    runs["new"].score, {name: run.proba for name, run in runs.items()}
)

# %%
# An increasing function is fitted to one half of the answers and recalibrates the other
# half.

from sklearn.isotonic import IsotonicRegression

run, half = runs["new"], n // 2
isotonic = IsotonicRegression(out_of_bounds="clip")
isotonic.fit(run.proba[:half], run.score[:half])
for name, proba in (
    ("as stated", run.proba[half:]),
    ("recalibrated", isotonic.predict(run.proba[half:])),
):
    result = calibration_error_interval(run.score[half:], proba)
    print(f"{name}: {result.estimate:.3f} [{result.low:.3f}, {result.high:.3f}]")

# %%
# Is the new model better?
# ------------------------
# The questions are matched by id. The models are compared by a paired test, McNemar's
# exact test.

from skcalib.evaluation import align_evaluations
from skcalib.significance import compare_systems

comparison = compare_systems(align_evaluations(runs))
gain, low, high = comparison.gain[0], comparison.gain_low[0], comparison.gain_high[0]
print(f"gain {gain:+.3f} [{low:+.3f}, {high:+.3f}], p = {comparison.pvalue[0]:.2g}")
print(f"found with 80% power: {comparison.detectable_gain()[0]:.3f}")
print(f"questions for a gain of 0.01: {comparison.questions_needed(0.01)[0]:,.0f}")

# %%
# What if an LLM was the judge?
# -----------------------------
# Suppose that ``correct`` was determined by a judge that accepts 30% of the wrong
# answers. People grade 150 of the answers, which are drawn at random.
# Prediction-powered inference uses these grades to correct the verdicts of the judge.

from skcalib.rates import judged_accuracy

truth = run.score == 1
judge = truth | (rng.random(n) < 0.3)
people = np.full(n, np.nan)
graded = rng.choice(n, 150, replace=False)
people[graded] = truth[graded]
result = judged_accuracy(judge, people)
print(f"truth {truth.mean():.3f}, judge {judge.mean():.3f}")
print(f"corrected {result.estimate:.3f} [{result.low:.3f}, {result.high:.3f}]")

# %%
# On the command line
# -------------------
# The following commands report the same numbers in words, with advice on what to do::
#
#     skcalib report new.jsonl
#     skcalib compare old.jsonl new.jsonl --by subject
