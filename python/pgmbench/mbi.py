"""Our estimators for programs that are written with mbi: mbi's objects in, mbi's model out.

One name changes in a program that exists. With OpenDP 0.16, which comes with mbi 1.1::

    from opendp.extras.mbi import AIM
    import pgmbench.mbi

    algorithm = AIM(estimator=pgmbench.mbi.mirror_descent)      # MST and Fixed likewise

With mbi 2.0::

    from mbi import Domain, LinearMeasurement
    import pgmbench.mbi

    model = pgmbench.mbi.MirrorDescent().estimate(domain, measurements)

Domain, measurements, potentials and constraints are mbi's, and so is the `MarkovRandomField` that
comes back: what is written for it works as before. Its `project` and `synthetic_data` run in our
engine, which compiles nothing, and its attribute `fitted` is our own model, with the loss and the
certified gap. `fit` returns that one alone.

Every estimator minimises the same convex loss, so all of them return the same marginals. Each name
here runs the method of `pgmbench.estimation` of that name.

This module imports mbi only when it has to make one of its objects. It needs the version that the
program has installed: 1.1 or 2.0.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from . import estimation
from .clique_vector import CliqueVector
from .constraint import Constraint
from .domain import Domain
from .factor import Factor
from .marginal_loss import (
    DatavectorQuery,
    LinearMeasurement,
    MarginalLossFn,
    SlicedQuery,
    WeightedQuery,
    from_linear_measurements,
)
from .markov_random_field import MarkovRandomField

__all__ = [
    "DualAveraging",
    "Estimator",
    "InteriorGradient",
    "LBFGS",
    "MirrorDescent",
    "UniversalAcceleratedMethod",
    "dual_averaging",
    "fit",
    "interior_gradient",
    "lbfgs",
    "mirror_descent",
    "universal_accelerated_method",
]


def fit(
    domain: Any,
    loss_fn: Any,
    known_total: float | None = None,
    constraints: Sequence[Any] = (),
    *,
    estimator: Any = None,
    warm_start: Any = None,
    callback_fn: Callable[[Any], Any] | None = None,
    **options: Any,
) -> MarkovRandomField:
    """Estimates our own model from mbi's domain and measurements.

    `estimator` is one of `pgmbench.estimation` (default: MirrorDescent); `options` go to its
    `estimate`. Potentials of a warm start are mbi's.
    """
    ours = _domain_to_ours(domain)
    total_is_known = known_total is not None
    if known_total is None:
        known_total = _total_of(loss_fn)
    fitted = (estimator or estimation.MirrorDescent()).estimate(
        ours,
        _loss_to_ours(loss_fn, domain, ours),
        known_total=float(known_total),
        constraints=tuple(_constraint_to_ours(c) for c in constraints),
        warm_start=None if warm_start is None else _potentials_to_ours(warm_start, ours),
        callback_fn=None if callback_fn is None else _with_mbis_marginals(callback_fn, domain),
        **options,
    )
    if not total_is_known and isinstance(loss_fn, (list, tuple)):
        assert fitted.evidence is not None
        evidence = dataclasses.replace(fitted.evidence, total_is_known=False)
        object.__setattr__(fitted, "evidence", evidence)
    return fitted


# ------------------------------------------------------------------------------- mbi 2.0: classes


@dataclasses.dataclass(frozen=True)
class Estimator:
    """What the estimators of this module have in common; `estimate` is that of mbi 2.0.

    The fields are those of mbi's estimator of the same name. Our engine chooses its oracle itself
    and runs on the processor, so `marginal_oracle`, `mesh` and the like are accepted and not used;
    a value other than the default is answered with a warning.
    """

    marginal_oracle: Any = None

    def estimate(
        self,
        domain: Any,
        loss_fn: Any,
        known_total: float | None = None,
        constraints: Sequence[Any] = (),
        iters: int = 1000,
        callback_fn: Callable[[Any], Any] | None = None,
        warm_start: Any = None,
        tol: float | None = None,
        patience: int = 2,
    ) -> Any:
        """Estimates mbi's `MarkovRandomField` from mbi's measurements.

        `loss_fn` is a list of `LinearMeasurement`, what `from_linear_measurements` makes of it, or
        any other `MarginalLossFn`, which JAX then differentiates: slower, and certified only if it
        is convex.
        """
        _warn_of_unused(self)
        fitted = fit(
            domain,
            loss_fn,
            known_total,
            constraints,
            estimator=self._ours(),
            warm_start=warm_start,
            callback_fn=callback_fn,
            iters=iters,
            tol=tol,
            patience=patience,
        )
        return _model_to_theirs(fitted, domain, tuple(constraints))

    def precompile(self, *_: Any, **__: Any) -> Any:
        """There is nothing to compile: a future that is done."""
        from concurrent.futures import Future

        future: Future[None] = Future()
        future.set_result(None)
        return future

    def _ours(self) -> Any:
        return getattr(estimation, type(self).__name__)()


@dataclasses.dataclass(frozen=True)
class MirrorDescent(Estimator):
    """`mbi.estimation.MirrorDescent`; without a step size, our accelerated method."""

    stepsize: float | None = None
    mesh: Any = None

    def _ours(self) -> Any:
        return estimation.MirrorDescent(stepsize=self.stepsize)


@dataclasses.dataclass(frozen=True)
class DualAveraging(Estimator):
    """`mbi.estimation.DualAveraging`."""

    mesh: Any = None


@dataclasses.dataclass(frozen=True)
class InteriorGradient(Estimator):
    """`mbi.estimation.InteriorGradient`."""

    mesh: Any = None


@dataclasses.dataclass(frozen=True)
class LBFGS(Estimator):
    """`mbi.estimation.LBFGS`."""


@dataclasses.dataclass(frozen=True)
class UniversalAcceleratedMethod(Estimator):
    """`mbi.estimation.UniversalAcceleratedMethod`."""

    max_iter_search: int = 30
    target_acc: float = 0.0
    norm: int = 2
    linesearch: bool = False


def _warn_of_unused(settings: Estimator) -> None:
    unused = [f for f in dataclasses.fields(settings) if f.name != "stepsize"]
    changed = [f.name for f in unused if getattr(settings, f.name) != f.default]
    if changed:
        _warn(type(settings).__name__, changed)


def _warn(name: str, unused: Sequence[str]) -> None:
    names = ", ".join(unused)
    warnings.warn(
        f"pgmbench.mbi.{name} does not use {names}: its engine chooses for itself", stacklevel=4
    )


# ----------------------------------------------------------------------------- mbi 1.1: functions


def _function(name: str, estimator: type[Estimator]) -> Callable[..., Any]:
    """The function of mbi 1.1 that this estimator replaces."""

    def estimate(
        domain: Any,
        loss_fn: Any,
        *,
        known_total: float | None = None,
        potentials: Any = None,
        marginal_oracle: Any = None,
        iters: int = 1000,
        stateful: bool = False,
        stepsize: float | None = None,
        callback_fn: Callable[[Any], Any] | None = None,
        mesh: Any = None,
        **options: Any,
    ) -> Any:
        given = {"marginal_oracle": marginal_oracle, "mesh": mesh}
        unused = [option for option, value in given.items() if value is not None]
        if stateful:
            unused.append("stateful")
        if unused:
            _warn(name, unused)
        fitted = fit(
            domain,
            loss_fn,
            known_total,
            estimator=(
                estimator() if stepsize is None else MirrorDescent(stepsize=stepsize)
            )._ours(),
            warm_start=potentials,
            callback_fn=callback_fn,
            iters=iters,
            **options,
        )
        return _model_to_theirs(fitted, domain, ())

    estimate.__name__ = estimate.__qualname__ = name
    estimate.__doc__ = f"""Estimates mbi's model, as `mbi.estimation.{name}` of mbi 1.1 does.

    The estimator of OpenDP's AIM, MST and Fixed (`opendp.extras.mbi`) is a function of this form.
    `loss_fn` is a list of `LinearMeasurement`. `potentials` are those of an earlier model to start
    from. `options` go to `pgmbench.estimation.{estimator.__name__}.estimate`, for instance
    `time_limit=` or `memory_limit=`.
    """
    return estimate


mirror_descent = _function("mirror_descent", MirrorDescent)
dual_averaging = _function("dual_averaging", DualAveraging)
interior_gradient = _function("interior_gradient", InteriorGradient)
lbfgs = _function("lbfgs", LBFGS)
universal_accelerated_method = _function("universal_accelerated_method", UniversalAcceleratedMethod)


# ------------------------------------------------------------------------------- mbi's to our own


def _loss_to_ours(
    loss_fn: Any, domain: Any, ours: Domain
) -> MarginalLossFn | list[LinearMeasurement]:
    """mbi's measurements, or a loss that JAX differentiates."""
    if isinstance(loss_fn, (list, tuple)):
        return [_measurement_to_ours(m) for m in loss_fn]
    data, function = getattr(loss_fn, "data", None), getattr(loss_fn, "loss_fn", None)
    norm = {"_l2_loss": "l2", "_l1_loss": "l1"}.get(getattr(function, "__name__", ""))
    if norm is not None and getattr(function, "__module__", "") == "mbi.marginal_loss":
        measurements = [_measurement_to_ours(m) for m in cast("tuple[Any, ...]", data)]
        return from_linear_measurements(measurements, ours, norm=norm)
    differentiate = importlib.import_module("jax").jit(importlib.import_module("jax").grad(loss_fn))

    def gradient(marginals: CliqueVector, _: Any) -> CliqueVector:
        return _vector_to_ours(differentiate(_vector_to_theirs(marginals, domain)), ours)

    def value(marginals: CliqueVector, _: Any) -> float:
        return float(loss_fn(_vector_to_theirs(marginals, domain)))

    cliques = [tuple(cl) for cl in loss_fn.cliques]
    return MarginalLossFn(cliques, value, gradient_fn=gradient)


def _total_of(loss_fn: Any) -> float:
    """mbi's own estimate of the total, so that both sides start from the same number."""
    if isinstance(loss_fn, (list, tuple)):
        return float(_mbi().estimation.minimum_variance_unbiased_total(list(loss_fn)))
    return 1.0


def _domain_to_ours(domain: Any) -> Domain:
    return Domain(domain.attributes, domain.shape)


def _factor_to_ours(factor: Any) -> Factor:
    return Factor(_domain_to_ours(factor.domain), np.asarray(factor.values, dtype=np.float64))


def _constraint_to_ours(constraint: Any) -> Constraint:
    given = {name: getattr(constraint, name) for name in ("valid", "invalid", "mapping")}
    kept = {name: np.asarray(value) for name, value in given.items() if value is not None}
    return Constraint(_domain_to_ours(constraint.domain), **kept)


def _measurement_to_ours(measurement: Any) -> LinearMeasurement:
    return LinearMeasurement(
        np.asarray(measurement.noisy_measurement, dtype=np.float64).ravel(),
        tuple(measurement.clique),
        stddev=max(float(measurement.stddev), 1e-12),  # as mbi does for exact measurements
        query=_query_to_ours(measurement.query),
    )


def _query_to_ours(query: Callable[[Any], Any]) -> Callable[[Factor], Any]:
    """Our query for mbi's classes of queries; any other callable is asked with mbi's factors."""
    mbi = _mbi()
    if query == mbi.Factor.datavector:
        return DatavectorQuery()
    kind, theirs = type(query).__name__, type(query).__module__
    if theirs == "mbi.marginal_loss":
        if kind == "DatavectorQuery":
            return DatavectorQuery()
        if kind == "SlicedQuery":
            return SlicedQuery(query.start)  # type: ignore[attr-defined]
        if kind == "WeightedQuery":
            weights = np.asarray(query.weights, dtype=np.float64)  # type: ignore[attr-defined]
            return WeightedQuery(weights)
    return functools.partial(_ask_with_mbis_factor, query)


def _ask_with_mbis_factor(query: Callable[[Any], Any], factor: Factor) -> np.ndarray:
    mbi = _mbi()
    theirs = mbi.Factor(
        mbi.Domain(factor.domain.attributes, factor.domain.shape), _to_jax(factor.values)
    )
    return np.asarray(query(theirs), dtype=np.float64).ravel()


def _potentials_to_ours(warm_start: Any, domain: Domain) -> CliqueVector:
    return _vector_to_ours(getattr(warm_start, "potentials", warm_start), domain)


def _vector_to_ours(vector: Any, domain: Domain) -> CliqueVector:
    tables = {tuple(cl): _factor_to_ours(vector[cl]) for cl in vector.cliques}
    return CliqueVector(domain, tuple(tables), tables)


# ------------------------------------------------------------------------------- our own to mbi's


def _mbi() -> Any:
    try:
        return importlib.import_module("mbi")
    except ImportError as error:
        raise ImportError("pgmbench.mbi works on mbi's objects: install mbi 1.1 or 2.0") from error


def _to_jax(values: Any) -> Any:
    # In JAX's precision, which is the program's choice.
    return importlib.import_module("jax.numpy").asarray(np.asarray(values))


def _vector_to_theirs(vector: CliqueVector, domain: Any) -> Any:
    mbi = _mbi()
    cliques = list(vector.cliques)
    tables = {cl: mbi.Factor(domain.project(cl), _to_jax(vector[cl].values)) for cl in cliques}
    return mbi.CliqueVector(domain, cliques, tables)


def _with_mbis_marginals(
    callback: Callable[[Any], Any], domain: Any
) -> Callable[[CliqueVector], Any]:
    return lambda marginals: callback(_vector_to_theirs(marginals, domain))


def _model_to_theirs(fitted: MarkovRandomField, domain: Any, constraints: tuple[Any, ...]) -> Any:
    more = {"constraints": constraints} if constraints else {}
    fields = {
        "potentials": _vector_to_theirs(fitted.potentials, domain),
        "marginals": _vector_to_theirs(fitted.marginals, domain),
        "total": fitted.total,
        **more,
    }
    return _new_model(fields, fitted)


def _new_model(fields: dict[str, Any], fitted: MarkovRandomField) -> Any:
    model = _model_class()(**fields)
    object.__setattr__(model, "fitted", fitted)
    return model


@functools.cache
def _model_class() -> Any:
    """mbi's model, whose inference runs in our engine: nothing is compiled per marginal."""
    mbi = _mbi()

    class FittedModel(mbi.MarkovRandomField):
        """mbi's `MarkovRandomField`; `fitted` is our model, with its loss and certified gap.

        What JAX makes of its arrays (`jax.tree.map`, `mbi.save` and `mbi.load`) is mbi's class.
        """

        __slots__ = ("fitted",)

        def __reduce__(self) -> Any:
            fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
            return _new_model, (fields, self.fitted)

        def project(self, attrs: Any) -> Any:
            attrs = (attrs,) if isinstance(attrs, (str, int)) else tuple(attrs)
            return mbi.Factor(
                self.domain.project(attrs), _to_jax(self.fitted.project(attrs).values)
            )

        def synthetic_data(self, rows: int | None = None, method: str = "round") -> Any:
            # mbi draws from NumPy's global generator; so does the seed.
            seed = int(np.random.randint(2**31))
            rows = max(1, int(rows or self.total))
            columns = self.fitted.synthetic_data(rows, method, seed=seed).to_dict()
            return mbi.Dataset(
                {name: columns[name] for name in self.domain.attributes}, self.domain
            )

    def flatten(model: Any) -> tuple[list[Any], tuple[str, ...]]:
        names = tuple(field.name for field in dataclasses.fields(model))
        return [getattr(model, name) for name in names], names

    def unflatten(names: tuple[str, ...], values: Sequence[Any]) -> Any:
        return mbi.MarkovRandomField(**dict(zip(names, values)))

    FittedModel.__qualname__ = "FittedModel"
    importlib.import_module("jax").tree_util.register_pytree_node(FittedModel, flatten, unflatten)
    return FittedModel


def __getattr__(name: str) -> Any:
    # A class of its own module, so that models pickle; made when mbi is imported.
    if name == "FittedModel":
        return _model_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
