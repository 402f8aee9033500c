"""
For social scientists
=====================

How many newspaper articles report a protest, how does the number change over the years,
and do two newspapers differ? A classifier predicts a probability for each article, but
it makes more errors in later years. A person reads a random sample of the articles.
With these labels, the intervals are valid although the classifier is wrong. The
articles are generated.
"""

# %%
# The corpus
# ----------
# For each article, there is the year, the newspaper and the probability of the
# classifier. The truth is known because the articles are generated.

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

rng = np.random.default_rng(1)
year = np.repeat(np.arange(2012, 2018), 250)
paper = np.where(rng.random(year.size) < 0.5, "Herald", "Times")
score = rng.normal(-1.5, 2, year.size) + 0.8 * (paper == "Times")
truth = rng.random(year.size) < expit(score)
proba = expit(score - 0.4 * (year - 2012))

# %%
# The uncorrected count
# ---------------------
# The sum of the probabilities decreases from year to year. The reason may be that there
# are fewer protests, or that the classifier misses more of them.

naive = np.bincount(year - 2012, proba)
print(dict(enumerate(naive.round().astype(int).tolist(), 2012)))

# %%
# Draw the articles to read
# -------------------------
# Draw 300 articles, stratified by year. Uncertain articles are more likely to be drawn.
# Keep the inclusion probabilities with the labels. The command
# ``skcalib sample docs.csv --n 300`` also draws articles.

from skcalib.counts import choose_documents, corrected_count

choice = choose_documents(
    np.sqrt(proba * (1 - proba)), 300, strata=year, random_state=0
)
print(choice)

# %%
# Read the articles without looking at the probabilities. The label of an article that
# nobody has read is NaN.

label = np.full(year.size, np.nan)
label[choice.index] = truth[choice.index]

# %%
# The corrected count
# -------------------
# Compute the corrected count of each year with its 95% interval.

design = {
    "inclusion_probability": choice.inclusion_probability,
    "strata": year,
}
by_year = corrected_count(label, proba, periods=year, **design)
table = by_year.table

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
years = np.arange(2012, 2018)
bars = [
    table["estimate"] - table["low"],
    table["high"] - table["estimate"],
]
ax.errorbar(
    years, table["estimate"], bars, fmt="o-", capsize=3, label="corrected, 95% interval"
)
ax.plot(years, naive, "s--", color="C7", label="sum of probabilities")
ax.plot(years, np.bincount(year - 2012, truth), "k_", markersize=18, label="truth")
ax.set(xlabel="year", ylabel="articles about protests", ylim=(0, None))
ax.legend()

# %%
# Is there a trend?
# -----------------
# The trend is the least-squares slope of the counts, in articles per year.

trend = corrected_count(label, proba, periods=year, estimand="trend", **design)
print(f"articles per year, by the classifier: {trend.uncorrected:+.1f}")
print(f"corrected: {trend.estimate:+.1f} [{trend.low:+.1f}, {trend.high:+.1f}]")

# %%
# Do the newspapers differ?
# -------------------------
# Compute the share of articles about protests for each newspaper.

by_paper = corrected_count(label, proba, by=paper, estimand="mean", **design)
columns = (by_paper.table[name] for name in ("by", "estimate", "low", "high"))
for name, share, low, high in zip(*columns, strict=True):
    print(f"{name}: {share:.3f} [{low:.3f}, {high:.3f}]")

# %%
# What to write
# -------------
# Report the estimate, its interval, the number of articles that were read, and how they
# were drawn.

total = corrected_count(label, proba, **design)
print(
    f"We estimate {total.estimate:.0f} articles about protests (95% interval "
    f"{total.low:.0f} to {total.high:.0f}): the sum of a classifier's probabilities, "
    f"corrected by {choice.index.size} of {year.size:,} articles, which were drawn at "
    "random within years with known probabilities and coded by hand."
)
print(f"true number: {truth.sum()}")
