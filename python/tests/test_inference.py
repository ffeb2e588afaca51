"""Marginals, conditionals and factored queries against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from conftest import joint, marginal, random_domain, random_potentials

import pgmbench
from pgmbench import Constraint, Domain, Factor, MarkovRandomField, marginal_oracles
from pgmbench.queries import factor_matrix

ORACLES = [
    marginal_oracles.message_passing_hugin,
    marginal_oracles.message_passing_shafer_shenoy,
    marginal_oracles.message_passing_implicit,
    marginal_oracles.message_passing_stable,
    marginal_oracles.brute_force_marginals,
    marginal_oracles.einsum_marginals,
    marginal_oracles.default_oracle(),
    pgmbench.extensions.message_passing.shafer_shenoy,
    pgmbench.extensions.message_passing.implicit,
]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("oracle", ORACLES)
def test_every_oracle_agrees_with_brute_force(oracle, seed):
    rng = np.random.default_rng(seed)
    domain = random_domain(rng)
    potentials = random_potentials(rng, domain)
    table = joint(potentials, 12.5)
    found = oracle(potentials, 12.5)
    assert found.cliques == potentials.cliques
    for clique in potentials.cliques:
        assert found[clique].domain.attributes == clique
        np.testing.assert_allclose(found[clique].values, marginal(table, domain, clique))


@pytest.mark.parametrize("seed", range(8))
def test_marginals_on_any_attributes_agree_with_brute_force(seed):
    rng = np.random.default_rng(seed)
    domain = random_domain(rng)
    potentials = random_potentials(rng, domain)
    table = joint(potentials, 100.0)
    model = MarkovRandomField(potentials, marginal_oracles.exact_marginals(potentials, 100.0), 100)
    subsets = [
        tuple(rng.permutation(subset))
        for size in range(4)
        for subset in itertools.combinations(domain.attributes, size)
    ]
    for clique in subsets:
        expected = marginal(table, domain, clique)
        np.testing.assert_allclose(model.project(clique).values, expected)
        np.testing.assert_allclose(
            marginal_oracles.variable_elimination(potentials, clique, 100.0).values, expected
        )
    many = model.project_many(subsets)
    bulk = marginal_oracles.bulk_variable_elimination(potentials, subsets, 100.0)
    for clique in subsets:
        np.testing.assert_allclose(many[clique].values, marginal(table, domain, clique))
        np.testing.assert_allclose(bulk[clique].values, many[clique].values)


@pytest.mark.parametrize("seed", range(6))
def test_conditionals_agree_with_brute_force(seed):
    rng = np.random.default_rng(seed)
    domain = random_domain(rng)
    potentials = random_potentials(rng, domain)
    table = joint(potentials)
    model = MarkovRandomField(potentials, potentials, 50.0)
    given = {"a": int(rng.integers(domain["a"])), "d": int(rng.integers(domain["d"]))}
    part = table[given["a"], :, :, given["d"], :].sum(axis=1).T
    np.testing.assert_allclose(model.conditional(("e", "b"), given).values, part / part.sum())
    eliminated = marginal_oracles.variable_elimination(potentials, ("e", "b"), 3.0, given)
    np.testing.assert_allclose(eliminated.values, 3.0 * part / part.sum())


@pytest.mark.parametrize("seed", range(6))
def test_factored_queries_agree_with_brute_force(seed):
    rng = np.random.default_rng(seed)
    domain = Domain(["a", "b", "c", "d"], [3, 4, 2, 5])
    potentials = random_potentials(rng, domain)
    model = MarkovRandomField(potentials, potentials, 40.0)
    queries = {
        "d": ("compress", [0, 1, 0, 1, 2]),
        "a": rng.normal(size=(2, 3)),
        "b": ("moments", 2),
        "c": "prefix",
    }
    expected = marginal(joint(potentials, 40.0), domain, ("d", "a", "b", "c"))
    for axis, (name, query) in enumerate(queries.items()):
        product = np.tensordot(factor_matrix(query, domain[name]), expected, axes=(1, axis))
        expected = np.moveaxis(product, 0, axis)
    answers = model.answer(queries)
    assert answers.shape == (3, 2, 2, 2)
    np.testing.assert_allclose(answers, expected, atol=1e-9)
    asked = marginal_oracles.kron_query(potentials, {"a": queries["a"]}, 40.0)
    assert asked.domain.attributes == ("a_answer",)
    counts = marginal(joint(potentials, 40.0), domain, ("a",))
    np.testing.assert_allclose(asked.values, queries["a"] @ counts)


def test_a_query_of_high_order_is_one_number():
    names = [f"x{index}" for index in range(100)]
    domain = Domain(names, [3] * 100)
    pairs = list(zip(names, names[1:]))
    potentials = pgmbench.CliqueVector.zeros(domain, pairs)
    model = MarkovRandomField(potentials, potentials, 3.0**100)
    answer = model.answer({name: ("evidence", [1, 2]) for name in names})
    np.testing.assert_allclose(answer.reshape(-1), [2.0**100])


def test_structural_zeros_have_no_mass():
    domain = Domain(["a", "b", "c"], [2, 3, 2])
    zeros = Constraint(domain.project(("b", "a")), invalid=np.array([[0, 1], [2, 0]]))
    potentials = pgmbench.CliqueVector.random(domain, [("a",), ("b", "c")])
    for oracle in ORACLES[:5]:
        found = oracle(potentials, 10.0, constraints=[zeros])
        pair = marginal_oracles.variable_elimination(
            potentials, ("a", "b"), 10.0, constraints=[zeros]
        ).values
        assert pair[1, 0] == 0 and pair[0, 2] == 0
        np.testing.assert_allclose(found[("a",)].values, pair.sum(axis=1))
        np.testing.assert_allclose(pair.sum(), 10.0)


def test_a_mapping_makes_one_attribute_a_function_of_the_other():
    domain = Domain(["fine", "coarse"], [4, 2])
    constraint = Constraint(domain, mapping=np.array([0, 0, 1, 1]))
    assert constraint.is_deterministic and constraint.clique == ("coarse", "fine")
    potentials = pgmbench.CliqueVector.zeros(domain, [("fine",)])
    table = marginal_oracles.variable_elimination(
        potentials, ("fine", "coarse"), 4.0, constraints=[constraint]
    )
    np.testing.assert_allclose(table.values, [[1, 0], [1, 0], [0, 1], [0, 1]])
    coarse = pgmbench.extensions.message_passing.project_to_coarse(
        table.project("fine"), constraint
    )
    np.testing.assert_allclose(coarse.values, [2.0, 2.0])
    logs = pgmbench.extensions.message_passing.coarsen(table.project("fine").log(), constraint)
    np.testing.assert_allclose(logs.exp().values, [2.0, 2.0])
    fine = pgmbench.extensions.message_passing.refine(coarse, constraint)
    np.testing.assert_allclose(fine.values, [2.0, 2.0, 2.0, 2.0])


def test_messages_turn_local_tables_into_marginals():
    domain = Domain(["a", "b", "c", "d"], [2, 3, 2, 2])
    rng = np.random.default_rng(1)
    potentials = pgmbench.CliqueVector.random(domain, [("a", "b"), ("b", "c"), ("c", "d")], rng)
    tree, _ = pgmbench.junction_tree.make_junction_tree(domain, potentials.cliques)
    marginals, messages = marginal_oracles.message_passing_shafer_shenoy(
        potentials, 5.0, tree, return_messages=True
    )
    belief = potentials[("b", "c")]
    for other in (("a", "b"), ("c", "d")):
        belief = belief + messages[other, ("b", "c")]
    np.testing.assert_allclose(
        belief.normalize(5.0, log=True).exp().values, marginals[("b", "c")].values
    )


def test_approximate_marginals_are_exact_without_cycles():
    rng = np.random.default_rng(3)
    domain = Domain(["a", "b", "c"], [2, 3, 2])
    potentials = pgmbench.CliqueVector.random(domain, [("a", "b"), ("b", "c")], rng)
    exact = marginal_oracles.exact_marginals(potentials, 9.0)
    bethe = pgmbench.approximate_oracles.loopy_belief_propagation(potentials, 9.0)
    for clique in potentials.cliques:
        np.testing.assert_allclose(bethe[clique].values, exact[clique].values, atol=1e-5)
    convex, _ = pgmbench.approximate_oracles.convex_generalized_belief_propagation(potentials, 9.0)
    for clique in potentials.cliques:
        assert abs(float(convex[clique].sum()) - 9.0) < 1e-6


def test_a_table_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match="shape"):
        Factor(Domain(["a"], [3]), np.zeros(4))
    bad = pgmbench.CliqueVector.zeros(Domain(["a"], [2]), [("a",)]) + np.nan
    with pytest.raises(ValueError, match="nan"):
        marginal_oracles.exact_marginals(bad)


def test_a_vector_of_cells_is_a_table():
    domain = Domain(["a", "b"], [2, 3])
    np.testing.assert_array_equal(
        Factor(domain, np.arange(6.0)).values, np.arange(6.0).reshape(2, 3)
    )


def test_tables_in_any_memory_order_are_read_alike(rng):
    domain = Domain(["a", "b", "c"], [2, 3, 4])
    values = rng.normal(size=(4, 2, 3))
    tables = [values, np.asfortranarray(values), np.repeat(values, 2, axis=1)[:, ::2]]
    expected = joint(
        pgmbench.CliqueVector(
            domain,
            [("c", "a", "b")],
            {("c", "a", "b"): Factor(domain.project(("c", "a", "b")), values)},
        )
    )
    for table in tables:
        factor = Factor(domain.project(("c", "a", "b")), table)
        vector = pgmbench.CliqueVector(domain, [("c", "a", "b")], {("c", "a", "b"): factor})
        found = marginal_oracles.variable_elimination(vector, ("a", "b", "c"))
        np.testing.assert_allclose(found.values, expected)
