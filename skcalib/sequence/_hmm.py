"""Hidden Markov model of tags and words."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .._errors import public
from .._validation import check_bool, check_choice, check_real
from ..posteriors import LinearChainPosterior
from ._base import (
    BaseTagger,
    Labels,
    Words,
    all_words,
    check_fit,
    known_numbers,
    number_all,
    number_labels,
    number_words,
    sentence_lengths,
)

_PSEUDOCOUNT = 0.01


class HMMTagger(BaseTagger):
    """Hidden Markov model tagger, trained on tagged sentences.

    Each tag depends on the previous tag, and each word depends on its tag. The
    probabilities are relative frequencies, computed after a pseudocount is added to
    each count. They are maximum a posteriori estimates under symmetric Dirichlet
    priors. Words that do not occur in the training data share one additional vocabulary
    entry, see `unknown_words`.

    Parameters
    ----------
    pseudocount : float, default=None
        Non-negative pseudocount added to the count of every start, transition and
        emission. None is 0.01, which had the highest mean likelihood of held-out
        sentences of three corpora of English, after training on 250 to 3,000 sentences.
    unknown_words : {'once', 'pseudocount'}, default=None
        Count of the unknown word with each tag. 'once' is the number of training words
        that occur once, with this tag (Good and Turing, [2]_), so that an unknown word
        is a noun more often than a determiner. 'pseudocount' is zero, the model of
        [1]_. None is 'once' if `pseudocount` is None, and 'pseudocount' otherwise: pass
        'once' to search over `pseudocount`.
    emission_pseudocount : float, default=None
        Pseudocount added to emission counts. If None, `pseudocount` is used.
    end_state : bool, default=False
        Whether the end of a sentence is modelled as a transition from the last tag.
    decoding : {'viterbi', 'posterior'}, default='viterbi'
        Output of `predict`: 'viterbi' for the most probable tagging of each sentence,
        'posterior' for the most probable tag of each token.
    dtype : {float64, float32}, default=float64
        Type of the probabilities of tags and pairs. float32 takes half the memory and
        less time; its error is about 1e-6. Everything else is computed in float64.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    vocabulary_ : dict
        Column of each training word in `emission_log_proba_`.
    start_log_proba_ : ndarray of shape (n_classes,)
        Log probability of each tag at the start of a sentence.
    transition_log_proba_ : ndarray of shape (n_classes, n_classes)
        Log probability of each transition [tag, next tag].
    emission_log_proba_ : ndarray of shape (n_classes, n_words + 1)
        Log probability of each word of the vocabulary, and of the unknown word (last
        column).
    end_log_proba_ : ndarray of shape (n_classes,)
        Log probability that a sentence ends after each tag. All entries are zero if
        `end_state` is False.

    See Also
    --------
    CRFTagger : Conditional random field, the discriminative model of the same
        structure.

    Notes
    -----
    The pseudocount determines whether the model is overconfident or underconfident. A
    large pseudocount makes the model underconfident, and a very small one makes it
    overconfident. The pseudocount with the best accuracy can be too small for
    calibration. Choose the pseudocount by
    :data:`~skcalib.scorers.log_likelihood_scorer` rather than by accuracy.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
       analysis for natural language processing models". EMNLP. Section 4.2.
    .. [2] I. J. Good (1953). "The population frequencies of species and the estimation
       of population parameters". Biometrika 40.

    Examples
    --------
    >>> from skcalib.sequence import HMMTagger
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["dogs", "bark"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["N", "V"]]
    >>> tagger = HMMTagger(pseudocount=0.1).fit(X, y)
    >>> tagger.predict([["the", "cat", "barks"]])[0]
    ['D', 'N', 'V']
    >>> tagger.predict_proba([["the", "mouse"]])[0].round(2)
    array([[0.96, 0.03, 0.  ],
           [0.06, 0.87, 0.07]])
    """

    def __init__(
        self,
        pseudocount: float | None = None,
        *,
        unknown_words: str | None = None,
        emission_pseudocount: float | None = None,
        end_state: bool = False,
        decoding: str = "viterbi",
        dtype: DTypeLike = np.float64,
    ):
        self.pseudocount = pseudocount
        self.unknown_words = unknown_words
        self.emission_pseudocount = emission_pseudocount
        self.end_state = end_state
        self.decoding = decoding
        self.dtype = dtype

    @public
    def fit(self, X: Words, y: Labels) -> HMMTagger:
        """Estimate probabilities from counts of tags and words.

        Parameters
        ----------
        X : sequence of sentences of str
            Words of each sentence.
        y : sequence of label sequences
            Labels, one per word.

        Returns
        -------
        self : HMMTagger
            The fitted tagger.

        Raises
        ------
        TypeError
            If `X` or `y` is not a sequence of sentences, or if a token is not a str.
        ValueError
            If there is no token, if a sentence has more or fewer labels than tokens, if
            a label is missing, or if labels cannot be sorted.
        """
        prior, word_prior, unknown = self._check_parameters()
        sentences, labels = check_fit(X, y)
        words, columns = number_words(sentences)
        classes, tags = number_labels(labels)
        self.classes_: np.ndarray = classes
        self.vocabulary_: dict[str, int] = dict(
            zip(sorted(words), count(), strict=False)
        )
        # from the order of occurrence to the sorted order of the vocabulary
        columns = number_all(words, self.vocabulary_, len(words))[columns]
        n_tags, n_words = self.classes_.size, len(words) + 1
        lengths = sentence_lengths(labels)
        lengths = lengths[lengths > 0]
        last = np.cumsum(lengths) - 1
        going_on = np.delete(np.arange(tags.size), last)
        starts = np.bincount(tags[last - lengths + 1], minlength=n_tags)
        moves = _counts(tags[going_on], tags[going_on + 1], (n_tags, n_tags))
        if self.end_state:
            # The end is one more tag that can follow, with the same denominator.
            moves = np.column_stack([moves, np.bincount(tags[last], minlength=n_tags)])
        moves_log_proba = _log_rows(moves, prior)
        self.start_log_proba_: np.ndarray = _log_rows(starts[np.newaxis], prior)[0]
        self.transition_log_proba_: np.ndarray = moves_log_proba[:, :n_tags]
        self.end_log_proba_: np.ndarray = np.zeros(n_tags)
        if self.end_state:
            self.end_log_proba_ = moves_log_proba[:, n_tags]
        # Words are the rows in memory, so that the scores of a word are contiguous.
        emissions = _counts(columns, tags, (n_words, n_tags)).T
        if unknown == "once":
            # The rarest words occur more often if sentences are repeated.
            n = emissions[:, :-1].sum(axis=0)
            rare = emissions[:, :-1][:, n == n.min()].sum(axis=1) / n.min()
            emissions = np.column_stack([emissions[:, :-1], rare])
        self.emission_log_proba_: np.ndarray = _log_rows(emissions, word_prior)
        return self

    def _check_parameters(self) -> tuple[float, float, str]:
        self._check_inference()
        check_bool(self.end_state, name="end_state")
        prior, unknown = self.pseudocount, self.unknown_words
        if unknown is None:
            unknown = "once" if prior is None else "pseudocount"
        check_choice(unknown, ("once", "pseudocount"), name="unknown_words")
        if prior is None:
            prior = _PSEUDOCOUNT
        prior = check_real(prior, low=0, high=1e12, name="pseudocount")
        own = self.emission_pseudocount
        if own is not None:
            own = check_real(own, low=0, high=1e12, name="emission_pseudocount")
        return prior, prior if own is None else own, unknown

    def _posterior(self, sentences: list[Any]) -> LinearChainPosterior:
        words = all_words(sentences)
        # An unknown word has index -1, the last column.
        columns = known_numbers(words, self.vocabulary_, len(words))
        return LinearChainPosterior(
            self.emission_log_proba_.T.take(columns, axis=0),
            self.transition_log_proba_,
            self.start_log_proba_,
            self.end_log_proba_,
            lengths=sentence_lengths(sentences),
            dtype=self._check_inference(),
        )


def _counts(rows: np.ndarray, columns: np.ndarray, shape: tuple) -> np.ndarray:
    # faster than np.add.at on pairs of indices
    flat = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
    return flat.reshape(shape)


def _log_rows(counts: np.ndarray, pseudocount: float) -> np.ndarray:
    """Return the log relative frequencies of each row, -inf for frequencies of 0."""
    proba = counts + pseudocount
    total = proba.sum(axis=1, keepdims=True)
    # theory, (L2); without a pseudocount, a tag may have no counts
    proba /= np.where(total > 0, total, 1)
    with np.errstate(divide="ignore"):
        return np.log(proba, out=proba)
