"""The command ``skcalib demo``."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from skcalib.cli import main


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
    number = re.search(r"^digits: naive Bayes\n.*?(0\.\d+ \[.*?\])", demo[1], re.M)[1]
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
