"""Intervals of counts cover what happened, if the model is the true one."""

import numpy as np
import pytest

from skcalib.datasets import make_event_documents
from skcalib.events import EventCounter, EventRule
from skcalib.posteriors import AntecedentPosterior

pytestmark = pytest.mark.slow

N_CORPORA = 30


@pytest.fixture(scope="module")
def simulated():
    """Return (true count, counts under the true model, counts under a sharp one)."""
    found = []
    for seed in range(N_CORPORA):
        rng = np.random.default_rng([7, seed])
        documents, events, scores = make_event_documents(
            40, mean_mentions=12, return_scores=True, random_state=rng
        )
        counter = EventCounter(
            EventRule(), freq=None, method="sample", n_samples=50, random_state=rng
        )
        posterior = AntecedentPosterior(scores)
        counts = counter.count(documents, posterior)
        sharp = counter.count(documents, posterior.tempered(0.3))
        true = [sum(code in each for each in events) for code in counts.countries]
        found.append((np.array(true), counts, sharp))
    return found


def coverage(simulated, which, method):
    """Return the share of counts covered, and the number of counts."""
    covered = []
    for each in simulated:
        true, counts = each[0], each[which]
        low, high = counts.interval(method=method)
        # the same counts under both models
        wide = each[1].sd >= 1
        covered += ((low <= true) & (true <= high))[wide].tolist()
    return np.mean(covered), len(covered)


def test_true_intervals_cover(simulated):
    normal, n = coverage(simulated, 1, "normal")
    quantile, _ = coverage(simulated, 1, "quantile")
    assert n > 80
    # three standard errors; quantiles are possible counts, so they cover more
    error = np.sqrt(0.95 * 0.05 / n)
    assert abs(normal - 0.95) < 3 * error + 0.01
    assert quantile > 0.95 - 3 * error


def test_overconfident_intervals_cover_less(simulated):
    for method in ("normal", "quantile"):
        true, n = coverage(simulated, 1, method)
        sharp, _ = coverage(simulated, 2, method)
        assert sharp < true - 4 * np.sqrt(0.95 * 0.05 / n)


def test_standardised_errors_are_standard(simulated):
    z = np.concatenate([(true - c.mean) / c.sd for true, c, _ in simulated])
    # counts of one corpus hardly depend on each other
    assert abs(z.mean()) < 4 / np.sqrt(z.size)
    assert abs(z.std() - 1) < 4 / np.sqrt(2 * z.size)
