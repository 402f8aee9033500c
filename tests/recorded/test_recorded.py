"""What users see is what was recorded: public names, printed texts, pages, numbers.

A change that is meant is recorded by ``python -m tests.recorded.update``; its diff is
then part of the review.
"""

import inspect
import sys

import pytest
from harness_files import FILES

from . import _calls, _environment, _records, _runs, _surface

IS_PINNED = _environment.is_pinned()
UPDATE = "If this change is meant, run: python -m tests.recorded.update"


def cases(folder):
    return {
        f"{path.stem}: {case}": (case, text)
        for path in _records.paths(folder)
        for case, text in _records.read(path)[0].items()
    }


RUNS, CALLS = cases(_runs.FOLDER), cases(_calls.FOLDER)


def fail(title, old, new, kind):
    problem = _records.difference(old, new) if old else "This case has no record yet."
    pytest.fail(f"{title}\n{problem}\n{UPDATE} {kind}", pytrace=False)


@pytest.fixture(scope="module")
def inputs():
    with _runs.input_folder() as folder:
        yield folder


def test_the_public_surface_is_as_recorded():
    recorded, now = _surface.PATH.read_text("utf-8"), _surface.surface()
    if recorded != now:
        fail("The public surface differs.", recorded, now, "surface")


@pytest.mark.skipif(sys.platform == "win32", reason="paths and errors are different")
@pytest.mark.parametrize("name", RUNS)
def test_a_command_does_what_was_recorded(name, inputs):
    case, recorded = RUNS[name]
    now = _runs.outcome(case, inputs)
    if not _runs.agree(case, recorded, now, IS_PINNED):
        fail(name, recorded, now, "runs")


@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_what_was_recorded(name):
    case, recorded = CALLS[name]
    now = _calls.outcome(case)
    if not _calls.agree(case, recorded, now, IS_PINNED):
        fail(name, recorded, now, "calls")


def test_every_public_name_and_method_has_a_recorded_call():
    called = _calls.words("\n".join(case for case, _ in CALLS.values()))
    # Classes of results are named in what a call returns.
    named = called | _calls.words("\n".join(text for _, text in CALLS.values()))
    missing = {name for _, name, _ in _surface.public_names()} - named
    missing |= {
        f"{name}.{method}"
        for _, name, kind in _surface.public_names()
        if inspect.isclass(kind)
        for method in _surface.own_methods(kind)
        if method not in called
    }
    assert missing - {"__version__"} == set(_calls.EXCEPTIONS)


def test_every_harness_has_recorded_runs():
    text = "\n".join(case for case, _ in RUNS.values())
    without = [name for name, files in FILES.items() if not any(map(text.count, files))]
    assert without == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("p: 0.25", "p:   0.25", True),
        ("choose from 'a', 'b'", "choose from a, b", True),
        ("score 0.5", "score 0.5000000001", True),
        ("score 0.5", "score 0.50001", False),
        ("score 0.5", "rate 0.5", False),
        ("gain 1e-17", "gain -3e-18", True),
        ("pvalue: 1e-17", "pvalue: 3e-17", False),
        ("pvalue: 1e-200", "pvalue: 1.0000001e-200", True),
        ("n 12 of 40", "n 13 of 40", False),
        ("1e-9 is not q1", "1e-9 is not q2", False),
    ],
)
def test_texts_agree_but_for_the_last_digits_of_numbers(old, new, expected):
    assert _records.agree(old, new, rtol=1e-9) is expected


def test_printed_numbers_may_differ_by_one_unit_of_their_last_digit():
    def agree(old, new):
        return _records.agree(old, new, rtol=1e-6, rounded=True)

    assert agree("error 0.042", "error 0.043")
    assert not agree("error 0.042", "error 0.044")
    assert not agree("n = 42", "n = 43")
    assert agree("p = 8.1e-19", "p = 8.2e-19")
    assert not agree("p = 8.1e-19", "p = 8.1e-17")
