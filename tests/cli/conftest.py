"""What tests of commands share: an empty folder, and a way to run a command."""

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
