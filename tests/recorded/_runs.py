"""Runs of the command line: exit status, what is printed, and the files written.

A case in ``runs/*.txt`` is a command line. It runs in a folder of its own, with the
files of ``_tables.py`` and of ``tests/evaluation/files`` that it names. Figures are
recorded as their numbers, pages as their content in order, and JSON without its layout.
"""

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from skcalib.cli import main

from . import _records
from ._pages import page_text, save_description
from ._tables import write_inputs
from ._values import rounded, show

FOLDER = Path(__file__).parent / "runs"
RTOL = 1e-6

# The width of help and tables, and no colours.
_SETTINGS = {"COLUMNS": "88", "NO_COLOR": "1", "PYTHON_COLORS": "0"}


_VERSION = re.compile(
    r"\b(skcalib|Python|numpy|scipy|scikit-learn|matplotlib)[ |]+\d[\w.]*"
)


def agree(case: str, old: str, new: str, is_pinned: bool) -> bool:
    """Compare to the byte in the pinned environment, elsewhere text and numbers."""
    is_rounded = "--json" not in case
    return (
        old == new
        if is_pinned
        else _records.agree(old, new, rtol=RTOL, rounded=is_rounded)
    )


def outcome(case: str, inputs: Path) -> str:
    """Run a command and return what it did as text."""
    _, *arguments = shlex.split(case.removeprefix("$ "))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        copy_named(arguments, inputs, folder)
        before = files(folder)
        parts = call(arguments, folder)
        changed = dict(files(folder).items() - before.items())
        parts |= {name: file_text(folder / name) for name in sorted(changed)}
    text = "\n".join(section(*part) for part in parts.items() if part[1])
    text = _VERSION.sub(r"\1 VERSION", text.replace(str(folder), "FOLDER"))
    return visible(rounded(text))


def visible(text: str) -> str:
    """Show characters that cannot be seen, such as a return, by their escapes."""
    return "".join(
        char if char == "\n" or char.isprintable() else ascii(char)[1:-1]
        for char in text
    )


def copy_named(arguments: list[str], inputs: Path, folder: Path) -> None:
    """Copy the files and folders that a command names; a folder is copied whole."""
    for name in {argument.partition("/")[0] for argument in arguments} - {""}:
        source = inputs / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        elif source.is_file():
            shutil.copy2(source, folder / name)


def section(title: str, text: str) -> str:
    if title == "status":
        return f"status {text}"
    return "\n".join([f"-- {title}", text.rstrip("\n")])


def call(arguments: list[str], folder: Path) -> dict[str, str]:
    """Call the command line in a folder, with figures replaced by descriptions."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2)]
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(streams[0]),
        contextlib.redirect_stderr(streams[1]),
        mock.patch.dict(os.environ, _SETTINGS),
        mock.patch("matplotlib.figure.Figure.savefig", save_description),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("default")
        # Python hides them outside of tests. They depend on versions of other packages.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            status = main(arguments)
        except SystemExit as error:
            status = error.code
        except Exception as error:  # a fault: recorded, so that its end shows
            status = f"traceback that ends with {type(error).__name__}: {error}"
    names = {each.category.__name__ for each in caught}
    shown = [f"{each.category.__name__}: {each.message}" for each in caught]
    assert not names & {"RuntimeWarning"}, shown
    output, errors = (read_stream(stream) for stream in streams)
    found = {"status": str(status), "stdout": output, "stderr": errors}
    if "--json" in arguments and output:
        found |= {"stdout": "", "JSON": show(json.loads(output))}
    return found


def read_stream(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8")


def files(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the time and the size of each file."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    stats = ((path.relative_to(folder).as_posix(), path.stat()) for path in paths)
    return {name: (stat.st_mtime_ns, stat.st_size) for name, stat in stats}


def file_text(path: Path) -> str:
    content = path.read_bytes()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return f"{len(content)} bytes"
    return page_text(text) if path.suffix == ".html" else text


@contextlib.contextmanager
def input_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "inputs"
        folder.mkdir()
        write_inputs(folder)
        yield folder
