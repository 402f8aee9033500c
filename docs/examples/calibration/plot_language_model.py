"""
The confidence of a language model
==================================

A judge of Humanity's Last Exam writes, for each question, whether the answer of a
language model (LLM) is right and what confidence the answer states. Here such a file is
read and drawn. The answers are generated: the model states more than it knows.
"""

# %%
# The file, in the form in which the harness writes it. The files of other harnesses,
# such as lm-evaluation-harness or inspect_ai, are read by the same function.

import json
import tempfile
from pathlib import Path

import numpy as np

rng = np.random.default_rng(0)
judged = {}
for number in range(1500):
    percent = int(rng.choice([50, 60, 70, 80, 90, 95, 100]))
    chance = 0.5 + 0.7 * (percent / 100 - 0.5)
    judged[f"question {number}"] = {
        "response": f"Confidence: {percent}%",
        "judge_response": {
            "correct": "yes" if rng.random() < chance else "no",
            "confidence": percent,
        },
    }
path = Path(tempfile.mkdtemp()) / "judged_model.json"
path.write_text(json.dumps(judged))

# %%
# Three lines from the file to the figure.

from skcalib import ReliabilityDisplay, read_evaluation

evaluation = read_evaluation(path).answered()
display = ReliabilityDisplay.from_predictions(evaluation.score, evaluation.proba)

# %%
# How many answers are right, and how far the stated confidence is from the truth.

from skcalib import calibration_error_interval
from skcalib.evaluation import accuracy_interval

print(accuracy_interval(evaluation.score))
calibration_error_interval(evaluation.score, evaluation.proba)

# %%
# A monotone map, fitted to the first half of the answers, recalibrates the second.

from sklearn.isotonic import IsotonicRegression

first, second = evaluation.take(slice(0, 750)), evaluation.take(slice(750, 1500))
isotonic = IsotonicRegression(out_of_bounds="clip").fit(first.proba, first.score)
display = ReliabilityDisplay.from_predictions(
    second.score,
    {"stated": second.proba, "recalibrated": isotonic.predict(second.proba)},
)
