"""Private names of scikit-learn, and the base of transformers with ragged output."""

from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils import _safe_indexing as take_rows

from ._errors import ParameterError, public

__all__ = ["RaggedTransformer", "take_rows"]


class RaggedTransformer(TransformerMixin, BaseEstimator):
    """Base of transformers of sentences or documents, which need no fit."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # The output is ragged, so scikit-learn does not convert it to data frames.
        super().__init_subclass__(auto_wrap_output_keys=None, **kwargs)

    @public
    def set_output(self, *, transform: str | None = None) -> Self:
        """Raise an error unless the output stays an array.

        Parameters
        ----------
        transform : {'default'} or None
            Container of the output. A data frame has one row per sample and the same
            columns for all samples, which ragged output does not have.

        Returns
        -------
        self : object
            The transformer.
        """
        if transform not in (None, "default"):
            raise ParameterError(
                "transform",
                "must be 'default' or None, because this transformer has ragged output "
                "(one array of its own size per sample), which does not fit into a "
                f"data frame. Got {transform!r}.",
            )
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags
