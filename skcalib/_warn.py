"""Warnings that point at the line outside this package."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn"]


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside this package that called the public function."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and _is_here(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_here(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]
