"""Private names of scikit-learn, in one place."""

from sklearn.utils import _safe_indexing as take_rows

__all__ = ["take_rows"]
