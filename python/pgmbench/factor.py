"""Tables over a domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from .domain import Attribute, Domain, as_clique
from .limits import check_table

Scalar = Union[float, int, np.number[Any], npt.NDArray[Any]]
Array = npt.NDArray[np.float64]


def logsumexp(values: Array, axis: tuple[int, ...]) -> Array:
    """log(sum(exp(values))) along the axes, without overflow; minus infinity of no mass."""
    if not axis:
        return values
    largest = np.max(values, axis=axis, keepdims=True)
    finite = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        logs = np.log(np.sum(np.exp(values - finite), axis=axis, keepdims=True)) + finite
    return np.squeeze(logs, axis=axis)


@dataclass(frozen=True, eq=False)
class Factor:
    """A number for each combination of values of some attributes.

    >>> factor = Factor.ones(Domain(["a", "b"], [2, 3]))
    >>> factor.project("a").values
    array([3., 3.])

    Attributes:
        domain: the attributes, one per axis.
        values: the array, of the shape of the domain, or a vector of its cells, row-major.
    """

    domain: Domain
    values: Array

    def __post_init__(self) -> None:
        values = np.asarray(self.values)
        if values.shape != self.domain.shape:
            if values.ndim != 1 or values.size != self.domain.size():
                raise ValueError(
                    f"expected values of shape {self.domain.shape} over "
                    f"{self.domain.attributes}, found shape {values.shape}"
                )
            values = values.reshape(self.domain.shape)
        object.__setattr__(self, "values", values)

    @classmethod
    def zeros(cls, domain: Domain) -> Factor:
        """Zero in every cell."""
        check_table(domain)
        return cls(domain, np.zeros(domain.shape))

    @classmethod
    def ones(cls, domain: Domain) -> Factor:
        """One in every cell."""
        check_table(domain)
        return cls(domain, np.ones(domain.shape))

    @classmethod
    def random(cls, domain: Domain, rng: np.random.Generator | None = None) -> Factor:
        """Uniform numbers from 0 to 1, from `rng` or from NumPy's global generator."""
        check_table(domain)
        draw = np.random.random_sample if rng is None else rng.random
        return cls(domain, np.asarray(draw(domain.shape)))

    @classmethod
    def abstract(cls, domain: Domain) -> Factor:
        """A factor of zeros that takes no memory; nothing is compiled here."""
        return cls(domain, np.broadcast_to(np.zeros(()), domain.shape))

    def transpose(self, attrs: Sequence[Attribute]) -> Factor:
        """The same table with its axes in another order."""
        attrs = as_clique(attrs)
        if set(attrs) != set(self.domain.attributes):
            raise ValueError(f"expected an order of {self.domain.attributes}, found {attrs}")
        domain = self.domain.project(attrs)
        return Factor(domain, np.transpose(self.values, self.domain.axes(attrs)))

    def expand(self, domain: Domain) -> Factor:
        """The same numbers over a larger domain, repeated along its further attributes."""
        if not domain.contains(self.domain):
            raise ValueError(f"expected a domain with {self.domain.attributes}, found {domain}")
        order = [name for name in domain if name in self.domain]
        shape = [size if name in self.domain else 1 for name, size in domain.config.items()]
        values = np.transpose(self.values, self.domain.axes(order)).reshape(shape)
        return Factor(domain, np.broadcast_to(values, domain.shape))

    def _aggregate(self, fn: Callable[..., Any], attrs: Sequence[Attribute] | None) -> Factor:
        attrs = self.domain.attributes if attrs is None else as_clique(attrs)
        if not attrs:
            return self
        values = fn(self.values, axis=self.domain.axes(attrs))
        return Factor(self.domain.marginalize(attrs), values)

    def max(self, attrs: Sequence[Attribute] | None = None) -> Factor:
        """The maximum over these attributes; default: over all."""
        return self._aggregate(np.max, attrs)

    def sum(self, attrs: Sequence[Attribute] | None = None) -> Factor:
        """The sum over these attributes; default: over all."""
        return self._aggregate(np.sum, attrs)

    def logsumexp(self, attrs: Sequence[Attribute] | None = None) -> Factor:
        """log of the sum of exponentials over these attributes; default: over all."""
        return self._aggregate(logsumexp, attrs)

    def project(self, attrs: Attribute | Sequence[Attribute], log: bool = False) -> Factor:
        """The table over these attributes, all others summed out.

        Args:
            attrs: attributes, in the order of the axes of the result.
            log: whether values are logarithms, to be added up as exponentials.
        """
        attrs = as_clique(attrs)
        self.domain.positions(attrs)
        others = self.domain.invert(attrs)
        return (self.logsumexp(others) if log else self.sum(others)).transpose(attrs)

    def slice(self, evidence: Mapping[Any, Any]) -> Factor:
        """The part of the table where attributes have the given values."""
        index: list[Any] = [np.s_[:]] * len(self.domain)
        given = [name for name in evidence if name in self.domain]
        for name in given:
            if np.ndim(evidence[name]) > 0:
                raise ValueError(f"expected one value of {name!r}, found an array")
            index[self.domain.axes((name,))[0]] = int(evidence[name])
        return Factor(self.domain.marginalize(given), self.values[tuple(index)])

    def supports(self, attrs: Attribute | Sequence[Attribute]) -> bool:
        """Whether the table has all of these attributes."""
        return self.domain.supports(attrs)

    def exp(self) -> Factor:
        """The exponential of every cell."""
        return Factor(self.domain, np.exp(self.values))

    def log(self) -> Factor:
        """The logarithm of every cell; minus infinity of zero."""
        with np.errstate(divide="ignore"):
            return Factor(self.domain, np.log(self.values))

    def normalize(self, total: Scalar = 1.0, log: bool = False) -> Factor:
        """A multiple of the table that sums to `total`.

        Args:
            total: the sum of the result.
            log: whether values are logarithms.
        """
        if log:
            return self + (np.log(total) - self.logsumexp().values)
        return self * (total / self.sum().values)

    def copy(self) -> Factor:
        """A table of its own with the same values."""
        return Factor(self.domain, np.array(self.values))

    def _binary(self, fn: Callable[[Any, Any], Any], other: Factor | Scalar) -> Factor:
        if not isinstance(other, Factor):
            if np.ndim(other) != 0:
                raise ValueError("expected a factor or a number, found an array")
            return Factor(self.domain, fn(self.values, np.asarray(other)))
        if self.domain.attributes == other.domain.attributes:
            return Factor(self.domain, fn(self.values, other.values))
        domain = self.domain.merge(other.domain)
        check_table(domain)
        return Factor(domain, fn(self.expand(domain).values, other.expand(domain).values))

    def __add__(self, other: Factor | Scalar) -> Factor:
        return self._binary(np.add, other)

    def __sub__(self, other: Factor | Scalar) -> Factor:
        return self._binary(np.subtract, other)

    def __mul__(self, other: Factor | Scalar) -> Factor:
        return self._binary(np.multiply, other)

    def __truediv__(self, other: Factor | Scalar) -> Factor:
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._binary(np.divide, other)

    def __radd__(self, other: Scalar) -> Factor:
        return self + other

    def __rsub__(self, other: Scalar) -> Factor:
        return self * -1 + other

    def __rmul__(self, other: Scalar) -> Factor:
        return self * other

    def __neg__(self) -> Factor:
        return self * -1

    def dot(self, other: Factor) -> float:
        """The sum of products of corresponding cells; cells with a zero count nothing."""
        if self.domain != other.domain:
            raise ValueError(f"expected the domain {self.domain}, found {other.domain}")
        used = (self.values != 0) & (other.values != 0)
        return float(np.sum(self.values[used] * other.values[used]))

    def datavector(self, flatten: bool = True) -> Array:
        """The values as a vector, row-major, or as the array that they are."""
        return self.values.reshape(-1) if flatten else self.values

    def apply_sharding(self, mesh: Any) -> Factor:
        """The factor itself: there are no devices to distribute it over."""
        return self

    def pad(self, mesh: Any, pad_value: Any) -> Factor:
        """The factor itself: there are no devices to distribute it over."""
        return self

    def __float__(self) -> float:
        if len(self.domain) > 0:
            raise ValueError("only a factor without attributes is a number")
        return float(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Factor):
            return NotImplemented
        return self.domain == other.domain and np.array_equal(self.values, other.values)

    __hash__ = None  # type: ignore[assignment]
    # NumPy must not spread the operators over the cells.
    __array_ufunc__ = None
