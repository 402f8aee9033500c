"""A digest of the code that a script depends on, by the standard library alone.

The digest is over the syntax trees of the script and of all modules of `benchmarks` and
`skcalib` that it reaches. Comments, docstrings and imports for type checkers do not
count, nor does the table QUICK of a script. Imports are followed name by name:
`from skcalib.metrics import calibration_error` reaches the module that defines the
function and what that module imports, but no other module of the subpackage. An
`__init__.py` is read as a table of names, which are imported for type checkers there;
what else it has counts by itself.

Python 3.9 to 3.14 give the same digest: fields that not all versions have are empty in
this code and are left out, and neighbouring constants of an f-string are joined.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

BENCHMARKS = Path(__file__).parent
# These modules write and compare tables. A change in them does not change a number.
MACHINERY = {"_common", "_digest", "check_results"}
# Assignments of a script and of an `__init__.py` that do not count.
IGNORED = {"QUICK", "__all__", "__version__"}


def without_texts(node):
    """Return the tree as nested tuples, without comments, docstrings and contexts."""
    if isinstance(node, list):
        return tuple(without_texts(each) for each in node if not is_ignored(each))
    if isinstance(node, ast.Constant):
        return type(node.value).__name__, ascii(node.value)
    if not isinstance(node, ast.AST):
        return ascii(node)
    if isinstance(node, ast.JoinedStr):
        return "JoinedStr", *joined(node.values)
    fields = ((name, getattr(node, name, None)) for name in node._fields)
    return type(node).__name__, *(
        (name, without_texts(value))
        for name, value in fields
        if name != "ctx" and value is not None and value != []
    )


def joined(values):
    """Return the parts of an f-string, neighbouring constants joined."""
    parts = []
    for value in values:
        if isinstance(value, ast.Constant) and parts and isinstance(parts[-1], str):
            parts[-1] += value.value
        elif isinstance(value, ast.Constant):
            parts.append(value.value)
        else:
            parts.append(without_texts(value))
    # Python 3.12.0 and 3.12.1 add empty constants
    return [ascii(part) if isinstance(part, str) else part for part in parts if part]


def is_ignored(node):
    if isinstance(node, ast.Expr):
        value = node.value
        return isinstance(value, ast.Constant) and isinstance(value.value, str)
    if isinstance(node, ast.If):
        return is_for_type_checkers(node)
    return bool(IGNORED.intersection(assigned(node)))


def is_for_type_checkers(node):
    return "TYPE_CHECKING" in (
        getattr(node.test, "id", ""),
        getattr(node.test, "attr", ""),
    )


def assigned(node):
    """Return the names that a statement assigns."""
    if isinstance(node, ast.Assign):
        return [each.id for each in node.targets if isinstance(each, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def digest_of(tree):
    """Return the digest of a module's tree."""
    return hashlib.sha256(repr(without_texts(tree)).encode()).hexdigest()[:16]


class Module:
    """A module, its imports and, of an `__init__.py`, its table of names."""

    def __init__(self, name, path):
        self.name, self.is_package = name, path.name == "__init__.py"
        self.package = name if self.is_package else name.rpartition(".")[0]
        self.tree = ast.parse(path.read_bytes())
        self.bound, self.reached, self.used = {}, [], {}
        self._read(self.tree)
        if self.is_package:
            self.tree.body = [node for node in self.tree.body if not self._names(node)]

    def _read(self, node):
        for child in ast.iter_child_nodes(node):
            is_hint = isinstance(child, ast.If) and is_for_type_checkers(child)
            # in an `__init__.py`, these imports are the table of the names
            if is_hint and not self.is_package:
                continue
            if isinstance(child, ast.Import):
                self._import(child)
            elif isinstance(child, ast.ImportFrom):
                base = self._base(child)
                for alias in child.names:
                    self.reached.append((base, alias.name, alias.asname or alias.name))
                    self.bound[alias.asname or alias.name] = base, alias.name
            elif isinstance(child, ast.Attribute) and isinstance(child.value, ast.Name):
                self.used.setdefault(child.value.id, set()).add(child.attr)
            else:
                if isinstance(child, ast.Name):
                    self.used.setdefault(child.id, set()).add("*")
                self._read(child)

    def _import(self, node):
        for alias in node.names:
            if alias.asname:
                base, _, name = alias.name.rpartition(".")
                self.reached.append((base, name, alias.asname))
            else:
                # a chain of attributes: all that the module binds
                self.reached.append((alias.name, "*", alias.name))

    def _base(self, node):
        if not node.level:
            return node.module
        parts = self.package.split(".")
        parts = parts[: len(parts) - node.level + 1]
        return ".".join([*parts, *([node.module] if node.module else [])])

    def _names(self, node):
        """Return whether a statement of an `__init__.py` only binds or lists names."""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return True
        if isinstance(node, ast.FunctionDef):
            # it finds a name that is loaded late, or says that there is none
            return node.name in ("__getattr__", "__dir__")
        if not isinstance(node, ast.Assign):
            return False
        parts = [node.value]
        if isinstance(node.value, (ast.Tuple, ast.List)):
            parts = node.value.elts
        if not all(isinstance(part, (ast.Name, ast.Attribute)) for part in parts):
            return False
        for target in assigned(node):
            chain = ast.unparse(parts[0]).split(".") if len(parts) == 1 else [target]
            if chain[0] in self.bound and chain[0] != target:
                base, name = self.bound[chain[0]]
                self.bound[target] = f"{base}.{name}", ".".join(chain[1:]) or "*"
        return True


class Code:
    """The modules below some folders, each read at most once."""

    def __init__(self, *folders):
        self._folders = folders
        self.module = cache(self._module)
        self.digest = cache(self._digest)

    def path(self, name):
        """Return the file of a module, None if it is not in the folders."""
        for folder in self._folders:
            base = folder.joinpath(*name.split("."))
            for path in (base / "__init__.py", base.with_suffix(".py")):
                if name and path.is_file():
                    return path
        return None

    def _module(self, name):
        path = self.path(name)
        return None if path is None else Module(name, path)

    def _digest(self, name):
        return digest_of(self.module(name).tree)

    def reached(self, name):
        """Return the names of the modules that a module reaches, with itself."""
        found, asked = set(), set()
        open_ = [(name, "*")]
        while open_:
            pair = open_.pop()
            if pair in asked:
                continue
            asked.add(pair)
            open_ += self._follow(*pair, found)
        return sorted(found - MACHINERY)

    def _follow(self, base, name, found):
        """Add what a name of a module needs; return the names asked next."""
        module = self.module(base)
        if module is None:
            if self.module(f"{base}.{name}" if base else name) is not None:
                return [(f"{base}.{name}" if base else name, "*")]
            return []
        above = [(module.name.rpartition(".")[0], "")] if "." in module.name else []
        if not module.is_package:
            found.add(base)
            return [*above, *self._imports(module)]
        return above + self._in_table(module, name, found)

    def _in_table(self, module, name, found):
        asked = []
        if name == "*":
            asked += [(module.name, each) for each in module.bound]
        elif module.bound.get(name, (module.name, name)) != (module.name, name):
            asked.append(module.bound[name])
        elif name and self.module(f"{module.name}.{name}") is not None:
            asked.append((f"{module.name}.{name}", "*"))
        if any(not is_ignored(node) for node in module.tree.body):
            # it has more than names: its own code, with what this code uses
            found.add(module.name)
            names = {each.id for each in ast.walk(module.tree) if is_name(each)}
            asked += [module.bound[each] for each in names if each in module.bound]
        return asked

    def _imports(self, module):
        asked = []
        for base, name, alias in module.reached:
            whole = f"{base}.{name}" if base else name
            target = None if name == "*" else self.module(whole)
            is_module = target is not None and target.is_package
            bound = getattr(self.module(base), "bound", {})
            if is_module and bound.get(name, (base, name)) == (base, name):
                # a subpackage by itself: the attributes that are used of it
                asked += [(whole, used) for used in module.used.get(alias, {"*"})]
            else:
                asked.append((base, name))
        return asked

    def digests(self, name):
        """Return the digest of each module that a module reaches."""
        return {each: self.digest(each) for each in self.reached(name)}


def is_name(node):
    return isinstance(node, ast.Name)


def total(digests):
    """Return one digest of the digests of modules."""
    text = "\n".join(f"{name} {digests[name]}" for name in sorted(digests))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def code():
    """Return the code of the benchmarks and of the package beside them."""
    return Code(BENCHMARKS, BENCHMARKS.parent)
