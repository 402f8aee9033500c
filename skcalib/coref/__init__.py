"""Coreference: clusterings with their probabilities, and how to score them."""

from ._scores import coref_scores

__all__ = ["coref_scores"]
