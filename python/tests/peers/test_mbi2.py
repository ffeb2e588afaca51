"""`pgmbench.mbi` in programs on mbi 2.0: both estimators run for real, on the same measurements."""

import copy
import importlib
import importlib.metadata
import os
import pickle
import time

import numpy as np
import pytest

os.environ.setdefault("JAX_ENABLE_X64", "1")
mbi = pytest.importorskip("mbi")
if not importlib.metadata.version("mbi").startswith("2."):
    pytest.skip("for mbi 2", allow_module_level=True)

from problems import chain, check_ours, cycle, loss, residuals

import pgmbench.mbi

ESTIMATORS = [
    "MirrorDescent",
    "DualAveraging",
    "InteriorGradient",
    "LBFGS",
    "UniversalAcceleratedMethod",
]


@pytest.mark.parametrize(
    ("name", "make"), [(name, cycle) for name in ESTIMATORS] + [("MirrorDescent", chain)]
)
def test_our_loss_is_at_most_theirs(name, make):
    domain, measurements = make(mbi)
    seconds = []
    models = []
    for module in (pgmbench.mbi, mbi.estimation):
        started = time.perf_counter()
        models.append(getattr(module, name)().estimate(domain, measurements))
        seconds.append(time.perf_counter() - started)
    ours, theirs = models
    assert isinstance(ours, mbi.MarkovRandomField)
    assert float(ours.total) == pytest.approx(float(theirs.total))
    assert set(ours.cliques) == set(theirs.cliques)
    our_loss, their_loss = check_ours(ours, theirs, measurements)
    ratio = seconds[1] / seconds[0]
    print(
        f"\n{name} on a {make.__name__}: loss {our_loss:.6f} and mbi's {their_loss:.6f}, "
        f"{ratio:.0f} times as fast"
    )


def test_inference_of_the_model_is_mbis():
    domain, measurements = cycle(mbi)
    model = pgmbench.mbi.MirrorDescent().estimate(domain, measurements)
    plain = mbi.MarkovRandomField(
        potentials=model.potentials, marginals=model.marginals, total=model.total
    )
    for attrs in ["a", ("d", "b"), ("a", "c", "e"), ("b", "a")]:
        ours, theirs = model.project(attrs), plain.project(attrs)
        assert isinstance(ours, mbi.Factor) and ours.domain == theirs.domain
        np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-6, atol=1e-6)
    assert model.supports("a") and not model.supports("z")
    data = model.synthetic_data(4000)
    assert isinstance(data, mbi.Dataset) and data.records == 4000 and data.domain == domain
    expected = np.asarray(model.project(("a", "b")).datavector()) * 4000 / float(model.total)
    assert np.all(
        np.abs(data.project(("a", "b")).datavector() - expected) <= 6 * np.sqrt(expected) + 6
    )


def test_records_follow_numpys_seed():
    domain, measurements = cycle(mbi)
    model = pgmbench.mbi.MirrorDescent().estimate(domain, measurements)
    drawn = []
    for seed in (1, 1, 2):
        np.random.seed(seed)
        drawn.append(np.stack(list(model.synthetic_data(200, "sample").to_dict().values())))
    assert np.array_equal(drawn[0], drawn[1]) and not np.array_equal(drawn[0], drawn[2])


def test_the_certificate_comes_along():
    domain, measurements = cycle(mbi)
    model = pgmbench.mbi.MirrorDescent().estimate(domain, measurements)
    assert model.fitted.loss == pytest.approx(loss(model, measurements), rel=1e-6)
    assert 0 <= model.fitted.gap <= 0.01 * model.fitted.loss


def test_copies_files_and_pytrees(tmp_path):
    domain, measurements = cycle(mbi)
    model = pgmbench.mbi.MirrorDescent().estimate(domain, measurements)
    mbi.save(model, tmp_path / "model.npz")
    copies = [
        mbi.load(tmp_path / "model.npz"),
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
    ]
    for again in copies:
        assert isinstance(again, mbi.MarkovRandomField)
        np.testing.assert_allclose(
            again.project(("a", "d")).values, model.project(("a", "d")).values, rtol=1e-6
        )


def test_a_warm_start_is_mbis_model_or_potentials():
    domain, measurements = cycle(mbi)
    first = mbi.estimation.MirrorDescent().estimate(domain, measurements[:3], 3000.0, iters=100)
    cold = pgmbench.mbi.MirrorDescent().estimate(domain, measurements, 3000.0)
    for start in (first, first.potentials):
        warm = pgmbench.mbi.MirrorDescent().estimate(domain, measurements, 3000.0, warm_start=start)
        assert loss(warm, measurements) <= loss(cold, measurements) + warm.fitted.gap + 1e-9


def test_the_model_is_a_warm_start_of_mbi():
    domain, measurements = cycle(mbi)
    ours = pgmbench.mbi.MirrorDescent().estimate(domain, measurements, 3000.0)
    theirs = mbi.estimation.MirrorDescent().estimate(
        domain, measurements, 3000.0, warm_start=ours, iters=50
    )
    assert loss(theirs, measurements) <= loss(ours, measurements) * (1 + 1e-6)


def test_a_loss_of_measurements_is_taken_and_l1_too():
    domain, measurements = cycle(mbi)
    make = mbi.marginal_loss.from_linear_measurements
    ours = pgmbench.mbi.MirrorDescent().estimate(domain, make(measurements, domain), 3000.0)
    check_ours(
        ours, mbi.estimation.MirrorDescent().estimate(domain, measurements, 3000.0), measurements
    )
    l1 = pgmbench.mbi.MirrorDescent().estimate(
        domain, make(measurements, domain, norm="l1"), 3000.0
    )
    theirs = mbi.estimation.MirrorDescent().estimate(
        domain, make(measurements, domain, norm="l1"), 3000.0
    )
    assert np.abs(residuals(l1, measurements)).sum() <= np.abs(
        residuals(theirs, measurements)
    ).sum() * (1 + 1e-6)


def test_callbacks_receive_mbis_marginals():
    domain, measurements = cycle(mbi)
    seen = []
    pgmbench.mbi.MirrorDescent().estimate(domain, measurements, 3000.0, callback_fn=seen.append)
    assert seen and all(isinstance(mu, mbi.CliqueVector) for mu in seen)
    assert float(seen[-1].project(("a",)).sum()) == pytest.approx(3000.0)


def test_constraints_are_mbis():
    domain, measurements = cycle(mbi)
    forbidden = mbi.Constraint(domain.project(["a", "b"]), invalid=np.array([[0, 0], [2, 3]]))
    ours = pgmbench.mbi.MirrorDescent().estimate(domain, measurements, 3000.0, [forbidden])
    theirs = mbi.estimation.MirrorDescent().estimate(domain, measurements, 3000.0, [forbidden])
    table = np.asarray(ours.project(("a", "b")).values)
    assert table[0, 0] == 0 and table[2, 3] == 0
    assert loss(ours, measurements) <= loss(theirs, measurements) * (1 + 1e-6)
    assert ours.constraints == (forbidden,)


@pytest.mark.parametrize("query", ["weighted", "sliced", "matrix", "jax", "own factor operations"])
def test_queries_are_mbis(query):
    jnp = importlib.import_module("jax.numpy")
    domain, measurements = cycle(mbi)
    matrix = np.tril(np.ones((12, 12)))
    chosen = {
        "weighted": mbi.WeightedQuery(np.linspace(0.5, 2.0, 12)),
        "sliced": mbi.SlicedQuery(2),
        "matrix": lambda f: matrix @ f.datavector(),
        "jax": lambda f: jnp.cumsum(f.datavector())[::2],
        "own factor operations": lambda f: f.project("b").datavector(),
    }[query]
    table = mbi.Factor(
        domain.project(("a", "b")), np.asarray(measurements[0].noisy_measurement).reshape(3, 4)
    )
    measurements[0] = mbi.LinearMeasurement(
        np.asarray(chosen(table)), ("a", "b"), stddev=15.0, query=chosen
    )
    ours = pgmbench.mbi.MirrorDescent().estimate(domain, measurements, 3000.0)
    theirs = mbi.estimation.MirrorDescent().estimate(domain, measurements, 3000.0)
    check_ours(ours, theirs, measurements)


def test_a_query_that_is_not_linear_is_refused():
    domain, measurements = cycle(mbi)
    measurements[0] = mbi.LinearMeasurement(
        np.zeros(12), ("a", "b"), query=lambda f: f.datavector() ** 2
    )
    with pytest.raises(ValueError, match="linear"):
        pgmbench.mbi.MirrorDescent().estimate(domain, measurements, 3000.0)


def test_a_setting_without_effect_is_said():
    domain, measurements = cycle(mbi)
    oracle = mbi.marginal_oracles.message_passing_fast
    with pytest.warns(UserWarning, match="marginal_oracle"):
        pgmbench.mbi.MirrorDescent(marginal_oracle=oracle).estimate(domain, measurements, 3000.0)


def test_any_other_loss_is_differentiated_by_jax():
    jnp = importlib.import_module("jax.numpy")
    domain, measurements = cycle(mbi)
    cliques = [m.clique for m in measurements[:5]]
    data = {m.clique: np.asarray(m.noisy_measurement) for m in measurements[:5]}

    def smooth_l1(mu, data):
        return sum(jnp.sum(jnp.sqrt(1 + (mu[cl].datavector() - data[cl]) ** 2)) for cl in cliques)

    custom = mbi.MarginalLossFn(cliques, smooth_l1, data)
    ours = pgmbench.mbi.MirrorDescent().estimate(domain, custom, 3000.0)
    theirs = mbi.estimation.MirrorDescent().estimate(domain, custom, 3000.0)
    assert float(custom(ours.marginals)) <= float(custom(theirs.marginals)) * (1 + 1e-6)


def test_no_measurements_give_the_uniform_model():
    domain, _ = cycle(mbi)
    model = pgmbench.mbi.MirrorDescent().estimate(domain, [], 360.0)
    np.testing.assert_allclose(model.project(("a",)).values, [120.0] * 3)
