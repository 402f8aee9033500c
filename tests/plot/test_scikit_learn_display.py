"""The tests and examples of scikit-learn's display, with another import."""

import doctest
import importlib
import inspect
import itertools
import re

import matplotlib.pyplot as plt
import pytest
import sklearn.calibration
from sklearn.datasets import load_iris

from skcalib import ReliabilityDisplay

# The tests that are expected to fail, and why, are those of this version.
pytest.importorskip("sklearn", minversion="1.9")

THEIRS = sklearn.calibration.CalibrationDisplay

MODULES = (
    "sklearn.tests.test_calibration",
    "sklearn.metrics._plot.tests.test_common_curve_display",
)

# Tests that fail: a pattern of the statement or the message that fails, and the reason.
LEGEND = r"assert len\(legend_labels\)", "The legend has the error and no diagonal."
MESSAGE = "did not match", "The error has its own words."
EXPECTED = {
    "test_calibration_display_compute": (
        r"assert viz\.ax_\.get_xlabel\(\)",
        "The label is below the histogram.",
    ),
    "test_plot_calibration_curve_pipeline": LEGEND,
    "test_calibration_display_name_multiple_calls": LEGEND,
    "test_calibration_display_pos_label": (
        r"viz\.prob_true, prob_true",
        "The bins are adaptive unless a strategy is given.",
    ),
    "test_display_curve_error_binary_classifier": (
        "DID NOT RAISE",
        "Several classes are pooled.",
    ),
    "test_display_curve_error_regression": MESSAGE,
    "test_display_curve_n_samples_consistency": MESSAGE,
    "test_display_curve_error_pos_label": MESSAGE,
}


def their_tests():
    """Yield the tests of the display, each with each set of its parameters."""
    for path in MODULES:
        try:
            tests = vars(importlib.import_module(path))
        except ImportError as error:
            skip = pytest.mark.skip(reason=f"Tests are not installed: {error}")
            yield pytest.param(None, {}, id=path, marks=skip)
            continue
        for name, test in tests.items():
            if not name.startswith("test_") or "Display" not in inspect.getsource(test):
                continue
            marks = [mark.args for mark in getattr(test, "pytestmark", ())]
            has_class = any(names == "Display" for names, *_ in marks)
            if has_class or "CalibrationDisplay" in test.__code__.co_names:
                yield from calls(test, marks)


def calls(test, marks):
    sets = []
    for names, values in marks:
        names = names.replace(" ", "").split(",")
        rows = [value if len(names) > 1 else (value,) for value in values]
        sets.append([dict(zip(names, row, strict=True)) for row in rows])
    for k, chosen in enumerate(itertools.product(*sets)):
        params = {name: value for each in chosen for name, value in each.items()}
        if params.setdefault("Display", THEIRS) is THEIRS:
            yield pytest.param(test, params, id=f"{test.__name__}-{k}")


@pytest.fixture
def another_import(monkeypatch):
    for path in ("sklearn.calibration", *MODULES):
        monkeypatch.setattr(f"{path}.CalibrationDisplay", ReliabilityDisplay)


@pytest.mark.filterwarnings("ignore:All probabilities of the .* are 0 or 1")
@pytest.mark.parametrize(("test", "params"), list(their_tests()))
def test_scikit_learns_tests_pass_or_fail_as_expected(test, params, another_import):
    X, y = load_iris(return_X_y=True)
    two = X[y < 2], y[y < 2]
    given = {"pyplot": plt, "data": (X, y), "data_binary": two, "iris_data_binary": two}
    given |= params | {"Display": ReliabilityDisplay}
    names = inspect.signature(test).parameters
    pattern, reason = EXPECTED.get(test.__name__, (None, None))
    given = {name: given[name] for name in names}
    if pattern is None:
        test(**given)
        return
    with pytest.raises((Exception, pytest.fail.Exception)) as error:
        test(**given)
    (statement,) = [e.statement for e in error.traceback if e.name == test.__name__]
    assert re.search(pattern, f"{statement}\n{error.value}"), reason
    pytest.xfail(reason)


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
@pytest.mark.parametrize("place", ["", ".from_estimator", ".from_predictions"])
def test_scikit_learns_examples_run(place, another_import):
    documented = THEIRS if not place else getattr(THEIRS, place[1:])
    names = {}
    for example in doctest.DocTestParser().get_examples(documented.__doc__):
        exec(example.source, names)
    assert isinstance(names["disp"], ReliabilityDisplay)
    assert names["disp"].ax_.lines
