"""Temperatures of maximum likelihood."""

import pytest

from skcalib.recalibration import _likelihood


@pytest.fixture(scope="module")
def without_prior():
    """Fit by maximum likelihood; test_temperature_prior.py is about the prior."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_likelihood, "_PRIOR_RATE", 0.0)
        yield
