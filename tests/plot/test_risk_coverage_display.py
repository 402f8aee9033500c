"""RiskCoverageDisplay: the numbers that it holds and the artists that it draws."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn import names_of
from matplotlib.colors import to_rgba
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB

from skcalib import HMMTagger
from skcalib.datasets import make_tagged_sentences
from skcalib.metrics import confidence_ranking
from skcalib.plot import RiskCoverageDisplay
from skcalib.rates import threshold_for_precision


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(0)
    confidence = rng.beta(4, 1, 300)
    return rng.random(300) < confidence, confidence


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return GaussianNB().fit(X[:, :2], y), X[:, :2], y


def legend(ax):
    return [" ".join(text.split()) for text in names_of(ax)]


def ends_of(band):
    """Return the lowest and the highest end of a drawn band at its right edge."""
    vertices = band.get_paths()[0].vertices
    at = vertices[vertices[:, 0] == vertices[:, 0].max(), 1]
    return at.min(), at.max()


def test_the_curve_and_its_band_are_those_of_confidence_ranking(answers):
    ranking = confidence_ranking(*answers)
    display = RiskCoverageDisplay.from_predictions(*answers, name="model")
    x, y = display.line_.get_data()
    assert x.tolist() == ranking.coverage.tolist()
    assert y.tolist() == ranking.risk.tolist()
    assert ends_of(display.band_) == (ranking.risk_low[-1], ranking.risk_high[-1])
    assert ranking.risk[-1] == pytest.approx(1 - answers[0].mean())
    auroc = ranking.auroc
    expected = f"model: AUROC {auroc:.3f} [{auroc.low:.3f}, {auroc.high:.3f}]"
    assert legend(display.ax_) == [expected]
    assert repr(display) == f"RiskCoverageDisplay({expected})"
    assert display.mark_ is None
    assert display.threshold is None


def test_the_simultaneous_band_is_wider_and_no_band_can_be_chosen(answers):
    ranking = confidence_ranking(*answers)
    display = RiskCoverageDisplay(curve=ranking).plot(band="simultaneous")
    low, high = ends_of(display.band_)
    assert low < ranking.risk_low[-1]
    assert high > ranking.risk_high[-1]
    assert display.plot(band=None).band_ is None
    with pytest.raises(ValueError, match="'band'.*'pointwise', 'simultaneous'. Got"):
        display.plot(band="both")


def test_several_confidences_of_the_same_answers(answers):
    y, confidence = answers
    several = {"good": confidence, "rounded": confidence.round(1)}
    fig, ax = plt.subplots()
    display = RiskCoverageDisplay.from_predictions(y, several, ax=ax)
    assert display.figure_ is fig
    assert [each.auroc for each in display.curve] == [
        confidence_ranking(y, each).auroc for each in several.values()
    ]
    assert [text.split(":")[0] for text in legend(ax)] == ["good", "rounded"]
    assert len(display.line_) == len(display.band_) == 2
    read = json.loads(json.dumps(display.to_dict()))
    assert read["rounded"]["n"] == 300
    frame = display.frame()
    assert [*frame.columns] == ["name", "coverage", "risk", "risk_low", "risk_high"]
    assert (frame.groupby("name").size() == 200).all()


def test_uncertainties_are_drawn_like_negated_confidences(answers):
    y, confidence = answers
    display = RiskCoverageDisplay.from_predictions(
        y, -confidence, higher_is_confident=False, groups=np.arange(300) // 3
    )
    expected = confidence_ranking(y, confidence, groups=np.arange(300) // 3)
    assert display.curve.to_dict() == expected.to_dict()


def test_the_threshold_for_a_precision_is_marked(answers):
    y, confidence = answers
    display = RiskCoverageDisplay.from_predictions(
        y, {"a": confidence, "b": confidence**2}, precision=0.85
    )
    for values, line, mark, threshold in zip(
        (confidence, confidence**2),
        display.line_,
        display.mark_,
        display.threshold,
        strict=True,
    ):
        expected = threshold_for_precision(y, values, precision=0.85)
        assert threshold.to_dict() == expected.to_dict()
        (segment,) = mark.get_segments()
        assert segment[:, 0].tolist() == [expected.share_selected] * 2
        assert segment[:, 1] == pytest.approx([0, 0.15])
        assert to_rgba(line.get_color()) == tuple(mark.get_colors()[0])
    text = f"right if the confidence is at least {display.threshold[0].threshold:.3g}"
    assert f"at least 85% {text}" in legend(display.ax_)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sample_weight": np.ones(300)}, "'precision'.*Got 0.85 and sample_weight"),
        ({"higher_is_confident": False}, "'precision'.*higher_is_confident=False"),
        ({"precision": 0.999}, "'precision'.*can be shown to reach"),
        ({"precision": 1.5}, "'precision'.*between 0 and 1"),
    ],
)
def test_a_threshold_that_does_not_exist_raises_an_error(answers, given, message):
    given = {"precision": 0.85, **given}
    with pytest.raises(ValueError, match=message):
        RiskCoverageDisplay.from_predictions(*answers, **given)


def test_the_most_probable_class_of_a_classifier_is_the_answer(iris):
    model, X, y = iris
    right, proba = model.predict(X) == y, model.predict_proba(X).max(axis=1)
    display = RiskCoverageDisplay.from_estimator(model, X, y, precision=0.7)
    assert display.curve.to_dict() == confidence_ranking(right, proba).to_dict()
    assert display.threshold == threshold_for_precision(right, proba, precision=0.7)
    groups = np.arange(y.size) % 30
    display = RiskCoverageDisplay.from_estimator({"a": model}, X, y, groups=groups)
    expected = confidence_ranking(right, proba, groups=groups)
    assert display.curve.to_dict() == expected.to_dict()


def test_the_answers_of_a_sentence_are_a_group():
    X, y = make_tagged_sentences(60, random_state=0)
    tagger = HMMTagger().fit(X[:20], y[:20])
    display = RiskCoverageDisplay.from_estimator(tagger, X[20:], y[20:])
    assert display.curve.n_groups == 40
    assert display.curve.n == sum(map(len, y[20:]))
    tags = tagger.predict_marginals(X[20:])
    right = [
        tagger.classes_[row.argmax()] == tag
        for rows, sentence in zip(tags, y[20:], strict=True)
        for row, tag in zip(rows, sentence, strict=True)
    ]
    assert display.curve.accuracy == pytest.approx(np.mean(right))


def test_a_sentence_of_weight_3_is_three_sentences():
    X, y = make_tagged_sentences(60, random_state=0)
    tagger = HMMTagger(1.0).fit(X[:20], y[:20])
    weight = np.arange(40) % 4
    rows = np.repeat(np.arange(20, 60), weight)
    found = RiskCoverageDisplay.from_estimator(
        tagger, X[20:], y[20:], sample_weight=weight
    ).curve
    repeated = RiskCoverageDisplay.from_estimator(
        tagger, [X[i] for i in rows], [y[i] for i in rows]
    ).curve
    for name in ("accuracy", "auroc", "aurc", "excess_aurc"):
        one, other = getattr(found, name), getattr(repeated, name)
        for end in ("low", "high"):
            assert getattr(one, end) == pytest.approx(getattr(other, end), rel=1e-9)
    for name in ("risk", "risk_low", "risk_high"):
        # Rounding errors of repeated sentences divide ties of the confidence.
        both = getattr(found, name), getattr(repeated, name)
        np.testing.assert_allclose(*both, atol=1e-3)
    other = HMMTagger(1.0).fit(X[:20], y[:20])
    pairs = [
        RiskCoverageDisplay.from_estimator([tagger, other], *data, **weights).curve
        for data, weights in (
            ((X[20:], y[20:]), {"sample_weight": weight}),
            (([X[i] for i in rows], [y[i] for i in rows]), {}),
        )
    ]
    (a, b), (c, d) = pairs
    assert a.compare(b).to_dict() == pytest.approx(c.compare(d).to_dict(), rel=1e-6)


def test_out_of_fold_predictions_are_one_curve_or_one_per_fold(iris):
    _, X, y = iris
    results = cross_validate(
        GaussianNB(), X, y, cv=3, return_estimator=True, return_indices=True
    )
    display = RiskCoverageDisplay.from_cv_results(results, X, y)
    assert display.curve.n == y.size
    right = np.empty(y.size, dtype=bool)
    for model, test in zip(
        results["estimator"], results["indices"]["test"], strict=True
    ):
        right[test] = model.predict(X[test]) == y[test]
    assert display.curve.accuracy == pytest.approx(right.mean())
    folds = RiskCoverageDisplay.from_cv_results(results, X, y, by_fold=True)
    assert [each.n for each in folds.curve] == [50, 50, 50]


def test_other_curves_raise_an_error(answers):
    with pytest.raises(TypeError, match="'curve'.*must be a ConfidenceRanking"):
        RiskCoverageDisplay(curve=0.5).plot()
    ranking = confidence_ranking(*answers)
    with pytest.raises(ValueError, match="'threshold'.*each of the 2 curves. Got 1"):
        RiskCoverageDisplay(
            curve=[ranking, ranking],
            threshold=threshold_for_precision(*answers, precision=0.8),
        ).plot()
