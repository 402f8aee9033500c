"""MUC-3: the reports, their parse, and what is refused."""

import datetime
import gzip
import hashlib
import zipfile
from pathlib import Path

import pytest

from skcalib.datasets import fetch_corpus
from skcalib.datasets._files import registry

FILES = registry()["muc3"]["files"]


def report(name, date, text):
    date = f'<meta name="DC.date" content="{date}"/>' if date else ""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<html xmlns="http://www.w3.org/1999/xhtml"><head>'
        f'<meta name="DC.identifier" content="{name}"/>{date}'
        '<meta name="DC.coverage" content="LIMA"/></head>'
        f"<body><p>{name} (NOSC)</p><p>{text}</p><p> </p></body></html>"
    ).encode()


REPORTS = {
    "dev/DEV-MUC3-0002": report("DEV-MUC3-0002", "1990-01-04", "REBELS\nATTACKED"),
    "dev/DEV-MUC3-0001": report("DEV-MUC3-0001", None, "IT <span>RAINS</span>"),
    "tst1/TST1-MUC3-0001": report("TST1-MUC3-0001", "2011-03-11", "NOTHING"),
}
PARSE = """\
# newdoc id = DEV-MUC3-0002
# meta::dateCreated = 1992-01-03
1\tit\tit\tPRON\t_\t_\t2\tnsubj\t_\tEntity=(it)
2\tfell\tfall\tVERB\t_\t_\t0\troot\t_\t_

# newdoc id = TST1-MUC3-0001
1\tyes\tyes\tINTJ\t_\t_\t0\troot\t_\t_

# newdoc id = DEV-MUC3-0001
1\train\train\tNOUN\t_\t_\t0\troot\t_\t_
"""


def write_reports(path, folder="", reports=REPORTS):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{folder}README.md", "about")
        for name, content in reports.items():
            archive.writestr(f"{folder}{name}.xhtml", content)


@pytest.fixture
def home(tmp_path, expect):
    """Make the registry expect the toy files."""
    digests = [hashlib.sha256(REPORTS[name]).digest() for name in sorted(REPORTS)]
    found = hashlib.sha256(b"".join(digests)).hexdigest()
    expect("muc3", "muc3_xhtml.zip", checksum=found)
    return tmp_path


@pytest.fixture
def raw(home):
    write_reports(home / "muc3" / "muc3_xhtml.zip")
    return home


@pytest.fixture
def parsed(raw):
    content = gzip.compress(PARSE.encode(), mtime=0)
    (raw / "muc3" / "muc3_parsed.conllu.gz").write_bytes(content)
    return raw


class TestReports:
    def test_documents(self, raw):
        data = fetch_corpus("muc3", data_home=raw, download_if_missing=False)
        assert not data.parsed
        assert [document.id for document in data.data] == [
            "DEV-MUC3-0001",
            "DEV-MUC3-0002",
            "TST1-MUC3-0001",
        ]
        first, second, third = data.data
        assert (first.date, second.date) == (None, datetime.date(1990, 1, 4))
        assert first.metadata["paragraphs"] == ("DEV-MUC3-0001 (NOSC)", "IT RAINS")
        assert second.metadata["paragraphs"][1] == "REBELS ATTACKED"
        assert second.metadata["place"] == "LIMA"
        assert first.sentences == ()
        # a slip of the source
        assert third.date is None
        assert third.metadata["dateCreated"] == "2011-03-11"
        assert data.filenames == [str(raw / "muc3" / "muc3_xhtml.zip")]
        assert "public domain" in data.DESCR

    def test_subsets(self, raw):
        for subset, n in (("dev", 2), ("tst1", 1), ("tst4", 0), ("all", 3)):
            assert len(fetch_corpus("muc3", subset=subset, data_home=raw).data) == n

    def test_the_archive_of_the_source_has_a_folder_for_all(self, home, monkeypatch):
        def fetch_file(url, folder, name, **_):
            path = Path(folder, name)
            assert url == FILES["muc3_xhtml.zip"]["url"]
            write_reports(path, "muc3-7a530d8/")
            return path

        monkeypatch.setattr("skcalib.datasets._files.fetch_file", fetch_file)
        assert len(fetch_corpus("muc3", data_home=home).data) == 3

    def test_other_reports_are_refused_and_left(self, raw):
        path = raw / "muc3" / "muc3_xhtml.zip"
        write_reports(path, reports={"dev/DEV-MUC3-0001": b"mine"})
        message = "not the file expected there: its SHA256 of its members' checksums is"
        with pytest.raises(OSError, match=message):
            fetch_corpus("muc3", data_home=raw)
        assert path.exists()
        damaged = path.read_bytes().replace(b"mine", b"mind")
        for content in (b"no archive", damaged):
            path.write_bytes(content)
            with pytest.raises(OSError, match="is not a complete zip archive"):
                fetch_corpus("muc3", data_home=raw)

    @pytest.mark.parametrize("is_archive", [True, False])
    def test_what_else_was_downloaded_is_removed(self, home, monkeypatch, is_archive):
        def fetch_file(url, folder, name, **_):
            path = Path(folder, name)
            if is_archive:
                write_reports(path, reports={"dev/A": b"other"})
            else:
                path.write_bytes(b"<html>Log in first</html>")
            return path

        monkeypatch.setattr("skcalib.datasets._files.fetch_file", fetch_file)
        message = "Could not download https.*(members' checksums|is not a complete zip)"
        with pytest.raises(OSError, match=message):
            fetch_corpus("muc3", data_home=home)
        assert list((home / "muc3").iterdir()) == []


class TestParse:
    def test_the_own_parse_is_used_where_it_is(self, parsed):
        data = fetch_corpus("muc3", data_home=parsed)
        assert data.parsed
        first, second, third = data.data
        assert [s.form for s in first.sentences] == [("rain",)]
        assert second.sentences[0].form == ("it", "fell")
        assert third.sentences[0].lemma == ("yes",)
        assert len(second.mentions) == 1
        names = [Path(name).name for name in data.filenames]
        assert names == ["muc3_xhtml.zip", "muc3_parsed.conllu.gz"]
        assert len(fetch_corpus("muc3", subset="tst1", data_home=parsed).data) == 1
        assert (
            fetch_corpus("muc3", parsed=False, data_home=parsed).data[0].sentences == ()
        )

    def test_dates_and_places_are_those_of_the_reports(self, parsed):
        document = fetch_corpus("muc3", data_home=parsed).data[1]
        assert document.date == datetime.date(1990, 1, 4)
        assert document.metadata["place"] == "LIMA"
        assert document.metadata["paragraphs"][1] == "REBELS ATTACKED"

    def test_mentions_are_those_of_the_parse(self, parsed):
        data = fetch_corpus("muc3", mentions=True, data_home=parsed)
        assert [len(document.mentions) for document in data.data] == [1, 1, 0]
        assert data.data[1].entities == (None,)

    def test_a_file_of_any_name(self, raw, tmp_path):
        path = tmp_path / "mine.txt"
        path.write_text(PARSE)
        for each in (path, str(path)):
            data = fetch_corpus("muc3", parsed=each, data_home=raw)
            assert data.filenames[1] == str(path)
            assert data.data[0].n_words == 1

    def test_a_folder_of_files(self, raw, tmp_path):
        folder = tmp_path / "mine"
        folder.mkdir()
        one, two, three = PARSE.split("\n\n")
        (folder / "b.conllu").write_text(one)
        (folder / "a.conllu.gz").write_bytes(gzip.compress(f"{two}\n".encode()))
        (folder / "notes.txt").write_text("no parse")
        found = fetch_corpus("muc3", subset="tst1", parsed=folder, data_home=raw)
        assert [document.n_words for document in found.data] == [1]
        message = "parse of each of the 3 texts. Got no parse of 1 .* 'DEV-MUC3-0001'"
        with pytest.raises(ValueError, match=message):
            fetch_corpus("muc3", parsed=folder, data_home=raw)
        (folder / "c.conllu").write_text(three)
        assert len(fetch_corpus("muc3", parsed=folder, data_home=raw).data) == 3
        (folder / "d.conllu").write_text(one)
        with pytest.raises(
            ValueError, match="Got 2 parses of 'DEV-MUC3-0002' in .*b.conllu"
        ):
            fetch_corpus("muc3", parsed=folder, data_home=raw)

    def test_a_parse_of_other_texts(self, raw, tmp_path):
        path = tmp_path / "mine.conllu"
        path.write_text(PARSE.replace("TST1-MUC3-0001", "news-1"))
        message = "no parse of 1 of them, such as 'TST1-MUC3-0001', in .*mine.conllu"
        with pytest.raises(ValueError, match=message):
            fetch_corpus("muc3", parsed=path, data_home=raw)

    def test_a_missing_parse_is_named_with_the_script(self, raw, tmp_path):
        script = "python benchmarks/parse_corpora.py --output"
        message = f"muc3_parsed.conllu.gz does not exist.*'{script} .*parsed=False"
        with pytest.raises(OSError, match=message):
            fetch_corpus("muc3", parsed=True, data_home=raw)
        with pytest.raises(OSError, match=f"a.conllu does not exist.*{script}"):
            fetch_corpus("muc3", parsed=tmp_path / "a.conllu", data_home=raw)
        with pytest.raises(OSError, match=f"is a folder without files.*{script}"):
            fetch_corpus("muc3", parsed=tmp_path, data_home=raw)
        for parsed in (None, False):
            with pytest.raises(ValueError, match=f"'mentions'.*parses.*{script}"):
                fetch_corpus("muc3", mentions=True, parsed=parsed, data_home=raw)

    def test_parameters_are_checked(self, raw):
        with pytest.raises(TypeError, match="'parsed'.*None, True, False.* Got 3"):
            fetch_corpus("muc3", parsed=3, data_home=raw)
        with pytest.raises(TypeError, match="'mentions'"):
            fetch_corpus("muc3", mentions="yes", data_home=raw)


class TestReal:
    def test_reports(self, need):
        need("muc3", "muc3_xhtml.zip")
        documents = fetch_corpus("muc3", parsed=False, download_if_missing=False).data
        dates = [document.date for document in documents if document.date]
        assert (len(documents), len(dates)) == (1700, 1614)
        assert (min(dates).year, min(dates).month) == (1988, 4)
        assert (max(dates).year, max(dates).month) == (1990, 6)
        assert sum((date.year, date.month) == (1989, 11) for date in dates) == 345

    @pytest.mark.slow
    def test_a_parse_of_all_reports(self, need, real_home):
        need("muc3", "muc3_xhtml.zip")
        if not (real_home / "muc3" / "muc3_parsed.conllu.gz").exists():
            pytest.skip("there is no parse of MUC-3 in SKCALIB_DATA")
        documents = fetch_corpus("muc3", parsed=True).data
        assert len(documents) == 1700
        # each word of a parse stands in the text of its report
        for document in documents[::100]:
            text = "".join(document.metadata["paragraphs"]).lower()
            text = text.translate(str.maketrans("[]", "()"))
            words = [w for s in document.sentences for w in s.form]
            assert all(word in text for word in words)
