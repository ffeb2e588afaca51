"""Budgets, ledgers, and the distribution of the noise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pgmbench import Dataset, Domain, estimation, privacy
from pgmbench.privacy import Budget, Guarantee, Ledger, NoiseSource


def test_a_budget_is_spent_once_and_its_ledger_verifies():
    budget = Budget(epsilon=1.0, neighbours="replace")
    select, measure = budget.rest().split(2)
    assert select.guarantee == Guarantee(epsilon=0.5)
    chosen = select.select("column", [12.0, 40.0, 7.0], 1.0, source=1)
    assert chosen in (0, 1, 2)
    noisy = measure.laplace("counts", [52, 31, 17], 2.0, source=1)
    assert noisy.scale == 4.0 and noisy.values.shape == (3,)
    ledger = budget.ledger()
    assert [entry["label"] for entry in ledger.entries] == ["column", "counts"]
    assert ledger.verify() == Guarantee(epsilon=1.0) and budget.remaining is None
    again = Ledger.from_json_lines(ledger.to_json_lines(), budget.total, "replace")
    assert again.verify() == Guarantee(epsilon=1.0)
    forged = ledger.to_json_lines().replace('"scale":4.0', '"scale":1.0')
    assert forged != ledger.to_json_lines()
    with pytest.raises(ValueError):
        Ledger.from_json_lines(forged, budget.total, "replace").verify()
    with pytest.raises(RuntimeError, match="spent"):
        measure.laplace("again", [1], 1.0)
    with pytest.raises(ValueError, match="overspent"):
        budget.spend(epsilon=0.1)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Budget(),
        lambda: Budget(epsilon=-1.0),
        lambda: Budget(epsilon=1.0, rho=1.0),
        lambda: Budget(rho=1.0, neighbours="near"),
        lambda: Budget(epsilon=1.0).rest().gaussian("x", [1], 1.0),
        lambda: Budget(rho=1.0).rest().gaussian("x", [1.5], 1.0),
        lambda: Budget(rho=1.0).rest().gaussian("x", [np.nan], 1.0),
        lambda: Budget(rho=1.0).rest().gaussian("x", [1], -1.0),
        lambda: Budget(rho=1.0).rest().gaussian("x", [1], 1.0, line="curve"),
    ],
)
def test_what_is_wrong_is_a_value_error(wrong):
    with pytest.raises(ValueError):
        wrong()


def test_a_seed_repeats_noise_and_the_operating_system_does_not():
    def draw(source: object) -> list[float]:
        return (
            Budget(rho=0.01).rest().gaussian("x", np.zeros(50), 1.0, source=source).values.tolist()
        )

    assert draw(7) == draw(7) != draw(8)
    assert draw(None) != draw(None)
    source = NoiseSource(7)
    assert draw(source) != draw(source)
    assert draw(np.random.default_rng(1)) == draw(np.random.default_rng(1))


def frequencies_agree(values: np.ndarray, mass: dict[int, float]) -> None:
    """A chi-squared test with a bound that chance exceeds once in a million."""
    n = len(values)
    cells = {k: p * n for k, p in mass.items() if p * n >= 20}
    statistic = sum(
        (np.count_nonzero(values == k) - expected) ** 2 / expected for k, expected in cells.items()
    )
    df = len(cells)
    assert statistic < df + 5 * math.sqrt(2 * df) + 15, (statistic, df)


def test_discrete_laplace_noise_has_its_distribution():
    values = Budget(epsilon=0.5).rest().laplace("x", np.zeros(40_000), 1.0, source=3).values
    ratio = math.exp(-0.5)
    frequencies_agree(
        values, {k: (1 - ratio) / (1 + ratio) * ratio ** abs(k) for k in range(-40, 41)}
    )


def test_discrete_gaussian_noise_has_its_distribution():
    noisy = Budget(rho=0.125).rest().gaussian("x", np.zeros(40_000), 1.0, source=4)
    weights = {k: math.exp(-(k**2) / (2 * noisy.scale**2)) for k in range(-40, 41)}
    total = sum(weights.values())
    assert noisy.scale == pytest.approx(2.0)
    assert noisy.stddev == pytest.approx(noisy.values.std(), rel=0.02)
    frequencies_agree(noisy.values, {k: weight / total for k, weight in weights.items()})


def test_selection_has_its_distribution():
    scores = np.array([0.0, 1.0, 2.0])
    chosen = Budget(epsilon=20_000.0).rest().select_many("x", scores, 1.0, 20_000, source=5)
    weights = np.exp(scores / 2)
    weights /= weights.sum()
    frequencies_agree(np.array(chosen), dict(enumerate(weights)))


def test_conversions_of_guarantees_bound_each_other():
    rho = privacy.rho_implying(1.0, 1e-6)
    assert privacy.epsilon_of_rho(rho, 1e-6) <= 1.0 + 1e-9
    assert privacy.epsilon_of_rho(rho * 1.01, 1e-6) > 1.0
    # The textbook's conversion is weaker.
    assert rho + 2 * math.sqrt(rho * math.log(1e6)) > 1.0


def test_marginals_are_measured_from_a_budget():
    domain = Domain(["a", "b"], [3, 2])
    data = Dataset.synthetic(domain, 10_000, seed=1)
    for budget, stddev in [
        (Budget(rho=1.0), 1.0),
        (Budget(rho=1.0, neighbours="replace"), math.sqrt(2)),
        (Budget(epsilon=1.0), math.sqrt(8)),
    ]:
        share = {"rho": 0.5} if budget.total.rho else {"epsilon": 0.5}
        noisy = [
            privacy.measure(data, clique, budget, source=2, **share)
            for clique in [("a",), ("b", "a")]
        ]
        assert budget.remaining is None and len(budget.ledger()) == 2
        assert noisy[1].clique == ("b", "a")
        assert noisy[1].stddev == pytest.approx(stddev, rel=0.05)
        model = estimation.MirrorDescent().estimate(domain, noisy)
        difference = model.project(("a", "b")).values - data.project(("a", "b")).values
        assert np.abs(difference).max() < 10 * stddev
