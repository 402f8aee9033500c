"""Taggings drawn from the posterior: filtered forward, sampled backward."""

from __future__ import annotations

import numpy as np

from ._forward_backward import forward, log_forward, lost, top
from ._packed_chain import BLOCK, Chain, Packing


def sample(chain: Chain, n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Return the tags (n_tokens, n_samples) of all sequences, concatenated.

    Each sample uses one uniform number per token, in the order of the tokens. The
    result therefore does not depend on the division into blocks.
    """
    packing, run = chain.packing, forward(chain)
    missing = lost(chain, run)
    small, again = chain.subset(missing), chain.tokens(missing)
    in_logs = log_forward(small)[0] if missing.size else None
    back, end = run.transition.T.copy(), np.exp(chain.end - top(chain.end))
    widest = int(np.diff(packing.offset).max(initial=1))
    # weights, their sums and comparisons are held at once
    size = max(1, BLOCK // (4 * widest * chain.n_tags))
    tags = np.empty((packing.row.size, n_samples), dtype=np.intp)
    for i in range(0, n_samples, size):
        part = slice(i, min(i + size, n_samples))
        uniform = rng.random((part.stop - i, packing.row.size)).T
        drawn = _draw(packing, uniform[packing.row], run.alpha, back, end)
        tags[:, part] = packing.unpack(drawn)
        if in_logs is not None:
            own = uniform[again][small.packing.row]
            drawn = _draw_in_logs(small, own, in_logs)
            tags[again, part] = small.packing.unpack(drawn)
    return tags


def _pick(weights: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Return the first tag whose cumulative share exceeds the uniform number."""
    sums = weights.cumsum(axis=-1)
    # strictly greater, so that a tag of weight 0 is never drawn
    return (sums > (uniform * sums[..., -1])[..., np.newaxis]).argmax(axis=-1)


def _draw(
    packing: Packing,
    uniform: np.ndarray,
    alpha: np.ndarray,
    back: np.ndarray,
    end: np.ndarray,
) -> np.ndarray:
    """Return tags in packed rows, from the last token back.

    back : (n_tags, n_tags), [next, previous]. The tags of a lost sequence are
    arbitrary.
    """
    tags = np.empty(uniform.shape, dtype=np.intp)
    for t in reversed(range(packing.n_steps)):
        last, rows = packing.ending(t), packing.alive(t)
        tags[last] = _pick((alpha[last] * end)[:, np.newaxis, :], uniform[last])
        if t + 1 < packing.n_steps:
            # P(tag | next tag, tokens so far) is alpha times the transition; later
            # tokens give no further information.
            weights = back[tags[packing.step(t + 1)]]
            weights *= alpha[rows, np.newaxis, :]
            tags[rows] = _pick(weights, uniform[rows])
    return tags


def _draw_in_logs(chain: Chain, uniform: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    packing, back = chain.packing, chain.transition.T
    tags = np.empty(uniform.shape, dtype=np.intp)
    for t in reversed(range(packing.n_steps)):
        last, rows = packing.ending(t), packing.alive(t)
        weights = (alpha[last] + chain.end)[:, np.newaxis, :]
        tags[last] = _pick(_shares(weights), uniform[last])
        if t + 1 < packing.n_steps:
            weights = back[tags[packing.step(t + 1)]] + alpha[rows, np.newaxis, :]
            tags[rows] = _pick(_shares(weights), uniform[rows])
    return tags


def _shares(weights: np.ndarray) -> np.ndarray:
    return np.exp(weights - weights.max(axis=-1, keepdims=True))
