"""Transitions that keep taggings consistent with a scheme of entities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._entities import allowed_tags, as_posterior_scheme, read_tags
from .._errors import public
from .._validation import as_label_list


@public
def scheme_transitions(
    classes: ArrayLike, scheme: str = "BIO"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scores that forbid taggings that do not fit a scheme of entities.

    Parameters
    ----------
    classes : array-like of shape (n_tags,)
        Labels of the tag indices, such as 'B-PER'.
    scheme : {'BIO', 'BILOU', 'BIOES'}, default='BIO'
        Scheme of the tags.

    Returns
    -------
    log_transition : ndarray of shape (n_tags, n_tags)
        0 where the next tag may follow the previous one, -inf elsewhere: I-PER follows
        B-PER and I-PER only.
    log_start, log_end : ndarray of shape (n_tags,)
        The same for the first and the last tag.

    See Also
    --------
    from_transformers : Posterior of a token classification model.
    skcalib.posteriors.LinearChainPosterior : Takes these scores.

    Notes
    -----
    Added to the scores of a tagger with one softmax per token, they give the
    distribution of its taggings, conditioned on fitting the scheme. The best tagging is
    then the best consistent one, and the probabilities of entities sum over consistent
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
    scheme = as_posterior_scheme(scheme)
    order = as_label_list(classes, name="classes")
    meaning = read_tags(order, scheme, "classes")
    allowed = allowed_tags([meaning[tag] for tag in order], scheme)
    pairs, first, last = (np.where(each, 0.0, -np.inf) for each in allowed)
    return pairs, first, last
