"""Sets of attributes that contain each other."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .domain import Clique, Domain


def powerset(iterable: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """All subsets, small ones first: `() (1,) (2,) (1, 2)`."""
    items = list(iterable)
    sizes = range(len(items) + 1)
    return itertools.chain.from_iterable(itertools.combinations(items, size) for size in sizes)


def downward_closure(cliques: Sequence[Clique], include_empty: bool = False) -> list[Clique]:
    """All subsets of the cliques, by size and then by name.

    >>> downward_closure([("a", "b"), ("a", "c")])
    [('a',), ('b',), ('c',), ('a', 'b'), ('a', 'c')]
    """
    subsets = {subset for clique in cliques for subset in powerset(clique)}
    if not include_empty:
        subsets.discard(())
    return sorted(subsets, key=lambda subset: (len(subset), subset))


def maximal_subset(cliques: Sequence[Clique]) -> list[Clique]:
    """The cliques that are part of no other one; of equal sets the first, largest sets first.

    >>> maximal_subset([("A", "B"), ("B",), ("C",), ("B", "A")])
    [('A', 'B'), ('C',)]
    """
    maximal: list[Clique] = []
    # The maximal sets that have an attribute: a clique is compared with few others.
    having: dict[Any, list[frozenset[Any]]] = {}
    for clique in sorted(cliques, key=len, reverse=True):
        scope = frozenset(clique)
        candidates = min((having.get(name, []) for name in scope), key=len, default=None)
        covered = bool(maximal) if candidates is None else any(scope <= c for c in candidates)
        if not covered:
            maximal.append(clique)
            for name in scope:
                having.setdefault(name, []).append(scope)
    return maximal


def clique_mapping(
    maximal_cliques: Sequence[Clique],
    all_cliques: Sequence[Clique],
    domain: Domain | None = None,
) -> dict[Clique, Clique]:
    """For each clique, the smallest of the maximal cliques that contains it.

    Args:
        maximal_cliques: the candidates.
        all_cliques: what to look up; cliques that no candidate contains are left out.
        domain: sizes are cells of this domain; default: numbers of attributes.
    """
    size = len if domain is None else domain.size
    ordered = [(frozenset(clique), clique) for clique in sorted(maximal_cliques, key=size)]
    mapping: dict[Clique, Clique] = {}
    for clique in all_cliques:
        scope = frozenset(clique)
        for candidate, maximal in ordered:
            if scope <= candidate:
                mapping[clique] = maximal
                break
    return mapping


def reverse_clique_mapping(
    maximal_cliques: Sequence[Clique],
    all_cliques: Sequence[Clique],
    domain: Domain | None = None,
) -> dict[Clique, list[Clique]]:
    """For each maximal clique, the cliques that `clique_mapping` maps to it, as often as listed."""
    members: dict[Clique, list[Clique]] = {maximal: [] for maximal in maximal_cliques}
    mapping = clique_mapping(maximal_cliques, all_cliques, domain)
    for clique in all_cliques:
        if clique in mapping:
            members[mapping[clique]].append(clique)
    return members
