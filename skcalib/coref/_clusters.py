"""The gate of cluster metrics: two clusterings of each document, as counts."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Any, NamedTuple

import numpy as np

from .._validation import is_missing, is_sequence
from ..posteriors._antecedent_checks import as_list

SIDES = ("y_true", "y_pred")


class Table(NamedTuple):
    """Two clusterings of a document, crossed.

    true, pred : sizes of the clusters of either side, mentions of one side included.
    row, column, shared : how many mentions a true and a predicted cluster share, where
        there are any.
    """

    true: np.ndarray
    pred: np.ndarray
    row: np.ndarray
    column: np.ndarray
    shared: np.ndarray


def as_tables(
    y_true: Any, y_pred: Any, drop_singletons: bool, caller: str
) -> list[Table]:
    """Return the table of each document."""
    for name, side in zip(SIDES, (y_true, y_pred), strict=True):
        if not is_sequence(side):
            raise TypeError(
                f"The {name!r} parameter of {caller} must be a sequence with a "
                f"clustering for each document. Got {type(side).__name__}."
            )
    if len(y_true) != len(y_pred):
        raise ValueError(
            f"{caller} needs as many clusterings in y_true as in y_pred. Got "
            f"{len(y_true)} and {len(y_pred)}."
        )
    return [
        _table(*_clusters_of_document(true, pred, i, caller), drop_singletons)
        for i, (true, pred) in enumerate(zip(y_true, y_pred, strict=True))
    ]


Clusters = list[dict[Hashable, None]]


def _clusters_of_document(
    true: Any, pred: Any, i: int, caller: str
) -> tuple[Clusters, Clusters]:
    """Return the clusters of both sides, each as a dict in order of its mentions."""
    places = [f"document {i} of the {s!r} parameter of {caller}" for s in SIDES]
    (true, of_true), (pred, of_pred) = map(_entries, (true, pred), places)
    if {of_true, of_pred} == {"labels", "clusters"}:
        raise TypeError(
            f"{caller} compares labels with labels and clusters with clusters. Got "
            f"{of_true} in y_true and {of_pred} in y_pred for document {i}."
        )
    if "labels" not in (of_true, of_pred):
        return _checked(true, places[0]), _checked(pred, places[1])
    if len(true) != len(pred):
        raise ValueError(
            f"{caller} needs labels of the same mentions on both sides. Got "
            f"{len(true)} in y_true and {len(pred)} in y_pred for document {i}; pass "
            "lists of clusters if the mentions differ."
        )
    return _by_label(true), _by_label(pred)


def _entries(side: Any, place: str) -> tuple[list[Any], str]:
    """Return a clustering as a list, and what it holds."""
    if not is_sequence(side):
        raise TypeError(
            "A clustering must be labels, one for each mention, or a list of clusters. "
            f"Got {type(side).__name__} as {place}."
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
        raise TypeError(f"Got both labels and clusters in {place}.")
    for j, label in enumerate(entries):
        if is_missing(label):
            raise ValueError(f"Got {label!r} as the label of mention {j} in {place}.")
    return entries, "labels"


def _by_label(labels: list[Any]) -> Clusters:
    clusters: dict[Any, dict[Hashable, None]] = {}
    for mention, label in enumerate(labels):
        clusters.setdefault(label, {})[mention] = None
    return list(clusters.values())


def _checked(clusters: list[Any], place: str) -> Clusters:
    seen: set[Hashable] = set()
    found: Clusters = []
    for j, cluster in enumerate(clusters):
        mentions = as_list(cluster)
        if not mentions:
            raise ValueError(f"Got an empty cluster, number {j}, in {place}.")
        for mention in mentions:
            if not isinstance(mention, Hashable):
                raise TypeError(
                    f"A mention must be hashable, a pair of positions say. Got "
                    f"{mention!r:.50} in cluster {j} of {place}."
                )
            if mention in seen:
                raise ValueError(
                    f"A mention must stand in one cluster, once. Got {mention!r} again "
                    f"in cluster {j} of {place}."
                )
            seen.add(mention)
        found.append(dict.fromkeys(mentions))
    return found


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
