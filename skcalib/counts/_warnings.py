"""Warnings about samples that do not look as their design says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from .._warn import warn
from ._sample import Sample
from ._totals import Total

# Standard errors by which a sample may differ from the corpus. One random sample in a
# thousand differs by more.
_MOST_DEVIATION = 3.3

# From this share of one document, intervals contain the count in fewer samples.
_LARGE_SHARE = 0.08

# Errors that the labels must show before Student's t interval can be trusted.
_ENOUGH_ERRORS = 4.0


def deviation(sample: Sample, values: np.ndarray) -> float:
    """Return by how many standard errors the sample misses the corpus in `values`.

    Values are replaced by ranks, whose means are close to normal in small samples. The
    variance is that of the design: ranks are known for the whole corpus.
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
    """Warn if labelled documents differ from the corpus as no random sample would.

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
            "The model is surer of the labelled documents than of the others, by "
            f"{-by_doubt:.1f} standard errors. If it was fitted on their labels, the "
            "interval is not valid. Predict them out of fold, or label other "
            "documents."
        )
    elif by_doubt > _MOST_DEVIATION:
        warn(
            f"The labelled documents do not look like a sample drawn with {design}: "
            f"the model is in doubt about them, by {by_doubt:.1f} standard errors more "
            "than about the corpus. If they were chosen by its doubt, pass the "
            "probabilities with which they were drawn as `inclusion_probability`."
        )


def warn_of_recalibration(sample: Sample) -> None:
    """Warn if expectations are the mean labels of the rows that share them.

    Isotonic regression on the labelled documents gives such expectations.
    """
    f = sample.expected[sample.rows]
    values, place = np.unique(f, return_inverse=True)
    means = np.bincount(place, sample.y) / np.bincount(place)
    is_exact = bool((np.abs(means - values) <= 1e-9 * (1 + np.abs(values))).all())
    if is_exact and (f != sample.y).any() and (values % 1 != 0).sum() >= 2:
        warn(
            "At each value of `expected`, the labels have exactly this mean. If the "
            "model was recalibrated on these labels, the interval is not valid. "
            "Recalibrate it in folds, or pass its expectations as they were before."
        )


def number_is_wrong(sample: Sample) -> bool:
    """Warn if the number of labels is not what the probabilities add up to."""
    pi, drawn = sample.probability, np.zeros(sample.n_documents)
    drawn[sample.rows] = 1
    if sample.groups is not None:
        first = np.unique(sample.groups, return_index=True)[1]
        pi, drawn = pi[first], drawn[first]
    expected, n = float(pi.sum()), int(drawn.sum())
    # Independent draws vary most.
    is_wrong = abs(n - expected) > max(1.0, 4 * np.sqrt(float(pi @ (1 - pi))))
    if is_wrong:
        warn(
            f"The inclusion probabilities add up to {expected:.1f}, but {n} were "
            "drawn. They must be the probabilities with which documents were "
            "drawn, for the labelled and for the other documents."
        )
    return is_wrong


def warn_of_the_errors(total: Total, sample: Sample, method: str) -> None:
    """Warn if the labels tell too little of the errors for the method."""
    if method == "t" and total.n_errors < _ENOUGH_ERRORS and total.standard_error >= 0:
        warn(
            f"The labels show {total.n_errors:.1f} errors of one unit. From fewer than "
            f"{_ENOUGH_ERRORS:g} errors, method='t' gives intervals that are too "
            "narrow. Use method='score'."
        )
    # With skewed counts, this share tells best whether one document has a tenth
    # of the variance in the corpus. Normal errors hardly ever reach it.
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
            "`expected` is much larger than that of other documents. With such "
            "documents, 95% intervals contain the count in 88 to 95% of samples. Draw "
            "large documents with larger probabilities (see choose_documents)."
        )


def warn_of_empty_domains(names: Sequence[str], n_domains: int) -> None:
    """Warn of domains without a label, all in one warning."""
    if names:
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        warn(
            f"{len(names)} of {n_domains} rows of the table have no labelled document: "
            f"{shown}. Their estimate takes the mean error of the whole corpus, and "
            "they have no interval (NaN)."
        )
