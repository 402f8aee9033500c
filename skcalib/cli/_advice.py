"""Interpretation of the numbers of a command in words, and advice."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..evaluation import AccuracyInterval
from ..metrics import CalibrationErrorInterval
from ..metrics._interval import LEAST_UNITS

DIRECTION = {
    "too high": "overconfident: probabilities are too high on average",
    "too low": "underconfident: probabilities are too low on average",
    "fits": "neither too high nor too low on average",
}

TOO_FEW = "Too few answers to test calibration"

# Number of answers needed for isotonic regression, as advised by scikit-learn.
_ENOUGH_FOR_ISOTONIC = 1000

# p-values below this show a miscalibration of a model of the demo.
SIGNIFICANT = 0.05


def is_tested(error: dict[str, Any]) -> bool:
    """Return whether there are enough independent answers for a test of calibration."""
    return error["p_value"] is not None


def is_rejected(error: dict[str, Any], level: float) -> bool:
    """Return whether a test rejects perfect calibration."""
    return is_tested(error) and bool(error["p_value"] < 1 - level)


def verdict(found: dict[str, Any], level: float) -> str:
    """Return a summary of the calibration of the probabilities."""
    error, overall = found["calibration_error"], found["overall"]
    if error is None:
        return "The answers have no probabilities, so calibration cannot be measured."
    if not is_tested(error):
        return (
            f"{TOO_FEW}: at least {LEAST_UNITS} independent answers or groups are "
            f"needed. An error of up to {error['high']:.3f} is compatible with the "
            "data."
        )
    said = f"{overall['mean_probability']:.1%}"
    came = f"{overall['frequency']:.1%}"
    if overall["verdict"] != "fits":
        more = "more" if overall["verdict"] == "too high" else "less"
        return (
            f"The model is {more} confident than it is right: it states {said} on "
            f"average, and {came} came true."
        )
    if is_rejected(error, level):
        return (
            f"The probabilities are right on average ({said} stated, {came} came true) "
            "but not individually: some are too high and others too low."
        )
    return (
        f"No miscalibration is shown: {said} stated on average, {came} came true. An "
        f"error of up to {error['high']:.3f} is compatible with the data."
    )


def next_steps(found: dict[str, Any], level: float) -> list[str]:
    """Return the advice, with one or two sentences per item."""
    steps = []
    error = found["calibration_error"]
    if (
        error is not None
        and is_tested(error)
        and (is_rejected(error, level) or found["overall"]["verdict"] != "fits")
    ):
        steps.append(_how_to_recalibrate(found["n"]))
    steps.append(_how_many_more(found))
    steps.append(_how_to_quote(found, level))
    return steps


def _how_to_recalibrate(n: int) -> str:
    if n >= _ENOUGH_FOR_ISOTONIC:
        how = (
            "fit sklearn.isotonic.IsotonicRegression(out_of_bounds='clip') to stated "
            "probabilities and outcomes, and apply it to new answers"
        )
    else:
        how = (
            "fit a logistic regression to the log-odds of the stated probabilities "
            "(without an intercept, this is temperature scaling), and apply it to new "
            "answers. Before the fit, clip 0 and 1, for example to .005 and .995, "
            "because their log-odds are infinite. Isotonic regression needs about a "
            "thousand answers"
        )
    return (
        f"Recalibrate: {how}. Measure the calibration error on answers that were not "
        "used in the fit. For a classifier, use "
        "sklearn.calibration.CalibratedClassifierCV."
    )


def _how_many_more(found: dict[str, Any]) -> str:
    n, width = found["n"], found["accuracy"]["high"] - found["accuracy"]["low"]
    what, count = "questions", n
    if found["n_groups"] is not None and found["n_groups"] < n:
        what, count = "groups", found["n_groups"]
    more = "" if n == found["n_samples"] else " More samples per question help little."
    return (
        f"To halve the width of the intervals, collect about {3 * count:,} more "
        f"{what}: {4 * count:,} in all.{more} The interval of the accuracy is now "
        f"{width:.3f} wide."
    )


def _how_to_quote(found: dict[str, Any], level: float) -> str:
    percent = f"{100 * level:g}%"
    accuracy, error = found["accuracy"], found["calibration_error"]
    if "judged" in found:
        judged = found["judged"]
        return (
            f"Quote: accuracy {judged['estimate']:.3f} ({percent} interval "
            f"{judged['low']:.3f} to {judged['high']:.3f}, {judged['n_items']:,} "
            f"answers graded by the judge, {judged['n_labelled']:,} of them by people)."
        )
    quote = (
        f"accuracy {accuracy['estimate']:.3f} ({percent} interval "
        f"{accuracy['low']:.3f} to {accuracy['high']:.3f}, {found['n']:,} questions)"
    )
    if error is None:
        return f"Quote: {quote}."
    return (
        f"Quote: {quote}; calibration error {error['estimate']:.3f} ({percent} "
        f"interval {error_interval(error)}, debiased root mean square). The ECE "
        "depends on its bins and is biased upwards: do not report it alone."
    )


def error_interval(error: dict[str, Any], digits: int = 3) -> str:
    """Return the interval of a calibration error.

    Its lower end is "above 0" if the interval excludes 0 and the digits do not show it.
    """
    low = f"{error['low']:.{digits}f}"
    if error["low"] > 0 == float(low):
        low = "above 0"
    return f"{low} to {error['high']:.{digits}f}"


class MeasuredModel(NamedTuple):
    """A model of the demo with its numbers; `unit` is the plural of what `n` counts."""

    name: str
    n: int
    unit: str
    accuracy: AccuracyInterval
    error: CalibrationErrorInterval
    is_tagger: bool = False


def demo_steps(models: list[MeasuredModel]) -> list[str]:
    """Return what to do now about several models, one sentence or two each."""
    off = [each for each in models if each.error.p_value < SIGNIFICANT]
    names: dict[str, list[str]] = {}
    for each in off:
        names.setdefault(_how_to_recalibrate_model(each), []).append(each.name)
    steps = [f"Recalibrate {'; '.join(some)}: {how}" for how, some in names.items()]
    steps += [
        f"Leave {each.name} as it is: no miscalibration is shown. An error of up to "
        f"{each.error.high:.3f} is compatible with the data."
        for each in models
        if each not in off
    ]
    widest = max(models, key=lambda each: each.error.high - each.error.low)
    steps.append(
        "To halve the width of an interval, collect four times the data: for "
        f"{widest.name}, whose calibration error has the widest interval, about "
        f"{3 * widest.n:,} more {widest.unit}."
    )
    best = min(models, key=lambda each: each.error.estimate)
    steps.append(
        f"Quote, for example: {best.name}, accuracy {best.accuracy.estimate:.3f} (95% "
        f"interval {best.accuracy.low:.3f} to {best.accuracy.high:.3f}); calibration "
        f"error {best.error.estimate:.3f} (95% interval "
        f"{error_interval(best.error.to_dict())}, debiased root mean square); "
        f"{best.n:,} {best.unit} that the model was not fitted to."
    )
    return steps


def _how_to_recalibrate_model(model: MeasuredModel) -> str:
    if model.is_tagger:
        how = "fit one temperature with skcalib.recalibration.TemperatureScaling"
    elif model.n >= _ENOUGH_FOR_ISOTONIC:
        how = "use sklearn.calibration.CalibratedClassifierCV(model, method='isotonic')"
    else:
        how = (
            "use sklearn.calibration.CalibratedClassifierCV(model, method='sigmoid'); "
            "isotonic regression needs about a thousand rows"
        )
    return f"{how}. Measure the result on {model.unit} that it was not fitted to."
