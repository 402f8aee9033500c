"""Documents, as returned by readers and used by coreference and event counting."""

from .text import Document, Mention, Sentence, mentions_from_parse

__all__ = ["Document", "Mention", "Sentence", "mentions_from_parse"]
