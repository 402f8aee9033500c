"""Posterior distributions over structures, defined by arrays of scores."""

# These functions are used by event counts, which process one document at a time.
from ._antecedent_algorithms import (  # noqa: F401
    draw_labels,
    follow,
    pair_marginals,
    softmax,
)
from ._antecedent_posterior import AntecedentPosterior
from ._linear_chain_posterior import LinearChainPosterior
from ._predictive_check import PredictiveCheck, posterior_predictive_check

# Queries read the true trees.
from ._tree_checks import check_trees  # noqa: F401
from ._tree_posterior import TreePosterior

__all__ = [
    "AntecedentPosterior",
    "LinearChainPosterior",
    "PredictiveCheck",
    "TreePosterior",
    "posterior_predictive_check",
]
