"""Coreference: clusterings with their probabilities, and how to score them."""

from ._pairs import SampledCorefPairs
from ._scores import coref_scores

__all__ = ["SampledCorefPairs", "coref_scores"]
