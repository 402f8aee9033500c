"""State of the Union addresses: texts, dates, parses."""

import datetime
import io
import zipfile

import pytest

from skcalib.datasets import fetch_corpus

FILE = "state_union.zip"
TEXTS = {
    "1946-Truman": b"MESSAGE\r\n\r\nJanuary 21, 1946\r\n\r\nSir,\n",
    "1957-Eisenhower": b"MESSAGE\n \nI  appear today.\n",
    "1970-Nixon": b"Message. January 22, 1970\n\nAmerica\xa1\xa6s goals\n",
    "2001-GWBush-2": b"ADDRESS\nSeptember 20, 2001 \nTHE PRESIDENT: \xe2\x80\x9cWe\n",
}


def zipped(texts):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("state_union/README", "about")
        for name, content in texts.items():
            archive.writestr(f"state_union/{name}.txt", content)
    return file.getvalue()


@pytest.fixture
def home(put, tmp_path):
    put("state_union", FILE, zipped(TEXTS))
    return tmp_path


def test_texts_and_dates(home):
    data = fetch_corpus("state_union", data_home=home, download_if_missing=False)
    assert not data.parsed
    assert [document.id for document in data.data] == list(TEXTS)
    assert [document.date for document in data.data] == [
        datetime.date(1946, 1, 21),
        datetime.date(1957, 1, 10),
        datetime.date(1970, 1, 22),
        datetime.date(2001, 9, 20),
    ]
    truman, eisenhower, nixon, bush = (d.metadata for d in data.data)
    assert truman["paragraphs"][::2] == ("MESSAGE", "Sir,")
    assert eisenhower["paragraphs"] == ("MESSAGE", "I appear today.")
    assert nixon["paragraphs"][1] == "America\N{RIGHT SINGLE QUOTATION MARK}s goals"
    assert bush["president"] == "GWBush"
    assert bush["paragraphs"][2].endswith("\N{LEFT DOUBLE QUOTATION MARK}We")
    assert "public domain" in data.DESCR
    assert fetch_corpus("state_union", data_home=home, return_X_y=True) == (
        data.data,
        None,
    )


def test_real_addresses(need):
    need("state_union")
    documents = fetch_corpus(
        "state_union", parsed=False, download_if_missing=False
    ).data
    assert len(documents) == 65
    assert all(str(d.date.year) == d.id[:4] for d in documents)
    assert len({d.date.year for d in documents}) == 61
    # Congress met on working days only
    assert all(d.date.weekday() < 5 for d in documents)
    words = sum(len(p.split()) for d in documents for p in d.metadata["paragraphs"])
    assert abs(words - 349711) < 200
    odd = {c for d in documents for p in d.metadata["paragraphs"] for c in p}
    assert {c for c in odd if ord(c) > 0xFF} <= set("—’“”…")
