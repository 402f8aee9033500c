"""The pieces of work of benchmarks/peers.py on posteriors of neural models' scores."""

import numpy as np
from _work import Way, Work

N_TAGS = 9


def lengths_of(n, rng):
    return rng.integers(5, 41, n)


# Sequences


def sequence_scores(n):
    """Return scores of tags, of n sentences, and scores of transitions."""
    rng = np.random.default_rng(n)
    scores = [3 * rng.normal(size=(k, N_TAGS)) for k in lengths_of(n, rng)]
    return scores, rng.normal(size=(N_TAGS, N_TAGS))


def padded(scores):
    """Return the scores as one tensor, and which entries are words."""
    import torch

    tensors = [torch.from_numpy(rows) for rows in scores]
    emissions = torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True)
    lengths = torch.tensor([len(rows) for rows in scores])
    mask = torch.arange(emissions.shape[1]) < lengths[:, None]
    return emissions, lengths, mask


def our_chain_marginals(data):
    from skcalib.posteriors import LinearChainPosterior

    return lambda: LinearChainPosterior(*data).token_marginals()


def torch_struct_chain(data):
    import torch
    import torch_struct

    torch.set_num_threads(1)
    emissions, lengths, mask = padded(data[0])
    transitions = torch.from_numpy(data[1].T.copy())

    def run():
        # Entry [t, j, i]: tag i at t, tag j at t + 1.
        scores = transitions + emissions[:, 1:, :, None]
        scores[:, 0] += emissions[:, 0, None, :]
        pairs = torch_struct.LinearChainCRF(scores, lengths).marginals.detach()
        first = pairs[:, 0].sum(dim=1, keepdim=True)
        return torch.cat([first, pairs.sum(dim=3)], dim=1).numpy()[mask.numpy()]

    return run


def chain_distance(ours, theirs):
    return float(np.abs(np.concatenate(ours) - theirs).max())


def our_chain_path(data):
    from skcalib.posteriors import LinearChainPosterior

    return lambda: LinearChainPosterior(*data).viterbi()


def pytorch_crf_path(data):
    import torch
    from torchcrf import CRF

    torch.set_num_threads(1)
    emissions, _, mask = padded(data[0])
    crf = CRF(N_TAGS, batch_first=True).double()
    with torch.no_grad():
        crf.transitions.copy_(torch.from_numpy(data[1]))
        crf.start_transitions.zero_()
        crf.end_transitions.zero_()

    def run():
        with torch.no_grad():
            return crf.decode(emissions, mask)

    return run


def share_of_other_tags(ours, theirs):
    return float((np.concatenate(ours) != np.concatenate(theirs)).mean())


# Trees


def arc_scores(n):
    """Return scores of arcs of n sentences, as `TreePosterior` takes them."""
    rng = np.random.default_rng(n)
    return [2 * rng.normal(size=(k, k + 1)) for k in lengths_of(n, rng)]


def our_heads(scores):
    from skcalib.experimental import TreePosterior

    return lambda: TreePosterior(scores).arc_marginals()


def torch_struct_heads(scores):
    import torch
    import torch_struct

    torch.set_num_threads(1)
    lengths = np.array([len(rows) for rows in scores])
    batches = []
    for k in np.unique(lengths):
        rows = np.flatnonzero(lengths == k)
        batch = np.stack([scores[row] for row in rows])
        # Theirs: heads in rows, and the root on the diagonal.
        theirs = batch[:, :, 1:].transpose(0, 2, 1).copy()
        theirs[:, np.arange(k), np.arange(k)] = batch[:, :, 0]
        batches.append((rows, torch.from_numpy(theirs)))

    def run():
        found = [None] * len(scores)
        for rows, batch in batches:
            marginals = torch_struct.NonProjectiveDependencyCRF(batch).marginals
            for row, heads in zip(rows, marginals.numpy(), strict=True):
                found[row] = heads
        return found

    return run


def tree_distance(ours, theirs):
    """Return the largest difference of probabilities of heads, the root among them."""
    worst = 0.0
    for mine, heads in zip(ours, theirs, strict=True):
        root = np.diag(heads).copy()
        others = heads.T.copy()
        np.fill_diagonal(others, 0)
        both = np.column_stack([root, others])
        worst = max(worst, float(np.abs(mine - both).max()))
    return worst


SIZES = (30, 300, 3000)

POSTERIORS = [
    Work(
        "posteriors",
        "scores of a neural CRF: probabilities of tags",
        "sentences",
        SIZES,
        sequence_scores,
        Way("skcalib", our_chain_marginals),
        {"torch-struct": Way("torch-struct", torch_struct_chain, "by gradients")},
        chain_distance,
    ),
    Work(
        "posteriors",
        "scores of a neural CRF: best tags",
        "sentences",
        SIZES,
        sequence_scores,
        Way("skcalib", our_chain_path),
        {"pytorch-crf": Way("pytorch-crf", pytorch_crf_path)},
        share_of_other_tags,
    ),
    Work(
        "posteriors",
        "scores of a parser: probabilities of heads",
        "sentences",
        SIZES,
        arc_scores,
        Way("skcalib", our_heads),
        {
            "torch-struct": Way(
                "torch-struct",
                torch_struct_heads,
                "adds 1e-5 to the weight exp(score) of each arc between words",
            )
        },
        tree_distance,
    ),
]
