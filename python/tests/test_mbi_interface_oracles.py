"""Marginal oracles and junction trees, as a program on mbi 2.0.0 uses them, against brute force.

`MBI_UNDER_TEST=mbi` runs the same tests against mbi itself, on fewer shapes: it compiles each one.
"""

import functools
import importlib
import itertools
import math
import os

import numpy as np
import pytest

os.environ.setdefault("JAX_ENABLE_X64", "1")  # of mbi, where it is under test
NAME = os.environ.get("MBI_UNDER_TEST", "pgmbench")
mbi = importlib.import_module(NAME)
clique_utils = importlib.import_module(f"{NAME}.clique_utils")
message_passing = importlib.import_module(f"{NAME}.extensions.message_passing")

Domain, Factor, CliqueVector, Constraint = mbi.Domain, mbi.Factor, mbi.CliqueVector, mbi.Constraint
oracles, junction_tree = mbi.marginal_oracles, mbi.junction_tree

SHAPES = 6 if NAME == "mbi" else 60
ORACLES = {
    "hugin": oracles.message_passing_hugin,
    "shafer_shenoy": oracles.message_passing_shafer_shenoy,
    "implicit": oracles.message_passing_implicit,
    "implicit_fused": functools.partial(
        oracles.message_passing_implicit, contraction=oracles.einsum_fused
    ),
    "fast": oracles.message_passing_fast,
    "stable": oracles.message_passing_stable,
    "brute_force": oracles.brute_force_marginals,
    "einsum": oracles.einsum_marginals,
    "extensions.shafer_shenoy": message_passing.shafer_shenoy,
    "extensions.implicit": message_passing.implicit,
    "bulk": lambda theta, total=1.0: oracles.bulk_variable_elimination(
        theta, list(theta.cliques), total
    ),
    "many": lambda theta, total=1.0: oracles.calculate_many_marginals(
        theta, list(theta.cliques), total
    ),
}
WITH_CONSTRAINTS = [
    "hugin",
    "shafer_shenoy",
    "implicit",
    "brute_force",
    "extensions.shafer_shenoy",
    "extensions.implicit",
]


def joint_of(domain, tables, total=1.0):
    """The whole table with these (attributes, log-potentials), normalised to `total`."""
    log = np.zeros(domain.shape)
    for attributes, values in tables:
        order = [attributes.index(name) for name in domain.attributes if name in attributes]
        shape = [size if name in attributes else 1 for name, size in domain.config.items()]
        log = log + np.transpose(np.asarray(values), order).reshape(shape)
    weights = np.exp(log - log.max())
    return total * weights / weights.sum()


def marginal_of(joint, domain, attributes):
    kept = [domain.attributes.index(name) for name in attributes]
    summed = joint.sum(axis=tuple(i for i in range(joint.ndim) if i not in kept))
    ranks = np.argsort(np.argsort(kept))
    return np.transpose(summed, ranks)


def tables_of(vector):
    return [(cl, vector[cl].values) for cl in vector.cliques]


def random_case(seed):
    """A domain of three to six attributes and a set of cliques of up to three of them."""
    random = np.random.default_rng([20190609, seed])
    names = list("abcdef"[: random.integers(3, 7)])
    domain = Domain(names, random.integers(1, 5, len(names)))
    cliques = []
    for _ in range(random.integers(1, 7)):
        clique = tuple(str(name) for name in random.permutation(names)[: random.integers(1, 4)])
        if clique not in cliques:
            cliques.append(clique)
    tables = {
        cl: Factor(domain.project(cl), random.normal(0.0, 2.0, domain.project(cl).shape))
        for cl in cliques
    }
    return CliqueVector(domain, cliques, tables)


SPECIAL = {
    "chain": [("a", "b"), ("b", "c"), ("c", "d")],
    "cycle": [("a",), ("a", "b"), ("b", "c"), ("a", "c"), ("b", "d")],
    "uncovered attribute": [("a", "b"), ("d", "a")],
    "whole domain": [("a", "b", "c", "d")],
    "singleton": [("d",)],
    "permuted duplicate": [("a", "b", "c"), ("c", "b", "a"), ("b", "d")],
    "two components": [("a", "b"), ("c", "d")],
    "nothing": [],
}
DOMAIN = Domain(["a", "b", "c", "d"], [2, 3, 4, 5])


@pytest.mark.parametrize("shape", SPECIAL)
@pytest.mark.parametrize("name", ORACLES)
def test_oracles_equal_brute_force_on_special_shapes(name, shape):
    theta = CliqueVector.random(DOMAIN, SPECIAL[shape])
    mu = ORACLES[name](theta, 10)
    assert mu.domain == DOMAIN and mu.cliques == tuple(SPECIAL[shape])
    joint = joint_of(DOMAIN, tables_of(theta), 10.0)
    for cl in SPECIAL[shape]:
        assert mu[cl].domain.attributes == cl
        np.testing.assert_allclose(
            np.asarray(mu[cl].values), marginal_of(joint, DOMAIN, cl), atol=1e-9
        )


@pytest.mark.parametrize("seed", range(SHAPES))
@pytest.mark.parametrize(
    "name", [name for name in ORACLES if NAME != "mbi" or name in ("hugin", "fast")]
)
def test_oracles_equal_brute_force_on_random_shapes(name, seed):
    theta = random_case(seed)
    mu = ORACLES[name](theta, 7.5)
    joint = joint_of(theta.domain, tables_of(theta), 7.5)
    for cl in theta.cliques:
        expected = marginal_of(joint, theta.domain, cl)
        np.testing.assert_allclose(np.asarray(mu[cl].values), expected, atol=1e-9)


def test_the_total_is_one_by_default():
    mu = oracles.message_passing_stable(CliqueVector.random(DOMAIN, SPECIAL["chain"]))
    assert math.isclose(float(mu[("a", "b")].sum()), 1.0)


@pytest.mark.parametrize("seed", range(SHAPES))
def test_variable_elimination_answers_any_marginal(seed):
    theta = random_case(seed)
    joint = joint_of(theta.domain, tables_of(theta), 3.0)
    random = np.random.default_rng(seed)
    # mbi 2.0.0 eliminates attributes of the model only, so a query within it here.
    known = list(theta.active_domain)
    for size in range(min(4, len(known)) + 1):
        clique = tuple(str(name) for name in random.permutation(known)[:size])
        answer = oracles.variable_elimination(theta, clique, 3.0)
        assert answer.domain.attributes == clique
        expected = marginal_of(joint, theta.domain, clique)
        np.testing.assert_allclose(np.asarray(answer.values), expected, atol=1e-9)


def test_variable_elimination_spreads_unmeasured_attributes_evenly():
    theta = CliqueVector.random(DOMAIN, [("a", "b")])
    answer = oracles.variable_elimination(theta, ("c", "a"), 8.0)
    joint = joint_of(DOMAIN, tables_of(theta), 8.0)
    np.testing.assert_allclose(np.asarray(answer.values), marginal_of(joint, DOMAIN, ("c", "a")))


def test_evidence_gives_conditional_distributions():
    theta = CliqueVector.random(DOMAIN, SPECIAL["chain"])
    joint = joint_of(DOMAIN, tables_of(theta))
    answer = oracles.variable_elimination(theta, ("d", "b"), 5.0, evidence={"a": 1, "c": 2})
    expected = joint[1, :, 2, :].T
    np.testing.assert_allclose(np.asarray(answer.values), 5.0 * expected / expected.sum())
    with pytest.raises(ValueError):
        oracles.variable_elimination(theta, ("a",), evidence={"a": 0})


@pytest.mark.parametrize(
    "function", [oracles.bulk_variable_elimination, oracles.calculate_many_marginals]
)
def test_many_marginals_at_once(function):
    theta = CliqueVector.random(DOMAIN, SPECIAL["chain"])
    queries = [cl for size in (1, 2, 3) for cl in itertools.combinations("abcd", size)]
    answers = function(theta, queries, 6.0)
    assert answers.cliques == tuple(queries)
    joint = joint_of(DOMAIN, tables_of(theta), 6.0)
    for cl in queries:
        np.testing.assert_allclose(np.asarray(answers[cl].values), marginal_of(joint, DOMAIN, cl))


@pytest.mark.parametrize("name", WITH_CONSTRAINTS)
@pytest.mark.parametrize("kind", ["mapping", "valid", "invalid"])
def test_constraints_remove_cells(name, kind):
    domain = Domain(["A", "P", "B", "C"], [6, 3, 4, 5])
    pair, mapping = Domain(["A", "P"], [6, 3]), np.array([0, 0, 1, 1, 2, 2])
    allowed = mapping[:, None] == np.arange(3)
    constraint = {
        "mapping": lambda: Constraint(pair, mapping=mapping),
        "valid": lambda: Constraint(pair, valid=np.argwhere(allowed)),
        "invalid": lambda: Constraint(pair, invalid=np.argwhere(~allowed)),
    }[kind]()
    theta = CliqueVector.random(domain, [("A", "B"), ("P", "C")])
    if name == "hugin":  # mbi's needs finite potentials; see its documentation
        pytest.skip("subtracts beliefs, which minus infinity does not allow")
    mu = ORACLES[name](theta, 10.0, constraints=(constraint,))
    tables = [*tables_of(theta), (("A", "P"), np.where(allowed, 0.0, -np.inf))]
    joint = joint_of(domain, tables, 10.0)
    assert set(theta.cliques) <= set(mu.cliques)
    for cl in theta.cliques:
        np.testing.assert_allclose(
            np.asarray(mu[cl].values), marginal_of(joint, domain, cl), atol=1e-9
        )


@pytest.mark.parametrize("name", ["shafer_shenoy", "brute_force"])
def test_potentials_may_be_minus_infinity(name):
    domain = Domain(["A", "B", "C"], [2, 2, 2])
    theta = CliqueVector.zeros(domain, [("A", "B"), ("A", "C")])
    theta[("A", "C")] = Factor(
        domain.project(["A", "C"]), np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    )
    mu = ORACLES[name](theta, 4.0)
    np.testing.assert_allclose(np.asarray(mu[("A", "C")].values), [[2.0, 0.0], [0.0, 2.0]])
    np.testing.assert_allclose(np.asarray(mu[("A", "B")].values), np.ones((2, 2)))


def test_potentials_of_any_size_do_not_overflow():
    theta = CliqueVector.random(DOMAIN, SPECIAL["chain"]) * 2000.0
    mu = oracles.message_passing_stable(theta, 10.0)
    joint = joint_of(DOMAIN, tables_of(theta), 10.0)
    for cl in theta.cliques:
        np.testing.assert_allclose(
            np.asarray(mu[cl].values), marginal_of(joint, DOMAIN, cl), atol=1e-8
        )


@pytest.mark.parametrize("has_constraints", [False, True])
def test_the_default_oracle_is_an_oracle(has_constraints):
    oracle = oracles.default_oracle(SPECIAL["cycle"], DOMAIN, has_constraints=has_constraints)
    theta = CliqueVector.random(DOMAIN, SPECIAL["cycle"])
    joint = joint_of(DOMAIN, tables_of(theta))
    for cl in theta.cliques:
        expected = marginal_of(joint, DOMAIN, cl)
        np.testing.assert_allclose(np.asarray(oracle(theta)[cl].values), expected, atol=1e-9)


def test_contractions_sum_products():
    x = Factor(Domain(["a", "b"], [2, 3]), np.arange(1.0, 7.0).reshape(2, 3))
    y = Factor(Domain(["b", "c"], [3, 4]), np.arange(1.0, 13.0).reshape(3, 4))
    target = Domain(["c", "a"], [4, 2])
    expected = (np.asarray(x.values) @ np.asarray(y.values)).T
    np.testing.assert_allclose(np.asarray(oracles.sum_product([x, y], target).values), expected)
    for contract in (oracles.einsum_semistable, oracles.einsum_materialized, oracles.einsum_fused):
        result = contract([x.log(), y.log()], target)
        assert result.domain == target
        np.testing.assert_allclose(np.exp(np.asarray(result.values)), expected)


class TestJunctionTree:
    def test_nodes_cover_the_cliques(self):
        for seed in range(20):
            theta = random_case(seed)
            tree, order = junction_tree.make_junction_tree(theta.domain, theta.cliques)
            nodes = junction_tree.maximal_cliques(tree)
            assert sorted(order) == sorted(theta.domain.attributes)
            for cl in theta.cliques:
                assert any(set(cl) <= set(node) for node in nodes)
            for node in nodes:
                assert node == theta.domain.canonical(node)
            assert len(nodes) == len(clique_utils.maximal_subset(nodes))

    def test_running_intersection(self):
        for seed in range(20):
            theta = random_case(seed)
            tree, _ = junction_tree.make_junction_tree(theta.domain, theta.cliques)
            for name in theta.domain:
                holding = [node for node in tree.nodes if name in node]
                inside = sum(1 for u, v in tree.edges if name in u and name in v)
                assert inside == len(holding) - 1

    def test_an_order_may_be_given(self):
        tree, order = junction_tree.make_junction_tree(
            DOMAIN, [("a", "b"), ("c", "d")], ["d", "c", "b", "a"]
        )
        assert order == ["d", "c", "b", "a"]
        assert set(tree.nodes) == {("a", "b"), ("c", "d")}
        tree, _ = junction_tree.make_junction_tree(DOMAIN, SPECIAL["cycle"], 3)
        assert any({"a", "b", "c"} <= set(node) for node in tree.nodes)

    def test_message_order_respects_dependencies(self):
        chain = [(f"x{i}", f"x{i + 1}") for i in range(4)]
        domain = Domain([f"x{i}" for i in range(5)], [2] * 5)
        tree, _ = junction_tree.make_junction_tree(domain, chain)
        messages = junction_tree.message_passing_order(tree)
        assert len(messages) == 2 * len(tree.edges)
        for position, (source, target) in enumerate(messages):
            for neighbour in tree.neighbors(source):
                if neighbour != target:
                    assert messages.index((neighbour, source)) < position

    def test_greedy_order(self):
        order, cost = junction_tree.greedy_order(DOMAIN, SPECIAL["chain"])
        assert sorted(order) == list("abcd")
        assert cost == 2 * 3 + 3 * 4 + 4 * 5 + 5
        assert sorted(
            junction_tree.greedy_order(DOMAIN, SPECIAL["chain"], stochastic=True)[0]
        ) == list("abcd")
        assert junction_tree.greedy_order(DOMAIN, SPECIAL["chain"], elim=["b"])[0] == ["b"]

    def test_sizes_are_in_mebibytes(self):
        expected = (6 + 12 + 20) * 8 / 2**20
        assert math.isclose(
            junction_tree.hypothetical_model_size(DOMAIN, SPECIAL["chain"]), expected
        )
        whole = junction_tree.hypothetical_model_size(DOMAIN, [("a", "b", "c", "d")])
        assert math.isclose(whole, 120 * 8 / 2**20)
