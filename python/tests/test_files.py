"""Saved files, domains, junction trees, summaries."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy as np
import pytest

import pgmbench
from pgmbench import (
    CliqueVector,
    Constraint,
    Dataset,
    Domain,
    Factor,
    LinearMeasurement,
    estimation,
    junction_tree,
)

DOMAIN = Domain(["a", "b", 3], [2, 3, 4], labels=[("x", "y"), (1, 2, 3), (None, True, 2.5, "z")])


def test_what_is_saved_is_loaded(tmp_path):
    noisy = [
        LinearMeasurement(np.array([3.0, 4.0]), ("a",), 2.0),
        LinearMeasurement([1.0, 2.0], ("b",), 1.0, pgmbench.SlicedQuery(1)),
        LinearMeasurement(np.ones(6), ("b", "a"), 1.0, pgmbench.WeightedQuery(np.arange(1.0, 7))),
        LinearMeasurement(np.ones(1), ("a",), 1.0, pgmbench.MatrixQuery(np.ones((1, 2)))),
    ]
    zeros = Constraint(DOMAIN.project(("a", "b")), invalid=np.array([[0, 1]]))
    model = estimation.MirrorDescent().estimate(DOMAIN, noisy, constraints=[zeros])
    values: list[Any] = [noisy, model, model.potentials, DOMAIN, {"k": (1.5, -np.inf)}]
    for index, value in enumerate(values):
        path = tmp_path / f"file{index}"
        pgmbench.save(value, path)
        stream = io.BytesIO()
        pgmbench.save(value, stream)
        stream.seek(0)
        for again in (pgmbench.load(path), pgmbench.load(stream)):
            assert type(again) is type(value)
            if value is model:
                assert again.potentials == model.potentials and again.fit == model.fit
                np.testing.assert_allclose(
                    again.project(("a", 3)).values, model.project(("a", 3)).values
                )
            elif value is noisy:
                for mine, yours in zip(noisy, again):
                    factor = Factor.random(DOMAIN.project(mine.clique))
                    np.testing.assert_array_equal(mine.query(factor), yours.query(factor))
                    np.testing.assert_array_equal(mine.noisy_measurement, yours.noisy_measurement)
            else:
                assert again == value
    data = Dataset.synthetic(DOMAIN, 10, seed=1)
    pgmbench.save(data, tmp_path / "data")
    np.testing.assert_array_equal(pgmbench.load(tmp_path / "data").data["b"], data.data["b"])


def test_what_cannot_be_saved_is_said(tmp_path):
    with pytest.raises(TypeError, match="MatrixQuery"):
        pgmbench.save(LinearMeasurement([1.0], ("a",), 1.0, lambda f: f.values), tmp_path / "x")
    np.savez(tmp_path / "other.npz", x=np.ones(3))
    np.save(tmp_path / "array.npy", np.ones(3))
    (tmp_path / "text").write_text("no archive")
    (tmp_path / "empty").write_text("")
    for name in ("other.npz", "array.npy", "text", "empty"):
        with pytest.raises(ValueError, match="not written by pgmbench"):
            pgmbench.load(tmp_path / name)


def test_values_are_copied_and_pickled():
    vector = CliqueVector.random(DOMAIN, [("a", "b"), (3,)])
    for value in (DOMAIN, vector, vector[("a", "b")]):
        assert copy.deepcopy(value) == value
        assert pickle.loads(pickle.dumps(value)) == value


def test_sizes_are_whole_numbers_without_overflow():
    domain = Domain([f"x{index}" for index in range(40)], np.full(40, 20))
    assert domain.size() == 20**40 and all(type(size) is int for size in domain.shape)
    assert Domain(["a"], [2.0]).shape == (2,)  # type: ignore[list-item]
    for size in (0, -1, 1.5, float("nan"), 10**30, "x", None):
        with pytest.raises(ValueError, match="whole number of values"):
            Domain(["a"], [size])  # type: ignore[list-item]


def test_domains_are_projected_merged_and_compared():
    assert DOMAIN.project((3, "a")).shape == (4, 2)
    assert DOMAIN.project("b").attributes == ("b",)
    assert DOMAIN.marginalize(["a"]).attributes == ("b", 3)
    assert DOMAIN.size() == 24 and DOMAIN.size(["a", "b"]) == 6 and DOMAIN.size("b") == 3
    assert DOMAIN.axes((3, "a")) == (2, 0) and DOMAIN.canonical((3, "z", "a")) == ("a", 3)
    assert "a" in DOMAIN and "z" not in DOMAIN and DOMAIN["b"] == 3 and len(DOMAIN) == 3
    other = Domain.fromdict({"b": 3, "c": 5})
    assert DOMAIN.merge(other).config == {"a": 2, "b": 3, 3: 4, "c": 5}
    assert DOMAIN.intersect(other).attributes == ("b",) and not DOMAIN.contains(other)
    assert hash(DOMAIN) == hash(copy.copy(DOMAIN)) and DOMAIN != other
    assert Domain(DOMAIN.attributes, DOMAIN.shape) == DOMAIN, "labels do not count"
    assert str(other) == "Domain(b: 3, c: 5)"
    for wrong in [(["a"], [1, 2]), (["a", "a"], [1, 2]), (["a"], [2], [("x",)])]:
        with pytest.raises(ValueError):
            Domain(*wrong)
    with pytest.raises(ValueError, match="'z' is not an attribute"):
        DOMAIN.project(("a", "z"))


def test_factors_compute_like_arrays():
    rng = np.random.default_rng(0)
    domain = Domain(["a", "b", "c"], [2, 3, 4])
    f, g = Factor.random(domain, rng), Factor.random(domain.project(("c", "a")), rng)
    spread = g.values.T[:, None, :]
    np.testing.assert_allclose((f + g).values, f.values + spread)
    np.testing.assert_allclose((f * g / 2 - 1).values, f.values * spread / 2 - 1)
    np.testing.assert_allclose((3 - f).values, 3 - f.values)
    np.testing.assert_allclose(f.project(("c", "a")).values, f.values.sum(axis=1).T)
    logs = np.log(np.exp(f.values).sum(axis=(1, 2)))
    np.testing.assert_allclose(f.project("a", log=True).values, logs)
    np.testing.assert_allclose(f.max(["b"]).values, f.values.max(axis=1))
    np.testing.assert_allclose(f.slice({"b": 1}).values, f.values[:, 1])
    np.testing.assert_allclose(float(f.normalize(7.0).sum()), 7.0)
    np.testing.assert_allclose(float(f.normalize(7.0, log=True).exp().sum()), 7.0)
    assert f.dot(f) == pytest.approx(float((f.values**2).sum()))
    impossible = Factor(domain, np.full(domain.shape, -np.inf))
    assert np.all(np.isneginf(impossible.logsumexp(["a"]).values))
    with pytest.raises(ValueError):
        float(f)


def test_a_graph_without_networkx_reads_like_one_of_it():
    graph = junction_tree.Graph()
    graph.add_edge(("a", "b"), ("b", "c"))
    graph.add_node(("d",))
    assert list(graph.edges) == graph.edges() == [(("a", "b"), ("b", "c"))]
    assert len(graph) == 3 and ("d",) in graph and list(graph.nodes) == list(graph)
    assert list(graph.neighbors(("b", "c"))) == [("a", "b")]
    assert graph.number_of_nodes() == 3 and graph.number_of_edges() == 1
    assert graph.has_edge(("b", "c"), ("a", "b")) and not graph.has_edge(("d",), ("a", "b"))


def test_junction_trees_have_the_running_intersection_property():
    rng = np.random.default_rng(4)
    for _ in range(20):
        names = [f"x{index}" for index in range(8)]
        domain = Domain(names, rng.integers(2, 6, size=8).tolist())
        cliques = [tuple(rng.choice(names, size=3, replace=False)) for _ in range(5)]
        for order in (None, 3, junction_tree.greedy_order(domain, cliques)[0]):
            tree, used = junction_tree.make_junction_tree(domain, cliques, order)
            nodes = junction_tree.maximal_cliques(tree)
            assert sorted(used) == sorted(names) and set(nodes) == set(tree.nodes)
            assert all(any(set(clique) <= set(node) for node in nodes) for clique in cliques)
            for name in names:
                holding = [node for node in nodes if name in node]
                inside = [(a, b) for a, b in tree.edges() if name in a and name in b]
                assert len(holding) == len(inside) + 1, "the cliques of a name are connected"
            messages = junction_tree.message_passing_order(tree)
            assert len(set(messages)) == 2 * len(list(tree.edges()))
            for at, (source, target) in enumerate(messages):
                needed = {(n, source) for n in tree.neighbors(source) if n != target}
                assert needed <= set(messages[:at])


def test_the_size_of_a_model_is_that_of_its_tree():
    domain = Domain(["a", "b", "c", "d"], [2, 3, 4, 5])
    cliques = [("a", "b"), ("b", "c")]
    cells = 6 + 12 + 5
    size = junction_tree.hypothetical_model_size(domain, cliques)
    assert size == pytest.approx(cells * 8 / 2**20)
    summary = pgmbench.summarize(domain, cliques)
    assert summary.total_jtree_cells == cells and summary.num_jtree_nodes == 3
    assert summary.treewidth == 1 and summary.largest_message == ("b",)
    assert summary.memory_bytes == (cells + 2 * 3) * 8
    assert "treewidth" in str(summary) and "jtree=" in summary.short


def test_maximal_cliques_are_those_that_no_other_contains():
    rng = np.random.default_rng(2)
    names = list("abcdef")
    for _ in range(200):
        sizes = rng.integers(0, 5, size=8)
        cliques = [tuple(rng.choice(names, size=size, replace=False)) for size in sizes]
        found = pgmbench.clique_utils.maximal_subset(cliques)
        sets = {frozenset(clique) for clique in cliques}
        expected = {one for one in sets if not any(one < other for other in sets)}
        assert len(found) == len(expected)
        assert {frozenset(clique) for clique in found} == expected
        mapping = pgmbench.clique_utils.clique_mapping(found, cliques)
        assert all(set(clique) <= set(mapping[clique]) for clique in cliques)
