"""A log-linear model of antecedents."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._results import object_array
from .._validation import (
    check_choice,
    check_integer,
    check_real,
    check_verbose,
    is_sequence,
)
from ..metrics._pairs import as_weights
from ..posteriors import AntecedentPosterior
from ..posteriors._antecedent_checks import as_clusterings
from ..queries._coref_pairs import condensed


# The output is ragged, so scikit-learn's set_output must leave it alone.
class AntecedentRanker(  # type: ignore[call-arg]
    TransformerMixin, BaseEstimator, auto_wrap_output_keys=None
):
    """Score the antecedents of mentions by a log-linear model.

    The score of an antecedent, or of NEW, is the sum of its features' weights; the
    weights maximise the probability that each mention gets any one of its true
    antecedents.

    Parameters
    ----------
    C : float, default=1.0
        Inverse of the strength of the penalty: the sum of squared weights, halved,
        divided by `C`, is added to the sum of losses over mentions.
    loss : {'log', 'softmax_margin'}, default='log'
        'log': minus the log of the summed probability of the true antecedents.
        'softmax_margin': wrong choices also get a margin in training, which serves the
        scores of clusterings; the weights no longer maximise the likelihood.
    margin : tuple of three floats, default=(0.3, 2.0, 1.0)
        What the scores of wrong choices gain in training with 'softmax_margin': an
        antecedent for a mention that is new, NEW for one that is not, and another
        entity's mention.
    max_iter : int, default=100
        Most iterations of L-BFGS.
    tol : float, default=1e-4
        Relative change of the loss at which to stop.
    verbose : int, default=0
        Print the loss at each iteration if positive.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    n_iter_ : int
        Number of iterations.
    loss_ : float
        The loss at the end, summed over mentions, with the penalty.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    AntecedentFeatures : Features of documents.
    SampledCorefPairs : Probabilities of pairs from the scores.

    References
    ----------
    The model of [NO15]_, section 5, which is that of G. Durrett and D. Klein (2013),
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
        margin: Any = (0.3, 2.0, 1.0),
        max_iter: int = 100,
        tol: float = 1e-4,
        verbose: int = 0,
    ):
        self.C = C
        self.loss = loss
        self.margin = margin
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AntecedentRanker:
        """Find the weights.

        Parameters
        ----------
        X : sequence of CSR arrays of shape (n_i * (n_i + 1) / 2, n_features)
            Features of each document, as `AntecedentFeatures` orders their rows.
        y : sequence of array-like of shape (n_i,)
            Labels of mentions: equal ones are one entity.
        sample_weight : array-like of shape (n_documents,), default=None
            Weight of each document, a frequency: its loss is multiplied by it.

        Returns
        -------
        self : AntecedentRanker
            The fitted model.

        Raises
        ------
        ValueError
            A document has another number of rows or columns than it should, features
            that are not finite, or not a label for each mention; the message names the
            document.
        """
        caller = type(self).__name__
        C = check_real(self.C, low=1e-12, high=1e12, name="C", caller=caller)
        tol = check_real(self.tol, low=0, high=1, name="tol", caller=caller)
        check_choice(self.loss, ("log", "softmax_margin"), name="loss", caller=caller)
        steps = check_integer(self.max_iter, minimum=1, name="max_iter", caller=caller)
        verbose = check_verbose(self.verbose, caller=caller)
        features = _check_features(X, None, f"{caller}.fit")
        if y is None:
            raise ValueError(f"{caller}.fit requires y to be passed. Got None.")
        lengths = [_n_mentions(each.shape[0]) for each in features]
        labels = as_clusterings(y, lengths, "y", f"{caller}.fit")
        weight = as_weights(sample_weight, len(labels), caller=f"{caller}.fit")
        by_document = np.ones(len(labels)) if weight is None else weight
        margin = _check_margin(self.margin, caller)
        costs = margin if self.loss == "softmax_margin" else None
        rows = [Rows(each, costs) for each in labels]
        n_features = features[0].shape[1]
        used, features = _by_frequency(features)
        found = minimize(
            _penalised_loss,
            np.zeros(used.size),
            args=(features, rows, by_document, C),
            jac=True,
            method="L-BFGS-B",
            callback=_report if verbose else None,
            options={"maxiter": steps, "ftol": tol * 1e-2, "gtol": 1e-8},
        )
        if not np.isfinite(found.fun):
            raise ValueError(
                f"The 'X' parameter of {caller}.fit has values so large that scores "
                "overflow. Divide them by a constant."
            )
        if found.status == 1:
            warnings.warn(
                f"AntecedentRanker did not converge in {steps} iterations. More of "
                "them (max_iter) or a smaller C help; a loss that hardly falls any "
                "more is good enough.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.coef_ = np.zeros(n_features)
        self.coef_[used] = found.x
        self.n_iter_ = int(found.nit)
        self.loss_ = float(found.fun)
        self.n_features_in_ = n_features
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the scores of antecedents.

        Parameters
        ----------
        X : sequence of CSR arrays of shape (n_i * (n_i + 1) / 2, n_features)
            Features of each document.

        Returns
        -------
        scores : ndarray of shape (n_documents,), object
            An array of shape (n_i, n_i) for each document, as `AntecedentPosterior`
            takes it: antecedents below the diagonal, NEW on it, -inf above.
        """
        check_is_fitted(self)
        caller = f"{type(self).__name__}.transform"
        features = _check_features(X, self.coef_.size, caller)
        found = []
        for each in features:
            n = _n_mentions(each.shape[0])
            scores = np.full((n, n), -np.inf)
            scores[np.tril_indices(n)] = each @ self.coef_
            found.append(scores)
        return object_array(found)

    def posterior(self, X: Any) -> AntecedentPosterior:
        """Return the posterior over clusterings of each document.

        Parameters
        ----------
        X : sequence of CSR arrays of shape (n_i * (n_i + 1) / 2, n_features)
            Features of each document.

        Returns
        -------
        posterior : AntecedentPosterior
        """
        return AntecedentPosterior(self.transform(X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the clustering that the best antecedents give.

        Parameters
        ----------
        X : sequence of CSR arrays of shape (n_i * (n_i + 1) / 2, n_features)
            Features of each document.

        Returns
        -------
        labels : ndarray of shape (n_documents,), object
            An array of labels for each document: the index of the first mention of each
            mention's entity.
        """
        return object_array(self.posterior(X).map_clusters())

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the exact probability of each pair of mentions to be in one entity.

        Parameters
        ----------
        X : sequence of CSR arrays of shape (n_i * (n_i + 1) / 2, n_features)
            Features of each document.

        Returns
        -------
        proba : ndarray of shape (n_documents,), object
            A condensed vector for each document, as `SampledCorefPairs` gives it.
        """
        pairs = self.posterior(X).pair_marginals()
        return object_array(list(map(condensed, pairs)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the log probability of the true clusterings for each mention.

        Parameters
        ----------
        X : sequence of CSR arrays of shape (n_i * (n_i + 1) / 2, n_features)
            Features of each document.
        y : sequence of array-like of shape (n_i,)
            True labels: equal ones are one entity.
        sample_weight : array-like of shape (n_documents,), default=None
            Weight of each document; its mentions have it each.

        Returns
        -------
        score : float
            The sum over documents, divided by the number of mentions.
        """
        caller = f"{type(self).__name__}.score"
        return log_proba_of_mention(self.posterior(X), y, sample_weight, caller)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def log_proba_of_mention(
    posterior: AntecedentPosterior, y: Any, sample_weight: Any, caller: str
) -> float:
    """Return the log probability of clusterings, divided by the number of mentions."""
    weight = as_weights(sample_weight, len(posterior), caller=caller)
    by_document = np.ones(len(posterior)) if weight is None else weight
    labels = as_clusterings(y, posterior.lengths.tolist(), "y", caller)
    n_mentions = by_document @ posterior.lengths
    if n_mentions == 0:
        raise ValueError(f"{caller} needs a mention of positive weight. Got none.")
    log_proba = posterior.log_proba(labels)
    used = by_document > 0  # 0 * -inf is no number
    return float(by_document[used] @ log_proba[used] / n_mentions)


class Rows:
    """The choices of a document: which are right, what wrong ones cost.

    `margin` are the costs of a false link, of a false NEW and of a wrong link, or None.
    """

    def __init__(
        self, labels: np.ndarray, margin: tuple[float, float, float] | None = None
    ):
        n = len(labels)
        j, k = np.tril_indices(n)
        self.starts = np.arange(n) * (np.arange(n) + 1) // 2
        self.sizes = np.arange(1, n + 1)
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
        """Return the loss and its slope in the scores."""
        if scores.size == 0:
            return 0.0, scores
        if self.cost is not None:
            scores = scores + self.cost
        top = np.maximum.reduceat(scores, self.starts)
        weight = np.exp(scores - top.repeat(self.sizes))
        total = np.add.reduceat(weight, self.starts)
        # right ones may all be tiny beside the best: scaled by their own maximum
        inner = np.where(self.right, scores, -np.inf)
        best = np.maximum.reduceat(inner, self.starts)
        share = np.exp(inner - best.repeat(self.sizes))
        right = np.add.reduceat(share, self.starts)
        loss = np.log(total) + top - np.log(right) - best
        slope = weight / total.repeat(self.sizes) - share / right.repeat(self.sizes)
        return float(loss.sum()), slope


def _penalised_loss(
    coef: np.ndarray,
    features: list[csr_array],
    rows: list[Rows],
    weight: np.ndarray,
    C: float,
) -> tuple[float, np.ndarray]:
    """Return the loss of all documents with the penalty, and its slope."""
    value, gradient = 0.5 * coef @ coef / C, coef / C
    for each, choices, w in zip(features, rows, weight, strict=True):
        part, slope = choices.loss(each @ coef)
        value += w * part
        gradient += w * (each.T @ slope)
    return value, gradient


def _report(intermediate_result: Any) -> None:  # SciPy goes by the argument's name
    print(f"[AntecedentRanker] loss {intermediate_result.fun:.6g}", flush=True)


def _check_margin(margin: Any, caller: str) -> tuple[float, float, float]:
    if not isinstance(margin, (tuple, list)) or len(margin) != 3:
        raise ValueError(
            f"The 'margin' parameter of {caller} must be three numbers (false link, "
            f"false NEW, wrong link). Got {margin!r} instead."
        )
    false_link, false_new, wrong_link = (
        check_real(cost, low=0, high=1e6, name="margin", caller=caller)
        for cost in margin
    )
    return false_link, false_new, wrong_link


def _by_frequency(features: list[csr_array]) -> tuple[np.ndarray, list[csr_array]]:
    """Return the columns in use, the most frequent first, and the features of these.

    The weights that are read most lie together, so that they stay in the cache.
    """
    count = np.zeros(features[0].shape[1], dtype=np.intp)
    for each in features:
        count += np.bincount(each.indices, minlength=count.size)
    used = np.argsort(-count, kind="stable")[: np.count_nonzero(count)]
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


def _check_features(X: Any, width: int | None, caller: str) -> list[csr_array]:
    name = f"The 'X' parameter of {caller}"
    if issparse(X) or not is_sequence(X):
        raise TypeError(
            f"{name} must be a sequence with a sparse array for each document. Got "
            f"{type(X).__name__}."
        )
    if len(X) == 0:
        if width is None:
            raise ValueError(f"{name} must have a document at least. Got none.")
        return []
    found = []
    for i, each in enumerate(X):
        if not issparse(each):
            raise TypeError(
                f"{name} must hold sparse arrays, as AntecedentFeatures gives them. "
                f"Got {type(each).__name__} for document {i}."
            )
        if each.ndim != 2:
            raise ValueError(
                f"{name} must hold arrays of two dimensions. Got shape {each.shape} "
                f"for document {i}."
            )
        n = _n_mentions(each.shape[0])
        if n * (n + 1) // 2 != each.shape[0]:
            raise ValueError(
                f"{name} must have n * (n + 1) / 2 rows for a document of n mentions. "
                f"Got {each.shape[0]} rows for document {i}."
            )
        width = each.shape[1] if width is None else width
        if each.shape[1] != width:
            raise ValueError(
                f"{name} must have {width} columns. Got {each.shape[1]} for document "
                f"{i}."
            )
        rows = csr_array(each)
        _check_values(rows.data, i, name)
        found.append(rows)
    return found


def _check_values(values: np.ndarray, i: int, name: str) -> None:
    if values.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} must hold numbers. Got {values.dtype} for document {i}."
        )
    # a sum that is finite has only finite terms, and takes no memory
    with np.errstate(over="ignore", invalid="ignore"):
        is_finite = np.isfinite(values.sum()) or np.isfinite(values).all()
    if not is_finite:
        bad = values[~np.isfinite(values)][0]
        raise ValueError(
            f"{name} must hold finite numbers. Got {bad} for document {i}."
        )
