"""Questions about dependency trees: which arcs and spans, and their probabilities."""

import numpy as np
import pytest

from skcalib.experimental import ArcQuery, SubtreeQuery, TreePosterior
from skcalib.metrics import calibration_error
from skcalib.scorers import make_query_scorer

# "the dog barks": dog is the head of the, barks of dog
SCORES = [[0, 0, 2, 0], [1, 0, 0, 3], [2, 0, 0, 0]]
GOLD = [2, 3, 0]


@pytest.fixture
def posterior():
    return TreePosterior([SCORES, np.zeros((0, 1)), [[0, 0]]])


GOLDS = [GOLD, [], [0]]


class TestArcs:
    def test_predicted_arcs_are_those_of_the_best_tree(self, posterior):
        answers = ArcQuery().from_posterior([[3, 3, 0], [], [0]], posterior)
        assert answers.groups.tolist() == [0, 0, 0, 2]
        assert answers.item.tolist() == [0, 1, 2, 0]
        assert answers.label.tolist() == [2, 3, 0, 0]
        assert answers.y_true.tolist() == [0, 1, 1, 1]
        proba = posterior.arc_marginals()[0]
        np.testing.assert_allclose(answers.y_proba[:3], proba[[0, 1, 2], [2, 3, 0]])

    def test_all_arcs_have_one_head_per_word(self, posterior):
        answers = ArcQuery(arcs="all").from_posterior(GOLDS, posterior)
        assert len(answers) == 3 * 3 + 1
        assert answers.y_true.sum() == 4
        assert answers.y_proba.sum() == pytest.approx(4)
        assert (answers.label != answers.item + 1).all()

    def test_probabilities_of_any_origin(self, posterior):
        answers = ArcQuery().from_proba(GOLDS, posterior.arc_marginals())
        other = ArcQuery().from_posterior(GOLDS, posterior)
        assert answers.to_dict() == other.to_dict()

    @pytest.mark.parametrize(
        ("proba", "message"),
        [
            ([np.zeros((2, 2))], "shape \\(2, 3\\) for sentence 0"),
            ([[[0, 0, 2], [0, 0, 0]]], "2.0 in sentence 0, row 0, column 2"),
            ([], "needs an entry of 'proba'"),
        ],
    )
    def test_wrong_probabilities(self, proba, message):
        with pytest.raises(ValueError, match=message):
            ArcQuery().from_proba([[2, 0]], proba)

    def test_other_posteriors_and_lengths(self, posterior):
        with pytest.raises(TypeError, match="TreePosterior"):
            ArcQuery().from_posterior(GOLDS, [1, 2, 3])
        with pytest.raises(ValueError, match="Sentence 2 has 2 heads and 1 words"):
            ArcQuery().from_posterior([GOLD, [], [0, 1]], posterior)


class TestSubtrees:
    def test_predicted_spans_are_constituents_of_the_best_tree(self, posterior):
        answers = SubtreeQuery().from_posterior([[3, 3, 0], [], [0]], posterior)
        assert answers.item.tolist() == [[0, 1], [0, 2]]
        assert answers.y_true.tolist() == [1, 0]
        (expected, *_) = posterior.subtree_marginals([[(0, 1), (0, 2)], [], []])
        np.testing.assert_allclose(answers.y_proba, expected)

    def test_subtrees_with_gaps_are_not_spans(self):
        # word 3 depends on word 1 across the root
        gap = np.full((4, 5), -5.0)
        gap[[0, 1, 2, 3], [2, 0, 1, 2]] = 5
        answers = SubtreeQuery().from_posterior([[2, 0, 1, 2]], TreePosterior([gap]))
        assert answers.item.tolist() == [[2, 3], [3, 4]]
        assert answers.y_true.tolist() == [1, 1]

    def test_all_spans_up_to_a_length(self, posterior):
        query = SubtreeQuery(spans="all", min_length=2, max_length=3)
        answers = query.from_posterior(GOLDS, posterior)
        assert answers.item.tolist() == [[0, 2], [1, 3]]
        assert answers.y_true.tolist() == [1, 0]

    def test_shares_of_samples_are_probabilities(self, posterior):
        given = [[(0, 1, 0.9), (0, 3, 1.0)], [], []]
        answers = SubtreeQuery().from_proba(GOLDS, given)
        assert answers.item.tolist() == [[0, 1]]
        assert answers.y_proba.tolist() == [0.9]

    @pytest.mark.parametrize(
        "row", [(0, 4, 0.5), (1, 1, 0.5), (0, 1, 1.5), (0, 1), "abc"]
    )
    def test_wrong_rows(self, row):
        with pytest.raises(ValueError, match="span 0 of sentence 0"):
            SubtreeQuery().from_proba([GOLD], [[row]])

    def test_all_spans_need_a_length(self):
        with pytest.raises(ValueError, match="needs 'max_length'"):
            SubtreeQuery(spans="all")


class Parser:
    """Takes arrays of scores as sentences."""

    def fit(self, X, y):
        return self

    def posterior(self, X):
        return TreePosterior(X)


class ParserThatPredicts(Parser):
    def predict(self, X):
        return [np.array([3, 3, 0])]


def test_estimators_are_asked_by_their_posterior():
    answers = ArcQuery()(Parser(), [SCORES], [GOLD])
    assert answers.label.tolist() == [2, 3, 0]
    answers = ArcQuery()(ParserThatPredicts(), [SCORES], [GOLD])
    assert answers.label.tolist() == [3, 3, 0]
    assert SubtreeQuery()(Parser(), [SCORES], [GOLD]).y_true.tolist() == [1, 1]
    with pytest.raises(ValueError, match="posterior method"):
        ArcQuery()(object(), [SCORES], [GOLD])


def test_scorers_take_the_queries():
    def brier(y_true, y_proba):
        return float(np.mean((np.asarray(y_true) - y_proba) ** 2))

    scorer = make_query_scorer(brier, query=ArcQuery())
    q = ArcQuery()(Parser(), [SCORES], [GOLD]).y_proba
    assert scorer(Parser(), [SCORES], [GOLD]) == pytest.approx(np.mean((1 - q) ** 2))


def test_arcs_of_trees_drawn_from_the_posterior_are_calibrated():
    rng = np.random.default_rng(0)
    posterior = TreePosterior([rng.normal(size=(8, 9)) * 2 for _ in range(300)])
    gold = [trees[0] for trees in posterior.sample(1, random_state=0)]
    arcs = ArcQuery(arcs="all").from_posterior(gold, posterior)
    assert calibration_error(arcs.y_true, arcs.y_proba) < 0.02
    spans = SubtreeQuery(spans="all", max_length=4).from_posterior(gold, posterior)
    assert abs(spans.y_true.mean() - spans.y_proba.mean()) < 0.01
