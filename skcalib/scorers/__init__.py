"""Scorers, which evaluate the answers of an estimator to a query.

A query is a yes-or-no question (see :mod:`skcalib.queries`). Scorers are callables
``scorer(estimator, X, y)`` for cross_val_score, cross_validate and GridSearchCV. They
cannot be built with scikit-learn's make_scorer, which passes one prediction per sample
to a metric and does not support sequences and documents.
:data:`adaptive_reliability_curve_scorer` returns several numbers for cross_validate.
:func:`compare_calibration` tests whether the calibration errors of two models differ.
"""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ._calibration_comparison import compare_calibration
    from ._query_scorers import (
        adaptive_reliability_curve_scorer,
        calibration_error_scorer,
        log_likelihood_scorer,
        make_calibration_scorer,
        make_query_scorer,
        make_reliability_curve_scorer,
    )
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = [
    "adaptive_reliability_curve_scorer",
    "calibration_error_scorer",
    "compare_calibration",
    "log_likelihood_scorer",
    "make_calibration_scorer",
    "make_query_scorer",
    "make_reliability_curve_scorer",
]
