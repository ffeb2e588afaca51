"""Measurements, and how well marginals explain them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .clique_utils import clique_mapping, maximal_subset
from .clique_vector import CliqueVector
from .domain import Clique, Domain, as_clique
from .factor import Factor
from .queries import (
    DatavectorQuery,
    KroneckerQuery,
    MatrixQuery,
    Query,
    SlicedQuery,
    WeightedQuery,
    matrix_of,
)

__all__ = [
    "DatavectorQuery",
    "KroneckerQuery",
    "LinearMeasurement",
    "MarginalLossFn",
    "MatrixQuery",
    "SlicedQuery",
    "WeightedQuery",
    "calculate_l2_lipschitz",
    "calculate_l2_lipschitz_from_metadata",
    "from_linear_measurements",
    "mle_loss_fn",
    "primal_feasibility",
]


@dataclass(frozen=True, eq=False)
class LinearMeasurement:
    """Noisy answers to linear queries on one marginal.

    >>> LinearMeasurement([18.2, 31.9], ("sex",), stddev=2.0)  # doctest: +ELLIPSIS
    LinearMeasurement(noisy_measurement=[18.2, 31.9], clique=('sex',), stddev=2.0, query=...)

    Attributes:
        noisy_measurement: the answers, as the query returns them.
        clique: the attributes of the marginal; a table over them has its axes in this order.
        stddev: the standard deviation of the noise on each answer.
        query: the queries; default: the count of each cell.
    """

    noisy_measurement: Any
    clique: Clique
    stddev: float = 1.0
    query: Query = DatavectorQuery()

    def __post_init__(self) -> None:
        object.__setattr__(self, "clique", as_clique(self.clique))

    def compress(
        self, mapping: Mapping[Any, npt.NDArray[np.integer]], domain: Domain
    ) -> LinearMeasurement:
        """The measurement of a domain in which values are merged.

        Counts of merged cells are added and divided by the root of their number, so that the
        noise keeps its standard deviation.

        Args:
            mapping: for each merged attribute, the new value of each old one.
            domain: the domain before.
        """
        if not any(name in mapping for name in self.clique):
            return self
        new = [
            np.asarray(mapping[name]) if name in mapping else np.arange(domain[name])
            for name in self.clique
        ]
        shape = [int(values.max()) + 1 for values in new]
        cells = np.ravel_multi_index(np.meshgrid(*new, indexing="ij"), shape).reshape(-1)
        answers = np.asarray(self.noisy_measurement, dtype=np.float64).reshape(-1)
        length = int(np.prod(shape))
        sums = np.bincount(cells, weights=answers, minlength=length)
        scale = 1.0 / np.sqrt(np.bincount(cells, minlength=length).astype(np.float64))
        return LinearMeasurement(sums * scale, self.clique, self.stddev, WeightedQuery(scale))


@dataclass(frozen=True, eq=False)
class MarginalLossFn:
    """A convex loss of marginals.

    Attributes:
        cliques: the marginals that it depends on.
        loss_fn: maps marginals and `data` to a number.
        data: passed to `loss_fn`.
        lipschitz: how fast the gradient changes at most.
        gradient_fn: maps marginals and `data` to the gradient, a `CliqueVector` over the cliques.
            Losses of measurements need none. Without it, other losses are differentiated
            numerically, two evaluations per cell, which suits small tables only.
    """

    cliques: Sequence[Clique]
    loss_fn: Callable[[CliqueVector, Any], Any]
    data: Any = ()
    lipschitz: float = 1.0
    gradient_fn: Callable[[CliqueVector, Any], CliqueVector] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "cliques", tuple(as_clique(clique) for clique in self.cliques))

    def __call__(self, marginals: CliqueVector) -> Any:
        return self.loss_fn(marginals, self.data)


def residuals(marginals: CliqueVector, measurement: LinearMeasurement) -> npt.NDArray[np.float64]:
    """The differences of the model's answers and the measured ones, in standard deviations."""
    answers = np.asarray(measurement.query(marginals.project(measurement.clique)))
    return (answers - np.asarray(measurement.noisy_measurement)) / max(measurement.stddev, 1e-12)


def l2_loss(marginals: CliqueVector, measurements: Iterable[LinearMeasurement]) -> float:
    """Half the sum of squared residuals."""
    each = (residuals(marginals, measurement) for measurement in measurements)
    return sum((0.5 * float(np.vdot(r, r)) for r in each), 0.0)


def l1_loss(marginals: CliqueVector, measurements: Iterable[LinearMeasurement]) -> float:
    """The sum of absolute residuals."""
    each = (residuals(marginals, measurement) for measurement in measurements)
    return sum((float(np.sum(np.abs(r))) for r in each), 0.0)


def normalized_l2_loss(marginals: CliqueVector, measurements: Sequence[LinearMeasurement]) -> float:
    """The root of the L2 loss per measurement and record."""
    total = float(marginals.project(()))
    return float(np.sqrt(l2_loss(marginals, measurements) / len(measurements) / total))


def normalized_l1_loss(marginals: CliqueVector, measurements: Sequence[LinearMeasurement]) -> float:
    """The L1 loss per measurement and record."""
    return l1_loss(marginals, measurements) / len(measurements) / float(marginals.project(()))


# The losses of measurements, and the norm whose minimiser is theirs.
LINEAR_LOSSES: dict[Callable[..., Any], str] = {
    l2_loss: "l2",
    l1_loss: "l1",
    normalized_l2_loss: "l2",
    normalized_l1_loss: "l1",
}


def from_linear_measurements(
    measurements: Sequence[LinearMeasurement],
    domain: Domain,
    norm: str = "l2",
    normalize: bool = False,
) -> MarginalLossFn:
    """The loss of measurements.

    Args:
        measurements: what was measured.
        domain: the attributes.
        norm: "l2", half the sum of squared residuals, or "l1", the sum of absolute ones. Residuals
            are in standard deviations.
        normalize: whether to divide by the number of measurements and records.
    """
    if norm not in ("l1", "l2"):
        raise ValueError(f'norm: expected "l1" or "l2", found {norm!r}')
    measurements = tuple(measurements)
    cliques = maximal_subset([measurement.clique for measurement in measurements])
    if normalize:
        loss = normalized_l2_loss if norm == "l2" else normalized_l1_loss
        return MarginalLossFn(cliques, loss, measurements)
    if norm == "l1":
        return MarginalLossFn(cliques, l1_loss, measurements)
    lipschitz = _l2_lipschitz(domain, measurements)
    return MarginalLossFn(cliques, l2_loss, measurements, lipschitz)


def _l2_lipschitz(domain: Domain, measurements: Sequence[LinearMeasurement]) -> float:
    """A bound on the largest eigenvalue of the Hessian of the L2 loss.

    A cell of a clique with n cells appears in a marginal with m cells n / m times; the bound adds
    up what the measurements inside each maximal clique contribute.
    """
    cliques = [measurement.clique for measurement in measurements]
    maximal = clique_mapping(maximal_subset(cliques), cliques, domain)
    sums: dict[Clique, float] = {}
    for measurement in measurements:
        norm = getattr(measurement.query, "op_norm_sq", None)
        if callable(norm):
            largest = float(norm())  # type: ignore[arg-type]
        elif measurement.query is Factor.datavector:
            largest = 1.0
        else:
            sub = domain.project(measurement.clique)
            largest = float(np.linalg.norm(matrix_of(measurement.query, sub), 2) ** 2)
        clique = maximal[measurement.clique]
        repeats = domain.size(clique) / domain.size(measurement.clique)
        weight = largest / max(float(measurement.stddev), 1e-12) ** 2
        sums[clique] = sums.get(clique, 0.0) + weight * repeats
    return max(sums.values(), default=1.0)


def calculate_l2_lipschitz_from_metadata(
    domain: Domain, measurements: Sequence[LinearMeasurement]
) -> float | None:
    """A bound on how fast the gradient of the L2 loss changes; None if a query does not tell."""
    if all(hasattr(measurement.query, "op_norm_sq") for measurement in measurements):
        return _l2_lipschitz(domain, measurements)
    return None


def calculate_l2_lipschitz(
    domain: Domain, cliques: Sequence[Clique], loss_fn: Callable[[CliqueVector], Any]
) -> float:
    """The largest eigenvalue of the Hessian of a quadratic loss, by power iteration."""
    zero = CliqueVector.zeros(domain, cliques)
    gradient = numerical_gradient(loss_fn, zero, 1.0)
    vector = CliqueVector.ones(domain, cliques)
    estimate = 0.0
    for _ in range(50):
        vector = vector / np.sqrt(vector.dot(vector))
        product = numerical_gradient(loss_fn, vector, 1.0) - gradient
        estimate, previous = float(np.sqrt(product.dot(product))), estimate
        if estimate == 0.0 or abs(estimate - previous) <= 1e-9 * estimate:
            break
        vector = product
    return estimate


def numerical_gradient(
    loss_fn: Callable[[CliqueVector], Any], marginals: CliqueVector, step: float | None = None
) -> CliqueVector:
    """The gradient by central differences; exact for a quadratic loss."""
    gradient = CliqueVector.zeros(marginals.domain, marginals.cliques)
    # Copies in C order, so that a vector of their cells is a view.
    moved = marginals._map(lambda f: Factor(f.domain, np.array(f.values, float, order="C")))
    for clique in marginals.cliques:
        cells = moved.tables[clique].values.reshape(-1)
        slopes = gradient.tables[clique].values.reshape(-1)
        for index in range(cells.size):
            here = cells[index]
            delta = step if step is not None else 1e-6 * max(1.0, abs(here))
            # A count stays positive, where a logarithm of it is taken.
            delta = min(delta, 0.5 * here) if step is None and here > 0 else delta
            cells[index] = here + delta
            above = float(loss_fn(moved))
            cells[index] = here - delta
            slopes[index] = (above - float(loss_fn(moved))) / (2 * delta)
            cells[index] = here
    return gradient


def primal_feasibility(mu: CliqueVector) -> float:
    """How far overlapping marginals disagree: the mean L1 distance on shared attributes, as a
    share of the total."""
    distances: list[float] = []
    for index, first in enumerate(mu.cliques):
        for second in mu.cliques[:index]:
            shared = tuple(name for name in first if name in second)
            if shared:
                x = mu[first].project(shared).datavector()
                y = mu[second].project(shared).datavector()
                distances.append(float(np.abs(x - y).sum() / (0.5 * x.sum() + 0.5 * y.sum())))
    return float(np.mean(distances)) if distances else 0.0


def _mle_loss(mu: CliqueVector, target: CliqueVector) -> float:
    return -target.dot(mu.log())


def _mle_gradient(mu: CliqueVector, target: CliqueVector) -> CliqueVector:
    def table(clique: Clique) -> Factor:
        counts, wanted = mu.project(clique).values, target[clique].values
        safe = np.where(counts > 0, counts, 1.0)
        return Factor(target[clique].domain, np.where(wanted != 0, -wanted / safe, 0.0))

    return CliqueVector._make(target.domain, target.cliques, table)


def mle_loss_fn(marginals: CliqueVector) -> MarginalLossFn:
    """Minus the log-likelihood of data with these marginals."""
    return MarginalLossFn(marginals.cliques, _mle_loss, marginals, gradient_fn=_mle_gradient)
