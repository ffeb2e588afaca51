"""The fitted model."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from .clique_vector import CliqueVector
from .constraint import Constraint
from .domain import Attribute, Clique, Domain, as_clique
from .factor import Array, Factor
from .limits import check_numbers
from .queries import factor_spec
from .uncertainty import Errors, Evidence, Interval, Options, cliques_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

Seed = Any  # None, an integer, or a numpy.random.Generator

_FIELDS = ("potentials", "marginals", "total", "constraints")


@dataclass(frozen=True)
class FitReport:
    """How a fit went.

    Attributes:
        loss: the loss at the model's marginals. For measurements: half the sum of squared residuals
            in standard deviations, or the sum of absolute ones.
        gap: no distribution has a loss that is smaller by more than this; None if the oracle is
            approximate.
        iterations: calls of the oracle.
        reason: why the fit ended: "gap", "iterations", "stalled" or "stopped".
        seconds: wall time.
    """

    loss: float
    gap: float | None
    iterations: int
    reason: str
    seconds: float


def seed_of(seed: Seed) -> int:
    """A seed of 64 bits. None draws one from NumPy's global generator, so that `np.random.seed`
    makes a program repeatable."""
    if seed is None:
        return int(np.random.randint(0, 2**63 - 1, dtype=np.int64))
    if isinstance(seed, (int, np.integer)):
        if seed < 0:
            raise ValueError(f"seed: expected a number that is not negative, found {seed}")
        return int(seed) % 2**64
    if isinstance(seed, (np.random.Generator, np.random.RandomState)):
        draw = seed.integers if isinstance(seed, np.random.Generator) else seed.randint
        return int(draw(0, 2**63 - 1, dtype=np.int64))
    raise TypeError(f"seed: expected an integer or a numpy.random.Generator, found {type(seed)}")


def row_count(rows: int | None, total: Any, columns: int) -> int:
    """The number of records to draw: `rows`, or the total if there is none (or 0, as in mbi)."""
    if rows is not None and rows < 0:
        raise ValueError(f"rows: expected a number that is not negative, found {rows}")
    count = max(1, int(rows or total))
    check_numbers(f"{count} records need", count * columns, 4)
    return count


@dataclass(frozen=True, eq=False)
class MarkovRandomField(Mapping[str, Any]):
    """A graphical model: a distribution over all attributes, scaled to a number of records.

    Attributes:
        potentials: log-potentials; the probability of a record is proportional to the exponential
            of their sum.
        marginals: expected counts on the cliques.
        total: the number of records.
        constraints: what records cannot be.
        fit: how the fit went; None for a model that was not fitted here.
        evidence: what it was fitted to.
    """

    potentials: CliqueVector
    marginals: CliqueVector
    total: Any = 1
    constraints: tuple[Constraint, ...] = ()
    fit: FitReport | None = field(default=None, kw_only=True)
    evidence: Evidence | None = field(default=None, kw_only=True, repr=False)

    @property
    def domain(self) -> Domain:
        """The attributes."""
        return self.potentials.domain

    @property
    def cliques(self) -> Sequence[Clique]:
        """The cliques whose marginals were fitted. Constraints add potentials on theirs."""
        return self.marginals.cliques

    @property
    def loss(self) -> float | None:
        """The loss at the model's marginals, see `FitReport`."""
        return None if self.fit is None else self.fit.loss

    @property
    def gap(self) -> float | None:
        """The certificate: no distribution has a loss that is smaller by more than this."""
        return None if self.fit is None else self.fit.gap

    @property
    def _engine(self) -> _core.Model:
        engine = self.__dict__.get("_engine_model")
        if engine is None:
            tables = self.potentials._to_engine()
            for constraint in self.constraints:
                potential = constraint.potential
                tables.append((self.domain.positions(potential.domain), potential.values))
            engine = _core.Model(self.domain._engine, tables, float(self.total))
            self.__dict__["_engine_model"] = engine
        return engine

    def project(self, attrs: Attribute | Sequence[Attribute]) -> Factor:
        """The marginal on any attributes, in expected counts that sum to `total`."""
        attrs = as_clique(attrs)
        domain = self.domain.project(attrs)
        if self.marginals.supports(attrs):
            return self.marginals.project(attrs)
        return Factor(domain, self._engine.marginals([self.domain.positions(attrs)])[0])

    def project_many(self, cliques: Sequence[Attribute | Sequence[Attribute]]) -> CliqueVector:
        """The marginals on many sets of attributes at once, which is faster than one by one."""
        listed = list(dict.fromkeys(as_clique(clique) for clique in cliques))
        tables = self._engine.marginals([self.domain.positions(clique) for clique in listed])
        factors = {
            clique: Factor(self.domain.project(clique), table)
            for clique, table in zip(listed, tables)
        }
        return CliqueVector(self.domain, listed, factors)

    def supports(self, attrs: Attribute | Sequence[Attribute]) -> bool:
        """Whether all of these attributes are in the domain."""
        return self.domain.supports(attrs)

    def conditional(
        self, attrs: Attribute | Sequence[Attribute], given: Mapping[Any, int]
    ) -> Factor:
        """The distribution of attributes among records with the given values; sums to 1.

        Exact for values of any positive probability. Values of probability zero are a ValueError.
        """
        attrs = as_clique(attrs)
        domain = self.domain.project(attrs)
        names = tuple(given)
        self.domain.positions(names)
        for name in names:
            if not 0 <= int(given[name]) < self.domain[name]:
                raise ValueError(
                    f"{name!r} has values from 0 to {self.domain[name] - 1}, not {given[name]}"
                )
        evidence = list(zip(self.domain.positions(names), (int(given[name]) for name in names)))
        values = self._engine.conditional(self.domain.positions(attrs), evidence)
        return Factor(domain, values)

    def answer(self, queries: Mapping[Any, Any]) -> Array:
        """The answers to a Kronecker product of queries, without writing its marginal down.

        The marginal of the attributes may be far too large: a count of one value of each of a
        hundred attributes is one number. See `KroneckerQuery` for the queries. The result has an
        axis per attribute, in the order of the dictionary, but none for "total" and "evidence".
        """
        attrs = tuple(queries)
        specs = [factor_spec(queries[name]) for name in attrs]
        answers = self._engine.answer(list(zip(self.domain.positions(attrs), specs)))
        listed = [(spec, name) for spec, name in zip(specs, attrs) if spec[0] not in _ONE_ROW]
        return answers.reshape([_rows(spec, self.domain[name]) for spec, name in listed])

    def variance(
        self, attrs: Attribute | Sequence[Attribute], **options: Unpack[Options]
    ) -> Factor:
        """The mean squared error of every count of a marginal that comes from the noise.

        >>> np.sqrt(model.variance(("age", "income")).values)   # standard errors

        See `pgmbench.uncertainty` for what the two methods know. It is a ValueError where the error
        cannot be known: for losses that are not of measurements, approximate oracles, and
        "residuals" of attributes that were not measured together.

        Args:
            attrs: the attributes, as for `project`.
            **options: those of `pgmbench.uncertainty.Options`:
                method: "bootstrap" (default): of the model itself, by simulation; "residuals": of
                the unbiased estimate, exact.
                measurements, known_total: what the model was fitted to, if it was read from a file.
                replicates: simulations, each of which fits a model (default: 100). The standard
                error is known to about 1 / sqrt(2 replicates) of itself.
                seed: an integer or a numpy.random.Generator (default: 0).
                memory_limit: as for `estimate`, for all simulations together.
                time_limit: seconds, after which TimeoutError is raised.
        """
        return self.variance_many([attrs], **options)[as_clique(attrs)]

    def variance_many(
        self, cliques: Sequence[Attribute | Sequence[Attribute]], **options: Unpack[Options]
    ) -> CliqueVector:
        """The variances of many marginals, by the same simulations. See `variance`."""
        listed = cliques_of(self, cliques)
        variances = Errors(**options).variances(self, listed)
        return CliqueVector(self.domain, listed, dict(zip(listed, variances)))

    def interval(
        self,
        attrs: Attribute | Sequence[Attribute],
        confidence: float = 0.95,
        **options: Unpack[Options],
    ) -> Interval:
        """The ends of intervals that should cover the true counts with this probability each.

        >>> low, high = model.interval(("age", "income"), confidence=0.95)

        With method "bootstrap" around the model's counts; with "residuals" around those of the
        unbiased estimate. An end is not below 0, nor above the number of records if it is known.
        See `variance` for the options and errors.
        """
        (clique,) = cliques_of(self, [attrs])
        return Errors(**options).interval(self, clique, confidence)

    def synthetic_data(
        self, rows: int | None = None, method: str = "round", *, seed: Seed = None
    ) -> Any:
        """Synthetic records.

        Args:
            rows: how many; default: the model's total.
            method: "round" keeps all counts of the model's cliques near their expectations;
                "sample" draws each record independently of the others.
            seed: an integer or a numpy.random.Generator, for the same records again.

        Returns:
            A `Dataset`; or, if the domain was read from a frame, a frame of the same kind.
        """
        from .dataset import Dataset

        if method not in ("round", "sample"):
            raise ValueError(f'method: expected "round" or "sample", found {method!r}')
        count = row_count(rows, self.total, len(self.domain))
        columns = self._engine.sample(count, method == "round", seed_of(seed))
        small = (
            column.astype(np.min_scalar_type(size), copy=False)
            for column, size in zip(columns, self.domain.shape)
        )
        data = Dataset._of_codes(dict(zip(self.domain.attributes, small)), self.domain)
        return data if self.domain._schema is None else data.to_frame()

    def replace(self, **kwargs: Any) -> MarkovRandomField:
        """The same model with other fields."""
        return replace(self, **kwargs)

    def to_tuple(self) -> tuple[Any, ...]:
        """Potentials, marginals, total and constraints."""
        return tuple(getattr(self, name) for name in _FIELDS)

    @classmethod
    def from_tuple(cls, args: Sequence[Any]) -> MarkovRandomField:
        """The model that `to_tuple` took apart."""
        return cls(*args)

    def __getitem__(self, key: str) -> Any:
        if key not in _FIELDS:
            raise KeyError(key)
        return getattr(self, key)

    def __iter__(self) -> Iterator[str]:
        return iter(_FIELDS)

    def __len__(self) -> int:
        return len(_FIELDS)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_engine_model"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        parts = [
            f"{len(self.domain)} attributes",
            f"{len(self.cliques)} cliques",
            f"total {float(self.total):.6g}",
        ]
        if self.fit is not None:
            parts.append(f"loss {self.fit.loss:.6g}")
            parts.append("no gap" if self.fit.gap is None else f"gap {self.fit.gap:.2g}")
        return f"<MarkovRandomField: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, str]] = [
            ("attributes", str(len(self.domain))),
            ("cliques", str(len(self.cliques))),
            ("parameters", str(self.potentials.size())),
            ("total", f"{float(self.total):.6g}"),
        ]
        if self.fit is not None:
            fit = self.fit
            rows += [
                ("loss", f"{fit.loss:.6g}"),
                ("gap", "not certified" if fit.gap is None else f"{fit.gap:.2g}"),
                ("iterations", f"{fit.iterations} (ended by: {fit.reason})"),
                ("seconds", f"{fit.seconds:.3g}"),
            ]
        shown = sorted(self.cliques, key=self.domain.size, reverse=True)
        names = [" × ".join(str(name) for name in clique) for clique in shown[:10]]
        more = "" if len(shown) <= 10 else f" and {len(shown) - 10} more"
        rows.append(("largest cliques", ", ".join(names) + more))
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in rows
        )
        return f"<table><caption>MarkovRandomField</caption>{cells}</table>"


# Kinds of queries with one answer.
_ONE_ROW = ("total", "evidence")


def _rows(spec: tuple[str, Any], size: int) -> int:
    """The number of answers of a query factor."""
    kind, argument = spec
    if kind in _ONE_ROW:
        return 1
    if kind == "ranges":
        return size * (size + 1) // 2
    if kind == "intervals":
        return len(argument)
    if kind == "compress":
        return int(max(argument)) + 1
    if kind == "moments":
        return int(argument)
    return len(argument) if kind == "matrix" else size
