"""The best path and the k best paths of each sequence."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ._packed_chain import BLOCK, Chain

# Maximum number of entries of a table that stays in the processor's cache.
_CACHED = 2**16
# Number of rows from which a loop over previous tags is faster.
_MANY = 64


def viterbi(chain: Chain) -> np.ndarray:
    """Return the tags of the best path of each sequence, in packed rows."""
    packing = chain.packing
    best = chain.emission()
    for t in range(packing.n_steps):
        if t == 0:
            best[packing.step(t)] += chain.start
        else:
            before = best[packing.alive(t - 1)]
            best[packing.step(t)] += _best_before(before, chain.transition)
    return _trace(chain, best)


def _best_before(before: np.ndarray, transition: np.ndarray) -> np.ndarray:
    """Return the score of the best path that ends in each tag."""
    if before.shape[0] < _MANY and before.shape[0] * transition.size <= BLOCK:
        return (before[:, :, np.newaxis] + transition).max(axis=1)
    score = np.empty_like(before)
    size = max(_MANY, _CACHED // transition.shape[0])
    for i in range(0, before.shape[0], size):
        # tags in rows, so that inner loops run over sequences
        part = before[i : i + size].T.copy()
        found, way = np.full_like(part, -np.inf), np.empty_like(part)
        for row, into in zip(part, transition, strict=True):
            np.add(row, into[:, np.newaxis], out=way)
            np.maximum(found, way, out=found)
        score[i : i + size] = found.T
    return score


def _trace(chain: Chain, best: np.ndarray) -> np.ndarray:
    """Trace the best paths backwards by adding the same scores again."""
    packing = chain.packing
    path = np.empty(packing.row.size, dtype=np.intp)
    # rows of previous tags for each next tag
    into = np.ascontiguousarray(chain.transition.T)
    for t in reversed(range(packing.n_steps)):
        rows = packing.ending(t)
        total = best[rows] + chain.end
        path[rows] = total.argmax(axis=1)
        impossible = total.max(axis=1) == -np.inf
        if impossible.any():
            chain.raise_impossible(packing.sequence[rows][int(impossible.argmax())])
        if t + 1 < packing.n_steps:
            going_on = packing.alive(t)
            ways = best[going_on] + into[path[packing.step(t + 1)]]
            # The same sums as in the recursion give the same maximum, also in ties.
            path[going_on] = ways.argmax(axis=1)
    return path


def k_best(chain: Chain, k: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield the index of each non-empty sequence, its paths (m, n) and scores (m,)."""
    # Short sequences have fewer paths. The exponent is bounded for long sequences.
    k = min(k, chain.n_tags ** min(chain.packing.n_steps, 64))
    some = np.flatnonzero(chain.packing.lengths)
    for part in chain.parts(some, chain.n_tags * max(chain.n_tags, k)):
        small = chain.subset(part)
        tags, scores = _best_ranks(small, k)
        ends = np.cumsum(small.packing.lengths)
        for i, (end, length) in enumerate(
            zip(ends, small.packing.lengths, strict=True)
        ):
            m = np.count_nonzero(scores[i] > -np.inf)
            if m == 0:
                small.raise_impossible(i)
            yield int(part[i]), tags[end - length : end, :m].T.copy(), scores[i, :m]


def _best_ranks(chain: Chain, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return tags (n_tokens, k) and scores (n_sequences, k), -inf without a path.

    For every tag of a token, the k best paths that end in this tag are stored: their
    scores, their previous tags, and their ranks at the previous tags.
    """
    packing, emission, n_tags = chain.packing, chain.emission(), chain.n_tags
    shape = (packing.row.size, n_tags, k)
    from_tag = np.zeros(shape, dtype=np.min_scalar_type(n_tags))
    from_rank = np.zeros(shape, dtype=np.min_scalar_type(k))
    last_tag, last_rank, scores = (
        np.zeros((packing.lengths.size, k), dtype=dtype)
        for dtype in (np.intp, np.intp, np.float64)
    )
    into = np.ascontiguousarray(chain.transition.T)
    for t in range(packing.n_steps):
        rows = packing.step(t)
        if t == 0:
            best = (emission[rows] + chain.start)[:, :, np.newaxis]
        else:
            width = rows.stop - rows.start
            tag, rank, best = _best_ways(best[:width], into, k)
            from_tag[rows, :, : tag.shape[2]] = tag
            from_rank[rows, :, : tag.shape[2]] = rank
            best += emission[rows][:, :, np.newaxis]
        ending = packing.ending(t)
        place = packing.sequence[ending]
        found = _best_ways(best[ending.start - rows.start :], chain.end[np.newaxis], k)
        m = found[0].shape[2]
        scores[place] = -np.inf
        for whole, part in zip((last_tag, last_rank, scores), found, strict=True):
            whole[place, :m] = part[:, 0]
    return _trace_ranks(chain, from_tag, from_rank, last_tag, last_rank), scores


def _best_ways(
    before: np.ndarray, into: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return previous tag, its rank and the score of the k best paths to each tag.

    before : (n, n_previous, n_ranks), best first; into : (n_tags, n_previous). In case
    of ties, the lowest previous tag comes first. Each step only compares the best
    remaining path of each previous tag, so it computes one maximum.
    """
    n_ranks = before.shape[2]
    # Impossible paths are among them, with a score of -inf.
    k = min(k, n_ranks * before.shape[1])
    head = before[:, np.newaxis, :, 0] + into
    position = np.zeros(head.shape, dtype=np.intp)
    shape = (*head.shape[:2], k)
    tag, rank = np.empty(shape, dtype=np.intp), np.empty(shape, dtype=np.intp)
    score = np.empty(shape)
    row, column = np.ogrid[: shape[0], : shape[1]]
    for j in range(k):
        choice = head.argmax(axis=2)
        tag[:, :, j], rank[:, :, j] = choice, position[row, column, choice]
        score[:, :, j] = head[row, column, choice]
        # The chosen previous tag offers its next best path; n_ranks means none left.
        after = np.minimum(rank[:, :, j] + 1, n_ranks)
        following = before[row, choice, np.minimum(after, n_ranks - 1)]
        following = following + into[column, choice]
        head[row, column, choice] = np.where(after < n_ranks, following, -np.inf)
        position[row, column, choice] = after
    return tag, np.minimum(rank, n_ranks - 1), score


def _trace_ranks(
    chain: Chain,
    from_tag: np.ndarray,
    from_rank: np.ndarray,
    last_tag: np.ndarray,
    last_rank: np.ndarray,
) -> np.ndarray:
    packing = chain.packing
    tags = np.empty((packing.row.size, last_tag.shape[1]), dtype=np.intp)
    rank = np.empty_like(tags)
    for t in reversed(range(packing.n_steps)):
        ending, rows = packing.ending(t), packing.alive(t)
        tags[ending] = last_tag[packing.sequence[ending]]
        rank[ending] = last_rank[packing.sequence[ending]]
        if t + 1 < packing.n_steps:
            ahead = packing.step(t + 1)
            chosen = (
                np.arange(ahead.start, ahead.stop)[:, np.newaxis],
                tags[ahead],
                rank[ahead],
            )
            tags[rows], rank[rows] = from_tag[chosen], from_rank[chosen]
    return packing.unpack(tags)
