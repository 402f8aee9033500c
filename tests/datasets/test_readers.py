"""Readers: what they give, and which line they refuse."""

import datetime
import gzip
import io

import pytest
from cases import case

from skcalib.datasets import read_conll_columns, read_conllu, to_sequences
from skcalib.datasets._sequences import read_penn_trees
from skcalib.documents import Document, Sentence

TOY = """\
# newdoc id = weblog-toy.example_rain_20041117172713_ENG_20041117_172713
# sent_id = toy-1
# newpar
# text = It doesn't rain = good
1	It	it	PRON	PRP	Number=Sing	4	nsubj	4:nsubj	_
2-3	doesn't	_	_	_	_	_	_	_	_
2	does	do	AUX	VBZ	_	4	aux	4:aux	_
3	n't	not	PART	RB	_	4	advmod	4:advmod	_
4	rain	rain	VERB	VB	_	0	root	0:root	_
4.1	good	good	ADJ	JJ	_	_	_	4:conj	_

# sent_id = toy-2
1	"#1	#	SYM	"	_	0	root	0:root	SpaceAfter=No

# newdoc id = email-toy-20041117
1	Sun	sun	NOUN	NN	_	0	root	0:root	Entity=(1)
2	and	and	CCONJ	CC	_	3	cc	3:cc	_
3	New York	New York	PROPN	NNP	_	1	conj	1:conj	_
"""


def read(text):
    return read_conllu(io.StringIO(text))


def word(**changes):
    """Return a line of CoNLL-U, one word that is the root."""
    columns = ["id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel"]
    row = dict.fromkeys([*columns, "deps", "misc"], "_")
    row.update(id="1", form="It", head="0")
    row.update(changes)
    return "\t".join(row.values())


class TestConllu:
    def test_documents_and_sentences(self):
        first, second = read(TOY)
        assert [len(s) for s in first.sentences] == [4, 1]
        assert [len(s) for s in second.sentences] == [3]
        assert second.id == "email-toy-20041117"

    def test_ranges_and_empty_nodes_are_left_out(self):
        sentence = read(TOY)[0].sentences[0]
        assert sentence.form == ("It", "does", "n't", "rain")
        assert sentence.lemma == ("it", "do", "not", "rain")
        assert sentence.upos == ("PRON", "AUX", "PART", "VERB")
        assert sentence.xpos == ("PRP", "VBZ", "RB", "VB")
        assert sentence.feats == ("Number=Sing", "_", "_", "_")
        assert sentence.deprel == ("nsubj", "aux", "advmod", "root")
        assert sentence.head == (3, 3, 3, -1)

    def test_comments(self):
        sentence = read(TOY)[0].sentences[0]
        assert sentence.sent_id == "toy-1"
        assert sentence.text == "It doesn't rain = good"
        assert len(sentence.comments) == 4
        assert sentence.comments[2] == "# newpar"

    def test_misc_is_kept(self):
        first, second = read(TOY)
        assert first.sentences[1].misc == ("SpaceAfter=No",)
        assert second.sentences[0].misc[0] == "Entity=(1)"

    def test_without_newdoc_all_is_one_document(self):
        (document,) = read(f"{word()}\n\n{word()}\n")
        assert document.id is None
        assert len(document.sentences) == 2

    def test_sentences_before_the_first_newdoc_are_a_document(self):
        first, second = read(f"{word()}\n\n# newdoc\n{word()}\n")
        assert (first.id, second.id) == (None, None)

    def test_newdoc_is_a_word(self):
        assert len(read(f"{word()}\n\n# newdocument = x\n{word()}\n")) == 1

    @pytest.mark.parametrize("text", ["", "\n\n", "\r\n"])
    def test_an_empty_file_has_no_documents(self, text):
        assert read(text) == []

    @pytest.mark.parametrize(
        "change",
        [
            lambda text: text.replace("\n", "\r\n"),
            lambda text: text.rstrip("\n"),
            lambda text: "\ufeff" + text,
            lambda text: "\n\n" + text.replace("\n\n", "\n\n\n") + "\n\n",
        ],
        ids=["crlf", "no final newline", "byte order mark", "blank lines"],
    )
    @pytest.mark.parametrize("name", ["toy.conllu", "toy.conllu.gz"])
    def test_what_does_not_matter(self, tmp_path, change, name):
        path = tmp_path / name
        data = change(TOY).encode()
        path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
        assert read_conllu(path) == read_conllu(str(path)) == read(TOY)

    @pytest.mark.parametrize("separator", ["\u2028", "\x85", "\x0b", "\r"])
    def test_only_a_line_feed_ends_a_line(self, tmp_path, separator):
        path = tmp_path / "toy.conllu"
        path.write_bytes(word(form=f"a{separator}b").encode())
        assert read_conllu(path)[0].sentences[0].form == (f"a{separator}b",)

    def test_an_open_file_stays_open(self, tmp_path):
        path = tmp_path / "toy.conllu"
        path.write_text(TOY, "utf-8")
        with path.open(encoding="utf-8") as file:
            assert read_conllu(file) == read(TOY)
            assert not file.closed

    @pytest.mark.parametrize("path", [None, 3, io.BytesIO(b"")])
    def test_what_is_no_text_file_is_refused(self, path):
        with pytest.raises(TypeError, match="'path' parameter of read_conllu must be"):
            read_conllu(path)

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"none\.conllu"):
            read_conllu(tmp_path / "none.conllu")

    def test_bytes_that_are_no_text(self, tmp_path):
        path = tmp_path / "toy.conllu"
        path.write_bytes(b"# \xff\n")
        with pytest.raises(
            ValueError, match=r"toy\.conllu, after line 0: expected utf"
        ):
            read_conllu(path)

    @pytest.mark.parametrize(
        "damage",
        [
            lambda data: data[:-9],
            lambda data: data[:60] + b"\xff" * 20 + data[80:],
            lambda data: data[:-8] + bytes(4) + data[-4:],
            lambda data: b"text",
        ],
        ids=["cut", "other bytes", "other checksum", "not compressed"],
    )
    def test_a_damaged_archive_is_named(self, tmp_path, damage):
        path = tmp_path / "toy.conllu.gz"
        path.write_bytes(damage(gzip.compress(TOY.encode())))
        message = r"toy\.conllu\.gz, after line [0-9]+: expected a complete file, got "
        with pytest.raises(ValueError, match=message):
            read_conllu(path)


class TestMalformedConllu:
    def test_the_line_is_named(self, tmp_path):
        cases = [
            ([word() + "\t_"], 1, "expected 10 columns with tabs between them, got 11"),
            (["1 It _ _ _ _ 0 root _ _"], 1, "expected 10 columns .*, got 1"),
            ([word(), "# late"], 2, "expected 10 columns .*, got 1"),
            ([word(form="")], 1, "not empty, got nothing in column 2"),
            ([word(id="2")], 1, "a word with id 1, .* got id '2'"),
            ([word(id="0")], 1, "a word with id 1, .* got id '0'"),
            ([word(id="01")], 1, "a word with id 1, .* got id '01'"),
            ([word(id="x")], 1, "a word with id 1, .* got id 'x'"),
            ([word(id="1-")], 1, "a word with id 1, .* got id '1-'"),
            ([word(id="\u0661")], 1, "a word with id 1"),
            ([word(), word()], 2, "a word with id 2, .* got id '1'"),
            ([word(head="_")], 1, "the id of another word, at most 1, .* got '_'"),
            ([word(head="1")], 1, "the id of another word, at most 1, .* got '1'"),
            ([word(head="2")], 1, "the id of another word, at most 1, .* got '2'"),
            ([word(head="-1")], 1, "the id of another word, at most 1, .* got '-1'"),
            ([word(head="1.0")], 1, "the id of another word, .* got '1.0'"),
            ([word(head="9" * 5000)], 1, "the id of another word"),
            (["# text = nothing"], 1, "expected a word, got the end of the sentence"),
            ([word(id="1-2", head="_")], 1, "expected a word, got the end"),
            ([word(head="2"), word(id="2", head="1")], 2, "depends on itself"),
        ]
        for lines, line, message in cases:
            with case(message):
                path = tmp_path / "bad.conllu"
                good = f"# first\n{word()}\n\n"
                path.write_text(good + "\n".join(lines) + "\n", "utf-8")
                with pytest.raises(ValueError, match=message) as caught:
                    read_conllu(path)
                assert str(caught.value).startswith(
                    f"{path}, line {3 + line}: expected"
                )


class TestDates:
    @pytest.mark.parametrize(
        ("id_", "date"),
        [
            ("weblog-a.com_b_20041117172713_ENG_20041117_172713", (2004, 11, 17)),
            ("newsgroup-groups.example_c_ENG_20050430_181175", (2005, 4, 30)),
            ("answers-20111108104724AAuBUR7_ans", (2011, 11, 8)),
            ("weblog-a.com_b_ENG_20041317_172713", None),
            ("weblog-a.com_b_ENG_20050229_000000", None),
            ("answers-20111131104724AAuBUR7_ans", None),
            ("answers-2011", None),
            ("email-enronsent00_01", None),
            ("email-x_20041117_172713", None),
            ("reviews-20041117", None),
            ("weblog", None),
        ],
    )
    def test_from_the_name_of_a_document(self, id_, date):
        (document,) = read(f"# newdoc id = {id_}\n{word()}\n")
        assert document.date == (date and datetime.date(*date))

    @pytest.mark.parametrize(
        ("value", "date"),
        [
            ("1990-01-03", datetime.date(1990, 1, 3)),
            ("1990-02-30", None),
            ("1990-01", None),
            ("19900103", None),
        ],
    )
    def test_from_the_metadata(self, value, date):
        lines = ["# newdoc id = answers-20111108104724", "# meta::genre = news"]
        lines += [f"# meta::dateCreated = {value}", word()]
        (document,) = read("\n".join(lines))
        assert document.date == date
        assert document.metadata == {"genre": "news", "dateCreated": value}


class TestColumns:
    def read(self, text, **kwargs):
        return read_conll_columns(io.StringIO(text, newline=None), **kwargs)

    def test_tokens_and_labels(self):
        X, y = self.read('#a\tN\n"\t"\n\n\nb c\tV')
        assert X == [["#a", '"'], ["b c"]]
        assert y == [["N", '"'], ["V"]]

    def test_other_columns(self):
        text = "1\tIt\tPRP\n2\trains\tVBZ\n"
        expected = ([["It", "rains"]], [["PRP", "VBZ"]])
        assert self.read(text, token=1, label=2) == expected
        assert self.read(text, token=-2, label=-1) == expected

    def test_any_white_space(self):
        X, y = self.read("It  O\nrains \t V\n", delimiter=None)
        assert (X, y) == ([["It", "rains"]], [["O", "V"]])

    @pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz", None])
    @pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
    def test_any_end_of_lines(self, tmp_path, name, end):
        text = "It\tO\nrains\tV\n\nNo\tI\n".replace("\n", end)
        expected = ([["It", "rains"], ["No"]], [["O", "V"], ["I"]])
        if name is None:
            assert self.read(text) == expected
            return
        data = text.encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
        assert read_conll_columns(path) == expected

    def test_lines_that_end_in_returns_are_counted(self):
        with pytest.raises(ValueError, match="line 3: expected at least 2 columns"):
            self.read("a\tA\rb\tB\rc\r")

    @pytest.mark.parametrize(
        "start",
        [
            "-DOCSTART- -X- -X- O\n\n",  # as in the files of CoNLL-2003
            "-DOCSTART- -X- O O\n\n",
            "-DOCSTART-\n\n",
            "-DOCSTART- -X- -X- O\n",
        ],
    )
    def test_marks_of_documents_are_skipped(self, start):
        text = f"{start}EU NNP B-NP B-ORG\n\n{start}Hi UH O O\n"
        X, y = self.read(text, delimiter=None, label=-1)
        assert (X, y) == ([["EU"], ["Hi"]], [["B-ORG"], ["O"]])

    def test_marks_of_documents_between_tabs_are_skipped(self):
        assert self.read("-DOCSTART-\tO\n\na\tA\n") == ([["a"]], [["A"]])
        start = "-DOCSTART-\tO\n"
        for text, documents in (
            ("a\tA\n\nb\tA\n", [0, 0]),
            (f"{start}\na\tA\n\nb\tA\n\n{start}c\tA\n", [0, 0, 1]),
            (f"a\tA\n\n{start}\nb\tA\n\n{start}\n{start}\nc\tA\n", [0, 1, 2]),
        ):
            assert self.read(text, return_documents=True)[2] == documents
        found = self.read("1\t-DOCSTART-\n\n1\ta\n", token=1, label=0)
        assert found == ([["a"]], [["1"]])

    def test_the_mark_is_a_word_inside_a_sentence(self):
        assert self.read("a\tA\n-DOCSTART-\tB\n")[0] == [["a", "-DOCSTART-"]]

    def test_without_labels(self):
        found = self.read("It\nrains\n\nno\n", label=None)
        assert found == ([["It", "rains"], ["no"]], None)

    def test_nothing(self):
        assert self.read("") == ([], [])

    @pytest.mark.parametrize(
        ("text", "kwargs", "message"),
        [
            ("a\tA\n\nb\tB\tC\n", {}, "line 3: expected 2 columns .*, got 3"),
            ("a\tA\n", {"token": 2}, "line 1: expected at least 3 columns, got 2"),
            ("a\tA\n", {"token": -3}, "line 1: expected at least 3 columns, got 2"),
            ("a\tA\n\tB\n", {}, "line 2: expected a token and a label, got"),
            ("a\tA\nb\t\n", {}, "line 2: expected a token and a label, got"),
            ("EU NNP B-NP\n", {}, "line 1: .* got 1 .*: pass delimiter=None"),
            ("a,A\n", {}, r"line 1: expected at least 2 columns, got 1\."),
        ],
    )
    def test_the_line_is_named(self, tmp_path, text, kwargs, message):
        path = tmp_path / "bad.tsv"
        path.write_text(text, "utf-8")
        with pytest.raises(ValueError, match=rf"bad\.tsv, {message}"):
            read_conll_columns(path, **kwargs)

    @pytest.mark.parametrize(
        ("kwargs", "error"),
        [
            ({"token": "a"}, TypeError),
            ({"label": 1.0}, TypeError),
            ({"delimiter": ""}, ValueError),
            ({"delimiter": 9}, ValueError),
        ],
    )
    def test_parameters_are_checked(self, kwargs, error):
        (name,) = kwargs
        with pytest.raises(
            error, match=f"The '{name}' parameter of read_conll_columns"
        ):
            self.read("", **kwargs)


class TestToSequences:
    def test_words_and_tags(self):
        X, y = to_sequences(read(TOY))
        assert X[1:] == [['"#1'], ["Sun", "and", "New York"]]
        assert y[1:] == [['"'], ["NN", "CC", "NNP"]]
        assert to_sequences(read(TOY), "upos")[1][2] == ["NOUN", "CCONJ", "PROPN"]

    def test_a_word_without_a_tag(self):
        tagged = Sentence(["a"], xpos=["A"])
        bare = Sentence(["b", "c"], xpos=["B", "_"], sent_id="s-2")
        message = r"'xpos'. Word 1 of sentence 1 \(s-2\) of document 1 \(d\) has none"
        with pytest.raises(ValueError, match=message):
            to_sequences([Document("e"), Document("d", sentences=[tagged, bare])])

    def test_no_features_are_features(self):
        document = Document("d", sentences=[Sentence(["a"])])
        assert to_sequences([document], "feats") == ([["a"]], [["_"]])

    def test_the_column_is_checked(self):
        with pytest.raises(ValueError, match="'column' parameter of to_sequences"):
            to_sequences([], "pos")

    @pytest.mark.parametrize(
        ("documents", "got"),
        [
            (Document("d"), "one document: put it into a list"),
            (None, "NoneType"),
            ([Document("d"), Sentence(["It"])], "Sentence as document 1"),
            ("d", "str as document 0"),
        ],
    )
    def test_what_are_no_documents(self, documents, got):
        message = f"'documents' parameter of to_sequences must be a seq.* Got {got}"
        with pytest.raises(TypeError, match=message):
            to_sequences(documents)


def test_words_and_tags_of_trees():
    text = """
( (S (NP-SBJ (PRP It)
     )
     (VP (VBZ rains) (-LRB- -LRB-) (RB now) ) (. .) ))
( (S (-NONE- 0) ))
(NP (NN sun) (-NONE- *-1))
"""
    X, y = read_penn_trees(text)
    assert X == [["It", "rains", "-LRB-", "now", "."], ["sun"]]
    assert y == [["PRP", "VBZ", "-LRB-", "RB", "."], ["NN"]]
