"""
Links, entities and uncertainty of one document
===============================================

The predicted clusters of a coreference model do not show how probable they are. This
example plots one document with the possible antecedents of each mention, the predicted
entities, and the mentions whose entity is uncertain.
"""

# %%
# An antecedent ranker is trained on generated documents and applied to a new document.
# The scores of any other model can be converted to an AntecedentPosterior and plotted
# with ``DocumentDisplay.from_posterior``.

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
# Each row is a mention. Arcs lead to its possible antecedents, with stronger lines for
# higher probabilities. Words and arcs have the colour of the entity. The bar divides
# the probability among NEW (white) and the predicted entities (grey for entities with a
# single mention). The right column shows the most probable choices. They are in bold if
# more than a fifth of the probability is on other entities. If the best choice is
# wrong, the true choice is also shown.

display = DocumentDisplay.from_estimator(model, X[0], y_true=y[0])

# %%
# A part of a long document can be selected by mentions or by sentences. Arcs to earlier
# mentions end at the top edge.

DocumentDisplay.from_estimator(model, X[0], y_true=y[0], sentences=(6, 12))

# %%
# ``frame`` returns the numbers of the figure. The following table shows the most
# uncertain mentions.

columns = [
    "mention",
    "entity",
    "antecedent",
    "antecedent_proba",
    "uncertainty",
    "right",
]
display.frame().sort_values("uncertainty", ascending=False)[columns].head()
