"""Messages labelled by their smileys: what is read, drawn, left out and refused."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skcalib.datasets import _corpora, fetch_corpus

GUREZ = """\
What a day :)
no smiley
RT @me_2: what a  day :)))
What a day
it rains https://t.co/abc
RT @you: It rains https://t.co/xyz
"::)" is odd
nothing :( \u2028 é
never
"""
OTHERS = {
    "wnut17_ile.10000": "one\ntwo\n",
    "wnut17_palm.10000": ":)\nthree",
    "wnut17_rigo.10000": "four :)\r\nfive\r\n",
}
BTC_A = "Good\tO\n:\tO\n)\tO\n)\tO\n\nRT\tO\n@\tB-PER\nme\tB-PER\n:\tO\nno\tO\n"
ARK_TRAIN = ":\t,\n)\t,\n\nyes\t!\n:))\tE\n\n#\tA\n"


@pytest.fixture
def put_emoticon(put):
    return lambda name, text: put("emoticon_tweets", name, text)


@pytest.fixture
def wnut(put_emoticon):
    return [
        str(put_emoticon(name, text))
        for name, text in {"wnut17_gurez.10000": GUREZ, **OTHERS}.items()
    ]


class TestLines:
    def test_everything_as_written(self, wnut, tmp_path):
        found = fetch_corpus(
            "emoticon_tweets",
            subset="wnut17",
            remove_emoticons=False,
            drop_duplicates=False,
            balanced=False,
            data_home=tmp_path,
        )
        lines = GUREZ.split("\n")[:-1]
        rest = ["one", "two", ":)", "three", "four :)", "five"]
        assert found.data == lines + rest
        assert found.target.tolist() == [1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0]
        assert found.target_names == ["other", "happy"]
        assert found.filenames == wnut
        assert found.sources == [
            *["wnut17_gurez.10000"] * 9,
            *["wnut17_ile.10000"] * 2,
            *["wnut17_palm.10000"] * 2,
            *["wnut17_rigo.10000"] * 2,
        ]
        assert "CC BY 4.0" in found.DESCR

    def test_smileys_go_with_all_their_mouths(self, wnut, tmp_path):
        X, y = fetch_corpus(
            "emoticon_tweets",
            subset="wnut17",
            drop_duplicates=False,
            balanced=False,
            data_home=tmp_path,
            return_X_y=True,
        )
        happy = [text for text, label in zip(X, y, strict=True) if label]
        expected = ["What a day", "RT @me_2: what a  day", '": " is odd', "", "four"]
        assert happy == expected
        # Nothing else is touched, the line separator of Unicode included.
        assert X[7] == "nothing :( \u2028 é"

    def test_copies_are_dropped_label_by_label(self, wnut, tmp_path):
        X, y = fetch_corpus(
            "emoticon_tweets",
            subset="wnut17",
            balanced=False,
            data_home=tmp_path,
            return_X_y=True,
        )
        assert X == [
            "What a day",
            "no smiley",
            "What a day",
            "it rains https://t.co/abc",
            '": " is odd',
            "nothing :( \u2028 é",
            "never",
            "one",
            "two",
            "",
            "three",
            "four",
            "five",
        ]
        assert y.tolist() == [1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0]

    def test_each_file_gives_as_many_of_each_label(self, wnut, tmp_path):
        found = fetch_corpus("emoticon_tweets", subset="wnut17", data_home=tmp_path)
        counts = Counter(zip(found.sources, found.target.tolist(), strict=True))
        assert counts == {
            ("wnut17_gurez.10000", 0): 2,
            ("wnut17_gurez.10000", 1): 2,
            ("wnut17_palm.10000", 0): 1,
            ("wnut17_palm.10000", 1): 1,
            ("wnut17_rigo.10000", 0): 1,
            ("wnut17_rigo.10000", 1): 1,
        }
        assert found.target.dtype == np.int64

    def test_every_message_may_be_drawn_and_the_seed_decides(self, wnut, tmp_path):
        def draw(seed):
            return fetch_corpus(
                "emoticon_tweets",
                subset="wnut17",
                random_state=seed,
                data_home=tmp_path,
            ).data

        drawn = {text for seed in range(40) for text in draw(seed)}
        others = {"no smiley", "What a day", "it rains https://t.co/abc", "never"}
        assert others <= drawn
        assert draw(3) == draw(3) == draw(np.random.default_rng(3))
        assert len({tuple(draw(seed)) for seed in range(10)}) > 1


class TestTokens:
    def test_tokens_are_joined_and_split_smileys_count(self, put_emoticon, tmp_path):
        put_emoticon("btc_a.conll", BTC_A)
        # A line feed and a space that were tokens once, and a message of nothing else.
        put_emoticon("btc_b.conll", "a\tO\n \tO\n\tO\nb\tO\n\n\tO\n \n:)\tO\n")
        for name in "fgh":
            put_emoticon(f"btc_{name}.conll", "c\tO\n:):\tO\n")
        X, y = fetch_corpus(
            "emoticon_tweets",
            subset="btc",
            balanced=False,
            data_home=tmp_path,
            return_X_y=True,
        )
        assert X == ["Good", "RT @ me : no", "a b", "", "c  :"]
        assert y.tolist() == [1, 0, 0, 1, 1]

    def test_tagged_tweets_come_from_their_own_folder(self, put, tmp_path):
        for name in ("oct27.train", "oct27.dev", "oct27.test", "daily547.conll"):
            path = put("ark_twitter_pos", name, ARK_TRAIN)
        found = fetch_corpus(
            "emoticon_tweets",
            subset="ark",
            balanced=False,
            data_home=tmp_path,
            download_if_missing=False,
        )
        assert found.filenames[-1] == str(path)
        # A colon before a bracket is no smiley where smileys are single tokens.
        assert found.data == [": )", "yes", "#"]
        assert found.target.tolist() == [0, 1, 0]


@pytest.mark.parametrize("seed", [-1, "0"])
def test_the_random_state_is_checked(seed, tmp_path):
    message = "The 'random_state' parameter of fetch_corpus must be"
    with pytest.raises(ValueError, match=message):
        fetch_corpus("emoticon_tweets", data_home=tmp_path, random_state=seed)


@given(st.text(":) a\t(", max_size=12), st.sampled_from(["wnut17_x", "btc_x"]))
@example(": :) )", "btc_x")
@example("::))", "wnut17_x")
def test_no_smiley_is_left(text, name):
    smiley = _corpora.SPACED_SMILEY
    marks = (":)", ": )")
    if name == "wnut17_x":
        smiley, marks = _corpora.SMILEY, (":)",)
    bare, n_smileys = smiley.subn(" ", text)
    assert (n_smileys > 0) == any(mark in text for mark in marks)
    assert ":)" not in bare


@pytest.fixture(scope="module")
def fetch(need):
    for name in ("emoticon_tweets", "ark_twitter_pos"):
        need(name)
    return lambda **kwargs: fetch_corpus(
        "emoticon_tweets", download_if_missing=False, **kwargs
    )


@pytest.fixture(scope="module")
def everything(fetch):
    return fetch(subset="all", drop_duplicates=False, balanced=False)


@pytest.fixture(scope="module")
def balanced(fetch):
    return fetch(subset="all")


class TestRealData:
    """Numbers are counts of the published files, made without this package."""

    FILES = {
        "wnut17_gurez.10000": (10000, 37),
        "wnut17_ile.10000": (10000, 40),
        "wnut17_palm.10000": (10000, 48),
        "wnut17_rigo.10000": (10000, 44),
        # Line feeds; four carriage returns inside comments end no message.
        "wnut17_yt-filter": (58357, 698),
        "btc_a.conll": (1000, 18),
        "btc_b.conll": (2000, 44),
        "btc_f.conll": (2001, 44),
        "btc_g.conll": (2138, 2),
        # 2001 blocks, of which one holds an empty token only.
        "btc_h.conll": (2000, 39),
        "oct27.train": (1000, 30),
        "oct27.dev": (327, 10),
        "oct27.test": (500, 16),
        "daily547.conll": (547, 16),
    }

    @pytest.mark.slow
    def test_counts(self, everything):
        n = Counter(everything.sources)
        happy = Counter()
        for source, label in zip(everything.sources, everything.target, strict=True):
            happy[source] += int(label)
        assert {name: (n[name], happy[name]) for name in n} == self.FILES

    @pytest.mark.slow
    def test_the_description_has_the_counts(self, everything):
        n, happy = len(everything.data), int(everything.target.sum())
        assert f"{n:>23} {happy:>9}\n" in everything.DESCR
        assert (n, happy) == (109870, 1086)

    @pytest.mark.slow
    def test_labels_are_balanced_in_each_file(self, balanced):
        happy, other = (
            Counter(np.array(balanced.sources)[balanced.target == k].tolist())
            for k in (1, 0)
        )
        assert happy == other
        # No happy message is lost but for copies.
        assert 0.99 * 1086 < sum(happy.values()) <= 1086
