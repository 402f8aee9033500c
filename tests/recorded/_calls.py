"""Calls of public functions: what they return, warn of and raise.

A case in ``calls/*.txt`` is a Python expression. Its names are public names of skcalib,
modules, and the inputs of ``_data.py``. A comment ``# rtol=1e-4`` after the expression
says that its numbers depend on an optimisation: fewer digits are shown and compared.
"""

import ast
import builtins
import functools
import importlib
import re
import warnings
from pathlib import Path

import matplotlib.pyplot as plt

from . import _data, _records
from ._surface import public_names
from ._values import DIGITS, show

FOLDER = Path(__file__).parent / "calls"
RTOL = 1e-9
RTOL_PINNED = 1e-11  # one unit of the twelfth digit

# Public names and methods without a recorded call, and why.
EXCEPTIONS = {
    "main": "recorded by the runs of the command line",
    "to_spacy": "needs spaCy",
}


def tolerance(case: str, is_pinned: bool = False) -> float:
    """Return the relative tolerance of the numbers of a case."""
    found = re.search(r"# rtol=(\S+)$", case)
    return float(found[1]) if found else RTOL_PINNED if is_pinned else RTOL


def agree(case: str, old: str, new: str, is_pinned: bool) -> bool:
    return _records.agree(old, new, rtol=tolerance(case, is_pinned))


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def outcome(case: str) -> str:
    """Return the value of a call, or its error, and its warnings as text."""
    digits = len(f"{1 / tolerance(case):.0f}") if "# rtol=" in case else DIGITS
    tree = ast.parse(case, mode="eval")
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names = {name: lookup(name) for name in sorted(used - bound_names(tree))}
    names["__name__"] = "recorded"  # as every module has it, for warnings
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            text = show(eval(compile(tree, "<case>", "eval"), names), digits)
        except Exception as error:
            text = f"{kinds(error)}: {error}"
    plt.close("all")
    ours = (each for each in caught if not is_of_others(each.category))
    found = [f"{each.category.__name__}: {each.message}" for each in ours]
    return "\n".join([*dict.fromkeys(found), text])


def bound_names(tree: ast.AST) -> set[str]:
    """Return the names that an expression binds itself, in a lambda or a loop."""
    nodes = list(ast.walk(tree))
    arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
    return arguments | {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def is_of_others(category: type[Warning]) -> bool:
    """Return whether a warning depends on the versions of other packages."""
    return issubclass(category, (DeprecationWarning, PendingDeprecationWarning))


def kinds(error: Exception) -> str:
    """Name an error as users catch it: private classes by their public bases."""
    found: list[type] = []
    for kind in type(error).__mro__:
        is_public = not kind.__module__.startswith("skcalib")
        if is_public and not any(issubclass(each, kind) for each in found):
            found.append(kind)
    return " and ".join(kind.__name__ for kind in found)


@functools.cache
def public() -> dict[str, object]:
    return {name: value for _, name, value in public_names()}


@functools.cache
def lookup(name: str) -> object:
    """Return an input, a public name, a builtin or a module by its name."""
    if hasattr(_data, name):
        value = getattr(_data, name)
        return value() if getattr(value, "is_input", False) else value
    if name in public():
        return public()[name]
    if hasattr(builtins, name):
        return getattr(builtins, name)
    return importlib.import_module(name)
