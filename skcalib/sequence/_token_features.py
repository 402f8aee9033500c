"""Attributes of tokens for a CRF."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain, pairwise
from reprlib import repr as short_repr
from sys import intern
from typing import Any, NoReturn

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction import FeatureHasher
from sklearn.utils import Tags

from .._compat import RaggedTransformer
from .._errors import ParameterError, ParameterTypeError, public
from .._results import object_array
from .._validation import check_choice
from ._attributes import WORD
from ._base import Words, all_words, check_sentences

_SHAPES = (
    (re.compile(r"[A-Z]+"), "X"),
    (re.compile(r"[a-z]+"), "x"),
    (re.compile(r"[0-9]+"), "0"),
)
_WORD_AT = {distance: intern(f"word{distance:+d}") for distance in (-2, -1, 1, 2)}
_PREFIX = {size: intern(f"prefix{size}") for size in range(1, 5)}
_SUFFIX = {size: intern(f"suffix{size}") for size in range(1, 5)}
_REACH = 2
# Stands for the words before the first token and after the last token.
_BORDER = "<border>"
_N_COLUMNS = 2**20


def shape_of(word: str) -> str:
    """Replace each run of capitals, small letters or digits by one character."""
    for pattern, sign in _SHAPES:
        word = pattern.sub(sign, word)
    return word


def word_features(word: str) -> dict[str, str]:
    """Return the advanced attributes that depend on the word alone.

    The attributes for the neighbouring words are set as if the word were the whole
    sentence.
    """
    # Equal interned values are one object, which saves memory and allows lookups by
    # pointer.
    features = {
        WORD: intern(word),
        "lower": intern(word.lower()),
        "shape": intern(shape_of(word)),
        "length": intern(str(len(word))),
    }
    features |= dict.fromkeys(_WORD_AT.values(), _BORDER)
    for size in range(1, min(4, len(word)) + 1):
        features[_PREFIX[size]] = intern(word[:size])
        features[_SUFFIX[size]] = intern(word[-size:])
    return features


def basic_rows(sentences: list[list[str]]) -> list[list[dict]]:
    """Return one attribute per token, the word itself."""
    return [[{WORD: str(word)} for word in sentence] for sentence in sentences]


def advanced_rows(sentences: list[list[str]]) -> list[list[dict]]:
    """Return word, context, shape, length, prefixes and suffixes."""
    # The attributes of a word are computed once for all its occurrences.
    of = {
        word: word_features(str(word)) for word in set(chain.from_iterable(sentences))
    }
    border = [_BORDER] * _REACH
    first, second, fourth, fifth = _WORD_AT.values()
    rows = []
    for sentence in sentences:
        row = [of[word].copy() for word in sentence]
        words = border + [features[WORD] for features in row] + border
        around = (words, words[1:], words[3:], words[4:])
        for features, a, b, d, e in zip(row, *around, strict=False):
            features[first] = a
            features[second] = b
            features[fourth] = d
            features[fifth] = e
        rows.append(row)
    return rows


def _hash(rows: list[dict]) -> csr_array:
    """Return rows of attributes hashed to columns."""
    if not rows:
        return csr_array((0, _N_COLUMNS))
    return csr_array(FeatureHasher(_N_COLUMNS, alternate_sign=False).transform(rows))


TEMPLATES = {"basic": basic_rows, "advanced": advanced_rows}


def _raise_for_row(sentences: list[list[dict]], error: Exception) -> NoReturn:
    """Raise an error that names the token whose attributes cannot be hashed."""
    for i, rows in enumerate(sentences):
        for t, row in enumerate(rows):
            where = (
                f"cannot be hashed at sentence {i}, token {t}: output='sparse' takes"
            )
            try:
                _hash([row])
            except UnicodeEncodeError as problem:
                text = f"{where} text that UTF-8 encodes. Got {problem.object!r:.50}."
                raise ParameterError("X", text) from None
            except (AttributeError, TypeError, ValueError):
                text = f"{where} dicts of str and numbers. Got {short_repr(row)}."
                raise ParameterTypeError("X", text) from None
    raise error


class TokenFeatures(RaggedTransformer):
    """Transform sentences of words into sentences of attributes.

    The transformer is stateless: `fit` need not be called.

    Parameters
    ----------
    template : {'advanced', 'basic'} or callable, default='advanced'
        Attributes of a token. 'basic' is the word itself. 'advanced' adds the word in
        lower case, the words at positions -2, -1, +1 and +2, the shape and the length
        of the word, and its prefixes and suffixes of 1 to 4 letters; CRFTagger is then
        trained for two to three times as long, and is much more accurate. A callable is
        called with (sentence, t) and returns a dict with the attributes of token t.
    output : {'dict', 'sparse'}, default='dict'
        Type of the output: 'dict' for dicts of attributes as in CRFsuite, 'sparse' for
        one CSR matrix per sentence, with attributes hashed to 2**20 columns.

    See Also
    --------
    CRFTagger : Conditional random field, which takes either output.

    References
    ----------
    .. [1] K. Nguyen. "Calibration for natural language processing systems". Honours
       thesis, University of Massachusetts Amherst. Section 4.1.

    Examples
    --------
    >>> from skcalib.sequence import TokenFeatures
    >>> token = TokenFeatures().transform([["A", "dog"]])[0][1]
    >>> token["shape"], token["word-1"], token["suffix2"]
    ('x', 'A', 'og')
    >>> TokenFeatures("basic").transform([["A", "dog"]])[0]
    [{'word': 'A'}, {'word': 'dog'}]
    """

    def __init__(
        self,
        template: str | Callable[[list[str], int], dict] = "advanced",
        *,
        output: str = "dict",
    ):
        self.template = template
        self.output = output

    @public
    def fit(self, X: Words, y: Any = None) -> TokenFeatures:
        """Validate the parameters.

        Parameters
        ----------
        X : sequence of sentences of str
            Not used.
        y : None
            Not used.

        Returns
        -------
        self : TokenFeatures
            The transformer.
        """
        self._check_params()
        return self

    def _check_params(self) -> None:
        check_choice(self.output, ("dict", "sparse"), name="output")
        if not callable(self.template):
            check_choice(self.template, tuple(TEMPLATES), name="template")

    @public
    def transform(self, X: Words) -> np.ndarray:
        """Return the attributes of each token.

        Parameters
        ----------
        X : sequence of sentences of str
            Words of each sentence.

        Returns
        -------
        features : ndarray of shape (n_sentences,), object
            For each sentence, a list of dicts or a CSR matrix with one row per token.

        Raises
        ------
        TypeError
            If `X` is not a sequence of sentences of str, or if attributes returned by a
            callable cannot be hashed.
        ValueError
            If `template` or `output` is unknown, or if text to hash cannot be encoded
            in UTF-8.
        """
        self._check_params()
        # as lists, since a pandas Series is indexed by its labels
        sentences = list(map(list, check_sentences(X)))
        all_words(sentences)
        rows = self._rows(sentences)
        if self.output == "dict":
            return object_array(rows)
        try:
            matrix = _hash(list(chain.from_iterable(rows)))
        except (AttributeError, TypeError, ValueError) as error:
            _raise_for_row(rows, error)
        ends = np.cumsum([0, *map(len, sentences)]).tolist()
        return object_array([matrix[a:b] for a, b in pairwise(ends)])

    def _rows(self, sentences: list[list[str]]) -> list[list[dict]]:
        """Return the attributes of each token."""
        template = self.template
        if not callable(template):
            return TEMPLATES[template](sentences)
        return [
            [template(sentence, t) for t in range(len(sentence))]
            for sentence in sentences
        ]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags
