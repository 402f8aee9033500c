"""Paired tests take evaluations, matched by question."""

import numpy as np
import pytest

from skcalib.evaluation import evaluation_of
from skcalib.significance import mcnemar_test, paired_bootstrap_test, permutation_test

RNG = np.random.default_rng(0)
NAMES = np.array([f"q{k}" for k in range(60)])
A, B = (RNG.random((2, 60)) < [[0.6], [0.8]]).astype(float)
SOURCE = np.arange(60) % 12
ORDER = RNG.permutation(60)
EVALUATIONS = (
    evaluation_of(A, question=NAMES, groups={"src": SOURCE}),
    evaluation_of(B[ORDER], question=NAMES[ORDER], groups={"src": SOURCE[ORDER]}),
)


@pytest.mark.parametrize("test", [paired_bootstrap_test, permutation_test])
@pytest.mark.parametrize("groups", [None, "src"])
def test_tests_of_evaluations_are_those_of_their_matched_scores(test, groups):
    arrays = None if groups is None else SOURCE
    expected = test(A, B, groups=arrays, random_state=0)
    found = test(*EVALUATIONS, groups=groups, random_state=0)
    assert found.pvalue == expected.pvalue
    assert found.statistic == expected.statistic


def test_mcnemars_test_of_evaluations():
    assert mcnemar_test(*EVALUATIONS).pvalue == mcnemar_test(A, B).pvalue


def test_what_does_not_match_is_an_error():
    with pytest.raises(TypeError, match="'stats_b'.*must be an Evaluation"):
        paired_bootstrap_test(EVALUATIONS[0], B)
    with pytest.raises(TypeError, match="'correct_a'.*must be an Evaluation"):
        mcnemar_test(A, EVALUATIONS[0])
    with pytest.raises(ValueError, match="name a column of the evaluations .'src'"):
        permutation_test(*EVALUATIONS, groups="subject")
    short = evaluation_of(A[:50], question=NAMES[:50])
    with pytest.raises(ValueError, match="50 common questions"):
        permutation_test(EVALUATIONS[0], short)


@pytest.mark.parametrize("test", [paired_bootstrap_test, permutation_test])
def test_questions_without_the_attribute_of_the_groups_are_an_error(test):
    source = np.where(np.arange(60) < 2, "", SOURCE.astype(str))
    sides = [evaluation_of(s, question=NAMES, groups={"src": source}) for s in (A, B)]
    with pytest.raises(ValueError, match="'groups'.*2 of 60 have no src, such as 'q0'"):
        test(*sides, groups="src")
