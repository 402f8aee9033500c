"""TagErrorDisplay: models compared with a reference model, label by label."""

import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import false_discovery_control

from skcalib import CRFTagger, HMMTagger
from skcalib.datasets import make_tagged_sentences
from skcalib.plot import TagErrorDisplay
from skcalib.queries import SpanQuery, TagPairQuery, TagQuery
from skcalib.scorers import compare_calibration

FEW = "ignore:.*(no test of perfect calibration|effective groups):UserWarning"

from_estimators = TagErrorDisplay.from_estimators
from_answers = TagErrorDisplay.from_answers
SETTINGS = {"reference": "HMM", "random_state": 0, "n_resamples": 400}


@pytest.fixture(scope="module")
def test_set():
    X, y = make_tagged_sentences(220, random_state=0)
    return X[120:180], y[120:180]


@pytest.fixture(scope="module")
def taggers():
    X, y = make_tagged_sentences(220, random_state=0)
    some = {"HMM": HMMTagger(1.0), "CRF": CRFTagger(c2=0.03), "copy": HMMTagger(1.0)}
    return {name: each.fit(X[:120], y[:120]) for name, each in some.items()}


@pytest.fixture(scope="module")
def display(taggers, test_set):
    return from_estimators(taggers, *test_set, **SETTINGS)


def test_each_comparison_is_that_of_the_marginals(display, taggers, test_set):
    X, y = test_set
    groups = np.repeat(np.arange(len(y)), [len(tags) for tags in y])
    for k, tag in list(enumerate(display.label))[:3]:
        q = {
            name: np.concatenate(tagger.predict_proba(X))[
                :, tagger.classes_.tolist().index(tag)
            ]
            for name, tagger in taggers.items()
        }
        is_tag = np.array([each == tag for tags in y for each in tags])
        expected = compare_calibration(
            is_tag, q["CRF"], q["HMM"], groups=groups, n_resamples=400, random_state=0
        )
        assert display.comparison["CRF"][k].to_dict() == expected.to_dict()


@pytest.mark.parametrize("adjust", ["holm", "bh", None])
def test_p_values_are_adjusted_for_the_number_of_labels(display, adjust):
    again = TagErrorDisplay(
        label=display.label,
        count=display.count,
        error=display.error,
        reference="HMM",
        comparison=display.comparison,
        adjust=adjust,
    )
    found = again.to_dict()["comparison"]["CRF"]
    p = np.array([each["pvalue"] for each in found])
    if adjust == "holm":
        order = np.argsort(p, kind="stable")
        expected = np.empty(p.size)
        largest = 0.0
        for rank, k in enumerate(order):
            largest = max(largest, (p.size - rank) * p[k])
            expected[k] = min(1, largest)
    else:
        expected = false_discovery_control(p) if adjust else p
    adjusted = [each["pvalue_adjusted"] for each in found]
    np.testing.assert_allclose(adjusted, expected, rtol=1e-12)


def test_models_that_are_the_same_do_not_differ(display):
    for each in display.comparison["copy"]:
        assert (each.difference, each.pvalue) == (0, 1)
    points = display.hollow_["copy"]
    assert points.get_xdata().size == len(display.label)
    assert "copy is significantly better calibrated than HMM for 0 of" in (
        display._repr_html_()
    )


def test_hollow_points_are_those_without_a_significant_difference(display):
    found = display.to_dict()["comparison"]["CRF"]
    same = [each["pvalue_adjusted"] >= 0.05 for each in found]
    assert any(same)
    assert not all(same)
    hollow, line = display.hollow_["CRF"], display.point_["CRF", "all"]
    assert hollow.get_xdata().tolist() == line.get_xdata()[same].tolist()
    assert hollow.get_ydata().tolist() == line.get_ydata()[same].tolist()
    assert hollow.get_markerfacecolor() == "white" != line.get_markerfacecolor()
    assert hollow.get_color() == line.get_color()
    assert list(display.hollow_) == ["CRF", "copy"]
    better = sum(
        not is_same and each["difference"] < 0
        for is_same, each in zip(same, found, strict=True)
    )
    sentence = f"CRF is significantly better calibrated than HMM for {better} of"
    assert sentence in display._repr_html_()


def test_hollow_points_are_drawn_for_the_labels_that_are_drawn(display):
    _, ax = plt.subplots()
    display.plot(ax, max_labels=3)
    assert display.hollow_["copy"].get_xdata().size == 3
    display.plot()


def test_the_frame_has_the_comparisons(display):
    frame = display.frame()
    reference = frame[frame["name"] == "HMM"]
    assert reference[["difference", "pvalue", "pvalue_adjusted"]].isna().all(axis=None)
    crf = frame[frame["name"] == "CRF"]
    found = display.comparison["CRF"]
    assert crf["difference"].tolist() == [each.difference for each in found]
    assert crf["difference_low"].tolist() == [each.low for each in found]
    assert json.loads(json.dumps(display.to_dict()))["reference"] == "HMM"


def test_without_a_reference_nothing_is_compared(taggers, test_set):
    found = from_estimators(taggers, *test_set, top=2)
    assert "difference" not in found.frame()
    assert found.to_dict()["comparison"] == {}
    assert found.hollow_ == {}


def test_top_does_not_change_the_p_values_before_adjustment(display, taggers, test_set):
    few = from_estimators(taggers, *test_set, top=2, **SETTINGS)
    assert [each.pvalue for each in few.comparison["CRF"]] == [
        each.pvalue for each in display.comparison["CRF"][:2]
    ]


def test_pairs_of_tags_are_compared(taggers, test_set):
    found = from_estimators(taggers, *test_set, query=TagPairQuery(top=2), **SETTINGS)
    query = TagPairQuery(pairs=found.label[:1])
    a, b = (query(taggers[name], *test_set) for name in ("CRF", "HMM"))
    expected = compare_calibration(
        a.y_true,
        a.y_proba,
        b.y_proba,
        groups=a.groups,
        n_resamples=400,
        random_state=0,
    )
    assert found.comparison["CRF"][0].to_dict() == expected.to_dict()


def test_documents_may_be_the_groups(taggers, test_set):
    groups = np.arange(len(test_set[0])) // 2
    found = from_estimators(taggers, *test_set, groups=groups, top=1, **SETTINGS)
    assert found.comparison["CRF"][0].n_items == groups.max() + 1


@pytest.mark.filterwarnings(FEW)
def test_labels_of_one_model_or_one_sentence_are_not_compared():
    gold = [["D", "N"], ["N", "N"]] * 4
    proba = [[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.1, 0.9]]] * 4
    a = TagQuery().from_proba(gold, proba, ["D", "N"])
    b = a.take(a.label == "N")
    found = from_answers({"a": a, "b": b}, reference="a", n_resamples=50)
    assert found.label == ["N", "D"]
    assert found.comparison["b"][1] is None
    assert found.to_dict()["comparison"]["b"][1] is None
    one = a.take(a.groups == 0)
    found = from_answers({"a": one, "b": one}, reference="a", n_resamples=50)
    assert found.comparison["b"] == [None, None]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"reference": "MEMM"}, "Got 'MEMM', and the models ['HMM', 'CRF', 'copy']"),
        ({"adjust": "bonferroni"}, "'adjust' parameter"),
        ({"n_resamples": 0}, "'n_resamples' parameter"),
        ({"known": {"dog"}}, "takes 'reference' or 'known', not both"),
        ({"sample_weight": [1] * 60}, "takes 'reference' or 'sample_weight'"),
    ],
)
def test_errors_name_what_is_wrong(taggers, test_set, params, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        from_estimators(taggers, *test_set, **{**SETTINGS, **params})


@pytest.mark.filterwarnings(FEW)
def test_answers_about_different_items_are_not_compared():
    gold = [["B-P", "O"], ["O", "B-P"]]
    a = SpanQuery().from_proba(gold, [[(0, 1, "P", 0.9)], [(1, 2, "P", 0.6)]])
    b = SpanQuery().from_proba(gold, [[(0, 1, "P", 0.9)], [(0, 1, "P", 0.6)]])
    with pytest.raises(
        ValueError, match=r"asked for 'P' at different items \(2 and 2\)"
    ):
        from_answers({"a": a, "b": b}, reference="a")
