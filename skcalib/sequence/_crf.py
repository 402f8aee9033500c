"""Conditional random field, trained by CRFsuite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import sklearn_crfsuite
from numpy.typing import DTypeLike
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._errors import ParameterError, public
from .._validation import check_bool, check_choice, check_integer, check_real
from ..posteriors import LinearChainPosterior
from ._attributes import AttributeIndex, as_items, is_storable, sparse_width
from ._base import BaseTagger
from ._crfsuite import ItemStream, read_model, train
from ._sentences import (
    Labels,
    Sentences,
    check_fit,
    sentence_lengths,
    sorted_labels,
)

ALGORITHMS = ("lbfgs", "l2sgd", "ap", "pa", "arow")

# Beyond what a C int holds, CRFsuite would stop at once.
_MOST_ITERATIONS = 2**31 - 1
# Parameters that every algorithm of CRFsuite has, and those that only some have.
_ALWAYS = (
    "algorithm",
    "all_possible_transitions",
    "all_possible_states",
    "min_freq",
    "verbose",
)
_PENALTIES: dict[str, tuple[str, ...]] = {
    "lbfgs": ("c1", "c2"),
    "l2sgd": ("c2",),
    "ap": (),
    "pa": (),
    "arow": (),
}
_NO_PENALTY_GIVEN = {"c1": 0.0, "c2": 1.0}  # the defaults
_LIMITS = {
    "lbfgs": ("max_iterations", "period", "epsilon", "delta"),
    "l2sgd": ("max_iterations", "period", "delta"),
    "ap": ("max_iterations", "epsilon"),
    "pa": ("max_iterations", "epsilon"),
    "arow": ("max_iterations", "epsilon"),
}


class CRFTagger(BaseTagger):
    """Linear-chain conditional random field tagger.

    CRFsuite trains the weights. Probabilities of all sentences are computed together by
    :class:`~skcalib.posteriors.LinearChainPosterior`: they equal those of CRFsuite, and
    stay exact where CRFsuite overflows.

    Parameters
    ----------
    algorithm : {'lbfgs', 'l2sgd', 'ap', 'pa', 'arow'}, default='lbfgs'
        Training algorithm. Only 'lbfgs' and 'l2sgd' maximise a likelihood; the weights
        of the other algorithms are not fitted to give probabilities.
    c1 : float, default=0.0
        Weight of the L1 penalty, for 'lbfgs' only.
    c2 : float, default=1.0
        Weight of the L2 penalty, for 'lbfgs' and 'l2sgd' only. It determines the
        direction of miscalibration, see Notes.
    max_iterations : int, default=None
        Maximum number of iterations. If None, the default of CRFsuite is used.
    all_possible_transitions : bool, default=True
        Whether pairs of tags that never occur in the training data have a weight.
        Without one, they have a score of 0 and are possible.
    all_possible_states : bool, default=False
        Whether attributes have a weight for tags that they never occur with.
    min_freq : float, default=0.0
        Minimum number of occurrences of an attribute; others are ignored.
    epsilon, delta : float, default=None
        Thresholds of convergence. If None, the defaults of CRFsuite are used.
    period : int, default=None
        Number of iterations between tests of convergence. If None, the default of
        CRFsuite is used.
    verbose : bool, default=False
        Whether to print the progress of CRFsuite.
    decoding : {'viterbi', 'posterior'}, default='viterbi'
        Whether `predict` returns the most probable tagging of a sentence or the most
        probable tag of each token.
    dtype : {float64, float32}, default=float64
        Type of the probabilities of tags and pairs. float32 takes half the memory and
        less time; its error is about 1e-6. Everything else is computed in float64.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    attributes_ : list of str
        Names of the attributes that have a weight.
    state_weights_ : ndarray of shape (n_attributes, n_classes)
        Weights of attributes and tags.
    transition_weights_ : ndarray of shape (n_classes, n_classes)
        Weights of [previous tag, next tag].
    model_bytes_ : bytes
        Model file of CRFsuite.

    See Also
    --------
    HMMTagger : Hidden Markov model, the generative model of the same structure.
    TokenFeatures : Transformer from words to attributes.

    Notes
    -----
    A token is a str, whose only attribute is the word as it is, or a dict of attributes
    as in CRFsuite: a str value makes the attribute ``key:value``, and a number is the
    weight of the attribute ``key``. Dicts within dicts may be nested up to 100 levels
    deep. If an attribute occurs twice in a token, its weights are added. A sentence may
    also be a sparse matrix with one row per token, with the same number of columns in
    `fit` and in prediction.

    A large `c2` makes the model underconfident, a small one overconfident. Accuracy
    depends little on it; choose it by :data:`~skcalib.scorers.log_likelihood_scorer`.
    Ties go to the lowest class.

    Training is deterministic. All algorithms but 'lbfgs' shuffle sentences by random
    numbers of the C library, which `fit` seeds with a fixed number.

    References
    ----------
    .. [1] N. Okazaki (2007). "CRFsuite: a fast implementation of conditional random
       fields". http://www.chokkan.org/software/crfsuite/

    Examples
    --------
    >>> from skcalib.sequence import CRFTagger
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["dogs", "bark"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["N", "V"]]
    >>> tagger = CRFTagger(c2=0.01).fit(X, y)
    >>> tagger.predict([["the", "cat", "barks"]])[0]
    array(['D', 'N', 'V'], dtype='<U1')
    >>> proba = tagger.predict_proba([["the", "mouse"]])[0]
    >>> proba.shape, proba.sum(axis=1).round(9)
    ((2, 3), array([1., 1.]))
    """

    def __init__(
        self,
        *,
        algorithm: str = "lbfgs",
        c1: float = 0.0,
        c2: float = 1.0,
        max_iterations: int | None = None,
        all_possible_transitions: bool = True,
        all_possible_states: bool = False,
        min_freq: float = 0.0,
        epsilon: float | None = None,
        delta: float | None = None,
        period: int | None = None,
        verbose: bool = False,
        decoding: str = "viterbi",
        dtype: DTypeLike = np.float64,
    ):
        self.algorithm = algorithm
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.all_possible_transitions = all_possible_transitions
        self.all_possible_states = all_possible_states
        self.min_freq = min_freq
        self.epsilon = epsilon
        self.delta = delta
        self.period = period
        self.verbose = verbose
        self.decoding = decoding
        self.dtype = dtype

    @public
    def fit(self, X: Sentences, y: Labels) -> CRFTagger:
        """Train on tagged sentences.

        Parameters
        ----------
        X : sequence of sentences
            Sentences of str or of attribute dicts, or sparse matrices.
        y : sequence of label sequences
            Labels, one per token.

        Returns
        -------
        self : CRFTagger
            The fitted tagger.

        Raises
        ------
        TypeError
            If `X` or `y` is not a sequence of sentences, or if a token has another
            type.
        ValueError
            If there is no attribute, if a weight is not finite, if dicts are nested too
            deeply, if matrices differ in their number of columns, if a sentence has
            more or fewer labels than tokens, if a label is missing, if labels cannot be
            sorted, or if a parameter does not go with `algorithm`.
        """
        settings = self._settings()
        sentences, labels = check_fit(X, y)
        classes = sorted_labels(labels)
        names = _label_names(classes.tolist())
        items = ItemStream(as_items(sentences), len(sentences))
        targets = [[names[label] for label in tags] for tags in labels]
        self.model_bytes_ = train(settings, items, targets)
        self._read(classes, names, sparse_width(sentences))
        return self

    def _settings(self) -> dict[str, Any]:
        """Return the checked parameters that the algorithm has in CRFsuite."""
        check_choice(self.algorithm, ALGORITHMS, name="algorithm")
        self._check_inference()
        for name in ("all_possible_transitions", "all_possible_states"):
            check_bool(getattr(self, name), name=name)
        for name in ("c1", "c2", "min_freq"):
            check_real(getattr(self, name), low=0, high=1e300, name=name)
        settings = {name: getattr(self, name) for name in _ALWAYS}
        for name, default in _NO_PENALTY_GIVEN.items():
            value = getattr(self, name)
            if name in _PENALTIES[self.algorithm]:
                settings[name] = value
            elif value != default:
                raise self._not_of_algorithm(name)
        for name in ("max_iterations", "period", "epsilon", "delta"):
            value = getattr(self, name)
            if value is None:
                continue
            if name not in _LIMITS[self.algorithm]:
                raise self._not_of_algorithm(name)
            if name in ("max_iterations", "period"):
                value = check_integer(value, minimum=1, name=name)
                value = min(value, _MOST_ITERATIONS)
            else:
                check_real(value, low=0, high=1e300, name=name)
            settings[name] = value
        return settings

    def _not_of_algorithm(self, name: str) -> ParameterError:
        problem = (
            f"does not go with algorithm={self.algorithm!r}. Got "
            f"{getattr(self, name)!r}."
        )
        return ParameterError(name, problem)

    def _read(
        self, classes: np.ndarray, names: dict[Any, str], width: int | None
    ) -> None:
        """Set the attributes of the fitted model from its bytes."""
        weights = read_model(self.model_bytes_)
        place = {names[label]: k for k, label in enumerate(classes.tolist())}
        order = np.array([place[name] for name in weights.labels])
        n_tags = classes.size
        state = np.zeros((len(weights.attributes), n_tags))
        source, target, weight = weights.state
        state[source, order[target]] = weight
        transition = np.zeros((n_tags, n_tags))
        transition[np.ix_(order, order)] = weights.transition
        self.classes_ = classes
        self.attributes_ = weights.attributes
        self.state_weights_ = state
        self.transition_weights_ = transition
        self._index = AttributeIndex(weights.attributes, width)

    def _posterior(self, sentences: list[Any]) -> LinearChainPosterior:
        design = self._index.matrix(sentences)
        return LinearChainPosterior(
            design @ self.state_weights_,
            self.transition_weights_,
            lengths=sentence_lengths(sentences),
            dtype=self._check_inference(),
        )

    @property
    def crf_(self) -> sklearn_crfsuite.CRF:
        """The model as a sklearn_crfsuite.CRF, rebuilt from its bytes.

        Its labels are str. No temporary file is left.
        """
        check_is_fitted(self)
        crf = sklearn_crfsuite.CRF(**self._settings())
        crf.modelfile.refresh()
        try:
            Path(crf.modelfile.name).write_bytes(self.model_bytes_)
            crf.tagger_.labels()  # reads the file
        finally:
            crf.modelfile.cleanup()
        # What a pickle of the file would hold, so that the rebuilt model can be copied.
        vars(crf.modelfile)["__FILE_RESOURCE_DATA__"] = self.model_bytes_
        return crf

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.dict = True
        tags.input_tags.sparse = True
        return tags


def _label_names(labels: list[Any]) -> dict[Any, str]:
    """Return the names of labels in CRFsuite, which takes str without NUL only."""
    if all(isinstance(label, str) and is_storable(label) for label in labels):
        return {label: label for label in labels}
    return {label: str(k) for k, label in enumerate(labels)}
