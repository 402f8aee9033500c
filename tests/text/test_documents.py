"""Documents, sentences and mentions: what they hold and what they refuse."""

import copy
import dataclasses
import datetime
import io
import pickle

import numpy as np
import pytest

from skcalib.datasets import read_conll2012
from skcalib.documents import Document, Mention, Sentence
from skcalib.text._documents import words_of

SENTENCE = Sentence(["It", "rains"], xpos=["PRP", "VBZ"], head=[1, -1])


class TestSentence:
    def test_columns_are_kept_as_tuples(self):
        assert SENTENCE.form == ("It", "rains")
        assert SENTENCE.xpos == ("PRP", "VBZ")
        assert SENTENCE.head == (1, -1)

    def test_columns_not_given_are_filled(self):
        assert SENTENCE.lemma == SENTENCE.misc == ("_", "_")
        assert Sentence(["It"]).head == (-1,)

    def test_the_list_given_is_neither_kept_nor_changed(self):
        form = ["It", "rains"]
        sentence = Sentence(form)
        form[0] = "She"
        assert sentence.form[0] == "It"

    def test_equal_sentences_are_equal_and_hash_alike(self):
        same = Sentence(("It", "rains"), xpos=("PRP", "VBZ"), head=(1, -1))
        assert same == SENTENCE
        assert hash(same) == hash(SENTENCE)
        assert Sentence(["It", "rains"]) != SENTENCE

    @pytest.mark.parametrize("column", ["lemma", "upos", "xpos", "feats", "misc"])
    def test_a_column_of_another_length_is_refused(self, column):
        with pytest.raises(ValueError, match=f"'{column}'.*each of the 2 words. Got 1"):
            Sentence(["It", "rains"], **{column: ["x"]})

    @pytest.mark.parametrize("head", [[2, -1], [-2, -1], [0, -1], [0.5, -1]])
    def test_a_head_that_is_no_other_word_is_refused(self, head):
        with pytest.raises(ValueError, match="'head'.*from 0 to 1.*word 0"):
            Sentence(["It", "rains"], head=head)

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"form": "It rains"}, "'form'.* sequence. Got 'It rains' instead"),
            ({"form": None}, "'form'.* sequence. Got None instead"),
            ({"form": ["It", 3]}, "'form'.* sequence of str. Got 3 as item 1"),
            ({"form": ["It"], "lemma": [None]}, "'lemma'.* str. Got None as item 0"),
            ({"form": ["It"], "head": 1}, "'head'.* sequence. Got 1 instead"),
            ({"form": ["It"], "comments": "# x"}, "'comments'.* sequence. Got '# x'"),
        ],
    )
    def test_what_is_no_column_is_refused(self, columns, message):
        with pytest.raises(TypeError, match=message):
            Sentence(**columns)

    def test_any_sequence_is_a_column(self):
        columns = {"form": np.array(["It", "rains"]), "head": np.array([1, -1])}
        columns["xpos"] = iter(["PRP", "VBZ"])
        assert Sentence(**columns) == SENTENCE


class TestMention:
    @pytest.mark.parametrize(("start", "end"), [(2, 2), (3, 2), (-1, 2)])
    def test_a_span_without_words_is_refused(self, start, end):
        with pytest.raises(ValueError, match="0 <= start < end. Got start="):
            Mention(start, end)

    @pytest.mark.parametrize("head", [1, 5])
    def test_a_head_outside_is_refused(self, head):
        with pytest.raises(ValueError, match="'head'.*from 2 to 4. Got"):
            Mention(2, 5, head)

    @pytest.mark.parametrize("name", ["start", "end", "head"])
    @pytest.mark.parametrize("value", ["1", 1.0])
    def test_what_is_no_integer_is_refused(self, name, value):
        message = f"'{name}'.*must be an integer. Got {value!r}"
        with pytest.raises(TypeError, match=message):
            Mention(**{"start": 0, "end": 3, name: value})


class TestDocument:
    def test_repr_counts_and_does_not_list(self):
        date = datetime.date(1990, 1, 3)
        document = Document("a", date, [SENTENCE] * 500)
        assert repr(document) == "Document('a', 1990-01-03, 500 sentences, 1000 words)"
        document = Document("a", None, [SENTENCE], [Mention(0, 1)], [0])
        text = "Document('a', no date, 1 sentence, 2 words, 1 mention)"
        assert repr(document) == text

    def test_entities_and_mentions_are_as_many(self):
        with pytest.raises(ValueError, match="1 mentions and 2 entities"):
            Document("a", mentions=[Mention(0, 1)], entities=[0, 1])

    @pytest.mark.parametrize(
        "date",
        ["1990-01-03", np.datetime64("1990-01-03"), np.datetime64("1990-01-03T12")],
    )
    def test_a_date_may_be_text_or_of_numpy(self, date):
        assert Document("a", date).date == datetime.date(1990, 1, 3)

    @pytest.mark.parametrize("date", ["3 January", "", 1990])
    def test_what_is_no_date_is_refused(self, date):
        with pytest.raises(TypeError, match="'date'.*a datetime.date or a string"):
            Document("a", date)

    def test_dates_of_pandas(self):
        pandas = pytest.importorskip("pandas")
        assert Document("a", pandas.Timestamp("1990-01-03")).date.year == 1990
        assert Document("a", pandas.NaT).date is None
        assert Document("a", np.datetime64("NaT", "D")).date is None

    @pytest.mark.parametrize(
        ("parts", "message"),
        [
            ({"sentences": SENTENCE}, "'sentences'.* sequence. Got Sentence"),
            ({"sentences": [["It"]]}, r"'sentences'.* Sentence. Got \['It'\] as item"),
            ({"mentions": [(0, 1)]}, r"'mentions'.* Mention. Got \(0, 1\) as item 0"),
            ({"entities": 0}, "'entities'.* sequence. Got 0 instead"),
        ],
    )
    def test_parts_of_another_kind_are_refused(self, parts, message):
        with pytest.raises(TypeError, match=message):
            Document("a", **parts)

    def test_a_copy_and_a_pickle_are_equal(self):
        document = Document("a", None, [SENTENCE], metadata={"genre": "news"})
        assert copy.deepcopy(document) == document
        assert pickle.loads(pickle.dumps(document)) == document
        assert hash(copy.deepcopy(document)) == hash(document)


class TestWords:
    """Columns of a document over its sentences."""

    DOCUMENT = Document(
        "a",
        sentences=[
            Sentence(["It", "rains"], upos=["PRON", "VERB"], head=[1, -1]),
            Sentence([]),
            Sentence(["They", "left", "."], head=[1, -1, 1], misc=["a", "b", "c"]),
        ],
    )

    def test_sentences_follow_each_other(self):
        words = words_of(self.DOCUMENT)
        assert words.form == ("It", "rains", "They", "left", ".")
        assert words.upos == ("PRON", "VERB", "_", "_", "_")
        assert words.misc == ("_", "_", "a", "b", "c")
        assert words.head == (1, -1, 3, -1, 3)
        assert words.sentence == (0, 0, 2, 2, 2)
        assert words.starts == (0, 2, 2, 5)

    def test_they_are_no_part_of_the_document(self):
        same = Document("a", sentences=self.DOCUMENT.sentences)
        before = pickle.dumps(same)
        words_of(same)
        assert same == Document("a", sentences=self.DOCUMENT.sentences)
        assert pickle.dumps(same) == before
        for other in (copy.copy(same), copy.deepcopy(same), pickle.loads(before)):
            assert other == same
            assert vars(other).keys() == {f.name for f in dataclasses.fields(same)}
            assert words_of(other).form == words_of(same).form


def test_a_file_of_coreference_gives_clusters_in_one_call():
    rows = ["toy 0 0 Ada (0)", "toy 0 1 met -", "toy 0 2 her (1", "toy 0 3 friend 1)"]
    text = ["#begin document (toy);", *rows, "toy 0 4 herself (0)", "#end document"]
    (document,) = read_conll2012(io.StringIO("\n".join(text)))
    assert document.clusters() == [[(0, 1), (4, 5)], [(2, 4)]]
    unknown = Document("a", mentions=[Mention(0, 1)] * 2, entities=["e", None])
    with pytest.raises(ValueError, match="Got None for mention 1 of document 'a'"):
        unknown.clusters()
