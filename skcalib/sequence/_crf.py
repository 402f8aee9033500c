"""Conditional random field, trained by CRFsuite."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from sklearn.utils import Tags

from .._errors import ParameterError, public
from ..posteriors import LinearChainPosterior
from ._attributes import AttributeIndex, as_items, is_storable, sparse_width
from ._crf_names import CRFsuiteNames
from ._crf_parameters import crf_settings
from ._crfsuite import ItemStream, read_model, train
from ._sentences import (
    Labels,
    Sentences,
    check_fit,
    sentence_lengths,
    sorted_labels,
)


class CRFTagger(CRFsuiteNames):
    """Linear-chain conditional random field tagger.

    CRFsuite trains the weights. The probabilities of all sentences are computed
    together by :class:`~skcalib.posteriors.LinearChainPosterior`. They equal the
    probabilities of CRFsuite, and they remain exact where CRFsuite overflows.

    Parameters
    ----------
    algorithm : {'lbfgs', 'l2sgd', 'ap', 'pa', 'arow'}, default='lbfgs'
        Training algorithm: L-BFGS, stochastic gradient descent with an L2 penalty,
        averaged perceptron, passive aggressive, or adaptive regularisation of weights
        (AROW). Only 'lbfgs' and 'l2sgd' maximise a likelihood. The other algorithms
        minimise losses that do not involve probabilities.
    c1 : float, default=0.0
        Weight of the L1 penalty, for 'lbfgs' only.
    c2 : float, default=1.0
        Weight of the L2 penalty, for 'lbfgs' and 'l2sgd' only. It determines whether
        the model is overconfident or underconfident (see Notes).
    max_iterations : int, default=None
        Maximum number of iterations. If None, the default of CRFsuite is used.
    all_possible_transitions : bool, default=True
        Whether pairs of tags that never occur in the training data have a weight. If
        False, these pairs have a score of 0, so they are still possible.
    all_possible_states : bool, default=False
        Whether an attribute also has a weight for the tags with which it never occurs.
    min_freq : float, default=0.0
        Minimum number of occurrences of an attribute. Rarer attributes are ignored.
    epsilon, delta : float, default=None
        Convergence thresholds. If None, the defaults of CRFsuite are used.
    period : int, default=None
        Number of iterations between tests of convergence. If None, the default of
        CRFsuite is used.
    num_memories, max_linesearch : int, default=None
        Number of past steps used to approximate the Hessian, and maximum number of
        trials of the line search, for 'lbfgs' only. For these parameters and all
        parameters down to `gamma`, None means the default of CRFsuite.
    linesearch : {'MoreThuente', 'Backtracking', 'StrongBacktracking'}, default=None
        Line search, for 'lbfgs' only.
    calibration_eta, calibration_rate : float, default=None
        First learning rate that is tried, and the factor by which it is increased, for
        'l2sgd' only.
    calibration_samples, calibration_candidates, calibration_max_trials : int, \
            default=None
        Number of sentences, number of accepted learning rates and number of tried
        learning rates in the search for a learning rate, for 'l2sgd' only.
    pa_type : {0, 1, 2}, default=None
        Variant of the algorithm 'pa': 0 (no slack variables), 1 (PA-I) or 2 (PA-II).
    c : float, default=None
        Weight of the slack variables, for 'pa' only.
    error_sensitive, averaging : bool, default=None
        Whether the loss increases with the number of wrong labels, and whether the
        weights are averaged over all updates, for 'pa' only.
    variance, gamma : float, default=None
        Initial variance of the weights, and trade-off between the loss and changes of
        the weights, for 'arow' only.
    verbose : bool, default=False
        Whether to print the progress of CRFsuite.
    model_filename : str or Path, default=None
        File to which `fit` writes the model in the format of CRFsuite. If the tagger is
        not fitted and the file exists, the first prediction reads the model from this
        file. The labels of such a model are str.
    keep_tempfiles : False, default=False
        Present for compatibility with sklearn-crfsuite. If True, an error is raised,
        because there are no temporary files.
    trainer_cls : None, default=None
        Present for compatibility with sklearn-crfsuite. If not None, an error is
        raised. The progress of the training is in `training_log_`.
    decoding : {'viterbi', 'posterior'}, default='viterbi'
        Output of `predict`: 'viterbi' for the most probable tagging of each sentence,
        'posterior' for the most probable tag of each token.
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
        Weight of each attribute for each tag.
    transition_weights_ : ndarray of shape (n_classes, n_classes)
        Weight of each pair [previous tag, next tag].
    model_bytes_ : bytes
        Content of the model file of CRFsuite.
    training_log_ : object
        Log of the training by pycrfsuite, with a dict for each iteration in
        ``training_log_.iterations``. None if the model was read from a file.

    See Also
    --------
    HMMTagger : Hidden Markov model, the generative model of the same structure.
    TokenFeatures : Transformer from words to attributes.

    Notes
    -----
    A token is a str or a dict of attributes as in CRFsuite. The only attribute of a str
    is the word itself. In a dict, a str value makes the attribute ``key:value``, and a
    number is the weight of the attribute ``key``. Names and values in bytes are decoded
    as UTF-8. Dicts may be nested up to 100 levels deep. If an attribute occurs twice in
    a token, its weights are added. A sentence may also be a sparse matrix with one row
    per token, with the same number of columns in `fit` and in prediction.

    A large `c2` makes the model underconfident, and a small `c2` makes it
    overconfident. Accuracy depends little on `c2`. Choose `c2` by
    :data:`~skcalib.scorers.log_likelihood_scorer`. If tags tie, the tagger predicts the
    one that comes first in `classes_`.

    Training is deterministic. All algorithms except 'lbfgs' shuffle the sentences with
    the random number generator of the C library, which `fit` seeds with a fixed number.

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
    ['D', 'N', 'V']
    >>> proba = tagger.predict_proba([["the", "mouse"]])[0]
    >>> proba.shape, proba.sum(axis=1).round(9)
    ((2, 3), array([1., 1.]))
    """

    def __init__(
        self,
        algorithm: str = "lbfgs",
        *,
        c1: float = 0.0,
        c2: float = 1.0,
        max_iterations: int | None = None,
        all_possible_transitions: bool = True,
        all_possible_states: bool = False,
        min_freq: float = 0.0,
        epsilon: float | None = None,
        delta: float | None = None,
        period: int | None = None,
        num_memories: int | None = None,
        max_linesearch: int | None = None,
        linesearch: str | None = None,
        calibration_eta: float | None = None,
        calibration_rate: float | None = None,
        calibration_samples: int | None = None,
        calibration_candidates: int | None = None,
        calibration_max_trials: int | None = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: float | None = None,
        gamma: float | None = None,
        verbose: bool = False,
        model_filename: str | os.PathLike[str] | None = None,
        keep_tempfiles: bool = False,
        trainer_cls: None = None,
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
        self.num_memories = num_memories
        self.linesearch = linesearch
        self.max_linesearch = max_linesearch
        self.calibration_eta = calibration_eta
        self.calibration_rate = calibration_rate
        self.calibration_samples = calibration_samples
        self.calibration_candidates = calibration_candidates
        self.calibration_max_trials = calibration_max_trials
        self.pa_type = pa_type
        self.c = c
        self.error_sensitive = error_sensitive
        self.averaging = averaging
        self.variance = variance
        self.gamma = gamma
        self.verbose = verbose
        self.model_filename = model_filename
        self.keep_tempfiles = keep_tempfiles
        self.trainer_cls = trainer_cls
        self.decoding = decoding
        self.dtype = dtype

    @public
    def fit(
        self,
        X: Sentences,
        y: Labels,
        X_dev: Sentences | None = None,
        y_dev: Labels | None = None,
    ) -> CRFTagger:
        """Train on tagged sentences.

        Parameters
        ----------
        X : sequence of sentences
            Sentences of str or of attribute dicts, or sparse matrices.
        y : sequence of label sequences
            Labels, one per token.
        X_dev : sequence of sentences, default=None
            Development sentences. CRFsuite scores them after each iteration. The scores
            are stored in `training_log_`, and they are printed with ``verbose=True``.
            The weights do not depend on these sentences.
        y_dev : sequence of label sequences, default=None
            Labels of `X_dev`.

        Returns
        -------
        self : CRFTagger
            The fitted tagger.

        Raises
        ------
        TypeError
            If `X` or `y` is not a sequence of sentences, or if a token is neither a str
            nor a dict of attributes.
        ValueError
            If there is no attribute, if a weight is not finite, if dicts are nested too
            deeply, if matrices differ in their number of columns, if a sentence has
            more or fewer labels than tokens, if a label is missing, if labels cannot be
            sorted, if only one of `X_dev` and `y_dev` is given, if a label of `y_dev`
            does not occur in `y`, or if a parameter cannot be used with `algorithm`.
        """
        settings = self._settings()
        path = self.model_filename
        if path is not None and not Path(path).parent.is_dir():
            problem = f"must be a file in a folder that exists. Got {str(path)!r}."
            raise ParameterError("model_filename", problem)
        sentences, labels = check_fit(X, y)
        classes = sorted_labels(labels)
        names = _label_names(classes.tolist())
        items = ItemStream(as_items(sentences), len(sentences))
        targets = [[names[label] for label in tags] for tags in labels]
        held_out = _held_out(X_dev, y_dev, names)
        self.model_bytes_, self.training_log_ = train(
            settings, items, targets, held_out
        )
        self._read(classes, names, sparse_width(sentences))
        if path is not None:
            Path(path).write_bytes(self.model_bytes_)
        return self

    def _settings(self) -> dict[str, Any]:
        """Return the validated parameters that CRFsuite accepts for the algorithm."""
        self._check_inference()
        return crf_settings(self.get_params(deep=False))

    def __sklearn_is_fitted__(self) -> bool:
        path = self.model_filename
        if not hasattr(self, "classes_") and path is not None and Path(path).is_file():
            self._load(Path(path))
        return hasattr(self, "classes_")

    def _load(self, path: Path) -> None:
        """Set the attributes of the fitted model from a file of CRFsuite."""
        data = path.read_bytes()
        try:
            labels = sorted(read_model(data).labels)
        except ValueError as error:
            problem = f"must be a model file of CRFsuite. Got {str(path)!r}: {error}"
            raise ParameterError("model_filename", problem, "CRFTagger") from None
        self.model_bytes_, self.training_log_ = data, None
        self._read(sorted_labels([labels]), {label: label for label in labels}, None)

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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.dict = True
        tags.input_tags.sparse = True
        return tags


def _label_names(labels: list[Any]) -> dict[Any, str]:
    """Return the names of labels in CRFsuite, which only accepts str without NUL."""
    if all(isinstance(label, str) and is_storable(label) for label in labels):
        return {label: label for label in labels}
    return {label: str(k) for k, label in enumerate(labels)}


def _held_out(
    X_dev: Any, y_dev: Any, names: dict[Any, str]
) -> tuple[list[Any], list[list[str]]] | None:
    """Return the items and label names of the development sentences, if any."""
    if X_dev is None and y_dev is None:
        return None
    if X_dev is None or y_dev is None:
        raise ParameterError(None, "takes both 'X_dev' and 'y_dev', or neither.")
    try:
        sentences, labels = check_fit(X_dev, y_dev)
        unknown = {label for tags in labels for label in tags} - set(names)
        if unknown:
            raise ParameterError(
                "y", f"must have labels that occur in 'y'. Got {unknown.pop()!r}."
            )
        return list(as_items(sentences)), [[names[k] for k in tags] for tags in labels]
    except ParameterError as error:
        if error.name in ("X", "y"):
            error.name += "_dev"
        raise
