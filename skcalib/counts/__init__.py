"""Counts in a corpus, from a model's expected counts and some labelled documents."""

from ._choose_documents import DocumentChoice, choose_documents
from ._corrected_count import CorrectedCount, LabelsOnly, corrected_count

__all__ = [
    "CorrectedCount",
    "DocumentChoice",
    "LabelsOnly",
    "choose_documents",
    "corrected_count",
]
