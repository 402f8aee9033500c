"""Documents: what readers return, and what coreference and event counting use."""

from .text import Document, Mention, Sentence, mentions_from_parse

__all__ = ["Document", "Mention", "Sentence", "mentions_from_parse"]
