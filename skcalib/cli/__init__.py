"""Command line: ``skcalib report``, ``compare``, ``sample``, ``count``, ``demo``."""

from ._main import main

__all__ = ["main"]
