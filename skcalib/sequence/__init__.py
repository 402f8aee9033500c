"""Sequence taggers with posteriors, in scikit-learn's conventions."""

from ._convert_tags import convert_tags
from ._crf import CRFTagger
from ._cross_val_marginals import cross_val_marginals
from ._hmm import HMMTagger
from ._token_features import TokenFeatures

__all__ = [
    "CRFTagger",
    "HMMTagger",
    "TokenFeatures",
    "convert_tags",
    "cross_val_marginals",
]
