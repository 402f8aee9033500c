"""
Is the gain significant?
========================

A tagger with a higher accuracy on one test set is not necessarily better. This example
trains many taggers on resamples of one training set and shows which gains are
significant in a paired test, depending on the gain and on the size of the test set.
"""

# %%
# Two taggers
# -----------
#
# Token accuracy is the ratio of two sums over sentences: the number of right tokens and
# the number of tokens. The test only needs these numbers for each sentence. In this
# example, the hidden Markov model is better because it was trained on more sentences.
# The p-value is computed without drawing resamples.

from skcalib import CRFTagger, HMMTagger
from skcalib.datasets import make_tagged_sentences
from skcalib.metrics import accuracy_statistics
from skcalib.significance import paired_bootstrap_test

X, y = make_tagged_sentences(1400, random_state=0)
X_train, y_train, X_test, y_test = X[:400], y[:400], X[400:], y[400:]


def statistics(model):
    return accuracy_statistics(y_test, model.predict(X_test))


hmm = HMMTagger(0.1).fit(X_train, y_train)
crf = CRFTagger(c2=0.01, max_iterations=30).fit(X_train[:300], y_train[:300])
paired_bootstrap_test(statistics(hmm), statistics(crf), statistic="ratio")

# %%
# Many systems
# ------------
#
# Many slightly different taggers are trained on resamples of the training set. The
# results of taggers of the same kind are highly correlated, because the taggers make
# the same errors.

from skcalib.significance import compare_systems, resample_training

systems = {}
for name, tagger, sizes in (
    ("HMM", hmm, [480, 440, 400, 360, 320]),
    ("CRF", crf, [360, 340, 320, 300, 280]),
):
    models = resample_training(
        tagger, X_train, y_train, n_models=10, sizes=sizes * 2, random_state=0
    )
    for k, fitted in enumerate(models):
        systems[f"{name} {k}"] = statistics(fitted)

comparison = compare_systems(systems, statistic="ratio")
comparison

# %%
# All 190 pairs are tested, and the p-values are adjusted for the number of pairs by
# Holm's method. Even very small p-values are precise, so many pairs are significant
# after the adjustment.

frame = comparison.frame()
frame.sort_values("pvalue").head()

# %%
# Confidence against gain
# -----------------------
#
# For two taggers of the same kind, a smaller gain is significant. The threshold is the
# 95% quantile of the gains of the pairs with a p-value of about .05. The legend shows
# the number of these pairs. The threshold is a rule of thumb and not a test.

from skcalib.plot import SignificanceDisplay

model = {name: name.split()[0] for name in systems}
SignificanceDisplay.from_comparison(
    comparison, model=model, metric_name="token accuracy"
)

# %%
# The size of the test set
# ------------------------
#
# With four times as many sentences, the threshold is about half as large.

from skcalib.significance import test_size_curve as size_curve

size_curve(
    systems,
    sizes=[60, 250, 1000],
    statistic="ratio",
    n_repeats=3,
    random_state=0,
).frame().round(4)
