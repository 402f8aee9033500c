"""Posterior distributions over structures, defined by arrays of scores."""

from .. import _moved
from ._antecedent_posterior import AntecedentPosterior
from ._linear_chain_posterior import LinearChainPosterior

__all__ = [
    "AntecedentPosterior",
    "LinearChainPosterior",
]

__getattr__ = _moved.names_of(__name__)
