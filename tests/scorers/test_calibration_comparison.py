"""Two models' calibration errors: by the formulas, and how often the test errs."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import t
from sklearn.metrics import brier_score_loss

from skcalib._result_classes import CalibrationComparison
from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import (
    brier_statistics,
    calibration_error,
    calibration_error_interval,
)
from skcalib.scorers import compare_calibration
from skcalib.significance import paired_bootstrap_test


@pytest.fixture(scope="module")
def data():
    y, right = make_calibrated_pairs(900, random_state=0)
    return y, right, expit(3 * logit(right))


def test_models_may_have_labels_of_their_own():
    y_true, q = make_calibrated_pairs(600, random_state=0)
    other, q_other = make_calibrated_pairs(600, random_state=1)
    result = compare_calibration(y_true, q, q_other**2, y_true_b=other, random_state=0)
    expected = [
        calibration_error_interval(*each).estimate
        for each in ((y_true, q), (other, q_other**2))
    ]
    assert (result.error_a, result.error_b) == pytest.approx(expected)
    assert result.brier_b == pytest.approx(np.mean((other - q_other**2) ** 2))
    assert result.pvalue < 0.01


def test_errors_and_scores_are_the_metrics(data):
    y, a, b = data
    result = compare_calibration(y, a, b, n_resamples=99, bin_size=60, random_state=0)
    expected = [calibration_error(y, q, bin_size=60, debias=True) for q in (a, b)]
    assert (result.error_a, result.error_b) == pytest.approx(expected)
    assert result.difference == result.error_a - result.error_b
    assert result.brier_a == pytest.approx(brier_score_loss(y, a))
    assert result.brier_difference == pytest.approx(
        brier_score_loss(y, a) - brier_score_loss(y, b)
    )
    score = paired_bootstrap_test(brier_statistics(y, a), brier_statistics(y, b))
    assert result.brier_pvalue == pytest.approx(score.pvalue)
    assert result.brier_low == pytest.approx(score.confidence_interval[0])


def test_a_worse_model_is_found(data):
    y, a, b = data
    result = compare_calibration(y, a, b, random_state=0)
    assert result.pvalue < 0.005
    assert result.high < 0
    one_sided = {
        side: compare_calibration(y, a, b, alternative=side, random_state=0).pvalue
        for side in ("greater", "less")
    }
    assert one_sided["less"] <= result.pvalue
    assert one_sided["greater"] > 0.9


def centred_products(y, q, group, bin_size):
    """Return the products of the centred residuals of each two rows, and T."""
    order = np.argsort(q)
    number = np.empty(y.size, dtype=int)
    number[order] = np.minimum(np.arange(y.size) // bin_size, y.size // bin_size - 1)
    residual, other = q - y, group[:, None] != group
    weight, z = np.zeros((y.size, y.size)), residual.copy()
    for b in range(number.max() + 1):
        rows = number == b
        pairs = np.outer(rows, rows) * other
        weight += rows.sum() / y.size * pairs / pairs.sum()
        size = np.bincount(group[rows])
        m = size.sum() ** 2 / (size**2).sum()
        z[rows] = (z[rows] - z[rows].mean()) * np.sqrt(m / (m - 1))
    in_bin = number[:, None] == number
    scale = np.where(in_bin, weight.max(axis=1)[:, None], 0)
    return scale * np.outer(z, z), residual @ weight @ residual


@pytest.mark.parametrize("n_groups", [60, 12])
def test_test_and_interval_by_hand(n_groups):
    rng = np.random.default_rng(n_groups)
    group = np.r_[np.arange(n_groups), rng.integers(0, n_groups, 60 - n_groups)]
    true = rng.random(60)
    y = (rng.random(60) < true).astype(int)
    q = true**3, np.sqrt(true)
    products, (t_a, t_b) = zip(
        *(centred_products(y, each, group, 15) for each in q), strict=True
    )
    member = group == np.arange(n_groups)[:, None]
    h = [member @ each @ member.T for each in products]
    h = np.array([each - np.diag(np.diag(each)) for each in h])
    covariance = 2 * np.einsum("kcd,lcd->kl", h, h)
    noise = 2 * ((h[0] - h[1]) ** 2).sum()
    without = []
    for c in range(n_groups):
        squares = []
        for each in q:
            # the bins of all rows, without the rows of a group
            number = np.minimum(np.argsort(np.argsort(each)) // 15, 3)
            total = 0
            for b in range(4):
                rows = np.flatnonzero((number == b) & (group != c))
                r, g = (each - y)[rows], group[rows]
                others = g[:, None] != g
                total += rows.size * (np.outer(r, r) * others).sum() / others.sum()
            squares.append(total / (group != c).sum())
        without.append(squares)
    without = np.array(without)
    away = without[:, 0] - without[:, 1]
    away -= away.mean()
    jackknife = (n_groups - 1) / n_groups * (away**2).sum()
    variance = max(jackknife - noise, noise)
    variance += (2 * (np.sqrt(max(t_a, 0)) + np.sqrt(max(t_b, 0))) / 60) ** 2
    freedom = 1.2 / ((away**4).sum() / (away**2).sum() ** 2 - 1 / n_groups)
    effective = 60**2 / (np.bincount(group) ** 2).sum()
    freedom = min(freedom, effective - 1)
    place = (t_a - t_b) / np.sqrt(variance)
    kwargs = {} if n_groups == 60 else {"groups": group}
    result = compare_calibration(y, *q, bin_size=15, random_state=0, **kwargs)
    assert result.pvalue == pytest.approx(2 * t.sf(abs(place), freedom))
    assert 1e-6 < result.pvalue < 0.5
    a, b = (calibration_error_interval(y, each, bin_size=15, **kwargs) for each in q)
    assert (result.error_a, result.error_b) == (a.estimate, b.estimate)
    half = t.ppf(0.975, freedom) * np.sqrt(variance)
    low, high = t_a - t_b - half, t_a - t_b + half
    by_square = [
        low / (a.high + b.high if low > 0 else a.low + b.low),
        high / (a.high + b.high if high < 0 else a.low + b.low),
    ]
    seen = (n_groups - 1) * np.cov(without.T, ddof=0) - covariance
    sizes = np.maximum(seen, covariance).diagonal()
    rho = np.clip(seen[0, 1] / np.sqrt(sizes.prod()), -1, 0)

    def distance(x, y):
        return np.sqrt(x**2 + y**2 - 2 * rho * x * y)

    by_ends = [
        -distance(a.estimate - a.low, b.high - b.estimate),
        distance(a.high - a.estimate, b.estimate - b.low),
    ]
    by_ends = np.array(by_ends) + a.estimate - b.estimate
    # 0 is inside, because the test does not reject
    assert result.pvalue > 0.05
    assert result.low == pytest.approx(min(max(by_square[0], by_ends[0]), 0))
    assert result.high == pytest.approx(min(by_square[1], by_ends[1]))


@pytest.mark.parametrize(
    "seed",
    [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))],
)
def test_p_value_and_interval_agree(seed):
    rng = np.random.default_rng(seed)
    true = rng.random(200)
    y = (rng.random(200) < true).astype(int)
    models = [expit(logit(true) * t + rng.normal(0, 0.5, 200)) for t in (0.7, 1.2)]
    if seed % 2:
        models = [expit(logit(true) + rng.normal(0, 1, 200)) for _ in range(2)]
    for level in (0.5, 0.8, 0.9, 0.95):
        result = compare_calibration(
            y, *models, n_resamples=199, confidence_level=level, random_state=seed
        )
        inside = result.low <= 0 <= result.high
        assert inside == (result.pvalue >= (1 - level) * (1 - 1e-12))


@pytest.mark.filterwarnings("ignore:compare_calibration. with:UserWarning")
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_few_rows_have_the_smallest_p_value_of_swaps(n):
    y, a = np.array([1, 0, 1, 0, 1])[:n], np.array([0.9, 0.1, 0.9, 0.2, 0.8])[:n]
    result = compare_calibration(y, a, 1 - a, bin_size=2, random_state=0)
    assert result.pvalue >= 2 ** (1 - n)
    assert result.low <= 0 <= result.high


def test_a_model_of_known_error_is_in_the_interval():
    """Plug-in errors give .0532 with the interval [.0420, .0645]; the truth is .08."""
    rng = np.random.default_rng(0)
    q = 0.2 + 0.6 * rng.random(5000)
    y = (rng.random(5000) < q).astype(int)
    result = compare_calibration(y, q + 0.08, q, random_state=0)
    assert result.low < 0.08 < result.high
    assert result.high - result.low < 0.055
    assert result.pvalue < 0.001


@pytest.mark.filterwarnings("ignore:.*is equal to the labels")
@pytest.mark.filterwarnings("ignore:All probabilities of the 30 rows are 0 or 1")
def test_labels_that_are_all_right_do_not_show_a_difference():
    """If 95% are right, both errors are .05, and 30 labels are all right in 21%."""
    y, ones = np.ones(30, dtype=int), np.ones(30)
    result = compare_calibration(y, 0.9 * ones, ones, pos_label=1, random_state=0)
    assert result.pvalue > 0.1


def test_two_models_without_visible_error_do_not_differ():
    rng = np.random.default_rng(0)
    y, q = np.tile([0, 1], 100), 0.5 + 1e-3 * rng.normal(size=(2, 200))
    # in every bin, half of the labels are positive, more evenly than by chance
    order = np.argsort(q[0])
    q[0][order], q[1] = np.sort(q[0]), q[0]
    result = compare_calibration(y, np.sort(q[0]), np.sort(q[0]) ** 1.001)
    assert max(result.error_a, result.error_b) < 1e-3  # their mean differences
    assert result.pvalue == 1
    assert result.low < 0 < result.high


@pytest.mark.parametrize("seed", [0, 1])
def test_columns_of_frames_are_matched_by_name(seed):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(3), 300)
    y = np.array(["a", "b", "c"])[(proba.cumsum(axis=1) < rng.random((300, 1))).sum(1)]
    frame = pd.DataFrame(proba, columns=["a", "b", "c"])
    result = compare_calibration(y, frame, frame[["c", "a", "b"]], random_state=0)
    assert (result.difference, result.pvalue) == (0, 1)
    assert (result.low, result.high) == (0, 0)


def test_indices_in_another_order_give_a_warning(data):
    pd = pytest.importorskip("pandas")
    y, a, b = map(pd.Series, data)
    with pytest.warns(UserWarning, match="same index in different orders"):
        compare_calibration(y, a.sample(frac=1, random_state=0), b, n_resamples=10)


def test_models_of_other_classes_raise_an_error():
    three, four = (np.full((12, k), 1 / k) for k in (3, 4))
    y_three, y_four = (np.arange(12) % k for k in (3, 4))
    with pytest.raises(ValueError, match="classes .* Got 4 in 'proba_a' and 3 in"):
        compare_calibration(y_four, four, three, y_true_b=y_three)


def test_few_groups_are_said(data):
    y, a, b = data
    with pytest.warns(UserWarning, match="with 4 groups, .*below 0.125"):
        compare_calibration(y, a, b, groups=np.arange(900) % 4, n_resamples=50)


def test_equal_models_have_a_p_value_of_one(data):
    y, a, _ = data
    result = compare_calibration(y, a, a, random_state=0)
    assert (result.pvalue, result.brier_pvalue) == (1, 1)
    assert result.confidence_interval == (0, 0)


def test_changing_places_changes_signs(data):
    y, a, b = data
    one = compare_calibration(y, a, b, n_resamples=200, random_state=0)
    two = compare_calibration(y, b, a, n_resamples=200, random_state=0)
    assert one.difference == -two.difference
    assert one.pvalue == two.pvalue
    assert (one.low, one.high) == pytest.approx((-two.high, -two.low))
    less = compare_calibration(
        y, a, b, n_resamples=200, random_state=0, alternative="less"
    )
    greater = compare_calibration(
        y, b, a, n_resamples=200, random_state=0, alternative="greater"
    )
    assert less.pvalue == greater.pvalue


def test_the_order_of_rows_plays_no_part(data):
    y, a, b = data
    order = np.random.default_rng(0).permutation(900)
    groups = np.arange(900) // 9
    for extra in ({}, {"groups": groups}):
        moved = {key: x[order] for key, x in extra.items()}
        one = compare_calibration(y, a, b, n_resamples=99, random_state=0, **extra)
        two = compare_calibration(
            y[order], a[order], b[order], n_resamples=99, random_state=0, **moved
        )
        assert one.pvalue == pytest.approx(two.pvalue, rel=1e-9)
        assert one.low == pytest.approx(two.low, abs=1e-12)
        assert one.brier_pvalue == pytest.approx(two.brier_pvalue, rel=1e-9)


def test_several_classes():
    rng = np.random.default_rng(0)
    a = rng.dirichlet([1, 1, 1], 300)
    y = (rng.random(300)[:, np.newaxis] > a.cumsum(axis=1)).sum(axis=1)
    b = np.sqrt(a) / np.sqrt(a).sum(axis=1, keepdims=True)
    pooled = compare_calibration(y, a, b, n_resamples=300, random_state=0)
    assert pooled.error_a == calibration_error_interval(y, a).estimate
    assert pooled.n_items == 300
    assert pooled.brier_a == pytest.approx(((np.eye(3)[y] - a) ** 2).sum(1).mean())
    top = compare_calibration(
        y, a, b, multi_class="top_label", n_resamples=99, random_state=0
    )
    expected = calibration_error_interval(y, b, multi_class="top_label").estimate
    assert top.error_b == expected


def test_dict_frame_and_repr(data):
    y, a, b = data
    result = compare_calibration(y, a, b, n_resamples=99, random_state=0)
    assert isinstance(result, CalibrationComparison)
    assert result.frame()["pvalue"].tolist() == [result.pvalue]
    assert result.to_dict()["n_resamples"] == 99
    assert "n_items=900, n_resamples=99)" in repr(result)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"proba_b": [0.5]}, "y_true and proba_b of the same length.*proba_b has 1"),
        ({"proba_b": np.full(900, 1.5)}, "'proba_b'.*1.5 in row 0"),
        ({"y_true": np.zeros(3)}, "y_true has 3"),
        ({"groups": np.zeros(900)}, "at least two groups. Got 1"),
        ({"groups": [0]}, "'groups'.*900 rows. Got 1"),
        ({"alternative": "better"}, "'alternative'"),
        ({"confidence_level": 1.0}, "'confidence_level'"),
        ({"n_resamples": 0}, "'n_resamples'"),
        ({"bin_size": "wide"}, "'bin_size'"),
        ({"bin_size": 1}, "'bin_size'"),
        ({"multi_class": "per_class"}, "'multi_class'.*'per_class'"),
    ],
)
def test_what_is_refused(data, change, message):
    y, a, b = data
    params = {"y_true": y, "proba_a": a, "proba_b": b, **change}
    with pytest.raises(ValueError, match=message):
        compare_calibration(**params)


def exchangeable_models(rng, n_sentences):
    """Return labels, two equally wrong models, and the sentence of each row."""
    lengths = 1 + rng.poisson(11, n_sentences)
    sentence = np.repeat(np.arange(n_sentences), lengths)
    score = rng.normal(0, 1.5, sentence.size)
    y = rng.random(sentence.size) < expit(
        score + rng.normal(size=n_sentences)[sentence]
    )
    models = [
        expit(
            score
            + rng.normal(0, 0.6, n_sentences)[sentence]
            + rng.normal(0, 0.3, sentence.size)
        )
        for _ in range(2)
    ]
    return y.astype(int), *models, sentence


def over_and_under(rng):
    """Two models of equal error: one is too high, the other one is too low."""
    q = 0.2 + 0.6 * rng.random(300)
    return q, q + 0.06, q - 0.06, 0.0


def over_and_sharp(rng):
    """Two models of equal error: one is too high, the other one is too sharp."""
    q = 0.2 + 0.6 * rng.random(300)
    return q, q + 0.06, q + (q - 0.5) * 0.06 * np.sqrt(12) / 0.6, 0.0


def one_calibrated(rng):
    q = 0.2 + 0.6 * rng.random(300)
    return q, q + 0.08, q, 0.08


@pytest.mark.slow
@pytest.mark.parametrize("models", [over_and_under, over_and_sharp, one_calibrated])
def test_size_and_coverage(models):
    """Within three standard errors of a size of .05 and of a coverage of 93%."""
    rng, n_runs = np.random.default_rng(1), 400
    rejected = covered = 0
    for _ in range(n_runs):
        true, a, b, difference = models(rng)
        y = (rng.random(true.size) < true).astype(int)
        result = compare_calibration(y, a, b, random_state=0)
        rejected += result.pvalue < 0.05
        covered += result.low <= difference <= result.high
    assert covered / n_runs >= 0.93 - 3 * np.sqrt(0.07 * 0.93 / n_runs)
    if difference == 0:
        assert abs(rejected / n_runs - 0.05) <= 3 * np.sqrt(0.05 * 0.95 / n_runs)


@pytest.mark.slow
def test_size_for_exchangeable_models_of_sentences():
    rng = np.random.default_rng(1)
    n_runs, rejected, brier = 400, 0, 0
    for _ in range(n_runs):
        y, a, b, sentence = exchangeable_models(rng, 100)
        result = compare_calibration(y, a, b, groups=sentence, random_state=rng)
        rejected += result.pvalue < 0.05
        brier += result.brier_pvalue < 0.05
    error = np.sqrt(0.05 * 0.95 / n_runs)
    assert rejected / n_runs <= 0.05 + 3 * error
    assert abs(brier / n_runs - 0.05) <= 0.013 + 2 * error


@pytest.mark.parametrize("multi_class", [None, "top_label"])
def test_labels_in_place_of_probabilities_give_a_warning(multi_class):
    y = np.repeat([0, 1, 2], 20) if multi_class else np.repeat([0, 1], 30)
    labels = np.eye(3)[y] if multi_class else y
    proba = np.full((60, 3), 1 / 3) if multi_class else np.full(60, 0.4)
    with pytest.warns(UserWarning, match="probabilities of the 60 rows are 0 or 1"):
        compare_calibration(y, proba, labels, multi_class=multi_class)


def test_with_labels_of_its_own_an_error_of_zero_may_be_the_whole_difference():
    rng = np.random.default_rng(3)
    q = rng.random((2, 400))
    y = rng.random((2, 400)) < [q[0] ** 2, q[1]]  # the second model is calibrated
    y_a, y_b = y.astype(int)
    of_a, of_b = (
        calibration_error_interval(*pair) for pair in ((y_a, q[0]), (y_b, q[1]))
    )
    found = compare_calibration(y_a, q[0], q[1], y_true_b=y_b, random_state=0)
    assert of_b.low == 0 < of_b.estimate
    assert found.high == pytest.approx(of_a.high)
    turned = compare_calibration(y_b, q[1], q[0], y_true_b=y_a, random_state=0)
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))
