"""Probabilities of pairs of mentions, from scores of antecedents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils.parallel import delayed

from .._clusterings import LabelArrays, condensed, true_pairs
from .._compat import RaggedTransformer
from .._errors import ParameterError, ParameterTypeError, public
from .._pairs import shares
from .._parallel import RandomStateLike, as_generator, parallel
from .._results import object_array
from .._validation import check_choice, check_integer, is_sequence, weights_or_ones
from ..posteriors import AntecedentPosterior
from ..text._documents import Document

Scores = Sequence[ArrayLike] | np.ndarray

BLOCK = 2**22  # labels in memory at a time

_MANY = 1000  # samples, as in the paper

_EXPECTED = (
    "must contain a matrix of antecedent scores for each document, as returned by "
    "AntecedentRanker.transform"
)


class SampledCorefPairs(RaggedTransformer):
    """Compute probabilities of pairs of mentions from scores of antecedents.

    The probability of a pair is the probability that both mentions refer to the same
    entity. This transformer is the last step of a pipeline, after any model that scores
    antecedents. It is stateless: `fit` only checks the parameters.

    Parameters
    ----------
    n_samples : int, default=None
        Number of sampled clusterings of each document. If None, the probabilities are
        exact, or from 1000 samples with ``method="sample"``. Not used by 'exact'.
    method : {'auto', 'sample', 'exact'}, default='auto'
        Method used to compute the probabilities. 'sample' uses the fraction of sampled
        clusterings in which both mentions are in the same entity, as in the paper.
        'exact' computes the exact probability and is also faster. 'auto' is 'sample' if
        `n_samples` is given, and 'exact' otherwise.
    decoding : {'map', 'mbr'}, default='map'
        Method that `predict` uses to compute a clustering. 'map' joins each mention to
        its most probable (maximum a posteriori) antecedent, unless it is more probable
        that the mention starts a new entity. 'mbr' (minimum Bayes risk) reduces the
        expected number of misclassified pairs by a local search. The expected number is
        computed from the exact pair probabilities.
    random_state : int, RandomState, Generator or None, default=None
        Random state used to sample clusterings. Each document has its own stream of
        random numbers, so the samples do not depend on `n_jobs`.
    n_jobs : int, default=None
        Number of processes. The documents are divided among the processes. If None,
        one process is used unless a joblib context sets another number.
    verbose : int, default=0
        If positive, joblib prints the number of documents that are done.

    See Also
    --------
    skcalib.posteriors.AntecedentPosterior : Posterior over clusterings defined by the
        scores.
    coref_scores : Metrics of the predicted clusterings.

    Notes
    -----
    Sampled probabilities carry the number of their samples to
    :class:`~skcalib.queries.CorefPairQuery`, whose answers have it as `n_draws`. Errors
    of these answers are those of the exact probability behind the share of samples, as
    in :func:`~skcalib.metrics.calibration_error`. The number is lost if documents are
    concatenated or saved to a file.

    References
    ----------
    The model, its sampler and the calibration of pairs are described in [NO15]_,
    section 5.

    Examples
    --------
    One document with three mentions. Each mention has one score per earlier mention and
    one score for NEW (the mention starts a new entity):

    >>> import numpy as np
    >>> from skcalib.coref import SampledCorefPairs
    >>> with np.errstate(divide="ignore"):
    ...     X = [np.log([[1, 0, 0], [0.8, 0.2, 0], [0.3, 0.3, 0.4]])]
    >>> pairs = SampledCorefPairs(decoding="mbr")
    >>> pairs.transform(X)[0].round(2)
    array([0.8 , 0.54, 0.54])
    >>> SampledCorefPairs(1000, random_state=0).transform(X)[0]
    array([0.807, 0.545, 0.54 ])
    >>> pairs.predict(X)[0]
    array([0, 0, 0])
    >>> round(pairs.score(X, [[0, 0, 1]]), 3)
    -0.208
    """

    def __init__(
        self,
        n_samples: int | None = None,
        *,
        method: str = "auto",
        decoding: str = "map",
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.n_samples = n_samples
        self.method = method
        self.decoding = decoding
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Scores, y: object = None) -> SampledCorefPairs:
        """Check the parameters.

        This method does not learn anything from the data.

        Parameters
        ----------
        X : sequence of array-like of shape (n_i, n_i)
            Ignored.
        y : None
            Ignored.

        Returns
        -------
        self : SampledCorefPairs
            The transformer.
        """
        self._check_params()
        return self

    @public
    def _check_params(self) -> None:
        check_choice(self.method, ("auto", "sample", "exact"), name="method")
        check_choice(self.decoding, ("map", "mbr"), name="decoding")
        if self.n_samples is not None:
            check_integer(self.n_samples, minimum=1, name="n_samples")

    @public
    def posterior(self, X: Scores) -> AntecedentPosterior:
        """Return the posterior over clusterings of each document.

        Parameters
        ----------
        X : sequence of array-like of shape (n_i, n_i)
            Scores of the antecedents, in the format of `AntecedentPosterior`.

        Returns
        -------
        posterior : AntecedentPosterior
            Posterior over the clusterings of each document.
        """
        return _as_posterior(X)

    @public
    def transform(self, X: Scores) -> np.ndarray:
        """Return the probability that the mentions of each pair are coreferent.

        Parameters
        ----------
        X : sequence of array-like of shape (n_i, n_i)
            Scores of the antecedents, in the format of `AntecedentPosterior`.

        Returns
        -------
        proba : ndarray of shape (n_documents,), object
            An array of shape (n_i * (n_i - 1) / 2,) for each document, with the pairs
            (0, 1), (0, 2), ..., (1, 2), ... `scipy.spatial.distance.squareform`
            converts it to a matrix.
        """
        return self._pair_proba(_as_posterior(X))

    def _pair_proba(self, posterior: AntecedentPosterior) -> np.ndarray:
        self._check_params()
        method, rng = self.method, self._rng()
        if method == "auto":
            method = "exact" if self.n_samples is None else "sample"
        if method == "exact":
            return self._of_documents(_exact, posterior)
        n_samples = _MANY if self.n_samples is None else self.n_samples
        # A seed for each document: the samples do not depend on the number of
        # processes.
        seeds = rng.integers(2**63, size=(len(posterior), 2)).tolist()
        sampled = partial(_sampled, n_samples=n_samples)
        found = self._of_documents(sampled, posterior, seeds)
        return object_array([shares(proba, n_samples) for proba in found])

    def _of_documents(
        self, function: Callable, posterior: AntecedentPosterior, *arguments: Any
    ) -> np.ndarray:
        """Call a function for the posterior of each document, in parallel."""
        parts = [posterior[i : i + 1] for i in range(len(posterior))]
        tasks = map(delayed(function), parts, *arguments)
        return object_array(parallel(self.n_jobs, self.verbose)(tasks))

    @public
    def _rng(self) -> np.random.Generator:
        return as_generator(self.random_state)

    @public
    def predict_proba(self, X: Scores) -> np.ndarray:
        """Return the probability that the mentions of each pair are coreferent.

        This method is an alias of :meth:`transform`, for pipelines and grid searches.

        Parameters
        ----------
        X : sequence of array-like of shape (n_i, n_i)
            Scores of the antecedents.

        Returns
        -------
        proba : ndarray of shape (n_documents,), object
            A condensed vector for each document.

        Notes
        -----
        scikit-learn's ``cross_val_predict(..., method="predict_proba")`` raises
        "ValueError: setting an array element with a sequence. The requested array has
        an inhomogeneous shape after 1 dimensions", because it converts `y` to an array.
        Use :func:`~skcalib.sequence.cross_val_marginals` instead.
        """
        return self._pair_proba(_as_posterior(X))

    @public
    def predict(self, X: Scores) -> np.ndarray:
        """Return a clustering of each document.

        Parameters
        ----------
        X : sequence of array-like of shape (n_i, n_i)
            Scores of the antecedents.

        Returns
        -------
        labels : ndarray of shape (n_documents,), object
            An array of labels for each document. The label of a mention is the index of
            the first mention of its entity.
        """
        self._check_params()
        posterior = _as_posterior(X)
        if self.decoding == "map":
            return object_array(posterior.map_clusters())
        return self._of_documents(_mbr, posterior)

    @public
    def score(
        self, X: Scores, y: LabelArrays, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return minus the Brier score over all pairs of mentions.

        Parameters
        ----------
        X : sequence of array-like of shape (n_i, n_i)
            Scores of the antecedents.
        y : sequence of array-like of shape (n_i,)
            True labels of the mentions. Mentions of one entity have equal labels.
        sample_weight : array-like of shape (n_documents,), default=None
            Weight of each document. Every pair of mentions has the weight of its
            document.

        Returns
        -------
        score : float
            Negated Brier score. The best value is 0.

        Raises
        ------
        ValueError
            If a document does not have one label per mention, or if no document with
            positive weight has at least two mentions.

        Notes
        -----
        ``scoring=None`` selects this score in cross_val_score and GridSearchCV. Metrics
        of classifiers, such as ``scoring="accuracy"``, do not support clusterings.
        """
        posterior = _as_posterior(X)
        truth = true_pairs(y, posterior.lengths.tolist(), "y")
        by_document = weights_or_ones(sample_weight, len(posterior))
        n_pairs = by_document @ np.array([pairs.size for pairs in truth])
        if n_pairs == 0:
            raise ParameterError(
                None, "needs at least one pair of mentions with positive weight."
            )
        proba = self._pair_proba(posterior)
        loss = [((q - t) ** 2).sum() for q, t in zip(proba, truth, strict=True)]
        return -float(by_document @ np.array(loss) / n_pairs)


def _as_posterior(X: Any) -> AntecedentPosterior:
    for i, each in enumerate(X if is_sequence(X) else ()):
        if isinstance(each, Document) or issparse(each):
            raise ParameterTypeError(
                "X", f"{_EXPECTED}. Got {type(each).__name__} as entry {i}."
            )
    try:
        return AntecedentPosterior(X)
    except ParameterError as error:
        # The error of AntecedentPosterior names its own parameter.
        raise type(error)("X", f"{error.problem} It {_EXPECTED}.") from None


def _exact(posterior: AntecedentPosterior) -> np.ndarray:
    return condensed(posterior.pair_marginals()[0])


def _mbr(posterior: AntecedentPosterior) -> np.ndarray:
    return posterior.mbr_clusters()[0]


def _sampled(
    posterior: AntecedentPosterior, seed: list[int], n_samples: int
) -> np.ndarray:
    rng = np.random.default_rng(seed)
    n = int(posterior.lengths[0])
    counts = np.zeros((n, n))
    # All samples of a long document would not fit into memory.
    step = max(1, BLOCK // max(1, n))
    for i in range(0, n_samples, step):
        counts += count_pairs(posterior.sample(min(step, n_samples - i), rng)[0].T)
    return condensed(counts / n_samples)


def count_pairs(labels: np.ndarray) -> np.ndarray:
    """Return the number of samples in which each pair of mentions has the same label.

    labels has shape (n, n_samples) and values from 0. The result is symmetric and has
    shape (n, n).
    """
    n = len(labels)
    # The comparison below is limited by memory, so the smallest type is fastest.
    labels = labels.astype(np.int16 if n < 2**15 else np.int32)
    counts = np.zeros((n, n))
    for j in range(n):
        counts[j, : j + 1] = np.count_nonzero(labels[: j + 1] == labels[j], axis=1)
    return counts + np.tril(counts, -1).T
