"""Statistics of BLEU, chrF and TER from sacrebleu, and scores of summed statistics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .._errors import ParameterError, public
from .._validation import as_entries

# Largest orders of word n-grams in BLEU, and of character and word n-grams in chrF++.
_BLEU_ORDER, _CHRF_ORDER, _WORD_ORDER = 4, 6, 2

# chrF weighs recall by this factor.
_CHRF_BETA = 2


@public
def bleu_statistics(
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    tokenize: str = "13a",
) -> np.ndarray:
    """Compute the sufficient statistics of BLEU for each sentence.

    Parameters
    ----------
    hypotheses : sequence of str
        Translations of a system, one per sentence.
    references : sequence of str, or sequence of sequences of str
        References, one per sentence; or several such sequences.
    tokenize : str, default="13a"
        Tokeniser of sacrebleu, such as ``"zh"`` for Chinese, ``"ja-mecab"`` for
        Japanese, or ``"char"`` or ``"flores200"`` for any language. ``"ja-mecab"`` and
        ``"flores200"`` need further packages.

    Returns
    -------
    statistics : ndarray of shape (n_sentences, 10), int
        Length of the translation, length of the reference, numbers of matching n-grams
        and numbers of all n-grams for n from 1 to 4. Use them with ``statistic=bleu``.

    Raises
    ------
    ImportError
        If sacrebleu is not installed.
    ValueError
        If the numbers of sentences differ.

    See Also
    --------
    bleu : Compute BLEU from summed statistics.

    Notes
    -----
    The defaults are those of sacrebleu (13a, mixed case) [1]_. The tokeniser 13a, and
    each other one that takes words between spaces, is wrong for a text without spaces.

    References
    ----------
    .. [1] M. Post (2018). "A call for clarity in reporting BLEU scores". Proceedings of
       the third conference on machine translation.

    Examples
    --------
    >>> from skcalib.significance import bleu, bleu_statistics
    >>> said = ["the cat sat on the mat ."]
    >>> bleu_statistics(said, ["the cat sat on a mat ."])  # doctest: +SKIP
    array([[7, 7, 6, 4, 2, 1, 7, 6, 5, 4]])
    """
    found = _statistics("BLEU", hypotheses, references, tokenize=tokenize)
    return found.astype(np.int64)


@public
def chrf_statistics(
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    word_order: int = 0,
) -> np.ndarray:
    """Compute the sufficient statistics of chrF for each sentence.

    Parameters
    ----------
    hypotheses : sequence of str
        Translations of a system, one per sentence.
    references : sequence of str, or sequence of sequences of str
        References, one per sentence; or several such sequences.
    word_order : int, default=0
        Largest order of word n-grams: 0 for chrF and 2 for chrF++.

    Returns
    -------
    statistics : ndarray of shape (n_sentences, 18 + 3 * word_order), int
        Numbers of n-grams in the translation, in the reference and in both, for n from
        1 to 6 characters, and then from 1 to `word_order` words. Use them with
        ``statistic=chrf``.

    Raises
    ------
    ImportError
        If sacrebleu is not installed.
    ValueError
        If the numbers of sentences differ.

    See Also
    --------
    chrf : Compute chrF from summed statistics.

    Examples
    --------
    >>> from skcalib.significance import chrf_statistics
    >>> chrf_statistics(["a cat"], ["the cat"]).shape  # doctest: +SKIP
    (1, 18)
    """
    found = _statistics("CHRF", hypotheses, references, word_order=word_order)
    return found.astype(np.int64)


@public
def ter_statistics(
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    asian_support: bool = False,
) -> np.ndarray:
    """Compute the sufficient statistics of TER for each sentence.

    Parameters
    ----------
    hypotheses : sequence of str
        Translations of a system, one per sentence.
    references : sequence of str, or sequence of sequences of str
        References, one per sentence; or several such sequences.
    asian_support : bool, default=False
        Whether Chinese and Japanese texts, which have no spaces, are normalised and
        split into characters.

    Returns
    -------
    statistics : ndarray of shape (n_sentences, 2)
        Number of edits and length of the reference (the mean length if there are
        several references). Use them with ``statistic=ter``. A lower translation edit
        rate (TER) is better.

    Raises
    ------
    ImportError
        If sacrebleu is not installed.
    ValueError
        If the numbers of sentences differ.

    See Also
    --------
    ter : Compute TER from summed statistics.

    Examples
    --------
    >>> from skcalib.significance import ter_statistics
    >>> ter_statistics(["a cat"], ["the cat"])  # doctest: +SKIP
    array([[1., 2.]])
    """
    # sacrebleu splits the characters in its normalisation only.
    settings = {"asian_support": asian_support, "normalized": asian_support}
    return _statistics("TER", hypotheses, references, **settings)


def bleu(sums: np.ndarray) -> np.ndarray:
    """Return BLEU (0 to 100) of summed statistics, with exponential smoothing.

    Parameters
    ----------
    sums : ndarray of shape (..., 10)
        Sums of the rows of :func:`bleu_statistics`.

    Returns
    -------
    score : ndarray of shape (...)
        BLEU of each row of sums.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.significance import bleu
    >>> round(float(bleu(np.array([7, 7, 6, 4, 2, 1, 7, 6, 5, 4]))), 2)
    48.89
    """
    sums = _as_sums(sums, 10, "bleu")
    rows = sums.reshape(-1, sums.shape[-1]).tolist()
    return np.array(list(map(_bleu_of_one, rows))).reshape(sums.shape[:-1])


def _bleu_of_one(sums: list[float]) -> float:
    """Return BLEU with Python's logarithms, to match sacrebleu to the last digit."""
    length, reference, *counts = sums
    right, total = counts[:_BLEU_ORDER], counts[_BLEU_ORDER:]
    if not any(right):
        return 0.0
    penalty = math.exp(1 - reference / length) if length < reference else 1.0
    # sacrebleu's logarithm of 0; n-grams that are longer than all sentences keep it.
    smooth, logs = 1.0, [-9999999999.0] * _BLEU_ORDER
    for n in range(_BLEU_ORDER):
        if total[n] == 0:
            break
        # The k-th order without a match counts as a fraction 1 / 2^k of one match.
        if right[n] == 0:
            smooth *= 2
            logs[n] = math.log(100.0 / (smooth * total[n]))
        else:
            logs[n] = math.log(100.0 * right[n] / total[n])
    return penalty * math.exp(sum(logs) / _BLEU_ORDER)


def chrf(sums: np.ndarray) -> np.ndarray:
    """Return chrF2 or chrF2++ (0 to 100) of summed statistics.

    Parameters
    ----------
    sums : ndarray of shape (..., 18) or (..., 24)
        Sums of the rows of :func:`chrf_statistics`.

    Returns
    -------
    score : ndarray of shape (...)
        The score of each row of sums: chrF2, or chrF2++ of 24 columns.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.significance import chrf
    >>> float(chrf(np.array([4, 4, 2] * 6)))
    50.0
    """
    n_columns = 3 * (_CHRF_ORDER + _WORD_ORDER)
    if np.shape(sums)[-1:] != (n_columns,):
        n_columns = 3 * _CHRF_ORDER
    sums = _as_sums(sums, n_columns, "chrf")
    said, reference, both = sums[..., 0::3], sums[..., 1::3], sums[..., 2::3]
    # As in sacrebleu, orders that one side does not have are left out of the means.
    known = (said > 0) & (reference > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision, recall = np.zeros(said.shape[:-1]), np.zeros(said.shape[:-1])
        for n in range(n_columns // 3):  # summed in sacrebleu's order
            precision += np.where(known[..., n], both[..., n] / said[..., n], 0)
            recall += np.where(known[..., n], both[..., n] / reference[..., n], 0)
        count = known.sum(axis=-1)
        precision, recall = precision / count, recall / count
        factor = _CHRF_BETA**2
        score = (1 + factor) * precision * recall / (factor * precision + recall)
    return np.where((count > 0) & (precision + recall > 0), 100 * score, 0.0)


def ter(sums: np.ndarray) -> np.ndarray:
    """Return the translation edit rate (0 to 100 or more) of summed statistics.

    Parameters
    ----------
    sums : ndarray of shape (..., 2)
        Sums of the rows of :func:`ter_statistics`.

    Returns
    -------
    score : ndarray of shape (...)
        TER of each row of sums.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.significance import ter
    >>> float(ter(np.array([3.0, 12.0])))
    25.0
    """
    sums = _as_sums(sums, 2, "ter")
    edits, length = sums[..., 0], sums[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        score = 100 * (edits / length)
    return np.where(length > 0, score, np.where(edits > 0, 100.0, 0.0))


def _statistics(
    name: str, hypotheses: Any, references: Any, **settings: Any
) -> np.ndarray:
    """Return sacrebleu's statistics of each sentence."""
    said = _sentences(hypotheses, "hypotheses")
    sides = _references(references)
    for side in sides:
        if len(side) != len(said):
            raise ParameterError(
                None,
                "needs as many references as hypotheses. Got "
                f"{len(side)} references and {len(said)} hypotheses.",
            )
    metric = _metric(name, tuple(map(tuple, sides)), tuple(settings.items()))
    # sacrebleu's paired tests call this private method; there is no public one.
    return np.asarray(metric._extract_corpus_statistics(said, None), dtype=np.float64)


def signature(name: str, n_references: int, **settings: Any) -> str:
    """Return the signature that sacrebleu gives to its scores of these settings."""
    metric = _metric(name, (("",),) * n_references, tuple(settings.items()))
    return f"{metric.corpus_score([''], None).name}|{metric.get_signature()}"


def _as_sums(sums: Any, n_columns: int, name: str) -> np.ndarray:
    """Return sums of statistics, whose number of columns tells the metric."""
    found = np.asarray(sums, dtype=np.float64)
    if found.shape[-1:] != (n_columns,):
        raise ParameterError(
            "sums",
            f"must have the {n_columns} columns of {name}_statistics. Got shape "
            f"{found.shape}.",
            name,
        )
    return found


@lru_cache(maxsize=4)
def _metric(
    name: str,
    references: tuple[tuple[str, ...], ...],
    settings: tuple[tuple[str, Any], ...],
) -> Any:
    """Return a metric with cached reference counts, for use with many systems."""
    try:
        from sacrebleu import metrics
    except ImportError as error:
        raise ImportError(
            "BLEU, chrF and TER need sacrebleu, which is not installed. Install it "
            "with `pip install sacrebleu` or `pip install skcalib[mt]`."
        ) from error
    given = dict(settings)
    if given.get("tokenize", "13a") not in metrics.BLEU.TOKENIZERS:
        raise ParameterError(
            "tokenize",
            f"must be one of {', '.join(map(str, metrics.BLEU.TOKENIZERS))}. Got "
            f"{given['tokenize']!r}.",
        )
    if given.get("word_order", 0) not in (0, _WORD_ORDER):
        problem = f"must be 0 or {_WORD_ORDER}. Got {given['word_order']!r}."
        raise ParameterError("word_order", problem)
    try:
        return getattr(metrics, name)(references=[*map(list, references)], **given)
    except (ImportError, RuntimeError, OSError) as error:
        # sacrebleu loads packages of a tokeniser when it is used, and may fetch a file.
        why = " ".join(str(error).split())
        raise ImportError(
            f"The tokeniser {given.get('tokenize')!r} cannot be loaded: {why}"
        ) from error


def _references(references: Any) -> list[list[str]]:
    """Return one or several lists of references."""
    if isinstance(references, str):
        raise ParameterError("references", "must be a sequence of texts. Got a text.")
    several = as_entries(references, "references") or list(references)
    if several and not isinstance(several[0], str):
        return [_sentences(side, "references") for side in several]
    return [_sentences(several, "references")]


def _sentences(values: Any, name: str) -> list[str]:
    if isinstance(values, str):
        raise ParameterError(name, "must be a sequence of texts. Got a single text.")
    found = as_entries(values, name) or list(values)
    for k, text in enumerate(found):
        if not isinstance(text, str):
            problem = f"must contain texts. Got {type(text).__name__} in entry {k}."
            raise ParameterError(name, problem)
    if not found:
        raise ParameterError(name, "must contain at least one text. Got none.")
    return found
