"""Base of the queries, and how they read labels and probabilities of sentences.

An estimator is unwrapped to its last step, whose posterior answers. Labels and
probabilities of sentences, which are ragged lists, become flat arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .._clusterings import check_entries
from .._errors import ParameterError, ParameterTypeError, public
from .._validation import (
    as_array,
    as_label_lists,
    as_probabilities,
    check_same_length,
    column_names,
    describe_container,
    label_array,
    out_of_range,
)
from ..posteriors import LinearChainPosterior
from ._answers import Answers


def last_step(estimator: Any) -> Any:
    """Return the last estimator of nested pipelines and fitted searches."""
    # A search without refit has no best estimator and is returned as it is.
    if hasattr(estimator, "best_estimator_"):
        return last_step(estimator.best_estimator_)
    if hasattr(estimator, "steps"):
        return last_step(estimator.steps[-1][1])
    return estimator


def final_estimator(estimator: Any) -> Any:
    """Return the last estimator of a pipeline or search, fitted or not."""
    last = last_step(estimator)
    if getattr(last, "refit", False) and hasattr(last, "estimator"):  # not fitted
        return final_estimator(last.estimator)
    return last


def transform_before(estimator: Any, X: Any) -> Any:
    """Return X as the last estimator of a pipeline or a fitted search receives it."""
    if hasattr(estimator, "best_estimator_"):
        return transform_before(estimator.best_estimator_, X)
    if hasattr(estimator, "steps"):
        if len(estimator.steps) > 1:
            # Without steps, estimator[:-1] would raise an error.
            X = estimator[:-1].transform(X)
        return transform_before(estimator.steps[-1][1], X)
    return X


def posterior_of(estimator: Any, X: Any) -> Any:
    """Return the posterior of the last estimator of a fitted pipeline or search."""
    return last_step(estimator).posterior(transform_before(estimator, X))


def check_labels(X: Any, y: Any, of: str) -> None:
    """Raise an error unless X and y have one entry for each sentence or document."""
    if hasattr(X, "__len__"):
        check_entries(y, len(X), of, "y")


def check_posterior(posterior: Any, kind: str, fits: bool, hint: str = "") -> None:
    """Raise an error if a posterior does not fit; `kind` names the expected one."""
    if not fits:
        found = type(posterior).__name__
        raise ParameterTypeError("posterior", f"must be {kind}. Got {found}.{hint}")


class Query:
    """Base of the queries that a posterior answers.

    A query writes two methods. `_ask(y_true, posterior, classes, predict)` returns the
    answers of a posterior; `classes` are the labels of tags or None, and `predict`
    returns the predictions of the estimator, or is None if there is no estimator or it
    does not predict. `from_proba` returns the answers of given probabilities, whose
    format differs between queries.
    """

    _ask: Callable[..., Answers]
    # For the error about an estimator without a posterior.
    _needs: ClassVar[str] = "a posterior method"
    _advice: ClassVar[str]

    def _ask_estimator(self, estimator: Any, X: Any, y: Any) -> Answers:
        model = last_step(estimator)
        if not hasattr(model, "posterior"):
            raise ParameterError(
                "estimator",
                f"must have {self._needs}. Got {type(model).__name__}. {self._advice}",
            )
        X = transform_before(estimator, X)
        posterior = model.posterior(X)
        # Only the posterior of a tagger has indices of labels.
        classes = model.classes_ if hasattr(posterior, "n_tags") else None
        # Most queries do not need predictions, which take time.
        predict = partial(model.predict, X) if hasattr(model, "predict") else None
        return self._ask(y, posterior, classes, predict)


class TaggerQuery(Query):
    """Base of the queries for taggers."""

    @public
    def __call__(self, estimator: Any, X: Any, y: Sequence[Sequence[Any]]) -> Answers:
        """Return the answers of a fitted tagger.

        Parameters
        ----------
        estimator : fitted tagger
            Tagger with a posterior method, or a pipeline or search object that ends in
            such a tagger. :class:`TagQuery` needs only ``predict_proba``, or
            ``predict_marginals`` as in sklearn-crfsuite.
        X : sequence of sentences
            Sentences of tokens.
        y : sequence of label sequences
            True tags.

        Returns
        -------
        answers : Answers
            One answer for each token, pair of tokens or span, and for each tag, pair of
            tags or label that the query asks for.
        """
        check_labels(X, y, "sentence")
        return self._ask_estimator(estimator, X, y)

    @public
    def from_posterior(
        self,
        y_true: Sequence[Sequence[Any]],
        posterior: LinearChainPosterior,
        classes: ArrayLike,
    ) -> Answers:
        """Return answers with the exact probabilities of a posterior over taggings.

        Parameters
        ----------
        y_true : sequence of label sequences
            True tags.
        posterior : LinearChainPosterior
            Posterior over the taggings of the same sentences. If the query asks for
            predicted entities, its most probable tagging is the prediction.
        classes : array-like of shape (n_tags,)
            Labels of the tag indices.

        Returns
        -------
        answers : Answers
            One answer for each token, pair of tokens or span, and for each tag, pair of
            tags or label that the query asks for.
        """
        return self._ask(y_true, posterior, classes, None)


def check_same_entries(y_true: Any, other: Any, name: str) -> None:
    """Raise an error unless `other` has one entry for each sentence of `y_true`."""
    check_entries(other, None, "sentence", name)
    check_entries(y_true, None, "sentence", "y_true")
    if len(y_true) != len(other):
        raise ParameterError(
            None,
            f"needs an entry of {name!r} for each sentence of 'y_true'. Got "
            f"{len(other)} and {len(y_true)}.",
        )


def tag_paths(
    sentences: Sequence[Sequence[Any]], classes: list[Any]
) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the indices of tags in `classes`, and which sentences have only such tags.

    Any other tag has index 0.
    """
    place = {label: k for k, label in enumerate(classes)}
    paths = [np.array([place.get(t, 0) for t in tags], np.intp) for tags in sentences]
    known = [all(tag in place for tag in tags) for tags in sentences]
    return paths, np.array(known, dtype=bool)


def sentence_and_token(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sentence of each token, and its index in the sentence."""
    sentence = np.repeat(np.arange(lengths.size), lengths)
    return sentence, np.arange(sentence.size) - (np.cumsum(lengths) - lengths)[sentence]


def flat_tags(
    y_true: Any, other: Any, name: str, least: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Return the tags of all tokens, and the lengths of the sentences.

    `other` must have one entry per sentence. Some sentence must have `least` tokens.
    """
    labels = as_label_lists(y_true, name="y_true")
    check_same_entries(labels, other, name)
    lengths = np.fromiter(map(len, labels), np.intp, len(labels))
    if lengths.max(initial=0) < least:
        expected = "at least one token. Got no token."
        if least > 1:
            expected = "a sentence with at least two tokens. Got no such sentence."
        raise ParameterError("y_true", f"must have {expected}")
    return label_array(chain.from_iterable(labels)), lengths


def tags_and_lengths(
    y_true: Any, posterior: Any, least: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Return the tags and lengths of the sentences that a posterior describes."""
    tags, lengths = flat_tags(y_true, posterior, "posterior", least)
    check_sentences(posterior, lengths, "y_true", "labels")
    return tags, lengths


def check_sentences(posterior: Any, lengths: Any, name: str, unit: str) -> None:
    """Raise an error unless a posterior describes sentences of these lengths.

    `name` is the parameter whose sentences have these numbers of a unit.
    """
    check_chain(posterior)
    check_same_length(**{name: lengths, "posterior": posterior})
    wrong = np.flatnonzero(posterior.lengths != lengths)
    if wrong.size:
        i = int(wrong[0])
        raise ParameterError(
            "posterior",
            f"must describe the sentences of {name!r}. Sentence {i} has "
            f"{lengths[i]} {unit} and {posterior.lengths[i]} tokens.",
        )


def check_chain(posterior: Any) -> None:
    """Raise an error unless a posterior is over taggings."""
    hint = ""
    # A frequent mistake is to pass the tagger itself.
    if hasattr(last_step(posterior), "predict"):
        hint = (
            " Pass what the tagger's method posterior(X) returns, and the tagger's "
            "attribute classes_ as 'classes'."
        )
    is_chain = hasattr(posterior, "lengths") and hasattr(posterior, "n_tags")
    check_posterior(posterior, "a LinearChainPosterior", is_chain, hint)


def stack_rows(
    proba: Any, n_rows: np.ndarray, lengths: np.ndarray, shape: str
) -> tuple[np.ndarray, list[Any] | None]:
    """Return the rows of probabilities of all sentences, and the column names.

    `n_rows` is the number of rows of each sentence, `shape` their shape for messages.
    """
    some: list[np.ndarray] = []
    names: list[Any] | None = None
    for i, part in enumerate(proba):
        array = as_numbers(part, f"sentence {i}")
        # An empty list has no number of columns.
        if n_rows[i] == 0 and array.size == 0:
            continue
        # `shape` names the dimensions: (n_tokens, n_tags), or one more for pairs of
        # tags.
        right = array.ndim == shape.count(",") + 1 and array.shape[0] == n_rows[i]
        if not right or array.size == 0 or len(set(array.shape[1:])) != 1:
            raise ParameterError(
                "proba",
                f"must have shape {shape} for each sentence. Sentence {i} has "
                f"{lengths[i]} labels and shape {array.shape}.",
            )
        found = column_names(part)
        # Columns of tables may be in another order in each sentence.
        if some and found != names:
            raise ParameterError(
                "proba",
                "must have the same columns in each sentence. Got "
                f"{found!r:.100} for sentence {i}, and {names!r:.100} before it.",
            )
        names = found
        some.append(array.reshape(n_rows[i], -1))
    widths = {part.shape[1] for part in some}
    if len(widths) > 1:
        raise ParameterError(
            "proba",
            f"must have the same number of tags for each token. Got {sorted(widths)}.",
        )
    rows = np.concatenate(some)
    first = lengths - n_rows
    # Checked here, where an error can name the sentence; below, it would name a row.
    check_range(rows, lambda row, _: place_of_row(row, n_rows, first))
    return as_probabilities(rows, name="proba", n_columns=1), names


def as_numbers(part: Any, where: str) -> np.ndarray:
    """Return the probabilities of one sentence or document as an array of numbers."""
    try:
        array = as_array(part, name="proba")
        # For example decimal numbers, or None, which becomes NaN.
        if array.dtype == object:
            array = array.astype(np.float64)
        if array.size and array.dtype.kind not in "fiub":
            raise ValueError
    except ParameterError as error:
        # Errors of tensors and masks do not know the sentence.
        error.problem += f" This is in {where}."
        raise
    except (TypeError, ValueError):
        raise ParameterError(
            "proba",
            "must contain numbers, in rows of equal length. Got "
            f"{describe_container(part)} for {where}.",
        ) from None
    return array


def place_of_row(row: int, n_rows: np.ndarray, first: np.ndarray) -> str:
    """Return the sentence and token of a row, for messages.

    `first` is the token of the first row of each sentence.
    """
    i = int(np.searchsorted(np.cumsum(n_rows), row, side="right"))
    return f"sentence {i}, token {row - n_rows[:i].sum() + first[i]}"


def check_range(q: np.ndarray, place: Callable[..., str]) -> None:
    """Raise an error that names the place of the first number that is no probability.

    `place` describes an index: that of a row, or row and column if it takes both.
    """
    bad = out_of_range(q)
    if bad.any():
        at = np.argwhere(bad)[0].tolist()
        raise ParameterError(
            "proba",
            "must be probabilities in [0, 1]. Got "
            f"{float(q[tuple(at)])!r} in {place(*at)}.",
        )
