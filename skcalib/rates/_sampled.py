"""Confidence from repeated samples: clusters of answers, and how sure they are."""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csgraph

from .._clusterings import as_list
from .._errors import ParameterError, public
from .._pairs import Pairs
from .._results import Result, object_array
from .._validation import as_array, as_groups, check_fraction, is_missing, is_sequence
from ..metrics._bins import check_binning
from ..metrics._draws import DrawRows, left_out_rows
from ..metrics._interval import (
    CalibrationErrorInterval,
    check_two,
    interval_of_draws,
    warn_of_few,
)

# Limits of the logarithms of both parameters of the Beta distribution.
_LOG_PARAMETERS = (-7.0, 9.0)


@dataclass(frozen=True, repr=False, eq=False)
class SampledConfidence(Result):
    """Sampled answers of questions in clusters, with the confidence in each answer.

    Returned by :func:`sampled_confidence`.

    Attributes
    ----------
    answer : ndarray of shape (n,), object
        Answer to give: the first answer of the largest cluster, as it was sampled. If
        two clusters are equally large, the one that was sampled first is used.
    share : ndarray of shape (n,)
        Share of the samples that are in the cluster of the answer.
    entropy : ndarray of shape (n,)
        Entropy of the shares of the clusters, in nats.
    same : ndarray of shape (n,)
        Share of the pairs of samples that are in the same cluster.
    n_draws : ndarray of shape (n,), int
        Number of samples.
    cluster : list of ndarray, int
        Cluster of each sample, numbered by first appearance.
    chosen : ndarray of shape (n,), int
        Index of the sample that is the answer.
    conflict : float
        Share of the pairs of samples of one cluster that are not equivalent themselves.
        They are in one cluster because a chain of equivalent answers connects them. It
        is 0 if `equivalent` is transitive or None.

    See Also
    --------
    sampled_confidence : Compute the confidences.

    Examples
    --------
    >>> from skcalib.rates import sampled_confidence
    >>> result = sampled_confidence([["Paris", "paris", "Lyon"], ["4", "5", "5"]])
    >>> result.answer.tolist(), result.share.round(2).tolist()
    (['Paris', '5'], [0.67, 0.67])
    """

    answer: np.ndarray
    share: np.ndarray
    entropy: np.ndarray
    same: np.ndarray
    n_draws: np.ndarray
    cluster: list[np.ndarray]
    chosen: np.ndarray
    conflict: float
    # Scores of the samples of an evaluation.
    _right: Any = field(repr=False, compare=False, default=None)
    # Clusters as a table of questions and samples, -1 after the last sample.
    _table: np.ndarray = field(
        repr=False, compare=False, default_factory=lambda: np.empty(0)
    )

    def _columns(self) -> dict[str, Any]:
        names = ("answer", "share", "entropy", "same", "n_draws")
        return {**{name: getattr(self, name) for name in names}, "shrunk": self.shrunk}

    def __repr__(self) -> str:
        least, most = self.n_draws.min(), self.n_draws.max()
        return (
            f"SampledConfidence(n_questions={self.share.size}, "
            f"n_draws={least if least == most else f'{least} to {most}'}, "
            f"mean share={self.share.mean():.3f}, "
            f"mean entropy={self.entropy.mean():.3f}, conflict={self.conflict:.3g})"
        )

    @cached_property
    def shrunk(self) -> np.ndarray:
        """Probabilities that a further sample agrees with the answer.

        The mean (s + a) / (k + a + b) of the Beta distribution after s of k samples
        agreed. a and b maximise the likelihood of each sample given the others, where
        the answer is chosen from the others, as in
        :meth:`calibration_error_interval`.
        """
        left = self._left_out
        v, others, x = left["count"], left["k"] - 1, left["left_out"]
        weight = left["weight"]

        def loss(logs: np.ndarray) -> float:
            a, b = np.exp(logs)
            p = (v + a) / (others + a + b)
            return -float(weight @ np.where(x > 0, np.log(p), np.log1p(-p)))

        # Its import takes a tenth of the time of a command.
        from scipy.optimize import minimize

        a, b = np.exp(minimize(loss, np.zeros(2), bounds=[_LOG_PARAMETERS] * 2).x)
        return (self.share * self.n_draws + a) / (self.n_draws + a + b)

    @cached_property
    def _left_out(self) -> dict[str, np.ndarray]:
        """Leave out each sample, and choose the answer from the others.

        The samples of a cluster except the first one are alike, so they are one row.
        Returns the question, whether the sample agrees with the answer, how many of the
        others agree, the number of samples, the weight and the index of the answer.
        """
        table, k = self._table, self.n_draws
        counts = _counts(table)
        # Index of the first and the second sample of each cluster.
        first = np.full(counts.shape, table.shape[1])
        second = first.copy()
        for j in range(table.shape[1] - 1, -1, -1):
            row = np.flatnonzero(table[:, j] >= 0)
            c = table[row, j]
            second[row, c] = first[row, c]
            first[row, c] = j
        found: list[tuple[np.ndarray, ...]] = []
        for c in range(counts.shape[1]):
            row = np.flatnonzero(counts[:, c])
            rest, start = counts[row], first[row]
            rest[:, c] -= 1
            at = np.arange(row.size)
            # Another sample of the cluster is left out, or its first sample.
            cases = (rest[:, c], first[row, c]), (np.ones(row.size), second[row, c])
            for number, begin in cases:
                start[:, c] = begin
                # the largest cluster, and of equal ones the first
                best = (rest * (table.shape[1] + 1) - start).argmax(axis=1)
                weight, chosen = number / k[row], start[at, best]
                agrees = 1.0 * (best == c)
                found.append((row, agrees, rest[at, best], k[row], weight, chosen))
        names = ("question", "left_out", "count", "k", "weight", "chosen")
        columns = map(np.concatenate, zip(*found, strict=True))
        return dict(zip(names, columns, strict=True))

    @public
    def calibration_error_interval(
        self,
        right: Sequence[ArrayLike] | None = None,
        *,
        groups: ArrayLike | None = None,
        bin_size: int | Literal["auto"] = "auto",
        confidence_level: float = 0.95,
    ) -> CalibrationErrorInterval:
        """Compute the calibration error of the probabilities behind the shares.

        Parameters
        ----------
        right : sequence of n array-likes, or array-like of shape (n, k), default=None
            Whether each sampled answer is right, 0 or 1. If None, the scores of the
            evaluation from which the answers were read, which must all be known.
        groups : array-like of shape (n,), default=None
            Group of each question. Questions of one group may depend on each other.
        bin_size : int or 'auto', default='auto'
            Number of questions in a bin, as in
            :func:`~skcalib.metrics.calibration_error_interval`.
        confidence_level : float, default=0.95
            Confidence level of the interval.

        Returns
        -------
        interval : CalibrationErrorInterval
            `estimate` is 0 in expectation for a calibrated model. `plug_in` is the
            error of the shares of the given answers, which were chosen from the same
            samples.

        Raises
        ------
        ValueError
            If `right` does not have one value, 0 or 1, for each sample.

        Notes
        -----
        Each sample is left out in turn, and the answer is chosen from the others. If
        the answer were chosen from all samples, the sample that is left out would agree
        with it too often. The number of the others that agree with the answer decides
        the bin, and the residual is x - y, where x is 1 if the sample that is left out
        agrees, and y is 1 if the chosen answer is right. See the `n_draws` parameter of
        :func:`~skcalib.metrics.calibration_error`.
        """
        level = check_fraction(confidence_level, name="confidence_level")
        binning = check_binning(bin_size, None, "quantile")
        check_two(binning)
        pairs, rows = self._rows(self._right if right is None else right, groups)
        result = interval_of_draws(rows, pairs, binning, level)
        warn_of_few([(None, result)])
        return result

    def _rows(self, right: Any, groups: Any = None) -> tuple[Pairs, DrawRows]:
        """Return the questions with their shares, and the rows of left-out samples."""
        table = _check_right(right, self.n_draws)
        n, left = self.share.size, self._left_out
        y = table[np.arange(n), self.chosen]
        pairs = Pairs(self.share, y, self.share[y], row_groups=as_groups(groups, n))
        left = dict(left)  # a copy, since the numbers are stored
        positive = table[left["question"], left.pop("chosen")]
        return pairs, left_out_rows(**left, positive=positive, pairs=pairs)


@public
def sampled_confidence(
    answers: Sequence[Sequence[Any]] | ArrayLike | Any,
    *,
    equivalent: Sequence[ArrayLike] | ArrayLike | None = None,
) -> SampledConfidence:
    """Compute the answers and the confidences from repeated samples of a model.

    Parameters
    ----------
    answers : sequence of n sequences, array-like of shape (n, k) or Evaluation
        Sampled answers of each question: strings, or labels of clusters. Each question
        needs at least two. An evaluation that
        :func:`~skcalib.evaluation.read_evaluation` returns contains them and their
        scores if the file has several answers to each question, as with epochs of
        Inspect or ``repeats`` of lm-evaluation-harness. Strings are compared after
        Unicode normalisation (NFKC) and case folding, without white space and full
        stops at the end, and with a single space for each run of white space.
    equivalent : sequence of n matrices, or array-like of shape (n, k, k), default=None
        Whether two samples of a question are the same answer, 0 or 1, by any judge. Two
        samples are equivalent if both directions are 1. Clusters are the connected
        components. If None, equal answers are equivalent.

    Returns
    -------
    result : SampledConfidence

    Raises
    ------
    ValueError
        If a question has fewer than two answers, an answer is missing (None or NaN), or
        a matrix does not fit the answers.

    See Also
    --------
    skcalib.metrics.calibration_error : Calibration error of shares, with `n_draws`.

    Notes
    -----
    No language model is loaded: equivalence of meanings must be judged elsewhere. With
    a judge, the entropy is the discrete semantic entropy [1]_. The share is the
    confidence by self-consistency [2]_.

    The share is a noisy estimate of the probability behind it, and the answer was
    chosen because its share is large. The attribute `shrunk` corrects both: it is the
    probability that a further sample agrees, which is the probability that the answer
    is right only if the model is calibrated. The method
    :meth:`~SampledConfidence.calibration_error_interval` estimates its calibration
    error.

    References
    ----------
    .. [1] S. Farquhar, J. Kossen, L. Kuhn and Y. Gal (2024). "Detecting hallucinations
       in large language models using semantic entropy". Nature 630.
    .. [2] X. Wang et al. (2023). "Self-consistency improves chain of thought reasoning
       in language models". ICLR.

    Examples
    --------
    >>> from skcalib.rates import sampled_confidence
    >>> answers = [["Paris", "paris.", "Lyon", "Paris"], ["7", "8", "9", "8"]]
    >>> result = sampled_confidence(answers)
    >>> result.answer.tolist(), result.share.tolist()
    (['Paris', '8'], [0.75, 0.5])
    >>> result.entropy.round(3).tolist(), result.same.round(3).tolist()
    ([0.562, 1.04], [0.5, 0.167])
    """
    right = None
    if hasattr(answers, "_samples"):
        evaluation: Any = answers
        samples = evaluation.scored()._samples().values()
        answers, right = [s.answers for s in samples], [s.scores for s in samples]
    rows = _check_answers(answers)
    conflicts = linked = 0.0
    if equivalent is None:
        cluster = [_first_seen([_key(each) for each in row]) for row in rows]
    else:
        judged = _check_equivalent(equivalent, rows)
        cluster = []
        for matrix in judged:
            _, found = csgraph.connected_components(matrix, directed=False)
            cluster.append(_first_seen(found.tolist()))
            together = found[:, np.newaxis] == found
            np.fill_diagonal(together, False)
            linked += together.sum()
            conflicts += (together & ~matrix).sum()
    n_draws = np.array([len(row) for row in rows])
    table = np.full((len(rows), int(n_draws.max())), -1)
    for i, labels in enumerate(cluster):
        table[i, : labels.size] = labels
    counts = _counts(table)
    chosen = (table == counts.argmax(axis=1)[:, np.newaxis]).argmax(axis=1)
    shares = counts / n_draws[:, np.newaxis]
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    pairs = (counts * (counts - 1)).sum(axis=1)
    return SampledConfidence(
        answer=object_array([row[j] for row, j in zip(rows, chosen, strict=True)]),
        share=shares.max(axis=1),
        entropy=np.maximum(-(shares * logs).sum(axis=1), 0.0),
        same=pairs / (n_draws * (n_draws - 1)),
        n_draws=n_draws,
        cluster=cluster,
        chosen=chosen,
        conflict=float(conflicts / linked) if linked else 0.0,
        _right=right,
        _table=table,
    )


def _counts(table: np.ndarray) -> np.ndarray:
    """Return the number of samples in each cluster of each question."""
    clusters = range(int(table.max()) + 1)
    return np.stack([(table == c).sum(axis=1) for c in clusters], axis=1)


def _key(answer: Any) -> Any:
    """Return what is compared of an answer."""
    if not isinstance(answer, str):
        return answer
    words = unicodedata.normalize("NFKC", answer).casefold().split()
    return " ".join(words).rstrip(" .")


def _first_seen(keys: list[Any]) -> np.ndarray:
    """Return the number of each key in the order of first appearance."""
    number = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    return np.array([number[key] for key in keys])


def _entries(values: Any, name: str, what: str) -> list[list[Any]]:
    """Return a list of the entries of each question."""
    expected = f"must have a sequence of {what} for each question."
    if not is_sequence(values) or not len(values):
        raise ParameterError(name, f"{expected} Got {values!r:.50}.")
    rows = as_list(values)
    for i, row in enumerate(rows):
        if not is_sequence(row):
            raise ParameterError(name, f"{expected} Got {row!r:.50} for question {i}.")
    return list(map(as_list, rows))


def _check_answers(answers: Any) -> list[list[Any]]:
    rows = _entries(answers, "answers", "answers")
    for i, row in enumerate(rows):
        if len(row) < 2:
            raise ParameterError(
                "answers",
                f"must have at least two samples of each question. Got {len(row)} of "
                f"question {i}.",
            )
        for j, each in enumerate(row):
            place = f"sample {j} of question {i}"
            if not isinstance(each, Hashable):
                kind = type(each).__name__
                problem = f"must contain strings or labels. Got {kind} in {place}."
                raise ParameterError("answers", problem)
            if is_missing(each):
                raise ParameterError(
                    "answers",
                    f"must not be missing. Got {each!r} in {place}. Leave the sample "
                    "out, or pass a label such as 'no answer'.",
                )
    return rows


def _check_equivalent(equivalent: Any, rows: list[list[Any]]) -> list[np.ndarray]:
    """Return a symmetric boolean matrix for each question."""
    found = []
    several = list(equivalent) if hasattr(equivalent, "__iter__") else []
    if len(several) != len(rows):
        raise ParameterError(
            "equivalent",
            f"must have one matrix for each of {len(rows)} questions. Got "
            f"{len(several)}.",
        )
    for i, (each, row) in enumerate(zip(several, rows, strict=True)):
        matrix, k = as_array(each, name="equivalent"), len(row)
        if matrix.shape != (k, k):
            raise ParameterError(
                "equivalent",
                f"must have shape {(k, k)} for the {k} samples of question {i}. Got "
                f"{matrix.shape}.",
            )
        if matrix.dtype.kind not in "biuf" or not ((matrix == 0) | (matrix == 1)).all():
            raise ParameterError(
                "equivalent", f"must contain 0 and 1. Got other values in question {i}."
            )
        found.append((matrix == 1) & (matrix == 1).T)
    return found


def _check_right(right: Any, n_draws: np.ndarray) -> np.ndarray:
    """Return whether each sample is right, as a table; False after the last one."""
    rows = _entries(right, "right", "values")
    if len(rows) != n_draws.size:
        raise ParameterError(
            "right",
            f"must have values for each of {n_draws.size} questions. Got {len(rows)}.",
        )
    table = np.zeros((n_draws.size, int(n_draws.max())), dtype=bool)
    for i, row in enumerate(rows):
        if len(row) != n_draws[i]:
            raise ParameterError(
                "right",
                f"must have one value per sample. Got {len(row)} values and "
                f"{n_draws[i]} samples of question {i}.",
            )
        numbers = (int, float, np.bool_, np.number)
        bad = [x for x in row if not (isinstance(x, numbers) and x in (0, 1))]
        if bad:
            problem = f"must contain 0 and 1. Got {bad[0]!r} in question {i}."
            raise ParameterError("right", problem)
        table[i, : len(row)] = row
    return table
