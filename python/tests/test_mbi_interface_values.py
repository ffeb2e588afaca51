"""Domains, tables, records, cliques and constraints, as a program on mbi 2.0.0 uses them.

`MBI_UNDER_TEST=mbi` runs the same tests against mbi itself, in double precision.
"""

import copy
import importlib
import math
import os
import pickle
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("JAX_ENABLE_X64", "1")  # of mbi, where it is under test
NAME = os.environ.get("MBI_UNDER_TEST", "pgmbench")
mbi = importlib.import_module(NAME)
clique_utils = importlib.import_module(f"{NAME}.clique_utils")

Domain, Dataset, Factor = mbi.Domain, mbi.Dataset, mbi.Factor
CliqueVector, Constraint = mbi.CliqueVector, mbi.Constraint


@pytest.fixture
def domain():
    return Domain(["a", "b", "c", "d"], [2, 3, 4, 5])


@pytest.fixture
def random():
    return np.random.default_rng(20190609)


def factor_of(domain, random):
    return Factor(domain, random.random(domain.shape))


def same(actual, expected, **tolerances):
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), **tolerances)


class TestDomain:
    def test_attributes_and_sizes(self, domain):
        assert domain.attributes == ("a", "b", "c", "d")
        assert domain.shape == (2, 3, 4, 5)
        assert domain.config == {"a": 2, "b": 3, "c": 4, "d": 5}
        assert domain.labels is None and domain.labels_config is None
        assert all(type(size) is int for size in domain.shape)

    def test_any_iterables_make_a_domain(self, domain):
        again = Domain((name for name in "abcd"), np.array([2, 3, 4, 5]))
        assert again == domain and hash(again) == hash(domain)
        assert Domain.fromdict({"a": 2, "b": 3, "c": 4, "d": 5}) == domain

    def test_order_matters_for_equality(self):
        assert Domain(["a", "b"], [2, 2]) != Domain(["b", "a"], [2, 2])

    def test_labels(self):
        labelled = Domain(["sex", "age"], [2, 3], labels=[["f", "m"], ["<20", "20-60", ">60"]])
        assert labelled.labels == (("f", "m"), ("<20", "20-60", ">60"))
        assert labelled.labels_config["sex"] == ("f", "m")
        assert labelled == Domain(["sex", "age"], [2, 3])
        assert labelled.project(["age"]).labels == (("<20", "20-60", ">60"),)

    @pytest.mark.parametrize(
        "arguments",
        [
            (["a", "b"], [2]),
            (["a", "a"], [2, 3]),
            (["a"], [2], [["x"]]),
            (["a"], [2], [["x", "y"], ["z"]]),
        ],
    )
    def test_impossible_domains_are_value_errors(self, arguments):
        with pytest.raises(ValueError):
            Domain(*arguments)

    def test_project_keeps_the_order_that_is_asked_for(self, domain):
        assert domain.project(["c", "a"]) == Domain(["c", "a"], [4, 2])
        assert domain.project(("b",)) == domain.project("b") == Domain(["b"], [3])
        assert domain.project(()) == Domain([], [])
        with pytest.raises(ValueError):
            domain.project(["a", "nothing"])

    def test_set_operations(self, domain):
        assert domain.marginalize(["b", "nothing"]) == Domain(["a", "c", "d"], [2, 4, 5])
        assert domain.invert(["c", "a"]) == ["b", "d"]
        assert domain.canonical(["d", "a"]) == ("a", "d")
        assert domain.axes(["d", "a"]) == (3, 0)
        assert domain.contains(Domain(["d", "b"], [5, 3]))
        assert not domain.contains(Domain(["e"], [5]))
        other = Domain(["c", "e"], [4, 6])
        assert domain.intersect(other) == Domain(["c"], [4])
        assert domain.merge(other) == Domain(["a", "b", "c", "d", "e"], [2, 3, 4, 5, 6])

    def test_size_is_exact(self, domain):
        assert domain.size() == 120 and domain.size(["b", "d"]) == 15 and domain.size("d") == 5
        assert Domain([], []).size() == 1
        assert Domain(range(100), [1000] * 100).size() == 1000**100

    def test_container_protocol(self, domain):
        assert list(domain) == ["a", "b", "c", "d"] and len(domain) == 4
        assert "a" in domain and "z" not in domain and domain["c"] == 4
        assert (
            domain.supports("a") and domain.supports(["a", "d"]) and not domain.supports(["a", "z"])
        )
        assert str(domain) == "Domain(a: 2, b: 3, c: 4, d: 5)"
        with pytest.raises(KeyError):
            domain["z"]

    def test_attributes_may_be_integers(self):
        numbered = Domain([0, 1, 2], [2, 3, 4])
        assert numbered.project(1) == Domain([1], [3])
        assert numbered.project((2, 0)).shape == (4, 2)

    def test_is_immutable_and_copies(self, domain):
        with pytest.raises(AttributeError):
            domain.shape = (1, 1, 1, 1)
        assert copy.deepcopy(domain) == domain == pickle.loads(pickle.dumps(domain))


class TestFactor:
    def test_constructors(self, domain):
        assert np.asarray(Factor.zeros(domain).values).shape == (2, 3, 4, 5)
        assert np.all(np.asarray(Factor.ones(domain).values) == 1.0)
        drawn = np.asarray(Factor.random(domain).values)
        assert np.all((drawn >= 0) & (drawn < 1)) and np.unique(drawn).size == 120
        assert drawn.dtype == np.float64

    def test_datavector_is_row_major(self, domain, random):
        factor = factor_of(domain, random)
        assert factor.datavector().shape == (120,)
        same(factor.datavector(), np.asarray(factor.values).ravel())
        assert factor.datavector(flatten=False).shape == (2, 3, 4, 5)

    @pytest.mark.parametrize("attrs", [("d", "a"), ("b",), (), ("d", "c", "b", "a"), "c"])
    def test_project_sums_and_transposes(self, domain, random, attrs):
        factor = factor_of(domain, random)
        wanted = (attrs,) if isinstance(attrs, str) else attrs
        letters = "".join(wanted)
        expected = np.einsum(f"abcd->{letters}", np.asarray(factor.values))
        assert factor.project(attrs).domain == domain.project(wanted)
        same(factor.project(attrs).values, expected)
        logs = np.log(np.einsum(f"abcd->{letters}", np.exp(np.asarray(factor.values))))
        same(factor.project(attrs, log=True).values, logs)

    def test_transpose_and_expand(self, domain, random):
        factor = factor_of(domain.project(["c", "a"]), random)
        same(factor.transpose(["a", "c"]).values, np.asarray(factor.values).T)
        expanded = factor.expand(domain)
        assert expanded.domain == domain
        same(expanded.values[1, 2, 3, 4], factor.values[3, 1])
        with pytest.raises(ValueError):
            factor.transpose(["a"])
        with pytest.raises(ValueError):
            factor.expand(Domain(["a", "b"], [2, 3]))

    def test_aggregates(self, domain, random):
        factor = factor_of(domain, random)
        values = np.asarray(factor.values)
        same(factor.sum(["b", "d"]).values, values.sum(axis=(1, 3)))
        same(factor.max(["a"]).values, values.max(axis=0))
        same(factor.logsumexp(["c"]).values, np.log(np.exp(values).sum(axis=2)))
        assert factor.sum().domain == Domain([], [])
        assert math.isclose(float(factor.sum()), values.sum())
        assert math.isclose(float(factor.max()), values.max())
        assert math.isclose(float(factor.logsumexp()), math.log(np.exp(values).sum()))
        with pytest.raises(ValueError):
            float(factor)

    def test_slice_fixes_attributes(self, domain, random):
        factor = factor_of(domain, random)
        sliced = factor.slice({"b": 2, "elsewhere": 1})
        assert sliced.domain.attributes == ("a", "c", "d")
        same(sliced.values, np.asarray(factor.values)[:, 2])
        with pytest.raises(ValueError):
            factor.slice({"b": np.array([0, 1])})

    def test_elementwise(self, domain, random):
        factor = factor_of(domain, random)
        values = np.asarray(factor.values)
        same(factor.exp().values, np.exp(values))
        same(factor.exp().log().values, values)
        assert math.isclose(float(factor.normalize().sum()), 1.0)
        assert math.isclose(float(factor.normalize(7.0).sum()), 7.0)
        assert math.isclose(float(factor.normalize(7.0, log=True).exp().sum()), 7.0)
        same(factor.copy().values, values)
        assert factor.supports("a") and factor.supports(("d", "a")) and not factor.supports("z")

    def test_arithmetic_broadcasts_over_the_union_of_attributes(self, random):
        left = factor_of(Domain(["a", "b"], [2, 3]), random)
        right = factor_of(Domain(["b", "c"], [3, 4]), random)
        x, y = np.asarray(left.values)[:, :, None], np.asarray(right.values)[None]
        for result, expected in [
            (left * right, x * y),
            (left + right, x + y),
            (left - right, x - y),
            (left / right, x / y),
        ]:
            assert result.domain == Domain(["a", "b", "c"], [2, 3, 4])
            same(result.values, expected)

    def test_arithmetic_with_numbers(self, random):
        factor = factor_of(Domain(["a", "b"], [2, 3]), random)
        values = np.asarray(factor.values)
        same((factor * 2).values, 2 * values)
        same((2 * factor).values, 2 * values)
        same((factor + 1).values, values + 1)
        same((1 + factor).values, values + 1)
        same((factor - 1).values, values - 1)
        same((factor / 4).values, values / 4)
        twice: Any = sum([factor, factor])
        same(twice.values, 2 * values)

    def test_dot(self, random):
        domain = Domain(["a", "b"], [2, 3])
        left, right = factor_of(domain, random), factor_of(domain, random)
        expected = float((np.asarray(left.values) * np.asarray(right.values)).sum())
        assert math.isclose(float(left.dot(right)), expected)
        zero_times_infinity = Factor(domain, np.full((2, 3), -np.inf)).dot(Factor.zeros(domain))
        assert float(zero_times_infinity) == 0.0
        with pytest.raises(ValueError):
            left.dot(factor_of(Domain(["a"], [2]), random))

    def test_pickles_and_deep_copies(self, domain, random):
        factor = factor_of(domain, random)
        for again in (pickle.loads(pickle.dumps(factor)), copy.deepcopy(factor)):
            assert again.domain == domain
            same(again.values, factor.values)


class TestCliqueVector:
    CLIQUES = (("a", "b"), ("b", "c", "d"), ("d",))

    def test_constructors(self, domain, random):
        for make in (CliqueVector.zeros, CliqueVector.ones, CliqueVector.random):
            vector = make(domain, self.CLIQUES)
            assert vector.domain == domain and vector.cliques == self.CLIQUES
            assert set(vector.tables) == set(self.CLIQUES)
            assert vector[("b", "c", "d")].values.shape == (3, 4, 5)
        assert vector.size() == 6 + 60 + 5
        data = factor_of(domain, random)
        projected = CliqueVector.from_projectable(data, list(self.CLIQUES))
        same(projected[("d",)].values, data.project("d").values)

    def test_cliques_become_a_tuple_and_must_fit_the_tables(self, domain):
        tables = {("a",): Factor.zeros(domain.project(["a"]))}
        assert CliqueVector(domain, [("a",)], tables).cliques == (("a",),)
        with pytest.raises(ValueError):
            CliqueVector(domain, [("a",), ("b",)], tables)
        with pytest.raises(ValueError):
            CliqueVector(domain, [("a",), ("a",)], tables)

    def test_active_domain_and_parents(self, domain):
        vector = CliqueVector.zeros(domain, [("a", "b"), ("b",), ("b", "d")])
        assert set(vector.active_domain) == {"a", "b", "d"}
        assert vector.parent(("b",)) == ("b",)
        assert vector.parent(("b", "a")) == ("a", "b")
        assert vector.parent(("a", "d")) is None
        assert (
            vector.supports("b") and vector.supports(("b", "a")) and not vector.supports(("a", "d"))
        )

    def test_project(self, domain, random):
        vector = CliqueVector.random(domain, self.CLIQUES)
        table = np.asarray(vector[("b", "c", "d")].values)
        same(vector.project(("c", "b")).values, table.sum(axis=2).T)
        same(vector.project("c").values, table.sum(axis=(0, 2)))
        same(vector.project(("c",), log=True).values, np.log(np.exp(table).sum(axis=(0, 2))))
        with pytest.raises(ValueError):
            vector.project(("a", "c"))

    def test_expand_preserves_the_sum_of_log_potentials(self, domain):
        vector = CliqueVector.random(domain, self.CLIQUES)
        wider = vector.expand([("a", "b", "c"), ("b", "c", "d")])
        assert wider.cliques == (("a", "b", "c"), ("b", "c", "d"))
        joint: Any = sum((vector[cl] for cl in self.CLIQUES), Factor.zeros(domain))
        again: Any = sum((wider[cl] for cl in wider.cliques), Factor.zeros(domain))
        same(joint.values, again.transpose(domain.attributes).values)

    def test_contract(self, domain):
        vector = CliqueVector.random(domain, self.CLIQUES)
        narrow = vector.contract([("b", "d"), ("a",)])
        assert narrow.cliques == (("b", "d"), ("a",))
        same(narrow[("b", "d")].values, vector.project(("b", "d")).values)

    def test_arithmetic(self, domain):
        x, y = (CliqueVector.random(domain, self.CLIQUES) for _ in range(2))
        for result, expected in [
            (x + y, lambda u, v: u + v),
            (x - y, lambda u, v: u - v),
            (x * 3, lambda u, v: 3 * u),
            (3 * x, lambda u, v: 3 * u),
            (x / 2, lambda u, v: u / 2),
            (x + 1, lambda u, v: u + 1),
            (x - 1, lambda u, v: u - 1),
            (x.exp(), lambda u, v: np.exp(u)),
            (x.log(), lambda u, v: np.log(u)),
        ]:
            for cl in self.CLIQUES:
                same(
                    result[cl].values, expected(np.asarray(x[cl].values), np.asarray(y[cl].values))
                )
        expected = sum(
            float(np.sum(np.asarray(x[cl].values) * np.asarray(y[cl].values)))
            for cl in self.CLIQUES
        )
        assert math.isclose(float(x.dot(y)), expected)

    def test_normalize(self, domain):
        vector = CliqueVector.random(domain, self.CLIQUES)
        for cl in self.CLIQUES:
            assert math.isclose(float(vector.normalize(9.0)[cl].exp().sum()), 9.0)
            assert math.isclose(float(vector.normalize(9.0, log=False)[cl].sum()), 9.0)

    def test_items(self, domain):
        vector = CliqueVector.zeros(domain, self.CLIQUES)
        vector[("d",)] = Factor.ones(domain.project(["d"]))
        assert float(vector[("d",)].sum()) == 5.0
        with pytest.raises(ValueError):
            vector[("a",)] = Factor.ones(domain.project(["a"]))
        with pytest.raises(KeyError):
            vector[("a",)]


class TestDataset:
    @pytest.fixture
    def records(self, domain, random):
        return {name: random.integers(0, size, 500) for name, size in domain.config.items()}

    def test_counts(self, domain, records):
        data = Dataset(records, domain)
        assert data.records == 500 and data.domain == domain
        assert data.datavector().shape == (120,) and data.datavector().sum() == 500
        assert data.datavector(flatten=False).shape == domain.shape
        expected = np.zeros((5, 2))
        np.add.at(expected, (records["d"], records["a"]), 1)
        projected = data.project(["d", "a"])
        assert isinstance(projected, Factor) and projected.domain.attributes == ("d", "a")
        same(projected.values, expected)
        same(data.project("b").datavector(), np.bincount(records["b"], minlength=3))
        same(data.drop(["a", "c"]).values, data.project(["b", "d"]).values)
        assert float(data.project(()).sum()) == 500
        assert data.supports(["a"]) and not data.supports("z")

    def test_weights(self, domain, records, random):
        weights = random.random(500)
        data = Dataset(records, domain, weights)
        same(data.weights, weights)
        same(data.project("c").datavector(), np.bincount(records["c"], weights, minlength=4))
        same(Dataset(records, domain).weights, np.ones(500))

    def test_to_dict_gives_the_columns(self, domain, records):
        columns = Dataset(records, domain).to_dict()
        assert set(columns) == set("abcd")
        np.testing.assert_array_equal(columns["c"], records["c"])

    def test_synthetic_is_within_the_domain(self, domain):
        data = Dataset.synthetic(domain, 1000)
        assert data.records == 1000
        for name, size in domain.config.items():
            assert set(np.unique(data.to_dict()[name])) <= set(range(size))

    def test_compress_and_decompress(self, domain, records):
        data, mapping = Dataset(records, domain), {"d": np.array([0, 0, 1, 1, 2])}
        small = data.compress(mapping)
        assert small.domain["d"] == 3 and small.records == 500
        counts = np.bincount(records["d"], minlength=5)
        same(
            small.project("d").datavector(),
            [counts[0] + counts[1], counts[2] + counts[3], counts[4]],
        )
        large = small.decompress(mapping)
        assert large.domain == domain
        np.testing.assert_array_equal(mapping["d"][large.to_dict()["d"]], small.to_dict()["d"])

    def test_wrong_columns_are_value_errors(self, domain, records):
        for change in (
            {"a": records["a"].astype(float)},
            {"a": records["a"][:10]},
            {"a": records["a"].reshape(-1, 2)},
            {"z": records["a"]},
        ):
            with pytest.raises(ValueError):
                Dataset(records | change, domain)
        with pytest.raises(ValueError):
            Dataset({name: records[name] for name in "abc"}, domain)
        with pytest.raises(ValueError):
            Dataset(records, domain, np.ones(3))


class TestCliques:
    def test_downward_closure(self):
        closure = clique_utils.downward_closure([("a", "b"), ("b", "c")])
        assert closure == [("a",), ("b",), ("c",), ("a", "b"), ("b", "c")]
        assert () in clique_utils.downward_closure([("a",)], include_empty=True)

    def test_maximal_subset(self):
        cliques = [("a",), ("b", "a"), ("a", "b"), ("c",), ("d", "c", "b")]
        assert set(clique_utils.maximal_subset(cliques)) == {("b", "a"), ("d", "c", "b")}
        assert clique_utils.maximal_subset([]) == []

    def test_mappings(self, domain):
        large, small = [("a", "b"), ("b", "c", "d")], [("b",), ("a",), ("d", "b")]
        assert clique_utils.clique_mapping(large, small) == {
            ("b",): ("a", "b"), ("a",): ("a", "b"), ("d", "b"): ("b", "c", "d"),
        }  # fmt: skip
        reverse = clique_utils.reverse_clique_mapping(large, small, domain)
        assert reverse == {("a", "b"): [("b",), ("a",)], ("b", "c", "d"): [("d", "b")]}
        twice = clique_utils.reverse_clique_mapping(large, [("a",), ("a",)], domain)
        assert twice == {("a", "b"): [("a",), ("a",)], ("b", "c", "d"): []}

    def test_powerset(self):
        assert len(list(clique_utils.powerset("abc"))) == 8


class TestConstraint:
    DOMAIN = Domain(["fine", "coarse"], [4, 2])

    def test_three_ways_to_say_the_same(self):
        pairs = np.array([[0, 0], [1, 0], [2, 1], [3, 1]])
        others = np.array([[0, 1], [1, 1], [2, 0], [3, 0]])
        mapping = np.array([0, 0, 1, 1])
        expected = np.where(mapping[:, None] == np.arange(2), 0.0, -np.inf)
        for constraint in (
            Constraint(self.DOMAIN, valid=pairs),
            Constraint(self.DOMAIN, invalid=others),
            Constraint(self.DOMAIN, mapping=mapping),
        ):
            np.testing.assert_array_equal(np.asarray(constraint.potential.values), expected)
            assert constraint.potential.domain == self.DOMAIN
            assert constraint.clique == ("coarse", "fine")
        assert Constraint(self.DOMAIN, mapping=mapping).is_deterministic
        assert not Constraint(self.DOMAIN, valid=pairs).is_deterministic

    @pytest.mark.parametrize(
        "arguments",
        [
            {},
            {"valid": np.zeros((1, 2), int), "invalid": np.zeros((1, 2), int)},
            {"valid": np.zeros((1, 3), int)},
            {"invalid": np.zeros(2, int)},
            {"mapping": np.zeros(3, int)},
        ],
    )
    def test_contradictions_are_value_errors(self, arguments):
        with pytest.raises(ValueError):
            Constraint(self.DOMAIN, **arguments)

    def test_a_mapping_needs_two_attributes(self):
        with pytest.raises(ValueError):
            Constraint(Domain(["a"], [4]), mapping=np.array([0, 0, 1, 1]))
