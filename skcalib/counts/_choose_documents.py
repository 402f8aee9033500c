"""Random samples of documents to label, which prefer uncertain or large documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, public
from .._parallel import RandomStateLike, as_generator
from .._results import Result
from .._validation import check_integer, check_real, raise_where
from ._corrected_count import as_codes, as_column

# Number of labels that a stratum needs for an estimate of its variance.
_LEAST_PER_STRATUM = 2


@dataclass(frozen=True, repr=False)
class DocumentChoice(Result):
    """Sample of documents to label, from :func:`choose_documents`.

    Attributes
    ----------
    index : ndarray of shape (n,)
        Indices of the chosen documents, in ascending order.
    inclusion_probability : ndarray of shape (N,)
        Probability with which each document of the corpus was drawn. Keep it with the
        labels: :func:`corrected_count` needs it.
    ids : list or None
        Ids of the chosen documents, if
        :meth:`skcalib.events.EventCounts.choose_documents` drew them, otherwise None.

    See Also
    --------
    choose_documents : Draw the sample.

    Examples
    --------
    >>> from skcalib.counts import choose_documents
    >>> choice = choose_documents([0.5, 0.1, 0.1, 0.1], 2, random_state=0)
    >>> choice.inclusion_probability.round(3).tolist()
    [0.875, 0.375, 0.375, 0.375]
    """

    index: np.ndarray
    inclusion_probability: np.ndarray
    ids: list[Any] | None = None

    def _columns(self) -> dict[str, Any]:
        pi = self.inclusion_probability[self.index]
        columns = {"index": self.index, "inclusion_probability": pi}
        return columns if self.ids is None else {"id": self.ids, **columns}

    def to_dict(self) -> dict[str, Any]:
        """Return the indices, and the probabilities of all documents, as lists."""
        index, pi = self.index.tolist(), self.inclusion_probability.tolist()
        found = {"index": index, "inclusion_probability": pi}
        return found if self.ids is None else {"ids": list(self.ids), **found}

    def _in_words(self) -> Sequence[str]:
        return (
            f"{len(self.index)} of {len(self.inclusion_probability)} documents are to "
            "be labelled.",
        )

    def __repr__(self) -> str:
        pi = self.inclusion_probability
        return (
            f"DocumentChoice({len(self.index)} of {len(pi)} documents, "
            f"inclusion_probability {pi.min():.3g} to {pi.max():.3g})"
        )


@public
def choose_documents(
    sd: ArrayLike | None,
    n: int,
    *,
    size: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    mix: float = 0.5,
    random_state: RandomStateLike = None,
) -> DocumentChoice:
    """Draw documents to label, with a preference for uncertain or large documents.

    Each document is drawn with a probability that has two parts: one part is equal for
    all documents, the other is proportional to `sd`, to `size`, or to both. The first
    part gives every document a chance to be drawn. It is necessary because a model may
    be certain and wrong.

    Parameters
    ----------
    sd : array-like of shape (N,) or None
        Standard deviation of each document's count under the model. For a probability
        p, it is ``sqrt(p * (1 - p))``. Equal values give equal probabilities. If None,
        `size` alone is used. Do not pass the expected counts of a model alone: it may
        miss large documents, which are then seldom drawn.
    n : int
        Number of documents to label.
    size : array-like of shape (N,), default=None
        Known size of each document, such as its number of words, for counts that grow
        with the size. If `sd` is given too, both have the same weight.
    strata : array-like of shape (N,), default=None
        Strata, such as periods, within which documents are drawn. At least two
        documents are drawn in each stratum, or all documents of a smaller stratum.
    mix : float, default=0.5
        Weight, in (0, 1], of the part of the probability that is equal for all
        documents. The other part has the weight 1 - mix. A value of 1 gives equal
        probabilities. Without strata, the weight of a document (the inverse of its
        inclusion probability) is at most N / (n mix).
    random_state : int, RandomState, Generator or None, default=None
        Random state used to draw the sample.

    Returns
    -------
    choice : DocumentChoice
        `index` of the chosen documents and `inclusion_probability` of all documents.

    Raises
    ------
    ValueError
        If `n` is larger than the number of documents or too small for two documents per
        stratum, if a value of `sd` or `size` is negative or not finite, or if both are
        None.

    See Also
    --------
    corrected_count : Correct a count with the labels of these documents.

    Notes
    -----
    The variance is smallest if the probabilities are proportional to the standard
    deviation of the residuals [1]_. If few documents have most of the events and the
    model may miss some of them, draw by `size`: a sample without large documents cannot
    show that they exist.

    Documents are drawn systematically in a random order [2]_, so that their number is
    fixed and every pair of documents can be drawn. The variance of a systematic sample
    in a fixed order, such as the order of dates, cannot be estimated validly. For a
    sample that is spread over time, pass periods as `strata`.

    Equal probabilities (``mix=1``) are better for fewer than 50 labels, and for counts
    of 0 and 1 that are rarely 1. With unequal probabilities, the sample has fewer
    documents about which the model is certain. More of the errors in these documents
    then remain undetected.

    References
    ----------
    .. [1] J. Neyman (1934). "On the two different aspects of the representative method:
       the method of stratified sampling and the method of purposive selection". Journal
       of the Royal Statistical Society 97.
    .. [2] H. O. Hartley and J. N. K. Rao (1962). "Sampling with unequal probabilities
       and without replacement". Annals of Mathematical Statistics 33.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.counts import choose_documents
    >>> proba = np.linspace(0.01, 0.5, 200)
    >>> choice = choose_documents(np.sqrt(proba * (1 - proba)), 20, random_state=0)
    >>> len(choice.index), round(float(choice.inclusion_probability.sum()), 6)
    (20, 20.0)
    >>> round(float(choice.inclusion_probability.min()), 3)
    0.062
    """
    if sd is None and size is None:
        raise ParameterError("sd", "must be given if `size` is None.")
    parts: list[np.ndarray] = []
    for name, values in (("sd", sd), ("size", size)):
        if values is not None:
            parts.append(_shares(values, len(parts[0]) if parts else None, name=name))
    # The mean of two goals also draws documents that only one of them prefers.
    goal = parts[0] if len(parts) == 1 else (parts[0] + parts[1]) / 2
    n = check_integer(n, minimum=1, name="n")
    if n > len(goal):
        problem = f"must be at most the number of documents, {len(goal)}. Got {n}."
        raise ParameterError("n", problem)
    mix = check_real(mix, low=0, high=1, name="mix")
    if mix == 0:
        problem = "must be positive, so that every document can be drawn. Got 0."
        raise ParameterError("mix", problem)
    # This bounds the weight 1 / pi of a document by N / (n mix). In place, because a
    # corpus may have many millions of documents.
    goal *= 1 - mix
    goal += mix / len(goal)
    rng = as_generator(random_state)
    if strata is None:
        pi = _probabilities(goal, n)
        del goal
        return DocumentChoice(_systematic(pi, n, rng), pi)
    codes = as_codes(strata, len(goal), name="strata")[1]
    pi = np.empty(len(goal))
    chosen = []
    budget = _allocate(n, np.bincount(codes, goal), np.bincount(codes))
    for stratum, n_drawn in enumerate(budget):
        rows = np.flatnonzero(codes == stratum)
        pi[rows] = _probabilities(goal[rows], int(n_drawn))
        chosen.append(rows[_systematic(pi[rows], int(n_drawn), rng)])
    return DocumentChoice(np.sort(np.concatenate(chosen)), pi)


def _shares(values: ArrayLike, n: int | None, *, name: str) -> np.ndarray:
    """Return the share of each document in a sum, or equal shares if the sum is 0."""
    column = as_column(values, n, name=name)
    bad = ~((column >= 0) & np.isfinite(column))
    raise_where(bad, column, "be finite and not negative", name=name)
    total = float(column.sum())
    if total > 0:
        return column / total
    return np.full(len(column), 1 / max(len(column), 1))


def _allocate(n: int, goal: np.ndarray, n_documents: np.ndarray) -> np.ndarray:
    """Return integers that are nearly proportional to `goal` and add up to n."""
    least = np.minimum(n_documents, _LEAST_PER_STRATUM if len(goal) > 1 else 0)
    if least.sum() > n:
        problem = (
            f"must be at least {least.sum()}, for two documents of each of the "
            f"{len(goal)} strata. Got {n}. Draw more documents, or join strata."
        )
        raise ParameterError("n", problem)
    # Strata at their minimum or maximum are fixed, and the other draws are divided.
    share = np.zeros(len(goal))
    fixed = np.zeros(len(goal), dtype=bool)
    while not fixed.all():
        share[~fixed] = (n - share[fixed].sum()) * goal[~fixed] / goal[~fixed].sum()
        over = ~fixed & (share > n_documents)
        change = over if over.any() else ~fixed & (share < least)
        if not change.any():
            break
        share[change] = np.where(over, n_documents, least)[change]
        fixed |= change
    # A share that is a whole number may be just below it, up to rounding.
    draws = np.clip(np.floor(share + 1e-9).astype(int), least, n_documents)
    while draws.sum() != n:  # at most one draw per stratum is left over
        if draws.sum() < n:
            room = np.where(draws < n_documents, share - draws, -np.inf)
            draws[np.argmax(room)] += 1
        else:
            room = np.where(draws > least, draws - share, -np.inf)
            draws[np.argmax(room)] -= 1
    return draws


def _probabilities(goal: np.ndarray, n: int) -> np.ndarray:
    """Return probabilities proportional to `goal`, at most 1, that add up to n."""
    # Documents beyond probability 1 are drawn for certain. The others then share the
    # rest of the draws, which may lift further documents beyond 1.
    certain = np.zeros(len(goal), dtype=bool)
    while True:
        pi = (n - int(certain.sum())) * goal
        if not certain.all():
            pi /= (goal[~certain] if certain.any() else goal).sum()
        pi[certain] = 1
        above = ~certain & (pi >= 1 - 1e-12)
        if not above.any():
            return pi
        certain |= above


def _systematic(pi: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n indices, drawn systematically in a random order."""
    # Ticks at a distance of 1 along the cumulated probabilities: each document contains
    # a tick with its own probability (Hartley and Rao 1962).
    order = rng.permutation(len(pi))
    steps = pi[order]
    np.cumsum(steps, out=steps)
    steps *= n / steps[-1]
    ticks = rng.random() + np.arange(n)
    places = np.searchsorted(steps, ticks, side="right")
    # The last tick may lie beyond the last document, up to rounding.
    return np.sort(order[np.minimum(places, len(pi) - 1)])
