"""Sequence taggers with posteriors, in scikit-learn's conventions."""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ._convert_tags import convert_tags
    from ._crf import CRFTagger
    from ._cross_val_marginals import cross_val_marginals
    from ._hmm import HMMTagger
    from ._token_features import TokenFeatures
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = [
    "CRFTagger",
    "HMMTagger",
    "TokenFeatures",
    "convert_tags",
    "cross_val_marginals",
]
