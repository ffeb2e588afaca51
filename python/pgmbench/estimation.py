"""From noisy measurements to a model.

Every estimator minimises the same convex loss over the marginals of graphical models, so that all
of them end at the same model: the one of largest entropy among the best. They differ in the method,
and the result says how close it is (`model.gap`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from . import _core, marginal_oracles
from .clique_utils import maximal_subset
from .clique_vector import CliqueVector
from .constraint import Constraint, zeros_of
from .domain import Clique, Domain
from .limits import memory_in_bytes
from .marginal_loss import (
    LINEAR_LOSSES,
    LinearMeasurement,
    MarginalLossFn,
    l2_loss,
    numerical_gradient,
)
from .markov_random_field import FitReport, MarkovRandomField
from .queries import is_identity, measure_all
from .uncertainty import Evidence

# Iterations between two calls of a callback.
CALLBACK_EVERY = 50

# Cells of a loss that is differentiated numerically, at two evaluations per cell and iteration.
MAX_DIFFERENTIATED_CELLS = 4096


def minimum_variance_unbiased_total(measurements: Sequence[LinearMeasurement]) -> float:
    """The number of records, from the measurements; at least 1.

    Each measurement of all cells of a marginal gives an unbiased estimate; the result is their
    average, weighted by the inverse of their variances, and 1 if there are none. An estimator then
    looks for other queries that determine the total.
    """
    sums, weights = 0.0, 0.0
    for measurement in measurements:
        usable = getattr(measurement.query, "use_for_total_estimation", True)
        if is_identity(measurement.query) and usable:
            answers = np.asarray(measurement.noisy_measurement)
            weight = 1.0 / (float(measurement.stddev) ** 2 * answers.size)
            sums += weight * float(answers.sum())
            weights += weight
    return max(1.0, sums / weights) if weights > 0 else 1.0


def _estimated_total(domain: Domain, measurements: Sequence[LinearMeasurement]) -> float:
    """The number of records: from cells of marginals, or else from any queries that determine it,
    such as prefixes."""
    usable = [
        measurement
        for measurement in measurements
        if getattr(measurement.query, "use_for_total_estimation", True)
    ]
    if any(is_identity(measurement.query) for measurement in usable):
        return minimum_variance_unbiased_total(usable)
    return max(1.0, _core.estimate_total(measure_all(domain, usable)) or 1.0)


@dataclass(frozen=True, kw_only=True)
class Estimator:
    """Fits a model to measurements.

    Attributes:
        marginal_oracle: how marginals are computed: None or an exact oracle of
            `pgmbench.marginal_oracles`, or an approximate one of `pgmbench.approximate_oracles` for
            models whose junction tree is too large.
    """

    marginal_oracle: Any = None
    # The engine's method.
    _algorithm: ClassVar[str] = "auto"

    def _settings(self) -> tuple[str, float | None]:
        """The method and its step size."""
        return self._algorithm, None

    def estimate(
        self,
        domain: Domain,
        loss_fn: MarginalLossFn | Sequence[LinearMeasurement],
        known_total: float | None = None,
        constraints: Sequence[Constraint] = (),
        iters: int | None = 1000,
        callback_fn: Callable[[CliqueVector], Any] | None = None,
        warm_start: Any = None,
        tol: float | None = None,
        patience: int = 2,
        *,
        memory_limit: int | float | str | None = None,
        time_limit: float | None = None,
    ) -> MarkovRandomField:
        """Fits a model.

        The fit ends when the loss is certified to be within 1e-11 of the smallest possible one, or
        after `iters` iterations; `model.gap` says how far from the smallest it is at most. The
        result is the same on every run and for every number of threads.

        Args:
            domain: the attributes.
            loss_fn: the measurements, or a loss.
            known_total: the number of records; default: estimated from the measurements.
            constraints: combinations of values that records cannot have.
            iters: the largest number of iterations; None for as many as take some seconds.
            callback_fn: called with the marginals every 50 iterations and at the end. If it raises
                StopIteration, the fit ends with the best model so far.
            warm_start: a model or potentials to start from.
            tol: the fit ends once the loss is certified to be above the smallest by at most this
                share of it, or by this number if the loss is below 1.
            patience: accepted for compatibility; a certificate needs none.
            memory_limit: bytes, or a text such as "2 GB". MemoryError is raised before the work if
                tables need more. Default: half of the machine's memory.
            time_limit: seconds, after which the fit ends with the best model so far.

        Returns:
            The model.
        """
        if not isinstance(domain, Domain):
            raise TypeError(
                f"domain: expected a Domain, found {type(domain)}; Domain.fromdict makes one"
            )
        if time_limit is not None and not time_limit >= 0:
            raise ValueError(f"time_limit: expected seconds, not negative, found {time_limit}")
        constraints = tuple(constraints)
        # Without a number of records, that of a loss is 1.
        total_is_known = known_total is not None or isinstance(loss_fn, MarginalLossFn)
        if isinstance(loss_fn, MarginalLossFn):
            loss = loss_fn
        else:
            if hasattr(loss_fn, "noisy_measurement"):
                raise TypeError("expected a list of measurements, found one LinearMeasurement")
            if not isinstance(loss_fn, Iterable):
                raise TypeError(f"expected measurements or a loss, found {type(loss_fn)}")
            measurements = list(loss_fn)
            _check_measurements(domain, measurements)
            if known_total is None:
                known_total = _estimated_total(domain, measurements)
            cliques = maximal_subset([measurement.clique for measurement in measurements])
            loss = MarginalLossFn(cliques, l2_loss, tuple(measurements))
        total = 1.0 if known_total is None else float(known_total)
        problem = _Problem(domain, loss)
        oracle = marginal_oracles.kind_of(self.marginal_oracle)
        evidence = problem.evidence(total_is_known, oracle)
        if not loss.cliques and not constraints:
            empty = CliqueVector.zeros(domain, ())
            return MarkovRandomField(empty, empty, total, evidence=evidence)
        algorithm, step = self._settings()
        if tol is not None and not tol >= 0:
            raise ValueError(f"tol: expected a number that is not negative, found {tol}")
        if iters is not None and iters < 0:
            raise ValueError(f"iters: expected a number that is not negative, found {iters}")
        tell = _Callback(callback_fn, domain, loss.cliques)
        fitted = _core.estimate(
            domain._engine,
            problem.measurements(),
            total=total,
            zeros=zeros_of(domain, constraints),
            algorithm=algorithm,
            step=step,
            norm=problem.norm,
            oracle=oracle,
            iterations=None if iters is None else max(iters, 1),
            gap=None if tol is None else float(tol),
            memory_limit=memory_in_bytes(memory_limit),
            time_limit=time_limit,
            warm_start=_warm_start(warm_start, domain),
            observer=None if callback_fn is None else tell,
            observe_every=CALLBACK_EVERY,
            loss=problem.evaluate if problem.is_general else None,
            loss_cliques=[domain.positions(clique) for clique in loss.cliques],
            smoothness=None,
        )
        marginals = CliqueVector._from_engine(domain, fitted.marginals).contract(loss.cliques)
        tell.finish(fitted.iterations, marginals)
        engine = fitted.model
        model = MarkovRandomField(
            CliqueVector._from_engine(domain, engine.potentials)._spelled(loss.cliques),
            marginals,
            total,
            constraints,
            fit=FitReport(
                loss=float(loss(marginals)) if problem.is_scaled else fitted.loss,
                gap=None if problem.is_scaled else fitted.gap,
                iterations=fitted.iterations,
                reason=fitted.reason,
                seconds=fitted.seconds,
            ),
            evidence=evidence,
        )
        # The engine's model has the constraints in its potentials already.
        model.__dict__["_engine_model"] = engine
        return model

    def precompile(
        self,
        domain: Domain,
        measurements: Sequence[LinearMeasurement] | None = None,
        *,
        extra_cliques: Sequence[Clique] | None = None,
        constraints: Sequence[Constraint] = (),
    ) -> Future[None]:
        """Nothing is compiled here: a future that is done."""
        future: Future[None] = Future()
        future.set_result(None)
        return future


def _check_measurements(domain: Domain, measurements: Sequence[Any]) -> None:
    """What a fit needs before it asks the measurements for the total."""
    for index, measurement in enumerate(measurements):
        if not hasattr(measurement, "noisy_measurement"):
            raise TypeError(
                f"measurement {index}: expected a LinearMeasurement, found {type(measurement)}"
            )
        domain.positions(measurement.clique)
        if np.asarray(measurement.noisy_measurement).dtype.kind not in "biuf":
            raise TypeError(f"measurement {index}: the answers must be real numbers")
        if not float(measurement.stddev) > 0:
            raise ValueError(
                f"measurement {index}: expected a positive standard deviation, found "
                f"{measurement.stddev}"
            )
        if len(set(measurement.clique)) != len(measurement.clique):
            raise ValueError(
                f"measurement {index}: every attribute must be listed once: {measurement.clique}"
            )


class _Problem:
    """What a fit is of, as the engine takes it."""

    def __init__(self, domain: Domain, loss: MarginalLossFn) -> None:
        self.domain = domain
        self.loss = loss
        norm = LINEAR_LOSSES.get(loss.loss_fn)
        self.is_general = norm is None
        self.norm = norm or "l2"
        # The minimiser is that of another loss, whose value and gap do not apply.
        self.is_scaled = not self.is_general and loss.loss_fn.__name__.startswith("normalized")
        if self.is_general and loss.gradient_fn is None:
            cells = sum(domain.size(clique) for clique in loss.cliques)
            if cells > MAX_DIFFERENTIATED_CELLS:
                raise ValueError(
                    f"the loss has {cells} cells, too many to differentiate numerically (at most "
                    f"{MAX_DIFFERENTIATED_CELLS}); give MarginalLossFn a gradient_fn"
                )

    def measurements(self) -> list[_core.Measurement]:
        return [] if self.is_general else measure_all(self.domain, self.loss.data)

    def evidence(self, total_is_known: bool, oracle: str) -> Evidence:
        if self.is_general:
            return Evidence(None, total_is_known, "other", oracle)
        return Evidence(tuple(self.loss.data), total_is_known, self.norm, oracle)

    def evaluate(self, tables: list[tuple[list[int], Any]]) -> tuple[float, list[Any]]:
        """The loss and its gradient at marginals of the engine, for a loss unknown to it."""
        given = CliqueVector._from_engine(self.domain, tables)
        marginals = given.contract(self.loss.cliques)
        value = float(self.loss(marginals))
        if self.loss.gradient_fn is not None:
            gradient = self.loss.gradient_fn(marginals, self.loss.data)
        else:
            gradient = numerical_gradient(self.loss, marginals)
        return value, gradient.expand(given.cliques)._to_engine()


class _Callback:
    """Calls a function with the marginals of the engine."""

    def __init__(
        self,
        function: Callable[[CliqueVector], Any] | None,
        domain: Domain,
        cliques: Sequence[Clique],
    ) -> None:
        self.function = function
        self.domain = domain
        self.cliques = cliques
        self.last = 0

    def __call__(
        self, iteration: int, seconds: float, gap: float | None, tables: list[tuple[list[int], Any]]
    ) -> None:
        assert self.function is not None
        self.last = iteration
        marginals = CliqueVector._from_engine(self.domain, tables)
        self.function(marginals.contract(self.cliques))

    def finish(self, iteration: int, marginals: CliqueVector) -> None:
        """The last call, unless the last iteration was told."""
        if self.function is not None and self.last != iteration:
            try:
                self.function(marginals)
            except StopIteration:
                pass


def _warm_start(warm_start: Any, domain: Domain) -> _core.Model | None:
    if warm_start is None:
        return None
    potentials = warm_start
    if not isinstance(warm_start, CliqueVector):
        potentials = getattr(warm_start, "potentials", None)
    if not isinstance(potentials, CliqueVector):
        raise TypeError(f"warm_start: expected a model or potentials, found {type(warm_start)}")
    return _core.Model(potentials.domain._engine, potentials._to_engine(), 1.0)


@dataclass(frozen=True)
class MirrorDescent(Estimator):
    """The default estimator.

    Without a step size it is the engine's accelerated method, which ends at the same model in far
    fewer iterations. With one it is entropic mirror descent with steps of this size (Algorithm 1 of
    McKenna, Sheldon, Miklau, ICML 2019).

    Attributes:
        stepsize: the constant step, or None.
        mesh: accepted for compatibility; there are no devices to distribute work over.
    """

    marginal_oracle: Any = None
    stepsize: float | None = None
    mesh: Any = None

    def _settings(self) -> tuple[str, float | None]:
        return ("auto", None) if self.stepsize is None else ("mirror", float(self.stepsize))


@dataclass(frozen=True)
class DualAveraging(Estimator):
    """Accelerated dual averaging with restarts.

    Algorithm 2 of McKenna, Sheldon, Miklau, ICML 2019.

    Attributes:
        mesh: accepted for compatibility; there are no devices to distribute work over.
    """

    marginal_oracle: Any = None
    mesh: Any = None
    _algorithm: ClassVar[str] = "auto"


@dataclass(frozen=True)
class InteriorGradient(Estimator):
    """The interior gradient method; runs the same accelerated method as `DualAveraging`.

    Attributes:
        mesh: accepted for compatibility; there are no devices to distribute work over.
    """

    marginal_oracle: Any = None
    mesh: Any = None
    _algorithm: ClassVar[str] = "auto"


@dataclass(frozen=True)
class UniversalAcceleratedMethod(Estimator):
    """Runs the accelerated method with an adaptive constant, which needs no settings.

    Attributes:
        max_iter_search, target_acc, norm, linesearch: accepted for compatibility.
    """

    marginal_oracle: Any = None
    max_iter_search: int = 30
    target_acc: float = 0.0
    norm: int = 2
    linesearch: bool = False
    _algorithm: ClassVar[str] = "auto"

    def __post_init__(self) -> None:
        if self.norm not in (1, 2):
            raise ValueError(f"norm: expected 1 or 2, found {self.norm}")


@dataclass(frozen=True)
class LBFGS(Estimator):
    """Quasi-Newton steps on the potentials with limited memory."""

    marginal_oracle: Any = None
    _algorithm: ClassVar[str] = "lbfgs"
