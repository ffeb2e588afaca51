"""Frames in and out, and records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pgmbench
from pgmbench import Dataset, Domain, LinearMeasurement, estimation

AGES = [31, 25, 31, 60, 25, 31]
SEXES = ["f", "m", "m", "f", "f", "m"]


def frames() -> dict[str, Any]:
    columns = {"age": AGES, "sex": SEXES}
    return {
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
        "arrow": pa.table(columns),
        "dict": {"age": np.array(AGES), "sex": np.array(SEXES)},
        "numpy": np.array(list(zip(AGES, SEXES)), dtype=[("age", int), ("sex", "U1")]),
    }


def fitted(data: Dataset) -> pgmbench.MarkovRandomField:
    counts = data.project(("age", "sex"))
    noisy = [LinearMeasurement(counts.datavector(), ("age", "sex"), 0.1)]
    return estimation.MirrorDescent().estimate(data.domain, noisy)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "dict", "numpy"])
def test_a_frame_comes_back_in_kind(kind):
    frame = frames()[kind]
    data = Dataset(frame)
    assert data.domain.attributes == ("age", "sex")
    assert data.domain.labels == ((25, 31, 60), ("f", "m"))
    np.testing.assert_array_equal(data.project(("age", "sex")).values, [[1, 1], [1, 2], [1, 0]])
    synthetic = fitted(data).synthetic_data(600, seed=1)
    assert type(synthetic) is type(frame)
    again = Dataset(synthetic, data.domain)
    assert again.records == 600
    expected = 100 * data.project(("age", "sex")).values
    np.testing.assert_allclose(again.project(("age", "sex")).values, expected, atol=3)


def test_types_of_columns_are_kept():
    frame = pd.DataFrame(
        {
            "age": pd.Series(AGES, dtype="int16"),
            "sex": pd.Categorical(SEXES, categories=["m", "f", "x"], ordered=True),
            "born": pd.to_datetime(["2001-01-01", "2002-02-02"] * 3),
            "member": [True, False] * 3,
        }
    )
    domain = Domain.from_frame(frame)
    assert domain.config == {"age": 3, "sex": 3, "born": 2, "member": 2}
    model = estimation.MirrorDescent().estimate(domain, [], known_total=50)
    synthetic = model.synthetic_data(seed=1)
    assert list(synthetic.dtypes) == list(frame.dtypes)
    assert set(synthetic["sex"]) <= {"m", "f", "x"}
    assert set(synthetic["born"]) <= set(frame["born"])
    np.testing.assert_array_equal(Dataset(frame, domain).data["sex"], [1, 0, 0, 1, 1, 0])


def test_missing_values_are_a_value_of_their_own():
    for frame in (
        pd.DataFrame({"x": ["u", None, "v", "u"]}),
        pl.DataFrame({"x": ["u", None, "v", "u"]}),
        pa.table({"x": ["u", None, "v", "u"]}),
    ):
        data = Dataset(frame)
        assert data.domain.labels == (("u", "v", None),)
        np.testing.assert_array_equal(data.project("x").values, [2, 1, 1])
        model = estimation.MirrorDescent().estimate(data.domain, [], known_total=300)
        again = Dataset(model.synthetic_data(seed=2), data.domain)
        np.testing.assert_array_equal(again.project("x").values, [100, 100, 100])


def test_continuous_columns_are_refused(rng):
    with pytest.raises(ValueError, match="'height' has 2000 different real numbers"):
        Dataset(pd.DataFrame({"height": rng.normal(size=2000)}))


def test_tables_without_names_of_their_own_are_refused():
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    for frame in (pd.DataFrame([[1, 2]], columns=["a", "a"]), twice):
        with pytest.raises(ValueError, match="several columns with the name 'a'"):
            Dataset(frame)
    for column in (pd.Series([1, 2]), pl.Series([1, 2]), pa.array([1, 2])):
        with pytest.raises(TypeError, match="named columns"):
            Dataset(column)


def test_values_outside_of_the_domain_are_refused():
    domain = Domain.from_frame(frames()["pandas"])
    with pytest.raises(ValueError, match="'sex' has the value 'z'"):
        Dataset(pd.DataFrame({"age": [25], "sex": ["z"]}), domain)
    with pytest.raises(ValueError, match="expected 0 to 1"):
        Dataset({"a": [0, 2]}, Domain(["a"], [2]))
    with pytest.raises(ValueError, match="whole numbers"):
        Dataset({"a": [0.5, 1.0]}, Domain(["a"], [2]))
    with pytest.raises(ValueError, match="same length"):
        Dataset({"a": [0, 1], "b": [0]}, Domain(["a", "b"], [2, 2]))
    with pytest.raises(ValueError, match="missing \\['b'\\]"):
        Dataset({"a": [0, 1]}, Domain(["a", "b"], [2, 2]))


def test_codes_stay_codes_with_a_domain_of_numbers():
    domain = Domain(["a", "b"], [3, 2])
    columns = {"a": [2, 0, 2], "b": [1, 1, 0]}
    expected = np.array([[0, 1], [0, 0], [1, 1]])
    for data in (columns, pd.DataFrame(columns), np.array([[2, 1], [0, 1], [2, 0]])):
        found = Dataset(data, domain)
        np.testing.assert_array_equal(found.project(("a", "b")).values, expected)
    data = Dataset(columns, domain, weights=[2.0, 0.5, 1.0])
    np.testing.assert_array_equal(data.project("a").values, [0.5, 0.0, 3.0])
    assert data.total == 3.5 and data.records == 3
    np.testing.assert_array_equal(data.datavector(), [0, 0.5, 0, 0, 1, 2])
    np.testing.assert_array_equal(data.drop(["a"]).values, [1.0, 2.5])
    assert list(data.to_frame("pandas").columns) == ["a", "b"]
    heavy = data.synthetic_data(7000, seed=3)
    np.testing.assert_allclose(heavy.project("a").values, [1000, 0, 6000], atol=1)


def test_values_are_merged_and_drawn_again():
    domain = Domain(["a", "b"], [4, 2], labels=[("p", "q", "r", "s"), ("x", "y")])
    data = Dataset({"a": [0, 1, 2, 3, 3], "b": [0, 1, 0, 1, 0]}, domain)
    mapping = {"a": np.array([0, 0, 1, 1])}
    small = data.compress(mapping)
    assert small.domain.config == {"a": 2, "b": 2}
    assert small.domain.labels == ((("p", "q"), ("r", "s")), ("x", "y"))
    np.testing.assert_array_equal(small.project("a").values, [2, 3])
    large = small.decompress(mapping, seed=1)
    assert large.domain["a"] == 4
    np.testing.assert_array_equal(mapping["a"][large.data["a"]], small.data["a"])
    measurement = LinearMeasurement([1.0, 2.0, 3.0, 4.0], ("a",), 2.0).compress(mapping, domain)
    root = np.sqrt(2)
    np.testing.assert_allclose(measurement.noisy_measurement, [3 / root, 7 / root])
    exact = LinearMeasurement(data.project("a").datavector(), ("a",)).compress(mapping, domain)
    np.testing.assert_allclose(exact.query(small.project("a")), exact.noisy_measurement)


@pytest.mark.parametrize("method", ["round", "sample"])
def test_records_follow_the_model(method):
    domain = Domain(["a", "b", "c"], [3, 2, 2])
    rng = np.random.default_rng(0)
    potentials = pgmbench.CliqueVector.random(domain, [("a", "b"), ("b", "c")], rng) * 2.0
    marginals = pgmbench.marginal_oracles.exact_marginals(potentials, 20_000.0)
    model = pgmbench.MarkovRandomField(potentials, marginals, 20_000.0)
    data = model.synthetic_data(method=method, seed=11)
    assert data.records == 20_000
    for clique in [("a", "b"), ("b", "c"), ("a", "c")]:
        expected = model.project(clique).values
        difference = np.abs(data.project(clique).values - expected)
        if method == "round" and clique != ("a", "c"):
            assert difference.max() <= 3
        # Six standard deviations of a binomial.
        assert np.all(difference <= 6 * np.sqrt(expected) + 3)


def test_seeds_and_generators_repeat_records():
    model = estimation.MirrorDescent().estimate(Domain(["a"], [100]), [], known_total=500)

    def draw(seed: Any) -> list[int]:
        return model.synthetic_data(method="sample", seed=seed).data["a"].tolist()

    assert draw(3) == draw(3) != draw(4)
    assert draw(np.random.default_rng(3)) == draw(np.random.default_rng(3))
    generator = np.random.default_rng(3)
    assert draw(generator) != draw(generator)
    np.random.seed(5)
    first = draw(None)
    np.random.seed(5)
    assert draw(None) == first != draw(None)
    with pytest.raises(TypeError, match="seed"):
        draw("five")
    with pytest.raises(ValueError, match="method"):
        model.synthetic_data(method="guess")
