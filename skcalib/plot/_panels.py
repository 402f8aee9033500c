"""The old name of reliability plots with a panel per group."""

from __future__ import annotations

from typing import Any

from ._base import as_list
from ._reliability import ReliabilityDisplay


def _constructor(name: str) -> Any:
    """Return a constructor with the old names of parameters."""

    def method(
        cls: Any, /, *args: Any, by: Any = "label", fig: Any = None, **params: Any
    ) -> Any:
        new = getattr(super(ReliabilityPanelsDisplay, cls), name)
        return new(*args, by=by, ax=fig, **params)

    return classmethod(method)


class ReliabilityPanelsDisplay(ReliabilityDisplay):
    """Old name of :class:`ReliabilityDisplay` with the parameter `by`.

    Figures are passed as `fig`, and the numbers of groups are in `displays`.
    """

    from_predictions = _constructor("from_predictions")
    from_estimator = _constructor("from_estimator")
    from_cv_results = _constructor("from_cv_results")

    @property
    def displays(self) -> dict[Any, ReliabilityDisplay]:
        """A display of the numbers of each group."""
        return {
            group: ReliabilityDisplay(
                curve=model.curve,
                error=model.error,
                count=model.count,
                y_prob=model.y_prob,
                name=str(group),
            )
            for group, model in self._by_key()
        }

    @property
    def axes_(self) -> dict[Any, Any]:
        """Axes of each group that is drawn."""
        groups = [group for group, _ in self._by_key()]
        return dict(zip(groups, as_list(self.ax_), strict=False))
