"""Taggings at a temperature, and the temperature at which they are most likely."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from .._results import object_array
from ..queries import last_step, transform_before
from ..sequence import pair_places, token_accuracy
from ._bounds import PRECISION, warn_at_end
from ._held_out import posterior_of

# Log likelihoods within this relative distance are equal up to rounding. Near a
# maximum, the distance corresponds to PRECISION in the logarithm of the temperature.
_ROUNDING = 1e-12


def best_temperature(
    log_likelihood: Callable[[float], float], low: float, high: float
) -> tuple[float, float, float]:
    """Return the best temperature, its log likelihood, and the log likelihood at 1.

    The log likelihood is concave in 1 / T, so it has one maximum. If the likelihood at
    the maximum is not higher than at 1, the temperature is 1.
    """
    found = minimize_scalar(
        # theory, (T1)
        lambda log_t: -log_likelihood(float(np.exp(log_t))),
        bounds=(np.log(low), np.log(high)),
        method="bounded",
        options={"xatol": PRECISION},
    )
    # The search does not evaluate the ends.
    tried = {t: log_likelihood(t) for t in (1.0, low, high, float(np.exp(found.x)))}
    best = max(tried, key=lambda t: tried[t])
    if tried[best] - tried[1.0] <= _ROUNDING * max(1.0, abs(tried[1.0])):
        best = 1.0  # also if the likelihood is flat
    if best != 1 and best in (low, high):
        warn_at_end("bounds", best, best == low)
    return best, tried[best], tried[1.0]


class TemperedTaggings:
    """A fitted estimator whose posterior is at a temperature."""

    def __init__(self, estimator: Any, temperature: float):
        self.estimator = estimator
        self.temperature = temperature

    @property
    def _classes(self) -> np.ndarray:
        return np.asarray(last_step(self.estimator).classes_)

    def posterior(self, X: Any) -> Any:
        """Return the posterior at the temperature."""
        return posterior_of(self.estimator, X).tempered(self.temperature)

    def predict(self, X: Any) -> Any:
        """Predict as the estimator does, with posterior decoding at the temperature."""
        if getattr(last_step(self.estimator), "decoding", None) == "posterior":
            paths = self.posterior(X).posterior_decode()
            return object_array([self._classes[path].tolist() for path in paths])
        return self.estimator.predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each tag."""
        return object_array(self.posterior(X).token_marginals())

    def predict_pair_marginals(self, X: Any, pairs: Any) -> np.ndarray:
        """Return the probability of pairs of tags."""
        chosen = None
        if pairs is not None:
            chosen = pair_places(pairs, self._classes.tolist())
        return object_array(self.posterior(X).pair_marginals(chosen))

    def transform(self, X: Any) -> np.ndarray:
        """Return the estimator's scores, divided by the temperature."""
        before = transform_before(self.estimator, X)
        scores = last_step(self.estimator).transform(before)
        return object_array([np.asarray(each) / self.temperature for each in scores])

    def score(self, model: Any, X: Any, y: Any, sample_weight: Any) -> float:
        """Return the share of tokens for which the model's prediction is right."""
        return token_accuracy(model, X, y, sample_weight)
