"""Attributes of tokens for a CRF."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from sys import intern
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction import FeatureHasher

from .._validation import check_choice
from ._attributes import WORD
from ._sentences import all_words, check_sentences, object_array

_SHAPES = (
    (re.compile(r"[A-Z]+"), "X"),
    (re.compile(r"[a-z]+"), "x"),
    (re.compile(r"[0-9]+"), "0"),
)
_WORD_AT = {distance: intern(f"word{distance:+d}") for distance in (-2, -1, 1, 2)}
_PREFIX = {size: intern(f"prefix{size}") for size in range(1, 5)}
_SUFFIX = {size: intern(f"suffix{size}") for size in range(1, 5)}
# Words before the first and behind the last token.
_BORDER = "<border>"
_N_COLUMNS = 2**20


def basic_features(sentence: Sequence[str], t: int) -> dict[str, str]:
    """Return the word as it is."""
    return {WORD: sentence[t]}


def shape_of(word: str) -> str:
    """Return the word with runs of capitals, small letters and digits as one sign."""
    for pattern, sign in _SHAPES:
        word = pattern.sub(sign, word)
    return word


def advanced_features(sentence: Sequence[str], t: int) -> dict[str, str]:
    """Return word, context, shape, length, prefixes and suffixes."""
    # Interned values are one object wherever they occur: a fraction of the memory, and
    # looked up by pointer.
    word = intern(str(sentence[t]))  # a numpy str cannot be interned
    features = {
        WORD: word,
        "lower": intern(word.lower()),
        "shape": intern(shape_of(word)),
        "length": intern(str(len(word))),
    }
    for distance in _WORD_AT:
        at = t + distance
        inside = 0 <= at < len(sentence)
        features[_WORD_AT[distance]] = intern(str(sentence[at])) if inside else _BORDER
    for size in range(1, min(4, len(word)) + 1):
        features[_PREFIX[size]] = intern(word[:size])
        features[_SUFFIX[size]] = intern(word[-size:])
    return features


TEMPLATES = {"basic": basic_features, "advanced": advanced_features}


# The output is ragged, so scikit-learn's set_output must leave it alone.
class TokenFeatures(  # type: ignore[call-arg]
    TransformerMixin, BaseEstimator, auto_wrap_output_keys=None
):
    """Turn sentences of words into sentences of attributes.

    Nothing is learnt: `fit` does nothing and need not be called.

    Parameters
    ----------
    template : {'basic', 'advanced'} or callable, default='basic'
        'basic' is the word as it is. 'advanced' adds the word in lower case, the words
        at -2, -1, +1 and +2, shape, length, prefixes and suffixes of 1 to 4 letters.
        A callable gets (sentence, t) and returns the attributes of token t, a dict.
    output : {'dict', 'sparse'}, default='dict'
        'dict' gives CRFsuite attribute dicts; 'sparse' a CSR matrix for each sentence,
        with attributes hashed to 2**20 columns.

    See Also
    --------
    CRFTagger : Takes either output.

    References
    ----------
    .. [1] K. Nguyen. "Calibration for natural language processing systems". Honours
       thesis, University of Massachusetts Amherst. Section 4.1.

    Examples
    --------
    >>> from skcalib.sequence import TokenFeatures
    >>> TokenFeatures().transform([["A", "dog"]])[0]
    [{'word': 'A'}, {'word': 'dog'}]
    >>> token = TokenFeatures("advanced").transform([["A", "dog"]])[0][1]
    >>> token["shape"], token["word-1"], token["suffix2"]
    ('x', 'A', 'og')
    """

    def __init__(
        self,
        template: str | Callable[[Sequence[str], int], dict] = "basic",
        *,
        output: str = "dict",
    ):
        self.template = template
        self.output = output

    def fit(self, X: Any, y: Any = None) -> TokenFeatures:
        """Do nothing.

        Parameters
        ----------
        X : sequence of sentences of str
            Ignored.
        y : None
            Ignored.

        Returns
        -------
        self : TokenFeatures
            The transformer.
        """
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the attributes of each token.

        Parameters
        ----------
        X : sequence of sentences of str
            Words.

        Returns
        -------
        features : ndarray of shape (n_sentences,), object
            A list of dicts, or a CSR matrix with a row for each token.
        """
        caller = "TokenFeatures"
        check_choice(self.output, ("dict", "sparse"), name="output", caller=caller)
        template = self.template
        if not callable(template):
            name = check_choice(
                template, tuple(TEMPLATES), name="template", caller=caller
            )
            template = TEMPLATES[name]
        # as lists, since a pandas Series is indexed by its labels
        sentences = list(map(list, check_sentences(X, caller=f"{caller}.transform")))
        all_words(sentences, caller=f"{caller}.transform")
        features = [
            [template(sentence, t) for t in range(len(sentence))]
            for sentence in sentences
        ]
        if self.output == "sparse":
            hasher = FeatureHasher(_N_COLUMNS, alternate_sign=False)
            nothing = csr_array((0, _N_COLUMNS))
            features = [
                hasher.transform(rows) if rows else nothing for rows in features
            ]
        return object_array(features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.requires_fit = False
        return tags
