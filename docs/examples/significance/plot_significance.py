"""
Is the gain real?
=================

A tagger that is better by half a point on one test set need not be better. This page
trains many taggers on resamples of one training set, and looks at which gains a paired
test takes for real, and from which size on.
"""

# %%
# Two taggers
# -----------
#
# Token accuracy is a ratio of two sums over sentences: right tokens, and tokens. That
# is all the test needs. Here the hidden Markov model is ahead, having seen more
# sentences. The p-value is found without drawing a single resample.

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
# Training sets drawn with replacement make many slightly different taggers. Those of
# one model are closely correlated: they make the same mistakes.

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
# All 190 pairs are tested at once, and the adjusted p-values allow for that (Holm's
# rule). They are precise down to the smallest ones, so many survive.

frame = comparison.frame()
frame.sort_values("pvalue").head()

# %%
# Confidence against gain
# -----------------------
#
# Among taggers of one model a smaller gain is enough. A threshold is the gain that 95%
# of the pairs with a p-value of about .05 stay below; how many these are stands in the
# legend. It says what to expect and is no test.

from skcalib.plot import SignificanceDisplay

model = {name: name.split()[0] for name in systems}
SignificanceDisplay.from_comparison(
    comparison, model=model, metric_name="token accuracy"
)

# %%
# The size of the test set
# ------------------------
#
# Four times the sentences halve the threshold.

from skcalib.significance import test_size_curve as size_curve

size_curve(
    systems,
    sizes=[60, 250, 1000],
    statistic="ratio",
    n_repeats=3,
    random_state=0,
).frame().round(4)
