"""Documents with their words as columns, dependency trees and noun phrases.

The public names are in :mod:`skcalib.documents`.
"""

__all__: list[str] = []
