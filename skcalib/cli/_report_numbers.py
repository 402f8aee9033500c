"""The numbers of ``skcalib report``."""

from __future__ import annotations

import json
import warnings
from argparse import Namespace
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from .._pairs import Pairs, check_pairs, holm
from ..metrics import CalibrationErrorInterval
from ..metrics._bins import FOR_INTERVAL, MOST_STATED, Bins, bins_of, check_binning
from ..metrics._confidence_ranking import ConfidenceRanking, ranking_of_pairs
from ..metrics._curve import curve_of_pairs
from ..metrics._decomposition import ScoreDecomposition, check_rule, decompose_pairs
from ..metrics._frequency_intervals import frequency_interval
from ..metrics._interval import LEAST_UNITS, interval_of_pairs
from ..rates import accuracy_interval
from ..rates._accuracy import AccuracyInterval
from ..rates._precision import PrecisionThreshold, choose_threshold
from ..rates._repeats import SampleVariance, sample_variance
from ..recalibration._decisions import (
    Calibration,
    Recalibrate,
    RecalibrationMap,
    calibration_of,
    frequency_ends,
    map_of,
    one_map_p_value,
    recalibrate_of,
)
from ._blocks import INSIDE, Estimate, ends, estimate_of, percent
from ._labels import JudgedReport, LabelledError, in_unit
from ._runs import Answers, System
from ._shared import CommandError, command_errors, one_group, write_text

N_REGIONS = 10
# Further limits of regions near 0.
_FINE = (0.001, 0.01)
# Verdict if the answers are in fewer than LEAST_UNITS groups.
Verdict = Literal["fits", "too high", "too low", "unclear", "too few", "too few groups"]
TOO_FEW_GROUPS: Verdict = "too few groups"
# Number of probabilities checked first, to avoid sorting all of them.
_FIRST = 10_000


# What to do with a confidence: whether it is miscalibrated, and whether it ranks. None
# means that the interval of the AUROC is on both sides of 0.5.
_ADVICE = {
    (False, True): "use it to select answers, and as a probability whose root mean "
    "square error may be up to {high}",
    (False, False): "select answers by another confidence",
    (False, None): "collect more answers, or select answers by another confidence",
    (True, True): "select answers by it, and recalibrate it",
    (True, False): "use another one, such as the agreement of sampled answers",
    (True, None): "recalibrate it, and collect more answers or use another one",
}


@dataclass
class Region:
    """Probabilities and outcomes in a range of probabilities."""

    from_: float
    to: float
    n: int
    mean_probability: float
    frequency: float
    frequency_low: float
    frequency_high: float
    verdict: Verdict

    @property
    def interval(self) -> Estimate:
        """The frequency with its interval."""
        return Estimate(self.frequency, self.frequency_low, self.frequency_high)


class Alone(NamedTuple):
    """From which probability answers have the accuracy of --alone.

    `threshold` is None if no probability is shown to have it. `negative` is the same
    for labels that are no answers: up to which probability they are negative.
    """

    accuracy: float
    threshold: PrecisionThreshold | None
    negative: PrecisionThreshold | None = None


class Saved(NamedTuple):
    """A threshold of --alone as --save writes it.

    `accuracy` is the accuracy that it was chosen for, and `n` the number of answers
    that it was chosen from. `probability` names the probabilities.
    """

    threshold: float
    accuracy: float
    confidence_level: float
    n: int
    probability: str


class Checked(NamedTuple):
    """What new answers say about a saved threshold.

    `n` answers are selected, and `share` of all. Without any, the estimate is None.
    """

    file: str
    threshold: float
    accuracy: float
    n: int
    share: float
    estimate: float | None
    low: float
    high: float
    verdict: Literal["accepted", "rejected", "too few"]


class Decisions(NamedTuple):
    """What follows from the numbers of a report, as JSON names it."""

    calibration: Calibration | None
    recalibrate: Recalibrate | None
    threshold: float | None
    parts: dict[str, Decisions] | None = None
    map: RecalibrationMap | None = None


class ErrorAndRanking(NamedTuple):
    """The calibration error of answers, and how probabilities rank them, if known."""

    calibration_error: CalibrationErrorInterval
    ranking: ConfidenceRanking | None

    @property
    def pvalue(self) -> float | None:
        """The p-value of perfect calibration; None if there are too few answers."""
        pvalue = self.calibration_error.pvalue
        return None if np.isnan(pvalue) else pvalue

    @property
    def auroc(self) -> Estimate | None:
        """The AUROC with its interval."""
        if self.ranking is None:
            return None
        auroc = self.ranking.auroc
        return Estimate(float(auroc), auroc.low, auroc.high)

    def case(self, alpha: float, digits: str, by: str | None = None) -> str | None:
        """Return whether a confidence is calibrated, whether it ranks, and what to do.

        None is returned if one of both is unknown. With `by`, one recalibration does
        not fit all values of this column.
        """
        auroc = self.auroc
        if auroc is None or self.pvalue is None:
            return None
        is_wrong = self.pvalue < alpha
        ranks: bool | None = auroc.low > 0.5
        how = "ranks answers"
        if auroc.high < 0.5:
            how = "ranks wrong above right answers"
        elif auroc.estimate == 0.5:  # such as a constant
            how = "ranks nothing"
        elif not ranks:
            ranks, how = None, "is not shown to rank answers"
        link = "but" if is_wrong == bool(ranks) else "and"
        state = "miscalibrated" if is_wrong else "not shown to be miscalibrated"
        interval = f"{percent(1 - alpha)} {ends(auroc, digits)}"
        most = f"{self.calibration_error.high:{digits}}"
        advice = _ADVICE[is_wrong, ranks].format(high=most)
        if auroc.high < 0.5:
            advice = f"check whether outcomes or confidences are reversed, or {advice}"
        if by is not None:
            state += " over all answers"
            if ranks:
                advice = f"select answers by it, and recalibrate it by {by}"
        return (
            f"The confidence is {state} {link} {how} (AUROC {auroc.estimate:{digits}}, "
            f"{interval}): {advice}."
        )


class PlugIn(NamedTuple):
    """The calibration error of a curve, which is biased upwards."""

    error: float
    bin_size: int | None


class Decompositions(NamedTuple):
    """Parts of the Brier score, with bins of the curve and by isotonic regression."""

    adaptive: ScoreDecomposition
    isotonic: ScoreDecomposition


@dataclass
class Stated:
    """What is known about answers with probabilities."""

    overall: Region
    calibration: Calibration
    checked: ErrorAndRanking = field(metadata=INSIDE)
    plug_in: PlugIn
    ece: float
    ece_expected: float
    mce: float
    brier: Decompositions
    n_certain: int
    n_certain_wrong: int
    n_zero: int
    n_zero_positive: int

    @property
    def n_rarer(self) -> int:
        """How often the rarer label occurs."""
        n_right = round(self.overall.n * self.overall.frequency)
        return min(n_right, self.overall.n - n_right)

    @property
    def has_certain_wrong(self) -> bool:
        """Whether a label contradicts a probability of 0 or 1 that is not rounded."""
        is_rounded = self.checked.calibration_error.rounded_to is not None
        return self.n_certain_wrong > 0 and not is_rounded

    @property
    def frequency(self) -> Estimate:
        """The accuracy of the answers with probabilities."""
        return self.overall.interval


# Names of the numbers that answers without probabilities do not have.
_OF_STATED = (
    *("overall", "calibration", "calibration_error", "plug_in", "brier", "ranking"),
    *("ece", "ece_expected", "mce", "n_certain", "n_certain_wrong"),
    *("n_zero", "n_zero_positive"),
)


@dataclass
class Measured:
    """The numbers of a system, or of its part with a value of --by."""

    n: int
    n_samples: int
    n_groups: int | None
    accuracy: Estimate
    stated: Stated | None = field(metadata={"otherwise": _OF_STATED})
    regions: list[Region]
    alone: Alone | None
    # The accuracy of the answers without a probability, if others have one.
    without_probability: Estimate | None = None
    # Of parts, adjusted over all of them, or NaN. The second is the old name.
    pvalue_adjusted: float | None = None
    p_value_adjusted: float | None = None
    judged: JudgedReport | None = None
    # Of several samples per question.
    repeats: SampleVariance | None = None

    @property
    def threshold(self) -> PrecisionThreshold | None:
        """The threshold from which answers may stand alone, if one is found."""
        return None if self.alone is None else self.alone.threshold


def measure(
    system: System, options: Namespace
) -> tuple[Measured, dict[str, Measured], float | None]:
    """Return the numbers of a system, and the numbers of its parts by name.

    The last number is the p-value of one recalibration for all parts, if it is known.
    """
    answers = system.answers
    stating = with_probabilities(answers)
    # The parts have the rows of the whole, so that their tables can be compared.
    stated = None if stating is None else stated_values(stating.q)
    whole = _measure_part(system, answers, None, stated, options)
    by = {
        value: _measure_part(system, part, value, stated, options)
        for value, part in answers.parts().items()
    }
    _adjust_pvalues(by)
    # The labels are joined for the whole system; parts may have too few.
    whole.judged = system.judged
    if whole.judged is not None and whole.stated is not None:
        error = whole.stated.checked.calibration_error
        whole.judged.calibration_error = LabelledError(
            whole.stated.overall.n, *estimate_of(error)
        )
    one_map = None
    if stating is not None and stating.by is not None:
        # Groups that are the parts do not vary within them.
        groups = None if stating.is_by_group else stating.clusters
        one_map = one_map_p_value(stating.y, stating.q, stating.by, groups)
    return whole, by, one_map


def decide(
    whole: Measured, by: dict[str, Measured], one_map: float | None, alpha: float
) -> Decisions:
    """Return the decisions that the report prints, for the whole and its parts."""
    # A part has no parts of its own, and so no test of one map.
    parts = {name: decide(part, {}, None, alpha) for name, part in by.items()}
    stated = whole.stated
    if stated is None:
        return Decisions(None, None, None, parts or None)
    found, auroc = stated.calibration, stated.checked.auroc
    is_reversed = auroc is not None and auroc.high < 0.5
    recalibrate = recalibrate_of(found, one_map, alpha, is_reversed=is_reversed)
    at = None if whole.threshold is None else whole.threshold.threshold
    # The smallest part decides how many parameters each map may have.
    fitted = by.values() if recalibrate == "by part" else [whole]
    how = map_of(
        found,
        recalibrate,
        min(part.stated.n_rarer if part.stated else 0 for part in fitted),
        has_certain_wrong=stated.has_certain_wrong,
    )
    return Decisions(found, recalibrate, at, parts or None, how)


def _measure_part(
    system: System,
    part: Answers,
    value: str | None,
    stated: np.ndarray | None,
    options: Namespace,
) -> Measured:
    """Return the numbers of a system, or of its part with a value of --by."""
    where = system.file
    if value is not None:
        where += f", {system.by_name} = {value}"
    if value is not None and part.y.size < 2:
        raise CommandError(
            f"{system.file}: --by needs at least two rows of each value. Got one row "
            f"of {value!r}."
        )
    if part.groups is not None and (part.groups == part.groups[0]).all():
        raise CommandError(one_group(where, part.group_names[part.groups[0]]))
    with command_errors(where):
        found = _measure(part, stated, options, both=not system.is_graded)
    found.accuracy = in_unit(found.accuracy, system.scale)
    found.repeats = in_unit(found.repeats, system.scale)
    return found


def stated_values(q: np.ndarray) -> np.ndarray | None:
    """Return the different probabilities, or None if there are too many.

    None is also returned if most of them occur only once.
    """
    # Most files with many probabilities show this in their first rows.
    if np.unique(q[:_FIRST]).size > MOST_STATED:
        return None
    values = np.unique(q)
    # Probabilities that mostly occur once have no frequency of their own.
    return values if values.size <= min(MOST_STATED, q.size / 2) else None


def with_probabilities(part: Answers) -> Answers | None:
    """Return the answers with a probability; None if none, or if a score is partial."""
    has = np.isfinite(part.q)
    # Probabilities are about right and wrong answers, and a partial score is neither.
    if has.sum() < 2 or not np.isin(part.y[has], (0, 1)).all():
        return None
    return part if has.all() else part[has]


def _region(
    part: Answers, low: float, high: float, level: float, n: int, step: float = 0.0
) -> Region:
    """Compare probabilities and outcomes in one of `n` ranges of probabilities.

    Probabilities are too high or too low if the difference is significant with
    Bonferroni's correction for all ranges. The verdict is "unclear" if the interval
    alone excludes their mean, because one of twenty intervals does so by chance. A
    probability of 0 or 1 may be the rounded value of any number within half of the
    `step`.

    Fewer than five answers are too few. If the answers are in fewer than five groups,
    there is no verdict either: all groups deviate in the same direction by chance with
    a probability of 1/4 for three groups, and of 1/8 for four. A single range contains
    all answers, and its frequency has the interval of the accuracy.
    """
    said, came = float(part.q.mean()), float(part.y.mean())
    codes, has_few = part.dependent, False
    is_single = codes is None or np.bincount(codes).max() == 1

    def interval(level: float) -> tuple[float, float]:
        if n == 1 and codes is None or not is_single:
            return frequency_ends(part.y, part.q, codes, level)
        left, right = frequency_interval(came, part.y.size, level)
        return float(left), float(right)

    left, right = interval(level)
    if codes is not None and not is_single:
        has_few = np.unique(codes).size < LEAST_UNITS
    verdict: Verdict = "fits"
    # the smallest and the largest mean that the probabilities stand for
    least, most = (1 - step / 2, 1.0) if low == 1 else (said, said)
    least, most = (0.0, step / 2) if high == 0 else (least, most)
    if has_few:
        verdict = TOO_FEW_GROUPS
    elif part.y.size < LEAST_UNITS:
        verdict = "too few"
    elif least > right or most < left:
        # The second interval is computed for rows that the first one excludes only.
        first, last = interval(1 - (1 - level) / n)
        verdict = (
            "too high" if least > last else "too low" if most < first else "unclear"
        )
    limits = round(float(low), 10), round(float(high), 10)
    return Region(*limits, part.y.size, said, came, left, right, verdict)


def _regions(
    part: Answers, stated: np.ndarray | None, level: float, step: float
) -> list[Region]:
    """Compare probabilities and outcomes at each stated value, or in each tenth.

    The first or the last tenth is divided if it contains most answers, as for a rare
    class.
    """
    if stated is None:
        edges = np.linspace(0, 1, N_REGIONS + 1)
        if np.mean(part.q <= edges[1]) > 0.5:
            edges = np.insert(edges, 1, _FINE)
        elif np.mean(part.q > edges[-2]) > 0.5:
            edges = np.insert(edges, -1, [1 - each for each in reversed(_FINE)])
        low, high = edges[:-1], edges[1:]
        # A probability at an edge is in the lower tenth; 0 and 1 are in the outer ones.
        region = np.searchsorted(edges[1:-1], part.q, side="left")
    else:
        low = high = stated
        region = np.searchsorted(stated, part.q)
    used = np.unique(region)
    return [
        _region(part[region == k], low[k], high[k], level, used.size, step)
        for k in used
    ]


def _measure(
    part: Answers, stated: np.ndarray | None, options: Namespace, *, both: bool
) -> Measured:
    """Return the accuracy of some answers, and compare them with probabilities.

    both : whether a threshold is chosen for negative labels, too.
    """
    stating, level = with_probabilities(part), options.confidence_level
    accuracy = _accuracy(part, level)
    numbers = accuracy.n, part.y.size, accuracy.n_groups, estimate_of(accuracy)
    measured = Measured(*numbers, None, [], None)
    if stating is not None:
        measured.stated = found = _calibration(stating, level)
        # Probabilities of two decimals stand for all numbers within half of .01.
        step = found.checked.calibration_error.rounded_to or 0.0
        measured.regions = _regions(stating, stated, level, step)
        measured.alone = _alone(stating, part.y.size, options.alone, level, both=both)
        if stating is not part:
            without = _accuracy(part[~np.isfinite(part.q)], level)
            measured.without_probability = estimate_of(without)
    if part.question is not None and 1 < accuracy.n < part.y.size:
        measured.repeats = sample_variance(part.y, question=part.question)
    return measured


def _alone(part: Answers, n: int, wanted: float, level: float, *, both: bool) -> Alone:
    """Return the thresholds, with the shares that they select of `n` answers."""
    codes, y, q = part.clusters, part.y.astype(bool), part.q
    found: list[PrecisionThreshold | None]
    found = [choose_threshold(y, q, codes, wanted, level), None]
    # The complements: up to which probability a label may be called negative.
    if both and (side := choose_threshold(~y, 1 - q, codes, wanted, level)) is not None:
        found[1] = replace(side, threshold=1 - side.threshold)
    # Answers without a probability are never selected.
    return Alone(
        wanted,
        *(each and replace(each, share_selected=each.n_selected / n) for each in found),
    )


# Entry of a file of --save that says what the file is.
_KIND = "threshold of skcalib report"


def save_threshold(path: Path, system: System, alone: Alone | None) -> None:
    """Write the threshold of --alone to a file for --check."""
    if alone is None or alone.threshold is None:
        raise CommandError(
            f"{system.file}: --save needs a threshold. No probability is shown from "
            "which answers have the accuracy of --alone. Nothing is saved."
        )
    found = alone.threshold
    numbers = found.threshold, alone.accuracy, found.confidence_level, found.n
    saved = Saved(*numbers, system.probability)
    write_text(path, json.dumps({"kind": _KIND, **saved._asdict()}, indent=2) + "\n")


def _read_threshold(path: Path) -> Saved:
    """Return the threshold of a file of --save."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("kind") != _KIND:
        raise CommandError(
            f"{path}: --check needs a file that skcalib report --save wrote. It is "
            f"{'no JSON object' if not isinstance(found, dict) else 'another one'}."
        )
    for name in ("threshold", "accuracy"):
        value = found.get(name)
        if not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise CommandError(
                f"{path}: --check needs a number in [0, 1] as {name!r}. Got "
                f"{value!r:.80}."
            )
    return Saved(*(found.get(name) for name in Saved._fields))  # type: ignore[arg-type]


def check_threshold(system: System, options: Namespace) -> Checked:
    """Return what the answers of a system say about the threshold of --check."""
    path = options.check
    saved, part = _read_threshold(path), with_probabilities(system.answers)
    if part is None:
        raise CommandError(
            f"{system.file}: --check needs answers with probabilities and scores of 0 "
            "and 1."
        )
    if saved.probability != system.probability:
        raise CommandError(
            f"{system.file}: --check needs the probability for which the threshold of "
            f"{path} was chosen, {saved.probability!r}. Got {system.probability!r}. If "
            "this is its new name, change it in the file."
        )
    # As for the choice of the threshold, all answers have the same weight.
    chosen = replace(part, question=None, groups=part.dependent)
    chosen = chosen[part.q >= saved.threshold]
    n, low, high, estimate = chosen.y.size, 0.0, 1.0, None
    if n:
        found = _accuracy(chosen, options.confidence_level)
        low, high, estimate = found.low, found.high, found.estimate
    verdict: Literal["accepted", "rejected", "too few"] = "too few"
    if low >= saved.accuracy:
        verdict = "accepted"
    elif high < saved.accuracy:
        verdict = "rejected"
    numbers = saved.threshold, saved.accuracy, n, n / part.y.size
    return Checked(str(path), *numbers, estimate, low, high, verdict)


def _accuracy(part: Answers, level: float) -> AccuracyInterval:
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        # of a single group, and of a large one, of which a note is
        return accuracy_interval(
            part.y, questions=part.question, groups=part.groups, confidence_level=level
        )


def error_and_ranking(
    part: Answers, level: float, pairs: Pairs | None = None
) -> ErrorAndRanking:
    """Return the calibration error and the ranking of answers with probabilities.

    `pairs` are the pairs of the answers without groups, if they are sorted already.
    """
    if pairs is None or part.clusters is not None:
        (pairs,) = check_pairs(part.y, part.q, groups=part.clusters, are_all=False)
    error, ranking = interval_of_pairs(pairs, FOR_INTERVAL, level), None
    if 0 < part.y.mean() < 1:  # otherwise there is nothing to rank
        ranking = ranking_of_pairs(pairs, level)
    return ErrorAndRanking(error, ranking)


def _expected_ece(bins: Bins) -> float:
    """Return the ECE that is expected if the model is calibrated.

    Answers are independent. The mean absolute deviation of a binomial count is
    2 k C(n, k) p^k (1 - p)^(n - k + 1), where k = floor(n p) + 1 (De Moivre). It is
    multiplied by the ratio of standard deviations, because probabilities of a bin
    differ.
    """
    n, p = bins.weight, np.clip(bins.q / bins.weight, 0, 1)
    k = np.floor(n * p) + 1
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    deviation = 2 * k * np.exp(ways + xlogy(k, p) + xlog1py(n - k + 1, -p))
    variance = n * p * (1 - p)
    # A bin in which all probabilities are 0 or 1 has no variance, and no deviation.
    ratio = np.divide(
        bins.label_variance, variance, out=np.zeros_like(n), where=variance > 0
    )
    return float(deviation @ np.sqrt(ratio) / n.sum())


def _calibration(part: Answers, level: float) -> Stated:
    """Compare probabilities and outcomes."""
    # All metrics use the same pairs, which are sorted once.
    # Without groups: the plug-in numbers do not depend on them.
    (pairs,) = check_pairs(part.y, part.q, are_all=False)
    is_certain = np.isin(part.q, (0, 1))
    binning = check_binning("auto", None, "quantile")
    brier = check_rule("brier")
    parts = (decompose_pairs(pairs, brier, each) for each in (binning, None))
    tenths = bins_of(pairs, check_binning("auto", N_REGIONS, "uniform"))
    curve = curve_of_pairs(pairs, binning)
    overall = _region(part, 0.0, 1.0, level, 1)
    checked = error_and_ranking(part, level, pairs)
    ends = overall.frequency_low, overall.frequency_high
    return Stated(
        overall=overall,
        calibration=calibration_of(
            checked.pvalue, overall.mean_probability, *ends, 1 - level
        ),
        checked=checked,
        plug_in=PlugIn(curve.error(), curve.bin_size),
        ece=tenths.error("l1"),
        ece_expected=_expected_ece(tenths),
        mce=tenths.error("max"),
        brier=Decompositions(*parts),
        n_certain=int(is_certain.sum()),
        n_certain_wrong=int((is_certain & (part.y != part.q)).sum()),
        n_zero=int((part.q == 0).sum()),
        n_zero_positive=int(part.y[part.q == 0].sum()),
    )


def _adjust_pvalues(parts: dict[str, Measured]) -> None:
    """Add the p-value of each part, adjusted over all parts by Holm's method."""
    stated = (part.stated for part in parts.values())
    pvalues = [s and s.checked.calibration_error.pvalue for s in stated]
    adjusted = holm(np.array(pvalues, dtype=float))  # None becomes NaN
    for part, pvalue in zip(parts.values(), adjusted.tolist(), strict=True):
        part.pvalue_adjusted = part.p_value_adjusted = pvalue
