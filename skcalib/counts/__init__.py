"""Counts in a corpus, from a model's expected counts and some labelled documents."""

from .. import _moved
from ._choose_documents import choose_documents
from ._corrected_count import CorrectedCount, corrected_count

__all__ = [
    "CorrectedCount",
    "choose_documents",
    "corrected_count",
]

__getattr__ = _moved.names_of(__name__)
