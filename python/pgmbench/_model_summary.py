"""How large a model is, before it is fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from . import junction_tree
from .domain import Clique, Domain, as_clique


# Decimals, because the number of cells may be larger than any float.
def _bytes(count: int) -> str:
    number = Decimal(count)
    for unit in ("B", "KB", "MB", "GB"):
        if number < 1024:
            return f"{number:.4g} {unit}"
        number /= 1024
    return f"{number:.4g} TB"


def _cells(count: int) -> str:
    return f"{count:,}" if count < 10**7 else f"{Decimal(count):.2e}".replace("e+", "e")


@dataclass(frozen=True)
class ModelSummary:
    """The cliques of a model and its junction tree, in cells.

    The fields whose names begin with `xla` are None: nothing is compiled here.
    """

    num_attributes: int
    domain_size: int
    num_cliques: int
    largest_clique: Clique
    largest_clique_size: int
    total_clique_cells: int
    treewidth: int
    num_jtree_nodes: int
    largest_jtree_node: Clique
    largest_jtree_node_size: int
    total_jtree_cells: int
    num_messages: int
    largest_message: Clique
    largest_message_size: int
    total_message_cells: int
    bytes_per_cell: int
    xla_flops: int | None = None
    xla_transcendentals: int | None = None
    xla_bytes_accessed: int | None = None
    xla_arg_bytes: int | None = None
    xla_output_bytes: int | None = None
    xla_temp_bytes: int | None = None

    @property
    def memory_bytes(self) -> int:
        """The bytes of the tables and messages of the junction tree."""
        return (self.total_jtree_cells + self.total_message_cells) * self.bytes_per_cell

    @property
    def short(self) -> str:
        """One line: the sizes of potentials, junction tree and messages."""
        size = self.bytes_per_cell
        return (
            f"potentials={_bytes(self.total_clique_cells * size)}, "
            f"jtree={_bytes(self.total_jtree_cells * size)}, "
            f"messages={_bytes(self.total_message_cells * size)}"
        )

    def __str__(self) -> str:
        rows = [
            ("domain", f"{self.num_attributes} attributes, {_cells(self.domain_size)} total cells"),
            ("cliques", f"{self.num_cliques}, {_cells(self.total_clique_cells)} cells"),
            ("largest", f"{self.largest_clique}, {_cells(self.largest_clique_size)} cells"),
            ("tree", f"{self.num_jtree_nodes} cliques, {_cells(self.total_jtree_cells)} cells"),
            ("largest", f"{self.largest_jtree_node}, {_cells(self.largest_jtree_node_size)} cells"),
            ("treewidth", str(self.treewidth)),
            ("messages", f"{self.num_messages} edges, {_cells(self.total_message_cells)} cells"),
            ("memory", _bytes(self.memory_bytes)),
        ]
        return "\n".join(f"{name:<10}{value}" for name, value in rows)


def summarize(
    domain: Domain,
    cliques: Sequence[Clique],
    jtree: Any = None,
    marginal_oracle: Any = None,
    compile: bool = False,
    bytes_per_cell: int | None = None,
) -> ModelSummary:
    """How large a model with these cliques is.

    Args:
        domain: the attributes.
        cliques: the cliques that are measured.
        jtree: a junction tree; default: the engine's.
        marginal_oracle: accepted for compatibility.
        compile: accepted for compatibility; nothing is compiled.
        bytes_per_cell: default: 8.
    """
    cliques = [as_clique(clique) for clique in cliques]
    if jtree is None:
        jtree, _ = junction_tree.make_junction_tree(domain, cliques)
    nodes = junction_tree.maximal_cliques(jtree)
    separators = [domain.canonical([name for name in a if name in b]) for a, b in jtree.edges()]
    size = domain.size
    largest_clique = max(cliques, key=size, default=())
    largest_node = max(nodes, key=size, default=())
    largest_message = max(separators, key=size, default=())
    return ModelSummary(
        num_attributes=len(domain),
        domain_size=size(),
        num_cliques=len(cliques),
        largest_clique=largest_clique,
        largest_clique_size=size(largest_clique),
        total_clique_cells=sum(size(clique) for clique in dict.fromkeys(cliques)),
        treewidth=max((len(node) for node in nodes), default=1) - 1,
        num_jtree_nodes=len(nodes),
        largest_jtree_node=largest_node,
        largest_jtree_node_size=size(largest_node),
        total_jtree_cells=sum(size(node) for node in nodes),
        num_messages=len(separators),
        largest_message=largest_message,
        largest_message_size=size(largest_message) if separators else 0,
        total_message_cells=2 * sum(size(separator) for separator in separators),
        bytes_per_cell=bytes_per_cell or 8,
    )
