"""Base class of taggers, and validation of the sentences and labels that they take."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain, count, repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._errors import ParameterError, ParameterTypeError, public
from .._results import object_array
from .._validation import (
    as_entries,
    as_label_lists,
    check_choice,
    check_float_type,
    check_same_length,
    is_dask,
    is_sequence,
    label_array,
    weights_or_ones,
)
from ..posteriors import LinearChainPosterior
from ..posteriors._checks import check_label_pairs
from ..queries._query import final_estimator

Words: TypeAlias = Sequence[Sequence[str]] | np.ndarray
Sentences: TypeAlias = (
    Words
    | Sequence[Sequence[Mapping[str, object]]]
    | Sequence[sparse.sparray | sparse.spmatrix]
)
Labels: TypeAlias = Sequence[Sequence[Hashable] | np.ndarray] | np.ndarray

_MUST_BE = (
    "must be a sequence of sentences, and a sentence a sequence of tokens, as in "
    "[['the', 'dog'], ['it', 'barks']]."
)


def numbering() -> defaultdict[Any, int]:
    """Return a dict that numbers things in the order of their first lookup."""
    return defaultdict(count().__next__)


def number_all(things: Iterable[Any], of: dict[Any, int], size: int) -> np.ndarray:
    """Return the numbers of `size` things in the dict, which may add new things."""
    return np.fromiter(map(of.__getitem__, things), np.intp, size)


def known_numbers(things: Iterable[Any], of: dict[Any, int], size: int) -> np.ndarray:
    """Return the numbers of `size` things, -1 for things that are not in the dict."""
    return np.fromiter(map(of.get, things, repeat(-1)), np.int32, size)


def one_of_each_type(things: list[Any]) -> Collection[Any]:
    """Return one thing of each type, since checking all things would take too long."""
    return dict(zip(map(type, things), things, strict=True)).values()


# Sentences


def check_sentences(X: Any) -> list[Any]:
    """Return the sentences as a list, each with a length.

    The tokens are checked by the functions that read them.
    """
    if hasattr(X, "columns") or sparse.issparse(X):
        raise ParameterTypeError(
            "X",
            f"{_MUST_BE} Got a table of shape {X.shape}: group its rows into sentences "
            "first.",
        )
    if not is_sequence(X):
        raise ParameterTypeError("X", f"{_MUST_BE} Got {type(X).__name__}.")
    sentences = as_entries(X, "X") or []
    if set(map(type, sentences)) <= {list}:
        return sentences  # the usual case
    # Except for arrays, the type determines whether an entry is a sentence.
    examples = one_of_each_type(sentences)
    arrays = (each for each in sentences if isinstance(each, np.ndarray))
    if not all(map(is_sequence, chain(examples, arrays))):
        i = next(i for i, each in enumerate(sentences) if not is_sequence(each))
        raise ParameterTypeError(
            "X",
            f"{_MUST_BE} Got {type(sentences[i]).__name__} {sentences[i]!r:.50} as "
            f"sentence {i}: put its tokens into a list.",
        )
    # pyarrow's own strings are not str
    if is_dask(*examples) or any(hasattr(each, "to_pylist") for each in examples):
        return [as_entries(each, "X") for each in sentences]
    return sentences


def n_tokens(sentence: Any) -> int:
    """Return the number of tokens of a sentence, or of rows if it is a matrix."""
    return sentence.shape[0] if sparse.issparse(sentence) else len(sentence)


def sentence_lengths(sentences: list[Any]) -> np.ndarray:
    """Return the number of tokens of each sentence."""
    length = len if set(map(type, sentences)) <= {list} else n_tokens
    return np.fromiter(map(length, sentences), np.intp, len(sentences))


def all_words(sentences: list[Any]) -> list[str]:
    """Return the concatenated words of all sentences."""
    words = list(chain.from_iterable(sentences))
    if all(issubclass(kind, str) for kind in set(map(type, words))):
        return words
    i, t, word = next(
        (i, t, word)
        for i, sentence in enumerate(sentences)
        for t, word in enumerate(sentence)
        if not isinstance(word, str)
    )
    raise ParameterTypeError(
        "X",
        f"must contain str, one word per token. Got {type(word).__name__} {word!r:.50} "
        f"in sentence {i}, token {t}.",
    )


def number_words(sentences: list[Any]) -> tuple[list[str], np.ndarray]:
    """Return the distinct words in order of appearance, and the number of each word."""
    number = numbering()  # numbers a word when it is first looked up
    words = all_words(sentences)
    numbers = number_all(words, number, len(words))
    return list(number), numbers


# Labels


def check_fit(X: Any, y: Any) -> tuple[list[Any], list[list]]:
    """Return the sentences and labels of a training set."""
    sentences = check_sentences(X)
    if y is None:
        raise ParameterError(None, "requires y to be passed, but the target y is None.")
    labels = check_labels(y, sentences)
    if not any(labels):
        problem = "needs at least one sentence with a token"
        raise ParameterError(None, f"{problem}. Got {len(sentences)} sentences.")
    return sentences, labels


def check_structures(estimator: Any, X: Any, y: Any) -> Any:
    """Return the structures of a training set; for a tagger, these are label lists."""
    if hasattr(final_estimator(estimator), "predict_marginals"):
        return check_fit(X, y)[1]
    if y is None:
        raise ParameterError(None, "needs y to be passed. Got None.")
    check_same_length(X=X, y=y)
    if len(y) == 0:
        raise ParameterError(None, "needs X and y with at least one entry. Got none.")
    return y


def check_labels(y: Any, sentences: list[Any]) -> list[list]:
    """Return the labels as lists, one as long as each sentence."""
    labels = as_label_lists(y, name="y")
    if len(labels) != len(sentences):
        raise ParameterError(
            None,
            "needs X and y with one entry per sentence. Got "
            f"{len(sentences)} sentences in X and {len(labels)} in y.",
        )
    expected, found = sentence_lengths(sentences), sentence_lengths(labels)
    if (expected != found).any():
        i = int((expected != found).argmax())
        raise ParameterError(
            "y",
            f"must have a label for each token. Sentence {i} has {expected[i]} tokens "
            f"and {found[i]} labels.",
        )
    return labels


def number_labels(labels: list[list]) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted labels, and the number of each label."""
    number = numbering()
    numbers = number_all(chain.from_iterable(labels), number, sum(map(len, labels)))
    classes = sorted_labels([list(number)])
    place = {label: k for k, label in enumerate(classes.tolist())}
    return classes, np.array([place[label] for label in number], dtype=np.intp)[numbers]


def sorted_labels(labels: list[list]) -> np.ndarray:
    """Return the distinct labels, sorted, as an array of their type."""
    distinct = set(chain.from_iterable(labels))
    try:
        ordered = sorted(distinct)
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in distinct}))
        problem = f"must have labels of one type, to be sorted. Got {kinds}."
        raise ParameterError("y", problem) from None
    if all(isinstance(label, (int, np.integer)) for label in ordered):
        return np.array(ordered)
    return label_array(ordered)


class BaseTagger(BaseEstimator):
    """Base class of taggers. Subclasses define `fit`, `classes_` and `_posterior`.

    Taggers do not inherit from ClassifierMixin, because scikit-learn would then treat
    ragged labels as labels of a classifier, and cross-validation would fail.
    """

    decoding: str
    dtype: DTypeLike
    classes_: np.ndarray

    def _posterior(self, sentences: list[Any]) -> LinearChainPosterior:
        raise NotImplementedError

    def _check_inference(self) -> np.dtype:
        """Check the parameters of prediction, and return the dtype."""
        check_choice(self.decoding, ("viterbi", "posterior"), name="decoding")
        return check_float_type(self.dtype, name="dtype")

    def _posterior_of(self, X: Sentences) -> LinearChainPosterior:
        check_is_fitted(self)
        return self._posterior(check_sentences(X))

    @public
    def posterior(self, X: Sentences) -> LinearChainPosterior:
        """Return the posterior over taggings of each sentence.

        Parameters
        ----------
        X : sequence of sentences
            Sentences of tokens.

        Returns
        -------
        posterior : LinearChainPosterior
            Posterior over taggings. Its tag index k stands for the label
            ``classes_[k]``.

        Raises
        ------
        NotFittedError
            If the tagger is not fitted. This error and the errors below are raised by
            all methods that take sentences.
        TypeError
            If `X` is not a sequence of sentences, or if the tagger does not accept
            tokens of this type.
        ValueError
            If the weight of an attribute is not finite, or if a matrix does not have
            the number of columns that the tagger was fitted on.
        """
        return self._posterior_of(X)

    @public
    def predict(self, X: Sentences) -> np.ndarray:
        """Predict the tags of sentences.

        Parameters
        ----------
        X : sequence of sentences
            Sentences of tokens.

        Returns
        -------
        y : ndarray of shape (n_sentences,), object
            A list of labels for each sentence: the most probable tagging, or with
            ``decoding="posterior"`` the most probable tag of each token.
        """
        posterior = self._posterior_of(X)
        if self.decoding == "viterbi":
            paths = posterior.viterbi()
        else:
            paths = posterior.posterior_decode()
        return object_array([self.classes_[path].tolist() for path in paths])

    @public
    def predict_proba(self, X: Sentences) -> np.ndarray:
        """Return the posterior probability of each tag at each token.

        Parameters
        ----------
        X : sequence of sentences
            Sentences of tokens.

        Returns
        -------
        proba : ndarray of shape (n_sentences,), object
            An array of shape (n_tokens, n_classes) for each sentence, with columns in
            the order of `classes_` and rows that sum to one.

        Notes
        -----
        scikit-learn's ``cross_val_predict(..., method="predict_proba")`` raises
        "ValueError: setting an array element with a sequence. The requested array has
        an inhomogeneous shape after 1 dimensions", because it converts `y` to an array.
        Use :func:`~skcalib.sequence.cross_val_marginals` instead.
        """
        return object_array(self._posterior_of(X).token_marginals())

    def predict_marginals(self, X: Sentences) -> np.ndarray:
        """Return the posterior probability of each tag at each token.

        This method is an alias of :meth:`predict_proba`. Pipelines and search
        estimators do not have this alias.

        Parameters
        ----------
        X : sequence of sentences
            Sentences of tokens.

        Returns
        -------
        proba : ndarray of shape (n_sentences,), object
            An array of shape (n_tokens, n_classes) for each sentence.
        """
        return self.predict_proba(X)

    @public
    def predict_pair_marginals(
        self, X: Sentences, pairs: Sequence[tuple[Hashable, Hashable]] | None = None
    ) -> np.ndarray:
        """Return the posterior probability of pairs of tags at consecutive tokens.

        Parameters
        ----------
        X : sequence of sentences
            Sentences of tokens.
        pairs : sequence of (label, label), default=None
            Pairs of labels from `classes_`: the label of a token and the label of the
            next token. If None, all pairs are computed, which takes n_classes times the
            memory of :meth:`predict_proba`.

        Returns
        -------
        proba : ndarray of shape (n_sentences,), object
            An array for each sentence, in which row t is for tokens t and t + 1. Its
            shape is (n_tokens - 1, n_pairs). If `pairs` is None, the shape is
            (n_tokens - 1, n_classes, n_classes), with indices [this label, next label].

        Examples
        --------
        >>> from skcalib import HMMTagger
        >>> X = [["the", "dog", "barks"], ["dogs", "bark"]]
        >>> tagger = HMMTagger(0.1).fit(X, [["D", "N", "V"], ["N", "V"]])
        >>> tagger.predict_pair_marginals(X, [("D", "N"), ("N", "V")])[0].round(2)
        array([[0.99, 0.  ],
               [0.  , 0.98]])
        """
        check_is_fitted(self)
        chosen = pair_places(pairs, self.classes_.tolist())
        return object_array(self._posterior_of(X).pair_marginals(chosen))

    @public
    def score(
        self, X: Sentences, y: Labels, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the accuracy of the predicted tags.

        Parameters
        ----------
        X : sequence of sentences
            Sentences of tokens.
        y : sequence of label sequences
            True labels.
        sample_weight : array-like of shape (n_sentences,), default=None
            Weight of each sentence. Every token has the weight of its sentence.

        Returns
        -------
        accuracy : float
            Fraction of tokens whose predicted tag is the true tag.

        Raises
        ------
        ValueError
            If a sentence has more or fewer labels than tokens, if a label is missing,
            if a weight is negative or not finite, or if no token has a positive weight.

        Notes
        -----
        ``scoring=None`` selects this accuracy in cross_val_score and GridSearchCV.
        ``scoring="accuracy"`` raises "ValueError: You appear to be using a legacy
        multi-label data representation. Sequence of sequences are no longer supported",
        because scikit-learn does not accept sequences of labels.
        """
        return token_accuracy(self, X, y, sample_weight)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags


def token_accuracy(tagger: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Return the fraction of tokens that a fitted tagger tags correctly."""
    check_is_fitted(tagger)
    sentences = check_sentences(X)
    labels = check_labels(y, sentences)
    weight = weights_or_ones(sample_weight, len(labels))
    size = sentence_lengths(labels).astype(np.float64)
    if not (weight * size).sum() > 0:
        raise ParameterError(None, "needs at least one token of positive weight.")
    right = [
        sum(a == b for a, b in zip(found, tags, strict=True))
        for found, tags in zip(tagger.predict(sentences), labels, strict=True)
    ]
    return float(weight @ np.array(right) / (weight @ size))


def pair_places(pairs: Any, classes: list[Any]) -> np.ndarray | None:
    """Return the positions in `classes` of pairs of labels; None for None."""
    if pairs is None:
        return None
    place = {label: i for i, label in enumerate(classes)}
    labels = check_label_pairs(pairs)
    found = np.empty((len(labels), 2), dtype=np.intp)
    for i, pair in enumerate(labels):
        for j, label in enumerate(pair):
            try:
                found[i, j] = place[label]
            except (KeyError, TypeError):
                raise ParameterError(
                    "pairs",
                    f"must contain labels of classes_, {classes!r:.200}. Got {label!r} "
                    f"in pair {i}.",
                ) from None
    return found
