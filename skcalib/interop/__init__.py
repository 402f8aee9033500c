"""Outputs of neural libraries as posteriors and probabilities, and the way back.

Arrays and tensors in, posteriors and lists of spans out. No function imports a neural
library, except for :func:`to_spacy`, which makes objects of spaCy.
"""

from ._coreference import (
    from_antecedent_scores,
    from_fastcoref,
    labels_from_clusters,
)
from ._neural_crf import from_allennlp, from_flair, from_pytorch_crf, from_stanza
from ._schemes import scheme_transitions
from ._spacy import from_spacy_beam, from_spacy_spancat, from_spacy_tagger, to_spacy
from ._transformers import from_pipeline, from_transformers

__all__ = [
    "from_allennlp",
    "from_antecedent_scores",
    "from_fastcoref",
    "from_flair",
    "from_pipeline",
    "from_pytorch_crf",
    "from_spacy_beam",
    "from_spacy_spancat",
    "from_spacy_tagger",
    "from_stanza",
    "from_transformers",
    "labels_from_clusters",
    "scheme_transitions",
    "to_spacy",
]
