"""Scorers, which evaluate the answers of an estimator to a query.

A query is a yes-or-no question (see :mod:`skcalib.queries`). Scorers are callables
``scorer(estimator, X, y)`` for cross_val_score, cross_validate and GridSearchCV. They
cannot be built with scikit-learn's make_scorer, which passes one prediction per sample
to a metric and does not support sequences and documents. :func:`compare_calibration`
tests whether the calibration errors of two models differ.
"""

from .. import _moved
from . import _query_scorers
from ._calibration_comparison import compare_calibration
from ._query_scorers import make_calibration_scorer, make_query_scorer

__all__ = [
    "calibration_error_scorer",
    "compare_calibration",
    "log_likelihood_scorer",
    "make_calibration_scorer",
    "make_query_scorer",
]

__getattr__ = _moved.names_of(__name__)

#: Negated calibration error with the defaults of :func:`make_calibration_scorer`.
calibration_error_scorer = _query_scorers.calibration_error_scorer
#: Mean log probability of the true label of a sample, of the true tagging of a
#: sentence, or of the true clustering of the mentions of a document. Probabilities are
#: clipped at machine epsilon per token or mention.
log_likelihood_scorer = _query_scorers.log_likelihood_scorer
