"""Generated pairs and tagged sentences with a known distribution."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, ParameterTypeError, public
from .._parallel import RandomStateLike, as_generator
from .._validation import check_bool, check_integer, check_real, is_integer

Array = np.ndarray
Distortion = Callable[[np.ndarray], ArrayLike]


@public
def make_calibrated_pairs(
    n_samples: int = 10_000,
    *,
    a: float = 0.5,
    b: float = 0.5,
    k: float = 0.0,
    transform: Distortion | None = None,
    return_frequency: bool = False,
    random_state: RandomStateLike = None,
) -> tuple[Array, ...]:
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

# Tags that may follow a tag, with weights that need not sum to one. No tag follows the
# full stop, so its row serves for the beginning of sentences.
FOLLOWERS = {
    "DT": "NN 10, JJ 5, NNS 4, NNP 2, CD 1, VBN 1",
    "JJ": "NN 9, NNS 5, JJ 1, CC 1, IN 1",
    "NN": "IN 7, VBZ 4, VBP 1, VBD 4, NN 3, CC 2, RB 2, MD 1, VBN 1",
    "NNS": "IN 7, VBP 4, VBZ 1, VBD 4, CC 2, RB 2, MD 1, VBN 1",
    "NNP": "NNP 6, VBZ 4, VBD 4, CC 2, IN 2, RB 1, MD 1",
    "PRP": "VBP 4, VBD 5, VBZ 4, RB 2, MD 2",
    "VB": "DT 8, NNS 3, JJ 2, IN 4, PRP 2, NNP 2, RB 1",
    "VBZ": "DT 6, VBN 4, JJ 2, IN 3, RB 3, NNS 2, NNP 1",
    "VBP": "DT 5, VBN 3, JJ 2, IN 3, RB 3, NNS 2, PRP 1",
    "VBD": "DT 7, IN 4, PRP 2, VBN 3, RB 2, NNS 2, NNP 1",
    "VBN": "IN 8, DT 2, RB 1, CC 1, NN 1, NNS 1",
    "MD": "VB 9, RB 2",
    "RB": "VBZ 2, VBP 2, VBD 3, VBN 3, JJ 3, VB 2, RB 1, IN 2, DT 1",
    "IN": "DT 9, NNP 4, NN 3, NNS 3, PRP 2, JJ 3, CD 2",
    "CC": "DT 3, NN 3, NNS 3, NNP 3, JJ 2, VBZ 2, VBP 2, VBD 2, VBN 1, PRP 1",
    "CD": "NNS 8, NN 3, IN 2",
    ".": "DT 8, NNP 5, PRP 5, NNS 3, NN 1, JJ 2, IN 3, RB 2, CD 1",
}
TAGS = tuple(FOLLOWERS)
FULL_STOP = START = TAGS.index(".")

# Factors on these weights, by the tag before the previous one: agreement across an
# adverb, verb forms after an auxiliary, one finite verb per clause, equal conjuncts.
SECOND_ORDER = {
    ("NN", "RB"): "VBZ 5, VBD 3, VBP 0, VB 0, VBN .3, JJ .2",
    ("NNP", "RB"): "VBZ 5, VBD 3, VBP 0, VB 0, VBN .3, JJ .2",
    ("NNS", "RB"): "VBP 5, VBD 3, VBZ 0, VB 0, VBN .3, JJ .2",
    ("PRP", "RB"): "VBP 3, VBD 3, VBZ 1, VB 0, VBN .2, JJ .1",
    ("MD", "RB"): "VB 20, VBZ 0, VBP 0, VBD 0, VBN 0, JJ 0, IN 0, DT 0",
    ("VBZ", "RB"): "VBN 5, JJ 3, VBZ 0, VBP 0, VBD 0, VB 0",
    ("VBP", "RB"): "VBN 5, JJ 3, VBZ 0, VBP 0, VBD 0, VB 0",
    ("VBD", "RB"): "VBN 5, JJ 2, VBZ 0, VBP 0, VBD 0, VB 0",
    ("VBZ", "NNS"): "VBZ 0, VBP 0, VBD 0, MD 0, VBN 3",
    ("VBP", "NNS"): "VBZ 0, VBP 0, VBD 0, MD 0, VBN 3",
    ("VBD", "NNS"): "VBZ 0, VBP 0, VBD 0, MD 0, VBN 3",
    ("VB", "NNS"): "VBZ 0, VBP 0, VBD 0, MD 0, VBN 3",
    ("IN", "NN"): "VBZ .3, VBP 4, NN .5",
    ("IN", "NNS"): "VBP .3, VBZ 12",
    ("DT", "JJ"): "NN 2, NNS 1, CC .1, IN 0",
    ("VBZ", "JJ"): "NN .1, NNS .1, IN 6, CC 4",
    ("NN", "CC"): "NN 8, DT 2",
    ("NNS", "CC"): "NNS 8, DT 2",
    ("NNP", "CC"): "NNP 12",
    ("JJ", "CC"): "JJ 20",
    ("VBN", "CC"): "VBN 30",
}

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
    lengths = 3 + generator.poisson(
        generator.gamma(4, (mean_length - 3) / 4, n_sentences)
    )
    tags = _draw_tags(lengths, _transitions(order), generator)
    words = _draw_words(tags, vocabulary, generator)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    if order == 2:
        words[starts] = [word[0].upper() + word[1:] for word in words[starts]]
    names = np.array(TAGS, dtype=object)[tags]
    bounds = list(zip(starts.tolist(), ends.tolist(), strict=True))
    X = [words[start:end].tolist() for start, end in bounds]
    y = [names[start:end].tolist() for start, end in bounds]
    return X, y


# Tags.


def _weights(text: str) -> dict[int, float]:
    pairs = [pair.split() for pair in text.split(",")]
    return {TAGS.index(tag): float(weight) for tag, weight in pairs}


def _transitions(order: int) -> np.ndarray:
    """Return cumulative probabilities [tag two back, tag before, tag]."""
    first = np.zeros((len(TAGS), len(TAGS)))
    for tag, text in FOLLOWERS.items():
        for follower, weight in _weights(text).items():
            first[TAGS.index(tag), follower] = weight
    both = np.tile(first, (len(TAGS), 1, 1))
    if order == 2:
        for (two_back, before), text in SECOND_ORDER.items():
            row = both[TAGS.index(two_back), TAGS.index(before)]
            for follower, factor in _weights(text).items():
                row[follower] *= factor
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
