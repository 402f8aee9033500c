"""
The confidence of a language model
==================================

The judge of Humanity's Last Exam writes a file that contains, for each question,
whether the answer of a language model (LLM) is right and which confidence it states.
This example reads such a file and draws the reliability curve. The answers are
generated, and the model is overconfident.
"""

# %%
# Write a file in the format of the harness. Files of other harnesses, such as
# lm-evaluation-harness or inspect_ai, are read by the same function.

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
# Read the file and draw the curve.

from skcalib import ReliabilityDisplay, read_evaluation

evaluation = read_evaluation(path).answered()
display = ReliabilityDisplay.from_predictions(evaluation.score, evaluation.proba)

# %%
# Compute the accuracy and the calibration error with their intervals.

from skcalib import calibration_error_interval
from skcalib.rates import accuracy_interval

print(accuracy_interval(evaluation.score))
calibration_error_interval(evaluation.score, evaluation.proba)

# %%
# Decide what follows: is the model calibrated, which recalibration is needed, and from
# which confidence are at least three quarters of the answers right?

from skcalib.recalibration import calibration_decisions

calibration_decisions(evaluation.score, evaluation.proba, precision=0.75)

# %%
# Recalibrate the second half of the answers by isotonic regression on the first half.

from sklearn.isotonic import IsotonicRegression

first, second = evaluation.take(slice(0, 750)), evaluation.take(slice(750, 1500))
isotonic = IsotonicRegression(out_of_bounds="clip").fit(first.proba, first.score)
display = ReliabilityDisplay.from_predictions(
    second.score,
    {"stated": second.proba, "recalibrated": isotonic.predict(second.proba)},
)
