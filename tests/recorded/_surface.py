"""The public surface of the package as text: names, signatures and summaries."""

import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import skcalib

PATH = Path(__file__).parent / "surface.txt"
WIDTH = 88

# Special methods by which users reach an object without naming a method.
PROTOCOLS = ["__call__", "__contains__", "__getitem__", "__iter__", "__len__"]


def public_modules() -> list[str]:
    found = pkgutil.walk_packages(skcalib.__path__, "skcalib.")
    names = (module.name for module in found)
    public = sorted(name for name in names if "._" not in name)
    return ["skcalib", *public, "skcalib._result_classes"]


def public_names() -> Iterator[tuple[str, str, object]]:
    """Yield module, name and object."""
    for module in public_modules():
        found = importlib.import_module(module)
        for name in found.__all__:
            yield module, name, getattr(found, name)


def surface() -> str:
    """Describe every public module; a name that is exported twice refers to one."""
    sections: dict[str, list[str]] = {name: [] for name in public_modules()}
    exports: dict[int, list[str]] = {}
    for module, name, value in public_names():
        exports.setdefault(id(value), []).append(f"{module}.{name}")
    for module, name, value in public_names():
        home = min(exports[id(value)], key=lambda path: is_far(path, value))
        lines = [f"{name}: {type(value).__name__}"]
        if callable(value):
            is_home = home == f"{module}.{name}"
            lines = describe(name, value) if is_home else [f"{name} = {home}"]
        sections[module] += [*lines, ""]
    return "\n".join(
        "\n".join([module, "=" * len(module), "", *lines])
        for module, lines in sections.items()
    )


def is_far(path: str, value: object) -> bool:
    """Return whether an object is defined outside the subpackage that exports it."""
    subpackage = path.rpartition(".")[0]
    return subpackage == "skcalib" or not value.__module__.startswith(subpackage)


def describe(name: str, value: object) -> list[str]:
    if inspect.isclass(value):
        return describe_class(name, value)
    if not inspect.isfunction(value):  # an object with __call__
        lines = [f"{name}: object", *signature("    __call__", value)]
        return [*lines, *members(type(value), skip={"__call__"})]
    return [*signature(name, value), *summary(value)]


def describe_class(name: str, kind: type) -> list[str]:
    lines = [f"class {name}{parents(kind)}", *summary(kind)]
    init = signature("    __init__", kind)
    attributes = [f"    .{line}" for line in documented_attributes(kind)]
    return [*lines, *init, *attributes, *members(kind)]


def parents(kind: type) -> str:
    """Name the classes of other packages that a class is derived from."""
    own = [each for each in kind.__mro__ if is_own(each)]
    bases = (base for each in own for base in each.__bases__ if not is_own(base))
    names = sorted({base.__name__ for base in bases} - {"object", "ABC", "Generic"})
    if dataclasses.is_dataclass(kind):
        frozen = kind.__dataclass_params__.frozen
        names.append("frozen dataclass" if frozen else "dataclass")
    return f" ({', '.join(names)})" if names else ""


def is_own(kind: type) -> bool:
    return kind.__module__.startswith("skcalib")


def signature(name: str, function: object) -> list[str]:
    """Return the signature on one line, or with one parameter a line if it is long."""
    indent = re.match(" *", name).group()
    found = inspect.signature(function)
    shown = [each for each in found.parameters.values() if each.name[0] != "_"]
    found = found.replace(parameters=shown)
    if found.return_annotation is None and "__init__" in name:
        found = found.replace(return_annotation=inspect.Signature.empty)
    line = f"{name}{unquoted(str(found))}"
    if len(line) <= WIDTH:
        return [line]
    parts = ["*" if part == "*" else part for part in parameters(found)]
    end = unquoted(str(found.replace(parameters=[]))).removeprefix("()")
    return [f"{name}(", *(f"{indent}    {part}," for part in parts), f"{indent}){end}"]


def parameters(found: inspect.Signature) -> Iterator[str]:
    starred = False
    for parameter in found.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            starred = True
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        yield unquoted(str(parameter))


def unquoted(text: str) -> str:
    """Return annotations that are text as they are written."""
    text = re.sub(r"ForwardRef\('([^']*)'[^)]*\)", r"\1", text)
    return re.sub(r"(: |-> )(['\"])(.*?)\2(?= =|,|\)|$)", r"\1\3", text)


def summary(value: object) -> list[str]:
    doc = inspect.getdoc(value)
    return [f"    {doc.splitlines()[0]}"] if doc else []


def documented_attributes(kind: type) -> list[str]:
    """Return the names and types in the section "Attributes" of a docstring."""
    doc = inspect.getdoc(kind) or ""
    section = re.search(
        r"^Attributes\n-+\n(.*?)(?=^\w[^\n]*\n---|\Z)", doc, re.M | re.S
    )
    lines = section[1].splitlines() if section else []
    return [line for line in lines if re.match(r"\w", line)]


def members(kind: type, skip: set[str] = frozenset()) -> list[str]:
    """Describe public methods and properties that this package defines."""
    found = own_members(kind).items()
    shown = (member(kind, name, raw) for name, raw in found if name not in skip)
    return [line for lines in shown for line in lines]


def own_members(kind: type) -> dict[str, object]:
    """Return public members that this package defines, as they are in their class."""
    found: dict[str, object] = {}
    for name in dir(kind):
        owner = next((each for each in kind.__mro__ if name in vars(each)), None)
        is_public = name[0] != "_" or name in PROTOCOLS
        if is_public and owner is not None and is_own(owner):
            found[name] = vars(owner)[name]
    return found


def own_methods(kind: type) -> list[str]:
    """Return the names of public methods, without special ones and properties."""
    return [
        name
        for name, raw in own_members(kind).items()
        if name[0] != "_"
        and callable(getattr(kind, name))
        and not is_routing(name, raw)
    ]


def is_routing(name: str, raw: object) -> bool:
    """Return whether a method is one that scikit-learn adds, `set_fit_request`."""
    return bool(re.fullmatch(r"set_\w+_request", name)) and not inspect.isfunction(raw)


def member(kind: type, name: str, raw: object) -> list[str]:
    value = getattr(kind, name)
    if isinstance(raw, property) or not callable(value):
        is_field = name in getattr(kind, "__dataclass_fields__", ())
        return [] if is_field else [f"    .{name}"]
    if is_routing(name, raw):
        routed = [*inspect.signature(value).parameters][1:]
        return [f"    {name}({', '.join(routed)}), of scikit-learn"]
    if value.__name__ != name and hasattr(kind, value.__name__):
        return [f"    {name} = {value.__name__}"]
    prefix = "classmethod " if isinstance(raw, classmethod) else ""
    return [
        *signature(f"    {prefix}{name}", value),
        *(f"    {line}" for line in summary(value)),
    ]
