"""Corpora, readers of annotated text, and generated data whose truth is known."""

from ._emoticon_tweets import fetch_emoticon_tweets
from ._fetchers import fetch_ark_twitter_pos, fetch_ud_english_ewt, fetch_wsj_sample
from ._generators import make_calibrated_pairs
from ._readers import read_conll_columns, read_conllu, to_sequences
from ._tagged import make_tagged_sentences

__all__ = [
    "fetch_ark_twitter_pos",
    "fetch_emoticon_tweets",
    "fetch_ud_english_ewt",
    "fetch_wsj_sample",
    "make_calibrated_pairs",
    "make_tagged_sentences",
    "read_conll_columns",
    "read_conllu",
    "to_sequences",
]
