"""DocumentDisplay: the numbers that it holds and what it draws of them."""

import json

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skcalib import AntecedentRanker, SampledCorefPairs, TemperatureScaling
from skcalib.coref import AntecedentFeatures
from skcalib.datasets import make_coref_documents
from skcalib.documents import Document, Mention, Sentence
from skcalib.plot import DocumentDisplay
from skcalib.posteriors import AntecedentPosterior

from_posterior = DocumentDisplay.from_posterior

SENTENCES = [
    Sentence(["Ada", "saw", "the", "king", "of", "Bo", "."]),
    Sentence(["She", "left", "him", "$", "5", "."]),
]
MENTIONS = [
    Mention(0, 1),
    Mention(2, 6),
    Mention(5, 6),
    Mention(7, 8),
    Mention(9, 10),
]
TOY = Document("toy_$1$", None, SENTENCES, MENTIONS, range(5))
PROBA = np.array(
    [
        [1.0, 0, 0, 0, 0],
        [0.25, 0.75, 0, 0, 0],
        [0.0, 0.125, 0.875, 0, 0],
        [0.5, 0.25, 0.13, 0.12, 0],
        [0.0, 0.5, 0.13, 0.25, 0.12],
    ]
)
TRUE = ["a", "b", "c", "a", "c"]


def posterior(proba=PROBA):
    with np.errstate(divide="ignore"):
        return AntecedentPosterior([np.log(proba)])


@pytest.fixture
def display():
    return from_posterior(TOY, posterior(), y_true=TRUE)


@pytest.fixture(scope="module")
def generated():
    X, y, scores = make_coref_documents(
        30, mean_mentions=60, return_scores=True, random_state=0
    )
    return X, y, AntecedentPosterior(scores)


# The numbers, by hand


def test_the_words(display):
    assert display.mention == ["Ada", "the king of Bo", "Bo", "She", "him"]
    assert display.before == ["", "Ada saw", "Ada saw the king of", "", "She left"]
    assert display.after == [
        "saw the king of Bo .",
        ".",
        ".",
        "left him $ 5 .",
        "$ 5 .",
    ]
    assert display.sentence.tolist() == [0, 0, 0, 1, 1]
    assert display.name == "toy_$1$"


def test_the_numbers_of_each_mention(display):
    """Best antecedents give {0 3}, {1 4}, {2}; 4 is wrong, its entity is that of 2."""
    found = display.to_dict()
    assert found["entity"] == [0, 1, 2, 0, 1]
    assert found["true_entity"] == [0, 1, 2, 0, 2]
    assert found["antecedent"] == [None, None, None, 0, 1]
    assert found["antecedent_proba"] == pytest.approx([1, 0.75, 0.875, 0.5, 0.5])
    assert found["new_proba"] == pytest.approx([1, 0.75, 0.875, 0.12, 0.12])
    # of 4: {1} .5, {0 3} .25, {2} .13, NEW .12
    assert found["uncertainty"] == pytest.approx([0, 0.25, 0.125, 0.5, 0.5])
    assert found["right"] == [True, True, True, True, False]
    assert found["true_proba"] == pytest.approx([1, 0.75, 0.875, 0.5, 0.13])
    json.dumps(found)


def test_uncertainty_adds_up_what_leads_to_one_entity():
    proba = PROBA.copy()
    proba[4] = [0.375, 0.25, 0, 0.25, 0.125]
    found = from_posterior(TOY, posterior(proba)).to_dict()
    assert found["entity"][4] == found["entity"][0] == found["entity"][3]
    assert found["uncertainty"][4] == pytest.approx(1 - 0.375 - 0.25)
    assert "right" not in found


def test_a_table_and_a_repr(display):
    frame = display.frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["antecedent"].isna().tolist() == [True, True, True, False, False]
    assert frame.shape == (5, len(display.to_dict()))
    assert repr(display) == "DocumentDisplay('toy_$1$', 5 mentions, 3 entities)"


def test_entities_may_be_those_of_another_decoding():
    display = from_posterior(TOY, posterior(), entity=["x", "y", "y", "x", "x"])
    assert display.to_dict()["entity"] == [0, 1, 1, 0, 0]
    assert display.to_dict()["uncertainty"][4] == pytest.approx(1 - 0.5 - 0.13)


# Models


def test_estimators_are_seen_through():
    X, y = make_coref_documents(30, mean_mentions=8, random_state=0)
    pipe = make_pipeline(AntecedentFeatures(2**12), AntecedentRanker(0.1))
    long = make_pipeline(*pipe, SampledCorefPairs(method="exact", decoding="mbr"))
    for model in (
        pipe,
        long,
        GridSearchCV(pipe, {}, cv=2),
        TemperatureScaling(pipe, cv=2),
    ):
        model.fit(X[1:], y[1:])
        display = DocumentDisplay.from_estimator(model, X[0], y_true=y[0])
        entity = np.asarray(model.predict(X[:1])[0])
        found = np.asarray(display.entity)
        assert (np.equal.outer(found, found) == np.equal.outer(entity, entity)).all()
    expected = model.posterior(X[:1]).antecedent_proba()[0]
    np.testing.assert_array_equal(display.proba, expected)


# The drawing


def segments(display):
    """Return the widths and colours of the bars of each row."""
    found = {}
    unit = 0.79 - 0.66
    for patch in display.bar_:
        row = round(patch.get_y() + patch.get_height() / 2)
        part = (patch.get_width() / unit, patch.get_facecolor())
        found.setdefault(row, []).append(part)
    return found


def test_arcs_are_the_probable_links(display):
    # above .1: 1-0, 2-1, 3-0, 3-1, 3-2, 4-1, 4-2, 4-3
    paths = display.arc_.get_paths()
    ends = sorted((int(p.vertices[0, 1]), int(p.vertices[-1, 1])) for p in paths)
    assert ends == [(1, 0), (2, 1), (3, 0), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3)]
    widths = np.array(display.arc_.get_linewidths())
    alphas = display.arc_.get_edgecolors()[:, 3]
    assert (np.diff(widths) >= 0).all()  # the most probable on top
    assert widths.max() == pytest.approx(0.4 + 2.4 * 0.5)
    assert alphas.max() == pytest.approx(0.15 + 0.85 * 0.5)
    few = display.plot(min_proba=0.4)
    assert len(few.arc_.get_paths()) == 2


def test_bars_divide_the_probability(display):
    found = segments(display)
    assert sorted(found) == [0, 1, 2, 3, 4]
    for row, parts in found.items():
        assert sum(width for width, _ in parts) == pytest.approx(1)
        assert parts[0][0] == pytest.approx(PROBA[row, row])
        assert parts[0][1] == to_rgba("white")
    # of 4: its entity {1 4} first, then {0 3}; {2} is one mention only
    (_, (best, blue), (second, other), (rest, grey)) = found[4]
    assert (best, second, rest) == pytest.approx((0.5, 0.25, 0.13))
    assert blue == to_rgba(display.mention_[1].get_color())
    assert other == to_rgba(display.mention_[0].get_color())
    assert grey == to_rgba("0.75")


def test_colours_are_entities(display):
    color = [to_rgba(text.get_color()) for text in display.mention_]
    assert color[0] == color[3]
    assert color[1] == color[4]
    assert len(set(color)) == 3
    assert color[2] == to_rgba("0.35")


def test_what_is_uncertain_is_bold_and_what_is_wrong_is_said(display):
    bold = [text.get_fontweight() == "bold" for text in display.choice_]
    assert bold == [False, True, False, True, True]
    said = [text.get_text() for text in display.choice_]
    assert said[0] == "NEW 1.00"
    assert said[3] == "0 .50  1 .25  2 .13"
    assert said[4] == "1 .50  3 .25  2 .13"
    texts = [text.get_text() for text in display.ax_.texts]
    assert [t for t in texts if t.startswith("true")] == ["true: 2 .13"]
    sure = display.plot(uncertain=0.6)
    assert not any(text.get_fontweight() == "bold" for text in sure.choice_)


def test_dollars_are_no_mathematics(display):
    assert display.ax_.get_title(loc="left") == r"toy_\$1\$: 5 mentions"
    display.figure_.canvas.draw()


def test_a_part_of_a_long_document(generated):
    X, y, many = generated
    display = from_posterior(X[0], many[:1], y_true=y[0])
    assert len(display.mention) > 40
    assert display.shown_.tolist() == list(range(40))
    n = len(display.mention)
    assert f"mentions 0 to 39 of {n}" in display.ax_.get_title(loc="left")
    display.plot(mentions=(10, 15))
    assert display.shown_.tolist() == [10, 11, 12, 13, 14]
    # a link to what is not shown ends above the first row
    ends = [path.vertices[-1, 1] for path in display.arc_.get_paths()]
    assert min(ends) == -1
    display.plot(sentences=(3, 5))
    assert display.shown_.tolist() == [6, 7, 8, 9]
    display.plot(sentences=(3, 9), mentions=(8, 20), max_mentions=3)
    assert display.shown_.tolist() == [8, 9, 10]
    assert len(display.mention_) == len(display.choice_) == 3


@pytest.mark.parametrize("n", [20, pytest.param(40, marks=pytest.mark.slow)])
def test_nothing_covers_anything_else(generated, n):
    """Words end before the bars, choices before the truth, and rows are apart."""
    X, y, many = generated
    display = from_posterior(X[1], many[1:2], y_true=y[1], max_mentions=n)
    figure = display.figure_
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    to_data = display.ax_.transData.inverted()
    for text in display.ax_.texts:
        box = text.get_window_extent(renderer).transformed(to_data)
        assert abs(box.height) < 1.05
        if text.get_position()[0] < 0.66 or text in display.mention_:
            assert box.x1 < 0.665
        assert box.x1 <= 1.001
        assert box.x0 >= -0.001


@pytest.mark.parametrize("context", [5, 7, 8, 30])
def test_long_words_are_cut_whatever_the_context(context):
    words = Sentence(["word" * 30] * 3)
    document = Document("d", None, [words], [Mention(0, 2), Mention(2, 3)], [0, 1])
    log_proba = AntecedentPosterior([[[0.0, 0.0], [0.0, 0.0]]])
    display = from_posterior(document, log_proba, context=context)
    for text in display.mention_:
        assert 5 <= len(text.get_text()) <= max(context, 35)
        assert text.get_text().endswith("…")


def test_a_long_name_ends_before_the_figure_does(display):
    display.name = "a document " * 40
    display.plot().figure_.canvas.draw()
    title = display.ax_.get_title(loc="left")
    assert title.endswith("…: 5 mentions")
    (box,) = (t.get_window_extent() for t in [display.ax_._left_title])
    assert box.x1 < display.figure_.bbox.x1


def test_one_mention_and_many_entities():
    words = Sentence(["it"])
    one = Document(None, None, [words], [Mention(0, 1)], [0])
    display = from_posterior(one, AntecedentPosterior([[[0.0]]]))
    assert display.ax_.get_title(loc="left") == "1 mention"
    assert display.arc_.get_paths() == []
    n = 50
    sentences = [Sentence(["it"])] * n
    many = Document(
        "m", None, sentences, [Mention(j, j + 1) for j in range(n)], range(n)
    )
    scores = np.full((n, n), -9.0) + 9 * np.eye(n)
    scores[np.triu_indices(n, 1)] = 0
    scores[np.arange(1, n, 2), np.arange(0, n, 2)] = 5  # twenty-five pairs
    display = from_posterior(many, AntecedentPosterior([scores]), max_mentions=50)
    assert len({to_rgba(text.get_color()) for text in display.mention_}) == 18


# What is refused


@pytest.mark.parametrize(
    ("args", "params", "error", "message"),
    [
        ((["toy"], posterior()), {}, TypeError, "'document' .* a Document. Got list"),
        (
            (Document("e"), posterior()),
            {},
            ValueError,
            "'document' .* at least one mention",
        ),
        ((TOY, PROBA), {}, ValueError, "an AntecedentPosterior of one document"),
        (
            (TOY, AntecedentPosterior([np.zeros((2, 2))] * 2)[:0]),
            {},
            ValueError,
            "of length 0",
        ),
        (
            (TOY, AntecedentPosterior([np.zeros((2, 2))])),
            {},
            ValueError,
            "a posterior of the 5 mentions of the document. Got a posterior of 2",
        ),
        ((TOY, posterior()), {"y_true": [0]}, ValueError, "'y_true' .* Got 1"),
        ((TOY, posterior()), {"entity": [0]}, ValueError, "'entity' .* Got 1"),
        ((TOY, posterior()), {"mentions": 3}, TypeError, r"'mentions' .*\(start, stop"),
        ((TOY, posterior()), {"mentions": (9, 12)}, ValueError, "from 0 to 5. Got"),
        (
            (TOY, posterior()),
            {"sentences": (1, 1)},
            ValueError,
            "'sentences' .* 0 to 2",
        ),
        (
            (TOY, posterior()),
            {"sentences": (0, 1), "mentions": (3, 5)},
            ValueError,
            "needs at least one mention to show",
        ),
        ((TOY, posterior()), {"max_mentions": 0}, ValueError, "'max_mentions'"),
        ((TOY, posterior()), {"min_proba": 0}, ValueError, "'min_proba'"),
        ((TOY, posterior()), {"uncertain": 1}, ValueError, "'uncertain'"),
        ((TOY, posterior()), {"context": 1}, ValueError, "'context'"),
        (
            (
                Document("x", None, SENTENCES[:1], MENTIONS, range(5)),
                posterior(),
            ),
            {},
            ValueError,
            "Mention 3 ends at 8, and the document has 7 words",
        ),
    ],
)
def test_bad_input_is_named(args, params, error, message):
    with pytest.raises(error, match=message) as raised:
        from_posterior(*args, **params)
    assert "DocumentDisplay" in str(raised.value)


def test_an_estimator_needs_a_posterior():
    with pytest.raises(TypeError, match="must have a posterior.* Got AntecedentFeatur"):
        DocumentDisplay.from_estimator(AntecedentFeatures(), TOY)
