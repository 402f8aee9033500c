"""Taggings at a temperature, and the temperature at which they are most likely.

Temperature of a posterior over taggings that another package computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from .._errors import ParameterError, ParameterTypeError, public, warn
from .._results import object_array
from .._validation import as_label_list, as_label_lists
from ..posteriors import LinearChainPosterior
from ..queries._query import last_step, transform_before
from ..sequence._base import pair_places, token_accuracy
from ._held_out import PRECISION, check_bounds, posterior_of, warn_at_end

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


@public
def fit_temperature(
    posterior: LinearChainPosterior,
    y_true: Sequence[Sequence[Any]],
    classes: ArrayLike,
    *,
    bounds: tuple[float, float] = (0.01, 100.0),
) -> float:
    """Fit the temperature that maximises the likelihood of labelled sentences.

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
        model. If it is above 1, the model is overconfident.

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
    3.2
    """
    low, high = check_bounds(bounds)
    labels = as_label_lists(y_true, name="y_true")
    order = as_label_list(classes, name="classes")
    if not isinstance(posterior, LinearChainPosterior):
        raise ParameterTypeError(
            "posterior",
            f"must be a LinearChainPosterior. Got {type(posterior).__name__}.",
        )
    if len(order) != posterior.n_tags:
        raise ParameterError(
            "classes",
            f"must have a label for each of the {posterior.n_tags} tags of the "
            f"posterior. Got {len(order)} labels.",
        )
    lengths, expected = list(map(len, labels)), posterior.lengths.tolist()
    if lengths != expected:
        where = f"{len(lengths)} sentences for {len(expected)}"
        if len(lengths) == len(expected):
            i = next(i for i, n in enumerate(lengths) if n != expected[i])
            where = f"{lengths[i]} tags for {expected[i]} tokens in sentence {i}"
        raise ParameterError(
            "y_true",
            "must have one tag for each token of the posterior's sentences. Got "
            f"{where}.",
        )
    place = {label: k for k, label in enumerate(order)}
    known = np.array([set(tags) <= place.keys() for tags in labels], dtype=bool)
    paths = [
        [place[tag] for tag in tags] if ok else [0] * len(tags)
        for tags, ok in zip(labels, known, strict=True)
    ]
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
            f"in 'classes'. The first is sentence {int((~possible).argmax())}.",
        )

    def log_likelihood(temperature: float) -> float:
        found = posterior.tempered(temperature).log_proba(paths)
        return float(found[possible].sum())

    return best_temperature(log_likelihood, low, high)[0]
