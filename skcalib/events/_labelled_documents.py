"""Validation of documents whose events are known."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from .._errors import ParameterError, ParameterTypeError

# Ids and actors that a message lists.
_MOST_LISTED = 20


def check_ids(ids: Sequence[Any]) -> dict[Any, int]:
    """Return the position of each id, and raise unless the ids are unique."""
    places: dict[Any, int] = {}
    for place, each in enumerate(ids):
        if each is None:
            got = f"None for document {place} of {len(ids)}"
        elif each in places:
            got = f"{each!r} for documents {places[each]} and {place}"
        else:
            places[each] = place
            continue
        raise ParameterError(
            None,
            "needs documents with unique ids, to find the labelled documents. Got "
            f"{got}. Set `id` of each Document and count again.",
        )
    return places


def read_labels(
    labelled: Any, ids: Sequence[Any], countries: Sequence[str], known: Collection[str]
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the places of labelled documents, and their counts by actor.

    The actors are `countries`, followed by actors that occur only in the labels.
    """
    places = check_ids(ids)
    if not isinstance(labelled, Mapping):
        raise ParameterTypeError(
            "labelled",
            "must be a mapping of document ids to {code: count}, {} for a document "
            f"without an event. Got {type(labelled).__name__}.",
        )
    unknown = [each for each in labelled if each not in places]
    if unknown:
        raise ParameterError(
            "labelled",
            "must have ids of documents that were counted. Got "
            f"{len(unknown)} of {len(labelled)} that were not: {_listed(unknown)}. "
            "Count these documents as well, or remove their labels.",
        )
    order = sorted(labelled, key=places.__getitem__)
    for each in order:
        _check_events(each, labelled[each], known)
    said = {code for found in labelled.values() for code in found}
    actors = [*countries, *sorted(said.difference(countries))]
    rows = np.array([places[each] for each in order], dtype=np.intp)
    counts = {
        code: np.array([float(labelled[each].get(code, 0)) for each in order])
        for code in actors
    }
    return rows, counts


def _check_events(name: Hashable, events: Any, known: Collection[str]) -> None:
    """Raise unless the label of a document is a mapping of actors to counts."""
    if not isinstance(events, Mapping):
        raise ParameterTypeError(
            "labelled",
            "must have {code: count} for each document, or {} without an event. Got "
            f"{events!r:.80} for {name!r}.",
        )
    unknown = [code for code in events if code not in known]
    if unknown:
        raise ParameterError(
            "labelled",
            f"must have codes of actors that were counted. Got {_listed(unknown)} for "
            f"{name!r}. Use the codes of the rule, or the `countries` of "
            f"EventCounter: {_listed(sorted(known))}.",
        )
    for code, count in events.items():
        is_number = isinstance(count, (Real, np.bool_))
        if not is_number or not 0 <= float(count) < np.inf:
            raise ParameterError(
                "labelled",
                f"must have counts that are finite and not negative. Got {count!r} "
                f"for {code!r} in {name!r}.",
            )


def _listed(values: Sequence[Any]) -> str:
    more = len(values) - _MOST_LISTED
    shown = ", ".join(map(repr, values[:_MOST_LISTED]))
    return shown + (f" and {more} more" if more > 0 else "")
