"""Fits: optimality, certificates, limits, callbacks, interrupts."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from conftest import joint, marginal, measured

import pgmbench
from pgmbench import (
    CliqueVector,
    Constraint,
    Dataset,
    Domain,
    Factor,
    KroneckerQuery,
    LinearMeasurement,
    MarginalLossFn,
    MatrixQuery,
    SlicedQuery,
    WeightedQuery,
    estimation,
    marginal_loss,
)

DOMAIN = Domain(["a", "b", "c", "d"], [4, 2, 3, 2])
CLIQUES: list[tuple] = [("a", "b"), ("c", "b"), ("c", "d")]
ESTIMATORS = [
    estimation.MirrorDescent(),
    estimation.DualAveraging(),
    estimation.InteriorGradient(),
    estimation.UniversalAcceleratedMethod(),
    estimation.LBFGS(),
]


@pytest.fixture
def data() -> Dataset:
    return Dataset.synthetic(DOMAIN, 500, seed=1)


@pytest.fixture
def noisy(data, rng) -> list[LinearMeasurement]:
    return measured(data, CLIQUES, rng)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_every_estimator_ends_at_the_same_model(estimator, noisy):
    best = estimation.MirrorDescent().estimate(DOMAIN, noisy, iters=None)
    model = estimator.estimate(DOMAIN, noisy, iters=20_000)
    assert model.gap is not None and 0 <= model.gap < 1e-3 * model.loss
    for clique in [*CLIQUES, ("a", "d")]:
        np.testing.assert_allclose(
            model.project(clique).values, best.project(clique).values, atol=0.05
        )


def test_the_certificate_bounds_the_loss_of_every_other_distribution(noisy, rng):
    model = estimation.MirrorDescent().estimate(DOMAIN, noisy, iters=40)
    loss = marginal_loss.from_linear_measurements(noisy, DOMAIN)
    assert model.loss == pytest.approx(loss(model.marginals))
    exact = estimation.MirrorDescent().estimate(DOMAIN, noisy, model.total, iters=None)
    for other in (exact, *(random_model(rng, model.total) for _ in range(20))):
        marginals = CliqueVector.from_projectable(other, CLIQUES)
        assert model.loss is not None and model.gap is not None
        assert loss(marginals) >= model.loss - model.gap - 1e-9


def random_model(rng: np.random.Generator, total: float) -> pgmbench.MarkovRandomField:
    potentials = CliqueVector.random(DOMAIN, CLIQUES, rng) * 3.0
    return pgmbench.MarkovRandomField(potentials, CliqueVector.zeros(DOMAIN, []), total)


def test_the_model_is_what_its_potentials_say(noisy):
    model = estimation.MirrorDescent().estimate(DOMAIN, noisy)
    table = joint(model.potentials, model.total)
    for clique in [*CLIQUES, ("d", "a"), ()]:
        np.testing.assert_allclose(
            model.project(clique).values, marginal(table, DOMAIN, clique), atol=1e-7
        )
    assert model.supports(("a", "d")) and not model.supports("z")


def test_a_query_of_any_kind_gives_the_same_model_as_its_matrix(data, rng):
    matrix = rng.normal(size=(5, 8))
    weights = rng.random(8)
    queries = [
        (MatrixQuery(matrix), matrix),
        (lambda factor: matrix @ factor.datavector(), matrix),
        (lambda factor: (matrix @ factor.datavector()).astype(np.float32), matrix),
        (WeightedQuery(weights), np.diag(weights)),
        (SlicedQuery(3), np.eye(8)[3:]),
        (lambda factor: factor.values.sum(axis=0), np.tile(np.eye(2), 4)),
        (KroneckerQuery(["prefix", "identity"]), np.kron(np.tril(np.ones((4, 4))), np.eye(2))),
        (KroneckerQuery([("evidence", [1, 3]), "total"]), np.kron([[0, 1, 0, 1]], [[1, 1]])),
        (Factor.datavector, np.eye(8)),
    ]
    counts = data.project(("a", "b"))
    for query, dense in queries:
        expected = dense @ counts.datavector()
        np.testing.assert_allclose(query(counts), expected, rtol=1e-5)
        answers = expected + rng.normal(size=len(expected))
        fits = [
            estimation.MirrorDescent().estimate(
                DOMAIN, [LinearMeasurement(answers, ("a", "b"), 2.0, each)], known_total=500
            )
            for each in (query, MatrixQuery(dense.astype(float)))
        ]
        np.testing.assert_allclose(
            fits[0].project(("a", "b")).values, fits[1].project(("a", "b")).values, atol=1e-3
        )


@pytest.mark.parametrize(
    "query",
    [
        lambda factor: factor.datavector() ** 2,
        lambda factor: factor.datavector() + 1,
        lambda factor: factor.normalize().datavector(),
        lambda factor: np.maximum(factor.datavector(), 3.0),
    ],
)
def test_a_query_that_is_not_linear_is_refused(query):
    measurement = LinearMeasurement(np.zeros(4), ("a",), 1.0, query)
    with pytest.raises(ValueError, match=r"measurement 0 on \('a',\).*not linear"):
        estimation.MirrorDescent().estimate(DOMAIN, [measurement], known_total=10)


@pytest.mark.parametrize(
    ("measurement", "message"),
    [
        (LinearMeasurement([1.0, np.nan, 0, 0], ("a",)), "finite"),
        (LinearMeasurement([1.0, 2.0], ("a",)), "expected 4 answers, found 2"),
        (LinearMeasurement(np.zeros(4), ("a",), stddev=0.0), "standard deviation"),
        (LinearMeasurement(np.zeros(4), ("a",), stddev=-1.0), "standard deviation"),
        (LinearMeasurement(np.zeros(4), ("z",)), "'z' is not an attribute"),
        (LinearMeasurement(np.zeros(16), ("a", "a")), "once"),
    ],
)
def test_what_is_wrong_with_a_measurement_is_said(measurement, message):
    with pytest.raises(ValueError, match=message):
        estimation.MirrorDescent().estimate(DOMAIN, [measurement], known_total=10)


@pytest.mark.parametrize(
    "measurement, error",
    [
        (LinearMeasurement([1.0, 2.0], ("b",), stddev=0.0), ValueError),
        (LinearMeasurement([1.0, 2.0], ("b",), stddev=float("nan")), ValueError),
        (LinearMeasurement(["x", "y"], ("b",)), TypeError),
        (LinearMeasurement([1j, 2.0], ("b",)), TypeError),
        ("b", TypeError),
    ],
)
def test_a_measurement_is_checked_before_its_total(measurement, error):
    with pytest.raises(error, match="measurement 0"):
        estimation.MirrorDescent().estimate(DOMAIN, [measurement])


@pytest.mark.parametrize(
    "options, error",
    [
        ({"time_limit": float("nan")}, ValueError),
        ({"time_limit": -1}, ValueError),
        ({"iters": -1}, ValueError),
        ({"tol": float("nan")}, ValueError),
        ({"known_total": float("nan")}, ValueError),
        ({"domain": {"a": 4}}, TypeError),
        ({"loss_fn": LinearMeasurement([1.0, 2.0], ("b",))}, TypeError),
        ({"loss_fn": None}, TypeError),
        ({"warm_start": "yesterday's model"}, TypeError),
    ],
)
def test_impossible_options_are_said(noisy, options, error):
    given = {"domain": DOMAIN, "loss_fn": noisy} | options
    with pytest.raises(error, match="expected"):
        estimation.MirrorDescent().estimate(**given)


def test_an_unknown_attribute_is_a_key_error_too(noisy):
    model = estimation.MirrorDescent().estimate(DOMAIN, noisy)
    for error in (KeyError, ValueError):
        with pytest.raises(error, match="'z' is not an attribute"):
            model.project(("a", "z"))
    with pytest.raises(ValueError, match="from 0 to 1"):
        model.conditional("a", {"b": 2})


def test_too_large_a_model_is_refused_before_the_work():
    names = [f"x{index}" for index in range(12)]
    domain = Domain(names, [30] * 12)
    pairs = [(a, b) for index, a in enumerate(names) for b in names[:index]]
    measurements = [LinearMeasurement(np.ones(900), pair) for pair in pairs]
    began = time.monotonic()
    with pytest.raises(MemoryError, match="junction tree"):
        estimation.MirrorDescent().estimate(domain, measurements, known_total=900)
    assert time.monotonic() - began < 30
    with pytest.raises(MemoryError, match="limit of 1"):
        estimation.MirrorDescent().estimate(
            domain, measurements[:3], known_total=900, memory_limit="1 KB"
        )
    with pytest.raises(ValueError, match="memory_limit"):
        estimation.MirrorDescent().estimate(domain, measurements[:1], memory_limit="much")
    # The convex oracle never forms a table that was not measured.
    oracle = pgmbench.approximate_oracles.convex_generalized_belief_propagation
    model = estimation.MirrorDescent(oracle).estimate(
        domain, measurements, known_total=900, iters=20
    )
    np.testing.assert_allclose(model.project(pairs[0]).values, 1.0, atol=1e-6)


def large_problem() -> tuple[Domain, list[LinearMeasurement]]:
    """One whose iterations take milliseconds, and thousands of them."""
    rng = np.random.default_rng(0)
    domain = Domain(["a", "b", "c"], [600, 700, 500])
    noisy = [
        LinearMeasurement(rng.normal(size=domain.size(clique)), clique)
        for clique in (("a", "b"), ("b", "c"))
    ]
    return domain, noisy


def test_a_time_limit_gives_the_best_model_so_far():
    domain, noisy = large_problem()
    model = estimation.MirrorDescent(stepsize=1e-7).estimate(
        domain, noisy, known_total=1000, iters=10**9, time_limit=0.3
    )
    assert model.fit is not None and model.fit.reason == "stopped"
    assert model.fit.iterations < 10**6
    assert model.gap is not None and model.gap > 0


def test_threads_run_while_a_fit_does():
    domain, noisy = large_problem()
    ended = threading.Event()
    ticks: list[float] = []

    def tick() -> None:
        while not ended.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    estimation.MirrorDescent(stepsize=1e-7).estimate(
        domain, noisy, known_total=1000, iters=10**9, time_limit=1.0
    )
    took = time.monotonic() - began
    ended.set()
    thread.join()
    # With the lock held there would be none in between.
    inside = [moment for moment in ticks if began + 0.2 < moment < began + took - 0.2]
    assert len(inside) > 20


def test_fits_in_several_threads_agree(noisy):
    expected = estimation.MirrorDescent().estimate(DOMAIN, noisy)
    found: list[pgmbench.MarkovRandomField] = []
    threads = [
        threading.Thread(
            target=lambda: found.append(estimation.MirrorDescent().estimate(DOMAIN, noisy))
        )
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert all(model.potentials == expected.potentials for model in found)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("method", ["fit", "callback"])
def test_an_interrupt_ends_a_fit_at_once(method, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import sys, time
            sys.path.insert(0, {os.path.dirname(__file__)!r})
            from test_estimation import DOMAIN, LinearMeasurement, estimation, large_problem
            domain, noisy = large_problem()
            print("ready", flush=True)
            callback = (lambda marginals: time.sleep(0.01)) if {method!r} == "callback" else None
            try:
                estimation.MirrorDescent(stepsize=1e-7).estimate(
                    domain, noisy, known_total=1000, iters=10**9, callback_fn=callback)
            except KeyboardInterrupt:
                print(time.monotonic(), flush=True)
            else:
                sys.exit("no interrupt")
            small = [LinearMeasurement([1, 2, 3, 4], ("a",))]
            print(estimation.MirrorDescent().estimate(DOMAIN, small).total)
            """
        )
    )
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "ready"
    time.sleep(0.5)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    raised, total = output.split()
    assert float(raised) - sent < 1.0
    assert float(total) == 10.0
    assert process.returncode == 0


def test_a_callback_sees_marginals_and_can_end_the_fit(noisy):
    seen: list[CliqueVector] = []
    model = estimation.MirrorDescent().estimate(DOMAIN, noisy, callback_fn=seen.append)
    assert set(seen[-1].cliques) == set(CLIQUES)
    loss = marginal_loss.from_linear_measurements(noisy, DOMAIN)
    assert loss(seen[-1]) == pytest.approx(model.loss, rel=1e-3)
    for marginals in seen:
        np.testing.assert_allclose(float(marginals[("a", "b")].sum()), model.total)

    def stop(marginals: CliqueVector) -> None:
        raise StopIteration

    domain, large = large_problem()
    ended = estimation.MirrorDescent(stepsize=1e-7).estimate(
        domain, large, known_total=1000, iters=10**9, callback_fn=stop
    )
    assert ended.fit is not None and ended.fit.reason == "stopped"
    assert ended.fit.iterations < 1000


def test_an_exception_of_a_callback_reaches_the_caller(noisy):
    def fail(marginals: CliqueVector) -> None:
        raise LookupError("of the callback")

    with pytest.raises(LookupError, match="of the callback"):
        estimation.MirrorDescent().estimate(DOMAIN, noisy, callback_fn=fail)


def test_a_callback_may_use_the_engine(noisy):
    inner: list[float] = []

    def nested(marginals: CliqueVector) -> None:
        model = estimation.MirrorDescent().estimate(DOMAIN, noisy, iters=10)
        inner.append(float(model.project(("a", "d")).sum()))

    model = estimation.MirrorDescent().estimate(DOMAIN, noisy, callback_fn=nested)
    np.testing.assert_allclose(inner, model.total)


def test_default_callback_writes_a_table(noisy, data):
    lines: list[str] = []
    pgmbench.set_log_fn(lines.append)
    try:
        callback = pgmbench.callbacks.default(noisy, DOMAIN, data)
        estimation.MirrorDescent().estimate(DOMAIN, noisy, callback_fn=callback)
    finally:
        pgmbench.set_log_fn(print)
    columns = ["step", "L2 Loss", "L1 Loss", "L2 Error", "L1 Error", "Primal Feas"]
    assert callback.summary["columns"] == columns
    assert len(callback.summary["data"]) == len(lines) - 2
    assert callback.summary["data"][-1][-1] < 1e-9


def test_a_warm_start_saves_iterations(noisy):
    first = estimation.MirrorDescent().estimate(DOMAIN, noisy, iters=None)
    for start in (first, first.potentials):
        again = estimation.MirrorDescent().estimate(DOMAIN, noisy, warm_start=start, tol=1e-3)
        cold = estimation.MirrorDescent().estimate(DOMAIN, noisy, tol=1e-3)
        assert again.fit is not None and cold.fit is not None
        assert again.fit.iterations < cold.fit.iterations
        assert again.fit.reason == cold.fit.reason == "gap"
        assert again.gap is not None and again.loss is not None
        assert again.gap <= 1e-3 * max(again.loss, 1.0)


def test_constraints_are_kept(noisy):
    pair = DOMAIN.project(("d", "a"))
    zeros = Constraint(pair, invalid=np.array([[0, 1], [1, 3]]))
    model = estimation.MirrorDescent().estimate(DOMAIN, noisy, constraints=[zeros])
    table = model.project(("a", "d")).values
    assert table[1, 0] == 0 and table[3, 1] == 0 and table.sum() == pytest.approx(model.total)
    records = model.synthetic_data(1000, seed=1).project(("a", "d")).values
    assert records[1, 0] == 0 and records[3, 1] == 0
    impossible = Constraint(DOMAIN.project("a"), valid=np.zeros((0, 1), dtype=int))
    with pytest.raises(ValueError, match="exclude every record"):
        estimation.MirrorDescent().estimate(DOMAIN, noisy, constraints=[impossible])


def test_the_total_is_estimated_with_the_smallest_variance():
    measurements = [
        LinearMeasurement([10.0, 20.0], ("b",), stddev=1.0),
        LinearMeasurement([5.0, 5.0, 10.0, 20.0], ("a",), stddev=2.0),
        LinearMeasurement([99.0], ("a",), 1.0, lambda factor: factor.datavector()[:1]),
    ]
    weights = np.array([1 / 2, 1 / 16])
    expected = float(weights @ [30.0, 40.0] / weights.sum())
    assert estimation.minimum_variance_unbiased_total(measurements) == pytest.approx(expected)
    assert estimation.MirrorDescent().estimate(DOMAIN, measurements).total == pytest.approx(
        expected
    )
    assert estimation.minimum_variance_unbiased_total(measurements[2:]) == 1.0


def test_the_l1_loss_is_minimised(noisy):
    loss = marginal_loss.from_linear_measurements(noisy, DOMAIN, norm="l1")
    model = estimation.MirrorDescent().estimate(DOMAIN, loss, known_total=500)
    squared = estimation.MirrorDescent().estimate(DOMAIN, noisy, known_total=500)
    assert model.loss == pytest.approx(loss(model.marginals))
    assert model.loss < loss(squared.marginals)
    assert model.gap is not None and model.loss is not None
    assert model.gap < 1e-2 * model.loss


@pytest.mark.parametrize("with_gradient", [True, False])
def test_a_loss_of_the_users_own_is_minimised(noisy, with_gradient):
    def value(marginals: CliqueVector, scale: float) -> float:
        return scale * marginal_loss.l2_loss(marginals, noisy)

    def gradient(marginals: CliqueVector, scale: float) -> CliqueVector:
        tables = {
            item.clique: Factor(
                DOMAIN.project(item.clique),
                scale * (marginals[item.clique].datavector() - item.noisy_measurement) / 9.0,
            )
            for item in noisy
        }
        return CliqueVector(DOMAIN, CLIQUES, tables)

    loss = MarginalLossFn(CLIQUES, value, 0.5, gradient_fn=gradient if with_gradient else None)
    model = estimation.MirrorDescent().estimate(DOMAIN, loss, known_total=500, iters=300)
    expected = estimation.MirrorDescent().estimate(DOMAIN, noisy, known_total=500)
    assert expected.loss is not None
    assert model.loss == pytest.approx(0.5 * expected.loss, rel=1e-3)


def test_an_exception_of_a_loss_reaches_the_caller():
    def fail(marginals: CliqueVector, data: object) -> float:
        raise ZeroDivisionError("of the loss")

    with pytest.raises(ZeroDivisionError, match="of the loss"):
        estimation.MirrorDescent().estimate(DOMAIN, MarginalLossFn([("a",)], fail))


def test_the_likelihood_of_data_is_maximised_by_its_marginals(data):
    marginals = CliqueVector.from_projectable(data, [("a", "b"), ("b", "c")])
    loss = marginal_loss.mle_loss_fn(marginals)
    model = estimation.LBFGS().estimate(DOMAIN, loss, known_total=500)
    for clique in marginals.cliques:
        np.testing.assert_allclose(model.project(clique).values, marginals[clique].values, atol=0.1)


def test_the_same_problem_gives_the_same_bits(noisy):
    models = [estimation.MirrorDescent().estimate(DOMAIN, noisy) for _ in range(2)]
    assert models[0].potentials == models[1].potentials
    assert models[0].marginals == models[1].marginals
    records = [model.synthetic_data(seed=5).to_dict() for model in models]
    for name in DOMAIN:
        np.testing.assert_array_equal(records[0][name], records[1][name])


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_models_are_copied_and_pickled(noisy, copied):
    model = estimation.MirrorDescent().estimate(DOMAIN, noisy)
    model.project(("a", "d"))
    again = copied(model)
    assert again.fit == model.fit and again.total == model.total
    assert again.potentials == model.potentials and again.domain == DOMAIN
    np.testing.assert_allclose(
        again.project(("a", "d")).values, model.project(("a", "d")).values, rtol=1e-12
    )


def test_a_model_is_a_mapping_of_its_fields(noisy):
    model = estimation.MirrorDescent().estimate(DOMAIN, noisy)
    assert set(model) == {"potentials", "marginals", "total", "constraints"}
    assert model["total"] == model.total and len(model) == 4
    assert pgmbench.MarkovRandomField.from_tuple(model.to_tuple()).total == model.total
    assert model.replace(total=7).total == 7
    assert isinstance(model, pgmbench.Model)
    assert "gap" in repr(model) and "<table>" in model._repr_html_()


def test_nothing_measured_is_a_uniform_model():
    model = estimation.MirrorDescent().estimate(DOMAIN, [], known_total=48)
    np.testing.assert_allclose(model.project(("a", "d")).values, 6.0)
    assert model.synthetic_data(10, seed=1).records == 10


def test_an_estimator_needs_nothing_compiled(noisy):
    assert estimation.MirrorDescent().precompile(DOMAIN, noisy).result() is None


def test_the_total_alone_may_be_measured():
    total = LinearMeasurement([60.0], ())
    model = estimation.MirrorDescent().estimate(DOMAIN, [total])
    assert model.total == 60.0
    np.testing.assert_allclose(model.project("b").values, [30.0, 30.0])
    both = [total, LinearMeasurement([10.0, 30.0], ("b",))]
    model = estimation.MirrorDescent().estimate(DOMAIN, both, known_total=50)
    assert model.cliques == (("b",),)
    np.testing.assert_allclose(model.project("b").values, [15.0, 35.0], atol=1e-4)


def _fitted_total(noisy: list[LinearMeasurement]) -> float:
    return float(estimation.MirrorDescent().estimate(DOMAIN, noisy).project("a").sum())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_has_threads_of_its_own(noisy):
    expected = _fitted_total(noisy)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(_fitted_total, [noisy, noisy]).get(timeout=60)
    assert found == [expected, expected]
