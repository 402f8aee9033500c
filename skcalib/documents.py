"""Documents, as returned by readers and used by coreference and event counting."""

from .text._documents import Document, Mention, Sentence
from .text._trees import mentions_from_parse

__all__ = ["Document", "Mention", "Sentence", "mentions_from_parse"]
