"""Questions whether two mentions are one entity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform

from .._validation import check_real, is_sequence
from ..metrics._pairs import as_probabilities, out_of_range
from ..posteriors._antecedent_checks import as_clusterings
from ._answers import Answers, last_step, transform_before
from ._sentences import as_numbers


@dataclass(frozen=True)
class CorefPairQuery:
    """Ask a coreference model whether two mentions are the same entity.

    Parameters
    ----------
    min_proba : float, default=None
        Ask only for pairs that the model gives this probability or more. None: all
        pairs of a document.

    See Also
    --------
    skcalib.coref.SampledCorefPairs : Probabilities of pairs, sampled or exact.
    skcalib.posteriors.AntecedentPosterior : Probabilities of whole entities.
    skcalib.scorers.make_query_scorer : A scorer from a query and a metric.

    Notes
    -----
    Most pairs of a document are not coreferent and have a probability near 0. Over all
    pairs a low error is mostly this base rate; `min_proba` (0.02, say) shows the
    rest. Choosing pairs by their probability is allowed: that a share q of the pairs
    with probability q is coreferent is said of each q by itself, so it holds, or not,
    of the pairs that are left. Choosing by what is true (pairs that are coreferent or
    were predicted so) is not: among those, even right probabilities look too low.

    In the answers `groups` is the document, `item` the place of the pair in the
    document's condensed vector, whose order is (0, 1), (0, 2), ..., (1, 2), ..., and
    `label` is 1 throughout: there is one question. A document of fewer than two
    mentions has no pair. The answers take 40 bytes a pair.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
       analysis for natural language processing models". EMNLP. Section 5.

    Examples
    --------
    Of any model, a vector with the probabilities of each document's pairs is enough:

    >>> from skcalib.queries import CorefPairQuery
    >>> entities = [["Ada", "Ada", "Bo"], [0, 1]]
    >>> proba = [[0.9, 0.2, 0.3], [0.01]]
    >>> answers = CorefPairQuery().from_proba(entities, proba)
    >>> answers.y_true, answers.y_proba
    (array([1, 0, 0, 0]), array([0.9 , 0.2 , 0.3 , 0.01]))
    >>> answers.groups, answers.item
    (array([0, 0, 0, 1]), array([0, 1, 2, 0]))
    >>> CorefPairQuery(min_proba=0.25).from_proba(entities, proba).item
    array([0, 2])
    """

    min_proba: float | None = None

    def __post_init__(self) -> None:
        if self.min_proba is not None:
            check_real(
                self.min_proba, low=0, high=1, name="min_proba", caller="CorefPairQuery"
            )

    def __call__(self, estimator: Any, X: Any, y: Any) -> Answers:
        """Ask a fitted coreference model.

        Parameters
        ----------
        estimator : fitted estimator with predict_proba or posterior
            AntecedentRanker or SampledCorefPairs, or a pipeline or search object that
            ends in one. Of SampledCorefPairs the probabilities are those that its
            `method` gives.
        X : sequence
            What the estimator takes, an entry for each document.
        y : sequence of array-like of shape (n_mentions,)
            Labels of the mentions of each document: equal ones are one entity.

        Returns
        -------
        answers : Answers
        """
        if hasattr(estimator, "predict_proba"):
            return self.from_proba(y, estimator.predict_proba(X))
        final = last_step(estimator)
        if hasattr(final, "posterior"):
            return self.from_posterior(
                y, final.posterior(transform_before(estimator, X))
            )
        raise ValueError(
            "The 'estimator' parameter of CorefPairQuery must have predict_proba or a "
            f"posterior. Got {type(final).__name__}; scores of antecedents from "
            "anywhere go into SampledCorefPairs or AntecedentPosterior."
        )

    def from_posterior(
        self, y_true: Any, posterior: Any, classes: Any = None
    ) -> Answers:
        """Ask a posterior over clusterings, for exact probabilities.

        Parameters
        ----------
        y_true : sequence of array-like of shape (n_mentions,)
            Labels of the mentions of each document.
        posterior : AntecedentPosterior
            Over the clusterings of the same documents.
        classes : None
            Ignored; other queries have it.

        Returns
        -------
        answers : Answers
        """
        caller = "CorefPairQuery.from_posterior"
        if not hasattr(posterior, "pair_marginals") or hasattr(posterior, "n_tags"):
            raise TypeError(
                f"The 'posterior' parameter of {caller} must be an "
                f"AntecedentPosterior. Got {type(posterior).__name__}."
            )
        proba = [condensed(pairs) for pairs in posterior.pair_marginals()]
        return self._ask(y_true, proba, posterior.lengths.tolist(), caller)

    def from_proba(self, y_true: Any, proba: Any, classes: Any = None) -> Answers:
        """Ask probabilities from anywhere, of a neural model say.

        Parameters
        ----------
        y_true : sequence of array-like of shape (n_mentions,)
            Labels of the mentions of each document: equal ones are one entity.
        proba : sequence of array-like of shape (n_mentions * (n_mentions - 1) / 2,)
            Probabilities of the pairs (0, 1), (0, 2), ..., (1, 2), ... of each
            document, as scipy.spatial.distance.squareform makes them of a symmetric
            matrix.
        classes : None
            Ignored; other queries have it.

        Returns
        -------
        answers : Answers
        """
        return self._ask(y_true, proba, None, "CorefPairQuery.from_proba")

    def _ask(
        self, y_true: Any, proba: Any, lengths: list[int] | None, caller: str
    ) -> Answers:
        _check_documents(y_true, proba, caller)
        truth = true_pairs(y_true, lengths, "y_true", caller)
        parts = [
            _vector(part, pairs.size, i, caller)
            for i, (part, pairs) in enumerate(zip(proba, truth, strict=True))
        ]
        sizes = np.array([part.size for part in parts], dtype=np.intp)
        q = np.concatenate(parts) if parts else np.zeros(0)
        if q.size:
            _check_range(q, sizes, caller)
            q = as_probabilities(q, name="proba", caller=caller)
        ends = np.cumsum(sizes)
        answers = Answers(
            y_true=np.concatenate([*truth, np.zeros(0, bool)]).astype(np.int64),
            y_proba=q,
            groups=np.repeat(np.arange(sizes.size), sizes),
            item=np.arange(q.size) - np.repeat(ends - sizes, sizes),
            label=np.ones(q.size, dtype=np.int64),
        )
        if self.min_proba is None:
            return answers
        return answers.take(answers.y_proba >= self.min_proba)


def condensed(pairs: np.ndarray) -> np.ndarray:
    """Return what stands above the diagonal of a symmetric matrix, row by row."""
    if len(pairs) < 2:
        return np.zeros(0, dtype=pairs.dtype)
    return squareform(pairs, checks=False)


def true_pairs(
    y: Any, lengths: list[int] | None, name: str, caller: str
) -> list[np.ndarray]:
    """Return for each document which pairs have equal labels, condensed.

    `lengths` are the numbers of mentions, or None for any.
    """
    if lengths is None and is_sequence(y):
        lengths = [len(each) if is_sequence(each) else 0 for each in y]
    entities = as_clusterings(y, lengths or [], name, caller)
    return [condensed(np.equal.outer(each, each)) for each in entities]


def _check_documents(y_true: Any, proba: Any, caller: str) -> None:
    if not is_sequence(proba):
        raise TypeError(
            f"The 'proba' parameter of {caller} must have an entry for each document. "
            f"Got {type(proba).__name__}."
        )
    if is_sequence(y_true) and len(y_true) != len(proba):
        raise ValueError(
            f"{caller} needs probabilities for each document of 'y_true'. Got "
            f"{len(proba)} and {len(y_true)} documents."
        )


def _vector(part: Any, size: int, i: int, caller: str) -> np.ndarray:
    """Return the probabilities of a document, as many as it has pairs."""
    name = f"The 'proba' parameter of {caller} must"
    array = as_numbers(part, f"document {i}", caller)
    if array.size == 0 and size == 0:
        return np.zeros(0, dtype=np.float32)
    if array.shape != (size,):
        hint = ""
        if array.ndim == 2:
            hint = " scipy.spatial.distance.squareform makes vectors of matrices."
        raise ValueError(
            f"{name} hold {size} probabilities for document {i}, one for each pair of "
            f"its mentions. Got shape {array.shape}.{hint}"
        )
    return array


def _check_range(q: np.ndarray, sizes: np.ndarray, caller: str) -> None:
    bad = out_of_range(q)
    if bad.any():
        at = int(bad.argmax())
        i = int(np.searchsorted(np.cumsum(sizes), at, side="right"))
        raise ValueError(
            f"The 'proba' parameter of {caller} must hold probabilities in [0, 1]. Got "
            f"{float(q[at])!r} in document {i}, pair {at - int(sizes[:i].sum())}."
        )
