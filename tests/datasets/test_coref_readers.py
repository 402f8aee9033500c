"""Mentions in CoNLL-U, CoNLL-2012 and LitBank, and which line is refused."""

import io
import zipfile

import pytest

from skcalib.datasets import read_conll2012, read_conllu, read_litbank
from skcalib.documents import Mention

GUM_HEADER = "GRP-etype-infstat-salience-centering-minspan-link-identity"


def conllu(*words, header=None, newdoc="toy", before=()):
    """Return CoNLL-U of one sentence; a word is (form, head, misc) or a whole line."""
    lines = [f"# newdoc id = {newdoc}"] if newdoc else []
    lines += [f"# global.Entity = {header}"] if header else []
    lines += before
    number = 0
    for word in words:
        if isinstance(word, str):
            lines.append(word)
            continue
        number += 1
        form, head, misc = word
        upos = "PUNCT" if form in ".,()" else "X"
        row = [number, form, "_", upos, "_", "_", head, "_", "_", misc]
        lines.append("\t".join(map(str, row)))
    return "\n".join(lines) + "\n\n"


def line(id_, misc):
    return "\t".join([id_, *"_" * 8, misc])


def read(*texts):
    return read_conllu(io.StringIO("".join(texts)))


def entity(*values):
    """Return CoNLL-U of one sentence whose words have these values of Entity=."""
    miscs = [f"Entity={value}" if value else "_" for value in values]
    return conllu(*((f"w{i}", 0, misc) for i, misc in enumerate(miscs)))


def spans(document):
    return [(m.start, m.end) for m in document.mentions]


class TestBracketsOfConllu:
    @pytest.mark.parametrize(
        ("values", "expected", "entities"),
        [
            (["(1)"], [(0, 1)], "1"),
            (["(1", "", "1)"], [(0, 3)], "1"),
            (["(1(2)", "1)"], [(0, 2), (0, 1)], "12"),
            (["(1", "(2", "2)1)"], [(0, 3), (1, 3)], "12"),
            # the same entity inside itself: what opened last closes first
            (["(1", "(1", "1)", "1)"], [(0, 4), (1, 3)], "11"),
            (["(1", "1)(1", "1)"], [(0, 2), (1, 3)], "11"),
            # an entity closes and opens on a word, inside another one
            (
                ["(0(1)", "0)(2(0)", "", "", "(2)2)"],
                [(0, 2), (0, 1), (1, 5), (1, 2), (4, 5)],
                "01202",
            ),
            ([""], [], ""),
        ],
    )
    def test_spans(self, values, expected, entities):
        (document,) = read(entity(*values))
        assert spans(document) == expected
        assert "".join(document.entities) == entities

    def test_crossing_mentions(self):
        (document,) = read(entity("(1", "(2", "1)", "2)"))
        assert spans(document) == [(0, 3), (1, 4)]

    def test_ranges_take_no_word_and_empty_nodes_hold_none(self):
        text = conllu(
            ("a", 0, "Entity=(1"),
            line("1.1", "Entity=(9)"),
            line("2-3", "Entity=(7)"),
            ("b", 1, "_"),
            ("c", 1, "Entity=1)"),
            line("3.1", "Entity=(2"),
            ("d", 1, "_"),
            line("4.1", "Entity=2)"),
        )
        (document,) = read(text)
        assert spans(document) == [(0, 3), (3, 4)]
        assert document.entities == ("1", "2")

    def test_words_are_counted_over_the_document(self):
        (first, second) = read(
            entity("", "(1)"),
            conllu(("x", 0, "_"), ("y", 0, "Entity=(1)"), newdoc=None),
            entity("(1)"),
        )
        assert spans(first) == [(1, 2), (3, 4)]
        assert first.entities == ("1", "1")
        assert spans(second) == [(0, 1)]

    def test_parts_of_a_mention_are_one(self):
        (document,) = read(
            conllu(
                ("a", 0, "Entity=(1[1/2]-person)"),
                ("b", 1, "Entity=(2-place)"),
                ("c", 1, "Entity=(1[2/2]-person"),
                ("d", 1, "Entity=1[2/2])"),
                header="GRP-etype",
            )
        )
        assert spans(document) == [(0, 4), (1, 2)]
        assert document.entities == ("1", "2")
        assert document.mentions[0].attributes == {
            "etype": "person",
            "parts": ((0, 1), (2, 4)),
        }

    def test_the_same_words_twice(self):
        with pytest.warns(UserWarning, match="<text>, line 2: two .* '1' and '2'"):
            (document,) = read(entity("(1(2", "2)1)"))
        assert spans(document) == [(0, 2)]
        assert document.entities == ("1",)

    @pytest.mark.parametrize(
        ("n", "count"), [(1, "kept."), (2, "1 more mention."), (500, "499 more ment")]
    )
    def test_one_warning_says_how_many_mentions_were_left_out(self, n, count):
        text = entity("(1)(2)") + "\n\n"
        with pytest.warns(UserWarning, match="line 2: two mentions of the") as caught:
            documents = read(text * n)
        assert len(caught) == 1
        assert count in str(caught[0].message)
        assert caught[0].filename == __file__
        assert sum(len(document.mentions) for document in documents) == n

    def test_split_antecedents_are_no_links(self):
        (document,) = read(
            conllu(
                ("a", 0, "Entity=(1)"),
                ("b", 1, "Entity=(2)"),
                ("they", 1, "Bridge=1<3|Entity=(3)|SplitAnte=1<3,2<3"),
            )
        )
        assert document.entities == ("1", "2", "3")
        assert "SplitAnte" in document.sentences[0].misc[2]

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            (["1)"], r"line 2: expected \(1 before 1\), got none that is open"),
            (["(1)", "1)"], r"line 3: expected \(1 before 1\)"),
            (["(1", ""], r"line 2: expected 1\) in the sentence of \(1, got its end"),
            (["1"], r"line 2: expected brackets like .* got '1'"),
            (["(1))"], r"line 2: expected brackets like"),
            (["()"], r"line 2: expected brackets like"),
            (["(1)x"], r"line 2: expected brackets like"),
            (["(1[2/2])"], r"line 2: expected part 1 of 1, got 1\[2/2\]\)"),
            (["(1[1/2])"], r"line 2: expected all parts of 1, got 1"),
        ],
    )
    def test_malformed(self, values, message):
        with pytest.raises(ValueError, match=f"<text>, {message}"):
            read(entity(*values))

    def test_a_number_that_no_part_has(self):
        name = f"1[{'9' * 5000}/2]"
        assert read(entity(f"({name})"))[0].entities == (name,)


class TestAttributesOfConllu:
    def test_names_are_those_of_the_header(self):
        value = (
            "(12-person-new-nnnns-cf1-1-coref-Ada_Lovelace%2DKing%2C_n%C3%A9e_Byron)"
        )
        (document,) = read(conllu(("Ada", 0, f"Entity={value}"), header=GUM_HEADER))
        assert document.entities == ("12",)
        assert document.mentions[0].attributes == {
            "etype": "person",
            "infstat": "new",
            "salience": "nnnns",
            "centering": "cf1",
            "minspan": "1",
            "link": "coref",
            "identity": "Ada_Lovelace-King,_née_Byron",
        }

    def test_the_last_one_may_hold_hyphens_and_lack(self):
        (document,) = read(
            conllu(("a", 0, "Entity=(1-x-y-z)"), ("b", 1, "Entity=(2)"), header="GRP-t")
        )
        assert [m.attributes for m in document.mentions] == [{"t": "x-y-z"}, {}]

    def test_a_document_may_have_another_header(self):
        first, second, third = read(
            conllu(("a", 0, "Entity=(1-x-y)"), header="GRP-p-q"),
            conllu(("a", 0, "Entity=(1-x-y)"), header="eid-q-p", newdoc="b"),
            conllu(("a", 0, "Entity=(1-x-y)"), newdoc="c"),
        )
        assert first.mentions[0].attributes == {"p": "x", "q": "y"}
        assert second.mentions[0].attributes == {"q": "x", "p": "y"}
        assert third.mentions[0].attributes == {"q": "x", "p": "y"}

    def test_without_a_header_all_is_the_name(self):
        (document,) = read(entity("(place-1", "place-1)"))
        assert document.entities == ("place-1",)
        assert document.mentions == (Mention(0, 2, 0),)


class TestHeads:
    def head(self, *words):
        (document,) = read(conllu(*words))
        return document.mentions[0].head

    def test_the_word_that_depends_on_one_outside(self):
        words = [("saw", 0, "_"), ("the", 3, "Entity=(1"), ("dog", 1, "Entity=1)")]
        assert self.head(*words) == 2

    def test_the_root(self):
        assert self.head(("dogs", 0, "Entity=(1"), ("here", 1, "Entity=1)")) == 0

    def test_the_first_of_several(self):
        words = [("a", 3, "Entity=(1"), ("b", 3, "Entity=1)"), ("c", 0, "_")]
        assert self.head(*words) == 0

    def test_punctuation_only_if_there_is_nothing_else(self):
        words = [("(", 3, "Entity=(1"), ("b", 3, "Entity=1)"), ("c", 0, "_")]
        assert self.head(*words) == 1
        assert self.head(("(", 2, "Entity=(1)"), ("c", 0, "_")) == 0


def column2012(*rows, part="000", name="toy"):
    """Return CoNLL-2012 of one part; a row is (word, coreference), None ends one."""
    lines, number = [f"#begin document ({name}); part {part}"], 0
    for row in rows:
        if row is None:
            lines.append("")
            number = 0
            continue
        word, coref = row
        middle = ["NN", "*", "lem", "-", "-", "Ada", "*", "*"]
        lines.append(
            "  ".join([name, str(int(part)), str(number), word, *middle, coref])
        )
        number += 1
    return "\n".join([*lines, "", "#end document", ""])


def read2012(text):
    return read_conll2012(io.StringIO(text))


class TestConll2012:
    def test_documents_parts_and_columns(self):
        text = column2012(("a", "(1)"), None, ("b", "-"), ("c", "(1)"))
        first, second = read2012(text + column2012(("d", "-"), part="001"))
        assert (first.id, first.metadata, second.metadata) == (
            "toy",
            {"part": 0},
            {"part": 1},
        )
        assert [s.form for s in first.sentences] == [("a",), ("b", "c")]
        assert first.sentences[0].xpos == ("NN",)
        assert first.sentences[0].lemma == ("lem",)
        assert first.sentences[0].misc == ("Speaker=Ada",)
        assert first.mentions == (Mention(0, 1), Mention(2, 3))
        assert first.entities == ("1", "1")
        assert second.mentions == ()

    def test_nested_and_neighbouring_brackets(self):
        rows = [("a", "(1|(0)"), ("b", "(1"), ("c", "1)|1)"), ("d", "(2|3)")]
        with pytest.raises(ValueError, match=r"line 5: expected \(3 before 3\)"):
            read2012(column2012(*rows))
        (document,) = read2012(column2012(*rows[:3], ("d", "(2"), ("e", "2)|(0)")))
        assert spans(document) == [(0, 3), (0, 1), (1, 3), (3, 5), (4, 5)]
        assert document.entities == ("1", "0", "1", "2", "0")

    @pytest.mark.parametrize("nothing", ["", "-", "_"])
    def test_tabs_and_an_empty_last_column(self, nothing):
        row = "\t".join(["t", "0", "0", "a b", *"_" * 8, nothing])
        text = f"#begin document (t); part 0\n{row}\n\n#end document\n"
        (document,) = read2012(text)
        assert document.sentences[0].form == ("a b",)
        assert document.sentences[0].misc == ("_",)
        assert document.mentions == ()

    def test_no_document(self):
        assert read2012("\n") == []

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("part 000", f"part {'9' * 5000}", "line 1: expected #begin document"),
            ("#end document", "", "line 4: expected #end document, got the end"),
            ("#end document", "#begin document (x)", "expected #end document b"),
            ("toy  0  0", "toy  0  1", "line 2: expected word number 0, got '1'"),
            ("  lem  -  -", "", "line 2: expected at least 12 columns, .*, got 10"),
            ("(1)", "1)", r"line 2: expected \(1 before 1\)"),
            ("(1)", "(1", r"line 2: expected 1\) in the sentence"),
        ],
    )
    def test_malformed(self, old, new, message):
        text = column2012(("a", "(1)")).replace(old, new, 1)
        with pytest.raises(ValueError, match=f"<text>, .*{message}"):
            read2012(text)

    def test_a_path_is_needed(self):
        with pytest.raises(TypeError, match="'path' parameter of read_conll2012"):
            read_conll2012(3)


KEY = """\
#begin document (nader);
test1\t0\t0\ta1\t(0
test1\t0\t1\ta2\t0)
test1\t0\t2\tb1\t(1(2
test1\t0\t3\tb2\t2)
test1\t0\t4\tb3\t1)(4)
test1\t0\t5\t.\t-\t

test2 0 7 c (1)
test2 0 1 d (2)|(3
test2 0 9 e 3)
#end document
"""


class TestFilesOfTheReferenceScorer:
    def test_five_columns_no_part_and_brackets_without_bars(self):
        (document,) = read2012(KEY)
        assert (document.id, document.metadata) == ("nader", {})
        assert [s.form for s in document.sentences] == [
            ("a1", "a2", "b1", "b2", "b3", "."),
            ("c", "d", "e"),
        ]
        assert document.sentences[0].xpos == ("_",) * 6
        assert dict(zip(spans(document), document.entities, strict=True)) == {
            (0, 2): "0",
            (2, 5): "1",
            (2, 4): "2",
            (4, 5): "4",
            (6, 7): "1",
            (7, 8): "2",
            (7, 9): "3",
        }

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("a1\t(0", "a1", "line 2: expected at least 12 columns, or the 5 .* got 4"),
            ("(1(2", "(1((2", r"line 4: expected"),
            ("(2)|(3", "(2)|", r"line 11: expected \(3 before"),
        ],
    )
    def test_malformed(self, old, new, message):
        with pytest.raises(ValueError, match=message):
            read2012(KEY.replace(old, new))


LITBANK_TEXT = "Ada met her brother .\n\nHe was a sailor , a man of 40 .\n"
LITBANK_ANN = """\
MENTION T2 0 0 0 0 Ada PER PROP
MENTION T3 0 2 0 2 her PER PRON
MENTION T1 0 2 0 3 her|brother PER NOM
MENTION T4 1 0 1 0 He PER PRON
MENTION T5 1 2 1 3 a|sailor PER NOM
MENTION T6 1 5 1 8 a|man|of|40 PER NOM
COREF T2 Ada-0
COREF T3 Ada-0
COREF T1 brother-1
COREF T4 brother-1
COP T5 T4
APPOS T6 T5
"""


def litbank(folder, ann=LITBANK_ANN, text=LITBANK_TEXT, name="toy_brat"):
    (folder / f"{name}.txt").write_text(text)
    path = folder / f"{name}.ann"
    path.write_text(ann.replace(" ", "\t").replace("|", " "))
    return path


class TestLitbank:
    def test_mentions(self, tmp_path):
        (document,) = read_litbank(litbank(tmp_path))
        assert document.id == "toy_brat"
        assert document.sentences[0].form == ("Ada", "met", "her", "brother", ".")
        assert spans(document) == [(0, 1), (2, 4), (2, 3), (5, 6), (7, 9), (10, 14)]
        assert document.mentions[0].attributes == {"etype": "PER", "form": "PROP"}

    @pytest.mark.parametrize(
        ("predicative", "expected"),
        [
            ("singleton", ["Ada-0", "brother-1", "Ada-0", "brother-1", "T5", "T6"]),
            ("link", ["Ada-0", "brother-1", "Ada-0", *["brother-1"] * 3]),
            ("drop", ["Ada-0", "brother-1", "Ada-0", "brother-1"]),
        ],
    )
    def test_ties(self, tmp_path, predicative, expected):
        (document,) = read_litbank(litbank(tmp_path), predicative=predicative)
        assert list(document.entities) == expected
        assert len(document.mentions) == len(expected)

    def test_ties_that_lead_nowhere(self, tmp_path):
        ann = LITBANK_ANN.replace("COREF T4 brother-1\n", "")
        ann = ann.replace("COREF T2 Ada-0\nCOREF T3 Ada-0\n", "COP T2 T3\nCOP T3 T2\n")
        (document,) = read_litbank(litbank(tmp_path, ann), predicative="link")
        entities = list(document.entities)
        assert entities == ["T2", "brother-1", "T2", "T4", "T4", "T4"]

    def test_a_folder_and_an_archive(self, tmp_path):
        paths = [litbank(tmp_path, name=name) for name in ("b", "a")]
        with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
            for path in paths:
                archive.write(path, f"x/{path.name}")
                archive.write(path.with_suffix(".txt"), f"x/{path.stem}.txt")
        folder, packed = read_litbank(tmp_path), read_litbank(tmp_path / "all.zip")
        assert [document.id for document in folder] == ["a", "b"]
        assert folder == packed

    def test_a_byte_order_mark_is_no_text(self, tmp_path):
        with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
            archive.writestr("a.txt", "\ufeffAda rests .")
            archive.writestr("a.ann", "\ufeffMENTION\tT1\t0\t0\t0\t0\tAda\tPER\tPROP")
        (document,) = read_litbank(tmp_path / "all.zip")
        assert spans(document) == [(0, 1)]

    def test_damaged_archives(self, tmp_path):
        path = tmp_path / "all.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.ann", LITBANK_ANN)
        with pytest.raises(FileNotFoundError, match=r"all\.zip.a\.txt does not exist"):
            read_litbank(path)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("a.txt", LITBANK_TEXT)
        whole = path.read_bytes()
        path.write_bytes(whole.replace(b"Ada met", b"Ada let"))
        message = r"all\.zip, a\.txt, after line 0: expected a complete file"
        with pytest.raises(ValueError, match=message):
            read_litbank(path)
        for damaged in (
            whole[:-30],
            whole.replace(b"PK\1\2", b"PK\1\2\xff\xff\xff"),
            b"",
        ):
            path.write_bytes(damaged)
            with pytest.raises(
                OSError, match=r"all\.zip is not a complete zip archive"
            ):
                read_litbank(path)

    def test_where_there_is_nothing_to_read(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"none\.ann"):
            read_litbank(tmp_path / "none.ann")
        with pytest.raises(FileNotFoundError, match=r"has no \.ann file"):
            read_litbank(tmp_path)
        path = litbank(tmp_path).with_suffix(".txt")
        with pytest.raises(ValueError, match=r"\.ann file, .*Got '.*toy_brat\.txt'"):
            read_litbank(path)
        zipfile.ZipFile(tmp_path / "empty.zip", "w").close()
        with pytest.raises(FileNotFoundError, match=r"empty\.zip has no \.ann file"):
            read_litbank(tmp_path / "empty.zip")

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("0 0 0 0 Ada", "0 1 0 1 Ada", "line 1: .*, 'met', got 'Ada'"),
            ("0 0 0 0 Ada", "7 0 7 0 Ada", "line 1: expected the words of the text"),
            ("0 0 0 0 Ada", "0 x 0 0 Ada", "line 1: expected sentences and words"),
            (" PER PROP", " PER", "line 1: expected 9 columns of a MENTION, got 8"),
            ("MENTION T3", "MENTION T2", "line 2: .* id once, got 'T2'"),
            ("COREF T3", "COREF T2", "line 8: expected one chain .* 'T2' again"),
            ("COREF T3 Ada-0", "COREF T3", "line 8: .* 3 columns of COREF, got 2"),
            ("COREF T3", "COREF T9", "line 8: expected the id of a mention, got 'T9'"),
            ("COP T5 T4", "COP T5 T9", "line 11: .* id of a mention, got 'T9'"),
            ("COP T5", "COPY T5", "line 11: expected MENTION, COREF, COP or APPOS"),
        ],
    )
    def test_malformed(self, tmp_path, old, new, message):
        path = litbank(tmp_path, LITBANK_ANN.replace(old, new, 1))
        with pytest.raises(ValueError, match=f"toy_brat.ann, {message}"):
            read_litbank(path)

    def test_parameters(self, tmp_path):
        with pytest.raises(ValueError, match="'predicative' parameter of read_litbank"):
            read_litbank(tmp_path, predicative="merge")
        with pytest.raises(
            TypeError, match="'path' parameter of read_litbank .* folder"
        ):
            read_litbank(io.StringIO("x"))
