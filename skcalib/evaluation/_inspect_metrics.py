"""The metric ``skcalib/calibration`` of inspect_ai, which loads it by the entry point.

inspect_ai imports this module at its start, so that the computation, with NumPy and
scikit-learn, is imported only when a metric is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_NAME = "skcalib/calibration"
_NUMBERS = ("error", "low", "high", "pvalue", "auroc", "auroc_low", "auroc_high")

try:
    from inspect_ai.scorer import Metric, SampleScore, metric
except ImportError:  # every module of this package imports without inspect_ai
    pass
else:
    # Epochs are repeated answers, which a reducer would replace by their mean.
    @metric("calibration", scores="unreduced")
    def calibration(confidence: str = "confidence") -> Metric:
        """Compute the calibration error and the AUROC of stated confidences.

        Parameters
        ----------
        confidence : str, default='confidence'
            Key of the confidence, a probability, in the metadata of each score.

        Returns
        -------
        metric : Metric
        """

        # inspect_ai reads this annotation to choose what it passes.
        def compute(scores: list[SampleScore]) -> dict[str, float]:
            return measure(scores, confidence)

        return compute


def measure(scores: Sequence[Any], confidence: str) -> dict[str, float]:
    """Return the numbers of the metric.

    ``n_missing`` counts the answers without a confidence, which are in none of the
    other numbers. Numbers that the answers do not determine are NaN.
    """
    import numpy as np

    from .._errors import ParameterError
    from ..metrics import calibration_error_interval, confidence_ranking
    from ._values import as_confidence, as_scores

    def place(k: int) -> str:
        return f"sample {scores[k].sample_id!r}"

    given = [(each.score.metadata or {}).get(confidence) for each in scores]
    try:
        right = as_scores([each.score.value for each in scores], place, "score")
        stated = [as_confidence(each, place(k)) for k, each in enumerate(given)]
        proba = as_scores(stated, place, "confidence")
    except ParameterError as error:
        raise ParameterError("scores", error.problem, _NAME) from None
    kept = ~(np.isnan(right) | np.isnan(proba))
    is_partial = kept & ~np.isin(right, (0, 1))
    if is_partial.any():
        k = int(is_partial.argmax())
        problem = f"must be right or wrong. Got a score of {right[k]} in {place(k)}."
        raise ParameterError("scores", problem, _NAME)
    # The epochs of a sample are answers to one question, which depend on each other.
    question = np.array([str(each.sample_id) for each in scores])[kept]
    right, proba = right[kept], proba[kept]
    n_questions = np.unique(question).size
    groups = question if n_questions < question.size else None
    found = dict.fromkeys(_NUMBERS, float("nan"))
    if n_questions > 1:
        interval = calibration_error_interval(right, proba, groups=groups)
        found["error"] = interval.estimate
        found.update({name: getattr(interval, name) for name in _NUMBERS[1:4]})
    if n_questions > 1 and np.unique(right).size > 1:
        auroc = confidence_ranking(right, proba, groups=groups).auroc
        found["auroc"] = float(auroc)
        found["auroc_low"], found["auroc_high"] = auroc.low, auroc.high
    return {**found, "n": float(right.size), "n_missing": float(np.sum(~kept))}
