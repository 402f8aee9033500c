"""The command ``skcalib demo``."""

import contextlib
import io
import os
import re
from pathlib import Path

import pytest

from skcalib.cli import main

TWEETS = Path(os.environ.get("SKCALIB_DATA", "nowhere"), "ark_twitter_pos")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Run the demo once; give its folder and text."""
    folder, text = tmp_path_factory.mktemp("demo"), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(text):
        assert main(["demo"]) == 0
    return folder / "skcalib-demo", text.getvalue()


def test_the_demo_draws_its_figure_into_a_new_folder(demo):
    folder, text = demo
    (figure,) = folder.iterdir()
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert f"Figure: skcalib-demo/{figure.name}" in text


def test_the_demo_the_readme_and_the_front_page_give_one_number(demo):
    root = Path(__file__).parents[2]
    number = re.search(r"^digits +naive Bayes .*?(0\.\d+ \[.*?\])", demo[1], re.M)[1]
    for page in ("README.rst", "docs/index.rst"):
        assert f"\n{number}\n" in (root / page).read_text("utf-8")


def test_the_demo_says_where_it_cannot_write(run, folder):
    (folder / "skcalib-demo").write_text("mine")
    code, out, err = run("demo")
    assert (code, out) == (2, "")
    assert err.startswith("skcalib demo: error: ")
    assert "skcalib-demo" in err
    (folder / "skcalib-demo").unlink()
    (folder / "skcalib-demo" / "reliability.png").mkdir(parents=True)
    assert "reliability.png' is a folder" in run("demo")[2]


@pytest.mark.skipif(not TWEETS.is_dir(), reason="SKCALIB_DATA does not have the tweets")
@pytest.mark.slow
def test_taggers_of_tweets_have_a_table_and_a_figure(run, folder):
    code, out, _ = run("demo", "--data", "ark_twitter_pos")
    assert code == 0
    assert re.findall(r"^tweets +(\w+) +0\.\d{3} ", out, re.MULTILINE) == ["HMM", "CRF"]
    assert "skcalib.recalibration.TemperatureScaling" in out
    assert (folder / "skcalib-demo" / "ark_twitter_pos.png").is_file()
