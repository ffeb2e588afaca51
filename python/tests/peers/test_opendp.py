"""`pgmbench.mbi` as the estimator of OpenDP 0.16's AIM, MST and Fixed, which come with mbi 1.1.

Each mechanism runs for real. In every step both estimators receive the measurements of that step.
"""

import functools
import importlib
import importlib.metadata
import time

import numpy as np
import pytest

mbi = pytest.importorskip("mbi")
dp = pytest.importorskip("opendp.prelude")
if not importlib.metadata.version("mbi").startswith("1.1"):
    pytest.skip("for mbi 1.1", allow_module_level=True)

import polars as pl
from problems import check_ours, cycle, loss

import pgmbench.mbi

# mbi 1.1 computes in single precision unless told otherwise, and so does OpenDP.
SINGLE = 1e-4

dp.enable_features("contrib")


def frame(records=5000):
    random = np.random.default_rng(20190609)
    sex = random.integers(0, 2, records)
    age = np.clip(random.normal(40 + 5 * sex, 15, records), 15, 90).astype(int)
    hours = np.clip(random.normal(38 - 6 * (age > 60), 8, records), 0, 80).astype(int)
    status = (random.random(records) < 0.2 + 0.4 * (age > 60)).astype(int) + 2 * (hours > 50)
    return pl.DataFrame({"sex": sex, "age": age, "hours": hours, "status": status}).lazy()


def release(algorithm, rho=0.2):
    context = dp.Context.compositor(
        data=frame(), privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(rho=rho)
    )
    query = context.query(rho=rho).contingency_table(
        keys={"sex": [0, 1], "status": [0, 1, 2, 3]},
        cuts={"age": [20, 30, 40, 50, 60, 70], "hours": [10, 20, 30, 40, 50]},
        algorithm=algorithm,
    )
    return query.release()


class Both:
    """An estimator that runs both sides and keeps what they returned."""

    def __init__(self):
        self.steps, self.seconds = [], [0.0, 0.0]

    def __call__(self, domain, measurements, *, potentials=None):
        models = []
        for i, estimate in enumerate((pgmbench.mbi.mirror_descent, mbi.estimation.mirror_descent)):
            started = time.perf_counter()
            models.append(estimate(domain, measurements, potentials=potentials))
            self.seconds[i] += time.perf_counter() - started
        self.steps.append((list(measurements), *models))
        return models[0]


@pytest.mark.parametrize("name", ["AIM", "MST", "Fixed"])
def test_our_loss_is_at_most_theirs_in_every_step(name):
    both = Both()
    settings = {
        "AIM": lambda: dp.mbi.AIM(estimator=both, queries=2, rounds=2),
        "MST": lambda: dp.mbi.MST(estimator=both),
        "Fixed": lambda: dp.mbi.Fixed(
            estimator=both, queries=[dp.mbi.Count(("sex", "age")), dp.mbi.Count(("age", "hours"))]
        ),
    }[name]()
    table = release(settings)
    assert both.steps
    for measurements, ours, theirs in both.steps:
        assert isinstance(ours, mbi.MarkovRandomField)
        assert float(ours.total) == pytest.approx(float(theirs.total), rel=1e-6)
        check_ours(ours, theirs, measurements, rounding=SINGLE)
    ratio = both.seconds[1] / both.seconds[0]
    print(
        f"\n{name}: {len(both.steps)} estimates, ours {both.seconds[0]:.2f} s, "
        f"{ratio:.0f} times as fast as mbi's"
    )
    shape = len(table.keys["sex"]), len(table.keys["age"])
    assert table.project(["sex", "age"]).shape == shape
    assert table.project_melted(["sex", "age"]).height == shape[0] * shape[1]
    assert table.std(["sex"]) > 0


def test_one_argument_is_enough():
    table = release(dp.mbi.AIM(estimator=pgmbench.mbi.mirror_descent, queries=2, rounds=2))
    assert abs(float(np.sum(table.project(["sex"]))) - 5000) < 500
    assert table.model.fitted.gap >= 0
    pytest.importorskip("pandas")  # mbi 1.1 hands records to OpenDP in a pandas frame
    assert table.synthesize(1000).shape == (1000, 4)


def test_the_partial_queries_of_opendp_are_linear():
    SelectPrefixQuery = importlib.import_module("opendp.extras.mbi._utilities").SelectPrefixQuery
    domain, measurements = cycle(mbi)
    prefix = SelectPrefixQuery(7)
    kept = np.asarray(measurements[0].noisy_measurement)[:7]
    measurements[0] = mbi.LinearMeasurement(kept, ("a", "b"), stddev=15.0, query=prefix)
    ours = pgmbench.mbi.mirror_descent(domain, measurements, known_total=3000.0)
    theirs = mbi.estimation.mirror_descent(domain, measurements, known_total=3000.0)
    check_ours(ours, theirs, measurements, rounding=SINGLE)


def test_the_total_may_be_a_measurement():
    domain, measurements = cycle(mbi)
    measurements.append(mbi.LinearMeasurement(np.array([2900.0]), (), stddev=5.0))
    ours = pgmbench.mbi.mirror_descent(domain, measurements)
    assert float(ours.total) == pytest.approx(
        mbi.estimation.minimum_variance_unbiased_total(measurements)
    )
    assert loss(ours, measurements) < np.inf


@pytest.mark.parametrize("name", ["mirror_descent", "dual_averaging", "interior_gradient", "lbfgs"])
def test_functions_of_mbi_1(name):
    domain, measurements = cycle(mbi)
    ours = getattr(pgmbench.mbi, name)(domain, measurements)
    # One of mbi's is enough for all of ours: the loss has one minimum, the others compile longer.
    check_ours(ours, theirs_of_cycle(), measurements, rounding=SINGLE)
    assert isinstance(ours.cliques, list), "OpenDP's AIM appends to the cliques of a model"


@functools.cache
def theirs_of_cycle():
    return mbi.estimation.mirror_descent(*cycle(mbi))


def test_potentials_of_other_cliques_are_a_start():
    domain, measurements = cycle(mbi)
    wide = mbi.CliqueVector.random(domain, [("a", "b", "c"), ("c", "d"), ("d", "e"), ("e", "a")])
    ours = pgmbench.mbi.mirror_descent(domain, measurements, known_total=3000.0, potentials=wide)
    cold = pgmbench.mbi.mirror_descent(domain, measurements, known_total=3000.0)
    assert loss(ours, measurements) <= loss(cold, measurements) * (1 + SINGLE)
