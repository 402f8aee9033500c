"""What every result object can do: give its numbers as a dict or a DataFrame."""

from __future__ import annotations

from typing import Any

__all__ = ["as_frame"]


def as_frame(columns: dict[str, Any], *, caller: str) -> Any:
    """Return the columns as a pandas DataFrame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            f"{caller} returns a pandas DataFrame, and pandas is not installed. "
            "Install it with `pip install pandas`, or use to_dict()."
        ) from error
    return pd.DataFrame(columns)
