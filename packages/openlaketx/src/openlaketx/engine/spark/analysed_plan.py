"""An analysed plan as JSON, and its nodes as trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Node = dict[str, Any]


class Scan(NamedTuple):
    """A leaf that reads files: the paths given to Spark, and the Delta commit if it is pinned. Or a
    view that stands for a version."""

    paths: tuple[str, ...]
    commit: int | None = None
    by_column: bool = True
    """False for another format than Parquet: any column may have bytes of any column of a table."""
    columns: frozenset[str] = frozenset()
    """Columns that are in the files. Others tell of the file or its folders."""
    view: str = ""
    """The text of the view."""


class AnalysedPlan(NamedTuple):
    """A plan as Spark analysed it."""

    text: str
    """As JSON."""
    output: tuple[int, ...]
    """Attribute ids of the columns of the frame."""
    scans: Mapping[int, Scan]
    """Scans by the id of their first attribute; those of subqueries too."""
    databases: frozenset[int] = frozenset()
    """Leaves that read a database on a server, by the id of their first attribute."""
    has_variables: bool = False
    """Whether the session that made it has variables, whose values may have become literals."""


@dataclass(frozen=True)
class Tree:
    """A node of a plan or of an expression."""

    node: Node
    children: tuple[Tree, ...]

    @property
    def kind(self) -> str:
        return str(self.node["class"]).rpartition(".")[2]

    def expressions(self, key: str) -> list[Tree]:
        return [tree_of(item) for item in self.node[key]]

    def attributes(self, key: str) -> list[int]:
        return [attribute_of(item.node) for item in self.expressions(key)]


def tree_of(nodes: Sequence[Node]) -> Tree:
    """From the list of nodes, parents first."""
    coming = iter(nodes)

    def read() -> Tree:
        node = next(coming)
        return Tree(node, tuple(read() for _ in range(node["num-children"])))

    return read()


def attribute_of(node: Node) -> int:
    return int(node["exprId"]["id"])


def trees_in(value: Any) -> Iterator[Tree]:
    """Expressions in a field: one, or lists of them at any depth."""
    if not isinstance(value, list) or not value:
        return
    if isinstance(value[0], dict) and "num-children" in value[0]:
        yield tree_of(value)
    else:
        for item in value:
            yield from trees_in(item)


def plans_in(node: Any) -> Iterator[list[Node]]:
    """Plans of subqueries in the fields of a node, without those inside them."""
    if isinstance(node, dict):
        plan = node.get("plan")
        if isinstance(plan, list):
            yield plan
        yield from (
            found for key, value in node.items() if key != "plan" for found in plans_in(value)
        )
    elif isinstance(node, list):
        for item in node:
            yield from plans_in(item)
