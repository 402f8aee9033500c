"""Accuracies, repeated samples, judged answers and thresholds, with intervals.

The functions take arrays of scores and need no file of a harness.
"""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ._accuracy import accuracy_interval
    from ._judged import judged_accuracy, judged_difference
    from ._precision import threshold_for_precision
    from ._repeats import pass_at_k
    from ._sampled import sampled_confidence
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = [
    "accuracy_interval",
    "judged_accuracy",
    "judged_difference",
    "pass_at_k",
    "sampled_confidence",
    "threshold_for_precision",
]
