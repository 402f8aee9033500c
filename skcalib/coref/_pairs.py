"""Probabilities of pairs of mentions, from scores of antecedents."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.parallel import delayed

from .._parallel import parallel
from .._random import as_generator
from .._results import object_array
from .._validation import check_choice, check_integer
from ..metrics._pairs import as_weights
from ..posteriors import AntecedentPosterior
from ..queries._coref_pairs import condensed, true_pairs

BLOCK = 2**22  # labels held at a time


# The output is ragged, so scikit-learn's set_output must leave it alone.
class SampledCorefPairs(  # type: ignore[call-arg]
    TransformerMixin, BaseEstimator, auto_wrap_output_keys=None
):
    """Turn scores of antecedents into probabilities of pairs of mentions.

    Are these two mentions the same entity? The last step behind any model that scores
    antecedents. Nothing is learnt: `fit` need not be called.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of sampled clusterings of each document, for ``method="sample"``.
    method : {'sample', 'exact'}, default='sample'
        'sample': the share of sampled clusterings that join the pair, as published.
        'exact': the probability itself, which also is faster.
    decoding : {'map', 'mbr'}, default='map'
        What `predict` gives: 'map' joins each mention to its best antecedent; 'mbr'
        lessens the number of wrong pairs to be expected, by the exact probabilities.
    random_state : int, RandomState, Generator or None, default=None
        Source of the samples. Each document has a stream of its own, so what is drawn
        does not depend on `n_jobs`.
    n_jobs : int, default=None
        Number of processes over documents; None: 1, or what joblib's context says.
    verbose : int, default=0
        Print how far the documents are if positive, as joblib does.

    See Also
    --------
    skcalib.posteriors.AntecedentPosterior : What else the scores say.
    coref_scores : Scores of the predicted clusterings.

    References
    ----------
    The model, its sampler and the calibration of pairs: [NO15]_, section 5.

    Examples
    --------
    One document of three mentions; a score for each earlier mention, and for NEW:

    >>> import numpy as np
    >>> from skcalib.coref import SampledCorefPairs
    >>> with np.errstate(divide="ignore"):
    ...     X = [np.log([[1, 0, 0], [0.8, 0.2, 0], [0.3, 0.3, 0.4]])]
    >>> SampledCorefPairs(random_state=0).transform(X)[0]
    array([0.807, 0.545, 0.54 ])
    >>> pairs = SampledCorefPairs(method="exact", decoding="mbr")
    >>> pairs.transform(X)[0].round(2)
    array([0.8 , 0.54, 0.54])
    >>> pairs.predict(X)[0]
    array([0, 0, 0])
    >>> round(pairs.score(X, [[0, 0, 1]]), 3)
    -0.208
    """

    def __init__(
        self,
        n_samples: int = 1000,
        *,
        method: str = "sample",
        decoding: str = "map",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.n_samples = n_samples
        self.method = method
        self.decoding = decoding
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> SampledCorefPairs:
        """Check the parameters, and learn nothing.

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

    def _check_params(self) -> None:
        caller = type(self).__name__
        check_choice(self.method, ("sample", "exact"), name="method", caller=caller)
        check_choice(self.decoding, ("map", "mbr"), name="decoding", caller=caller)
        check_integer(self.n_samples, minimum=1, name="n_samples", caller=caller)

    def posterior(self, X: Any) -> AntecedentPosterior:
        """Return the posterior over clusterings of each document.

        Parameters
        ----------
        X : sequence of array-like of shape (n_i, n_i)
            Scores of the antecedents, as `AntecedentPosterior` takes them.

        Returns
        -------
        posterior : AntecedentPosterior
        """
        return AntecedentPosterior(X)

    def transform(self, X: Any) -> np.ndarray:
        """Return the probability of each pair of mentions to be in one entity.

        Parameters
        ----------
        X : sequence of array-like of shape (n_i, n_i)
            Scores of the antecedents, as `AntecedentPosterior` takes them.

        Returns
        -------
        proba : ndarray of shape (n_documents,), object
            An array of shape (n_i * (n_i - 1) / 2,) for each document, with its pairs
            (0, 1), (0, 2), ..., (1, 2), ...: scipy.spatial.distance.squareform makes a
            matrix of it.
        """
        return self._pair_proba(self.posterior(X))

    def _pair_proba(self, posterior: AntecedentPosterior) -> np.ndarray:
        self._check_params()
        if self.method == "exact":
            tasks = [delayed(_exact)(part) for part in _each(posterior)]
        else:
            rng = as_generator(self.random_state, caller=type(self).__name__)
            seeds = rng.integers(2**63, size=(len(posterior), 2)).tolist()
            tasks = [
                delayed(_sampled)(part, self.n_samples, seed)
                for part, seed in zip(_each(posterior), seeds, strict=True)
            ]
        return object_array(parallel(self.n_jobs, self.verbose)(tasks))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each pair of mentions to be in one entity.

        The same as :meth:`transform`, under the name that searches pass on.

        Parameters
        ----------
        X : sequence of array-like of shape (n_i, n_i)
            Scores of the antecedents.

        Returns
        -------
        proba : ndarray of shape (n_documents,), object
            A condensed vector for each document.
        """
        return self.transform(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return a clustering of each document.

        Parameters
        ----------
        X : sequence of array-like of shape (n_i, n_i)
            Scores of the antecedents.

        Returns
        -------
        labels : ndarray of shape (n_documents,), object
            An array of labels for each document: the index of the first mention of each
            mention's entity.
        """
        self._check_params()
        posterior = self.posterior(X)
        if self.decoding == "map":
            return object_array(posterior.map_clusters())
        tasks = [delayed(_mbr)(part) for part in _each(posterior)]
        return object_array(parallel(self.n_jobs, self.verbose)(tasks))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return minus the Brier score over all pairs of mentions.

        Parameters
        ----------
        X : sequence of array-like of shape (n_i, n_i)
            Scores of the antecedents.
        y : sequence of array-like of shape (n_i,)
            True labels: equal ones are one entity.
        sample_weight : array-like of shape (n_documents,), default=None
            Weight of each document; its pairs have it each.

        Returns
        -------
        score : float
            At most 0, which is best.

        Raises
        ------
        ValueError
            A document has not a label for each mention, or none that counts has two
            mentions.
        """
        caller = f"{type(self).__name__}.score"
        posterior = self.posterior(X)
        truth = true_pairs(y, posterior.lengths.tolist(), "y", caller)
        weight = as_weights(sample_weight, len(posterior), caller=caller)
        by_document = np.ones(len(posterior)) if weight is None else weight
        n_pairs = by_document @ np.array([pairs.size for pairs in truth])
        if n_pairs == 0:
            raise ValueError(f"{caller} needs a pair of mentions of positive weight.")
        proba = self._pair_proba(posterior)
        loss = [((q - t) ** 2).sum() for q, t in zip(proba, truth, strict=True)]
        return -float(by_document @ np.array(loss) / n_pairs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags


def _each(posterior: AntecedentPosterior) -> list[AntecedentPosterior]:
    return [posterior[i : i + 1] for i in range(len(posterior))]


def _exact(posterior: AntecedentPosterior) -> np.ndarray:
    return condensed(posterior.pair_marginals()[0])


def _mbr(posterior: AntecedentPosterior) -> np.ndarray:
    return posterior.mbr_clusters()[0]


def _sampled(
    posterior: AntecedentPosterior, n_samples: int, seed: list[int]
) -> np.ndarray:
    rng = np.random.default_rng(seed)
    n = int(posterior.lengths[0])
    counts = np.zeros((n, n))
    step = max(1, BLOCK // max(1, n))
    for i in range(0, n_samples, step):
        size = min(step, n_samples - i)
        counts += count_pairs(posterior.sample(size, rng)[0].T)
    return condensed(counts / n_samples)


def count_pairs(labels: np.ndarray) -> np.ndarray:
    """Return in how many samples each two mentions have the same label.

    labels : (n, n_samples), from 0. Returns (n, n), symmetric. Equal labels are packed
    into bits, and the bits counted.
    """
    n, n_samples = labels.shape
    kind = np.int16 if n < 2**15 else np.int32
    padded = np.full((n, -(-n_samples // 64) * 64), -1, dtype=kind)
    padded[:, :n_samples] = labels
    counts = np.zeros((n, n))
    for j in range(n):
        same = np.packbits(padded[: j + 1] == padded[j], axis=1).view(np.uint64)
        counts[j, : j + 1] = np.bitwise_count(same).sum(axis=1, dtype=np.intp)
        counts[j, : j + 1] -= padded.shape[1] - n_samples
    return counts + np.tril(counts, -1).T
