"""Variances and intervals: what they are, how often they cover the truth, and where there are
none."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import pgmbench
from pgmbench import (
    CliqueVector,
    Constraint,
    Dataset,
    Domain,
    KroneckerQuery,
    LinearMeasurement,
    MarginalLossFn,
    MarkovRandomField,
    approximate_oracles,
    estimation,
    marginal_loss,
)

DOMAIN = Domain(["a", "b", "c"], [3, 2, 4])
CLIQUES: list[tuple] = [("a", "b"), ("c", "b")]
STDDEV = 4.0
DATA = Dataset.synthetic(DOMAIN, 1200, seed=3)
WANTED: list[tuple] = [("a", "b"), ("b", "c"), ("c",)]


def noisy(seed: int, cliques: list[tuple] = CLIQUES) -> list[LinearMeasurement]:
    rng = np.random.default_rng(seed)
    exact = [DATA.project(clique).datavector() for clique in cliques]
    return [
        LinearMeasurement(counts + rng.normal(scale=STDDEV, size=counts.size), clique, STDDEV)
        for counts, clique in zip(exact, cliques)
    ]


def fitted(seed: int = 0, known_total: float | None = None, **options) -> MarkovRandomField:
    return estimation.MirrorDescent().estimate(DOMAIN, noisy(seed), known_total, **options)


@pytest.mark.parametrize("total", [None, 1200.0])
@pytest.mark.parametrize("method", ["bootstrap", "residuals"])
def test_intervals_cover_the_truth_as_often_as_they_claim(method, total):
    covered, outside, trials = 0, 0, 100
    for seed in range(trials):
        model = fitted(seed, total)
        for clique in WANTED:
            truth = DATA.project(clique).values
            low, high = model.interval(clique, 0.9, method=method, replicates=40)
            covered += int(np.sum((low.values <= truth) & (truth <= high.values)))
            outside += int(np.sum((low.values > truth) | (truth > high.values)))
    # Cells of one trial depend on each other: at worst these are as few trials as there are seeds.
    # Three standard deviations of 100 trials are 9 %; of 1,800 cells 2 %.
    coverage = covered / (covered + outside)
    assert 0.86 < coverage < 0.94, coverage


def test_the_variance_of_residuals_is_that_of_the_unbiased_estimate():
    # The means of two independent measurements of one marginal have half the variance.
    twice = noisy(0, [("a",), ("a",)])
    model = estimation.MirrorDescent().estimate(DOMAIN, twice)
    found = model.variance("a", method="residuals")
    np.testing.assert_allclose(found.values, STDDEV**2 / 2)
    # With a known total, the mean of the three counts has no error.
    model = estimation.MirrorDescent().estimate(DOMAIN, twice[:1], known_total=1200)
    found = model.variance("a", method="residuals")
    np.testing.assert_allclose(found.values, STDDEV**2 * (1 - 1 / 3))
    assert model.variance((), method="residuals").values == pytest.approx(0.0, abs=1e-9)


def test_the_bootstrap_has_the_spread_of_fits_to_new_noise():
    fits = [fitted(seed) for seed in range(200)]
    for clique in WANTED:
        counts = np.array([model.project(clique).values for model in fits])
        expected = np.mean(np.square(counts - DATA.project(clique).values), axis=0)
        variances = [model.variance(clique, seed=at) for at, model in enumerate(fits[:5])]
        found = np.mean([variance.values for variance in variances], axis=0)
        # Of 200 fits and of 500 replicates: 10 % and 6 % of a variance, four times both.
        np.testing.assert_allclose(found, expected, rtol=0.47)
        assert np.mean(found / expected) == pytest.approx(1.0, abs=0.2)


def test_many_variances_are_those_of_one_after_the_other():
    model = fitted()
    many = model.variance_many([*WANTED, "a"], seed=4)
    assert many.cliques == (*WANTED, ("a",))
    for clique in many.cliques:
        np.testing.assert_array_equal(many[clique].values, model.variance(clique, seed=4).values)
    transposed = model.variance(("b", "a"), seed=4)
    np.testing.assert_array_equal(transposed.values, many["a", "b"].values.T)
    again = [model.variance("c", seed=np.random.default_rng(7)).values for _ in range(2)]
    np.testing.assert_array_equal(again[0], again[1])
    assert np.any(model.variance("c", seed=1).values != model.variance("c", seed=2).values)


def test_an_interval_has_the_variance_around_the_count():
    model = fitted(known_total=1200)
    low, high = model.interval("c", confidence=0.6826894921370859)
    errors = np.sqrt(model.variance("c").values)
    np.testing.assert_allclose(low.values, model.project("c").values - errors)
    np.testing.assert_allclose(high.values, model.project("c").values + errors)
    # Counts are not negative, and not above the known total.
    low, high = model.interval("c", confidence=1 - 1e-9, replicates=2)
    assert np.all(low.values >= 0) and np.all(high.values <= 1200)
    assert model.variance(()).values == pytest.approx(0.0, abs=1e-12)
    assert fitted().variance(()).values > 1.0


def test_zeros_stay_without_error():
    impossible = Constraint(DOMAIN.project(("a", "b")), invalid=np.array([[0, 1]]))
    errors = fitted(constraints=[impossible]).variance(("a", "b")).values
    assert errors[0, 1] == 0 and np.all(np.delete(errors.ravel(), 1) > 0)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_copies_and_files_have_the_same_errors(norm, tmp_path):
    loss = marginal_loss.from_linear_measurements(noisy(0), DOMAIN, norm=norm)
    model = estimation.MirrorDescent().estimate(DOMAIN, loss, known_total=1200)
    expected = model.variance("c", replicates=10).values
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_allclose(again.variance("c", replicates=10).values, expected, rtol=1e-2)
    pgmbench.save(model, tmp_path / "model")
    read = pgmbench.load(tmp_path / "model")
    with pytest.raises(ValueError, match="measurements="):
        read.variance("c")
    found = read.variance("c", replicates=10, measurements=noisy(0)).values
    np.testing.assert_allclose(found, expected, rtol=1e-2)


def test_a_model_of_the_users_own_has_errors_with_measurements():
    potentials = CliqueVector.zeros(DOMAIN, CLIQUES)
    model = MarkovRandomField(potentials, potentials, 1200.0)
    with pytest.raises(ValueError, match="measurements="):
        model.interval("a")
    errors = model.variance("a", measurements=noisy(0), known_total=1200).values
    assert np.all(errors > 1)


def test_where_an_error_cannot_be_known_it_is_said():
    model = fitted()
    for wrong, message in [
        (lambda: model.variance("z"), "'z' is not an attribute"),
        (lambda: model.variance("a", method="exact"), '"bootstrap" or "residuals"'),
        (lambda: model.variance(("a", "c"), method="residuals"), "a, c.*not inside a marginal"),
        (lambda: model.variance("a", replicates=0), "at least 1"),
        (lambda: model.variance("a", known_total=10), "the model has 1"),
        (lambda: model.interval("a", 95), "between 0 and 1"),
        (lambda: model.interval("a", 1.0), "between 0 and 1"),
        (lambda: model.replace(total=10).variance("a", known_total=1200), "the model has 10"),
    ]:
        with pytest.raises(ValueError, match=message):
            wrong()
    with pytest.raises(TimeoutError, match="in time"):
        model.variance("a", time_limit=0)
    with pytest.raises(MemoryError):
        model.variance("a", memory_limit=10)
    prefix = LinearMeasurement(np.ones(3), ("a",), 1.0, KroneckerQuery(["prefix"]))
    model = estimation.MirrorDescent().estimate(DOMAIN, [prefix], known_total=3)
    with pytest.raises(ValueError, match="prefix"):
        model.variance("a", method="residuals")
    assert np.all(model.variance("a").values > 0)


def test_losses_and_oracles_without_known_errors_are_refused():
    oracle = approximate_oracles.convex_generalized_belief_propagation
    model = estimation.MirrorDescent(oracle).estimate(DOMAIN, noisy(0))
    with pytest.raises(ValueError, match="convex oracle"):
        model.variance("a")
    own = MarginalLossFn([("a",)], lambda marginals, _: float(marginals["a",].values[0]))
    model = estimation.MirrorDescent().estimate(DOMAIN, own, known_total=5)
    with pytest.raises(ValueError, match="loss of your own"):
        model.variance("a")


def test_totals_come_from_queries_that_determine_them():
    answers = np.cumsum(DATA.project("c").values)
    prefix = LinearMeasurement(answers, ("c",), 1.0, KroneckerQuery(["prefix"]))
    model = estimation.MirrorDescent().estimate(DOMAIN, [prefix])
    assert model.total == pytest.approx(1200)
    # The last prefix is the total.
    assert model.variance(()).values == pytest.approx(1.0, abs=0.5)
