"""Convert outputs of neural libraries to posteriors and probabilities, and back.

The functions take arrays or tensors and return posteriors or lists of spans. No
function imports a neural library.
"""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ._arrays import scheme_transitions
    from ._coreference import from_antecedent_scores, labels_from_clusters
    from ._transformers import from_transformers
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = [
    "from_antecedent_scores",
    "from_transformers",
    "labels_from_clusters",
    "scheme_transitions",
]
