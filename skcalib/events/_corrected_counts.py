"""Counts of events, corrected with labelled documents."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from .._errors import ParameterError, public
from .._periods import EMPTY_PERIODS, slope_weights, times_of, times_of_trend
from .._results import Result, object_array
from .._validation import check_choice
from .._warn import warn
from ..counts import CorrectedCount, LabelsOnly, corrected_count, equivalent_labels
from ._periods import period_names

# Columns of the table of corrected_count, and columns for the labels alone.
_NUMBERS = ("estimate", "low", "high", "standard_error", "uncorrected")
_ALONE = {key: f"labels_only_{key}" for key in _NUMBERS[:3]}
_SIZES = ("n_documents", "n_labelled")

# Parameters of corrected_count that have another name here.
_NAMES = {"y_true": "labelled"}


class _Counts(Protocol):
    """What the correction and its displays use of EventCounts."""

    unit: str
    countries: list[str]
    periods: list[Any]
    document_ids: list[Any]
    document_place: np.ndarray

    def interval(
        self, confidence_level: float = 0.95, method: str = "quantile"
    ) -> tuple[np.ndarray, np.ndarray]: ...

    def _moments_of(self, country: str) -> np.ndarray: ...

    def _check_period(self, period: Hashable) -> range: ...


class CorrectedEventCounts(Result):
    """Counts of events for each period and actor, corrected with labelled documents.

    :meth:`EventCounts.corrected` returns it. The arrays have an entry for each period
    and actor, ordered by period and then by actor. A period without documents has a
    count of 0. A period without labels has an estimate, computed with the mean error of
    the whole corpus, but no interval (its ends are NaN).

    Attributes
    ----------
    period : ndarray of shape (n_cells,), object
        Label of the period.
    country : ndarray of shape (n_cells,), object
        Code of the actor.
    estimate : ndarray of shape (n_cells,)
        Corrected count.
    low, high : ndarray of shape (n_cells,)
        Ends of the interval of the corrected count.
    standard_error : ndarray of shape (n_cells,)
        Standard error of the estimate, due to the random choice of the labelled
        documents.
    uncorrected : ndarray of shape (n_cells,)
        Posterior mean of the count, which is `mean` in :class:`EventCounts`.
    labels_only_estimate : ndarray of shape (n_cells,)
        Estimate from the labels alone.
    labels_only_low, labels_only_high : ndarray of shape (n_cells,)
        Ends of the interval from the labels alone.
    n_documents, n_labelled : ndarray of shape (n_cells,), int
        Number of documents of the period, and number of labelled documents of the
        period.
    periods : list
        Labels of the periods in order.
    countries : list of str
        Codes of the actors: first the actors of the counts, then the actors that occur
        only in the labels.
    counts : EventCounts
        Counts before the correction.
    confidence_level : float
        Confidence level of the intervals.

    See Also
    --------
    EventCounts.corrected : Method that returns this result.
    skcalib.counts.corrected_count : Correction of any count.
    skcalib.plot.EventCountDisplay : Plot of corrected and uncorrected counts.

    Examples
    --------
    >>> from skcalib.datasets import make_event_documents
    >>> from skcalib.events import EventCounter, EventRule
    >>> documents, events, scores = make_event_documents(
    ...     300, return_scores=True, random_state=0
    ... )
    >>> counter = EventCounter(EventRule(), freq="year", random_state=0)
    >>> counts = counter.count(documents, scores)
    >>> truth = {each.id: found for each, found in zip(documents, events)}
    >>> choice = counts.choose_documents(60, random_state=0)
    >>> labelled = {name: truth[name] for name in choice.ids}  # what readers found
    >>> corrected = counts.corrected(
    ...     labelled, inclusion_probability=choice.inclusion_probability
    ... )
    >>> corrected
    CorrectedEventCounts(n_countries=4, n_periods=1 1990, n_labelled=60 of 300,
    confidence_level=0.95)
    >>> difference = corrected.compare("NOR", "KEN")
    >>> round(difference.estimate), round(difference.low), round(difference.high)
    (-12, -35, 7)
    """

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    standard_error: np.ndarray
    uncorrected: np.ndarray
    labels_only_estimate: np.ndarray
    labels_only_low: np.ndarray
    labels_only_high: np.ndarray
    n_documents: np.ndarray
    n_labelled: np.ndarray

    def __init__(
        self,
        counts: _Counts,
        rows: np.ndarray,
        labels: Mapping[str, np.ndarray],
        arguments: Mapping[str, Any],
    ):
        # rows: labelled documents; labels: their counts by actor; arguments: keywords
        # of corrected_count that all its calls share
        self.counts = counts
        self.periods, self.countries = list(counts.periods), list(labels)
        self.confidence_level = arguments["confidence_level"]
        self._rows, self._labels, self._arguments = rows, labels, dict(arguments)
        shape = len(self.periods), len(self.countries)
        self.period = object_array(self.periods).repeat(shape[1])
        self.country = np.tile(object_array(self.countries), shape[0])
        place = counts.document_place
        sizes = (np.bincount(each, minlength=shape[0]) for each in (place, place[rows]))
        self.n_documents, self.n_labelled = (size.repeat(shape[1]) for size in sizes)
        messages: dict[str, list[str]] = {}
        tables = []
        for country in self.countries:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                tables.append(self._table(*self._of(country), self._bounds()))
            for each in caught:
                messages.setdefault(str(each.message), []).append(country)
        for message, actors in messages.items():
            is_of_all = len(actors) == len(self.countries)
            warn(message if is_of_all else f"{', '.join(actors)}: {message}")
        for name in (*_NUMBERS, *_ALONE.values()):
            cells = np.array([table[name] for table in tables]).reshape(shape[::-1])
            setattr(self, name, cells.T.ravel())

    def _of(self, country: str) -> tuple[np.ndarray, np.ndarray]:
        """Return labels (NaN if missing) and expected counts of one actor."""
        y = np.full(len(self.counts.document_ids), np.nan)
        y[self._rows] = self._labels[country]
        return y, self.counts._moments_of(country)[0]

    def _bounds(self) -> tuple[float, float]:
        """Return the bounds of a document's count."""
        return 0.0, 1.0 if self.counts.unit == "documents" else np.inf

    def _run(
        self, y: np.ndarray, f: np.ndarray, bounds: tuple[float, float], **more: Any
    ) -> CorrectedCount:
        """Correct one count of the corpus."""
        try:
            return corrected_count(y, f, bounds=bounds, **{**self._arguments, **more})
        except ParameterError as error:
            name = _NAMES.get(str(error.name), error.name)
            raise type(error)(name, error.problem) from None

    def _table(
        self, y: np.ndarray, f: np.ndarray, bounds: tuple[float, float]
    ) -> dict[str, np.ndarray]:
        """Return columns with all periods, including columns for the labels alone."""
        names = period_names(self.periods)
        number = {name: t for t, name in enumerate(names)}
        periods = np.array(names)[self.counts.document_place]
        result = self._run(y, f, bounds, periods=periods)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # already issued for this sample
            alone = self._run(y, np.zeros_like(f), bounds, periods=periods, slope=0.0)
        assert result.table is not None
        assert alone.table is not None
        columns = {name: result.table[name] for name in _NUMBERS}
        columns |= {name: alone.table[key] for key, name in _ALONE.items()}
        at = [number[name] for name in result.table["period"].tolist()]
        found = {name: np.zeros(len(names)) for name in columns}
        for name, column in columns.items():
            found[name][at] = column
        return found

    def _result(
        self,
        y: np.ndarray,
        f: np.ndarray,
        bounds: tuple[float, float],
        period: Hashable,
    ) -> CorrectedCount:
        """Return the corrected count of all periods, or of one."""
        times = self.counts._check_period(period)
        if period is None:
            return self._run(y, f, bounds)
        result, t = self._run(y, f, bounds), times[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about other periods
            numbers: dict[str, Any] = {
                k: float(v[t]) for k, v in self._table(y, f, bounds).items()
            }
        alone = LabelsOnly(*(numbers.pop(name) for name in _ALONE.values()))
        cell = t * len(self.countries)
        n, n_documents = int(self.n_labelled[cell]), int(self.n_documents[cell])
        if n == 0 < n_documents:
            warn(
                f"Period {period!r} has no labelled document, and therefore no "
                "interval (NaN)."
            )
        widths = numbers["high"] - numbers["low"], alone.high - alone.low
        return replace(
            result,
            **numbers,
            labels_only=alone,
            equivalent_labels=equivalent_labels(*widths, n, n_documents),
            n_documents=n_documents,
            n_labelled=n,
        )

    @public
    def total(self, country: str, period: Hashable = None) -> CorrectedCount:
        """Return the corrected count of one actor.

        Parameters
        ----------
        country : str
            Code of the actor.
        period : label, default=None
            Label of the period. If None, the total over all periods is returned.

        Returns
        -------
        result : CorrectedCount
            Corrected count with its interval. The attributes `slope`, `n_errors` and
            `n_effective` are computed from the whole corpus, even if a period is given.
        """
        self._check_country(country, "country")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # EventCounts.corrected has issued them
            return self._result(*self._of(country), self._bounds(), period)

    @public
    def compare(
        self, first: str, second: str, period: Hashable = None
    ) -> CorrectedCount:
        """Return the corrected difference of the counts of two actors.

        Overlapping intervals do not show whether two counts differ, because both counts
        are corrected with the same labelled documents and are therefore dependent. In
        each document, this method computes the difference of the two labels and the
        difference of the two expected counts. It then corrects the sum of the
        differences.

        Parameters
        ----------
        first, second : str
            Codes of the actors.
        period : label, default=None
            Label of the period. If None, the difference of the totals over all periods
            is returned.

        Returns
        -------
        result : CorrectedCount
            Corrected count of `first` minus corrected count of `second`, with its
            interval.
        """
        self._check_country(first, "first")
        self._check_country(second, "second")
        (y, f), (other_y, other_f) = self._of(first), self._of(second)
        most = self._bounds()[1]
        return self._result(y - other_y, f - other_f, (-most, most), period)

    @public
    def trend(self, country: str, *, empty_periods: str = "zero") -> CorrectedCount:
        """Return the corrected trend of an actor's count.

        Parameters
        ----------
        country : str
            Code of the actor.
        empty_periods : {'zero', 'unobserved'}, default='zero'
            Periods without documents. 'zero' counts them as 0, as in the table, unless
            all steps between the other periods are equal. 'unobserved' leaves them out
            of the regression.

        Returns
        -------
        result : CorrectedCount
            Least-squares slope of the counts on time, in events per period, as in
            :func:`~skcalib.counts.corrected_count`. Periods whose labels are not
            numbers or dates are one unit of time apart. Periods without labels are
            included.

        Raises
        ------
        ValueError
            If fewer than two periods have documents.

        Warns
        -----
        UserWarning
            If periods without documents count as 0.
        """
        self._check_country(country, "country")
        empty = check_choice(empty_periods, EMPTY_PERIODS, name="empty_periods")
        y, f = self._of(country)
        times, may_be_missing = times_of(self.periods)
        time = times[self.counts.document_place]
        # `freq` defines all periods, unless their labels are on a calendar
        known = None if may_be_missing else times
        weight = slope_weights(time, times_of_trend(time, known, empty))
        result = self._run(y, f, self._bounds(), weight=weight)
        return replace(result, estimand="trend")

    def _check_country(self, country: Any, name: str) -> None:
        if not isinstance(country, Hashable) or country not in self._labels:
            raise ParameterError(
                name,
                f"must be an actor that was counted, one of {self.countries!r:.200}. "
                f"Got {country!r}.",
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as lists, with the settings."""
        settings = {
            "unit": self.counts.unit,
            "confidence_level": self.confidence_level,
        }
        return {**super().to_dict(), **settings}

    def _columns(self) -> dict[str, np.ndarray]:
        names = ("period", "country", *_NUMBERS, *_ALONE.values())
        return {name: getattr(self, name) for name in (*names, *_SIZES)}

    def _in_words(self) -> tuple[str, ...]:
        level = f"{100 * self.confidence_level:g}%"
        return (
            f"The {level} intervals are for the counts in the corpus of "
            f"{len(self.counts.document_ids)} documents. They are valid if the "
            f"{len(self._rows)} labelled documents were drawn at random.",
        )

    def __len__(self) -> int:
        return self.estimate.size

    def __repr__(self) -> str:
        ends = map(str, [*self.periods[:1], *self.periods[-1:]])
        span = f" {' to '.join(dict.fromkeys(ends))}" if self.periods else ""
        return (
            f"CorrectedEventCounts(n_countries={len(self.countries)}, "
            f"n_periods={len(self.periods)}{span}, n_labelled={len(self._rows)} of "
            f"{len(self.counts.document_ids)}, "
            f"confidence_level={self.confidence_level:g})"
        )
