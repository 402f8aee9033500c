"""Outputs of several systems: what is read, aligned and refused."""

import numpy as np
import pytest

from skcalib.datasets import fetch_corpus
from skcalib.metrics import span_statistics

GOLD_TEXT = "Paris\tB-location\nis\tO\n\t\nfar\tO\n\n"
SUBMITTED = "Paris\tB-person\r\nis\tO\r\n\r\nfar\tO"
SCORES = """\
system mqm_avg_score seg_id
A.1 -1.5 2
A.1 0.0 1
Human-B.0 -0.25 1
Human-B.0 0.0 2
"""

# Entities and F1 of each team, of which the task's own table has the F1.
TEAMS = {
    "arcada": (787, 39.98),
    "drexel_cci": (381, 26.30),
    "flytxt": (720, 38.35),
    "mic-cis": (891, 37.06),
    "sjtu_adapt": (727, 40.42),
    "spinningbytes": (824, 40.78),
    "uh_ritual": (617, 41.86),
}


FOLDER = "system_outputs"
MQM = "mqm_newstest2020_ende.avg_seg_scores.tsv"


@pytest.fixture
def wnut(put):
    put(FOLDER, "wnut17_gold_emerging.test.annotated", GOLD_TEXT)
    for name in TEAMS:
        text = SUBMITTED.replace("\t", " ") if name == "arcada" else SUBMITTED
        put(FOLDER, f"wnut17_{name}.txt", text)


def test_tags_of_all_teams(wnut, tmp_path):
    found = fetch_corpus("system_outputs", data_home=tmp_path)
    assert found.tokens == [["Paris", "is"], ["far"]]
    assert found.target == [["B-location", "O"], ["O"]]
    assert found.data == dict.fromkeys(TEAMS, [["B-person", "O"], ["O"]])
    assert found.segments is None
    assert len(found.filenames) == 8
    assert "CC BY 4.0" in found.DESCR


def test_scores_in_the_order_of_segments(put, tmp_path):
    put(FOLDER, MQM, SCORES)
    found = fetch_corpus("system_outputs", subset="wmt20", data_home=tmp_path)
    assert {name: list(each) for name, each in found.data.items()} == {
        "A.1": [0, -1.5],
        "Human-B.0": [-0.25, 0],
    }
    assert found.segments.tolist() == [1, 2]
    assert found.target is None
    assert found.tokens is None
    assert "Apache" in found.DESCR


class TestRealFiles:
    @pytest.fixture(autouse=True)
    def files(self, need):
        need(FOLDER)

    def test_f1_of_the_shared_task(self):
        found = fetch_corpus(
            "system_outputs", subset="wnut17", download_if_missing=False
        )
        assert len(found.tokens) == 1287
        assert sum(map(len, found.tokens)) == 23394
        for name, (n_entities, f1) in TEAMS.items():
            counts = span_statistics(found.target, found.data[name])
            right, guessed, gold = counts.sum(axis=0)
            assert (guessed, gold) == (n_entities, 1079)
            assert round(200 * right / (guessed + gold), 2) == f1

    def test_means_of_the_translations(self):
        found = fetch_corpus(
            "system_outputs", subset="wmt20", download_if_missing=False
        )
        means = {name: round(float(np.mean(s)), 4) for name, s in found.data.items()}
        assert all(scores.shape == (1418,) for scores in found.data.values())
        assert means["Human-B.0"] == -0.7459
        assert means["Online-A.1574"] == -2.9871
        assert sum(name.startswith("Human") for name in means) == 3
