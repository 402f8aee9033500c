"""MUC-3: the reports, their parse, and what is refused."""

import datetime
import gzip
import hashlib
import zipfile
from pathlib import Path

import pytest

from skcalib.datasets import fetch_muc3
from skcalib.datasets._files import data_set

FILES = data_set("muc3").files


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
PARSE = gzip.compress(
    b"# newdoc id = DEV-MUC3-0001\n# meta::dateCreated = 1990-01-03\n"
    b"# meta::place = LIMA\n1\tit\tit\tPRON\t_\t_\t2\tnsubj\t_\t_\n"
    b"2\tfell\tfall\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    b"# newdoc id = TST1-MUC3-0001\n1\tyes\tyes\tINTJ\t_\t_\t0\troot\t_\t_\n",
    mtime=0,
)


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
    expect("muc3", "muc3_parsed.conllu.gz", PARSE)
    return tmp_path


@pytest.fixture
def raw(home):
    write_reports(home / "muc3" / "muc3_xhtml.zip")
    return home


@pytest.fixture
def parsed(raw):
    (raw / "muc3" / "muc3_parsed.conllu.gz").write_bytes(PARSE)
    return raw


class TestReports:
    def test_documents(self, raw):
        data = fetch_muc3(data_home=raw, download_if_missing=False)
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

    def test_data_alone_have_no_target(self, raw):
        data = fetch_muc3(data_home=raw)
        assert data.target is None
        assert fetch_muc3(data_home=raw, return_X_y=True) == (data.data, None)

    def test_subsets(self, raw):
        for subset, n in (("dev", 2), ("tst1", 1), ("tst4", 0), ("all", 3)):
            assert len(fetch_muc3(subset=subset, data_home=raw).data) == n

    def test_the_archive_of_the_source_has_a_folder_for_all(self, home, monkeypatch):
        def fetch_file(url, folder, local_filename, sha256, **kwargs):
            assert url == FILES["muc3_xhtml.zip"].url
            assert sha256 is None
            write_reports(Path(folder, local_filename), "muc3-7a530d8/")

        monkeypatch.setattr("skcalib.datasets._files.fetch_file", fetch_file)
        assert len(fetch_muc3(data_home=home).data) == 3

    def test_other_reports_are_refused_and_left(self, raw):
        path = raw / "muc3" / "muc3_xhtml.zip"
        write_reports(path, reports={"dev/DEV-MUC3-0001": b"mine"})
        message = "not the file expected there: its SHA256 of its members' checksums is"
        with pytest.raises(OSError, match=message):
            fetch_muc3(data_home=raw)
        assert path.exists()
        damaged = path.read_bytes().replace(b"mine", b"mind")
        for content in (b"no archive", damaged):
            path.write_bytes(content)
            with pytest.raises(OSError, match="is no zip archive"):
                fetch_muc3(data_home=raw)

    @pytest.mark.parametrize("is_archive", [True, False])
    def test_what_else_was_downloaded_is_removed(self, home, monkeypatch, is_archive):
        def fetch_file(url, folder, local_filename, **kwargs):
            path = Path(folder, local_filename)
            if is_archive:
                write_reports(path, reports={"dev/A": b"other"})
            else:
                path.write_bytes(b"<html>Log in first</html>")

        monkeypatch.setattr("skcalib.datasets._files.fetch_file", fetch_file)
        message = "Could not download https.*(members' checksums|is no zip archive)"
        with pytest.raises(OSError, match=message):
            fetch_muc3(data_home=home)
        assert list((home / "muc3").iterdir()) == []

    def test_missing(self, home):
        with pytest.raises(
            OSError, match="does not exist, and download_if_missing=False"
        ):
            fetch_muc3(data_home=home, download_if_missing=False)


class TestParse:
    def test_it_is_used_where_it_is(self, parsed):
        data = fetch_muc3(data_home=parsed)
        assert data.parsed
        first, second = data.data
        assert first.date == datetime.date(1990, 1, 3)
        assert first.sentences[0].form == ("it", "fell")
        assert first.mentions == ()
        assert second.date is None
        assert len(fetch_muc3(subset="tst1", data_home=parsed).data) == 1
        assert len(fetch_muc3(parsed=False, data_home=parsed).data) == 3

    def test_mentions(self, parsed):
        data = fetch_muc3(mentions=True, data_home=parsed)
        assert [len(document.mentions) for document in data.data] == [1, 0]

    def test_it_cannot_be_downloaded(self, raw):
        with pytest.raises(
            OSError, match="the parse is not published. Pass parsed=Fal"
        ):
            fetch_muc3(parsed=True, data_home=raw)
        with pytest.raises(ValueError, match="mentions=True.*Document.from_spacy"):
            fetch_muc3(mentions=True, data_home=raw)

    def test_another_file_is_refused(self, parsed):
        (parsed / "muc3" / "muc3_parsed.conllu.gz").write_bytes(b"mine")
        message = "is not the file expected there: its SHA256 .*away, or pass another"
        with pytest.raises(OSError, match=message):
            fetch_muc3(data_home=parsed)


def test_an_unknown_subset():
    with pytest.raises(ValueError, match="'subset'.*'tst4'. Got 'train'"):
        fetch_muc3(subset="train")


class TestReal:
    def test_reports(self, need):
        need(FILES["muc3_xhtml.zip"])
        documents = fetch_muc3(parsed=False, download_if_missing=False).data
        dates = [document.date for document in documents if document.date]
        assert (len(documents), len(dates)) == (1700, 1614)
        assert (min(dates).year, min(dates).month) == (1988, 4)
        assert (max(dates).year, max(dates).month) == (1990, 6)
        assert sum((date.year, date.month) == (1989, 11) for date in dates) == 345

    @pytest.mark.slow
    def test_the_parse_is_of_the_same_reports(self, need):
        need(*FILES.values())
        raw = {document.id: document for document in fetch_muc3(parsed=False).data}
        documents = fetch_muc3(parsed=True).data
        assert [document.id for document in documents] == list(raw)
        assert all(d.date == raw[d.id].date for d in documents)
        assert all(
            d.metadata["place"] == raw[d.id].metadata["place"] for d in documents
        )
        assert sum(document.n_words for document in documents) == 617358
        assert sum(len(document.sentences) for document in documents) == 26033
