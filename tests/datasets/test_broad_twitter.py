"""Tagged names in tweets: parts, sections, tokens without text, what is refused."""

import json
from collections import Counter
from pathlib import Path

import pytest

from skcalib.datasets import fetch_corpus

TEXTS = {
    "a": "Ann\tB-PER\nLee\tI-PER\nleft\tO\n\nhi\tO\n",
    "b": "in\tO\nRome\tB-LOC\n",
    "g": "\t O\n".replace(" ", "") + "\n\tO\nno\tO\n",
    "h": "dev\tO\n",
    "f": "test\tO\n \tO\n",
}


@pytest.fixture
def sections(put, tmp_path):
    """Put five small sections where the real ones would be."""
    for letter, text in TEXTS.items():
        put("emoticon_tweets", f"btc_{letter}.conll", text)
    return tmp_path


def test_the_training_part_has_three_sections_in_order(sections):
    names = fetch_corpus("broad_twitter_entities", data_home=sections)
    # The only token of the first tweet of section g has no text: nothing is left of it.
    assert names.data == [["Ann", "Lee", "left"], ["hi"], ["in", "Rome"], ["_", "no"]]
    assert names.target == [["B-PER", "I-PER", "O"], ["O"], ["O", "B-LOC"], ["O", "O"]]
    assert names.section.tolist() == ["a", "a", "b", "g"]
    assert [Path(name).name for name in names.filenames] == [
        "btc_a.conll",
        "btc_b.conll",
        "btc_g.conll",
    ]
    assert "CC BY 4.0" in names.DESCR


@pytest.mark.parametrize(
    ("subset", "words"), [("dev", [["dev"]]), ("test", [["test", "_"]])]
)
def test_the_other_parts_are_a_section_each(sections, subset, words):
    X, y = fetch_corpus(
        "broad_twitter_entities", subset=subset, data_home=sections, return_X_y=True
    )
    assert words == X
    assert [len(tags) for tags in y] == [len(tokens) for tokens in X]


def test_the_real_sections_have_as_many_names_as_counted(need, real_home):
    need("emoticon_tweets", *(f"btc_{letter}.conll" for letter in TEXTS))
    counts = real_home / "counts.json"
    if not counts.exists():
        pytest.skip("counts.json is not in SKCALIB_DATA")
    names = fetch_corpus(
        "broad_twitter_entities", subset="all", download_if_missing=False
    )
    tags = Counter(tag for tags in names.target for tag in tags)
    # Lines that end in these labels, counted outside.
    assert (tags["B-PER"], tags["B-LOC"], tags["B-ORG"]) == (7869, 2678, 4013)
    assert len(tags) == 7
    messages = json.loads(counts.read_text())["emoticon_tweets"]
    of_sections = Counter(names.section.tolist())
    # One tweet of section h is a line feed and nothing else.
    of_sections["h"] += 1
    for letter, n in of_sections.items():
        assert n == messages[f"btc_{letter}.conll"]["messages"]
