"""Clusterings at a temperature and an offset, and the most likely values of both."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from sklearn.frozen import FrozenEstimator

from .._results import object_array
from ..coref import SampledCorefPairs
from ..coref._ranker import log_proba_of_mention
from ..queries._query import last_step
from ._held_out import PRECISION, HeldOut, posterior_of, warn_at_end

# Step of the grid of log temperatures. The likelihood may have several maxima, but the
# distance between them is larger than this step.
STEP = 0.2

# Largest number of Newton steps for the offset; halving the bracket alone needs about
# sixty.
MOST_STEPS = 200


class Fit(NamedTuple):
    """Best temperature and offset, their log likelihood, and its value at (1, 0)."""

    temperature: float
    new_offset: float
    after: float
    before: float


def best_temperature_and_offset(
    parts: list[HeldOut],
    bounds: tuple[float, float],
    offset_bounds: tuple[float, float],
) -> Fit:
    """Return the temperature and offset at which the true clusterings are most likely.

    At a given temperature the log likelihood is concave in the offset, so the best
    offset is always found. It is not concave in the temperature, since a mention may
    have several true antecedents. A grid finds the neighbourhood of the global maximum,
    and a search refines it.
    """
    choices = Choices(parts)
    low, high = np.log(bounds).tolist()
    grid = np.linspace(low, high, max(5, int(np.ceil((high - low) / STEP)) + 1))
    # the highest likelihood over offsets, at each temperature
    profile = [_best_at(choices, t, offset_bounds)[0] for t in grid.tolist()]
    k = int(np.argmax(profile))
    found = minimize_scalar(
        lambda t: -_best_at(choices, float(t), offset_bounds)[0],
        bounds=(grid[max(k - 1, 0)], grid[min(k + 1, grid.size - 1)]),
        method="bounded",
        options={"xatol": PRECISION * 1e-2},
    )
    before = choices.at(1.0).log_likelihood(0.0)
    # If nothing is better, the scores stay as they are.
    best, log_best = Fit(1.0, 0.0, before, before), 0.0
    for log_t in (0.0, float(grid[k]), float(found.x)):
        value, offset = _best_at(choices, log_t, offset_bounds)
        if value > best.after:
            best, log_best = Fit(float(np.exp(log_t)), offset, value, before), log_t
    if log_best in (low, high) and log_best != 0:
        is_low = log_best == low
        best = best._replace(temperature=bounds[0 if is_low else 1])
        warn_at_end("bounds", best.temperature, is_low)
    if best.new_offset in offset_bounds and best.new_offset != 0:
        warn_at_end("offset_bounds", best.new_offset, best.new_offset < 0)
    return best


def _best_at(
    choices: Choices, log_temperature: float, offset_bounds: tuple[float, float]
) -> tuple[float, float]:
    """Return the highest log likelihood at a temperature, and its offset."""
    rows = choices.at(float(np.exp(log_temperature)))
    offset = rows.best_offset(*offset_bounds)
    return rows.log_likelihood(offset), offset


class FreeMentions(NamedTuple):
    """Mentions at one temperature that can both be NEW and have an antecedent.

    Attributes
    ----------
    gap : ndarray of shape (n_mentions,)
        Log odds of NEW at offset 0, against all antecedents together.
    is_new : ndarray of shape (n_mentions,), bool
        Whether the truth is NEW.
    weight : ndarray of shape (n_mentions,)
        Weight of the mention's document.
    fixed : float
        Log likelihood that does not depend on the offset.
    """

    gap: np.ndarray
    is_new: np.ndarray
    weight: np.ndarray
    fixed: float

    def log_likelihood(self, offset: float) -> float:
        odds = self.gap + offset
        loss = np.logaddexp(0, np.where(self.is_new, -odds, odds))
        return self.fixed - float(self.weight @ loss)

    def best_offset(self, low: float, high: float) -> float:
        """Return the offset at which the expected number of NEW mentions is correct."""
        if low == high or self.gap.size == 0:
            return 0.0
        if self.is_new.all() or not self.is_new.any():
            return high if self.is_new[0] else low
        # logit of the fraction that the mean probability must have
        share = logit(self.weight @ self.is_new / self.weight.sum())
        # At offset a, all probabilities of NEW are too low. At offset b, they are too
        # high.
        a = float(np.clip(share - self.gap.max(), low, high))
        b = float(np.clip(share - self.gap.min(), low, high))
        offset = float(np.clip(0, a, b))
        for _ in range(MOST_STEPS):
            # theory, (T2)
            p = expit(self.gap + offset)
            excess = self.weight @ (p - self.is_new)
            a, b = (a, offset) if excess > 0 else (offset, b)
            slope = self.weight @ (p * (1 - p))
            step = excess / slope if slope > 0 else np.inf
            # Newton's method, which is halved where it leaves the bracket.
            after = offset - step if a < offset - step < b else (a + b) / 2
            if abs(after - offset) <= 1e-14 * max(1, abs(offset)):
                break
            offset = float(after)
        return offset


class Choices:
    """Scores of all held-out mentions, prepared for division by temperatures.

    Scores of antecedents are relative to the highest score of their mention. Scores of
    true antecedents and of NEW are stored separately.
    """

    def __init__(self, parts: list[HeldOut]):
        self.documents: list[_Document] = []
        for part in parts:
            for i, entity in enumerate(part.structures):
                scores = part.posterior.log_scores[i]
                if len(scores):
                    weight = float(part.weight[i])
                    self.documents.append(_Document(scores, entity, weight))

    def at(self, temperature: float) -> FreeMentions:
        """Return the mentions at a temperature."""
        gaps, news, weights, fixed = [], [], [], 0.0
        for each in self.documents:
            gap, more = each.at(temperature)
            gaps.append(gap)
            news.append(each.is_new[each.is_free])
            weights.append(np.full(gap.size, each.weight))
            fixed += each.weight * more
        if not gaps:
            return FreeMentions(np.zeros(0), np.zeros(0, bool), np.zeros(0), 0.0)
        return FreeMentions(
            np.concatenate(gaps), np.concatenate(news), np.concatenate(weights), fixed
        )


class _Document:
    def __init__(self, scores: np.ndarray, entity: np.ndarray, weight: float):
        earlier = np.tri(len(scores), k=-1, dtype=bool)
        true = earlier & np.equal.outer(entity, entity)
        self.weight = weight
        self.is_new = ~true.any(axis=1)
        self.new = scores.diagonal()
        self.all = _Sums(np.where(earlier, scores, -np.inf))
        self.true = _Sums(np.where(true, scores, -np.inf))
        # For other mentions the choice is certain, whatever the offset is.
        self.is_free = (self.new > -np.inf) & (self.all.top > -np.inf)

    def at(self, temperature: float) -> tuple[np.ndarray, float]:
        """Return the log odds of NEW, and the log likelihood without the offset."""
        links = self.all.at(temperature)
        # log P(a true antecedent | some antecedent); the offset cancels
        right = np.where(self.is_new, 0.0, self.true.at(temperature) - links)
        free = self.is_free
        return self.new[free] / temperature - links[free], float(right.sum())


class _Sums:
    """Rows of log scores whose exponentials are summed at temperatures."""

    def __init__(self, scores: np.ndarray):
        self.top = scores.max(axis=1)
        there = scores > -np.inf
        count = there.sum(axis=1)
        self.used = np.flatnonzero(count)
        self.starts = np.cumsum(count)[self.used] - count[self.used]
        # Exponentials of at most 1 at every temperature cannot overflow.
        self.below = scores[there] - self.top.repeat(count)

    def at(self, temperature: float) -> np.ndarray:
        """Return the logarithms of the sums, 0 for an empty row."""
        found = np.zeros(self.top.size)
        if self.used.size:
            sums = np.add.reduceat(np.exp(self.below / temperature), self.starts)
            found[self.used] = self.top[self.used] / temperature + np.log(sums)
        return found


class TemperedClusterings:
    """A fitted estimator whose scores have a temperature and an offset of NEW."""

    def __init__(self, estimator: Any, temperature: float, new_offset: float):
        self.estimator = estimator
        self.temperature = temperature
        self.new_offset = new_offset

    def posterior(self, X: Any) -> Any:
        """Return the posterior at the temperature and the offset."""
        posterior = posterior_of(self.estimator, X)
        return posterior.tempered(self.temperature, self.new_offset)

    def _scores(self, X: Any) -> np.ndarray:
        """Return the new scores of antecedents."""
        return object_array(self.posterior(X).log_scores)

    def _pairs(self) -> SampledCorefPairs | None:
        """Return the final estimator if it only converts scores to probabilities."""
        final = last_step(self.estimator)
        final = final.estimator if isinstance(final, FrozenEstimator) else final
        return final if isinstance(final, SampledCorefPairs) else None

    def _reader(self) -> SampledCorefPairs:
        """Return the estimator that converts scores to probabilities of pairs."""
        return self._pairs() or SampledCorefPairs(method="exact")

    def predict(self, X: Any) -> Any:
        """Return the clustering predicted from the new scores."""
        return self._reader().predict(self._scores(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each pair of mentions."""
        return self._reader().predict_proba(self._scores(X))

    def transform(self, X: Any) -> np.ndarray:
        """Return the new scores, or the probabilities of pairs computed from them."""
        pairs, scores = self._pairs(), self._scores(X)
        return scores if pairs is None else pairs.transform(scores)

    def score(self, model: Any, X: Any, y: Any, sample_weight: Any) -> float:
        """Return the `score` of the estimator for the new scores."""
        pairs = self._pairs()
        if pairs is not None:
            return pairs.score(self._scores(X), y, sample_weight)
        return log_proba_of_mention(self.posterior(X), y, sample_weight)
