"""Counts in a corpus, from a model's expected counts and some labelled documents."""

from ._choose_documents import DocumentChoice, choose_documents
from ._corrected_count import corrected_count

# skcalib.events uses this.
from ._corrected_count import equivalent_labels as equivalent_labels
from ._results import CorrectedCount, LabelsOnly

__all__ = [
    "CorrectedCount",
    "DocumentChoice",
    "LabelsOnly",
    "choose_documents",
    "corrected_count",
]
