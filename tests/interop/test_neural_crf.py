"""Posteriors of neural CRFs, against enumeration with each library's own layout."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import logsumexp

from skcalib.experimental import from_pytorch_crf


class Tensor:
    """A tensor on a GPU with gradient: NumPy cannot read it before detach and cpu."""

    def __init__(self, array, step=0):
        self.array, self.step = np.asarray(array), step
        self.shape = self.array.shape

    def detach(self):
        return Tensor(self.array, self.step | 1)

    def cpu(self):
        return Tensor(self.array, self.step | 2)

    def __array__(self, dtype=None, copy=None):
        if self.step != 3:
            raise RuntimeError("call detach and cpu first")
        return np.array(self.array, dtype=dtype)


def marginals(score, n, n_tags):
    """Return token marginals and log Z by the scores of all taggings."""
    paths = list(itertools.product(range(n_tags), repeat=n))
    scores = np.array([score(path) for path in paths])
    proba = np.exp(scores - logsumexp(scores))
    table = np.zeros((n, n_tags))
    for path, p in zip(paths, proba, strict=True):
        table[np.arange(n), path] += p
    return table, logsumexp(scores)


def crf_score(emission, moves, start, end):
    def score(path):
        total = (
            start[path[0]]
            + end[path[-1]]
            + sum(emission[t, k] for t, k in enumerate(path))
        )
        return total + sum(moves[a, b] for a, b in itertools.pairwise(path))

    return score


def draw_crf(seed, k=3, batch_first=True, wrap=np.asarray):
    rng = np.random.default_rng(seed)
    return SimpleNamespace(
        transitions=wrap(rng.normal(0, 1, (k, k))),
        start_transitions=wrap(rng.normal(0, 1, k)),
        end_transitions=wrap(rng.normal(0, 1, k)),
        batch_first=batch_first,
    )


LENGTHS = [4, 2, 3]


def draw_batch(seed, k=3):
    rng = np.random.default_rng(seed)
    batch = rng.normal(0, 2, (3, 4, k))
    mask = np.arange(4) < np.array(LENGTHS)[:, None]
    batch[~mask] = 99.0
    return batch, mask


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("wrap", [np.asarray, Tensor])
def test_pytorch_crf_equals_the_enumeration(batch_first, wrap):
    crf = draw_crf(0, batch_first=batch_first, wrap=wrap)
    batch, mask = draw_batch(1)
    given = (batch, mask) if batch_first else (batch.swapaxes(0, 1), mask.T)
    posterior = from_pytorch_crf(crf, *(wrap(each) for each in given))
    plain = draw_crf(0)
    for i, n in enumerate(LENGTHS):
        score = crf_score(
            batch[i], plain.transitions, plain.start_transitions, plain.end_transitions
        )
        table, log_z = marginals(score, n, 3)
        np.testing.assert_allclose(posterior.token_marginals()[i], table, atol=1e-12)
        assert posterior.log_partition()[i] == pytest.approx(log_z)
        path = [1, 0, 2, 1][:n]
        assert posterior[i : i + 1].log_proba([path])[0] == pytest.approx(
            score(path) - log_z
        )


def test_the_order_of_a_sorted_batch_is_restored():
    crf = draw_crf(0)
    batch, mask = draw_batch(1)
    before = from_pytorch_crf(crf, batch, mask)
    by_length = [0, 2, 1]  # sentence 2 stands second
    after = from_pytorch_crf(crf, batch[by_length], mask[by_length], order=by_length)
    for a, b in zip(before.token_marginals(), after.token_marginals(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_empty_sentences():
    posterior = from_pytorch_crf(draw_crf(0), np.zeros((2, 1, 3)), [[0], [1]])
    assert posterior.lengths.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ([[1, 0, 1, 1]] * 3, "'mask' .* In sentence 0 a token comes after padding"),
        ([[1] * 4], "'mask' .* each of the 3 sentences. Got 1"),
        ([1, 1, 1], r"'mask' .* \(n_sentences, n_tokens\)"),
        ([[1] * 5] * 3, "'mask' .* Got 5 for sentence 0, which has 4"),
        ([[1] * 4, [1, 1, 0.5, 0], [1] * 4], "'mask' .* Got 0.5 in row 1, column 2"),
        ([[1, 1, 1, np.nan]] * 3, "'mask' .* Got nan in row 0, column 3"),
    ],
)
def test_errors_of_the_mask(mask, message):
    with pytest.raises(ValueError, match=message):
        from_pytorch_crf(draw_crf(0), draw_batch(1)[0], np.array(mask))


def test_errors_name_the_argument():
    batch, mask = draw_batch(1)
    with pytest.raises(TypeError, match="'crf' .* 'transitions'. Got object"):
        from_pytorch_crf(object(), batch)
    with pytest.raises(ValueError, match="'order' .* each of the 3 sentences"):
        from_pytorch_crf(draw_crf(0), batch, mask, order=[0, 0, 1])
    with pytest.raises(ValueError, match=r"'order' .* integers. Got 0.9 at position"):
        from_pytorch_crf(draw_crf(0), batch, mask, order=[0.9, 0.0, 2.0])
    with pytest.raises(ValueError, match=r"'emissions' .* Got shape \(4, 3\)"):
        from_pytorch_crf(draw_crf(0), batch[0])


def test_the_layer_of_pytorch_crf():
    torch = pytest.importorskip("torch")
    torchcrf = pytest.importorskip("torchcrf")
    torch.manual_seed(0)
    layer = torchcrf.CRF(3, batch_first=True).double()
    batch, mask = draw_batch(1)
    tags = np.where(mask, [1, 0, 2, 1], 0)
    posterior = from_pytorch_crf(layer, torch.tensor(batch), torch.tensor(mask))
    own = layer(
        torch.tensor(batch), torch.tensor(tags), torch.tensor(mask), reduction="none"
    )
    ours = posterior.log_proba([tags[i, :n] for i, n in enumerate(LENGTHS)])
    np.testing.assert_allclose(ours, own.detach().numpy(), atol=1e-9)
    decoded = layer.decode(torch.tensor(batch), torch.tensor(mask))
    assert [path.tolist() for path in posterior.viterbi()] == decoded
