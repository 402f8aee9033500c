"""Metrics of sums of all pairs, and statistics of translations."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom

from skcalib.significance import (
    bleu,
    bleu_statistics,
    chrf,
    chrf_statistics,
    compare_systems,
    paired_bootstrap_test,
    ter,
    ter_statistics,
)
from skcalib.significance._translation import signature

REFERENCE = [
    "the cat sat on the mat .",
    "it rains today in the north",
    "nobody knows why this happened",
    "two and two are four",
] * 3
GOOD = [line.replace("north", "south") for line in REFERENCE]
BAD = [line.replace("the", "a").replace("two", "three") for line in REFERENCE]


def counts(p, seed):
    rng = np.random.default_rng(seed)
    gold = np.random.default_rng(0).integers(0, 4, 150)
    right = rng.binomial(gold, p)
    return np.column_stack([right, right + rng.integers(0, 2, 150), gold])


def test_p_values_and_gains_are_those_of_the_test_of_a_pair():
    systems = {"A": counts(0.5, 1), "B": counts(0.8, 2), "C": counts(0.55, 3)}
    result = compare_systems(systems, statistic="f1", random_state=1)
    other = paired_bootstrap_test(
        systems["C"], systems["A"], statistic="f1", random_state=0
    )
    assert result.method[1] == other.method == "monte_carlo"
    assert result.n_resamples == 10_000
    error = 4 * np.hypot(result.monte_carlo_error[1], other.monte_carlo_error)
    assert abs(result.pvalue[1] - other.pvalue) < error
    assert result.gain[1] == other.statistic
    assert result.gain[0] == pytest.approx(result.score[1] - result.score[0])
    sums = systems["B"].sum(axis=0)
    assert result.score[1] == pytest.approx(2 * sums[0] / (sums[1] + sums[2]))
    assert (result.low <= result.score).all()
    assert (result.score <= result.high).all()
    excludes = (result.gain_low > 0) | (result.gain_high < 0)
    assert (excludes == (result.pvalue < 0.05)).all()


def test_intervals_of_a_ratio_are_those_of_the_delta_method():
    rng = np.random.default_rng(4)
    length = rng.integers(5, 30, 400)
    first, second = rng.binomial(length, 0.8), rng.binomial(length, 0.82)
    systems = {"A": np.c_[first, length], "B": np.c_[second, length]}
    result = compare_systems(systems, statistic="ratio")
    gain = (second - first).sum() / length.sum()
    residual = second - first - gain * length
    error = np.sqrt((residual**2).sum()) / length.sum()
    assert result.gain[0] == pytest.approx(gain)
    assert result.gain_high[0] - gain == pytest.approx(1.96 * error, rel=0.03)


def mid_p_ends(k, n):
    """Return the ends of the binomial mid-P interval of k of n by bisection."""

    def low(k):
        excess = lambda p: binom.sf(k, n, p) + binom.pmf(k, n, p) / 2 - 0.025  # noqa: E731
        return brentq(excess, 0, 1) if k else 0.0

    return low(k), 1 - low(n - k)


@pytest.mark.parametrize(("right", "n"), [(6, 6), (5, 6), (0, 6), (50, 50), (48, 50)])
def test_f1_of_sentences_with_one_guess_has_the_interval_of_the_accuracy(right, n):
    correct = np.arange(n) < right
    rows = np.c_[correct, np.ones((n, 2))]
    doubled, groups = np.repeat(rows, 2, axis=0), np.repeat(np.arange(n), 2)
    for found in (
        compare_systems({"A": rows}, statistic="f1"),
        compare_systems({"A": rows[:, :2]}, statistic="ratio"),
        compare_systems({"A": correct}, statistic="mean"),
        compare_systems({"A": doubled}, statistic="f1", groups=groups),
    ):
        ends = found.low[0], found.high[0]
        assert ends == pytest.approx(mid_p_ends(right, n), abs=1e-9)


def test_unequal_documents_that_are_all_right_count_as_fewer():
    size = np.array([1, 1, 2, 8])
    found = compare_systems({"A": np.c_[size, size, size]}, statistic="f1")
    # 144 / 70 documents of equal sizes
    assert found.low[0] == pytest.approx(0.05 ** (70 / 144))
    nothing = compare_systems({"A": np.zeros((4, 3))}, statistic="f1")
    assert (nothing.low[0], nothing.high[0]) == (0, 1)


@pytest.mark.parametrize(("n", "p"), [(6, 0.95), (20, 0.9), (50, 0.95), (50, 0.99)])
def test_intervals_of_f1_near_1_contain_it_if_single_entities_are_missed(n, p):
    # F1 is 2 p / (1 + p) if a share p of the entities is found
    right = np.arange(n + 1)
    found = np.arange(n) < right[:, np.newaxis]
    results = [
        compare_systems({"A": np.c_[x, x, np.ones(n)]}, statistic="f1") for x in found
    ]
    low, high = np.array([(each.low[0], each.high[0]) for each in results]).T
    inside = (low <= 2 * p / (1 + p)) & (2 * p / (1 + p) <= high)
    assert binom.pmf(right, n, p)[inside].sum() > 0.95


def test_intervals_of_f1_in_the_middle_are_as_wide_as_those_of_the_jackknife():
    rows = counts(0.7, 1)
    found = compare_systems({"A": rows}, statistic="f1")
    sums = rows.sum(axis=0) - rows
    without = 2 * sums[:, 0] / (sums[:, 1] + sums[:, 2])
    error = np.sqrt(149 / 150 * ((without - without.mean()) ** 2).sum())
    assert found.high[0] - found.low[0] == pytest.approx(2 * 1.976 * error, rel=0.02)


def test_intervals_of_translations_at_their_ends_depend_on_the_number_of_sentences():
    perfect = np.tile([7, 7, 7, 6, 5, 4, 7, 6, 5, 4], (20, 1))
    wrong = np.tile([7, 7, 0, 0, 0, 0, 7, 6, 5, 4], (20, 1))
    found = compare_systems({"A": perfect}, statistic=bleu)
    assert (found.low[0], found.high[0]) == pytest.approx((100 * 0.05**0.05, 100))
    found = compare_systems({"A": wrong}, statistic=bleu)
    assert (found.low[0], found.high[0]) == pytest.approx((0, 100 - 100 * 0.05**0.05))
    characters = np.tile([5, 5, 5] * 6, (20, 1))
    low = compare_systems({"A": characters}, statistic=chrf).low[0]
    assert low == pytest.approx(100 * 0.05**0.05)
    edits = {"A": np.tile([0, 5], (20, 1)), "B": np.c_[np.arange(20), np.full(20, 5)]}
    found = compare_systems(edits, statistic=ter)
    # no event in 20 sentences has the probability exp(-20 rate) = .05
    assert found.high[0] == pytest.approx(-100 * np.log(0.05) / 20, rel=1e-5)
    # the mean of 0, 20, ..., 380 is 190, with a standard error of 26.5
    assert 130 < found.low[1] < 145
    assert 240 < found.high[1] < 260


def test_percentages_have_100_times_the_results_of_shares():
    rows = np.tile([3, 3, 3], (20, 1))
    other = rows.copy()
    other[:2, 0] = 1
    systems = {"A": rows, "B": rows, "C": other}

    def percent(sums):
        return 200 * sums[..., 0] / (sums[..., 1] + sums[..., 2])

    shares = compare_systems(systems, statistic="f1", method="sign_flips")
    result = compare_systems(
        systems, statistic=percent, largest=100, method="sign_flips"
    )
    for name in ("low", "high", "gain_low", "gain_high"):
        # the weights of items are denominators, or for callables shares of all columns
        expected = 100 * getattr(shares, name)
        np.testing.assert_allclose(getattr(result, name), expected, rtol=1e-3)
    assert shares.gain_high[0] > 0.1
    np.testing.assert_allclose(
        result.equivalence_pvalue(5), shares.equivalence_pvalue(0.05)
    )
    np.testing.assert_allclose(result.detectable_gain(), 100 * shares.detectable_gain())


def test_a_metric_below_0_keeps_an_interval_on_both_sides():
    def kappa(sums):
        return 2 * sums[..., 0] / sums[..., 1] - 1

    rows = np.c_[np.arange(30) % 3 == 0, np.ones(30)]
    found = compare_systems({"A": rows}, statistic=kappa, largest=1)
    assert found.score[0] == pytest.approx(-1 / 3)
    assert found.low[0] + found.high[0] == pytest.approx(-2 / 3)
    assert found.low[0] < -0.6


def test_bleu_of_hand_made_counts():
    # Precisions 6/7, 4/6, 2/5 and 1/4, no brevity penalty.
    row = np.array([7, 7, 6, 4, 2, 1, 7, 6, 5, 4])
    expected = 100 * (6 / 7 * 4 / 6 * 2 / 5 * 1 / 4) ** 0.25
    assert float(bleu(row)) == pytest.approx(expected)
    assert bleu(np.stack([row, 2 * row])) == pytest.approx([expected, expected])
    shorter = np.array([7, 14, 6, 4, 2, 1, 7, 6, 5, 4])
    assert float(bleu(shorter)) == pytest.approx(expected * np.exp(-1))
    assert float(bleu(np.zeros(10))) == 0


def test_ter_and_chrf_of_hand_made_counts():
    assert float(ter(np.array([3, 12]))) == 25
    assert float(ter(np.array([3, 0]))) == 100
    assert float(ter(np.array([0, 0]))) == 0
    row = np.array([10, 5, 4] + [0, 0, 0] * 5)
    # One order with precision .4 and recall .8; recall counts four times.
    assert float(chrf(row)) == pytest.approx(100 * 5 * 0.4 * 0.8 / (4 * 0.4 + 0.8))
    assert float(chrf(np.zeros(18))) == 0


@pytest.mark.parametrize("lines", [GOOD, BAD, ["x"] * 12, REFERENCE, [""] * 12])
def test_scores_are_those_of_sacrebleu_to_the_last_digit(lines):
    sacrebleu = pytest.importorskip("sacrebleu")
    for count, metric, theirs in (
        (bleu_statistics, bleu, sacrebleu.corpus_bleu),
        (chrf_statistics, chrf, sacrebleu.corpus_chrf),
        (ter_statistics, ter, sacrebleu.corpus_ter),
    ):
        rows = count(lines, REFERENCE)
        assert len(rows) == 12
        assert float(metric(rows.sum(axis=0))) == theirs(lines, [REFERENCE]).score
        assert metric(np.stack([rows.sum(axis=0)] * 2))[0] == pytest.approx(
            theirs(lines, [REFERENCE]).score, rel=1e-12
        )


CHINESE = [
    "我们今天去了公园玩。",
    "他昨天买了一本很新的书,很好看。",
    "NASA 的火箭发射了。",
]
SAID = ["我们今天去公园玩。", "他昨天买了一本新书,好看。", "NASA 火箭升空了。"]


def wmt17(n=200):
    """Return the first lines of two systems of WMT 2017, and of the reference."""
    path = Path(os.environ.get("SKCALIB_DATA", ""), "wmt17_en_de", "outputs.tsv.gz")
    if not path.is_file():
        pytest.skip("SKCALIB_DATA does not name a folder that has the translations")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [next(file).rstrip("\n").split("\t") for _ in range(n + 1)]
    names = rows[0]
    columns = dict(zip(names, zip(*rows[1:], strict=True), strict=True))
    return [columns["FBK.4870"], columns["KIT.4950"]], columns["reference"]


@pytest.mark.parametrize("text", ["Chinese", "WMT 2017"])
def test_every_setting_has_the_number_and_the_signature_of_sacrebleu(text):
    metrics = pytest.importorskip("sacrebleu.metrics")
    systems, reference = ([SAID], CHINESE) if text == "Chinese" else wmt17()
    tokenisers = ("13a", "zh", "char", "intl", "none")
    asian = {"normalized": True, "asian_support": True}
    for count, metric, name, given, settings in (
        *(
            (bleu_statistics, bleu, "BLEU", {"tokenize": t}, {"tokenize": t})
            for t in tokenisers
        ),
        (chrf_statistics, chrf, "CHRF", {"word_order": 2}, {"word_order": 2}),
        (chrf_statistics, chrf, "CHRF", {}, {}),
        (ter_statistics, ter, "TER", {}, {}),
        (ter_statistics, ter, "TER", {"asian_support": True}, asian),
    ):
        theirs = getattr(metrics, name)(**settings)
        for lines in systems:
            expected = theirs.corpus_score(lines, [reference])
            sums = count(lines, reference, **given).sum(axis=0)
            assert float(metric(sums)) == expected.score
        signed = f"{expected.name}|{theirs.get_signature()}"
        assert signature(name, 1, **settings) == signed


def test_a_tokeniser_that_is_unknown_or_lacks_packages_is_an_error(monkeypatch):
    sacrebleu = pytest.importorskip("sacrebleu.metrics.bleu")
    with pytest.raises(ValueError, match=r"'tokenize' .* one of none, zh, .* 'thai'"):
        bleu_statistics(["a"], ["a"], tokenize="thai")
    with pytest.raises(ValueError, match="'word_order' .* 0 or 2. Got 3"):
        chrf_statistics(["a"], ["a"], word_order=3)

    def missing(name):
        raise RuntimeError("\n pip install  sacrebleu[ja]\n")

    monkeypatch.setattr(sacrebleu, "_get_tokenizer", missing)
    with pytest.raises(ImportError, match=r"'ja-mecab' cannot .* install sacrebleu\["):
        bleu_statistics(["a"], ["a"], tokenize="ja-mecab")


@pytest.mark.parametrize(
    ("hypotheses", "references", "error"),
    [
        (["a"], ["a", "b"], "Got 2 references and 1 hypotheses"),
        ("a", ["a"], "Got a single text"),
        ([1], ["a"], "Got int in entry 0"),
        ([], [], "at least one text"),
        (["a"], "a", "must be a sequence of texts"),
    ],
)
def test_wrong_texts_are_errors(hypotheses, references, error):
    pytest.importorskip("sacrebleu")
    with pytest.raises(ValueError, match=error):
        bleu_statistics(hypotheses, references)


def test_without_sacrebleu_the_error_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(ImportError, match="pip install sacrebleu"):
        bleu_statistics(["a"], ["a"])


def test_letters_begin_with_the_lowest_edit_rate():
    length = np.full(30, 6)
    edits = {"worst": [3] * 30, "best": [3] + [0] * 29, "middle": [3] * 12 + [0] * 18}
    counts = {name: np.c_[each, length] for name, each in edits.items()}
    result = compare_systems(counts, statistic=ter, largest=100)
    assert list(result.letters().items()) == [
        ("best", "a"),
        ("middle", "b"),
        ("worst", "c"),
    ]
    assert result.not_separated() == [["best"], ["middle"], ["worst"]]


def test_smallest_pvalue_is_for_the_items_that_differ():
    rows = np.tile([2, 3, 3], (100, 1))
    # ties count by half from seven differing items on
    for n_differing, smallest in ((3, 2**-2), (8, 2**-8), (0, 1)):
        better = rows.copy()
        better[:n_differing, 0] = 3
        found = compare_systems({"A": rows, "B": better}, statistic="f1")
        assert found.smallest_pvalue == smallest
        if n_differing < 8:
            assert found.pvalue[0] == smallest
    groups = np.arange(100) // 4
    found = compare_systems({"A": rows, "B": better}, statistic="f1", groups=groups)
    assert found.smallest_pvalue == 1
    better[:8, 0] = 3
    found = compare_systems({"A": rows, "B": better}, statistic="f1", groups=groups)
    assert found.smallest_pvalue == 2**-1


@pytest.mark.parametrize("adjust", ["holm", "bh", None])
@pytest.mark.parametrize("groups", [None, np.arange(150) % 30])
def test_one_system_has_the_interval_that_it_has_among_two(adjust, groups):
    rng = np.random.default_rng(0)
    gold = rng.integers(1, 4, 150)
    a, b = (np.c_[rng.binomial(gold, p), gold, gold] for p in (0.6, 0.8))
    settings = {"statistic": "f1", "groups": groups, "adjust": adjust}
    both = compare_systems({"A": a, "B": b}, **settings)
    one = compare_systems({"A": a}, **settings)
    for name in ("score", "low", "high"):
        assert getattr(one, name).tolist() == getattr(both, name)[:1].tolist()
    assert (one.n_questions, one.n_groups) == (both.n_questions, both.n_groups)
    assert one.pairs == one.gain.tolist() == one.pvalue_adjusted.tolist() == []
    assert one.letters() == {"A": "a"}
    assert one.to_dict()["gain"] == []
    assert "1 systems, 0 pairs" in repr(one)
    with pytest.raises(ValueError, match="must contain at least one system. Got 0"):
        compare_systems({}, **settings)


def test_the_largest_value_follows_from_the_metric():
    systems = {"A": counts(0.5, 1), "B": counts(0.8, 2)}

    def percent(sums):
        return 200 * sums[..., 0] / (sums[..., 1] + sums[..., 2])

    with pytest.raises(ValueError, match="'largest' .* 'B' is 76"):
        compare_systems(systems, statistic=percent, largest=1)
    free = compare_systems(systems, statistic=percent, random_state=0)
    assert free.gain_high == pytest.approx(
        compare_systems(systems, statistic=percent, largest=1e9).gain_high
    )
    result = compare_systems(systems, statistic=percent, largest=100)
    expected = compare_systems(systems, statistic="f1")
    np.testing.assert_allclose(result.gain_high, 100 * expected.gain_high)
    pytest.importorskip("sacrebleu", reason="sacrebleu is not installed")
    lines = {"good": GOOD, "bad": BAD}
    statistics = {n: bleu_statistics(text, REFERENCE) for n, text in lines.items()}
    default = compare_systems(statistics, statistic=bleu)
    given = compare_systems(statistics, statistic=bleu, largest=100)
    assert default.gain_low.tolist() == given.gain_low.tolist()
    assert default.high.tolist() == given.high.tolist()


def test_a_system_with_a_lower_ter_is_not_inferior():
    length = np.full(40, 20)
    edits = np.random.default_rng(0).binomial(length, 0.4)
    systems = {"A": np.c_[edits, length], "B": np.c_[edits - 1, length]}
    result = compare_systems(systems, statistic=ter)
    assert result.gain[0] == pytest.approx(-5)
    assert result.noninferiority_pvalue(1.0)[0] < 0.001
    worse = compare_systems(dict(reversed(systems.items())), statistic=ter)
    assert worse.noninferiority_pvalue(1.0)[0] > 0.999


def test_numbers_of_sentences_that_a_gain_needs_do_not_depend_on_groups():
    # With independent sentences, groups of three lose only few degrees of freedom.
    systems = {"A": counts(0.5, 1), "B": counts(0.55, 2)}
    alone = compare_systems(systems, statistic="f1").questions_needed(0.02)[0]
    groups = np.arange(150) // 3
    found = compare_systems(systems, statistic="f1", groups=groups)
    assert found.questions_needed(0.02)[0] == pytest.approx(alone, rel=0.4)


def test_statistics_of_another_metric_are_an_error():
    with pytest.raises(ValueError, match=r"'sums' .* bleu .* 10 columns .* \(18,\)"):
        bleu(np.ones(18))
    with pytest.raises(ValueError, match=r"18 columns of chrf_statistics"):
        chrf(np.ones((3, 10)))
    with pytest.raises(ValueError, match=r"2 columns of ter_statistics"):
        ter(3.0)
