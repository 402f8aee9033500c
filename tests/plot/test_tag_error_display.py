"""TagErrorDisplay: the errors that it holds and the points that it draws."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn import check_names, names_of

from skcalib import CRFTagger, HMMTagger
from skcalib.datasets import make_tagged_sentences
from skcalib.metrics import calibration_error_interval
from skcalib.plot import TagErrorDisplay
from skcalib.queries import SpanQuery, TagPairQuery, TagQuery

FEW = "ignore:.*(no test of perfect calibration|effective groups):UserWarning"

from_estimators = TagErrorDisplay.from_estimators
from_answers = TagErrorDisplay.from_answers


@pytest.fixture(scope="module")
def test_set():
    X, y = make_tagged_sentences(160, random_state=0)
    return X[100:], y[100:]


@pytest.fixture(scope="module")
def taggers():
    X, y = make_tagged_sentences(160, random_state=0)
    some = {"HMM": HMMTagger(1.0), "CRF": CRFTagger(c2=0.1)}
    return {name: each.fit(X[:100], y[:100]) for name, each in some.items()}


@pytest.fixture(scope="module")
def display(taggers, test_set):
    return from_estimators(taggers, *test_set, top=6)


def by_hand(tag, tagger, X, y, keep=None):
    """Return the interval of one tag, from the marginals alone."""
    column = tagger.classes_.tolist().index(tag)
    q = np.concatenate(tagger.predict_proba(X))[:, column]
    positive = np.array([label == tag for tags in y for label in tags])
    groups = np.repeat(np.arange(len(y)), [len(tags) for tags in y])
    keep = slice(None) if keep is None else keep
    return calibration_error_interval(
        positive[keep], q[keep], groups=groups[keep]
    ).to_dict()


def same(found, expected):
    found = found.to_dict()
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        if isinstance(value, float):
            assert found[key] == pytest.approx(value, abs=1e-12)
        else:
            assert found[key] == value


# The numbers


def test_each_error_is_the_interval_of_its_tag(display, taggers, test_set):
    for name, tagger in taggers.items():
        errors = display.error[name]["all"]
        for tag, error in zip(display.label, errors, strict=True):
            same(error, by_hand(tag, tagger, *test_set))


def test_the_most_frequent_tags_come_first(display, test_set):
    tags, count = np.unique(np.concatenate(test_set[1]), return_counts=True)
    order = np.argsort(-count, kind="stable")[:6]
    assert display.label == tags[order].tolist()
    assert display.count.tolist() == count[order].tolist()


def test_means_are_over_the_most_frequent_and_over_all(display):
    found = display.to_dict()["average"]["CRF"]["all"]
    estimates = [error.estimate for error in display.error["CRF"]["all"]]
    assert list(found) == [5, 6]
    assert found[5] == pytest.approx(sum(estimates[:5]) / 5)
    assert found[6] == pytest.approx(sum(estimates) / 6)


def test_pairs_of_tags_have_errors_of_their_own(taggers, test_set):
    query = TagPairQuery(top=3)
    display = from_estimators(taggers, *test_set, query=query)
    assert len(display.label) == 3
    answers = query(taggers["CRF"], *test_set)
    for pair, error in zip(display.label, display.error["CRF"]["all"], strict=True):
        part = answers.take([label == pair for label in answers.label])
        expected = calibration_error_interval(
            part.y_true, part.y_proba, groups=part.groups
        )
        same(error, expected.to_dict())


def test_answers_give_what_their_estimators_give(display, taggers, test_set):
    answers = {name: TagQuery()(each, *test_set) for name, each in taggers.items()}
    found = from_answers(answers, top=6)
    assert found.to_dict() == display.to_dict()


def test_weights_repeat_sentences_and_their_order_is_nothing(taggers, test_set):
    X, y = test_set
    weight = np.arange(len(X)) % 3
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(len(X)), weight))
    found = from_estimators(taggers, X, y, top=3, sample_weight=weight)
    repeated = from_estimators(
        taggers, [X[i] for i in rows], [y[i] for i in rows], top=3
    )
    assert found.label == repeated.label
    assert found.count.tolist() == repeated.count.tolist()
    for name in taggers:
        pairs = zip(found.error[name]["all"], repeated.error[name]["all"], strict=True)
        for one, other in pairs:
            # The noise of groups that repeat each other is estimated.
            assert one.estimate == pytest.approx(other.estimate, abs=1e-5)
            assert one.plug_in == pytest.approx(other.plug_in, abs=1e-9)


@pytest.mark.filterwarnings(FEW)
@pytest.mark.parametrize("weight", [[1, 2, 1, 1, 3], [1, 2, 0, 0, 3], [0, 0, 2, 2, 0]])
def test_weights_of_sentences_without_an_answer_are_nothing(weight):
    tags = [["B-P", "O", "B-P"]] * 4
    spans = [[(0, 1, "P", 0.8), (1, 2, "P", 0.1), (2, 3, "P", 0.6)]] * 4
    # the last one has no entity, and none is predicted
    answers = SpanQuery().from_proba([*tags, ["O"]], [*spans, []])
    found = from_answers({"mine": answers}, sample_weight=weight)
    rows = np.repeat(np.arange(4), weight[:4])
    repeated = SpanQuery().from_proba([tags[i] for i in rows], [spans[i] for i in rows])
    expected = from_answers({"mine": repeated})
    assert found.count.tolist() == expected.count.tolist() == [2 * rows.size]
    (one,), (other,) = found.error["mine"]["all"], expected.error["mine"]["all"]
    assert one.estimate == pytest.approx(other.estimate, abs=1e-9)


@pytest.mark.filterwarnings(FEW)
def test_a_tag_of_one_pair_has_no_error():
    proba = [[[0.9, 0.1]], [[0.4, 0.6]], [[0.3, 0.7]]]
    answers = TagQuery().from_proba([["D"], ["N"], ["N"]], proba)
    # of D a single pair is left
    few = answers.take((answers.label == "N") | (answers.groups == 0))
    display = from_answers({"mine": few})
    assert display.label == ["N", "D"]
    assert display.error["mine"]["all"][1] is None
    assert display.to_dict()["error"]["mine"]["all"][1] is None
    n_error = display.error["mine"]["all"][0].estimate
    assert display.to_dict()["average"]["mine"]["all"] == {2: n_error}
    assert display.point_["mine", "all"].get_xdata().tolist() == [0]


def test_tags_that_do_not_occur_are_left_out_of_the_means():
    proba = [[[0.6, 0.1, 0.3], [0.3, 0.6, 0.1]]] * 40
    answers = TagQuery().from_proba([["D", "N"]] * 40, proba, ["D", "N", "Z"])
    display = TagErrorDisplay.from_answers({"mine": answers})
    first, second, never = (e.estimate for e in display.error["mine"]["all"])
    assert (display.label, never > 0) == (["D", "N", "Z"], True)
    means = display.to_dict()["average"]["mine"]["all"]
    assert means == {2: pytest.approx((first + second) / 2)}


def test_without_any_error_there_are_no_points():
    answers = TagQuery("D").from_proba([["D"]], [[[0.9, 0.1]]], ["D", "N"])
    display = from_answers({"mine": answers})
    assert display.error["mine"]["all"] == [None]
    assert display.point_["mine", "all"].get_xdata().size == 0
    assert display.average_["mine", "all"].get_xdata().size == 0
    assert repr(display) == "TagErrorDisplay(1 labels; mine: mean none)"
    assert display.frame()["low"].isna().all()


# Known and unknown words


def test_known_and_unknown_words_have_errors_of_their_own(taggers, test_set):
    X, y = test_set
    vocabulary = taggers["HMM"].vocabulary_
    found = from_estimators(taggers, X, y, known=vocabulary, top=2)
    is_known = np.array([word in vocabulary for words in X for word in words])
    assert 0 < is_known.sum() < is_known.size
    for words, keep in (("known", is_known), ("unknown", ~is_known)):
        for tag, error in zip(found.label, found.error["CRF"][words], strict=True):
            same(error, by_hand(tag, taggers["CRF"], X, y, keep))
    as_lists = [[word in vocabulary for word in words] for words in X]
    for known in (as_lists, set(vocabulary), [np.array(each) for each in as_lists]):
        again = from_estimators(taggers, X, y, known=known, top=2)
        assert again.to_dict() == found.to_dict()


@pytest.mark.filterwarnings(FEW)
def test_a_pair_is_divided_by_its_second_token():
    proba = [[[0.2], [0.4], [0.9]]] * 2
    tags = [["D", "N", "D", "N"]] * 2
    answers = TagPairQuery().from_proba(tags, proba, [("D", "N")])
    known = [[False, False, True, False]] * 2
    display = from_answers({"mine": answers}, known=known)
    parts = display.error["mine"]
    assert parts["known"][0].n_pairs == 2
    assert parts["unknown"][0].n_pairs == 4
    # the two known ones are no and have 0.4
    assert parts["known"][0].plug_in == pytest.approx(0.4)


@pytest.mark.filterwarnings(FEW)
def test_a_span_is_known_if_all_its_tokens_are():
    tags = [["B-P", "I-P", "B-P"]] * 2
    spans = [[(0, 2, "P", 0.4), (2, 3, "P", 0.8), (0, 1, "P", 0.1)]] * 2
    answers = SpanQuery().from_proba(tags, spans)
    known = [[True, False, True]] * 2
    display = from_answers({"mine": answers}, known=known)
    parts = display.error["mine"]
    assert (parts["known"][0].n_pairs, parts["unknown"][0].n_pairs) == (4, 2)
    assert parts["unknown"][0].plug_in == pytest.approx(0.6)
    assert display.count.tolist() == [4]


# The drawing


def test_points_and_intervals_are_drawn(display):
    assert list(display.point_) == [("HMM", "all"), ("CRF", "all")]
    for (name, words), line in display.point_.items():
        errors = display.error[name][words]
        assert line.get_ydata().tolist() == [error.estimate for error in errors]
        assert np.round(line.get_xdata()).tolist() == list(range(6))
        segments = display.bar_[name, words].get_segments()
        for segment, error in zip(segments, errors, strict=True):
            low, high = segment[:, 1]
            assert low == pytest.approx(min(error.low, error.estimate))
            assert high == pytest.approx(max(error.high, error.estimate))
        means = display.average_[name, words].get_ydata().tolist()
        assert means == list(display.to_dict()["average"][name][words].values())
        left, right = line.get_xdata(), display.average_[name, words].get_xdata()
        (at,) = set(display.divider_.get_xdata())
        assert left.max() < at < right.min()


def test_axes_say_what_they_show(display):
    texts = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert texts == [*display.label, "mean of 5", "mean of all 6"]
    assert display.ax_.get_xlabel() == "Most frequent first"
    assert display.ax_.get_ylabel() == "Calibration error\n(root mean square)"
    legend = display.ax_.get_legend().get_texts()
    assert [text.get_text() for text in legend] == ["HMM", "CRF"]


def test_fewer_labels_may_be_drawn_and_the_axis_says_so(taggers, test_set):
    display = from_estimators(taggers, *test_set, top=6, max_labels=4, averages=(2,))
    assert display.ax_.get_xlabel() == "Most frequent first (4 of 6)"
    assert len(display.point_["CRF", "all"].get_xdata()) == 4
    assert list(display.to_dict()["average"]["CRF"]["all"]) == [2, 6]
    assert len(display.to_dict()["error"]["CRF"]["all"]) == 6


def test_unknown_words_are_hollow_points_of_the_models_colour(taggers, test_set):
    known = taggers["HMM"].vocabulary_
    display = from_estimators(taggers, *test_set, known=known, top=2)
    colours = set()
    for name in taggers:
        full, hollow = display.point_[name, "known"], display.point_[name, "unknown"]
        assert full.get_color() == hollow.get_color()
        assert hollow.get_markerfacecolor() == "white" != full.get_markerfacecolor()
        assert hollow.get_label() == f"{name}, unknown words"
        colours.add(full.get_color())
    assert len(colours) == 2


def test_axes_and_styles_are_taken(display):
    _, ax = plt.subplots()
    assert display.plot(ax, point_kwargs={"lw": 3, "ms": 9}) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert display.point_["CRF", "all"].get_markersize() == 9


@pytest.mark.filterwarnings(FEW)
def test_labels_are_shown_as_they_are_but_long_ones_are_cut():
    proba = [[[0.9, 0.1], [0.3, 0.7]], [[0.6, 0.4], [0.1, 0.9]]]
    labels = ["$x$", "a-very-long-label-of-a-tag"]
    answers = TagQuery().from_proba([labels, labels], proba, labels)
    display = from_answers({"_mine": answers})
    display.figure_.canvas.draw()
    texts = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert texts[:2] == [r"\$x\$", "a-very-long-label-o…"]
    (legend,) = display.ax_.get_legend().get_texts()
    assert legend.get_text() == " _mine"


def test_a_long_legend_stands_below_axes_of_the_usual_width(taggers, test_set):
    many = {f"a tagger with number {k}": taggers["HMM"] for k in range(5)}
    few = from_estimators({1: taggers["HMM"]}, *test_set, top=2)
    display = from_estimators(many, *test_set, top=2)
    for each in (few, display):
        each.figure_.canvas.draw()
    (name,) = few.ax_.get_legend().get_texts()
    assert name.get_text() == "1"
    usual, axes = few.ax_.get_window_extent(), display.ax_.get_window_extent()
    assert axes.width == pytest.approx(usual.width, 0.05)
    check_names(display)
    assert len(names_of(display.ax_)) == 5


# What it gives


# What is refused


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"top": 0}, ValueError, "'top' parameter of TagErrorDisplay.from_estimators"),
        ({"averages": (0,)}, ValueError, "'averages' parameter"),
        ({"averages": 5}, TypeError, "must be a sequence of integers. Got 5"),
        ({"averages": "5"}, TypeError, "must be a sequence of integers. Got '5'"),
        ({"point_kwargs": "red"}, TypeError, "'point_kwargs' parameter of TagErrorD"),
        ({"ax": "new"}, TypeError, "must be matplotlib Axes or None. Got str"),
        ({"confidence_level": 2}, ValueError, "strictly between 0 and 1. Got 2"),
        ({"max_labels": 0}, ValueError, "'max_labels' parameter"),
        ({"known": "dog"}, TypeError, "must be a set of words, or have a sequence"),
        ({"known": [[True]]}, ValueError, "known has 1, X has 60"),
        ({"known": [["dog"]] * 60}, ValueError, "Got ['dog'] for sentence 0"),
        (
            {"known": [[True]] * 60},
            ValueError,
            "Got 1 for sentence 0, which has an answer",
        ),
        ({"sample_weight": [1]}, ValueError, "60"),
    ],
)
def test_what_does_not_fit_is_refused(taggers, test_set, params, error, message):
    with pytest.raises(error, match=re.escape(message)):
        from_estimators(taggers, *test_set, **params)


def test_models_come_by_name(taggers, test_set):
    with pytest.raises(TypeError, match="mapping of names to fitted .* Got HMMTagger"):
        from_estimators(taggers["HMM"], *test_set)
    with pytest.raises(ValueError, match="is an empty mapping"):
        from_answers({})
    with pytest.raises(TypeError, match="Answers for 'mine'. Got list"):
        from_answers({"mine": [1, 0]})


def test_words_need_sentences_of_words(taggers, test_set):
    answers = {"HMM": TagQuery()(taggers["HMM"], *test_set)}
    with pytest.raises(TypeError, match="Got set. Pass words to from_estimators"):
        from_answers(answers, known={"dog"})
    items = [[{"word": word} for word in words] for words in test_set[0]]
    with pytest.raises(TypeError, match="tokens must be str. Got dict"):
        from_estimators(taggers, items, test_set[1], known={"dog"})


def test_no_answer_at_all_is_refused():
    answers = SpanQuery().from_proba([["O"]], [[]])
    with pytest.raises(ValueError, match="at least one answer. Got none of .'mine'."):
        from_answers({"mine": answers})


def test_tags_in_few_sentences_are_said():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([1, 1], (6, 20))
    tags = rng.choice(["A", "B"], (6, 20)).tolist()
    answers = TagQuery().from_proba(tags, list(proba), ["A", "B"])
    with pytest.warns(UserWarning, match="interval of '[AB]'.*6.0 effective") as caught:
        from_answers({"model": answers})
    assert len(caught) == 1
