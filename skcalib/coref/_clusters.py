"""Contingency tables of true and predicted clusterings, with validation."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Any, NamedTuple

import numpy as np

from .._clusterings import as_list
from .._errors import ParameterError, ParameterTypeError
from .._validation import is_missing, is_sequence

SIDES = ("y_true", "y_pred")


class Table(NamedTuple):
    """Contingency table of two clusterings of a document.

    true, pred : sizes of the clusters on each side. Mentions that only one side has are
        included.
    row, column, shared : true cluster, predicted cluster and number of common mentions,
        with one entry for each pair of clusters that have common mentions.
    """

    true: np.ndarray
    pred: np.ndarray
    row: np.ndarray
    column: np.ndarray
    shared: np.ndarray


def as_tables(y_true: Any, y_pred: Any, drop_singletons: bool) -> list[Table]:
    """Return the table of each document."""
    for name, side in zip(SIDES, (y_true, y_pred), strict=True):
        if not is_sequence(side):
            raise ParameterTypeError(
                name,
                "must be a sequence with one clustering per document. Got "
                f"{type(side).__name__}.",
            )
    if len(y_true) != len(y_pred):
        raise ParameterError(
            None,
            "needs as many clusterings in y_true as in y_pred. Got "
            f"{len(y_true)} and {len(y_pred)}.",
        )
    return [
        _table(*_clusters_of_document(true, pred, i), drop_singletons)
        for i, (true, pred) in enumerate(zip(y_true, y_pred, strict=True))
    ]


Clusters = list[dict[Hashable, None]]


def _clusters_of_document(true: Any, pred: Any, i: int) -> tuple[Clusters, Clusters]:
    """Return the clusters of both sides, each as a dict in order of its mentions."""
    (true, of_true), (pred, of_pred) = (
        _entries(side, name, i) for side, name in zip((true, pred), SIDES, strict=True)
    )
    if {of_true, of_pred} == {"labels", "clusters"}:
        raise ParameterTypeError(
            None,
            "needs labels on both sides or clusters on both sides. Got "
            f"{of_true} in y_true and {of_pred} in y_pred for document {i}.",
        )
    if "labels" not in (of_true, of_pred):
        return _checked(true, SIDES[0], i), _checked(pred, SIDES[1], i)
    if len(true) != len(pred):
        raise ParameterError(
            None,
            "needs labels of the same mentions on both sides. Got "
            f"{len(true)} in y_true and {len(pred)} in y_pred for document {i}. "
            "Pass lists of clusters if the mentions differ.",
        )
    return _by_label(true), _by_label(pred)


def _entries(side: Any, name: str, i: int) -> tuple[list[Any], str]:
    """Return a clustering as a list, and whether it has labels or clusters."""
    if not is_sequence(side):
        raise ParameterTypeError(
            name,
            "must contain clusterings: either one label per mention, or a list of "
            f"clusters. Got {type(side).__name__} as document {i} of the {name!r} "
            "argument.",
        )
    entries = as_list(side)
    if not entries:
        return [], "nothing"
    nested = [
        isinstance(e, Collection) and not isinstance(e, (str, bytes)) for e in entries
    ]
    if all(nested):
        return entries, "clusters"
    if any(nested):
        raise ParameterTypeError(
            name,
            "must contain either labels or clusters. Got both labels and clusters in "
            f"document {i}.",
        )
    for j, label in enumerate(entries):
        if is_missing(label):
            raise ParameterError(
                name,
                f"must have one label per mention. Got {label!r} as the label of "
                f"mention {j} in document {i}.",
            )
    return entries, "labels"


def _by_label(labels: list[Any]) -> Clusters:
    clusters: dict[Any, dict[Hashable, None]] = {}
    for mention, label in enumerate(labels):
        clusters.setdefault(label, {})[mention] = None
    return list(clusters.values())


def _checked(clusters: list[Any], name: str, i: int) -> Clusters:
    seen: set[Hashable] = set()
    found: Clusters = []
    for j, cluster in enumerate(clusters):
        place = f"cluster {j} of document {i}"
        mentions = [_as_tuple(mention) for mention in as_list(cluster)]
        if not mentions:
            raise ParameterError(
                name,
                f"must have at least one mention in each cluster. Got none in {place}.",
            )
        for mention in mentions:
            if not isinstance(mention, Hashable):
                raise ParameterTypeError(
                    name,
                    "must have mentions that are hashable, for example pairs of "
                    f"positions. Got {mention!r:.50} in {place}.",
                )
            if mention in seen:
                raise ParameterError(
                    name,
                    f"must have each mention in exactly one cluster. Got {mention!r} "
                    f"again in {place}.",
                )
            seen.add(mention)
        found.append(dict.fromkeys(mentions))
    return found


def _as_tuple(mention: Any) -> Any:
    """Return a mention with lists converted to tuples, which are hashable."""
    if isinstance(mention, (list, np.ndarray)):
        return tuple(_as_tuple(part) for part in as_list(mention))
    return mention


def _table(true: Clusters, pred: Clusters, drop_singletons: bool) -> Table:
    if drop_singletons:
        true = [cluster for cluster in true if len(cluster) > 1]
        pred = [cluster for cluster in pred if len(cluster) > 1]
    place = {mention: j for j, cluster in enumerate(pred) for mention in cluster}
    shared = [
        (i, place[mention])
        for i, cluster in enumerate(true)
        for mention in cluster
        if mention in place
    ]
    pairs = np.array(shared, dtype=np.intp).reshape(-1, 2)
    cells, count = np.unique(pairs, axis=0, return_counts=True)
    return Table(
        np.array(list(map(len, true)), dtype=float),
        np.array(list(map(len, pred)), dtype=float),
        cells[:, 0],
        cells[:, 1],
        count.astype(float),
    )
