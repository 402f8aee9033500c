"""Names that may change in any release.

None of the papers contains these functions and classes, and only few users have tried
them. They are documented and tested as all others are. The changelog describes each
change; there is no warning before it.
"""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ..datasets._document_corpora import fetch_state_union
    from ..datasets._tagged_corpora import fetch_broad_twitter_entities
    from ..events._event_probability import UncertainLink
    from ..events._rule import EventEvidence
    from ..interop._coreference import from_fastcoref
    from ..interop._neural_crf import from_allennlp, from_flair, from_stanza
    from ..interop._spacy import from_spacy_spancat, from_spacy_tagger
    from ..posteriors._tree_posterior import TreePosterior
    from ..queries._predicted import (
        PredictedEntities,
        PredictedLinks,
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
    "PredictedLinks",
    "SubtreeQuery",
    "TreePosterior",
    "UncertainLink",
    "best_of_k",
    "fetch_broad_twitter_entities",
    "fetch_state_union",
    "from_allennlp",
    "from_fastcoref",
    "from_flair",
    "from_spacy_spancat",
    "from_spacy_tagger",
    "from_stanza",
    "predicted_entities",
    "predicted_links",
]
