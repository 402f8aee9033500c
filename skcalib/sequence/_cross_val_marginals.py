"""Out-of-fold marginals of taggers, coreference models and parsers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from .._validation import as_label_lists
from ..queries._query import posterior_of
from ._base import check_structures, sorted_labels


@public
def cross_val_marginals(
    estimator: Any,
    X: Sequence[Any] | np.ndarray,
    y: Sequence[Any] | np.ndarray,
    *,
    cv: int
    | BaseCrossValidator
    | BaseShuffleSplit
    | Iterable[tuple[ArrayLike, ArrayLike]],
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Compute cross-validated probabilities for each sentence or document.

    The probabilities of a sentence or document come from a clone of the model that was
    not trained on it.

    Parameters
    ----------
    estimator : tagger, coreference model or parser
        Model to clone and fit in each fold, or a pipeline that ends in such a model. A
        parser is an estimator without `predict_proba` whose `posterior` method returns
        a :class:`~skcalib.experimental.TreePosterior`.
    X : sequence of sentences or documents
        Input of the model.
    y : sequence of structures
        True labels of the tokens of each sentence, entities of the mentions of each
        document, or heads of the words of each sentence.
    cv : int, splitter or iterable of (train, test)
        Folds over the entries of `X`. Each entry must be in exactly one test fold. An
        int is the number of consecutive folds, without shuffling.
    groups : array-like of shape (n_samples,), default=None
        Groups of the entries for group splitters, for example the document of each
        sentence.
    n_jobs : int, default=None
        Number of folds that joblib fits in parallel.
    verbose : int, default=0
        If positive, joblib prints the progress over the folds.

    Returns
    -------
    proba : ndarray of shape (n_samples,), object
        The output of `predict_proba` for each entry. For a tagger, this is an array of
        shape (n_tokens, n_classes). A label that does not occur in the training folds
        has a probability of 0. For a coreference model, it is a condensed vector of
        shape (n_mentions * (n_mentions - 1) / 2,). For a parser, it is an array of
        shape (n_words, n_words + 1) with the probabilities of the heads.
    classes : ndarray of shape (n_classes,) or None
        Sorted labels of `y`, in the order of the columns. None if the model does not
        have classes.

    Raises
    ------
    ValueError
        If an entry is in no test fold or in several test folds, or if the `fit` method
        of the model raises this error.

    See Also
    --------
    skcalib.queries.TagQuery : Query whose `from_proba` takes probabilities of tags.
    skcalib.queries.CorefPairQuery : Query of pairs of mentions.
    skcalib.experimental.ArcQuery : Query of the heads of words.

    Notes
    -----
    ``sklearn.model_selection.cross_val_predict(..., method="predict_proba")`` does not
    support this ragged output. It ends in "ValueError: setting an array element with a
    sequence. The requested array has an inhomogeneous shape after 1 dimensions", or in
    "ValueError: operands could not be broadcast together with shapes".

    Examples
    --------
    >>> from skcalib.sequence import HMMTagger, cross_val_marginals
    >>> X = [["the", "dog"], ["a", "dog"], ["the", "cat"], ["a", "cat"]]
    >>> y = [["D", "N"]] * 4
    >>> proba, classes = cross_val_marginals(HMMTagger(0.05), X, y, cv=2)
    >>> classes
    array(['D', 'N'], dtype='<U1')
    >>> proba[0].round(2)
    array([[1.  , 0.  ],
           [0.02, 0.98]])

    Pairs of mentions, out of fold, for a coreference pipeline:

    >>> from sklearn.pipeline import make_pipeline
    >>> from skcalib.coref import AntecedentFeatures, AntecedentRanker
    >>> from skcalib.datasets import make_coref_documents
    >>> from skcalib.queries import CorefPairQuery
    >>> documents, entities = make_coref_documents(40, random_state=0)
    >>> model = make_pipeline(AntecedentFeatures(), AntecedentRanker())
    >>> proba, _ = cross_val_marginals(model, documents, entities, cv=5)
    >>> answers = CorefPairQuery().from_proba(entities, proba)
    >>> print(f"{answers.y_proba.mean():.2f} {answers.y_true.mean():.2f}")
    0.08 0.08
    """
    if not hasattr(estimator, "fit"):
        raise ParameterTypeError(
            "estimator",
            "must be a tagger, a coreference model or a parser. Got "
            f"{estimator!r:.50} instead.",
        )
    structures = check_structures(estimator, X, y)
    n = len(structures)
    folds = folds_of(cv, X, groups, "sentences")
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
    classes = None
    if found[0][1] is not None:
        classes = sorted_labels(as_label_lists(structures, name="y"))
    entries: list[Any] = [None] * n
    for (_, test), (proba, known) in zip(folds, found, strict=True):
        if classes is not None:
            proba = _with_columns(proba, known, classes)
        for i, each in zip(test, proba, strict=True):
            entries[i] = each
    return object_array(entries), classes


def _fold(
    estimator: Any, X: Any, y: Any, train: np.ndarray, test: np.ndarray
) -> tuple[Sequence[np.ndarray], list | None]:
    """Return the probabilities of a test fold and the labels of their columns."""
    estimator.fit(take_rows(X, train), take_rows(y, train))
    X = take_rows(X, test)
    if not hasattr(estimator, "predict_proba"):
        return posterior_of(estimator, X).arc_marginals(), None
    proba = estimator.predict_proba(X)
    classes = getattr(estimator, "classes_", None)
    return proba, None if classes is None else np.asarray(classes).tolist()


def _with_columns(
    proba: Sequence[np.ndarray], known: list, classes: np.ndarray
) -> list[np.ndarray]:
    """Return arrays with a column for each class; a fold may lack some of them."""
    place = {label: k for k, label in enumerate(classes.tolist())}
    columns = np.array([place[label] for label in known], dtype=np.intp)
    found = [np.zeros((len(each), classes.size)) for each in proba]
    for wide, each in zip(found, proba, strict=True):
        wide[:, columns] = each
    return found
