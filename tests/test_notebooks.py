"""The walk-throughs of the gallery run as scripts and become valid notebooks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "docs" / "examples" / "notebooks").glob("plot_*.py"))


def test_each_kind_of_user_has_a_walk_through_and_no_notebook_is_committed():
    users = [path.stem.removeprefix("plot_for_") for path in SCRIPTS]
    assert users == [
        "data_science",
        "language_model_evaluation",
        "nlp_research",
        "social_science",
    ]
    assert not list((ROOT / "docs" / "examples").rglob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_walk_through_runs_in_under_a_minute(script, tmp_path):
    finished = subprocess.run(
        [sys.executable, "-W", "error", script],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.strip()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_walk_through_becomes_a_notebook_with_all_of_its_code(script, tmp_path):
    notebook = pytest.importorskip("sphinx_gallery.notebook")
    parser = pytest.importorskip("sphinx_gallery.py_source_parser")
    gallery = pytest.importorskip("sphinx_gallery.gen_gallery")
    _, blocks = parser.split_code_and_text_blocks(str(script))
    conf = {**gallery.DEFAULT_GALLERY_CONF, "default_role": "literal"}
    path = tmp_path / f"{script.stem}.ipynb"
    notebook.save_notebook(notebook.jupyter_notebook(blocks, conf, str(ROOT)), path)
    made = json.loads(path.read_text("utf-8"))
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 0)
    assert made["cells"][0]["cell_type"] == "markdown"
    assert "".join(made["cells"][0]["source"]).startswith("\n# For ")
    code = ["".join(c["source"]) for c in made["cells"] if c["cell_type"] == "code"]
    assert len(code) >= 6
    for cell in code:
        compile(cell, str(script), "exec")
    lines = {line for cell in code for line in cell.splitlines()}
    comments = ("#", '"""')
    body = script.read_text("utf-8").split('"""', 2)[2].splitlines()
    assert {line for line in body if line and not line.startswith(comments)} <= lines
