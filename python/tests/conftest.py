"""What several tests share."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pgmbench
from pgmbench import CliqueVector, Domain


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def random_domain(rng: np.random.Generator, attributes: int = 5) -> Domain:
    """A small domain, in an order that is not that of the sizes."""
    names = [chr(ord("a") + index) for index in range(attributes)]
    return Domain(names, rng.integers(1, 5, size=attributes).tolist())


def random_potentials(rng: np.random.Generator, domain: Domain) -> CliqueVector:
    """Potentials on some random cliques with their attributes in random order."""
    count = int(rng.integers(1, 5))
    cliques = {}
    for _ in range(count):
        size = int(rng.integers(1, min(4, len(domain) + 1)))
        chosen = rng.choice(len(domain), size=size, replace=False)
        clique = tuple(domain.attributes[index] for index in chosen)
        cliques[frozenset(clique)] = clique
    vector = CliqueVector.random(domain, list(cliques.values()), rng)
    return vector * 4.0


def joint(potentials: CliqueVector, total: float = 1.0) -> np.ndarray:
    """The whole table, cell by cell and without any of our code."""
    domain = potentials.domain
    table = np.zeros(domain.shape)
    for cell in itertools.product(*(range(size) for size in domain.shape)):
        values = dict(zip(domain.attributes, cell))
        table[cell] = sum(
            potentials.tables[clique].values[tuple(values[name] for name in clique)]
            for clique in potentials.cliques
        )
    table = np.exp(table - table.max())
    return table * (total / table.sum())


def marginal(table: np.ndarray, domain: Domain, clique: tuple) -> np.ndarray:
    """A marginal of the whole table."""
    kept = [domain.attributes.index(name) for name in clique]
    others = tuple(axis for axis in range(table.ndim) if axis not in kept)
    have = sorted(kept)
    return np.transpose(table.sum(axis=others), [have.index(axis) for axis in kept])


def measured(
    data: pgmbench.Dataset, cliques: list[tuple], rng: np.random.Generator, stddev: float = 3.0
) -> list[pgmbench.LinearMeasurement]:
    """Noisy marginals."""
    noisy = []
    for clique in cliques:
        counts = data.project(clique).datavector()
        noise = rng.normal(scale=stddev, size=counts.size)
        noisy.append(pgmbench.LinearMeasurement(counts + noise, clique, stddev))
    return noisy
