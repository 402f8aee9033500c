"""Training by CRFsuite, and the weights in its model files.

The weights are read from the binary file, because CRFsuite's text dump rounds them to
six digits and takes ten times as long. The file format is defined by CRFsuite in
lib/crf/src/crf1d_model.c, and the format of its string tables by CQDB.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import sklearn_crfsuite

from .._errors import ParameterError

_HEADER = struct.Struct("<4sI4s9I")
_FEATURE = np.dtype(
    [("type", "<u4"), ("source", "<u4"), ("target", "<u4"), ("w", "<f8")]
)
_STATE, _TRANSITION = 0, 1
# No training ends with a larger weight, and sums of such weights are finite.
_MOST_WEIGHT = 1e100
# Algorithms other than L-BFGS shuffle sentences with the C function rand. All threads
# share its state.
_SEED = 0
_shuffling = threading.RLock()


class ItemStream:
    """Items of sentences, one sentence at a time, with a length for progress bars."""

    def __init__(self, items: Iterator[list[dict]], size: int):
        self.items = items
        self.size = size

    def __iter__(self) -> Iterator[list[dict]]:
        found = False
        for sentence in self.items:
            found = found or any(sentence)
            yield sentence
        if not found:
            raise ParameterError("X", "has no attribute at any token.")

    def __len__(self) -> int:
        return self.size


def train(
    settings: dict[str, Any],
    items: ItemStream,
    targets: list[list[str]],
    held_out: tuple[list[Any], list[list[str]]] | None = None,
) -> tuple[bytes, Any]:
    """Return the bytes of CRFsuite's model file and the log of the training.

    Training is deterministic.
    """
    lock = nullcontext() if settings["algorithm"] == "lbfgs" else _shuffling
    with lock, _model_path() as path:
        crf = sklearn_crfsuite.CRF(**settings, model_filename=path)
        _seed_c_library()
        crf.fit(items, targets, *(held_out or ()))
        # Only the tagger of CRFsuite keeps the file open, and none was created.
        return Path(path).read_bytes(), crf.training_log_


@contextmanager
def _model_path() -> Iterator[str]:
    """Yield the path of a model file that exists until the end of the block.

    On Linux, the file is in memory and is removed even if the process is killed.
    """
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        file = os.memfd_create("skcalib-crf")
        try:
            yield f"/proc/self/fd/{file}"
        finally:
            os.close(file)
    else:
        with TemporaryDirectory(prefix="skcalib-crf-") as folder:
            yield str(Path(folder) / "model")


def _seed_c_library() -> None:
    """Seed the random numbers of the C library that CRFsuite is linked with."""
    name = "ucrtbase" if sys.platform == "win32" else None
    ctypes.CDLL(name).srand(_SEED)


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
    """Return the weights in the bytes of a CRFsuite model file.

    Raises a ValueError if the bytes are not a complete model.
    """
    try:
        return _read_model(data)
    except (struct.error, IndexError):
        raise ValueError("The file is damaged or not complete.") from None


def _read_model(data: bytes) -> CRFWeights:
    magic, _, kind, *numbers = _HEADER.unpack_from(data)
    if magic != b"lCRF" or kind != b"FOMC":
        raise ValueError("The data are not a first-order model of CRFsuite.")
    _, _, n_labels, n_attributes, at_features, at_labels, at_attributes, _, _ = numbers
    _, _, n_features = struct.unpack_from("<4sII", data, at_features)
    labels = _strings(data, at_labels, n_labels)
    attributes = _strings(data, at_attributes, n_attributes)
    features = np.frombuffer(data, _FEATURE, n_features, at_features + 12)
    right = np.abs(features["w"]) < _MOST_WEIGHT
    if not (right & (features["type"] <= _TRANSITION)).all():
        raise ValueError("The weights are damaged.")
    state = features[features["type"] == _STATE]
    moves = features[features["type"] == _TRANSITION]
    transition = np.zeros((n_labels, n_labels))
    transition[moves["source"], moves["target"]] = moves["w"]
    if (state["source"] >= n_attributes).any() or (state["target"] >= n_labels).any():
        raise IndexError
    return CRFWeights(
        labels=labels,
        attributes=attributes,
        state=(state["source"], state["target"], state["w"]),
        transition=transition,
    )


def _strings(data: bytes, start: int, n: int) -> list[str]:
    """Return the strings of a CQDB table in the order of their numbers."""
    if n == 0:
        return []
    _, _, _, _, n_back, at_back = struct.unpack_from("<4s5I", data, start)
    if n_back < n:
        raise IndexError
    records = np.frombuffer(data, "<u4", n, start + at_back)
    strings = []
    for record in (records + start).tolist():
        _, size = struct.unpack_from("<II", data, record)
        strings.append(data[record + 8 : record + 7 + size].decode("utf-8"))
        if record + 8 + size > len(data):
            raise IndexError
    if len(set(strings)) < n:
        raise ValueError("A name occurs twice.")
    return strings
