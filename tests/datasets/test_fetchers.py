"""Fetchers: what is on disk is used, what is wrong is said, what is missing fetched."""

import contextlib
import dataclasses
import hashlib
import http.server
import io
import os
import socket
import threading
import zipfile
from pathlib import Path

import pytest

from skcalib.datasets import (
    _fetchers,
    fetch_ark_twitter_pos,
    fetch_ud_english_ewt,
    fetch_wsj_sample,
)
from skcalib.datasets._home import data_home

ARK, EWT, WSJ = _fetchers.ARK, _fetchers.EWT, _fetchers.WSJ

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


def replace_remote(monkeypatch, key, content, url="http://127.0.0.1:9/file"):
    """Make the table expect `content` for a subset of a data set."""
    sha256 = hashlib.sha256(content).hexdigest()
    remote = dataclasses.replace(_fetchers.REMOTE_FILES[key], url=url, sha256=sha256)
    monkeypatch.setitem(_fetchers.REMOTE_FILES, key, remote)
    return remote


def put(folder, remote, content):
    path = folder / remote.folder / remote.name
    path.parent.mkdir()
    path.write_bytes(content)
    return path


def put_expected(monkeypatch, folder, key, content):
    """Put a file that the table expects."""
    return put(folder, replace_remote(monkeypatch, key, content), content)


class TestDataHome:
    def test_the_argument_comes_first(self, monkeypatch):
        monkeypatch.setenv("SKCALIB_DATA", "/elsewhere")
        assert data_home("/here") == Path("/here")

    def test_then_the_environment(self, monkeypatch):
        monkeypatch.setenv("SKCALIB_DATA", "/elsewhere")
        assert data_home() == Path("/elsewhere")

    @pytest.mark.parametrize("value", [None, ""])
    def test_then_the_home_folder(self, monkeypatch, value):
        if value is None:
            monkeypatch.delenv("SKCALIB_DATA", raising=False)
        else:
            monkeypatch.setenv("SKCALIB_DATA", value)
        assert data_home() == Path.home() / "skcalib_data"

    def test_the_tilde_is_the_home_folder(self):
        assert data_home("~/x") == Path.home() / "x"

    def test_a_number_is_no_folder(self):
        with pytest.raises(TypeError, match="'data_home' parameter must be"):
            data_home(3)


class TestOnDisk:
    def test_tweets(self, tmp_path, monkeypatch):
        path = put_expected(monkeypatch, tmp_path, (ARK, "dev"), TOY_TWEETS)
        data = fetch_ark_twitter_pos(subset="dev", data_home=tmp_path)
        assert data.data == [["#yes", "no"], ["no"]]
        assert data.target == [["A", "B"], ["B"]]
        assert data.filenames == [str(path)]
        assert "CC BY 3.0" in data.DESCR

    def test_web_text(self, tmp_path, monkeypatch):
        put(
            tmp_path,
            replace_remote(monkeypatch, (EWT, "train"), TOY_CONLLU),
            TOY_CONLLU,
        )
        data = fetch_ud_english_ewt(data_home=tmp_path)
        assert data.data == [["It", "rains"], ["No"]]
        assert data.target == [["PRP", "VBZ"], ["UH"]]
        assert data.groups == [0, 1]
        assert [document.date is None for document in data.documents] == [False, True]
        assert "CC BY-SA 4.0" in data.DESCR
        _, y = fetch_ud_english_ewt(data_home=tmp_path, column="upos", return_X_y=True)
        assert y == [["PRON", "VERB"], ["INTJ"]]

    @pytest.mark.parametrize(
        ("subset", "first", "last"),
        [("train", 1, 159), ("dev", 160, 179), ("test", 180, 199), ("all", 1, 199)],
    )
    def test_newspaper_text_is_split_by_file(
        self, tmp_path, monkeypatch, subset, first, last
    ):
        content = toy_treebank()
        path = put_expected(monkeypatch, tmp_path, (WSJ, "all"), content)
        data = fetch_wsj_sample(subset=subset, data_home=tmp_path)
        numbers = list(range(first, last + 1))
        assert data.data == [[str(number), "."] for number in numbers]
        assert data.target == [["CD", "."]] * len(numbers)
        assert data.groups == numbers
        assert "NOT openly licensed" in data.DESCR
        assert list(path.parent.iterdir()) == [path]

    def test_data_and_target_alone(self, tmp_path, monkeypatch):
        put(
            tmp_path,
            replace_remote(monkeypatch, (ARK, "train"), TOY_TWEETS),
            TOY_TWEETS,
        )
        X, y = fetch_ark_twitter_pos(data_home=tmp_path, return_X_y=True)
        assert (len(X), len(y)) == (2, 2)

    def test_the_environment_names_the_folder(self, tmp_path, monkeypatch):
        put(
            tmp_path,
            replace_remote(monkeypatch, (ARK, "train"), TOY_TWEETS),
            TOY_TWEETS,
        )
        monkeypatch.setenv("SKCALIB_DATA", str(tmp_path))
        assert len(fetch_ark_twitter_pos(download_if_missing=False).data) == 2

    @pytest.mark.parametrize("download", [True, False])
    def test_another_file_is_refused_and_left_as_it_is(
        self, tmp_path, monkeypatch, download
    ):
        remote = replace_remote(monkeypatch, (ARK, "train"), TOY_TWEETS)
        path = put(tmp_path, remote, b"mine")
        found = hashlib.sha256(b"mine").hexdigest()
        message = f"oct27.train is not .* SHA256 is {found}, not {remote.sha256}. Move"
        with pytest.raises(OSError, match=message):
            fetch_ark_twitter_pos(data_home=tmp_path, download_if_missing=download)
        assert path.read_bytes() == b"mine"

    def test_a_missing_file_is_named_with_the_remedy(self, tmp_path):
        message = r"oct27\.train does not exist.*download_if_missing=True.*SKCALIB_DATA"
        with pytest.raises(OSError, match=message):
            fetch_ark_twitter_pos(data_home=tmp_path, download_if_missing=False)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "fetch", [fetch_ark_twitter_pos, fetch_ud_english_ewt, fetch_wsj_sample]
)
@pytest.mark.parametrize(
    ("kwargs", "error"),
    [
        ({"subset": "validation"}, ValueError),
        ({"n_retries": -1}, ValueError),
        ({"n_retries": 1.5}, TypeError),
        ({"delay": -1}, ValueError),
    ],
)
def test_parameters_are_checked(fetch, kwargs, error, tmp_path):
    (name,) = kwargs
    message = f"The '{name}' parameter of {fetch.__name__} must be"
    with pytest.raises(error, match=message):
        fetch(data_home=tmp_path, download_if_missing=False, **kwargs)


def test_the_column_is_checked_before_any_file_is_looked_for(tmp_path):
    with pytest.raises(ValueError, match="The 'column' parameter"):
        fetch_ud_english_ewt(
            column="pos", data_home=tmp_path, download_if_missing=False
        )


def test_the_table_pins_commits_and_checksums():
    for (folder, _), remote in _fetchers.REMOTE_FILES.items():
        assert remote.folder == folder
        assert len(remote.sha256) == 64
        assert remote.url.startswith("https://raw.githubusercontent.com/")
        commit = remote.url.split("/")[5]
        assert len(commit) == 40
        assert remote.url.endswith(remote.name)


class Server:
    """An HTTP server that gives each request the next of its answers."""

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
    @pytest.fixture(autouse=True)
    def no_proxy(self, monkeypatch):
        monkeypatch.setenv("no_proxy", "*")

    def fetch(self, monkeypatch, folder, url, *, n_retries=0):
        replace_remote(monkeypatch, (ARK, "train"), TOY_TWEETS, url)
        return fetch_ark_twitter_pos(data_home=folder, n_retries=n_retries, delay=0)

    def test_a_file_is_downloaded_once(self, tmp_path, monkeypatch):
        with serving((200, TOY_TWEETS)) as server:
            home = tmp_path / "new" / "folder"
            for _ in range(2):
                data = self.fetch(monkeypatch, home, server.url)
                assert data.data == [["#yes", "no"], ["no"]]
        assert len(server.requests) == 1
        assert [path.name for path in (home / ARK).iterdir()] == ["oct27.train"]

    def test_the_log_tells_of_a_download(self, tmp_path, monkeypatch, caplog):
        with serving((200, TOY_TWEETS)) as server, caplog.at_level("INFO"):
            for _ in range(2):
                self.fetch(monkeypatch, tmp_path, server.url)
        (record,) = (r for r in caplog.records if r.name == "skcalib.datasets")
        path = tmp_path / ARK / "oct27.train"
        assert record.getMessage() == f"Downloading {server.url} to {path}"

    def test_a_wrong_checksum_leaves_nothing_behind(self, tmp_path, monkeypatch):
        with serving((200, b"something else")) as server:
            message = f"could not download {server.url}: The SHA256 checksum .* put it"
            with pytest.raises(OSError, match=message):
                self.fetch(monkeypatch, tmp_path, server.url)
        assert list((tmp_path / ARK).iterdir()) == []

    def test_after_a_failure_it_can_be_downloaded(self, tmp_path, monkeypatch):
        with serving((200, b"something else"), (200, TOY_TWEETS)) as server:
            with pytest.raises(OSError, match="SHA256"):
                self.fetch(monkeypatch, tmp_path, server.url)
            assert len(self.fetch(monkeypatch, tmp_path, server.url).data) == 2

    def test_a_file_that_is_not_there(self, tmp_path, monkeypatch):
        with serving((404, b"")) as server:
            message = "fetch_ark_twitter_pos could not download .*404.*oct27.train"
            with pytest.raises(OSError, match=message):
                self.fetch(monkeypatch, tmp_path, server.url)
        assert list((tmp_path / ARK).iterdir()) == []

    def test_no_server(self, tmp_path, monkeypatch):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            port = closed.getsockname()[1]
        with pytest.raises(OSError, match="could not download .*put it at"):
            self.fetch(monkeypatch, tmp_path, f"http://127.0.0.1:{port}/oct27.train")
        assert list((tmp_path / ARK).iterdir()) == []

    def test_it_tries_again_as_often_as_told(self, tmp_path, monkeypatch):
        with (
            serving((503, b"")) as server,
            pytest.warns(UserWarning, match="Retry downloading"),
            pytest.raises(OSError, match="503"),
        ):
            self.fetch(monkeypatch, tmp_path, server.url, n_retries=2)
        assert len(server.requests) == 3

    def test_a_later_try_may_succeed(self, tmp_path, monkeypatch):
        with (
            serving((503, b""), (200, TOY_TWEETS)) as server,
            pytest.warns(UserWarning, match="Retry downloading"),
        ):
            data = self.fetch(monkeypatch, tmp_path, server.url, n_retries=1)
        assert len(data.data) == 2


def sizes(data):
    """Return the numbers of sentences, tokens and tags."""
    tags = [tag for sentence in data.target for tag in sentence]
    assert [len(words) for words in data.data] == [len(t) for t in data.target]
    return len(data.data), len(tags), len(set(tags))


class TestRealData:
    """Numbers are counts of the published files, made without this package."""

    @pytest.fixture(autouse=True)
    def folder(self):
        if not os.environ.get("SKCALIB_DATA"):
            pytest.skip("SKCALIB_DATA names no folder of data sets")

    def fetch(self, fetch, **kwargs):
        (remote,) = {
            remote.folder: remote
            for (_, subset), remote in _fetchers.REMOTE_FILES.items()
            if remote.folder == fetch.__name__.removeprefix("fetch_")
            and subset in (kwargs["subset"], "all")
        }.values()
        if not (data_home() / remote.folder / remote.name).exists():
            pytest.skip(f"{remote.folder}/{remote.name} is not in SKCALIB_DATA")
        return fetch(download_if_missing=False, **kwargs)

    @pytest.mark.parametrize(
        ("subset", "expected"),
        [
            ("train", (1000, 14619, 25)),
            ("dev", (327, 4823, 23)),
            ("test", (500, 7152, 23)),
            ("daily547", (547, 7707, 25)),
        ],
    )
    def test_tweets(self, subset, expected):
        assert sizes(self.fetch(fetch_ark_twitter_pos, subset=subset)) == expected

    @pytest.mark.parametrize(
        ("subset", "n_documents", "expected"),
        [
            ("train", 540, (12544, 204577, 49)),
            ("dev", 318, (2001, 25147, 49)),
            ("test", 316, (2077, 25094, 48)),
        ],
    )
    def test_web_text(self, subset, n_documents, expected):
        data = self.fetch(fetch_ud_english_ewt, subset=subset)
        assert sizes(data) == expected
        assert len(data.documents) == n_documents
        sentences = [s for document in data.documents for s in document.sentences]
        assert len({tag for sentence in sentences for tag in sentence.upos}) == 17
        for document in data.documents:
            genre = document.id.split("-")[0]
            assert (document.date is not None) == (
                genre in ("answers", "newsgroup", "weblog")
            )

    def test_years_of_web_text(self):
        years = []
        for subset in ("train", "dev", "test"):
            data = self.fetch(fetch_ud_english_ewt, subset=subset)
            genres = ("weblog", "newsgroup")
            years += [d.date.year for d in data.documents if d.id.startswith(genres)]
        counts = {year: years.count(year) for year in sorted(set(years))}
        assert counts == {2003: 11, 2004: 46, 2005: 66, 2006: 12}

    def test_newspaper_text(self):
        data = self.fetch(fetch_wsj_sample, subset="all")
        assert sizes(data) == (3914, 94084, 45)
        assert len(set(data.groups)) == 199
        parts = [
            self.fetch(fetch_wsj_sample, subset=subset)
            for subset in ("train", "dev", "test")
        ]
        assert sum((part.data for part in parts), []) == data.data
        assert not set(parts[0].groups) & set(parts[2].groups)
