"""Counts in a corpus, from a model's expected counts and some labelled documents."""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ._choose_documents import choose_documents
    from ._corrected_count import CorrectedCount, corrected_count
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = ["CorrectedCount", "choose_documents", "corrected_count"]
