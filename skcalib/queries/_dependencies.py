"""True trees and posteriors of sentences, used by the queries about trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._clusterings import check_entries
from .._errors import ParameterError, ParameterTypeError
from .._validation import is_sequence
from ..posteriors import TreePosterior, check_trees
from ._steps import last_step, transform_before


def as_heads(y_true: Any, other: Any, name: str) -> list[np.ndarray]:
    """Return the true heads of each sentence, one array per entry of `other`."""
    check_entries(other, None, "sentence", name)
    check_entries(y_true, None, "sentence", "y_true")
    if len(y_true) != len(other):
        raise ParameterError(
            None,
            f"needs an entry of {name!r} for each sentence of 'y_true'. Got "
            f"{len(other)} and {len(y_true)}.",
        )
    lengths = [len(heads) if is_sequence(heads) else 0 for heads in y_true]
    return check_trees(y_true, np.array(lengths, dtype=np.intp), "y_true")


def heads_for(y_true: Any, posterior: Any) -> list[np.ndarray]:
    """Return the true heads of the sentences of a posterior."""
    if not isinstance(posterior, TreePosterior):
        raise ParameterTypeError(
            "posterior", f"must be a TreePosterior. Got {type(posterior).__name__}."
        )
    gold = as_heads(y_true, posterior.log_scores, "posterior")
    for i, (heads, n) in enumerate(zip(gold, posterior.lengths.tolist(), strict=True)):
        if heads.size != n:
            raise ParameterError(
                "posterior",
                "must describe the sentences of 'y_true'. "
                f"Sentence {i} has {heads.size} "
                f"heads and {n} words.",
            )
    return gold


def posterior_and_trees(estimator: Any, X: Any, predict: bool) -> tuple[Any, Any]:
    """Return the posterior of a fitted parser, and its prediction if it is needed."""
    parser = last_step(estimator)
    if not hasattr(parser, "posterior"):
        raise ParameterError(
            "estimator",
            "must have a posterior method that returns a TreePosterior. Got "
            f"{type(parser).__name__}. For scores of arcs from any source, make a "
            "TreePosterior and pass it to from_posterior.",
        )
    X = transform_before(estimator, X)
    posterior = parser.posterior(X)
    predicted = None
    if predict and hasattr(parser, "predict"):
        lengths = getattr(posterior, "lengths", np.zeros(0, dtype=np.intp))
        predicted = check_trees(parser.predict(X), lengths, "predict(X)")
    return posterior, predicted
