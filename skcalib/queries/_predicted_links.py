"""Coreference links that a model predicts in new text, each with its probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from .._errors import ParameterError, ParameterTypeError, public
from .._results import Result, object_array
from .._validation import check_choice, check_real, is_sequence
from ..posteriors import AntecedentPosterior


@dataclass(frozen=True, repr=False, eq=False)
class PredictedLinks(Result):
    """Links between mentions of documents, each with a probability.

    Attributes
    ----------
    document : ndarray of shape (n_links,), int
        Index of the document.
    mention, antecedent : ndarray of shape (n_links,), int
        Indices of the two mentions in the document. The antecedent is the earlier
        mention.
    proba : ndarray of shape (n_links,)
        Probability of the link.
    mention_name, antecedent_name : ndarray of shape (n_links,) or None
        The two mentions as they were passed, for example their texts. None if no
        mentions were passed.
    kind : {'antecedent', 'pair'}
        Meaning of a link, as in :func:`predicted_links`.
    lengths : ndarray of shape (n_documents,), int
        Number of mentions of each document.

    See Also
    --------
    predicted_links : Compute links and probabilities from a posterior.

    Examples
    --------
    >>> from skcalib.posteriors import AntecedentPosterior
    >>> from skcalib.experimental import predicted_links
    >>> posterior = AntecedentPosterior([[[0, 0, 0], [3, 0, 0], [0, 1, 0]]])
    >>> links = predicted_links(posterior)
    >>> links
    PredictedLinks(n_links=2, n_documents=1, kind='antecedent')
    >>> links.above(0.9).clusters()
    [array([0, 0, 2])]
    """

    document: np.ndarray
    mention: np.ndarray
    antecedent: np.ndarray
    proba: np.ndarray
    mention_name: np.ndarray | None
    antecedent_name: np.ndarray | None
    kind: str
    lengths: np.ndarray

    def __len__(self) -> int:
        return self.mention.size

    def __repr__(self) -> str:
        return (
            f"PredictedLinks(n_links={len(self)}, n_documents={self.lengths.size}, "
            f"kind={self.kind!r})"
        )

    def _columns(self) -> dict[str, Any]:
        names = ["document", "mention", "antecedent", "proba"]
        if self.mention_name is not None:
            names += ["mention_name", "antecedent_name"]
        return {name: getattr(self, name) for name in names}

    def records(self) -> list[dict[str, Any]]:
        """Return a list with one dict per link.

        Returns
        -------
        records : list of dict
            One dict per link, with the columns of :meth:`frame` as keys.
        """
        columns = self.to_dict()
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    @public
    def above(self, threshold: float) -> PredictedLinks:
        """Return the links whose probability is at least a threshold.

        Parameters
        ----------
        threshold : float
            Minimum probability, in [0, 1].

        Returns
        -------
        links : PredictedLinks
        """
        least = check_real(threshold, low=0, high=1, name="threshold")
        kept = self.proba >= least
        columns = {name: column[kept] for name, column in self._columns().items()}
        return replace(self, **columns)

    def clusters(self) -> list[np.ndarray]:
        """Return the clustering of each document that the links define.

        The entities are the connected components of the links. Fewer links, for example
        after :meth:`above` with a higher threshold, give smaller entities.

        Returns
        -------
        labels : list of ndarray of shape (n_i,), int
            Label of each mention: the index of the first mention of its entity.
        """
        labels = []
        for i, n in enumerate(self.lengths.tolist()):
            here = self.document == i
            ends = (self.mention[here], self.antecedent[here])
            graph = coo_array((np.ones(here.sum()), ends), shape=(n, n))
            _, component = connected_components(graph, directed=False)
            _, first, inverse = np.unique(
                component, return_index=True, return_inverse=True
            )
            labels.append(first[inverse])
        return labels


@public
def predicted_links(
    posterior: AntecedentPosterior,
    *,
    mentions: Sequence[Sequence[Any]] | None = None,
    kind: str = "antecedent",
    threshold: float | None = None,
) -> PredictedLinks:
    """Return the coreference links in new text, each with its exact probability.

    Parameters
    ----------
    posterior : AntecedentPosterior
        Posterior over the clusterings of the documents.
    mentions : sequence of sequences, default=None
        Names of the mentions of each document, for example their texts or positions.
        They are returned with the links.
    kind : {'antecedent', 'pair'}, default='antecedent'
        Meaning of a link. An 'antecedent' link means that the model chooses the earlier
        mention as the antecedent of the later mention. Its probability is a softmax
        over the candidates. A 'pair' link means that two mentions refer to the same
        entity, through any chain of antecedents. If an entity has several earlier
        mentions, they share the probability of the antecedent, so that each
        'antecedent' link can have a low probability. A 'pair' link does not have this
        disadvantage.
    threshold : float, default=None
        Minimum probability of the links. If None, the links to the best antecedents are
        returned. For ``kind="pair"``, these links define clusters, and all pairs of
        mentions in the same cluster are returned.

    Returns
    -------
    links : PredictedLinks
        The links in the order of documents, mentions and antecedents.

    See Also
    --------
    CorefPairQuery : Measure the calibration of pair probabilities.
    skcalib.posteriors.AntecedentPosterior.pair_marginals : Probabilities of pairs.
    skcalib.rates.threshold_for_precision : Choose the threshold.

    Examples
    --------
    >>> from skcalib.posteriors import AntecedentPosterior
    >>> from skcalib.experimental import predicted_links
    >>> posterior = AntecedentPosterior([[[0, 0, 0], [2, 0, 0], [1, 1, 0]]])
    >>> names = [["Ada", "she", "her"]]
    >>> for link in predicted_links(posterior, mentions=names).records():
    ...     print(link["mention_name"], link["antecedent_name"], f"{link['proba']:.2f}")
    she Ada 0.88
    her Ada 0.42
    >>> predicted_links(posterior, kind="pair", threshold=0.5).proba.round(2)
    array([0.88, 0.79, 0.79])
    """
    check_choice(kind, ("antecedent", "pair"), name="kind")
    if threshold is not None:
        check_real(threshold, low=0, high=1, name="threshold")
    if not hasattr(posterior, "antecedent_proba"):
        raise ParameterTypeError(
            "posterior",
            f"must be an AntecedentPosterior. Got {type(posterior).__name__}.",
        )
    names = None if mentions is None else _names(mentions, posterior.lengths.tolist())
    found = _links(posterior, kind, threshold)
    document = np.repeat(np.arange(len(posterior)), [len(each[0]) for each in found])
    empty = np.zeros(0, dtype=np.intp)
    mention = np.concatenate([empty, *(each[0] for each in found)])
    antecedent = np.concatenate([empty, *(each[1] for each in found)])
    ends: list[np.ndarray | None] = [None, None]
    if names is not None:
        ends = [
            object_array([names[i][j] for i, j in zip(document, side, strict=True)])
            for side in (mention, antecedent)
        ]
    return PredictedLinks(
        document=document,
        mention=mention,
        antecedent=antecedent,
        proba=np.concatenate([np.zeros(0), *(each[2] for each in found)]),
        mention_name=ends[0],
        antecedent_name=ends[1],
        kind=kind,
        lengths=posterior.lengths,
    )


def _links(
    posterior: AntecedentPosterior, kind: str, threshold: float | None
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return mentions, antecedents and probabilities of the links of each document."""
    is_pair = kind == "pair"
    proba = posterior.pair_marginals() if is_pair else posterior.antecedent_proba()
    if threshold is None and is_pair:
        wanted = [np.equal.outer(labels, labels) for labels in posterior.map_clusters()]
    elif threshold is None:
        wanted = [_best(scores) for scores in posterior.log_scores]
    else:
        wanted = [rows >= threshold for rows in proba]
    found = []
    for rows, chosen in zip(proba, wanted, strict=True):
        mention, antecedent = np.nonzero(np.tril(chosen, -1))
        found.append((mention, antecedent, rows[mention, antecedent]))
    return found


def _best(scores: np.ndarray) -> np.ndarray:
    """Return a mask of the best antecedents; ties go to the first, with NEW last."""
    best = np.zeros(scores.shape, dtype=bool)
    if scores.size:
        best[np.arange(len(scores)), scores.argmax(axis=1)] = True
    return best


def _names(mentions: Any, lengths: list[int]) -> list[list[Any]]:
    sizes = None
    if is_sequence(mentions) and all(map(is_sequence, mentions)):
        sizes = list(map(len, mentions))
    if sizes != lengths:
        raise ParameterError(
            "mentions",
            "must have the mentions of each document of the posterior, which has "
            f"{lengths!r:.60} mentions. Got {sizes if sizes else mentions!r:.60}.",
        )
    return [list(each) for each in mentions]
