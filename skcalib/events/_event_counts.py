"""Counts of events per period and actor: by the model, and corrected with labels."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from .._errors import ParameterError, ParameterTypeError, public, warn
from .._pairs import holm
from .._parallel import RandomStateLike
from .._periods import EMPTY_PERIODS, full_over_observed, period_names, trend_weights
from .._results import Result, as_frame, object_array
from .._validation import check_choice, check_fraction, check_pair, check_real
from ..counts import CorrectedCount, choose_documents, corrected_count
from ..counts._choose_documents import DocumentChoice
from ..counts._corrected_count import LARGEST, LEAST, NOT_A_SAMPLE, LabelsOnly
from ..counts._estimates import equivalent_labels
from ._event_probability import (
    SUM_ROUNDING,
    Corpus,
    CountComparison,
    DocumentEvents,
    PeriodComparison,
    UncertainDocument,
    difference_of,
    pmf_of,
    quantile,
    sum_of,
)

METHODS = ("normal", "quantile")

# What the count of a partial period is in a trend.
_PARTIAL = ("scaled", "counted")

# Ids and actors that a message lists.
_MOST_LISTED = 20


class _CountTable(Result):
    """Table with one row per period and actor, in the order of the periods."""

    _names: tuple[str, ...]  # of the columns

    def __init__(
        self, periods: Sequence[Any], countries: Sequence[str], known: Collection[str]
    ):
        # known: actors that can be asked for, including those without a row
        self.periods: list[Any] = list(periods)
        self.countries: list[str] = list(countries)
        self._known = frozenset(known)
        self.period: np.ndarray = object_array(self.periods).repeat(len(self.countries))
        self.country: np.ndarray = np.tile(
            object_array(self.countries), len(self.periods)
        )

    def _check_country(self, country: Any, name: str) -> None:
        if not isinstance(country, Hashable) or country not in self._known:
            raise ParameterError(
                name,
                f"must be an actor that was counted, one of {self.countries!r:.200}. "
                f"Got {country!r}.",
            )

    def _index_of(self, label: Any, name: str) -> int:
        """Return the index of the period that is passed as the parameter `name`."""
        if not isinstance(label, Hashable) or label not in self.periods:
            problem = f"must be one of the periods {self.periods!r:.200}."
            raise ParameterError(name, f"{problem} Got {label!r}.")
        return self.periods.index(label)

    def _check_period(self, period: Hashable) -> range:
        """Return the indices of the selected periods."""
        if period is None:
            return range(len(self.periods))
        t = self._index_of(period, "period")
        return range(t, t + 1)

    def _check_pair(
        self, first: Any, second: Any, months: Any, own: np.ndarray
    ) -> tuple[tuple[int, int], tuple[float, float]]:
        """Return the indices of two periods, and their months or (1, 1) if equal."""
        at = self._index_of(first, "first"), self._index_of(second, "second")
        if at[0] == at[1]:
            problem = f"must be another period than 'first'. Got {second!r} twice."
            raise ParameterError("second", problem)
        pair = own[list(at)].tolist() if months is None else months
        one, other = (
            check_real(n, low=LEAST, high=LARGEST, name="months")
            for n in check_pair(pair, name="months", what="numbers")
        )
        return at, (1.0, 1.0) if one == other else (one, other)

    def _comparison(
        self,
        rows: Sequence[Sequence[float]],
        first: Hashable,
        second: Hashable,
        lengths: tuple[float, float],
        level: float,
    ) -> PeriodComparison:
        """Return a comparison from estimate, ends and p-value of each actor."""
        estimate, low, high, pvalue = np.array(rows, dtype=float).T
        # The first p-value is that of the sum of all actors.
        adjusted = np.append(pvalue[:1], holm(pvalue[1:]))
        months = None if lengths == (1, 1) else lengths
        country = object_array([None, *self.countries])
        return PeriodComparison(
            country, estimate, low, high, pvalue, adjusted, first, second, months, level
        )

    def __len__(self) -> int:
        return self.period.size

    def _columns(self) -> dict[str, np.ndarray]:
        names = ("period", "country", *self._names)
        return {name: getattr(self, name) for name in names}

    def _shape_text(self) -> str:
        ends = map(str, [*self.periods[:1], *self.periods[-1:]])
        span = f" {' to '.join(dict.fromkeys(ends))}" if self.periods else ""
        return f"n_countries={len(self.countries)}, n_periods={len(self.periods)}{span}"


class EventCounts(_CountTable):
    """Posterior counts of events for each period and actor.

    :meth:`EventCounter.count` returns it. The arrays have an entry for each combination
    of a period and an actor, ordered by period and then by actor. Calendar periods are
    complete from the first to the last document, even if a period has no events. The
    actors are `EventCounter.countries`, or all actors that can be the agent of an event
    in at least one document.

    Attributes
    ----------
    period : ndarray of shape (n_cells,), object
        Label of the period: ``"1990Q1"``, ``"1990-01"``, ``"1990"``, a label that the
        user defined, or ``"all"`` for ``freq=None``.
    country : ndarray of shape (n_cells,), object
        Code of the actor in the rule.
    mean : ndarray of shape (n_cells,)
        Posterior mean of the count.
    sd : ndarray of shape (n_cells,)
        Posterior standard deviation of the count, due to uncertain coreference and, if
        sampled parses were given, uncertain parses.
    monte_carlo_error : ndarray of shape (n_cells,)
        Standard error of `mean` due to sampling, sd / sqrt(n_samples). Documents with
        exact probabilities do not contribute to it. If sampled parses were given, it
        includes the error that is due to their number.
    map_count : ndarray of shape (n_cells,), int
        Count that a system without probabilities would report: each mention is linked
        to its most probable antecedent. The document's own parse is used, also if
        sampled parses were given.
    n_documents : ndarray of shape (n_cells,), int
        Number of documents of the period.
    periods : list
        Labels of the periods in order.
    countries : list of str
        Codes of the actors, sorted or in the order of `EventCounter.countries`.
    unit : str
        'documents' or 'entities'.
    n_samples : int
        Number of samples of each document.
    months : ndarray of shape (n_periods,)
        Number of months of each year, quarter, month or week in which documents could
        be. The days before the first document and after the last one do not count,
        except for as many days as lie between two days with documents on average. Since
        the documents only show these days approximately, pass the `months` of
        :meth:`compare_periods` if they are known. For user-defined dates, the lengths
        in months. For days and periods of a callable, 1.
    document_ids : list
        Ids of all documents that were counted, including documents without an event.
    document_place : ndarray of shape (n_counted,), int
        Period of each of these documents, as an index into `periods`.

    See Also
    --------
    EventCounter : Estimator of these counts.
    CorrectedEventCounts : Counts corrected by labelled documents.
    skcalib.plot.EventCountDisplay : Plot of these counts.

    Notes
    -----
    Documents are independent given their text. The variance of a count is therefore the
    sum of the variances of the counts in its documents. The distribution of the count
    is the convolution of the distributions in its documents. For ``unit="documents"``,
    it is a Poisson-binomial distribution. The guide describes the errors that the
    interval does not include.

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
    >>> low, high = counts.interval()
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

    _names = ("mean", "sd", "monte_carlo_error", "map_count", "n_documents")

    def __init__(
        self,
        documents: Sequence[DocumentEvents],
        place: np.ndarray,
        periods: Sequence[Any],
        countries: Sequence[str],
        corpus: Corpus,
        *,
        unit: str,
        n_samples: int,
        known: Sequence[str] = (),
        has_trees: bool = False,
    ):
        # place: period of each of these documents; corpus: all documents, including
        # documents without an event; known: other actors, whose counts are 0;
        # has_trees: whether sampled parses were given
        super().__init__(periods, countries, (*countries, *known))
        self.unit: str = unit
        self.n_samples: int = n_samples
        self.document_ids: list[Any] = list(corpus.ids)
        self.document_place: np.ndarray = corpus.place
        self.months: np.ndarray = corpus.months
        n_documents = np.bincount(corpus.place, minlength=len(self.periods))
        self.n_documents: np.ndarray = n_documents.repeat(len(self.countries))
        self._documents, self._place = list(documents), place
        column = {code: k for k, code in enumerate(self.countries)}
        # documents with an actor that is counted, their periods and columns of actors
        self._events = [
            (events, t, k)
            for events, t in zip(self._documents, self._place.tolist(), strict=True)
            for k, code in enumerate(events.countries)
            if code in column
        ]
        self._cells: dict[tuple[int, str], list[DocumentEvents]] = {}
        for events, t, k in self._events:
            self._cells.setdefault((t, events.countries[k]), []).append(events)
        # Documents are independent, so these numbers of a cell are sums over documents.
        moments = [events.moments(k) for events, _, k in self._events]
        found = np.array(moments).reshape(-1, 10).T
        mean, variance, best, low, high, sampled, of_trees, *parts = found
        n = len(self.countries)
        places = [t * n + column[each.countries[k]] for each, t, k in self._events]
        cells = np.array(places, dtype=np.intp)

        def sums(of_documents: np.ndarray) -> np.ndarray:
            return np.bincount(cells, of_documents, len(self))

        self.mean: np.ndarray = sums(mean)
        # theory, (E1)
        self.sd: np.ndarray = np.sqrt(sums(variance))
        self.monte_carlo_error: np.ndarray = np.sqrt(
            sums(sampled) / n_samples + sums(of_trees)
        )
        self.map_count: np.ndarray = sums(best).astype(np.intp)
        self._bounds = sums(low), sums(high)
        self._parts = list(map(sums, parts)) if has_trees else None
        of_document = [events.document for events, _, _ in self._events]
        self._rows = np.searchsorted(corpus.index, of_document)
        self._mean, self._variance = mean, variance

    @public
    def interval(
        self, confidence_level: float = 0.95, method: str = "quantile"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return a credible interval of each count.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Posterior probability of the interval.
        method : {'quantile', 'normal'}, default='quantile'
            'quantile' uses quantiles of the exact distribution of the count, given the
            probabilities of its documents. The ends of this interval are possible
            counts, and its posterior probability is at least `confidence_level`.
            'normal' is the normal approximation, as in the paper: mean +- 1.96 sd for a
            level of 0.95. This interval may begin below 0 or end above the number of
            documents.

        Returns
        -------
        low, high : ndarray of shape (n_cells,)
            Ends of the intervals.
        """
        level = check_fraction(confidence_level, name="confidence_level")
        check_choice(method, METHODS, name="method")
        if method == "normal":
            half = float(ndtri((1 + level) / 2)) * self.sd
            return self.mean - half, self.mean + half
        # cells without an uncertain document need no distribution
        ends = np.tile(self.mean.round(), (2, 1))
        for cell in np.flatnonzero(self.sd > 0).tolist():
            t, c = divmod(cell, len(self.countries))
            start, pmf = self._distribution(t, self.countries[c])
            # The quantiles are those of the exact distribution of the sum.
            tail = (1 - level) / 2
            ends[:, cell] = [quantile(start, pmf, p) for p in (tail, 1 - tail)]
        return ends[0], ends[1]

    def _distribution(self, t: int, country: str | None) -> tuple[int, np.ndarray]:
        """Return the distribution of the count of a period and actor, or of all."""
        if country is None:
            counted = set(self.countries)
            sums = []
            for e in (self._documents[k] for k in np.flatnonzero(self._place == t)):
                each = [e.counts(c) for c in e.countries if c in counted]
                if each:
                    sums.append(pmf_of(np.sum(each, axis=0), e.distribution.proba))
            return sum_of(sums)
        own = self._cells.get((t, country), [])
        return sum_of([pmf_of(e.counts(country), e.distribution.proba) for e in own])

    @public
    def distribution(self, country: str, period: Hashable = None) -> np.ndarray:
        """Return the posterior distribution of one count.

        Parameters
        ----------
        country : str
            Code of the actor.
        period : label, default=None
            Label of the period. If None, the count is the total over all periods.

        Returns
        -------
        pmf : ndarray of shape (largest possible count + 1,)
            Probability of the counts 0, 1, 2, ...
        """
        self._check_country(country, "country")
        times = self._check_period(period)
        start, pmf = sum_of([self._distribution(t, country) for t in times])
        return np.r_[np.zeros(start), pmf]

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Return deterministic bounds on each mean.

        The bounds are computed from the probabilities of pairs of mentions. They do not
        depend on sampling.

        Returns
        -------
        low, high : ndarray of shape (n_cells,)
            Bounds on the mean number of documents with an event. The unit is documents
            even for ``unit="entities"``.
        """
        return self._bounds

    @public
    def variance_components(self) -> dict[str, np.ndarray]:
        """Split the variance of each count into parser, coreference and interaction.

        Returns
        -------
        columns : dict of ndarray of shape (n_cells,)
            Columns `period`, `country`, `parser`, `coreference` and `interaction`. The
            last three are variances. Their sum is ``sd ** 2``.

        Raises
        ------
        ValueError
            If the counts were computed without sampled parses.

        Notes
        -----
        This is the two-way analysis of variance of the count n with the parse T and the
        clustering C of a document as independent factors:

        - parser: the variance of E[n | T] over parses,
        - coreference: the variance of E[n | C] over clusterings,
        - interaction: the rest, which is the variance of n - E[n | T] - E[n | C].

        The components of a cell are sums over its documents. The K parses of a document
        are taken as the distribution of its parse, so that the components add up. If
        they are a random sample, the parser component and the interaction are (K - 1) /
        K times the components of the whole distribution on average, and the coreference
        component is too large by 1 / K of the interaction. Sampled clusterings have the
        same effect, with their number instead of K.

        Examples
        --------
        >>> from skcalib.datasets import make_event_documents
        >>> from skcalib.events import EventCounter, EventRule
        >>> documents, _, scores = make_event_documents(
        ...     50, return_scores=True, random_state=0
        ... )
        >>> trees = [[document] for document in documents]  # the parses are certain
        >>> counter = EventCounter(EventRule(), freq=None, random_state=0)
        >>> counts = counter.count(documents, scores, trees)
        >>> parts = counts.variance_components()
        >>> parts["coreference"].round(2), parts["parser"]
        (array([2.33, 2.54, 2.  , 2.65]), array([0., 0., 0., 0.]))
        """
        if self._parts is None:
            raise ParameterError(
                None,
                "needs counts of sampled parses. Pass `trees` to EventCounter.count.",
            )
        names = ("parser", "coreference", "interaction")
        parts = dict(zip(names, self._parts, strict=True))
        return {"period": self.period, "country": self.country, **parts}

    @public
    def compare(
        self, first: str, second: str, period: Hashable = None
    ) -> CountComparison:
        """Return the posterior probability that one count exceeds another.

        Overlapping intervals do not show which count is greater, because the two counts
        are dependent: in one document, an entity of the first actor is not an entity of
        the second actor. This method computes the distribution of the difference from
        the joint distribution of the two counts in each document, by convolution over
        documents.

        Parameters
        ----------
        first, second : str
            Codes of the actors.
        period : label, default=None
            Label of the period. If None, the count is the total over all periods.

        Returns
        -------
        comparison : CountComparison
            Probability that the count of `first` is greater. It is a float with
            attributes such as `equal` and `less`.
        """
        self._check_country(first, "first")
        self._check_country(second, "second")
        times = self._check_period(period)
        # Both counts of a document depend on each other, so their difference is taken
        # in each outcome of the document, and then added up over documents.
        parts = []
        for events, t in zip(self._documents, self._place.tolist(), strict=True):
            if t in times and not {first, second}.isdisjoint(events.countries):
                difference = events.counts(first) - events.counts(second)
                parts.append(pmf_of(difference, events.distribution.proba))
        start, pmf = sum_of(parts)
        value = start + np.arange(pmf.size)
        orders = value > 0, value == 0, value < 0
        greater, equal, less = (float(pmf[each].sum()) for each in orders)
        mean = float(value @ pmf)
        return CountComparison(greater, equal, less, mean, first, second, period)

    @public
    def compare_periods(
        self,
        first: Hashable,
        second: Hashable,
        *,
        months: tuple[float, float] | None = None,
        confidence_level: float = 0.95,
    ) -> PeriodComparison:
        """Compare the counts of two periods, of all actors and of each.

        The difference is that of two independent counts, whose distributions are those
        of :meth:`interval`. Like these intervals, it accounts for uncertain coreference
        only. :meth:`CorrectedEventCounts.compare_periods` accounts for errors of the
        model too.

        Parameters
        ----------
        first, second : label
            Labels of the periods.
        months : tuple of two floats, default=None
            Months of both periods in which documents could be. If None, they are taken
            from the dates (:attr:`months`). If they differ, counts per month are
            compared.
        confidence_level : float, default=0.95
            Posterior probability of the intervals.

        Returns
        -------
        comparison : PeriodComparison
            Differences, first minus second, with intervals and p-values. A p-value is
            twice the smaller posterior probability of a difference of at most or at
            least 0. For a calibrated model, a difference with p below 0.05 has the
            wrong sign, or is 0, with a probability of at most 2.5%.

        Raises
        ------
        ValueError
            If a period is unknown, if both are the same, or if a number of months is
            not positive.
        """
        level = check_fraction(confidence_level, name="confidence_level")
        pair, lengths = self._check_pair(first, second, months, self.months)
        rows = []
        for country in (None, *self.countries):
            one, other = (self._distribution(t, country) for t in pair)
            rows.append(difference_of(one, other, lengths, level))
        return self._comparison(rows, first, second, lengths, level)

    @public
    def uncertain_documents(
        self,
        margin: float = 0.25,
        *,
        country: str | None = None,
        period: Hashable = None,
    ) -> list[UncertainDocument]:
        """Return the most uncertain documents and their most relevant links.

        If the model is calibrated, its errors are most frequent in these documents.

        Parameters
        ----------
        margin : float, default=0.25
            Maximum distance between the probability of an event and 0.5.
        country : str, default=None
            Code of an actor. If None, all actors are included.
        period : label, default=None
            Label of a period. If None, all periods are included.

        Returns
        -------
        documents : list of UncertainDocument
            Uncertain documents, ordered by the distance of their probability from 0.5,
            smallest distance first. A document that is uncertain for several actors
            occurs several times.
        """
        width = check_real(margin, low=0, high=0.5, name="margin")
        if country is not None:
            self._check_country(country, "country")
        times = self._check_period(period)
        found = [
            events.uncertain(k, self.periods[t])
            for events, t, k in self._events
            if t in times
            and country in (None, events.countries[k])
            and abs(events.proba(k) - 0.5) <= width + SUM_ROUNDING
        ]
        return sorted(
            found, key=lambda each: (abs(each.proba - 0.5), each.document, each.country)
        )

    def probabilities(self) -> dict[str, list[Any]]:
        """Return the probability of an event for each document and actor.

        Returns
        -------
        columns : dict of list
            Columns `document` (index), `id`, `period`, `country`, `proba`, `low` and
            `high` (bounds on `proba`), and `exact` (whether `proba` is exact, given the
            parses, rather than estimated from samples). Documents in which no event is
            possible are left out.
        """
        found = [events.uncertain(k, self.periods[t]) for events, t, k in self._events]
        names = ("document", "id", "period", "country", "proba", "low", "high")
        columns = {name: [getattr(each, name) for each in found] for name in names}
        exact = [events.distribution.exact for events, _, _ in self._events]
        return {**columns, "exact": exact}

    @public
    def choose_documents(
        self,
        n: int,
        *,
        strata: ArrayLike | str | None = "period",
        mix: float = 0.5,
        random_state: RandomStateLike = None,
    ) -> DocumentChoice:
        """Draw documents to label, with a preference for uncertain documents.

        The probability that a document is drawn increases with the posterior standard
        deviation of its count, which is the square root of the sum of the variances
        over actors. Documents without an event can be drawn too, because the model may
        have missed an event.

        Parameters
        ----------
        n : int
            Number of documents to label.
        strata : 'period', array-like of shape (n_counted,) or None, \
default='period'
            Strata within which documents are drawn, with at least two documents per
            stratum. 'period' uses the periods of the counts. If None, documents are
            drawn from the whole corpus.
        mix : float, default=0.5
            Weight, in (0, 1], of the part of the probability that is equal for all
            documents. The part that is proportional to the standard deviation has the
            weight 1 - mix. A value of 1 gives equal probabilities (within strata).
            Equal probabilities are better for fewer than 50 labels and for rare events.
        random_state : int, RandomState, Generator or None, default=None
            Random state used to draw the sample.

        Returns
        -------
        choice : DocumentChoice
            `ids` of the chosen documents, and `inclusion_probability` of all documents.

        Raises
        ------
        ValueError
            If two documents have the same id, if a document has no id, or if `n` is
            larger than the number of documents or too small for two documents per
            stratum.

        See Also
        --------
        corrected : Correct the counts with the labels of these documents.
        """
        _check_ids(self.document_ids)
        # The sum over actors. Documents without a possible event have the variance 0.
        variance = np.bincount(self._rows, self._variance, len(self.document_ids))
        codes = self._strata(strata)
        choice = choose_documents(
            np.sqrt(variance), n, strata=codes, mix=mix, random_state=random_state
        )
        ids = [self.document_ids[row] for row in choice.index.tolist()]
        return replace(choice, ids=ids)

    def _strata(self, strata: Any) -> Any:
        if not isinstance(strata, str):
            return strata
        if strata != "period":
            raise ParameterError(
                "strata",
                "must be 'period', None or one label for each document. Got "
                f"{strata!r}.",
            )
        return np.array(period_names(self.periods))[self.document_place]

    @public
    def corrected(
        self,
        labelled: Mapping[Any, Mapping[str, float]],
        *,
        inclusion_probability: ArrayLike | None = None,
        strata: ArrayLike | str | None = None,
        groups: ArrayLike | None = None,
        method: str = "auto",
        unit: float = 1.0,
        slope: str | float = "shrunk",
        confidence_level: float = 0.95,
    ) -> CorrectedEventCounts:
        """Correct the counts with labelled documents.

        The intervals of :meth:`interval` only include the uncertainty of coreference
        and of sampled parses under the models. The intervals of this method are also
        valid if the model, the parser or the rule make errors. They require that the
        labelled documents were drawn at random.

        Parameters
        ----------
        labelled : mapping of id to mapping of str to float
            True counts of the labelled documents. The keys are the ids of the
            documents. The value of a document is a mapping {code: count}, which is
            empty if the document has no events. If the unit of the counts is
            'documents', counts above 1 are replaced by 1.
        inclusion_probability : float or array-like of shape (n_counted,), default=None
            Probability with which each document of the corpus was drawn, in the order
            of `document_ids`, as :meth:`choose_documents` returns it. If None, all
            documents (within each stratum) are assumed to have been drawn with equal
            probabilities.
        strata : 'period', array-like of shape (n_counted,) or None, default=None
            Strata within which documents were drawn. Pass 'period' if
            :meth:`choose_documents` drew the documents with periods as strata. Without
            these strata, the intervals of totals and trends are valid, but too wide.
        groups : array-like of shape (n_counted,), default=None
            Groups of documents that were drawn as a whole, such as all articles of a
            newspaper.
        method : {'auto', 'score', 't'}, default='auto'
            Method of the intervals, as in :func:`~skcalib.counts.corrected_count`.
        unit : float, default=1.0
            Smallest possible error of a count, other than 0, as in corrected_count.
        slope : {'shrunk', 'best'} or float, default='shrunk'
            Coefficient of the posterior means, as in corrected_count.
        confidence_level : float, default=0.95
            Confidence level of the intervals.

        Returns
        -------
        corrected : CorrectedEventCounts
            Corrected counts of each period and actor, with the counts of the model and
            the estimates from the labels alone. Actors that occur only in the labels
            are included.

        Raises
        ------
        ValueError
            If two documents have the same id, if a document has no id, if a label
            belongs to a document that was not counted or to an unknown actor, if a
            count is negative, if there are fewer than five labels, or if all labelled
            documents are on one side of the median of the posterior means.

        Warns
        -----
        UserWarning
            In the cases listed in :func:`~skcalib.counts.corrected_count`. The message
            begins with the codes of the actors for which the warning was issued, unless
            it was issued for all actors.

        See Also
        --------
        choose_documents : Draw the documents to label.
        skcalib.counts.corrected_count : Correct any other count.
        """
        rows, labels = _read_labels(
            labelled, self.document_ids, self.countries, self._known
        )
        if self.unit == "documents":
            labels = {code: np.minimum(y, 1) for code, y in labels.items()}
        level = check_fraction(confidence_level, name="confidence_level")
        arguments = {
            "inclusion_probability": inclusion_probability,
            "strata": self._strata(strata),
            "groups": groups,
            "method": method,
            "unit": unit,
            "slope": slope,
            "confidence_level": level,
        }
        return CorrectedEventCounts(self, rows, labels, arguments)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as lists, with the settings."""
        return {**super().to_dict(), "unit": self.unit, "n_samples": self.n_samples}

    @public
    def frame(self, confidence_level: float = 0.95, method: str = "quantile") -> Any:
        """Return a DataFrame with one row per period and actor.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Confidence level of the intervals.
        method : {'quantile', 'normal'}, default='quantile'
            Method of :meth:`interval`.

        Returns
        -------
        frame : DataFrame
            Columns with the arrays of this object and with the ends `low` and `high` of
            the intervals.
        """
        low, high = self.interval(confidence_level, method)
        columns = {**self._columns(), "low": low, "high": high}
        return as_frame(columns, method=f"{type(self).__name__}.frame")

    def __repr__(self) -> str:
        start = f"{self._shape_text()}, n_documents={len(self.document_ids)}"
        return self._summary(start, "unit n_samples")


# Corrected counts

# Columns of the table of corrected_count, and columns for the labels alone.
_NUMBERS = ("estimate", "low", "high", "standard_error", "uncorrected")
_ALONE = {key: f"labels_only_{key}" for key in _NUMBERS[:3]}


class CorrectedEventCounts(_CountTable):
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

    _names = (*_NUMBERS, *_ALONE.values(), "n_documents", "n_labelled")

    def __init__(
        self,
        counts: EventCounts,
        rows: np.ndarray,
        labels: Mapping[str, np.ndarray],
        arguments: Mapping[str, Any],
    ):
        # rows: labelled documents; labels: their counts by actor; arguments: keywords
        # of corrected_count that all its calls share
        super().__init__(counts.periods, list(labels), labels)
        self.counts = counts
        self.confidence_level = arguments["confidence_level"]
        self._rows, self._labels, self._arguments = rows, labels, dict(arguments)
        self._most = 1.0 if counts.unit == "documents" else np.inf
        shape = len(self.periods), len(self.countries)
        place = counts.document_place
        sizes = (np.bincount(each, minlength=shape[0]) for each in (place, place[rows]))
        self.n_documents, self.n_labelled = (size.repeat(shape[1]) for size in sizes)
        # A warning that several actors have in common is issued once, with their codes.
        messages: dict[str, list[str]] = {}
        tables = []
        for country in self.countries:
            with warnings.catch_warnings(record=True, action="always") as caught:
                tables.append(self._table(*self._of(country)))
            for each in caught:
                messages.setdefault(str(each.message), []).append(country)
        doubts = [each for each in messages if NOT_A_SAMPLE in each]
        if doubts:
            actors = [code for each in doubts for code in messages.pop(each)]
            warn(
                f"{', '.join(actors)}: {doubts[0]} The counts of all actors are "
                "corrected with these documents."
            )
        for message, actors in messages.items():
            is_of_all = len(actors) == len(self.countries)
            warn(message if is_of_all else f"{', '.join(actors)}: {message}")
        numbers = np.array([list(table.values()) for table in tables])
        numbers = numbers.reshape(shape[1], 8, shape[0]).transpose(1, 2, 0)
        # in the order of _NUMBERS and _ALONE; each by period, and then by actor
        columns = numbers.reshape(8, -1)
        self.estimate, self.low, self.high, self.standard_error = columns[:4]
        self.uncorrected, self.labels_only_estimate = columns[4:6]
        self.labels_only_low, self.labels_only_high = columns[6:]

    def _of(self, country: str) -> tuple[np.ndarray, np.ndarray]:
        """Return labels (NaN if missing) and expected counts of one actor."""
        counts, n = self.counts, len(self.counts.document_ids)
        y = np.full(n, np.nan)
        y[self._rows] = self._labels[country]
        own = np.array([e.countries[k] == country for e, _, k in counts._events], bool)
        return y, np.bincount(counts._rows[own], counts._mean[own], n)

    def _run(
        self, y: np.ndarray, f: np.ndarray, low: float = 0.0, **more: Any
    ) -> CorrectedCount:
        """Correct a count of the corpus that is at least `low` in each document."""
        arguments = {**self._arguments, "bounds": (low, self._most), **more}
        try:
            return corrected_count(y, f, **arguments)
        except ParameterError as error:
            name = "labelled" if error.name == "y_true" else error.name
            raise type(error)(name, error.problem) from None

    def _table(
        self, y: np.ndarray, f: np.ndarray, low: float = 0.0
    ) -> dict[str, np.ndarray]:
        """Return columns with all periods, including columns for the labels alone."""
        names = period_names(self.periods)
        periods = np.array(names)[self.counts.document_place]
        table = self._run(y, f, low, periods=periods).table
        # Warnings were already issued for this sample.
        with warnings.catch_warnings(action="ignore"):
            # With expectations of 0 and no slope, the labels alone remain.
            alone = self._run(y, np.zeros_like(f), low, periods=periods, slope=0.0)
        assert table is not None
        assert alone.table is not None
        columns = {name: table[name] for name in _NUMBERS}
        columns |= {name: alone.table[key] for key, name in _ALONE.items()}
        # periods without documents are not in the table, and have counts of 0
        number = {name: t for t, name in enumerate(names)}
        at = [number[name] for name in table["period"].tolist()]
        found = {name: np.zeros(len(names)) for name in columns}
        for name, column in columns.items():
            found[name][at] = column
        return found

    def _result(
        self, y: np.ndarray, f: np.ndarray, period: Hashable, low: float = 0.0
    ) -> CorrectedCount:
        """Return the corrected count of all periods, or of one."""
        times = self._check_period(period)
        result = self._run(y, f, low)
        if period is None:
            return result
        with warnings.catch_warnings(action="ignore"):  # those about other periods
            table = self._table(y, f, low)
        numbers: dict[str, Any] = {k: float(v[times[0]]) for k, v in table.items()}
        numbers["pvalue"] = None
        alone = LabelsOnly(*(numbers.pop(name) for name in _ALONE.values()))
        cell = times[0] * len(self.countries)
        n, n_documents = int(self.n_labelled[cell]), int(self.n_documents[cell])
        if n == 0 < n_documents:
            warn(
                f"Period {period!r} has no labelled document, and therefore no "
                "interval (NaN)."
            )
        widths = numbers["high"] - numbers["low"], alone.high - alone.low
        numbers["equivalent_labels"] = equivalent_labels(*widths, n, n_documents)
        numbers |= {"labels_only": alone, "n_documents": n_documents, "n_labelled": n}
        return replace(result, **numbers)

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
        # EventCounts.corrected has issued the warnings.
        with warnings.catch_warnings(action="ignore"):
            return self._result(*self._of(country), period)

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
        # The difference of one document lies between -most and most.
        return self._result(y - other_y, f - other_f, period, low=-self._most)

    @public
    def compare_periods(
        self,
        first: Hashable,
        second: Hashable,
        *,
        months: tuple[float, float] | None = None,
    ) -> PeriodComparison:
        """Compare the corrected counts of two periods, of all actors and of each.

        Both counts are corrected with the labels of all periods, so that they depend on
        each other. Each document has the weight 1 in the first period, -1 in the second
        period, and 0 in others, as in :func:`~skcalib.counts.corrected_count` with
        `compare`.

        Parameters
        ----------
        first, second : label
            Labels of the periods.
        months : tuple of two floats, default=None
            Months of both periods in which documents could be. If None, they are taken
            from the dates (:attr:`EventCounts.months`). If they differ, counts per
            month are compared.

        Returns
        -------
        comparison : PeriodComparison
            Corrected differences, first minus second, with intervals and p-values. They
            are NaN if one of the periods has no label.

        Raises
        ------
        ValueError
            If a period is unknown, if both are the same, or if a number of months is
            not positive.

        Warns
        -----
        UserWarning
            If one of the periods has documents but no label.
        """
        pair, lengths = self._check_pair(first, second, months, self.counts.months)
        place = self.counts.document_place
        # A period without documents has the count 0.
        signs = np.zeros(len(self.periods))
        signs[list(pair)] = 1 / lengths[0], -1 / lengths[1]
        n_labelled, n_documents = (
            each[:: len(self.countries)][list(pair)]
            for each in (self.n_labelled, self.n_documents)
        )
        is_known = not ((n_labelled == 0) & (n_documents > 0)).any()
        if not is_known:
            warn(
                f"One of the periods {first!r} and {second!r} has documents but no "
                "label, so that the difference has no interval and no p-value (NaN)."
            )
        each = [self._of(country) for country in self.countries]
        most = self._most * len(self.countries)
        sums = [(*np.sum(each, axis=0), most), *((*e, self._most) for e in each)]
        rows = []
        # EventCounts.corrected has issued the warnings.
        with warnings.catch_warnings(action="ignore"):
            for y, f, end in sums:
                found = self._run(y, f, weight=signs[place], bounds=(0.0, end))
                ends = [found.low, found.high, found.pvalue]
                rows.append([found.estimate, *(ends if is_known else [np.nan] * 3)])
        return self._comparison(rows, first, second, lengths, self.confidence_level)

    @public
    def trend(
        self,
        country: str,
        *,
        empty_periods: str = "zero",
        partial_periods: str = "scaled",
    ) -> CorrectedCount:
        """Return the corrected trend of an actor's count.

        Parameters
        ----------
        country : str
            Code of the actor.
        empty_periods : {'zero', 'unobserved'}, default='zero'
            Periods without documents. 'zero' counts them as 0, as in the table, unless
            all steps between the other periods are equal. 'unobserved' leaves them out
            of the regression.
        partial_periods : {'scaled', 'counted'}, default='scaled'
            Years, quarters, months and weeks in which the documents begin or end
            (:attr:`EventCounts.months`). 'scaled' multiplies a count of 8 months by 12
            / 8. 'counted' takes the counts as they are, so that a corpus that begins
            within a year seems to rise.

        Returns
        -------
        result : CorrectedCount
            Least-squares slope of the counts on time, in events per full period, as in
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
        place, months = self.counts.document_place, self.counts.months
        weight = trend_weights(self.periods, place, empty)
        partial = check_choice(partial_periods, _PARTIAL, name="partial_periods")
        if partial == "scaled":
            weight = weight * full_over_observed(months)[place]
        return replace(self._run(*self._of(country), weight=weight), estimand="trend")

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as lists, with the settings."""
        return {
            **super().to_dict(),
            "unit": self.counts.unit,
            "confidence_level": self.confidence_level,
        }

    def _in_words(self) -> tuple[str, ...]:
        level = f"{100 * self.confidence_level:g}%"
        return (
            f"The {level} intervals are for the counts in the corpus of "
            f"{len(self.counts.document_ids)} documents. They are valid if the "
            f"{len(self._rows)} labelled documents were drawn at random.",
        )

    def __repr__(self) -> str:
        labelled = f"n_labelled={len(self._rows)} of {len(self.counts.document_ids)}"
        return self._summary(f"{self._shape_text()}, {labelled}", "confidence_level:g")


# Labels


def _read_labels(
    labelled: Any, ids: Sequence[Any], countries: Sequence[str], known: Collection[str]
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the places of labelled documents, and their counts by actor.

    The actors are `countries`, followed by actors that occur only in the labels.
    """
    places = _check_ids(ids)
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
            f"{len(unknown)} of {len(labelled)} that were not: {listed(unknown)}. "
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
            f"must have codes of actors that were counted. Got {listed(unknown)} for "
            f"{name!r}. Use the codes of the rule, or the `countries` of "
            f"EventCounter: {listed(sorted(known))}.",
        )
    for code, count in events.items():
        is_number = isinstance(count, (Real, np.bool_))
        if not is_number or not 0 <= float(count) < np.inf:
            raise ParameterError(
                "labelled",
                f"must have counts that are finite and not negative. Got {count!r} "
                f"for {code!r} in {name!r}.",
            )


def _check_ids(ids: Sequence[Any]) -> dict[Any, int]:
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


def listed(values: Sequence[Any]) -> str:
    """Return the first values as text, and how many more there are."""
    more = len(values) - _MOST_LISTED
    shown = ", ".join(map(repr, values[:_MOST_LISTED]))
    return shown + (f" and {more} more" if more > 0 else "")
