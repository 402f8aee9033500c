"""Temperatures and offsets at which held-out true structures are most likely."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from sklearn.exceptions import ConvergenceWarning

from .._errors import ParameterError, public, warn
from .._pairs import class_order
from .._validation import as_label_lists, check_real
from ..posteriors import LinearChainPosterior
from ..queries._query import tag_paths, tags_and_lengths

# Precision of the logarithm of the temperature. It is much smaller than any standard
# error and much larger than the rounding error of a maximum.
PRECISION = 1e-6

# Log likelihoods within this relative distance are equal up to rounding. Near a
# maximum, the distance corresponds to PRECISION in the logarithm of the temperature.
_ROUNDING = 1e-12

# Rate of the prior of the logarithm of the temperature: temperature 1 is kept unless
# the log likelihood has a larger slope there. It was chosen on the models for tuning of
# benchmarks/few_sentences.py.
_PRIOR_RATE = 8.0

# Step of the grid of log temperatures. The likelihood may have several maxima, but the
# distance between them is larger than this step.
STEP = 0.2

# Largest number of Newton steps for the offset; halving the bracket alone needs about
# sixty.
MOST_STEPS = 200

# Description of each pair of bounds, the value that changes nothing, and the limits.
_BOUNDS = {
    "bounds": (
        "two temperatures (low, high) with low < high and low <= 1 <= high",
        1,
        (1e-6, 1e6),
    ),
    "offset_bounds": ("two offsets (low, high) with low <= 0 <= high", 0, (-1e6, 1e6)),
}

_REASONS = {
    ("bounds", True): "true structures are nearly always the most probable ones",
    ("bounds", False): "the probabilities do not identify the true structures",
    ("offset_bounds", True): "every mention that could have an antecedent has one",
    ("offset_bounds", False): "all mentions are new",
}


def check_bounds(bounds: Any, name: str = "bounds") -> tuple[float, float]:
    """Return the smallest and the largest temperature or offset."""
    expected, neutral, (least, most) = _BOUNDS[name]
    if isinstance(bounds, (tuple, list)) and len(bounds) == 2:
        low, high = (check_real(end, low=least, high=most, name=name) for end in bounds)
        # An offset may be fixed at 0, and then only the temperature is fitted.
        if low <= neutral <= high and (low < high or name == "offset_bounds"):
            return low, high
    raise ParameterError(name, f"must be {expected}. Got {bounds!r}.")


def _warn_at_end(name: str, value: float, is_low: bool) -> None:
    """Warn that a fitted value is at an end of its bounds."""
    warn(
        f"The likelihood of TemperatureScaling is highest at {value:g}, an end of "
        f"{name!r}. The probable reason is that on the held-out data "
        f"{_REASONS[name, is_low]}. Pass more data or wider bounds.",
        ConvergenceWarning,
    )


def best_temperature(
    log_likelihood: Callable[[float], float], low: float, high: float
) -> tuple[float, float, float]:
    """Return the best temperature, its log likelihood, and the log likelihood at 1.

    The log likelihood is concave in 1 / T, so it has one maximum. If the likelihood at
    the maximum is not higher than at 1, the temperature is 1.
    """

    def with_prior(temperature: float) -> float:
        # theory, (T1)
        return log_likelihood(temperature) + log_prior(float(np.log(temperature)))

    found = minimize_scalar(
        lambda log_t: -with_prior(float(np.exp(log_t))),
        bounds=(np.log(low), np.log(high)),
        method="bounded",
        options={"xatol": PRECISION},
    )
    # The search does not evaluate the ends.
    tried = {t: with_prior(t) for t in (1.0, low, high, float(np.exp(found.x)))}
    best, before = max(tried, key=lambda t: tried[t]), tried[1.0]
    if tried[best] - before <= _ROUNDING * max(1.0, abs(before)):
        best = 1.0  # also if the likelihood is flat
    if best != 1 and best in (low, high):
        _warn_at_end("bounds", best, best == low)
    return best, tried[best] - log_prior(float(np.log(best))), before


def log_prior(log_t: float) -> float:
    """Return the logarithm of the prior of a log temperature, 0 at temperature 1."""
    return -_PRIOR_RATE * abs(log_t)


@public
def fit_temperature(
    posterior: LinearChainPosterior,
    y_true: Sequence[Sequence[Any]],
    classes: ArrayLike,
    *,
    bounds: tuple[float, float] = (0.01, 100.0),
) -> float:
    """Fit a temperature to the likelihood of labelled sentences.

    Parameters
    ----------
    posterior : LinearChainPosterior
        Posterior of a model (for example, of a neural model) over the taggings of
        sentences on which the model was not trained.
    y_true : sequence of label sequences
        True tags of these sentences.
    classes : array-like of shape (n_tags,)
        Label of each tag of `posterior`, in the order of its tag indices.
    bounds : tuple of (float, float), default=(0.01, 100.0)
        Smallest and largest temperature, (low, high) with low <= 1 <= high.

    Returns
    -------
    temperature : float
        Fitted temperature, which can be passed to :meth:`LinearChainPosterior.tempered
        <skcalib.posteriors.LinearChainPosterior.tempered>` of any posterior of the
        model. If it is above 1, the model is overconfident. With few sentences, its
        logarithm is shrunk towards 0, as in :class:`TemperatureScaling`.

    Raises
    ------
    TypeError
        If `posterior` is not a LinearChainPosterior.
    ValueError
        If labels, classes and posterior do not match, or if the true tagging of every
        sentence is impossible.

    Warns
    -----
    UserWarning
        If sentences are left out because their true tagging is impossible at every
        temperature or contains a tag that is not in `classes`.

    See Also
    --------
    TemperatureScaling : Fit the temperature of a tagger or coreference model.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.posteriors import LinearChainPosterior
    >>> from skcalib.recalibration import fit_temperature
    >>> rng = np.random.default_rng(0)
    >>> scores = [rng.normal(0, 2, (20, 3)) for _ in range(100)]
    >>> paths = LinearChainPosterior(scores).sample(1, random_state=0)
    >>> y_true = [[["A", "B", "C"][k] for k in path[0]] for path in paths]
    >>> sure = LinearChainPosterior([3 * each for each in scores])
    >>> round(fit_temperature(sure, y_true, ["A", "B", "C"]), 1)
    3.1
    """
    low, high = check_bounds(bounds)
    labels = as_label_lists(y_true, name="y_true")
    tags, _ = tags_and_lengths(labels, posterior)
    order = class_order(
        tags, classes, posterior.n_tags, name="classes", of="posterior"
    ).tolist()
    paths, known = tag_paths(labels, order)
    possible = known & np.isfinite(posterior.log_proba(paths))
    if not possible.any():
        raise ParameterError(
            "y_true",
            "must have a sentence whose true tagging is possible. Got none: sentence 0 "
            f"has the tags {labels[0]!r:.60}, and the classes are {order!r:.60}.",
        )
    if not possible.all():
        warn(
            f"{int((~possible).sum())} of {possible.size} sentences are left out: "
            "their true tagging is impossible for the model, or has a tag that is not "
            f"in 'classes'. The first is sentence {int((~possible).argmax())}."
        )

    def log_likelihood(temperature: float) -> float:
        return float(posterior.tempered(temperature).log_proba(paths)[possible].sum())

    return best_temperature(log_likelihood, low, high)[0]


def best_temperature_and_offset(
    mentions: Mentions, bounds: tuple[float, float], offset_bounds: tuple[float, float]
) -> tuple[float, float, float, float]:
    """Return the temperature and offset at which the true clusterings are most likely.

    The log likelihood there and at (1, 0) is returned, too. At a given temperature it
    is concave in the offset, so the best offset is always found. It is not concave in
    the temperature, since a mention may have several true antecedents. A grid finds the
    neighbourhood of the global maximum, and a search refines it. The prior of the
    temperature is that of `best_temperature`.
    """

    def best_at(log_t: float) -> tuple[float, float]:
        """Return the highest log likelihood at a temperature, and its offset."""
        free = mentions.at(float(np.exp(log_t)))
        offset = free.best_offset(*offset_bounds)
        return free.log_likelihood(offset), offset

    def with_prior(log_t: float) -> float:
        return best_at(log_t)[0] + log_prior(log_t)

    low, high = np.log(bounds).tolist()
    grid = np.linspace(low, high, max(5, int(np.ceil((high - low) / STEP)) + 1))
    k = int(np.argmax([with_prior(log_t) for log_t in grid.tolist()]))
    found = minimize_scalar(
        lambda log_t: -with_prior(float(log_t)),
        bounds=(grid[max(k - 1, 0)], grid[min(k + 1, grid.size - 1)]),
        method="bounded",
        options={"xatol": PRECISION * 1e-2},
    )
    before = mentions.at(1.0).log_likelihood(0.0)
    # If nothing is better, the scores stay as they are.
    after, best, offset = before, 0.0, 0.0
    for log_t in (0.0, float(grid[k]), float(found.x)):
        value, own = best_at(log_t)
        if value + log_prior(log_t) > after + log_prior(best):
            after, best, offset = value, log_t, own
    temperature = float(np.exp(best))
    if best in (low, high) and best != 0:
        temperature = bounds[0 if best == low else 1]
        _warn_at_end("bounds", temperature, best == low)
    if offset in offset_bounds and offset != 0:
        _warn_at_end("offset_bounds", offset, offset < 0)
    return temperature, offset, after, before


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


class Mentions:
    """Scores of the mentions of documents, prepared for division by temperatures.

    Parameters
    ----------
    documents : iterable of (scores, entity, weight)
        Log scores of antecedents of shape (n, n), the entities of the n mentions, and
        the weight of the document.
    """

    def __init__(self, documents: Iterable[tuple[np.ndarray, np.ndarray, float]]):
        none = np.zeros(0)
        news, weights, links, same, rows = [none], [none], [none], [none], [none]
        n_mentions = 0
        for scores, entity, weight in documents:
            n = len(scores)
            earlier = np.tri(n, k=-1, dtype=bool)
            news.append(scores.diagonal())
            weights.append(np.full(n, weight))
            links.append(scores[earlier])
            same.append(np.equal.outer(entity, entity)[earlier])
            rows.append(np.repeat(np.arange(n_mentions, n_mentions + n), np.arange(n)))
            n_mentions += n
        self._new, self._weight = np.concatenate(news), np.concatenate(weights)
        link, row = np.concatenate(links), np.concatenate(rows).astype(np.intp)
        true = np.concatenate(same).astype(bool)
        self._all = _LogSums(link, row, n_mentions)
        self._true = _LogSums(link[true], row[true], n_mentions)
        self._is_new = np.bincount(row[true], minlength=n_mentions) == 0
        # For other mentions the choice is certain, whatever the offset is.
        self._is_free = (self._new > -np.inf) & (self._all.count > 0)

    def at(self, temperature: float) -> FreeMentions:
        """Return the mentions at a temperature."""
        links = self._all.at(temperature)
        # log P(a true antecedent | some antecedent); the offset cancels
        right = np.where(self._is_new, 0.0, self._true.at(temperature) - links)
        free = self._is_free
        return FreeMentions(
            gap=self._new[free] / temperature - links[free],
            is_new=self._is_new[free],
            weight=self._weight[free],
            fixed=float(self._weight @ right),
        )


class _LogSums:
    """Logarithms of sums of exponentials by row, at temperatures."""

    def __init__(self, scores: np.ndarray, row: np.ndarray, n_rows: int):
        there = scores > -np.inf
        scores, row = scores[there], row[there]
        self.count = np.bincount(row, minlength=n_rows)
        self._used = np.flatnonzero(self.count)
        self._starts = (np.cumsum(self.count) - self.count)[self._used]
        self._top = np.maximum.reduceat(scores, self._starts)
        # Exponentials of at most 1 at every temperature cannot overflow.
        self._below = scores - self._top.repeat(self.count[self._used])

    def at(self, temperature: float) -> np.ndarray:
        """Return the logarithms of the sums, 0 for an empty row."""
        sums = np.add.reduceat(np.exp(self._below / temperature), self._starts)
        found = np.zeros(self.count.size)
        found[self._used] = self._top / temperature + np.log(sums)
        return found
