"""The numbers of ``skcalib compare``."""

from __future__ import annotations

import math
import warnings
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import chdtrc, ndtri

from .._errors import ParameterError
from .._pairs import holm
from ..evaluation._align import AlignedEvaluations
from ..rates import pass_at_k
from ..rates._accuracy import large_group
from ..rates._repeats import SampleVariance, question_pass_at_k, sample_variance
from ..scorers import compare_calibration
from ..significance import SystemComparison, compare_systems, paired_bootstrap_test
from ._blocks import ENOUGH_FOR_MORE, INSIDE, Estimate, as_csv, estimate_of, plain
from ._corpus import factorised
from ._labels import JudgedPair, in_unit, judged_pairs
from ._report_numbers import ErrorAndRanking, error_and_ranking
from ._runs import GRADE, Answers, Inputs, column_of
from ._shared import CommandError, as_option, one_group

# Compares the items of a mask, with their groups and a correction of p-values.
Compare = Callable[[np.ndarray, np.ndarray | None, str | None], SystemComparison]

# The metric of systems whose outcomes are the same.
BRIER = "Brier score"

# Correction of the p-values for the number of pairs.
ADJUST = "holm"

# Words for the methods of the paired bootstrap.
_METHODS = {
    "exact": "paired bootstrap, exact",
    "saddlepoint": "paired bootstrap, saddlepoint",
    "monte_carlo": "paired bootstrap, {n:,} resamples drawn",
    "sign_flips": "sign flips",
    "hall": "Hall's transformation of t",
}

# Largest number of systems whose calibration is compared pair by pair.
_MOST_CALIBRATED = 6

# Power of the test for the gain that questions or labels can detect.
POWER = 0.8

# Number of values of --by from which most must have several questions.
_MOST_PARTS = 20

# The logarithm of a probability of 0 would be infinite.
_SMALLEST = 1e-6

_CSV_COLUMNS = (
    *("a", "b", "score_a", "score_b", "gain", "low", "high", "pvalue"),
    *("pvalue_adjusted", "method", "wins", "losses", "n", "n_groups"),
)
# Columns of the gains by people, with --labels.
_CSV_OF_PEOPLE = ("people_gain", "people_low", "people_high", "n_labelled")


@dataclass
class ComparedSystem:
    """A system with its score; systems that share a letter do not differ."""

    name: str
    files: list[str]
    score: float
    low: float
    high: float
    letters: str


@dataclass
class Pair:
    """The gain of system b over the earlier system a, with its interval."""

    a: str
    b: str
    gain: float
    low: float
    high: float


@dataclass
class Gain(Pair):
    """A gain with its tests."""

    pvalue: float
    pvalue_adjusted: float
    method: str
    wins: int
    losses: int
    limit: MarginTest | None = field(default=None, metadata=INSIDE)


class MarginTest(NamedTuple):
    """Whether a system is worse by less than a margin, and whether both are equal."""

    margin: float
    noninferiority_pvalue: float
    equivalence_pvalue: float
    is_noninferior: bool
    is_equivalent: bool


@dataclass
class Part:
    """A value of --by, with a gain if it has several questions and groups.

    The p-value of the gain is adjusted over all parts.
    """

    value: str
    n: int
    score_a: float | None = None
    score_b: float | None = None
    tested: Gain | None = field(default=None, metadata=INSIDE)


class Homogeneity(NamedTuple):
    """The p-value of one gain of system b for all values of --by (Cochran's Q)."""

    b: str
    pvalue: float


class Parts(NamedTuple):
    """The gains for each value of a column, and whether they differ."""

    column: str
    rows: list[Part]
    homogeneity: list[Homogeneity]


@dataclass
class Decided(Pair):
    """A gain with the system that is better, or None, and the p-value of scores."""

    better: str | None
    pvalue: float | None


class More(NamedTuple):
    """The gain that is detected with a power of 80%, and what half of it needs."""

    detectable_gain: float
    needed_for_half: int


class Decisions(NamedTuple):
    """Which system is better, by the scores or by the labels of people.

    `better` is better than every other system. `best` has the best score; the systems
    in `not_worse` are not significantly worse. `quoted` is the pair to quote.
    """

    better: str | None
    evidence: Literal["scores", "labels of people"]
    best: str
    not_worse: list[str]
    quoted: Decided
    more: More | None


@dataclass
class Power:
    """The gain that questions or labels detect, and the number that a gain needs."""

    a: str
    b: str
    detectable_gain: float
    gain: float | None = None
    questions_needed: float | None = None
    labels_needed: float | None = None


@dataclass
class Difference:
    """The difference of a measure; NaN if it has no interval."""

    a: float
    b: float
    difference: float
    low: float
    high: float
    pvalue: float
    pvalue_adjusted: float | None = None


@dataclass
class CalibrationGain:
    """Differences of a system from the baseline; lower is better."""

    a: str
    b: str
    calibration_error: Difference
    brier: Difference
    log_score: Difference


@dataclass
class Confidence:
    """Whether the confidence of a system is calibrated, and whether it ranks."""

    name: str
    checked: ErrorAndRanking = field(metadata=INSIDE)


@dataclass
class Repeats:
    """The components of variance of a system with several samples per question."""

    name: str
    variance: SampleVariance = field(metadata=INSIDE)
    advice: str


class Condition(NamedTuple):
    """The condition of --fail-if, and the systems that meet it."""

    condition: str
    systems: list[str]


@dataclass(kw_only=True)
class Compared:
    """All numbers of a comparison, in the order of the JSON."""

    metric: str
    unit: str = "questions"
    is_percent: bool | None = None
    lower_is_better: bool | None = None
    n: int
    n_samples: list[int] | None = None
    n_groups: int | None
    groups: str | None
    only_in: dict[str, int]
    notes: list[str]
    confidence_level: float
    adjust: str | None
    smallest_pvalue: float
    baseline: str
    systems: list[ComparedSystem]
    pairs: list[Gain]
    not_separated: list[list[str]]
    # None if there is no reference, which scores of questions never have.
    reference: str | None = ""
    signature: str | None = None
    warnings: list[str] | None = None
    judged: list[JudgedPair] | None = None
    power: list[Power] | None = None
    by: Parts | None = None
    repeats: list[Repeats] | None = None
    calibration: list[CalibrationGain] | None = None
    confidence: list[Confidence] | None = None
    decisions: Decisions | None = None
    fail_if: Condition | None = None


def measure(inputs: Inputs, options: Namespace) -> Compared:
    """Return all numbers of a comparison of scores."""
    whole = inputs.aligned
    aligned, metric = _compared_scores(whole, options)
    is_same = metric == BRIER
    for name in _OF_SAMPLES:
        if getattr(options, name) is not None:  # they exclude each other
            aligned, metric = _taking_samples(whole, name, options)
    groups, by = (
        None if name is None else column_of(aligned, name, option)
        for name, option in ((options.groups, "--groups"), (inputs.by_name, "--by"))
    )

    def compare(
        inside: np.ndarray, inner: np.ndarray | None, adjust: str | None
    ) -> SystemComparison:
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            # A note says if one group is large.
            found = compare_systems(
                _part(aligned, inside),
                groups=inner,
                adjust=adjust,
                confidence_level=options.confidence_level,
                random_state=0,
            )
        return replace(found, _lower_is_better=is_same)

    result = compare_all(compare, len(aligned), groups)
    judged = None
    if options.labels:
        how = inputs.samples, groups, options.confidence_level, options.scale
        judged = judged_pairs(options.labels, whole, *how)
    found = numbers_of(
        result,
        compare,
        (inputs.by_name, by, groups),
        options,
        judged=judged,
        files=inputs.files,
        metric=metric,
        lower_is_better=is_same or None,
        n_samples=aligned.n_samples.sum(axis=0).tolist(),
        only_in=aligned.only_in,
        notes=[*aligned.notes, *inputs.notes],
    )
    # The test treats the estimate of a question as one sample. The interval can use
    # that its samples are 0 or 1.
    if metric.startswith("pass"):
        _use_pass_intervals(found.systems, whole, groups, options)
    elif whole.is_repeated:  # the components are of the mean score, not of pass@k
        found.repeats = list(_repeats(whole, options))
    codes = None if groups is None else factorised(groups)[0]
    found.notes += filter(None, [large_group(codes)])
    is_accuracy = metric in ("accuracy", BRIER)
    if is_accuracy:
        found.notes += _without_confidence(whole)
    _add_confidences(found, whole, is_accuracy, codes, options)
    return found


def compare_all(
    compare: Compare, n: int, groups: np.ndarray | None
) -> SystemComparison:
    """Compare all items before their parts: errors are about options then."""
    try:
        return compare(np.ones(n, dtype=bool), groups, ADJUST)
    except ParameterError as error:
        option = "--groups" if error.name == "groups" else "compare"
        problem = error.problem.replace("must have", "needs")
        raise CommandError(f"{option} {problem}") from None


def _add_confidences(
    found: Compared,
    aligned: AlignedEvaluations,
    is_accuracy: bool,
    codes: np.ndarray | None,
    options: Namespace,
) -> None:
    """Add what is known about the confidences of systems with probabilities."""
    known, level = np.isfinite(aligned.proba).all(axis=0), options.confidence_level
    decides = options.fail_if == "worse-calibrated"
    if decides and not (known.all() and is_accuracy):
        raise CommandError(
            "--fail-if worse-calibrated needs answers that are right or wrong, each "
            "with a probability, and one per question. Not all files have them."
        )
    if not is_accuracy or not known[0] or known.sum() < 2:
        return
    used = np.flatnonzero(known)
    # A condition is about all systems, while a table has room for some of them.
    used = used if decides else used[: _MOST_CALIBRATED + 1]
    found.calibration = [_calibration(aligned, k, codes, level) for k in used[1:]]
    # The tests of all later systems are one family.
    _adjust([each.calibration_error for each in found.calibration])
    # Here the baseline is listed as well: its own calibration, not a difference.
    found.confidence = []
    for k in used:
        answers = Answers(aligned.score[:, k], aligned.proba[:, k], groups=codes)
        numbers = error_and_ranking(answers, level)
        found.confidence.append(Confidence(aligned.names[k], numbers))


def _without_confidence(aligned: AlignedEvaluations) -> Iterator[str]:
    """Yield which systems lack confidences, if any system has some."""
    lacking = np.isnan(aligned.proba).sum(axis=0)
    if aligned.is_repeated or (lacking == len(aligned)).all():
        return
    for name, k in zip(aligned.names, lacking.tolist(), strict=True):
        if k:
            yield (
                f"{name} has no confidence for {k:,} of {len(aligned):,} questions: "
                "its calibration is not compared."
            )


def numbers_of(
    result: SystemComparison,
    compare: Compare,
    columns: tuple[str | None, np.ndarray | None, np.ndarray | None],
    options: Namespace,
    files: dict[str, list[str]],
    **others: Any,
) -> Compared:
    """Return the numbers of all systems and pairs, of --margin, --power and --by.

    `columns` are the name and the values of --by, and the values of --groups.
    """
    level = options.confidence_level
    letters = result.letters(1 - level)
    intervals = np.column_stack([result.score, result.low, result.high]).tolist()
    found = Compared(
        n_groups=result.n_groups,
        groups=options.groups,
        confidence_level=level,
        adjust=result.adjust,
        smallest_pvalue=result.smallest_pvalue,
        baseline=result.names[0],
        systems=[
            ComparedSystem(name, files[name], score, low, high, letters[name])
            for name, (score, low, high) in zip(result.names, intervals, strict=True)
        ],
        pairs=_pairs(result, options.margin, _span(options)),
        not_separated=result.not_separated(1 - level),
        n=result.n_questions,
        **others,
    )
    if options.power is not None:
        found.power = list(_power(result, found.judged, options))
    name, by, groups = columns
    if name is not None and by is not None:
        # If the parts are the groups, their rows are compared.
        inner = None if options.groups == name else groups
        # The tasks of a run are parts that nobody asked for: they may be too small to
        # test.
        rows = _parts(name, by, inner, compare, is_given=options.by is not None)
        found.by = Parts(name, rows, list(_homogeneity(rows, level)))
    if options.scale is not None:
        # Everything was computed with shares in [0, 1], and is printed as grades.
        _use_unit(found, *options.scale)
    if found.pairs:
        found.decisions = _decide(found, result, options)
    return found


def csv_of(several: Sequence[Compared]) -> str:
    """Return the pairs of all metrics as CSV, with one row per pair."""
    rows = []
    for found in several:
        known = {each.name: each for each in found.systems}
        for k, pair in enumerate(found.pairs):
            row = {**plain(pair), "n": found.n, "n_groups": found.n_groups}
            for name in "ab":
                each = known[row[name]]
                ends = {f"low_{name}": each.low, f"high_{name}": each.high}
                row |= {f"score_{name}": each.score, **ends}
            row |= {"metric": found.metric, "signature": found.signature}
            if found.judged is not None:
                gain = found.judged[k].gain
                numbers = gain.estimate, gain.low, gain.high, gain.n_labelled
                row |= dict(zip(_CSV_OF_PEOPLE, numbers, strict=True))
            rows.append(row)
    return as_csv(list(dict.fromkeys((*_CSV_COLUMNS, *rows[0]))), rows)


def _span(options: Namespace) -> float:
    """Return the length of the scale of grades, if they are not shares."""
    return 1.0 if options.scale is None else options.scale[1] - options.scale[0]


def _use_unit(found: Compared, lowest: float, highest: float) -> None:
    """Replace scores and gains by those in the unit of --scale."""
    span, rows = highest - lowest, [] if found.by is None else found.by.rows
    tested = [row for row in rows if row.tested is not None]
    gains = [*found.pairs, *(row.tested for row in tested)]
    for changed, names, start in (
        (found.systems, "score low high", lowest),
        (tested, "score_a score_b", lowest),
        (gains, "gain low high", 0.0),
    ):
        for each in changed:
            for name in names.split():
                setattr(each, name, start + span * getattr(each, name))


def _homogeneity(rows: list[Part], level: float) -> Iterator[Homogeneity]:
    """Yield a test of one gain in all parts for each system, if two have a gain.

    Cochran's Q compares the gains with their standard errors, which are the half widths
    of their intervals divided by the normal quantile. A part without a difference of
    scores has an interval of no width and is left out.
    """
    gains: dict[str, list[Gain]] = {}
    for row in rows:
        if row.tested is not None and row.tested.high > row.tested.low:
            gains.setdefault(row.tested.b, []).append(row.tested)
    for name, each in gains.items():
        gain = np.array([one.gain for one in each])
        width = np.array([one.high - one.low for one in each])
        # 1 / variance, since an interval has a width of 2 z standard errors.
        weight = (2 * ndtri((1 + level) / 2) / width) ** 2
        square = weight @ (gain - weight @ gain / weight.sum()) ** 2
        if gain.size > 1:
            # Under equal gains, Q has a chi-squared distribution with one degree of
            # freedom less than parts (Cochran, 1954).
            yield Homogeneity(name, float(chdtrc(gain.size - 1, square)))


def decided_pairs(found: Compared) -> list[Decided]:
    """Return the decision about each pair.

    With labels of people, the interval of the corrected gain decides.
    """
    decided = []
    every: Sequence[JudgedPair | None] = found.judged or [None] * len(found.pairs)
    for pair, judged in zip(found.pairs, every, strict=True):
        gain, p = Estimate(pair.gain, pair.low, pair.high), pair.pvalue_adjusted
        is_shown = p <= 1 - found.confidence_level
        if judged is not None:
            gain = estimate_of(judged.gain)
            is_shown = not judged.decisive.low <= 0 <= judged.decisive.high
        # A positive difference of TER is in favour of the earlier system.
        is_later = (gain.estimate > 0) != bool(found.lower_is_better)
        better = (pair.b if is_later else pair.a) if is_shown else None
        of_scores = p if judged is None else None
        decided.append(Decided(pair.a, pair.b, *gain, better, of_scores))
    return decided


def _decide(found: Compared, result: SystemComparison, options: Namespace) -> Decisions:
    """Return which system is better, and the pair to quote.

    The pair is the best system and the best one that is significantly worse. If no pair
    differs, it is the pair with the largest gain.
    """
    pairs = decided_pairs(found)
    best = best_first(found)[0].name
    if found.judged is not None:
        # The best by the judge may be the one that the judge favours.
        best = _best_by_people(pairs, best)
    of_best = [pair for pair in pairs if best in (pair.a, pair.b)]
    worse = [pair for pair in of_best if pair.better == best]
    not_worse = [
        pair.b if pair.a == best else pair.a for pair in of_best if pair not in worse
    ]
    shown = [pair for pair in pairs if pair.better is not None]

    def size(pair: Decided) -> float:
        return abs(pair.gain)

    # The best system may differ from no other one, although some pairs differ.
    quoted = min(worse, key=size) if worse else max(shown or pairs, key=size)
    return Decisions(
        better=None if not_worse else best,
        evidence="scores" if found.judged is None else "labels of people",
        best=best,
        not_worse=not_worse,
        quoted=quoted,
        # More questions do not correct the judge. The advice is about more labels.
        more=None if found.judged is not None else _more(result, quoted, options),
    )


def _best_by_people(pairs: list[Decided], best: str) -> str:
    """Return the system with the best corrected gains, by default `best`."""
    # Corrected gains of pairs need not add up: there may be no system that wins all of
    # its pairs.
    won = Counter(pair.b if pair.gain > 0 else pair.a for pair in pairs)
    return max(won, key=lambda name: (won[name], name == best))


def best_first(found: Compared) -> list[ComparedSystem]:
    """Return the systems, the best first; a lower TER is better."""
    sign = 1 if found.lower_is_better else -1
    return sorted(found.systems, key=lambda each: sign * each.score)


def _more(result: SystemComparison, pair: Decided, options: Namespace) -> More | None:
    """Return what more questions detect; None if no gain can be detected.

    With few questions, gains are not in proportion to 1 / sqrt(n).
    """
    if (result.n_groups or result.n_questions) < ENOUGH_FOR_MORE:
        return None
    k = result.pairs.index((pair.a, pair.b))
    gain = float(result.detectable_gain()[k])
    # Where few questions differ, intervals are wider than the normal distribution says.
    half = float(result.gain_high[k] - result.gain_low[k]) / 2
    if not (gain > 0 and half <= gain < math.inf):
        return None
    needed = int(result.questions_needed(gain / 2)[k])
    return More(gain * _span(options), needed)


def _pairs(
    result: SystemComparison, margin: float | None = None, span: float = 1.0
) -> list[Gain]:
    """Return each pair; a is the earlier system, and the gain is b minus a.

    The margin is a difference of two grades on a scale of the length `span`.
    """
    methods = [
        _METHODS.get(method, method).format(n=result.n_resamples)
        + " with mid-p" * (k in result._mid_p)
        for k, method in enumerate(result.method)
    ]
    columns = (
        *(result.gain, result.gain_low, result.gain_high),
        *(result.pvalue, result.pvalue_adjusted),
        *(np.array(methods), result.wins, result.losses),
    )
    rows = zip(*(column.tolist() for column in columns), strict=True)
    pairs = [Gain(*names, *row) for names, row in zip(result.pairs, rows, strict=True)]
    if margin is not None:
        # Each test is one-sided, and agrees with one end of the two-sided interval.
        half = (1 - result.confidence_level) / 2
        inferior = result.noninferiority_pvalue(margin / span).tolist()
        equal = result.equivalence_pvalue(margin / span).tolist()
        for pair, p_inferior, p_equal in zip(pairs, inferior, equal, strict=True):
            are_small = p_inferior <= half, p_equal <= half
            pair.limit = MarginTest(margin, p_inferior, p_equal, *are_small)
    return pairs


# Options that use several samples of a question, and the names of their scores.
_OF_SAMPLES = {"pass_at": "pass@{k}", "pass_all": "pass^{k}"}


def _taking_samples(
    aligned: AlignedEvaluations, name: str, options: Namespace
) -> tuple[AlignedEvaluations, str]:
    """Return the estimates of pass@k or pass^k of each question."""
    k, option = getattr(options, name), as_option(name)
    if k < 1:
        raise CommandError(f"{option} must be at least 1. Got {k}.")
    # A partial score is not the chance that a sample passes.
    if not _is_right_or_wrong(aligned):
        raise CommandError(f"{option} needs samples that are right or wrong, 1 or 0.")
    columns = []
    for j, system in enumerate(aligned.names):
        right, number = aligned.sample_counts(j)
        if (number < k).any():
            raise CommandError(
                f"{option} {k} needs {k} samples of each question. {system} has fewer "
                f"of {int((number < k).sum())} of {number.size} questions (at least "
                f"{int(number.min())} of each). Use a smaller number."
            )
        all_of = name == "pass_all"
        # Unbiased for each question, if it has at least k samples (Chen et al., 2021).
        columns.append(question_pass_at_k(right, number, k, all_of=all_of))
    score = np.column_stack(columns)
    # The estimate of a question is one number, which is tested as one sample.
    single = np.ones(score.shape, dtype=np.int64)
    part = replace(aligned, score=score, n_samples=single, samples=list(score.T))
    return part, _OF_SAMPLES[name].format(k=k)


def _use_pass_intervals(
    systems: list[ComparedSystem],
    aligned: AlignedEvaluations,
    groups: np.ndarray | None,
    options: Namespace,
) -> None:
    """Replace the intervals of the systems by the intervals of pass@k."""
    n, all_of = options.pass_at or options.pass_all, options.pass_all is not None
    how: Any = {"groups": groups, "confidence_level": options.confidence_level}
    for k, system in enumerate(systems):
        found = pass_at_k(*aligned.sample_counts(k), k=n, all_of=all_of, **how)
        system.low, system.high = found.low, found.high


def _is_right_or_wrong(aligned: AlignedEvaluations) -> bool:
    return all(bool(np.isin(values, (0, 1)).all()) for values in aligned.samples)


def _compared_scores(
    aligned: AlignedEvaluations, options: Namespace
) -> tuple[AlignedEvaluations, str]:
    """Return the scores to compare, and their name.

    If all systems have probabilities of the same outcomes, the outcomes are labels,
    whose mean says nothing about the systems. The scores are then squared errors.
    """
    if options.scale is not None:
        return aligned, GRADE
    if not _is_right_or_wrong(aligned):
        return aligned, "score"
    score, proba = aligned.score, aligned.proba
    is_same = (score == score[:, :1]).all() and np.isfinite(proba).all()
    if aligned.is_repeated or options.labels or not is_same:
        return aligned, "accuracy"
    square = (score - proba) ** 2
    return replace(aligned, score=square, samples=[*square.T]), BRIER


def _parts(
    name: str,
    column: np.ndarray,
    groups: np.ndarray | None,
    compare: Compare,
    *,
    is_given: bool,
) -> list[Part]:
    """Return the gains over the baseline for each value, adjusted over all of them.

    is_given : whether the user asked for these parts.
    """
    rows: list[Part] = []
    values = dict.fromkeys(column.tolist())
    # Such a column has an id or a text, and each of its tests would have one question.
    if len(values) > max(_MOST_PARTS, column.size / 2):
        raise CommandError(
            f"--by must have values that several questions share. Got {len(values)} "
            f"values of {name!r} for {column.size} questions."
        )
    for value in values:
        inside = column == value
        n = int(inside.sum())
        inner = None if groups is None else groups[inside]
        is_one = inner is not None and bool((inner == inner[0]).all())
        if n > 1 and is_one and is_given:
            raise CommandError(one_group(f"--by {name}, value {value}", inner[0]))  # type: ignore[index]
        # A value with a single question is listed without a gain, and so is one with a
        # single group: the tasks of a harness may each be a group.
        if n < 2 or is_one:
            rows.append(Part(value, n))
            continue
        result = compare(inside, inner, None)
        score = result.score.tolist()
        # The pairs with the baseline come first. Only they are listed, since `score`
        # ends the loop.
        for pair, other in zip(_pairs(result), score[1:], strict=False):
            rows.append(Part(value, n, score[0], other, pair))
    _adjust([row.tested for row in rows if row.tested is not None])
    return rows


def _adjust(tests: Sequence[Gain | Difference]) -> None:
    """Adjust the p-values of a family of tests by Holm's method."""
    adjusted = holm(np.array([each.pvalue for each in tests]))
    for each, p in zip(tests, adjusted.tolist(), strict=True):
        each.pvalue_adjusted = p


def _power(
    result: SystemComparison, judged: list[JudgedPair] | None, options: Namespace
) -> Iterator[Power]:
    """Yield the detectable gain for each pair with the baseline.

    With labels, it is the gain that their interval excludes 0 for.
    """
    smallest, z = result.detectable_gain(), -ndtri((1 - result.confidence_level) / 2)
    # Width of the interval whose half is z standard errors, if the gain is 1.
    width, span = 2 * z / (z + ndtri(POWER)), _span(options)
    wanted = None if options.power is True else options.power
    # The pairs of the baseline come first.
    for k, (a, b) in enumerate(result.pairs[: len(result.names) - 1]):
        found = Power(a, b, span * float(smallest[k]), wanted)
        if judged is not None:
            gain = judged[k].gain
            size = (gain.high - gain.low) / width
            found.detectable_gain = size if size < span else math.inf
            if wanted is not None:
                found.labels_needed = gain.labels_for_width(width * wanted)
        elif wanted is not None:
            n = float(result.questions_needed(wanted / span)[k])
            found.questions_needed = int(n) if math.isfinite(n) else n
        yield found


def _part(aligned: AlignedEvaluations, inside: np.ndarray) -> AlignedEvaluations:
    samples = [
        values[np.repeat(inside, aligned.n_samples[:, k])]
        for k, values in enumerate(aligned.samples)
    ]
    return replace(
        aligned,
        question=aligned.question[inside],
        score=aligned.score[inside],
        n_samples=aligned.n_samples[inside],
        samples=samples,
        proba=aligned.proba[inside],
        groups={name: values[inside] for name, values in aligned.groups.items()},
    )


def _repeats(aligned: AlignedEvaluations, options: Namespace) -> Iterator[Repeats]:
    """Yield the components of variance of each system with several samples."""
    for k, name in enumerate(aligned.names):
        number = aligned.n_samples[:, k]
        if len(aligned) < 2 or not (number > 1).any():
            continue
        question = np.repeat(np.arange(number.size), number)
        split = sample_variance(aligned.samples[k], question=question)
        split = in_unit(split, options.scale)
        yield Repeats(name, split, split.advice)


def _calibration(
    aligned: AlignedEvaluations, k: int, groups: np.ndarray | None, level: float
) -> CalibrationGain:
    """Return differences of a system from the baseline: error, Brier and log scores.

    Each system has its own outcomes, namely whether its own answers are right.
    """
    score, proba = aligned.score[:, [0, k]], aligned.proba[:, [0, k]]
    # One confident mistake would make the log score of a system infinite.
    q = np.clip(proba, _SMALLEST, 1 - _SMALLEST)
    log_score = -(score * np.log(q) + (1 - score) * np.log1p(-q))
    how: Any = {"groups": groups, "confidence_level": level, "random_state": 0}
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        # about few groups, which the comparison also reports
        error = compare_calibration(
            score[:, 1].astype(int),
            *(proba[:, 1], proba[:, 0]),
            y_true_b=score[:, 0].astype(int),
            pos_label=1,
            **how,
        )
        log = paired_bootstrap_test(log_score[:, 1], log_score[:, 0], **how)
    log_a, log_b = log_score.mean(axis=0)
    # The functions subtract their second system, which is the baseline here.
    ends, most = (error.brier_low, error.brier_high), -math.log(_SMALLEST)
    brier = error.brier_b, error.brier_a, *ends, error.brier_pvalue
    logs = log_a, log_b, *log.confidence_interval, log.pvalue
    return CalibrationGain(
        *(aligned.names[0], aligned.names[k]),
        _difference(error.error_b, error.error_a, error.low, error.high, error.pvalue),
        _difference(*brier, largest=1.0),
        _difference(*logs, largest=most),
    )


def _difference(
    a: float, b: float, low: float, high: float, pvalue: float, largest: float = np.inf
) -> Difference:
    """Return two scores and their difference, at most `largest`, with its interval.

    With few groups, no hypothesis can be rejected, and there is no interval.
    """
    low, high = max(float(low), -largest), min(float(high), largest)
    # An interval of all possible differences says nothing.
    if low == -largest and high == largest:
        low = high = math.nan
    return Difference(float(a), float(b), float(b - a), low, high, float(pvalue))
