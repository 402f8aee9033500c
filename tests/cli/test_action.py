"""The GitHub Action around ``skcalib compare``."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import skcalib

ACTION = Path(__file__).parents[2] / ".github" / "actions" / "compare" / "action.yml"

pytestmark = pytest.mark.skipif(
    shutil.which("bash") is None or os.name == "nt" or not ACTION.is_file(),
    reason="needs bash and the repository",
)


def act(folder, files, fail_if, arguments=""):
    """Run the script of the action; return its status, summary and outputs."""
    text = ACTION.read_text("utf-8")
    script = text.split("      run: |\n")[1].replace("        ", "")
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (tools / "python").chmod(0o755)
    out, summary = folder / "outputs", folder / "summary"
    out.write_text("")
    summary.write_text("before\n")
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(Path(skcalib.__file__).parents[1]),
            "FILES": files,
            "FAIL_IF": fail_if,
            "ARGUMENTS": arguments,
            "RUNNER_TEMP": str(folder),
            "GITHUB_OUTPUT": str(out),
            "GITHUB_STEP_SUMMARY": str(summary),
        },
        capture_output=True,
        text=True,
    )
    outputs = dict(line.split("=", 1) for line in out.read_text().splitlines())
    return done.returncode, summary.read_text(), outputs, done.stderr


@pytest.fixture
def files(folder):
    for name, n_right in (("old", 80), ("new one", 40)):
        rows = "".join(f"q{k},{int(k < n_right)}\n" for k in range(100))
        (folder / f"{name}.csv").write_text("question,correct\n" + rows)
    return "old.csv\nnew one.csv\n"


def test_the_job_fails_and_its_summary_has_the_verdict(folder, files):
    status, summary, outputs, _ = act(folder, files, "worse")
    assert (status, outputs["status"]) == (1, "1")
    assert summary.startswith("before\n## Comparison: old and new one\n")
    assert "**new one is worse than old: gain -0.400" in summary
    assert Path(outputs["markdown"]).read_text() == summary.removeprefix("before\n")


def test_the_job_passes_without_a_condition_and_takes_arguments(folder, files):
    status, summary, outputs, _ = act(folder, files, "", "--confidence-level\n0.9\n")
    assert (status, outputs["status"]) == (0, "0")
    assert "| system | accuracy | 90% |" in summary


def test_a_text_in_an_input_is_not_a_command(folder, files):
    status, summary, outputs, err = act(folder, "$(touch made).csv\n--help\n", "worse")
    assert (status, outputs) == (2, {"status": "2"})
    assert "$(touch made).csv" in err
    assert summary == "before\n"
    assert not (folder / "made").exists()
