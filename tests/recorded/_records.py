"""Files of records: a case on a line of its own, and below it, indented, what it gave.

Lines that begin with # are comments. A case without lines below it is new: the update
fills them in.
"""

import difflib
import math
import re
from pathlib import Path

INDENT = "    "

# A difference this small between numbers that are not p-values is rounding: of a value
# near 0, such as a difference of equal numbers, no digit is the same everywhere.
NEAR_ZERO = 1e-12

_NUMBER = re.compile(r"(?<![\w.])([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?![\w.]*\w)")
_KEY = re.compile(r"(\w+)[\"']?\s*[:=]")


def paths(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.txt"))


def read(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the text of each case, and the comments before it."""
    records: dict[str, list[str]] = {}
    comments: dict[str, str] = {}
    before: list[str] = []
    for line in path.read_text("utf-8").split("\n"):
        if line.startswith(INDENT) or (not line and not before and records):
            records[next(reversed(records))].append(line.removeprefix(INDENT))
        elif not line or line.startswith("#"):
            before.append(line)
        elif line in records:
            raise ValueError(f"{path.name} has this case twice: {line}")
        else:
            records[line], comments[line], before = [], "\n".join(before), []
    texts = {case: "\n".join(lines).rstrip() for case, lines in records.items()}
    return texts, comments


def write(path: Path, records: dict[str, str], comments: dict[str, str]) -> None:
    lines: list[str] = []
    for case, text in records.items():
        lines += [comments[case]] if comments[case] else []
        lines += [case, *(f"{INDENT}{line}".rstrip() for line in text.split("\n")), ""]
    path.write_text("\n".join(lines), "utf-8", newline="\n")


def agree(old: str, new: str, *, rtol: float, rounded: bool = False) -> bool:
    """Return whether texts are equal but for blanks, quotes and digits of numbers.

    Numbers agree to `rtol`, p-values by their logarithm. With `rounded`, they also
    agree if they differ by one unit of the last digit of a decimal fraction.
    """
    olds, news = (_NUMBER.split(plain(text)) for text in (old, new))
    if olds[::2] != news[::2]:
        return False
    key = ""
    for k in range(1, len(olds), 2):
        key = next(reversed(_KEY.findall(olds[k - 1])), key)
        if not numbers_agree(key, olds[k], news[k], rtol, rounded):
            return False
    return True


def plain(text: str) -> str:
    """Remove what differs between systems: quotes of choices, wraps, separators."""
    return " ".join(re.sub(r"\\+", "/", re.sub("['\"]", "", text)).split())


def numbers_agree(key: str, old: str, new: str, rtol: float, rounded: bool) -> bool:
    a, b = float(old), float(new)
    if rounded and "." in old:
        mantissa, _, exponent = old.partition("e")
        unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
        if abs(a - b) <= 1.01 * unit:
            return True
    if re.search("^p$|p_?value", key) and a > 0 and b > 0:
        return math.isclose(math.log(a), math.log(b), rel_tol=rtol, abs_tol=rtol)
    return math.isclose(a, b, rel_tol=rtol, abs_tol=NEAR_ZERO)


def difference(old: str, new: str, n_lines: int = 24) -> str:
    """Return the lines that differ, and no more than `n_lines` of them."""
    lines = difflib.unified_diff(
        old.split("\n"), new.split("\n"), "recorded", "now", lineterm="", n=1
    )
    shown = [line if len(line) < 400 else f"{line[:400]} ..." for line in lines]
    if len(shown) > n_lines:
        shown[n_lines:] = [f"... {len(shown) - n_lines} more lines differ"]
    return "\n".join(shown)
