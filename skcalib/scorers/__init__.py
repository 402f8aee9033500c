"""Scorers: a query put to an estimator, and a metric on its answers.

They are callables ``scorer(estimator, X, y)`` for cross_val_score, cross_validate and
GridSearchCV. scikit-learn's own make_scorer cannot build them: it knows neither
sequences nor documents, and hands a metric one prediction a sample.
:func:`compare_calibration` says whether two models differ.
"""

from . import _query_scorers
from ._comparison import CalibrationComparison, compare_calibration

# These three are for other rooms of the package.
from ._query_scorers import ask as ask
from ._query_scorers import is_coreference as is_coreference
from ._query_scorers import is_tagger as is_tagger
from ._query_scorers import make_calibration_scorer, make_query_scorer

__all__ = [
    "CalibrationComparison",
    "calibration_error_scorer",
    "compare_calibration",
    "log_likelihood_scorer",
    "make_calibration_scorer",
    "make_query_scorer",
]

#: Calibration error with all defaults, negated: :func:`make_calibration_scorer`.
calibration_error_scorer = _query_scorers.calibration_error_scorer
#: Mean log probability of a sample's true label, of a sentence's true tagging, or of a
#: document's true clustering of mentions; clipped at machine epsilon (a token, a
#: mention).
log_likelihood_scorer = _query_scorers.log_likelihood_scorer
