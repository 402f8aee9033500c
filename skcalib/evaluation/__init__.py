"""Files of evaluation harnesses, as columns of questions, scores and probabilities."""

from ._accuracy import AccuracyInterval, accuracy_interval, grouped_frequency_interval
from ._align import AlignedEvaluations, align_evaluations, evaluation_of
from ._cells import NO, YES, Fractions, Names, text_of, value_of
from ._delimited import Table
from ._evaluation import Evaluation
from ._files import open_source
from ._fingerprints import read_fingerprints
from ._judged_accuracy import JudgedAccuracy, judged_accuracy
from ._judged_difference import JudgedDifference, judged_difference
from ._judged_inputs import RateInterval
from ._precision import PrecisionThreshold, threshold_for_precision
from ._read import FORMATS, read_evaluation
from ._repeats import (
    PassAtK,
    SampleVariance,
    best_of_k,
    pass_at_k,
    question_best_of_k,
    question_pass_at_k,
    sample_variance,
)
from ._several import SYSTEMS_NOTE, read_evaluations
from ._tables import known_columns, named, open_table
from ._unanswered import POLICIES, rule_of
from ._values import as_number, as_numbers, none_of

# Names that the command line uses but that are not public.
_FOR_SIBLINGS = (
    FORMATS,
    NO,
    POLICIES,
    SYSTEMS_NOTE,
    YES,
    Fractions,
    Names,
    Table,
    as_number,
    as_numbers,
    grouped_frequency_interval,
    known_columns,
    named,
    none_of,
    open_source,
    open_table,
    question_best_of_k,
    question_pass_at_k,
    read_fingerprints,
    rule_of,
    text_of,
    value_of,
)

__all__ = [
    "AccuracyInterval",
    "AlignedEvaluations",
    "Evaluation",
    "JudgedAccuracy",
    "JudgedDifference",
    "PassAtK",
    "RateInterval",
    "PrecisionThreshold",
    "SampleVariance",
    "accuracy_interval",
    "align_evaluations",
    "best_of_k",
    "evaluation_of",
    "judged_accuracy",
    "judged_difference",
    "pass_at_k",
    "read_evaluation",
    "read_evaluations",
    "sample_variance",
    "threshold_for_precision",
]
