"""Weights of a CRFsuite model, read from its binary file.

The text dump of CRFsuite rounds weights to six digits and takes ten times as long. The
format is that of CRFsuite's lib/crf/src/crf1d_model.c and of its CQDB string tables.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

_HEADER = struct.Struct("<4sI4s9I")
_FEATURE = np.dtype(
    [("type", "<u4"), ("source", "<u4"), ("target", "<u4"), ("w", "<f8")]
)
_STATE, _TRANSITION = 0, 1


@dataclass(frozen=True)
class CRFWeights:
    """Names and weights of a first-order model.

    labels : list of str; attributes : list of str; state : (source attribute, target
    label, weight) arrays; transition : ndarray of shape (n_labels, n_labels).
    """

    labels: list[str]
    attributes: list[str]
    state: tuple[np.ndarray, np.ndarray, np.ndarray]
    transition: np.ndarray


def read_model(data: bytes) -> CRFWeights:
    """Return the weights in the bytes of a CRFsuite model file."""
    magic, _, kind, *numbers = _HEADER.unpack_from(data)
    if magic != b"lCRF" or kind != b"FOMC":
        raise ValueError("This is no first-order model of CRFsuite.")
    _, _, n_labels, n_attributes, at_features, at_labels, at_attributes, _, _ = numbers
    _, _, n_features = struct.unpack_from("<4sII", data, at_features)
    features = np.frombuffer(data, _FEATURE, n_features, at_features + 12)
    state = features[features["type"] == _STATE]
    moves = features[features["type"] == _TRANSITION]
    transition = np.zeros((n_labels, n_labels))
    transition[moves["source"], moves["target"]] = moves["w"]
    return CRFWeights(
        labels=_strings(data, at_labels, n_labels),
        attributes=_strings(data, at_attributes, n_attributes),
        state=(state["source"], state["target"], state["w"]),
        transition=transition,
    )


def _strings(data: bytes, start: int, n: int) -> list[str]:
    """Return the strings of a CQDB table in the order of their numbers."""
    if n == 0:
        return []
    _, _, _, _, n_back, at_back = struct.unpack_from("<4s5I", data, start)
    records = np.frombuffer(data, "<u4", min(n, n_back), start + at_back)
    strings = []
    for record in (records + start).tolist():
        _, size = struct.unpack_from("<II", data, record)
        strings.append(data[record + 8 : record + 7 + size].decode("utf-8"))
    return strings
