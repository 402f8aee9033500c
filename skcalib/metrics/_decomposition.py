"""Decomposition of proper scores into calibration and refinement.

The scores are the Brier score, the log loss, and user-defined scoring rules. A scoring
rule has two losses, one for each label. It is proper if the true probability minimises
the expected loss.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sized
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, public
from .._pairs import Pairs, check_one_set, check_pairs
from .._results import Result
from .._validation import check_choice, weights_or_ones
from ._bins import NOISE, Binning, Ordered, check_binning, order_pairs, without_noise

EPS = np.finfo(np.float64).eps

# Points of [0, 1] at which a user-defined score is checked.
_GRID = np.linspace(0, 1, 101)

Loss = Callable[[np.ndarray], Any]


# Passes of an isotonic regression; usual data need about ten.
_MOST_PASSES = 50


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

    def losses(
        self, number: int, q: np.ndarray, row_of: Any = None, *, at_end: bool = False
    ) -> np.ndarray:
        """Return g1(q) or g2(q); `row_of` names the row of a value that is not finite.

        Only at the end of [0, 1] that is certain but wrong, a loss may be infinite,
        like -log(q) at 0.
        """
        name, g = f"g{number}", self.g1 if number == 1 else self.g2
        found = _evaluate(g, name, q)
        bad = ~np.isfinite(found)
        if at_end:
            bad &= ~np.isposinf(found)
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

    def mean_loss(self, ordered: Ordered, row_of: Any) -> float:
        """Return the mean loss of pairs."""
        total = 0.0
        for value, weight, positive in ordered.blocks_of_classes():
            for number, part in ((1, positive), (2, weight - positive)):
                some = part > 0
                losses = self.losses(number, value[some], row_of)
                total += float((part[some] * losses).sum())
        return total / ordered.total


RULES: dict[str, tuple[Loss, Loss]] = {
    "brier": (lambda q: (q - 1) ** 2, np.square),
    "log": (
        lambda q: -np.log(np.maximum(q, EPS)),
        lambda q: -np.log1p(-np.minimum(q, 1 - EPS)),
    ),
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
    names = ", ".join(getattr(g, "__name__", type(g).__name__) for g in score)
    rule = Rule(f"({names})", *score)
    _check_proper(rule)
    return rule


def _check_proper(rule: Rule) -> None:
    """Raise an error if the true frequency does not minimise the loss on a grid."""
    p = _GRID
    g1 = np.r_[rule.losses(1, p[:1], at_end=True), rule.losses(1, p[1:])]
    g2 = np.r_[rule.losses(2, p[:-1]), rule.losses(2, p[-1:], at_end=True)]
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


@dataclass(frozen=True, repr=False)
class ScoreDecomposition(Result):
    """A proper score and its parts.

    Returned by :func:`score_decomposition`. The parts add up:
    ``calibration + refinement + residual == score`` and
    ``refinement == uncertainty - discrimination``, up to rounding.

    Attributes
    ----------
    score : float
        Mean loss over the pairs; lower is better.
    calibration : float
        Loss due to differences between probabilities and frequencies (miscalibration);
        0 is best.
    refinement : float
        Loss that would remain if the label frequency of each bin were predicted (for
        'isotonic', the fitted frequency); lower is better.
    residual : float
        Loss (or, if negative, gain) due to the variation of the probabilities inside
        the bins; 0 for 'isotonic'.
    discrimination : float
        Difference between the score of the base rate and the score of the frequencies
        of the bins (for 'isotonic', of the fitted frequencies); higher is better.
    uncertainty : float
        Score of the base rate (the frequency of all positive labels) as a constant
        prediction. It depends on the labels only.
    rule : str
        Scoring rule: 'brier', 'log', or the names of the two functions.
    method : str
        'adaptive' or 'isotonic'.
    bin_size : int or None
        Target number of pairs (total weight) in a bin. None if `n_bins` was given, and
        for 'isotonic'.
    n_bins : int
        Number of bins. For 'isotonic', the number of distinct fitted frequencies.
    n_pairs : int
        Number of pairs of positive weight.

    See Also
    --------
    score_decomposition : Compute the decomposition.

    Examples
    --------
    >>> from skcalib.metrics import score_decomposition
    >>> y_true, y_proba = [0, 1, 0, 1], [0.3, 0.3, 0.6, 0.6]
    >>> parts = score_decomposition(y_true, y_proba, method="isotonic")
    >>> sorted(parts.to_dict())[:4]
    ['bin_size', 'calibration', 'discrimination', 'method']
    """

    score: float
    calibration: float
    refinement: float
    residual: float
    discrimination: float
    uncertainty: float
    rule: str
    method: str
    bin_size: int | None
    n_bins: int
    n_pairs: int

    def _in_words(self) -> list[str]:
        return [
            f"The score is {self.score:.4g}. Differences between probabilities and "
            f"label frequencies contribute {self.calibration:.4g} to it. A score of "
            f"{self.refinement:.4g} would remain if the prediction in each bin were "
            "its label frequency."
        ]

    def __repr__(self) -> str:
        return self._summary(
            "",
            "score:z.4f calibration:z.4f refinement:z.4f residual:z.4f "
            "discrimination:z.4f uncertainty:z.4f rule method bin_size n_bins n_pairs",
        )


def _check_method(
    method: Any, bin_size: Any, n_bins: Any, strategy: Any
) -> Binning | None:
    """Return the checked binning, or None for isotonic regression."""
    check_choice(method, ("adaptive", "isotonic"), name="method")
    if method == "adaptive":
        return check_binning(bin_size, n_bins, strategy)
    given = (
        ("bin_size", bin_size, "auto"),
        ("n_bins", n_bins, None),
        ("strategy", strategy, "quantile"),
    )
    for name, value, default in given:
        # An array compared with a string has no single truth value.
        if not (value is default or (isinstance(value, str) and value == default)):
            raise ParameterError(
                "method",
                f"must be 'adaptive' if bins are given: 'isotonic' has no bins. "
                f"Got {name}={value!r}.",
            )
    return None


def _frequency(y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return y / weight in [0, 1], equal to 0 or 1 if it differs by rounding only."""
    p = np.clip(y / weight, 0, 1)
    return np.where(1 - p <= NOISE, 1.0, p)


def _isotonic_levels(positive: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the first of the tie classes of each level of an isotonic regression.

    Neighbours whose frequencies do not rise are joined, at most `_MOST_PASSES` times.
    """
    levels = np.arange(weight.size)
    for _ in range(_MOST_PASSES):
        frequency = positive / weight
        # Joining neighbours is exact: levels that violate the order are equal in the
        # solution.
        first = np.flatnonzero(np.append(True, frequency[1:] > frequency[:-1]))
        if first.size == levels.size:
            return levels
        levels = levels[first]
        positive, weight = (np.add.reduceat(x, first) for x in (positive, weight))
    # Its import takes a tenth of the time of a command.
    from scipy.optimize import isotonic_regression

    return levels[isotonic_regression(positive / weight, weights=weight).blocks[:-1]]


def decompose_pairs(
    pairs: Pairs, rule: Rule, binning: Binning | None, row_of: Any = None
) -> ScoreDecomposition:
    """Return the decomposition of checked pairs; without a binning, by 'isotonic'."""
    ordered = order_pairs(pairs)
    score = rule.mean_loss(ordered, row_of)
    positives, total = ordered.positives.total, ordered.total
    base = _frequency(np.array([positives]), np.array([total]))
    # The expected score of the best constant prediction, the base rate.
    (uncertainty,) = rule.expected(base, base)
    bin_size = None
    if binning is None:
        _, weight, positive = ordered.classes()
        levels = _isotonic_levels(positive, weight)
        weight = np.add.reduceat(weight, levels).astype(np.float64)
        p = _frequency(np.add.reduceat(positive, levels), weight)
    else:
        bins = binning.bins(ordered)
        weight, bin_size = bins.weight, bins.bin_size
        p = _frequency(bins.y, weight)
        q = np.clip(bins.q / weight, bins.low, bins.high)
    share = weight / weight.sum()
    entropy = rule.expected(p, p)
    # theory, (D1)
    refinement = float((share * entropy).sum())
    # Differences that are small beside these terms are rounding, and are set to 0.
    scale = abs(score) + float((share * np.abs(entropy)).sum()) + abs(uncertainty)
    if binning is None:
        # Levels have no residual: all of the score that recalibration removes is
        # calibration.
        calibration = float(without_noise(score - refinement, scale))
        residual = 0.0
    else:
        divergence = float((share * (rule.expected(q, p) - entropy)).sum())
        calibration = float(without_noise(divergence, scale))
        residual = float(without_noise(score - refinement - calibration, scale))
    return ScoreDecomposition(
        score=score,
        calibration=calibration,
        refinement=refinement,
        residual=residual,
        discrimination=float(without_noise(uncertainty - refinement, scale)),
        uncertainty=float(uncertainty),
        rule=rule.name,
        method="isotonic" if binning is None else "adaptive",
        bin_size=bin_size,
        n_bins=weight.size,
        n_pairs=pairs.q.size,
    )


@public
def score_decomposition(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    score: str | tuple[Loss, Loss] = "brier",
    method: str = "adaptive",
    bin_size: int | Literal["auto"] = "auto",
    n_bins: int | None = None,
    strategy: str = "quantile",
    multi_class: str | None = None,
    labels: ArrayLike | None = None,
    pos_label: Hashable = None,
    sample_weight: ArrayLike | None = None,
) -> ScoreDecomposition:
    """Split a proper score into calibration, refinement and residual.

    The score is the mean loss over the pairs; lower is better. The loss of a pair is
    g1(q) if y = 1 and g2(q) if y = 0. Calibration is the loss due to differences
    between the probabilities q and the label frequencies p. Refinement is the loss that
    would remain if the frequencies p were predicted instead of q: the labels still vary
    unless p is 0 or 1 ([1]_, theorem 3.4 of [2]_).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probability of the positive class, or of every class, with columns in the order
        of `labels`. Two columns are treated as a binary problem with the positive class
        `pos_label`, unless `multi_class` is given. A value that is outside [0, 1]
        because of rounding is clipped.
    score : {'brier', 'log'} or (g1, g2), default='brier'
        'brier' is the mean of (q - y)^2. 'log' is the mean of -log of the probability
        of the true label; probabilities below 2.2e-16 (machine epsilon) are replaced by
        this value. If two functions are given, g1(q) is the loss if y = 1 and g2(q) is
        the loss if y = 0. Both take a 1-D array of probabilities and return an array of
        the same shape. They must form a proper score, which is checked on a grid. Their
        values must be finite, except for g1(0) and g2(1) if these do not occur in the
        data.
    method : {'adaptive', 'isotonic'}, default='adaptive'
        'adaptive' estimates frequencies in the bins of
        :func:`adaptive_reliability_curve`. 'isotonic' estimates them by isotonic
        regression of the labels on the probabilities, which does not use bins [3]_.
    bin_size : int or 'auto', default='auto'
        Number of pairs (total weight) in a bin, used by 'adaptive'. 'auto' is
        the rule of :func:`calibration_error` for many distinct probabilities.
    n_bins : int, default=None
        Number of bins. If given, it is used instead of `bin_size`.
    strategy : {'quantile', 'uniform'}, default='quantile'
        'quantile' creates bins with equal numbers of pairs (equal total weight).
        'uniform' divides [0, 1] into `n_bins` bins of equal width.
    multi_class : {'pooled', 'top_label'}, default=None
        How a matrix is reduced to pairs. 'pooled' (the default for more than two
        columns) concatenates the one-vs-rest problems of all classes. 'top_label' uses
        the largest probability of each row; the label is 1 if the class of this column
        is the true class.
    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the columns. If None, the sorted labels of `y_true` are
        used.
    pos_label : label, default=None
        Positive class. If None, it is 1, or the label of the second column if `y_proba`
        has two columns.
    sample_weight : array-like of shape (n,), default=None
        Frequencies: a row of weight 3 is equivalent to three rows.

    Returns
    -------
    parts : ScoreDecomposition

    Raises
    ------
    ValueError
        If a parameter or a row is invalid, if bins are given for 'isotonic', or if the
        score is not proper. The message names the parameter or the row.

    See Also
    --------
    calibration_error : Square root of the calibration part of the Brier score in the
        same bins.
    calibration_error_interval : The debiased calibration error with a confidence
        interval.

    Notes
    -----
    Let S(q; p) = p g1(q) + (1 - p) g2(q) be the expected loss of the prediction q if
    the share of positive labels is p. Let bin b have n_b of the N pairs, mean
    probability q_b and label frequency p_b. Then::

        calibration    = sum_b n_b / N (S(q_b; p_b) - S(p_b; p_b))
        refinement     = sum_b n_b / N S(p_b; p_b)
        residual       = score - calibration - refinement
        uncertainty    = S(p; p), where p is the label frequency of all pairs
        discrimination = uncertainty - refinement

    For the Brier score, calibration and refinement are the means of (q_b - p_b)^2 and
    p_b (1 - p_b). The residual is the mean variance of q inside the bins minus twice
    the mean covariance of q and y inside the bins. It is 0 if q is constant in every
    bin, negative if q predicts the labels inside the bins, and positive if q varies
    inside the bins without predicting the labels.

    'isotonic' does not use bins. In this case, p is the isotonic regression of y on q,
    computed by the pool-adjacent-violators algorithm. Calibration is score(q) -
    score(p), which is never negative. Discrimination is score(base rate) - score(p),
    and the residual is 0. On small samples, calibration and discrimination are biased
    upwards, because the regression also fits the label noise. The estimates from bins
    have the same bias.

    Reference [2]_ uses the same names for the functions (g1 for y = 1). It defines
    scores as functions to be maximised, but its example, g1(x) = (x - 1)^2 and
    g2(x) = x^2, is a loss. In skcalib, g1 and g2 are always losses, so that calibration
    is never negative.

    The values do not depend on the order of the rows. If a bin boundary falls between
    rows of equal probability, each of the two bins gets a proportional share of the
    positive labels of these rows. Isotonic regression assigns the same frequency to
    these rows.

    Memory is needed for sorted copies of the probabilities of all pairs and of the
    positive pairs and, with weights, for a permutation. If all probabilities are
    different, the function needs about nine times the memory of the probabilities.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
       analysis for natural language processing models". EMNLP. Equation 1.
    .. [2] K. Nguyen. "Calibration for natural language processing systems". Honours
       thesis, University of Massachusetts Amherst.
    .. [3] T. Dimitriadis, T. Gneiting and A. I. Jordan (2021). "Stable reliability
       diagrams for probabilistic classifiers". PNAS 118(8), e2016191118.

    Examples
    --------
    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.metrics import score_decomposition
    >>> y_true, y_proba = make_calibrated_pairs(10_000, k=0.1, random_state=0)
    >>> parts = score_decomposition(y_true, y_proba)
    >>> round(parts.score, 3), round(parts.calibration, 3), round(parts.refinement, 3)
    (0.086, 0.007, 0.079)

    The spherical score, another proper score:

    >>> import numpy as np
    >>> def g1(q):
    ...     return -q / np.hypot(q, 1 - q)
    >>> def g2(q):
    ...     return -(1 - q) / np.hypot(q, 1 - q)
    >>> parts = score_decomposition(y_true, y_proba, score=(g1, g2), method="isotonic")
    >>> round(parts.score, 3), round(parts.calibration, 3), round(parts.refinement, 3)
    (-0.905, 0.008, -0.913)
    """
    binning = _check_method(method, bin_size, n_bins, strategy)
    check_one_set(multi_class, "decomposition")
    rule = check_rule(score)
    (pairs,) = check_pairs(
        y_true,
        y_proba,
        multi_class=multi_class,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
    )

    def row_of(number: int, q: float) -> int:
        """Return the row of the input that has this probability and label."""
        # Looked for only if a score is invalid, so that a search suffices.
        pair = int(((pairs.q == q) & (pairs.indicator() == (number == 1))).argmax())
        row = pair // pairs.n_classes
        if sample_weight is None:
            return row
        # Rows without weight are not among the pairs.
        weight = weights_or_ones(sample_weight, len(cast(Sized, sample_weight)))
        return int(np.flatnonzero(weight)[row])

    return decompose_pairs(pairs, rule, binning, row_of)
