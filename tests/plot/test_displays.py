"""What all displays have in common, as in scikit-learn's displays."""

import copy
import inspect
import io
import json
import pickle
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import RocCurveDisplay
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB

from skcalib import HMMTagger
from skcalib.datasets import (
    make_calibrated_pairs,
    make_coref_documents,
    make_tagged_sentences,
)
from skcalib.metrics import (
    adaptive_reliability_curve,
    bin_size_curve,
    calibration_error,
    calibration_error_interval,
)
from skcalib.plot import (
    BinSizeDisplay,
    DocumentDisplay,
    EventCountDisplay,
    ReliabilityDisplay,
    SignificanceDisplay,
    TagErrorDisplay,
)
from skcalib.posteriors import AntecedentPosterior
from skcalib.queries import ClassQuery, TagQuery

FEW = "ignore:.*(no test of perfect calibration|effective groups):UserWarning"

# A right-to-left override, an escape sequence, an isolate, and characters to keep.
NASTY = "a\u202eb\x1b[31m\u2066c\u2028 été שלום $x$"
SHOWN = "a\\u202eb\\x1b[31m\\u2066c\\u2028 été שלום $x$"


def pairs():
    return make_calibrated_pairs(300, k=0.1, random_state=0)


def reliability(name="model", **params):
    return ReliabilityDisplay.from_predictions(*pairs(), name=name, **params)


def panels(name="model", **params):
    by = np.where(np.arange(300) % 3, name, "other")
    return ReliabilityDisplay.from_predictions(*pairs(), by=by, **params)


def bin_size(name="model", **params):
    sizes = {"bin_sizes": [2, 10]}
    return BinSizeDisplay.from_predictions(*pairs(), name=name, **sizes, **params)


def tag_error(name="model", **params):
    X, y = make_tagged_sentences(60, random_state=0)
    taggers = {name: HMMTagger().fit(X, y)}
    return TagErrorDisplay.from_estimators(taggers, X, y, top=3, **params)


def significance(name="model", **params):
    gains = np.linspace(0.01, 1, 40)
    return SignificanceDisplay.from_pvalues(
        gains, 0.5 * np.exp(-5 * gains), kind=[name, "other"] * 20, **params
    )


def events(name="model", **params):
    values = {name: np.array([1.0, 3.0]), "other": np.array([2.0, 2.5])}
    high = {key: value + 1 for key, value in values.items()}
    numbers = {"mean": values, "low": values, "high": high, "map_count": values}
    return EventCountDisplay(period=["1990", "1991"], **numbers).plot(**params)


def document(name="model", **params):
    documents, _, scores = make_coref_documents(1, return_scores=True, random_state=0)
    posterior = AntecedentPosterior(scores)
    display = DocumentDisplay.from_posterior(documents[0], posterior, **params)
    display.name = name
    return display.plot(display.ax_)


MAKERS = [reliability, panels, bin_size, tag_error, significance, events, document]


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__)
def make(request):
    return request.param


def artists(display):
    """Return what is there only after drawing."""
    return {key for key in vars(display) if key.endswith("_") and key[0] != "_"}


def axes_of(display):
    return display.figure_.get_axes()


class Reader(HTMLParser):
    """Collect the text of each kind of element; tags must match."""

    def __init__(self, html):
        super().__init__()
        self.open, self.text = [], {"strong": [], "li": [], "p": []}
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag in self.text:
            self.text[tag].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text[self.open[-1]][-1] += data


# Every display


def test_a_display_is_drawn_and_holds_its_figure(make):
    display = make()
    assert display.figure_.get_axes()
    display.figure_.savefig(io.BytesIO())
    assert {"figure_"} < artists(display)


def test_drawing_returns_the_display(make):
    display = make()
    figure = display.figure_
    assert display.plot() is display
    assert display.figure_ is not figure


def test_the_numbers_do_not_depend_on_the_drawing(make):
    display = make()
    numbers = display.to_dict()
    display.plot()
    assert display.to_dict() == numbers


def test_to_dict_can_be_written_as_json(make):
    assert json.loads(json.dumps(make().to_dict()))


def test_the_frame_is_a_table(make):
    frame = make().frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) > 0


def test_a_frame_is_of_pandas_or_else_of_polars(make, monkeypatch):
    display = make()
    expected = display.frame()
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    found = pytest.importorskip("polars").DataFrame(display.frame())
    assert found.columns == list(expected)
    assert found.rows() == [
        tuple(None if pd.isna(each) else each for each in row)
        for row in expected.itertuples(index=False)
    ]
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    name = type(display).__name__
    with pytest.raises(ImportError, match=f"{name}.frame returns .*or use to_dict"):
        display.frame()


def test_a_notebook_shows_lines_and_what_they_mean(make):
    display = make("<b>")
    found = Reader(display._repr_html_()).text
    name = type(display).__name__
    assert found["strong"] == [name]
    assert repr(display) == f"{name}({'; '.join(found['li'])})"
    assert found["p"]
    assert all(sentence.endswith(".") for sentence in found["p"])


def test_displays_can_be_copied_and_pickled_before_they_are_drawn(make):
    display = make()
    for name in artists(display):
        delattr(display, name) if name not in vars(display) else vars(display).pop(name)
    for again in (copy.copy(display), pickle.loads(pickle.dumps(display))):
        assert again.to_dict() == display.to_dict()
        assert again.plot() is again


def test_axes_are_taken_without_pyplot(make):
    display = make()
    plt.close("all")
    if make is panels:
        figure = Figure()
        assert display.plot(figure).figure_ is figure
    else:
        ax = Figure().subplots()
        assert display.plot(ax).figure_ is ax.figure
    assert plt.get_fignums() == []


def test_what_is_no_axes_is_named(make):
    display = make()
    function = f"{type(display).__name__}.plot"
    with pytest.raises(TypeError, match=f"'ax' parameter of {function} must"):
        display.plot(3)


@pytest.mark.parametrize(
    "keyword", ["color", pytest.param("lw", marks=pytest.mark.slow)]
)
def test_a_style_as_a_keyword_is_told_its_place(make, keyword):
    display = make()
    message = rf"{type(display).__name__}.plot got an unexpected .*'{keyword}'"
    known = inspect.signature(display.plot).parameters
    if "kwargs" in known:  # any property of a line
        value = {"color": "red", "lw": 3}[keyword]
        for line in np.ravel(display.plot(**{keyword: value}).line_):
            assert plt.getp(line, keyword) == value
        return
    places = [name for name in known if name.endswith("_kwargs")]
    if places:
        message += rf".* passed as {places[0]}=\{{'{keyword}': 3\}}"
    else:
        message += r".* Its parameters are ax, "
    with pytest.raises(TypeError, match=message):
        display.plot(**{keyword: 3})
    if make is not events:  # the others have a constructor that draws
        with pytest.raises(TypeError, match=message):
            make(**{keyword: 3})


def test_an_unknown_keyword_is_told_the_known_ones(make):
    display = make()
    first = next(iter(inspect.signature(display.plot).parameters))
    with pytest.raises(TypeError, match=f"'colours'. Its parameters are {first}, "):
        display.plot(colours=3)


def test_characters_that_act_are_escaped(make):
    display = make(NASTY)
    display.figure_.canvas.draw()
    figure = display.figure_
    legends = [ax.get_legend() for ax in axes_of(display)] + figure.legends
    texts = [text.get_text() for ax in axes_of(display) for text in ax.texts]
    texts += [
        ax.get_title(loc) for ax in axes_of(display) for loc in ("left", "center")
    ]
    texts += [t.get_text() for each in legends if each for t in each.get_texts()]
    drawn = " ".join("\n".join(texts).replace(r"\$", "$").split())
    assert "\u202e" not in drawn
    assert "\x1b" not in drawn
    assert "\u2066" not in drawn
    assert "a\\u202eb\\x1b[31m\\u2066c\\u2028" in drawn
    shown = repr(display) + display._repr_html_()
    assert not any(character in shown for character in "\u202e\u2066\x1b\u2028")


def test_other_characters_are_shown_as_they_are():
    curve = adaptive_reliability_curve(*pairs())
    for name, shown in ((NASTY, SHOWN), ("👩\u200d🚀", "👩\u200d🚀")):
        display = ReliabilityDisplay(curve=curve, name=name)
        assert repr(display) == f"ReliabilityDisplay({shown})"
        assert list(display.to_dict()) == [name]


# Constructors

WITH_ESTIMATORS = [BinSizeDisplay, ReliabilityDisplay]
FROM = ("from_estimator", "from_predictions", "from_cv_results")
CONSTRUCTORS = [
    getattr(display, method)
    for display in WITH_ESTIMATORS
    for method in FROM
    if hasattr(display, method)
]


@pytest.mark.parametrize("constructor", CONSTRUCTORS, ids=lambda c: c.__qualname__)
def test_constructors_take_the_same_parameters(constructor):
    known = inspect.signature(constructor).parameters
    expected = {"pos_label", "multi_class", "groups", "sample_weight", "name"}
    expected |= {"plot_params", "ax"}
    expected |= {"labels"} if "predictions" in constructor.__name__ else {"query"}
    assert expected <= set(known)
    keywords = [p for p in known.values() if p.default is not p.empty]
    assert all(p.kind == p.KEYWORD_ONLY for p in keywords)


def test_positions_are_those_of_scikit_learn():
    for method in FROM:
        theirs = inspect.signature(getattr(RocCurveDisplay, method)).parameters
        # the oldest supported version ends with **kwargs
        positional = [n for n, p in theirs.items() if p.kind == p.POSITIONAL_OR_KEYWORD]
        ours = inspect.signature(getattr(ReliabilityDisplay, method)).parameters
        found = [n for n, p in ours.items() if p.kind == p.POSITIONAL_OR_KEYWORD]
        expected = ["y_true", "y_proba"] if "pred" in method else positional
        assert found == expected


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    models = [
        GaussianNB().fit(X[:200], y[:200]),
        LogisticRegression(max_iter=10_000).fit(X[:200], y[:200]),
    ]
    return models, X[200:], y[200:]


@pytest.fixture(scope="module")
def wide(cancer):
    """Cross-validation of two models on three classes."""
    X, y = load_iris(return_X_y=True)
    X = X[:, :2]
    keep = {"return_estimator": True, "return_indices": True}
    models = {"bayes": GaussianNB(), "line": LogisticRegression(max_iter=1000)}
    return {k: cross_validate(m, X, y, **keep) for k, m in models.items()}, X, y


def error_of(display):
    return display.error.estimate


def test_the_positive_class_of_an_estimator(cancer):
    (model, _), X, y = cancer
    display = ReliabilityDisplay.from_estimator(model, X, y, pos_label=0)
    q = model.predict_proba(X)[:, 0]
    assert display.error == calibration_error_interval(y == 0, q)
    sizes = BinSizeDisplay.from_estimator(model, X, y, pos_label=0, bin_sizes=[30])
    expected = calibration_error(y == 0, q, bin_size=30)
    assert sizes.curve.plug_in.tolist() == pytest.approx([expected])
    each = ReliabilityDisplay.from_estimator(model, X, y, pos_label=0, by="label")
    assert each.name == [0]
    assert each.error == [display.error]


def test_the_classes_of_an_estimator(wide):
    _, X, y = wide
    model = GaussianNB().fit(X, y)
    proba = model.predict_proba(X)
    display = ReliabilityDisplay.from_estimator(model, X, y, multi_class="top_label")
    expected = calibration_error_interval(y, proba, multi_class="top_label")
    assert error_of(display) == pytest.approx(expected.estimate)
    top = {"multi_class": "top_label"}
    each = ReliabilityDisplay.from_estimator(model, X, y, by="label", **top)
    assert sorted(each.name) == np.unique(proba.argmax(axis=1)).tolist()
    sizes = BinSizeDisplay.from_estimator(model, X, y, bin_sizes=[30], **top)
    curve = bin_size_curve(y, proba, bin_sizes=[30], **top)
    np.testing.assert_allclose(sizes.curve.plug_in, curve.plug_in)


@pytest.mark.parametrize("weighted", [False, True])
def test_groups_of_dependent_samples(cancer, weighted):
    (model, _), X, y = cancer
    groups = np.arange(len(y)) // 4
    weight = np.arange(len(y)) % 3 if weighted else None
    data = {"groups": groups, "sample_weight": weight}
    q = model.predict_proba(X)[:, 1]
    display = ReliabilityDisplay.from_estimator(model, X, y, **data)
    expected = calibration_error_interval(y, q, **data)
    assert display.error.n_groups == expected.n_groups
    for part in ("estimate", "low", "high", "p_value"):
        found = getattr(display.error, part)
        assert found == pytest.approx(getattr(expected, part))
    sizes = BinSizeDisplay.from_estimator(model, X, y, bin_sizes=[40], **data)
    curve = bin_size_curve(y, q, bin_sizes=[40], debias=True, **data)
    np.testing.assert_allclose(sizes.curve.debiased_square, curve.debiased_square)
    by = np.where(np.arange(len(y)) % 8 < 4, "a", "b")
    each = ReliabilityDisplay.from_estimator(model, X, y, by=by, **data)
    for name, error in zip(each.name, each.error, strict=True):
        rows = by == name
        alone = ReliabilityDisplay.from_predictions(
            y[rows],
            q[rows],
            groups=groups[rows],
            sample_weight=weight[rows] if weighted else None,
        )
        assert error.n_groups == alone.error.n_groups
        assert error.estimate == pytest.approx(error_of(alone))


def test_groups_of_samples_that_give_several_pairs(wide):
    _, X, y = wide
    model, groups = GaussianNB().fit(X, y), np.arange(len(y)) // 5
    display = ReliabilityDisplay.from_estimator(model, X, y, groups=groups)
    proba = model.predict_proba(X)
    expected = ReliabilityDisplay.from_predictions(y, proba, groups=groups)
    assert display.error.n_groups == expected.error.n_groups == 30
    assert error_of(display) == pytest.approx(error_of(expected))


@pytest.mark.filterwarnings(FEW)
def test_options_of_held_out_answers(wide):
    (bayes, _), X, y = list(wide[0].values()), *wide[1:]
    groups = np.arange(len(y)) // 5
    held_out = bayes["indices"]["test"]
    q = np.empty((len(y), 3))
    for model, test in zip(bayes["estimator"], held_out, strict=True):
        q[test] = model.predict_proba(X[test])
    one = ReliabilityDisplay.from_cv_results(bayes, X, y, pos_label=1, groups=groups)
    expected = calibration_error_interval(y == 1, q[:, 1], groups=groups)
    assert one.error.n_groups == 30
    assert error_of(one) == pytest.approx(expected.estimate)
    top = {"multi_class": "top_label"}
    best = ReliabilityDisplay.from_cv_results(bayes, X, y, **top)
    expected = calibration_error_interval(y, q, **top)
    assert error_of(best) == pytest.approx(expected.estimate)
    top |= {"by": "label", "groups": groups}
    each = ReliabilityDisplay.from_cv_results(bayes, X, y, **top)
    assert sorted(each.name) == np.unique(q.argmax(axis=1)).tolist()


@pytest.mark.parametrize("display", WITH_ESTIMATORS)
def test_a_query_has_its_own_options(cancer, display):
    (model, _), X, y = cancer
    message = (
        f"{display.__name__}.from_estimator takes 'query' or 'pos_label', not both"
    )
    with pytest.raises(ValueError, match=message):
        display.from_estimator(model, X, y, query=ClassQuery(), pos_label=0)
    with pytest.raises(ValueError, match="'multi_class' parameter of .*'class_wise'"):
        display.from_estimator(model, X, y, multi_class="class_wise")


def test_a_tagger_has_no_positive_class():
    X, y = make_tagged_sentences(20, random_state=0)
    tagger = HMMTagger().fit(X, y)
    with pytest.raises(
        ValueError, match="'pos_label'.* Pass a TagQuery (with|as) 'query'"
    ):
        ReliabilityDisplay.from_estimator(tagger, X, y, pos_label="NN")


# Several models


@pytest.mark.parametrize("display", [BinSizeDisplay, ReliabilityDisplay])
def test_several_estimators_have_a_curve_each(cancer, display):
    models, X, y = cancer
    first, second = (display.from_estimator(model, X, y) for model in models)
    both = display.from_estimator(models, X, y)
    assert both.name == ["GaussianNB", "LogisticRegression"]
    by_name = display.from_estimator({"a": models[0], "b": models[1]}, X, y)
    assert by_name.name == list(by_name.to_dict()) == ["a", "b"]
    named = display.from_estimator(tuple(models), X, y, name=["x", "y"])
    assert named.name == ["x", "y"]
    alone = [*first.to_dict().values(), *second.to_dict().values()]
    for several in (both, by_name, named):
        assert len(several.curve) == len(several.line_) == 2
        assert list(several.to_dict().values()) == alone


@pytest.mark.parametrize("display", [BinSizeDisplay, ReliabilityDisplay])
def test_several_probabilities_may_be_a_list(display):
    y, q = pairs()
    both = display.from_predictions(y, [q, q**2])
    assert both.name == [None, None]
    named = display.from_predictions(y, [q, q**2], name=["a", "b"])
    mapped = display.from_predictions(y, {"a": q, "b": q**2})
    assert named.to_dict() == mapped.to_dict()
    assert list(both.to_dict().values()) == list(mapped.to_dict().values())


@pytest.mark.filterwarnings(FEW)
def test_a_list_of_rows_is_one_matrix():
    y = [0, 1, 2]
    proba = [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]
    square = ReliabilityDisplay.from_predictions(y, proba)
    assert square.curve.n_pairs == 9
    rows = ReliabilityDisplay.from_predictions(y * 2, proba * 2)
    assert rows.curve.n_pairs == 18
    flat = ReliabilityDisplay.from_predictions([0, 1], [0.2, 0.9])
    assert flat.curve.n_pairs == 2


def test_several_cross_validations_have_a_curve_each(wide):
    results, X, y = wide
    both = ReliabilityDisplay.from_cv_results(results, X, y)
    assert both.name == ["bayes", "line"]
    for name, one in results.items():
        alone = ReliabilityDisplay.from_cv_results(one, X, y)
        assert list(alone.to_dict().values()) == [both.to_dict()[name]]


def test_several_taggers_may_be_a_list():
    X, y = make_tagged_sentences(60, random_state=0)
    tagger = HMMTagger().fit(X, y)
    display = TagErrorDisplay.from_estimators([tagger, tagger], X, y, top=2)
    assert list(display.error) == ["HMMTagger", "1"]


@pytest.mark.filterwarnings(FEW)
def test_dependent_sentences_widen_the_errors_of_tags():
    X, y = make_tagged_sentences(60, random_state=0)
    tagger, groups = HMMTagger().fit(X, y), np.arange(60) // 6
    display = TagErrorDisplay.from_estimators([tagger], X, y, top=1, groups=groups)
    (tag,) = display.label
    alone = ReliabilityDisplay.from_estimator(
        tagger, X, y, query=TagQuery(tag), groups=groups
    )
    (found,) = display.error["HMMTagger"]["all"]
    assert found.n_groups == alone.error.n_groups == 10
    assert found.high == pytest.approx(alone.error.high)


@pytest.mark.parametrize("display", [BinSizeDisplay, ReliabilityDisplay])
def test_models_and_names_must_match(cancer, display):
    models, X, y = cancer
    with pytest.raises(ValueError, match="'estimator' parameter .* empty"):
        display.from_estimator([], X, y)
    with pytest.raises(ValueError, match="a name for each of the 2 models. Got 'a'"):
        display.from_estimator(models, X, y, name="a")
    with pytest.raises(TypeError, match="must be a str; for several models pass a map"):
        display.from_estimator(models[0], X, y, name=["a"])


def test_a_single_entry_is_seen_as_itself_and_several_as_a_list():
    y, q = pairs()
    curve = adaptive_reliability_curve(y, q)
    for one in (curve, [curve], (curve,)):
        display = ReliabilityDisplay(curve=one, name="a").plot()
        assert display.curve is curve
        assert display.name == "a"
        assert not isinstance(display.line_, list)
    two = ReliabilityDisplay(curve=(curve, curve)).plot()
    assert two.curve == [curve, curve]
    assert two.name == [None, None]
    assert len(two.line_) == 2
    with pytest.raises(AttributeError, match="'ReliabilityDisplay' .* 'line_'"):
        _ = ReliabilityDisplay(curve=curve).line_


# What the numbers mean


def test_words_say_whether_zero_is_inside():
    y, q = make_calibrated_pairs(2000, random_state=0)
    good = ReliabilityDisplay.from_predictions(y, q, name="good")
    bad = ReliabilityDisplay.from_predictions(y, q**3)
    assert good.error.low == 0
    (sentence,) = good._in_words()
    assert " of good (root mean square, debiased) is " in sentence
    assert "interval [0.000, " in sentence
    assert sentence.endswith(
        "contains 0: the data do not rule out perfect calibration."
    )
    (sentence,) = bad._in_words()
    assert "does not contain 0" in sentence
    both = ReliabilityDisplay.from_predictions(
        np.r_[y, y], np.r_[q, q**3], by=["good"] * 2000 + ["bad"] * 2000
    )
    assert both._in_words()[0].startswith("1 of 2 groups have a calibration error")


def test_an_interval_that_is_open_at_zero_does_not_contain_it():
    y, q = pairs()
    error = calibration_error_interval(y, q)
    object.__setattr__(error, "low", np.finfo(float).eps)
    curve = adaptive_reliability_curve(y, q)
    (sentence,) = ReliabilityDisplay(curve=curve, error=error)._in_words()
    assert f"interval (0, {error.high:.3f}] does not contain 0" in sentence
    legend = ReliabilityDisplay(curve=curve, error=error).plot().line_.get_label()
    assert legend == f"debiased error {error.estimate:.3f} (0, {error.high:.3f}]"


def test_the_diagonal_may_be_left_out():
    display = reliability(ref_line=False)
    assert display.diagonal_ is None
    assert list(display.ax_.lines) == [display.line_]
    again = reliability(ax=display.ax_, ref_line=False)
    assert again.ax_.get_xlabel() == ""
    assert again.count_ax_.get_xlabel() == "Mean predicted probability"
    assert panels(ref_line=False).diagonal_ == [None, None]


def test_the_intervals_of_tags_are_not_behind_the_legend():
    X, y = make_tagged_sentences(60, random_state=0)
    tagger = HMMTagger().fit(X, y)
    display = TagErrorDisplay.from_estimators({"a": tagger, "b": tagger}, X, y)
    display.figure_.canvas.draw()
    box = display.ax_.get_legend().get_window_extent()
    assert box.y1 <= display.ax_.get_window_extent().y0
