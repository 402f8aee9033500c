"""What tests of commands share: an empty folder, and a way to run a command."""

import json

import pytest

from skcalib.cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys):
    """Run the command line; give its exit code, standard output and error."""

    def run(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as exit_:
            code = exit_.code
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def numbers(run):
    """Give the numbers that `skcalib report` finds in a file."""

    def numbers(*arguments):
        code, out, err = run("report", *arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return numbers
