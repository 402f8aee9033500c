"""
Attacks by quarter, and what coreference does not know
======================================================

In how many articles is an entity of a country the agent of an attack? "Kenyan rebels
left the town. They attacked the port." counts for Kenya only if "they" are the rebels,
so a count from text depends on coreference. Figure 6 of Nguyen and O'Connor (2015)
shows such counts with a band for what a model of coreference does not know. Here it is
on generated news.
"""

# %%
# Two years of documents with parses and mentions, and the scores of a model of
# antecedents, which here is the true one.

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
# The line is the posterior mean, the band the 95% interval. A system that follows the
# best antecedents has the dashed line, and nothing that says how far it may be off.

EventCountDisplay.from_counts(counts)

# %%
# Two countries in one plot
# -------------------------
#
# With intervals by quantiles, whose ends are counts that may be. Where the bands
# overlap the question who attacked more often is open; how open, `compare` says, which
# knows that in one document what is one country's is not the other's.

first, second = sorted(counts.countries)[:2]
EventCountDisplay.from_counts(
    counts, countries=[first, second], method="quantile", together=True
)

# %%
[counts.compare(first, second, period) for period in counts.periods[:3]]

# %%
# A model that is too sure
# ------------------------
#
# The same model with its scores doubled: the bands are narrow, and wrong more often
# than they say. So calibration of the coreference comes first.

sharp = counter.count(documents, posterior.tempered(0.5))
EventCountDisplay.from_counts(sharp)

# %%
for name, each in (("calibrated", counts), ("too sure", sharp)):
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
    print(f"{name}: {covered} of {len(each)} intervals hold the true count")

# %%
# Corrected by documents that were read
# -------------------------------------
#
# A person reads 100 of the documents, drawn at random within quarters. The corrected
# intervals (grey) are valid although the model is too sure. They are wider, because
# about twelve labels per quarter tell less than a model claims to know.

choice = sharp.choose_documents(100, mix=1, random_state=0)
truth = {each.id: found for each, found in zip(documents, events, strict=True)}
corrected = sharp.corrected(
    {name: truth[name] for name in choice.ids},  # what the reader found
    inclusion_probability=choice.inclusion_probability,
    strata="period",
)
EventCountDisplay.from_counts(corrected)

# %%
# Totals of the two years need less than those of single quarters:

for country in corrected.countries:
    total = corrected.total(country)
    true = sum(country in found for found in events)
    print(
        f"{country}: {total.estimate:.0f} [{total.low:.0f}, {total.high:.0f}], "
        f"model {total.uncorrected:.0f}, truth {true}"
    )

# %%
# What to read
# ------------
#
# The documents that are most in doubt, and the mentions whose link decides:

for each in counts.uncertain_documents()[:3]:
    link = each.links[0]
    print(
        f"{each.id} ({each.period}): {each.country} with {each.proba:.2f}; "
        f"{link.agent_text!r} is {link.other_text!r} with {link.proba:.2f}"
    )
