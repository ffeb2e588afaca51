"""What can be projected, and what a model is, as protocols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from .domain import Attribute, Domain

if TYPE_CHECKING:
    from .factor import Factor


@runtime_checkable
class Projectable(Protocol):
    """A source of marginals: data, a table, a model."""

    @property
    def domain(self) -> Domain:
        """The attributes."""
        ...

    def project(self, attrs: Attribute | Sequence[Attribute], /) -> Factor:
        """The marginal on these attributes, in counts."""
        ...

    def supports(self, attrs: Attribute | Sequence[Attribute], /) -> bool:
        """Whether `project` can answer."""
        ...


@runtime_checkable
class Model(Projectable, Protocol):
    """A source of marginals that also makes records."""

    @property
    def total(self) -> Any:
        """The number of records."""
        ...

    def synthetic_data(self, rows: int | None = None) -> Any:
        """Synthetic records."""
        ...
