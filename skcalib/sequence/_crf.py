"""Conditional random field, trained by CRFsuite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import sklearn_crfsuite
from sklearn.utils.validation import check_is_fitted

from .._validation import check_bool, check_choice, check_integer, check_real
from ..posteriors import LinearChainPosterior
from ._attributes import AttributeIndex, as_items, is_storable, sparse_width
from ._base import BaseTagger
from ._crf_model import read_model
from ._sentences import check_fit, sentence_lengths, sorted_labels

ALGORITHMS = ("lbfgs", "l2sgd", "ap", "pa", "arow")

# Beyond what a C int holds, CRFsuite would stop at once.
_MOST_ITERATIONS = 2**31 - 1
# What CRFsuite's algorithms know of the parameters.
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
_LIMITS = {
    "lbfgs": ("max_iterations", "period", "epsilon", "delta"),
    "l2sgd": ("max_iterations", "period", "delta"),
    "ap": ("max_iterations", "epsilon"),
    "pa": ("max_iterations", "epsilon"),
    "arow": ("max_iterations", "epsilon"),
}


class CRFTagger(BaseTagger):
    """Linear-chain conditional random field tagger.

    CRFsuite trains the weights; probabilities come from
    :class:`~skcalib.posteriors.LinearChainPosterior`, for all sentences at once. They
    equal CRFsuite's own and stay exact where those overflow.

    Parameters
    ----------
    algorithm : {'lbfgs', 'l2sgd', 'ap', 'pa', 'arow'}, default='lbfgs'
        Training algorithm. Only 'lbfgs' and 'l2sgd' maximise a likelihood; the weights
        of the others were not fitted to be probabilities.
    c1 : float, default=0.0
        Weight of the L1 penalty ('lbfgs').
    c2 : float, default=1.0
        Weight of the L2 penalty ('lbfgs', 'l2sgd'). It decides the direction of
        miscalibration: see Notes.
    max_iterations : int, default=None
        Limit of iterations; None for CRFsuite's.
    all_possible_transitions : bool, default=True
        Whether pairs of tags that never occur have a weight too; without one they
        count as 0, not as impossible.
    all_possible_states : bool, default=False
        Whether attributes have a weight for tags that they never occur with.
    min_freq : float, default=0.0
        Leave out attributes that occur less often.
    epsilon, delta : float, default=None
        Thresholds of convergence; None for CRFsuite's.
    period : int, default=None
        Iterations between tests of convergence; None for CRFsuite's.
    verbose : bool, default=False
        Print CRFsuite's progress.
    decoding : {'viterbi', 'posterior'}, default='viterbi'
        Whether `predict` gives the best tagging or the best tag of each token.
    dtype : {float64, float32}, default=float64
        Of the probabilities of tags and pairs. float32 takes half the memory and less
        time, and errs by about 1e-6; all else is computed in float64 in any case.

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
        CRFsuite's model file.

    See Also
    --------
    HMMTagger : The generative model of the same form.
    TokenFeatures : Attributes of tokens.

    Notes
    -----
    A token is a str, whose only attribute is the word as it is, or a dict of attributes
    in CRFsuite's way: a str value makes the attribute ``key:value``, a number is the
    weight of the attribute ``key``. An attribute that occurs twice counts twice. A
    sentence may also be a sparse matrix with a row for each token.

    Large `c2` makes the model timid, small ones overconfident. Accuracy hardly shows
    it; choose by :data:`~skcalib.scorers.log_likelihood_scorer`. Ties go to the lowest
    class.

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
        dtype: Any = np.float64,
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

    def fit(self, X: Any, y: Any) -> CRFTagger:
        """Train on tagged sentences.

        Parameters
        ----------
        X : sequence of sentences
            Sentences of str, of attribute dicts, or sparse matrices.
        y : sequence of label sequences
            A label for each token.

        Returns
        -------
        self : CRFTagger
            The fitted tagger.

        Raises
        ------
        TypeError
            If `X` or `y` holds no sentences, or a token is none of these.
        ValueError
            If there is no attribute, a weight is not finite, matrices differ in their
            number of columns, a sentence has more or fewer labels than tokens, a label
            is missing, or labels cannot be sorted.
        """
        caller = "CRFTagger.fit"
        settings = self._settings()
        sentences, labels = check_fit(X, y, caller=caller)
        classes = sorted_labels(labels, caller=caller)
        names = _label_names(classes.tolist())
        items = _Stream(as_items(sentences, caller=caller), len(sentences), caller)
        targets = [[names[label] for label in tags] for tags in labels]
        self.model_bytes_ = _train(settings, items, targets)
        self._read(classes, names, sparse_width(sentences, caller=caller))
        return self

    def _settings(self) -> dict[str, Any]:
        """Return the checked parameters that CRFsuite's algorithm has."""
        caller = "CRFTagger"
        check_choice(self.algorithm, ALGORITHMS, name="algorithm", caller=caller)
        self._check_inference()
        for name in ("all_possible_transitions", "all_possible_states"):
            check_bool(getattr(self, name), name=name, caller=caller)
        for name in ("c1", "c2", "min_freq"):
            check_real(getattr(self, name), low=0, high=1e300, name=name, caller=caller)
        settings = {name: getattr(self, name) for name in _ALWAYS}
        settings |= {n: getattr(self, n) for n in _PENALTIES[self.algorithm]}
        for name in ("max_iterations", "period", "epsilon", "delta"):
            value = getattr(self, name)
            if value is None:
                continue
            if name not in _LIMITS[self.algorithm]:
                raise ValueError(
                    f"The {name!r} parameter of {caller} does not go with algorithm="
                    f"{self.algorithm!r}. Got {value!r}."
                )
            if name in ("max_iterations", "period"):
                value = check_integer(value, minimum=1, name=name, caller=caller)
                value = min(value, _MOST_ITERATIONS)
            else:
                check_real(value, low=0, high=1e300, name=name, caller=caller)
            settings[name] = value
        return settings

    def _read(
        self, classes: np.ndarray, names: dict[Any, str], width: int | None
    ) -> None:
        """Take the weights from the bytes of the model."""
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
        design = self._index.matrix(sentences, caller="CRFTagger")
        return LinearChainPosterior(
            design @ self.state_weights_,
            self.transition_weights_,
            lengths=sentence_lengths(sentences),
            dtype=self._check_inference(),
        )

    @property
    def crf_(self) -> sklearn_crfsuite.CRF:
        """The model as a sklearn_crfsuite.CRF, rebuilt from its bytes.

        Its labels are str. It is held in memory: no temporary file is left.
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.dict = True
        tags.input_tags.sparse = True
        return tags


def _label_names(labels: list[Any]) -> dict[Any, str]:
    """Return the names that CRFsuite knows the labels by: it takes plain str only."""
    if all(isinstance(label, str) and is_storable(label) for label in labels):
        return {label: label for label in labels}
    return {label: str(k) for k, label in enumerate(labels)}


class _Stream:
    """Items of sentences one at a time, with the length that CRFsuite shows."""

    def __init__(self, items: Iterator[list[dict]], size: int, caller: str):
        self.items = items
        self.size = size
        self.caller = caller

    def __iter__(self) -> Iterator[list[dict]]:
        found = False
        for sentence in self.items:
            found = found or any(sentence)
            yield sentence
        if not found:
            raise ValueError(f"X of {self.caller} has no attribute at any token.")

    def __len__(self) -> int:
        return self.size


def _train(settings: dict[str, Any], items: _Stream, targets: list[list[str]]) -> bytes:
    """Return the model file as bytes; no file is left."""
    with TemporaryDirectory(prefix="skcalib-crf-") as folder:
        path = Path(folder) / "model"
        crf = sklearn_crfsuite.CRF(**settings, model_filename=str(path))
        crf.fit(items, targets)
        # CRFsuite keeps the file open through the tagger only, which was not made.
        return path.read_bytes()
