"""Query for pairs of mentions that refer to the same entity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._clusterings import check_entries, condensed, true_pairs
from .._errors import ParameterError, public
from .._pairs import common_draws, draws_of
from .._validation import check_real, is_sequence
from ..posteriors import AntecedentPosterior
from ._answers import Answers
from ._query import (
    Query,
    as_numbers,
    check_labels,
    check_posterior,
    check_range,
    sentence_and_token,
)


@dataclass(frozen=True)
class CorefPairQuery(Query):
    """Ask a coreference model whether two mentions refer to the same entity.

    Parameters
    ----------
    min_proba : float, default=None
        Smallest model probability of the pairs to ask for. If None, all pairs of a
        document are asked for.

    See Also
    --------
    skcalib.coref.SampledCorefPairs : Sampled or exact probabilities of pairs.
    skcalib.posteriors.AntecedentPosterior : Probabilities of whole entities.
    skcalib.scorers.make_query_scorer : Make a scorer from a query and a metric.

    Notes
    -----
    Most pairs of a document are not coreferent and have a probability near 0. A low
    error over all pairs mostly reflects these easy pairs. Use `min_proba`, for example
    0.02, to measure the error of the other pairs. Selecting pairs by their probability
    is valid, because calibration is defined separately for each probability q.
    Selecting pairs by the truth (pairs that are coreferent or were predicted to be) is
    not valid: on such pairs even perfect probabilities look too low.

    In the answers, `groups` is the document, and `item` is the index of the pair in the
    condensed vector of the document, whose order is (0, 1), (0, 2), ..., (1, 2), ...
    The `label` is always 1, since there is only one question. A document with fewer
    than two mentions has no pairs. The answers need 40 bytes per pair.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
       analysis for natural language processing models". EMNLP. Section 5.

    Examples
    --------
    For any other model, pass one vector of pair probabilities per document:

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
    _needs = "predict_proba or a posterior"
    _advice = (
        "For scores of antecedents from any source, use SampledCorefPairs or "
        "AntecedentPosterior."
    )

    @public
    def __post_init__(self) -> None:
        if self.min_proba is not None:
            check_real(self.min_proba, low=0, high=1, name="min_proba")

    @public
    def __call__(self, estimator: Any, X: Any, y: Sequence[ArrayLike]) -> Answers:
        """Return the answers of a fitted coreference model.

        Parameters
        ----------
        estimator : fitted estimator with predict_proba or posterior
            AntecedentRanker or SampledCorefPairs, or a pipeline or search object that
            ends in one of them. For SampledCorefPairs, the probabilities depend on its
            `method`.
        X : sequence
            Input of the estimator, with one entry per document.
        y : sequence of array-like of shape (n_mentions,)
            Labels of the mentions of each document. Mentions with equal labels refer to
            the same entity.

        Returns
        -------
        answers : Answers
            One answer for each pair of mentions.
        """
        check_labels(X, y, "document")
        # A final SampledCorefPairs may sample, so its own probabilities are measured.
        if hasattr(estimator, "predict_proba"):
            return self.from_proba(y, estimator.predict_proba(X))
        return self._ask_estimator(estimator, X, y)

    @public
    def from_posterior(
        self,
        y_true: Sequence[ArrayLike],
        posterior: AntecedentPosterior,
        classes: None = None,
    ) -> Answers:
        """Return answers with the exact probabilities of a posterior over clusterings.

        Parameters
        ----------
        y_true : sequence of array-like of shape (n_mentions,)
            Labels of the mentions of each document.
        posterior : AntecedentPosterior
            Posterior over the clusterings of the same documents.
        classes : None
            Ignored; present for consistency with other queries.

        Returns
        -------
        answers : Answers
            One answer for each pair of mentions.
        """
        return self._ask(y_true, posterior)

    @public
    def from_proba(
        self,
        y_true: Sequence[ArrayLike],
        proba: Sequence[ArrayLike],
        classes: None = None,
    ) -> Answers:
        """Return answers with given probabilities of pairs.

        Parameters
        ----------
        y_true : sequence of array-like of shape (n_mentions,)
            Labels of the mentions of each document. Mentions with equal labels are one
            entity.
        proba : sequence of array-like of shape (n_mentions * (n_mentions - 1) / 2,)
            Probabilities of the pairs (0, 1), (0, 2), ..., (1, 2), ... of each
            document. scipy.spatial.distance.squareform converts a symmetric matrix to
            this format.
        classes : None
            Ignored; present for consistency with other queries.

        Returns
        -------
        answers : Answers
            One answer for each pair of mentions.
        """
        return self._answers(y_true, proba, None)

    def _ask(
        self, y_true: Any, posterior: Any, classes: Any = None, predict: Any = None
    ) -> Answers:
        # A posterior over taggings has marginals of pairs of tags.
        is_chain = hasattr(posterior, "n_tags")
        is_one = hasattr(posterior, "pair_marginals") and not is_chain
        check_posterior(posterior, "an AntecedentPosterior", is_one)
        proba = [condensed(pairs) for pairs in posterior.pair_marginals()]
        return self._answers(y_true, proba, posterior.lengths.tolist())

    def _answers(self, y_true: Any, proba: Any, lengths: list[int] | None) -> Answers:
        check_entries(proba, None, "document", "proba")
        if is_sequence(y_true) and len(y_true) != len(proba):
            raise ParameterError(
                None,
                "needs probabilities for each document of 'y_true'. Got probabilities "
                f"for {len(proba)} documents and labels for {len(y_true)}.",
            )
        truth = true_pairs(y_true, lengths, "y_true")
        parts = [
            _vector(part, pairs.size, i)
            for i, (part, pairs) in enumerate(zip(proba, truth, strict=True))
        ]
        sizes = np.array([part.size for part in parts], dtype=np.intp)
        document, pair = sentence_and_token(sizes)
        q = np.concatenate(parts) if parts else np.zeros(0)
        if q.size:
            # Checked here, where an error can name the document.
            check_range(q, lambda k: f"document {document[k]}, pair {pair[k]}")
        n_draws = common_draws(
            (draws_of(part) for part, n in zip(proba, sizes, strict=True) if n), "proba"
        )
        y = np.concatenate([*truth, np.zeros(0, bool)]).astype(np.int64)
        label = np.ones(q.size, dtype=np.int64)
        answers = Answers(y, q, document, pair, label, n_draws=n_draws)
        if self.min_proba is None:
            return answers
        # Selecting by probability keeps calibrated probabilities calibrated.
        chosen = answers.take(answers.y_proba >= self.min_proba)
        chosen._least = self.min_proba
        return chosen


def _vector(part: Any, size: int, i: int) -> np.ndarray:
    """Return the probabilities of a document, one per pair of its mentions."""
    array = as_numbers(part, f"document {i}")
    if array.size == 0 and size == 0:
        # The smallest type, so that an empty document does not change the type of the
        # others.
        return np.zeros(0, dtype=np.float32)
    if array.shape != (size,):
        hint = ""
        if array.ndim == 2:
            hint = " Convert matrices with scipy.spatial.distance.squareform."
        raise ParameterError(
            "proba",
            f"must have {size} probabilities for document {i}, one for each pair of "
            f"its mentions. Got shape {array.shape}.{hint}",
        )
    return array
