"""Counts of events per period and actor, with what coreference does not know."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtri

from .._results import TableRepr, as_frame, object_array
from .._validation import check_choice, check_fraction, check_real
from ._comparison import CountComparison
from ._counts import pmf_of, quantile, sum_of
from ._document_events import DocumentEvents, UncertainDocument

METHODS = ("normal", "quantile")


class EventCounts(TableRepr):
    """Posterior counts of events, for each period and actor.

    Made by :meth:`EventCounter.count`. The arrays have a row for each period and actor,
    in the order of periods and, within one, of actors. Every period between the first
    and the last document is there, with counts of 0 where nothing happened, and every
    actor that could be the agent of an event in some document.

    Attributes
    ----------
    period : ndarray of shape (n_cells,), object
        Label of the period: ``"1990Q1"``, ``"1990-01"``, ``"1990"``, the user's own, or
        ``"all"`` if there is one period.
    country : ndarray of shape (n_cells,), object
        Code of the actor, as the rule names it.
    mean : ndarray of shape (n_cells,)
        Posterior mean of the count.
    sd : ndarray of shape (n_cells,)
        Posterior standard deviation, which is what coreference does not know.
    monte_carlo_error : ndarray of shape (n_cells,)
        Standard error of `mean` from sampling: sd / sqrt(n_samples), where documents
        whose probabilities are exact add nothing to it.
    map_count : ndarray of shape (n_cells,), int
        Count with the best antecedents, as a system without uncertainty has it.
    n_documents : ndarray of shape (n_cells,), int
        Number of documents of the period.
    periods : list
        The periods in order, each once.
    countries : list of str
        The actors, sorted (or as asked for), each once.
    unit : str
        'documents' or 'entities'.
    n_samples : int
        Number of samples of each document.

    See Also
    --------
    EventCounter : Make it.
    skcalib.plot.EventCountDisplay : Draw it.

    Notes
    -----
    Documents are independent given their text, so the variance of a count is the sum of
    the variances of its documents, and its distribution their convolution: for
    ``unit="documents"`` a Poisson-binomial law. For what the interval does not contain
    see the guide.

    Examples
    --------
    >>> from skcalib.datasets import make_event_documents
    >>> from skcalib.events import EventCounter, EventRule
    >>> documents, _, scores = make_event_documents(
    ...     80, n_days=170, return_scores=True, random_state=0
    ... )
    >>> counts = EventCounter(EventRule(), random_state=0).count(documents, scores)
    >>> counts
    EventCounts(n_countries=4, n_periods=2 1990Q1 to 1990Q2, n_documents=80, ...)
    >>> low, high = counts.interval(method="quantile")
    >>> low[counts.country == "KEN"], high[counts.country == "KEN"]
    (array([1., 5.]), array([ 6., 11.]))
    >>> counts.compare("KEN", "FRA", "1990Q2")
    CountComparison(KEN > FRA: 0.943, equal: 0.038, less: 0.019, mean difference 3.66,
    period='1990Q2')
    >>> worst = counts.uncertain_documents()[0]
    >>> worst.id, worst.country, round(worst.proba, 2)
    ('generated-7', 'BOL', 0.51)
    >>> link = worst.links[0]
    >>> link.agent_text, link.other_text, round(link.proba, 2)
    ('The soldiers', 'Bolivian soldiers', 0.42)
    """

    def __init__(
        self,
        documents: Sequence[DocumentEvents],
        place: np.ndarray,
        periods: Sequence[Any],
        countries: Sequence[str],
        n_documents: np.ndarray,
        *,
        unit: str,
        n_samples: int,
        known: Sequence[str] = (),
    ):
        # place: period of each of these documents; n_documents: of all, by period;
        # known: actors that may be asked for too, whose counts are 0
        self.periods, self.countries = list(periods), list(countries)
        self.unit, self.n_samples = unit, n_samples
        self._documents, self._place = list(documents), np.asarray(place)
        self._column = {code: k for k, code in enumerate(self.countries)}
        self._known = frozenset((*self.countries, *known))
        shape = len(self.periods), len(self.countries)
        self.period = object_array(self.periods).repeat(shape[1])
        self.country = np.tile(object_array(self.countries), shape[0])
        self.n_documents = np.asarray(n_documents, dtype=np.intp).repeat(shape[1])
        self._n_counted = int(np.sum(n_documents))
        mean, variance, sampled, low, high = (np.zeros(shape) for _ in range(5))
        best = np.zeros(shape, dtype=np.intp)
        self._cells: dict[tuple[int, str], list[tuple[DocumentEvents, int]]] = {}
        for events, t in zip(self._documents, self._place.tolist(), strict=True):
            columns, kept = self._columns_of(events)
            of_mean, of_variance = (part[kept] for part in events.moments())
            mean[t, columns] += of_mean
            variance[t, columns] += of_variance
            sampled[t, columns] += 0 if events.law.exact else of_variance
            best[t, columns] += events.law.best[kept]
            low[t, columns] += events.law.low[kept]
            high[t, columns] += events.law.high[kept]
            for k in kept:
                self._cells.setdefault((t, events.countries[k]), []).append((events, k))
        self.mean, self.sd = mean.ravel(), np.sqrt(variance).ravel()
        self.monte_carlo_error = np.sqrt(sampled / n_samples).ravel()
        self.map_count = best.ravel()
        self._bounds = low.ravel(), high.ravel()

    def _columns_of(self, events: DocumentEvents) -> tuple[list[int], list[int]]:
        """Return the columns of a document's actors here, and there."""
        found = [
            (self._column[code], k)
            for k, code in enumerate(events.countries)
            if code in self._column
        ]
        return [here for here, _ in found], [there for _, there in found]

    def interval(
        self, confidence_level: float = 0.95, method: str = "normal"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return a credible interval of each count.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Posterior probability of the interval.
        method : {'normal', 'quantile'}, default='normal'
            'normal': mean +- 1.96 sd (at 0.95), as published; it may begin below 0.
            'quantile': quantiles of the count's exact distribution given the
            probabilities of its documents. The ends are possible counts, and the
            interval has at least the probability asked for.

        Returns
        -------
        low, high : ndarray of shape (n_cells,)
            Ends of the intervals.
        """
        caller = "EventCounts.interval"
        level = check_fraction(confidence_level, name="confidence_level", caller=caller)
        check_choice(method, METHODS, name="method", caller=caller)
        if method == "normal":
            half = float(ndtri((1 + level) / 2)) * self.sd
            return self.mean - half, self.mean + half
        ends = np.zeros((2, self.mean.size))
        # cells without an uncertain document need no distribution
        ends[:] = self.mean.round()
        for cell in np.flatnonzero(self.sd > 0).tolist():
            t, c = divmod(cell, len(self.countries))
            start, pmf = self._law(t, self.countries[c])
            tail = (1 - level) / 2
            ends[:, cell] = [quantile(start, pmf, p) for p in (tail, 1 - tail)]
        return ends[0], ends[1]

    def _law(self, t: int, country: str) -> tuple[int, np.ndarray]:
        """Return the distribution of the count of a period and actor."""
        own = self._cells.get((t, country), [])
        return sum_of([events.marginal(column) for events, column in own])

    def distribution(self, country: str, period: Any = None) -> np.ndarray:
        """Return the posterior distribution of one count.

        Parameters
        ----------
        country : str
            Code of the actor.
        period : label, default=None
            The period. None: all periods together.

        Returns
        -------
        pmf : ndarray of shape (largest possible count + 1,)
            Probability of the counts 0, 1, 2, ...
        """
        caller = "EventCounts.distribution"
        self._check_country(country, "country", caller)
        times = self._check_period(period, caller)
        start, pmf = sum_of([self._law(t, country) for t in times])
        return np.r_[np.zeros(start), pmf]

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Return certain bounds of each mean.

        They come from the probabilities of pairs of mentions, and hold for the mean of
        the number of documents whatever was sampled.

        Returns
        -------
        low, high : ndarray of shape (n_cells,)
            Bounds of the mean number of documents with an event; for
            ``unit="entities"`` of that number too, not of the number of entities.
        """
        return self._bounds

    def compare(self, first: str, second: str, period: Any = None) -> CountComparison:
        """Return the posterior probability that one count exceeds another.

        Intervals that overlap do not say this, and the two counts depend on each other:
        in one document an entity that is the first actor's is not the second's. Here
        the distribution of the difference is computed, within documents jointly and
        over documents by convolution.

        Parameters
        ----------
        first, second : str
            Codes of the actors.
        period : label, default=None
            The period. None: all periods together.

        Returns
        -------
        comparison : CountComparison
            A float, the probability that the count of `first` is greater, with the
            probabilities of `equal` and `less` beside it.
        """
        caller = "EventCounts.compare"
        self._check_country(first, "first", caller)
        self._check_country(second, "second", caller)
        times = self._check_period(period, caller)
        parts = []
        for events, t in zip(self._documents, self._place.tolist(), strict=True):
            if t in times and not {first, second}.isdisjoint(events.countries):
                difference = events.counts(first) - events.counts(second)
                parts.append(pmf_of(difference, events.law.proba))
        start, pmf = sum_of(parts)
        value = start + np.arange(pmf.size)
        return CountComparison(
            float(pmf[value > 0].sum()),
            float(pmf[value == 0].sum()),
            float(pmf[value < 0].sum()),
            float(value @ pmf),
            first,
            second,
            period,
        )

    def uncertain_documents(
        self, margin: float = 0.25, *, country: str | None = None, period: Any = None
    ) -> list[UncertainDocument]:
        """Return the documents that are most in doubt, and the mentions that decide.

        Of a calibrated model these are where errors are most frequent, so it pays to
        read them.

        Parameters
        ----------
        margin : float, default=0.25
            Largest distance of the probability of an event from 0.5.
        country : str, default=None
            Only of this actor.
        period : label, default=None
            Only of this period.

        Returns
        -------
        documents : list of UncertainDocument
            The nearest to 0.5 first; a document that is uncertain for several actors
            is there several times.
        """
        caller = "EventCounts.uncertain_documents"
        width = check_real(margin, low=0, high=0.5, name="margin", caller=caller)
        if country is not None:
            self._check_country(country, "country", caller)
        times = self._check_period(period, caller)
        found = []
        for events, t in zip(self._documents, self._place.tolist(), strict=True):
            if t not in times:
                continue
            for k, proba in enumerate(events.proba().tolist()):
                code = events.countries[k]
                near = abs(proba - 0.5) <= width + 1e-12
                if near and code in self._column and country in (None, code):
                    found.append(events.uncertain(k, proba, self.periods[t]))
        return sorted(
            found, key=lambda each: (abs(each.proba - 0.5), each.document, each.country)
        )

    def probabilities(self) -> dict[str, list]:
        """Return the probability of an event, for each document and actor.

        Returns
        -------
        columns : dict of list
            `document` (place), `id`, `period`, `country`, `proba`, its bounds `low` and
            `high`, and `exact`: whether `proba` is exact or from samples. Documents
            where no event is possible are left out.
        """
        columns: dict[str, list] = {
            name: []
            for name in (
                *("document", "id", "period", "country"),
                *("proba", "low", "high", "exact"),
            )
        }
        for events, t in zip(self._documents, self._place.tolist(), strict=True):
            for k, proba in enumerate(events.proba().tolist()):
                if events.countries[k] in self._column:
                    row = (
                        events.document,
                        events.id,
                        self.periods[t],
                        events.countries[k],
                        proba,
                        float(events.law.low[k]),
                        float(events.law.high[k]),
                        events.law.exact,
                    )
                    for column, value in zip(columns.values(), row, strict=True):
                        column.append(value)
        return columns

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as lists, with the settings."""
        columns = {name: array.tolist() for name, array in self._columns().items()}
        return {**columns, "unit": self.unit, "n_samples": self.n_samples}

    def frame(self, confidence_level: float = 0.95, method: str = "normal") -> Any:
        """Return a pandas DataFrame with a row for each period and actor.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Of the intervals.
        method : {'normal', 'quantile'}, default='normal'
            As in :meth:`interval`.

        Returns
        -------
        frame : DataFrame
            Columns are the arrays of this object, and `low` and `high`.
        """
        low, high = self.interval(confidence_level, method)
        columns = {**self._columns(), "low": low, "high": high}
        return as_frame(columns, caller="EventCounts.frame")

    def _columns(self) -> dict[str, np.ndarray]:
        names = ("period", "country", "mean", "sd", "monte_carlo_error", "map_count")
        return {name: getattr(self, name) for name in (*names, "n_documents")}

    def _check_country(self, country: Any, name: str, caller: str) -> None:
        if not isinstance(country, Hashable) or country not in self._known:
            raise ValueError(
                f"The {name!r} parameter of {caller} must be an actor that was "
                f"counted, one of {self.countries!r:.200}. Got {country!r}."
            )

    def _check_period(self, period: Any, caller: str) -> range:
        """Return the places of the periods meant."""
        if period is None:
            return range(len(self.periods))
        if not isinstance(period, Hashable) or period not in self.periods:
            raise ValueError(
                f"The 'period' parameter of {caller} must be one of the periods "
                f"{self.periods!r:.200}. Got {period!r}."
            )
        t = self.periods.index(period)
        return range(t, t + 1)

    def __len__(self) -> int:
        return self.mean.size

    def __repr__(self) -> str:
        exact = sum(events.law.exact for events in self._documents)
        ends = map(str, [*self.periods[:1], *self.periods[-1:]])
        span = f" {' to '.join(dict.fromkeys(ends))}" if self.periods else ""
        return (
            f"EventCounts(n_countries={len(self.countries)}, "
            f"n_periods={len(self.periods)}{span}, n_documents={self._n_counted}, "
            f"n_possible={len(self._documents)}, n_exact={exact}, unit={self.unit!r}, "
            f"n_samples={self.n_samples})"
        )
