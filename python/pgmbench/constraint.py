"""Combinations of values that cannot occur."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .domain import Clique, Domain
from .factor import Factor
from .limits import check_table


@dataclass(frozen=True, eq=False)
class Constraint:
    """Structural zeros: which combinations of values records can have.

    Exactly one of `valid`, `invalid` and `mapping` is given.

    Attributes:
        domain: the attributes that it is about.
        valid: the possible combinations, one per row; all others are impossible.
        invalid: the impossible combinations, one per row.
        mapping: for each value of the first attribute, the only possible value of the second.
    """

    domain: Domain
    valid: npt.NDArray[np.integer] | None = None
    invalid: npt.NDArray[np.integer] | None = None
    mapping: npt.NDArray[np.integer] | None = None

    def __post_init__(self) -> None:
        given = [self.valid, self.invalid, self.mapping]
        if sum(part is not None for part in given) != 1:
            raise ValueError("expected exactly one of valid, invalid and mapping")
        for name in ("valid", "invalid"):
            rows = getattr(self, name)
            if rows is not None:
                self._check_rows(name, np.asarray(rows))
        if self.mapping is not None:
            if len(self.domain) != 2:
                raise ValueError("a mapping needs a domain of two attributes")
            mapping = np.asarray(self.mapping)
            if mapping.shape != (self.domain.shape[0],):
                raise ValueError(
                    f"mapping: expected shape ({self.domain.shape[0]},), found {mapping.shape}"
                )
            if mapping.size and not 0 <= mapping.min() <= mapping.max() < self.domain.shape[1]:
                raise ValueError(f"mapping: expected values from 0 to {self.domain.shape[1] - 1}")

    def _check_rows(self, name: str, rows: npt.NDArray[np.integer]) -> None:
        if rows.ndim != 2 or rows.shape[1] != len(self.domain):
            expected = f"(n, {len(self.domain)})"
            raise ValueError(f"{name}: expected shape {expected}, found {rows.shape}")
        if rows.size and (rows.min() < 0 or np.any(rows >= np.asarray(self.domain.shape))):
            raise ValueError(f"{name}: a value is outside of {self.domain}")

    @property
    def clique(self) -> Clique:
        """The attributes, sorted by name."""
        return tuple(sorted(self.domain.attributes))  # type: ignore[type-var]

    @property
    def is_deterministic(self) -> bool:
        """Whether the first attribute determines the second."""
        return self.mapping is not None

    @property
    def potential(self) -> Factor:
        """0 for what is possible and minus infinity for what is not."""
        check_table(self.domain)
        if self.invalid is not None:
            values = np.zeros(self.domain.shape)
            values[tuple(np.asarray(self.invalid).T)] = -np.inf
            return Factor(self.domain, values)
        values = np.full(self.domain.shape, -np.inf)
        if self.valid is not None:
            values[tuple(np.asarray(self.valid).T)] = 0.0
        else:
            values[np.arange(self.domain.shape[0]), np.asarray(self.mapping)] = 0.0
        return Factor(self.domain, values)


def zeros_of(domain: Domain, constraints: Sequence[Constraint]) -> list[tuple[list[int], Any]]:
    """The impossible combinations as the engine takes them."""
    potentials = (constraint.potential for constraint in constraints)
    return [(domain.positions(factor.domain), np.isneginf(factor.values)) for factor in potentials]
