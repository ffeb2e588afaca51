"""Marginals of a graphical model, from its log-potentials.

All exact functions give the same result by the same algorithm of the engine: messages of a junction
tree in log space, which is stable for potentials of any size and for structural zeros. Their names
are those that users of mbi know.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

import numpy as np

from . import _core, junction_tree
from .clique_vector import CliqueVector
from .constraint import Constraint
from .domain import Clique, Domain, as_clique
from .factor import Factor
from .queries import factor_spec


class MarginalOracle(Protocol):
    """Computes the marginals of a model on the cliques of its potentials."""

    def __call__(
        self,
        potentials: CliqueVector,
        total: float = 1.0,
        *,
        constraints: Sequence[Constraint] = (),
    ) -> CliqueVector: ...


def model_of(
    potentials: CliqueVector, total: Any, constraints: Sequence[Constraint] = ()
) -> _core.Model:
    """The engine's model with these potentials."""
    tables = potentials._to_engine()
    for constraint in constraints:
        factor = constraint.potential
        tables.append((potentials.domain.positions(factor.domain), factor.values))
    return _core.Model(potentials.domain._engine, tables, float(total))


def _marginals(model: _core.Model, domain: Domain, cliques: Sequence[Clique]) -> CliqueVector:
    cliques = [as_clique(clique) for clique in cliques]
    tables = model.marginals([domain.positions(clique) for clique in cliques])
    factors = {
        clique: Factor(domain.project(clique), table) for clique, table in zip(cliques, tables)
    }
    return CliqueVector(domain, list(factors), factors)


def exact_marginals(
    potentials: CliqueVector, total: float = 1.0, *, constraints: Sequence[Constraint] = ()
) -> CliqueVector:
    """The marginals on the cliques of the potentials, in counts that sum to `total`."""
    model = model_of(potentials, total, constraints)
    return _marginals(model, potentials.domain, potentials.cliques)


def _message_passing(
    potentials: CliqueVector,
    total: float = 1.0,
    jtree: Any = None,
    *,
    constraints: Sequence[Constraint] = (),
    return_messages: bool = False,
) -> Any:
    marginals = exact_marginals(potentials, total, constraints=constraints)
    if not return_messages:
        return marginals
    return marginals, _messages(potentials, jtree, constraints)


def message_passing_hugin(
    potentials: CliqueVector,
    total: float = 1.0,
    jtree: Any = None,
    *,
    constraints: Sequence[Constraint] = (),
    return_messages: bool = False,
) -> Any:
    """The marginals on the cliques of the potentials.

    Args:
        potentials: log-potentials.
        total: the sum of each marginal.
        jtree: the tree of the messages, if they are asked for; the engine plans its own.
        constraints: combinations that cannot occur.
        return_messages: whether to return a pair of marginals and messages, one log-space factor
            per pair of neighbours.
    """
    return _message_passing(
        potentials, total, jtree, constraints=constraints, return_messages=return_messages
    )


def message_passing_shafer_shenoy(
    potentials: CliqueVector,
    total: float = 1.0,
    jtree: Any = None,
    *,
    constraints: Sequence[Constraint] = (),
    return_messages: bool = False,
) -> Any:
    """The same as `message_passing_hugin`."""
    return _message_passing(
        potentials, total, jtree, constraints=constraints, return_messages=return_messages
    )


def message_passing_stable(
    potentials: CliqueVector,
    total: float = 1.0,
    jtree: Any = None,
    *,
    constraints: Sequence[Constraint] = (),
    return_messages: bool = False,
) -> Any:
    """The same as `message_passing_hugin`."""
    return _message_passing(
        potentials, total, jtree, constraints=constraints, return_messages=return_messages
    )


def message_passing_implicit(
    potentials: CliqueVector,
    total: float = 1.0,
    jtree: Any = None,
    *,
    constraints: Sequence[Constraint] = (),
    contraction: Any = None,
    return_messages: bool = False,
) -> Any:
    """The same as `message_passing_hugin`; the engine chooses its own contraction."""
    return _message_passing(
        potentials, total, jtree, constraints=constraints, return_messages=return_messages
    )


def message_passing_fast(
    potentials: CliqueVector,
    total: float = 1.0,
    jtree: Any = None,
    *,
    constraints: Sequence[Constraint] = (),
    contraction: Any = None,
    return_messages: bool = False,
) -> Any:
    """The same as `message_passing_hugin`; the engine chooses its own contraction."""
    return _message_passing(
        potentials, total, jtree, constraints=constraints, return_messages=return_messages
    )


def _messages(
    potentials: CliqueVector, jtree: Any, constraints: Sequence[Constraint]
) -> dict[tuple[Clique, Clique], Factor]:
    """The log-space messages between neighbours of a junction tree, without division."""
    factors = list(potentials.tables.values()) + [each.potential for each in constraints]
    domain = potentials.domain
    if jtree is None:
        scopes = [factor.domain.attributes for factor in factors]
        jtree, _ = junction_tree.make_junction_tree(domain, scopes)
    local: dict[Clique, Factor] = {node: Factor.zeros(domain.project(node)) for node in jtree.nodes}
    for factor in factors:
        home = next(node for node in local if set(factor.domain.attributes) <= set(node))
        local[home] = local[home] + factor
    messages: dict[tuple[Clique, Clique], Factor] = {}
    for source, target in junction_tree.message_passing_order(jtree):
        incoming = [messages[other, source] for other in jtree.neighbors(source) if other != target]
        belief = functools.reduce(Factor.__add__, incoming, local[source])
        shared = domain.canonical([name for name in source if name in target])
        messages[source, target] = belief.project(shared, log=True)
    return messages


def brute_force_marginals(
    potentials: CliqueVector, total: float = 1, *, constraints: Sequence[Constraint] = ()
) -> CliqueVector:
    """The marginals by writing the whole joint table down; for tests of other oracles."""
    factors = [*potentials.tables.values(), *(each.potential for each in constraints)]
    joint = functools.reduce(Factor.__add__, factors, Factor.zeros(potentials.domain))
    table = joint.normalize(total, log=True).exp()
    return CliqueVector.from_projectable(table, potentials.cliques)


def einsum_marginals(
    potentials: CliqueVector,
    total: float = 1,
    einsum_fn: Callable[..., Any] = np.einsum,
    *,
    constraints: Sequence[Constraint] = (),
) -> CliqueVector:
    """The marginals by one sum of products per clique; for tests of other oracles."""
    if constraints:
        raise ValueError("einsum_marginals takes no constraints; use another oracle")
    factors = [factor.normalize(1, log=True).exp() for factor in potentials.tables.values()]
    domain = potentials.active_domain

    def table(clique: Clique) -> Factor:
        wanted = sum_product(factors, domain.project(clique), einsum_fn)
        return wanted.normalize(total)

    return CliqueVector._make(potentials.domain, potentials.cliques, table)


def sum_product(
    factors: Sequence[Factor], dom: Domain, einsum_fn: Callable[..., Any] = np.einsum
) -> Factor:
    """The sum of the product of factors over all attributes that are not in `dom`."""
    names = functools.reduce(Domain.merge, [factor.domain for factor in factors], dom).attributes
    letters = {
        name: chr(ord("a") + index) if index < 26 else chr(ord("A") + index - 26)
        for index, name in enumerate(names)
    }

    def subscript(domain: Domain) -> str:
        return "".join(letters[name] for name in domain)

    formula = ",".join(subscript(factor.domain) for factor in factors) + "->" + subscript(dom)
    options: dict[str, Any] = {"optimize": True} if einsum_fn is np.einsum else {}
    return Factor(dom, einsum_fn(formula, *(factor.values for factor in factors), **options))


def einsum_materialized(log_factors: Sequence[Factor], dom: Domain) -> Factor:
    """The log of the sum of products, with the whole product written down."""
    product = functools.reduce(Factor.__add__, log_factors, Factor.zeros(dom))
    return product.project(dom.attributes, log=True)


def einsum_fused(log_factors: Sequence[Factor], dom: Domain) -> Factor:
    """The same as `einsum_materialized`."""
    return einsum_materialized(log_factors, dom)


def einsum_semistable(
    log_factors: Sequence[Factor], dom: Domain, einsum_fn: Callable[..., Any] = np.einsum
) -> Factor:
    """The log of the sum of products, each factor scaled to a maximum of 1 first."""
    shifts = [factor.max() for factor in log_factors]
    shifts = [shift if np.isfinite(float(shift)) else shift.exp() for shift in shifts]
    scaled = [(factor - shift).exp() for factor, shift in zip(log_factors, shifts)]
    return sum_product(scaled, dom, einsum_fn).log() + sum(float(shift) for shift in shifts)


def variable_elimination(
    potentials: CliqueVector,
    clique: Clique,
    total: float = 1.0,
    evidence: Mapping[Any, Any] | None = None,
    *,
    constraints: Sequence[Constraint] = (),
) -> Factor:
    """The marginal on any attributes.

    Args:
        potentials: log-potentials.
        clique: the attributes of the result.
        total: the sum of the result.
        evidence: values of other attributes to condition on.
        constraints: combinations that cannot occur.
    """
    clique, domain = as_clique(clique), potentials.domain
    model = model_of(potentials, total, constraints)
    if not evidence:
        return _marginals(model, domain, [clique])[clique]
    if any(name in clique for name in evidence):
        raise ValueError("an attribute is both asked for and given")
    given = list(zip(domain.positions(tuple(evidence)), (int(v) for v in evidence.values())))
    values = model.conditional(domain.positions(clique), given)
    return Factor(domain.project(clique), values * float(total))


def bulk_variable_elimination(
    potentials: CliqueVector,
    marginal_queries: Sequence[Clique],
    total: float = 1.0,
    *,
    constraints: Sequence[Constraint] = (),
) -> CliqueVector:
    """The marginals on many sets of attributes, computed in parallel."""
    model = model_of(potentials, total, constraints)
    return _marginals(model, potentials.domain, list(dict.fromkeys(marginal_queries)))


def calculate_many_marginals(
    potentials: CliqueVector,
    marginal_queries: Sequence[Clique],
    total: float = 1.0,
    belief_propagation_oracle: Any = message_passing_hugin,
    *,
    constraints: Sequence[Constraint] = (),
) -> CliqueVector:
    """The same as `bulk_variable_elimination`."""
    return bulk_variable_elimination(potentials, marginal_queries, total, constraints=constraints)


def precompile_bulk_variable_elimination(
    domain: Domain,
    potential_cliques: Sequence[Clique],
    marginal_queries: Sequence[Clique],
    *,
    constraints: Sequence[Constraint] = (),
) -> Future[None]:
    """Nothing is compiled here: a future that is done."""
    future: Future[None] = Future()
    future.set_result(None)
    return future


def kron_query(
    potentials: CliqueVector,
    query_factors: Mapping[Any, Any],
    total: float = 1,
    suffix: str = "_answer",
    *,
    constraints: Sequence[Constraint] = (),
) -> Factor:
    """The answers to a Kronecker product of query matrices, without writing its marginal down.

    Args:
        potentials: log-potentials.
        query_factors: a matrix per attribute, one row per query; or see `KroneckerQuery`.
        total: the number of records.
        suffix: is added to the names of the attributes of the result.
        constraints: combinations that cannot occur.
    """
    attrs, domain = tuple(query_factors), potentials.domain
    specs = [factor_spec(query_factors[name]) for name in attrs]
    answers = model_of(potentials, total, constraints).answer(
        list(zip(domain.positions(attrs), specs))
    )
    from .markov_random_field import _rows

    shape = [_rows(spec, domain[name]) for spec, name in zip(specs, attrs)]
    return Factor(Domain([f"{name}{suffix}" for name in attrs], shape), answers.reshape(shape))


def default_oracle(
    cliques: Sequence[Clique] | None = None,
    domain: Domain | None = None,
    backend: str | None = None,
    has_constraints: bool = True,
) -> Any:
    """The exact oracle, which suits every case."""
    return message_passing_shafer_shenoy


def kind_of(oracle: Any) -> str:
    """The engine's oracle for a function of this package: "exact", "convex" or "loopy"."""
    if isinstance(oracle, str):
        return oracle
    oracle = oracle.func if isinstance(oracle, functools.partial) else oracle
    if oracle is None or getattr(oracle, "__module__", None) == __name__:
        return "exact"
    kind = getattr(oracle, "engine_oracle", None)
    if kind is None:
        raise ValueError(
            "marginal_oracle: expected an oracle of pgmbench.marginal_oracles or "
            f"pgmbench.approximate_oracles, found {oracle!r}; the engine cannot call others"
        )
    return kind
