"""Posterior predictive checks: a statistic of observed and of sampled structures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, ParameterTypeError, public
from .._results import Result, p_text, plain
from .._validation import (
    as_label_list,
    as_label_lists,
    check_fraction,
    is_sequence,
    label_array,
)

# Maps a structure, an array of labels, to a number.
Statistic = Callable[[np.ndarray], float]


@dataclass(frozen=True, repr=False, eq=False)
class PredictiveCheck(Result):
    """Result of a posterior predictive check.

    Returned by :func:`posterior_predictive_check`. Arrays have one entry per sequence
    or document.

    Attributes
    ----------
    pvalue : float
        Two-sided p-value of the hypothesis that the total of the statistic comes from
        the posterior.
    spread_pvalue : float
        Two-sided p-value of the hypothesis that the deviations of the statistic from
        its mean are as large as the posterior predicts.
    coverage : float
        Fraction of documents whose interval contains the observed value.
    expected_coverage : float
        Mean probability of the intervals under the model. It is larger than
        `confidence_level` if the statistic is discrete.
    standard_error : float
        Standard error of `coverage` if the model is correct.
    observed : ndarray of shape (n_documents,)
        Statistic of the observed structure.
    mean : ndarray of shape (n_documents,)
        Mean of the statistic over the samples.
    standard_deviation : ndarray of shape (n_documents,)
        Standard deviation of the statistic over the samples.
    low, high : ndarray of shape (n_documents,)
        Ends of the interval. Both ends belong to the interval.
    proba : ndarray of shape (n_documents,)
        Fraction of the samples in the interval.
    pit : ndarray of shape (n_documents,)
        Probability integral transform: the fraction of samples below the observed
        value, plus half the fraction of samples equal to it. If the model is correct,
        the mean is 1/2.
    confidence_level : float
        Confidence level of the intervals.
    n_samples : int
        Number of samples per document.

    See Also
    --------
    posterior_predictive_check : Function that returns this result.
    skcalib.experimental.PredictiveCheckDisplay : Draw the values and their intervals.

    Examples
    --------
    >>> from skcalib.experimental import posterior_predictive_check
    >>> samples = [[[0, 0], [0, 1], [1, 1]], [[0, 1], [1, 1], [0, 0]]]
    >>> found = posterior_predictive_check([[1, 1], [0, 0]], samples, sum)
    >>> found.observed, found.pit.round(2)
    (array([2., 0.]), array([0.83, 0.17]))
    """

    pvalue: float
    spread_pvalue: float
    coverage: float
    expected_coverage: float
    standard_error: float
    observed: np.ndarray
    mean: np.ndarray
    standard_deviation: np.ndarray
    low: np.ndarray
    high: np.ndarray
    proba: np.ndarray
    pit: np.ndarray
    confidence_level: float
    n_samples: int

    def _columns(self) -> dict[str, np.ndarray]:
        names = ("observed", "mean", "standard_deviation", "low", "high", "proba")
        return {name: getattr(self, name) for name in (*names, "pit")}

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as a dict, with arrays as lists."""
        return {f.name: plain(getattr(self, f.name)) for f in fields(self)}

    def _in_words(self) -> tuple[str, ...]:
        return (
            f"The total is {self.observed.sum():.6g}. The posterior expects "
            f"{self.mean.sum():.6g} ({p_text(self.pvalue, before='p = ')}).",
            f"{self.coverage:.1%} of the intervals contain the observed value. A "
            f"correct model would have {self.expected_coverage:.1%}, with a standard "
            f"error of {self.standard_error:.1%} "
            f"({p_text(self.spread_pvalue, before='p of the spread = ')}).",
        )

    def __repr__(self) -> str:
        return (
            f"PredictiveCheck(observed={self.observed.sum():.6g}, "
            f"expected={self.mean.sum():.6g}, {p_text(self.pvalue, before='pvalue=')}, "
            f"{p_text(self.spread_pvalue, before='spread_pvalue=')}, "
            f"coverage={self.coverage:.3f}, "
            f"expected_coverage={self.expected_coverage:.3f}, "
            f"n_documents={self.observed.size}, n_samples={self.n_samples}, "
            f"confidence_level={self.confidence_level:g})"
        )


@public
def posterior_predictive_check(
    y_true: Sequence[ArrayLike],
    samples: Sequence[ArrayLike],
    statistic: Statistic,
    *,
    classes: Sequence[Any] | None = None,
    confidence_level: float = 0.95,
) -> PredictiveCheck:
    """Compare a statistic of observed structures with samples from a posterior.

    Parameters
    ----------
    y_true : sequence of array-like of shape (n_i,)
        Observed labels of each sequence or document.
    samples : sequence of array-like of shape (n_samples, n_i)
        Samples of the same sequences, as returned by the method `sample` of
        :class:`LinearChainPosterior` or :class:`AntecedentPosterior`.
    statistic : callable
        Function that maps the labels of one sequence, an array of shape (n_i,), to a
        number. For clusterings, it must not depend on the labels of the clusters.
    classes : sequence of labels, default=None
        Labels in the order of the indices in `samples`, such as the ``classes_`` of a
        tagger. If None, `samples` contain labels.
    confidence_level : float, default=0.95
        Confidence level of the intervals. Their ends are the quantiles (1 - level) / 2
        and (1 + level) / 2 of the samples.

    Returns
    -------
    check : PredictiveCheck
        Values of the statistic, their intervals and p-values.

    Raises
    ------
    ValueError
        If there is no sequence, if the sequences do not have the same number of samples
        (at least two), if shapes do not agree, or if a statistic is not a finite
        number. The message names the sequence.

    See Also
    --------
    skcalib.experimental.entity_count_coverage : The exact distribution of the number of
        entities.
    skcalib.experimental.PredictiveCheckDisplay : Draw the result.

    Notes
    -----
    Posterior predictive checks [1]_ compare data generated by a model with observed
    data. The check assumes that the posterior was not fitted to `y_true`, and that
    documents are independent. If the model is correct, the observed structures and the
    n samples are then exchangeable, and both p-values are exact. The p-value of one
    tail is (k + 1) / (n + 1), where k is the number of samples that are at least as
    extreme as the observation. The two-sided p-value is twice the smaller of the two
    one-sided p-values, and at most 1.

    `pvalue` tests the sum of the statistic over documents. `spread_pvalue` tests the
    average over documents of (value - mean)^2 / variance. The mean and the variance of
    a document are computed from its samples and its observed value together.
    `spread_pvalue` is small if the values vary more, or less, than the model predicts.

    Rubin's posterior quantiles [2]_ extend calibration to a continuous prediction. If
    the model is correct, the truth is below the quantile of the samples at level a with
    probability a. The events ``pit <= a`` and the probabilities a are therefore pairs
    for :func:`~skcalib.metrics.calibration_error_interval`. With n samples, their
    probability is exactly a if (n + 1) a is a whole number.

    References
    ----------
    .. [1] A. Gelman, J. Carlin, H. Stern, D. Dunson, A. Vehtari and D. Rubin (2013).
       "Bayesian data analysis". Chapman and Hall, third edition. Chapter 6.
    .. [2] S. Cook, A. Gelman and D. Rubin (2006). "Validation of software for Bayesian
       models using posterior quantiles". Journal of Computational and Graphical
       Statistics 15(3). Named in chapter 2 of the thesis of K. Nguyen, "Calibration for
       natural language processing systems".

    Examples
    --------
    Check the number of entities with one mention, first for the scores that generated
    the documents, and then for scores of NEW that are too high:

    >>> import numpy as np
    >>> from skcalib.datasets import make_coref_documents
    >>> from skcalib.experimental import posterior_predictive_check
    >>> from skcalib.posteriors import AntecedentPosterior
    >>> _, y, scores = make_coref_documents(100, return_scores=True, random_state=0)
    >>> def n_singletons(labels):
    ...     return (np.unique(labels, return_counts=True)[1] == 1).sum()
    >>> for posterior in (
    ...     AntecedentPosterior(scores),
    ...     AntecedentPosterior(scores).tempered(1, 1),
    ... ):
    ...     samples = posterior.sample(200, random_state=0)
    ...     print(posterior_predictive_check(y, samples, n_singletons))
    PredictiveCheck(observed=648, expected=641.97, pvalue=0.816, spread_pvalue=0.637,
    coverage=0.980, expected_coverage=0.974, n_documents=100, n_samples=200,
    confidence_level=0.95)
    PredictiveCheck(observed=648, expected=963.675, pvalue=0.00995,
    spread_pvalue=0.00995, coverage=0.750, expected_coverage=0.974, n_documents=100,
    n_samples=200, confidence_level=0.95)

    Samples of taggings contain indices of tags. Pass the tags as `classes`:

    >>> from skcalib import CRFTagger
    >>> from skcalib.datasets import make_tagged_sentences
    >>> X, y = make_tagged_sentences(300, random_state=0)
    >>> tagger = CRFTagger(c2=0.01).fit(X[:200], y[:200])
    >>> samples = tagger.posterior(X[200:]).sample(200, random_state=0)
    >>> def n_determiners(tags):
    ...     return (tags == "DT").sum()
    >>> check = posterior_predictive_check(
    ...     y[200:], samples, n_determiners, classes=tagger.classes_
    ... )
    >>> print(check.observed.sum(), round(check.mean.sum()), check.pvalue > 0.05)
    179.0 185 True

    A continuous prediction is a sequence with one number. These samples have half the
    standard deviation of the truth. 21% of the true values are below the 5% quantile:

    >>> rng = np.random.default_rng(0)
    >>> center = rng.normal(size=(500, 1, 1))
    >>> truth = rng.normal(center[:, 0], 1.0)  # (500, 1)
    >>> samples = rng.normal(center, 0.5, size=(500, 199, 1))
    >>> check = posterior_predictive_check(truth, samples, np.sum)
    >>> levels = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
    >>> below = check.pit[:, np.newaxis] <= levels
    >>> below.mean(axis=0).round(2)
    array([0.21, 0.37, 0.54, 0.68, 0.84])
    """
    level = check_fraction(confidence_level, name="confidence_level")
    if not callable(statistic):
        raise ParameterTypeError(
            "statistic", f"must be a callable. Got {type(statistic).__name__}."
        )
    names = None
    if classes is not None:
        names = label_array(as_label_list(classes, name="classes"))
    table = np.array(
        [
            [_value(statistic, structure, i) for structure in structures]
            for i, structures in enumerate(_structures(y_true, samples, names))
        ]
    )
    return _check_of(table[:, 0], table[:, 1:], level)


def _structures(
    y_true: Any, samples: Any, classes: np.ndarray | None
) -> Iterator[list[np.ndarray]]:
    """Yield the observed structure and the sampled structures of each document."""
    if not is_sequence(samples):
        raise ParameterTypeError(
            "samples",
            "must be a sequence with the samples of each sequence. Got "
            f"{type(samples).__name__}: pass the result of its method 'sample'.",
        )
    y_true = as_label_lists(y_true, name="y_true", entry="sequence", item="label")
    if len(y_true) != len(samples) or not len(samples):
        raise ParameterError(
            "samples",
            "must have one entry per sequence, and at least one entry. Got "
            f"{len(samples)}, and {len(y_true)} in y_true.",
        )
    n_samples = None
    for i, (observed, drawn) in enumerate(zip(y_true, samples, strict=True)):
        structure, matrix = label_array(observed), np.asarray(drawn)
        n_samples = len(matrix) if n_samples is None and matrix.ndim else n_samples
        if matrix.shape != (n_samples, structure.size) or len(matrix) < 2:
            raise ParameterError(
                "samples",
                "must have shape (n_samples, n_labels) for each sequence, where "
                "n_samples is the same for all sequences and at least 2. Got shape "
                f"{matrix.shape} for sequence {i}, which "
                f"has {structure.size} labels in y_true"
                + ("." if not i else f", and {n_samples} samples for sequence 0."),
            )
        if classes is not None:
            matrix = _named(matrix, classes, i)
        yield [structure, *matrix]


def _named(matrix: np.ndarray, classes: np.ndarray, i: int) -> np.ndarray:
    """Return the labels with the given indices."""
    if matrix.dtype.kind not in "iu" or (
        matrix.size and not 0 <= matrix.min() <= matrix.max() < classes.size
    ):
        raise ParameterError(
            "samples",
            f"must contain indices from 0 to {classes.size - 1} if 'classes' is given. "
            f"Got {matrix.dtype} from {matrix.min()} to {matrix.max()} for sequence {i}"
            ". Leave out 'classes' if the samples contain labels.",
        )
    return np.asarray(classes[matrix])


def _value(statistic: Statistic, structure: np.ndarray, i: int) -> float:
    """Return the statistic of a structure of sequence i."""
    found = statistic(structure)
    if np.ndim(found) or not np.isreal(found) or not np.isfinite(found):
        raise ParameterError(
            "statistic",
            f"must return a finite number. Got {found!r:.50} for sequence {i}.",
        )
    return float(found)


def _check_of(observed: np.ndarray, drawn: np.ndarray, level: float) -> PredictiveCheck:
    """Return the check of observed values (n,) and sampled values (n, n_samples)."""
    ends = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(drawn, ends, axis=1, method="inverted_cdf")
    inside = (low[:, np.newaxis] <= drawn) & (drawn <= high[:, np.newaxis])
    proba = inside.mean(axis=1)
    below = (drawn < observed[:, np.newaxis]).mean(axis=1)
    equal = (drawn == observed[:, np.newaxis]).mean(axis=1)
    pooled = np.column_stack([observed, drawn])
    return PredictiveCheck(
        pvalue=_two_sided(pooled.sum(axis=0)),
        spread_pvalue=_two_sided(_mean_square(pooled)),
        coverage=float(((low <= observed) & (observed <= high)).mean()),
        expected_coverage=float(proba.mean()),
        standard_error=float(np.sqrt((proba * (1 - proba)).sum()) / proba.size),
        observed=observed,
        mean=drawn.mean(axis=1),
        standard_deviation=drawn.std(axis=1, ddof=1),
        low=low,
        high=high,
        proba=proba,
        pit=below + equal / 2,
        confidence_level=level,
        n_samples=drawn.shape[1],
    )


def _mean_square(pooled: np.ndarray) -> np.ndarray:
    """Return the mean square of the standardised rows, for each column."""
    deviation = pooled - pooled.mean(axis=1, keepdims=True)
    variance = (deviation**2).mean(axis=1, keepdims=True)
    varies = variance[:, 0] > 0
    if not varies.any():
        return np.zeros(pooled.shape[1])
    return (deviation[varies] ** 2 / variance[varies]).mean(axis=0)


def _two_sided(values: np.ndarray) -> float:
    """Return the p-value of the first of several exchangeable values, counting ties."""
    # equal sums may differ by rounding
    margin = 1e-9 * np.abs(values).max(initial=0.0)
    tails = (values[0] <= values + margin).sum(), (values[0] >= values - margin).sum()
    return float(min(1.0, 2 * min(tails) / values.size))
