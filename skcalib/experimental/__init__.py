"""Names that may change in any release.

None of the papers contains these functions and classes, and only few users have tried
them. They are documented and tested as all others are. The changelog describes each
change; there is no warning before it.
"""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ..coref._entity_counts import EntityCountCoverage, entity_count_coverage
    from ..datasets._document_corpora import fetch_state_union
    from ..datasets._tagged_corpora import fetch_broad_twitter_entities
    from ..events._event_probability import UncertainLink
    from ..events._rule import EventEvidence
    from ..interop._coreference import from_fastcoref
    from ..interop._neural_crf import from_allennlp, from_flair, from_stanza
    from ..interop._spacy import from_spacy_spancat, from_spacy_tagger
    from ..plot._predictive_check import PredictiveCheckDisplay
    from ..posteriors._predictive_check import (
        PredictiveCheck,
        posterior_predictive_check,
    )
    from ..posteriors._tree_posterior import TreePosterior
    from ..queries._predicted import (
        PredictedEntities,
        PredictedLinks,
        predicted_entities,
        predicted_links,
    )
    from ..queries._trees import ArcQuery, SubtreeQuery
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = [
    "ArcQuery",
    "EntityCountCoverage",
    "EventEvidence",
    "PredictedEntities",
    "PredictedLinks",
    "PredictiveCheck",
    "PredictiveCheckDisplay",
    "SubtreeQuery",
    "TreePosterior",
    "UncertainLink",
    "entity_count_coverage",
    "fetch_broad_twitter_entities",
    "fetch_state_union",
    "from_allennlp",
    "from_fastcoref",
    "from_flair",
    "from_spacy_spancat",
    "from_spacy_tagger",
    "from_stanza",
    "posterior_predictive_check",
    "predicted_entities",
    "predicted_links",
]
