"""
Entities above a threshold, from a tagger with one softmax per token
====================================================================

Many neural taggers classify each token independently. This example simulates such a
tagger, whose scores are too extreme, on generated sentences. It selects the predicted
entities that can be used without a manual check. No download and no neural library is
needed.
"""

# %%
# The entities of the sentences are noun phrases. The scores from which the true tags
# are drawn are known. The scores of the model are these scores with noise, multiplied
# by two.

import numpy as np

from skcalib.interop import scheme_transitions
from skcalib.posteriors import LinearChainPosterior

rng = np.random.default_rng(0)
classes = ["O", "B-NP", "I-NP"]
moves = scheme_transitions(classes)
lengths = rng.integers(5, 30, 1500)
scores = [rng.normal([0.5, 0, 0], 2.0, (n, 3)) for n in lengths]
truth = LinearChainPosterior(scores, *moves).sample(1, random_state=0)
gold = [[classes[k] for k in path[0]] for path in truth]
seen = [2 * (each + rng.normal(0, 0.7, each.shape)) for each in scores]
model = LinearChainPosterior(seen, *moves)
dev, test = slice(0, 700), slice(700, None)

# %%
# The probability of a predicted entity is the total probability of all taggings in
# which exactly these tokens are the entity. The model is overconfident. A temperature
# that is fitted to labelled sentences corrects the overconfidence and does not change
# the predictions.

from skcalib import ReliabilityDisplay
from skcalib.experimental import predicted_entities
from skcalib.queries import SpanQuery
from skcalib.recalibration import fit_temperature

temperature = fit_temperature(model[dev], gold[dev], classes)
recalibrated = model.tempered(temperature)
answers = {
    name: SpanQuery().from_posterior(gold[test], posterior[test], classes)
    for name, posterior in (
        ("as it is", model),
        (f"T = {temperature:.1f}", recalibrated),
    )
}
display = ReliabilityDisplay.from_predictions(
    answers["as it is"].y_true,
    {name: each.y_proba for name, each in answers.items()},
    groups=answers["as it is"].groups,
)

# %%
# The threshold for a precision of 80% is chosen on the labelled sentences. In other
# sentences, the precision is at least 80%, with a confidence of 95%.

from skcalib.rates import threshold_for_precision

labelled = SpanQuery().from_posterior(gold[dev], recalibrated[dev], classes)
found = threshold_for_precision(
    labelled.y_true, labelled.y_proba, precision=0.8, groups=labelled.groups
)
found

# %%
# The threshold is applied to new sentences, for which no labels are needed.

tokens = [[f"w{t}" for t in range(n)] for n in lengths[test]]
entities = predicted_entities(recalibrated[test], classes, tokens=tokens)
sure = entities.above(found.threshold)
print(f"{len(sure)} of {len(entities)} predicted entities")
print(sure.to_conll().partition("\n\n")[0])

# %%
# Since the true entities of this example are known, the precision can be computed.

new = list(answers.values())[1]
print(f"{new.y_true[new.y_proba >= found.threshold].mean():.3f} are right")
