"""Regression of labels on the model's expectations, with a slope shrunk towards 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._sample import Sample

# Precision of the normal prior of the slope, with mean 1 and standard deviation 1/2.
_PRIOR = 4.0

# Upper limit of the leverage of a document.
_MOST_LEVERAGE = 0.9


def fit_slope(
    f: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    *,
    df: int,
    floor: float,
    slope: str | float,
) -> tuple[float, np.ndarray]:
    """Return the slope of y on f, both centred, and its derivatives with respect to y.

    df : degrees of freedom of the residuals.
    floor : residual variance that one further error of size `unit` would add.
    """
    if not isinstance(slope, str):
        return slope, np.zeros_like(f)
    s_ff, s_fy = float(weight @ f**2), float(weight @ (f * y))
    pull = 0.0
    if slope == "shrunk":
        least_squares = s_fy / s_ff if s_ff > 0 else 1.0
        variance = float(weight @ (y - least_squares * f) ** 2) / max(df, 1)
        # The posterior mean of a normal slope: 1 counts as much as observations with
        # the sum of squares `pull`.
        pull = _PRIOR * (variance + floor)
    if s_ff + pull <= 0:
        return 1.0, np.zeros_like(f)
    # `pull` is treated as fixed in the derivative.
    return (s_fy + pull) / (s_ff + pull), weight * f / (s_ff + pull)


def leverages(derivatives: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Return the leverage of each row of a regression through the centre."""
    return np.minimum(derivatives * f, _MOST_LEVERAGE)


@dataclass(frozen=True)
class Fit:
    """Regression of the labels on sizes and expected counts.

    Attributes
    ----------
    slope : float
        Coefficient of the expected counts.
    fitted : ndarray of shape (N,)
        Fitted count of each document of the corpus.
    residuals : ndarray of shape (n,)
        Labels minus fitted counts.
    leverage : ndarray of shape (n,)
        Leverage of each label on the slope.
    derivatives : ndarray of shape (n, 2)
        Derivatives of the intercept and of the slope with respect to each label.
    """

    slope: float
    fitted: np.ndarray
    residuals: np.ndarray
    leverage: np.ndarray
    derivatives: np.ndarray


def fit(sample: Sample) -> Fit:
    """Regress the labels on size and expected count, with the weights of the design.

    The variance of a residual is assumed to be proportional to the document's size.
    """
    rows, y = sample.rows, sample.y
    x, f = sample.size[rows], sample.expected[rows]
    # weights of the design, over a variance proportional to the size
    weight = 1 / (sample.probability[rows] * x)
    total = weight @ x**2
    mean_f, mean_y = (weight * x) @ f / total, (weight * x) @ y / total
    # With sizes as the regressor of the intercept, centring removes mean_f x.
    centred = f - mean_f * x
    slope, to_slope = fit_slope(
        centred,
        y - mean_y * x,
        weight,
        df=len(y) - 2,
        floor=sample.unit**2 * float(weight.mean()) / len(y),
        slope=sample.slope,
    )
    intercept = mean_y - slope * mean_f
    fitted = intercept * sample.size + slope * sample.expected
    # derivative of mean_y - slope mean_f
    to_intercept = weight * x / total - to_slope * mean_f
    return Fit(
        slope=float(slope),
        fitted=fitted,
        residuals=y - fitted[rows],
        leverage=leverages(to_slope, centred),
        derivatives=np.column_stack([to_intercept, to_slope]),
    )
