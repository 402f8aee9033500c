"""Posterior distributions over structures, defined by arrays of scores."""

import typing

from .. import _names

if typing.TYPE_CHECKING:
    from ._antecedent_posterior import AntecedentPosterior
    from ._linear_chain_posterior import LinearChainPosterior
else:
    __getattr__, __dir__ = _names.load_late(__name__)

__all__ = ["AntecedentPosterior", "LinearChainPosterior"]
