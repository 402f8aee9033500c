"""Posterior distributions over structures: arrays of scores in, probabilities out."""

from ._antecedent import AntecedentPosterior
from ._linear_chain import LinearChainPosterior

__all__ = ["AntecedentPosterior", "LinearChainPosterior"]
