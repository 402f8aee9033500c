"""Statistics of labels: their sums are the metric, row by row by definition."""

import os
import re
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, brier_score_loss, f1_score

from skcalib.datasets import fetch_corpus
from skcalib.metrics import (
    accuracy_statistics,
    alignment_statistics,
    attachment_statistics,
    brier_statistics,
    span_statistics,
    tag_statistics,
)
from skcalib.significance import (
    bleu_statistics,
    chrf_statistics,
    compare_systems,
    paired_bootstrap_test,
    permutation_test,
)

EWT = Path(os.environ.get("SKCALIB_DATA", "nowhere"), "ud_english_ewt")
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


@pytest.mark.parametrize("library", ["polars.Series", "pyarrow.array"])
def test_sentences_come_from_the_columns_of_tables_too(library):
    package, column = library.split(".")
    of = getattr(pytest.importorskip(package), column)
    truth, found = (
        [["B-LOC", "O"], ["O", "B-PER", "I-PER"]],
        [["B-LOC", "O"], ["O"] * 3],
    )
    assert accuracy_statistics(of(truth), of(found)).tolist() == [[2, 2], [1, 3]]
    assert span_statistics(of(truth), of(found)).tolist() == [[1, 1, 1], [0, 0, 1]]
    text = ["the cat sat on the mat", "a dog"]
    own, tables = chrf_statistics(text, [text, text[::-1]]), [of(text), of(text[::-1])]
    np.testing.assert_array_equal(chrf_statistics(of(text), tables), own)
    with_one = bleu_statistics(of(text), of(text))
    np.testing.assert_array_equal(with_one, bleu_statistics(text, text))


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
    with pytest.raises(TypeError, match="tokens without sentences"):
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


# Attachment

# "The dog bites us ." and "Hier : 5 $ --", parsed by hand; heads from 1, root 0
HEADS = [[2, 3, 0, 3, 3], [0, 1, 4, 1, 1]]
FOUND = [[2, 3, 0, 2, 2], [0, 1, 4, 3, 4]]
LABELS = [
    ["det", "nsubj", "root", "obj", "punct"],
    ["root", "punct", "nummod", "dep", "punct"],
]
FOUND_LABELS = [
    ["det", "obj", "root", "obj", "punct"],
    ["root", "punct", "nummod", "dep", "punct"],
]
WORDS = [["The", "dog", "bites", "us", "."], ["Hier", ":", "5", "$", "--"]]


def test_attachment_worked_by_hand():
    labels = {"labels_true": LABELS, "labels_pred": FOUND_LABELS}
    for options, expected in (
        ({}, [[3, 5], [3, 5]]),
        (labels, [[2, 5], [3, 5]]),
        # without the full stop, and without the colon and the dashes; $ is a symbol
        ({"words": WORDS}, [[3, 4], [2, 3]]),
        (labels | {"words": WORDS}, [[2, 4], [2, 3]]),
    ):
        counts = attachment_statistics(HEADS, FOUND, **options)
        assert counts.tolist() == expected
        assert counts.dtype.kind == "i"


@pytest.mark.parametrize(
    ("word", "tokens"),
    [
        ("...", 0),
        ("\N{INVERTED QUESTION MARK}", 0),
        ("\N{IDEOGRAPHIC FULL STOP}", 0),
        ("\N{EM DASH}", 0),
        ("_", 0),
        ("%", 0),
        ("+", 1),
        ("\N{EURO SIGN}", 1),
        (":)", 0),
        (":D", 1),
        ("o'clock", 1),
        ("", 1),
    ],
)
def test_what_punctuation_is(word, tokens):
    """Words of the Unicode categories P, as in the scorer of the task of 2006."""
    counts = attachment_statistics([[0]], [[0]], words=[[word]])
    assert counts.tolist() == [[tokens, tokens]]


arc = st.tuples(st.integers(-1, 3), st.sampled_from(["nsubj", "obj", "nsubj:pass"]))
parsed = st.lists(
    st.lists(st.tuples(arc, arc), min_size=0, max_size=5), min_size=1, max_size=4
)


@given(parsed)
def test_attachment_by_definition(sentences):
    true, pred = sides(sentences)
    (heads, labels), (found, found_labels) = (
        [[[arc[k] for arc in each] for each in side] for k in (0, 1)]
        for side in (true, pred)
    )
    unlabelled = attachment_statistics(heads, found)
    labelled = attachment_statistics(
        heads, found, labels_true=labels, labels_pred=found_labels
    )
    # the accuracy of the heads, and of the pairs of head and label
    assert np.array_equal(unlabelled, accuracy_statistics(heads, found))
    joined = ([[f"{h} {x}" for h, x in each] for each in side] for side in (true, pred))
    assert np.array_equal(labelled, accuracy_statistics(*joined))


def test_heads_in_arrays_and_numbered_in_another_way():
    rows = [np.array(each) for each in HEADS], [np.array(each) for each in FOUND]
    assert attachment_statistics(*rows).tolist() == [[3, 5], [3, 5]]
    from_zero = [[each - 1 for each in side] for side in rows]
    assert attachment_statistics(*from_zero).tolist() == [[3, 5], [3, 5]]


def test_sentences_without_tokens_or_words_count_as_zero():
    heads = [[], [0]]
    counts = attachment_statistics(heads, heads, words=[[], ["."]])
    assert counts.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ([[[0]], [[0], [0]]], {}, ValueError, "'heads_pred' .*Got lengths 1 and 2"),
        (
            [[[0], [2, 0]], [[0], [0]]],
            {},
            ValueError,
            "2 in 'heads_true' and 1 in 'heads_pred' for sentence 1",
        ),
        ([[], []], {}, ValueError, "'heads_true'.* Got none"),
        ([[0], [0]], {}, TypeError, "'heads_true' and 'heads_pred'.*without sentences"),
        (
            [[[0], [0, 1]], [[0], [0, "1"]]],
            {},
            TypeError,
            "'heads_pred'.*integers. Token 1 of sentence 1 has '1'",
        ),
        ([[[0]], [[0.0]]], {}, TypeError, "Token 0 of sentence 0 has 0.0"),
        ([[[0, None]], [[0, 1]]], {}, ValueError, "Token 1 of sentence 0 has None"),
        (
            [[[0]], [[0]]],
            {"labels_true": [["a"]]},
            ValueError,
            "both 'labels_true' and 'labels_pred'.* Got only 'labels_true'",
        ),
        (
            [[[0]], [[0]]],
            {"labels_pred": [["a"]]},
            ValueError,
            "Got only 'labels_pred'",
        ),
        (
            [[[0]], [[0]]],
            {"labels_true": [["a", "b"]], "labels_pred": [["a", "b"]]},
            ValueError,
            "1 in 'heads_true' and 2 in 'labels_true' for sentence 0",
        ),
        (
            [[[0]], [[0]]],
            {"labels_true": [["a"]], "labels_pred": [["a", "b"]]},
            ValueError,
            "1 in 'labels_true' and 2 in 'labels_pred' for sentence 0",
        ),
        (
            [[[0], [0]], [[0], [0]]],
            {"words": [["a"], ["b", "c"]]},
            ValueError,
            "1 in 'heads_true' and 2 in 'words' for sentence 1",
        ),
        ([[[0]], [[0]]], {"words": ["a"]}, TypeError, "labels in 'words'"),
        (
            [[[0]], [[0]]],
            {"words": [[1]]},
            TypeError,
            "'words'.*strings. Token 0 of sentence 0 has 1",
        ),
    ],
)
def test_parses_that_are_refused(arguments, options, error, message):
    with pytest.raises(error, match=message) as raised:
        attachment_statistics(*arguments, **options)
    assert "attachment_statistics" in str(raised.value)


@pytest.fixture(scope="module")
def treebank():
    if not EWT.is_dir():
        pytest.skip("SKCALIB_DATA does not name a folder with the treebank")
    documents = fetch_corpus("ud_english_ewt", subset="test").documents
    return [sentence for d in documents for sentence in d.sentences]


def test_attachment_in_a_treebank_by_a_table_of_all_tokens(treebank):
    """Words attached to the next or the previous word, counted from the file."""
    lines = (EWT / "en_ewt-ud-test.conllu").read_text(encoding="utf-8").split("\n")
    rows = [line.split("\t") for line in lines if line[:1].isdigit()]
    table = pd.DataFrame([row for row in rows if row[0].isdigit()])
    number, word, upos = table[0].astype(int), table[1], table[3]
    head, label = table[6].astype(int), table[7].str.split(":").str[0]
    guess = np.where(upos == "DET", "det", "nsubj")
    right = head == number + 1

    heads = [sentence.head for sentence in treebank]
    found = [range(1, len(sentence) + 1) for sentence in treebank]
    counts = attachment_statistics(heads, found)
    assert counts.shape == (2077, 2)
    assert counts.sum(axis=0).tolist() == [right.sum(), 25094]
    labelled = attachment_statistics(
        heads,
        found,
        labels_true=[[x.split(":")[0] for x in s.deprel] for s in treebank],
        labels_pred=[
            ["det" if tag == "DET" else "nsubj" for tag in s.upos] for s in treebank
        ],
        words=[s.form for s in treebank],
    )
    punctuation = re.compile(r"[!-#%-*,-/:;?@\[-\]_{}\u2010-\u2027¡§«¶·»¿]+")
    scored = word.map(lambda text: not punctuation.fullmatch(text)).astype(bool)
    assert labelled.sum(axis=0).tolist() == [
        (right & (label == guess) & scored).sum(),
        scored.sum(),
    ]


def test_two_simple_parsers_are_compared(treebank):
    heads = [sentence.head for sentence in treebank]
    systems = {
        "previous": [range(-1, len(sentence) - 1) for sentence in treebank],
        "next": [range(1, len(sentence) + 1) for sentence in treebank],
    }
    counts = {
        name: attachment_statistics(heads, found) for name, found in systems.items()
    }
    result = compare_systems(counts, statistic="ratio")
    rates = [stats[:, 0].sum() / 25094 for stats in counts.values()]
    assert result.metric == pytest.approx(rates)
    pair = paired_bootstrap_test(counts["next"], counts["previous"], statistic="ratio")
    assert pair.statistic == pytest.approx(rates[1] - rates[0])
    assert result.pvalue[0] == pytest.approx(pair.pvalue)


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


# Links

link_set = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=6)
SURE = [{(0, 0), (1, 1)}, {(0, 0)}, {(0, 1), (1, 0)}, {(0, 0)}]
POSSIBLE = [{(2, 2)}, {(0, 1)}, set(), {(1, 1), (2, 1)}]
ALIGNER_A = [{(0, 0), (1, 1), (2, 2)}, {(0, 1)}, {(0, 1), (1, 0)}, {(0, 0), (2, 0)}]
ALIGNER_B = [{(0, 0)}, {(0, 0), (1, 1)}, {(0, 1), (1, 1)}, {(0, 0), (1, 1)}]


def error_rate(predicted):
    """Return AER by the formula of Och and Ney (2003), for SURE and POSSIBLE."""
    sure, possible, found = (
        {(k, link) for k, links in enumerate(side) for link in links}
        for side in (SURE, POSSIBLE, predicted)
    )
    both = len(found & sure) + len(found & (possible | sure))
    return 1 - both / (len(found) + len(sure))


def test_alignment_error_rate_worked_by_hand():
    counts = alignment_statistics(SURE, POSSIBLE, ALIGNER_A)
    # sure and possible links among the predicted ones: 2 + 3, 0 + 1, 2 + 2, 1 + 1
    assert counts.tolist() == [[5, 5], [1, 2], [4, 4], [2, 3]]
    assert counts.dtype.kind == "i"
    found, total = counts.sum(axis=0)
    assert 1 - found / total == pytest.approx(1 / 7)


def test_sure_links_may_be_listed_as_possible_ones():
    both = [s | p for s, p in zip(SURE, POSSIBLE, strict=True)]
    counts = alignment_statistics(SURE, both, ALIGNER_B)
    assert np.array_equal(counts, alignment_statistics(SURE, POSSIBLE, ALIGNER_B))


@given(st.lists(st.tuples(link_set, link_set), min_size=1, max_size=4))
def test_links_that_are_all_sure_give_f1(sentences):
    gold, predicted = zip(*sentences, strict=True)
    found, total = alignment_statistics(gold, gold, predicted).sum(axis=0)
    cells = [
        (k, i, j) for k in range(len(gold)) for i, j in product(range(4), repeat=2)
    ]
    y_true, y_pred = (
        [(i, j) in side[k] for k, i, j in cells] for side in (gold, predicted)
    )
    expected = f1_score(y_true, y_pred, zero_division=0)
    assert found == pytest.approx(expected * total, abs=1e-12)


def test_links_as_lists_and_arrays():
    as_arrays = [np.array(sorted(links)).reshape(-1, 2) for links in POSSIBLE]
    as_lists = [list(map(list, links)) for links in ALIGNER_A]
    counts = alignment_statistics(tuple(SURE), as_arrays, as_lists)
    assert np.array_equal(counts, alignment_statistics(SURE, POSSIBLE, ALIGNER_A))


def test_difference_of_error_rates_by_enumeration():
    """All 16 ways to swap two aligners in four sentences."""
    pairs = list(zip(ALIGNER_A, ALIGNER_B, strict=True))
    gains = []
    for swap in product((0, 1), repeat=4):
        a, b = (
            [p[k ^ side] for k, p in zip(swap, pairs, strict=True)] for side in (0, 1)
        )
        gains.append(error_rate(b) - error_rate(a))
    extreme = [abs(gain) >= abs(gains[0]) - 1e-12 for gain in gains]
    result = permutation_test(
        *(alignment_statistics(SURE, POSSIBLE, x) for x in (ALIGNER_A, ALIGNER_B)),
        statistic="ratio",
    )
    assert result.statistic == pytest.approx(gains[0])
    assert result.pvalue == pytest.approx(np.mean(extreme))
    assert 0.05 < result.pvalue < 1


@pytest.mark.parametrize(
    ("links", "error", "message"),
    [
        ([{(0, 0)}, [(1, 2), (1, 2)]], ValueError, r"twice.*\(1, 2\) in sentence 1"),
        ([{(0, 0)}, {(0, 1, 2)}], ValueError, "pairs of integers.*sentence 1"),
        ([{(0, -1)}, set()], ValueError, r"at least 0.*\(0, -1\) in sentence 0"),
        ([{(0, 0)}, {"0-1"}], ValueError, "pairs of integers.*'0-1' in sentence 1"),
        ([{(0, 0.0)}, set()], ValueError, "pairs of integers.*sentence 0"),
        ([{(0, 0)}, None], TypeError, "NoneType for sentence 1"),
        ([{(0, 0)}, {0: 1}], TypeError, "dict for sentence 1"),
        ([{(0, 0)}], ValueError, "same length.*sure has 2"),
        ([], ValueError, "Got none"),
        ({(0, 0)}, TypeError, "a sequence.*Got set"),
    ],
)
def test_links_that_are_not_links(links, error, message):
    gold = [{(0, 0)}, {(1, 2)}]
    with pytest.raises(error, match=f"alignment_statistics.*{message}"):
        alignment_statistics(gold, gold, links)
