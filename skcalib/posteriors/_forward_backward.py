"""Recursions over packed sequences: forward, backward, best path."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from ._packing import Packing

# A tag that can be reached but has less of the probability of a prefix than this is
# near the end of what float64 holds; its sequence is computed with logarithms.
_TINY = 1e-250

# Entries of (sequences, tags, tags) tables held at once by the recursions in logs.
_BLOCK = 4_000_000


@dataclass(frozen=True)
class Chain:
    """Scores of sequences and their packed order.

    scores : (n_tokens, n_tags), the sequences one after another; transition, start, end
    as in LinearChainPosterior.
    """

    packing: Packing
    scores: np.ndarray
    transition: np.ndarray
    start: np.ndarray
    end: np.ndarray

    def emission(self) -> np.ndarray:
        """Return a copy of the scores of tokens in packed rows."""
        return self.scores[self.packing.row]

    def subset(self, sequences: np.ndarray) -> tuple[Chain, np.ndarray]:
        """Return the chain of some sequences, and their packed rows in this one."""
        chosen = np.zeros(self.packing.lengths.size, dtype=bool)
        chosen[sequences] = True
        # Longest first among the chosen is longest first among all, so rows stay in
        # step order and only the numbers of the sequences change.
        packed = np.flatnonzero(chosen[self.packing.sequence])
        token = np.repeat(chosen, self.packing.lengths)
        part = Packing(self.packing.lengths[chosen])
        return replace(self, packing=part, scores=self.scores[token]), packed


@dataclass(frozen=True)
class Forward:
    """Scaled forward probabilities, and what was divided out.

    alpha : (n_tokens, n_tags), each row sums to one; scale : (n_tokens,) its sum before
    that; likelihood : (n_tokens, n_tags) of the tokens; final : (n_sequences,), by
    rank, the sum over end scores; shift : (n_tokens,) score divided out of each token.
    """

    alpha: np.ndarray
    scale: np.ndarray
    likelihood: np.ndarray
    final: np.ndarray
    shift: np.ndarray


def _top(scores: np.ndarray, axis: int | None = None) -> np.ndarray:
    """Return the maximum, 0 where all is forbidden."""
    top = scores.max(axis=axis)
    return np.where(np.isfinite(top), top, 0.0)


def _forward(chain: Chain) -> Forward:
    packing = chain.packing
    # Large arrays are made once and changed in place: new memory costs more than the
    # arithmetic on it.
    likelihood = chain.emission()
    shift = _top(likelihood, axis=1)
    likelihood -= shift[:, np.newaxis]
    np.exp(likelihood, out=likelihood)
    transition = np.exp(chain.transition - _top(chain.transition))
    alpha, scale = np.empty_like(likelihood), np.empty(shift.size)
    first, ones = np.exp(chain.start - _top(chain.start)), np.ones(chain.start.size)
    for t in range(packing.n_steps):
        rows = packing.step(t)
        now = alpha[rows]
        if t == 0:
            now[:] = first
        else:
            np.matmul(alpha[packing.alive(t - 1)], transition, out=now)
        now *= likelihood[rows]
        # 0: nothing is left of the sequence, in truth or in float64; see `_suspect`.
        total = np.maximum(now @ ones, np.finfo(np.float64).tiny, out=scale[rows])
        now /= total[:, np.newaxis]
    final = alpha[packing.last_rows()] @ np.exp(chain.end - _top(chain.end))
    return Forward(alpha, scale, likelihood, final, shift)


def _reachable(chain: Chain) -> np.ndarray | None:
    """Return which tags can be reached at each token, None for all."""
    everything = (chain.scores, chain.transition, chain.start, chain.end)
    if all(scores.min(initial=0) > -np.inf for scores in everything):
        return None
    allowed = chain.emission() > -np.inf
    pairs, first = chain.transition > -np.inf, chain.start > -np.inf
    reach = np.empty_like(allowed)
    step = pairs.astype(np.float32)
    for t in range(chain.packing.n_steps):
        rows = chain.packing.step(t)
        if t == 0:
            reach[rows] = first
        else:
            before = reach[chain.packing.alive(t - 1)].astype(np.float32)
            reach[rows] = before @ step > 0
        reach[rows] &= allowed[rows]
    return reach


def _suspect(chain: Chain, forward: Forward) -> np.ndarray:
    """Return the sequences that float64 may not have held."""
    small = forward.alpha < _TINY
    reach = _reachable(chain)
    if reach is not None:
        small &= reach
    lost = np.zeros(chain.packing.lengths.size, dtype=bool)
    lost[chain.packing.sequence[small.any(axis=1)]] = True
    ranked = chain.packing.rank[: forward.final.size]
    lost[ranked[forward.final < _TINY]] = True
    return np.flatnonzero(lost)


def _by_sequence(chain: Chain, tokens: np.ndarray) -> np.ndarray:
    sums = np.bincount(chain.packing.sequence, tokens, chain.packing.lengths.size)
    return sums.astype(np.float64)  # without any token bincount gives integers


def _partition(chain: Chain, forward: Forward) -> np.ndarray:
    lengths = chain.packing.lengths
    total = _by_sequence(chain, np.log(forward.scale) + forward.shift)
    total += np.maximum(lengths - 1, 0) * _top(chain.transition)
    ranked = chain.packing.rank[: forward.final.size]
    with np.errstate(divide="ignore"):
        total[ranked] += np.log(forward.final)
    total[ranked] += _top(chain.start) + _top(chain.end)
    return total


def log_partition(chain: Chain) -> np.ndarray:
    """Return log Z of each sequence."""
    forward = _forward(chain)
    total, lost = _partition(chain, forward), _suspect(chain, forward)
    for part in _parts(chain, lost):
        small, _ = chain.subset(part)
        _, total[part] = _log_forward(small, part)
    return total


def forward_backward(chain: Chain) -> np.ndarray:
    """Return the token marginals, the sequences one after another."""
    forward = _forward(chain)
    lost = _suspect(chain, forward)
    packed = _backward(chain, forward)
    for part in _parts(chain, lost):
        small, rows = chain.subset(part)
        packed[rows] = _log_marginals(small, part)
    return chain.packing.unpack(packed, out=forward.likelihood)


def _backward(chain: Chain, forward: Forward) -> np.ndarray:
    """Return alpha * beta, each row scaled to one; takes the place of alpha."""
    packing, alpha, likelihood = chain.packing, forward.alpha, forward.likelihood
    back = np.exp(chain.transition - _top(chain.transition)).T.copy()
    end = np.exp(chain.end - _top(chain.end))
    ahead = np.zeros((0, end.size))
    # Only a sequence that is computed again with logarithms overflows here.
    with np.errstate(over="ignore", invalid="ignore"):
        for t in reversed(range(packing.n_steps)):
            rows = packing.step(t)
            beta = np.empty((rows.stop - rows.start, end.size))
            np.matmul(ahead, back, out=beta[: ahead.shape[0]])
            beta[ahead.shape[0] :] = end
            alpha[rows] *= beta
            beta *= likelihood[rows]
            beta /= forward.scale[rows, np.newaxis]
            ahead = beta
    total = alpha.sum(axis=1, keepdims=True)
    total[total == 0] = 1
    alpha /= total
    return alpha


def _parts(chain: Chain, sequences: np.ndarray) -> list[np.ndarray]:
    """Divide sequences so that their tables in logs stay small."""
    size = max(1, _BLOCK // chain.transition.size)
    return [sequences[i : i + size] for i in range(0, sequences.size, size)]


def _log_forward(chain: Chain, names: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return log alpha in packed rows and log Z, for few sequences.

    `names` are the numbers of the sequences for the user.
    """
    packing, emission = chain.packing, chain.emission()
    alpha = np.empty_like(emission)
    for t in range(packing.n_steps):
        rows = packing.step(t)
        if t == 0:
            alpha[rows] = chain.start
        else:
            before = alpha[packing.alive(t - 1)][:, :, np.newaxis]
            alpha[rows] = _log_sum(before + chain.transition, axis=1)
        alpha[rows] += emission[rows]
    total = np.zeros(packing.lengths.size)
    last = packing.last_rows()
    total[packing.rank[: last.size]] = _log_sum(alpha[last] + chain.end, axis=1)
    impossible = total == -np.inf
    if impossible.any():
        raise ValueError(
            "LinearChainPosterior allows no tagging of sequence "
            f"{names[int(impossible.argmax())]}: every path meets a score of -inf."
        )
    return alpha, total


def _log_sum(scores: np.ndarray, axis: int) -> np.ndarray:
    # where every term is -inf so is the sum, without a warning
    with np.errstate(divide="ignore"):
        return logsumexp(scores, axis=axis)


def _log_marginals(chain: Chain, names: np.ndarray) -> np.ndarray:
    packing, emission = chain.packing, chain.emission()
    alpha, total = _log_forward(chain, names)
    beta = np.empty_like(alpha)
    for t in reversed(range(packing.n_steps)):
        beta[packing.ending(t)] = chain.end
        if t + 1 < packing.n_steps:
            ahead = packing.step(t + 1)
            message = (beta[ahead] + emission[ahead])[:, np.newaxis, :]
            beta[packing.alive(t)] = _log_sum(message + chain.transition, axis=2)
    log_marginal = alpha + beta - total[packing.sequence][:, np.newaxis]
    marginal = np.exp(log_marginal)
    return marginal / marginal.sum(axis=1, keepdims=True)


def viterbi(chain: Chain) -> np.ndarray:
    """Return the tags of the best path of each sequence, in packed rows."""
    packing, n_tags = chain.packing, chain.transition.shape[0]
    best = chain.emission()
    pointer = np.zeros(best.shape, dtype=np.min_scalar_type(n_tags))
    into = np.ascontiguousarray(chain.transition.T)
    for t in range(packing.n_steps):
        rows = packing.step(t)
        if t == 0:
            best[rows] += chain.start
        else:
            found = _best_previous(best[packing.alive(t - 1)], into)
            pointer[rows] = found[0]
            best[rows] += found[1]
    return _trace(chain, best, pointer)


def _best_previous(
    before: np.ndarray, into: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the best previous tag of each tag and its score, the first of equals."""
    n_tags = into.shape[0]
    pointer = np.empty(before.shape, dtype=np.intp)
    score = np.empty_like(before)
    size = max(1, _BLOCK // n_tags**2)
    for i in range(0, before.shape[0], size):
        part = slice(i, i + size)
        sums = before[part, np.newaxis, :] + into
        pointer[part] = sums.argmax(axis=2)
        score[part] = np.take_along_axis(sums, pointer[part][:, :, np.newaxis], axis=2)[
            :, :, 0
        ]
    return pointer, score


def _trace(chain: Chain, best: np.ndarray, pointer: np.ndarray) -> np.ndarray:
    packing = chain.packing
    path = np.empty(packing.row.size, dtype=np.intp)
    for t in reversed(range(packing.n_steps)):
        rows = packing.ending(t)
        total = best[rows] + chain.end
        path[rows] = total.argmax(axis=1)
        if rows.stop > rows.start and (total.max(axis=1) == -np.inf).any():
            row = rows.start + int((total.max(axis=1) == -np.inf).argmax())
            raise ValueError(
                "LinearChainPosterior allows no tagging of sequence "
                f"{packing.sequence[row]}: every path meets a score of -inf."
            )
        if t + 1 < packing.n_steps:
            ahead = packing.step(t + 1)
            chosen = pointer[ahead, :][np.arange(ahead.stop - ahead.start), path[ahead]]
            path[packing.alive(t)] = chosen
    return path
