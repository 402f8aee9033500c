"""
One document: links, entities, and what is uncertain
====================================================

A coreference model's clusters look equally sure on paper, whatever the model thought of
them. This picture shows one document with all that it thought: the possible antecedents
of each mention, the entities, and where it was not sure.
"""

# %%
# A ranker of antecedents, trained on generated documents, and one that it has not seen.
# Scores of any other model go into an AntecedentPosterior and from there into
# ``DocumentDisplay.from_posterior``.

from sklearn.pipeline import make_pipeline

from skcalib import AntecedentRanker, TemperatureScaling
from skcalib.coref import AntecedentFeatures
from skcalib.datasets import make_coref_documents
from skcalib.plot import DocumentDisplay

X, y = make_coref_documents(121, mean_mentions=30, random_state=0)
model = make_pipeline(
    AntecedentFeatures(2**14), TemperatureScaling(AntecedentRanker(C=0.1), cv=3)
)
model.fit(X[1:], y[1:])

# %%
# A row is a mention. Arcs lead to its possible antecedents, the stronger the more
# probable; words and arcs have the colour of the entity. The bar divides the
# probability among NEW (white) and the entities that are predicted (grey: mentions by
# themselves). The right column names the most probable choices, in bold where more than
# a fifth of the probability is for another entity, and the truth where the best choice
# is wrong.

display = DocumentDisplay.from_estimator(model, X[0], y_true=y[0])

# %%
# Of a long document a part is shown: some mentions, or those of some sentences. What
# stands before it is at the top edge.

DocumentDisplay.from_estimator(model, X[0], y_true=y[0], sentences=(6, 12))

# %%
# The numbers behind the picture, the least certain mentions first:

columns = [
    "mention",
    "entity",
    "antecedent",
    "antecedent_proba",
    "uncertainty",
    "right",
]
display.frame().sort_values("uncertainty", ascending=False)[columns].head()
