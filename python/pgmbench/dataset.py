"""Records."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import frames
from .domain import Attribute, Domain, as_clique
from .factor import Factor
from .limits import check_numbers, check_table

Codes = npt.NDArray[np.integer]


@dataclass(frozen=True, init=False, eq=False)
class Dataset:
    """Records of a domain: a column of whole numbers, from 0, per attribute.

    >>> data = Dataset({"sex": [0, 1, 1], "age": [2, 0, 2]}, Domain(["sex", "age"], [2, 3]))
    >>> data.project("age").values
    array([1., 0., 2.])

    Attributes:
        data: the column of each attribute. A pandas, polars or Arrow table, a structured array, an
            array with a column per attribute, and a dictionary of arrays are taken as they are.
        domain: the attributes; default: the values that occur, see `Domain.from_frame`.
        weights: how much each record counts; default: 1.
    """

    data: dict[Attribute, Codes]
    domain: Domain
    weights: npt.NDArray[np.float64]

    def __init__(
        self,
        data: Any,
        domain: Domain | None = None,
        weights: npt.ArrayLike | None = None,
    ) -> None:
        given = frames.columns_of(data, domain)
        if domain is None:
            domain = frames.domain_of(data)
        if set(given) != set(domain.attributes):
            extra = [name for name in given if name not in domain]
            absent = [name for name in domain.attributes if name not in given]
            raise ValueError(
                f"the columns must be the attributes of the domain; missing {absent}, extra {extra}"
            )
        columns = {name: _codes(name, given[name], domain) for name in given}
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"all columns must have the same length, found {sorted(lengths)}")
        if not columns and weights is None:
            raise ValueError("without columns, weights must say how many records there are")
        count = lengths.pop() if columns else np.size(np.asarray(weights))
        if weights is None:
            weights = np.ones(count)
        weights = np.asarray(weights)
        if weights.size != count:
            raise ValueError(f"expected {count} weights, one per record, found {weights.size}")
        object.__setattr__(self, "data", columns)
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "weights", weights)

    @classmethod
    def _of_codes(
        cls,
        columns: Mapping[Attribute, Codes],
        domain: Domain,
        weights: npt.NDArray[np.float64] | None = None,
    ) -> Dataset:
        """Records whose columns are codes already, also where the domain has labels."""
        data = object.__new__(cls)
        if weights is None:
            weights = np.ones(len(next(iter(columns.values()), ())))
        for name, value in (("data", dict(columns)), ("domain", domain), ("weights", weights)):
            object.__setattr__(data, name, value)
        return data

    @staticmethod
    def synthetic(
        domain: Domain, N: int | None = None, seed: Any = None, *, records: int | None = None
    ) -> Dataset:
        """N records, or `records`, of uniform, independent values."""
        from .markov_random_field import seed_of

        rng = np.random.default_rng(seed_of(seed))
        N = records if N is None else N
        check_numbers(f"{N} records need", (N or 0) * len(domain), 8)
        columns = {name: rng.integers(0, size, size=N) for name, size in domain.config.items()}
        return Dataset._of_codes(columns, domain)

    @property
    def records(self) -> int:
        """The number of records."""
        return len(self.weights)

    def __len__(self) -> int:
        return self.records

    def to_dict(self) -> dict[Attribute, Codes]:
        """The columns."""
        return dict(self.data)

    def to_frame(self, kind: str | None = None) -> Any:
        """The records as a frame; values are labels where the domain has them.

        Args:
            kind: "pandas", "polars", "arrow", "numpy" or "dict"; default: the kind of frame that
                the domain was read from, or "dict".
        """
        return frames.build(self.data, self.domain, kind)

    def project(self, cols: Attribute | Sequence[Attribute]) -> Factor:
        """The counts of all combinations of values of some attributes."""
        names = as_clique(cols)
        domain = self.domain.project(names)
        return Factor(domain, self._counts(domain).reshape(domain.shape))

    def supports(self, cols: Attribute | Sequence[Attribute]) -> bool:
        """Whether all of these attributes are in the domain."""
        return self.domain.supports(cols)

    def drop(self, cols: Sequence[Attribute]) -> Factor:
        """The counts of all combinations of values of the other attributes."""
        return self.project(self.domain.invert(cols))

    def datavector(self, flatten: bool = True) -> npt.NDArray[np.float64]:
        """The count of every cell of the domain, as a vector or as a table."""
        counts = self._counts(self.domain)
        return counts if flatten else counts.reshape(self.domain.shape)

    def _counts(self, domain: Domain) -> npt.NDArray[np.float64]:
        if len(domain) == 0:
            return np.array([self.weights.sum()], dtype=np.float64)
        check_table(domain)
        columns = tuple(self.data[name] for name in domain.attributes)
        cells = np.ravel_multi_index(columns, domain.shape)
        size = math.prod(domain.shape)
        return np.bincount(cells, weights=self.weights, minlength=size).astype(np.float64)

    def compress(
        self,
        mapping: Mapping[Any, Codes],
        labels: Mapping[Any, tuple[Any, ...]] | None = None,
    ) -> Dataset:
        """The records with values merged.

        Args:
            mapping: for each merged attribute, the new value of each old one.
            labels: labels of the new values; default: tuples of the old labels.
        """
        columns, config = dict(self.data), dict(self.domain.config)
        names = dict(self.domain.labels_config or {})
        for name, new in mapping.items():
            if name not in self.domain:
                continue
            new = _checked_mapping(name, new)
            if len(new) != self.domain[name]:
                raise ValueError(
                    f"mapping of {name!r}: expected {self.domain[name]} values, found {len(new)}"
                )
            size = int(new.max()) + 1
            columns[name] = new[self.data[name]].astype(np.min_scalar_type(size - 1))
            config[name] = size
            if name in names:
                old = names[name]
                grouped = (tuple(old[at] for at in np.flatnonzero(new == b)) for b in range(size))
                names[name] = (labels or {}).get(name) or tuple(grouped)
        new_labels = [names[name] for name in config] if names else None
        domain = Domain(config.keys(), config.values(), new_labels)
        return Dataset._of_codes(columns, domain, self.weights)

    def decompress(self, mapping: Mapping[Any, Codes], seed: Any = None) -> Dataset:
        """The records with merged values replaced by old ones, drawn uniformly.

        Args:
            mapping: what `compress` was given.
            seed: an integer or a numpy.random.Generator.
        """
        from .markov_random_field import seed_of

        rng = np.random.default_rng(seed_of(seed))
        columns, config = dict(self.data), dict(self.domain.config)
        for name, new in mapping.items():
            if name not in self.domain:
                continue
            new = _checked_mapping(name, new)
            by_value = np.argsort(new, kind="stable")
            counts = np.bincount(new, minlength=max(int(new.max()) + 1, self.domain[name]))
            column = np.asarray(self.data[name], dtype=np.intp)
            if np.any(counts[column] == 0):
                raise ValueError(
                    f"mapping of {name!r}: no old value stands for a value of the data"
                )
            first = np.cumsum(counts) - counts
            offsets = np.floor(rng.random(len(column)) * counts[column]).astype(np.intp)
            old = by_value[first[column] + offsets]
            columns[name] = old.astype(np.min_scalar_type(len(new) - 1))
            config[name] = len(new)
        return Dataset._of_codes(columns, Domain.fromdict(config), self.weights)

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.weights.sum())

    def synthetic_data(self, rows: int | None = None, *, seed: Any = None) -> Dataset:
        """Records without weights: each is repeated as often as its weight says.

        Args:
            rows: how many; default: the sum of the weights. Shares of records are rounded at
                random, up or down.
            seed: an integer or a numpy.random.Generator.
        """
        from .markov_random_field import row_count, seed_of

        rng = np.random.default_rng(seed_of(seed))
        count = row_count(rows, self.total, len(self.domain))
        # Systematic sampling: records in random order, counted at evenly spaced points.
        order = rng.permutation(self.records)
        ends = np.cumsum(self.weights[order])
        points = (np.arange(count) + rng.random()) * (ends[-1] / count)
        chosen = order[np.minimum(np.searchsorted(ends, points, side="right"), len(order) - 1)]
        chosen = rng.permutation(chosen)
        columns = {name: column[chosen] for name, column in self.data.items()}
        return Dataset._of_codes(columns, self.domain)

    def apply_sharding(self, mesh: Any) -> Dataset:
        """The data itself: there are no devices to distribute it over."""
        return self

    def __repr__(self) -> str:
        return f"Dataset({self.records} records of {self.domain})"

    def _repr_html_(self) -> str:
        frame = {name: column[:10] for name, column in self.data.items()}
        rows = zip(*frame.values())
        head = "".join(f"<th>{html.escape(str(name))}</th>" for name in frame)
        body = "".join(
            "<tr>" + "".join(f"<td>{value}</td>" for value in row) + "</tr>" for row in rows
        )
        title = html.escape(repr(self))
        return f"<table><caption>{title}</caption><tr>{head}</tr>{body}</table>"


# mbi has a second class for data on devices; here both are the same.
JaxDataset = Dataset


def _codes(name: Attribute, values: npt.NDArray[Any], domain: Domain) -> Codes:
    """A column as whole numbers from 0."""
    if values.ndim != 1:
        raise ValueError(f"column {name!r} must have one axis, found shape {values.shape}")
    labels = domain.labels_config
    from_frame = domain._schema is not None
    if labels is not None and (from_frame or not np.issubdtype(values.dtype, np.integer)):
        return frames.encode(name, values, labels[name])
    if not np.issubdtype(values.dtype, np.integer):
        raise ValueError(
            f"column {name!r} must have whole numbers, found {values.dtype}; "
            "Domain.from_frame makes a domain with labels"
        )
    if values.size and not (values.min() >= 0 and values.max() < domain[name]):
        raise ValueError(
            f"column {name!r} has values from {values.min()} to {values.max()}; "
            f"expected 0 to {domain[name] - 1}"
        )
    return values


def _checked_mapping(name: Attribute, mapping: Any) -> Codes:
    mapping = np.asarray(mapping)
    if mapping.ndim != 1 or not np.issubdtype(mapping.dtype, np.integer) or np.any(mapping < 0):
        raise ValueError(f"mapping of {name!r}: expected a vector of whole numbers from 0")
    return mapping
