"""ReliabilityDisplay with `by`: the pairs of each group, and the panels of them."""

import io

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from cases import case
from matplotlib.figure import Figure
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold, cross_validate
from sklearn.naive_bayes import GaussianNB

from skcalib import HMMTagger, ReliabilityDisplay
from skcalib.datasets import make_tagged_sentences
from skcalib.queries import ClassQuery, TagQuery

FEW = (
    "ignore:.*(no test of perfect calibration|effective groups|inside the bins)"
    ":UserWarning"
)

N = 600
from_predictions = ReliabilityDisplay.from_predictions


@pytest.fixture(scope="module")
def y_true():
    return np.random.default_rng(0).integers(0, 2, N)


@pytest.fixture(scope="module")
def y_proba(y_true):
    return np.random.default_rng(1).beta(1 + y_true, 2 - y_true)


@pytest.fixture(scope="module")
def genre():
    shares = [0.15, 0.5, 0.35]
    return np.random.default_rng(2).choice(["letters", "news", "web"], N, p=shares)


@pytest.fixture(scope="module")
def three_classes():
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    return names, GaussianNB().fit(X[:, :2], y).predict_proba(X[:, :2])


@pytest.fixture(scope="module")
def tagged():
    X, y = make_tagged_sentences(120, random_state=0)
    return HMMTagger(pseudocount=1.0).fit(X[:60], y[:60]), X[60:], y[60:]


def parts(display):
    """Return what is drawn of each group, by group."""
    return dict(display._by_key())


def same(display, group, expected):
    """Hold a group of a display to another display, number by number."""
    one, (other,) = display.to_dict()[group], expected.to_dict().values()
    assert one.keys() == other.keys()
    np.testing.assert_allclose(one["count"], other["count"])
    for part in ("curve", "error"):
        assert one[part].keys() == other[part].keys()
        for key, value in one[part].items():
            if isinstance(value, (list, float)):
                np.testing.assert_allclose(value, other[part][key], atol=1e-12)
            else:
                assert value == other[part][key]


def axes(display):
    return display.figure_.axes


def titles(display):
    return [ax.get_title() for ax in axes(display)]


def heading(display):
    return display.figure_.get_suptitle()


# The groups


def test_each_panel_is_the_display_of_its_rows_alone(y_true, y_proba, genre):
    display = from_predictions(y_true, y_proba, by=genre, bin_size=30)
    for group, line in zip(display.name, display.line_, strict=True):
        rows = genre == group
        alone = ReliabilityDisplay.from_predictions(
            y_true[rows], y_proba[rows], bin_size=30
        )
        same(display, group, alone)
        assert line.get_xydata().tolist() == alone.line_.get_xydata().tolist()


def test_groups_of_one_size_stand_in_order_of_yes_and_then_of_names():
    by = ["d", "c", "b", "a"] * 10
    y_true = [0, 1, 0, 0] * 10
    display = from_predictions(y_true, [0.5] * 40, by=by)
    assert display.name == ["c", "a", "b", "d"]


@pytest.mark.parametrize("groups", [None, np.arange(N) // 4])
def test_nothing_depends_on_the_order_of_the_rows(y_true, y_proba, genre, groups):
    order = np.random.default_rng(3).permutation(N)
    coarse = y_proba.round(1)
    found = from_predictions(y_true, coarse, by=genre, groups=groups)
    mixed = from_predictions(
        y_true[order],
        coarse[order],
        by=genre[order],
        groups=None if groups is None else groups[order],
    )
    assert found.name == mixed.name
    for group in found.name:
        rows = genre == group
        own = None if groups is None else groups[rows]
        alone = from_predictions(y_true[rows], coarse[rows], groups=own)
        same(mixed, group, alone)


@pytest.mark.filterwarnings(FEW)
def test_weights_are_frequencies(y_true, y_proba, genre):
    weight = np.random.default_rng(4).integers(0, 4, N)
    weight[genre == "letters"] = 0
    rows = np.repeat(np.arange(N), weight)
    found = from_predictions(y_true, y_proba, by=genre, sample_weight=weight)
    repeated = from_predictions(y_true[rows], y_proba[rows], by=genre[rows])
    assert found.name == repeated.name == ["news", "web"]
    for one, other in zip(found._models, repeated._models, strict=True):
        np.testing.assert_allclose(one.curve.prob_true, other.curve.prob_true)
        np.testing.assert_allclose(one.curve.weight, other.curve.weight)
        assert one.error.high == pytest.approx(other.error.high)
    shown = [title.split("\n")[0] for title in titles(found)]
    assert shown == [f"{g}, n = {weight[genre == g].sum()}" for g in ("news", "web")]


def test_names_may_come_in_any_kind_of_sequence(y_true, y_proba, genre):
    cases = [
        list,
        np.array,
        pd.Series,
        pd.Categorical,
        lambda names: np.array(names, object),
    ]
    for kind in cases:
        with case(kind):
            display = from_predictions(y_true, y_proba, by=kind(genre.tolist()))
            assert display.name == ["news", "web", "letters"]


@pytest.mark.filterwarnings(FEW)
def test_names_may_be_numbers_or_a_mix():
    display = from_predictions([0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4], by=[10, 9, 9, 10])
    assert display.name == [9, 10]
    display = from_predictions([0, 0, 0, 0], [0.1, 0.2, 0.3, 0.4], by=["1", 1, 2, "1"])
    assert display.name == ["1", 1, 2]


# By what was asked


def test_by_label_has_a_panel_for_each_class(three_classes):
    names, proba = three_classes
    display = from_predictions(names, proba, by="label")
    order = ["setosa", "versicolor", "virginica"]
    assert display.name == order
    for k, name in enumerate(order):
        same(display, name, from_predictions(names == name, proba[:, k]))


def test_by_label_of_top_labels_has_a_panel_for_each_class_predicted(three_classes):
    names, proba = three_classes
    order = np.unique(names)
    display = from_predictions(names, proba, by="label", multi_class="top_label")
    top = order[proba.argmax(axis=1)]
    assert sorted(display.name) == sorted(np.unique(top))
    for name in display.name:
        rows = top == name
        alone = from_predictions((names == name)[rows], proba[rows].max(axis=1))
        same(display, name, alone)


def test_rows_of_several_classes_are_pooled_in_each_panel(three_classes):
    names, proba = three_classes
    source = np.where(np.arange(150) % 3 == 0, "x", "y")
    display = from_predictions(names, proba, by=source)
    for group, one in parts(display).items():
        rows = source == group
        same(display, group, from_predictions(names[rows], proba[rows]))
        assert one.error.n_groups == rows.sum()


def test_labels_say_the_order_of_the_columns(three_classes):
    names, proba = three_classes
    order = ["virginica", "setosa", "versicolor"]
    display = from_predictions(names, proba[:, [2, 0, 1]], by="label", labels=order)
    expected = from_predictions(names, proba, by="label")
    assert display.to_dict() == expected.to_dict()


@pytest.mark.parametrize("multi_class", ["pooled", "top_label"])
def test_columns_of_a_table_are_matched_by_their_names(three_classes, multi_class):
    names, proba = three_classes
    order = ["setosa", "versicolor", "virginica"]
    table = pd.DataFrame(proba, columns=order)[["virginica", "setosa", "versicolor"]]
    options = {"by": "label", "multi_class": multi_class}
    found = from_predictions(names, table, **options)
    expected = from_predictions(names, proba, **options)
    assert found.to_dict() == expected.to_dict()


def test_a_tagger_has_a_panel_for_each_tag(tagged):
    tagger, X, y = tagged
    display = ReliabilityDisplay.from_estimator(tagger, X, y, by="label", max_panels=4)
    answers = TagQuery()(tagger, X, y)
    assert sorted(display.name) == sorted(np.unique(answers.label))
    tags = np.concatenate(y)
    frequency = [np.sum(tags == tag) for tag in display.name]
    assert frequency == sorted(frequency, reverse=True)
    for tag in display.name[:3]:
        alone = ReliabilityDisplay.from_estimator(tagger, X, y, query=TagQuery(tag))
        same(display, tag, alone)
    assert heading(display).startswith("HMMTagger\n")


def test_the_sentences_of_a_tagger_may_have_groups(tagged):
    tagger, X, y = tagged
    source = np.where(np.arange(len(X)) < 20, "old", "new")
    display = ReliabilityDisplay.from_estimator(tagger, X, y, by=source)
    assert display.name == ["new", "old"]
    alone = ReliabilityDisplay.from_estimator(tagger, X[:20], y[:20])
    same(display, "old", alone)


def test_the_last_sentences_may_have_no_pair_in_a_panel(tagged):
    tagger, X, y = tagged
    source = np.where(np.arange(len(X)) < 20, "old", "new")
    weight = np.where(np.arange(len(X)) < 50, 2, 0)
    display = ReliabilityDisplay.from_estimator(
        tagger, X, y, by=source, sample_weight=weight
    )
    alone = ReliabilityDisplay.from_estimator(
        tagger, X[:20], y[:20], sample_weight=[2] * 20
    )
    same(display, "old", alone)


def test_held_out_answers_are_divided_too():
    X, y = load_iris(return_X_y=True)
    results = cross_validate(
        GaussianNB(),
        X[:, :2],
        y,
        cv=KFold(3, shuffle=True, random_state=0),
        return_estimator=True,
        return_indices=True,
    )
    weight = np.arange(150) % 3
    display = ReliabilityDisplay.from_cv_results(
        results, X[:, :2], y, by="label", sample_weight=weight
    )
    for k in range(3):
        alone = ReliabilityDisplay.from_cv_results(
            results, X[:, :2], y, sample_weight=weight, query=ClassQuery(pos_label=k)
        )
        same(display, k, alone)


# The drawing


def test_titles_say_group_number_and_error(y_true, y_proba, genre):
    display = from_predictions(y_true, y_proba, by=genre)
    error = parts(display)["web"].error
    assert titles(display)[1] == (
        f"web, n = {np.sum(genre == 'web')}\n"
        f"error {error.estimate:.3f} [{error.low:.3f}, {error.high:.3f}]"
    )


def test_the_figure_says_what_is_left_out(y_true, y_proba, genre):
    display = from_predictions(
        y_true, y_proba, by=genre, max_panels=1, name="model", consistency_band=False
    )
    left = np.sum(genre != "news")
    assert heading(display).split("\n", 1)[0] == "model"
    assert heading(display).split("\n", 1)[1].replace("\n", " ") == (
        f"the 1 most frequent of 3 groups; not shown: 2 with {left} of {N} pairs "
        "errors: debiased"
    )
    assert len(axes(display)) == 1
    assert len(display.name) == len(display.to_dict()) == 3
    everything = from_predictions(y_true, y_proba, by=genre, consistency_band=False)
    assert heading(everything) == "errors: debiased"


def test_the_figure_says_what_is_shaded(y_true, y_proba, genre):
    display = from_predictions(y_true, y_proba, by=genre, confidence_level=0.9)
    shaded = "shaded: 90% band of perfect calibration"
    assert " ".join(heading(display).split()) == f"errors: debiased; {shaded}"
    assert None not in display.band_
    bare = from_predictions(y_true, y_proba, by=genre, consistency_band=False)
    assert bare.band_ == [None] * 3


@pytest.mark.parametrize("counts", [False, True])
def test_panels_share_their_axes_and_label_the_outer_ones(y_true, y_proba, counts):
    by = np.arange(N) % 5
    display = from_predictions(y_true, y_proba, by=by, counts=counts)
    display.ax_[0].set(xlim=(0, 0.3), ylim=(0, 0.2))
    assert {ax.get_xlim() for ax in display.ax_} == {(0, 0.3)}
    assert {ax.get_ylim() for ax in display.ax_} == {(0, 0.2)}
    labels = [bool(ax.get_ylabel()) for ax in display.ax_]
    assert labels == [True, False, False, True, False]
    lowest = display.count_ax_ if counts else display.ax_
    shown = [bool(ax.get_xlabel()) for ax in lowest]
    assert shown == [False, False, True, True, True]
    if counts:
        assert len({ax.get_ylim() for ax in lowest}) == 1
    assert all(ax.get_legend() is None for ax in display.ax_)


@pytest.mark.parametrize("n_groups", [1, pytest.param(2, marks=pytest.mark.slow), 9])
@pytest.mark.parametrize("counts", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("model", marks=pytest.mark.slow),
        "a model with a long name " * 6,
    ],
)
def test_no_text_overlaps_or_leaves_the_figure(y_true, y_proba, n_groups, counts, name):
    display = from_predictions(
        y_true,
        y_proba,
        by=np.arange(N) % (n_groups + 1),
        max_panels=n_groups,
        counts=counts,
        name=name,
    )
    figure = display.figure_
    figure.canvas.draw()
    texts = [ax.title for ax in axes(display)] + [figure._suptitle]
    boxes = [text.get_window_extent() for text in texts]
    for k, box in enumerate(boxes):
        assert figure.bbox.containsx(box.x0)
        assert figure.bbox.containsx(box.x1)
        assert figure.bbox.containsy(box.y1)
        assert not any(box.overlaps(other) for other in boxes[:k])


@pytest.mark.parametrize(("n_columns", "expected"), [(1, 1), (2, 2), (9, 3)])
def test_the_number_of_columns_can_be_chosen(
    y_true, y_proba, genre, n_columns, expected
):
    display = from_predictions(y_true, y_proba, by=genre, n_columns=n_columns)
    assert axes(display)[0].get_subplotspec().get_gridspec().ncols == expected


@pytest.mark.filterwarnings(FEW)
def test_any_name_of_a_group_is_shown():
    for name in ["price in $", "_hidden", "x" * 200, "été"]:
        with case(name):
            display = from_predictions([0, 1], [0.2, 0.7], by=[name, name])
            display.figure_.savefig(io.BytesIO())
            (title,) = titles(display)
            shown = name if len(name) < 28 else f"{name[:27]}…"
            assert title.replace("\\$", "$").startswith(f"{shown}, n = 2\n")
            assert display.name == [name]


@pytest.mark.filterwarnings(FEW)
@pytest.mark.parametrize(
    ("weight", "n"), [(None, "1"), ([1, 1, 1, 1, 1], "1"), ([1, 1, 1, 1, 1.5], "1.5")]
)
def test_groups_of_few_pairs_are_drawn_and_said_to_be_few(weight, n):
    display = from_predictions(
        [0, 1, 0, 1, 1],
        [0.1, 0.7, 0.2, 0.6, 0.9],
        by=["many", "many", "many", "many", "few"],
        sample_weight=weight,
    )
    assert parts(display)["many"].error is not None
    assert parts(display)["few"].error is None
    assert titles(display)[1] == f"few, n = {n}\ntoo few for an error"
    assert display.line_[1].get_xydata().tolist() == [[0.9, 1]]
    assert display.to_dict()["few"]["error"] is None
    assert f"few, n = {n}, too few for an error" in repr(display)


@pytest.mark.filterwarnings(FEW)
def test_rows_of_one_dependent_group_are_too_few():
    display = from_predictions(
        [0, 1, 0, 1, 0, 1],
        [0.1, 0.7, 0.2, 0.6, 0.4, 0.5],
        by=["a", "a", "a", "a", "b", "b"],
        groups=[0, 0, 1, 1, 2, 2],
    )
    assert parts(display)["a"].error.n_groups == 2
    assert parts(display)["b"].error is None


def test_a_figure_of_the_users_own_needs_no_pyplot(y_true, y_proba, genre):
    whole = Figure(figsize=(9, 4), layout="constrained")
    left, right = whole.subfigures(1, 2)
    display = from_predictions(y_true, y_proba, by=genre, ax=left)
    again = from_predictions(y_true, y_proba, by="label", ax=right)
    assert display.figure_ is left
    assert len(left.axes) == 3
    assert again.name == [1]
    assert plt.get_fignums() == []
    whole.savefig(io.BytesIO())


def test_drawing_again_makes_another_figure_of_the_same_numbers(y_true, y_proba, genre):
    display = from_predictions(y_true, y_proba, by=genre)
    figure, numbers = display.figure_, display.to_dict()
    again = display.plot(max_panels=2, name="renamed", interval=None)
    assert again is display
    assert display.figure_ is not figure
    assert [title.split(",")[0] for title in titles(display)] == ["news", "web"]
    assert heading(display).startswith("renamed\nthe 2 most frequent of 3")
    assert display.to_dict() == numbers


# The numbers


def test_the_table_has_a_row_for_each_group_and_bin(y_true, y_proba, genre):
    display = from_predictions(y_true, y_proba, by=genre, bin_size=30, max_panels=1)
    table = display.frame()
    assert table.columns[0] == "group"
    assert "name" not in table
    for group, curve in zip(display.name, display.curve, strict=True):
        rows = table[table["group"] == group]
        alone = ReliabilityDisplay(curve=curve).frame().drop(columns="name")
        pd.testing.assert_frame_equal(
            rows.drop(columns="group").reset_index(drop=True), alone
        )


# What is refused


def test_parameters_that_make_no_sense_are_refused(y_true, y_proba, genre):
    cases = [
        ({"by": "genre"}, ValueError, "'by' parameter .* 'label' or .* Got 'genre'"),
        ({"by": 3}, TypeError, "'by' parameter .* Got int"),
        ({"by": ["a", "b"]}, ValueError, "'by' .* each of the 600 samples. Got 2"),
        ({"by": ["a"] * 7 + [None] * 593}, ValueError, "'by' .* Got None in row 7"),
        ({"by": np.ones((N, 2))}, ValueError, "'by' parameter .* one-dimensional"),
        ({"y_proba": [y_proba] * 2}, ValueError, "'by' .* of one model. Got 2 models"),
        ({"y_proba": [50] * N}, ValueError, "'y_proba' .* divided by 100"),
        ({"multi_class": "class_wise"}, ValueError, "'multi_class' .*'top_label'"),
        ({"sample_weight": [1, 2]}, ValueError, "'sample_weight' parameter"),
        ({"groups": [1, 2]}, ValueError, "'groups' parameter"),
        ({"confidence_level": 95}, ValueError, "'confidence_level' parameter"),
        ({"bin_size": 20, "n_bins": 3}, ValueError, "'bin_size' or 'n_bins', not both"),
        ({"max_panels": 0}, ValueError, "'max_panels' parameter .* at least 1"),
        ({"max_panels": 2.0}, TypeError, "'max_panels' parameter"),
        ({"n_columns": 0}, ValueError, "'n_columns' parameter .* at least 1"),
        ({"interval": "exact"}, ValueError, "'interval' parameter"),
    ]
    for params, error, message in cases:
        with case(message):
            with pytest.raises(error, match=message):
                from_predictions(
                    **{"y_true": y_true, "y_proba": y_proba, "by": genre, **params}
                )
            assert plt.get_fignums() == []


def test_only_an_empty_figure_is_drawn_on(y_true, y_proba, genre):
    figure = Figure()
    ax = figure.subplots()
    with pytest.raises(ValueError, match="'ax' .* must be empty.* clear"):
        from_predictions(y_true, y_proba, by=genre, ax=figure)
    with pytest.raises(TypeError, match="'ax' .* Figure or SubFigure.* Got Axes"):
        from_predictions(y_true, y_proba, by=genre, ax=ax)


def test_the_old_name_draws_the_same_panels(y_true, y_proba, genre, tagged):
    with pytest.warns(FutureWarning, match=r"removed in version 0\.13.* with by="):
        from skcalib.plot import ReliabilityPanelsDisplay
    figure = Figure()
    old = ReliabilityPanelsDisplay.from_predictions(
        y_true, y_proba, by=genre, fig=figure, bin_size=30
    )
    new = from_predictions(y_true, y_proba, by=genre, bin_size=30)
    assert old.to_dict() == new.to_dict()
    assert titles(old) == titles(new)
    assert dict(zip(new.name, figure.axes, strict=True)) == old.axes_
    for group, one in old.displays.items():
        same(new, group, one)
    old = ReliabilityPanelsDisplay.from_estimator(*tagged)
    assert sorted(old.displays) == sorted(tagged[0].classes_)
    X, y = load_iris(return_X_y=True)
    keep = {"return_estimator": True, "return_indices": True}
    results = cross_validate(GaussianNB(), X, y, **keep)
    old = ReliabilityPanelsDisplay.from_cv_results(results, X, y)
    assert sorted(old.displays) == [0, 1, 2]


def test_a_weight_that_is_lost_to_rounding_is_none(y_true, y_proba, genre):
    weight = np.r_[1e-20, np.ones(N - 1)]
    found = from_predictions(y_true, y_proba, by=genre, sample_weight=weight)
    weight[0] = 0
    expected = from_predictions(y_true, y_proba, by=genre, sample_weight=weight)
    assert found.to_dict() == expected.to_dict()


def test_the_tag_of_commas_is_quoted_in_a_title():
    y, q = np.arange(200) % 2, np.full(200, 0.5)
    display = ReliabilityDisplay.from_predictions(y, q, by=[",", "NN"] * 100)
    titles = {ax.get_title().split(" = ")[0] for ax in display.ax_}
    assert titles == {'",", n', "NN, n"}
