"""Size of the package: modules, code lines, statements, comments and names.

    python benchmarks/code_size.py [BEFORE [AFTER]]

BEFORE and AFTER are folders that contain `skcalib`, or commits of this repository. If
none is given, the two of the committed CSV are measured again.
Nothing is imported: files are read by `ast` and `tokenize` of the standard library. The
measures of each subpackage ("top" are the modules outside of subpackages), and of the
package, are:

- modules: files that end in .py;
- code lines: lines with a token of code, without docstrings, comments and blank lines;
- statements: all nodes of `ast.stmt`, at all levels, and therefore also docstrings. A
  definition counts once in addition to its statements, and so do `if`, `for`, `with`
  and `try`. An import is one statement, also of several names;
- comments per 100: comments per 100 code lines, at the end of a line or alone, without
  noqa, type and pragma;
- longest module: its code lines;
- public names: distinct names in the `__all__` of public modules, which have no part
  that begins with an underscore;
- stable names: the public names without those of `skcalib.experimental`;
- beyond __all__: names that `vars(module)` of a public module has in addition to
  `__all__`, without private names and modules (definitions, assignments and imports of
  names at the top level; a name counts once in each module);
- parameters > 12: functions and methods with more than 12 parameters, without self and
  cls, in public and private modules.

Writes results/code_size.csv, with the columns of BEFORE and AFTER. It takes about ten
seconds.
"""

import argparse
import ast
import io
import re
import subprocess
import tarfile
import tempfile
import tokenize
from pathlib import Path

from _common import print_table, read_csv, versions, write_csv

ROOT = Path(__file__).parent.parent
NAME = "code_size.csv"
PACKAGE, TOP, ALL = "skcalib", "top", "all"
EXPERIMENTAL = "experimental"
MOST_PARAMETERS = 12
# Comments that tools read.
FOR_TOOLS = re.compile(r"#\s*(ruff:\s*)?(noqa|type:|pragma)")
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}
HAVE_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings(tree):
    """Return the statements that are docstrings."""
    return [
        node.body[0]
        for node in ast.walk(tree)
        if isinstance(node, HAVE_DOCSTRINGS) and ast.get_docstring(node) is not None
    ]


def lines_and_comments(text, texts):
    """Return the number of code lines, and of comments that are not for tools."""
    code, comments = set(), 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments += FOR_TOOLS.match(token.string) is None
        elif token.type not in NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    for node in texts:
        code.difference_update(range(node.lineno, node.end_lineno + 1))
    return len(code), comments


def n_parameters(function):
    """Return the number of parameters of a function, without self and cls."""
    a = function.args
    names = [each.arg for each in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    names += [each.arg for each in (a.vararg, a.kwarg) if each is not None]
    return len(names) - (names[:1] in (["self"], ["cls"]))


class Names:
    """The names of a module's top level, and the list `__all__`."""

    def __init__(self, path, tree):
        self.folder = path.parent
        self.listed, self.bound = [], set()
        for node in statements_of(tree.body):
            self._read(node)

    def _read(self, node):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            self.bound.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if not self._is_module(node, alias.name):
                    self.bound.add(alias.asname or alias.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {n.id for t in targets for n in ast.walk(t) if is_name(n)}
            if "__all__" in names:
                self.listed = ast.literal_eval(node.value)
            elif not self._is_alias_of_module(node):
                self.bound |= names

    def _is_module(self, node, name):
        """Return whether a relative import of a name is that of a module."""
        if not node.level or node.module:
            return False  # modules of this package are imported by `from . import`
        folder = self.folder
        for _ in range(node.level - 1):
            folder = folder.parent
        return has_module(folder, name)

    def _is_alias_of_module(self, node):
        return is_name(node.value) and has_module(self.folder, node.value.id)

    @property
    def beyond(self):
        """The names that are not listed, not private and not modules."""
        names = {name for name in self.bound if not name.startswith("_")}
        return names - set(self.listed)


def statements_of(body):
    """Yield the statements of a module that run on import, also those in `if`."""
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try)):
            yield from statements_of([*node.body, *node.orelse])


def has_module(folder, name):
    return (folder / name).is_dir() or (folder / f"{name}.py").exists()


def is_name(node):
    return isinstance(node, ast.Name)


def is_public(path):
    """Return whether no part of a module's path (below the package) is private."""
    parts = [*path.parts[:-1], *([] if path.name == "__init__.py" else [path.stem])]
    return not any(part.startswith("_") for part in parts)


def measure(path, relative):
    """Return the measures of a module; `relative` is its path below the package."""
    with tokenize.open(path) as file:
        text = file.read()
    tree = ast.parse(text)
    n_lines, n_comments = lines_and_comments(text, docstrings(tree))
    names = Names(path, tree) if is_public(relative) else None
    return {
        "subpackage": relative.parts[0] if len(relative.parts) > 1 else TOP,
        "lines": n_lines,
        "comments": n_comments,
        "statements": sum(isinstance(n, ast.stmt) for n in ast.walk(tree)),
        "public": set() if names is None else set(names.listed),
        "beyond": set() if names is None else names.beyond,
        "long": sum(
            n_parameters(n) > MOST_PARAMETERS
            for n in ast.walk(tree)
            if isinstance(n, FUNCTIONS)
        ),
    }


def summary(modules):
    """Return the columns of the table for some modules."""
    lines = sum(each["lines"] for each in modules)
    comments = sum(each["comments"] for each in modules)
    stable = [each for each in modules if each["subpackage"] != EXPERIMENTAL]
    return {
        "modules": len(modules),
        "code lines": lines,
        "statements": sum(each["statements"] for each in modules),
        "comments per 100": f"{100 * comments / max(lines, 1):.2f}",
        "longest module": max((each["lines"] for each in modules), default=0),
        "public names": len(set().union(*(each["public"] for each in modules))),
        "stable names": len(set().union(*(each["public"] for each in stable))),
        "beyond __all__": sum(len(each["beyond"]) for each in modules),
        "parameters > 12": sum(each["long"] for each in modules),
    }


def sizes(folder):
    """Return the columns of each subpackage, and of the package, in a folder."""
    package = folder / PACKAGE
    modules = [
        measure(path, path.relative_to(package))
        for path in sorted(package.rglob("*.py"))
    ]
    if not modules:
        raise SystemExit(f"{folder} contains no modules of {PACKAGE}")
    names = sorted({each["subpackage"] for each in modules} - {TOP})
    found = {
        name: summary([each for each in modules if each["subpackage"] == name])
        for name in [TOP, *names]
    }
    return found | {ALL: summary(modules)}


def checkout(name, folder):
    """Return the folder `name`, or `folder` with the files of the commit `name`."""
    if (Path(name) / PACKAGE).is_dir():
        return Path(name)
    command = ["git", "-C", str(ROOT), "archive", name, PACKAGE]
    archive = subprocess.run(command, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files.getmembers():
            if member.isfile() and member.name.endswith(".py"):
                target = Path(folder) / member.name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(files.extractfile(member).read())
    return Path(folder)


def measured(name):
    with tempfile.TemporaryDirectory() as folder:
        return sizes(checkout(name, folder))


QUICK = [
    {
        "reads": ["code_size.csv"],
        "files": {"code_size.csv": {"keys": ["subpackage"]}},
    }
]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkouts", nargs="*", help="one or two folders or commits")
    options = parser.parse_args()
    asked = options.checkouts or read_csv(NAME)[0].partition(";")[0].split(" and ")
    if len(asked) > 2:
        parser.error("takes at most two checkouts")
    tables = {
        when: measured(name)
        for when, name in zip(("before", "after"), asked, strict=False)
    }
    names = list(dict.fromkeys(name for table in tables.values() for name in table))
    names = [name for name in names if name != ALL] + [ALL]
    columns = list(tables["before"][ALL])
    rows = [
        {"subpackage": name}
        | {
            f"{column}, {when}" if len(tables) > 1 else column: tables[when]
            .get(name, {})
            .get(column, "")
            for column in columns
            for when in tables
        }
        for name in names
    ]
    print_table(rows)
    own = [Path(name).name if Path(name).is_absolute() else name for name in asked]
    write_csv(NAME, rows, f"{' and '.join(own)}; {versions()}")


if __name__ == "__main__":
    main()
