"""One function for all corpora: what is on disk is used, what is missing is fetched."""

import contextlib
import functools
import hashlib
import http.server
import inspect
import io
import re
import socket
import threading
import zipfile
from pathlib import Path

import pytest
from cases import case

from skcalib import datasets
from skcalib._names import REPLACED
from skcalib.datasets import fetch_corpus
from skcalib.datasets._corpora import _options_of
from skcalib.datasets._files import KINDS, checksum, registry

CORPORA = list(registry())

ARK = ("ark_twitter_pos", "oct27.train")
EWT = ("ud_english_ewt", "en_ewt-ud-train.conllu")
WSJ = ("wsj_sample", "treebank.zip")

TOY_TWEETS = b"#yes\tA\nno\tB\n\nno\tB\n"
TOY_CONLLU = b"""\
# newdoc id = weblog-toy_20041117172713_ENG_20041117_172713
1	It	it	PRON	PRP	_	2	nsubj	_	_
2	rains	rain	VERB	VBZ	_	0	root	_	_

# newdoc id = email-toy
1	No	no	INTJ	UH	_	0	root	_	_

"""


def toy_treebank():
    """Return a zip archive of 199 files of one sentence each."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for number in range(1, 200):
            tree = f"\n( (S (CD {number}) (-NONE- *) (. .) ))\n"
            file.writestr(f"treebank/combined/wsj_{number:04}.mrg", tree)
    return archive.getvalue()


class TestDataHome:
    def home(self, value=None):
        """Return the folder that the message about a missing file names."""
        with pytest.raises(OSError, match="treebank.zip does not exist") as error:
            fetch_corpus("wsj_sample", data_home=value, download_if_missing=False)
        (path,) = re.findall(r"\S*treebank\.zip(?= does not exist)", str(error.value))
        return Path(path).parents[1]

    def test_the_argument_comes_first(self, monkeypatch):
        monkeypatch.setenv("SKCALIB_DATA", "/elsewhere")
        assert self.home("/here") == Path("/here")

    def test_then_the_environment(self, monkeypatch):
        monkeypatch.setenv("SKCALIB_DATA", "/elsewhere")
        assert self.home() == Path("/elsewhere")

    def test_then_the_home_folder(self, monkeypatch, tmp_path):
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
        monkeypatch.delenv("SKCALIB_DATA", raising=False)
        assert self.home() == tmp_path / "skcalib_data"
        assert self.home("~/x") == tmp_path / "x"
        monkeypatch.setenv("SKCALIB_DATA", "")
        assert self.home() == tmp_path / "skcalib_data"

    def test_a_number_is_no_folder(self):
        with pytest.raises(TypeError, match="'data_home' parameter of fetch_cor"):
            fetch_corpus("wsj_sample", data_home=3)


class TestOnDisk:
    def test_tweets(self, put, tmp_path):
        path = put("ark_twitter_pos", "oct27.dev", TOY_TWEETS)
        data = fetch_corpus("ark_twitter_pos", subset="dev", data_home=tmp_path)
        assert data.data == [["#yes", "no"], ["no"]]
        assert data.target == [["A", "B"], ["B"]]
        assert data.filenames == [str(path)]
        assert "CC BY 3.0" in data.DESCR

    def test_web_text(self, put, tmp_path):
        put(*EWT, TOY_CONLLU)
        data = fetch_corpus("ud_english_ewt", data_home=tmp_path)
        assert data.data == [["It", "rains"], ["No"]]
        assert data.target == [["PRP", "VBZ"], ["UH"]]
        assert data.groups == [0, 1]
        assert [document.date is None for document in data.documents] == [False, True]
        assert "CC BY-SA 4.0" in data.DESCR
        _, y = fetch_corpus(
            "ud_english_ewt", data_home=tmp_path, column="upos", return_X_y=True
        )
        assert y == [["PRON", "VERB"], ["INTJ"]]

    @pytest.mark.parametrize(
        ("subset", "first", "last"),
        [("train", 1, 159), ("dev", 160, 179), ("test", 180, 199), ("all", 1, 199)],
    )
    def test_newspaper_text_is_split_by_file(self, put, tmp_path, subset, first, last):
        path = put(*WSJ, toy_treebank())
        data = fetch_corpus("wsj_sample", subset=subset, data_home=tmp_path)
        numbers = list(range(first, last + 1))
        assert data.data == [[str(number), "."] for number in numbers]
        assert data.target == [["CD", "."]] * len(numbers)
        assert data.groups == numbers
        assert "NOT openly licensed" in data.DESCR
        assert list(path.parent.iterdir()) == [path]

    def test_the_message_about_another_file_has_both_checksums(self, put, tmp_path):
        put(*ARK, TOY_TWEETS).write_bytes(b"mine")
        found, expected = (
            hashlib.sha256(content).hexdigest() for content in (b"mine", TOY_TWEETS)
        )
        message = f"oct27.train is not .* SHA256 is {found}, not {expected}. Move"
        with pytest.raises(OSError, match=message):
            fetch_corpus("ark_twitter_pos", data_home=tmp_path)


@pytest.mark.parametrize("name", CORPORA)
def test_a_missing_file_is_named_and_another_file_is_left(name, tmp_path):
    message = "does not exist, and download_if_missing=False.*SKCALIB_DATA"
    with pytest.raises(OSError, match=message) as error:
        fetch_corpus(name, data_home=tmp_path, download_if_missing=False)
    assert list(tmp_path.iterdir()) == []
    path = Path(str(error.value).partition(" does not exist")[0])
    path.parent.mkdir()
    path.write_bytes(b"mine")
    for download in (True, False):
        with pytest.raises(OSError, match=f"{path.name} is not the file expected"):
            fetch_corpus(name, data_home=tmp_path, download_if_missing=download)
        assert path.read_bytes() == b"mine"


def test_parameters_are_checked(tmp_path):
    wrong = [
        ("name", "gun", ValueError),
        ("name", None, ValueError),
        ("subset", "validation", ValueError),
        ("n_retries", -1, ValueError),
        ("n_retries", 1.5, TypeError),
        ("delay", -1, ValueError),
        ("delay", "1", TypeError),
        ("column", "pos", ValueError),
    ]
    for name, value, error in wrong:
        given = {"name": "ud_english_ewt", name: value}
        message = f"The '{name}' parameter of fetch_corpus must be"
        with case(f"{name}={value}"), pytest.raises(error, match=message):
            fetch_corpus(data_home=tmp_path, download_if_missing=False, **given)


def test_an_unknown_option_is_answered_with_those_of_the_corpus(tmp_path):
    message = "'folds' .* is unknown. Options of 'litbank': 'fold', 'predicative'."
    with pytest.raises(TypeError, match=message):
        fetch_corpus("litbank", folds=2, data_home=tmp_path)
    with pytest.raises(TypeError, match="is unknown. Options of 'gum': none."):
        fetch_corpus("gum", folds=2, data_home=tmp_path)


def test_a_subset_without_its_keyword_is_answered_with_the_keywords():
    with pytest.raises(
        TypeError, match=r"2 were given\. .* by keyword: subset=, data_"
    ):
        fetch_corpus("ark_twitter_pos", "train")


def test_the_documentation_has_every_corpus_subset_and_option():
    text = inspect.getdoc(fetch_corpus)
    for name, entry in registry().items():
        with case(name):
            (subsets,) = re.findall(rf"- '{name}' \((.*?)\)", text)
            assert re.findall(r"'(\w+)'", subsets) == list(entry["subsets"])
            for option in _options_of(name):
                corpora = re.search(rf"- `{option}`, for (.*?) \(", text, re.DOTALL)
                assert corpora is not None, option
                assert f"'{name}'" in corpora[1]


@pytest.mark.parametrize("old", REPLACED["skcalib.datasets"])
def test_old_names_warn_and_fetch_the_same(old, tmp_path):
    name = old.removeprefix("fetch_")
    assert old not in dir(datasets)
    kwargs = {"data_home": tmp_path, "download_if_missing": False, "return_X_y": True}
    fetch = getattr(datasets, old)
    message = rf"{old} will .* 0\.13\. Use fetch_corpus\('{name}', \.\.\.\)"
    with (
        pytest.warns(FutureWarning, match=message) as seen,
        pytest.raises(OSError, match="does not exist"),
    ):
        fetch(**kwargs)
    assert seen[0].filename == __file__


def test_the_registry_pins_commits_and_checksums():
    for corpus, entry in registry().items():
        for name, fields in entry.get("files", {}).items():
            with case(f"{corpus}/{name}"):
                (kind,) = KINDS.keys() & fields.keys()
                assert len(fields[kind]) == (40 if kind == "git_blob" else 64)
                assert set(fields[kind]) <= set("0123456789abcdef")
                url = fields.get("url", entry.get("url"))
                assert url == "" or re.match("https://.*/[0-9a-f]{40}[/.]", url)


def test_subsets_are_of_published_files():
    """Whoever has none of our files can download those of each subset."""
    for name, entry in registry().items():
        lists = [*entry["subsets"].values(), *entry.get("folds", {}).values()]
        for file in (file for files in lists for file in files):
            folder, _, own = file.rpartition("/")
            with case(file):
                assert registry()[folder or name]["files"][own].get("url", "x")


def test_each_corpus_is_described_with_its_licence(real_home):
    folder = Path(datasets.__file__).parent / "data"
    names = {path.stem for path in folder.glob("*.rst")}
    outputs = {f"system_outputs_{name}" for name in ("wnut17", "wmt20")}
    assert names == {*CORPORA, *outputs} - {"system_outputs"}
    for name in names:
        with case(name):
            text = (folder / f"{name}.rst").read_text("utf-8")
            title, line, *_ = text.splitlines()
            assert line == "=" * len(title)
            assert re.search("Licence:|openly licensed", text)
            assert "Please cite" in text


def test_a_git_blob_id_is_that_of_git(tmp_path):
    path = tmp_path / "hello"
    path.write_bytes(b"hello\n")
    # echo hello | git hash-object --stdin
    expected = "ce013625030ba8dba906f756967f9e9ca394464a"
    assert checksum(path, "git_blob") == expected


def test_archives_of_the_same_files_have_one_checksum(tmp_path):
    contents = {"b.txt": b"two", "a.txt": b"one"}
    for name, folder, method in (("x", "", 0), ("y", "any/", 8)):
        with zipfile.ZipFile(tmp_path / name, "w", compression=method) as archive:
            for member in sorted(contents, reverse=bool(folder)):
                archive.writestr(folder + member, contents[member])
            archive.writestr(f"{folder}README", name)
    digests = [hashlib.sha256(contents[name]).digest() for name in ("a.txt", "b.txt")]
    expected = hashlib.sha256(b"".join(digests)).hexdigest()
    for name in "xy":
        found = checksum(tmp_path / name, "members_sha256", r"(?:.*/)?(\w\.txt)")
        assert found == expected


class Server:
    """An HTTP server that gives each request the next of its answers.

    An answer has a status and a body. `requests` has the path of each request.
    """

    def __init__(self, answers):
        requests = self.requests = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                status, body = answers[min(len(requests), len(answers) - 1)]
                requests.append(self.path)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/oct27.train"


@contextlib.contextmanager
def serving(*answers):
    server = Server(answers)
    # A short poll, for shutdown waits for one.
    run = threading.Thread(target=server.http.serve_forever, args=(0.01,))
    run.start()
    try:
        yield server
    finally:
        server.http.shutdown()
        server.http.server_close()
        run.join()


class TestDownload:
    @pytest.fixture
    def fetch(self, expect, monkeypatch, tmp_path):
        monkeypatch.setenv("no_proxy", "*")

        def fetch_it(url, *, folder=tmp_path, n_retries=0):
            expect(*ARK, TOY_TWEETS, url=url)
            retries = {"n_retries": n_retries, "delay": 0}
            return fetch_corpus("ark_twitter_pos", data_home=folder, **retries)

        return fetch_it

    def test_a_file_is_downloaded_once(self, fetch, tmp_path):
        with serving((200, TOY_TWEETS)) as server:
            home = tmp_path / "new" / "folder"
            for _ in range(2):
                data = fetch(server.url, folder=home)
                assert data.data == [["#yes", "no"], ["no"]]
        assert len(server.requests) == 1
        assert [path.name for path in (home / ARK[0]).iterdir()] == ["oct27.train"]

    def test_the_log_tells_of_a_download(self, fetch, tmp_path, caplog):
        with serving((200, TOY_TWEETS)) as server, caplog.at_level("INFO"):
            for _ in range(2):
                fetch(server.url)
        (record,) = (r for r in caplog.records if r.name == "skcalib.datasets")
        path = tmp_path / ARK[0] / "oct27.train"
        assert record.getMessage() == f"Downloading {server.url} to {path}"

    def test_a_wrong_checksum_leaves_nothing_behind(self, fetch, tmp_path):
        with serving((200, b"something else")) as server:
            message = f"Could not download {server.url}: its SHA256 is .* put it"
            with pytest.raises(OSError, match=message):
                fetch(server.url)
        assert list((tmp_path / ARK[0]).iterdir()) == []

    def test_a_file_that_is_not_there(self, fetch, tmp_path):
        with serving((404, b"")) as server:
            message = "Could not download .*404.*oct27.train"
            with pytest.raises(OSError, match=message):
                fetch(server.url)
        assert list((tmp_path / ARK[0]).iterdir()) == []

    def test_what_is_no_web_server(self, fetch, tmp_path):
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as server:

            def answer():
                connection, _ = server.accept()
                with connection:
                    connection.recv(1000)
                    connection.sendall(b"220 mail\r\n")

            run = threading.Thread(target=answer)
            run.start()
            url = f"http://127.0.0.1:{server.getsockname()[1]}/oct27.train"
            with pytest.raises(OSError, match="Could not download .*220 mail.*put it"):
                fetch(url)
            run.join()
        assert list((tmp_path / ARK[0]).iterdir()) == []

    def test_a_data_home_that_is_no_folder(self, fetch, tmp_path):
        path = tmp_path / "file"
        path.write_bytes(b"mine")
        with pytest.raises(OSError, match="Could not download http"):
            fetch("http://127.0.0.1:9/file", folder=path)

    def test_it_tries_again_as_often_as_told(self, fetch, tmp_path):
        with (
            serving((503, b"")) as server,
            pytest.warns(UserWarning, match="Retry downloading"),
            pytest.raises(OSError, match="503"),
        ):
            fetch(server.url, n_retries=2)
        assert len(server.requests) == 3

    def test_a_later_try_may_succeed(self, fetch, tmp_path):
        with (
            serving((503, b""), (200, TOY_TWEETS)) as server,
            pytest.warns(UserWarning, match="Retry downloading"),
        ):
            data = fetch(server.url, n_retries=1)
        assert len(data.data) == 2


def sizes(data):
    """Return the numbers of sentences, tokens and tags."""
    tags = [tag for sentence in data.target for tag in sentence]
    assert [len(words) for words in data.data] == [len(t) for t in data.target]
    return len(data.data), len(tags), len(set(tags))


@pytest.fixture(scope="module")
def fetched(need):
    @functools.cache
    def fetch_it(name, **kwargs):
        need(name)
        return fetch_corpus(name, download_if_missing=False, **kwargs)

    return fetch_it


class TestRealData:
    """Numbers are counts of the published files, made without this package."""

    @pytest.mark.parametrize(
        ("subset", "expected"),
        [
            ("train", (1000, 14619, 25)),
            ("dev", (327, 4823, 23)),
            ("test", (500, 7152, 23)),
            ("daily547", (547, 7707, 25)),
        ],
    )
    def test_tweets(self, fetched, subset, expected):
        assert sizes(fetched("ark_twitter_pos", subset=subset)) == expected

    @pytest.mark.parametrize(
        ("subset", "n_documents", "expected"),
        [
            pytest.param("train", 540, (12544, 204577, 49), marks=pytest.mark.slow),
            ("dev", 318, (2001, 25147, 49)),
            pytest.param("test", 316, (2077, 25094, 48), marks=pytest.mark.slow),
        ],
    )
    def test_web_text(self, fetched, subset, n_documents, expected):
        data = fetched("ud_english_ewt", subset=subset)
        assert sizes(data) == expected
        assert len(data.documents) == n_documents
        sentences = [s for document in data.documents for s in document.sentences]
        assert len({tag for sentence in sentences for tag in sentence.upos}) == 17
        for document in data.documents:
            genre = document.id.split("-")[0]
            assert (document.date is not None) == (
                genre in ("answers", "newsgroup", "weblog")
            )

    @pytest.mark.slow
    def test_newspaper_text(self, fetched):
        data = fetched("wsj_sample", subset="all")
        assert sizes(data) == (3914, 94084, 45)
        assert len(set(data.groups)) == 199
        parts = [
            fetched("wsj_sample", subset=subset) for subset in ("train", "dev", "test")
        ]
        assert sum((part.data for part in parts), []) == data.data
        assert not set(parts[0].groups) & set(parts[2].groups)
