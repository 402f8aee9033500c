"""Corpora, readers of annotated text, and generated data with known distributions."""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ._corpora import fetch_corpus
    from ._document_readers import read_conll2012, read_conllu, read_litbank
    from ._generated_documents import make_coref_documents, make_event_documents
    from ._generators import make_calibrated_pairs, make_tagged_sentences
    from ._sequences import read_conll_columns, to_sequences
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = [
    "fetch_corpus",
    "make_calibrated_pairs",
    "make_coref_documents",
    "make_event_documents",
    "make_tagged_sentences",
    "read_conll2012",
    "read_conll_columns",
    "read_conllu",
    "read_litbank",
    "to_sequences",
]
