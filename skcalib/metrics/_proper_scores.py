"""Proper scores: the Brier score of each row, and user-defined scoring rules.

A scoring rule has two losses, one for each label. It is proper if the true probability
minimises the expected loss.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, public
from .._pairs import Pairs, check_pairs

EPS = np.finfo(np.float64).eps

# Points of [0, 1] at which a user-defined score is checked.
_GRID = np.linspace(0, 1, 101)

Loss = Callable[[np.ndarray], Any]


def _evaluate(g: Loss, name: str, q: np.ndarray) -> np.ndarray:
    """Return g(q) as floats of the shape of q; they may be infinite."""
    if q.size == 0:
        return np.zeros(0)
    with np.errstate(all="ignore"):  # infinite values get an error or a weight of 0
        values = g(q.copy())  # a function may write to its argument
    try:
        losses = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            "score",
            f"has a {name} that must return an array of numbers. Got "
            f"{type(values).__name__}.",
        ) from None
    if losses.shape != q.shape:
        raise ParameterError(
            "score",
            f"has a {name} that must return an array of the same shape as its "
            f"argument. Got shape {losses.shape} for shape {q.shape}.",
        )
    return losses


@dataclass(frozen=True)
class Rule:
    """A scoring rule: loss g1(q) where y = 1 and g2(q) where y = 0."""

    name: str
    g1: Loss
    g2: Loss

    def losses(self, number: int, q: np.ndarray, row_of: Any = None) -> np.ndarray:
        """Return g1(q) or g2(q), all finite; `row_of` names the row of a value."""
        name = f"g{number}"
        g = self.g1 if number == 1 else self.g2
        found = _evaluate(g, name, q)
        bad = ~np.isfinite(found)
        if bad.any():
            at = int(bad.argmax())
            row = "" if row_of is None else f" of row {row_of(number, q[at])}"
            raise ParameterError(
                "score",
                f"has a {name} that must be finite where y = {2 - number}. Got "
                f"{found[at]} at the probability {float(q[at])!r}{row}.",
            )
        return found

    def expected(self, q: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Return S(q; p) = p g1(q) + (1 - p) g2(q), where 0 times anything is 0."""
        loss = np.zeros(q.shape)
        some = p > 0
        loss[some] = p[some] * self.losses(1, q[some])
        some = p < 1
        loss[some] += (1 - p[some]) * self.losses(2, q[some])
        return loss

    def mean_loss(self, cells: tuple[np.ndarray, ...], row_of: Any) -> float:
        """Return the mean loss over tie classes."""
        value, weight, positive = cells
        total = 0.0
        for number, part in ((1, positive), (2, weight - positive)):
            some = part > 0
            losses = self.losses(number, value[some], row_of)
            total += float((part[some] * losses).sum())
        return total / float(weight.sum())


def _log_loss_positive(q: np.ndarray) -> np.ndarray:
    return -np.log(np.maximum(q, EPS))


def _log_loss_negative(q: np.ndarray) -> np.ndarray:
    return -np.log1p(-np.minimum(q, 1 - EPS))


RULES: dict[str, tuple[Loss, Loss]] = {
    "brier": (lambda q: (q - 1) ** 2, np.square),
    "log": (_log_loss_positive, _log_loss_negative),
}


def check_rule(score: Any) -> Rule:
    """Return the scoring rule, or raise an error if `score` is not a scoring rule."""
    if isinstance(score, str) and score in RULES:
        return Rule(score, *RULES[score])
    is_pair = isinstance(score, (tuple, list)) and len(score) == 2
    if not is_pair or not all(callable(g) for g in score):
        raise ParameterError(
            "score",
            "must be 'brier', 'log' or a pair (g1, g2) of functions. Got "
            f"{score!r} instead.",
        )
    names = [getattr(g, "__name__", type(g).__name__) for g in score]
    g1, g2 = score
    rule = Rule(f"({', '.join(names)})", g1, g2)
    _check_proper(rule)
    return rule


def _check_proper(rule: Rule) -> None:
    """Raise an error if the true frequency does not minimise the loss on a grid."""
    p = _GRID
    # A loss may be infinite for a certain but wrong prediction, like -log(q) at 0.
    g1 = np.append(_end_loss(rule, 1, 0.0), rule.losses(1, p[1:]))
    g2 = np.append(rule.losses(2, p[:-1]), _end_loss(rule, 2, 1.0))
    loss = np.zeros((p.size, p.size))  # of q (columns) under p (rows)
    loss[1:] += np.multiply.outer(p[1:], g1)
    loss[:-1] += np.multiply.outer(1 - p[:-1], g2)
    honest = np.diagonal(loss)[:, np.newaxis]
    # A score may be flat between grid points, so rounding errors are tolerated.
    better = honest - loss - 1e-9 * (np.abs(honest) + 1e-3)
    if (better > 0).any():
        i, j = np.unravel_index(int(better.argmax()), better.shape)
        raise ParameterError(
            "score",
            "must be a proper score: if a share p of the labels is positive, the "
            "expected loss p g1(q) + (1 - p) "
            f"g2(q) must be smallest at q = p. Got {honest[i, 0]:.6g} at "
            f"q = p = {p[i]:.2g}, and {loss[i, j]:.6g} at q = {p[j]:.2g}. g1 and g2 "
            "must be losses. Change the sign of a reward.",
        )


def _end_loss(rule: Rule, number: int, q: float) -> float:
    """Return the loss at the end of [0, 1] that is certain but wrong."""
    g = rule.g1 if number == 1 else rule.g2
    (loss,) = _evaluate(g, f"g{number}", np.array([q]))
    if np.isposinf(loss):
        return float(loss)
    return float(rule.losses(number, np.array([q]))[0])


@public
def brier_statistics(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Hashable = None,
) -> np.ndarray:
    """Compute the Brier score of every row.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probability of the positive class, or of every class, as in
        :func:`calibration_error`. Two columns are treated as a binary problem.
    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the columns. If None, the sorted labels of `y_true` are
        used.
    pos_label : label, default=None
        Positive class. If None, it is 1, or the label of the second column if `y_proba`
        has two columns.

    Returns
    -------
    statistics : ndarray of shape (n,)
        Squared difference between label and probability. For more than two classes, the
        sum of the squared differences of all classes. Pass this array to the tests in
        :mod:`skcalib.significance` with ``statistic="mean"``. Lower is better: if model
        A is better than model B, the difference A - B is negative.

    Raises
    ------
    ValueError
        If a parameter or a row is invalid.

    See Also
    --------
    skcalib.scorers.compare_calibration : Compare two models by Brier score and
        calibration.
    sklearn.metrics.brier_score_loss : The mean Brier score.

    Notes
    -----
    Rows of the same sentence or document may depend on each other. When comparing
    models, pass the index of the sentence or document of each row to the test as
    `groups`.

    Examples
    --------
    >>> from skcalib.metrics import brier_statistics
    >>> brier_statistics([1, 0, 1], [0.5, 0.5, 1.0])
    array([0.25, 0.25, 0.  ])
    """
    (pairs,) = check_pairs(y_true, y_proba, labels=labels, pos_label=pos_label)
    return brier_of_rows(pairs)


def brier_of_rows(pairs: Pairs) -> np.ndarray:
    """Return the squared error of each row, summed over its pairs."""
    square = (pairs.q.astype(np.float64) - pairs.indicator()) ** 2
    return square.reshape(-1, pairs.n_classes).sum(axis=1)
