"""Out-of-fold marginals of a tagger."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit
from sklearn.utils.parallel import delayed

from .._compat import take_rows
from .._errors import ParameterError, ParameterTypeError, public
from .._parallel import folds_of, parallel
from .._results import object_array
from ._base import Labels, Sentences, check_fit, sorted_labels


@public
def cross_val_marginals(
    estimator: Any,
    X: Sentences,
    y: Labels,
    *,
    cv: int
    | BaseCrossValidator
    | BaseShuffleSplit
    | Iterable[tuple[ArrayLike, ArrayLike]],
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute cross-validated tag probabilities for each sentence.

    The probabilities of a sentence come from a clone of the tagger that was not trained
    on this sentence. scikit-learn's cross_val_predict does not support ragged output
    such as these probabilities.

    Parameters
    ----------
    estimator : tagger, or pipeline that ends in a tagger
        Tagger to clone and fit in each fold.
    X : sequence of sentences
        Sentences of tokens.
    y : sequence of label sequences
        True labels.
    cv : int, splitter or iterable of (train, test)
        Folds over sentences. Each sentence must be in exactly one test fold. An int is
        the number of consecutive folds, without shuffling.
    groups : array-like of shape (n_sentences,), default=None
        Groups of sentences for group splitters, for example the document of each
        sentence.
    n_jobs : int, default=None
        Number of folds that joblib fits in parallel.
    verbose : int, default=0
        If positive, joblib prints the progress over the folds.

    Returns
    -------
    proba : ndarray of shape (n_sentences,), object
        An array of shape (n_tokens, n_classes) for each sentence. A label that does not
        occur in the training folds has a probability of 0.
    classes : ndarray of shape (n_classes,)
        Sorted labels of `y`, in the order of the columns.

    Raises
    ------
    ValueError
        If a sentence is in no test fold or in several test folds, or if the `fit`
        method of the tagger raises this error.

    Examples
    --------
    >>> from skcalib.sequence import HMMTagger, cross_val_marginals
    >>> X = [["the", "dog"], ["a", "dog"], ["the", "cat"], ["a", "cat"]]
    >>> y = [["D", "N"]] * 4
    >>> proba, classes = cross_val_marginals(HMMTagger(), X, y, cv=2)
    >>> classes
    array(['D', 'N'], dtype='<U1')
    >>> proba[0].round(2)
    array([[0.86, 0.14],
           [0.29, 0.71]])
    """
    sentences, labels = check_fit(X, y)
    classes = sorted_labels(labels)
    n = len(sentences)
    if not hasattr(estimator, "fit"):
        raise ParameterTypeError(
            "estimator", f"must be a tagger. Got {estimator!r:.50} instead."
        )
    folds = folds_of(cv, sentences, groups, "sentences")
    tested = np.bincount(np.concatenate([test for _, test in folds]), minlength=n)
    if (tested != 1).any():
        i = int((tested != 1).argmax())
        raise ParameterError(
            "cv",
            f"must test each sentence in exactly one fold. Sentence {i} is in "
            f"{tested[i]} test folds.",
        )
    found = parallel(n_jobs, verbose)(
        delayed(_fold)(clone(estimator), X, y, train, test) for train, test in folds
    )
    # The training part of a fold may lack labels, and so have fewer columns.
    column = {label: k for k, label in enumerate(classes.tolist())}
    entries: list[Any] = [None] * n
    for (_, test), (proba, known) in zip(folds, found, strict=True):
        columns = np.array([column[label] for label in known], dtype=np.intp)
        for i, marginal in zip(test, proba, strict=True):
            entries[i] = np.zeros((marginal.shape[0], classes.size))
            entries[i][:, columns] = marginal
    return object_array(entries), classes


def _fold(
    estimator: Any, X: Any, y: Any, train: np.ndarray, test: np.ndarray
) -> tuple[np.ndarray, list]:
    """Return the probabilities of a test fold and the labels of their columns."""
    estimator.fit(take_rows(X, train), take_rows(y, train))
    proba = estimator.predict_proba(take_rows(X, test))
    return proba, np.asarray(estimator.classes_).tolist()
