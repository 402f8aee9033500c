"""Warnings about samples that do not agree with their design."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from .._warn import warn
from ._sample import Sample
from ._totals import Total

# Largest accepted difference between sample and corpus, in standard errors. One random
# sample in a thousand has a larger difference.
_MOST_DEVIATION = 3.3

# If one document has a larger share of the variance, the coverage is too low.
_LARGE_SHARE = 0.08

# Number of errors that the labels must show for a valid Student's t interval.
_ENOUGH_ERRORS = 4.0


def deviation(sample: Sample, values: np.ndarray) -> float:
    """Return the difference between sample and corpus in standard errors.

    `values` are replaced by ranks, whose means are close to normal in small samples.
    The variance follows from the design, because ranks are known for the whole corpus.
    """
    if len(sample.rows) == sample.n_documents:
        return 0.0
    ranks = rankdata(values)
    ranks -= ranks.mean()
    pi, strata = sample.probability, sample.strata
    drawn = 1 / pi[sample.rows]
    mean = float(drawn @ ranks[sample.rows] / drawn.sum())
    if sample.groups is not None:
        ranks = np.bincount(sample.groups, ranks)
        _, first = np.unique(sample.groups, return_index=True)
        pi, strata = pi[first], strata[first]
    # Hajek's approximation for draws of a fixed number in each stratum
    n_strata = int(strata.max()) + 1
    spread = np.bincount(strata, pi * (1 - pi), n_strata)
    total = np.bincount(strata, (1 - pi) * ranks, n_strata)
    centre = np.divide(total, spread, out=np.zeros(n_strata), where=spread > 0)
    variance = float((pi * (1 - pi)) @ (ranks / pi - centre[strata]) ** 2)
    error = np.sqrt(variance) / sample.n_documents
    return mean / error if error > 1e-9 else 0.0


def warn_of_the_sample(sample: Sample, is_given: bool) -> None:
    """Warn if labelled documents differ from the corpus too much for a random sample.

    is_given : whether the user gave inclusion probabilities.
    """
    by_f = deviation(sample, sample.expected)
    by_doubt = 0.0
    if sample.expected.min() >= 0 and sample.expected.max() <= 1:
        by_doubt = deviation(sample, sample.expected * (1 - sample.expected))
    design = "`inclusion_probability`" if is_given else "equal inclusion probabilities"
    if abs(by_f) > max(_MOST_DEVIATION, abs(by_doubt)):
        more = "larger" if by_f > 0 else "smaller"
        warn(
            f"The labelled documents do not look like a sample drawn with {design}: "
            f"their `expected` is {more} than that of the corpus, by {abs(by_f):.1f} "
            "standard errors. If they were chosen by the model or by a keyword, the "
            "interval is not valid. Pass the probabilities with which they were "
            "drawn as `inclusion_probability`."
        )
    elif by_doubt < -_MOST_DEVIATION:
        warn(
            "The model is more confident about the labelled documents than about the "
            f"others, by {-by_doubt:.1f} standard errors. If it was fitted on their "
            "labels, the interval is not valid. Compute out-of-fold predictions for "
            "these documents, or label other documents."
        )
    elif by_doubt > _MOST_DEVIATION:
        warn(
            f"The labelled documents do not look like a sample drawn with {design}: "
            "the model is less confident about them than about the corpus, by "
            f"{by_doubt:.1f} standard errors. If uncertain documents were preferred, "
            "pass the probabilities with which the documents were drawn as "
            "`inclusion_probability`."
        )


def warn_of_recalibration(sample: Sample) -> None:
    """Warn if each value of `expected` is the mean label of its rows.

    Isotonic regression on the labelled documents gives such expectations.
    """
    f = sample.expected[sample.rows]
    values, place = np.unique(f, return_inverse=True)
    means = np.bincount(place, sample.y) / np.bincount(place)
    is_exact = bool((np.abs(means - values) <= 1e-9 * (1 + np.abs(values))).all())
    if is_exact and (f != sample.y).any() and (values % 1 != 0).sum() >= 2:
        warn(
            "Each value of `expected` is exactly the mean label of its rows. If the "
            "model was recalibrated on these labels, the interval is not valid. Use "
            "cross-validation to recalibrate the model, or pass its expected counts "
            "before the recalibration."
        )


def number_is_wrong(sample: Sample) -> bool:
    """Warn if the number of labels differs from the sum of the probabilities."""
    pi, drawn = sample.probability, np.zeros(sample.n_documents)
    drawn[sample.rows] = 1
    if sample.groups is not None:
        first = np.unique(sample.groups, return_index=True)[1]
        pi, drawn = pi[first], drawn[first]
    expected, n = float(pi.sum()), int(drawn.sum())
    # The number varies most if documents are drawn independently.
    is_wrong = abs(n - expected) > max(1.0, 4 * np.sqrt(float(pi @ (1 - pi))))
    if is_wrong:
        warn(
            "The inclusion probabilities of the documents (or groups) add up to "
            f"{expected:.1f}, but {n} were drawn. Pass the probability with which each "
            "document of the corpus was drawn, including documents without a label."
        )
    return is_wrong


def warn_of_the_errors(total: Total, sample: Sample, method: str) -> None:
    """Warn if the labels do not determine the variance of the errors well."""
    if method == "t" and total.n_errors < _ENOUGH_ERRORS and total.standard_error >= 0:
        warn(
            f"The labels show {total.n_errors:.1f} errors of one unit. With fewer than "
            f"{_ENOUGH_ERRORS:g} errors, method='t' gives intervals that are too "
            "narrow. Use method='score'."
        )
    # For skewed counts, this share is the best sign that one document has a tenth of
    # the variance in the corpus. Normal errors hardly ever exceed the limit.
    n = len(sample.rows)
    if n == sample.n_documents or not np.isinf(sample.high).any():
        return
    if total.largest_share > max(0.1, 4 * np.log(n) / n):
        warn(
            f"One labelled document has {100 * total.largest_share:.0f}% of the "
            "estimated variance. With such errors, 95% intervals contain the count in "
            "85 to 95% of samples. Label more documents, or draw large documents with "
            "larger probabilities (see choose_documents)."
        )
    elif total.largest_unlabelled > max(_LARGE_SHARE, 4 / sample.n_documents):
        warn(
            f"One document without a label may have "
            f"{100 * total.largest_unlabelled:.0f}% of the variance, because its "
            "value of `expected` is much larger than in other documents. With such "
            "documents, 95% intervals contain the count in 88 to 95% of samples. Draw "
            "large documents with larger probabilities (see choose_documents)."
        )


def warn_of_empty_domains(names: Sequence[str], n_domains: int) -> None:
    """Warn once about all domains without a label."""
    if names:
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        warn(
            f"{len(names)} of {n_domains} rows of the table have no labelled document: "
            f"{shown}. Their estimates use the mean error of the whole corpus, and "
            "they have no interval (NaN)."
        )
