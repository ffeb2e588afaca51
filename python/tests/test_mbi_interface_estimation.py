"""Losses, estimators, models, callbacks and files, as a program on mbi 2.0.0 uses them.

`MBI_UNDER_TEST=mbi` runs the same tests against mbi itself, in double precision.
"""

import copy
import importlib
import io
import math
import os

import numpy as np
import pytest

os.environ.setdefault("JAX_ENABLE_X64", "1")  # of mbi, where it is under test
NAME = os.environ.get("MBI_UNDER_TEST", "pgmbench")
mbi = importlib.import_module(NAME)
marginal_loss = importlib.import_module(f"{NAME}.marginal_loss")

Domain, Dataset, Factor, CliqueVector = mbi.Domain, mbi.Dataset, mbi.Factor, mbi.CliqueVector
Constraint, LinearMeasurement, estimation = mbi.Constraint, mbi.LinearMeasurement, mbi.estimation
ESTIMATORS = [
    "MirrorDescent",
    "DualAveraging",
    "InteriorGradient",
    "LBFGS",
    "UniversalAcceleratedMethod",
]
DOMAIN = Domain(["a", "b", "c", "d"], [2, 3, 4, 5])
CLIQUE_SETS = {
    "chain": [("a", "b"), ("b", "c"), ("c", "d")],
    "cycle": [("a",), ("a", "b"), ("b", "c"), ("a", "c"), ("b", "d")],
    "uncovered attribute": [("a", "b"), ("d", "a")],
    "whole domain": [("a", "b", "c", "d")],
    "permuted duplicate": [("a", "b", "c"), ("c", "b", "a"), ("b", "d")],
}


def joint_table(seed=0, total=1000.0):
    values = (
        np.random.default_rng(seed).dirichlet(np.full(DOMAIN.size(), 0.7)).reshape(DOMAIN.shape)
    )
    return Factor(DOMAIN, total * values)


def measure(joint, cliques, scale=0.0, seed=1):
    random = np.random.default_rng(seed)
    measurements = []
    for cl in cliques:
        answers = np.asarray(joint.project(cl).datavector())
        noise = scale * random.normal(size=answers.shape)
        measurements.append(LinearMeasurement(answers + noise, cl, stddev=max(scale, 1.0)))
    return measurements


def loss_of(model, measurements):
    return sum(
        0.5
        * np.sum(
            (np.asarray(m.query(model.project(m.clique))) - np.asarray(m.noisy_measurement)) ** 2
        )
        / m.stddev**2
        for m in measurements
    )


def least_loss(measurements, total, iterations=4000):
    """The optimum by accelerated exponentiated gradients on the whole table: slow and obvious."""
    rows = []
    for m in measurements:
        kept = [DOMAIN.attributes.index(name) for name in m.clique]
        index = np.ravel_multi_index(
            [np.indices(DOMAIN.shape)[i] for i in kept], [DOMAIN.shape[i] for i in kept]
        )
        rows.append((index.ravel(), np.asarray(m.noisy_measurement), m.stddev))

    def loss_and_gradient(p):
        loss, gradient = 0.0, np.zeros(p.size)
        for index, y, stddev in rows:
            residual = (np.bincount(index, p, minlength=y.size) - y) / stddev
            loss += 0.5 * residual @ residual
            gradient += residual[index] / stddev
        return loss, gradient

    p = np.full(DOMAIN.size(), total / DOMAIN.size())
    best, step = math.inf, 1.0 / total
    for _ in range(iterations):
        loss, gradient = loss_and_gradient(p)
        best = min(best, loss)
        trial = p * np.exp(-step * (gradient - gradient.min()))
        trial *= total / trial.sum()
        if loss_and_gradient(trial)[0] <= loss:
            p, step = trial, 1.1 * step
        else:
            step *= 0.5
    return best


class TestMeasurements:
    def test_defaults(self):
        measurement = LinearMeasurement(np.arange(6.0), ["a", "b"])
        assert measurement.clique == ("a", "b") and measurement.stddev == 1.0
        factor = joint_table().project(("a", "b"))
        np.testing.assert_allclose(
            np.asarray(measurement.query(factor)), np.asarray(factor.datavector())
        )
        with pytest.raises(AttributeError):
            measurement.stddev = 2.0

    def test_queries(self):
        factor, weights = joint_table().project(("a", "b")), np.linspace(0.5, 2.0, 6)
        x = np.asarray(factor.datavector())
        np.testing.assert_allclose(np.asarray(mbi.WeightedQuery(weights)(factor)), weights * x)
        np.testing.assert_allclose(np.asarray(mbi.SlicedQuery()(factor)), x[1:])
        np.testing.assert_allclose(np.asarray(mbi.SlicedQuery(3)(factor)), x[3:])
        np.testing.assert_allclose(np.asarray(marginal_loss.DatavectorQuery()(factor)), x)
        assert mbi.WeightedQuery(weights).op_norm_sq() == 4.0
        assert mbi.SlicedQuery().op_norm_sq() == marginal_loss.DatavectorQuery().op_norm_sq() == 1.0
        assert marginal_loss.DatavectorQuery() == marginal_loss.DatavectorQuery()

    def test_compress_merges_cells_with_equal_variance(self):
        mapping = {"d": np.array([0, 0, 1, 1, 1])}
        measurement = LinearMeasurement(np.arange(10.0), ("a", "d"), stddev=3.0)
        small = measurement.compress(mapping, DOMAIN)
        expected = [
            (0 + 1) / math.sqrt(2),
            (2 + 3 + 4) / math.sqrt(3),
            (5 + 6) / math.sqrt(2),
            (7 + 8 + 9) / math.sqrt(3),
        ]
        np.testing.assert_allclose(np.asarray(small.noisy_measurement), expected)
        assert small.clique == ("a", "d") and small.stddev == 3.0
        ones = Factor.ones(Domain(["a", "d"], [2, 2]))
        np.testing.assert_allclose(np.asarray(small.query(ones)), 1 / np.sqrt([2.0, 3.0, 2.0, 3.0]))
        assert measurement.compress({"b": np.array([0, 0, 1])}, DOMAIN) is measurement

    def test_total_is_the_weighted_mean_of_the_sums(self):
        totals = estimation.minimum_variance_unbiased_total
        first = LinearMeasurement(np.full(2, 50.0), ("a",), stddev=1.0)
        second = LinearMeasurement(np.full(5, 30.0), ("d",), stddev=2.0)
        expected = (100 / 2 + 150 / 20) / (1 / 2 + 1 / 20)
        assert math.isclose(totals([first, second]), expected)
        assert totals([]) == 1.0
        assert totals([LinearMeasurement(np.full(2, -5.0), ("a",))]) == 1.0
        partial = LinearMeasurement(np.full(1, 50.0), ("a",), query=mbi.SlicedQuery())
        assert totals([partial]) == 1.0
        aside = LinearMeasurement(
            np.full(2, 9.0), ("a",), query=marginal_loss.DatavectorQuery(False)
        )
        assert math.isclose(totals([first, aside]), 100.0)


class TestLosses:
    def test_l2_and_l1(self):
        joint = joint_table()
        measurements = measure(joint, CLIQUE_SETS["chain"], scale=5.0)
        mu = CliqueVector.from_projectable(joint, CLIQUE_SETS["chain"])
        residuals = [
            (np.asarray(joint.project(m.clique).datavector()) - np.asarray(m.noisy_measurement))
            / m.stddev
            for m in measurements
        ]
        l2 = 0.5 * sum(float(r @ r) for r in residuals)
        l1 = sum(float(np.abs(r).sum()) for r in residuals)
        make = marginal_loss.from_linear_measurements
        assert math.isclose(float(make(measurements, DOMAIN)(mu)), l2, rel_tol=1e-9)
        assert math.isclose(float(make(measurements, DOMAIN, norm="l1")(mu)), l1, rel_tol=1e-9)
        normal = make(measurements, DOMAIN, norm="l2", normalize=True)
        assert math.isclose(float(normal(mu)), math.sqrt(l2 / 3 / 1000.0), rel_tol=1e-9)
        normal = make(measurements, DOMAIN, norm="l1", normalize=True)
        assert math.isclose(float(normal(mu)), l1 / 3 / 1000.0, rel_tol=1e-9)
        with pytest.raises(ValueError):
            make(measurements, DOMAIN, norm="l3")

    def test_cliques_are_the_maximal_ones(self):
        loss = marginal_loss.from_linear_measurements(
            measure(joint_table(), CLIQUE_SETS["cycle"]), DOMAIN
        )
        assert set(loss.cliques) == {("a", "b"), ("b", "c"), ("a", "c"), ("b", "d")}
        assert isinstance(loss.cliques, tuple)

    def test_lipschitz_constant_of_identity_marginals(self):
        one = [LinearMeasurement(np.zeros(6), ("a", "b"), stddev=2.0)]
        assert math.isclose(marginal_loss.from_linear_measurements(one, DOMAIN).lipschitz, 0.25)
        two = [*one, LinearMeasurement(np.zeros(3), ("b",), stddev=1.0)]
        assert math.isclose(
            marginal_loss.from_linear_measurements(two, DOMAIN).lipschitz, 0.25 + 2.0
        )

    def test_own_losses(self):
        target = CliqueVector.from_projectable(joint_table(), [("a", "b")])
        loss = mbi.MarginalLossFn([("a", "b")], lambda mu, data: (mu - data).dot(mu - data), target)
        assert loss.cliques == (("a", "b"),) and loss.lipschitz == 1.0
        assert float(loss(target)) == 0.0

    def test_primal_feasibility_measures_disagreement(self):
        consistent = CliqueVector.from_projectable(joint_table(), CLIQUE_SETS["chain"])
        assert float(marginal_loss.primal_feasibility(consistent)) < 1e-12
        assert (
            float(
                marginal_loss.primal_feasibility(CliqueVector.random(DOMAIN, CLIQUE_SETS["chain"]))
            )
            > 1e-3
        )


@pytest.mark.parametrize("shape", CLIQUE_SETS)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_exact_marginals_are_reproduced(name, shape):
    joint = joint_table()
    measurements = measure(joint, CLIQUE_SETS[shape])
    model = getattr(estimation, name)().estimate(DOMAIN, measurements, known_total=1000.0)
    for m in measurements:
        actual = model.project(m.clique)
        assert actual.domain.attributes == m.clique
        tolerance = (
            20.0 if NAME == "mbi" else 0.5
        )  # mbi's accelerated methods end before they converge
        np.testing.assert_allclose(
            np.asarray(actual.datavector()), np.asarray(m.noisy_measurement), atol=tolerance
        )


@pytest.mark.parametrize("shape", ["chain", "cycle", "uncovered attribute"])
@pytest.mark.parametrize("name", ["MirrorDescent", "UniversalAcceleratedMethod"])
def test_noisy_marginals_reach_the_least_loss(name, shape):
    measurements = measure(joint_table(), CLIQUE_SETS[shape], scale=40.0)
    model = getattr(estimation, name)().estimate(
        DOMAIN, measurements, known_total=1000.0, iters=2500
    )
    least = least_loss(measurements, 1000.0)
    assert loss_of(model, measurements) <= least * (1 + 2e-3) + 1e-6


class TestEstimate:
    MEASUREMENTS = measure(joint_table(), CLIQUE_SETS["chain"], scale=5.0)

    def test_the_model(self):
        model = estimation.MirrorDescent().estimate(DOMAIN, self.MEASUREMENTS)
        expected = estimation.minimum_variance_unbiased_total(self.MEASUREMENTS)
        assert isinstance(model, mbi.MarkovRandomField)
        assert model.domain == DOMAIN and math.isclose(float(model.total), expected)
        assert set(model.cliques) == set(CLIQUE_SETS["chain"])
        assert isinstance(model.potentials, CliqueVector) and isinstance(
            model.marginals, CliqueVector
        )
        assert model.supports("a") and model.supports(("a", "d")) and not model.supports("z")
        mu = mbi.marginal_oracles.message_passing_stable(model.potentials, model.total)
        for cl in model.cliques:
            np.testing.assert_allclose(
                np.asarray(mu[cl].values), np.asarray(model.marginals[cl].values), atol=1e-5
            )

    def test_project_answers_marginals_that_were_not_measured(self):
        model = estimation.MirrorDescent().estimate(DOMAIN, self.MEASUREMENTS)
        answer = model.project(("d", "a"))
        assert answer.domain.attributes == ("d", "a") and np.asarray(answer.values).shape == (5, 2)
        direct = mbi.marginal_oracles.variable_elimination(
            model.potentials, ("d", "a"), float(model.total)
        )
        np.testing.assert_allclose(np.asarray(answer.values), np.asarray(direct.values), atol=1e-6)
        np.testing.assert_allclose(
            np.asarray(model.project("a").values), np.asarray(model.project(["a"]).values)
        )
        assert math.isclose(float(model.project(()).sum()), float(model.total), rel_tol=1e-9)
        with pytest.raises(ValueError):
            model.project(("a", "nothing"))

    def test_a_loss_may_be_given_instead_of_measurements(self):
        loss = marginal_loss.from_linear_measurements(self.MEASUREMENTS, DOMAIN)
        one = estimation.MirrorDescent().estimate(DOMAIN, loss, 1000.0)
        two = estimation.MirrorDescent().estimate(DOMAIN, self.MEASUREMENTS, 1000.0)
        for cl in CLIQUE_SETS["chain"]:
            np.testing.assert_allclose(
                np.asarray(one.project(cl).values), np.asarray(two.project(cl).values), atol=0.5
            )

    def test_without_measurements_the_model_is_uniform(self):
        model = estimation.MirrorDescent().estimate(DOMAIN, [], known_total=12.0)
        np.testing.assert_allclose(
            np.asarray(model.project(("a", "b")).values), np.full((2, 3), 2.0)
        )

    def test_a_warm_start_is_a_model_or_potentials(self):
        first = estimation.MirrorDescent().estimate(DOMAIN, self.MEASUREMENTS[:2], 1000.0)
        for start in (first, first.potentials):
            model = estimation.MirrorDescent().estimate(
                DOMAIN, self.MEASUREMENTS, 1000.0, warm_start=start
            )
            cold = estimation.MirrorDescent().estimate(DOMAIN, self.MEASUREMENTS, 1000.0)
            assert (
                loss_of(model, self.MEASUREMENTS) <= 1.01 * loss_of(cold, self.MEASUREMENTS) + 1e-6
            )
            assert set(model.cliques) == set(CLIQUE_SETS["chain"])

    def test_callbacks_receive_marginals(self):
        seen = []
        estimation.MirrorDescent().estimate(
            DOMAIN, self.MEASUREMENTS, 1000.0, iters=200, callback_fn=seen.append
        )
        assert seen and all(isinstance(mu, CliqueVector) for mu in seen)
        assert math.isclose(float(seen[-1].project(("a",)).sum()), 1000.0, rel_tol=1e-6)
        loss = marginal_loss.from_linear_measurements(self.MEASUREMENTS, DOMAIN)
        assert float(loss(seen[-1])) <= float(loss(seen[0])) * (1 + 1e-9)

    def test_tolerance_ends_early(self):
        calls = []
        estimation.MirrorDescent().estimate(
            DOMAIN, self.MEASUREMENTS, 1000.0, iters=100_000, tol=1e-3, callback_fn=calls.append
        )
        assert len(calls) < 1000

    def test_positional_arguments_are_mbis(self):
        model = estimation.MirrorDescent().estimate(DOMAIN, self.MEASUREMENTS, 900.0, (), 100)
        assert math.isclose(float(model.total), 900.0)

    def test_linear_queries_may_be_any_callable(self):
        joint, matrix = joint_table(), np.tril(np.ones((5, 5)))
        y = matrix @ np.asarray(joint.project("d").datavector())
        prefix = LinearMeasurement(y, ("d",), stddev=1.0, query=lambda f: matrix @ f.datavector())
        model = estimation.MirrorDescent().estimate(
            DOMAIN, [prefix], known_total=1000.0, iters=3000
        )
        actual = np.asarray(model.project("d").datavector())
        np.testing.assert_allclose(actual, np.asarray(joint.project("d").datavector()), atol=2.0)

    @pytest.mark.parametrize("query", ["weighted", "sliced"])
    def test_mbis_query_classes(self, query):
        joint, weights = joint_table(), np.linspace(0.5, 2.0, 6)
        chosen = mbi.WeightedQuery(weights) if query == "weighted" else mbi.SlicedQuery(2)
        truth = joint.project(("a", "b"))
        measurement = LinearMeasurement(
            np.asarray(chosen(truth)), ("a", "b"), stddev=1.0, query=chosen
        )
        model = estimation.MirrorDescent().estimate(
            DOMAIN, [measurement], known_total=1000.0, iters=3000
        )
        answer = np.asarray(chosen(model.project(("a", "b"))))
        np.testing.assert_allclose(answer, np.asarray(chosen(truth)), atol=2.0)

    def test_constraints_hold_in_the_model_and_in_records(self):
        pair = Constraint(DOMAIN.project(["a", "b"]), invalid=np.array([[0, 2], [1, 0]]))
        model = estimation.MirrorDescent().estimate(
            DOMAIN, self.MEASUREMENTS, 1000.0, constraints=[pair]
        )
        table = np.asarray(model.project(("a", "b")).values)
        assert (
            table[0, 2] < 1e-9
            and table[1, 0] < 1e-9
            and math.isclose(table.sum(), 1000.0, rel_tol=1e-6)
        )
        columns = model.synthetic_data(500).to_dict()
        assert not np.any((columns["a"] == 0) & (columns["b"] == 2))
        assert not np.any((columns["a"] == 1) & (columns["b"] == 0))

    def test_wrong_shapes_are_refused(self):
        with pytest.raises((ValueError, TypeError)):
            estimation.MirrorDescent().estimate(
                DOMAIN, [LinearMeasurement(np.zeros(5), ("a", "b"))], 10.0
            )
        with pytest.raises((ValueError, TypeError)):
            estimation.MirrorDescent().estimate(
                DOMAIN, [LinearMeasurement(np.zeros(5), ("nothing",))], 10.0
            )


class TestModel:
    @pytest.fixture
    def model(self):
        measurements = measure(joint_table(total=5000.0), CLIQUE_SETS["cycle"], scale=1.0)
        return estimation.MirrorDescent().estimate(DOMAIN, measurements, 5000.0)

    @pytest.mark.parametrize("method", ["round", "sample"])
    def test_records_follow_the_model(self, model, method):
        data = model.synthetic_data(rows=20_000, method=method)
        assert isinstance(data, Dataset) and data.records == 20_000 and data.domain == DOMAIN
        for cl in model.cliques:
            expected = np.asarray(model.project(cl).datavector()) * 4.0
            found = np.asarray(data.project(cl).datavector())
            assert np.all(np.abs(found - expected) <= 6 * np.sqrt(expected) + 6)

    def test_the_default_number_of_records_is_the_total(self, model):
        assert model.synthetic_data().records == 5000

    def test_columns_are_integers_within_the_domain(self, model):
        for name, column in model.synthetic_data(100).to_dict().items():
            assert (
                np.issubdtype(column.dtype, np.integer)
                and column.min() >= 0
                and column.max() < DOMAIN[name]
            )

    def test_rounding_is_closer_than_sampling(self, model):
        def distance(method):
            found = model.synthetic_data(5000, method).project(("a", "b")).datavector()
            return float(
                np.abs(np.asarray(found) - np.asarray(model.project(("a", "b")).datavector())).sum()
            )

        assert distance("round") < distance("sample")

    def test_a_model_may_be_made_from_potentials(self):
        theta = CliqueVector.random(DOMAIN, CLIQUE_SETS["chain"])
        mu = mbi.marginal_oracles.message_passing_stable(theta, 50.0)
        model = mbi.MarkovRandomField(potentials=theta, marginals=mu, total=50.0)
        assert model.cliques == tuple(CLIQUE_SETS["chain"])
        assert mbi.MarkovRandomField(potentials=theta, marginals=mu).total == 1
        assert model.synthetic_data().records == 50
        assert math.isclose(float(model.project(("a", "d")).sum()), 50.0, rel_tol=1e-6)

    def test_save_and_load(self, model, tmp_path):
        path, buffer = tmp_path / "model.npz", io.BytesIO()
        mbi.save(model, path)
        mbi.save(model, buffer)
        buffer.seek(0)
        for again in (mbi.load(path), mbi.load(str(path)), mbi.load(buffer), copy.deepcopy(model)):
            assert again.domain == DOMAIN and again.cliques == model.cliques
            for cl in [*model.cliques, ("a", "d")]:
                np.testing.assert_allclose(
                    np.asarray(again.project(cl).values), np.asarray(model.project(cl).values)
                )


class TestDiagnostics:
    def test_the_default_callback_logs_rows(self):
        lines = []
        mbi.set_log_fn(lambda *words, **_: lines.append(" ".join(map(str, words))))
        try:
            measurements = measure(joint_table(), CLIQUE_SETS["chain"], scale=5.0)
            callback = mbi.callbacks.default(measurements, DOMAIN, joint_table())
            estimation.MirrorDescent().estimate(
                DOMAIN, measurements, 1000.0, iters=150, callback_fn=callback
            )
        finally:
            mbi.set_log_fn(print)
        columns = callback.summary["columns"]
        assert columns == ["step", "L2 Loss", "L1 Loss", "L2 Error", "L1 Error", "Primal Feas"]
        assert callback.summary["data"] and len(callback.summary["data"][0]) == len(columns)
        assert any("L2 Loss" in line for line in lines)

    def test_summary(self):
        summary = mbi.summarize(DOMAIN, CLIQUE_SETS["chain"])
        assert isinstance(summary, mbi.ModelSummary)
        assert (
            summary.num_attributes == 4 and summary.domain_size == 120 and summary.num_cliques == 3
        )
        assert summary.largest_clique == ("c", "d") and summary.largest_clique_size == 20
        assert (
            summary.treewidth == 1
            and summary.num_jtree_nodes == 3
            and summary.total_jtree_cells == 38
        )
        assert summary.num_messages == 2 and summary.total_message_cells == 14
        assert summary.memory_bytes == (38 + 14) * 8
        assert "treewidth" in str(summary).lower()

    def test_precompile_returns_a_future(self):
        measurements = measure(joint_table(), CLIQUE_SETS["chain"])
        future = estimation.MirrorDescent().precompile(DOMAIN, measurements)
        future.result(timeout=120)
        assert future.done()
