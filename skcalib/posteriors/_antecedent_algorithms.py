"""Algorithms on the antecedents of one document, from arrays to arrays.

Mentions are numbered from 0 to n - 1. `scores` and `proba` have shape (n, n). Row j
contains the earlier mentions as antecedents of mention j, followed by NEW on the
diagonal. Above the diagonal, scores are -inf and probabilities are 0.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dtrsv
from scipy.linalg.lapack import dtrtri

BLOCK = 48


def log_normaliser(scores: np.ndarray) -> np.ndarray:
    """Return the log of the sum of the exponentials of each row."""
    if scores.size == 0:
        return np.zeros(len(scores))
    top = scores.max(axis=1)
    top[top == -np.inf] = 0
    with np.errstate(over="ignore", divide="ignore"):
        return top + np.log(np.exp(scores - top[:, np.newaxis]).sum(axis=1))


def softmax(scores: np.ndarray) -> np.ndarray:
    """Return the probabilities of each row."""
    if scores.size == 0:
        return scores.copy()
    with np.errstate(over="ignore"):
        proba = scores - scores.max(axis=1, keepdims=True)
    np.exp(proba, out=proba)
    proba /= proba.sum(axis=1, keepdims=True)
    return proba


def pair_marginals(scores: np.ndarray) -> np.ndarray:
    """Return the probability that two mentions are in the same entity, for each pair.

    A mention joins the entity of its antecedent, which is determined earlier. Row j is
    therefore the mean of the rows of its antecedents. Blocks of rows are computed by
    matrix products.
    """
    n = len(scores)
    pairs = np.empty((n, n))
    for a in range(0, n, BLOCK):
        b = min(a + BLOCK, n)
        # theory, (A1), for a block of rows
        proba = softmax(scores[a:b, :b])
        # row j: probability that a mention of the block is on the chain of links from j
        chain = _chains(proba[:, a:])
        if a:
            entry = chain @ proba[:, :a]  # first mention before the block
            before = entry @ pairs[:a, :a]
            # the chance that both chains leave the block and meet before it
            outside = before @ entry.T
            np.minimum(before, 1, out=pairs[a:b, :a])
            pairs[:a, a:b] = pairs[a:b, :a].T
        else:
            outside = np.zeros((b, b))
        pairs[a:b, a:b] = _inside(chain, outside)
    return pairs


def _chains(proba: np.ndarray) -> np.ndarray:
    """Return the inverse of I - L, where L contains the links within a block."""
    links = np.negative(proba)
    np.fill_diagonal(links, 1)
    # LAPACK is column-major, so it reads the transpose.
    inverse, _ = dtrtri(links.T, lower=0, unitdiag=1, overwrite_c=1)
    return inverse.T


def _inside(chain: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """Return the pair probabilities of a block.

    Two independently drawn chains of links meet with the probability that their
    mentions are in the same entity. The last common mention is in the block or before
    it (`outside`). `apart` is the probability that two chains from a mention never meet
    again. It is determined by the pair probability of a mention with itself, which is
    1.
    """
    square = (chain * chain).T
    # theory, (A4), right
    apart = dtrsv(square, 1 - outside.diagonal(), lower=0, trans=1, diag=1)
    np.maximum(apart, 0, out=apart)  # rounding errors can give -1e-16
    # theory, (A4), left
    pairs = outside + (chain * apart) @ chain.T
    # symmetric to the last digit
    pairs += pairs.T.copy()
    pairs *= 0.5
    np.fill_diagonal(pairs, 1)
    return np.minimum(pairs, 1, out=pairs)


def draw_labels(proba: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Return sampled labels, the first mention of each mention's entity.

    uniform : (n_samples, n), in [0, 1). Returns (n, n_samples), int32.
    """
    n, n_samples = len(proba), len(uniform)
    labels = np.empty((n, n_samples), dtype=np.int32)
    each = np.arange(n_samples)
    sums = proba.cumsum(axis=1)
    for j in range(n):
        total = sums[j, j]
        # Ties are resolved so that choices of probability 0 are never drawn.
        target = np.minimum(uniform[:, j] * total, np.nextafter(total, 0))
        antecedent = np.searchsorted(sums[j, : j + 1], target, side="right")
        labels[j] = j
        # NEW is j itself, so its label is j.
        labels[j] = labels[antecedent, each]
    return labels


def follow(antecedents: np.ndarray) -> np.ndarray:
    """Return the first mention of each mention's entity."""
    labels: list[int] = []
    for j, k in enumerate(antecedents.tolist()):
        labels.append(j if k == j else labels[k])
    return np.array(labels, dtype=np.intp)


def n_entities_pmf(new: np.ndarray) -> np.ndarray:
    """Return the probability of 0, 1, ... successes of independent trials."""
    pmf = np.zeros(len(new) + 1)
    pmf[0] = 1
    for j, p in enumerate(new):
        # theory, (E1) has the moments of this distribution
        pmf[1 : j + 2] = pmf[1 : j + 2] * (1 - p) + pmf[: j + 1] * p
        pmf[0] *= 1 - p
    return pmf


def entity_proba(proba: np.ndarray, members: np.ndarray) -> float:
    """Return the probability that sorted mentions are exactly one entity."""
    first = members[0]
    rows = proba[first + 1 :, members]
    # the diagonal is NEW, no link to a member
    rows[members[1:] - first - 1, np.arange(1, len(members))] = 0
    # theory, (A2): p_j(M), which a member needs and any other mention avoids
    link = rows.sum(axis=1)
    away = np.maximum(1 - link, 0)
    away[members[1:] - first - 1] = link[members[1:] - first - 1]
    return float(proba[first, first] * away.prod())


def clustering_scores(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return scores with -inf for every choice that does not give the clustering."""
    n = len(labels)
    # theory, (A3): earlier mentions of the same entity, or NEW for the first
    allowed = np.equal.outer(labels, labels)
    allowed &= np.tri(n, k=-1, dtype=bool)
    first = ~allowed.any(axis=1)
    allowed[first, first] = True
    return np.where(allowed, scores, -np.inf)


# A local search minimises the expected number of wrong pairs of a clustering. The exact
# minimum is NP-hard to find (correlation clustering). The gain of a pair in one cluster
# is its probability minus one half.


def least_pair_errors(pairs: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return labels: the first mention of each mention's cluster.

    No move of one mention and no merge of two clusters reduces the expected number of
    errors. The search is run twice, from `start` and from one cluster per mention. The
    better result is returned, so it is never worse than `start`.
    """
    gain = pairs - 0.5
    np.fill_diagonal(gain, 0)
    alone = np.arange(len(pairs))
    ends = [_search(gain, labels) for labels in (start, alone)]
    values = [gain[np.equal.outer(labels, labels)].sum() for labels in ends]
    return ends[1] if values[1] > values[0] + _margin(gain) else ends[0]


def _margin(gain: np.ndarray) -> float:
    """Return the smallest relevant gain, above rounding errors, so the search ends."""
    return 1e-12 * (1 + len(gain))


def _search(gain: np.ndarray, labels: np.ndarray) -> np.ndarray:
    labels = labels.copy()
    # `|` and not `or`: both run in every round
    while _merge(gain, labels) | _move(gain, labels):
        pass
    first = np.full(len(labels), len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    return first[labels]


def _merge(gain: np.ndarray, labels: np.ndarray) -> bool:
    """Merge the two clusters with the largest gain, until no merge has a gain."""
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
        # Most rows keep their partner; only rows that lost it are searched again.
        stale = (partner == a) | (partner == b) | (between[:, a] > best)
        stale[[a, b]] = True
        partner[stale] = between[stale].argmax(axis=1)
        best[stale] = between[stale].max(axis=1)
        changed = True
    labels[:] = names[place]
    return changed


def _move(gain: np.ndarray, labels: np.ndarray) -> bool:
    """Move each mention once to the cluster with the largest gain."""
    n = len(labels)
    member = np.zeros((n, n))
    member[np.arange(n), labels] = 1
    # column c: gain of a mention in cluster c; an empty cluster is a new cluster
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
