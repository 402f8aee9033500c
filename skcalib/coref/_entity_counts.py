"""Coverage of intervals for the number of entities of a document."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._clusterings import LabelArrays, as_clusterings
from .._errors import ParameterError, public
from .._results import Result, plain
from .._validation import check_fraction, weights_or_ones
from ..posteriors import AntecedentPosterior
from ..queries._query import check_posterior


@dataclass(frozen=True, repr=False, eq=False)
class EntityCountCoverage(Result):
    """Numbers of entities and coverage of their intervals.

    Attributes
    ----------
    coverage : float
        Fraction of documents whose interval contains the true number of entities.
    expected_coverage : float
        Mean probability of the intervals under the model. It is at least
        `confidence_level` and usually larger, because counts are integers.
    standard_error : float
        Standard error of `coverage` if the model is correct.
    n_true : ndarray of shape (n_documents,), int
        True number of entities.
    mean : ndarray of shape (n_documents,)
        Expected number of entities.
    low, high : ndarray of shape (n_documents,), int
        Ends of each interval. Both ends are included in the interval.
    proba : ndarray of shape (n_documents,)
        Probability of each interval under the model.
    pit : ndarray of shape (n_documents,)
        Probability integral transform of the true number: the probability of a smaller
        number plus half the probability of the true number. If the model is correct,
        the mean of this array is about 1/2. The mean is smaller if there are fewer
        entities than the model expects.
    confidence_level : float
        Confidence level of the intervals.

    See Also
    --------
    entity_count_coverage : Function that returns this result.

    Examples
    --------
    >>> from skcalib.experimental import entity_count_coverage
    >>> from skcalib.posteriors import AntecedentPosterior
    >>> posterior = AntecedentPosterior([[[0, 0, 0], [0, 0, 0], [0, 0, 0]]])
    >>> found = entity_count_coverage([[0, 0, 1]], posterior, confidence_level=0.5)
    >>> found.low, found.n_true, found.high
    (array([1]), array([2]), array([2]))
    """

    coverage: float
    expected_coverage: float
    standard_error: float
    n_true: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    proba: np.ndarray
    pit: np.ndarray
    confidence_level: float

    def _columns(self) -> dict[str, np.ndarray]:
        names = ("n_true", "mean", "low", "high", "proba", "pit")
        return {name: getattr(self, name) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as a dict, with arrays converted to lists."""
        return {each.name: plain(getattr(self, each.name)) for each in fields(self)}

    def _in_words(self) -> tuple[str, ...]:
        excess = self.coverage - self.expected_coverage
        return (
            f"{self.coverage:.1%} of the intervals contain the true number of "
            f"entities. {self.expected_coverage:.1%} are expected if the model is "
            f"correct, with a standard error of {self.standard_error:.1%}.",
            "The difference is "
            + ("more" if abs(excess) > 2 * self.standard_error else "no more")
            + " than two standard errors.",
        )

    def __repr__(self) -> str:
        return (
            f"EntityCountCoverage(coverage={self.coverage:.3f}, "
            f"expected_coverage={self.expected_coverage:.3f}, "
            f"standard_error={self.standard_error:.3f}, "
            f"n_documents={self.n_true.size}, "
            f"confidence_level={self.confidence_level:g})"
        )


@public
def entity_count_coverage(
    y_true: LabelArrays,
    posterior: AntecedentPosterior,
    *,
    confidence_level: float = 0.95,
    sample_weight: ArrayLike | None = None,
) -> EntityCountCoverage:
    """Compute how often intervals contain the true number of entities.

    Parameters
    ----------
    y_true : sequence of array-like of shape (n_i,)
        True labels of the mentions of each document. Mentions of one entity have equal
        labels.
    posterior : AntecedentPosterior
        Posterior over the clusterings of the same documents.
    confidence_level : float, default=0.95
        Confidence level of the intervals. Their ends are the quantiles
        (1 - level) / 2 and (1 + level) / 2.
    sample_weight : array-like of shape (n_documents,), default=None
        Weight of each document, interpreted as a frequency.

    Returns
    -------
    coverage : EntityCountCoverage
        Fraction of intervals that contain the true number, the standard error of this
        fraction, and the interval of each document.

    Raises
    ------
    ValueError
        If there is no document, or if a document does not have one label per mention.
        The message names the document.

    See Also
    --------
    skcalib.posteriors.AntecedentPosterior.n_entities_pmf : Distribution of the number
        of entities.
    skcalib.queries.CorefPairQuery : Calibration of pairs of mentions.

    Notes
    -----
    Under the model, whether a mention starts a new entity does not depend on the other
    mentions, so the number of entities has a Poisson-binomial distribution. A model
    that is calibrated on pairs of mentions can still be wrong about counts, because
    small errors add up over a document.

    Examples
    --------
    The first posterior uses the scores that generated the documents. In the second, the
    scores of NEW are too high:

    >>> import numpy as np
    >>> from skcalib.experimental import entity_count_coverage
    >>> from skcalib.datasets import make_coref_documents
    >>> from skcalib.posteriors import AntecedentPosterior
    >>> _, y, scores = make_coref_documents(300, return_scores=True, random_state=0)
    >>> posterior = AntecedentPosterior(scores)
    >>> entity_count_coverage(y, posterior)
    EntityCountCoverage(coverage=0.973, expected_coverage=0.976, standard_error=0.009,
    n_documents=300, confidence_level=0.95)
    >>> biased = entity_count_coverage(y, posterior.tempered(1, 1))
    >>> round(biased.coverage, 2), round(float(biased.pit.mean()), 2)
    (0.71, 0.14)
    """
    level = check_fraction(confidence_level, name="confidence_level")
    is_one = isinstance(posterior, AntecedentPosterior)
    check_posterior(posterior, "an AntecedentPosterior", is_one)
    n = len(posterior)
    labels = as_clusterings(y_true, posterior.lengths.tolist(), "y_true")
    if n == 0:
        raise ParameterError(None, "needs at least one document. Got none.")
    weight = weights_or_ones(sample_weight, n)
    n_true = np.array([np.unique(each).size for each in labels])
    rows = [
        _of_document(pmf, k, level)
        for pmf, k in zip(posterior.n_entities_pmf(), n_true.tolist(), strict=True)
    ]
    mean, low, high, proba, pit = map(np.array, zip(*rows, strict=True))
    total = weight.sum()
    return EntityCountCoverage(
        coverage=float(weight @ ((low <= n_true) & (n_true <= high)) / total),
        expected_coverage=float(weight @ proba / total),
        standard_error=float(np.sqrt(weight @ (proba * (1 - proba))) / total),
        n_true=n_true,
        mean=mean,
        low=low,
        high=high,
        proba=proba,
        pit=pit,
        confidence_level=level,
    )


def _of_document(
    pmf: np.ndarray, k: int, level: float
) -> tuple[float, int, int, float, float]:
    """Return the mean, the ends and probability of the interval, and the pit of k."""
    cdf = np.minimum(np.cumsum(pmf), 1)
    cdf[-1] = 1
    low, high = np.searchsorted(cdf, [(1 - level) / 2, (1 + level) / 2]).tolist()
    below = float(cdf[k - 1]) if k else 0.0
    mean = float(np.arange(pmf.size) @ pmf)
    return mean, low, high, min(float(pmf[low : high + 1].sum()), 1), below + pmf[k] / 2
