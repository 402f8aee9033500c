"""Interpretation of the numbers of a report in words, and advice."""

from __future__ import annotations

from typing import Any

DIRECTION = {
    "too high": "overconfident: probabilities are too high on the whole",
    "too low": "underconfident: probabilities are too low on the whole",
    "fits": "neither too high nor too low on the whole",
}

# Number of answers needed for isotonic regression, as advised by scikit-learn.
_ENOUGH_FOR_ISOTONIC = 1000


def verdict(found: dict[str, Any], level: float) -> str:
    """Return a summary of the calibration of the probabilities."""
    error, overall = found["calibration_error"], found["overall"]
    if error is None:
        return "The answers have no probabilities, so calibration cannot be measured."
    said = f"{overall['mean_probability']:.1%}"
    came = f"{overall['frequency']:.1%}"
    if overall["verdict"] != "fits":
        more = "more" if overall["verdict"] == "too high" else "less"
        return (
            f"The model is {more} confident than it is right: it states {said} on "
            f"average, and {came} came true."
        )
    if error["p_value"] < 1 - level:
        return (
            f"The probabilities are right on average ({said} stated, {came} came true) "
            "but not one by one: some are too high and others too low."
        )
    return (
        f"No miscalibration is shown: {said} stated on average, {came} came true. An "
        f"error of up to {error['high']:.3f} is compatible with the data."
    )


def next_steps(found: dict[str, Any], level: float) -> list[str]:
    """Return the advice, with one or two sentences per item."""
    steps = []
    error = found["calibration_error"]
    if error is not None and (
        error["p_value"] < 1 - level or found["overall"]["verdict"] != "fits"
    ):
        steps.append(_how_to_recalibrate(found["n"]))
    steps.append(_how_many_more(found))
    steps.append(_how_to_quote(found, level))
    return steps


def _how_to_recalibrate(n: int) -> str:
    if n >= _ENOUGH_FOR_ISOTONIC:
        how = (
            "fit sklearn.isotonic.IsotonicRegression(out_of_bounds='clip') to stated "
            "probabilities and outcomes"
        )
    else:
        how = (
            "fit one temperature (a logistic regression on the log-odds of the stated "
            "probabilities); isotonic regression needs about a thousand answers"
        )
    return (
        f"Recalibrate: {how}, and apply it to new answers. Measure it on answers that "
        "it was not fitted to. For a classifier, "
        "sklearn.calibration.CalibratedClassifierCV does both."
    )


def _how_many_more(found: dict[str, Any]) -> str:
    n, width = found["n"], found["accuracy"]["high"] - found["accuracy"]["low"]
    what, count = "questions", n
    if found["n_groups"] is not None and found["n_groups"] < n:
        what, count = "groups", found["n_groups"]
    more = "" if n == found["n_samples"] else " More samples of the same do little."
    return (
        f"For half the width of the intervals, collect about {3 * count:,} more "
        f"{what}: {4 * count:,} in all.{more} The interval of the accuracy is now "
        f"{width:.3f} wide."
    )


def _how_to_quote(found: dict[str, Any], level: float) -> str:
    percent = f"{100 * level:g}%"
    accuracy, error = found["accuracy"], found["calibration_error"]
    quote = (
        f"accuracy {accuracy['estimate']:.3f} ({percent} interval "
        f"{accuracy['low']:.3f} to {accuracy['high']:.3f}, {found['n']:,} questions)"
    )
    if error is None:
        return f"Quote: {quote}."
    return (
        f"Quote: {quote}; calibration error {error['estimate']:.3f} ({percent} "
        f"interval {error['low']:.3f} to {error['high']:.3f}, debiased root mean "
        "square). An ECE depends on its bins and is biased upwards: give it only "
        "beside these."
    )
