"""Transitions that keep taggings consistent with a scheme of entities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._entities import allowed_tags, as_posterior_scheme, check_possible, read_tags
from .._errors import public
from .._validation import as_label_list


@public
def scheme_transitions(
    classes: ArrayLike, scheme: str = "BIO"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scores that exclude taggings that are invalid in an entity scheme.

    Parameters
    ----------
    classes : array-like of shape (n_tags,)
        Labels of the tag indices, such as 'B-PER'.
    scheme : {'BIO', 'BILOU', 'BIOES'}, default='BIO'
        Scheme of the tags.

    Returns
    -------
    log_transition : ndarray of shape (n_tags, n_tags)
        Scores of [previous tag, next tag]: 0 if the next tag may follow the previous
        tag, and -inf otherwise. For example, in 'BIO', I-PER may only follow B-PER and
        I-PER.
    log_start, log_end : ndarray of shape (n_tags,)
        Scores of the first and of the last tag: 0 if the tag is valid there, and -inf
        otherwise.

    See Also
    --------
    from_transformers : Posterior of a token classification model.
    skcalib.posteriors.LinearChainPosterior : Posterior that uses these scores.

    Notes
    -----
    If these scores are added to the log probabilities of a tagger with one softmax per
    token, the result is the distribution over taggings defined by the tagger,
    conditioned on the event that the tagging is valid in the scheme. The best tagging
    is then the best valid tagging, and the probability of an entity is a sum over valid
    taggings only.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.interop import scheme_transitions
    >>> from skcalib.posteriors import LinearChainPosterior
    >>> log_transition, log_start, log_end = scheme_transitions(["O", "B", "I"])
    >>> log_transition
    array([[  0.,   0., -inf],
           [  0.,   0.,   0.],
           [  0.,   0.,   0.]])
    >>> scores = [np.log([[0.2, 0.3, 0.5], [0.2, 0.2, 0.6]])]
    >>> posterior = LinearChainPosterior(scores, log_transition, log_start, log_end)
    >>> posterior.viterbi()
    [array([1, 2])]
    """
    return transitions_of(as_label_list(classes, name="classes"), scheme, "classes")


def transitions_of(
    order: list, scheme: str, name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the scores for labels that were received as the parameter `name`."""
    scheme = as_posterior_scheme(scheme)
    meaning = read_tags(order, scheme, name)
    check_possible(meaning, scheme, name)
    allowed = allowed_tags([meaning[tag] for tag in order], scheme)
    pairs, first, last = (np.where(each, 0.0, -np.inf) for each in allowed)
    return pairs, first, last
