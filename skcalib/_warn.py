"""Warnings that point at the line outside this package."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn"]


def warn(message: str) -> None:
    """Warn at the line outside this package that called the public function."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals["__name__"].split(".")[0] == "skcalib":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
