"""Whether the numbers of entities are where their distribution says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._results import TableRepr, as_frame
from .._validation import check_fraction
from ..metrics._pairs import as_weights
from ..posteriors import AntecedentPosterior
from ..posteriors._antecedent_checks import as_clustering
from ..posteriors._checks import check_entries


@dataclass(frozen=True, repr=False, eq=False)
class EntityCountCoverage(TableRepr):
    """Numbers of entities, their intervals, and how many of these hold the truth.

    Attributes
    ----------
    coverage : float
        Share of documents whose true number of entities is in its interval.
    expected_coverage : float
        Mean probability that the model gives to the intervals. Counts are whole
        numbers, so it is a little more than `confidence_level`.
    standard_error : float
        Of `coverage`, if the model is right.
    n_true : ndarray of shape (n_documents,), int
        True number of entities.
    mean : ndarray of shape (n_documents,)
        Expected number.
    low, high : ndarray of shape (n_documents,), int
        Ends of the interval, both within it.
    proba : ndarray of shape (n_documents,)
        Probability of the interval.
    pit : ndarray of shape (n_documents,)
        Probability of a smaller number than the true one, and half of that of the same.
        If the model is right the mean is 1/2: it is less where there are fewer entities
        than the model expects.
    confidence_level : float
        Level of the intervals.

    See Also
    --------
    entity_count_coverage : Makes it.

    Examples
    --------
    >>> from skcalib.coref import entity_count_coverage
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
        """Return the numbers, arrays as lists."""
        return {
            "coverage": self.coverage,
            "expected_coverage": self.expected_coverage,
            "standard_error": self.standard_error,
            **{name: array.tolist() for name, array in self._columns().items()},
            "confidence_level": self.confidence_level,
        }

    def frame(self) -> Any:
        """Return a pandas DataFrame with a row for each document.

        Returns
        -------
        frame : DataFrame
            Columns are the attributes that have an entry for each document.
        """
        return as_frame(self._columns(), caller="EntityCountCoverage.frame")

    def __repr__(self) -> str:
        return (
            f"EntityCountCoverage(coverage={self.coverage:.3f}, "
            f"expected_coverage={self.expected_coverage:.3f}, "
            f"standard_error={self.standard_error:.3f}, "
            f"n_documents={self.n_true.size}, "
            f"confidence_level={self.confidence_level:g})"
        )


def entity_count_coverage(
    y_true: Any,
    posterior: AntecedentPosterior,
    *,
    confidence_level: float = 0.95,
    sample_weight: Any = None,
) -> EntityCountCoverage:
    """Compare the numbers of entities with their exact distribution.

    Parameters
    ----------
    y_true : sequence of array-like of shape (n_i,)
        True labels of the mentions of each document: equal ones are one entity.
    posterior : AntecedentPosterior
        Posterior over the clusterings of the same documents.
    confidence_level : float, default=0.95
        Level of the intervals, from the quantile (1 - level) / 2 to (1 + level) / 2.
    sample_weight : array-like of shape (n_documents,), default=None
        Weight of each document, a frequency.

    Returns
    -------
    coverage : EntityCountCoverage
        The share of intervals that hold the truth, with its standard error, and the
        numbers of each document.

    See Also
    --------
    skcalib.posteriors.AntecedentPosterior.n_entities_pmf : The distribution.
    skcalib.queries.CorefPairQuery : Calibration of pairs of mentions.

    Notes
    -----
    Whether a mention is new does not depend on the others, so the number of entities
    has a Poisson-binomial distribution. A model may be calibrated on pairs and still
    miss the counts, whose spread is small: their errors add up over a document.

    Examples
    --------
    The scores that the documents were drawn by, and scores that are too high for NEW:

    >>> import numpy as np
    >>> from skcalib.coref import entity_count_coverage
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
    caller = "entity_count_coverage"
    level = check_fraction(confidence_level, name="confidence_level", caller=caller)
    if not isinstance(posterior, AntecedentPosterior):
        raise TypeError(
            f"The 'posterior' parameter of {caller} must be an AntecedentPosterior. "
            f"Got {type(posterior).__name__}."
        )
    n = len(posterior)
    check_entries(y_true, n, "document", "y_true", caller)
    if n == 0:
        raise ValueError(f"{caller} needs a document. Got none.")
    given = as_weights(sample_weight, n, caller=caller)
    weight = np.ones(n) if given is None else given
    n_true = np.array(
        [
            np.unique(as_clustering(each, size, i, caller, "y_true")).size
            for i, (each, size) in enumerate(
                zip(y_true, posterior.lengths.tolist(), strict=True)
            )
        ]
    )
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
    """Return the mean, the interval, its probability, and the place of k."""
    cdf = np.minimum(np.cumsum(pmf), 1)
    cdf[-1] = 1
    low, high = np.searchsorted(cdf, [(1 - level) / 2, (1 + level) / 2]).tolist()
    below = float(cdf[k - 1]) if k else 0.0
    mean = float(np.arange(pmf.size) @ pmf)
    return mean, low, high, min(float(pmf[low : high + 1].sum()), 1), below + pmf[k] / 2
