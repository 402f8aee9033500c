"""Names that may change in any release.

None of the papers contains these functions and classes, and only few users have tried
them. They are documented and tested as all others are. The changelog describes each
change; there is no warning before it.
"""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ..coref._entity_counts import entity_count_coverage
    from ..events._rule import EventEvidence
    from ..plot._predictive_check import PredictiveCheckDisplay
    from ..posteriors._predictive_check import posterior_predictive_check
    from ..posteriors._tree_posterior import TreePosterior
    from ..queries._predicted import (
        PredictedEntities,
        predicted_entities,
        predicted_links,
    )
    from ..queries._trees import ArcQuery, SubtreeQuery
    from ..rates._repeats import best_of_k
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = [
    "ArcQuery",
    "EventEvidence",
    "PredictedEntities",
    "PredictiveCheckDisplay",
    "SubtreeQuery",
    "TreePosterior",
    "best_of_k",
    "entity_count_coverage",
    "posterior_predictive_check",
    "predicted_entities",
    "predicted_links",
]
