"""Statistics of labels: their sums are the metric, row by row by definition."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, brier_score_loss, f1_score

from skcalib.metrics import (
    accuracy_statistics,
    brier_statistics,
    span_statistics,
    tag_statistics,
)

TAGS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")

sentence = st.lists(
    st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS)), min_size=0, max_size=7
)
tagged = st.lists(sentence, min_size=1, max_size=5)


def sides(sentences):
    """Return both sides of sentences of pairs."""
    return tuple([[pair[k] for pair in each] for each in sentences] for k in (0, 1))


def flat(sentences):
    return [label for labels in sentences for label in labels]


def by_definition(tags, mend):
    """Return every span that is an entity, looking at all of them."""
    found = set()
    for i, first in enumerate(tags):
        label = first[2:]
        before = tags[i - 1] if i else "O"
        stray = first == f"I-{label}" and before not in (f"B-{label}", f"I-{label}")
        if first == "O" or not (first[0] == "B" or (mend and stray)):
            continue
        for j in range(i + 1, len(tags) + 1):
            whole = all(tag == f"I-{label}" for tag in tags[i + 1 : j])
            ends = j == len(tags) or tags[j] != f"I-{label}"
            if whole and ends:
                found.add((i, j, label))
    return found


# Accuracy


@given(tagged)
def test_accuracy_of_sentences(sentences):
    y_true, y_pred = sides(sentences)
    counts = accuracy_statistics(y_true, y_pred)
    assert counts.shape == (len(sentences), 2)
    assert counts.dtype.kind == "i"
    for row, each in zip(counts, sentences, strict=True):
        assert row.tolist() == [sum(t == p for t, p in each), len(each)]
    right, total = counts.sum(axis=0)
    if total:
        expected = accuracy_score(flat(y_true), flat(y_pred))
        assert right / total == pytest.approx(expected, abs=1e-15)


def test_accuracy_of_rows_is_zero_or_one():
    y_true, y_pred = np.array([1, 0, 2, 2]), np.array([1, 1, 2, 0])
    found = accuracy_statistics(y_true, y_pred)
    assert found.tolist() == [1, 0, 1, 0]
    assert found.mean() == accuracy_score(y_true, y_pred)


def test_sentences_come_as_arrays_too():
    y_true = np.empty(2, dtype=object)
    y_true[:] = [np.array(["a", "b"]), np.array(["a"])]
    assert accuracy_statistics(y_true, [("a", "a"), ["a"]]).tolist() == [[1, 2], [1, 1]]


def test_sentences_of_one_length_stay_sentences():
    y_true = np.array([["a", "b"], ["b", "b"]])
    assert accuracy_statistics(y_true, y_true[::-1]).tolist() == [[1, 2], [1, 2]]


@pytest.mark.parametrize("which", ["torch", "array_api_strict"])
def test_labels_in_tensors_are_compared_by_value(which):
    module = pytest.importorskip(which)
    y_true, y_pred = (module.asarray(np.array(y)) for y in ([1, 0, 2], [1, 1, 2]))
    assert accuracy_statistics(y_true, y_pred).tolist() == [1, 0, 1]
    counts = tag_statistics(y_true, y_pred)
    assert {tag: rows.tolist() for tag, rows in counts.items()} == {
        0: [[0, 0, 0], [0, 0, 1], [0, 0, 0]],
        1: [[1, 1, 1], [0, 1, 0], [0, 0, 0]],
        2: [[0, 0, 0], [0, 0, 0], [1, 1, 1]],
    }
    # two sentences, of three tokens and one
    sentences = ([y_true, y_true[:1]], [y_pred, y_pred[:1]])
    assert accuracy_statistics(*sentences).tolist() == [[2, 3], [1, 1]]
    assert list(tag_statistics(*sentences)) == [0, 1, 2]


def test_lists_of_scalar_tensors_are_labels():
    torch = pytest.importorskip("torch")
    y = [[torch.tensor(0), torch.tensor(1)], [torch.tensor(0)]]
    assert accuracy_statistics(y, [[0, 1], [1]]).tolist() == [[2, 2], [0, 1]]
    assert list(tag_statistics(y, y)) == [0, 1]


# Tags


@given(tagged)
def test_f1_of_each_tag(sentences):
    y_true, y_pred = sides(sentences)
    found = tag_statistics(y_true, y_pred)
    assert list(found) == sorted(set(flat(y_true)) | set(flat(y_pred)))
    for tag, counts in found.items():
        assert np.array_equal(counts, tag_statistics(y_true, y_pred, which=tag))
        for row, each in zip(counts, sentences, strict=True):
            right = sum(t == tag and p == tag for t, p in each)
            guessed, gold = (sum(pair[k] == tag for pair in each) for k in (1, 0))
            assert row.tolist() == [right, guessed, gold]
        right, guessed, gold = counts.sum(axis=0)
        expected = f1_score(
            flat(y_true), flat(y_pred), labels=[tag], average="macro", zero_division=0
        )
        assert 2 * right / (guessed + gold) == pytest.approx(expected, abs=1e-15)


def test_f1_of_a_class_of_rows():
    y_true, y_pred = [1, 0, 1, 1], [1, 1, 0, 1]
    counts = tag_statistics(y_true, y_pred, which=1)
    assert counts.tolist() == [[1, 1, 1], [0, 1, 0], [0, 0, 1], [1, 1, 1]]


def test_a_tag_that_is_nowhere():
    with pytest.raises(ValueError, match="'which'.* of tag_statistics.*'NP'"):
        tag_statistics([["N"]], [["V"]], which="NP")


def test_tags_that_do_not_sort():
    with pytest.raises(ValueError, match="labels of one sortable type"):
        tag_statistics([["N", 1]], [["N", 1]])


# Entities


@pytest.mark.parametrize("mend", [True, False])
@given(tagged)
def test_entities_by_definition(mend, sentences):
    y_true, y_pred = sides(sentences)
    counts = span_statistics(y_true, y_pred, mend=mend)
    for row, true, pred in zip(counts, y_true, y_pred, strict=True):
        gold, guessed = by_definition(true, mend), by_definition(pred, mend)
        assert row.tolist() == [len(gold & guessed), len(guessed), len(gold)]


@given(tagged)
def test_labels_add_up_to_all(sentences):
    y_true, y_pred = sides(sentences)
    parts = [span_statistics(y_true, y_pred, label=each) for each in ("PER", "LOC")]
    assert np.array_equal(sum(parts), span_statistics(y_true, y_pred))


def test_stray_tags_are_entities_where_mended():
    y_true, y_pred = [["B-LOC", "I-LOC"]], [["I-LOC", "I-LOC"]]
    assert span_statistics(y_true, y_pred).tolist() == [[1, 1, 1]]
    assert span_statistics(y_true, y_pred, mend=False).tolist() == [[0, 0, 1]]


def test_bilou():
    y_true = [["U-PER", "B-LOC", "I-LOC", "L-LOC", "O"]]
    y_pred = [["U-PER", "O", "B-LOC", "L-LOC", "U-PER"]]
    counts = span_statistics(y_true, y_pred, scheme="BILOU")
    assert counts.tolist() == [[1, 3, 2]]


def test_tags_of_another_scheme():
    with pytest.raises(ValueError, match="'y_pred'.* of span_statistics.*'L-PER'"):
        span_statistics([["B-PER"]], [["L-PER"]])
    with pytest.raises(ValueError, match="'scheme'.*'BIO', 'BILOU'.*'BMES'"):
        span_statistics([["O"]], [["O"]], scheme="BMES")


@pytest.mark.parametrize(
    ("scheme", "y_true", "y_pred", "expected"),
    [
        # in IOB2, strictly, a stray I- is not part of an entity
        ("iob2", "B-x I-x O I-x", "B-x I-x O B-x", [1, 2, 1]),
        ("IOB1", "I-x I-x O I-x", "I-x B-x O I-x", [1, 3, 2]),
        ("IOE2", "I-x E-x O E-x", "E-x E-x O E-x", [1, 3, 2]),
        ("IOE1", "I-x E-x I-x", "I-x I-x I-x", [0, 1, 2]),
        ("BIOES", "B-x E-x O S-x", "B-x E-x O B-x", [1, 1, 2]),
        ("biluo", "B-x L-x O U-x", "B-x L-x O U-y", [1, 2, 2]),
    ],
)
def test_schemes_by_all_their_names(scheme, y_true, y_pred, expected):
    """Entities as in the strict mode of seqeval, worked by hand."""
    counts = span_statistics(
        [y_true.split()], [y_pred.split()], scheme=scheme, mend=False
    )
    assert counts.tolist() == [expected]


def test_entities_need_sentences():
    with pytest.raises(TypeError, match="tags without sentences"):
        span_statistics(["O"], ["O"])


# What all of them refuse


@pytest.mark.parametrize(
    ("y_true", "y_pred", "error", "message"),
    [
        ([["a"]], [["a"], ["b"]], ValueError, "Got lengths 1 and 2"),
        ([["a"], ["b"]], [["a"], []], ValueError, "1 in .*0 in .* sentence 1"),
        ([["a"]], ["a"], TypeError, "sentences in 'y_true' and labels in 'y_pred'"),
        ([["a"], "b"], [["a"], ["b"]], TypeError, "list in row 0.*str in row 1"),
        ([], [], ValueError, "Got none"),
        ("ab", "ab", TypeError, "Got str"),
        ([["a", None]], [["a", "b"]], ValueError, "Token 1 of sentence 0 has None"),
        ([0.0, 1.0], [0.0, np.nan], ValueError, "Got nan at place 1"),
        (["a", pd.NA], ["a", "b"], ValueError, "Got <NA> at place 1"),
        ([["a"]], [[["b"]]], ValueError, r"Token 0 of sentence 0 has \['b'\]"),
        ([{"a"}], ["a"], ValueError, r"Got \{'a'\} at place 0"),
    ],
)
def test_what_is_refused(y_true, y_pred, error, message):
    for function in (accuracy_statistics, tag_statistics):
        with pytest.raises(error, match=f"{function.__name__}.*{message}"):
            function(y_true, y_pred)


# Brier score


def test_brier_score_of_two_and_of_more_classes():
    rng = np.random.default_rng(0)
    y, q = rng.integers(0, 2, 50), rng.random(50)
    assert brier_statistics(y, q).mean() == pytest.approx(brier_score_loss(y, q))
    assert brier_statistics(y, np.column_stack([1 - q, q])) == pytest.approx(
        brier_statistics(y, q)
    )
    y, q = rng.integers(0, 3, 50), rng.dirichlet([1, 1, 1], 50)
    found = brier_statistics(y, q)
    assert found.shape == (50,)
    assert found == pytest.approx(((np.eye(3)[y] - q) ** 2).sum(axis=1))


def test_brier_score_of_a_named_class():
    assert brier_statistics(["a", "b"], [0.25, 0.5], pos_label="a").tolist() == [
        0.5625,
        0.25,
    ]
    with pytest.raises(ValueError, match="brier_statistics.*row 1"):
        brier_statistics([0, 1], [0.5, np.nan])
