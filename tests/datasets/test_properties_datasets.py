"""Laws of readers and generators: files add up, seeds fix what is drawn."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skcalib.datasets import (
    make_calibrated_pairs,
    make_coref_documents,
    make_event_documents,
    make_tagged_sentences,
    read_conll2012,
    read_conll_columns,
    read_conllu,
    to_sequences,
)

few = settings(max_examples=15)

WORDS = st.sampled_from(["It", "n't", "#1", "New", "\u00e9t\u00e9", '"'])
SENTENCES = st.lists(
    st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5), min_size=1, max_size=5
)


def columns(sentences):
    blocks = ("".join(f"{a}\t{b}\n" for a, b in rows) for rows in sentences)
    return "\n".join(blocks)


def conllu(sentences, name="a"):
    lines = [f"# newdoc id = {name}"]
    for rows in sentences:
        for i, (form, tag) in enumerate(rows, 1):
            entity = f"Entity=({tag})" if tag.isalpha() else "_"
            row = [i, form, "_", "_", tag, "_", i - 1, "_", "_", entity]
            lines.append("\t".join(map(str, row)))
        lines.append("")
    return "\n".join(lines) + "\n"


def conll2012(sentences, name="a"):
    lines = [f"#begin document ({name}); part 000"]
    for rows in sentences:
        for i, (form, tag) in enumerate(rows):
            row = [name, 0, i, form, tag, *"*-----*", f"({i})"]
            lines.append("\t".join(map(str, row)))
        lines.append("")
    return "\n".join([*lines, "#end document", ""])


@few
@given(first=SENTENCES, second=SENTENCES)
def test_what_is_written_is_read_and_two_files_are_one(first, second):
    X, y = read_conll_columns(io.StringIO(columns(first)))
    assert [list(zip(*each, strict=True)) for each in zip(X, y, strict=True)] == first
    both = read_conll_columns(io.StringIO(columns(first) + "\n" + columns(second)))
    more = read_conll_columns(io.StringIO(columns(second)))
    assert both == (X + more[0], y + more[1])


@pytest.mark.parametrize(
    ("read", "write"), [(read_conllu, conllu), (read_conll2012, conll2012)]
)
@few
@given(first=SENTENCES, second=SENTENCES)
def test_documents_of_two_files_are_those_of_one(read, write, first, second):
    one = read(io.StringIO(write(first)))
    other = read(io.StringIO(write(second, "b")))
    assert read(io.StringIO(write(first) + write(second, "b"))) == one + other
    X, y = to_sequences(one)
    assert [list(zip(*each, strict=True)) for each in zip(X, y, strict=True)] == first
    more = to_sequences(other)
    assert to_sequences(one + other) == (X + more[0], y + more[1])


@few
@given(seed=st.integers(0, 10_000), n=st.integers(1, 6))
def test_a_seed_fixes_what_is_drawn(seed, n):
    for make in (make_tagged_sentences, make_coref_documents, make_event_documents):
        drawn = make(n, random_state=seed)
        again = make(n, random_state=seed)
        assert drawn[0] == again[0]
        assert repr(drawn[1]) == repr(again[1])
        assert drawn[0] != make(n, random_state=seed + 1)[0]
    one = make_calibrated_pairs(n, random_state=seed)
    other = make_calibrated_pairs(n, random_state=seed)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)
