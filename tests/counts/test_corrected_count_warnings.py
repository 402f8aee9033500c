"""Errors and warnings for samples that do not support a corrected count."""

import warnings

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from skcalib.counts import choose_documents, corrected_count


def corpus(n=400, seed=0):
    """Return true counts of 0 and 1 and the probabilities of a good model."""
    rng = np.random.default_rng(seed)
    proba = rng.beta(0.5, 1.5, n)
    return (rng.random(n) < proba).astype(float), proba, rng


def labels(y, rows):
    found = np.full(len(y), np.nan)
    found[rows] = y[rows]
    return found


# Samples that were not drawn as the call says


@pytest.mark.filterwarnings("error")
def test_random_samples_do_not_warn():
    y, proba, rng = corpus()
    for n in (10, 20, 50, 100):
        for _ in range(50):
            corrected_count(labels(y, rng.choice(400, n, replace=False)), proba)


def test_labels_chosen_by_the_model_alone():
    y, proba, rng = corpus()
    upper = np.flatnonzero(proba > np.median(proba))
    sample = rng.choice(upper, 50, replace=False)
    with pytest.raises(ValueError, match="above the median of `expected`"):
        corrected_count(labels(y, sample), proba)
    lower = np.flatnonzero(proba < np.median(proba))
    with pytest.raises(ValueError, match="below the median of `expected`"):
        corrected_count(labels(y, lower[:50]), proba)


def test_labels_chosen_mostly_by_the_model():
    y, proba, rng = corpus()
    chance = np.where(proba > 0.5, 0.4, 0.05)
    sample = rng.choice(400, 60, replace=False, p=chance / chance.sum())
    with pytest.warns(UserWarning, match="do not look like a sample drawn with equal"):
        corrected_count(labels(y, sample), proba)


def test_labels_chosen_by_a_keyword():
    y, proba, rng = corpus()
    keyword = rng.random(400) < np.where(y == 1, 0.8, 0.1)
    chance = np.where(keyword, 10.0, 1.0)
    sample = rng.choice(400, 60, replace=False, p=chance / chance.sum())
    with pytest.warns(UserWarning, match="keyword"):
        corrected_count(labels(y, sample), proba)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({}, "is 0 for every document"),
        ({"method": "t"}, "Use method='score'"),
        ({"periods": np.arange(400) == 399}, "no labelled document"),
        ({"inclusion_probability": 0.5}, "add up to"),
    ],
)
def test_warnings_point_at_the_call(arguments, match):
    y_true = labels(np.zeros(400), np.arange(0, 398, 10))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        corrected_count(y_true, np.zeros(400), **arguments)
    assert any(match in str(each.message) for each in found)
    assert {each.filename for each in found} == {__file__}


def test_omitted_probabilities_of_uncertain_documents_cause_a_warning():
    y, proba, rng = corpus(1000)
    sd = np.sqrt(proba * (1 - proba))
    choice = choose_documents(sd, 200, mix=0.1, random_state=0)
    y_true = labels(y, choice.index)
    with pytest.warns(UserWarning, match="do not look like a sample"):
        corrected_count(y_true, proba)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pi = choice.inclusion_probability
        corrected_count(y_true, proba, inclusion_probability=pi)


def test_model_fitted_on_the_labels():
    y, proba, rng = corpus()
    sample = rng.choice(400, 80, replace=False)
    fitted = proba.copy()
    fitted[sample] = np.where(y[sample] == 1, 0.99, 0.01)
    with pytest.warns(UserWarning, match="fitted on their labels"):
        corrected_count(labels(y, sample), fitted)


def test_model_recalibrated_on_the_labels():
    y, proba, rng = corpus()
    sample = rng.choice(400, 50, replace=False)
    isotonic = IsotonicRegression(out_of_bounds="clip").fit(proba[sample], y[sample])
    with pytest.warns(UserWarning, match="recalibrated on these labels"):
        corrected_count(labels(y, sample), isotonic.predict(proba))
    others = np.setdiff1d(np.arange(400), sample)
    isotonic.fit(proba[others], y[others])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        corrected_count(labels(y, sample), isotonic.predict(proba))


# Models and labels that tell little


def test_model_that_says_the_same_everywhere():
    y, _, rng = corpus()
    y_true = labels(y, rng.choice(400, 50, replace=False))
    with pytest.warns(UserWarning, match="is 0 for every document"):
        result = corrected_count(y_true, np.zeros(400))
    assert result.slope == 0
    assert result.labels_only == (result.estimate, result.low, result.high)
    assert result.uncorrected == 0
    assert result.low < y.sum() < result.high


def test_one_document_carries_the_variance():
    rng = np.random.default_rng(0)
    y = rng.poisson(3, 400) * 1.0
    f = y + rng.random(400)
    y[7] = 80
    y_true = labels(y, np.arange(0, 50))
    with pytest.warns(UserWarning, match="of the estimated variance"):
        corrected_count(y_true, f)


def test_one_document_without_a_label_may_carry_the_variance():
    rng = np.random.default_rng(0)
    y = rng.poisson(5, 400) * 1.0
    f = y + rng.random(400)
    y[300] = f[300] = 200
    y_true = labels(y, np.arange(50))
    with pytest.warns(UserWarning, match="without a label may have 36% of the"):
        corrected_count(y_true, f)
    # Drawn with certainty, it has no part in the variance.
    pi = np.full(400, 49 / 399)
    pi[300] = 1
    y_true = labels(y, np.r_[np.arange(49), 300])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        corrected_count(y_true, f, inclusion_probability=pi)


def test_draws_by_the_expected_count_alone():
    rng = np.random.default_rng(0)
    y, words = rng.poisson(5, 200) * 1.0, rng.integers(50, 500, 200)
    f = y * rng.uniform(0.5, 1.5, 200)
    for size, warns in ((None, True), (words, False)):
        choice = choose_documents(f, 40, size=size, random_state=0)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            corrected_count(
                labels(y, choice.index),
                f,
                inclusion_probability=choice.inclusion_probability,
            )
        said = any("increase with `expected` alone" in str(w.message) for w in found)
        assert said == warns


@pytest.mark.filterwarnings("ignore:Labels are lower where")
def test_skewed_labels_that_exclude_the_model_have_a_lower_limit():
    # The largest of 20 labels has 30% of the variance: 2 log(20) / 20 is 0.3.
    y = np.r_[np.arange(1.0, 20), 30, np.full(180, np.nan)]
    f = np.r_[np.arange(20.0, 0, -1), np.linspace(20, 1, 180)]
    rest = y[:20] - y[:20].mean()
    share = rest[-1] ** 2 / (rest @ rest)
    assert 2.5 * np.log(20) / 20 < share < 4 * np.log(20) / 20
    with pytest.warns(UserWarning, match="larger documents that were not drawn"):
        corrected_count(y, f)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "(?!Labels are lower)")
        corrected_count(y, f, slope=1e-9)  # the limit for the errors of a model


@pytest.mark.parametrize(
    ("f", "bounds", "match"),
    [
        (-0.3, None, "in 1 of 400 rows: -0.3 in row 5, where a count is between"),
        (1.5, (0, 1), r"1.5 in row 5, where a count is between 0 and 1"),
    ],
)
def test_expectations_that_no_count_can_have(f, bounds, match):
    y, proba, rng = corpus()
    proba[5] = f
    y_true = labels(y, rng.choice(400, 50, replace=False))
    with pytest.warns(UserWarning, match=match):
        corrected_count(y_true, proba, bounds=bounds)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        corrected_count(y_true, proba, bounds=(-np.inf, np.inf))


def test_stratum_with_one_label():
    y, proba, rng = corpus()
    strata = np.searchsorted([0.1, 0.5], proba)
    rows = [rng.choice(np.flatnonzero(strata == h), n) for h, n in ((0, 20), (1, 15))]
    sample = np.r_[rows[0], rows[1], np.flatnonzero(strata == 2)[0]]
    with pytest.warns(UserWarning, match="1 strata have one label: 2"):
        result = corrected_count(labels(y, sample), proba, strata=strata, slope=1)
    # The estimate is that of the strata, only the variance joins two of them.
    expected = proba.sum()
    for h in range(3):
        own = np.unique(sample[strata[sample] == h])
        expected += (strata == h).sum() * (y - proba)[own].mean()
    assert result.estimate == pytest.approx(expected, abs=1e-10)


def test_stratum_of_one_document():
    y, proba, rng = corpus()
    strata = np.r_[1, np.zeros(399, dtype=int)]
    sample = np.r_[0, rng.choice(np.arange(1, 400), 40, replace=False)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        corrected_count(labels(y, sample), proba, strata=strata)


def test_periods_without_labels_are_named_once():
    y, proba, rng = corpus()
    periods = np.repeat(["p", "q", "r", "s"], 100)
    sample = np.r_[rng.choice(100, 20, replace=False), 205, 220, 260]
    with pytest.warns(UserWarning, match="2 of 4 rows .*: q; s") as found:
        corrected_count(labels(y, sample), proba, periods=periods)
    assert len([w for w in found if "rows of the table" in str(w.message)]) == 1


# Wrong arguments


GROUPS = np.repeat(np.arange(40), 10)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"inclusion_probability": np.r_[0, np.ones(399) / 8]}, "Got 0 in row 0"),
        ({"inclusion_probability": np.full(400, 1.5)}, "Got 1.5 in row 0"),
        ({"inclusion_probability": np.ones(400)}, "is 1 for a document"),
        ({"expected": np.r_[np.nan, np.zeros(399)]}, "'expected'.*row 0"),
        ({"expected": np.zeros((400, 2))}, "'expected'.*shape"),
        ({"size": np.zeros(400)}, "'size'.*positive"),
        ({"strata": np.repeat(["a", "b"], [399, 1])}, "'strata'.*none in 'b'"),
        ({"strata": ["a"]}, "'strata'.*400 documents"),
        ({"periods": ["a"]}, "'periods'.*400 documents"),
        ({"estimand": "total"}, "'estimand'.*one of"),
        ({"estimand": "trend"}, "'periods'.*estimand='trend'"),
        ({"estimand": "trend", "periods": np.ones(400)}, "at least two periods"),
        ({"estimand": "mean", "weight": np.ones(400)}, "'weight'.*estimand='mean'"),
        ({"periods": np.ones(400), "weight": np.ones(400)}, "not both"),
        ({"weight": np.zeros(400)}, "zero in every row"),
        ({"weight": np.full(400, np.inf)}, "'weight'.*finite"),
        ({"bounds": 1}, "'bounds'.*pair"),
        ({"bounds": (1, 0)}, "low <= high"),
        ({"bounds": (0, np.ones(3))}, "'bounds'"),
        ({"bounds": (0, 0.5)}, "'y_true'.*within `bounds`"),
        ({"method": "wald"}, "'method'"),
        ({"unit": 0}, "'unit'"),
        ({"slope": "tuned"}, "'slope'"),
        ({"slope": np.nan}, "'slope'"),
    ],
)
def test_wrong_arguments(arguments, problem):
    y, proba, rng = corpus()
    y_true = labels(y, rng.choice(399, 50, replace=False))
    with pytest.raises(ValueError, match=problem) as found:
        corrected_count(**{"y_true": y_true, "expected": proba, **arguments})
    assert "corrected_count" in str(found.value)


@pytest.mark.parametrize(
    ("y_true", "problem"),
    [
        (np.full(20, np.nan), "at least 5 labels.*Got 0 labels in 20"),
        (np.r_[1, 0, 1, 0, np.full(16, np.nan)], "Got 4 labels"),
        (np.r_[np.inf, np.zeros(19)], "finite.*row 0"),
        (np.r_[np.zeros(10), np.full(10, -1)], "negative.*row 10.*NaN"),
        (np.zeros((20, 1)), "shape"),
        (["yes"] * 20, "numbers"),
    ],
)
def test_wrong_labels(y_true, problem):
    with pytest.raises(ValueError, match=f"'y_true'.*{problem}"):
        corrected_count(y_true, np.linspace(0, 1, 20))


def test_few_groups():
    y_true = np.r_[np.zeros(20), np.full(380, np.nan)]
    with pytest.raises(ValueError, match="at least 3 labelled groups. Got 2"):
        corrected_count(y_true, np.linspace(0, 1, 400), groups=GROUPS)


def test_group_in_two_strata():
    y_true = np.r_[np.zeros(50), np.full(350, np.nan)]
    strata = np.arange(400) // 5 % 2
    with pytest.raises(ValueError, match="'strata'.*one for all documents of a group"):
        corrected_count(y_true, np.ones(400), groups=GROUPS, strata=strata)


# Samples of groups that are taken for samples of documents


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The labelled documents do not look")
@pytest.mark.filterwarnings("ignore:The model is surer")
def test_newspapers_that_were_drawn_are_groups():
    rng = np.random.default_rng(0)
    paper = np.repeat(np.arange(60), 12)
    proba = rng.beta(0.5, 1.5, 720)
    # each newspaper has its own rate of events that the model misses
    miss = np.repeat(rng.beta(0.2, 0.8, 60), 12)
    y = (rng.random(720) < np.maximum(proba, miss)).astype(float)
    inside = {"documents": [], "groups": []}
    for _ in range(200):
        sample = np.flatnonzero(np.isin(paper, rng.choice(60, 12, replace=False)))
        y_true = labels(y, sample)
        for name, groups in (("documents", None), ("groups", paper)):
            found = corrected_count(y_true, proba, groups=groups)
            inside[name].append(found.low <= y.sum() <= found.high)
    assert np.mean(inside["documents"]) < 0.88
    # Given 95%, fewer than 90% of 200 samples have a probability of 0.3%.
    assert np.mean(inside["groups"]) >= 0.9


def test_tokens_of_documents_are_groups():
    rng = np.random.default_rng(1)
    document = np.repeat(np.arange(100), 20)
    rate = np.repeat(rng.beta(0.5, 1.5, 100), 20)
    y = (rng.random(2000) < rate).astype(float)
    proba = np.full(2000, 0.25) + rng.random(2000) / 100
    y_true = labels(y, np.flatnonzero(document % 4 == 0))
    width = {}
    for name, groups in (("tokens", None), ("documents", document)):
        found = corrected_count(y_true, proba, groups=groups)
        width[name] = found.high - found.low
    # The variance of a mean of 20 dependent tokens is 1 + 19 / 3 times as large: the
    # correlation of two tokens is 1 / (0.5 + 1.5 + 1).
    assert width["documents"] / width["tokens"] == pytest.approx(
        np.sqrt(1 + 19 / 3), rel=0.25
    )


def test_labels_of_another_class_give_a_warning():
    rng = np.random.default_rng(0)
    f = rng.random(400)
    y = np.where(np.arange(400) % 4 == 0, rng.random(400) < f, np.nan)
    corrected_count(y, f)
    with pytest.warns(UserWarning, match="Labels are lower where `expected` is higher"):
        corrected_count(1 - y, f)
    with pytest.warns(UserWarning, match="Labels are from 1 to 2, but `expected` is"):
        corrected_count(1 + y, f)


def test_percentages_beside_labels_of_0_and_1_give_a_warning():
    rng = np.random.default_rng(0)
    f = rng.random(400)
    y = np.where(np.arange(400) % 4 == 0, rng.random(400) < f, np.nan)
    with pytest.warns(UserWarning, match="mean of `expected` is .* percentages"):
        corrected_count(y, 100 * f)
