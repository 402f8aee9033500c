"""Private names of scikit-learn, and the base of transformers with ragged output."""

from typing import Any

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils import _safe_indexing as take_rows

__all__ = ["RaggedTransformer", "take_rows"]


class RaggedTransformer(TransformerMixin, BaseEstimator):
    """Base of transformers of sentences or documents, which need no fit."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # The output is ragged, so scikit-learn's set_output does not apply.
        super().__init_subclass__(auto_wrap_output_keys=None, **kwargs)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags
