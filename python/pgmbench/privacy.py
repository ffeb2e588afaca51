"""Budgets that cannot be overspent, exact noise, private selection, and a ledger.

    budget = Budget(rho=0.5)
    share, rest = budget.rest().split(2)
    noisy = share.gaussian("age", counts, sensitivity=1.0)
    print(budget.ledger().verify())

Noise is sampled with integer arithmetic: no probability is rounded, and the low bits of an answer
reveal nothing. Every draw consumes a share and is written to the ledger.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._api import Projectable
from .domain import Attribute, as_clique
from .marginal_loss import LinearMeasurement

__all__ = [
    "Budget",
    "Guarantee",
    "Ledger",
    "NoiseSource",
    "Noisy",
    "Share",
    "epsilon_of_rho",
    "measure",
    "rho_implying",
]


@dataclass(frozen=True)
class Guarantee:
    """Differential privacy: pure with `epsilon`, approximate with `epsilon` and `delta`, or
    zero-concentrated with `rho`."""

    epsilon: float | None = None
    delta: float | None = None
    rho: float | None = None

    def _parameters(self) -> tuple[float | None, float | None, float | None]:
        return self.epsilon, self.delta, self.rho

    @staticmethod
    def _of(epsilon: Any, delta: Any, rho: Any) -> Guarantee:
        given = [epsilon, delta, rho]
        if isinstance(epsilon, Guarantee) and delta is None and rho is None:
            return epsilon
        if all(value is None for value in given):
            raise ValueError("expected epsilon, epsilon and delta, or rho")
        return Guarantee(*(None if value is None else float(value) for value in given))


class NoiseSource:
    """Where noise comes from.

    Args:
        seed: for experiments that are to be repeated. Without one, noise comes from the operating
            system's generator, as a release needs it.
    """

    def __init__(self, seed: int | str | np.random.Generator | None = None) -> None:
        if isinstance(seed, np.random.Generator):
            seed = int(seed.integers(0, 2**63 - 1))
        self.is_seeded = seed is not None
        self._engine = _core.NoiseSource(None if seed is None else str(seed))


def _source(source: NoiseSource | int | str | np.random.Generator | None) -> _core.NoiseSource:
    if not isinstance(source, NoiseSource):
        source = NoiseSource(source)
    return source._engine


@dataclass(frozen=True)
class Noisy:
    """Noisy answers.

    Attributes:
        values: the answers, in the shape in which they were passed.
        scale: b of Laplace noise, sigma of Gaussian noise.
        stddev: the standard deviation of the noise on each answer.
    """

    values: npt.NDArray[np.float64]
    scale: float
    stddev: float


class Share:
    """A part of a budget. One draw consumes it; a second one is a RuntimeError."""

    def __init__(self, engine: _core.Share) -> None:
        self._engine = engine

    @property
    def guarantee(self) -> Guarantee:
        """What a draw from the share guarantees."""
        return Guarantee(*self._engine.guarantee)

    def split(self, parts: int | Sequence[float]) -> list[Share]:
        """Shares that add up to this one: a number of equal ones, or one per weight."""
        weights = [1.0] * parts if isinstance(parts, int) else [float(each) for each in parts]
        return [Share(engine) for engine in self._engine.split(weights)]

    def parallel(self, parts: int) -> list[Share]:
        """A share for each of several disjoint parts of the records."""
        return [Share(engine) for engine in self._engine.parallel(parts)]

    def laplace(
        self,
        label: str,
        answers: npt.ArrayLike,
        sensitivity: float,
        *,
        line: str = "integers",
        source: Any = None,
    ) -> Noisy:
        """Adds Laplace noise.

        Args:
            label: what the ledger calls the draw.
            answers: the exact answers.
            sensitivity: how much they differ at most between neighbours, in the L1 norm.
            line: "integers" for counts; "grid" for real answers, rounded to a fine grid;
                "continuous" for floating-point noise, which is not for releases.
            source: a NoiseSource or a seed; default: the operating system.
        """
        return self._draw(False, label, answers, sensitivity, line, source)

    def gaussian(
        self,
        label: str,
        answers: npt.ArrayLike,
        sensitivity: float,
        *,
        line: str = "integers",
        source: Any = None,
    ) -> Noisy:
        """Adds Gaussian noise; the sensitivity is in the L2 norm. See `laplace`."""
        return self._draw(True, label, answers, sensitivity, line, source)

    def _draw(
        self, gaussian: bool, label: str, answers: Any, sensitivity: float, line: str, source: Any
    ) -> Noisy:
        exact = np.asarray(answers, dtype=np.float64)
        drawn = self._engine.draw(
            gaussian, label, exact.reshape(-1), float(sensitivity), line, _source(source)
        )
        return Noisy(drawn[0].reshape(exact.shape), drawn[1], drawn[2])

    def select(
        self,
        label: str,
        scores: npt.ArrayLike,
        sensitivity: float,
        *,
        monotone: bool = False,
        source: Any = None,
    ) -> int:
        """The position of one of the highest scores, by the exponential mechanism.

        Args:
            label: what the ledger calls the draw.
            scores: a score per candidate.
            sensitivity: how much a score differs at most between neighbours.
            monotone: whether adding a record never lowers a score, or never raises one.
            source: a NoiseSource or a seed; default: the operating system.
        """
        return self.select_many(label, scores, sensitivity, 1, monotone=monotone, source=source)[0]

    def select_many(
        self,
        label: str,
        scores: npt.ArrayLike,
        sensitivity: float,
        count: int,
        *,
        monotone: bool = False,
        source: Any = None,
    ) -> list[int]:
        """Several independent selections, with an equal part of the share each."""
        exact = np.asarray(scores, dtype=np.float64).reshape(-1)
        return self._engine.select(
            label, exact, float(sensitivity), monotone, count, _source(source)
        )

    def __repr__(self) -> str:
        return f"Share({self.guarantee})"


class Budget:
    """What may be spent: `Budget(epsilon=1)`, `Budget(epsilon=1, delta=1e-6)` or `Budget(rho=0.5)`.

    Args:
        epsilon, delta, rho: the guarantee of everything that is drawn together.
        neighbours: "add-remove" for tables that differ by one more record, "replace" for tables
            that differ in one record.
    """

    def __init__(
        self,
        epsilon: float | Guarantee | None = None,
        delta: float | None = None,
        *,
        rho: float | None = None,
        neighbours: str = "add-remove",
    ) -> None:
        total = Guarantee._of(epsilon, delta, rho)
        self.neighbours = neighbours
        self._engine = _core.Budget(total._parameters(), neighbours)

    def spend(
        self,
        epsilon: float | Guarantee | None = None,
        delta: float | None = None,
        *,
        rho: float | None = None,
    ) -> Share:
        """A share of the budget; ValueError if it has less left."""
        return Share(self._engine.spend(Guarantee._of(epsilon, delta, rho)._parameters()))

    def rest(self) -> Share:
        """All that is left."""
        return Share(self._engine.rest())

    @property
    def total(self) -> Guarantee:
        """The guarantee of all draws together."""
        return Guarantee(*self._engine.total)

    @property
    def remaining(self) -> Guarantee | None:
        """What is left; None if nothing is."""
        left = self._engine.remaining
        return None if left is None else Guarantee(*left)

    def ledger(self) -> Ledger:
        """The draws so far."""
        return Ledger(self._engine.ledger(), self.total)

    def __repr__(self) -> str:
        return f"Budget({self.total}, remaining {self.remaining})"


class Ledger:
    """A list of draws and what each cost, which can be verified."""

    def __init__(self, engine: _core.Ledger, total: Guarantee) -> None:
        self._engine = engine
        self.total = total

    @property
    def entries(self) -> list[dict[str, Any]]:
        """One dictionary per draw."""
        return [json.loads(line) for line in self.to_json_lines().splitlines()]

    def to_json_lines(self) -> str:
        """One JSON object per draw and line."""
        return self._engine.json_lines()

    @staticmethod
    def from_json_lines(text: str, total: Guarantee, neighbours: str = "add-remove") -> Ledger:
        """The ledger that `to_json_lines` wrote, of a budget with this total."""
        return Ledger(_core.Ledger.read(text, total._parameters(), neighbours), total)

    def verify(self) -> Guarantee | None:
        """Recomputes the cost of every draw and of all together.

        Returns what was spent, or None if nothing was. ValueError if an entry is wrong or the
        draws exceed the total.
        """
        spent = self._engine.verify(self.total._parameters())
        return None if spent is None else Guarantee(*spent)

    def __len__(self) -> int:
        return len(self.entries)


def measure(
    data: Projectable,
    clique: Attribute | Sequence[Attribute],
    share: Share | Budget | None = None,
    *,
    rho: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    source: Any = None,
) -> LinearMeasurement:
    """Measures one marginal of data with exact noise, as `estimate` takes it.

    One record changes one count by one, so that the sensitivity is 1; where records are replaced,
    two counts change, and it is 2 in the L1 and sqrt(2) in the L2 norm.

    Args:
        data: the records.
        clique: the attributes of the marginal.
        share: a share to consume, or a budget to spend `rho` or `epsilon` of. Without either, the
            measurement has a budget of its own, and nothing adds up what several cost together.
        rho: Gaussian noise with this zCDP.
        epsilon: Laplace noise with this epsilon; with `delta`, Gaussian noise.
        delta: see `epsilon`.
        source: a NoiseSource or a seed; default: the operating system.
    """
    clique = as_clique(clique)
    neighbours = "add-remove"
    if isinstance(share, Budget):
        neighbours = share.neighbours
        share = share.spend(epsilon, delta, rho=rho)
    elif share is None:
        share = Budget(epsilon, delta, rho=rho).rest()
    guarantee = share.guarantee
    counts = data.project(clique).datavector()
    label = " x ".join(str(name) for name in clique)
    replaced = neighbours == "replace"
    if guarantee.rho is None and guarantee.delta is None:
        noisy = share.laplace(label, counts, 2.0 if replaced else 1.0, source=source)
    else:
        sensitivity = float(np.nextafter(np.sqrt(2.0), 2.0)) if replaced else 1.0
        noisy = share.gaussian(label, counts, sensitivity, source=source)
    return LinearMeasurement(noisy.values, clique, noisy.stddev)


def rho_implying(epsilon: float, delta: float) -> float:
    """The largest rho whose zero-concentrated privacy implies (epsilon, delta)."""
    return _core.rho_implying(epsilon, delta)


def epsilon_of_rho(rho: float, delta: float) -> float:
    """The epsilon that rho-zero-concentrated privacy gives at this delta."""
    return _core.epsilon_of_rho(rho, delta)
