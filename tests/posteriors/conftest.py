"""Chains drawn at random, and every path of a sequence with its probability."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import logsumexp


def _every_path(emission, transition, start=None, end=None):
    """Return paths, scores and probabilities, added up as the definition says."""
    n, n_tags = np.shape(emission)
    start = np.zeros(n_tags) if start is None else start
    end = np.zeros(n_tags) if end is None else end
    paths = np.array(list(itertools.product(range(n_tags), repeat=n)), dtype=int)
    paths = paths.reshape(n_tags**n, n)
    scores = np.array(
        [
            (start[path[0]] + end[path[-1]] if n else 0.0)
            + sum(row[tag] for row, tag in zip(emission, path, strict=True))
            + sum(transition[a, b] for a, b in itertools.pairwise(path))
            for path in paths
        ]
    )
    log_z = logsumexp(scores)
    proba = np.exp(scores - log_z)
    return SimpleNamespace(paths=paths, scores=scores, log_z=log_z, proba=proba)


def _random_chain(seed, scale=1.0, forbidden=0.0, lengths=(3, 0, 5, 1, 4, 0, 1, 3)):
    """Draw scores of three tags; tag 0 stays allowed, so that a path is left."""
    rng = np.random.default_rng(seed)

    def draw(*shape):
        scores = rng.normal(size=shape) * scale
        scores[rng.random(shape) < forbidden] = -np.inf
        scores[..., 0] = np.where(np.isinf(scores[..., 0]), 0.0, scores[..., 0])
        return scores

    return [draw(n, 3) for n in lengths], draw(3, 3), draw(3), draw(3)


@pytest.fixture(scope="session")
def every_path():
    return _every_path


@pytest.fixture(scope="session")
def random_chain():
    return _random_chain


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(p, marks=pytest.mark.slow if p[0] else ())
        for p in itertools.product(range(2), (1, 50, 1000), (0, 0.4), (True, False))
    ],
    ids=lambda p: "seed{}-scale{}-forbidden{}-borders{}".format(*p),
)
def any_chain(request):
    """Give scores of all kinds, with and without scores at the borders."""
    seed, scale, forbidden, borders = request.param
    scores = _random_chain(seed, scale, forbidden)
    return scores if borders else scores[:2]
