"""Command line: ``skcalib report FILE`` and ``skcalib demo``."""

from ._main import main

__all__ = ["main"]
