"""
Counting attacks by quarter with uncertain coreference
======================================================

In how many articles is an entity of a country the agent of an attack? "Kenyan rebels
left the town. They attacked the port." counts for Kenya only if "they" are the rebels,
so the count depends on coreference. Figure 6 of Nguyen and O'Connor (2015) shows such
counts with intervals that represent the uncertainty of a coreference model. This
example repeats the figure with generated news.
"""

# %%
# The documents of two years are generated with parses and mentions. The scores of the
# antecedents are the scores from which the clusterings were drawn, so the model is
# correct.

from skcalib.datasets import make_event_documents
from skcalib.events import EventCounter, EventRule
from skcalib.plot import EventCountDisplay
from skcalib.posteriors import AntecedentPosterior

documents, events, scores = make_event_documents(
    300, n_days=730, return_scores=True, random_state=1
)
posterior = AntecedentPosterior(scores)
counter = EventCounter(EventRule(verbs=("attack",)), freq="quarter", random_state=0)
counts = counter.count(documents, posterior)

# %%
# A panel for each country
# ------------------------
#
# The solid line is the posterior mean of the count, and the band is its 95% interval.
# The dashed line is the count of a system that uses only the best antecedents. Such a
# system does not report any uncertainty.

EventCountDisplay.from_counts(counts)

# %%
# Two countries in one plot
# -------------------------
#
# These intervals use the quantiles of the distribution, so their ends are possible
# counts. Overlapping intervals do not show which country attacked more often, because
# the two counts are dependent: in one document, an entity of the first country is not
# an entity of the second country. `compare` computes the probability that the first
# count is greater from the joint distribution of both counts.

first, second = sorted(counts.countries)[:2]
EventCountDisplay.from_counts(
    counts, countries=[first, second], method="quantile", together=True
)

# %%
[counts.compare(first, second, period) for period in counts.periods[:3]]

# %%
# An overconfident model
# ----------------------
#
# If all scores are doubled, the model is overconfident: the intervals are narrower, and
# they contain the true count less often. Measure the calibration of the coreference
# model before you use its intervals.

sharp = counter.count(documents, posterior.tempered(0.5))
EventCountDisplay.from_counts(sharp)

# %%
for name, each in (("calibrated", counts), ("overconfident", sharp)):
    low, high = each.interval()
    true = [
        sum(
            country in found
            for found, document in zip(events, documents, strict=True)
            if f"{document.date.year}Q{(document.date.month + 2) // 3}" == period
        )
        for period, country in zip(each.period, each.country, strict=True)
    ]
    covered = sum((low <= true) & (true <= high))
    print(f"{name}: {covered} of {len(each)} intervals contain the true count")

# %%
# Counts corrected with labelled documents
# ----------------------------------------
#
# A person reads 100 of the documents, drawn at random within quarters, and labels their
# events. The corrected intervals (grey) are valid although the model is overconfident.
# They are wide, because there are only about twelve labels per quarter.

choice = sharp.choose_documents(100, mix=1, random_state=0)
truth = {each.id: found for each, found in zip(documents, events, strict=True)}
corrected = sharp.corrected(
    {name: truth[name] for name in choice.ids},  # what the reader found
    inclusion_probability=choice.inclusion_probability,
    strata="period",
)
EventCountDisplay.from_counts(corrected)

# %%
# The totals over the two years use all 100 labels, so their intervals are narrower
# relative to the counts.

for country in corrected.countries:
    total = corrected.total(country)
    true = sum(country in found for found in events)
    print(
        f"{country}: {total.estimate:.0f} [{total.low:.0f}, {total.high:.0f}], "
        f"model {total.uncorrected:.0f}, truth {true}"
    )

# %%
# Which documents to read
# -----------------------
#
# `uncertain_documents` returns the documents whose event is most uncertain, with the
# links between mentions on which the event depends.

for each in counts.uncertain_documents()[:3]:
    link = each.links[0]
    print(
        f"{each.id} ({each.period}): {each.country} with probability {each.proba:.2f}; "
        f"{link.agent_text!r} is {link.other_text!r} with probability {link.proba:.2f}"
    )
