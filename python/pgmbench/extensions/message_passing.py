"""Marginals under constraints, and tables between fine and coarse attributes.

The engine treats a functional dependency as structural zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import marginal_oracles
from ..clique_vector import CliqueVector
from ..constraint import Constraint
from ..domain import Clique, Domain
from ..factor import Array, Factor


def shafer_shenoy(
    potentials: CliqueVector,
    total: float = 1,
    jtree: Any = None,
    constraints: Sequence[Constraint] = (),
) -> CliqueVector:
    """The marginals on the cliques of the potentials."""
    return marginal_oracles.exact_marginals(potentials, total, constraints=constraints)


def implicit(
    potentials: CliqueVector,
    total: float = 1,
    jtree: Any = None,
    *,
    constraints: Sequence[Constraint] = (),
    contraction: Any = None,
) -> CliqueVector:
    """The marginals on the cliques of the potentials."""
    return marginal_oracles.exact_marginals(potentials, total, constraints=constraints)


# An estimator takes these functions for the exact oracle.
shafer_shenoy.engine_oracle = "exact"  # type: ignore[attr-defined]
implicit.engine_oracle = "exact"  # type: ignore[attr-defined]


def default_oracle(
    cliques: Sequence[Clique] | None = None,
    domain: Domain | None = None,
    backend: str | None = None,
) -> Any:
    """The exact oracle, which suits every case."""
    return shafer_shenoy


def _replaced(factor: Factor, old: int, constraint: Constraint, new: int) -> Domain:
    """The domain of a factor with one attribute of the constraint replaced by the other."""
    names = constraint.domain.attributes
    config = {
        names[new] if name == names[old] else name: size
        for name, size in factor.domain.config.items()
    }
    config[names[new]] = constraint.domain.shape[new]
    return Domain.fromdict(config)


def _mapping(constraint: Constraint) -> Any:
    if constraint.mapping is None:
        raise ValueError("expected a constraint with a mapping from a fine to a coarse attribute")
    return np.asarray(constraint.mapping)


def coarsen(factor: Factor, constraint: Constraint) -> Factor:
    """Log-potentials over the fine attribute, added up over the values of the coarse one."""
    return _add_up(factor, constraint, log=True)


def project_to_coarse(factor: Factor, constraint: Constraint) -> Factor:
    """Counts over the fine attribute, added up over the values of the coarse one."""
    return _add_up(factor, constraint, log=False)


def _add_up(factor: Factor, constraint: Constraint, log: bool) -> Factor:
    mapping = _mapping(constraint)
    axis = factor.domain.axes((constraint.domain.attributes[0],))[0]
    domain = _replaced(factor, 0, constraint, 1)
    values = np.moveaxis(factor.values, axis, 0)
    empty = -np.inf if log else 0.0
    result: Array = np.full((constraint.domain.shape[1], *values.shape[1:]), empty)
    (np.logaddexp if log else np.add).at(result, mapping, values)
    return Factor(domain, np.moveaxis(result, 0, axis))


def refine(factor: Factor, constraint: Constraint) -> Factor:
    """A table over the coarse attribute, repeated over the values of the fine one."""
    axis = factor.domain.axes((constraint.domain.attributes[1],))[0]
    domain = _replaced(factor, 1, constraint, 0)
    return Factor(domain, np.take(factor.values, _mapping(constraint), axis=axis))
