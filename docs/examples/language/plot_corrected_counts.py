"""
Counts over time, corrected by a few labels
===========================================

A model finds protests in newspaper articles. It was trained on articles of earlier
years and misses more protests every year. The sum of its probabilities therefore shows
a decrease that did not happen. This example corrects the counts with labels for a
random sample of the articles.
"""

# %%
# Generate 1,200 articles of six years. The true counts are known.

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from skcalib.counts import choose_documents, corrected_count

rng = np.random.default_rng(4)
year = np.repeat(np.arange(2010, 2016), 200)
score = rng.normal(-1.6, 2.2, year.size)
truth = rng.random(year.size) < expit(score)
proba = expit(score - 0.55 * (year - 2010))  # the error increases every year

# %%
# A person reads 240 of the articles, drawn within years. Articles about which the model
# is uncertain are drawn with a larger probability, and no probability is zero.

choice = choose_documents(
    np.sqrt(proba * (1 - proba)), 240, strata=year, random_state=0
)
y_true = np.full(year.size, np.nan)
y_true[choice.index] = truth[choice.index]  # what the reader found
result = corrected_count(
    y_true,
    proba,
    inclusion_probability=choice.inclusion_probability,
    strata=year,
    periods=year,
)
result.frame().round(1)

# %%
# The corrected intervals contain the true counts. The uncorrected intervals assume that
# the probabilities of the model are calibrated. They are narrow, and from the third
# year on they do not contain the true counts.

table, years = result.table, np.unique(year)
model_sd = np.sqrt(np.bincount(year - 2010, proba * (1 - proba)))

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.errorbar(
    years - 0.08,
    table["uncorrected"],
    1.96 * model_sd,
    fmt="s--",
    color="C7",
    capsize=3,
    label="model, uncorrected",
)
below = table["estimate"] - table["low"]
above = table["high"] - table["estimate"]
ax.errorbar(
    years + 0.08,
    table["estimate"],
    [below, above],
    fmt="o-",
    color="C0",
    capsize=3,
    label="corrected by 240 labels",
)
ax.plot(years, np.bincount(year - 2010, truth), "k_", markersize=18, label="truth")
ax.set(xlabel="year", ylabel="articles about protests", ylim=(0, None))
ax.legend()

# %%
# Estimate the trend in articles per year, without and with the correction.

trend = corrected_count(
    y_true,
    proba,
    inclusion_probability=choice.inclusion_probability,
    strata=year,
    periods=year,
    estimand="trend",
)
print(f"uncorrected: {trend.uncorrected:.1f}")
print(f"corrected:   {trend.estimate:.1f} [{trend.low:.1f}, {trend.high:.1f}]")
