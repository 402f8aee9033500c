"""Scoring rules: two losses, one for each label, that are least for the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

EPS = np.finfo(np.float64).eps

# Points of [0, 1] on which a score of the user's is tried.
_GRID = np.linspace(0, 1, 101)

Loss = Callable[[np.ndarray], Any]


def _evaluate(g: Loss, name: str, q: np.ndarray, *, caller: str) -> np.ndarray:
    """Return g(q) as floats of the shape of q; they may be infinite."""
    if q.size == 0:
        return np.zeros(0)
    with np.errstate(all="ignore"):  # infinite values get an error or a weight of 0
        values = g(q.copy())  # a function may write to its argument
    where = f"{name} of the 'score' parameter of {caller}"
    try:
        losses = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{where} must return an array of numbers. Got {type(values).__name__}."
        ) from None
    if losses.shape != q.shape:
        raise ValueError(
            f"{where} gets an array of probabilities and must return one of the same "
            f"shape. Got shape {losses.shape} for shape {q.shape}."
        )
    return losses


@dataclass(frozen=True)
class Rule:
    """A scoring rule: loss g1(q) where y = 1 and g2(q) where y = 0."""

    name: str
    g1: Loss
    g2: Loss
    caller: str

    def losses(self, number: int, q: np.ndarray, row_of: Any = None) -> np.ndarray:
        """Return g1(q) or g2(q), all finite; `row_of` names the row of a value."""
        name = f"g{number}"
        g = self.g1 if number == 1 else self.g2
        found = _evaluate(g, name, q, caller=self.caller)
        bad = ~np.isfinite(found)
        if bad.any():
            at = int(bad.argmax())
            row = "" if row_of is None else f", that of row {row_of(number, q[at])}"
            raise ValueError(
                f"{name} of the 'score' parameter of {self.caller} must be finite "
                f"where y = {2 - number}. Got {found[at]} at the probability "
                f"{float(q[at])!r}{row}."
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


def check_rule(score: Any, *, caller: str) -> Rule:
    """Return the scoring rule, or say why `score` is none."""
    if isinstance(score, str) and score in RULES:
        return Rule(score, *RULES[score], caller)
    is_pair = isinstance(score, (tuple, list)) and len(score) == 2
    if not is_pair or not all(callable(g) for g in score):
        raise ValueError(
            f"The 'score' parameter of {caller} must be 'brier', 'log' or a pair "
            f"(g1, g2) of functions. Got {score!r} instead."
        )
    names = [getattr(g, "__name__", type(g).__name__) for g in score]
    g1, g2 = score
    rule = Rule(f"({', '.join(names)})", g1, g2, caller)
    _check_proper(rule)
    return rule


def _check_proper(rule: Rule) -> None:
    """Raise where the expected loss on a grid is not least at the true frequency."""
    p = _GRID
    # Like -log(q) at 0, a loss may be infinite where it is certainly wrong.
    g1 = np.append(_end_loss(rule, 1, 0.0), rule.losses(1, p[1:]))
    g2 = np.append(rule.losses(2, p[:-1]), _end_loss(rule, 2, 1.0))
    loss = np.zeros((p.size, p.size))  # of q (columns) under p (rows)
    loss[1:] += np.multiply.outer(p[1:], g1)
    loss[:-1] += np.multiply.outer(1 - p[:-1], g2)
    honest = np.diagonal(loss)[:, np.newaxis]
    # A score may be flat between grid points; rounding is not to count.
    better = honest - loss - 1e-9 * (np.abs(honest) + 1e-3)
    if (better > 0).any():
        i, j = np.unravel_index(int(better.argmax()), better.shape)
        raise ValueError(
            f"The 'score' parameter of {rule.caller} must be a proper score: if a "
            "share p of the labels is positive, the expected loss p g1(q) + (1 - p) "
            f"g2(q) must be least at q = p. Got {honest[i, 0]:.6g} at "
            f"q = p = {p[i]:.2g}, and {loss[i, j]:.6g} at q = {p[j]:.2g}. g1 and g2 "
            "are losses: change the sign of a reward."
        )


def _end_loss(rule: Rule, number: int, q: float) -> float:
    """Return the loss at the end of [0, 1] that is certainly wrong."""
    g = rule.g1 if number == 1 else rule.g2
    (loss,) = _evaluate(g, f"g{number}", np.array([q]), caller=rule.caller)
    if np.isposinf(loss):
        return float(loss)
    return float(rule.losses(number, np.array([q]))[0])
