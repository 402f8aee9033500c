"""Posterior of a linear chain: what a CRF or an HMM believes of a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._forward_backward import Chain, forward_backward, log_partition, viterbi
from ._packing import Packing


class LinearChainPosterior:
    """Distribution over taggings of sequences, from scores of tags and of their pairs.

    A tagging y of a sequence of n tokens has the probability exp(s(y)) / Z, where

        s(y) = log_start[y_1] + sum_t log_emission[t, y_t]
               + sum_t log_transition[y_t, y_t+1] + log_end[y_n].

    The scores come from anywhere: a hidden Markov model's log probabilities, a
    conditional random field's weights, a neural network's outputs.

    Parameters
    ----------
    log_emission : list of array-like of shape (n_i, n_tags)
        Scores of the tags of each token, unnormalised; -inf forbids. Or one array of
        shape (n_tokens, n_tags) with `lengths`. A sequence may be empty.
    log_transition : array-like of shape (n_tags, n_tags)
        Scores of [previous tag, next tag]; -inf forbids.
    log_start, log_end : array-like of shape (n_tags,), default=None
        Scores of the first and the last tag; zeros where None.
    lengths : array-like of int of shape (n_sequences,), default=None
        Lengths of the sequences, where `log_emission` is one array.

    Raises
    ------
    ValueError
        If shapes do not fit, or a score is NaN or +inf; the message names the
        sequence and the token. Methods raise it for a sequence that no tagging is
        allowed for.

    Notes
    -----
    All sequences of a length or more are advanced together, one matrix product a token
    (time O(n_tokens n_tags^2), memory O(n_tokens n_tags)). Probabilities are scaled at
    each token; a sequence in which a tag that can be reached still falls below 1e-250
    is computed again with logarithms, so scores of any size whose sums are finite are
    exact. An array given with `lengths` is kept, not copied.

    References
    ----------
    .. [1] L. Rabiner (1989). "A tutorial on hidden Markov models and selected
       applications in speech recognition". Proceedings of the IEEE 77.
    .. [2] J. Lafferty, A. McCallum and F. Pereira (2001). "Conditional random fields".
       ICML.

    Examples
    --------
    Two tokens, two tags, and a liking for staying with a tag:

    >>> import numpy as np
    >>> from skcalib.posteriors import LinearChainPosterior
    >>> scores = [np.log([[0.9, 0.1], [0.5, 0.5]])]
    >>> stay = np.log([[0.8, 0.2], [0.2, 0.8]])
    >>> posterior = LinearChainPosterior(scores, stay)
    >>> posterior.token_marginals()[0].round(2)
    array([[0.9 , 0.1 ],
           [0.74, 0.26]])
    >>> posterior.viterbi()
    [array([0, 0])]
    >>> np.exp(posterior.log_proba([[0, 0]])).round(2)
    array([0.72])
    """

    def __init__(
        self,
        log_emission: Any,
        log_transition: Any,
        log_start: Any = None,
        log_end: Any = None,
        *,
        lengths: Any = None,
    ):
        transition = _as_scores(log_transition, "log_transition")
        if transition.ndim != 2 or transition.shape[0] != transition.shape[1]:
            raise ValueError(
                "The 'log_transition' parameter of LinearChainPosterior must have "
                f"shape (n_tags, n_tags). Got {transition.shape}."
            )
        n_tags = transition.shape[0]
        if n_tags == 0:
            raise ValueError("LinearChainPosterior needs one tag at least. Got none.")
        self.log_transition = transition
        self.log_start = _as_border(log_start, n_tags, "log_start")
        self.log_end = _as_border(log_end, n_tags, "log_end")
        self.log_emission, self.lengths = _as_emission(log_emission, lengths, n_tags)
        self._check_finite()

    @classmethod
    def _of(
        cls, other: LinearChainPosterior, emission: np.ndarray, lengths: np.ndarray
    ) -> LinearChainPosterior:
        """Return a posterior with the transitions of another and checked emissions."""
        new = cls.__new__(cls)
        new.log_transition, new.log_start = other.log_transition, other.log_start
        new.log_end, new.log_emission, new.lengths = other.log_end, emission, lengths
        return new

    def _check_finite(self) -> None:
        for name in ("log_transition", "log_start", "log_end"):
            scores = getattr(self, name)
            if not (scores < np.inf).all():  # False for NaN too
                raise ValueError(
                    f"The {name!r} parameter of LinearChainPosterior must be finite or "
                    f"-inf. Got {scores[~(scores < np.inf)][0]}."
                )
        # a maximum is NaN or inf if an entry is, at a third of the cost of a mask
        with np.errstate(invalid="ignore"):
            suspect = not (self.log_emission.max(initial=0) < np.inf)
        if suspect:
            bad = ~(self.log_emission < np.inf)
            row = int(bad.any(axis=1).argmax())
            value = self.log_emission[row][bad[row]][0]
            sequence = int(np.searchsorted(np.cumsum(self.lengths), row, side="right"))
            token = row - int(self.lengths[:sequence].sum())
            raise ValueError(
                "The 'log_emission' parameter of LinearChainPosterior must be finite "
                f"or -inf. Got {value} in sequence {sequence}, token {token}."
            )

    @property
    def n_tags(self) -> int:
        """Number of tags."""
        return self.log_transition.shape[0]

    def __len__(self) -> int:
        return self.lengths.size

    def __getitem__(self, sequences: slice) -> LinearChainPosterior:
        """Return the posterior of a slice of the sequences."""
        if not isinstance(sequences, slice):
            raise TypeError(
                "LinearChainPosterior is indexed by a slice of sequences. "
                f"Got {sequences!r}."
            )
        chosen = np.arange(len(self))[sequences]
        start = np.cumsum(self.lengths) - self.lengths
        lengths = self.lengths[chosen]
        step = np.arange(lengths.sum()) - np.repeat(
            np.cumsum(lengths) - lengths, lengths
        )
        rows = np.repeat(start[chosen], lengths) + step
        return self._of(self, self.log_emission[rows], lengths)

    def __repr__(self) -> str:
        return (
            f"LinearChainPosterior(n_sequences={len(self)}, "
            f"n_tokens={self.log_emission.shape[0]}, n_tags={self.n_tags})"
        )

    def _chain(self) -> Chain:
        packing = Packing(self.lengths)
        return Chain(
            packing=packing,
            scores=self.log_emission,
            transition=self.log_transition,
            start=self.log_start,
            end=self.log_end,
        )

    def _split(self, rows: np.ndarray) -> list[np.ndarray]:
        """Return token rows as a list with one entry a sequence."""
        ends = np.cumsum(self.lengths).tolist()
        starts = [0, *ends[:-1]]
        return [rows[a:b] for a, b in zip(starts, ends, strict=False)]

    def log_partition(self) -> np.ndarray:
        """Return log Z of each sequence, 0 for an empty one.

        Returns
        -------
        log_partition : ndarray of shape (n_sequences,)
        """
        return log_partition(self._chain())

    def token_marginals(self) -> list[np.ndarray]:
        """Return the posterior probability of each tag at each token.

        Returns
        -------
        marginals : list of ndarray of shape (n_i, n_tags)
            Rows sum to one.
        """
        return self._split(forward_backward(self._chain()))

    def viterbi(self) -> list[np.ndarray]:
        """Return the most probable tagging of each sequence.

        Returns
        -------
        paths : list of ndarray of shape (n_i,), int
            Tag indices; among equal scores the lowest index, from the last token back.
        """
        chain = self._chain()
        return self._split(chain.packing.unpack(viterbi(chain)))

    def posterior_decode(self) -> list[np.ndarray]:
        """Return the most probable tag of each token by itself.

        It errs least on tokens, on average under the model; the whole may be a tagging
        that the model forbids.

        Returns
        -------
        paths : list of ndarray of shape (n_i,), int
            Tag indices, ties to the lowest.
        """
        return [marginal.argmax(axis=1) for marginal in self.token_marginals()]

    def log_proba(self, paths: Sequence[Any]) -> np.ndarray:
        """Return the log probability of one tagging of each sequence.

        Parameters
        ----------
        paths : sequence of array-like of shape (n_i,), int
            Tag indices.

        Returns
        -------
        log_proba : ndarray of shape (n_sequences,)
            -inf for a forbidden tagging, 0 for an empty sequence.
        """
        tags = self._check_paths(paths)
        sequence = np.repeat(np.arange(len(self)), self.lengths)
        token = self.log_emission[np.arange(tags.size), tags]
        inner = np.flatnonzero(np.diff(sequence) == 0)
        pair = self.log_transition[tags[inner], tags[inner + 1]]
        # without any token bincount gives integers
        score = np.bincount(sequence, token, len(self)).astype(np.float64)
        score += np.bincount(sequence[inner], pair, len(self))
        some = self.lengths > 0
        last = np.cumsum(self.lengths)[some] - 1
        score[some] += self.log_start[tags[last - self.lengths[some] + 1]]
        score[some] += self.log_end[tags[last]]
        return score - self.log_partition()

    def _check_paths(self, paths: Sequence[Any]) -> np.ndarray:
        """Return the tags of all sequences one after another."""
        if len(paths) != len(self):
            raise ValueError(
                "The 'paths' parameter of LinearChainPosterior.log_proba must have an "
                f"entry for each of the {len(self)} sequences. Got {len(paths)}."
            )
        arrays = [np.asarray(path) for path in paths]
        for i, (path, length) in enumerate(zip(arrays, self.lengths, strict=True)):
            if path.ndim != 1 or (path.size and path.dtype.kind not in "iu"):
                raise ValueError(
                    "The 'paths' parameter of LinearChainPosterior.log_proba must hold "
                    f"tag indices in one dimension. Got {path.dtype} of shape "
                    f"{path.shape} for sequence {i}."
                )
            if path.size != length:
                raise ValueError(
                    f"The 'paths' parameter of LinearChainPosterior.log_proba has "
                    f"{path.size} tags for sequence {i} of {length} tokens."
                )
            outside = (path < 0) | (path >= self.n_tags)
            if outside.any():
                token = int(outside.argmax())
                raise ValueError(
                    "The 'paths' parameter of LinearChainPosterior.log_proba must hold "
                    f"tag indices from 0 to {self.n_tags - 1}. Got {path[token]} in "
                    f"sequence {i}, token {token}."
                )
        whole = [path.astype(np.intp, copy=False) for path in arrays]
        return np.concatenate([np.zeros(0, dtype=np.intp), *whole])


def _as_scores(values: Any, name: str) -> np.ndarray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"The {name!r} parameter of LinearChainPosterior must hold numbers in rows "
            f"of one length. Got {type(values).__name__} that holds something else."
        ) from None


def _as_border(values: Any, n_tags: int, name: str) -> np.ndarray:
    if values is None:
        return np.zeros(n_tags)
    scores = _as_scores(values, name)
    if scores.shape != (n_tags,):
        raise ValueError(
            f"The {name!r} parameter of LinearChainPosterior must have shape "
            f"({n_tags},), as log_transition has it. Got {scores.shape}."
        )
    return scores


def _as_emission(
    values: Any, lengths: Any, n_tags: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of all tokens and the lengths of the sequences."""
    name = "log_emission"
    if lengths is not None:
        rows, size = _as_scores(values, name), np.asarray(lengths)
        if size.size == 0:
            size, rows = size.astype(np.intp), rows.reshape(0, n_tags)
        if size.ndim != 1 or size.dtype.kind not in "iu" or (size < 0).any():
            raise ValueError(
                "The 'lengths' parameter of LinearChainPosterior must hold integers of "
                f"at least 0. Got {lengths!r}."
            )
        if rows.shape != (size.sum(), n_tags):
            raise ValueError(
                f"The {name!r} parameter of LinearChainPosterior must have shape "
                f"({size.sum()}, {n_tags}), as lengths and log_transition have it. "
                f"Got {rows.shape}."
            )
        return rows, size.astype(np.intp)
    if not hasattr(values, "__iter__"):
        raise TypeError(
            f"The {name!r} parameter of LinearChainPosterior must be a list with an "
            f"array for each sequence. Got {type(values).__name__}."
        )
    parts = []
    for i, part in enumerate(values):
        try:
            array = np.asarray(part, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"The {name!r} parameter of LinearChainPosterior must hold numbers in "
                f"rows of one length. Got something else in sequence {i}."
            ) from None
        if array.size == 0:
            array = array.reshape(0, n_tags)
        if array.ndim != 2 or array.shape[1] != n_tags:
            raise ValueError(
                f"The {name!r} parameter of LinearChainPosterior must have an array of "
                f"shape (n_tokens, {n_tags}) for each sequence. Got shape "
                f"{array.shape} for sequence {i}."
            )
        parts.append(array)
    size = np.array([part.shape[0] for part in parts], dtype=np.intp)
    return np.concatenate([np.zeros((0, n_tags)), *parts]), size
