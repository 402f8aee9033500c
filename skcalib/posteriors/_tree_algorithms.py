"""Sums over dependency trees, the best tree, and sampled trees, of arrays of scores.

`scores` are (b, n, n + 1) for b sentences of one length, or (n, n + 1) for one
sentence: rows are words, the first column is the root, column h + 1 is word h. A word's
own column is -inf.

Sums are computed by the matrix-tree theorem. Where its inverse would lose digits, words
are eliminated one by one instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

# Maximum number of entries of a stack of matrices.
AT_ONCE = 2**20
# Estimated error above which elimination without subtraction replaces the inverse.
TOLERANCE = 1e-11
# Rounds after which samples that still have cycles are drawn by elimination.
MOST_ROUNDS = 100


def stacks(lengths: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the indices of sentences of one length, not too many at a time."""
    for n in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == n)
        size = max(1, AT_ONCE // (n + 1) ** 2)
        for first in range(0, rows.size, size):
            yield rows[first : first + size]


# Sums by the matrix-tree theorem


def log_partition(scores: np.ndarray, single_root: bool) -> np.ndarray:
    """Return log Z of each sentence, -inf where there is no tree."""
    if scores.shape[1] == 0:
        return np.zeros(len(scores))
    matrix, _, offset = _laplacians(scores, single_root)
    with np.errstate(divide="ignore"):  # a singular matrix
        sign, log_det = np.linalg.slogdet(matrix)
    _, is_accurate = _inverses(matrix)
    log_z, again = log_det + offset, ~(is_accurate & (sign > 0))
    if again.any():
        log_z[again] = _log_partition_by_elimination(scores[again], single_root)
    return log_z


def arc_marginals(scores: np.ndarray, single_root: bool) -> np.ndarray:
    """Return the probability of each arc, NaN for a sentence without a tree."""
    if scores.shape[1] == 0:
        return np.zeros(scores.shape)
    matrix, weights, _ = _laplacians(scores, single_root)
    inverse, is_accurate = _inverses(matrix)
    proba = _marginals(inverse, weights, single_root)
    again = ~is_accurate
    if again.any():
        log_z = _log_partition_by_elimination(scores[again], single_root)
        again[again] = log_z > -np.inf
        proba[~is_accurate & ~again] = np.nan
        proba[again] = _marginals_by_elimination(scores[again], single_root)
    return proba


def _laplacians(
    scores: np.ndarray, single_root: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the Laplacians of weights, the weights, and the log of their factor."""
    weights, offset = _scaled(scores, single_root)
    # theory, (R1)
    matrix = -weights[:, :, 1:]
    diagonal = np.arange(matrix.shape[1])
    in_sum = slice(1 if single_root else 0, None)
    matrix[:, diagonal, diagonal] = weights[:, :, in_sum].sum(axis=2)
    if single_root:  # Koo et al., equation 8, transposed
        matrix[:, :, 0] = weights[:, :, 0]
    return matrix, weights, offset


def _inverses(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the inverses, 0 where not accurate, and whether each is accurate."""
    regular = np.ones(len(matrix), dtype=bool)
    # An inverse that overflows has an error of infinity or NaN.
    with np.errstate(all="ignore"):
        try:
            inverse = np.linalg.inv(matrix)
        except np.linalg.LinAlgError:  # if one of them is singular
            regular = np.linalg.slogdet(matrix)[1] > -np.inf
            unit = np.eye(matrix.shape[1])
            inverse = np.linalg.inv(np.where(regular[:, None, None], matrix, unit))
        size = np.abs(inverse)
        # norm of the inverse times norm of the matrix bounds the relative error of an
        # inverse; times its largest entry, the absolute error
        error = size.sum(axis=2).max(axis=1) * size.max(axis=(1, 2))
        error *= np.abs(matrix).sum(axis=2).max(axis=1) * np.finfo(float).eps
    is_accurate = regular & (error < TOLERANCE)
    inverse[~is_accurate] = 0  # differences of infinite entries would warn
    return inverse, is_accurate


def _scaled(scores: np.ndarray, single_root: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return weights of at most 1, and the log of the factor divided out of all trees.

    Each word has one head, so a factor of a row is a factor of every tree. With a
    single root, a factor of all arcs of the root is also a factor of every tree.
    """
    top = scores[:, :, 1 if single_root else 0 :].max(axis=2, initial=-np.inf)
    top = np.where(top == -np.inf, scores[:, :, 0], top)
    top[top == -np.inf] = 0
    scaled = scores - top[:, :, np.newaxis]
    offset = top.sum(axis=1)
    if single_root:
        root = scaled[:, :, 0].max(axis=1)
        root[root == -np.inf] = 0
        scaled[:, :, 0] -= root[:, np.newaxis]
        offset = offset + root
    weights = np.exp(scaled)
    total = weights[:, :, 1 if single_root else 0 :].sum(axis=2)
    total[total == 0] = 1
    weights /= total[:, :, np.newaxis]
    return weights, offset + np.log(total).sum(axis=1)


def _marginals(
    inverse: np.ndarray, weights: np.ndarray, single_root: bool
) -> np.ndarray:
    """Return the weights of arcs times the derivatives of log Z."""
    proba = np.empty_like(weights)
    # theory, (R2)
    own = np.diagonal(inverse, axis1=1, axis2=2).copy()
    other = np.swapaxes(inverse, 1, 2)
    if single_root:
        proba[:, :, 0] = inverse[:, 0, :]
        # The first column of L' contains weights of the root instead of arcs to word 1.
        own[:, 0] = 0
        other = other.copy()
        other[:, :, 0] = 0
    else:
        proba[:, :, 0] = own
    np.subtract(own[:, :, np.newaxis], other, out=proba[:, :, 1:])
    proba *= weights
    np.clip(proba, 0, 1, out=proba)  # rounding errors can give -1e-17
    return proba


def log_subtree_sums(
    scores: np.ndarray, start: int, stop: int, single_root: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of the trees inside a span and of the trees outside it.

    One word of the span has its head outside. No word outside has its head inside.
    """
    inside = np.arange(start, stop)
    outside = np.delete(np.arange(len(scores)), inside)
    heads = outside + 1
    # With a single root, the root may only be the head if nothing is outside.
    if not single_root or outside.size == 0:
        heads = np.concatenate([[0], heads])
    entry = np.logaddexp.reduce(scores[np.ix_(inside, heads)], axis=1)
    within = np.column_stack([entry, scores[start:stop, start + 1 : stop + 1]])
    return within, scores[np.ix_(outside, np.concatenate([[0], outside + 1]))]


# Elimination
#
# The heads of words form a Markov chain that ends at the root. Words are eliminated one
# by one, as in the algorithm of Grassmann, Taksar and Heyman. There are no subtractions
# and therefore no cancellation, so that scores may have any size.


class Terms(NamedTuple):
    """Arrays of numbers exp(log) t^power for a small t; the power of 0 is inf.

    If trees must have a single root, arcs of the root have the factor t. Sums only keep
    the lowest power, which belongs to the trees with the fewest roots.
    """

    power: np.ndarray
    log: np.ndarray

    def at(self, *index: Any) -> Terms:
        return Terms(self.power[index], self.log[index])

    def times(self, other: Terms) -> Terms:
        return Terms(self.power + other.power, self.log + other.log)

    def over(self, other: Terms) -> Terms:
        """Divide; 0 divided by 0 is 0."""
        is_zero = np.isinf(self.power)
        with np.errstate(invalid="ignore"):
            power, log = self.power - other.power, self.log - other.log
        return Terms(np.where(is_zero, np.inf, power), np.where(is_zero, -np.inf, log))

    def plus(self, other: Terms) -> Terms:
        # For small t, a higher power is negligible beside a lower one.
        power = np.minimum(self.power, other.power)
        ours = np.where(self.power == power, self.log, -np.inf)
        theirs = np.where(other.power == power, other.log, -np.inf)
        return Terms(power, np.logaddexp(ours, theirs))

    def sum(self, axis: int) -> Terms:
        power = self.power.min(axis=axis, keepdims=True)
        log = np.where(self.power == power, self.log, -np.inf)
        top = log.max(axis=axis, keepdims=True)
        top[top == -np.inf] = 0
        with np.errstate(divide="ignore"):
            total = top + np.log(np.exp(log - top).sum(axis=axis, keepdims=True))
        return Terms(power.squeeze(axis), total.squeeze(axis))


def _as_terms(scores: np.ndarray, single_root: bool) -> Terms:
    """Return the arcs of a stack as terms."""
    power = np.zeros(scores.shape)
    if single_root:
        power[..., 0] = 1
    return Terms(np.where(scores == -np.inf, np.inf, power), scores)


def _log_partition_by_elimination(scores: np.ndarray, single_root: bool) -> np.ndarray:
    """Return log Z of each sentence of a stack, -inf without a tree."""
    arcs = _as_terms(scores, single_root)
    power, log = np.zeros(len(scores)), np.zeros(len(scores))
    for _ in range(scores.shape[1]):
        arcs, _, total = _eliminate(arcs, 0)
        # theory, (R3): log Z is the sum of the logs of the totals
        power, log = power + total.power, log + total.log
    # With t^2 or higher, no tree has a single root; inf means no tree at all.
    return np.where(power == int(single_root), log, -np.inf)


def _marginals_by_elimination(scores: np.ndarray, single_root: bool) -> np.ndarray:
    """Return the probability of each arc of a stack of sentences that have trees.

    The head of d is h in proportion to the weight of the arc times the probability that
    the chain from h ends at the root before it visits d.
    """
    arcs = _as_terms(scores, single_root)
    escape = _escape(arcs)
    # theory, (R4), with the escape from h before d at row d, column h
    words = arcs.at(..., slice(1, None)).times(
        Terms(*(np.swapaxes(each, 1, 2) for each in escape))
    )
    power = np.concatenate([arcs.power[..., :1], words.power], axis=2)
    log = np.concatenate([arcs.log[..., :1], words.log], axis=2)
    # Heads with a higher power of t belong to trees with more roots.
    log = np.where(power == power.min(axis=2, keepdims=True), log, -np.inf)
    proba = np.exp(log - log.max(axis=2, keepdims=True))
    return proba / proba.sum(axis=2, keepdims=True)


def _eliminate(arcs: Terms, k: int) -> tuple[Terms, Terms, Terms]:
    """Return the arcs after eliminating word k, the next words of k, and its weight."""
    keep = np.delete(np.arange(arcs.log.shape[-2]), k)
    columns = np.concatenate([[0], keep + 1])
    row = arcs.at(slice(None), k, columns)
    total = row.sum(axis=-1)
    row = row.over(total.at(slice(None), np.newaxis))
    to_k = arcs.at(slice(None), keep, slice(k + 1, k + 2))
    rest = Terms(*(each[:, keep][:, :, columns] for each in arcs))
    via = to_k.times(row.at(slice(None), np.newaxis))
    return rest.plus(via), row, total


def _escape(arcs: Terms) -> Terms:
    """Return the probability (b, n, n) that a row's chain ends before a column.

    Entry (h, d) is the probability that the chain of heads from h reaches the root
    before it visits d. Eliminating words other than d does not change it for the words
    that are left. One half of the words is eliminated, the columns of the other half
    are solved as a smaller problem, and the eliminated words are put back in the
    opposite order. Both halves take turns.

    For example, with words 0 to 3: eliminate 0, then 1, solve the columns 2 and 3 for
    the rows 2 and 3, add the row of 1 from its next words (root, 2, 3), then the row of
    0 from its next words (root, 1, 2, 3).
    """
    b, n = arcs.log.shape[:2]
    found = Terms(np.full((b, n, n), np.inf), np.full((b, n, n), -np.inf))
    if n < 2:
        return found
    half = np.arange(n // 2), np.arange(n // 2, n)
    for drop, keep in (half, half[::-1]):
        rest, rows = arcs, []
        for _ in drop:  # the words of `drop` are adjacent
            rest, row, _ = _eliminate(rest, int(drop[0]))
            rows.append(row)
        below = _escape(rest)
        # The row of the root: a chain at the root has ended, with probability 1.
        one = Terms(np.zeros((b, 1, keep.size)), np.zeros((b, 1, keep.size)))
        below = Terms(
            *(np.concatenate(each, 1) for each in zip(one, below, strict=True))
        )
        for row in rows[::-1]:
            # theory, (R5)
            step = row.at(slice(None), slice(None), np.newaxis).times(below).sum(1)
            k = int(drop[0]) + 1  # the place of the next row
            parts = zip(below, step, strict=True)
            below = Terms(*(np.insert(whole, k, row, axis=1) for whole, row in parts))
        for whole, part in zip(found, below, strict=True):
            whole[:, :, keep] = part[:, 1:]
    diagonal = np.arange(n)
    # A chain from d visits d at once.
    found.power[:, diagonal, diagonal] = np.inf
    found.log[:, diagonal, diagonal] = -np.inf
    return found


# The best tree, by the algorithm of Chu, Liu and Edmonds


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
    ends_of_words = ends(heads[np.newaxis, 1:])[0]
    if not ends_of_words.any():
        return np.zeros(0, dtype=np.intp)
    cycle = [ends_of_words[ends_of_words > 0][0]]
    while heads[cycle[-1]] != cycle[0]:
        cycle.append(heads[cycle[-1]])
    return np.sort(cycle)


# Sampling


def sample(
    scores: np.ndarray,
    proba: np.ndarray,
    single_root: bool,
    size: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the heads (size, n) of trees of one sentence.

    scores, proba : (n, n + 1), log scores and marginals of arcs. The popped cycles are
    independent of the tree (Propp and Wilson). Samples that still have a cycle after
    many rounds can therefore be drawn by another method.
    """
    n = len(scores)
    heads = np.zeros((size, n), dtype=np.intp)
    if n == 0:
        return heads
    free = scores.copy()
    roots = None
    if single_root:
        # Given its only child, the other words form a tree below this child. The child
        # is drawn from the marginals of root arcs, which sum to 1.
        roots = _pick(np.tile(proba[:, 0], (size, 1)), rng)
        if n > 1:
            # no other word may choose the root
            free[:, 0] = -np.inf
    top = free.max(axis=1, keepdims=True)
    top[top == -np.inf] = 0
    sums = np.exp(free - top).cumsum(axis=1)
    rows = np.arange(size)
    redraw = np.ones((size, n), dtype=bool)
    # `rows` are the samples that still have a cycle, and `redraw` are its words
    for _ in range(MOST_ROUNDS):
        at, words = np.nonzero(redraw)
        target = rng.random(at.size) * sums[words, -1]
        part = heads[rows]
        part[at, words] = (sums[words] <= target[:, np.newaxis]).sum(axis=1)
        if roots is not None:
            # The drawn child keeps the root as its head in every round.
            part[np.arange(rows.size), roots[rows]] = 0
        heads[rows] = part
        # Only the words on a cycle draw again, as in Wilson's stacks of heads. Words
        # below a cycle keep theirs: drawing them again would bias the trees.
        redraw = _on_cycle(part)
        wrong = redraw.any(axis=1)
        rows, redraw = rows[wrong], redraw[wrong]
        if rows.size == 0:
            return heads
    if roots is None:
        heads[rows] = _by_elimination(scores, rows.size, rng)
    else:
        heads[rows] = _with_roots(scores, roots[rows], rng)
    return heads


def _pick(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the column drawn in each row, never a column of weight 0."""
    sums = weights.cumsum(axis=1)
    target = rng.random(len(weights)) * sums[:, -1]
    return (sums <= target[:, np.newaxis]).sum(axis=1)


def _pick_log(log_weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return _pick(np.exp(log_weights - log_weights.max(axis=1, keepdims=True)), rng)


def _on_cycle(heads: np.ndarray) -> np.ndarray:
    """Return which words are on a cycle, bool (size, n).

    After at least n steps upwards, every word has arrived at the root or on a cycle.
    For example, with heads 2, 1, 1 and 0 of the words 1 to 4, four steps lead to 1, 2,
    2 and 0: the words 1 and 2 are a cycle, and word 3 is only below it.
    """
    found = np.zeros((len(heads), heads.shape[1] + 1), dtype=bool)
    # Steps on a cycle are a permutation of it, so each of its words is arrived at.
    np.put_along_axis(found, ends(heads), True, axis=1)
    return found[:, 1:]


def ends(heads: np.ndarray) -> np.ndarray:
    """Return the node, from 0 to n, that is reached after at least n steps upwards.

    The root, node 0, is its own head.
    """
    after = np.zeros((len(heads), heads.shape[1] + 1), dtype=np.intp)
    after[:, 1:] = heads
    # theory, (R6): following the result of s rounds by itself makes 2^s steps, so
    # that cycles are found in log n array operations, without walking along them
    for _ in range(heads.shape[1].bit_length()):
        after = np.take_along_axis(after, after, axis=1)
    return after


def _with_roots(
    scores: np.ndarray, roots: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return the heads of one tree for each of the `roots`, the only child of 0."""
    n = len(scores)
    heads = np.zeros((roots.size, n), dtype=np.intp)
    for root in np.unique(roots).tolist():
        rows = np.flatnonzero(roots == root)
        # The child of the root takes its place.
        words = np.delete(np.arange(n), root)
        nodes = np.concatenate([[root], words]) + 1
        part = _by_elimination(scores[np.ix_(words, nodes)], rows.size, rng)
        heads[np.ix_(rows, words)] = nodes[part]
    return heads


def _by_elimination(
    scores: np.ndarray, size: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the heads (size, n) of trees with any number of roots.

    Words are eliminated one by one: the arc from d to h gains
    the weight of the way through the eliminated word k. Then they are put back in the
    opposite order. A word whose arc leads through k becomes a child of k. By Cayley's
    formula, the head of k is drawn from the probabilities of leaving k, among the words
    that are connected to the root without passing through k.
    """
    n = len(scores)
    to, leaving = _eliminate_all(scores)
    heads = np.zeros((size, n), dtype=np.intp)
    via = np.full((size, n), -1)  # the word through which an arc leads; -1 if direct
    for k in range(n - 1, -1, -1):
        through = via == k
        # Words up to k are not in the tree yet; their entries mean nothing.
        through[:, : k + 1] = False
        after = ends(np.where(through, np.arange(1, n + 1), heads))
        # k may only choose a head whose way up does not lead through k.
        heads[:, k] = _pick_log(np.where(after == 0, leaving[k], -np.inf), rng)
        heads[through] = k + 1
        through[:, k] = True
        row, word = np.nonzero(through)
        head = heads[row, word]
        ways = np.empty((row.size, k + 1))
        # the arc itself, or a way through each word that was eliminated before k
        ways[:, 0] = scores[word, head]
        ways[:, 1:] = to[word, :k] + leaving[:k, head].T
        via[row, word] = _pick_log(ways, rng) - 1
    return heads


def _eliminate_all(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return log weights to each word, and log probabilities of leaving it for a head.

    Both are from the time when the word is eliminated: only the root and later words
    are left. For earlier words, the probabilities are -inf, and the weights undefined.
    """
    n = len(scores)
    arcs = scores.copy()
    to = np.empty((n, n))
    leaving = np.full((n, n + 1), -np.inf)
    left = np.ones(n + 1, dtype=bool)
    for k in range(n):
        left[k + 1] = False
        leaving[k, left] = arcs[k, left] - np.logaddexp.reduce(arcs[k, left])
        to[k + 1 :, k] = arcs[k + 1 :, k + 1]
        # theory, (R3), in logarithms
        ways = to[k + 1 :, k, np.newaxis] + leaving[k]
        arcs[k + 1 :] = np.logaddexp(arcs[k + 1 :], ways)
    return to, leaving
