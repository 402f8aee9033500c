"""Names of the package and its subpackages, which are loaded when they are first used.

Importing scikit-learn takes a second, and nobody needs all subpackages. The
``__init__.py`` of a subpackage therefore imports its names for type checkers only, and
`load_late` finds them at run time. Names that moved still import from their old path,
with a FutureWarning.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from collections.abc import Callable
from functools import cache

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

#: Names that others replaced, by their old path: the module that has them and warns.
OLD_NAMES = {
    "skcalib.significance": {
        "ScoreComparison": "skcalib.significance._old_names",
        "compare_metrics": "skcalib.significance._old_names",
        "compare_scores": "skcalib.significance._old_names",
        "significance_table": "skcalib.significance._old_names",
    },
}


def load_late(
    package: str,
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose names load late.

    The source of the ``__init__.py`` tells where a name is: its imports for type
    checkers are the only list. A name is stored in the package at its first use.
    """
    module = sys.modules[package]

    def find(name: str) -> object:
        home = _homes(package).get(name)
        if home is None:
            return _find_moved(package, name)
        value: object
        if home == package:
            value = importlib.import_module(f"{package}.{name}")
        else:
            value = getattr(importlib.import_module(home), name)
        setattr(module, name, value)
        return value

    def names() -> list[str]:
        public = [name for name in _homes(package) if not name.startswith("_")]
        return sorted({*module.__all__, *public})

    return find, names


@cache
def _homes(package: str) -> dict[str, str]:
    """Return the module of each name that the ``__init__.py`` of a package imports."""
    loaded = sys.modules.get(package)
    spec = loaded.__spec__ if loaded else importlib.util.find_spec(package)
    source = None
    if spec is not None and spec.loader is not None:
        source = spec.loader.get_source(package)  # type: ignore[attr-defined]
    if source is None:
        raise ImportError(f"{package} needs its source files, which were not installed")
    return {
        alias.name: importlib.util.resolve_name(
            "." * node.level + (node.module or ""), package
        )
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
    }


def _home_elsewhere(name: str) -> str | None:
    """Return the first subpackage that exports a name, or None."""
    homes = _homes("skcalib")
    if name in homes:
        return "skcalib"
    packages = (f"skcalib.{each}" for each, home in homes.items() if home == "skcalib")
    return next((each for each in packages if name in _homes(each)), None)


def _find_moved(module: str, name: str) -> object:
    """Return a name that a module exported once, with a warning."""
    if name in OLD_NAMES.get(module, ()):
        return getattr(importlib.import_module(OLD_NAMES[module][name]), name)
    if name in EXPERIMENTAL.get(module, ()):
        home = "skcalib.experimental"
        remedy = f"Import it from {home}, where names may change in any release."
    elif name in RESULTS.get(module, ()):
        home = "skcalib._result_classes"
        remedy = "Functions return this class, and nobody needs to import it."
    elif name == "CalibrationDisplay" and module in ("skcalib", "skcalib.plot"):
        # Python replaces the message of an AttributeError in `from ... import name`.
        raise ImportError(
            "skcalib does not have a CalibrationDisplay. Its reliability diagram is "
            "skcalib.ReliabilityDisplay; CalibrationDisplay is in sklearn.calibration."
        )
    else:
        problem, other = f"module {module!r} has no attribute {name!r}", None
        if not name.startswith("_"):
            other = _home_elsewhere(name)
        if other is None:
            raise AttributeError(problem)
        hint = f"{name} is in {other}: from {other} import {name}"
        # Python replaces the message of an AttributeError in `from ... import name`,
        # which importlib looks up. For hasattr, it must be an AttributeError.
        if sys._getframe(2).f_globals.get("__name__") == "importlib._bootstrap":
            raise ImportError(hint)
        raise AttributeError(f"{problem}. {hint}")
    from ._errors import warn

    warn(
        f"{module}.{name} will be removed in version {_REMOVED_IN}. {remedy}",
        FutureWarning,
    )
    return getattr(importlib.import_module(home), name)
