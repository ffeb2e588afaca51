"""Junction trees, and how large they are."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from . import _core
from .domain import Attribute, Clique, Domain, as_clique


class _View(list[Any]):
    """A list that may also be called, as the views of networkx may."""

    def __call__(self) -> _View:
        return self


class Graph:
    """An undirected graph with the part of networkx.Graph's interface that trees need.

    `make_junction_tree` returns a networkx.Graph where networkx is installed, and this otherwise.
    """

    def __init__(self) -> None:
        self._neighbours: dict[Any, dict[Any, None]] = {}

    def add_node(self, node: Any) -> None:
        """Adds a node, once."""
        self._neighbours.setdefault(node, {})

    def add_edge(self, a: Any, b: Any) -> None:
        """Connects two nodes."""
        self.add_node(a)
        self.add_node(b)
        self._neighbours[a][b] = None
        self._neighbours[b][a] = None

    @property
    def nodes(self) -> _View:
        """All nodes."""
        return _View(self._neighbours)

    @property
    def edges(self) -> _View:
        """All edges, once each."""
        order = {node: index for index, node in enumerate(self._neighbours)}
        pairs = ((a, b) for a, others in self._neighbours.items() for b in others)
        return _View((a, b) for a, b in pairs if order[a] < order[b])

    def neighbors(self, node: Any) -> Iterator[Any]:
        """The nodes that are connected with one."""
        return iter(self._neighbours[node])

    def number_of_nodes(self) -> int:
        """How many nodes there are."""
        return len(self._neighbours)

    def number_of_edges(self) -> int:
        """How many pairs of nodes are connected."""
        return len(self.edges)

    def has_edge(self, a: Any, b: Any) -> bool:
        """Whether two nodes are connected."""
        return b in self._neighbours.get(a, ())

    def __len__(self) -> int:
        return len(self._neighbours)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._neighbours)

    def __contains__(self, node: object) -> bool:
        return node in self._neighbours


def _new_graph() -> Any:
    try:
        import networkx  # pyright: ignore[reportMissingImports, reportMissingModuleSource]
    except ImportError:
        return Graph()
    return networkx.Graph()


def maximal_cliques(junction_tree: Any) -> list[Clique]:
    """The cliques of a tree, each after a neighbour of it."""
    order: list[Clique] = []
    seen: set[Clique] = set()
    for root in junction_tree.nodes:
        stack = [root]
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                order.append(node)
                stack.extend(junction_tree.neighbors(node))
    return order


def message_passing_order(junction_tree: Any) -> list[tuple[Clique, Clique]]:
    """All messages of a tree, each after those that it depends on."""
    parent: dict[Clique, Clique] = {}
    order: list[Clique] = []
    for root in junction_tree.nodes:
        if root in parent or root in order:
            continue
        stack = [root]
        while stack:
            node = stack.pop()
            order.append(node)
            for child in junction_tree.neighbors(node):
                if child != parent.get(node):
                    parent[child] = node
                    stack.append(child)
    upward = [(node, parent[node]) for node in reversed(order) if node in parent]
    downward = [(parent[node], node) for node in order if node in parent]
    return upward + downward


def greedy_order(
    domain: Domain,
    cliques: Sequence[Clique],
    stochastic: bool = False,
    elim: list[Attribute] | None = None,
) -> tuple[list[Attribute], int]:
    """An order of elimination that takes the attribute with the smallest table first.

    Args:
        domain: the attributes.
        cliques: the cliques of the model.
        stochastic: whether to draw the attribute, small tables more often.
        elim: the attributes to eliminate; default: all.

    Returns:
        The order, and the cells of all tables on the way.
    """
    left = list(domain.attributes) if elim is None else list(elim)
    scopes = {frozenset(clique) for clique in cliques}
    order: list[Attribute] = []
    total = 0
    while left:
        tables = [frozenset().union(*(s for s in scopes if name in s)) for name in left]
        costs = [domain.size(tuple(table)) for table in tables]
        index = int(np.argmin(np.asarray(costs, dtype=float)))
        if stochastic:
            weights = np.max(costs) - np.asarray(costs, dtype=float) + 1
            index = int(np.random.choice(len(left), p=weights / weights.sum()))
        name = left.pop(index)
        order.append(name)
        total += costs[index]
        scopes = {scope for scope in scopes if name not in scope} | {tables[index] - {name}}
    return order, total


def make_junction_tree(
    domain: Domain,
    cliques: Collection[Clique],
    elimination_order: list[Attribute] | int | None = None,
) -> tuple[Any, list[Attribute]]:
    """A junction tree of the cliques, and the order of elimination that leads to it.

    Args:
        domain: the attributes; those in no clique are cliques of their own.
        cliques: the cliques of the model.
        elimination_order: an order to follow, or a number of random orders to try. Default: the
            engine's search, which is better than the greedy order.

    Returns:
        A graph of tuples of attributes, a networkx.Graph if networkx is installed, and the order.
    """
    cliques = [as_clique(clique) for clique in cliques]
    if elimination_order is None:
        singles = [(name,) for name in domain.attributes]
        positions = [domain.positions(clique) for clique in (*cliques, *singles)]
        tree = _core.JunctionTree(domain._engine, positions)
        order = [domain.attributes[position] for position in tree.elimination_order]
    elif isinstance(elimination_order, int):
        tries = [greedy_order(domain, cliques)]
        tries += [greedy_order(domain, cliques, stochastic=True) for _ in range(elimination_order)]
        order = min(tries, key=lambda each: each[1])[0]
    else:
        order = list(elimination_order)
    nodes = sorted(domain.canonical(list(scope)) for scope in _triangulate(domain, cliques, order))
    graph = _new_graph()
    for node in nodes:
        graph.add_node(node)
    # A spanning tree of largest separators is a junction tree (Jensen, Jensen, UAI 1994).
    pairs = [(len(set(a) & set(b)), a, b) for a, b in itertools.combinations(nodes, 2)]
    group = {node: node for node in nodes}

    def find(node: Clique) -> Clique:
        while group[node] != node:
            group[node] = group[group[node]]
            node = group[node]
        return node

    for shared, a, b in sorted(pairs, key=lambda pair: -pair[0]):
        if shared and find(a) != find(b):
            graph.add_edge(a, b)
            group[find(a)] = find(b)
    return graph, order


def _triangulate(
    domain: Domain, cliques: Sequence[Clique], order: Sequence[Attribute]
) -> list[frozenset[Attribute]]:
    """The maximal cliques of the graph that elimination in this order fills in."""
    neighbours: dict[Attribute, set[Attribute]] = {name: set() for name in domain.attributes}
    for clique in cliques:
        for name in clique:
            neighbours[name].update(other for other in clique if other != name)
    maximal: list[frozenset[Attribute]] = []
    for name in order:
        around = neighbours.pop(name)
        scope = frozenset(around | {name})
        if not any(scope <= other for other in maximal):
            maximal.append(scope)
        for other in around:
            neighbours[other].discard(name)
            neighbours[other].update(around - {other})
    return maximal


def hypothetical_model_size(domain: Domain, cliques: Sequence[Clique]) -> float:
    """The size of a model's junction tree, in megabytes of 2^20 bytes, without fitting it."""
    singles = [(name,) for name in domain.attributes]
    positions = [domain.positions(as_clique(clique)) for clique in (*cliques, *singles)]
    return _core.JunctionTree(domain._engine, positions).cells * 8 / 2**20
