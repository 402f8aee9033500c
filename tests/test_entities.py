"""Entities in tag sequences, worked by hand."""

import pytest
from cases import case

from skcalib._entities import (
    allowed_tags,
    as_scheme,
    find_entities,
    mend_tags,
    read_tags,
)


def tags_of(text, scheme):
    tags = text.split()
    meaning = read_tags(tags, scheme, "y", "the_caller")
    return [meaning[tag] for tag in tags]


def test_entities():
    cases = [
        ("BIO", "", []),
        ("BIO", "O O", []),
        ("BIO", "B-x I-x O B-x", [(0, 2, "x"), (3, 4, "x")]),
        ("BIO", "B-x B-x I-x", [(0, 1, "x"), (1, 3, "x")]),
        ("BIO", "B-x I-y I-x", [(0, 1, "x")]),
        ("BIO", "I-x O I-x", []),
        ("BIO", "B-new-york I-new-york", [(0, 2, "new-york")]),
        ("BILOU", "B-x I-x L-x U-y", [(0, 3, "x"), (3, 4, "y")]),
        ("BILOU", "B-x L-x B-x L-x", [(0, 2, "x"), (2, 4, "x")]),
        ("BILOU", "B-x I-x O", []),
        ("BILOU", "B-x L-y", []),
        ("BILOU", "B-x U-y L-x", [(1, 2, "y")]),
        ("BILOU", "B-x B-y L-y L-x", [(1, 3, "y")]),
        ("BILOU", "I-x L-x", []),
        ("IOBES", "B-x I-x E-x S-y", [(0, 3, "x"), (3, 4, "y")]),
        ("IOBES", "B-x I-x O S-x E-x", [(3, 4, "x")]),
        ("IOB1", "I-x I-x O I-y", [(0, 2, "x"), (3, 4, "y")]),
        ("IOB1", "I-x B-x I-x B-x", [(0, 1, "x"), (1, 3, "x"), (3, 4, "x")]),
        ("IOB1", "I-x I-y", [(0, 1, "x"), (1, 2, "y")]),
        ("IOB1", "B-x I-x", [(1, 2, "x")]),
        ("IOB1", "I-x B-y I-y", [(0, 1, "x"), (2, 3, "y")]),
        ("IOE2", "I-x E-x E-x", [(0, 2, "x"), (2, 3, "x")]),
        ("IOE2", "I-x I-x O E-y", [(3, 4, "y")]),
        ("IOE2", "I-x I-y E-y", [(1, 3, "y")]),
        ("IOE1", "I-x I-x O I-y", [(0, 2, "x"), (3, 4, "y")]),
        ("IOE1", "I-x E-x I-x", [(0, 2, "x"), (2, 3, "x")]),
        ("IOE1", "E-x I-x", [(0, 1, "x"), (1, 2, "x")]),
        ("IOE1", "I-x E-x O", []),
        ("IOE1", "I-x E-x I-y", [(2, 3, "y")]),
        ("IOE1", "E-x E-x I-x", [(0, 1, "x"), (1, 2, "x"), (2, 3, "x")]),
    ]
    for scheme, text, expected in cases:
        with case(f"{scheme}: {text}"):
            assert find_entities(tags_of(text, scheme), scheme) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I-x I-x O I-x", "B-x I-x O B-x"),
        ("B-x I-y I-y", "B-x B-y I-y"),
        ("O B-x I-x", "O B-x I-x"),
    ],
)
def test_inside_tags_that_go_on_with_nothing_begin(text, expected):
    assert mend_tags(tags_of(text, "BIO")) == tags_of(expected, "BIO")


@pytest.mark.parametrize("tag", ["X-x", "L-x", "x", "", 3, None, "O-x"])
def test_a_tag_of_no_scheme_is_named_with_its_place(tag):
    message = f"'y' parameter .* Got {tag!r} for token 1 of sentence 1"
    with pytest.raises(ValueError, match=message):
        read_tags(["O", "B-x", "O", tag], "BIO", "y", [2, 2])


@pytest.mark.parametrize(
    ("names", "scheme"),
    [
        (("BIO", "bio", "IOB2", "iob2"), "BIO"),
        (("BILOU", "BILUO", "biluo"), "BILOU"),
        (("IOBES", "BIOES", "bioes"), "IOBES"),
        (("IOB1", "iob1"), "IOB1"),
        (("IOE1",), "IOE1"),
        (("IOE2", "ioe2"), "IOE2"),
    ],
)
def test_names_of_schemes(names, scheme):
    assert [as_scheme(name) for name in names] == [scheme] * len(names)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("IOB", "'scheme' .* 'IOB' can mean 'IOB1' or 'IOB2'"),
        ("ioe", "'ioe' can mean 'IOE1' or 'IOE2'"),
        ("BIEO", "one of 'BIO', .*'BIOES'. Got 'BIEO'"),
        (None, "one of .* Got None"),
    ],
)
def test_names_that_are_no_scheme(name, message):
    with pytest.raises(ValueError, match=message):
        as_scheme(name)


@pytest.mark.parametrize(
    ("scheme", "tags", "forbidden", "first", "last"),
    [
        ("BIO", "O B-x I-x B-y I-y", "02 04 14 24 32 42", "24", ""),
        (
            "BILOU",
            "O B-x I-x L-x U-x",
            "02 03 10 11 14 20 21 24 32 33 42 43",
            "23",
            "12",
        ),
    ],
)
def test_tags_that_do_not_fit_a_scheme(scheme, tags, forbidden, first, last):
    meaning = read_tags(tags.split(), scheme, "y")
    pairs, starts, ends = allowed_tags(list(meaning.values()), scheme)
    found = [f"{i}{j}" for i in range(5) for j in range(5) if not pairs[i, j]]
    assert found == forbidden.split()
    assert [str(k) for k in range(5) if not starts[k]] == list(first)
    assert [str(k) for k in range(5) if not ends[k]] == list(last)
