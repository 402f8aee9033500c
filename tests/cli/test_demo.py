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
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        assert main(["demo", "--output", str(folder)]) == 0
    return folder, text.getvalue()


def test_the_demo_draws_its_figure_into_a_new_folder(demo):
    folder, text = demo
    (figure,) = folder.iterdir()
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert str(figure) in text


def test_the_demo_finds_naive_bayes_overconfident(demo):
    table = [line for line in demo[1].splitlines() if re.search(r"\[0\.\d+, ", line)]
    names = [re.split(" {2,}", line)[:2] for line in table]
    data, models = ("breast cancer", "digits"), ("naive Bayes", "logistic regression")
    assert names == [[one, model] for one in data for model in models]
    error = [float(re.search(r"(0\.\d+) \[", line)[1]) for line in table]
    for naive, logistic in ((0, 1), (2, 3)):
        assert table[naive].endswith("overconfident")
        assert not table[logistic].endswith("overconfident")
        assert error[naive] > error[logistic]


def test_the_demo_ends_with_advice_that_follows_from_its_table(demo):
    steps = " ".join(demo[1].partition("what to do now")[2].split())
    for data, how in (("breast cancer", "sigmoid"), ("digits", "isotonic")):
        fit = f"CalibratedClassifierCV(model, method='{how}')"
        assert (
            f"- Recalibrate naive Bayes on {data}: use sklearn.calibration.{fit}"
            in steps
        )
        assert f"- Leave logistic regression on {data} as it is: " in steps
    assert "about 1,707 more rows" in steps  # 3 times the 569 of breast cancer


def test_the_demo_the_readme_and_the_front_page_give_one_number(demo):
    root = Path(__file__).parents[2]
    number = re.search(r"^digits +naive Bayes .*?(0\.\d+ \[.*?\])", demo[1], re.M)[1]
    for page in ("README.rst", "docs/index.rst"):
        assert f"\n{number}\n" in (root / page).read_text("utf-8")


def test_the_demo_says_where_it_cannot_write(run, folder):
    file = folder / "file.csv"
    file.write_text("mine")
    code, out, err = run("demo", "--output", file)
    assert (code, out) == (2, "")
    assert err.startswith("skcalib demo: error: ")
    assert str(file) in err
