"""Names that moved are found at their old path, with a warning."""

import importlib

import pytest

import skcalib.experimental
from skcalib import _result_classes
from skcalib._moved import EXPERIMENTAL, RESULTS

TABLES = [(EXPERIMENTAL, skcalib.experimental), (RESULTS, _result_classes)]
MOVED = [
    (module, name, home)
    for table, home in TABLES
    for module, names in table.items()
    for name in names
]


@pytest.mark.parametrize(("module", "name", "home"), MOVED)
def test_an_old_path_warns_and_gives_the_same_object(module, name, home):
    old = importlib.import_module(module)
    assert name not in old.__all__
    with pytest.warns(
        FutureWarning, match=rf"{module}\.{name} goes in version"
    ) as seen:
        found = getattr(old, name)
    assert found is getattr(home, name)
    assert seen[0].filename == __file__


def test_an_import_from_an_old_path_warns_in_its_line():
    with pytest.warns(
        FutureWarning, match="Import it from skcalib.experimental"
    ) as seen:
        from skcalib.posteriors import TreePosterior  # noqa: F401
    assert {each.filename for each in seen} == {__file__}


def test_a_moved_name_is_public_where_it_is_now():
    # Names that never had another path are in no table.
    for table, home in TABLES:
        names = [name for group in table.values() for name in group]
        assert len(set(names)) == len(names)
        assert set(names) <= set(home.__all__)


def test_a_name_that_never_existed_is_an_attribute_error():
    for module in {*EXPERIMENTAL, *RESULTS}:
        with pytest.raises(AttributeError, match=r"has no attribute 'no_such_name'"):
            getattr(importlib.import_module(module), "no_such_name")  # noqa: B009
