"""The default query of an estimator, and the answers of the estimator."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier

from .._errors import ParameterError, ParameterTypeError
from ..queries import Answers, ClassQuery, CorefPairQuery, TagQuery, last_step


def is_tagger(estimator: Any) -> bool:
    """Return whether an estimator gives probabilities of tags in sequences."""
    return hasattr(last_step(estimator), "predict_marginals")


def is_coreference(estimator: Any) -> bool:
    """Return whether an estimator gives probabilities of pairs of mentions.

    Such an estimator has a posterior, and its probabilities do not have classes.
    """
    final = last_step(estimator)
    has_both = hasattr(final, "posterior") and hasattr(final, "predict_proba")
    return has_both and not (is_tagger(final) or hasattr(final, "classes_"))


def default_query(estimator: Any, **params: Any) -> Any:
    """Return the query that fits a kind of estimator; `params` are for classifiers."""
    for fits, query in ((is_tagger, TagQuery), (is_coreference, CorefPairQuery)):
        if fits(estimator):
            if params:
                raise ParameterError(
                    None,
                    f"accepts {sorted(params)} for classifiers only. Got "
                    f"{type(estimator).__name__}. Pass a {query.__name__} as 'query'.",
                )
            return query()
    # For objects without tags, versions of scikit-learn raise different errors.
    if hasattr(estimator, "__sklearn_tags__") and is_classifier(estimator):
        return ClassQuery(**params)
    final = last_step(estimator)
    hint = ""
    if hasattr(final, "posterior") and hasattr(final, "classes_"):
        hint = " Use TagQuery() if it is a tagger."
    raise ValueError(
        f"No query is known for {type(estimator).__name__}, which is not a classifier, "
        f"a tagger or a coreference model. Pass one with the 'query' parameter.{hint}"
    )


def check_query(query: Any) -> None:
    """Raise an error unless `query` is a query or None."""
    if isinstance(query, type) or not (query is None or callable(query)):
        raise ParameterTypeError(
            "query", f"must be a query such as TagQuery(), or None. Got {query!r}."
        )


def ask(estimator: Any, X: Any, y: Any, query: Any, **params: Any) -> Answers:
    """Return the answers of an estimator to a query.

    If `query` is None, the default query of the estimator with `params` is used.
    """
    check_query(query)
    query = default_query(estimator, **params) if query is None else query
    answers = query(estimator, X, y)
    if not isinstance(answers, Answers):
        raise ParameterTypeError(
            "query",
            f"must return Answers. Got {type(answers).__name__} from {query!r}.",
        )
    return answers
