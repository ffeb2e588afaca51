"""One table per clique."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._api import Projectable
from .clique_utils import reverse_clique_mapping
from .domain import Attribute, Clique, Domain, as_clique
from .factor import Factor, Scalar
from .limits import check_table


@dataclass(init=False, eq=False)
class CliqueVector:
    """A table for each of several sets of attributes: potentials, marginals, gradients.

    Attributes:
        domain: all attributes.
        cliques: the sets of attributes, each a tuple of names.
        tables: the factor of each clique.
    """

    domain: Domain
    cliques: tuple[Clique, ...]
    tables: dict[Clique, Factor]

    def __init__(
        self, domain: Domain, cliques: Sequence[Clique], tables: Mapping[Clique, Factor]
    ) -> None:
        self.domain = domain
        self.cliques = tuple(tuple(clique) for clique in cliques)
        self.tables = dict(tables)
        if set(self.cliques) != set(self.tables):
            raise ValueError("the cliques must be the keys of the tables")
        if len(self.cliques) != len(set(self.cliques)):
            raise ValueError("every clique must be listed once")

    @classmethod
    def _make(
        cls, domain: Domain, cliques: Sequence[Clique], make: Callable[[Clique], Factor]
    ) -> CliqueVector:
        cliques = [as_clique(clique) for clique in cliques]
        return cls(domain, cliques, {clique: make(clique) for clique in cliques})

    @classmethod
    def zeros(cls, domain: Domain, cliques: Sequence[Clique]) -> CliqueVector:
        """Tables of zeros."""
        return cls._make(domain, cliques, lambda clique: Factor.zeros(domain.project(clique)))

    @classmethod
    def ones(cls, domain: Domain, cliques: Sequence[Clique]) -> CliqueVector:
        """Tables of ones."""
        return cls._make(domain, cliques, lambda clique: Factor.ones(domain.project(clique)))

    @classmethod
    def random(
        cls, domain: Domain, cliques: Sequence[Clique], rng: np.random.Generator | None = None
    ) -> CliqueVector:
        """Tables of uniform numbers from 0 to 1."""
        return cls._make(domain, cliques, lambda clique: Factor.random(domain.project(clique), rng))

    @classmethod
    def abstract(cls, domain: Domain, cliques: Sequence[Clique]) -> CliqueVector:
        """Tables of zeros that take no memory."""
        return cls._make(domain, cliques, lambda clique: Factor.abstract(domain.project(clique)))

    @classmethod
    def from_projectable(cls, data: Projectable, cliques: Sequence[Clique]) -> CliqueVector:
        """The marginals of data, of a table or of a model."""
        return cls._make(data.domain, cliques, data.project)

    @functools.cached_property
    def active_domain(self) -> Domain:
        """The domain of the attributes that are in some clique."""
        parts = (self.domain.project(clique) for clique in self.cliques)
        return functools.reduce(Domain.merge, parts, Domain([], []))

    @functools.cached_property
    def _by_set(self) -> dict[frozenset[Attribute], Clique]:
        return {frozenset(clique): clique for clique in reversed(self.cliques)}

    def parent(self, clique: Clique) -> Clique | None:
        """The smallest clique that contains these attributes."""
        scope = set(clique)
        containing = [other for other in self.cliques if scope <= set(other)]
        return min(containing, key=self.domain.size, default=None)

    def supports(self, clique: Attribute | Sequence[Attribute]) -> bool:
        """Whether some clique contains these attributes."""
        return self.parent(as_clique(clique)) is not None

    def project(self, clique: Attribute | Sequence[Attribute], log: bool = False) -> Factor:
        """The marginal on attributes of one clique, by summing out the others."""
        clique = as_clique(clique)
        if clique in self.tables:
            return self.tables[clique]
        same = self._by_set.get(frozenset(clique))
        if same is not None and len(same) == len(clique):
            return self.tables[same].transpose(clique)
        parent = self.parent(clique)
        if parent is None:
            self.domain.positions(clique)
            raise ValueError(f"no clique contains all of {clique}")
        return self.tables[parent].project(clique, log=log)

    def expand(self, cliques: Sequence[Clique]) -> CliqueVector:
        """The same sum of potentials, written over larger cliques."""
        cliques = [as_clique(clique) for clique in cliques]
        members = reverse_clique_mapping(cliques, self.cliques, self.domain)

        def table(clique: Clique) -> Factor:
            domain = self.domain.project(clique)
            check_table(domain)
            parts = [self.tables[member] for member in members[clique]]
            if not parts:
                return Factor.zeros(domain)
            total = functools.reduce(Factor.__add__, parts)
            return Factor(domain, np.array(total.expand(domain).values))

        return self._make(self.domain, cliques, table)

    def contract(self, cliques: Sequence[Clique], log: bool = False) -> CliqueVector:
        """The tables over smaller cliques, by summing out."""
        return self._make(self.domain, cliques, lambda clique: self.project(clique, log=log))

    def _map(self, fn: Callable[[Factor], Factor]) -> CliqueVector:
        return self._make(self.domain, self.cliques, lambda clique: fn(self.tables[clique]))

    def normalize(self, total: Scalar = 1, log: bool = True) -> CliqueVector:
        """Each table scaled to sum to `total`; `log`: whether values are logarithms."""
        return self._map(lambda factor: factor.normalize(total, log))

    def exp(self) -> CliqueVector:
        """The exponential of every cell."""
        return self._map(Factor.exp)

    def log(self) -> CliqueVector:
        """The logarithm of every cell."""
        return self._map(Factor.log)

    def dot(self, other: CliqueVector) -> float:
        """The sum of products of corresponding cells of all tables."""
        return sum((self.tables[clique].dot(other.tables[clique]) for clique in self.cliques), 0.0)

    def size(self) -> int:
        """The number of cells of all tables."""
        return sum(self.domain.size(clique) for clique in self.cliques)

    def apply_sharding(self, mesh: Any) -> CliqueVector:
        """The vector itself: there are no devices to distribute it over."""
        return self

    def __mul__(self, const: Scalar) -> CliqueVector:
        return self._map(lambda factor: factor * const)

    def __rmul__(self, const: Scalar) -> CliqueVector:
        return self * const

    def __truediv__(self, const: Scalar) -> CliqueVector:
        return self._map(lambda factor: factor / const)

    def __add__(self, other: CliqueVector | Scalar) -> CliqueVector:
        if not isinstance(other, CliqueVector):
            return self._map(lambda factor: factor + other)
        if set(self.cliques) != set(other.cliques):
            raise ValueError(f"expected the cliques {self.cliques}, found {other.cliques}")
        return self._make(
            self.domain, self.cliques, lambda clique: self.tables[clique] + other.tables[clique]
        )

    def __radd__(self, other: Scalar) -> CliqueVector:
        return self + other

    def __sub__(self, other: CliqueVector | Scalar) -> CliqueVector:
        return self + -1 * other

    def __neg__(self) -> CliqueVector:
        return self * -1

    def __getitem__(self, clique: Clique) -> Factor:
        return self.tables[clique]

    def __setitem__(self, clique: Clique, value: Factor) -> None:
        if clique not in self.tables:
            raise ValueError(f"{clique} is not one of the cliques {self.cliques}")
        self.tables[clique] = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CliqueVector):
            return NotImplemented
        return (self.domain, self.cliques, self.tables) == (
            other.domain,
            other.cliques,
            other.tables,
        )

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None

    def _to_engine(self) -> list[tuple[list[int], Any]]:
        """The tables with the positions of their axes, as the engine takes them."""

        def array(factor: Factor) -> Any:
            return np.asarray(factor.values, dtype=np.float64)

        return [
            (
                self.domain.positions(self.tables[clique].domain.attributes),
                array(self.tables[clique]),
            )
            for clique in self.cliques
        ]

    @classmethod
    def _from_engine(cls, domain: Domain, tables: list[tuple[list[int], Any]]) -> CliqueVector:
        """Tables of the engine, over its own cliques."""
        factors = [
            Factor(domain.project([domain.attributes[at] for at in positions]), values)
            for positions, values in tables
        ]
        named = {factor.domain.attributes: factor for factor in factors}
        return cls(domain, list(named), named)

    def _spelled(self, cliques: Sequence[Clique]) -> CliqueVector:
        """The same potentials: cliques of equal sets are written as here, the others are kept.

        A clique that is listed twice, or part of another one, has a table of zeros.
        """
        own = {frozenset(clique): clique for clique in self.cliques}
        tables: dict[Clique, Factor] = {}
        for clique in cliques:
            found = own.pop(frozenset(clique), None)
            empty = Factor.zeros(self.domain.project(clique)) if found is None else None
            tables[clique] = empty or self.tables[found].transpose(clique)  # type: ignore[index]
        tables.update((clique, self.tables[clique]) for clique in own.values())
        return CliqueVector(self.domain, list(tables), tables)
