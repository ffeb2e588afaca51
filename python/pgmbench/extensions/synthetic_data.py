"""Synthetic records of a model."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from ..constraint import Constraint
from ..domain import Clique, Domain
from ..markov_random_field import MarkovRandomField


def synthetic_data(model: MarkovRandomField, rows: int, seed: int = 0) -> Any:
    """Records of a model; see `MarkovRandomField.synthetic_data`."""
    return model.synthetic_data(rows, seed=seed)


def precompile(
    domain: Domain, cliques: Sequence[Clique], rows: int, constraints: Sequence[Constraint] = ()
) -> Future[None]:
    """Nothing is compiled here: a future that is done."""
    future: Future[None] = Future()
    future.set_result(None)
    return future
