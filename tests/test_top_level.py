"""Names of other packages at the top of this one."""

import importlib

import pytest

import skcalib


def test_the_name_of_scikit_learns_display_leads_to_this_one():
    with pytest.raises(ImportError, match=r"diagram is skcalib\.ReliabilityDisplay"):
        from skcalib import CalibrationDisplay
    with pytest.raises(ImportError, match=r"diagram is skcalib\.ReliabilityDisplay"):
        from skcalib.plot import CalibrationDisplay  # noqa: F401


@pytest.mark.parametrize(
    ("package", "name", "home"),
    [
        ("skcalib", "TagQuery", "skcalib.queries"),
        ("skcalib.metrics", "calibration_error_scorer", "skcalib"),
        ("skcalib", "ArcQuery", "skcalib.experimental"),
        ("skcalib", "fetch_corpus", "skcalib.datasets"),
    ],
)
def test_a_name_of_another_subpackage_says_where_it_is(package, name, home):
    with pytest.raises(ImportError, match=f"^{name} is in {home}: from"):
        exec(f"from {package} import {name}")
    module = importlib.import_module(package)
    assert not hasattr(module, name)
    with pytest.raises(AttributeError, match=f"'{name}'.* from {home} import {name}$"):
        getattr(module, name)


def test_any_other_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'skcalib' has no attribute 'Display'"):
        skcalib.Display  # noqa: B018
    with pytest.raises(AttributeError, match=r"'skcalib\.plot' has no attribute"):
        skcalib.plot.Display  # noqa: B018
