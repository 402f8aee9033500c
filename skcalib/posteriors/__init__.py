"""Posterior distributions over structures, defined by arrays of scores."""

from ._antecedent_posterior import AntecedentPosterior
from ._linear_chain_posterior import LinearChainPosterior
from ._predictive_check import PredictiveCheck, posterior_predictive_check
from ._tree_posterior import TreePosterior

__all__ = [
    "AntecedentPosterior",
    "LinearChainPosterior",
    "PredictiveCheck",
    "TreePosterior",
    "posterior_predictive_check",
]
