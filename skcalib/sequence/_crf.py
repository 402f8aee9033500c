"""Conditional random field, trained by CRFsuite, and read from its model files.

The weights are read from the binary file, because CRFsuite's text dump rounds them to
six digits and takes ten times as long. The file format is defined by CRFsuite in
lib/crf/src/crf1d_model.c, and the format of its string tables by CQDB.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import sklearn_crfsuite
from numpy.typing import DTypeLike
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._errors import ParameterError, public
from .._validation import (
    check_bool,
    check_choice,
    check_integer,
    check_real,
    check_verbose,
)
from ..posteriors import LinearChainPosterior
from ._attributes import AttributeIndex, as_items, is_storable, sparse_width
from ._base import (
    BaseTagger,
    Labels,
    Sentences,
    check_fit,
    sentence_lengths,
    sorted_labels,
)

Sentence: TypeAlias = (
    Sequence[str] | Sequence[Mapping[str, object]] | sparse.sparray | sparse.spmatrix
)


ALGORITHMS = ("lbfgs", "l2sgd", "ap", "pa", "arow")
LINE_SEARCHES = ("MoreThuente", "Backtracking", "StrongBacktracking")

# With a number that exceeds a C int, CRFsuite would stop immediately.
_LARGEST_INTEGER = 2**31 - 1


def _check_count(value: Any, *, name: str) -> int:
    return min(check_integer(value, minimum=1, name=name), _LARGEST_INTEGER)


_check_amount = partial(check_real, low=0, high=1e300)
_check_pa_type = partial(check_integer, minimum=0, maximum=2)
_check_linesearch = partial(check_choice, choices=LINE_SEARCHES)


class _Parameter(NamedTuple):
    """How a parameter of CRFsuite is checked, and the algorithms that accept it.

    If the default is None, so that CRFsuite has its own default, None is accepted.
    """

    check: Callable[..., Any]
    algorithms: tuple[str, ...]
    default: Any = None


_PARAMETERS = {
    "all_possible_transitions": _Parameter(check_bool, ALGORITHMS, True),
    "all_possible_states": _Parameter(check_bool, ALGORITHMS, False),
    "c1": _Parameter(_check_amount, ("lbfgs",), 0.0),
    "c2": _Parameter(_check_amount, ("lbfgs", "l2sgd"), 0.1),
    "min_freq": _Parameter(_check_amount, ALGORITHMS, 0.0),
    "max_iterations": _Parameter(_check_count, ALGORITHMS),
    "period": _Parameter(_check_count, ("lbfgs", "l2sgd")),
    "num_memories": _Parameter(_check_count, ("lbfgs",)),
    "max_linesearch": _Parameter(_check_count, ("lbfgs",)),
    "calibration_samples": _Parameter(_check_count, ("l2sgd",)),
    "calibration_candidates": _Parameter(_check_count, ("l2sgd",)),
    "calibration_max_trials": _Parameter(_check_count, ("l2sgd",)),
    "epsilon": _Parameter(_check_amount, ("lbfgs", "ap", "pa", "arow")),
    "delta": _Parameter(_check_amount, ("lbfgs", "l2sgd")),
    "calibration_eta": _Parameter(_check_amount, ("l2sgd",)),
    "calibration_rate": _Parameter(_check_amount, ("l2sgd",)),
    "c": _Parameter(_check_amount, ("pa",)),
    "variance": _Parameter(_check_amount, ("arow",)),
    "gamma": _Parameter(_check_amount, ("arow",)),
    "error_sensitive": _Parameter(check_bool, ("pa",)),
    "averaging": _Parameter(check_bool, ("pa",)),
    "linesearch": _Parameter(_check_linesearch, ("lbfgs",)),
    "pa_type": _Parameter(_check_pa_type, ("pa",)),
}


def crf_settings(params: dict[str, Any]) -> dict[str, Any]:
    """Return the validated parameters that CRFsuite accepts for the algorithm."""
    algorithm = check_choice(params["algorithm"], ALGORITHMS, name="algorithm")
    settings = {
        "algorithm": algorithm,
        "verbose": bool(check_verbose(params["verbose"])),
    }
    for name, (check, algorithms, default) in _PARAMETERS.items():
        value = params[name]
        if value is None and default is None:
            continue
        if algorithm in algorithms:
            settings[name] = check(value, name=name)
        elif default is None or check(value, name=name) != default:
            raise ParameterError(
                name,
                f"cannot be used with algorithm={algorithm!r}. Got {value!r}. Leave it "
                "at its default.",
            )
    return settings


# Magic number, size and type of the file; version and numbers of features, labels and
# attributes; offsets of the features, the label names, the attribute names and two
# tables of references.
_HEADER = struct.Struct("<4sI4s9I")
_FEATURE = np.dtype(
    [("type", "<u4"), ("source", "<u4"), ("target", "<u4"), ("w", "<f8")]
)
_STATE, _TRANSITION = 0, 1
# No training ends with a larger weight, and sums of such weights are finite.
_MOST_WEIGHT = 1e100
# Algorithms other than L-BFGS shuffle sentences with the C function rand. All threads
# share its state.
_SEED = 0
_shuffling = threading.RLock()


class ItemStream:
    """Items of sentences, one sentence at a time, with a length for progress bars."""

    def __init__(self, items: Iterator[list[dict]], size: int):
        self.items = items
        self.size = size

    def __iter__(self) -> Iterator[list[dict]]:
        found = False
        for sentence in self.items:
            found = found or any(sentence)
            yield sentence
        if not found:
            raise ParameterError("X", "has no attribute at any token.")

    def __len__(self) -> int:
        return self.size


def train(
    settings: dict[str, Any], items: ItemStream, targets: list[list[str]]
) -> tuple[bytes, Any]:
    """Return the bytes of CRFsuite's model file and the log of the training.

    Training is deterministic.
    """
    lock = nullcontext() if settings["algorithm"] == "lbfgs" else _shuffling
    with lock, _model_path() as path:
        crf = sklearn_crfsuite.CRF(**settings, model_filename=path)
        # CRFsuite is linked with the C library, whose random numbers it uses.
        library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
        library.srand(_SEED)
        crf.fit(items, targets)
        # Only the tagger of CRFsuite keeps the file open, and none was created.
        return Path(path).read_bytes(), crf.training_log_


@contextmanager
def _model_path() -> Iterator[str]:
    """Yield the path of a model file that exists until the end of the block.

    On Linux, the file is in memory and is removed even if the process is killed.
    """
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        file = os.memfd_create("skcalib-crf")
        try:
            yield f"/proc/self/fd/{file}"
        finally:
            os.close(file)
    else:
        with TemporaryDirectory(prefix="skcalib-crf-") as folder:
            yield str(Path(folder) / "model")


class CRFWeights(NamedTuple):
    """Names and weights of a first-order model.

    labels : list of str; attributes : list of str; state : (source attribute, target
    label, weight) arrays; transition : ndarray of shape (n_labels, n_labels).
    """

    labels: list[str]
    attributes: list[str]
    state: tuple[np.ndarray, np.ndarray, np.ndarray]
    transition: np.ndarray


def read_model(data: bytes) -> CRFWeights:
    """Return the weights in the bytes of a CRFsuite model file.

    Raises a ValueError if the bytes are not a complete model.
    """
    try:
        return _read_model(data)
    except (struct.error, IndexError):  # offsets or numbers beyond the end
        raise ValueError("The file is damaged or not complete.") from None


def _read_model(data: bytes) -> CRFWeights:
    magic, _, kind, *numbers = _HEADER.unpack_from(data)
    if magic != b"lCRF" or kind != b"FOMC":
        raise ValueError("The data are not a first-order model of CRFsuite.")
    _, _, n_labels, n_attributes, at_features, at_labels, at_attributes, _, _ = numbers
    # A chunk begins with its name, its size and the number of its records: 12 bytes.
    _, _, n_features = struct.unpack_from("<4sII", data, at_features)
    labels = _strings(data, at_labels, n_labels)
    attributes = _strings(data, at_attributes, n_attributes)
    features = np.frombuffer(data, _FEATURE, n_features, at_features + 12)
    right = np.abs(features["w"]) < _MOST_WEIGHT
    if not (right & (features["type"] <= _TRANSITION)).all():
        raise ValueError("The weights are damaged.")
    state = features[features["type"] == _STATE]
    moves = features[features["type"] == _TRANSITION]
    transition = np.zeros((n_labels, n_labels))
    transition[moves["source"], moves["target"]] = moves["w"]
    if (state["source"] >= n_attributes).any() or (state["target"] >= n_labels).any():
        raise IndexError
    weights = state["source"], state["target"], state["w"]
    return CRFWeights(labels, attributes, weights, transition)


def _strings(data: bytes, start: int, n: int) -> list[str]:
    """Return the strings of a CQDB table in the order of their numbers."""
    if n == 0:
        return []
    # The table has a header, hash tables from strings to numbers (not used here), and
    # the offset of the record of each number.
    _, _, _, _, n_back, at_back = struct.unpack_from("<4s5I", data, start)
    if n_back < n:
        raise IndexError
    records = np.frombuffer(data, "<u4", n, start + at_back)
    strings = []
    for record in (records + start).tolist():
        # A record is a number, the size of the text, and the text with a final NUL.
        _, size = struct.unpack_from("<II", data, record)
        strings.append(data[record + 8 : record + 7 + size].decode("utf-8"))
        if record + 8 + size > len(data):
            raise IndexError
    if len(set(strings)) < n:
        raise ValueError("A name occurs twice.")
    return strings


class CRFTagger(BaseTagger):
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
    c2 : float, default=0.1
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
    overconfident. Choose `c2` by :data:`~skcalib.scorers.log_likelihood_scorer`. In
    English text, the likelihood of held-out sentences was highest near 0.03 for words
    without other attributes and near 0.3 for the attributes of TokenFeatures; the
    default is between them. Accuracy depends little on `c2` below 0.1. If tags tie, the
    tagger predicts the one that comes first in `classes_`.

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

    model_bytes_: bytes
    training_log_: Any

    def __init__(
        self,
        algorithm: str = "lbfgs",
        *,
        c1: float = 0.0,
        c2: float = 0.1,
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
            If `X` or `y` is not a sequence of sentences, or if a token is neither a str
            nor a dict of attributes.
        ValueError
            If there is no attribute, if a weight is not finite, if dicts are nested too
            deeply, if matrices differ in their number of columns, if a sentence has
            more or fewer labels than tokens, if a label is missing, if labels cannot be
            sorted, or if a parameter cannot be used with `algorithm`.
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
        self.model_bytes_, self.training_log_ = train(settings, items, targets)
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
        # CRFsuite numbers labels by their first occurrence, `classes_` are sorted.
        order = np.array([place[name] for name in weights.labels])
        n_tags = classes.size
        state = np.zeros((len(weights.attributes), n_tags))
        source, target, weight = weights.state
        state[source, order[target]] = weight
        transition = np.zeros((n_tags, n_tags))
        transition[np.ix_(order, order)] = weights.transition
        self.classes_ = classes
        self.attributes_: list[str] = weights.attributes
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

    # Methods and attributes of sklearn_crfsuite.CRF, for compatibility

    @public
    def predict_single(self, xseq: Sentence) -> list[Any]:
        """Predict the tags of one sentence.

        Parameters
        ----------
        xseq : sequence of tokens
            The sentence.

        Returns
        -------
        labels : list of labels
            Predicted labels, as in :meth:`predict`.
        """
        return self.predict([xseq])[0]

    @public
    def predict_marginals_single(self, xseq: Sentence) -> list[dict[Any, float]]:
        """Return the probability of each tag at each token of one sentence.

        Parameters
        ----------
        xseq : sequence of tokens
            The sentence.

        Returns
        -------
        marginals : list of dict
            For each token, the probability of each label, as in sklearn-crfsuite.
            :meth:`predict_marginals` returns the same numbers as arrays.
        """
        proba: np.ndarray = self.predict_proba([xseq])[0]
        labels = self.classes_.tolist()
        return [dict(zip(labels, row, strict=True)) for row in proba.tolist()]

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
        # A pickle of the file contains these bytes, so that the model can be copied.
        vars(crf.modelfile)["__FILE_RESOURCE_DATA__"] = self.model_bytes_
        crf.training_log_ = self.training_log_
        return crf

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """Weights by (attribute, label), rounded to six digits by CRFsuite."""
        return self.crf_.state_features_

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """Weights by (previous label, next label), rounded to six digits."""
        return self.crf_.transition_features_

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
