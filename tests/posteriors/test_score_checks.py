"""Scores may be in the arrays of any library; what is not an array is named."""

import array_api_strict
import dask.array
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.special import softmax

from skcalib.experimental import TreePosterior
from skcalib.posteriors import AntecedentPosterior, LinearChainPosterior

EMISSION = np.array([[0.0, 1.0], [2.0, -1.0], [0.5, 0.25]])
TRANSITION = np.array([[1.0, 0.0], [0.5, 2.0]])
BORDER = np.array([0.5, -0.5])
SQUARE = np.array([[0.0, 0.0, 0.0], [1.0, 0.5, 0.0], [0.25, 2.0, 1.0]])


LIBRARIES = {
    "array_api_strict": lambda array: array_api_strict.asarray(array),
    "dask": lambda array: dask.array.from_array(array, chunks=1),
    "pandas": lambda array: (
        pd.DataFrame(array) if array.ndim == 2 else pd.Series(array)
    ),
    "pandas rows": lambda array: pd.Series(array.tolist()),
    "polars": lambda array: (
        pl.DataFrame(array) if array.ndim == 2 else pl.Series(array)
    ),
    "polars rows": lambda array: pl.Series(array.tolist()),
    "unmasked": np.ma.MaskedArray,
    "rows": lambda array: list(array),
}


@pytest.fixture(params=LIBRARIES.values(), ids=LIBRARIES)
def convert(request):
    return request.param


@pytest.mark.parametrize("dtype", [None, "torch.bfloat16"])
def test_scores_are_read_from_tensors(tensor, dtype):
    def convert(array):
        return tensor(array.tolist(), dtype, requires_grad=True)

    expected = LinearChainPosterior([EMISSION], TRANSITION, BORDER, BORDER[::-1])
    found = LinearChainPosterior(
        [convert(EMISSION)], *map(convert, (TRANSITION, BORDER, BORDER[::-1]))
    )
    np.testing.assert_allclose(found.log_partition(), expected.log_partition())
    expected = AntecedentPosterior([SQUARE]).pair_marginals()[0]
    found = AntecedentPosterior([convert(SQUARE)]).pair_marginals()[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_scores_of_chains_are_read_from_any_library(convert):
    expected = LinearChainPosterior([EMISSION], TRANSITION, BORDER, BORDER[::-1])
    found = LinearChainPosterior(
        [convert(EMISSION)], convert(TRANSITION), convert(BORDER), convert(BORDER[::-1])
    )
    np.testing.assert_allclose(
        found.token_marginals()[0], expected.token_marginals()[0], rtol=1e-12
    )


def test_scores_of_all_tokens_are_read_from_any_library(convert):
    expected = LinearChainPosterior([EMISSION[:1], EMISSION[1:]], TRANSITION)
    found = LinearChainPosterior(
        convert(EMISSION), TRANSITION, lengths=convert(np.array([1, 2]))
    )
    np.testing.assert_allclose(found.log_partition(), expected.log_partition())


def test_scores_of_antecedents_are_read_from_any_library(convert):
    expected = AntecedentPosterior([SQUARE]).pair_marginals()[0]
    found = AntecedentPosterior([convert(SQUARE)]).pair_marginals()[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_paths_and_pairs_are_read_from_any_library(convert):
    posterior = LinearChainPosterior([EMISSION], TRANSITION)
    path, pairs = np.array([0, 1, 1]), np.array([[0, 1], [1, 1]])
    np.testing.assert_allclose(
        posterior.log_proba([convert(path)]), posterior.log_proba([path])
    )
    np.testing.assert_allclose(
        posterior.pair_marginals(convert(pairs))[0], posterior.pair_marginals(pairs)[0]
    )


MASKED = np.ma.MaskedArray([[0.0, 1.0]], mask=[[False, True]])
SPARSE = sparse.csr_array([[0.0, 1.0]])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (MASKED, "must not have masked entries. Got a masked entry in row 0"),
        (SPARSE, r"must be dense. Got csr_array of shape \(1, 2\)"),
    ],
)
def test_masked_and_sparse_scores_are_named(wrong, message):
    where = "in (sequence|document) 1: "
    name = "The 'log_emission' parameter of LinearChainPosterior"
    with pytest.raises((TypeError, ValueError), match=f"{name} {message} {where}"):
        LinearChainPosterior([EMISSION, wrong], TRANSITION)
    with pytest.raises((TypeError, ValueError), match=f"{name} {message}"):
        LinearChainPosterior(wrong, TRANSITION, lengths=[1])
    with pytest.raises((TypeError, ValueError), match=f"'log_transition' .*{message}"):
        LinearChainPosterior([EMISSION], wrong)
    name = "The 'log_scores' parameter of AntecedentPosterior"
    with pytest.raises((TypeError, ValueError), match=f"{name} {message} {where}"):
        AntecedentPosterior([SQUARE, wrong])


@pytest.mark.parametrize(
    "table", [pd.DataFrame(EMISSION), pl.DataFrame(EMISSION), {0: EMISSION}]
)
def test_a_table_is_not_a_list_of_arrays(table):
    with pytest.raises(TypeError, match="'log_emission' .* list with an array for eac"):
        LinearChainPosterior(table, TRANSITION)
    with pytest.raises(TypeError, match="'log_scores' .* list with a square array for"):
        AntecedentPosterior(table)


def test_a_masked_path_is_named():
    posterior = LinearChainPosterior([EMISSION], TRANSITION)
    path = np.ma.MaskedArray([0, 0, 1], mask=[0, 1, 0])
    with pytest.raises(
        ValueError, match="'paths' .*log_proba .* masked entry in row 1"
    ):
        posterior.log_proba([path])


# Chains without transitions


def test_without_transitions_tokens_are_independent():
    emissions = [EMISSION, np.zeros((0, 2)), EMISSION[:1] * 3]
    posterior = LinearChainPosterior(emissions)
    for scores, proba in zip(emissions, posterior.token_marginals(), strict=True):
        np.testing.assert_allclose(proba, softmax(scores, axis=1), atol=1e-15)
    assert [path.tolist() for path in posterior.viterbi()] == [[1, 0, 0], [], [1]]
    proba = softmax(EMISSION, axis=1)
    assert posterior.log_proba([[1, 0, 0], [], [1]])[0] == pytest.approx(
        np.log(proba[[0, 1, 2], [1, 0, 0]]).sum()
    )
    np.testing.assert_allclose(
        posterior.span_marginals([[(0, [{0, 1}, 0])], [], []])[0], proba[1, :1]
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_without_transitions_one_array_has_the_number_of_tags(dtype):
    scores = EMISSION.astype(dtype)
    posterior = LinearChainPosterior(scores, lengths=[1, 0, 2], dtype=dtype)
    assert posterior.log_emission is scores
    assert posterior.n_tags == 2
    assert [len(proba) for proba in posterior.token_marginals()] == [1, 0, 2]


@pytest.mark.parametrize(
    ("emission", "more"),
    [
        ([], {}),
        ([[], []], {}),
        ([], {"lengths": []}),
        ([0.5, 0.5], {"lengths": [2]}),
        ([np.zeros((2, 0))], {}),
    ],
)
def test_without_transitions_and_tokens_there_is_no_number_of_tags(emission, more):
    with pytest.raises(
        ValueError, match="'log_emission' .* unless log_transition give"
    ):
        LinearChainPosterior(emission, **more)


def test_without_transitions_all_tokens_have_the_same_tags():
    with pytest.raises(ValueError, match=r"\(n_tokens, 2\).* \(1, 3\) for sequence 1"):
        LinearChainPosterior([np.zeros((1, 2)), np.zeros((1, 3))])


# Numbers whose sums overflow


@pytest.mark.parametrize("value", [1e308, -1e301])
def test_finite_scores_whose_sums_overflow_are_named(value):
    emission = EMISSION.copy()
    emission[1, 0] = value
    message = "within ±1e.300.* Got .*e.30[18] in sequence 1, token 1"
    with pytest.raises(ValueError, match=message):
        LinearChainPosterior([EMISSION, emission], TRANSITION)
    with pytest.raises(ValueError, match="'log_end' .* within ±1e.300"):
        LinearChainPosterior([EMISSION], TRANSITION, None, [0, value])


@pytest.mark.parametrize("scale", [1e300, 1e299])
def test_the_greatest_scores_have_finite_results(scale):
    scores = [[scale, -scale], [-np.inf, scale], [0, 1]]
    moves = [[scale, -scale], [scale, 0]]
    posterior = LinearChainPosterior([scores], moves)
    assert np.isfinite(posterior.log_partition()).all()
    assert np.isfinite(posterior.log_proba([[0, 1, 0]])).all()
    assert posterior.entropy() == pytest.approx([0])
    with pytest.raises(ValueError, match="'temperature' .* too small: 0.01"):
        posterior.tempered(0.01)


@pytest.mark.parametrize(
    ("make", "proba", "name"),
    [
        (AntecedentPosterior, [[1, 0, 0], [0.3, 0.7, 0], [0.2, 0, 0.8]], "log_scores"),
        (LinearChainPosterior, [[0.3, 0.7], [1, 0], [0.5, 0.5]], "log_emission"),
        (TreePosterior, [[0.7, 0, 0.3], [0.4, 0.6, 0]], "log_scores"),
    ],
)
def test_probabilities_passed_as_scores_give_a_warning(make, proba, name):
    proba = np.array(proba)
    with pytest.warns(UserWarning, match=f"'{name}' must contain scores"):
        make([proba])
    make([np.log(np.where(proba > 0, proba, 1))])
    make([np.round(proba)])  # ones and zeros are scores in many examples
