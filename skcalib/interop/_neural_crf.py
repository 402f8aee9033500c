"""Posteriors of neural CRFs: pytorch-crf, AllenNLP, stanza and flair."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, public
from .._validation import check_bool
from ..posteriors import LinearChainPosterior
from ._arrays import as_labels_of_tags, as_numpy, check_attributes, unpad

# Entries of the tag dictionaries of stanza and flair that are not tags.
_NOT_TAGS = frozenset(
    ["<PAD>", "<UNK>", "<EMPTY>", "<ROOT>", "<START>", "<STOP>", "<unk>"]
)


@public
def from_pytorch_crf(
    crf: Any, emissions: Any, mask: Any = None, *, order: ArrayLike | None = None
) -> LinearChainPosterior:
    """Return the posterior of a CRF layer of pytorch-crf (``torchcrf.CRF``).

    Parameters
    ----------
    crf : torchcrf.CRF
        CRF layer, or any object with its attributes `transitions` (scores from the
        previous to the next tag, of shape (n_tags, n_tags)), `start_transitions`,
        `end_transitions` and `batch_first`.
    emissions : tensor of shape (n_tokens, n_sentences, n_tags)
        Scores passed to the layer. Their shape is (n_sentences, n_tokens, n_tags) if
        the layer has ``batch_first=True``.
    mask : tensor, default=None
        Mask passed to the layer, true for tokens and false for padding.
    order : array-like of int of shape (n_sentences,), default=None
        Position of each sentence before the batch was sorted. If None, the order of the
        batch is kept.

    Returns
    -------
    posterior : LinearChainPosterior
        Posterior over taggings. Its `log_proba` equals the log likelihood of the layer.

    See Also
    --------
    from_allennlp : Posterior of AllenNLP's CRF module.
    skcalib.experimental.predicted_entities : Entities with their probabilities.

    Examples
    --------
    With torch, call ``from_pytorch_crf(model.crf, model.emissions(batch), mask)``.
    Arrays can be passed instead of tensors:

    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from skcalib.interop import from_pytorch_crf
    >>> crf = SimpleNamespace(
    ...     transitions=np.array([[1.0, 0.0], [0.0, 1.0]]),
    ...     start_transitions=np.zeros(2),
    ...     end_transitions=np.zeros(2),
    ...     batch_first=True,
    ... )
    >>> emissions = np.array([[[0, 2], [0, 0]], [[1, 0], [9, 9]]])  # the 9s are padding
    >>> posterior = from_pytorch_crf(crf, emissions, mask=[[1, 1], [1, 0]])
    >>> [proba.round(2).tolist() for proba in posterior.token_marginals()]
    [[[0.12, 0.88], [0.32, 0.68]], [[0.73, 0.27]]]
    """
    _check_crf(crf, "transitions", "start_transitions", "end_transitions")
    batch_first = bool(getattr(crf, "batch_first", False))
    return LinearChainPosterior(
        unpad(emissions, None, mask, "emissions", order, batch_first=batch_first),
        as_numpy(crf.transitions, "crf"),
        as_numpy(crf.start_transitions, "crf"),
        as_numpy(crf.end_transitions, "crf"),
    )


@public
def from_allennlp(
    crf: Any,
    logits: Any,
    mask: Any = None,
    *,
    constrained: bool = True,
    order: ArrayLike | None = None,
) -> LinearChainPosterior:
    """Return the posterior of AllenNLP's ``ConditionalRandomField``.

    Parameters
    ----------
    crf : ConditionalRandomField
        Module such as ``model.crf`` of AllenNLP's CrfTagger.
    logits : tensor of shape (n_sentences, n_tokens, n_tags)
        Scores passed to the module.
    mask : tensor of shape (n_sentences, n_tokens), default=None
        Mask, true for tokens and false for padding. If None, there is no padding.
    constrained : bool, default=True
        Whether transitions excluded by the constraints of the module are impossible, as
        in its `viterbi_tags`. The log likelihood of the module ignores the constraints.
        Pass False for probabilities that agree with this log likelihood.
    order : array-like of int of shape (n_sentences,), default=None
        Position of each sentence before the batch was sorted. If None, the order of the
        batch is kept.

    Returns
    -------
    posterior : LinearChainPosterior
        Posterior over taggings.

    See Also
    --------
    from_pytorch_crf : Posterior of a CRF layer of pytorch-crf.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from skcalib.experimental import from_allennlp
    >>> crf = SimpleNamespace(
    ...     transitions=np.zeros((2, 2)), include_start_end_transitions=False)
    >>> from_allennlp(crf, [np.array([[0.0, 1.0]])]).token_marginals()[0].round(2)
    array([[0.27, 0.73]])
    """
    _check_crf(crf, "transitions")
    check_bool(constrained, name="constrained")
    log_transition = as_numpy(crf.transitions, "crf").astype(np.float64)
    k = len(log_transition)
    ends = {"start": np.zeros(k), "end": np.zeros(k)}
    if getattr(crf, "include_start_end_transitions", True):
        _check_crf(crf, "start_transitions", "end_transitions")
        for name in ends:
            ends[name] = as_numpy(getattr(crf, f"{name}_transitions"), "crf")
    if constrained and hasattr(crf, "_constraint_mask"):
        # The mask has two more rows and columns: START is tag k, and END is tag k + 1.
        allowed = as_numpy(crf._constraint_mask, "crf") != 0
        log_transition = np.where(allowed[:k, :k], log_transition, -np.inf)
        ends["start"] = np.where(allowed[k, :k], ends["start"], -np.inf)
        ends["end"] = np.where(allowed[:k, k + 1], ends["end"], -np.inf)
    rows = unpad(logits, None, mask, "logits", order)
    return LinearChainPosterior(rows, log_transition, ends["start"], ends["end"])


@public
def from_stanza(
    logits: Any,
    transitions: Any,
    tags: ArrayLike,
    lengths: ArrayLike | None = None,
    *,
    order: ArrayLike | None = None,
) -> tuple[LinearChainPosterior, list[str]]:
    """Return the posterior of stanza's named entity recogniser.

    Parameters
    ----------
    logits : tensor of shape (n_sentences, n_tokens, n_tags)
        Scores of one tag set. ``NERTagger.forward`` returns ``(loss, logits,
        transitions)``, where `logits` and `transitions` are lists with an entry for
        each tag set.
    transitions : tensor of shape (n_tags, n_tags)
        Scores from the previous to the next tag.
    tags : sequence of str
        Labels of the tag indices, as in the vocabulary of the tagger. The labels <PAD>,
        <UNK>, <EMPTY> and <ROOT> are left out.
    lengths : array-like of int of shape (n_sentences,), default=None
        Number of tokens of each sentence, which is `sentlens` of the batch. If None,
        there is no padding.
    order : array-like of int of shape (n_sentences,), default=None
        Position of each sentence before the batch was sorted, which is `orig_idx` of
        the batch.

    Returns
    -------
    posterior : LinearChainPosterior
        Posterior over the taggings with the remaining tags.
    classes : list of str
        Labels of the tag indices of the posterior, usually in the scheme 'BIOES'.

    See Also
    --------
    from_flair : Posterior of flair's tagger.
    skcalib.experimental.predicted_entities : Entities with their probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.experimental import from_stanza
    >>> tags = ["<PAD>", "<UNK>", "<EMPTY>", "<ROOT>", "O", "S-PER"]
    >>> logits = np.array([[[0, 0, 0, 0, 1, 2], [0, 0, 0, 0, 3, 0]]])
    >>> posterior, classes = from_stanza(logits, np.zeros((6, 6)), tags)
    >>> classes
    ['O', 'S-PER']
    >>> posterior.token_marginals()[0].round(2)
    array([[0.27, 0.73],
           [0.95, 0.05]])
    """
    rows = unpad(logits, lengths, None, "logits", order)
    moves, labels, kept = _moves_and_tags(transitions, tags)
    for i, row in enumerate(rows):
        if row.shape[1] != len(moves):
            raise ParameterError(
                "logits",
                f"must have {len(moves)} tags, like 'transitions'. Got {row.shape[1]} "
                f"in sentence {i}.",
            )
    posterior = LinearChainPosterior(
        [row[:, kept] for row in rows], moves[np.ix_(kept, kept)]
    )
    return posterior, [labels[k] for k in kept]


@public
def from_flair(
    features: Any,
    lengths: ArrayLike,
    transitions: Any,
    tags: ArrayLike,
    *,
    order: ArrayLike | None = None,
) -> tuple[LinearChainPosterior, list[str]]:
    """Return the posterior of flair's ``SequenceTagger`` with a CRF.

    Parameters
    ----------
    features : tensor of shape (n_sentences, n_tokens, n_tags, n_tags)
        Scores of each token for [next tag, previous tag]. ``SequenceTagger.forward``
        returns the tuple ``(features, lengths, transitions)``.
    lengths : array-like of int of shape (n_sentences,)
        Number of tokens of each sentence, from the same tuple.
    transitions : tensor of shape (n_tags, n_tags)
        Scores of [next tag, previous tag], from the same tuple.
    tags : sequence of str
        Labels of the tag indices, from ``tagger.label_dictionary.get_items()``. They
        include <START> and <STOP>, whose transitions become the scores of the first and
        the last tag. <START>, <STOP> and <unk> are left out.
    order : array-like of int of shape (n_sentences,), default=None
        Position of each sentence before flair sorted the batch by length. If None, the
        order of the batch is kept.

    Returns
    -------
    posterior : LinearChainPosterior
        Posterior over the taggings with the remaining tags.
    classes : list of str
        Labels of the tag indices of the posterior, usually in the scheme 'BIOES'.

    See Also
    --------
    from_stanza : Posterior of stanza's named entity recogniser.
    skcalib.experimental.predicted_entities : Entities with their probabilities.

    Notes
    -----
    flair assigns a score to the label of each predicted span. At each token, it
    computes a softmax of the Viterbi scores, and it averages the result over the tokens
    of the span. These scores are not marginals of the CRF. They ignore later tokens,
    and they ignore all taggings except the best tagging that leads to each tag.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.experimental import from_flair
    >>> tags = ["O", "S-PER", "<START>", "<STOP>"]
    >>> transitions = np.zeros((4, 4))
    >>> emission = np.array([[[1.0, 2, 0, 0], [3, 0, 0, 0]]])
    >>> features = emission[..., None] + transitions
    >>> posterior, classes = from_flair(features, [2], transitions, tags)
    >>> posterior.token_marginals()[0].round(2)
    array([[0.27, 0.73],
           [0.95, 0.05]])
    """
    moves, labels, kept = _moves_and_tags(transitions, tags)
    for needed in ("<START>", "<STOP>"):
        if needed not in labels:
            problem = f"must contain {needed!r}. Got {labels!r:.100}."
            raise ParameterError("tags", problem)
    scores = as_numpy(features, "features")
    if scores.ndim != 4 or scores.shape[2:] != moves.shape:
        raise ParameterError(
            "features",
            "must have shape (n_sentences, n_tokens, n_tags, n_tags), with as many "
            f"tags as 'transitions', {len(moves)}. Got shape {scores.shape}. Without "
            "a CRF, pass the scores of the tags to LinearChainPosterior.",
        )
    start, stop = labels.index("<START>"), labels.index("<STOP>")
    # flair adds the transitions to the emission of each token, in every column of
    # previous tags. The first kept tag gives the emission back.
    emission = scores[..., kept, kept[0]] - moves[kept, kept[0]]
    rows = unpad(emission, lengths, None, "features", order)
    # flair's transitions are [next tag, previous tag]
    posterior = LinearChainPosterior(
        rows, moves[np.ix_(kept, kept)].T, moves[kept, start], moves[stop, kept]
    )
    return posterior, [labels[k] for k in kept]


def _moves_and_tags(
    transitions: Any, tags: Any
) -> tuple[np.ndarray, list[Any], list[int]]:
    """Return the transitions, the labels of their tags, and which of them are tags."""
    moves = as_numpy(transitions, "transitions").astype(np.float64)
    if moves.ndim != 2 or moves.shape[0] != moves.shape[1]:
        problem = f"must have shape (n_tags, n_tags). Got shape {moves.shape}."
        raise ParameterError("transitions", problem)
    labels = as_labels_of_tags(tags, len(moves), "tags")
    return moves, labels, [k for k, tag in enumerate(labels) if tag not in _NOT_TAGS]


def _check_crf(crf: Any, *names: str) -> None:
    for name in names:
        expected = f"must have the attribute {name!r}"
        hint = ", which does not: pass its scores to LinearChainPosterior."
        check_attributes(crf, "crf", [name], expected, hint)
