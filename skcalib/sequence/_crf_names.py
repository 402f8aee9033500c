"""Methods and attributes of sklearn_crfsuite.CRF, for compatibility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import sklearn_crfsuite
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .._errors import public
from ._base import BaseTagger

Sentence: TypeAlias = (
    Sequence[str] | Sequence[Mapping[str, object]] | sparse.sparray | sparse.spmatrix
)


class CRFsuiteNames(BaseTagger):
    """A tagger with the methods and attributes of sklearn_crfsuite.CRF."""

    model_bytes_: bytes
    training_log_: Any

    def _settings(self) -> dict[str, Any]:
        raise NotImplementedError

    @public
    def predict_single(self, xseq: Sentence) -> list[Any]:
        """Predict the tags of one sentence.

        Parameters
        ----------
        xseq : sequence of tokens
            The sentence.

        Returns
        -------
        labels : list of labels
            Predicted labels, as in :meth:`predict`.
        """
        return self.predict([xseq])[0]

    @public
    def predict_marginals_single(self, xseq: Sentence) -> list[dict[Any, float]]:
        """Return the probability of each tag at each token of one sentence.

        Parameters
        ----------
        xseq : sequence of tokens
            The sentence.

        Returns
        -------
        marginals : list of dict
            For each token, the probability of each label, as in sklearn-crfsuite.
            :meth:`predict_marginals` returns the same numbers as arrays.
        """
        proba: np.ndarray = self.predict_proba([xseq])[0]
        labels = self.classes_.tolist()
        return [dict(zip(labels, row, strict=True)) for row in proba.tolist()]

    @property
    def crf_(self) -> sklearn_crfsuite.CRF:
        """The model as a sklearn_crfsuite.CRF, rebuilt from its bytes.

        Its labels are str. No temporary file is left.
        """
        check_is_fitted(self)
        crf = sklearn_crfsuite.CRF(**self._settings())
        crf.modelfile.refresh()
        try:
            Path(crf.modelfile.name).write_bytes(self.model_bytes_)
            crf.tagger_.labels()  # reads the file
        finally:
            crf.modelfile.cleanup()
        # A pickle of the file contains these bytes, so that the model can be copied.
        vars(crf.modelfile)["__FILE_RESOURCE_DATA__"] = self.model_bytes_
        crf.training_log_ = self.training_log_
        return crf

    @property
    def tagger_(self) -> Any:
        """The model as a pycrfsuite.Tagger."""
        return self.crf_.tagger_

    @property
    def size_(self) -> int:
        """Size of the model in bytes."""
        return self.crf_.size_

    @property
    def num_attributes_(self) -> int:
        """Number of attributes that have a weight."""
        return self.crf_.num_attributes_

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """Weights by (attribute, label), rounded to six digits by CRFsuite."""
        return self.crf_.state_features_

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """Weights by (previous label, next label), rounded to six digits."""
        return self.crf_.transition_features_
