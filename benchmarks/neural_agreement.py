"""Do posteriors made by `skcalib.interop` agree with the libraries' own numbers?

    python benchmarks/neural_agreement.py

For each library that is installed, its layer gets random scores for short sentences of
different lengths. The log probability of random taggings is compared with the log
likelihood that the library computes, its best taggings with ours, and our marginals of
tokens with the sum over all taggings. Libraries that are missing are named.
"""

import importlib
import itertools
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from types import SimpleNamespace

import numpy as np
import torch
from _common import print_table, versions, write_csv
from scipy.special import logsumexp

from skcalib.experimental import from_allennlp, from_flair, from_stanza
from skcalib.interop import from_pytorch_crf

LENGTHS = [6, 5, 4, 2, 1]
N_TAGS = 4


def draw():
    """Return scores of a padded batch, its mask, and taggings (0 for padding)."""
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 2, (len(LENGTHS), max(LENGTHS), N_TAGS))
    mask = np.arange(max(LENGTHS)) < np.array(LENGTHS)[:, None]
    tags = np.where(mask, rng.integers(0, N_TAGS, mask.shape), 0)
    return torch.tensor(scores), torch.tensor(mask), torch.tensor(tags)


def set_random(module):
    torch.manual_seed(0)
    for parameter in module.parameters():
        if parameter.requires_grad:
            torch.nn.init.normal_(parameter)
    return module.double()


def enumerated(posterior):
    """Return the largest difference of marginals from the sum over all taggings."""
    worst = 0.0
    for i, n in enumerate(posterior.lengths.tolist()):
        one = posterior[i : i + 1]
        paths = np.array(list(itertools.product(range(one.n_tags), repeat=n)))
        emission = one.log_emission[np.arange(n), paths].sum(axis=1)
        moves = one.log_transition[paths[:, :-1], paths[:, 1:]].sum(axis=1)
        score = (
            emission + moves + one.log_start[paths[:, 0]] + one.log_end[paths[:, -1]]
        )
        proba = np.exp(score - logsumexp(score))
        table = np.stack(
            [np.bincount(paths[:, t], proba, one.n_tags) for t in range(n)]
        )
        worst = max(worst, np.abs(table - one.token_marginals()[0]).max())
    return worst


def pytorch_crf():
    from torchcrf import CRF

    scores, mask, tags = draw()
    layer = set_random(CRF(N_TAGS, batch_first=True))
    own = layer(scores, tags, mask, reduction="none").detach().numpy()
    posterior = from_pytorch_crf(layer, scores, mask)
    return posterior, tags, own, layer.decode(scores, mask)


def allennlp():
    from allennlp_light.modules.conditional_random_field.conditional_random_field import (  # noqa: E501
        ConditionalRandomField,
    )

    scores, mask, tags = draw()
    layer = set_random(ConditionalRandomField(N_TAGS))
    own = [
        layer(scores[i : i + 1, :n], tags[i : i + 1, :n], mask[i : i + 1, :n]).item()
        for i, n in enumerate(LENGTHS)
    ]
    best = [path for path, _ in layer.viterbi_tags(scores, mask)]
    return from_allennlp(layer, scores, mask), tags, own, best


def stanza():
    from stanza.models.common.crf import CRFLoss, viterbi_decode

    scores, mask, tags = draw()
    layer = set_random(CRFLoss(N_TAGS))
    own = []
    for i, n in enumerate(LENGTHS):
        one = scores[i : i + 1, :n], ~mask[i : i + 1, :n], tags[i : i + 1, :n]
        own.append(-float(layer(*one)[0].detach()))
    moves = layer._transitions
    names = ["O", "S-PER", "B-PER", "E-PER"]
    posterior, _ = from_stanza(scores, moves, names, LENGTHS)
    table = moves.detach().numpy()
    best = [
        viterbi_decode(scores[i, :n].numpy(), table)[0] for i, n in enumerate(LENGTHS)
    ]
    return posterior, tags, own, best


def flair():
    from flair.data import Dictionary
    from flair.models.sequence_tagger_utils.crf import CRF
    from flair.models.sequence_tagger_utils.viterbi import ViterbiDecoder, ViterbiLoss

    scores, _, tags = draw()
    names = Dictionary(add_unk=False)
    for name in ["O", "S-PER", "B-PER", "E-PER"]:
        names.add_item(name)
    names.set_start_stop_tags()
    layer = CRF(names, len(names), init_from_state_dict=False).double()
    torch.manual_seed(0)
    with torch.no_grad():
        layer.transitions += torch.randn(len(names), len(names))
    wider = torch.cat([scores, torch.zeros(*scores.shape[:2], 2)], dim=2)
    features = layer(wider)
    lengths = torch.tensor(LENGTHS)
    own = [
        -ViterbiLoss(names)(
            (features[i : i + 1, :n], lengths[i : i + 1], layer.transitions),
            tags[i, :n],
        ).item()
        for i, n in enumerate(LENGTHS)
    ]
    given = (features, lengths, layer.transitions)
    decoded, _ = ViterbiDecoder(names).decode(
        given, False, [SimpleNamespace() for _ in LENGTHS]
    )
    place = {name: k for k, name in enumerate(names.get_items())}
    best = [[place[name] for name, _ in path] for path in decoded]
    posterior, _ = from_flair(features, lengths, layer.transitions, names.get_items())
    return posterior, tags, own, best


LIBRARIES = {
    "pytorch-crf": ("torchcrf", pytorch_crf),
    "allennlp-light": ("allennlp_light", allennlp),
    "stanza": ("stanza", stanza),
    "flair": ("flair", flair),
}


def main():
    rows = []
    for name, (module, function) in LIBRARIES.items():
        try:
            importlib.import_module(module)
            posterior, tags, own, best = function()
        except ImportError as error:
            print(f"{name} is not there: {error}")
            continue
        ours = posterior.log_proba([tags[i, :n] for i, n in enumerate(LENGTHS)])
        same = sum(
            path.tolist() == [int(k) for k in other]
            for path, other in zip(posterior.viterbi(), best, strict=True)
        )
        rows.append(
            {
                "library": versions(name).split(", ")[1],
                "sentences": len(LENGTHS),
                "log likelihood": f"{np.abs(ours - np.array(own)).max():.1e}",
                "marginals": f"{enumerated(posterior):.1e}",
                "best taggings": f"{same} of {len(LENGTHS)}",
            }
        )
    print_table(rows)
    note = f"{versions('skcalib', 'torch')}; largest differences"
    write_csv("neural_agreement.csv", rows, note)


if __name__ == "__main__":
    main()
