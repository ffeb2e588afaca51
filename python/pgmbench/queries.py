"""Linear queries on a marginal.

A query is any function that takes a `Factor` and returns a vector that depends linearly on it. The
classes here are known to the engine. Any other function is evaluated at the unit vectors for its
matrix, see `matrix_of`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from .domain import Clique, Domain
from .factor import Array, Factor

Query = Callable[[Factor], Any]

# A function that is not known is evaluated once per cell, so that there cannot be too many.
MAX_PROBED_CELLS = 1 << 14


@dataclass(frozen=True)
class DatavectorQuery:
    """The count of each cell.

    Attributes:
        use_for_total_estimation: whether the answers count when the total is estimated.
    """

    use_for_total_estimation: bool = True

    def __call__(self, f: Factor) -> Array:
        return f.datavector()

    def op_norm_sq(self) -> float:
        """The largest eigenvalue of Q^T Q."""
        return 1.0


@dataclass(frozen=True, eq=False)
class WeightedQuery:
    """The count of each cell, times a weight of its own."""

    weights: npt.NDArray[np.float64]

    def __call__(self, f: Factor) -> Array:
        return f.datavector() * self.weights

    def op_norm_sq(self) -> float:
        """The largest eigenvalue of Q^T Q."""
        return float(np.max(np.square(self.weights)))


@dataclass(frozen=True)
class SlicedQuery:
    """The count of each cell, without the first ones."""

    start: int = 1

    def __call__(self, f: Factor) -> Array:
        return f.datavector()[self.start :]

    def op_norm_sq(self) -> float:
        """The largest eigenvalue of Q^T Q."""
        return 1.0


@dataclass(frozen=True, eq=False)
class MatrixQuery:
    """The rows of a matrix times the vector of counts; columns are cells, row-major."""

    matrix: npt.NDArray[np.float64]

    def __call__(self, f: Factor) -> Array:
        return np.asarray(self.matrix @ f.datavector())

    def op_norm_sq(self) -> float:
        """The largest eigenvalue of Q^T Q."""
        return float(np.linalg.norm(self.matrix, 2) ** 2)


@dataclass(frozen=True, eq=False)
class KroneckerQuery:
    """A Kronecker product of one query per attribute of the clique.

    Each factor is the name of a kind, a pair of kind and argument, or a matrix:

    | factor | answers |
    | --- | --- |
    | `"identity"` | the count of each value |
    | `"prefix"` | the count of values up to each one |
    | `"total"` | the count of all values |
    | `"ranges"` | the count in each range i..j, ordered by i, then j |
    | `("evidence", [1, 3])` | the count of these values |
    | `("compress", [0, 0, 1])` | the count of each group; lists the group per value |
    | `("moments", 2)` | the sums of a, of a^2, ... over the values a |
    | a matrix | its rows times the counts |
    """

    factors: Sequence[Any]

    def __call__(self, f: Factor) -> Array:
        if len(self.factors) != len(f.domain):
            raise ValueError(f"{len(self.factors)} queries for {len(f.domain)} attributes")
        values = np.asarray(f.values, dtype=np.float64)
        for axis, (factor, size) in enumerate(zip(self.factors, f.domain.shape)):
            product = np.tensordot(factor_matrix(factor, size), values, axes=(1, axis))
            values = np.moveaxis(product, 0, axis)
        return values.reshape(-1)


def factor_spec(factor: Any) -> tuple[str, Any]:
    """A factor of a `KroneckerQuery` as the engine takes it."""
    if isinstance(factor, str):
        return factor, None
    if isinstance(factor, tuple) and len(factor) == 2 and isinstance(factor[0], str):
        return factor
    matrix = np.atleast_2d(np.asarray(factor, dtype=np.float64))
    return "matrix", matrix


def factor_matrix(factor: Any, size: int) -> Array:
    """The matrix of a factor of a `KroneckerQuery` on an attribute with this many values."""
    kind, argument = factor_spec(factor)
    identity = np.eye(size)
    if kind == "identity":
        return identity
    if kind == "prefix":
        return np.tril(np.ones((size, size)))
    if kind == "total":
        return np.ones((1, size))
    if kind == "ranges":
        rows = [identity[i : j + 1].sum(axis=0) for i in range(size) for j in range(i, size)]
        return np.array(rows)
    if kind == "intervals":
        return np.array([identity[start:end].sum(axis=0) for start, end in argument])
    if kind == "evidence":
        return identity[list(argument)].sum(axis=0, keepdims=True)
    if kind == "compress":
        return np.eye(max(argument) + 1)[:, list(argument)]
    if kind == "moments":
        return np.array([np.arange(size, dtype=float) ** power for power in range(1, argument + 1)])
    if kind == "matrix":
        return np.asarray(argument)
    raise ValueError(f"unknown query {kind!r}")


def is_identity(query: Query) -> bool:
    """Whether the query is the count of each cell."""
    # The second is how older programs spell it; `other` may be the same method of mbi's Factor.
    return isinstance(query, DatavectorQuery) or query is Factor.datavector


def matrix_of(query: Query, domain: Domain) -> Array:
    """The matrix of a linear function of tables over the domain, from its values at unit vectors.

    Raises ValueError if the function is not linear.
    """
    cells = domain.size()
    if cells > MAX_PROBED_CELLS:
        raise ValueError(
            f"the query on {domain.attributes} is a function that is not known here, and its "
            f"marginal has {cells} cells; pass a MatrixQuery or a KroneckerQuery instead"
        )

    def evaluate(cells: Array) -> npt.NDArray[Any]:
        return np.asarray(query(Factor(domain, cells.reshape(domain.shape)))).reshape(-1)

    columns = [evaluate(unit) for unit in np.eye(cells)]
    if len({column.shape for column in columns}) != 1:
        raise ValueError(f"the query on {domain.attributes} is not linear: its length changes")
    matrix = np.stack(columns, axis=1)
    single = matrix.dtype == np.float32
    matrix = matrix.astype(np.float64)
    rng = np.random.default_rng(0)
    for scale in (1.0, 1000.0):
        point = scale * rng.random(cells)
        expected, found = matrix @ point, evaluate(point)
        size = np.abs(matrix) @ np.abs(point) + scale * 1e-6
        error = np.max(np.abs(found - expected) / size, initial=0.0)
        if not error <= (1e-3 if single else 1e-8):
            raise ValueError(
                f"the query on {domain.attributes} is not linear: expected a function q with "
                "q(a x + b y) = a q(x) + b q(y)"
            )
    return matrix


def measure(
    domain: Domain, clique: Clique, query: Query, answers: Any, stddev: float
) -> _core.Measurement:
    """A measurement as the engine takes it."""
    engine, attributes = domain._engine, domain.positions(clique)
    y = np.asarray(answers, dtype=np.float64).reshape(-1)
    stddev = float(stddev)
    if is_identity(query):
        return _core.Measurement.kronecker(engine, attributes, None, y, stddev)
    if isinstance(query, KroneckerQuery):
        factors = [factor_spec(factor) for factor in query.factors]
        return _core.Measurement.kronecker(engine, attributes, factors, y, stddev)
    cells = domain.size(clique)
    if isinstance(query, (SlicedQuery, WeightedQuery)):
        columns = np.arange(cells)
        entries = np.ones(cells)
        if isinstance(query, WeightedQuery):
            entries = np.asarray(query.weights, dtype=np.float64).reshape(-1)
            if entries.size != cells:
                raise ValueError(f"expected {cells} weights, found {entries.size}")
        else:
            columns = columns[query.start :]
            entries = entries[query.start :]
        starts = np.arange(len(columns) + 1)
        return _core.Measurement.sparse(
            engine, attributes, cells, starts, columns, entries, y, stddev
        )
    if isinstance(query, MatrixQuery):
        matrix = np.asarray(query.matrix, dtype=np.float64)
    else:
        matrix = matrix_of(query, domain.project(clique))
    rows, columns = np.nonzero(matrix)
    if len(rows) > matrix.size / 4:
        return _core.Measurement.dense(engine, attributes, matrix, y, stddev)
    starts = np.concatenate([[0], np.cumsum(np.count_nonzero(matrix, axis=1))])
    entries = matrix[rows, columns]
    return _core.Measurement.sparse(
        engine, attributes, matrix.shape[1], starts, columns, entries, y, stddev
    )


def measure_all(domain: Domain, measurements: Sequence[Any]) -> list[_core.Measurement]:
    """Measurements as the engine takes them; what is wrong with one names it."""
    made: list[_core.Measurement] = []
    for index, item in enumerate(measurements):
        try:
            made.append(
                measure(domain, item.clique, item.query, item.noisy_measurement, item.stddev)
            )
        except (ValueError, MemoryError) as error:
            raise type(error)(f"measurement {index} on {item.clique}: {error}") from None
    return made
