"""Generated pairs and tagged sentences with a known distribution."""

from __future__ import annotations

import tomllib
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, ParameterTypeError, public
from .._parallel import RandomStateLike, as_generator
from .._validation import check_bool, check_integer, check_real, is_integer
from ._files import data_file


@public
def make_calibrated_pairs(
    n_samples: int = 10_000,
    *,
    a: float = 0.5,
    b: float = 0.5,
    k: float = 0.0,
    transform: Callable[[np.ndarray], ArrayLike] | None = None,
    return_frequency: bool = False,
    random_state: RandomStateLike = None,
) -> tuple[np.ndarray, ...]:
    """Generate labels and probabilities with known calibration.

    Probabilities q are drawn from Beta(a, b), and a label is 1 with probability t(q)
    (section 4.3 of [1]_). With k = 0, t(q) = q and the pairs are perfectly calibrated.
    Otherwise t(q) = max(0, q - k) for q up to 0.5 and min(1, q + k) above, so that the
    probabilities q are underconfident (not extreme enough).

    Parameters
    ----------
    n_samples : int, default=10_000
        Number of pairs.
    a, b : float, default=0.5
        Parameters of the Beta distribution of q. (0.5, 0.5) is U-shaped; (0.1, 2) has
        most of its mass near 0, like the probabilities of a single tag.
    k : float, default=0.0
        Distortion, in [0, 0.5].
    transform : callable, default=None
        Function t that is used instead of `k`. It receives q of shape (n_samples,) and
        returns the label frequencies, of the same shape and in [0, 1].
    return_frequency : bool, default=False
        Whether t(q) is also returned.
    random_state : int, RandomState, Generator or None, default=None
        Random state used to draw the pairs.

    Returns
    -------
    y_true : ndarray of shape (n_samples,), int
        Labels.
    y_proba : ndarray of shape (n_samples,), float
        Probabilities q.
    frequency : ndarray of shape (n_samples,), float
        Values t(q). Only returned if `return_frequency` is True. The true calibration
        error of the sample is ``np.sqrt(np.mean((y_proba - frequency) ** 2))``.

    References
    ----------
    .. [1] K. Nguyen. "Calibration for natural language processing systems". Honours
       thesis, University of Massachusetts Amherst. In the thesis, t(q) for q above 0.5
       is misprinted with min(0, .) instead of min(1, .).

    Examples
    --------
    >>> from skcalib.datasets import make_calibrated_pairs
    >>> y_true, y_proba = make_calibrated_pairs(1000, random_state=0)
    >>> y_true.shape, y_proba.shape
    ((1000,), (1000,))
    >>> _, q, t = make_calibrated_pairs(
    ...     1000, k=0.1, return_frequency=True, random_state=0
    ... )
    >>> float(abs(q - t).max().round(3))
    0.1
    """
    n_samples = check_integer(n_samples, minimum=1, name="n_samples")
    for name, value in (("a", a), ("b", b)):
        check_real(value, low=1e-6, high=1e6, name=name)
    check_real(k, low=0, high=0.5, name="k")
    check_bool(return_frequency, name="return_frequency")
    if transform is not None and not callable(transform):
        problem = f"must be a callable or None. Got {transform!r} instead."
        raise ParameterTypeError("transform", problem)
    if transform is not None and k:
        raise ParameterError(None, f"takes 'k' or 'transform', not both. Got k={k!r}.")
    generator = as_generator(random_state)
    q = generator.beta(a, b, n_samples)
    if transform is None:
        frequency = np.where(q <= 0.5, np.maximum(0, q - k), np.minimum(1, q + k))
    else:
        # a copy, because the function may modify its argument
        frequency = _check_frequencies(transform(q.copy()), n_samples)
    y = (generator.random(n_samples) < frequency).astype(np.int64)
    return (y, q, frequency) if return_frequency else (y, q)


def _check_frequencies(values: ArrayLike, n: int) -> np.ndarray:
    found = np.asarray(values)
    got = ""
    if found.shape != (n,) or found.dtype.kind not in "biuf":
        got = f"an array of shape {found.shape} and type {found.dtype}"
    elif not ((found >= 0) & (found <= 1)).all():
        got = f"values from {found.min()} to {found.max()}"
    if got:
        problem = f"must return {n} frequencies in [0, 1]. Got {got}."
        raise ParameterError("transform", problem)
    return found.astype(np.float64)


# Tagged sentences.

# In the order of the states in the random draws.
TAGS = (
    *("DT", "JJ", "NN", "NNS", "NNP", "PRP", "VB", "VBZ", "VBP", "VBD", "VBN"),
    *("MD", "RB", "IN", "CC", "CD", "."),
)
FULL_STOP = START = TAGS.index(".")

# A syllable is an onset and a vowel, a stem is syllables and a coda.
# Arrays of objects, because adding them concatenates the strings.
ONSETS = np.array([*"bdfgklmnprstv", "br", "dr", "gl", "kr", "pl", "st", "tr"], object)
VOWELS = np.array([*"aeiou", "ai", "ea", "ou"], object)
CODAS = np.array(["", "", *"nrltm", "nd", "rk", "st"], object)

SHORT = 10  # words of a closed class
ADVERBS_ALSO_PREPOSITIONS = 3


@public
def make_tagged_sentences(
    n_sentences: int = 1000,
    *,
    mean_length: float = 15.0,
    n_words: int = 2000,
    order: int = 2,
    random_state: RandomStateLike = None,
) -> tuple[list[list[str]], list[list[str]]]:
    """Generate sentences of an English-like artificial language with tags.

    With ``order=2`` a first-order hidden Markov model is misspecified, as for real
    text: each tag depends on the two preceding tags, and the spelling of a word is more
    informative than its identity. With ``order=1`` a hidden Markov model is correctly
    specified.

    Parameters
    ----------
    n_sentences : int, default=1000
        Number of sentences.
    mean_length : float, default=15.0
        Mean number of tokens of a sentence, at least 3, including the full stop.
    n_words : int, default=2000
        Number of stems of nouns, at least 50. Half of these stems are also used for
        verbs. There are n_words / 2 further stems for adjectives and as many for names.
    order : {1, 2}, default=2
        Number of preceding tags that a tag depends on.
    random_state : int, RandomState, Generator or None, default=None
        Random state used to draw the vocabulary and the sentences. A training and a
        test set must therefore be two parts of the sentences of one call.

    Returns
    -------
    X : list of list of str
        Tokens of each sentence.
    y : list of list of str
        Tags of each sentence. There are 17 tags, named as in the Penn Treebank.

    See Also
    --------
    make_calibrated_pairs : Labels and probabilities with known calibration.

    Notes
    -----
    The sentences are generated as follows:

    1. A sentence has 3 + Poisson(g) tokens, where g has a Gamma distribution of shape
       4. The last token is the full stop, which occurs nowhere else.
    2. Tags are drawn from a Markov chain with a table of transition weights. With
       ``order=2`` the weights also depend on the tag before the previous one: verbs
       agree in number with a noun across an adverb, a second finite verb does not
       follow an object, conjuncts have the same tag.
    3. Words of a class are drawn by Zipf's law: the r-th most frequent word has weight
       1 / (r + 2). The classes DT, PRP, MD, IN and CC have ten short words each. Three
       of the prepositions are also adverbs. Numbers are digits.
    4. All other words consist of a stem and a suffix, and the suffix is informative
       about the tag. Nouns and verbs share stems, with slightly different frequencies.
       The bare stem is NN, VB or VBP; with -s it is NNS or VBZ, and with -ed it is VBD
       or VBN. Adjectives end in -ous, -ful, -al or -ic, and adverbs add -ly to these
       endings. Names begin with a capital letter.
    5. With ``order=2`` the first word of a sentence also begins with a capital letter.

    Given its tag, every word except the first is independent of all other words and
    tags.

    Examples
    --------
    >>> from skcalib.datasets import make_tagged_sentences
    >>> X, y = make_tagged_sentences(100, random_state=0)
    >>> len(X), len(y), X[0][-1], y[0][-1]
    (100, 100, '.', '.')
    """
    n_sentences = check_integer(n_sentences, minimum=1, name="n_sentences")
    check_real(mean_length, low=3, high=1e4, name="mean_length")
    n_words = check_integer(n_words, minimum=50, name="n_words")
    if not is_integer(order) or order not in (1, 2):
        raise ParameterError("order", f"must be 1 or 2. Got {order!r} instead.")
    generator = as_generator(random_state)
    vocabulary = _make_vocabulary(n_words, generator)
    mean = generator.gamma(4, (mean_length - 3) / 4, n_sentences)
    lengths = 3 + generator.poisson(mean)
    tags = _draw_tags(lengths, _transitions(order), generator)
    words = _draw_words(tags, vocabulary, generator)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    if order == 2:
        words[starts] = [word[0].upper() + word[1:] for word in words[starts]]
    names = np.array(TAGS, dtype=object)[tags]
    bounds = list(zip(starts.tolist(), ends.tolist(), strict=True))
    X = [words[start:end].tolist() for start, end in bounds]
    return X, [names[start:end].tolist() for start, end in bounds]


# Tags.


def _transitions(order: int) -> np.ndarray:
    """Return cumulative probabilities [tag two back, tag before, tag]."""
    weights = tomllib.loads(data_file("tag_transitions.toml"))
    index = {tag: k for k, tag in enumerate(TAGS)}
    first = np.zeros((len(TAGS), len(TAGS)))
    for tag, followers in weights["followers"].items():
        for follower, weight in followers.items():
            first[index[tag], index[follower]] = weight
    both = np.tile(first, (len(TAGS), 1, 1))
    if order == 2:
        for two_back, rows in weights["second_order"].items():
            for before, factors in rows.items():
                for follower, factor in factors.items():
                    both[index[two_back], index[before], index[follower]] *= factor
    cumulative = np.cumsum(both, axis=2)
    return cumulative / cumulative[:, :, -1:]


def _draw_tags(
    lengths: np.ndarray, cumulative: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """Return the concatenated tags of all sentences, drawn in parallel."""
    padded = np.full((lengths.size, lengths.max()), FULL_STOP)
    # Longest first: the sentences that continue at a position are the first rows.
    by_length = np.argsort(-lengths, kind="stable")
    longest_first = lengths[by_length]
    two_back = before = np.full(lengths.size, START)
    for position in range(lengths.max() - 1):
        n_open = np.searchsorted(-longest_first, -(position + 1))
        rows = cumulative[two_back[:n_open], before[:n_open]]
        tag = (rows <= generator.random((n_open, 1))).sum(axis=1)
        padded[by_length[:n_open], position] = tag
        two_back, before = before, tag
    return padded[np.arange(lengths.max()) < lengths[:, np.newaxis]]


# Words.


def _draw_words(
    tags: np.ndarray, vocabulary: dict[str, np.ndarray], generator: np.random.Generator
) -> np.ndarray:
    words = np.empty(tags.size, dtype=object)
    for k, tag in enumerate(TAGS):
        where = np.flatnonzero(tags == k)
        forms = vocabulary[tag]
        cumulative = np.cumsum(1 / (np.arange(forms.size) + 3))
        draws = generator.random(where.size) * cumulative[-1]
        words[where] = forms[np.searchsorted(cumulative, draws, side="right")]
    return words


def _make_vocabulary(
    n_words: int, generator: np.random.Generator
) -> dict[str, np.ndarray]:
    """Return the forms of each tag, the most frequent first."""
    short = _make_stems(5 * SHORT, 1, generator).reshape(5, SHORT)
    long = _make_stems(2 * n_words, 2, generator)
    nouns, adjectives, names = np.split(long, [n_words, n_words + n_words // 2])
    endings = np.array(["ous", "ful", "al", "ic"], dtype=object)
    adjectives = adjectives + endings[generator.integers(4, size=adjectives.size)]
    particles = short[3, :ADVERBS_ALSO_PREPOSITIONS]
    verbs = _jumble(nouns, generator)[: n_words // 2]
    return {
        "DT": short[0],
        "JJ": adjectives,
        "NN": nouns,
        "NNS": _jumble(nouns, generator) + "s",
        "NNP": np.array([name.capitalize() for name in names], dtype=object),
        "PRP": short[1],
        "VB": verbs,
        "VBZ": verbs + "s",
        "VBP": verbs,
        "VBD": verbs + "ed",
        "VBN": _jumble(verbs, generator) + "ed",
        "MD": short[2],
        "RB": np.concatenate([particles, adjectives[: n_words // 4] + "ly"]),
        "IN": short[3],
        "CC": short[4],
        "CD": generator.permutation(1000).astype(str).astype(object),
        ".": np.array(["."], dtype=object),
    }


def _jumble(words: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Return the words in a similar order, with ranks multiplied by random factors."""
    ranks = np.arange(1, words.size + 1)
    return words[np.argsort(ranks * np.exp(generator.normal(size=words.size)))]


def _make_stems(n: int, n_syllables: int, generator: np.random.Generator) -> np.ndarray:
    """Return n distinct stems; some long stems have an additional syllable."""
    found: dict[str, None] = {}
    while len(found) < n:
        stems = np.full(2 * n, "", dtype=object)
        for syllable in range(n_syllables + 1):
            more = generator.choice(ONSETS, 2 * n) + generator.choice(VOWELS, 2 * n)
            if syllable == n_syllables:
                more[(generator.random(2 * n) < 0.7) | (n_syllables == 1)] = ""
            stems += more
        stems += generator.choice(CODAS, 2 * n)
        found.update(dict.fromkeys(stems.tolist()))
    return np.array(list(found)[:n], dtype=object)
