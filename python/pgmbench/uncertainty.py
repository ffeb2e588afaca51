"""How far marginals of a model may be from the truth because of the noise.

Two answers, both about noise alone. A marginal of attributes that were not measured together
follows from the independences of the model, whose bias no measurement shows.

- "bootstrap": the error of the model itself. The measurements are simulated from the model with
  their noise, a model is fitted to each simulation, and the error of a count is the root mean
  square of its deviations. An approximation, because the truth is not the model: nominal 95 %
  intervals cover 92 to 95 % of counts above the noise, and fewer of small counts among many empty
  cells. Noise is simulated as Gaussian whatever its kind.
- "residuals": the error of the unbiased estimate, which is another one: its variance is exact, but
  larger, as it does not know that counts are not negative. Its intervals cover the truth as often
  as they claim if the noise is Gaussian, and are not always around the model's answer. Only for
  attributes inside a marginal whose cells were all measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from . import _core
from .constraint import zeros_of
from .domain import Clique, as_clique
from .factor import Factor
from .limits import memory_in_bytes
from .marginal_loss import LinearMeasurement
from .queries import measure_all

if TYPE_CHECKING:
    from .markov_random_field import MarkovRandomField

METHODS = ("bootstrap", "residuals")


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a model was fitted to.

    Attributes:
        measurements: None if it is not known, as for a model that was read from a file.
        total_is_known: whether the number of records was given, and not estimated.
        norm: of the loss: "l2", "l1", or "other" for one that is not of measurements.
        oracle: "exact", or the name of an approximate one.
    """

    measurements: tuple[LinearMeasurement, ...] | None = None
    total_is_known: bool = False
    norm: str = "l2"
    oracle: str = "exact"


class Interval(NamedTuple):
    """The ends of an interval for every cell of a marginal."""

    low: Factor
    high: Factor


class Options(TypedDict, total=False):
    """The options of `MarkovRandomField.variance`."""

    method: str
    measurements: Sequence[LinearMeasurement] | None
    known_total: float | None
    replicates: int
    seed: Any
    memory_limit: int | float | str | None
    time_limit: float | None


@dataclass(frozen=True, kw_only=True)
class Errors:
    """How errors are computed: the options of `MarkovRandomField.variance` with their defaults."""

    method: str = "bootstrap"
    measurements: Sequence[LinearMeasurement] | None = None
    known_total: float | None = None
    replicates: int = 100
    seed: Any = 0
    memory_limit: int | float | str | None = None
    time_limit: float | None = None

    def variances(self, model: MarkovRandomField, cliques: Sequence[Clique]) -> list[Factor]:
        """The mean squared error of every cell of these marginals."""
        evidence = self._evidence(model)
        if self.method == "residuals":
            found = (self._unbiased(model, evidence, clique)[1] for clique in cliques)
            zeros = (Factor.zeros(model.domain.project(clique)) for clique in cliques)
            return [zero + variance for zero, variance in zip(zeros, found)]
        errors = self._simulated(model, evidence, cliques)
        return [
            Factor(model.domain.project(clique), np.square(error))
            for clique, error in zip(cliques, errors)
        ]

    def interval(self, model: MarkovRandomField, clique: Clique, confidence: float) -> Interval:
        """An interval around every cell of a marginal, as far as counts of records can be."""
        z = _core.z_score(float(confidence))
        evidence = self._evidence(model)
        if self.method == "residuals":
            center, variance = self._unbiased(model, evidence, clique)
            error: Any = np.sqrt(variance)
        else:
            center = np.asarray(model.project(clique).values)
            error = self._simulated(model, evidence, [clique])[0]
        most = float(model.total) if self._total(model, evidence) is not None else np.inf
        domain = model.domain.project(clique)
        low, high = (np.clip(center + sign * z * error, 0.0, most) for sign in (-1, 1))
        return Interval(Factor(domain, low), Factor(domain, high))

    def _evidence(self, model: MarkovRandomField) -> Evidence:
        if self.method not in METHODS:
            raise ValueError(f'method: expected "bootstrap" or "residuals", found {self.method!r}')
        evidence = model.evidence or Evidence()
        if evidence.norm == "other":
            raise ValueError(
                "the model was fitted to a loss of your own; how noise enters it is not known"
            )
        if self.measurements is None and evidence.measurements is None:
            raise ValueError(
                "this model does not have the measurements that it was fitted to; pass them as "
                "measurements=, and the number of records as known_total= if it was known"
            )
        return evidence

    def _measurements(self, model: MarkovRandomField, evidence: Evidence) -> list[Any]:
        given = evidence.measurements if self.measurements is None else self.measurements
        return measure_all(model.domain, given or ())

    def _total(self, model: MarkovRandomField, evidence: Evidence) -> float | None:
        """The number of records if it is known."""
        if self.known_total is not None:
            return float(self.known_total)
        return float(model.total) if evidence.total_is_known else None

    def _simulated(
        self, model: MarkovRandomField, evidence: Evidence, cliques: Sequence[Clique]
    ) -> list[Any]:
        from .markov_random_field import seed_of

        total = self._total(model, evidence)
        if total is not None and not np.isclose(total, float(model.total), rtol=1e-9):
            raise ValueError(f"known_total: the model has {float(model.total):g}, not {total:g}")
        if self.time_limit is not None and not self.time_limit >= 0:
            raise ValueError(f"time_limit: expected seconds, not negative, found {self.time_limit}")
        if self.replicates < 1:
            raise ValueError(f"replicates: expected at least 1, found {self.replicates}")
        return _core.simulated_errors(
            model._engine,
            self._measurements(model, evidence),
            zeros=zeros_of(model.domain, model.constraints),
            total_is_estimated=total is None,
            norm=evidence.norm,
            oracle=evidence.oracle,
            attributes=[model.domain.positions(clique) for clique in cliques],
            replicates=int(self.replicates),
            seed=seed_of(self.seed),
            memory_limit=memory_in_bytes(self.memory_limit),
            time_limit=self.time_limit,
        )

    def _unbiased(
        self, model: MarkovRandomField, evidence: Evidence, clique: Clique
    ) -> tuple[Any, float]:
        return _core.unbiased_marginal(
            model.domain._engine,
            self._measurements(model, evidence),
            self._total(model, evidence),
            model.domain.positions(clique),
        )


def cliques_of(model: MarkovRandomField, cliques: Sequence[Any]) -> list[Clique]:
    """Sets of attributes as tuples, each once; UnknownAttributeError for others."""
    listed: list[Clique] = list(dict.fromkeys(as_clique(clique) for clique in cliques))
    for clique in listed:
        model.domain.project(clique)
    return listed
