"""Names that may change in any release.

None of the papers contains these functions and classes, and only few users have tried
them. They are documented and tested as all others are. The changelog describes each
change; there is no warning before it.
"""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ..events._rule import EventEvidence
    from ..interop._spacy import from_spacy_beam, to_spacy
    from ..interop._transformers import from_pipeline
    from ..posteriors._tree_posterior import TreePosterior
    from ..queries._predicted import (
        PredictedEntities,
        predicted_entities,
        predicted_links,
    )
    from ..queries._trees import ArcQuery, SubtreeQuery
    from ..rates._repeats import sample_variance
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = [
    "ArcQuery",
    "EventEvidence",
    "PredictedEntities",
    "SubtreeQuery",
    "TreePosterior",
    "from_pipeline",
    "from_spacy_beam",
    "predicted_entities",
    "predicted_links",
    "sample_variance",
    "to_spacy",
]
