"""Posterior distributions over structures: arrays of scores in, probabilities out."""

from ._linear_chain import LinearChainPosterior

__all__ = ["LinearChainPosterior"]
