"""Corpora with coreference: which files are used, and what is in them."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from skcalib.datasets import fetch_corpus, read_conll2012
from skcalib.datasets._files import registry

ARCHIVE = "litbank_coref.zip"
TOY = b"# newdoc id = toy\n1\tAda\t_\t_\t_\t_\t0\t_\t_\tEntity=(7)\n"


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def git_blob(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def put(home, name, content):
    path = home / "gum" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.fixture
def toy_gum(expect):
    """Make the registry expect the toy file."""
    expect("gum", "en_gum-ud-train.conllu", checksum=git_blob(TOY))
    expect("gum", "en_gum-ud-train.rebuilt.conllu", TOY)
    expect("gum", "en_gum-ud-dev.conllu", TOY)


@pytest.mark.usefixtures("toy_gum")
class TestGum:
    @pytest.mark.parametrize(
        ("subset", "name"),
        [
            ("dev", "en_gum-ud-dev.conllu"),
            ("train", "en_gum-ud-train.conllu"),
            ("train", "en_gum-ud-train.rebuilt.conllu"),
        ],
    )
    def test_a_file_on_disk(self, tmp_path, subset, name):
        path = put(tmp_path, name, TOY)
        data = fetch_corpus(
            "gum", subset=subset, data_home=tmp_path, download_if_missing=False
        )
        assert [document.id for document in data.data] == ["toy"]
        assert [labels.tolist() for labels in data.target] == [[0]]
        assert data.filenames == [str(path)]
        assert "CC BY-NC-SA 4.0" in data.DESCR
        X, y = fetch_corpus("gum", subset=subset, data_home=tmp_path, return_X_y=True)
        assert (len(X), len(y)) == (1, 1)

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("en_gum-ud-train.conllu", f"git blob id is {git_blob(b'mine')}, not"),
            ("en_gum-ud-train.rebuilt.conllu", f"SHA256 is {sha256(b'mine')}, not"),
        ],
    )
    def test_another_file_is_refused_and_left(self, tmp_path, name, message):
        path = put(tmp_path, name, b"mine")
        with pytest.raises(OSError, match=message):
            fetch_corpus("gum", data_home=tmp_path)
        assert path.read_bytes() == b"mine"

    @pytest.mark.parametrize("right", [True, False])
    def test_the_train_file_is_looked_at_after_download(
        self, tmp_path, monkeypatch, right
    ):
        def fetch_file(url, folder, name, **_):
            assert url.endswith("/en_gum-ud-train.conllu")
            path = Path(folder, name)
            path.write_bytes(TOY if right else b"other")
            return path

        monkeypatch.setattr("skcalib.datasets._files.fetch_file", fetch_file)
        if right:
            assert len(fetch_corpus("gum", data_home=tmp_path).data) == 1
        else:
            with pytest.raises(OSError, match="git blob id"):
                fetch_corpus("gum", data_home=tmp_path)
            assert list((tmp_path / "gum").iterdir()) == []


def toy_litbank(n=12):
    """Return the files of documents of one mention each, in folds of their own."""
    files = {}
    for i in range(n):
        files[f"d{i:02}.ann"] = f"MENTION\tT1\t0\t0\t0\t0\tAda{i}\tPER\tPROP\n".encode()
        files[f"d{i:02}.txt"] = f"Ada{i} rests\n".encode()
    return files


class TestLitbank:
    @pytest.fixture(params=["files", "archive"])
    def home(self, request, tmp_path, monkeypatch):
        files = toy_litbank()
        entries = {name: {"sha256": sha256(each)} for name, each in files.items()}
        real = registry()["litbank"]["files"][ARCHIVE]
        digests = [hashlib.sha256(files[name]).digest() for name in sorted(files)]
        entries[ARCHIVE] = real | {"members_sha256": sha256(b"".join(digests))}
        folds = {
            str(k): [f"d{i:02}.ann" for i in range(12) if i % 10 == k]
            for k in range(10)
        }
        for key, value in (("files", entries), ("folds", folds)):
            monkeypatch.setitem(registry()["litbank"], key, value)
        folder = tmp_path / "litbank"
        folder.mkdir()
        if request.param == "files":
            for name, content in files.items():
                (folder / name).write_bytes(content)
        else:
            path = folder / ARCHIVE
            with zipfile.ZipFile(path, "w") as archive:
                for name, content in files.items():
                    archive.writestr(f"coref/tsv/{name}", content)
        return tmp_path

    @pytest.mark.parametrize(
        ("subset", "fold", "expected"),
        [
            ("test", 0, [0, 10]),
            ("dev", 0, [9]),
            ("train", 0, [1, 2, 3, 4, 5, 6, 7, 8, 11]),
            ("test", 3, [3]),
            ("dev", 3, [2]),
            ("all", 5, range(12)),
        ],
    )
    def test_folds(self, home, subset, fold, expected):
        options = {"data_home": home, "download_if_missing": False}
        data = fetch_corpus("litbank", subset=subset, fold=fold, **options)
        assert [document.id for document in data.data] == [f"d{i:02}" for i in expected]
        assert [labels.tolist() for labels in data.target] == [[0]] * len(expected)
        assert "CC BY 4.0" in data.DESCR

    def test_another_file_is_refused(self, home):
        message = "its SHA256 (of its members' checksums )?is"
        for path in (home / "litbank").iterdir():
            if path.name != ARCHIVE:
                path.write_bytes(b"mine")
                continue
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("d00.ann", "mine")
        with pytest.raises(OSError, match=message):
            fetch_corpus("litbank", data_home=home)

    @pytest.mark.parametrize(
        ("kwargs", "error"),
        [
            ({"fold": 10}, ValueError),
            ({"fold": -1}, ValueError),
            ({"fold": 1.0}, TypeError),
            ({"predicative": "merge"}, ValueError),
        ],
    )
    def test_parameters(self, home, kwargs, error):
        (name,) = kwargs
        with pytest.raises(error, match=f"The '{name}' parameter of fetch_corpus"):
            fetch_corpus("litbank", data_home=home, **kwargs)


def test_the_litbank_registry_has_a_hundred_documents_in_ten_folds():
    files, folds = (registry()["litbank"][key] for key in ("files", "folds"))
    assert {len(fold) for fold in folds.values()} == {10}
    names = {name for fold in folds.values() for name in fold}
    assert len(names) == 100
    texts = {name.replace(".ann", ".txt") for name in names}
    assert files.keys() == {*names, *texts, ARCHIVE}
    digests = [files[name]["sha256"] for name in sorted({*names, *texts})]
    assert len(set(digests)) == 200
    # The archive is that of these files.
    members = b"".join(map(bytes.fromhex, digests))
    assert files[ARCHIVE]["members_sha256"] == sha256(members)


class TestRealData:
    """Numbers are counts of the published files, made without this package."""

    @pytest.mark.parametrize(
        ("subset", "expected"),
        [
            pytest.param(
                "train", (177, 10224, 177410, 49649, 25758), marks=pytest.mark.slow
            ),
            ("dev", (30, 1575, 28119, 7897, 3940)),
            pytest.param("test", (30, 1464, 28397, 7927, 4319), marks=pytest.mark.slow),
        ],
    )
    def test_gum(self, need, subset, expected):
        end = ".rebuilt.conllu" if subset == "train" else ".conllu"
        need("gum", f"en_gum-ud-{subset}{end}")
        data = fetch_corpus("gum", subset=subset, download_if_missing=False)
        found = (
            len(data.data),
            sum(len(document.sentences) for document in data.data),
            sum(document.n_words for document in data.data),
            sum(len(document.mentions) for document in data.data),
            sum(len(set(document.entities)) for document in data.data),
        )
        assert found == expected
        assert all(document.date is not None for document in data.data)
        mentions = [mention for document in data.data for mention in document.mentions]
        assert all(mention.head is not None for mention in mentions)
        assert all("parts" not in mention.attributes for mention in mentions)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("predicative", "n_mentions", "n_entities", "n_singletons"),
        [("singleton", 29103, 7927, 5763), ("drop", 29103 - 692, 7235, 5763 - 692)],
    )
    def test_litbank(self, need, predicative, n_mentions, n_entities, n_singletons):
        need("litbank", ARCHIVE)
        data = fetch_corpus(
            "litbank", subset="all", predicative=predicative, download_if_missing=False
        )
        assert len(data.data) == 100
        assert sum(len(document.sentences) for document in data.data) == 8562
        assert sum(document.n_words for document in data.data) == 210532
        assert sum(labels.size for labels in data.target) == n_mentions
        sizes = [(labels == k).sum() for labels in data.target for k in set(labels)]
        assert len(sizes) == n_entities
        assert sizes.count(1) == n_singletons

    @pytest.mark.slow
    def test_the_layers_of_litbank_agree(self, need, real_home, tmp_path):
        need("litbank", ARCHIVE)  # the only file that has the CoNLL layer
        archive = real_home / "litbank" / ARCHIVE
        data = fetch_corpus("litbank", subset="test", fold=3)
        with zipfile.ZipFile(archive) as file:
            for document, labels in zip(data.data, data.target, strict=True):
                path = tmp_path / "x.conll"
                path.write_bytes(file.read(f"coref/conll/{document.id}.conll"))
                (other,) = read_conll2012(path)
                spans = [(m.start, m.end) for m in document.mentions]
                assert [(m.start, m.end) for m in other.mentions] == spans
                first = [other.entities.index(entity) for entity in other.entities]
                assert first == labels.tolist()
