"""Functions shared by the commands: exit statuses, errors and checks of files.

The errors of the package name options of the command line here.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from secrets import token_hex

from .. import __version__
from .._errors import Marked, printable
from ..evaluation._files import check_regular
from ..evaluation._values import NoAnswersError

# Exit statuses.
DONE = 0
FAILED = 1
WRONG_USE = 2

_FIGURES = (".png", ".svg", ".pdf")

# Default of --confidence-level.
LEVEL = 0.95

# Above this level, the quantiles of the intervals are infinite.
_HIGHEST_LEVEL = 1 - 1e-9

# Suffixes of the files of harnesses, which are read together with others beside them.
_OF_HARNESSES = (".json", ".jsonl", ".eval", ".parquet")


# What the command line shows for a parameter, unless it is the option of this name.
SHOWN = {
    "evaluations": "the files",
    "question": "Name with --question",
    "y_true": "labels",
    "inclusion_probability": "--inclusion or --design",
    "periods": "--date",
    "_probability": "these inclusion probabilities",
    "_as_probability": "(--inclusion or --design)",
    "_choice": "(skcalib sample --size)",
    "_no_groups": "leave out --groups",
    "_unobserved": "--empty-periods unobserved",
}

# Options that name columns of a table.
_COLUMN_OPTIONS = (
    *("y_true", "y_proba", "question", "score", "groups", "by"),
    *("gold", "prediction"),
)


class CommandError(Exception):
    """An error in a file or an option that the user can correct."""


class NoAnswers(CommandError):
    """The error for a file without answers, which a folder may contain."""


@contextmanager
def command_errors(
    where: Path | str = "",
    options: Namespace | None = None,
    shown: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """Raise errors of the package, for example on reading a file, as its own."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if isinstance(where, Path):
            where.stat()  # raises an OSError that says why a path leads to no file
        raise command_error(error, str(where), options, shown) from None
    except ImportError as error:
        raise CommandError(str(error)) from None


def command_error(
    error: Exception,
    where: str = "",
    options: Namespace | None = None,
    shown: Mapping[str, str] | None = None,
) -> CommandError:
    """Return an error of the package with options in place of parameters.

    `shown` are more of the texts that are shown for parameters, in place of `SHOWN`.
    """
    known = {**SHOWN, **(shown or {})}
    name = getattr(error, "name", None)
    problem = in_options(getattr(error, "problem", str(error)), known)
    if where:
        # The message begins with the file, and need not name it twice.
        problem = _without_file(Path(where).name, problem)
    if name == "path" and name not in known:
        # A folder leaves out files without answers, but not files with an error.
        kind = NoAnswers if isinstance(error, NoAnswersError) else CommandError
        return kind(f"{where} {problem}")
    # Several options name columns. The one that gave this column is found by its value.
    if name in ("columns", "groups") and options is not None:
        option = _column_options(problem, options)
    else:
        option = "" if name is None else known.get(name, as_option(name))
    parts = (f"{where}:" if where else "", option, problem)
    return CommandError(" ".join(filter(None, parts)))


def in_options(message: str, known: Mapping[str, str] = SHOWN) -> str:
    """Return a message with options in place of its marked parameters."""
    if not isinstance(message, Marked):
        return message
    # Marked names without a text stand for a sentence that only a command adds.
    return message.shown(lambda n, text: known.get(n, as_option(n) if text else ""))


def _without_file(name: str, problem: str) -> str:
    """Return the problem of a reader for a message that begins with the file."""
    name = re.escape(name)
    for said, shorter in (
        (f"Got {name}, which ", "It "),
        (f"Got {name}, with ", "It has "),
        (f"Got {name}: ", ""),
        (f" Got {name}\\.", ""),
        (f" of {name}(?![\\w.]\\w)", ""),
    ):
        problem = re.sub(said, shorter, problem)
    return problem


def _column_options(problem: str, options: Namespace) -> str:
    """Return the options that gave the column of an error, or that may give it."""
    found = [
        as_option(name)
        for name in _COLUMN_OPTIONS
        if getattr(options, name, None) is not None
        and f"Got {getattr(options, name)!r}" in problem
    ]
    if not found and hasattr(options, "question"):
        return "--question or --score"
    return " and ".join(found) or "--y-true"


def check_level(level: float) -> None:
    """Raise an error unless a confidence level has finite quantiles."""
    if not 0 < level <= _HIGHEST_LEVEL:
        raise CommandError(
            "--confidence-level must be above 0 and at most 1 - 1e-9, for example "
            f"0.95. Got {level!r}."
        )


def as_option(name: str) -> str:
    """Return the option of an attribute of the parsed arguments."""
    return "--" + name.replace("_", "-")


def settings_of(options: Namespace) -> list[list[str]]:
    """Return the options that have a value, and the versions of packages."""
    rows = []
    for name, value in vars(options).items():
        if name in ("file", "command", "_given") or value in (None, False):
            continue
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        rows.append([as_option(name), "given" if value is True else shown])
    # Numbers of a page can be computed again only with these versions.
    rows += [["skcalib", __version__], ["Python", platform.python_version()]]
    packages = ["numpy", "scipy", "scikit-learn", "matplotlib"]
    if getattr(options, "reference", None) and options.metric not in (None, ["f1"]):
        # It computes BLEU, chrF and TER, and is not installed with skcalib.
        packages.append("sacrebleu")
    return rows + [[package, version(package)] for package in packages]


def exclude(options: Namespace, *pairs: tuple[str, str]) -> None:
    """Raise an error if both options of a pair are given."""
    for one, other in pairs:
        if getattr(options, one) and getattr(options, other):
            raise CommandError(
                f"{as_option(one)} and {as_option(other)} exclude each other."
            )


def one_group(where: str, name: str) -> str:
    """Return the error for a part of the rows whose groups cannot be compared."""
    return (
        f"{where}: --groups needs rows of at least two groups. Got {str(name)!r} in "
        "every row."
    )


def say(command: str, text: str) -> None:
    """Print a line about a command on standard error."""
    print(printable(f"skcalib {command}: {text}"), file=sys.stderr)


def check_different(paths: Sequence[Path], command: str) -> None:
    """Raise an error if one file is given twice."""
    # A link is another name of the same file.
    if len({os.path.realpath(path) for path in paths}) < len(paths):
        raise CommandError(f"{command} needs different files. Got one of them twice.")


def check_figure(path: Path | None, option: str) -> None:
    """Raise an error unless a figure has a known format."""
    if path is not None and path.suffix.lower() not in _FIGURES:
        raise CommandError(
            f"{option} must end in {', '.join(_FIGURES)}. Got {str(path)!r}."
        )


def check_files(
    read: Iterable[Path | None], written: Iterable[tuple[str, Path | None]]
) -> None:
    """Raise an error unless all outputs can be written without loss.

    An output must not be a file that the command reads, or another output. `written`
    contains the option of each output and its path.
    """
    taken = [(path, "a file that is read") for path in read if path is not None]
    for other, _ in taken:
        _check_input(other)
    for option, path in written:
        if path is None:
            continue
        if path.is_dir():
            raise CommandError(f"{option} must be a file. {str(path)!r} is a folder.")
        if not path.parent.is_dir():
            # As `open` would do later, after the computation.
            raise FileNotFoundError(2, "No such file or directory", str(path))
        if path.exists() and not path.is_file():  # such as /dev/null
            continue
        for other, what in taken:
            if _is_same(path, other):
                raise CommandError(
                    f"{option} must not be {what}. Got {str(path)!r}. Choose another "
                    "name."
                )
            if _is_beside(path, other):
                raise CommandError(
                    f"{option} must not replace a file of a harness beside "
                    f"{str(other)!r}. Got {str(path)!r}. Choose another name."
                )
        taken.append((path, f"the file of {option}"))


def _check_input(path: Path) -> None:
    if path.exists():
        with command_errors(path):
            check_regular(path)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield the path of a new file, which then replaces the one at the given path.

    If the command fails or is interrupted, the given path is as it was before.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    # The standard output is open elsewhere, also if it is a file.
    is_replaced = not str(path).startswith(("/dev/std", "/dev/fd/", "/proc/"))
    if target.exists():
        is_replaced &= target.is_file() and os.access(target, os.W_OK)
    is_replaced &= not target.is_symlink() and os.access(target.parent, os.W_OK)
    # In the folder of the target, since a file cannot be moved to another disk at once.
    # matplotlib takes the format from the suffix.
    name = f".skcalib-{token_hex(8)}{path.suffix}"
    new = target.with_name(name) if is_replaced else path
    try:
        yield new
        if is_replaced:
            if target.exists():
                # Whoever may read the old file may read the new one.
                shutil.copymode(target, new)
            os.replace(new, target)
    except OSError as error:
        if error.errno is None or str(error.filename) not in ("None", str(new)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        if is_replaced:
            new.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole, or not at all."""
    with new_file(path) as new:
        new.write_text(text, "utf-8")


def _is_same(path: Path, other: Path) -> bool:
    """Return whether two paths are one file, also through links."""
    if path.exists() and other.exists():
        # Also for hard links, which no path shows.
        return path.samefile(other)
    one, two = (os.path.normcase(os.path.realpath(each)) for each in (path, other))
    return one == two


def _is_beside(path: Path, other: Path) -> bool:
    """Return whether an output is a file of a harness that may be read with another."""
    folder = other if other.is_dir() else other.parent
    return (
        path.suffix.lower() in _OF_HARNESSES
        and path.is_file()
        and folder.is_dir()
        and path.parent.samefile(folder)
    )
