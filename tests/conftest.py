"""What every test gets."""

import os
import sys

import pytest
from hypothesis import settings

# A slow machine is no reason to fail; and a failure has to be there at the next run.
settings.register_profile("skcalib", deadline=None, derandomize=True)
settings.load_profile("skcalib")

# No test opens a window.
os.environ["MPLBACKEND"] = "Agg"


@pytest.fixture(autouse=True)
def close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
