"""The numbers of a system, or of one of its parts, in words and tables."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..metrics import CalibrationErrorInterval
from ..metrics._decomposition import ScoreDecomposition
from ..metrics._interval import LEAST_GROUPS, LEAST_UNITS
from ..rates._precision import PrecisionThreshold
from ..recalibration._decisions import ENOUGH_FOR_ISOTONIC, RecalibrationMap, clipped_at
from . import _blocks as out
from ._report_numbers import N_REGIONS, TOO_FEW_GROUPS, Checked, Measured, Stated
from ._runs import FREQUENCY, GRADE, SCORE

TOO_FEW = "Too few answers to test calibration"

FEW = f"isotonic regression needs about {ENOUGH_FOR_ISOTONIC} outcomes of each kind"


def _range(least: float) -> str:
    """Return the range of probabilities that are at least `least` from 0 and 1."""
    rounded = float(f"{least:.1g}")
    return f"[{rounded:g}, {1 - rounded:.10g}]"


def selects(found: PrecisionThreshold | None) -> bool:
    """Return whether a threshold leaves out answers: all have no other base rate."""
    return found is not None and found.n_selected < found.n


def _limit(value: float) -> str:
    """Return a limit of a region with one digit or more."""
    return max(f"{value:.1f}", f"{value:g}", key=len)


def brier_parts(bins: ScoreDecomposition, levels: ScoreDecomposition) -> list[str]:
    """Return the parts of the Brier score in words."""
    size = bins.bin_size
    # With few different probabilities, each one is a bin.
    where = "each probability" if size is None else f"bins of {size}"
    # The residual inside bins can have either sign.
    sign = "-" if bins.residual < 0 else "+"
    return [
        f"Brier score = {bins.calibration:.4f} calibration + {bins.refinement:.4f} "
        f"refinement {sign} {abs(bins.residual):.4f} inside {where}",
        f"Brier score = {levels.calibration:.4f} calibration - "
        f"{levels.discrimination:.4f} discrimination + {levels.uncertainty:.4f} "
        "uncertainty, isotonic",
    ]


class Part:
    """The numbers of a system, or of one of its parts, in words and tables.

    All numbers between 0 and 1 are written with `digits`.
    """

    def __init__(self, found: Measured, level: float, word: str, digits: str):
        self.found, self.word, self.digits = found, word, digits
        self.confidence_level = level
        self.alpha, self.level = 1 - level, out.percent(level)
        # Outcomes of a classifier are called cases, and not answers.
        self.is_graded = word != FREQUENCY
        self.unit = "question" if self.is_graded else "prediction"
        self.what = "answers" if self.is_graded else "cases"
        # what answers that stand alone are, in a share of them
        self.right = "answers are right" if self.is_graded else "cases are positive"
        self.unit += "s" * (found.n != 1)
        self.n, self.n_groups, self.accuracy = found.n, found.n_groups, found.accuracy
        self.stated, self.without = found.stated, found.without_probability
        # Number of answers with a probability.
        self.n_stated = 0 if self.stated is None else self.stated.overall.n
        # None if there are too few answers.
        self.pvalue = None if self.stated is None else self.stated.checked.pvalue
        # The p-value that decides: of one of several parts, the adjusted one.
        self.adjusted = self.pvalue
        if self.pvalue is not None and found.pvalue_adjusted is not None:
            self.adjusted = found.pvalue_adjusted
        self.is_rejected = self.adjusted is not None and self.adjusted < self.alpha

    @property
    def shown(self) -> out.Estimate:
        """The accuracy of the answers with a probability, if some have none."""
        if self.without is None or self.stated is None:
            return self.accuracy
        return self.stated.frequency

    @property
    def error(self) -> CalibrationErrorInterval | None:
        """The calibration error, if there are probabilities."""
        return None if self.stated is None else self.stated.checked.calibration_error

    @property
    def auroc(self) -> out.Estimate | None:
        """How well probabilities rank the answers, if it is known."""
        return None if self.stated is None else self.stated.checked.auroc

    @property
    def mean(self) -> str:
        """The mean probability."""
        assert self.stated is not None
        return self.number(self.stated.overall.mean_probability)

    def number(self, value: float) -> str:
        return f"{value:{self.digits}}"

    def threshold(self, found: PrecisionThreshold, *, is_upper: bool = False) -> str:
        """Return a threshold with two digits of its distance from 0 and 1.

        It is rounded outwards, so that it selects the same answers and seldom others.
        """
        t, digits = found.threshold, int(self.digits[1:-1])
        if 0 < t < 1:
            digits = max(digits, 1 - math.floor(math.log10(min(t, 1 - t))))
        scaled = round(t * 10**digits, 6)
        scaled = math.ceil(scaled) if is_upper else math.floor(scaled)
        return f"{scaled / 10**digits:.{digits}f}"

    def estimate(self, row: out.Estimated) -> list[str]:
        """Return an estimate and its interval as cells."""
        return [self.number(row.estimate), out.error_ends(row, self.digits)]

    def count(self) -> str:
        """Return the number of answers and of groups."""
        # A question may have several samples, and a sample no probability.
        n_samples, judged = self.found.n_samples, self.found.judged
        if judged is not None:
            n_items = judged.accuracy.n_items
            return f"{n_items:,} answers, {n_samples:,} of them with a label"
        count = f"{self.n:,} {self.unit}"
        if self.n < n_samples:
            count = f"{n_samples:,} samples of {count}"
        if 0 < self.n_stated < n_samples:
            count += f", {self.n_stated:,} with a probability"
        if self.n_groups is not None:
            count += f", {self.n_groups:,} groups"
        return count

    def verdict(self) -> str:
        """Return the accuracy, and a summary of the calibration of the probabilities.

        If some answers have no probability, it is about the others.
        """
        rate, interval = self.estimate(self.shown)
        rate = f"{rate} ({self.level} interval {interval})"
        judged = self.found.judged
        if judged is not None:
            # The judge's own accuracy is biased, so that the corrected one comes first.
            by_people = self._by_people()
            if self.stated is None:
                return by_people
            text = self._calibration(f"their {self.word} is {rate}.")
            who = f"Of the {self.n_stated:,} answers with a label and a probability"
            return f"{by_people} {who}: {text}"
        if self.stated is None:
            why = "The answers have no probabilities"
            if self.word == GRADE:
                why = "Grades are not right or wrong"
            elif self.word == SCORE:
                why = "Some scores are not 0 or 1"
            # Calibration is measured from two answers on.
            elif self.found.n_samples == 1:
                why = "One answer is too few"
            return f"The {self.word} is {rate}. {why}: calibration is not measured."
        of = ""
        if self.without is not None:
            of = f" of the {self.n_stated:,} answers with a probability"
        return self._calibration(f"the {self.word}{of} is {rate}.{self.of_others()}")

    def of_others(self) -> str:
        """Return the accuracy of the answers without a probability, if any."""
        if self.without is None:
            return ""
        n = self.found.n_samples - self.n_stated
        number, interval = self.estimate(self.without)
        return f" The {self.word} of the {n:,} without one is {number} ({interval})."

    def _calibration(self, rate: str) -> str:
        """Return the decision about calibration with its numbers."""
        stated = self.stated
        assert stated is not None
        error = stated.checked.calibration_error
        found = f"the mean probability is {self.mean}, and {rate}"
        compatible = (
            f" A calibration error of up to {self.number(error.high)} is compatible "
            "with the data."
        )
        if stated.calibration == "too few":
            return (
                f"{TOO_FEW}: at least {LEAST_UNITS} independent answers or groups are "
                f"needed; {found}{compatible}"
            )
        # The p-value is known here: without one, the case above is "too few".
        p = out.p_text(self.pvalue or 0.0, "p = ")
        if stated.calibration == "calibrated":
            weak = ""
            # The test looks for many deviations, and has less power against this one
            # than the interval. Readers who see both numbers ask why they disagree.
            if stated.overall.verdict in ("too high", "too low"):
                weak = (
                    f" The interval of the {self.word} excludes the mean probability, "
                    f"but the test of all probabilities does not reject ({p})."
                )
            return f"No miscalibration is shown: {found}{compatible}{weak}"
        if stated.calibration == "not of one kind":
            # Errors in both directions may cancel in the mean.
            why = self.certain_wrong() if self.is_excluded else p
            return (
                f"The probabilities are miscalibrated ({why}), and their mean does not "
                f"show in which direction: {found}"
            )
        if self.is_graded:
            return f"The model is {stated.calibration}: {found}"
        too = "high" if stated.calibration == "overconfident" else "low"
        return f"The probabilities are too {too} on average: {found}"

    @property
    def is_excluded(self) -> bool:
        """Whether a label contradicts a probability of 0 or 1 that is not rounded."""
        # If a probability is exactly 1, one wrong answer has a probability of 0: this
        # needs no test.
        return self.stated is not None and self.stated.has_certain_wrong

    def certain_wrong(self) -> str:
        """Return how many outcomes contradict probabilities of 1 and of 0."""
        found = self.stated
        assert found is not None
        one, other = ("wrong", "right") if self.is_graded else ("negative", "positive")
        n, n_wrong = found.n_certain, found.n_certain_wrong
        zero, n_zero = found.n_zero_positive, found.n_zero
        counts = [(n_wrong - zero, n - n_zero, 1, one), (zero, n_zero, 0, other)]
        return " and ".join(
            f"{k:,} of {n:,} {self.what} with probability {p} "
            f"{'is' if k == 1 else 'are'} {x}"
            for k, n, p, x in counts
            if n and (k or not n_wrong)
        )

    def _by_people(self) -> str:
        """Return the accuracy by a judge that labels of people correct."""
        assert self.found.judged is not None
        found = self.found.judged.accuracy
        rate, interval = self.estimate(found)
        return (
            f"The {self.word} by people is {rate} ({self.level} interval {interval}), "
            f"estimated from the judge's scores of {found.n_items:,} answers and "
            f"labels of {found.n_labelled:,} of them. The judge alone says "
            f"{self.number(found.uncorrected)}."
        )

    def case(self, by: str | None) -> list[out.Block]:
        """Return whether the confidence is calibrated, whether it ranks, and advice.

        by : column by whose values it is recalibrated.
        """
        if self.is_reversed:
            return [out.Paragraph(f"{self.how_reversed()}.")]
        if self.stated is None:
            return []
        text = self.stated.checked.case(self.alpha, self.digits, by)
        return [out.Paragraph(each) for each in (text, *self.alone()) if each]

    def alone(self) -> list[str]:
        """Return from which probability answers have the accuracy of --alone."""
        alone = self.found.alone
        if alone is None:
            return []
        said = [self._alone(alone.threshold, self.right)]
        if not self.is_graded:
            said.append(self._alone(alone.negative, "cases are negative", "up to"))
        may = "answer" if self.is_graded else "decide"
        return [f"May it {may} alone? {' '.join(said)}"]

    def _alone(
        self, found: PrecisionThreshold | None, what: str, side: str = "from"
    ) -> str:
        assert self.found.alone is not None
        wanted = f"{self.found.alone.accuracy:g}"
        if found is None:
            return (
                f"No probability is shown {side} which {wanted} of the {what} "
                f"({self.level} confidence, with allowance for the choice)."
            )
        rate, interval = self.estimate(out.estimate_of(found))
        lost = ""
        if not self.is_graded and self.stated is not None:
            if not selects(found):
                return (
                    f"Without a threshold, {rate} of the {what}: to select by "
                    "probabilities, pass a larger --alone."
                )
            right = found.n_selected * found.estimate
            n = right if side == "from" else found.n_selected - right
            every = self.stated.overall.n * self.stated.overall.frequency
            lost = f" and {n / every:.0%} of the positive ones" if every else ""
        at = self.threshold(found, is_upper=side != "from")
        return (
            f"{side.capitalize()} a stated probability of {at}, {rate} of the {what} "
            f"({interval} with allowance for the choice), and at least {wanted} in new "
            f"data with {self.level} confidence; these are {found.share_selected:.0%} "
            f"of all{lost}."
        )

    def check(self, found: Checked) -> str:
        """Return the verdict on a saved threshold."""
        what, wanted = self.what, f"{found.accuracy:g}"
        at = self.number(found.threshold)
        are = "right" if self.is_graded else "positive"
        said = f"The threshold of {found.file} is {found.verdict}"
        if found.verdict == "too few":
            said = f"There are too few {what} to check the threshold of {found.file}"
        if found.estimate is None:
            return f"{said}: none has a probability of {at} or more."
        row = out.Estimate(found.estimate, found.low, found.high)
        rate, interval = self.estimate(row)
        return (
            f"{said}: of the {found.n:,} {what} with a probability of {at} or more "
            f"({found.share:.0%} of all), {rate} are {are} ({self.level} interval "
            f"{interval}), and {wanted} should be."
        )

    @property
    def is_reversed(self) -> bool:
        """Whether labels are positive less often where probabilities are higher."""
        return not self.is_graded and self.auroc is not None and self.auroc.high < 0.5

    def how_reversed(self) -> str:
        """Return how well labels are ranked, if they are ranked in reverse."""
        assert self.auroc is not None
        auroc, interval = self.estimate(self.auroc)
        return (
            f"Positive labels have lower probabilities than the others (AUROC {auroc}, "
            f"{self.level} {interval})"
        )

    def table(self, *, is_long: bool) -> out.Table:
        """Return the main numbers, and with `is_long` numbers for comparison."""
        rate, interval = self.estimate(self.shown)
        rows = [[self.word, rate, f"{self.level} {interval}"]]
        if self.without is not None:
            n, n_all = self.n_stated, self.found.n_samples
            # Three accuracies stand below each other, so that none is taken for another
            # one.
            rows[0][2] += f"; {n:,} answers with a probability"
            rate, interval = self.estimate(self.without)
            remark = f"{interval}; {n_all - n:,} answers without one"
            rows.append([f"{self.word} of others", rate, remark])
            rate, interval = self.estimate(self.accuracy)
            rows.append([f"{self.word} of all", rate, interval])
        if self.stated is not None:
            rows += self._of_probabilities(self.stated, is_long=is_long)
        return out.Table(["measure", "value", "remark"], rows, is_left=True)

    def _of_probabilities(self, found: Stated, *, is_long: bool) -> list[list[str]]:
        error, number = found.checked.calibration_error, self.number
        estimate, interval = self.estimate(error)
        # The number is for independent answers.
        is_single = self.n_groups is None and self.n == self.found.n_samples
        expected = number(found.ece_expected) + " or more" * (not is_single)
        rows = [
            ["mean probability", self.mean, ""],
            ["calibration error", estimate, f"{self.level} {interval}; debiased"],
        ]
        if is_long:
            plug_in = number(error.plug_in)
            # Papers that do not debias quote this number.
            rows.append(["plug-in error", plug_in, "with label noise"])
        remark = f"{N_REGIONS} bins of equal width; {expected} if calibrated"
        rows.append(["ECE", number(found.ece), remark])
        if is_long:
            remark = "largest distance in these bins"
            rows.append(["MCE", number(found.mce), remark])
        rows.append(["perfect calibration", *self._test(found)])
        if self.auroc is not None:
            auroc, interval = self.estimate(self.auroc)
            remark = f"{self.level} {interval}; 0.5 if it ranks nothing"
            rows.append(["AUROC", auroc, remark])
        score = f"{found.brier.adaptive.score:.4f}"
        rows.append(["Brier score", score, "mean squared error; lower is better"])
        return rows

    def _test(self, stated: Stated) -> tuple[str, str]:
        """Return the p-value of perfect calibration, and the decision by which test."""
        if self.pvalue is None:
            return "not tested", "too few answers"
        if self.is_excluded:
            # A longer remark would not fit beside the other columns.
            n = stated.n_certain_wrong
            return out.p_text(self.pvalue, "p = "), f"rejected: 0 or 1 is wrong {n:,}x"
        values = {end for row in self.found.regions for end in (row.from_, row.to)}
        # With one probability and independent answers, there is nothing to combine: the
        # test is a score test.
        is_one = len(values) == 1 and self.n_groups is None
        test = "score test" if is_one else "half-Cauchy combination test"
        is_rejected = self.pvalue < self.alpha
        decision = "rejected" if is_rejected else "not rejected"
        return out.p_text(self.pvalue, "p = "), f"{decision} by the {test}"

    def remarks(self) -> Iterator[out.Block]:
        """Yield what limits the numbers."""
        step = None if self.error is None else self.error.rounded_to
        if step is not None:
            yield out.Paragraph(
                f"All probabilities are multiples of {step:g}. The test takes 1 as "
                f"{1 - step / 2:g} or more and 0 as {step / 2:g} or less: "
                f"{self.certain_wrong()}."
            )
        n = None if self.error is None else self.error.n_effective_groups
        if n is not None and n < LEAST_GROUPS:
            yield out.Paragraph(
                f"only {n:.1f} effective groups: the interval contains the true error "
                f"less often than {self.level}"
            )
        if any(row.verdict == TOO_FEW_GROUPS for row in self.found.regions):
            yield out.Paragraph(
                f"{TOO_FEW_GROUPS}: a verdict needs {LEAST_UNITS} groups"
            )

    def regions(self) -> list[out.Block]:
        """Return the table of probabilities and outcomes by region."""
        rows = []
        for row in self.found.regions:
            limits = f"{_limit(row.from_)} to {_limit(row.to)}"
            if row.from_ == row.to:  # the single probability of its answers
                # Ten digits show the probability as the file has it, without errors of
                # binary fractions.
                limits = f"{row.from_:.10g}"
            mean, came = self.number(row.mean_probability), self.number(row.frequency)
            if row.mean_probability and not float(mean):
                mean = f"{row.mean_probability:.1g}"
            interval = out.ends(row.interval, self.digits)
            rows.append([limits, f"{row.n:,}", mean, came, interval, row.verdict])
        header = ["probability", self.what, "mean", self.word, self.level, "verdict"]
        blocks: list[out.Block] = [out.Line(), out.Table(header, rows)]
        if any(row.verdict == "unclear" for row in self.found.regions):
            text = (
                f"unclear: the mean is outside the {self.level} interval of the row, "
                "but not significantly with Bonferroni's correction for all rows"
            )
            blocks.append(out.Paragraph(text, "soft"))
        return blocks if rows else []

    def header(self) -> list[str]:
        """Return the header of `cells`."""
        header = [self.unit, self.word, self.level, "mean prob.", "error", self.level]
        return [*header, "AUROC", self.level, "p", "alone (share)"]

    def cells(self) -> list[str]:
        """Return the numbers as cells of a table of parts or systems."""
        n = self.n if self.without is None else self.n_stated
        cells = [f"{n:,}", *self.estimate(self.shown)]
        if self.stated is None:
            # The row has the columns of `header`, also if other parts have
            # probabilities.
            return [*cells, *[""] * 7]
        p = "too few" if self.adjusted is None else out.p_text(self.adjusted)
        cells += [self.mean, *self.estimate(self.stated.checked.calibration_error)]
        alone, threshold = "none", self.found.threshold
        if threshold is not None:
            alone = f"{self.threshold(threshold)} ({threshold.share_selected:.0%})"
        return [*cells, *out.cells_of(self.auroc, self.digits), p, alone]

    def cards(self) -> out.Cards:
        """Return cards with the accuracy, the probabilities and their error."""
        word, judged = self.word.capitalize(), self.found.judged
        named: dict[str, out.Estimated] = {word: self.shown}
        if judged is not None:
            named = {f"{word} by people": judged.accuracy}
        if self.without is not None:
            named[f"{word} without a probability"] = self.without
        if self.error is not None:
            named["Calibration error"] = self.error
        if self.auroc is not None:
            named["AUROC"] = self.auroc
        cards = []
        for name, row in named.items():
            estimate, interval = self.estimate(row)
            cards.append((name, estimate, f"{self.level} interval {interval}"))
        if self.error is not None:
            # Beside the accuracy, with which it is compared.
            cards.insert(1, ("Mean probability", self.mean, "stated by the model"))
        threshold = self.found.threshold
        if threshold is not None:
            name, at = f"{threshold.precision:g} right from", self.threshold(threshold)
            cards.append((name, at, f"{threshold.share_selected:.0%} of the answers"))
        return out.Cards(cards)

    def recalibration(self, map_: RecalibrationMap | None, few: str = FEW) -> str:
        """Return how to recalibrate; `few` is what to say about few answers."""
        assert self.stated is not None
        if map_ == "clip":
            n, wrong = self.stated.n_certain, self.stated.n_certain_wrong
            return (
                f"clip all probabilities to {_range((wrong + 0.5) / (n + 1))}, and "
                f"repeat the report ({self.certain_wrong()}, and their mean is not "
                "shown to be wrong). Isotonic regression would return 0 and 1 again."
            )
        clipped = ""
        if self.stated.n_certain:
            clipped = f", clipped to {_range(clipped_at(self.shown.estimate))}"
        how = (
            # Log-odds of 0 and 1 are infinite.
            f"fit a logistic regression to the log-odds of the probabilities{clipped}; "
            f"{few}"
        )
        if map_ == "isotonic":
            # Of n new answers below the first positive one, one is expected positive.
            how = (
                "fit sklearn.isotonic.IsotonicRegression(y_min=3/n, y_max=1-3/n, "
                "out_of_bounds='clip') to n probabilities and outcomes"
            )
        classifier = (
            " For a classifier, use sklearn.calibration.CalibratedClassifierCV."
        )
        return (
            f"{how}. Measure the error on answers that were not used in the fit."
            f"{'' if self.is_graded else classifier}"
        )

    def how_many_more(self) -> str:
        """Return how many answers halve the width of the intervals, if it is known."""
        # Half the width needs four times the independent answers.
        what, count = self.unit, self.n
        judged = self.found.judged
        if judged is not None:
            # The labels limit the interval, not the number of answers of the judge.
            return out.more_labels(judged.accuracy, "answers")
        if self.n_groups is not None and self.n_groups < self.n:
            # More answers of the same groups would shorten the interval by less.
            what, count = "groups", self.n_groups
        repeats, more = self.found.repeats, ""
        if repeats is not None:
            more = f" {repeats.advice.partition(' (')[0]}."
        of = f" of the {self.word}"
        return out.more_units(self.accuracy, count, what, of, more)

    def how_to_quote(self) -> str:
        """Return a sentence with the numbers for a paper."""
        judged = None if self.found.judged is None else self.found.judged.accuracy
        rate, interval = self.estimate(self.accuracy if judged is None else judged)
        quote = f"Quote: {self.word} {rate} ({self.level} interval {interval}"
        if judged is not None:
            return (
                f"{quote}, {judged.n_items:,} answers graded by the judge, "
                f"{judged.n_labelled:,} of them by people)."
            )
        groups = "" if self.n_groups is None else f" in {self.n_groups:,} groups"
        quote = f"{quote}, {self.n:,} {self.unit}{groups})"
        if self.without is not None:
            rates, n = (self.shown, self.without), self.n_stated
            with_one, without = (self.number(each.estimate) for each in rates)
            quote += (
                f", {with_one} of the {n:,} answers with a probability and {without} "
                f"of the {self.found.n_samples - n:,} without one"
            )
        if self.error is None:
            return f"{quote}."
        error, interval = self.estimate(self.error)
        # Guo et al. (2017) made the ECE the usual number, and readers look for it.
        return (
            f"{quote}; calibration error {error} ({self.level} interval {interval}, "
            "debiased root mean square). The ECE is a mean absolute distance, depends "
            "on its bins and is biased upwards: do not report it alone."
        )
