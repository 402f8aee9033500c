"""The clustering with the fewest wrong pairs to be expected, by local search.

To find the very best one is NP-hard (correlation clustering). A pair in one cluster
gains its probability minus one half.
"""

from __future__ import annotations

import numpy as np


def least_pair_errors(pairs: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return labels: the first mention of each mention's cluster.

    No move of one mention and no merge of two clusters leads to fewer errors. The
    search begins once with `start` and once with each mention by itself; the better
    end wins, so the result is never worse than `start`.
    """
    gain = pairs - 0.5
    np.fill_diagonal(gain, 0)
    alone = np.arange(len(pairs))
    ends = [_search(gain, labels) for labels in (start, alone)]
    values = [gain[np.equal.outer(labels, labels)].sum() for labels in ends]
    return ends[1] if values[1] > values[0] + _margin(gain) else ends[0]


def _margin(gain: np.ndarray) -> float:
    """Return how much more counts as more: beyond rounding, so that a search ends."""
    return 1e-12 * (1 + len(gain))


def _search(gain: np.ndarray, labels: np.ndarray) -> np.ndarray:
    labels = labels.copy()
    while _merge(gain, labels) | _move(gain, labels):
        pass
    first = np.full(len(labels), len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    return first[labels]


def _merge(gain: np.ndarray, labels: np.ndarray) -> bool:
    """Merge the two clusters that gain most by it, while any do."""
    names, place = np.unique(labels, return_inverse=True)
    if names.size < 2:
        return False
    member = np.zeros((len(labels), names.size))
    member[np.arange(len(labels)), place] = 1
    between = member.T @ gain @ member
    np.fill_diagonal(between, -np.inf)
    partner = between.argmax(axis=1)
    best = between.max(axis=1)
    changed = False
    while best.max() > _margin(gain):
        a = int(best.argmax())
        b = int(partner[a])
        between[a] += between[b]
        between[:, a] = between[a]
        between[b] = between[:, b] = between[a, a] = -np.inf
        place[place == b] = a
        # most rows keep their partner: look again at those that lost it
        stale = (partner == a) | (partner == b) | (between[:, a] > best)
        stale[[a, b]] = True
        partner[stale] = between[stale].argmax(axis=1)
        best[stale] = between[stale].max(axis=1)
        changed = True
    labels[:] = names[place]
    return changed


def _move(gain: np.ndarray, labels: np.ndarray) -> bool:
    """Move each mention to the cluster that it fits best, once around."""
    n = len(labels)
    member = np.zeros((n, n))
    member[np.arange(n), labels] = 1
    # column c: what a mention gains with cluster c; an empty one is a new cluster
    fit = gain @ member
    changed = False
    for j in range(n):
        to = int(fit[j].argmax())
        if fit[j, to] > fit[j, labels[j]] + _margin(gain):
            fit[:, labels[j]] -= gain[:, j]
            fit[:, to] += gain[:, j]
            labels[j] = to
            changed = True
    return changed
