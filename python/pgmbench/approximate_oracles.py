"""Approximate marginals, for models whose junction tree is too large."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

from .clique_vector import CliqueVector
from .domain import Clique, Domain
from .marginal_loss import LinearMeasurement, MarginalLossFn
from .marginal_oracles import model_of


def _marginals(potentials: CliqueVector, tables: list[tuple[list[int], Any]]) -> CliqueVector:
    return CliqueVector._from_engine(potentials.domain, tables).contract(potentials.cliques)


class StatefulMarginalOracle(Protocol):
    """An oracle that continues from the state of its last call."""

    def __call__(
        self, potentials: CliqueVector, total: float = 1.0, state: Any = None, mesh: Any = None
    ) -> tuple[CliqueVector, Any]: ...


def convex_generalized_belief_propagation(
    potentials: CliqueVector,
    total: float = 1,
    state: Any = None,
    mesh: Any = None,
    iters: int = 1,
    damping: float = 0.5,
) -> tuple[CliqueVector, Any]:
    """Marginals of belief propagation with a convex entropy, and a state.

    As an estimator's `marginal_oracle` it fits models whose junction tree is too large.

    Args:
        potentials: log-potentials.
        total: the sum of each marginal.
        state: accepted for compatibility; each call starts afresh and does enough sweeps.
        mesh: accepted for compatibility.
        iters: sweeps of message passing; at least 200 are allowed, and fewer done if they converge.
        damping: accepted for compatibility; a convex entropy needs none.
    """
    model = model_of(potentials, total)
    tables, converged = model.approximate("convex", max(200, iters), 0.0)
    return _marginals(potentials, tables), converged


convex_generalized_belief_propagation.engine_oracle = "convex"  # type: ignore[attr-defined]


def loopy_belief_propagation(
    potentials: CliqueVector, total: float = 1, iters: int = 200, damping: float = 0.0
) -> CliqueVector:
    """Marginals of belief propagation with Bethe's entropy; exact where cliques have no cycles."""
    tables, _ = model_of(potentials, total).approximate("loopy", iters, damping)
    return _marginals(potentials, tables)


loopy_belief_propagation.engine_oracle = "loopy"  # type: ignore[attr-defined]


@dataclass(frozen=True)
class ApproxMirrorDescent:
    """Fits marginals with the convex oracle; the junction tree may be too large.

    Attributes:
        stepsize, oracle_iters, damping, mesh: accepted for compatibility; steps are found by tests.
    """

    stepsize: float
    oracle_iters: int = 1
    damping: float = 0.5
    mesh: Any = None

    def estimate(
        self,
        domain: Domain,
        loss_fn: MarginalLossFn | Sequence[LinearMeasurement],
        *,
        known_total: float | None = None,
        potentials: CliqueVector | None = None,
        iters: int = 1000,
        callback_fn: Callable[[CliqueVector], Any] | None = None,
    ) -> CliqueVector:
        """The approximate marginals on the measured cliques."""
        return mirror_descent(
            domain,
            loss_fn,
            known_total=known_total,
            potentials=potentials,
            stepsize=self.stepsize,
            iters=iters,
            callback_fn=callback_fn,
        )

    def precompile(
        self,
        domain: Domain,
        measurements: Sequence[LinearMeasurement] | None = None,
        *,
        extra_cliques: Sequence[Clique] | None = None,
    ) -> Future[None]:
        """Nothing is compiled here: a future that is done."""
        future: Future[None] = Future()
        future.set_result(None)
        return future


def mirror_descent(
    domain: Domain,
    loss_fn: MarginalLossFn | Sequence[LinearMeasurement],
    *,
    known_total: float | None = None,
    potentials: CliqueVector | None = None,
    stepsize: float | None = None,
    iters: int = 1000,
    oracle_iters: int = 1,
    damping: float = 0.5,
    callback_fn: Callable[[CliqueVector], Any] | None = None,
    mesh: Any = None,
) -> CliqueVector:
    """The approximate marginals that fit measurements best, with the convex oracle."""
    from .estimation import MirrorDescent

    estimator = MirrorDescent(marginal_oracle=convex_generalized_belief_propagation)
    model = estimator.estimate(
        domain,
        loss_fn,
        known_total=known_total,
        warm_start=potentials,
        iters=iters,
        callback_fn=callback_fn,
    )
    return model.marginals
