"""The numbers of the formulas on the theory page and in the code that computes them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "guide" / "theory.rst"

NUMBER = r"\(([A-Z]\d+)\)"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="needs the documentation")


def labels():
    return re.findall(r"^ +:label: (\S+)$", PAGE.read_text("utf-8"), re.MULTILINE)


def cited():
    """Return the files that cite each formula, from lines such as `theory, (I3)`."""
    found = {}
    for path in sorted((ROOT / "skcalib").rglob("*.py")):
        text = path.read_text("utf-8")
        for number in re.findall(rf"theory, {NUMBER}", text):
            found.setdefault(number, []).append(path.name)
        if "theory, (" in text:  # such as "as (G2)" beside it
            for number in re.findall(NUMBER, text):
                found.setdefault(number, []).append(path.name)
    return found


def test_the_numbers_of_each_letter_are_complete():
    """A further formula gets the next number of its letter, wherever it is."""
    found = labels()
    for letter in {label[0] for label in found}:
        numbers = sorted(int(label[1:]) for label in found if label[0] == letter)
        assert numbers == list(range(1, len(numbers) + 1)), letter


def test_references_on_the_page_name_a_formula():
    text = PAGE.read_text("utf-8")
    assert set(re.findall(r":eq:`([^`]*)`", text)) <= set(labels())


def test_each_cited_number_is_on_the_page():
    assert set(cited()) <= set(labels())


def test_each_formula_with_a_number_is_cited_by_the_code():
    """A formula that no code computes does not need a number."""
    assert sorted(set(labels()) - set(cited())) == []
