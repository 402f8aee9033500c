"""Numbers of entities against their distribution: by hand, by enumeration, by law."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from skcalib.datasets import make_coref_documents
from skcalib.experimental import entity_count_coverage
from skcalib.posteriors import AntecedentPosterior


def enumerated(new):
    """Return the distribution of the number of successes, over all outcomes."""
    pmf = [0.0] * (len(new) + 1)
    for outcome in itertools.product([0, 1], repeat=len(new)):
        p = math.prod(q if o else 1 - q for q, o in zip(new, outcome, strict=True))
        pmf[sum(outcome)] += p
    return np.array(pmf)


def posterior_of(new):
    """Return a posterior where mentions are new with these probabilities."""
    with np.errstate(divide="ignore"):
        scores = [np.log(np.diag(row)) for row in new]
        for row, matrix in zip(new, scores, strict=True):
            for j in range(1, len(row)):
                matrix[j, 0] = np.log(1 - row[j])
    return AntecedentPosterior(scores)


NEW = [[1, 0.5, 0.5, 0.5], [1, 0.9, 0.1], [1.0], [], [1, 0.01, 0.02, 0.97, 0.5]]
Y = [[0, 0, 0, 0], [0, 1, 2], [5], [], [0, 0, 0, 1, 1]]


@pytest.mark.parametrize("level", [0.5, 0.7, 0.95])
def test_by_enumeration(level):
    found = entity_count_coverage(Y, posterior_of(NEW), confidence_level=level)
    covered, probas, sizes = [], [], []
    for i, (new, labels) in enumerate(zip(NEW, Y, strict=True)):
        pmf, k = enumerated(new), len(set(labels))
        below = [pmf[:m].sum() for m in range(len(pmf) + 1)]
        # the smallest number that is reached with the probability of the quantile
        low = min(m for m in range(len(pmf)) if below[m + 1] >= (1 - level) / 2)
        high = min(m for m in range(len(pmf)) if below[m + 1] >= (1 + level) / 2)
        assert (found.low[i], found.high[i], found.n_true[i]) == (low, high, k)
        assert found.mean[i] == pytest.approx(sum(new))
        assert found.pit[i] == pytest.approx(below[k] + pmf[k] / 2)
        covered.append(low <= k <= high)
        probas.append(below[high + 1] - below[low])
        sizes.append(k)
    np.testing.assert_allclose(found.proba, probas, atol=1e-12)
    assert found.coverage == pytest.approx(np.mean(covered))
    assert found.expected_coverage == pytest.approx(np.mean(probas))
    variance = np.sum(np.array(probas) * (1 - np.array(probas)))
    assert found.standard_error == pytest.approx(np.sqrt(variance) / 5)


@pytest.mark.parametrize(
    ("n", "level"),
    [
        (400, 0.8),
        *(pytest.param(1500, p, marks=pytest.mark.slow) for p in (0.5, 0.8, 0.95)),
    ],
)
def test_coverage_of_the_true_model_is_as_expected(n, level):
    """Within four standard errors, and the mean of the places is one half."""
    _, y, scores = make_coref_documents(n, return_scores=True, random_state=11)
    found = entity_count_coverage(
        y, AntecedentPosterior(scores), confidence_level=level
    )
    assert found.expected_coverage >= level
    error = found.coverage - found.expected_coverage
    assert abs(error) < 4 * found.standard_error
    assert abs(found.pit.mean() - 0.5) < 4 / np.sqrt(12 * n)


@pytest.mark.parametrize(
    ("offset", "side"), [(1.0, -1), pytest.param(-1.0, 1, marks=pytest.mark.slow)]
)
def test_coverage_of_a_wrong_model_is_too_low(offset, side):
    _, y, scores = make_coref_documents(300, return_scores=True, random_state=1)
    wrong = AntecedentPosterior(scores).tempered(1, offset)
    found = entity_count_coverage(y, wrong)
    assert found.coverage < found.expected_coverage - 10 * found.standard_error
    # fewer entities than expected where NEW is too probable
    assert side * (found.pit.mean() - 0.5) > 0.2


def test_weights_are_repetitions_and_names_do_not_matter():
    weight = [2, 0, 3, 1, 1]
    times = np.repeat(np.arange(5), weight)
    found = entity_count_coverage(Y, posterior_of(NEW), sample_weight=weight)
    many = entity_count_coverage(
        [[f"e{k}" for k in Y[i]] for i in times], posterior_of([NEW[i] for i in times])
    )
    for name in ("coverage", "expected_coverage", "standard_error"):
        assert getattr(found, name) == pytest.approx(getattr(many, name))


def test_intervals_of_a_long_document_are_within_the_possible_counts():
    new = np.linspace(0.01, 1, 800)[::-1]
    found = entity_count_coverage(
        [np.arange(800)], posterior_of([new]), confidence_level=1 - 1e-15
    )
    assert 0 <= found.low[0] <= found.high[0] <= 800
    assert 0 <= found.proba[0] <= 1


def test_columns_of_pandas():
    columns = pd.Series([pd.Series(labels) for labels in Y])
    found = entity_count_coverage(columns, posterior_of(NEW))
    assert found.n_true.tolist() == [len(set(labels)) for labels in Y]


def test_numbers_and_a_repr():
    found = entity_count_coverage(Y, posterior_of(NEW))
    assert isinstance(found.frame(), pd.DataFrame)
    assert found.frame().shape == (5, 6)
    assert found.to_dict()["n_true"] == [1, 3, 1, 0, 2]
    assert repr(found).startswith("EntityCountCoverage(coverage=")


@pytest.mark.parametrize(
    ("y", "params", "error", "message"),
    [
        (Y[:2], {}, ValueError, "'y_true' .* each of the 5 documents. Got 2"),
        ([[0], *Y[1:]], {}, ValueError, "'y_true' .* 4 mentions of document 0. Got 1"),
        (3, {}, TypeError, "'y_true' .* Got int"),
        (
            [{0, 1, 2, 3}, *Y[1:]],
            {},
            TypeError,
            "'y_true' .* Got set .* for document 0",
        ),
        ([np.array(0), *Y[1:]], {}, TypeError, "'y_true' .* Got ndarray .* for doc"),
        (Y, {"confidence_level": 1}, ValueError, "'confidence_level'"),
        (Y, {"sample_weight": [1]}, ValueError, "sample_weight"),
    ],
)
def test_bad_input_is_named(y, params, error, message):
    with pytest.raises(error, match=message):
        entity_count_coverage(y, posterior_of(NEW), **params)


def test_a_posterior_of_a_document_is_needed():
    with pytest.raises(TypeError, match="an AntecedentPosterior. Got list"):
        entity_count_coverage([[0]], [np.zeros((1, 1))])
    with pytest.raises(ValueError, match="needs at least one document"):
        entity_count_coverage([], AntecedentPosterior([]))


@pytest.mark.parametrize(
    ("coverage", "words"), [(0.84, "more than two"), (0.86, "no more than two")]
)
def test_a_difference_is_called_large_from_two_standard_errors(coverage, words):
    found = entity_count_coverage([[0, 1]], AntecedentPosterior([np.zeros((2, 2))]))
    changed = {"coverage": coverage, "expected_coverage": 0.95, "standard_error": 0.05}
    shown = replace(found, **changed)._repr_html_()
    assert f"The difference is {words} standard errors." in shown
