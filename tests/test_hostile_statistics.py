"""Hostile arguments of statistics: a right answer, or an error that names them."""

import inspect
import math
import warnings

import numpy as np
import pytest

from skcalib import counts, evaluation, experimental, rates, significance
from skcalib._errors import ParameterError

N = 24
RIGHT = np.arange(N) % 3 > 0
OTHER = np.arange(N) % 4 > 0
PROBA = np.linspace(0.2, 0.9, N)
LABELS = np.where(np.arange(N) % 2 > 0, RIGHT, np.nan)


class Constant:
    """An estimator that predicts one class."""

    def fit(self, X, y):
        return self

    def get_params(self, deep=True):
        return {}

    def predict(self, X):
        return np.ones(len(X))


EVALUATION = evaluation.evaluation_of(RIGHT, question=[f"q{k}" for k in range(N)])
SYSTEMS = {"a": RIGHT, "b": OTHER}
DRAWN = {"n_resamples": 99, "random_state": 0}
TWO_SYSTEMS = {"stats_a": RIGHT, "stats_b": OTHER, **DRAWN}

# Valid calls, without the arguments that have defaults, which are tried as well.
CALLS = {
    counts.corrected_count: {
        "y_true": LABELS,
        "expected": PROBA,
        "inclusion_probability": 0.5,
    },
    counts.choose_documents: {"sd": PROBA, "n": 10, "size": PROBA, "random_state": 0},
    rates.accuracy_interval: {"y": RIGHT},
    evaluation.evaluation_of: {"score": RIGHT},
    evaluation.align_evaluations: {"evaluations": {"a": EVALUATION, "b": EVALUATION}},
    rates.pass_at_k: {"correct": np.arange(N) % 5, "n_samples": 4, "k": 2},
    experimental.sample_variance: {"score": PROBA, "question": np.arange(N) // 4},
    rates.sampled_confidence: {
        "answers": np.arange(N).reshape(-1, 4) % 3,
        "equivalent": [np.eye(4, dtype=int)] * (N // 4),
    },
    rates.judged_accuracy: {"judge": RIGHT, "human": LABELS},
    rates.judged_difference: {
        "judge_a": RIGHT,
        "judge_b": OTHER,
        "human_a": LABELS,
        "human_b": LABELS,
    },
    rates.threshold_for_precision: {
        "y_true": RIGHT | True,
        "y_proba": PROBA,
        "precision": 0.7,
    },
    significance.paired_bootstrap_test: TWO_SYSTEMS,
    significance.permutation_test: TWO_SYSTEMS,
    significance.mcnemar_test: {"correct_a": RIGHT, "correct_b": OTHER},
    significance.compare_systems: {"systems": SYSTEMS, "statistic": "mean", **DRAWN},
    significance.borderline_threshold: {"gains": PROBA, "pvalues": np.full(N, 0.05)},
    significance.test_size_curve: {
        "systems": SYSTEMS,
        "sizes": [10, N],
        "n_repeats": 1,
        **DRAWN,
    },
    significance.resample_training: {
        "estimator": Constant(),
        "X": PROBA.reshape(-1, 1),
        "y": RIGHT,
        "n_models": 2,
        "random_state": 0,
    },
}
# Parameters that have their own tests.
NOT_TRIED = {"model", "golds", "prompts", "n_jobs", "verbose"}
CALLS = {
    function: {
        name: given.get(name, parameter.default)
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in NOT_TRIED
    }
    for function, given in CALLS.items()
}
HOSTILE = {
    "None": lambda: None,
    "text": lambda: "text",
    "NUL": lambda: "\0",
    "bytes": lambda: b"text",
    "object": object,
    "type": lambda: float,
    "True": lambda: True,
    "0": lambda: 0,
    "-1": lambda: -1,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "1e-300": lambda: 1e-300,
    "1e300": lambda: 1e300,
    "almost 1": lambda: 1 - 1e-16,
    "2**62": lambda: 2**62,
    "10**9": lambda: 10**9,
    "10**400": lambda: 10**400,
    "complex": lambda: 1j,
    "no rows": list,
    "one row": lambda: [1],
    "texts": lambda: ["a", "b"] * (N // 2),
    "digits": lambda: ["0", "1"] * (N // 2),
    "objects": lambda: [object() for _ in range(N)],
    "mixed": lambda: [0, "a", None, 1.5] * (N // 4),
    "None in a row": lambda: [None] + [1] * (N - 1),
    "nan in a row": lambda: np.r_[np.nan, np.ones(N - 1)],
    "inf in a row": lambda: np.r_[np.inf, np.ones(N - 1)],
    "-1 in a row": lambda: np.r_[-1.0, np.ones(N - 1)],
    "5 in a row": lambda: np.r_[5.0, np.ones(N - 1)],
    "1e308 in rows": lambda: np.r_[np.full(3, 1e308), np.ones(N - 3)],
    "1e-308 in rows": lambda: np.r_[np.full(3, 1e-308), np.ones(N - 3)],
    "2**62 in a row": lambda: [2**62] + [1] * (N - 1),
    "10**400 in a row": lambda: [10**400] + [1] * (N - 1),
    "complex rows": lambda: np.ones(N) + 1j,
    "masked": lambda: np.ma.masked_array(np.ones(N), np.arange(N) == 3),
    "ragged": lambda: [[1, 0], [1]] * (N // 2),
    "nested": lambda: [[[1]]] * N,
    "two columns": lambda: np.ones((N, 2)),
    "three dimensions": lambda: np.ones((N, 2, 2)),
    "constant": lambda: np.ones(N),
    "zeros": lambda: np.zeros(N),
    "dates": lambda: np.full(N, "2020-01-01", "M8[D]"),
    "set": lambda: {0, 1},
    "empty mapping": dict,
    "mapping": lambda: {"a": 1, "b": 2},
    "mapping of texts": lambda: {"a": "x", "b": "y"},
    "mapping of ragged": lambda: {"a": [[1], [1, 2]], "b": [[1], [1, 2]]},
    "mapping of nan": lambda: {"a": np.full(N, np.nan), "b": np.ones(N)},
    "mapping of inf": lambda: {"a": np.full(N, np.inf), "b": np.ones(N)},
    "generator": lambda: (k for k in range(N)),
    "function": lambda: lambda *arguments: None,
}


def numbers_in(value):
    """Return the numbers of a result that must not be NaN."""
    if hasattr(value, "to_dict"):
        found = value.to_dict()
        names = ("estimate", "low", "high", "pvalue", "pvalue_adjusted", "gain")
        names += ("between", "within", "mean_pvalue", "power")
        return [found[name] for name in names if found.get(name) is not None]
    return []


def names_one_of(error, hostile, arguments):
    """Return whether an error names the hostile or another given argument."""
    given = [hostile, *(k for k, value in arguments.items() if value is not None)]
    if isinstance(error, ParameterError):
        name = error.name and error.name.partition("[")[0]
        return name is None or name in given
    return any(f"'{name}'" in str(error) for name in given)


CASES = [
    pytest.param(function, name, id=f"{function.__name__}-{name}")
    for function, arguments in CALLS.items()
    for name in arguments
]


@pytest.mark.parametrize(("function", "name"), CASES)
def test_a_hostile_argument_gives_an_answer_or_is_named(function, name):
    wrong = []
    for kind, make in HOSTILE.items():
        arguments = {**CALLS[function], name: make()}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                warnings.simplefilter("error", RuntimeWarning)
                # NumPy below 2.4 converts arrays of one entry to a number
                warnings.simplefilter("ignore", DeprecationWarning)
                found = function(**arguments)
        except (ValueError, TypeError) as error:
            if not names_one_of(error, name, arguments):
                wrong.append(f"{kind}: {type(error).__name__}: {error}")
        except Exception as error:
            wrong.append(f"{kind}: {type(error).__name__}: {error}")
        else:
            values = [
                np.asarray(each, dtype=float)
                for each in numbers_in(found)
                if not isinstance(each, str)
            ]
            if any(np.isnan(each).any() for each in values):
                wrong.append(f"{kind}: {found!r:.300}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.filterwarnings("ignore:A confidence_level of")
@pytest.mark.parametrize("level", [1e-300, 1e-16, 1 - 1e-15])
def test_extreme_confidence_levels_of_groups(level):
    groups = np.arange(N) // 3
    results = [
        rates.accuracy_interval(RIGHT, groups=groups, confidence_level=level),
        rates.judged_accuracy(RIGHT, LABELS, groups=groups, confidence_level=level),
        counts.corrected_count(
            np.where(groups % 2 > 0, RIGHT, np.nan),
            PROBA,
            groups=groups,
            confidence_level=level,
        ),
        significance.compare_systems(SYSTEMS, groups=groups, confidence_level=level),
    ]
    for found in results:
        numbers = np.concatenate([np.ravel(each) for each in numbers_in(found)])
        assert not np.isnan(numbers).any(), found


def test_a_lazy_frame_is_named():
    pl = pytest.importorskip("polars")
    frame = pl.LazyFrame({"right": RIGHT.astype(int)})
    with pytest.raises(TypeError, match=r"'y' .* LazyFrame.* `\.collect\(\)`"):
        rates.accuracy_interval(frame)
    with pytest.raises(TypeError, match=r"'stats_a' .* LazyFrame"):
        significance.paired_bootstrap_test(frame, frame)


def test_every_public_function_is_tried():
    for module in (counts, evaluation, rates, significance):
        for name in module.__all__:
            function = getattr(module, name)
            # Texts and files have their own tests.
            if inspect.isfunction(function) and not name.startswith(
                ("read_", "bleu", "chrf", "ter")
            ):
                assert function in CALLS, name
