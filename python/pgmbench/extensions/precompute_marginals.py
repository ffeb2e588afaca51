"""Many marginals of data."""

from __future__ import annotations

from collections.abc import Sequence

from .._api import Projectable
from ..clique_vector import CliqueVector
from ..domain import Clique


def precompute_marginals(
    dataset: Projectable, cliques: Sequence[Clique], *, transpose: bool = True
) -> CliqueVector:
    """The marginals of data on many cliques.

    Args:
        dataset: the records.
        cliques: the sets of attributes.
        transpose: accepted for compatibility; axes are always in the order of the clique.
    """
    return CliqueVector.from_projectable(dataset, cliques)
