"""Tags of entities from one scheme to another."""

import itertools

import pytest
from cases import case
from hypothesis import given
from hypothesis import strategies as st

from skcalib.sequence import convert_tags

# One sentence in every scheme: x, x, y, nothing, x of three tokens, x.
WRITTEN = {
    "IOB1": "I-x B-x I-y O I-x I-x I-x B-x",
    "IOB2": "B-x B-x B-y O B-x I-x I-x B-x",
    "IOE1": "E-x I-x I-y O I-x I-x E-x I-x",
    "IOE2": "E-x E-x E-y O I-x I-x E-x E-x",
    "BIOES": "S-x S-x S-y O B-x I-x E-x S-x",
    "BILUO": "U-x U-x U-y O B-x I-x L-x U-x",
}


def test_one_sentence_in_all_schemes():
    for to in ["IOB2", "IOE2", "BIOES", "BILUO"]:
        for scheme in WRITTEN:
            with case(f"{scheme} to {to}"):
                assert convert_tags([WRITTEN[scheme].split(), []], scheme, to) == [
                    WRITTEN[to].split(),
                    [],
                ]


# The prefixes with which an entity begins, and those with which it ends.
ENDS = {
    "BIO": ("B", ""),
    "IOE2": ("", "E"),
    "BILOU": ("BU", "LU"),
    "IOBES": ("BS", "ES"),
}


def entities(tags, scheme):
    """Return first token, end and type of each entity, by the definition."""
    begins, ends = ENDS[scheme]
    found, start = [], None
    for t, (tag, after) in enumerate(itertools.pairwise([*tags, "O"])):
        if tag != "O":
            start = t if tag[0] in begins or start is None else start
            if tag[0] in ends or after == "O" or after[0] in begins:
                found.append((start, t + 1, tag[2:]))
                start = None
    return found


@given(
    st.lists(
        st.one_of(
            st.just(["O"]),
            st.tuples(st.sampled_from(["B-x", "B-y"]), st.integers(0, 3)).map(
                lambda entity: [entity[0]] + ["I" + entity[0][1:]] * entity[1]
            ),
        )
    ).map(lambda parts: sum(parts, []))
)
def test_entities_stay_and_there_and_back_is_the_same(tags):
    for scheme in ("BILOU", "IOBES", "IOE2"):
        (other,) = convert_tags([tags], "BIO", scheme)
        assert entities(other, scheme) == entities(tags, "BIO")
        assert convert_tags([other], scheme) == [tags]


def test_tags_without_a_label():
    assert convert_tags([["I", "B", "O"]], "iob1", "bioes") == [["S", "S", "O"]]


def test_what_cannot_be_converted():
    cases = [
        ([["O"], ["O", "I-x"]], "BIO", "BIO", ValueError, "'I-x' for token 1 of sen"),
        ([["B-x", "I-x"]], "IOB1", "BIO", ValueError, "'B-x' for token 0 of sent"),
        ([["B-x"]], "IOB1", "BIO", ValueError, "B- begins every .* is 'IOB2'"),
        ([["E-x"]], "IOE1", "BIO", ValueError, "E- ends every .* is 'IOE2'"),
        ([["O", "E-x"]], "BIO", "BIO", ValueError, "scheme 'BIO'.* Got 'E-x' for tok"),
        ([["O"]], "IOB", "BIO", ValueError, "'scheme' .* of convert_tags"),
        ([["O"]], "IOB1", "IOE1", ValueError, "'to' parameter .* Got 'IOE1'"),
        (["O"], "IOB1", "BIO", TypeError, "'y'"),
    ]
    for y, scheme, to, error, message in cases:
        with case(message), pytest.raises(error, match=message):
            convert_tags(y, scheme, to)
