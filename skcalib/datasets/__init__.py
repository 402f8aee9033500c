"""Corpora, readers of annotated text, and generated data with known distributions."""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ._document_corpora import fetch_gum, fetch_litbank, fetch_muc3
    from ._document_readers import read_conll2012, read_conllu, read_litbank
    from ._generated_documents import make_coref_documents, make_event_documents
    from ._generators import make_calibrated_pairs, make_tagged_sentences
    from ._sequences import read_conll_columns, to_sequences
    from ._system_outputs import fetch_system_outputs
    from ._tagged_corpora import (
        fetch_ark_twitter_pos,
        fetch_emoticon_tweets,
        fetch_ud_english_ewt,
        fetch_wsj_sample,
    )
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = [
    "fetch_ark_twitter_pos",
    "fetch_emoticon_tweets",
    "fetch_gum",
    "fetch_litbank",
    "fetch_muc3",
    "fetch_system_outputs",
    "fetch_ud_english_ewt",
    "fetch_wsj_sample",
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
