"""Functions that follow a fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import estimation
from ._api import Projectable
from .clique_vector import CliqueVector
from .domain import Domain
from .marginal_loss import (
    LinearMeasurement,
    MarginalLossFn,
    from_linear_measurements,
    primal_feasibility,
)

_log: Callable[..., Any] = print


def set_log_fn(fn: Callable[..., Any]) -> None:
    """Writes progress with this function instead of `print`."""
    global _log
    _log = fn


def log(*args: Any, **kwargs: Any) -> None:
    """Writes a line of progress."""
    _log(*args, **kwargs)


@dataclass
class Callback:
    """Writes a line with several losses each time it is called.

    Attributes:
        loss_fns: the losses, by the names of their columns.
    """

    loss_fns: dict[str, MarginalLossFn]
    _call: int = 0
    _logs: list[list[Any]] = field(default_factory=list)

    def __call__(self, marginals: CliqueVector) -> None:
        if self._call == 0:
            header = "|".join(name[:12].center(12) for name in ("step", *self.loss_fns))
            log(header)
            log("=" * len(header))
        step = self._call * estimation.CALLBACK_EVERY
        values = [float(loss(marginals)) for loss in self.loss_fns.values()]
        self._logs.append([step, *values])
        log("|".join([str(step).center(12)] + [f"{value:.6g}".center(12) for value in values]))
        self._call += 1

    @property
    def summary(self) -> dict[str, list[Any]]:
        """All lines so far: the names of the columns, and the numbers."""
        return {"columns": ["step", *self.loss_fns], "data": self._logs}


def default(
    measurements: Sequence[LinearMeasurement], domain: Domain, data: Projectable | None = None
) -> Callback:
    """Follows the losses, the disagreement of marginals and, with data, the errors."""
    losses = {
        "L2 Loss": from_linear_measurements(measurements, domain, norm="l2", normalize=True),
        "L1 Loss": from_linear_measurements(measurements, domain, norm="l1", normalize=True),
    }
    if data is not None:
        exact = [
            LinearMeasurement(item.query(data.project(item.clique)), item.clique, 1.0, item.query)
            for item in measurements
        ]
        losses["L2 Error"] = from_linear_measurements(exact, domain, norm="l2", normalize=True)
        losses["L1 Error"] = from_linear_measurements(exact, domain, norm="l1", normalize=True)
    losses["Primal Feas"] = MarginalLossFn((), lambda marginals, _: primal_feasibility(marginals))
    return Callback(losses)
