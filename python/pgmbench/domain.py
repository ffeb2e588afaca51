"""Attributes with finitely many values, and their sizes."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

import numpy as np

from . import _core
from .errors import UnknownAttributeError

Attribute = Union[str, int]
Clique = tuple[Attribute, ...]


def as_clique(attributes: Attribute | Iterable[Attribute]) -> Clique:
    """The attributes as a tuple; a single name stands for itself."""
    if isinstance(attributes, (str, int)):
        return (attributes,)
    return tuple(attributes)


def _whole(size: Any) -> int:
    """A number of values as an integer of Python, whose products do not overflow."""
    if isinstance(size, (int, float, np.integer, np.floating)) and 1 <= size < 2**63:
        whole = int(size)
        if whole == size:
            return whole
    raise ValueError(f"an attribute has a whole number of values, at least 1; found {size!r}")


@dataclass(frozen=True, order=True, init=False)
class Domain:
    """The attributes of a record and how many values each has.

    >>> domain = Domain(["age", "sex"], [85, 2])
    >>> domain["age"], domain.size(), domain.project("sex")
    (85, 170, Domain(attributes=('sex',), shape=(2,), labels=None))

    Attributes:
        attributes: names, in the order of the axes of tables.
        shape: the number of values of each; the values are 0, 1, ...
        labels: what the values stand for, a tuple per attribute, or None.
    """

    attributes: tuple[Attribute, ...]
    shape: tuple[int, ...]
    # Domains with different labels are equal: tables over them fit together.
    labels: tuple[tuple[Any, ...], ...] | None = field(default=None, compare=False)
    # How records of this domain look as a frame; see `pgmbench.frames`.
    _schema: Any = field(default=None, repr=False, compare=False)

    def __init__(
        self,
        attributes: Iterable[Attribute],
        shape: Iterable[int],
        labels: Iterable[Iterable[Any]] | None = None,
        _schema: Any = None,
    ) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        put("attributes", tuple(attributes))
        put("shape", tuple(_whole(size) for size in shape))
        put("labels", None if labels is None else tuple(tuple(each) for each in labels))
        put("_schema", _schema)
        if len(self.attributes) != len(self.shape):
            raise ValueError(
                f"{len(self.attributes)} attributes, but {len(self.shape)} sizes; "
                "expected one size per attribute"
            )
        if len(set(self.attributes)) != len(self.attributes):
            raise ValueError(f"every attribute must be listed once: {self.attributes}")
        if self.labels is not None:
            if len(self.labels) != len(self.attributes):
                raise ValueError("expected one tuple of labels per attribute")
            for name, size, names in zip(self.attributes, self.shape, self.labels):
                if len(names) != size:
                    raise ValueError(
                        f"attribute {name!r} has {size} values, but {len(names)} labels"
                    )

    @staticmethod
    def fromdict(config: Mapping[Any, int]) -> Domain:
        """The domain with the attributes and sizes of a dictionary, in its order."""
        return Domain(config.keys(), config.values())

    @staticmethod
    def from_frame(frame: Any) -> Domain:
        """The domain of the values that occur in a frame, with these values as labels.

        Accepts pandas, polars and Arrow tables, structured arrays, and dictionaries of arrays.
        Records that are drawn from a model on this domain come back as the same kind of frame.
        Which values occur is information about the data: where it must be protected, write the
        domain down instead.
        """
        from . import frames

        return frames.domain_of(frame)

    @functools.cached_property
    def config(self) -> dict[Attribute, int]:
        """The size of each attribute."""
        return dict(zip(self.attributes, self.shape))

    @functools.cached_property
    def labels_config(self) -> dict[Attribute, tuple[Any, ...]] | None:
        """The labels of each attribute."""
        return None if self.labels is None else dict(zip(self.attributes, self.labels))

    @functools.cached_property
    def _positions(self) -> dict[Attribute, int]:
        return {name: position for position, name in enumerate(self.attributes)}

    @functools.cached_property
    def _engine(self) -> _core.Domain:
        names = [str(name) for name in self.attributes]
        if len(set(names)) != len(names):
            names = [repr(name) for name in self.attributes]
        return _core.Domain([(name, int(size)) for name, size in zip(names, self.shape)])

    def positions(self, attributes: Iterable[Attribute]) -> list[int]:
        """Where the attributes are in this domain; an error names one that is not."""
        try:
            return [self._positions[name] for name in attributes]
        except KeyError:
            unknown = [name for name in attributes if name not in self._positions]
            raise UnknownAttributeError(
                f"{unknown[0]!r} is not an attribute; expected one of {self.attributes}"
            ) from None

    def project(self, attributes: Attribute | Sequence[Attribute]) -> Domain:
        """The domain of some of the attributes, in the order in which they are listed."""
        positions = self.positions(names := as_clique(attributes))
        labels = self.labels
        if labels is not None:
            labels = [labels[position] for position in positions]
        schema = self._schema.project(names) if self._schema is not None else None
        return Domain(names, [self.shape[position] for position in positions], labels, schema)

    def marginalize(self, attrs: Sequence[Attribute]) -> Domain:
        """The domain without these attributes."""
        return self.project(self.invert(attrs))

    def contains(self, other: Domain) -> bool:
        """Whether all attributes of the other domain are in this one."""
        return set(other.attributes) <= set(self.attributes)

    def canonical(self, attrs: Sequence[Attribute]) -> tuple[Attribute, ...]:
        """Those of the attributes that are in the domain, in its order."""
        return tuple(name for name in self.attributes if name in attrs)

    def invert(self, attrs: Sequence[Attribute]) -> list[Attribute]:
        """The attributes of the domain that are not listed."""
        return [name for name in self.attributes if name not in attrs]

    def intersect(self, other: Domain) -> Domain:
        """The domain of the attributes that are in both."""
        return self.project(self.canonical(other.attributes))

    def axes(self, attrs: Sequence[Attribute]) -> tuple[int, ...]:
        """The axes of these attributes in a table over the domain."""
        return tuple(self.positions(attrs))

    def merge(self, other: Domain) -> Domain:
        """This domain, followed by the attributes that only the other one has."""
        extra = other.marginalize(self.attributes)
        labels = None
        if self.labels is not None and extra.labels is not None:
            labels = self.labels + extra.labels
        return Domain(self.attributes + extra.attributes, self.shape + extra.shape, labels)

    def size(self, attributes: Attribute | Sequence[Attribute] | None = None) -> int:
        """The number of cells of a table over the attributes; default: over all."""
        if attributes is None:
            return math.prod(self.shape)
        sizes = (self.shape[position] for position in self.positions(as_clique(attributes)))
        return math.prod(sizes)

    def supports(self, attrs: Attribute | Sequence[Attribute]) -> bool:
        """Whether all of these attributes are in the domain."""
        return all(name in self._positions for name in as_clique(attrs))

    def __contains__(self, name: object) -> bool:
        return name in self._positions

    def __getitem__(self, a: Attribute) -> int:
        return self.config[a]

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __len__(self) -> int:
        return len(self.attributes)

    def __str__(self) -> str:
        return "Domain(" + ", ".join(f"{name}: {size}" for name, size in self.config.items()) + ")"

    def __getstate__(self) -> tuple[Any, ...]:
        return (self.attributes, self.shape, self.labels, self._schema)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        for name, value in zip(("attributes", "shape", "labels", "_schema"), state):
            object.__setattr__(self, name, value)
