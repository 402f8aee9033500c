"""Documents with their words as columns, dependency trees and noun phrases.

The public names are in :mod:`skcalib.documents`.
"""

# ruff: noqa: F401
from ._documents import Document, Mention, Sentence, Words, words_of
from ._noun_phrases import mentions_from_parse
from ._trees import DocumentTree, find_cycle, head_of_span

__all__: list[str] = []
