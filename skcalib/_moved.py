"""Names that moved: each still imports from its old path, with a FutureWarning."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from ._errors import warn

_REMOVED_IN = "0.12"

#: Names that `skcalib.experimental` exports now, by their old path.
EXPERIMENTAL = {
    "skcalib.coref": ["EntityCountCoverage", "entity_count_coverage"],
    "skcalib.datasets": ["fetch_broad_twitter_entities", "fetch_state_union"],
    "skcalib.evaluation": ["best_of_k"],
    "skcalib.events": ["EventEvidence", "UncertainLink"],
    "skcalib.interop": [
        "from_allennlp",
        "from_fastcoref",
        "from_flair",
        "from_spacy_spancat",
        "from_spacy_tagger",
        "from_stanza",
    ],
    "skcalib.plot": ["PredictiveCheckDisplay"],
    "skcalib.posteriors": [
        "PredictiveCheck",
        "TreePosterior",
        "posterior_predictive_check",
    ],
    "skcalib.queries": [
        "ArcQuery",
        "PredictedEntities",
        "PredictedLinks",
        "SubtreeQuery",
        "predicted_entities",
        "predicted_links",
    ],
}

#: Classes of results, which only functions create, by their old path.
RESULTS = {
    "skcalib.counts": ["DocumentChoice", "LabelsOnly"],
    "skcalib.evaluation": [
        "AccuracyInterval",
        "AlignedEvaluations",
        "JudgedAccuracy",
        "JudgedDifference",
        "PassAtK",
        "PrecisionThreshold",
        "RateInterval",
        "SampleVariance",
    ],
    "skcalib.events": ["CorrectedEventCounts", "CountComparison", "UncertainDocument"],
    "skcalib.metrics": ["BinSizeCurve", "SampleSizeCurve", "ScoreDecomposition"],
    "skcalib.queries": ["ExpectedCounts"],
    "skcalib.scorers": ["CalibrationComparison"],
    "skcalib.significance": [
        "McNemarResult",
        "PairedBootstrapResult",
        "PermutationTestResult",
        "TestSizeCurve",
    ],
}


def names_of(module: str) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a module that exported names which moved."""

    def find(name: str) -> object:
        if name in EXPERIMENTAL.get(module, ()):
            home = "skcalib.experimental"
            remedy = f"Import it from {home}, where names may change in any release."
        elif name in RESULTS.get(module, ()):
            home = "skcalib._result_classes"
            remedy = "Functions return this class, and nobody needs to import it."
        else:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warn(f"{module}.{name} goes in version {_REMOVED_IN}. {remedy}", FutureWarning)
        return getattr(importlib.import_module(home), name)

    return find
