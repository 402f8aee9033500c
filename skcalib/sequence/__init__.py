"""Sequence taggers with posteriors, in scikit-learn's conventions."""

from ._crf import CRFTagger
from ._cross_val import cross_val_marginals
from ._features import TokenFeatures
from ._hmm import HMMTagger

__all__ = ["CRFTagger", "HMMTagger", "TokenFeatures", "cross_val_marginals"]
