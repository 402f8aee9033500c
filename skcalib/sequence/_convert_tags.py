"""Conversion of the tags of entities from one scheme to another."""

from __future__ import annotations

from collections.abc import Sequence

from .._entities import WRITTEN, as_scheme, find_entities, read_tags, tags_of_entity
from .._errors import ParameterError, public
from .._validation import as_label_lists

_HINTS = {
    "IOB1": " If B- begins every entity, the scheme is 'IOB2'.",
    "IOE1": " If E- ends every entity, the scheme is 'IOE2'.",
}


@public
def convert_tags(
    y: Sequence[Sequence[str]], scheme: str, to: str = "BIO"
) -> list[list[str]]:
    """Rewrite the tags of entities in another scheme.

    Parameters
    ----------
    y : sequence of sequences of str
        Tags of each sentence.
    scheme : str
        Scheme of `y`: one of the names that :func:`~skcalib.metrics.span_statistics`
        accepts.
    to : {'BIO', 'BILOU', 'IOBES', 'IOE2'}, default='BIO'
        Scheme of the result. As for `scheme`, synonyms such as 'BIOES' and names in
        lower case are accepted.

    Returns
    -------
    converted : list of list of str
        Tags of the same entities.

    Raises
    ------
    ValueError
        If a tag does not belong to `scheme`, or if a tag is not part of an entity. The
        message names the sentence and the token.
    TypeError
        If `y` is not a sequence of sequences.

    See Also
    --------
    skcalib.metrics.span_statistics : Count entities; describes the schemes.
    skcalib.queries.SpanQuery : Probabilities of entities.

    Examples
    --------
    The tags of CoNLL-2003 are IOB1:

    >>> from skcalib.sequence import convert_tags
    >>> y = [["I-PER", "B-PER", "I-PER", "O", "I-LOC"]]
    >>> convert_tags(y, "IOB1")
    [['B-PER', 'B-PER', 'I-PER', 'O', 'B-LOC']]
    >>> convert_tags(y, "IOB1", "IOBES")
    [['S-PER', 'B-PER', 'E-PER', 'O', 'S-LOC']]
    """
    source, target = as_scheme(scheme), as_scheme(to)
    if target not in WRITTEN:
        problem = f"must be one of {list(WRITTEN)}. Got {to!r} instead."
        raise ParameterError("to", problem)
    sentences = as_label_lists(y, name="y")
    tags = [tag for sentence in sentences for tag in sentence]
    meaning = read_tags(tags, source, "y", list(map(len, sentences)))
    converted = []
    for i, sentence in enumerate(sentences):
        new = ["O"] * len(sentence)
        read = [meaning[tag] for tag in sentence]
        for start, stop, label in find_entities(read, source):
            new[start:stop] = tags_of_entity(stop - start, label, target)
        for t, (old, tag) in enumerate(zip(sentence, new, strict=True)):
            if tag == "O" != old:
                raise ParameterError(
                    "y",
                    f"must have tags of entities in the scheme {scheme!r}. Got {old!r} "
                    f"for token {t} of sentence {i}, which is not part of an entity."
                    f"{_HINTS.get(source, '')}",
                )
        converted.append(new)
    return converted
