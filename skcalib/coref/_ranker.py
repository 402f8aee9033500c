"""Log-linear model of antecedents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.sparse import csc_array, csr_array, issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._clusterings import LabelArrays, as_clusterings, condensed
from .._compat import RaggedTransformer
from .._errors import ParameterError, ParameterTypeError, public, warn
from .._results import object_array
from .._validation import (
    check_choice,
    check_integer,
    check_real,
    check_verbose,
    is_sequence,
    weights_or_ones,
)
from ..posteriors import AntecedentPosterior

Features = Sequence[csr_array] | np.ndarray


class AntecedentRanker(RaggedTransformer):
    """Score the antecedents of mentions with a log-linear model.

    The score of an antecedent is the sum of the weights of its features. NEW, which
    means that a mention starts a new entity, has a score as well. The weights maximise
    the penalised likelihood. The likelihood of a mention is the sum of the
    probabilities of all its true antecedents, or the probability of NEW if it has none.

    Parameters
    ----------
    C : float, default=1.0
        Inverse of the regularization strength. The penalty is half the sum of squared
        weights divided by `C`. It is added to the sum of the losses of all mentions.
        Larger values of `C` need more iterations.
    loss : {'log', 'softmax_margin'}, default='log'
        Loss of a mention. 'log' is the negated logarithm of the summed probability of
        the true antecedents. 'softmax_margin' also adds a margin to the scores of wrong
        choices during training. This improves the metrics of predicted clusterings, but
        the weights no longer maximise the likelihood.
    margin : tuple of three floats, default=(0.3, 2.0, 1.0)
        Margins that 'softmax_margin' adds to the scores of wrong choices: a false link
        (an antecedent for a mention that starts an entity), a false NEW (NEW for a
        mention that has a true antecedent), and a wrong link (an antecedent in another
        entity).
    max_iter : int, default=1000
        Maximum number of iterations of L-BFGS.
    tol : float, default=1e-4
        Tolerance. Training stops when the relative change of the loss in an iteration
        is at most ``tol / 100``.
    verbose : int, default=0
        If positive, the loss is printed at each iteration.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features.
    n_iter_ : int
        Number of iterations.
    loss_ : float
        Final loss summed over mentions, including the penalty.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    AntecedentFeatures : Features of documents.
    SampledCorefPairs : Probabilities of pairs from the scores.

    References
    ----------
    The model of [NO15]_, section 5, was introduced by G. Durrett and D. Klein (2013),
    "Easy victories and uphill battles in coreference resolution", EMNLP.

    Examples
    --------
    >>> from skcalib.coref import AntecedentFeatures, AntecedentRanker, coref_scores
    >>> from skcalib.datasets import make_coref_documents
    >>> documents, y = make_coref_documents(60, random_state=0)
    >>> X = AntecedentFeatures(2**14).transform(documents)
    >>> ranker = AntecedentRanker(C=0.1).fit(X[:40], y[:40])
    >>> scores = coref_scores(y[40:], ranker.predict(X[40:]))
    >>> round(scores["conll_f1"], 1), round(ranker.score(X[40:], y[40:]), 1)
    (0.6, -0.9)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "log",
        margin: tuple[float, float, float] = (0.3, 2.0, 1.0),
        max_iter: int = 1000,
        tol: float = 1e-4,
        verbose: int = 0,
    ):
        self.C = C
        self.loss = loss
        self.margin = margin
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    @public
    def fit(
        self, X: Features, y: LabelArrays, sample_weight: ArrayLike | None = None
    ) -> AntecedentRanker:
        """Fit the weights of the features.

        Parameters
        ----------
        X : sequence of CSR arrays of shape (n_i * (n_i + 1) / 2, n_features)
            Features of each document, with rows in the order of `AntecedentFeatures`.
        y : sequence of array-like of shape (n_i,)
            Labels of the mentions. Mentions of one entity have equal labels.
        sample_weight : array-like of shape (n_documents,), default=None
            Weight of each document, interpreted as a frequency. The loss of each
            document is multiplied by its weight.

        Returns
        -------
        self : AntecedentRanker
            The fitted model.

        Raises
        ------
        ValueError
            If a document has an unexpected number of rows or columns, if its features
            are not finite, or if it does not have one label per mention. The message
            names the document.
        """
        self._check_params()
        features = _check_features(X, None)
        if y is None:
            raise ParameterError(None, "requires y to be passed. Got None.")
        lengths = [_n_mentions(each.shape[0]) for each in features]
        labels = as_clusterings(y, lengths, "y")
        by_document = weights_or_ones(sample_weight, len(labels))
        costs = tuple(self.margin) if self.loss == "softmax_margin" else None
        choices = [Choices(each, costs) for each in labels]
        n_features = features[0].shape[1]
        # Hashing leaves most columns empty; only columns in use are optimised.
        used, features = _by_frequency(features)
        found = minimize(
            _penalised_loss,
            np.zeros(used.size),
            args=([(x, x.T) for x in features], choices, by_document, self.C),
            jac=True,
            method="L-BFGS-B",
            callback=_report if self.verbose else None,
            options={"maxiter": self.max_iter, "ftol": self.tol * 1e-2, "gtol": 1e-8},
        )
        if not np.isfinite(found.fun):
            raise ParameterError(
                "X",
                "has values so large that scores overflow. Divide the features by a "
                "constant.",
            )
        if found.status == 1:
            warn(
                f"AntecedentRanker did not converge in {self.max_iter} iterations. "
                "Increase max_iter or tol, or decrease C.",
                ConvergenceWarning,
            )
        self.coef_: np.ndarray = np.zeros(n_features)
        self.coef_[used] = found.x
        self.n_iter_: int = int(found.nit)
        self.loss_: float = float(found.fun)
        self.n_features_in_: int = n_features
        return self

    @public
    def _check_params(self) -> None:
        check_real(self.C, low=1e-12, high=1e12, name="C")
        check_real(self.tol, low=0, high=1, name="tol")
        check_choice(self.loss, ("log", "softmax_margin"), name="loss")
        check_integer(self.max_iter, minimum=1, name="max_iter")
        check_verbose(self.verbose)
        if not isinstance(self.margin, (tuple, list)) or len(self.margin) != 3:
            raise ParameterError(
                "margin",
                "must be three numbers (false link, false NEW, wrong link). Got "
                f"{self.margin!r} instead.",
            )
        for cost in self.margin:
            check_real(cost, low=0, high=1e6, name="margin")

    @public
    def transform(self, X: Features) -> np.ndarray:
        """Compute the scores of antecedents.

        Parameters
        ----------
        X : sequence of CSR arrays of shape (n_i * (n_i + 1) / 2, n_features)
            Features of each document.

        Returns
        -------
        scores : ndarray of shape (n_documents,), object
            An array of shape (n_i, n_i) for each document, in the format of
            `AntecedentPosterior`. The scores of antecedents are below the diagonal, and
            the score of NEW is on the diagonal. Entries above the diagonal are -inf.
        """
        check_is_fitted(self)
        features = _check_features(X, self.coef_.size)
        found = []
        for each in features:
            n = _n_mentions(each.shape[0])
            scores = np.full((n, n), -np.inf)
            # The rows of a document are the lower triangle, row by row, with NEW on the
            # diagonal.
            scores[np.tril_indices(n)] = each @ self.coef_
            found.append(scores)
        return object_array(found)

    def posterior(self, X: Features) -> AntecedentPosterior:
        """Return the posterior over clusterings of each document.

        Parameters
        ----------
        X : sequence of CSR arrays of shape (n_i * (n_i + 1) / 2, n_features)
            Features of each document.

        Returns
        -------
        posterior : AntecedentPosterior
            Posterior over the clusterings of each document.
        """
        return AntecedentPosterior(self.transform(X))

    def predict(self, X: Features) -> np.ndarray:
        """Return the clusterings in which each mention joins its best antecedent.

        Parameters
        ----------
        X : sequence of CSR arrays of shape (n_i * (n_i + 1) / 2, n_features)
            Features of each document.

        Returns
        -------
        labels : ndarray of shape (n_documents,), object
            An array of labels for each document. The label of a mention is the index of
            the first mention of its entity.
        """
        return object_array(self.posterior(X).map_clusters())

    def predict_proba(self, X: Features) -> np.ndarray:
        """Return the exact probability that the mentions of each pair are coreferent.

        Parameters
        ----------
        X : sequence of CSR arrays of shape (n_i * (n_i + 1) / 2, n_features)
            Features of each document.

        Returns
        -------
        proba : ndarray of shape (n_documents,), object
            A condensed vector for each document, as `SampledCorefPairs` returns it.
        """
        return object_array(list(map(condensed, self.posterior(X).pair_marginals())))

    @public
    def score(
        self, X: Features, y: LabelArrays, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the log probability of the true clusterings per mention.

        Parameters
        ----------
        X : sequence of CSR arrays of shape (n_i * (n_i + 1) / 2, n_features)
            Features of each document.
        y : sequence of array-like of shape (n_i,)
            True labels of the mentions. Mentions of one entity have equal labels.
        sample_weight : array-like of shape (n_documents,), default=None
            Weight of each document. Every mention has the weight of its document.

        Returns
        -------
        score : float
            Log probability summed over documents, divided by the number of mentions.
        """
        return log_proba_of_mention(self.posterior(X), y, sample_weight)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def log_proba_of_mention(
    posterior: AntecedentPosterior, y: LabelArrays, sample_weight: ArrayLike | None
) -> float:
    """Return the log probability of clusterings, divided by the number of mentions."""
    by_document = weights_or_ones(sample_weight, len(posterior))
    labels = as_clusterings(y, posterior.lengths.tolist(), "y")
    n_mentions = by_document @ posterior.lengths
    if n_mentions == 0:
        problem = "needs at least one mention with positive weight. Got none."
        raise ParameterError(None, problem)
    log_proba = posterior.log_proba(labels)
    used = by_document > 0  # 0 * -inf is NaN
    return float(by_document[used] @ log_proba[used] / n_mentions)


class Choices:
    """Choices of a document: whether they are right, and the costs of wrong choices.

    `margin` has the costs of a false link, of a false NEW and of a wrong link, or is
    None.
    """

    def __init__(self, labels: np.ndarray, margin: tuple[float, ...] | None = None):
        n = len(labels)
        j, k = np.tril_indices(n)
        self.starts = np.arange(n) * (np.arange(n) + 1) // 2
        self.sizes = np.arange(1, n + 1)
        # All earlier mentions of the entity are right antecedents, not only the
        # nearest.
        same = (labels[j] == labels[k]) & (j != k)
        linked = np.zeros(n, dtype=bool)
        linked[j[same]] = True
        is_new = j == k
        self.right = same | (is_new & ~linked[j])
        self.cost: np.ndarray | None = None
        if margin is not None:
            false_link, false_new, wrong_link = margin
            wrong = np.where(
                is_new, false_new, np.where(linked[j], wrong_link, false_link)
            )
            self.cost = np.where(self.right, 0.0, wrong)

    def loss(self, scores: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the loss and its gradient with respect to the scores."""
        if scores.size == 0:
            return 0.0, scores
        if self.cost is not None:
            scores = scores + self.cost
        # Scores are relative to their maximum, so that exp cannot overflow.
        top = np.maximum.reduceat(scores, self.starts)
        weight = np.exp(scores - top.repeat(self.sizes))
        total = np.add.reduceat(weight, self.starts)
        # all correct choices may be improbable: scale by the maximum of their scores
        inner = np.where(self.right, scores, -np.inf)
        best = np.maximum.reduceat(inner, self.starts)
        share = np.exp(inner - best.repeat(self.sizes))
        right = np.add.reduceat(share, self.starts)
        loss = np.log(total) + top - np.log(right) - best
        # Probability of each choice, minus its probability if the choice is right.
        slope = weight / total.repeat(self.sizes) - share / right.repeat(self.sizes)
        return float(loss.sum()), slope


def _penalised_loss(
    coef: np.ndarray,
    features: list[tuple[csr_array, csc_array]],
    choices: list[Choices],
    weight: np.ndarray,
    C: float,
) -> tuple[float, np.ndarray]:
    """Return the loss of all documents with the penalty, and its gradient.

    features : features of each document, and their transpose.
    """
    value, gradient = 0.5 * coef @ coef / C, coef / C
    for (x, transposed), each, w in zip(features, choices, weight, strict=True):
        part, slope = each.loss(x @ coef)
        value += w * part
        gradient += w * (transposed @ slope)
    return value, gradient


def _report(intermediate_result: Any) -> None:  # SciPy looks for this name
    print(f"[AntecedentRanker] loss {intermediate_result.fun:.6g}", flush=True)


def _by_frequency(features: list[csr_array]) -> tuple[np.ndarray, list[csr_array]]:
    """Return the columns in use, the most frequent first, and their features.

    The weights that are used most are contiguous, so that they stay in the cache.
    """
    count = np.zeros(features[0].shape[1], dtype=np.intp)
    for each in features:
        count += np.bincount(each.indices, minlength=count.size)
    used = np.argsort(-count, kind="stable")[: np.count_nonzero(count)]
    # int32 is the type of the indices of the features.
    place = np.zeros(count.size, dtype=np.int32)
    place[used] = np.arange(used.size)
    return used, [
        csr_array(
            (each.data, place[each.indices], each.indptr),
            shape=(each.shape[0], used.size),
        )
        for each in features
    ]


def _n_mentions(n_rows: int) -> int:
    return int(((8 * n_rows + 1) ** 0.5 - 1) / 2 + 0.5)


def _check_features(X: Any, width: int | None) -> list[csr_array]:
    if issparse(X) or not is_sequence(X):
        raise ParameterTypeError(
            "X",
            "must be a sequence with a sparse array for each document. Got "
            f"{type(X).__name__}.",
        )
    if len(X) == 0 and width is None:
        raise ParameterError("X", "must have at least one document. Got none.")
    found: list[csr_array] = []
    for i, each in enumerate(X):
        if not issparse(each):
            raise ParameterTypeError(
                "X",
                "must contain sparse arrays, as returned by AntecedentFeatures. Got "
                f"{type(each).__name__} for document {i}.",
            )
        if each.ndim == 2:
            each = csr_array(each)
            width = each.shape[1] if width is None else width
        problem = _problem(each, width)
        if problem:
            raise ParameterError("X", f"{problem} for document {i}.")
        found.append(each)
    return found


def _problem(each: Any, width: int | None) -> str:
    """Return what is wrong with the features of a document."""
    if each.ndim != 2:
        return f"must contain two-dimensional arrays. Got shape {each.shape}"
    n_rows, n_columns = each.shape
    n = _n_mentions(n_rows)
    if n * (n + 1) // 2 != n_rows:
        return (
            "must have n * (n + 1) / 2 rows for a document of n mentions. Got "
            f"{n_rows} rows"
        )
    if n_columns != width:
        return f"must have {width} columns. Got {n_columns}"
    values = each.data
    if values.dtype.kind not in "fiub":
        return f"must contain numbers. Got {values.dtype}"
    # If the sum is finite, its terms are finite, and the sum needs no memory.
    with np.errstate(over="ignore", invalid="ignore"):
        is_finite = np.isfinite(values.sum()) or np.isfinite(values).all()
    if not is_finite:
        return f"must contain finite numbers. Got {values[~np.isfinite(values)][0]}"
    return ""
