"""The tree with the highest sum of scores, by the algorithm of Chu, Liu and Edmonds."""

from __future__ import annotations

import numpy as np


def best_tree(scores: np.ndarray, single_root: bool) -> np.ndarray | None:
    """Return the heads of the best tree (0 is the root), None if no tree is allowed.

    scores : (n, n + 1), -inf for forbidden arcs and for a word's own column.
    """
    if len(scores) == 0:
        return np.zeros(0, dtype=np.intp)
    heads = _best_heads(scores)
    if heads is None or not single_root or (heads == 0).sum() == 1:
        return heads
    return _best_single(scores)


def _best_heads(scores: np.ndarray) -> np.ndarray | None:
    """Return the heads of the best tree with any number of roots."""
    n = len(scores)
    graph = np.full((n + 1, n + 1), -np.inf)
    graph[1:] = scores
    heads = _contract(graph)
    return None if heads is None else heads[1:]


def _best_single(scores: np.ndarray) -> np.ndarray | None:
    """Return the heads of the best tree with a single root.

    Each word is tried as the only child of the root, in the order of an upper bound of
    the score. The search stops if the remaining words cannot give a better tree.
    """
    top = scores[:, 1:].max(axis=1, initial=-np.inf)
    bound = np.array(
        [scores[r, 0] + np.delete(top, r).sum() for r in range(len(scores))]
    )
    best: np.ndarray | None = None
    below_root, highest = -1, -np.inf
    for r in np.argsort(-bound, kind="stable").tolist():
        # Bounds descend, so no later word can be better.
        if bound[r] < highest or bound[r] == -np.inf:
            break
        own = scores.copy()
        own[np.arange(len(scores)) != r, 0] = -np.inf
        own[r, 1:] = -np.inf
        heads = _best_heads(own)
        if heads is None:
            continue
        value = own[np.arange(len(heads)), heads].sum()
        # the first word among ties, independent of the order of bounds
        if value > highest or (value == highest and r < below_root):
            best, below_root, highest = heads, r, value
    return best


def _contract(graph: np.ndarray) -> np.ndarray | None:
    """Return the best head of each node except 0, by contracting all cycles.

    graph : (m, m), [node, head]. The head of node 0 is -1.
    """
    heads = graph.argmax(axis=1)
    heads[0] = -1
    if (graph[1:].max(axis=1) == -np.inf).any():
        return None
    cycle = _cycle(heads)
    if cycle.size == 0:
        return heads
    rest = np.setdiff1d(np.arange(len(graph)), cycle)
    m = rest.size
    small = np.full((m + 1, m + 1), -np.inf)
    small[:m, :m] = graph[np.ix_(rest, rest)]
    # Entering the cycle at a word replaces the head of this word in the cycle.
    into = graph[np.ix_(cycle, rest)] - graph[cycle, heads[cycle]][:, np.newaxis]
    # node m of the smaller graph is the cycle
    small[m, :m] = into.max(axis=0)
    small[:m, m] = graph[np.ix_(rest, cycle)].max(axis=1)
    found = _contract(small)
    if found is None:
        return None
    # the word of the cycle that gets a head outside; the others keep theirs
    enters = cycle[into[:, found[m]].argmax()]
    below = np.flatnonzero(found[:m] == m)
    via = cycle[graph[np.ix_(rest[below], cycle)].argmax(axis=1)]
    heads[rest] = np.where(found[:m] < 0, -1, rest[np.minimum(found[:m], m - 1)])
    heads[rest[below]] = via
    heads[enters] = rest[found[m]]
    return heads


def _cycle(heads: np.ndarray) -> np.ndarray:
    """Return the sorted nodes of one cycle, or no nodes if there is no cycle."""
    state = np.zeros(len(heads), dtype=np.intp)
    above = heads.tolist()
    state[0] = -1
    for start in range(1, len(above)):
        node = start
        # Each walk marks its nodes; a walk that meets its own mark has found a cycle,
        # another mark leads to the root.
        while state[node] == 0:
            state[node] = start
            node = above[node]
        if state[node] == start:
            cycle = [node]
            while above[cycle[-1]] != node:
                cycle.append(above[cycle[-1]])
            return np.sort(np.array(cycle, dtype=np.intp))
    return np.zeros(0, dtype=np.intp)
